"""Sharding: models and batches cut up over chips, and where the network becomes the limit.

Fully sharded data parallelism (FSDP, ZeRO-3) moves weights, tensor parallelism moves activations;
each has a size of batch or group at which its bytes take as long as the chip's arithmetic.  A layer
stands for its feed-forward matrices, which have most of a dense model's weights.

Conventions in all of this module: a multiply-add is two FLOPs; peaks are dense, at the precision of
the arithmetic.  ``network_bandwidth`` is what one chip sends in one direction over all links that a
collective uses: its port to a switch, or two links for each axis of a torus
(``collectives.torus_network_bandwidth``).  A collective of many chips moves the whole array through
each chip: (n − 1)/n counts as 1.  Network and arithmetic overlap, and latency is left out.

On a TPU v5p with all three axes of its torus, a chip wants 850 tokens for FSDP alone, and half of
that with tensor parallelism along one axis (Austin et al. 2025, How to Scale Your Model):

>>> v5p = dict(peak_flops=4.59e14, bytes_per_parameter=2)
>>> round(fsdp_batch(v5p, network_bandwidth=3 * 180e9))
850
>>> round(fsdp_tensor_batch(v5p, d_ff=32768, fsdp_bandwidth=2 * 180e9, tensor_bandwidth=180e9))
397
"""

from __future__ import annotations

from sympy import Eq, Expr, Integer, sqrt

from .collectives import ring_all_gather_time, ring_all_reduce_time, ring_reduce_scatter_time
from .collectives import torus_network_bandwidth as _of_torus
from .pipelining import bubble_of_ideal
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(n, o, y, v, c, F, N, N_x, N_y, w, w_r, w_g, d, d_ff, d_E, m, T, t_n, X, Y, D, s, B, new, BW) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.one_device,
        q.one_layer,
        q.one_parameter,
        q.flops_per_multiply_add,
        q.peak_flops,
        q.network_bandwidth,
        q.fsdp_bandwidth,
        q.tensor_bandwidth,
        q.bytes_per_parameter,
        q.reduce_bytes,
        q.gradient_bytes,
        q.d_model,
        q.d_ff,
        q.expert_width,
        q.feed_forward_matrices,
        q.step_tokens,
        q.balance_tokens,
        q.fsdp_devices,
        q.tensor_devices,
        q.data_parallel_devices,
        q.width_cuts,
        q.batch,
        q.new_tokens_per_sequence,
        q.memory_bandwidth,
    )
)
(k, E, w_out, w_back, P, mu, b, L, layers, active, passes, e_c) = (
    quantity.symbol
    for quantity in (
        q.active_experts,
        q.experts,
        q.dispatch_bytes,
        q.combine_bytes,
        q.pipeline_stages,
        q.micro_batches,
        q.micro_batch,
        q.sequence_tokens,
        q.layers,
        q.active_parameters,
        q.training_passes,
        q.compute_efficiency,
    )
)
_net, _work = q.layer_network_time.symbol, q.layer_compute_time.symbol

_BOOK = "Austin et al. 2025, How to Scale Your Model, training"
_POPE = "Pope et al. 2022, Efficiently Scaling Transformer Inference"
_MEGATRON = "Narayanan et al. 2021, Efficient Large-Scale Language Model Training"
_LARGE = "(n − 1)/n counts as 1; latency left out"
_RATE = "one direction: a port to a switch, or two links an axis of a torus"
_OVERLAP = "network and arithmetic overlap"

_weights = m * d * d_ff * v / y  # of a feed-forward layer
_expert = m * d * d_E * v / y

# The ridge of the network -------------------------------------------------------------------------

network_ridge = Formula(
    q.network_ridge,
    F / N,
    source=_BOOK,
    meaning="FLOPs for each byte sent at which a chip's arithmetic takes as long as its links",
    conventions=("FLOP counts a multiply-add as two", "dense peak", _RATE),
)

network_ridge_of_torus = Formula(
    q.network_ridge,
    F / N,
    name="network_ridge_of_torus",
    using=(_of_torus,),
    source=_BOOK,
    meaning="FLOPs for each byte sent at which arithmetic takes as long as a chip's two links "
    "along each axis of a torus",
    conventions=("FLOP counts a multiply-add as two", "dense peak", "all axes used at once"),
)

