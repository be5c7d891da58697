"""Commands of `handful assign` that grade: grade, verify, key, sandbox."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from .progress import Progress

ROSTER = "class-lists/roster"  # of a results folder: the last that was named


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
    _add_grade(command)
    checked = command("verify", _verify, "check that results are as they were signed")
    checked.add_argument("results", metavar="RESULTS", help="a results folder")
    checked.add_argument(
        "--key", required=True, metavar="FILE", help="the key that they were signed with"
    )
    made = command(
        "key",
        _key,
        "make a key that signs results",
        "Whoever has the file can sign results: keep it where only you read it.",
        programs=False,
    )
    made.add_argument("file", metavar="FILE")
    command(
        "sandbox",
        _sandbox,
        "what the sandbox on this machine can do, or what is missing",
        programs=False,
    )


def _add_grade(command) -> None:
    parser = command(
        "grade",
        _grade,
        "grade a class: a folder, a zip, or a download of Canvas, Moodle or nbgrader",
        "Student code runs in a sandbox only.  What was graded before from the same sources is "
        "skipped, and a grading that was\n"
        "interrupted goes on.  A notebook that breaks something costs its author, and not the "
        "class.\n"
        "Example: handful assign grade submissions.zip --assignment roofline -o results",
    )
    parser.add_argument(
        "submissions", metavar="SUBMISSIONS", help="a folder, a zip, or one notebook"
    )
    parser.add_argument(
        "--assignment",
        required=True,
        metavar="NAME",
        help="such as roofline, or the path of a source",
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="the results folder; NAME-results by default"
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="processes; as many as there are cores by default"
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="grade on the workers of this Dask scheduler, such as tcp://10.0.0.1:8786",
    )
    parser.add_argument(
        "--roster",
        metavar="FILE",
        help="the class as CSV, best as the LMS exports it: students' ids, whose each file is, "
        "and who handed in nothing",
    )
    parser.add_argument(
        "--key",
        metavar="FILE",
        help="sign the results with this key; 'handful assign key FILE' makes one",
    )
    parser.add_argument(
        "--limits",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="what a notebook may use, such as call_seconds=5 memory_bytes=2e9",
    )
    parser.add_argument(
        "--earlier",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="sources of earlier editions, files or folders: their notebooks are graded by "
        "their own inputs; "
        "by default what 'handful assign build' kept in NAME/teacher/editions",
    )
    parser.add_argument("--again", action="store_true", help="grade again what was graded before")
    parser.add_argument(
        "--back",
        action="store_true",
        help="grade by a source that has been mended since, as before",
    )
    parser.add_argument(
        "--alone",
        action="store_true",
        help="take these submissions alone: forget whoever was graded here before and is not among "
        "them",
    )
    parser.add_argument(
        "--newcomers",
        action="store_true",
        help="grade whoever is not on the roster or, without one, was not graded here before, even "
        "where they are half of those who hand in, or more",
    )
    parser.add_argument(
        "--unfilled",
        action="store_true",
        help="grade notebooks as they were handed out, with nothing filled in, even where they are "
        "half of all, or more, and take the place of others",
    )


def _grade(options) -> None:
    from handful import cli

    from .grading import class_lists, grade, grades, store
    from .grading.roster import Roster
    from .release.assignment import assignment as find
    from .tables import TableError

    assignment = find(options.assignment)
    if options.jobs is not None and options.jobs < 1:
        raise cli.UsageError(f"--jobs is a number of processes, 1 or more; got {options.jobs}.")
    limits = read_limits(options.limits)
    secret = store.read_key(options.key) if options.key else None
    folder = Path(options.output or f"{assignment.name}-results")
    earlier, unread = _earlier(assignment, options.earlier)
    roster_file, roster_notes = _roster_file(folder, options.roster)
    roster = Roster.read(roster_file) if roster_file else None
    before = _edition_before(folder, assignment, options.back)
    if options.roster and roster:
        if not options.alone:
            _refuse_another_class(folder, roster, options.roster)
        # A list that could not be kept afterwards is refused before anything is written.
        class_lists.together(folder, Path(options.roster), roster.students)
    whole = {one["student"] for one in _students_before(folder, complete=True)}
    last = _last(folder, roster)
    graded = _graded(options, assignment, folder, roster, secret, limits, earlier, last)
    newcomers = [one for one in graded.new if whole and one not in whole and not roster]
    reported, unwritten = _reports(folder, assignment, options.roster, last)
    urgent = [note for note in reported if isinstance(note, grades.First)]
    first = [*urgent, *_strangers(graded, roster)]
    notes = [
        *unread,
        *roster_notes,
        *_another_source(assignment, *before),
        *([roster.says] if roster and options.roster else []),
        *_notes(graded),
        *([] if options.alone else _newcomers(newcomers)),
        *([] if options.roster else _in_place_of_another(folder, last)),
        *_unsigned(folder),
        *(note for note in reported if note not in urgent),
    ]
    if options.json:
        cli.print_json(_as_json(graded, assignment, folder, [*first, *notes]))
    else:
        for line in first:
            print(line, file=sys.stderr)
        now = last if graded.new else _last(folder, None)
        others = [one for one in last | now if last.get(one) != now.get(one)]
        _print_graded(graded, folder, notes, others)
    if roster_file and options.roster:
        _keep_roster(folder, roster_file)
    if unwritten:
        raise TableError(unwritten)
    if graded.faults:
        raise grade.GradingError(
            f"{len(graded.faults)} of {sum(graded.statuses.values()):,} could not be graded "
            "through no fault of theirs: "
            f"{', '.join(sorted(graded.faults)[:5])}; the same command tries them again."
        )


def _edition_before(folder: Path, assignment, back: bool) -> tuple[str, str]:
    """Return the edition that a folder's results were graded by, and its file; "" for none.

    Raises GivenError where they are results of another assignment, or by an edition that came
    after this one, unless `back`.
    """
    from .grading import store

    try:
        found = store.overview(folder)
    except store.StoreError:
        return "", ""
    if found.get("assignment") != assignment.name:
        raise store.GivenError(
            f"{folder} holds results of {found.get('assignment')!r}, and {assignment.file} is "
            f"{assignment.name!r}, as an assignment is called by its file: give a copy of the "
            f"source the name {found.get('assignment')}.md, or name another folder with -o."
        )
    if assignment.edition in found.get("past", []) and not back:
        raise store.GivenError(
            f"{folder} was graded by {assignment.file} (edition {assignment.edition}) before, and "
            f"since then by {found.get('file') or 'another source'} (edition "
            f"{found.get('edition')}): name that one, or go back to the older with --back."
        )
    return str(found.get("edition") or ""), str(found.get("file") or "")


def _refuse_another_class(folder: Path, roster, named: str) -> None:
    """Raise SubmissionError where nobody who was graded in a folder is on the roster."""
    from .grading.submissions import SubmissionError

    before = _students_before(folder)
    if before and not any(roster.whose(one["student"]) for one in before):
        raise SubmissionError(
            f"Nobody who was graded in {folder} is on {named}; nothing was done.  For another "
            "class or section name another folder with -o; --alone puts it in the place of the "
            "old one."
        )


def _students_before(folder: Path, complete: bool = False) -> list[dict]:
    """Return the students whose results a folder holds; none where it holds no class.

    With `complete`, none where that grading was stopped either, since this one goes on with it.
    """
    from .grading import store

    try:
        found = store.overview(folder)
    except store.StoreError:
        return []
    return found["students"] if found.get("complete", True) or not complete else []


def _last(folder: Path, roster) -> dict:
    """Return what each student of a folder's class handed in last, by the names of the roster."""
    from .grading import grade, store
    from .grading.student_grade import UNTOUCHED

    found = {}
    for one in _students_before(folder):
        result = store.load(folder / "results" / f"{one['key']}.json")
        if result and result["submission"]:
            student = (roster and roster.whose(one["student"])) or one["student"]
            found[student] = grade.Before(result["submission"], UNTOUCHED in result["notices"])
    return found


