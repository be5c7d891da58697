"""Write the grades of a class: for a spreadsheet, Canvas, Moodle, Gradescope, and programs.

Every file is the same to the byte when nothing has changed.  What each system reads:

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

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from handful.units import plural

from .. import tables
from ..html_report import file_name, number
from . import adjustments, hand_edited, rubric, store
from .adjustments import TOTAL, Adjustments, Change, Late
from .rubric import Line
from .submissions import CAME_LATE

STATUSES = ("ok", "wrong", "missing", "error", "timeout", "killed", "ungradable")
# Columns by which the lists of a class, as LMSs export them, name a student.
CLASS_LIST = "class-list.csv"
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
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("Username", "ID number", "Email address")
MOST_IDS = 100_000
NOTHING_CHANGED = Adjustments()
TRACED = ("assignment", "edition", "library", "submission", "signature", "status")


def summary(total: float, possible: float, waiting: float = 0.0, answers: int = 1) -> str:
    """Return the sentence of a grade: points so far, and what waits for the teacher.

    The points are out of those given already, and `answers` is how many of the student's answers
    wait.

    >>> summary(7.5, 16, 4), summary(11.5, 16)
    ('7.5 of 12 points; your teacher reads the written answer, for up to 4 more.',
     '11.5 of 16 points.')
    """
    says = f"{number(total)} of {number(possible - waiting)} points"
    if not waiting:
        return f"{says}."
    return (
        f"{says}; your teacher reads the written answer{'s' if answers > 1 else ''}, for up "
        f"to {number(waiting)} more."
    )


@dataclass(frozen=True)
class Grade:
    """A student's result, with the points of the rubric and what the teacher changed."""

    result: Mapping
    lines: tuple[Line, ...] = ()
    changes: tuple[Change, ...] = ()
    late: Late | None = None

    @property
    def student(self) -> str:
        """Return the student's id."""
        return self.result["student"]

    @property
    def points(self) -> float:
        """Return the points from the checks."""
        return float(self.result["points"])

    @property
    def rubric(self) -> float:
        """Return the points from the teacher."""
        return round(sum(line.points or 0 for line in self.lines), 2)

    @property
    def excused(self) -> bool:
        """Return whether the teacher excused the student: there is no grade then."""
        return any(change.kind == "excused" for change in self.changes)

    @property
    def set_total(self) -> float | None:
        """Return the total that the teacher set, None where none was."""
        return next((one.points for one in self._of(TOTAL) if one.kind == "set"), None)

    def _of(self, question: str) -> list[Change]:
        return [change for change in self.changes if change.question == question]

    @property
    def waiting(self) -> float:
        """Return the possible points of rubric lines that the teacher has not filled.

        Those of a question or a total that the teacher set do not wait.
        """
        if self.set_total is not None:
            return 0.0
        given = {change.question for change in self.changes if change.kind == "set"}
        return round(
            sum(
                line.possible
                for line in self.lines
                if line.points is None and line.question not in given
            ),
            2,
        )

    @property
    def penalty(self) -> float:
        """Return the points that lateness costs; none of a total that the teacher set."""
        late = self.late.penalty if self.late and self.set_total is None else 0.0
        return min(late, max(0.0, self._before_penalty))

    @property
    def _before_penalty(self) -> float:
        added = sum(change.points for change in self._of(TOTAL) if change.kind == "add")
        if self.set_total is not None:
            return self.set_total + added
        return added + sum(self._so_far(part) for part in self.result["questions"])

    def _so_far(self, part: Mapping) -> float:
        """Return a question's points, or those of the rubric lines filled by now."""
        points = question_points(self, part["name"])
        if points is not None:
            return points
        return sum(line.points or 0 for line in self.lines if line.question == part["name"])

    @property
    def total(self) -> float:
        """Return the points from checks and teacher, with all changes, never below 0."""
        return round(max(0.0, self._before_penalty - self.penalty), 2)

    @property
    def adjusted(self) -> float:
        """Return what the teacher's changes come to, without lateness."""
        return round(self.total + self.penalty - self.points - self.rubric, 2)

    @property
    def possible(self) -> float:
        """Return all points of the assignment, those of the rubric included."""
        return round(float(self.result["possible"]) + float(self.result["waiting"]), 2)

    @property
    def handed_in(self) -> bool:
        """Return whether anything was handed in."""
        return bool(self.result["submission"])

    @property
    def graded(self) -> bool:
        """Return whether there is a grade at all.

        Something came that could be read, or the teacher set a total; and nobody is excused.
        """
        read = self.handed_in and self.result["status"] != "ungradable"
        return (read or self.set_total is not None) and not self.excused

    @property
    def final(self) -> bool:
        """Return whether the grade is complete: graded, and nothing waits for the teacher."""
        return self.graded and not self.waiting

    @property
    def notes(self) -> list[str]:
        """Return what the teacher changed, in sentences that begin with what they are about."""
        said = [
            change.says if change.question == TOTAL else f"{change.question}: {change.says}"
            for change in self.changes
        ]
        late = self.late.says if self.late and self.set_total is None else ""
        return [*said, *filter(None, [late])]

    @property
    def says(self) -> str:
        """Return the sentence of this grade, or the reason why there is none."""
        if self.excused:
            return next(change.says for change in self.changes if change.kind == "excused")
        return " ".join([self.sum_says, *self.notes]) if self.graded else self.sum_says

    @property
    def sum_says(self) -> str:
        """Return the sentence of the points alone, or the reason why there are none."""
        if not self.graded:
            return str(self.result["says"])
        return summary(
            self.total,
            self.possible,
            self.waiting,
            len({line.question for line in self.lines if line.points is None}),
        )


