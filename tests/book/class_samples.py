"""Samples of a graded class: results as the grader writes them.

There are classes of forty students or more, and of hostile ones.
"""

import hashlib
import random
from types import SimpleNamespace

MISCONCEPTIONS = {
    "step_time": {
        "added-not-max": ("You added the two times; the step lasts as long as the slower one.", 1),
        "forgot-batch": (
            "The arithmetic grows with the batch; the weights are read once for all of it.",
            0,
        ),
    },
    "balance": {"two-for-one": ("A multiply-add is two FLOP.", 1)},
}
KINDS = [
    ("step_time", "function", 4, "the time of a decode step"),
    ("balance", "value", 2, "the batch at which the two times are equal"),
    ("cost", "function", 3, "what a million tokens cost"),
    ("roofline", "expression", 3, "the roofline as an expression"),
    ("coin", "value", 1, "a question that luck decides"),
    ("why", "written", 4, "why a larger batch is cheaper, in two sentences"),
]
RUBRIC = [
    (2, "Names the binding resource and why"),
    (2, "Says what the weights cost a single sequence"),
]


def assignment(questions=KINDS):
    made = {}
    for name, kind, points, asks in questions:
        wrong = {
            misconception: SimpleNamespace(id=misconception, says=says, score=score)
            for misconception, (says, score) in MISCONCEPTIONS.get(name, {}).items()
        }
        lines = (
            tuple(SimpleNamespace(points=worth, text=text) for worth, text in RUBRIC)
            if kind == "written"
            else ()
        )
        made[name] = SimpleNamespace(
            name=name, kind=kind, points=points, asks=asks, wrong=wrong, rubric=lines
        )
    return SimpleNamespace(
        name="roofline",
        file="exercises/assignments/roofline.md",
        title="Write the roofline",
        chapter="latency-and-cost",
        edition="0123456789ab",
        questions=made,
    )


def result(student, answers, status=None, notices=(), submission=None, says=""):
    """Return a result as the grader writes it.

    `answers` maps a question to its status, points, misconception and text.
    """
    found = []
    for name, kind, possible, asks in KINDS:
        state, points, misconception, text = answers.get(name, ("missing", 0, None, ""))
        written = kind == "written"
        found.append(
            {
                "name": name,
                "asks": asks,
                "kind": kind,
                "status": state,
                "points": points,
                "possible": 0 if written else possible,
                "says": {
                    "ok": "All calls came back right.",
                    "wrong": "Some calls came back wrong.",
                    "waiting": "Your teacher grades this.",
                    "missing": f"There is no {name}.",
                }.get(state, "It stopped."),
                "turn": misconception,
                "right": []
                if kind != "function" or state == "missing"
                else [i < round(8 * points / possible) for i in range(8)],
                **({"text": text} if written else {}),
            }
        )
    order = ["ungradable", "killed", "timeout", "error", "missing", "wrong", "ok"]
    states = [part["status"] for part in found if part["status"] != "waiting"]
    status = status or min(states, key=order.index)
    handed = (
        submission
        if submission is not None
        else hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
    )
    return {
        "schema": 1,
        "assignment": "roofline",
        "edition": "0123456789ab",
        "library": "0.1.0",
        "student": student,
        "submission": handed,
        "variant": 17,
        "status": status,
        "says": says,
        "points": round(sum(part["points"] for part in found), 2),
        "possible": 13,
        "waiting": 4,
        "questions": found,
        "notices": list(notices),
        "signature": "",
    }


def class_of(many=40, seed=1):
    """Return a class whose members differ in what they know.

    One question is decided by luck.
    """
    draw, made = random.Random(seed), []
    for i in range(many):
        student, knows, answers = f"student{i:03}", draw.gauss(0.3, 1), {}
        for name, kind, possible, _ in KINDS:
            luck = knows + draw.gauss(0, 0.8)
            if kind == "written":
                answers[name] = (
                    (
                        "waiting",
                        0,
                        None,
                        f"The weights are read once for all {i + 2} sequences, so each pays less.",
                    )
                    if luck > -1.2
                    else ("missing", 0, None, "")
                )
            elif name == "coin":
                answers[name] = (
                    ("ok", possible, None, "") if draw.random() < 0.5 else ("wrong", 0, None, "")
                )
            elif luck > 0:
                answers[name] = ("ok", possible, None, "")
            elif luck > -1.4:
                misconception = draw.choice([*MISCONCEPTIONS.get(name, {}), None])
                answers[name] = (
                    "wrong",
                    MISCONCEPTIONS[name][misconception][1]
                    if misconception
                    else round(possible * draw.choice([0, 0.25, 0.5]), 2),
                    misconception,
                    "",
                )
            else:
                answers[name] = (draw.choice(["missing", "error", "timeout"]), 0, None, "")
        notices = (
            (
                "student004 and student009 handed in notebooks whose inputs were drawn for the "
                "same id.",
            )
            if i in (4, 9)
            else ()
        )
        made.append(result(student, answers, notices=notices))
    if many > 12:
        made[7] = result("student007", {}, "missing", submission="", says="Nothing was handed in.")
        made[11] = result(
            "student011", {}, "ungradable", says="The file is no notebook: it ends in the middle."
        ) | {"questions": []}
        made[12]["status"], made[12]["says"] = (
            "killed",
            "The code asked for more than 600 MB and was ended.",
        )
    return made


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(1)</script>",
    '=HYPERLINK("http://example.org","x")',
    "+1+1",
    "-2",
    "@SUM(A1)",
    "\tx",
    "\r=1",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "a\x00b\x1b[31m",
    "line\nline",
    "{{constructor}}",
    "javascript:alert(1)",
    "../../etc/passwd",
    "CON",
    "\ud800",
    "', ;\"",
    "&lt;",
    "\N{FULLWIDTH EQUALS SIGN}1",
    "é" * 300,
]


def hostile_class():
    made = []
    for i, text in enumerate(HOSTILE):
        one = result(
            f"{text}{i}",
            {"why": ("waiting", 0, None, text * 3), "balance": ("wrong", 1, "two-for-one", "")},
            notices=(f"Notice {text}",),
            says=text,
        )
        for part in one["questions"]:
            part["says"] = f"It said {text}."
        made.append(one)
    return made
