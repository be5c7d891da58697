"""Values as people write them: "8 GB", "3.35 TB/s", "1667 bytes", "989 TFLOP/s".

>>> value, dimension = read("3.35 TB/s")
>>> value, str(dimension)
(3350000000000.0, 'byte/time')
>>> read("1.667e3 B") == read("1,667 bytes")
True
"""
from __future__ import annotations

import re

from .dimensions import NONE, Dimension

_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
             "m": 1e-3, "µ": 1e-6, "u": 1e-6, "n": 1e-9}
# Unit: size in SI, dimension, whether a prefix may stand before it.
_UNITS = {
    "B": (1.0, Dimension(byte=1), True), "byte": (1.0, Dimension(byte=1), False),
    "s": (1.0, Dimension(time=1), True), "second": (1.0, Dimension(time=1), False),
    "minute": (60.0, Dimension(time=1), False), "hour": (3600.0, Dimension(time=1), False),
    "FLOP": (1.0, Dimension(flop=1), True), "token": (1.0, Dimension(token=1), False),
    "sequence": (1.0, Dimension(sequence=1), False), "parameter": (1.0, Dimension(parameter=1), False),
    "chip": (1.0, Dimension(device=1), False), "device": (1.0, Dimension(device=1), False),
    "layer": (1.0, Dimension(layer=1), False), "$": (1.0, Dimension(dollar=1), False),
    "dollar": (1.0, Dimension(dollar=1), False), "bit": (1.0, Dimension(bit=1), False),
}
_NUMBER = re.compile(r"\s*([-+−]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)\s*(.*)")


class WrittenError(ValueError):
    """Text that is no value with a unit."""


def read(text: str) -> tuple[float, Dimension | None]:
    """The value in SI units and its dimension; None for a bare number, which fits any.

    >>> read("12 parsecs")
    Traceback (most recent call last):
    ...
    handful.written.WrittenError: 'parsecs' is no unit of this book; allowed: $, B, FLOP, bit, byte, chip, device, \
dollar, hour, layer, minute, parameter, s, second, sequence, token, with a prefix such as k, M, G, T, P or m where usual.
    """
    found = _NUMBER.fullmatch(text)
    if not found:
        raise WrittenError(f"{text!r} is no number; write one, with a unit if you like, such as 8 GB.")
    value = float(found[1].replace(",", "").replace("−", "-"))
    if not found[2].strip():
        return value, None
    dimension = NONE
    for sign, part in zip((1, -1, -1), found[2].strip().split("/")):
        factor, unit = _unit(part.strip())
        value, dimension = value * factor**sign, dimension * unit**sign
    return value, dimension


def _unit(text: str) -> tuple[float, Dimension]:
    for name in (text, text.removesuffix("s") if len(text) > 2 else text):
        if name in _UNITS:
            return _UNITS[name][:2]
        if name[1:] in _UNITS and name[0] in _PREFIXES and _UNITS[name[1:]][2]:
            size, dimension, _ = _UNITS[name[1:]]
            return size * _PREFIXES[name[0]], dimension
    raise WrittenError(f"{text!r} is no unit of this book; allowed: {', '.join(sorted(_UNITS))}, with a prefix such as "
                       "k, M, G, T, P or m where usual.")


def fits(written: Dimension, wanted: Dimension) -> bool:
    """Whether a written unit will do: people leave out "per sequence" and "per chip", and mean it.

    >>> fits(Dimension(token=1), Dimension(token=1, sequence=-1)), fits(Dimension(byte=1), Dimension(token=1))
    (True, False)
    """
    left_out = {base: power for base, power in wanted.powers if power < 0 and base in ("sequence", "device")}
    return written in (wanted, wanted / Dimension(**left_out))
