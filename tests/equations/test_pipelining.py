"""Tests of pipelines.

Closed forms are compared with schedules that are played through and with published figures.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sympy import sympify

from handful import pipelining as p
from handful.facts import get
from handful.symbolic.quantities import QuantityError
from handful_evidence.simulate import pipeline as sim

TIMES = [(1.0, 2.0, 1.0), (1.0, 2.2, 0.9), (1.0, 1.7, 0.8), (3.0, 5.0, 2.5)]
SIZES = [(2, 8), (4, 8), (4, 12), (8, 32), (6, 24)]


@pytest.mark.parametrize("stages, micro_batches", SIZES)
@pytest.mark.parametrize("forward, backward, weights", TIMES)
@pytest.mark.parametrize(
    "make, formula",
    [
        (sim.gpipe, p.bubble_time),
        (sim.one_forward_one_backward, p.bubble_time),
        (sim.interleaved, p.bubble_time_interleaved),
        (sim.zero_bubble, p.bubble_time_zero_bubble),
    ],
)
def test_bubbles_are_what_the_schedules_show(
    make, formula, stages, micro_batches, forward, backward, weights
):
    played = sim.run(make(stages, micro_batches), forward, backward, weights)
    inputs = {quantity.name for quantity in formula.inputs}
    known = dict(
        pipeline_stages=stages,
        forward_time=forward,
        backward_time=backward,
        weight_gradient_time=weights,
        model_chunks=2,
    )
    expected = formula(**{name: value for name, value in known.items() if name in inputs})
    assert played.bubble == pytest.approx(expected, rel=1e-12)
    assert played.makespan == pytest.approx(
        micro_batches * (forward + backward) + expected, rel=1e-12
    )


@pytest.mark.parametrize("stages, micro_batches", [(2, 8), (4, 8), (4, 20), (8, 16), (8, 64)])
@pytest.mark.parametrize("overlapped", [2.0, 2.5, 3.0])
def test_dual_pipe_where_its_formula_is_exact(stages, micro_batches, overlapped):
    """The schedule shows the published bubble where its formula is exact.

    That is where gradients of inputs take as long as a forward pass.
    """
    played = sim.run(sim.dual_pipe(stages, micro_batches), 1.0, 2.0, 1.0, overlapped)
    formula = p.bubble_time_dual_pipe(
        pipeline_stages=stages, overlapped_time=overlapped, backward_time=2, weight_gradient_time=1
    )
    assert played.bubble == pytest.approx(formula, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("forward, backward, weights", [(1.0, 2.2, 0.9), (1.0, 1.7, 0.8)])
def test_dual_pipe_elsewhere_is_off_by_what_we_say(forward, backward, weights):
    """Otherwise each of P/2 − 1 turns differs by a forward pass less the gradients of inputs."""
    played = sim.run(sim.dual_pipe(8, 32), forward, backward, weights)
    formula = p.bubble_time_dual_pipe(
        pipeline_stages=8,
        overlapped_time=forward + backward,
        backward_time=backward,
        weight_gradient_time=weights,
    )
    assert played.bubble - formula == pytest.approx(3 * (forward - (backward - weights)), rel=1e-9)


def test_a_third_of_the_bubble_as_published():
    """Qi et al.: ZB-H1 waits a third as long as 1F1B where the three passes take equally long."""
    plain = p.bubble_time(pipeline_stages=8, forward_time=1, backward_time=2)
    halves = p.bubble_time_zero_bubble(
        pipeline_stages=8, forward_time=1, backward_time=2, weight_gradient_time=1
    )
    assert halves / plain == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "make, most",
    [
        (sim.gpipe, lambda P, m: m),
        (sim.one_forward_one_backward, lambda P, m: P),
        (sim.zero_bubble, lambda P, m: P),
        (sim.dual_pipe, lambda P, m: P + 1),
        (sim.interleaved, lambda P, m: P * (1 + (P - 1) / (2 * P))),
    ],
)
@pytest.mark.parametrize("stages, micro_batches", [(4, 8), (4, 16), (8, 32)])
def test_activations_held(make, most, stages, micro_batches):
    """Narayanan et al.

    (1F1B, interleaved: 1 + (P − 1)/(PV) as much), Qi et al. (as 1F1B), DualPipe's notes (P + 1).
    """
    held = sim.run(make(stages, micro_batches), 1.0, 2.0).held
    assert max(held) == most(stages, micro_batches)


@pytest.mark.parametrize(
    "make",
    [sim.gpipe, sim.one_forward_one_backward, sim.interleaved, sim.zero_bubble, sim.dual_pipe],
)
def test_every_piece_is_done_once_and_in_its_time(make):
    schedule = make(4, 8)
    played = sim.run(schedule, 1.0, 2.0, 1.0)
    done = {}
    for bar in played.bars:
        for piece in bar.pieces:
            kinds = ("B",) if piece.kind == "I" else (piece.kind,)
            for kind in kinds:
                key = (kind, *piece[1:])
                assert key not in done
                done[key] = (bar.start, bar.end)
    forward = [key for key in done if key[0] == "F"]
    assert len(forward) == schedule.stages * schedule.micro_batches
    for _, stream, stage, number in forward:
        assert done["F", stream, stage, number][1] <= done["B", stream, stage, number][0]
        if stage:
            assert done["F", stream, stage - 1, number][1] <= done["F", stream, stage, number][0]
            assert done["B", stream, stage, number][1] <= done["B", stream, stage - 1, number][0]
    by_device = {}
    for bar in played.bars:
        assert bar.start >= by_device.get(bar.device, 0.0)  # no device does two things at once
        by_device[bar.device] = bar.end


@given(stages=st.integers(1, 10), micro_batches=st.integers(1, 40), ratio=st.floats(0.5, 4))
def test_shares_say_the_same_of_both_denominators(stages, micro_batches, ratio):
    bubble = (
        p.bubble_time(pipeline_stages=stages, forward_time=1, backward_time=ratio)
        if stages > 1
        else 0.0
    )
    ideal = micro_batches * (1 + ratio)
    assert p.bubble_of_ideal(pipeline_stages=stages, micro_batches=micro_batches) == pytest.approx(
        bubble / ideal
    )
    assert p.bubble_of_total(pipeline_stages=stages, micro_batches=micro_batches) == pytest.approx(
        bubble / (bubble + ideal)
    )


@pytest.mark.parametrize("stages, micro_batches, chunks", [(4, 8, 2), (4, 12, 3), (8, 16, 4)])
def test_the_interleaved_share_is_what_the_schedule_shows(stages, micro_batches, chunks):
    played = sim.run(sim.interleaved(stages, micro_batches, chunks), 1.0, 2.0)
    share = p.bubble_of_ideal_interleaved(
        pipeline_stages=stages, micro_batches=micro_batches, model_chunks=chunks
    )
    assert share == pytest.approx(played.bubble / (3 * micro_batches), rel=1e-12)


def test_the_published_share_of_total():
    published = sympify(get("scaling_laws", "gpipe_bubble")["expression"])  # (p-1)/(m+p-1)
    for stages, many in ((4, 8), (16, 120)):
        assert p.bubble_of_total(pipeline_stages=stages, micro_batches=many) == pytest.approx(
            float(published.subs({"p": stages, "m": many}))
        )


@pytest.mark.parametrize(
    "make, formula",
    [(sim.gpipe, p.activation_memory_gpipe), (sim.one_forward_one_backward, p.activation_memory)],
)
def test_activation_memory_is_what_the_first_stage_holds(make, formula):
    known = dict(micro_batch=2, sequence_tokens=4096, layer_activation_bytes=34 * 8192, layers=80)
    for stages, many in ((4, 16), (8, 16), (8, 4)):
        held = sim.run(make(stages, many), 1.0, 2.0).held[0]
        one = 2 * 4096 * 34 * 8192 * 80 / stages  # one micro-batch in one stage's layers
        assert formula(known, pipeline_stages=stages, micro_batches=many) == pytest.approx(
            held * one
        )


def test_the_best_number_of_micro_batches():
    known = dict(pipeline_stages=8, stage_work_time=1.0, micro_batch_overhead=2e-3)
    found = minimize_scalar(
        lambda x: p.pipeline_time(known, micro_batches=x), bounds=(1, 1e4), method="bounded"
    )
    assert p.best_micro_batches(known) == pytest.approx(found.x, rel=1e-4)


@pytest.mark.parametrize("stages", [1, 2, 4, 8])
@pytest.mark.parametrize("micro_batches", [1, 3, 8, 11])
@pytest.mark.parametrize("hop", [0.0, 2e-4])
def test_decoding_round_and_round(stages, micro_batches, hop):
    played = sim.decode(stages, micro_batches, 1e-3, hop)
    known = dict(pipeline_stages=stages, micro_batches=micro_batches, stage_time=1e-3, hop_time=hop)
    assert played["token_latency"] == pytest.approx(p.circling_latency(known), rel=1e-9)
    assert played["utilisation"] == pytest.approx(p.stage_utilisation(known), rel=1e-9)


def test_a_pipeline_is_neutral_for_latency_but_for_its_hops():
    whole = 8e-3
    for stages in (1, 2, 4, 8):
        played = sim.decode(stages, 1, whole / stages, 1e-5)
        assert played["token_latency"] == pytest.approx(
            p.token_latency(step_time=whole, pipeline_stages=stages, hop_time=1e-5), rel=1e-9
        )


@given(stages=st.integers(1, 16), context=st.floats(1e3, 1e6))
def test_stages_cancel_in_the_caches(stages, context):
    """The caches over all chips do not depend on the number of stages.

    The schedule is played through with the fewest micro-batches in flight that keep every stage
    busy.
    """
    known = dict(
        bytes_per_parameter=1,
        total_parameters=1e12,
        kv_bytes_per_token=7e4,
        context=context,
        stage_devices=64,
    )
    in_flight = next(
        m for m in range(1, 40) if sim.decode(stages, m, 1e-3, rounds=20)["utilisation"] > 1 - 1e-9
    )
    assert in_flight == stages
    by_hand = (1e12 + in_flight * 300 * context * 7e4) / (64 * stages)
    assert p.device_memory(known, pipeline_stages=stages, micro_batch=300) == pytest.approx(by_hand)
    caches = p.device_memory(known, pipeline_stages=stages, micro_batch=300) - 1e12 / (64 * stages)
    assert caches == pytest.approx(300 * context * 7e4 / 64, rel=1e-6)


def test_the_lecture_on_traffic():
    """With K = 8 and one layer a stage, it is 2 at 8 times.

    At the 18 times of a rack with 400 Gb/s a chip it takes two layers.
    """
    assert p.traffic_time_ratio(active_experts=8, layers_per_stage=1, bandwidth_ratio=8) == 2
    assert p.fewest_layers_per_stage(active_experts=8, bandwidth_ratio=18) == pytest.approx(1.125)


def test_traffic_in_several_precisions():
    """Out in fp8, back and onwards in bf16 is three bytes against two.

    The three are for each expert and layer; with equal widths, the rule holds.
    """
    known = dict(active_experts=8, layers_per_stage=3, bandwidth_ratio=18)
    mixed = p.traffic_time_ratio_of_bytes(
        known, dispatch_bytes=1, combine_bytes=2, activation_bytes=2
    )
    assert mixed == pytest.approx(3 * 8 * 1.5 / 18)
    same = p.traffic_time_ratio_of_bytes(
        known, dispatch_bytes=2, combine_bytes=2, activation_bytes=2
    )
    assert same == pytest.approx(p.traffic_time_ratio(known))
    wires = dict(
        active_experts=8, layers_per_stage=3, scale_up_bandwidth=900e9, scale_out_bandwidth=50e9
    )
    assert p.traffic_time_ratio_of_chip(wires) == pytest.approx(p.traffic_time_ratio(known))
    assert p.fewest_layers_of_chip(wires) == pytest.approx(1.125)


def test_a_hop_is_microseconds():
    """2,000 activations of 7,168 bf16 numbers are 28.7 MB.

    Over 72 ports of 100 GB/s they take 4 µs.
    """
    time = p.hop_time(
        wire_latency=3.7e-6,
        micro_batch=2000,
        d_model=7168,
        activation_bytes=2,
        stage_devices=72,
        scale_out_bandwidth=100e9,
    )
    assert time == pytest.approx(3.7e-6 + 28.672e6 / 7.2e12)
    assert p.hop_time(
        wire_latency=3.7e-6,
        micro_batch=2000,
        d_model=7168,
        activation_bytes=2,
        stage_devices=72,
        scale_out_bandwidth=100e9,
        new_tokens_per_sequence=2,
    ) == pytest.approx(3.7e-6 + 57.344e6 / 7.2e12)


@pytest.mark.parametrize(
    "name, formula",
    [
        ("gpipe", p.bubble_of_total),
        ("interleaved", p.bubble_of_total_interleaved),
        ("zero_bubble", p.bubble_of_total_zero_bubble),
        ("dual_pipe", p.bubble_of_total_dual_pipe),
    ],
)
@pytest.mark.parametrize("stages, micro_batches", [(4, 8), (6, 24), (8, 32)])
def test_shares_of_total_are_what_the_schedules_show(name, formula, stages, micro_batches):
    for backward, weights in (
        (2.0, 1.0),
        (1.8, 0.8),
    ):  # gradients of inputs as long as a forward pass
        played = sim.run(sim.SCHEDULES[name](stages, micro_batches), 1.0, backward, weights)
        known = dict(
            pipeline_stages=stages,
            micro_batches=micro_batches,
            forward_time=1,
            backward_time=backward,
            weight_gradient_time=weights,
            model_chunks=2,
        )
        wanted = {q.name for q in formula.inputs}
        share = formula(**{key: value for key, value in known.items() if key in wanted})
        assert share == pytest.approx(played.bubble / played.makespan, rel=1e-9)


def test_dual_pipe_in_turn_is_the_published_form():
    known = dict(pipeline_stages=8, backward_time=2.2, weight_gradient_time=0.9)
    assert p.bubble_time_dual_pipe_in_turn(known, forward_time=1) == pytest.approx(
        p.bubble_time_dual_pipe(known, overlapped_time=3.2)
    )


def test_critical_tokens_as_the_scaling_book_has_them():
    """4.59e14 FLOP/s over 1.8e11 B/s in bf16 is 2,550 tokens for each TPU v5p and axis.

    The source is Austin et al.
    """
    tokens = p.critical_tokens(gradient_bytes=2, peak_flops=4.59e14, scale_out_bandwidth=1.8e11)
    assert tokens == pytest.approx(2550, rel=1e-3)


def test_critical_tokens_of_a_port_and_of_a_node():
    """A chip's port asks for eight times as many tokens as a node of eight that adds up first.

    Austin et al. count what leaves the node, 400 GB/s for H100, and get 2,475.
    """
    port = get("accelerators", "H100 SXM")["scaleout_bw_per_chip_one_direction_bytes_per_s"]
    known = dict(gradient_bytes=2, peak_flops=989e12)
    assert p.critical_tokens(known, scale_out_bandwidth=port) == pytest.approx(19_780)
    assert p.critical_tokens(known, scale_out_bandwidth=8 * port) == pytest.approx(2475, rel=2e-3)


def test_a_rack_is_bandwidth_more_than_capacity():
    rows = {row["name"]: row for row in p.domains()}
    new, old = rows["GB200 NVL72"], rows["H100 SXM"]
    assert new["devices"] / old["devices"] == 9
    assert new["capacity_bytes"] / old["capacity_bytes"] == pytest.approx(20.9, abs=0.1)
    assert new["drain_time_s"] == pytest.approx(old["drain_time_s"], rel=0.05)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: sim.gpipe(0, 4), "stages must be a whole number, 1 or more; got 0"),
        (lambda: sim.interleaved(4, 6), "a multiple of 4 micro-batches; got 6"),
        (lambda: sim.dual_pipe(3, 8), "an even number of devices"),
        (lambda: sim.run(sim.gpipe(2, 2), 1, 2, 3), "weights between 0 and backward"),
        (lambda: sim.run(sim.gpipe(2, 2), 1, 2, overlapped=9), "between 2 and 3; got 9"),
        (lambda: sim.decode(2, 2, math.inf), "stage_time must be above 0"),
    ],
)
def test_bad_schedules(call, message):
    with pytest.raises(sim.ScheduleError, match=message):
        call()


def test_a_schedule_that_waits_for_itself_is_found():
    schedule = sim.one_forward_one_backward(2, 2)
    schedule.orders[1].reverse()
    with pytest.raises(sim.ScheduleError, match="waits for itself"):
        sim.run(schedule, 1, 2)


def test_bad_input():
    with pytest.raises(QuantityError, match="pipeline_stages must be above 0"):
        p.bubble_of_ideal(pipeline_stages=0, micro_batches=4)
