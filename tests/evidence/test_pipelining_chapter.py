"""What the chapter on pipelining says in words, of its two racks and of schedules."""

from __future__ import annotations

import pytest

from handful import facts
from handful.query import answer
from handful_evidence import measured_pipelines as measured
from handful_evidence.simulate import pipeline

OURS = 'hardware="GB200 NVL72" model="DeepSeek-V3" precision=fp8'
CROWD = f"batch=5760 context=4096 {OURS}"
OUT = "scale_out_bandwidth=50e9"
PORT = f"activation_bytes=2 {OUT}"
WHOLE = (
    "step_time_of_racks batch=5760 scale_up_domains=1 kernel_overhead=30.2e-6 context=4096 " + OURS
)
HOP = f"hop_time micro_batch=5760 stage_devices=72 {PORT} {OURS}"


def of(request: str) -> float:
    return answer(request).value


def test_the_cable_is_idle_and_a_token_takes_as_long():
    half = of(f"stage_time_of_step pipeline_stages=2 {CROWD}")
    copy, speed = 7168 * 2, 50e9
    assert of(f"{HOP} wire_latency=0") == pytest.approx(80 * copy / speed)
    assert of(f"port_use pipeline_stages=2 {PORT} {CROWD}") == pytest.approx(
        80 * copy / speed / half
    )
    # One crossing with all the bytes, and one back that carries only the tokens that were chosen.
    there, back = of(f"{HOP} wire_latency=3.7e-6"), 3.7e-6
    assert (there + back) / 2 == pytest.approx(15e-6, rel=0.02)
    step = of(f"step_time {CROWD}")
    # Once for each token, with one crowd; a quarter of a per cent of the whole step.
    once = of(f"port_use pipeline_stages=1 {PORT} {CROWD}")
    assert once == pytest.approx(80 * copy / speed / step)
    assert 80 * copy / speed / of(WHOLE) == pytest.approx(0.0025, abs=0.00005)
    # The slip of dividing by half of the reading gives what two crowds will make of it.
    assert of(f"port_use pipeline_stages=2 {PORT} {CROWD}") == pytest.approx(0.018, abs=0.0005)
    assert 2 * half + there + back == pytest.approx(step, rel=0.02)
    assert step == pytest.approx(
        of(f"full_weight_time {OURS}") + of(f"kv_time {CROWD}"), rel=1e-9
    )  # "the arithmetic goes on meanwhile and takes less"
    work = of(f"compute_time {CROWD}") + of(f"attention_time {CROWD}")
    assert work == pytest.approx(2.3e-3, abs=0.05e-3) and work < step


def test_both_racks_work_nearly_all_the_time():
    """Two crowds, and the thirty-two layers and twenty-nine of the drawing."""
    weights, caches = of(f"full_weight_time {OURS}"), of(f"kv_time {CROWD}")
    here, there = (weights / 2 + caches * layers / 61 for layers in (32, 29))
    # The slower rack sets the pace, and has no wait although hops take time.
    hops = of(f"{HOP} wire_latency=3.7e-6") + 3.7e-6
    assert here + there + hops < 2 * here
    assert 1 - there / here == pytest.approx(1 / 20, abs=0.005)


def test_copies_of_a_token_inside_a_rack_and_across():
    shape = facts.get("shapes", "DeepSeek-V3")
    assert shape["layers"] == 32 + 29 and shape["layers"] - shape["dense_layers"] == 2 * 29
    assert 2 * 8 * 29 == 464
    ratio = "traffic_time_ratio active_experts=8 layers_per_stage=29 bandwidth_ratio=18"
    assert of(ratio) == 464 / 18 == pytest.approx(26, abs=0.5)
    # With the bytes of our copies: one a number on the way to an expert, and two otherwise.
    inside = of('token_traffic expert_layers=29 model="DeepSeek-V3"')
    assert inside / (2 * 7168) / 18 == pytest.approx(19, abs=0.5)


def test_half_the_crowd_makes_a_token_cost_nearly_half_as_much_again():
    """Compare two racks, for a step of half the crowd at a time, with one rack for all of it."""
    apart = 2 * of(f"step_time {CROWD.replace('5760', '2880')}")
    assert apart / of(f"step_time {CROWD}") == pytest.approx(1.45, abs=0.005)


def test_totals_of_two_racks():
    """The table of whole steps, fixed delays, journeys and hops included."""
    full, half = of(WHOLE), of(WHOLE.replace("5760", "2880"))
    hop = of(f"{HOP} wire_latency=50e-6")
    less = of(f"{HOP.replace('5760', '2880')} wire_latency=50e-6")
    assert full == pytest.approx(9.2e-3, abs=0.05e-3)
    one, split = full + 2 * hop, half + 2 * less
    assert one == pytest.approx(9.4e-3, abs=0.05e-3)
    assert split == pytest.approx(8.2e-3, abs=0.05e-3)
    # Rent of two racks for a crowd, or for two, beside that of one rack.
    costs = [2 * one / full, 2 * split / full, 2 * half / full, one / full]
    assert costs == pytest.approx([2.03, 1.78, 1.75, 1.02], abs=0.005)
    long = [of(WHOLE.replace("4096", "32768").replace("5760", n)) for n in ("5760", "2880")]
    assert 2 * long[1] / long[0] == pytest.approx(1.35, abs=0.02)
    # Four hops beside a whole step, and for how much of the time four crowds then fill four racks.
    assert 4 * hop / full == pytest.approx(0.03, abs=0.003)
    assert 1 / (1 + 4 * hop / full) == pytest.approx(0.97, abs=0.005)


