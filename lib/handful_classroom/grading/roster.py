"""Read who is in the class from a CSV file, written by a teacher or a learning platform.

It has one line for each student.

A column ``student`` (or ``id``, ``username``, ``SIS Login ID``, …) names the student in results;
any other column that names a student (Canvas' ``ID``, Moodle's ``Identifier``, the e-mail address,
the full name) is looked for in what downloads are called.  A name that two students share finds
neither.

Columns of ids count for more than names, which students may change on the platform: nobody takes
another's id as a name.  A download's own number of a student decides, and where the name there
leads to another student, nothing is graded.  Capitals, the width of letters and blanks do not tell
ids apart (`handful_study.student.canonical`).
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from handful_study.student import canonical

from . import class_lists
from .submissions import MOST_BYTES, Entry, Submission, SubmissionError, named, shown

# In the order in which they are taken for the student's id.
IDS = (
    "student",
    "student id",
    "login",
    "username",
    "sis login id",
    "sis user id",
    "id number",
    "id",
    "email",
    "email address",
    "e-mail",
    "identifier",
)
NAMES = ("name", "full name", "student", "student name")
ALSO = ("participant", "canvas", "canvas id")
STRANGER = "This student is not on the roster."


@dataclass(frozen=True)
class Roster:
    """The students in the roster's order, and the student that each id or name means.

    A name that means more than one student has None.

    `ids` and `called` have canonical forms, `spelled` the ids as they stand in the roster;
    `columns` are those that `students` were taken from.
    """

    students: tuple[str, ...]
    ids: dict[str, str | None]
    called: dict[str, str | None]
    spelled: frozenset[str] = frozenset()
    columns: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: str | Path) -> Roster:
        """Read a roster; a `SubmissionError` says what is wrong with it."""
        try:
            with open(path, "rb") as file:
                raw = file.read(MOST_BYTES + 1)
            text = raw.decode("utf-8-sig")
        except OSError as error:
            raise SubmissionError(
                f"The roster {shown(str(path))} cannot be read: {error.strerror}."
            ) from None
        except UnicodeDecodeError:
            raise SubmissionError(
                f"The roster {shown(str(path))} is not in UTF-8; save it as CSV UTF-8."
            ) from None
        if len(raw) > MOST_BYTES:
            raise SubmissionError(
                f"The roster {shown(str(path))} has more than {MOST_BYTES // 1_000_000} MB."
            )
        return cls.of(text, shown(str(path)))

    @classmethod
    def of(cls, text: str, name: str = "the roster") -> Roster:
        r"""Read a roster from the text of a CSV file; `name` is what messages call it.

        >>> Roster.of("student,name\nada,Ada Lovelace\n").find("lovelaceada")
        'ada'
        """
        head, *rows = _rows(text, name)
        class_lists.refuse_abroad(name, [cell.strip() for cell in head], rows[0] if rows else [])
        columns, ids = _columns(head, name)
        students: dict[str, str] = {}  # canonical form → as the roster spells it
        known: dict[str, str | None] = {}
        called: dict[str, str | None] = {}
        spelled: set[str] = set()
        used: set[str] = set()  # columns of ids
        for line, row in enumerate(rows, 2):
            cells = {columns[i]: cell.strip() for i, cell in enumerate(row) if i in columns}
            own = next((column for column in ids if cells.get(column)), "")
            student = shown(cells.get(own, ""))
            if not student or _of_canvas(cells):
                continue
            used.add(own)
            if (other := students.get(_key(student))) is not None:
                raise SubmissionError(_twice(name, student, other, line))
            students[_key(student)] = student
            numbers = [cells[column] for column in (*ids, *ALSO) if cells.get(column)]
            spelled |= set(map(shown, numbers))
            for names, found in ((known, set(map(_key, numbers))), (called, _spellings(cells))):
                for one in found:
                    names[one] = None if names.get(one, student) != student else student
        heads = tuple(head[i].strip() for i in sorted(columns) if columns[i] in used)
        return cls(tuple(students.values()), known, called, frozenset(spelled), heads)

    @property
    def says(self) -> str:
        r"""Return which column has the ids of students, in a sentence.

        >>> Roster.of('Student,ID,SIS Login ID,Section\n"L, Ada",7,ada,Mo\n').says
        "Students' ids are those in the roster's column 'SIS Login ID', such as 'ada'."
        """
        if not self.students:
            return "The roster names no student."
        columns = f"column{'s' * (len(self.columns) > 1)} {' and '.join(map(repr, self.columns))}"
        return f"Students' ids are those in the roster's {columns}, such as {self.students[0]!r}."

    def find(self, name: str) -> str | None:
        """Return the student with that id, else with that name."""
        key = _key(name)
        return self.ids[key] if key in self.ids else self.called.get(key)

    def find_called(self, name: str) -> str | None:
        """Return the student with that name on the platform, else with that id."""
        key = _key(name)
        return self.called[key] if key in self.called else self.ids.get(key)

    def whose(self, student: str) -> str | None:
        r"""Return who of the roster an earlier result is of, which may be called as in a download.

        >>> roster = Roster.of("student,id,name\nada,12,Ada Lovelace\n")
        >>> [roster.whose(name) for name in ("ADA", "lovelaceada_12", "byronada_12", "zoe")]
        ['ada', 'ada', None, None]
        """
        who, _, number = student.rpartition("_")
        found = self.ids.get(_key(f"Participant {number}")) or self.ids.get(_key(number))
        return self.find(student) or (found if found and self.find_called(who) == found else None)

    def known(self) -> dict[str, tuple[str, ...]]:
        """Return each student's ids and names, without those that are another's id."""
        found: dict[str, list[str]] = {student: [] for student in self.students}
        for name, student in (self.called | self.ids).items():
            if student:
                found[student].append(name)
        return {student: tuple(sorted(names)) for student, names in found.items()}

    def leads(self, one: Entry) -> tuple[list[tuple[str, str]], bool]:
        """Return what in a file's name leads to which student, and whether that is reliable.

        It is reliable where more than a name does, since students may choose their names.
        """
        owner = one.owner
        if not owner.number:
            student = self.find(owner.student)
            return [
                (f"the name {owner.student!r}", student)
            ] if student else [], owner.student in self.spelled
        found, moodle = [], f"Participant {owner.number}" in owner.known
        for number in (owner.number, *owner.others):
            participant = _key(
                f"Participant {number}"
            )  # Moodle's, which is not its users' ID number
            if student := self.ids.get(
                participant if moodle and participant in self.ids else number
            ):
                found.append((f"the number {number}", student))
        if student := self.ids.get(_key(owner.student)):
            found.append((f"the id {owner.student!r}", student))
        sure = bool(found)
        if student := owner.who and self.find_called(owner.who):
            found.append((f"the name {owner.who!r}", student))
        return found, sure

    def matched(self, found: list[Entry]) -> list:
        """Return functions that read one submission each.

        The roster's students come first, in order, then all that is not theirs.
        """
        entries, others = self._assigned(found)
        known, reads = self.known(), []
        for student in self.students:
            kept, refused = _of_student(student, entries.get(student, []))
            others += refused
            if kept:
                reads.append(partial(_merged(kept).read, student, known[student]))
            else:
                reads.append(partial(Submission, student, "", None, (), "", known[student]))
        return reads + [
            partial(one.read, notice=() if one.refused else (STRANGER,))
            for one in named(others, self.students)
        ]

    def _assigned(
        self, found: list[Entry]
    ) -> tuple[dict[str, list[tuple[Entry, bool]]], list[Entry]]:
        """Return the entries of each student, with whether that is reliable, and all others."""
        entries: dict[str, list[tuple[Entry, bool]]] = {}
        strangers: list[Entry] = []
        others: list[Entry] = []
        with_names = {student for student in self.called.values() if student}
        for one in found:
            leads, sure = ([], False) if one.refused else self.leads(one)
            students = list(dict.fromkeys(student for _, student in leads))
            if not students:
                (others if one.refused else strangers).append(one)
            elif why := _ambiguous(one, leads, students, with_names):
                others.append(one.stopped(why))
            else:
                entries.setdefault(students[0], []).append((one, sure))
        return entries, [*strangers, *others]


def _rows(text: str, name: str) -> list[list[str]]:
    """Return the lines of a CSV file that are not blank; at least one, which may be empty."""
    head = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=head.count)  # as German and French spreadsheets write them
    try:
        return [
            row
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            if any(cell.strip() for cell in row)
        ] or [[]]
    except csv.Error as error:
        raise SubmissionError(f"{name} is no CSV file: {error}.") from None


def _columns(head: list[str], name: str) -> tuple[dict[int, str], list[str]]:
    """Return the columns' names by their places, and those among them that hold ids.

    Of two columns of one name, the first counts.
    """
    places = {cell.strip().lower(): i for i, cell in reversed(list(enumerate(head)))}
    canvas = "student" in places and "section" in places  # where Student is the name
    ids = [column for column in IDS if column in places and not (canvas and column == "student")]
    if not ids:
        raise SubmissionError(
            f"{name} has no column that names students; write one called student (and name, "
            "where you like)."
        )
    return {i: column for column, i in places.items()}, ids


def _of_canvas(cells: dict[str, str]) -> bool:
    """Return whether a line is one that Canvas adds, and no student's."""
    student = cells.get("student", "")
    return student == "Student, Test" or student.startswith("Points Possible")