def _refuse_newcomers(submissions: Iterable, before: set[str], roster: str, folder: Path) -> None:
    """Raise SubmissionError where two or more who hand in, and half of all or more, are new.

    New is who is not on the `roster` or, where that is "", was not graded `before`.  The file of
    one student alone may have any name, and who was graded before may hand in again.
    """
    from .grading.roster import STRANGER
    from .grading.submissions import SubmissionError

    new, known = [], 0
    for one in submissions:
        if one.student not in before and (STRANGER in one.notice or not roster):
            new.append(one.student)
        elif one.data is not None or one.refused:  # somebody's of the roster, or in doubt
            known += 1
    if len(new) < 2 or known > len(new):
        return
    where = f"on {roster}" if roster else f"among those who were graded in {folder} before"
    who = (
        f"{len(new):,} of the {len(new) + known:,} who handed in, such as {new[0]}, are not"
        if known
        else f"None of the {len(new):,} who handed in, such as {new[0]}, is"
    )
    lost = ", but leaves out of the files for Canvas and Moodle whoever is on no list"
    raise SubmissionError(
        f"{who} {where}; nothing was done.  "
        f"{'For another class or section name another folder with -o; if' if before else 'If'} "
        "they are of this class, give its list with --roster, best as the platform that collected "
        f"the files exports it; --newcomers grades them all the same{lost if roster else ''}."
    )


