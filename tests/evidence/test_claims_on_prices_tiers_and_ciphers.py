"""Tests of the ledger's segments 6 and 7.

They cover who said what and when, and numbers that this package did not make. The three files are
read by themselves, so that a row elsewhere cannot hide what is wrong here.
"""

from __future__ import annotations

import re

import pytest

from handful import facts, latency
from handful.scenario import values
from handful_evidence import claims
from handful_evidence.claims import read
from handful_evidence.claims.checks import TESTS, networks
from handful_site.bootstrap import ROOT

FILES = {"6-reading-api-prices": 16, "6-memory-tiers": 22, "7-ciphers-and-networks": 16}
ROWS = {claim.id: claim for name in FILES for claim in read(claims.FOLDER / f"{name}.toml")}


def test_the_files_hold_their_rows():
    assert {
        name: sum(f"{claim.segment}-{claim.chapter}" == name for claim in ROWS.values())
        for name in FILES
    } == FILES


# From the transcript: what is the host's, what the lecturer says, and what the host says with his
# assent.
@pytest.mark.parametrize(
    "who, names",
    [
        (
            "Patel",
            [
                "gemini-50-percent-dearer",
                "cache-hit-ten-times-cheaper",
                "cache-writes-cost-more",
                "nobody-over-1m",
                "employee-100m-tokens",
                "a-month-wants-other-memory",
            ],
        ),
        (
            "Patel (Pope agrees)",
            [
                "bytes-per-token-1667",
                "pass-amortises-memory",
                "decode-memory-five-times-compute",
                "five-minutes-hbm-an-hour-ddr",
                "five-dollars-and-six-and-a-quarter",
                "both-mix-all-inputs",
                "trades-are-opposite",
            ],
        ),
    ],
)
def test_who_said_it(who, names):
    assert [name for name, claim in ROWS.items() if claim.who == who] == names
    assert {claim.who for claim in ROWS.values()} == {"Pope", "Patel", "Patel (Pope agrees)"}


# Seconds of captions beside the words, from a transcript with times; the ledger promises five
# seconds.
@pytest.mark.parametrize(
    "name, heard",
    [
        ("gemini-50-percent-dearer", 5583),
        ("compute-flat-in-context", 5668),
        ("price-step-near-the-kink", 5736),
        ("bytes-per-token-1667", 5902),
        ("all-layers-share-a-context", 5936),
        ("sparse-attention-one-over-sparsity", 6062),
        ("prices-lie-close-to-costs", 6078),
        ("output-3-to-5-times-input", 6099),
        ("decode-memory-five-times-compute", 6476),
        ("attention-negligible-to-millions", 6735),
        ("attention-slope-below-memory", 6759),
        ("nobody-over-1m", 6742),
        ("too-sparse-loses-quality", 6884),
        ("hbm-fetch-is-free", 7112),
        ("five-minutes-hbm-an-hour-ddr", 7178),
        ("retention-is-a-drain-time", 7237),
        ("flash-drains-in-a-minute", 7302),
        ("fetch-is-hold-times-share", 7375),
        ("random-network-may-be-a-cipher", 7543),
        ("adversarial-is-avalanche", 7659),
        ("revnets-2017", 7825),
        ("residual-from-two-back", 7900),
        ("memory-for-compute-pays", 8005),
    ],
)
def test_when_it_was_said(name, heard):
    assert abs(ROWS[name].seconds - heard) <= 5 and not ROWS[name].about


def test_rows_come_in_the_order_of_the_lecture():
    for name in FILES:
        times = [
            claim.seconds for claim in ROWS.values() if f"{claim.segment}-{claim.chapter}" == name
        ]
        assert times == sorted(times)
    # The part on prices begins with "in the spirit of trying to deduce things", the last part ends
    # with thanks.
    for segment, first, last in ((6, 5569, 7432), (7, 7432, 8019)):
        times = [claim.seconds for claim in ROWS.values() if claim.segment == segment]
        assert times and all(first <= seconds <= last for seconds in times)


