"""Multiply the cut-up matrices of a feed-forward layer, and count what moves between chips.

Against it stand the closed forms of ``handful.sharding``.  Each chip of a grid holds its parts as
arrays; a gather or a reduce-scatter along an axis of the grid counts the numbers that each chip
gets from others, and each multiplication its FLOPs.  The result is compared with the layer in one
piece in every run.

>>> alone = fsdp_tensor(rows=4, columns=1, tokens=8, d_model=4, d_ff=8)  # FSDP alone
>>> alone.weights, alone.activations  # three quarters of two matrices, and nothing else
(48, 0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Grid = dict[tuple[int, int], Any]  # the arrays of chips, by row and column


class ShardingError(ValueError):
    """A layer that cannot be cut so, or one whose parts do not give what the whole gives."""


class Moved(NamedTuple):
    """Hold the work of the busiest chip: FLOPs, and numbers that come in from other chips."""

    flops: int
    weights: int
    activations: int


class _Chips:
    """A grid of chips that counts."""

    def __init__(self, rows: int, columns: int) -> None:
        self.places = [(row, column) for row in range(rows) for column in range(columns)]
        self.flops = dict.fromkeys(self.places, 0)
        self.came = {kind: dict.fromkeys(self.places, 0) for kind in ("weights", "activations")}

    def group(self, place: tuple[int, int], axis: int) -> list[tuple[int, int]]:
        """Return the chips along an axis of the grid through a place."""
        return [other for other in self.places if other[1 - axis] == place[1 - axis]]

    def gather(self, held: Grid, axis: int, along: int, kind: str) -> Grid:
        """Return for each chip its group's arrays, joined; counts those of others."""
        import numpy as np

        joined = {}
        for place in self.places:
            group = self.group(place, axis)
            joined[place] = np.concatenate([held[other] for other in group], axis=along)
            self.came[kind][place] += sum(held[other].size for other in group if other != place)
        return joined

    def scatter(self, partial: Grid, axis: int, along: int, kind: str) -> Grid:
        """Return for each chip the sum over its group of its own part; counts others' parts."""
        import numpy as np

        kept = {}
        for place in self.places:
            group = self.group(place, axis)
            mine = group.index(place)
            parts = {
                other: np.split(partial[other], len(group), axis=along)[mine] for other in group
            }
            kept[place] = sum(parts.values())
            self.came[kind][place] += sum(p.size for other, p in parts.items() if other != place)
        return kept

    def multiply(self, left: Grid, right: Grid) -> Grid:
        """Return the product on each chip; counts two FLOPs for a multiply-add."""
        for place in self.places:
            rows, shared = left[place].shape
            self.flops[place] += 2 * rows * shared * right[place].shape[1]
        return {place: left[place] @ right[place] for place in self.places}

    def moved(self) -> Moved:
        """Return the counts of the chip with most."""
        return Moved(
            max(self.flops.values()),
            max(self.came["weights"].values()),
            max(self.came["activations"].values()),
        )


def _cut(array, place: tuple[int, int], how: Callable):
    """Return the part of an array on a chip; `how` says which part of how many, for each axis."""
    import numpy as np

    for axis, (part, parts) in enumerate(how(*place)):
        if array.shape[axis] % parts:
            raise ShardingError(
                f"{array.shape[axis]} rows or columns cannot be cut into {parts} parts."
            )
        array = np.split(array, parts, axis=axis)[part]
    return array


def _layer(tokens: int, d_model: int, d_ff: int):
    import numpy as np

    draw = np.random.default_rng(1)
    shapes = ((tokens, d_model), (d_model, d_ff), (d_ff, d_model))
    return [draw.integers(-4, 5, shape) for shape in shapes]


def _check(found: Grid, expected: Grid) -> None:
    if any((found[place] != expected[place]).any() for place in found):
        raise ShardingError("The parts of the layer do not give what the whole gives.")


def fsdp_tensor(rows: int, columns: int, tokens: int, d_model: int, d_ff: int) -> Moved:
    """Run a layer with FSDP over the rows of the grid and tensor parallelism over its columns.

    All are whole numbers, 1 or more; `tokens` a multiple of the rows, `d_model` of rows and of
    columns, `d_ff` of the columns.  Raises ShardingError where they are not.

    >>> fsdp_tensor(rows=1, columns=4, tokens=8, d_model=4, d_ff=8)  # tensor parallelism alone
    Moved(flops=256, weights=0, activations=48)
    >>> fsdp_tensor(rows=3, columns=1, tokens=8, d_model=3, d_ff=8)
    Traceback (most recent call last):
    ...
    handful_evidence.simulate.sharded_layers.ShardingError: 8 rows or columns cannot be cut into 3
    parts.
    """
    chips = _Chips(rows, columns)
    whole_in, whole_up, whole_down = _layer(tokens, d_model, d_ff)

    def held(array, how: Callable) -> Grid:
        return {p: _cut(array, p, how) for p in chips.places}

    x = held(whole_in, lambda r, c: ((r, rows), (c, columns)))
    up = held(whole_up, lambda r, c: ((r, rows), (c, columns)))
    down = held(whole_down, lambda r, c: ((c, columns), (r, rows)))
    x = chips.gather(x, axis=1, along=1, kind="activations")
    inner = chips.multiply(x, chips.gather(up, axis=0, along=0, kind="weights"))
    partial = chips.multiply(inner, chips.gather(down, axis=0, along=1, kind="weights"))
    found = chips.scatter(partial, axis=1, along=1, kind="activations")
    result = whole_in @ whole_up @ whole_down
    _check(found, held(result, lambda r, c: ((r, rows), (c, columns))))
    return chips.moved()


def weight_stationary(rows: int, columns: int, tokens: int, d_model: int, d_ff: int) -> Moved:
    """Run a layer whose weights stay: `d_model` cut by rows, `d_ff` by columns; activations move.

    Between layers, activations are cut over all chips.  All are whole numbers, 1 or more; both
    widths are multiples of the number of chips.  Raises ShardingError where they are not.

    >>> weight_stationary(rows=1, columns=4, tokens=8, d_model=4, d_ff=8)  # 1D
    Moved(flops=256, weights=0, activations=48)
    >>> weight_stationary(rows=2, columns=2, tokens=8, d_model=4, d_ff=8)  # 2D
    Moved(flops=256, weights=0, activations=48)
    """
    chips = _Chips(rows, columns)
    whole_in, whole_up, whole_down = _layer(tokens, d_model, d_ff)

    def held(array, how: Callable) -> Grid:
        return {p: _cut(array, p, how) for p in chips.places}

    def all_chips(r: int, c: int):
        return ((0, 1), (r * columns + c, rows * columns))

    x = chips.gather(held(whole_in, all_chips), axis=1, along=1, kind="activations")
    up = held(whole_up, lambda r, c: ((r, rows), (c, columns)))
    down = held(whole_down, lambda r, c: ((c, columns), (r, rows)))
    # Sums over rows are kept in parts, for the function between the matrices, and gathered again.
    inner = chips.scatter(chips.multiply(x, up), axis=0, along=1, kind="activations")
    inner = chips.gather(inner, axis=0, along=1, kind="activations")
    partial = chips.multiply(inner, down)
    found = chips.scatter(partial, axis=1, along=1, kind="activations")
    _check(found, held(whole_in @ whole_up @ whole_down, all_chips))
    return chips.moved()
