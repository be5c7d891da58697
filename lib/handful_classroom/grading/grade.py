"""Grade one submission, from its bytes to a result, or a whole class of them.

`grade_one` is a function of its arguments alone, so that a result is the same on every machine and
need not be made twice.  The student's code runs in the sandbox only; everything that decides is out
here.

Every result ends in one of `STATUSES`: ok, wrong, error, timeout, killed, missing or ungradable,
never in a bare 0.

>>> from handful_classroom.release.assignment import assignments
>>> grade_one(assignments()["roofline"], "ada", b"%PDF-1.7")["says"]
'This could not be graded: It is no notebook, but a PDF.'
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from handful.units import plural
from handful_study.student import canonical

from ..release import variants
from ..release.assignment import Assignment, read_text, source_folder
from ..sandbox.protocol import Answer, Limits, Outcome, printable
from ..tables import few
from . import cluster, store
from .notebook_reader import Handed, NotebookError, Origin, mark
from .notebook_reader import read as read_notebook
from .roster import STRANGER, Roster
from .scoring import judge, requests, short
from .student_grade import ANOTHER_EDITION, UNTOUCHED, summary
from .submissions import Submission, SubmissionError, shown
from .version import library
from .watchdog import READING_SECONDS, OverlongError, within

SCHEMA = store.SCHEMA
STATUSES = (
    "ungradable",
    "killed",
    "timeout",
    "error",
    "missing",
    "wrong",
    "ok",
)  # of a submission: the first that applies
ABSENT = "not handed in"
SKIPPED = ("explore", "check", "setup")  # released cells with these tags need not run
MOST_NOTICES = 5
MOST_NAMED = 3  # inputs that a notice names
MOST_ASKED = 60  # notebooks that are asked for their assignment before a class is graded
LIMITS = Limits()  # where a caller names none; frozen, so that all calls can share it
# What the setup cells of a student's notebook come to inside the sandbox.
PROLOGUE = "from handful_room import given, check\nstudent = {!r}"


class GradingError(RuntimeError):
    """A reason why grading cannot begin or go on, in one sentence."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Before:
    """Hold what a student handed in last: its digest, and whether nothing was filled in."""

    submission: str
    untouched: bool


# One submission


@dataclass(frozen=True)
class Released:
    """The released contents that submissions are compared with.

    These are marks of code that need not run, written answers that nobody filled in, and marks of
    code cells with nothing filled in.
    """

    code: frozenset[str]
    empty: tuple[tuple[str, str], ...]
    holes: frozenset[str] = frozenset()

    def untouched(self, handed: Handed) -> bool:
        """Return whether nothing is filled in: all code and all answers are as they were."""
        found = {mark(code) for code in handed.cells if code.strip()}
        return bool(found) and found <= self.holes and not handed.texts


@lru_cache(16)
def released(assignment: Assignment) -> Released:
    """Return the contents of the notebook as it was handed out."""
    from ..release.notebooks import notebook

    cells = notebook(assignment)["cells"]
    code = {
        mark("".join(cell["source"]))
        for cell in cells
        if set(SKIPPED) & set(cell["metadata"].get("tags", ()))
    }
    texts = read_notebook(
        store.canonical(
            {
                "cells": [
                    {"cell_type": cell["cell_type"], "source": cell["source"]} for cell in cells
                ]
            }
        )
    ).texts
    return Released(frozenset(code), tuple(texts.items()), _holes(assignment))


def _holes(assignment: Assignment) -> frozenset[str]:
    return frozenset(mark(cut.empty) for cut in assignment.cuts.values())


def earlier_editions(assignment: Assignment, texts: Iterable[str]) -> dict[str, str]:
    """Return the sources of earlier editions of an assignment by edition.

    Raises
    ------
    SourceError
        For a text that is no source of an assignment, in one sentence.
    """
    return {_loaded(text, assignment.file).edition: text for text in texts}


def _handed_out(assignment: Assignment, earlier: Mapping[str, str]) -> Released:
    """Return what was handed out in any edition that is known."""
    own = released(assignment)
    others = [_loaded(text, assignment.file) for text in earlier.values()]
    explored = {mark(code) for other in others for code in other.explored}
    return Released(own.code | explored, own.empty, own.holes.union(*map(_holes, others)))


