"""What the tables of facts hold of each chip and model, as rows of text for the index of numbers.

>>> rows("chip")[2].name, rows("model")[0].anchor
('H100 SXM', 'model-llama-3-1-8b')
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from handful import facts
from handful.query import shown_fact

UNREAD = " (unverified)"  # what is said of a figure that was not read in its source
TABLES = {"chip": "accelerators", "model": "models"}
# Columns of each table, and what they are called here.
COLUMNS = {
    "chip": {
        "hbm_capacity_bytes": "memory",
        "hbm_bandwidth_bytes_per_s": "memory bandwidth",
        "bf16_dense_flops": "bf16",
        "fp8_dense_flops": "fp8",
        "fp4_dense_flops": "fp4",
        "scaleup_bw_per_chip_one_direction_bytes_per_s": "{link} bandwidth each way",
        "scaleout_bw_per_chip_one_direction_bytes_per_s": "network bandwidth each way",
        "power_watts": "power",
        "rental_usd_per_chip_hour_3yr": "price, rented for three years",
    },
    "model": {
        "total_params_reported": "total",
        "active_params_reported": "active",
        "n_layers": "layers",
        "routed_experts": "experts",
        "active_routed_experts": "active experts",
        "kv_bytes_per_token_native": "cache",
        "context_length_tokens": "context",
        "pretraining_tokens": "pre-training",
    },
}


class Known(NamedTuple):
    """A row: its anchor, its name, its figures in words, and where they were read."""

    anchor: str
    name: str
    figures: str
    source: str


def _link(row: facts.Row) -> str:
    """Return what connects the chips of a domain, in a few words."""
    return re.split(r"[;(+,]", row["scaleup_kind"] or "scale-up")[0].strip()


def rows(kind: str) -> list[Known]:
    r"""Return the rows of a kind, "chip" or "model", without those of which nothing is known.

    >>> next(r for r in rows("chip") if r.name == "B200 SXM").figures.split("; ")[1].replace(
    ...     "\xa0", " "
    ... )
    'memory bandwidth 8 TB/s'
    """
    table, name_of = TABLES[kind], _link if kind == "chip" else None
    found = [
        Known(
            f"{kind}-{re.sub(r'[^a-z0-9]+', '-', row.name.lower()).strip('-')}",
            row.name,
            _figures(kind, row, name_of),
            row["source"],
        )
        for row in facts.load(table)
    ]
    return [row for row in found if row.figures]


def _figures(kind: str, row: facts.Row, link: Callable[[facts.Row], str] | None) -> str:
    figures = [
        f"{name.format(link=link(row)) if link else name} "
        + shown_fact(f"{TABLES[kind]} / {row.name} / {column}")["text"].removesuffix(UNREAD)
        for column, name in COLUMNS[kind].items()
        if row[column] is not None
    ]
    if figures and not row["verified"]:
        figures.append(UNREAD.strip(" ()"))
    return "; ".join(figures)
