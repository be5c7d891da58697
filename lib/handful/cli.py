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
import itertools
import json
import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence

from handful_classroom import command as classroom
from handful_study import command as exercises

# Everything else is imported by the command that needs it: SymPy takes most of a cold start.

__all__ = ["main"]

VALUES = (
    'Values may carry a unit or a scale: 64, 8k (8,000, not 8,192), 1M, "16 chips",\n'
    '--set "device_price=2 $/hour".'
)
EXITS = "Exit codes: 0 fine; 1 cannot be had on this machine; 2 wrong input."
# By name, since importing them all would make every command wait for SymPy.
CODES = {
    "UsageError": 2,
    "ScenarioError": 2,
    "QuantityError": 2,
    "FactsError": 2,
    "ClaimsError": 2,
    "MeasureError": 1,
    "SourceError": 2,
    "LogError": 2,
    "ExportError": 2,
    "StoreError": 1,
    "MissingError": 1,
    "SandboxError": 1,
    "StartError": 1,
    "ClusterError": 1,
    "GradingError": 1,
    "SubmissionError": 2,
    "JudgeError": 2,
    "TableError": 2,
}
SCALES = {"k": "e3", "K": "e3", "M": "e6", "G": "e9", "T": "e12"}
SCALED = re.compile(r"^\s*([-+]?[\d,]*\.?\d+)\s*([kKMGT])(?![A-Za-z/])")
MUST_BE_WHOLE = ("batch", "context", "devices")


