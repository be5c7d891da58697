"""Simulate pipeline schedules step by step (the lecture, 57:00 to 60:58).

A schedule is one list of work for each device, in the order in which the device does it.  ``run``
finds the times: a piece starts when its device is free and what it needs has arrived.  Nothing else
is assumed, so that the bubble, the memory and the Gantt chart are results, which
``handful.pipelining`` has in closed form.

A piece is a forward pass ("F"), a backward pass ("B"), or its two halves: the half that the stage
before waits for ("I", gradients of the inputs) and the half that nobody waits for ("W", gradients
of the weights).

>>> run(gpipe(stages=4, micro_batches=8), forward=1, backward=2).bubble == 3 * (1 + 2)
True
>>> run(zero_bubble(stages=4, micro_batches=8), forward=1, backward=2).bubble  # a third of it
3.0
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class ScheduleError(ValueError):
    """A schedule that cannot be made, or one that waits for itself."""


class Deadlock(ScheduleError):
    """A schedule that waits for itself; `stuck` has the step at which each device stops."""

    def __init__(self, stuck: dict[int, tuple[Piece, ...]]) -> None:
        super().__init__(f"The schedule waits for itself: {stuck}.")
        self.stuck = stuck


class Piece(NamedTuple):
    """One piece of work: kind, and which micro-batch of which stream at which stage of its way."""

    kind: str
    stream: int
    stage: int
    micro_batch: int


@dataclass(frozen=True)
class Schedule:
    """The order of work on each device of a pipeline.

    `orders[device]` is a list of steps, each one Piece, or two that overlap.  `stages` counts what
    a
    micro-batch passes through, `device_of(stream, stage)` says where.
    """

    name: str
    devices: int
    stages: int
    micro_batches: int
    orders: Sequence[Sequence[tuple[Piece, ...]]]
    device_of: Callable[[int, int], int]
    chunks: int = 1


_Pass = tuple[str, int, int, int]  # "F" or "B", stream, stage, micro-batch


class Bar(NamedTuple):
    """One bar of the Gantt chart; times in the units of `forward`."""

    device: int
    start: float
    end: float
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Run:
    """The result of a run: its bars, the makespan, and the waiting and the memory of each device.

    `idle` is each device's waiting between the start of the run and its end, `bubble` the longest
    of them.  `held` counts, for each device, forward passes whose backward pass has not ended, at
    their most; a chunk of an interleaved schedule counts as its share of a stage.
    """

    bars: list[Bar]
    makespan: float
    idle: list[float]
    held: list[float]

    @property
    def bubble(self) -> float:
        """Return the longest waiting time of a device."""
        return max(self.idle)


def _check(stages: int, micro_batches: int) -> None:
    for name, value in (("stages", stages), ("micro_batches", micro_batches)):
        if value != int(value) or value < 1:
            raise ScheduleError(f"{name} must be a whole number, 1 or more; got {value}.")


def _straight(stream: int, stage: int) -> int:
    return stage


def gpipe(stages: int, micro_batches: int) -> Schedule:
    """Return GPipe's schedule: all forward passes, then all backward passes (Huang et al. 2019)."""
    _check(stages, micro_batches)
    orders = [
        [(Piece("F", 0, i, j),) for j in range(micro_batches)]
        + [(Piece("B", 0, i, j),) for j in range(micro_batches)]
        for i in range(stages)
    ]
    return Schedule("GPipe", stages, stages, micro_batches, orders, _straight)


def one_forward_one_backward(stages: int, micro_batches: int) -> Schedule:
    """Return the schedule 1F1B.

    Each stage starts on backward passes as soon as it can, so that fewer activations are held.
    """
    _check(stages, micro_batches)
    orders = []
    for i in range(stages):
        ahead = min(stages - 1 - i, micro_batches)
        forward = [(Piece("F", 0, i, j),) for j in range(micro_batches)]
        backward = [(Piece("B", 0, i, j),) for j in range(micro_batches)]
        # Forward passes run out first; the backward passes that are left follow below.
        steady = [step for pair in zip(forward[ahead:], backward, strict=False) for step in pair]
        orders.append(forward[:ahead] + steady + backward[micro_batches - ahead :])
    return Schedule("1F1B", stages, stages, micro_batches, orders, _straight)


