"""The specification of a problem for the page's script: its draws, its trees and their values.

``study/check.js`` reads it.  The values of the scenarios that a problem can draw are computed here,
so that neither the reader's scenario nor the rows that a page happens to hold can change a
question.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from handful.symbolic.dimensions import Dimension
from handful.symbolic.parse_quantity import read
from handful.symbolic.quantities import table
from handful.units import UNITS

from .check import dimension_in_words, factor_words, letter
from .drawing import ROWS
from .expressions import names
from .problem_model import Problem

# How the unit of an answer may be written; a learner is told one of them.
WRITTEN = {
    "s": "ms or days",
    "B": "GB",
    "bit": "bits",
    "B/s": "TB/s",
    "B/token": "kB/token",
    "B/parameter": "B/parameter",
    "FLOP": "TFLOP",
    "FLOP/s": "TFLOP/s",
    "FLOP/B": "FLOP/B",
    "FLOP/J": "TFLOP/J",
    "FLOP/$": "FLOP/$",
    "B/$": "B/$",
    "W": "W",
    "Wh": "Wh",
    "J/token": "J/token",
    "$/J": "$ per kWh",
    "$": "$",
    "$/token": "$ per million tokens",
    "$/token/s": "$/token/s",
    "$/B": "$/GB",
    "$/B/s": "$/GB/hour",
    "$/device/s": "$ per chip-hour",
    "token": "tokens",
    "token/s": "tokens/s",
    "sequence": "sequences",
    "sequence/s": "requests/s",
    "parameter": "parameters",
    "device": "chips",
    "device·s": "chip-hours",
    "layer": "layers",
    "%": "%",
}


def answer_prompt(problem: Problem) -> str:
    """Return, in words, what to enter in the answer's field.

    >>> from handful_study.problems import problem
    >>> answer_prompt(problem("step-of-a-dense-model"))
    'Your answer, with its unit, such as ms or days'
    """
    if problem.kind == "expression":
        return "Your formula, such as 2*A/B"
    if problem.kind != "number":
        return "Your answer"
    written = WRITTEN.get(problem.unit)
    if UNITS[problem.unit].kind == "count" and problem.unit != "%":
        return f"Your answer, in {written}" if written else "Your answer, a number"
    return f"Your answer, with its unit, such as {written}"


def spec(problem: Problem, requests: Sequence[str] = ()) -> dict:
    """Return the JSON of a problem.

    `requests` are the texts of its ``{drawn}`` roles, in the order of ``data-drawn``.
    """
    drawn = [problem.parse_drawn(request) for request in requests]
    drawn = [
        {"row": shown["row"]}
        if shown["row"]
        else {name: shown[name] for name in ("tree", "unit", "digits")}
        for shown in drawn
    ]
    whens = [choice.when for choice in problem.choices]
    wrong = [turn.tree for turn in problem.wrong]
    trees = [
        problem.answer,
        *whens,
        *problem.schedule.values(),
        *(shown.get("tree", 0) for shown in drawn),
        *(wrong if problem.kind != "schedule" else ()),
    ]
    wanted = set().union(*map(names, trees))
    found: dict = {
        "kind": problem.kind,
        "draw": [[name, list(values)] for name, values in problem.choices_drawn.items()],
        "cases": [dict(case) for case in problem.cases],
        **_values(problem, wanted),
        "drawn": drawn,
    }
    if problem.kind in ("number", "expression"):
        found |= {"asked": answer_prompt(problem), "answer": problem.answer, "wrong": wrong}
    if problem.kind == "number":
        found |= {
            "unit": problem.unit,
            "dimension": _powers(problem.dimension),
            "called": dimension_in_words(problem.dimension),
            "tolerance": problem.tolerance,
            **_named_unit(problem),
            "factors": [[name, factor_words(name)] for name in problem.factors],
        }
    if problem.kind == "expression":
        found["letters"] = [[letter(name), name] for name in problem.letters]
    if problem.kind == "choice":
        found["when"] = whens
    if problem.kind == "schedule":
        found |= {"schedule": problem.schedule, "wrong": wrong}
    return found


def _named_unit(problem: Problem) -> dict[str, Any]:
    """Return the unit in which a question asks, with its size, or the name of what it counts."""
    name = problem.named_unit
    if not name:
        return {}
    if problem.unit == "1":
        return {"counted": name}
    return {"bare": 0.01 if problem.unit == "%" else read(f"1 {name}")[0]}


def _powers(dimension: Dimension) -> dict[str, float]:
    return {
        base: int(power) if power.denominator == 1 else float(power)
        for base, power in dimension.powers
    }


def _values(problem: Problem, wanted: set[str]) -> dict:
    """Return the values of the names that trees hold and no draw gives.

    These are the constant ones, and those that a drawn row sets.  For each of the latter, ``by``
    has the rows that it depends on, and its values for their combinations in order.
    """
    rows = {name: values for name, values in problem.choices_drawn.items() if name in ROWS}
    combinations = [
        dict(zip(rows, chosen, strict=True)) for chosen in itertools.product(*rows.values())
    ]
    known = [
        {
            **{q.name: q.default for q in table.values() if q.default is not None},
            **_scenario(problem, chosen),
        }
        for chosen in combinations
    ]
    values, by = {}, {}
    for name in sorted(wanted - problem.bound_names):
        numbers = [at.get(name) for at in known]
        if all(number == numbers[0] for number in numbers):
            if numbers[0] is not None:
                values[name] = numbers[0]
            continue
        cases = list(zip(combinations, numbers, strict=True))
        rows_that_matter = [
            row
            for row in rows
            if any(
                a != b
                for (one, a), (other, b) in itertools.combinations(cases, 2)
                if all(one[other_row] == other[other_row] for other_row in rows if other_row != row)
            )
        ]
        first = {
            tuple(chosen[row] for row in rows_that_matter): number
            for chosen, number in reversed(cases)
        }
        by[name] = [
            rows_that_matter,
            [first[key] for key in itertools.product(*(rows[row] for row in rows_that_matter))],
        ]
    return {"values": values, "by": by}


def _scenario(problem: Problem, chosen: dict) -> dict[str, float]:
    """Return the values of a scenario that may be drawn.

    The letters of a formula stand for any value, and so have none.
    """
    from handful import query as ask
    from handful.scenario import ScenarioError

    if problem.kind == "expression":
        return {}
    try:
        return {
            name: value
            for name, value in ask.scenario_values(**chosen).items()
            if value is not None
        }
    except ScenarioError as error:
        raise problem.entry.error(f"{error}", "draw") from None
