"""Memory in training: weights, gradients, optimiser state, and activations of gated layers.

``reversible.layer_activation_bytes`` is the layer of the GPT-3 generation: a feed-forward part four
times as wide, dropout, as many heads of keys as of queries.  Here are the layers that came after,
with a gated feed-forward part and grouped or latent attention, and chips that share a layer.  The
state of training is 16 bytes a weight with Adam in mixed precision, on every chip, unless ZeRO
splits it: the optimiser's part in stage 1, gradients too in stage 2, weights too in stage 3.

>>> ours = dict(total_parameters=7.5e9, devices=64)  # the example of the ZeRO paper
>>> [
...     round(memory(ours) / 1e9, 1)
...     for memory in (
...         zero_stage_0_memory,
...         zero_stage_1_memory,
...         zero_stage_2_memory,
...         zero_stage_3_memory,
...     )
... ]
[120.0, 31.4, 16.6, 1.9]
>>> llama = dict(d_model=8192, attention_heads=64, kv_heads=8, head_width=128)  # 70B
>>> layer_activation_bytes_gated(llama, d_ff=28672, activation_bytes=2) / 8192
33.5
"""

from __future__ import annotations

from sympy import Eq

from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(
    n,
    one,
    t,
    C,
    N,
    w_theta,
    w_grad,
    w_opt,
    state,
    activations,
    w,
    y,
    w_a,
    w_layer,
    d,
    heads,
    kv_heads,
    d_head,
    d_value,
    d_ff,
    d_q,
    d_kv,
    d_rope,
    w_width,
    w_copies,
    w_score,
    L,
    B,
    layers,
    P,
    V,
) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.one_device,
        q.tensor_devices,
        q.memory_capacity,
        q.total_parameters,
        q.trained_weight_bytes,
        q.trained_gradient_bytes,
        q.optimiser_bytes,
        q.training_state_memory,
        q.activation_memory,
        q.bytes_per_parameter,
        q.one_layer,
        q.activation_bytes,
        q.layer_activation_bytes,
        q.d_model,
        q.attention_heads,
        q.kv_heads,
        q.head_width,
        q.value_width,
        q.d_ff,
        q.query_latent_width,
        q.kv_latent_width,
        q.rotary_width,
        q.bytes_per_width,
        q.replicated_bytes_per_width,
        q.bytes_per_score,
        q.sequence_tokens,
        q.micro_batch,
        q.layers,
        q.pipeline_stages,
        q.model_chunks,
    )
)

# Weights, gradients, optimiser --------------------------------------------------------------------

_ADAM = (
    "Adam in mixed precision, unless told otherwise: 2 bytes for the weight, 2 for its gradient, "
    "and 12 for a copy in 32 bits, momentum and variance"
)
_LEFT_OUT = "activations, buffers and fragmentation come on top"
_DATA_PARALLEL = (
    "the chips differ in their data alone: where others share the model too, the parameters are "
    "one share's and the chips those that hold the same share"
)
_ZERO = "Rajbhandari et al. 2020, ZeRO, arXiv 1910.02054"

training_state_memory = Formula(
    q.training_state_memory,
    N * (w_theta + w_grad + w_opt),
    source=f"{_ZERO}, section 3.1",
    meaning="weights, gradients and optimiser state, kept once",
    known_as=("Adam optimiser state",),
    conventions=(_ADAM, "in all, however many chips it is split over", _LEFT_OUT),
)

zero_stage_0_memory = Formula(
    q.device_memory,
    N * (w_theta + w_grad + w_opt) / one,
    name="zero_stage_0_memory",
    source=f"{_ZERO}, figure 1",
    meaning="state of training on each chip where every chip keeps all of it",
    conventions=(_ADAM, "plain data parallelism", _LEFT_OUT),
)

zero_stage_1_memory = Formula(
    q.device_memory,
    N * ((w_theta + w_grad) / one + w_opt / n),
    name="zero_stage_1_memory",
    source=f"{_ZERO}, section 5.1",
    meaning="state of training on each chip where the optimiser's part is split",
    known_as=("ZeRO-1",),
    conventions=(_ADAM, _DATA_PARALLEL, _LEFT_OUT),
)

zero_stage_2_memory = Formula(
    q.device_memory,
    N * (w_theta / one + (w_grad + w_opt) / n),
    name="zero_stage_2_memory",
    source=f"{_ZERO}, section 5.2",
    meaning="state of training on each chip where gradients are split too",
    known_as=("ZeRO-2",),
    conventions=(_ADAM, _DATA_PARALLEL, _LEFT_OUT),
)

