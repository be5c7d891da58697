"""Training, learning and serving: against published runs, and against minimisation by numbers."""

import math
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from handful import overtraining as o
from handful.facts import get
from handful.symbolic import quantities as q
from handful.symbolic.derivation import Derivation, DerivationError
from handful_evidence import published_tokens


def test_six_n_d_is_two_forward_and_four_backward():
    # Counted by hand on one layer y = W x: forward one product; backward one for dx and one for dW.
    weights, tokens = 3 * 5, 7
    by_hand = 2 * weights * tokens + 2 * weights * tokens + 2 * weights * tokens
    assert o.training_flops(active_parameters=weights, pretraining_tokens=tokens) == by_hand


def test_a_published_run_of_deepseek_v3():
    """2.664 million H800-hours for 14.8 trillion tokens, in the technical report."""
    flops = o.training_flops(active_parameters=37e9, pretraining_tokens=14.8e12)
    hours = get("scaling_laws", "v3_cost")["value"]
    mfu = flops / (hours * 3600 * 989e12)
    assert mfu == pytest.approx(0.35, abs=0.01)  # as the facts' own derivation has it
    seconds = o.training_chip_time(
        training_flops=flops, peak_flops=989e12, model_flops_utilisation=mfu
    )
    assert seconds / 3600 == pytest.approx(hours)
    days = (
        o.training_time(
            training_flops=flops, peak_flops=989e12, model_flops_utilisation=mfu, devices=2048
        )
        / 86400
    )
    assert days == pytest.approx(
        54.2, rel=0.01
    )  # "less than two months" on 2,048 chips, says the report


def test_a_published_budget_of_llama_3():
    """Llama 3.1 405B: 15.6 trillion tokens and 3.8e25 FLOPs, as its report says."""
    assert o.training_flops(active_parameters=405e9, pretraining_tokens=15.6e12) == pytest.approx(
        3.8e25, rel=0.005
    )


def test_attention_adds_what_the_appendix_of_palm_adds():
    """PaLM's appendix B counts 6 N + 12 L H Q T FLOPs a token for attention over T tokens.

    This is unmasked; masked attention takes half.
    """
    layers, heads, head_dim, context, parameters = 118, 48, 256, 2048, 540e9
    flops = o.training_flops_with_attention(
        active_parameters=parameters,
        pretraining_tokens=1,
        context=context,
        prefill_attention_flops_per_pair=4 * layers * heads * head_dim,
    )
    assert flops == pytest.approx(6 * parameters + 12 * layers * heads * head_dim * context / 2)


def test_equal_bills_are_equal():
    known = dict(
        active_parameters=1e11, decode_efficiency=0.3, rl_passes=2, pretraining_tokens=1e14
    )
    rl = 1e14 / o.pretraining_per_rl_token(rl_passes=2, decode_efficiency=0.3)
    served = 1e14 / o.pretraining_per_inference_token(decode_efficiency=0.3)
    total = o.lifetime_flops(known, rl_tokens=rl, inference_tokens=served)
    assert total == pytest.approx(3 * o.training_flops(known), rel=1e-12)


def test_serving_has_then_cost_as_much_as_pre_training():
    known = dict(active_parameters=37e9, decode_efficiency=0.4, pretraining_tokens=14.8e12)
    served = o.served_tokens_at_equal_bills(known)
    assert o.inference_flops(known, inference_tokens=served) == pytest.approx(
        o.training_flops(known), rel=1e-12
    )


def test_reinforcement_learning_is_bounded_by_its_two_readings():
    """Generating alone is the lower end of the lecture's range.

    Generating and learning from all is above its middle.
    """
    known = dict(active_parameters=1e11, rl_tokens=1e12, decode_efficiency=0.3)
    apart = [o.rl_flops_apart(known, learned_share=s) for s in (0, 1)]
    assert apart[0] == pytest.approx(o.rl_flops(known, rl_passes=1))
    assert o.rl_flops(known, rl_passes=1) < apart[1] < o.rl_flops(known, rl_passes=3)


