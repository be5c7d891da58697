"""The train: batches leave every T, full or not (the lecture, 22:30).

A request waits for the next departure that has a seat, first come first served, and then rides for one interval.
With a seat for everyone the wait is between 0 and T, so wait plus ride is 1.5 T on average and 2 T at worst.  With
limited seats a queue can form, and "2 T at worst" is no longer true at any load.

Three ways to the same numbers: ``simulate`` (a discrete-event simulation in simpy), ``depart`` (a recurrence, which
the page runs too), ``mean_delay`` and ``left_behind`` (exact, from the stationary queue).

>>> late = [arrival - 1e-9 for arrival in (0.02, 0.04)]            # just in time for a departure
>>> depart(late, interval=0.02, seats=1)
[0.02, 0.04]
>>> depart([0.001, 0.002, 0.003], interval=0.02, seats=1)          # one seat, three passengers
[0.02, 0.04, 0.06]
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from .. import balance
from ..random32 import mulberry32


class TrainError(ValueError):
    """A timetable that cannot run."""


def _check(interval: float, seats: int | None) -> None:
    if not 0 < interval < math.inf:
        raise TrainError(f"The interval must be above 0 seconds; got {interval}.")
    if seats is not None and (seats != int(seats) or seats < 1):
        raise TrainError(f"A train has a whole number of seats, 1 or more; got {seats}.")


def _check_load(load: float) -> None:
    if not 0 < load < 1:
        raise TrainError(f"The load must lie between 0 and 1 (at 1 the queue grows for ever); got {load}.")


def poisson_arrivals(rate: float, count: int, seed: int = 1) -> list[float]:
    """Times of `count` arrivals at `rate` a second, at random and independent of each other."""
    if not 0 < rate < math.inf or count < 1:
        raise TrainError(f"Arrivals want a rate above 0 and a count of 1 or more; got {rate} and {count}.")
    draw, clock, times = mulberry32(seed), 0.0, []
    for _ in range(count):
        # Unit exponentials are added up before they are scaled, as the page does, so that both agree to the bit.
        clock -= math.log(1 - draw())
        times.append(clock / rate)
    return times


def depart(arrivals: Sequence[float], interval: float, seats: int | None = None) -> list[float]:
    """When each request leaves, for arrivals in rising order; `seats` None means a seat for everyone.

    A request leaves with the first train after its arrival, and at least one train after the request `seats`
    places ahead of it: that is the whole recurrence.
    """
    _check(interval, seats)
    trains: list[int] = []
    for i, arrival in enumerate(arrivals):
        soonest = math.ceil(arrival / interval)
        trains.append(max(soonest, trains[i - seats] + 1) if seats is not None and i >= seats else soonest)
    return [train * interval for train in trains]


def delays(arrivals: Sequence[float], interval: float, seats: int | None = None) -> list[float]:
    """Wait plus ride of each request, in seconds."""
    leaves = depart(arrivals, interval, seats)
    return [leave - arrival + interval for arrival, leave in zip(arrivals, leaves)]


def simulate(arrivals: Sequence[float], interval: float, seats: int | None = None) -> list[float]:
    """Departures as `depart` gives them, by a simulation of the two processes: requests come, trains leave.

    >>> times = poisson_arrivals(rate=1000, count=500)
    >>> gap = max(abs(a - b) for a, b in zip(simulate(times, 0.02, 25), depart(times, 0.02, 25)))
    >>> gap < 1e-9
    True
    """
    import simpy

    _check(interval, seats)
    world, left = simpy.Environment(), [0.0] * len(arrivals)
    queue = simpy.Store(world)

    def come():
        for i, arrival in enumerate(arrivals):
            yield world.timeout(arrival - world.now)
            yield queue.put(i)

    def leave():
        gone, trip = 0, 0
        while gone < len(arrivals):
            trip += 1
            yield world.timeout(trip * interval - world.now)
            for _ in range(len(queue.items) if seats is None else min(seats, len(queue.items))):
                left[(yield queue.get())] = world.now
                gone += 1

    world.process(come())
    world.process(leave())
    world.run()
    return left


@lru_cache(maxsize=32)
def queue_left_behind(load: float, seats: int):
    """The stationary distribution of the number that a train leaves behind, as an array of probabilities.

    From one departure to the next the queue n becomes max(n + A − seats, 0) with A Poisson of mean load × seats.
    """
    import numpy as np
    from scipy.special import gammaln

    _check_load(load)
    _check(1.0, seats)
    mean = load * seats
    # The tail falls like exp(-θ n) with θ near 2 (1 - load) / load; 40 lengths leave less than 1e-15 outside.
    size = int(40 / (2 * (1 - load) / load)) + 4 * seats + 20
    if size > 6000:
        raise TrainError(f"A load of {load} with {seats} seats is too close to full for this solver; try a lower one.")
    counts = np.arange(size + seats)
    arrive = np.exp(counts * math.log(mean) - mean - gammaln(counts + 1))
    step = np.zeros((size, size))
    for n in range(size):
        ends = np.maximum(n + counts - seats, 0)
        np.add.at(step[n], np.minimum(ends, size - 1), arrive)
        step[n] /= step[n].sum()
    # π (P − I) = 0 with Σ π = 1 in the place of one of the equations.
    system = step.T - np.eye(size)
    system[-1] = 1.0
    right = np.zeros(size)
    right[-1] = 1.0
    return np.linalg.solve(system, right)


def mean_delay(interval: float, load: float, seats: int) -> float:
    """Mean wait plus ride in the steady state: half an interval, the extra trains missed (Little's law), the ride.

    >>> round(mean_delay(0.02, load=0.5, seats=40), 6)     # hardly anybody is left behind: 1.5 intervals
    0.03
    """
    import numpy as np

    _check(interval, seats)
    queue = queue_left_behind(load, seats)
    behind = float(queue @ np.arange(len(queue)))
    return balance.mean_delay(batch_interval=interval) + behind * interval / (load * seats)


def left_behind(load: float, seats: int, trains: int = 1) -> float:
    """Share of requests that see `trains` or more leave without them after they came.

    >>> left_behind(0.5, 40) < 1e-4 < left_behind(0.95, 40)
    True
    """
    import numpy as np

    queue = queue_left_behind(load, seats)
    n, mean = np.arange(len(queue)), load * seats
    counts = np.arange(int(mean + 12 * math.sqrt(mean) + 20))
    from scipy.special import gammaln

    arrive = np.exp(counts * math.log(mean) - mean - gammaln(counts + 1))
    threshold = trains * seats
    after = sum(p * float(queue @ np.maximum(n + a - threshold, 0)) for a, p in zip(counts, arrive))
    before = float(queue @ np.maximum(n - threshold, 0))
    return float(after - before) / mean


def compare(loads: Sequence[float] = (0.9, 0.95, 0.99), *, interval: float = 0.02, seats: int = 40,
            requests: int = 200_000, seed: int = 1) -> tuple[list[str], list[list[str]]]:
    """A table for the page: simulated mean, exact mean, worst seen, share left behind, for each load."""
    from ..units import format_value

    head = ["Load", "Mean, simulated", "Mean, exact", "99 of 100 within", f"Worst of {requests:,}", "Miss a train"]
    rows = []
    for load in loads:
        seen = sorted(delays(poisson_arrivals(load * seats / interval, requests, seed), interval, seats))
        rows.append([format_value(load, "%"), format_value(sum(seen) / len(seen), "s"),
                     format_value(mean_delay(interval, load, seats), "s"),
                     format_value(seen[math.ceil(0.99 * len(seen)) - 1], "s"), format_value(seen[-1], "s"),
                     format_value(left_behind(load, seats), "%", 2)])
    return head, rows
