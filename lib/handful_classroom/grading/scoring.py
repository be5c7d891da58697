"""Judge a student's answers by comparing them, outside the sandbox, with what `handful` gives.

The sandbox is asked for what `requests` lists and gives an answer each; `judge` makes of them a
result a question.  What it says is for the student: expected values and a student's own words are
shown of visible calls only, never of hidden ones.

>>> same(0.3, 0.1 + 0.2, 1e-6), same(True, 1, 0.02), same([1, 2.0], [1, 2], 0), same("a", "A", 1)
(True, False, True, False)
"""

from __future__ import annotations

import builtins
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from handful.units import format_value
from handful_study import custom_scorers, expressions
from handful_study.check import SAME, letter
from handful_study.check import points as sampled
from handful_study.check import same as same_value
from handful_study.expressions import ExpressionError, evaluate
from handful_study.student import VARIANTS, near, same

from ..release.assignment import Assignment, Question
from ..release.checks import as_problem
from ..release.variants import answers as ours
from ..release.variants import calls as made_calls
from ..release.variants import inputs_of, misconceptions, truths
from ..sandbox.protocol import Answer, printable

WORST = (
    "killed",
    "timeout",
    "error",
    "missing",
    "wrong",
)  # what a question's status is, the first that applies
NOTHING = object()  # agrees with no answer
# What SymPy prints that a formula is not written with.
_SYMPY = {"Max": "max", "Min": "min", "Abs": "abs", "ceiling": "ceil"}


@dataclass(frozen=True)
class Expected:
    """The right and wrong answers of a variant.

    It has the calls of each question, the right answers, and the answers of each misconception.
    """

    calls: Mapping[str, list[dict]]
    right: Mapping[str, list]
    wrong: Mapping[str, Mapping[str, list]]


@lru_cache(2 * VARIANTS)
def expected(assignment: Assignment, variant: int) -> Expected:
    """Return right and wrong answers of a variant, as JSON values.

    They are cached, since a class shares 200 of them.
    """
    true, wrong = truths(assignment, variant), misconceptions(assignment, variant)
    calls, right, mistaken = {}, {}, {}
    for name, question in assignment.questions.items():
        calls[name] = made_calls(question, variant)
        if question.kind in ("value", "function"):
            right[name] = ours(question, true[name], calls[name])
            mistaken[name] = {
                key: _tried(question, thing, calls[name]) for key, thing in wrong[name].items()
            }
    return Expected(calls, right, mistaken)


def _tried(question: Question, thing: object, calls: Sequence[Mapping]) -> list:
    """Return the answers of a misconception.

    Where it fails on a call, they are such that no answer agrees with them.
    """
    try:
        return ours(question, thing, calls)
    except Exception:  # a misconception may well divide by zero
        return [NOTHING] * max(1, len(calls))


def requests(assignment: Assignment, variant: int) -> list[dict]:
    """Return what the sandbox is asked: names and visible calls first.

    So what a notebook says of these was said before any hidden call.
    """
    first: list[dict] = []
    last: list[dict] = []
    for name, question in assignment.questions.items():
        calls = expected(assignment, variant).calls[name]
        if question.kind == "written":
            continue
        if question.kind == "expression":
            first.append({"text": name, "question": name})
        elif not calls:
            first.append({"get": name, "question": name})
        for number, call in enumerate(calls):
            (first if number < len(question.visible) else last).append(
                {"call": name, "arguments": call, "question": name}
            )
    return first + last


def judge(
    assignment: Assignment,
    variant: int,
    answers: Sequence[Answer],
    texts: Mapping[str, str] | None = None,
) -> list[dict]:
    """Return the result of each question.

    Parameters
    ----------
    answers : sequence of Answer
        One for each of `requests`, in their order.
    texts : mapping, optional
        What the student wrote, by the name of the written question.
    """
    asked = requests(assignment, variant)
    if len(asked) != len(answers):
        raise ValueError(
            f"{len(asked)} answers are expected, one for each request; got {len(answers)}."
        )
    own: dict[str, list[Answer]] = {name: [] for name in assignment.questions}
    for request, answer in zip(asked, answers, strict=True):
        own[request["question"]].append(answer)
    texts = texts or {}
    return [
        _written(question, texts.get(name, ""))
        if question.kind == "written"
        else _judged(assignment, question, variant, own[name])
        for name, question in assignment.questions.items()
    ]


def _result(
    question: Question,
    status: str,
    points: float,
    says: str,
    misconception: str | None = None,
    right: Sequence[bool] = (),
    text: str = "",
) -> dict:
    return {
        "name": question.name,
        "asks": question.asks,
        "kind": question.kind,
        "status": status,
        "points": round(float(points), 2),
        "possible": question.points,
        "says": says,
        "turn": misconception,  # so called in results that are stored
        "right": list(right),
        "text": text,
    }


