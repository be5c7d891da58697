"""Fit what a server adds to its floor: two efficiencies and a fixed time, with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from handful.units import format_value, plural

from ..random32 import uniforms
from .points import Point, ServerError, times

if TYPE_CHECKING:
    import numpy as np

FEWEST = 4  # points of a fit, which has three numbers
DRAWS = 400  # of the bootstrap
MOST_DRAWN = 1000  # points; of more, groups are drawn, which is as good and takes a tenth
LEVEL = 0.9  # of every interval
FAR_OFF = 0.2  # of the logarithm of measured over fitted
NAMES = ("memory_efficiency", "compute_efficiency", "fixed_time")
LEAST = (1.0, 1.0, 0.0)  # of the factors: no efficiency above 1, no fixed time below 0
PAIRS = tuple((i, j) for i in range(4) for j in range(i, 4))
CHOSEN = ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,))
ALIKE = 1e-12  # of a column's square, all that others leave of it: they are one and the same
PARTS = ("reading", "arithmetic")  # whose efficiencies are fitted
LIMIT = 0.995  # an efficiency from here on is at its limit of 1
SPREAD = 1.5  # an efficiency whose interval's ends are further apart than this is not determined


@dataclass(frozen=True)
class Fit:
    """Hold what a server adds to its floor: three numbers, with intervals of 90 %.

    `values` are the mean of the bootstrap's draws (of a time per work, for efficiencies), which
    predicts as well as least squares do and lies inside where those lie at a limit.  `intervals`
    are by the bootstrap over the points; `warnings` say what the points do not determine.  `draws`
    and `residuals` (logarithms of measured over predicted) make intervals of predictions.
    """

    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    count: int
    warnings: tuple[str, ...]
    draws: np.ndarray = field(repr=False, compare=False)
    residuals: np.ndarray = field(repr=False, compare=False)

    def predicted(self, known: Mapping[str, Any]) -> float:
        """Return the seconds of a step for values of symbols."""
        reading, computing = times(known)
        return (
            reading / self.values["memory_efficiency"]
            + computing / self.values["compute_efficiency"]
            + self.values["fixed_time"]
        )

    def interval(self, known: Mapping[str, Any]) -> tuple[float, float]:
        """Return the ends of the interval of 90 % of a step that would be measured."""
        import numpy as np

        steps = self.draws @ np.array([*times(known), 1.0])
        # What a fit leaves is less than what it misses on a new point, by its three numbers.
        inflated = self.residuals * math.sqrt(self.count / max(self.count - 3, 1))
        spread = np.exp(inflated)[np.arange(len(steps)) % len(inflated)]
        low, high = np.quantile(steps * spread, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


def fit(found: Sequence[Point], seed: int = 0) -> Fit:
    """Fit what the server adds to its floor.

    No efficiency is above 1 and no fixed time below 0.  Relative errors count, those of outliers
    less.

    Raises ServerError where fewer than four points can be used.

    >>> from handful_evidence.own_server import points
    >>> from handful_evidence.result_files import Run
    >>> def run(batch, prompt):
    ...     return Run("mine.json", "made up", batch, prompt, 500, 0.01, 0.0)
    >>> loads = [run(b, p) for b in (2, 8, 32, 64, 128) for p in (500, 1000, 4000)]
    >>> made = points(loads, "H100 SXM", "Llama 3.1 70B", "fp8", devices=8)
    >>> true = [one.memory_time / 0.5 + one.compute_time / 0.25 + 0.003 for one in made]
    >>> from dataclasses import replace
    >>> found = fit([replace(one, measured=t) for one, t in zip(made, true, strict=True)])
    >>> {name: round(value, 4) for name, value in found.values.items()}
    {'memory_efficiency': 0.5, 'compute_efficiency': 0.25, 'fixed_time': 0.003}
    """
    import numpy as np

    used = [one for one in found if not one.why_not]
    if len(used) < FEWEST:
        raise ServerError(
            f"A fit needs {FEWEST} points that can be used; there "
            f"{'is' if len(used) == 1 else 'are'} {len(used)}."
        )
    parts = np.array([[one.memory_time, one.compute_time, 1.0] for one in used])
    measured = np.array([one.measured for one in used])
    scale = np.array([1.0, 1.0, float(np.median(measured))])  # so that columns are of one size
    shares, weight = parts / measured[:, None] * scale, np.ones(len(used))
    factors = np.ones(3)
    for _ in range(12):
        factors = _factors(_products(shares, weight).sum(axis=0))
        weight = np.maximum(np.abs(np.log(shares @ factors)), 0.03) ** -0.5
    products = _grouped(_products(shares, weight))
    made = np.array([_factors(counts @ products) for counts in _resampled(len(products), seed)])
    made *= scale
    # Their mean, and not the least squares themselves: where the points do not tell the parts
    # apart, those come out at an edge (an efficiency of 1, no fixed time), and the mean between.
    low, high = np.quantile(made, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    factors = np.clip(made.mean(axis=0), low, high)
    values = _named(factors)
    intervals = {
        name: (min(pair), max(pair))
        for name, *pair in zip(NAMES, _named(low).values(), _named(high).values(), strict=True)
    }
    residuals = np.log(measured / (parts @ factors))
    warnings = (*_undetermined(used, intervals), *_missed(used, residuals))
    return Fit(values, intervals, len(used), warnings, made, residuals)


def _products(shares: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return what each point adds to the products of the columns with each other.

    The columns are the three parts of a step and, last, what the least factors leave of 1.
    """
    import numpy as np

    columns = np.column_stack([shares, 1 - shares @ LEAST]) * weight[:, None]
    return np.stack([columns[:, i] * columns[:, j] for i, j in PAIRS], axis=1)


