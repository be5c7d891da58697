"""Sharing a layer's experts: how many chips to use, and what crossing between racks costs them.

``experts`` counts a batch over all chips.  Here the load of a chip is held and chips are added,
since that is the choice that a service has: every chip brings its own sequences, and keeps fewer
experts the more chips there are.

>>> from handful.experts import expert_values
>>> node = expert_values("H100 SXM", "DeepSeek-V3", precision="fp8", context=4989)
>>> node |= {"device_batch": 88, "kv_bytes_per_token": 70272}  # the load that DeepSeek describes
>>> [
...     f"{expert_weight_time_at_load(node, devices=n) * 1e6:.0f} µs" for n in (8, 144)
... ]  # to read its experts
['421 µs', '26 µs']
>>> 16 < fewest_devices(node) < 144  # its service has 144, over 18 nodes
True
"""

from __future__ import annotations

from sympy import Eq, Expr, Max, Min, ceiling

from . import experts
from .latency import cache_memory, expert_coverage
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(
    n,
    n_up,
    B,
    B_n,
    E,
    k,
    R,
    phi,
    ratio,
    k_in,
    k_out,
    coverage,
    new,
    u,
    o,
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
    N_1,
    N_total,
    N_routed,
    mu,
    L,
    b,
    b_0,
    fixed,
    R_max,
    R_k,
    layers,
) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.domain_devices,
        q.batch,
        q.device_batch,
        q.experts,
        q.active_experts,
        q.scale_up_domains,
        q.fraction_leaving,
        q.bandwidth_ratio,
        q.copies_inside,
        q.copies_leaving,
        q.expert_coverage,
        q.new_tokens_per_sequence,
        q.one_token,
        q.one_device,
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
        q.expert_parameters,
        q.total_parameters,
        q.routed_parameters,
        q.weight_memory_share,
        q.context,
        q.kv_bytes_per_token,
        q.window_cache_memory,
        q.kernel_overhead,
        q.domain_limit,
        q.domains_reached,
        q.expert_layers,
    )
)
E_n = q.experts_per_device.symbol

_PER_CHIP = "the batch is given per chip: chips that join bring their own sequences"
_LIMIT = (
    "one copy a rack, handed on inside it",
    "at most domain_limit racks a token, and that limit taken as reached",
)
_V3 = "DeepSeek-AI 2024, DeepSeek-V3 Technical Report"
_KERNELS = "github deepseek-ai/DeepEP docs/legacy.md; derived"

# Counted in racks ---------------------------------------------------------------------------------

fraction_leaving_of_racks = Formula(
    q.fraction_leaving,
    1 - 1 / R,
    name="fraction_leaving_of_racks",
    source="39:39",
    meaning="share of the copies that go to another rack, by the number of racks",
    conventions=("every expert is as likely as any other", "racks of equal size"),
)

devices_of_racks = Formula(
    q.devices,
    R * n_up,
    name="devices_of_racks",
    source="definition",
    meaning="chips of a number of full racks",
)

domains_reached_of_racks = Formula(
    q.domains_reached,
    R * (1 - phi**k),
    name="domains_reached_of_racks",
    using=(fraction_leaving_of_racks,),
    source="derived",
    meaning="expected number of racks that hold one of a token's experts",
    conventions=("every expert is as likely as any other", "independent picks"),
)

copies_leaving_once_of_racks = Formula(
    q.copies_leaving,
    phi * Min(R_max, R_k),
    name="copies_leaving_once_of_racks",
    using=(fraction_leaving_of_racks, domains_reached_of_racks),
    source=f"{_V3}, section 3.2.2",
    meaning="copies for other racks, when each rack gets one and hands it on",
    conventions=_LIMIT,
)

crossing_slowdown_of_racks = Formula(
    q.crossing_slowdown,
    Max(1 - phi, ratio * phi),
    name="crossing_slowdown_of_racks",
    using=(fraction_leaving_of_racks,),
    source="39:39; derived",
    meaning="all-to-all time over that of one fabric for all, by racks and by the ratio of the "
    "bandwidths",
    conventions=("one copy an expert", "fabric and network work at once"),
)

