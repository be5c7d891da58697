"""Explorers of the chapter on reinforcement learning and over-training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider

from handful import chinchilla, lifetime_cost
from handful.symbolic import quantities as q
from handful.symbolic.formula import Formula

from .plotting.explorer import (
    Control,
    Curve,
    Explorer,
    Guess,
    Mark,
    Preset,
    Readout,
    Scale,
    Sweep,
)

if TYPE_CHECKING:
    from sympy import Expr

    from handful.symbolic.quantity import Quantity

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


def _unlisted(gives: Quantity, expression: Expr, meaning: str, *using: Formula) -> Formula:
    return Formula(
        gives,
        expression,
        name=f"{gives.name}_of_cheapest_life",
        using=using,
        meaning=meaning,
        source="derived",
        register=False,
    )


def _cheapest() -> tuple[Formula, Formula, Formula]:
    """Return the size, the tokens and the bill of the cheapest life at a loss.

    Let t be what the text still lacks at this size, over what it lacks in the model that is
    cheapest to train.  Later bills are s − 1 times the bill for training where
    1 − t = k t^(1 + 1/β), with k the later bills over those for training of that other model, times
    β/(α + β).  From this start two of Newton's steps are right to four digits.
    """
    alpha, beta = q.size_exponent.symbol, q.data_exponent.symbol
    size, tokens = q.compute_optimal_parameters.symbol, q.compute_optimal_tokens.symbol
    alone = lifetime_cost.loss_size
    read = _unlisted(
        q.compute_optimal_tokens,
        lifetime_cost.matching_tokens.expression,
        "tokens of the model of this loss that is cheapest to train",
        alone,
    )
    k = q.inference_tokens.symbol / (q.training_passes.symbol * q.decode_efficiency.symbol * tokens)
    k *= beta / (alpha + beta)
    power = 1 + 1 / beta
    t = (1 + 1.6 * k) ** (-1 / power)
    for _ in range(2):
        steep = k * t ** (power - 1)
        t = (1 + (power - 1) * steep * t) / (1 + power * steep)
    weights = size * ((alpha + beta - alpha * t) / beta) ** (-1 / alpha)
    text = tokens * t ** (-1 / beta)
    life = lifetime_cost.lifetime_cost_at_loss.expression.subs(
        {
            symbol: formula.expression
            for formula in (lifetime_cost.training_cost_at_loss, lifetime_cost.decoding_cost)
            for symbol in [formula.gives.symbol]
        }
    ).subs({q.active_parameters.symbol: weights, q.pretraining_tokens.symbol: text})
    return (
        _unlisted(q.active_parameters, weights, "size of the cheapest life", read, alone),
        _unlisted(q.pretraining_tokens, text, "tokens that it is trained on", read, alone),
        _unlisted(q.lifetime_cost, life, "bill of the cheapest life", read, alone),
    )


_SIZE, _TOKENS, _LIFE = _cheapest()

bills_by_size = Explorer(
    "bills-by-size",
    "Models of one quality, and what their lives cost",
    x=Sweep("active_parameters", 8e10, 6e11, at=1e11, title="Size"),
    y=Scale("Rent of the chips", "$", min=8e6, max=6e9),
    curves=[
        Curve(lifetime_cost.lifetime_cost_at_loss, "The whole life", role="total"),
        Curve(lifetime_cost.training_cost_at_loss, "Training"),
        Curve(lifetime_cost.decoding_cost, "Later bills"),
    ],
    marks=[
        Mark(_SIZE, "cheapest life"),
        Mark(lifetime_cost.loss_size, "cheapest to train"),
    ],
    given=_PRICE | _AS_GOOD["besiroglu"],
    controls=[
        _log("inference_tokens", "Tokens written, or counted as written", 2e14, 12, 15),
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
        Readout(_SIZE, "Cheapest life: size"),
        Readout(_TOKENS, "Cheapest life: tokens read"),
        Readout(_LIFE, "Cheapest life: rent"),
    ],
    presets=[
        Preset(
            label,
            {
                "inference_tokens": written,
                "fit": fit,
                "decode_efficiency": 0.3,
                "active_parameters": 1e11,
            },
        )
        for label, written, fit in (
            ("Users alone", 2e14, "besiroglu"),
            ("And prompts", 3.1e14, "besiroglu"),
            ("And RL", 4.9e14, "besiroglu"),
            ("A twentieth of the users", 1e13, "besiroglu"),
            ("Users, law as published", 2e14, "hoffmann"),
        )
    ],
    guess=Guess(
        "The dot is the training of a model with 80 billion weights. Larger models need less text "
        "to become as good. What does their training cost? Draw it.",
        draw="training",
    ),
    caption="Every point is a model as good as one of 100 billion weights after 200 trillion "
    "tokens. Small models have to read more, large ones cost more for each token that they write. "
    "The later bills are for writing; the buttons count prompts as 110 trillion tokens written, "
    "and RL as another 180 trillion, which holds only where decoding gets 30 %.",
)
