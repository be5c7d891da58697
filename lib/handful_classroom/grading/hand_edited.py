r"""Write grades.csv without losing what somebody changed in it by hand.

What was written last is kept in a hidden file beside it, by which a table that was edited is known
from one that a spreadsheet only saved in its own way.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as name:
...     folder = Path(name)
...     _ = write(folder, b"student,total\r\nada,12\r\n")
...     _ = (folder / "grades.csv").write_text("student;total\nada;12,0\n")
...     saved_again = write(folder, b"student,total\r\nada,12\r\n")
...     _ = (folder / "grades.csv").write_text("student,total\nada,14\n")
...     edited = write(folder, b"student,total\r\nada,12\r\n")
>>> saved_again, edited[0].partition(";")[0]
([], 'grades.csv was changed by hand (ada: total 12 became 14)')
"""

from __future__ import annotations

import itertools
from pathlib import Path

from handful.units import plural

from .. import tables
from .adjustments import NAME as ADJUSTMENTS

NAME = "grades.csv"
WRITTEN = ".grades-written.csv"
CHANGED = "totals-changed.csv"
MOST_TOLD = 3
CODINGS = ("cp1252", "cp1250", "mac-roman", "ascii", "utf-8")  # in which spreadsheets save CSV
MOST_CHANGED = 10


class Passing(str):
    """A note on what has just happened, which the next run does not repeat: not for the report."""


def write(folder: Path, made: bytes) -> list[str]:
    """Write grades.csv; return a sentence where it had been edited, and keep that one beside it."""
    path, kept = folder / NAME, folder / WRITTEN
    notes: list[str] = []
    edits = _edits(kept, path) if path.exists() and kept.exists() else ""
    before = _totals(kept)
    if edits:
        aside = next(name for name in _free_names(folder) if not name.exists())
        path.rename(aside)
        edited = (
            f"{NAME} was changed by hand ({edits}); it is kept as {aside.name} and does not "
            f"count.  Write what should count into {ADJUSTMENTS}: a row for each student, with "
            "the question or total, the points and the reason."
        )
        notes.append(Passing(edited))
    tables.write_atomically(path, made)
    tables.write_atomically(kept, made)
    changed = _totals_that_changed(folder, before, _totals(kept))
    return [*notes, *([Passing(changed)] if changed else [])]


def _totals(path: Path) -> tuple[dict[str, str], set[str]]:
    """Return each student's total in a table of ours, and out of how many points they are.

    There are none where it is not there or was damaged.
    """
    try:
        rows = tables.read(path, ["student", "total"])[0]
    except tables.TableError:
        rows = []
    totals = {row["student"]: row["total"] for row in rows}
    # Tables of before had another column `possible`, of the checks alone, and `out of` for this.
    possible = {row.get("out of") or row.get("possible") or "" for row in rows}
    return totals, possible - {""}


def _totals_that_changed(
    folder: Path, before: tuple[dict[str, str], set[str]], after: tuple[dict[str, str], set[str]]
) -> str:
    """Return whose total is another than when the table was written last, "" where none is.

    Those that fell come first; all are in a table of their own.
    """
    (old, was_scale), (new, scale) = before, after
    rows = [
        (student, old[student], total)
        for student, total in new.items()
        if student in old and old[student] != total
    ]
    if not rows:
        return ""
    rows.sort(key=lambda row: not _fell(*row[1:]))
    tables.write_atomically(folder / CHANGED, tables.as_csv(("student", "before", "now"), rows))
    fell = sum(_fell(*row[1:]) for row in rows)
    told = [f"{who} {one or 'none'} → {other or 'none'}" for who, one, other in rows]
    more = f" and {len(told) - MOST_CHANGED} more, in {CHANGED}" * (len(told) > MOST_CHANGED)
    was, now_is = (", ".join(sorted(one)) for one in (was_scale, scale))
    points = f", out of {now_is} points, which were {was}" if was != now_is else ""
    return (
        f"{plural(len(told), 'total')} changed since the last time"
        f"{f', {fell} of them down' if fell else ''}{points}: "
        f"{', '.join(told[:MOST_CHANGED])}{more}."
    )


def _fell(was: str, now: str) -> bool:
    try:
        return float(now or 0) < float(was or 0)
    except ValueError:  # excused, now or before
        return False


def _free_names(folder: Path):
    yield folder / "grades-edited.csv"
    yield from (folder / f"grades-edited-{i}.csv" for i in itertools.count(2))


def _edits(before: Path, now: Path) -> str:
    """Return what differs between two tables of grades; "" where they say the same."""
    if before.read_bytes() == now.read_bytes():
        return ""
    try:
        (old, _, _), (new, columns, _) = tables.read(before, ["student"]), tables.read(now)
    except tables.TableError:
        return "it is no table any more"
    if "student" not in columns:
        return "it has no column student any more"
    totals: list[str] = []
    told: list[str] = []
    rows = {row["student"]: row for row in new}
    for row in old:
        who = row["student"]
        saved = () if who in rows or who.isascii() else rows
        name = next((one for one in saved if _same(who, one)), who)
        other = rows.pop(name, None)
        if other is None:
            told.append(f"{row['student']} is gone")
            continue
        for column in filter(None, dict.fromkeys([*row, *other])):
            was, now_is = row.get(column, ""), other.get(column, "")
            if not _same(was, now_is):
                (totals if column == "total" else told).append(
                    f"{row['student']}: {column} {was or 'empty'} became {now_is or 'empty'}"
                )
    told += [f"{student} is new" for student in rows]
    more = f" and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    # All totals are named, since they are the grades.
    return "; ".join(tables.one_line(text)[:120] for text in [*totals, *told[:MOST_TOLD]]) + more


def _same(one: str, other: str) -> bool:
    """Return whether two cells say the same; a spreadsheet may write 1.5 as 1,50.

    It may also have saved in a coding of its own, which has ? in place of what it lacks.

    >>> _same("Çağla", "Ça?la"), _same("Çağla", "?a?la"), _same("Çağla", "Cagla")
    (True, True, False)
    """
    now = tables.one_line(other)
    if tables.one_line(one) == now or any(_saved(one, code) == now for code in CODINGS):
        return True
    try:
        return float(one.replace(",", ".")) == float(other.replace(",", "."))
    except ValueError:
        return False


def _saved(text: str, code: str) -> str:
    """Return what is read of a text that was saved in a coding and is taken for cp1252."""
    return tables.one_line(text.encode(code, "replace").decode("cp1252", "replace"))
