"""Write the files of grades that Canvas, Moodle, Gradescope and programs read.

What each system reads:

* Canvas takes the columns of its own gradebook export, a second row ``Points Possible``, and finds
  a student by ``ID``, else by the SIS columns, else by name; an empty cell changes nothing, and
  ``EX`` excuses.
  (``lib/gradebook_importer.rb`` in instructure/canvas-lms.)
* Moodle asks which column names the user; one unknown user stops its whole import; ``-`` is no
  grade.  Where feedback is imported, the grade has to be imported with it.  (docs.moodle.org, Grade
  import; ``grade/import/csv`` in moodle/moodle.)
* Gradescope reads ``results.json`` of one submission.  (gradescope-autograders.readthedocs.io,
  specs.)
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from handful.units import plural

from .. import tables
from ..html_report import file_name, number
from ..tables import few
from . import class_lists
from .class_lists import listed_as
from .student_grade import Grade, most, question_points, question_says

# Columns of Moodle's grading worksheet, as it writes them: Grade, and those that name or describe.
WORKSHEET = {
    name.casefold(): name
    for name in (
        "Identifier",
        "Full name",
        "ID number",
        "Email address",
        "Status",
        "Grade",
        "Maximum Grade",
        "Grade can be changed",
        "Last modified (submission)",
        "Last modified (grade)",
        "Feedback comments",
    )
}
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("Username", "ID number", "Email address")

TRACED = ("assignment", "edition", "library", "submission", "signature", "status")


def write(
    folder: Path,
    assignment,
    grades: Sequence[Grade],
    whole: Iterable[Grade],
    listed: Mapping[str, Mapping[str, str]] = {},
    partial: bool = False,
) -> None:
    """Write all files into a folder; `whole` has the same grades, each with all of its result."""
    of_canvas = _known_to(_has_canvas_id, grades, listed)
    tables.write_atomically(folder / "canvas.csv", canvas(assignment, of_canvas, listed, partial))
    of_moodle = _known_to(_has_moodles_id, grades, listed)
    tables.write_atomically(folder / "moodle.csv", moodle(assignment, of_moodle, listed, partial))
    if sheet := worksheet(of_moodle, listed, partial):
        tables.write_atomically(folder / "moodle-worksheet.csv", sheet)
    tables.write_atomically(folder / "grades.json", as_json(assignment, grades, listed))
    made = set()
    for grade in whole:
        made.add(folder / "gradescope" / file_name(grade.student) / "results.json")
        tables.write_atomically(
            folder / "gradescope" / file_name(grade.student) / "results.json", gradescope(grade)
        )
    tables.remove_others((folder / "gradescope").glob("*/results.json"), made)


def _known_to(
    known: Callable[[Mapping[str, str]], bool],
    grades: Sequence[Grade],
    listed: Mapping[str, Mapping[str, str]],
) -> list[Grade]:
    """Return the grades of those whom a system knows, by its list; of all where none was given.

    One user whom Moodle does not know stops its whole import.
    """
    ids = any(map(known, listed.values()))
    return [
        one
        for one in grades
        if not listed or ((row := listed_as(listed, one.student)) and (not ids or known(row)))
    ]


def _has_moodles_id(row: Mapping[str, str]) -> bool:
    return any(row.get(key.casefold()) for key in MOODLE)


def _has_canvas_id(row: Mapping[str, str]) -> bool:
    return "section" in row and any(row.get(key.casefold()) for key in CANVAS[1:4])


def _mark(grade: Grade, partial: bool, none: str, excused: str) -> str:
    """Return a grade for an LMS, or `none` (not 0) where nothing came or could be read."""
    if grade.excused:
        return excused
    return number(grade.total) if grade.final or (partial and grade.graded) else none


def _comment(grade: Grade, partial: bool) -> str:
    """Return the comment beside a grade, "" where the grade still waits for the teacher."""
    waits = grade.graded and not grade.final and not partial
    return "" if waits else tables.one_line(grade.says)


def canvas(
    assignment,
    grades: Iterable[Grade],
    listed: Mapping[str, Mapping[str, str]] = {},
    partial: bool = False,
) -> bytes:
    """Return the gradebook CSV for Canvas.

    Its importer looks for line ends before it parses, so that no cell may hold one.
    """
    title = tables.one_line(assignment.title)
    columns = dict.fromkeys(column for row in listed.values() for column in row)
    # An assignment that is there already is called by its title and number in Canvas' own export.
    own = next((column for column in columns if class_lists.is_column(column, title)), "")
    head = [*CANVAS, f"{title}{own[len(title) :]}" if own else title]
    rows = [["    Points Possible", "", "", "", "", number(_possible(assignment))]]
    for grade in grades:
        row = listed_as(listed, grade.student) or {}
        who = [row.get(column.casefold(), "") for column in CANVAS]
        if not any(who[1:4]):  # a list that is none of Canvas'
            who = [class_lists.full_name(row) or grade.student, "", "", grade.student, ""]
        rows.append([*map(tables.one_line, who), _mark(grade, partial, "", "EX")])
    return tables.as_csv(head, rows)


def moodle(
    assignment,
    grades: Iterable[Grade],
    listed: Mapping[str, Mapping[str, str]] = {},
    partial: bool = False,
) -> bytes:
    """Return the CSV for Moodle's grade import: who, the grade, and a line of feedback."""
    keys = [key for key in MOODLE if any(row.get(key.casefold()) for row in listed.values())]
    rows = []
    for grade in grades:
        row = listed_as(listed, grade.student) or {}
        who = [row.get(key.casefold(), "") for key in keys] if keys else [grade.student]
        rows.append(
            [
                *map(tables.one_line, who),
                _mark(grade, partial, "-", "-"),
                _comment(grade, partial),
            ]
        )
    return tables.as_csv(
        [*(keys or ["Username"]), tables.one_line(assignment.title), "Feedback comments"], rows
    )


