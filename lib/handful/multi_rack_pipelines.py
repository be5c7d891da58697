"""Costs and gains of more racks: memory, bandwidth, latency, gradients.

The lecture has them from 1:03:37 to 1:18:59.

A stage of a pipeline has a scale-up domain (a node, a rack) to itself here, so that `devices` are
the chips of one stage, as in a scenario.

>>> rack = dict(
...     devices=72,
...     total_parameters=671e9,
...     bytes_per_parameter=1,
...     micro_batch=2000,
...     context=8192,
...     kv_bytes_per_token=35136,
... )
>>> [
...     f"{device_memory_of_stage(rack, pipeline_stages=stages) / 1e9:.1f} GB"
...     for stages in (1, 2, 4, 1000)
... ]
['17.3 GB', '12.7 GB', '10.3 GB', '8.0 GB']
>>> round(equal_stages(rack), 2)  # from two stages on, caches take more than weights
1.17
"""

from __future__ import annotations

from sympy import Eq, Max, Min

from ._moved import old_formulas
from .latency import batch_that_fits, cache_memory, context_of_cache, step_time
from .pipelining import activation_memory, activation_memory_gpipe, handed_on
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(P, n, n_s, one, N, w, B, B_m, L, b, b0, C, BW, hop, t, w_g, F, c, out, w_train, S_t, new, s) = (
    quantity.symbol
    for quantity in (
        q.pipeline_stages,
        q.devices,
        q.stage_devices,
        q.one_device,
        q.total_parameters,
        q.bytes_per_parameter,
        q.batch,
        q.micro_batch,
        q.context,
        q.kv_bytes_per_token,
        q.window_cache_memory,
        q.memory_capacity,
        q.memory_bandwidth,
        q.hop_time,
        q.step_time,
        q.gradient_bytes,
        q.peak_flops,
        q.flops_per_multiply_add,
        q.scale_out_bandwidth,
        q.training_bytes,
        q.sequence_tokens,
        q.new_tokens_per_sequence,
        q.weight_memory_share,
    )
)

_cache = cache_memory.expression
_STAGE = "each stage has a scale-up domain to itself, whose chips alone are counted"
_FULL = "as many micro-batches in flight as stages: fewer would leave stages idle"

# Memory -------------------------------------------------------------------------------------------

weights_on_device = Formula(
    q.device_memory,
    w * N / (n * P),
    name="weights_on_device",
    source="1:06:26",
    meaning="weights that one chip holds",
    conventions=(_STAGE, "one copy of every weight"),
)

caches_on_device = Formula(
    q.device_memory,
    B_m * _cache / n,
    name="caches_on_device",
    source="1:11:12",
    meaning="caches that one chip holds: no stages in it",
    conventions=(_STAGE, _FULL),
)

device_memory_of_stage = Formula(
    q.device_memory,
    w * N / (n * P) + B_m * _cache / n,
    name="device_memory_of_stage",
    source="1:11:12",
    meaning="weights and caches on one chip",
    conventions=(_STAGE, _FULL),
)

memory_used = Formula(
    q.memory_used,
    device_memory_of_stage.expression / C,
    source="1:02:22",
    meaning="share of a chip's memory that weights and caches take; above 1 they do not fit",
    conventions=(_STAGE, _FULL),
)

equal_stages = Formula(
    q.equal_stages,
    w * N / (B_m * _cache),
    source="1:11:12",
    meaning="stages from which a chip holds more bytes of caches than of weights",
    conventions=(_STAGE, _FULL),
    derivation=lambda: _derive_equal_stages(),
)

context_of_stages = Formula(
    q.context_that_fits,
    Max(0, context_of_cache((C * n - w * N / P) / B_m)),
    name="context_of_stages",
    source="derived",
    meaning="longest context for which a chip has room beside its weights",
    conventions=(_STAGE, _FULL),
)

context_of_many_stages = Formula(
    q.context_that_fits,
    context_of_cache(C * n / B_m),
    name="context_of_many_stages",
    source="derived",
    meaning="longest context for which a chip has room on stages without end: weights take no "
    "room at all",
    conventions=(_STAGE, _FULL),
)

