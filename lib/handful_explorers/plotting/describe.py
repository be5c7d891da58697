"""Describe a plot of curves in words, as ``web/describe.js`` does to the letter.

>>> xs = [2.0**i for i in range(17)]
>>> describe(xs, [1 / x + 1 / 64 for x in xs], "batch", "sequence", "$/token", log=True).split(
...     ", then"
... )[0]
'falls 61-fold from batch 1 to 1,000'
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from handful.symbolic.quantities import find
from handful.units import UNITS, digits_of, format_named, format_value, whole_count

if TYPE_CHECKING:
    from .declare import Curve, Mark, Readout
    from .explorer import Explorer

FLAT = 0.1  # values so close together, as a share of the largest, are called flat
LONG = 0.1  # a flat beginning or end is told where it is as long as this share of the axis
CALM = 0.75  # and no steeper than this share of the whole way, as it is drawn
FINE = {"device"}  # units of x in which one more or less makes a step
SAME = 1e-6  # what rounding may change


def plain(value: float, unit: str, digits: int = 2) -> str:
    """Write a value for running text.

    Counts come without their word ("batch 64") and prices without what they are for, all else with
    the unit.
    """
    form = UNITS[unit]
    if form.kind == "money":
        return format_value(value * form.factor, "$", digits)
    return format_value(value, "1" if form.kind == "count" and unit != "%" else unit, digits)


def in_full(value: float, unit: str) -> str:
    r"""Write a value that was set, such as the cursor's: a count to its last digit.

    A batch of 65,536 is named so by its preset and by the text, and not 65,540 beside them.

    >>> in_full(65536, "sequence"), in_full(8912.5, "token"), in_full(0.0123456, "s")
    ('65,536', '8,913', '12.35\xa0ms')
    """
    return plain(value, unit, digits_of(value, unit))


def flat(low: float, high: float) -> bool:
    """Return whether values between these two are called flat."""
    return high - low <= FLAT * max(abs(low), abs(high))


def legs(ys: Sequence[float]) -> list[tuple[int, int, int]]:
    """Return the ways up (1) and down (-1) of a curve as (way, first, last), from turn to turn.

    It turns where it goes back by more than counts as flat; one that never moves so far has a
    single leg, of way 0.

    >>> legs([1, 2, 4, 3.9, 4.2, 2, 1]), legs([1, 1.05, 1])
    ([(1, 0, 4), (-1, 4, 6)], [(0, 0, 2)])
    """
    way, low, high, start = 0, 0, 0, 0
    found: list[tuple[int, int, int]] = []
    for i, y in enumerate(ys):
        if way >= 0 and y >= ys[high]:
            high = i
        if way <= 0 and y <= ys[low]:
            low = i
        if way >= 0 and not flat(y, ys[high]):
            if way:
                found.append((1, start, high))
                start = high
            way, low = -1, i
        elif way <= 0 and not flat(ys[low], y):
            if way:
                found.append((-1, start, low))
                start = low
            way, high = 1, i
    return [*found, (way, start, len(ys) - 1)]


def stretches(ys: Sequence[float], log: bool = False) -> list[tuple[int, int, int]]:
    """Return what is told of a curve: stretches that rise (1), stay (0) or fall (-1).

    Each is (way, first, last).  Within one that stays, all values are flat, and the line, as it is
    drawn, is less steep than on the whole way of which it is the beginning or end; one that rises
    or falls goes back by no more than counts as flat.

    >>> stretches([1, 1, 1, 1, 2, 4, 8])
    [(0, 0, 3), (1, 3, 6)]
    """

    def drawn(i: int) -> float:
        return math.log(ys[i]) if log else ys[i]

    def calm(i: int, j: int, steep: float) -> bool:
        return j - i >= least and abs(drawn(j) - drawn(i)) < CALM * steep * (j - i)

    least = max(LONG * (len(ys) - 1), 2)
    found: list[tuple[int, int, int]] = []
    for way, a, b in legs(ys):
        if not way:
            return [(0, a, b)]
        # From the first extreme to the other; what is as high as one belongs to it.
        part = [way * y for y in ys[a : b + 1]]
        low, high = (
            end + SAME * sign * abs(end) for sign, end in ((1, min(part)), (-1, max(part)))
        )
        s = a + next(i for i, y in enumerate(part) if y <= low)
        e = a + max(i for i, y in enumerate(part) if y >= high)
        steep = abs(drawn(e) - drawn(s)) / (b - a)
        head, tail = _flat_from(ys, a, b, 1), _flat_from(ys, b, a, -1)
        if head < tail and calm(a, head, steep):
            # What was flat before the turn is flat after it.
            if not found or found[-1][0]:
                found.append((0, a, head))
            s = head
        rest = head < tail and calm(tail, b, steep)
        found.append((way, s, tail if rest else e))
        if rest:
            found.append((0, tail, b))
    return found


def _flat_from(ys: Sequence[float], start: int, end: int, step: int) -> int:
    """Return how far the values stay flat from a place on towards another."""
    low = high = ys[start]
    for i in range(start, end + step, step):
        low, high = min(low, ys[i]), max(high, ys[i])
        if not flat(low, high):
            return i - step
    return end


def describe(
    xs: Sequence[float],
    ys: Sequence[float],
    x_name: str,
    x_unit: str,
    y_unit: str,
    log: bool = False,
    until: float = math.inf,
) -> str:
    """Describe the course of one curve: "falls 42-fold from batch 1 to 512, then stays near …".

    Parameters
    ----------
    xs, ys : equally long sequences of numbers, xs rising
    x_name : what x is called in running text
    x_unit, y_unit : keys of `handful.units.UNITS`
    log : whether the y axis is logarithmic, so that it shows no 0
    until : the x beyond which nothing fits
    """
    seen = [math.isfinite(y) and (y > 0 or not log) for y in ys]
    last = len(ys)
    while last and not seen[last - 1]:
        last -= 1
    first = 0
    while first < last and not seen[first]:
        first += 1
    if last - first < 3 or not all(seen[first:last]):
        return "has no value here"
    fits = sum(x <= until for x in xs)
    stop = min(last, fits)
    if stop - first < 3:
        return "is drawn beyond what fits"
    kept_x, kept_y = [float(x) for x in xs[first:stop]], [float(y) for y in ys[first:stop]]
    # Towards a pole the last step of a grid about doubles a curve, or more; how far it comes up to
    # there is a matter of the grid.
    endless = last < len(ys) and ys[last] == math.inf and kept_y[-1] >= 1.9 * kept_y[-2]
    words: list[str] = []
    usual = 3 if x_unit in FINE else 2
    for way, a, b in stretches(kept_y, log):
        start, end = kept_y[a], kept_y[b]
        if not way:
            part = kept_y[a : b + 1]
            words.append(f"stays near {format_value((min(part) + max(part)) / 2, y_unit, 2)}")
            continue
        ratio = end / start if start > 0 and end > 0 else 0.0
        fold = max(ratio, 1 / ratio) if ratio else 0.0
        verb = "rises" if way > 0 else "falls"
        to = f" from {x_name} {plain(kept_x[a], x_unit, usual)}"
        calm = words and words[-1].startswith("stays") and b == len(kept_y) - 1
        digits = 3 if fits < last and b == len(kept_y) - 1 else usual
        to += " on" if calm and fits >= last else f" to {plain(kept_x[b], x_unit, digits)}"
        if endless and way > 0 and b == len(kept_y) - 1:
            amount = " without end"
        elif not ratio:
            amount = f" to {format_value(end, y_unit, 2)}"
        elif fold >= 1.95:
            amount = f" {format_value(fold, '1', 2)}-fold"
        else:
            amount = f" by {format_value(abs(ratio - 1), '%', 2)}"
        words.append(verb + amount + to)
    text = ", then ".join(words)
    if first > 0 and ys[first - 1] == 0:
        text += f"; up to {x_name} {plain(float(xs[first - 1]), x_unit)} it is 0"
    elif first > 0:
        text += f"; below {x_name} {plain(float(xs[first]), x_unit)} it is out of reach"
    if fits < last:
        text += f"; beyond {x_name} {plain(until, x_unit, 3)} nothing fits"
    elif last < len(ys) and ys[last] == 0:
        text += f"; from {x_name} {plain(float(xs[last]), x_unit)} on it is 0"
    elif last < len(ys):
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
    at = f"{lower(x.title)} {in_full(state[x.name], find(x.name).unit)}"
    each = "; ".join(f"{c.label} {named(c, c.label, v['at'][c.id], unit)}" for c in shown)
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
        many = f"{len(group.at)} points from {low} to {high}"
        sentences.append(f"{capital(group.label)}: {low if len(group.at) == 1 else many}.")
    return " ".join(sentences)


def all_beyond(
    explorer: Explorer, state: Mapping[str, Any], v: Mapping[str, Any], shown: Sequence[Curve]
) -> list[str]:
    """Write of each limit that the cursor, a control or a curve lies beyond, and what has none."""
    x, unit, found = explorer.sweep, explorer.y_unit, []
    at = f"{lower(x.title)} {in_full(state[x.name], find(x.name).unit)}"
    for mark in explorer.marks:
        value = v["marks"][mark.label]
        if mark.label in v["lacking"]:
            found.append(does_not_fit(*v["lacking"][mark.label]))
        elif not told(value, mark):
            found.append(f"{capital(mark.label)} {mark.none}")
        elif not mark.limit:
            continue
        elif mark.axis == "x" and state[x.name] > value:
            found.append(beyond(at, mark.label, written(mark, value)))
        elif mark.axis == "y":
            name, high = height(explorer, v, shown)
            if value < high < math.inf:
                what = f"{name} {format_value(high, unit)} at {at}"
                found.append(beyond(what, mark.label, written(mark, value)))
    found += [does_not_fit(*v["lacking"][c.label]) for c in shown if c.label in v["lacking"]]
    return list(dict.fromkeys(found))


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


def room(explorer: Explorer, v: Mapping[str, Any]) -> float:
    """Return how far along the sweep everything fits: infinite where nothing limits it."""
    limits = [mark for mark in explorer.marks if mark.limit and mark.axis == "x"]
    reach = [whole_count(v["marks"][mark.label], mark.whole) for mark in limits]
    return min([math.inf, *reach])


def told(value: float, part: Curve | Mark | Readout) -> bool:
    """Return whether a value is told as a number: not where the part has words for having none.

    Nothing stays nothing, although the nearest whole number that is told is one at least.

    >>> from types import SimpleNamespace
    >>> people = SimpleNamespace(whole="near", none="cannot be had")
    >>> told(0.0, people), told(37.4, people), told(math.inf, people)
    (False, True, False)
    """
    return not part.none or (value > 0 and 0 < whole_count(value, part.whole) < math.inf)


def named(part: Curve | Readout, label: str, value: float, unit: str, digits: int = 3) -> str:
    """Write the value of a curve or a readout that stands beside its label."""
    if not told(value, part):
        return part.none
    return format_named(label, whole_count(value, part.whole), unit, digits)


def course(explorer: Explorer, curve: Curve, v: Mapping[str, Any]) -> str:
    """Describe the course of one curve; of a parametric plot, that of both axes."""

    def along(ys: Sequence[float], unit: str, log: bool) -> str:
        x = explorer.sweep
        return describe(v["x"], ys, lower(x.title), find(x.name).unit, unit, log, until)

    until = room(explorer, v)
    if curve.none and not any(told(y, curve) for y in v["curves"][curve.id]):
        return f"{capital(curve.label)}: {curve.none}"
    y = along(v["curves"][curve.id], explorer.y_unit, explorer.scale.log)
    if not explorer.across:
        return f"{capital(curve.label)} {y}"
    formula, scale = explorer.across
    x = along(v["across"][curve.id], scale.unit or formula.gives.unit, scale.log)
    return f"{scale.title} {x}. {explorer.scale.title} {y}"
