"""Tests of racks and of the router.

The forms by racks and by load are compared with those of ``experts``, counted traffic and published
services.
"""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import experts, racks, shapes
from handful.facts import get, load
from handful.scenario import values
from handful_evidence import measured_racks
from handful_evidence.simulate import fabric, router

V3 = experts.expert_values("H100 SXM", "DeepSeek-V3", precision="fp8", context=4989)
V3_BF16_CACHE = V3 | {"kv_bytes_per_token": 70272}

counts = st.integers(2, 60), st.integers(1, 80), st.floats(1, 1e6), st.integers(1, 16)


# The same law, counted otherwise ------------------------------------------------------------------


@given(*counts, st.sampled_from([50e9, 4e12]))
@settings(deadline=None, max_examples=60)
def test_by_racks_is_by_chips(many, each, batch, limit, outside):
    known = V3 | {
        "scale_up_domains": many,
        "domain_devices": each,
        "devices": many * each,
        "batch": batch,
        "domain_limit": limit,
        "scale_out_bandwidth": outside,
    }
    for ours, theirs in [
        (racks.fraction_leaving_of_racks, experts.fraction_leaving),
        (racks.domains_reached_of_racks, experts.domains_reached),
        (racks.copies_leaving_of_racks, experts.copies_leaving),
        (racks.copies_inside_of_racks, experts.copies_inside),
        (racks.copies_leaving_once_of_racks, experts.copies_leaving_once),
        (racks.crossing_slowdown_of_chip, experts.crossing_slowdown),
        (racks.scale_out_time_of_racks, experts.scale_out_time),
        (racks.scale_out_time_once_of_racks, experts.scale_out_time_once),
        (racks.expert_weight_time_of_racks, experts.expert_weight_time),
        (racks.expert_compute_time_of_racks, experts.expert_compute_time),
        (racks.expert_layer_time_of_racks, experts.expert_layer_time),
        (racks.hiding_batch_of_racks, experts.hiding_batch),
    ]:
        assert ours(known) == pytest.approx(theirs(known), rel=1e-9), ours.name
    joined = known | {"domain_devices": many * each}
    assert racks.one_fabric_time(known) == pytest.approx(experts.scale_up_time(joined), rel=1e-9)
    known["bandwidth_ratio"] = experts.bandwidth_ratio(known)
    assert racks.crossing_slowdown_of_racks(known) == pytest.approx(
        racks.crossing_slowdown_of_chip(known), rel=1e-12
    )
    assert racks.crossing_slowdown_once(known) == pytest.approx(
        racks.crossing_slowdown_once_of_chip(known), rel=1e-12
    )


@given(st.integers(1, 60), st.integers(1, 80), st.floats(0.5, 1e3), st.integers(1, 16))
@settings(deadline=None, max_examples=60)
def test_at_a_load_per_chip_is_at_their_batch(many, each, load_, limit):
    n = many * each
    known = V3 | {
        "scale_up_domains": many,
        "domain_devices": each,
        "devices": n,
        "device_batch": load_,
        "batch": load_ * n,
        "domain_limit": limit,
        "kernel_overhead": 0,
    }
    for ours, theirs in [
        (racks.expert_coverage_at_load, experts.expert_coverage),
        (racks.expert_weight_time_at_load, experts.expert_weight_time),
        (racks.expert_compute_time_at_load, experts.expert_compute_time),
        (racks.scale_up_time_at_load, experts.scale_up_time),
        (racks.scale_out_time_at_load, experts.scale_out_time),
        (racks.all_to_all_time_at_load, experts.all_to_all_time),
        (racks.fabric_time, experts.scale_up_time),
        (racks.network_time, experts.scale_out_time),
        (racks.fabric_time_once, experts.scale_up_time_once),
        (racks.network_time_once, experts.scale_out_time_once),
    ]:
        assert ours(known) == pytest.approx(theirs(known), rel=1e-9), ours.name
    assert racks.dispatch_time(known) + racks.combine_time(known) == pytest.approx(
        racks.network_time(known), rel=1e-9
    )
    both = known | {"kernel_overhead": 3e-6}
    assert racks.dispatch_time(both) - racks.dispatch_time(known) == pytest.approx(3e-6)
    assert racks.combine_time(both) - racks.combine_time(known) == pytest.approx(3e-6)


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("many, limit", [(1, None), (2, None), (8, None), (8, 4)])
def test_links_against_counted_bytes(many, limit, once):
    seen = fabric.simulate(
        64,
        experts=256,
        active_experts=8,
        devices=8 * many,
        domain_devices=8,
        once=once,
        domain_limit=limit,
    )
    known = V3 | {
        "scale_up_domains": many,
        "domain_devices": 8,
        "device_batch": 64,
        "domain_limit": limit or many,
    }
    up, out = (
        (racks.fabric_time_once, racks.network_time_once)
        if once
        else (racks.fabric_time, racks.network_time)
    )
    if limit is None or once:  # without handing on, a limit changes nothing on average
        assert up(known) * 450e9 == pytest.approx(seen.scale_up[0], rel=0.03)
        assert out(known) * 50e9 == pytest.approx(seen.scale_out[0], rel=0.05, abs=1)