def _strangers(graded, roster) -> list[str]:
    """Return who handed in and is nobody on the roster, with whom the file's name may mean."""
    from handful.nearest import alike

    from .tables import few

    if not graded.strangers:
        return []
    told = []
    for who in graded.strangers:
        near = alike(who, roster.students, 1)
        told.append(f"{who} ({near[0]}?)" if near else who)
    are, grades = ("is", "This grade is") if len(told) == 1 else ("are", "Their grades are")
    return [
        f"{len(told)} {are} nobody on the roster: {few(told, 10)}.  "
        f"{grades} in grades.csv, and in no file for Canvas or Moodle.  "
        "Give a file the name of whose it is, such as "
        f"{roster.students[0] if roster.students else 'ada'}.ipynb, and grade it again.  "
        "To remove who is of another class, grade all files of this class, and no others, with "
        "--alone."
    ]


def _another_source(assignment, edition: str, file: str) -> list[str]:
    """Return a sentence where results were graded by another source than this one."""
    if edition in ("", assignment.edition):
        return []
    return [
        f"The results here were graded by another edition of {assignment.name} "
        f"({file or edition}), and are graded by {assignment.file} now."
    ]


def _graded(
    options, assignment, folder: Path, roster, secret, limits, earlier: list[str], last: dict
):
    """Grade the submissions that the options name; show on standard error how far it is."""
    from handful.cli import MissingError

    from .grading import grade, submissions

    if options.scheduler:  # what goes wrong there is said in a sentence, and not in Dask's log
        logging.disable(logging.CRITICAL)
    before = {one["student"] for one in _students_before(folder)}
    again = bool(before) and not options.alone
    with submissions.opened(options.submissions, assignment.name, roster) as found:
        # Of a class that was stopped amid its grading, many are new as it goes on.
        joined = {one["student"] for one in _students_before(folder, complete=not roster)}
        if options.alone and (options.roster or not roster):  # in the place of the old class
            joined = set()
        if (roster or joined) and not options.newcomers:
            named = (options.roster or "the roster that was given before") if roster else ""
            _refuse_newcomers((read() for read in found), joined, named, folder)
        grade.refuse_another(assignment, (read() for read in found))
        if not options.unfilled:
            grade.refuse_unfilled(assignment, (read() for read in found), last, earlier)
        try:
            with Progress("Went through", "", len(found)) as show:
                return grade.run(
                    assignment,
                    (read() for read in found),
                    folder,
                    jobs=options.jobs,
                    scheduler=options.scheduler,
                    secret=secret,
                    limits=limits,
                    total=len(found),
                    anew=options.again,
                    earlier=earlier,
                    progress=lambda done, total, statuses: show(done, _counts(statuses, again)),
                    say=show.say,
                    keep=not options.alone,
                    roster=roster,
                )
        except ModuleNotFoundError as error:
            if error.name != "distributed":
                raise
            raise MissingError(
                "--scheduler needs the package distributed, which is not installed; pip install "
                "'handful[classroom]' brings it."
            ) from None
        except KeyboardInterrupt:
            print(
                f"Stopped.  What is graded is kept in {folder}, and the same command goes on.",
                file=sys.stderr,
            )
            raise


def _counts(counts: Counter, again: bool) -> str:
    """Return how many have each status; who handed in comes first.

    `again` where the class was graded before: who is not among what came now, as when one late file
    is graded alone, may have a result.

    >>> _counts(Counter({"ok": 3, "missing": 1, "not handed in": 2}), False)
    'ok 3, missing 1, not handed in 2'
    >>> _counts(Counter({"ok": 1, "not handed in": 3}), True)
    'ok 1, not among these 3'
    """
    from .grading.grade import ABSENT

    in_order = sorted(counts.most_common(), key=lambda pair: pair[0] == ABSENT)
    named = {ABSENT: "not among these"} if again else {}
    return ", ".join(f"{named.get(status, status)} {count:,}" for status, count in in_order)


def _as_json(graded, assignment, folder: Path, notes: list[str]) -> dict:
    return {
        "folder": str(folder),
        "assignment": assignment.name,
        "edition": assignment.edition,
        "submissions": sum(graded.statuses.values()),
        "before": graded.before,
        "new": graded.new,
        "statuses": dict(graded.statuses),
        "faults": graded.faults,
        "claims": graded.claims,
        "kept": graded.kept,
        "notes": notes,
    }


