"""Reversible networks in NumPy: activations rebuilt on the way back, not kept.

The lecture has them at 2:10:25 and 2:12:46.

A RevNet block, y1 = x1 + F(x2) and y2 = x2 + G(y1), is two Feistel rounds with real numbers, so
that its inverse is a decryption.  The paper of 2017 (Gomez et al., arXiv 1707.04585) is about
residual networks for images; attention as F and the feed-forward part as G came with Reformer in
2020 (Kitaev et al., arXiv 2001.04451).

>>> net = network("transformer", depth=4, width=16, seed=1)
>>> x1, x2 = np.random.default_rng(2).standard_normal((2, 8, 16))
>>> x1_again, x2_again = inverse(net, *forward(net, x1, x2))
>>> bool(np.abs(x1_again - x1).max() < 1e-12)
True
>>> kept, rebuilt = gradients(net, x1, x2, rebuild=False), gradients(net, x1, x2)
>>> bool(np.abs(kept.x1 - rebuilt.x1).max() < 1e-10 * np.abs(kept.x1).max())
True
>>> round(kept.held_bytes / rebuilt.held_bytes, 1)  # 4 blocks are 8 rounds, of which one is held
5.9
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from handful.reversible import REALS, FeistelError, Group, decrypt, encrypt

Array = npt.NDArray[np.floating[Any]]
Arrays = tuple[Array, ...]

# Layers: forward gives the output and what the backward pass needs of it --------------------------


class Layer(NamedTuple):
    """A kind of layer: its shapes of weights in units of width, and both passes.

    forward(weights, x) gives y and what is kept; backward(weights, kept, dy) gives dx and the
    weights' gradients.  x and y have the shape (tokens, width).
    """

    shapes: tuple[tuple[int, int], ...]
    forward: Callable[[Arrays, Array], tuple[Array, Arrays]]
    backward: Callable[[Arrays, Arrays, Array], tuple[Array, Arrays]]


def _normalise(x: Array) -> tuple[Array, Array]:
    """Apply LayerNorm without learned scale and shift.

    Returns its output and one over the spread of each token.
    """
    centred = x - x.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5)
    return centred * scale, scale


def _normalise_backward(normal: Array, scale: Array, dy: Array) -> Array:
    mean: Array = dy.mean(axis=1, keepdims=True)
    along: Array = (dy * normal).mean(axis=1, keepdims=True)
    return scale * (dy - mean - normal * along)


def _mlp_forward(weights: Arrays, x: Array) -> tuple[Array, Arrays]:
    up, down = weights
    normal, scale = _normalise(x)
    hidden = np.tanh(normal @ up)
    return hidden @ down, (normal, scale, hidden)


def _mlp_backward(weights: Arrays, kept: Arrays, dy: Array) -> tuple[Array, Arrays]:
    (up, down), (normal, scale, hidden) = weights, kept
    dhidden = (dy @ down.T) * (1 - hidden * hidden)
    return _normalise_backward(normal, scale, dhidden @ up.T), (normal.T @ dhidden, hidden.T @ dy)


def _attention_forward(weights: Arrays, x: Array) -> tuple[Array, Arrays]:
    """Apply one head of attention; a token attends to itself and to those before it."""
    query, key, value, out = weights
    normal, scale = _normalise(x)
    queries, keys, values = normal @ query, normal @ key, normal @ value
    scores = np.where(np.tri(len(x), dtype=bool), queries @ keys.T / math.sqrt(x.shape[1]), -np.inf)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = shares / shares.sum(axis=1, keepdims=True)
    mixed = shares @ values
    return mixed @ out, (normal, scale, queries, keys, values, shares, mixed)


def _attention_backward(weights: Arrays, kept: Arrays, dy: Array) -> tuple[Array, Arrays]:
    query, key, value, out = weights
    normal, scale, queries, keys, values, shares, mixed = kept
    dmixed = dy @ out.T
    dshares = dmixed @ values.T
    dscores = (
        shares
        * (dshares - (dshares * shares).sum(axis=1, keepdims=True))
        / math.sqrt(queries.shape[1])
    )
    dqueries, dkeys, dvalues = dscores @ keys, dscores.T @ queries, shares.T @ dmixed
    dnormal = dqueries @ query.T + dkeys @ key.T + dvalues @ value.T
    gradients = normal.T @ dqueries, normal.T @ dkeys, normal.T @ dvalues, mixed.T @ dy
    return _normalise_backward(normal, scale, dnormal), gradients


MLP = Layer(((1, 4), (4, 1)), _mlp_forward, _mlp_backward)
ATTENTION = Layer(((1, 1),) * 4, _attention_forward, _attention_backward)
BLOCKS = {"revnet": (MLP, MLP), "transformer": (ATTENTION, MLP)}


class Branch(NamedTuple):
    """A layer with its weights: the f of one Feistel round."""

    layer: Layer
    weights: Arrays

    def __call__(self, x: Array) -> Array:
        """Return the output of the layer alone."""
        return self.layer.forward(self.weights, x)[0]


# Networks -----------------------------------------------------------------------------------------


def network(
    kind: str,
    depth: int,
    width: int,
    *,
    gain: float = 1.0,
    seed: int = 0,
    dtype: npt.DTypeLike = np.float64,
) -> list[Branch]:
    """Return the branches F, G, F, G, … of `depth` reversible blocks, with random weights.

    `kind` is "revnet" (two feed-forward parts a block) or "transformer" (attention, then
    feed-forward); weights have the variance gain²/inputs; `dtype` is that of the arithmetic.

    >>> network("resnet", depth=2, width=8)
    Traceback (most recent call last):
    ...
    handful.reversible.FeistelError: A reversible network is 'revnet' or
    'transformer'; got 'resnet'.
    """
    if kind not in BLOCKS:
        raise FeistelError(
            f"A reversible network is {' or '.join(map(repr, BLOCKS))}; got {kind!r}."
        )
    if depth < 1 or width < 2:
        raise FeistelError(
            "A reversible network wants 1 block or more and a width of 2 or more; "
            f"got {depth} and {width}."
        )
    rng = np.random.default_rng(seed)

    def draw(inputs: int, outputs: int) -> Array:
        scale = gain / math.sqrt(inputs * width)
        return (scale * rng.standard_normal((inputs * width, outputs * width))).astype(dtype)

    return [
        Branch(layer, tuple(draw(*shape) for shape in layer.shapes))
        for _ in range(depth)
        for layer in BLOCKS[kind]
    ]


def _functions(branches: Sequence[Branch]) -> list[Callable[[Array], Array]]:
    # A branch can be called itself, but mypy takes no named tuple for a function.
    return [branch.__call__ for branch in branches]


def forward(branches: Sequence[Branch], x1: Array, x2: Array) -> tuple[Array, Array]:
    """Take both streams, of shape (tokens, width), through all blocks."""
    y2, y1 = encrypt(x2, x1, _functions(branches), REALS)
    return y1, y2


def inverse(branches: Sequence[Branch], y1: Array, y2: Array) -> tuple[Array, Array]:
    """Return the inputs that gave these outputs, exact but for rounding."""
    x2, x1 = decrypt(y2, y1, _functions(branches), REALS)
    return x1, x2


class Gradients(NamedTuple):
    """Gradients by the inputs and by each branch's weights.

    `held_bytes` is the most bytes of activations held at once.
    """

    x1: Array
    x2: Array
    weights: list[Arrays]
    held_bytes: int


def _bytes(*groups: Arrays) -> int:
    """Count the bytes of all arrays in the groups, each array once."""
    return sum({id(array): array.nbytes for group in groups for array in group}.values())


def gradients(
    branches: Sequence[Branch], x1: Array, x2: Array, *, rebuild: bool = True
) -> Gradients:
    """Compute the gradients of half the sum of squares of both outputs.

    With `rebuild` only the last pair of streams is held: going back, each branch runs forward once
    more on the half that it left alone, which undoes its round and gives what its own backward pass
    needs.  Otherwise all branches keep theirs, as usual.  `held_bytes` counts activations, not
    gradients and not weights.
    """
    last, before = x2, x1
    kept_by_all: list[Arrays] = []
    for branch in branches:
        out, kept = branch.layer.forward(branch.weights, last)
        if not rebuild:
            kept_by_all.append(kept)
        last, before = before + out, last
    held = _bytes((last, before), *kept_by_all)
    dlast, dbefore = last, before
    found: list[Arrays] = []
    for branch in reversed(branches):
        if rebuild:
            out, kept = branch.layer.forward(branch.weights, before)
            held = max(held, _bytes((last, before), kept))
            last, before = before, last - out
        else:
            kept = kept_by_all.pop()
        dx, dweights = branch.layer.backward(branch.weights, kept, dlast)
        dlast, dbefore = dbefore + dx, dlast
        found.append(dweights)
    return Gradients(dbefore, dlast, found[::-1], held)


def rebuild_error(branches: Sequence[Branch], x1: Array, x2: Array) -> float:
    """Return how far the rebuilt inputs are from the true ones.

    It is the root mean square, relative to that of the inputs.
    """
    true = np.stack([x1, x2]).astype(float)
    again = np.stack(inverse(branches, *forward(branches, x1, x2))).astype(float)
    return float(np.sqrt(((again - true) ** 2).mean() / (true**2).mean()))


def gelu(x: Array) -> Array:
    """Return x times the chance of a smaller normal number, in its usual approximation."""
    smooth: Array = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return smooth


def relu(x: Array) -> Array:
    """Return x where it is positive, and else 0."""
    return np.maximum(x, 0)


def _random_rounds(
    rounds: int,
    *,
    normalised: bool,
    gain: float,
    through: Callable[[Array], Array],
    width: int,
    seed: int,
    dtype: npt.DTypeLike,
) -> tuple[list[Callable[[Array], Array]], Array]:
    """Return random functions of as many rounds, and two streams to go through them.

    Each is a feed-forward layer, four times as wide, with `through` between its matrices.
    """
    rng = np.random.default_rng(seed)

    def branch(up: Array, down: Array) -> Callable[[Array], Array]:
        def f(x: Array) -> Array:
            out: Array = through((_normalise(x)[0] if normalised else x) @ up) @ down
            return out

        return f

    def draw(inputs: int, outputs: int) -> Array:
        return (gain / math.sqrt(inputs) * rng.standard_normal((inputs, outputs))).astype(dtype)

    functions = [branch(draw(width, 4 * width), draw(4 * width, width)) for _ in range(rounds)]
    return functions, np.random.default_rng(seed + 1).standard_normal((2, 16, width)).astype(dtype)


def _size(streams: Any) -> float:
    """Return the root mean square of two streams."""
    return float(np.sqrt((np.stack(streams).astype(float) ** 2).mean()))


def _to_bits(bits: int) -> Callable[[Array], Array]:
    """Return a rounding to so many significant binary digits."""

    def rounded(x: Array) -> Array:
        mantissa, exponent = np.frexp(x)
        near: Array = np.ldexp(np.rint(mantissa * 2.0**bits), exponent - bits)
        return near

    return rounded


def round_trip_error(
    rounds: int,
    *,
    normalised: bool = True,
    gain: float = 2.0,
    through: Callable[[Array], Array] = np.tanh,
    width: int = 64,
    seed: int = 1,
    dtype: npt.DTypeLike = np.float32,
    bits: int | None = None,
) -> float:
    """Return how far the input is off after so many Feistel rounds there and back.

    Each round's function is a random feed-forward layer (four times as wide, with `through` between
    its matrices), which sees its half with LayerNorm or as it is.  The error is the root mean
    square, relative to that of the input; beyond 1 nothing of the input is left.  With `bits` the
    streams are kept to so many significant binary digits, 8 for bf16, while the layers calculate in
    `dtype`.

    >>> round_trip_error(64) < 1e-3, round_trip_error(128, normalised=False) > 1
    (True, True)
    """
    functions, true = _random_rounds(
        rounds,
        normalised=normalised,
        gain=gain,
        through=through,
        width=width,
        seed=seed,
        dtype=dtype,
    )
    group = REALS
    if bits is not None:
        rounded = _to_bits(bits)
        true = rounded(true)
        group = Group(
            f"reals of {bits} digits",
            lambda x, y: rounded(x + y),
            lambda x, y: rounded(x - y),
        )
    with np.errstate(over="ignore", invalid="ignore"):
        out = encrypt(true[0], true[1], functions, group)
        again = decrypt(*out, functions, group)
        return _size(np.stack(again) - true) / _size(true)


class Passage(NamedTuple):
    """What becomes of a small change through reversible rounds, beside the streams themselves.

    `ahead`: its growth from the input to the output; `back`: from the output to the input;
    `streams`: how many times as large as the input the output is.
    """

    ahead: float
    back: float
    streams: float


def passage(
    rounds: int,
    *,
    normalised: bool = True,
    gain: float = 2.0,
    through: Callable[[Array], Array] = np.tanh,
    width: int = 64,
    seed: int = 1,
    nudge: float = 1e-7,
) -> Passage:
    """Send a small change through random rounds both ways, in double precision.

    In absolute terms it grows about as much on either way.  Beside streams that grow G-fold upwards
    and shrink G-fold on the way back, that is G times less ahead and G times more back, so that the
    two differ by about G².

    >>> ahead, back, streams = passage(128)
    >>> 2 < ahead < 10, 10 < streams < 16, 0.5 < back / ahead / streams**2 < 2
    (True, True, True)
    """
    functions, true = _random_rounds(
        rounds,
        normalised=normalised,
        gain=gain,
        through=through,
        width=width,
        seed=seed,
        dtype=np.float64,
    )
    change = nudge * np.random.default_rng(seed + 2).standard_normal(true.shape)
    top = np.stack(encrypt(true[0], true[1], functions, REALS))
    streams = _size(top) / _size(true)
    start = true + change
    nudged = np.stack(encrypt(start[0], start[1], functions, REALS))
    ahead = _size(nudged - top) / _size(change) / streams
    # The same nudge beside the streams at the top, which are larger.
    end = top + streams * change
    returned = np.stack(decrypt(end[0], end[1], functions, REALS))
    return Passage(ahead, _size(returned - true) / _size(change), streams)


class Course(NamedTuple):
    """Sizes after each of 0, 1, … layers, as multiples of those at the input.

    `streams`: of the streams; `nudge`: of a small change on its way up; `error`: of one that sets
    out at the top on its way down, where it is drawn as large as the streams are.
    """

    streams: np.ndarray
    nudge: np.ndarray
    error: np.ndarray


def course(layers: int = 64, *, samples: int = 5, nudge: float = 1e-7) -> Course:
    """Follow streams, a nudge and an error through random layers with LayerNorm, both ways.

    Layers are those of `passage`, two rounds each; the result is the median over networks.

    >>> found = course(16)
    >>> found.nudge[0] == 1 and bool(found.error[-1] == found.streams[-1])
    True
    >>> bool(found.nudge[-1] / found.streams[-1] < found.error[0] / found.streams[0])
    True
    """
    seen = []
    for seed in range(1, samples + 1):
        functions, true = _random_rounds(
            2 * layers,
            normalised=True,
            gain=2.0,
            through=np.tanh,
            width=64,
            seed=seed,
            dtype=np.float64,
        )
        pairs = [functions[n : n + 2] for n in range(0, 2 * layers, 2)]
        change = nudge * np.random.default_rng(seed + 2).standard_normal(true.shape)
        here, beside = true, true + change
        streams, ahead = [1.0], [1.0]
        for pair in pairs:
            here = np.stack(encrypt(here[0], here[1], pair, REALS))
            beside = np.stack(encrypt(beside[0], beside[1], pair, REALS))
            streams.append(_size(here) / _size(true))
            ahead.append(_size(beside - here) / _size(change))
        beside, back = here + streams[-1] * change, [streams[-1]]
        for pair in reversed(pairs):
            here = np.stack(decrypt(here[0], here[1], pair, REALS))
            beside = np.stack(decrypt(beside[0], beside[1], pair, REALS))
            back.append(_size(beside - here) / _size(change))
        seen.append((streams, ahead, back[::-1]))
    return Course(*np.median(seen, axis=0))


def nudge_growth(
    depth: int = 64,
    *,
    residual: bool = True,
    normalised: bool = True,
    gain: float = 2.0,
    through: Callable[[Array], Array] = np.tanh,
    width: int = 64,
    samples: int = 32,
    nudge: float = 1e-6,
    seed: int = 0,
) -> np.ndarray:
    """Return a small change of the input, relative to the activations, layer by layer.

    There is a value after each of 0, 1, … `depth` random layers.

    Layers are feed-forward (four times as wide, with `through` between their matrices); the result
    is the median over `samples` inputs.  Two unrelated vectors of equal length differ by √2: that
    is as far as it can go, like one half of a cipher's bits.  The gain decides, and so does
    `through`: at a gain of 1 even the plain network is calm by this measure, and with `relu` or
    `gelu` it is so at any gain.

    >>> [
    ...     float(f"{nudge_growth(residual=r, normalised=n)[-1]:.1e}")
    ...     for r in (False, True)
    ...     for n in (False, True)
    ... ]
    [1.5, 0.86, 0.021, 3e-06]
    """
    if depth < 0 or width < 2 or samples < 1 or not 0 < nudge < 1:
        raise FeistelError(
            "A nudge below 1 goes through 0 layers or more, of width 2 or more, for 1 sample "
            f"or more; got {nudge}, {depth}, {width} and {samples}."
        )
    rng = np.random.default_rng(seed)

    def matrix(inputs: int, outputs: int) -> Array:
        return rng.standard_normal((inputs, outputs)) * gain / math.sqrt(inputs)

    def length(x: Array) -> Array:
        squares: Array = (x * x).sum(axis=1, keepdims=True)
        return np.sqrt(squares)

    x, change = rng.standard_normal((2, samples, width))
    pair = np.stack([x, x + nudge * length(x) / length(change) * change])
    growth = []
    for layer in range(depth + 1):
        if layer:
            up, down = matrix(width, 4 * width), matrix(4 * width, width)
            rows = pair.reshape(-1, width)
            seen = _normalise(rows)[0] if normalised else rows
            branch = (through(seen @ up) @ down).reshape(pair.shape)
            pair = pair + branch if residual else branch
        growth.append(np.median(length(pair[1] - pair[0]) / length(pair[0])))
    return np.array(growth)


def direction_gains(
    depth: int = 24,
    *,
    residual: bool = True,
    normalised: bool = True,
    gain: float = 2.0,
    width: int = 64,
    seed: int = 0,
) -> tuple[float, float]:
    """Return by how much `depth` random layers enlarge a small relative change.

    The first is in a random direction, the second in the worst.

    Root mean square and largest singular value of the Jacobian at one random input, over the growth
    of the stream itself.  The network is that of `nudge_growth`.

    >>> average, worst = direction_gains(depth=0)
    >>> round(average, 12), round(worst, 12)
    (1.0, 1.0)
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    x = rng.standard_normal((1, width))
    jacobian, size = np.eye(width), float(np.linalg.norm(x))
    for _ in range(depth):
        up, down = (
            rng.standard_normal(shape) * gain / math.sqrt(shape[0])
            for shape in ((width, 4 * width), (4 * width, width))
        )
        seen, scale = _normalise(x) if normalised else (x, None)
        hidden = np.tanh(seen @ up)
        # Rows of the Jacobian are changes of the input; each goes through the branch's own
        # derivative.
        change = jacobian
        if scale is not None:
            change = scale * (
                change
                - change.mean(axis=1, keepdims=True)
                - seen * (change * seen).mean(axis=1, keepdims=True)
            )
        change = ((change @ up) * (1 - hidden**2)) @ down
        branch_out = hidden @ down
        jacobian = jacobian + change if residual else change
        x = x + branch_out if residual else branch_out
    values = np.linalg.svd(jacobian, compute_uv=False) / (float(np.linalg.norm(x)) / size)
    return float(np.sqrt((values**2).mean())), float(values[0])
