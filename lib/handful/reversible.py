"""Feistel rounds, which can be undone, and their worth: compute for memory.

The lecture has them from 2:09:22.

A Feistel round takes (x, y) to (x, y + f(x)).  Taking f(x) away again undoes it, and f itself is
never inverted: any f will do, as long as it gives the same answer twice.  Rounds with the halves
exchanged between them make a cipher; with real numbers and layers as f they make a reversible
network, whose activations are rebuilt and not stored.

>>> scramble = [lambda x: x * x + 1, lambda x: x**3 % 251, lambda x: 77]  # not one is one-to-one
>>> decrypt(*encrypt(20, 4, scramble), scramble)
(20, 4)
>>> tenths = [lambda x: 0.1 * x] * 3
>>> decrypt(*encrypt(0.1, 0.7, tenths, REALS), tenths, REALS)  # rounding shows
(0.09999999999999999, 0.7)

What the rebuilding costs is arithmetic: 8 FLOPs for each weight and token where 6 would do.

>>> from handful.overtraining import training_flops
>>> once = dict(active_parameters=70e9, pretraining_tokens=15e12)
>>> round(training_flops_reversible(once) / training_flops(once), 3)
1.333
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from .balance import drain_time, ridge_intensity
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

Half = TypeVar("Half")

# Rounds -------------------------------------------------------------------------------------------


class FeistelError(ValueError):
    """A round, a cipher or a network that cannot be built."""


class Group(NamedTuple):
    """An addition of halves, and the subtraction that undoes it."""

    name: str
    add: Callable[[Any, Any], Any]
    subtract: Callable[[Any, Any], Any]


XOR = Group("bits, added without carry", operator.xor, operator.xor)
REALS = Group(
    "floating-point numbers: no group, since (y + f) − f may not be y", operator.add, operator.sub
)


def modulo(bits: int) -> Group:
    """Return the group of whole numbers modulo 2^bits.

    They are Python integers or unsigned NumPy arrays.

    >>> modulo(8).add(250, 10), modulo(8).subtract(4, 10)
    (4, 250)
    >>> modulo(0)
    Traceback (most recent call last):
    ...
    handful.reversible.FeistelError: A modulus of 2^bits wants bits to be a whole number
    from 1 up; got 0.
    """
    if not isinstance(bits, int) or bits < 1:
        raise FeistelError(
            f"A modulus of 2^bits wants bits to be a whole number from 1 up; got {bits}."
        )
    mask = (1 << bits) - 1
    return Group(
        f"whole numbers modulo 2^{bits}", lambda a, b: (a + b) & mask, lambda a, b: (a - b) & mask
    )


def feistel_round(
    x: Half, y: Half, f: Callable[[Half], Half], group: Group = XOR
) -> tuple[Half, Half]:
    """Take (x, y) to (x, y + f(x)).

    They are scalars or arrays, added as `group` says.

    Source: 2:09:22; Feistel 1973.
    """
    return x, group.add(y, f(x))


def undo_round(
    x: Half, z: Half, f: Callable[[Half], Half], group: Group = XOR
) -> tuple[Half, Half]:
    """Take (x, z) back to (x, z − f(x)).

    It is exact with `XOR` and `modulo`; with `REALS` it is exact but for rounding.
    """
    return x, group.subtract(z, f(x))


def encrypt(
    x: Half, y: Half, functions: Iterable[Callable[[Half], Half]], group: Group = XOR
) -> tuple[Half, Half]:
    """Apply a round with each of `functions` in turn, and exchange the halves after each.

    Without the exchange x would never change.  With it, each new half is the one two back plus a
    function of the last: a residual connection from two layers back.
    """
    for f in functions:
        x, z = feistel_round(x, y, f, group)
        x, y = z, x
    return x, y


def decrypt(
    x: Half, y: Half, functions: Iterable[Callable[[Half], Half]], group: Group = XOR
) -> tuple[Half, Half]:
    """Undo `encrypt` by the same rounds, the last one first."""
    for f in reversed(list(functions)):
        x, y = undo_round(y, x, f, group)
    return x, y


# Activations: kept, or computed again -------------------------------------------------------------

(
    T,
    c,
    N,
    b,
    F,
    BW,
    C,
    p,
    L,
    B,
    h,
    D,
    layers,
    one,
    d_model,
    heads,
    w_width,
    w_score,
    w_number,
    w_layer,
) = (
    quantity.symbol
    for quantity in (
        q.hold_time,
        q.flops_per_multiply_add,
        q.active_parameters,
        q.kv_bytes_per_token,
        q.peak_flops,
        q.memory_bandwidth,
        q.memory_capacity,
        q.device_price,
        q.sequence_tokens,
        q.micro_batch,
        q.training_passes,
        q.pretraining_tokens,
        q.layers,
        q.one_layer,
        q.d_model,
        q.attention_heads,
        q.bytes_per_width,
        q.bytes_per_score,
        q.activation_bytes,
        q.layer_activation_bytes,
    )
)

layer_activation_bytes = Formula(
    q.layer_activation_bytes,
    w_width * d_model + w_score * heads * L,
    source="Korthikanti et al. 2022, arXiv 2205.05198, equation 1",
    meaning="what one layer keeps of a token for the backward pass: 34 bytes a unit of width, 5 a "
    "score",
    known_as=("activation memory per layer",),
    conventions=(
        "16-bit activations, masks of dropout included",
        "a feed-forward part four times as wide, not gated",
        "a gated one of 3.5 times the width, without dropout (Llama 3.1 70B), comes to about as "
        "much: 33.5",
        "fused attention computes the scores again: then 0 bytes a score",
    ),
)

activation_memory_stored = Formula(
    q.activation_memory,
    B * L * layers * w_layer,
    name="activation_memory_stored",
    source="2:12:19",
    meaning="every layer's activations wait for the backward pass: linear in depth",
    conventions=("one micro-batch in flight, on one stage",),
)

activation_memory_reversible = Formula(
    q.activation_memory,
    B * L * (2 * w_number * d_model + one * w_layer),
    name="activation_memory_reversible",
    source="2:12:46; Gomez et al. 2017, arXiv 1707.04585",
    meaning="the last pair of streams and the one layer at work: the depth is gone",
    known_as=("reversible network",),
    conventions=("every layer reversible: one that shrinks its input has to be stored",),
)

activation_memory_checkpointed = Formula(
    q.activation_memory,
    B * L * (layers / one * w_number * d_model + one * w_layer),
    name="activation_memory_checkpointed",
    source="derived; Chen et al. 2016, arXiv 1604.06174",
    meaning="each layer's input and the one layer at work: any network, for the same extra "
    "forward pass",
    known_as=("gradient checkpointing", "activation recomputation", "rematerialisation"),
    conventions=(
        "a checkpoint at every layer; fewer of them give memory in the square root of depth",
        "the layer at work is counted, since all of it is in memory while its backward pass runs; "
        "sources that count the inputs alone have less: Austin et al. 2025 have 4.19 TB for 64 "
        "layers of width 8,192 and 4 million tokens, where this is 5.5 TB",
    ),
)

# The same three from a model's shape, without counting its bytes first.
(
    activation_memory_stored_of_shape,
    activation_memory_checkpointed_of_shape,
    activation_memory_reversible_of_shape,
) = (
    Formula(
        q.activation_memory,
        f.expression,
        name=f"{f.name}_of_shape",
        using=(layer_activation_bytes,),
        source=f"{f.source}; Korthikanti et al. 2022",
        meaning=f.meaning,
        conventions=(*f.conventions, *layer_activation_bytes.conventions),
    )
    for f in (
        activation_memory_stored,
        activation_memory_checkpointed,
        activation_memory_reversible,
    )
)

saving_by_checkpoints, saving_by_reversing = (
    Formula(
        q.memory_saving,
        activation_memory_stored.expression / way.expression,
        name=name,
        using=(layer_activation_bytes,),
        source="derived",
        meaning=meaning,
        conventions=way.conventions,
    )
    for name, way, meaning in (
        (
            "saving_by_checkpoints",
            activation_memory_checkpointed,
            "by keeping only each layer's input",
        ),
        (
            "saving_by_reversing",
            activation_memory_reversible,
            "by keeping only the last pair of streams",
        ),
    )
)

training_flops_reversible = Formula(
    q.training_flops,
    (h + 1) * c * N * D,
    name="training_flops_reversible",
    source="2:12:46; derived",
    meaning="6 FLOPs for each weight and token, and 2 to rebuild the activations",
    conventions=(
        "rebuilding and the backward pass share one forward pass",
        "attention over the context left out",
    ),
)

# The one trade: bytes kept against FLOPs done again -----------------------------------------------

cache_recompute_intensity = Formula(
    q.recompute_intensity,
    c * N / b,
    name="cache_recompute_intensity",
    source="2:13:20; derived",
    meaning="FLOPs that each byte of key-value cache saves whenever it is read",
    conventions=(
        "written once, read at every step: the write is left out",
        "attention over the context left out",
    ),
)

activation_recompute_intensity = Formula(
    q.recompute_intensity,
    c * N / (2 * layers * w_layer),
    name="activation_recompute_intensity",
    source="2:13:12; derived",
    meaning="FLOPs that each byte of activations saves: written once, read once",
    conventions=("one forward pass saved", "attention over the context left out"),
)

cache_advantage = Formula(
    q.keeping_advantage,
    q.recompute_intensity.symbol / q.ridge_intensity.symbol,
    name="cache_advantage",
    using=(cache_recompute_intensity, ridge_intensity),
    source="2:13:25; derived",
    meaning="time to compute a token's cache again over the time to read it",
    conventions=(
        "the break-even is at 1: a byte saves as many FLOPs as the chip does in reading it",
    ),
)

activation_advantage = Formula(
    q.keeping_advantage,
    q.recompute_intensity.symbol / q.ridge_intensity.symbol,
    name="activation_advantage",
    using=(activation_recompute_intensity, ridge_intensity),
    source="2:13:12; derived",
    meaning="time to compute a token's activations again over the time to write and read them",
    conventions=("they have to fit: times say nothing of capacity",),
)

_RENT = (
    "a chip's rent is charged to its memory while it holds, to its arithmetic while it computes",
    "peak rate",
    "the five-minute rule of Gray and Putzolu 1987, within one chip",
)

cache_breakeven_hold = Formula(
    q.break_even_time,
    q.keeping_advantage.symbol * q.drain_time.symbol,
    name="cache_breakeven_hold",
    using=(cache_advantage, drain_time),
    source="derived",
    conventions=_RENT,
    meaning="how long a token's cache may wait in memory before computing it again is cheaper",
    derivation=lambda: _derive_breakeven_hold(),
)

activation_breakeven_hold = Formula(
    q.break_even_time,
    c * N * C / (F * layers * w_layer),
    name="activation_breakeven_hold",
    source="derived",
    conventions=_RENT,
    meaning="how long a token's activations may wait in memory before computing them again is "
    "cheaper: twice their advantage times the drain time, since they are moved twice",
)

activation_breakeven_hold_of_shape = Formula(
    q.break_even_time,
    activation_breakeven_hold.expression,
    name="activation_breakeven_hold_of_shape",
    using=(layer_activation_bytes,),
    source="derived",
    conventions=_RENT,
    meaning=f"{activation_breakeven_hold.meaning}; from the model's shape",
)

activation_advantage_of_shape = Formula(
    q.keeping_advantage,
    activation_recompute_intensity.expression / q.ridge_intensity.symbol,
    name="activation_advantage_of_shape",
    using=(layer_activation_bytes, ridge_intensity),
    source="2:13:12; derived",
    meaning="time to compute a token's activations again over the time to write and read them",
    conventions=activation_advantage.conventions,
)

cache_hold_in_memory = Formula(
    q.hold_cost,
    p * T * b / C,
    name="cache_hold_in_memory",
    source="derived",
    conventions=_RENT,
    meaning="rent of the memory that one token's cache takes, for as long as it waits",
)

activation_hold_in_memory = Formula(
    q.hold_cost,
    p * T * layers * w_layer / C,
    name="activation_hold_in_memory",
    using=(layer_activation_bytes,),
    source="derived",
    conventions=_RENT,
    meaning="rent of the memory that one token's activations take for as long as they wait, "
    "from the model's shape",
)


# Derivation ---------------------------------------------------------------------------------------


def _derive_breakeven_hold() -> Derivation:
    T, again, ridge, drain = (
        quantity.symbol
        for quantity in (q.break_even_time, q.recompute_intensity, q.ridge_intensity, q.drain_time)
    )
    holding = Formula(
        q.hold_cost,
        p * T * b / C,
        source="derived",
        register=False,
        meaning="rent of the memory that one token's cache takes",
    )
    computing = Formula(
        q.rematerialise_cost,
        p * c * N / F,
        source="derived",
        register=False,
        meaning="rent of a chip while it works through one token",
    )
    d = Derivation("Hold it, or compute it again?")
    d.equate(holding, computing, "ask when the rent of the memory reaches that of the arithmetic")
    d.solve("break_even_time", "the price of the chip cancels")
    d.substitute(
        {
            "active_parameters": again * b / c,
            "peak_flops": ridge * BW,
            "memory_capacity": drain * BW,
        },
        "name the ratios: FLOPs that a byte saves, FLOPs for a byte, time to read the memory once",
    )
    d.substitute(
        {"recompute_intensity": q.keeping_advantage.symbol * ridge},
        "as often as the cache could be read while it is computed, the whole memory could be",
    )
    return d
