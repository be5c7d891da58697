"""Every card and problem of the book: its source, its numbers, its answers, its misconceptions."""

from __future__ import annotations

import itertools
import math
import re

import pytest

from handful import query as ask
from handful.units import UNITS
from handful_study import words
from handful_study.cards import KINDS, cards, retired
from handful_study.check import check, near, right_choice, same
from handful_study.problems import problems
from handful_study.source import folder

SEEDS = range(200)
PROBLEMS = [pytest.param(p, id=p.id) for p in problems().values()]


def written(value: float, unit: str) -> str:
    """Write a value as a learner may write it, in SI units."""
    by_hand = {"1": "", "%": "", "B/token": "B/token", "FLOP/B": "FLOP/B"}
    return (
        f"{value!r} {by_hand.get(unit, unit.replace('device', 'chip').replace('·', '-'))}".strip()
    )


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_answer_is_right_and_each_misconception_is_named(problem):
    for seed in SEEDS:
        if problem.kind == "number":
            right, wrongs = problem.right(seed), problem.wrong_values(seed)
            assert math.isfinite(right) and right != 0
            # No two of them can be taken for each other, even when rounded.
            named = [("the answer", right)]
            named += [
                (f"“{turn.says[:50]}…”", wrong)
                for turn, wrong in zip(problem.wrong, wrongs, strict=True)
            ]
            for (one, a), (other, b) in itertools.combinations(named, 2):
                if near(a, b, 2 * problem.tolerance):
                    pytest.fail(
                        f"{problem.id}: {one} ({a:.6g}) and {other} ({b:.6g}) are within "
                        f"{2 * problem.tolerance:.0%} of each other for {problem.draw(seed)}"
                    )
            assert check(problem, written(right, problem.unit), seed).kind == "right"
            for turn, wrong in enumerate(wrongs):
                verdict = check(problem, written(wrong, problem.unit), seed)
                assert (verdict.kind, verdict.turn) == ("wrong", turn), (
                    f"seed {seed}: {problem.draw(seed)}"
                )
        elif problem.kind == "choice":
            right = right_choice(problem, seed)
            for i in range(len(problem.choices)):
                verdict = check(problem, i, seed)
                assert verdict.kind == ("right" if i == right else "wrong") and verdict.says
            said = [choice.says for choice in problem.choices]
            assert len(set(said)) == len(said)


@pytest.mark.parametrize("problem", [p for p in PROBLEMS if p.values[0].kind == "expression"])
def test_formulas_that_are_misconceptions_differ_from_the_answer_and_from_each_other(problem):
    trees = [problem.answer, *(wrong.tree for wrong in problem.wrong)]
    for i, left in enumerate(trees):
        assert same(problem, left, left)
        assert not any(same(problem, left, right) for right in trees[i + 1 :])


# A number that came with its unit in front of what the sentence counts: "281 tokens multiply-adds".
TWICE_COUNTED = re.compile(
    r"\d\u00a0(tokens|sequences|chips|parameters|FLOPs?|layers) "
    r"(multiply-adds|uses|people|tokens|sequences|chips|parameters|layers|with each|times[.,])"
)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_part_of_a_problem_can_be_shown_for_any_seed(problem):
    texts = [
        problem.text.text,
        *(hint.text for hint in problem.hints),
        problem.solution.text,
        *(wrong.says for wrong in problem.wrong),
        *(c.text for c in problem.choices),
        *(c.says for c in problem.choices),
        *problem.rubric,
    ]
    for seed in range(10):
        for text in texts:
            shown = problem.words(text, seed)
            assert "{" not in shown.replace("{\\", "").split("$")[0] and not {"nan", "∞"} & set(
                shown.split()
            ), shown
            assert not TWICE_COUNTED.search(shown), shown
    assert problem.unit in UNITS


@pytest.mark.parametrize("card", [pytest.param(c, id=c.id) for c in cards().values()])
def test_a_card_can_be_shown_outside_of_the_book(card):
    for part in (card.front, card.back):
        assert words.ROLE.search(words.without_roles(part.text)) is None
    assert card.kind in KINDS


def test_no_id_that_was_published_is_gone_without_a_word():
    published = {
        kind: set((folder() / kind / "published.txt").read_text("utf-8").split())
        for kind in ("cards", "problems")
    }
    assert published["cards"] == set(cards()) | retired(), (
        "list every card's id in exercises/cards/published.txt, for good"
    )
    assert published["problems"] >= set(problems()), (
        "list every problem's id in exercises/problems/published.txt, for good"
    )
    assert not retired() & set(cards())


def test_what_no_page_knows_is_refused():
    with pytest.raises(ask.QueryError, match="cannot be shown outside of a page"):
        words.without_roles("{cite}`someone`")
