"""Explorers of the chapter on reading API prices.

They invert a price list and show how far the inversion carries.
"""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider

from handful import balance, facts, latency, prefill_decode, price_surcharges, prices
from handful.units import format_value
from handful_evidence import price_lists

from .plotting.explorer import (
    Control,
    Curve,
    Explorer,
    Guess,
    Mark,
    Points,
    Preset,
    Readout,
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


def _surcharges(start: str) -> Control:
    """Return a control that picks a price list and what it raises ("answers" or "prompts" first).

    It sets the threshold and the surcharge.
    """
    labels, rows = [], {}
    for name, (label, found) in _lists().items():
        for what, ratio in (
            ("answers", found["long_output_over_output"]),
            ("prompts", found["long_input_over_input"]),
        ):
            rows[f"{name}/{what}"] = {
                "price_threshold": found["long_context_threshold_tokens"],
                "surcharge": ratio,
            }
            labels.append((f"{label}, {what} × {ratio:g}", f"{name}/{what}"))
    return Control(
        Dropdown(options=labels, value=f"{_LISTS[0]}/{start}"),
        "price_list",
        "Price list",
        rows=rows,
    )


def _caches() -> list[tuple[float, float, str]]:
    """Return active parameters and cache, at a byte a number, of published models.

    They are chosen so that they do not crowd each other.
    """
    wanted = (
        "DeepSeek-V4-Flash",
        "DeepSeek-V4-Pro",
        "Gemma 4 26B-A4B",
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
            row.name if row.verified else f"{row.name.removeprefix('DeepSeek-')} (unverified)",
        )
        for row in rows
    ]


price_to_cache = Explorer(
    "price-to-cache",
    "From a price list to a cache",
    x=Sweep("active_parameters", 1e9, 1e12, at=1e11),
    y=Scale("Cache", "B/token", min=10, max=1e6),
    curves=[
        Curve(prices.implied_kv_bytes, "Chosen chip and precision", role="total", id="implied"),
        Curve(
            prices.implied_kv_bytes,
            "B200 in bf16",
            scenario={"hardware": "B200 SXM", "precision": "bf16"},
        ),
        Curve(
            prices.implied_kv_bytes,
            "B200 in fp4",
            scenario={"hardware": "B200 SXM", "precision": "fp4"},
        ),
    ],
    points=[Points("published, a byte a number", _caches())],
    controls=[
        _thresholds(),
        # Its own, and not the page's: the text beside it speaks of this chip.
        Control(
            Dropdown(
                options=["H100 SXM", "H200 SXM", "B200 SXM", "GB200 NVL72", "TPU v5e"],
                value="B200 SXM",
            ),
            "hardware",
            "Chip",
        ),
        Control(Dropdown(options=["bf16", "fp8", "fp4"], value="fp8"), "precision", "Precision"),
    ],
    readouts=[
        Readout(prices.implied_kv_bytes_with_attention, "With your model's attention counted")
    ],
    presets=[
        Preset(
            "The lecture's inference",
            {
                "price_list": "gemini-3.1-pro-preview",
                "active_parameters": 1e11,
                "hardware": "B200 SXM",
                "precision": "fp8",
            },
            "a hundred billion active, 200 thousand tokens: almost 2 kB",
            "1:38:22",
        ),
        Preset(
            "The same in fp4",
            {
                "price_list": "gemini-3.1-pro-preview",
                "active_parameters": 1e11,
                "hardware": "B200 SXM",
                "precision": "fp4",
            },
            "",
            "",
        ),
        Preset(
            "A list at 100,000",
            {"price_list": "claude-haiku-5-5", "active_parameters": 1e10},
            "",
            "",
        ),
        Preset(
            "A list at 512,000", {"price_list": "minimax-m3", "active_parameters": 1e11}, "", ""
        ),
    ],
    guess=Guess(
        "A model of 100 billion active parameters gets dearer above 200,000 tokens. If that is "
        "where reading its cache begins to take longer than computing, how many bytes does each "
        "token leave in the cache of a B200 in fp8?",
        level="implied",
    ),
    caption="If a price turned where reading the cache overtakes the arithmetic, a model would "
    "lie on the line. "
    "Published models lie far above it, even at one byte a number. Prices were read on "
    f"{facts.get('prices', _LISTS[0])['read_on']}.",
)

