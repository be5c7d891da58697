"""Tests of the roofline and the balance batch against counts by hand and others' figures."""

import math

import pytest

from handful import balance, facts, latency, scenario

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
        window_cache_memory=7,
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
        "window_cache_memory": whole["window_cache_memory"] / 2,
    }
    before, after = (balance.balance_context_with_attention(values) for values in (whole, half))
    assert after > 2 * before > 0 or after == before == float("inf")
    assert balance.balance_context(half) >= 2 * balance.balance_context(whole)


def test_nearly_all_chips_lie_within_a_factor_of_two():
    found = {
        (chip["name"], form["name"]): scenario.values(hardware=chip["name"], precision=form["name"])
        for chip in scenario.page_rows()["hardware"]
        for form in scenario.page_rows()["precision"]
        if chip["verified"]
        and form["arithmetic"] == form["name"]
        and form["name"] in chip["peak_flops"]
    }
    far = [of for of, at in found.items() if not 150 <= balance.weight_uses_at_balance(at) <= 600]
    assert far == [("TPU v5p", "fp8")]
    drained = [balance.drain_time(at) for at in found.values()]
    assert (round(min(drained), 3), round(max(drained), 3)) == (0.021, 0.039)


def test_what_attention_cancels_of_the_caches():
    rack = scenario.values("GB200 NVL72", "DeepSeek-V3", "fp8", 4096)
    share = balance.cache_uses(rack) / balance.weight_uses_at_balance(rack)
    assert round(share, 2) == 0.77
    limit = balance.balance_context_with_attention(rack)
    assert limit == pytest.approx(balance.balance_context(rack) / (1 - share))
    assert round(4096 / limit, 2) == 0.27
    assert balance.balance_batch_with_attention(rack) == pytest.approx(
        balance.balance_batch(rack) / (1 - 4096 / limit)
    )
    llama = scenario.values("GB200 NVL72", "Llama 3.1 70B", "fp8", 4096)
    assert balance.balance_batch_with_attention(llama) == math.inf
    assert balance.balance_context_with_attention(llama) == pytest.approx(1400, rel=0.02)
    h200 = scenario.values("H200 SXM", "DeepSeek-V3", "fp8", 4096)
    assert balance.balance_context_with_attention(h200) == math.inf
    assert (
        balance.balance_batch_with_attention(h200, context=100_000)
        < balance.balance_batch_with_attention(h200)
        < balance.balance_batch(h200)
    )


def test_how_full_the_lecture_s_rack_is():
    rack = scenario.values("GB200 NVL72", "DeepSeek-V3", "fp8", 180_000)
    assert latency.batch_that_fits(rack) == pytest.approx(2000, rel=0.01)


@pytest.mark.parametrize("model", ["Llama 3.1 70B", "Llama 3.1 405B", "DeepSeek-V3"])
@pytest.mark.parametrize("context", [100, 4096, 100_000])
@pytest.mark.parametrize("times", [1, 3])
def test_the_weights_add_little_to_a_token_at_the_balance(model, context, times):
    """Compare with the floor: the larger of a token's own cache and its own arithmetic."""
    at = scenario.values("GB200 NVL72", model, "fp8", context) | {"routed_parameters": 0}
    cost = latency.cost_per_token(at, batch=times * balance.balance_batch(at))
    assert cost / latency.cost_floor(at) * (1 + 1e-9) >= 1
    assert cost / latency.cost_floor(at) <= (1 + 1 / times) * (1 + 1e-9)


def test_a_day_of_a_rack_by_hand():
    rack = scenario.values(hardware="GB200 NVL72")
    assert balance.rent(rack, rented_time=86400) == pytest.approx(72 * 3.3 * 24)
    made = balance.scheduled_tokens(batch=2000, batch_interval=1 / 64, rented_time=86400)
    assert made == 2000 * 64 * 86400
    cost = balance.scheduled_cost(rack, batch=2000, batch_interval=1 / 64)
    assert cost == pytest.approx(72 * 3.3 * 24 / made)
    # The benchmark that the claim names made more than twice as many tokens.
    measured = facts.get("measured_serving", "mlperf51_nvidia_deepseek-r1_gb200_offline_72")
    assert 2 < measured["value"] / 128_000 < 2.5


