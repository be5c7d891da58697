"""Commands of `handful assign` that report."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from pathlib import Path


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
    told = command(
        "report",
        _report,
        "grades, feedback and the report of a graded class",
        "Writes into FOLDER: grades.csv, report.html, feedback/ and feedback.zip, lms/ (Canvas, "
        "Moodle, Gradescope, JSON),\n"
        "and rubric.csv with the answers in written/: fill its column points, run this again, and "
        "they count.",
    )
    told.add_argument(
        "folder", metavar="FOLDER", help="the folder that 'handful assign grade' wrote"
    )
    told.add_argument(
        "--class-list",
        metavar="FILE",
        help="the class as the LMS exports it (CSV), so that its ids stand in the files for it",
    )
    told.add_argument(
        "--partial",
        action="store_true",
        help="give the LMS the points so far, too, where rubric lines are not filled yet",
    )
    told.add_argument(
        "--source", metavar="FILE", help="the assignment's source, where it is none of the book's"
    )
    told.add_argument(
        "--site",
        metavar="URL",
        help="where the book is published, for links to its chapters; by default what "
        "_config.yml says",
    )
    alike = command(
        "similar",
        _similar,
        "pairs of submissions that resemble each other more than the task explains",
        "Similarity is no proof: the page shows the passages side by side, for you to read.",
    )
    alike.add_argument(
        "submissions", metavar="SUBMISSIONS", help="a folder, a zip, or an LMS export"
    )
    alike.add_argument(
        "--assignment", required=True, metavar="NAME", help="the assignment's name, or its source"
    )
    alike.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="similar.html",
        help="the page; by default similar.html",
    )
    alike.add_argument(
        "--roster",
        metavar="FILE",
        help="a CSV file of the class, whose names replace those of the files",
    )
    alike.add_argument(
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


def progress(what: str, total: int | None = None, out=None, clock=time.monotonic):
    """Return a function that reports on stderr how many are done, from the third second on.

    Where the total is known, it tells the time left.

    >>> import io
    >>> seconds, out = iter([0, 1, 4, 5, 8]), io.StringIO()
    >>> tell = progress("pages", 400, out, lambda: next(seconds))
    >>> for done in (100, 200, 201, 400):
    ...     tell(done)
    >>> out.getvalue().splitlines()
    ['handful: 200 of 400 pages, 4 s left', 'handful: 400 of 400 pages, 0 s left']
    """
    began = clock()
    said = began

    def tell(done: int) -> None:
        nonlocal said
        now = clock()
        if now - said < 3:
            return
        said = now
        left = (
            f" of {total:,} {what}, {(now - began) * (total - done) / max(done, 1):.0f} s left"
            if total
            else f" {what}"
        )
        print(f"handful: {done:,}{left}", file=out or sys.stderr, flush=True)

    return tell


def _report(options) -> None:
    from handful import cli
    from handful.units import plural
    from handful_study import book

    from .grading import grades, store
    from .release.assignment import assignment as find
    from .reports import feedback, report

    folder = Path(options.folder)
    about = store.overview(folder)
    chosen = find(options.source or about["assignment"])
    if chosen.name != about["assignment"]:
        raise store.StoreError(
            f"{folder} holds results of {about['assignment']!r}, and {options.source} is "
            f"{chosen.name!r}."
        )
    total = len(about["students"])
    made, notes = grades.write(
        folder,
        chosen,
        counted(store.results(folder), progress("results read", total)),
        Path(options.class_list) if options.class_list else None,
        options.partial,
    )
    if not about.get("complete", True):
        notes.insert(
            0,
            "Grading was stopped before it was through; this report has what was graded, and "
            "'handful assign grade' goes on.",
        )
    feedback.write(
        folder,
        chosen,
        made,
        book.address() if options.site is None else options.site,
        progress("pages of feedback", total),
    )
    page = report.write(folder, chosen, made, notes)
    if options.json:
        return cli.print_json(
            {
                "folder": str(folder),
                "assignment": chosen.name,
                "students": len(made),
                "graded": sum(grade.graded for grade in made),
                "final": sum(grade.final for grade in made),
                "report": str(page),
                "notes": notes,
            }
        )
    graded = [grade for grade in made if grade.graded]
    final = sum(grade.final for grade in made)
    print(
        f"{chosen.title}: {plural(len(made), 'student')}, {len(graded):,} graded, {final:,} with "
        "their final points."
    )
    for note in notes:
        print(f"- {note}")
    files = [page, *(folder / name for name in ("grades.csv", "feedback.zip", "lms", "rubric.csv"))]
    print(f"Written: {', '.join(str(file) for file in files if file.exists())}")


def counted(things, tell):
    """Yield the things one after the other, and tell how many there were."""
    for done, thing in enumerate(things, 1):
        yield thing
        tell(done)


def _similar(options) -> None:
    from handful import cli
    from handful.cli import MissingError
    from handful.units import plural
    from handful_study.command import write

    from .grading.roster import Roster
    from .grading.submissions import opened
    from .release.assignment import assignment as find
    from .reports import similar, similar_page

    if importlib.util.find_spec("datasketch") is None:
        raise MissingError(
            "This command needs the package datasketch, which is not installed; pip install "
            "'handful[classroom]' brings it."
        )
    chosen = find(options.assignment)
    given = similar.of_assignment(chosen)
    listed = Roster.read(options.roster) if options.roster else None
    with opened(options.submissions, chosen.name, listed) as reads:
        found = similar.find(
            (read() for read in reads),
            given,
            options.share,
            progress("submissions compared", len(reads)),
        )
        kept = similar_page.texts((read() for read in reads), found, given)
    tell = progress("pairs shown", len(found.pairs[: similar_page.SIDE_BY_SIDE]))
    page = similar_page.page_of(chosen.title, found, given, kept, options.share, tell)
    write(page.encode(), options.output, None, quiet=options.json)
    if options.json:
        return cli.print_json(
            {
                "compared": found.compared,
                "not_compared": found.short + found.nothing + len(found.unread),
                "groups": found.groups,
                "more": found.more,
                "pairs": [
                    {
                        "left": pair.left,
                        "right": pair.right,
                        "share": pair.share,
                        "runs": pair.shared,
                    }
                    for pair in found.pairs
                ],
            }
        )
    print(
        f"{found.compared:,} compared, {plural(len(found.pairs) + found.more, 'pair')} from "
        f"{100 * options.share:.0f} % on, "
        f"{plural(len(found.groups), 'group')} the same throughout."
    )
    print("Similarity is no proof; read the passages before you conclude anything.")
