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

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from handful.units import plural

from .. import tables
from ..html_report import file_name, number
from . import adjustments, class_lists, hand_edited, rubric, store
from .adjustments import TOTAL, Adjustments, Change, Late
from .class_lists import listed_as
from .rubric import Line
from .submissions import CAME_LATE

STATUSES = ("ok", "wrong", "missing", "error", "timeout", "killed", "ungradable")
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
ANOTHER_EDITION = "This notebook is of another edition"  # how a notice begins
NOTHING_CHANGED = Adjustments()
# What the tables of a class need of a result and of each question; other texts are a page's alone.
BRIEF = (
    "student",
    "status",
    "submission",
    "edition",
    "library",
    "notebook_edition",
    "inputs",
    "points",
    "possible",
    "waiting",
    "notices",
    "says",
)
BRIEF_QUESTION = ("name", "status", "points", "possible", "turn")
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


@dataclass(frozen=True, slots=True)
class Grade:
    """A student's result, with the points of the rubric and what the teacher changed.

    The result is whole, or as `brief` leaves it.
    """

    result: Mapping
    lines: tuple[Line, ...] = ()
    changes: tuple[Change, ...] = ()
    late: Late | None = None
    stale: bool = False  # graded by another edition than others of the class

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
        return min(late, max(0.0, self.before_penalty))

    @property
    def before_penalty(self) -> float:
        """Return the points with all changes, before lateness is counted."""
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
        return round(max(0.0, self.before_penalty - self.penalty), 2)

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
        """Return whether the grade is complete: nothing waits, and the edition is the others'."""
        return self.graded and not self.waiting and not self.stale

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


def brief(results: Iterable[Mapping]) -> Iterator[dict]:
    """Yield of each result what the tables of a class need: about a kilobyte.

    What several students have alike, such as a question's outcome, is the same object in all.
    """
    alike: dict = {}
    for result in results:
        made = {name: result[name] for name in BRIEF if name in result}
        for name in ("status", "edition", "library", "notebook_edition", "inputs", "says"):
            if name in made:
                made[name] = alike.setdefault(made[name], made[name])
        made["questions"] = [
            alike.setdefault(tuple(part.items()), part)
            for part in (
                {name: part.get(name) for name in BRIEF_QUESTION} for part in result["questions"]
            )
        ]
        yield made


def with_results(grades: Iterable[Grade], results: Iterable[Mapping]) -> Iterator[Grade]:
    """Yield brief grades one by one, each with all of its result; both are in the same order."""
    for grade, result in zip(grades, results, strict=True):
        yield replace(grade, result=result)


def gather(
    results: Iterable[Mapping],
    lines: Iterable[Line],
    adjusted: Adjustments = NOTHING_CHANGED,
    listed: Mapping[str, Mapping[str, str]] = {},
    tell: Callable[[str], None] = lambda note: None,
) -> list[Grade]:
    """Combine results with rubric lines and the teacher's changes, in the order of the results.

    `listed` is the class list, whose column Status says in Moodle how late a submission came;
    `tell` is called with a sentence for each change that does not count, or not in full.
    """
    own: dict[str, list[Line]] = {}
    for line in lines:
        own.setdefault(line.student, []).append(line)
    found = []
    for result in results:
        student = result["student"]
        grade = Grade(result, tuple(own.get(student, ())))
        by = adjustments.late_in((listed_as(listed, student) or {}).get("status", ""))
        late = by is not None or CAME_LATE in result["notices"]
        if grade.handed_in:
            grade = replace(grade, late=adjusted.lateness(student, late, by, grade.possible))
        for change in adjusted.of(student, grade.handed_in):
            grade = _with_change(grade, change, tell)
        found.append(grade)
    return found