def gather(
    results: Iterable[Mapping],
    lines: Iterable[Line],
    adjusted: Adjustments = NOTHING_CHANGED,
    listed: Mapping[str, Mapping[str, str]] = {},
) -> list[Grade]:
    """Combine results with rubric lines and the teacher's changes, in the order of the results.

    `listed` is the class list, whose column Status says in Moodle how late a submission came.
    """
    own: dict[str, list[Line]] = {}
    for line in lines:
        own.setdefault(line.student, []).append(line)
    found = []
    for result in results:
        student = result["student"]
        grade = Grade(result, tuple(own.get(student, ())), adjusted.of(student))
        by = adjustments.late_in((listed_as(listed, student) or {}).get("status", ""))
        late = by is not None or CAME_LATE in result["notices"]
        found.append(
            replace(grade, late=adjusted.lateness(student, late, by, grade.possible))
            if grade.handed_in
            else grade
        )
    return found


def question_points(grade: Grade, name: str, changed: bool = True) -> float | None:
    """Return the points of one question, with the teacher's changes or without.

    They are None where some of the teacher's are missing, or the question was not graded.
    """
    part = next((part for part in grade.result["questions"] if part["name"] == name), None)
    if part is None:
        return None
    raw = _raw_points(grade, part)
    return _changed(grade, part, raw) if changed else raw


def _raw_points(grade: Grade, part: Mapping) -> float | None:
    if part["status"] != "waiting":
        return float(part["points"])
    own = [line.points for line in grade.lines if line.question == part["name"]]
    filled = [points for points in own if points is not None]
    return round(sum(filled), 2) if own and len(filled) == len(own) else None


def _changed(grade: Grade, part: Mapping, points: float | None) -> float | None:
    """Return a question's points with the teacher's changes, from none to all of them."""
    most = float(part["possible"]) or sum(
        line.possible for line in grade.lines if line.question == part["name"]
    )
    for change in grade.changes:
        if change.question != part["name"]:
            continue
        if change.kind == "set":
            points = change.points
        elif points is not None:
            points = min(max(0.0, points + change.points), most)
    return None if points is None else round(points, 2)


def question_says(grade: Grade, part: Mapping) -> str:
    """Return what is said of one question, and what the teacher changed about it.

    Where the teacher has read the answer, that is the points of each line of the rubric.
    """
    if part["status"] != "waiting" or question_points(grade, part["name"]) is None:
        says = str(part["says"] or "")
    else:
        says = "\n".join(
            f"{number(line.points)} of {number(line.possible)}: "
            f"{line.text}{f' ({line.comment})' if line.comment else ''}"
            for line in grade.lines
            if line.question == part["name"] and line.points is not None
        )
    changes = [change.says for change in grade.changes if change.question == part["name"]]
    return "\n".join(filter(None, [says, *changes]))