price_and_cost = Explorer(
    "price-and-cost",
    "A price in two steps, a cost that keeps rising",
    x=Sweep("context", 1e4, 1.05e6, at=1e6),
    y=Scale("Times the short-context level", min=0.7, max=12),
    curves=[
        Curve(prices.cost_growth, "Cost in the model", role="total", id="cost"),
        Curve(price_surcharges.listed_growth, "List price", id="price"),
    ],
    marks=[Mark(prices.surcharge_context, "cost catches the price", whole="near")],
    controls=[_surcharges("answers")],
    readouts=[
        Readout(prices.cost_over_price, "Cost over price here"),
        Readout(price_surcharges.mean_cost_growth, "Cost on average, from the threshold to here"),
    ],
    presets=[
        Preset(
            "The lecture's example",
            {"price_list": "gemini-3.1-pro-preview/answers", "context": 1e6},
            "two tiers, so that any context is profitable",
            "1:35:18",
        ),
        Preset(
            "The same list's prompts",
            {"price_list": "gemini-3.1-pro-preview/prompts", "context": 1e6},
            "Patel: 50 % more above 200 thousand tokens",
            "1:33:03",
        ),
        Preset("A list that fits", {"price_list": "minimax-m3/answers", "context": 1e6}, "", ""),
        Preset(
            "Five-fold at 100,000",
            {"price_list": "claude-haiku-5-5/answers", "context": 1e6},
            "",
            "",
        ),
    ],
    caption="Between the threshold and the mark a caller pays more than the model's cost has "
    "risen, beyond it less.",
)

# The lecture's model as far as it is told: a hundred billion active, of a usual shape for that
# size.
_DENSE_100B = {
    "active_parameters": 1e11,
    "attention_flops_per_pair": 4 * 80 * 8192,
    "prefill_attention_flops_per_pair": 4 * 80 * 8192,
}

prompt_growth = Explorer(
    "prompt-growth",
    "Why a long prompt's token could cost more",
    x=Sweep("context", 1e3, 1.05e6, at=2e5),
    y=Scale("Times a short prompt's token", min=0.8, max=60),
    curves=[
        Curve(prefill_decode.prompt_growth, "Llama 3.1 70B", scenario={"model": "Llama 3.1 70B"}),
        Curve(
            prefill_decode.prompt_growth,
            "100 billion, dense",
            role="total",
            given=_DENSE_100B,
            id="dense",
        ),
        Curve(prefill_decode.prompt_growth, "DeepSeek-V3", scenario={"model": "DeepSeek-V3"}),
        Curve(
            price_surcharges.listed_growth, "Listed price of a prompt", role="reference", id="price"
        ),
    ],
    controls=[_surcharges("prompts")],
    marks=[
        Mark(
            latency.attention_context,
            "last token: attention = weights",
            given=_DENSE_100B,
            whole="near",
        )
    ],
    presets=[
        Preset(
            "Gemini's prompts",
            {"price_list": "gemini-3.1-pro-preview/prompts", "context": 2e5},
            "compute is flat in the context",
            "1:34:28",
        ),
        Preset(
            "A million tokens",
            {"price_list": "gemini-3.1-pro-preview/prompts", "context": 1e6},
            "attention is noticed in the millions of tokens",
            "1:52:15",
        ),
    ],
    caption="Arithmetic only, with attention counted: a token of a prompt attends to half of it "
    "on average. "
    "So where attention equals the weights for the token at the end, as marked for the 100 "
    "billion, the prompt's mean is only half as dear again. "
    "Full attention in every layer; windows and chosen tokens bend these lines down.",
)

