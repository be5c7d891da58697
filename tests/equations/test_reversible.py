"""Tests of Feistel rounds over three kinds of numbers, and of memory against compute.

The latter is compared with published figures.
"""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import balance, overtraining, reversible, tiers
from handful.facts import get
from handful.reversible import (
    REALS,
    XOR,
    FeistelError,
    decrypt,
    encrypt,
    feistel_round,
    modulo,
    undo_round,
)
from handful.scenario import values

WORDS = st.integers(0, 2**64 - 1)


def _any_functions(seeds):
    """Return functions with no structure and no inverse.

    They are Python's hash of the input and a seed, cut to 64 bits.
    """
    return [lambda x, seed=seed: hash((x, seed)) & (2**64 - 1) for seed in seeds]


@given(
    x=WORDS,
    y=WORDS,
    seeds=st.lists(st.integers(), max_size=8),
    group=st.sampled_from([XOR, modulo(64)]),
)
def test_rounds_are_undone_exactly_whatever_the_function(x, y, seeds, group):
    functions = _any_functions(seeds)
    assert decrypt(*encrypt(x, y, functions, group), functions, group) == (x, y)


@given(x=WORDS, y=WORDS, seeds=st.lists(st.integers(), max_size=8))
def test_with_bits_one_machine_does_both(x, y, seeds):
    # Decryption is encryption with the halves exchanged and the keys in reverse: why the design was
    # made.
    functions = _any_functions(seeds)
    c, d = encrypt(x, y, functions)
    assert encrypt(d, c, functions[::-1]) == (y, x)


def test_eight_bit_halves_are_permuted():
    # All 65,536 blocks through three tables of random bytes: every block comes out once.
    rng = np.random.default_rng(5)
    x, y = (half.ravel() for half in np.meshgrid(*[np.arange(256, dtype=np.uint8)] * 2))
    functions = [rng.integers(0, 256, 256, dtype=np.uint8).__getitem__ for _ in range(3)]
    assert all(len(np.unique(f(np.arange(256)))) < 200 for f in functions)
    for group in (XOR, modulo(8)):
        c, d = encrypt(x, y, functions, group)
        assert c.dtype == np.uint8 and len(np.unique(c.astype(int) * 256 + d)) == 65536


@given(x=st.floats(-1e3, 1e3), y=st.floats(-1e3, 1e3), slope=st.floats(-1e3, 1e3))
def test_a_floating_point_round_is_undone_to_two_roundings(x, y, slope):
    _, z = feistel_round(x, y, lambda v: slope * v, REALS)
    _, again = undo_round(x, z, lambda v: slope * v, REALS)
    assert abs(again - y) <= sys.float_info.epsilon / 2 * (abs(z) + abs(again))


def test_each_half_is_a_residual_from_two_back():
    functions = [lambda v: v * v, lambda v: 3 * v, lambda v: v + 1, lambda v: 7]
    halves = [2, 5]  # u0, u1
    for f in functions:
        halves.append(halves[-2] + f(halves[-1]))
    assert encrypt(5, 2, functions, REALS) == (halves[-1], halves[-2])


@pytest.mark.parametrize("bits", [0, -3, 2.5])
def test_a_modulus_wants_whole_bits(bits):
    with pytest.raises(FeistelError, match=f"whole number from 1 up; got {bits}"):
        modulo(bits)


def test_modulo_two_is_adding_without_carry():
    one = modulo(1)
    for a in (0, 1):
        for b in (0, 1):
            assert one.add(a, b) == one.subtract(a, b) == a ^ b


# Memory for compute, compute for memory

GPT3 = dict(d_model=12288, attention_heads=96, sequence_tokens=2048)
MT_NLG = dict(d_model=20480, attention_heads=128, sequence_tokens=2048)


@pytest.mark.parametrize("model, saved", [(GPT3, 0.70), (MT_NLG, 0.65)])
def test_attention_scores_are_the_published_share_of_activations(model, saved):
    # Korthikanti et al. 2022, section 5: not keeping the scores saves 70 % for GPT-3, 65 % for
    # MT-NLG.
    whole = reversible.layer_activation_bytes(model)
    without = reversible.layer_activation_bytes(model, bytes_per_score=0)
    assert 1 - without / whole == pytest.approx(saved, abs=0.005)


def test_rebuilding_costs_a_third_more():
    run = dict(active_parameters=7e9, pretraining_tokens=1e12)
    extra = reversible.training_flops_reversible(run) / overtraining.training_flops(run) - 1
    assert 100 * extra == pytest.approx(get("scaling_laws", "rev_flops")["value"], abs=0.5)


def test_memory_by_depth():
    run = {**GPT3, "micro_batch": 1, "activation_bytes": 2, "layers": np.array([12, 24, 48, 96])}
    run["layer_activation_bytes"] = reversible.layer_activation_bytes(GPT3)
    stored = reversible.activation_memory_stored(run)
    checkpointed = reversible.activation_memory_checkpointed(run)
    flat = reversible.activation_memory_reversible({k: v for k, v in run.items() if k != "layers"})
    assert stored / stored[0] == pytest.approx([1, 2, 4, 8])
    assert np.all(flat < checkpointed) and np.all(checkpointed < stored)
    # The same paper: full recomputation keeps 2 s b h bytes a layer.
    assert np.diff(checkpointed) == pytest.approx(2 * 2048 * 12288 * np.diff(run["layers"]))
    # Two streams are as much as the inputs of two layers.
    assert flat == pytest.approx(reversible.activation_memory_checkpointed(run, layers=2))
    # "At least an order of magnitude smaller" is typical, the method's summary says.
    assert stored[0] / flat > 10


