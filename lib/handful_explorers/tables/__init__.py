"""Tables of numbers for pages: each function returns a `Table`, which a cell shows."""

from __future__ import annotations

from .lifetime_cost import approaches_table, runs_table, splits_table
from .measurement import classes_table
from .memory_wall import sharing_table
from .overtraining import disclosed_table
from .table import Part, Table
from .tiers import waiting_table

__all__ = [
    "Part",
    "Table",
    "approaches_table",
    "classes_table",
    "disclosed_table",
    "runs_table",
    "sharing_table",
    "splits_table",
    "waiting_table",
]
