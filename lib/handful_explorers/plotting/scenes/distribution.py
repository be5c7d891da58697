"""Draw the distribution of a formula's result when inputs are known to within factors.

It shows the histogram, the 90 % interval, the worst case, and the share of each input in the
spread.

Declare with ``numbers={"result": Readout(formula, "Label")}``, ``data=uncertain(formula,
traffic="Label", …)`` and a slider ``factor(i, value)`` for each uncertain input, in that order.
Further numbers are drawn as upright marks.

A factor f means that 90 % of the input's probability lies between value / f and value × f,
log-normally, as in `handful.symbolic.uncertainty`.  The draws are a lattice instead of a Sobol
sequence, since both languages then make the same points from one line;
`handful.symbolic.uncertainty` gives
the same interval to three per cent.
"""

from __future__ import annotations

import math
from typing import Any

from handful.symbolic.formula import Formula
from handful.symbolic.quantities import find
from handful.units import format_tick, format_value

from ..declare import Control, ExplorerError
from . import inputs, shapes

MOST = 5
INPUTS = {f"factor_{i}": ("Known to within a factor of", "1", 2.0) for i in range(1, MOST + 1)}
# Korobov's lattice: a prime number of draws, and the multiplier which, of 400 tried, gave sums of
# up to five normal draws the truest median and 90 % interval.
DRAWS, STEP = 4093, 3147
BINS = 48
_Z90 = 1.6448536269514722
HEIGHT, ROW, GLYPH = 150, 40, 6.9  # of the histogram, of a row of shares, and of a letter: pixels


def uncertain(formula: Formula, **labels: str) -> dict[str, Any]:
    """Return the `data` of such a scene: the uncertain inputs, each with its label.

    They are in the order of their sliders.

    >>> from handful.overtraining import overtraining
    >>> uncertain(overtraining, pretraining_tokens="Tokens")["uncertain"][0]["name"]
    'pretraining_tokens'
    >>> uncertain(overtraining, context="Context")
    Traceback (most recent call last):
    ...
    handful_explorers.plotting.declare.ExplorerError: overtraining does not depend on context,
    so it cannot be uncertain there.
    """
    if not 1 <= len(labels) <= MOST:
        raise ExplorerError(
            f"A distribution takes 1 to {MOST} uncertain inputs; got {len(labels)}."
        )
    for name in labels:
        if name not in {quantity.name for quantity in formula.inputs}:
            raise ExplorerError(
                f"{formula.name} does not depend on {name}, so it cannot be uncertain there."
            )
    return {
        "uncertain": [
            {
                "name": name,
                "label": label,
                "unit": find(name).unit,
                "upper": find(name).upper if find(name).upper is not None else 1e300,
            }
            for name, label in labels.items()
        ]
    }


def factor(i: int, value: float, label: str, most: float = 10) -> Control:
    """Return the slider of the i-th uncertain input, from certain (1) to a factor of `most`."""
    from ipywidgets import FloatLogSlider

    return Control(
        FloatLogSlider(value=value, base=10, min=0, max=math.log10(most), step=0.005),
        f"factor_{i}",
        label,
    )


