"""Read values as people write them: "8 GB", "1667 bytes", "$2.10 per chip-hour".

Others are "3.35 TB/s" and "40 million tokens".

``parse_quantity.js`` reads the same text as the same value.

>>> value, dimension = read("3.35 TB/s")
>>> value, str(dimension)
(3350000000000.0, 'byte/time')
>>> read("1.667e3 B") == read("1,667 bytes") == read("1.667×10^3 B")
True
>>> read("3.29 × 10²⁴ FLOP")[0]  # as the book's own numbers stand
3.29e+24
>>> read("10²⁴ FLOP")[0], read("−10⁻⁶")[0]
(1e+24, -1e-06)
>>> read("47 600 tokens")[0], read("2 h 5 min")[0]  # thousands apart, and times in falling units
(47600.0, 7500.0)
>>> read("$0.27 per million tokens") == read("0.27 $/Mtoken"), read("3 chip-hours")[0]
(True, 10800.0)
>>> read("6,25 seconds")[0], read("1,667")[0], read("1.667,5")[0]  # a comma, two uses
(6.25, 1667.0, 1667.5)
"""

from __future__ import annotations

import math
import re

from .dimensions import NONE, Dimension

_PREFIXES = {
    "": 1.0,
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Z": 1e21,
    "Y": 1e24,
    "m": 1e-3,
    "µ": 1e-6,
    "μ": 1e-6,
    "u": 1e-6,
    "n": 1e-9,
    "p": 1e-12,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
}
_WORDS = {
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "quadrillion": 1e15,
    "bn": 1e9,
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
}
# Unit: size in SI, dimension, whether a prefix may stand before it.
_UNITS = {
    "B": (1.0, Dimension(byte=1), True),
    "byte": (1.0, Dimension(byte=1), True),
    "s": (1.0, Dimension(time=1), True),
    "sec": (1.0, Dimension(time=1), True),
    "second": (1.0, Dimension(time=1), False),
    "min": (60.0, Dimension(time=1), False),
    "minute": (60.0, Dimension(time=1), False),
    "h": (3600.0, Dimension(time=1), False),
    "hour": (3600.0, Dimension(time=1), False),
    "d": (86400.0, Dimension(time=1), False),
    "day": (86400.0, Dimension(time=1), False),
    "week": (604800.0, Dimension(time=1), False),
    "year": (31557600.0, Dimension(time=1), False),
    "FLOP": (1.0, Dimension(flop=1), True),
    "FLOPS": (1.0, Dimension(flop=1, time=-1), True),
    "OP": (1.0, Dimension(flop=1), True),
    "OPS": (1.0, Dimension(flop=1, time=-1), True),
    "token": (1.0, Dimension(token=1), True),
    "tok": (1.0, Dimension(token=1), True),
    "sequence": (1.0, Dimension(sequence=1), False),
    "request": (1.0, Dimension(sequence=1), False),
    "req": (1.0, Dimension(sequence=1), False),
    "parameter": (1.0, Dimension(parameter=1), False),
    "param": (1.0, Dimension(parameter=1), False),
    "weight": (1.0, Dimension(parameter=1), False),
    "chip": (1.0, Dimension(device=1), False),
    "device": (1.0, Dimension(device=1), False),
    "GPU": (1.0, Dimension(device=1), False),
    "layer": (1.0, Dimension(layer=1), False),
    "$": (1.0, Dimension(dollar=1), False),
    "dollar": (1.0, Dimension(dollar=1), False),
    "USD": (1.0, Dimension(dollar=1), False),
    "cent": (0.01, Dimension(dollar=1), False),
    "bit": (1.0, Dimension(bit=1), True),
    "b": (1.0, Dimension(bit=1), True),
    "bps": (1.0, Dimension(bit=1, time=-1), True),
    "J": (1.0, Dimension(energy=1), True),
    "joule": (1.0, Dimension(energy=1), False),
    "Wh": (3600.0, Dimension(energy=1), True),
    "W": (1.0, Dimension(energy=1, time=-1), True),
    "watt": (1.0, Dimension(energy=1, time=-1), False),
    "%": (0.01, NONE, False),
    "times": (1.0, NONE, False),
    "fold": (1.0, NONE, False),
    "x": (1.0, NONE, False),
    "×": (1.0, NONE, False),
}
_SPELLED = {
    "kilo": 1e3,
    "mega": 1e6,
    "giga": 1e9,
    "tera": 1e12,
    "peta": 1e15,
    "milli": 1e-3,
    "micro": 1e-6,
    "nano": 1e-9,
}
SHOWN = (
    "$, B, FLOP, FLOP/s, J, W, Wh, bit, chip, day, hour, layer, minute, parameter, s, sequence, "
    "token, %, "
    "with a prefix such as k, M, G, T, P, m "
    "or µ where usual"
)
_NUMBER = re.compile(
    r"([-+−]?)\s*(\$?)\s*([-+−]?)((?:[0-9][0-9.,]*|\.[0-9]+)(?:[eE][-+−]?[0-9]+)?)"
    r"(?:\s*[×x*·]\s*10\s*(?:\^|\*\*)\s*([-+−]?[0-9]+))?\s*(.*)",
    re.S,
)
# Groups of three apart, by a space or a narrow one.
_GAP = r"[ \u00a0\u2009\u202f]"
_APART = re.compile(rf"^([-+−$\s]*[0-9]{{1,3}}(?:{_GAP}[0-9]{{3}})+)(?![0-9])(?!{_GAP}[0-9])")
_TIME = r"([0-9][0-9.,]*)\s*([A-Za-z]+)"
_TIMES = re.compile(rf"{_TIME}(?:,?\s*(?:and\s+)?{_TIME})+")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_BILLIONS = re.compile(r"^([-+−]?[0-9][0-9.,]*)\s*B$")
LONGEST = 80  # characters
COUNTED = (
    "sequence",
    "device",
    "token",
    "parameter",
    "layer",
)  # prices are of tokens by the million: there only the first two


