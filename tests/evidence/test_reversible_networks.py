"""Tests of reversible networks.

Gradients are compared with finite differences, memory and FLOPs counted, drift measured.
"""

import tracemalloc

import numpy as np
import pytest

from handful import facts, reversible, scenario
from handful.ciphers import avalanche
from handful.perturbation_growth import branch as power_and_slope
from handful.perturbation_growth import rounding_walk
from handful.reversible import REALS, FeistelError, decrypt, encrypt, modulo
from handful_evidence.simulate.reversible_networks import (
    BLOCKS,
    forward,
    gelu,
    gradients,
    inverse,
    network,
    nudge_growth,
    passage,
    rebuild_error,
    relu,
    round_trip_error,
)
from handful_explorers.ciphers import drift_against_depth, feistel
from handful_explorers.plotting.scenes.feistel import differing, round_function

KINDS = sorted(BLOCKS)


def _inputs(tokens, width, dtype=np.float64, seed=11):
    return np.random.default_rng(seed).standard_normal((2, tokens, width)).astype(dtype)


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_is_the_published_pair_of_equations(kind):
    f, g = branches = network(kind, depth=1, width=8)
    x1, x2 = _inputs(5, 8)
    y1 = x1 + f(x2)
    y2 = x2 + g(y1)
    assert all(
        np.array_equal(a, b) for a, b in zip(forward(branches, x1, x2), (y1, y2), strict=True)
    )
    assert np.allclose(
        inverse(branches, y1, y2), (y1 - f(y2 - g(y1)), y2 - g(y1)), rtol=0, atol=1e-15
    )