feed_forward_time = Formula(
    q.layer_compute_time,
    c * T * _weights / (n * F),
    name="feed_forward_time",
    source=_BOOK,
    meaning="arithmetic of a feed-forward layer in a forward pass, shared evenly by all chips",
    conventions=("dense layer; attention left out", "peak rate"),
)

# Training -----------------------------------------------------------------------------------------

data_parallel_batch = Formula(
    q.balance_tokens,
    w_g * F / (c * N * o),
    name="data_parallel_batch",
    source=_BOOK,
    meaning="tokens for each chip from which the backward pass covers the all-reduce of gradients",
    known_as=(
        "gradient synchronisation hidden",
        "gradient all-reduce",
    ),
    conventions=(
        "every chip holds the whole model",
        "gradients go out and back: twice their bytes for two forward passes' worth of FLOPs",
        _RATE,
        _LARGE,
        "over a scale-out network: critical_tokens",
    ),
    derivation=lambda: _derive_data_parallel(),
)

fsdp_batch = Formula(
    q.balance_tokens,
    w * F / (c * N * o),
    name="fsdp_batch",
    source=_BOOK,
    meaning="tokens for each chip from which arithmetic covers the gathering of weights (FSDP, "
    "ZeRO-3)",
    conventions=(
        "forward pass: each layer's weights gathered once; the backward pass gathers them again, "
        "scatters gradients and does twice the arithmetic",
        "weights on the wire as wide as bytes_per_parameter says",
        "arithmetic at the peak: at a utilisation (MFU) give that share of peak_flops",
        _RATE,
        _LARGE,
    ),
    derivation=lambda: _derive_fsdp(),
)

tensor_parallel_limit = Formula(
    q.tensor_devices,
    c * m * d_ff * v * N * o / (2 * w_r * y * F),
    name="tensor_parallel_limit",
    source=_BOOK,
    meaning="chips that tensor parallelism can span in training or prefill before the network is "
    "slower than arithmetic",
    known_as=("maximum tensor parallel degree",),
    conventions=(
        "activations gathered before the layer and reduce-scattered behind it, or all-reduced "
        "behind it, which is the same",
        "two matrices a layer; a gate makes it three, and the limit half as high again",
        "independent of the batch",
        _RATE,
        _LARGE,
        _OVERLAP,
    ),
    derivation=lambda: _derive_tensor_limit(),
)

fsdp_tensor_time = Formula(
    q.layer_network_time,
    w * _weights * X / (n * N_x * o) + 2 * w_r * T * d / (X * N_y),
    name="fsdp_tensor_time",
    source=_BOOK,
    meaning="forward pass of one layer: weights gathered by FSDP, activations gathered and "
    "scattered by tensor parallelism",
    conventions=(
        "n chips: n/n_FSDP of them share each matrix, n_FSDP of them the batch",
        "one after the other",
        _RATE,
        _LARGE,
    ),
)

best_fsdp_devices = Formula(
    q.fsdp_devices,
    sqrt(2 * w_r * T * y * n * N_x * o / (w * m * d_ff * v * N_y)),
    name="best_fsdp_devices",
    source=_BOOK,
    meaning="chips for FSDP, of all that share them with tensor parallelism, that spend least time "
    "on the network",
    known_as=("best split between FSDP and tensor parallelism",),
    conventions=(
        "between 1 and all chips: beyond, one of both alone is best",
        "the rest, n/n_FSDP, is tensor parallel",
        _RATE,
        _LARGE,
    ),
    derivation=lambda: _derive_best_fsdp(),
)

fsdp_tensor_batch = Formula(
    q.balance_tokens,
    8 * w * w_r * y * F**2 / (c**2 * m * d_ff * v * N_x * N_y * o),
    name="fsdp_tensor_batch",
    source=_BOOK,
    meaning="tokens for each chip from which arithmetic covers FSDP with tensor parallelism at the "
    "best split",
    conventions=(
        "FSDP's and tensor parallelism's collectives one after the other, both behind arithmetic",
        "any real split, as best_fsdp_devices gives it",
        _RATE,
        _LARGE,
    ),
    derivation=lambda: _derive_fsdp_tensor(),
)

