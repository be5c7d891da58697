"""The step of a server under steady load: the floor, and what has to be added to it.

The floor (``latency.step_time_mixed``) knows bandwidth and arithmetic.  A server's chips also talk
to each other in every layer, and each layer costs something whatever its size.
``served_step_time`` is a server that shares every layer; in ``served_step_time_apart`` each chip
attends for sequences of its own and only experts are shared.  Every term can be switched off, and
the floor's have an efficiency.  A server that guesses tokens ahead (speculative decoding) keeps a
share of what it works on, ``kept_share``.

A batch in steady state is a queueing system: ``requests_per_second`` is Little's law for it, and
``cache_freed`` says what each step leaves free for new prompts.  ``bandwidth_utilisation`` and
``decode_flops_utilisation`` compare a measured step with what the chips could have done.

>>> round(kept_share(acceptance=0.5, drafts=1), 2)  # the guess is right every other time
0.75
>>> seven = dict(total_parameters=7e9, bytes_per_parameter=2, batch=1, context=0)
>>> machine = dict(devices=1, memory_bandwidth=2e12, kv_bytes_per_token=0)
>>> bandwidth_utilisation(seven | machine, step_time=0.014)  # 14 GB in 14 ms, of 2 TB/s
0.5
"""

from __future__ import annotations

from sympy import Eq, Integer, Rational

from ._moved import old_formulas
from .collectives import hierarchical_all_reduce_time, ring_all_reduce_time
from .experts import communication_time
from .latency import cache_memory, compute_time, memory_time
from .racks import copied_weights
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

__all__ = [
    "bandwidth_utilisation",
    "cache_freed",
    "copied_weight_time",
    "decode_flops_utilisation",
    "kept_share",
    "mean_context",
    "overhead_time",
    "requests_per_second",
    "sequences_finished",
    "served_step_time",
    "served_step_time_apart",
    "tensor_parallel_time",
    "tensor_parallel_time_across_nodes",
]

(n, one, g, kept, new, B, d, w_r, layers, tau, up, e_m, e_c, e_n, BW, m, alpha) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.one_device,
        q.prompt_per_answer,
        q.kept_share,
        q.new_tokens_per_sequence,
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
    known_as=("tensor-parallel all-reduce",),
    conventions=(
        "tensor parallel over all chips, of one node or rack: over several see "
        "tensor_parallel_time_across_nodes",
        "a ring, on which each chip sends 2 (n − 1)/n of the activations: half of its bandwidth "
        "goes either way round, and a switch takes as long",
        "the latency of hops left out: see overhead_time",
        "prompts at the rate at which answers leave",
    ),
)

tensor_parallel_time_across_nodes = Formula(
    q.tensor_parallel_time,
    hierarchical_all_reduce_time.expression.xreplace(
        {
            q.collective_bytes.symbol: 2 * layers * new * B * _prompts * d * w_r,
            q.hop_latency.symbol: Integer(0),
        }
    ),
    name="tensor_parallel_time_across_nodes",
    source="derived",
    meaning="two all-reduces of all activations in each layer, over a whole step, where chips of "
    "several nodes or racks share the layers",
    known_as=("tensor parallelism across nodes", "TP16 over two nodes"),
    conventions=(
        "full nodes; each all-reduce first within a node, then between nodes, then within again",
        "the latency of hops left out, though it is longer between nodes: see overhead_time",
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
    meaning="a step of a server whose chips each attend for their own sequences: experts are "
    "shared, all else is copied",
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

# A batch in steady state --------------------------------------------------------------------------

_t, _P, _A, _b = (
    quantity.symbol
    for quantity in (q.step_time, q.prompt_tokens, q.answer_tokens, q.kv_bytes_per_token)
)

sequences_finished = Formula(
    q.sequences_finished,
    new * B / _A,
    source="derived",
    meaning="answers that end in a step: as many prompts may be let in",
    conventions=("steady state: the batch stays as large as it is",),
)

requests_per_second = Formula(
    q.request_rate,
    q.sequences_finished.symbol / _t,
    using=(sequences_finished,),
    name="requests_per_second",
    source="Little 1961: sequences in the batch over the time that an answer takes",
    meaning="answers that end in a second, and so requests that a full batch can take",
    known_as=("Little's law", "QPS"),
    conventions=(
        "steady state: the batch stays as large as it is",
        "decode only: the time of prompts is not in the step",
    ),
    derivation=lambda: _derive_requests(),
)

cache_freed = Formula(
    q.cache_freed,
    q.sequences_finished.symbol * _b * (_P + _A),
    using=(sequences_finished,),
    source="derived",
    meaning="whole caches of the answers that end in a step",
    conventions=(
        "steady state: the batch stays as large as it is",
        "no layers with a sliding window",
        "found prefixes that several sequences share stay",
    ),
    derivation=lambda: _derive_cache_freed(),
)

mean_context = Formula(
    q.context,
    _P + _A * Rational(1, 2),
    name="mean_context",
    source="derived",
    meaning="context of a sequence of the batch, on average: its prompt and half of its answer",
    conventions=(
        "answers equally long; where they differ, those in the batch are longer than the mean, "
        "since a long answer stays longer",
    ),
)

# What a measured step made of the chips -----------------------------------------------------------

bandwidth_utilisation = Formula(
    q.bandwidth_utilisation,
    (q.bytes_per_parameter.symbol * q.total_parameters.symbol + B * cache_memory.expression)
    / (n * BW * _t),
    source="Databricks 2023, LLM Inference Performance Engineering: Best Practices (MBU)",
    meaning="weights and caches over what the chips could have read in a measured step",
    known_as=("MBU", "model bandwidth utilisation", "largest batch at a measured MBU"),
    conventions=(
        "all weights count once: too many where a small batch wakes few experts",
        "one step gives each sequence its token: time per output token is step time",
    ),
)

decode_flops_utilisation = Formula(
    q.model_flops_utilisation,
    q.flops_per_multiply_add.symbol
    * new
    * B
    * q.active_parameters.symbol
    / (n * q.peak_flops.symbol * _t),
    name="decode_flops_utilisation",
    source="Pope et al. 2022, Efficiently Scaling Transformer Inference, table 2 (MFU)",
    meaning="arithmetic of the weights over what the chips could have done in a measured step",
    known_as=("MFU of a decode step",),
    conventions=(
        "FLOP counts a multiply-add as two; dense peak",
        "attention over the context left out",
    ),
)


def _derive_requests() -> Derivation:
    d = Derivation("Requests a second, by Little's law")
    d.start(
        Eq(B, q.request_rate.symbol * _A * _t / new),
        "sequences in the batch are those that come in a second, times the seconds that each stays",
    )
    d.solve("request_rate", "solve for the rate")
    return d


def _derive_cache_freed() -> Derivation:
    d = Derivation("What a step frees is what it adds")
    ended, freed = q.sequences_finished.symbol, q.cache_freed.symbol
    d.start(
        Eq(freed, new * B * _b + ended * _P * _b),
        "in steady state: a token for each sequence, and the prompts of those who take free places",
    )
    d.claim(
        Eq(freed, (new * B + ended * _P) * _b),
        "collect the bytes of a token",
    )
    d.substitute({"sequences_finished": new * B / _A}, "as many come as end")
    d.claim(
        Eq(freed, new * B / _A * _b * (_P + _A)),
        "which is prompt and answer of each that ends",
    )
    return d


__getattr__ = old_formulas(__name__, {"all_reduce_time": "tensor_parallel_time"})
