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
        "genanki",
        "latex2mathml",
        "markdown_it",
        "mdit_py_plugins",
        "playwright",
    },
    "classroom": {"datasketch", "distributed"},
}


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
    one = group(command, "cards", "cards: list, export, print")
    listed = one("list", needing(_list), "all cards, or those of a chapter")
    listed.add_argument(
        "--chapter", metavar="C", help="of one chapter only, such as latency-and-cost"
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


def _list(options) -> None:
    from handful import cli

    from .export import as_object, cards_of_chapter

    found = cards_of_chapter(options.chapter)
    if options.json:
        return cli.print_json([as_object(card) for card in found])
    cli.print_columns((card.id, card.kind, f"{card.chapter}#{card.section}") for card in found)


def _export(options) -> None:
    from .export import FORMATS, cards_of_chapter, export

    content = export(options.format, cards_of_chapter(options.chapter), _site(options))
    write(
        content,
        options.output,
        f"handful-cards{FORMATS['anki']}" if options.format == "anki" else None,
    )


def _print(options) -> None:
    from .export import cards_of_chapter
    from .printing import card_sheets, pdf

    page = card_sheets(cards_of_chapter(options.chapter), _site(options))
    suffix = "pdf" if options.pdf else "html"
    write(pdf(page) if options.pdf else page.encode(), options.output, f"handful-cards.{suffix}")
