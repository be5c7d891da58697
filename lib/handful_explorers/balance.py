"""Explorers of the chapter on the balance batch."""

from __future__ import annotations

from handful import balance, latency

from .plotting.explorer import (
    Curve,
    Explorer,
    Guess,
    Mark,
    Preset,
    Readout,
    Scale,
    Sweep,
)

balance_against_context = Explorer(
    "balance-against-context",
    "What caches do to the balance batch",
    # Two curves rise without end: sampled and cut so that both leave the plot at its top.
    x=Sweep("context", 100, 1e6, points=961, follows=True),
    y=Scale("Batch", "sequence", max=3e5),
    curves=[
        Curve(
            balance.balance_batch_with_attention,
            "To balance",
            role="total",
            whole="up",
            none="no batch balances",
        ),
        Curve(
            balance.balance_batch_with_kv,
            "Attention left out",
            whole="up",
            none="no batch balances",
        ),
        Curve(
            latency.batch_that_fits,
            "That fits in memory",
            whole="down",
            none="none fits",
            needs=latency.fewest_devices_for_weights,
        ),
        Curve(balance.balance_batch, "Without caches", role="reference", whole="up"),
    ],
    marks=[Mark(balance.balance_context_with_attention, "limit", whole="near")],
    readouts=[
        Readout(
            balance.balance_context_with_attention,
            "Limit of the context",
            whole="near",
            none="no limit",
        ),
    ],
    presets=[
        Preset("500 tokens of context", {"context": 500}),
        Preset("Llama 3.1 70B", {"model": "Llama 3.1 70B", "precision": "fp8"}),
        Preset("H200", {"hardware": "H200 SXM", "model": "DeepSeek-V3", "precision": "fp8"}),
    ],
    guess=Guess(
        "Without attention's arithmetic no batch would balance our rack beyond 3,400 tokens. With "
        "it, a cache of 4,096 tokens takes 27 % of the time in which weights could be read. Beyond "
        "which context does no batch balance?",
        mark="limit",
    ),
    caption="Beyond the limit, where there is one, reading caches takes longer than computing, for "
    "any batch.",
)
