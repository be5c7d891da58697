"""Write the grades of a class: for a spreadsheet, and as `lms` says for each system.

Every file is the same to the byte when nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from handful.units import plural

from .. import tables
from ..html_report import number
from ..tables import few
from . import adjustments, class_lists, hand_edited, lms, rubric, store
from .adjustments import TOTAL, Adjustments
from .class_lists import listed_as
from .rubric import Line
from .student_grade import Grade, question_points, with_change
from .submissions import says_late, says_several

STATUSES = ("ok", "wrong", "missing", "error", "timeout", "killed", "ungradable")
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


class First(str):
    """A note that is said before all else, since it may be about the whole class."""


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
        late = by is not None or any(map(says_late, result["notices"]))
        if grade.handed_in:
            grade = replace(grade, late=adjusted.lateness(student, late, by, grade.possible))
        for change in adjusted.of(student, grade.handed_in):
            grade = with_change(grade, change, tell)
        found.append(grade)
    return found


# The files ----------------------------------------------------------------------------------------


def write(
    folder: Path,
    assignment,
    results: Iterable[Mapping] | None = None,
    roster: Path | None = None,
    partial: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    before: Mapping[str, str] = {},
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
    before : mapping, optional
        The digests of what students had handed in before this grading.
    """
    each: Iterable[Mapping] = store.results(folder) if results is None else results
    known = []
    for result in brief(each):
        known.append(result)
        progress(len(known))
    students = [result["student"] for result in known]
    listed = class_lists.kept(folder, roster, students)
    names = class_lists.other_names(listed, students)
    adjusted = adjustments.read(folder, assignment, students, names)
    came = {result["student"]: result["submission"] for result in known}
    notes_on_rows = _outlived(adjustments.outlived(folder, came, before, names))
    lines, notes = rubric.write(folder, assignment, each)
    grades = gather(known, lines, adjusted, listed, notes.append)
    grades, mixed = _marked(assignment, grades)
    notes += mixed
    notes += notes_on_rows
    unknown = _lateness_unknown(grades, adjusted, listed)
    notes += _late_notes(grades, adjusted)
    notes += unknown or _nobody_late(grades, adjusted)
    notes += _ungraded(grades)
    notes += _several(grades)
    notes = [*_untouched(grades), *notes]
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
    notes += lms.lists_say(folder, assignment, grades, listed)
    whole = with_results(grades, each)
    lms.write(folder / "lms", assignment, grades, whole, listed, partial)
    waits = [grade.student for grade in grades if grade.graded and grade.waiting]
    if waits:
        many = f"{len(waits)} of {plural(len(grades), 'student')}"
        how = (
            "the files for an LMS have the points so far"
            if partial
            else f"in the files for an LMS the grade stays empty until {rubric.NAME} is filled"
        )
        notes.append(
            f"{many} {'waits' if len(waits) == 1 else 'wait'} for points by rubric "
            f"({few(waits)}); {how}."
        )
    return grades, sorted(notes, key=lambda note: not isinstance(note, First))


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
        f"grade in the files for an LMS: {few(who)}.  Grade what they handed in again by "
        f"{assignment.file}, into this folder."
    )
    return [replace(one, stale=one.student in set(who)) for one in grades], [note]


def _late_notes(grades: Sequence[Grade], adjusted: Adjustments) -> list[str]:
    """Return who came how late, and where the teacher's table says too little."""
    late = [(grade, grade.late) for grade in grades if grade.late]
    if not late:
        return []
    told = [f"{grade.student}: {came.told}" for grade, came in late]
    notes = [
        f"{plural(len(late), 'submission')} came late: {'; '.join(told[:20])}"
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
            f"How late {few(unknown)} came is not known: a download of Canvas says only LATE; "
            f"one day is counted{', or none within an extension' if granted else ''}.  A row such "
            f"as {unknown[0]},late,2 days in {adjustments.NAME} says more."
        )
    return notes


def _outlived(rows: Mapping[str, Sequence[str]]) -> list[str]:
    """Return which rows of adjustments count, and were written for an earlier submission."""
    if not rows:
        return []
    told = [f"{student}, {' and '.join(some)}" for student, some in rows.items()]
    return [
        First(
            f"{adjustments.NAME} has rows that were written before the student handed in anew, and "
            f"that count all the same: {'; '.join(told)}.  Delete those that you do not mean any "
            "more; what you mean of the new submission too, write with another reason."
        )
    ]


