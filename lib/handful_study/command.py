"""The commands ``handful cards …``.

`handful.cli` adds them to the others, and `problem_command` defines the commands for problems.

The packages that a command needs are imported when it runs; where one is missing, the command says
so in one sentence.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from handful.cli import MissingError, group

# Packages of the extras; a program that only computes does without them.
EXTRAS = {
    "study": {
        "fsrs",
        "genanki",
        "latex2mathml",
        "markdown_it",
        "mdit_py_plugins",
        "platformdirs",
        "playwright",
    },
    "classroom": {"datasketch", "distributed"},
}
LOG = (
    "the log; by default study-log.json in your data folder.  The page Review exports and "
    "imports the same file"
)


def needing(run):
    """Wrap a command to print one sentence, not a traceback, where a package is missing."""

    @functools.wraps(run)
    def runs(options) -> None:
        try:
            run(options)
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            extra = next((name for name, packages in EXTRAS.items() if package in packages), None)
            if extra is None:
                raise
            raise MissingError(
                f"This command needs the package {package.replace('_', '-')}, which is not "
                "installed; "
                f"pip install 'handful[{extra}]' brings it."
            ) from None

    return runs


def file_options(made, what: str) -> None:
    """Add the options of a command that writes a file: --chapter, --output and --site."""
    made.add_argument(
        "--chapter", metavar="C", help="of one chapter only, such as latency-and-cost"
    )
    made.add_argument(
        "-o", "--output", metavar="FILE", help=f"where to write {what}; - is the terminal"
    )
    made.add_argument(
        "--site",
        metavar="URL",
        help="where the book is published, for links to its sections; by default what "
        "_config.yml says",
    )


def write(content: bytes, output: str | None, default: str | None, quiet: bool = False) -> None:
    """Write a file and report its size, or write to the terminal where no file is named.

    The terminal is used where neither `output` nor `default` names a file, and where `output` is
    "-".
    """
    from .source import ExportError

    name = output or default or "-"
    if name == "-":
        if default and sys.stdout.isatty():
            raise ExportError("That is no text for a terminal; write it into a file with -o FILE.")
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    try:
        Path(name).write_bytes(content)
    except OSError as error:
        raise ExportError(f"{name} cannot be written: {error.strerror}.") from None
    if not quiet:
        print(f"{name}: {len(content):,} bytes", file=sys.stderr)


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
    one = group(
        command,
        "cards",
        "cards: what is due, review, export, print",
        "The log of reviews is one file, the same as the page's: handful cards log --import FILE.",
    )
    listed = one("list", needing(_list), "all cards, or those of a chapter")
    listed.add_argument(
        "--chapter", metavar="C", help="of one chapter only, such as latency-and-cost"
    )
    due = one("due", needing(_due), "what is due today")
    asked = one(
        "review",
        needing(_review),
        "review what is due, a key an answer",
        "Enter shows the answer, 1 to 4 grade it, ? helps.",
        programs=False,
    )
    kept = one(
        "log",
        needing(_log),
        "where reviews are kept; import and export them, change settings",
        "Settings: retention=0.9, new_per_day=10, chapters=latency-and-cost,pipelining (none: "
        "all).",
    )
    for made in (due, asked, kept):
        made.add_argument("--log", metavar="FILE", help=LOG)
    for made in (due, asked):
        made.add_argument("--chapter", metavar="C", help="cards of one chapter only")
    asked.add_argument(
        "--site", metavar="URL", help="where the book is published, for links to its sections"
    )
    kept.add_argument(
        "--import",
        dest="bring",
        metavar="FILE",
        nargs="+",
        default=[],
        help="take over what these logs have; nothing is counted twice",
    )
    kept.add_argument(
        "--export",
        dest="take",
        metavar="FILE",
        help="write the log into a file, for the page or as a backup",
    )
    kept.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a setting; may be repeated",
    )
    sent = one(
        "export",
        needing(_export),
        "cards for Anki, a spreadsheet, a reader or a program",
        programs=False,
    )
    sent.add_argument("--format", required=True, choices=["anki", "csv", "markdown", "json"])
    file_options(sent, "it; by default handful-cards.apkg for Anki, else the terminal")
    printed = one("print", needing(_print), "cards on paper, two columns to cut", programs=False)
    printed.add_argument(
        "--pdf", action="store_true", help="PDF, where Chromium is there; else HTML of one file"
    )
    file_options(printed, "it; by default handful-cards.html or .pdf")


def _site(options) -> str:
    from . import book

    return book.address() if options.site is None else options.site


def log_path(given: str | None) -> Path:
    """Return the path of the learner's log: the given one, or the default."""
    if given:
        return Path(given)
    import platformdirs

    return platformdirs.user_data_path("handful", appauthor=False) / "study-log.json"


