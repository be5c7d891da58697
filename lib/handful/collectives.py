"""Collectives: the time of all-gather, reduce-scatter, all-reduce and all-to-all over many chips.

Three networks: a ring, a torus of as many chips along each axis, and a switch.  Time is that of the
bytes on the busiest link plus a latency for each hop, one after the other.

Whose bytes, and which bandwidth, is where sources differ.  Here ``collective_bytes`` are always
those of the whole array: what every chip holds after an all-gather, what every chip holds a partial
sum of before a reduce-scatter or an all-reduce, and for an all-to-all all chips' shares together.
``link_bandwidth`` is that of one link in one direction.  A chip has two links on a ring, two for
each axis of a torus, all of them used in both directions at once, and one link to a switch.

An all-reduce of a gigabyte over eight chips takes four milliseconds through a switch, and half of
that on a ring, whose chips have two links of that rate:

>>> link = dict(devices=8, link_bandwidth="450 GB/s", hop_latency=0)
>>> round(switch_all_reduce_time(link, collective_bytes="1 GB") * 1e3, 2)
3.89
>>> round(ring_all_reduce_time(link, collective_bytes="1 GB") * 1e3, 2)
1.94
"""

from __future__ import annotations

from sympy import Eq, Expr, Integer, ceiling

from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(V, n, o, W, tau, axes, m, R, up, out) = (
    quantity.symbol
    for quantity in (
        q.collective_bytes,
        q.devices,
        q.one_device,
        q.link_bandwidth,
        q.hop_latency,
        q.torus_axes,
        q.domain_devices,
        q.scale_up_domains,
        q.scale_up_bandwidth,
        q.scale_out_bandwidth,
    )
)

_BOOK = "Austin et al. 2025, How to Scale Your Model, sharding"
_NCCL = "NVIDIA nccl-tests, doc/PERFORMANCE.md"
_RING = (
    "two links a chip, wrapped around, each used in both directions at once: where chips have one "
    "port each, as in NCCL's ring, the time is that through a switch",
    "a hop begins when the one before has ended: its latency is added",
    "bytes of the whole array; adding up takes no time",
)
_TORUS = (
    "as many chips along each axis, wrapped around: two links an axis and chip, each used in both "
    "directions at once",
    "the array is cut into a part for each axis, so that all axes are busy all the time",
    "a hop begins when the one before has ended: its latency is added",
    "bytes of the whole array; adding up takes no time",
)
_SWITCH = (
    "one link from each chip to a switch that is never in the way, used in both directions at once",
    "every chip sends to every other at once: one latency, of the way through the switch",
    "bytes of the whole array; adding up takes no time",
)


def _half(side: Expr) -> Expr:
    """Return the hops to the farthest chip of a ring."""
    return ceiling((side - 1) / 2)


def _way(side: Expr) -> Expr:
    """Return the hops to all chips of a ring together, the shorter way round."""
    return ceiling((side**2 - 1) / 4)


# Ring ---------------------------------------------------------------------------------------------

_chips = n / o
_side = _chips ** (1 / axes)

ring_all_gather_time = Formula(
    q.collective_time,
    V * (n - o) / (2 * n * W) + _half(_chips) * tau,
    name="ring_all_gather_time",
    source=_BOOK,
    meaning="all-gather on a ring of two links a chip: all shares of the others, half of them from "
    "either side",
    conventions=_RING,
)

ring_reduce_scatter_time = Formula(
    q.collective_time,
    ring_all_gather_time.expression,
    name="ring_reduce_scatter_time",
    source=_BOOK,
    meaning="partial sums add up on their way to the chip that keeps a share: an all-gather run "
    "backwards",
    conventions=_RING,
)

ring_all_reduce_time = Formula(
    q.collective_time,
    V * (n - o) / (n * W) + 2 * _half(_chips) * tau,
    name="ring_all_reduce_time",
    source=_BOOK,
    meaning="all-reduce on a ring of two links a chip: a reduce-scatter, then an all-gather",
    conventions=_RING,
)

ring_all_to_all_time = Formula(
    q.collective_time,
    V * _way(_chips) * o**2 / (2 * n**2 * W) + _half(_chips) * tau,
    name="ring_all_to_all_time",
    source=_BOOK,
    meaning="every chip sends each other chip a share of its share, the shorter way round",
    conventions=(
        *_RING,
        "each chip holds 1/n of the array and sends 1/n of that to each other chip",
        "a quarter of an all-gather where chips are many",
    ),
)

line_all_gather_time = Formula(
    q.collective_time,
    V * (n - o) / (n * W) + (_chips - 1) * tau,
    name="line_all_gather_time",
    source=_BOOK,
    meaning="an all-gather on a ring that is not closed: the chip at an end gets everything from "
    "one side",
    conventions=(
        "one link between neighbours, used in both directions at once, and none around",
        *_RING[1:],
        "the same on a ring that is used in one direction only",
    ),
)

# Torus --------------------------------------------------------------------------------------------

