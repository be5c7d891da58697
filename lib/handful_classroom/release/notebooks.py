"""Make the notebooks of an assignment: without the solution, with it, or with a mistake.

Students and teachers get these.

>>> from handful_classroom.release.assignment import assignments
>>> roofline = assignments()["roofline"]
>>> made = notebook(roofline)
>>> made["nbformat"], made["nbformat_minor"], made["cells"][0]["source"].splitlines()[0]
(4, 5, '%pip install -q ipywidgets matplotlib numpy')
>>> any("max(read" in cell["source"] for cell in made["cells"])
False
>>> any("max(read" in cell["source"] for cell in notebook(roofline, fill="solution")["cells"])
True
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from handful.units import plural
from handful_study import student as student_module
from handful_study.check import SAME, letter, points
from handful_study.expressions import evaluate
from handful_study.source import SourceError
from handful_study.student import digests

from .assignment import Assignment, Question
from .cells import Piece
from .checks import as_problem
from .variants import answers, inputs_of, spread, truths

PACKAGES = "ipywidgets matplotlib numpy"
WRITE_HERE = "*Write your answer here, in place of this line.*"
HEADING = "**Your answer: {}**"
TEACHER = "teacher"  # whose inputs the solution has, where it is nobody's
POINTS = 6  # at which a formula's digests are taken
SETUP = "# The rest of the setup: your inputs, and the checks.  Nothing here has to be changed."
CLOSING = """## Before you hand in

