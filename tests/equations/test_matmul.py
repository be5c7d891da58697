"""One matrix product: against worked examples of JAX's scaling book and of NVIDIA's guides.

Also against products that are counted number by number.
"""

import math

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from handful import balance, matmul
from handful.symbolic import quantities as q

V5E = dict(peak_flops=1.97e14, memory_bandwidth=8.2e11)
WIDE = dict(inner_width=1e12, outer_width=1e12)


def dtype(size: float) -> dict[str, float]:
    """Return weights, inputs and results of `size` bytes a number."""
    return dict(bytes_per_parameter=size, activation_bytes=size, result_bytes=size)


@pytest.mark.parametrize("tokens, inner, outer", [(1, 1, 1), (3, 5, 2), (4, 2, 7)])
def test_flops_and_bytes_number_by_number(tokens, inner, outer):
    """Multiply in loops, and note what is read and written for the first time."""
    x, weights = np.ones((tokens, inner)), np.ones((inner, outer))
    result, flops, touched = np.zeros((tokens, outer)), 0, {}
    for t in range(tokens):
        for o in range(outer):
            for i in range(inner):
                result[t, o] += x[t, i] * weights[i, o]
                flops += 2
                touched |= {("in", t, i): 4, ("weight", i, o): 1, ("out", t, o): 2}
    assert (result == x @ weights).all()
    known = dict(matmul_tokens=tokens, inner_width=inner, outer_width=outer)
    stored = dict(bytes_per_parameter=1, activation_bytes=4, result_bytes=2)
    assert matmul.matmul_flops(known) == flops
    assert matmul.matmul_bytes(known, **stored) == sum(touched.values())
    assert matmul.matmul_intensity(known, **stored) == pytest.approx(flops / sum(touched.values()))


@pytest.mark.parametrize(
    "tokens, inner, outer, published, places",
    [
        # Matrix Multiplication Background User's Guide, section 2: M × N × K in FP16
        (128, 8192, 8192, 124.1, 1),
        (8192, 8192, 8192, 2730, 0),
        # GPU Performance Background User's Guide, table 1: linear layers of 4096 outputs
        (512, 1024, 4096, 315, 0),
        (1, 1024, 4096, 1, 0),
    ],
)
def test_intensities_of_nvidia_s_guides(tokens, inner, outer, published, places):
    known = dict(matmul_tokens=tokens, inner_width=inner, outer_width=outer)
    intensity = matmul.matmul_intensity(known, **dtype(2))
    # 2730.7 stands as 2730 there.
    assert intensity == pytest.approx(published, abs=0.5 * 10**-places, rel=3e-4)


def test_which_of_nvidia_s_products_wait_for_memory():
    """A V100 does 138.9 FLOPs a byte: one product is memory limited there, one math limited.

    A vector times a matrix always is; its intensity is below 1.
    """
    v100 = dict(peak_flops=125e12, memory_bandwidth=900e9)
    assert balance.ridge_intensity(v100) == pytest.approx(138.9, abs=0.05)
    narrow = dict(v100, **dtype(2), matmul_tokens=128, inner_width=8192, outer_width=8192)
    assert matmul.matmul_utilisation(narrow) == pytest.approx(124.1 / 138.9, rel=1e-3)
    assert matmul.matmul_utilisation(narrow, matmul_tokens=8192) == 1
    assert matmul.matmul_intensity(narrow, matmul_tokens=1) < 1


@pytest.mark.parametrize(
    "flops, bandwidth, weight, published",
    [
        (1.97e14, 8.2e11, 2, 240),  # bf16 on a TPU v5e: the rule of the chapter on rooflines
        (3.94e14, 8.1e11, 1, 243),  # question 1: int8 throughout, 486 / 2
        (1.97e14, 8.2e11, 1, 120),  # question 2: int8 weights, bf16 activations and arithmetic
        (1e15, 3.35e12, 2, 298),  # problem 5: an H100
        (9.2e14, 1.5e10, 2, 61_000),  # weights over PCIe, in the chapter on TPUs
    ],
)
def test_the_limit_is_the_scaling_book_s_rule(flops, bandwidth, weight, published):
    known = dict(peak_flops=flops, memory_bandwidth=bandwidth, bytes_per_parameter=weight)
    found = matmul.matmul_critical_batch(known, activation_bytes=2, result_bytes=2, **WIDE)
    assert found == pytest.approx(published, rel=6e-3)
    assert found == pytest.approx(balance.weight_uses_at_balance(known), rel=1e-6)


