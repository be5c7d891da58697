"""The best size and length of training for given FLOPs, by two fits of the Chinchilla law.

The lecture has it at 91:17.

Hoffmann et al. 2022 answer in three ways.  Approach 1 takes the lowest loss over many training
curves, approach 2 the best size at each of nine budgets; both come to about 20 tokens for each
parameter, and the rule of 20 is theirs.  Approach 3 fits ℓ(N, D) = ℓ∞ + A / N^α + A_D / D^β to all
runs, and as published it calls for far more tokens where the budget is large.  Besiroglu et al.
2024 read the runs off the paper's figure and fitted approach 3 again: the published numbers
describe those runs badly, and the refit agrees with the rule.  Both fits live in ``facts``
(scaling_laws), and ``law`` reads them.

>>> budget = dict(training_flops=5.76e23)  # Gopher's, as in the paper
>>> [
...     round(optimal_tokens_per_parameter(law(name), **budget), 1)
...     for name in ("hoffmann", "besiroglu")
... ]
[59.1, 18.4]
>>> [
...     round(optimal_tokens_per_parameter(law(name), training_flops=1e26), 1)
...     for name in ("hoffmann", "besiroglu")
... ]
[92.5, 16.1]
>>> round(compute_optimal_parameters_by_rule(budget, tokens_per_parameter=20) / 1e9)  # billions
69
"""

from __future__ import annotations

import math

from sympy import Eq, Max, sqrt

from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

N, D, u, v, c, h, C, floor, A, A_d, alpha, beta, ell, tau = (
    quantity.symbol
    for quantity in (
        q.active_parameters,
        q.pretraining_tokens,
        q.one_token,
        q.one_parameter,
        q.flops_per_multiply_add,
        q.training_passes,
        q.training_flops,
        q.loss_floor,
        q.size_coefficient,
        q.data_coefficient,
        q.size_exponent,
        q.data_exponent,
        q.validation_loss,
        q.tokens_per_parameter,
    )
)

_SOURCE = "Hoffmann et al. 2022, approach 3; refitted by Besiroglu et al. 2024"
_FITTED = ("dense models, one pass over the data", "fitted from 44M to 16B parameters")

fitted_loss = Formula(
    q.validation_loss,
    floor + A * (v / N) ** alpha + A_d * (u / D) ** beta,
    name="fitted_loss",
    source=_SOURCE,
    meaning="loss of a model of this size after this many tokens, in nats per token",
    known_as=(
        "Chinchilla loss",
        "scaling law",
    ),
    conventions=_FITTED,
)

_budget = C / (h * c * u * v)

compute_optimal_parameters = Formula(
    q.compute_optimal_parameters,
    v * (alpha * A / (beta * A_d) * _budget**beta) ** (1 / (alpha + beta)),
    source=_SOURCE,
    meaning="size that this many FLOPs train to the lowest loss",
    known_as=("Chinchilla optimal model size",),
    conventions=("6 FLOPs for each weight and token", *_FITTED),
    derivation=lambda: _derive_optimum(),
)

compute_optimal_tokens = Formula(
    q.compute_optimal_tokens,
    u * (beta * A_d / (alpha * A) * _budget**alpha) ** (1 / (alpha + beta)),
    source=_SOURCE,
    meaning="tokens that go with it",
    known_as=("Chinchilla tokens", "tokens to train on"),
    conventions=("6 FLOPs for each weight and token", *_FITTED),
)

optimal_tokens_per_parameter = Formula(
    q.tokens_per_parameter,
    q.compute_optimal_tokens.symbol / q.compute_optimal_parameters.symbol,
    using=(compute_optimal_tokens, compute_optimal_parameters),
    name="optimal_tokens_per_parameter",
    source=_SOURCE,
    meaning="tokens for each parameter at the optimum: constant only where both exponents are "
    "equal",
    conventions=_FITTED,
)

