"""A small generator of uniform numbers, in the public domain.

It is the same to the last bit as the page's ``random.js``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_STEP = 0x6D2B79F5


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
        state = (state + _STEP) & 0xFFFFFFFF
        t = state
        t = ((t ^ (t >> 15)) * (t | 1)) & 0xFFFFFFFF
        t ^= (t + ((t ^ (t >> 7)) * (t | 61) & 0xFFFFFFFF)) & 0xFFFFFFFF
        return ((t ^ (t >> 14)) & 0xFFFFFFFF) / 4294967296

    return step


def uniforms(seed: int, count: int) -> np.ndarray:
    """Return the first `count` numbers of ``mulberry32(seed)``, as an array.

    >>> draw = mulberry32(7)
    >>> uniforms(7, 3).tolist() == [draw(), draw(), draw()]
    True
    """
    import numpy as np

    low = np.uint32(0xFFFFFFFF)
    state = (np.arange(1, count + 1, dtype=np.uint64) * _STEP + (seed & 0xFFFFFFFF)) & low
    t = state.astype(np.uint32)
    t = (t ^ (t >> np.uint32(15))) * (t | np.uint32(1))
    t ^= t + (t ^ (t >> np.uint32(7))) * (t | np.uint32(61))
    return (t ^ (t >> np.uint32(14))) / 4294967296
