"""Commands of `handful assign` that report."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from .progress import Progress

QUIET = 3.0  # seconds after which a command says how far it is


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
    _add_report(command)
    _add_similar(command)


def _add_report(command) -> None:
    parser = command(
        "report",
        _report,
        "grades, feedback and the report of a graded class",
        "Writes into FOLDER: grades.csv, report.html, feedback/ and feedback.zip, lms/ (Canvas, "
        "Moodle, Gradescope, JSON),\n"
        "and rubric.csv with the answers in written/: fill its column points, run this again, and "
        "they count.\n"
        "What adjustments.csv says of points, excuses and late work counts too.",
    )
    parser.add_argument(
        "folder", metavar="FOLDER", help="the folder that 'handful assign grade' wrote"
    )
    parser.add_argument(
        "--class-list",
        action="append",
        metavar="FILE",
        help="the class as the LMS exports it (CSV), so that its ids stand in the files for it; "
        "kept there for the next time",
    )
    parser.add_argument(
        "--partial",
        action="store_true",
        help="give the LMS the points so far, too, where rubric lines are not filled yet",
    )
    parser.add_argument(
        "--source", metavar="FILE", help="the assignment's source, where it is none of the book's"
    )
    parser.add_argument(
        "--site",
        metavar="URL",
        help="where the book is published, for links to its chapters; by default what "
        "_config.yml says",
    )


def _add_similar(command) -> None:
    parser = command(
        "similar",
        _similar,
        "pairs of submissions that resemble each other more than the task explains",
        "Similarity is no proof: the page shows the passages side by side, for you to read.",
    )
    parser.add_argument(
        "submissions", metavar="SUBMISSIONS", help="a folder, a zip, or an LMS export"
    )
    parser.add_argument(
        "--assignment", required=True, metavar="NAME", help="the assignment's name, or its source"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="similar.html",
        help="the page; by default similar.html",
    )
    parser.add_argument(
        "--roster",
        metavar="FILE",
        help="the class as CSV, as for 'handful assign grade': its ids replace the files' names",
    )
    parser.add_argument(
        "--share",
        type=_share,
        default=0.5,
        metavar="S",
        help="report pairs from this share on; default 0.5",
    )


def _share(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(
            f"a share above 0 and at most 1 is expected, such as 0.5; got {text!r}"
        )
    return value


def _report(options) -> None:
    from handful import cli

    from .grading import store
    from .release.assignment import assignment as find
    from .reports import report

    folder = Path(options.folder)
    about = store.overview(folder)
    kept = about.get("file") or ""  # a source that is none of the book's
    assignment = find(
        options.source or (kept if Path(kept).is_file() else "") or about["assignment"]
    )
    if assignment.name != about["assignment"]:
        raise store.GivenError(
            f"{folder} holds results of {about['assignment']!r}, and {options.source} is "
            f"{assignment.name!r}."
        )
    made, notes = _write_grades(options, folder, assignment, about)
    page = report.write(folder, assignment, made, notes)
    if options.json:
        return cli.print_json(
            {
                "folder": str(folder),
                "assignment": assignment.name,
                "students": len(made),
                "graded": sum(grade.graded for grade in made),
                "final": sum(grade.final for grade in made),
                "report": str(page),
                "notes": notes,
            }
        )
    _print_report(folder, page, assignment, made, notes)


def _write_grades(options, folder: Path, assignment, about) -> tuple[list, list[str]]:
    """Write grades and feedback; return the grades, and notes for the report."""
    from handful_study import book

    from .grading import grades, store
    from .reports import feedback

    results = store.results(folder)
    with Progress("Read", "results", len(results), QUIET) as show:
        made, notes = grades.write(
            folder,
            assignment,
            results,
            _one_list(options.class_list),
            options.partial,
            show,
        )
    if not about.get("complete", True):
        notes.insert(
            0,
            "Grading was stopped before it was through; this report has what was graded, and "
            "'handful assign grade' goes on.",
        )
    site = book.address() if options.site is None else options.site
    with Progress("Wrote", "pages of feedback", len(results), QUIET) as show:
        feedback.write(folder, assignment, grades.with_results(made, results), site, show)
    return made, notes


def _one_list(named: list[str] | None) -> Path | None:
    from .tables import TableError

    if named and len(named) > 1:
        raise TableError(
            "--class-list takes one list at a time: name the first, then run the command again "
            "with the other; both are kept."
        )
    return Path(named[0]) if named else None


def _print_report(folder: Path, page: Path, assignment, made: list, notes: list[str]) -> None:
    from handful.units import plural

    graded = sum(grade.graded for grade in made)
    final = sum(grade.final for grade in made)
    print(
        f"{assignment.title}, by {assignment.file} (edition {assignment.edition}): "
        f"{plural(len(made), 'student')}, {graded:,} graded, {final:,} with their final points."
    )
    for note in notes:
        print(f"- {note}")
    files = [page, *(folder / name for name in ("grades.csv", "feedback.zip", "lms", "rubric.csv"))]
    print(f"Written: {', '.join(str(file) for file in files if file.exists())}")


def _similar(options) -> None:
    from handful import cli
    from handful.cli import MissingError
    from handful_study.command import write

    from .grading.grade import refuse_another
    from .grading.roster import Roster
    from .grading.submissions import opened
    from .release.assignment import assignment as find
    from .reports import similar, similar_page

    if importlib.util.find_spec("datasketch") is None:
        raise MissingError(
            "This command needs the package datasketch, which is not installed; pip install "
            "'handful[classroom]' brings it."
        )
    assignment = find(options.assignment)
    released = similar.of_assignment(assignment)
    roster = Roster.read(options.roster) if options.roster else None
    with opened(options.submissions, assignment.name, roster) as reads:
        refuse_another(assignment, (read() for read in reads))
        with Progress("Compared", "submissions", len(reads), QUIET) as show:
            found = similar.find((read() for read in reads), released, options.share, show)
        kept = similar_page.texts((read() for read in reads), found, released)
    shown = len(found.pairs[: similar_page.SIDE_BY_SIDE])
    with Progress("Showed", "pairs", shown, QUIET) as show:
        page = similar_page.page_of(assignment.title, found, released, kept, options.share, show)
    write(page.encode(), options.output, None, quiet=options.json)
    if options.json:
        return cli.print_json(_pairs(found))
    _print_similar(found, options.share)


def _pairs(found) -> dict:
    return {
        "compared": found.compared,
        "not_compared": found.short + found.nothing + len(found.unread),
        "groups": found.groups,
        "more": found.more,
        "pairs": [
            {"left": pair.left, "right": pair.right, "share": pair.share, "runs": pair.shared}
            for pair in found.pairs
        ],
    }


def _print_similar(found, share: float) -> None:
    from handful.units import plural

    print(
        f"{found.compared:,} compared, "
        f"{f'{found.short:,} with too little of their own, ' if found.short else ''}"
        f"{plural(len(found.pairs) + found.more, 'pair')} from "
        f"{100 * share:.0f} % on, "
        f"{plural(len(found.groups), 'group')} the same throughout."
    )
    print("Similarity is no proof; read the passages before you conclude anything.")
