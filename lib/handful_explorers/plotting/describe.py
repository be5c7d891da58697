"""Describe a plot of curves in words, as ``web/describe.js`` does to the letter.

>>> xs = [2.0**i for i in range(17)]
>>> describe(
...     [x for x in xs], [1 / x + 1 / 64 for x in xs], "batch", "sequence", "$/token", True
... ).split(",")[0]
'falls 58-fold from batch 1 to 510'
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from handful.symbolic.quantities import find
from handful.units import UNITS, format_named, format_value, whole_count

if TYPE_CHECKING:
    from .declare import Curve, Mark
    from .explorer import Explorer

FLAT = 0.1  # per cent per per cent: below it a curve is called flat
SHORT = 0.05  # runs shorter than this share of the axis are not worth a clause


def plain(value: float, unit: str, digits: int = 2) -> str:
    """Write a value for running text.

    Counts come without their word ("batch 64") and prices without what they are for, all else with
    the unit.
    """
    form = UNITS[unit]
    if form.kind == "money":
        return format_value(value * form.factor, "$", digits)
    return format_value(value, "1" if form.kind == "count" and unit != "%" else unit, digits)


def runs(xs: Sequence[float], ys: Sequence[float], log: bool) -> list[list[int]]:
    """Return stretches of one kind as [kind, first, last]; kind is 1 rising, 0 flat, -1 falling."""
    n = len(ys)
    positive = log and all(y > 0 for y in ys)
    span = max(ys) - min(ys)
    found: list[list[int]] = []
    for i in range(n - 1):
        if positive:
            slope = math.log(ys[i + 1] / ys[i]) / math.log(xs[i + 1] / xs[i])
        else:
            slope = (ys[i + 1] - ys[i]) / span * (n - 1) if span > 0 else 0.0
        kind = 0 if abs(slope) < FLAT else 1 if slope > 0 else -1
        if found and found[-1][0] == kind:
            found[-1][2] = i + 1
        else:
            found.append([kind, i, i + 1])
    least = max(2, SHORT * (n - 1))
    merged: list[list[int]] = []
    for run in found:
        if merged and (run[2] - run[1] < least or merged[-1][0] == run[0]):
            merged[-1][2] = run[2]
        elif merged and merged[-1][2] - merged[-1][1] < least and len(merged) == 1:
            merged[-1] = [run[0], merged[-1][1], run[2]]
        else:
            merged.append(list(run))
    return merged


def describe(
    xs: Sequence[float], ys: Sequence[float], x_name: str, x_unit: str, y_unit: str, log: bool
) -> str:
    """Describe the course of one curve: "falls 42-fold from batch 1 to 512, then stays near …".

    Parameters
    ----------
    xs, ys : equally long sequences of numbers, xs rising
    x_name : what x is called in running text
    x_unit, y_unit : keys of `handful.units.UNITS`
    log : whether the x axis is logarithmic
    """
    last = len(ys)
    while last and not math.isfinite(ys[last - 1]):
        last -= 1
    first = 0
    while first < last and not math.isfinite(ys[first]):
        first += 1
    if last - first < 3 or not all(math.isfinite(y) for y in ys[first:last]):
        return "has no value here"
    kept_x, kept_y = [float(x) for x in xs[first:last]], [float(y) for y in ys[first:last]]
    words: list[str] = []
    for kind, a, b in runs(kept_x, kept_y, log):
        start, end = kept_y[a], kept_y[b]
        ratio = end / start if start > 0 and end > 0 else 0.0
        fold = max(ratio, 1 / ratio) if ratio else 0.0
        if kind == 0 or (ratio and fold < 1.02):
            words.append(f"stays near {format_value(end, y_unit, 2)}")
            continue
        verb = "rises" if end > start else "falls"
        if not words or not words[-1].startswith("stays"):
            to = f" from {x_name} {plain(kept_x[a], x_unit)} to {plain(kept_x[b], x_unit)}"
        else:
            to = f" from {x_name} {plain(kept_x[a], x_unit)} on"
        if not ratio:
            amount = f" to {format_value(end, y_unit, 2)}"
        elif fold >= 1.95:
            amount = f" {format_value(fold, '1', 2)}-fold"
        else:
            amount = f" by {format_value(abs(ratio - 1), '%', 2)}"
        words.append(verb + amount + to)
    text = ", then ".join(words)
    if first > 0:
        text += f"; below {x_name} {plain(float(xs[first]), x_unit)} it is out of reach"
    if last < len(ys):
        text += f"; above {x_name} {plain(float(xs[last - 1]), x_unit)} it is out of reach"
    return text


def lower(text: str) -> str:
    """Write the first letter small, unless the word is an abbreviation ("KV cache")."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def capital(text: str) -> str:
    """Write the first letter large, and the others as they are."""
    return text[:1].upper() + text[1:]