crossing_slowdown_of_chip = Formula(
    q.crossing_slowdown,
    Max(1 - phi, ratio * phi),
    name="crossing_slowdown_of_chip",
    using=(fraction_leaving_of_racks, experts.bandwidth_ratio),
    source="39:39; derived",
    meaning="all-to-all time over that of one fabric for all, by racks and by a chip's bandwidths",
    conventions=("one copy an expert",),
)

crossing_slowdown_once = Formula(
    q.crossing_slowdown,
    Max(1, ratio * k_out / k),
    name="crossing_slowdown_once",
    using=(copies_leaving_once_of_racks,),
    source=f"{_V3}, section 3.2.2; derived",
    meaning="all-to-all time over that of one fabric for all, when each rack gets a token once "
    "and hands it on",
    conventions=(
        *_LIMIT,
        "answers are added up in their rack before they come back",
        "the one in n copies that stay on their chip neglected",
    ),
)

domain_memory = Formula(
    q.domain_memory, n_up * C, source="45:44", meaning="chips of a domain, times the memory of each"
)

domains_to_hold = Formula(
    q.scale_up_domains,
    Max(1, w * N_total / (mu * n_up * C)),
    name="domains_to_hold",
    source="46:52",
    meaning="domains that the weights fill, when they may take a stated share of the memory",
    conventions=("not rounded up: what is left of the last one holds caches",),
)

crossing_slowdown_once_of_chip = Formula(
    q.crossing_slowdown,
    Max(1, ratio * k_out / k),
    name="crossing_slowdown_once_of_chip",
    using=(copies_leaving_once_of_racks, experts.bandwidth_ratio),
    source=f"{_V3}, section 3.2.2; derived",
    meaning="all-to-all time over that of one fabric for all, when each rack gets a token once, "
    "by a chip's bandwidths",
    conventions=_LIMIT,
)

# What one chip sends, by racks --------------------------------------------------------------------

_bytes = d * (w_out + w_back)  # of one copy, there and back

copies_inside_of_racks = Formula(
    q.copies_inside,
    k * (1 / R - o / (R * n_up)),
    name="copies_inside_of_racks",
    source="39:39",
    meaning="copies for other chips of the same rack",
    conventions=("one copy an expert",),
)

copies_leaving_of_racks = Formula(
    q.copies_leaving,
    k * phi,
    name="copies_leaving_of_racks",
    using=(fraction_leaving_of_racks,),
    source="39:39",
    meaning="copies for other racks",
    conventions=("one copy an expert",),
)

copies_handed_on = Formula(
    q.copies_inside,
    k * (1 - o / n_up),
    name="copies_handed_on",
    source=f"{_V3}, section 3.2.2",
    meaning="copies that cross a fabric when each rack gets one and hands it on",
    conventions=("the one in n↑ copies that lands on its chip is not handed on",),
)


def _link(
    gives: q.Quantity, copies: Expr, rate: Expr, by: Formula, name: str, meaning: str
) -> Formula:
    """Return the formula for the time of a chip's link for the copies of its own tokens."""
    return Formula(
        gives,
        new * B_n * copies * _bytes / rate,
        name=name,
        using=(by,),
        source="39:39",
        meaning=meaning,
        conventions=("latency left out", _PER_CHIP),
    )


fabric_time = _link(
    q.scale_up_time,
    k_in,
    BW_up,
    copies_inside_of_racks,
    "fabric_time",
    "time of a chip's link to the fabric of its rack, one copy an expert",
)
fabric_time_once = _link(
    q.scale_up_time,
    k_in,
    BW_up,
    copies_handed_on,
    "fabric_time_once",
    "time of a chip's link to the fabric of its rack, one copy a rack",
)
network_time = _link(
    q.scale_out_time,
    k_out,
    BW_out,
    copies_leaving_of_racks,
    "network_time",
    "time of a chip's port to the network, one copy an expert",
)
network_time_once = _link(
    q.scale_out_time,
    k_out,
    BW_out,
    copies_leaving_once_of_racks,
    "network_time_once",
    "time of a chip's port to the network, one copy a rack",
)

# Time, for a batch over racks ---------------------------------------------------------------------

_tokens = B * new / (R * n_up)  # of one chip

