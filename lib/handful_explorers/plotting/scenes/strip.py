"""Draw answers to one question as dots on a log axis of their ratio to a reference.

``data={"questions": {key: {"text", "unit", "ours", "answers": [[name, value, note], …]}},
"reference": "this book"}``; a Dropdown named ``question`` picks one.
"""

from __future__ import annotations

import math
from typing import Any

from handful.units import format_value

from . import inputs, shapes

INPUTS = {"question": ("Question", "1", "")}
ROW, TOP, EDGE = 46, 26, 12


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return the chosen question and its answers, with ratios to the reference, least first."""
    chosen = explorer.data["questions"][inputs(explorer, state)["question"]]
    return {
        "text": chosen["text"],
        "unit": chosen["unit"],
        "ours": chosen["ours"],
        "reference": explorer.data["reference"],
        "answers": [
            [name, value, value / chosen["ours"], note] for name, value, note in chosen["answers"]
        ],
    }


def ends(v: dict[str, Any]) -> tuple[float, float]:
    """Return the ratios that bound the axis, at least from half to double."""
    ratios = [answer[2] for answer in v["answers"]]
    return min([0.5, *(r / 1.3 for r in ratios)]), max([2.0, *(r * 1.3 for r in ratios)])


def fold(ratio: float) -> str:
    """Write a ratio in words: "1.9 times", "the same"."""
    return (
        "the same"
        if abs(ratio - 1) < 0.005
        else f"{format_value(ratio, '1', 2 if ratio >= 0.1 else 1)} times"
    )


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw a row for each answer, as its ratio to the reference on a log axis."""
    low, high = ends(v)
    bottom = TOP + ROW * len(v["answers"])

    def at(ratio: float) -> float:
        return EDGE + (width - 2 * EDGE) * math.log(ratio / low) / math.log(high / low)

    one = at(1)
    out = [
        shapes.line(one, TOP - 6, one, bottom, "ink dash"),
        shapes.text(
            min(max(one, 80), width - 80),
            13,
            f"{v['reference']}: {format_value(v['ours'], v['unit'])}",
            "ink strong",
            "middle",
        ),
    ]
    for i, (name, value, ratio, _) in enumerate(v["answers"]):
        y, x = TOP + ROW * i, at(ratio)
        far = "c1" if ratio > 1.25 or ratio < 0.8 else "c0"
        out.append(shapes.text(0, y + 13, name, "ink"))
        out.append(
            shapes.text(
                width,
                y + 13,
                f"{format_value(value, v['unit'])}, {fold(ratio)}",
                f"{far} strong",
                "end",
            )
        )
        out.append(shapes.line(0, y + 28, width, y + 28, "grid"))
        out.append(shapes.line(one, y + 28, x, y + 28, f"{far} thick pale"))
        out.append(shapes.circle(x, y + 28, 6, far))
    return bottom, out


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the ratio of each answer and why it differs."""
    return [(name, fold(ratio), note) for name, _, ratio, note in v["answers"]]


def words(v: dict[str, Any]) -> str:
    """Describe the answers beside the reference."""
    said = "; ".join(
        f"{name} {format_value(value, v['unit'])}" for name, value, _, _ in v["answers"]
    )
    return f"{v['text']}: {v['reference']} says {format_value(v['ours'], v['unit'])}; {said}."


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: the answers and their ratios."""
    return ["Who", "Answer", f"Over {v['reference']}", "Why"], [
        [name, format_value(value, v["unit"]), fold(ratio), note]
        for name, value, ratio, note in v["answers"]
    ]
