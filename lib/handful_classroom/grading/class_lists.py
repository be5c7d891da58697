"""Read the lists of a class that LMSs export, keep them beside the results, and join them.

A course may have one of Canvas and one of Moodle: each is kept under the system's name, and a
student's two rows count as one where an id is the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from handful.units import plural

from .. import tables

KEPT = "class-lists"
# Columns by which the lists of a class, as LMSs export them, name a student.
NAMED_BY = (
    "id",
    "sis user id",
    "sis login id",
    "username",
    "login",
    "id number",
    "email address",
    "email",
    "e-mail",
    "student",
    "student id",
    "sid",
    "identifier",
)
FULL_NAMES = ("full name", "student name", "name")
# Columns of ids that a school gives, which mean the same in every system; not a system's own.
SHARED = tuple(column for column in NAMED_BY if column not in ("id", "student", "identifier"))
SYSTEMS = {
    "canvas": {"sis login id", "section"},
    "moodle": {"identifier", "id number", "full name"},
}
MOST_IDS = 100_000
# Headings of Moodle's grading worksheet, and words of them in other languages.
WORKSHEET = ("Identifier", "Full name", "ID number", "Email address", "Status", "Grade")
_ABROAD = re.compile(
    r"vollständiger name|e-mail-adresse|bewertung|nom complet|courriel|note( maximale)?|"
    r"nombre completo|correo|calificaci[oó]n",
)
_PARTICIPANT = re.compile(r"[^\W\d_][^\d,;]{5,} ?[0-9]+")  # Teilnehmer/in 50001
# What stands behind a comma at the end of a name, and is no first name.
SUFFIXES = ("jr", "sr", "jnr", "snr", "esq", "phd", "ii", "iii", "iv")
NAMED = "this list"  # marks rows of the list that is named
TEST_STUDENT = "Student, Test"  # of each Canvas course


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a class list, by columns in lower case.

    Raises TableError where no column names a student.
    """
    rows, columns, _ = tables.read(path)
    refuse_abroad(path.name, columns, list(rows[0].values()) if rows else [])
    if not {column.casefold() for column in columns} & set(NAMED_BY):
        raise tables.TableError(
            f"{path.name} has no column that names a student; it needs one of "
            f"{', '.join(NAMED_BY)}."
        )
    return [
        {column.casefold(): cell.strip() for column, cell in row.items()}
        for row in rows[:MOST_IDS]
        if not _points_possible(row) and row.get("Student", "").strip() != TEST_STUDENT
    ]


def refuse_abroad(name: str, columns: Sequence[str], first: Sequence[str]) -> None:
    """Raise TableError where a list is Moodle's worksheet with headings that are not English.

    `first` has the cells of its first line, by which participants are known.

    >>> refuse_abroad("list.csv", ["student", "Bewertung"], ["ada", "1"])
    >>> refuse_abroad("list.csv", ["ID", "Nom complet"], ["Participant 7", "Ada"])
    Traceback (most recent call last):
    ...
    handful_classroom.tables.TableError: list.csv is Moodle's grading worksheet in another language
    than English, by its columns ID, Nom complet; needed are Identifier, Full name, ...
    """
    heads = [column.casefold() for column in columns]
    if not any(map(_ABROAD.match, heads)):
        return
    numbered = bool(first and _PARTICIPANT.fullmatch(first[0].strip()))
    if "identifier" in heads or (numbered and heads[0] not in set(NAMED_BY) - {"id"}):
        raise tables.TableError(
            f"{name} is Moodle's grading worksheet in another language than English, by its "
            f"columns {tables.few(columns, 6)}; needed are {', '.join(WORKSHEET)}.  Set your "
            "language in Moodle to English and download the worksheet again."
        )


def system(rows: Iterable[Mapping[str, str]]) -> str:
    """Return whose export a list is: canvas, moodle, or class, which is no system's.

    >>> system([{"student": "Ada", "id": "7", "section": ""}]), system([{"login": "ada"}])
    ('canvas', 'class')
    """
    columns = {column for row in rows for column in row}
    return next((name for name, own in SYSTEMS.items() if columns & own), "class")


