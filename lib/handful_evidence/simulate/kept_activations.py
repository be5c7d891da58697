"""A layer of a transformer in NumPy whose backward pass has nothing but what the forward kept.

``forward`` returns the layer's output and a dictionary of what it keeps; ``backward`` gets that
dictionary, the weights and the gradient of the output, and nothing else.  Gradients that agree with
finite differences show that what is kept suffices.  Norms are without gain, and there is no
dropout.

>>> layer = Layer(width=16, heads=4, kv_heads=2, head=4, value=4, inner=24)
>>> weights, x = start(layer, tokens=6, seed=1)
>>> y, kept = forward(layer, weights, x)
>>> sorted(kept)
['attention_in', 'feed_forward_in', 'gate', 'head_results', 'keys', 'logarithms', 'middle',
'product', 'queries', 'up', 'values', 'x']
>>> numbers_per_token(kept)  # 4 × 16, 2 × 4 × 4, 2 × 2 × 4 and 3 × 24
184.0
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating[Any]]
Arrays = dict[str, Array]


class Layer(NamedTuple):
    """Widths of a layer; with latent attention `query_latent` and `kv_latent` are above 0.

    `head` is the width of a query and of a key, of which the last `rotary` numbers (all of them
    without latent attention) are turned by their position.
    """

    width: int
    heads: int
    kv_heads: int
    head: int
    value: int
    inner: int
    query_latent: int = 0
    kv_latent: int = 0
    rotary: int = 0


def start(layer: Layer, tokens: int, seed: int) -> tuple[Arrays, Array]:
    """Draw weights and an input of shape (tokens, width)."""
    s, rng = layer, np.random.default_rng(seed)
    if s.kv_latent:
        shapes = {
            "query_down": (s.width, s.query_latent),
            "kv_down": (s.width, s.kv_latent),
            "rotary_down": (s.width, s.rotary),
            "query": (s.query_latent, s.heads * s.head),
            "key": (s.kv_latent, s.heads * (s.head - s.rotary)),
            "value": (s.kv_latent, s.heads * s.value),
        }
    else:
        shapes = {
            "query": (s.width, s.heads * s.head),
            "key": (s.width, s.kv_heads * s.head),
            "value": (s.width, s.kv_heads * s.value),
        }
    shapes |= {
        "out": (s.heads * s.value, s.width),
        "gate": (s.width, s.inner),
        "up": (s.width, s.inner),
        "down": (s.inner, s.width),
    }
    weights = {k: rng.standard_normal(shape) / shape[0] ** 0.5 for k, shape in shapes.items()}
    return weights, rng.standard_normal((tokens, s.width))


def numbers_per_token(kept: Arrays) -> float:
    """Return how many numbers are kept for each token, without fused attention's logarithms."""
    tokens = len(kept["x"])
    return sum(array.size for name, array in kept.items() if name != "logarithms") / tokens


def forward(
    layer: Layer, weights: Arrays, x: Array, recompute: bool = False
) -> tuple[Array, Arrays]:
    """Return the output and what is kept of the way to it.

    With `recompute` neither results of norms are kept nor queries, keys and values that come from
    latent vectors.  Raises ValueError where there are no latent vectors to compute them from.
    """
    if recompute and not layer.kv_latent:
        raise ValueError("Queries, keys and values are computed again from latent vectors only.")
    kept: Arrays = {"x": x}
    attention_in = _norm(x)
    made = _projected(layer, weights, attention_in)
    queries, keys, values = _heads(layer, weights, made)
    head_results, logarithms = _attention(queries, keys, values)
    middle = x + _flat(head_results) @ weights["out"]
    feed_forward_in = _norm(middle)
    gate, up = feed_forward_in @ weights["gate"], feed_forward_in @ weights["up"]
    product = _silu(gate) * up
    kept |= {"head_results": head_results, "logarithms": logarithms, "middle": middle}
    kept |= {"gate": gate, "up": up, "product": product}
    if layer.kv_latent:
        kept |= {name: made[name] for name in ("query_latent", "kv_latent")}
    if recompute:
        kept |= {"rotary": made["rotary"]} if layer.kv_latent else {}
    else:
        kept |= {"attention_in": attention_in, "feed_forward_in": feed_forward_in}
        kept |= {"queries": queries, "keys": keys, "values": values}
        if layer.kv_latent:
            kept |= {name: _norm(made[name]) for name in ("query_latent", "kv_latent")}
            kept |= {f"{name}_raw": made[name] for name in ("query_latent", "kv_latent")}
    return middle + product @ weights["down"], kept


