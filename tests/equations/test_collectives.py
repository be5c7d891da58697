"""Tests of collectives against a simulation step by step, and against published figures."""

import itertools

import pytest
import sympy

from handful import collectives
from handful.symbolic.formula import Formula
from handful.symbolic.quantities import QuantityError
from handful_evidence.simulate import collectives as simulated

LINK = {"link_bandwidth": 45e9, "hop_latency": 1e-6}
OF_TORUS = {
    "all_gather": simulated.all_gather,
    "reduce_scatter": simulated.reduce_scatter,
    "all_reduce": simulated.all_reduce,
    "all_to_all": simulated.all_to_all,
}


def _derived(thing) -> bool:
    return isinstance(thing, Formula) and thing._derivation is not None


def _time(network, collective, **known):
    return getattr(collectives, f"{network}_{collective}_time")(known)


# Against the simulation ---------------------------------------------------------------------------


@pytest.mark.parametrize("collective", OF_TORUS)
@pytest.mark.parametrize("devices", [1, 2, 3, 4, 7, 8, 16])
@pytest.mark.parametrize("size", [1e3, 1e9])
def test_a_ring_takes_as_long_as_its_steps(collective, devices, size):
    seen = OF_TORUS[collective](devices, 1, size, **LINK)
    known = dict(LINK, devices=devices, collective_bytes=size)
    assert _time("ring", collective, **known) == pytest.approx(seen.time, abs=1e-15)
    # A bandwidth so low that latency is nothing leaves the bytes of the busiest link.
    bare = dict(known, hop_latency=0)
    assert _time("ring", collective, **bare) * 45e9 == pytest.approx(seen.busiest)
    # A ring is a torus of one axis.
    assert _time("torus", collective, **known, torus_axes=1) == pytest.approx(
        _time("ring", collective, **known), abs=1e-15
    )


@pytest.mark.parametrize("collective", OF_TORUS)
@pytest.mark.parametrize("side, axes", [(2, 2), (3, 2), (4, 2), (5, 2), (2, 3), (3, 3), (4, 3)])
def test_a_torus_takes_as_long_as_its_steps(collective, side, axes):
    seen = OF_TORUS[collective](side, axes, 1e8, **LINK)
    known = dict(LINK, devices=side**axes, torus_axes=axes, collective_bytes=1e8)
    assert _time("torus", collective, **known) == pytest.approx(seen.time)


@pytest.mark.parametrize("devices", [1, 2, 5, 8])
def test_a_line_takes_as_long_as_its_steps(devices):
    seen = simulated.line_all_gather(devices, 1e8, **LINK)
    found = collectives.line_all_gather_time(LINK, devices=devices, collective_bytes=1e8)
    assert found == pytest.approx(seen.time, abs=1e-15)


@pytest.mark.parametrize("devices", [1, 2, 5, 8, 72])
def test_a_switch_takes_as_long_as_its_busiest_link(devices):
    known = dict(LINK, devices=devices, collective_bytes=1e9)
    pairs = list(itertools.permutations(range(devices), 2))
    share = dict.fromkeys(pairs, 1e9 / devices)
    piece = dict.fromkeys(pairs, 1e9 / devices**2)
    gather = simulated.through_switch(share, **LINK).time
    assert _time("switch", "all_gather", **known) == pytest.approx(gather)
    assert _time("switch", "reduce_scatter", **known) == pytest.approx(gather)
    assert _time("switch", "all_reduce", **known) == pytest.approx(2 * gather)
    assert _time("switch", "all_to_all", **known) == pytest.approx(
        simulated.through_switch(piece, **LINK).time
    )


@pytest.mark.parametrize(("nodes", "side"), [(1, 8), (2, 8), (4, 8), (3, 5), (16, 2)])
def test_an_all_reduce_over_nodes_takes_as_long_as_its_messages(nodes, side):
    rates = {"inside": 450e9, "between": 50e9}
    seen = simulated.all_reduce_over_nodes(nodes, side, 1e9, **rates, hop_latency=2e-6)
    found = collectives.hierarchical_all_reduce_time(
        scale_up_domains=nodes,
        domain_devices=side,
        collective_bytes=1e9,
        scale_up_bandwidth=450e9,
        scale_out_bandwidth=50e9,
        hop_latency=2e-6,
    )
    assert found == pytest.approx(seen.time)


def test_many_nodes_are_bound_by_what_leaves_a_node():
    """Twice the bytes over a node's 400 GB/s (Austin et al. 2025, on GPUs), for large arrays."""
    known = dict(domain_devices=8, scale_out_bandwidth=50e9, hop_latency=0, collective_bytes=1e9)
    fast = known | {"scale_up_bandwidth": 1e15}
    found = collectives.hierarchical_all_reduce_time(fast, scale_up_domains=1000)
    assert found == pytest.approx(2 * 1e9 / 400e9, rel=2e-3)


def test_a_switch_that_adds_up_sends_every_byte_once():
    known = dict(LINK, devices=8, collective_bytes=1e9)
    found = collectives.switch_all_reduce_time_in_network(known)
    coarse, fine = (
        simulated.reduce_in_switch(8, 1e9, chunks=chunks, **LINK).time for chunks in (10, 10_000)
    )
    assert found == pytest.approx(fine, rel=2e-4) and coarse == pytest.approx(1.1 * found, rel=1e-3)


