"""Tests of the first segment's formulas.

They are compared with numbers that others published or computed with their own code, and against
limits.
"""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import balance, latency, memory_wall, multi_rack_pipelines, shapes, sparsity
from handful.facts import get
from handful.scenario import page_rows, values

BATCHES = st.floats(1, 65536)
NODE = values(hardware="H100 SXM", model="Llama 3.1 70B", precision="bf16", context=4096)


def test_step_times_of_an_independent_reference():
    # A comparison of calculators gives this roofline as 5.32, 5.67, 8.47, 18.09 and 30.91 ms.
    ours = [1e3 * latency.step_time(NODE, batch=b) for b in (1, 8, 64, 256, 512)]
    assert ours == pytest.approx([5.32, 5.67, 8.47, 18.09, 30.91], abs=0.02)


@given(batch=BATCHES, context=st.floats(1, 1e6))
def test_conventions_bracket_each_other(batch, context):
    point = {**values(), "batch": batch, "context": context}
    overlapped, apart = latency.step_time(point), latency.step_time_kv_apart(point)
    assert overlapped <= apart * (1 + 1e-12) <= 2 * overlapped * (1 + 1e-12)
    assert latency.step_time(point) <= latency.step_time_lecture(point) * (1 + 1e-12)
    assert latency.step_time(point) <= latency.step_time_with_attention(point) * (1 + 1e-12)


@given(batch=BATCHES)
def test_cost_is_the_larger_of_the_two_sums_and_never_below_its_floor(batch):
    point = {**values(), "batch": batch}
    reading = latency.weight_cost(point) + latency.kv_cost(point)
    assert latency.cost_per_token(point) == pytest.approx(
        max(reading, latency.compute_cost(point)), rel=1e-12
    )
    assert latency.cost_per_token(point) >= latency.cost_floor(point) * (1 - 1e-12)
    assert 0 < latency.slow_mode_price(point) <= 1 + 1e-12


def test_cost_tends_to_its_floor():
    assert latency.cost_per_token(values(), batch=1e12) == pytest.approx(
        latency.cost_floor(values()), rel=1e-3
    )


def test_coverage_against_counting():
    # 8 of 256 drawn for each of 32 tokens, at random: the mean share of experts hit.
    draw = np.random.default_rng(0)
    hit = [
        len(np.unique(np.concatenate([draw.choice(256, 8, replace=False) for _ in range(32)])))
        for _ in range(400)
    ]
    assert latency.expert_coverage(batch=32, active_experts=8, experts=256) == pytest.approx(
        np.mean(hit) / 256, rel=0.01
    )


def test_the_derivation_states_what_its_example_costs():
    # DeepSeek-V3: 248 of its 256 experts are asleep after each of 128 tokens, by the ways to choose
    # 8.
    known, asleep = values(), (math.comb(255, 8) / math.comb(256, 8)) ** 128
    unread = known["routed_parameters"] / known["total_parameters"] * asleep
    assert latency.weight_time.derivation.steps[-1].error == pytest.approx(
        unread / (1 - unread), rel=0.01
    )


def test_a_mixed_step_is_the_mean_over_a_server_at_work():
    # Forty sequences, started one after the other; whoever has had 200 tokens makes room for a
    # prompt of 600.
    known, time = {**NODE, "batch": 40.0}, 0.0
    token = 2 * 70.55e9 / (8 * 989e12)
    left = [5 * (i + 1) for i in range(40)]
    for _ in range(400):
        time += latency.memory_time(known) + 40 * token
        left = [i - 1 for i in left]
        time += left.count(0) * 600 * token
        left = [i or 200 for i in left]
    assert latency.step_time_mixed(known, prompt_per_answer=3) == pytest.approx(
        time / 400, rel=1e-3
    )


@pytest.mark.parametrize("model", ["gpt-oss-120b", "Llama 3.1 70B"])
def test_a_memory_filled_sequence_by_sequence(model):
    known = values(hardware="H100 SXM", model=model, precision="bf16", context=4096)
    free, held = 8 * 80e9 - known["total_parameters"] * known["bytes_per_parameter"], 0
    while (free := free - known["window_cache_memory"] - 4096 * known["kv_bytes_per_token"]) >= 0:
        held += 1
    assert held <= latency.batch_that_fits(known) < held + 1
    assert (
        latency.batch_that_fits(known, devices=1) == 0
    )  # the weights alone do not fit on one chip