def _print_graded(graded, folder: Path, notes: list[str], others: list[str]) -> None:
    from handful import cli

    from .grading import grade

    counts = graded.counts
    order = (*reversed(grade.STATUSES), grade.ABSENT)
    rows = [(status, f"{counts[status]:,}") for status in order if counts[status]]
    if graded.before or graded.kept:  # the counts are not those of what was graded now
        print(f"{_new(graded, others)}\n\nThe whole class:")
    cli.print_columns(rows or [("submissions", "0")])
    print(f"\nResults are in {folder}.")
    for line in notes:
        print(line, file=sys.stderr)


def _new(graded, others: list[str]) -> str:
    """Return who was graded now and not left as before, in a sentence.

    `others` have another submission than before, which was graded some time ago.

    >>> from types import SimpleNamespace as Graded
    >>> _new(Graded(new={"dan": "wrong"}, statuses=Counter(ok=27, wrong=1)), [])
    'Graded now: 1 of 28, dan (wrong).'
    >>> _new(Graded(new={}, statuses=Counter(ok=28)), ["ada"])
    'Nothing had to be graded, but 1 has another submission than the last time: ada.'
    """
    from .tables import few

    if not graded.new and others:
        have = "has" if len(others) == 1 else "have"
        return (
            f"Nothing had to be graded, but {len(others):,} {have} another submission than the "
            f"last time: {few(others)}."
        )
    if not graded.new:
        return "Nothing new was handed in, and nothing had to be graded again."
    told = few([f"{student} ({status})" for student, status in graded.new.items()])
    return f"Graded now: {len(graded.new):,} of {sum(graded.statuses.values()):,}, {told}."


def _earlier(assignment, paths: list[str]) -> tuple[list[str], list[str]]:
    """Return the sources of earlier editions, and notes on those that cannot be read any more."""
    from handful_study.source import SourceError

    from .build_command import EDITIONS
    from .grading import grade

    texts, notes = [], []
    for path in map(Path, paths or [assignment.name / EDITIONS]):
        if not path.exists() and not paths:
            continue
        for file in sorted(path.glob("*.md")) if path.is_dir() else [path]:
            try:
                text = file.read_bytes().decode("utf-8")
                grade.earlier_editions(assignment, [text])
                texts.append(text)
            except (OSError, UnicodeDecodeError, SourceError) as error:
                why = (
                    "it is no text in UTF-8"
                    if isinstance(error, UnicodeDecodeError)
                    else getattr(error, "strerror", None) or str(error)
                )
                notes.append(f"{file} is not used: {why.rstrip('.')}.")
                if paths:
                    raise SourceError(notes[-1]) from None
    return texts, notes


def _unsigned(folder: Path) -> list[str]:
    """Return which results are not signed; a key may have been forgotten once."""
    from .grading import store
    from .tables import few

    results = store.results(folder)
    who = [one["student"] for one in results if not one.get("signature")]
    if not who:
        return []
    if len(who) == len(results):
        return ["The results are not signed; --key FILE signs them."]
    return [
        f"{len(who)} of {len(results)} results {'is' if len(who) == 1 else 'are'} not signed, and "
        f"the others are: {few(who)}.  The same command with --key FILE signs what it grades."
    ]


def _in_place_of_another(folder: Path, last: dict) -> list[str]:
    """Return who handed in another file since the class list that says how late they came."""
    from .grading import class_lists
    from .tables import few

    lists = (folder / class_lists.KEPT).glob("*.csv")
    rows = (row for one in lists for row in class_lists.read(one))
    if not any(row.get("identifier") and row.get("status") for row in rows):
        return []
    now = _last(folder, None)
    who = [one for one, was in last.items() if one in now and now[one].submission != was.submission]
    if not who:
        return []
    return [
        f"{few(who)} handed in another file than before, and Moodle's list is that of before: how "
        "late the new one came it may not say.  Export the worksheet again and give it with "
        "--roster, or write late rows into adjustments.csv."
    ]


def _newcomers(who: list[str]) -> list[str]:
    """Return who joined a class that has no roster."""
    from .tables import few

    if not who:
        return []
    out = (
        "  To take a second section out again, grade all files of the first, and no others, with "
        "--alone."
    ) * (len(who) > 1)
    return [f"{len(who):,} had no result here before: {few(who)}.{out}"]


