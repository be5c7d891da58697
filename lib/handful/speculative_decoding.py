"""Tokens guessed ahead and checked in one step: what they yield, and when they stop paying.

A small model guesses some tokens (the drafts), and the large one checks them all in one step.  Each
is kept with some chance, the acceptance, up to the first that is not; the step always yields one
token of its own.  A step that waits for memory checks them almost for nothing.  As the batch grows,
its arithmetic becomes the limit, and guesses that are thrown away cost time:
``speculation_limit_batch`` says where.

>>> round(expected_accepted_tokens(acceptance=0.8, drafts=5), 2)  # of six that a step works on
3.69
>>> best_draft_length(acceptance=0.75, draft_time_ratio=0.02)
9
>>> round(speculative_speedup(acceptance=0.75, draft_time_ratio=0.02, drafts=9), 2)
3.2
>>> llama = dict(total_parameters=70e9, active_parameters=70e9, bytes_per_parameter=2)
>>> h100 = dict(peak_flops=989e12, memory_bandwidth=3.35e12)
>>> guesses = dict(acceptance=0.7, drafts=3, draft_time_ratio=0)
>>> round(speculation_limit_batch(llama | h100 | guesses, kv_bytes_per_token=0, context=0))
187
"""

from __future__ import annotations

import math

from sympy import Eq, Max

from .latency import cache_memory, step_time_lecture
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

__all__ = [
    "SpeculationError",
    "best_draft_length",
    "expected_accepted_tokens",
    "speculation_limit_batch",
    "speculative_operations",
    "speculative_speedup",
    "speculative_speedup_of_batch",
    "speculative_step_time",
]

(alpha, m, r, r_ops, kept, n, B, N_total, N_active, w, F, BW, c, new) = (
    quantity.symbol
    for quantity in (
        q.acceptance,
        q.drafts,
        q.draft_time_ratio,
        q.draft_operations_ratio,
        q.generated_tokens,
        q.devices,
        q.batch,
        q.total_parameters,
        q.active_parameters,
        q.bytes_per_parameter,
        q.peak_flops,
        q.memory_bandwidth,
        q.flops_per_multiply_add,
        q.new_tokens_per_sequence,
    )
)
_cache = cache_memory.expression
_PAPER = "Leviathan et al. 2023, Fast Inference from Transformers via Speculative Decoding"
_INDEPENDENT = "each guess is kept with the same chance, below 1, whatever the others do"


class SpeculationError(ValueError):
    """A chance or a cost for which no length of drafts is best."""


expected_accepted_tokens = Formula(
    q.generated_tokens,
    (1 - alpha ** (m + 1)) / (1 - alpha),
    name="expected_accepted_tokens",
    source=f"{_PAPER}, equation 1",
    meaning="tokens that a step yields: guesses up to the first wrong one, and one of the large "
    "model's own",
    known_as=("accepted draft tokens",),
    conventions=(_INDEPENDENT, "kept_share counts the same for each token that the step works on"),
    derivation=lambda: _derive_accepted(),
)

speculative_speedup = Formula(
    q.speculative_speedup,
    kept / (m * r + 1),
    using=(expected_accepted_tokens,),
    source=f"{_PAPER}, theorem 3.8",
    meaning="tokens that a step yields over how much longer it takes with the guessing",
    known_as=("speedup of speculative decoding", "EAGLE", "Medusa", "MTP"),
    conventions=(
        _INDEPENDENT,
        "checking all guesses takes as long as a step for one token: memory is the limit",
        "guesses are made one after another",
    ),
)

speculative_operations = Formula(
    q.speculative_operations,
    (m * r_ops + m + 1) / kept,
    using=(expected_accepted_tokens,),
    source=f"{_PAPER}, theorem 3.11",
    meaning="arithmetic of guessing and checking over that of the tokens that are kept",
    conventions=(_INDEPENDENT, "checking costs the large model's arithmetic for each guess"),
)

# On the roofline ----------------------------------------------------------------------------------

_memory = (w * N_total + B * _cache) / (n * BW)
_compute = c * new * B * N_active / (n * F)

speculative_step_time = Formula(
    q.speculative_step_time,
    m * r * q.step_time.symbol + Max(_memory, (m + 1) * _compute),
    using=(step_time_lecture,),
    source="derived",
    meaning="guessing, then one step that reads as much as ever and computes for every guess",
    conventions=(
        "all weights are read, guesses or not: a sparse model's guesses wake more experts",
        "max(weights + KV, compute); attention's arithmetic left out",
        "the draft model's step is a fixed share of the large model's at the same batch",
    ),
    derivation=lambda: _derive_step(),
)

