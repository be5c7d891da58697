"""The batch at which arithmetic takes as long as memory (the lecture, 16:00 to 27:30).

What follows from it is here too.

The lecture's "300" is multiplies per second × bytes per weight ÷ bandwidth, that is FLOP/s × bytes
per weight ÷ (2 × bandwidth): ``weight_uses_at_balance`` here, whose dimension comes out as tokens.
It is not FLOPs per byte, which is ``ridge_intensity`` and another number at every precision.

>>> round(
...     weight_uses_at_balance(peak_flops=989e12, bytes_per_parameter=2, memory_bandwidth=3.35e12)
... )  # H100, bf16
295
>>> [
...     round(balance_batch_rule(weight_uses_at_balance=300, sparsity=s))
...     for s in (8, 671 / 37, 256 / 8)
... ]
[2400, 5441, 9600]
"""

from __future__ import annotations

from sympy import Eq, Max, Min, Rational

from ._moved import old_formulas
from .latency import (
    attention_time,
    cache_memory,
    compute_time,
    context_of_cache,
    full_weight_time,
    kv_time,
)
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(n, B, S, N_total, N_active, w, L, b, b0, k, E, F, BW, C, c, new, M, T) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.batch,
        q.sparsity,
        q.total_parameters,
        q.active_parameters,
        q.bytes_per_parameter,
        q.context,
        q.kv_bytes_per_token,
        q.window_cache_memory,
        q.active_experts,
        q.experts,
        q.peak_flops,
        q.memory_bandwidth,
        q.memory_capacity,
        q.flops_per_multiply_add,
        q.new_tokens_per_sequence,
        q.weight_uses_at_balance,
        q.batch_interval,
    )
)
a = q.attention_flops_per_pair.symbol
_cache = cache_memory.expression

# The roofline -------------------------------------------------------------------------------------

ridge_intensity = Formula(
    q.ridge_intensity,
    F / BW,
    source="Williams, Waterman and Patterson 2009, Roofline",
    meaning="FLOPs per byte at which a chip's arithmetic and memory take equally long",
    known_as=("ridge point", "operational intensity at the ridge", "ops to byte ratio"),
    conventions=(
        "FLOP counts a multiply-add as two",
        "dense peak at the precision of the arithmetic",
    ),
)

arithmetic_intensity = Formula(
    q.arithmetic_intensity,
    c * new * B * N_active / (w * N_total + B * _cache),
    source="derived",
    meaning="FLOPs done per byte read in a decode step, caches included",
)

attainable_flops = Formula(
    q.attainable_flops,
    Min(F, q.arithmetic_intensity.symbol * BW),
    source="Williams, Waterman and Patterson 2009, Roofline",
    meaning="the lower of the two roofs",
    known_as=("roofline",),
)

ridge_flops = Formula(
    q.attainable_flops,
    Min(F, q.ridge_intensity.symbol * BW),
    using=(ridge_intensity,),
    name="ridge_flops",
    source="Williams, Waterman and Patterson 2009, Roofline",
    meaning="the rate at the ridge: where the roofs meet",
)

# Balance ------------------------------------------------------------------------------------------

sparsity = Formula(
    q.sparsity,
    N_total / N_active,
    source="19:16",
    meaning="total over active parameters",
    known_as=("total over active parameters",),
    conventions=("by parameters: shared experts, attention and embeddings count too",),
)

sparsity_of_experts = Formula(
    q.sparsity,
    E / k,
    name="sparsity_of_experts",
    source="19:16",
    meaning="routed experts over those that a token uses",
    conventions=("routed experts only",),
)

weight_uses_at_balance = Formula(
    q.weight_uses_at_balance,
    F * w / (c * BW),
    source="18:25",
    meaning="tokens per weight read at which arithmetic keeps up with memory: the lecture's 300",
    conventions=(
        "multiplies × bytes per weight ÷ bandwidth, not FLOPs per byte",
        "independent of precision only where weights and arithmetic share it",
    ),
)

balance_batch_rule = Formula(
    q.balance_batch,
    M * S / new,
    name="balance_batch_rule",
    source="19:05",
    meaning="machine balance times sparsity",
    conventions=("weights only: caches left out",),
)

balance_batch_by_parameters = Formula(
    q.balance_batch,
    M * S / new,
    name="balance_batch_by_parameters",
    using=(sparsity,),
    source="4:44; derived",
    meaning="a given balance times total over active parameters",
    conventions=("weights only: caches left out",),
)

balance_batch_by_experts = Formula(
    q.balance_batch,
    M * S / new,
    name="balance_batch_by_experts",
    using=(sparsity_of_experts,),
    source="19:05",
    meaning="a given balance times routed experts over those that a token uses",
    conventions=("routed experts only", "caches left out"),
)

