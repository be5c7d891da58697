"""Run the command ``handful`` and its subcommands.

They print estimates, comparisons, formulas, facts, claims, what a model's config.json comes to, and
a measurement of this machine.

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
from typing import TYPE_CHECKING, Any, NoReturn

from .terminal import (
    MissingError,
    UsageError,
    print_columns,
    print_json,
    print_list,
    print_text,
    terminal_width,
)

if TYPE_CHECKING:
    from .shapes import Shape

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


# Options of servers, as people type them.
_MEANT = {"--chips": "--devices", "--gpus": "--devices", "--tp": "--devices", "--gpu": "--hardware"}

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

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; what is left over is answered with the options of the command that was meant."""
        options, left = self.parse_known_args(args, namespace)
        if left:
            meant = getattr(options, "parser", self)
            unknown = [word for word in left if word.startswith("-")]
            if not unknown:
                meant.error(f"unrecognized arguments: {' '.join(left)}")
            from .nearest import nearest

            known = [name for name in meant._option_string_actions if name.startswith("--")]
            word = _MEANT.get(unknown[0].partition("=")[0], unknown[0])
            raise UsageError(
                f"There is no option {unknown[0]}; the nearest are: {nearest(word, known)}; see "
                f"'{meant.prog} --help'."
            )
        return options

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
        exits: str = EXITS,
    ) -> _Parser:
        made: _Parser = within.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=f"{epilog}\n{exits}".strip(),
        )
        if programs:
            made.add_argument("--json", action="store_true", help="JSON for programs, in SI units")
        made.set_defaults(run=run, parser=made)
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
    counted = command(
        "shape",
        _shape,
        "parameters and cache of a model, counted from its config.json",
        "PATH is a config.json, a folder that holds one, or - for standard input.\n"
        "Example: handful shape ~/models/Llama-3.1-8B",
    )
    counted.add_argument("path", metavar="PATH")
    for registered in metadata.entry_points(group="handful.commands"):
        registered.load()(command)

    name = next((word for word in argv[:1] if not word.startswith("-")), None)
    if name is not None and name not in commands.choices:
        from .nearest import nearest

        raise UsageError(
            f"There is no command {name!r}; the nearest are: {nearest(name, commands.choices)}."
        )
    return parser


def group(
    command: AddCommand, name: str, about: str, epilog: str = "", exits: str = EXITS
) -> AddCommand:
    """Add a command that has commands of its own, and return the function that adds one to it.

    `exits` says at the end of each one's help what the exit codes mean.
    """
    made = command(name, None, about, epilog, programs=False, exits=exits)
    made.set_defaults(run=lambda options: made.print_help())
    return functools.partial(
        command, within=made.add_subparsers(metavar="COMMAND", title="commands"), exits=exits
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


def _shape(options: argparse.Namespace) -> None:
    from dataclasses import asdict

    from . import shapes
    from .model_config import read_config
    from .units import format_value

    found = _piped_shape() if options.path == "-" else read_config(options.path)
    parts, total = shapes.breakdown(found), shapes.total_parameters(found)
    active, elements = shapes.active_parameters(found), shapes.kv_elements_per_token(found)
    held = shapes.kv_window_elements(found)
    if options.json:
        fields = asdict(found)
        return print_json(
            {
                "name": fields.pop("name"),
                "total_parameters": total,
                "active_parameters": active,
                "parts_parameters": parts,
                "kv_elements_per_token": elements,
                "kv_bytes_per_token_bf16": 2 * elements,
                "kv_bytes_per_token_fp8": elements,
                "kv_window_bytes_bf16": 2 * held,
                "kv_window_bytes_fp8": held,
                "notes": fields.pop("notes"),
                "shape": fields,
            }
        )

    def row(name: str, value: float, unit: str) -> tuple[str, str]:
        return name, f"{value:,} ({format_value(value, unit)})" if value else "0"

    print_text(f"{found.name}\n")
    rows = [row("parameters", total, "1"), row("used by one token", active, "1")]
    rows += [row(f"  {name}", count, "1") for name, count in parts.items() if count]
    rows += [
        row("cache of one more token in bf16", 2 * elements, "B"),
        row("cache of one more token in fp8", elements, "B"),
    ]
    if held:
        rows += [
            ("window", f"{found.window_tokens:,} tokens in {found.windowed_layers:,} layers"),
            row("cache of full windows in bf16", 2 * held, "B"),
            row("cache of full windows in fp8", held, "B"),
        ]
    if found.max_context:
        rows.append(("longest context", f"{found.max_context:,} tokens"))
    print_columns(rows)
    print_list("Notes", found.notes)


def _piped_shape() -> Shape:
    """Return the shape of the config.json that standard input holds."""
    from .model_config import LONGEST, read_config
    from .shapes import ShapeError

    text = sys.stdin.buffer.read(4 * LONGEST + 1).decode("utf-8", "replace")
    if text.lstrip("\ufeff \t\r\n")[:1] != "{":
        raise UsageError("Standard input holds no config.json, which is one object in braces.")
    try:
        return read_config(text)
    except ShapeError as error:
        raise UsageError(f"Standard input: {error}") from None


def _cell(column: str, value: bool | str | float) -> str:
    """Return a figure as the table holds it, and in readable form if its column has a unit."""
    from .query import fact_unit
    from .units import format_value

    if isinstance(value, (bool, str)):
        return ("yes" if value else "no") if isinstance(value, bool) else value
    unit, factor = fact_unit(column)
    exact = str(int(value)) if value == int(value) and abs(value) < 1e18 else repr(value)
    return exact if unit == "1" else f"{exact} ({format_value(value * factor, unit)})"