class UsageError(ValueError):
    """A command line that cannot be understood, in one sentence."""


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises an error as one sentence, instead of exiting."""

    def __init__(self, *args, **more) -> None:
        more |= {
            "allow_abbrev": False,
            "formatter_class": argparse.RawDescriptionHelpFormatter,
        }
        super().__init__(*args, **more)

    def error(self, message: str):
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
        code = CODES.get(type(error).__name__)
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
        name: str, run, about: str, epilog: str = "", within=commands, programs: bool = True
    ) -> argparse.ArgumentParser:
        made = within.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=f"{epilog}\n{EXITS}".strip(),
        )
        if programs:
            made.add_argument(
                "--json", action="store_true", help="JSON, with SI units in the names of keys"
            )
        made.set_defaults(run=run)
        return made

    model = '--model "Llama 3.1 70B" --batch 64'
    one = command(
        "estimate",
        _estimate,
        "what a decode step of one scenario takes and costs",
        f'{VALUES}\nExample: handful estimate --hardware "H100 SXM" {model}',
    )
    many = command(
        "compare",
        _compare,
        "the same lines for several chips, models or precisions, in columns",
        f'{VALUES}\nExample: handful compare --hardware "H100 SXM" "B200 SXM" {model}',
    )
    for made, several in ((one, None), (many, "+")):
        made.add_argument(
            "--hardware", nargs=several, metavar="H", help="a chip; default GB200 NVL72"
        )
        made.add_argument(
            "--model", nargs=several, metavar="M", help="a model; default DeepSeek-V3"
        )
        made.add_argument(
            "--precision",
            nargs=several,
            metavar="P",
            help="bf16, fp8, fp4 or int8-weights; default fp8, or bf16 on a chip without it",
        )
        made.add_argument("--batch", metavar="B", help="sequences served together; default 64")
        made.add_argument(
            "--context", metavar="L", help="tokens already in each sequence; default 8,192"
        )
        made.add_argument(
            "--devices", metavar="N", help="chips; default the node, rack or slice sold"
        )
        made.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="any other value of the scenario, such as memory_bandwidth; may be repeated",
        )
    shown = command(
        "formula", _formula, "the formulas, or one with its inputs, source and derivation"
    )
    shown.add_argument("name", nargs="?", metavar="NAME")
    shown.add_argument(
        "--latex", action="store_true", help="the equation and its derivation in LaTeX"
    )
    table = command(
        "facts", _facts, "the tables of facts, the rows of one, or one row with its source"
    )
    table.add_argument("table", nargs="?", metavar="TABLE")
    table.add_argument(
        "name", nargs="*", metavar="NAME", help="as the table writes it, quotes or none"
    )
    said = command(
        "claims", _claims, "the lecture's claims and their verdicts, or one with its recomputation"
    )
    said.add_argument("id", nargs="?", metavar="ID", help="such as batch-is-2400")
    timed = command(
        "measure",
        _measure,
        "this machine's arithmetic, its memory, and where they balance",
        "Takes about ten seconds (two when quick) and 0.6 GB of memory.\n"
        "A CUDA GPU is measured too where PyTorch finds one.",
    )
    timed.add_argument("--quick", action="store_true", help="smaller and shorter, two seconds")
    timed.add_argument(
        "--gpu", action="store_true", help="the GPU only; exit code 1 where there is none"
    )

    exercises.add(command)
    classroom.add(command)

    name = next((word for word in argv[:1] if not word.startswith("-")), None)
    if name is not None and name not in commands.choices:
        from .facts import nearest

        raise UsageError(
            f"There is no command {name!r}; the nearest are: {nearest(name, commands.choices)}."
        )
    return parser


# What comes in ------------------------------------------------------------------------------------


def _value(name: str, text: str):
    """Return the value of a quantity in SI units, from text such as "8k", "64" or "3.35 TB/s"."""
    from .symbolic.quantities import find

    quantity = find(name)
    value = quantity.check(
        SCALED.sub(lambda found: found[1] + SCALES[found[2]] + " ", text).strip()
    )
    if name in MUST_BE_WHOLE:
        if value != int(value):
            raise UsageError(f"{name} must be a whole number; got {text!r}.")
        return int(value)
    return value


def _overrides(options) -> dict:
    found = {
        name: _value(name, text)
        for name in MUST_BE_WHOLE
        if (text := getattr(options, name)) is not None
    }
    for setting in options.set:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"{setting!r} is no setting; write NAME=VALUE, such as devices=16.")
        found[name.strip()] = _value(name.strip(), text)
    return found


# What goes out ------------------------------------------------------------------------------------


def _print(text: str, end: str = "\n") -> None:
    print(
        text.replace("\u00a0", " "), end=end
    )  # so that what is copied or searched holds plain spaces


def _json(value) -> None:
    def finite(part):
        if isinstance(part, dict):
            return {key: finite(inner) for key, inner in part.items()}
        if isinstance(part, (list, tuple)):
            return [finite(inner) for inner in part]
        return None if isinstance(part, float) and not math.isfinite(part) else part

    print(json.dumps(finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text in columns, each as wide as its widest cell."""
    rows = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        _print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def _width() -> int:
    """Return the columns of the terminal, or a very large number for a pipe or a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 100_000


def _listed(head: str, lines: Sequence[str]) -> None:
    if lines:
        _print(f"\n{head}")
        for line in lines:
            _print(textwrap.fill(line, _width(), initial_indent="  ", subsequent_indent="    "))


# Commands -----------------------------------------------------------------------------------------


def _estimate(options) -> None:
    from handful_evidence.estimate import estimate

    chosen = {
        kind: name
        for kind in ("hardware", "model", "precision")
        if (name := getattr(options, kind)) is not None
    }
    found = estimate(**chosen, **_overrides(options))
    if options.json:
        return _json(_object(found))
    _print(found.title + "\n")
    _columns((line.label, line.text, line.remark) for line in found.results)
    _listed("Set", found.settings)
    _listed("Note", found.notes)
    _listed("Conventions", found.conventions)


def _object(found) -> dict:
    notes = [note.replace("\u00a0", " ") for note in found.notes]
    return {
        **found.values(),
        "given": found.given,
        "notes": notes,
        "conventions": found.conventions,
    }


def _compare(options) -> None:
    from handful_evidence.estimate import estimate

    from .scenario import DEFAULT

    overrides = _overrides(options)
    chips, models = options.hardware or [DEFAULT["hardware"]], options.model or [DEFAULT["model"]]
    found = [
        estimate(*choice, **overrides)
        for choice in itertools.product(chips, models, options.precision or [None])
    ]
    if options.json:
        return _json([_object(one) for one in found])
    labels = [line.label for line in (*found[0].scenario, *found[0].results)]
    columns = [[line.text for line in (*one.scenario, *one.results)] for one in found]
    for i, block in enumerate(_blocks(columns, labels)):
        _print("\n" if i else "", end="")
        _columns(zip(labels, *block, strict=True))
    _listed("Set for all", found[0].settings)
    _listed("Note", [f"{one.title}: {note}" for one in found for note in one.notes])
    _listed("Conventions", found[0].conventions)


def _blocks(columns: list[list[str]], labels: list[str]) -> list[list[list[str]]]:
    """Group the columns into blocks that fit the terminal's width beside the labels."""
    free = start = _width() - max(map(len, labels))
    blocks: list[list[list[str]]] = []
    for column in columns:
        taken = 2 + max(map(len, column))
        if not blocks or taken > free:
            blocks.append([])
            free = start
        blocks[-1].append(column)
        free -= taken
    return blocks