def interleaved(stages: int, micro_batches: int, chunks: int = 2) -> Schedule:
    """Return 1F1B with `chunks` pieces of the model on each device (Narayanan et al. 2021).

    Micro-batches go in groups of one for each device, so their number must be a multiple of the
    devices.
    """
    _check(stages, micro_batches)
    if chunks != int(chunks) or chunks < 1:
        raise ScheduleError(f"chunks must be a whole number, 1 or more; got {chunks}.")
    if micro_batches % stages:
        raise ScheduleError(
            f"An interleaved schedule takes a multiple of {stages} micro-batches; got "
            f"{micro_batches}."
        )
    total = micro_batches * chunks

    def nth(k: int, device: int, backward: bool) -> Piece:
        group, within = divmod(k, stages * chunks)
        chunk = within // stages
        if backward:
            chunk = chunks - 1 - chunk
        return Piece(
            "B" if backward else "F", 0, chunk * stages + device, group * stages + within % stages
        )

    orders = []
    for i in range(stages):
        ahead = min((stages - i - 1) * (2 if chunks > 1 else 1) + (chunks - 1) * stages, total)
        forward = [(nth(k, i, False),) for k in range(total)]
        backward = [(nth(k, i, True),) for k in range(total)]
        # Forward passes run out first; the backward passes that are left follow below.
        steady = [step for pair in zip(forward[ahead:], backward, strict=False) for step in pair]
        orders.append(forward[:ahead] + steady + backward[total - ahead :])
    return Schedule(
        "Interleaved",
        stages,
        stages * chunks,
        micro_batches,
        orders,
        lambda stream, stage: stage % stages,
        chunks,
    )


def zero_bubble(stages: int, micro_batches: int) -> Schedule:
    """Return the schedule ZB-H1 (Qi et al. 2024).

    It is 1F1B whose backward passes come in halves, the later half kept for when a stage would
    wait.  Stage i puts off i of them, so that each stage holds no more than the first one of 1F1B.
    """
    _check(stages, micro_batches)
    orders = []
    for i in range(stages):
        ahead = min(stages - 1 - i, micro_batches)
        order = [(Piece("F", 0, i, j),) for j in range(ahead)]
        for k in range(micro_batches):
            if ahead + k < micro_batches:
                order.append((Piece("F", 0, i, ahead + k),))
            order.append((Piece("I", 0, i, k),))
            if k >= i:
                order.append((Piece("W", 0, i, k - i),))
        order += [(Piece("W", 0, i, j),) for j in range(max(0, micro_batches - i), micro_batches)]
        orders.append(order)
    return Schedule("Zero bubble", stages, stages, micro_batches, orders, _straight)


def dual_pipe(stages: int, micro_batches: int) -> Schedule:
    """Return the schedule DualPipe, which feeds micro-batches from both ends at once.

    A forward pass of one overlaps with a backward pass of another.  Each device holds two stages,
    its own and its mirror image's (DeepSeek-V3's report, 3.2.1, and the published schedule).
    Devices come in pairs, and at least two micro-batches for each are needed.
    """
    _check(stages, micro_batches)
    if stages % 2 or micro_batches % 2 or micro_batches < 2 * stages:
        raise ScheduleError(
            "DualPipe takes an even number of devices and an even number of micro-batches, at "
            "least "
            f"two for each device; got {stages} devices and {micro_batches} micro-batches."
        )
    orders = [_DualPipeOrder(stages, micro_batches, device).order() for device in range(stages)]
    return Schedule(
        "DualPipe",
        stages,
        stages,
        micro_batches,
        orders,
        lambda stream, stage: stage if stream == 0 else stages - 1 - stage,
    )