def _with_change(grade: Grade, change: Change, tell: Callable[[str], None]) -> Grade:
    """Return the grade with a change, as far as it counts."""
    says, where = "", f"{adjustments.NAME}, row {change.row}"
    about = f"{change.question} of {grade.student}"
    if change.kind == "excused":
        return replace(grade, changes=(*grade.changes, change))
    if change.question != TOTAL:
        if not any(part["name"] == change.question for part in grade.result["questions"]):
            says = (
                f"{where} does not count: nothing of {grade.student}'s was graded question by "
                "question; a row about the total, such as 'to 5', gives a grade."
            )
        elif change.kind == "add":
            before = question_points(grade, change.question)
            if before is None:
                says = (
                    f"{where} does not count yet: {about} waits for points by rubric; 'to 2' "
                    "would set them."
                )
            else:
                tried = replace(grade, changes=(*grade.changes, change))
                after = question_points(tried, change.question) or 0.0
                if round(before + change.points, 2) != after:
                    says = (
                        f"{where}: {about} stays within its points and becomes {number(after)}, "
                        f"not {number(before + change.points)}."
                    )
                change = replace(change, points=round(after - before, 2))
    elif change.kind == "add":
        before = grade.before_penalty
        if not grade.graded:
            says = (
                f"{where} does not count: {grade.student} has no grade to change; "
                f"'to {number(max(0.0, change.points))}' gives one."
            )
        elif before + change.points < 0:
            says = f"{where}: {about} becomes 0, not {number(before + change.points)}."
    if says and not change.everybody:
        tell(says)
    if "does not count" in says or (change.kind == "add" and not change.points):
        return grade
    return replace(grade, changes=(*grade.changes, change))


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


# The files ----------------------------------------------------------------------------------------


