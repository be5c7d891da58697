"""Readings of price lists as costs, and reasons to doubt them (the lecture, 1:33:03 to 1:52:15).

A seller's prices are read as if they were costs: where long contexts become dearer, the cache is as
slow to read as the arithmetic is to do, which gives its bytes per token; where answers cost more
than prompts, decoding waits for memory, which gives the batch; what a cache costs to write and to
keep gives the price of a tier.  Each reading is an inversion of the cost model under assumptions
that the list does not contain: the active parameters, the chip and its precision, one margin for
everything.  ``handful_evidence.price_lists`` does all of it for every price list on file, beside
its history and the reasons to doubt it.

>>> b200 = {"fp4": 9e15, "fp8": 4.5e15, "bf16": 2.25e15}
>>> [
...     round(
...         implied_kv_bytes(
...             peak_flops=peak, memory_bandwidth=8e12, active_parameters=1e11, context=2e5
...         )
...     )
...     for peak in b200.values()
... ]  # at a threshold of 200,000 tokens
[889, 1778, 3556]
>>> lecture = dict(weight_uses_at_balance=300, active_parameters=1e11, context=2e5)
>>> round(
...     implied_kv_bytes_rule(lecture, bytes_per_parameter=1)
... )  # the lecture's figure: a byte a multiply
1667
"""

from __future__ import annotations

from sympy import Eq, Expr, Max

from .latency import attention_time, cache_memory, compute_time, full_weight_time, kv_time
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula
from .tiers import rematerialise_cost

(p, n, B, N_total, N_active, w, L, b, b0, a, F, BW, c, new, M, C, MFU) = (
    quantity.symbol
    for quantity in (
        q.device_price,
        q.devices,
        q.batch,
        q.total_parameters,
        q.active_parameters,
        q.bytes_per_parameter,
        q.context,
        q.kv_bytes_per_token,
        q.window_cache_memory,
        q.attention_flops_per_pair,
        q.peak_flops,
        q.memory_bandwidth,
        q.flops_per_multiply_add,
        q.new_tokens_per_sequence,
        q.weight_uses_at_balance,
        q.memory_capacity,
        q.model_flops_utilisation,
    )
)
(price_in, rho_out, L0, rho_L, r_read, r_write, T_keep, m) = (
    quantity.symbol
    for quantity in (
        q.input_price,
        q.output_over_input,
        q.price_threshold,
        q.surcharge,
        q.cache_read_ratio,
        q.cache_write_ratio,
        q.cache_retention,
        q.reuses,
    )
)

_cache = cache_memory.expression
_ONE_MARGIN = "one margin for all that is sold; demand, rivals and round numbers left out"
_GUESSES = (
    "active parameters, chip and precision are assumptions: no price list has them",
    _ONE_MARGIN,
)

# Where long contexts become dearer ----------------------------------------------------------------

implied_kv_bytes = Formula(
    q.kv_bytes_per_token,
    c * new * N_active * BW / (F * L),
    name="implied_kv_bytes",
    source="1:36:29",
    meaning="bytes of cache per token, if reading the cache takes as long as the arithmetic at "
    "this context",
    known_as=("cache size behind an API price",),
    conventions=(
        "FLOP counts a multiply-add as two; the peak is that of the arithmetic's precision",
        "weights and attention's own arithmetic left out",
        *_GUESSES,
    ),
    derivation=lambda: _derive_kv_bytes(),
)

implied_kv_bytes_rule = Formula(
    q.kv_bytes_per_token,
    w * new * N_active / (M * L),
    name="implied_kv_bytes_rule",
    source="1:37:36; contested",
    meaning="bytes of cache per token behind a price, from a chip's balance, which counts bytes "
    "per weight: left out, they are a factor",
    conventions=(
        "balance is multiplies × bytes per weight ÷ bandwidth",
        "about 300 only where weights are as wide as the arithmetic",
        "a bare 1/300 takes one byte per weight",
        *_GUESSES,
    ),
    derivation=lambda: _derive_kv_bytes_rule(),
)

implied_kv_bytes_with_attention = Formula(
    q.kv_bytes_per_token,
    new * (c * N_active / L + a) * BW / F,
    name="implied_kv_bytes_with_attention",
    source="derived; contested at 1:52:15",
    meaning="bytes of cache per token behind a price where attention's arithmetic counts too: "
    "it grows with the context as reading does",
    conventions=("full-attention layers only", *_GUESSES),
    derivation=lambda: _derive_kv_bytes_with_attention(),
)

