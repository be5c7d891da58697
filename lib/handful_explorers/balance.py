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
    x=Sweep("context", 100, 1e6, at=4096),
    y=Scale("Batch", "sequence"),
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
            "Without attention's arithmetic",
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
    marks=[Mark(balance.balance_context_with_attention, "no batch balances beyond", whole="near")],
    readouts=[
        Readout(balance.balance_context_with_attention, whole="near", none="no limit"),
    ],
    presets=[
        Preset("500 tokens of context", {"context": 500}),
        Preset("Llama 3.1 70B", {"model": "Llama 3.1 70B", "precision": "fp8"}),
    ],
    guess=Guess(
        "If weights were all that is multiplied, no batch would balance our rack beyond 3,400 "
        "tokens. But attention fills 242 of 312 circles while a cache is read. Beyond which "
        "context does no batch balance?",
        mark="no batch balances beyond",
    ),
    caption="Beyond the marked context, where there is one, reading caches takes longer than "
    "computing, for any batch.",
)
