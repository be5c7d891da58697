"""Goodput under two service levels: against DistServe's formulas, and queues that are played."""

import math
import statistics

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from handful import latency, prefill_decode, serving
from handful import service_levels as levels
from handful.scenario import values
from handful_evidence.random32 import mulberry32
from handful_evidence.simulate import disaggregated as play
from handful_evidence.simulate.train import poisson_arrivals

# DistServe (Zhong et al. 2024) writes R for the rate and D for the prefill time.  Its equations are
# quoted from memory here, as are the rates of its example.
rates = st.floats(0.01, 0.99)


@given(load=rates, D=st.floats(0.001, 10))
def test_the_mean_is_distserves_first_equation(load, D):
    R = load / D
    found = levels.time_to_first_token(request_rate=R, prefill_time=D)
    assert found == pytest.approx(D + R * D**2 / (2 * (1 - R * D)))


@given(load=rates, D=st.floats(0.001, 10), K=st.floats(1, 2))
def test_two_gpus_are_its_other_equations(load, D, K):
    R = load / D
    # Two stages, the slower of which takes half of the time (inter-operator parallelism) …
    waits = levels.prefill_wait(request_rate=R, prefill_time=D / 2)
    assert D + waits == pytest.approx(D + R * D**2 / (4 * (2 - R * D)))
    # … and a prefill that is K times as fast (intra-operator parallelism).
    found = levels.time_to_first_token(request_rate=R, prefill_time=D / K)
    assert found == pytest.approx(D / K + R * D**2 / (2 * K * (K - R * D)))


def test_waits_are_those_of_a_queue_that_is_played():
    """Simpy plays one server: equal prompts, exponential ones, and two kinds of prompts."""
    kinds = {
        "equal": (lambda draw: 1.0, 0.0),
        "exponential": (lambda draw: -math.log(1 - draw()), 1.0),
        # Nine prompts of 0.5 and one of 5.5: mean 1, variance 2.25.
        "few long": (lambda draw: 5.5 if draw() < 0.1 else 0.5, 1.5),
    }
    for takes, spread in kinds.values():
        means = []
        for seed in range(8):
            draw, world = mulberry32(seed), simpy.Environment()
            server, waits = simpy.Resource(world, 1), []

            def request(world=world, server=server, waits=waits, draw=draw, takes=takes):
                came = world.now
                with server.request() as turn:
                    yield turn
                    waits.append(world.now - came)
                    yield world.timeout(takes(draw))

            def come(world=world, draw=draw, request=request):
                for _ in range(6000):
                    yield world.timeout(-math.log(1 - draw()) / 0.6)
                    world.process(request())

            world.process(come())
            world.run()
            means.append(statistics.fmean(waits))
        exact = levels.prefill_wait(request_rate=0.6, prefill_time=1, prefill_variation=spread)
        error = statistics.stdev(means) / math.sqrt(len(means))
        assert abs(statistics.fmean(means) - exact) < 4 * error < 0.3 * exact


def test_a_server_that_is_overrun_has_no_mean():
    for formula in (levels.prefill_wait, levels.time_to_first_token, levels.ttft_quantile):
        assert formula(request_rate=10, prefill_time=0.2) == math.inf


@given(load=rates, D=st.floats(0.001, 10), spread=st.floats(0, 3))
def test_the_rate_of_a_promised_mean_gives_that_mean(load, D, spread):
    known = dict(request_rate=load / D, prefill_time=D, prefill_variation=spread)
    promised = levels.time_to_first_token(known)
    del known["request_rate"]
    found = levels.mean_ttft_request_rate(known, ttft_target=promised)
    assert found == pytest.approx(load / D, rel=1e-6)


