"""Callers' bills by price lists: surcharges in steps, and what a cache saves over its uses.

The unit of a bill is the list price of computing a prompt once, so that one curve serves every
seller.

>>> claude = dict(cache_read_ratio=0.1, cache_write_ratio=1.25)  # a write for five minutes
>>> [round(bill_cached(claude, reuses=m) / bill_computed(reuses=m), 2) for m in (0, 1, 9)]
[1.25, 0.68, 0.21]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sympy import Max, Min, Rational, ceiling, floor, log

from . import facts
from .symbolic import quantities as q
from .symbolic.formula import Formula

(L, L0, rho_L, r_read, r_write, added, T_keep, T, m) = (
    quantity.symbol
    for quantity in (
        q.context,
        q.price_threshold,
        q.surcharge,
        q.cache_read_ratio,
        q.cache_write_ratio,
        q.write_ratio_added,
        q.cache_retention,
        q.hold_time,
        q.reuses,
    )
)

# Long contexts ------------------------------------------------------------------------------------

listed_growth = Formula(
    q.price_ratio,
    1 + (rho_L - 1) * Min(1, floor(L / L0)),
    name="listed_growth",
    source="1:35:30",
    meaning="what a list charges for a token, over what it charges below its threshold",
    conventions=(
        "two steps: the surcharge holds for every token of a prompt that reaches the threshold",
    ),
)

listed_answer_price = Formula(
    q.price_ratio,
    q.output_over_input.symbol * listed_growth.expression,
    name="listed_answer_price",
    source="1:41:39; 1:35:30",
    meaning="what a list charges for a token of an answer, over what it charges for one of a short "
    "prompt",
    conventions=("two steps, as in listed_growth",),
)

_reach = Max(
    L / L0, 1 + Rational(1, 10**6)
)  # a context at the threshold would be nothing over nothing
mean_cost_growth = Formula(
    q.cost_growth,
    (_reach - 1) / log(_reach),
    name="mean_cost_growth",
    source="derived",
    meaning="growth of a token's cost, on average over long contexts from the threshold to this "
    "one",
    conventions=(
        "as many between 200 and 400 thousand tokens as between 400 and 800: evenly in the "
        "logarithm",
        "1 at the threshold and below",
    ),
)

# Caches -------------------------------------------------------------------------------------------

bill_computed = Formula(
    q.bill,
    1 + m,
    name="bill_computed",
    source="definition",
    meaning="a prompt computed for its first use and again for every other",
)

bill_cached = Formula(
    q.bill,
    r_write + m * r_read,
    name="bill_cached",
    source="1:48:58; derived",
    meaning="a prompt computed and kept once, and read for every other use",
    conventions=("every read falls within the retention",),
)

bill_of_reading = Formula(
    q.bill,
    added + r_read * ceiling(T / T_keep),
    name="bill_of_reading",
    source="derived",
    meaning="reading a cache once in every retention, so that it is there when it is wanted",
    conventions=("a read renews the retention", "the last read is the one that was wanted"),
)

bill_of_lapsing = Formula(
    q.bill,
    r_write,
    name="bill_of_lapsing",
    source="derived",
    meaning="letting it go, and writing it again when it is wanted",
)


# Tables for a page --------------------------------------------------------------------------------

SELLERS = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "google": "Google",
    "x-ai": "xAI",
    "minimax": "MiniMax",
    "deepseek": "DeepSeek",
    "moonshotai": "Moonshot",
    "zai": "Z.ai",
    "mistral": "Mistral",
    "cursor": "Cursor",
    "cerebras": "Cerebras",
    "baseten": "Baseten",
}


def seller(row: Mapping[str, Any]) -> str:
    """Return the name of a price list's seller as it writes it."""
    provider: str = row["provider"]
    return SELLERS.get(provider, provider)


# Prefill and decode of one model by one team, published together: rows of ``measured_serving``.
_PAIRS = (
    ("deepseek_prefill", "deepseek_decode"),
    ("deepseek_profile_prefill", "deepseek_profile_decode"),
    ("sglang_h100_prefill_2k", "sglang_h100_decode_2k"),
    ("sglang_h100_prefill_4k", "sglang_h100_decode_4k"),
    ("sglang_gb200_p2_prefill_fp8", "sglang_gb200_p2_fp8"),
    ("sglang_gb200_p2_prefill_fp4", "sglang_gb200_p2_fp4"),
    ("vllm_gb200_prefill", "vllm_gb200_decode"),
)


def measured_ratios() -> list[dict[str, Any]]:
    """Return the cost of an answer's token over that of a prompt's, in chips.

    There is one for each pair of which both rates are published.

    Returns a dict a pair: name, date, system, prefill and decode (tokens per second and chip,
    prompts computed and not read from a cache), ratio, and source.

    >>> ratios = [pair["ratio"] for pair in measured_ratios()]
    >>> round(min(ratios), 1), round(max(ratios), 1)  # the same team's price list says 4
    (2.0, 3.4)
    """
    found = []
    for pair in _PAIRS:
        prompt, answer = (facts.get("measured_serving", name) for name in pair)
        computed = prompt["tokens_per_s_per_chip"]
        if "cache hits" in prompt["unit"]:
            computed *= 1 - facts.get("scaling_laws", "deepseek_disk_hits")["value"]
        decoded = answer["tokens_per_s_per_chip"]
        found.append(
            {
                "name": pair[0],
                "date": prompt["date"],
                "system": prompt["system"],
                "prefill": computed,
                "decode": decoded,
                "ratio": computed / decoded,
                "source": prompt.source,
            }
        )
    return found


_SPELT = {"gpt": "GPT", "glm": "GLM", "minimax": "MiniMax", "deepseek": "DeepSeek"}


def spoken(name: str) -> str:
    """Return a list's name as people write it: 'gemini-3.1-pro-preview' is 'Gemini 3.1 Pro'.

    >>> spoken("claude-sonnet-4-5")
    'Claude Sonnet 4.5'
    """
    parts = re.sub(r"(\d)-(\d)\b", r"\1.\2", name).split("-")
    words = [word for word in parts if word not in ("preview", "latest")]
    return " ".join(_SPELT.get(word, word.capitalize()) for word in words)