_RULE = (
    "6 FLOPs for each weight and token",
    "20 tokens for each parameter by the rule, at any budget: the fits' ratio moves with it",
    "dense models, one pass over the data",
)

compute_optimal_parameters_by_rule = Formula(
    q.compute_optimal_parameters,
    sqrt(C / (h * c * tau)),
    name="compute_optimal_parameters_by_rule",
    source="Hoffmann et al. 2022, approaches 1 and 2",
    meaning="size that this many FLOPs train best, by the rule of so many tokens for each "
    "parameter",
    conventions=_RULE,
    derivation=lambda: _derive_rule("active_parameters"),
)

compute_optimal_tokens_by_rule = Formula(
    q.compute_optimal_tokens,
    sqrt(C * tau / (h * c)),
    name="compute_optimal_tokens_by_rule",
    source="Hoffmann et al. 2022, approaches 1 and 2",
    meaning="tokens that go with it by the same rule",
    known_as=("twenty tokens per parameter", "20 tokens per parameter"),
    conventions=_RULE,
    derivation=lambda: _derive_rule("pretraining_tokens"),
)

tokens_at_budget = Formula(
    q.pretraining_tokens,
    C / (h * c * N),
    name="tokens_at_budget",
    source="6 N D",
    meaning="tokens that a budget of FLOPs leaves for a model of this size",
    conventions=("6 FLOPs for each weight and token",),
)

loss_at_budget = Formula(
    q.validation_loss,
    floor + A * (v / N) ** alpha + A_d * (h * c * u * N / C) ** beta,
    name="loss_at_budget",
    source=_SOURCE,
    meaning="loss of a model of this size after all the tokens that the budget allows",
    conventions=("6 FLOPs for each weight and token", *_FITTED),
)

reducible_at_budget = Formula(
    q.reducible_loss,
    A * (v / N) ** alpha + A_d * (h * c * u * N / C) ** beta,
    name="reducible_at_budget",
    source=_SOURCE,
    meaning="loss above its floor at a budget of FLOPs: what size and data can still lower",
    conventions=loss_at_budget.conventions,
)

tokens_to_reach = Formula(
    q.pretraining_tokens,
    u * (A_d / Max(0, ell - floor - A * (v / N) ** alpha)) ** (1 / beta),
    name="tokens_to_reach",
    source=_SOURCE,
    meaning="tokens after which a model of this size reaches a loss",
    conventions=("infinite where the size alone leaves the loss too high", *_FITTED),
)

_LETTERS = {
    "loss_floor": "E",
    "size_coefficient": "A",
    "data_coefficient": "B",
    "size_exponent": "alpha",
    "data_exponent": "beta",
}
_FITS = {"hoffmann": "hoffmann", "besiroglu": "epoch"}


def law(fit: str = "besiroglu") -> dict[str, float]:
    """Return the five fitted numbers by API name; `fit` is "hoffmann" or "besiroglu".

    >>> round(law("besiroglu")["size_exponent"], 4)
    0.3478
    >>> law("kaplan")
    Traceback (most recent call last):
    ...
    ValueError: There is no fit 'kaplan'; there are hoffmann and besiroglu.
    """
    from .facts import get

    if fit not in _FITS:
        raise ValueError(f"There is no fit {fit!r}; there are hoffmann and besiroglu.")
    return {
        name: get("scaling_laws", f"{_FITS[fit]}_{letter}")["value"]
        for name, letter in _LETTERS.items()
    }


def published_optima() -> list[dict[str, float]]:
    """Return what Hoffmann et al. print as compute-optimal, from their tables 3 and A3.

    Each is a dict of approach (1, 2 or 3), active_parameters, pretraining_tokens.

    >>> [
    ...     round(row["pretraining_tokens"] / row["active_parameters"], 1)
    ...     for row in published_optima()
    ...     if row["active_parameters"] == 1e12
    ... ]
    [21.2, 26.5, 94.1]
    """
    from .facts import load

    found = []
    for row in load("scaling_laws"):
        if row.name.startswith("hoffmann_approach_"):
            approach, size = row.name.removeprefix("hoffmann_approach_").split("_")
            found.append(
                {
                    "approach": int(approach),
                    "active_parameters": float(size),
                    "pretraining_tokens": row["value"],
                }
            )
    return found