def test_no_token_sees_those_after_it():
    branches, (x1, x2) = network("transformer", depth=3, width=8), _inputs(6, 8)
    before = forward(branches, x1, x2)
    x2[4, 0] += 1.0
    for old, new in zip(before, forward(branches, x1, x2), strict=True):
        assert (
            np.allclose(old[:4], new[:4], rtol=0, atol=1e-12)
            and np.abs(old[5] - new[5]).max() > 1e-3
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rebuild", [True, False])
def test_gradients_against_finite_differences(kind, rebuild):
    branches, (x1, x2), rng = (
        network(kind, depth=2, width=6, seed=4),
        _inputs(5, 6),
        np.random.default_rng(9),
    )
    found = gradients(branches, x1, x2, rebuild=rebuild)

    def loss(branches, x1, x2):
        return sum((y * y).sum() for y in forward(branches, x1, x2)) / 2

    # Along a random direction in the inputs, and in each weight of each branch.
    step = 1e-6
    d1, d2 = rng.standard_normal((2, 5, 6))
    ahead, behind = (loss(branches, x1 + by * d1, x2 + by * d2) for by in (step, -step))
    slope = (ahead - behind) / (2 * step)
    assert (found.x1 * d1).sum() + (found.x2 * d2).sum() == pytest.approx(slope, rel=1e-6)
    for i, part in enumerate(branches):
        for j, weight in enumerate(part.weights):
            d = rng.standard_normal(weight.shape)

            def moved(by, i=i, j=j, part=part, weight=weight, d=d):
                weights = (*part.weights[:j], weight + by * d, *part.weights[j + 1 :])
                return loss(
                    [*branches[:i], part._replace(weights=weights), *branches[i + 1 :]], x1, x2
                )

            slope = (moved(step) - moved(-step)) / (2 * step)
            assert (found.weights[i][j] * d).sum() == pytest.approx(slope, rel=1e-5, abs=1e-6)


def _largest_gap(a, b):
    """Return the largest difference between two sets of gradients.

    Each array is relative to its own largest entry.
    """
    pairs = [(a.x1, b.x1), (a.x2, b.x2)]
    pairs += [
        pair
        for one, other in zip(a.weights, b.weights, strict=True)
        for pair in zip(one, other, strict=True)
    ]
    return max(np.abs(p - q).max() / np.abs(p).max() for p, q in pairs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_rebuilt_gradients_equal_stored_ones(kind, dtype, tolerance):
    branches, x = network(kind, depth=16, width=32, dtype=dtype), _inputs(24, 32, dtype)
    stored, rebuilt = gradients(branches, *x, rebuild=False), gradients(branches, *x)
    assert rebuilt.x1.dtype == rebuilt.weights[0][0].dtype == dtype
    assert 0 < _largest_gap(stored, rebuilt) < tolerance


@pytest.mark.parametrize("kind", KINDS)
def test_held_bytes_are_flat_against_linear(kind):
    depths = np.array([1, 2, 4, 8, 16])
    nets = [network(kind, depth, width=16) for depth in depths]
    stored = np.array([gradients(net, *_inputs(32, 16), rebuild=False).held_bytes for net in nets])
    rebuilt = {gradients(net, *_inputs(32, 16)).held_bytes for net in nets}
    assert len(rebuilt) == 1
    pair = 2 * 32 * 16 * 8
    assert ((stored - pair) == (stored[0] - pair) * depths).all()


def test_held_bytes_are_the_formulas():
    # A feed-forward branch of width d keeps d + 1 + 4 d numbers a token, by hand; a round is a
    # layer here.
    width, tokens, rounds = 16, 32, 12
    layer = 8 * (5 * width + 1)
    known = dict(
        micro_batch=1,
        sequence_tokens=tokens,
        d_model=width,
        activation_bytes=8,
        layer_activation_bytes=layer,
    )
    net, x = network("revnet", rounds // 2, width), _inputs(tokens, width)
    assert gradients(net, *x).held_bytes == reversible.activation_memory_reversible(known)
    stored = reversible.activation_memory_stored(known, layers=rounds)
    assert gradients(net, *x, rebuild=False).held_bytes == stored + 2 * tokens * width * 8


def test_the_interpreter_sees_the_memory_too():
    # Peak memory that NumPy asks for, less the weights' gradients: the counting above is not ours
    # alone.
    tokens, width = 512, 8

    def peak(depth, rebuild):
        net, x = network("revnet", depth, width), _inputs(tokens, width)
        tracemalloc.start()
        found = gradients(net, *x, rebuild=rebuild)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top - sum(g.nbytes for branch in found.weights for g in branch)

    assert peak(32, rebuild=True) < 1.15 * peak(8, rebuild=True)
    assert peak(32, rebuild=False) > 2.5 * peak(8, rebuild=False)
    assert peak(32, rebuild=False) > 5 * peak(32, rebuild=True)


class Counted(np.ndarray):
    """An array that counts the FLOPs of every matrix product that it takes part in."""

    flops = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **more):
        def plain(values):
            return tuple(v.view(np.ndarray) if isinstance(v, np.ndarray) else v for v in values)

        if "out" in more:
            more["out"] = plain(more["out"])
        result = getattr(ufunc, method)(*plain(inputs), **more)
        if ufunc is np.matmul:
            Counted.flops += 2 * result.size * inputs[0].shape[-1]
        return result.view(Counted) if isinstance(result, np.ndarray) else result


@pytest.mark.parametrize("kind", KINDS)
def test_counted_flops_are_eight_sixths(kind):
    branches, x = network(kind, depth=3, width=8), _inputs(6, 8).view(Counted)

    def count(run):
        Counted.flops = 0
        run()
        return Counted.flops

    once = count(lambda: forward(branches, *x))
    assert once > 0
    assert count(lambda: gradients(branches, *x, rebuild=False)) == 3 * once
    assert count(lambda: gradients(branches, *x)) == 4 * once


# Rounding


@pytest.mark.parametrize("kind", KINDS)
def test_drift_grows_with_depth_and_shrinks_with_precision(kind):
    def errors(dtype, gain):
        return [
            rebuild_error(network(kind, depth, 32, gain=gain, dtype=dtype), *_inputs(16, 32, dtype))
            for depth in (4, 16, 64)
        ]

    single, double, steep = errors(np.float32, 1), errors(np.float64, 1), errors(np.float32, 3)
    assert single == sorted(single) and double == sorted(double)
    # Half an epsilon is lost a rounding: 2^29 between the two formats, whatever the depth.
    assert [a / b for a, b in zip(single, double, strict=True)] == pytest.approx(
        [2**29] * 3, rel=0.6
    )
    # Ordinary weights: less than a hundred epsilons after 128 rounds; steep ones lose three digits
    # more.
    assert single[-1] < 1e-4 and steep[-1] > 30 * single[-1]


def test_whole_numbers_do_not_drift():
    # The same network rounded to whole numbers before it is added: exact, however steep and deep.
    branches, group = network("transformer", depth=32, width=16, gain=3), modulo(64)
    unit = 2.0**-32

    def fixed(branch):
        return lambda x: (
            np.rint(branch(x.view(np.int64) * unit) / unit).astype(np.int64).view(np.uint64)
        )

    functions = [fixed(branch) for branch in branches]
    x, y = np.rint(_inputs(8, 16) / unit).astype(np.int64).view(np.uint64)
    c, d = encrypt(x, y, functions, group)
    found = decrypt(c, d, functions, group)
    assert (found[0] == x).all() and (found[1] == y).all()
    # And it is the same network: the floating-point one gives what the whole numbers stand for.
    real = encrypt(x.view(np.int64) * unit, y.view(np.int64) * unit, branches[:4], REALS)
    whole = encrypt(x, y, functions[:4], group)
    assert np.allclose(real[0], whole[0].view(np.int64) * unit, atol=1e-6)


# Avalanche, unwanted


def test_residual_and_layer_norm_together_keep_a_nudge_small():
    growth = {
        (r, n): nudge_growth(residual=r, normalised=n) for r in (False, True) for n in (False, True)
    }
    assert all(g[0] == pytest.approx(1e-6, rel=1e-6) for g in growth.values())
    # Unrelated vectors of equal length differ by the square root of two.
    assert growth[False, False][-1] == pytest.approx(2**0.5, rel=0.05)
    assert growth[True, True][-1] < 5e-6 < 1e-3 < growth[True, False][-1] < growth[False, True][-1]
    # Both together: as a power of depth, so that from 16 to 64 layers it grows less than depth
    # itself.
    later = {key: g[64] / g[16] for key, g in growth.items()}
    assert later[True, True] < 2 < 100 < later[True, False]


def test_a_plain_network_of_gain_one_is_calm():
    assert nudge_growth(residual=False, normalised=False, gain=1)[-1] < 2e-6


@pytest.mark.parametrize("gain", [1, 2, 3])
@pytest.mark.parametrize("through", [relu, gelu])
def test_with_relu_and_gelu_a_plain_network_is_calm_at_any_gain(through, gain):
    grown = nudge_growth(residual=False, normalised=False, gain=gain, through=through)[-1] / 1e-6
    assert 0.5 < grown < 2


@pytest.mark.parametrize("gain", [1, 2, 3])
@pytest.mark.parametrize("through", [np.tanh, relu, gelu])
def test_with_residuals_and_layer_norm_a_nudge_stays_small(through, gain):
    assert nudge_growth(gain=gain, through=through)[-1] / 1e-6 < 10


@pytest.mark.parametrize("gain", [1, 2, 3])
@pytest.mark.parametrize("through", [np.tanh, relu, gelu])
def test_layer_norm_is_what_brings_a_rounded_input_back(through, gain):
    calm = round_trip_error(128, gain=gain, through=through)
    wild = round_trip_error(128, gain=gain, through=through, normalised=False)
    assert calm < 2e-3
    if (through, gain) == (np.tanh, 1):  # calm by itself
        assert wild < 2e-4
    else:
        assert not wild < 1


@pytest.mark.parametrize(
    "rounds, normalised, through",
    [
        (8, True, np.tanh),
        (128, True, np.tanh),
        (128, True, gelu),
        (32, False, np.tanh),
        (8, False, gelu),
    ],
)
def test_an_error_grows_backwards_by_the_square_of_the_streams_more(rounds, normalised, through):
    seen = [passage(rounds, normalised=normalised, through=through, seed=s) for s in range(1, 6)]
    for one in seen:
        assert one.back / one.ahead == pytest.approx(one.streams**2, rel=0.6)
    middle = np.median([one.back / one.ahead / one.streams**2 for one in seen])
    assert middle == pytest.approx(1, rel=0.3)


def test_what_the_catch_tells_of_the_way_back():
    calm = [passage(128, through=through, seed=s) for through in (np.tanh, gelu) for s in (1, 2, 3)]
    for one in calm:
        assert one.ahead < 6  # a small change stays small
        assert 10 < one.streams < 25
        assert 500 < one.back < 1000  # several hundredfold
    tanh = np.median([passage(128, seed=s) for s in range(1, 6)], axis=0)
    assert tanh == pytest.approx([5, 700, 13], rel=0.1)
    assert tanh[0] * tanh[2] == pytest.approx(60, rel=0.05)
    alone = [(one := passage(128, seed=s)).ahead * one.streams for s in range(1, 13)]
    assert min(alone) > 48 and max(alone) < 73  # fifty to seventy
    assert np.sqrt(1 + 64 * 2.5) == pytest.approx(13, rel=0.03)
    assert power_and_slope(2.0)[0] == pytest.approx(2.5, rel=0.02)
    assert round(power_and_slope(2.0)[0] / 4, 2) == 0.64  # of tanh squared
    # Without the roundings inside the layers it would be about half as much.
    streams = [round_trip_error(128, seed=s, dtype=np.float64, bits=24) for s in (1, 2, 3)]
    assert (
        300 < np.median(streams) / rounding_walk(feistel_rounds=128, unit_roundoff=2.0**-24) < 450
    )
    gelus = [passage(8, normalised=False, through=gelu, seed=s) for s in range(1, 6)]
    for one in gelus:
        assert 0.7 < one.ahead < 1.3  # calm
        assert one.streams > 2000 and one.back > 4e6  # and lost all the same
    # The rounding of the page, as often enlarged: the error that the figure shows.
    told = rounding_walk(feistel_rounds=128, unit_roundoff=2.0**-24)
    assert round_trip_error(128) / told == pytest.approx(passage(128).back, rel=0.3)


def test_checkpoints_two_layers_apart_take_less_than_at_each():
    def kept(apart, layers):  # inputs of all pieces, and all notes of one
        return layers / apart * 2 + 34 * apart

    # Of the eighty layers of Llama 3.1 70B; with the 32 of the 8B it is not so.
    assert kept(2, 80) < kept(1, 80) and min(range(1, 9), key=lambda n: kept(n, 80)) == 2
    assert kept(2, 32) > kept(1, 32)
    assert kept(2, 80) * 8192 * 8192 == pytest.approx(9.9e9, rel=0.005)
    # At the best spacing, that of equal parts, four times the depth is twice the pile.
    best = [min(kept(n / 100, layers) for n in range(50, 2000)) for layers in (80, 320)]
    assert best[1] == pytest.approx(2 * best[0], rel=0.001)


def test_notes_of_a_gated_layer_are_34_bytes_if_one_product_is_made_again():
    shape = facts.get("models", "Llama 3.1 70B")
    wide, caches = 28672 / shape["d_model"], shape["n_kv_heads"] / shape["n_heads"]
    # Inputs and results of both norms; queries, keys, values and what attention gives; the two
    # halves of the gate and their product: two bytes each.
    kept = 2 * (2 + 2 + 1 + 2 * caches + 1 + 3 * wide)
    assert kept == pytest.approx(34, rel=0.02)
    assert (kept + 2 * wide) / 34 == pytest.approx(1.2, rel=0.02)  # the gate's output too


def test_what_a_third_more_leaves_out():
    # Per token, in FLOPs: attention over half the text on average, in 80 layers of width 8,192,
    # made once more on the way back in any case, as its scores are computed again.
    shape = facts.get("models", "Llama 3.1 70B")
    weights = 2 * shape["active_params_reported"]
    attention = 2 * 2 * 8192 / 2 * shape["d_model"] * shape["n_layers"]
    assert attention / weights < 0.08
    before, after = 3 * weights + 3.5 * attention, 4 * weights + 4.5 * attention
    assert after / before == pytest.approx(4 / 3, rel=0.01)


def test_what_the_rebuilt_notes_take_beside_other_things():
    known = {"sequence_tokens": 8192, "micro_batch": 1, "bytes_per_score": 0}
    known |= scenario.values("H100 SXM", "Llama 3.1 70B", "bf16", 8192)
    two, four = (
        reversible.activation_memory_reversible_of_shape(known, activation_bytes=bytes_)
        for bytes_ in (2, 4)
    )
    assert 0.25e9 < four - two < 0.3e9  # another quarter of a gigabyte, as for streams of two bytes
    # At the top the scores of the next tokens stand beside the streams: with two bytes each they
    # are less than what comes later, with four they are the peak.
    streams = 2 * 2 * 8192 * 8192
    at_two, at_four = (bytes_ * 128256 * 8192 + streams for bytes_ in (2, 4))
    assert at_two < two < at_four == pytest.approx(4.5e9, rel=0.01)


def test_how_many_texts_it_takes_until_notes_outgrow_the_weights():
    known = {"sequence_tokens": 8192, "bytes_per_score": 0}
    known |= scenario.values("H100 SXM", "Llama 3.1 70B", "bf16", 8192)
    stored = reversible.activation_memory_stored_of_shape(known, micro_batch=1)
    # Sixteen-bit weights, gradients in full, and the weights and two moments of the optimiser.
    once = 18 * facts.get("models", "Llama 3.1 70B")["total_params_reported"]
    assert once > 1e12 and 7 * stored < 1.02 * once < 8 * stored


def test_the_trick_alone_fits_into_a_chip_with_a_long_text():
    known = {"sequence_tokens": 131072, "micro_batch": 1, "bytes_per_score": 0}
    known |= scenario.values("H100 SXM", "Llama 3.1 70B", "bf16", 131072)
    chip = facts.get("accelerators", "H100 SXM")["hbm_capacity_bytes"]
    pile = reversible.activation_memory_reversible_of_shape(known, activation_bytes=2)
    rival = (2 * 40 + 34 * 2) * 8192 * 131072  # a checkpoint at every second layer
    assert pile < chip < rival
    assert rival < reversible.activation_memory_checkpointed_of_shape(known, activation_bytes=2)


def test_no_inverse_is_not_the_same_as_mixing():
    """Hold the S-boxes against the key alone, whichever bit is flipped."""

    def changed(f):
        found = [feistel.values(rounds=12, flip=flip, f=f) for flip in range(1, 33)]
        return [differing(v["one"][-1], v["two"][-1]) for v in found]

    def images(f):
        box = feistel.data["sbox"]
        return len({round_function(f, x, 5, box) for x in range(1 << 16)})

    assert images("constant") == 1 and set(changed("constant")) == {1}
    assert images("sboxes") == 1 << 16
    mixed = changed("sboxes")
    assert min(mixed) >= 10 and np.mean(mixed) == pytest.approx(16, abs=1)  # "about half of them"
    assert mixed[19] > 12  # the bit that the figure opens with
    squared = changed("square")
    assert squared[19] == 4 and np.mean(squared) == pytest.approx(8, abs=0.5)
    assert images("square") < 1 << 16


def test_from_four_to_six_rounds_on_half_of_the_bits_differ():
    for flip in (20, *range(1, 33, 3)):
        for rounds in range(6, 13):
            v = feistel.values(rounds=rounds, flip=flip, f="sboxes")
            assert 9 <= differing(v["one"][-1], v["two"][-1]) <= 23  # by chance 16, give or take 3
    found = [feistel.values(rounds=n, flip=20, f="sboxes") for n in range(1, 7)]
    seen = [differing(v["one"][-1], v["two"][-1]) for v in found]
    assert max(seen[:3]) < 9 and min(seen[3:]) > 12
    average = avalanche(6, samples=400).mean(axis=(1, 2)) * 2  # 1: half of the bits
    assert average[3] < 0.8 < 0.9 < average[4] and average[6] > 0.97


def test_in_bf16_nothing_returns_from_128_rounds():
    def error(through, gain):
        return round_trip_error(128, through=through, gain=gain, bits=8)

    for through in (np.tanh, gelu):
        assert error(through, 2) > 1
        assert 0.2 < error(through, 1) < 0.3  # with small weights a quarter
    # By multiplying it is several times the input, which is more than there is to lose.
    walk = rounding_walk(feistel_rounds=128, unit_roundoff=2.0**-8)
    assert 9 < walk * passage(128).back < 12


def test_the_plot_of_rounding_says_what_the_chapter_says():
    found = {p.label: {x: y for x, y, *_ in p.found()} for p in drift_against_depth.points}
    assert found["With LayerNorm"][128] < 2e-4  # less than two ten-thousandths
    assert found["LayerNorm, bf16"][64] > 1  # nothing comes back
    assert found["No LayerNorm"][128] > 1  # nothing is left of the input


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: network("resnet", 2, 8), "is 'revnet' or 'transformer'; got 'resnet'"),
        (lambda: network("revnet", 0, 8), "1 block or more and a width of 2 or more; got 0 and 8"),
        (lambda: nudge_growth(nudge=2), "A nudge below 1 goes through 0 layers or more"),
    ],
)
def test_bad_input_gets_one_clear_sentence(call, sentence):
    with pytest.raises(FeistelError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)
