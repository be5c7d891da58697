"""Draw a pipeline schedule as a Gantt chart, with one row per device and one bar per pass.

Waiting is the empty floor of a row.  Declare with ``numbers={schedule: Readout(formula)}``, the
closed form of the bubble of each schedule on offer; times are in forward passes, so `forward_time`
is held at 1 second.  The schedules are played, not drawn from the formulas.
"""

from __future__ import annotations

import math
from typing import Any

from handful.units import format_value, plural
from handful_evidence.simulate import pipeline

from . import inputs, shapes

INPUTS = {
    "schedule": ("Schedule", "1", "1f1b"),
    "pipeline_stages": ("Stages", "1", 4),
    "micro_batches": ("Micro-batches", "1", 8),
    "backward_time": ("Backward pass", "s", 2),
    "weight_gradient_time": ("Of that, gradients of weights", "s", 1),
}
NAMES = {
    "gpipe": "GPipe",
    "1f1b": "1F1B",
    "interleaved": "Interleaved 1F1B",
    "zero_bubble": "ZB-H1",
}
HELD = {"interleaved": "one in a thin stage counts half"}
LEGEND = (
    ("F", "forward", "c0"),
    ("B", "backward", "c1"),
    ("I", "backward, for inputs", "c3"),
    ("W", "backward, for weights", "c2"),
)
COLOUR = {kind: colour for kind, _, colour in LEGEND}
LEFT, PER_CHARACTER = 22, 7.2


def clean(x: float) -> float:
    """Round off the error of many additions."""
    return math.floor(x * 1e9 + 0.5) / 1e9


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return the bars and figures of the chosen schedule, at the nearest sizes that it allows."""
    given = inputs(explorer, state)
    name, wanted = given["schedule"], (int(given["pipeline_stages"]), int(given["micro_batches"]))
    stages, many = pipeline.allowed_sizes(name, *wanted)
    plan = pipeline.SCHEDULES[name](stages, many)
    backward, weights = float(given["backward_time"]), float(given["weight_gradient_time"])
    played = pipeline.run(plan, 1.0, backward, weights)
    bubble, makespan = clean(played.bubble), clean(played.makespan)
    return {
        "name": name,
        "stages": stages,
        "micro_batches": many,
        "changed": (stages, many) != wanted,
        "bars": [
            (bar.device, bar.start, bar.end, [tuple(piece) for piece in bar.pieces])
            for bar in played.bars
        ],
        "makespan": makespan,
        "bubble": bubble,
        "formula": clean(explorer.numbers_at(state)[name]),
        "of_total": bubble / makespan,
        "of_ideal": bubble / (makespan - bubble),
        "held": max(played.held),
    }


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw the chart with its legend and the time axis."""
    words, top = legend(v, width)
    row = 30 if v["stages"] <= 4 else 24
    right, bottom = width - 2, top + row * v["stages"]
    scale = (right - LEFT) / v["makespan"]
    return bottom + 42, [
        *words,
        *floors(v, top, row, right),
        *bars(v, top, row, scale),
        *time_axis(v, bottom, right, scale),
    ]


def legend(v: dict[str, Any], width: float) -> tuple[list[dict], float]:
    """Draw the kinds of passes that occur; return them with the height below them."""
    out: list[dict] = []
    used = {piece[0] for bar in v["bars"] for piece in bar[3]}
    x, y = 0.0, 12.0
    for kind, word, colour in LEGEND:
        wide = 32 + PER_CHARACTER * len(word)
        if kind in used:
            if x + wide > width:
                x, y = 0.0, y + 20
            out += [shapes.rect(x, y - 10, 12, 12, colour), shapes.text(x + 17, y, word, "ink")]
            x += wide
    return out, y + 14


def floors(v: dict[str, Any], top: float, row: float, right: float) -> list[dict]:
    """Draw the number and the empty row of each device."""
    out = []
    for device in range(v["stages"]):
        place = top + row * device
        out += [
            shapes.text(0, place + row / 2 + 4, str(device + 1), "soft"),
            shapes.rect(LEFT, place + 2, right - LEFT, row - 4, "grid"),
        ]
    return out