batch_of_stages = Formula(
    q.batch_that_fits,
    Max(0, n * C - w * N / P) / _cache,
    name="batch_of_stages",
    source="1:11:12; derived",
    meaning="sequences of a micro-batch that fill a stage, when every stage has one",
    conventions=(_STAGE, _FULL),
)

batch_of_copies = Formula(
    q.batch_that_fits,
    P * batch_that_fits.expression,
    name="batch_of_copies",
    source="derived",
    meaning="sequences for which as many domains have room side by side, each with its own copy of "
    "the weights",
    conventions=("the chips of one copy are counted",),
)

room_gain = Formula(
    q.room_gain,
    (n * C - w * N / P) / (n * C - w * N),
    source="1:11:12; derived",
    meaning="sequences in a chain, as a multiple of those in the same domains side by side",
    conventions=(_STAGE, _FULL, "one domain alone has room for the weights"),
)

room_gain_of_share = Formula(
    q.room_gain,
    (1 - s / P) / (1 - s),
    name="room_gain_of_share",
    source="1:11:12; derived",
    meaning="sequences in a chain, as a multiple of those in the same domains side by side, by the "
    "share of one domain that the weights fill",
    conventions=(_STAGE, _FULL, "one domain alone has room for the weights"),
)

crowd = Formula(
    q.micro_batch,
    Min(B_m, Max(0, n * C - w * N) / _cache),
    name="crowd",
    source="derived",
    meaning="a micro-batch, or as much of it as one domain alone has room for",
    conventions=(_STAGE,),
)

caches_of_crowd = Formula(
    q.device_memory,
    Min(B_m * _cache, Max(0, n * C - w * N)) / n,
    name="caches_of_crowd",
    source="1:11:12; derived",
    meaning="the crowd's caches on one chip: no stages in it",
    conventions=(_STAGE, _FULL),
)

device_memory_of_crowd = Formula(
    q.device_memory,
    w * N / (n * P) + caches_of_crowd.expression,
    name="device_memory_of_crowd",
    source="1:11:12; derived",
    meaning="weights and the crowd's caches on one chip",
    conventions=(_STAGE, _FULL),
)

# A domain, as memory and as bandwidth -------------------------------------------------------------

devices_memory = Formula(
    q.devices_memory,
    n * C,
    source="45:44",
    meaning="all memory of the chips that work together on a step",
    known_as=("HBM of a rack", "memory of an NVL72"),
    conventions=("the chips of one stage, or of one copy, where there are several",),
)

domain_bandwidth = Formula(
    q.domain_bandwidth,
    n * BW,
    source="1:17:34",
    meaning="what a step reads with: every chip of the domain at once",
)

bandwidth_at_drain = Formula(
    q.domain_bandwidth,
    q.devices_memory.symbol / q.drain_time.symbol,
    name="bandwidth_at_drain",
    source="24:01",
    meaning="bandwidth that reads a given capacity in a given time",
)

bandwidth_needed = Formula(
    q.domain_bandwidth,
    w * N / q.latency_floor.symbol,
    name="bandwidth_needed",
    source="10:13; 1:17:34",
    meaning="bandwidth that one domain needs to read all weights in a wanted time",
    conventions=("all weights are read",),
)

# Latency: three ways to use P racks ---------------------------------------------------------------

token_latency_of_stages = Formula(
    q.token_latency,
    q.step_time.symbol + P * hop,
    using=(step_time,),
    name="token_latency_of_stages",
    source="1:00:49; hops from 1:15:20",
    meaning="P racks in a pipeline: each reads a P-th of the weights, one after another",
    known_as=("pipeline parallel latency in decode",),
    conventions=(_STAGE, "`batch` is one micro-batch"),
)

stage_time_of_step = Formula(
    q.stage_time,
    q.step_time.symbol / P,
    using=(step_time,),
    name="stage_time_of_step",
    source="1:00:49",
    meaning="a stage's share of a step: it has as many chips as before for a P-th of the layers",
    conventions=(_STAGE, "`batch` is one micro-batch", "layers alike"),
)

port_use = Formula(
    q.port_use,
    new * B * q.handed_on.symbol / (n * out * q.stage_time.symbol),
    using=(handed_on, stage_time_of_step),
    name="port_use",
    source="derived",
    meaning="handing a micro-batch on, over the time until the next one is ready to be handed on",
    conventions=(
        _STAGE,
        "`batch` is one micro-batch",
        "every chip sends its share through a port of its own",
        "all stages at work",
    ),
)

