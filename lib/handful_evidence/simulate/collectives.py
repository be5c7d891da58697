"""Simulate collectives step by step, and count the bytes on each link.

Against it stand the closed forms of ``handful.collectives``.  A step moves pieces of the array over
one hop, all links at once, and takes a latency plus the bytes of its busiest link over the link's
bandwidth.  That every chip ends with what it should have is checked in each run.

>>> seen = all_gather(side=4, axes=1, array_bytes=4e6, link_bandwidth=1e9, hop_latency=1e-6)
>>> seen.steps, round(seen.busiest), round(seen.time * 1e6)  # 3 of 4 MB, over two links
(2, 1500000, 1502)
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from typing import NamedTuple

Chip = tuple[int, ...]  # its place along each axis


class CollectiveError(ValueError):
    """A network that cannot be, or a collective that left a chip without its part."""


class Seen(NamedTuple):
    """The result of a run: steps, bytes on the busiest link over the whole run, and the time."""

    steps: int
    busiest: float
    time: float


class _Move(NamedTuple):
    """Pieces that go from one chip to a neighbour in a step, over a link of its own name."""

    source: Chip
    target: Chip
    link: tuple
    pieces: frozenset


def _check(**counts: int) -> None:
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise CollectiveError(f"{name} must be a whole number, 1 or more; got {count!r}.")


def _chips(side: int, axes: int) -> list[Chip]:
    return list(itertools.product(range(side), repeat=axes))


def _neighbour(chip: Chip, axis: int, turn: int, side: int) -> Chip:
    return (*chip[:axis], (chip[axis] + turn) % side, *chip[axis + 1 :])


def _seen(steps, piece_bytes: float, link_bandwidth: float, hop_latency: float) -> Seen:
    """Return steps, bytes and time of a list of steps, each a list of moves."""
    total: defaultdict[tuple, float] = defaultdict(float)
    time = 0.0
    for step in steps:
        load: defaultdict[tuple, float] = defaultdict(float)
        for move in step:
            load[move.link] += len(move.pieces) * piece_bytes
        time += hop_latency + max(load.values(), default=0) / link_bandwidth
        for link, size in load.items():
            total[link] += size
    return Seen(len(steps), max(total.values(), default=0), time)


# Ring and torus -----------------------------------------------------------------------------------


def _gather_steps(side: int, axes: int):
    """Return the steps of an all-gather, and what each chip holds after it.

    A piece is (share, part, half).  Each part takes the axes in another order, so that all are
    busy; where the farthest chip is as far either way, one half goes each way.
    """
    chips = _chips(side, axes)
    holds = {c: {(c, part, half) for part in range(axes) for half in (0, 1)} for c in chips}
    steps = []
    for phase in range(axes):
        last = {
            (chip, part, turn): frozenset(piece for piece in holds[chip] if piece[1] == part)
            for chip in chips
            for part in range(axes)
            for turn in (1, -1)
        }
        for hop in range(1, side // 2 + 1):
            step, arrived = [], {}
            for (chip, part, turn), pieces in last.items():
                axis = (part + phase) % axes
                if 2 * hop == side:
                    pieces = frozenset(p for p in pieces if p[2] == (turn == 1))
                to = _neighbour(chip, axis, turn, side)
                step.append(_Move(chip, to, (chip, axis, turn), pieces))
                arrived[to, part, turn] = pieces
            for move in step:
                holds[move.target] |= move.pieces
            steps.append(step)
            last = arrived
    return steps, holds


def all_gather(
    side: int, axes: int, array_bytes: float, link_bandwidth: float, hop_latency: float = 0
) -> Seen:
    """Run an all-gather on a torus of `axes` axes with `side` chips along each; a ring has one.

    `array_bytes` are those of the whole array, `link_bandwidth` is in bytes a second in one
    direction and `hop_latency` in seconds.  Raises CollectiveError for counts below 1.

    >>> all_gather(side=5, axes=0, array_bytes=1, link_bandwidth=1)
    Traceback (most recent call last):
    ...
    handful_evidence.simulate.collectives.CollectiveError: axes must be a whole number, 1 or more;
    got 0.
    """
    _check(side=side, axes=axes)
    steps, holds = _gather_steps(side, axes)
    pieces = side**axes * axes * 2
    if any(len(held) != pieces for held in holds.values()):
        raise CollectiveError("A chip misses a share after the all-gather.")
    return _seen(steps, array_bytes / pieces, link_bandwidth, hop_latency)


def reduce_scatter(
    side: int, axes: int, array_bytes: float, link_bandwidth: float, hop_latency: float = 0
) -> Seen:
    """Run a reduce-scatter: the moves of an all-gather backwards, partial sums adding up.

    Takes what `all_gather` takes.  A sum is the list of chips whose parts are in it: each has to be
    there once.

    >>> reduce_scatter(side=2, axes=1, array_bytes=8, link_bandwidth=1).busiest  # two links
    2.0
    """
    _check(side=side, axes=axes)
    forward, holds = _gather_steps(side, axes)
    sums = {(chip, piece): Counter([chip]) for chip, held in holds.items() for piece in held}
    steps = [
        [_Move(m.target, m.source, (*m.link, "back"), m.pieces) for m in step]
        for step in reversed(forward)
    ]
    for step in steps:
        sent = [(m.target, piece, sums[m.source, piece]) for m in step for piece in m.pieces]
        for chip, piece, partial in sent:
            sums[chip, piece] = sums[chip, piece] + partial
    whole = Counter(dict.fromkeys(holds, 1))
    for chip, held in holds.items():
        for piece in held:
            if piece[0] == chip and sums[chip, piece] != whole:
                raise CollectiveError("A sum misses a part, or has one twice.")
    return _seen(steps, array_bytes / (side**axes * axes * 2), link_bandwidth, hop_latency)


def all_reduce(
    side: int, axes: int, array_bytes: float, link_bandwidth: float, hop_latency: float = 0
) -> Seen:
    """Run a reduce-scatter, then an all-gather; takes what `all_gather` takes.

    >>> all_reduce(side=2, axes=1, array_bytes=8, link_bandwidth=1).time
    4.0
    """
    first = reduce_scatter(side, axes, array_bytes, link_bandwidth, hop_latency)
    second = all_gather(side, axes, array_bytes, link_bandwidth, hop_latency)
    return Seen(
        first.steps + second.steps, first.busiest + second.busiest, first.time + second.time
    )


def all_to_all(
    side: int, axes: int, array_bytes: float, link_bandwidth: float, hop_latency: float = 0
) -> Seen:
    """Run an all-to-all: each chip's share has a piece for each chip, sent the shorter way round.

    Takes what `all_gather` takes.

    >>> all_to_all(side=4, axes=1, array_bytes=32, link_bandwidth=1).busiest  # an eighth
    4.0
    """
    _check(side=side, axes=axes)
    chips = _chips(side, axes)
    at = {
        (source, target, part, half): source
        for source in chips
        for target in chips
        for part in range(axes)
        for half in (0, 1)
    }
    steps = []
    for phase in range(axes):
        for _ in range(side // 2):
            moving = defaultdict(set)
            for piece, chip in at.items():
                axis = (piece[2] + phase) % axes
                way = (piece[1][axis] - chip[axis]) % side
                # As far either way at the start of the axis: one half each way, and then on.
                back = way > side / 2 or (way == side / 2 and piece[3] == 0)
                came = (chip[axis] - piece[0][axis]) % side
                if way and came:
                    back = came > side / 2 or (came == side / 2 and piece[3] == 0)
                if way:
                    moving[chip, axis, -1 if back else 1].add(piece)
            step = []
            for (chip, axis, turn), pieces in moving.items():
                to = _neighbour(chip, axis, turn, side)
                step.append(_Move(chip, to, (chip, axis, turn), frozenset(pieces)))
                at.update(dict.fromkeys(pieces, to))
            steps.append(step)
    if any(piece[1] != chip for piece, chip in at.items()):
        raise CollectiveError("A piece has not arrived after the all-to-all.")
    return _seen(steps, array_bytes / (len(chips) ** 2 * axes * 2), link_bandwidth, hop_latency)


def line_all_gather(
    devices: int, array_bytes: float, link_bandwidth: float, hop_latency: float = 0
) -> Seen:
    """Run an all-gather on a line of chips, which hand on to either side what came from the other.

    >>> line_all_gather(4, array_bytes=4, link_bandwidth=1).time
    3.0
    """
    _check(devices=devices)
    holds: list[set] = [{chip} for chip in range(devices)]
    last = {(chip, turn): {chip} for chip in range(devices) for turn in (1, -1)}
    steps = []
    while any(len(held) < devices for held in holds):
        step, arrived = [], {}
        for (chip, turn), pieces in last.items():
            if 0 <= chip + turn < devices:
                step.append(_Move((chip,), (chip + turn,), (chip, turn), frozenset(pieces)))
                arrived[chip + turn, turn] = pieces
        for move in step:
            holds[move.target[0]] |= move.pieces
        steps.append(step)
        last = arrived
    return _seen(steps, array_bytes / devices, link_bandwidth, hop_latency)


# Switch -------------------------------------------------------------------------------------------


def through_switch(
    messages: dict[tuple[int, int], float], link_bandwidth: float, hop_latency: float = 0
) -> Seen:
    """Send messages, bytes by (source, target), through a switch with one link to each chip.

    All go at once: one step.  Links are loaded by what a chip sends, and by what it gets.

    >>> through_switch({(0, 1): 5, (0, 2): 5, (1, 2): 3}, link_bandwidth=1).busiest  # out of chip 0
    10.0
    """
    load: defaultdict[tuple, float] = defaultdict(float)
    for (source, target), size in messages.items():
        load["out", source] += size
        load["in", target] += size
    busiest = max(load.values(), default=0)
    return Seen(1, busiest, hop_latency + busiest / link_bandwidth)


def reduce_in_switch(
    devices: int,
    array_bytes: float,
    link_bandwidth: float,
    hop_latency: float = 0,
    chunks: int = 1000,
) -> Seen:
    """Run an all-reduce in which the switch adds up, chunk by chunk, and sends each sum to all.

    A chunk's sum comes back while the next chunk goes out.

    >>> reduce_in_switch(8, array_bytes=100, link_bandwidth=1, chunks=1).time  # no overlap
    200.0
    """
    _check(devices=devices, chunks=chunks)
    out = back = 0
    time = hop_latency
    while back < chunks:  # every link carries a chunk out, a sum back, or both at once
        back, out = out, min(chunks, out + 1)
        time += array_bytes / chunks / link_bandwidth
    return Seen(chunks + 1, array_bytes, time)


# Nodes --------------------------------------------------------------------------------------------


def all_reduce_over_nodes(
    nodes: int, side: int, array_bytes: float, inside: float, between: float, hop_latency: float = 0
) -> Seen:
    """Run an all-reduce over nodes of `side` chips: within each, among the nodes, within each.

    `inside` and `between` are bytes a second of a chip's link to its node's switch and of its port
    to the network.  A sum is the list of chips whose parts are in it.  Raises CollectiveError for
    counts below 1.

    >>> all_reduce_over_nodes(2, 8, array_bytes=8e9, inside=450e9, between=50e9).steps
    4
    """
    _check(nodes=nodes, side=side)
    chips = [(node, place) for node in range(nodes) for place in range(side)]
    shares = [(part, piece) for part in range(side) for piece in range(nodes)]
    sums = {(chip, share): Counter([chip]) for chip in chips for share in shares}
    piece_bytes = array_bytes / len(shares)
    whole = Counter(chips)
    seen = []

    def step(rate: float, sent: dict, add: bool) -> None:
        """Send shares, lists by (source, target); they are added, or take the place of sums."""
        number = {chip: i for i, chip in enumerate(chips)}
        sizes = {
            (number[source], number[target]): len(listed) * piece_bytes
            for (source, target), listed in sent.items()
        }
        seen.append(through_switch(sizes, rate, hop_latency))
        before = {key: Counter(value) for key, value in sums.items()}
        for (source, target), listed in sent.items():
            for share in listed:
                got = before[source, share]
                sums[target, share] = sums[target, share] + got if add else Counter(got)

    def within(listed) -> dict:
        return {
            ((node, a), (node, b)): listed(a, b)
            for node in range(nodes)
            for a, b in itertools.permutations(range(side), 2)
        }

    def among(listed) -> dict:
        return {
            ((a, place), (b, place)): listed(a, b, place)
            for place in range(side)
            for a, b in itertools.permutations(range(nodes), 2)
        }

    step(inside, within(lambda a, b: [(b, piece) for piece in range(nodes)]), add=True)
    step(between, among(lambda a, b, place: [(place, b)]), add=True)
    step(between, among(lambda a, b, place: [(place, a)]), add=False)
    step(inside, within(lambda a, b: [(a, piece) for piece in range(nodes)]), add=False)
    if any(value != whole for value in sums.values()):
        raise CollectiveError("A chip misses a part, or has it twice, after the all-reduce.")
    return Seen(len(seen), max(s.busiest for s in seen), sum(s.time for s in seen))