@pytest.mark.parametrize("model", ["DeepSeek-V3", "gpt-oss-120b"])  # without windows, and with
def test_fast_mode_is_the_ratio_of_two_points_of_the_frontier(model):
    point = {**values(model=model), "batch": 20_000.0}
    step = latency.step_time_lecture(point)
    batch = latency.step_time_lecture.solve("batch")({**point, "step_time": step / 2.5})
    assert latency.fast_mode_price({**point, "speedup": 2.5}) == pytest.approx(
        (step / 2.5 / batch) / (step / 20_000), rel=1e-12
    )
    assert latency.fast_batch({**point, "speedup": 2.5}) == pytest.approx(batch, rel=1e-12)
    assert latency.fast_mode_price({**point, "batch": 100.0, "speedup": 2.5}) == math.inf


@pytest.mark.parametrize(
    "hardware, model, precision, context, normal, reads",
    [("H100 SXM", "Llama 3.1 70B", "bf16", 160, 4845, 323)],
)
def test_people_in_fast_mode_where_multiplying_sets_the_pace(
    hardware, model, precision, context, normal, reads
):
    """There more people share a step than reading alone would tell."""
    known = values(hardware=hardware, model=model, precision=precision, context=context)
    at = {**known, "batch": float(normal), "speedup": 2.5}
    assert latency.compute_time(at) > latency.full_weight_time(at) + latency.kv_time(at)
    few = latency.fast_batch(at)
    assert few > 2 * reads
    assert latency.step_time_lecture(known, batch=few) == pytest.approx(
        latency.step_time_lecture(at) / 2.5, rel=1e-9
    )
    assert latency.fast_mode_price(at) == pytest.approx(normal / (2.5 * few), rel=1e-9)


def test_a_price_list_gives_the_batch_away():
    """Played on the frontier itself: find the small batch by trying, and price both."""
    point = {**NODE, "context": 4096.0}

    def cost(batch):
        return latency.step_time(point, batch=batch) / batch

    def speed(batch):
        return 1 / latency.step_time(point, batch=batch)

    normal = latency.batch_from_price(point, speedup=2.5, price_ratio=6.0)
    few, many = 0.0, normal
    for _ in range(60):
        middle = (few + many) / 2
        few, many = (middle, many) if speed(middle) > 2.5 * speed(normal) else (few, middle)
    assert cost(few) / cost(normal) == pytest.approx(6, rel=1e-9)
    assert latency.fast_batch(point, batch=normal, speedup=2.5) == pytest.approx(few, rel=1e-9)
    assert latency.fast_batch(point, batch=normal, speedup=5.0) == 0
    lonely = speed(1e-9) / speed(normal)
    assert latency.speedup_limit(point, batch=normal) == pytest.approx(lonely, rel=1e-9)
    weights = latency.weight_memory(point)
    cache = point["context"] * point["kv_bytes_per_token"]
    assert latency.weights_in_caches(point) == pytest.approx(weights / cache)


def test_attention_catches_up_where_others_say():
    # Attention passes the feed-forward part beyond eight widths (How to Scale Your Model); with all
    # weights: 53k for 70B.
    assert latency.attention_context(NODE) == pytest.approx(53_800, rel=0.01)


def test_the_three_readings_of_the_example():
    v3 = values(model="DeepSeek-V3")
    readings = (
        balance.balance_batch_by_experts(
            weight_uses_at_balance=300, experts=256, active_experts=32
        ),
        balance.balance_batch_by_parameters(v3, weight_uses_at_balance=300),
        balance.balance_batch_by_experts(v3, weight_uses_at_balance=300),
    )
    assert readings == pytest.approx((2400, 5400, 9600), rel=0.01)
    # An independent computation for H100 in bf16 gives 5,280.
    assert balance.balance_batch(values(hardware="H100 SXM", precision="bf16")) == pytest.approx(
        5280, rel=0.01
    )


