"""Explorers of the chapter on reinforcement learning and over-training."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider

from handful import chinchilla, lifetime_cost

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

_LAWS = {fit: chinchilla.law(fit) for fit in ("besiroglu", "hoffmann")}
# The lecture's model, and for each fit the loss that it reaches.
_RUN = {"active_parameters": 100e9, "pretraining_tokens": 200e12}
_AS_GOOD = {
    fit: law | {"validation_loss": float(chinchilla.fitted_loss(law | _RUN))}
    for fit, law in _LAWS.items()
}
# A billion weights times a trillion tokens of training for ten thousand dollars: two dollars an
# hour for a chip that does a third of a petaflop of useful arithmetic a second.
_PRICE = {"device_price": 2 / 3600, "peak_flops": 1e15, "model_flops_utilisation": 1 / 3}


def _log(
    name: str, label: str, value: float, low: float, high: float, step: float = 0.01
) -> Control:
    return Control(FloatLogSlider(value=value, base=10, min=low, max=high, step=step), name, label)


def _efficiency(value: float = 0.3) -> Control:
    return Control(
        FloatSlider(value=value, min=0.1, max=1, step=0.01),
        "decode_efficiency",
        "Efficiency of decoding",
    )


def _cheapest(fit: str, written: float) -> Points:
    """Return the cheapest life and those a tenth dearer, for decoding at 30 % of the efficiency."""
    import numpy as np

    known = _PRICE | _AS_GOOD[fit] | {"inference_tokens": written, "decode_efficiency": 0.3}
    sizes = np.geomspace(6.5e10, 6e11, 4001)
    lives = np.asarray(
        lifetime_cost.lifetime_cost_at_loss(known | {"active_parameters": sizes}), dtype=float
    )
    least = int(np.argmin(lives))
    within = np.flatnonzero(lives <= 1.1 * lives[least])
    named = {within[0]: "+10 %", least: "cheapest", within[-1]: "+10 %"}
    return Points(
        "the cheapest life, and a tenth more",
        [(sizes[i], lives[i], name) for i, name in named.items() if 8e10 <= sizes[i] < 5.9e11],
        when={"fit": fit, "inference_tokens": written, "decode_efficiency": 0.3},
    )


bills_by_size = Explorer(
    "bills-by-size",
    "Models of one quality, and what their lives cost",
    x=Sweep("active_parameters", 8e10, 6e11, at=1e11, title="Size"),
    y=Scale("Rent of the chips", "$", min=8e6, max=6e9),
    curves=[
        Curve(lifetime_cost.lifetime_cost_at_loss, "The whole life", role="total"),
        Curve(lifetime_cost.training_cost_at_loss, "Training"),
        Curve(lifetime_cost.decoding_cost, "Writing"),
    ],
    marks=[Mark(lifetime_cost.loss_size, "cheapest to train")],
    points=[_cheapest(fit, written) for fit in _LAWS for written in (2e14, 3.1e14, 6.2e14, 1e13)],
    given=_PRICE | _AS_GOOD["besiroglu"],
    controls=[
        _log("inference_tokens", "Tokens written over the life", 2e14, 12, 15),
        Control(
            Dropdown(
                options=[("refitted", "besiroglu"), ("as published", "hoffmann")],
                value="besiroglu",
            ),
            "fit",
            "Law",
            rows=_AS_GOOD,
        ),
        _efficiency(),
    ],
    readouts=[
        Readout(chinchilla.tokens_to_reach, "Tokens to train on"),
    ],
    presets=[
        Preset("Users alone", {"inference_tokens": 2e14, "active_parameters": 1e11}),
        Preset("And prompts", {"inference_tokens": 3.1e14, "active_parameters": 1e11}),
        Preset("And RL", {"inference_tokens": 6.2e14, "active_parameters": 1e11}),
        Preset("A twentieth of the users", {"inference_tokens": 1e13, "active_parameters": 1e11}),
    ],
    guess=Guess(
        "The dot is the training of a model with 80 billion weights. Larger models need less text "
        "to become as good. What does their training cost? Draw it.",
        draw="training",
    ),
    caption="Every point is a model as good as one of 100 billion weights after 200 trillion "
    "tokens. Small models have to read more, large ones cost more for each token that they write. "
    "Prompts and RL count as more tokens written. At the buttons' settings, rings mark the "
    "cheapest life and those that cost a tenth more.",
)