@pytest.mark.parametrize(
    "many, rate", [(2, 450e9), (4, 450e9), (2, 900e9), (4, 900e9), (4, 10e9)]
)  # the last: faster outside
def test_what_a_crossing_costs_against_counted_time(many, rate):
    layout = dict(
        experts=256,
        active_experts=8,
        devices=32 * many,
        scale_up_bandwidth=rate,
        scale_out_bandwidth=50e9,
    )
    one = fabric.simulate(128, domain_devices=32 * many, **layout).time
    known = {
        "scale_up_domains": many,
        "bandwidth_ratio": rate / 50e9,
        "active_experts": 8,
        "domain_limit": many,
    }
    for once, form in (
        (True, racks.crossing_slowdown_once),
        (False, racks.crossing_slowdown_of_racks),
    ):
        assert fabric.simulate(
            128, domain_devices=32, once=once, **layout
        ).time / one == pytest.approx(form(known), rel=0.08)


@given(st.integers(2, 40), st.integers(1, 16), st.sampled_from(["H100 SXM", "GB200 NVL72"]))
@settings(deadline=None, max_examples=30)
def test_at_the_hiding_batch_one_copy_a_rack_takes_as_long_as_reading(many, limit, chip):
    known = experts.expert_values(chip, "DeepSeek-V3", precision="fp8") | {
        "scale_up_domains": many,
        "domain_limit": limit,
    }
    batch = racks.hiding_batch_once_of_racks(known)
    # The form takes every expert as read.
    reading = racks.expert_weight_time_of_racks(known, batch=batch) / experts.expert_coverage(
        known, batch=batch
    )
    assert racks.scale_out_time_once_of_racks(known, batch=batch) == pytest.approx(
        reading, rel=1e-9
    )
    assert batch >= racks.hiding_batch_of_racks(known) * (1 - 1e-12)


@pytest.mark.parametrize("many", [1, 2, 8])
def test_one_fabric_for_all_against_counted_bytes(many):
    seen = fabric.simulate(
        64, experts=256, active_experts=8, devices=8 * many, domain_devices=8 * many
    )
    known = V3 | {
        "scale_up_domains": many,
        "domain_devices": 8,
        "device_batch": 64,
        "batch": 64 * 8 * many,
    }
    assert racks.one_fabric_time(known) * 450e9 == pytest.approx(seen.scale_up[0], rel=0.02)


def test_two_racks_cost_a_quarter_when_a_rack_gets_one_copy():
    two = {"bandwidth_ratio": 18, "scale_up_domains": 2, "active_experts": 8, "domain_limit": 2}
    assert racks.crossing_slowdown_of_racks(two) / racks.crossing_slowdown_once(
        two
    ) == pytest.approx(4, rel=0.01)


# Memory, services, kernels ------------------------------------------------------------------------