sequence_parallel_time = Formula(
    q.layer_network_time,
    2
    * (ring_all_gather_time.expression + ring_reduce_scatter_time.expression).xreplace(
        {
            q.collective_bytes.symbol: T * d * w_r,
            q.devices.symbol: Y,
            q.link_bandwidth.symbol: N_y * o / 2,
            q.hop_latency.symbol: Integer(0),
        }
    ),
    name="sequence_parallel_time",
    source="Korthikanti et al. 2022, Reducing Activation Recomputation, section 4.2.2",
    meaning="forward pass of one layer: two all-gathers and two reduce-scatters of all "
    "activations, the bytes of tensor parallelism's two all-reduces",
    known_as=("sequence parallelism",),
    conventions=(
        "attention and feed-forward layer share sequences between their matrices",
        "tokens are those of one tensor-parallel group",
        "backward: the same, and a gather that can be hidden",
        _RATE,
        "latency left out",
    ),
)

# Inference ----------------------------------------------------------------------------------------

tensor_parallel_decode_limit = Formula(
    q.tensor_devices,
    w * m * d_ff * v * N * o / (2 * w_r * y * new * B * BW),
    name="tensor_parallel_decode_limit",
    source="Austin et al. 2025, How to Scale Your Model, inference",
    meaning="chips that tensor parallelism can span in decode before the network is slower than "
    "reading the weights",
    conventions=(
        "a batch that memory bounds: reading weights takes longer than arithmetic",
        "two matrices a layer; caches and latency left out",
        _RATE,
        _LARGE,
    ),
    derivation=lambda: _derive_decode_limit(),
)

weight_stationary_1d_time = Formula(
    q.layer_network_time,
    2 * w_r * T * d / (N * o),
    name="weight_stationary_1d_time",
    source=f"{_POPE}, section 3.2.1",
    meaning="weights cut along the layer's width: activations are gathered and reduce-scattered, "
    "as long on any number of chips",
    known_as=("1D weight-stationary",),
    conventions=("one feed-forward layer, or attention in parallel with it", _RATE, _LARGE),
)

weight_stationary_2d_time = Formula(
    q.layer_network_time,
    4 * w_r * T * sqrt(d * d_ff * o / n) / (N * o),
    name="weight_stationary_2d_time",
    source=f"{_POPE}, section 3.2.2",
    meaning="weights cut along both widths, into parts as square as can be: activations are cut, "
    "too",
    known_as=("2D weight-stationary",),
    conventions=(
        "gathers and reduce-scatters over both cuts, one after the other, at the best cut",
        "shorter than 1D from 4 d_ff/d chips on: 16 where the layer is four times as wide",
        _RATE,
        _LARGE,
    ),
    derivation=lambda: _derive_weight_stationary(),
)

weight_gathered_time = Formula(
    q.layer_network_time,
    2 * d * sqrt(2 * w * w_r * m * d_ff * v * T / (y * n * o)) / N,
    name="weight_gathered_time",
    source=f"{_POPE}, section 3.2.3",
    meaning="weights gathered over some of the chips, activations over the others, at the best "
    "number",
    known_as=("weight-gathered inference",),
    conventions=(
        "the best number is that of best_fsdp_devices with one bandwidth for both",
        "from 1 to all chips: beyond, one of both alone is best",
        _RATE,
        _LARGE,
    ),
    derivation=lambda: _derive_weight_gathered(),
)

# Experts ------------------------------------------------------------------------------------------

expert_parallel_time = Formula(
    q.layer_network_time,
    k * T * d * (w_out + w_back) / (n * N),
    name="expert_parallel_time",
    source="Zhao et al. 2025, Insights into DeepSeek-V3, section 2.3.2",
    meaning="every token to its experts and back, through each chip's port",
    conventions=(
        "one layer, forward",
        "all copies leave their chip: an upper bound, (n − 1)/n of it where experts lie evenly",
        "evenly spread; latency left out",
        _RATE,
    ),
)