def _factors(products: np.ndarray) -> np.ndarray:
    """Return what each part is multiplied with: 1 or more, and a fixed time of 0 or more.

    Least squares of relative errors: of the sets of parts whose factors come out above their least,
    the one with the smallest error.
    """
    import numpy as np

    total = dict(zip(PAIRS, map(float, products), strict=True))
    best, more = total[3, 3], [0.0, 0.0, 0.0]
    for chosen in CHOSEN:
        solved = _solved(total, chosen)
        if solved is None or min(solved) < 0:
            continue
        error = total[3, 3] - sum(
            value * total[i, 3] for i, value in zip(chosen, solved, strict=True)
        )
        if error < best - ALIKE * total[3, 3]:  # where several fit as well, the first
            best, more = error, [0.0, 0.0, 0.0]
            for i, value in zip(chosen, solved, strict=True):
                more[i] = value
    return np.array(more) + LEAST


def _solved(total: Mapping[tuple[int, int], float], chosen: Sequence[int]) -> list[float] | None:
    """Return the least squares of some columns, by Cholesky; None where they are one and the same.

    The columns are brought to the same length first.
    """
    size = [math.sqrt(total[i, i]) for i in chosen]
    if not all(size):
        return None
    lower: list[list[float]] = []
    right: list[float] = []
    for row, i in enumerate(chosen):
        found: list[float] = []
        for column, j in enumerate(chosen[: row + 1]):
            rest = total[min(i, j), max(i, j)] / (size[row] * size[column]) - sum(
                found[k] * (lower[column][k] if column < row else found[k]) for k in range(column)
            )
            if column < row:
                found.append(rest / lower[column][column])
            elif rest > ALIKE:
                found.append(math.sqrt(rest))
            else:
                return None
        lower.append(found)
        rest = total[i, 3] / size[row] - sum(found[k] * right[k] for k in range(row))
        right.append(rest / found[row])
    solved = right[:]
    for row in reversed(range(len(chosen))):
        later = sum(lower[k][row] * solved[k] for k in range(row + 1, len(chosen)))
        solved[row] = (solved[row] - later) / lower[row][row]
    return [value / size[row] for row, value in enumerate(solved)]


