"""Tests of experts over chips.

The formulas are compared with published layouts, measured kernels and servers, counting, and
limits.
"""

import itertools
import math
import re
import statistics

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import balance, experts, scenario, shapes
from handful.facts import get
from handful.query import registry

V3 = experts.expert_values("H100 SXM", "DeepSeek-V3", precision="fp8", context=4989)

# Latency and bandwidth of DeepSeek's low-latency kernels on H800 with one 400 Gb/s port a GPU, 128
# tokens each, out in fp8 and back in bf16: GPUs, then µs and GB/s out, µs and GB/s back (github
# deepseek-ai/DeepEP docs/legacy.md).
KERNELS = [
    (8, 77, 98, 114, 127),
    (16, 118, 63, 195, 74),
    (32, 155, 48, 273, 53),
    (64, 173, 43, 314, 46),
    (128, 192, 39, 369, 39),
    (256, 194, 39, 360, 40),
]


# Where experts lie --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "held, devices, found",
    [
        (256, 72, (64, 4, 8)),  # the lecture, 33:37
        (288, 32, (32, 9, 0)),  # DeepSeek-V3's prefill unit: 256 and 32 spare copies, 9 a GPU
        (288, 144, (144, 2, 0)),  # its decoding unit of February 2025: 2 a GPU
        (256, 320, (256, 1, 64)),  # that of its report: 1 a GPU, 64 GPUs for spare and shared ones
    ],
)
def test_placements_are_the_published_ones(held, devices, found):
    assert experts.placement(held, devices) == found


