"""Tests of the figures in the text of an assignment against what `handful` gives.

A notebook is plain Markdown, which computes nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handful.query import answer

SOURCES = Path(__file__).parents[2] / "exercises" / "assignments"
V3 = "models / DeepSeek-V3 /"
RACK = "accelerators / GB200 NVL72 /"
RUN = "measured_runs / minimax_m25_h100_vllm_10279x256"
THIN = 'bandwidth_ratio hardware="GB200 NVL72" scale_out_bandwidth=50e9'
WIRES = f"activation_bytes=2 dispatch_bytes=1 combine_bytes=2 bandwidth_ratio=[{THIN}]"

# Assignment, words in it, the figure, what it has to be.
FIGURES = [
    ("balance", "it counts 671 billion parameters", 671e9, f"{V3} total_params_reported"),
    ("balance", "of which 37 billion are active", 37e9, f"{V3} active_params_reported"),
    ("balance", "has 256 routed experts", 256, f"{V3} routed_experts"),
    ("balance", "of which a token uses 8,", 8, f"{V3} active_routed_experts"),
    ("balance", "and one shared expert", 1, f"{V3} shared_experts"),
    ("balance", "671/37 or about 18", 18, 'sparsity model="DeepSeek-V3"'),
    ("balance", "8 of 256 experts, which is 32", 32, 'sparsity_of_experts model="DeepSeek-V3"'),
    (
        "balance",
        "some 5,400 sequences",
        5400,
        'balance_batch_by_parameters weight_uses_at_balance=300 model="DeepSeek-V3"',
    ),
    (
        "balance",
        "a balance of 300 times 8 makes 2,400",
        2400,
        "balance_batch_rule weight_uses_at_balance=300 sparsity=8",
    ),
    (
        "balance",
        "with a beat of 20 ms, 40 ms is the worst case",
        0.04,
        "worst_delay batch_interval=0.02",
    ),
    (
        "experts",
        "In fp8 the model takes 671 GB",
        671e9,
        'weight_memory model="DeepSeek-V3" precision=fp8',
    ),
    ("experts", "eight H100 hold 640 GB", 640e9, 'domain_memory hardware="H100 SXM" precision=fp8'),
    ("experts", "72 GB200 holds 13.4 TB", 13.4e12, 'domain_memory hardware="GB200 NVL72"'),
    (
        "experts",
        "a decoding unit of 320 GPUs in forty nodes of eight",
        320,
        "measured_pipelines / v3_decode_chips / value",
    ),
    (
        "experts",
        "`copies_once(40, 8)` is still above seven",
        7.15,
        "copies_leaving_once_of_racks scale_up_domains=40 active_experts=8 domain_limit=40",
    ),
    (
        "experts",
        "cuts it to about a quarter over two domains",
        0.25,
        "= [copies_leaving_once_of_racks scale_up_domains=2 active_experts=8 domain_limit=2] / "
        "[copies_leaving_of_racks scale_up_domains=2 active_experts=8]",
    ),
    (
        "schedule",
        "a GB200 has 900 GB/s on its fabric",
        900e9,
        f"{RACK} scaleup_bw_per_chip_one_direction_bytes_per_s",
    ),
    (
        "schedule",
        "is sold with ports of 100 GB/s and of 50 GB/s",
        100e9,
        "interconnects / InfiniBand XDR / one_direction_bytes_per_s",
    ),
    (
        "schedule",
        "is sold with ports of 100 GB/s and of 50 GB/s",
        50e9,
        f"{RACK} scaleout_bw_per_chip_one_direction_bytes_per_s",
    ),
    ("schedule", "the ratio of the wires is 18", 18, THIN),
    (
        "schedule",
        "12/18 is 0.67",
        0.667,
        f"traffic_time_ratio_of_bytes active_experts=8 layers_per_stage=1 {WIRES}",
    ),
    (
        "schedule",
        "Two layers a stage suffice, which gives 1.33",
        1.333,
        f"traffic_time_ratio_of_bytes active_experts=8 layers_per_stage=2 {WIRES}",
    ),
    (
        "schedule",
        "Counted with equal bytes it would be 0.89",
        0.889,
        f"traffic_time_ratio active_experts=8 layers_per_stage=1 bandwidth_ratio=[{THIN}]",
    ),
    (
        "schedule",
        "with one expert, 12 layers",
        1,
        f"traffic_time_ratio_of_bytes active_experts=1 layers_per_stage=12 {WIRES}",
    ),
    (
        "schedule",
        "the ratio is 2 · 8 / 8 = 2",
        2,
        "traffic_time_ratio active_experts=8 layers_per_stage=1 bandwidth_ratio=8",
    ),
    ("capacity", "DeepSeek measured 3.7 µs", 3.7e-6, "measured_pipelines / ib_cross_leaf / value"),
    (
        "overtraining",
        "100 stands for anything from 30 to 330",
        3.3,
        "combined_factor guesses=3 guess_factor=2",
    ),
    (
        "price-list",
        "It infers a cache of about 1,667 bytes a token for a model of 100 billion active "
        "parameters, from one over 300.",
        1667,
        "implied_kv_bytes_rule weight_uses_at_balance=300 bytes_per_parameter=1 "
        "active_parameters=1e11 context=200000",
    ),
    (
        "price-list",
        "half as much again for answers above 200,000 tokens",
        200_000,
        "prices / gemini-3.1-pro-preview / long_context_threshold_tokens",
    ),
    (
        "price-list",
        "half as much again for answers above 200,000 tokens",
        1.5,
        "= [prices / gemini-3.1-pro-preview / long_context_output_usd_per_mtok] "
        "/ [prices / gemini-3.1-pro-preview / output_usd_per_mtok]",
    ),
    (
        "price-list",
        "*doubled* the price of prompts",
        2,
        "= [prices / gemini-3.1-pro-preview / long_context_input_usd_per_mtok] "
        "/ [prices / gemini-3.1-pro-preview / input_usd_per_mtok]",
    ),
    ("price-list", "keeps 35,136 numbers a token", 35_136, f"{V3} kv_elements_per_token_growing"),
    (
        "tiers",
        "A fast flash drive of 7.68 TB reads 28 GB/s",
        28e9,
        "memory_tiers / Micron 9650 Pro 7.68 TB, 28 GB/s read / read_bandwidth_bytes_per_s",
    ),
    (
        "tiers",
        "A disk of 30 TB reads 0.6 GB/s",
        0.6e9,
        "memory_tiers / Seagate Exos M 30 TB, SATA III interface ceiling 600 MB/s (6 Gb/s, "
        "8b/10b) / read_bandwidth_bytes_per_s",
    ),
    (
        "tiers",
        "is about four and a half minutes",
        4.57 * 60,
        "drained_hold_time tier_capacity=7.68e12 tier_bandwidth=28e9",
    ),
    (
        "tiers",
        "takes about fourteen hours",
        14 * 3600,
        "drained_hold_time tier_capacity=30e12 tier_bandwidth=0.6e9",
    ),
    (
        "advise",
        "for about 475 dollars an hour",
        475,
        f"= 7200 * [{RACK} scaleup_domain_chips] * [{RACK} rental_usd_per_chip_hour_3yr]",
    ),
    (
        "advise",
        "about 0.24 dollars per million tokens",
        0.24,
        f"= 2 * 7200 * [{RACK} scaleup_domain_chips] * [{RACK} rental_usd_per_chip_hour_3yr] / "
        "(0.55 * 2 * 3600)",
    ),
    ("server", "on one node of eight chips", 8, f"{RUN}_c32 / chips"),
    ("server", "up to 128 users at once", 128, f"{RUN}_c128 / concurrency"),
    ("server", "such as 10,000 and 256 tokens, with 32 users", 256, f"{RUN}_c32 / osl_tokens"),
    ("server", "The table has that row: 35 ms", 0.035, f"{RUN}_c32 / tpot_ms"),
    (
        "advise",
        "144 to 320 chips in many nodes of eight",
        320,
        "measured_pipelines / v3_decode_chips / value",
    ),
]


@pytest.mark.parametrize(
    "name, words, figure, request_", FIGURES, ids=[f"{row[0]}: {row[1]}" for row in FIGURES]
)
def test_a_figure_in_the_text_is_what_handful_gives(name, words, figure, request_):
    assert words in " ".join((SOURCES / f"{name}.md").read_text("utf-8").split())
    assert answer(request_).value == pytest.approx(figure, rel=0.01)


def test_the_model_answer_of_server_has_the_figures_of_a_student():
    """Its student has prompts of 1,063 tokens; gains are at 10 and 20 ms, as it says."""
    from handful_classroom.release import variants
    from handful_classroom.release.assignment import read

    made = read(SOURCES / "server.md")
    text = " ".join(made.questions["next_run"].model.split())
    one = next(i for i in range(200) if variants.inputs_of(made, i)["lengths"] == "1063")
    has = variants._solved(made, one)
    rows = has["points"](has["mine"])
    first, second = (has["fit"](rows[:, :parts].tolist(), rows[:, 2].tolist()) for parts in (1, 2))
    slope, fixed = first
    assert f"{slope:.2f} times as long as on paper, with {fixed * 1e3:.1f} ms on top" in text
    reading, arithmetic, left = second
    assert f"is {reading:.2f} times, arithmetic {arithmetic:.1f} times" in text
    assert f"times, and {left * 1e3:.1f} ms" in text
    missed = [
        abs(rows[:, :parts] @ found[:-1] + found[-1] - rows[:, 2]) / rows[:, 2]
        for parts, found in ((1, first), (2, second))
    ]
    assert max(map(max, missed)) < 0.025
    fits = [slope, 0, fixed], second
    (fast, fast_too), (slow, slow_too) = (
        [has["gains"](fit, promise, 1319, 1063 / 512) for fit in fits] for promise in (0.01, 0.02)
    )
    assert f"{fast['fixed']:.1f} times the tokens by one and {fast_too['fixed']:.1f}" in text
    assert fast["fixed"] > fast["bandwidth"] and fast_too["fixed"] > fast_too["bandwidth"]
    assert max(fast["prompts"], fast_too["prompts"]) < 1.05
    assert slow["bandwidth"] == pytest.approx(9, abs=0.5) and slow["prompts"] == 1
    assert f"it is {slow_too['bandwidth']:.1f} and {slow_too['prompts']:.1f}" in text
    [(*parts, _, batch)] = has["points"]([has["table"]["minimax_m25_h100_vllm_10279x256_c32"]])
    assert f"For about {batch:.0f} that decode" in text
    says = slope * parts[0] + fixed, reading * parts[0] + arithmetic * parts[1] + left
    told = [f"{1e3 * one:.0f} ms" for one in says]
    assert f"first fit predicts {told[0]} and the second {told[1]}" in text


COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@pytest.mark.parametrize(
    "name", [path.stem for path in sorted(SOURCES.glob("*.md")) if path.stem != "roofline"]
)
def test_what_an_assignment_says_of_its_questions_is_so(name):
    from handful_classroom.release.assignment import read

    made, text = read(SOURCES / f"{name}.md"), (SOURCES / f"{name}.md").read_text("utf-8")
    checked = sum(question.kind != "written" for question in made.questions.values())
    assert (
        f"{COUNTS[checked].capitalize()} questions are checked by program, for {made.points:g} "
        "points" in text
    )
    assert f", for {made.waiting:g}.\n" in text
    if "| Part | Minutes |" in text:
        parts = text.split("| Part | Minutes |")[1].split("\n\n")[0]
        assert sum(map(int, re.findall(r"\| (\d+) \|$", parts, re.M))) == made.minutes
