"""A table for pages: the bubble of a measured training step beside computed ones."""

from __future__ import annotations

from handful.units import format_value
from handful_evidence import measured_pipelines

from .table import Table


def bubbles_table() -> Table:
    """Return the measured step's bubble and three computed ones, as head and rows of text.

    >>> bubbles_table().rows[-1][0]
    'measured'
    """
    found, whole = measured_pipelines.reconstructed(), measured_pipelines.step_time()
    rows = [
        ("1F1B with the same passes", found["bubble_1f1b"]),
        ("DualPipe, closed form", found["bubble_formula"]),
        ("DualPipe, played through", found["bubble_played"]),
        ("measured", measured_pipelines.parts()["v3_bubble"]),
    ]
    return Table(
        ["Bubble", "Time", "Share of the measured step"],
        [
            [name, format_value(value, "s"), format_value(value / whole, "%")]
            for name, value in rows
        ],
    )
