"""One product of activations and a matrix of weights: FLOPs, bytes, and which of both takes longer.

A layer is a few such products.  Rows of `inner_width` numbers, one for each token, meet a matrix of
`inner_width` × `outer_width` weights and become rows of `outer_width` numbers.  The rule of thumb,
``balance.weight_uses_at_balance``, counts the bytes of the weights alone.  Here the activations
that go in and come out are counted too, each with bytes of its own, so that the batch at which
arithmetic takes over is exact: always more than the rule says, and infinite for narrow matrices.

>>> v5e = dict(peak_flops=197e12, memory_bandwidth=8.2e11)
>>> bf16 = dict(bytes_per_parameter=2, activation_bytes=2, result_bytes=2)
>>> [
...     round(matmul_critical_batch(v5e, **bf16, inner_width=d, outer_width=4 * d))
...     for d in (1024, 4096, 16384, 1e9)
... ]  # the rule says 240
[340, 259, 245, 240]
>>> matmul_critical_batch(v5e, **bf16, inner_width=256, outer_width=256)
inf
"""

from __future__ import annotations

from sympy import Eq, Max, Min, oo

from .balance import ridge_intensity
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(c, v, one, T, d_in, d_out, w, w_in, w_out, F, BW) = (
    quantity.symbol
    for quantity in (
        q.flops_per_multiply_add,
        q.one_parameter,
        q.one_device,
        q.matmul_tokens,
        q.inner_width,
        q.outer_width,
        q.bytes_per_parameter,
        q.activation_bytes,
        q.result_bytes,
        q.peak_flops,
        q.memory_bandwidth,
    )
)

_MOVED = (
    "weights and inputs are read once and results written once: what is computed at a time fits "
    "on the chip"
)
_OWN_MATRIX = "where every token has a matrix of its own, each is a product with one token"

matmul_flops = Formula(
    q.matmul_flops,
    c * v * T * d_in * d_out,
    source="Austin et al. 2025, How to Scale Your Model, rooflines",
    meaning="a multiply and an add for each token and each weight",
    known_as=("FLOPs of a matmul",),
    conventions=(
        "FLOP counts a multiply-add as two, though the first product of a sum needs no addition",
    ),
)

matmul_bytes = Formula(
    q.matmul_bytes,
    w * v * d_in * d_out + T * (w_in * d_in + w_out * d_out),
    source="Austin et al. 2025, How to Scale Your Model, rooflines",
    meaning="weights and inputs that are read, and results that are written",
    conventions=(_MOVED, "each with bytes of its own"),
)

matmul_intensity = Formula(
    q.arithmetic_intensity,
    q.matmul_flops.symbol / q.matmul_bytes.symbol,
    name="matmul_intensity",
    using=(matmul_flops, matmul_bytes),
    source="Austin et al. 2025, How to Scale Your Model, rooflines",
    meaning="FLOPs for each byte of weights, inputs and results",
    known_as=("GEMM arithmetic intensity",),
    conventions=(_MOVED, _OWN_MATRIX),
)

matmul_time = Formula(
    q.matmul_time,
    Max(q.matmul_flops.symbol / (one * F), q.matmul_bytes.symbol / (one * BW)),
    using=(matmul_flops, matmul_bytes),
    source="Williams, Waterman and Patterson 2009, Roofline",
    meaning="the slower of arithmetic and of moving the bytes, on one chip",
    known_as=("GEMM time",),
    conventions=(
        "both overlap perfectly: without any overlap their sum, at most twice as long",
        "the peak is that of the precision in which the arithmetic is done",
        _MOVED,
    ),
)

matmul_critical_batch = Formula(
    q.matmul_critical_batch,
    w / Max(0, c * BW / F - (w_in / d_out + w_out / d_in) / v),
    source="derived",
    meaning="tokens at which arithmetic takes as long as weights, inputs and results",
    known_as=("critical batch size of a matmul",),
    conventions=(
        "exact: in wide matrices it is the machine balance, the rule of thumb",
        "infinite where inputs and results alone take longer than the arithmetic",
        "tokens on one copy of the weights, of one sequence or of many",
        _MOVED,
    ),
    derivation=lambda: _derive_critical_batch(),
)

matmul_least_width = Formula(
    q.matmul_least_width,
    (w_in + w_out) * F / (c * v * BW),
    source="derived",
    meaning="width up to which a square matrix waits for memory at any batch",
    conventions=("the width that is summed over and that of the result are equal", _MOVED),
    derivation=lambda: _derive_least_width(),
)

matmul_utilisation = Formula(
    q.matmul_utilisation,
    Min(1, q.arithmetic_intensity.symbol / q.ridge_intensity.symbol),
    using=(matmul_intensity, ridge_intensity),
    source="Williams, Waterman and Patterson 2009, Roofline",
    meaning="arithmetic's share of the time of one product",
    known_as=("utilisation of a matmul",),
    conventions=(
        "an upper bound: tiles that do not fill the multipliers are left out",
        _MOVED,
    ),
)


# Derivations --------------------------------------------------------------------------------------


def _moving() -> Formula:
    return Formula(
        q.matmul_time,
        matmul_bytes.expression / (one * BW),
        register=False,
        name="moving",
        meaning="time to move all bytes",
        source="derived",
    )


def _computing() -> Formula:
    return Formula(
        q.matmul_time,
        matmul_flops.expression / (one * F),
        register=False,
        name="computing",
        meaning="time of the arithmetic",
        source="derived",
    )


def _derive_critical_batch() -> Derivation:
    d = Derivation("The batch at which one matrix product is bound by arithmetic")
    d.equate(_moving(), _computing(), "let the bytes take as long as the arithmetic")
    d.substitute(
        {"matmul_tokens": q.matmul_critical_batch.symbol}, "call the number of tokens critical"
    )
    d.solve("matmul_critical_batch", "tokens stand on both sides")
    d.claim(
        Eq(
            q.matmul_critical_batch.symbol,
            w / (c * BW / F - (w_in / d_out + w_out / d_in) / v),
        ),
        "divide by both widths: bytes that a weight's arithmetic has time for, less those of its "
        "share of inputs and results",
    )
    d.limit("inner_width", oo, "many numbers are summed over, so results weigh nothing")
    d.limit("outer_width", oo, "inputs weigh nothing either: the rule of thumb")
    return d


def _derive_least_width() -> Derivation:
    d = Derivation("The width below which no batch is large enough")
    width = q.matmul_least_width.symbol
    d.start(
        Eq(c * v * T * width**2 / (one * F), T * (w_in + w_out) * width / (one * BW)),
        "let inputs and results alone, of a square matrix, take as long as the arithmetic",
    )
    d.solve("matmul_least_width", "the batch cancels: each token brings its own")
    return d
