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
import re
from collections.abc import Sequence
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


def whole_count(value: float, way: str) -> float:
    """Return a count as a whole number: "up" for what is needed, "down" for what fits, or "near".

    What is needed or best is one at least.  Without a way, and without end, it stays as it is.

    >>> whole_count(20.4, "up"), whole_count(0.1, "up"), whole_count(66.7, "down")
    (21, 1, 66)
    >>> whole_count(37.4, "near"), whole_count(0.2, "near"), whole_count(0.2, "")
    (37, 1, 0.2)
    """
    if not way or not math.isfinite(value):
        return value
    # Products of floats may miss a whole number by their last bits.
    slack = 1e-9 * max(1, abs(value))
    if way == "down":
        return math.floor(value + slack)
    return max(1, math.ceil(value - slack) if way == "up" else math.floor(value + 0.5))


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
    "bit": Unit("count", "bit", "bits", hint="bits"),
    "B/s": Unit("si", "B/s", "B/s"),
    "B/token": Unit("si", "B/token", "B/token", hint="per token"),
    "B/parameter": Unit("si", "B/parameter", "B/parameter", hint="per parameter"),
    "FLOP": Unit(
        "si", "FLOP", "FLOP", hint="FLOP", high=15
    ),  # the field writes budgets as 10²⁴, not in yotta
    "FLOP/s": Unit("si", "FLOP/s", "FLOP/s"),
    "FLOP/B": Unit("count", "FLOP/B", "FLOP/B", hint="FLOP/B"),
    "FLOP/J": Unit("si", "FLOP/J", "FLOP/J"),
    "FLOP/$": Unit("si", "FLOP/$", "FLOP/$"),
    "B/$": Unit("si", "B/$", "B/$"),
    "W": Unit("si", "W", "W", low=-3),
    "Wh": Unit("si", "Wh", "Wh", factor=1 / 3600),
    "J/token": Unit("si", "J/token", "J/token", low=-3, hint="per token"),
    "$": Unit("money", "", "", hint="$"),
    "$/token": Unit(
        "money", f"per million{NBSP}tokens", "", factor=1e6, hint="$ per million tokens"
    ),
    "$/token/s": Unit(
        "money", f"per million{NBSP}token-hours", "", factor=3.6e9, hint="$ per million token-hours"
    ),
    "$/B": Unit("money", "per GB", "", factor=1e9, hint="$ per GB"),
    "$/B/s": Unit("money", "per GB-hour", "", factor=3.6e12, hint="$ per GB-hour"),
    "$/J": Unit("money", "per kWh", "", factor=3.6e6, hint="$ per kWh"),
    "$/device/s": Unit("money", "per chip-hour", "", factor=3600, hint="$ per chip-hour"),
    "token": Unit("count", "token", "tokens", hint="tokens"),
    "token/s": Unit("count", "token/s", "tokens/s", hint="tokens/s"),
    "sequence": Unit("count", "sequence", "sequences", hint="sequences"),
    "sequence/s": Unit("count", "request/s", "requests/s", hint="requests/s"),
    "parameter": Unit("count", "parameter", "parameters", hint="parameters"),
    "device": Unit("count", "chip", "chips", hint="chips"),
    "device·s": Unit("count", "chip-hour", "chip-hours", factor=1 / 3600, hint="chip-hours"),
    "layer": Unit("count", "layer", "layers", hint="layers"),
    "cent": Unit("count", "cent", "cents", hint="cents"),
    "times": Unit("count", "time", "times", hint="times"),
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
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
# (from so many seconds on, seconds in one, word): minutes are wanted only where seconds grow
# unwieldy, or are one minute.
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
    power, factor = f"10{str(exponent).translate(_RAISED)}", _place(figures, 0)
    return power if factor == "1" else f"{factor}{NBSP}×{NBSP}{power}"