def alt_text(explorer: Explorer, state: Mapping[str, Any], v: Mapping[str, Any]) -> str:
    """Describe a plot of curves at a full state, whose values are `v`.

    The words are the course of the leading curve, the values at the cursor, the bands and the
    points.
    """
    shown = [curve for curve in explorer.curves if curve.id in v["curves"]]
    if not shown:
        return "No curve is shown."
    x, unit = explorer.sweep, explorer.y_unit
    lead = next((curve for curve in shown if curve.role == "total"), shown[0])
    at = f"{lower(x.title)} {plain(state[x.name], find(x.name).unit, 4)}"
    each = "; ".join(
        f"{c.label} {format_named(c.label, whole_count(v['at'][c.id], c.whole), unit)}"
        for c in shown
    )
    sentences = [f"{course(explorer, lead, v)}.", f"At {at}: {each}."]
    sentences += [f"{text}." for text in all_beyond(explorer, state, v, shown)]
    for curve in shown:
        band, of = v["bands"][curve.id].at(state[x.name])
        value = v["at"][curve.id]
        if of:
            ends = " to ".join(format_value(value * end, unit, 2) for end in band or ())
            sentences.append(capital(f"{curve.band_label} {ends}: {of}." if band else f"{of}."))
    for group in explorer.points:
        if not group.shown(state):
            continue
        low, high = (format_value(end(p[1] for p in group.at), unit) for end in (min, max))
        sentences.append(f"{capital(group.label)}: {len(group.at)} points from {low} to {high}.")
    return " ".join(sentences)


def all_beyond(
    explorer: Explorer, state: Mapping[str, Any], v: Mapping[str, Any], shown: Sequence[Curve]
) -> list[str]:
    """Write of each limit that the cursor lies beyond, or that a curve is higher there."""
    x, unit, found = explorer.sweep, explorer.y_unit, []
    at = f"{lower(x.title)} {plain(state[x.name], find(x.name).unit, 4)}"
    for mark in explorer.marks:
        value = v["marks"][mark.label]
        if not mark.limit:
            continue
        if mark.label in v["lacking"]:
            found.append(does_not_fit(*v["lacking"][mark.label]))
        elif mark.axis == "x" and state[x.name] > value:
            found.append(beyond(at, mark.label, written(mark, value)))
        elif mark.axis == "y":
            name, high = height(explorer, v, shown)
            if high > value:
                what = f"{name} {format_value(high, unit)} at {at}"
                found.append(beyond(what, mark.label, written(mark, value)))
    return found


def height(explorer: Explorer, v: Mapping[str, Any], shown: Sequence[Curve]) -> tuple[str, float]:
    """Return what reaches how high at the cursor: the leading curve, or stacked ones together."""
    if explorer.stack:
        return explorer.scale.title, sum(v["at"][c.id] for c in shown if c.role == "part")
    lead = next((curve for curve in shown if curve.role == "total"), shown[0])
    return lead.label, v["at"][lead.id]


def written(mark: Mark, value: float) -> str:
    """Write the value of a mark."""
    return plain(whole_count(value, mark.whole), mark.formula.gives.unit, 3)


def beyond(at: str, label: str, value: str) -> str:
    """Write that a cursor lies beyond what fits."""
    return f"{capital(at)} is more than fits: {label} {value}"


def does_not_fit(needed: float, devices: float) -> str:
    """Write that the weights alone are too large for the machine, and how many chips they fill.

    >>> does_not_fit(8.4, 8)
    'The model itself does not fit: its weights fill 9 such chips, and the machine has 8'
    """
    chips = format_value(whole_count(needed, "up"), "1", 6)
    return (
        f"The model itself does not fit: its weights fill {chips} such chips, and the machine has "
        f"{plain(devices, 'device', 4)}"
    )


def course(explorer: Explorer, curve: Curve, v: Mapping[str, Any]) -> str:
    """Describe the course of one curve; of a parametric plot, that of both axes."""

    def along(ys: Sequence[float], unit: str) -> str:
        x = explorer.sweep
        return describe(v["x"], ys, lower(x.title), find(x.name).unit, unit, x.log)

    y = along(v["curves"][curve.id], explorer.y_unit)
    if not explorer.across:
        return f"{capital(curve.label)} {y}"
    formula, scale = explorer.across
    x = along(v["across"][curve.id], scale.unit or formula.gives.unit)
    return f"{scale.title} {x}. {explorer.scale.title} {y}"