@lru_cache(16)
def _with_inputs(assignment: Assignment, other: Assignment) -> Assignment | None:
    """Return the assignment with the inputs of another edition.

    It is None where the assignment's questions ask for inputs that the other does not show.
    """
    if not set(assignment.shows) <= set(other.shows):
        return None
    if (assignment.drawn, assignment.cases, set(assignment.shows)) == (
        other.drawn,
        other.cases,
        set(other.shows),
    ):
        return assignment
    return replace(
        assignment,
        drawn=other.drawn,
        cases=other.cases,
        shows=other.shows,
        edition=f"{assignment.edition} with the inputs of {other.edition}",
    )


def _inputs(
    assignment: Assignment, origin: Origin, variant: int, earlier: Mapping[str, str]
) -> tuple[Assignment, str, list[str]]:
    """Choose the inputs by which a notebook is graded.

    What it shows is the student's word, and decides nothing but what is said; its edition picks one
    of the teacher's sources.

    Returns
    -------
    tuple
        The assignment with the inputs; how they are to those of the notebook ("same", "own" of its
        edition, "other", "unknown"); and notices.
    """
    if origin.released:
        return assignment, "same", []
    another = origin.edition not in (None, assignment.edition)
    own = earlier.get(origin.edition or "") if another else None
    basis = _with_inputs(assignment, _loaded(own, assignment.file)) if own else None
    if basis not in (None, assignment):
        try:
            requests(basis, variant)
        except Exception:  # our own code: a current answer fails on the older inputs
            basis = None
    shown = origin.shown(variant)
    differ = _differing(shown, variants.inputs_of(basis or assignment, variant)) if shown else ""
    kind = (
        "other"
        if differ
        else "own"
        if basis not in (None, assignment)
        else "same"
        if shown or basis
        else "unknown"
    )
    how = {
        "own": " and was graded by the inputs of its own edition",
        "same": "; its inputs are the same",
    }.get(kind, "; it was graded by the current inputs")
    said = (
        f"{ANOTHER_EDITION} ({origin.edition}) than the source has now ({assignment.edition}){how}."
        if another
        else ""
    )
    shows = (
        f"{'It' if another else 'This notebook'} shows other inputs than those it was graded by: "
        f"{differ}."
        if differ
        else ""
    )
    return (
        basis or assignment,
        kind,
        [" ".join(filter(None, (said, shows)))] if said or shows else [],
    )


def _differing(theirs: Mapping[str, object], ours: Mapping[str, object]) -> str:
    """Describe the inputs that are not the same; those that only a student has do not count.

    >>> _differing({"batch": 64, "mine": 3}, {"batch": 32, "speed": 60.0})
    'batch 64 and not 32, speed missing'
    """
    found = [
        f"{name} {short(theirs[name])} and not {short(value)}"
        if name in theirs
        else f"{name} missing"
        for name, value in ours.items()
        if name not in theirs or theirs[name] != value
    ]
    return ", ".join(found[:MOST_NAMED]) + (
        f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    )


def cells(data: bytes, known: Released) -> Handed:
    """Return what is graded in a notebook; raise NotebookError where there is nothing."""
    return read_notebook(data, known.code, dict(known.empty))


