"""Make the form for a reader's own model and chip, and its data (custom_scenario_form.js)."""

from __future__ import annotations

import html
import json
from dataclasses import MISSING, fields

from handful import facts, shapes
from handful.query import registry
from handful_explorers.tables import Part

# What the form shows of a chip.
CHIP = ("weight_uses_at_balance", "drain_time", "domain_memory", "bandwidth_ratio")


def start_shapes() -> dict[str, dict]:
    """Return the book's shapes that the form can start from.

    Each holds the fields in which it differs from a plain one.

    >>> start_shapes()["Mistral 7B v0.2"]["kv_heads"]
    8
    """
    usual = {f.name: f.default for f in fields(shapes.Shape) if f.default is not MISSING}
    found = {}
    for row in facts.load("shapes"):
        if row.verified and not row["compressed_layers"]:
            s = shapes.of_row(row)
            found[row.name] = {
                f.name: getattr(s, f.name)
                for f in fields(s)
                if f.name != "name" and (f.name not in usual or getattr(s, f.name) != usual[f.name])
            }
    return found


def chip() -> list[dict]:
    """Return the formulas of a chip alone, as the page evaluates them."""
    formulas = registry()
    return [
        {
            "label": formulas[name].gives.label,
            "unit": formulas[name].gives.unit,
            "tree": formulas[name].tree(),
        }
        for name in CHIP
    ]


def form() -> Part:
    """Return the form's place; without scripts it says what to do instead.

    >>> "yours-data" in form().text
    True
    """
    data = json.dumps({"shapes": start_shapes(), "chip": chip()}, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    words = (
        "Here the published page shows a form. It needs scripts; in a notebook, describe your "
        "model as "
        "handful.shapes.Shape(…) and hand it to handful.scenario.values(model=…)."
    )
    return Part(
        f'<div class="yours" id="yours"><p class="yours-still">{html.escape(words)}</p>'
        f'<script type="application/json" id="yours-data">{data}</script></div>'
    )