def _grouped(products: np.ndarray) -> np.ndarray:
    """Return the products of no more than `MOST_DRAWN` groups, every so many points one group."""
    import numpy as np

    groups = min(len(products), MOST_DRAWN)
    found = np.zeros((groups, products.shape[1]))
    np.add.at(found, np.arange(len(products)) % groups, products)
    return found


def _resampled(count: int, seed: int) -> Iterator[np.ndarray]:
    """Yield how often each point is drawn, for each set of the bootstrap."""
    import numpy as np

    for k in range(DRAWS):
        drawn = (uniforms(seed * DRAWS + k, count) * count).astype(int)
        yield np.bincount(drawn, minlength=count).astype(float)


def _named(factors: Sequence[float]) -> dict[str, float]:
    reading, computing, fixed = map(float, factors)
    return dict(zip(NAMES, (1 / reading, 1 / computing, fixed), strict=True))


def _share(value: float) -> str:
    return format_value(value, "%", 2)


def _missed(used: Sequence[Point], residuals: np.ndarray) -> list[str]:
    """Return a sentence about points that the fit misses by a fifth or more."""
    far = sorted(
        ((float(r), one) for r, one in zip(residuals, used, strict=True) if abs(r) > FAR_OFF),
        key=lambda pair: -abs(pair[0]),
    )
    if not far:
        return []
    told = [
        f"{one.run.source}: {_share(abs(math.expm1(r)))} {'slower' if r > 0 else 'faster'} "
        f"({format_value(one.known['batch'], '1', 3)} × "
        f"{format_value(one.known['context'], 'token', 3)})"
        for r, one in far[:3]
    ]
    return [
        f"{plural(len(far), 'point')} of {len(used)} "
        f"{'lies' if len(far) == 1 else 'lie'} far from the fit: {'; '.join(told)}"
        f"{' …' if len(far) > 3 else ''}.  Do not carry the fit to such loads."
    ]


def _undetermined(used: Sequence[Point], intervals: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return sentences about what the points do not tell apart."""
    found = []
    batches = [one.known["batch"] for one in used]
    if max(batches) < 2 * min(batches):
        found.append(
            "All points are of much the same batch, so that fixed time and reading of weights "
            "cannot be told apart: measure at 1 and at many requests in flight."
        )
    contexts = [one.known["context"] for one in used]
    if max(contexts) < 1.5 * min(contexts):
        found.append(
            "All points are of much the same context, where a step grows with the batch in one way "
            "only: reading, arithmetic and fixed time cannot be told apart, and predictions hold "
            "at this context.  Measure with short and with long prompts."
        )
    pairs = [(what, *intervals[name]) for what, name in zip(PARTS, NAMES[:2], strict=True)]
    if all(low > LIMIT for _, low, _ in pairs):
        chips = f"{used[0].known['devices']:g}"
        found.append(
            f"Both efficiencies come out at their limit, which no chip reaches: probably more "
            f"chips shared the model than the {chips} stated, or its numbers are narrower."
        )
        pairs = []
    for what, low, high in pairs:
        if high > SPREAD * low:
            found.append(
                f"The efficiency of {what} lies anywhere between {_share(low)} and {_share(high)}: "
                "the points do not determine it."
            )
        elif high > LIMIT:
            found.append(
                f"The efficiency of {what} comes out at its limit, which no chip reaches: the "
                "points do not determine it.  Take it as high, and no more."
            )
    if not intervals["fixed_time"][0]:
        found.append(
            f"The fixed time lies anywhere between 0, which no server reaches, and "
            f"{format_value(intervals['fixed_time'][1], 's', 3)}: the points do not determine it.  "
            "Measure one user and many, with short and with long prompts."
        )
    if len(used) < 3 * FEWEST:
        found.append(f"The fit is from {plural(len(used), 'point')}; more would narrow it.")
    return found
