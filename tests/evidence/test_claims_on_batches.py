"""Tests of the ledger's first segment, row by row.

They cover who said what and when, and what the tests of its claims rest on.
"""

import math

import pytest

from handful import balance, facts, latency, memory_wall, scenario
from handful_evidence.claims import FOLDER, judge, read
from handful_evidence.claims.checks import serving

LATENCY, BALANCE = (
    read(FOLDER / f"1-{chapter}.toml") for chapter in ("latency-and-cost", "balance-batch")
)
CLAIMS = {claim.id: claim for claim in (*LATENCY, *BALANCE)}

# Read off a transcript with a time for every few words: second, speaker, and the verdict that was
# settled on.
SETTLED = {
    "fast-mode-six-times": ("1:05", "Patel", "depends"),
    "fast-mode-2-5-times": ("1:09", "Patel", "true when said"),
    "hundred-times-the-price": ("1:19", "Patel", "depends"),
    "batch-is-the-main-effect": ("1:40", "Pope", "not checkable"),
    "rack-of-72": ("2:13", "Pope", "holds"),
    "time-is-the-larger-of-two": ("2:50", "Pope", "holds"),
    "strong-predictive-power": ("3:07", "Pope", "depends"),
    "compute-is-batch-times-active": ("3:28", "Pope", "holds"),
    "attention-arithmetic-is-small": ("3:56", "Pope", "depends"),
    "batching-worth-1000": ("4:23", "Pope", "holds"),
    "deepseek-37b-active": ("4:44", "Pope", "holds"),
    "deepseek-37b-of-700b": ("4:44", "Pope", "holds"),
    "memory-is-weights-plus-kv": ("5:09", "Pope", "holds"),
    "all-weights-whatever-the-batch": ("5:09", "Pope", "depends"),
    "decode-attention-is-memory-bound": ("7:13", "Pope", "depends"),
    "latency-floor": ("10:13", "Pope", "depends"),
    "step-1-to-20-ms": ("12:49", "Pope", "holds"),
    "gpu-two-dollars": ("12:59", "Pope", "holds"),
    "cost-hyperbola": ("13:44", "Pope", "holds"),
    "floor-of-cost-is-arithmetic": ("15:11", "Pope", "depends"),
    "slow-mode-saves-little": ("15:31", "Patel (Pope agrees)", "depends"),
    "slopes-match-equally-bound": ("11:29", "Pope", "depends"),
    "double-context-halves-mfu": ("11:52", "Patel (Pope agrees)", "depends"),
    "memory-is-linear-in-context": ("12:08", "Pope", "holds"),
    "sparse-attention-square-root": ("12:31", "Pope", "wrong"),
    "balance-is-not-sensitive": ("16:09", "Pope", "depends"),
    "balance-without-kv": ("17:33", "Pope", "holds"),
    "balance-is-300": ("18:25", "Pope", "holds"),
    "balance-is-stable": ("18:46", "Pope", "depends"),
    "batch-above-300-times-sparsity": ("19:05", "Pope", "depends"),
    "deepseek-sparsity-is-8": ("19:16", "Pope", "wrong"),
    "batch-is-2400": ("19:16", "a later summary", "wrong"),
    "ballpark-accurate-to-practice": ("19:27", "Pope", "depends"),
    "practice-two-to-three-times": ("19:31", "Pope", "holds"),
    "two-to-three-thousand": ("19:44", "Patel", "order of magnitude"),
    "kv-pushes-batch-up": ("19:57", "Pope", "depends"),
    "two-thousand-sequences": ("20:30", "Pope", "holds"),
    "step-lands-at-20-ms": ("22:30", "Pope", "depends"),
    "worst-wait-40-ms": ("23:15", "Pope", "depends"),
    "all-memory-is-used": ("23:40", "Pope", "order of magnitude"),
    "drain-is-20-ms": ("24:01", "Pope", "depends"),
    "rubin-drain-15-ms": ("24:13", "Pope", "holds"),
    "hbm-traffic-is-reads": ("25:19", "Pope", "holds"),
    "reading-twice-is-no-use": ("25:30", "Pope", "holds"),
    "optimum-depends-on-sparsity-only": ("25:52", "Patel (Pope agrees)", "depends"),
    "rack-makes-128k": ("26:58", "Pope", "holds"),
    "gemini-hundreds-of-millions": ("27:28", "Pope", "holds"),
    "one-rack-is-a-thousandth": ("27:37", "Pope", "depends"),
    "experts-since-2017": ("29:05", "Pope", "holds"),
    "quality-rises-with-experts": ("29:24", "Pope", "holds"),
    "64-experts-match-dense-1-3b": ("29:43", "Pope", "holds"),
    "hundredfold-for-ten": ("29:52", "Patel", "wrong"),
    "four-times-the-size": ("30:10", "Patel (Pope agrees)", "holds"),
    "sixty-four-for-four": ("30:11", "Pope", "wrong"),
    "halving-compute-takes-8x": ("30:35", "Patel", "order of magnitude"),
    "sparsity-is-a-pure-win": ("30:56", "Pope", "holds"),
}


