"""Tests of measured over predicted times, class by class.

They cover ratios that others found, and bands on runs that they have not seen.
"""

import re
import statistics
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from handful import facts, latency, scenario
from handful.facts import load
from handful.query import answer
from handful.scenario import ScenarioError
from handful_evidence import measured, validation

CLASSES = {kind.name: kind for kind in measured.CLASSES}
BANDED = [kind for kind in measured.CLASSES if measured.ratios(kind)]
DENSE = ("dense, 1 chip", "dense, 2–8 chips")
EXPERTS = ("experts, 1 chip", "experts, 2–8 chips", "experts, over 8 chips")


def of(publisher):
    return [row for row in measured.ratios() if row.publisher == publisher]


def test_kernel_ratios_are_those_of_an_independent_comparison():
    # Worked out by hand from the published parameter count and the tables: 1.88, 1.84, 2.17, 1.91,
    # 1.95.
    assert [round(row.ratio, 2) for row in of("kernels")] == pytest.approx(
        [1.88, 1.84, 2.17, 1.91, 1.95], abs=0.011
    )


def test_nothing_measured_is_faster_than_the_floor():
    assert min(row.ratio for row in measured.ratios()) > 1


def test_one_chip_is_nearer_to_the_floor_than_a_node():
    def middle(devices):
        rows = [
            row
            for row in measured.ratios()
            if row.model == measured.MODEL and row.devices == devices
        ]
        return sum(measured.central(rows)) / 2

    assert middle(1) < middle(2) < middle(4) < middle(8)


def test_efficiency_falls_as_chips_get_faster():
    def top(chip, precision):
        return measured.central(
            [
                r
                for r in measured.ratios()
                if r.model == measured.MODEL
                and (r.chip, r.precision, r.devices) == (chip, precision, 1)
            ]
        )[1]

    assert top("H200 SXM", "fp8") < top("B200 SXM", "fp8") < top("B200 SXM", "fp4")


# Classes ------------------------------------------------------------------------------------------


def test_every_row_has_one_class_or_a_reason():
    counts = Counter(row.kind.name for row in measured.ratios())
    assert counts == {
        "dense, 1 chip": 88,
        "dense, 2–8 chips": 361,
        "experts, 1 chip": 35,
        "experts, 2–8 chips": 598,
        "experts, over 8 chips": 58,
    }
    tables = ("measured_steps", "measured_silicon", "measured_runs", "measured_serving")
    assert counts.total() + sum(measured.count_left_out().values()) == sum(
        len(load(table)) for table in tables
    )
    for row in measured.ratios():
        assert row.kind == measured.class_of(
            row.devices, scenario.values(model=row.model)["experts"]
        )


@pytest.mark.parametrize(
    "devices, experts, name",
    [
        (1, 1, DENSE[0]),
        (2, 1, DENSE[1]),
        (8, 1, DENSE[1]),
        (9, 1, "dense, over 8 chips"),
        (1, 8, EXPERTS[0]),
        (8, 256, EXPERTS[1]),
        (72, 256, EXPERTS[2]),
    ],
)
def test_a_scenario_is_classified_by_its_chips_and_its_experts(devices, experts, name):
    assert measured.class_of(devices, experts).name == name


@pytest.mark.parametrize("kind", BANDED, ids=lambda kind: kind.name)
def test_a_band_is_the_central_nine_tenths_rounded_outward(kind):
    found = measured.band(min(kind.most, 72), experts=2 if kind.experts else 1)
    rows = sorted(row.ratio for row in measured.ratios(kind))
    low, high = np.quantile(rows, [0.05, 0.95])
    assert found.low <= low < found.low + 0.1 and found.high - 0.1 < high <= found.high
    assert found.count == len(rows) >= measured.FEWEST
    assert (
        found.inside
        == sum(found.low <= ratio <= found.high for ratio in rows)
        >= 0.9 * len(rows) - 1
    )
    assert found.kind == kind and set(found.models) == {row.model for row in measured.ratios(kind)}


# Of the runs of a source that a band was made without, the least share that lie in it.
# Found: 0.73, 0.86, 0.89, 0.87, 0.88.
LEAST = dict(zip((*DENSE, *EXPERTS), (0.7, 0.84, 0.85, 0.85, 0.85), strict=True))