def _written(question: Question, text: str) -> dict:
    if not text.strip():
        return _result(question, "missing", 0, "There is no answer under its heading.")
    return _result(question, "waiting", 0, "Your teacher reads this answer.", text=text)


def _judged(
    assignment: Assignment, question: Question, variant: int, answers: list[Answer]
) -> dict:
    known = expected(assignment, variant)
    calls = known.calls[question.name]
    if question.kind == "expression":
        return _expression(question, answers[0])
    if question.kind == "judged":
        return _by_judge(assignment, question, variant, calls, answers)
    truth = known.right[question.name]
    right = [
        answer.status == "value" and same(answer.value, true, question.tolerance)
        for answer, true in zip(answers, truth, strict=True)
    ]
    if all(right):
        return _result(
            question,
            "ok",
            question.points,
            f"All {len(right)} calls are right." if calls else "Right.",
            right=right,
        )
    misconception = None
    if all(answer.status == "value" for answer in answers):
        misconception = next(
            (
                key
                for key, values in known.wrong[question.name].items()
                if all(
                    same(answer.value, value, question.tolerance)
                    for answer, value in zip(answers, values, strict=True)
                )
            ),
            None,
        )
    if misconception:
        return _mistaken(question, misconception, right)
    says = (
        _call_says(question, calls, answers, truth, right)
        if calls
        else _value_says(question, answers[0], truth[0])
    )
    return _result(
        question, _worst(answers), question.points * sum(right) / len(right), says, right=right
    )


def _mistaken(question: Question, misconception: str, right: Sequence[bool]) -> dict:
    return _result(
        question,
        "wrong",
        question.wrong[misconception].score,
        question.wrong[misconception].says,
        misconception,
        right,
    )


def _worst(answers: Sequence[Answer]) -> str:
    found = {answer.status for answer in answers}
    return next((status for status in WORST if status in found), "wrong")


# Values


def _value_says(question: Question, answer: Answer, true: Any) -> str:
    if answer.status != "value":
        return answer.says or "Nothing came back."
    value: Any = answer.value
    wanted, came = _kind(true), _kind(value)
    if wanted != came:
        return f"{wanted[0].upper()}{wanted[1:]} is asked for; yours is {came}."
    if isinstance(true, list) and len(true) != len(value):
        return f"A list of {len(true)} is asked for; yours has {len(value)}."
    if wanted == "a number" and (hint := _hint_of_number(value, true, question.tolerance)):
        return hint
    return f"Not right: yours is {short(value)}."


def _hint_of_number(value: float, true: float, tolerance: float) -> str:
    """Return what is right about a wrong number: its digits, or its size; "" where nothing is."""
    for power in (-4, -3, -2, -1, 1, 2, 3, 4):
        if value and near(value, float(true) * 1000.0**power, tolerance):
            return (
                f"The digits are right, but it is {1000 ** abs(power):,} times too "
                f"{'large' if power > 0 else 'small'}: look at the prefix."
            )
    if value and near(-value, float(true), tolerance):
        return "The size is right, the sign is not."
    return ""


def _kind(value: object) -> str:
    if value is None:
        return "None"
    names = {
        bool: "True or False",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "a dict",
    }
    return names.get(type(value), "something else")


# Calls


def _call_says(
    question: Question,
    calls: Sequence[Mapping],
    answers: Sequence[Answer],
    truth: Sequence,
    right: Sequence[bool],
) -> str:
    if {(answer.status, answer.says) for answer in answers} == {("missing", answers[0].says)}:
        return answers[0].says
    head = f"{sum(right)} of {len(right)} calls are right." if any(right) else ""
    seen = next((i for i in range(len(question.visible)) if not right[i]), None)
    if seen is not None:
        arguments = ", ".join(f"{name}={short(value)}" for name, value in calls[seen].items())
        call, answer = f"{question.name}({arguments})", answers[seen]
        if answer.status == "value":
            hint = _hint_of_call(answer.value, truth[seen], question.tolerance)
            gave = f"{call} gave {short(answer.value)}; right is {short(truth[seen])}."
            return f"{head}  {gave} {hint}".strip()
        return f"{head}  {call}: {answer.says or 'nothing came back.'}".strip()
    unseen = next(answer for answer, ok in zip(answers, right, strict=True) if not ok)
    return f"{head}  The calls that are shown are right; {_unseen(unseen)}".strip()


def _hint_of_call(value: Any, true: Any, tolerance: float) -> str:
    if value is None and true is not None:
        return "Did it return? What is only printed does not come back."
    if _kind(value) == _kind(true) == "a number":
        return _hint_of_number(value, true, tolerance)
    return ""


def _unseen(answer: Answer) -> str:
    """Describe what went wrong with a hidden call, in our words alone.

    A student's words could hold the call's arguments.
    """
    if answer.status == "value":
        return "others give another value."
    if answer.status == "error":
        name = answer.says.partition(":")[0]
        kind = getattr(builtins, name, None) if name.isidentifier() else None
        return (
            f"another stopped with {name}."
            if isinstance(kind, type) and issubclass(kind, Exception)
            else "another stopped with an error."
        )
    return {
        "timeout": "another took too long.",
        "killed": "another had to be stopped: it took too much memory, or ended the notebook.",
        "missing": "another gave nothing.",
    }[answer.status]