def test_each_row_has_its_speaker_its_second_and_its_verdict():
    assert {
        name: (claim.time, claim.who, claim.verdict) for name, claim in CLAIMS.items()
    } == SETTLED
    for claims in (LATENCY, BALANCE):
        assert [claim.seconds for claim in claims] == sorted(claim.seconds for claim in claims)


def test_what_is_typed_is_what_only_documents_can_decide():
    assert {name for name, claim in CLAIMS.items() if claim.basis == "verdict"} == {
        "fast-mode-six-times",
        "fast-mode-2-5-times",
        "batch-is-the-main-effect",
        "experts-since-2017",
    }


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_row_says_what_a_reader_needs(claim):
    for text in (claim.statement, claim.reason):
        assert (
            (text[0].isupper() or text[0].isdigit())
            and text.endswith((".", ")"))
            and "{" not in text
        )
    # “It depends on …” stands before it.
    assert not claim.depends or claim.depends[0].islower() or claim.depends.startswith("DeepSeek")
    if claim.values:
        found = judge(
            [value.value for value in claim.values],
            claim.spoken,
            claim.within,
            claim.of,
            claim.at_least,
        )
        assert claim.verdict == {"mixed": "depends"}.get(found, found)


def values(name: str) -> dict[str, float]:
    return {value.label: value.value for value in CLAIMS[name].values}


# Figures from elsewhere


def test_nsa_reads_what_its_paper_prints():
    stride, whole = (
        facts.get("scaling_laws", name)["value"] for name in ("nsa_stride", "nsa_whole_tokens")
    )
    printed = {8192: 2048, 16384: 2560, 32768: 3584, 65536: 5632}  # arXiv 2502.11089, table 4
    assert {context: context / stride + whole for context in printed} == printed
    assert (
        whole == 16 * 64 + 512
        and facts.get("scaling_laws", "nsa_read_64k")["value"] == printed[65536]
    )
    # Over its own table it grows as a root would; over the next octaves it does not.
    assert math.log(printed[65536] / printed[8192], 8) == pytest.approx(0.5, abs=0.02)
    assert math.log10((1e6 / stride + whole) / (1e5 / stride + whole)) > 0.9
    assert len(serving.sparse_attention_reads_a_square_root()) == 4


def test_a_root_would_be_found(monkeypatch):
    """The test of the square root passes for what does grow like one."""
    monkeypatch.setattr(memory_wall, "kv_read_compressed", lambda terms, context: context**0.5)
    found = serving.sparse_attention_reads_a_square_root()
    assert [agrees for words, agrees in found.items() if not words.startswith("NSA")] == [True] * 3


@pytest.mark.parametrize("times", [1, 5, 20])
def test_slopes_that_match(times):
    """At k balance batches, memory takes 1 + k readings of the weights and computing takes k.

    At twice the context, memory takes 1 + 2k.
    """
    at = serving._matched(100_000)
    batch = times * balance.balance_batch(at)
    assert latency.memory_time(at, batch=batch) / latency.compute_time(
        at, batch=batch
    ) == pytest.approx(1 + 1 / times)
    left = latency.step_time(at, batch=batch) / latency.step_time(at, batch=batch, context=200_000)
    assert left == pytest.approx((1 + times) / (1 + 2 * times))
    assert any(
        words.endswith(f": {left:.2f}") for words in serving.twice_the_context_halves_the_use()
    )