speculative_speedup_of_batch = Formula(
    q.speculative_speedup,
    kept * q.step_time.symbol / q.speculative_step_time.symbol,
    using=(expected_accepted_tokens, step_time_lecture, speculative_step_time),
    name="speculative_speedup_of_batch",
    source="derived",
    meaning="how many times faster answers come at this batch, or slower where it is below 1",
    conventions=(_INDEPENDENT, *speculative_step_time.conventions),
)

_net = Max(0, kept - m * r) / (m + 1)

speculation_limit_batch = Formula(
    q.speculation_limit_batch,
    _net * w * N_total / Max(0, c * new * N_active * BW / F - _net * _cache),
    using=(expected_accepted_tokens,),
    source="derived",
    meaning="batch from which guessing slows answers down: the balance batch, times the share of "
    "guesses that are kept",
    conventions=(
        "infinite where reading caches takes so long that checking never becomes the limit",
        "for guesses that pay in a small batch: speculative_speedup above 1",
        *speculative_step_time.conventions,
    ),
    derivation=lambda: _derive_limit(),
)


def best_draft_length(acceptance: float, draft_time_ratio: float) -> int:
    """Return how many tokens to guess ahead for the largest `speculative_speedup`.

    Parameters
    ----------
    acceptance : float
        Chance that a guess is kept, from 0 to below 1.
    draft_time_ratio : float
        Time of a guess over that of a step of the large model, above 0.

    One more guess pays as long as what it adds, for the time that it adds, is above the average so
    far.  What is added falls with every guess, so that the first that does not pay ends the search.
    0 where no guess pays.  The optimum of Leviathan et al. 2023, section 3.5; as a real number it
    would be a value of Lambert's W.  Raises SpeculationError.

    >>> [best_draft_length(a, 0.05) for a in (0.05, 0.6, 0.8, 0.9)]
    [0, 4, 8, 13]
    >>> best_draft_length(0.8, 0)
    Traceback (most recent call last):
    ...
    handful.speculative_decoding.SpeculationError: draft_time_ratio must be above 0 and finite: free
    guesses are best without end; got 0.
    """
    if not 0 <= acceptance < 1:
        raise SpeculationError(f"acceptance must be from 0 to below 1; got {acceptance}.")
    if not 0 < draft_time_ratio < math.inf:
        raise SpeculationError(
            "draft_time_ratio must be above 0 and finite: free guesses are best without end; "
            f"got {draft_time_ratio}."
        )

    def pays(drafts: int) -> bool:
        """Return whether another guess after so many raises the speed-up."""
        added = acceptance ** (drafts + 1)
        return added * (drafts * draft_time_ratio + 1) > draft_time_ratio * (1 - added) / (
            1 - acceptance
        )

    if not pays(0):
        return 0
    low, high = 0, 1
    while pays(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if pays(middle) else (low, middle)
    return high


# Derivations --------------------------------------------------------------------------------------


def _derive_accepted() -> Derivation:
    d = Derivation("Tokens that a step yields")
    d.start(
        Eq(kept, alpha * kept + 1 - alpha ** (m + 1)),
        "the chances that it yields one, two, … are 1, α, …, α^m; times α, the same without the "
        "first and with one more",
    )
    d.solve("generated_tokens", "solve for their sum")
    return d


def _derive_step() -> Derivation:
    d = Derivation("A step that checks guesses")
    verify, memory, compute = (
        q.speculative_step_time.symbol,
        q.memory_time.symbol,
        q.compute_time.symbol,
    )
    d.start(
        Eq(verify, m * r * q.step_time.symbol + Max(memory, (m + 1) * compute)),
        "one guess after another, then the slower of reading and computing: reading is shared by "
        "the guesses, computing is not",
    )
    d.substitute({"memory_time": _memory}, "weights and caches are read once")
    d.substitute({"compute_time": _compute}, "arithmetic for one token of each sequence")
    return d


def _derive_limit() -> Derivation:
    d = Derivation("The batch from which guessing slows answers down")
    d.start(
        Eq(kept * _memory, m * r * _memory + (m + 1) * _compute),
        "one token a step that waits for memory, against a step that checks guesses and waits for "
        "arithmetic: equally fast",
    )
    net = (kept - m * r) / (m + 1)
    d.claim(
        Eq(net * (w * N_total + B * _cache), c * new * B * N_active * BW / F),
        "for each token that is worked on; the chips cancel",
    )
    d.solve("batch", "the batch stands on both sides")
    d.claim(
        Eq(B, net * w * N_total / (c * new * N_active * BW / F - net * _cache)),
        "the balance batch with caches, where only a share of the reading counts",
    )
    return d
