"""Tests of what an answer is worth.

It is right within its tolerance, a misconception goes by its name, and no sentence holds a hidden
call.
"""

from __future__ import annotations

import json
import re

import pytest

from handful_classroom.grading import scoring
from handful_classroom.release.assignment import assignments
from handful_classroom.release.variants import misconceptions, plain_data, solutions
from handful_classroom.sandbox.protocol import Answer
from handful_study import custom_scorers

ROOFLINE = assignments()["roofline"]
WRONG = [(question.name, key) for question in ROOFLINE.questions.values() for key in question.wrong]
NAMES = [name for name, question in ROOFLINE.questions.items() if question.kind != "written"]


def answered(variant: int, things) -> list[Answer]:
    """Return what a notebook with these things answers to all requests, without the sandbox."""
    found = []
    for request in scoring.requests(ROOFLINE, variant):
        thing = things[request["question"]]
        value = (
            str(thing)
            if "text" in request
            else plain_data(thing(**request["arguments"]) if "call" in request else thing)
        )
        found.append(Answer("value", json.loads(json.dumps(value))))
    return found


@pytest.mark.parametrize("variant", range(0, 200, 4))
def test_the_solution_gets_all_an_empty_one_nothing_and_each_misconception_its_score(variant):
    right = solutions(ROOFLINE, variant)
    full = scoring.judge(ROOFLINE, variant, answered(variant, right), {"reply": "…"})
    assert [one["points"] for one in full] == [
        0 if one["kind"] == "written" else one["possible"] for one in full
    ]
    assert {one["status"] for one in full} == {"ok", "waiting"}
    asked = scoring.requests(ROOFLINE, variant)
    empty = scoring.judge(
        ROOFLINE, variant, [Answer("missing", None, "It is left empty.")] * len(asked)
    )
    assert {one["status"] for one in empty} == {"missing"} and not sum(
        one["points"] for one in empty
    )
    wrong = misconceptions(ROOFLINE, variant)
    for name, key in WRONG:
        found = scoring.judge(
            ROOFLINE, variant, answered(variant, {**right, name: wrong[name][key]})
        )
        one = next(one for one in found if one["name"] == name)
        expected = ROOFLINE.questions[name].wrong[key]
        assert (one["status"], one["turn"], one["points"], one["says"]) == (
            "wrong",
            key,
            expected.score,
            expected.says,
        )
        assert all(other["status"] in ("ok", "missing") for other in found if other["name"] != name)


TRUTHS = [
    True,
    None,
    "a",
    3,
    0,
    2.5,
    0.0,
    float("inf"),
    float("nan"),
    [1, 2.5],
    {"a": 1.0},
    [],
    {},
    [[1.0], [2.0]],
]
OTHERS = [
    False,
    1,
    "A",
    " a",
    "3",
    3.0001,
    4,
    True,
    -2.5,
    2.6,
    1e-9,
    float("-inf"),
    10**300,
    [1, 2.5, 3],
    [2.5, 1],
    [True, 2.5],
    {"b": 1.0},
    {"a": 1.0, "b": 1.0},
    {"a": [1.0]},
    [[1.0, 2.0]],
    [None],
    "",
    1e308,
]


@pytest.mark.parametrize("true", TRUTHS, ids=repr)
def test_an_answer_is_right_or_not(true):
    assert scoring.same(json.loads(json.dumps(true)), true, 0.02)
    assert not [other for other in OTHERS if other is not true and scoring.same(other, true, 0.02)]


@pytest.mark.parametrize(
    "given,true,right",
    [
        (3.0, 3, True),
        (2.45, 2.5, True),
        (2.44, 2.5, False),
        (1e-13, 0.0, True),
        (16.2, 16, False),
        (True, 1, False),
        (1, True, False),
        ([1.0, 2.5], [1, 2.5], True),
        (3, 3.0, True),
        (10**400, 2.5, False),
    ],
)
def test_numbers_fit_within_the_tolerance_and_whole_ones_exactly(given, true, right):
    assert scoring.same(given, true, 0.02) is right


def one_answer(name: str, value, status: str = "value", says: str = "") -> dict:
    """Return the result of a question to which one thing came back, to all calls."""
    variant = ROOFLINE.variant("ada")
    made = [
        Answer(status, value, says) if request["question"] == name else Answer("missing")
        for request in scoring.requests(ROOFLINE, variant)
    ]
    return next(one for one in scoring.judge(ROOFLINE, variant, made) if one["name"] == name)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1,
        1e400,
        float("nan"),
        "x" * 100_000,
        [],
        {},
        [[[]]] * 50,
        {"a": None},
        10**299,
        "step_time",
        "__import__('os')",
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_whatever_comes_back_is_judged_and_gets_nothing(name, value):
    one = one_answer(name, value)
    assert (
        (one["points"], one["status"]) == (0, "wrong")
        and one["says"].isprintable()
        and len(one["says"]) < 400
    )


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (lambda true: true * 1000, "is 1,000 times too large: look at the prefix."),
        (lambda true: -true, "The size is right, the sign is not."),
        (lambda true: None, "Did it return? What is only printed does not come back."),
        (lambda true: true * 1.7, "."),
    ],
)
def test_a_call_that_is_shown_says_what_came_back_and_what_is_right_about_it(value, says):
    variant, name = ROOFLINE.variant("ada"), "step_time"
    truth = iter(scoring.expected(ROOFLINE, variant).right[name])
    made = [
        Answer("value", value(next(truth))) if request["question"] == name else Answer("missing")
        for request in scoring.requests(ROOFLINE, variant)
    ]
    one = next(one for one in scoring.judge(ROOFLINE, variant, made) if one["name"] == name)
    came = scoring.short(value(scoring.expected(ROOFLINE, variant).right[name][0]))
    assert f"gave {came}; right is " in one["says"] and one["says"].endswith(says)