class _DualPipeOrder:
    """The steps of one device in DualPipe; phase 0 comes from its nearer end, 1 from the other."""

    def __init__(self, stages: int, micro_batches: int, device: int) -> None:
        self.stages, self.micro_batches, self.device = stages, micro_batches, device
        self.near = min(device, stages - 1 - device)  # distance from the nearer end
        self.steps: list[tuple[Piece, ...]] = []
        self.count: Counter[tuple[str, int]] = Counter()
        self.late: list[Piece] = []  # weight halves that were put off

    def piece(self, kind: str, phase: int) -> Piece:
        stream = phase ^ (self.device >= self.stages // 2)
        done = "F" if kind == "F" else "B"
        number = self.count[done, stream]
        self.count[done, stream] += 1
        stage = self.device if stream == 0 else self.stages - 1 - self.device
        return Piece(kind, stream, stage, number)

    def forward(self, phase: int) -> None:
        self.steps.append((self.piece("F", phase),))

    def backward(self, phase: int, split: bool = False) -> None:
        step = self.piece("I" if split else "B", phase)
        self.steps.append((step,))
        if split:
            self.late.append(step._replace(kind="W"))

    def weights(self) -> None:
        self.steps.append((self.late.pop(0),))

    def both(self, ahead: int, back: int) -> None:
        self.steps.append((self.piece("F", ahead), self.piece("B", back)))

    def order(self) -> list[tuple[Piece, ...]]:
        """Return the steps: forward passes, pairs that overlap, then backward passes."""
        near, inner = self.near, self.stages // 2 - self.near - 1  # distance from the middle
        for _ in range(2 * inner):
            self.forward(0)
        for _ in range(near + 1):
            self.forward(0)
            self.forward(1)
        for _ in range(inner):
            self.backward(1, split=True)
            self.weights()
            self.forward(1)
        for i in range(self.micro_batches // 2 - self.stages + near + 1):
            if i == 0 and inner == 0:  # the middle pair starts without overlap: a smaller bubble
                self.forward(0)
                self.backward(1)
            else:
                self.both(0, 1)
            self.both(1, 0)
        for _ in range(inner):
            self.backward(1)
            self.both(1, 0)
        split = False
        for i in range(near + 1):
            split |= i == (near + 1) // 2 and near % 2 == 1
            self.backward(1, split)
            split |= i == (near + 1) // 2 and near % 2 == 0
            self.backward(0, split)
        for _ in range(inner):
            self.weights()
            self.backward(0, split=True)
        while self.late:
            self.weights()
        return self.steps


SCHEDULES: dict[str, Callable[[int, int], Schedule]] = {
    "gpipe": gpipe,
    "1f1b": one_forward_one_backward,
    "interleaved": interleaved,
    "zero_bubble": zero_bubble,
    "dual_pipe": dual_pipe,
}


def run(
    schedule: Schedule,
    forward: float,
    backward: float,
    weights: float | None = None,
    overlapped: float | None = None,
    hop: float = 0.0,
) -> Run:
    """Return the times of every piece of a schedule.

    Parameters
    ----------
    forward, backward : float
        Time of a micro-batch's forward and whole backward pass through one device's share of the
        model, above 0.
    weights : float, optional
        The part of `backward` that belongs to the weights' gradients; half of it by default.
    overlapped : float, optional
        Time of a forward and a backward pass that overlap; their sum by default.
    hop : float
        Time on the way from one device to the next, 0 or above.
    """
    weights = backward / 2 if weights is None else weights
    overlapped = forward + backward if overlapped is None else overlapped
    if not (0 < forward < math.inf and 0 < weights < backward < math.inf and 0 <= hop < math.inf):
        raise ScheduleError(
            "forward and backward must be above 0, weights between 0 and backward, hop 0 or above; "
            f"got {forward}, {backward}, {weights}, {hop}."
        )
    if not max(forward, backward) <= overlapped <= forward + backward:
        raise ScheduleError(
            f"Overlapped passes take between {max(forward, backward)} and {forward + backward}; "
            f"got {overlapped}."
        )
    length = {"F": forward, "B": backward, "I": backward - weights, "W": weights}
    length = {kind: time / schedule.chunks for kind, time in length.items()}
    bars = _play(schedule, length, overlapped, hop)
    makespan = max(bar.end for bar in bars)
    idle = [
        makespan - math.fsum(bar.end - bar.start for bar in bars if bar.device == d)
        for d in range(schedule.devices)
    ]
    return Run(bars, makespan, idle, [_held(schedule, bars, d) for d in range(schedule.devices)])


def _play(schedule: Schedule, length: dict[str, float], overlapped: float, hop: float) -> list[Bar]:
    """Return the bars of a schedule in which every device works as soon as it can.

    Raises Deadlock where no device can go on.
    """
    bars: list[Bar] = []
    done: dict[_Pass, float] = {}
    clock, at = [0.0] * schedule.devices, [0] * schedule.devices
    left = sum(map(len, schedule.orders))
    while left:
        before = left
        for device, order in enumerate(schedule.orders):
            while at[device] < len(order):
                step = order[at[device]]
                wanted = [need for piece in step for need in _needs(schedule, piece, hop)]
                if any(key not in done for key, _ in wanted):
                    break
                start = max([clock[device], *(done[key] + delay for key, delay in wanted)])
                took = overlapped if len(step) == 2 else length[step[0].kind]
                clock[device] = end = start + took
                for kind, stream, stage, number in step:
                    if kind != "W":
                        done["F" if kind == "F" else "B", stream, stage, number] = end
                bars.append(Bar(device, start, end, step))
                at[device] += 1
                left -= 1
        if left == before:
            raise Deadlock(
                {d: order[at[d]] for d, order in enumerate(schedule.orders) if at[d] < len(order)}
            )
    return bars


def _needs(schedule: Schedule, piece: Piece, hop: float) -> Iterator[tuple[_Pass, float]]:
    """Yield what has to be done before a piece, each with the delay on the way here."""
    kind, stream, stage, number = piece

    def way(other: int) -> float:
        here, there = (schedule.device_of(stream, s) for s in (stage, other))
        return hop * (here != there)

    if kind == "F" and stage > 0:
        yield ("F", stream, stage - 1, number), way(stage - 1)
    if kind in "BI":
        yield ("F", stream, stage, number), 0.0
        if stage < schedule.stages - 1:
            yield ("B", stream, stage + 1, number), way(stage + 1)
    if kind == "W":
        yield ("B", stream, stage, number), 0.0


def circle(stages: int, micro_batches: int, stage_time: float, hop: float = 0.0, rounds: int = 200):
    """Yield each piece of work of micro-batches that go round a pipeline.

    A piece is (round, micro-batch, stage, start, ready).  `ready` is when the next stage, or the
    first one for the next token, can have it: its end and the hop.

    >>> list(circle(2, 1, 1.0, 0.5, rounds=1))
    [(0, 0, 0, 0.0, 1.5), (0, 0, 1, 1.5, 3.0)]
    """
    _check(stages, micro_batches)
    if not (0 < stage_time < math.inf and 0 <= hop < math.inf):
        raise ScheduleError(
            f"stage_time must be above 0 and hop 0 or above; got {stage_time}, {hop}."
        )
    free, ready = [0.0] * stages, [0.0] * micro_batches
    for turn in range(rounds):
        for j in range(micro_batches):
            now = ready[j]
            for i in range(stages):
                start = max(now, free[i])
                free[i] = start + stage_time
                now = free[i] + hop
                yield turn, j, i, start, now
            ready[j] = now


def decode(
    stages: int, micro_batches: int, stage_time: float, hop: float = 0.0, rounds: int = 200
) -> dict[str, float]:
    """Simulate micro-batches that go round a pipeline for token after token.

    Returns `utilisation` of the stages, `token_latency` and `in_flight` (micro-batches whose caches
    are held on each stage: all of them, for every one comes back), over the last half of `rounds`.

    >>> round(
    ...     decode(stages=4, micro_batches=1, stage_time=1e-3)["utilisation"], 9
    ... )  # three quarters idle
    0.25
    """
    halfway = last = 0.0
    for turn, j, _, _, ready in circle(stages, micro_batches, stage_time, hop, rounds):
        if j == 0:
            last = ready
            if turn == rounds // 2 - 1:
                halfway = ready
    turns = rounds - rounds // 2
    latency = (last - halfway) / turns
    return {
        "utilisation": micro_batches * stage_time / latency,
        "token_latency": latency,
        "in_flight": float(micro_batches),
    }


def _held(schedule: Schedule, bars: list[Bar], device: int) -> float:
    """Return the most forward passes that a device holds at once.

    A pass is held until its backward pass, or the first half of that, has ended.
    """
    changes = []
    for bar in bars:
        if bar.device == device:
            for piece in bar.pieces:
                if piece.kind == "F":
                    changes.append((bar.start, 1))
                elif piece.kind != "W":
                    changes.append((bar.end, -1))
    now = most = 0
    for _, change in sorted(changes):  # an end comes before a start at the same moment
        now += change
        most = max(most, now)
    return most / schedule.chunks
