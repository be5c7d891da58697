"""Explorers of the chapter on ciphers and networks."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from ipywidgets import Checkbox, Dropdown, IntSlider

from handful import ciphers, perturbation_growth
from handful_evidence.simulate.reversible_networks import nudge_growth, round_trip_error

from .plotting.explorer import (
    Control,
    Curve,
    Explorer,
    Guess,
    Points,
    Preset,
    Scale,
    Sweep,
)

# The block and its bits ---------------------------------------------------------------------------

_ROUNDS = 12
_KEYS = np.random.default_rng(2026).integers(0, 1 << 16, _ROUNDS)
_F = [
    ("S-boxes, then shuffle", "sboxes"),
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
        "block": [0x4861, 0x6E64],
    },
    controls=[
        Control(IntSlider(value=1, min=0, max=_ROUNDS), "rounds", "Rounds"),
        Control(
            IntSlider(value=20, min=0, max=32), "flip", "Input bit to flip, from the left (0: none)"
        ),
        Control(Dropdown(options=_F, value="sboxes"), "f", "Function f"),
        Control(Checkbox(value=False), "back", "Then run the rounds backwards"),
    ],
    presets=[
        Preset("One bit, six rounds", {"rounds": 6, "flip": 20, "f": "sboxes", "back": False}),
        Preset("There and back", {"rounds": 6, "flip": 20, "f": "sboxes", "back": True}),
        Preset("An f with no inverse", {"rounds": 12, "flip": 20, "f": "square", "back": True}),
    ],
    caption="Each row is the block after one round: a filled square is a 1, and a coloured one "
    "differs from the same block encrypted without the flip. The slanted line is the half that is "
    "carried over unchanged.",
)

# Nudges -------------------------------------------------------------------------------------------

_DEPTH, _NUDGE = 64, 1e-6
_GAINS = {"1": "1: small", "2": "2: large", "3": "3: larger"}
_KINDS = dict(zip(("neither", "norm", "residual", "both"), perturbation_growth.KINDS, strict=True))


def _decades(values, unrelated: float) -> list[int]:
    """Return thousandths of a decade, which take a third of the room of decimals on the page."""
    return [round(1000 * float(np.log10(value / unrelated))) for value in values]


def _grown(gain: str) -> dict[str, list[int]]:
    more: dict[str, Any] = {"samples": 16, "gain": float(gain), "nudge": _NUDGE}
    return {
        key: _decades(
            nudge_growth(_DEPTH, residual=residual, normalised=normalised, **more), 2**0.5
        )
        for key, (_, residual, normalised) in _KINDS.items()
    }


@cache
def _growth() -> dict[str, object]:
    """Simulate the growth of differences, which takes a second of work.

    It is a function so that the work is done only when somebody looks.
    """
    return {
        "cipher": _decades(ciphers.avalanche(16, samples=400).mean(axis=(1, 2)), 0.5),
        "gains": {gain: _grown(gain) for gain in _GAINS},
        "kinds": {key: label for key, (label, _, _) in _KINDS.items()},
    }


avalanche_with_depth = Explorer(
    "avalanche-with-depth",
    "One flipped bit, and one nudge, layer by layer",
    kind="growth",
    data=_growth,
    controls=[
        Control(IntSlider(value=16, min=0, max=_DEPTH), "depth", "Layers, or rounds"),
        Control(
            Dropdown(options=[(label, gain) for gain, label in _GAINS.items()], value="2"),
            "gain",
            "Gain of the random weights",
        ),
    ],
    presets=[
        Preset("64 layers", {"depth": 64, "gain": "2"}),
        Preset("Small weights", {"depth": 64, "gain": "1"}),
    ],
    caption="1 is half of the bits, or, for vectors, √2 times their length. Dots are simulated "
    "networks of width 64; the cipher is drawn for sixteen rounds. With small weights LayerNorm "
    "alone blows the numbers up again before every layer, and tanh then shortens each vector more "
    "than the gap between two close ones.",
)


# Rounding -----------------------------------------------------------------------------------------


def _drift(
    name: str,
    named_at: int,
    *,
    normalised: bool = True,
    bits: int | None = None,
) -> list[tuple]:
    """Return rounds there and back, and the error of the input; one of the points is named."""
    found = [
        (rounds, round_trip_error(rounds, normalised=normalised, bits=bits))
        for rounds in (2, 4, 8, 16, 32, 64, 128)
    ]
    return [(rounds, error, *([name] if rounds == named_at else [])) for rounds, error in found]


drift_against_depth = Explorer(
    "drift-against-depth",
    "What rounding does to a rebuilt input",
    x=Sweep("feistel_rounds", 1, 256, at=128, title="Steps there and back"),
    y=Scale("Error of the rebuilt input, relative", min=1e-8, max=100),
    curves=[Curve(perturbation_growth.rounding_walk, "Rounding alone", role="total")],
    points=[
        Points("With LayerNorm", partial(_drift, "with LayerNorm", 16)),
        Points("No LayerNorm", partial(_drift, "no LayerNorm", 32, normalised=False)),
        Points("LayerNorm, bf16", partial(_drift, "LayerNorm, bf16", 8, bits=8)),
    ],
    given={"unit_roundoff": 2.0**-24},
    guess=Guess(
        "In single precision, rounding alone leaves the input wrong by about 2·10⁻⁷ after 128 "
        "steps there and back. With LayerNorm, a nudge on the way up grows a few times. How far "
        "off is the rebuilt input then?",
        level="With LayerNorm",
    ),
    caption="The line: rounding in single precision, if no layer enlarged its errors. Rings: "
    "random layers of gain 2 with tanh, in single precision unless bf16 is named. At 1 the error "
    "is as large as the input itself; above 1 the input is lost in it. At 128 two of the rings lie "
    "on each other, and both have lost it.",
)
