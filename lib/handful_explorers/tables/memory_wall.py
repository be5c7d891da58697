"""Tables for pages: contexts and what their caches share."""

from __future__ import annotations

from typing import Any

from handful.memory_wall import longest_contexts, shared_cache_sizes
from handful.units import format_value

from .table import Table


def longest_table(hardware: str, **choice: Any) -> Table:
    """Return `longest_contexts` as head and rows of text for a page.

    >>> [row[0] for row in longest_table("GB200 NVL72")[1]][-1]
    'DeepSeek-V4-Pro, compressed, then chosen'
    """
    rows = [
        [
            f"{row['name']}, {row['kind']}",
            format_value(row["read_bytes_per_token"], "B/token"),
            format_value(row["stored_bytes_per_token"], "B/token"),
            format_value(row["readable_context"], "token", 2),
            format_value(row["context_that_fits"], "token", 2),
        ]
        for row in longest_contexts(hardware, **choice)
    ]
    return Table(["Model", "Read", "Kept", "Longest by reading", "Longest by room"], rows)


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
