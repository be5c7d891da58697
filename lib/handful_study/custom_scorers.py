"""Judge answers to questions that many different answers satisfy.

A question names one by ``judge: schedule``.  A judge is a function ``judge(question, given, calls,
answers)`` that gives a share from 0 to 1, a sentence for the student, and the id of a misconception
or None.  ``given`` are the student's inputs; ``calls`` the arguments of each call (none of a
value), ``answers`` what came back for each: any JSON value whatever, for a stranger wrote it.  What
the sentence says of a call is seen by students: only of the first ``len(question.visible)``.  A
judge is added with `judge`:

>>> @judge
... def even(question, given, calls, answers):
...     return float(answers[0] % 2 == 0), "An even number is asked for.", None
>>> find_judge(JUDGES["even"].__name__)(None, {}, [], [4])[0], JUDGES.pop("even") is even
(1.0, True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from handful_evidence.simulate.pipeline import Deadlock, one_forward_one_backward, run, zero_bubble

from .pipeline_schedules import (
    LONGEST,
    PATTERNS,
    Goal,
    OrdersError,
    explain_deadlock,
    percent,
    play,
    read_orders,
)
from .serving_plan_scorer import ratio_conditions, serving_plan

Verdict = tuple[float, str, str | None]
JUDGES: dict[str, Callable[..., Verdict]] = {}
LARGEST = 64  # stages, and micro-batches


class JudgeError(ValueError):
    """A judge that does not exist, or that cannot judge a question as it is written."""

    exit_code = 2


def judge(made: Callable[..., Verdict]) -> Callable[..., Verdict]:
    """Add a judge under its function's name."""
    JUDGES[made.__name__] = made
    return made


for _made in (ratio_conditions, serving_plan):
    judge(_made)


def find_judge(name: str) -> Callable[..., Verdict]:
    """Return the judge of that name; raise JudgeError for an unknown one.

    >>> find_judge("schedul")
    Traceback (most recent call last):
    ...
    handful_study.custom_scorers.JudgeError: There is no judge 'schedul';
        there are ratio_conditions, schedule, serving_plan.
    """
    if name not in JUDGES:
        raise JudgeError(f"There is no judge {name!r}; there are {', '.join(sorted(JUDGES))}.")
    return JUDGES[name]


found = find_judge  # its name in the last edition, in exported assignments


def goal(settings: Mapping[str, object]) -> Goal:
    """Return what is asked of a schedule: as given, else what 1F1B reaches.

    Where backward passes come in halves, ZB-H1 takes the place of 1F1B.

    >>> asked = goal({"stages": 4, "micro_batches": 8})
    >>> round(asked.bubble_at_most, 4), asked.in_flight_at_most  # (p - 1) of (m + p - 1), and p
    (0.2727, 4)
    """

    def number(name: str, otherwise) -> float:
        value = settings.get(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise JudgeError(f"A schedule's {name} is a number; got {value!r}.")
        return value

    stages, micro_batches = (int(number(name, None)) for name in ("stages", "micro_batches"))
    if not (1 <= stages <= LARGEST and 1 <= micro_batches <= LARGEST):
        raise JudgeError(
            f"A schedule has 1 to {LARGEST} stages and micro-batches; got {stages} and "
            f"{micro_batches}."
        )
    backward, weights = number("backward", 2), number("weights", 0)
    best = run(
        (zero_bubble if weights else one_forward_one_backward)(stages, micro_batches),
        1.0,
        backward,
        weights or None,
    )
    return Goal(
        stages,
        micro_batches,
        backward,
        weights,
        number("bubble_at_most", best.bubble / best.makespan),
        number("in_flight_at_most", min(stages, micro_batches)),
    )


def as_text(answer: object) -> str:
    r"""Return an order of work as text.

    The answer is a text, or a list of stages, each a text or a list of pieces.

    >>> as_text([["F1", "B1"], "F1 B1"])
    'F1 B1\nF1 B1'
    """
    stages = answer if isinstance(answer, list) else [answer]
    lines = [
        " ".join(map(str, stage[:LONGEST])) if isinstance(stage, list) else str(stage)
        for stage in stages[:LONGEST]
    ]
    return "\n".join(lines)[: LONGEST + 1]


@judge
def schedule(
    question,
    given: Mapping[str, object],
    calls: Sequence[Mapping[str, object]],
    answers: Sequence[object],
) -> Verdict:
    """Judge orders of pipeline work (`handful_study.pipeline_schedules`).

    They have to be complete, without a deadlock, and no longer and no larger than asked.

    ``stages``, ``micro_batches``, and where wanted ``backward``, ``weights``, ``bubble_at_most``
    and ``in_flight_at_most`` come from a call's arguments, else from what the student was given.
    The share is that of the calls that are right.  Misconceptions that it knows: gpipe,
    one_at_a_time.
    """
    verdicts = [
        _one(goal({**given, **call}), answer)
        for call, answer in zip(calls or [{}], answers, strict=True)
    ]
    right = sum(ok for ok, _, _ in verdicts)
    if right == len(verdicts):
        return (
            1.0,
            "Right: complete, without a stop, and neither the waiting nor what a stage holds is "
            "more than it has to be.",
            None,
        )
    turns = {turn for ok, _, turn in verdicts if not ok}
    turn = turns.pop() if len(turns) == 1 else None
    seen = (
        len(getattr(question, "visible", verdicts)) or 1
    )  # a student's own check has visible calls only
    shown = next((says for ok, says, _ in verdicts[:seen] if not ok), "")
    says = shown or "The sizes that are shown are right; of the others some are not."
    return right / len(verdicts), says, turn


def _one(asked: Goal, answer: object) -> tuple[bool, str, str | None]:
    try:
        orders = read_orders(as_text(answer), asked)
        played = play(orders, asked)
    except OrdersError as error:
        return False, str(error), None
    except Deadlock as error:
        return False, explain_deadlock(orders, error.stuck), None
    share, held = played.bubble / played.makespan, max(played.held)
    turn = next((name for name, fits in PATTERNS.items() if fits(orders, played)), None)
    if share > asked.bubble_at_most * (1 + 1e-9):
        return (
            False,
            f"A stage waits for {percent(share)} of the time, and {percent(asked.bubble_at_most)} "
            "can be reached.",
            turn,
        )
    if held > asked.in_flight_at_most:
        return (
            False,
            f"A stage holds {held:g} micro-batches at once, and {asked.in_flight_at_most:g} are "
            "enough.",
            turn,
        )
    return True, "", None