expert_parallel_width = Formula(
    q.expert_width,
    (w_out + w_back) * y * F / (c * m * v * N),
    name="expert_parallel_width",
    source="derived",
    meaning="width of an expert from which its arithmetic covers the way of its tokens, at any "
    "batch",
    conventions=(
        "all copies leave their chip",
        "three matrices where experts have a gate: the default is two",
        _RATE,
        _OVERLAP,
    ),
    derivation=lambda: _derive_expert_width(),
)

expert_parallel_batch = Formula(
    q.balance_tokens,
    w * E * m * d_E * v * N / (n * k * (w_out + w_back) * y * BW),
    name="expert_parallel_batch",
    source="derived",
    meaning="tokens for each chip up to which reading the experts' weights covers the way of the "
    "tokens",
    conventions=(
        "decode: all experts of a chip are read in each step",
        "three matrices where experts have a gate: the default is two",
        "all copies leave their chip",
        _RATE,
        _OVERLAP,
    ),
    derivation=lambda: _derive_expert_batch(),
)

# Pipelines beside the others ----------------------------------------------------------------------

pipeline_bubble_with_sharding = Formula(
    q.bubble_of_ideal,
    (n / Y - D) * b / B,
    name="pipeline_bubble_with_sharding",
    source=f"{_MEGATRON}, section 3.3",
    meaning="bubble over the work where chips are shared by pipeline, tensor and data parallelism",
    known_as=("bubble of Megatron",),
    conventions=(
        "of ideal; GPipe or 1F1B, not interleaved",
        "n/(n_TP n_DP) stages and B/(n_DP B_μ) micro-batches, both whole numbers",
    ),
    derivation=lambda: _derive_bubble(),
)


def _all_reduce(array: Expr, chips: Expr, rate: Expr) -> Expr:
    """Return the time of an all-reduce through links of a whole rate, without latency."""
    return ring_all_reduce_time.expression.xreplace(
        {
            q.collective_bytes.symbol: array,
            q.devices.symbol: chips,
            q.link_bandwidth.symbol: rate * o / 2,
            q.hop_latency.symbol: Integer(0),
        }
    )


sharded_training_step_time = Formula(
    q.pipeline_time,
    (mu + P - 1)
    * (
        passes * c * b * L * active * o / (P * Y * F * o * e_c)
        + 4 * _all_reduce(b * L * d * w_r * layers / P, Y, N_y)
    )
    + _all_reduce(w_g * active * o / (P * Y), D * o, N_x),
    name="sharded_training_step_time",
    source=f"{_MEGATRON}, section 3",
    meaning="a training step with pipeline, tensor and data parallelism: micro-batches through all "
    "stages, then gradients",
    conventions=(
        "n_TP P n_DP chips; GPipe or 1F1B, not interleaved",
        "two all-reduces a layer and micro-batch forward, two backward",
        "nothing overlaps; gradients are all-reduced at the end",
        "no recomputation; attention over the context and sends between stages left out",
        "dense model",
        _RATE,
    ),
)


# Derivations --------------------------------------------------------------------------------------


def _derive_data_parallel() -> Derivation:
    d_ = Derivation("Tokens that hide the all-reduce of gradients")
    d_.start(
        Eq(2 * c * t_n * _weights / F, 2 * w_g * _weights / (N * o)),
        "backward arithmetic of a chip's tokens, and its gradients out and back",
    )
    d_.solve("balance_tokens", "the size of the layer cancels")
    return d_


def _derive_fsdp() -> Derivation:
    d_ = Derivation("Tokens that hide the gathering of weights")
    d_.start(
        Eq(c * t_n * _weights / F, w * _weights / (N * o)),
        "forward arithmetic of a chip's tokens, and the layer's weights, which come in once",
    )
    d_.solve("balance_tokens", "the size of the layer cancels")
    return d_


def _derive_tensor_limit() -> Derivation:
    d_ = Derivation("How far tensor parallelism goes")
    d_.start(
        Eq(c * T * _weights / (Y * F), 2 * w_r * T * d / (N * o)),
        "arithmetic shared by the group, and all activations in and out, whatever its size",
    )
    d_.solve("tensor_devices", "the batch and the width of the model cancel")
    return d_


