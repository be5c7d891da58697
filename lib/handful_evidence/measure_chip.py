"""Measure a GPU: its memory, its products by precision, and a sum over all GPUs of the machine.

``find`` returns the library that does the work, PyTorch or CuPy, as a few calls; ``measure`` times
them; ``Chip.row`` is the fields of a chip's file (`handful.chip_file`), which the commands take as
``--hardware`` and the page as a chip of the reader's own.

Conventions: rates are the best of several timings, with all work done before and after each; FLOP
counts a multiply-add as two; a copy moves its bytes twice, to be read and to be written; the bus
bandwidth of an all-reduce over n GPUs is 2 (n − 1) / n times its bytes over its time, as NCCL's own
tests count it (doc/PERFORMANCE.md there), so that it can be compared with a link's.  Where a switch
does the sum it may be above that.

>>> round(bus_bandwidth(8, 1e9, 4e-3) / 1e9, 1)  # a gigabyte over eight GPUs in four milliseconds
437.5
"""

from __future__ import annotations

import importlib
import textwrap
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from handful.units import NBSP, format_value

from .measure import MeasureError, cuda_torch, timings

__all__ = ["Chip", "Library", "Rate", "bus_bandwidth", "cupy", "find", "measure", "pytorch"]

REPEATS = 10
SIZES = (2048, 4096, 8192)
MOVED = 2**30  # bytes that a copy reads, at least
SENT = 2**30  # bytes that each GPU gives to an all-reduce
SHORT = 2**16  # bytes of one that shows its latency
LEAST = 0.02  # seconds of one timing, beside which it costs nothing to wait for the GPU
UNKNOWN_CACHE = 2**27  # where a library does not say how large the last cache is: a large one


@dataclass(frozen=True)
class Library:
    """Hold an array library on the GPUs of this machine: all that is measured, as calls.

    ``memory``, ``free`` and ``cache`` are bytes of one of its ``devices`` GPUs.  ``moves`` names
    ways to go through memory: each takes bytes, and returns a call and the bytes that it moves.
    ``products`` maps a precision to what makes, for n, a call that multiplies two n × n matrices;
    ``lacking`` says of others why there is none.  ``all_reduce`` takes the bytes of each GPU and
    returns a call.  ``finish`` waits until all work of all GPUs is done; ``full`` are the
    exceptions that mean that memory ran out.
    """

    name: str
    chip: str
    memory: int
    free: int
    cache: int
    devices: int
    moves: Mapping[str, Callable[[int], tuple[Callable, int]]]
    products: Mapping[str, Callable[[int], Callable]]
    lacking: Mapping[str, str]
    all_reduce: Callable[[int], Callable] | None
    finish: Callable[[], None]
    full: tuple[type[BaseException], ...]


@dataclass(frozen=True)
class Rate:
    """Hold a rate that was measured.

    ``value`` is that of the fastest timing, and the slowest took ``spread`` times as long.
    """

    value: float
    unit: str
    spread: float
    how: str

    def __str__(self) -> str:
        return (
            f"{format_value(self.value, self.unit)} {self.how} (the slowest took "
            f"{self.spread:.3g} times as long)"
        )


@dataclass(frozen=True)
class Chip:
    """Hold what was measured of a GPU: rates by name, and why others are missing.

    ``short_sum`` is the time of an all-reduce of few bytes, in seconds, or None.
    """

    library: Library
    rates: Mapping[str, Rate]
    lacking: Mapping[str, str]
    short_sum: float | None
    repeats: int
    day: str

    def row(self) -> dict[str, Any]:
        """Return the fields of a chip's file, in SI units; what was not measured is left out."""
        rounded = {name: float(f"{rate.value:.4g}") for name, rate in self.rates.items()}
        network = rounded.pop("all-reduce", None)
        return {
            "name": self.library.chip[:40],
            "memory_bandwidth": rounded.pop("memory"),
            **rounded,
            "memory_capacity": self.library.memory,
            "domain_devices": self.library.devices,
            **({"scale_up_bandwidth": network} if network else {}),
            "source": self.source,
            "notes": [
                f"The rates of {self.library.chip} were measured, and measured rates lie below "
                "those of a data sheet: an efficiency against them is higher than one against the "
                "data sheet."
            ],
        }

    @property
    def source(self) -> str:
        """Return what was measured, by what and when, in one line."""
        found = "; ".join(f"{name} {rate}" for name, rate in self.rates.items())
        short = f"; {self._short()}" if self.short_sum else ""
        left = "".join(f"; {name} was not measured: {why}" for name, why in self.lacking.items())
        return (
            f"measured on {self.day} with {self.library.name}, best of {self.repeats} timings: "
            f"{found}{short}{left}"
        ).replace(NBSP, " ")

    def _short(self) -> str:
        if self.short_sum is None:
            return ""
        return (
            f"an all-reduce of {format_value(SHORT, 'B')} in {format_value(self.short_sum, 's')}, "
            "all GPUs started by one process"
        )

    def __str__(self) -> str:
        rows = [(name, str(rate)) for name, rate in self.rates.items()]
        rows += [("", self._short())] if self.short_sum else []
        rows += [(name, f"not measured: {why}") for name, why in self.lacking.items()]
        how = (
            f"Measured on {self.day} with {self.library.name}, best of {self.repeats} timings; a "
            "data sheet's rates are higher, and a chip that works for hours may be slower."
        )
        shown = [
            textwrap.fill(text, 100, initial_indent=f"  {name:<12} ", subsequent_indent=" " * 15)
            for name, text in rows
        ]
        lines = [
            f"{self.library.chip}, {self.library.devices} of them"
            if self.library.devices > 1
            else self.library.chip,
            *shown,
            "",
            textwrap.fill(how, 100, initial_indent="  ", subsequent_indent="  "),
        ]
        return "\n".join(lines).replace(NBSP, " ")