def _lateness_unknown(
    grades: Sequence[Grade], adjusted: Adjustments, listed: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Return whose lateness Moodle's list does not tell; first of all where lateness costs."""
    kind = First if adjusted.rule else str
    statuses = {
        grade.student: row["status"]
        for grade in grades
        if grade.handed_in
        and (row := listed_as(listed, grade.student))
        and row.get("identifier")
        and row.get("status")
    }
    asked = {who: status for who, status in statuses.items() if who not in adjusted.late}
    notes = []
    if unread := [who for who, status in asked.items() if not adjustments.understood(status)]:
        notes.append(
            kind(
                f"Whether {plural(len(unread), 'submission')} came late cannot be read: the column "
                f"Status of Moodle's list says {tables.one_line(asked[unread[0]])[:80]!r} of "
                f"{unread[0]}, and only English is understood.  Set your language in Moodle to "
                "English, export the worksheet again and give it with --class-list, or write rows "
                f"such as {unread[0]},late,2 days into {adjustments.NAME}."
            )
        )
    before = {
        who: after
        for who, status in asked.items()
        if (after := adjustments.came_after(status)) is not None
    }
    if len(before) > 1 and 2 * len(before) >= len(statuses):
        # Where Canvas collected the files, Moodle's list is there for its ids alone.
        collected_elsewhere = any("section" in row for row in listed.values())
        notes += (
            []
            if collected_elsewhere
            else [
                kind(
                    f"Moodle's list says of {len(before):,} of the {len(statuses):,} who handed in "
                    f"that they did not ({few(list(before))}): it is older than the files or of "
                    "another assignment, and does not tell how late they came.  Export the "
                    "worksheet again and give it with --class-list, or write rows such as "
                    f"{next(iter(before))},late,2 days into {adjustments.NAME}."
                )
            ]
        )
    elif before:
        told = [
            f"{who} (overdue by {after} then)" if after else who for who, after in before.items()
        ]
        notes.append(
            kind(
                f"Moodle's list is older than what {few(told)} handed in: it says that nothing "
                "came.  How late it came is not known, and counts as in time.  Export the "
                "worksheet again and give it with --class-list, or write a row such as "
                f"{next(iter(before))},late,2 days into {adjustments.NAME}, with 0 where it was in "
                "time."
            )
        )
    return notes


def _nobody_late(grades: Sequence[Grade], adjusted: Adjustments) -> list[str]:
    """Return that a rule for late work finds nobody late, which may be for want of a deadline."""
    if not adjusted.rule or adjusted.late or any(grade.late for grade in grades):
        return []
    if not any(grade.handed_in for grade in grades):
        return []
    return [
        f"The rule for late work in {adjustments.NAME} finds nobody late: no Status in a list of "
        "Moodle says so, nor LATE in a file's name from Canvas.  Where the assignment had no due "
        "date there, or the files came in another way, write rows such as "
        f"{grades[0].student},late,2 days."
    ]


def _ungraded(grades: Sequence[Grade]) -> list[str]:
    """Return who has no grade, since an LMS counts an empty cell as nothing to count."""
    nothing = [one.student for one in grades if not (one.handed_in or one.graded or one.excused)]
    unread = [one.student for one in grades if one.handed_in and not (one.graded or one.excused)]
    notes = []
    if nothing:
        notes.append(
            f"{plural(len(nothing), 'student')} handed in nothing and "
            f"{'has' if len(nothing) == 1 else 'have'} no grade, which an LMS leaves out of a "
            f"course's total: {few(nothing)}.  The row *,missing,to 0 in {adjustments.NAME} "
            "gives them 0."
        )
    if unread:
        notes.append(
            f"{plural(len(unread), 'submission')} could not be graded and "
            f"{'has' if len(unread) == 1 else 'have'} no grade: {few(unread)}.  Where you read "
            f"one yourself, a row such as {unread[0]},total,to 9 gives it one."
        )
    return notes


def _several(grades: Sequence[Grade]) -> list[str]:
    """Return which notebook was graded of those who handed in several."""
    told = [
        f"{grade.student}: {notice.rstrip('.')}"
        for grade in grades
        for notice in filter(says_several, grade.notices)
    ]
    if not told:
        return []
    return [f"{'; '.join(told[:20])}{' …' if len(told) > 20 else ''}."]


def _untouched(grades: Sequence[Grade]) -> list[str]:
    """Return who handed in the notebook as it was handed out, which may be a slip of the teacher's.

    From a half of the class on, it is asked whether these are the right files.
    """
    read = [one for one in grades if one.result["questions"]]
    who = [one.student for one in read if one.untouched]
    if not who:
        return []
    are = "is as it was" if len(who) == 1 else "are as they were"
    many = f"{len(who):,} of {plural(len(read), 'notebook')}"
    says = f"{many} {are} handed out, with nothing filled in"
    if 2 * len(who) < len(read):
        return [f"{says}: {few(who)}."]
    return [First(f"{says}: was the right folder downloaded?  ({few(who)})")]


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
        f"{plural(len(who), 'student')}: {few(who)}."
        for name, who in same.items()
        if who
    ]


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
    read = sum(bool(result["questions"]) for result in results)
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
            f"{len(another)} of {read} notebooks {are} of another edition of "
            f"{assignment.name} than the source has now "
            f"(edition {', '.join(editions[:3])}{' …' if len(editions) > 3 else ''}); {how}"
        )
    if differ:
        notes.append(
            f"{len(differ)} of {read} notebooks {'shows' if len(differ) == 1 else 'show'} "
            "other inputs than those "
            "used in grading; each notice says which."
        )
    return notes


def as_table(
    assignment, grades: Iterable[Grade], listed: Mapping[str, Mapping[str, str]] = {}
) -> bytes:
    """Return grades.csv, for a spreadsheet; with names where a class list has them.

    A total is the sum of checks, rubric, adjusted and late, as far as each is there.
    """
    names = list(assignment.questions)
    called = any(class_lists.full_name(row) for row in listed.values())
    head = [
        "student",
        *(["name"] if called else []),
        "status",
        "checks",
        "rubric",
        "adjusted",
        "late",
        "total",
        "possible",
        "waiting",
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
        each = (
            "excused" if name in grade.left_out else question_points(grade, name) for name in names
        )
        return [
            grade.student,
            *([class_lists.full_name(listed_as(listed, grade.student) or {})] * called),
            result["status"],
            number(grade.points) if result["questions"] else "",
            number(grade.rubric) if grade.lines else "",
            grade.adjusted or "",
            -grade.penalty or "",
            "excused" if grade.excused else number(grade.total) if grade.graded else "",
            number(grade.possible),
            number(grade.waiting),
            *(one if isinstance(one, str) else "" if one is None else number(one) for one in each),
            "; ".join(misconceptions),
            tables.one_line("; ".join(grade.notices)),
            " ".join(f"{TOTAL}: {note}" if note[:1] in "+−" else note for note in grade.notes),
            result["submission"] or "",
        ]

    return tables.as_csv(head, map(row, grades), mark=True)
