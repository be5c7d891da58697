"""The date of a card's next review: FSRS-6 over the log of reviews, in the learner's days.

The rules are those of ``web/spaced_repetition.js`` on ts-fsrs, so that page and terminal give the
same dates for the same log. The formulas are those of the package ``fsrs``; its ``Scheduler``
itself is not used, since it counts periods of 24 hours where a learner counts nights, and does not
keep the intervals of Hard, Good and Easy in order.

>>> study = Study(
...     [
...         {
...             "id": "aaaaaaaa",
...             "at": 1_000_000_000_000,
...             "zone": 0,
...             "kind": "grade",
...             "card": "a",
...             "grade": 3,
...         }
...     ]
... )
>>> study.states["a"].name, study.states["a"].due_day - day(1_000_000_000_000, 0)
('review', 2)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import fsrs

AGAIN, HARD, GOOD, EASY = GRADES = (1, 2, 3, 4)
DAY, MINUTE = 86_400_000, 60_000
ROLL_OVER = (
    4 * 60 * MINUTE
)  # the learner's day begins at 04:00: who reviews after midnight has not slept yet
STEPS = {AGAIN: 10 * MINUTE, HARD: 15 * MINUTE}  # while (re)learning; Hard is one step and a half
LEECH = (8, 4)  # lapses at which a card is called a leech, and then every so many
LEAST, MOST = 0.001, 36_500  # days of stability; days of an interval
DEFAULTS: dict[str, Any] = {
    "retention": 0.9,
    "new_per_day": 10,
    "chapters": [],
}  # no chapter chosen: all of them


def day(at: int, zone: int) -> int:
    """Return the number of the learner's day at an instant.

    `at` is in ms since 1970 UTC, `zone` in minutes east of UTC.

    >>> day(4 * 3_600_000 - 1, 0), day(4 * 3_600_000, 0), day(0, 5 * 60)
    (-1, 0, 0)
    """
    return (at + zone * MINUTE - ROLL_OVER) // DAY


def leech(lapses: int) -> bool:
    """Check whether the latest lapse, number `lapses`, makes the card a leech.

    >>> [n for n in range(20) if leech(n)]
    [8, 12, 16]
    """
    first, every = LEECH
    return lapses >= first and (lapses - first) % every == 0


@dataclass(frozen=True, slots=True)
class State:
    """The state of a card, as the log gives it.

    `name` is new, learning, review or relearning; `due_at` (ms UTC) is set while (re)learning,
    `due_day` in review.  `last` is the instant of the last review, `last_day` its day, which never
    goes back.
    """

    name: str = "new"
    stability: float = 0.0
    difficulty: float = 0.0
    reps: int = 0
    lapses: int = 0
    last: int | None = None
    last_day: int | None = None
    due_at: int | None = None
    due_day: int | None = None

    @property
    def next_day(self) -> int:
        """Return the day of the next review, which only a card in review has."""
        if self.due_day is None:
            raise ValueError(f"A card in the state {self.name!r} has no day of review.")
        return self.due_day


def _rounded(value: float) -> float:
    """Round to 8 decimal places, halves up, as ts-fsrs rounds whatever it keeps."""
    return math.floor(value * 1e8 + 0.5) / 1e8


class Memory(fsrs.Scheduler):
    """The formulas of ``fsrs`` for one desired retention, bounded and rounded as in ts-fsrs."""

    def __init__(self, retention: float = DEFAULTS["retention"]) -> None:
        super().__init__(desired_retention=retention, enable_fuzzing=False)
        self._FACTOR = _rounded(self._FACTOR)
        self._modifier = _rounded((retention ** (1 / self._DECAY) - 1) / self._FACTOR)
        self._easiest = self._first_difficulty(EASY)

    def retrievability(self, stability: float, days: float) -> float:
        """Return the probability of recall after so many days."""
        return _rounded((1 + self._FACTOR * days / stability) ** self._DECAY)

    def interval(self, stability: float) -> int:
        """Return the days until the probability of recall has fallen to the desired retention."""
        return min(max(1, math.floor(stability * self._modifier + 0.5)), MOST)

    def stability(self, state: State, grade: int, days: int) -> float:
        """Return the stability in days after a grade, given the days since the last review."""
        if state.name == "new":
            return self._initial_stability(rating=fsrs.Rating(grade))
        before = state.stability
        if days == 0:
            after = self._short_term_stability(stability=before, rating=fsrs.Rating(grade))
        else:
            after = self._next_stability(
                difficulty=state.difficulty,
                stability=before,
                rating=fsrs.Rating(grade),
                retrievability=self.retrievability(before, days),
            )
        return _rounded(min(max(after, LEAST), MOST))

    def difficulty(self, state: State, grade: int) -> float:
        """Return the card's difficulty after a grade, from 1 to 10.

        It is rounded between the steps, which ``fsrs`` does not allow for.
        """
        if state.name == "new":
            return min(max(self._first_difficulty(grade), 1.0), 10.0)
        weights = self.parameters
        moved = state.difficulty + _rounded(
            -weights[6] * (grade - GOOD) * (10 - state.difficulty) / 9
        )
        return min(max(_rounded(weights[7] * self._easiest + (1 - weights[7]) * moved), 1.0), 10.0)

    def _first_difficulty(self, grade: int) -> float:
        return _rounded(self._initial_difficulty(rating=fsrs.Rating(grade), clamp=False))

    def graded(self, state: State, grade: int, at: int, zone: int) -> State:
        """Return the state after a grade at an instant, `zone` minutes east of UTC."""
        today, days = day(at, zone), 0
        if state.last_day is not None:
            today = max(today, state.last_day)  # who has flown west has not unlived the day between
            days = today - state.last_day
        stability, difficulty = self.stability(state, grade, days), self.difficulty(state, grade)
        lapsed = state.name == "review" and grade == AGAIN
        name, due_at, due_day = "review", None, None
        if lapsed or (state.name != "review" and grade in STEPS):
            name = {"new": "learning", "review": "relearning"}.get(state.name, state.name)
            due_at = at + STEPS[grade]
        elif state.name == "review":
            due_day = today + self._ordered(state, grade, days)
        else:
            due_day = today + self.interval(stability)
        return State(
            name,
            stability,
            difficulty,
            state.reps + 1,
            state.lapses + lapsed,
            at,
            today,
            due_at,
            due_day,
        )

    def _ordered(self, state: State, grade: int, days: int) -> int:
        """Return the days until the next review, with the intervals of the grades in order.

        Hard is no longer than Good was; Good and Easy are each longer than the one before.
        """
        hard, good = (self.interval(self.stability(state, one, days)) for one in (HARD, GOOD))
        hard = min(hard, good)
        good = max(good, hard + 1)
        if grade == EASY:
            return max(self.interval(self.stability(state, EASY, days)), good + 1)
        return hard if grade == HARD else good


@cache
def memory(retention: float = DEFAULTS["retention"]) -> Memory:
    """Return the formulas for a retention.

    They are made once, since computing their constants takes longer than a review.
    """
    return Memory(retention)


class Study:
    """The result of replaying a log: the settings and the state of each card.

    Of each card it also holds the day of its first grade, and the day on which it was buried.

    The order in which events are given does not matter: what was undone counts as if it had never
    been, and the latest setting counts for the whole log.
    """

    def __init__(self, events: Iterable[dict] = ()) -> None:
        self.events: dict[str, dict] = {}
        self.states: dict[str, State] = {}
        self.first_days: dict[str, int] = {}
        self.buried: dict[str, int] = {}
        self._undone: set[str] = set()
        self._of: dict[str, list[dict]] = defaultdict(list)  # a card's events, undone ones too
        for event in events:
            self._take(event)
        self._settle()

    def add(self, event: dict) -> None:
        """Take one more event, and replay the card that it is about."""
        self._take(event)
        target = self.events.get(event.get("undoes", ""), event)
        if "card" in target:
            self._settle_card(target["card"])
        else:
            self._settle()

    def _take(self, event: dict) -> None:
        self.events[event["id"]] = event
        if event["kind"] == "undo":
            self._undone.add(event["undoes"])
        elif "card" in event:
            self._of[event["card"]].append(event)

    def counting(self, kind: str, events: Iterable[dict] | None = None) -> list[dict]:
        """Return the events of a kind that were not undone, in order."""
        found = (
            e
            for e in (self.events.values() if events is None else events)
            if e["kind"] == kind and e["id"] not in self._undone
        )
        return sorted(found, key=lambda event: (event["at"], event["id"]))

    def _settle(self) -> None:
        self.settings = DEFAULTS | {
            event["name"]: event["value"] for event in self.counting("setting")
        }
        self.memory = memory(self.settings["retention"])
        for card in self._of:
            self._settle_card(card)

    def _settle_card(self, card: str) -> None:
        for known in (self.states, self.first_days, self.buried):
            known.pop(card, None)
        grades, buries = (self.counting(kind, self._of[card]) for kind in ("grade", "bury"))
        for event in grades:
            self.states[card] = self.memory.graded(
                self.state(card), event["grade"], event["at"], event["zone"]
            )
        if grades:
            self.first_days[card] = day(grades[0]["at"], grades[0]["zone"])
        if buries:
            self.buried[card] = day(buries[-1]["at"], buries[-1]["zone"])

    def state(self, card: str) -> State:
        """Return the state of a card; of a card without grades, that of a new one."""
        return self.states.get(card, State())

    def preview(self, card: str, at: int, zone: int) -> dict[int, State]:
        """Return the state of a card after each of the grades that may be given now."""
        return {grade: self.memory.graded(self.state(card), grade, at, zone) for grade in GRADES}

    def new_left(self, now: int, zone: int) -> int:
        """Return the number of new cards that may still be shown today."""
        today = day(now, zone)
        return max(
            0,
            self.settings["new_per_day"]
            - sum(first == today for first in self.first_days.values()),
        )

    def queue(self, cards: Mapping[str, str], now: int, zone: int) -> dict[str, list[str]]:
        """Return the cards to be shown now, from `cards` (id → chapter, in book order).

        In this order: ``review``, due today, oldest first; ``new``; and ``learning``, missed ones,
        whether their minutes are over or not, since they come again at the end of the sitting.
        """
        today, chosen = day(now, zone), self.settings["chapters"]
        found: dict[str, list] = {"review": [], "new": [], "learning": []}
        for name, chapter in cards.items():
            if self.buried.get(name, today - 1) >= today:
                continue
            state = self.state(name)
            if state.name == "new":
                if not chosen or chapter in chosen:
                    found["new"].append((0, name))
            elif state.name != "review":
                found["learning"].append((state.due_at, name))
            elif today >= state.next_day:
                found["review"].append((state.next_day, name))
        # Sorted by time alone: what is equal stays in the order of the book.
        queue = {
            kind: [name for _, name in sorted(some, key=lambda one: one[0])]
            for kind, some in found.items()
        }
        queue["new"] = queue["new"][: self.new_left(now, zone)]
        return queue