@pytest.mark.parametrize("rising, falling", [(1, 1), (1, 0.34), (0.5, 2), (3, 0.28)])
def test_the_minimum_of_a_sum(rising, falling):
    """The costs' ratio at the bottom, found by numbers."""
    up, down = 3.7, 0.9
    best = math.exp(
        minimize_scalar(lambda t: up * math.exp(rising * t) + down * math.exp(-falling * t)).x
    )
    ratio = (up * best**rising) / (down * best**-falling)
    assert o.cost_ratio(rising_exponent=rising, falling_exponent=falling) == pytest.approx(
        ratio, rel=1e-5
    )


def test_only_sums_of_powers_are_minimised():
    d = Derivation("one that only rises")
    d.start(o.training_flops, "a product")
    with pytest.raises(DerivationError, match="rises only, or falls only"):
        d.minimise("pretraining_tokens", "nowhere")


def test_the_lecture_s_hundredfold():
    served = o.served_tokens(service_throughput=50e6, service_life=60 * 86400)
    assert served == pytest.approx(259e12, rel=1e-3)  # spoken as "about 200 trillion"
    assert (
        o.overtraining(pretraining_tokens=200e12, active_parameters=100e9, tokens_per_parameter=20)
        == 100
    )
    guess = o.hundredfold()
    assert guess.median == pytest.approx(
        129.6, rel=0.005
    )  # 50M tokens/s, 60 days, 100 billion, 20 to 1
    assert guess.worst_low < guess.low < 100 < guess.high < guess.worst_high
    # Three guesses of the same width share the variance alike.
    assert np.allclose(list(guess.shares.values()), 1 / 3, atol=1e-6)
    assert guess.factor == pytest.approx(2 ** math.sqrt(3), rel=0.02)


def test_disclosed_models_are_sorted_and_cited():
    rows = published_tokens.trained_models()
    multiples = [row["overtraining_multiple"] for row in rows]
    assert multiples == sorted(multiples, reverse=True) and all(row["source"] for row in rows)
    by_name = {row["name"]: row["overtraining_multiple"] for row in rows}
    assert by_name["Llama 4 Scout"] == pytest.approx(118, abs=1) and by_name[
        "DeepSeek-V3"
    ] == pytest.approx(20, abs=0.1)


@pytest.mark.parametrize(
    "values, message",
    [
        ({"decode_efficiency": 1.2}, "decode_efficiency must be at most 1"),
        ({"rl_tokens": "3 GB"}, "rl_tokens must be a token"),
        ({"active_parameters": 0}, "active_parameters must be above 0"),
    ],
)
def test_bad_input(values, message):
    known = dict(active_parameters=1e9, rl_tokens=1e9, rl_passes=2, decode_efficiency=0.5)
    with pytest.raises(q.QuantityError, match=message):
        o.rl_flops(known | values)


def test_shares_of_a_life_add_up():
    known = dict(
        active_parameters=1e11,
        pretraining_tokens=2e14,
        rl_tokens=9e13,
        rl_passes=2,
        inference_tokens=1.8e14,
        decode_efficiency=0.3,
    )
    shares = [share(known) for share in (o.training_share, o.rl_share, o.inference_share)]
    assert sum(shares) == pytest.approx(1) and shares == pytest.approx([1 / 3] * 3)


def test_decoding_beside_training_in_one_service():
    """DeepSeek's own numbers: hours of pre-training, and tokens a second of a node that decodes."""
    row = get("measured_serving", "deepseek_decode")
    hours = get("scaling_laws", "v3_cost")["value"]
    found = o.decode_efficiency_of_run(
        throughput=row["value"],
        devices=8,
        pretraining_tokens=14.8e12,
        training_chip_time=hours * 3600,
    )
    per_chip = (
        2 * 37e9 * row["value"] / 8,
        6 * 37e9 * 14.8e12 / (hours * 3600),
    )  # FLOP/s in decoding and in training
    assert found == pytest.approx(per_chip[0] / per_chip[1]) == pytest.approx(0.40, abs=0.005)
    assert o.utilisation_of_run(
        active_parameters=37e9,
        pretraining_tokens=14.8e12,
        peak_flops=989e12,
        training_chip_time=hours * 3600,
    ) == pytest.approx(per_chip[1] / 989e12)