def rack_step(batch: float, context: float = 4096) -> float:
    """Return a step of the chapter's rack, attention's arithmetic and the latency counted."""
    at = scenario.values("GB200 NVL72", "DeepSeek-V3", "fp8", context)
    return latency.step_time_with_attention(at, batch=batch) + latency.fixed_time(at)


def rack_cost(batch: float, context: float = 4096) -> float:
    """Return what a million tokens cost in rent on the chapter's rack."""
    rent = balance.rent(scenario.values(hardware="GB200 NVL72"), rented_time=1)
    return rent * rack_step(batch, context) / batch * 1e6


@pytest.mark.parametrize("batch", [200, 2000, 7700])
def test_up_to_the_balance_the_bill_needs_no_arithmetic_of_attention(batch):
    """The chapter's list is made of formulas that leave it out."""
    at = scenario.values("GB200 NVL72", "DeepSeek-V3", "fp8", 4096)
    assert rack_step(batch) == pytest.approx(
        latency.step_time_with_latency(at, batch=batch), rel=2e-3
    )
    assert rack_cost(batch) == pytest.approx(
        latency.cost_per_token_with_latency(at, batch=batch) * 1e6, rel=2e-3
    )


def test_the_bill_of_the_rack():
    """Doubling the crowd beyond the balance saves half of what the latency costs."""
    assert rack_step(15_400) == pytest.approx(10.5e-3, rel=5e-3)
    bill = {200: 1.82, 2000: 0.20, 7700: 0.063, 15_400: 0.045}
    for batch, dollars in bill.items():
        assert rack_cost(batch) == pytest.approx(dollars, rel=0.02)
    assert 1 - rack_cost(15_400) / rack_cost(7700) == pytest.approx(0.29, abs=5e-3)
    at = scenario.values("GB200 NVL72", "DeepSeek-V3", "fp8", 4096)
    rent = balance.rent(at, rented_time=1)
    latency_share = rent * latency.fixed_time(at) / 7700 * 1e6
    assert rack_cost(7700) - rack_cost(15_400) == pytest.approx(latency_share / 2, rel=0.01)
    assert latency.fixed_time(at) / latency.full_weight_time(at) == pytest.approx(3.7, abs=0.05)
    assert rack_cost(7700) / rack_cost(2000) == pytest.approx(1 / 3, abs=0.02)

    # A memory that 2,000 people fill, and what the lecture's clock leaves time for.
    full = scenario.values("GB200 NVL72", "DeepSeek-V3", "fp8", 180_000)
    assert latency.batch_that_fits(full) == pytest.approx(2000, rel=0.01)
    assert rack_step(2000, 180_000) == pytest.approx(27e-3, rel=0.02)
    assert rack_cost(2000, 180_000) == pytest.approx(0.90, abs=0.01)

    # Twenty questions a day with answers as long as Azure's: what the chapter says of customers.
    for batch, millions in ((2000, 7), (7700, 21)):
        made = batch / rack_step(batch) * 86400
        assert made / (20 * 211) == pytest.approx(millions * 1e6, rel=0.03)


def test_parts_of_a_model_balance_at_different_crowds():
    """DeepSeek's report allows 256 tokens an expert: between the balance of all and of experts."""
    at = scenario.values("H100 SXM", "DeepSeek-V3", "fp8", 4096)
    assert balance.balance_batch(at) < 256 * 32 < balance.balance_batch_experts(at)


@pytest.mark.parametrize("context, fits", [(3900, True), (4096, False), (32_768, False)])
def test_on_h200_long_conversations_need_few_people_and_fewer_fit(context, fits):
    at = scenario.values("H200 SXM", "DeepSeek-V3", "fp8", context)
    needed = balance.balance_batch_with_attention(at)
    assert needed < balance.balance_batch(at) and at["devices"] == 8
    assert (latency.batch_that_fits(at) > needed) is fits