def test_no_request_is_in_time_where_prefill_takes_longer():
    known = dict(prefill_time=0.3, ttft_target=0.2)
    assert levels.mean_ttft_request_rate(known) == 0
    assert levels.prefill_request_rate(known) == 0
    # One prompt in a hundred is 4.6 times as long as the mean.
    assert levels.prefill_request_rate(prefill_time=0.2 / 4.7, ttft_target=0.2) > 0.05
    assert levels.prefill_request_rate(prefill_time=0.2 / 4.6, ttft_target=0.2) == 0


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_a_percentile_is_that_of_requests_that_are_played(share):
    """Exponential prefill times, two prefill servers, each with half of the requests."""
    D, promised = 0.04, 0.04 * 3 * math.log(1 / (1 - share))
    rate = levels.prefill_request_rate(prefill_time=D, ttft_target=promised, slo_attainment=share)
    assert rate == pytest.approx((1 - 1 / 3) / D)
    found = levels.ttft_quantile(request_rate=rate, prefill_time=D, slo_attainment=share)
    assert found == pytest.approx(promised)
    late = []
    for seed in range(8):
        served = play.disaggregated(
            poisson_arrivals(2 * rate, 30_000, 100 + seed),
            play.exponential_times(D, 30_000, 200 + seed),
            answer_tokens=1,
            step_time=0,
            seats=1,
            prefill_servers=2,
            seed=300 + seed,
        )
        late.append(statistics.fmean(one.first_token > promised for one in served))
    error = statistics.stdev(late) / math.sqrt(len(late))
    assert abs(statistics.fmean(late) - (1 - share)) < 4 * error < 0.4 * (1 - share)


def test_steps_of_derivations_are_the_formulas_below_full_load():
    known = dict(
        request_rate=9.0,
        prefill_time=0.05,
        ttft_target=0.4,
        slo_attainment=0.95,
        prefill_devices=4.0,
        devices=8.0,
        decode_request_rate=30.0,
        one_sequence=1,
    )
    known["prefill_request_rate"] = levels.prefill_request_rate(known)
    for formula, value in (
        (levels.ttft_quantile, levels.ttft_quantile(known)),
        (levels.prefill_request_rate, known["prefill_request_rate"]),
        (levels.goodput, 1 / (4 / known["prefill_request_rate"] + 8 / 30)),
    ):
        at = {symbol: known[symbol.name] for symbol in formula.derivation.result.free_symbols}
        assert float(formula.derivation.result.subs(at)) == pytest.approx(value)
        at = {symbol: known[symbol.name] for symbol in formula.expression.free_symbols}
        assert float(formula.expression.subs(at)) == pytest.approx(value)


# Decode -------------------------------------------------------------------------------------------

LLAMA = values(hardware="H100 SXM", model="Llama 3.1 70B", precision="fp8", context=2048) | {
    "devices": 8,
    "answer_tokens": 250,
}


@pytest.mark.parametrize("context", [64, 512, 2048, 100_000])
@pytest.mark.parametrize("promised", [0.004, 0.02, 0.1])
def test_a_step_of_the_largest_batch_takes_what_is_promised(context, promised):
    known = LLAMA | {"context": context, "tpot_target": promised}
    batch = levels.tpot_batch(known)
    assert latency.step_time_lecture(known, batch=batch) == pytest.approx(promised)
    assert levels.decode_request_rate(known) == pytest.approx(
        serving.requests_per_second(known, batch=batch, step_time=promised)
    )
    assert levels.decode_request_rate(known) == pytest.approx(batch / 250 / promised)


def test_no_batch_is_in_time_where_the_weights_take_longer():
    # 70.6 GB over 26.8 TB/s are 2.6 ms.
    known = LLAMA | {"tpot_target": 0.002, "ttft_target": 1, "prefill_time": 0.04}
    assert levels.tpot_batch(known) == levels.decode_request_rate(known) == 0
    for formula in (levels.goodput, levels.goodput_colocated):
        assert formula(known, prefill_devices=8) == 0
    assert math.isnan(levels.goodput(known, prefill_devices=8, ttft_target=0.01))


# Both promises ------------------------------------------------------------------------------------


