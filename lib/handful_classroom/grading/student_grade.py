"""Hold the grade of one student: points of checks and rubric, and what the teacher changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..html_report import number
from . import adjustments
from .adjustments import TOTAL, Change, Late
from .rubric import Line
from .submissions import says_late

ANOTHER_EDITION = "This notebook is of another edition"  # how a notice begins
UNTOUCHED = "Nothing was filled in: this notebook is as it was handed out."


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
        return any(change.kind == "excused" for change in self._of(TOTAL))

    @property
    def left_out(self) -> set[str]:
        """Return the questions that the student is excused from."""
        return {one.question for one in self.changes if one.kind == "excused"} - {TOTAL}

    @property
    def scale(self) -> float:
        """Return by what the points of the other questions count more, to be out of all points."""
        out = sum(
            most(self, one) for one in self.result["questions"] if one["name"] in self.left_out
        )
        return self.possible / (self.possible - out) if out else 1.0

    @property
    def set_total(self) -> float | None:
        """Return the total that the teacher set, None where none was."""
        return next((one.points for one in self._of(TOTAL) if one.kind == "set"), None)

    def _of(self, question: str) -> list[Change]:
        return [change for change in self.changes if change.question == question]

    @property
    def waiting(self) -> float:
        """Return the possible points of rubric lines that the teacher has not filled.

        Those of a question or a total that the teacher set, or excused, do not wait.
        """
        if self.set_total is not None:
            return 0.0
        return round(sum(line.possible for line in self._unread) * self.scale, 2)

    @property
    def _unread(self) -> list[Line]:
        given = {change.question for change in self.changes if change.kind != "add"}
        return [one for one in self.lines if one.points is None and one.question not in given]

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
        return added + self.scale * sum(map(self._so_far, self.result["questions"]))

    def _so_far(self, part: Mapping) -> float:
        """Return a question's points, or those of the rubric lines filled by now."""
        if part["name"] in self.left_out:
            return 0.0
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
        return round(self.total + self.penalty - self.points - self.rubric, 2) + 0.0  # not -0.0

    @property
    def possible(self) -> float:
        """Return all points of the assignment, those of the rubric included."""
        return round(float(self.result["possible"]) + float(self.result["waiting"]), 2)

    @property
    def handed_in(self) -> bool:
        """Return whether anything was handed in."""
        return bool(self.result["submission"])

    @property
    def untouched(self) -> bool:
        """Return whether what was handed in is the notebook as it was handed out."""
        return UNTOUCHED in self.result["notices"]

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
    def notices(self) -> list[str]:
        """Return the notices on the notebook that concern its student.

        Another edition with the same inputs is none, nor that it came late where a note says so.
        """
        fair = self.result.get("inputs") in ("same", "own")
        return [
            str(text)
            for text in self.result["notices"]
            if not (fair and text.startswith(ANOTHER_EDITION))
            and not (says_late(text) and self.late and self.late.says in self.notes)
        ]

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
            return next(one.says for one in self._of(TOTAL) if one.kind == "excused")
        return " ".join([self.sum_says, *self.notes]) if self.graded else self.sum_says

    @property
    def sum_says(self) -> str:
        """Return the sentence of the points alone, or the reason why there are none."""
        if not self.graded:
            return str(self.result["says"])
        answers = len({line.question for line in self._unread})
        says = summary(self.total, self.possible, self.waiting, answers)
        if not self.left_out or self.set_total is not None:
            return says
        names = " and ".join(sorted(self.left_out))
        verb = "is" if len(self.left_out) == 1 else "are"
        whole = number(self.possible)
        return f"{says}  {names} {verb} excused; the other questions count for all {whole} points."


def with_change(grade: Grade, change: Change, tell: Callable[[str], None]) -> Grade:
    """Return the grade with a change, as far as it counts."""
    says, where = "", f"{adjustments.NAME}, row {change.row}"
    about = f"{change.question} of {grade.student}"
    if change.kind == "excused" and change.question == TOTAL:
        return replace(grade, changes=(*grade.changes, change))
    if change.question != TOTAL:
        if not any(part["name"] == change.question for part in grade.result["questions"]):
            says = (
                f"{where} does not count: nothing of {grade.student}'s was graded question by "
                "question; a row about the total, such as 'to 5', gives a grade."
            )
        elif change.kind == "excused":
            names = {part["name"] for part in grade.result["questions"]}
            if names <= grade.left_out | {change.question}:
                says = f"{where} does not count: no question is left; write total,excused."
        elif change.kind == "add" and change.question in grade.left_out:
            says = f"{where} does not count: {about} is excused."
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

    They are None where some of the teacher's are missing, or the question was not graded, or is
    excused.
    """
    part = next((part for part in grade.result["questions"] if part["name"] == name), None)
    if part is None or (changed and name in grade.left_out):
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
    for change in grade.changes:
        if change.question != part["name"]:
            continue
        if change.kind == "set":
            points = change.points
        elif points is not None:
            points = min(max(0.0, points + change.points), most(grade, part))
    return None if points is None else round(points, 2)


def most(grade: Grade, part: Mapping) -> float:
    """Return the possible points of a question, which are its rubric's where it has no others."""
    lines = [line.possible for line in grade.lines if line.question == part["name"]]
    return float(part["possible"]) or sum(lines)


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
