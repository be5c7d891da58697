"""Experts over chips: what the all-to-all carries, what leaving a rack costs.

They are in the lecture from 32:09 to 47:12.

Every chip keeps some experts of a layer and a share of the batch.  A token goes to its k experts
and comes back, in every layer: an all-to-all.  Inside a scale-up domain (a node, a rack) it uses
the fast fabric, between domains the network, several times slower.

Two ways to cross are in use, and both are here by name.  One copy an expert, each straight to its
chip (``all_to_all_time``): the lecture's picture, and what decoding kernels do.  One copy a domain,
handed on inside it (``all_to_all_time_once``): what kernels for training and prompts do, with a
router that keeps a token to few domains.

>>> placement(experts=256, devices=72)  # the lecture's example (34:18)
Placement(used=64, each=4, idle=8)
>>> v3 = dict(experts=256, active_experts=8, d_model=7168, dispatch_bytes=1, combine_bytes=2)
>>> f"{all_to_all_bytes(v3):,.0f}"  # bytes that a token moves in one layer
'172,032'
>>> [fraction_leaving(devices=72 * racks, domain_devices=72) for racks in (1, 2, 4)]
[0.0, 0.5, 0.75]
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sympy import Eq, Max, Min, ceiling, floor, log, sqrt

from .latency import expert_coverage
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(
    n,
    o,
    n_up,
    B,
    new,
    u,
    E,
    k,
    d,
    w_out,
    w_back,
    w,
    c,
    F,
    BW,
    C,
    BW_up,
    BW_out,
    R_max,
    N_1,
    N_total,
    N_routed,
    layers,
    mu,
) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.one_device,
        q.domain_devices,
        q.batch,
        q.new_tokens_per_sequence,
        q.one_token,
        q.experts,
        q.active_experts,
        q.d_model,
        q.dispatch_bytes,
        q.combine_bytes,
        q.bytes_per_parameter,
        q.flops_per_multiply_add,
        q.peak_flops,
        q.memory_bandwidth,
        q.memory_capacity,
        q.scale_up_bandwidth,
        q.scale_out_bandwidth,
        q.domain_limit,
        q.expert_parameters,
        q.total_parameters,
        q.routed_parameters,
        q.expert_layers,
        q.weight_memory_share,
    )
)

_tokens = B * new / n  # of one chip, in a step
_there_and_back = d * (w_out + w_back)  # bytes of one copy
_V3 = "DeepSeek-AI 2024, DeepSeek-V3 Technical Report"
_UNIFORM = "every expert is as likely as any other"
_WHOLE = "experts are placed whole, and the chip that holds most sets the pace"
E_n = q.experts_per_device.symbol

# Where the experts lie ----------------------------------------------------------------------------

experts_per_device = Formula(
    q.experts_per_device,
    ceiling(E / n),
    source="34:18",
    meaning="experts on the chip that holds most",
    known_as=("expert placement",),
    conventions=("the slowest chip sets the pace, so the fullest one counts",),
)

devices_in_use = Formula(
    q.devices_in_use,
    ceiling(E / q.experts_per_device.symbol),
    using=(experts_per_device,),
    source="34:18",
    meaning="chips that suffice without giving any of them more experts",
)

tokens_per_expert = Formula(
    q.tokens_per_expert,
    new * B * k / E,
    source="derived",
    meaning="tokens that one expert works on in a step",
    known_as=("batch of an expert",),
    conventions=(
        "the batch of all chips that share the experts",
        _UNIFORM,
        "one copy of each expert: redundant copies share its tokens",
    ),
)

scale_up_domains = Formula(
    q.scale_up_domains,
    1 + floor((n - o) / n_up),  # a ceiling, which SymPy mistakes within Max
    source="39:39",
    meaning="domains over which the chips are spread evenly",
)

fraction_leaving = Formula(
    q.fraction_leaving,
    1 - 1 / q.scale_up_domains.symbol,
    using=(scale_up_domains,),
    source="39:39",
    meaning="share of a token's copies that go to another domain: half of them for two racks",
    conventions=(_UNIFORM, "domains of equal size"),
    derivation=lambda: _derive_fraction_leaving(),
)

domains_reached = Formula(
    q.domains_reached,
    q.scale_up_domains.symbol * (1 - q.fraction_leaving.symbol**k),
    using=(scale_up_domains, fraction_leaving),
    source="derived",
    meaning="expected number of domains that hold at least one of a token's experts",
    conventions=(
        _UNIFORM,
        "independent picks: 1 % below the exact count for 8 of 256, 9 % for 4 of 16",
        "domain_devices=1 gives the chips that a token reaches",
    ),
    derivation=lambda: _derive_domains_reached(),
)

# What travels -------------------------------------------------------------------------------------

all_to_all_bytes = Formula(
    q.all_to_all_bytes,
    k * _there_and_back,
    source=f"34:51; {_V3}",
    meaning="one copy of the activation to each expert, and one answer back from each",
    conventions=(
        "out (dispatch) and back (combine) may differ in precision: DeepSeek sends fp8, gets bf16",
        "scales and indices left out: about 3 % for fp8 in blocks of 128",
    ),
)

copies_inside = Formula(
    q.copies_inside,
    k * (1 / q.scale_up_domains.symbol - o / n),
    using=(scale_up_domains,),
    source="derived",
    meaning="copies for other chips of the same domain",
    conventions=(_UNIFORM, "one copy an expert"),
)

copies_leaving = Formula(
    q.copies_leaving,
    k * q.fraction_leaving.symbol,
    using=(fraction_leaving,),
    source="39:39",
    meaning="copies for other domains",
    conventions=(_UNIFORM, "one copy an expert"),
)

copies_leaving_once = Formula(
    q.copies_leaving,
    q.fraction_leaving.symbol * Min(R_max, q.domains_reached.symbol),
    using=(fraction_leaving, domains_reached),
    name="copies_leaving_once",
    source=f"{_V3}, section 3.2.2",
    meaning="copies for other domains, when each domain gets one and hands it on",
    conventions=(
        "at most domain_limit domains a token; without a limit, give the number of domains",
        "a limit is taken as reached; a router by scores stays 1 to 4 % below",
    ),
)

# How long it takes --------------------------------------------------------------------------------

bandwidth_ratio = Formula(
    q.bandwidth_ratio,
    BW_up / BW_out,
    source="38:47; depends on the port",
    meaning="how much faster the fabric inside a domain is than the network between domains",
    conventions=("one direction, per chip", "the lecture says 8; chips differ: see generations()"),
)

scale_up_time = Formula(
    q.scale_up_time,
    _tokens * q.copies_inside.symbol * _there_and_back / BW_up,
    using=(copies_inside,),
    source="38:35",
    meaning="time for the copies that stay in the domain",
    conventions=(
        "a switch: any pair of chips at full rate, which a torus does not give",
        "latency left out",
    ),
)

scale_out_time = Formula(
    q.scale_out_time,
    _tokens * q.copies_leaving.symbol * _there_and_back / BW_out,
    using=(copies_leaving,),
    source="39:39",
    meaning="time for the copies that leave the domain",
    conventions=(
        "every chip has a port of its own",
        "latency left out: some 50 µs each way on InfiniBand",
    ),
)

all_to_all_time = Formula(
    q.all_to_all_time,
    Max(q.scale_up_time.symbol, q.scale_out_time.symbol),
    using=(scale_up_time, scale_out_time),
    source="39:39",
    meaning="the slower of fabric and network",
    known_as=("MoE dispatch and combine", "expert-parallel communication"),
    conventions=("both work at once", "mean load: the busiest link takes longer by load_imbalance"),
)

scale_up_time_once = Formula(
    q.scale_up_time,
    _tokens * k * (1 - o / Min(n, n_up)) * _there_and_back / BW_up,
    name="scale_up_time_once",
    source=f"{_V3}, section 3.2.2",
    meaning="time to hand copies on inside their domain",
    conventions=(_UNIFORM, "the one in n↑ copies that lands on its chip is not handed on"),
)

scale_out_time_once = Formula(
    q.scale_out_time,
    _tokens * q.copies_leaving.symbol * _there_and_back / BW_out,
    using=(copies_leaving_once,),
    name="scale_out_time_once",
    source=f"{_V3}, section 3.2.2",
    meaning="time between domains when each domain gets a token once",
    conventions=("latency left out",),
)

all_to_all_time_once = Formula(
    q.all_to_all_time,
    Max(q.scale_up_time.symbol, q.scale_out_time.symbol),
    using=(scale_up_time_once, scale_out_time_once),
    name="all_to_all_time_once",
    source=f"{_V3}, section 3.2.2",
    conventions=("both work at once",),
    meaning="the slower of fabric and network when each domain gets a token once",
)

communication_time = Formula(
    q.communication_time,
    layers * q.all_to_all_time.symbol,
    using=(all_to_all_time,),
    source="derived",
    meaning="the all-to-alls of a whole step",
    known_as=("expert-parallel communication of a step",),
    conventions=("one copy an expert", "none of it hidden"),
)

active_experts_for_free = Formula(
    q.active_experts,
    R_max * q.bandwidth_ratio.symbol,
    using=(bandwidth_ratio,),
    name="active_experts_for_free",
    source=f"{_V3}, section 3.2.2",
    meaning="experts a token may use before handing copies on takes longer than crossing",
    conventions=("one copy for each of domain_limit domains, none of them the token's own",),
    derivation=lambda: _derive_active_experts(),
)

crossing_slowdown = Formula(
    q.crossing_slowdown,
    Max(1 - q.fraction_leaving.symbol, q.bandwidth_ratio.symbol * q.fraction_leaving.symbol),
    using=(fraction_leaving, bandwidth_ratio),
    source="39:39; derived",
    meaning="all-to-all time over that of one domain large enough for all chips",
    conventions=("one copy an expert", "the one in n copies that stay on their chip neglected"),
)

# What hides it ------------------------------------------------------------------------------------

expert_weight_time = Formula(
    q.expert_weight_time,
    w * E_n * N_1 * q.expert_coverage.symbol / BW,
    using=(experts_per_device, expert_coverage),
    source="derived",
    meaning="time to read the experts of one layer that the batch wakes, on the fullest chip",
    conventions=(_WHOLE,),
)

expert_compute_time = Formula(
    q.expert_compute_time,
    c * new * B * k * N_1 * E_n / (E * F),
    using=(experts_per_device,),
    source="derived",
    meaning="time of two FLOPs for each weight, expert and token, on the fullest chip",
    conventions=(_WHOLE, _UNIFORM),
)

expert_layer_time = Formula(
    q.expert_layer_time,
    Max(q.expert_weight_time.symbol, q.expert_compute_time.symbol),
    using=(expert_weight_time, expert_compute_time),
    source="derived",
    meaning="the slower of reading the experts and computing with them",
    conventions=("routed experts only", "dense peak, perfect balance: a floor"),
)

_read_all = Formula(
    q.expert_weight_time,
    w * E_n * N_1 / BW,
    register=False,
    source="derived",
    meaning="time to read all experts of one layer, on the fullest chip",
)
_compute = Formula(
    q.expert_compute_time,
    c * new * B * k * N_1 * E_n / (E * F),
    register=False,
    source="derived",
    meaning="the experts' arithmetic on the fullest chip",
)

_ALONE = (
    "hidden by the routed experts alone; attention and shared experts of a second half-batch "
    "hide more"
)

hiding_batch = Formula(
    q.hiding_batch,
    w * E_n * n * N_1 * BW_out / (new * q.copies_leaving.symbol * _there_and_back * BW),
    using=(copies_leaving, experts_per_device),
    source="derived",
    meaning="batch, over all chips, up to which crossing takes no longer than reading the experts",
    conventions=(
        _ALONE,
        "every expert is read",
        "one copy an expert",
        "infinite where nothing leaves",
        _WHOLE,
    ),
    derivation=lambda: _derive_hiding_batch(),
)

hiding_bandwidth = Formula(
    q.hiding_bandwidth,
    q.copies_leaving.symbol * _there_and_back * F * E / (c * k * N_1 * E_n * n),
    using=(copies_leaving, experts_per_device),
    source="derived",
    meaning="scale-out bandwidth from which crossing takes no longer than the experts' arithmetic",
    conventions=(_ALONE, "one copy an expert"),
    derivation=lambda: _derive_hiding_bandwidth(),
)

hiding_bandwidth_once = Formula(
    q.hiding_bandwidth,
    q.copies_leaving.symbol * _there_and_back * F * E / (c * k * N_1 * E_n * n),
    using=(copies_leaving_once, experts_per_device),
    name="hiding_bandwidth_once",
    source="derived",
    meaning="scale-out bandwidth from which crossing takes no longer than the experts' "
    "arithmetic, where each domain gets a token once",
    conventions=(_ALONE, "one copy a domain"),
)

hiding_bandwidth_inside = Formula(
    q.hiding_bandwidth,
    q.copies_inside.symbol * _there_and_back * F * E / (c * k * N_1 * E_n * n),
    using=(copies_inside, experts_per_device),
    name="hiding_bandwidth_inside",
    source="derived",
    meaning="scale-up bandwidth from which the traffic inside takes no longer than the experts' "
    "arithmetic",
    conventions=(_ALONE, "one copy an expert"),
)

# What fits ----------------------------------------------------------------------------------------

largest_model = Formula(
    q.total_parameters,
    mu * n_up * C / w,
    name="largest_model",
    source="46:52",
    meaning="weights that one domain holds beside its caches",
    conventions=("weights take a stated share of memory",),
)

most_experts = Formula(
    q.experts,
    Max(0, mu * n_up * C / w - (N_total - N_routed)) / (layers * N_1),
    name="most_experts",
    source="46:52",
    meaning="experts a layer that one domain holds when the rest of the model stays as it is",
    conventions=("weights take a stated share of memory", "0 where the rest alone does not fit"),
)

# Uneven loads -------------------------------------------------------------------------------------

copies_per_device = Formula(
    q.copies_per_device,
    new * B * k / n,
    source="derived",
    meaning="copies that one chip gets in a layer, on average",
)

load_imbalance = Formula(
    q.load_imbalance,
    1 + sqrt(2 * log(n / o) * u / (q.copies_per_device.symbol * o)),
    using=(copies_per_device,),
    source="derived (largest of n normal variables)",
    meaning="busiest chip over the mean when the router is uniform: what chance alone does",
    known_as=("expert load imbalance", "hot expert"),
    conventions=(
        "uniform, independent routing; a real router is skewed besides, which no batch cures",
        "8 copies a chip or more; with fewer the busiest chip gets more than this",
        "the largest of n normal variables lies below √(2 ln n): the excess over 1 is too high, by "
        "43 % for 8 chips, 23 % for 64, 17 % for 320; see simulate.fabric.expected_imbalance",
    ),
)


class Placement(NamedTuple):
    """A placement: chips that hold experts, experts on the fullest of them, chips left over."""

    used: int
    each: int
    idle: int


def placement(experts: int, devices: int) -> Placement:
    """Spread the experts of a layer over chips.

    As few as can be are on the fullest chip, and then on as few chips as can be.

    Both are whole numbers, 1 or more; ValueError says so otherwise.  Chips left over can hold
    second copies of busy experts, or shared ones.

    >>> placement(256, 320)  # a published decoding unit: 64 chips keep spare copies
    Placement(used=256, each=1, idle=64)
    >>> placement(256.5, 64)
    Traceback (most recent call last):
    ...
    ValueError: experts must be a whole number, 1 or more; got 256.5.
    """
    for name, count in (("experts", experts), ("devices", devices)):
        if (
            isinstance(count, bool)
            or not isinstance(count, (int, float))
            or not count >= 1
            or count % 1
        ):
            raise ValueError(f"{name} must be a whole number, 1 or more; got {count!r}.")
    each = -(-experts // devices)
    used = -(-experts // each)
    return Placement(int(used), int(each), int(devices - used))


# Facts --------------------------------------------------------------------------------------------


class Generation(NamedTuple):
    """A chip's scale-up domain.

    It has chips, memory in bytes, and bandwidth inside over outside (None where it is not known).
    """

    name: str
    year: int
    devices: int
    memory: float
    ratio: float | None


def generations(network: str | None = None) -> list[Generation]:
    """Return the scale-up domain of every chip in the facts, oldest first.

    `network` names a row of interconnects that replaces the chips' own ports.

    >>> [
    ...     (g.name, g.devices, round(g.ratio))
    ...     for g in generations()
    ...     if g.name in ("H100 SXM", "GB200 NVL72")
    ... ]
    [('H100 SXM', 8, 9), ('GB200 NVL72', 72, 18)]
    >>> [
    ...     round(g.ratio) for g in generations("InfiniBand NDR") if g.name == "GB200 NVL72"
    ... ]  # 400 Gb/s a chip
    [18]
    """
    from .facts import get, load

    port = get("interconnects", network)["one_direction_bytes_per_s"] if network else None
    rows = []
    for row in load("accelerators"):
        up, out = (
            row[f"{wire}_bw_per_chip_one_direction_bytes_per_s"] for wire in ("scaleup", "scaleout")
        )
        out = port or out
        ratio = (
            bandwidth_ratio(scale_up_bandwidth=up, scale_out_bandwidth=out) if up and out else None
        )
        rows.append(
            Generation(
                row.name,
                row["year_announced"],
                row["scaleup_domain_chips"],
                row["scaleup_domain_chips"] * row["hbm_capacity_bytes"],
                ratio,
            )
        )
    return sorted(rows, key=lambda g: g.year)


def expert_values(
    hardware: str, model: str, network: str | None = None, **choice: Any
) -> dict[str, float | None]:
    """Return values of symbols for these formulas.

    They are the `scenario.values` of a model that has experts.

    `network` names a row of interconnects that replaces the chip's own port; a bandwidth not known
    is None.  A model without routed experts raises ScenarioError.

    >>> v = expert_values("H100 SXM", "DeepSeek-V3", precision="fp8")
    >>> round(
    ...     v["expert_layers"] * v["experts"] * v["expert_parameters"] / v["routed_parameters"], 12
    ... )
    1.0
    >>> expert_values("H100 SXM", "Llama 3.1 8B")
    Traceback (most recent call last):
    ...
    handful.scenario.ScenarioError: Llama 3.1 8B has no routed experts;
    a model with experts is allowed.
    """
    from . import scenario
    from .facts import get

    known = scenario.values(hardware, model, **choice)
    if known["expert_layers"] is None:
        raise scenario.ScenarioError(
            f"{model} has no routed experts; a model with experts is allowed."
        )
    if network:
        known["scale_out_bandwidth"] = get("interconnects", network)["one_direction_bytes_per_s"]
    return known


# Derivations --------------------------------------------------------------------------------------

_phi, _R = q.fraction_leaving.symbol, q.scale_up_domains.symbol


def _derive_fraction_leaving() -> Derivation:
    d_ = Derivation("How much of the traffic leaves a rack")
    d_.start(Eq(_phi, (n - n_up) / n), "every chip is as likely as any other; n − n↑ are elsewhere")
    d_.substitute({"devices": _R * n_up}, "the chips fill R↑ domains of equal size")
    d_.claim(Eq(_phi, 1 - 1 / _R), "the size of a domain cancels: (R↑ − 1)/R↑, one half for two")
    return d_


def _derive_domains_reached() -> Derivation:
    d_ = Derivation("How many domains a token's experts lie in")
    d_.start(
        Eq(q.domains_reached.symbol, _R * (1 - _phi**k)),
        "a domain is missed when all k picks fall outside it; expectations add up over domains",
    )
    d_.substitute(fraction_leaving, "the share outside one domain")
    return d_


def _derive_active_experts() -> Derivation:
    d_ = Derivation("How many experts cost no more than the domains they lie in")
    handing_on, crossing = (
        Formula(
            time,
            _tokens * copies * _there_and_back / rate,
            register=False,
            source=_V3,
            meaning="bytes over rate",
        )
        for time, copies, rate in ((q.scale_up_time, k, BW_up), (q.scale_out_time, R_max, BW_out))
    )
    d_.equate(handing_on, crossing, "handing every copy on takes as long as crossing once a domain")
    d_.solve("active_experts", "batch, width and bytes cancel")
    d_.substitute(
        {"scale_up_bandwidth": q.bandwidth_ratio.symbol * BW_out}, "the ratio of the wires is left"
    )
    return d_


def _derive_hiding_batch() -> Derivation:
    d_ = Derivation("The batch up to which reading the experts hides the crossing")
    d_.equate(
        scale_out_time, _read_all, "crossing takes as long as reading the experts: at which batch?"
    )
    d_.solve(
        "batch",
        "where the experts divide evenly, chips times experts a chip are all experts, whatever "
        "the chips",
    )
    d_.substitute(copies_leaving, "one copy an expert, of which a share leaves")
    return d_


def _derive_hiding_bandwidth() -> Derivation:
    d_ = Derivation("The bandwidth from which arithmetic hides the crossing")
    d_.equate(scale_out_time, _compute, "crossing takes as long as computing: on which network?")
    d_.solve(
        "scale_out_bandwidth", "the batch cancels: no batch hides what this bandwidth does not"
    )
    d_.substitute(
        copies_leaving, "the number of active experts cancels too; the width of an expert does not"
    )
    return d_