def test_three_gpus_of_distserve():
    """Its example: prefill takes 5.6 requests a second of a GPU, decode 10; both at once 1.6.

    Two that prefill and one that decodes take 10 together, 3.3 each: 2.1 times as many.
    """
    pair = dict(prefill_request_rate=5.6, decode_request_rate=10, prefill_devices=1, devices=1)
    found = levels.goodput_of_split(pair, prefill_servers=2, decode_servers=1)
    assert found == pytest.approx(10 / 3) and found / 1.6 == pytest.approx(2.1, abs=0.05)
    assert levels.goodput_of_split(pair, prefill_servers=1, decode_servers=1) == 2.8
    ratio = levels.prefill_per_decode_at_levels(pair)
    assert ratio == pytest.approx(10 / 5.6)
    assert levels.goodput_of_split(pair, prefill_servers=ratio, decode_servers=1) == pytest.approx(
        1 / (1 / 5.6 + 1 / 10)
    )
    # The same by tokens a second.
    assert ratio == pytest.approx(
        prefill_decode.prefill_per_decode(
            prompt_tokens=512,
            answer_tokens=64,
            prefill_throughput=5.6 * 512,
            throughput=10 * 64,
        )
    )


SERVED = LLAMA | {
    "prefill_time": 0.04,
    "prefill_devices": 4,
    "ttft_target": 0.5,
    "tpot_target": 0.02,
}


def test_goodput_is_that_of_the_best_split():
    both = SERVED | {
        "prefill_request_rate": levels.prefill_request_rate(SERVED),
        "decode_request_rate": levels.decode_request_rate(SERVED),
    }
    best = levels.goodput(SERVED)
    splits = {
        (x, y): levels.goodput_of_split(both, prefill_servers=x, decode_servers=y)
        for x in range(1, 200)
        for y in range(1, 8)
    }
    assert max(splits.values()) == pytest.approx(best, rel=0.01)
    assert max(splits.values()) <= best * (1 + 1e-12)
    ratio = levels.prefill_per_decode_at_levels(both)
    assert levels.goodput_of_split(
        both, prefill_servers=3 * ratio, decode_servers=3
    ) == pytest.approx(best)
    chips = 4 / both["prefill_request_rate"] + 8 / both["decode_request_rate"]
    assert best == pytest.approx(1 / chips)


@pytest.mark.parametrize("share", [0.85, 1.15])
def test_promises_are_kept_by_requests_that_are_played(share):
    """Two decode servers, and as many prefill servers as they need, below the goodput and above.

    The batch of decode needs some places left, as `queueing.seat_margin` says.
    """
    known = SERVED | {"tpot_target": 0.008, "prefill_devices": 8}
    prefill, decode = levels.prefill_request_rate(known), levels.decode_request_rate(known)
    rate, count = share * levels.goodput(known) * 8 * 2 * (1 + decode / prefill), 40_000
    assert rate == pytest.approx(share * 2 * decode)
    served = play.disaggregated(
        poisson_arrivals(rate, count),
        play.exponential_times(0.04, count),
        answer_tokens=250,
        step_time=0.008,
        seats=int(levels.tpot_batch(known)),
        prefill_servers=math.ceil(2 * decode / prefill),
        decode_servers=2,
    )
    kept = [one.first_token <= 0.5 and one.token_time <= 0.008 * (1 + 1e-9) for one in served]
    assert (statistics.fmean(kept) > 0.99) == (share < 1)


