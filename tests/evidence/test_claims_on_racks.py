"""Tests of claims on racks and pipelines (segments 2 to 4).

They cover who said them and when, and hold their checks against other calculations.
"""

import math
import random
import re

import pytest

from handful import facts
from handful.query import lecture_seconds
from handful_evidence.claims import FOLDER, read
from handful_evidence.claims.checks import pipelines, racks

CHAPTERS = {
    "2-experts-on-racks": ("31:58", "47:02"),
    "3-pipelining": ("47:02", "1:03:29"),
    "4-why-pipelining-is-not-wise": ("1:03:29", "1:18:49"),
}
CLAIMS = {claim.id: claim for name in CHAPTERS for claim in read(FOLDER / f"{name}.toml")}
SPONSORS = (("44:00", "44:45"), ("1:02:30", "1:03:30"))  # not of the lecture


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_segment_lies_within_its_chapter_of_the_lecture_in_order(name):
    start, end = map(lecture_seconds, CHAPTERS[name])
    seconds = [claim.seconds for claim in read(FOLDER / f"{name}.toml")]
    assert seconds == sorted(seconds) and start <= seconds[0] and seconds[-1] <= end
    assert not any(
        lecture_seconds(a) <= at < lecture_seconds(b) for a, b in SPONSORS for at in seconds
    )


# By a stamped transcript of captions and one that names the speakers; times to some five seconds.
@pytest.mark.parametrize(
    "name, who, time",
    [
        ("four-experts-a-gpu", "Pope", "34:18"),
        ("one-rack-bounds-an-expert-layer", "Pope", "36:30"),
        ("scale-up-8-then-72", "Patel", "40:47"),
        ("rubin-500-something", "Patel (Pope agrees)", "41:00"),
        ("five-trillion-in-a-rack", "Patel", "45:44"),
        ("gemini-ahead-by-domains", "Patel", "46:05"),
        ("parallelism-resembles-the-model", "Patel (Pope agrees)", "53:11"),
        ("pipelining-is-not-wise", "Patel", "54:16"),
        ("smaller-batch-converges-better", "Pope", "59:45"),
        ("rack-many-tens-of-tb", "Pope", "1:01:44"),
        ("no-brainer-in-inference", "Patel", "1:01:27"),
        ("pipelining-little-used-in-inference", "Pope", "1:01:36"),
        ("memory-per-gpu", "Pope", "1:06:26"),
        ("micro-batches-equal-stages", "Pope", "1:09:51"),
        ("inference-in-one-scale-up", "Patel (Pope agrees)", "1:13:30"),
        ("four-stages-20-to-30-ms", "Pope", "1:15:46"),
        ("scale-up-for-bandwidth", "Patel (Pope agrees)", "1:18:16"),
        ("bandwidth-for-longer-contexts", "Patel", "1:18:30"),
    ],
)
def test_who_said_it_and_when(name, who, time):
    assert CLAIMS[name].who == who and abs(CLAIMS[name].seconds - lecture_seconds(time)) <= 5


def test_every_time_is_known_to_the_second_and_quotes_are_short():
    assert not any(claim.about for claim in CLAIMS.values())
    quoted = [
        words
        for claim in CLAIMS.values()
        for words in re.findall(r'"([^"]+)"', claim.statement + claim.reason)
    ]
    assert quoted and all(len(words.split()) <= 6 for words in quoted)


def test_what_nobody_said_is_gone():
    assert "five-trillion-target" not in CLAIMS
    assert CLAIMS["four-stages-20-to-30-ms"].spoken == (
        0.030,
        0.030,
    )  # from 20 to 30, not in between
    assert CLAIMS["micro-batch-is-2000"].slip and CLAIMS["genuine-four-times"].at_least


@pytest.mark.parametrize(
    "name, verdict, word",
    [
        ("scale-out-8x-slower", "depends", "port"),
        ("one-rack-per-layer", "depends", "port"),
        ("expert-parallelism-is-best", "depends", "batch"),
        ("tensor-parallelism-does-not-pay", "depends", "batch"),
        ("rubin-500-something", "depends", "counted"),
        ("genuine-four-times", "depends", "counted"),
        ("active-by-compute-total-by-scale-up", "depends", "domain"),
        ("hundred-layers", "depends", "model"),
        ("schedules-avoid-the-bubble", "depends", "1F1B"),
        ("pipelining-neutral-for-latency", "depends", "hop"),
        ("trillion-parameters-one-tb", "depends", "bytes"),
        ("eight-racks-less-hbm", "depends", "caches"),
        ("memory-per-gpu", "depends", "divide"),
        ("four-stages-20-to-30-ms", "depends", "hop"),
        ("scale-up-for-bandwidth", "depends", "caches"),
        ("five-trillion-in-a-rack", "depends", "bytes"),
        ("one-rack-bounds-an-expert-layer", "contested", "40 domains"),
        ("more-cables-for-rubin", "contested", "SemiAnalysis"),
        ("smartphones-fall-30-percent", "contested", "IDC"),
        ("no-brainer-in-inference", "contested", "Pope"),
        ("hop-a-few-ms", "contested", "Zhao"),
        ("experts-up-to-scale-up-size", "contested", "320"),
        ("rack-many-tens-of-tb", "slip of the tongue", "10 to 20"),
        ("half-of-capex-on-memory", "order of magnitude", ""),
        ("smaller-batch-converges-better", "holds", ""),
        ("training-has-a-bubble", "depends", "1F1B"),
        ("inference-in-one-scale-up", "not checkable", ""),
        ("gemini-ahead-by-domains", "not checkable", ""),
    ],
)
def test_verdicts_and_what_they_rest_on(name, verdict, word):
    claim = CLAIMS[name]
    assert claim.verdict == verdict
    assert word in claim.depends + claim.contrary + claim.slip