def grade_one(
    assignment: Assignment,
    student: str,
    data: bytes | None,
    *,
    notice: Sequence[str] = (),
    refused: str = "",
    known: Sequence[str] = (),
    own_id: str = "",
    secret: bytes | None = None,
    limits: Limits = LIMITS,
    ask: Callable[..., Outcome] | None = None,
    handed_out: Released | None = None,
    earlier: Mapping[str, str] = {},
) -> dict:
    """Grade one submission.

    Parameters
    ----------
    assignment : Assignment
    student : str
        Who handed it in.
    data : bytes or None
        The file; None where nothing was handed in, or, with a sentence in `refused`, where it was
        not read.
    notice, known : sequence of str
        What the teacher should know already; other names of the student.
    own_id : str, optional
        Whose inputs the notebook should have, where that is not `student`: the number in an LMS'
        download, without a roster.
    secret : bytes, optional
        The teacher's key, which signs the result.
    limits : Limits
        What the student's code may use.
    ask : callable, optional
        What runs the student's code, with the arguments and the result of
        `handful_classroom.sandbox.run.ask`, which it is by default.  Tests of what stands
        around the sandbox hand in another; it has to be a module's own function where processes are
        used.
    handed_out : Released, optional
        What `released` gives, where it is at hand: it takes a second, which every process would
        pay.
    earlier : mapping
        Sources of earlier editions, by edition: a notebook of one of them is graded by its inputs.

    Returns
    -------
    dict
        The result, of JSON values.
    """
    notices = list(notice)
    head = _head(assignment, student, own_id or student)
    head["submission"] = _digest(data) if data is not None else "unread" if refused else ""

    def ended(status: str, says: str, **more) -> dict:
        more = {"notices": notices, "status": status, "says": says} | more
        return store.signed(head | more, secret)

    if data is None and refused:
        return ended("ungradable", f"This could not be graded: {refused}")
    if data is None:
        return ended("missing", "Nothing was handed in.")
    try:
        handed_out = handed_out or _handed_out(assignment, earlier)
        handed = cells(data, handed_out)
    except NotebookError as error:
        return ended("ungradable", f"This could not be graded: {error}")
    if another := _of_another(assignment, handed.origin):
        # Its questions are not there to be answered: points, were it 0, would be no judgement.
        why = f"It is a notebook of the assignment {another!r}, not of {assignment.name!r}."
        return ended("ungradable", f"This could not be graded: {why}")
    if handed_out.untouched(handed):
        notices.append(UNTOUCHED)
    owner = handed.drawn_for or own_id or student
    variant = assignment.variant(owner)
    notices += _whose(owner, student, own_id or student, known)
    notices += _by_spelling(handed.origin, owner)
    basis, kind, said = _inputs(assignment, handed.origin, variant, earlier)
    answers, stops = _sandbox_answers(basis, variant, handed, owner, limits, ask)
    notices += [*said, *stops]
    parts = judge(basis, variant, answers, handed.texts)
    status = next((one for one in STATUSES if one in {part["status"] for part in parts}), "ok")
    points = round(sum(part["points"] for part in parts), 2)
    return ended(
        status,
        _summary(assignment, parts, points),
        variant=variant,
        drawn_for=handed.drawn_for,
        notebook_edition=assignment.edition if handed.origin.released else handed.origin.edition,
        inputs=kind,
        points=points,
        questions=parts,
    )


def _of_another(assignment: Assignment, origin: Origin) -> str:
    """Return the name of the other assignment that a notebook is of, "" where it is of this one."""
    own = origin.released or origin.assignment in (None, assignment.name)
    return "" if own else str(origin.assignment)


def refuse_another(assignment: Assignment, submissions: Iterable[Submission]) -> None:
    """Raise SubmissionError where most of the first notebooks are of another assignment.

    So the slip of a name costs nobody a grade.
    """
    found: list[str] = []
    for one in submissions:
        if one.data is not None:
            with suppress(NotebookError, OverlongError), within(READING_SECONDS):
                found.append(_of_another(assignment, read_notebook(one.data).origin))
            if len(found) == MOST_ASKED:
                break
    [(other, many)] = Counter(filter(None, found)).most_common(1) or [("", 0)]
    if 2 * many <= len(found):
        return
    renamed = f", or give {_own_file(assignment)} the name {other}.md" * bool(_own_file(assignment))
    raise SubmissionError(
        f"{many} of {'the first ' * (len(found) == MOST_ASKED)}{plural(len(found), 'notebook')} "
        f"{'is' if many == 1 else 'are'} of the assignment {other!r}, not of {assignment.name!r}; "
        f"nothing was done.  Write --assignment {other}{renamed}."
    )