@pytest.mark.parametrize("each", [20, 88, 128])
def test_the_fewest_chips_by_trying_one_after_the_other(each):
    s = shapes.shape("DeepSeek-V3")
    routed = shapes.routed_parameters(s)
    rest, caches = (
        shapes.total_parameters(s) - routed,
        each * 4989 * 576 * 61 * 2,
    )  # latents of 576, 61 layers, bf16
    found = next(n for n in range(1, 1000) if rest + caches + routed / n <= 80e9)
    known = V3_BF16_CACHE | {"device_batch": each}
    assert found - 1 < racks.fewest_devices(known) <= found
    assert racks.device_memory_at_load(known, devices=found) <= racks.memory_of_chip(known) == 80e9
    assert racks.device_memory_at_load(known, devices=found - 1) > 80e9
    # The derivation says the same, where there is room at all.
    said = racks.fewest_devices.derivation.result.xreplace(
        {part.gives.symbol: part.expanded for part in racks.fewest_devices.using}
    )
    assert float(
        said.subs({s: (known | {"one_device": 1})[str(s)] for s in said.free_symbols})
    ) == pytest.approx(racks.fewest_devices(known), rel=1e-12)


def test_windows_lie_on_the_chip_too():
    """Half of gpt-oss-120b's 36 layers keep their 128 latest tokens only.

    They take 2 × 8 × 64 numbers a token and layer, in fp8.
    """
    known = values(model="gpt-oss-120b", hardware="H100 SXM", precision="fp8", context=20_000)
    assert racks.resident_caches(known, device_batch=3) == pytest.approx(
        3 * 18 * 1024 * (20_000 + 128)
    )


def test_caches_that_never_fit_want_infinitely_many_chips():
    assert racks.fewest_devices(V3_BF16_CACHE, device_batch=512) == math.inf


def test_deepseek_serves_on_more_nodes_than_its_memory_asks_for():
    row = get("measured_serving", "deepseek_decode")
    asked = racks.fewest_devices(V3_BF16_CACHE, device_batch=row["tokens_per_s_per_chip"] / 21)
    assert 16 < asked < row["chips"] == 144  # more than two nodes


def test_domains_hold_what_the_lecture_says():
    assert racks.domain_memory(V3) == 640e9  # 45:28
    rack = experts.expert_values("GB200 NVL72", "DeepSeek-V3", precision="fp8")
    assert 10e12 < racks.domain_memory(rack) < 20e12
    assert racks.domains_to_hold(V3, weight_memory_share=1) == pytest.approx(
        671.026e9 / 640e9, rel=1e-4
    )
    assert racks.domains_to_hold(rack, weight_memory_share=0.5) == 1


def test_traffic_of_a_token_over_all_layers():
    # 58 layers of experts, 8 copies, a byte out and two back for each of 7,168 numbers.
    assert racks.token_traffic(V3) == 58 * 8 * 3 * 7168
    assert racks.fixed_traffic_time(V3, kernel_overhead=50e-6) == pytest.approx(58 * 100e-6)


def test_kernels_are_measured_at_one_load_on_more_and_more_chips():
    rows = load("measured_all_to_all")
    assert [row["chips"] for row in rows] == [8, 16, 32, 64, 128, 256] and {
        row["tokens_per_chip"] for row in rows
    } == {128}
    for row in rows:  # printed time × printed rate is the bytes of 8 copies, 3 % of scales aside
        assert row["dispatch_s"] * row["dispatch_bytes_per_s"] == pytest.approx(
            128 * 8 * 7168, rel=0.04
        )
        assert row["combine_s"] * row["combine_bytes_per_s"] == pytest.approx(
            128 * 8 * 7168 * 2, rel=0.04
        )
    rest = [
        row["combine"] - row["combine_bytes"] for row in measured_racks.all_to_all_kernels()[1:]
    ]
    assert min(rest) > 45e-6 and max(rest) < 100e-6
    assert all(
        row["dispatch_bytes"] + 50e-6 == pytest.approx(row["dispatch"], rel=0.05)
        for row in measured_racks.all_to_all_kernels()[1:]
    )


def test_a_service_with_a_published_batch_keeps_it():
    rows = {row["chips"]: row for row in measured_racks.services()}
    assert rows[128]["device_batch"] == 128 and rows[72]["device_batch"] == 256
    assert rows[144]["device_batch"] == pytest.approx(88, abs=1)
    assert rows[72]["step"] == pytest.approx(
        0.092, rel=0.01
    )  # its authors say about 100 ms between tokens
    traffic = 58 * 256 * 8 * 7168 * 3 * (64 / 72) / 50e9  # what leaves a node of 8, out and back
    assert rows[72]["traffic"] == pytest.approx(traffic)


