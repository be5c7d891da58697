"""The memory wall: what a step reads of its cache, and how long a context can grow.

It is in the lecture at 1:52:52.

A step reads its weights once for all sequences, and a cache for each of them.  Beyond one context
the caches are most of what is read; at another they fill the memory.  Kinds of attention differ in
how the reading grows: linear (every token, whole), constant (a window, a fixed number of chosen
tokens), linear with a small slope (a key of every token, to choose by).  A square root arises only
where blocks are chosen by their summaries and are cut anew as the context grows.

>>> v3, v32 = kv_read_terms("DeepSeek-V3"), kv_read_terms("DeepSeek-V3.2")
>>> def growth(terms, context):
...     read = [kv_read_compressed(terms, context=L) for L in (context, 2 * context)]
...     return round(read[1] / read[0], 2)
>>> growth(v3, 4096), growth(v32, 4096), growth(v32, 2**20)  # a root would give 1.41 at any length
(2.0, 1.18, 1.98)
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from sympy import Eq, Max, Min, sqrt

from . import facts, scenario, shapes
from .latency import context_of_cache, fetched_parameters
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(n, B, N_total, w, L, b, b0, C, BW, t, b_top, K, b_index, b_window, W, beta, k_beta, g_beta) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.batch,
        q.total_parameters,
        q.bytes_per_parameter,
        q.context,
        q.kv_bytes_per_token,
        q.window_cache_memory,
        q.memory_capacity,
        q.memory_bandwidth,
        q.read_budget,
        q.selected_bytes_per_token,
        q.selected_tokens,
        q.indexer_bytes_per_token,
        q.windowed_bytes_per_token,
        q.window_tokens,
        q.block_tokens,
        q.selected_blocks,
        q.summary_bytes,
    )
)


class ReadingError(ValueError):
    """A model for which there is nothing on file of what a step reads."""


# How long a context can grow ----------------------------------------------------------------------

wall_context = Formula(
    q.wall_context,
    context_of_cache(w * q.fetched_parameters.symbol / B),
    using=(fetched_parameters,),
    source="1:52:52; derived",
    meaning="context at which a step reads as much cache as weights",
    known_as=(
        "memory wall",
        "context where the KV cache dominates",
    ),
    conventions=("every sequence has this context",),
)

context_that_fits = Formula(
    q.context_that_fits,
    Max(0, context_of_cache((n * C - w * N_total) / B)),
    source="1:52:52; derived",
    meaning="context at which the caches of the batch fill the memory that the weights leave",
    known_as=("maximum context length",),
    conventions=("no memory kept back for activations or fragmentation",),
)

# What a step reads for one sequence ---------------------------------------------------------------

kv_read_dense = Formula(
    q.kv_bytes_read,
    L * b,
    name="kv_read_dense",
    source="5:20",
    meaning="every layer reads every token, whole (keys and values, or a latent)",
)

kv_read_windowed = Formula(
    q.kv_bytes_read,
    L * b + Min(L, W) * b_window,
    name="kv_read_windowed",
    source="derived",
    meaning="some layers read every token, the others only the latest",
    known_as=("sliding-window attention",),
)

kv_read_selected = Formula(
    q.kv_bytes_read,
    L * b_index + Min(L, K) * b_top,
    name="kv_read_selected",
    source="DeepSeek-V3.2, arXiv 2512.02556; contested at 12:20",
    meaning="a small key of every token, and the whole cache of the chosen: constant, plus a "
    "small slope",
    known_as=(
        "sparse attention",
        "DSA",
        "top-k attention",
    ),
    conventions=("what is stored stays linear in the context",),
)

kv_read_compressed = Formula(
    q.kv_bytes_read,
    L * (b + b_index) + Min(L, K) * b_top + Min(L, W) * b_window,
    name="kv_read_compressed",
    source="DeepSeek-V4 configurations; derived",
    meaning="all four ways at once: read whole, indexed, chosen, windowed",
    conventions=("bytes per token of context: an entry for m tokens counts for 1/m of it each",),
)

kv_stored = Formula(
    q.kv_bytes_stored,
    L * (b + b_index + b_top) + Min(L, W) * b_window,
    name="kv_stored",
    source="derived",
    meaning="what has to be kept: of chosen tokens all, since any may be chosen next",
)

readable = Formula(
    q.kv_bytes_read,
    Max(0, n * BW * t - w * N_total) / B,
    name="readable",
    source="1:52:52; derived",
    meaning="cache that each sequence of a batch can have read in a step of this time, weights "
    "read first",
    conventions=("all weights read", "nothing else is read meanwhile"),
)

cache_room = Formula(
    q.kv_bytes_stored,
    Max(0, n * C - w * N_total) / B,
    name="cache_room",
    source="1:52:52; derived",
    meaning="room for each sequence of a batch beside the weights",
    conventions=("no memory kept back for activations or fragmentation",),
)

block_read = Formula(
    q.kv_bytes_read,
    L / beta * g_beta + k_beta * beta * b,
    name="block_read",
    source="12:20; derived",
    meaning="a summary of every block, and the chosen blocks in full",
    derivation=lambda: _derive_blocks(),
    conventions=("two levels: blocks are chosen by reading a summary of each",),
)

block_tokens = Formula(
    q.block_tokens,
    sqrt(L * g_beta / (k_beta * b)),
    source="12:20; derived",
    meaning="block at which summaries and chosen blocks cost the same: the least to read",
    conventions=("blocks are cut anew as the context grows",),
    derivation=lambda: _derive_blocks(),
)

balanced_block_read = Formula(
    q.kv_bytes_read,
    2 * sqrt(k_beta * L * g_beta * b),
    name="balanced_block_read",
    source="12:20; derived",
    meaning="what balanced blocks read: here, not in top-k selection, the context stands under a "
    "root",
    conventions=("blocks are cut anew as the context grows",),
    derivation=lambda: _derive_blocks(),
)


# From facts ---------------------------------------------------------------------------------------


def kv_read_terms(
    model: str, *, bytes_per_element: float = 2, indexer_bytes_per_element: float = 1
) -> dict[str, float]:
    """Return the terms that `kv_read_compressed` needs of a model.

    They are from ``shapes``, or from ``models`` if the model chooses tokens.

    The indexer's keys are taken at a byte each, as published; `bytes_per_element` is that of the
    rest.  Layers that share one set of keys and values each read it: sharing saves room, not
    reading.

    >>> v3, v32 = kv_read_terms("DeepSeek-V3"), kv_read_terms("DeepSeek-V3.2")
    >>> [round(kv_read_compressed(terms, context=131_072) / 1e9, 1) for terms in (v3, v32)]
    [9.2, 1.2]
    """
    terms = dict.fromkeys(
        (
            "kv_bytes_per_token",
            "selected_bytes_per_token",
            "indexer_bytes_per_token",
            "windowed_bytes_per_token",
        ),
        0.0,
    ) | {"selected_tokens": 1.0, "window_tokens": 1.0}
    if model in shapes.names():
        return terms | _shape_terms(
            shapes.shape(model), bytes_per_element, indexer_bytes_per_element
        )
    row = facts.get("models", model)
    index = _indexer(row)
    if not index:
        choosing = [row.name for row in facts.load("models") if _indexer(row)]
        raise ReadingError(
            f"What {row.name} reads in a step is not on file; there are: "
            f"{', '.join([*shapes.names(), *choosing])}."
        )
    return terms | {
        "selected_bytes_per_token": row["kv_elements_per_token_growing"] * bytes_per_element,
        "selected_tokens": _top(row),
        "indexer_bytes_per_token": index * indexer_bytes_per_element,
    }


# Models that stand for a kind of attention each, from the one that reads most to the one that reads
# least.
KINDS = {
    "Llama 3.1 70B": "every layer reads all",
    "Gemma 3 27B": "five layers in six see a window",
    "DeepSeek-V3": "every layer reads all, as latents",
    "DeepSeek-V3.2": "latents, the best 2,048 chosen",
    "DeepSeek-V4-Pro": "compressed, then chosen",
}


def longest_contexts(
    hardware: str,
    *,
    precision: str = "fp8",
    read_budget: float = 0.02,
    batch: float = 1,
    bytes_per_element: float = 1,
) -> list[dict[str, Any]]:
    """Return how long a context each kind of attention allows on one scale-up domain.

    Bandwidth sets one limit, and capacity another.

    Parameters
    ----------
    hardware, precision : str
        As in ``scenario.values``; weights take that precision's bytes.
    read_budget : float
        Seconds that a step may spend on reading, above 0.
    batch : float
        Sequences of that length served at once, above 0.
    bytes_per_element : float
        Width of a cached number.

    Returns
    -------
    list of dict
        name, kind, read_bytes_per_token and stored_bytes_per_token (at the margin, beyond all
        windows), readable_context and context_that_fits, in tokens; 0 where the weights leave
        nothing.

    >>> latent, chosen = longest_contexts("GB200 NVL72")[2:4]
    >>> latent["readable_context"] < latent["context_that_fits"]  # bandwidth ends first
    True
    >>> chosen["readable_context"] > chosen["context_that_fits"]  # and here capacity does
    True
    """
    known, found = scenario.values(hardware=hardware, precision=precision), []
    for name, kind in KINDS.items():
        terms = kv_read_terms(name, bytes_per_element=bytes_per_element)
        at = {
            **known,
            **terms,
            "batch": batch,
            "read_budget": read_budget,
            "total_parameters": facts.get("models", name)["total_params_reported"],
        }
        reads, stores = (_slope(formula, terms) for formula in (kv_read_compressed, kv_stored))
        found.append(
            {
                "name": name,
                "kind": kind,
                "read_bytes_per_token": reads,
                "stored_bytes_per_token": stores,
                "readable_context": _reach(kv_read_compressed, terms, readable(at)),
                "context_that_fits": _reach(kv_stored, terms, cache_room(at)),
            }
        )
    return found


def _slope(formula: Formula, terms: dict[str, float]) -> float:
    """Return the bytes that one more token adds where windows and choices are full.

    Any two long contexts give it.
    """
    return (formula(terms, context=2e9) - formula(terms, context=1e9)) / 1e9


def _reach(formula: Formula, terms: dict[str, float], room: float) -> float:
    """Find the longest context whose bytes are within `room`.

    The formula rises, so halving an interval finds it.
    """
    low, high = 0.0, 1e15
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if formula(terms, context=middle) <= room else (low, middle)
    return low


def shared_cache_sizes(
    model: str = "Llama 3.1 70B",
    *,
    bytes_per_element: float = 1,
    spans: tuple[int, ...] = (1, 2, 4),
) -> list[dict[str, Any]]:
    """Return bytes per token stored and read when layers share one set of keys and values.

    There is a row for each of 1, 2, … and all layers of `model` that share.

    `spans` counts the layers that share, each a divisor of the model's layers; all of them is
    added.

    >>> alone, *_, all_share = shared_cache_sizes()
    >>> alone["stored_bytes_per_token"] / all_share["stored_bytes_per_token"]  # eighty layers
    80.0
    >>> alone["read_bytes_per_token"] == all_share["read_bytes_per_token"]
    True
    """
    shape, found = shapes.shape(model), []
    for span in (*spans, shape.layers):
        shared = replace(shape, layers_per_kv=span)
        read = _shape_terms(shared, bytes_per_element, bytes_per_element)
        found.append(
            {
                "name": model,
                "layers_that_share": span,
                "stored_bytes_per_token": shapes.kv_elements_per_token(shared) * bytes_per_element,
                "read_bytes_per_token": read["kv_bytes_per_token"],
            }
        )
    return found


def _shape_terms(s: shapes.Shape, size: float, index_size: float) -> dict[str, float]:
    if not s.compressed_layers:
        s = replace(s, layers_per_kv=1)
        whole = {"kv_bytes_per_token": shapes.kv_elements_per_token(s) * size}
        return (
            whole
            if not s.window_tokens
            else whole
            | {
                "windowed_bytes_per_token": shapes.kv_window_elements(s) / s.window_tokens * size,
                "window_tokens": s.window_tokens,
            }
        )
    (fine, choosing), *coarse = sorted(s.compressed_layers)
    return {
        "kv_bytes_per_token": sum(layers / ratio for ratio, layers in coarse) * s.head_dim * size,
        "selected_bytes_per_token": choosing / fine * s.head_dim * size,
        "selected_tokens": fine * _top(facts.get("models", s.name)),
        "indexer_bytes_per_token": choosing / fine * s.indexer_dim * index_size,
        "windowed_bytes_per_token": s.layers * s.head_dim * size,
        "window_tokens": s.window_tokens,
    }


def _indexer(row: facts.Row) -> int:
    """Return the elements a token of the keys to choose by; 0 where there are none.

    They are read from the words beside the count of the cache.
    """
    found = re.search(r"indexer keys add (\d+) one-byte", row["kv_formula"] or "")
    return int(found[1]) if found else 0


def _top(row: facts.Row) -> int:
    """Return the entries that a layer of a choosing model reads.

    They are read from the words that describe its attention.
    """
    found = re.search(r"top-(\d+)", row["attention_kind"])
    if not found:
        raise ReadingError(f"How many entries {row.name} chooses is not on file.")
    return int(found[1])


# Derivation ---------------------------------------------------------------------------------------


def _derive_blocks() -> Derivation:
    d = Derivation("Where a square root of the context comes from")
    d.start(block_read, "summaries of all blocks, and the chosen blocks in full")
    square = (sqrt(L * g_beta / beta) - sqrt(k_beta * beta * b)) ** 2
    d.claim(
        Eq(q.kv_bytes_read.symbol, balanced_block_read.expression + square),
        "complete the square: the block stands in the square alone, and no square is below 0",
    )
    d.substitute(
        block_tokens, "the block that makes the square vanish: what is left grows like a root"
    )
    return d
