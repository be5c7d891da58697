"""Tests of claims about ciphers and reversible networks: segment 7."""

# The docstring of a test is a phrase that readers see in the ledger, after "Tested:".
# ruff: noqa: D205, D400, D401, D403

from __future__ import annotations

import math

import sympy

from handful import ciphers, facts, latency, overtraining, reversible
from handful.scenario import values
from handful.symbolic.formula import fill_constants

from ...simulate import reversible_networks
from .algebra import Findings, free_of, symbol


def every_input_reaches_every_output() -> Findings:
    """simulated: which outputs a change of one input reaches in the end"""
    import numpy as np

    flips = ciphers.avalanche(rounds=12, samples=300)
    net = reversible_networks.network("transformer", depth=2, width=8, seed=1)
    x1, x2 = np.random.default_rng(0).standard_normal((2, 4, 8))
    nudged = x1.copy()
    nudged[0, 0] += 1e-3
    moved = [
        np.abs(a - b)
        for a, b in zip(
            reversible_networks.forward(net, x1, x2),
            reversible_networks.forward(net, nudged, x2),
            strict=True,
        )
    ]
    return {
        "a cipher: every bit": bool((flips[-1] > 0.3).all()),
        "a transformer: every later token, every channel": all(bool((m > 0).all()) for m in moved),
    }


def ciphers_make_differences_large() -> Findings:
    """simulated: share of the bits that one flipped bit flips"""
    mean = ciphers.avalanche(rounds=12, samples=300).mean(axis=(1, 2))
    return {
        "half of all bits after twelve rounds": abs(float(mean[-1]) - 0.5) < 0.01,
        "from one bit": float(mean[0]) < 0.05,
    }


def residuals_keep_changes_small() -> Findings:
    """simulated: a relative change of a millionth after 64 random layers with tanh"""

    def grown(gain: float, *, residual: bool, normalised: bool) -> float:
        path = reversible_networks.nudge_growth(
            64, residual=residual, normalised=normalised, gain=gain, samples=8
        )
        return float(path[-1])

    def both(kept: bool) -> float:
        return grown(2, residual=kept, normalised=kept)

    return {
        "with residuals and LayerNorm it stays below a thousandth": both(True) < 1e-3,
        "without either it becomes as large as the activations": both(False) > 1,
        "with residuals alone it stays below a thousandth": grown(
            2, residual=True, normalised=False
        )
        < 1e-3,
        "small weights: with LayerNorm alone it is no larger than without": grown(
            1, residual=False, normalised=True
        )
        <= grown(1, residual=False, normalised=False),
    }


def feistel_runs_backwards() -> Findings:
    """encrypting and decrypting with random functions that have no inverse of their own"""
    import numpy as np

    rng = np.random.default_rng(3)
    x, y = (rng.integers(0, 1 << 16, 1000, dtype=np.uint16) for _ in range(2))
    functions = ciphers.random_functions(8)
    out_x, out_y = reversible.encrypt(x, y, functions)
    again = reversible.decrypt(out_x, out_y, functions)
    net = reversible_networks.network("transformer", depth=4, width=16, seed=1)
    a, b = rng.standard_normal((2, 8, 16))
    return {
        "words of 16 bits, exactly": bool((again[0] == x).all() and (again[1] == y).all()),
        "floating point, up to rounding": reversible_networks.rebuild_error(net, a, b) < 1e-10,
    }


def residual_from_two_back() -> Findings:
    """a Feistel round written out: the new half in terms of the two before it"""
    x, y = sympy.symbols("x y")
    f, g = sympy.Function("f"), sympy.Function("g")
    one_back, two_back = reversible.encrypt(x, y, [f], reversible.REALS)
    new, _ = reversible.encrypt(one_back, two_back, [g], reversible.REALS)
    return {"new = two back + g(one back)": sympy.expand(new - two_back - g(one_back)) == 0}


def reversibility_frees_activations() -> Findings:
    """activations kept where each layer is rebuilt on the way back, the arithmetic that this costs,
    and what comes back of the input through 128 random rounds
    """
    back = reversible_networks.round_trip_error
    extra = fill_constants(
        reversible.training_flops_reversible.expanded / overtraining.training_flops.expanded
    )
    return {
        "the depth is gone": free_of(reversible.activation_memory_reversible, "layers"),
        "for a third more arithmetic": sympy.simplify(extra) == sympy.Rational(4, 3),
        "in single precision, with LayerNorm, the input comes back": back(128) < 1e-3,
        "with streams in bf16 and large weights it does": back(128, bits=8) < 0.1,
    }