@pytest.mark.parametrize(
    "name, verdict",
    [
        ("two-tiers-cover-the-kink", "depends"),
        ("price-step-near-the-kink", "contested"),
        ("kv-bytes-2048", "holds"),
        ("all-layers-share-a-context", "contested"),
        ("prices-lie-close-to-costs", "contested"),
        ("output-3-to-5-times-input", "depends"),
        ("prefill-computes-decode-reads", "depends"),
        ("attention-slope-below-memory", "depends"),
        ("cache-hit-ten-times-cheaper", "depends"),
        ("cache-writes-cost-more", "wrong"),
        ("nobody-over-1m", "wrong"),
        ("contexts-stay-at-200k", "wrong"),
        ("context-8k-to-200k", "depends"),
        ("tiers-trade-keeping-for-fetching", "depends"),
        ("costs-balance-at-200k", "contested"),
        ("employee-100m-tokens", "order of magnitude"),
        ("five-minutes-hbm-an-hour-ddr", "not checkable"),
        ("or-ddr-and-flash", "depends"),
        ("retention-is-a-drain-time", "contested"),
        ("holding-suggests-flash-and-disk", "contested"),
        ("flash-drains-in-a-minute", "depends"),
        ("disk-drains-in-an-hour", "wrong"),
        ("random-network-may-be-a-cipher", "depends"),
        ("differential-is-the-derivative", "depends"),
        ("ciphers-lack-residuals", "depends"),
        ("revnets-2017", "holds"),
        ("revnets-invert-it-all", "contested"),
        ("residuals-tame-derivatives", "depends"),
        ("reversibility-frees-activations", "depends"),
        ("memory-for-compute-pays", "depends"),
        ("trades-are-opposite", "holds"),
    ],
)
def test_verdicts(name, verdict):
    assert ROWS[name].verdict == verdict


def test_few_verdicts_are_typed():
    typed = [name for name, claim in ROWS.items() if claim.basis == "verdict"]
    assert typed == [
        "all-layers-share-a-context",
        "hbm-fetch-is-free",
        "five-minutes-hbm-an-hour-ddr",
        "ninety-nine-percent-broken",
    ]


def test_a_row_says_on_what_it_depends_or_who_says_otherwise():
    for claim in ROWS.values():
        words = f"{claim.statement} {claim.reason} {claim.depends} {claim.contrary}"
        assert bool(claim.depends) == (claim.verdict == "depends"), claim.id
        assert bool(claim.contrary) == (claim.verdict == "contested"), claim.id
        # No request is left unfilled, and no word stands there that the book has weeded out.
        assert not re.search(r"[{}]|\bdearer\b|\breckon", words), claim.id


# Against figures from elsewhere


def test_prices_of_the_spring_of_the_lecture():
    """Only lists that were on sale on 29 April 2026 count.

    DeepSeek's price of August, Grok 4.5 and the like are later.
    """
    later = ("deepseek-v4-pro", "grok-4.5", "gpt-6", "claude-opus-5", "gemini-4", "kimi-k3")
    for name in (
        "output-3-to-5-times-input",
        "cache-hit-ten-times-cheaper",
        "nobody-over-1m",
        "contexts-stay-at-200k",
    ):
        assert not [
            value.label
            for value in ROWS[name].values
            if any(word in value.request for word in later)
        ]
    ratios = {value.label: value.value for value in ROWS["output-3-to-5-times-input"].values}
    assert (ratios["GPT-5.2"], ratios["Gemini 3.1 Pro"]) == (
        8,
        6,
    )  # 14 over 1.75 and 12 over 2 dollars
    assert ratios["DeepSeek-R1, standard rate"] == pytest.approx(2.19 / 0.55)


def test_drives_and_disks():
    times = {
        value.label: value.value
        for name in ("flash-drains-in-a-minute", "disk-drains-in-an-hour")
        for value in ROWS[name].values
    }
    assert times["Samsung 9100 Pro, 1 TB"] == pytest.approx(1e12 / 14.7e9)  # its data sheet
    assert times["Seagate Exos X24, 24 TB"] == pytest.approx(24e12 / 285e6)  # its data sheet
    # A drive for one computer is no offer to a server, and changes no hand-over.
    from handful import tiers

    assert not [offer for offer in tiers.offers() if offer["name"].startswith("Samsung")]


def test_the_slopes_of_attention_by_hand():
    """A cached number takes a multiply-add for each query head that shares it.

    The ratios are 1, 8, and 128 of 1,088 over 576.
    """
    for model, shared in (
        ("Llama 2 7B", 1),
        ("Llama 3.1 70B", 8),
        ("DeepSeek-V3", 128 * (576 + 512) / 576),
    ):
        at = values("B200 SXM", model, "fp8", 1e5)
        slope = latency.attention_time(at, batch=1) / latency.kv_time(at, batch=1)
        assert slope == pytest.approx(2 * shared * 8e12 / 4.5e15, rel=1e-6)
    reason = ROWS["attention-slope-below-memory"].reason
    assert "0.86" in reason and "1.17" in reason  # on one chip below the slope of reading


