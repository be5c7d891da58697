"""Explorers of the chapter on the balance batch."""

from __future__ import annotations

from ipywidgets import FloatLogSlider, FloatSlider, IntSlider

from handful import balance, latency
from handful.scenario import page_rows, values

from .plotting.explorer import (
    Control,
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


_NO_CACHES = {"kv_bytes_per_token": 0, "kv_window_bytes": 0}

roofline = Explorer(
    "roofline",
    "The roofline of one chip",
    x=Sweep("arithmetic_intensity", 1, 10000, at=100),
    y=Scale("Attainable rate of one chip", "FLOP/s"),
    curves=[Curve(balance.attainable_flops, "Roof", role="total")],
    given=_NO_CACHES,
    marks=[
        Mark(balance.ridge_intensity, "ridge"),
        Mark(balance.arithmetic_intensity, "your decode step"),
    ],
    controls=[
        # From ten on, where the step stands on the axis.
        Control(FloatLogSlider(value=64, base=10, min=1, max=4.8, step=0.02), "batch", "Batch")
    ],
    readouts=[
        Readout(balance.arithmetic_intensity, "Your step does"),
        balance.ridge_intensity,
        Readout(balance.machine_balance, "The same ridge, in tokens per weight read"),
    ],
    presets=[
        Preset("2,000 sequences", {"batch": 2000}, "it is 2,000 unique sequences", "20:30"),
        Preset("5,600 people", {"batch": 5600}, "", ""),
    ],
    guess=Guess(
        "You know how many multiply-adds each weight needs. How many FLOPs is that for each byte "
        "that a chip reads?",
        mark="ridge",
    ),
    caption="Left of the ridge a chip waits for its memory, right of it for its arithmetic; "
    "a larger batch moves your step right. The caches are left out.",
)

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
        Preset("32 of 256", {"sparsity": 8}, "DeepSeek activates 32 of 256 experts", "19:16"),
        Preset("By parameters", {"sparsity": 17.87}, "37 billion active of 700 billion", "4:44"),
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
        Preset(
            "Short prompts", {"context": 500}, "with caches counted, the best batch grows", "19:57"
        ),
        Preset("Llama 3.1 70B", {"model": "Llama 3.1 70B", "precision": "fp8"}, "", ""),
    ],
    caption="Beyond the marked context, where there is one, reading caches takes longer than "
    "computing, for any batch.",
)

train = Explorer(
    "train",
    "The train that leaves on time",
    kind="train",
    controls=[
        Control(
            FloatSlider(value=0.02, min=0.005, max=0.05, step=0.001),
            "batch_interval",
            "Time between departures",
        ),
        Control(IntSlider(value=2000, min=10, max=2000, step=10), "seats", "Seats in each train"),
        Control(
            IntSlider(value=211, min=1, max=500), "answer_tokens", "Tokens in an answer, on average"
        ),
        Control(
            FloatSlider(value=0.9, min=0.05, max=0.99, step=0.01),
            "load",
            "Load: seats wanted ÷ seats",
        ),
    ],
    presets=[
        Preset(
            "2,000 seats",
            {"load": 0.9, "seats": 2000, "answer_tokens": 211, "batch_interval": 0.02},
            "wait 20 ms at worst, ride 20 ms",
            "22:30",
        ),
        Preset(
            "100 seats",
            {"load": 0.9, "seats": 100, "answer_tokens": 211, "batch_interval": 0.02},
            "",
            "",
        ),
    ],
    caption="A request waits for the next departure with a free seat, and keeps the seat until its "
    "answer ends. Ticks below the bars mark the mean and the 95th percentile.",
)
