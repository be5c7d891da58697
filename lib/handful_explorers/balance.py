"""Explorers of the chapter on the balance batch."""

from __future__ import annotations

from ipywidgets import FloatLogSlider, FloatSlider, IntSlider

from handful import balance, latency, sparsity
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

# A chip a generation, at the lowest precision in which weights and arithmetic agree.
_GENERATIONS = (("A100 80GB", "bf16"), ("H100 SXM", "fp8"), ("GB300 NVL72", "fp4"))


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


roofline = Explorer(
    "roofline",
    "The roofline, with chips on it",
    x=Sweep("arithmetic_intensity", 1, 10000, at=100),
    y=Scale("Attainable rate of one chip", "FLOP/s"),
    curves=[Curve(balance.attainable_flops, "Roof", role="total")],
    marks=[
        Mark(balance.ridge_intensity, "ridge"),
        Mark(balance.arithmetic_intensity, "your decode step"),
        Mark(
            latency.batch_that_fits,
            "room for",
            limit=True,
            of="batch",
            needs=latency.fewest_devices_for_weights,
            whole="down",
        ),
    ],
    dots=Dots(balance.ridge_intensity, balance.ridge_flops),
    controls=[
        Control(FloatLogSlider(value=64, base=10, min=0, max=4.8, step=0.02), "batch", "Batch")
    ],
    readouts=[
        Readout(balance.arithmetic_intensity, "Your step does"),
        balance.ridge_intensity,
        Readout(balance.machine_balance, "The same ridge, in tokens per weight read"),
    ],
    presets=[
        Preset(
            "One sequence",
            {"batch": 1},
            "all parameters are fetched, not just the active ones",
            "5:09",
        ),
        Preset(
            "Hundreds of sequences", {"batch": 300}, "somewhere around 300 on most GPUs", "18:25"
        ),
        Preset(
            "Thousands", {"batch": 5000}, "people take maybe double or triple the balance", "19:31"
        ),
    ],
    guess=Guess(
        "How many FLOPs must a chip do with every byte that it reads, before its arithmetic and no "
        "longer its memory sets the pace?",
        mark="ridge",
    ),
    caption="Left of the ridge a chip waits for its memory, right of it for its arithmetic. "
    "Each dot is the ridge of one chip at the precision chosen above.",
)

balance_against_sparsity = Explorer(
    "balance-against-sparsity",
    "The balance batch against sparsity",
    x=Sweep("sparsity", 1, 64, at=18),
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
        *(
            Curve(
                balance.balance_batch_of_chip,
                f"{name}, {form}",
                scenario={"hardware": name, "precision": form},
                whole="up",
            )
            for name, form in _GENERATIONS
        ),
    ],
    marks=[
        Mark(balance.sparsity, "your model, by parameters"),
        Mark(balance.sparsity_of_experts, "its routed experts"),
    ],
    readouts=[balance.machine_balance],
    presets=[
        Preset("32 of 256", {"sparsity": 8}, "DeepSeek activates 32 of 256 experts", "19:16"),
        Preset("By parameters", {"sparsity": 671 / 37}, "37 billion active of 700 billion", "4:44"),
        Preset("8 of 256", {"sparsity": 32}, "a router picks perhaps one expert in 32", "32:41"),
    ],
    caption="300 is a band, not a line: the shaded strip holds every chip sold since 2020, at "
    "each of its precisions.",
)