class WrittenError(ValueError):
    """Text that is no value with a unit."""


def read(text: str) -> tuple[float, Dimension | None]:
    """Return the value in SI units and its dimension.

    The dimension is None for a bare number, which fits any.

    Raises WrittenError for any other text.

    Parameters
    ----------
    text : str
        A number, commas and powers of ten allowed, and a unit, as a fraction or with "per"; at most
        80 characters.
    >>> read("12 parsecs")
    Traceback (most recent call last):
    ...
    handful.symbolic.parse_quantity.WrittenError: 'parsecs' is no unit of this book; allowed: $, B,
    FLOP, FLOP/s, J, W, Wh, bit, chip, day, hour, layer, minute, parameter, s, sequence, token, %,
    with a prefix such as k, M, G, T, P, m or µ where usual.
    """
    text = text.strip()
    if len(text) <= LONGEST and (seconds := _sum_of_times(text)) is not None:
        return _finite(seconds, text), Dimension(time=1)
    plain = re.sub(r"10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", lambda m: "10^" + m[1].translate(_RAISED), text)
    plain = re.sub(r"^([-+−$ ]*)10 *(?=\^|\*\*)", r"\g<1>1×10", plain)
    plain = _APART.sub(lambda m: re.sub(rf"(?<=[0-9]){_GAP}(?=[0-9])", "", m[1]), plain)
    found = _NUMBER.fullmatch(plain) if len(text) <= LONGEST else None
    digits = _with_point(found[4]) if found else None
    if not found or digits is None:
        raise WrittenError(f"{text[:LONGEST]!r} is no number; write one such as 12, 2.5e6 or 8 GB.")
    sign, dollars, inner, _, power, unit = found.groups()
    value = float(digits.replace("−", "-")) * (
        float("1e" + power.replace("−", "-")) if power else 1.0
    )
    if (sign in "-−" and sign != "") != (inner in "-−" and inner != ""):
        value = -value
    unit = ("$ " if dollars else "") + re.sub(r"\bper\s?cent\b", "%", unit)
    unit = re.sub(r"^B\s*(?=param|weight)", "billion ", unit)
    unit = re.sub(
        r"\s+per\s+|\s+a\s+(?=chip|token|second|hour|day|layer|sequence)", "/", f" {unit.strip()} "
    ).strip()
    if not unit:
        return _finite(value, text), None
    dimension, seen = NONE, False
    over, *under = unit.split("/")
    if not all(part.strip() for part in under):
        raise WrittenError(f"{text!r} ends where a unit should stand; write one such as TB/s.")
    for power, part in [(1, over), *((-1, part) for part in under)]:
        for name in filter(None, re.split(r"[\s·*-]+", part)):
            if name in _WORDS:
                factor = _WORDS[name]
            else:
                factor, unit_dimension = _unit(name)
                dimension, seen = dimension * unit_dimension**power, True
            value = value * factor if power > 0 else value / factor
    return _finite(value, text), dimension if seen else None