def bars(v: dict[str, Any], top: float, row: float, scale: float) -> list[dict]:
    """Draw the passes, each with its micro-batch where there is room for the number."""
    out = []
    for device, start, end, pieces in v["bars"]:
        high = (row - 4) / len(pieces)
        at, wide = LEFT + start * scale, max((end - start) * scale - 1, 0.6)
        for i, (kind, stream, stage, number) in enumerate(pieces):
            second = stream == 1 or stage >= v["stages"]
            place = top + row * device + 2 + high * i
            colour = COLOUR[kind] + (" pale" if second else "")
            out.append(shapes.rect(at, place, wide, high - (i < len(pieces) - 1), colour))
            label = str(number + 1)
            if wide >= 5 + 6.5 * len(label) and high >= 12:
                ink = ("ink" if second else "paper") + " small"
                out.append(shapes.text(at + wide / 2, place + high / 2 + 4, label, ink, "middle"))
    return out


def time_axis(v: dict[str, Any], bottom: float, right: float, scale: float) -> list[dict]:
    """Draw the ticks below the rows and what they count."""
    out = []
    step = next(m for m in (1, 2, 5, 10, 20, 50, 100, 200) if m * scale >= 34)
    for i in range(math.floor(v["makespan"] / step + 1e-9) + 1):
        tick = LEFT + i * step * scale
        align = "end" if tick > right - 8 else "middle"
        out += [
            shapes.line(tick, bottom + 1, tick, bottom + 5),
            shapes.text(tick, bottom + 18, str(i * step), "soft small", align),
        ]
    words = "Time, in forward passes; rows are racks"
    return [*out, shapes.text(right, bottom + 36, words, "soft small", "end")]


def plain(x: float) -> str:
    """Write a number with three digits and no unit."""
    return format_value(x, "1", 3)


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the bubble, its share of the time, and the micro-batches in flight."""
    exact = "as played" if abs(v["bubble"] - v["formula"]) < 1e-6 else "played differs"
    return [
        (
            "Bubble, in forward passes",
            plain(v["bubble"]),
            f"closed form {plain(v['formula'])}: {exact}",
        ),
        (
            "Share of the whole time",
            format_value(v["of_total"], "%"),
            f"of the work: {format_value(v['of_ideal'], '%')}",
        ),
        (
            "Micro-batches in flight",
            plain(v["held"]),
            HELD.get(v["name"], "on the device that holds most"),
        ),
        (
            "Whole step, in forward passes",
            plain(v["makespan"]),
            sizes(v) if v["changed"] else f"{v['stages']} stages, {micro_batches(v)}",
        ),
    ]


def micro_batches(v: dict[str, Any]) -> str:
    """Return the number of micro-batches in words."""
    return plural(v["micro_batches"], "micro-batch", "micro-batches")


def sizes(v: dict[str, Any]) -> str:
    """Describe the sizes that were played where they are not those wanted."""
    return (
        f"played with {v['stages']} stages and {v['micro_batches']} micro-batches, the "
        "nearest that this schedule takes"
    )


def words(v: dict[str, Any]) -> str:
    """Describe how long the schedule takes, how long a stage waits, and what it holds."""
    return (
        f"{NAMES[v['name']]} with {v['stages']} stages and {micro_batches(v)} takes "
        f"{plain(v['makespan'])} forward passes; a stage waits for {plain(v['bubble'])} of them "
        "at most, "
        f"{format_value(v['of_total'], '%')} of the whole time, and holds {plain(v['held'])} "
        "micro-batches in flight at most."
    )


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: start, work and waiting of each device."""
    found = []
    for device in range(v["stages"]):
        mine = [bar for bar in v["bars"] if bar[0] == device]
        busy = 0.0
        for bar in mine:
            busy += bar[2] - bar[1]
        found.append(
            [
                str(device + 1),
                plain(clean(mine[0][1])),
                plain(clean(busy)),
                plain(clean(v["makespan"] - busy)),
            ]
        )
    return ["Device", "Starts at", "Works for", "Waits for"], found