implied_kv_bytes_with_weights = Formula(
    q.kv_bytes_per_token,
    Max(0, c * new * N_active * BW / F - w * N_total / B) / L,
    name="implied_kv_bytes_with_weights",
    source="derived",
    meaning="bytes of cache per token behind a price at a finite batch: a sequence's share of "
    "the weights is read as well",
    conventions=("0 below the balance batch, where memory is the limit at any context", *_GUESSES),
)

cost_growth = Formula(
    q.cost_growth,
    Max(1, L / L0),
    source="1:35:09",
    meaning="cost of a token over its cost where it begins to rise: flat, then linear",
    known_as=("cost of long context",),
    conventions=(
        "the threshold of the price is taken for that of the cost",
        "large batch: weights left out",
    ),
    derivation=lambda: _derive_cost_growth(),
)

cost_over_price = Formula(
    q.cost_over_price,
    q.cost_growth.symbol / rho_L,
    using=(cost_growth,),
    source="1:35:18; derived",
    meaning="how far a price in two steps falls behind a cost that rises linearly",
    conventions=(
        "above 1 the seller would earn less on the longest contexts than at the threshold",
        *_GUESSES,
    ),
)

surcharge_context = Formula(
    q.context,
    rho_L * L0,
    name="surcharge_context",
    source="derived",
    meaning="context at which the linear cost has risen by as much as the price",
    known_as=(
        "long-context surcharge",
        "price above 200k tokens",
    ),
)

# Why answers cost more than prompts ---------------------------------------------------------------

output_over_input = Formula(
    q.output_over_input,
    Max(1, F * (w * N_total + B * _cache) / (c * new * B * N_active * BW)),
    source="1:47:56",
    meaning="memory over compute time in decode: what an answer's token costs more than a prompt's",
    conventions=(
        "prefill is bound by arithmetic",
        "arithmetic runs at the same rate in prefill and decode",
        "all weights read",
        *_GUESSES,
    ),
)

fetching_over_computing = Formula(
    q.output_over_input,
    F * (w * N_total + B * _cache) / (c * new * B * N_active * BW),
    name="fetching_over_computing",
    source="1:47:56",
    meaning="memory over compute time in decode, also where it is below one",
    conventions=("all weights read", *_GUESSES),
)

implied_batch = Formula(
    q.batch,
    w * N_total / Max(0, rho_out * c * new * N_active * BW / F - _cache),
    name="implied_batch",
    source="1:47:56; derived",
    meaning="batch at which an answer's token costs so much more than a prompt's",
    conventions=(
        "infinite where reading the cache alone takes longer than the ratio says: no batch has it",
        "speculated tokens, spare chips and margins left out",
        *_GUESSES,
    ),
    derivation=lambda: _derive_batch(),
)

implied_batch_of_weights = Formula(
    q.batch,
    q.balance_batch.symbol / rho_out,
    name="implied_batch_of_weights",
    source="1:47:56; derived",
    meaning="batch behind a ratio of prices if only weights were read: a fraction of the "
    "balance batch",
    conventions=("caches left out", *_GUESSES),
)

# What caches cost ---------------------------------------------------------------------------------

break_even_reuses = Formula(
    q.reuses,
    Max(0, r_write - 1) / (1 - r_read),
    name="break_even_reuses",
    source="derived",
    meaning="reads after which writing a cache has paid: below one where the first read pays for "
    "it",
    known_as=(
        "is prompt caching worth it",
        "cache write price",
    ),
    conventions=(
        "every read falls within the retention",
        "what is not cached is computed at the input price",
    ),
    derivation=lambda: _derive_reuses(),
)

refresh_limit = Formula(
    q.hold_time,
    T_keep * r_write / r_read,
    name="refresh_limit",
    source="derived",
    meaning="pause up to which reading a cache now and then, to keep it, is cheaper than writing "
    "it again",
    conventions=("a read renews the retention", "one read in every retention"),
)

refreshed_hold_rate = Formula(
    q.hold_rate,
    price_in * r_read / T_keep,
    name="refreshed_hold_rate",
    source="derived",
    meaning="what keeping costs a buyer who reads a cache once in every retention",
    conventions=("a read renews the retention",),
)

implied_hold_rate = Formula(
    q.hold_rate,
    q.write_price_added.symbol / q.retention_added.symbol,
    name="implied_hold_rate",
    source="1:59:59; derived",
    meaning="what keeping costs by two prices of writing: the dearer one keeps longer",
    conventions=(
        "both are kept for their whole retention, and no read renews it",
        "the same cost of writing in both",
        _ONE_MARGIN,
    ),
)