def test_at_the_balance_batch_reading_takes_as_long_as_computing():
    for chip in ("H100 SXM", "GB200 NVL72", "TPU v5e"):
        known = values(hardware=chip, precision="bf16", context=100)
        batch = balance.balance_batch(known)
        assert latency.full_weight_time(known) == pytest.approx(
            latency.compute_time(known, batch=batch), rel=1e-12
        )
        batch = balance.balance_batch_with_kv(known)
        reading = latency.full_weight_time(known) + latency.kv_time(known, batch=batch)
        assert reading == pytest.approx(latency.compute_time(known, batch=batch), rel=1e-12)


def test_with_attention_counted_reading_and_arithmetic_are_equal_at_the_balance():
    for context in (100, 8192, 14_000):
        known = values(
            hardware="GB200 NVL72", model="DeepSeek-V3", precision="fp8", context=context
        )
        known["batch"] = balance.balance_batch_with_attention(known)
        read = latency.full_weight_time(known) + latency.kv_time(known)
        assert read == pytest.approx(
            latency.compute_time(known) + latency.attention_time(known), rel=1e-9
        )


def test_the_limit_moves_out_with_attention_and_may_vanish():
    # As two readers worked it out by hand: L* = (2 N / F) ÷ (b / BW − a / F), 15,100 tokens for
    # DeepSeek-V3 on GB200.
    known = values(hardware="GB200 NVL72", model="DeepSeek-V3", precision="fp8")
    limit = balance.balance_context_with_attention(known)
    assert limit == pytest.approx(15_100, rel=0.005) and balance.balance_context(
        known
    ) == pytest.approx(3_420, rel=0.001)
    assert balance.balance_batch_with_attention(known, context=limit * 1.001) == math.inf
    assert balance.balance_batch_with_attention(known, context=limit * 0.999) < math.inf
    keeps_pace = values(hardware="H200 SXM", model="DeepSeek-V3", precision="fp8", context=1e7)
    assert balance.balance_context_with_attention(keeps_pace) == math.inf
    assert balance.balance_batch_with_attention(keeps_pace) < math.inf


def test_no_batch_balances_beyond_the_balance_context():
    limit = balance.balance_context(NODE)
    assert balance.balance_batch_with_kv({**NODE, "context": limit * 1.001}) == math.inf
    assert balance.balance_batch_with_kv({**NODE, "context": limit * 0.9}) < math.inf


def test_the_300_of_known_chips():
    # multiplies/s × bytes ÷ bandwidth, worked out by others: A100 153, H100 295, H200 206, B200
    # 281.
    found = [
        balance.weight_uses_at_balance(values(hardware=c, precision="bf16"))
        for c in ("A100 80GB", "H100 SXM", "H200 SXM", "B200 SXM")
    ]
    assert found == pytest.approx([153, 295, 206, 281], rel=0.005)


def test_drain_times_lie_in_the_published_span():
    times = [
        balance.drain_time(values(hardware=row["name"], precision="bf16"))
        for row in page_rows()["hardware"]
    ]
    assert min(times) >= 0.013 and max(times) <= 0.040


def test_the_routed_law_gives_back_the_measured_losses():
    law = sparsity.coefficients("S-BASE")
    # The fit's own root-mean-square error is 0.0032 in log10, that is about 0.7 %.
    assert sparsity.routed_loss(law, dense_parameters=370e6, experts=64) == pytest.approx(
        get("scaling_laws", "clark_370_64_loss")["value"], rel=0.015
    )
    size = sparsity.effective_parameters(law, dense_parameters=370e6, experts=64)
    assert size == pytest.approx(get("scaling_laws", "clark_epc")["value"], rel=0.03)
    total = sparsity.routed_total(
        dense_parameters=370e6, experts=512, routed_share=law["routed_share"]
    )
    assert total == pytest.approx(get("scaling_laws", "clark_512")["value"], rel=0.02)