balance_batch_of_chip = Formula(
    q.balance_batch,
    q.weight_uses_at_balance.symbol * S / new,
    using=(weight_uses_at_balance,),
    name="balance_batch_of_chip",
    source="19:05",
    meaning="a chip's balance times sparsity",
    conventions=("weights only: caches left out",),
)

balance_batch = Formula(
    q.balance_batch,
    q.weight_uses_at_balance.symbol * q.sparsity.symbol / new,
    using=(weight_uses_at_balance, sparsity),
    source="17:33",
    meaning="batch at which arithmetic takes as long as reading the weights",
    known_as=("critical batch size of decode", "compute-bound batch"),
    conventions=("caches left out", "all weights are read"),
    derivation=lambda: _derive_balance(),
)

balance_batch_experts = Formula(
    q.balance_batch,
    q.weight_uses_at_balance.symbol * q.sparsity.symbol / new,
    name="balance_batch_experts",
    using=(weight_uses_at_balance, sparsity_of_experts),
    source="19:05",
    meaning="batch at which the routed experts' arithmetic takes as long as reading them",
    conventions=("routed experts only", "caches left out"),
)

balance_batch_with_kv = Formula(
    q.balance_batch,
    w * N_total / Max(0, c * new * N_active * BW / F - _cache),
    name="balance_batch_with_kv",
    source="19:57; derived",
    meaning="batch at which arithmetic takes as long as reading weights and caches",
    conventions=(
        "infinite where the caches alone take longer than the arithmetic",
        "attention's arithmetic left out: see balance_batch_with_attention",
    ),
    derivation=lambda: _derive_balance_with_kv(),
)

balance_context = Formula(
    q.balance_context,
    context_of_cache(c * new * N_active * BW / F),
    source="derived",
    meaning="context beyond which no batch balances: one token's cache takes as long as its "
    "arithmetic",
    conventions=(
        "every sequence has this context",
        "attention's arithmetic left out, as in the lecture: see balance_context_with_attention",
    ),
    derivation=lambda: _derive_balance_context(),
)

balance_batch_with_attention = Formula(
    q.balance_batch,
    w * N_total / Max(0, new * (c * N_active + a * L) * BW / F - _cache),
    name="balance_batch_with_attention",
    source="derived",
    meaning="batch at which all arithmetic, attention's included, takes as long as reading "
    "weights and caches",
    conventions=(
        "infinite where the caches alone take longer than the arithmetic",
        "full-attention layers only",
    ),
    derivation=lambda: _derive_balance_with_attention(),
)

balance_context_with_attention = Formula(
    q.balance_context,
    Max(
        c * new * N_active * BW / F / Max(0, b + b0 / q.window_tokens.symbol - new * a * BW / F),
        (c * new * N_active * BW / F - b0) / Max(0, b - new * a * BW / F),
    ),
    name="balance_context_with_attention",
    source="derived",
    meaning="context beyond which no batch balances, attention's arithmetic counted",
    conventions=(
        "infinite where attention over a cached token takes longer than reading it: arithmetic "
        "then keeps pace at any context",
        "every sequence has this context",
        "full-attention layers only",
    ),
    derivation=lambda: _derive_balance_context_with_attention(),
)

cache_uses = Formula(
    q.cache_uses,
    a * w * new / (b * c),
    source="derived",
    meaning="how often attention uses each number of a cache that it reads: against the machine's "
    "balance, as a weight's tokens are",
    conventions=("a number of the cache is as wide as a weight", "full-attention layers only"),
)

# The clock that memory sets -----------------------------------------------------------------------

drain_time = Formula(
    q.drain_time,
    C / BW,
    source="24:01",
    meaning="time to read the whole memory once",
    known_as=("time to read the whole memory",),
    conventions=(
        "an upper design target for a step, not a floor: the floor is reading the weights once",
    ),
)

mean_delay = Formula(
    q.mean_delay,
    Rational(3, 2) * T,
    source="22:30",
    meaning="mean wait for the next departure plus the ride of one interval",
    conventions=(
        "to the first token: later ones come an interval apart",
        "arrivals at any moment alike: the wait averages half an interval",
        "a free seat in the next train",
    ),
)

worst_delay = Formula(
    q.worst_delay,
    2 * T,
    source="22:30",
    meaning="just missed one departure, then the ride of one interval",
    conventions=(
        "to the first token: later ones come an interval apart",
        "a free seat in the next train: not so when every seat is held by an answer that goes on",
    ),
)

scheduled_throughput = Formula(
    q.throughput,
    new * B / T,
    name="scheduled_throughput",
    source="26:58",
    meaning="tokens a second of a full batch that leaves every interval",
)

scheduled_tokens = Formula(
    q.tokens_made,
    new * B * q.rented_time.symbol / T,
    name="scheduled_tokens",
    source="derived",
    meaning="tokens of full batches that leave every interval, while the machine is rented",
    conventions=("every seat is taken all the time",),
)

