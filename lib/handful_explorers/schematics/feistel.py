"""Two Feistel rounds on two-digit numbers, there and back: a sum done with a pocket calculator.

The scramble squares a number and keeps its last two digits, which cannot be undone; the rounds can.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import path, rect, text
from .schematic import WIDTH, Number, Schematic, Step
from .svg import arrow

ROWS, TALL, WIDE = (20, 152, 284), 32, 84  # tops of the rows, and the size of a half, in pixels
LEFT, RIGHT, MIDDLE = WIDE / 2, WIDTH - WIDE / 2, WIDTH / 2  # middles of the halves, and of f
SUM, LOW = 132, 24  # size of the box of a sum, which stands under the right half
KEPT, CHANGED = "c0", "c2"  # colours of what goes on as it is, and of what is added to
HALVES = (("x", "y"), ("new", "x"), ("last", "new"))  # in each row


def _known(step: int) -> tuple[tuple[bool, bool], ...]:
    """Return which numbers somebody holds in a step: left and right, row by row."""
    if step <= 3:
        return tuple((row < step,) * 2 for row in range(3))
    # On the way back the half that went through the last round untouched is known at once.
    return tuple((row >= (1 if step < 6 else 0), row >= 6 - step) for row in range(3))


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for row, known in enumerate(_known(step)):
        y = ROWS[row]
        for middle, name, shown in zip((LEFT, RIGHT), HALVES[row], known, strict=True):
            manner = "c0" if shown else "soft outline"
            out.append(rect(middle - WIDE / 2, y, WIDE, TALL, f"{manner} round"))
            told = schematic.told[name] if shown else "?"
            colour = "paper strong" if shown else "soft strong"
            out.append(text(middle, y + 21, told, colour, "middle"))
    out.append(text(0, 12, "left half", "ink"))
    out.append(text(WIDTH, 12, "right half", "ink", "end"))
    for row in range(2):
        out += _round(row, step, schematic)
    return out


def _round(row: int, step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw the scramble of a row's left half, the sum, and the halves changing places.

    What has not happened yet is left out, so that each step adds few arrows.
    """
    y, below, back = ROWS[row], ROWS[row + 1], step > 3
    # Back through the second round first: the untouched half goes up, then the sum.
    scrambled = step >= ((6, 4)[row] if back else (1, 3)[row])
    summed = step >= ((6, 5)[row] if back else (2, 3)[row])
    carried = scrambled if back else summed
    out = _scramble(row, scrambled, schematic)
    if carried:
        out.append(_way((LEFT, y + TALL + 4), (RIGHT, below - 4), back, KEPT))
    return out + (_sum(row, back, schematic) if summed else [])


def _scramble(row: int, active: bool, schematic: Schematic) -> list[dict[str, Any]]:
    told, y = schematic.told, ROWS[row]
    name, kept = (("square", "scrambled"), ("square_new", "scrambled_new"))[row]
    if not active:
        return [
            rect(MIDDLE - 48, y - 4, 96, TALL + 8, "soft outline"),
            text(MIDDLE, y + 20, "scramble", "soft small", "middle"),
        ]
    return [
        rect(MIDDLE - 48, y - 4, 96, TALL + 8, "c4 pale"),
        text(MIDDLE, y + 11, f"square: {told[name]}", "ink small", "middle"),
        text(MIDDLE, y + 28, f"keep {told[kept]}", "ink small strong", "middle"),
        arrow(LEFT + WIDE / 2 + 3, y + 16, MIDDLE - 52, y + 16, KEPT, 2),
    ]


