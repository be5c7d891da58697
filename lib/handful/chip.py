"""A chip's peak from its parts: arithmetic from cores or arrays, bandwidth from stacks and pins.

A data sheet's peak is a product of three numbers and the 2 of a multiply-add.  On a GPU they are
streaming multiprocessors, multiply-adds that the matrix units of one finish in a cycle, and the
clock; on a TPU systolic arrays, their cells, and the clock.  The bandwidth of its memory is stacks
× pins × the rate of a pin.

>>> h100 = dict(chip_cores=132, multiply_adds_per_cycle=2048, clock_rate=1.83e9)
>>> round(peak_flops_of_cores(h100) / 1e12)  # dense, in 16 bits
989
>>> round(peak_flops_of_array(chip_arrays=4, array_width=128, clock_rate=1.5e9) / 1e12)  # TPU v5e
197
>>> hbm3 = dict(memory_stacks=5, pins_per_stack=1024, pin_rate=5.2e9)  # an H100's
>>> round(memory_bandwidth_of_stacks(hbm3) / 1e12, 2)
3.33
"""

from __future__ import annotations

from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(c, u, v, cores, fma, clock, width, arrays, per_cycle, stacks, pins, pin_rate, bits) = (
    quantity.symbol
    for quantity in (
        q.flops_per_multiply_add,
        q.one_token,
        q.one_parameter,
        q.chip_cores,
        q.multiply_adds_per_cycle,
        q.clock_rate,
        q.array_width,
        q.chip_arrays,
        q.bytes_per_cycle,
        q.memory_stacks,
        q.pins_per_stack,
        q.pin_rate,
        q.bits_per_byte,
    )
)

_PEAK = (
    "dense: sold with structured sparsity, a chip has twice as much",
    "at the clock that the data sheet assumes, which a chip does not hold under full load",
)

peak_flops_of_cores = Formula(
    q.peak_flops,
    c * cores * fma * clock,
    name="peak_flops_of_cores",
    source="NVIDIA 2020, A100 Tensor Core GPU architecture",
    meaning="multiply-adds of all cores in a cycle, times the clock, counted twice",
    known_as=("peak FLOPS from SMs and clock",),
    conventions=(
        "multiply-adds at one precision: half as many bits, twice as many",
        "of a GPU's streaming multiprocessor all matrix units together: 4 × 256 in 16 bits on an "
        "A100, 4 × 512 on an H100",
        *_PEAK,
    ),
)

peak_flops_of_array = Formula(
    q.peak_flops,
    c * u * v * arrays * width**2 * clock,
    name="peak_flops_of_array",
    source="Austin et al. 2025, How to Scale Your Model, TPUs",
    meaning="a multiply-add in every cell of every systolic array in each cycle, counted twice",
    conventions=("square arrays, with all cells at work: once they are filled", *_PEAK),
)

memory_bandwidth_of_stacks = Formula(
    q.memory_bandwidth,
    stacks * pins * pin_rate / bits,
    name="memory_bandwidth_of_stacks",
    source="definition",
    meaning="bits that all data pins of all stacks carry in a second, in bytes",
    conventions=(
        "1,024 data pins a stack up to HBM3E, 2,048 from HBM4 on",
        "reading or writing: both share the pins",
        "a pin carries two bits in a cycle of the memory's clock",
        "refresh and error correction left out",
    ),
)

on_chip_bandwidth = Formula(
    q.on_chip_bandwidth,
    cores * per_cycle * clock,
    source="Shah et al. 2024, FlashAttention-3, arXiv 2407.08608, table 1",
    meaning="bytes that all cores read in a cycle from their own memories, times the clock",
    conventions=("shared memory of a GPU's streaming multiprocessors: 128 bytes a cycle of each",),
)

on_chip_intensity = Formula(
    q.ridge_intensity,
    c * fma / per_cycle,
    name="on_chip_intensity",
    source="derived",
    meaning="FLOPs for each byte from a core's own memory at which both take equally long",
    conventions=("FLOP counts a multiply-add as two", "the clock and the number of cores cancel"),
    derivation=lambda: _derive_on_chip_intensity(),
)


def _derive_on_chip_intensity() -> Derivation:
    arithmetic, reading = q.peak_flops, q.on_chip_bandwidth
    ratio = Formula(
        q.ridge_intensity,
        arithmetic.symbol / reading.symbol,
        register=False,
        name="ratio",
        meaning="arithmetic over reading, on the chip",
        source="Williams, Waterman and Patterson 2009, Roofline",
    )
    d = Derivation("How often a core has to use what it reads from its own memory")
    d.start(ratio, "the ridge of the roofline, with the cores' own memories in memory's place")
    d.substitute(peak_flops_of_cores, "arithmetic of all cores")
    d.substitute(on_chip_bandwidth, "reading by all cores: their number and the clock cancel")
    return d