def _twice(name: str, student: str, other: str, line: int) -> str:
    same = (
        ""
        if other == student
        else (
            f", which counts as {other!r} "
            "(capitals, widths of letters and blanks do not tell ids apart)"
        )
    )
    return f"{name} has {student!r} twice, the second time in line {line}{same}."


def _ambiguous(
    one: Entry, leads: list[tuple[str, str]], students: list[str], with_names: set[str]
) -> str:
    """Return why it is not known whose an entry is, or "" where it is the first student's."""
    if len(students) > 1:
        which = " and ".join(f"{what} to {student!r}" for what, student in leads[:4])
        return (
            f"Its name leads to {len(students)} students of the roster, {which}: "
            "give it the name of whose it is, or correct the roster, and grade again."
        )
    if (
        one.mixed
        and one.owner.number
        and students[0] in with_names
        and not any(what.startswith("the name") for what, _ in leads)
    ):
        return (
            f"On the roster {leads[0][0]} belongs to {students[0]!r}, and the name "
            f"{one.owner.who!r} does not; among files that are not all named by one "
            "platform, "
            "both have to agree."
        )
    return ""


def _of_student(student: str, entries: list[tuple[Entry, bool]]) -> tuple[list[Entry], list[Entry]]:
    """Return which entries are the student's, and those that only go by the student's name."""
    by_id = [one for one, is_sure in entries if is_sure]
    by_name = [one for one, is_sure in entries if not is_sure]
    if by_id:
        why = (
            f"It goes by a name of {student!r} on the roster, who handed in under an "
            "id or number "
            "too: give it the name of whose it is, and grade again."
        )
        return by_id, [one.stopped(why) for one in by_name]
    if len(by_name) > 1:
        why = (
            f"{len(by_name)} submissions go by names of {student!r} on the roster; "
            "ids or numbers "
            "of the platform in the roster tell whose each is."
        )
        return [], [one.stopped(why) for one in by_name]
    return by_name, []


