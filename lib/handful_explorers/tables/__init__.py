"""Tables of numbers for pages: each function returns a `Table`, which a cell shows."""

from __future__ import annotations

from .measurement import classes_table
from .memory_wall import sharing_table
from .table import Part, Table
from .tiers import bills_table, waiting_table

__all__ = [
    "Part",
    "Table",
    "bills_table",
    "classes_table",
    "sharing_table",
    "waiting_table",
]
