"""Draw micro-batches that go round a pipeline to decode, one lap per token.

The simulation is `handful_evidence.simulate.pipeline.circle`.  Times are in stages' work.
"""

from __future__ import annotations

import math
from typing import Any

from handful.units import format_value
from handful_evidence.simulate import pipeline

from . import inputs, shapes

INPUTS = {
    "pipeline_stages": ("Stages", "1", 4),
    "micro_batches": ("Micro-batches", "1", 1),
    "hop_time": ("Hop", "s", 0),
}
LAPS = 3  # of the slower of a lap alone and a turn of all micro-batches: what the chart shows
ROUNDS = 60  # of which the last half is measured
LEFT, GAP = 22, 6  # where the rows begin, and what is between them


def clean(x: float) -> float:
    """Round off the error of many additions."""
    return math.floor(x * 1e9 + 0.5) / 1e9


def plain(x: float) -> str:
    """Write a number with three digits and no unit."""
    return format_value(x, "1", 3)


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Simulate the laps, and return their bars with the closed forms."""
    given = inputs(explorer, state)
    stages, many, hop = (
        int(given["pipeline_stages"]),
        int(given["micro_batches"]),
        float(given["hop_time"]),
    )
    span = LAPS * max(stages * (1 + hop), many)
    bars = [
        (stage, start, j, turn)
        for turn, j, stage, start, _ in pipeline.circle(stages, many, 1.0, hop, LAPS + 1)
        if start < span - 1e-9
    ]
    played = pipeline.decode(stages, many, 1.0, hop, ROUNDS)
    return {
        "stages": stages,
        "micro_batches": many,
        "hop": hop,
        "span": span,
        "bars": bars,
        "utilisation": clean(played["utilisation"]),
        "latency": clean(played["token_latency"]),
    }


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw one row per stage, with a bar for each micro-batch that it works on.

    A hop lies between two rows; the one back to the first stage lies above all of them.
    """
    top, row, right = 4, 32 if v["stages"] <= 4 else 26, width - 2
    bottom, scale, out = top + row * v["stages"], (right - LEFT) / v["span"], []
    for stage in range(v["stages"]):
        out += [
            shapes.text(0, top + row * stage + (row + GAP) / 2 + 4, str(stage + 1), "soft"),
            shapes.rect(LEFT, top + row * stage + GAP, right - LEFT, row - GAP, "grid"),
        ]
    for stage, start, j, _ in v["bars"]:
        at = LEFT + start * scale
        wide = max(min(scale, right - at) - 1, 0.6)
        out.append(shapes.rect(at, top + row * stage + GAP, wide, row - GAP, f"c{j % 8}"))
        label = str(j + 1)
        if wide >= 5 + 6.5 * len(label):
            out.append(
                shapes.text(
                    at + wide / 2,
                    top + row * stage + (row + GAP) / 2 + 4,
                    label,
                    "paper small",
                    "middle",
                )
            )
        leaves, y = at + scale, top + row * ((stage + 1) % v["stages"])
        across = min(v["hop"] * scale, right - leaves)
        if across > 0.5:
            out.append(shapes.rect(leaves, y + 1, across, GAP - 2, f"c{j % 8}"))
    step = next(m for m in (1, 2, 5, 10, 20, 50) if m * scale >= 30)
    i = 0
    while i * step <= v["span"] + 1e-9:
        x = LEFT + i * step * scale
        out += [
            shapes.line(x, bottom + 1, x, bottom + 5),
            shapes.text(
                x, bottom + 18, str(i * step), "soft small", "end" if x > right - 8 else "middle"
            ),
        ]
        i += 1
    out.append(
        shapes.text(
            right, bottom + 36, "Time, in work of one stage; rows are stages", "soft small", "end"
        )
    )
    return bottom + 42, out


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the utilisation and the time from token to token, as played."""
    return [
        (
            "Stages busy, once all have begun",
            format_value(v["utilisation"], "%"),
            "",
        ),
        (
            "Time per token (unit: work of one stage)",
            plain(v["latency"]),
            "",
        ),
    ]


def words(v: dict[str, Any]) -> str:
    """Describe how much of the time a stage works and how long a sequence waits."""
    many = (
        "1 micro-batch goes"
        if v["micro_batches"] == 1
        else f"{v['micro_batches']} micro-batches go"
    )
    return (
        f"{many} round {v['stages']} stages: a stage works for "
        f"{format_value(v['utilisation'], '%')} of the time, and a sequence waits "
        f"{plain(v['latency'])} times the work "
        "of one stage from token to token."
    )


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table.

    They say when each micro-batch enters the first stage, lap by lap.
    """
    found = []
    for j in range(v["micro_batches"]):
        starts = [bar[1] for bar in v["bars"] if bar[0] == 0 and bar[2] == j][:LAPS]
        found.append(
            [str(j + 1)] + [plain(clean(start)) for start in starts] + [""] * (LAPS - len(starts))
        )
    return ["Micro-batch"] + [f"token {k + 1} starts at" for k in range(LAPS)], found