prefill_to_decode = Explorer(
    "prefill-to-decode",
    "From prefill to decode",
    x=Sweep("pass_length", 1, 1e4, at=1, title="Tokens of a sequence in one pass"),
    y=Scale("Time for each token", "s", min=1e-10),
    curves=[
        Curve(prefill_decode.pass_token_time, "A token", role="total"),
        Curve(prefill_decode.pass_memory_time, "Reading, shared by the pass"),
        Curve(prefill_decode.pass_compute_time, "Arithmetic, its own"),
    ],
    marks=[
        Mark(prefill_decode.balance_pass, "balance", whole="up"),
        Mark(
            latency.batch_that_fits,
            "room for",
            limit=True,
            of="batch",
            needs=latency.fewest_devices_for_weights,
            whole="down",
        ),
    ],
    controls=[
        Control(IntSlider(value=1024, min=1, max=16384), "batch", "Batch"),
        Control(
            FloatLogSlider(value=8192, min=2, max=6, step=0.05),
            "context",
            "Context of every sequence",
            follows=True,
        ),
    ],
    readouts=[
        Readout(prices.output_over_input, "Decode over prefill"),
        Readout(prefill_decode.balance_pass, "Pass that balances", whole="up"),
    ],
    presets=[
        Preset(
            "Decode", {"pass_length": 1, "batch": 1024}, "decode is a pass of one token", "1:42:10"
        ),
        Preset("Four drafted tokens", {"pass_length": 4, "batch": 1024}, "", ""),
        Preset(
            "Prefill",
            {"pass_length": 8192, "batch": 1},
            "prefill is a pass of many tokens",
            "1:42:10",
        ),
        Preset("Decode at the balance", {"pass_length": 1, "batch": 8192, "context": 1000}, "", ""),
    ],
    caption="The left end is decode, the right end prefill. The ratio of the two levels is what "
    "an answer's token "
    "would cost over a prompt's.",
)

_RATIOS = {
    name: price_lists.interpret(facts.get("prices", name))["output_over_input"]
    for name in ("gemini-3.1-pro-preview", "claude-opus-5", "gpt-5", "gpt-4", "grok-4.7")
}

_NO_BATCH = "no batch: caches alone take longer"

ratio_to_batch = Explorer(
    "ratio-to-batch",
    "From a ratio of prices to a batch",
    x=Sweep("output_over_input", 1, 10, log=False, at=5, title="Price of answers over prompts"),
    y=Scale("Batch", "sequence", max=1e5),
    curves=[
        Curve(
            prices.implied_batch,
            "Caches counted",
            role="total",
            id="implied",
            whole="near",
            none=_NO_BATCH,
        ),
        Curve(
            prices.implied_batch,
            "Weights alone",
            id="weights",
            given={"context": 0, "kv_window_bytes": 0},
            whole="near",
        ),
    ],
    marks=[
        Mark(balance.balance_batch, "balance batch", axis="y", whole="up"),
        Mark(
            latency.batch_that_fits,
            "room for",
            axis="y",
            limit=True,
            needs=latency.fewest_devices_for_weights,
            whole="down",
        ),
    ],
    controls=[
        Control(
            FloatLogSlider(value=8192, min=2, max=6, step=0.02),
            "context",
            "Context of every sequence",
            follows=True,
        ),
        Control(
            FloatSlider(value=1, min=1, max=4, step=0.1),
            "tokens_per_step",
            "Tokens a step (drafted and kept)",
        ),
    ],
    readouts=[
        Readout(prices.implied_batch, "The list would imply", whole="near", none=_NO_BATCH),
        Readout(balance.balance_context, "Caches take as long as arithmetic at", whole="near"),
    ],
    presets=[
        Preset(
            "Five, as the lecture takes it",
            {"output_over_input": _RATIOS["claude-opus-5"], "context": 1000},
            "Patel: so memory over compute is five in decode",
            "1:47:56",
        ),
        Preset("Eight: GPT-5", {"output_over_input": _RATIOS["gpt-5"], "context": 1000}, "", ""),
        Preset("Two: GPT-4", {"output_over_input": _RATIOS["gpt-4"], "context": 1000}, "", ""),
        Preset("Five, from a long context", {"output_over_input": 5, "context": 12000}, "", ""),
        Preset(
            "Five, two tokens a step",
            {"output_over_input": 5, "context": 1000, "tokens_per_step": 2},
            "",
            "",
        ),
    ],
    caption="One ratio, and any batch you like: the context and the tokens that a step makes are "
    "not on a price "
    "list. Left of where the line leaves the plot, reading the caches alone takes longer, and no "
    "batch explains the ratio.",
)