def test_one_expert_is_the_dense_model():
    for router in ("S-BASE", "RL-R", "HASH"):
        law = sparsity.coefficients(router)
        assert sparsity.effective_parameters(law, dense_parameters=1e8, experts=1) == pytest.approx(
            1e8, rel=1e-9
        )


# The latency of layers

# One user alone, no speculation: name of the row, scenario, context.  DeepSeek-V3.2 has the shape
# of V3 with other attention.
ALONE = [
    ("step_r1_b200", "B200 SXM", 8, "DeepSeek-V3", "fp4", 2000),
    ("step_v32_b300", "B300 SXM", 8, "DeepSeek-V3", "fp8", 2000),
    ("step_v32_gb200", "GB200 NVL72", 4, "DeepSeek-V3", "fp4", 2000),
    ("step_v32_tilert", "B200 SXM", 8, "DeepSeek-V3", "fp8", 1500),
    ("step_llama70b_h100", "H100 SXM", 2, "Llama 3.1 70B", "fp8", 5250),
]


@pytest.mark.parametrize(
    "row, chip, chips, model, precision, context", ALONE, ids=[row[0] for row in ALONE]
)
def test_published_steps_of_one_user_lie_above_the_latency_of_layers(
    row, chip, chips, model, precision, context
):
    """With the latency of layers, the best published kernels are within 3.5 times.

    Without it a mixture of experts is 7 to 30 times too fast.
    """
    known = values(hardware=chip, model=model, precision=precision, context=context, devices=chips)
    measured = get("measured_latencies", row)["seconds"]
    assert 1.3 < measured / latency.step_time_with_latency(known, batch=1) < 3.5
    if "DeepSeek" in model:
        assert measured / latency.step_time(known, batch=1) > 7
        assert latency.fixed_time(known) > 0.8 * latency.step_time_with_latency(known, batch=1)


def test_what_a_lonely_user_pays_is_mostly_latency():
    known = values()  # DeepSeek-V3 on a rack of GB200
    assert known["layer_latency"] == pytest.approx(13e-6 + 60.4e-6 * 58 / 61)
    parts = latency.latency_cost(known, batch=1), latency.cost_per_token(known, batch=1)
    assert (
        sum(parts) == pytest.approx(latency.cost_per_token_with_latency(known, batch=1))
        and parts[0] > 50 * parts[1]
    )
    # Even at 5 microseconds each way and nothing for kernels, the thousand of the lecture is
    # exceeded.
    assert latency.unbatched_penalty(
        known, batch=1, layer_latency=10e-6 * 58 / 61
    ) == pytest.approx(1310, rel=0.05)
    assert latency.unbatched_penalty(known, batch=1) > 5000
    # A dense model on a node, at the same context, is far from it: everybody reads a cache of one's
    # own.
    dense = values(hardware="H100 SXM", model="Llama 3.1 70B", precision="bf16", context=4096)
    assert 100 < latency.unbatched_penalty(dense, batch=1) < 200


@pytest.mark.parametrize(
    "chip, model, per_layer",
    [
        ("H100 SXM", "Llama 3.1 70B", 13e-6 + 2 * 4.7e-6),
        ("H200 SXM", "DeepSeek-V3", 13e-6 + 28.5e-6 * 58 / 61),
        ("GB200 NVL72", "DeepSeek-V3", 13e-6 + 60.4e-6 * 58 / 61),
        ("GB200 NVL72", "Llama 3.1 405B", 13e-6 + 2 * 4.7e-6),
    ],
)
def test_latency_of_a_layer_follows_model_and_domain(chip, model, per_layer):
    known = values(hardware=chip, model=model, precision="fp8")
    assert known["layer_latency"] == pytest.approx(per_layer) and latency.fixed_time(
        known
    ) == pytest.approx(known["layers"] * per_layer)


CONTEXTS = [2**k for k in range(21)]