def backward(layer: Layer, weights: Arrays, kept: Arrays, d_out: Array) -> tuple[Array, Arrays]:
    """Return gradients of the input and of the weights, from what was kept alone."""
    grads: Arrays = {}

    def through(name: str, entered: Array, d_left: Array) -> Array:
        grads[name] = entered.T @ d_left
        return d_left @ weights[name].T

    d_product = through("down", kept["product"], d_out)
    gate, up = kept["gate"], kept["up"]
    normed = kept["feed_forward_in"] if "feed_forward_in" in kept else _norm(kept["middle"])
    d_normed = through("up", normed, d_product * _silu(gate))
    d_normed += through("gate", normed, d_product * up * _silu_slope(gate))
    d_middle = d_out + _norm_back(kept["middle"], d_normed)

    results = kept["head_results"]
    d_results = through("out", _flat(results), d_middle).reshape(results.shape)
    attention_in = kept["attention_in"] if "attention_in" in kept else _norm(kept["x"])
    if "queries" in kept:
        made = {}
        queries, keys, values = kept["queries"], kept["keys"], kept["values"]
    else:
        made = {name: kept[name] for name in ("query_latent", "kv_latent", "rotary")}
        queries, keys, values = _heads(layer, weights, made)
    dq, dk, dv = _attention_back(queries, keys, values, results, kept["logarithms"], d_results)

    place = np.arange(len(d_out))
    if not layer.kv_latent:
        d_in = through("query", attention_in, _flat(_turn(dq, -place)))
        d_in += through("key", attention_in, _flat(_turn(dk, -place)))
        d_in += through("value", attention_in, _flat(dv))
        return d_middle + _norm_back(kept["x"], d_in), grads
    r = layer.rotary
    dq = np.concatenate([dq[..., :-r], _turn(dq[..., -r:], -place)], axis=-1)
    d_rotary = _turn(dk[..., -r:].sum(axis=1, keepdims=True), -place)
    kept_normed = {}
    for name in ("query_latent", "kv_latent"):
        raw = kept.get(f"{name}_raw", kept[name])
        kept_normed[name] = kept[name] if f"{name}_raw" in kept else _norm(raw)
    d_query = through("query", kept_normed["query_latent"], _flat(dq))
    d_kv = through("key", kept_normed["kv_latent"], _flat(dk[..., :-r]))
    d_kv += through("value", kept_normed["kv_latent"], _flat(dv))
    d_query = _norm_back(kept.get("query_latent_raw", kept["query_latent"]), d_query)
    d_kv = _norm_back(kept.get("kv_latent_raw", kept["kv_latent"]), d_kv)
    d_in = through("query_down", attention_in, d_query)
    d_in += through("kv_down", attention_in, d_kv)
    d_in += through("rotary_down", attention_in, _flat(d_rotary))
    return d_middle + _norm_back(kept["x"], d_in), grads


# Parts of a layer ---------------------------------------------------------------------------------


def _flat(heads: Array) -> Array:
    return heads.reshape(len(heads), -1)


def _norm(x: Array) -> Array:
    return np.asarray(x / np.sqrt((x * x).mean(axis=-1, keepdims=True)))


def _norm_back(x: Array, d_out: Array) -> Array:
    size = np.sqrt((x * x).mean(axis=-1, keepdims=True))
    return np.asarray((d_out - x * (d_out * x).mean(axis=-1, keepdims=True) / size**2) / size)


def _silu(x: Array) -> Array:
    return np.asarray(x / (1 + np.exp(-x)))


def _silu_slope(x: Array) -> Array:
    s = 1 / (1 + np.exp(-x))
    return np.asarray(s * (1 + x * (1 - s)))