def short(value: object) -> str:
    """Return a value as text for a sentence.

    >>> short(0.1 + 0.2), short([1, 2]), short(True), len(short("x" * 1000))
    ('0.3', '[1, 2]', 'True', 60)
    """
    if isinstance(value, float):
        return f"{value:.6g}"
    text = (
        repr(value)
        if isinstance(value, bool) or value is None
        else json.dumps(value, ensure_ascii=False)
    )
    return printable(text, 60)


# Formulas


def _expression(question: Question, answer: Answer) -> dict:
    def wrong(says: str) -> dict:
        return _result(question, "wrong", 0, says, right=[False])

    if answer.status != "value":
        return _result(
            question, answer.status, 0, answer.says or "Nothing came back.", right=[False]
        )
    try:
        tree, unknown = _parsed(question, answer.value if isinstance(answer.value, str) else "")
    except ExpressionError as error:
        return wrong(printable(str(error)))
    if unknown:
        return wrong(
            f"{printable(unknown, 40)!r} is none of the letters of this answer, which are "
            f"{', '.join(question.letters)}."
        )
    problem = as_problem(question)
    if same_value(problem, tree, question.tree):
        return _result(question, "ok", question.points, "Right.", right=[True])
    misconception = next(
        (key for key, one in question.wrong.items() if same_value(problem, tree, one.tree)),
        None,
    )
    if misconception:
        return _mistaken(question, misconception, [False])
    return wrong(_hint(question, problem, tree))


def _parsed(question: Question, text: str) -> tuple[tuple, str | None]:
    """Return a formula as a tree of quantities, and its first name that is no letter.

    Raises ExpressionError where the text is no formula.
    """
    text = re.sub(r"\b(Max|Min|Abs|ceiling)\(", lambda found: _SYMPY[found[1]] + "(", text)
    known = {
        spelling: name for name in question.letters.values() for spelling in (letter(name), name)
    } | dict(question.letters)
    tree = expressions.replace(expressions.parse(text), known)
    names = expressions.written_names(text)
    return tree, next((name for name in names if name not in known), None)


def _hint(question: Question, problem: Any, tree: tuple) -> str:
    """Return what is wrong with a formula, such as a factor or a letter that is missing."""
    ratios = [
        evaluate(tree, at) / evaluate(question.tree, at)
        for at in sampled(problem)
        if evaluate(question.tree, at)
    ]
    if ratios and all(
        math.isfinite(ratio) and ratio and abs(ratio - ratios[0]) <= SAME * abs(ratios[0])
        for ratio in ratios
    ):
        return (
            f"Only a factor is off: yours is always {format_value(ratios[0], '1', 4)} times the "
            "answer."
        )
    missing = [
        spelling
        for spelling, name in question.letters.items()
        if name in expressions.names(question.tree) - expressions.names(tree)
    ]
    return f"Not right: the answer depends on {missing[0]} too." if missing else "Not right."


# Judges


def _by_judge(
    assignment: Assignment,
    question: Question,
    variant: int,
    calls: list[dict],
    answers: list[Answer],
) -> dict:
    came = [i for i, answer in enumerate(answers) if answer.status == "value"]
    scorer = custom_scorers.find_judge(question.judge)
    share, says, misconception = 0.0, "", None
    if came:
        share, says, misconception = _scored(
            scorer,
            question,
            inputs_of(assignment, variant),
            [calls[i] for i in came] if calls else [],
            [answers[i].value for i in came],
        )
    if len(came) < len(answers):
        first = next(i for i, answer in enumerate(answers) if answer.status != "value")
        why = (
            answers[first].says
            if first < max(1, len(question.visible))
            else "Of the calls that are not shown, " + _unseen(answers[first])
        )
        points = question.points * share * len(came) / len(answers)
        return _result(question, _worst(answers), points, why, right=[False] * len(answers))
    if share >= 1:
        return _result(
            question, "ok", question.points, says or "Right.", right=[True] * len(answers)
        )
    if misconception is not None and misconception in question.wrong:
        return _mistaken(question, misconception, [False] * len(answers))
    points = question.points * share
    return _result(question, "wrong", points, says or "Not right.", right=[False] * len(answers))


def _scored(
    scorer: Callable, question: Question, inputs: dict, calls: list[dict], values: list
) -> tuple[float, str, str | None]:
    """Return the share of the points from 0 to 1, a sentence, and a misconception or None."""
    try:
        share, says, misconception = scorer(question, inputs, calls, values)
    except custom_scorers.JudgeError:
        raise
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ):
        return 0.0, "What came back does not have the form that is asked for.", None
    return (min(1.0, max(0.0, share)) if math.isfinite(share) else 0.0), says, misconception