def normal(p: float) -> float:
    """Return a quantile of the standard normal distribution to 1e-8 (Acklam's approximation).

    >>> round(normal(0.95), 6), normal(0.5)
    (1.644854, 0.0)
    """
    if p > 0.5:
        return -normal(1 - p)
    if p < 0.02425:
        q = math.sqrt(-2 * math.log(p))
        x = (
            (
                (
                    ((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838)
                    * q
                    - 2.549732539343734
                )
                * q
                + 4.374664141464968
            )
            * q
            + 2.938163982698783
        ) / (
            (
                ((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q
                + 3.754408661907416
            )
            * q
            + 1
        )
    else:
        q = p - 0.5
        r = q * q
        x = (
            (
                (
                    (
                        (
                            (-3.969683028665376e01 * r + 2.209460984245205e02) * r
                            - 2.759285104469687e02
                        )
                        * r
                        + 1.383577518672690e02
                    )
                    * r
                    - 3.066479806614716e01
                )
                * r
                + 2.506628277459239
            )
            * q
            / (
                (
                    (
                        (
                            (-5.447609879822406e01 * r + 1.615858368580409e02) * r
                            - 1.556989798598866e02
                        )
                        * r
                        + 6.680131188771972e01
                    )
                    * r
                    - 1.328068155288572e01
                )
                * r
                + 1
            )
        )
    return x


def draws(dimensions: int) -> list[list[float]]:
    """Return standard normal draws, a list for each input."""
    return [
        [normal((i * pow(STEP, j, DRAWS) % DRAWS + 0.5) / DRAWS) for i in range(DRAWS)]
        for j in range(dimensions)
    ]


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return the median, the interval, the worst case and the histogram of the result.

    With them comes the share of each input in the spread.
    """
    import numpy as np

    number, rest = explorer.numbers["result"], explorer.numbers_at(state)
    known = explorer.symbol_values(state, number.given, number.scenario)
    names = explorer.data["uncertain"]
    factors = [float(inputs(explorer, state)[f"factor_{i}"]) for i in range(1, len(names) + 1)]

    def result(values: list) -> Any:
        moved = {
            n["name"]: np.minimum(known[n["name"]] * value, n["upper"])
            for n, value in zip(names, values, strict=True)
        }
        return np.asarray(number.formula(known | moved), dtype=float)

    z = np.array(draws(len(names)))
    sigma = np.array([math.log(f) / _Z90 for f in factors])
    results = np.broadcast_to(result(list(np.exp(z * sigma[:, None]))), DRAWS)
    ordered = np.sort(results)
    corners = [
        float(result([f if high >> k & 1 else 1 / f for k, f in enumerate(factors)]))
        for high in range(2 ** len(names))
    ]
    logs = np.log(results) - np.mean(np.log(results))
    parts = [
        float(s * np.mean(row * logs)) ** 2 / float(s * s or 1)
        for s, row in zip(sigma, z, strict=True)
    ]
    return {
        "label": number.label or number.formula.gives.label,
        "unit": number.formula.gives.unit,
        "digits": number.digits,
        "median": _at(ordered, 0.5),
        "low": _at(ordered, 0.05),
        "high": _at(ordered, 0.95),
        "worst_low": min(corners),
        "worst_high": max(corners),
        "rest": _ends(ordered),
        "ordered": ordered.tolist(),
        "shares": [part / (sum(parts) or 1) for part in parts],
        "factors": factors,
        "names": [n["label"] for n in names],
        "units": [n["unit"] for n in names],
        "values": [float(known[n["name"]]) for n in names],
        "marks": [
            [explorer.numbers[key].label or explorer.numbers[key].formula.gives.label, value]
            for key, value in rest.items()
            if key != "result"
        ],
    }


def _at(ordered, share: float) -> float:
    place = share * (DRAWS - 1)
    below = math.floor(place)
    return float(
        ordered[below] + (ordered[min(below + 1, DRAWS - 1)] - ordered[below]) * (place - below)
    )


def _ends(ordered) -> list[float]:
    return [_at(ordered, 0.002), _at(ordered, 0.998)]


def axis(v: dict[str, Any]) -> tuple[float, float]:
    """Return the ends of the axis, rounded out to the next third of a decade.

    Between them lie all but the outermost draws, the worst case and the marks.
    """
    kept = [v["worst_low"], v["worst_high"], *v["rest"], *(value for _, value in v["marks"])]
    low, high = (
        math.floor(3 * math.log10(min(kept)) - 0.3) / 3,
        math.ceil(3 * math.log10(max(kept)) + 0.3) / 3,
    )
    return 10**low, 10**high


def ticks(low: float, high: float, most: float) -> list[float]:
    """Return 1, 2 and 5 of each decade on a short axis, and decades alone on a long one."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for figures in ((1, 2, 5), (1,)):
        found = [
            x
            for e in range(first, last + 1)
            for x in (float(f"{m}e{e}") for m in figures)
            if low <= x <= high
        ]
        if len(found) <= most:
            return found
    return found[:: math.ceil(len(found) / most)]


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw the histogram with the interval, the worst case and the marks."""
    low, high = axis(v)
    left, right, span = 4, width - 8, math.log(high / low)
    top = 24 + 17 * len(v["marks"])
    bottom = top + HEIGHT
    out = []

    def at(x: float) -> float:
        return left + (right - left) * math.log(min(max(x, low), high) / low) / span

    def shown(x: float) -> str:
        return format_value(x, v["unit"], v["digits"])

    def label(x: float, y: float, words: str, c: str) -> dict:
        """Return a label beside an upright line, on the side that has room."""
        return (
            shapes.text(x + 5, y, words, c)
            if x + 5 + GLYPH * len(words) < right
            else shapes.text(x - 5, y, words, c, "end")
        )

    def centred(x: float, y: float, words: str, c: str) -> dict:
        half = GLYPH * len(words) / 2
        return shapes.text(
            min(max(x, left + half), max(right - half, left + half)), y, words, c, "middle"
        )

    for x in ticks(low, high, math.floor((right - left) / 62)):
        out.append(shapes.line(at(x), top, at(x), bottom, "grid"))
        out.append(centred(at(x), bottom + 17, format_tick(x, v["unit"]), "soft small"))
    counts = [0] * BINS
    for x in v["ordered"]:
        if low <= x < high:
            counts[math.floor(BINS * math.log(x / low) / span)] += 1
    wide = (right - left) / BINS
    for k, count in enumerate(counts):
        middle = low * math.exp(span * (k + 0.5) / BINS)
        tall = (HEIGHT - 6) * count / max(counts)
        out.append(
            shapes.rect(
                left + k * wide + 0.5,
                bottom - tall,
                wide - 1,
                tall,
                "c0" if v["low"] <= middle <= v["high"] else "c0 pale",
            )
        )
    out.append(shapes.line(left, bottom, right, bottom, "soft"))
    for k, (words, value) in enumerate(v["marks"]):
        y = 12 + 17 * k
        out.append(shapes.line(at(value), y - 9, at(value), bottom, "c1 dash"))
        out.append(label(at(value), y, f"{words} {shown(value)}", "c1"))
    y = 12 + 17 * len(v["marks"])
    out.append(shapes.line(at(v["median"]), y - 9, at(v["median"]), bottom, "ink"))
    out.append(label(at(v["median"]), y, f"median {shown(v['median'])}", "ink strong"))
    y = bottom + 38
    for words, (a, b), c in (
        ("9 in 10", (v["low"], v["high"]), "c0 thick"),
        ("worst case", (v["worst_low"], v["worst_high"]), "soft"),
    ):
        out.append(shapes.line(at(a), y, at(b), y, c))
        for end in (a, b):
            out.append(shapes.line(at(end), y - 5, at(end), y + 5, "soft"))
        out.append(
            centred((at(a) + at(b)) / 2, y + 18, f"{words}: {shown(a)} to {shown(b)}", "ink")
        )
        y += 42
    y += 4
    out.append(shapes.text(0, y, "Where the spread comes from", "soft"))
    for k, (name, share) in enumerate(zip(v["names"], v["shares"], strict=True)):
        row = y + 10 + ROW * k
        out.append(shapes.text(0, row + 12, name, "ink"))
        out.append(shapes.rect(0, row + 18, max((right - 60) * share, 1), 12, "c2"))
        out.append(
            shapes.text(
                max((right - 60) * share, 1) + 6,
                row + 29,
                format_value(share, "%", 2),
                "ink strong",
            )
        )
    return y + 14 + ROW * len(v["names"]), out


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the median, the interval and the worst case."""

    def shown(a: float, b: float) -> str:
        return (
            f"{format_value(a, v['unit'], v['digits'])} to "
            f"{format_value(b, v['unit'], v['digits'])}"
        )

    either = format_value(math.sqrt(v["high"] / v["low"]), "1")
    return [
        ("median", format_value(v["median"], v["unit"], v["digits"]), ""),
        ("9 in 10 lie in", shown(v["low"], v["high"]), f"a factor of {either} either way"),
        ("worst case", shown(v["worst_low"], v["worst_high"]), "every guess at its end at once"),
    ]


def words(v: dict[str, Any]) -> str:
    """Describe the result and how well each input is known."""
    (_, median, _), (_, interval, _), (_, worst, _) = readouts(v)
    loose = [k for k, f in enumerate(v["factors"]) if f > 1]
    guesses = (
        "; ".join(
            f"{v['names'][k]} known to within a factor of {format_value(v['factors'][k], '1')}, "
            f"{format_value(v['shares'][k], '%', 2)} of the spread"
            for k in loose
        )
        or "every input exact"
    )
    return f"{v['label']}: median {median}, nine in ten {interval}, worst case {worst}; {guesses}."


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: the inputs and their shares of the spread."""
    each = [
        [name, format_value(value, unit), format_value(f, "1"), format_value(share, "%", 2)]
        for name, value, unit, f, share in zip(
            v["names"], v["values"], v["units"], v["factors"], v["shares"], strict=True
        )
    ]
    return ["Quantity", "Median", "Known to within a factor of", "Share of the spread"], [
        *each,
        [
            v["label"],
            format_value(v["median"], v["unit"], v["digits"]),
            format_value(math.sqrt(v["high"] / v["low"]), "1"),
            "100\u00a0%",
        ],
    ]