def class_list(path: Path) -> dict[str, dict[str, str]]:
    """Read a class list from an LMS, and return each name of a student with its row.

    Raises
    ------
    TableError
        Where no column names a student, or one name means two.
    """
    rows, columns, _ = tables.read(path)
    rows = [{column.casefold(): cell.strip() for column, cell in row.items()} for row in rows]
    keys = [key for key in NAMED_BY if key in {column.casefold() for column in columns}]
    if not keys:
        raise tables.TableError(
            f"{path.name} has no column that names a student; it needs one of "
            f"{', '.join(NAMED_BY)}."
        )
    known: dict[str, dict[str, str]] = {}
    seen: set[str] = set()
    # Where there are ids beside it, this is a name, which students may change.
    names = {"student"} & set(keys) if len(keys) > 1 else set()
    for some in ([key for key in keys if key not in names], names):
        found: dict[str, dict[str, str] | None] = {}
        for row in rows[:MOST_IDS]:
            for name in {row.get(key, "") for key in some} - {""}:
                # An ID of one that is the login of another names neither.
                found[name] = row if found.get(name, row) is row else None
        known |= {name: row for name, row in found.items() if row and name not in seen}
        seen |= found.keys()
    return known


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


# The files ----------------------------------------------------------------------------------------


def write(
    folder: Path,
    assignment,
    results: Iterable[Mapping] | None = None,
    roster: Path | None = None,
    partial: bool = False,
) -> tuple[list[Grade], list[str]]:
    """Write rubric.csv with its sheets, grades.csv, and the folder lms.

    Returns the grades, and sentences about what to know.

    Parameters
    ----------
    folder : Path
        Where results/ is; the files are put beside it.
    assignment
        The assignment, for its questions and their rubrics.
    results : iterable of mappings, optional
        One result for each student; by default those of the class as last graded.
    roster : Path, optional
        A list of the class as the LMS exports it, so that its own ids stand in the files for it.
        It is kept as class-list.csv, and serves again where none is named.
    partial : bool
        Give an LMS the points so far, too, where rubric lines are still to be filled.
    """
    roster = _kept_list(folder, roster)
    listed = class_list(roster) if roster else {}
    results = list(store.results(folder) if results is None else results)
    students = [result["student"] for result in results]
    adjusted = adjustments.read(folder, assignment, students, _names(listed, students))
    lines, notes = rubric.write(folder, assignment, results)
    grades = gather(results, lines, adjusted, listed)
    notes += _late_notes(grades, adjusted)
    notes += _unsuited(grades)
    if old := sum(result["edition"] != assignment.edition for result in results):
        notes.append(
            f"{old} of {len(results)} results are of another edition of {assignment.name} than "
            "the source has now; grade again."
        )
    notes += _editions(assignment, results)
    notes += hand_edited.write(folder, as_table(assignment, grades))
    lms = folder / "lms"
    unknown = dict.fromkeys(
        grade.student for grade in grades if listed and listed_as(listed, grade.student) is None
    )
    tables.write_atomically(lms / "canvas.csv", canvas(assignment, grades, listed, partial))
    tables.write_atomically(
        lms / "moodle.csv",
        moodle(
            assignment, [grade for grade in grades if grade.student not in unknown], listed, partial
        ),
    )
    tables.write_atomically(lms / "grades.json", as_json(assignment, grades))
    for grade in grades:
        tables.write_atomically(
            lms / "gradescope" / file_name(grade.student) / "results.json", gradescope(grade)
        )
    waits = sum(grade.graded and not grade.final for grade in grades)
    if waits:
        how = (
            "stand there with their points so far"
            if partial
            else f"are left empty in the files for an LMS until {rubric.NAME} is filled"
        )
        notes.append(f"{waits} of {len(grades)} students wait for points by rubric; they {how}.")
    if unknown and roster:
        notes.append(
            f"{len(unknown)} of {len(grades)} students are not in {roster.name}, and left out for "
            "Moodle, "
            "which would refuse the whole file: "
            f"{', '.join([*unknown][:5])}{' …' if len(unknown) > 5 else ''}."
        )
    return grades, notes


