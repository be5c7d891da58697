"""Tables for pages: trains that leave on a clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handful.units import format_value

from .table import Table


def trains_table(loads: Sequence[float] = (0.9, 0.95, 0.97, 0.99), **settings: Any) -> Table:
    r"""Return `train.compare`, which takes the same settings, as head and rows of text.

    >>> trains_table([0.5], requests=1000)[1][0][-1].replace("\xa0", " ")  # nobody queues
    '40 ms'
    """
    from handful_evidence.simulate import train

    rows = [
        [
            format_value(row.load, "%"),
            format_value(row.missed, "%", 2),
            format_value(row.missed_simulated, "%", 2),
            format_value(row.missed_uneven, "%", 2),
            format_value(row.mean_delay, "s"),
            format_value(row.delay_bound, "s"),
        ]
        for row in train.compare(loads, **settings)
    ]
    head = [
        "Load",
        "Miss a train, exact",
        "Simulated",
        "Simulated, uneven lengths",
        "Mean delay, exact",
        "99 of 100 within",
    ]
    return Table(head, rows)