@pytest.mark.parametrize("kind", BANDED, ids=lambda kind: kind.name)
def test_a_band_holds_runs_of_sources_that_it_was_made_without(kind):
    found = measured.leave_source_out(kind)
    for source, (inside, count) in found.items():
        print(f"{kind.name}: {inside} of {count}, {source}")
    inside, count = (sum(part) for part in zip(*found.values(), strict=True))
    print(f"{kind.name}: {inside} of {count} in all, {inside / count:.2f}")
    assert count == len(measured.ratios(kind)) and len(found) >= 2
    assert inside / count >= LEAST[kind.name]


def test_the_others_never_see_the_source():
    kind = CLASSES["experts, over 8 chips"]
    source = "InferenceX: DeepSeek-V3 on H100 SXM"
    low, high = measured._outward([row for row in measured.ratios(kind) if row.source != source])
    mine = [row.ratio for row in measured.ratios(kind) if row.source == source]
    assert measured.leave_source_out(kind)[source] == (
        sum(low <= ratio <= high for ratio in mine),
        7,
    )


def test_reports_of_experts_over_many_chips_lie_in_the_band_of_experts_not_in_that_of_one_chip():
    """Four services that published batch, chips and rate lie far above a dense model.

    The dense model is on one chip.
    """
    names = {
        "deepseek_profile_decode",
        "sglang_h100_decode_2k",
        "sglang_gb200_p2_fp4",
        "sglang_k2_h200_decode",
    }
    rows = [row for row in measured.ratios() if row.name in names]
    dense, experts = measured.band(1), measured.band(72, model="DeepSeek-V3")
    assert {row.name for row in rows} == names
    for row in rows:
        assert dense.high < row.ratio and experts.low <= row.ratio <= experts.high


def test_a_report_by_hand():
    """The step of SGLang on 72 H100 is computed by hand.

    A chip has 256 sequences of 2,000 tokens and half of 100 more, in fp8 with caches in bf16.
    """
    (row,) = (row for row in measured.ratios() if row.name == "sglang_h100_decode_2k")
    weights, cache = 671026419200 / 72, 256 * 2050 * 70272  # bytes on a chip; every expert is awake
    assert row.measured == pytest.approx(256 / 2785, rel=1e-3)
    assert row.predicted == pytest.approx((weights + cache) / 3.35e12, rel=1e-3)


def test_a_run_whose_prompts_are_read_elsewhere_by_hand():
    """Of 1,024 requests, the share decodes that waits for no first token.

    The run is Kimi K2.5 on 16 of a rack's chips.
    """
    row = load("measured_runs").get("kimik2_5_gb200_vllm_fp4_disagg_1024x1024_c1024_cfg697")
    known = validation.run_values(row)
    decoding = 1024 * row["tpot_ms"] / (1024 * row["tpot_ms"] + row["ttft_ms"])
    assert known["batch"] == pytest.approx(1024 * decoding) and 0.9 < decoding < 1
    assert (known["devices"], known["context"], known["prompt_per_answer"]) == (16, 1536, 0)
    (ratio,) = (one for one in measured.ratios() if one.name == row.name)
    assert ratio.ratio == pytest.approx(row["tpot_ms"] / 1e3 / latency.step_time(known))
    assert ratio.kind.name == EXPERTS[2]


def test_a_run_of_whole_batches_by_hand():
    """256 prompts and answers of 128 tokens each took 17.75 s: all requests in all 128 steps."""
    row = load("measured_runs").get("llama3_1_405b_mi300x_vllm_fp8_128x128_b256")
    assert row["ttft_ms"] is None and row["tpot_ms"] == pytest.approx(17750 / 128, rel=1e-3)
    known = validation.run_values(row)
    assert (known["batch"], known["context"], known["prompt_per_answer"]) == (256, 192, 1)
    [ratio] = (one for one in measured.ratios() if one.name == row.name)
    weights, cache = 405853388800, 256 * 192 * 126 * 2 * 8 * 128  # bytes, one an element
    work = 2 * 405853388800 * 256 * 2  # as much for prompts as for answers
    floor = (weights + cache) / (8 * 5.3e12) + work / (8 * 2.615e15)
    assert ratio.predicted == pytest.approx(floor, rel=2e-3)


def test_the_band_foretold_two_publishers_that_it_was_made_without():
    """Dense models on 4 and 8 chips, among them the only chips of AMD."""
    found = measured.leave_source_out(CLASSES[DENSE[1]])
    assert found["Oracle: Llama 3.1 405B on MI300X"] == (9, 9)
    assert found["DataCrunch: Llama 3.1 405B on H200 SXM"] == (3, 3)
    assert found["DataCrunch: Llama 3.1 70B on H200 SXM"] == (5, 5)