def refuse_unfilled(
    assignment: Assignment,
    submissions: Iterable[Submission],
    before: Mapping[str, Before],
    earlier: Iterable[str] = (),
) -> None:
    """Raise SubmissionError where notebooks as they were handed out would replace others.

    That is a slip where they are half of all that came, or more, and somebody of the class has
    something else `before`.

    Parameters
    ----------
    assignment : Assignment
    submissions : iterable of Submission
    before : mapping
        What the students of the class handed in last, by the names they have now.
    earlier : iterable of str
        Sources of earlier editions.
    """
    known = {one.submission for one in before.values()}
    handed_out = None
    read, new, unfilled, replaced = 0, 0, 0, []
    for one in submissions:
        if one.data is None:
            continue
        read += 1
        if _digest(one.data) in known:
            continue
        # Made for the first new file only, since it takes a second.
        handed_out = handed_out or _handed_out(assignment, earlier_editions(assignment, earlier))
        with suppress(NotebookError, OverlongError), within(READING_SECONDS):
            if handed_out.untouched(cells(one.data, handed_out)):
                unfilled += 1
                was = before.get(one.student)
                replaced += [one.student] * bool(was and was.submission and not was.untouched)
        new += 1
        if new == MOST_ASKED:
            break
    if not replaced or 2 * unfilled < read:
        return
    are = "is as it was" if unfilled == 1 else "are as they were"
    raise SubmissionError(
        f"{unfilled} of {'the first ' * (new == MOST_ASKED)}{plural(read, 'notebook')} {are} "
        "handed out, with nothing filled in, and would take the place of what "
        f"{few(replaced)} handed in before; nothing was done.  Name what students handed in; "
        "--unfilled grades these all the same."
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _head(assignment: Assignment, student: str, own_id: str) -> dict[str, Any]:
    """Return the fields of a result, as they are before anything is graded."""
    return {
        "schema": SCHEMA,
        "assignment": assignment.name,
        "edition": assignment.edition,
        "library": library(),
        "student": student,
        "submission": "",
        "variant": assignment.variant(own_id),
        "drawn_for": None,
        "notebook_edition": None,
        "inputs": "",
        "points": 0.0,
        "possible": round(float(assignment.points), 2),
        "waiting": round(float(assignment.waiting), 2),
        "questions": [],
        "notices": [],
    }


def _sandbox_answers(
    basis: Assignment,
    variant: int,
    handed: Handed,
    owner: str,
    limits: Limits,
    ask: Callable[..., Outcome] | None,
) -> tuple[Sequence[Answer], list[str]]:
    """Run a notebook's cells and put the requests to it; return its answers, and notices."""
    if ask is None:
        from ..sandbox.run import ask as in_sandbox

        ask = in_sandbox
    inputs = variants.inputs_of(basis, variant)
    # In place of a first cell that is not run, so that cells keep their numbers.
    code = [PROLOGUE.format(owner), *handed.cells[handed.cells[:1] == ("",) :]]
    # Whether its cells left the inputs as they are.
    first = [{"get": "given", "question": "given"}] if inputs else []
    outcome = ask(code, [*first, *requests(basis, variant)], inputs, limits, basis.library == "all")
    left = outcome.answers[0].value if first and outcome.answers[0].status == "value" else inputs
    notices = []
    if isinstance(left, dict) and (differ := _differing(left, inputs)):
        notices.append(f"Its cells set other inputs than those it was graded by: {differ}.")
    notices += _stops(code, len(code) - len(handed.cells), outcome)
    return outcome.answers[len(first) :], notices


def _by_spelling(origin: Origin, owner: str) -> list[str]:
    """Return a notice about a notebook whose inputs were drawn for capitals as they were typed."""
    if not origin.by_spelling or canonical(owner) == owner:
        return []
    return [
        "This notebook was released when capitals still counted: it drew the inputs of "
        f"{owner!r} as it is "
        f"written, and was graded by those of {canonical(owner)!r}; release it again."
    ]


def _whose(owner: str, student: str, own_id: str, known: Sequence[str]) -> list[str]:
    """Return notices about the id that a notebook's inputs were drawn for.

    There is none where the id is the student's own.

    Inputs follow from what was typed, since that is what the student worked with; so whoever has
    several names could choose among several sets of inputs.

    >>> _whose("\uff21DA ", "ada", "ada", ["Ada Lovelace"])
    []
    >>> _whose("ada lovelace", "ada", "ada", ["Ada Lovelace"])
    ["The notebook's inputs were drawn for 'ada lovelace', another name of the student,
      and not for the id 'ada'."]
    """
    if canonical(owner) == canonical(own_id):
        return []
    if canonical(owner) in map(canonical, (student, *known)):
        return [
            f"The notebook's inputs were drawn for {owner!r}, another name of the student, "
            f"and not for the id {own_id!r}."
        ]
    return [
        f"The notebook says that its inputs were drawn for {owner!r}; it was handed in for "
        f"{student!r}."
    ]


def _summary(assignment: Assignment, parts: Sequence[dict], points: float) -> str:
    """Return the sentence of a result: points so far, and what waits for the teacher.

    >>> from types import SimpleNamespace
    >>> _summary(
    ...     SimpleNamespace(points=12, waiting=6),
    ...     [{"status": "ok"}, {"status": "waiting", "possible": 4}],
    ...     7.5,
    ... )
    '7.5 of 14 points; your teacher reads the written answer, for up to 4 more.'
    """
    waits = [part["possible"] for part in parts if part["status"] == "waiting"]
    return summary(points, assignment.points + assignment.waiting, sum(waits), len(waits))


def _stops(code: Sequence[str], before: int, outcome: Outcome) -> list[str]:
    """Report the cells that did not end well, by their first line.

    The first `before` cells are ours.
    """
    found = []
    for stop in outcome.cells[:MOST_NOTICES]:
        source = code[stop.cell] if 0 <= stop.cell < len(code) else ""
        first = next((line.strip() for line in source.split("\n") if line.strip()), "")
        at = f", line {stop.line}" if stop.line else ""
        found.append(
            f"Cell {stop.cell + 1 - before} (“{printable(first, 40)}”{at}) did not end well: "
            f"{stop.says}"
        )
    if len(outcome.cells) > MOST_NOTICES:
        found.append(f"So did not {len(outcome.cells) - MOST_NOTICES} more.")
    return found


# A class


@dataclass(frozen=True)
class Job:
    """The settings of a grading: all that a worker needs beside a submission.

    Results are signed where they come together; no worker has the key.
    """

    source: str
    file: str
    limits: Limits
    handed_out: Released
    ask: Callable[..., Outcome] | None = None
    earlier: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, task: tuple[str, Submission]) -> dict:
        """Grade one submission of the class; a task is its key and itself."""
        one = task[1]
        return grade_one(
            _loaded(self.source, self.file),
            one.student,
            one.data,
            notice=one.notice,
            refused=one.refused,
            known=one.known,
            own_id=one.own_id,
            limits=self.limits,
            ask=self.ask,
            handed_out=self.handed_out,
            earlier=self.earlier,
        )


