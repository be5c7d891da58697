"""Failures of large training runs: how often, how often to save, and what share of time is lost.

A run on thousands of chips stops when one of them fails, so that its mean time to failure is that
of a chip over their number.  What was computed since the last checkpoint is then computed again.
Frequent checkpoints cost their writing, rare ones the work that is lost: ``checkpoint_interval`` is
Young's balance of the two, ``checkpoint_interval_daly`` the one for checkpoints that take long.
``lost_share`` adds up what is lost, to first order; ``effective_training_share`` is exact.
Failures come at random, at the same rate all the time.

>>> hour, day = 3600, 86_400
>>> meta = 54 * day * 16_384 / 419  # Llama 3: 419 interruptions in 54 days of 16,384 chips
>>> often = job_mean_time_to_failure(device_mean_time_to_failure=meta, devices=16_384)
>>> round(often / hour, 1)
3.1
>>> run = dict(job_mean_time_to_failure=often, checkpoint_time=10, restart_time=300)
>>> interval = checkpoint_interval(run)
>>> f"{interval / 60:.1f} min, {effective_training_share(run, checkpoint_interval=interval):.1%}"
'7.9 min, 93.3%'
"""

from __future__ import annotations

from sympy import Eq, exp, sqrt

from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

__all__ = [
    "checkpoint_interval",
    "checkpoint_interval_daly",
    "checkpoint_time",
    "devices_in_repair",
    "effective_training_share",
    "expected_failures",
    "failure_free_chance",
    "job_mean_time_to_failure",
    "least_lost_share",
    "lost_share",
]

(n, M_chip, M, T, delta, tau, restart, N, w_theta, w_opt) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.device_mean_time_to_failure,
        q.job_mean_time_to_failure,
        q.training_time,
        q.checkpoint_time,
        q.checkpoint_interval,
        q.restart_time,
        q.total_parameters,
        q.trained_weight_bytes,
        q.optimiser_bytes,
    )
)

_YOUNG = "Young 1974, A first order approximation to the optimum checkpoint interval"
_DALY = "Daly 2006, A higher order estimate of the optimum checkpoint interval for restart dumps"
_RANDOM = "failures come at random and independently, as often in a new run as in an old one"
_STANDS = "the time for which training stands still: of asynchronous writing, the copy to memory"
_FIRST = "to first order: checkpoints and restarts are short beside the mean time to failure"

# How often it fails -------------------------------------------------------------------------------

job_mean_time_to_failure = Formula(
    q.job_mean_time_to_failure,
    M_chip / n,
    source="definition: independent failures add up",
    meaning="time between failures of a job that stops whenever one of its chips does",
    known_as=("MTBF", "MTTF", "mean time between failures", "how often does a large job fail"),
    conventions=(
        _RANDOM,
        "a chip's failures are all that stop the job, with its share of node, network and software",
    ),
)

expected_failures = Formula(
    q.expected_failures,
    T / M,
    source="definition",
    meaning="failures that a run meets, on average",
    known_as=("number of failures in a run", "number of interruptions"),
    conventions=("time of the run with its restarts",),
)

failure_free_chance = Formula(
    q.failure_free_chance,
    exp(-T / M),
    source="definition: no event of a Poisson process",
    meaning="chance that a run ends before its first failure",
    known_as=("probability of no failure", "chance to finish without failures"),
    conventions=(_RANDOM,),
)

devices_in_repair = Formula(
    q.devices_in_repair,
    n * q.domain_devices.symbol * q.repair_time.symbol / M_chip,
    source="Little 1961: failures a second, times the seconds that each takes a node away",
    meaning="chips that are away at a time, so that as many have to stand by",
    known_as=("spare nodes", "hot spares", "nodes in repair"),
    conventions=(
        "a failure takes a whole node away, whose chips domain_devices counts",
        "failures that a restart mends take nothing away: leave them out of the chip's",
        "a mean: with spares for it alone, all are in use about half of the time",
    ),
)

# Checkpoints --------------------------------------------------------------------------------------

checkpoint_time = Formula(
    q.checkpoint_time,
    N * (w_theta + w_opt) / q.checkpoint_bandwidth.symbol,
    source="definition",
    meaning="time to write the weights and the state of the optimiser",
    known_as=("time to write a checkpoint", "checkpoint size over write bandwidth"),
    conventions=(
        "written once, whatever number of chips have copies; gradients are not written",
        "training stands still meanwhile: of asynchronous writing, take the rate to memory",
    ),
)