zero_stage_3_memory = Formula(
    q.device_memory,
    N * (w_theta + w_grad + w_opt) / n,
    name="zero_stage_3_memory",
    source=f"{_ZERO}, section 5.3",
    meaning="state of training on each chip where weights are split too",
    known_as=("ZeRO-3", "FSDP memory of a chip"),
    conventions=(
        _ADAM,
        _DATA_PARALLEL,
        "also called fully sharded data parallelism; a layer's weights are gathered while they "
        "are used, and that layer's whole weights come on top",
        _LEFT_OUT,
    ),
)

_HU = "Hu et al. 2021, LoRA, arXiv 2106.09685"
r = q.adapter_rank.symbol

lora_parameters = Formula(
    q.adapter_parameters,
    q.one_parameter.symbol
    * r
    * layers
    / y
    * (
        2 * (d + heads * d_head)
        + 2 * (d + kv_heads * d_head)
        + q.feed_forward_matrices.symbol * (d + d_ff)
    ),
    name="lora_parameters",
    source=f"{_HU}, section 4.1",
    meaning="trained weights of low-rank adapters on every matrix of attention and feed-forward",
    known_as=("LoRA trainable parameters", "LoRA adapter size"),
    conventions=(
        "for each matrix, one from its inputs to the rank and one from the rank to its outputs",
        "grouped attention; no adapters on embeddings",
        "with routed experts, an adapter for each expert that a token uses, as wide as they are "
        "together: more where every expert has its own",
    ),
)

lora_memory = Formula(
    q.training_state_memory,
    N * w + q.adapter_parameters.symbol * (w_theta + w_grad + w_opt),
    using=(lora_parameters,),
    name="lora_memory",
    source=f"{_HU}, section 4.2",
    meaning="frozen weights, and the state of training of the adapters alone",
    known_as=("LoRA memory", "QLoRA memory", "fine-tuning memory with adapters"),
    conventions=(
        _ADAM,
        "the frozen weights as they are stored: half a byte each, and scales, in QLoRA",
        "activations come on top, and are no fewer than without adapters",
    ),
)

devices_to_train = Formula(
    q.devices_to_train,
    (state + activations) / C,
    using=(training_state_memory,),
    source="derived; Austin et al. 2025, How to Scale Your Model, applied training",
    meaning="chips whose memory state and activations fill, all of it split and nothing twice",
    known_as=("GPUs needed to train",),
    conventions=(
        "to be rounded up",
        "activations of all tokens that are in work at a time, in all",
        _ADAM,
        "no memory kept back for buffers or fragmentation",
    ),
    derivation=lambda: _derive_devices_to_train(),
)

# Activations of a layer ---------------------------------------------------------------------------

_FUSED = (
    "selective recomputation: fused attention computes the scores again, and none is kept; its "
    "one number of 32 bits for each head and token is left out"
)
_GATE = (
    "three numbers for each unit of feed-forward width: gate, up-projection, and the product of "
    "both; a fourth where the gate's activation is kept too, as without fusing"
)
_EXPERTS = (
    "with routed experts the width is that of all experts that a token uses, shared ones "
    "included; each expert's copy of its input and the router are left out"
)
_NO_DROPOUT = "without dropout"

layer_activation_bytes_gated = Formula(
    q.layer_activation_bytes,
    w_a / y * (4 * d + 2 * heads * d_head + 2 * kv_heads * d_head + 3 * d_ff),
    name="layer_activation_bytes_gated",
    source="derived, as Korthikanti et al. 2022, section 4.1",
    meaning="what a layer with grouped-query attention and a gated feed-forward part keeps of a "
    "token",
    known_as=("SwiGLU activation memory", "activation memory of a Llama layer"),
    conventions=(
        "inputs and results of two norms, queries, keys, values, and the heads' results",
        _GATE,
        _FUSED,
        _NO_DROPOUT,
        _EXPERTS,
    ),
)

layer_activation_bytes_latent = Formula(
    q.layer_activation_bytes,
    w_a / y * (4 * d + 2 * (d_q + d_kv) + 2 * heads * (d_head + d_value) + 3 * d_ff),
    name="layer_activation_bytes_latent",
    source="derived, as Zhang and Su 2025, arXiv 2502.07846, section 5.1",
    meaning="what a layer with latent attention and a gated feed-forward part keeps of a token",
    conventions=(
        "training computes keys and values of every head from the latent vector, and keeps them",
        "a norm on each latent vector: its input and its result",
        "the width of a head counts the numbers that carry the position",
        _GATE,
        _FUSED,
        _NO_DROPOUT,
        _EXPERTS,
    ),
)

