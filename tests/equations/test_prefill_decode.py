"""From prefill to decode: against the cost model, counting pairs of tokens, and limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import balance, latency, prefill_decode, shapes, tiers
from handful.scenario import values

V3 = values(model="DeepSeek-V3")
SHORT = {**V3, "context": 0, "kv_window_bytes": 0}


@given(batch=st.floats(1, 1e4), context=st.floats(0, 1e6), length=st.floats(1, 1e5))
def test_the_slower_of_both_is_the_time(batch, context, length):
    known = {**V3, "batch": batch, "context": context, "pass_length": length}
    both = prefill_decode.pass_memory_time(known), prefill_decode.pass_compute_time(known)
    assert prefill_decode.pass_token_time(known) == pytest.approx(max(both))
    # A pass of one token is a decode step, shared by its batch.
    step = latency.step_time_lecture({**known, "tokens_per_step": 1}) / batch
    assert prefill_decode.pass_token_time({**known, "pass_length": 1}) == pytest.approx(step)


def test_a_longer_pass_divides_reading_and_leaves_arithmetic():
    known = {**V3, "batch": 8}
    one, four = ({**known, "pass_length": n} for n in (1, 4))
    assert prefill_decode.pass_memory_time(one) / prefill_decode.pass_memory_time(
        four
    ) == pytest.approx(4)
    assert prefill_decode.pass_compute_time(one) == prefill_decode.pass_compute_time(four)


def test_reading_and_arithmetic_meet_at_the_balanced_pass():
    for batch in (1, 7, 512):
        known = {**V3, "batch": batch}
        known["pass_length"] = prefill_decode.balance_pass(known)
        assert prefill_decode.pass_memory_time(known) == pytest.approx(
            prefill_decode.pass_compute_time(known)
        )
    # Without caches, tokens of one sequence balance where sequences of one token do.
    assert prefill_decode.balance_pass({**SHORT, "batch": 1}) == pytest.approx(
        balance.balance_batch(SHORT)
    )


@pytest.mark.parametrize("length", [1, 2, 10, 1001])
def test_growth_of_a_prompt_by_counting_pairs(length):
    weights, pair = 7.0, 3.0
    # Token i of the prompt attends to those before it and half to itself: the mean is half of the
    # prompt.
    flops = sum(2 * weights + pair * (i + 0.5) for i in range(length))
    found = prefill_decode.prompt_growth(
        context=length, active_parameters=weights, prefill_attention_flops_per_pair=pair
    )
    assert found == pytest.approx(flops / (length * 2 * weights))


def test_growth_is_that_of_computing_again():
    known = {**values(model="Llama 3.1 70B"), "model_flops_utilisation": 0.3, "context": 200_000}
    ratio = tiers.rematerialise_cost_with_attention(known) / tiers.rematerialise_cost(known)
    assert prefill_decode.prompt_growth(known) == pytest.approx(ratio)


def test_a_prompt_doubles_at_twice_the_context_where_attention_equals_the_weights():
    for model in ("Llama 3.1 70B", "gpt-oss-120b"):
        known = values(model=model)
        assert prefill_decode.prompt_growth(
            {**known, "context": 2 * latency.attention_context(known)}
        ) == pytest.approx(2)
    assert prefill_decode.prompt_growth({**known, "context": 0}) == 1


def test_eighty_layers_of_width_8192_cross_where_the_ledger_says():
    # 76 thousand tokens for a dense model of a hundred billion (80 layers, width 8192).
    dense = {"active_parameters": 1e11, "attention_flops_per_pair": 4 * 80 * 8192}
    assert latency.attention_context(dense) == pytest.approx(76e3, rel=0.01)
    assert shapes.attention_flops_per_pair(shapes.shape("Llama 3.1 70B")) == 4 * 80 * 8192


def test_derivations_end_in_their_formulas():
    for formula in (prefill_decode.pass_token_time, prefill_decode.balance_pass):
        assert (formula.derivation.result - formula.expression).simplify() == 0
