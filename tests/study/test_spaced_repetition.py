"""Tests of the page's schedule, which ts-fsrs computes, against the package fsrs."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsrs
import pytest

from handful_site.bootstrap import node_command

ROOT = Path(__file__).parents[2]
DAY = 86_400_000
# A card is reviewed at noon, after so many days, with each grade in turn; the page's state before
# and after each review is printed.
PLAY = """
import { mulberry32 } from "./lib/handful_explorers/web/random.js";
import { next } from "./lib/handful_study/web/spaced_repetition.js";
const random = mulberry32(6), pick = (list) => list[Math.floor(random() * list.length)];
const reviews = [];
for (const retention of [0.7, 0.8, 0.9, 0.95, 0.99]) for (let card = 0; card < 40; card += 1) {
  let state, at = Date.UTC(2026, 2, 2, 12);
  for (let i = 0; i < 20; i += 1) {
    const before = state;
    const grades = [1, 2, 3, 4].map((grade) => next(before, { at, zone: 0, grade }, retention));
    reviews.push({ retention, at, before, after: grades });
    state = pick([grades[0], grades[1], grades[2], grades[2], grades[2], grades[3]]);
    at += 86_400_000 * pick([0, 0, 1, 3, 10, 40, 200]);
  }
}
console.log(JSON.stringify(reviews));
"""
STATES = {
    "new": fsrs.State.Learning,  # fsrs has no state of its own for it
    "learning": fsrs.State.Learning,
    "review": fsrs.State.Review,
    "relearning": fsrs.State.Relearning,
}


@pytest.fixture(scope="module")
def reviews() -> list[dict]:
    done = subprocess.run(
        [*node_command(), "--input-type=module", "-e", PLAY],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def at_time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def as_card(state: dict | None):
    """Return a state of the page as a card of fsrs."""
    if state is None:
        return fsrs.Card(card_id=1)
    return fsrs.Card(
        card_id=1,
        state=STATES[state["state"]],
        step=None if state["state"] == "review" else 0,
        stability=state["stability"],
        difficulty=state["difficulty"],
        last_review=at_time(state["last"]),
    )


def ordered(intervals: list[int]) -> list[int]:
    """Return the intervals of Hard, Good and Easy as the page puts them in order."""
    hard, good, easy = intervals
    hard = min(hard, good)
    good = max(good, hard + 1)
    return [hard, good, max(easy, good + 1)]


def test_four_thousand_reviews_have_the_states_and_intervals_of_fsrs(reviews):
    step = [timedelta(minutes=10)]
    seen = set()
    for review in reviews:
        scheduler = fsrs.Scheduler(
            desired_retention=review["retention"],
            learning_steps=step,
            relearning_steps=step,
            enable_fuzzing=False,
        )
        now, before = at_time(review["at"]), review.get("before")
        cards = [
            scheduler.review_card(as_card(before), fsrs.Rating(grade), now)[0]
            for grade in (1, 2, 3, 4)
        ]
        waits = [card.due - now for card in cards]
        in_review = before is not None and before["state"] == "review"
        if in_review:
            waits[1:] = [timedelta(days=n) for n in ordered([wait.days for wait in waits[1:]])]
        for card, wait, after in zip(cards, waits, review["after"], strict=True):
            # ts-fsrs rounds its constants, and what it keeps, to eight decimals.
            assert after["stability"] == pytest.approx(card.stability, rel=1e-6, abs=1e-8)
            assert after["difficulty"] == pytest.approx(card.difficulty, abs=2e-8)
            assert STATES[after["state"]] == card.state
            due = after["due"]
            if "day" in due:
                assert due["day"] - after["lastDay"] == wait.days
            else:
                assert due["at"] - review["at"] == wait // timedelta(milliseconds=1)
            seen.add(after["state"])
    assert len(reviews) == 4000 and seen == {"learning", "review", "relearning"}
