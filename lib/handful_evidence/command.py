"""Commands about evidence: ``handful estimate``, ``compare``, ``claims`` and ``measure``."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

from handful.cli import (
    UsageError,
    print_columns,
    print_json,
    print_list,
    print_text,
    terminal_width,
)

# Everything else is imported by the command that needs it: SymPy takes most of a cold start.

VALUES = (
    'Values may carry a unit or a scale: 64, 8k (8,000, not 8,192), 1M, "16 chips",\n'
    '--set "device_price=2 $/hour".'
)
MUST_BE_WHOLE = ("batch", "context", "devices")


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
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
            "--hardware",
            nargs=several,
            metavar="H",
            help="a chip, or its file; default GB200 NVL72",
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
        made.add_argument(
            "--weights", metavar="P", help="precision of weights alone: bf16, fp8, fp4, int8, int4"
        )
        made.add_argument("--cache", metavar="P", help="precision of key-value caches alone")
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
    said = command(
        "claims", _claims, "the lecture's claims and their verdicts, or one with its recomputation"
    )
    said.add_argument("id", nargs="?", metavar="ID", help="such as batch-is-2400")
    timed = command(
        "measure",
        _measure,
        "this machine's arithmetic, its memory, and where they balance",
        "Takes about ten seconds (two when quick) and 0.6 GB of memory.\n"
        "A CUDA GPU is measured too where PyTorch or CuPy finds one: its memory, its products by\n"
        "precision, and with several a sum over all.\n"
        "Example: handful measure --gpu -o mine.json; handful estimate --hardware mine.json",
    )
    timed.add_argument("--quick", action="store_true", help="smaller and shorter, two seconds")
    timed.add_argument(
        "--gpu", action="store_true", help="the GPU only; exit code 1 where there is none"
    )
    timed.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write what was measured of the GPU as a chip, for --hardware and for the page",
    )


# What comes in ------------------------------------------------------------------------------------


def _value(name: str, text: str):
    """Return the value of a quantity in SI units, from text such as "8k", "64" or "3.35 TB/s"."""
    from handful.symbolic.quantities import find

    quantity = find(name)
    value = quantity.check(text)
    if name in MUST_BE_WHOLE:
        if value != int(value):
            raise UsageError(f"{name} must be a whole number; got {text!r}.")
        return int(value)
    return value


def _overrides(options) -> dict:
    found: dict = {
        kind: name for kind in ("weights", "cache") if (name := getattr(options, kind)) is not None
    }
    found |= {
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


# Commands -----------------------------------------------------------------------------------------


def _estimate(options) -> None:
    from .estimate import estimate

    chosen = {
        kind: name
        for kind in ("hardware", "model", "precision")
        if (name := getattr(options, kind)) is not None
    }
    found = estimate(**chosen, **_overrides(options))
    if options.json:
        return print_json(_object(found))
    print_text(found.title + "\n")
    print_columns((line.label, line.text, line.remark) for line in found.results)
    print_list("Set", found.settings)
    print_list("Note", found.notes)
    print_list("Conventions", found.conventions)


def _object(found) -> dict:
    notes = [note.replace("\u00a0", " ") for note in found.notes]
    return {
        **found.values(),
        "given": found.given,
        "notes": notes,
        "conventions": found.conventions,
    }


def _compare(options) -> None:
    from handful.scenario import DEFAULT

    from .estimate import estimate

    overrides = _overrides(options)
    chips, models = options.hardware or [DEFAULT["hardware"]], options.model or [DEFAULT["model"]]
    found = [
        estimate(*choice, **overrides)
        for choice in itertools.product(chips, models, options.precision or [None])
    ]
    if options.json:
        return print_json([_object(one) for one in found])
    labels = [line.label for line in (*found[0].scenario, *found[0].results)]
    columns = [[line.text for line in (*one.scenario, *one.results)] for one in found]
    for i, block in enumerate(_blocks(columns, labels)):
        print_text("\n" if i else "", end="")
        print_columns(zip(labels, *block, strict=True))
    print_list("Set for all", found[0].settings)
    print_list("Note", [f"{one.title}: {note}" for one in found for note in one.notes])
    print_list("Conventions", found[0].conventions)


def _blocks(columns: list[list[str]], labels: list[str]) -> list[list[list[str]]]:
    """Group the columns into blocks that fit the terminal's width beside the labels."""
    free = start = terminal_width() - max(map(len, labels))
    blocks: list[list[list[str]]] = []
    for column in columns:
        taken = 2 + max(map(len, column))
        if not blocks or taken > free:
            blocks.append([])
            free = start
        blocks[-1].append(column)
        free -= taken
    return blocks