def _merged(entries: list[Entry]) -> Entry:
    """Return one entry with the files and notices of all."""
    return replace(
        entries[0],
        late=any(one.late for one in entries),
        files=[file for one in entries for file in one.files],
        notice=tuple(dict.fromkeys(note for one in entries for note in one.notice)),
    )


def _key(name: str) -> str:
    return canonical(shown(name))


def _spellings(cells: dict[str, str]) -> set[str]:
    """Return the names that a student may go by.

    These are the full name, and Canvas' last name first without a space.

    >>> sorted(_spellings({"id": "7", "student": "Lovelace, Ada"}))
    ['ada lovelace', 'lovelace, ada', 'lovelaceada']
    """
    found = {_key(cells[column]) for column in NAMES if cells.get(column)}
    pairs = [
        (
            cells.get("first name") or cells.get("first_name"),
            cells.get("last name") or cells.get("last_name") or cells.get("surname"),
        )
    ]
    for full in filter(None, map(cells.get, NAMES)):
        last, comma, first = full.partition(",")
        if comma:
            pairs.append((first.strip(), last.strip()))
        elif " " in full:
            first, _, last = full.rpartition(" ")
            pairs.append((first, last))
    for forename, surname in pairs:
        if forename and surname:
            found |= {
                _key(f"{forename} {surname}"),
                "".join(c for c in _key(f"{surname}{forename}") if c.isalnum()),
            }
    return found