checkpoint_interval = Formula(
    q.checkpoint_interval,
    sqrt(2 * delta * M),
    source=_YOUNG,
    meaning="time between checkpoints at which writing them costs as much as work done again",
    known_as=("checkpoint frequency", "Young's formula", "Young/Daly"),
    conventions=(_RANDOM, _STANDS, _FIRST),
    derivation=lambda: _derive_interval(),
)

checkpoint_interval_daly = Formula(
    q.checkpoint_interval,
    sqrt(2 * delta * M) * (1 - sqrt(delta / (2 * M)) / 3) ** 2,
    name="checkpoint_interval_daly",
    source=_DALY,
    meaning="time between checkpoints that loses least where writing one takes a good part of "
    "the mean time to failure",
    known_as=("Daly's formula", "higher order checkpoint interval"),
    conventions=(
        _RANDOM,
        _STANDS,
        "for checkpoints shorter than twice the mean time to failure; beyond, Daly takes that time",
    ),
    derivation=lambda: _derive_daly(),
)

# What is lost -------------------------------------------------------------------------------------

lost_share = Formula(
    q.lost_share,
    delta / tau + tau / (2 * M) + restart / M,
    source=f"{_YOUNG}; derived",
    meaning="writing checkpoints, half an interval of work done again, and a restart for each "
    "failure",
    known_as=("checkpoint overhead", "wasted training time", "badput"),
    conventions=(_RANDOM, _STANDS, _FIRST),
)

least_lost_share = Formula(
    q.lost_share,
    sqrt(2 * delta / M) + restart / M,
    name="least_lost_share",
    source="derived",
    meaning="share of the time that is lost at Young's interval: the least that can be",
    known_as=("minimal checkpoint overhead",),
    conventions=(_RANDOM, _STANDS, _FIRST),
    derivation=lambda: _derive_least(),
)

effective_training_share = Formula(
    q.effective_training_share,
    tau / (M * exp(restart / M) * (exp((tau + delta) / M) - 1)),
    source=f"{_DALY}: the complete cost function",
    meaning="time of training over the time that it takes with checkpoints, failures and restarts",
    known_as=(
        "ETTR",
        "effective training time ratio",
        "goodput of training",
        "effective training time",
    ),
    conventions=(
        _RANDOM,
        _STANDS,
        "exact: failures come while a checkpoint is written and during a restart too",
        "how well the chips are used while training gets on is another factor (MFU)",
    ),
    derivation=lambda: _derive_effective(),
)


def _derive_interval() -> Derivation:
    d = Derivation("How often to write a checkpoint")
    d.start(lost_share, "what is lost: a failure comes in the middle of an interval, on average")
    d.minimise("checkpoint_interval", "restarts do not depend on the interval")
    d.solve("checkpoint_interval", "writing costs as much as work done again")
    return d


def _derive_daly() -> Derivation:
    d = Derivation("Daly's estimate, as a square")
    d.start(
        Eq(
            tau,
            sqrt(2 * delta * M) * (1 + sqrt(delta / (2 * M)) / 3 + delta / (2 * M) / 9) - delta,
        ),
        "the minimum of the complete cost function, by perturbation (Daly 2006)",
    )
    d.claim(Eq(tau, checkpoint_interval_daly.expression), "the same, without a difference")
    return d


def _derive_least() -> Derivation:
    d = Derivation("The least that is lost")
    d.start(lost_share, "what is lost at any interval")
    d.substitute(
        checkpoint_interval, "at Young's, writing and work done again are equal: twice the one"
    )
    return d


def _derive_effective() -> Derivation:
    d = Derivation("The time of an interval, with all failures in it")
    share, failed = q.effective_training_share.symbol, q.expected_failures.symbol
    d.start(
        Eq(share, tau / (failed * M + failed * M * (exp(restart / M) - 1))),
        "failures while an interval is tried come M apart, and so do those of restarts, of which "
        "each failure wants one",
    )
    d.substitute(
        {"expected_failures": exp((tau + delta) / M) - 1},
        "an interval and its checkpoint succeed with the chance of no failure: so many tries fail",
    )
    d.claim(Eq(share, effective_training_share.expression), "collect what failures multiply")
    return d
