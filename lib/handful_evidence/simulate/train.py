"""Simulate decode steps as trains that leave at fixed intervals (the lecture, 22:30).

A train leaves every T, full or not, and an answer keeps its seat.  A request waits for the next
departure at which a seat is free, first come first served.  From then on it rides every train, a
token on each, until its answer ends: a seat is held for as many intervals as the answer has tokens.
So only the first token is waited for, and it takes the wait and one interval.  While a seat is
free, that is between T and 2 T, and 1.5 T on average.  When none is, a request waits until answers
of others end.

Three ways to the same numbers: ``simulate`` (a discrete-event simulation in simpy), ``depart`` (a
recurrence, which the page runs too), and the exact queue for lengths without memory:
``mean_delay``, ``left_behind``, ``delay_bound``.  For many tokens an answer it turns into the queue
M/M/c, which ``handful.queueing`` solves.

>>> late = [arrival - 1e-9 for arrival in (0.02, 0.04)]  # just in time for a departure
>>> depart(late, interval=0.02, seats=1)
[0.02, 0.04]
>>> depart([0.001, 0.002, 0.003], interval=0.02, seats=1)  # one seat, three answers of one token
[0.02, 0.04, 0.06]
>>> depart([0.001, 0.002, 0.003], interval=0.02, seats=1, tokens=[5, 1, 1])
[0.02, 0.12, 0.14]
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist, fmean
from typing import NamedTuple

from handful import balance

from ..random32 import mulberry32

LARGEST = 5e9  # operations that the exact queue may take


class TrainError(ValueError):
    """An error for a timetable that cannot run."""


def _check(interval: float, seats: int | None) -> None:
    if not 0 < interval < math.inf:
        raise TrainError(f"The interval must be above 0 seconds; got {interval}.")
    if seats is not None and (seats != int(seats) or seats < 1):
        raise TrainError(f"A train has a whole number of seats, 1 or more; got {seats}.")


def _check_load(load: float) -> None:
    if not 0 < load < 1:
        raise TrainError(
            f"The load must lie between 0 and 1 (at 1 the queue grows for ever); got {load}."
        )


def _check_tokens(mean: float) -> None:
    if not 1 <= mean < math.inf:
        raise TrainError(f"An answer has 1 token or more on average; got {mean}.")


@lru_cache(maxsize=6)
def _exponentials(count: int, seed: int) -> tuple[float, ...]:
    draw = mulberry32(seed)
    return tuple(-math.log(1 - draw()) for _ in range(count))


def poisson_arrivals(rate: float, count: int, seed: int = 1) -> list[float]:
    """Return the times of `count` arrivals of a Poisson process with `rate` arrivals per second."""
    if not 0 < rate < math.inf or count < 1:
        raise TrainError(
            f"Arrivals want a rate above 0 and a count of 1 or more; got {rate} and {count}."
        )
    clock, times = 0.0, []
    for gap in _exponentials(count, seed):
        # Unit exponentials are added up before they are scaled, as the page does, so that both
        # agree to the bit.
        clock += gap
        times.append(clock / rate)
    return times


def answer_lengths(
    mean: float, count: int, seed: int = 2, spread: float | None = None
) -> list[int]:
    """Return the lengths of `count` answers in tokens, each a whole number, 1 or more.

    Parameters
    ----------
    mean : float
        Tokens of an answer on average, 1 or more.
    spread : float, optional
        Without it lengths are geometric: every token is the last one with the same chance, so that
        the standard deviation is nearly the mean.  With it they are log-normal, rounded up, and
        their standard deviation is `spread` times the mean (above 0; for means of some tens and
        more, where rounding does no harm).

    >>> lengths = answer_lengths(200, 20_000)
    >>> abs(fmean(lengths) - 200) < 3 * 200 / 20_000**0.5, min(lengths), answer_lengths(1, 3)
    (True, 1, [1, 1, 1])
    """
    _check_tokens(mean)
    if spread is None:
        if mean == 1:
            return [1] * count
        hazard = -math.log1p(-1 / mean)
        return [max(1, math.ceil(unit / hazard)) for unit in _exponentials(count, seed)]
    if not 0 < spread < math.inf:
        raise TrainError(f"The spread of lengths must be above 0; got {spread}.")
    width = math.sqrt(math.log1p(spread**2))
    normal = NormalDist(math.log(mean - 0.5) - width**2 / 2, width)
    draw = mulberry32(seed)
    return [max(1, math.ceil(math.exp(normal.inv_cdf(draw() + 2**-33)))) for _ in range(count)]


def _lengths(tokens: int | Sequence[int], count: int) -> Sequence[int]:
    lengths = [tokens] * count if isinstance(tokens, int) else tokens
    if len(lengths) < count or any(length != int(length) or length < 1 for length in lengths):
        raise TrainError(
            "Every request needs the tokens of its answer, a whole number of 1 or more."
        )
    return lengths


def depart(
    arrivals: Sequence[float],
    interval: float,
    seats: int | None = None,
    tokens: int | Sequence[int] = 1,
    aboard: Sequence[int] = (),
) -> list[float]:
    """Return when each request boards, in seconds, for arrivals in rising order.

    Parameters
    ----------
    arrivals : sequence of float
        Times in seconds, above 0.
    interval : float
        Seconds between departures; the first leaves at `interval`.
    seats : int, optional
        None means a seat for everyone.
    tokens : int or sequence of int
        Tokens of each answer, 1 or more: for so many departures it keeps its seat.
    aboard : sequence of int
        Tokens that are still to come for those who sit already when the clock starts, at most
        `seats` of them.

    A request boards the first train after its arrival, or the one before which the next seat falls
    free, whichever is later: that is the whole recurrence.  Raises TrainError.
    """
    _check(interval, seats)
    lengths = _lengths(tokens, len(arrivals))
    soonest = [math.ceil(arrival / interval) for arrival in arrivals]
    if seats is None:
        return [train * interval for train in soonest]
    if len(aboard) > seats:
        raise TrainError(f"No more than {seats} can sit in {seats} seats; got {len(aboard)}.")
    free_at = [
        *aboard,
        *[0] * (seats - len(aboard)),
    ]  # for each seat the train before which it falls free
    heapq.heapify(free_at)
    leaves = []
    for train, length in zip(soonest, lengths, strict=False):
        train = max(train, free_at[0])
        heapq.heapreplace(free_at, train + length)
        leaves.append(train * interval)
    return leaves


def delays(
    arrivals: Sequence[float],
    interval: float,
    seats: int | None = None,
    tokens: int | Sequence[int] = 1,
    aboard: Sequence[int] = (),
) -> list[float]:
    """Return the time of each request to its first token in seconds, the wait plus one interval.

    Inputs are those of `depart`.
    """
    leaves = depart(arrivals, interval, seats, tokens, aboard)
    return [leave - arrival + interval for arrival, leave in zip(arrivals, leaves, strict=True)]


def simulate(
    arrivals: Sequence[float],
    interval: float,
    seats: int | None = None,
    tokens: int | Sequence[int] = 1,
    aboard: Sequence[int] = (),
) -> list[float]:
    """Return departures as `depart` gives them, by a discrete-event simulation.

    >>> times, lengths = poisson_arrivals(rate=50, count=500), answer_lengths(20, 500)
    >>> gap = max(
    ...     abs(a - b)
    ...     for a, b in zip(simulate(times, 0.02, 25, lengths), depart(times, 0.02, 25, lengths))
    ... )
    >>> gap < 1e-9
    True
    """
    import simpy

    _check(interval, seats)
    lengths = _lengths(tokens, len(arrivals))
    world, left = simpy.Environment(), [0.0] * len(arrivals)  # its clock counts intervals
    queue, taken = simpy.Store(world), 0

    def vacate(_event) -> None:
        nonlocal taken
        taken -= 1

    def sit(length: int) -> None:
        nonlocal taken
        taken += 1
        world.timeout(length).callbacks.append(vacate)

    def come():
        for i, arrival in enumerate(arrivals):
            yield world.timeout(arrival / interval - world.now)
            yield queue.put(i)

    def leave():
        gone = 0
        while gone < len(arrivals):
            # Asked for after the answers of this train have been, so that those who get off go
            # first.
            yield world.timeout(1)
            while queue.items and (seats is None or taken < seats):
                request = yield queue.get()
                left[request] = world.now * interval
                sit(lengths[request])
                gone += 1

    for length in aboard:
        sit(length)
    world.process(come())
    done = world.process(leave())
    world.run(done)
    return left


# The exact queue ----------------------------------------------------------------------------------


def _poisson(mean: float):
    """Return the probabilities of 0, 1, 2, … arrivals, up to where they are negligible."""
    import numpy as np
    from scipy.special import gammaln

    counts = np.arange(int(mean + 12 * math.sqrt(mean) + 21))
    found = np.exp(counts * math.log(mean) - mean - gammaln(counts + 1))
    return found / found.sum()


def _binomial(trials, share: float, most: int):
    """Return the probabilities that 0 … `most` answers end, a row for each number of trials."""
    import numpy as np
    from scipy.special import gammaln

    trials, ends = np.asarray(trials)[:, None], np.arange(most + 1)
    if share == 1:
        return (ends == trials).astype(float)
    stay = np.maximum(trials - ends, 0)
    found = np.exp(
        gammaln(trials + 1)
        - gammaln(ends + 1)
        - gammaln(stay + 1)
        + ends * math.log(share)
        + stay * math.log1p(-share)
    ) * (ends <= trials)
    return found / found.sum(axis=1, keepdims=True)


@lru_cache(maxsize=32)
def _present(load: float, seats: int, tokens: float):
    """Return counts of requests, seated or waiting, and two steady-state distributions over them.

    The first is that just after a departure, the second that of those who are still there just
    before the next one lets the newcomers on.  Of n present min(n, seats) ride; each of their
    answers ends with the chance 1/tokens, and a Poisson number arrives.  That is a chain with one
    state variable, and small steps: its matrix is a band.
    """
    import numpy as np
    from scipy.linalg import solve_banded

    _check_load(load)
    _check(1.0, seats)
    _check_tokens(tokens)
    end, wanted = 1 / tokens, load * seats
    arrive = _poisson(wanted * end)
    # Below, the distribution falls as a Poisson one does; above, like exp(-θ n), and 40 lengths
    # leave 1e-15 outside.
    theta = 2 * (1 - load) / (load + 1 - end)
    counts = np.arange(
        max(0, int(wanted - 10 * math.sqrt(wanted) - 10)), seats + int(40 / theta) + len(arrive)
    )
    up, most = len(arrive) - 1, int(seats * end + 12 * math.sqrt(seats * end * (1 - end)) + 20)
    down, size = min(seats, most), len(counts)
    if size * (up + down) ** 2 > LARGEST:
        raise TrainError(
            f"A load of {load} with {seats} seats is too close to full for this solver; try a "
            "lower one."
        )
    ended = _binomial(np.minimum(counts, seats), end, down)
    # Row j, column i of the transposed matrix, minus one on the diagonal, as a band: place [down +
    # j - i, i].
    band = np.zeros((down + up + 1, size))
    steps = np.arange(-down, up + 1)
    for i in range(size):
        ends_at = np.clip(i + steps, 0, size - 1)
        np.add.at(band[:, i], down + ends_at - i, np.convolve(ended[i][::-1], arrive))
    band[down] -= 1
    # One equation follows from the others.  In its place the likeliest state gets the weight 1,
    # until all are scaled.
    likeliest = int(wanted - counts[0])
    reach = np.arange(max(0, likeliest - up), min(size, likeliest + down + 1))
    band[down + likeliest - reach, reach] = 0
    band[down, likeliest] = 1
    after = solve_banded((up, down), band, np.eye(1, size, likeliest)[0])
    after /= after.sum()
    still = np.zeros(size)
    for gone in range(down + 1):
        np.add.at(still, np.maximum(np.arange(size) - gone, 0), after * ended[:, gone])
    return counts, after, still


def queue_left_behind(load: float, seats: int, tokens: float = 1):
    """Return the stationary distribution of the number that a train leaves behind.

    It is an array of probabilities.

    Parameters are those of `left_behind`.  With answers of one token the queue n becomes max(n + A
    − seats, 0) from one departure to the next, with A Poisson of mean load × seats.
    """
    import numpy as np

    counts, after, _ = _present(load, seats, tokens)
    return np.bincount(np.maximum(counts - seats, 0), weights=after)


def mean_delay(interval: float, load: float, seats: int, tokens: float = 1) -> float:
    """Return the mean time to a first token in seconds.

    It is half an interval, the trains missed (Little's law), and the ride.

    Parameters are those of `left_behind`, and the interval in seconds.

    >>> round(
    ...     mean_delay(0.02, load=0.5, seats=40), 6
    ... )  # hardly anybody is left behind: 1.5 intervals
    0.03
    """
    import numpy as np

    _check(interval, seats)
    queue = queue_left_behind(load, seats, tokens)
    behind = float(queue @ np.arange(len(queue)))
    return balance.mean_delay(batch_interval=interval) + behind * interval * tokens / (load * seats)


def left_behind(load: float, seats: int, trains: int = 1, tokens: float = 1) -> float:
    """Return the share of requests that see `trains` or more leave without them after they came.

    Parameters
    ----------
    load : float
        Seats wanted on average over those that there are, between 0 and 1: arrivals an interval
        times the tokens of an answer, over `seats`.
    seats : int
        Sequences in a train, 1 or more.
    trains : int
        1 or more.
    tokens : float
        Tokens of an answer on average, 1 or more.  Lengths are geometric, and 1 makes all of them
        one token long.

    Exact up to 1e-12 or so.  Raises TrainError.

    >>> left_behind(0.5, 40) < 1e-4 < left_behind(0.95, 40)
    True
    >>> [round(left_behind(load, 2000, tokens=211), 3) for load in (0.9, 0.95, 0.99)]
    [0.0, 0.011, 0.521]
    """
    import numpy as np

    counts, after, still = _present(load, seats, tokens)
    # The q-th in line boards once q seats have been given up, and while there is a line all seats
    # are taken.
    given_up = int(trains - 1) * seats
    if tokens == 1:
        passed, chance = np.array([given_up]), np.ones(1)
    else:
        middle, wide = given_up / tokens, 12 * math.sqrt(given_up / tokens) + 20
        first = max(0, int(middle - wide))
        passed = np.arange(first, min(given_up, int(middle + wide)) + 1)
        chance = _binomial([given_up], 1 / tokens, int(passed[-1]))[0][first:]
    line = np.maximum(counts - seats, 0)
    most = int(line[-1])
    if most <= passed[0]:
        return 0.0
    behind = np.maximum(np.arange(most + 1)[:, None] - passed, 0) @ chance
    return float((after - still) @ behind[line]) * tokens / (load * seats)


def delay_bound(
    interval: float, load: float, seats: int, tokens: float = 1, share: float = 0.99
) -> float:
    """Return the least time within which `share` of the requests get a first token.

    It is a whole number of intervals, in seconds.

    Parameters are those of `left_behind`; `share` lies between 0 and 1.  A request that misses k
    trains gets its first token within k + 2 intervals.

    >>> delay_bound(0.02, load=0.5, seats=40)
    0.04
    """
    if not 0 < share < 1:
        raise TrainError(f"The share must lie between 0 and 1; got {share}.")
    low, high = 0, 1  # left_behind(load, seats, high) is to be at most 1 - share
    while left_behind(load, seats, high, tokens) > 1 - share:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high)
            if left_behind(load, seats, middle, tokens) > 1 - share
            else (low, middle)
        )
    return (high + 1) * interval


class Load(NamedTuple):
    """Hold what a load does to requests: shares of 1 that miss their train, times in seconds."""

    load: float
    missed: float  # exact, for geometric lengths
    missed_simulated: float
    missed_uneven: float  # simulated, for log-normal lengths
    mean_delay: float  # exact
    delay_bound: float  # which 99 of 100 keep within


def compare(
    loads: Sequence[float] = (0.9, 0.95, 0.97, 0.99),
    *,
    interval: float = 0.02,
    seats: int = 2000,
    tokens: int = 211,
    spread: float = 2.15,
    requests: int = 400_000,
    seed: int = 1,
) -> list[Load]:
    """Return theory and simulation for each load.

    The share that misses its train, exact and simulated for geometric lengths, and simulated for
    log-normal ones whose standard deviation is `spread` times their mean; the exact mean delay; and
    what 99 of 100 keep within.  A run begins with the seats taken that are wanted on average, and
    its first tenth does not count.
    """
    even = answer_lengths(tokens, requests, seed + 1)
    uneven = answer_lengths(tokens, requests, seed + 1, spread)
    unit, aboard = poisson_arrivals(1.0, requests, seed), answer_lengths(tokens, seats, seed + 2)
    first = requests // 10

    def missed(load: float, lengths: Sequence[int]) -> float:
        rate = load * seats / interval / fmean(lengths)
        arrivals = [time / rate for time in unit]
        leaves = depart(arrivals, interval, seats, lengths, aboard[: int(load * seats)])
        counted = zip(leaves[first:], arrivals[first:], strict=True)
        return sum(leave - arrival > interval for leave, arrival in counted) / (requests - first)

    return [
        Load(
            load,
            left_behind(load, seats, 1, tokens),
            missed(load, even),
            missed(load, uneven),
            mean_delay(interval, load, seats, tokens),
            delay_bound(interval, load, seats, tokens),
        )
        for load in loads
    ]