def worksheet(
    grades: Iterable[Grade], listed: Mapping[str, Mapping[str, str]], partial: bool = False
) -> bytes:
    """Return Moodle's grading worksheet with the grades filled in, b"" where none was given.

    It goes back to where it was downloaded: the assignment, Upload grading worksheet.
    """
    rows = {id(row): row for row in listed.values() if row.get("identifier") and "grade" in row}
    if not rows:
        return b""
    grade_of = {id(listed_as(listed, grade.student)): grade for grade in grades}
    columns = [
        column for column in next(iter(rows.values())) if column in WORKSHEET or column == "grade"
    ]
    head = [WORKSHEET.get(column, column) for column in columns]
    if "feedback comments" not in columns:
        columns, head = [*columns, "feedback comments"], [*head, "Feedback comments"]
    made = []
    for key, row in rows.items():
        grade = grade_of.get(key)
        filled = dict(row)
        if grade is not None:
            filled["grade"] = _mark(grade, partial, row["grade"], row["grade"])
            if grade.final or partial or not grade.graded:
                filled["feedback comments"] = _comment(grade, partial)
        made.append([tables.one_line(filled.get(column, "")) for column in columns])
    return tables.as_csv(head, made)


def _possible(assignment) -> float:
    return round(sum(float(question.points) for question in assignment.questions.values()), 2)


def gradescope(grade: Grade) -> bytes:
    """Return results.json of one student; a question that waits for the teacher is no test yet."""
    result = grade.result
    tests, waiting = [], []
    for part in result["questions"]:
        points = question_points(grade, part["name"])
        if part["name"] in grade.left_out:
            continue
        if points is None:
            waiting.append(part["asks"])
            continue
        possible = most(grade, part)
        tests.append(
            {
                "name": part["name"],
                "score": points,
                "max_score": possible,
                "status": "passed" if points >= possible else "failed",
                "output": question_says(grade, part),
                "output_format": "text",
                "visibility": "visible",
            }
        )
    says = [
        grade.says,
        *grade.notices,
        *(f"Waits for your teacher: {asks}." for asks in waiting),
    ]
    made = {
        "score": grade.total,
        "output": "\n".join(filter(None, says)),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {key: result[key] for key in TRACED if key in result},
    }
    return _dumped(made)


def as_json(
    assignment, grades: Sequence[Grade], listed: Mapping[str, Mapping[str, str]] = {}
) -> bytes:
    """Return everything in the table as JSON, for programs; no cell is neutralised."""
    about = {
        "assignment": assignment.name,
        "title": assignment.title,
        "possible": _possible(assignment),
        "grades": [],
    }
    head, key, tail = _dumped(about).partition(b'"grades": [')
    out, between = io.BytesIO(), b"\n  "
    out.write(head + key)
    for grade in grades:  # each is text at once: all as values would take several times as much
        out.write(between + _dumped(_for_programs(grade, listed))[:-1].replace(b"\n", b"\n  "))
        between = b",\n  "
    out.write((b"\n " if grades else b"") + tail)
    return out.getvalue()


def _for_programs(grade: Grade, listed: Mapping[str, Mapping[str, str]]) -> dict:
    return {
        "student": grade.student,
        "status": grade.result["status"],
        "says": grade.says,
        "checks": grade.points,
        "rubric": grade.rubric,
        "waiting": grade.waiting,
        "total": grade.total if grade.graded else None,
        "possible": grade.possible,
        "final": grade.final,
        "canvas_id": (listed_as(listed, grade.student) or {}).get("id", ""),
        "excused": grade.excused,
        "adjusted": grade.adjusted,
        "late": -grade.penalty or 0.0,  # not -0.0
        "adjustments": grade.notes,
        "questions": {
            part["name"]: question_points(grade, part["name"]) for part in grade.result["questions"]
        },
        "turns": {
            part["name"]: part["turn"] for part in grade.result["questions"] if part.get("turn")
        },
        "notices": list(grade.result["notices"]),
        "submission": grade.result["submission"],
    }