def _sum(row: int, back: bool, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw the addition under the right half, or the subtraction that takes it back."""
    told, y, below = schematic.told, ROWS[row], ROWS[row + 1]
    top, left = y + TALL + 18, WIDTH - SUM
    forwards = (
        f"{told['y']} + {told['scrambled']} = {told['sum']}",
        f"{told['x']} + {told['scrambled_new']} = {told['last']}",
    )
    backwards = (
        f"{told['new']} \u2212 {told['scrambled']} + {told['hundred']} = {told['y']}",
        f"{told['last']} \u2212 {told['scrambled_new']} = {told['x']}",
    )
    return [
        rect(left + 0.5, top, SUM - 1, LOW, f"{CHANGED} outline round"),
        text(left + SUM / 2, top + 17, (backwards if back else forwards)[row], "ink", "middle"),
        # From the scramble down and to the right, in both directions of the cipher.
        path([(MIDDLE, y + TALL + 6), (MIDDLE, top + LOW / 2)], "c4", 2),
        arrow(MIDDLE, top + LOW / 2, left - 3, top + LOW / 2, "c4", 2),
        _way((RIGHT, y + TALL + 3), (RIGHT, top - 3), back, CHANGED),
        _way((left + 12, top + LOW + 3), (LEFT, below - 4), back, CHANGED),
    ]


def _way(
    upper: tuple[float, float], lower: tuple[float, float], back: bool, colour: str
) -> dict[str, Any]:
    """Return an arrow between two points, downwards, or upwards on the way back."""
    start, end = (lower, upper) if back else (upper, lower)
    return arrow(*start, *end, colour, 2)


feistel_round = Schematic(
    "feistel-round",
    "A scramble that nobody can undo, undone",
    height=322,
    numbers={
        "x": "= 14",
        "y": "= 73",
        "square": Number("= {x} * {x}", 3),
        "scrambled": "= {square} - 100",
        "second": "= 50 - {x}",
        "third": "= 50 + {x}",
        "fourth": "= 100 - {x}",
        "sum": Number("= {y} + {scrambled}", 3),
        "new": "= {sum} - 100",
        "square_new": Number("= {new} * {new}", 4),
        "scrambled_new": "= {square_new} - 4700",
        "last": "= {x} + {scrambled_new}",
        "below": "= {new} - {scrambled}",
        "hundred": "= 100",
    },
    steps=[
        Step(
            "The message is {x} and {y}. Scramble the left half: square it and keep the last two"
            " digits, {scrambled}. The squares of {second}, {third} and {fourth} end in"
            " {scrambled} too, so nobody can tell from {scrambled} where it came from.",
            "Two boxes side by side hold {x} and {y}. Between them a box squares the left one:"
            " {square}, of which {scrambled} is kept. Below are two rows of empty boxes.",
        ),
        Step(
            "Add the {scrambled} to the right half and again keep two digits: {new}. The left half"
            " is left as it was. Then the halves change places.",
            "Under the right box a box says {y} + {scrambled} = {sum}, with arrows from {y} and"
            " from the scramble. One arrow leads from it to the left of the second row, {new}, and"
            " one from the left of the first row to the right of the second, {x}.",
        ),
        Step(
            "A second round does the same with the new left half: {new} squared is {square_new},"
            " and {x} + {scrambled_new} is {last}. Out go {last} and {new}.",
            "The second row has been squared, added and crossed in the same way. The third row"
            " holds {last} and {new}.",
        ),
        Step(
            "Now come back with nothing but {last} and {new}. The {new} went through the last"
            " round untouched, so you can scramble it again, forwards, and get the same"
            " {scrambled_new}.",
            "The third row is known, and {new} has been carried back up to the left of the second;"
            " the other boxes have question marks. The box of the second round squares {new}"
            " again.",
        ),
        Step(
            "What was added is taken away: {last} \u2212 {scrambled_new} is {x}. So before the"
            " second round the halves were {new} and {x}.",
            "The second row is known again, {new} and {x}. Those of the first row are still"
            " question marks.",
        ),
        Step(
            "Once more: {x} squared ends in {scrambled}, and {new} \u2212 {scrambled} is {below}."
            " Add a hundred, since only two digits count: {y}. The message is back, and nobody"
            " took a square root.",
            "All three rows are known. The first holds {x} and {y} again.",
        ),
    ],
    draw=_draw,
    caption="Sums keep their last two digits, as a clock keeps the hour and forgets the day. That"
    " makes adding and subtracting undo each other exactly.",
)
