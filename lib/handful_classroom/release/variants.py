"""Compute inputs, right answers and calls from an assignment and a variant.

Truths, solutions and misconceptions are our own code and run here, in this process; nothing of a
student's does.

>>> from handful_classroom.release.assignment import assignments
>>> roofline = assignments()["roofline"]
>>> question = roofline.questions["step_time"]
>>> made = calls(question, 17)
>>> (
...     made[: len(question.visible)] == list(question.visible),
...     len(made) == len(question.visible) + question.count,
... )
(True, True)
>>> right, ours = (
...     answers(question, found(roofline, 17)["step_time"], made) for found in (truths, solutions)
... )
>>> all(abs(a - b) < 1e-12 for a, b in zip(right, ours, strict=True))
True
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from handful_evidence.random32 import mulberry32
from handful_study.drawing import draw, values
from handful_study.source import SourceError
from handful_study.student import VARIANTS, plain_data

from .model import Assignment, Question

KEPT = 2 * VARIANTS  # results that are remembered; an assignment has 200 variants


def _checked(variant: int) -> int:
    if isinstance(variant, bool) or not isinstance(variant, int) or not 0 <= variant < VARIANTS:
        raise ValueError(f"A variant is a whole number from 0 to {VARIANTS - 1}; got {variant!r}.")
    return variant


@lru_cache(KEPT)
def _drawn(assignment: Assignment, variant: int) -> Mapping[str, Any]:
    return MappingProxyType(draw(assignment.drawn, assignment.cases, _checked(variant)))


@lru_cache(KEPT)
def scenario(assignment: Assignment, variant: int) -> Mapping[str, object]:
    """Return everything that a variant fixes, by name.

    That is the rows of the scenario, their quantities, and what is drawn.  Truths have it as
    `given`.
    """
    drawn = _drawn(assignment, variant)
    found = values(drawn) | {name: drawn[name] for name in drawn if name != "case"}
    if "case" in drawn:
        found["case"] = drawn["case"]["name"]
    return MappingProxyType(found)


def inputs_of(assignment: Assignment, variant: int) -> dict:
    """Return the inputs that a student sees, in base units."""
    found = scenario(assignment, variant)
    return {name: copy.deepcopy(found[name]) for name in assignment.shows}


def calls(question: Question, variant: int) -> list[dict]:
    """Return the calls of a function: the visible ones, then those drawn for the variant.

    A value has none.

    The hidden calls differ from the visible ones and from each other as far as their ranges allow.
    """
    found = [copy.deepcopy(dict(call)) for call in question.visible]
    text = f"{question.assignment}\0{question.name}\0{_checked(variant)}"
    step = mulberry32(int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big"))
    seen = {_key(call) for call in found}
    for _ in range(question.count):
        for _ in range(20):
            call = {name: many[int(step() * len(many))] for name, many in question.hidden.items()}
            if _key(call) not in seen:
                break
        seen.add(_key(call))
        found.append(copy.deepcopy(call))
    return found


def _key(call: Mapping) -> str:
    return json.dumps(call, sort_keys=True)


def answers(question: Question, thing: object, made: Sequence[Mapping]) -> list:
    """Return a function's results for the calls, or a value's one answer, as JSON values.

    The function or value is ours.
    """
    if callable(thing) and (question.visible or question.count):
        return [plain_data(thing(**copy.deepcopy(dict(call)))) for call in made]
    return [plain_data(thing)]


@lru_cache(KEPT)
def _solved(assignment: Assignment, variant: int) -> Mapping[str, object]:
    """Run the cells with their solutions on the student's `given`, and return all names.

    Explore cells are not run.
    """
    space: dict[str, object] = {
        "__name__": "handful_solution",
        "given": inputs_of(assignment, variant),
    }
    for i, piece in enumerate(assignment.pieces):
        if piece.kind == "code" and piece.tag != "explore":
            _run(
                assignment.cuts[i].solution,
                space,
                assignment.file,
                piece.line,
                f"the solution fails for variant {variant}",
            )
    return MappingProxyType(space)


def _run(code: str, space: dict, file: str, line: int, what: str) -> None:
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # a cell may print; nobody reads it here
            exec(compile("\n" * (line - 1) + code, file, "exec"), space)
    except Exception as error:
        at = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == file
        ]
        raise SourceError(
            f"{file}, line {at[-1] if at else line}: {what}: {type(error).__name__}: {error}"
        ) from error


def solutions(assignment: Assignment, variant: int) -> Mapping[str, object]:
    """Return what the solution's cells define for each question, except written ones."""
    space = _solved(assignment, variant)
    return MappingProxyType(
        {
            name: space[name]
            for name, question in assignment.questions.items()
            if question.kind != "written"
        }
    )


@lru_cache(KEPT)
def truths(assignment: Assignment, variant: int) -> Mapping[str, object]:
    """Return the right answer to each question, by name.

    Where the source has no truth, it is the solution's.

    A function for a function, a value for a value, an expression's text for an expression
    (`question.tree` is its tree in quantities); written questions are left out.
    """
    found: dict[str, object] = {}
    for name, question in assignment.questions.items():
        if question.kind == "written":
            continue
        if not question.truth:
            found[name] = _solved(assignment, variant)[name]
        elif question.kind == "expression":
            found[name] = question.truth
        else:
            found[name] = _defined(
                question,
                question.truth,
                "truth",
                {"given": copy.deepcopy(dict(scenario(assignment, variant)))},
                variant,
            )
    return MappingProxyType(found)


@lru_cache(KEPT)
def misconceptions(assignment: Assignment, variant: int) -> Mapping[str, Mapping[str, object]]:
    """Return what each misconception defines, by question and id.

    These are functions, values, and texts of expressions.

    Its code sees what a student's would: `given`, and all that the cells define.
    """
    found: dict[str, Mapping[str, object]] = {}
    for name, question in assignment.questions.items():
        made: dict[str, object] = {}
        for key, misconception in question.wrong.items():
            if question.kind == "expression":
                made[key] = misconception.code
            else:
                made[key] = _defined(
                    question,
                    misconception.code,
                    f"wrong.{key}.code",
                    dict(_solved(assignment, variant)),
                    variant,
                )
        found[name] = MappingProxyType(made)
    return MappingProxyType(found)


def _defined(question: Question, code: str, field: str, space: dict, variant: int) -> object:
    entry = question.entry
    space["__name__"] = "handful_truth"
    _run(
        code,
        space,
        entry.file,
        entry.lines.get(field, entry.line) + 1,
        f"{question.name}: {field} fails for variant {variant}",
    )
    return space[question.name]


def spread(make: Callable[[int], object]) -> dict:
    """Return the value for each variant, with each distinct value stored once.

    The form is {"values": [...], "index": [...]}, without an index where all are the same.

    >>> spread(lambda variant: variant % 2)["values"], spread(lambda variant: 7)
    ([0, 1], {'values': [7]})
    """
    found: dict[str, int] = {}
    index: list[int] = []
    kept: list[object] = []
    for variant in range(VARIANTS):
        value = make(variant)
        key = json.dumps(value, sort_keys=True)
        if key not in found:
            found[key] = len(kept)
            kept.append(value)
        index.append(found[key])
    return {"values": kept} if len(kept) == 1 else {"values": kept, "index": index}
