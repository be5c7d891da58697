"""Tests of a machine's measured rates and knee.

The machines are simulated ones whose truth is known, a published chip, and this one.
"""

import json
import math
import platform
import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from handful import facts
from handful_evidence.measure import Backend, MeasureError, fitted_knee, gpu, measure, processor

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Machine:
    """A clock that calls move on: by a roofline's time, or by what `slow` makes of it."""

    def __init__(
        self,
        rate=100e9,
        bandwidth=20e9,
        nbytes=4,
        width=4096,
        slow=max,
        batches=BATCHES,
        sizes=(512, 1024),
    ):
        self.now = 0.0
        self.calls: list[float] = []
        self.hiccup = lambda number: 1.0
        layer = width**2 * nbytes / bandwidth
        self.backend = Backend(
            "simulated chip",
            "float32",
            nbytes,
            width,
            4,
            sizes,
            batches,
            lambda n: self.work(2 * n**3 / rate),
            {"matrix-vector product": self.work(4 * layer), "sum": self.work(6 * layer)},
            lambda batch: self.work(slow(layer, 2 * batch * width**2 / rate)),
            lambda: None,
        )

    def work(self, seconds):
        number = 0

        def call():
            nonlocal number
            number += 1
            self.calls.append(seconds)
            self.now += seconds * self.hiccup(number)

        return call

    def report(self, **options):
        return measure(self.backend, clock=lambda: self.now, **options)


# A machine whose truth is known


def test_a_perfect_roofline_gives_its_rates_and_knee_back():
    report = Machine().report(seconds=1e9)
    assert report.peak_flops == pytest.approx(100e9)
    assert report.memory_bandwidth == pytest.approx(20e9)  # the faster of the two ways of reading
    assert report.predicted_knee == pytest.approx(10)  # 100e9 × 4 ÷ (2 × 20e9)
    assert report.measured_knee == pytest.approx(10, rel=0.01)
    assert report.reached and report.knee_ratio == pytest.approx(1, rel=0.01)
    assert [p.ratio for p in report.points] == pytest.approx([1] * len(BATCHES))
    assert [p.batch for p in report.points] == list(BATCHES) and not report.note


def test_a_published_chip_balances_where_others_say():
    """H100 in bf16: 295 tokens per weight read, the lecture's 300."""
    row = facts.get("accelerators", "H100 SXM")
    report = Machine(
        row["bf16_dense_flops"],
        row["hbm_bandwidth_bytes_per_s"],
        2,
        8192,
        batches=(*BATCHES, 1024, 2048),
    ).report()
    assert report.predicted_knee == pytest.approx(295, abs=0.5)
    assert report.measured_knee == pytest.approx(295, rel=0.01)


@pytest.mark.parametrize(
    ("slow", "ratio"),
    [
        (
            lambda read, compute: max(3 * read, compute),
            3,
        ),  # products that read their weights three times
        (
            lambda read, compute: max(read, 2 * compute),
            1 / 2,
        ),  # products at half of the square products' rate
    ],
)
def test_the_ratio_says_which_side_falls_short(slow, ratio):
    report = Machine(slow=slow).report()
    assert report.knee_ratio == pytest.approx(ratio, rel=0.01)
    worst = max(p.ratio for p in report.points)
    assert worst == pytest.approx(max(ratio, 1 / ratio), rel=1e-6)


def test_without_overlap_the_knee_stays_but_times_double_there():
    # Batches as far below the knee, at 16, as above it.
    report = Machine(
        rate=160e9, slow=lambda read, compute: read + compute, batches=BATCHES[:9]
    ).report()
    assert report.knee_ratio == pytest.approx(1, rel=0.15)
    assert max(report.points, key=lambda p: p.ratio).batch == 16
    assert max(p.ratio for p in report.points) == pytest.approx(2)


@pytest.mark.parametrize("batches", [(1, 2, 4, 8), (16, 32, 64)])
def test_a_knee_outside_the_batches_is_not_made_up(batches):
    report = Machine(batches=batches).report()
    assert not report.reached
    assert f"none between batch {batches[0]} and {batches[-1]}" in str(report)
    assert report.row()["measured_knee_sequences"] is None and report.row()["knee_ratio"] is None


