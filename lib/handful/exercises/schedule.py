"""When a card comes again: FSRS-6 over the log of reviews, day by day as the learner lives them.

The same rules as ``page/study/schedule.js`` on ts-fsrs, so that page and terminal give the same dates for the same log.
The formulas are those of the package ``fsrs``; its ``Scheduler`` itself is not used, since it counts periods of 24
hours where a learner counts nights, and does not keep the intervals of Hard, Good and Easy in order.

>>> study = replay([{"id": "aaaaaaaa", "at": 1_000_000_000_000, "zone": 0, "kind": "grade", "card": "a", "grade": 3}])
>>> study.states["a"].name, study.states["a"].due_day - day(1_000_000_000_000, 0)
('review', 2)
"""
from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import fsrs

AGAIN, HARD, GOOD, EASY = GRADES = (1, 2, 3, 4)
DAY, MINUTE = 86_400_000, 60_000
ROLL_OVER = 4 * 60 * MINUTE  # the learner's day begins at 04:00: who reviews after midnight has not slept yet
STEPS = {AGAIN: 10 * MINUTE, HARD: 15 * MINUTE}  # while (re)learning; Hard is one step and a half
LEECH = (8, 4)  # lapses at which a card is called a leech, and then every so many
LEAST, MOST = 0.001, 36_500  # days of stability; days of an interval
DEFAULTS = {"retention": 0.9, "new_per_day": 10, "chapters": None}


def wall(at: int, zone: int) -> int:
    """Milliseconds of the learner's clock, moved so that a day of theirs begins at a multiple of `DAY`."""
    return at + zone * MINUTE - ROLL_OVER


def day(at: int, zone: int) -> int:
    """The learner's day, as a number, of an instant in ms since 1970 UTC, `zone` minutes east of UTC.

    >>> day(4 * 3_600_000 - 1, 0), day(4 * 3_600_000, 0), day(0, 5 * 60)
    (-1, 0, 0)
    """
    return wall(at, zone) // DAY


def leech(lapses: int) -> bool:
    """Whether the lapse that makes `lapses` makes a leech.

    >>> [n for n in range(20) if leech(n)]
    [8, 12, 16]
    """
    first, every = LEECH
    return lapses >= first and (lapses - first) % every == 0


@dataclass(frozen=True, slots=True)
class State:
    """What the log says of a card.

    `name` is new, learning, review or relearning; `due_at` (ms UTC) is set while (re)learning, `due_day` in review.
    `wall` is the learner's clock at the last review, never running backwards; `last` is its instant in UTC.
    """

    name: str = "new"
    stability: float = 0.0
    difficulty: float = 0.0
    reps: int = 0
    lapses: int = 0
    last: int | None = None
    wall: int | None = None
    due_at: int | None = None
    due_day: int | None = None

    @property
    def last_day(self) -> int | None:
        return None if self.wall is None else self.wall // DAY


def _rounded(value: float) -> float:
    """To 8 digits after the point with halves upwards, as ts-fsrs rounds whatever it keeps."""
    return math.floor(value * 1e8 + 0.5) / 1e8


class Memory(fsrs.Scheduler):
    """The formulas of ``fsrs``, within the bounds of ts-fsrs and rounded as it rounds, for one wished-for retention."""

    def __init__(self, retention: float = DEFAULTS["retention"]) -> None:
        super().__init__(desired_retention=retention, enable_fuzzing=False)
        self._FACTOR = _rounded(self._FACTOR)
        self._modifier = _rounded((retention ** (1 / self._DECAY) - 1) / self._FACTOR)
        self._easiest = self._first_difficulty(EASY)

    def retrievability(self, stability: float, days: float) -> float:
        """The chance of recall after so many days."""
        return _rounded((1 + self._FACTOR * days / stability) ** self._DECAY)

    def interval(self, stability: float) -> int:
        """Days until the chance of recall has fallen to the retention that is wished for."""
        return min(max(1, math.floor(stability * self._modifier + 0.5)), MOST)

    def stability(self, state: State, grade: int, days: int) -> float:
        """Days for which the memory lasts after a grade, so many days after the last."""
        if state.name == "new":
            return self._initial_stability(rating=grade)
        before = state.stability
        if days == 0:
            after = self._short_term_stability(stability=before, rating=grade)
        else:
            after = self._next_stability(difficulty=state.difficulty, stability=before, rating=grade,
                                         retrievability=self.retrievability(before, days))
        return _rounded(min(max(after, LEAST), MOST))

    def difficulty(self, state: State, grade: int) -> float:
        """How hard the card is after a grade, from 1 to 10.  Rounded between the steps, for which ``fsrs`` has no place."""
        if state.name == "new":
            return min(max(self._first_difficulty(grade), 1.0), 10.0)
        weights = self.parameters
        moved = state.difficulty + _rounded(-weights[6] * (grade - GOOD) * (10 - state.difficulty) / 9)
        return min(max(_rounded(weights[7] * self._easiest + (1 - weights[7]) * moved), 1.0), 10.0)

    def _first_difficulty(self, grade: int) -> float:
        return _rounded(self._initial_difficulty(rating=grade, clamp=False))

    def graded(self, state: State, grade: int, at: int, zone: int) -> State:
        """The state after a grade at an instant, `zone` minutes east of UTC."""
        clock = wall(at, zone)
        if state.wall is not None:
            clock = max(clock, state.wall)  # who has flown west, or set the clock back, has not unlived the time between
        today = clock // DAY
        days = 0 if state.wall is None else today - state.wall // DAY
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
        return State(name, stability, difficulty, state.reps + 1, state.lapses + lapsed, at, clock, due_at, due_day)

    def _ordered(self, state: State, grade: int, days: int) -> int:
        """Days until the next review: Hard no longer than Good, Good and Easy each longer than the one before."""
        hard, good = (self.interval(self.stability(state, one, days)) for one in (HARD, GOOD))
        hard = min(hard, good)
        good = max(good, hard + 1)
        if grade == EASY:
            return max(self.interval(self.stability(state, EASY, days)), good + 1)
        return hard if grade == HARD else good

    def preview(self, state: State, at: int, zone: int) -> dict[int, State]:
        """What each of the four grades would lead to."""
        return {grade: self.graded(state, grade, at, zone) for grade in GRADES}