def test_traffic_that_doubles():
    known = dict(service_throughput=50e6, service_life=60 * 86400, traffic_doubling=20 * 86400)
    days = np.linspace(0, known["service_life"], 200_001)
    summed = np.trapezoid(50e6 * 2 ** (days / known["traffic_doubling"]), days)
    assert o.served_tokens_growing(known) == pytest.approx(summed, rel=1e-6)
    assert o.growing_throughput(known) == pytest.approx(8 * 50e6)
    steady = o.served_tokens_growing(known | {"traffic_doubling": 1e15})
    assert steady == pytest.approx(o.served_tokens(known), rel=1e-6)
    assert o.life_to_serve(
        service_throughput=50e6, inference_tokens=o.served_tokens(known)
    ) == pytest.approx(known["service_life"])


def test_published_traffic_is_over_the_days_of_its_month():
    """Months are as long as the calendar has them.

    It is 366 million a second in July 2025, and not 378 as over thirty days.
    """
    rates = {label: rate for label, _, rate in published_tokens.published_traffic()}
    found = [rates[month] for month in ("2025-05", "2025-07", "2025-10", "2026-05")]
    assert found == pytest.approx([179e6, 366e6, 485e6, 1.195e9], rel=0.003)
    assert rates["2025-07"] == pytest.approx(
        9.8e14 / (31 * 86_400)
    )  # 980 trillion tokens, as Google was reported to say
    times = [when for _, when, _ in published_tokens.published_traffic()]
    assert times == sorted(times) and times[1] - times[0] == pytest.approx(365.25 * 86400)


def test_months_of_published_traffic_by_the_calendar():
    for label, when, _ in published_tokens.published_traffic():
        year, month = map(int, label.split("-"))
        days = (date(year, month, 1) - date(2024, 1, 1)).days
        assert when / 86400 == pytest.approx(days, abs=3)  # months of equal length stray by so much


@given(
    rise=st.floats(0.2, 3),
    fall=st.floats(0.2, 3),
    high=st.floats(0.01, 100),
    low=st.floats(0.01, 100),
)
def test_two_costs_by_looking_for_the_least_sum(rise, fall, high, low):
    known = dict(
        rising_exponent=rise, falling_exponent=fall, rising_weight=high, falling_weight=low
    )
    for formula, power, weight in ((o.rising_cost, rise, high), (o.falling_cost, -fall, low)):
        assert formula(known, knob=1) == pytest.approx(weight)
        assert formula(known, knob=6) / formula(known, knob=3) == pytest.approx(2**power)
    equal = o.equal_knob(known)
    assert o.rising_cost(known, knob=equal) == pytest.approx(o.falling_cost(known, knob=equal))
    assert o.cost_sum(known, knob=equal) == pytest.approx(2 * o.rising_cost(known, knob=equal))
    least = minimize_scalar(
        lambda x: math.log(o.cost_sum(known, knob=math.exp(x))), bounds=(-50, 50), method="bounded"
    )
    assert o.cost_sum(known, knob=o.best_knob(known)) == pytest.approx(
        math.exp(least.fun), rel=1e-6
    )
    excess = o.cost_sum(known, knob=equal) / math.exp(least.fun) - 1
    assert o.equal_split_excess(known) == pytest.approx(excess, abs=1e-6)


def test_independent_guesses_add_in_squares():
    assert o.combined_factor(guesses=3, guess_factor=2) == pytest.approx(
        o.hundredfold().factor, rel=0.01
    )
    assert o.combined_factor(guesses=1, guess_factor=2) == 2


def test_the_price_of_a_run_is_hours_times_rent():
    known = dict(
        active_parameters=37e9,
        pretraining_tokens=14.8e12,
        peak_flops=989e12,
        model_flops_utilisation=0.35,
        device_price=2 / 3600,
    )
    flops = o.training_flops(known)
    assert o.training_cost_of_run(known) == pytest.approx(
        o.training_cost(known, training_flops=flops)
    )
