"""Tests of the roofline and the balance batch against counts by hand and others' figures."""

import pytest

from handful import balance, scenario

H100 = dict(peak_flops=989e12, memory_bandwidth=3.35e12)


def test_intensity_is_counted_weight_by_weight():
    """Two layers of 3 weights and 4 sequences of 10 tokens are counted.

    The cache takes 5 bytes a token, and 7 that do not grow.
    """
    flops = sum(2 for _sequence in range(4) for _weight in range(6))
    read = 6 * 2 + sum(10 * 5 + 7 for _sequence in range(4))
    assert balance.arithmetic_intensity(
        batch=4,
        active_parameters=6,
        total_parameters=6,
        bytes_per_parameter=2,
        context=10,
        kv_bytes_per_token=5,
        kv_window_bytes=7,
    ) == pytest.approx(flops / read)


def test_the_roof_is_the_lower_of_two():
    """The roof is bandwidth times intensity left of the ridge, and the peak right of it.

    At the ridge it is both (Williams et al. 2009).
    """
    ridge = balance.ridge_intensity(H100)
    assert ridge == pytest.approx(295.2, abs=0.1)
    assert balance.attainable_flops(H100, arithmetic_intensity=ridge / 4) == pytest.approx(
        989e12 / 4
    )
    assert balance.attainable_flops(H100, arithmetic_intensity=4 * ridge) == 989e12
    assert balance.ridge_flops(H100) == pytest.approx(989e12)


def test_the_balance_grows_with_sparsity():
    """For DeepSeek-V3 on an H100 it is 18 times by parameters, 32 times by experts.

    The weights are in bf16; the experts are those of the model's published configuration.
    """
    known = H100 | dict(bytes_per_parameter=2)
    dense = balance.balance_batch_of_chip(known, sparsity=1)
    assert balance.balance_batch_of_chip(known, sparsity=671 / 37) == pytest.approx(
        dense * 671 / 37
    )
    assert balance.balance_batch_experts(known, experts=256, active_experts=8) == pytest.approx(
        32 * dense
    )
    assert balance.balance_batch(
        known, total_parameters=671e9, active_parameters=37e9
    ) == pytest.approx(dense * 671 / 37)


@pytest.mark.parametrize("hardware", ["H100 SXM", "GB200 NVL72", "TPU v5p", "MI300X"])
@pytest.mark.parametrize(
    "model", ["Llama 3.1 8B", "Llama 3.1 70B", "Qwen3 32B", "DeepSeek-V3", "gpt-oss-120b"]
)
def test_half_the_cache_more_than_doubles_the_context_that_balances(hardware, model):
    """With attention counted: a token is read in half the time and attended to in the same."""
    whole = scenario.values(hardware=hardware, model=model, precision="bf16")
    half = {
        **whole,
        "kv_bytes_per_token": whole["kv_bytes_per_token"] / 2,
        "kv_window_bytes": whole["kv_window_bytes"] / 2,
    }
    before, after = (balance.balance_context_with_attention(values) for values in (whole, half))
    assert after > 2 * before > 0 or after == before == float("inf")
    assert balance.balance_context(half) >= 2 * balance.balance_context(whole)
