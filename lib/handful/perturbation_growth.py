"""The growth of a small change of the input, with depth and with the direction of the change.

The lecture has it at 2:06:04 and 2:07:39.

Two numbers of a random branch decide it: its power v (mean square of what it puts out for an input
of mean square one) and its slope χ (by how much it enlarges the mean square of a small change).
LayerNorm makes every branch see an input of mean square one; a residual adds the branch to the
stream instead of replacing it.  So a layer with both multiplies the squared change by 1 + χ/q while
the stream's own mean square q grows by v: a product of factors that tend to one, and so a power of
the depth.  With either alone it is an exponential, or something between.

>>> v, chi = branch(gain=2.0)
>>> round(v, 2), round(chi, 2)
(2.54, 4.1)
>>> alone = nudge_with_layer_norm(nudge=1e-6, branch_power=v, branch_slope=chi, layers=24)
>>> both = nudge_with_both(nudge=1e-6, branch_power=v, branch_slope=chi, layers=24)
>>> round(alone * 1e6), round(both * 1e6, 1)  # times the nudge, after 24 layers
(307, 2.5)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import sympy

from .reversible import FeistelError
from .symbolic import quantities as q
from .symbolic.formula import Formula

# Imported where numbers are worked out, so that the formulas can be read where there is no NumPy:
# in a page.
if TYPE_CHECKING:
    import numpy as np

eps, v, chi, chi_0, layers, one, d, u, n = (
    quantity.symbol
    for quantity in (
        q.nudge,
        q.branch_power,
        q.branch_slope,
        q.fixed_point_slope,
        q.layers,
        q.one_layer,
        q.input_numbers,
        q.unit_roundoff,
        q.feistel_rounds,
    )
)
_depth = layers / one
_SMALL = (
    "small changes: at √2 two vectors of equal length are unrelated, and growth ends",
    "wide layers with random weights",
)

nudge_in_plain_network = Formula(
    q.nudge_size,
    eps * chi_0 ** (_depth / 2),
    name="nudge_in_plain_network",
    source="Poole et al. 2016, arXiv 1606.05340",
    meaning="layers in a row: the same factor at each, so an exponential of the depth",
    conventions=(*_SMALL, "activations have settled at the size that a layer leaves unchanged"),
)

nudge_with_layer_norm = Formula(
    q.nudge_size,
    eps * (chi / v) ** (_depth / 2),
    name="nudge_with_layer_norm",
    source="derived",
    meaning="normalised between layers, nothing added: an exponential still",
    conventions=_SMALL,
)

nudge_with_both = Formula(
    q.nudge_size,
    eps * (1 + 2 * v * _depth / (2 + chi)) ** ((chi / v - 1) / 2),
    name="nudge_with_both",
    source="2:06:04; derived; polynomial growth in residual networks: Yang and Schoenholz 2017, "
    "arXiv 1712.08969",
    meaning="each layer adds to a stream that has grown: a power of the depth",
    conventions=(
        *_SMALL,
        "the product of the layers' factors, to within a hundredth for gains up to 3",
    ),
)

adversarial_advantage = Formula(
    q.adversarial_advantage,
    sympy.sqrt(2 * d / sympy.pi),
    source="derived; Goodfellow et al. 2014, arXiv 1412.6572",
    meaning="the same small change of every number, with signs chosen, against signs drawn at "
    "random",
    conventions=(
        "a linear response with normally distributed weights",
        "random signs: one standard deviation",
    ),
)

worst_response = Formula(
    q.nudge_response,
    eps * d * sympy.sqrt(2 / sympy.pi),
    name="worst_response",
    source="Goodfellow et al. 2014, arXiv 1412.6572; derived",
    meaning="every sign agrees with its weight, and all contributions add",
    conventions=("a linear response; weights normally distributed with variance one",),
)

random_response = Formula(
    q.nudge_response,
    eps * sympy.sqrt(d),
    name="random_response",
    source="derived",
    meaning="signs drawn at random: contributions cancel but for a random walk",
    conventions=("a linear response; weights of variance one; one standard deviation",),
)

rounding_walk = Formula(
    q.rebuild_drift,
    u * sympy.sqrt(n) / 3,
    name="rounding_walk",
    source="derived; the third by simulation",
    meaning="each half is rounded in every other round, out and back: a random walk of as many "
    "steps as rounds",
    conventions=(
        "a rounding is off by a third of what it may be: most are smaller, and some undo each "
        "other",
        "independent errors, and no round enlarges those before it",
    ),
)


# Where v and χ come from --------------------------------------------------------------------------


def branch(gain: float, mean_square: float = 1.0) -> tuple[float, float]:
    """Return power and slope of tanh between two random matrices of variance gain²/inputs.

    Inputs have the mean square `mean_square`.

    The widths cancel when they are large; what is left are Gaussian integrals.

    >>> round(
    ...     branch(gain=0.01)[1] / branch(gain=0.01)[0], 6
    ... )  # nearly linear: a change grows as the signal does
    1.0
    >>> branch(gain=0)
    Traceback (most recent call last):
    ...
    handful.reversible.FeistelError: A branch wants a gain and a mean square above 0; got 0 and 1.0.
    """
    import numpy as np

    if not (gain > 0 and mean_square > 0):
        raise FeistelError(
            f"A branch wants a gain and a mean square above 0; got {gain} and {mean_square}."
        )
    # The plain trapezium rule is exact to rounding for what falls off so fast, if its steps resolve
    # the tanh.
    points = np.linspace(-8.5, 8.5, 1201)
    weights = np.exp(-(points**2) / 2)
    weights = weights / weights.sum()
    through = np.tanh(gain * math.sqrt(mean_square) * points)
    return (
        float(gain**2 * (weights * through**2).sum()),
        float(gain**4 * (weights * (1 - through**2) ** 2).sum()),
    )


def fixed_point_slope(gain: float) -> float:
    """Return the slope of a plain network's layers where activations have settled.

    Up to a gain of 1 they die out instead, layers become linear, and a change keeps its share:
    slope 1.

    >>> fixed_point_slope(gain=1.0), round(fixed_point_slope(gain=2.0), 2)
    (1.0, 2.38)
    """
    if gain <= 1:
        return 1.0
    from scipy.optimize import brentq

    # A layer enlarges what is smaller than the size at which it settles, and no layer gives more
    # than gain².
    return branch(gain, brentq(lambda size: branch(gain, size)[0] - size, gain - 1, gain**2))[1]


def nudge_theory(
    depth: int, *, residual: bool, normalised: bool, gain: float, nudge: float = 1e-6
) -> np.ndarray:
    """Compute what `nudge_growth` simulates, for layers of endless width.

    There is a value after each of 0, 1, … `depth` layers, at most √2.

    Exact recurrences for the mean square of the stream and of the change.

    >>> both = nudge_theory(64, residual=True, normalised=True, gain=2.0)
    >>> v, chi = branch(2.0)
    >>> bool(
    ...     abs(
    ...         both[-1] / nudge_with_both(nudge=1e-6, branch_power=v, branch_slope=chi, layers=64)
    ...         - 1
    ...     )
    ...     < 0.01
    ... )
    True
    """
    import numpy as np

    size, change, found = 1.0, nudge**2, [nudge]
    for _ in range(depth):
        power, slope = branch(gain, 1.0 if normalised else size)
        carried = slope * change / (size if normalised else 1.0)
        change = carried + (change if residual else 0.0)
        size = power + (size if residual else 0.0)
        found.append(min(math.sqrt(change / size), math.sqrt(2)))
    return np.array(found)


# The worst direction ------------------------------------------------------------------------------


KINDS = (
    ("neither", False, False),
    ("LayerNorm alone", False, True),
    ("residual alone", True, False),
    ("residual and LayerNorm", True, True),
)
