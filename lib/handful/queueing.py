"""Waiting for one of many seats: Erlang's formulas, and how many seats to keep spare.

They are about the lecture at 22:30.

Requests come at random, and each holds a seat for as long as its answer takes.  With room for
everyone the seats taken would have a Poisson distribution, whatever the distribution of the
answers' lengths; ``seat_margin`` says how many of its standard deviations are kept spare.  With a
limit on the seats a queue forms: ``erlang_c`` is its exact solution in continuous time, for holding
times without memory.  Trains that leave on a clock are in ``handful_evidence.simulate.train``.

>>> round(seat_margin(seats=2000, load=0.95), 2)
2.29
>>> round(erlang_c(2000, 1900), 4)  # about one request in 75 finds every seat taken
0.0134
>>> round(
...     seat_wait(seats=2000, load=0.95, answer_tokens=211, batch_interval=0.02), 4
... )  # and waits for 42 ms
0.0422
"""

from __future__ import annotations

import math

from sympy import sqrt

from .symbolic import quantities as q
from .symbolic.formula import Formula

T, new, n, rho, L = (
    quantity.symbol
    for quantity in (q.batch_interval, q.new_tokens_per_sequence, q.seats, q.load, q.answer_tokens)
)


class QueueError(ValueError):
    """A queue that is impossible, or that never settles."""


seat_margin = Formula(
    q.seat_margin,
    (1 - rho) * sqrt(n / rho),
    source="derived; square-root staffing, Halfin and Whitt 1981",
    meaning="spare seats over the standard deviation of the seats wanted, which is the root of "
    "their mean",
    conventions=(
        "requests come at random and independently of each other",
        "with a seat for everyone the number taken is Poisson, however long the answers are",
    ),
)

seat_wait = Formula(
    q.seat_wait,
    L * T / (new * n * (1 - rho)),
    source="Erlang 1917: the queue M/M/c",
    meaning="mean wait of those who find every seat taken, in a queue in order of arrival",
    known_as=("M/M/c wait of those who queue", "wait for a free slot", "Erlang C"),
    conventions=(
        "the mean over all requests is this times the chance of finding every seat taken, which "
        "handful.queueing.erlang_c computes",
        "requests come at random",
        "lengths of answers without memory: more uneven ones wait longer",
        "in continuous time: the wait for the clock comes on top",
    ),
)


def _check(seats: int, wanted: float) -> None:
    if seats != int(seats) or seats < 1:
        raise QueueError(f"The number of seats must be whole, 1 or more; got {seats}.")
    if not 0 < wanted < math.inf:
        raise QueueError(f"The seats wanted on average must be above 0 and finite; got {wanted}.")


def erlang_b(seats: int, wanted: float) -> float:
    """Return the share of requests that find every seat taken, if nobody waits (Erlang 1917).

    Parameters
    ----------
    seats : int
        How many there are, 1 or more.
    wanted : float
        Rate of arrivals times mean holding time, above 0: the seats that would be taken on average
        if there were no limit; in telephony, the offered load in erlangs.

    The share holds for any distribution of the holding times with that mean.  The recurrence over
    the number of seats has positive terms only, so that nothing cancels and nothing overflows.
    Raises QueueError.

    >>> erlang_b(1, 0.25)  # one line: a / (1 + a)
    0.2
    """
    _check(seats, wanted)
    share = 1.0
    for taken in range(1, int(seats) + 1):
        share = wanted * share / (taken + wanted * share)
    return share


def erlang_c(seats: int, wanted: float) -> float:
    """Return the share of requests that find every seat taken, if they wait in line.

    The formula is Erlang's of 1917.

    Parameters are those of `erlang_b`; `wanted` must lie below `seats`, or the queue grows for
    ever.  Exact for the queue M/M/c: arrivals at random, holding times without memory.  The wait of
    those who wait is exponential with the mean that `seat_wait` gives.  Raises QueueError.

    >>> round(erlang_c(1, 0.25), 12)  # one server is busy for the share of its load
    0.25
    >>> erlang_c(40, 40)
    Traceback (most recent call last):
    ...
    handful.queueing.QueueError: The seats wanted must be fewer than the 40 that there are; got 40.
    """
    lost = erlang_b(seats, wanted)
    if wanted >= seats:
        raise QueueError(
            f"The seats wanted must be fewer than the {seats} that there are; got {wanted}."
        )
    return lost / (1 - wanted / seats * (1 - lost))
