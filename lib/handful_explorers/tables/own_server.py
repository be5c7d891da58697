"""The public run of *Your server against theory*, and its tables."""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from handful import facts
from handful.units import format_value
from handful_evidence import own_server
from handful_evidence.result_files import read

from .table import Table

PUBLISHER, CHIP, SHAPE = "Wentao274", "H100 SXM", "MiniMax-M2.5"
CACHE = "bf16"  # as vLLM keeps caches unless it is told otherwise
COLUMNS = {
    "concurrency": "concurrency",
    "input_tokens": "isl_tokens",
    "output_tokens": "osl_tokens",
    "tpot_ms": "tpot_ms",
    "ttft_ms": "ttft_ms",
    "hardware": "chip",
    "devices": "chips",
    "model": "shape",
    "precision": "precision",
}


def public_run() -> str:
    """Return the public run of the page as a table, as `result_files.read` takes it.

    >>> head, first, *_ = public_run().splitlines()
    >>> head.split(",")[:4], first
    (['concurrency', 'input_tokens', 'output_tokens', 'tpot_ms'],
     '1,167,128,7.42,26.79,H100 SXM,8,MiniMax-M2.5,fp8')
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in facts.load("measured_runs"):
        if (row["publisher"], row["chip"], row["shape"]) == (PUBLISHER, CHIP, SHAPE):
            values = (row[name] for name in COLUMNS.values())
            table.writerow(f"{one:g}" if isinstance(one, float) else one for one in values)
    return text.getvalue()


@cache
def points() -> tuple[own_server.Point, ...]:
    """Return the public run's points, each beside its floor.

    >>> len(points()), sum(bool(one.why_not) for one in points())
    (38, 0)
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "public-run.csv")
        path.write_text(public_run(), "utf-8")
        runs, _ = read([path])
    return tuple(own_server.points(runs, cache=CACHE))


@cache
def fit() -> own_server.Fit:
    """Return what the public run's server adds to its floor.

    >>> round(fit().values["fixed_time"] * 1e3, 1)
    7.1
    """
    return own_server.fit(points())


def what_it_adds() -> Table:
    r"""Return the three numbers of the public run, with their intervals.

    >>> what_it_adds().rows[2][1]
    '7.08\xa0ms'
    """
    names = ("Reading", "Arithmetic, and all that grows with tokens", "Fixed time of a step")
    rows = []
    for title, (name, value) in zip(names, fit().values.items(), strict=True):
        unit = "s" if name == "fixed_time" else "%"
        low, high = (format_value(end, unit, 2 + (unit == "s")) for end in fit().intervals[name])
        peak = "" if unit == "s" else " of the peak"
        rows.append(
            [title, format_value(value, unit, 2 + (unit == "s")) + peak, f"{low} to {high}"]
        )
    return Table(["", "Fitted", "Nine times in ten"], rows)


def what_would_help(step: float, load: int = 1063) -> Table:
    """Return what the server could sell within `step` seconds a token, as it is and changed.

    The load is that of the public run whose prompts have `load` tokens, with most users.

    >>> [row[0] for row in what_would_help(0.02).rows][0]
    'as it is'
    """
    known = max(
        (one for one in points() if one.run.input_tokens == load),
        key=lambda one: float(one.known["batch"]),
    ).known
    reach = own_server.REACH * max(float(one.known["batch"]) for one in points())
    found = [
        own_server.best_at(fit(), known, step, reach),
        *own_server.changes(fit(), known, step, reach),
    ]
    return Table(
        ["", "Sequences at a time", "Tokens a second and chip", "Gain", "Nine times in ten"],
        [
            [
                one.name,
                f"{one.batch:,.0f}",
                format_value(one.each, "1", 3),
                f"{one.gain:.2f} ×" if one.assumes else "",
                " to ".join(f"{end:.2f}" for end in one.gain_interval) if one.assumes else "",
            ]
            for one in found
        ],
    )
