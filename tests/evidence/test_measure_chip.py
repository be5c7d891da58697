"""Tests of a GPU's measured rates, and of the file that they are written to.

No GPU is needed: the libraries are NumPy, a simulated machine whose truth is known, and modules
with the names of PyTorch and of CuPy that do their work with NumPy.
"""

import functools
import itertools
import json
import subprocess
import sys
import types
from dataclasses import replace

import numpy as np
import pytest

from handful import chip_file, latency, scenario
from handful.cli import main
from handful_evidence import measure as of_machine
from handful_evidence import measure_chip
from handful_evidence.measure import MeasureError
from handful_evidence.measure_chip import Library, bus_bandwidth, cupy, find, measure, pytorch
from handful_site import bootstrap


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Sizes that a processor has done with at once."""
    for name, value in (
        ("SIZES", (128, 256)),
        ("MOVED", 2**18),
        ("SENT", 2**18),
        ("SHORT", 2**10),
        ("LEAST", 1e-5),
    ):
        monkeypatch.setattr(measure_chip, name, value)


class Machine:
    """A clock that work moves on, at rates that are known."""

    def __init__(self, devices=1, **changes):
        self.now, self.waited = 0.0, 0
        self.rates = {"bf16": 700e12, "fp8": 1300e12, "int8": 1200e12}
        self.free = 10**9

        def move(nbytes, times, rate):
            return self.work(times * nbytes / rate), times * nbytes

        def product(rate):  # of which small matrices reach half
            return lambda n: self.work(2 * n**3 / rate * (1 if n == 256 else 2))

        self.library = Library(
            **{
                "name": "Simulator 1.0",
                "chip": "Known GPU",
                "memory": 80 * 10**9,
                "free": self.free,
                "cache": 2**16,
                "devices": devices,
                "moves": {
                    "copy": lambda nbytes: move(nbytes, 2, 2.9e12),
                    "sum": lambda nbytes: move(nbytes, 1, 3e12),
                },
                "products": {name: product(rate) for name, rate in self.rates.items()},
                "lacking": {"fp4": "Simulator 1.0 has no product of it"},
                "all_reduce": (lambda nbytes: self.work(nbytes / 200e9)) if devices > 1 else None,
                "finish": self.finish,
                "full": (MemoryError,),
                **changes,
            }
        )

    def finish(self):
        self.waited += 1

    def work(self, seconds):
        def call():
            self.now += seconds

        return call

    def measure(self, **options):
        return measure(self.library, clock=lambda: self.now, day="2026-02-03", **options)


# A machine whose truth is known


def test_known_rates_come_back():
    said = []
    chip = Machine().measure(say=said.append)
    assert {name: rate.value for name, rate in chip.rates.items()} == pytest.approx(
        {"memory": 3e12, **Machine().rates}  # of two ways through memory, the faster
    )
    assert all(rate.spread == pytest.approx(1) for rate in chip.rates.values())
    assert chip.rates["memory"].how.startswith("by a sum of 524")  # 8 times the cache
    assert chip.rates["bf16"].how == "by products of 256 × 256 matrices"
    assert chip.lacking["fp4"] == "Simulator 1.0 has no product of it"
    assert chip.lacking["all-reduce"] == "there is one GPU"
    assert [line.partition(":")[0] for line in said] == ["memory", *Machine().rates]


@pytest.mark.parametrize("devices", [2, 8])
def test_a_sum_over_all_has_nccls_bus_bandwidth(devices):
    chip = Machine(devices).measure()
    factor = {2: 1, 8: 1.75}[devices]  # 2 (n − 1) / n, as the table in NCCL's tests has it
    assert chip.rates["all-reduce"].value == pytest.approx(factor * 200e9)
    assert chip.short_sum == pytest.approx(2**10 / 200e9)
    assert chip.row()["scale_up_bandwidth"] == pytest.approx(factor * 200e9, rel=1e-3)
    assert chip.row()["domain_devices"] == devices
    assert bus_bandwidth(devices, 1e9, 1e-3) == pytest.approx(factor * 1e12)


def test_the_best_counts_and_the_worst_is_told():
    slow, count = Machine(), itertools.count()

    def hesitating(n):
        def call():
            slow.now += 2e-3 if next(count) % 3 else 1e-3

        return call

    slow.library = replace(slow.library, products={"bf16": hesitating})
    rate = slow.measure().rates["bf16"]
    assert rate.value == pytest.approx(2 * 256**3 / 1e-3) and rate.spread == pytest.approx(2)
    assert "the slowest took 2 times as long" in str(rate)


def test_all_work_is_waited_for_before_and_after_each_timing():
    machine = Machine()
    machine.library = replace(
        machine.library,
        products={"bf16": lambda n: machine.work(1)},
        moves={"sum": lambda nbytes: (machine.work(1), nbytes)},
    )
    machine.measure(repeats=4)
    assert machine.waited == 2 * (
        2 + 4
    )  # memory, and one size of products: the next takes too long


def test_no_larger_matrix_is_begun_than_time_and_memory_allow():
    sizes = []

    def product(n):
        sizes.append(n)
        return machine.work(1.0)

    machine = Machine(products={"bf16": product})
    machine.measure(seconds=4)
    assert sizes == [128]
    sizes.clear()
    # What is free holds the smaller alone.
    machine = Machine(free=3 * 16 * 128**2, cache=2**12, products={"bf16": product})
    machine.measure(seconds=1e9)
    assert sizes == [128]


def test_too_little_memory_is_one_sentence():
    for changes in ({"free": 2**17}, {"cache": 2**30}):
        with pytest.raises(MeasureError) as refusal:
            Machine(**changes).measure()
        assert str(refusal.value).startswith("The rates of Known GPU were not measured: its memory")

    def full(n):
        raise MemoryError

    with pytest.raises(MeasureError, match=r"does not suffice, of which 1 GB was free\.$"):
        Machine(products={"bf16": full}).measure()


def test_what_a_library_refuses_is_left_out_with_its_reason():
    def refused(n):
        raise RuntimeError("fp8 wants compute capability 8.9.\nC++ frames follow")

    machine = Machine()
    products = {**machine.library.products, "fp8": refused}
    machine.library = replace(machine.library, products=products)
    chip = machine.measure()
    assert chip.lacking["fp8"] == "Simulator 1.0 refuses it here: fp8 wants compute capability 8.9"
    assert "fp8" not in chip.row() and "bf16" in chip.row()
    assert "fp8 was not measured: Simulator 1.0 refuses it here" in chip.row()["source"]
    assert "fp8          not measured: Simulator 1.0 refuses" in str(chip)
    with pytest.raises(MeasureError, match="no product works"):
        Machine(products={"bf16": refused}).measure()


# NumPy


def numpy_library(devices=2):
    """Return NumPy as a library: what is measured is the processor."""
    random = np.random.default_rng(0)

    def copying(nbytes):
        source = random.random(nbytes // 8)
        target = np.empty_like(source)
        return lambda: np.copyto(target, source), 2 * source.nbytes

    def product(n):
        a = random.random((n, n), dtype=np.float32)
        return lambda: a @ a

    def all_reduce(nbytes):
        sent = random.random((devices, nbytes // 8))
        return lambda: sent.sum(0)

    return Library(
        "NumPy", "A processor", 8 * 10**9, 10**9, 2**16, devices, {"copy": copying},
        {"bf16": product}, {}, all_reduce, lambda: None, (MemoryError,),
    )  # fmt: skip


def test_a_processor_is_measured_by_the_same_calls():
    chip = measure(numpy_library(), repeats=3)
    row = chip.row()
    assert row["bf16"] > 1e6 and row["memory_bandwidth"] > 1e6 and row["scale_up_bandwidth"] > 1e3
    assert all(rate.spread >= 1 for rate in chip.rates.values())


# PyTorch, by a module with its names


class Tensor:
    """An array, what PyTorch would call its type, and the GPU that it is on."""

    def __init__(self, array, dtype, device):
        self.array, self.dtype, self.device = array, dtype, device
        self.shape = array.shape

    def to(self, dtype):
        return Tensor(self.array, dtype, self.device)

    view = to

    def t(self):
        return Tensor(self.array.T, self.dtype, self.device)

    def copy_(self, other):
        self.array[...] = other.array

    def __getitem__(self, place):
        return self.array[place]


def fake_torch(monkeypatch, *, devices=1, names=None, without=(), full=False):
    """Make as much of PyTorch as is used, over NumPy, and note each product and each wait."""

    class OutOfMemoryError(RuntimeError):
        pass

    random = np.random.default_rng(0)
    torch = types.ModuleType("torch")
    torch.__version__ = "2.9"
    torch.calls = []
    for name in ("bfloat16", "float8_e4m3fn", "float4_e2m1fn_x2", "float32", "uint8", "int8"):
        setattr(torch, name, name)

    def made(array, dtype, device):
        if full:
            raise OutOfMemoryError("CUDA out of memory.")
        assert device.startswith("cuda:")
        return Tensor(array, dtype, device)

    def randn(*shape, device, dtype):
        return made(random.standard_normal(shape, dtype=np.float32), dtype, device)

    def randint(low, high, shape, *, device, dtype):
        return made(random.integers(low, high, shape, dtype=dtype), dtype, device)

    def ones(*shape, device, dtype="float32"):
        return made(np.ones(shape[0] if shape == ((),) else shape, np.float32), dtype, device)

    def matmul(a, b):
        torch.calls.append(("matmul", a.dtype))
        return a.array @ b.array

    def _int_mm(a, b):
        assert (a.dtype, b.dtype) == ("int8", "int8") and b.array.flags.f_contiguous
        torch.calls.append(("_int_mm", "int8"))
        return a.array.astype(np.int32) @ b.array

    def _scaled_mm(a, b, scale_a, scale_b, *, out_dtype, use_fast_accum=False):
        assert a.dtype == b.dtype and out_dtype == "bfloat16"
        assert a.array.flags.c_contiguous and b.array.flags.f_contiguous
        rows, packed = a.shape
        if a.dtype == "float8_e4m3fn":  # a scale for all, in 32 bits
            assert use_fast_accum and scale_a.dtype == scale_b.dtype == "float32"
            assert scale_a.array.size == scale_b.array.size == 1
        else:  # two numbers a byte, and a scale in fp8 for each sixteen
            assert a.dtype == "float4_e2m1fn_x2" and packed == rows // 2
            assert scale_a.dtype == scale_b.dtype == "float8_e4m3fn"
            assert scale_a.array.size == scale_b.array.size == rows * rows // 16
        torch.calls.append(("_scaled_mm", a.dtype))
        return a.array.astype(np.float32) @ b.array

    torch.randn, torch.randint, torch.ones = randn, randint, ones
    torch.matmul, torch._int_mm, torch._scaled_mm = matmul, _int_mm, _scaled_mm
    torch.sum = lambda one: one.array.sum()
    torch.empty_like = lambda one: Tensor(np.empty_like(one.array), one.dtype, one.device)
    names = names or ["Test GPU"] * devices
    torch.cuda = types.SimpleNamespace(
        is_available=lambda: bool(names),
        device_count=lambda: len(names),
        get_device_name=lambda i=0: names[i],
        get_device_properties=lambda i: types.SimpleNamespace(L2_cache_size=2**16),
        mem_get_info=lambda i: (10**9, 80 * 10**9),
        empty_cache=lambda: None,
        synchronize=lambda i=0: torch.calls.append(("wait", i)),
        OutOfMemoryError=OutOfMemoryError,
    )
    nccl = types.ModuleType("torch.cuda.nccl")
    nccl.wrong = False

    def all_reduce(inputs, outputs):
        assert len({one.device for one in inputs}) == len(inputs)
        total = sum(one.array for one in inputs) + nccl.wrong
        for one in outputs:
            one.array[...] = total
        torch.calls.append(("all_reduce", len(inputs)))

    nccl.all_reduce = all_reduce
    torch.nccl = nccl
    for name in without:
        delattr(torch, name)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.cuda.nccl", nccl)
    return torch


def test_torch_measures_each_precision_by_its_own_product(monkeypatch):
    torch = fake_torch(monkeypatch)
    library = pytorch()
    assert (library.name, library.chip, library.devices) == ("PyTorch 2.9", "Test GPU", 1)
    chip = measure(library, repeats=2)
    products = {call for call in torch.calls if call[0] != "wait"}
    assert products == {
        ("matmul", "bfloat16"),
        ("_scaled_mm", "float8_e4m3fn"),
        ("_scaled_mm", "float4_e2m1fn_x2"),
        ("_int_mm", "int8"),
    }
    row = chip.row()
    assert row["memory_capacity"] == 80 * 10**9 and "device_price" not in row
    assert {"bf16", "fp8", "fp4", "int8", "memory_bandwidth"} <= set(row)
    assert chip.lacking == {"all-reduce": "there is one GPU"}
    assert ("wait", 0) in torch.calls


def test_bytes_are_those_that_a_call_moves(monkeypatch):
    fake_torch(monkeypatch)
    library = pytorch()
    assert library.moves["copy"](1000)[1] == 2000  # read, and written
    assert library.moves["sum"](1000)[1] == 1000


def test_an_older_torch_leaves_out_what_it_does_not_know(monkeypatch):
    fake_torch(monkeypatch, without=["float8_e4m3fn", "float4_e2m1fn_x2", "_int_mm"])
    chip = measure(pytorch(), repeats=1)
    for precision in ("fp8", "fp4", "int8"):
        assert chip.lacking[precision] == "PyTorch 2.9 has no product of it"
    assert set(chip.rates) == {"memory", "bf16"}


def test_several_gpus_sum_over_those_of_one_kind(monkeypatch):
    torch = fake_torch(monkeypatch, names=["Test GPU", "Display", "Test GPU", "Test GPU"])
    library = pytorch()
    assert library.devices == 3
    chip = measure(library, repeats=1)
    assert ("all_reduce", 3) in torch.calls and chip.rates["all-reduce"].value > 0
    assert {("wait", 0), ("wait", 2), ("wait", 3)} <= set(torch.calls)
    assert ("wait", 1) not in torch.calls
    torch.nccl.wrong = True
    chip = measure(pytorch(), repeats=1)
    assert "ones over 3 GPUs were summed to 4" in chip.lacking["all-reduce"]
    assert "scale_up_bandwidth" not in chip.row() and chip.row()["domain_devices"] == 3


def test_memory_that_runs_out_in_torch_is_one_sentence(monkeypatch):
    fake_torch(monkeypatch, full=True)
    with pytest.raises(MeasureError) as refusal:
        measure(pytorch())
    assert str(refusal.value) == (
        "The rates of Test GPU were not measured: its memory does not suffice, of which 1 GB was "
        "free."
    )


# CuPy, by a module with its names


class Array:
    """An array of CuPy's, with an address."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype
        self.data = types.SimpleNamespace(ptr=id(self))

    def astype(self, dtype):
        return Array(self.array, dtype)

    def __getitem__(self, place):
        return self.array[place]


