"""Propagation of uncertainty: results whose inputs are known to within factors.

Inputs of this subject are uncertain by factors ("between a half and double"), so they are drawn as
log-normal, and by a Sobol sequence, which is repeatable and converges faster than chance.  The
worst case is the pair of corners of the box, which bounds the result where it rises or falls with
each input throughout the box.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .quantities import QuantityError, find

if TYPE_CHECKING:
    from .formula import Formula

# Half-width of the central 90 % of a normal distribution, in standard deviations.
_Z90 = 1.6448536269514722


@dataclass(frozen=True)
class Spread:
    """A distribution of a result.

    It has the median, the central 90 %, the worst case, and the share of log-variance that each
    input causes.
    """

    median: float
    low: float
    high: float
    worst_low: float
    worst_high: float
    shares: dict[str, float]
    samples: object

    @property
    def factor(self) -> float:
        """Return the one-sided factor that covers the central 90 %.

        It is sqrt(high / low), as if the distribution were symmetric.
        """
        return math.sqrt(self.high / self.low)


def propagate(
    formula: Formula,
    values: Mapping[str, Any],
    spread: Mapping[str, float],
    *,
    samples: int = 8192,
    seed: int = 0,
) -> Spread:
    """Propagate factors of uncertainty through a formula.

    Parameters
    ----------
    values : mapping
        API name to number; the medians.
    spread : mapping
        API name to factor >= 1: 90 % of the input's probability lies within value / factor and
        value × factor.
    samples : int
        A power of two.

    >>> from handful.latency import full_weight_time
    >>> known = dict(
    ...     total_parameters=70e9, bytes_per_parameter=2, devices=8, memory_bandwidth=3.35e12
    ... )
    >>> result = propagate(
    ...     full_weight_time, known, {"memory_bandwidth": 2.0, "total_parameters": 1.0}
    ... )
    >>> (
    ...     round(result.factor, 2),
    ...     round(result.shares["memory_bandwidth"], 2),
    ... )  # 1/BW: the same factor, all of it
    (2.0, 1.0)
    """
    if samples < 2 or samples & (samples - 1):
        raise QuantityError(f"samples must be a power of two; got {samples}.")
    _check(formula, spread)
    factors = {name: factor for name, factor in spread.items() if factor > 1}
    if not factors:
        return _exact(formula(values), spread)
    import numpy as np

    logs = _log_draws(factors, samples, seed)
    draws = {name: values[name] * np.exp(logs[:, i]) for i, name in enumerate(factors)}
    results = np.asarray(formula({**values, **draws}))
    low, median, high = np.quantile(results, [0.05, 0.5, 0.95])
    shares = _shares(factors, logs, results)
    if width := _width_of_product(formula, values, factors, logs, results):
        median = formula(values)
        low, high = median / width, median * width
    worst = _corners(formula, values, factors)
    return Spread(
        float(median),
        float(low),
        float(high),
        float(min(worst)),
        float(max(worst)),
        dict.fromkeys(spread, 0.0) | shares,
        results,
    )


def _check(formula: Formula, spread: Mapping[str, float]) -> None:
    inputs = {q.name for q in formula.inputs}
    for name, factor in spread.items():
        if name not in inputs:
            find(name)
            raise QuantityError(
                f"{formula.name} does not depend on {name}, so a spread there has no effect; "
                f"it depends on {', '.join(sorted(inputs))}."
            )
        if not factor >= 1 or math.isinf(factor):
            raise QuantityError(
                f"The spread of {name} must be a factor of 1 or more; got {factor}."
            )


def _exact(value: float, spread: Mapping[str, float]) -> Spread:
    import numpy as np

    shares = dict.fromkeys(spread, 0.0)
    return Spread(value, value, value, value, value, shares, np.array([value]))


def _sigma(factors: Mapping[str, float]) -> Any:
    """Return the standard deviation of the logarithm of each input."""
    import numpy as np

    return np.array([math.log(factor) / _Z90 for factor in factors.values()])


def _log_draws(factors: Mapping[str, float], samples: int, seed: int) -> Any:
    """Return the logarithms of drawn factors, a row for each sample and a column for each input."""
    import numpy as np
    from scipy.special import ndtri
    from scipy.stats import qmc

    uniform = qmc.Sobol(len(factors), seed=seed).random(samples)
    return ndtri(np.clip(uniform, 1e-12, 1 - 1e-12)) * _sigma(factors)


def _corners(
    formula: Formula, values: Mapping[str, Any], factors: Mapping[str, float]
) -> list[float]:
    """Return the result at each corner of the box, where every input is at one of its ends."""
    ends = itertools.product(*((factor**-1, factor) for factor in factors.values()))
    return [
        formula({**values, **{n: values[n] * end for n, end in zip(factors, corner, strict=True)}})
        for corner in ends
    ]


def _width_of_product(
    formula: Formula,
    values: Mapping[str, Any],
    factors: Mapping[str, float],
    logs: Any,
    results: Any,
) -> float | None:
    """Return the factor of the central 90 % where the result is a product of powers, else None.

    Such a result is log-normal itself, so that nothing is left to the draws.
    """
    import numpy as np

    middle = formula(values)
    slopes = np.array(
        [
            math.log(formula({**values, name: values[name] * factor}) / middle) / math.log(factor)
            for name, factor in factors.items()
        ]
    )
    if np.max(np.abs(np.log(results) - math.log(middle) - logs @ slopes)) > 1e-9:
        return None
    return math.exp(_Z90 * float(np.linalg.norm(slopes * _sigma(factors))))


def _shares(factors: Mapping[str, float], logs: Any, results: Any) -> dict[str, float]:
    """Return each input's share of the log-variance, by regression on the logarithms.

    It is exact for products of powers, and of first order otherwise.
    """
    import numpy as np

    slopes, *_ = np.linalg.lstsq(logs, np.log(results) - np.log(results).mean(), rcond=None)
    parts = (slopes * _sigma(factors)) ** 2
    return {n: float(p / parts.sum()) for n, p in zip(factors, parts, strict=True)}
