r"""Format numbers for readers: scaled, rounded, with their unit.

``units.js`` gives the same text.

Rounding works on the decimal digits of the value (half away from zero), not on a scaled float, so
that Python and JavaScript agree to the character.

>>> format_value(0.02314, "s"), format_value(70272, "B/token"), format_value(671e9, "parameter")
('23.1\xa0ms', '70.3\xa0kB/token', '671\xa0billion parameters')
>>> (
...     format_value(2.7e-7, "$/token"),
...     format_value(2.1 / 3600, "$/device/s"),
...     format_value(5441, "sequence"),
... )
('$0.27 per million\xa0tokens', '$2.10 per chip-hour', '5,440\xa0sequences')
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import NamedTuple

NBSP, MINUS = "\u00a0", "\u2212"


def plural(count: float, noun: str, nouns: str | None = None) -> str:
    """Return a number with what it counts, in the singular or plural.

    >>> plural(1, "student"), plural(1200, "student"), plural(2, "entry", "entries")
    ('1 student', '1,200 students', '2 entries')
    >>> plural(1.0, "point"), plural(2.5, "point")
    ('1 point', '2.5 points')
    """
    shown = f"{count:,}" if isinstance(count, int) else f"{count:g}"
    return f"{shown} {noun if count == 1 else nouns or f'{noun}s'}"


class Unit(NamedTuple):
    """The form in which one unit is written.

    kind is "si" (prefixes), "count" (thousands separators, then million, billion, …) or "money";
    one and many are the words after the number; factor turns the SI value into what is shown; low
    is the smallest prefix in use, high the largest (beyond it, powers of ten); hint is what an axis
    title adds where tick labels carry no unit (empty: the ticks carry it).
    """

    kind: str
    one: str
    many: str
    factor: float = 1
    low: int = 0
    hint: str = ""
    high: int = 24


UNITS = {
    "s": Unit("si", "s", "s", low=-12),
    "B": Unit("si", "B", "B"),
    "bit": Unit("si", "bit", "bit"),
    "B/s": Unit("si", "B/s", "B/s", hint="B/s"),
    "B/token": Unit("si", "B/token", "B/token", hint="B per token"),
    "B/parameter": Unit("si", "B/parameter", "B/parameter", hint="B per parameter"),
    "FLOP": Unit(
        "si", "FLOP", "FLOP", hint="FLOP", high=15
    ),  # the field writes budgets as 10²⁴, not in yotta
    "FLOP/s": Unit("si", "FLOP/s", "FLOP/s", hint="FLOP/s"),
    "FLOP/B": Unit("count", "FLOP/B", "FLOP/B", hint="FLOP/B"),
    "W": Unit("si", "W", "W", low=-3),
    "$": Unit("money", "", "", hint="$"),
    "$/token": Unit(
        "money", f"per million{NBSP}tokens", "", factor=1e6, hint="$ per million tokens"
    ),
    "$/token/s": Unit(
        "money", f"per million{NBSP}token-hours", "", factor=3.6e9, hint="$ per million token-hours"
    ),
    "$/B": Unit("money", "per GB", "", factor=1e9, hint="$ per GB"),
    "$/B/s": Unit("money", "per GB-hour", "", factor=3.6e12, hint="$ per GB-hour"),
    "$/device/s": Unit("money", "per chip-hour", "", factor=3600, hint="$ per chip-hour"),
    "token": Unit("count", "token", "tokens", hint="tokens"),
    "token/s": Unit("count", "token/s", "tokens/s", hint="tokens/s"),
    "sequence": Unit("count", "sequence", "sequences", hint="sequences"),
    "parameter": Unit("count", "parameter", "parameters", hint="parameters"),
    "device": Unit("count", "chip", "chips", hint="chips"),
    "device·s": Unit("count", "chip-hour", "chip-hours", factor=1 / 3600, hint="chip-hours"),
    "layer": Unit("count", "layer", "layers", hint="layers"),
    "1": Unit("count", "", ""),
    "%": Unit("count", "%", "%", factor=100, hint="%"),
}

_PREFIX = {
    -12: "p",
    -9: "n",
    -6: "µ",
    -3: "m",
    0: "",
    3: "k",
    6: "M",
    9: "G",
    12: "T",
    15: "P",
    18: "E",
    21: "Z",
    24: "Y",
}
_WORD = {6: "million", 9: "billion", 12: "trillion", 15: "quadrillion"}
_SHORT = {3: "k", 6: "M", 9: "bn", 12: "tn", 15: "qn"}
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
# (from so many seconds on, seconds in one, word): a minute count is wanted only where seconds grow
# unwieldy.
_LONG_TIMES = ((172_800, 86_400, "days"), (7_200, 3_600, "h"), (120, 60, "min"))


def _find(unit: str) -> Unit:
    """Return the unit of that name; raises ValueError for one that is not in `UNITS`."""
    if unit not in UNITS:
        raise ValueError(f"There is no unit {unit!r}; there are {', '.join(UNITS)}.")
    return UNITS[unit]


def _round(value: float, digits: int) -> tuple[str, int]:
    """Return the significant digits of a positive value and its decimal exponent.

    0.0231 to three digits is ("231", -2).
    """
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(Decimal(value))
    return "".join(map(str, rounded.as_tuple().digits)).ljust(digits, "0"), rounded.adjusted()


def _place(figures: str, exponent: int, decimals: int = 0) -> str:
    """Return digits with the point set after `exponent`, grouped by thousands.

    Trailing zeros are dropped down to `decimals` places.
    """
    if exponent >= 0:
        figures = figures.ljust(exponent + 1, "0")
        whole, part = figures[: exponent + 1], figures[exponent + 1 :]
    else:
        whole, part = "0", "0" * (-exponent - 1) + figures
    part = part.rstrip("0").ljust(decimals, "0")
    return f"{int(whole):,}" + ("." + part if part else "")


def _power(figures: str, exponent: int) -> str:
    return f"{_place(figures, 0)}{NBSP}×{NBSP}10{str(exponent).translate(_RAISED)}"


def format_value(value: float, unit: str, digits: int = 3) -> str:
    r"""Return `value` (in SI) with its unit, to `digits` significant digits.

    There are no trailing zeros, except in money.

    Raises ValueError for a unit that is not in `UNITS`.

    >>> (
    ...     format_value(0.9996, "s"),
    ...     format_value(-3, "1"),
    ...     format_value(float("inf"), "s"),
    ...     format_value(1, "token"),
    ... )
    ('1\xa0s', '−3', '∞', '1\xa0token')
    """
    form = _find(unit)
    value = float(value)
    if math.isnan(value):
        return "–"
    sign, size = (MINUS if value < 0 else ""), abs(value) * form.factor
    if math.isinf(size):
        return sign + "∞"
    if form.kind == "money":
        text = sign + "$" + _money(size, digits)
        return f"{text} {form.one}" if form.one else text
    if size == 0:
        text, word = "0", form.many
    elif form.kind == "si":
        text, word = _si(size, form, digits)
    else:
        text, word = _count(size, digits)
        word = f"{word} {form.many}".strip() if word else form.one if text == "1" else form.many
    return sign + text + (NBSP + word if word else "")


def _si(size: float, form: Unit, digits: int) -> tuple[str, str]:
    if form.one == "s":
        for start, length, word in _LONG_TIMES:
            if size >= start:
                return _place(*_round(size / length, digits)), word
    figures, exponent = _round(size, digits)
    step = min(max(exponent // 3 * 3, form.low), 24)
    if form.one == "s":
        step = min(step, 0)
    if exponent - step < -3 or exponent > form.high + 2:
        return _power(figures, exponent), form.one
    return _place(figures, exponent - step), _PREFIX[step] + form.one


def _count(size: float, digits: int) -> tuple[str, str]:
    figures, exponent = _round(size, digits)
    if exponent >= 18 or exponent < -4:
        return _power(figures, exponent), ""
    step = exponent // 3 * 3
    return (
        (_place(figures, exponent - step), _WORD[step])
        if step >= 6
        else (_place(figures, exponent), "")
    )


def _money(size: float, digits: int) -> str:
    """Return an amount of dollars without its sign.

    It has cents from ten cents to a hundred dollars, two digits below that and `digits` above.
    """
    if size == 0:
        return "0"
    exponent = _round(size, 17)[1]
    wanted = digits if exponent > 1 else max(2, exponent + 3) + max(0, digits - 3)
    figures, exponent = _round(size, wanted)
    if exponent >= 6:
        text, word = _count(size, digits)
        return f"{text}{NBSP}{word}" if word else text
    if exponent < -4:
        return _power(figures, exponent)
    return _place(figures, exponent, 2 if -1 <= exponent <= 1 else 0)


def format_tick(value: float, unit: str) -> str:
    r"""Return an axis label, as short as it can be.

    What it leaves out, `axis_title` puts into the title.

    >>> (
    ...     [format_tick(v, "sequence") for v in (1, 64, 1000, 65000)],
    ...     format_tick(0.01, "s"),
    ...     format_tick(1e-7, "$/token"),
    ... )
    (['1', '64', '1\xa0k', '65\xa0k'], '10\xa0ms', '$0.10')
    >>> format_tick(1e24, "FLOP"), format_tick(1e-9, "1"), format_value(3.29e24, "FLOP")
    ('10²⁴', '10⁻⁹', '3.29\xa0×\xa010²⁴\xa0FLOP')
    """
    form = _find(unit)
    sign, size = (MINUS if value < 0 else ""), abs(float(value)) * form.factor
    if size == 0:
        return "$0" if form.kind == "money" else "0"
    if form.kind == "si" and not form.hint:
        return sign + NBSP.join(_si(size, form, 3))
    figures, exponent = _round(size, 3)
    lowest = form.low if form.kind == "si" else 0
    step = max(exponent // 3 * 3, lowest) if exponent < 18 else 15
    if form.kind == "si" and exponent > form.high + 2:
        return sign + _power(figures, exponent).removeprefix(f"1{NBSP}×{NBSP}")
    if exponent < -4:
        text = _power(figures, exponent).removeprefix(f"1{NBSP}×{NBSP}")
    else:
        text = _place(figures, exponent - step)
        if form.kind == "money" and len(text.partition(".")[2]) == 1:
            text += "0"
    word = (_PREFIX if form.kind == "si" else _SHORT).get(step, "") if exponent >= -4 else ""
    return sign + ("$" if form.kind == "money" else "") + text + (NBSP + word if word else "")


def tick_step(unit: str, high: float) -> float:
    """Return the number that round values of an axis are multiples of.

    It is a day where the axis counts days, else 1.

    >>> tick_step("s", 1), tick_step("s", 5e7), tick_step("token", 5e7)
    (1, 86400, 1)
    """
    return 86_400 if unit == "s" and high >= 10 * 86_400 else 1


def round_times(low: float, high: float, fine: bool = False) -> list[float]:
    r"""Return the round times within [low, high], in seconds.

    They are decades of seconds, 10 min, 2 h, then decades of days.

    The steps are tenfold, nearly; `fine` adds a time between each two.

    >>> [format_value(t, "s") for t in round_times(1, 1e6)]
    ['1\xa0s', '10\xa0s', '100\xa0s', '10\xa0min', '2\xa0h', '24\xa0h', '10\xa0days']
    >>> [format_value(t, "s") for t in round_times(60, 86400, fine=True)]
    ['100\xa0s', '5\xa0min', '10\xa0min', '30\xa0min', '2\xa0h', '8\xa0h', '24\xa0h']
    """
    found = (
        [float(f"1e{e}") for e in range(-12, 3)]
        + [600.0, 7200.0]
        + [86_400.0 * 10**e for e in range(6)]
    )
    if fine:
        found += [float(f"3e{e}") for e in range(-12, 2)] + [300.0, 1800.0, 28_800.0]
        found += [259_200.0 * 10**e for e in range(6)]
    return [time for time in sorted(found) if low <= time <= high]


def axis_hint(unit: str) -> str:
    """Return the unit as an axis title has it: " (sequences)".

    It is empty where the tick labels carry the unit.
    """
    hint = _find(unit).hint
    return f" ({hint})" if hint else ""


def axis_title(title: str, unit: str) -> str:
    """Return an axis title with its unit, unless the tick labels or a word of the title say it.

    >>> (
    ...     axis_title("Batch", "sequence"),
    ...     axis_title("Time", "s"),
    ...     axis_title("Tokens served", "token"),
    ... )
    ('Batch (sequences)', 'Time', 'Tokens served')
    """
    return title if _find(unit).hint in title.lower().split() else title + axis_hint(unit)