torus_network_bandwidth = Formula(
    q.network_bandwidth,
    2 * axes * W / o,
    name="torus_network_bandwidth",
    source="definition",
    meaning="two links an axis and chip",
    conventions=("a torus: links on both sides of a chip", "one direction"),
)

torus_all_gather_time = Formula(
    q.collective_time,
    V * (n - o) / (2 * axes * n * W) + axes * _half(_side) * tau,
    name="torus_all_gather_time",
    source=_BOOK,
    meaning="an all-gather along one axis after the other, with the links of all axes",
    conventions=_TORUS,
)

torus_reduce_scatter_time = Formula(
    q.collective_time,
    torus_all_gather_time.expression,
    name="torus_reduce_scatter_time",
    source=_BOOK,
    meaning="an all-gather run backwards, sums adding up on their way",
    conventions=_TORUS,
)

torus_all_reduce_time = Formula(
    q.collective_time,
    V * (n - o) / (axes * n * W) + 2 * axes * _half(_side) * tau,
    name="torus_all_reduce_time",
    source=_BOOK,
    meaning="all-reduce on a torus: a reduce-scatter, then an all-gather, along all axes",
    conventions=_TORUS,
)

torus_all_to_all_time = Formula(
    q.collective_time,
    V * _way(_side) * o / (2 * _side * n * W) + axes * _half(_side) * tau,
    name="torus_all_to_all_time",
    source="derived",
    meaning="every chip sends each other chip a share of its share, along one axis after the other",
    conventions=(
        *_TORUS,
        "each chip holds 1/n of the array and sends 1/n of that to each other chip",
    ),
)

# Switch -------------------------------------------------------------------------------------------

switch_all_gather_time = Formula(
    q.collective_time,
    V * (n - o) / (n * W) + tau,
    name="switch_all_gather_time",
    source=_NCCL,
    meaning="every chip gets all shares of the others through its one link",
    conventions=(*_SWITCH, "in steps round a ring, as NCCL often sends, there are n − 1 latencies"),
)

switch_reduce_scatter_time = Formula(
    q.collective_time,
    switch_all_gather_time.expression,
    name="switch_reduce_scatter_time",
    source=_NCCL,
    meaning="every chip sends each other chip its partial sums of the share that this one keeps",
    conventions=_SWITCH,
)

switch_all_reduce_time = Formula(
    q.collective_time,
    2 * V * (n - o) / (n * W) + 2 * tau,
    name="switch_all_reduce_time",
    source=_NCCL,
    meaning="all-reduce through a switch, one port a chip: a reduce-scatter, then an all-gather; "
    "chips add up, the switch does not",
    known_as=("NCCL all-reduce, one port a chip",),
    conventions=_SWITCH,
)

switch_all_to_all_time = Formula(
    q.collective_time,
    V * o * (n - o) / (n**2 * W) + tau,
    name="switch_all_to_all_time",
    source=_NCCL,
    meaning="every chip sends each other chip a share of its share",
    conventions=(
        *_SWITCH,
        "each chip holds 1/n of the array and sends 1/n of that to each other chip; NCCL's size is "
        "that of one chip's share",
    ),
)

switch_all_reduce_time_in_network = Formula(
    q.collective_time,
    V / W + tau,
    name="switch_all_reduce_time_in_network",
    source="NVIDIA 2022, H100 Tensor Core GPU Architecture, NVLink SHARP",
    meaning="the switch adds up: a chip's partial sums go out once, and the sums come back",
    known_as=("SHARP", "in-network reduction"),
    conventions=(
        "sums come back while partial sums still go out",
        "half of an all-reduce without it where chips are many; for two chips nothing is won",
        "bytes of the whole array",
    ),
)

hierarchical_all_reduce_time = Formula(
    q.collective_time,
    2 * V * (m - o) / (o * m * up) + 2 * V * (R - 1) / (R * m * out) + 4 * tau,
    name="hierarchical_all_reduce_time",
    source="Austin et al. 2025, How to Scale Your Model, GPUs; derived",
    meaning="all-reduce over several nodes: reduce-scatter within each, all-reduce of the shares "
    "between them, all-gather within each",
    known_as=("all-reduce across nodes", "two-level all-reduce"),
    conventions=(
        "full nodes, or racks, and nothing overlaps: in chunks, the slower of the two networks "
        "decides",
        "every chip sends its own share to its peers in the other nodes, through a port of its own",
        "switches at both levels; two latencies within a node and two between",
        "bytes of the whole array; adding up takes no time",
    ),
    derivation=lambda: _derive_hierarchical(),
)

all_reduce_bus_bandwidth = Formula(
    q.link_bandwidth,
    2 * V * (n - o) / (n * q.collective_time.symbol),
    name="all_reduce_bus_bandwidth",
    source=_NCCL,
    meaning="rate of a chip's link that a measured all-reduce amounts to: nccl-tests' busbw",
    known_as=("NCCL bus bandwidth", "busbw"),
    conventions=(
        "as if chips added up, without latency; reduction in the switch may show more than a link "
        "has",
        "bytes of the whole array, which each chip holds",
    ),
    derivation=lambda: _derive_bus_bandwidth(),
)