@lru_cache(16)
def _loaded(source: str, file: str) -> Assignment:
    return read_text(source, file)


def key(
    assignment: Assignment,
    one: Submission,
    limits: Limits,
    secret: bytes | None,
    earlier: Mapping[str, str] = {},
) -> str:
    """Return the key under which a result is kept: the digest of all that it follows from."""
    data = _digest(one.data) if one.data is not None else None
    return store.key(
        SCHEMA,
        one.student,
        data,
        one.refused,
        one.notice,
        one.known,
        one.own_id,
        assignment.name,
        assignment.edition,
        library(),
        asdict(limits),
        _digest(secret) if secret else None,
        sorted(earlier),
    )


@dataclass
class Graded:
    """The outcome of a class.

    It has how many results have each status, how many were graded before, the faults of the grader
    by student, the ids that several notebooks claim, who is kept from an earlier grading, who is
    nobody on the roster, the status of whoever handed in and was graded now, and whose notebook
    as it was handed out no longer counts; and how many of the missing handed in nothing.
    """

    statuses: Counter
    before: int
    faults: dict[str, str]
    claims: dict[str, list[str]]
    kept: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    new: dict[str, str] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    absent: int = 0

    @property
    def counts(self) -> Counter:
        """Return the statuses of what was handed in, and how many handed in nothing."""
        return self.statuses - Counter(missing=self.absent) + Counter({ABSENT: self.absent})


