"""A sitting: the cards that are due, one after another, with each answer recorded at once.

The page Review does the same.

The log is the only state: the next card, the effect of undo and the summary all follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta

from .cards import Card
from .log import LogError, LogFile, make
from .spaced_repetition import AGAIN, MINUTE, State, Study, day, leech

GRADES = {1: "Again", 2: "Hard", 3: "Good", 4: "Easy"}
LONGEST = 600_000  # ms; whoever takes longer was elsewhere


def clock() -> tuple[int, int]:
    """Return the time in ms since 1970 UTC, and this machine's offset east of UTC in minutes."""
    now = datetime.now().astimezone()
    offset = now.utcoffset() or timedelta()
    return int(now.timestamp() * 1000), offset // timedelta(minutes=1)


class Sitting:
    """A sitting: the card that is asked, and the answers that are recorded.

    Parameters
    ----------
    file : LogFile
        Where answers are recorded.
    cards : sequence of Card
        Those that may be asked, in the order of the book.
    clock : callable, optional
        Gives the time and the zone; tests have their own.
    """

    def __init__(
        self, file: LogFile, cards: Sequence[Card], clock: Callable[[], tuple[int, int]] = clock
    ) -> None:
        self.file, self.clock = file, clock
        self.cards = {card.id: card for card in cards}
        self.study = Study(file.events)
        # An answer that was undone has been seen: its card comes back with the answer shown.
        self.opened = False
        self._made: list[str] = []  # what this sitting noted, for undo
        self._latest = 0
        self.card: Card | None = None
        self.next()

    def queue(self) -> dict[str, list[str]]:
        """Return the ids of the cards to be shown now, as `Study.queue` does."""
        return self.study.queue(
            {name: card.chapter for name, card in self.cards.items()}, *self.clock()
        )

    def next(self) -> None:
        """Go on to the card that is to be asked now; `card` is None where nothing is left."""
        asked = [name for some in self.queue().values() for name in some]
        self._show(asked[0] if asked else None, opened=False)

    def _show(self, name: str | None, opened: bool) -> None:
        self.card = None if name is None else self.cards[name]
        self.opened = opened
        self._since = self.clock()[0]

    def _asked(self) -> Card:
        if self.card is None:
            raise LookupError("No card is left to be asked.")
        return self.card

    def _note(self, kind: str, **fields) -> dict:
        at, zone = self.clock()
        if at <= self._latest < at + 1000:
            at = self._latest + 1  # two of one millisecond keep their order
        event = make(kind, at, zone, **fields)
        for new in self.file.add([event], at):
            self.study.add(new)
        self._latest = at
        return event

    def grade(self, grade: int) -> State:
        """Record an answer to the card and go on; return the card's state after it."""
        took = min(max(self.clock()[0] - self._since, 0), LONGEST)
        event = self._note("grade", card=self._asked().id, grade=grade, took=took)
        self._made.append(event["id"])
        self.next()
        return self.study.state(event["card"])

    def bury(self) -> None:
        """Put the card off until tomorrow."""
        self._made.append(self._note("bury", card=self._asked().id)["id"])
        self.next()

    def undo(self) -> dict | None:
        """Take back the latest answer, first of this sitting, then of the log.

        Its card is asked again.  The result is the event that was undone, or None if there was
        none.
        """
        counting = {
            event["id"]: event for kind in ("grade", "bury") for event in self.study.counting(kind)
        }
        mine = [name for name in self._made if name in counting]
        if not counting:
            return None
        target = (
            counting[mine[-1]]
            if mine
            else max(counting.values(), key=lambda event: (event["at"], event["id"]))
        )
        self._note("undo", undoes=target["id"])
        if target["card"] in self.cards:
            self._show(target["card"], opened=target["kind"] == "grade")
        else:
            self.next()
        return target

    def preview(self) -> dict[int, str]:
        """Return, for each grade, the time until the card would come back, in words."""
        now, zone = self.clock()
        found = self.study.preview(self._asked().id, now, zone)
        return {
            grade: span(minutes=rounded((state.due_at - now) / MINUTE))
            if state.due_at is not None
            else span(days=max(1, state.next_day - day(now, zone)))
            for grade, state in found.items()
        }

    def slipping(self, state: State, grade: int) -> bool:
        """Check whether this answer made the card a leech."""
        return grade == AGAIN and state.name == "relearning" and leech(state.lapses)

    def when(self, state: State) -> str:
        """Return, in words, when a card comes back."""
        now, zone = self.clock()
        if state.due_at is not None:
            return f"at the end, or in {span(minutes=rounded((state.due_at - now) / MINUTE))}"
        return when_day(state.next_day, day(now, zone))

    def summary(self) -> list[str]:
        """Return what was done today, and what comes next, a sentence each."""
        now, zone = self.clock()
        today = day(now, zone)
        answers = [
            event
            for event in self.study.counting("grade")
            if day(event["at"], event["zone"]) == today
        ]
        held = sum(event["grade"] != AGAIN for event in answers)
        lines = [
            f"You answered {plural(len(answers), 'card')} today and held {held} of them, "
            f"{100 * held / len(answers):.0f} %."
            if answers
            else "Nothing was answered today."
        ]
        later = [
            state.next_day
            for name in self.cards
            if (state := self.study.state(name)).name == "review" and state.next_day > today
        ]
        if later:
            lines.append(
                f"Next: {plural(later.count(min(later)), 'card')} {when_day(min(later), today)}."
            )
        if put := sum(self.study.buried.get(name, today - 1) >= today for name in self.cards):
            lines.append(f"Put off until tomorrow: {plural(put, 'card')}.")
        if new := sum(self.study.state(name).name == "new" for name in self.cards):
            lines.append(
                f"Still new to you: {plural(new, 'card')}; up to "
                f"{self.study.settings['new_per_day']} come each day."
            )
        return lines