def test_a_rate_of_requests_is_kept_up_with():
    """Requests in flight are a mean over the run; ramp and end are to be a small part of it.

    Of the runs at a rate, those are taken whose answers take a tenth of the arrivals' time at most,
    and it was 300 s.
    """
    rows = [row for row in load("measured_runs") if row["publisher"] == "DataCrunch"]
    assert len(rows) == 8
    for row in rows:
        rate, latency = int(row.name[-1]), row["ttft_ms"] + (row["osl_tokens"] - 1) * row["tpot_ms"]
        assert latency <= 30e3
        assert row["concurrency"] == pytest.approx(rate * latency / 1e3, rel=0.12)


def test_a_request_alone_meets_no_prompt():
    alone = [
        row for row in load("measured_runs") if row["concurrency"] == 1 and not row["prompts_apart"]
    ]
    assert alone and {validation.run_values(row)["prompt_per_answer"] for row in alone} == {0}


def test_waiting_rows_are_not_among_the_runs():
    """Above twenty seconds to the first token, the load is not the concurrency.

    The rule is that of measured_silicon.
    """
    waits = [row["ttft_ms"] for row in load("measured_runs") if row["ttft_ms"]]
    assert len(waits) > 590 and max(waits) <= 20e3
    assert all(row["prompts_apart"] or row["copies"] == 1 for row in load("measured_runs"))


def test_a_model_is_as_good_as_its_experts():
    for model in ("DeepSeek-V3", "Llama 3.1 8B"):
        for devices in (1, 8, 16):
            experts = scenario.values(model=model)["experts"]
            assert measured.band(devices, model=model) == measured.band(devices, experts=experts)
    with pytest.raises(ScenarioError, match="'gpt' is the beginning of several names"):
        measured.band(8, model="gpt")


def test_a_class_with_too_few_rows_has_no_band_and_says_so(monkeypatch):
    assert measured.band(72, model="Llama 3.1 70B") is None
    assert measured.describe_band(CLASSES["dense, over 8 chips"]) == (
        "no measured band for a dense model on more than 8 chips: 0 runs are published, and a "
        "band takes 30"
    )
    monkeypatch.setattr(measured, "FEWEST", 59)
    monkeypatch.setattr(measured, "band_of", measured.band_of.__wrapped__)
    assert (
        measured.band(72, model="DeepSeek-V3") is None
        and measured.band(8, model="DeepSeek-V3") is not None
    )
    assert "58 runs are published, and a band takes 59" in measured.describe_band(
        CLASSES["experts, over 8 chips"]
    )


# What is shown ------------------------------------------------------------------------------------


def test_the_page_has_a_band_for_every_class_in_the_order_in_which_they_are_asked():
    rows = measured.page_bands()
    assert [(row["when"]["experts"], row["when"]["most"]) for row in rows] == [
        (experts, most) for experts in (False, True) for most in (1, 8, None)
    ]
    assert [row["band"] is None for row in rows] == [False, False, True, False, False, False]
    for row, kind in zip(rows, measured.CLASSES, strict=True):
        assert row["text"] == measured.describe_band(kind) and kind.text in row["text"]
        if made := measured.band_of(kind):
            assert row["batches"] == made.usual
            low, high = made.usual
            assert made.batches[0] <= low < high <= made.batches[1]
            held = [low <= ratio.batch <= high for ratio in measured.ratios(kind)]
            assert sum(held) >= 0.77 * made.count  # ends are whole, and inwards


def test_what_the_pages_say_of_bands():
    bands = {
        kind.name: measured.band(min(kind.most, 72), experts=2 if kind.experts else 1)
        for kind in BANDED
    }
    # The card measured-over-the-floor, and the assignment on rooflines.
    assert 2.4 < bands[DENSE[0]].high < 2.6
    assert (bands[DENSE[1]].low, bands[DENSE[1]].high) == (1.5, pytest.approx(6, abs=0.3))
    assert (
        3.5 < bands[EXPERTS[0]].high < 4
        and 13.5 < bands[EXPERTS[1]].high <= bands[EXPERTS[2]].high < 15
    )
    # Chapter one: with experts, few sequences lie near the upper end and many near the lower.
    rows = measured.ratios(CLASSES[EXPERTS[1]])
    few = statistics.median(row.ratio for row in rows if row.batch <= 2)
    many = statistics.median(row.ratio for row in rows if row.batch >= 64)
    middle = (bands[EXPERTS[1]].low * bands[EXPERTS[1]].high) ** 0.5
    assert many < middle < few
    # And of a dense model on one chip: the chip with the most bandwidth for its arithmetic is
    # nearest to the floor.
    found = measured.leave_source_out(CLASSES[DENSE[0]])
    assert len(found) == 3 and min(found.values()) == found["InferenceX: Llama 3.1 70B on H200 SXM"]
    chips = [facts.get("accelerators", chip) for chip in bands[DENSE[0]].chips]
    per_flop = {
        chip.name: chip["hbm_bandwidth_bytes_per_s"] / chip["fp8_dense_flops"] for chip in chips
    }
    assert max(per_flop, key=per_flop.get) == "H200 SXM"