def test_a_cut_through_a_torus_is_counted_link_by_link():
    for side, axes in [(4, 2), (16, 2), (4, 3), (6, 3)]:
        cut = sum(  # links of the first half that lead into the other, both ways round
            (chip[0] + turn) % side >= side // 2
            for chip in itertools.product(range(side), repeat=axes)
            if chip[0] < side // 2
            for turn in (1, -1)
        )
        assert collectives.torus_bisection_bandwidth(
            devices=side**axes, torus_axes=axes, link_bandwidth=1
        ) == pytest.approx(cut)


# Against published figures ------------------------------------------------------------------------


def test_nccl_tests_divides_by_the_same_factors():
    """Bus bandwidths of doc/PERFORMANCE.md: the port's rate, from size over time."""
    port, size = 450e9, 1e10
    for n in (2, 4, 8, 72):
        known = dict(devices=n, link_bandwidth=port, hop_latency=0, collective_bytes=size)
        rate = {name: size / _time("switch", name, **known) for name in OF_TORUS}
        assert rate["all_reduce"] * 2 * (n - 1) / n == pytest.approx(port)
        assert rate["all_gather"] * (n - 1) / n == pytest.approx(port)
        assert rate["reduce_scatter"] * (n - 1) / n == pytest.approx(port)
        time = _time("switch", "all_reduce", **known)
        assert collectives.all_reduce_bus_bandwidth(known, collective_time=time) == pytest.approx(
            port
        )
        # There the size is that of one chip's share.
        assert rate["all_to_all"] / n * (n - 1) / n == pytest.approx(port)


def test_worked_answers_of_the_scaling_book():
    """How to Scale Your Model, sharding: TPUs with links of 45 GB/s each way, 1 µs a hop."""
    # Pop quiz 2: bf16[2048, 8192] over four chips of a v5e, closed and not closed to a ring.
    large = dict(collective_bytes=2 * 2048 * 8192, devices=4, link_bandwidth=45e9, hop_latency=0)
    many = collectives.ring_all_gather_time(large) * 4 / 3  # there (n − 1)/n counts as 1
    assert many == pytest.approx(377e-6, rel=0.02)
    assert collectives.line_all_gather_time(large) == pytest.approx(560e-6, rel=0.01)
    # The same for bf16[256, 256]: three hops of a microsecond, or "roughly 3 µs", and bytes.
    small = dict(LINK, collective_bytes=2 * 256 * 256, devices=4)
    assert 3e-6 < collectives.line_all_gather_time(small) < 6e-6
    assert collectives.latency_bound_bytes(small) > small["collective_bytes"]
    # Question 2: v4p 4x4x4, bf16[1024, 4096].
    cube = dict(link_bandwidth=45e9, hop_latency=0)
    part = collectives.ring_all_gather_time(cube, devices=4, collective_bytes=2 * 1024 * 4096 / 4)
    whole = collectives.torus_all_gather_time(
        cube, devices=16, torus_axes=2, collective_bytes=2 * 1024 * 4096
    )
    summed = collectives.ring_all_reduce_time(cube, devices=4, collective_bytes=2 * 1024 * 4096)
    assert part * 4 / 3 == pytest.approx(23e-6, rel=0.02)
    assert whole * 16 / 15 == pytest.approx(46e-6, rel=0.02)
    assert summed * 4 / 3 == pytest.approx(190e-6, rel=0.02)
    # Question 3: 256 bytes over four chips take two hops, 2 µs.
    assert collectives.ring_all_gather_time(LINK, devices=4, collective_bytes=256) == pytest.approx(
        2e-6, rel=0.01
    )
    # Question 10: an all-to-all takes a quarter of an all-gather; the book's n − 1 is n.
    many = dict(devices=1000, link_bandwidth=45e9, hop_latency=0, collective_bytes=1e9)
    assert collectives.ring_all_gather_time(many) / collectives.ring_all_to_all_time(
        many
    ) == pytest.approx(4, rel=0.01)
    # Inference, appendix: a buffer of less than 45 kB a hop, 360 kB over eight chips.
    for devices, size in ((1, 45e3), (8, 360e3)):
        assert collectives.latency_bound_bytes(LINK, devices=devices) == pytest.approx(size)


def test_below_the_bound_latency_takes_longer():
    for devices in (3, 8, 64):
        bound = collectives.latency_bound_bytes(LINK, devices=devices)
        at = dict(LINK, devices=devices, collective_bytes=bound)
        bare = collectives.ring_all_gather_time(at, hop_latency=0)
        latency = collectives.ring_all_gather_time(at) - bare
        # Odd numbers of chips: to the bit; even ones have their last hop half empty.
        assert bare / latency == pytest.approx(1 if devices % 2 else (devices - 1) / devices)