@pytest.mark.parametrize("chip, published", [("A100 80GB", 6), ("H100 SXM", 19)])
def test_break_even_of_a_published_serving_system(chip, published):
    # Mooncake: a link to 8 × A800 or H800 (the arithmetic of A100 and H100) pays from 6 or 19 GB/s
    # on, with Llama 3 70B.  Their own memory is faster than that by the advantage of reading over
    # computing again.
    row = get("scaling_laws", "mooncake_breakeven")
    assert row["value"] == published or f"{published} GB/s on 8xH800" in row["fact"]
    known = values(hardware=chip, model="Llama 3.1 70B", precision="bf16")
    link = published * 1e9 / 8
    assert reversible.cache_advantage(known) == pytest.approx(
        known["memory_bandwidth"] / link, rel=0.05
    )


@pytest.mark.parametrize("chip", ["H100 SXM", "GB200 NVL72", "TPU v5e"])
@pytest.mark.parametrize("model", ["DeepSeek-V3", "Llama 3.1 70B"])
def test_the_advantage_is_the_balance_context(chip, model):
    # Caches read in the time of one token's arithmetic: the context beyond which no batch balances.
    known = values(hardware=chip, model=model, precision="bf16")
    assert known["window_cache_memory"] == 0
    assert reversible.cache_advantage(known) == pytest.approx(
        balance.balance_context(known), rel=1e-12
    )


def test_the_rent_of_memory_reaches_the_price_of_computing():
    known = values(hardware="H100 SXM", model="Llama 3.1 70B", precision="bf16")
    hold = reversible.cache_breakeven_hold(known)
    again = tiers.rematerialise_cost(known, model_flops_utilisation=1)
    assert tiers.hold_rate_in_memory(known) * hold == pytest.approx(again, rel=1e-12)
    # A cache repays itself at every reading; activations are read once, and are many times larger.
    layer = reversible.layer_activation_bytes(
        d_model=8192, attention_heads=64, sequence_tokens=8192, bytes_per_score=0
    )
    training = {**known, "layers": 80, "layer_activation_bytes": layer}
    short = reversible.activation_breakeven_hold(training)
    assert short < 1 < 30 < hold < 40
    assert tiers.hold_rate_in_memory(known, kv_bytes_per_token=80 * layer) * short == pytest.approx(
        again, rel=1e-12
    )
    assert reversible.cache_advantage(known) > 100 * reversible.activation_advantage(training) > 100
    # A cache as large would be read once for every time that activations are written and read.
    as_large = reversible.cache_advantage(known, kv_bytes_per_token=80 * layer)
    assert as_large == pytest.approx(2 * reversible.activation_advantage(training), rel=1e-12)
    # So they may wait for twice their advantage in drain times, a cache for once.
    drain = balance.drain_time(known)
    assert hold == pytest.approx(reversible.cache_advantage(known) * drain, rel=1e-12)
    assert short == pytest.approx(2 * reversible.activation_advantage(training) * drain, rel=1e-12)


def test_checkpoints_as_the_scaling_book_counts_them():
    """Austin et al. keep 20 numbers a unit of width: 84 TB, or 4.2 TB of inputs alone.

    Ours adds the layer at work, as the convention says: 5.5 TB.
    """
    run = dict(micro_batch=4e6 / 8192, sequence_tokens=8192, layers=64)
    run |= dict(d_model=8192, activation_bytes=2, layer_activation_bytes=2 * 20 * 8192)
    stored = {name: run[name] for name in run if name not in ("d_model", "activation_bytes")}
    assert reversible.activation_memory_stored(stored) == pytest.approx(84e12, rel=2e-3)
    whole = reversible.activation_memory_checkpointed(run)
    at_work = reversible.activation_memory_stored(stored, layers=1)
    assert whole - at_work == pytest.approx(4.19e12, rel=2e-3)
    assert whole == pytest.approx(5.5e12, rel=2e-3)


def test_the_derivation_ends_in_its_formula():
    assert (
        reversible.cache_breakeven_hold.derivation.result
        == reversible.cache_breakeven_hold.expression
    )


def test_shapes_give_what_counted_bytes_give():
    run = {**GPT3, "micro_batch": 2, "activation_bytes": 2, "layers": 96}
    counted = {**run, "layer_activation_bytes": reversible.layer_activation_bytes(GPT3)}
    for name in ("stored", "checkpointed", "reversible"):
        whole, of_shape = (
            getattr(reversible, f"activation_memory_{name}{end}") for end in ("", "_of_shape")
        )
        assert of_shape(run) == pytest.approx(whole(counted), rel=1e-12)
    chip = {**values(hardware="H100 SXM", model="Llama 3.1 70B", precision="bf16"), **counted}
    assert reversible.activation_advantage_of_shape(chip) == pytest.approx(
        reversible.activation_advantage(chip)
    )
    assert reversible.activation_breakeven_hold_of_shape(chip) == pytest.approx(
        reversible.activation_breakeven_hold(chip)
    )


def test_held_for_the_break_even_time_both_cost_a_forward_pass():
    run = {
        **values(hardware="H100 SXM", model="Llama 3.1 70B", precision="bf16"),
        **GPT3,
        "layers": 80,
    }
    again = tiers.rematerialise_cost(run, model_flops_utilisation=1)
    for held, even in (
        (reversible.cache_hold_in_memory, reversible.cache_breakeven_hold),
        (reversible.activation_hold_in_memory, reversible.activation_breakeven_hold_of_shape),
    ):
        assert held(run, hold_time=even(run)) == pytest.approx(again, rel=1e-12)
