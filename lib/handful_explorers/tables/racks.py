"""Tables for pages: generations of racks and what runs on them."""

from __future__ import annotations

from typing import Any

from handful import experts
from handful_evidence.measured_racks import all_to_all_kernels, services

from .table import Table

# Their domains are like those of a neighbour in the table.
_ALIKE = ("A100 40GB", "B100", "H200 SXM", "B300 SXM", "TPU v5e")


def generations_table() -> Table:
    r"""Return the chips' scale-up domains, as head and rows of text for the page.

    Each has its chips, its memory, and how much faster it is inside than out.

    >>> head, rows = generations_table()
    >>> [row[2:] for row in rows if row[0] == "H100 SXM"]
    [['8', '640\xa0GB', '9×']]
    >>> any("unverified" in row[0] for row in rows)  # announced, and shown as such
    True
    """
    from handful.facts import get
    from handful.units import format_value

    rows = []
    for g in experts.generations():
        if g.name in _ALIKE:
            continue
        mark = "" if get("accelerators", g.name).verified else " (unverified)"
        rows.append(
            [
                g.name + mark,
                str(g.year),
                f"{g.devices:,}",
                format_value(g.memory, "B"),
                f"{g.ratio:.2g}×" if g.ratio else "–",
            ]
        )
    return Table(
        [
            "Chip",
            "Year",
            "Chips in its domain",
            "Memory of the domain",
            "Inside over outside",
        ],
        rows,
    )


def served_table() -> Table:
    """Return `services` as head and rows of text for the page.

    >>> served_table()[1][2][1:3]
    ['72', '256']
    """
    from handful.units import format_value

    rows = [
        [
            row["name"],
            str(row["chips"]),
            format_value(row["device_batch"], "1"),
            format_value(row["step"], "s"),
            format_value(row["traffic"], "s"),
            format_value(row["traffic"] / row["step"], "%", 2),
        ]
        for row in services()
    ]
    return Table(
        [
            "Service",
            "Chips",
            "Sequences a chip",
            "Step, measured",
            "Its all-to-alls, computed",
            "Share",
        ],
        rows,
    )


def kernels_table() -> Table:
    r"""Return `all_to_all_kernels` as head and rows of text for the page.

    >>> kernels_table()[1][0][:3]  # in one node nothing leaves
    ['8', '77\xa0µs', '0\xa0s']
    """
    from handful.units import format_value

    rows = [
        [
            str(row["devices"]),
            *(
                format_value(row[key], "s")
                for key in ("dispatch", "dispatch_bytes", "combine", "combine_bytes")
            ),
        ]
        for row in all_to_all_kernels()
    ]
    return Table(
        [
            "Chips",
            "Out, measured",
            "Out, bytes alone",
            "Back, measured",
            "Back, bytes alone",
        ],
        rows,
    )


def traffic_table(tokens_per_device: int = 128, **settings: Any) -> Table:
    """Return `fabric.compare`, which takes the same settings, as head and rows of text.

    >>> traffic_table(512, devices=16)[1][0][2:]  # two nodes: half of the copies leave
    ['0.5', '1']
    """
    from handful.units import format_value
    from handful_evidence.simulate import fabric

    rows = [
        [
            row.quantity,
            format_value(row.simulated, row.unit),
            format_value(row.closed_form, row.unit),
            format_value(row.simulated / row.closed_form, "1") if row.closed_form else "–",
        ]
        for row in fabric.compare(tokens_per_device, **settings)
    ]
    return Table(["One layer", "Simulated", "Closed form", "Ratio"], rows)
