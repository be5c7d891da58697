"""Solve a relation for one of its inputs, and put the solution back.

>>> from handful.symbolic.quantities import batch, step_time
>>> str(invert(2 * batch.symbol, step_time.symbol, batch.symbol))
'step_time/2'
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import sympy

from .quantity import Quantity

if TYPE_CHECKING:
    from .formula import Formula


class FormulaError(ValueError):
    """A formula called, built or solved in a way that it does not allow."""


def invert(expr: sympy.Expr, y: sympy.Symbol, x: sympy.Symbol) -> sympy.Expr:
    """Solve expr = y for x, branch by branch through maxima and minima.

    Raises FormulaError where there is no single positive solution.
    """
    if isinstance(expr, (sympy.Max, sympy.Min)):
        signs = {_slope_sign(arg, x) for arg in expr.args}
        branches = [invert(arg, y, x) for arg in expr.args if arg.has(x)]
        if signs <= {1, 0}:
            return (sympy.Min if isinstance(expr, sympy.Max) else sympy.Max)(*branches)
        if signs <= {-1, 0}:
            return type(expr)(*branches)
        raise FormulaError(f"{expr} neither rises nor falls with {x}, so it has no single inverse.")
    if expr.has(sympy.Max, sympy.Min):
        # An increasing outer shell round one Max: peel it off with a placeholder.
        inner = [node for node in expr.atoms(sympy.Max, sympy.Min) if node.has(x)]
        if len(inner) == 1:
            z = sympy.Symbol("_inner", positive=True)
            shell = expr.xreplace({inner[0]: z})
            if not shell.has(x):
                return invert(inner[0], invert(shell, y, z), x)
    rest, power = expr.as_independent(x, as_Add=False)
    if power == x or (isinstance(power, sympy.Pow) and power.base == x and power.exp.is_number):
        # A product: divide it out by hand, since solve() multiplies (1 - k/E)^B out and overflows.
        return (y / rest) ** (1 / (power.exp if power != x else sympy.S.One))
    solutions = [s for s in sympy.solve(sympy.Eq(expr, y), x) if s.is_negative is not True]
    if len(solutions) != 1:
        raise FormulaError(
            f"{expr} = {y} has {len(solutions)} positive solutions for {x}; exactly one is wanted."
        )
    return solutions[0]


def _slope_sign(expr: sympy.Expr, x: sympy.Symbol) -> int | None:
    """Return the sign of the derivative (1, 0 or -1), or None where it is not certain."""
    slope = sympy.simplify(sympy.diff(expr, x))
    if slope == 0:
        return 0
    return (
        1
        if slope.is_positive or slope.is_nonnegative
        else -1
        if slope.is_negative or slope.is_nonpositive
        else None
    )


def verify(formula: Formula, quantity: Quantity, solution: sympy.Expr) -> None:
    """Put the solution back at random points: y = f(x), then x' = solution(y), then f(x') = y.

    Raises FormulaError where one of them does not give y back.
    """
    draw = random.Random(formula.name + quantity.name)
    forward = sympy.lambdify([q.symbol for q in formula.inputs], formula.expanded, "math")
    others = [q for q in formula.inputs if q is not quantity]
    back = sympy.lambdify([formula.gives.symbol, *(q.symbol for q in others)], solution, "math")
    checked = 0
    for _ in range(64):
        point = {
            q: q.default or draw.uniform(0.2, 0.9 if q.upper == 1 else 5.0) for q in formula.inputs
        }
        try:
            y = forward(*(point[q] for q in formula.inputs))
            x = back(y, *(point[q] for q in others))
            again = forward(*(x if q is quantity else point[q] for q in formula.inputs))
        except (
            ValueError,
            TypeError,
            ZeroDivisionError,
            OverflowError,
        ):  # a part above its whole, say
            continue
        if isinstance(again, complex) or not abs(again - y) <= 1e-9 * abs(y):
            raise FormulaError(
                f"{quantity.name} = {solution} does not give {formula.gives.name} back: {again} "
                f"for {y}."
            )
        checked += 1
    if checked < 16:
        raise FormulaError(
            f"The solution of {formula.name} for {quantity.name} could be checked at {checked} "
            "points only."
        )