def test_a_value_that_is_not_right_is_shown():
    name = next(
        n
        for n, one in ROOFLINE.questions.items()
        if n in scoring.expected(ROOFLINE, ROOFLINE.variant("ada")).right
        and not scoring.expected(ROOFLINE, ROOFLINE.variant("ada")).calls[n]
    )
    assert one_answer(name, {"a": 1.2345678})["says"] == 'Not right: yours is {"a": 1.2345678}.'


@pytest.mark.parametrize("status", ["error", "missing", "timeout", "killed"])
@pytest.mark.parametrize("name", NAMES)
def test_no_answer_has_its_status(name, status):
    one = one_answer(name, None, status, "Why it is so.")
    assert (one["points"], one["status"]) == (0, status) and "Why it is so." in one["says"]


@pytest.mark.parametrize(
    "text,says",
    [
        ("B^^2", "a number or a name"),
        ("Q * 2", "'Q' is none of the letters"),
        ("1 +", "ends where"),
        ("B" * 400, "too long"),
        ("(" * 50 + "1" + ")" * 50, "deep"),
        ("__import__('os').system('x')", "has no place"),
        ("3 * w * F * N / (W * A)", "Only a factor is off: yours is always 6 times"),
        ("w * F / W", "the answer depends on N too"),
    ],
)
def test_a_formula_that_is_not_right_is_told_why(text, says):
    name = next(one.name for one in ROOFLINE.questions.values() if one.kind == "expression")
    one = one_answer(name, text)
    assert (one["status"], one["points"]) == ("wrong", 0) and says in one["says"]


def test_nothing_that_is_said_holds_a_hidden_call():
    """Values, messages and even the names of exceptions on hidden calls stay out.

    Those of visible calls are shown.
    """
    variant, name = ROOFLINE.variant("ada"), "step_time"
    visible = len(ROOFLINE.questions[name].visible)
    calls = scoring.expected(ROOFLINE, variant).calls[name]
    right = answered(variant, solutions(ROOFLINE, variant))
    asked = scoring.requests(ROOFLINE, variant)
    hidden = [
        i
        for i, request in enumerate(asked)
        if request["question"] == name and request["arguments"] not in calls[:visible]
    ]
    assert len(hidden) == ROOFLINE.questions[name].count and hidden[0] > max(
        i for i, request in enumerate(asked) if "call" not in request
    )
    for bad in (
        lambda call: Answer("error", None, f"ValueError: {call}"),
        lambda call: Answer("error", None, f"E_{call['batch']}: x"),
        lambda call: Answer("value", call),
        lambda call: Answer("timeout", None, f"{call}"),
        lambda call: Answer("killed", None, f"{call}"),
    ):
        made = [
            bad(request["arguments"]) if i in hidden else right[i]
            for i, request in enumerate(asked)
        ]
        one = next(one for one in scoring.judge(ROOFLINE, variant, made) if one["name"] == name)
        assert one["points"] == round(ROOFLINE.questions[name].points * visible / len(calls), 2)
        said = one["says"].replace(f"{visible} of {len(calls)} calls are right.", "")
        assert not re.search(r"\d|E_", said), said
    made = [
        Answer("error", None, "ValueError: seen") if request["question"] == name else right[i]
        for i, request in enumerate(asked)
    ]
    assert (
        "seen"
        in next(one for one in scoring.judge(ROOFLINE, variant, made) if one["name"] == name)[
            "says"
        ]
    )


# Judges


def ask_schedule(orders, **call):
    class Question:
        visible = ({},)

    return custom_scorers.schedule(
        Question, {}, [{"stages": 2, "micro_batches": 2, **call}], [orders]
    )


@pytest.mark.parametrize(
    "orders,share,misconception",
    [
        ([["F1", "F2", "B1", "B2"], ["F1", "B1", "F2", "B2"]], 1, None),
        ("F1 F2 B1 B2\nF1 B1 F2 B2", 1, None),
        (["F1 B1 F2 B2", "F1 B1 F2 B2"], 0, "one_at_a_time"),
        ([["F1", "F2", "F3", "B1", "B2", "B3"]] * 2, 0, "gpipe"),
        ([], 0, None),
        ([[]], 0, None),
        (None, 0, None),
        ([["B1", "F1"]] * 2, 0, None),
        (10**300, 0, None),
        ([["F1"] * 100_000] * 2, 0, None),
        ("x" * 1_000_000, 0, None),
        ({"a": 1}, 0, None),
        ([[[["F1"]]]], 0, None),
        ([["F1", "B1", "F2", "B2"], ["F2", "B2", "F1", "B1"]], 0, None),
    ],
)
def test_a_schedule_is_played(orders, share, misconception):
    found, says, which = ask_schedule(orders, micro_batches=3 if misconception == "gpipe" else 2)
    assert found == share and says
    assert which == misconception


def test_of_several_sizes_a_share_and_only_what_is_shown_is_named():
    class Question:
        visible = ({},)

    good, bad = "F1 F2 B1 B2\nF1 B1 F2 B2", "F1 B1 F2 B2\nF1 B1 F2 B2"
    calls = [{"stages": 2, "micro_batches": 2}] * 2
    assert custom_scorers.schedule(Question, {}, calls, [good, bad]) == (
        0.5,
        "The sizes that are shown are right; of the others some are not.",
        "one_at_a_time",
    )
    assert custom_scorers.schedule(Question, {}, calls, [bad, good])[1].startswith(
        "A stage waits for"
    )
