"""Problems: numbers drawn from a seed, computed answers, and known misconceptions.

A problem of ``exercises/problems/CHAPTER.md``::

    ## step-of-a-dense-model

    ```yaml
    level: apply
    section: latency-and-cost#what-a-token-costs
    draw:
      hardware: [H100 SXM, B200 SXM]
      model: Llama 3.1 70B
      precision: fp8
      batch: 16..256 times 2
      context: 1000..8000 by 500
    answer: step_time
    wrong:
      - value: memory_time
        says: You left out what arithmetic takes; the step lasts as long as the slower of the two.
    ```

    {drawn}`batch` sequences of {drawn}`context` wait on {drawn}`devices` × {drawn}`hardware`.  How
    long is a step?

    ### Hint
    ### Hint
    ### Solution

Kinds, by what the head has:

- ``answer``: a number.  An expression over quantities, formulas (``step_time``,
  ``step_time(batch=1)``), and what is drawn.
  ``unit`` (of ``handful.units``) where the answer is no quantity's own; ``tolerance`` where it is
  not 2 %; ``named_unit`` where the question names the unit (``$/Mtoken``), so that a bare number
  will do, or what is counted (``rounds``), so that its name may be written.
- ``answer`` and ``letters``: a formula in those quantities, checked for equality of value.
  Texts of choices and of misconceptions are Markdown too, and may show what is drawn.
- ``choices``: each with ``text`` and ``says``; exactly one has ``right: true``, or a ``when`` that
  is positive.
- ``schedule``: see `handful_study.pipeline_schedules`.

``draw`` takes a value, a list, ``low..high by step`` or ``low..high times factor``; ``hardware``,
``model`` and ``precision`` choose a scenario (the book's first where they are not drawn), all else
are quantities, or names with a unit in ``units``. ``cases`` is a list of mappings of which one is
drawn: ``name`` and values, where a text is asked for (`handful.query`). Each problem has two hints
and a solution; judgement has a ``rubric`` too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from handful.nearest import nearest
from handful.symbolic.dimensions import DimensionError
from handful.symbolic.quantities import table
from handful.units import UNITS

from . import drawing, expressions
from .author_expressions import author_tree, dimension, unit_for, unit_of
from .drawing import ROWS
from .pipeline_schedules import DEFAULTS, FIELDS, OPTIONAL, PATTERNS
from .problem_model import TOLERANCE, Choice, Problem, Wrong
from .source import Entry, Part, SourceError, check_fields, check_place, read_all

LEVELS = ("apply", "derive", "judge")
_REQUIRED = ("level", "section")
_OPTIONAL = (
    "lecture",
    "draw",
    "cases",
    "units",
    "answer",
    "unit",
    "tolerance",
    "named_unit",
    "wrong",
    "letters",
    "choices",
    "rubric",
    "schedule",
)


def make(entry: Entry) -> Problem:
    """Return the problem that an entry describes, or raise a SourceError that names the fault."""
    check_fields(entry, _REQUIRED, _OPTIONAL)
    level = entry.one_of("level", LEVELS)
    chapter, section, lecture = check_place(entry)
    text, hints, solution = _texts(entry)
    kind = _kind(entry)
    draw, units = _mapping(entry, "draw"), _mapping(entry, "units")
    made = Problem(
        entry.id,
        kind,
        level,
        chapter,
        section,
        lecture,
        text,
        hints,
        solution,
        entry,
        choices_drawn={
            name: drawing.drawn_values(name, given, entry) for name, given in draw.items()
        },
        cases=tuple(_case(case, entry) for case in entry.head.get("cases") or ()),
        units={name: str(unit) for name, unit in units.items()},
        tolerance=_tolerance(entry),
        named_unit=str(entry.head.get("named_unit") or ""),
        letters=_letters(entry) if kind == "expression" else (),
        rubric=tuple(map(str, entry.head.get("rubric") or ())),
    )
    _check_drawn_names(made)
    return replace(made, **_FIELDS_OF_KIND[kind](made))


def _texts(entry: Entry) -> tuple[Part, tuple[Part, ...], Part]:
    """Return the text, the hints and the solution."""
    titles = [part.title for part in entry.parts]
    if titles != ["", "Hint", "Hint", "Solution"]:
        raise entry.error(
            "a problem is its text, two times ### Hint, then ### Solution; got "
            f"{', '.join(title or 'the text' for title in titles)}."
        )
    for part in entry.parts:
        if not part.text:
            raise entry.error(f"{part.title or 'the text'} is empty.")
    text, *hints, solution = entry.parts
    return text, tuple(hints), solution


def _kind(entry: Entry) -> str:
    found = [name for name in ("choices", "schedule", "answer") if name in entry.head]
    if len(found) != 1:
        raise entry.error("a problem has either an answer, choices or a schedule.")
    if found == ["answer"]:
        return "expression" if "letters" in entry.head else "number"
    return "choice" if found == ["choices"] else "schedule"


def _check_drawn_names(problem: Problem) -> None:
    for name in {*problem.choices_drawn, *(key for case in problem.cases for key in case)} - {
        *ROWS,
        "name",
        "case",
    }:
        if name not in table and name not in problem.units:
            raise problem.entry.error(
                f"{name!r} is no quantity, so it needs a unit in units; the nearest quantities are "
                f"{nearest(name, table)}.",
                "draw",
            )


def _answer_fields(problem: Problem) -> dict[str, Any]:
    """Return the trees of the answer and of the misconceptions."""
    entry, units, named = problem.entry, problem.units, problem.bound_names
    return {
        "answer": author_tree(entry.head["answer"], entry, "answer", units, named),
        "wrong": tuple(
            Wrong(
                author_tree(item["value"], entry, "wrong", units, named), str(item["says"]).strip()
            )
            for item in _items(entry, "wrong", ("value", "says"))
        ),
    }


def _number_fields(problem: Problem) -> dict[str, Any]:
    entry, units = problem.entry, problem.units
    fields = _answer_fields(problem)
    answer = entry.head["answer"]
    try:
        found = dimension(answer, units, problem.bound_names)
    except DimensionError as error:
        raise entry.error(f"{error}", "answer") from None
    unit = str(entry.head.get("unit") or unit_of(str(answer).strip(), units) or unit_for(found))
    if unit not in UNITS:
        raise entry.error(f"there is no unit {unit!r}; there are {', '.join(UNITS)}.", "unit")
    return {**fields, "unit": unit, "dimension": found}


def _expression_fields(problem: Problem) -> dict[str, Any]:
    fields = _answer_fields(problem)
    known = {q.name for q in table.values() if q.constant or q.default is not None}
    if unknown := expressions.names(fields["answer"]) - {*problem.letters, *known}:
        raise problem.entry.error(
            f"the answer holds {', '.join(sorted(unknown))}, which is not among its letters.",
            "letters",
        )
    return fields


def _choice_fields(problem: Problem) -> dict[str, Any]:
    entry = problem.entry
    choices = tuple(
        _choice(item, entry, problem.units, problem.bound_names)
        for item in _items(entry, "choices", ("text", "says"), ("right", "when"))
    )
    if len(choices) < 2:
        raise entry.error("two choices at least are expected.", "choices")
    return {"choices": choices}


def _schedule_fields(problem: Problem) -> dict[str, Any]:
    entry = problem.entry
    return {
        "schedule": _read_goal(entry, problem.units, problem.bound_names),
        "wrong": _read_schedule_wrong(entry, _items(entry, "wrong", ("value", "says"))),
    }


_FIELDS_OF_KIND: dict[str, Callable[[Problem], dict[str, Any]]] = {
    "number": _number_fields,
    "expression": _expression_fields,
    "choice": _choice_fields,
    "schedule": _schedule_fields,
}


def _mapping(entry: Entry, name: str) -> dict:
    value = entry.head.get(name) or {}
    if not isinstance(value, dict):
        raise entry.error("lines of the form name: value are expected.", name)
    return value


def _items(
    entry: Entry, name: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> list[dict]:
    value = entry.head.get(name) or []
    if not isinstance(value, list):
        raise entry.error("a list is expected.", name)
    for item in value:
        if (
            not isinstance(item, dict)
            or any(key not in item for key in required)
            or set(item) - {*required, *optional}
        ):
            more = f", and may have {' or '.join(optional)}" if optional else ""
            raise entry.error(f"each needs {' and '.join(required)}{more}; got {item!r}.", name)
    return value


def _tolerance(entry: Entry) -> float:
    value = entry.head.get("tolerance", TOLERANCE)
    if isinstance(value, str) and (found := re.fullmatch(r"\s*([\d.]+)\s*%\s*", value)):
        value = float(found[1]) / 100
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 0.5:
        raise entry.error(
            f"a share up to one half is expected, such as 2 %; got {value!r}.", "tolerance"
        )
    return float(value)


def _letters(entry: Entry) -> tuple[str, ...]:
    letters = entry.head["letters"]
    if not isinstance(letters, list) or not letters or any(name not in table for name in letters):
        unknown = (
            [name for name in letters if name not in table]
            if isinstance(letters, list)
            else letters
        )
        raise entry.error(f"a list of quantities is expected; {unknown!r} are none.", "letters")
    return tuple(letters)


def _choice(item: dict, entry: Entry, units, named) -> Choice:
    if "when" in item:
        when = author_tree(item["when"], entry, "choices", units, named)
    else:
        when = 1 if item.get("right") is True else -1
    return Choice(str(item["text"]).strip(), when, str(item["says"]).strip())


def _case(case, entry: Entry) -> dict:
    if not isinstance(case, dict) or "name" not in case:
        raise entry.error(f"each case needs a name; got {case!r}.", "cases")
    return {
        key: value if key == "name" else drawing.number(value, key, entry, "cases")
        for key, value in case.items()
    }


def _read_goal(entry: Entry, units: Mapping[str, str], named: set[str]) -> dict[str, object]:
    """Return the trees of a head's ``schedule``."""
    given = entry.head["schedule"]
    if (
        not isinstance(given, dict)
        or any(name not in given for name in FIELDS)
        or set(given) - {*FIELDS, *OPTIONAL}
    ):
        raise entry.error(
            f"{', '.join(FIELDS)} are needed, and {' and '.join(OPTIONAL)} may be given.",
            "schedule",
        )
    return {
        name: author_tree(str(text), entry, "schedule", units, named)
        for name, text in {**DEFAULTS, **given}.items()
    }


def _read_schedule_wrong(entry: Entry, items: list[dict]) -> tuple[Wrong, ...]:
    """Return the misconceptions of a schedule, by the names of `PATTERNS`."""
    for item in items:
        if item["value"] not in PATTERNS:
            raise entry.error(
                f"of a schedule's misconceptions, {' and '.join(PATTERNS)} are known; got "
                f"{item['value']!r}.",
                "wrong",
            )
    return tuple(Wrong(item["value"], str(item["says"]).strip()) for item in items)


@cache
def _entries() -> dict[str, Entry]:
    return read_all("problems", lambda entry: entry)


@cache
def _problem(name: str) -> Problem:
    return make(_entries()[name])


@cache
def problems() -> dict[str, Problem]:
    """Return every problem of the book, by id."""
    return {name: _problem(name) for name in _entries()}


def problem(name: str) -> Problem:
    """Return the problem of that id, or raise a SourceError that lists the nearest ids.

    No other problem is made.
    """
    if name not in _entries():
        raise SourceError(
            f"There is no problem {name!r}; the nearest are {nearest(name, _entries())}."
        )
    return _problem(name)
