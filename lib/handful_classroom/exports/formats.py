"""Export assignments to other graders: a notebook for nbgrader, an archive for Gradescope.

nbgrader: answers are regions that it clears, tests that students do not see stand between its
marks, written answers are cells for its manual grading.  ``make nbgrader`` runs nbgrader itself on
it, generate and autograde: the solution gets all points, the empty notebook none, a wrong one part
of them.  Judged questions, and assignments that use the library, want `handful` in nbgrader's
environment too; these were not run there.  nbgrader has one set of inputs for everybody (variant
0), does not know misconceptions, and runs students' code as the teacher, so that its grades can be
forged; our own grader is the safe one.

Gradescope: see `handful_classroom.exports.gradescope`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from handful_study.check import SAME, points
from handful_study.expressions import evaluate
from handful_study.source import ExportError

from ..release.assignment import Assignment, Question
from ..release.cells import Piece
from ..release.checks import as_problem
from ..release.notebooks import worth
from ..release.variants import answers, calls, inputs_of, truths
from .gradescope import archive

VARIANT = 0
BEGIN, END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
POINTS = 8

# The head of every test cell: nothing that a student's cell defines stands in for it.
HELPERS = """import copy as _copy
import math as _math


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def _same(answer, true, tolerance):
    if isinstance(true, dict):
        return (
            isinstance(answer, dict)
            and answer.keys() == true.keys()
            and all(_same(answer[key], true[key], tolerance) for key in true)
        )
    if isinstance(true, list):
        return (
            isinstance(answer, list)
            and len(answer) == len(true)
            and all(_same(a, b, tolerance) for a, b in zip(answer, true))
        )
    if isinstance(true, (bool, str)) or true is None:
        return type(answer) is type(true) and answer == true
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        return False
    if isinstance(true, int) or _math.isinf(true):
        return answer == true
    if _math.isnan(true):
        return _math.isnan(answer)
    return abs(answer - true) <= max(tolerance * abs(true), 1e-12 * (true == 0))

"""


def literal(value) -> str:
    """Return a JSON value as a Python literal, nan and infinities included.

    >>> literal([1.5, None, {"a": float("inf")}, True])
    "[1.5, None, {'a': float('inf')}, True]"
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return (
        f"float({str(value)!r})"
        if isinstance(value, float) and not math.isfinite(value)
        else repr(value)
    )


def nbgrader(assignment: Assignment) -> dict:
    """Return the notebook for nbgrader's folder ``source``, with solutions and hidden tests.

    >>> from handful_classroom.release.assignment import assignments
    >>> made = nbgrader(assignments()["roofline"])
    >>> [
    ...     cell["metadata"]["nbgrader"]["points"]
    ...     for cell in made["cells"]
    ...     if cell["metadata"].get("nbgrader", {}).get("grade")
    ... ]
    [3, 4, 3, 3, 4, 3, 6]
    """
    inputs = "\n".join(
        f"    {name!r}: {literal(value)}," for name, value in inputs_of(assignment, VARIANT).items()
    )
    cells = (
        [_cell("code", "setup", f"# Your inputs.\ngiven = {{\n{inputs}\n}}", locked=True)]
        if inputs
        else []
    )
    for i, piece in enumerate(assignment.pieces):
        cells += _cells(assignment, i, piece)
    kernel: Any = assignment.entry.head["kernelspec"]  # a mapping, as Jupyter has it
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": dict(kernel),
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(kind: str, name: str, source: str, **flags) -> dict:
    """Return a notebook cell, with nbgrader's metadata where flags are given."""
    metadata: dict[str, object] = {}
    if flags:
        metadata["nbgrader"] = {
            "schema_version": 3,
            "grade_id": name,
            "grade": False,
            "solution": False,
            "locked": False,
            "task": False,
            **flags,
        }
    extra: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": name.replace("_", "-"),
        "metadata": metadata,
        "source": source,
        **extra,
    }


def _cells(assignment: Assignment, i: int, piece: Piece) -> list[dict]:
    if piece.kind == "markdown":
        return [_cell("markdown", f"text-{i:02d}", piece.text)]
    if piece.kind == "model":
        worth_it = assignment.questions[piece.name].points
        return [
            _cell(
                "markdown",
                f"answer-{piece.name}",
                piece.text,
                grade=True,
                solution=True,
                points=worth_it,
            )
        ]
    if piece.kind == "code":
        answer = piece.tag == "answer"
        return [
            _cell("code", f"answer-{i:02d}", regions(piece.text), solution=True)
            if answer
            else _cell("code", f"code-{i:02d}", piece.text)
        ]
    question = assignment.questions[piece.name]
    if question.kind == "written":
        return []
    test = f"# {worth(question)}\n{HELPERS}\n{TESTS[question.kind](assignment, question)}"
    return [
        _cell("code", f"test-{piece.name}", test, grade=True, locked=True, points=question.points)
    ]


def regions(code: str) -> str:
    """Replace our marks around a solution by nbgrader's.

    >>> print(regions("x = 3  # solution"))
    ### BEGIN SOLUTION
    x = 3
    ### END SOLUTION
    """
    made = []
    for line in code.splitlines():
        if mark := re.fullmatch(r"(\s*)# (solution|end)\s*", line):
            made.append(mark[1] + SOLUTION[mark[2] == "end"])
        elif one := re.fullmatch(r"((\s*).*\S)\s+# solution\s*", line):
            made += [one[2] + SOLUTION[0], one[1], one[2] + SOLUTION[1]]
        else:
            made.append(line)
    return "\n".join(made)