def test_few_verdicts_are_typed():
    typed = {claim.id for claim in CLAIMS.values() if claim.basis == "verdict"}
    assert len(typed) < len(CLAIMS) / 7
    assert not typed & {
        "expert-parallelism-is-standard",
        "two-hops-in-a-rack",
        "cut-experts-and-layers",
        "pipelining-is-not-wise",
        "smaller-batch-converges-better",
        "experts-up-to-scale-up-size",
        "tensor-parallelism-does-not-pay",
    }


# The tests behind the verdicts, against other reckonings


def test_one_token_falls_unevenly_on_whole_experts():
    """Eight of 256 experts are drawn by hand.

    They are placed on eight chips, or on two groups that share the work of each expert.
    """
    draw = random.Random(1)
    busiest = {groups: 0.0 for groups in (8, 2)}
    for _ in range(4000):
        picks = draw.sample(range(256), 8)
        for groups in busiest:
            most = max(
                sum(pick // (256 // groups) == group for pick in picks) for group in range(groups)
            )
            busiest[groups] += most * groups / 8 / 4000
    assert busiest[8] > 1.9 * busiest[2]  # 2.57 experts to read against 1.27
    assert racks.whole_experts_beat_slices() == {
        "2,000 sequences": True,
        "1 sequence": busiest[8] < busiest[2],
    }


def test_tokens_that_leave_a_rack_are_nearly_all():
    share = 1 - math.comb(128, 8) / math.comb(256, 8)
    values = {value.label: value.value for value in CLAIMS["half-leaves-the-rack"].values}
    assert values["tokens, eight experts each"] == pytest.approx(share)
    assert CLAIMS["half-leaves-the-rack"].verdict == "depends"  # half of the trips alone


def test_five_trillion_by_hand():
    rack, fits = 72 * 186e9, racks.five_trillion_in_a_rack()
    for form, weight, element in (("fp4", 0.5, 1), ("fp8", 1, 1), ("bf16", 2, 2)):
        for context in (8192, 100_000):
            need = 5e12 * weight + 2000 * context * 61 * 576 * element
            assert fits[f"{form}, {context:,} tokens each"] == (need <= rack)
    assert set(fits.values()) == {True, False}


def test_links_of_a_rack_are_the_cables_that_are_quoted():
    assert racks._scale_up_network(72, racks._links()).size() * 4 == pytest.approx(5000, rel=0.05)
    assert racks.two_hops_between_gpus() == {"GB200 NVL72": True}


def test_widths_that_are_cut_are_those_that_were():
    """Tensor parallelism over up to F W / C chips, times a constant, is hidden.

    The source is How to Scale Your Model, the chapter on training.
    """
    found = pipelines.widths_are_not_cut()
    for words, width in (
        ("DeepSeek-V3, an expert, 2,048 wide", 2048),
        ("Llama 3.1 405B, a layer, 53,248 wide", 53248),
    ):
        assert found[words] == (1.5 * width * 450e9 / 989e12 < 8)
    assert [
        notes
        for notes in (
            facts.get("measured_pipelines", f"{run}_stages")["notes"] for run in ("v3", "llama3")
        )
        if "tensor" in notes
    ] == [facts.get("measured_pipelines", "llama3_stages")["notes"]]


def test_plain_schedules_wait_alike_and_a_split_backward_pass_less():
    """GPipe and 1F1B wait (P - 1)(t_F + t_B), ZB-H1 waits (P - 1)(t_F + t_B - 2 t_W).

    The sources are Huang, Narayanan and Qi.
    """
    assert [pipelines._bubble(name) for name in ("gpipe", "1f1b", "zero_bubble")] == pytest.approx(
        [9, 9, 3]
    )
    assert list(pipelines.schedules_shorten_the_bubble().values()) == [False, True]


def test_caches_pass_the_weights_where_they_should():
    crossing = 671.026e9 / (2 * 2000 * 61 * 576)
    assert crossing == pytest.approx(4770, abs=5)
    assert "about 4,770 tokens" in CLAIMS["two-stages-make-kv-dominant"].reason.replace("\xa0", " ")
    assert [found for _, found in sorted(pipelines.two_stages_and_caches_lead().items())] == [
        True,
        False,
        True,
    ]


def test_a_hop_decides_what_stages_cost():
    """Four hops of 2 ms on 20 ms are 28; of 3.7 µs (arXiv 2505.09343, table 5) next to nothing."""
    values = {value.label: value.value for value in CLAIMS["four-stages-20-to-30-ms"].values}
    assert list(values.values()) == pytest.approx([0.028, 0.0200148])
    assert list(pipelines.few_stages_cost_little().values()) == [False, True]
    assert list(pipelines.stages_are_neutral().values()) == [False, True, False]


def test_weights_on_a_little_box():
    """671 GB over 8 × 3.35 TB/s and over 72 × 8 TB/s."""
    assert 671e9 / (8 * 3.35e12) > 10 * 671e9 / (72 * 8e12)
    reason = CLAIMS["bandwidth-for-lower-latency"].reason.replace("\xa0", " ")
    assert (
        "25 ms" in reason
        and "1.16 ms" in reason
        and pipelines.domain_lowers_latency()["DeepSeek-V3"]
    )


def test_weights_that_are_copied_are_not_shared():
    """Of 671.0 billion weights, the 653.9 billion of routed experts are shared by 64 chips.

    That is 10.2 GB a chip; the rest is whole on each.
    """
    assert "27.3 GB" in CLAIMS["memory-per-gpu"].reason.replace("\xa0", " ")
    assert pytest.approx(27.3, abs=0.1) == 653.9 / 64 + (671.0 - 653.9)
