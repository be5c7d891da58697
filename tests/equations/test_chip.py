"""Peaks from parts, against data sheets, architecture papers, and what drivers report."""

import pytest

from handful import balance, chip
from handful.facts import get

# Cores, multiply-adds of each in a cycle, clock: NVIDIA's whitepapers of V100, A100 and H100; the
# scaling book's chapter on GPUs for B200 (2,048 FLOPs of each tensor core in a cycle, at 1.86 GHz).
CORES = {
    "V100": (80, 8 * 64, 1.53e9, 125e12),
    "A100": (108, 4 * 256, 1.41e9, 312e12),
    "H100 SXM": (132, 4 * 512, 1.83e9, 989.4e12),
    "H100 PCIe": (114, 4 * 512, 1.62e9, 756e12),
    "H100 SXM, 8 bits": (132, 4 * 1024, 1.83e9, 1978.9e12),
    "H100 SXM, 32 bits without matrix units": (132, 128, 1.98e9, 66.9e12),
    "B200": (148, 4 * 1024, 1.86e9, 2250e12),
}


@pytest.mark.parametrize("cores, each, clock, published", CORES.values(), ids=list(CORES))
def test_peaks_of_gpus(cores, each, clock, published):
    found = chip.peak_flops_of_cores(
        chip_cores=cores, multiply_adds_per_cycle=each, clock_rate=clock
    )
    assert found == pytest.approx(published, rel=3e-3)


# Arrays, their width, clock: Jouppi et al. 2017 (in int8), 2021 and 2023, and the scaling book
ARRAYS = {
    "TPU v1": (1, 256, 700e6, 92e12),
    "TPU v2": (2, 128, 700e6, 46e12),
    "TPU v3": (4, 128, 940e6, 123e12),
    "TPU v4i": (4, 128, 1050e6, 138e12),
    "TPU v4": (8, 128, 1050e6, 275e12),
    "TPU v5e": (4, 128, 1.5e9, 197e12),
}


@pytest.mark.parametrize("arrays, width, clock, published", ARRAYS.values(), ids=list(ARRAYS))
def test_peaks_of_tpus(arrays, width, clock, published):
    found = chip.peak_flops_of_array(chip_arrays=arrays, array_width=width, clock_rate=clock)
    assert found == pytest.approx(published, rel=5e-3)


def test_the_book_s_facts_are_those_peaks():
    for name in ("TPU v4", "TPU v5e"):
        assert get("accelerators", name)["bf16_dense_flops"] == pytest.approx(ARRAYS[name][-1])
    for name, key in (("A100 80GB", "A100"), ("H100 SXM", "H100 SXM")):
        row = get("accelerators", name)
        assert row["bf16_dense_flops"] == pytest.approx(CORES[key][-1], rel=1e-3)
    # A v5p has two cores of four arrays each, whose clock Google does not print.
    clock = chip.peak_flops_of_array.solve("clock_rate")(
        chip_arrays=8, array_width=128, peak_flops=459e12
    )
    assert clock == pytest.approx(1.75e9, rel=1e-3)


@pytest.mark.parametrize(
    "name, stacks, pin_rate, close",
    [
        # Twice the memory clock that NVIDIA's drivers report: 1215, 1593 and 2619 MHz
        ("A100 40GB", 5, 2 * 1215e6, 1e-3),
        ("A100 80GB", 5, 2 * 1593e6, 1e-3),
        ("H100 SXM", 5, 2 * 2619e6, 1e-3),
        # As data sheets round it: 5.2 Gbit/s a pin
        ("H100 SXM", 5, 5.2e9, 0.01),
        ("MI300X", 8, 5.2e9, 0.01),
    ],
)
def test_bandwidths_of_published_memories(name, stacks, pin_rate, close):
    found = chip.memory_bandwidth_of_stacks(
        memory_stacks=stacks, pins_per_stack=1024, pin_rate=pin_rate
    )
    published = get("accelerators", name)["hbm_bandwidth_bytes_per_s"]
    assert found == pytest.approx(published, rel=close)


@pytest.mark.parametrize(
    "pins, pin_rate, published",
    [
        (1024, 1e9, 128e9),  # HBM
        (1024, 2e9, 256e9),  # HBM2
        (1024, 3.6e9, 461e9),  # HBM2E
        (1024, 6.4e9, 819e9),  # HBM3
        (2048, 8e9, 2048e9),  # HBM4
    ],
)
def test_a_stack_of_each_standard(pins, pin_rate, published):
    found = chip.memory_bandwidth_of_stacks(memory_stacks=1, pins_per_stack=pins, pin_rate=pin_rate)
    assert found == pytest.approx(published, rel=1e-3)


def test_the_memories_of_an_h100():
    """Shah et al. 2024, table 1: 31 TB/s from shared memory, 3.35 TB/s from HBM."""
    h100 = dict(chip_cores=132, clock_rate=1.83e9)
    fast = chip.on_chip_bandwidth(h100, bytes_per_cycle=128)
    assert fast == pytest.approx(31e12, rel=5e-3)
    intensity = chip.on_chip_intensity(multiply_adds_per_cycle=2048, bytes_per_cycle=128)
    peak = chip.peak_flops_of_cores(h100, multiply_adds_per_cycle=2048)
    assert intensity == 32 == pytest.approx(peak / fast)
    assert balance.ridge_intensity(peak_flops=peak, memory_bandwidth=3.35e12) == pytest.approx(
        295, abs=0.5
    )


def test_vmem_of_a_tpu_asks_for_ten_to_twenty():
    """The scaling book: VMEM is 22 times as fast as HBM and asks for 10 to 20 FLOPs a byte."""
    each = 22 * 8.1e11 / 1.5e9  # bytes in a cycle, of the one core with its four arrays
    intensity = chip.on_chip_intensity(multiply_adds_per_cycle=4 * 128**2, bytes_per_cycle=each)
    assert 10 < intensity < 20