def _dumped(value) -> bytes:
    text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"  # half of a surrogate pair is no character


def lists_say(
    folder: Path, assignment, grades: Sequence[Grade], listed: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Return what the class lists lack for the files of an LMS."""
    if not listed:
        if not any(grade.student.rpartition("_")[2].isdecimal() for grade in grades):
            return []
        return [
            "No class list was given: the files in lms/ call students as the download's files are "
            "called, and neither Canvas nor Moodle could import them.  --class-list takes the "
            "gradebook or the participants as your system exports them."
        ]
    rows = [(grade.student, listed_as(listed, grade.student)) for grade in grades]
    notes = []
    if unknown := [student for student, row in rows if row is None]:
        notes.append(
            f"{_of(unknown, grades)} not in the class list, and in no file for Canvas or Moodle: "
            f"{few(unknown)}."
        )
    theirs = {id(row) for _, row in rows}
    absent = {id(row): row for row in listed.values() if id(row) not in theirs}
    notes += _in_two_lists(rows, absent)
    notes += _without_id_number(rows)
    if absent:
        called = [
            class_lists.full_name(row) or next(iter(filter(None, row.values())), "")
            for row in absent.values()
        ]
        notes.append(
            f"{plural(len(called), 'student')} of the class list "
            f"{'is' if len(called) == 1 else 'are'} not among the results, and in no file here: "
            f"{few(called)}.  'handful assign grade' with that list as --roster has them too."
        )
    has_moodle = any(row.get("identifier") for row in listed.values())
    lacking = [student for student, row in rows if row is not None and not row.get("identifier")]
    if has_moodle and lacking:
        notes.append(
            f"{_of(lacking, grades)} not in Moodle's list, by any id that both lists have: "
            f"{few(lacking)}."
        )
    lacks, columns = class_lists.canvas_columns(folder, assignment.title)
    if lacks:
        has = f" (it has {few(columns)})" if columns else ""
        notes.append(
            f"Canvas' gradebook has no assignment {assignment.title!r}{has}, so that Canvas would "
            "make a new one of lms/canvas.csv.  Give it that title there, export the gradebook "
            "again and name it with --class-list."
        )
    theirs_possible = class_lists.canvas_points(folder, assignment.title)
    if theirs_possible and not _is_number(theirs_possible, _possible(assignment)):
        notes.append(
            f"Canvas has {assignment.title} with {theirs_possible} points, and {assignment.name} "
            f"has {number(_possible(assignment))}: change it there before you import."
        )
    highest = {row["maximum grade"] for row in listed.values() if row.get("maximum grade")}
    wrong = [text for text in highest if not _is_number(text, _possible(assignment))]
    if wrong:
        notes.append(
            f"Moodle's Maximum Grade is {wrong[0]}, and {assignment.name} has "
            f"{number(_possible(assignment))} points: set it there before you import."
        )
    return notes


def _in_two_lists(
    rows: Sequence[tuple[str, Mapping[str, str] | None]], absent: dict[int, Mapping[str, str]]
) -> list[str]:
    """Return who seems to stand in two lists with no id in common; take them from the absent."""
    named: dict[str, list[int]] = {}
    for key, row in absent.items():
        named.setdefault(class_lists.full_name(row).casefold(), []).append(key)
    told = []
    for student, own in rows:
        called = class_lists.full_name(own).casefold() if own else ""
        same = named.get(called, []) if called else []
        if own and len(same) == 1 and ("section" in own) != ("section" in absent[same[0]]):
            one_system = "Canvas" if "section" in own else "Moodle"
            told.append(f"{student} (in the files for {one_system} alone)")
            del absent[same.pop()]
    if not told:
        return []
    return [
        f"By name, {few(told)} {'stands' if len(told) == 1 else 'stand'} in both class lists, and "
        "by no id that is the same in both.  Write the id, such as an ID number, into the list "
        "that lacks it, and give that list again with --class-list."
    ]


def _without_id_number(rows: Sequence[tuple[str, Mapping[str, str] | None]]) -> list[str]:
    """Return who has no ID number in Moodle, by which its import cannot name them."""
    known = [(student, row) for student, row in rows if row and row.get("identifier")]
    lacking = [student for student, row in known if not row.get("id number")]
    if not lacking or len(lacking) == len(known):
        return []
    return [
        f"{few(lacking)} {'has' if len(lacking) == 1 else 'have'} no ID number in Moodle's list: "
        "let Moodle know users by the column Email address where you import lms/moodle.csv, since "
        "one whom it does not know stops the import."
    ]


def _of(some: Sequence[str], grades: Sequence[Grade]) -> str:
    """Return how many of all students these are, with the verb that follows."""
    all_of_them = plural(len(grades), "student")
    return f"{len(some)} of {all_of_them} {'is' if len(some) == 1 else 'are'}"


def _is_number(text: str, value: float) -> bool:
    try:
        return float(text.replace(",", ".")) == value
    except ValueError:
        return False
