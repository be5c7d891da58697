"""Parameter counts, KV cache and attention arithmetic, computed from a model's shape.

A shape is the handful of integers in a model's configuration file.  Everything below is a count of
the entries of its weight matrices, so where the publisher states an exact count ours equals it to
the last digit (see the column `published_parameters` of ``facts/shapes.csv`` and
``tests/equations/test_shapes.py``).

Conventions: a *full* layer attends to, and caches, every earlier token; a *windowed* layer keeps
only the latest `window_tokens`.  KV counts are in elements; times the bytes per element they are
bytes.  FLOP counts a multiply-add as two.

>>> v3 = shape("DeepSeek-V3")
>>> f"{total_parameters(v3):,}"
'671,026,419,200'
>>> 2 * kv_elements_per_token(v3)  # bytes per token in bf16
70272
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from . import facts
from .units import format_value


class ShapeError(ValueError):
    """A shape that contradicts itself, or a count that is not defined for it."""

    exit_code = 2


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The integers that define a decoder-only transformer.

    Kinds of attention: multi-head (`kv_heads` = `heads`), grouped-query (fewer), multi-query (1),
    latent (`kv_lora_rank` above 0, with the widths of the parts of a head), any of the first three
    with windowed layers (`full_attention_layers` below `layers`), with one KV set for
    `layers_per_kv` neighbouring layers, or compressed (`compressed_layers`, pairs of tokens per
    cached entry and number of layers).  Latent attention may choose its tokens by an indexer of
    `indexer_heads` heads of `indexer_dim`, in `indexer_layers` of the layers (all where None).

    `qk_norm` puts a norm of width `head_dim` on queries and one on keys; where `qk_norm_whole`,
    each spans all heads.  `shared_gate` weighs the shared experts by one output a token.  `notes`
    are sentences about what a configuration left open (`handful.model_config.read_config`).

    Feed-forward blocks: three matrices where `gated`, else two.  The first or other `dense_layers`
    layers hold one block of width `ffn_dim`; the rest hold `routed_experts` of width `expert_dim`,
    `active_experts` of which serve a token, and `shared_experts` that serve every token.

    >>> Shape(
    ...     name="toy", layers=2, d_model=8, heads=2, kv_heads=3, head_dim=4, vocab=16, ffn_dim=32
    ... )
    Traceback (most recent call last):
    ...
    handful.shapes.ShapeError: toy: heads must be a multiple of kv_heads; got 2 and 3.
    """

    name: str
    layers: int
    d_model: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    max_context: int = 0
    # embeddings
    tied_embeddings: bool = False
    learned_positions: int = 0
    # attention
    full_attention_layers: int | None = None
    window_tokens: int = 0
    layers_per_kv: int = 1
    q_lora_rank: int = 0
    kv_lora_rank: int = 0
    rope_dim: int = 0
    nope_dim: int = 0
    v_head_dim: int = 0
    compressed_layers: tuple[tuple[int, int], ...] = ()
    indexer_dim: int = 0
    indexer_heads: int = 0
    indexer_layers: int | None = None
    attention_bias: str = "none"
    qk_norm: bool = False
    qk_norm_whole: bool = False
    attention_sinks: bool = False
    # feed-forward
    gated: bool = True
    ffn_dim: int = 0
    ffn_bias: bool = False
    routed_experts: int = 0
    active_experts: int = 0
    shared_experts: int = 0
    shared_gate: bool = False
    expert_dim: int = 0
    dense_layers: int = 0
    router_bias: bool = False
    # norms
    norms_per_layer: int = 2
    norm_bias: bool = False
    # where it comes from
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("layers", "d_model", "heads", "kv_heads", "head_dim", "vocab"):
            if getattr(self, name) < 1:
                raise ShapeError(
                    f"{self.name}: {name} must be 1 or more; got {getattr(self, name)}."
                )
        if self.heads % self.kv_heads:
            raise ShapeError(
                f"{self.name}: heads must be a multiple of kv_heads; got {self.heads} and "
                f"{self.kv_heads}."
            )
        if not 0 <= self.full_layers <= self.layers:
            raise ShapeError(
                f"{self.name}: full_attention_layers must be between 0 and {self.layers}; "
                f"got {self.full_layers}."
            )
        if self.windowed_layers and not self.window_tokens:
            raise ShapeError(
                f"{self.name}: {self.windowed_layers} layers are windowed, so window_tokens "
                "must be above 0."
            )
        if not 0 <= self.indexing_layers <= self.layers:
            raise ShapeError(
                f"{self.name}: indexer_layers must be between 0 and {self.layers}; "
                f"got {self.indexer_layers}."
            )
        if self.active_experts > self.routed_experts:
            raise ShapeError(
                f"{self.name}: active_experts must be at most routed_experts; got "
                f"{self.active_experts} of {self.routed_experts}."
            )
        if self.attention_bias not in ("none", "qkv", "all"):
            raise ShapeError(
                f"{self.name}: attention_bias must be none, qkv or all; got "
                f"{self.attention_bias!r}."
            )

    @property
    def full_layers(self) -> int:
        """Return the number of layers that attend to every earlier token."""
        return self.layers if self.full_attention_layers is None else self.full_attention_layers

    @property
    def windowed_layers(self) -> int:
        """Return the number of layers that keep a window only."""
        return self.layers - self.full_layers

    @property
    def indexing_layers(self) -> int:
        """Return the number of layers of latent attention that have an indexer of their own."""
        if not self.indexer_heads:
            return 0
        return self.layers if self.indexer_layers is None else self.indexer_layers

    @property
    def expert_layers(self) -> int:
        """Return the number of layers with routed experts."""
        return self.layers - self.dense_layers if self.routed_experts else 0

    @property
    def latent(self) -> bool:
        """Return whether attention caches one latent vector a token (MLA).

        Otherwise it caches keys and values.
        """
        return self.kv_lora_rank > 0