def fake_cupy(monkeypatch, *, devices=1, bfloat16=True, nccl=True):
    """Make as much of CuPy as is used, over NumPy, and note products, sums and waits."""

    class CUDARuntimeError(RuntimeError):
        pass

    class OutOfMemoryError(MemoryError):
        pass

    library = types.ModuleType("cupy")
    library.__version__ = "14.2" if bfloat16 else "13.6"
    library.calls, queued, chosen, arrays = [], [], [0], {}

    class Device:
        def __init__(self, number):
            self.number = number

        def __enter__(self):
            chosen.append(self.number)

        def __exit__(self, *_):
            chosen.pop()

        def synchronize(self):
            library.calls.append(("wait", self.number))

    def count():
        if not devices:
            raise CUDARuntimeError("cudaErrorNoDevice")
        return devices

    def placed(array, dtype):
        found = Array(array, dtype)
        arrays[found.data.ptr] = found
        return found

    def empty(size, dtype):
        if dtype == "bfloat16" and not bfloat16:
            raise TypeError("data type not understood")
        return placed(np.empty(size, np.float32), dtype)

    def dot(a, b):
        library.calls.append(("dot", a.dtype, b.dtype))
        return a.array @ b.array

    class Comm:
        def __init__(self, number):
            self.number = number

        def allReduce(self, sent, got, size, kind, operation, stream):
            assert chosen[-1] == self.number and (kind, operation, stream) == ("f32", "sum", 0)
            assert arrays[sent].array.size == arrays[got].array.size == size
            queued.append((arrays[sent], arrays[got]))

    def end():
        total = sum(sent.array for sent, _ in queued)
        for _, got in queued:
            got.array[...] = total
        library.calls.append(("sum", len(queued)))
        queued.clear()

    library.random = types.SimpleNamespace(
        standard_normal=lambda shape, dtype: placed(
            np.random.default_rng(0).standard_normal(shape, dtype=dtype), dtype
        )
    )
    library.float32, library.float16 = np.float32, np.float16
    library.empty, library.dot = empty, dot
    library.empty_like = lambda one: placed(np.empty_like(one.array), one.dtype)
    library.ones = lambda size, dtype: placed(np.ones(size, dtype), dtype)
    library.copyto = lambda target, source: np.copyto(target.array, source.array)
    library.sum = lambda one: one.array.sum()
    library.cuda = types.SimpleNamespace(
        Device=Device,
        Stream=types.SimpleNamespace(null=types.SimpleNamespace(ptr=0)),
        memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        runtime=types.SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            getDeviceCount=count,
            getDeviceProperties=lambda i: {"name": b"Test GPU", "l2CacheSize": 2**16},
            memGetInfo=lambda: (10**9, 24 * 10**9),
        ),
        nccl=types.SimpleNamespace(
            available=nccl,
            NcclCommunicator=types.SimpleNamespace(
                initAll=lambda numbers: [Comm(number) for number in numbers]
            ),
            groupStart=lambda: None,
            groupEnd=end,
            NCCL_FLOAT32="f32",
            NCCL_SUM="sum",
        ),
    )
    dtypes = types.ModuleType("ml_dtypes")
    dtypes.bfloat16 = "bfloat16"
    monkeypatch.setitem(sys.modules, "ml_dtypes", dtypes)
    monkeypatch.setitem(sys.modules, "cupy", library)
    return library