def _turn(x: Array, place: npt.NDArray[Any]) -> Array:
    """Turn pairs of numbers by an angle of their token's place; the inverse has -place."""
    half = x.shape[-1] // 2
    angle = place[:, None, None] / 10 ** np.arange(half)
    a, b = x[..., :half], x[..., half:]
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def _projected(layer: Layer, weights: Arrays, entered: Array) -> Arrays:
    """Return what heads are made from: the normed input, or latent vectors of it."""
    if not layer.kv_latent:
        return {"entered": entered}
    return {
        "query_latent": entered @ weights["query_down"],
        "kv_latent": entered @ weights["kv_down"],
        "rotary": entered @ weights["rotary_down"],
    }


def _heads(layer: Layer, weights: Arrays, made: Arrays) -> tuple[Array, Array, Array]:
    """Return queries, keys and values of shapes (tokens, heads, width of a head)."""
    s, tokens = layer, len(next(iter(made.values())))
    place = np.arange(tokens)
    if not s.kv_latent:
        entered = made["entered"]
        queries = (entered @ weights["query"]).reshape(tokens, s.heads, s.head)
        keys = (entered @ weights["key"]).reshape(tokens, s.kv_heads, s.head)
        values = (entered @ weights["value"]).reshape(tokens, s.kv_heads, s.value)
        return _turn(queries, place), _turn(keys, place), values
    latent = _norm(made["kv_latent"])
    queries = (_norm(made["query_latent"]) @ weights["query"]).reshape(tokens, s.heads, s.head)
    turned = _turn(queries[..., -s.rotary :], place)
    queries = np.concatenate([queries[..., : -s.rotary], turned], axis=-1)
    keys = (latent @ weights["key"]).reshape(tokens, s.heads, s.head - s.rotary)
    shared = np.repeat(_turn(made["rotary"][:, None], place), s.heads, axis=1)
    values = (latent @ weights["value"]).reshape(tokens, s.heads, s.value)
    return queries, np.concatenate([keys, shared], axis=-1), values


def _scores(queries: Array, keys: Array) -> Array:
    """Return scores of shape (heads, tokens, tokens), minus infinity for later tokens."""
    shared = np.repeat(keys, queries.shape[1] // keys.shape[1], axis=1)
    found = np.einsum("qhd,khd->hqk", queries, shared) / queries.shape[-1] ** 0.5
    return np.where(np.tri(len(queries), dtype=bool), found, -np.inf)


def _attention(queries: Array, keys: Array, values: Array) -> tuple[Array, Array]:
    """Return the heads' results, and the logarithm of each sum of exponentials."""
    scores = _scores(queries, keys)
    logarithms = np.log(np.exp(scores).sum(axis=-1))
    shared = np.repeat(values, queries.shape[1] // values.shape[1], axis=1)
    shares = np.exp(scores - logarithms[..., None])
    return np.einsum("hqk,khd->qhd", shares, shared), logarithms


def _attention_back(
    queries: Array, keys: Array, values: Array, results: Array, logarithms: Array, d_results: Array
) -> tuple[Array, Array, Array]:
    """Compute the scores again, and go back through them (Dao et al. 2022, FlashAttention)."""
    group = queries.shape[1] // keys.shape[1]
    shares = np.exp(_scores(queries, keys) - logarithms[..., None])
    d_shares = np.einsum("qhd,khd->hqk", d_results, np.repeat(values, group, axis=1))
    dot = (d_results * results).sum(axis=-1).T[..., None]
    d_scores = shares * (d_shares - dot) / queries.shape[-1] ** 0.5
    dq = np.einsum("hqk,khd->qhd", d_scores, np.repeat(keys, group, axis=1))
    dk = np.einsum("hqk,qhd->khd", d_scores, queries)
    dv = np.einsum("hqk,qhd->khd", shares, d_results)

    def summed(per_head: Array) -> Array:
        """Add up what query heads say of the keys and values that they share."""
        tokens, _, width = per_head.shape
        return np.asarray(per_head.reshape(tokens, -1, group, width).sum(axis=2))

    return dq, summed(dk), summed(dv)