def _bias(width: int, wanted: bool) -> int:
    return width if wanted else 0


def _attention_weights(s: Shape) -> int:
    """Return the number of weights of all attention blocks.

    Norms inside attention are counted with the norms.
    """
    d = s.d_model
    if s.latent:
        head = s.nope_dim + s.rope_dim
        query = (
            d * s.q_lora_rank + s.q_lora_rank * s.heads * head
            if s.q_lora_rank
            else d * s.heads * head
        )
        latent = d * (s.kv_lora_rank + s.rope_dim)
        unpacked = s.kv_lora_rank * s.heads * (s.nope_dim + s.v_head_dim)
        # An indexer scores tokens with small heads of its own: queries, one key, a weight a head.
        heads = s.indexer_heads
        indexer = (s.q_lora_rank or d) * heads * s.indexer_dim + d * s.indexer_dim + d * heads
        return (
            s.layers * (query + latent + unpacked + s.heads * s.v_head_dim * d)
            + s.indexing_layers * indexer
        )
    q, kv = s.heads * s.head_dim, s.kv_heads * s.head_dim
    biased = s.attention_bias != "none"
    every = d * q + _bias(q, biased) + q * d + _bias(d, s.attention_bias == "all")
    every += _bias(s.heads, s.attention_sinks)
    own_kv = 2 * (d * kv + _bias(kv, biased))
    return s.layers * every + -(-s.layers // s.layers_per_kv) * own_kv


def _block(s: Shape, width: int) -> int:
    """Count one feed-forward block: up and down, and the gate where there is one."""
    matrices = 3 if s.gated else 2
    return matrices * s.d_model * width + _bias((matrices - 1) * width + s.d_model, s.ffn_bias)


def _norm_weights(s: Shape) -> int:
    norm = s.d_model * (2 if s.norm_bias else 1)
    normed_heads = s.heads + s.kv_heads if s.qk_norm_whole else 2
    inside = normed_heads * s.head_dim if s.qk_norm else 0
    if s.latent:
        inside += s.kv_lora_rank + s.q_lora_rank
    of_indexers = s.indexing_layers * 2 * s.indexer_dim  # a LayerNorm's weight and bias
    return s.layers * (s.norms_per_layer * norm + inside) + of_indexers + norm


def breakdown(s: Shape) -> dict[str, int]:
    """Return the parameters by part; the parts add up to `total_parameters`.

    >>> breakdown(shape("Mixtral 8x7B"))["routed experts"]
    45097156608
    >>> breakdown(shape("DeepSeek-V4-Pro"))
    Traceback (most recent call last):
    ...
    handful.shapes.ShapeError: DeepSeek-V4-Pro: compressed attention holds weights that a
    shape does not list; only its KV cache can be computed, so take its size from the table models.
    """
    if s.compressed_layers:
        raise ShapeError(
            f"{s.name}: compressed attention holds weights that a shape does not list; only its "
            "KV cache can be computed, so take its size from the table models."
        )
    dense = s.layers - s.expert_layers
    bias = s.expert_layers * s.routed_experts if s.router_bias else 0
    return {
        "input embedding": s.vocab * s.d_model + s.learned_positions * s.d_model,
        "output head": 0 if s.tied_embeddings else s.vocab * s.d_model,
        "attention": _attention_weights(s),
        "dense feed-forward": dense * _block(s, s.ffn_dim),
        "routed experts": s.expert_layers * s.routed_experts * _block(s, s.expert_dim),
        "shared experts": s.expert_layers
        * (s.shared_experts * _block(s, s.expert_dim) + _bias(s.d_model, s.shared_gate)),
        "router": s.expert_layers * s.routed_experts * s.d_model + bias,
        "norms": _norm_weights(s),
    }


def total_parameters(s: Shape) -> int:
    """Count every weight once, a tied embedding once too.

    Prediction modules beside the model are left out.

    >>> total_parameters(shape("Llama 3.1 8B"))
    8030261248
    """
    return sum(breakdown(s).values())


def routed_parameters(s: Shape) -> int:
    """Count the weights in routed experts; 0 for a dense model.

    >>> routed_parameters(shape("Llama 3.1 8B"))
    0
    """
    return breakdown(s)["routed experts"]


def active_parameters(s: Shape, input_embedding: bool = True) -> int:
    """Count the weights that one token uses.

    With `input_embedding` (the default) every weight but the idle experts counts, so that a dense
    model's active parameters are its total.  Without it the input embedding, which is looked up and
    not multiplied, is left out; a tied embedding stays, since it multiplies as the output head.

    >>> round(active_parameters(shape("DeepSeek-V3")) / 1e9, 1)
    37.6
    >>> round(active_parameters(shape("DeepSeek-V3"), input_embedding=False) / 1e9, 1)
    36.6
    """
    parts = breakdown(s)
    idle = looked_up = 0
    if s.routed_experts:
        idle = parts["routed experts"] // s.routed_experts * (s.routed_experts - s.active_experts)
    if not input_embedding:
        looked_up = (
            s.learned_positions * s.d_model if s.tied_embeddings else parts["input embedding"]
        )
    return sum(parts.values()) - idle - looked_up


def published_difference(name: str) -> str:
    """Return why a model's published counts are not those of its shape, in sentences.

    The result is "" where each is within two per cent, or where the table `models` has none.  A
    published count of active parameters is set beside the nearest of the ways to count them.

    >>> published_difference("Llama 3.1 70B")
    ''
    >>> print(published_difference("gpt-oss-120b").replace("\N{NO-BREAK SPACE}", " "))
    The book counts 5.71 billion active parameters for gpt-oss-120b, and 5.1 billion are published:
    without the input embedding, whose 201,088 × 2,880 weights (579 million) are looked up and not
    multiplied, the count is 5.13 billion.
    """
    published = next((row for row in facts.load("models") if row.name == name), None)
    if published is None or name not in names(countable=True):
        return ""
    s, said = shape(name), []
    total, stated = total_parameters(s), published["total_params_reported"]
    if stated and _apart(total, stated):
        said.append(
            f"The shape of {name} has {_count(total)} parameters, and {_count(stated)} are "
            "published, a round number."
        )
    active, stated = active_parameters(s), published["active_params_reported"]
    if stated and _apart(active, stated):
        parts, size = breakdown(s), f"{s.vocab:,} × {s.d_model:,} weights"
        ways = {
            parts["input embedding"]: f"without the input embedding, whose {size} "
            f"({_count(parts['input embedding'])}) are looked up and not multiplied,",
            parts["input embedding"] + parts["output head"]: "without the input embedding and the "
            f"output head, each of {size} ({_count(parts['output head'])}),",
        }
        left_out = min(ways, key=lambda weights: abs(active - weights - stated))
        said.append(
            f"The book counts {_count(active)} active parameters for {name}, and {_count(stated)} "
            f"are published: {ways[left_out]} the count is {_count(active - left_out)}."
        )
    return " ".join(said)


def _apart(count: float, published: float) -> bool:
    return abs(count / published - 1) > 0.02


def _count(parameters: float) -> str:
    return format_value(parameters, "1")


def prediction_parameters(s: Shape) -> int:
    """Count the weights of one multi-token-prediction module as checkpoints store it.

    They are never part of `total_parameters`.

    It is one more expert layer, a projection of two hidden vectors to one, three norms, and copies
    of the input embedding and the output head.

    >>> air = shape("GLM-4.5-Air")
    >>> total_parameters(air) + prediction_parameters(air)  # the checkpoint's own count
    110468824832
    """
    layer = breakdown(
        replace(s, layers=1, dense_layers=0, full_attention_layers=None, indexer_layers=None)
    )
    inside = sum(layer.values()) - layer["input embedding"] - layer["output head"] - s.d_model
    return inside + 2 * s.d_model**2 + 3 * s.d_model + 2 * s.vocab * s.d_model


def kv_elements_per_token(s: Shape) -> float:
    """Count the elements of cache that one more token of context adds, over all layers.

    Windowed layers add nothing once their window is full.  Latent attention caches `kv_lora_rank` +
    `rope_dim` a layer, and one key of `indexer_dim` in a layer with an indexer.  A compressed layer
    caches one vector for keys and values together (and one for the indexer, on the layers that
    select) per group of tokens, so that the result may be a fraction.

    >>> kv_elements_per_token(shape("Llama 3.1 405B"))
    258048
    >>> kv_elements_per_token(shape("DeepSeek-V4-Pro"))
    4924
    """
    if s.compressed_layers:
        # Layers select from the finest groups; the coarse ones are read whole and need no indexer.
        selecting = min(ratio for ratio, _ in s.compressed_layers)
        shares = sum(
            n / ratio * (s.head_dim + (s.indexer_dim if ratio == selecting else 0))
            for ratio, n in s.compressed_layers
        )
        return int(shares) if shares == int(shares) else shares
    if s.latent:
        return s.full_layers * (s.kv_lora_rank + s.rope_dim) + s.indexing_layers * s.indexer_dim
    return 2 * -(-s.full_layers // s.layers_per_kv) * s.kv_heads * s.head_dim


def kv_window_elements(s: Shape) -> int:
    """Count the elements that the windowed layers of one sequence hold, at most.

    There are 0 without such layers.

    >>> kv_window_elements(shape("gpt-oss-120b")) == 2 * 18 * 8 * 64 * 128
    True
    """
    if s.compressed_layers:  # keys and values are one vector, and every layer keeps a window
        return s.layers * s.head_dim * s.window_tokens
    return 2 * -(-s.windowed_layers // s.layers_per_kv) * s.kv_heads * s.head_dim * s.window_tokens


def attention_flops_per_pair(s: Shape, absorbed: bool = True) -> int:
    """Count the FLOPs to attend from one new token to one token of context.

    The count is over all full layers.

    Each head spends a multiply-add per element on the score and one on the weighted sum: 4 x heads
    x head_dim.  Latent attention has two forms.  `absorbed` (how decoding runs) works on the cached
    latent itself, with scores of width `kv_lora_rank` + `rope_dim` and sums of width
    `kv_lora_rank`; the plain form (how prefill runs) first unpacks keys and values and is cheaper
    per pair.  An indexer's scores are added, and attention is counted over every token, of which
    an indexer lets only some through: then the count is an upper bound.

    >>> attention_flops_per_pair(shape("Llama 3.1 70B")) == 4 * 64 * 128 * 80
    True
    >>> v3 = shape("DeepSeek-V3")
    >>> attention_flops_per_pair(v3), attention_flops_per_pair(v3, absorbed=False)
    (16990208, 4997120)
    """
    if s.compressed_layers:
        raise ShapeError(
            f"{s.name}: attention over compressed tokens has no fixed cost per context token."
        )
    if s.latent:
        width = (
            2 * s.kv_lora_rank + s.rope_dim if absorbed else s.nope_dim + s.rope_dim + s.v_head_dim
        )
        scores = s.indexing_layers * s.indexer_heads * s.indexer_dim
        return 2 * (s.full_layers * s.heads * width + scores)
    return 4 * s.heads * s.head_dim * s.full_layers


def names(countable: bool = False) -> list[str]:
    """Return the names of the shapes on file.

    Where `countable`, only those whose parameters can be counted.

    >>> "gpt-oss-120b" in names()
    True
    """
    return [
        row.name for row in facts.load("shapes") if not (countable and row["compressed_layers"])
    ]


def shape(name: str) -> Shape:
    """Return the shape of that name, from ``facts/shapes.csv``.

    An unknown name raises FactsError, which gives the nearest ones.

    >>> shape("Llama 3.1 70B").kv_heads
    8
    """
    return of_row(facts.get("shapes", name))


def of_row(row: facts.Row) -> Shape:
    """Return the shape in a row of the table `shapes`.

    What the row leaves empty takes the default.
    """
    given = {
        f.name: row[f.name]
        for f in fields(Shape)
        if f.name != "name" and row.get(f.name) is not None  # the table lacks what no row needs
    }
    if "compressed_layers" in given:
        pairs = (pair.split(":") for pair in given["compressed_layers"].split())
        given["compressed_layers"] = tuple((int(ratio), int(n)) for ratio, n in pairs)
    return Shape(name=row.name, **given)
