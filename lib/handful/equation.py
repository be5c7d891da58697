"""Write a formula as text, as LaTeX or as an object for JSON.

Each form holds the equation, its inputs, conventions, source and derivation.

Constants are filled in as on the page: 2 FLOP for a multiply-add, one new token a step.

>>> from handful.balance import weight_uses_at_balance
>>> print(as_text(weight_uses_at_balance)[2])
  weight_uses_at_balance = bytes_per_parameter*peak_flops/(2*memory_bandwidth)
"""

from __future__ import annotations

import re
from typing import Any

import sympy

from .query import TIME, find_formula, lecture_address
from .symbolic.derivation import Derivation, Step
from .symbolic.formula import Formula, fill_defaults, stand_ins
from .symbolic.printing import Plain
from .symbolic.quantities import Quantity, table

__all__ = [
    "api_text",
    "as_latex",
    "as_object",
    "as_text",
    "cancelled_quantities",
    "formula_entry",
    "used_formulas",
]

CHECKS = {"start": "the model", "condition": "the condition"}
WRITTEN = (("Max(", "max("), ("Min(", "min("), ("ceiling(", "ceil("), ("Abs(", "abs("), ("**", "^"))


def api_text(expression: sympy.Expr) -> str:
    """Return an expression in API names, with ``^`` for powers.

    Factors stand in the order of the quantities' table.

    >>> from handful.latency import weight_time
    >>> api_text(weight_time.expression)
    'bytes_per_parameter*fetched_parameters/(devices*memory_bandwidth)'
    """
    filled = fill_defaults(expression)
    # Stand-ins whose names sort in table order, so that products print as the LaTeX does.
    named = stand_ins(filled, "q{:04d}")
    text = Plain({"order": "none"}).doprint(
        filled.xreplace({symbol: stand_in for symbol, (stand_in, _) in named.items()})
    )
    names = {stand_in.name: q.name for stand_in, q in named.values()}
    text = re.sub(r"\bq\d{4}\b", lambda found: names[found[0]], text)
    for theirs, ours in WRITTEN:
        text = text.replace(theirs, ours)
    return text


def used_formulas(formula: Formula) -> list[Formula]:
    """Return the formulas that an equation uses, directly or not, each once.

    A formula comes before those that it uses itself.
    """
    found: dict[str, Formula] = {}

    def visit(one: Formula) -> None:
        for part in one.using:
            if part.name not in found:
                visit(part)
                found[part.name] = part

    visit(formula)
    return list(reversed(found.values()))


def cancelled_quantities(formula: Formula) -> list[Quantity]:
    """Return the quantities that the equations name but the result does not depend on.

    >>> from handful.latency import compute_cost
    >>> [q.name for q in cancelled_quantities(compute_cost)]
    ['devices', 'batch']
    """
    parts = used_formulas(formula)
    named = set().union(
        formula.expression.free_symbols, *(part.expression.free_symbols for part in parts)
    )
    known = {*formula.inputs, *(part.gives for part in parts)}
    return [q for q in table.values() if q.symbol in named and q not in known and q.default is None]


