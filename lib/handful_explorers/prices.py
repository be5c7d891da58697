"""Explorers of the chapter on reading API prices.

They invert a price list and show how far the inversion carries.
"""

from __future__ import annotations

import math

from ipywidgets import Dropdown, FloatLogSlider

from handful import balance, facts, price_surcharges, prices, scenario
from handful.units import format_value
from handful_evidence import price_lists

from .plotting.explorer import (
    Control,
    Curve,
    Explorer,
    Guess,
    Points,
    Preset,
    Scale,
    Sweep,
)

# A list for each rule of surcharges that is sold; a row of the table each, told apart by seller.
_LISTS = (
    "gemini-3.1-pro-preview",
    "gemini-1.5-pro",
    "gpt-6-sol",
    "claude-sonnet-4-5",
    "claude-haiku-5-5",
    "grok-4.7",
    "minimax-m3",
)


def _lists() -> dict[str, tuple[str, dict]]:
    """Return key → (label, what ``price_lists.interpret`` says of that list)."""
    rows = {name: facts.get("prices", name) for name in _LISTS}
    return {
        name: (
            f"{price_surcharges.seller(row)}: {price_surcharges.spoken(name)}",
            price_lists.interpret(row),
        )
        for name, row in rows.items()
    }


def _thresholds() -> Control:
    """Return a control that picks a price list, and so the context above which it is dearer."""
    rows = {
        name: {"context": found["long_context_threshold_tokens"]}
        for name, (_, found) in _lists().items()
    }
    labels = [
        (f"{label}, above {format_value(rows[name]['context'], 'token')}", name)
        for name, (label, _) in _lists().items()
    ]
    return Control(Dropdown(options=labels, value=_LISTS[0]), "price_list", "Price list", rows=rows)


def _caches() -> list[tuple[float, float, str]]:
    """Return active parameters and cache, at a byte a number, of published models.

    They are chosen so that they do not crowd each other.
    """
    wanted = (
        "DeepSeek-V4-Pro",
        "gpt-oss-120b",
        "DeepSeek-V3",
        "Llama 3.1 70B",
        "Llama 3.1 405B",
    )
    rows = [facts.get("models", name) for name in wanted]
    return [
        (
            row["active_params_reported"],
            row["kv_elements_per_token_growing"],
            row.name,
        )
        for row in rows
    ]


_RACK = {"hardware": "GB200 NVL72", "precision": "fp8"}

price_to_cache = Explorer(
    "price-to-cache",
    "From a price list to a cache",
    x=Sweep("active_parameters", 1e9, 1e12, at=37e9, title="Weights that a token uses"),
    y=Scale("Cache", "B/token", min=10, max=1e6),
    curves=[
        Curve(
            prices.implied_kv_bytes,
            "Cache at the kink",
            role="total",
            given={"new_tokens_per_sequence": 1},
            scenario=_RACK,
            id="implied",
        ),
    ],
    points=[
        Points("published, a byte a number", _caches()),
        Points("the lecture", [(1e11, 1667, "the lecture")]),
    ],
    controls=[
        _thresholds(),
    ],
    presets=[
        Preset("The lecture's inference", {"active_parameters": 1e11}),
        Preset("A list at 512,000", {"price_list": "minimax-m3", "active_parameters": 1e11}),
    ],
    guess=Guess(
        "DeepSeek-V3 uses 37 billion weights for a token. If its price turned at 200,000 tokens, "
        "where reading its cache begins to take longer than computing, how many bytes of cache "
        "would it have for each token, on a GB200 in fp8?",
        level="implied",
    ),
    caption="A model lies on the line if its price turns just where reading the cache overtakes "
    "the arithmetic of the weights. The line is about bytes read; the dots are bytes kept, one for "
    "each number of the cache. Those of DeepSeek-V4-Pro are unverified. Prices were read on "
    f"{facts.get('prices', _LISTS[0])['read_on']}.",
)

# The seller's model as far as it is guessed, with weights enough for the sparsity of DeepSeek-V3.
_ACTIVE = 1e11
_GUESSED = {
    "active_parameters": _ACTIVE,
    "total_parameters": _ACTIVE * balance.sparsity(scenario.values(model="DeepSeek-V3")),
    "window_cache_memory": 0,
    "window_tokens": 1,
    "new_tokens_per_sequence": 1,
}
_LIST = facts.get("prices", _LISTS[0])
_ASKED = price_lists.interpret(_LIST)
_LISTED = {
    "price_threshold": _ASKED["long_context_threshold_tokens"],
    "surcharge": _ASKED["long_output_over_output"],
    "output_over_input": _ASKED["output_over_input"],
}

fit_the_list = Explorer(
    "fit-the-list",
    "One list, and a machine to explain it",
    x=Sweep("context", 0, 6e5, log=False, at=2e5),
    y=Scale("Times a token of a short prompt", "times", log=False, min=0, max=12),
    curves=[
        Curve(
            prices.output_over_input,
            "Cost of an answer\u2019s token",
            role="total",
            given=_GUESSED,
            scenario=_RACK,
            id="cost",
        ),
        Curve(price_surcharges.listed_answer_price, "Price on the list", given=_LISTED, id="price"),
    ],
    controls=[
        Control(
            FloatLogSlider(value=100_000, min=math.log10(500), max=5, step=0.01),
            "batch",
            "People",
            unit="1",
        ),
        Control(
            FloatLogSlider(value=1600, min=math.log10(200), max=4, step=0.01),
            "kv_bytes_per_token",
            "Cache of a token",
        ),
    ],
    presets=[
        Preset("The step\u2019s machine", {"batch": 100_000, "kv_bytes_per_token": 1600}),
        Preset("The ratio\u2019s machine", {"batch": 930, "kv_bytes_per_token": 1600}),
    ],
    caption="The model has 100 billion active weights, is as sparse as DeepSeek-V3 and runs in"
    " fp8 on GB200 chips. Its cost is the longer of fetching and computing. Attention\u2019s own"
    " arithmetic is left aside, and so is whether so many people fit.",
)