def test_what_crossed_then_and_what_crosses_now():
    """Four copies and answers in each layer for forty tokens, and one copy for eighty."""
    assert 58 * 4 * 3 == 696 and 696 // 2 == 348 and 348 // 2 == 174
    then = of(f"communication_time batch=5760 devices=144 domain_devices=72 {OUT} {OURS}")
    assert then / 174 == pytest.approx(of(f"{HOP} wire_latency=0"), rel=1e-9)


def test_weights_are_a_seventh_of_the_rack_and_too_many_for_eight_chips():
    weights = of(f"weight_memory {OURS}")
    shape = facts.get("shapes", "DeepSeek-V3")
    expert = 3 * shape["d_model"] * shape["expert_dim"]
    routed = (shape["layers"] - shape["dense_layers"]) * shape["routed_experts"] * expert
    stored = routed + 72 * (weights - routed)  # each chip has the others to itself, at a byte each
    assert stored / of(f"devices_memory {OURS}") == pytest.approx(1 / 7, rel=0.03)
    node = of('domain_memory hardware="H100 SXM" precision=fp8')
    assert weights / 2 < 0.6 * node < node < weights
    assert 16 * weights / of(f"devices_memory {OURS}") == pytest.approx(0.8, abs=0.005)


def test_how_thin_a_stage_may_be():
    def ratio(layers: int) -> float:
        return of(
            f"traffic_time_ratio active_experts=8 layers_per_stage={layers} bandwidth_ratio=18"
        )

    assert 0.8 < ratio(1) < 1 < 1.5 < ratio(2)
    layer = of(f"step_time {CROWD}") / 61
    assert round(layer, 6) == 43e-6 and of(f"{HOP} wire_latency=0") < 0.6 * layer


def test_hops_as_the_chapter_counts_them():
    """Half of the last chapter's fixed delay of a network, there and back, and then the bytes."""
    hop = of(f"{HOP} wire_latency=50e-6")
    assert round(hop, 6) == 73e-6
    reading = of(f"step_time {CROWD}")
    assert 3e-3 / hop == pytest.approx(40, rel=0.05)  # a few milliseconds, as was guessed
    assert 4 * 3e-3 + reading == pytest.approx(14.6e-3, abs=0.05e-3)
    assert 4 * (1 + hop / (reading / 4)) == pytest.approx(4.4, abs=0.05)
    assert pytest.approx(0.9, abs=0.01) == 4 / 4.4  # for as much of the time four crowds fill four
    assert 61 * hop > reading  # a rack for each layer
    assert 5 * reading / 4 == pytest.approx(3.3e-3, abs=0.05e-3)  # five crowds take turns
    assert reading / 4 == pytest.approx(0.65e-3, abs=0.005e-3)


def test_four_micro_batches_fill_four_racks_and_five_where_hops_take_a_quarter():
    full = [pipeline.decode(4, 4, 1.0, 0.0), pipeline.decode(4, 5, 1.0, 0.25)]
    assert [row["utilisation"] for row in full] == pytest.approx([1, 1])
    assert pipeline.decode(4, 4, 1.0, 0.25)["utilisation"] < 1
    assert 4 * (1 + 0.25) == 5


def test_bubbles_that_are_told_in_words():
    """Nine units beside twelve, the same with 1F1B, and a third of it with zero bubble."""
    assert of("bubble_of_total pipeline_stages=4 micro_batches=4") == 9 / (9 + 12)
    for many in (1, 2, 4, 8):
        assert pipeline.run(SCHEDULES["gpipe"](4, many), 1.0, 2.0, 1.0).bubble == 9
    assert 2 + 2 + 4 + 2 * 4 == 16  # bytes of a weight in training, as they are listed
    for name in ("v3_stages", "llama3_stages"):
        assert facts.get("measured_pipelines", name)["value"] == 16
    runs = {
        name: pipeline.run(SCHEDULES[name](4, 8), 1.0, 2.0, 1.0)
        for name in ("gpipe", "1f1b", "zero_bubble")
    }
    assert {name: (max(run.held), run.bubble) for name, run in runs.items()} == {
        "gpipe": (8, 9),
        "1f1b": (4, 9),
        "zero_bubble": (4, 3),
    }


SCHEDULES = pipeline.SCHEDULES


def test_what_was_measured_waits_nearly_as_long_as_1f1b():
    found, parts, whole = measured.reconstructed(), measured.parts(), measured.step_time()
    assert 0.85 < parts["v3_bubble"] / found["bubble_1f1b"] < 1
    assert parts["v3_overlapped"] / whole == pytest.approx(0.7, abs=0.01)
    assert parts["v3_bubble"] / whole == pytest.approx(0.1, abs=0.01)


def test_interleaving_halves_the_wait():
    waits = [
        pipeline.run(SCHEDULES[name](4, 8), 1.0, 2.0, 1.0).bubble
        for name in ("1f1b", "interleaved")
    ]
    assert waits == [9, 4.5]
    assert 2 * 4 - 1 == 7  # crossings between eight thin stages