# How it is timed


def test_warm_up_and_hiccups_leave_no_trace():
    machine = Machine(rate=1e9, bandwidth=1e8)  # slow enough for one call a timing
    machine.hiccup = lambda number: 50 if number == 1 else 5 if number in (4, 7, 9) else 1
    report = machine.report(seconds=1e9)
    assert (report.peak_flops, report.memory_bandwidth) == (pytest.approx(1e9), pytest.approx(1e8))
    assert [p.ratio for p in report.points] == pytest.approx([1] * len(BATCHES))


def test_short_calls_are_timed_together():
    slow, fast = Machine(1e9, 1e8, width=64), Machine(1e12, 1e11, width=64)
    assert slow.report().predicted_knee == pytest.approx(fast.report().predicted_knee)
    assert len(fast.calls) > 5 * len(slow.calls)


def test_no_larger_batch_is_begun_when_time_is_up():
    machine = Machine(rate=1e9, bandwidth=2e8)
    report = machine.report(seconds=60)
    last = report.points[-1].batch
    assert 2 <= last < 512 and report.note == f"Batches above {last} were left out: time was up."
    assert machine.now < 2 * 60 and report.note in str(report)


def test_two_batches_are_timed_however_short_the_time():
    assert len(Machine(rate=1e6, bandwidth=1e5).report(seconds=1e-3).points) == 2


def test_larger_squares_are_left_out_on_a_slow_machine():
    machine = Machine(rate=1e9, sizes=(512, 1024, 2048))
    machine.report(seconds=15)
    assert 2 * 2048**3 / 1e9 not in machine.calls and 2 * 512**3 / 1e9 in machine.calls


def test_progress_is_said():
    said = []
    Machine().report(say=said.append)
    assert (
        said[0].startswith("arithmetic: 100")
        and said[1].startswith("memory: 20")
        and len(said) == 4
    )


@pytest.mark.parametrize("options", [{"repeats": 0}, {"seconds": 0}, {"seconds": math.nan}])
def test_impossible_options_are_refused(options):
    with pytest.raises(ValueError, match=r"repeats .*seconds"):
        Machine().report(**options)


# The fit


def test_the_fit_is_that_of_a_general_optimiser():
    noise = np.random.default_rng(3).normal(0, 0.1, len(BATCHES))
    times = [max(1, b / 23) * math.exp(e) for b, e in zip(BATCHES, noise, strict=True)]

    def error(log_knee):
        logs = np.log(times) - np.log(np.maximum(1, np.array(BATCHES) / math.exp(log_knee)))
        return ((logs - logs.mean()) ** 2).sum()

    best = minimize_scalar(
        error, bounds=(0, math.log(512)), method="bounded", options={"xatol": 1e-6}
    )
    knee = fitted_knee(BATCHES, times)
    assert knee == pytest.approx(math.exp(best.x), rel=0.004) and knee == pytest.approx(23, rel=0.3)
    assert fitted_knee(BATCHES, [1e-3 * t for t in times]) == knee  # whatever the unit of time
    assert fitted_knee([4 * b for b in BATCHES], times) == pytest.approx(4 * knee)


@given(st.lists(st.floats(1e-6, 1e3), min_size=4, max_size=4))
def test_the_knee_lies_within_the_batches_whatever_the_times(times):
    assert 1 <= fitted_knee((1, 4, 16, 64), times) <= 64


@pytest.mark.parametrize(
    ("batches", "times"),
    [
        ([1], [1]),
        ([1, 2], [1]),
        ([1, 2], [1, 0]),
        ([2, 2], [1, 1]),
        ([0, 1], [1, 1]),
        ([1, 2], [1, math.nan]),
    ],
)
def test_what_cannot_be_fitted_is_refused(batches, times):
    with pytest.raises(ValueError, match="A knee needs two batches or more"):
        fitted_knee(batches, times)


# The report


def test_a_row_has_its_source():
    row = Machine().report().row()
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert row["source"].startswith("measured with simulated chip, medians of 7")
    assert (
        "268 MB of weights, counted once" in row["source"]
        and "vectors not counted" in row["source"]
    )


