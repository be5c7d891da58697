"""Tables of numbers for pages: each function returns a `Table`, which a cell shows."""

from __future__ import annotations

from .lifetime_cost import approaches_table, runs_table, splits_table
from .measurement import classes_table
from .memory_wall import sharing_table
from .overtraining import disclosed_table
from .price_surcharges import cache_table, measured_ratio_table, output_table, surcharge_table
from .table import Part, Table
from .tiers import waiting_table

__all__ = [
    "Part",
    "Table",
    "approaches_table",
    "cache_table",
    "classes_table",
    "disclosed_table",
    "measured_ratio_table",
    "output_table",
    "runs_table",
    "sharing_table",
    "splits_table",
    "surcharge_table",
    "waiting_table",
]