def test_a_ratio_is_measured_over_predicted():
    row = measured.ratios()[0]
    assert replace(row, measured=2 * row.measured).ratio == pytest.approx(2 * row.ratio)


def test_what_the_latency_of_the_layers_explains_on_eight_chips():
    """Of what runs take beyond the roofline: a quarter to two fifths for four at once."""
    shares: dict[int, list[float]] = {}
    for row in of("InferenceX"):
        if (row.model, row.devices) == (measured.MODEL, 8):
            asked = f'hardware="{row.chip}" model="{row.model}" precision={row.precision}'
            latency = answer(f"fixed_time {asked}").value
            shares.setdefault(row.batch, []).append(latency / (row.measured - row.predicted))
    assert len(shares[4]) > 8
    assert min(shares[4]) > 0.24 and max(shares[4]) < 0.44
    for batch, found in shares.items():
        if batch > 8:
            assert statistics.mean(found) < statistics.mean(shares[4])


def test_a_lone_user_of_our_server_pays_some_140_times_the_floor():
    ours = 'hardware="H100 SXM" model="Llama 3.1 70B" precision=bf16 context=4096'
    alone = answer(f"cost_per_token_with_latency batch=1 {ours}").value
    floor = answer(f"cost_floor {ours}").value
    assert alone / floor == pytest.approx(140, rel=0.02)
    full = answer(f"cost_per_token_with_latency batch=371 {ours}").value
    assert 0.25 < 1 - floor / full < 0.29  # little more than a quarter


def _crowd(batches, steps):
    """Return how many people share a step that lasts 2.5 times as long as a fifteenth of them's.

    None where that is beyond the largest batch measured; below the smallest the first two go on.
    """

    def step(batch):
        if batch < batches[0]:
            return steps[0] - (batches[0] - batch) * (steps[1] - steps[0]) / (
                batches[1] - batches[0]
            )
        return np.interp(batch, batches, steps)

    tried = np.linspace(1, batches[-1], 20_000)
    enough = [batch for batch in tried if step(batch) >= 2.5 * step(batch / 15)]
    return enough[0] if enough else None


def test_the_crowd_of_the_first_chapter_by_measured_steps():
    """Its 170 to 200 people on our server, and 0.6 to 2.4 times the predicted crowd elsewhere."""
    series = {}
    for row in measured.ratios():
        if row.model == measured.MODEL and row.devices == 8:
            load = re.search(r"\d+x\d+", row.name)  # tokens in and out
            kind = row.publisher, row.chip, row.precision, load and load[0]
            series.setdefault(kind, []).append(row)
    found = {}
    for key, rows in series.items():
        rows.sort(key=lambda row: row.batch)
        batches = [row.batch for row in rows]
        if len(rows) > 2 and (people := _crowd(batches, [row.measured for row in rows])):
            # What the roofline says is a straight line in the batch: B = 1.8 shared / own.
            own, shared = np.polyfit(batches, [row.predicted for row in rows], 1)
            found[key] = people, 1.8 * shared / own
    ours = found.pop(("kernels", "H100 SXM", "bf16", None))
    assert ours == pytest.approx((170, 189), abs=1)
    # The same squares, as far as they fit, joined by one straight line.
    squares = [
        (row.batch, row.measured)
        for row in measured.ratios()
        if (row.publisher, row.chip, row.precision) == ("kernels", "H100 SXM", "bf16")
        and row.model == measured.MODEL
        and row.batch < 371
    ]
    own, shared = np.polyfit(*zip(*squares, strict=True), 1)
    assert 1.8 * shared / own == pytest.approx(200, rel=0.03)
    times = [people / by_roofline for people, by_roofline in found.values()]
    assert len(times) == 6 and len({chip for _, chip, *_ in found}) == 3
    assert (round(min(times), 1), round(max(times), 1)) == (0.6, 2.4)
