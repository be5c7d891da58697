"""Layers over racks: what a pipeline costs in traffic, time and memory, and what cancels.

The lecture has it from 47:12 to 1:18:59.

Bubbles are given as a time, and as a share of two things: of the time that the work takes ("of
ideal", what Megatron quotes) and of the whole time ("of total", what GPipe quotes).  Papers differ
in this silently.

>>> [round(f(pipeline_stages=4, micro_batches=8), 3) for f in (bubble_of_ideal, bubble_of_total)]
[0.375, 0.273]
>>> round(
...     traffic_time_ratio(active_experts=8, layers_per_stage=1, bandwidth_ratio=8), 2
... )  # the lecture's example
2.0
>>> round(
...     traffic_time_ratio(active_experts=8, layers_per_stage=1, bandwidth_ratio=18), 2
... )  # GB200, 400 Gb/s a chip
0.89
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Max, Min, sqrt

from .experts import bandwidth_ratio
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(
    P,
    m,
    V,
    ell,
    k,
    r,
    width,
    w_a,
    up,
    out,
    hop,
    t_F,
    t_B,
    t_W,
    t_FB,
    t_0,
    work,
    n_s,
    N,
    w,
    B,
    B_m,
    L,
    b,
    S_t,
    w_l,
    layers,
    w_g,
    F,
    c,
    t,
    one,
    t_s,
    n,
    new,
    w_out,
    w_back,
    one_layer,
    wire,
) = (
    quantity.symbol
    for quantity in (
        q.pipeline_stages,
        q.micro_batches,
        q.model_chunks,
        q.layers_per_stage,
        q.active_experts,
        q.bandwidth_ratio,
        q.d_model,
        q.activation_bytes,
        q.scale_up_bandwidth,
        q.scale_out_bandwidth,
        q.hop_time,
        q.forward_time,
        q.backward_time,
        q.weight_gradient_time,
        q.overlapped_time,
        q.micro_batch_overhead,
        q.stage_work_time,
        q.stage_devices,
        q.total_parameters,
        q.bytes_per_parameter,
        q.batch,
        q.micro_batch,
        q.context,
        q.kv_bytes_per_token,
        q.sequence_tokens,
        q.layer_activation_bytes,
        q.layers,
        q.gradient_bytes,
        q.peak_flops,
        q.flops_per_multiply_add,
        q.step_time,
        q.one_device,
        q.stage_time,
        q.devices,
        q.new_tokens_per_sequence,
        q.dispatch_bytes,
        q.combine_bytes,
        q.one_layer,
        q.wire_latency,
    )
)

# Traffic ------------------------------------------------------------------------------------------

traffic_time_ratio = Formula(
    q.traffic_time_ratio,
    2 * k * ell / r,
    source="51:18",
    meaning="time on the scale-up fabric over time between stages: above 1, the network between "
    "racks keeps up",
    conventions=(
        "each token goes to k chips and comes back, in every layer, and leaves the stage once",
        "the same bytes for each number on either wire",
    ),
    derivation=lambda: _derive_traffic(),
)

traffic_time_ratio_of_chip = Formula(
    q.traffic_time_ratio,
    2 * k * ell / r,
    using=(bandwidth_ratio,),
    name="traffic_time_ratio_of_chip",
    source="51:18",
    meaning="time on the scale-up fabric over time between stages, with the wires of a chip",
    conventions=("as traffic_time_ratio",),
)

fewest_layers_per_stage = Formula(
    q.fewest_layers_per_stage,
    r / (2 * k),
    source="51:18; derived",
    meaning="layers on a stage from which the network between racks keeps up",
    conventions=("bandwidth only, no hops",),
)

traffic_time_ratio_of_bytes = Formula(
    q.traffic_time_ratio,
    k * ell * one_layer * (w_out + w_back) / (w_a * r),
    name="traffic_time_ratio_of_bytes",
    source="51:18; derived",
    meaning="time on the scale-up fabric over time between stages, where an activation travels "
    "in different precisions",
    conventions=(
        "one copy for each expert and layer, one copy out of the stage",
        "bandwidth only, no hops",
    ),
)

fewest_layers_of_chip = Formula(
    q.fewest_layers_per_stage,
    r / (2 * k),
    using=(bandwidth_ratio,),
    name="fewest_layers_of_chip",
    source="51:18; derived",
    meaning="layers on a stage from which the network between racks keeps up, with the wires of "
    "a chip",
    conventions=("bandwidth only, no hops",),
)

handed_on = Formula(
    q.handed_on,
    width * w_a,
    source="50:44",
    meaning="one copy of an activation, which leaves a stage once",
)

# Latency ------------------------------------------------------------------------------------------

hop_time = Formula(
    q.hop_time,
    wire + new * B_m * width * w_a / (n_s * out),
    source="derived; 1:15:20",
    meaning="an empty message, and the activations of a micro-batch behind it",
    conventions=("every chip of a stage sends its share through a port of its own",),
)


token_latency = Formula(
    q.token_latency,
    t + P * hop,
    source="1:00:49; hops from 1:15:20",
    meaning="one token after another through all stages: the work is the same, hops are added",
    known_as=("pipeline parallel latency",),
    conventions=(
        "a token comes back to the first stage before the next one starts",
        "each stage has as many chips as the whole model had: its share of the step is 1/P",
    ),
)

stage_utilisation = Formula(
    q.stage_utilisation,
    Min(1, m * t_s / (P * (t_s + hop))),
    source="derived; 57:34",
    meaning="share of the time in which a stage works, with m micro-batches going round in "
    "decoding",
    conventions=(
        "each micro-batch goes from the last stage to the first for its next token",
        "equal stages",
    ),
)

circling_latency = Formula(
    q.token_latency,
    Max(m * t_s, P * (t_s + hop)),
    name="circling_latency",
    source="derived",
    meaning="one round of a micro-batch: its own way through the stages, or a wait for the others",
    conventions=("equal stages", "as stage_utilisation"),
)

# Bubbles, in time ---------------------------------------------------------------------------------

bubble_time = Formula(
    q.bubble_time,
    (P - 1) * (t_F + t_B),
    source="Huang et al. 2019 (GPipe); the same for 1F1B",
    meaning="a stage waits for the pipeline to fill and to empty",
    conventions=("hops take no time",),
)

bubble_time_interleaved = Formula(
    q.bubble_time,
    (P - 1) * (t_F + t_B) / V,
    name="bubble_time_interleaved",
    source="Narayanan et al. 2021",
    meaning="a stage's wait with V pieces of the model on each device: shorter, for V times the "
    "traffic between stages",
    conventions=("a multiple of P micro-batches",),
)

bubble_time_zero_bubble = Formula(
    q.bubble_time,
    (P - 1) * (t_F + t_B - 2 * t_W),
    name="bubble_time_zero_bubble",
    source="Qi et al. 2024 (ZB-H1); written as in DeepSeek's DualPipe notes",
    meaning="the gradients of weights fill most of the wait",
    known_as=("zero bubble",),
    conventions=("the memory of 1F1B", "2 t_W up to t_F + t_B"),
)

bubble_time_dual_pipe = Formula(
    q.bubble_time,
    (P / 2 - 1) * (t_FB + t_B - 3 * t_W),
    name="bubble_time_dual_pipe",
    source="DeepSeek-V3 report, table 2 of the DualPipe notes",
    meaning="micro-batches from both ends, forward and backward passes overlapped",
    known_as=("DualPipe",),
    conventions=(
        "an even number of stages, each held twice",
        "exact where the gradients of inputs take as long as a forward pass",
    ),
)

bubble_time_dual_pipe_in_turn = Formula(
    q.bubble_time,
    (P / 2 - 1) * (t_F + 2 * t_B - 3 * t_W),
    name="bubble_time_dual_pipe_in_turn",
    source="DeepSeek-V3 report, table 2 of the DualPipe notes",
    meaning="DualPipe where two passes at once take as long as one after the other",
    conventions=(
        "an even number of stages, each held twice",
        "exact where the gradients of inputs take as long as a forward pass",
    ),
)

# Bubbles, as shares -------------------------------------------------------------------------------

bubble_of_ideal = Formula(
    q.bubble_of_ideal,
    (P - 1) / m,
    source="Narayanan et al. 2021",
    meaning="GPipe or 1F1B: the bubble over the work",
    known_as=("pipeline bubble fraction",),
    conventions=("of ideal: over m (t_F + t_B)",),
    derivation=lambda: _derive_bubble(),
)

bubble_of_total = Formula(
    q.bubble_of_total,
    (P - 1) / (m + P - 1),
    source="Huang et al. 2019",
    meaning="GPipe or 1F1B: the bubble over the whole time",
    known_as=("pipeline bubble fraction of the whole time",),
    conventions=("of total: over (m + P − 1)(t_F + t_B)",),
)

bubble_of_ideal_interleaved = Formula(
    q.bubble_of_ideal,
    (P - 1) / (V * m),
    name="bubble_of_ideal_interleaved",
    source="Narayanan et al. 2021",
    meaning="interleaved 1F1B: the bubble over the work",
    known_as=("virtual pipeline stages",),
    conventions=("of ideal",),
)

bubble_of_total_interleaved = Formula(
    q.bubble_of_total,
    (P - 1) / (V * m + P - 1),
    name="bubble_of_total_interleaved",
    source="Narayanan et al. 2021",
    meaning="interleaved 1F1B: the bubble over the whole time",
    conventions=("of total", "a multiple of P micro-batches"),
)

_busy = m * (t_F + t_B)

bubble_of_total_zero_bubble = Formula(
    q.bubble_of_total,
    q.bubble_time.symbol / (_busy + q.bubble_time.symbol),
    using=(bubble_time_zero_bubble,),
    name="bubble_of_total_zero_bubble",
    source="Qi et al. 2024 (ZB-H1)",
    meaning="ZB-H1: the bubble over the whole time",
    conventions=("of total",),
)

bubble_of_total_dual_pipe = Formula(
    q.bubble_of_total,
    q.bubble_time.symbol / (_busy + q.bubble_time.symbol),
    using=(bubble_time_dual_pipe_in_turn,),
    name="bubble_of_total_dual_pipe",
    source="DeepSeek-V3 report, table 2 of the DualPipe notes",
    meaning="DualPipe: the bubble over the whole time",
    conventions=(
        "of total",
        "two passes that overlap take as long as one after the other: what overlap saves is left "
        "out",
        "exact where the gradients of inputs take as long as a forward pass",
    ),
)

micro_batches_of_batch = Formula(
    q.micro_batches,
    B * P * one / (n * B_m),
    name="micro_batches_of_batch",
    source="derived",
    meaning="micro-batches that each pipeline gets of a batch",
    conventions=("one chip a stage, so that n/P pipelines run side by side",),
)

bubble_of_batch = Formula(
    q.bubble_of_ideal,
    (P - 1) / q.micro_batches.symbol,
    using=(micro_batches_of_batch,),
    name="bubble_of_batch",
    source="derived",
    meaning="GPipe or 1F1B with the batch and the chips held: the bubble over the work",
    conventions=("of ideal", "one chip a stage"),
    derivation=lambda: _derive_bubble_of_batch(),
)

pipeline_time = Formula(
    q.pipeline_time,
    (m + P - 1) * (work / m + t_0),
    source="derived",
    meaning="a training step of m micro-batches, each with a cost of its own",
    conventions=("GPipe or 1F1B", "work divides evenly; the overhead does not"),
)

best_micro_batches = Formula(
    q.best_micro_batches,
    sqrt((P - 1) * work / t_0),
    source="derived",
    meaning="as many that the bubble costs what their overhead does",
    derivation=lambda: _derive_best_micro_batches(),
)

# Memory -------------------------------------------------------------------------------------------

device_memory_of_batch = Formula(
    q.device_memory,
    (w * N + B * L * b) / (n_s * P),
    name="device_memory_of_batch",
    source="1:06:26",
    meaning="weights and caches over all chips of all stages",
)

device_memory = Formula(
    q.device_memory,
    w * N / (n_s * P) + B_m * L * b / n_s,
    source="1:11:12",
    meaning="weights and caches on one chip with a micro-batch in every stage: stages cancel in "
    "the caches",
    conventions=("as many micro-batches in flight as stages: fewer would leave stages idle",),
    derivation=lambda: _derive_cancellation(),
)

activation_memory = Formula(
    q.activation_memory,
    Min(P, m) * B_m * S_t * w_l * layers / P,
    source="Narayanan et al. 2021",
    meaning="1F1B: the first stage holds up to P micro-batches, each of its own layers: stages "
    "cancel again",
    known_as=("activation memory of 1F1B",),
    conventions=("no recomputation", "each layer keeps the same"),
)

activation_memory_gpipe = Formula(
    q.activation_memory,
    m * B_m * S_t * w_l * layers / P,
    name="activation_memory_gpipe",
    source="Huang et al. 2019",
    meaning="GPipe: every micro-batch's activations are held",
    conventions=("no recomputation",),
)

# Data parallelism ---------------------------------------------------------------------------------

critical_tokens = Formula(
    q.critical_tokens,
    w_g * F / (c * out * one),
    source="Austin et al. 2025, How to Scale Your Model, training",
    meaning="the machine balance with a network in the place of memory",
    known_as=("tokens per chip to hide gradients",),
    conventions=(
        "gradients are all-reduced while the backward pass runs: 2 w_g bytes out for 2c FLOPs a "
        "token and weight",
        "the bandwidth is that of one chip's port: every chip sends all its gradients through it, "
        "19,780 tokens for an H100",
        "where the chips of a node add up their gradients first, one sum leaves through all their "
        "ports: with the node's bandwidth in the port's place, 400 GB/s for 8 of H100, the source "
        "has 2,475",
        "a dense model, or the experts that a chip holds",
    ),
    derivation=lambda: _derive_critical_tokens(),
)


def domains() -> list[dict[str, Any]]:
    """Return capacity and bandwidth of one scale-up domain, for each chip that has one.

    The oldest is first.

    Each is a dict of name, year, devices, capacity_bytes, bandwidth_bytes_per_s, drain_time_s,
    verified.

    >>> by_name = {row["name"]: row for row in domains()}
    >>> round(
    ...     by_name["GB200 NVL72"]["bandwidth_bytes_per_s"]
    ...     / by_name["H100 SXM"]["bandwidth_bytes_per_s"],
    ...     1,
    ... )
    21.5
    """
    from .facts import load

    rows = []
    for row in load("accelerators"):
        chips, capacity, bandwidth = (
            row[name]
            for name in ("scaleup_domain_chips", "hbm_capacity_bytes", "hbm_bandwidth_bytes_per_s")
        )
        if chips and capacity and bandwidth:
            rows.append(
                {
                    "name": row.name,
                    "year": row["year_announced"],
                    "devices": chips,
                    "capacity_bytes": chips * capacity,
                    "bandwidth_bytes_per_s": chips * bandwidth,
                    "drain_time_s": capacity / bandwidth,
                    "verified": row.verified,
                }
            )
    return sorted(rows, key=lambda row: row["year"])


# Derivations --------------------------------------------------------------------------------------


def _derive_traffic() -> Derivation:
    copy = width * w_a
    d = Derivation("When the cable is no busier than the fabric")
    d.start(
        Eq(q.traffic_time_ratio.symbol, (2 * k * ell * copy / up) / (copy / out)),
        "k copies out and back in each layer, over one copy that leaves the stage",
    )
    d.substitute(
        {"scale_up_bandwidth": r * out},
        "the fabric is λ times as fast; the size of a copy has cancelled",
    )
    return d


def _derive_bubble() -> Derivation:
    d = Derivation("The bubble of GPipe and 1F1B")
    d.start(
        Eq(q.bubble_of_ideal.symbol, q.bubble_time.symbol / (m * (t_F + t_B))),
        "what is lost over what is done",
    )
    d.substitute(
        bubble_time, "P − 1 stages fill, and P − 1 empty; how long a pass takes has cancelled"
    )
    return d


def _derive_bubble_of_batch() -> Derivation:
    d = Derivation("What more stages do to the bubble when batch and chips stay")
    d.start(bubble_of_ideal, "the bubble over the work")
    d.substitute(
        micro_batches_of_batch, "fewer pipelines side by side, so each gets more of the batch"
    )
    d.claim(
        Eq(q.bubble_of_ideal.symbol, n * B_m / (B * one) * (1 - 1 / P)),
        "stages nearly cancel: the bubble is bounded by the chips over the micro-batches of the "
        "batch",
    )
    return d


def _derive_best_micro_batches() -> Derivation:
    d = Derivation("How many micro-batches finish a batch soonest")
    d.start(
        pipeline_time, "m micro-batches and the bubble, each as long as its share and its overhead"
    )
    stages_behind = q.stages_behind.symbol
    d.substitute({"pipeline_stages": stages_behind + 1}, "count the stages behind the first")
    d.claim(
        Eq(q.pipeline_time.symbol, work + m * t_0 + stages_behind * work / m + stages_behind * t_0),
        "multiply out",
    )
    d.minimise(
        "micro_batches",
        "at the bottom, the overhead of all micro-batches is the bubble's share of the work",
    )
    d.solve("micro_batches", "a square root: four times the work, twice the micro-batches")
    d.substitute({"stages_behind": P - 1}, "the number of stages again")
    return d


def _derive_cancellation() -> Derivation:
    d = Derivation("Why more stages do not make room for more context")
    d.start(device_memory_of_batch, "weights and caches, shared by all chips of all stages")
    d.substitute(
        {"batch": P * B_m}, "every stage works on a micro-batch of its own, or it would idle"
    )
    d.claim(
        Eq(q.device_memory.symbol, w * N / (n_s * P) + B_m * L * b / n_s),
        "P cancels in the cache term: the chain makes room for P crowds, and needs P crowds",
    )
    return d


def _derive_critical_tokens() -> Derivation:
    d = Derivation("Tokens per chip that hide the exchange of gradients")
    tokens, held = q.critical_tokens.symbol, q.active_parameters.symbol
    d.start(
        Eq(2 * c * tokens * held / F, 2 * w_g * held / (out * one)),
        "backward arithmetic of a chip's tokens, and its gradients out and back",
    )
    d.solve("critical_tokens", "the size of the model cancels")
    return d
