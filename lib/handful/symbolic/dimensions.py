"""Dimensions, and the walker that checks an expression against them.

A dimension is a product of powers of the base dimensions below.  FLOP, byte, token, sequence and
parameter are dimensions of their own here, not bare counts: confusing them is the commonest mistake
in this subject, and a unit system that calls all of them "dimensionless" cannot catch it.

The walker reads a SymPy expression.  Sums, maxima and minima want terms of equal dimension;
products add exponents; powers scale them; functions and exponents want pure numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

import sympy

BASE = (
    "time",
    "byte",
    "flop",
    "token",
    "sequence",
    "parameter",
    "layer",
    "device",
    "dollar",
    "bit",
    "energy",
)


class DimensionError(ValueError):
    """A disagreement of two dimensions; the message names both and the place."""


class Dimension:
    """A product of powers of base dimensions; immutable and hashable.

    >>> bandwidth = Dimension(byte=1, time=-1)
    >>> str(bandwidth)
    'byte/time'
    >>> Dimension(byte=1) / bandwidth == Dimension(time=1)
    True
    >>> Dimension(bytes=1)
    Traceback (most recent call last):
    ...
    handful.symbolic.dimensions.DimensionError: 'bytes' is not a base dimension; allowed: time,
    byte,
    flop, token, sequence, parameter, layer, device, dollar, bit, energy.
    """

    __slots__ = ("powers",)

    def __init__(self, **powers: int | Fraction) -> None:
        for base in powers:
            if base not in BASE:
                raise DimensionError(
                    f"{base!r} is not a base dimension; allowed: {', '.join(BASE)}."
                )
        self.powers = tuple((base, Fraction(powers[base])) for base in BASE if powers.get(base))

    def __mul__(self, other: Dimension) -> Dimension:
        total = dict(self.powers)
        for base, power in other.powers:
            total[base] = total.get(base, Fraction(0)) + power
        return Dimension(**total)

    def __truediv__(self, other: Dimension) -> Dimension:
        return self * other**-1

    def __pow__(self, exponent: int | Fraction) -> Dimension:
        return Dimension(**{base: power * Fraction(exponent) for base, power in self.powers})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dimension) and self.powers == other.powers

    def __hash__(self) -> int:
        return hash(self.powers)

    def __str__(self) -> str:
        def spell(base: str, power: Fraction) -> str:
            return base if power == 1 else f"{base}^{power}"

        above = "·".join(spell(b, p) for b, p in self.powers if p > 0)
        below = "·".join(spell(b, -p) for b, p in self.powers if p < 0)
        if not below:
            return above or "a pure number"
        return f"{above or '1'}/{below if '·' not in below else f'({below})'}"

    def __repr__(self) -> str:
        return f"Dimension({', '.join(f'{b}={p}' for b, p in self.powers)})"


NONE = Dimension()

_OfSymbol = Callable[[sympy.Symbol], Dimension]


def dimension_of(expression: sympy.Expr, of_symbol: _OfSymbol) -> Dimension:
    """Return the dimension of `expression`.

    Raises DimensionError, which names the two sides that disagree, where the expression has none.

    `of_symbol` maps a symbol to its Dimension.  Zero and infinity fit any dimension, since nothing
    about them depends on a unit.

    >>> t, b = sympy.symbols("t b")
    >>> table = {t: Dimension(time=1), b: Dimension(byte=1)}
    >>> str(dimension_of(b**2 / t, table.__getitem__))
    'byte^2/time'
    >>> dimension_of(sympy.Max(t, b), table.__getitem__)
    Traceback (most recent call last):
    ...
    handful.symbolic.dimensions.DimensionError: Max joins b (byte) and t (time), which differ in
    dimension.
    """
    found = _walk(sympy.sympify(expression), of_symbol)
    return NONE if found is None else found


def _walk(expr: sympy.Basic, of_symbol: _OfSymbol) -> Dimension | None:
    """Return the dimension, or None for a zero or an infinity, which fit any dimension."""
    if isinstance(expr, sympy.Symbol):
        return of_symbol(expr)
    if expr.is_number:
        return None if expr in (sympy.S.Zero, sympy.oo, -sympy.oo) else NONE
    if isinstance(expr, sympy.Mul):
        total = NONE
        for arg in expr.args:
            total = total * (_walk(arg, of_symbol) or NONE)
        return total
    if isinstance(expr, sympy.Pow):
        return _power(expr, of_symbol)
    if isinstance(expr, (sympy.Add, sympy.Max, sympy.Min)):
        return _equal(
            type(expr).__name__.replace("Add", "A sum"), sorted(expr.args, key=str), of_symbol
        )
    if isinstance(expr, sympy.Piecewise):
        for _, condition in expr.args:
            if isinstance(condition, sympy.core.relational.Relational):
                _equal("A condition", condition.args, of_symbol)
        return _equal("Piecewise", [value for value, _ in expr.args], of_symbol)
    if isinstance(expr, (sympy.Abs, sympy.floor, sympy.ceiling)):
        return _walk(expr.args[0], of_symbol)
    if isinstance(expr, sympy.Heaviside):
        _walk(expr.args[0], of_symbol)
        return NONE
    if isinstance(expr, sympy.Function):
        for arg in expr.args:
            _pure(arg, of_symbol, f"The argument of {type(expr).__name__}")
        return NONE
    raise DimensionError(f"{expr} is a {type(expr).__name__}, which has no rule for dimensions.")


def _power(expr: sympy.Pow, of_symbol: _OfSymbol) -> Dimension:
    """Return the dimension of a power; its exponent must be a pure number."""
    base, exponent = expr.args
    base_dimension = _walk(base, of_symbol) or NONE
    if exponent.is_Rational:
        return base_dimension ** Fraction(int(exponent.p), int(exponent.q))
    _pure(exponent, of_symbol, f"The exponent in {expr}")
    if base_dimension != NONE and not exponent.is_number:
        raise DimensionError(
            f"{base} has dimension {base_dimension}, and so cannot carry the exponent {exponent}."
        )
    return (
        NONE
        if base_dimension == NONE
        else base_dimension ** Fraction(float(exponent)).limit_denominator(10**6)
    )


def _equal(joint: str, args: Iterable[sympy.Expr], of_symbol: _OfSymbol) -> Dimension | None:
    """Return the one dimension of all terms, or None where every term fits any dimension."""
    first = None
    for arg in args:
        dimension = _walk(arg, of_symbol)
        if dimension is None:
            continue
        if first is None:
            first = arg, dimension
        elif dimension != first[1]:
            raise DimensionError(
                f"{joint} joins {first[0]} ({first[1]}) and {arg} ({dimension}), which differ in "
                "dimension."
            )
    return None if first is None else first[1]


def _pure(expr: sympy.Expr, of_symbol: _OfSymbol, place: str) -> None:
    """Check that an expression is a pure number."""
    dimension = _walk(expr, of_symbol)
    if dimension not in (None, NONE):
        raise DimensionError(f"{place} must be a pure number; {expr} is a {dimension}.")