one_fabric_time = Formula(
    q.scale_up_time,
    _tokens * k * (1 - o / (R * n_up)) * _bytes / BW_up,
    name="one_fabric_time",
    source="38:47",
    meaning="time if one fabric joined the chips of all racks",
    conventions=("latency left out",),
)

scale_out_time_of_racks = Formula(
    q.scale_out_time,
    _tokens * k * phi * _bytes / BW_out,
    name="scale_out_time_of_racks",
    using=(fraction_leaving_of_racks,),
    source="39:39",
    meaning="time for the copies that leave their rack",
    conventions=("one copy an expert", "latency left out"),
)

scale_out_time_once_of_racks = Formula(
    q.scale_out_time,
    _tokens * k_out * _bytes / BW_out,
    name="scale_out_time_once_of_racks",
    using=(copies_leaving_once_of_racks,),
    source=f"{_V3}, section 3.2.2",
    meaning="time between racks when each rack gets a token once",
    conventions=(*_LIMIT, "latency left out"),
)

experts_per_device_of_racks = Formula(
    q.experts_per_device,
    ceiling(E / (R * n_up)),
    name="experts_per_device_of_racks",
    source="33:37",
    meaning="experts on the chip that holds most, over all chips of the racks",
    conventions=(experts._WHOLE,),
)

expert_weight_time_of_racks = Formula(
    q.expert_weight_time,
    w * E_n * N_1 * coverage / BW,
    name="expert_weight_time_of_racks",
    using=(experts_per_device_of_racks, expert_coverage),
    source="derived",
    meaning="time to read the experts that the batch wakes, on the fullest chip",
    conventions=(experts._WHOLE,),
)

expert_compute_time_of_racks = Formula(
    q.expert_compute_time,
    c * new * B * k * N_1 * E_n / (E * F),
    name="expert_compute_time_of_racks",
    using=(experts_per_device_of_racks,),
    source="derived",
    meaning="time of the experts' arithmetic on the fullest chip",
    conventions=(experts._WHOLE,),
)

expert_layer_time_of_racks = Formula(
    q.expert_layer_time,
    Max(q.expert_weight_time.symbol, q.expert_compute_time.symbol),
    name="expert_layer_time_of_racks",
    using=(expert_weight_time_of_racks, expert_compute_time_of_racks),
    source="derived",
    meaning="the slower of reading the experts and computing with them",
    conventions=("routed experts only", "dense peak, perfect balance: a floor"),
)

all_to_all_time_of_racks = Formula(
    q.all_to_all_time,
    Max(
        _tokens * k * (1 / R - o / (R * n_up)) * _bytes / BW_up,
        q.scale_out_time.symbol,
    )
    + 2 * fixed,
    name="all_to_all_time_of_racks",
    using=(scale_out_time_of_racks,),
    source="39:39; derived",
    meaning="the slower of fabric and network, and what a journey takes whatever its bytes",
    conventions=("one copy an expert", "both work at once", "the constant out and back"),
)

layer_time_of_racks = Formula(
    q.layer_time,
    q.expert_layer_time.symbol + q.all_to_all_time.symbol,
    name="layer_time_of_racks",
    using=(expert_layer_time_of_racks, all_to_all_time_of_racks),
    source="derived",
    meaning="a layer of experts from the start of its tokens to the last answer: journeys and work "
    "in turn, since no expert can work on what has not arrived",
    conventions=("one batch at a time, so that nothing hides the journeys",),
)

_own_step = (w * (N_total - N_routed) / o + B * cache_memory.expression / (R * n_up)) / BW

step_time_of_racks = Formula(
    q.step_time,
    _own_step + layers * q.layer_time.symbol,
    name="step_time_of_racks",
    using=(layer_time_of_racks,),
    source="derived",
    meaning="a chip reads its caches and its copy of the weights that all use; then come the "
    "layers of experts",
    conventions=(
        "data-parallel attention",
        "no arithmetic of attention",
        "experts and attention in turn",
        "one batch at a time, so that nothing hides the journeys",
    ),
)