def format_value(value: float, unit: str, digits: int = 3) -> str:
    r"""Return `value` (in SI) with its unit, to `digits` significant digits.

    There are no trailing zeros, except in cents.

    Raises ValueError for a unit that is not in `UNITS`.

    >>> (
    ...     format_value(0.9996, "s"),
    ...     format_value(-3, "1"),
    ...     format_value(float("inf"), "s"),
    ...     format_value(1, "token"),
    ... )
    ('1\xa0s', '−3', '∞', '1\xa0token')
    >>> format_value(2**20, "token", 6), format_value(2**20, "token")
    ('1,048,576\xa0tokens', '1.05\xa0million tokens')
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


def digits_of(value: float, unit: str, others: int = 4) -> int:
    """Return with how many digits a value is written where a whole count is named to its last.

    >>> digits_of(4096, "token"), digits_of(4096.5, "token"), digits_of(4096, "B", 3)
    (7, 4, 3)
    """
    whole = _find(unit).kind == "count" and value < 1e7 and float(value).is_integer()
    return 7 if whole else others


def _si(size: float, form: Unit, digits: int, like: float = 0) -> tuple[str, str]:
    """Return a number and its unit, with the prefix that `like` would have, where that is given."""
    leading = like or size
    if form.one == "s":
        for start, length, word in _LONG_TIMES:
            if leading >= start or leading == length:
                text = _place(*_round(size / length, digits))
                return text, word.removesuffix("s") if text == "1" else word
    figures, exponent = _round(size, digits)
    step = min(max(_round(leading, digits)[1] // 3 * 3, form.low), 24)
    if form.one == "s":
        step = min(step, 0)
    if exponent - step < -3 or exponent > form.high + 2:
        return _power(figures, exponent), form.one
    return _place(figures, exponent - step), _PREFIX[step] + form.one


def _count(size: float, digits: int, like: float = 0) -> tuple[str, str]:
    figures, exponent = _round(size, digits)
    if exponent >= 18 or exponent < -4:
        return _power(figures, exponent), ""
    if 1e6 <= size < 1e7 and digits > 4 and size % 1 == 0 and size % 1000:
        return f"{int(size):,}", ""  # nobody says 1.04858 million
    step = min(_round(like or size, digits)[1] // 3 * 3, 15)
    return (
        (_place(figures, exponent - step), _WORD[step])
        if step >= 6
        else (_place(figures, exponent), "")
    )


# A price is written out to a tenth of a millionth of a dollar.
_LEAST_MONEY = -7


def _money(size: float, digits: int) -> str:
    """Return an amount of dollars without its sign.

    It has cents from ten cents to a hundred dollars, unless there are none, two digits below that,
    and `digits` above.
    """
    if size == 0:
        return "0"
    exponent = _round(size, 17)[1]
    wanted = digits if exponent > 1 else max(2, exponent + 3) + max(0, digits - 3)
    figures, exponent = _round(size, wanted)
    if exponent >= 6:
        text, word = _count(size, digits)
        return f"{text}{NBSP}{word}" if word else text
    if exponent < _LEAST_MONEY:
        return _power(figures, exponent)
    return _place(figures, exponent, 2 if -1 <= exponent <= 1 else 0).removesuffix(".00")


def format_tick(value: float, unit: str, like: float = 0) -> str:
    r"""Return an axis label, as short as it can be, with the prefix or word that `like` would have.

    What it leaves out, `axis_title` puts into the title.

    >>> (
    ...     [format_tick(v, "sequence") for v in (1, 64, 1000, 65000, 1e6)],
    ...     format_tick(0.01, "s"),
    ...     format_tick(0.5, "s", like=2),
    ...     format_tick(1e-7, "$/token"),
    ... )
    (['1', '64', '1,000', '65,000', '1\xa0million'], '10\xa0ms', '0.5\xa0s', '$0.10')
    >>> format_tick(1e24, "FLOP"), format_tick(1e-9, "1"), format_value(3.29e24, "FLOP")
    ('10²⁴', '10⁻⁹', '3.29\xa0×\xa010²⁴\xa0FLOP')
    """
    form = _find(unit)
    sign, size = (MINUS if value < 0 else ""), abs(float(value)) * form.factor
    leading = abs(float(like)) * form.factor
    if size == 0:
        return "$0" if form.kind == "money" else "0"
    figures, exponent = _round(size, 3)
    if form.high < 24 and exponent > 4:
        return sign + _power(figures, exponent)
    if form.kind == "si":
        number, word = _si(size, form, 3, leading)
        word = "" if form.high < 24 else re.sub("/(token|parameter)$", "", word)
    elif form.kind == "money" and exponent < 6 and leading < 1e6:
        number, word = _place(figures, exponent), ""
        if exponent < _LEAST_MONEY:
            number = _power(figures, exponent)
        elif len(number.partition(".")[2]) == 1:
            number += "0"
    else:
        number, word = _count(size, 3, leading)
    return sign + ("$" if form.kind == "money" else "") + number + (NBSP + word if word else "")


def format_ticks(values: Sequence[float], unit: str, log: bool) -> list[str]:
    r"""Return the labels of an axis, which are in one style.

    On a linear axis all have the prefix or word of the last one; on a log axis whose shares are
    powers of ten, all below one are.

    >>> format_ticks([0, 5e8, 1e9, 1.5e9], "B", False), format_ticks([1e-6, 0.01, 1], "1", True)
    (['0', '0.5\xa0GB', '1\xa0GB', '1.5\xa0GB'], ['10⁻⁶', '10⁻²', '1'])
    """
    form = _find(unit)
    if not log:
        last = max(map(abs, values), default=0)
        return [format_tick(value, unit, last) for value in values]
    small = form.kind == "count" and any(_round(v * form.factor, 3)[1] < -4 for v in values)
    return [
        _power(*_round(value * form.factor, 3))
        if small and value * form.factor < 1
        else format_tick(value, unit)
        for value in values
    ]


def tick_step(unit: str, high: float) -> float:
    """Return the number that round values of an axis are multiples of.

    It is a minute, an hour or a day where the axis counts them, else 1.

    >>> tick_step("s", 1), tick_step("s", 7200), tick_step("s", 5e7), tick_step("token", 5e7)
    (1, 3600, 86400, 1)
    """
    long = (length for start, length, _ in _LONG_TIMES if unit == "s" and high >= start)
    return next(long, 1)


def round_times(low: float, high: float, most: int = 10) -> list[float]:
    r"""Return the round times within [low, high], in seconds: at most so many, if they can be few.

    They are decades of seconds, of minutes, of hours and of days; tripled where there are less than
    three, and only one of each kind where there are too many.

    >>> [format_value(t, "s") for t in round_times(1, 1e6)]
    ['1\xa0s', '10\xa0s', '1\xa0min', '10\xa0min', '1\xa0h', '10\xa0h', '1\xa0day', '10\xa0days']
    >>> [format_value(t, "s") for t in round_times(600, 7200)]
    ['10\xa0min', '30\xa0min', '1\xa0h']
    >>> [format_value(t, "s") for t in round_times(1e-3, 1e8, 6)]
    ['1\xa0ms', '1\xa0s', '1\xa0min', '1\xa0h', '1\xa0day', '100\xa0days']
    """
    long = [60.0, 600.0, 3600.0, 36_000.0]
    decades = [float(f"1e{e}") for e in range(-12, 2)] + long + [86_400.0 * 10**e for e in range(6)]
    single = [float(f"1e{e}") for e in (-12, -9, -6, -3, 0)]
    single += [60.0, 3600.0, 86_400.0, 8_640_000.0]
    tripled = [float(f"3e{e}") for e in range(-12, 2)]
    tripled += [180.0, 1800.0, 10_800.0, *(259_200.0 * 10**e for e in range(6))]

    def within(times: list[float]) -> list[float]:
        return [time for time in sorted(times) if low <= time <= high]

    found = within(decades)
    if len(found) < 3:
        found = within(decades + tripled)
    if len(found) > most:
        found = within(single)
    return found[:: math.ceil(len(found) / most) or 1]


def axis_hint(unit: str) -> str:
    """Return the unit as an axis title has it: " (sequences)".

    It is empty where the tick labels carry the unit.
    """
    hint = _find(unit).hint
    return f" ({hint})" if hint else ""


def names_unit(title: str, unit: str) -> bool:
    """Return whether a word of a title says the unit.

    >>> names_unit("Tokens served", "token"), names_unit("Tokens a second", "token/s")
    (True, True)
    """
    words = re.sub(" (a|per) second", "/s", title.lower()).split()
    return any(word and word.rstrip("s") == _find(unit).hint.lower().rstrip("s") for word in words)


def axis_title(title: str, unit: str) -> str:
    """Return an axis title with its unit, unless the tick labels or a word of the title say it.

    >>> (
    ...     axis_title("Batch", "sequence"),
    ...     axis_title("Time", "s"),
    ...     axis_title("Tokens served", "token"),
    ... )
    ('Batch (sequences)', 'Time', 'Tokens served')
    """
    return title if names_unit(title, unit) else title + axis_hint(unit)


def format_named(name: str, value: float, unit: str, digits: int = 3) -> str:
    r"""Return a value that stands beside its name, which may say what is counted.

    >>> format_named("Tokens of pre-training", 1.3e12, "token"), format_named("Batch", 2, "token")
    ('1.3\xa0trillion', '2\xa0tokens')
    """
    counted = _find(unit).kind == "count" and UNITS[unit].factor == 1 and names_unit(name, unit)
    return format_value(value, "1" if counted else unit, digits)
