"""Run the command ``handful`` and its subcommands.

They print estimates, comparisons, formulas, facts, claims, and a measurement of this machine.

Exit codes: 0, all is well; 1, what was asked cannot be had on this machine (a GPU that is not
there); 2, wrong input, such as an unknown name or a precision that a chip lacks.  Results go to
stdout, as text or with ``--json`` for programs; progress and the one sentence of an error go to
stderr.

>>> main(["facts", "accelerators", "H100"])  # no row has that name; stderr says which are near
2
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any, NoReturn

from .terminal import (
    MissingError,
    UsageError,
    print_columns,
    print_json,
    print_list,
    print_text,
    terminal_width,
)

# Everything else is imported by the command that needs it: SymPy takes most of a cold start.

__all__ = [
    "MissingError",
    "UsageError",
    "group",
    "main",
    "print_columns",
    "print_json",
    "print_list",
    "print_text",
    "terminal_width",
]

EXITS = "Exit codes: 0 fine; 1 cannot be had on this machine; 2 wrong input."


Run = Callable[[argparse.Namespace], None]
AddCommand = Callable[..., argparse.ArgumentParser]  # `command` of `_parser`, or of a group


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises an error as one sentence, instead of exiting."""

    mixed = False

    def __init__(self, *args: Any, **more: Any) -> None:
        more |= {
            "allow_abbrev": False,
            "formatter_class": argparse.RawDescriptionHelpFormatter,
        }
        super().__init__(*args, **more)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, with words and options in any order where the command wants that (`mixed`)."""
        if not self.mixed:
            return super().parse_known_args(args, namespace)
        self.mixed = False  # argparse's own mixing calls this method for each kind of argument
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixed = True

    def error(self, message: str) -> NoReturn:
        raise UsageError(
            f"{message[0].upper()}{message[1:].rstrip('.')}; see '{self.prog} --help'."
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        What follows the command's name; those of the process where it is left out.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(
            errors="replace"
        )  # a terminal without × or µ shows ? rather than a trace
    try:
        options = _parser(argv).parse_args(argv)
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, say) has had enough; what Python flushes on its way out goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    except (ValueError, RuntimeError) as error:
        code: int | None = getattr(error, "exit_code", None)
        if code is None:  # no sentence for whoever typed, but a fault of ours: it keeps its trace
            raise
        print(f"handful: {error}", file=sys.stderr)
        return code
    return 0


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="handful",
        description="The equations of large language models, from a terminal.",
        epilog=f"{EXITS}\nA command says more with --help: handful estimate --help.",
    )
    parser.set_defaults(run=lambda options: parser.print_help())
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")

    def command(
        name: str,
        run: Run | None,
        about: str,
        epilog: str = "",
        within: Any = commands,
        programs: bool = True,
    ) -> _Parser:
        made: _Parser = within.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=f"{epilog}\n{EXITS}".strip(),
        )
        if programs:
            made.add_argument("--json", action="store_true", help="JSON for programs, in SI units")
        made.set_defaults(run=run)
        return made

    from . import formula_command

    asked = command(
        "formula",
        formula_command.run,
        "the formulas: list them, find one by what it is called, show, evaluate or solve it",
        formula_command.EXAMPLES,
    )
    formula_command.add_arguments(asked)
    asked.mixed = True
    table = command(
        "facts", _facts, "the tables of facts, the rows of one, or one row with its source"
    )
    table.add_argument("table", nargs="?", metavar="TABLE")
    table.add_argument(
        "name", nargs="*", metavar="NAME", help="as the table writes it, quotes or none"
    )
    for registered in metadata.entry_points(group="handful.commands"):
        registered.load()(command)

    name = next((word for word in argv[:1] if not word.startswith("-")), None)
    if name is not None and name not in commands.choices:
        from .nearest import nearest

        raise UsageError(
            f"There is no command {name!r}; the nearest are: {nearest(name, commands.choices)}."
        )
    return parser


def group(command: AddCommand, name: str, about: str, epilog: str = "") -> AddCommand:
    """Add a command that has commands of its own, and return the function that adds one to it."""
    made = command(name, None, about, epilog, programs=False)
    made.set_defaults(run=lambda options: made.print_help())
    return functools.partial(
        command, within=made.add_subparsers(metavar="COMMAND", title="commands")
    )


# Commands -----------------------------------------------------------------------------------------


def _facts(options: argparse.Namespace) -> None:
    from . import facts

    if options.table is None:
        names = facts.tables()
        if options.json:
            return print_json([{"name": name, "rows": len(facts.load(name))} for name in names])
        return print_columns((name, f"{len(facts.load(name))} rows") for name in names)
    table = facts.load(options.table)
    if not options.name:
        if options.json:
            return print_json(table)
        return print_columns((row.name, "" if row.verified else "not verified") for row in table)
    row = table.get(" ".join(options.name))
    if options.json:
        return print_json(row)
    print_columns(
        (column, _cell(column, value))
        for column, value in row.items()
        if value is not None and column not in ("verified", "source")
    )
    print_text(f"\nVerified: {'yes' if row.verified else 'no'}\nSource: {row.source}")


def _cell(column: str, value: bool | str | float) -> str:
    """Return a figure as the table holds it, and in readable form if its column has a unit."""
    from .query import fact_unit
    from .units import format_value

    if isinstance(value, (bool, str)):
        return ("yes" if value else "no") if isinstance(value, bool) else value
    unit, factor = fact_unit(column)
    exact = str(int(value)) if value == int(value) and abs(value) < 1e18 else repr(value)
    return exact if unit == "1" else f"{exact} ({format_value(value * factor, unit)})"