step_time_once_of_racks = Formula(
    q.step_time,
    _own_step
    + layers
    * (
        q.expert_layer_time.symbol
        + Max(_tokens * k * (1 - o / n_up) * _bytes / BW_up, q.scale_out_time.symbol)
        + 2 * fixed
    ),
    name="step_time_once_of_racks",
    using=(expert_layer_time_of_racks, scale_out_time_once_of_racks),
    source="derived",
    meaning="a step whose layers are spread over racks, each of which gets a token once",
    conventions=(
        *_LIMIT,
        "handing on and crossing work at once, and handing on adds no constant of its own",
        "one batch at a time, so that nothing hides the journeys",
    ),
)

expert_coverage_of_model_copies = Formula(
    q.expert_coverage,
    1 - (1 - k / E) ** (new * B / (R * u)),
    name="expert_coverage_of_model_copies",
    source="derived",
    meaning="share of the experts that a rack's part of the batch wakes",
    conventions=("every expert is as likely as any other", "the batch divides evenly"),
)

step_time_of_model_copies = Formula(
    q.step_time,
    _own_step
    + layers
    * (
        ceiling(E / n_up) * N_1 * Max(w * coverage / BW, c * new * B * k / (R * E * F))
        + _tokens * k * (1 - o / n_up) * _bytes / BW_up
        + 2 * fixed
    ),
    name="step_time_of_model_copies",
    using=(expert_coverage_of_model_copies,),
    source="derived",
    meaning="a step of racks that hold a copy of the model each and share the batch",
    conventions=(
        "the batch divides evenly",
        "one batch at a time, so that nothing hides the journeys",
    ),
)

hiding_batch_of_racks = Formula(
    q.hiding_batch,
    w * E_n * R * n_up * N_1 * BW_out / (new * k * phi * _bytes * BW),
    name="hiding_batch_of_racks",
    using=(fraction_leaving_of_racks, experts_per_device_of_racks),
    source="derived",
    meaning="batch, over all racks, up to which crossing takes no longer than reading the experts",
    conventions=(
        "one copy an expert",
        "every expert is read",
        "hidden by the routed experts alone",
    ),
)

hiding_batch_once_of_racks = Formula(
    q.hiding_batch,
    w * E_n * R * n_up * N_1 * BW_out / (new * k_out * _bytes * BW),
    name="hiding_batch_once_of_racks",
    using=(copies_leaving_once_of_racks, experts_per_device_of_racks),
    source="derived",
    meaning="batch, over all racks, up to which crossing takes no longer than reading the "
    "experts, when each rack gets a token once",
    conventions=(*_LIMIT, "every expert is read", "hidden by the routed experts alone"),
)

# Time, at a load per chip -------------------------------------------------------------------------

expert_coverage_at_load = Formula(
    q.expert_coverage,
    1 - (1 - k / E) ** (new * B_n * n / u),
    name="expert_coverage_at_load",
    source="derived",
    meaning="share of the experts that the sequences of all chips wake",
    conventions=("every expert is as likely as any other", _PER_CHIP),
)

expert_weight_time_at_load = Formula(
    q.expert_weight_time,
    w * E_n * N_1 * coverage / BW,
    name="expert_weight_time_at_load",
    using=(experts.experts_per_device, expert_coverage_at_load),
    source="derived",
    meaning="time to read the experts that the fullest chip keeps: the more chips, the fewer each "
    "keeps",
    conventions=(_PER_CHIP, experts._WHOLE),
)

expert_compute_time_at_load = Formula(
    q.expert_compute_time,
    c * new * B_n * n * k * N_1 * E_n / (E * F),
    name="expert_compute_time_at_load",
    using=(experts.experts_per_device,),
    source="derived",
    meaning="time of the experts' arithmetic on the fullest chip: chips cancel where the experts "
    "divide evenly",
    conventions=(_PER_CHIP, experts._WHOLE),
)

dispatch_time = Formula(
    q.dispatch_time,
    new * B_n * k_out * d * w_out / BW_out + fixed,
    using=(experts.copies_leaving,),
    source=_KERNELS,
    meaning="bytes that leave over the port's rate, and a constant",
    known_as=("DeepEP dispatch",),
    conventions=("one copy an expert", "what stays in the domain travels meanwhile", _PER_CHIP),
)