balance_against_context = Explorer(
    "balance-against-context",
    "The balance batch runs away with the context",
    x=Sweep("context", 100, 1e6, at=2000),
    y=Scale("Batch", "sequence"),
    curves=[
        Curve(balance.balance_batch_with_attention, "To balance", role="total", whole="up"),
        Curve(
            balance.balance_batch_with_kv,
            "To balance, attention's arithmetic left out",
            whole="up",
        ),
        Curve(
            latency.batch_that_fits,
            "That fits in memory",
            whole="down",
            none="none fits",
            needs=latency.fewest_devices_for_weights,
        ),
        Curve(balance.balance_batch, "To balance, caches left out", role="reference", whole="up"),
    ],
    marks=[Mark(balance.balance_context_with_attention, "no batch balances beyond", whole="near")],
    readouts=[Readout(balance.balance_context_with_attention, whole="near")],
    presets=[
        Preset(
            "Short prompts", {"context": 500}, "with caches counted, the best batch grows", "19:57"
        ),
        Preset(
            "A dense model", {"context": 2000, "model": "Llama 3.1 70B", "precision": "fp8"}, "", ""
        ),
        Preset(
            "A windowed model",
            {"context": 2000, "model": "gpt-oss-120b", "precision": "fp8"},
            "",
            "",
        ),
    ],
    caption="A longer context brings more bytes to read for each sequence, and more arithmetic "
    "for attention. "
    "Beyond the marked context, where there is one, reading caches takes longer than computing, "
    "for any batch.",
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
            FloatSlider(value=0.7, min=0.05, max=0.99, step=0.01),
            "load",
            "Load: seats wanted ÷ seats",
        ),
    ],
    presets=[
        Preset(
            "Seats to spare",
            {"load": 0.9, "seats": 2000, "answer_tokens": 211, "batch_interval": 0.02},
            "wait 20 ms at worst, ride 20 ms",
            "22:30",
        ),
        Preset(
            "Nearly full",
            {"load": 0.97, "seats": 2000, "answer_tokens": 211, "batch_interval": 0.02},
            "the worst case is 40 ms",
            "22:30",
        ),
        Preset(
            "A small train",
            {"load": 0.9, "seats": 100, "answer_tokens": 211, "batch_interval": 0.02},
            "",
            "",
        ),
    ],
    caption="Every request waits for the next departure with a free seat, and keeps the seat "
    "until its answer ends, a token "
    "an interval, so most answers outlast the few departures that are drawn. The bound of two "
    "intervals holds for the "
    "first token while a seat is free.",
)

_LAWS = {router: sparsity.coefficients(router) for router in ("S-BASE", "RL-R", "HASH")}

quality_against_experts = Explorer(
    "quality-against-experts",
    "What experts buy in quality",
    x=Sweep("experts", 1, 512, at=64),
    y=Scale("Parameters", "parameter"),
    curves=[
        Curve(
            sparsity.effective_parameters,
            "Equal dense size, balanced routing (S-BASE)",
            role="total",
            given=_LAWS["S-BASE"],
            id="sbase",
        ),
        Curve(
            sparsity.effective_parameters,
            "Equal dense size, learned routing (RL-R)",
            given=_LAWS["RL-R"],
            id="rlr",
        ),
        Curve(
            sparsity.effective_parameters,
            "Equal dense size, hashed routing",
            given=_LAWS["HASH"],
            id="hash",
        ),
        Curve(
            sparsity.routed_total,
            "Parameters stored",
            role="reference",
            given={"routed_share": _LAWS["S-BASE"]["routed_share"]},
        ),
    ],
    given=_LAWS["S-BASE"],
    controls=[
        Control(
            FloatLogSlider(value=370e6, min=7.2, max=9.1, step=0.01),
            "dense_parameters",
            "Dense model to start from",
        )
    ],
    readouts=[Readout(sparsity.routed_loss, "Validation loss, nats per token")],
    presets=[
        Preset(
            "64 experts on 370M",
            {"experts": 64, "dense_parameters": 370e6},
            "64 experts at 370 million active match a dense 1.3 billion",
            "29:43",
        ),
        Preset("512 experts", {"experts": 512, "dense_parameters": 370e6}, "", ""),
        Preset("A larger model", {"experts": 64, "dense_parameters": 1.2e9}, "", ""),
    ],
    caption="Experts multiply what is stored far faster than they raise quality, and the gain "
    "flattens. "
    "The fit covers models up to 1.3 billion parameters.",
)
