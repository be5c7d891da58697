"""Readings of price lists as costs, and reasons to doubt them (the lecture, 1:33:03 to 1:52:15).

A seller's prices are read as if they were costs: where long contexts become dearer, the cache is as
slow to read as the arithmetic is to do, which gives its bytes per token; where answers cost more
than prompts, decoding waits for memory, which gives the batch; what a cache costs to write and to
keep gives the price of a tier.  Each reading is an inversion of the cost model under assumptions
that the list does not contain: the active parameters, the chip and its precision, one margin for
everything.  ``table`` does all of it for every price list on file, beside its history and the
reasons to doubt it.

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
>>> lecture = dict(machine_balance=300, active_parameters=1e11, context=2e5)
>>> round(
...     implied_kv_bytes_rule(lecture, bytes_per_parameter=1)
... )  # the lecture's figure: a byte a multiply
1667
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from sympy import Eq, Expr, Max

from . import facts, scenario
from .latency import attention_time, compute_time, full_weight_time, kv_time
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
        q.kv_window_bytes,
        q.attention_flops_per_pair,
        q.peak_flops,
        q.memory_bandwidth,
        q.flops_per_multiply_add,
        q.tokens_per_step,
        q.machine_balance,
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
    meaning="the same from a chip's balance, which counts bytes per weight: left out, they are a "
    "factor",
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
    meaning="the same where attention's arithmetic counts too: it grows with the context as "
    "reading does",
    conventions=("full-attention layers only", *_GUESSES),
    derivation=lambda: _derive_kv_bytes_with_attention(),
)

implied_kv_bytes_with_weights = Formula(
    q.kv_bytes_per_token,
    Max(0, c * new * N_active * BW / F - w * N_total / B) / L,
    name="implied_kv_bytes_with_weights",
    source="derived",
    meaning="the same at a finite batch: a sequence's share of the weights is read as well",
    conventions=("0 below the balance batch, where memory is the limit at any context", *_GUESSES),
)

cost_growth = Formula(
    q.cost_growth,
    Max(1, L / L0),
    source="1:35:09",
    meaning="cost of a token over its cost where it begins to rise: flat, then linear",
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
)

# Why answers cost more than prompts ---------------------------------------------------------------

output_over_input = Formula(
    q.output_over_input,
    Max(1, F * (w * N_total + B * (L * b + b0)) / (c * new * B * N_active * BW)),
    source="1:47:56",
    meaning="memory over compute time in decode: what an answer's token costs more than a prompt's",
    conventions=(
        "prefill is bound by arithmetic",
        "arithmetic runs at the same rate in prefill and decode",
        "all weights read",
        *_GUESSES,
    ),
)

implied_batch = Formula(
    q.batch,
    w * N_total / Max(0, rho_out * c * new * N_active * BW / F - (L * b + b0)),
    name="implied_batch",
    source="1:47:56; derived",
    meaning="batch at which an answer's token costs so much more than a prompt's",
    conventions=(
        "infinite where reading the cache explains the whole ratio",
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
    meaning="the same with weights alone: a fraction of the balance batch",
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


# Price lists on file ------------------------------------------------------------------------------

# How long a written cache is kept, by default and at the higher price ("Cache write prices" in
# ``lecture_vs_sources``).
RETENTIONS_S = {"anthropic": (300, 3600), "moonshotai": (300, 3600), "openai": (1800, 43_200)}
# Sellers of whose caches it is published that a read renews the retention.
RENEWED_BY_READS = ("anthropic",)

ASSUMED = {"hardware": "B200 SXM", "precision": "fp8", "active_parameters": 1e11}


def implied(row: facts.Row, **choice: Any) -> dict[str, Any]:
    """Return what one price list would imply: `table`'s row for a row of the table ``prices``.

    >>> gemini = implied(facts.get("prices", "gemini-3.1-pro-preview"))
    >>> (
    ...     gemini["long_input_over_input"],
    ...     gemini["long_output_over_output"],
    ... )  # "50 % dearer": answers only
    (2.0, 1.5)
    >>> round(gemini["implied_kv_bytes_per_token"]), round(gemini["cost_over_price_at_window"], 1)
    (1778, 3.5)
    """
    known = scenario.values(**{**ASSUMED, **choice})
    ratio = _over(row, "output", "input")
    return {
        "name": row.name,
        "provider": row["provider"],
        "input_usd_per_mtok": row["input_usd_per_mtok"],
        "output_usd_per_mtok": row["output_usd_per_mtok"],
        "output_over_input": ratio,
        "implied_batch_over_balance_batch": _if(lambda r: 1 / r, r=ratio),
        **_ratios(row),
        **_long_context(row, known),
        **_caching(row, known),
        "input_markup": _if(
            input_markup,
            **_needed(input_markup, known),
            model_flops_utilisation=1,
            input_price=row["input_usd_per_mtok"] / 1e6 or None,
        ),
        "price_history": row["price_history"],
        "changed": _dates(row),
        "doubts": doubts(row),
        "source": row.source,
    }


def table(**choice: Any) -> list[dict[str, Any]]:
    """Return every price list on file with what it would imply.

    A value is None where the list says nothing.

    Keys with ``_over_`` are ratios, as are those that end in reuses, discount or markup; others
    name their unit.  `choice` replaces what is assumed, as in ``scenario.values``: 100 billion
    active parameters (the lecture's guess) on a B200 in fp8, the cache of DeepSeek-V3 where keeping
    is compared with a chip's memory, and a full peak rate in `input_markup`.

    >>> rows = table()
    >>> len(rows) == len(facts.load("prices"))
    True
    >>> spread = sorted(row["output_over_input"] for row in rows)
    >>> round(spread[0], 1), round(spread[-1], 1)  # the lecture says 3 to 5
    (2.0, 8.3)
    """
    return [implied(row, **choice) for row in facts.load("prices")]


def doubts(row: facts.Row) -> list[str]:
    """Return reasons why a price list is no measurement of a cost.

    They are from the list itself and from its neighbours.
    """
    found, rows, history = [], facts.load("prices"), row["price_history"] or ""
    same = [other for other in rows if other["provider"] == row["provider"]]
    ratio = _over(row, "output", "input")
    if (
        ratio
        and len(same) >= 3
        and all(
            math.isclose(other["output_usd_per_mtok"], ratio * other["input_usd_per_mtok"])
            for other in same
        )
    ):
        found.append(
            f"answers cost {ratio:g} times prompts in all {len(same)} lists of this seller, "
            "whatever the model's size: a rule of pricing"
        )
    rise = _over(row, "long_context_input", "input")
    if rise and rise > 1:
        found.append(
            f"prompts cost {rise:g} times as much above the threshold, though reading a cache is a "
            "cost of answers"
        )
    if "tier" in history and not row["long_context_threshold_tokens"]:
        found.append(
            f"sold with a surcharge on long contexts until {_dates(row)[-1]}, without one since: "
            "the model and its cost are the same"
        )
    elif len(set(re.findall(r"in [\d.]+ out [\d.]+", history))) > 1:
        found.append(f"the price changes while the model does not: {history}")
    peak, waiting = _over(row, "peak_output", "output"), _over(row, "batch_output", "output")
    faster = _over(row, "ultrafast_output", "output") or _over(
        row, "fast_or_priority_output", "output"
    )
    if peak:
        found.append(f"prices are off-peak; at other hours answers cost {peak:g} times as much")
    if faster:
        found.append(
            f"answers cost {faster:g} times as much served sooner: the batch is the seller's choice"
        )
    if waiting:
        found.append(
            f"answers cost {waiting:g} times as much when they may wait: idle chips, which the "
            "cost "
            "model leaves out"
        )
    base = row["model"].split("/")[-1]
    hosts = [
        other["provider"]
        for other in rows
        if other["model"].split("/")[-1] == base and other["name"] != row.name
    ]
    if hosts:
        found.append(f"the same weights are sold at another price by {', '.join(hosts)}")
    if re.search("retired|shut down|beta|introductory|removed", row["notes"] or ""):
        found.append(row["notes"])
    return found


def real_caches(kv_bytes_per_token: float) -> list[dict[str, Any]]:
    """Return published caches beside an implied one, smallest first.

    Each has bytes per token as served and in bf16.

    `over_implied` is the cache as served over `kv_bytes_per_token`, which must be above 0.

    >>> smallest, *_ = real_caches(1667)
    >>> smallest["name"], smallest["kv_bytes_per_token"], round(smallest["over_implied"], 1)
    ('DeepSeek-V4-Flash', 3104.0, 1.9)
    """
    size = q.kv_bytes_per_token.check(kv_bytes_per_token)
    if size == 0:
        raise q.QuantityError("kv_bytes_per_token must be above 0 to be compared with; got 0.")
    rows = [
        {
            "name": row.name,
            "year": row["year"],
            "attention": row["attention_kind"],
            "kv_bytes_per_token": row["kv_bytes_per_token_native"],
            "stored_as": row["kv_native_dtype"],
            "kv_bytes_per_token_bf16": _if(lambda n: 2 * n, n=row["kv_elements_per_token_growing"]),
            "over_implied": row["kv_bytes_per_token_native"] / size,
            "verified": row.verified,
        }
        for row in facts.load("models")
        if row["kv_bytes_per_token_native"]
    ]
    return sorted(rows, key=lambda row: row["kv_bytes_per_token"])


def _over(row: Mapping[str, Any], above: str, below: str) -> float | None:
    top, bottom = row[f"{above}_usd_per_mtok"], row[f"{below}_usd_per_mtok"]
    return top / bottom if top is not None and bottom else None


def _if(formula: Callable[..., float], **values: Any) -> float | None:
    """Return the formula's value, or None where one of its inputs is not known."""
    return None if any(value is None for value in values.values()) else formula(**values)


def _needed(formula: Formula, known: Mapping[str, float | None]) -> dict[str, Any]:
    return {i.name: known[i.name] for i in formula.inputs if i.name in known}


def _ratios(row: facts.Row) -> dict[str, Any]:
    return {
        "long_input_over_input": _over(row, "long_context_input", "input"),
        "long_output_over_output": _over(row, "long_context_output", "output"),
        "long_cached_over_cached": _over(row, "long_context_cached_read", "cached_input_read"),
        "batch_input_over_input": _over(row, "batch_input", "input"),
        "batch_output_over_output": _over(row, "batch_output", "output"),
        "flex_output_over_output": _over(row, "flex_output", "output"),
        "fast_input_over_input": _over(row, "fast_or_priority_input", "input"),
        "fast_output_over_output": _over(row, "fast_or_priority_output", "output"),
        "ultrafast_input_over_input": _over(row, "ultrafast_input", "input"),
        "ultrafast_output_over_output": _over(row, "ultrafast_output", "output"),
        "peak_input_over_input": _over(row, "peak_input", "input"),
        "peak_output_over_output": _over(row, "peak_output", "output"),
    }


def _long_context(row: facts.Row, known: Mapping[str, float | None]) -> dict[str, Any]:
    threshold, window = row["long_context_threshold_tokens"], row["context_window_tokens"]
    # A window that ends at the threshold never meets the surcharge.
    beyond = window if window and threshold and window > threshold else None
    return {
        "long_context_threshold_tokens": threshold,
        "context_window_tokens": window,
        "implied_kv_bytes_per_token": _if(
            lambda at: implied_kv_bytes(known, context=at), at=threshold
        ),
        "cost_growth_at_window": _if(cost_growth, context=beyond, price_threshold=threshold),
        "cost_over_price_at_window": _if(
            cost_over_price,
            context=beyond,
            price_threshold=threshold,
            surcharge=_over(row, "long_context_output", "output"),
        ),
    }


def _caching(row: facts.Row, known: Mapping[str, float | None]) -> dict[str, Any]:
    dearer = "cache_write_1h" if row["cache_write_1h_usd_per_mtok"] else "cache_write_12h"
    read, write = (
        _over(row, "cached_input_read", "input"),
        _over(row, "cache_write_5m_or_default", "input"),
    )
    long_write = _over(row, dearer, "input")
    short, long = RETENTIONS_S.get(row["provider"], (None, None)) if write else (None, None)
    renewed = short if row["provider"] in RENEWED_BY_READS else None
    listed = re.search(r"cache storage \$([\d.]+) per Mtok per hour", row["notes"] or "")
    price = row["input_usd_per_mtok"] / 1e6 or None
    dearer_by = price * (long_write - write) or None if price and write and long_write else None
    rate = (
        float(listed[1]) / 3.6e9
        if listed
        else _if(
            implied_hold_rate,
            write_price_added=dearer_by,
            retention_added=long - short if long and short else None,
        )
    )
    refreshing = _if(
        refreshed_hold_rate, input_price=price, cache_read_ratio=read, cache_retention=renewed
    )
    return {
        "cached_over_input": read,
        "cache_hit_discount": _if(lambda r: 1 / r, r=read),
        "cache_write_over_input": write,
        "long_cache_write_over_input": long_write,
        "cache_retention_s": short,
        "long_cache_retention_s": long if long_write else None,
        "break_even_reuses": _if(break_even_reuses, cache_read_ratio=read, cache_write_ratio=write),
        "long_break_even_reuses": _if(
            break_even_reuses, cache_read_ratio=read, cache_write_ratio=long_write
        ),
        "refresh_limit_s": _if(
            refresh_limit, cache_retention=renewed, cache_write_ratio=write, cache_read_ratio=read
        ),
        "hold_usd_per_mtok_hour": _if(lambda r: 3.6e9 * r, r=rate),
        "refreshed_hold_usd_per_mtok_hour": _if(lambda r: 3.6e9 * r, r=refreshing),
        "hold_over_chip_memory": _if(hold_markup, **_needed(hold_markup, known), hold_rate=rate),
    }


def _dates(row: facts.Row) -> list[str]:
    return re.findall(r"\d{4}-\d\d-\d\d", row["price_history"] or "")


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
        "take the context where prices rise for one where both take as long",
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
        Eq(B, w * N_total / (rho_out * c * new * N_active * BW / F - (L * b + b0))),
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
