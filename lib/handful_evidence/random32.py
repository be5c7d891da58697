"""A small generator of uniform numbers, in the public domain.

It is the same to the last bit as the page's ``random.js``.
"""

from __future__ import annotations

from collections.abc import Callable


def mulberry32(seed: int) -> Callable[[], float]:
    """Return a small generator of uniform numbers in [0, 1).

    It is the same in Python and in the browser (public domain).

    >>> draw = mulberry32(1)
    >>> round(draw(), 6), round(draw(), 6)
    (0.627074, 0.002736)
    """
    state = seed & 0xFFFFFFFF

    def step() -> float:
        nonlocal state
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        t = state
        t = ((t ^ (t >> 15)) * (t | 1)) & 0xFFFFFFFF
        t ^= (t + ((t ^ (t >> 7)) * (t | 61) & 0xFFFFFFFF)) & 0xFFFFFFFF
        return ((t ^ (t >> 14)) & 0xFFFFFFFF) / 4294967296

    return step