def read_as(text: str, wanted: Dimension) -> tuple[float, Dimension | None]:
    """Return what `read` does, where it is known what is wanted.

    Where bytes are wanted, bits are an eighth of one; where parameters or tokens are, the B of
    "70B" is a billion.

    >>> parameters, rate = Dimension(parameter=1), Dimension(byte=1, time=-1, device=-1)
    >>> read_as("70B", parameters)[0], read("70B")[0], read_as("400 Gb/s", rate)[0]
    (70000000000.0, 70.0, 50000000000.0)
    """
    powers = dict(wanted.powers)
    if powers.get("parameter", 0) == 1 or powers.get("token", 0) == 1:
        text = _BILLIONS.sub(r"\1 billion", text.strip())
    value, dimension = read(text)
    bits = dict(dimension.powers).get("bit", 0) if dimension is not None else 0
    if dimension is not None and bits and bits == powers.get("byte", 0):
        value, dimension = value / 8**bits, dimension * Dimension(byte=1, bit=-1) ** bits
    return value, dimension


def _sum_of_times(text: str) -> float | None:
    """Return the seconds of "2 h 5 min" or "1 day, 3 hours and 20 minutes"; None for other text.

    Each unit has to be smaller than the one before.
    """
    if not _TIMES.fullmatch(text):
        return None
    total, before = 0.0, math.inf
    for written, name in re.findall(_TIME, text):
        digits = _with_point(written)
        try:
            size, dimension = _unit(name)
        except WrittenError:
            return None
        if digits is None or dimension != Dimension(time=1) or not size < before:
            return None
        total, before = total + float(digits) * size, size
    return total


def _with_point(digits: str) -> str | None:
    """Return a number's digits with a point for decimals and no other mark; None for no number.

    Of a point and a comma the last is for decimals. A comma alone before three digits is not,
    unless nothing but a nought stands before it; nor is a mark that comes twice.
    """
    exponent = digits.lstrip("0123456789.,")
    number = digits.removesuffix(exponent)
    mark = max(".,", key=number.rfind)
    if mark not in number:
        return digits
    whole, _, rest = number.rpartition(mark)
    alone = mark not in whole
    before = mark == "," and whole.strip("0") != "" and "." not in whole
    if len(rest) == 3 and (before or not alone):
        whole, rest = number, ""
    elif not alone:
        return None
    first, *others = re.split("[.,]", whole)
    if others and not (first and all(len(part) == 3 for part in others)):
        return None
    if "." in whole and "," in whole:
        return None
    return first + "".join(others) + (f".{rest}" if rest else "") + exponent


def _finite(value: float, text: str) -> float:
    if not math.isfinite(value):
        raise WrittenError(f"{text!r} is too large to compute with.")
    return value


def _unit(text: str) -> tuple[float, Dimension]:
    for name in (text, text.removesuffix("s") if len(text) > 2 else text):
        if name in _UNITS:
            return _UNITS[name][:2]
        for length in (1, 2):
            if name[length:] in _UNITS and name[:length] in _PREFIXES and _UNITS[name[length:]][2]:
                size, dimension, _ = _UNITS[name[length:]]
                return size * _PREFIXES[name[:length]], dimension
        for prefix, factor in _SPELLED.items():
            rest = name.lower().removeprefix(prefix)
            if name.lower() == prefix + rest and rest in (
                "byte",
                "second",
                "bit",
                "token",
                "joule",
                "watt",
            ):
                return factor, _UNITS[rest][1]
    raise WrittenError(f"{text!r} is no unit of this book; allowed: {SHOWN}.")


_UNSAID = {
    Dimension(sequence=1, time=-1): Dimension(time=-1),
    Dimension(device=1, time=1): Dimension(time=1),
}


def fits(written: Dimension, wanted: Dimension) -> bool:
    """Return whether a written unit will do for a wanted one.

    People leave out "per token" and "per chip", say six a second of requests, and hours of
    chip-hours, and mean it.

    >>> (
    ...     fits(Dimension(byte=1), Dimension(byte=1, token=-1)),
    ...     fits(Dimension(byte=1), Dimension(token=1)),
    ...     fits(Dimension(time=-1), Dimension(sequence=1, time=-1)),
    ... )
    (True, False, True)
    >>> fits(
    ...     Dimension(dollar=1), Dimension(dollar=1, token=-1)
    ... )  # $3 are hardly ever dollars a token
    False
    """
    powers = dict(wanted.powers)
    left_out = {
        base: power
        for base, power in powers.items()
        if power < 0 and base in COUNTED[: 2 if "dollar" in powers else None]
    }
    return written in (wanted, wanted / Dimension(**left_out), _UNSAID.get(wanted))