class People:
    """The names that mean each student, and the student that each notebook names."""

    def __init__(self) -> None:
        self.claims: list[tuple[str, str]] = []  # the id in a notebook, and who handed it in
        self._names: dict[str, str | None] = {}  # canonical name → whose; None: two students'

    def add(self, one: Submission) -> None:
        """Register the names of a submission's student."""
        for name in map(canonical, {one.student, *one.known}):
            self._names[name] = (
                one.student if self._names.get(name, one.student) == one.student else None
            )

    def claimed_twice(self) -> dict[str, list[str]]:
        """Return who handed in the notebooks that claim to be the same student, by that student.

        Claims by any of a student's names count together.

        >>> people = People()
        >>> people.add(Submission("ada", "", b"", known=("Ada Lovelace",)))
        >>> people.claims += [("Ada", "ada"), ("ada lovelace", "bob"), ("Zoe", "zoe")]
        >>> people.claimed_twice()
        {'ada': ['ada', 'bob']}
        """
        found: dict[str, list[str]] = {}
        for name, who in self.claims:
            found.setdefault(self._names.get(canonical(name)) or canonical(name), []).append(who)
        return {name: sorted(who) for name, who in found.items() if len(who) > 1}


def run(
    assignment: Assignment,
    submissions: Iterable[Submission],
    folder: str | Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    secret: bytes | None = None,
    limits: Limits = LIMITS,
    total: int | None = None,
    anew: bool = False,
    source: str | None = None,
    earlier: Iterable[str] = (),
    ask: Callable[..., Outcome] | None = None,
    progress: Callable[[int, int | None, Counter], None] | None = None,
    keep: bool = False,
    roster: Roster | None = None,
    seconds: float = READING_SECONDS,
    say: Callable[[str], object] = lambda sentence: None,
) -> Graded:
    """Grade a class into a results folder.

    What was graded there before from the same sources is left as it is.

    Parameters
    ----------
    submissions : iterable of Submission
        Read as they are needed.
    jobs : int, optional
        Processes on this machine: as many as there are cores by default; 0 grades within this
        process.
    scheduler : str, optional
        The address of a Dask scheduler, whose workers grade instead.
    total : int, optional
        How many submissions there are, for `progress`, which is called with what is done, `total`
        and the statuses so far.
    anew : bool
        Grade again what was graded before.
    source : str, optional
        The text of the assignment's source; read from its file by default.
    earlier : iterable of str
        Sources of earlier editions; a notebook of one of them is graded by its inputs.
    keep : bool
        Keep the results of those who handed in before and of whom nothing is among these
        submissions, as when latecomers are graded alone.
    roster : Roster, optional
        The class, by which a student is known who was graded under another name before.
    seconds : float
        Processor time, above 0, that this program may itself spend on one submission; a submission
        that takes more is given up and becomes a fault.
    say : callable, optional
        Called with a sentence when the scheduler has no worker left, and when grading goes on.

    Raises
    ------
    SourceError
        Where one of these is no source.
    ClusterError, StoreError, GradingError
        Where grading cannot go on; what is done is kept, and the same call goes on from there.
    """
    source = source if source is not None else source_of(assignment)
    before = earlier_editions(assignment, earlier)
    job = Job(source, assignment.file, limits, _handed_out(assignment, before), ask, before)
    register = _Register(total, progress)
    with store.opened(folder) as results:

        def key_of(one: Submission) -> str:
            return key(assignment, one, limits, secret, before)

        def known(made: str) -> dict | None:
            found = None if anew else results.get(made)
            trusted = found is not None and (secret is None or store.verified(found, secret))
            return found if trusted else None

        earlier_class = _earlier_class(folder, assignment) if keep else {}
        past = _past_editions(folder, assignment)
        tasks = register.tasks(submissions, key_of, known)
        found = _outcomes(job, tasks, jobs, scheduler, seconds, say)
        complete = False
        try:
            for (made, one), came in found:
                result, under = _result_of(assignment, made, one, came)
                if isinstance(came, cluster.Fault):
                    register.graded.faults[one.student] = came.says
                results.put(under, store.signed(result, secret))
                register.note(made, result, under)
                if result["submission"]:
                    register.graded.new[one.student] = result["status"]
            complete = True
        finally:
            found.close()
            graded = register.graded
            listed = register.listed()
            if complete:
                listed = register.with_earlier(listed, earlier_class, results.get, roster)
            graded.claims = register.people.claimed_twice()
            if complete or register.kept:
                results.finish(
                    assignment.name,
                    listed,
                    complete,
                    edition=assignment.edition,
                    file=_own_file(assignment),
                    past=past,
                    claims=graded.claims,
                    faults=sorted(graded.faults),
                )
    return graded


