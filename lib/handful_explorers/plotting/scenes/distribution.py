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
from dataclasses import dataclass
from typing import Any

from handful.symbolic.formula import Formula
from handful.symbolic.quantities import find
from handful.units import format_tick, format_ticks, format_value

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


def draws(dimensions: int):
    """Return standard normal draws, a row of an array for each input.

    >>> draws(5).shape == (5, DRAWS)
    True
    """
    import numpy as np
    from scipy.special import ndtri

    steps = np.array([[pow(STEP, j, DRAWS)] for j in range(dimensions)])
    return ndtri((np.arange(DRAWS) * steps % DRAWS + 0.5) / DRAWS)


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

    z = draws(len(names))
    sigma = np.array([math.log(f) / _Z90 for f in factors])
    results = np.broadcast_to(result(list(np.exp(z * sigma[:, None]))), DRAWS)
    lowest, low, median, high, highest = np.quantile(results, [0.002, 0.05, 0.5, 0.95, 0.998])
    corners = [
        float(result([f if high >> k & 1 else 1 / f for k, f in enumerate(factors)]))
        for high in range(2 ** len(names))
    ]
    logs = np.log(results) - np.mean(np.log(results))
    parts = [
        float(s * np.mean(row * logs)) ** 2 / float(s * s or 1)
        for s, row in zip(sigma, z, strict=True)
    ]
    # A product of powers is log-normal itself: then nothing is left to the draws.
    middle = float(result([1.0] * len(names)))
    steps = [
        math.log(float(result([f if k == j else 1.0 for k in range(len(names))])) / middle) / _Z90
        for j, f in enumerate(factors)
    ]
    if np.max(np.abs(np.log(results) - math.log(middle) - np.dot(steps, z))) < 1e-9:
        parts = [step**2 for step in steps]
        width = math.exp(_Z90 * math.sqrt(sum(parts)))
        low, median, high = middle / width, middle, middle * width
    return {
        "label": number.label or number.formula.gives.label,
        "unit": number.formula.gives.unit,
        "digits": number.digits,
        "median": float(median),
        "low": float(low),
        "high": float(high),
        "worst_low": min(corners),
        "worst_high": max(corners),
        "rest": [float(lowest), float(highest)],
        "draws": results.tolist(),
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


def exponents(low: float, high: float) -> range:
    """Return the powers of ten that an axis may show."""
    return range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)


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


@dataclass
class Chart:
    """Hold the histogram's place in pixels, and write words beside its lines."""

    v: dict[str, Any]
    width: float
    left: float = 4

    def __post_init__(self) -> None:
        self.right = self.width - 8
        self.low, self.high = axis(self.v)
        self.span = math.log(self.high / self.low)
        self.top = 24 + 17 * len(self.v["marks"])
        self.bottom = self.top + HEIGHT

    def at(self, x: float) -> float:
        """Return the place of a value along the axis."""
        inside = min(max(x, self.low), self.high)
        return self.left + (self.right - self.left) * math.log(inside / self.low) / self.span

    def value(self, x: float) -> str:
        """Write a value of the result with its unit."""
        return format_value(x, self.v["unit"], self.v["digits"])

    def upright(self, x: float, y: float, words: str, line: str, label: str) -> list[dict]:
        """Return a line at a value, and words beside it on the side that has room."""
        at = self.at(x)
        fits = at + 5 + GLYPH * len(words) < self.right
        return [
            shapes.line(at, y - 9, at, self.bottom, line),
            shapes.text(at + 5, y, words, label)
            if fits
            else shapes.text(at - 5, y, words, label, "end"),
        ]

    def centred(self, at: float, y: float, words: str, c: str) -> dict:
        """Return words in the middle of a place, moved so that they stay within the drawing."""
        half = GLYPH * len(words) / 2
        inside = min(max(at, self.left + half), max(self.right - half, self.left + half))
        return shapes.text(inside, y, words, c, "middle")


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw the histogram with the interval, the worst case and the marks."""
    chart = Chart(v, width)
    y = chart.bottom + 126
    return y + 14 + ROW * len(v["names"]), [
        *grid(chart),
        *histogram(chart),
        *uprights(chart),
        *intervals(chart, chart.bottom + 38),
        *shares(chart, y),
    ]


def grid(chart: Chart) -> list[dict]:
    """Draw the ticks of the axis."""
    out = []
    unit = chart.v["unit"]
    longest = max(len(format_tick(10.0**e, unit)) for e in exponents(chart.low, chart.high))
    most = math.floor((chart.right - chart.left) / max(62, GLYPH * (longest + 2)))
    values = ticks(chart.low, chart.high, most)
    for x, words in zip(values, format_ticks(values, unit, True), strict=True):
        at = chart.at(x)
        out.append(shapes.line(at, chart.top, at, chart.bottom, "grid"))
        out.append(chart.centred(at, chart.bottom + 17, words, "soft small"))
    return out


def histogram(chart: Chart) -> list[dict]:
    """Draw the histogram on its base line; bars within the 90 % interval are strong."""
    v, out = chart.v, []
    counts = [0] * BINS
    for x in v["draws"]:
        if chart.low <= x < chart.high:
            counts[math.floor(BINS * math.log(x / chart.low) / chart.span)] += 1
    wide = (chart.right - chart.left) / BINS
    for k, count in enumerate(counts):
        middle = chart.low * math.exp(chart.span * (k + 0.5) / BINS)
        tall = (HEIGHT - 6) * count / max(counts)
        colour = "c0" if v["low"] <= middle <= v["high"] else "c0 pale"
        left = chart.left + k * wide + 0.5
        out.append(shapes.rect(left, chart.bottom - tall, wide - 1, tall, colour))
    out.append(shapes.line(chart.left, chart.bottom, chart.right, chart.bottom, "soft"))
    return out


def uprights(chart: Chart) -> list[dict]:
    """Draw the marks and, below their words, the median."""
    v, out = chart.v, []
    for k, (words, value) in enumerate(v["marks"]):
        label = f"{words} {chart.value(value)}"
        out += chart.upright(value, 12 + 17 * k, label, "c1 dash", "c1")
    label, y = f"median {chart.value(v['median'])}", 12 + 17 * len(v["marks"])
    return out + chart.upright(v["median"], y, label, "ink", "ink strong")


def intervals(chart: Chart, y: float) -> list[dict]:
    """Draw the 90 % interval and the worst case as level lines."""
    v, out = chart.v, []
    for words, (low, high), c in (
        ("9 in 10", (v["low"], v["high"]), "c0 thick"),
        ("worst case", (v["worst_low"], v["worst_high"]), "soft"),
    ):
        a, b = chart.at(low), chart.at(high)
        out.append(shapes.line(a, y, b, y, c))
        out += [shapes.line(end, y - 5, end, y + 5, "soft") for end in (a, b)]
        label = f"{words}: {chart.value(low)} to {chart.value(high)}"
        out.append(chart.centred((a + b) / 2, y + 18, label, "ink"))
        y += 42
    return out


def shares(chart: Chart, y: float) -> list[dict]:
    """Draw the share of each input in the spread."""
    v = chart.v
    out = [shapes.text(0, y, "Where the spread comes from", "soft")]
    for k, (name, share) in enumerate(zip(v["names"], v["shares"], strict=True)):
        row, wide = y + 10 + ROW * k, max((chart.right - 60) * share, 1)
        out.append(shapes.text(0, row + 12, name, "ink"))
        out.append(shapes.rect(0, row + 18, wide, 12, "c2"))
        out.append(shapes.text(wide + 6, row + 29, format_value(share, "%", 2), "ink strong"))
    return out


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
