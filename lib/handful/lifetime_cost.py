"""The best size of a model that will be served, counting the bills of its whole life.

They follow from the Chinchilla law.

Hold the loss.  A smaller model needs more tokens to reach it, and each token that it serves is
cheaper.  Near any point of the law, a per cent less size costs ``exchange_rate`` per cent more
tokens.  Pre-training, size × tokens, then falls with size as the power exchange_rate − 1, serving
rises as the power 1, and `overtraining.cost_ratio` says what follows: where the life costs least,
decoding's bill is exchange_rate − 1 times pre-training's.

So the split of the bills fixes how far a model is trained, and the other way round.  Size and
tokens over those of the compute-optimal model with the same loss need the split and the law's two
exponents only.  Tokens over twenty for each parameter, which is what this book calls over-training,
need the law's coefficients and the model's size as well.

>>> from handful.chinchilla import law
>>> known = dict(
...     decode_bill_ratio=2, active_parameters=100e9, tokens_per_parameter=20
... )  # three equal bills
>>> [round(best_overtraining(law(fit), **known)) for fit in ("hoffmann", "besiroglu")]
[166, 18]
>>> [round(lifetime_share(law(fit), decode_bill_ratio=2), 2) for fit in ("hoffmann", "besiroglu")]
[0.38, 0.45]

`decode_bill_ratio` counts whatever grows in proportion to the size and not with the training: what
users read, and all of reinforcement learning, which generates and learns from a number of tokens of
its own.
"""

from __future__ import annotations

from sympy import Eq, Max

from . import chinchilla
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(N, D, D_inf, u, v, c, h, eta, tau, A, A_d, alpha, beta, floor, r, s, x, delta, N_star, D_star) = (
    quantity.symbol
    for quantity in (
        q.active_parameters,
        q.pretraining_tokens,
        q.inference_tokens,
        q.one_token,
        q.one_parameter,
        q.flops_per_multiply_add,
        q.training_passes,
        q.decode_efficiency,
        q.tokens_per_parameter,
        q.size_coefficient,
        q.data_coefficient,
        q.size_exponent,
        q.data_exponent,
        q.loss_floor,
        q.decode_bill_ratio,
        q.exchange_rate,
        q.size_share,
        q.token_multiple,
        q.compute_optimal_parameters,
        q.compute_optimal_tokens,
    )
)
F, mfu, p = q.peak_flops.symbol, q.model_flops_utilisation.symbol, q.device_price.symbol

_SOURCE = (
    "derived from the law of Hoffmann et al. 2022; the question is that of Sardana et al. 2024"
)
_HELD = (
    "the loss is held",
    "the law's form, far outside the sizes and ratios that it was fitted on",
)

# At a point of the law ----------------------------------------------------------------------------

exchange_rate = Formula(
    q.exchange_rate,
    alpha * A * (v / N) ** alpha / (beta * A_d * (u / D) ** beta),
    source=_SOURCE,
    conventions=_HELD,
    meaning="per cent by which tokens must rise where size falls by one: 1 where training alone "
    "counts",
    derivation=lambda: _derive_exchange_rate(),
)

bill_ratio_at_optimum = Formula(
    q.decode_bill_ratio,
    Max(0, q.exchange_rate.symbol - 1),
    using=(exchange_rate,),
    name="bill_ratio_at_optimum",
    source=_SOURCE,
    conventions=_HELD,
    meaning="decoding's bill over pre-training's, if this size and these tokens are the cheapest "
    "for a life",
)

cheapest_bill_ratio = Formula(
    q.decode_bill_ratio,
    s - 1,
    name="cheapest_bill_ratio",
    source=_SOURCE,
    conventions=("of a model that is no larger than the one that is cheapest to train",),
    meaning="decoding's bill over pre-training's at the size whose life is the cheapest",
)

served_at_optimum = Formula(
    q.inference_tokens,
    h * eta * D * q.decode_bill_ratio.symbol,
    using=(bill_ratio_at_optimum,),
    name="served_at_optimum",
    source=_SOURCE,
    conventions=_HELD,
    meaning="tokens to decode for which this size and these tokens are the cheapest",
)

# As a function of the split alone -----------------------------------------------------------------

best_size_share = Formula(
    q.size_share,
    ((alpha + (1 + r) * beta) / ((1 + r) * (alpha + beta))) ** (1 / alpha),
    name="best_size_share",
    source=_SOURCE,
    conventions=_HELD,
    meaning="best size over the compute-optimal size for the same loss",
    derivation=lambda: _derive_size_share(),
)

best_token_multiple = Formula(
    q.token_multiple,
    ((alpha + (1 + r) * beta) / (alpha + beta)) ** (1 / beta),
    name="best_token_multiple",
    source=_SOURCE,
    conventions=_HELD,
    meaning="best tokens over the compute-optimal tokens for the same loss",
)

lifetime_share = Formula(
    q.lifetime_share,
    x * delta * (1 + r) / (1 + r * delta),
    using=(best_size_share, best_token_multiple),
    source=_SOURCE,
    conventions=_HELD,
    meaning="cost of the best life, over that of the compute-optimal model with the same loss and "
    "the same traffic",
)