def test_a_hundred_times_the_price_by_hand():
    """With memory as the limit, r times the price buys s − 1 = (1 − 1/r) B/w.

    Here w caches are as large as the weights.
    """
    at = scenario.values("H100 SXM", "Llama 3.1 70B", "bf16", 4096)
    w = latency.full_weight_time(at) / latency.kv_time(at, batch=1)
    for price in (6, 100, 1e6):
        speed = 1 + (1 - 1 / price) * 189 / w
        assert latency.fast_mode_price(at, batch=189, speedup=speed) == pytest.approx(price)
    assert latency.fast_mode_price(at, batch=189, speedup=1 + 189 / w + 1e-3) == math.inf
    assert round(speed, 2) == 2.8  # what no price buys
    reason = CLAIMS["hundred-times-the-price"].reason
    assert (
        "costs 68.2 times as much, for 2.77 times the speed" in reason
        and "68.2 times as much" in reason
    )


def test_published_batches():
    service = facts.get("measured_serving", "deepseek_decode")
    batch = (
        service["tokens_per_s_per_chip"] / 21 * 144
    )  # its overview: 20 to 22 tokens a second for a user
    practice, ballpark = (
        values("practice-two-to-three-times"),
        values("ballpark-accurate-to-practice"),
    )
    assert practice["DeepSeek's service, 144 chips"] == pytest.approx(
        batch / (300 * 671 / 37), rel=0.02
    )
    assert ballpark["DeepSeek's service, with a sparsity of 8"] == pytest.approx(batch / 2400)
    assert values("two-to-three-thousand") == {"twice 300 × 8": 4800, "three times 300 × 8": 7200}


def test_memory_of_a_chip_by_hand():
    """The figures are those of DeepSeek's service.

    A chip holds 88 caches of 4,989 tokens, a 144th of 653.9 billion routed weights, and 17.1
    billion others.
    """
    gigabytes = 88 * 4989 * 70272 / 1e9 + 653.9 / 144 + 17.1
    used = values("all-memory-is-used")["DeepSeek's service, 88 sequences a chip"]
    assert used == pytest.approx(gigabytes / 80, rel=0.01)


def test_prices_of_fast_modes():
    reason = CLAIMS["fast-mode-six-times"].reason
    assert "$150" in reason and "6 times the usual price" in reason  # Opus 4.6: $150 against $25
    assert reason.endswith("asks 2 times.")  # Opus 4.8: $50 against $25


def test_a_thousand_is_a_claim_of_what_can_be():
    claim = CLAIMS["batching-worth-1000"]
    assert claim.of == "some" and claim.at_least
    assert sum(value.agrees for value in claim.values) == 2
    assert max(value.value for value in claim.values) > 3 * claim.spoken[0]


def test_gemini_s_own_counts():
    assert values("gemini-hundreds-of-millions")[
        "Gemini's API, fourth quarter of 2025"
    ] == pytest.approx(10e9 / 60)
    share = values("one-rack-is-a-thousandth")["of Gemini's API, third quarter of 2025"]
    assert share == pytest.approx(128e3 * 60 / 7e9)


def test_most_chips_and_not_all():
    for name in ("balance-is-300", "drain-is-20-ms"):
        agree = [value.agrees for value in CLAIMS[name].values]
        assert len(agree) / 2 < sum(agree) < len(agree)
    assert CLAIMS["balance-is-300"].of == "most" and CLAIMS["drain-is-20-ms"].of == "all"
    assert values("balance-is-300")["A100 40 GB, bf16"] == pytest.approx(
        312e12 / 1.555e12
    )  # multiplies × 2 bytes
    assert values("balance-is-stable")["B100 over H100"] == pytest.approx(
        3.5e15 / 8e12 / (1.979e15 / 3.35e12)
    )