def _claims(options) -> None:

    from .claims import BASES, as_object, find, load

    found = [find(options.id)] if options.id else load()
    if options.json:
        shown = [as_object(claim) for claim in found]
        return print_json(shown[0] if options.id else shown)
    if not options.id:
        return print_columns(
            (claim.time, claim.id, claim.verdict, claim.spoken_text) for claim in found
        )
    [claim] = found
    print_text(f"{claim.time} {claim.who}: {claim.statement}")
    said = [("Said", claim.spoken_text, "")] if claim.spoken else []
    values = [
        (value.label, value.text, "agrees" if value.agrees else "differs") for value in claim.values
    ]
    findings = [
        (finding.label, "agrees" if finding.agrees else "differs") for finding in claim.findings
    ]
    print_columns([*said, *values] if values else findings)
    more = [
        f"{words}: {text}"
        for words, text in (
            ("Depends on", claim.depends),
            ("Against it", claim.contrary),
            ("A slip", claim.slip),
        )
        if text
    ]
    print_list(
        f"{claim.verdict.capitalize()}, {BASES[claim.basis]}",
        [claim.reason, *more, f"{claim.source}: {claim.link}"],
    )


def _measure(options) -> None:
    from . import measure, measure_chip

    def say(line: str) -> None:
        print(line.replace("\u00a0", " "), file=sys.stderr, flush=True)

    library, chip, missing = None, None, None
    if options.output:
        _check_folder(Path(options.output))
        library = measure_chip.find()  # or a refusal, before a processor is timed in vain
    reports = []
    for backend in (measure.gpu,) if options.gpu else (measure.processor, measure.gpu):
        try:
            reports.append(_report(backend, options, say))
        except measure.MeasureError as error:
            if backend is not measure.gpu:
                raise
            missing = error
    try:
        library = library or measure_chip.find()
        say(f"measuring {library.chip} with {library.name} …")
        chip = measure_chip.measure(library, quick=options.quick, say=say)
        if missing:
            missing = measure.MeasureError(
                "Products batch by batch were not timed on the GPU: that needs PyTorch."
            )
    except measure.MeasureError as error:
        missing = missing or error
        if options.output or not reports:
            raise missing from None
    if chip and options.output:
        write_chip(chip.row(), Path(options.output))
    if options.json:
        return print_json([*map(_report_object, reports), *([chip.row()] if chip else [])])
    print_text("\n\n".join(map(str, [*reports, *([chip] if chip else [])])))
    if missing:
        print_text(f"\n{missing}")
    if options.output:
        print_text(f"\n{options.output} is written: --hardware takes it, and so does the page.")


def _report(backend, options, say):
    from . import measure

    found = backend(quick=options.quick)
    say(f"measuring with {found.name} …")
    return measure.measure(found, seconds=1.5 if options.quick else 15.0, say=say)


def _report_object(report) -> dict:
    return {
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


def _check_folder(path: Path) -> None:
    """Refuse a file that cannot be written before minutes are spent on what it should hold."""
    if path.is_dir() or not path.parent.is_dir():
        what = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise UsageError(f"{path} cannot be written: {what}.")


def write_chip(row: dict, path: Path) -> None:
    """Write a chip's file, as `handful.chip_file` reads it.

    Raises UsageError where that cannot be done.
    """
    try:
        path.write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from None