def _derive_best_fsdp() -> Derivation:
    d_ = Derivation("The best share for FSDP")
    d_.start(fsdp_tensor_time, "more chips for FSDP: more weights and fewer activations each")
    d_.minimise("fsdp_devices", "at the bottom, both take equally long")
    d_.solve("fsdp_devices", "a square root: four times the batch, twice the chips for FSDP")
    return d_


def _at_best_split(d_: Derivation) -> None:
    """Add the time at the best split to a derivation, for tokens of each chip."""
    d_.start(fsdp_tensor_time, "weights and activations on the network")
    d_.substitute(
        {"fsdp_devices": best_fsdp_devices.expression},
        "at the best split both take equally long",
    )


def _derive_fsdp_tensor() -> Derivation:
    d_ = Derivation("Tokens that hide FSDP and tensor parallelism at the best split")
    _at_best_split(d_)
    d_.start(Eq(d_.result, c * T * _weights / (n * F)), "arithmetic takes as long")
    d_.substitute({"step_tokens": t_n * n}, "tokens for each chip: the number of chips cancels")
    d_.claim(
        Eq(8 * w * w_r * _weights * d * t_n / (N_x * N_y * o), (c * t_n * _weights / F) ** 2),
        "square both sides",
    )
    d_.solve("balance_tokens", "the width of the model cancels")
    return d_


def _derive_decode_limit() -> Derivation:
    d_ = Derivation("How far tensor parallelism goes in decode")
    d_.start(
        Eq(w * _weights / (Y * BW), 2 * w_r * new * B * d / (N * o)),
        "reading a chip's share of the weights, and all activations in and out",
    )
    d_.solve("tensor_devices", "the width of the model cancels; the batch does not")
    return d_


def _derive_weight_stationary() -> Derivation:
    d_ = Derivation("Weights cut both ways")
    cut = Eq(_net, 2 * w_r * T * d / (s * N * o) + 2 * w_r * T * d_ff * s / (n * N))
    d_.start(cut, "each cut of one width leaves chips to gather the other")
    d_.minimise("width_cuts", "at the bottom, both widths take equally long")
    d_.solve("width_cuts", "parts are square")
    best = d_.result
    d_.start(cut, "the time again")
    d_.substitute({"width_cuts": best}, "with square parts: twice either of both")
    return d_


def _derive_weight_gathered() -> Derivation:
    d_ = Derivation("Weights gathered over some chips, activations over the others")
    _at_best_split(d_)
    d_.substitute({"fsdp_bandwidth": N, "tensor_bandwidth": N}, "over the same links")
    return d_


def _derive_expert_width() -> Derivation:
    d_ = Derivation("Experts wide enough for their traffic")
    d_.start(
        Eq(c * k * T * _expert / (n * F), expert_parallel_time.expression),
        "arithmetic of the copies on a chip, and their way there and back",
    )
    d_.solve("expert_width", "tokens, copies and the width of the model cancel")
    return d_


def _derive_expert_batch() -> Derivation:
    d_ = Derivation("Tokens that reading the experts hides")
    d_.start(
        Eq(expert_parallel_time.expression, w * E * _expert / (n * BW)),
        "the way of all tokens there and back, and each chip's share of the experts",
    )
    d_.substitute({"step_tokens": t_n * n}, "tokens for each chip")
    d_.solve("balance_tokens", "the width of the model cancels")
    return d_


def _derive_bubble() -> Derivation:
    d_ = Derivation("The bubble, with chips shared three ways")
    d_.start(bubble_of_ideal, "a stage waits for all others once")
    d_.substitute({"pipeline_stages": n / (Y * D)}, "chips that are left for the pipeline")
    d_.substitute({"micro_batches": B / (D * b)}, "the batch is shared by the copies")
    d_.claim(
        Eq(q.bubble_of_ideal.symbol, pipeline_bubble_with_sharding.expression),
        "copies lower the number of stages, and that of micro-batches",
    )
    return d_
