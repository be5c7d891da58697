"""Measure this machine's arithmetic and memory, and the batch at which they balance.

A batched product, weights of width d against a batch of B vectors, is a decode step in small: the
weights are read once for the whole batch, and every vector costs 2 d² FLOP.  The roofline says that
it takes max(read weights, compute): flat up to the machine's balance, and in proportion to the
batch beyond.  ``measure`` takes both rates from this machine, predicts that curve, times it, and
says where the knee fell.

Conventions: FLOP counts a multiply-add as two; of the bytes only the weights are counted, once a
product; each product takes the next of several matrices, so that none stays in a cache; times are
medians.

>>> batches = [1, 2, 4, 8, 16, 32, 64]
>>> round(fitted_knee(batches, [max(3.0, 0.25 * batch) for batch in batches]), 1)  # 3.0 / 0.25
12.0
"""

from __future__ import annotations

import itertools
import math
import os
import statistics
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from handful import balance, facts, latency
from handful.units import NBSP, format_value, plural

__all__ = [
    "Backend",
    "MeasureError",
    "Point",
    "Report",
    "cuda_torch",
    "fitted_knee",
    "gpu",
    "measure",
    "processor",
    "recorded_reports",
    "timings",
]

REPEATS = 7
LEAST = 2e-3  # seconds that one timing should last, so that clocks and launches weigh little


class MeasureError(RuntimeError):
    """An error for hardware or memory that this machine does not have."""

    exit_code = 1


@dataclass(frozen=True)
class Backend:
    """A library that does the arithmetic, as calls without arguments.

    Each call does one piece of work.

    ``sizes`` are the n of square products, rising, and ``square`` maps n to one; ``reads`` names
    ways of reading all weights once; ``product`` maps a batch to one product, each call with the
    next of ``layers`` matrices of ``width`` × ``width``; ``finish`` waits until all work given so
    far is done.
    """

    name: str
    precision: str
    bytes_per_parameter: int
    width: int
    layers: int
    sizes: tuple[int, ...]
    batches: tuple[int, ...]
    square: Callable[[int], Callable]
    reads: dict[str, Callable]
    product: Callable[[int], Callable]
    finish: Callable[[], None]

    @property
    def weight_bytes(self) -> int:
        """Return the bytes of all matrices together, which one reading takes."""
        return self.layers * self.width**2 * self.bytes_per_parameter


@dataclass(frozen=True)
class Point:
    """The measured time of one product of a batch and the roofline's prediction, in seconds."""

    batch: int
    measured: float
    predicted: float

    @property
    def ratio(self) -> float:
        """Return the measured time over the predicted one."""
        return self.measured / self.predicted