# As a function of the split and the size ----------------------------------------------------------

best_tokens_at_size = Formula(
    q.pretraining_tokens,
    u * ((1 + r) * beta * A_d / (alpha * A) * (N / v) ** alpha) ** (1 / beta),
    name="best_tokens_at_size",
    source=_SOURCE,
    conventions=_HELD,
    meaning="tokens of pre-training for which a model of this size has the cheapest life at this "
    "split of its bills",
)

best_overtraining = Formula(
    q.overtraining_multiple,
    D / (tau * N),
    using=(best_tokens_at_size,),
    name="best_overtraining",
    source=_SOURCE,
    conventions=_HELD,
    meaning="best tokens over the rule of so many tokens for each parameter",
)

# In tokens and parameters: a compute-optimal size stands for the loss -----------------------------

matching_tokens = Formula(
    q.compute_optimal_tokens,
    u * (beta * A_d / (alpha * A) * (N_star / v) ** alpha) ** (1 / beta),
    name="matching_tokens",
    source=_SOURCE,
    meaning="tokens on which a model of this size is trained compute-optimally",
    conventions=("the exchange rate is 1",),
)

matching_loss = Formula(
    q.validation_loss,
    floor + A * (v / N_star) ** alpha * (1 + alpha / beta),
    name="matching_loss",
    source=_SOURCE,
    meaning="loss of a model of this size, trained compute-optimally",
    conventions=("the exchange rate is 1",),
)

best_size = Formula(
    q.active_parameters,
    x * N_star,
    using=(best_size_share,),
    name="best_size",
    source=_SOURCE,
    conventions=_HELD,
    meaning="size of the cheapest life with the loss of a compute-optimal model",
)

best_tokens = Formula(
    q.pretraining_tokens,
    delta * D_star,
    using=(best_token_multiple, matching_tokens),
    name="best_tokens",
    source=_SOURCE,
    conventions=_HELD,
    meaning="tokens of pre-training in the cheapest life",
)

best_served = Formula(
    q.inference_tokens,
    h * eta * r * delta * D_star,
    using=(best_token_multiple, matching_tokens),
    name="best_served",
    source=_SOURCE,
    conventions=_HELD,
    meaning="tokens to decode that make this split of the bills the cheapest",
)

best_tokens_per_parameter = Formula(
    q.tokens_per_parameter,
    q.pretraining_tokens.symbol / q.active_parameters.symbol,
    using=(best_tokens, best_size),
    name="best_tokens_per_parameter",
    source=_SOURCE,
    conventions=_HELD,
    meaning="tokens for each parameter in the cheapest life",
)


# A smaller model against the one that is cheapest to train -------------------------------------

matching_size = Formula(
    q.compute_optimal_parameters,
    v * (A * (1 + alpha / beta) / (A * (v / N) ** alpha + A_d * (u / D) ** beta)) ** (1 / alpha),
    name="matching_size",
    source=_SOURCE,
    meaning="size of the model of the same loss that is cheapest to train",
    conventions=("the exchange rate is 1",),
)

loss_size = Formula(
    q.compute_optimal_parameters,
    v * (A * (1 + alpha / beta) / Max(0, q.validation_loss.symbol - floor)) ** (1 / alpha),
    name="loss_size",
    source=_SOURCE,
    meaning="size of the model of this loss that is cheapest to train",
    conventions=("the exchange rate is 1",),
)

matching_size_tokens = Formula(
    q.compute_optimal_tokens,
    matching_tokens.expression,
    using=(matching_size,),
    name="matching_size_tokens",
    source=_SOURCE,
    meaning="tokens on which that model is trained",
    conventions=("the exchange rate is 1",),
)

payback_tokens = Formula(
    q.inference_tokens,
    h * eta * Max(0, (N * D - N_star * D_star) / (N_star - N)),
    using=(matching_size_tokens, matching_size),
    name="payback_tokens",
    source=_SOURCE,
    conventions=_HELD,
    meaning="tokens to decode until a smaller, longer trained model has paid back what its "
    "training cost more, beside the model of the same loss that is cheapest to train",
)

rule_tokens = Formula(
    q.pretraining_tokens,
    tau * N,
    name="rule_tokens",
    source="91:31",
    meaning="so many tokens for each active parameter",
)

# In money, at the price of a chip -----------------------------------------------------------------

training_cost_at_loss = Formula(
    q.training_cost,
    p * h * c * N * D / (F * mfu),
    using=(chinchilla.tokens_to_reach,),
    name="training_cost_at_loss",
    source=_SOURCE,
    meaning="rent of the chips that train a model of this size to a loss",
    conventions=("6 FLOPs for each weight and token", *_HELD),
)

decoding_cost = Formula(
    q.decoding_cost,
    p * c * N * D_inf / (F * mfu * eta),
    source="82:13",
    meaning="rent of the chips for so many decoded tokens",
    conventions=("2 FLOPs for each weight and token, at the efficiency of decoding",),
)

