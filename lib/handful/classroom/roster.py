"""Who is in the class: a CSV file, a line a student, as a teacher or a learning platform writes it.

A column ``student`` (or ``id``, ``username``, ``SIS Login ID``, …) names the student in results; any other column that
names a student (Canvas' ``ID``, Moodle's ``Identifier``, the e-mail address, the full name) is looked for in what
downloads are called.  A name that two students share finds neither.
"""
from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .submissions import MOST_BYTES, Submission, SubmissionError, _chosen, shown

# In the order in which they are taken for the student's id.
IDS = ("student", "student id", "login", "username", "sis login id", "sis user id", "id number", "id", "email", "email address", "e-mail",
       "identifier")
NAMES = ("name", "full name", "student", "student name")
ALSO = ("participant", "canvas", "canvas id")


@dataclass(frozen=True)
class Roster:
    """The students in the roster's order, and which of them each of their names means (None: more than one)."""

    students: tuple[str, ...]
    names: dict[str, str | None]

    @classmethod
    def read(cls, path: str | Path) -> Roster:
        """Read a roster; a `SubmissionError` says what is wrong with it."""
        try:
            with open(path, "rb") as file:
                raw = file.read(MOST_BYTES + 1)
            text = raw.decode("utf-8-sig")
        except OSError as error:
            raise SubmissionError(f"The roster {shown(str(path))} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise SubmissionError(f"The roster {shown(str(path))} is not in UTF-8; save it as CSV UTF-8.") from None
        if len(raw) > MOST_BYTES:
            raise SubmissionError(f"The roster {shown(str(path))} has more than {MOST_BYTES // 1_000_000} MB.")
        return cls.of(text, shown(str(path)))

    @classmethod
    def of(cls, text: str, name: str = "the roster") -> Roster:
        """
        >>> Roster.of("student,name\\nada,Ada Lovelace\\n").find("lovelaceada")
        'ada'
        """
        try:
            head, *rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)] or [[]]
        except csv.Error as error:
            raise SubmissionError(f"{name} is no CSV file: {error}.") from None
        columns = {cell.strip().lower(): i for i, cell in reversed(list(enumerate(head)))}
        canvas = "student" in columns and "section" in columns  # where Student is the name
        ids = [column for column in IDS if column in columns and not (canvas and column == "student")]
        if not ids:
            raise SubmissionError(f"{name} has no column that names students; write one called student (and name, where you like).")
        students: list[str] = []
        names: dict[str, str | None] = {}
        for line, row in enumerate(rows, 2):
            cells = {column: row[i].strip() for column, i in columns.items() if i < len(row)}
            student = shown(next((cells[column] for column in ids if cells.get(column)), ""))
            if not student or cells.get("student") == "Student, Test" or cells.get("student", "").startswith("Points Possible"):
                continue  # Canvas' lines of its own
            if student in students:
                raise SubmissionError(f"{name} has {student!r} twice, the second time in line {line}.")
            students.append(student)
            for spelling in _spellings(cells, ids):
                names[spelling] = None if names.get(spelling, student) != student else student
        return cls(tuple(students), names)

    def find(self, name: str) -> str | None:
        return self.names.get(_key(name))

    def known(self) -> dict[str, tuple[str, ...]]:
        """Each student's names."""
        found: dict[str, list[str]] = {student: [] for student in self.students}
        for name, student in self.names.items():
            if student:
                found[student].append(name)
        return {student: tuple(sorted(names)) for student, names in found.items()}

    def matched(self, found: dict[str, tuple]) -> list:
        """Functions that read one submission each: the roster's students in its order, then who is not on it."""
        own: dict[str, list] = {}
        strangers = []
        for name, more in sorted(found.items()):
            student = next(filter(None, map(self.find, (name, *more[1]))), None)
            own.setdefault(student, []).append((name, more)) if student else strangers.append((name, more))
        known, reads = self.known(), []
        for student in self.students:
            if student not in own:
                reads.append(partial(Submission, student, "", None, (), "", known[student]))
                continue
            given = own[student]
            assignment, late, files = given[0][1][0], any(more[2] for _, more in given), [file for _, more in given for file in more[3]]
            reads.append(partial(_chosen, student, assignment, known[student], late, files))
        return reads + [partial(_chosen, name, *more, ("This student is not on the roster.",)) for name, more in strangers]


def _key(name: str) -> str:
    return shown(name).casefold()


def _spellings(cells: dict[str, str], ids: list[str]) -> set[str]:
    """The ways in which a student's files may be called: ids, the full name, and Canvas' last name first without a space.

    >>> sorted(_spellings({"id": "7", "student": "Lovelace, Ada"}, ["id"]))
    ['7', 'ada lovelace', 'lovelace, ada', 'lovelaceada']
    """
    found = {_key(cells[column]) for column in (*ids, *ALSO, *NAMES) if cells.get(column)}
    pairs = [(cells.get("first name") or cells.get("first_name"), cells.get("last name") or cells.get("last_name") or cells.get("surname"))]
    for full in filter(None, map(cells.get, NAMES)):
        last, comma, first = full.partition(",")
        if comma:
            pairs.append((first.strip(), last.strip()))
        elif " " in full:
            first, _, last = full.rpartition(" ")
            pairs.append((first, last))
    for first, last in pairs:
        if first and last:
            squeezed = "".join(c for c in f"{last}{first}".casefold() if c.isalnum())
            found |= {_key(f"{first} {last}"), squeezed}
    return found
