"""Tests of schedules that learners write: what is read, what is played, and what is said."""

from __future__ import annotations

import pytest

from handful_evidence.simulate import pipeline
from handful_study.check import check
from handful_study.pipeline_schedules import Goal, OrdersError, as_text, read_orders
from handful_study.problem_model import schedule_goal as goal
from handful_study.problems import problem, problems

ALL = [p for p in problems().values() if p.kind == "schedule"]
TWO = Goal(2, 2, 2.0, 0.0, 0.2, 2)
HALVES = Goal(2, 2, 2.0, 1.0, 0.2, 2)


def one_at_a_time(stages: int, many: int) -> str:
    return "\n".join(" ".join(f"F{j} B{j}" for j in range(1, many + 1)) for _ in range(stages))


@pytest.mark.parametrize(
    "name, schedule", [("write-a-schedule", "1f1b"), ("schedule-with-half-passes", "zero_bubble")]
)
def test_the_known_schedule_is_right_and_its_misconceptions_are_named(name, schedule):
    one = problem(name)
    for seed in range(60):
        asked = goal(one, seed)
        size = asked.stages, asked.micro_batches
        assert (
            check(one, as_text(pipeline.SCHEDULES[schedule](*size).orders), seed).kind == "right"
        ), size
        gpipe = check(one, as_text(pipeline.gpipe(*size).orders), seed)
        if asked.micro_batches > asked.in_flight_at_most:
            assert (gpipe.kind, gpipe.turn) == ("wrong", 0)
        alone = check(one, one_at_a_time(*size), seed)
        assert (alone.kind, alone.turn) == ("wrong", 1)


def test_whole_passes_cannot_reach_what_halves_can():
    one = problem("schedule-with-half-passes")
    asked = goal(one, 0)
    said = check(
        one, as_text(pipeline.one_forward_one_backward(asked.stages, asked.micro_batches).orders), 0
    )
    assert said.kind == "wrong" and said.turn is None and "of the time, and" in said.says


def test_what_is_asked_and_missed_is_said():
    one = problem("write-a-schedule")
    asked = goal(one, 0)
    order = pipeline.gpipe(asked.stages, asked.micro_batches).orders
    late = [
        [
            *(step for step in stage[: asked.micro_batches - 1]),
            stage[asked.micro_batches],
            stage[asked.micro_batches - 1],
            *stage[asked.micro_batches + 1 :],
        ]
        for stage in order
    ]
    said = check(one, as_text(late), 0)
    assert said.kind == "wrong" and said.turn is None
    assert (
        said.says.startswith("Not yet: a stage waits for ")
        and f"; stage 1 holds {asked.micro_batches - 1} micro-batches at once, and " in said.says
    )


@pytest.mark.parametrize(
    "goal, text, sentence",
    [
        (TWO, "F1 F2 B1 B2", "A line for each of the 2 stages is expected; there is 1."),
        (TWO, "\n\n;", "A line for each of the 2 stages is expected; there are 0."),
        (TWO, "F1 F2 B1 B2\nF1 B1 F2", "Stage 2 has no B2."),
        (TWO, "F1 B1 B2\nF1 B1 F2 B2", "Stage 1 has no F2."),
        (TWO, "F1 F2 B1 B1 B2\nF1 B1 F2 B2", "Stage 1 has B1 twice."),
        (TWO, "F1 F2 B1 B2\nF1 B1 F2 B3", "There is no micro-batch 3; they are 1 to 2."),
        (
            TWO,
            "F1 F2 B1 B2\nF1 I1 F2 B2",
            "'I1' on stage 2 is no piece of work; write F1 for the forward pass of micro-batch 1 "
            "and B1 for its backward pass.",
        ),
        (HALVES, "F1 F2 B1 B2\nF1 I1 F2 B2", "Stage 2 has I1 without W1."),
        (HALVES, "F1 F2 B1 B2\nF1 W1 F2 B2", "Stage 2 has W1 without I1."),
        (
            HALVES,
            "F1 F2 B1 B2\nF1 B1 I1 F2 B2",
            "Stage 2 has B1 and a half of it too; write the whole or both halves.",
        ),
        (
            HALVES,
            "F1 F2 B1 B2\nF1 X1 F2 B2",
            "'X1' on stage 2 is no piece of work; write F1 for the forward pass of micro-batch 1 "
            "and B1 for its backward pass, "
            "or I1 and W1 for its halves.",
        ),
        (TWO, "F1" * 3000, "A schedule of 6000 characters is too long; 4000 are allowed."),
    ],
)
def test_what_cannot_be_played_is_said_in_a_sentence(goal, text, sentence):
    with pytest.raises(OrdersError) as caught:
        read_orders(text, goal)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "lines, sentence",
    [
        (
            ["B1 F1 F2 B2", "F1 B1 F2 B2"],
            "It comes to a stop: on stage 1, B1 waits for ever for F1, which stands after it.",
        ),
        (
            ["F1 B1 F2 B2", "F2 F1 B1 B2"],
            "It comes to a stop: on stage 1, B1 waits for ever for B1 of stage 2, which stands "
            "behind F2, and that waits too.",
        ),
        (
            ["F1 F2 B1 B2", "B1 F1 F2 B2"],
            "It comes to a stop: on stage 1, B1 waits for ever for B1 of stage 2, which waits too.",
        ),
        (
            ["F1 F2 I1 W1 W2 I2", "F1 B1 F2 B2"],
            "It comes to a stop: on stage 1, W2 waits for ever for I2, which stands after it.",
        ),
    ],
)
def test_a_schedule_that_waits_for_itself_names_the_first_piece(lines, sentence):
    from handful_study.pipeline_schedules import explain_deadlock, play

    orders = read_orders("\n".join(lines), HALVES)
    with pytest.raises(pipeline.Deadlock) as caught:
        play(orders, HALVES)
    assert explain_deadlock(orders, caught.value.stuck) == sentence


def test_every_schedule_problem_is_tested_here():
    assert {one.id for one in ALL} == {"write-a-schedule", "schedule-with-half-passes"}