def test_the_income_of_deepseek():
    # Its own account: $562,027 a day at R1's list prices, 226.75 nodes of eight chips at $2 an
    # hour.
    rent = 226.75 * 8 * 2 * 24
    assert facts.get("scaling_laws", "deepseek_income")["value"] == pytest.approx(
        562_027 / rent, rel=1e-3
    )


def test_caches_shared_among_global_layers():
    """Gemma 3n has 35 layers, every fifth global, the last 15 without caches of their own.

    Gemma 3 27B has 62, 5 to 1.
    """
    own = [layer for layer in range(35) if layer % 5 == 4 and layer < 35 - 15]
    assert len(own) == facts.get("scaling_laws", "gemma3n_share")["value"]
    row = facts.get("models", "Gemma 3 27B")
    assert (
        row["kv_elements_per_token_growing"] / (2 * row["n_kv_heads"] * row["head_dim"]) == 62 // 6
    )
    said = facts.get("scaling_laws", "charai_share")
    assert said.verified and "global" in said["fact"] and "non-adjacent" in said["fact"]
    page = (ROOT / "book" / "reading-api-prices.md").read_text("utf-8")
    assert (
        "we did not find it there" not in page
        and "some of its layers share, but not all of them" in page
    )


@pytest.mark.parametrize(
    "table, degree",
    [
        ([0] * 16, 0),
        ([1] * 16, 0),
        (list(range(16)), 1),
        ([int(x == 15) for x in range(16)], 4),  # the product of four bits
        ([(x & 1) * (x >> 1 & 1) ^ (x >> 3 & 1) for x in range(16)], 2),
        ([0xC, 5, 6, 0xB, 9, 0, 0xA, 0xD, 3, 0xE, 0xF, 8, 4, 7, 1, 2], 3),
    ],
)  # PRESENT: algebraic degree 3
def test_degrees_over_bits(table, degree):
    assert networks._degree(table) == degree


def test_only_a_working_test_can_fail(monkeypatch):
    """Three tests, each against a model in which the claim is turned round."""
    from handful import ciphers, reversible

    assert TESTS["differences_go_round_a_round"]() == {
        "rounds of S-boxes and a spread of bits: none passes": True,
        "Feistel rounds: none passes": False,
    }
    monkeypatch.setattr(
        ciphers, "round_functions", lambda keys: [lambda x: x]
    )  # a round that does nothing
    assert (
        TESTS["differences_go_round_a_round"]()[
            "rounds of S-boxes and a spread of bits: none passes"
        ]
        is False
    )
    monkeypatch.undo()
    monkeypatch.setattr(reversible, "encrypt", lambda x, y, functions, group: (x, y))
    assert TESTS["revnet_block_is_two_rounds"]() == {"the same outputs": False}
    monkeypatch.undo()
    monkeypatch.setattr(latency, "attention_time", lambda at, batch: 1.0)
    found = TESTS["attention_rises_slower_than_reading"]()
    assert next(iter(found)).startswith("almost always: 0 of") and not any(found.values())


def test_every_row_is_reached_by_its_chapter():
    for name in FILES:
        chapter = name.partition("-")[2]
        page = (ROOT / "book" / f"{chapter}.md").read_text("utf-8")
        reached = set(re.findall(r"\{claim\}`([^`]+)`", page))
        if re.search(rf'ledger\.checked\(\s*"{chapter}"', page):  # a table, which links to the rest
            continue
        assert {claim.id for claim in ROWS.values() if claim.chapter == chapter} <= reached, chapter


def test_chapters_name_no_time_that_is_no_place_of_theirs():
    """A time beside a claim is the claim's own, within a minute.

    It is the place where the claim's subject is spoken of.
    """
    for path in (ROOT / "book").glob("*.md"):
        for time, name in re.findall(
            r"\{lecture\}`([\d:]+)`\)? *,? *\{claim\}`([^`]+)`", path.read_text("utf-8")
        ):
            if name in ROWS:
                hours, minutes, seconds = map(int, time.split(":"))
                assert abs(3600 * hours + 60 * minutes + seconds - ROWS[name].seconds) <= 60, (
                    path.stem,
                    time,
                    name,
                )