lifetime_cost_at_loss = Formula(
    q.lifetime_cost,
    q.training_cost.symbol + q.decoding_cost.symbol,
    using=(training_cost_at_loss, decoding_cost),
    name="lifetime_cost_at_loss",
    source=_SOURCE,
    meaning="both together, for models of the same loss",
    conventions=_HELD,
)


def best_run(
    active_parameters: float,
    served_tokens: float,
    *,
    fit: str = "besiroglu",
    decode_efficiency: float = 1,
) -> dict[str, float]:
    """Return how long to train a model of a given size that will decode so many tokens.

    Parameters
    ----------
    active_parameters, served_tokens : float
        Above 0; the tokens are all that it decodes, for users and in reinforcement learning.
    decode_efficiency : float
        As in `handful.overtraining`, above 0 and at most 1.

    Returns
    -------
    dict
        pretraining_tokens, tokens_per_parameter, decode_bill_ratio.

    Examples
    --------
    >>> run = best_run(100e9, 200e12, decode_efficiency=0.3)
    >>> round(run["pretraining_tokens"] / 1e12), round(run["tokens_per_parameter"] / 20)
    (76, 38)
    """
    import math

    from scipy.optimize import brentq

    known = chinchilla.law(fit) | {
        "active_parameters": active_parameters,
        "decode_efficiency": decode_efficiency,
    }
    q.inference_tokens.check(served_tokens)
    # What the best model serves rises with its training from nothing, as one power of it: at s = 1
    # it is 0.
    start = matching_tokens(known, compute_optimal_parameters=active_parameters)

    def gap(log_multiple: float) -> float:
        return (
            served_at_optimum(known, pretraining_tokens=start * math.exp(log_multiple))
            - served_tokens
        )

    tokens = start * math.exp(brentq(gap, 0, 80, xtol=1e-12))
    return {
        "pretraining_tokens": tokens,
        "tokens_per_parameter": tokens / active_parameters,
        "decode_bill_ratio": bill_ratio_at_optimum(known, pretraining_tokens=tokens),
    }


def split_excess(chosen_ratio: float, best_ratio: float, *, fit: str = "besiroglu") -> float:
    """Return what a split of the bills costs above the cheapest life.

    The loss and the decoding are the same.

    Parameters
    ----------
    chosen_ratio : float
        Decoding's bill over pre-training's as somebody sets it, above 0: 1 makes the two equal, 2
        makes three equal bills of pre-training, reinforcement learning and serving.
    best_ratio : float
        The same where the life is cheapest, above 0; see `bill_ratio_at_optimum`.
    fit : str
        "hoffmann" or "besiroglu", as in `handful.chinchilla.law`.

    Returns
    -------
    float
        A share: 0.1 for ten per cent more; infinite where no size reaches the loss with so few
        tokens.

    Raises
    ------
    ValueError
        Where a ratio is not above 0, or the fit is unknown.

    Examples
    --------
    >>> split_excess(2, 2)
    0.0
    >>> [round(split_excess(chosen, 4.59), 2) for chosen in (1, 2, 3)]
    [0.34, 0.09, 0.02]
    """
    known = chinchilla.law(fit)
    if not (chosen_ratio > 0 and best_ratio > 0):
        raise ValueError(f"Ratios of bills must be above 0; got {chosen_ratio} and {best_ratio}.")
    if chosen_ratio == best_ratio:
        return 0.0
    size, tokens = (
        formula(known, decode_bill_ratio=best_ratio)
        for formula in (best_size_share, best_token_multiple)
    )
    # The same decoding, so the bill for tokens is to be its share of another size; the loss then
    # gives that size.
    other_tokens = tokens * best_ratio / chosen_ratio
    exponents = known["size_exponent"] / known["data_exponent"]
    left = 1 + exponents * (1 - other_tokens ** -known["data_exponent"])
    if left <= 0:
        return float("inf")
    other_size: float = left ** (-1 / known["size_exponent"])
    return other_size * other_tokens * (1 + chosen_ratio) / (size * tokens * (1 + best_ratio)) - 1


# Derivations --------------------------------------------------------------------------------------


def _derive_exchange_rate() -> Derivation:
    d = Derivation("What a per cent of size is worth in tokens")
    d.start(chinchilla.fitted_loss, "loss falls with size and with data")
    d.substitute(
        {"pretraining_tokens": D * (N / v) ** -s},
        "hold the loss: near here, fewer tokens for more size",
    )
    d.minimise("active_parameters", "the loss stays where what one term loses the other gains")
    d.substitute({"pretraining_tokens": D * (N / v) ** s}, "put the tokens at this point back")
    d.solve("exchange_rate", "what size still brings, over what tokens still bring")
    return d


def _derive_size_share() -> Derivation:
    d = Derivation("Size and split")
    d.start(
        Eq(s, alpha * x**-alpha / (alpha + beta - beta * x**-alpha)),
        "the exchange rate at a share of the compute-optimal size, where it is 1",
    )
    d.substitute(
        {"exchange_rate": 1 + r},
        "at the cheapest life, decoding's bill is that less 1 times pre-training's",
    )
    d.claim(Eq(x, best_size_share.expression), "gather the powers of the share")
    return d