def _kept_list(folder: Path, roster: Path | None) -> Path | None:
    """Return the class list that counts: the one that is named, else the one named last."""
    kept = folder / CLASS_LIST
    if roster is None:
        return kept if kept.exists() else None
    if roster.resolve() != kept.resolve():
        class_list(roster)  # one that cannot be read is not kept
        tables.write_atomically(kept, roster.read_bytes())
    return roster


def _names(listed: Mapping[str, Mapping[str, str]], students: Iterable[str]) -> dict[str, str]:
    """Return the other names of students, as the class list has them, with their ids."""
    rows = {id(row): student for student in students if (row := listed_as(listed, student))}
    return {name: rows[id(row)] for name, row in listed.items() if id(row) in rows}


def _late_notes(grades: Sequence[Grade], adjusted: Adjustments) -> list[str]:
    """Return sentences about late work for which the teacher's table says too little."""
    late = [grade for grade in grades if grade.late and grade.late.days]
    unknown = [grade for grade in late if grade.late and grade.late.seconds is None]
    if not late:
        return []
    if adjusted.rule is None:
        return [
            f"{plural(len(late), 'submission')} came late, and nothing is taken off: "
            f"{adjustments.NAME} has no rule for that, such as the row *,late,10% a day."
        ]
    if not unknown:
        return []
    who = ", ".join(grade.student for grade in unknown[:5])
    return [
        f"{plural(len(unknown), 'file')} came late by {'its name' if len(unknown) == 1 else 'name'}"
        f", which does not say by how much, and counts as one day: {who}"
        f"{' …' if len(unknown) > 5 else ''}.  A row such as {unknown[0].student},late,2 days in "
        f"{adjustments.NAME} says more."
    ]


def _unsuited(grades: Iterable[Grade]) -> list[str]:
    """Return sentences about a student's rows that change less than they say, or nothing."""
    notes = []
    for grade in grades:
        parts = {part["name"]: part for part in grade.result["questions"]}
        for change in grade.changes:
            where = f"{adjustments.NAME}, row {change.row}"
            if change.everybody or change.kind == "excused":
                continue
            if change.question != TOTAL and change.question not in parts:
                notes.append(
                    f"{where} does not count: nothing of {grade.student}'s was graded question by "
                    "question; a row about the total, such as 'to 5', gives a grade."
                )
            elif change.question == TOTAL and change.kind == "add" and not grade.graded:
                notes.append(
                    f"{where} does not count: {grade.student} has no grade to change; 'to 5' gives "
                    "one."
                )
            elif change.question != TOTAL and change.kind == "add":
                points = question_points(grade, change.question)
                raw = question_points(grade, change.question, changed=False)
                asked = sum(one.points for one in grade.changes if one.question == change.question)
                sets = any(
                    one.kind == "set" for one in grade.changes if one.question == change.question
                )
                if raw is None or points is None or sets or round(raw + asked, 2) == points:
                    continue
                notes.append(
                    f"{where}: {change.question} of {grade.student} stays within its "
                    f"points and becomes {number(points)}, not {number(raw + asked)}."
                )
    return notes


def _editions(assignment, results: Sequence[Mapping]) -> list[str]:
    """Return sentences about notebooks of other editions, and about those with other inputs.

    Other inputs are those that a notebook shows and was not graded by.
    """
    another = [
        result
        for result in results
        if result.get("notebook_edition") not in (None, result["edition"])
    ]
    differ = [
        result for result in results if result.get("inputs") == "other" and result not in another
    ]
    notes = []
    if another:
        editions = sorted({result["notebook_edition"] for result in another})
        apart = sum(result.get("inputs") not in ("own", "same") for result in another)
        are, graded = (
            ("is", "it was graded by the inputs of its")
            if len(another) == 1
            else ("are", "they were graded by the inputs of their")
        )
        how = (
            f"{graded} own edition."
            if not apart
            else f"{apart} of them {'was' if apart == 1 else 'were'} graded by inputs that may "
            "not be theirs, as each notice says; "
            "grade again with --earlier and the source of that edition."
        )
        notes.append(
            f"{len(another)} of {len(results)} notebooks {are} of another edition of "
            f"{assignment.name} than the source has now "
            f"({', '.join(editions[:3])}{' …' if len(editions) > 3 else ''}); {how}"
        )
    if differ:
        notes.append(
            f"{len(differ)} of {len(results)} notebooks {'shows' if len(differ) == 1 else 'show'} "
            "other inputs than those "
            "used in grading; each notice says which."
        )
    return notes


