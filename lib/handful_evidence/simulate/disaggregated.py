"""Play requests through prefill and decode, on servers of their own or on one for both.

``disaggregated`` has queues only: a prompt waits for its prefill server, its cache travels, and its
answer waits for a place in the batch of its decode server, whose step always takes the same time.
``colocated`` plays step after step of one server, which leaves decoding whenever a prompt has come.
Both return what each request was served: the time to its first token, and the mean time for each of
the others.  ``handful.service_levels`` has the closed forms.

>>> disaggregated(
...     [0.0, 0.1], [1.0, 1.0], answer_tokens=10, step_time=0.1, seats=1, transfer_time=0.5
... )
[Served(first_token=1.0, token_time=0.15), Served(first_token=1.9, token_time=0.15)]
>>> colocated([0.0], prefill_time=1.0, answer_tokens=4, weight_time=0.25, cache_time=0.125)
[Served(first_token=1.0, token_time=0.375)]
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

from ..random32 import mulberry32


class ServingError(ValueError):
    """An error for servers or requests that there cannot be."""


class Served(NamedTuple):
    """The times of one request: from arrival to its first token, and from token to token after."""

    first_token: float
    token_time: float


def _check(tokens: int, *times: float) -> None:
    if tokens < 1:
        raise ServingError(f"An answer has 1 token or more; got {tokens}.")
    if not all(0 <= time < math.inf for time in times):
        raise ServingError(f"Times must be finite, 0 or above; got {', '.join(map(str, times))}.")


def exponential_times(mean: float, count: int, seed: int = 3) -> list[float]:
    """Return `count` times with an exponential distribution: most short, a few long.

    >>> times = exponential_times(2.0, 10_000)
    >>> round(sum(times) / len(times), 1), round(sum(time > 2 for time in times) / len(times), 1)
    (2.0, 0.4)
    """
    draw = mulberry32(seed)
    return [-mean * math.log(1 - draw()) for _ in range(count)]


def disaggregated(
    arrivals: Sequence[float],
    prefill_times: Sequence[float],
    *,
    answer_tokens: int,
    step_time: float,
    seats: int,
    transfer_time: float = 0.0,
    prefill_servers: int = 1,
    decode_servers: int = 1,
    seed: int = 4,
) -> list[Served]:
    """Play requests through prefill servers, the network, and decode servers.

    Parameters
    ----------
    arrivals, prefill_times : sequence of float
        For each request, in order of arrival.
    answer_tokens : int
        Steps of decode that each answer takes.
    step_time, transfer_time : float
        The time of a step, however full, and that of a cache on its way.
    seats : int
        Answers that one decode server has in its batch at once.
    prefill_servers, decode_servers : int
        How many there are; each request goes to one of each kind at random.

    A token is timed from the first one on: the transfer and a wait for a place in the batch count
    as time of the answer.  Raises ServingError.
    """
    _check(answer_tokens, step_time, transfer_time, *prefill_times)
    if min(seats, prefill_servers, decode_servers) < 1:
        raise ServingError("There must be 1 seat and 1 server of each kind at least.")
    draw = mulberry32(seed)
    free_at = [0.0] * prefill_servers
    prefilled = []
    for number, (arrival, time) in enumerate(zip(arrivals, prefill_times, strict=True)):
        server = int(draw() * prefill_servers)
        free_at[server] = max(arrival, free_at[server]) + time
        prefilled.append((free_at[server], number))
    batches = [[0.0] * seats for _ in range(decode_servers)]  # when each seat falls free
    served: dict[int, Served] = {}
    for first, number in sorted(prefilled):
        batch = batches[int(draw() * decode_servers)]
        ended = max(first + transfer_time, batch[0]) + answer_tokens * step_time
        heapq.heapreplace(batch, ended)
        served[number] = Served(first - arrivals[number], (ended - first) / answer_tokens)
    return [served[number] for number in range(len(arrivals))]


def colocated(
    arrivals: Sequence[float],
    *,
    prefill_time: float,
    answer_tokens: int,
    weight_time: float,
    cache_time: float,
) -> list[Served]:
    """Play requests through one server, which stops decoding whenever a prompt has come.

    A step takes `weight_time`, and `cache_time` for each answer of its batch.  Raises ServingError.
    """
    _check(answer_tokens, prefill_time, weight_time, cache_time)
    clock, steps, come = 0.0, 0, 0
    firsts: list[float] = []
    served: dict[int, Served] = {}
    batch: list[tuple[int, int]] = []  # the step with which an answer ends, and whose it is
    while len(served) < len(arrivals):
        if come < len(arrivals) and (arrivals[come] <= clock or not batch):
            clock = max(clock, arrivals[come]) + prefill_time
            firsts.append(clock)
            heapq.heappush(batch, (steps + answer_tokens, come))
            come += 1
            continue
        clock += weight_time + len(batch) * cache_time
        steps += 1
        while batch and batch[0][0] == steps:
            _, number = heapq.heappop(batch)
            first = firsts[number]
            served[number] = Served(first - arrivals[number], (clock - first) / answer_tokens)
    return [served[number] for number in range(len(arrivals))]