Save, restart the kernel, run all cells from top to bottom, and look at the summary below.
Then hand in this file, under the name that it has."""


@lru_cache(16)
def _public(assignment: Assignment) -> str:
    def of_all(name: str) -> dict:
        return spread(lambda variant: inputs_of(assignment, variant)[name])

    inputs = {name: of_all(name) for name in assignment.shows}
    questions = {
        name: {
            "kind": one.kind,
            "points": one.points,
            "asks": one.asks,
            **_released(assignment, one),
        }
        for name, one in assignment.questions.items()
    }
    made = {
        "schema": 1,
        "assignment": assignment.name,
        "edition": assignment.edition,
        "given": inputs,
        "questions": questions,
    }
    return json.dumps(made, ensure_ascii=False, separators=(",", ":"))


def public(assignment: Assignment) -> dict:
    """Return what a released notebook holds of the assignment.

    That is the inputs of all variants, visible calls with their results, and digests of values and
    formulas.
    """
    return json.loads(_public(assignment))


def _released(assignment: Assignment, question: Question) -> dict:
    """Return the released part of one question, by its kind."""
    salt = f"{assignment.name}.{question.name}"
    if question.kind == "written":
        return {}
    if question.kind == "judged":
        return {"judge": question.judge, "calls": list(question.visible), "hidden": question.count}
    if question.kind == "expression":
        problem = as_problem(question)
        spelled = {
            spelling: name
            for name in question.letters.values()
            for spelling in (letter(name), name)
        } | dict(question.letters)
        at = [{name: point[name] for name in problem.letters} for point in points(problem)[:POINTS]]
        marks = [
            digests(f"{salt}{i}", evaluate(question.tree, point), SAME)[""]
            for i, point in enumerate(points(problem)[:POINTS])
        ]
        return {
            "letters": list(question.letters),
            "spelled": spelled,
            "points_at": at,
            "digests": marks,
            "tolerance": SAME,
        }
    if question.kind == "value":
        own = spread(
            lambda variant: digests(
                salt,
                answers(question, truths(assignment, variant)[question.name], [])[0],
                question.tolerance,
            )
        )
        return {"tolerance": question.tolerance, "digests": own}
    visible = list(question.visible)
    right = spread(
        lambda variant: answers(question, truths(assignment, variant)[question.name], visible)
    )
    return {
        "tolerance": question.tolerance,
        "calls": visible,
        "expected": right,
        "hidden": question.count,
    }


def notebook(
    assignment: Assignment,
    student: str | None = None,
    fill: str | tuple[str, str, str] = "empty",
    install: str | None = None,
) -> dict:
    """Return a notebook of format 4.5, the same each time.

    Parameters
    ----------
    assignment : Assignment
    student : str, optional
        Whose it is; where it is nobody's, the student writes an id into the first cell.
    fill : str or tuple
        "empty" for students, "solution", or ("wrong", question, id of a misconception): the
        solution with that mistake after it.
    install : str, optional
        Where pip gets `handful` from: a requirement for the first cell.  By default it is not
        installed, for whoever owns that name on a public index would decide what students run: the
        setup brings its own copy of the checks, which leave formulas and judged answers to the
        grader.

    Raises
    ------
    SourceError
        For a misconception that is unknown, in one sentence.
    """
    wrong = _wrong(assignment, fill)
    filled = fill != "empty"
    who = student if student is not None else TEACHER if filled else ""
    cells = _setup(assignment, who, install)
    for i, piece in enumerate(assignment.pieces):
        cells += _cells(assignment, i, piece, filled, wrong)
    cells += [
        cell("markdown", "closing", CLOSING),
        cell("code", "summary", "check()", ["check"], locked=True),
    ]
    own = {"assignment": assignment.name, "edition": assignment.edition} | (
        {"student": who} if who else {}
    )
    kernel: Any = assignment.entry.head["kernelspec"]  # a mapping, as Jupyter has it
    return {
        "cells": cells,
        "metadata": {
            "handful": own,
            "kernelspec": dict(kernel),
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _wrong(assignment: Assignment, fill: str | tuple[str, str, str]) -> tuple[str, str] | None:
    """Return (question, code) of the requested misconception, or None where none is requested."""
    if fill in ("empty", "solution"):
        return None
    kind, name, key = fill if isinstance(fill, tuple) and len(fill) == 3 else ("", "", "")
    misconceptions = (
        assignment.questions[name].wrong if kind == "wrong" and name in assignment.questions else {}
    )
    if key not in misconceptions:
        known = ", ".join(
            f"{one.name}: {id}" for one in assignment.questions.values() for id in one.wrong
        )
        raise SourceError(
            f"A notebook is empty, has the solution, or a misconception of {assignment.name}, "
            f"which are {known}; got {fill!r}."
        )
    code = misconceptions[key].code
    return name, f"{name} = {json.dumps(code)}" if assignment.questions[
        name
    ].kind == "expression" else code


def cell(
    kind: str,
    name: str,
    source: str,
    tags: list[str] | None = None,
    locked: bool = False,
    hidden: bool = False,
) -> dict:
    """Return a notebook cell; `name` becomes its id."""
    metadata: dict[str, object] = {"tags": tags} if tags else {}
    if locked:
        metadata |= {"deletable": False, "editable": False}
    if hidden:
        metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
    extra: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": name.replace("_", "-")[:60],
        "metadata": metadata,
        "source": source,
        **extra,
    }


@lru_cache(1)
def _checks() -> str:
    """Return the source of `handful_study.student`, which needs the standard library only."""
    return Path(student_module.__file__).read_text("utf-8")


def _setup(assignment: Assignment, student: str, install: str | None) -> list[dict]:
    asked = (
        PACKAGES
        if install is None
        else install
        if install.replace("-", "").replace("_", "").isalnum()
        else json.dumps(install)
    )
    whose = "" if student else "  # your id, as your teacher knows it, between the quotation marks"
    first = f"%pip install -q {asked}\nstudent = {json.dumps(student, ensure_ascii=False)}{whose}"
    literal = _public(assignment).replace(
        "'", "\\u0027"
    )  # within the quotation marks of the literal
    second = (
        f"{SETUP}\ntry:\n    from handful_study.student import Assignment\n"
        "except ModuleNotFoundError:  # the same, as it was when this notebook was made\n"
        '    import types\n\n    _checks = types.ModuleType("checks")\n'
        f"    exec(r'''{_checks()}''', _checks.__dict__)\n    Assignment = _checks.Assignment\n\n"
        f"assignment = Assignment(r'''{literal}''', student)\ngiven, check = assignment.given, "
        "assignment.check"
    )
    return [
        cell("code", "setup-1", first, ["setup"]),
        cell("code", "setup-2", second, ["setup"], locked=True, hidden=True),
    ]


def _cells(
    assignment: Assignment, i: int, piece: Piece, filled: bool, wrong: tuple[str, str] | None
) -> list[dict]:
    """Return the cells that one part of the source becomes."""
    if piece.kind == "markdown":
        return [cell("markdown", f"text-{i:02d}", piece.text)]
    if piece.kind == "model":
        return [
            cell(
                "markdown",
                f"answer-{piece.name}",
                f"{HEADING.format(piece.name)}\n\n{piece.text if filled else WRITE_HERE}",
                ["answer"],
            )
        ]
    if piece.kind == "code":
        cut = assignment.cuts[i]
        return [
            cell(
                "code",
                f"code-{i:02d}",
                cut.solution if filled else cut.empty,
                [piece.tag] if piece.tag else None,
            )
        ]
    question = assignment.questions[piece.name]
    found = (
        [cell("code", f"wrong-{piece.name}", wrong[1], ["answer"])]
        if wrong and wrong[0] == piece.name
        else []
    )
    if question.kind != "written":
        found.append(
            cell(
                "code",
                f"check-{piece.name}",
                f'check("{piece.name}")  # {worth(question)}',
                ["check"],
                locked=True,
            )
        )
    return found


def worth(question: Question) -> str:
    """Return a question's points and what it asks for.

    >>> from handful_classroom.release.assignment import assignments
    >>> worth(assignments()["roofline"].questions["step_time"])
    '4 points: the time of a decode step'
    """
    return f"{plural(question.points, 'point')}: {question.asks}"


def text(made: Mapping) -> str:
    r"""Return a notebook as the text of its file, laid out as Jupyter lays it out.

    What a student then saves differs only where it was changed, so that git can bring a correction
    into a notebook that somebody works on.

    >>> '"source": [\n    "a\\n",\n    "b"\n   ]' in text({"cells": [{"source": "a\nb"}]})
    True
    """
    cells = [{**cell, "source": "".join(cell["source"]).splitlines(True)} for cell in made["cells"]]
    laid_out = json.dumps({**made, "cells": cells}, indent=1, sort_keys=True, ensure_ascii=False)
    return laid_out + "\n"
