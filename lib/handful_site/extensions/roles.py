"""Evaluate the book's own roles, independently of Sphinx.

They take text and return values and words.  ``live`` and ``fact`` are computed when the book is
built; nothing here holds a number of its own.
"""

from __future__ import annotations

import json
import re

from handful import scenario
from handful.equation import formula_entry
from handful.query import (
    QueryError,
    evaluate,
    fact_unit,
    lecture_address,
    lecture_seconds,
    lecture_title,
    parse_live,
    registry,
    scenario_values,
)
from handful.query import shown_fact as fact

from ..bootstrap import ROOT
from .conditions import Condition as condition

__all__ = [
    "RoleError",
    "condition",
    "condition_and_text",
    "fact",
    "fact_unit",
    "formula_entry",
    "guess",
    "lecture_address",
    "lecture_seconds",
    "lecture_title",
    "live",
    "maths",
    "parse_live",
    "registry",
    "scenario_values",
    "where",
]

RoleError = QueryError


def live(text: str) -> dict:
    """Return a live number: its formula, what is set, its digits, and its text by default.

    The text is that for the default scenario.
    """
    from handful.units import format_value

    formula, value, given, chosen, digits, unit, whole = evaluate(text)
    known = scenario_values(**chosen)
    # What neither the scenario nor the author sets has a default, which the page needs too.
    rest = {
        q.name: q.default
        for q in formula.inputs
        if q.default is not None and q.name not in given and q.name not in known
    }
    return {
        "formula": formula.name,
        "set": given,
        "digits": digits,
        **({"values": rest} if rest else {}),
        **({"unit": unit} if unit != formula.gives.unit else {}),
        **({"whole": whole} if whole else {}),
        "text": format_value(value, unit, digits),
    }


def maths(names) -> dict:
    """Return what popovers typeset, which is set at build time.

    That is the formulas themselves, and the letters of their inputs.
    """
    found = [registry()[name] for name in names]
    return {
        "formulas": {formula.name: {"latex": formula.latex()} for formula in found},
        "letters": {
            q.name: {"latex": q.latex}
            for formula in found
            for q in formula.inputs
            if not getattr(q, "constant", False)
        },
    }


# Conditions


def condition_and_text(text: str) -> tuple[condition, str]:
    """Split what {where} and {always} hold, ``CONDITION | text``.

    >>> condition_and_text("device_price > 0 | It has a price.")
    (Condition('device_price > 0'), 'It has a price.')
    """
    before, bar, words = text.partition("|")
    if not bar or not words.strip():
        raise RoleError(
            f"{text!r} has no text; write a condition, a bar, then the text that it is about."
        )
    return condition(before), words.strip()


def where(asked: condition) -> dict:
    """Return what the page needs of a condition, and whether it holds for the default scenario."""
    data = json.dumps(asked.page(), separators=(",", ":"), allow_nan=False)
    return {"data": data, "holds": asked.holds(**scenario.PAGE)}


# Guesses


def guess(text: str) -> str:
    """Return the name of an explorer, or of a chapter's question, that asks for a guess.

    >>> guess("latency-against-batch")
    'latency-against-batch'
    """
    from handful_site.social import explorers

    asking = sorted([*(name for name, one in explorers().items() if one.guess), *questions()])
    if text not in asking:
        raise RoleError(f"Nothing named {text!r} asks for a guess; these do: {', '.join(asking)}.")
    return text


def questions() -> list[str]:
    """Return the names of the questions that chapters open with."""
    return [
        name
        for page in sorted((ROOT / "book").glob("*.md"))
        for name in re.findall(r"^`{3,}\{ask\} ([\w-]+)$", page.read_text("utf-8"), re.M)
    ]