def bus_bandwidth(devices: int, nbytes: float, seconds: float) -> float:
    """Return the bus bandwidth of an all-reduce, in B/s.

    Parameters
    ----------
    devices : int
        GPUs that take part.
    nbytes : float
        Bytes that each of them gives.
    seconds : float
        The time that it takes.

    >>> bus_bandwidth(2, 100, 1)  # each of two sends as much as it has
    100.0
    """
    return 2 * (devices - 1) / devices * nbytes / seconds


def measure(
    library: Library,
    *,
    quick: bool = False,
    seconds: float = 4.0,
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.perf_counter,
    say: Callable[[str], None] = lambda line: None,
    day: str = "",
) -> Chip:
    """Measure what a library's GPU does, and what all of them do together.

    Parameters
    ----------
    library : Library
        As ``find`` returns it.
    quick : bool
        Smaller matrices, less memory and fewer timings.
    seconds : float
        About what each rate may take: no larger matrix is begun that would take longer.
    repeats : int
        Timings, of which the best counts.
    clock, say : callable
        What tells the time, and what takes a line of progress.
    day : str
        The date; today where it is left out.

    Raises
    ------
    MeasureError
        In one sentence: memory ran out or is nearly full, or no product works.
    """
    repeats = min(repeats, 5) if quick else repeats
    sizes = [n for n in (SIZES[:-1] if quick else SIZES) if 16 * n**2 < library.free / 2]
    moved = min(max(MOVED // (4 if quick else 1), 8 * library.cache), library.free // 4)
    if not sizes or moved < 4 * library.cache:
        raise MeasureError(_too_little(library))
    rates: dict[str, Rate] = {}
    lacking = dict(library.lacking)
    short = None

    def times(call: Callable) -> list[float]:
        return timings(call, library.finish, clock, repeats, LEAST)

    try:
        rates["memory"] = _memory(library, moved, times)
        say(f"memory: {rates['memory']}")
        for precision, product in library.products.items():
            try:
                rates[precision] = _arithmetic(product, sizes, seconds, repeats, times)
            except library.full:
                raise
            except (RuntimeError, ValueError, TypeError, AttributeError) as error:
                lacking[precision] = f"{library.name} refuses it here: {_first_line(error)}"
            say(f"{precision}: {rates.get(precision) or lacking[precision]}")
        if library.all_reduce is None:
            lacking["all-reduce"] = "there is one GPU"
        else:
            try:
                sent = min(SENT // (8 if quick else 1), library.free // 4)
                found = times(library.all_reduce(sent))
                short = min(times(library.all_reduce(SHORT)))
                rates["all-reduce"] = Rate(
                    bus_bandwidth(library.devices, sent, min(found)),
                    "B/s",
                    _spread(found),
                    f"of bus bandwidth, for {format_value(sent, 'B')} summed over "
                    f"{library.devices} GPUs in {format_value(min(found), 's')}: 2 (n − 1) / n "
                    "times bytes over time, as NCCL's tests count it",
                )
            except library.full:
                raise
            except (RuntimeError, ValueError, TypeError, AttributeError) as error:
                lacking["all-reduce"] = f"{library.name} refuses it here: {_first_line(error)}"
            say(f"all-reduce: {rates.get('all-reduce') or lacking['all-reduce']}")
    except library.full:
        raise MeasureError(_too_little(library)) from None
    if not set(rates) & {"bf16", "fp8", "fp4"}:
        raise MeasureError(
            f"The rates of {library.chip} were not measured: no product works "
            f"({'; '.join(f'{name}: {why}' for name, why in lacking.items())})."
        )
    return Chip(library, rates, lacking, short, repeats, day or date.today().isoformat())


def _too_little(library: Library) -> str:
    amount = format_value(library.free, "B").replace(NBSP, " ")
    return (
        f"The rates of {library.chip} were not measured: its memory does not suffice, of which "
        f"{amount} was free."
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:160].rstrip(".")


def _spread(times: list[float]) -> float:
    return max(times) / min(times)


def _memory(library: Library, nbytes: int, times: Callable[[Callable], list[float]]) -> Rate:
    """Return the rate of the fastest way through memory."""
    best: Rate | None = None
    for way, make in library.moves.items():
        call, moved = make(nbytes)
        found = times(call)
        rate = moved / min(found)
        if best is None or rate > best.value:
            amount = format_value(nbytes, "B")
            best = Rate(rate, "B/s", _spread(found), f"by a {way} of {amount}")
        del call  # and its memory, before the next way takes as much
    assert best is not None, "a library has a way through memory"
    return best


def _arithmetic(
    product: Callable[[int], Callable],
    sizes: list[int],
    seconds: float,
    repeats: int,
    times: Callable[[Callable], list[float]],
) -> Rate:
    """Return the rate of the fastest square product."""
    best: Rate | None = None
    for n in sizes:
        found = times(product(n))
        rate = 2 * n**3 / min(found)
        if best is None or rate > best.value:
            best = Rate(rate, "FLOP/s", _spread(found), f"by products of {n} × {n} matrices")
        if 8 * min(found) * (repeats + 2) > seconds:  # twice the size takes eight times as long
            break
    assert best is not None, "there is a size"
    return best


# Libraries ----------------------------------------------------------------------------------------


def find() -> Library:
    """Return PyTorch on the GPUs of this machine, or CuPy where that is all there is.

    Raises MeasureError, with the reason in one sentence, where there is no GPU, or neither.
    """
    try:
        return pytorch()
    except MeasureError as error:
        with suppress(MeasureError):
            return cupy()
        raise error


def pytorch() -> Library:
    """Return PyTorch on the CUDA GPUs of this machine, those of the first one's kind.

    Raises MeasureError where there is none.
    """
    torch = cuda_torch()
    cuda = torch.cuda
    torch.cuda.empty_cache()
    chip = cuda.get_device_name(0)
    alike = [i for i in range(cuda.device_count()) if cuda.get_device_name(i) == chip]
    properties = cuda.get_device_properties(0)
    free, memory = cuda.mem_get_info(0)
    version = f"PyTorch {torch.__version__}"

    # Random numbers, since a chip draws less power, and runs faster, on equal ones.
    def drawn(*shape: int, device: str = "cuda:0"):
        return torch.randn(*shape, device=device, dtype=torch.bfloat16)

    def bf16(n: int) -> Callable:
        a, b = drawn(n, n), drawn(n, n)
        return lambda: torch.matmul(a, b)

    # The second factor of all others lies by columns, as cuBLAS wants it of narrow numbers.
    def fp8(n: int) -> Callable:
        a, b = (drawn(n, n).to(torch.float8_e4m3fn) for _ in range(2))
        one = torch.ones((), device="cuda:0", dtype=torch.float32)
        return lambda: torch._scaled_mm(
            a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True
        )

    def int8(n: int) -> Callable:
        a, b = (
            torch.randint(-128, 128, (n, n), device="cuda:0", dtype=torch.int8) for _ in range(2)
        )
        return lambda: torch._int_mm(a, b.t())

    def fp4(n: int) -> Callable:  # two numbers a byte, and a scale for each 16, as NVFP4 has them
        a, b = (
            torch.randint(0, 256, (n, n // 2), device="cuda:0", dtype=torch.uint8).view(
                torch.float4_e2m1fn_x2
            )
            for _ in range(2)
        )
        ones = torch.ones(n, n // 16, device="cuda:0").to(torch.float8_e4m3fn)
        return lambda: torch._scaled_mm(
            a, b.t(), scale_a=ones, scale_b=ones, out_dtype=torch.bfloat16
        )

    made = {"bf16": bf16, "fp8": fp8, "fp4": fp4, "int8": int8}
    wants = {
        "fp8": ("float8_e4m3fn", "_scaled_mm"),
        "fp4": ("float4_e2m1fn_x2", "_scaled_mm"),
        "int8": ("_int_mm",),
    }
    lacking = {
        name: f"{version} has no product of it"
        for name, parts in wants.items()
        if not all(hasattr(torch, part) for part in parts)
    }

    def copying(nbytes: int) -> tuple[Callable, int]:
        source = drawn(nbytes // 2)
        target = torch.empty_like(source)
        return lambda: target.copy_(source), 2 * 2 * (nbytes // 2)

    def reading(nbytes: int) -> tuple[Callable, int]:
        source = drawn(nbytes // 2)
        return lambda: torch.sum(source), 2 * (nbytes // 2)

    def all_reduce(nbytes: int) -> Callable:
        nccl = importlib.import_module("torch.cuda.nccl")
        sent = [torch.ones(nbytes // 2, device=f"cuda:{i}", dtype=torch.bfloat16) for i in alike]
        got = [torch.empty_like(one) for one in sent]
        nccl.all_reduce(sent, got)
        finish()
        _check_sum([float(one[-1]) for one in got])
        return lambda: nccl.all_reduce(sent, got)

    def finish() -> None:
        for i in alike:
            cuda.synchronize(i)

    return Library(
        version,
        chip,
        memory,
        free,
        getattr(properties, "L2_cache_size", 0) or UNKNOWN_CACHE,
        len(alike),
        {"copy": copying, "sum": reading},
        {name: make for name, make in made.items() if name not in lacking},
        lacking,
        all_reduce if len(alike) > 1 else None,
        finish,
        (cuda.OutOfMemoryError,),
    )


def cupy() -> Library:
    """Return CuPy on the CUDA GPUs of this machine, those of the first one's kind.

    Raises MeasureError where there is none.
    """
    try:
        import cupy as library  # optional, and in no list of ours
    except (ImportError, OSError):
        raise MeasureError("No GPU was measured: CuPy cannot be imported.") from None
    runtime = library.cuda.runtime
    try:
        properties = [runtime.getDeviceProperties(i) for i in range(runtime.getDeviceCount())]
    except runtime.CUDARuntimeError:
        properties = []
    if not properties:
        raise MeasureError("No GPU was measured: CuPy finds no CUDA device.")
    chip = properties[0]["name"].decode()
    alike = [i for i, one in enumerate(properties) if one["name"] == properties[0]["name"]]
    free, memory = runtime.memGetInfo()
    version = f"CuPy {library.__version__}"
    lacking = {
        name: "CuPy has no product of it on the matrix units" for name in ("fp8", "fp4", "int8")
    }
    try:
        sixteen = importlib.import_module("ml_dtypes").bfloat16
        library.empty(1, dtype=sixteen)
    except (ImportError, AttributeError, TypeError, ValueError):  # CuPy 13 and before
        sixteen = library.float16
        version += ", with float16 in bf16's place, which matrix units multiply as fast"

    def drawn(*shape: int):
        return library.random.standard_normal(shape, dtype=library.float32)

    def bf16(n: int) -> Callable:
        a, b = (drawn(n, n).astype(sixteen) for _ in range(2))
        return lambda: library.dot(a, b)

    def copying(nbytes: int) -> tuple[Callable, int]:
        source = drawn(nbytes // 4)
        target = library.empty_like(source)
        return lambda: library.copyto(target, source), 2 * 4 * (nbytes // 4)

    def reading(nbytes: int) -> tuple[Callable, int]:
        source = drawn(nbytes // 4)
        return lambda: library.sum(source), 4 * (nbytes // 4)

    def all_reduce(nbytes: int) -> Callable:
        nccl = library.cuda.nccl
        if not nccl.available:
            raise RuntimeError("it comes without NCCL")
        comms = nccl.NcclCommunicator.initAll(alike)
        sent, got = [], []
        for i in alike:
            with library.cuda.Device(i):
                sent.append(library.ones(nbytes // 4, dtype=library.float32))
                got.append(library.empty_like(sent[-1]))

        def call() -> None:
            nccl.groupStart()
            for i, comm, one, other in zip(alike, comms, sent, got, strict=True):
                with library.cuda.Device(i):
                    comm.allReduce(
                        one.data.ptr,
                        other.data.ptr,
                        nbytes // 4,
                        nccl.NCCL_FLOAT32,
                        nccl.NCCL_SUM,
                        library.cuda.Stream.null.ptr,
                    )
            nccl.groupEnd()

        call()
        finish()
        _check_sum([float(one[-1]) for one in got])
        return call

    def finish() -> None:
        for i in alike:
            library.cuda.Device(i).synchronize()

    return Library(
        version,
        chip,
        memory,
        free,
        properties[0].get("l2CacheSize", 0) or UNKNOWN_CACHE,
        len(alike),
        {"copy": copying, "sum": reading},
        {"bf16": bf16},
        lacking,
        all_reduce if len(alike) > 1 else None,
        finish,
        (library.cuda.memory.OutOfMemoryError,),
    )


def _check_sum(values: list[float]) -> None:
    """Raise where ones, summed over all GPUs, are not as many as these."""
    if any(value != len(values) for value in values):
        raise RuntimeError(f"ones over {len(values)} GPUs were summed to {values[0]:g}")
