"""Expressions of authors: drawn names, formulas with settings, and quantities.

They are parsed to trees, and have a dimension and a unit in which their value is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cache

import sympy

from handful import query as ask
from handful.nearest import nearest
from handful.symbolic.dimensions import NONE, Dimension, dimension_of
from handful.symbolic.parse_quantity import read
from handful.symbolic.quantities import table

from . import expressions
from .expressions import ExpressionError, to_sympy
from .source import Entry


def author_tree(
    text: str,
    entry: Entry,
    where: str,
    units: Mapping[str, str] = {},
    named: Set[str] = frozenset(),
):
    """Parse an author's expression: drawn names, then formulas, then quantities.

    A formula's name stands for its tree in inputs alone; ``name(batch=1)`` puts a value in place of
    an input.
    """
    formulas = ask.registry()

    def resolve(name: str, settings: dict):
        if name in units or name in named or (name in table and name not in formulas):
            if settings:
                raise entry.error(f"{name} is no formula, so it takes no settings.", where)
            return name
        if name not in formulas:
            raise entry.error(
                f"there is no formula or quantity {name!r}; the nearest are "
                f"{nearest(name, [*formulas, *table])}.",
                where,
            )
        tree = _tree_of(name)
        known = expressions.names(tree)
        for setting in settings:
            if setting not in known:
                raise entry.error(
                    f"{name} does not depend on {setting!r}; it takes {', '.join(sorted(known))}.",
                    where,
                )
        return expressions.replace(tree, settings)

    try:
        return expressions.parse(str(text), resolve)
    except ExpressionError as error:
        raise entry.error(str(error), where) from None


@cache
def _tree_of(formula: str):
    return ask.registry()[formula].tree()


def dimension(text: str, units: Mapping[str, str] = {}, named: Set[str] = frozenset()) -> Dimension:
    """Return the dimension of an author's expression; a formula has that of its result.

    >>> str(dimension("memory_bandwidth * step_time(batch=1) / devices"))
    'byte/device^2'
    >>> str(dimension("rounds / 2", {"rounds": "1"}))
    'a pure number'
    """
    formulas = ask.registry()

    def of(symbol) -> Dimension:
        name = symbol.name
        if name in units:
            return NONE if units[name] == "1" else read(f"1 {units[name]}")[1] or NONE
        return (
            formulas[name].gives.dimension
            if name in formulas and name not in named
            else table[name].dimension
        )

    outline = expressions.parse(str(text), lambda name, settings: name)
    return dimension_of(to_sympy(outline, lambda name: sympy.Symbol(name, positive=True)), of)


def unit_of(name: str, units: Mapping[str, str]) -> str | None:
    """Return the unit in which a quantity or formula of that name is shown.

    For an unknown name the result is None.
    """
    if name in units:
        return units[name]
    formulas = ask.registry()
    return (
        formulas[name].gives.unit
        if name in formulas
        else table[name].unit
        if name in table
        else None
    )


def unit_for(wanted: Dimension) -> str:
    """Return a unit of `handful.units` for a dimension.

    >>> unit_for(Dimension(byte=1, time=-1)), unit_for(NONE)
    ('B/s', '1')
    """
    if wanted == NONE:
        return "1"
    for q in table.values():
        if q.dimension == wanted:
            return q.unit
    return "1"