@pytest.mark.parametrize("model", [row["name"] for row in page_rows()["model"]])
def test_a_cache_never_takes_more_than_full_attention_would(model):
    """Windows keep what they have seen, up to what they hold.

    Checked against `shapes`, which counts the elements of layers whose windows are taken away.
    """
    shape = shapes.shape(model)
    whole = replace(shape, window_tokens=0, full_attention_layers=None)
    window = shape.window_tokens or 1
    known = values("H100 SXM", model, "bf16")

    def held(context):
        return latency.cache_memory(known, context=context)

    contexts = sorted({*CONTEXTS, window - 1 or 1, window, window + 1, 1_000_000})
    for context in contexts:
        most = 2 * context * shapes.kv_elements_per_token(whole)
        assert held(context) <= most * (1 + 1e-12)
        if context <= window:  # no window has let go of a token yet
            assert held(context) == pytest.approx(most)
    taken = [held(context) for context in contexts]
    assert taken == sorted(taken)
    assert held(window * (1 + 1e-9)) == pytest.approx(held(window), rel=1e-8)
    growing = 2 * shapes.kv_elements_per_token(shape)
    assert held(2e6) - held(1e6) == pytest.approx(1e6 * growing)


def test_a_short_chat_is_charged_what_it_has_read():
    """Gemma 3 on an H100 at 128 tokens: an eighth of each window, and room for it."""
    known = values("H100 SXM", "Gemma 3 27B", "bf16", 128)
    assert latency.cache_memory(known) == 2 * 2 * 62 * 16 * 128 * 128
    assert latency.batch_that_fits(known, devices=1) > 1
    assert latency.batch_that_fits(known) == pytest.approx(
        (640e9 - 2 * known["total_parameters"]) / latency.cache_memory(known)
    )


@pytest.mark.parametrize("model", ["Gemma 3 27B", "gpt-oss-120b", "Llama 3.1 70B"])
@pytest.mark.parametrize("context", [1, 100, 1024, 5000, 1e6])
def test_a_context_gives_its_room_back(model, context):
    """Below a window and above it, the context of a cache is that of its bytes."""
    known = values("H200 SXM", model, "bf16", context)
    room = latency.cache_memory(known) + known["total_parameters"] * 2
    chips = {"memory_capacity": room, "devices": 1, "batch": 1}
    assert memory_wall.context_that_fits(known | chips) == pytest.approx(context, rel=1e-6)
    assert multi_rack_pipelines.context_of_stages(
        known | chips, micro_batch=1, pipeline_stages=1
    ) == pytest.approx(context, rel=1e-6)
    weights = latency.cache_memory(known)
    assert memory_wall.wall_context(
        known, batch=1, total_parameters=weights / 2, routed_parameters=0, active_parameters=1
    ) == pytest.approx(context)
    for limit, work in (
        (balance.balance_context, latency.compute_time),
        (balance.balance_context_with_attention, _all_work),
    ):
        at = limit(known)
        assert latency.kv_time(known, context=at, batch=1) == pytest.approx(
            work(known, context=at, batch=1)
        )


def _all_work(known, **at):
    return latency.compute_time(known, **at) + latency.attention_time(known, **at)