def _value(assignment: Assignment, question: Question) -> str:
    true = answers(question, truths(assignment, VARIANT)[question.name], [])[0]
    return (
        f'_answer, _right = _plain({question.name}), True\nassert _answer is not ..., "not filled '
        'in yet"\n'
        f"{BEGIN}\n_right = _same(_answer, {literal(true)}, {question.tolerance!r})\n{END}\n"
        f"{question.points!r} if _right else 0"
    )


def _function(assignment: Assignment, question: Question) -> str:
    made = calls(question, VARIANT)
    right = answers(question, truths(assignment, VARIANT)[question.name], made)
    rows = [
        f"    ({literal(call)}, {literal(true)})," for call, true in zip(made, right, strict=True)
    ]
    seen = len(question.visible)
    hidden = (
        f"{BEGIN}\n_calls += [\n" + "\n".join(rows[seen:]) + f"\n]\n{END}\n"
        if question.count
        else ""
    )
    return (
        "_calls = [\n"
        + "\n".join(rows[:seen])
        + f"\n]\n{hidden}_function, _count = {question.name}, 0\n"
        "for _number, (_call, _true) in enumerate(_calls):\n    try:\n"
        "        _answer = _plain(_function(**_copy.deepcopy(_call)))\n"
        "    except NotImplementedError:\n        raise\n    except Exception as _error:\n"
        "        _answer = _error\n"
        f"    _right = _same(_answer, _true, {question.tolerance!r})\n    _count += _right\n"
        f"    if not _right and _number < {seen}:\n"
        f'        print(f"{question.name}: {{_call}} gives {{_answer!r}}; expected is '
        f'{{_true!r}}")\n'
        f"round({question.points!r} * _count / len(_calls), 4)"
    )


def _expression(assignment: Assignment, question: Question) -> str:
    problem = as_problem(question)
    rows = []
    for point in points(problem)[:POINTS]:
        letters = literal({letter: point[name] for letter, name in question.letters.items()})
        rows.append(f"    ({letters}, {literal(evaluate(question.tree, point))}),")
    return (
        f'import re as _re\n\n_text = str({question.name}).replace("^", "**")\n'
        '_text = _re.sub(r"(?<=[\\w)])\\s+(?=[\\w(])", "*", _text)\n'
        '_known = {"max": max, "min": min, "abs": abs, "Max": max, "Min": min, "Abs": abs,\n'
        '          **{_name: getattr(_math, _name) for _name in ("sqrt", "log", "log2", "exp", '
        '"floor", "ceil")}}\n'
        f"_points = []\n{BEGIN}\n_points += [\n" + "\n".join(rows) + f"\n]\n{END}\n"
        '_values = [(eval(_text, {"__builtins__": {}, **_known}, dict(_point)), _true) for '
        "_point, _true in _points]\n"
        f"_right = all(_same(_value, _true, {SAME!r}) for _value, _true in _values)\n"
        f"{question.points!r} if _right else 0"
    )


def _judged(assignment: Assignment, question: Question) -> str:
    made = calls(question, VARIANT)
    shown, rest = made[: len(question.visible)], made[len(question.visible) :]
    got = (
        f"[_plain({question.name}(**_copy.deepcopy(_call))) for _call in _calls]"
        if made
        else f"[_plain({question.name})]"
    )
    more = f"_calls += {literal(rest)}\n" if rest else ""
    asked = {
        "name": question.name,
        "kind": "judged",
        "points": question.points,
        "asks": question.asks,
        "judge": question.judge,
    }
    return (
        "from types import SimpleNamespace as _Question\n\n"
        "from handful_study.custom_scorers import find_judge as _found\n\n"
        f"_calls = {literal(shown)}\n{BEGIN}\n{more}{END}\n"
        f"_answers = {got}\n_share, _says, _ = "
        f"_found({question.judge!r})(_Question(**{literal(asked)}), given, _calls, _answers)\n"
        f"print(_says)\nround({question.points!r} * _share, 4)"
    )


TESTS: dict[str, Callable[[Assignment, Question], str]] = {
    "value": _value,
    "function": _function,
    "expression": _expression,
    "judged": _judged,
}


def _nbgrader_files(assignment: Assignment, install: Sequence[str]) -> dict[str, str]:
    return {
        f"source/{assignment.name}/{assignment.name}.ipynb": json.dumps(
            nbgrader(assignment), indent=1, ensure_ascii=False
        )
        + "\n"
    }


def _gradescope_files(assignment: Assignment, install: Sequence[str]) -> dict[str, bytes]:
    if not install:
        raise ExportError(
            "A Gradescope container installs this grader: say where pip gets it from, with "
            "--install ADDRESS-OF-A-WHEEL."
        )
    return {f"{assignment.name}-gradescope.zip": archive(assignment, install)}


# By format: a function of the assignment and of what pip installs, which gives the files by their
# names.
FORMATS: dict[str, Callable[[Assignment, Sequence[str]], dict]] = {
    "nbgrader": _nbgrader_files,
    "gradescope": _gradescope_files,
}
