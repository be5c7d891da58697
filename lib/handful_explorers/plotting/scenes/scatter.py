"""Draw measured against predicted times as dots on two equal log axes.

A line shows where both agree.  ``data={"sets": {key: {"text", "unit", "shown": {key: {"text",
"at": [[predicted, measured], …]}}}}}``; Dropdowns named ``set`` and ``shown`` pick one.  The strip
holds the central nine tenths of measured over predicted.
"""

from __future__ import annotations

import math
from typing import Any

from handful.units import format_ticks, format_value

from . import inputs, shapes

INPUTS = {"set": ("Measurements", "1", ""), "shown": ("Predicted by", "1", "")}
LEFT, TOP, FOOT = 56, 24, 44


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return the chosen dots, with median and band of measured over predicted."""
    import numpy as np

    chosen = inputs(explorer, state)
    group = explorer.data["sets"][chosen["set"]]
    shown = group["shown"][chosen["shown"]]
    low, median, high = np.quantile([y / x for x, y in shown["at"]], [0.05, 0.5, 0.95])
    return {
        "text": group["text"],
        "how": shown["text"],
        "unit": group["unit"],
        "at": shown["at"],
        "every": [p for other in group["shown"].values() for p in other["at"]],
        "low": float(low),
        "median": float(median),
        "high": float(high),
    }


def ends(v: dict[str, Any]) -> tuple[float, float]:
    """Return the ends of both axes: quarter decades around every dot of the set.

    They do not depend on the way to predict, so that the ways can be compared.
    """
    found = [x for point in v["every"] for x in point]
    return (
        10 ** (math.floor(math.log10(min(found)) * 4 - 0.2) / 4),
        10 ** (math.ceil(math.log10(max(found)) * 4 + 0.2) / 4),
    )


def ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 of each decade between the ends."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [
        float(f"{m}e{e}")
        for e in range(first, last + 1)
        for m in (1, 2, 5)
        if low <= float(f"{m}e{e}") <= high
    ]


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw the axes, the line of agreement, the band and the dots."""
    low, high = ends(v)
    right = min(width - 12, LEFT + 520)
    bottom = TOP + (right - LEFT) * 0.72

    def at(value: float, start: float, stop: float) -> float:
        share = math.log(value / low) / math.log(high / low)
        return start + (stop - start) * min(max(share, 0), 1)

    def px(value: float) -> float:
        return at(value, LEFT, right)

    def py(value: float) -> float:
        return at(value, bottom, TOP)

    out = []
    values = ticks(low, high)
    for tick, said in zip(values, format_ticks(values, v["unit"], True), strict=True):
        out += [
            shapes.line(px(tick), TOP, px(tick), bottom, "grid"),
            shapes.line(LEFT, py(tick), right, py(tick), "grid"),
            shapes.text(LEFT - 6, py(tick) + 4, said, "soft small", "end"),
        ]
        if round(tick / 10 ** math.floor(math.log10(tick) + 1e-9)) != 2 or right - LEFT > 420:
            middle = min(px(tick), width - 3.4 * len(said))
            out.append(shapes.text(middle, bottom + 16, said, "soft small", "middle"))
    for factor in (v["low"], v["high"]):
        a, b = max(low, low / factor), min(high, high / factor)
        out.append(shapes.path([(px(a), py(a * factor)), (px(b), py(b * factor))], "c1 dash", 1.5))
    out.append(shapes.path([(LEFT, bottom), (right, TOP)], "ink", 1.2))
    out += [shapes.circle(px(x), py(y), 3, "c0 pale") for x, y in v["at"]]
    out += [
        shapes.text(0, 13, "Measured", "ink"),
        shapes.text(right, bottom + 36, "Predicted", "ink", "end"),
        shapes.text(LEFT + 8, TOP + 16, "slower than predicted", "soft small"),
        shapes.text(right - 8, bottom - 10, "faster than predicted", "soft small", "end"),
    ]
    return bottom + FOOT, out


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the number of measurements, the median and the band of their ratios."""

    def times(x: float) -> str:
        return format_value(x, "1", 3)

    return [
        ("Measurements", format_value(len(v["at"]), "1", 6), ""),
        ("Median of measured ÷ predicted", times(v["median"]), ""),
        ("Nine tenths lie between", f"{times(v['low'])} and {times(v['high'])}", "dashed lines"),
    ]


def words(v: dict[str, Any]) -> str:
    """Describe the median and the band of measured over predicted."""
    low, median, high = (format_value(v[key], "1", 3) for key in ("low", "median", "high"))
    return (
        f"{v['text']}, predicted by {v['how']}: of {len(v['at'])} measurements, measured over "
        "predicted has a median of "
        f"{median}, and nine tenths lie between {low} and {high}."
    )


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: each measurement and its prediction."""
    return ["Predicted", "Measured", "Ratio"], [
        [format_value(x, v["unit"]), format_value(y, v["unit"]), format_value(y / x, "1", 3)]
        for x, y in v["at"]
    ]