token_latency_of_one_domain = Formula(
    q.token_latency,
    q.step_time.symbol / P,
    using=(step_time,),
    name="token_latency_of_one_domain",
    source="1:17:34",
    meaning="P racks as one scale-up domain: all of them read at once",
    conventions=(
        "no time for communication",
        "`batch` is one micro-batch",
        "the chips of one of the P racks are counted",
    ),
)

token_latency_of_cut_rack = Formula(
    q.token_latency,
    P * (q.step_time.symbol + hop),
    using=(step_time,),
    name="token_latency_of_cut_rack",
    source="derived",
    meaning="one rack cut into P stages: at any time a P-th of its chips reads for a sequence",
    conventions=(
        "`batch` is one micro-batch",
        "the chips of one rack, shared out among the stages",
    ),
)

# Training -----------------------------------------------------------------------------------------

critical_tokens_of_stages = Formula(
    q.critical_tokens,
    w_g * F / (c * out * one * P),
    name="critical_tokens_of_stages",
    source="derived from Austin et al. 2025",
    meaning="tokens per chip that hide the exchange of gradients, when a chip holds a P-th of the "
    "layers",
    conventions=(
        "one chip a stage",
        "gradients are all-reduced while the backward pass runs",
        "a dense model, or the experts that a chip holds",
    ),
    derivation=lambda: _derive_critical_tokens_of_stages(),
)

tokens_per_chip = Formula(
    q.tokens_per_chip,
    B * S_t / n,
    source="definition",
    meaning="tokens of a training step for each chip",
    conventions=("all chips are counted, in every copy and stage",),
)

gradient_ratio = Formula(
    q.gradient_ratio,
    q.critical_tokens.symbol / q.tokens_per_chip.symbol,
    using=(critical_tokens_of_stages, tokens_per_chip),
    source="derived",
    meaning="exchange of gradients over the backward pass: above 1 the exchange sets the pace",
    known_as=("gradient synchronisation over the backward pass",),
    conventions=("one chip a stage; all chips are counted, in every copy and stage",),
)

training_state = Formula(
    q.device_memory,
    w_train * N / (n_s * P),
    name="training_state",
    source="Rajbhandari et al. 2019 (ZeRO), for the bytes",
    meaning="weights, gradients and optimiser on one chip",
    conventions=("not shared out over data-parallel copies",),
)

activations_on_device = Formula(
    q.device_memory,
    q.activation_memory.symbol / n_s,
    using=(activation_memory,),
    name="activations_on_device",
    source="Narayanan et al. 2021",
    meaning="activations in flight on a chip of the first stage, with 1F1B",
    conventions=("no recomputation", "shared out evenly over the chips of a stage"),
)

activations_on_device_gpipe = Formula(
    q.device_memory,
    q.activation_memory.symbol / n_s,
    using=(activation_memory_gpipe,),
    name="activations_on_device_gpipe",
    source="Huang et al. 2019",
    meaning="activations in flight on a chip, with GPipe",
    conventions=("no recomputation", "shared out evenly over the chips of a stage"),
)


# Derivations --------------------------------------------------------------------------------------


def _derive_equal_stages() -> Derivation:
    d = Derivation("From how many stages on caches outweigh weights")
    d.equate(
        weights_on_device,
        caches_on_device,
        "on one chip: a share of the weights, and of a micro-batch's caches",
    )
    d.solve("pipeline_stages", "the chips cancel: all weights over the caches of one micro-batch")
    return d


def _derive_critical_tokens_of_stages() -> Derivation:
    d = Derivation("Why training likes pipelines")
    tokens, held = q.critical_tokens.symbol, q.active_parameters.symbol
    d.start(
        Eq(2 * c * (tokens * P) * (held / P) / F, 2 * w_g * (held / P) / (out * one)),
        "a chip sees P times the tokens and holds a P-th of the weights: as much arithmetic, "
        "fewer gradients",
    )
    d.solve("critical_tokens", "the size of the model cancels, the stages do not")
    return d


# Tables -------------------------------------------------------------------------------------------


__getattr__ = old_formulas(__name__, {"domain_capacity": "devices_memory"})
