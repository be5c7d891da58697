"""Play a training run that fails at random, and goes on from its last checkpoint.

``handful.reliability`` has the closed forms.

>>> run(8.0, interval=2.0, checkpoint_time=0.5, restart_time=1.0, failures_at=[5.5])
Run(time=11.5, failures=1)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..random32 import mulberry32


class RunError(ValueError):
    """An error for a run that never ends."""


class Run(NamedTuple):
    """The time of a run in all, and how often it failed."""

    time: float
    failures: int


def random_failures(devices: int, device_mean: float, seed: int = 1) -> Iterator[float]:
    """Yield the times at which any of so many devices fails, each with a clock of its own.

    A device that has failed is replaced at once by one that fails as often.

    >>> times = list(itertools.islice(random_failures(4, device_mean=4.0), 5000))
    >>> round(times[-1] / 5000, 1)  # four times as often as one device
    1.0
    """
    draw = mulberry32(seed)

    def life() -> float:
        return -device_mean * math.log(1 - draw())

    next_failures = [life() for _ in range(devices)]
    while True:
        first = min(range(devices), key=next_failures.__getitem__)
        yield next_failures[first]
        next_failures[first] += life()


def run(
    work: float,
    *,
    interval: float,
    checkpoint_time: float,
    restart_time: float,
    failures_at: Iterable[float],
) -> Run:
    """Return what a run takes until `work`, in seconds of training, is done and saved.

    Parameters
    ----------
    work, interval : float
        Seconds of training in all, and between two checkpoints; the last interval may be shorter.
    checkpoint_time, restart_time : float
        Seconds to write a checkpoint, and from a failure until training goes on.
    failures_at : iterable of float
        When something fails, in increasing order, such as `random_failures`.

    What fails during a restart makes it begin again.  Raises RunError.
    """
    if not (0 < interval < math.inf and 0 <= work < math.inf):
        raise RunError(f"A run wants intervals above 0 and finite work; got {interval} and {work}.")
    to_come = itertools.chain(failures_at, itertools.repeat(math.inf))
    failure = next(to_come)
    clock, done, failed, ready = 0.0, 0.0, 0, True
    while done < work:
        part = min(interval, work - done)
        ends = clock + (part + checkpoint_time if ready else restart_time)
        if failure < ends:
            clock, ready, failed = failure, False, failed + 1
            failure = next(to_come)
            continue
        clock = ends
        if ready:
            done += part
        ready = True
    return Run(clock, failed)
