"""The step of a server under steady load: the floor, and what has to be added to it.

The floor (``latency.step_time_mixed``) knows bandwidth and arithmetic.  A server's chips also talk
to each other in every layer, and each layer costs something whatever its size.
``served_step_time`` is a server that shares every layer; in ``served_step_time_apart`` each chip
attends for sequences of its own and only experts are shared.  Every term can be switched off, and
the floor's have an efficiency.  A server that guesses tokens ahead (speculative decoding) keeps a
share of what it works on, ``kept_share``.

>>> round(kept_share(acceptance=0.5, drafts=1), 2)  # the guess is right every other time
0.75
"""

from __future__ import annotations

import warnings

from sympy import Integer

from .collectives import ring_all_reduce_time
from .experts import communication_time
from .latency import compute_time, memory_time
from .racks import copied_weights
from .symbolic import quantities as q
from .symbolic.formula import Formula

__all__ = [
    "copied_weight_time",
    "kept_share",
    "overhead_time",
    "served_step_time",
    "served_step_time_apart",
    "tensor_parallel_time",
]

(n, one, g, kept, new, B, d, w_r, layers, tau, up, e_m, e_c, e_n, BW, m, alpha) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.one_device,
        q.prompt_per_answer,
        q.kept_share,
        q.tokens_per_step,
        q.batch,
        q.d_model,
        q.reduce_bytes,
        q.layers,
        q.layer_overhead,
        q.scale_up_bandwidth,
        q.memory_efficiency,
        q.compute_efficiency,
        q.network_efficiency,
        q.memory_bandwidth,
        q.drafts,
        q.acceptance,
    )
)

_prompts = (
    1 + g * kept
)  # work for each token of the batch, prompts included: they arrive as answers leave

tensor_parallel_time = Formula(
    q.tensor_parallel_time,
    ring_all_reduce_time.expression.xreplace(
        {
            q.collective_bytes.symbol: 2 * layers * new * B * _prompts * d * w_r,
            q.link_bandwidth.symbol: up * one / 2,
            q.hop_latency.symbol: Integer(0),
        }
    ),
    source="Shoeybi et al. 2019, Megatron-LM; derived",
    meaning="two all-reduces of all activations in each layer, behind attention and behind the "
    "feed-forward block, over a whole step",
    conventions=(
        "tensor parallel over all chips",
        "a ring, on which each chip sends 2 (n − 1)/n of the activations: half of its bandwidth "
        "goes either way round, and a switch takes as long",
        "the latency of hops left out: see overhead_time",
        "prompts at the rate at which answers leave",
    ),
)

copied_weight_time = Formula(
    q.copied_weight_time,
    q.copied_weights.symbol * (n - one) / (n * BW),
    using=(copied_weights,),
    source="derived",
    meaning="what lies outside the experts, read whole by every chip rather than by each a share",
    conventions=("attention apart",),
)

overhead_time = Formula(
    q.overhead_time,
    layers * tau,
    source="derived",
    meaning="what layers cost that no chip makes faster",
    conventions=("0 switches it off",),
)

served_step_time = Formula(
    q.step_time,
    q.memory_time.symbol / e_m
    + q.compute_time.symbol * _prompts / e_c
    + q.tensor_parallel_time.symbol / e_n
    + q.overhead_time.symbol,
    using=(memory_time, compute_time, tensor_parallel_time, overhead_time),
    name="served_step_time",
    source="derived",
    meaning="a step of a server under steady load: nothing overlaps, and each term has its "
    "efficiency",
    conventions=("efficiencies of 1, one chip and no overhead give step_time_mixed",),
)

served_step_time_apart = Formula(
    q.step_time,
    (q.memory_time.symbol + q.copied_weight_time.symbol) / e_m
    + q.compute_time.symbol * _prompts / e_c
    + q.communication_time.symbol * _prompts / e_n
    + q.overhead_time.symbol,
    using=(memory_time, copied_weight_time, compute_time, communication_time, overhead_time),
    name="served_step_time_apart",
    source="derived",
    meaning="the same where each chip attends for its own sequences: experts are shared, all else "
    "is copied",
    conventions=(
        "no all-reduce: tokens go to their experts and back",
        "sequences spread evenly over chips",
        "efficiencies of 1, one chip and no overhead give step_time_mixed",
    ),
)

kept_share = Formula(
    q.kept_share,
    (1 - alpha ** (m + 1)) / ((1 - alpha) * (m + 1)),
    source="Leviathan et al. 2023, equation 1",
    meaning="tokens kept of those that a step works on: guesses up to the first wrong one, and "
    "one more",
    known_as=("acceptance of drafts",),
    conventions=(
        "each guess is kept with the same chance, below 1, whatever the others do",
        "no guesses: 1",
        "the guessing itself left out: one more layer a guess in DeepSeek-V3",
    ),
)


def __getattr__(name: str) -> Formula:
    """Return a formula under its name in the last edition, for one edition."""
    if name != "all_reduce_time":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        "serving.all_reduce_time is now serving.tensor_parallel_time; the old name goes with the "
        "next edition.",
        DeprecationWarning,
        stacklevel=2,
    )
    return tensor_parallel_time