def test_cupy_measures_where_there_is_no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    library = fake_cupy(monkeypatch, devices=2)
    chip = measure(find(), repeats=1)
    assert chip.library.name == "CuPy 14.2" and chip.row()["memory_capacity"] == 24 * 10**9
    assert {call for call in library.calls if call[0] == "dot"} == {("dot", *["bfloat16"] * 2)}
    assert ("sum", 2) in library.calls and chip.rates["all-reduce"].value > 0
    assert {("wait", 0), ("wait", 1)} <= set(library.calls)
    assert set(chip.lacking) == {"fp8", "fp4", "int8"}


def test_an_older_cupy_multiplies_float16_and_says_so(monkeypatch):
    library = fake_cupy(monkeypatch, bfloat16=False)
    chip = measure(cupy(), repeats=1)
    assert {call for call in library.calls if call[0] == "dot"} == {("dot", *[np.float16] * 2)}
    assert "CuPy 13.6, with float16 in bf16's place" in chip.row()["source"]


def test_cupy_without_nccl_leaves_the_sum_out(monkeypatch):
    fake_cupy(monkeypatch, devices=2, nccl=False)
    chip = measure(cupy(), repeats=1)
    assert chip.lacking["all-reduce"].endswith("it comes without NCCL")


def test_no_gpu_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MeasureError, match=r"^No GPU was measured: PyTorch cannot be imported\.$"):
        find()
    with pytest.raises(MeasureError, match=r"^No GPU was measured: CuPy cannot be imported\.$"):
        cupy()
    fake_cupy(monkeypatch, devices=0)
    with pytest.raises(MeasureError, match=r"^No GPU was measured: CuPy finds no CUDA device\.$"):
        cupy()
    fake_torch(monkeypatch, names=[]).cuda.is_available = lambda: False
    with pytest.raises(MeasureError, match=r"PyTorch finds no CUDA device\.$"):
        find()


