"""Tables for pages: measured decode steps against their floor."""

from __future__ import annotations

from handful.units import format_value
from handful_evidence.measured import CLASSES, FEWEST, band_of, leave_source_out, ratios

from .table import Table


def classes_table() -> Table:
    """Return the classes of measurements, as head and rows of text.

    For each class: its runs, what they ran, its band, and the share of the runs of a left-out
    source that lie in the band of the others.

    >>> [row[3] for row in classes_table().rows if row[3].startswith("no")]
    ['no band: fewer than 30']
    """
    rows = []
    for kind in CLASSES:
        band, others = band_of(kind), leave_source_out(kind).values()
        cells = ["", f"no band: fewer than {FEWEST}", ""]
        if band is not None:
            inside, runs = (sum(counts) for counts in zip(*others, strict=True))
            cells = [
                ", ".join(band.models),
                f"{band.low:g} to {band.high:g}",
                format_value(inside / runs, "%", 2),
            ]
        rows.append([kind.name[:1].upper() + kind.name[1:], str(len(ratios(kind))), *cells])
    head = ["Class", "Runs", "Models", "Measured ÷ floor", "Left out, and yet in the others' band"]
    return Table(head, rows)
