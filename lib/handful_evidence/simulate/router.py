"""Simulate a random router: the experts that tokens pick, and the copies that chips get.

The draws come from ``mulberry32``, and every tie is broken by position.

>>> counts = loads(tokens=512, experts=256, active_experts=8)
>>> len(counts), sum(counts)
(256, 4096)
>>> busiest = lambda n: max(on_chips(loads(512, 256, 8), n)) / (512 * 8 / n)  # over the mean
>>> busiest(8) < busiest(64) < busiest(256)  # more chips, more uneven
True
"""

from __future__ import annotations

from functools import lru_cache

from ..random32 import mulberry32


class RouterError(ValueError):
    """An error for an impossible router or layout."""


def popularity(experts: int, skew: float) -> list[float]:
    """Return cumulated shares, where the r-th most popular expert has a share ∝ r^−skew.

    Ranks are shuffled over positions, always in the same way, so that popular experts are not
    neighbours.

    >>> popularity(4, 0.0)
    [0.25, 0.5, 0.75, 1.0]
    """
    ranks, draw = list(range(experts)), mulberry32(0)
    for i in range(experts - 1, 0, -1):
        j = int(draw() * (i + 1))
        ranks[i], ranks[j] = ranks[j], ranks[i]
    shares = [(rank + 1) ** -skew for rank in ranks]
    total, below, out = sum(shares), 0.0, []
    for share in shares:
        below += share / total
        out.append(below)
    return out


@lru_cache(maxsize=64)
def loads(
    tokens: int, experts: int, active_experts: int, skew: float = 0.0, seed: int = 1
) -> tuple[int, ...]:
    """Return the copies that each expert gets when every token picks its experts at random.

    A token picks them one after the other, and no expert twice.

    Parameters
    ----------
    tokens, experts, active_experts, seed : int
        1 or more; `active_experts` at most half of `experts`.
    skew : float
        0 for a router without favourites; see `popularity`.

    Raises
    ------
    RouterError
        Where these do not hold.

    >>> loads(10, 16, 9)
    Traceback (most recent call last):
    ...
    handful_evidence.simulate.router.RouterError: active_experts must be between 1 and 8, half of
    the
    experts;
    got 9.
    """
    if not 1 <= active_experts <= experts // 2:
        raise RouterError(
            f"active_experts must be between 1 and {experts // 2}, half of the experts; "
            f"got {active_experts}."
        )
    draw, shares, counts = mulberry32(seed), popularity(experts, skew), [0] * experts
    for _ in range(tokens):
        picked: list[int] = []
        while len(picked) < active_experts:
            expert = _find(shares, draw())
            if expert not in picked:
                picked.append(expert)
                counts[expert] += 1
    return tuple(counts)


def _find(shares: list[float], x: float) -> int:
    """Return the first position whose cumulated share exceeds x, by bisection as in the browser."""
    low, high = 0, len(shares) - 1
    while low < high:
        middle = (low + high) // 2
        if shares[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


def spread(counts, devices: int, spare: int = 0) -> list[list[float]]:
    """Return the copies on every chip, expert by expert.

    Without `spare` experts lie in order, as many on each chip as can be.  With it, as many second
    (third, …) copies of the busiest experts are made, each taking its share of the tokens, and all
    are placed heaviest first on the least loaded chip that has room: what DeepSeek-V3's report
    calls redundant experts.

    >>> spread([4, 0, 0, 0], devices=2), spread([4, 0, 0, 0], devices=2, spare=1)
    ([[4, 0], [0, 0]], [[2.0, 0.0, 0.0], [2.0, 0.0]])
    """
    if devices < 1 or len(counts) < devices:
        raise RouterError(
            f"devices must be between 1 and {len(counts)}, the number of experts; got {devices}."
        )
    chips: list[list[float]] = [[] for _ in range(devices)]
    if not spare:
        for i, count in enumerate(counts):
            chips[i * devices // len(counts)].append(count)
        return chips
    copies = [1] * len(counts)
    for _ in range(spare):
        busiest = max(range(len(counts)), key=lambda i: (counts[i] / copies[i], -i))
        copies[busiest] += 1
    pieces = [counts[i] / copies[i] for i in range(len(counts)) for _ in range(copies[i])]
    order = sorted(range(len(pieces)), key=lambda i: (-pieces[i], i))
    room, sums = -(-len(pieces) // devices), [0.0] * devices
    for i in order:
        chip = min((j for j in range(devices) if len(chips[j]) < room), key=lambda j: (sums[j], j))
        chips[chip].append(pieces[i])
        sums[chip] += pieces[i]
    return chips


def on_chips(counts, devices: int, spare: int = 0) -> list[float]:
    """Return the total copies that each chip gets."""
    return [sum(chip) for chip in spread(counts, devices, spare)]


def token(
    experts: int,
    active_experts: int,
    devices: int,
    domain_devices: int,
    domain_limit: int,
    seed: int,
) -> tuple[int, list[int]]:
    """Return the chip of one token, in the first domain, and the chips of its experts, in order.

    With a limit below the number of domains it keeps those with the highest sum of their best
    k/limit scores, as DeepSeek-V3's router does (its report, section 2.1.2).

    >>> home, chips = token(256, 8, devices=144, domain_devices=72, domain_limit=1, seed=3)
    >>> home < 72, len({chip // 72 for chip in chips})
    (True, 1)
    """
    draw = mulberry32(seed)
    home = int(draw() * domain_devices)
    scores = [draw() for _ in range(experts)]
    chip = [e * devices // experts for e in range(experts)]
    domains = devices // domain_devices
    if domain_limit < domains:
        best = -(-active_experts // domain_limit)
        sums = []
        for r in range(domains):
            inside = sorted(
                (scores[e] for e in range(experts) if chip[e] // domain_devices == r), reverse=True
            )
            sums.append(sum(inside[:best]))
        kept = sorted(range(domains), key=lambda r: (-sums[r], r))[:domain_limit]
        scores = [
            score if chip[e] // domain_devices in kept else -1.0 for e, score in enumerate(scores)
        ]
    picks = sorted(range(experts), key=lambda e: (-scores[e], e))[:active_experts]
    return home, [chip[e] for e in sorted(picks)]