# The command, and the file


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in process, on a machine with one GPU: exit code, stdout and stderr."""
    fake_torch(monkeypatch)

    def knee(quick):
        raise MeasureError("No GPU was measured: its products are timed elsewhere.")

    monkeypatch.setattr(of_machine, "gpu", knee)
    now = itertools.count()
    monkeypatch.setattr(
        measure_chip, "measure", functools.partial(measure, clock=lambda: next(now) * 1e-6)
    )

    def call(*argv):
        code = main(list(map(str, argv)))
        return (code, *capsys.readouterr())

    return call


def test_what_was_measured_is_hardware_of_every_command(run, tmp_path):
    path = tmp_path / "mine.json"
    code, out, err = run("measure", "--gpu", "--quick", "-o", path)
    assert code == 0 and out.startswith("Test GPU\n") and "memory: " in err and "\xa0" not in out
    assert f"{path} is written" in out.replace("\n", " ")
    row = json.loads(path.read_text("utf-8"))
    assert row["source"].startswith("measured on 20") and "PyTorch 2.9, best of 5" in row["source"]
    known = scenario.values(str(path), "Llama 3.1 8B", "fp8")
    assert known["peak_flops"] == row["fp8"] and known["device_price"] is None
    assert known["memory_bandwidth"] == row["memory_bandwidth"] and known["devices"] == 1

    code, out, err = run("estimate", "--hardware", path, "--model", "Llama 3.1 8B", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    step = latency.step_time(scenario.values(str(path), "Llama 3.1 8B", "fp8", batch=64))
    assert (found["hardware"], found["step_time_s"]) == ("Test GPU", pytest.approx(step))
    assert any("measured rates lie below those of a data sheet" in one for one in found["notes"])

    code, out, err = run("compare", "--hardware", path, "H100 SXM", "--model", "Llama 3.1 8B")
    assert (code, err) == (0, "") and "Test GPU" in out and "H100 SXM" in out
    code, out, err = run("formula", "drain_time", "--hardware", path)
    assert (code, err) == (0, "") and "Test GPU" in out
    assert "measured rates lie below" in " ".join(out.split())
    code, out, err = run("measure", "--gpu", "--quick", "--json")
    assert code == 0 and [one["name"] for one in json.loads(out)] == ["Test GPU"]


def test_a_price_may_be_added(run, tmp_path):
    path = tmp_path / "mine.json"
    given = {"bf16": 1e14, "memory_bandwidth": 1e12, "memory_capacity": 8e10, "domain_devices": 1}
    path.write_text(json.dumps(given | {"device_price": 2 / 3600}), "utf-8")
    asked = ["estimate", "--hardware", path, "--model", "Llama 3.1 8B"]
    code, out, err = run(*asked)
    assert (code, err) == (0, "") and "as its file says" in out and "on 1 × mine," in out
    path.write_text(json.dumps(given), "utf-8")
    assert "no price known" in run(*asked)[1]
    assert "as set" in run(*asked, "--set", "device_price=2 $/hour")[1]


def test_nothing_is_written_where_a_measurement_ends_early(run, tmp_path, monkeypatch):
    path = tmp_path / "mine.json"
    code, out, err = run("measure", "-o", tmp_path / "no" / "mine.json")
    assert (code, out) == (2, "") and "there is no folder" in err and err.count("\n") == 1
    assert run("measure", "-o", tmp_path)[0] == 2

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["torch"], "matmul", stopped)
    assert run("measure", "--gpu", "-o", path)[:2] == (130, "") and not path.exists()
    fake_torch(monkeypatch, full=True)
    code, out, err = run("measure", "--gpu", "-o", path)
    assert (code, out) == (1, "") and not path.exists()
    assert err.endswith("does not suffice, of which 1 GB was free.\n") or "No GPU" in err
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    code, out, err = run("measure", "-o", path)
    assert (code, out) == (1, "") and not path.exists()
    assert err == "handful: No GPU was measured: PyTorch cannot be imported.\n"


GIVEN = {
    "name": "My GPU",
    "bf16": 7.1e14,
    "fp8": 1.3e15,
    "int8": 1.2e15,
    "memory_bandwidth": 3.05e12,
    "memory_capacity": 85e9,
    "domain_devices": 8,
    "scale_up_bandwidth": 3.6e11,
    "source": "measured on 2026-02-03 with PyTorch 2.9",
    "notes": ["Rates were measured."],
}


def in_page(*texts):
    """Return what the page's reader makes of texts: a row of the bar, or the problem."""
    script = """
      import { readChip } from "./lib/handful_site/web/chip_file.js";
      import { check, decode, encode, FIELDS, rowOf }
        from "./lib/handful_explorers/web/custom_scenario.js";
      let text = "";
      for await (const part of process.stdin) text += part;
      const found = JSON.parse(text).map((one) => {
        const { given, notes, problem } = readChip(one);
        if (problem) return { problem };
        const { definition } = check("hardware", given),
          again = decode("hardware", encode("hardware", definition)).definition;
        return { notes, row: rowOf("hardware", again) };
      });
      console.log(JSON.stringify({ found, fields: FIELDS.hardware }));
    """
    done = subprocess.run(
        [*bootstrap.node_command(), "--input-type=module", "-e", script],
        cwd=bootstrap.ROOT,
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    return found["found"], found["fields"]


def test_the_page_reads_the_same_file():
    chip = Machine(8).measure()
    files = [GIVEN, chip.row(), {**GIVEN, "devices": 4, "device_price": 1e-3, "fp8": None}]
    found, fields = in_page(*map(json.dumps, files))
    for given, one in zip(files, found, strict=True):
        mine = chip_file.read_chip(json.dumps(given))
        values = {k: v for k, v in mine["values"].items() if k != "chip_power"}
        peaks = {k: v for k, v in mine["peak_flops"].items() if k != "int8"}
        assert (one["row"]["values"], one["row"]["peak_flops"]) == (values, peaks)
        assert one["row"]["label"].startswith(given["name"])
        assert one["notes"][0].lower().startswith("measured on 2026-02-03")
        assert given["notes"][0] in one["notes"] and "int8" in one["notes"][-1]
    limits = {f["name"]: (f["min"], f["max"]) for f in fields}
    assert limits | {"int8": limits["bf16"]} == chip_file.FIELDS
    assert {f["name"] for f in fields if f["type"] == "int"} == set(chip_file.WHOLE)
    assert {f["name"] for f in fields if "default" not in f} == set(chip_file.NEEDED)


WRONG = [
    ("[1]", "is one object in braces", "is one object in braces"),
    ('{"bf16": 1e14,}', "in line 1, column", "in line 1 the comma before"),
    ("{bf16: 1}", "This is no JSON", 'such as "memory_bandwidth", should'),
    ({"bf16": 1e14}, "memory_bandwidth is missing", "Memory bandwidth (TB/s): a number is missing"),
    ({**GIVEN, "hidden_size": 1}, "no field 'hidden_size'", "no field “hidden_size”"),
    ({**GIVEN, "bf16": "7e14"}, "bf16 must be a number from 1e+09", "Peak in bf16, dense"),
    ({**GIVEN, "bf16": True}, "bf16 must be a number from 1e+09", "Peak in bf16, dense"),
    ({**GIVEN, "memory_bandwidth": 3.05}, "memory_bandwidth must be a num", "Memory bandwidth (TB"),
    ({**GIVEN, "domain_devices": 1.5}, "domain_devices must be a whole", "Chips in the fast netw"),
    ({**GIVEN, "devices": 9}, "devices must be at most domain_devices (8)", "at most the 8 in the"),
    ({**GIVEN, "bf16": None, "fp8": None}, "a peak in at least one", "a peak in at least one"),
    ({**GIVEN, "notes": "x"}, "notes must be a list of texts", "are a list of texts"),
    ({**GIVEN, "name": 3}, "name must be a text", "are texts in quotation marks"),
    ({**GIVEN, "source": "x" * 100_000}, "at most 100,000 characters", "has far more"),
]


def test_what_is_wrong_with_a_file_is_one_sentence_in_both():
    texts = [one if isinstance(one, str) else json.dumps(one) for one, *_ in WRONG]
    found, _ = in_page(*texts)
    for text, one, (_, here, there) in zip(texts, found, WRONG, strict=True):
        if text.startswith("{"):
            with pytest.raises(chip_file.ChipError) as refusal:
                chip_file.read_chip(text)
            assert here in str(refusal.value) and str(refusal.value).endswith(".")
        assert there in one["problem"] and one["problem"].endswith(".")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such file."),
        (b"\xff\xfe", "this is no text in UTF-8."),
        (b"[1]", "A chip's file is one object in braces; this is something else."),
        (b"{", "This is no JSON: "),
        (b"[" * 99_999, "A chip's file is one object of short numbers and texts."),
        (b'{"bf16": ' + b"9" * 5000 + b"}", "A chip's file is one object of short numbers"),
        (b'{"bf16": Infinity}', "bf16 must be a number"),
        (b'{"bf16": NaN}', "bf16 must be a number"),
    ],
)
def test_a_file_that_is_no_chip_is_named(run, tmp_path, content, said):
    path = tmp_path / "mine.json"
    if content is not None:
        path.write_bytes(content)
    code, out, err = run("estimate", "--hardware", path)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert err.startswith(f"handful: {path}: ") and said in err


def test_a_name_stays_a_name(run, tmp_path, monkeypatch):
    (tmp_path / "H100 SXM").write_text("no chip", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert scenario.choose("hardware", "H100 SXM")["values"]["memory_bandwidth"] == 3.35e12
    assert run("estimate", "--hardware", tmp_path)[0] == 2  # a folder is no chip
