"""Read what a teacher changes by hand: points, excuses, lateness and extensions.

They stand in ``adjustments.csv`` beside the results, a row each, and count whenever grades are
written.  The file is the teacher's: it is made once, with its head alone, and only read from then
on.

>>> amount("1,5", 3, "row 2"), amount("to 2", 3, "row 2"), amount("-1", 3, "row 2")
(('add', 1.5), ('set', 2.0), ('add', -1.0))
>>> seconds("1 day 2 hours"), seconds("30 mins")
(93600.0, 1800.0)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from handful.nearest import alike
from handful.units import plural
from handful_study.student import canonical

from .. import tables
from ..html_report import number

NAME = "adjustments.csv"
COUNTED = ".adjustments-counted.csv"  # rows, each with the file that it was written for
HEAD = ("student", "question", "points", "reason")
EVERYBODY = "*"
MOST_TOLD = 10  # rows that cannot be read, in one message
TOTAL, LATE, EXTENSION, MISSING = "total", "late", "extension", "missing"
DAY = 86_400.0
_UNITS = {"y": 365 * DAY, "w": 7 * DAY, "d": DAY, "h": 3600.0, "m": 60.0, "s": 1.0}
_NUMBER = r"[0-9]{1,9}(?:[.,][0-9]{1,9})?"
# Words as a teacher writes them, and as Moodle does: days, hours, mins, secs.
_PART = rf"({_NUMBER}) ?(years?|weeks?|days?|hours?|minutes?|mins?|seconds?|secs?|[wdhms])"
_DURATION = re.compile(rf"{_PART}(?:,? {_PART})*", re.IGNORECASE)
_MOODLE_LATE = re.compile(rf"(?:^|- )({_PART}(?: {_PART})*) late(?= -|$)")
_MOODLE_OVERDUE = re.compile(rf"overdue by: ({_PART}(?: {_PART})*)")
# How Moodle's column Status begins in English.
_NO_SUBMISSION = "No submission"
_STATUSES = (_NO_SUBMISSION, "Submitted", "Draft", "New", "Reopened", "No attempt", "Graded")
_AMOUNT = re.compile(rf"(to )?([+-]?{_NUMBER})", re.IGNORECASE)
_RULE = re.compile(
    rf"-?({_NUMBER}) ?(%|points?) ?(?:a|per|/) ?day"
    rf"(?:,? (?:at most|up to|max) ({_NUMBER}) ?(%|points?)?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Change:
    """Change a question's points or the total.

    `kind` is "add", "set" or "excused"; the reason is shown to the student.
    """

    question: str
    kind: str
    points: float
    reason: str
    row: str
    everybody: bool = False

    @property
    def order(self) -> tuple[bool, bool]:
        """Return what comes first: questions before the total, and what is added last."""
        return self.question == TOTAL, self.kind == "add"

    @property
    def says(self) -> str:
        """Return the change in words, with its reason.

        >>> Change("total", "add", -1, "no names on the axes", "2").says
        '−1 point: no names on the axes.'
        >>> Change("step_time", "set", 3, "", "2").says
        'Set to 3 points.'
        """
        if self.kind == "excused":
            what = "Excused"
        elif self.kind == "set":
            what = f"Set to {plural(float(number(self.points)), 'point')}"
        else:
            sign = "−" if self.points < 0 else "+"
            what = f"{sign}{plural(float(number(abs(self.points))), 'point')}"
        reason = self.reason.rstrip(".")
        return f"{what}: {reason}." if reason else f"{what}."


@dataclass(frozen=True)
class Rule:
    """Say what each day costs that has begun, and the most that lateness costs.

    Each is a share of all points of the assignment where `share` says so, else points.
    """

    a_day: float
    share: bool
    most: float = math.inf
    most_share: bool = True
    reason: str = ""

    def penalty(self, days: int, possible: float) -> float:
        """Return the points that so many days cost.

        >>> Rule(0.1, True, 0.25).penalty(2, 20), Rule(0.1, True, 0.25).penalty(4, 20)
        (4.0, 5.0)
        """
        most = self.most * possible if self.most_share else self.most
        return min(days * self.a_day * (possible if self.share else 1), most)


@dataclass(frozen=True)
class Late:
    """Say how late a submission came, beyond its extension, and what that costs.

    `seconds` is None where the platform said only that it was late: that counts as one day, and as
    in time with an extension of the student's own.  `reason` is that of the rule, `granted` that of
    the extension.
    """

    seconds: float | None
    extension: float
    penalty: float
    reason: str = ""
    granted: str = ""

    @property
    def days(self) -> int:
        """Return the days that had begun when it came."""
        if self.seconds is None:
            return 0 if self.extension else 1
        return max(0, math.ceil((self.seconds - self.extension) / DAY))

    @property
    def says(self) -> str:
        """Return what lateness costs, or what an extension saves, in words; "" of neither.

        >>> Late(1.2 * DAY, 0, 3).says, Late(3600, DAY, 0, granted="ill").says
        ('−3 points: 2 days late.', 'It came late, within an extension (ill).')
        """
        granted = f" ({self.granted.rstrip('.')})" if self.granted else ""
        if not self.days:
            return f"It came late, within an extension{granted}." if self.extension else ""
        if not self.penalty:
            return ""
        beyond = f" beyond the extension{granted}" if self.extension else ""
        because = f" ({self.reason.rstrip('.')})" if self.reason else ""
        return (
            f"−{plural(float(number(self.penalty)), 'point')}: {plural(self.days, 'day')} late"
            f"{beyond}{because}."
        )

    @property
    def told(self) -> str:
        """Return for the teacher how late it came, and what counts of that.

        >>> Late(1.25 * DAY, 0, 3).told, Late(3600, 2 * DAY, 0).told
        ('1 day 6 hours (−3 for 2 days)', '1 hour, within the extension of 2 days')
        >>> Late(None, 0, 2).told, Late(3 * DAY, 2 * DAY, 0).told
        ('how late is not known (−2 for 1 day)', '3 days, 1 day beyond the extension of 2 days')
        """
        came = "how late is not known" if self.seconds is None else in_words(self.seconds)
        if self.extension:
            within = f"{plural(self.days, 'day')} beyond" if self.days else "within"
            came += f", {within} the extension of {in_words(self.extension)}"
        cost = f" (−{number(self.penalty)} for {plural(self.days, 'day')})" if self.penalty else ""
        return came + cost


@dataclass(frozen=True)
class Adjustments:
    """Hold the rows of the table, by whom they concern."""

    everybody: tuple[Change, ...] = ()
    own: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    rule: Rule | None = None
    late: Mapping[str, float] = field(default_factory=dict)
    extensions: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    missing: Change | None = None

    def of(self, student: str, handed_in: bool = True) -> tuple[Change, ...]:
        """Return the changes for a student: what is set first, a student's own before all's."""
        own = self.own.get(student, ())
        fixed = {change.question for change in own if change.kind != "add"}
        all_excused = any((one.question, one.kind) == (TOTAL, "excused") for one in self.everybody)
        if self.missing and not handed_in and TOTAL not in fixed and not all_excused:
            own, fixed = (*own, self.missing), {*fixed, TOTAL}
        everybody = [
            one for one in self.everybody if one.kind == "add" or one.question not in fixed
        ]
        # Questions before the total, so that a total that falls to 0 has all of them in it.
        return tuple(sorted((*everybody, *own), key=lambda change: change.order))

    def lateness(self, student: str, late: bool, by: float | None, possible: float) -> Late | None:
        """Return a student's lateness; None where it came in time.

        Parameters
        ----------
        late : bool
            Whether the platform says so.
        by : float or None
            How late it says, in seconds.
        possible : float
            All points of the assignment.
        """
        if student in self.late:
            late, by = self.late[student] > 0, self.late[student]
        if not late:
            return None
        # Of a delay of unknown length nobody knows whether it is within what all are granted.
        usual = self.extensions.get(EVERYBODY) if by is not None else None
        extension, granted = self.extensions.get(student, usual or (0.0, ""))
        came = Late(by, extension, 0.0, granted=granted)
        if self.rule is None:
            return came
        penalty = round(self.rule.penalty(came.days, possible), 2)
        return replace(came, penalty=penalty, reason=self.rule.reason)


def late_in(status: str) -> float | None:
    """Return how late Moodle's column Status says that a submission came, in seconds.

    >>> late_in("Submitted for grading - 1 day 2 hours late - Graded") / 3600
    26.0
    >>> late_in("No submission - Assignment is overdue by: 3 days") is None
    True
    """
    found = _MOODLE_LATE.search(status[:500])
    return seconds(found[1]) if found else None


def understood(status: str) -> bool:
    """Return whether Moodle's column Status is one that says, or does not say, that work was late.

    >>> understood("Submitted for grading"), understood("Zur Bewertung abgegeben")
    (True, False)
    >>> understood("Submitted for grading - 2 Tage late")
    False
    """
    return late_in(status) is not None or (
        status.startswith(_STATUSES) and not re.search(r"\blate\b", status[:500])
    )


def came_after(status: str) -> str | None:
    """Return how long nothing had come when Moodle wrote its column Status; None where it had.

    It is "" where the deadline was still to come, or there was none.

    >>> came_after("No submission - Assignment is overdue by: 3 days 1 hour")
    '3 days 1 hour'
    >>> came_after("No submission"), came_after("Submitted for grading")
    ('', None)
    """
    if not status.startswith(_NO_SUBMISSION):
        return None
    found = _MOODLE_OVERDUE.search(status[:500])
    return found[1] if found else ""


def seconds(text: str) -> float | None:
    """Return a duration in seconds, None where the text is none."""
    text = " ".join(text.split())[:200]
    if not _DURATION.fullmatch(text):
        return None
    return sum(
        _float(many) * _UNITS[unit[0].lower()]
        for many, unit in re.findall(_PART, text, re.IGNORECASE)
    )


def in_words(length: float) -> str:
    """Return a length of time in the two largest units that it has.

    >>> in_words(97_265), in_words(90), in_words(2 * DAY)
    ('1 day 3 hours', '1 minute 30 seconds', '2 days')
    """
    found, left = [], round(length)
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        many, left = divmod(left, size)
        found += [plural(many, unit)] if many else []
    return " ".join(found[:2]) or "0 seconds"


def amount(text: str, most: float, where: str) -> tuple[str, float]:
    """Return ("add" or "set", points) of a cell.

    Raises
    ------
    TableError
        Where it is neither points to add nor points to set, or sets more than `most`.
    """
    found = _AMOUNT.fullmatch(" ".join(text.split()).replace("\u2212", "-"))
    if not found:
        raise tables.TableError(
            f"{where}, column points: {text.strip()[:40]!r} is no change of points; write 2 to add "
            "two, -1 to take one, 'to 3' to set them, or excused."
        )
    points = _float(found[2])
    if not found[1]:
        return "add", points
    if not 0 <= points <= most:
        raise tables.TableError(
            f"{where}, column points: {text.strip()[:40]!r} is not within 0 to {number(most)}."
        )
    return "set", points


def read(
    folder: Path, assignment, students: Iterable[str], names: Mapping[str, str] = {}
) -> Adjustments:
    """Read the table of a results folder; make it, with its head alone, where there is none.

    Parameters
    ----------
    folder : Path
        Where results/ is.
    assignment
        The assignment, for its questions and their points.
    students : iterable of str
        The ids of all results.
    names : mapping, optional
        Other names of students, such as those of a class list, with their ids.

    Raises
    ------
    TableError
        Where a row cannot be understood; the sentence names the row and what is allowed.
    """
    path = folder / NAME
    if not path.exists():
        tables.write_atomically(path, tables.as_csv(HEAD, [], mark=True))
        return Adjustments()
    known = {canonical(name): student for name, student in names.items()}
    known |= {canonical(student): student for student in students}
    table = _Table(assignment, known)
    wrong: list[str] = []
    unknown, named = [], set()
    for row in _rows(path):
        named |= {row["student"].strip()} - {"", EVERYBODY}
        try:
            table.add(row)
        except tables.TableError as error:
            wrong.append(str(error))
            unknown += [row["student"].strip()] * isinstance(error, _UnknownStudentError)
    if len(named) > 1 and named == set(unknown):
        raise tables.TableError(
            f"None of the {len(named)} students in {NAME} is among these results: is it, or the "
            "class list, that of another class?"
        )
    if wrong:
        more = [f"{len(wrong) - MOST_TOLD} more rows cannot be read."] * (len(wrong) > MOST_TOLD)
        hint = ["With --roster, those who handed in nothing are among the results too."]
        raise tables.TableError("\n".join([*wrong[:MOST_TOLD], *more, *hint * bool(unknown)]))
    return Adjustments(
        tuple(table.own.pop(EVERYBODY, [])),
        {student: tuple(changes) for student, changes in table.own.items()},
        table.rule,
        table.late,
        table.extensions,
        table.missing,
    )


def outlived(
    folder: Path,
    submissions: Mapping[str, str],
    before: Mapping[str, str],
    names: Mapping[str, str] = {},
) -> dict[str, list[str]]:
    """Return the rows that were written for an earlier submission, in words, by student.

    A row belongs to what the student had handed in when it first counted; excuses and extensions
    are about the student.  What it belongs to is kept beside the table.

    Parameters
    ----------
    folder : Path
        Where results/ is, with a table that `read` took.
    submissions, before : mapping
        The digests of what students have handed in, now and before this grading.
    names : mapping, optional
        Other names of students, with their ids.
    """
    known = {canonical(name): student for name, student in names.items()}
    known |= {canonical(student): student for student in submissions}
    try:
        kept = tables.read(folder / COUNTED, (*HEAD, "submission"))[0]
    except tables.TableError:
        kept = []
    written = {tuple(row[column] for column in HEAD): row["submission"] for row in kept}
    found: dict[str, list[str]] = {}
    rows = []
    for row in _rows(folder / NAME):
        student = known.get(canonical(row["student"].strip()))
        about, points = row["question"].strip(), row["points"].strip()
        if student is None or about.lower() == EXTENSION or points.lower() == "excused":
            continue
        key = tuple(row[column] for column in HEAD)
        now = submissions[student]
        was = written.get(key, before.get(student, "") if before else now)
        rows.append((*key, was))
        if was != now:
            found.setdefault(student, []).append(f"row {row['']} ({about}, {points})")
    if rows or kept:
        tables.write_atomically(folder / COUNTED, tables.as_csv((*HEAD, "submission"), rows))
    return found


def unfit(folder: Path, assignment, results: Iterable[Mapping]) -> list[str]:
    """Return which rows no longer fit an assignment that was mended, in a sentence each.

    These are rows that cannot be understood any more, and rows of points about a question, or a
    total, that is worth more or less than it was.

    Parameters
    ----------
    folder : Path
        Where results/ is.
    assignment
        The mended assignment.
    results : iterable of mappings
        Those of the class as last graded, which say what each question was worth.

    Raises
    ------
    TableError
        Where the file is no table.
    """
    path = folder / NAME
    if not path.exists():
        return []
    graded = (one["questions"] for one in results if one["edition"] != assignment.edition)
    parts: Iterable[Mapping] = next(filter(None, graded), ())
    before = {part["name"]: float(part["possible"]) for part in parts}
    now = {name: float(one.points) for name, one in assignment.questions.items()}
    now[TOTAL] = sum(now.values())
    if before:
        before[TOTAL] = sum(before.values())
    return list(filter(None, (_unfit(row, assignment, before, now) for row in _rows(path))))


def _rows(path: Path) -> list[dict[str, str]]:
    return tables.read(path, HEAD)[0]


def _unfit(
    row: Mapping[str, str], assignment, before: Mapping[str, float], now: Mapping[str, float]
) -> str:
    """Return why a row no longer fits, "" where it does."""
    where, about = f"{NAME}, row {row['']}", row["question"].strip().lower()
    if about in (LATE, EXTENSION):  # their points are those of the class, whatever a question's
        return ""
    student = row["student"].strip()
    try:
        change = (_missing if about == MISSING else _change)(row, student, assignment, where)
    except tables.TableError as error:
        return str(error)
    was, worth = before.get(change.question), now[change.question]
    if was in (None, worth) or not change.points:  # nothing stays nothing
        return ""
    return (
        f"{where}: {row['points'].strip()!r} is about {change.question}, which had {number(was)} "
        f"points and has {number(worth)} now; is it still what you mean?"
    )


class _UnknownStudentError(tables.TableError):
    """A row about somebody who has no result."""


class _Table:
    """Collect the rows of the table, as they are read."""

    def __init__(self, assignment, known: Mapping[str, str]) -> None:
        self.assignment, self.known = assignment, known
        self.own: dict[str, list[Change]] = {}
        self.rule: Rule | None = None
        self.late: dict[str, float] = {}
        self.extensions: dict[str, tuple[float, str]] = {}
        self.missing: Change | None = None

    def add(self, row: Mapping[str, str]) -> None:
        """Add a row; raise TableError where it cannot be meant, or contradicts another."""
        where = f"{NAME}, row {row['']}"
        student = _student(row["student"], self.known, where)
        about = row["question"].strip().lower()
        twice = tables.TableError(
            f"{where}: {row['student'].strip()!r} has a row {about} above already; keep one."
        )
        if about == LATE and student == EVERYBODY:
            if self.rule:
                raise twice
            self.rule = _rule(row, where)
        elif about == LATE:
            if student in self.late:
                raise twice
            self.late[student] = _duration(row["points"], where)
        elif about == EXTENSION:
            if student in self.extensions:
                raise twice
            self.extensions[student] = _duration(row["points"], where), _reason(row)
        elif about == MISSING:
            if self.missing:
                raise twice
            self.missing = _missing(row, student, self.assignment, where)
        else:
            self._change(row, student, where)

    def _change(self, row: Mapping[str, str], student: str, where: str) -> None:
        change = _change(row, student, self.assignment, where)
        mine = self.own.setdefault(student, [])
        if again := next((one for one in mine if replace(one, row=change.row) == change), None):
            raise tables.TableError(
                f"{where}: it is the same as row {again.row}; delete one, or give it a reason of "
                "its own where both are meant."
            )
        fixed = [one for one in mine if one.question == change.question and one.kind != "add"]
        if change.kind != "add" and fixed:
            raise tables.TableError(
                f"{where}: {change.question} of {row['student'].strip()!r} is "
                f"{'excused' if fixed[0].kind == 'excused' else 'set'} above already; keep one."
            )
        mine.append(change)


def _missing(row: Mapping[str, str], student: str, assignment, where: str) -> Change:
    if student != EVERYBODY:
        raise tables.TableError(
            f"{where}: the question missing is for everybody who handed in nothing, with "
            f"{EVERYBODY} as student; for one student write the total."
        )
    kind, points = amount(row["points"], _possible(assignment), where)
    if kind != "set":
        raise tables.TableError(f"{where}, column points: write 'to 0' or such for {MISSING}.")
    return Change(TOTAL, "set", points, _reason(row), row[""], True)


def _student(cell: str, known: Mapping[str, str], where: str) -> str:
    name = cell.strip()
    if name == EVERYBODY:
        return EVERYBODY
    if not name:
        raise tables.TableError(
            f"{where}: the column student is empty; write an id, or {EVERYBODY} for everybody."
        )
    if canonical(name) not in known:
        near = alike(name, dict.fromkeys(known.values()))
        meant = f"; did you mean {' or '.join(near)}?" if near else "."
        raise _UnknownStudentError(f"{where}: {name[:60]!r} is no student of these results{meant}")
    return known[canonical(name)]


def _change(row: Mapping[str, str], student: str, assignment, where: str) -> Change:
    about = row["question"].strip()
    questions = {name.lower(): name for name in assignment.questions}
    name = TOTAL if about.lower() == TOTAL else questions.get(about.lower())
    if name is None:
        raise tables.TableError(
            f"{where}: {about[:60]!r} is no question; there are "
            f"{', '.join([*assignment.questions, TOTAL, LATE, EXTENSION, MISSING])}."
        )
    everybody = student == EVERYBODY
    if row["points"].strip().lower() == "excused":
        return Change(name, "excused", 0.0, _reason(row), row[""], everybody)
    # A total may go above full points, as a bonus, but hardly to the double.
    most = 2 * _possible(assignment) if name == TOTAL else float(assignment.questions[name].points)
    kind, points = amount(row["points"], most, where)
    return Change(name, kind, points, _reason(row), row[""], everybody)


def _possible(assignment) -> float:
    return sum(float(one.points) for one in assignment.questions.values())


def _reason(row: Mapping[str, str]) -> str:
    return tables.one_line(row["reason"])


def _rule(row: Mapping[str, str], where: str) -> Rule:
    text = " ".join(row["points"].split()).replace("\u2212", "-")
    found = _RULE.fullmatch(text)
    if not found:
        raise tables.TableError(
            f"{where}, column points: {text[:60]!r} is no rule for late work; write such as "
            "'10% a day', '2 points a day' or '10% a day, at most 50%'."
        )
    a_day, share, most, most_share = found.groups()
    return Rule(
        _float(a_day) / (100 if share == "%" else 1),
        share == "%",
        math.inf if most is None else _float(most) / (100 if most_share == "%" else 1),
        most is None or most_share == "%",
        _reason(row),
    )


def _duration(text: str, where: str) -> float:
    found = 0.0 if text.strip() == "0" else seconds(text)
    if found is None:
        raise tables.TableError(
            f"{where}, column points: {text.strip()[:60]!r} is no length of time; write such as "
            "'2 days', '12 hours' or '1 day 6 hours'."
        )
    return found


def _float(text: str) -> float:
    return float(text.replace(",", "."))