def test_a_rival_ten_times_as_large_needs_fewer_people_for_the_same_caches():
    ours = scenario.values("GB200 NVL72", "DeepSeek-V3", "fp8", 4096)
    tenfold = ("devices", "active_parameters", "total_parameters", "routed_parameters")
    rival = ours | {name: 10 * ours[name] for name in tenfold}
    assert balance.balance_batch(rival) == pytest.approx(balance.balance_batch(ours))
    needed = [balance.balance_batch_with_attention(known) for known in (ours, rival)]
    assert needed == pytest.approx([7700, 5700], rel=0.01)
    # The limit, by the number of times that a cached number is used.
    uses = balance.cache_uses(ours) / balance.weight_uses_at_balance(ours)
    assert balance.balance_context_with_attention(ours) == pytest.approx(
        balance.balance_context(ours) / (1 - uses)
    )
    assert 2 * uses > 1  # so that attention at half the rate, as in bf16, covers the reading
    # With attention in bf16 each use counts for two: the crowd is smaller, at any context.
    read, work = latency.full_weight_time(ours), latency.compute_time(ours, batch=1)
    cache, attention = latency.kv_time(ours, batch=1), latency.attention_time(ours, batch=1)
    assert read / (work + 2 * attention - cache) == pytest.approx(3400, rel=0.015)
    # At the balance the multipliers work for two fifths of the step, latency included.
    step = latency.step_time_with_latency(ours, batch=7700)
    assert latency.step_time(ours, batch=7700) / step == pytest.approx(2 / 5, abs=0.03)
    # What twice the people save, with a layer's delay of a rack or of the first chapter's server
    node = scenario.values("H100 SXM", "Llama 3.1 70B", "bf16", 4096)["layer_latency"]
    for delay, saved in ((ours["layer_latency"], 0.29), (node, 0.15)):
        shares = [
            (max(read + batch * cache, batch * (work + attention)) + 61 * delay) / batch
            for batch in (7700, 15_400)
        ]
        assert 1 - shares[1] / shares[0] == pytest.approx(saved, abs=0.01)


def test_a_cached_number_is_used_by_the_heads_that_share_it():
    """Count eight in Llama 3.1 70B, and 128 in DeepSeek-V3 that use 512 numbers of 576 twice."""
    llama = scenario.values(hardware="H100 SXM", model="Llama 3.1 70B", precision="bf16")
    latent = scenario.values(hardware="GB200 NVL72", model="DeepSeek-V3", precision="fp8")
    assert balance.cache_uses(llama) == pytest.approx(64 / 8)
    assert balance.cache_uses(latent) == pytest.approx(128 * (2 * 512 + 64) / 576)
    # Three quarters of what the rack's chip asks for, and more than that of an H200.
    assert balance.cache_uses(latent) / balance.weight_uses_at_balance(latent) == pytest.approx(
        0.77, abs=0.01
    )
    assert balance.cache_uses(latent) > balance.weight_uses_at_balance(
        scenario.values(hardware="H200 SXM", model="DeepSeek-V3", precision="fp8")
    )


def test_what_the_chapter_says_of_its_ideal():
    """Crowds at which parts balance, and how busy multipliers get where no crowd balances."""
    at = scenario.values("GB200 NVL72", "DeepSeek-V3", "fp8", 4096)
    read, work = latency.full_weight_time(at), latency.compute_time(at, batch=1)
    cache, attention = latency.kv_time(at, batch=1), latency.attention_time(at, batch=1)
    # Two halves of a crowd each read all the weights.
    assert 2 * read / (work + attention - cache) == pytest.approx(15_300, rel=2e-3)
    assert balance.balance_batch_experts(at) == pytest.approx(10_000)
    # Attention left out, no crowd balances; the busy share rises towards its limit.
    busy = [batch * work / (read + batch * cache) for batch in (5600, 1e9)]
    assert busy == pytest.approx([0.456, 5 / 6], rel=3e-3)
    # A copy of what all tokens use, beside a chip's part of the rest.
    common = (at["total_parameters"] - at["routed_parameters"]) * at["bytes_per_parameter"]
    assert common / at["memory_bandwidth"] > 1.5 * read
    assert common / latency.weight_memory(at) == pytest.approx(1 / 40, rel=0.05)
    # With Llama at 32,000 tokens: its own arithmetic and that of attention, beside its cache.
    llama = scenario.values("GB200 NVL72", "Llama 3.1 70B", "fp8", 32_000)
    done = latency.compute_time(llama, batch=1) + latency.attention_time(llama, batch=1)
    assert done / latency.kv_time(llama, batch=1) == pytest.approx(0.07, abs=5e-3)