@cache
def memory(retention: float = DEFAULTS["retention"]) -> Memory:
    """The formulas for a retention; made once, since their constants take longer than a review."""
    return Memory(retention)


@dataclass
class Study:
    """What a log comes to: settings, the state of each card, the days on which cards were new or buried."""

    settings: dict
    states: dict[str, State] = field(default_factory=dict)
    first_days: dict[str, int] = field(default_factory=dict)
    buried: dict[str, int] = field(default_factory=dict)
    grades: dict[str, list[dict]] = field(default_factory=dict)

    @property
    def memory(self) -> Memory:
        return memory(self.settings["retention"])

    def state(self, card: str) -> State:
        return self.states.get(card, State())

    def preview(self, card: str, at: int, zone: int) -> dict[int, State]:
        """The state of a card after each grade given now."""
        return self.memory.preview(self.state(card), at, zone)

    def new_left(self, now: int, zone: int) -> int:
        """New cards that may still be shown today."""
        today = day(now, zone)
        return max(0, self.settings["new_per_day"] - sum(first == today for first in self.first_days.values()))

    def queue(self, cards: Mapping[str, str], now: int, zone: int) -> dict[str, list[str]]:
        """What is to be shown now, from `cards` (id → chapter, in book order).

        In this order: ``review``, due today, oldest first; ``new``; ``learning``, whose time has come; and ``waiting``,
        whose time comes within minutes, for the end of a sitting when nothing else is left.
        """
        today = day(now, zone)
        chosen = self.settings["chapters"]
        found: dict[str, list] = {"review": [], "new": [], "learning": [], "waiting": []}
        for name, chapter in cards.items():
            if self.buried.get(name, today - 1) >= today:
                continue
            state = self.state(name)
            if state.name == "new":
                if chosen is None or chapter in chosen:
                    found["new"].append((0, name))
            elif state.name == "review":
                if today >= state.due_day:
                    found["review"].append((state.due_day, name))
            else:
                found["learning" if now >= state.due_at else "waiting"].append((state.due_at, name))
        # Sorted by time alone: what is equal stays in the order of the book.
        queue = {kind: [name for _, name in sorted(entries, key=lambda entry: entry[0])] for kind, entries in found.items()}
        queue["new"] = queue["new"][:self.new_left(now, zone)]
        return queue


def order(events: Iterable[dict]) -> list[dict]:
    """Events as they are replayed: by time, then by id."""
    return sorted(events, key=lambda event: (event["at"], event["id"]))


def replay(events: Sequence[dict]) -> Study:
    """Everything that follows from a log, whatever the order in which its events are given.

    What was undone counts as if it had never been, and the latest setting counts for the whole log.
    """
    undone = {event["undoes"] for event in events if event["kind"] == "undo"}
    settings, grades, buried = dict(DEFAULTS), defaultdict(list), {}
    for event in order(events):
        if event["id"] in undone:
            continue
        if event["kind"] == "grade":
            grades[event["card"]].append(event)
        elif event["kind"] == "bury":
            buried[event["card"]] = max(day(event["at"], event["zone"]), buried.get(event["card"], -MOST))
        elif event["kind"] == "setting":
            settings[event["name"]] = event["value"]
    study = Study(settings, buried=buried, grades=dict(grades))
    for card, given in grades.items():
        state = State()
        for event in given:
            state = study.memory.graded(state, event["grade"], event["at"], event["zone"])
        study.states[card] = state
        study.first_days[card] = day(given[0]["at"], given[0]["zone"])
    return study