def _earlier_class(folder: str | Path, assignment: Assignment) -> dict[str, str]:
    """Return who was graded last for this assignment, with the keys of their results."""
    try:
        found = store.overview(folder)
    except store.StoreError:  # none, or one that is damaged
        return {}
    if found.get("assignment") != assignment.name:
        return {}
    return {one["student"]: one["key"] for one in found["students"]}


def _past_editions(folder: str | Path, assignment: Assignment) -> list[str]:
    """Return the editions that a folder was graded by before this one, the latest last."""
    try:
        found = store.overview(folder)
    except store.StoreError:
        return []
    past = [*found.get("past", []), found.get("edition")]
    return list(dict.fromkeys(one for one in past if one and one != assignment.edition))


def _own_file(assignment: Assignment) -> str:
    """Return where the source is, by which a report finds it again; "" for one of the book's."""
    path = Path(assignment.file)
    own = path.is_file() and not path.resolve().is_relative_to(source_folder().resolve())
    return str(path.resolve()) if own else ""


class _Register:
    """The class while it is graded: who handed in, what is kept of whom, and the counts."""

    def __init__(
        self, total: int | None, progress: Callable[[int, int | None, Counter], None] | None
    ) -> None:
        self.total, self.progress = total, progress
        self.graded = Graded(Counter(), 0, {}, {})
        self.people = People()
        self.order: list[tuple[str, str]] = []  # of the class: student and key
        self.kept: dict[str, str] = {}  # key → key of what stands there

    def tasks(
        self,
        submissions: Iterable[Submission],
        key_of: Callable[[Submission], str],
        known: Callable[[str], dict | None],
    ) -> Iterator[tuple[str, Submission]]:
        """Register all submissions; yield those that have no result yet, each with its key."""
        for one in submissions:
            made = key_of(one)
            self.order.append((one.student, made))
            if STRANGER in one.notice:
                self.graded.strangers.append(one.student)
            self.people.add(one)
            if (result := known(made)) is not None:
                self.graded.before += bool(result["submission"])
                self.note(made, result, made)
            else:
                yield made, one

    def note(self, made: str, result: dict, under: str) -> None:
        """Count a result, which is kept `under` a key."""
        self.kept[made] = under
        self.graded.statuses[result["status"]] += 1
        self.graded.absent += not result["submission"]
        if result["drawn_for"]:
            self.people.claims.append((result["drawn_for"], result["student"]))
        if self.progress:
            self.progress(self.graded.statuses.total(), self.total, self.graded.counts)

    def listed(self) -> list[tuple[str, str]]:
        """Return students in the order of the class, each with the key of what is kept."""
        return [(student, self.kept[made]) for student, made in self.order if made in self.kept]

    def with_earlier(
        self,
        listed: list[tuple[str, str]],
        earlier: Mapping[str, str],
        get: Callable[[str], dict | None],
        roster: Roster | None,
    ) -> list[tuple[str, str]]:
        """Return the list with earlier results of those of whom nothing came now.

        Left out is who has a result under the name that the roster has, and what nobody could
        read.
        """
        keys, statuses = dict(listed), self.graded.statuses
        slips = self._slips(listed, earlier, get)
        arrived = self._arrived(listed, earlier, get) if roster else set()
        for student, under in earlier.items():
            now = get(keys[student]) or {} if student in keys else None
            before = get(under)
            if (now and now.get("submission")) or not before or not before.get("submission"):
                continue
            if student in slips:
                self.graded.dropped.append(student)
                continue
            if now is None and roster:
                if other := roster.whose(student):
                    gone = (get(keys.get(other, "")) or {}).get("submission")
                else:
                    gone = before["submission"] in {"unread", *arrived}
                if gone:
                    continue
            if now is not None:
                statuses[now["status"]] -= 1
                self.graded.absent -= 1
                listed = [(who, under if who == student else key) for who, key in listed]
            else:
                listed = [*listed, (student, under)]
            statuses[before["status"]] += 1
            self.graded.kept.append(student)
            if before["drawn_for"]:
                self.people.claims.append((before["drawn_for"], student))
        return listed

    def _slips(
        self,
        listed: list[tuple[str, str]],
        earlier: Mapping[str, str],
        get: Callable[[str], dict | None],
    ) -> set[str]:
        """Return whose earlier notebooks nobody handed in: they were graded by a slip.

        Half of the class or more had notebooks as they were handed out, and has others now.
        """

        def untouched(keys: Iterable[tuple[str, str]]) -> tuple[int, set[str]]:
            came, found = 0, set()
            for student, under in keys:
                result = get(under) or {}
                came += bool(result.get("questions"))
                found |= {student} if UNTOUCHED in result.get("notices", ()) else set()
            return came, found

        before, slips = untouched(earlier.items())
        if len(slips) < 2 or 2 * len(slips) < before:
            return set()
        now, empty = untouched(listed)
        return slips if 2 * now >= before and 2 * len(empty) < now else set()

    def _arrived(
        self,
        listed: list[tuple[str, str]],
        earlier: Mapping[str, str],
        get: Callable[[str], dict | None],
    ) -> set[str]:
        """Return the notebooks that came now, and not before, from students of the roster.

        One that somebody else had handed in under no name of the roster was only renamed.
        """
        found: set[str] = set()
        for student, under in listed:
            if student not in self.graded.strangers and under != earlier.get(student):
                now, before = get(under) or {}, get(earlier.get(student, "")) or {}
                found |= {now.get("submission", "")} - {before.get("submission", "")}
        return found - {""}


