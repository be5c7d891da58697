"""Length of training: pre-training, reinforcement learning and inference over a model's life.

The lecture has it from 1:18:59 to 1:33:02.

All three are counted in FLOPs at the price of training's: a decoded token's FLOPs are dearer by the
factor by which decoding uses a chip less well.  ``active_parameters`` is what a token uses, so that
the same formulas serve dense models and mixtures of experts.

>>> round(
...     training_flops(active_parameters=37e9, pretraining_tokens=14.8e12) / 1e24, 2
... )  # DeepSeek-V3
3.29
>>> [
...     round(pretraining_per_rl_token(rl_passes=h, decode_efficiency=0.3), 2) for h in (1, 3)
... ]  # 2 to 6 FLOPs a weight
[1.11, 3.33]
>>> two_months = overtraining_from_traffic(
...     service_throughput=50e6,
...     service_life=60 * 86400,
...     active_parameters=100e9,
...     tokens_per_parameter=20,
...     pretraining_per_inference_token=1,
... )
>>> round(two_months)  # the lecture's round numbers: about 100
130
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Eq, log, sqrt

from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

if TYPE_CHECKING:
    from .symbolic.uncertainty import Spread

(
    c,
    u,
    v,
    n,
    F,
    p,
    N,
    a,
    L,
    h,
    h_rl,
    share,
    eta,
    mfu,
    D_pre,
    D_rl,
    D_inf,
    R,
    life,
    tau,
    C,
    x,
    y,
    z,
    low,
    high,
    double,
    nT,
    r,
) = (
    quantity.symbol
    for quantity in (
        q.flops_per_multiply_add,
        q.one_token,
        q.one_parameter,
        q.devices,
        q.peak_flops,
        q.device_price,
        q.active_parameters,
        q.prefill_attention_flops_per_pair,
        q.context,
        q.training_passes,
        q.rl_passes,
        q.learned_share,
        q.decode_efficiency,
        q.model_flops_utilisation,
        q.pretraining_tokens,
        q.rl_tokens,
        q.inference_tokens,
        q.service_throughput,
        q.service_life,
        q.tokens_per_parameter,
        q.training_flops,
        q.knob,
        q.rising_exponent,
        q.falling_exponent,
        q.falling_weight,
        q.rising_weight,
        q.traffic_doubling,
        q.training_chip_time,
        q.throughput,
    )
)

# The three bills ----------------------------------------------------------------------------------

training_flops = Formula(
    q.training_flops,
    h * c * N * D_pre,
    source="82:13; Kaplan et al. 2020",
    meaning="6 FLOPs for each weight and token: 2 forward, 4 backward",
    known_as=("6ND", "training compute"),
    conventions=("active weights for a mixture of experts", "attention over the context left out"),
)

training_flops_with_attention = Formula(
    q.training_flops,
    h * D_pre * (c * N + a * L / 2),
    name="training_flops_with_attention",
    source="derived",
    meaning="6 FLOPs for each weight and token, and attention to half a context on average",
    known_as=("FLOPs of attention in training",),
    conventions=("documents fill the whole context", "full-attention layers only"),
)

rl_flops = Formula(
    q.rl_flops,
    h_rl * c * N * D_rl / eta,
    source="82:13",
    meaning="2 to 6 FLOPs for each weight and token, at the efficiency of decoding",
    known_as=(
        "RL compute",
        "rollouts",
    ),
    conventions=(
        "1 pass: generated and thrown away; 3 passes: learned from as well",
        "all of it as slow as decoding",
    ),
)

rl_flops_apart = Formula(
    q.rl_flops,
    c * N * D_rl * (1 / eta + h * share),
    name="rl_flops_apart",
    source="derived",
    meaning="generating at the efficiency of decoding, learning at that of training",
    conventions=("the learner runs forward and backward over what it learns from",),
)

inference_flops = Formula(
    q.inference_flops,
    c * N * D_inf / eta,
    source="82:13",
    meaning="2 FLOPs for each weight and token, at the efficiency of decoding",
    known_as=(
        "2ND",
        "inference compute",
        "FLOPs per token",
    ),
    conventions=("generated tokens; prompts are cheaper and left out",),
)

lifetime_flops = Formula(
    q.lifetime_flops,
    q.training_flops.symbol + q.rl_flops.symbol + q.inference_flops.symbol,
    using=(training_flops, rl_flops, inference_flops),
    source="82:13",
    meaning="training, learning and serving together",
)


def _share(gives: q.Quantity, part: Formula) -> Formula:
    return Formula(
        gives,
        part.gives.symbol / q.lifetime_flops.symbol,
        using=(part, lifetime_flops),
        source="83:48",
        meaning=gives.meaning,
        conventions=("counted at the price of training's FLOPs",),
    )


training_share = _share(q.training_share, training_flops)
rl_share = _share(q.rl_share, rl_flops)
inference_share = _share(q.inference_share, inference_flops)

decode_efficiency_of_run = Formula(
    q.decode_efficiency,
    r * nT / (n * h * D_pre),
    name="decode_efficiency_of_run",
    source="derived",
    meaning="tokens decoded over three times the tokens trained on, for each chip and second",
    conventions=("the same model on the same chips; its size and the chips' peak cancel",),
    derivation=lambda: _derive_decode_efficiency(),
)

# Equal bills --------------------------------------------------------------------------------------

pretraining_per_rl_token = Formula(
    q.pretraining_per_rl_token,
    h_rl / (h * eta),
    source="85:28",
    meaning="pre-training tokens for each token of reinforcement learning, where both cost the "
    "same",
    conventions=("equal bills are a rule of thumb: see cost_ratio",),
    derivation=lambda: _derive_equal_bills(),
)

pretraining_per_inference_token = Formula(
    q.pretraining_per_inference_token,
    1 / (h * eta),
    source="85:28",
    meaning="pre-training tokens for each token served, where both cost the same",
    conventions=("equal bills are a rule of thumb: see cost_ratio",),
)

served_tokens_at_equal_bills = Formula(
    q.inference_tokens,
    h * eta * D_pre,
    name="served_tokens_at_equal_bills",
    source="derived",
    meaning="tokens served by the time that serving has cost as much as pre-training",
    conventions=("generated tokens; prompts are cheaper and left out",),
    derivation=lambda: _derive_served_at_equal_bills(),
)

cost_ratio = Formula(
    q.cost_ratio,
    z / y,
    source="derived; contested at 80:00",
    meaning="the rising cost over the falling one, where their sum is least",
    conventions=("costs are powers of what is traded: equal only where the exponents are",),
    derivation=lambda: _derive_cost_ratio(),
)

rising_cost = Formula(
    q.rising_cost, high * x**y, source="definition", meaning="a cost that rises with the knob"
)
falling_cost = Formula(
    q.falling_cost, low * x**-z, source="definition", meaning="a cost that falls with the knob"
)
cost_sum = Formula(
    q.lifetime_flops,
    q.rising_cost.symbol + q.falling_cost.symbol,
    using=(rising_cost, falling_cost),
    name="cost_sum",
    source="80:00",
    meaning="both together",
)

best_knob = Formula(
    q.best_knob,
    (z * low / (y * high)) ** (1 / (y + z)),
    source="derived",
    meaning="where the sum of two costs is least",
    derivation=lambda: _derive_best_knob(),
)
equal_knob = Formula(
    q.equal_knob,
    (low / high) ** (1 / (y + z)),
    source="80:00; contested",
    meaning="where the two costs are equal",
    conventions=("least only where the exponents are equal",),
)
equal_split_excess = Formula(
    q.equal_split_excess,
    2 * (z / y) ** (-y / (y + z)) / (1 + y / z) - 1,
    source="derived",
    meaning="what the rule of equal costs costs, above the least sum",
    conventions=(
        "depends on the ratio of the exponents alone, and is the same for a ratio and its inverse",
    ),
)

# Over-training ------------------------------------------------------------------------------------

served_tokens = Formula(
    q.inference_tokens,
    R * life,
    name="served_tokens",
    source="89:45",
    meaning="tokens that a model serves in its life",
    conventions=("the model's own traffic, at a steady rate",),
)

life_to_serve = Formula(
    q.service_life,
    D_inf / R,
    name="life_to_serve",
    source="definition",
    meaning="time in which a service generates so many tokens",
    conventions=("a steady rate",),
)

served_tokens_growing = Formula(
    q.inference_tokens,
    R * double / log(2) * (2 ** (life / double) - 1),
    name="served_tokens_growing",
    source="derived",
    meaning="tokens that a model serves in its life, where traffic doubles again and again",
    conventions=("the throughput is that of the first day",),
)

growing_throughput = Formula(
    q.throughput,
    R * 2 ** (life / double),
    name="growing_throughput",
    source="derived",
    meaning="tokens a second after a time, where traffic doubles again and again",
)

combined_factor = Formula(
    q.combined_factor,
    q.guess_factor.symbol ** sqrt(q.guesses.symbol),
    source="derived",
    meaning="factor within which a product of independent guesses is right, nine times in ten",
    conventions=(
        "each known to within the same factor",
        "log-normal and independent: their squares add",
    ),
)

overtraining = Formula(
    q.overtraining_multiple,
    D_pre / (tau * N),
    name="overtraining",
    source="91:17",
    meaning="pre-training tokens over the rule of so many tokens for each parameter",
    known_as=("overtrained ratio",),
    conventions=("the rule of 20 tokens for each parameter, unless told otherwise",),
)

overtraining_from_traffic = Formula(
    q.overtraining_multiple,
    q.pretraining_per_inference_token.symbol * R * life / (tau * N),
    name="overtraining_from_traffic",
    source="89:45 to 91:17",
    meaning="how far beyond the rule a model is trained, if training costs what serving does",
    conventions=("three guesses multiply: see hundredfold",),
    derivation=lambda: _derive_overtraining(),
)

# A run --------------------------------------------------------------------------------------------

training_chip_time = Formula(
    q.training_chip_time,
    C / (F * mfu),
    source="definition",
    meaning="chip-hours of a run that uses this share of the peak rate",
    known_as=("GPU-hours to train",),
)

training_time = Formula(
    q.training_time,
    C / (n * F * mfu),
    source="definition",
    meaning="days that a run takes on n chips",
    known_as=("days of a training run",),
)

training_cost = Formula(
    q.training_cost,
    p * q.training_chip_time.symbol,
    using=(training_chip_time,),
    source="definition",
    meaning="rent of the chips for a run",
    known_as=("price of a training run",),
    conventions=("the final run alone: no failed ones, no staff, no experiments",),
)

utilisation_of_run = Formula(
    q.model_flops_utilisation,
    C / (F * nT),
    using=(training_flops,),
    name="utilisation_of_run",
    source="definition",
    meaning="share of the peak rate that a run's useful FLOPs reached",
    known_as=("MFU", "model FLOPs utilisation", "training efficiency"),
    conventions=("attention over the context left out",),
)

training_cost_of_run = Formula(
    q.training_cost,
    p * h * c * N * D_pre / (F * mfu),
    name="training_cost_of_run",
    source="definition",
    meaning="rent of the chips for a run of this size and length",
    conventions=training_cost.conventions,
)


def hundredfold(
    service_throughput: float = 50e6,
    service_life: float = 60 * 86400,
    active_parameters: float = 100e9,
    tokens_per_parameter: float = 20,
    pretraining_per_inference_token: float = 1,
    spread: dict[str, float] | None = None,
) -> Spread:
    """Return the lecture's "100 times over" as a distribution, a `Spread`.

    Throughput in tokens/s, life in seconds; `spread` gives a factor for each uncertain input and
    defaults to two for the three guesses of the lecture (traffic of one model, its life, its active
    parameters).

    >>> guess = hundredfold()
    >>> round(guess.worst_low), round(guess.worst_high)
    (16, 1037)
    >>> 2.9 < guess.factor < 3.6
    True
    """
    values = {
        "service_throughput": service_throughput,
        "service_life": service_life,
        "active_parameters": active_parameters,
        "tokens_per_parameter": tokens_per_parameter,
        "pretraining_per_inference_token": pretraining_per_inference_token,
    }
    spread = spread or {"service_throughput": 2, "service_life": 2, "active_parameters": 2}
    return overtraining_from_traffic.uncertain(values, spread)


# Derivations --------------------------------------------------------------------------------------


def _derive_equal_bills() -> Derivation:
    d = Derivation("Tokens of pre-training and of reinforcement learning, where both cost the same")
    d.equate(training_flops, rl_flops, "let the two bills be equal")
    d.substitute(
        {"pretraining_tokens": q.pretraining_per_rl_token.symbol * D_rl},
        "count one in the other's tokens",
    )
    d.solve(
        "pretraining_per_rl_token", "the model's size cancels, and so does the number of tokens"
    )
    return d


def _derive_served_at_equal_bills() -> Derivation:
    d = Derivation("Tokens served by the time that serving has cost as much as pre-training")
    d.equate(training_flops, inference_flops, "let the two bills be equal")
    d.solve("inference_tokens", "the model's size cancels")
    return d


def _derive_cost_ratio() -> Derivation:
    d = Derivation("Where a sum of two costs is least")
    d.start(
        Eq(q.lifetime_flops.symbol, high * x**y + low * x**-z),
        "one cost rises with the knob, one falls",
    )
    d.minimise("knob", "at the bottom, a per cent more costs as much as it saves")
    d.substitute({"rising_weight": q.rising_cost.symbol * x**-y}, "name the cost that rises")
    d.substitute({"falling_weight": q.falling_cost.symbol * x**z}, "name the cost that falls")
    d.substitute(
        {"rising_cost": q.cost_ratio.symbol * q.falling_cost.symbol}, "and ask for their ratio"
    )
    d.solve("cost_ratio", "the steeper cost is the smaller one; equal only where the exponents are")
    return d


def _derive_best_knob() -> Derivation:
    d = Derivation("Where a sum of two powers is least")
    d.start(
        Eq(q.lifetime_flops.symbol, high * x**y + low * x**-z),
        "one cost rises with the knob, one falls",
    )
    d.minimise("knob", "at the bottom, a per cent more costs as much as it saves")
    d.claim(Eq(x, best_knob.expression), "gather the powers of the knob")
    return d


def _derive_decode_efficiency() -> Derivation:
    d = Derivation("How well a chip is used in decoding, beside training")
    d.start(
        Eq(eta, (c * N * r / n) / (C / nT)),
        "FLOPs for each chip and second, in decoding over in training",
    )
    d.substitute(training_flops, "6 FLOPs for each weight and token of training; the size cancels")
    return d


def _derive_overtraining() -> Derivation:
    d = Derivation("How far beyond the rule a model is trained")
    d.start(overtraining, "pre-training tokens over the rule's")
    d.substitute(
        {"pretraining_tokens": q.pretraining_per_inference_token.symbol * D_inf},
        "pre-train on as many tokens as the model will serve, or in that ratio",
    )
    d.substitute({"inference_tokens": R * life}, "what it serves is its traffic times its life")
    return d