def test_the_scaling_book_s_exact_batch():
    """The chapter on TPUs works out int8[B, 4096] × int8[4096, 16384] with all bytes.

    It says B > 271 from HBM and B > 11 from VMEM, which is 22 times as fast, and has rounded the
    FLOPs of a token to 1.3e8, the weights to 6.7e7 bytes and a token's activations to 2e4 bytes.
    """
    v5e = dict(peak_flops=3.94e14, memory_bandwidth=8.1e11)
    known = dict(v5e, **dtype(1), inner_width=4096, outer_width=16384)
    rounded = 6.7e7 / (1.3e8 * 8.1e11 / 3.94e14 - 2e4)
    assert rounded == pytest.approx(271, abs=0.5)
    assert matmul.matmul_critical_batch(known) == pytest.approx(rounded, rel=0.035)
    fast = matmul.matmul_critical_batch(known, memory_bandwidth=22 * 8.1e11)
    assert fast == pytest.approx(11, abs=0.2)
    # What the numbers were rounded from
    token = dict(inner_width=4096, outer_width=16384)
    assert matmul.matmul_flops(token, matmul_tokens=1) == pytest.approx(1.3e8, rel=0.04)
    two, one = (matmul.matmul_bytes(token, **dtype(1), matmul_tokens=n) for n in (2, 1))
    assert two - one == pytest.approx(2e4, rel=0.03)
    assert 2 * one - two == pytest.approx(6.7e7, rel=2e-3)


def test_a_matrix_for_every_token_does_two_flops_a_byte():
    """Question 4 of the scaling book: 2BDF / (BD + BDF + BF) in int8, about 2 at any batch."""
    size = dict(inner_width=4096, outer_width=8192)
    for tokens in (1, 64):
        book = 2 * tokens * 4096 * 8192 / (tokens * (4096 + 4096 * 8192 + 8192))
        each = matmul.matmul_intensity(size, **dtype(1), matmul_tokens=1)
        assert each == pytest.approx(book) and each == pytest.approx(2, rel=1e-3)


@given(
    inner=st.floats(1e3, 1e5),
    outer=st.floats(1e3, 1e5),
    stored=st.sampled_from([0.5, 1, 2]),
    number=st.sampled_from([1, 2]),
)
def test_both_take_as_long_at_the_critical_batch(inner, outer, stored, number):
    known = dict(
        V5E,
        bytes_per_parameter=stored,
        activation_bytes=number,
        result_bytes=2 * number,
        inner_width=inner,
        outer_width=outer,
    )
    critical = matmul.matmul_critical_batch(known)
    if critical == math.inf:  # no batch is large enough
        assert matmul.matmul_utilisation(known, matmul_tokens=1e30) < 1
        return
    at = dict(known, matmul_tokens=critical)
    assert matmul.matmul_flops(at) / 1.97e14 == pytest.approx(
        matmul.matmul_bytes(at) / 8.2e11, rel=1e-6
    )
    assert critical > balance.weight_uses_at_balance(known)
    # Below it the product waits for its bytes, above it for arithmetic.
    half, twice = (dict(known, matmul_tokens=critical * f) for f in (0.5, 2))
    assert matmul.matmul_time(half) == pytest.approx(matmul.matmul_bytes(half) / 8.2e11)
    assert matmul.matmul_time(twice) == pytest.approx(matmul.matmul_flops(twice) / 1.97e14)
    assert matmul.matmul_utilisation(half) < 1 == matmul.matmul_utilisation(twice)
    assert matmul.matmul_utilisation(half) == pytest.approx(
        matmul.matmul_flops(half) / 1.97e14 / matmul.matmul_time(half)
    )


def test_a_square_matrix_has_to_be_wider_than_twice_the_balance():
    """In one precision no batch is enough up to 2 × 240 numbers on a TPU v5e."""
    known = dict(V5E, **dtype(2))
    least = matmul.matmul_least_width(known)
    assert least == pytest.approx(2 * balance.weight_uses_at_balance(known))
    narrow, wide = (dict(inner_width=d, outer_width=d) for d in (0.999 * least, 1.001 * least))
    assert matmul.matmul_critical_batch(known, **narrow) == math.inf
    assert 1e5 < matmul.matmul_critical_batch(known, **wide) < math.inf


def test_the_derivation_ends_in_the_machine_s_balance():
    limit = matmul.matmul_critical_batch.derivation.result
    assert sympy.simplify(limit - balance.weight_uses_at_balance.expression) == 0
    assert q.weight_uses_at_balance.dimension == q.matmul_critical_batch.dimension