def _outcomes(
    job: Job,
    tasks: Iterator,
    jobs: int | None,
    scheduler: str | None,
    seconds: float,
    say: Callable[[str], object],
) -> Generator[tuple, None, None]:
    """Yield each task with its outcome, from a cluster, this process or several processes."""
    longest = 600 + 5 * job.limits.total_seconds
    if scheduler:
        return cluster.dask(job, tasks, scheduler, longest, seconds, say)
    if jobs == 0:
        return cluster.here(job, tasks, seconds)
    return cluster.pool(job, tasks, jobs or cluster.cores(), longest, seconds)


def _result_of(assignment: Assignment, made: str, one: Submission, came: Any) -> tuple[dict, str]:
    """Return the result of a submission and the key under which it is kept.

    That of a fault is another, so that the next run tries it again.
    """
    if isinstance(came, cluster.Fault):
        return _failed(assignment, one, came.late), store.key("fault", made)
    return came.result, made


def _failed(assignment: Assignment, one: Submission, late: bool) -> dict:
    """Return the result of a submission at which the grader failed, not the student.

    `late` says that the submission took too long to read.
    """
    why = (
        "reading it took too long; your teacher looks into it."
        if late
        else "the grader itself failed; your teacher looks into it."
    )
    result = grade_one(
        assignment,
        one.student,
        None,
        notice=one.notice,
        known=one.known,
        own_id=one.own_id,
        refused=why,
    )
    return result | {"submission": _digest(one.data) if one.data is not None else "unread"}


def source_of(assignment: Assignment) -> str:
    """Return the text that an assignment was read from.

    Raises GradingError where the file is missing or has changed since.
    """
    from handful_study.source import folder

    paths = [
        path
        for path in (
            folder().parent / assignment.file,
            folder() / "assignments" / Path(assignment.file).name,
            Path(assignment.file),
        )
        if path.is_file()
    ]
    for path in paths:
        text = path.read_bytes().decode("utf-8")
        if hashlib.sha256(text.encode()).hexdigest().startswith(assignment.edition):
            return text
    raise GradingError(f"{shown(assignment.file)} is not there, or has changed since it was read.")