def _formula(options) -> None:
    from .facts import nearest
    from .query import registry

    formulas = registry()
    if options.name is None:
        if options.json:
            _json(
                [
                    {
                        "name": name,
                        "gives": f.gives.name,
                        "unit": f.gives.unit,
                        "meaning": f.meaning,
                    }
                    for name, f in formulas.items()
                ]
            )
        else:
            _columns(
                (name, f.latex() if options.latex else f.meaning) for name, f in formulas.items()
            )
        return
    if options.name not in formulas:
        raise UsageError(
            f"There is no formula {options.name!r}; the nearest are: "
            f"{nearest(options.name, formulas)}."
        )
    from . import equation

    formula = formulas[options.name]
    if options.json:
        _json(equation.as_object(formula))
    else:
        _print(
            "\n".join(equation.as_latex(formula) if options.latex else equation.as_text(formula))
        )


def _facts(options) -> None:
    from . import facts

    if options.table is None:
        names = facts.tables()
        if options.json:
            return _json([{"name": name, "rows": len(facts.load(name))} for name in names])
        return _columns((name, f"{len(facts.load(name))} rows") for name in names)
    table = facts.load(options.table)
    if not options.name:
        if options.json:
            return _json(table)
        return _columns((row.name, "" if row.verified else "not verified") for row in table)
    row = table.get(" ".join(options.name))
    if options.json:
        return _json(row)
    _columns(
        (column, _cell(column, value))
        for column, value in row.items()
        if value is not None and column not in ("verified", "source")
    )
    _print(f"\nVerified: {'yes' if row.verified else 'no'}\nSource: {row.source}")


def _cell(column: str, value) -> str:
    """Return a figure as the table holds it, and in readable form if its column has a unit."""
    from .query import fact_unit
    from .units import format_value

    if isinstance(value, (bool, str)):
        return ("yes" if value else "no") if isinstance(value, bool) else value
    unit, factor = fact_unit(column)
    exact = str(int(value)) if value == int(value) and abs(value) < 1e18 else repr(value)
    return exact if unit == "1" else f"{exact} ({format_value(value * factor, unit)})"


def _claims(options) -> None:
    from handful_evidence.claims import BASES, find, load
    from handful_site.extensions.ledger import as_object

    found = [find(options.id)] if options.id else load()
    if options.json:
        shown = [as_object(claim) for claim in found]
        return _json(shown[0] if options.id else shown)
    if not options.id:
        return _columns((claim.time, claim.id, claim.verdict, claim.spoken_text) for claim in found)
    [claim] = found
    _print(f"{claim.time} {claim.who}: {claim.statement}")
    said = [("Said", claim.spoken_text, "")] if claim.spoken else []
    values = [
        (value.label, value.text, "agrees" if value.agrees else "differs") for value in claim.values
    ]
    findings = [
        (finding.label, "agrees" if finding.agrees else "differs") for finding in claim.findings
    ]
    _columns([*said, *values] if values else findings)
    more = [
        f"{words}: {text}"
        for words, text in (
            ("Depends on", claim.depends),
            ("Against it", claim.contrary),
            ("A slip", claim.slip),
        )
        if text
    ]
    _listed(
        f"{claim.verdict.capitalize()}, {BASES[claim.basis]}",
        [claim.reason, *more, f"{claim.source}: {claim.link}"],
    )


def _measure(options) -> None:
    from handful_evidence import measure

    def say(line: str) -> None:
        print(line.replace("\u00a0", " "), file=sys.stderr, flush=True)

    reports, missing = [], ""
    for backend in (measure.gpu,) if options.gpu else (measure.processor, measure.gpu):
        try:
            found = backend(quick=options.quick)
        except measure.MeasureError as error:
            if backend is not measure.gpu or options.gpu:
                raise
            missing = str(error)
            continue
        say(f"measuring with {found.name} …")
        reports.append(measure.measure(found, seconds=1.5 if options.quick else 15.0, say=say))
    if options.json:
        return _json(
            [
                {
                    **report.row(),
                    "note": report.note,
                    "points": [
                        {
                            "batch_sequences": p.batch,
                            "measured_s": p.measured,
                            "predicted_s": p.predicted,
                        }
                        for p in report.points
                    ],
                }
                for report in reports
            ]
        )
    _print("\n\n".join(map(str, reports)))
    if missing:
        _print(f"\n{missing}")