@pytest.mark.parametrize("promised", [0.006, 0.01, 0.02])
def test_a_shared_server_keeps_the_mean_that_is_promised(promised):
    """With many requests at a time; of few, bursts make tokens slower."""
    weights, count = latency.full_weight_time(LLAMA), 60_000
    for prefill, context, low, high in ((0.002, 820, -0.02, 0.04), (0.02, 8200, 0.04, 0.25)):
        known = LLAMA | {
            "prefill_time": prefill,
            "context": context,
            "ttft_target": 100,
            "tpot_target": promised,
            "peak_flops": 1e18,
        }
        cache = latency.kv_time(known, batch=1)
        rate = levels.goodput_colocated(known) * 8
        assert rate == pytest.approx((promised - weights) / (promised * (prefill + 250 * cache)))
        served = play.colocated(
            poisson_arrivals(rate, count),
            prefill_time=prefill,
            answer_tokens=250,
            weight_time=weights,
            cache_time=cache,
        )
        settled = served[count // 5 : -count // 20]
        found = statistics.fmean(one.token_time for one in settled)
        assert low < found / promised - 1 < high
        # Servers of their own lose nothing: none of them reads the weights while it prefills.
        assert rate < 1 / (prefill + 1 / levels.decode_request_rate(known))


def test_a_shared_server_is_limited_by_arithmetic_or_by_the_first_token():
    short = LLAMA | {"context": 64, "prefill_time": 0.02, "tpot_target": 0.2, "ttft_target": 100}
    flops = 2 * LLAMA["active_parameters"] / (8 * LLAMA["peak_flops"])
    assert levels.goodput_colocated(short) == pytest.approx(1 / (0.02 + 250 * flops) / 8)
    hurried = short | {"ttft_target": 0.1}
    assert levels.goodput_colocated(hurried) == pytest.approx(
        levels.prefill_request_rate(hurried) / 8
    )


def test_the_derivation_of_a_shared_server_is_its_branch_of_caches():
    steps = levels.goodput_colocated.derivation.steps
    branch = levels.goodput_colocated.expression.args
    assert any(str(steps[3].equation.rhs) in str(arg).replace("Max(0, ", "(") for arg in branch)


def test_caches_that_leave_as_fast_as_they_are_made():
    """DistServe, 3.3: OPT-66B, 512 tokens, 10 requests a second: 1.13 GB each, 90 Gbit/s."""
    known = dict(prompt_tokens=512, kv_bytes_per_token=2 * 64 * 9216 * 2, prefill_devices=1)
    found = levels.cache_transfer_bandwidth(known, request_rate=10)
    assert found * 8 / 2**30 == pytest.approx(90, rel=0.01)
    # At one prompt for each time of prefill, the transfer takes as long as prefill.
    known = LLAMA | {"prompt_tokens": 3000, "window_cache_memory": 1e6, "window_tokens": 128}
    found = levels.cache_transfer_bandwidth(known, prefill_devices=8, request_rate=1 / 0.04)
    assert prefill_decode.cache_transfer_time(known, scale_out_bandwidth=found) == pytest.approx(
        0.04
    )


# What is played -----------------------------------------------------------------------------------


def test_a_cache_on_its_way_and_a_full_batch_delay_the_answer():
    arrivals, prompts = [0.0, 0.5, 5.0], [1.0, 2.0, 1.0]
    served = play.disaggregated(
        arrivals, prompts, answer_tokens=4, step_time=1.0, seats=1, transfer_time=0.5
    )
    # Prefill ends at 1, 3 and 6; decode begins at 1.5, 5.5 and 9.5.
    assert [one.first_token for one in served] == [1.0, 2.5, 1.0]
    assert [one.token_time for one in served] == [4.5 / 4, 6.5 / 4, 7.5 / 4]


def test_a_prompt_stops_all_answers():
    served = play.colocated(
        [0.0, 1.5], prefill_time=1.0, answer_tokens=2, weight_time=1.0, cache_time=0.5
    )
    # Prefill to 1, a step to 2.5, prefill to 3.5, a step of two to 5.5, and one to 7.
    assert [one.first_token for one in served] == [1.0, 2.0]
    assert [one.token_time for one in served] == [4.5 / 2, 3.5 / 2]


@pytest.mark.parametrize(
    "change, sentence",
    [
        (dict(answer_tokens=0), "1 token or more; got 0"),
        (dict(step_time=-1.0), "finite, 0 or above; got -1"),
        (dict(seats=0), "1 seat and 1 server"),
    ],
)
def test_what_cannot_be_played_gets_a_sentence(change, sentence):
    known = dict(answer_tokens=1, step_time=1.0, seats=1) | change
    with pytest.raises(play.ServingError, match=sentence):
        play.disaggregated([0.0], [1.0], **known)