@pytest.mark.parametrize(
    "devices, axes, link, bisection, all_reduce",
    [
        (256, 2, 50e9, 1.6e12, 51.2e12),  # TPU v5e: 400 GB/s both ways over 4 ports
        (256, 2, 100e9, 3.2e12, 102.4e12),  # TPU v6e: 800 GB/s both ways over 4 ports
        (4096, 3, 45e9, 24e12, 1.1e15),  # TPU v4: the link is the scaling book's
    ],
)
def test_pods_of_google_have_the_published_bandwidths(devices, axes, link, bisection, all_reduce):
    """Bisection and all-reduce bandwidth of a pod, docs.cloud.google.com/tpu/docs/v5e, v6e, v4."""
    known = dict(devices=devices, torus_axes=axes, link_bandwidth=link)
    assert collectives.torus_bisection_bandwidth(known) == pytest.approx(bisection, rel=0.05)
    # What all chips send in an all-reduce in a second.
    sent = collectives.torus_network_bandwidth(known) * devices
    assert sent == pytest.approx(all_reduce, rel=0.01)
    time = collectives.torus_all_reduce_time(known, hop_latency=0, collective_bytes=1e9)
    assert 2 * 1e9 * (devices - 1) / time == pytest.approx(sent)


@pytest.mark.parametrize(
    "devices, link, oversubscription, bisection",
    [
        (8, 300e9, 1, 2.4e12),  # DGX A100
        (8, 450e9, 1, 3.6e12),  # DGX H100
        (256, 25e9, 1, 6.4e12),  # A100 SuperPOD, 200 Gb/s InfiniBand a GPU
        (256, 450e9, 2, 57.6e12),  # H100 SuperPOD, NVLink switches in a tree tapered 2:1
    ],
)
def test_trees_of_nvidia_have_the_published_bisection(devices, link, oversubscription, bisection):
    """NVIDIA's comparison of A100 and H100 SuperPODs, 2022, which counts both directions."""
    found = collectives.fat_tree_bisection_bandwidth(
        devices=devices, link_bandwidth=link, oversubscription=oversubscription
    )
    assert 2 * found == pytest.approx(bisection)


def test_reduction_in_the_switch_gives_the_published_rate():
    """The same table: all-reduce of 150 GB/s in an A100 node, 450 GB/s where switches add up.

    The first counts n − 1 as n.
    """
    known = dict(devices=8, hop_latency=0, collective_bytes=1e9)
    old = 1e9 / collectives.switch_all_reduce_time(known, link_bandwidth=300e9) * 7 / 8
    new = 1e9 / collectives.switch_all_reduce_time_in_network(known, link_bandwidth=450e9)
    assert (old, new) == (pytest.approx(150e9), pytest.approx(450e9))


def test_reduction_in_the_switch_shows_more_than_the_link_has():
    """Up to 7/4 of it for eight chips."""
    known = dict(devices=8, hop_latency=0, collective_bytes=1e9, link_bandwidth=450e9)
    time = collectives.switch_all_reduce_time_in_network(known)
    found = collectives.all_reduce_bus_bandwidth(known, collective_time=time)
    assert found == pytest.approx(7 / 4 * 450e9)


@pytest.mark.parametrize("name", [n for n, f in vars(collectives).items() if _derived(f)])
def test_derivations_end_in_their_formulas(name):
    formula = getattr(collectives, name)
    assert sympy.simplify(formula.derivation.result - formula.expression) == 0


def test_one_line_with_units_is_enough():
    assert collectives.ring_all_reduce_time(
        collective_bytes="1 GB", devices=8, link_bandwidth="450 GB/s", hop_latency=0
    ) == pytest.approx(1e9 * 7 / 8 / 450e9)
    with pytest.raises(QuantityError, match="at most devices"):
        collectives.ring_all_reduce_time(LINK, collective_bytes=1, devices=0.5)


@pytest.mark.parametrize(
    "ports, levels, devices, switches",
    [
        (48, 3, 27_648, 2_880),  # Al-Fares et al. 2008, section 3: k = 48
        (36, 2, 648, 54),  # Mellanox's largest two-level tree of 36-port switches
        (64, 1, 64, 1),
    ],
)
def test_fat_trees_have_the_published_size(ports, levels, devices, switches):
    tree = dict(switch_ports=ports, tree_levels=levels)
    assert collectives.fat_tree_devices(tree) == pytest.approx(devices)
    assert collectives.fat_tree_switches(tree, devices=devices) == pytest.approx(switches)


@pytest.mark.parametrize("half, levels", [(2, 1), (2, 2), (3, 2), (2, 3), (3, 3)])
def test_a_fat_tree_counted_switch_by_switch(half, levels):
    """Build it from the top: a level's switches have half of their ports up, the top none."""
    down = [half] * (levels - 1) + [2 * half]  # ports towards the chips, the top level last
    devices, at_level = 1, []
    for ports in down:
        devices *= ports
    for level in range(levels):
        links_below = devices  # nothing is lost between two levels
        assert links_below % down[level] == 0
        at_level.append(links_below // down[level])
    tree = dict(switch_ports=2 * half, tree_levels=levels)
    assert collectives.fat_tree_devices(tree) == pytest.approx(devices)
    assert collectives.fat_tree_switches(tree, devices=devices) == pytest.approx(sum(at_level))