def kept(
    folder: Path, named: Path | None = None, students: Iterable[str] = ()
) -> dict[str, dict[str, str]]:
    """Return each name of a student with the row of all lists; keep the list that is named.

    Parameters
    ----------
    folder : Path
        A results folder, whose class-lists/ has the lists named before.
    named : Path or None
        A list, which takes the place of an earlier one of the same system.
    students : iterable of str
        The ids of all results.

    Raises
    ------
    TableError
        Where the list cannot be read, or has none of the students; it is not kept then.
    """
    if named is None:
        return by_name(joined(map(read, sorted((folder / KEPT).glob("*.csv")))))
    place, listed = together(folder, named, students)
    if named.resolve() != place.resolve():
        tables.write_atomically(place, named.read_bytes())
    return listed


def together(
    folder: Path, named: Path, students: Iterable[str]
) -> tuple[Path, dict[str, dict[str, str]]]:
    """Return where a list would be kept, and what `kept` returns then; write nothing.

    Raises TableError as `kept` does.
    """
    rows = [row | {NAMED: "yes"} for row in read(named)]
    place = folder / KEPT / f"{system(rows)}.csv"
    lists = {path: read(path) for path in (folder / KEPT).glob("*.csv") if path != place}
    listed = by_name(joined(some for _, some in sorted((lists | {place: rows}).items())))
    theirs = [listed_as(listed, student) for student in students]
    if theirs and not any(row and row.get(NAMED) for row in theirs):
        raise tables.TableError(
            f"{named.name} has none of the {plural(len(theirs), 'student')} in {folder}; "
            "nothing was written.  Give the list of this class."
        )
    return place, listed


def canvas_points(folder: Path, title: str) -> str:
    """Return the points that Canvas' gradebook, if one is kept, has for an assignment, or ""."""
    path = folder / KEPT / "canvas.csv"
    if not path.exists():
        return ""
    rows, columns, _ = tables.read(path)
    own = next((column for column in columns if is_column(column, title)), None)
    first = next((row for row in rows if _points_possible(row)), None)
    return first.get(own, "").strip() if own and first else ""


def canvas_columns(folder: Path, title: str) -> tuple[bool, list[str]]:
    """Return whether Canvas' gradebook, if one is kept, lacks an assignment, and what it has."""
    path = folder / KEPT / "canvas.csv"
    if not path.exists():
        return False, []
    columns = tables.read(path)[1]
    found = [column for column in columns if is_column(column, column.rpartition(" (")[0])]
    return not any(is_column(column, title) for column in found), found


def is_column(column: str, title: str) -> bool:
    """Return whether a column of Canvas' gradebook is an assignment's: its title and number.

    >>> is_column("Write the roofline (4711)", "Write the roofline"), is_column("Final", "Final")
    (True, False)
    """
    name, _, digits = column.rpartition(" (")
    return name.casefold() == title.casefold() and digits.rstrip(")").isdecimal()


def _points_possible(row: Mapping[str, str]) -> bool:
    """Return whether a row is Canvas' own, with the points of each assignment."""
    return row.get("Student", "").strip().startswith("Points Possible")


def joined(lists: Iterable[Iterable[Mapping[str, str]]]) -> list[dict[str, str]]:
    """Return the rows of several lists, those of one student as one.

    Two rows are one student's where an id of the school is the same in both.  Where two lists have
    no id in common at all, what stands before the @ of an e-mail address counts as a login; it is
    not taken otherwise, since students may change their address.

    >>> joined(
    ...     [
    ...         [{"id": "12", "sis login id": "ada"}, {"id": "13", "sis login id": "bob"}],
    ...         [{"identifier": "Participant 7", "email address": "ada@example.edu"}],
    ...     ]
    ... )[0]["identifier"]
    'Participant 7'
    """
    found: list[dict[str, str]] = []
    for rows in lists:
        more = [dict(row) for row in rows]
        same = _matches(found, more, _ids) or _matches(found, more, _logins)
        for row in more:
            if other := same.get(id(row)):
                other |= {column: cell for column, cell in row.items() if not other.get(column)}
            else:
                found.append(row)
    return found


def _matches(
    found: list[dict[str, str]],
    more: list[dict[str, str]],
    keys: Callable[[Mapping[str, str]], set[str]],
) -> dict[int, dict[str, str]]:
    """Return the rows of the first list that those of the second are, by the latter's identity."""
    known = _unique((key, row) for row in found for key in keys(row))
    theirs = _unique((key, row) for row in more for key in keys(row))
    same: dict[int, dict[str, str]] = {}
    for row in more:
        others = [
            other for key in keys(row) if (other := known.get(key)) and theirs.get(key) is row
        ]
        if others and all(other is others[0] for other in others):
            same[id(row)] = others[0]
    return same