# Small arrays, and cuts ---------------------------------------------------------------------------

latency_bound_bytes = Formula(
    q.latency_bound_bytes,
    n * W * tau / o,
    source="Austin et al. 2025, How to Scale Your Model, inference, appendix",
    meaning="array whose share takes as long over a link as an empty message",
    known_as=("latency-bound message size",),
    conventions=(
        "a gather or a reduction on a ring, or along an axis of n chips of a torus",
        "of the whole array: the share of a chip is 1/n of it",
    ),
    derivation=lambda: _derive_latency_bound(),
)

torus_bisection_bandwidth = Formula(
    q.bisection_bandwidth,
    2 * W * _chips / _side,
    name="torus_bisection_bandwidth",
    source="Dally and Towles 2004, Principles and Practices of Interconnection Networks",
    meaning="links that a cut across one axis of a torus goes through: every ring twice",
    conventions=(
        "one direction",
        "as many chips along each axis, an even number; two chips have two links between them",
    ),
)

fat_tree_bisection_bandwidth = Formula(
    q.bisection_bandwidth,
    n * W / (2 * o * q.oversubscription.symbol),
    name="fat_tree_bisection_bandwidth",
    source="Leiserson 1985, Fat-Trees",
    meaning="what half of the chips can send to the other half at once",
    conventions=(
        "one direction: NVIDIA counts both",
        "one link a chip; a single switch is a tree without oversubscription",
        "halves that share no switch of the oversubscribed level",
    ),
)

_CLOS = "Al-Fares et al. 2008, A Scalable, Commodity Data Center Network Architecture"
_NO_OVERSUBSCRIPTION = (
    "no oversubscription: a switch has as many ports up as down, at the top level all down"
)
_LEAST = "to be rounded up, or more where switches are not filled"

fat_tree_devices = Formula(
    q.tree_devices,
    2 * o * (q.switch_ports.symbol / (2 * o)) ** q.tree_levels.symbol,
    name="fat_tree_devices",
    source=_CLOS,
    meaning="chips that a fat tree of equal switches can join",
    known_as=("fat tree size", "Clos network hosts", "how many GPUs a fat tree connects"),
    conventions=(_NO_OVERSUBSCRIPTION, "one port a chip: chips with rails count once on each"),
)

fat_tree_switches = Formula(
    q.tree_switches,
    (2 * q.tree_levels.symbol - 1) * n / q.switch_ports.symbol,
    name="fat_tree_switches",
    source=_CLOS,
    meaning="switches of a fat tree: each level but the top has two ports for every chip",
    known_as=("switches in a fat tree", "number of InfiniBand switches", "leaf and spine switches"),
    conventions=(_NO_OVERSUBSCRIPTION, "one port a chip", _LEAST),
    derivation=lambda: _derive_switches(),
)

# Derivations --------------------------------------------------------------------------------------


def _derive_hierarchical() -> Derivation:
    inside, between = (
        2 * whole * (count - o) / (count * rate)
        for whole, count, rate in ((V, m, up * o), (V * o / m, R * o, out * o))
    )
    d = Derivation("An all-reduce over nodes")
    d.start(
        Eq(q.collective_time.symbol, inside + 2 * tau + between + 2 * tau),
        "all-reduce of the array among the chips of a node, half of it before and half after that "
        "of each chip's share among the nodes",
    )
    d.claim(
        Eq(
            q.collective_time.symbol,
            2 * V * (m - o) / (o * m * up) + 2 * V * (R - 1) / (R * m * out) + 4 * tau,
        ),
        "a share has the bytes of the array over the chips of a node",
    )
    return d


def _derive_bus_bandwidth() -> Derivation:
    d = Derivation("The rate of a link, from the time of an all-reduce")
    d.start(switch_all_reduce_time, "each chip sends 2 (n − 1)/n of the array")
    d.substitute({"hop_latency": Integer(0)}, "a large array: latency does not show")
    d.solve("link_bandwidth", "the same link, from the time")
    return d


def _derive_switches() -> Derivation:
    ports, levels = q.switch_ports.symbol, q.tree_levels.symbol
    d = Derivation("Switches of a fat tree")
    d.start(
        Eq(q.tree_switches.symbol * ports, 2 * (levels - 1) * n + n),
        "every chip takes two ports at each level, one down and one up, and at the top one down",
    )
    d.solve("tree_switches", "divide by the ports of one switch")
    return d


def _derive_latency_bound() -> Derivation:
    d = Derivation("The array below which latency decides")
    d.start(
        Eq(q.latency_bound_bytes.symbol * o / n / W, tau),
        "each hop sends a share, and takes a latency besides",
    )
    d.solve("latency_bound_bytes", "the whole array has as many shares as chips")
    return d