@dataclass(frozen=True)
class Report:
    """Two rates of a machine, the knee that they predict, and the knee that was measured.

    ``peak_flops`` (FLOP/s), ``memory_bandwidth`` (B/s) and ``bytes_per_parameter`` are named as the
    inputs of the book's formulas are; knees are batches.
    """

    name: str
    precision: str
    peak_flops: float
    memory_bandwidth: float
    bytes_per_parameter: int
    width: int
    how: str
    points: tuple[Point, ...] = ()
    note: str = ""

    @property
    def predicted_knee(self) -> float:
        """Return the batch at which computing takes as long as reading the weights."""
        return balance.balance_batch(_known(self))

    @property
    def measured_knee(self) -> float:
        """Return the batch where a flat and a proportional line, fitted to the times, meet."""
        return fitted_knee([p.batch for p in self.points], [p.measured for p in self.points])

    @property
    def knee_ratio(self) -> float:
        """Return the measured knee over the predicted one."""
        return self.measured_knee / self.predicted_knee

    @property
    def reached(self) -> bool:
        """Return whether the times show a knee.

        False means that it lies at an end of the batches that were tried.
        """
        return self.points[0].batch * 1.01 < self.measured_knee < self.points[-1].batch / 1.01

    def row(self) -> dict:
        """Return the measurement as a row of facts.

        Names of columns hold the units, and the source says how it was measured.
        """
        return {
            "name": f"{self.name}, {self.precision}",
            "dense_flops": self.peak_flops,
            "bandwidth_bytes_per_s": self.memory_bandwidth,
            "weight_bytes": self.bytes_per_parameter,
            "matrix_width": self.width,
            "predicted_knee_sequences": self.predicted_knee,
            "measured_knee_sequences": self.measured_knee if self.reached else None,
            "knee_ratio": self.knee_ratio if self.reached else None,
            "verified": True,
            "source": self.how,
        }

    def __str__(self) -> str:
        first, last = self.points[0].batch, self.points[-1].batch
        found = f"none between batch {first} and {last}"
        if self.reached:
            found = f"batch {self.measured_knee:.3g}, {self.knee_ratio:.2g} times the prediction"
        ratios = [p.ratio for p in self.points]
        how = f"{self.how[0].upper()}{self.how[1:]}."
        lines = [
            f"{self.name}, {self.precision}",
            f"  Arithmetic       {format_value(self.peak_flops, 'FLOP/s')}",
            f"  Memory           {format_value(self.memory_bandwidth, 'B/s')}",
            f"  Predicted knee   batch {self.predicted_knee:.3g}",
            f"  Measured knee    {found}",
            f"  Measured times   {min(ratios):.2g} to {max(ratios):.2g} times the roofline's",
            "",
            f"  {'Batch':>6} {'Measured':>10} {'Predicted':>10} {'Ratio':>6}",
            *(
                f"  {p.batch:>6} {format_value(p.measured, 's'):>10} "
                f"{format_value(p.predicted, 's'):>10} "
                f"{p.ratio:>6.2f}"
                for p in self.points
            ),
            "",
            textwrap.fill(how, 100, initial_indent="  ", subsequent_indent="  "),
        ]
        if self.note:
            lines.append(f"  {self.note}")
        return "\n".join(lines).replace(NBSP, " ")


def _known(report: Report) -> dict:
    """Return the machine and its one dense layer as inputs of the book's formulas."""
    return {
        "peak_flops": report.peak_flops,
        "memory_bandwidth": report.memory_bandwidth,
        "devices": 1,
        "bytes_per_parameter": report.bytes_per_parameter,
        "total_parameters": report.width**2,
        "active_parameters": report.width**2,
        "context": 0,
        "kv_bytes_per_token": 0,
    }


def recorded_reports() -> tuple[Report, ...]:
    """Return the recorded reports, one for each machine in ``facts/measured_machines.csv``.

    Points are in order of rising batch.

    >>> all(
    ...     report.reached and report.knee_ratio > 1 for report in recorded_reports()
    ... )  # late knees, never early ones
    True
    """
    found: dict[str, list] = {}
    for row in facts.load("measured_machines"):
        found.setdefault(row["machine"], []).append(row)
    reports = []
    for machine, rows in found.items():
        first = rows[0]
        report = Report(
            machine,
            first["precision"],
            first["dense_flops"],
            first["bandwidth_bytes_per_s"],
            first["weight_bytes"],
            first["matrix_width"],
            first["source"],
        )
        known = _known(report)
        reports.append(
            replace(
                report,
                points=tuple(
                    Point(
                        row["batch"],
                        row["measured_s"],
                        latency.step_time_lecture(known, batch=row["batch"]),
                    )
                    for row in sorted(rows, key=lambda row: row["batch"])
                ),
            )
        )
    return tuple(reports)


def fitted_knee(batches: Sequence[float], times: Sequence[float]) -> float:
    """Return the knee of the curve level × max(1, B / knee) that is nearest to the times.

    Errors are counted as ratios.  The shape is the roofline's, so only the knee is searched, from
    the first batch to the last, to a third of a per cent.  A knee at either end means that the
    times show none.

    >>> fitted_knee([1, 2, 4, 8], [5, 5, 5, 5])  # flat: no knee up to 8
    8.0
    """
    if (
        len(batches) != len(times)
        or len(set(batches)) < 2
        or not all(v > 0 for v in (*batches, *times))
    ):
        raise ValueError("A knee needs two batches or more, each above 0 and with a time above 0.")
    low, high = min(batches), max(batches)
    steps = math.ceil(300 * math.log(high / low))

    def error(knee: float) -> float:
        logs = [math.log(t / max(1, b / knee)) for b, t in zip(batches, times, strict=True)]
        middle = sum(logs) / len(logs)
        return sum((log - middle) ** 2 for log in logs)

    # The ends are exact; of knees that fit alike the later is taken, so that flat to the end says
    # so.
    tried = [low * (high / low) ** (i / steps) for i in range(steps)] + [float(high)]
    return min(reversed(tried), key=error)