def _notes(graded) -> list[str]:
    """Return what the teacher should know, in sentences."""
    from .tables import few

    before = (
        "1 was graded before and left as it is."
        if graded.before == 1
        else f"{graded.before:,} were graded before and left as they are."
    )
    notes = [before] if graded.before else []
    if graded.kept:
        notes.append(
            f"{len(graded.kept):,} who handed in before, and of whom nothing is among these "
            f"submissions, keep their results: {few(graded.kept)}.  --alone would drop them."
        )
    if graded.dropped:
        notes.append(
            f"{few(graded.dropped)}: only a notebook as it was handed out was graded here, "
            "together with those of most others, and nothing is among these submissions; that "
            "notebook no longer counts as handed in."
        )
    notes += [
        f"{len(who)} notebooks say that they are {name!r}'s: {few(who)}."
        for name, who in sorted(graded.claims.items())
    ]
    notes += [f"{student}: {says}." for student, says in sorted(graded.faults.items())]
    return notes


def _roster_file(folder: Path, named: str | None) -> tuple[Path | None, list[str]]:
    """Return the roster that counts: the one that is named, else the one named last here."""
    kept = folder / ROSTER
    if named:
        return Path(named), []
    if not kept.exists():
        return None, []
    return kept, [f"The roster is the one that was given before, {kept}."]


def _keep_roster(folder: Path, named: Path) -> None:
    from .tables import write_atomically

    if named.resolve() != (folder / ROSTER).resolve():
        write_atomically(folder / ROSTER, named.read_bytes())


def _reports(folder: Path, assignment, roster: str | None, last: dict) -> tuple[list[str], str]:
    """Write grades, feedback and the class report; return notes, and why nothing was written."""
    from handful_study import book

    from .grading import grades, store
    from .reports import feedback, report
    from .tables import TableError

    try:
        results = store.results(folder)
        made, notes = grades.write(
            folder,
            assignment,
            results,
            Path(roster) if roster else None,
            before={student: one.submission for student, one in last.items()},
        )
        feedback.write(folder, assignment, grades.with_results(made, results), book.address())
        return [
            *notes,
            f"Written: {report.write(folder, assignment, made, notes)}, {folder / 'grades.csv'}, "
            f"{folder / 'feedback.zip'}, {folder / 'lms'}; "
            f"'handful assign report {folder}' writes them again.",
        ], ""
    except TableError as error:  # the results are there
        return [], (
            f"{error}\nGrades and feedback were not written; mend that and run: handful assign "
            f"report {folder}"
        )


def read_limits(texts: list[str]):
    """Parse limits of the form NAME=VALUE.

    >>> read_limits(["call_seconds=5", "memory_bytes=2e9"]).memory_bytes
    2000000000
    >>> read_limits(["seconds=5"])
    Traceback (most recent call last):
    ...
    handful.terminal.UsageError: There is no limit 'seconds'; there are cell_seconds, ...
    """
    from dataclasses import fields

    from handful.cli import UsageError

    from .sandbox.protocol import Limits

    kinds: dict[str, type] = {one.name: type(one.default) for one in fields(Limits)}
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in kinds:
            raise UsageError(f"There is no limit {name!r}; there are {', '.join(kinds)}.")
        try:
            found[name] = kinds[name](float(value))
        except (ValueError, OverflowError):
            raise UsageError(f"The limit {name} is a number; got {value!r}.") from None
    try:
        return Limits(**found)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _verify(options) -> None:
    from handful import cli

    from .grading import grade, store

    secret = store.read_key(options.key)
    whole, bad, unsigned = 0, [], 0
    for one in store.overview(options.results)["students"]:
        found = store.load(Path(options.results) / "results" / f"{one['key']}.json")
        if (
            found is not None
            and found.get("student") == one["student"]
            and store.verified(found, secret)
        ):
            whole += 1
        else:
            bad.append(one["student"])
            unsigned += found is not None and not found.get("signature")
    if options.json:
        cli.print_json({"verified": whole, "failed": bad})
    else:
        print(f"{whole:,} result{'s are' if whole != 1 else ' is'} as signed.")
    if bad:
        why = f"; {unsigned} of them were never signed" if unsigned else ""
        raise grade.GradingError(
            f"{len(bad):,} cannot be trusted: "
            f"{', '.join(bad[:10])}{' …' if len(bad) > 10 else ''}{why}."
        )


def _key(options) -> None:
    from .grading import store

    store.make_key(options.file)
    print(f"{options.file}: a new key, which only you can read.", file=sys.stderr)


def _sandbox(options) -> None:
    from .sandbox import run

    print(run.describe())
