"""Place the words of a static plot: beside the ends of curves, along rules, by dots.

``labels.js`` and ``plot.js`` place those of the interactive one.  Lengths are in points, from the
lower left of the figure.  A box is (left, bottom, right, top); a line is two arrays, xs and ys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

Box = tuple[float, float, float, float]
# Of the pages' font, as shares of its size: how wide letters are on average, and their reach above
# and below the line.
CAPITAL, SMALL, DIGIT, SPACE, NARROW = 0.57, 0.52, 0.5, 0.2, 0.3
ASCENT, DESCENT = 0.78, 0.22


def width(text: str, size: float) -> float:
    """Return how wide a text of a size in points is, to a tenth or so.

    >>> round(width("H100 SXM", 10), 1), round(width("own cache", 10), 1)
    (39.8, 43.6)
    """
    kinds = (
        (NARROW, "iljtfrI.,:;'()-".__contains__),
        (CAPITAL, str.isupper),
        (DIGIT, str.isdigit),
        (SPACE, str.isspace),
    )
    return size * sum(
        next((wide for wide, fits in kinds if fits(letter)), SMALL) for letter in text
    )


class Place(NamedTuple):
    """The place of a line of words: its start ("left"), end ("right") or middle ("center")."""

    x: float
    y: float
    align: str

    def box(self, text: str, size: float) -> Box:
        """Return the box that a text of a size in points covers there.

        >>> Place(100, 50, "right").box("12345 6789", 10)
        (53.0, 47.8, 100.0, 57.8)
        """
        wide = width(text, size)
        left = self.x - wide * {"left": 0, "center": 0.5, "right": 1}[self.align]
        return left, self.y - DESCENT * size, left + wide, self.y + ASCENT * size


def spread(middles: Sequence[float], heights: Sequence[float], top: float) -> list[float]:
    """Return the middles moved apart, so that no two of these heights overlap.

    They move upwards, and then down from `top`.

    >>> spread([5, 5, 20], [4, 2, 4], 21)
    [5, 8.0, 19.0]
    """
    order = sorted(range(len(middles)), key=lambda i: middles[i])
    out, edge = list(middles), float("-inf")
    for i in order:
        out[i] = max(out[i], edge + heights[i] / 2)
        edge = out[i] + heights[i] / 2
    edge = top
    for i in reversed(order):
        out[i] = min(out[i], edge - heights[i] / 2)
        edge = out[i] - heights[i] / 2
    return out


def overlap(one: Box, other: Box) -> bool:
    """Return whether two boxes share more than an edge."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def crossed(box: Box, lines: Sequence[tuple[np.ndarray, np.ndarray]]) -> int:
    """Return how many pieces of the lines run through a box, or round a corner of it.

    >>> import numpy as np
    >>> diagonal = np.arange(11.0), np.arange(11.0)
    >>> crossed((4, 4, 6, 6), [diagonal]), crossed((4, 7, 5, 9), [diagonal])
    (4, 0)
    """
    import numpy as np

    left, bottom, right, top = box
    count = 0
    for xs, ys in lines:
        x = np.minimum(xs[:-1], xs[1:]), np.maximum(xs[:-1], xs[1:])
        y = np.minimum(ys[:-1], ys[1:]), np.maximum(ys[:-1], ys[1:])
        count += int(
            np.count_nonzero((x[1] >= left) & (x[0] <= right) & (y[1] >= bottom) & (y[0] <= top))
        )
    return count


def choose(
    places: Sequence[Place],
    text: str,
    size: float,
    frame: Box,
    taken: Sequence[Box],
    lines: Sequence[tuple[np.ndarray, np.ndarray]],
) -> Place | None:
    """Return the first of the free places where lines cross a text least; None if none is free.

    A place is free where the text, of a size in points, stays within the frame and covers no box
    that is taken.
    """
    free = []
    for place in places:
        box = place.box(text, size)
        within = (
            box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
        )
        if within and not any(overlap(box, other) for other in taken):
            free.append((crossed((box[0] - 2, box[1], box[2] + 2, box[3]), lines), place))
    return min(free, key=lambda one: one[0])[1] if free else None


def along_a_rule(at: float, upright: bool, size: float, frame: Box) -> list[Place]:
    """Return where the words of a rule may stand: on either side, at an end or in the middle."""
    left, bottom, right, top = frame
    if upright:
        heights = [
            *(top - ASCENT * size - 1 - i * 1.3 * size for i in range(4)),
            bottom + 4,
            (bottom + top) / 2,
        ]
        return [
            place
            for y in heights
            for place in (Place(at + 4, y, "left"), Place(at - 4, y, "right"))
        ]
    ends = (right - 4, "right"), (left + 6, "left"), ((left + right) / 2, "center")
    return [Place(x, y, align) for y in (at + 3.5, at - 2.5 - ASCENT * size) for x, align in ends]


def by_a_dot(x: float, y: float, size: float) -> list[Place]:
    """Return where the name of a dot may stand.

    That is right, left, above or below, and at the corners between.
    """
    middle, high, low = y - 0.28 * size, y + 4, y - 3 - ASCENT * size
    straight = [
        Place(x + 5, middle, "left"),
        Place(x - 5, middle, "right"),
        Place(x, high + 1, "center"),
        Place(x, low - 1, "center"),
    ]
    return straight + [
        Place(x + side, y, align)
        for side, align in ((4, "left"), (-4, "right"))
        for y in (high, low)
    ]