def test_the_first_chapters_napkin():
    """What its text adds up in typed numbers is what the formulas give."""
    ours = NODE
    weights = latency.weights_in_caches(ours)
    normal = latency.batch_from_price(ours, price_ratio=6, speedup=2.5)
    fast = latency.fast_batch(ours, batch=normal, speedup=2.5)
    assert (round(weights), round(normal), round(weights + normal)) == (105, 189, 294)
    assert round((105 + 189) / 2.5, 1) == 117.6 and round(fast, 1) == 12.6
    assert normal / fast == pytest.approx(15, rel=1e-9) and normal / weights == pytest.approx(1.8)
    assert latency.fast_batch(ours, batch=100, speedup=2.5) == 0  # at no price
    # "conversations of at most some 52,000 tokens": then a fifteenth of the crowd is one person
    assert weights * 4096 / (15 / 1.8) == pytest.approx(52e3, rel=0.01)
    assert latency.fast_batch(
        ours, batch=1.8 * weights * 4096 / 52e3, speedup=2.5, context=52e3
    ) == pytest.approx(1, rel=0.02)
    read = latency.full_weight_time(ours) + latency.kv_time(ours, batch=189)
    still = latency.fixed_time(ours)
    assert still == pytest.approx(80 * 22.4e-6)
    # Four servers exchange results over ports of 50 GB/s, twice a layer: an all-reduce in which a
    # chip has an eighth of the activations sends 2 (4 - 1)/4 of that.
    share = 189 * 8192 * 2 / 8
    wires = 160 * 2 * 3 / 4 * share / 50e9
    one, four = read + still, read / 4 + still + wires
    assert [round(1e3 * part, 1) for part in (read, still, wires)] == [14.7, 1.8, 1.9]
    assert 1e3 * one == pytest.approx(16.5, abs=0.05)
    assert 1e3 * four == pytest.approx(7.4, abs=0.07)  # as its rounded parts add up
    assert 2 < one / four < 2.3 and 4 * four / one == pytest.approx(1.8, abs=0.03)
    # The same exchange inside a server, over links of 450 GB/s, makes more chips gain less.
    inside = 160 * 2 * 7 / 8 * 8 * share / 450e9
    assert (one + inside) / (four + inside) < one / four
    # With experts the price fixes no ratio: 1 + x is 2.5 times what a fifteenth of the crowd reads.
    deep = values(model="DeepSeek-V3")
    for people, ratio in ((17, 0.1), (100, 1.7)):
        few, all_ = (latency.weight_time(deep, batch=n) for n in (people, 15 * people))
        x = (2.5 * few / all_ - 1) / (1 - 1 / 6)
        assert x == pytest.approx(ratio, abs=0.06)
    # Patience: from 189 people to a full server, and to any number of them.
    price = functools.partial(latency.cost_per_token, ours)
    assert 0.15 < 1 - price(batch=371) / price(batch=189) < 0.2
    assert 1 - latency.cost_floor(ours) / price(batch=189) == pytest.approx(1 / 3, abs=0.03)
    waited = weights * (1 + latency.fixed_time(ours) / latency.full_weight_time(ours))
    assert (round(waited), round(1.8 * waited), round(waited - weights)) == (141, 254, 36)
    rack = values(hardware="GB200 NVL72", model="DeepSeek-V3", precision="fp8", context=8192)
    assert rack["layers"] == 61 and rack["layer_latency"] == pytest.approx(70e-6, rel=0.01)
    cost = functools.partial(latency.cost_per_token, ours)
    assert int(latency.batch_that_fits(ours)) == 371
    assert weights / (weights + 371) == pytest.approx(0.22, abs=0.005)
    for batch in (189, 200):  # "nearly seventy times"
        assert 65 < cost(batch=1) / cost(batch=batch) < 70
    assert 95 < cost(batch=1) / latency.cost_floor(ours) < 110
    alone = values(hardware="GB200 NVL72", model="DeepSeek-V3", precision="fp8", context=8192)
    assert latency.unbatched_penalty(alone, batch=1) > 2000
    step = latency.step_time_with_latency(alone, batch=1)
    assert latency.weight_time(alone, batch=1) < 0.1 * step


def test_a_token_leaves_in_the_cache_what_its_model_publishes():
    # Heads: the cache of Llama 3.1 70B as llama.cpp prints it, 1,280 MiB for 4,096 tokens in f16.
    heads = latency.kv_bytes_of_heads(layers=80, kv_heads=8, head_width=128, cached_number_bytes=2)
    assert heads * 4096 == 1280 * 2**20
    # DeepSeek-V3 against two others, in kB a token (DeepSeek-AI 2025, arXiv 2505.09343, table 1).
    latent = latency.kv_bytes_of_latent(
        layers=61, kv_latent_width=512, rotary_width=64, cached_number_bytes=2
    )
    assert latent == 70_272
    others = [
        latency.kv_bytes_of_heads(layers=n, kv_heads=8, head_width=128, cached_number_bytes=2)
        for n in (80, 126)
    ]
    assert others == [327_680, 516_096]  # Qwen2.5 72B and Llama 3.1 405B
    for model, bytes_ in (("DeepSeek-V3", latent), ("Llama 3.1 70B", heads)):
        assert values(model=model, precision="bf16")["kv_bytes_per_token"] == bytes_
