"""Commands of `handful assign` that build."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

from handful.cli import MissingError, UsageError
from handful.units import plural
from handful_study.command import needing

BUILT = (
    "What is built into FOLDER:\n"
    "  release/             for students: the notebook (with --students a folder each), and the "
    "assignment as PDF\n"
    "  teacher/             for you alone: the notebook with its solution, and rubric.md;\n"
    "                       editions/ keeps the source, by which these notebooks are graded when "
    "it has changed"
)

EDITIONS = Path("teacher", "editions")  # where build keeps the source of what it hands out


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
    command("list", needing(_list), "all assignments")
    built = command(
        "build",
        needing(_build),
        "the students' notebook, the solution, the rubric and a PDF",
        BUILT,
        programs=False,
    )
    checked = command(
        "check",
        needing(_check),
        "whether solutions are right and known mistakes wrong, for many students' inputs",
        programs=False,
    )
    sent = command(
        "export", needing(_export), "an assignment for nbgrader or Gradescope", programs=False
    )
    for made in (built, checked, sent):
        made.add_argument(
            "name",
            metavar="NAME",
            help="as handful assign list shows it, or a source file of your own (.md)"
            + ("; all for every one" if made is checked else ""),
        )
    for made in (built, sent):
        made.add_argument(
            "-o",
            "--output",
            metavar="FOLDER",
            help="where to write; by default a folder called after the assignment",
        )
    wheel = "where pip gets handful from, such as the address of a wheel; by default it is not "
    built.add_argument("--install", metavar="REQUIREMENT", help=f"{wheel}installed")
    sent.add_argument(
        "--install",
        metavar="REQUIREMENT",
        action="append",
        help=f"{wheel}installed; again for handful-classroom, which Gradescope needs too",
    )
    built.add_argument(
        "--students",
        metavar="ROSTER",
        help="a notebook for each student of this CSV file, by its column student",
    )
    built.add_argument("--no-pdf", action="store_true", help="no PDF; it needs Chromium")
    checked.add_argument(
        "--variants",
        type=int,
        default=50,
        metavar="N",
        help="how many of the 200 sets of inputs; 50 by default",
    )
    checked.add_argument(
        "--results",
        metavar="FOLDER",
        help="a class graded before the source was mended, in whose adjustments.csv rows are named "
        "that no longer fit; NAME-results by default, where that is there",
    )
    sent.add_argument("--format", required=True, choices=["nbgrader", "gradescope"])


def _list(options) -> None:
    from handful import cli

    from .release.assignment import assignments

    found = assignments().values()
    if options.json:
        return cli.print_json(
            [
                {
                    "name": one.name,
                    "title": one.title,
                    "chapter": one.chapter,
                    "minutes": one.minutes,
                    "points": one.points,
                    "waiting": one.waiting,
                    "library": one.library,
                    "edition": one.edition,
                    "questions": list(one.questions),
                }
                for one in found
            ]
        )
    cli.print_columns(
        (one.name, f"{one.minutes} min", f"{one.points:g} + {one.waiting:g} points", one.title)
        for one in found
    )


def say(text: str) -> None:
    """Print one line of progress on standard error."""
    print(text, file=sys.stderr, flush=True)


def count(done: int, total: int, what: str) -> None:
    """Report how many of `total` are done, on standard error.

    On a terminal one line is overwritten; elsewhere a line is printed at a quarter, a half, three
    quarters and the end.
    """
    if sys.stderr.isatty():
        print(
            f"\r{done} of {total} {what}",
            end="\n" if done == total else "",
            file=sys.stderr,
            flush=True,
        )
    elif done == total or done * 4 // total != (done - 1) * 4 // total:
        say(f"{done} of {total} {what}")


def write(path: Path, content: str | bytes) -> None:
    """Write a file and the folders above it."""
    from handful_study.source import ExportError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror}.") from None


def folders(students) -> dict[str, str]:
    """Return a folder name for each student: the id, restricted to portable characters.

    >>> folders(["ada", "../grace", "a/b", "a:b"])
    {'ada': 'ada', '../grace': '_grace', 'a/b': 'a_b', 'a:b': 'a_b-2'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    numbers: dict[
        str, int
    ] = {}  # the last that was given to folders of that name, so that none is tried twice
    for student in students:
        plain = re.sub(r"[^\w.@+-]", "_", student).lstrip(".") or "_"
        name = plain
        while name.casefold() in taken:
            number = numbers[plain.casefold()] = numbers.get(plain.casefold(), 1) + 1
            name = f"{plain}-{number}"
        taken.add(name.casefold())
        found[student] = name
    return found


def _build(options) -> None:
    from handful_study.source import SourceError

    from .grading.grade import source_of
    from .release import notebooks, paper
    from .release.assignment import assignment

    found = assignment(options.name)
    if found.library == "all" and options.install is None:
        raise SourceError(
            f"The students of {found.name} use the package handful: say where pip gets it from, "
            "with --install ADDRESS-OF-A-WHEEL."
        )
    out = Path(options.output or found.name)
    if options.students:
        from .grading.roster import Roster

        roster = Roster.read(options.students)
        students = folders(roster.students)
        for done, (student, name) in enumerate(students.items(), 1):
            write(
                out / "release" / name / f"{found.name}.ipynb",
                notebooks.text(notebooks.notebook(found, student, install=options.install)),
            )
            count(done, len(students), "notebooks")
        say(roster.says)
    else:
        write(
            out / "release" / f"{found.name}.ipynb",
            notebooks.text(notebooks.notebook(found, install=options.install)),
        )
        say(f"{out / 'release' / found.name}.ipynb")
    write(
        out / "teacher" / f"{found.name}-solution.ipynb",
        notebooks.text(notebooks.notebook(found, fill="solution", install=options.install)),
    )
    write(out / "teacher" / "rubric.md", paper.rubric(found))
    write(out / EDITIONS / f"{found.name}-{found.edition}.md", source_of(found))
    say(f"{out / 'teacher'}: the solution and the rubric; not for students")
    if not options.no_pdf:
        from handful_study.printing import pdf

        try:
            write(out / "release" / f"{found.name}.pdf", pdf(paper.sheet(found)))
        except MissingError as error:
            raise MissingError(
                "All but the PDF is built; leave it out with --no-pdf.  "
                f"{str(error).partition(';')[0].rstrip('.')}."
            ) from None
        say(f"{out / 'release' / found.name}.pdf")


def _check(options) -> None:
    from handful_study.source import ExportError, SourceError
    from handful_study.student import VARIANTS

    from .release.assignment import assignment, assignments
    from .release.validate_assignment import carried, left_behind, mistakes

    if options.results and options.name == "all":
        raise UsageError("--results is a class of one assignment: name that, and not all.")
    if not 1 <= options.variants <= VARIANTS:
        raise ExportError(f"1 to {VARIANTS} variants can be checked; got {options.variants}.")
    found = list(assignments().values()) if options.name == "all" else [assignment(options.name)]
    wrong = []
    for one in found:
        wrong += mistakes(
            one,
            range(options.variants),
            partial(count, total=options.variants, what=f"variants of {one.name}"),
        )
        former = assignments().get(one.name, one)  # of which this may be a mended copy
        for note in [*carried(one, 0), *left_behind(one, former), *_unfit(one, options.results)]:
            say(f"Note: {one.name}: {note}")
    for says in wrong:
        print(says)
    if wrong:
        raise SourceError(
            f"{plural(len(wrong), 'fault')} in {', '.join(one.name for one in found)}."
        )
    print(
        f"{', '.join(one.name for one in found)}: solutions are right and known mistakes wrong, "
        "each in its own way."
    )


def _unfit(assignment, named: str | None) -> list[str]:
    """Return which adjustments of a graded class no longer fit, in a sentence each."""
    from .grading import adjustments, store

    folder = Path(named or f"{assignment.name}-results")
    if not named and not (folder / "class.json").exists():
        return []
    about = store.overview(folder)
    if about["assignment"] == assignment.name:
        return adjustments.unfit(folder, assignment, store.results(folder))
    if named:
        raise store.GivenError(
            f"{folder} holds results of {about['assignment']!r}, not of {assignment.name!r}."
        )
    return []


def _export(options) -> None:
    from .exports import formats
    from .release.assignment import assignment

    found = assignment(options.name)
    out = Path(options.output or found.name)
    for name, content in formats.FORMATS[options.format](found, options.install or ()).items():
        write(out / name, content)
        say(str(out / name))