implied_byte_hold_price = Formula(
    q.byte_hold_price,
    q.hold_rate.symbol / b,
    name="implied_byte_hold_price",
    source="derived",
    meaning="price of keeping a byte, from that of keeping a token",
    conventions=("the cache's bytes per token are an assumption",),
)

implied_hit_bandwidth = Formula(
    q.tier_bandwidth,
    b * q.waiting_price.symbol / (price_in * r_read),
    name="implied_hit_bandwidth",
    source="1:48:58; derived",
    meaning="slowest device from which a cached token could be read for its price, all that waits "
    "paid for",
    known_as=("cached input price",),
    conventions=(
        "an outer bound: the price of a hit also pays for keeping, and a margin",
        *_GUESSES,
    ),
)

input_markup = Formula(
    q.markup,
    price_in / q.rematerialise_cost.symbol,
    using=(rematerialise_cost,),
    name="input_markup",
    source="derived",
    meaning="price of a prompt's token over the rent of a chip for its arithmetic",
    conventions=_GUESSES,
)

hold_markup = Formula(
    q.markup,
    q.hold_rate.symbol * C / (b * p),
    name="hold_markup",
    source="derived",
    meaning="price of keeping a token over a chip's rent for the same bytes of its memory",
    conventions=("the cache's bytes per token are an assumption",),
)

implied_active_parameters = Formula(
    q.active_parameters,
    price_in * MFU * F / (c * p),
    name="implied_active_parameters",
    source="derived",
    meaning="active parameters that the price of a prompt would pay for: an upper bound",
    conventions=("no margin, prefill at this utilisation",),
)


# Derivations --------------------------------------------------------------------------------------


def _side(gives: q.Quantity, expression: Expr, source: str) -> Formula:
    return Formula(
        gives, expression, register=False, name="side", source=source, meaning="side of a balance"
    )


def _full_kv_time() -> Formula:
    """Return the formula for reading the cache where no layer has a window."""
    return _side(q.kv_time, kv_time.expression.subs(b0, 0), "5:20")


def _derive_kv_bytes() -> Derivation:
    d = Derivation("The cache that a surcharge on long contexts would imply")
    d.equate(
        _full_kv_time(),
        compute_time,
        "assume that prices rise where both times are equal",
    )
    d.solve("kv_bytes_per_token", "batch and chips cancel")
    return d


def _derive_kv_bytes_rule() -> Derivation:
    d = _derive_kv_bytes()
    d.title = "The same from a chip's balance, and the byte per weight that is easily lost"
    d.substitute({"peak_flops": M * c * BW / w}, "balance counts multiplies, and bytes per weight")
    return d


def _derive_kv_bytes_with_attention() -> Derivation:
    d = Derivation("The implied cache when attention's arithmetic counts")
    both = _side(q.compute_time, compute_time.expression + attention_time.expression, "3:20")
    d.equate(_full_kv_time(), both, "reading the cache takes as long as all arithmetic")
    d.solve("kv_bytes_per_token", "batch and chips cancel")
    d.claim(
        Eq(b, new * (c * N_active / L + a) * BW / F), "attention adds the same bytes at any context"
    )
    return d


def _derive_cost_growth() -> Derivation:
    d = Derivation("Beyond the threshold the cost is linear")
    d.start(Eq(q.kv_cost.symbol, L * b * p / (new * BW)), "a token costs the reading of its cache")
    d.substitute(
        {"kv_bytes_per_token": implied_kv_bytes.expression.subs(L, L0)},
        "at the threshold that was as much as its arithmetic",
    )
    d.substitute(
        {"active_parameters": q.compute_cost.symbol * F / (c * p)},
        "what arithmetic costs, which does not change",
    )
    return d


def _derive_batch() -> Derivation:
    d = Derivation("The batch behind a ratio of prices")
    d.equate(
        _side(q.memory_time, full_weight_time.expression + kv_time.expression, "5:20"),
        _side(q.memory_time, rho_out * compute_time.expression, "1:47:56"),
        "reading takes as many times longer than arithmetic as answers cost more than prompts",
    )
    d.solve("batch", "the chips cancel")
    d.claim(
        Eq(B, w * N_total / (rho_out * c * new * N_active * BW / F - _cache)),
        "a ratio of 1 gives the balance batch back",
    )
    return d


def _derive_reuses() -> Derivation:
    d = Derivation("How often a cache must be read to pay for its writing")
    d.start(
        Eq(r_write + m * r_read, 1 + m),
        "write once and read m times, or compute every time; in input prices",
    )
    d.solve("reuses", "bring the uses to one side")
    d.claim(
        Eq(m, (r_write - 1) / (1 - r_read)), "the extra cost of writing, over the saving of a read"
    )
    return d
