"""The scaling law of routed networks: what sparsity adds in quality.

The lecture has it from 28:50 to 31:30.

Clark et al. 2022 fit the validation loss of networks with E experts grown from a dense one of N
parameters: log ℓ = α log N + β log Ê + κ log N log Ê + δ, where Ê bends E at both ends.  Logarithms
are to base 10.  The coefficients are a refit from the authors' published curves, and live in
``facts`` (scaling_laws); ``coefficients`` reads them.

>>> law = coefficients("S-BASE")
>>> size = effective_parameters(law, dense_parameters=370e6, experts=64)
>>> round(size / 1e9, 2)  # the lecture says 1.3 billion
1.4
>>> round(
...     routed_total(dense_parameters=370e6, experts=64, routed_share=law["routed_share"]) / 1e9, 1
... )
7.5
"""

from __future__ import annotations

from sympy import exp, log

from .symbolic import quantities as q
from .symbolic.formula import Formula

N, E, E_hat, E_start, E_limit, alpha, beta, kappa, delta, v, f = (
    quantity.symbol
    for quantity in (
        q.dense_parameters,
        q.experts,
        q.saturated_experts,
        q.experts_start,
        q.experts_limit,
        q.loss_exponent_size,
        q.loss_exponent_experts,
        q.loss_interaction,
        q.loss_offset,
        q.one_parameter,
        q.routed_share,
    )
)

_SOURCE = (
    "Clark et al. 2022, Unified Scaling Laws for Routed Language Models; coefficients "
    "refitted from its curves"
)
_FITTED = (
    "fitted for 15M to 1.3B dense parameters and up to 512 experts; no more than a hint beyond",
)

saturated_experts = Formula(
    q.saturated_experts,
    1 / (1 / (E - 1 + 1 / (1 / E_start - 1 / E_limit)) + 1 / E_limit),
    source=_SOURCE,
    meaning="experts, bent at both ends: routing costs something at first, and saturates at last",
    conventions=_FITTED,
)

_log_size = log(N / v) / log(10)
_log_experts = log(E_hat) / log(10)

routed_loss = Formula(
    q.validation_loss,
    exp(
        log(10)
        * (alpha * _log_size + beta * _log_experts + kappa * _log_size * _log_experts + delta)
    ),
    name="routed_loss",
    using=(saturated_experts,),
    source=_SOURCE,
    meaning="validation loss of a network with experts, in nats per token",
    conventions=_FITTED,
)

_log_start = log(E_start) / log(10)

effective_parameters = Formula(
    q.effective_parameters,
    v
    * exp(
        log(10)
        * (
            alpha * _log_size
            + beta * _log_experts
            + kappa * _log_size * _log_experts
            - beta * _log_start
        )
        / (alpha + kappa * _log_start)
    ),
    using=(saturated_experts,),
    source=_SOURCE,
    meaning="size of the dense model that the law gives the same loss",
    conventions=(*_FITTED, "a dense model is the law at one expert, where Ê = E_start"),
)

routed_total = Formula(
    q.total_parameters,
    N * (1 + f * (E - 1)),
    name="routed_total",
    source="derived",
    meaning="parameters to store: only the routed share of the dense model is multiplied by the "
    "experts",
    conventions=("the study routes the feed-forward part of every other block",),
)

_FITTED_NAMES = (
    "loss_exponent_size",
    "loss_exponent_experts",
    "loss_interaction",
    "loss_offset",
    "experts_start",
    "experts_limit",
)


def coefficients(router: str = "S-BASE") -> dict[str, float]:
    """Return the fitted constants of the law for one kind of router, by API name.

    `router` is "S-BASE", "RL-R" or "HASH".

    >>> sorted(coefficients("HASH")) == sorted(coefficients("S-BASE"))
    True
    >>> coefficients("SWITCH")
    Traceback (most recent call last):
    ...
    ValueError: There is no fit for the router 'SWITCH'; there are fits for S-BASE, RL-R and HASH.
    """
    from .facts import get

    keys = {"S-BASE": "clark_sbase", "RL-R": "clark_rlr", "HASH": "clark_hash"}
    if router not in keys:
        raise ValueError(
            f"There is no fit for the router {router!r}; there are fits for S-BASE, RL-R and HASH."
        )
    fitted = {
        name: get("scaling_laws", f"{keys[router]}_{letter}")["value"]
        for name, letter in zip(_FITTED_NAMES, ("a", "b", "c", "d", "Es", "Em"), strict=True)
    }
    # The routed share follows from the one published pair of sizes: 64 experts make 370M into 7.5
    # billion.
    share = (get("scaling_laws", "clark_total")["value"] / 370e6 - 1) / 63
    return fitted | {"routed_share": share}