# Timing -------------------------------------------------------------------------------------------


def timings(
    call: Callable,
    finish: Callable,
    clock: Callable[[], float],
    repeats: int,
    least: float = LEAST,
) -> list[float]:
    """Return the seconds of one call, timed `repeats` times after a warm-up.

    Calls shorter than `least` seconds are timed several at once; `finish` waits until all work
    given so far is done.

    >>> now = iter(range(100))
    >>> timings(lambda: None, lambda: None, lambda: next(now), 3)  # a second between two looks
    [1.0, 1.0, 1.0]
    """
    call()
    finish()
    start = clock()
    call()
    finish()
    together = min(1000, max(1, math.ceil(least / max(clock() - start, 1e-9))))
    times = []
    for _ in range(repeats):
        start = clock()
        for _ in range(together):
            call()
        finish()
        times.append((clock() - start) / together)
    return times


def _median(call: Callable, backend: Backend, clock: Callable[[], float], repeats: int) -> float:
    return statistics.median(timings(call, backend.finish, clock, repeats))


def measure(
    backend: Backend,
    *,
    seconds: float = 15.0,
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.perf_counter,
    say: Callable[[str], None] = lambda line: None,
) -> Report:
    """Measure both rates of a backend, then the time of a product at each of its batches.

    Parameters
    ----------
    backend : Backend
        ``processor()`` or ``gpu()``.
    seconds : float
        After about so long no larger batch is begun, and the report says so; two batches are always
        timed.
    repeats : int
        Timings that each median is taken of, 1 or more.
    clock, say : callable
        What tells the time, and what takes a line of progress.
    """
    if repeats < 1 or not seconds > 0:
        raise ValueError(
            f"repeats must be 1 or more and seconds above 0; got {repeats} and {seconds}."
        )
    begun = clock()
    rate, size = _arithmetic_rate(backend, seconds / 4, repeats, clock)
    say(f"arithmetic: {format_value(rate, 'FLOP/s')}")
    by = {name: _median(call, backend, clock, repeats) for name, call in backend.reads.items()}
    way = min(by, key=lambda name: by[name])
    bandwidth = backend.weight_bytes / by[way]
    say(f"memory: {format_value(bandwidth, 'B/s')}")

    amount = format_value(backend.weight_bytes, "B").replace(NBSP, " ")
    report = Report(
        backend.name,
        backend.precision,
        rate,
        bandwidth,
        backend.bytes_per_parameter,
        backend.width,
        f"measured with {backend.name}, medians of {repeats}: arithmetic as 2 × {size}³ FLOP of a "
        f"square product over its time; memory as {amount} of weights, counted once, over the time "
        f"of a {way}; products of {backend.width} × {backend.width} weights, vectors not counted",
    )
    known, note = _known(report), ""
    points: list[Point] = []
    for batch in backend.batches:
        predicted = latency.step_time_lecture(known, batch=batch)
        if len(points) > 1 and clock() - begun + predicted * (repeats + 2) > seconds:
            note = f"Batches above {points[-1].batch} were left out: time was up."
            break
        took = _median(backend.product(batch), backend, clock, repeats)
        points.append(Point(batch, took, predicted))
        if len(points) % 4 == 0:
            times = format_value(took, "s"), format_value(predicted, "s")
            say(f"batch {batch}: {times[0]}, predicted {times[1]}")
    return replace(report, points=tuple(points), note=note)


