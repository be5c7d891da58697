"""Small changes through depth: theory against simulation, and against integrals done otherwise."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from handful import perturbation_growth
from handful.perturbation_growth import branch, fixed_point_slope, nudge_theory
from handful.reversible import REALS, FeistelError, decrypt, encrypt
from handful_evidence.simulate.reversible_networks import (
    direction_gains,
    network,
    nudge_growth,
    rebuild_error,
)


@pytest.mark.parametrize("gain, mean_square", [(0.5, 1.0), (2.0, 1.0), (3.0, 4.0)])
def test_gaussian_integrals_by_another_rule(gain, mean_square):
    def over_a_normal(f):
        return integrate.quad(lambda z: f(z) * stats.norm.pdf(z), -12, 12, limit=200)[0]

    slope_of = gain * np.sqrt(mean_square)
    power = gain**2 * over_a_normal(lambda z: np.tanh(slope_of * z) ** 2)
    slope = gain**4 * over_a_normal(lambda z: (1 - np.tanh(slope_of * z) ** 2) ** 2)
    assert branch(gain, mean_square) == pytest.approx((power, slope), rel=1e-6)


def test_slope_is_the_derivative_of_what_a_finite_change_does():
    # Two correlated inputs: the squared distance of their outputs over that of the inputs, drawn at
    # random.
    rng, gain, apart = np.random.default_rng(4), 2.0, 1e-3
    z, w = rng.standard_normal((2, 400_000))
    change = np.tanh(gain * (z + apart * w)) - np.tanh(gain * z)
    assert gain**2 * (change**2).mean() / apart**2 == pytest.approx(branch(gain)[1], rel=0.02)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("gain", [1.0, 1.5, 2.0])
def test_theory_is_what_wide_layers_do(residual, gain):
    # Normalised networks: their layers all work at the same point, so that fluctuations do not add
    # up.
    seen = nudge_growth(16, residual=residual, normalised=True, gain=gain, width=192, samples=8)
    told = nudge_theory(16, residual=residual, normalised=True, gain=gain)
    assert seen == pytest.approx(told, rel=0.4)


def test_plain_and_residual_networks_follow_until_the_change_is_no_longer_small():
    for residual, gain in ((False, 1.5), (True, 1.0)):
        seen = nudge_growth(
            16, residual=residual, normalised=False, gain=gain, width=192, samples=8
        )
        assert seen == pytest.approx(
            nudge_theory(16, residual=residual, normalised=False, gain=gain), rel=0.3
        )
    # Then both outputs are unrelated: as far apart as two vectors drawn at random.
    for end in (
        nudge_growth(32, residual=False, normalised=False, gain=3, width=192, samples=8)[-1],
        nudge_theory(32, residual=False, normalised=False, gain=3)[-1],
    ):
        assert end == pytest.approx(np.linalg.norm([1, 1]), rel=0.1)


@pytest.mark.parametrize("gain", [1.0, 1.5, 2.0, 3.0])
def test_the_power_of_depth_is_the_exact_product(gain):
    # The product of (1 + χ/q) / (1 + v/q) over q = 1, 1 + v, 1 + 2v, … is a ratio of gamma
    # functions.
    v, chi = branch(gain)
    layers = np.array([4, 16, 64, 1000])
    a, b = (1 + chi) / v, 1 + 1 / v
    exact = np.exp(
        (
            special.gammaln(layers + a)
            - special.gammaln(a)
            - special.gammaln(layers + b)
            + special.gammaln(b)
        )
        / 2
    )
    told = perturbation_growth.nudge_with_both(
        nudge=1, branch_power=v, branch_slope=chi, layers=layers
    )
    assert told == pytest.approx(
        exact, rel=0.01
    )  # as its convention says; at a gain of 5 it is 6 % off
    alone = perturbation_growth.nudge_with_layer_norm(
        nudge=1, branch_power=v, branch_slope=chi, layers=layers[:3]
    )
    assert alone == pytest.approx([np.prod([np.sqrt(chi / v)] * n) for n in layers[:3]])


def test_residual_alone_is_between_an_exponential_and_a_power():
    # The logarithm of the growth: as the square root of depth for tanh (Yang and Schoenholz 2017).
    grown = np.log(
        nudge_theory(4096, residual=True, normalised=False, gain=1.0, nudge=1e-120) / 1e-120
    )
    over_root = [grown[n] / np.sqrt(n) for n in (256, 1024, 4096)]
    assert max(over_root) < 1.35 * min(over_root)
    assert (
        grown[4096] / grown[1024] < 2.3
    )  # an exponential would give 4, a power of depth about 1.2


def test_a_plain_network_settles_where_theory_says():
    slope = fixed_point_slope(1.5)
    told = perturbation_growth.nudge_in_plain_network(nudge=1, fixed_point_slope=slope, layers=10)
    steps = nudge_theory(60, residual=False, normalised=False, gain=1.5, nudge=1e-20)
    assert steps[60] / steps[50] == pytest.approx(told, rel=1e-3)
    assert fixed_point_slope(0.7) == 1


def test_the_jacobian_grows_as_a_nudge_does():
    for residual in (False, True):
        average = np.median(
            [direction_gains(12, residual=residual, normalised=True, seed=s)[0] for s in range(12)]
        )
        grown = nudge_growth(12, residual=residual, normalised=True)[-1] / 1e-6
        assert average == pytest.approx(grown, rel=0.5)


def test_the_worst_direction_grows_several_times_as_much_as_a_random_one():
    for _, residual, normalised in perturbation_growth.KINDS:
        gains = [
            direction_gains(24, residual=residual, normalised=normalised, seed=seed)
            for seed in range(4)
        ]
        average, worst = np.median(gains, axis=0)
        told = (
            nudge_theory(24, residual=residual, normalised=normalised, gain=2, nudge=1e-25)[-1]
            * 1e25
        )
        assert np.log(average) == pytest.approx(np.log(told), rel=0.25)
        assert 2 < worst / average < 8


def test_the_jacobian_against_finite_differences():
    # One layer, both options on: the largest singular value by moving the input along each axis.
    width, seed, step = 8, 3, 1e-6
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((1, width))
    up, down = rng.standard_normal((width, 4 * width)), rng.standard_normal((4 * width, width))
    up, down = up * 2 / np.sqrt(width), down * 2 / np.sqrt(4 * width)

    def layer(x):
        centred = x - x.mean()
        normal = centred / np.sqrt((centred**2).mean() + 1e-5)
        return x + np.tanh(normal @ up) @ down

    moved = np.stack(
        [(layer(x + step * e) - layer(x - step * e))[0] / (2 * step) for e in np.eye(width)]
    )
    grown = np.linalg.norm(layer(x)) / np.linalg.norm(x)
    worst = np.linalg.svd(moved, compute_uv=False)[0] / grown
    assert direction_gains(1, width=width, seed=seed)[1] == pytest.approx(worst, rel=1e-6)


def test_chosen_signs_against_drawn_signs():
    rng, d, eps = np.random.default_rng(6), 2500, 0.01
    weights = rng.standard_normal(d)
    worst = eps * np.abs(weights).sum()
    drawn = eps * (rng.choice([-1, 1], (4000, d)) @ weights).std()
    assert perturbation_growth.worst_response(nudge=eps, input_numbers=d) == pytest.approx(
        worst, rel=0.03
    )
    assert perturbation_growth.random_response(nudge=eps, input_numbers=d) == pytest.approx(
        drawn, rel=0.05
    )
    assert perturbation_growth.adversarial_advantage(input_numbers=d) == pytest.approx(
        worst / drawn, rel=0.06
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("rounds", [8, 64, 512])
def test_the_walk_of_roundings_played_through(dtype, rounds):
    # Whatever the halves are, they become the next ones that are drawn, so that no error is
    # enlarged.
    halves = np.random.default_rng(1).standard_normal((rounds + 2, 2000))
    functions = [lambda _, f=f: f for f in (halves[2:] - halves[:-2]).astype(dtype)]
    x, y = halves[1].astype(dtype), halves[0].astype(dtype)
    again = np.array(decrypt(*encrypt(x, y, functions, REALS), functions, REALS), float)
    drift = np.sqrt(((again - np.array([x, y], float)) ** 2).mean())
    told = perturbation_growth.rounding_walk(
        unit_roundoff=np.finfo(dtype).eps / 2, feistel_rounds=rounds
    )
    assert drift == pytest.approx(told, rel=0.15)


@pytest.mark.parametrize("drift, u", [(0.1, 2.0**-8), (0.01, 2.0**-11)])
def test_blocks_until_roundings_of_full_size_show(drift, u):
    told = drift**2 / (2 * u**2)  # what exercises/problems answers
    rng, off = np.random.default_rng(3), np.zeros((2, 4000))
    for _ in range(2 * round(told)):  # each block there, and each back
        for stream in off:
            stream += u * rng.choice([-1, 1], stream.size)
    assert np.sqrt((off**2).mean()) == pytest.approx(drift, rel=0.03)
    walk = perturbation_growth.rounding_walk(unit_roundoff=u, feistel_rounds=2 * told)
    assert walk == pytest.approx(drift / 3)


def test_rounding_alone_is_a_floor_under_measured_drift():
    # Layers enlarge earlier errors, so that real drift lies above the walk, and further above with
    # depth.
    x = np.random.default_rng(2).standard_normal((2, 16, 32)).astype(np.float32)
    u = np.finfo(np.float32).eps / 2
    over = [
        rebuild_error(network("transformer", depth, 32, dtype=np.float32), *x)
        / perturbation_growth.rounding_walk(unit_roundoff=u, feistel_rounds=2 * depth)
        for depth in (1, 4, 16, 64)
    ]
    assert over == sorted(over) and 1 < over[0] < 4 and over[-1] > 20


@pytest.mark.parametrize("call", [lambda: branch(0), lambda: branch(1, 0)])
def test_bad_input_gets_one_clear_sentence(call):
    with pytest.raises(FeistelError, match=r"gain .*mean square"):
        call()


@pytest.mark.parametrize("gain", [1.5, 10.0])
def test_activations_settle_where_layer_after_layer_leaves_them(gain):
    size = 1.0
    for _ in range(400):
        size = branch(gain, size)[0]
    assert fixed_point_slope(gain) == pytest.approx(branch(gain, size)[1], rel=1e-9)
