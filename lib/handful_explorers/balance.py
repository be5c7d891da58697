"""Explorers of the chapter on the balance batch."""

from __future__ import annotations

from handful import balance, latency
from handful.scenario import page_rows, values

from .plotting.explorer import (
    Curve,
    Dots,
    Explorer,
    Guess,
    Mark,
    Preset,
    Readout,
    Scale,
    Sweep,
)

# Models from dense to sparse, far enough apart that their names can be read.
_MODELS = ("Llama 3.1 70B", "Mixtral 8x7B", "Qwen3 235B-A22B", "DeepSeek-V3", "Kimi K2")


def _spread() -> tuple[float, float]:
    """Return the lowest and highest balance of sold chips, as factors of the lecture's 300."""
    found = []
    for chip in page_rows()["hardware"]:
        for form in page_rows()["precision"]:
            # Where weights are stored narrower than they are multiplied, the balance is another
            # question.
            if (
                chip["verified"]
                and form["arithmetic"] == form["name"]
                and form["name"] in chip["peak_flops"]
            ):
                known = values(hardware=chip["name"], precision=form["name"])
                found.append(balance.machine_balance(known) / 300)
    return min(found), max(found)


balance_against_sparsity = Explorer(
    "balance-against-sparsity",
    "The balance batch against sparsity",
    x=Sweep("sparsity", 1, 64, at=17.87),
    y=Scale("Balance batch", "sequence"),
    curves=[
        Curve(
            balance.balance_batch_rule,
            "300 × sparsity",
            role="reference",
            given={"machine_balance": 300},
            whole="up",
            band=_spread(),
            band_label="all chips sold since 2020",
            id="rule",
        ),
        Curve(balance.balance_batch_of_chip, "Your chip", role="total", id="yours", whole="up"),
    ],
    dots=Dots(balance.sparsity, balance.balance_batch, rows=_MODELS, over="model"),
    readouts=[balance.machine_balance],
    presets=[
        Preset("32 of 256", {"sparsity": 8}),
        Preset("By parameters", {"sparsity": 17.87}),
    ],
    caption="The shaded strip holds every chip sold since 2020, at each precision in which it both "
    "stores and multiplies. Each dot is a model on the chosen chip. The caches are left out.",
)

balance_against_context = Explorer(
    "balance-against-context",
    "What caches do to the balance batch",
    x=Sweep("context", 100, 1e6, at=4096),
    y=Scale("Batch", "sequence"),
    curves=[
        Curve(balance.balance_batch_with_attention, "To balance", role="total", whole="up"),
        Curve(
            balance.balance_batch_with_kv,
            "Without attention's arithmetic",
            whole="up",
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
    readouts=[Readout(balance.balance_context_with_attention, whole="near")],
    presets=[
        Preset("Short prompts", {"context": 500}),
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