layer_activation_bytes_latent_recomputed = Formula(
    q.layer_activation_bytes,
    w_a / y * (2 * d + d_q + d_kv + d_rope + heads * d_value + 3 * d_ff),
    name="layer_activation_bytes_latent_recomputed",
    source="derived; DeepSeek-AI 2024, arXiv 2412.19437, section 3.2.3",
    meaning="what a layer with latent attention keeps of a token where norms are computed "
    "again, and queries, keys and values from their latent vectors",
    conventions=(
        "the latent vectors are kept, with the numbers that carry the position",
        _GATE,
        _FUSED,
        _NO_DROPOUT,
        _EXPERTS,
    ),
)

layer_activation_bytes_recomputed = Formula(
    q.layer_activation_bytes,
    w_a * d / y,
    name="layer_activation_bytes_recomputed",
    source="Korthikanti et al. 2022, arXiv 2205.05198, table 2",
    meaning="full recomputation: a layer keeps its input alone, whatever is inside",
    conventions=(
        "the layer at work, which is computed again, comes on top: see "
        "activation_memory_checkpointed",
        "one more forward pass",
        "on every chip that shares the layer; where norms are shared too, each can keep a share of "
        "it, for one more all-gather a layer",
    ),
)

# Chips that share a layer -------------------------------------------------------------------------

_KORTHIKANTI = "Korthikanti et al. 2022, arXiv 2205.05198"
_EACH = "on each of the chips that share the layer"
_SELECTIVE = "selective recomputation, as in fused attention: 0 bytes a score"
_GPT = "16-bit activations, masks of dropout included; a feed-forward part four times as wide"

layer_activation_bytes_tensor_parallel = Formula(
    q.layer_activation_bytes,
    d * (w_copies + (w_width - w_copies) * one / t) + w_score * heads * L * one / t,
    name="layer_activation_bytes_tensor_parallel",
    source=f"{_KORTHIKANTI}, equation 2",
    meaning="what one chip keeps of a token where matrices are shared, and norms and dropout are "
    "not",
    conventions=(
        _EACH,
        "10 of the 34 bytes a unit of width are on every chip: inputs of norms, of attention and "
        "of the feed-forward part, and masks",
        _SELECTIVE,
        _GPT,
    ),
)

layer_activation_bytes_sequence_parallel = Formula(
    q.layer_activation_bytes,
    (w_width * d + w_score * heads * L) * one / t,
    name="layer_activation_bytes_sequence_parallel",
    source=f"{_KORTHIKANTI}, equation 4",
    meaning="what one chip keeps of a token where norms and dropout are shared too, by tokens: "
    "nothing is kept twice",
    known_as=("Megatron sequence parallelism",),
    conventions=(_EACH, _SELECTIVE, _GPT),
)

layer_activation_bytes_gated_sequence_parallel = Formula(
    q.layer_activation_bytes,
    layer_activation_bytes_gated.expression * one / t,
    name="layer_activation_bytes_gated_sequence_parallel",
    source=f"derived from {_KORTHIKANTI}, equation 4",
    meaning="what one chip keeps of a token of a gated layer that is shared, norms too",
    conventions=(
        _EACH,
        "each chip holds whole heads of keys and values: no more chips than those",
        *layer_activation_bytes_gated.conventions,
    ),
)

activation_memory_interleaved = Formula(
    q.activation_memory,
    B * L * layers * w_layer * (1 + (P - 1) / (P * V)),
    name="activation_memory_interleaved",
    source=f"{_KORTHIKANTI}, section 4.2.3",
    meaning="interleaved 1F1B: the first stage holds more than all layers' worth of one "
    "micro-batch",
    conventions=(
        "at least as many micro-batches as stages",
        "no recomputation of layers",
        "on one stage, over all chips that share it",
    ),
)


# Derivations --------------------------------------------------------------------------------------


def _derive_devices_to_train() -> Derivation:
    found = q.devices_to_train.symbol
    d_ = Derivation("Chips that hold what training keeps")
    d_.start(Eq(found * C, state + activations), "all memory is full, and nothing is kept twice")
    d_.solve("devices_to_train", "divide by the memory of one chip")
    return d_