def set_setting(file: LogFile, name: str, value, now: tuple[int, int]) -> None:
    """Record a setting; it counts for the whole log, in the page too."""
    file.add([make("setting", *now, name=name, value=value)], now[0])


def read_setting(text: str) -> tuple[str, object]:
    """Read name and value from ``name=value``.

    >>> read_setting("retention=0.85"), read_setting("chapters=pipelining, over-training")
    (('retention', 0.85), ('chapters', ['pipelining', 'over-training']))
    """
    name, _, value = (part.strip() for part in text.partition("="))
    readers: dict[str, Callable[[str], object]] = {
        "retention": float,
        "new_per_day": int,
        "chapters": lambda text: [part.strip() for part in text.split(",") if part.strip()],
    }
    try:
        return name, readers[name](value)
    except KeyError:
        raise LogError(
            f"There is no setting {name!r}; there are retention, new_per_day and chapters."
        ) from None
    except ValueError:
        raise LogError(
            f"{text!r} is no setting; write retention=0.9, new_per_day=10 or "
            "chapters=latency-and-cost,pipelining."
        ) from None


# Words


def rounded(value: float) -> int:
    """Round to the nearest whole number, halves up as in a browser."""
    return math.floor(value + 0.5)


def plural(count: int, word: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "card"), plural(1200, "card")
    ('1 card', '1,200 cards')
    """
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def span(minutes: int | None = None, days: int = 0) -> str:
    """Return a length of time in words, given in minutes or in days.

    >>> span(minutes=10), span(minutes=90), span(days=1), span(days=60), span(days=800)
    ('10 min', '2 hours', '1 day', '2 months', '2.2 years')
    """
    if minutes is not None:
        return f"{max(1, minutes)} min" if minutes < 60 else plural(rounded(minutes / 60), "hour")
    if days < 60:
        return plural(days, "day")
    if days < 730:
        return plural(rounded(days / 30.4375), "month")
    years = rounded(days / 36.525) / 10 if days < 3653 else rounded(days / 365.25)
    return f"{years:g} year{'' if years == 1 else 's'}"


def when_day(due: int, today: int) -> str:
    """Return in words when the day `due` is, as seen from the day `today`.

    >>> when_day(20521, 20520), when_day(20620, 20520)
    ('tomorrow, Monday 9 March', 'in 3 months, on 16 June 2026')
    """
    days, then = due - today, date(1970, 1, 1) + timedelta(days=due)
    if days <= 0:
        return "today"
    # Names of days and months in English whatever the machine's language is.
    month = (
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    )[then.month - 1]
    weekday = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[
        then.weekday()
    ]
    near = f"{weekday} {then.day} {month}"
    if days == 1:
        return f"tomorrow, {near}"
    return f"in {span(days=days)}, on {near if days < 60 else f'{then.day} {month} {then.year}'}"