def as_table(assignment, grades: Iterable[Grade]) -> bytes:
    """Return grades.csv, for a spreadsheet."""
    names = list(assignment.questions)
    head = [
        "student",
        "status",
        "points",
        "possible",
        "waiting",
        "rubric points",
        "adjusted",
        "late",
        "total",
        "out of",
        *names,
        "misconceptions",
        "notices",
        "adjustments",
        "submission",
    ]
    rows = []
    for grade in grades:
        result = grade.result
        misconceptions = [
            f"{part['name']}: {part['turn']}" for part in result["questions"] if part.get("turn")
        ]
        each = (question_points(grade, name) for name in names)
        rows.append(
            [
                grade.student,
                result["status"],
                number(grade.points),
                number(result["possible"]),
                number(grade.waiting),
                number(grade.rubric) if grade.lines else "",
                grade.adjusted or "",
                -grade.penalty or "",
                "excused" if grade.excused else number(grade.total),
                number(grade.possible),
                *("" if value is None else number(value) for value in each),
                "; ".join(misconceptions),
                tables.one_line("; ".join(map(str, result["notices"]))),
                " ".join(grade.notes),
                result["submission"] or "",
            ]
        )
    return tables.as_csv(head, rows, mark=True)


def _mark(grade: Grade, partial: bool, none: str, excused: str) -> str:
    """Return a grade for an LMS, or `none` (not 0) where nothing came or could be read."""
    if grade.excused:
        return excused
    return number(grade.total) if grade.final or (partial and grade.graded) else none


def canvas(
    assignment,
    grades: Iterable[Grade],
    listed: Mapping[str, Mapping[str, str]] = {},
    partial: bool = False,
) -> bytes:
    """Return the gradebook CSV for Canvas.

    Its importer looks for line ends before it parses, so that no cell may hold one.
    """
    head = [*CANVAS, tables.one_line(assignment.title)]
    rows = [["    Points Possible", "", "", "", "", number(_possible(assignment))]]
    for grade in grades:
        row = listed_as(listed, grade.student) or {}
        who = [row.get(column.casefold(), "") for column in CANVAS]
        if not any(who[1:4]):  # a list that is none of Canvas'
            who = [row.get("name") or grade.student, "", "", grade.student, ""]
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
                tables.one_line(grade.says),
            ]
        )
    return tables.as_csv(
        [*(keys or ["Username"]), tables.one_line(assignment.title), "Feedback comments"], rows
    )


def _possible(assignment) -> float:
    return round(sum(float(question.points) for question in assignment.questions.values()), 2)


def gradescope(grade: Grade) -> bytes:
    """Return results.json of one student; a question that waits for the teacher is no test yet."""
    result = grade.result
    tests, waiting = [], []
    for part in result["questions"]:
        points = question_points(grade, part["name"])
        if points is None:
            waiting.append(part["asks"])
            continue
        possible = float(part["possible"]) or sum(
            line.possible for line in grade.lines if line.question == part["name"]
        )
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
        *map(str, result["notices"]),
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


def as_json(assignment, grades: Iterable[Grade]) -> bytes:
    """Return everything in the table as JSON, for programs; no cell is neutralised."""
    made = [
        {
            "student": grade.student,
            "status": grade.result["status"],
            "says": grade.says,
            "points": grade.points,
            "rubric": grade.rubric,
            "waiting": grade.waiting,
            "total": grade.total,
            "possible": grade.possible,
            "final": grade.final,
            "excused": grade.excused,
            "adjusted": grade.adjusted,
            "late": -grade.penalty,
            "adjustments": grade.notes,
            "questions": {
                part["name"]: question_points(grade, part["name"])
                for part in grade.result["questions"]
            },
            "turns": {
                part["name"]: part["turn"] for part in grade.result["questions"] if part.get("turn")
            },
            "notices": list(grade.result["notices"]),
            "submission": grade.result["submission"],
        }
        for grade in grades
    ]
    return _dumped(
        {
            "assignment": assignment.name,
            "title": assignment.title,
            "possible": _possible(assignment),
            "grades": made,
        }
    )


def _dumped(value) -> bytes:
    text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"  # half of a surrogate pair is no character
