"""Helpers for tests of claims that compare a formula with what was said of it."""

from __future__ import annotations

import sympy

from handful.symbolic.formula import fill_constants
from handful.symbolic.quantities import find

Findings = dict[str, bool]


def symbol(name: str):
    """Return the SymPy symbol of a quantity."""
    return find(name).symbol


def same(formula, expression) -> bool:
    """Return whether a formula is this expression, with every part of it written out."""
    return (
        sympy.simplify(fill_constants(formula.expanded) - fill_constants(sympy.sympify(expression)))
        == 0
    )


def free_of(formula, *names: str) -> bool:
    """Return whether a formula contains none of these quantities."""
    return not any(formula.expanded.has(symbol(name)) for name in names)


def slope(formula, name: str):
    """Return the derivative of a formula by a quantity."""
    return sympy.simplify(sympy.diff(formula.expanded, symbol(name)))
