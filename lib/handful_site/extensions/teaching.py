"""The contents of the teacher's pages: courses, explorers, cards, problems and assignments.

None of it is typed in a page: ``courses.toml`` says, by names, what a course does in which session,
and here the names are looked up.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from handful_evidence.claims import CHAPTERS, load
from handful_study.cards import cards
from handful_study.problem_model import Problem
from handful_study.problems import problems
from handful_study.student import VARIANTS

from ..bootstrap import ROOT
from ..contents import chapters

if TYPE_CHECKING:
    from handful_classroom.release.assignment import Assignment

BOOK = ROOT / "book"
COURSES = Path(__file__).with_name("courses.toml")
_SHOWN = re.compile(r"^from handful_explorers\.(\w+) import ([\w, ]+)$", re.M)
_FIELDS = {"title", "minutes", "pages", "show", "problems", "assign", "says"}


class TeachingError(ValueError):
    """A course or a page that names something that does not exist."""


@dataclass(frozen=True)
class Shown:
    """An explorer on the page where it first appears; `anchor` is its place there."""

    name: str
    page: str
    title: str
    anchor: str


@dataclass(frozen=True)
class Session:
    """A row of a course.

    `minutes` are in class; `starts` is in minutes after midnight, where the course has an hour.
    """

    title: str
    minutes: int
    starts: int | None
    pages: tuple[str, ...]
    show: tuple[Shown, ...]
    problems: tuple[Problem, ...]
    cards: int
    chosen: bool  # the problems are chosen one by one, rather than all of the pages'
    assignments: tuple[Assignment, ...]
    says: str


@dataclass(frozen=True)
class Course:
    """A course; `unit` is what a row is called: hour or week."""

    name: str
    title: str
    unit: str
    sessions: tuple[Session, ...]

    def __str__(self) -> str:
        inside = sum(session.minutes for session in self.sessions)
        home = sum(one.minutes for session in self.sessions for one in session.assignments)
        return (
            f"{self.title}: {len(self.sessions)} rows, {hours(inside)} in class, "
            f"{hours(home)} of assignments"
        )


def hours(minutes: float) -> str:
    """Return a length of time in words.

    >>> hours(45), hours(60), hours(150), hours(690)
    ('45 minutes', '1 hour', '2½ hours', '11½ hours')
    >>> hours(675)
    '11¼ hours'
    """
    if minutes < 60:
        return f"{minutes:g} minutes"
    whole, quarter = divmod(round(minutes / 15), 4)
    return f"{whole}{('', '¼', '½', '¾')[quarter]} hour{'' if (whole, quarter) == (1, 0) else 's'}"


def clock(minutes: int) -> str:
    """Return a time of day, given in minutes after midnight.

    >>> clock(9 * 60 + 5)
    '9:05'
    """
    return f"{minutes // 60}:{minutes % 60:02d}"


# What there is


@cache
def pages() -> dict[str, str]:
    """Return the title of each page, in reading order, without the first page."""
    import yaml

    found = {}
    for name in chapters(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))[1:]:
        title = re.search(r"^# (.+)$", (BOOK / f"{name}.md").read_text("utf-8"), re.M)
        found[name] = title[1].strip() if title else name
    return found


@cache
def explorers() -> dict[str, Shown]:
    """Return each explorer on a page by its name, ``page/name``."""
    from handful_explorers.plotting.explorer import Explorer

    found = {}
    for page in pages():
        for module, names in _SHOWN.findall((BOOK / f"{page}.md").read_text("utf-8")):
            for name in names.replace(" ", "").split(","):
                one = getattr(importlib.import_module(f"handful_explorers.{module}"), name)
                if isinstance(one, Explorer):
                    found[f"{page}/{name}"] = Shown(name, page, one.title, f"explorer-{one.name}")
    return found


@cache
def assignments() -> dict[str, Assignment]:
    """Return each assignment by its name, in the order of the book."""
    from handful_classroom.release.assignment import assignments as read

    order = {page: place for place, page in enumerate(pages())}
    return dict(sorted(read().items(), key=lambda item: (order[item[1].chapter], item[0])))


COUNTED: dict[str, Callable[[], int]] = {
    "chapters": lambda: len(CHAPTERS),
    "pages": lambda: len(pages()) + 1,
    "explorers": lambda: len(explorers()),
    "cards": lambda: len(cards()),
    "problems": lambda: len(problems()),
    "claims": lambda: len(load()),
    "assignments": lambda: len(assignments()),
    "questions": lambda: sum(len(one.questions) for one in assignments().values()),
    "variants": lambda: VARIANTS,
}


def count(what: str) -> str:
    """Return the number of things of a kind, as a figure.

    >>> count("chapters")
    '9'
    >>> count("chapter")
    Traceback (most recent call last):
    handful_site.extensions.teaching.TeachingError: There is no count of 'chapter';
    there are assignments, cards, chapters, ...
    """
    if what not in COUNTED:
        raise TeachingError(
            f"There is no count of {what!r}; there are {', '.join(sorted(COUNTED))}."
        )
    return f"{COUNTED[what]():,}"


def checked(name: str, question: str, misconception: str, student: str) -> str:
    """Return what a student's check cell says to a misconception.

    >>> checked("roofline", "step_time", "memory-only", "ada").splitlines()[0]
    'step_time (4 points): not right yet: 2 of 3 calls; 8 more are tried after you hand in.'
    """
    from handful_classroom.release import notebooks
    from handful_study.student import Assignment

    found = assignments()[name]
    released = Assignment(notebooks.public(found), student)
    space = {"given": released.given, "check": released.check}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(
            f"{found.questions[question].wrong[misconception].code}\ncheck({question!r})", space
        )  # our own, from the source
    return said.getvalue().rstrip()


# Courses


def course(name: str) -> Course:
    """Return a course with everything looked up.

    >>> workshop = course("workshop")
    >>> clock(workshop.sessions[0].starts), workshop.sessions[0].show[0].title
    ('9:00', 'One decode step against the batch')
    """
    known = tomllib.loads(COURSES.read_text("utf-8"))
    if name not in known:
        raise TeachingError(f"There is no course {name!r}; there are {', '.join(known)}.")
    entry = known[name]
    now = None
    if "starts" in entry:
        hour, minute = entry["starts"].split(":")
        now = int(hour) * 60 + int(minute)
    found = []
    for row in entry["session"]:
        found.append(_session(name, row, now))
        now = None if now is None else now + row["minutes"]
    return Course(name, entry["title"], entry["unit"], tuple(found))


def _session(name: str, row: dict, starts: int | None) -> Session:
    where = f"{COURSES.name}, {name}, {row.get('title')!r}"
    if wrong := sorted(row.keys() - _FIELDS):
        raise TeachingError(
            f"{where}: there is no field {wrong[0]!r}; there are {', '.join(sorted(_FIELDS))}."
        )
    mine = tuple(row.get("pages", ()))
    _known(where, "page", (*mine, *row.get("assign", ())), pages())
    _known(where, "problem", row.get("problems", ()), problems())
    shown = {one.name: one for one in explorers().values() if one.page in mine}
    _known(where, "explorer on its pages", row.get("show", ()), shown)
    of_pages = tuple(problem for problem in problems().values() if problem.chapter in mine)
    asked = tuple(problems()[one] for one in row["problems"]) if "problems" in row else of_pages
    return Session(
        row["title"],
        row["minutes"],
        starts,
        mine,
        tuple(shown[one] for one in row.get("show", ())),
        asked,
        sum(card.chapter in mine for card in cards().values()),
        "problems" in row,
        tuple(one for one in assignments().values() if one.chapter in row.get("assign", ())),
        row.get("says", ""),
    )


def _known(where: str, what: str, names, known) -> None:
    for one in names:
        if one not in known:
            raise TeachingError(f"{where}: there is no {what} {one!r}.")