def _ids(row: Mapping[str, str]) -> set[str]:
    # A teacher's own list calls the id `student`; in Canvas' export, with sections, that is a name.
    columns = SHARED if "section" in row else (*SHARED, "student")
    return {row[column].casefold() for column in columns if row.get(column)}


def _logins(row: Mapping[str, str]) -> set[str]:
    return {one.partition("@")[0] for one in _ids(row)}


def _unique(pairs: Iterable[tuple[str, dict[str, str]]]) -> dict[str, dict[str, str] | None]:
    """Return rows by key; None for a key of several."""
    found: dict[str, dict[str, str] | None] = {}
    for key, row in pairs:
        found[key] = row if found.get(key, row) is row else None
    return found


def by_name(rows: Iterable[dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return each name of a student with the row; a name that means two names neither."""
    rows = list(rows)
    keys = [key for key in NAMED_BY if any(row.get(key) for row in rows)]
    known: dict[str, dict[str, str]] = {}
    seen: set[str] = set()
    # Where there are ids beside it, this is a name, which students may change.
    names = {"student"} & set(keys) if len(keys) > 1 else set()
    for some in ([key for key in keys if key not in names], names):
        found = _unique(
            (name, row) for row in rows for name in {row.get(key, "") for key in some} - {""}
        )
        known |= {name: row for name, row in found.items() if row and name not in seen}
        seen |= found.keys()
    return known


def other_names(listed: Mapping[str, Mapping[str, str]], students: Iterable[str]) -> dict[str, str]:
    """Return the names of students in the lists, with the ids that they have in the results."""
    rows = {id(row): student for student in students if (row := listed_as(listed, student))}
    return {name: rows[id(row)] for name, row in listed.items() if id(row) in rows}


def full_name(row: Mapping[str, str]) -> str:
    """Return a student's full name from a list, the first name first, or "".

    Only the files that go back to Canvas and Moodle spell names as these do.

    >>> full_name({"student": "Lovelace, Ada", "section": ""}), full_name({"student": "ada"})
    ('Ada Lovelace', '')
    """
    if name := next((row[column] for column in FULL_NAMES if row.get(column)), ""):
        return _first_name_first(name)
    pair = [row.get(column, "") for column in ("first name", "last name")]
    if all(pair):
        return " ".join(pair)
    return _first_name_first(row.get("student", "")) if "section" in row else ""


def _first_name_first(name: str) -> str:
    """Return a name as it is said, also where it is written with the last name before a comma.

    >>> _first_name_first("Lovelace, Ada"), _first_name_first("King, Martin Luther, Jr.")
    ('Ada Lovelace', 'Martin Luther King, Jr.')
    >>> _first_name_first("Martin Luther King, Jr."), _first_name_first("Ada Lovelace")
    ('Martin Luther King, Jr.', 'Ada Lovelace')
    """
    last, *rest = (part.strip() for part in name.split(",", 2))
    if not all([last, *rest]) or not rest or rest[0].replace(".", "").casefold() in SUFFIXES:
        return name
    return ", ".join([f"{rest[0]} {last}", *rest[1:]])


def listed_as(listed: Mapping[str, Mapping[str, str]], student: str) -> Mapping[str, str] | None:
    """Return a student's row, found by any name in it or by Canvas' name for a download.

    Canvas calls a student's download by the name and the ID.

    Where these lead to two rows, which a student can bring about who takes such a name on the
    platform, there is none.

    >>> row = {"student": "Lovelace, Ada", "id": "12"}
    >>> listed_as({"12": row}, "lovelaceada_12") is row, listed_as({"12": row}, "byronada_12")
    (True, None)
    >>> listed_as(
    ...     {"12": row, "lovelaceada_12": {"student": "lovelaceada_12", "id": "13"}},
    ...     "lovelaceada_12",
    ... )
    """
    who, _, digits = student.rpartition("_")
    rows = [listed[student]] if student in listed else []
    for row in filter(None, map(listed.get, (digits, f"Participant {digits}") if who else ())):
        called = row.get("student") or row.get("full name") or ""
        if _letters(called) == _letters(who) and not any(row is other for other in rows):
            rows.append(row)
    return rows[0] if len(rows) == 1 else None


def _letters(name: str) -> list[str]:
    return sorted(letter for letter in name.casefold() if letter.isalnum())
