"""Check an assignment: solutions are right for every variant, known mistakes distinctly wrong.

Only our own code runs here, in this process.

>>> from handful_classroom.release.assignment import assignments
>>> mistakes(assignments()["roofline"], variants=[3, 77])
[]
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

from handful_study import custom_scorers, expressions
from handful_study.check import same as same_value
from handful_study.source import SourceError
from handful_study.student import same

from . import notebooks
from .assignment import Assignment, Question
from .checks import as_problem
from .variants import answers, calls, inputs_of, misconceptions, solutions, truths


def mistakes(
    assignment: Assignment, variants: Iterable[int], tell: Callable[[int], None] = lambda done: None
) -> list[str]:
    """Return the mistakes in an assignment, one sentence each.

    `tell` is called with how many variants are done.
    """
    found: dict[str, list[int]] = {}
    for done, variant in enumerate(variants, 1):
        for name, question in assignment.questions.items():
            if question.kind != "written":
                for says in _question(assignment, question, variant):
                    found.setdefault(
                        f"{question.entry.file}, line {question.entry.line}: {name}: {says}", []
                    ).append(variant)
        tell(done)
    return [
        f"{says} (variant{'s' if len(many) > 1 else ''} "
        f"{', '.join(map(str, many[:5]))}{' and others' if len(many) > 5 else ''})"
        for says, many in found.items()
    ]


def _question(assignment: Assignment, question: Question, variant: int) -> list[str]:
    try:
        right = truths(assignment, variant)[question.name]
        ours = solutions(assignment, variant)[question.name]
        wrong = misconceptions(assignment, variant)[question.name]
        if question.kind == "expression":
            return _expression(question, ours)
        made = calls(question, variant)
        if question.kind == "judged":
            return _judged(assignment, question, variant, made, ours, wrong)
        given_by = {
            key: answers(question, thing, made)
            for key, thing in {"truth": right, "solution": ours, **wrong}.items()
        }
    except SourceError as error:
        return [str(error)]
    except Exception as error:
        return [f"an answer of ours stops with {type(error).__name__}: {error}"]

    def agree(one: str, other: str) -> bool:
        return all(
            same(a, b, question.tolerance)
            for a, b in zip(given_by[one], given_by[other], strict=True)
        )

    says = [] if agree("solution", "truth") else ["the solution is not what handful gives"]
    says += [f"the misconception {key} is right" for key in wrong if agree(key, "truth")]
    return says + [
        f"the misconceptions {one} and {other} give the same"
        for one, other in combinations(wrong, 2)
        if agree(one, other) or agree(other, one)
    ]


def _expression(question: Question, ours: object) -> list[str]:
    problem = as_problem(question)
    tree = expressions.replace(expressions.parse(str(ours)), question.letters)
    says = (
        []
        if same_value(problem, tree, question.tree)
        else ["the solution is not what handful gives"]
    )
    says += [
        f"the misconception {key} is right"
        for key, misconception in question.wrong.items()
        if same_value(problem, misconception.tree, question.tree)
    ]
    return says + [
        f"the misconceptions {one} and {other} are the same"
        for (one, a), (other, b) in combinations(question.wrong.items(), 2)
        if same_value(problem, a.tree, b.tree)
    ]


def _judged(
    assignment: Assignment,
    question: Question,
    variant: int,
    made: list,
    ours: object,
    wrong: Mapping[str, object],
) -> list[str]:
    judge = custom_scorers.find_judge(question.judge)

    def judged(thing: object):
        return judge(question, inputs_of(assignment, variant), made, answers(question, thing, made))

    share, says, _ = judged(ours)
    found = [] if share == 1 else [f"the judge does not give the solution all points: {says}"]
    for key, thing in wrong.items():
        share, says, taken_for = judged(thing)
        if share == 1:
            found.append(f"the misconception {key} is right")
        elif taken_for != key:
            found.append(f"the judge takes the misconception {key} for {taken_for}")
    return found


def carried(assignment: Assignment, variant: int) -> list[str]:
    """Return the known mistakes in one answer that make another answer wrong too.

    There a student would lose points twice; each is one sentence.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for name, question in assignment.questions.items():
        for key in question.wrong:
            space: dict = {"__name__": "handful_solution", "given": inputs_of(assignment, variant)}
            for cell in notebooks.notebook(assignment, "", ("wrong", name, key))["cells"]:
                if cell["cell_type"] == "code" and not {"setup", "check", "explore"} & set(
                    cell["metadata"].get("tags", [])
                ):
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(cell["source"], space)
            for other, one in assignment.questions.items():
                if other == name or one.kind not in ("value", "function"):
                    continue
                made = calls(one, variant)
                right = answers(one, truths(assignment, variant)[other], made)
                try:
                    came = answers(one, space[other], made)
                except Exception:
                    came = [None] * len(right)
                if not all(same(a, b, one.tolerance) for a, b in zip(came, right, strict=True)):
                    found.setdefault((name, other), []).append(key)
    return [
        f"{name}: the misconception{'s' if len(keys) > 1 else ''} {', '.join(keys)} "
        f"make{'' if len(keys) > 1 else 's'} {other} wrong too; "
        "a student pays twice for one mistake."
        for (name, other), keys in found.items()
    ]


def left_behind(assignment: Assignment, former: Assignment) -> list[str]:
    """Return which questions have more points than in a former edition, and their mistakes not.

    >>> from dataclasses import replace
    >>> from handful_classroom.release.assignment import assignments
    >>> roofline = assignments()["roofline"]
    >>> times = replace(roofline.questions["times"], points=4)
    >>> mended = replace(roofline, questions={**roofline.questions, "times": times})
    >>> left_behind(mended, roofline)[0].partition(", and")[0], left_behind(roofline, roofline)
    ('times has 4 points, which were 3', [])
    """
    found = []
    for name, question in assignment.questions.items():
        scores = [one.score for one in question.wrong.values()]
        before = former.questions.get(name)
        if not before or question.points <= before.points or not any(scores):
            continue
        if scores == [one.score for one in before.wrong.values()]:
            found.append(
                f"{name} has {question.points:g} points, which were {before.points:g}, and its "
                f"mistakes give at most {max(scores):g}, as before; should they give more too?"
            )
    return found
