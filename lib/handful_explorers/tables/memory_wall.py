"""Tables for pages: what layers that share a cache save."""

from __future__ import annotations

from typing import Any

from handful.memory_wall import shared_cache_sizes
from handful.units import format_value

from .table import Table


def sharing_table(model: str = "Llama 3.1 70B", **choice: Any) -> Table:
    """Return `shared_cache_sizes` as head and rows of text for a page.

    >>> sharing_table()[1][-1][0]
    '80'
    """
    rows = [
        [
            str(row["layers_that_share"]),
            format_value(row["stored_bytes_per_token"], "B/token", 4),
            format_value(row["read_bytes_per_token"], "B/token", 4),
        ]
        for row in shared_cache_sizes(model, **choice)
    ]
    return Table(["Layers that share one cache", "Kept", "Read in a step"], rows)
