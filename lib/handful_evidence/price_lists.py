"""Price lists on file, each with what it would imply and the reasons to doubt it.

The readings are the formulas of ``handful.prices``.  None of them is a measurement: a list does not
say how many parameters are active, which chip serves them, or with what margin.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from handful import facts, scenario
from handful.prices import (
    break_even_reuses,
    cost_growth,
    cost_over_price,
    hold_markup,
    implied_hold_rate,
    implied_kv_bytes,
    input_markup,
    refresh_limit,
    refreshed_hold_rate,
)
from handful.symbolic import quantities as q
from handful.symbolic.formula import Formula

# How long a written cache is kept, by default and at the higher price ("Cache write prices" in
# ``lecture_vs_sources``).
RETENTIONS_S = {"anthropic": (300, 3600), "moonshotai": (300, 3600), "openai": (1800, 43_200)}
# Sellers of whose caches it is published that a read renews the retention.
RENEWED_BY_READS = ("anthropic",)

ASSUMED = {"hardware": "B200 SXM", "precision": "fp8", "active_parameters": 1e11}


def interpret(row: facts.Row, **choice: Any) -> dict[str, Any]:
    """Return what one price list, a row of the table ``prices``, would imply.

    >>> gemini = interpret(facts.get("prices", "gemini-3.1-pro-preview"))
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
        "doubts": objections(row),
        "source": row.source,
    }


def interpret_all(**choice: Any) -> list[dict[str, Any]]:
    """Return every price list on file with what it would imply.

    A value is None where the list says nothing.

    Keys with ``_over_`` are ratios, as are those that end in reuses, discount or markup; others
    name their unit.  `choice` replaces what is assumed, as in ``scenario.values``: 100 billion
    active parameters (the lecture's guess) on a B200 in fp8, the cache of DeepSeek-V3 where keeping
    is compared with a chip's memory, and a full peak rate in `input_markup`.

    >>> rows = interpret_all()
    >>> len(rows) == len(facts.load("prices"))
    True
    >>> spread = sorted(row["output_over_input"] for row in rows)
    >>> round(spread[0], 1), round(spread[-1], 1)  # the lecture says 3 to 5
    (2.0, 8.3)
    """
    return [interpret(row, **choice) for row in facts.load("prices")]


def objections(row: facts.Row) -> list[str]:
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


def published_caches(kv_bytes_per_token: float) -> list[dict[str, Any]]:
    """Return published caches beside an implied one, smallest first.

    Each has bytes per token as served and in bf16.

    `over_implied` is the cache as served over `kv_bytes_per_token`, which must be above 0.

    >>> smallest, *_ = published_caches(1667)
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