def _arithmetic_rate(
    backend: Backend, seconds: float, repeats: int, clock: Callable[[], float]
) -> tuple[float, int]:
    """Return the greatest rate of a square product, in FLOP/s, and the size that reached it."""
    rate, size = 0.0, 0
    for n in backend.sizes:
        took = _median(backend.square(n), backend, clock, repeats)
        if 2 * n**3 / took > rate:
            rate, size = 2 * n**3 / took, n
        if 8 * took * (repeats + 2) > seconds:  # twice the size takes eight times as long
            break
    return rate, size


# Backends -----------------------------------------------------------------------------------------


def _batches(top: int) -> tuple[int, ...]:
    """Return 1, 2, 3, 4, 6, 8, 12, … up to `top`, which is two per doubling."""
    powers = [2**i for i in range(top.bit_length())]
    return tuple(sorted({b for p in powers for b in (p, 3 * p // 2) if b <= top}))


def processor(*, quick: bool = False) -> Backend:
    """Return NumPy's products in float32 as a backend, on all cores that its BLAS uses.

    Takes 0.6 GB of memory, half of that when quick.
    """
    import numpy as np

    width, layers, sizes, top = (
        (2048, 16, (512, 1024), 128) if quick else (4096, 8, (512, 1024, 2048), 512)
    )
    random = np.random.default_rng(0)
    try:
        weights = np.empty((layers, width, width), dtype=np.float32)
    except MemoryError:
        raise MeasureError(
            "Measuring takes 0.6 GB of memory, and this machine has less to spare."
        ) from None
    weights[:] = random.random((width, width), dtype=np.float32)
    rows, vector = weights.reshape(-1, width), random.random(width, dtype=np.float32)
    place = itertools.cycle(range(layers))

    def square(n: int) -> Callable:
        a = random.random((n, n), dtype=np.float32)
        return lambda: a @ a

    def product(batch: int) -> Callable:
        columns = random.random((width, batch), dtype=np.float32)
        return lambda: weights[next(place)] @ columns

    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return Backend(
        f"NumPy {np.__version__} on {plural(cores, 'processor core')}",
        "float32",
        4,
        width,
        layers,
        sizes,
        _batches(top),
        square,
        {"matrix-vector product": lambda: rows @ vector, "sum": weights.sum},
        product,
        lambda: None,
    )


def cuda_torch():
    """Return PyTorch, with a CUDA device.

    Raises MeasureError, with the reason in one sentence, where there is none.
    """
    try:
        import torch  # optional, and in no list of ours
    except (ImportError, OSError):  # OSError: installed without the libraries that it wants
        raise MeasureError("No GPU was measured: PyTorch cannot be imported.") from None
    if not torch.cuda.is_available():
        raise MeasureError("No GPU was measured: PyTorch finds no CUDA device.")
    return torch


def gpu(*, quick: bool = False) -> Backend:
    """Return PyTorch's products in bfloat16 as a backend, on the current CUDA GPU.

    Takes 1.3 GB of its memory.  Raises MeasureError, with the reason in one sentence, where there
    is none.
    """
    torch = cuda_torch()
    sizes: tuple[int, ...]
    width, layers, sizes, top = 8192, 8, (2048, 4096, 8192), 1024
    if quick:
        width, layers, sizes, top = 4096, 32, (2048, 4096), 512

    # Random numbers, since a chip draws less power, and runs faster, on equal ones.
    def drawn(*shape: int):
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)

    try:
        weights, vector = drawn(width, width).repeat(layers, 1), drawn(width)
    except torch.cuda.OutOfMemoryError:
        raise MeasureError(
            "No GPU was measured: it takes 1.3 GB of its memory, and less is free."
        ) from None
    place = itertools.cycle(range(layers))

    def square(n: int) -> Callable:
        a = drawn(n, n)
        return lambda: torch.matmul(a, a)

    def product(batch: int) -> Callable:
        inputs = drawn(batch, width)

        def call():
            start = next(place) * width
            return torch.matmul(inputs, weights[start : start + width].t())

        return call

    return Backend(
        f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}",
        "bfloat16",
        2,
        width,
        layers,
        sizes,
        _batches(top),
        square,
        {
            "matrix-vector product": lambda: torch.mv(weights, vector),
            "sum": lambda: torch.sum(weights),
        },
        product,
        torch.cuda.synchronize,
    )