def test_the_text_says_both_knees_and_every_batch():
    text = str(Machine(slow=lambda read, compute: max(2.5 * read, compute)).report())
    assert "Predicted knee   batch 10\n" in text and "2.5 times the prediction" in text
    assert "100 GFLOP/s" in text and "20 GB/s" in text and "\xa0" not in text
    assert [int(line[:8]) for line in text.splitlines() if line[:8].strip().isdigit()] == list(
        BATCHES
    )


# Backends


def test_this_machine():
    backend = processor(quick=True)
    assert backend.weight_bytes == 2**28 and backend.batches[-1] == 128
    assert backend.batches[:8] == (1, 2, 3, 4, 6, 8, 12, 16)
    report = measure(backend, seconds=1.5)
    assert report.peak_flops > 0 and report.memory_bandwidth > 0 and report.predicted_knee > 0
    assert report.points[0].batch <= report.measured_knee <= report.points[-1].batch
    assert all(p.measured > 0 and p.predicted > 0 for p in report.points)
    assert "float32" in str(report)
    assert platform.node() not in str(report.row()) or platform.node() in ("", "localhost")


def test_each_product_takes_the_next_matrix():
    backend = processor(quick=True)
    assert backend.square(8)().shape == (8, 8)
    product = backend.product(3)
    assert product().shape == (backend.width, 3) == product().shape


def fake_torch(available=True, full=False):
    """Make as much of PyTorch as is used: shapes without numbers."""

    class Full(RuntimeError):
        pass

    class Tensor:
        def __init__(self, *shape, start=0):
            self.shape, self.start = shape, start

        def repeat(self, rows, columns):
            if full:
                raise Full
            return Tensor(self.shape[0] * rows, self.shape[1] * columns)

        def __getitem__(self, rows):
            return Tensor(rows.stop - rows.start, self.shape[1], start=rows.start)

        def t(self):
            return Tensor(*reversed(self.shape), start=self.start)

    def matmul(left, right):
        assert left.shape[-1] == right.shape[0]
        torch.starts.append(right.start)
        return Tensor(*left.shape[:-1], *right.shape[1:])

    torch = types.ModuleType("torch")
    torch.__version__, torch.bfloat16 = "2.0", "bfloat16"
    torch.done, torch.starts = 0, []

    def synchronize():
        torch.done += 1

    def randn(*shape, device, dtype):
        assert (device, dtype) == ("cuda", "bfloat16")
        return Tensor(*shape)

    torch.cuda = types.SimpleNamespace(
        is_available=lambda: available,
        get_device_name=lambda: "Test GPU",
        synchronize=synchronize,
        OutOfMemoryError=Full,
    )
    torch.randn, torch.matmul, torch.mv, torch.sum = randn, matmul, matmul, lambda tensor: Tensor()
    return torch


def test_a_gpu_is_measured_through_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", torch := fake_torch())
    backend = gpu(quick=True)
    assert backend.name == "PyTorch 2.0 on Test GPU" and backend.bytes_per_parameter == 2
    assert backend.weight_bytes == 2**30
    assert backend.product(24)().shape == (24, backend.width) and backend.square(64)().shape == (
        64,
        64,
    )
    now = iter(range(10**9))
    report = measure(backend, clock=lambda: next(now), seconds=1e9)
    assert report.points[-1].batch == 512 and torch.done > len(report.points) * 7
    assert set(torch.starts) == {i * backend.width for i in range(backend.layers)}
    assert "bfloat16" in report.row()["name"]


def test_a_gpu_that_is_not_there_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MeasureError, match=r"^No GPU was measured: PyTorch cannot be imported\.$"):
        gpu()
    monkeypatch.setitem(sys.modules, "torch", fake_torch(available=False))
    with pytest.raises(
        MeasureError, match=r"^No GPU was measured: PyTorch finds no CUDA device\.$"
    ):
        gpu()
    monkeypatch.setitem(sys.modules, "torch", fake_torch(full=True))
    with pytest.raises(MeasureError, match=r"^No GPU was measured: it takes 1\.3 GB of its memory"):
        gpu()