def differences_are_derivatives() -> Findings:
    """the difference of a map over GF(2), at every point: of a linear map, of an S-box, and its
    degree, and of an addition
    """

    def swap(x: int) -> int:
        return (x >> 2 | x << 2) & 15

    def table(f, difference: int) -> list[int]:
        return [ciphers.derivative(f, x, difference) for x in range(16)]

    box = ciphers.PRESENT_SBOX.__getitem__
    whole = _degree([box(x) for x in range(16)])
    return {
        "constant for a linear map": len(set(table(swap, 1))) == 1,
        "not for an S-box": len(set(table(box, 1))) > 1,
        "a lower degree than the S-box, whatever the difference": all(
            _degree(table(box, difference)) < whole for difference in range(1, 16)
        ),
        "adding a key modulo a power of two is linear over bits, too": (
            len(set(table(lambda x: (x + 3) & 15, 1))) == 1
        ),
    }


def _degree(table: list[int]) -> int:
    """Return the algebraic degree over GF(2) of a map given by all of its values.

    That is the most bits multiplied in any output bit.
    """
    coefficients = list(table)  # the Möbius transform, all output bits at once
    for bit in range(len(table).bit_length() - 1):
        for at in range(len(table)):
            if at >> bit & 1:
                coefficients[at] ^= coefficients[at ^ 1 << bit]
    return max((at.bit_count() for at, value in enumerate(coefficients) if value), default=0)


def random_networks_as_ciphers() -> Findings:
    """simulated: 16 bits through twelve random layers, and what one flipped bit turns: half, within
    a twentieth
    """
    import numpy as np

    rng = np.random.default_rng(5)
    blocks, every = rng.integers(0, 2, (200, 16)), np.arange(1 << 12)[:, None] >> np.arange(16) & 1

    def half_turns(**kind) -> bool:
        out = _bits_through(blocks, **kind)
        turned = [
            (out != _bits_through(blocks ^ (np.arange(16) == bit), **kind)).mean()
            for bit in range(16)
        ]
        return abs(float(np.mean(turned)) - 0.5) < 0.05

    different = len(np.unique(_bits_through(every, gain=3.0, tamed=False), axis=0)) == len(every)
    return {
        "large weights and nothing to tame them: one flipped bit turns half": half_turns(
            gain=3.0, tamed=False
        ),
        "with residuals and LayerNorm: one flipped bit turns half": half_turns(
            gain=2.0, tamed=True
        ),
        "no two of 4,096 blocks come out the same, so that it could be undone": different,
    }


def _bits_through(blocks, *, gain: float, tamed: bool, depth: int = 12, width: int = 32):
    """Pass blocks of bits through random layers, and return the signs of what comes out.

    With `tamed` the layers have residuals and LayerNorm.
    """
    import numpy as np

    rng, bits = np.random.default_rng(0), blocks.shape[1]
    x = (2.0 * blocks - 1) @ rng.standard_normal((bits, width)) / math.sqrt(bits)
    for _ in range(depth):
        up, down = (
            rng.standard_normal(shape) * gain / math.sqrt(shape[0])
            for shape in ((width, 4 * width), (4 * width, width))
        )
        seen = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True) if tamed else x
        x = (x if tamed else 0) + np.tanh(seen @ up) @ down
    return x @ rng.standard_normal((width, bits)) > 0


def differences_go_round_a_round() -> Findings:
    """whether a flipped bit passes a round as it is, which a residual would allow: all of 2^16
    inputs
    """
    import numpy as np

    points = np.arange(1 << 16, dtype=np.uint16)
    [mix] = ciphers.round_functions([np.zeros(1, dtype=np.uint16)])
    other = np.zeros_like(points)

    def unchanged(through) -> bool:
        flips = [np.uint16(1 << bit) for bit in range(16)]
        return any(bool((through(points) ^ through(points ^ flip) == flip).all()) for flip in flips)

    def feistel(y):
        return reversible.feistel_round(other, y, mix)[1]

    return {
        "rounds of S-boxes and a spread of bits: none passes": not unchanged(mix),
        "Feistel rounds: none passes": not unchanged(feistel),
    }


def chosen_changes_and_any_changes() -> Findings:
    """a cipher under any flipped bit, and a trained classifier of 784 numbers under chosen and
    random signs
    """
    import numpy as np

    flips = ciphers.avalanche(rounds=12, samples=300)[-1].mean(axis=1)
    rng, inputs, eps = np.random.default_rng(0), 784, 0.2
    apart = 0.12 * rng.standard_normal(
        inputs
    )  # half of the distance between two classes of unit noise
    labels = rng.choice([-1.0, 1.0], 4000)
    seen = labels[:, None] * apart + rng.standard_normal((4000, inputs))
    weights = np.linalg.solve(
        seen[:2000].T @ seen[:2000] + 100 * np.eye(inputs), seen[:2000].T @ labels[:2000]
    )
    new, said = seen[2000:], np.sign(seen[2000:] @ weights)

    def turned(signs) -> float:
        return float((np.sign((new + eps * signs) @ weights) != said).mean())

    return {
        "a cipher: any flipped bit turns half of the output": bool((abs(flips - 0.5) < 0.05).all()),
        "the classifier: chosen signs turn nine answers in ten": turned(
            -said[:, None] * np.sign(weights)
        )
        > 0.9,
        "the classifier: any signs do": turned(rng.choice([-1.0, 1.0], new.shape)) > 0.9,
    }


