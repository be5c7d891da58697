"""Tables of numbers for pages: each function returns a `Table`, which a cell shows."""

from __future__ import annotations

from .lifetime_cost import approaches_table, runs_table, splits_table
from .measurement import classes_table
from .memory_wall import sharing_table
from .multi_rack_pipelines import domains_table, memory_played
from .overtraining import disclosed_table
from .pipelining import bubbles_table, schedules_table, step_table
from .racks import generations_table, kernels_table, served_table, traffic_table
from .table import Part, Table
from .tiers import waiting_table

__all__ = [
    "Part",
    "Table",
    "approaches_table",
    "bubbles_table",
    "classes_table",
    "disclosed_table",
    "domains_table",
    "generations_table",
    "kernels_table",
    "memory_played",
    "runs_table",
    "schedules_table",
    "served_table",
    "sharing_table",
    "splits_table",
    "step_table",
    "traffic_table",
    "waiting_table",
]
