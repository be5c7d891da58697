"""Explorers of the chapter on ciphers and networks."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from ipywidgets import Checkbox, Dropdown, FloatLogSlider, IntSlider

from handful import ciphers, perturbation_growth, reversible, tiers
from handful.shapes import shape
from handful_evidence.simulate.reversible_networks import network, nudge_growth, rebuild_error

from .plotting.explorer import (
    Control,
    Curve,
    Explorer,
    Guess,
    Mark,
    Points,
    Preset,
    Readout,
    Scale,
    Sweep,
)

# The block and its bits ---------------------------------------------------------------------------

_ROUNDS = 12
_KEYS = np.random.default_rng(2026).integers(0, 1 << 16, _ROUNDS)
_F = [
    ("S-boxes, spread", "sboxes"),
    ("spread alone", "spread"),
    ("a square", "square"),
    ("the key alone", "constant"),
]

feistel = Explorer(
    "feistel",
    "A Feistel cipher, round by round",
    kind="feistel",
    data={
        "sbox": list(ciphers.PRESENT_SBOX),
        "keys": [int(key) for key in _KEYS],
        "blocks": {"words": [0x4861, 0x6E64], "zeros": [0, 0]},
    },
    controls=[
        Control(IntSlider(value=6, min=0, max=_ROUNDS), "rounds", "Rounds"),
        Control(
            IntSlider(value=20, min=0, max=32), "flip", "Input bit to flip, from the left (0: none)"
        ),
        Control(Dropdown(options=_F, value="sboxes"), "f", "Function f"),
        Control(
            Dropdown(options=[("four letters", "words"), ("all zeros", "zeros")], value="words"),
            "block",
            "Input",
        ),
        Control(Checkbox(value=False), "back", "Then run the rounds backwards"),
    ],
    presets=[
        Preset(
            "One bit, six rounds",
            {"rounds": 6, "flip": 20, "f": "sboxes", "back": False},
            "ciphers make small differences of the input large",
            "2:06:58",
        ),
        Preset(
            "There and back",
            {"rounds": 6, "flip": 20, "f": "sboxes", "back": True},
            "the inverse is y = z − f(x)",
            "2:09:49",
        ),
        Preset(
            "An f with no inverse",
            {"rounds": 6, "flip": 20, "f": "square", "back": True},
            "f itself need not be invertible",
            "2:08:51",
        ),
        Preset("No S-boxes", {"rounds": 8, "flip": 20, "f": "spread", "back": False}, "", ""),
        Preset("The key alone", {"rounds": 12, "flip": 20, "f": "constant", "back": True}, "", ""),
    ],
    caption="Each row is the block after one round: a filled square is a 1, and a coloured one "
    "differs from the same block encrypted without the flip. The slanted line is the half that is "
    "carried over unchanged.",
)

_RANDOM = [int(value) for value in np.random.default_rng(7).permutation(16)]
_BOXES = {
    "present": ("The S-box of PRESENT", list(ciphers.PRESENT_SBOX)),
    "random": ("A random permutation", _RANDOM),
    "linear": ("A linear map: bits rotated by two", [(x << 2 | x >> 2) & 15 for x in range(16)]),
    "plus": ("Addition of 5, modulo 16", [(x + 5) % 16 for x in range(16)]),
}

differences = Explorer(
    "differences",
    "The derivative of an S-box",
    kind="differences",
    data={
        "tables": {
            name: ciphers.difference_table(box).tolist() for name, (_, box) in _BOXES.items()
        },
        "names": {name: label for name, (label, _) in _BOXES.items()},
    },
    controls=[
        Control(
            Dropdown(
                options=[
                    ("PRESENT", "present"),
                    ("random", "random"),
                    ("linear", "linear"),
                    ("plus 5", "plus"),
                ],
                value="present",
            ),
            "box",
            "Map of four bits",
        ),
        Control(IntSlider(value=1, min=0, max=15), "difference", "Difference in"),
    ],
    presets=[
        Preset(
            "An S-box in use",
            {"box": "present", "difference": 1},
            "differential cryptanalysis is the derivative of a cipher",
            "2:06:27",
        ),
        Preset("A linear map", {"box": "linear", "difference": 1}, "", ""),
        Preset("Chosen at random", {"box": "random", "difference": 1}, "", ""),
        Preset("Addition with carries", {"box": "plus", "difference": 8}, "", ""),
    ],
    caption="Each square counts the inputs, of sixteen, for which a difference in becomes a "
    "difference out: "
    "the stronger its fill, the surer. The chosen row carries its counts.",
)

# Nudges -------------------------------------------------------------------------------------------

_DEPTH, _NUDGE = 64, 1e-6
_GAINS = {"1": "1: small", "2": "2: large", "3": "3: larger"}
_KINDS = dict(zip(("plain", "norm", "residual", "both"), perturbation_growth.KINDS, strict=True))


def _decades(values, unrelated: float) -> list[int]:
    """Return thousandths of a decade, which take a third of the room of decimals on the page."""
    return [round(1000 * float(np.log10(value / unrelated))) for value in values]


def _grown(simulated: bool, gain: str) -> dict[str, list[int]]:
    grow = nudge_growth if simulated else perturbation_growth.nudge_theory
    more: dict[str, Any] = {"samples": 16} if simulated else {}
    more |= {"gain": float(gain), "nudge": _NUDGE}
    return {
        key: _decades(grow(_DEPTH, residual=residual, normalised=normalised, **more), 2**0.5)
        for key, (_, residual, normalised) in _KINDS.items()
    }


@cache
def _growth() -> dict[str, object]:
    """Simulate the growth of differences, which takes a second of work.

    It is a function so that the work is done only when somebody looks.
    """
    return {
        "cipher": _decades(ciphers.avalanche(16, samples=400).mean(axis=(1, 2)), 0.5),
        "gains": {gain: _grown(True, gain) for gain in _GAINS},
        "theory": {gain: _grown(False, gain) for gain in _GAINS},
        "kinds": {key: label for key, (label, _, _) in _KINDS.items()},
    }


avalanche_with_depth = Explorer(
    "avalanche-with-depth",
    "One flipped bit, and one nudge, layer by layer",
    kind="growth",
    data=_growth,
    controls=[
        Control(IntSlider(value=24, min=0, max=_DEPTH), "depth", "Layers, or rounds"),
        Control(
            Dropdown(options=[(label, gain) for gain, label in _GAINS.items()], value="2"),
            "gain",
            "Gain of the random weights",
        ),
        Control(Checkbox(value=True), "theory", "Show theory"),
    ],
    presets=[
        Preset(
            "Six rounds",
            {"depth": 6, "gain": "2"},
            "ciphers make small differences of the input large",
            "2:06:58",
        ),
        Preset(
            "64 layers",
            {"depth": 64, "gain": "2"},
            "residuals and LayerNorm keep derivatives tame",
            "2:06:04",
        ),
        Preset("Small weights", {"depth": 64, "gain": "1"}, "", ""),
        Preset("Larger weights", {"depth": 24, "gain": "3"}, "", ""),
    ],
    caption="Distance over that of two unrelated inputs: half of the bits, or √2 of the length. "
    "Dots are simulated networks of width 64, faint lines layers of endless width.",
)


def _law(gain: float) -> dict[str, float]:
    power, slope = perturbation_growth.branch(gain)
    return {
        "branch_power": power,
        "branch_slope": slope,
        "fixed_point_slope": perturbation_growth.fixed_point_slope(gain),
    }


power_or_exponential = Explorer(
    "power-or-exponential",
    "Exponential or power of depth",
    x=Sweep("layers", 1, 1000, at=64, title="Depth"),
    y=Scale("Nudge, times its first size", max=1e12),
    curves=[
        Curve(perturbation_growth.nudge_with_both, "Residual and LayerNorm", role="total"),
        Curve(perturbation_growth.nudge_with_layer_norm, "LayerNorm alone"),
        Curve(perturbation_growth.nudge_in_plain_network, "Plain"),
    ],
    given={"nudge": 1},
    controls=[
        Control(
            Dropdown(options=[("1.2", "1.2"), ("1.5", "1.5"), ("2", "2"), ("3", "3")], value="2"),
            "gain",
            "Gain of the random weights",
            rows={gain: _law(float(gain)) for gain in ("1.2", "1.5", "2", "3")},
        )
    ],
    presets=[
        Preset(
            "A deep language model",
            {"layers": 100, "gain": "2"},
            "residuals and LayerNorm keep derivatives tame",
            "2:06:04",
        ),
        Preset("Gentle weights", {"layers": 100, "gain": "1.2"}, "", ""),
        Preset("A thousand layers", {"layers": 1000, "gain": "2"}, "", ""),
    ],
    guess=Guess(
        "Change the input of a random network a very little. With residuals and LayerNorm, how "
        "many times as large is the change after 16, 250 or 1,000 layers? Draw it.",
        draw="residual-and-layernorm",
    ),
    caption="Laws of the small change, for wide random layers. The exponentials leave the plot; "
    "a change cannot really outgrow its network, and what they mean is that it has become "
    "unrelated.",
)

chosen_signs = Explorer(
    "chosen-signs",
    "The same small change, with signs drawn and with signs chosen",
    x=Sweep("input_numbers", 1, 1e7, at=150528, title="Numbers in the input"),
    y=Scale("Change of the answer"),
    curves=[
        Curve(perturbation_growth.worst_response, "Signs chosen against it", role="total"),
        Curve(perturbation_growth.random_response, "Signs drawn at random"),
    ],
    controls=[
        Control(
            FloatLogSlider(value=0.007, min=-4, max=-0.5, step=0.05),
            "nudge",
            "Change of each number",
        )
    ],
    readouts=[Readout(perturbation_growth.adversarial_advantage, "Chosen over drawn")],
    presets=[
        Preset(
            "A photograph",
            {"input_numbers": 150528, "nudge": 0.007},
            "adversarial attacks show the avalanche property, undesired",
            "2:07:39",
        ),
        Preset("A written digit", {"input_numbers": 784, "nudge": 0.1}, "", ""),
        Preset("A small picture", {"input_numbers": 3072, "nudge": 0.03}, "", ""),
    ],
    caption="A linear response with random weights. Drawn signs cancel, chosen signs add: the gap "
    "grows with the "
    "square root of the number of inputs.",
)

# Memory, rounding, and the trade ------------------------------------------------------------------

_SHAPES = {
    name: {"d_model": s.d_model, "attention_heads": s.heads}
    for name, s in (
        (name, shape(name)) for name in ("Llama 3.1 8B", "Llama 3.1 70B", "Llama 3.1 405B")
    )
}

activations_against_depth = Explorer(
    "activations-against-depth",
    "Activations kept, checkpointed or rebuilt",
    x=Sweep("layers", 1, 200, at=80, title="Depth"),
    y=Scale("Activation memory"),
    curves=[
        Curve(reversible.activation_memory_stored_of_shape, "All kept"),
        Curve(reversible.activation_memory_checkpointed_of_shape, "A checkpoint a layer"),
        Curve(reversible.activation_memory_reversible_of_shape, "Reversible", role="total"),
    ],
    given={"activation_bytes": 2},
    controls=[
        Control(
            Dropdown(options=list(_SHAPES), value="Llama 3.1 70B"),
            "width",
            "Width and heads of",
            rows=_SHAPES,
        ),
        Control(
            FloatLogSlider(value=8192, min=3, max=5.3, step=0.05),
            "sequence_tokens",
            "Tokens of a sequence",
        ),
        Control(IntSlider(value=1, min=1, max=16), "micro_batch", "Sequences at once"),
        Control(
            Dropdown(options=[("computed again", 0), ("kept", 5)], value=0),
            "bytes_per_score",
            "Attention scores",
        ),
    ],
    presets=[
        Preset(
            "A 70B model",
            {"layers": 80, "sequence_tokens": 8192, "bytes_per_score": 0},
            "activations grow linearly in layers and can be the largest footprint of training",
            "2:12:19",
        ),
        Preset(
            "Scores kept too", {"layers": 80, "sequence_tokens": 8192, "bytes_per_score": 5}, "", ""
        ),
        Preset(
            "A long sequence",
            {
                "layers": 126,
                "sequence_tokens": 131072,
                "width": "Llama 3.1 405B",
                "bytes_per_score": 0,
            },
            "",
            "",
        ),
    ],
    caption="Bytes that wait for the backward pass, before any splitting over chips. "
    "Both ways of computing again cost one more forward pass; they differ in what they must keep.",
)


def _drift(dtype, gain: float = 1.0) -> list[tuple[int, float]]:
    """Return the rounds there and back, and the measured error of the rebuilt inputs."""
    found = []
    for depth in (1, 2, 4, 8, 16, 32, 64):
        streams = np.random.default_rng(2).standard_normal((2, 16, 32)).astype(dtype)
        branches = network("transformer", depth, 32, gain=gain, seed=1, dtype=dtype)
        found.append((2 * depth, rebuild_error(branches, *streams)))
    return found


_BITS = {
    "bf16": 8,
    "half": 11,
    "single": 24,
    "double": 53,
}  # of a number's significand: half a unit of its last is 2^-bits

drift_against_depth = Explorer(
    "drift-against-depth",
    "What rounding does to a rebuilt input",
    x=Sweep("feistel_rounds", 1, 256, at=128, title="Rounds there and back"),
    y=Scale("Error of the rebuilt input, relative", min=1e-17, max=10),
    curves=[Curve(perturbation_growth.rounding_walk, "Roundings alone", role="total")],
    points=[
        Points("half precision", partial(_drift, np.float16)),
        Points("single, weights doubled", partial(_drift, np.float32, 2.0)),
        Points("single precision", partial(_drift, np.float32)),
        Points("double precision", partial(_drift, np.float64)),
    ],
    controls=[
        Control(
            Dropdown(
                options=[(f"{name}, {bits} bits", name) for name, bits in _BITS.items()],
                value="single",
            ),
            "format",
            "Number format of the line",
            rows={name: {"unit_roundoff": 2.0**-bits} for name, bits in _BITS.items()},
        )
    ],
    presets=[
        Preset(
            "Single precision",
            {"format": "single", "feistel_rounds": 128},
            "the inverse is y = z − f(x)",
            "2:09:49",
        ),
        Preset("bf16", {"format": "bf16", "feistel_rounds": 128}, "", ""),
        Preset("Double precision", {"format": "double", "feistel_rounds": 128}, "", ""),
    ],
    caption="Rings: small reversible transformers, run forwards and back. Line: the same "
    "roundings, if no layer "
    "enlarged the errors of those before it. In whole numbers the error is zero at every depth.",
)

# Widths and layers come with the model; attention scores are computed again.
_TOKEN = {"bytes_per_score": 0, "sequence_tokens": 8192}

hold_or_compute = Explorer(
    "hold-or-compute",
    "Keep it, or compute it again",
    x=Sweep("hold_time", 1e-3, 1e4, at=1),
    y=Scale("Cost for one token", "$/token"),
    curves=[
        Curve(
            tiers.rematerialise_cost,
            "One forward pass again",
            role="total",
            id="again",
            given={"model_flops_utilisation": 1},
        ),
        Curve(reversible.cache_hold_in_memory, "Hold its cache", id="cache"),
        Curve(
            reversible.activation_hold_in_memory,
            "Hold its activations",
            given=_TOKEN,
            id="activations",
        ),
    ],
    marks=[
        Mark(reversible.cache_breakeven_hold, "cache"),
        Mark(reversible.activation_breakeven_hold_of_shape, "activations", given=_TOKEN),
    ],
    controls=[Control(Dropdown(options=list(_SHAPES), value="Llama 3.1 70B"), "model", "Model")],
    readouts=[
        Readout(reversible.cache_advantage, "Computing a cache over reading it, in time"),
        Readout(
            reversible.activation_advantage_of_shape,
            "Computing activations over writing and reading them",
            given=_TOKEN,
        ),
    ],
    presets=[
        Preset(
            "As in the table",
            {"hold_time": 1, "model": "Llama 3.1 70B", "hardware": "H100 SXM", "precision": "bf16"},
            "",
            "",
        ),
        Preset(
            "Serving",
            {"hold_time": 0.02, "model": "Llama 3.1 70B"},
            "memory for compute is generally profitable",
            "2:13:25",
        ),
        Preset(
            "A training step",
            {"hold_time": 2, "model": "Llama 3.1 70B"},
            "compute for memory",
            "2:13:12",
        ),
        Preset("Between two questions", {"hold_time": 60, "model": "Llama 3.1 70B"}, "", ""),
    ],
    caption="Rent of a chip's memory while something waits in it, against rent of its arithmetic "
    "while it works. "
    "Where the lines cross, the two cost the same.",
)
