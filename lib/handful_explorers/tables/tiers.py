"""Tables for pages: tiers of memory."""

from __future__ import annotations

import re
from typing import Any

from handful.tiers import breakpoints, drains
from handful.units import format_value

from .table import Table


def drain_table() -> Table:
    r"""Return `drains` as head and rows of text for a page.

    What was not found in a source says so.

    >>> [row[1] for row in drain_table()[1] if "Nearline" in row[2]]
    ['14\xa0h', '23\xa0h', '30\xa0h']
    """
    rows = []
    for row in drains():
        name = re.split(r"[:;]| \(", row["name"])[0]
        rows.append(
            [
                name if row["verified"] else f"{name} (unverified)",
                format_value(row["drain_time_s"], "s", 2),
                row["tier"],
            ]
        )
    return Table(["Device", "Read once through in", "Tier"], rows)


def ways_table(**choice: Any) -> Table:
    """Return the cheapest way for every hold time, as in `breakpoints`.

    The form is head and rows of text.

    >>> [row[1] for row in ways_table()[1]][:2]
    ['chip memory', 'LPDDR5X host of 2 GPUs over NVLink-C2C']
    """
    rows = [
        [
            f"{format_value(way['from_s'], 's', 2)} to {format_value(way['to_s'], 's', 2)}",
            way["tier"],
            format_value(way["hold_usd_per_token_s"] * 3.6e9, "$"),
            format_value(way["retrieve_usd_per_token"] * 1e6, "$"),
        ]
        for way in breakpoints(**choice)
    ]
    return Table(
        [
            "Held for",
            "Cheapest way",
            "Rent, per million tokens and hour",
            "Fare, per million tokens",
        ],
        rows,
    )