def revnet_block_is_two_rounds() -> Findings:
    """the paper's block, y1 = x1 + F(x2) and y2 = x2 + G(y1), against two Feistel rounds"""
    x1, x2 = sympy.symbols("x1 x2")
    first, second = sympy.Function("F"), sympy.Function("G")
    y1 = x1 + first(x2)
    ours = reversible.encrypt(x2, x1, [first, second], reversible.REALS)
    return {
        "the same outputs": [
            sympy.expand(a - b) for a, b in zip(ours, (x2 + second(y1), y1), strict=True)
        ]
        == [0, 0]
    }


def what_can_be_undone() -> Findings:
    """rebuilding the input of a layer from its output: coupled layers of two kinds, and a layer
    with a stride
    """
    import numpy as np

    rng = np.random.default_rng(7)
    x = rng.standard_normal((2, 8, 16))

    def rebuilt(kind: str) -> bool:
        net = reversible_networks.network(kind, depth=4, width=16, seed=1)
        return reversible_networks.rebuild_error(net, *x) < 1e-10

    stride = np.eye(16)[::2]  # every second channel, whatever is done to it later
    return {
        "coupled residual layers": rebuilt("revnet"),
        "coupled transformer layers": rebuilt("transformer"),
        "a layer with a stride of two": int(np.linalg.matrix_rank(stride)) == 16,
    }


def stored_activations_grow() -> Findings:
    """activations kept for the backward pass, by depth, and beside 18 bytes a parameter of Llama
    3.1 70B in training
    """
    stored = reversible.activation_memory_stored.expanded
    shape = facts.get("models", "Llama 3.1 70B")
    kept = reversible.activation_memory_stored(
        layers=shape["n_layers"],
        sequence_tokens=8192,
        micro_batch=16,
        layer_activation_bytes=reversible.layer_activation_bytes(
            d_model=shape["d_model"],
            sequence_tokens=8192,
            attention_heads=shape["n_heads"],
            bytes_per_score=0,
        ),
    )
    return {
        "linear in the layers": not sympy.simplify(stored / symbol("layers")).has(symbol("layers")),
        "16 sequences of 8,192 tokens: more than weights, gradients and Adam's states": kept
        > 18 * shape["total_params_reported"],
    }


def trades_go_opposite_ways() -> Findings:
    """FLOPs and bytes with and without: a reversible network in training, a key-value cache in
    decoding
    """
    work = fill_constants(
        reversible.training_flops_reversible.expanded / overtraining.training_flops.expanded
    )
    at: dict = values("H100 SXM", "Llama 3.1 70B", "bf16", 8192)
    layer = reversible.layer_activation_bytes(
        d_model=8192, sequence_tokens=8192, attention_heads=64, bytes_per_score=0
    )
    shape = {
        "layers": 80,
        "sequence_tokens": 8192,
        "micro_batch": 1,
        "layer_activation_bytes": layer,
    }
    room = reversible.activation_memory_reversible(
        shape, d_model=8192, activation_bytes=2
    ) / reversible.activation_memory_stored(shape)
    with_it, without = (latency.compute_time(at, batch=tokens) for tokens in (1, at["context"]))
    return {
        "reversibility: more arithmetic, less memory": bool(work > 1) and room < 1,
        "a cache: memory for each token of context, and the "
        "arithmetic of one token instead of all": at["context"] * at["kv_bytes_per_token"] > 0
        and with_it < without,
    }


def keeping_pays_for_a_while() -> Findings:
    """how long bytes may wait in memory before computing them again is cheaper: Llama 3.1 70B in
    bf16 on H100
    """
    at = values("H100 SXM", "Llama 3.1 70B", "bf16", 8192)
    cache = reversible.cache_breakeven_hold(at)
    activations = reversible.activation_breakeven_hold_of_shape(
        at, d_model=8192, attention_heads=64, sequence_tokens=8192, bytes_per_score=0, layers=80
    )
    return {
        "a cache that is read again after a step of 50 ms": cache > 0.05,
        "a cache that waits five minutes for its user": cache > 300,
        "activations that wait two seconds for the backward pass": activations > 2,
    }