def least_lifetime(
    loss: float,
    served_tokens: float,
    *,
    fit: str = "besiroglu",
    rl_tokens: float = 0,
    rl_passes: float = 2,
    decode_efficiency: float = 1,
) -> dict[str, float]:
    """Find the size and the tokens that reach a loss with the fewest FLOPs over a whole life.

    Parameters
    ----------
    loss : float
        Validation loss to reach, nats per token; above the law's floor.
    served_tokens, rl_tokens : float
        Tokens generated for users and in reinforcement learning, 0 or more.
    rl_passes, decode_efficiency : float
        As in `handful.overtraining`; an efficiency of 1 counts FLOPs, a smaller one counts their
        price.

    Returns
    -------
    dict
        active_parameters, pretraining_tokens, lifetime_flops, tokens_per_parameter.

    Notes
    -----
    There is no closed form: the derivative by size is zero at one place, found by bisection
    (Sardana et al. 2024 do the same by Newton's method).

    Examples
    --------
    >>> alone, served = least_lifetime(2.0, 0), least_lifetime(2.0, 2e12)
    >>> served["active_parameters"] < alone[
    ...     "active_parameters"
    ... ]  # to be served, be smaller and train longer
    True
    """
    from scipy.optimize import minimize_scalar

    known = law(fit)
    if not loss > known["loss_floor"]:
        raise ValueError(
            f"The loss must be above the law's floor of {known['loss_floor']}; got {loss}."
        )
    if served_tokens < 0 or rl_tokens < 0:
        raise ValueError("Tokens served and tokens of reinforcement learning must be 0 or more.")
    # Above this size every loss on the way is reachable; the logarithm keeps the search even over
    # decades.
    least = (known["size_coefficient"] / (loss - known["loss_floor"])) ** (
        1 / known["size_exponent"]
    )

    def bill(log_size: float) -> tuple[float, float, float]:
        size = least * math.exp(log_size)
        tokens = tokens_to_reach(known, validation_loss=loss, active_parameters=size)
        decoded = (served_tokens + rl_passes * rl_tokens) / decode_efficiency
        return 2 * size * (3 * tokens + decoded), size, tokens

    found = minimize_scalar(
        lambda x: math.log(bill(x)[0]),
        bounds=(1e-6, math.log(1e6)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    flops, size, tokens = bill(found.x)
    return {
        "active_parameters": size,
        "pretraining_tokens": tokens,
        "lifetime_flops": flops,
        "tokens_per_parameter": tokens / size,
    }


def _derive_optimum() -> Derivation:
    d = Derivation("The size that a budget of FLOPs trains best")
    d.start(fitted_loss, "loss falls with size and with data")
    d.substitute(
        {"pretraining_tokens": C / (h * c * N)},
        "6 FLOPs for each weight and token: size and data share a budget",
    )
    d.minimise(
        "active_parameters",
        "at the bottom, a per cent more size gains what a per cent fewer tokens lose",
    )
    d.claim(Eq(N, compute_optimal_parameters.expression), "gather the powers of the size")
    return d


def _derive_rule(wanted: str) -> Derivation:
    d = Derivation("The best size and the best length by a rule of tokens for each parameter")
    d.start(Eq(C, h * c * N * D), "6 FLOPs for each weight and token")
    if wanted == "active_parameters":
        d.substitute({"pretraining_tokens": tau * N}, "so many tokens for each parameter")
    else:
        d.substitute({"active_parameters": D / tau}, "so many tokens for each parameter")
    d.solve(wanted, "both grow with the square root of the budget")
    return d