rent = Formula(
    q.rent,
    n * q.device_price.symbol * q.rented_time.symbol,
    source="derived",
    meaning="what all chips of a machine cost for a time, whether they are used or not",
    known_as=("cluster rental", "fleet cost"),
)

scheduled_cost = Formula(
    q.cost_per_token,
    n * q.device_price.symbol * T / (new * B),
    name="scheduled_cost",
    source="derived",
    meaning="rent of all chips for one interval, shared by the tokens of one departure",
    conventions=("rent only: no margin", "the batch counts the seats that are taken"),
)

share_of_service = Formula(
    q.share_of_service,
    q.throughput.symbol / q.service_throughput.symbol,
    source="27:37",
    meaning="share of a whole service that one such system carries",
)


# Derivations --------------------------------------------------------------------------------------


def _derive_balance() -> Derivation:
    d = Derivation("The balance batch, from weights time = compute time")
    d.equate(
        full_weight_time,
        compute_time,
        "ask for the batch at which reading the weights takes as long as computing",
    )
    d.solve("batch", "the number of chips cancels: scale does not matter")
    d.substitute(
        {"total_parameters": S * N_active},
        "sparsity is total over active: the model's size cancels too",
    )
    d.substitute(
        {"peak_flops": M * c * BW / w},
        "gather what belongs to the chip into one number, its balance",
    )
    return d


def _derive_balance_with_kv() -> Derivation:
    d = Derivation("The balance batch when the caches are read too")
    memory = Formula(
        q.memory_time,
        q.weight_time.symbol + q.kv_time.symbol,
        using=(full_weight_time, kv_time),
        register=False,
        name="memory",
        meaning="weights and caches",
        source="19:57",
    )
    d.equate(memory, compute_time, "reading weights and caches takes as long as computing")
    d.substitute(full_weight_time, "all weights, once")
    d.substitute(kv_time, "each sequence's cache")
    d.solve("batch", "the batch stands on both sides now")
    d.claim(
        Eq(B, w * N_total / (c * new * N_active * BW / F - _cache)),
        "divide through: a token's arithmetic, in bytes, less the cache that it reads",
    )
    return d


def _full_kv_time() -> Formula:
    """Return the formula for reading the cache where no layer has a window."""
    return Formula(
        q.kv_time,
        kv_time.expression.subs(b0, 0),
        register=False,
        name="full",
        meaning="caches of full attention",
        source="5:20",
    )


def _derive_balance_context() -> Derivation:
    d = Derivation("The context beyond which no batch is large enough, all layers read whole")
    d.equate(_full_kv_time(), compute_time, "let the caches alone take as long as the arithmetic")
    d.solve("context", "the batch cancels: a larger one brings its own caches along")
    d.claim(
        Eq(L, c * new * N_active * BW / F / b),
        "the bytes that could be read in a token's compute time",
    )
    return d


def _derive_balance_with_attention() -> Derivation:
    d = Derivation("The balance batch when attention's arithmetic counts too")
    memory = Formula(
        q.memory_time,
        q.weight_time.symbol + q.kv_time.symbol,
        using=(full_weight_time, kv_time),
        register=False,
        name="memory",
        meaning="weights and caches",
        source="19:57",
    )
    work = Formula(
        q.compute_time,
        compute_time.expression + attention_time.expression,
        register=False,
        name="work",
        meaning="the weights' arithmetic and attention's",
        source="derived",
    )
    d.equate(memory, work, "reading weights and caches takes as long as all arithmetic")
    d.substitute(full_weight_time, "all weights, once")
    d.substitute(kv_time, "each sequence's cache")
    d.solve("batch", "the batch stands on both sides")
    d.claim(
        Eq(B, w * N_total / (new * (c * N_active + a * L) * BW / F - _cache)),
        "divide through: a token's arithmetic, in bytes, less the cache that it reads",
    )
    return d


def _derive_balance_context_with_attention() -> Derivation:
    d = Derivation("The context beyond which no batch is large enough, attention counted")
    work = Formula(
        q.compute_time,
        compute_time.expression + attention_time.expression,
        register=False,
        name="work",
        meaning="the weights' arithmetic and attention's",
        source="derived",
    )
    d.equate(
        _full_kv_time(),
        work,
        "let the caches alone take as long as the arithmetic, attention's included",
    )
    d.solve(
        "context",
        "the batch cancels: a larger one brings its own caches and its own attention along",
    )
    d.claim(
        Eq(L, c * new * N_active * BW / F / (b - new * a * BW / F)),
        "both grow with the context; where attention grows faster than reading, there is no such "
        "limit",
    )
    return d


__getattr__ = old_formulas(__name__, {"machine_balance": "weight_uses_at_balance"})
