"""From prefill to decode: against the cost model, counting pairs of tokens, and limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import balance, latency, prefill_decode, shapes, tiers
from handful.scenario import values

V3 = values(model="DeepSeek-V3")
SHORT = {**V3, "context": 0, "window_cache_memory": 0}


@given(batch=st.floats(1, 1e4), context=st.floats(0, 1e6), length=st.floats(1, 1e5))
def test_the_slower_of_both_is_the_time(batch, context, length):
    known = {**V3, "batch": batch, "context": context, "pass_length": length}
    both = prefill_decode.pass_memory_time(known), prefill_decode.pass_compute_time(known)
    assert prefill_decode.pass_token_time(known) == pytest.approx(max(both))
    # A pass of one token is a decode step, shared by its batch.
    step = latency.step_time_lecture({**known, "new_tokens_per_sequence": 1}) / batch
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


# Time to the first token, and servers that do one of the two --------------------------------------

PREFILL = dict(
    active_parameters=7.0,
    prefill_attention_flops_per_pair=3.0,
    devices=2,
    peak_flops=10.0,
    model_flops_utilisation=0.5,
)


@pytest.mark.parametrize("length, found", [(10, 0), (10, 4), (1000, 250), (1000, 999)])
def test_a_prompt_by_counting_pairs(length, found):
    # Each token attends to those before it and half to itself; found ones are spared.
    flops = sum(2 * 7.0 + 3.0 * (i + 0.5) for i in range(found, length))
    known = PREFILL | {"prompt_tokens": length}
    assert prefill_decode.prefill_time_with_hits(known, hit_share=found / length) == pytest.approx(
        flops / (2 * 10.0 * 0.5)
    )
    if not found:
        assert prefill_decode.prefill_time(known) == pytest.approx(flops / (2 * 10.0 * 0.5))


def test_prompts_together_take_as_long_as_one_after_another():
    known = PREFILL | {"prompt_tokens": 100, "hit_share": 0.3}
    for formula in (prefill_decode.prefill_time, prefill_decode.prefill_time_with_hits):
        assert formula(known, prompts_together=8) == pytest.approx(8 * formula(known))
    for formula in (
        prefill_decode.prefill_throughput,
        prefill_decode.prefill_throughput_with_hits,
    ):
        assert formula(known, prompts_together=8) == pytest.approx(formula(known))
    assert prefill_decode.prefill_throughput(known) == pytest.approx(
        100 / prefill_decode.prefill_time(known)
    )


def test_a_prompt_is_a_context_computed_again():
    known = {**values(model="Llama 3.1 70B"), "model_flops_utilisation": 0.3, "batch": 3}
    assert prefill_decode.prefill_time(
        known, prompt_tokens=known["context"], prompts_together=3
    ) == pytest.approx(tiers.prefill_again_time(known))


def test_prefill_of_deepseek_counts_what_is_found():
    """Open-infra-index, day 6: 73.7k tokens a second and node, 56.3 % of them found on disk."""
    node = {
        "active_parameters": 37e9,
        "prefill_attention_flops_per_pair": 0,
        "prompt_tokens": 1000,
        "devices": 8,
        "peak_flops": 1.979e15,
        "model_flops_utilisation": 0.15,
        "hit_share": 342 / 608,
    }
    taken = prefill_decode.prefill_throughput_with_hits(node)
    computed = prefill_decode.prefill_throughput(node)
    assert taken * (1 - 342 / 608) == pytest.approx(computed)
    # The utilisation that this implies is about 15 % of the dense fp8 peak.
    assert taken == pytest.approx(73.7e3, rel=0.02)


def test_servers_of_both_kinds_add_up_to_deepseeks_nodes():
    """The same page: 608 and 168 billion tokens a day, and 226.75 nodes on average."""
    day = dict(prompt_tokens=608e9, answer_tokens=168e9)
    ratio = prefill_decode.prefill_per_decode(day, throughput=14_800, prefill_throughput=73_700)
    decode = 168e9 / 86_400 / 14_800
    assert decode * (1 + ratio) == pytest.approx(226.75, rel=0.005)


def test_two_prefill_servers_for_one_that_decodes():
    """DistServe's example: one GPU prefills 5.6 requests a second, another decodes 10."""
    known = dict(prompt_tokens=512, answer_tokens=64)
    ratio = prefill_decode.prefill_per_decode(
        known, prefill_throughput=5.6 * 512, throughput=10 * 64
    )
    assert ratio == pytest.approx(10 / 5.6) and round(ratio) == 2


def test_the_cache_that_travels_is_that_of_the_paper():
    """DistServe, 3.3: OPT-66B, 512 tokens are 1.13 GB (2^30 bytes); ten a second, 90 Gbps."""
    cache = 2 * 64 * 9216 * 2  # 64 layers of width 9216, key and value, two bytes
    known = dict(prompt_tokens=512, kv_bytes_per_token=cache, devices=1)
    assert cache * 512 / 2**30 == pytest.approx(1.13, rel=0.01)
    assert prefill_decode.cache_transfer_time(
        known, scale_out_bandwidth=90e9 / 8 * 2**30 / 1e9
    ) == pytest.approx(0.1, rel=0.01)
    # Windows that are full add what they hold, and chips share the work.
    known |= {"window_cache_memory": 1e9, "window_tokens": 100, "scale_out_bandwidth": 1e9}
    assert prefill_decode.cache_transfer_time(known, devices=4, prompts_together=2) == (
        pytest.approx((cache * 512 + 1e9) * 2 / 4e9)
    )
