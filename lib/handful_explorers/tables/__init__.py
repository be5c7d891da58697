"""Tables of numbers for pages: each function returns a `Table`, which a cell shows."""

from __future__ import annotations

from .lifetime_cost import lengths_table
from .measurement import classes_table
from .memory_wall import sharing_table
from .multi_rack_pipelines import domains_table, memory_played
from .pipelining import bubbles_table, schedules_table, step_table
from .price_surcharges import cache_table, measured_ratio_table, output_table, surcharge_table
from .racks import generations_table, kernels_table, served_table, traffic_table
from .table import Part, Table
from .tiers import waiting_table

__all__ = [
    "Part",
    "Table",
    "bubbles_table",
    "cache_table",
    "classes_table",
    "domains_table",
    "generations_table",
    "kernels_table",
    "lengths_table",
    "measured_ratio_table",
    "memory_played",
    "output_table",
    "schedules_table",
    "served_table",
    "sharing_table",
    "step_table",
    "surcharge_table",
    "traffic_table",
    "waiting_table",
]