combine_time = Formula(
    q.combine_time,
    new * B_n * k_out * d * w_back / BW_out + fixed,
    using=(experts.copies_leaving,),
    source=_KERNELS,
    meaning="bytes of the experts' answers over the port's rate, and a constant",
    known_as=("DeepEP combine",),
    conventions=("one copy an expert", "what stays in the domain travels meanwhile", _PER_CHIP),
)

scale_up_time_at_load = Formula(
    q.scale_up_time,
    new * B_n * k_in * _bytes / BW_up,
    using=(experts.copies_inside,),
    name="scale_up_time_at_load",
    source="38:47",
    meaning="time on the fabric for the tokens of one chip",
    conventions=("latency left out", _PER_CHIP),
)

scale_out_time_at_load = Formula(
    q.scale_out_time,
    new * B_n * k_out * _bytes / BW_out,
    using=(experts.copies_leaving,),
    name="scale_out_time_at_load",
    source="39:39",
    meaning="time on the network for the tokens of one chip",
    conventions=("latency left out", _PER_CHIP),
)

all_to_all_time_at_load = Formula(
    q.all_to_all_time,
    Max(q.scale_up_time.symbol, q.scale_out_time.symbol),
    name="all_to_all_time_at_load",
    using=(scale_up_time_at_load, scale_out_time_at_load),
    source="39:39",
    meaning="the slower of fabric and network, for the tokens of one chip",
    conventions=("both work at once", "latency left out", _PER_CHIP),
)

fixed_traffic_time = Formula(
    q.communication_time,
    2 * layers * fixed,
    name="fixed_traffic_time",
    source=_KERNELS,
    meaning="what the all-to-alls of a step take whatever their bytes: the constant, out and "
    "back, in every layer",
    conventions=("none of it hidden",),
)

token_traffic = Formula(
    q.token_traffic,
    layers * q.all_to_all_bytes.symbol,
    using=(experts.all_to_all_bytes,),
    source="derived",
    meaning="bytes that one token sends to experts and gets back, over all layers",
    conventions=("one copy an expert, wherever it lies",),
)

# Memory, at a load per chip -----------------------------------------------------------------------

memory_of_chip = Formula(
    q.device_memory,
    C,
    name="memory_of_chip",
    source="definition",
    meaning="the memory that a chip has",
)

resident_weights = Formula(
    q.resident_weights,
    w * N_routed / n,
    source="derived",
    meaning="the routed experts of all layers, spread over the chips",
)

copied_weights = Formula(
    q.copied_weights,
    w * (N_total - N_routed) / o,
    source="derived",
    meaning="attention, embeddings and shared experts, whole on every chip",
    conventions=(
        "data-parallel attention, as in DeepSeek's service of 2025; tensor parallelism would "
        "share it",
    ),
)

resident_caches = Formula(
    q.resident_caches,
    B_n * cache_memory.expression,
    source="1:06:26",
    meaning="caches of a chip's own sequences",
    conventions=("attention is not shared among chips",),
)

device_memory_at_load = Formula(
    q.device_memory,
    q.resident_weights.symbol + q.copied_weights.symbol + q.resident_caches.symbol,
    name="device_memory_at_load",
    using=(resident_weights, copied_weights, resident_caches),
    source="derived",
    meaning="experts, the rest of the model, and caches",
)

fewest_devices = Formula(
    q.fewest_devices,
    w * N_routed / Max(0, C - q.copied_weights.symbol - q.resident_caches.symbol),
    using=(copied_weights, resident_caches),
    source="derived",
    meaning="chips over which the experts have to be spread to leave room for the caches",
    conventions=(
        "infinite where the caches do not fit however the experts are spread",
        "no memory kept back for activations or fragmentation",
    ),
    derivation=lambda: _derive_fewest_devices(),
)


def _derive_fewest_devices() -> Derivation:
    d_ = Derivation("How many chips the caches ask for")
    d_.start(
        Eq(C, w * N_routed / n + q.copied_weights.symbol + q.resident_caches.symbol),
        "memory of a chip: its experts, the rest of the model, its caches",
    )
    d_.solve("devices", "only the experts are shared out; the rest is on every chip")
    d_.claim(
        Eq(n, w * N_routed / (C - q.copied_weights.symbol - q.resident_caches.symbol)),
        "experts over the memory that is left for them",
    )
    return d_
