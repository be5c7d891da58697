"""Colours, dashes and ticks of still pictures; ``web/palette.css`` has the same colours."""

from __future__ import annotations

import math
from typing import Any

from handful.units import round_times, tick_step

# Dark enough for text on white; told apart by readers who do not see red and green (after Okabe and
# Ito).
PALETTE = ("#0068a8", "#b04456", "#0a401e", "#943b71", "#6b4d06", "#393b9a", "#627013", "#842946")


DASHES = ((), (7, 3), (2, 2), (10, 3, 2, 3), (5, 2, 1, 2, 1, 2), (12, 4), (4, 4), (1, 3))


INK, SOFT, GRID = "#1f2328", "#57606a", "#dfe3e8"


PLAIN: dict[Any, Any] = {
    "text.parse_math": False
}  # "$2 to $3" is words, not a formula between dollar signs


def ticks(low: float, high: float, log: bool, unit: str = "1", most: int = 6) -> list[float]:
    """Return few round values within [low, high], in base units.

    Long times are in minutes, hours and days.

    >>> ticks(0, 1, False), ticks(1, 1e4, True), ticks(30, 28800, True, "s")
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [1.0, 10.0, 100.0, 1000.0, 10000.0], [60.0, 600.0, 3600.0])
    """
    if log and unit == "s" and high >= 60:
        return round_times(low, high, most)
    step = tick_step(unit, high)
    return [step * value for value in _round_values(low / step, high / step, log, most)]


def _round_values(low: float, high: float, log: bool, most: int) -> list[float]:
    if not log:
        raw = (high - low) / most
        step = 10 ** math.floor(math.log10(raw)) if raw > 0 else 1
        step *= next(m for m in (1, 2, 5, 10) if m * step >= raw * 0.999)
        first = math.ceil(low / step - 1e-9)
        return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first >= 2:
        skip = math.ceil((last - first + 1) / most)
        return [float(f"1e{e}") for e in range(first, last + 1, skip)]
    found = [
        (m, float(f"{m}e{e}"))
        for e in range(first - 1, last + 1)
        for m in (1, 2, 5)
        if low * 0.999 <= float(f"{m}e{e}") <= high * 1.001
    ]
    if len(found) <= most:
        return [value for _, value in found]
    decades = [value for m, value in found if m == 1]
    return decades if len(decades) > 1 else [value for _, value in found[::2]]