# The router ---------------------------------------------------------------------------------------


def test_uniform_loads_are_even_but_for_chance():
    seen = np.array(router.loads(8192, 256, 8))
    assert seen.sum() == 65536
    variance = 8192 * (8 / 256) * (1 - 8 / 256)  # of one expert: picked by a token or not
    assert ((seen - 256) ** 2 / variance).sum() == pytest.approx(256, abs=4 * math.sqrt(2 * 256))
    assert abs(seen - 256).max() < 5 * math.sqrt(variance)


@pytest.mark.parametrize("devices", [8, 64, 256])
def test_the_busiest_chip_on_average_is_the_exact_one(devices):
    busiest = [
        max(router.on_chips(router.loads(512, 256, 8, 0.0, seed), devices)) * devices / 4096
        for seed in range(1, 41)
    ]
    exact = fabric.expected_imbalance(tokens=512, active_experts=8, experts=256, devices=devices)
    assert statistics.fmean(busiest) - 1 == pytest.approx(exact - 1, rel=0.1)
    assert experts.load_imbalance(devices=devices, active_experts=8, batch=512) > exact


def test_favourites_follow_their_law():
    shares = np.diff([0.0, *router.popularity(256, 0.5)])
    ranked = np.sort(shares)[::-1]
    assert ranked[0] / ranked[3] == pytest.approx(2) and ranked.sum() == pytest.approx(1)
    seen = np.array(router.loads(4096, 256, 2, 0.5))
    assert seen[int(shares.argmax())] == seen.max()
    busiest = [
        max(router.on_chips(router.loads(tokens, 256, 8, 0.4), 64)) * 64 / (8 * tokens)
        for tokens in (1024, 8192)
    ]
    assert busiest[1] > 0.9 * busiest[0] > 1.5  # no batch cures them


@given(st.integers(0, 40), st.sampled_from([1, 7, 16, 64, 256]), st.floats(0, 1))
@settings(deadline=None, max_examples=30)
def test_placing_loses_no_copy_and_leaves_no_chip_too_full(spare, devices, skew):
    counts = router.loads(256, 256, 8, round(skew, 1))
    chips = router.spread(counts, devices, spare)
    assert sum(map(sum, chips)) == pytest.approx(256 * 8) and len(chips) == devices
    assert sum(map(len, chips)) == 256 + spare
    assert max(map(len, chips)) <= math.ceil((256 + spare) / devices)
    if spare:
        assert max(map(sum, chips)) <= 1.05 * max(router.on_chips(counts, devices)) + 1


def test_spare_experts_help_where_there_are_favourites():
    counts = router.loads(8192, 256, 8, 0.4)
    plain, spare = (max(router.on_chips(counts, 64, n)) * 64 / 65536 for n in (0, 32))
    assert plain > 2 and spare < 1.1


def test_tokens_reach_as_many_racks_as_counting_says():
    reached = [
        len({chip // 8 for chip in router.token(256, 8, 64, 8, 8, seed)[1]}) for seed in range(400)
    ]
    assert statistics.fmean(reached) == pytest.approx(
        fabric.distinct_destinations(256, 8, 8), rel=0.02
    )
    limited = [
        len({chip // 8 for chip in router.token(256, 8, 64, 8, 4, seed)[1]}) for seed in range(100)
    ]
    assert (
        max(limited) == 4 and statistics.fmean(limited) > 3.8
    )  # as the router by scores: 1 to 4 % below its limit
    homes = [router.token(256, 8, 64, 8, 8, seed)[0] for seed in range(100)]
    assert set(homes) == set(range(8))


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: router.loads(8, 16, 0), "active_experts must be between 1 and 8"),
        (lambda: router.spread([1, 2], 3), "devices must be between 1 and 2"),
        (lambda: racks.fewest_devices(V3), "needs device_batch"),
        (
            lambda: racks.crossing_slowdown_of_racks(bandwidth_ratio=0, scale_up_domains=2),
            "bandwidth_ratio must be above 0",
        ),
    ],
)
def test_bad_input_gets_one_clear_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)