def _list(options) -> None:
    from handful import cli

    from .export import as_object, chosen

    found = chosen(options.chapter)
    if options.json:
        return cli.print_json([as_object(card) for card in found])
    cli.print_columns((card.id, card.kind, f"{card.chapter}#{card.section}") for card in found)


def _sitting(options):
    from .export import chosen
    from .log import LogFile
    from .review_session import Sitting

    return Sitting(LogFile(log_path(options.log)), chosen(options.chapter))


def _due(options) -> None:
    from handful import cli

    from .review_session import plural

    sitting = _sitting(options)
    queue = sitting.queue()
    if options.json:
        return cli.print_json(
            {"due": queue["review"], "new": queue["new"], "again": queue["learning"]}
        )
    print(
        f"{plural(len(queue['review']), 'card')} due, {len(queue['new'])} new, "
        f"{len(queue['learning'])} to be asked again"
    )
    rows = [
        (word, name, sitting.cards[name].chapter)
        for kind, word in (("review", "due"), ("new", "new"), ("learning", "again"))
        for name in queue[kind]
    ]
    if rows:
        cli.print_columns(rows)


def _review(options) -> None:
    from handful import cli

    from . import terminal

    sitting, screen = _sitting(options), terminal.Screen(cli.terminal_width())
    try:
        with terminal.keyboard() as pressed:
            terminal.review(sitting, screen, pressed, _site(options))
    except KeyboardInterrupt:
        screen.say()  # everything that was answered is kept
    finally:
        print(f"\nKept in {sitting.file.path}", file=sys.stderr)


def _log(options) -> None:
    from handful import cli

    from .log import LogFile, line, read_file
    from .log import write as as_file
    from .review_session import clock, plural, read_setting, set_setting
    from .spaced_repetition import Study

    settings = [read_setting(text) for text in options.set]
    file, now = LogFile(log_path(options.log)), clock()
    given = [event for path in options.bring for event in _read(read_file, path)]
    added = file.add(given, now[0]) if given else []
    for name, value in settings:
        set_setting(file, name, value, now)
    if options.take:
        write(
            as_file(map(line, file.events), now[0]).encode(), options.take, None, quiet=options.json
        )
    study = Study(file.events)
    if options.json:
        return cli.print_json(
            {
                "file": str(file.path),
                "events": len(file.events),
                "added": len(added),
                "cards": len(study.states),
                "settings": study.settings,
            }
        )
    rows = [
        ("File", str(file.path)),
        ("Entries", f"{len(file.events):,}"),
        ("Cards seen", f"{len(study.states):,}"),
    ]
    rows += [
        (
            name.replace("_", " ").capitalize(),
            ", ".join(value) or "all" if isinstance(value, list) else str(value),
        )
        for name, value in study.settings.items()
    ]
    cli.print_columns(rows)
    if options.bring:
        known = len({event["id"] for event in given}) - len(added)
        print(
            f"\nImported: {plural(len(added), 'new entry').replace('entrys', 'entries')}"
            + (f"; {known:,} stood here already" if known else "")
            + "."
        )


def _read(read_file, path: str) -> list[dict]:
    from .log import LogError

    try:
        return read_file(path)
    except FileNotFoundError:
        raise LogError(f"There is no file {path}.") from None


def _export(options) -> None:
    from .export import FORMATS, chosen, export

    content = export(options.format, chosen(options.chapter), _site(options))
    write(
        content,
        options.output,
        f"handful-cards{FORMATS['anki']}" if options.format == "anki" else None,
    )


def _print(options) -> None:
    from .export import chosen
    from .printing import card_sheets, pdf

    page = card_sheets(chosen(options.chapter), _site(options))
    suffix = "pdf" if options.pdf else "html"
    write(pdf(page) if options.pdf else page.encode(), options.output, f"handful-cards.{suffix}")
