"""Two Feistel rounds on two-digit numbers, there and back: a sum done with a pocket calculator.

The scramble squares a number and keeps its last two digits, which cannot be undone; the rounds can.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import rect, text
from .schematic import WIDTH, Number, Schematic, Step
from .svg import arrow

ROWS, TALL, WIDE = (20, 136, 252), 32, 84  # tops of the rows, and the size of a half, in pixels
LEFT, RIGHT = WIDE / 2, WIDTH - WIDE / 2  # middles of the two halves
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
    """Draw the scramble of a row's left half, the sum, and the halves changing places."""
    told, y, back = schematic.told, ROWS[row], step > 3
    # The second round comes second, and on the way back it is undone first.
    active = step >= (6 - 2 * row if back else (1, 3)[row])
    name, scrambled = (("square", "scrambled"), ("square_new", "scrambled_new"))[row]
    colour = "ink" if active else "soft"
    out = [
        rect(WIDTH / 2 - 48, y - 4, 96, TALL + 8, "c4 pale" if active else "soft outline"),
        arrow(LEFT + WIDE / 2 + 3, y + 16, WIDTH / 2 - 52, y + 16, colour),
        arrow(WIDTH / 2 + 50, y + 16, RIGHT - WIDE / 2 - 3, y + 16, colour),
    ]
    if active:
        out += [
            text(WIDTH / 2, y + 11, f"square: {told[name]}", "ink small", "middle"),
            text(WIDTH / 2, y + 28, f"keep {told[scrambled]}", "ink small strong", "middle"),
        ]
    else:
        out.append(text(WIDTH / 2, y + 20, "scramble", "soft small", "middle"))
    below = ROWS[row + 1]
    ends = ((LEFT, y + TALL + 4, RIGHT, below - 4), (RIGHT, y + TALL + 26, LEFT, below - 4))
    # Back through the last round the untouched half goes first, and the other after the sum.
    since = (6 - 2 * row, 6 - row) if back else (row + 2,) * 2
    for (x1, y1, x2, y2), first in zip(ends, since, strict=True):
        way = (x2, y2, x1, y1) if back else (x1, y1, x2, y2)
        out.append(arrow(*way, "ink" if step >= first else "soft"))
    return out + _sum(row, step, schematic)


def _sum(row: int, step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Write the addition under the right half, or the subtraction that takes it back."""
    told, y = schematic.told, ROWS[row] + TALL + 18
    forwards = (
        f"{told['y']} + {told['scrambled']} = {told['sum']}",
        f"{told['x']} + {told['scrambled_new']} = {told['last']}",
    )
    backwards = (
        f"{told['new']} \u2212 {told['scrambled']} = {told['below']}",
        f"{told['last']} \u2212 {told['scrambled_new']} = {told['x']}",
    )
    if step <= 3 and step >= row + 2:
        return [text(WIDTH, y, forwards[row], "ink", "end")]
    if step >= 6 - row:
        return [text(WIDTH, y, backwards[row], "ink", "end")]
    return []


feistel_round = Schematic(
    "feistel-round",
    "A scramble that nobody can undo, undone",
    height=290,
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
            "Under the right box stands {y} + {scrambled} = {sum}. Crossing arrows lead to the"
            " second row, which now holds {new} and {x}.",
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
