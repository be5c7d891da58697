"""A nudge and the streams that carry it, up through random layers and down again."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from handful_evidence.simulate.reversible_networks import Course, course

from ..plotting.scenes.shapes import circle, line, path, text
from .schematic import WIDTH, Number, Schematic, Step
from .svg import arrow

LEFT, RIGHT, TOP, DECADE = 66, WIDTH - 60, 34, 62  # of the plot, in pixels
BOTTOM = TOP + 3 * DECADE
STREAMS, NUDGE = "c0", "c2"


@cache
def _course() -> Course:
    return course()


def across(layer: int) -> float:
    """Return where a layer lies."""
    return LEFT + (RIGHT - LEFT) * layer / (len(_course().streams) - 1)


def above(size: float) -> float:
    """Return where a size lies, on a log axis."""
    return BOTTOM - DECADE * math.log10(size)


def _line(sizes: Any, colour: str) -> dict[str, Any]:
    return path([(across(n), above(size)) for n, size in enumerate(sizes)], colour, 2.5)


def _gap(x: float, upper: float, lower: float, told: str, side: int) -> list[dict[str, Any]]:
    """Draw the gap between two lines as an upright with ends, and how many times it is."""
    a, b = above(upper), above(lower)
    return [
        line(x, a, x, b, "ink"),
        line(x - 4, a, x + 4, a, "ink"),
        line(x - 4, b, x + 4, b, "ink"),
        text(x + 8 * side, (a + b) / 2 + 4, told, "ink strong", "start" if side > 0 else "end"),
    ]


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    found, told = _course(), schematic.told
    out = [text(0, 13, "size, as a multiple of the input\u2019s", "ink")]
    for decade, name in enumerate(("one", "ten", "hundred", "thousand")):
        y = BOTTOM - decade * DECADE
        out += [line(LEFT, y, RIGHT, y, "grid")]
        if step < 3 or decade:
            out.append(text(LEFT - 24, y + 4, told[name], "soft small", "end"))
    out += [
        text(LEFT, BOTTOM + 20, "first layer", "ink small"),
        text(RIGHT, BOTTOM + 20, "last layer", "ink small", "end"),
        _line(found.streams, STREAMS),
        text(across(34), above(found.streams[34]) + 18, "streams", "ink", "middle"),
    ]
    ends = (LEFT, RIGHT) if step < 3 else (RIGHT, LEFT)
    out.append(arrow(ends[0], BOTTOM + 32, ends[1], BOTTOM + 32, "c1", 3))
    if step == 1:
        return [*out, text(RIGHT + 8, above(found.streams[-1]) + 4, told["streams"], "ink strong")]
    if step == 2:
        out += [
            _line(found.nudge, NUDGE),
            text(across(26), above(found.nudge[26]) - 12, "nudge", "ink", "middle"),
            circle(LEFT, above(1), 4, NUDGE),
        ]
        gap = f"\u00d7 {told['ahead']}"
        return out + _gap(RIGHT + 12, found.nudge[-1], found.streams[-1], gap, 1)
    out += [
        _line(found.error, NUDGE),
        text(across(26), above(found.error[26]) - 12, "error", "ink", "middle"),
        circle(RIGHT, above(found.error[-1]), 4, NUDGE),
    ]
    return out + _gap(LEFT - 12, found.error[0], 1, f"\u00d7 {told['back']}", -1)


both_ways = Schematic(
    "both-ways",
    "A nudge on its way up, an error on its way down",
    height=BOTTOM + 42,
    numbers={
        "layers": "= 64",
        "nudge": "= 60",
        "streams": "= 13",
        "one": "= 1",
        "ten": "= 10",
        "hundred": "= 100",
        "thousand": Number("= 1000", 4),
        "adds": "= 2.5",
        "ahead": Number("= {nudge} / {streams}", 1),
        "back": Number("= {nudge} * {streams}", 1),
    },
    steps=[
        Step(
            "What different layers add points in unrelated directions, so mean squares add up:"
            " after {layers} layers the streams are \u221a({one} + {layers} \u00d7 {adds}), or"
            " about {streams}, times as large.",
            "A log plot of size against layers, with an arrow to the right. The streams begin at"
            " {one} and rise to {streams}.",
        ),
        Step(
            "On the way up a nudge grows {nudge} times. What counts is the gap between the lines:"
            " measured against the streams, the nudge grows about {ahead} times.",
            "A second line, the nudge, also begins at {one} and rises to {nudge}. The gap at the"
            " last layer is marked \u00d7 {ahead}.",
        ),
        Step(
            "On the way down an error made at the top grows {nudge} times as well. But now the"
            " streams shrink {streams} times, and the gap opens to {nudge} times {streams}, or some"
            " {back}.",
            "The arrow points to the left. The streams fall from {streams} to {one}. The error"
            " begins on their line at the last layer and rises towards the first, where the gap is"
            " marked \u00d7 {back}.",
        ),
    ],
    draw=_draw,
    caption="Simulated networks like those of the figure above, with LayerNorm. Equal heights are"
    " equal factors.",
)