def as_text(formula: Formula) -> list[str]:
    """Return the formula as lines for a terminal."""
    lines = [f"{formula.name}: {formula.meaning}"]
    if formula.known_as:
        lines.append(f"Also called: {', '.join(formula.known_as)}")
    lines += ["", f"  {_equation(formula)}"]
    if formula.using:
        lines += ["  where", *(f"    {_equation(part)}" for part in used_formulas(formula))]
    unit = f" ({_unit(formula.gives)})" if _unit(formula.gives) else ""
    lines += ["", f"Gives: {formula.gives.meaning}{unit}"]
    inputs = [q for q in formula.inputs if not q.constant]
    name_width = max((len(q.name) for q in inputs), default=0)
    unit_width = max((len(_unit(q)) for q in inputs), default=0)
    # What stands at its usual value is filled in: its letter is not in the equation.
    filled = [q for q in inputs if q.default is not None and not q.printed]
    for heading, listed in (
        ("Inputs", [q for q in inputs if q not in filled]),
        ("Inputs at usual values, which the equation has filled in", filled),
    ):
        lines += ["", heading] if listed else []
        for q in listed:
            default = f" ({q.default:g} unless said otherwise)" if q.default is not None else ""
            lines.append(f"  {q.name:{name_width}}  {_unit(q):{unit_width}}  {q.meaning}{default}")
    if cancelled_quantities(formula):
        lines += ["", f"Cancels: {', '.join(q.name for q in cancelled_quantities(formula))}"]
    if formula.conventions:
        lines += ["", "Conventions", *(f"  {said}" for said in formula.conventions)]
    lines += ["", f"Source: {_source(formula.source)}"]
    lines += ["", f"Import: from {formula.module} import {formula.name}"]
    derivation = _derivation(formula)
    if derivation:
        lines += ["", derivation.title]
        for i, step in enumerate(derivation.steps, 1):
            lines += [
                f"  {i}. {step.move} [{CHECKS.get(step.check, step.check)}]",
                f"     {_spelled(step)}",
            ]
    return lines


def as_latex(formula: Formula) -> list[str]:
    """Return lines of LaTeX: the equation, those it uses, and the steps of its derivation.

    Words are comments.
    """
    lines = [formula.latex()]
    if formula.using:
        lines += ["% where", *(part.latex() for part in used_formulas(formula))]
    derivation = _derivation(formula)
    if derivation:
        lines.append(f"% {derivation.title}")
        for step in derivation.steps:
            lines += [f"% {step.move} [{CHECKS.get(step.check, step.check)}]", step.latex]
    return lines


def as_object(formula: Formula) -> dict[str, Any]:
    """Return the formula as a JSON-ready dict, with the expression tree that the page uses."""
    derivation = _derivation(formula)
    steps = derivation and {
        "title": derivation.title,
        "steps": [
            {
                "equation": _spelled(step),
                "latex": step.latex,
                "move": step.move,
                "check": step.check,
                "relative_error": float(step.error),
            }
            for step in derivation.steps
        ],
    }
    return {
        "name": formula.name,
        "module": formula.module,
        "known_as": list(formula.known_as),
        **formula_entry(formula.name),
        "dimension": str(formula.gives.dimension),
        "equation": _equation(formula),
        "latex": formula.latex(),
        "uses": {part.name: _equation(part) for part in used_formulas(formula)},
        "derivation": steps,
    }


def _derivation(formula: Formula) -> Derivation | None:
    return formula.derivation if formula._derivation is not None else None


def _equation(formula: Formula) -> str:
    return f"{formula.gives.name} = {api_text(formula.expression)}"


def _spelled(step: Step) -> str:
    return f"{api_text(step.equation.lhs)} = {api_text(step.equation.rhs)}"


def _unit(q: Quantity) -> str:
    return "" if q.unit == "1" else q.unit


def _source(text: str) -> str:
    """Replace each time in a source by the place in the lecture and its address.

    >>> _source("1:05; derived")
    'the lecture at 1:05, https://www.youtube.com/watch?v=xmkSf5IS-zw&t=65s; derived'
    """
    return "; ".join(
        f"the lecture at {part}, {lecture_address(part)}" if TIME.fullmatch(part) else part
        for part in text.split("; ")
    )


def formula_entry(name: str) -> dict[str, Any]:
    """Return what the popover of a live number needs to know about its formula."""
    formula = find_formula(name)
    return {
        "tree": formula.tree(),
        "label": getattr(formula.gives, "label", name),
        "meaning": formula.meaning,
        "unit": formula.gives.unit,
        "gives": formula.gives.name,
        "inputs": [
            {
                "name": q.name,
                "label": getattr(q, "label", q.name),
                "meaning": q.meaning,
                "unit": q.unit,
            }
            for q in formula.inputs
            if not getattr(q, "constant", False)
        ],
        "conventions": list(formula.conventions),
        "source": formula.source,
    }
