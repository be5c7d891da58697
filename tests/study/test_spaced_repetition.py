"""Tests of the terminal's schedule against ts-fsrs, which the page runs.

They compare thousands of reviews as people do them.
"""

from __future__ import annotations

import json
import random
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from handful_site.bootstrap import node_command
from handful_study import spaced_repetition
from handful_study.spaced_repetition import State, Study, day, leech, memory

ROOT = Path(__file__).parents[2]
ZONES = [
    "UTC",
    "America/Los_Angeles",
    "Europe/Berlin",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
]
HOUR, DAY = 3_600_000, 86_400_000
PLAY = """
import { effective, settingsOf } from "./lib/handful_study/web/log.js";
import { bury, next, queue } from "./lib/handful_study/web/spaced_repetition.js";
let text = "";
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map(({ events, book, moments }) => {
  const left = effective(events), settings = settingsOf(left), states = new Map(), after = {};
  for (const event of left) {
    const { card, kind, id } = event;
    if (kind === "bury") states.set(card, bury(states.get(card), event));
    if (kind === "grade") states.set(card,
      after[id] = next(states.get(card), event, settings.retention));
  }
  return { settings, after,
    queues: moments.map(([now, zone]) => queue(now, zone, book, states, settings)) };
})));
"""


def played(logs: list[dict]) -> list[dict]:
    """Return what the page makes of logs.

    That is the settings, the state after each grade that counts, and the queues.
    """
    done = subprocess.run(
        [*node_command(), "--input-type=module", "-e", PLAY],
        input=json.dumps(logs),
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return json.loads(done.stdout)


class Learner:
    """Somebody with cards, a clock that is sometimes wrong, journeys, and late nights."""

    def __init__(self, seed: int, reviews: int = 400) -> None:
        self.random = random.Random(seed)
        self.zone = ZoneInfo(self.random.choice(ZONES))
        year, week = (
            self.random.choice([2024, 2025, 2026]),
            self.random.choice([9, 12, 13, 39, 43, 44]),
        )  # around changes of the clock
        self.at = int(
            datetime.fromisocalendar(year, week, 1).replace(tzinfo=UTC).timestamp() * 1000
        ) + self.random.randrange(DAY)
        self.events: list[dict] = []
        self.moments: list[list[int]] = []
        cards = [f"card-{i}" for i in range(self.random.choice([1, 3, 12]))]
        self.book = [
            {"id": card, "chapter": self.random.choice(["one", "two", "three"])}
            for card in [*cards, "never-seen", "nor-this"]
        ]
        while sum(event["kind"] == "grade" for event in self.events) < reviews:
            self.act(cards)
        self.random.shuffle(self.events)  # the order of a file is not that of the log

    def add(self, kind: str, **more) -> None:
        zone = datetime.fromtimestamp(self.at / 1000, self.zone).utcoffset() // timedelta(minutes=1)
        self.events.append(
            {
                "id": f"{self.random.getrandbits(60):015x}",
                "at": self.at,
                "zone": zone,
                "kind": kind,
                **more,
            }
        )
        if self.random.random() < 0.1:
            self.moments.append([self.at + self.random.choice([0, 1, HOUR, DAY, 9 * DAY]), zone])

    def act(self, cards: list[str]) -> None:
        step = self.random.random()
        if step < 0.80:
            if (
                step < 0.06 and self.events
            ):  # just before or after midnight, or the learner's own end of the day
                local = datetime.fromtimestamp(self.at / 1000, self.zone).replace(
                    hour=self.random.choice([0, 4]), minute=0, second=0, microsecond=0
                ) + timedelta(days=1)
                self.at = max(
                    self.at,
                    int(local.timestamp() * 1000) + self.random.choice([-1, 0, 1, -1000, 1000]),
                )
            self.add(
                "grade",
                card=self.random.choice(cards),
                grade=self.random.choices(spaced_repetition.GRADES, [2, 1, 5, 1])[0],
            )
        elif step < 0.84 and self.events:
            self.add("undo", undoes=self.random.choice([self.events[-1]["id"], "0" * 15]))
        elif step < 0.86:
            self.add("bury", card=self.random.choice(cards))
        elif step < 0.865:
            self.add(
                "setting",
                **self.random.choice(
                    [
                        {
                            "name": "retention",
                            "value": self.random.choice([0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99]),
                        },
                        {"name": "new_per_day", "value": self.random.randrange(4)},
                        {"name": "chapters", "value": self.random.choice([[], ["one", "three"]])},
                    ]
                ),
            )
        elif step < 0.87:
            self.zone = ZoneInfo(self.random.choice(ZONES))
        elif step < 0.88:
            self.at -= self.random.choice([HOUR, 5 * HOUR, 2 * DAY])  # a clock set back
        kind = self.random.random()
        self.at += (
            self.random.randrange(90_000)
            if kind < 0.6
            else self.random.randrange(14 * HOUR)
            if kind < 0.85
            else self.random.randrange(10 * DAY)
            if kind < 0.99
            else self.random.randrange(400 * DAY)
        )


def history(study: Study) -> dict[str, State]:
    """Return the state of its card after each grade that counts."""
    found, latest = {}, {}
    for event in study.counting("grade"):
        state = study.memory.graded(
            latest.get(event["card"], State()), event["grade"], event["at"], event["zone"]
        )
        found[event["id"]] = latest[event["card"]] = state
    assert latest == study.states
    return found


def assert_same(state: State, want: dict) -> None:
    assert (state.stability, state.difficulty) == pytest.approx(
        (want["stability"], want["difficulty"]), abs=1e-6
    )
    assert (state.name, state.reps, state.lapses, state.last, state.last_day) == (
        want["state"],
        want["reps"],
        want["lapses"],
        want["last"],
        want["lastDay"],
    )
    assert {"at": state.due_at, "day": state.due_day} == {"at": None, "day": None, **want["due"]}


def assert_same_queue(study: Study, book: list[dict], now: int, zone: int, want: dict) -> None:
    found = study.queue({card["id"]: card["chapter"] for card in book}, now, zone)
    assert (day(now, zone), found["review"], found["new"], found["learning"]) == (
        want["today"],
        want["due"],
        want["fresh"],
        want["again"],
    )


def test_twenty_thousand_reviews_have_the_dates_of_the_page():
    learners = [Learner(seed) for seed in range(50)]
    logs = [
        {"events": learner.events, "book": learner.book, "moments": learner.moments}
        for learner in learners
    ]
    count, seen = 0, set()
    for log, wanted in zip(logs, played(logs), strict=True):
        study = Study(log["events"])
        assert study.settings == wanted["settings"]
        found = history(study)
        assert set(found) == set(wanted["after"])
        for name, state in found.items():
            assert_same(state, wanted["after"][name])
            seen.add(state.name)
        for moment, queue in zip(log["moments"], wanted["queues"], strict=True):
            assert_same_queue(study, log["book"], *moment, queue)
        count += len(found)
    assert count >= 15_000 and seen == {"learning", "review", "relearning"}


def test_the_schedule_that_both_sides_are_pinned_to():
    data = json.loads((ROOT / "tests" / "data" / "schedule.json").read_text("utf-8"))
    for rows in data["cards"].values():
        state = State()
        for at, zone, grade, name, stability, difficulty, reps, lapses, last_day, due in rows:
            state = memory(data["retention"]).graded(state, grade, at, zone)
            assert_same(
                state,
                {
                    "state": name,
                    "stability": stability,
                    "difficulty": difficulty,
                    "reps": reps,
                    "lapses": lapses,
                    "last": at,
                    "lastDay": last_day,
                    "due": {"day" if name == "review" else "at": due},
                },
            )
    for log in data["logs"]:
        study = Study(log["events"])
        assert study.settings == log["settings"]
        for card, want in log["states"].items():
            assert study.buried.get(card) == want.get("buried")
            if want["state"] != "new":
                assert_same(study.states[card], want)
                assert study.first_days[card] == want["first"]
        for queue in log["queues"]:
            assert_same_queue(study, data["book"], queue["now"], queue["zone"], queue)


# The rules, one by one

NOON = int(datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp() * 1000)


def log(*entries) -> list[dict]:
    """Events from (hours after noon, kind, fields)."""
    return [
        {"id": f"event-{i:03}", "at": NOON + int(hours * HOUR), "zone": 0, "kind": kind, **more}
        for i, (hours, kind, more) in enumerate(entries)
    ]


def same(left: Study, right: Study) -> bool:
    return all(
        getattr(left, name) == getattr(right, name)
        for name in ("settings", "states", "first_days", "buried")
    )


def graded(hours, card, grade):
    return hours, "grade", {"card": card, "grade": grade}


BOOK = {"a": "first", "b": "first", "c": "second", "d": "second"}


@pytest.mark.parametrize(
    ("at", "zone", "wanted"),
    [
        (0, 240, 0),
        (-1, 240, -1),
        (DAY - 1, 240, 0),
        (0, -840, -1),
        (18 * HOUR, -840, 0),
        (0, 840, 0),
    ],
)
def test_a_day_begins_at_four(at, zone, wanted):
    assert day(at, zone) == wanted


def test_the_same_night_is_the_same_day():
    """16:50 and 17:10 in Los Angeles are two days of UTC, and one of the learner's."""
    at = int(datetime(2026, 1, 6, 0, 50, tzinfo=UTC).timestamp() * 1000)
    later = at + 20 * spaced_repetition.MINUTE
    events = [
        {"id": f"event-{i:03}", "at": t, "zone": -480, "kind": "grade", "card": "a", "grade": g}
        for i, (t, g) in enumerate([(at, 4), (later, 3)])
    ]
    assert Study(events).states["a"].stability == pytest.approx(8.2956)


def test_undo_is_as_if_it_had_never_been():
    first = log(
        graded(0, "a", 3),
        graded(1, "b", 1),
        (1.1, "bury", {"card": "c"}),
        (1.2, "setting", {"name": "new_per_day", "value": 3}),
    )
    more = [*first, *log(*[graded(2, "d", 3)] * 5)[4:]]
    undone = [
        *more,
        {
            "id": "undo-0001",
            "at": NOON + 3 * HOUR,
            "zone": 0,
            "kind": "undo",
            "undoes": more[-1]["id"],
        },
    ]
    assert same(Study(undone), Study(first))
    for event in first:
        undo = {
            "id": "undo-0002",
            "at": NOON - HOUR,
            "zone": 0,
            "kind": "undo",
            "undoes": event["id"],
        }  # even by a clock set back
        without = Study([e for e in first if e is not event])
        assert same(Study([*first, undo]), without)
        one_by_one = Study(first)
        one_by_one.add(undo)
        assert same(one_by_one, without)


def test_an_undo_of_something_unknown_waits_for_it():
    events = log(graded(0, "a", 3), (1, "undo", {"undoes": "elsewhere"}))
    assert Study(events).states["a"].reps == 1


def test_due_reviews_then_new_cards_then_missed_ones():
    study = Study(log(graded(0, "a", 3), graded(0.1, "b", 1), graded(0.2, "c", 2)))
    now = NOON + 15 * spaced_repetition.MINUTE
    assert study.queue(BOOK, now, 0) == {"review": [], "new": ["d"], "learning": ["b", "c"]}
    assert study.queue(BOOK, NOON + HOUR, 0) == {"review": [], "new": ["d"], "learning": ["b", "c"]}
    due = study.states["a"].due_day
    assert study.queue(BOOK, (due * 24 + 4) * HOUR - 1, 0)["review"] == []
    assert study.queue(BOOK, (due * 24 + 4) * HOUR, 0)["review"] == ["a"]


def test_the_oldest_are_first_and_ties_stand_as_in_the_book():
    study = Study(log(graded(0, "c", 3), graded(1, "b", 3), graded(-48, "d", 3)))
    assert study.queue(BOOK, NOON + 30 * DAY, 0)["review"] == ["d", "b", "c"]


def test_new_cards_are_counted_by_the_learner_s_day():
    some = (-30, "setting", {"name": "new_per_day", "value": 2})
    study = Study(log(some, graded(15, "a", 3)))  # at 03:00, still the day before
    assert study.queue(BOOK, NOON + 15.5 * HOUR, 0)["new"] == ["b"]
    assert study.queue(BOOK, NOON + 16.5 * HOUR, 0)["new"] == ["b", "c"]
    assert study.queue(BOOK, NOON + 15.5 * HOUR, 60)["new"] == [
        "b",
        "c",
    ]  # an hour further east it is 04:30
    chosen = log(
        some, graded(15, "a", 3), (16, "setting", {"name": "chapters", "value": ["second"]})
    )
    assert Study(chosen).queue(BOOK, NOON + 17 * HOUR, 0)["new"] == ["c", "d"]


def test_a_buried_card_comes_back_the_next_day():
    study = Study(log((0, "bury", {"card": "a"})))
    assert study.queue(BOOK, NOON + 15 * HOUR, 0)["new"] == ["b", "c", "d"]
    assert study.queue(BOOK, NOON + 16 * HOUR, 0)["new"] == ["a", "b", "c", "d"]


def test_the_latest_setting_counts_for_all_of_the_log():
    study = Study(
        log(
            graded(0, "a", 3),
            (1, "setting", {"name": "retention", "value": 0.97}),
            (2, "setting", {"name": "retention", "value": 0.8}),
        )
    )
    assert (
        study.states["a"].due_day - study.states["a"].last_day
        == memory(0.8).interval(2.3065)
        > memory().interval(2.3065)
    )


def test_leeches():
    given = [graded(0, "a", 4)]
    for i in range(20):
        given += [graded(24 * 40 * (i + 1), "a", 1), graded(24 * 40 * (i + 1) + 1, "a", 4)]
    found = [
        state.lapses for state in history(Study(log(*given))).values() if state.name == "relearning"
    ]
    assert found == list(range(1, 21)) and [n for n in found if leech(n)] == [8, 12, 16, 20]


def test_what_the_buttons_promise_is_what_happens():
    study = Study(log(graded(0, "a", 3), graded(24 * 3, "a", 3)))
    now = NOON + 9 * DAY
    for grade, promised in study.preview("a", now, 0).items():
        assert (
            Study(
                log(graded(0, "a", 3), graded(24 * 3, "a", 3), graded(24 * 9, "a", grade))
            ).states["a"]
            == promised
        )
    hard, good, easy = (study.preview("a", now, 0)[grade].due_day for grade in (2, 3, 4))
    assert hard <= good < easy