def write(
    folder: Path,
    assignment,
    results: Iterable[Mapping] | None = None,
    roster: Path | None = None,
    partial: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[list[Grade], list[str]]:
    """Write rubric.csv with its sheets, grades.csv, and the folder lms.

    Returns the grades, with their results as `brief` leaves them, and sentences about what to know.

    Parameters
    ----------
    folder : Path
        Where results/ is; the files are put beside it.
    assignment
        The assignment, for its questions and their rubrics.
    results : iterable of mappings, optional
        One result for each student, gone through several times; by default those of the class as
        last graded.
    roster : Path, optional
        A list of the class as the LMS exports it, so that its own ids stand in the files for it.
        It is kept in class-lists/, one of each system, and serves again where none is named.
    partial : bool
        Give an LMS the points so far, too, where rubric lines are still to be filled.
    progress : callable, optional
        Called with how many results have been read, at the first time.
    """
    listed = class_lists.kept(folder, roster)
    each: Iterable[Mapping] = store.results(folder) if results is None else results
    known = []
    for result in brief(each):
        known.append(result)
        progress(len(known))
    students = [result["student"] for result in known]
    adjusted = adjustments.read(
        folder, assignment, students, class_lists.other_names(listed, students)
    )
    lines, notes = rubric.write(folder, assignment, each)
    grades = gather(known, lines, adjusted, listed, notes.append)
    grades, mixed = _marked(assignment, grades)
    notes += mixed
    notes += _late_notes(grades, adjusted)
    notes += _ungraded(grades)
    old = sum(result["edition"] != assignment.edition for result in known)
    if old and not mixed:
        notes.append(
            f"{old} of {len(known)} results are of another edition of {assignment.name} than "
            "the source has now: grade again, or name the source that they were graded by with "
            "--source."
        )
    notes += _editions(assignment, known)
    notes += _model_answers(assignment, each)
    notes += hand_edited.write(folder, as_table(assignment, grades, listed))
    lms = folder / "lms"
    notes += _lists_say(folder, assignment, grades, listed)
    tables.write_atomically(lms / "canvas.csv", canvas(assignment, grades, listed, partial))
    # One user whom Moodle does not know stops its whole import.
    ids = any(map(_has_moodles_id, listed.values()))
    of_moodle = [
        one
        for one in grades
        if not listed
        or ((row := listed_as(listed, one.student)) and (not ids or _has_moodles_id(row)))
    ]
    tables.write_atomically(lms / "moodle.csv", moodle(assignment, of_moodle, listed, partial))
    if sheet := worksheet(of_moodle, listed, partial):
        tables.write_atomically(lms / "moodle-worksheet.csv", sheet)
    tables.write_atomically(lms / "grades.json", as_json(assignment, grades, listed))
    for grade in with_results(grades, each):
        tables.write_atomically(
            lms / "gradescope" / file_name(grade.student) / "results.json", gradescope(grade)
        )
    waits = sum(grade.graded and bool(grade.waiting) for grade in grades)
    if waits:
        waiting = f"{waits} of {plural(len(grades), 'student')} {'waits' if waits == 1 else 'wait'}"
        how = (
            "the files for an LMS have the points so far"
            if partial
            else f"in the files for an LMS the grade stays empty until {rubric.NAME} is filled"
        )
        notes.append(f"{waiting} for points by rubric; {how}.")
    return grades, notes


def _marked(assignment, grades: list[Grade]) -> tuple[list[Grade], list[str]]:
    """Return the grades, those of another edition marked where editions are mixed, and why.

    A class that is graded by two editions has two scales, and an LMS has one.
    """
    stale = [one for one in grades if one.handed_in and one.result["edition"] != assignment.edition]
    if not stale or not any(
        one.handed_in and one.result["edition"] == assignment.edition for one in grades
    ):
        return grades, []
    who = [one.student for one in stale]
    note = (
        f"{plural(len(who), 'student')} {'was' if len(who) == 1 else 'were'} graded by another "
        f"edition of {assignment.name} than the rest, and {'has' if len(who) == 1 else 'have'} no "
        f"grade in the files for an LMS: {_few(who)}.  Grade what they handed in again by "
        f"{assignment.file}, into this folder."
    )
    return [replace(one, stale=one.student in set(who)) for one in grades], [note]


def _few(names: Sequence[str], most: int = 5) -> str:
    return f"{', '.join(names[:most])}{' …' if len(names) > most else ''}"


def _late_notes(grades: Sequence[Grade], adjusted: Adjustments) -> list[str]:
    """Return who came how late, and where the teacher's table says too little."""
    late = [(grade, grade.late) for grade in grades if grade.late]
    if not late:
        return []
    told = [
        f"{grade.student} {plural(came.days, 'day')} {came.source}"
        + (f" (−{number(grade.penalty)})" if grade.penalty else "")
        for grade, came in late
    ]
    notes = [
        f"{plural(len(late), 'submission')} came late: {', '.join(told[:20])}"
        f"{' …' if len(told) > 20 else ''}."
    ]
    if adjusted.rule is None:
        notes[0] += (
            f"  Nothing is taken off: {adjustments.NAME} has no rule for that, such as the row "
            "*,late,10% a day."
        )
    elif unknown := [grade.student for grade, came in late if came.seconds is None]:
        granted = any(came.seconds is None and came.extension for _, came in late)
        notes.append(
            f"How late is not known of {_few(unknown)}, whose file's name says only that it was; "
            f"one day is counted{', or none within an extension' if granted else ''}.  A row such "
            f"as {unknown[0]},late,2 days in {adjustments.NAME} says more."
        )
    return notes


def _ungraded(grades: Sequence[Grade]) -> list[str]:
    """Return who has no grade, since an LMS counts an empty cell as nothing to count."""
    nothing = [one.student for one in grades if not (one.handed_in or one.graded or one.excused)]
    unread = [one.student for one in grades if one.handed_in and not (one.graded or one.excused)]
    notes = []
    if nothing:
        notes.append(
            f"{plural(len(nothing), 'student')} handed in nothing and "
            f"{'has' if len(nothing) == 1 else 'have'} no grade, which an LMS leaves out of a "
            f"course's total: {_few(nothing)}.  The row *,missing,to 0 in {adjustments.NAME} "
            "gives them 0."
        )
    if unread:
        notes.append(
            f"{plural(len(unread), 'submission')} could not be graded and "
            f"{'has' if len(unread) == 1 else 'have'} no grade: {_few(unread)}.  Where you read "
            f"one yourself, a row such as {unread[0]},total,to 9 gives it one."
        )
    return notes


def _model_answers(assignment, results: Iterable[Mapping]) -> list[str]:
    """Return who wrote the model answer of the source, which is public, word for word."""
    same: dict[str, list[str]] = {name: [] for name in assignment.questions}
    models = {
        name: tables.one_line(getattr(question, "model", ""))
        for name, question in assignment.questions.items()
    }
    for result in results:
        for part in result["questions"]:
            model = models.get(part["name"])
            if model and tables.one_line(part.get("text") or "") == model:
                same[part["name"]].append(result["student"])
    return [
        f"The answer to {name} is the source's own, word for word, with "
        f"{plural(len(who), 'student')}: {_few(who, 30)}."
        for name, who in same.items()
        if who
    ]


def _has_moodles_id(row: Mapping[str, str]) -> bool:
    return any(row.get(key.casefold()) for key in MOODLE)


def _lists_say(
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
            f"{len(unknown)} of {len(grades)} students are not in the class list, and left out for "
            f"Moodle, which would refuse the whole file: {_few(unknown)}."
        )
    theirs = {id(row) for _, row in rows}
    absent = {id(row): row for row in listed.values() if id(row) not in theirs}
    if absent:
        called = [
            class_lists.full_name(row) or next(iter(filter(None, row.values())), "")
            for row in absent.values()
        ]
        notes.append(
            f"{plural(len(called), 'student')} of the class list "
            f"{'is' if len(called) == 1 else 'are'} not among the results, and in no file here: "
            f"{_few(called)}.  'handful assign grade' with that list as --roster has them too."
        )
    has_moodle = any(row.get("identifier") for row in listed.values())
    lacking = [student for student, row in rows if row is not None and not row.get("identifier")]
    if has_moodle and lacking:
        notes.append(
            f"{len(lacking)} of {len(grades)} students are not in Moodle's list, by any id that "
            f"both lists have: {_few(lacking)}."
        )
    theirs_possible = class_lists.canvas_points(folder, assignment.title)
    if theirs_possible and not _is_number(theirs_possible, _possible(assignment)):
        notes.append(
            f"Canvas has {assignment.title} with {theirs_possible} points, and {assignment.name} "
            f"has {number(_possible(assignment))}: change it there before you import."
        )
    most = {row["maximum grade"] for row in listed.values() if row.get("maximum grade")}
    wrong = [text for text in most if not _is_number(text, _possible(assignment))]
    if wrong:
        notes.append(
            f"Moodle's Maximum Grade is {wrong[0]}, and {assignment.name} has "
            f"{number(_possible(assignment))} points: set it there before you import."
        )
    return notes


def _is_number(text: str, value: float) -> bool:
    try:
        return float(text.replace(",", ".")) == value
    except ValueError:
        return False


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
            f"(edition {', '.join(editions[:3])}{' …' if len(editions) > 3 else ''}); {how}"
        )
    if differ:
        notes.append(
            f"{len(differ)} of {len(results)} notebooks {'shows' if len(differ) == 1 else 'show'} "
            "other inputs than those "
            "used in grading; each notice says which."
        )
    return notes


