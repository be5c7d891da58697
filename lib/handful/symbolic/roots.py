"""Find all values of one input for which a function has a wanted value.

It uses plain numbers and bisection, since Python in the page has neither NumPy nor SciPy.

>>> found = search(lambda x: x + 1 / x, 2.5, grid(0.0, math.inf))
>>> found.values
(0.5, 2.0)
>>> search(lambda x: x + 1 / x, 1.0, grid(0.0, math.inf)).low
2.0
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

_DECADES = (-30, 36)
_PER_DECADE = 12
_NO_END = tuple(10.0**decade for decade in _DECADES)  # of a grid, but not of what is admissible
# A difference from the wanted value that counts as none.
_SLACK = 1e-13


class Found(NamedTuple):
    """Hold what `search` found.

    `values` in increasing order; the least and the largest finite value of the function on the
    grid; and one jump over the wanted value: where it is, and the function on both sides.
    """

    values: tuple[float, ...]
    low: float
    high: float
    jump: tuple[float, float, float] | None


def grid(low: float, high: float, zero: bool = False) -> list[float]:
    """Return increasing numbers from `low` to `high`, evenly spaced in logarithms.

    Both ends belong to it, but for infinities, and for 0 unless `zero`.  It is denser near finite
    ends.
    """
    first, last = (decade * _PER_DECADE for decade in _DECADES)
    sizes = [*(10 ** (i / _PER_DECADE) for i in range(first + 1, last)), *_NO_END]
    points = set(sizes)
    if low < 0:
        points.update(-size for size in sizes)
    for end in (low, high):
        if end and math.isfinite(end):
            points.update(end * (1 + sign * 10**-i) for i in range(1, 13) for sign in (-1, 1))
            points.add(end)
    if zero or low < 0:
        points.add(0.0)
    return sorted(x for x in points if low <= x <= high)


def search(function: Callable[[float], float], wanted: float, points: list[float]) -> Found:
    """Return all x between the first and the last point where function(x) is `wanted`.

    The function may be undefined in places (nan there).  Where it is flat at the wanted value, both
    ends of the flat part are returned, but for an end that is an end of `points`.  A pair of
    solutions closer to each other than two points is found where the function has its turn there.
    """

    def side(value: float) -> int:
        if abs(value - wanted) <= _SLACK * abs(wanted):
            return 0
        return 1 if value > wanted else -1

    curve = _refined([(x, function(x)) for x in points], function, side)
    values: list[float] = []
    jump = None
    start: float | None = None  # of a flat part
    for (a, at_a), (b, at_b) in itertools.pairwise(curve):
        if math.isnan(at_a) or math.isnan(at_b):
            if start is not None:
                values += _ends(function, wanted, start, a)
                start = None
            if side(at_b) == 0 and not math.isnan(at_b):
                start = b
            continue
        if side(at_a) == 0 and start is None:
            start = a  # the first point
        before, after = side(at_a), side(at_b)
        if before == after:
            continue
        if before != 0:
            last, first = _bisect(lambda x: side(function(x)) != before, a, b)  # noqa: B023
            if side(function(first)) != 0:
                root = _between(function, wanted, last, first)
                if root is None:
                    jump = jump or (first, function(last), function(first))
                else:
                    values.append(root)
                continue
            start = first
        if after != 0 and start is not None:
            last, _ = _bisect(lambda x: side(function(x)) == after, max(a, start), b)  # noqa: B023
            values += _ends(function, wanted, start, last)
            start = None
    if start is not None:
        values += _ends(function, wanted, start, curve[-1][0])
    values = [x for x in values if not x or _NO_END[0] <= abs(x) <= _NO_END[1]]
    values = [_neat(function, wanted, x, points[0], points[-1]) for x in values]
    sizes = [v for _, v in curve if math.isfinite(v)] or [math.nan]
    return Found(tuple(sorted(set(values))), min(sizes), max(sizes), jump)


_Curve = list[tuple[float, float]]


def _refined(
    curve: _Curve, function: Callable[[float], float], side: Callable[[float], int]
) -> _Curve:
    """Add ends of what is defined, turns near the wanted value, and middles of flat parts."""
    more: _Curve = []
    for (a, at_a), (b, at_b) in itertools.pairwise(curve):
        if math.isnan(at_a) != math.isnan(at_b):
            ends = _bisect(lambda x: math.isnan(function(x)) == math.isnan(at_b), a, b)  # noqa: B023
            more += [(x, function(x)) for x in ends]
        elif side(at_a) == side(at_b) == 0:
            more.append((_middle(a, b), function(_middle(a, b))))
    for (a, at_a), (b, at_b), (c, at_c) in zip(curve, curve[1:], curve[2:], strict=False):
        way = side(at_b)
        if not all(map(math.isfinite, (at_a, at_b, at_c))):
            continue
        turned = min(way * at_a, way * at_c) - way * at_b
        if min(b - a, c - b) <= 1e-12 * abs(b):  # the edge of a step, which has no turn
            continue
        level = max(abs(at_a - at_b), abs(at_c - at_b)) <= _SLACK * abs(at_b)
        if way and way == side(at_a) == side(at_c) and turned >= 0 and not level:
            more.append(_turn(function, way, a, c))
    return sorted({*curve, *more}, key=lambda point: point[0])


def _neat(
    function: Callable[[float], float], wanted: float, x: float, low: float, high: float
) -> float:
    """Return x to fourteen digits where the function is as near to the wanted value there."""
    neat = float(f"{x:.14g}")
    slack = max(abs(function(x) - wanted), 4e-16 * abs(wanted))
    return neat if low <= neat <= high and abs(function(neat) - wanted) <= slack else x


def _middle(a: float, b: float) -> float:
    if a * b > 0 and max(a / b, b / a) > 2:
        return math.copysign(math.sqrt(abs(a)) * math.sqrt(abs(b)), a)
    return a + (b - a) / 2


def _bisect(changed: Callable[[float], bool], a: float, b: float) -> tuple[float, float]:
    """Return neighbouring floats between which `changed` becomes true; it is at b, not at a."""
    for _ in range(1200):
        middle = _middle(a, b)
        if not a < middle < b:
            break
        a, b = (a, middle) if changed(middle) else (middle, b)
    return a, b


def _turn(function: Callable[[float], float], way: int, a: float, c: float) -> tuple[float, float]:
    """Return the point between a and c where way · function is least."""
    golden = (math.sqrt(5) - 1) / 2
    left, right = c - golden * (c - a), a + golden * (c - a)
    at_left, at_right = function(left), function(right)
    for _ in range(80):
        if way * at_left <= way * at_right:
            c, right, at_right = right, left, at_left
            left = c - golden * (c - a)
            at_left = function(left)
        else:
            a, left, at_left = left, right, at_right
            right = a + golden * (c - a)
            at_right = function(right)
    return min((left, at_left), (right, at_right), key=lambda point: way * point[1])


def _between(function: Callable[[float], float], wanted: float, a: float, b: float) -> float | None:
    """Return the better of two neighbouring floats, or None where the function jumps there."""
    at_a, at_b = function(a), function(b)
    best, error = min(((a, abs(at_a - wanted)), (b, abs(at_b - wanted))), key=lambda p: p[1])
    wide = 1e-8 * max(abs(a), abs(b))
    around = abs(function(b + wide) - function(a - wide))
    continuous = math.isfinite(around) and abs(at_b - at_a) <= 1e-3 * around
    if error <= 1e-9 * abs(wanted) or continuous:
        return best
    return None


def _ends(function: Callable[[float], float], wanted: float, a: float, b: float) -> list[float]:
    """Return the solution from a to b, or both where the function is flat between them."""
    at_a, at_b = function(a), function(b)
    rounding = 1e-14 * abs(wanted)
    if (at_a - wanted) * (at_b - wanted) < 0 and abs(at_b - at_a) > rounding:  # a slow crossing
        rising = at_b > at_a
        last, first = _bisect(lambda x: (function(x) >= wanted) == rising, a, b)
        return [min((last, first), key=lambda x: abs(function(x) - wanted))]
    if b - a <= 1e-6 * max(abs(a), abs(b)):
        middle = _middle(a, b)
        return [min((a, middle, b), key=lambda x: abs(function(x) - wanted))]
    return [x for x in (a, b) if abs(x) not in _NO_END]
