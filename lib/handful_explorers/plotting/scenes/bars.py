"""Draw level bars on one axis, one for the value of each declared formula.

On a log axis a bar is a distance from the least.  Declare with ``numbers={"key": Readout(formula,
"Label")}``; all must share a unit.  ``data={"log": True}`` for a log axis.
"""

from __future__ import annotations

import math
from typing import Any

from handful.units import format_ticks, format_value

from . import inputs, shapes

INPUTS: dict = {}
ROW, TOP = 44, 6


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers in the order of their declaration, with labels and unit."""
    inputs(explorer, state)
    found = explorer.numbers_at(state)
    units = {number.formula.gives.unit for number in explorer.numbers.values()}
    return {
        "labels": [
            number.label or number.formula.gives.label for number in explorer.numbers.values()
        ],
        "values": list(found.values()),
        "unit": units.pop(),
        "log": bool(explorer.data.get("log")),
    }


def ends(v: dict[str, Any]) -> tuple[float, float]:
    """Return the ends of the axis, which are whole decades on a log axis."""
    kept = [x for x in v["values"] if math.isfinite(x) and x > 0] or [1.0]
    if not v["log"]:
        return 0.0, max(kept)
    low, high = math.floor(math.log10(min(kept)) - 1e-9), math.ceil(math.log10(max(kept)) + 1e-9)
    return float(f"1e{low}"), float(f"1e{max(high, low + 1)}")


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw the bars and their axis."""
    low, high = ends(v)
    out, right = [], width - 100
    bottom = TOP + ROW * len(v["values"])

    def at(x: float) -> float:
        if v["log"]:
            return right * math.log(x / low) / math.log(high / low)
        return right * x / high

    if v["log"]:
        first, last = round(math.log10(low)), round(math.log10(high))
        skip = max(1, math.ceil((last - first) * 56 / right))
        values = [float(f"1e{e}") for e in range(first, last + 1, skip)]
        for value, said in zip(values, format_ticks(values, v["unit"], True), strict=True):
            x = at(value)
            out.append(shapes.line(x, TOP, x, bottom, "grid"))
            out.append(
                shapes.text(
                    x,
                    bottom + 16,
                    said,
                    "soft small",
                    "start" if value == values[0] else "middle",
                )
            )
    for i, (label, value) in enumerate(zip(v["labels"], v["values"], strict=True)):
        y = TOP + ROW * i
        out.append(shapes.text(0, y + 14, label, "ink"))
        good = math.isfinite(value) and value > 0
        wide = max(at(value), 1) if good else 0
        if good:
            out.append(shapes.rect(0, y + 20, wide, 14, f"c{i % 8}"))
        out.append(shapes.text(wide + 6, y + 32, format_value(value, v["unit"]), "ink strong"))
    return bottom + (26 if v["log"] else 4), out


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return nothing, since each bar carries its number."""
    return []


def words(v: dict[str, Any]) -> str:
    """Name the bars and their values."""
    return (
        "; ".join(
            f"{label} {format_value(value, v['unit'])}"
            for label, value in zip(v["labels"], v["values"], strict=True)
        )
        + "."
    )


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: the bars and their values."""
    return ["What", "Value"], [
        [label, format_value(value, v["unit"])]
        for label, value in zip(v["labels"], v["values"], strict=True)
    ]
