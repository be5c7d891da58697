"""``handful cards review``: a sitting in a terminal, in which each answer is one key."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

from . import book, markup, words
from .cards import Card
from .order import title
from .review_session import GRADES, Sitting, plural

HELP = """Say the answer to yourself before you look.  \
Missed cards come again at the end of the sitting.
The time at each grade is when the card would come back.

  Enter or space   show the answer
  1 Again          I did not know it
  2 Hard           I knew it with trouble
  3 Good           I knew it
  4 Easy           I knew it at once
  u                undo the last answer, and the one before, and so on
  b                not today: the card comes back tomorrow
  q                quit; what you answered is kept"""
ARROWS = re.compile(
    r"\x1b(?:\[[\d;]*[A-Za-z~]|O[A-Z])?"
)  # and function keys: arrow down ends in a B that is none
QUIT = ("q", "\x03", "\x04", "")


@contextmanager
def keyboard() -> Iterator[Iterator[str]]:
    """Yield the keys as they are pressed, including those typed before the first question.

    From a pipe, the keys are the first letter of each line.
    """
    if not sys.stdin.isatty():
        yield (line.strip()[:1] or "\n" for line in sys.stdin)
        return
    try:
        import termios
        import tty
    except ImportError:
        yield _keys_of_windows()
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin, termios.TCSADRAIN)  # what was typed ahead is kept
        yield _keys()
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _keys() -> Iterator[str]:
    while pressed := os.read(sys.stdin.fileno(), 64).decode("utf-8", "ignore"):
        yield from ARROWS.sub("", pressed)


def _keys_of_windows() -> Iterator[str]:  # pragma: no cover
    import msvcrt

    read = msvcrt.getwch  # type: ignore[attr-defined]  # it exists on Windows only
    while True:
        if (key := read()) in "\x00\xe0":
            read()  # the second half of an arrow or function key
        else:
            yield key


class Screen:
    """The terminal as lines of text, bold and dim where it can show them."""

    def __init__(self, width: int) -> None:
        self.width = max(30, min(width, 80))
        self.marks = (
            sys.stdout.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def say(self, text: str = "", mark: str = "") -> None:
        """Print a text; `mark` is "bold", "dim" or ""."""
        text = text.replace("\u00a0", " ")
        code = {"bold": "1", "dim": "2"}.get(mark) if self.marks else None
        print(f"\x1b[{code}m{text}\x1b[0m" if code and text else text, flush=True)

    def wrapped(self, text: str, mark: str = "") -> None:
        """Print a text, wrapped to the width of the screen."""
        for line in textwrap.wrap(text, self.width, break_long_words=False, break_on_hyphens=False):
            self.say(line, mark)


def review(sitting: Sitting, screen: Screen, pressed: Iterator[str], site: str = "") -> None:
    """Ask cards until nothing is left or the learner quits."""
    while True:
        while card := sitting.card:
            _question(sitting, card, screen)
            if not _answered(sitting, card, screen, pressed, site):
                return _summary(sitting, screen)
        _summary(sitting, screen)
        screen.say("u: undo the last answer · Enter: end", "dim")
        if next(pressed, "").lower() != "u":
            return
        _undo(sitting, screen)


def _summary(sitting: Sitting, screen: Screen) -> None:
    screen.say()
    for line in sitting.summary():
        screen.wrapped(line)


def _question(sitting: Sitting, card: Card, screen: Screen) -> None:
    queue = sitting.queue()
    screen.say("\n" + "─" * screen.width, "dim")
    counts = " · ".join(
        f"{len(queue[kind])} {word}"
        for kind, word in (("review", "due"), ("new", "new"), ("learning", "again"))
    )
    screen.say(
        f"{counts}   {'new card' if not sitting.study.state(card.id).reps else card.kind} · "
        f"{title(card.chapter)}",
        "dim",
    )
    screen.say()
    screen.say(markup.text(words.markdown(card.front.text), screen.width), "bold")
    screen.say()


def _answered(
    sitting: Sitting, card: Card, screen: Screen, pressed: Iterator[str], site: str
) -> bool:
    """Ask one card until it is answered or put off; return False where the learner quits."""

    def reveal() -> None:
        sitting.opened = True
        screen.say(markup.text(words.markdown(card.back.text), screen.width))
        screen.say()
        screen.say(_place(card, site), "dim")
        screen.say(
            "   ".join(
                f"{grade} {GRADES[grade]} {when}" for grade, when in sitting.preview().items()
            )
        )

    if sitting.opened:
        reveal()
    else:
        screen.say("Enter: answer · u undo · b not today · ? help · q quit", "dim")
    for key in pressed:
        key = key.lower()
        if key in QUIT:
            return False
        if key == "?":
            screen.say(f"\n{HELP}\n")
        elif key == "u":
            _undo(sitting, screen)
            return True
        elif key == "b":
            sitting.bury()
            screen.say("Put off until tomorrow.")
            return True
        elif key in "\r\n " and not sitting.opened:
            reveal()
        elif key in "1234" and sitting.opened:
            _grade(sitting, card, screen, int(key), site)
            return True
        elif key in "1234":
            screen.say("Look at the answer first: Enter.", "dim")
    return False


def _grade(sitting: Sitting, card: Card, screen: Screen, grade: int, site: str) -> None:
    state = sitting.grade(grade)
    screen.wrapped(f"{GRADES[grade]}: back {sitting.when(state)}.")
    if sitting.slipping(state, grade):
        screen.wrapped(
            f"This card has slipped {state.lapses} times.  Reading its section again may do more "
            "than one more repetition:"
        )
        screen.say(_place(card, site))


def _undo(sitting: Sitting, screen: Screen) -> None:
    target = sitting.undo()
    if target is None:
        return screen.say("There is nothing to undo.")
    name = f"“{GRADES[target['grade']]}”" if target["kind"] == "grade" else "“Not today”"
    gone = "" if target["card"] in sitting.cards else ", on a card that is not asked here"
    screen.say(f"{name} undone{gone}.")


def _place(card: Card, site: str) -> str:
    from handful.query import lecture_address

    lines = [f"{title(card.chapter)}: {book.section_title(card.chapter, card.section)}"]
    if address := book.section_address(site, card.chapter, card.section):
        lines.append(address)
    if card.lecture:
        lines.append(f"Lecture at {card.lecture}: {lecture_address(card.lecture)}")
    return "\n".join(lines)


def counts(queue: dict[str, list[str]]) -> str:
    """Return the number of cards in each part of a queue, in words.

    >>> counts({"review": ["a"], "new": [], "learning": []})
    '1 card due, 0 new, 0 to be asked again'
    """
    return (
        f"{plural(len(queue['review']), 'card')} due, {len(queue['new'])} new, "
        f"{len(queue['learning'])} to be asked again"
    )