def as_table(
    assignment, grades: Iterable[Grade], listed: Mapping[str, Mapping[str, str]] = {}
) -> bytes:
    """Return grades.csv, for a spreadsheet; with names where a class list has them."""
    names = list(assignment.questions)
    called = any(class_lists.full_name(row) for row in listed.values())
    head = [
        "student",
        *(["name"] if called else []),
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

    def row(grade: Grade) -> list:
        result = grade.result
        misconceptions = [
            f"{part['name']}: {part['turn']}" for part in result["questions"] if part.get("turn")
        ]
        each = (question_points(grade, name) for name in names)
        return [
            grade.student,
            *([class_lists.full_name(listed_as(listed, grade.student) or {})] * called),
            result["status"],
            number(grade.points) if result["questions"] else "",
            number(result["possible"]),
            number(grade.waiting),
            number(grade.rubric) if grade.lines else "",
            grade.adjusted or "",
            -grade.penalty or "",
            "excused" if grade.excused else number(grade.total) if grade.graded else "",
            number(grade.possible),
            *("" if value is None else number(value) for value in each),
            "; ".join(misconceptions),
            tables.one_line("; ".join(map(str, result["notices"]))),
            " ".join(f"{TOTAL}: {note}" if note[:1] in "+−" else note for note in grade.notes),
            result["submission"] or "",
        ]

    return tables.as_csv(head, map(row, grades), mark=True)


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
        "points": grade.points,
        "rubric": grade.rubric,
        "waiting": grade.waiting,
        "total": grade.total if grade.graded else None,
        "possible": grade.possible,
        "final": grade.final,
        "canvas_id": (listed_as(listed, grade.student) or {}).get("id", ""),
        "excused": grade.excused,
        "adjusted": grade.adjusted,
        "late": -grade.penalty or 0.0,  # no -0.0
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