@given(held=st.integers(1, 2000), devices=st.integers(1, 2000))
@settings(deadline=None)
def test_a_placement_holds_every_expert_and_cannot_be_tightened(held, devices):
    used, each, idle = experts.placement(held, devices)
    assert used + idle == devices and idle >= 0
    assert used * each >= held > (used - 1) * each  # all fit; one chip fewer would not do
    assert (each - 1) * devices < held  # nor would one expert fewer on the fullest
    assert experts.experts_per_device(experts=held, devices=devices) == each
    assert experts.devices_in_use(experts=held, devices=devices) == used


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: experts.placement(0, 8), "experts must be a whole number, 1 or more; got 0"),
        (lambda: experts.placement(256, 7.5), "devices must be a whole number, 1 or more; got 7.5"),
        (
            lambda: experts.placement(256, math.nan),
            "devices must be a whole number, 1 or more; got nan",
        ),
        (
            lambda: experts.placement("256", 8),
            "experts must be a whole number, 1 or more; got '256'",
        ),
        (
            lambda: experts.fraction_leaving(devices=0.5, domain_devices=0),
            "domain_devices must be above 0",
        ),
        (
            lambda: experts.load_imbalance(devices=0.5, active_experts=8, batch=10),
            "one_device must be at most devices",
        ),
        (
            lambda: experts.scale_out_time(V3 | {"scale_out_bandwidth": None}, batch=1),
            "needs scale_out_bandwidth",
        ),
        (lambda: experts.generations("InfiniBand EDR"), "InfiniBand HDR"),
        (lambda: experts.expert_values("H10", "DeepSeek-V3"), "the nearest are: H100 SXM"),
    ],
)
def test_bad_input_gets_one_clear_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("racks, chips", [(1, 8), (2, 4), (2, 9), (5, 3)])
def test_fraction_leaving_is_the_share_of_pairs_in_different_racks(racks, chips):
    n = racks * chips
    crossing = sum(a // chips != b // chips for a in range(n) for b in range(n))
    assert experts.fraction_leaving(devices=n, domain_devices=chips) == pytest.approx(
        crossing / n**2, rel=1e-12
    )
    inside = sum(a // chips == b // chips and a != b for a in range(n) for b in range(n))
    assert experts.copies_inside(
        devices=n, domain_devices=chips, active_experts=8
    ) == pytest.approx(8 * inside / n**2)


def test_domains_reached_is_the_mean_over_all_ways_to_pick():
    # Three picks, each any of 4 racks: all 64 cases counted.
    counted = statistics.fmean(len(set(picks)) for picks in itertools.product(range(4), repeat=3))
    assert experts.domains_reached(devices=32, domain_devices=8, active_experts=3) == pytest.approx(
        counted, rel=1e-12
    )


# What travels, and how long -----------------------------------------------------------------------


@pytest.mark.parametrize("devices, out, out_rate, back, back_rate", KERNELS)
def test_bytes_are_those_that_kernels_report(devices, out, out_rate, back, back_rate):
    # Latency × bandwidth as printed gives their bytes; scales of fp8 blocks add 3 % to ours on the
    # way out.
    ours = [
        128 * experts.all_to_all_bytes(V3 | way)
        for way in (
            {"dispatch_bytes": 1, "combine_bytes": 1e-12},
            {"dispatch_bytes": 1e-12, "combine_bytes": 2},
        )
    ]
    assert [out * out_rate * 1e3, back * back_rate * 1e3] == pytest.approx(ours, rel=0.04)


@pytest.mark.parametrize(
    "way, column, fixed", [("dispatch_bytes", 1, (40, 60)), ("combine_bytes", 3, (45, 100))]
)
def test_kernels_take_the_time_of_the_network_and_a_constant(way, column, fixed):
    # From 16 to 256 GPUs measured time less scale-out time stays put: the share that leaves
    # explains the rise.
    other = {"dispatch_bytes": "combine_bytes", "combine_bytes": "dispatch_bytes"}[way]
    rest = [
        row[column]
        - 1e6 * experts.scale_out_time(V3 | {other: 1e-12}, devices=row[0], batch=128 * row[0])
        for row in KERNELS[1:]
    ]
    assert fixed[0] < min(rest) and max(rest) < fixed[1]
    measured = [row[column] for row in KERNELS[1:]]
    assert max(rest) - min(rest) < 0.3 * (max(measured) - min(measured))


def test_the_table_of_facts_holds_the_same_kernel():
    note = get("interconnects", "DeepEP low-latency dispatch EP64")["notes"]
    assert [int(us) for us in re.findall(r"(\d+) us", note)] == [KERNELS[3][1], KERNELS[3][3]]


def test_more_experts_for_the_same_crossing():
    # DeepSeek-V3's report, 3.2.2: NVLink at 160 GB/s, InfiniBand at 50, 4 nodes: "3.2 experts per
    # node", 13 in all.
    free = experts.active_experts_for_free(
        domain_limit=4, scale_up_bandwidth=160e9, scale_out_bandwidth=50e9
    )
    assert round(free) == 13 and free / 4 == pytest.approx(3.2)


@pytest.mark.parametrize(
    "name, network, ratio",
    [
        ("H100 SXM", None, 9),
        ("GB200 NVL72", "InfiniBand NDR", 18),
        ("GB200 NVL72", "InfiniBand XDR", 9),
        ("MI355X", None, 11),
        ("TPU v6e", None, 32),
        ("TPU v5p", None, 96),
    ],
)
def test_bandwidth_ratios_are_those_that_others_give(name, network, ratio):
    found = {g.name: g for g in experts.generations(network)}[name].ratio
    assert found == pytest.approx(ratio, rel=0.03)
    assert not 7.5 < found < 8.5  # the lecture's 8 is none of them


def test_domains_grow_in_packages_not_dies():
    chips = {g.name: g.devices for g in experts.generations()}
    assert chips["GB200 NVL72"] / chips["H100 SXM"] == 9  # the lecture (77:50) says 8
    assert (
        chips["Vera Rubin NVL72"] == chips["GB200 NVL72"]
    )  # "500 and something" counts dies, a generation later
    assert chips["Rubin Ultra NVL144"] == 2 * chips["Vera Rubin NVL72"] == 576 / 4


def test_crossing_two_racks_costs_half_the_ratio():
    for name, network, slower in (("H100 SXM", None, 4.5), ("GB200 NVL72", "InfiniBand NDR", 9)):
        known = experts.expert_values(name, "DeepSeek-V3", network, precision="fp8")
        pair = {"devices": 2 * known["domain_devices"], "batch": 1000.0}
        one = experts.all_to_all_time(known | pair, domain_devices=pair["devices"])
        assert experts.crossing_slowdown(known | pair) == pytest.approx(slower)
        # exact but for the one copy in n that stays on its chip
        stays = 1 - 1 / pair["devices"]
        assert experts.all_to_all_time(known | pair) / one == pytest.approx(slower / stays)


@given(racks=st.integers(1, 9), ratio=st.floats(0.1, 20))
@settings(deadline=None)
def test_the_slowdown_is_that_of_the_two_times(racks, ratio):
    # Racks so large that the copies which stay on their chip do not count; a network faster than
    # the fabric, too.
    known = V3 | {
        "devices": racks * 1e9,
        "batch": 1000.0,
        "scale_out_bandwidth": V3["scale_up_bandwidth"] / ratio,
    }
    one = experts.all_to_all_time(known, domain_devices=racks * 1e9)
    found = experts.crossing_slowdown(known, domain_devices=1e9)
    assert found == pytest.approx(
        experts.all_to_all_time(known, domain_devices=1e9) / one, rel=1e-6
    )


@given(
    devices=st.integers(1, 200).map(lambda i: 8 * i),
    limit=st.integers(1, 30),
    batch=st.floats(1, 1e6),
)
@settings(deadline=None)
def test_once_a_domain_never_sends_more_out(devices, limit, batch):
    known = V3 | {"devices": devices, "domain_limit": limit, "batch": batch}
    assert experts.copies_leaving_once(known) <= experts.copies_leaving(known) * (1 + 1e-12)
    assert experts.copies_leaving_once(known) <= limit
    assert experts.scale_out_time_once(known) <= experts.scale_out_time(known) * (1 + 1e-12)
    slower = max(experts.scale_up_time_once(known), experts.scale_out_time_once(known))
    assert experts.all_to_all_time_once(known) == pytest.approx(slower, rel=1e-12)


def test_copies_are_handed_on_unless_they_land_where_they_are_wanted():
    # A copy crosses to the chip in its own place in the other rack: of 24 by 24 ways, seven in
    # eight go on from there.
    handed_on = sum(a % 8 != b % 8 for a in range(24) for b in range(24)) / 24**2
    moved = 128 * handed_on * experts.all_to_all_bytes(V3)  # by each chip, for its 128 tokens
    found = experts.scale_up_time_once(V3, devices=24, domain_devices=8, batch=24 * 128)
    assert found == pytest.approx(moved / V3["scale_up_bandwidth"])


# Published deployments that cross domains ---------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["deepseek_decode", "deepseek_profile_decode", "sglang_h100_decode_2k"]
)
def test_two_half_batches_can_hide_the_published_all_to_alls(name):
    # While one half of the batch travels the other works: hidden if the all-to-all takes at most
    # half of a step.
    row = get("measured_serving", name)
    speed = row["tokens_per_s_per_chip"]
    each = (
        float(row["batch"].split()[0]) if row["batch"] else speed / 21
    )  # 20 to 22 tokens a second and user
    known = V3 | {"devices": row["chips"], "batch": each * row["chips"]}
    share = experts.communication_time(known) / (each / speed)
    assert 0.3 < share < 0.5
    # The routed experts alone would hide little of it.
    assert experts.expert_layer_time(known) < 0.2 * experts.all_to_all_time(known)


def test_the_reported_decoding_unit_is_bound_by_memory():
    # The report (3.4.2): 320 GPUs, at most 256 tokens an expert, and there "the bottleneck is
    # memory access".
    assert 40 * V3["domain_devices"] == 320
    batch = experts.tokens_per_expert.solve("batch")({**V3, "tokens_per_expert": 256})
    unit = V3 | {"devices": 320, "batch": batch}
    assert experts.expert_weight_time(unit) > experts.expert_compute_time(unit)
    assert experts.expert_compute_time(unit, batch=1.25 * batch) > experts.expert_weight_time(
        unit, batch=1.25 * batch
    )
    assert experts.fraction_leaving(unit) == pytest.approx(39 / 40)


def test_a_lone_token_reads_its_own_experts():
    # 8 experts of 3 matrices, 7168 × 2048, a byte a weight, over 64 chips of 3.35 TB/s.
    read = 8 * 3 * 7168 * 2048 / (64 * 3.35e12)
    assert experts.expert_weight_time(V3, devices=64, batch=1) == pytest.approx(read)
    assert experts.expert_weight_time(V3, devices=64, batch=1e6) == pytest.approx(256 / 8 * read)


@pytest.mark.parametrize("chip", ["H100 SXM", "GB200 NVL72"])
def test_at_balance_an_expert_gets_as_many_tokens_as_the_chip_wants(chip):
    known = experts.expert_values(chip, "DeepSeek-V3", precision="bf16")
    batch = balance.balance_batch_experts(known)
    assert experts.tokens_per_expert(known, batch=batch) == pytest.approx(
        balance.weight_uses_at_balance(known), rel=1e-12
    )
    assert experts.expert_compute_time(known, batch=batch) == pytest.approx(
        experts.expert_weight_time(known, batch=batch), rel=1e-3
    )


# What hides it ------------------------------------------------------------------------------------


@given(
    batch=st.floats(1e4, 1e7),
    devices=st.integers(2, 100).map(lambda i: 8 * i),
    port=st.floats(1e9, 1e13),
)
@settings(deadline=None)
def test_crossing_hides_below_the_batch_or_above_the_bandwidth(batch, devices, port):
    # A batch of 10,000 wakes every expert, as the condition assumes.
    known = V3 | {"batch": batch, "devices": devices, "scale_out_bandwidth": port}
    crossing, work = experts.scale_out_time(known), experts.expert_layer_time(known)
    if math.isclose(crossing, work, rel_tol=1e-6):
        return
    hidden = batch < experts.hiding_batch(known) or port > experts.hiding_bandwidth(known)
    assert (crossing < work) == hidden


def test_hiding_in_its_limits():
    assert (
        experts.hiding_batch(V3, devices=8) == math.inf
        and experts.hiding_bandwidth(V3, devices=8) == 0
    )
    far = experts.hiding_bandwidth(V3, devices=256, domain_devices=1)
    # All but one in 256 copies leave: bytes out and back over the FLOPs of one expert, 3 × width ×
    # 2048 weights.
    assert far == pytest.approx(255 / 256 * (1 + 2) * V3["peak_flops"] / (2 * 3 * 2048), rel=1e-6)
    assert experts.hiding_bandwidth_once(V3, devices=320, domain_limit=4) == pytest.approx(
        4 / 8 * experts.hiding_bandwidth(V3, devices=320)
    )


@pytest.mark.parametrize(
    "devices, each, microseconds",
    [(64, 4, 52.6), (72, 4, 52.6), (144, 2, 26.3), (256, 1, 13.1), (320, 1, 13.1)],
)
def test_experts_are_placed_whole(devices, each, microseconds):
    """An expert of DeepSeek-V3 is 3 × 7168 × 2048 bytes in fp8, and an H100 reads 3.35 TB/s.

    The expected times are computed by hand.
    """
    known = V3 | {"devices": devices, "batch": 1e5}
    assert experts.placement(256, devices).each == each
    assert (
        experts.expert_weight_time(known) * 1e6
        == pytest.approx(each * 3 * 7168 * 2048 / 3.35e12 * 1e6)
        == pytest.approx(microseconds, rel=0.01)
    )
    # A chip that holds as many as any other works on as many tokens for each of them.
    tokens = each * experts.tokens_per_expert(known)
    assert experts.expert_compute_time(known) == pytest.approx(
        2 * tokens * 3 * 7168 * 2048 / V3["peak_flops"]
    )
    assert experts.hiding_bandwidth_once(
        V3, devices=320, domain_limit=40
    ) < experts.hiding_bandwidth(V3, devices=320)


def test_fine_experts_want_more_of_the_wires_than_wide_ones():
    fine, wide = (
        experts.expert_values("GB200 NVL72", model, precision="fp8")
        for model in ("DeepSeek-V3", "Mixtral 8x7B")
    )
    # On as many chips as divide the experts of both.
    ratio = experts.hiding_bandwidth_inside(fine, devices=8) / experts.hiding_bandwidth_inside(
        wide, devices=8
    )
    assert ratio == pytest.approx(
        shapes.shape("Mixtral 8x7B").expert_dim / shapes.shape("DeepSeek-V3").expert_dim
    )
    # At the fp8 peak even NVLink does not hide DeepSeek-V3's all-to-all behind its routed experts
    # alone.
    assert (
        experts.hiding_bandwidth_inside(fine)
        > fine["scale_up_bandwidth"]
        > experts.hiding_bandwidth_inside(wide)
    )


@pytest.mark.parametrize(
    "name, end",
    [
        ("fraction_leaving", experts.fraction_leaving.expression),
        ("hiding_bandwidth", None),
        ("hiding_batch", None),
        ("active_experts_for_free", experts.active_experts_for_free.expression),
    ],
)
def test_derivations_end_in_their_formula(name, end):
    formula = registry()[name]
    shown = formula.derivation.result
    if end is None:
        end = formula.expression.xreplace(
            {experts.q.copies_leaving.symbol: experts.copies_leaving.expression}
        )
    assert sympy.simplify(shown - end) == 0


# What fits ----------------------------------------------------------------------------------------


def test_domain_memories_are_the_known_ones():
    memory = {g.name: g.memory for g in experts.generations()}
    assert memory["H100 SXM"] == 640e9  # the lecture, 45:28
    assert 10e12 < memory["GB200 NVL72"] < memory["GB300 NVL72"] < 21e12  # "10 to 20 TB"
    assert experts.largest_model(V3, weight_memory_share=1) == 640e9  # fp8: a byte a weight
    assert experts.largest_model(V3, weight_memory_share=0.5, bytes_per_parameter=2) == 160e9


def test_why_deepseek_crosses_and_a_rack_need_not():
    # 671 GB of weights: not all of its experts fit in a node of 640 GB, several times as many in a
    # rack.
    assert experts.most_experts(V3, weight_memory_share=1) < V3["experts"]
    rack = experts.expert_values("GB200 NVL72", "DeepSeek-V3", precision="bf16")
    most = experts.most_experts(rack, weight_memory_share=0.5)
    assert most > 4 * rack["experts"]
    grown = (
        rack["total_parameters"] + (most - 256) * rack["expert_layers"] * rack["expert_parameters"]
    )
    assert grown == pytest.approx(experts.largest_model(rack, weight_memory_share=0.5), rel=1e-12)
    assert experts.most_experts(V3, weight_memory_share=0.01) == 0


@pytest.mark.parametrize("model", ["DeepSeek-V3", "Mixtral 8x7B", "Kimi K2", "gpt-oss-120b"])
def test_values_of_a_model_are_its_published_counts(model):
    known, s = experts.expert_values("H200 SXM", model, precision="fp8"), shapes.shape(model)
    routed = known["expert_layers"] * known["experts"] * known["expert_parameters"]
    rest = sum(count for part, count in shapes.breakdown(s).items() if part != "routed experts")
    assert routed + rest == pytest.approx(shapes.total_parameters(s), rel=1e-12)
    assert scenario.values("H200 SXM", model, precision="fp8").items() <= known.items()


# Uneven loads -------------------------------------------------------------------------------------


def test_imbalance_against_drawn_normals():
    # The largest of n normal variables, drawn: √(2 ln n) is above it by what the formula's
    # conventions say.
    draw = np.random.default_rng(5)
    for n, high in ((8, 0.43), (64, 0.23), (320, 0.17)):
        largest = draw.standard_normal((40_000, n)).max(axis=1).mean()
        excess = (
            experts.load_imbalance(devices=n, active_experts=8, batch=1e4 * n / 8) - 1
        )  # mean load 10,000
        assert excess * 100 / largest == pytest.approx(1 + high, abs=0.01)


def test_chance_does_not_explain_a_measured_imbalance():
    # Prefill, 16,384 tokens a GPU: even experts would give 59,337 tokens a second where 50,302 were
    # measured.
    row = get("measured_serving", "sglang_h100_prefill_4k")
    even = float(re.search(r"([\d,]+) with perfectly balanced", row["notes"])[1].replace(",", ""))
    tokens = float(row["batch"].split()[0])
    chance = experts.load_imbalance(
        devices=row["chips"], active_experts=8, batch=tokens * row["chips"]
    )
    assert chance - 1 < 0.01 < 0.1 < even / row["value"] - 1


def test_copies_add_up():
    known = V3 | {"batch": 4096.0, "devices": 64}
    assert (
        experts.copies_per_device(known) * 64 == experts.tokens_per_expert(known) * 256 == 4096 * 8
    )
