"""Explorers of the chapter on reinforcement learning and over-training."""

from __future__ import annotations

import math

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider

from handful import chinchilla, facts, lifetime_cost, overtraining
from handful.symbolic import quantities as q
from handful.symbolic.formula import Formula
from handful_evidence import published_tokens

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
from .plotting.scenes.distribution import factor, uncertain

_LAWS = {fit: chinchilla.law(fit) for fit in ("besiroglu", "hoffmann")}
_NAMES = {"besiroglu": "Refit", "hoffmann": "Fit as published"}
_DAY = 86400.0
# Read in a model card or a report, and far enough apart to be told from each other on a phone.
_SHOWN = (
    "Qwen3 30B-A3B",
    "Qwen3 235B-A22B",
    "Llama 4 Scout",
    "Llama 3.1 8B",
    "Llama 3.1 70B",
    "Llama 3.1 405B",
    "DeepSeek-V3",
)


def _level(quantity, label: str, value: float | None = None) -> Mark:
    """Return a level line at a quantity's own value."""
    formula = Formula(
        quantity,
        quantity.symbol,
        name=f"level_{quantity.name}",
        meaning=label,
        source="definition",
        register=False,
    )
    return Mark(formula, label, axis="y", given={} if value is None else {quantity.name: value})


def _by_both(formula, **more) -> list[Curve]:
    """Return curves of the formula by both fits of the Chinchilla law, the refit drawn strong."""
    return [
        Curve(
            formula,
            _NAMES[fit],
            role="total" if fit == "besiroglu" else "part",
            given=_LAWS[fit],
            id=fit,
            **more,
        )
        for fit in _LAWS
    ]


def _log(name: str, label: str, value: float, low: float, high: float) -> Control:
    return Control(FloatLogSlider(value=value, base=10, min=low, max=high, step=0.01), name, label)


def _efficiency(value: float = 0.3) -> Control:
    return Control(
        FloatSlider(value=value, min=0.05, max=1, step=0.01),
        "decode_efficiency",
        "Decoding's use of a chip over training's",
    )


def _first_approaches() -> Points:
    """Return the points that Hoffmann et al. print for approaches 1 and 2.

    They are FLOPs of training against tokens for each parameter.
    """
    return Points(
        "approaches 1, 2",
        [
            (overtraining.training_flops(row), row["pretraining_tokens"] / row["active_parameters"])
            for row in chinchilla.published_optima()
            if row["approach"] < 3
        ],
    )


def _budgets() -> Points:
    """Return points of the lecture's guess and of disclosed models.

    They are FLOPs of training against tokens for each active parameter.
    """
    return Points(
        "models, and the lecture's guess",
        [(6 * 100e9 * 200e12, 2000, "lecture")]
        + [
            (
                overtraining.training_flops(row),
                row["pretraining_tokens"] / row["active_parameters"],
                row["name"],
            )
            for row in published_tokens.trained_models()
            if row["name"] in _SHOWN
        ],
    )


three_bills = Explorer(
    "three-bills",
    "Three bills of one life",
    x=Sweep("inference_tokens", 1e12, 2e15, at=2e14, title="Tokens served over a life"),
    y=Scale("Share of a life's cost", "%", log=False, min=0, max=1),
    stack=True,
    curves=[
        Curve(overtraining.training_share, "Pre-training"),
        Curve(overtraining.rl_share, "Reinforcement learning"),
        Curve(overtraining.inference_share, "Serving"),
    ],
    given={"active_parameters": 1e11},
    controls=[
        _log("pretraining_tokens", "Tokens of pre-training", 2e14, 12, 16),
        _log("rl_tokens", "Tokens of reinforcement learning", 1e14, 10, 16),
        Control(
            FloatSlider(value=2, min=1, max=3, step=0.1),
            "rl_passes",
            "Passes for each of these, of 2 FLOPs a weight",
        ),
        _efficiency(),
    ],
    readouts=[Readout(overtraining.lifetime_flops, "A life, at 100 billion active weights")],
    presets=[
        Preset(
            "A third each",
            {
                "pretraining_tokens": 2e14,
                "rl_tokens": 9e13,
                "rl_passes": 2,
                "decode_efficiency": 0.3,
                "inference_tokens": 1.8e14,
            },
            "ballpark, a third of the compute each",
            "1:24:04",
        ),
        Preset(
            "25, 25, 50",
            {
                "pretraining_tokens": 2e14,
                "rl_tokens": 9e13,
                "rl_passes": 2,
                "decode_efficiency": 0.3,
                "inference_tokens": 3.6e14,
            },
            "25, 25 and 50 is as plausible",
            "1:24:04",
        ),
        Preset(
            "Same tokens in all three",
            {
                "pretraining_tokens": 2e14,
                "rl_tokens": 2e14,
                "rl_passes": 2,
                "decode_efficiency": 0.3,
                "inference_tokens": 2e14,
            },
            "all three token counts are about the same",
            "1:26:30",
        ),
    ],
    marks=[Mark(overtraining.served_tokens_at_equal_bills, "serving = pre-training")],
    guess=Guess(
        "A model is trained on 200 trillion tokens. How many tokens has it served by the time that "
        "serving has cost as much as this pre-training?",
        mark="serving = pre-training",
    ),
    caption="Each bill in FLOPs at the price of training's. The size of the model cancels from "
    "the shares.",
)

sum_of_costs = Explorer(
    "sum-of-costs",
    "Where a sum is least, and where its terms are equal",
    x=Sweep("knob", 0.05, 20, at=1, title="What is traded"),
    y=Scale("Cost", "FLOP"),
    curves=[
        Curve(overtraining.cost_sum, "Sum", role="total"),
        Curve(overtraining.rising_cost, "Rises with it"),
        Curve(overtraining.falling_cost, "Falls with it"),
    ],
    marks=[Mark(overtraining.best_knob, "least"), Mark(overtraining.equal_knob, "equal")],
    given={"rising_weight": 1e24, "falling_weight": 1e24},
    controls=[
        Control(
            FloatSlider(value=1, min=0.1, max=4, step=0.05),
            "rising_exponent",
            "Exponent of the one that rises",
        ),
        Control(
            FloatSlider(value=0.35, min=0.1, max=4, step=0.05),
            "falling_exponent",
            "Exponent of the one that falls",
        ),
    ],
    readouts=[
        Readout(overtraining.cost_ratio, "At the least sum, rising over falling cost"),
        Readout(overtraining.equal_split_excess, "Making them equal costs this much more"),
    ],
    presets=[
        Preset(
            "x and 1/x",
            {"rising_exponent": 1, "falling_exponent": 1},
            "minima tend to be where the terms are equal",
            "1:20:39",
        ),
        Preset(
            "A slow fall",
            {"rising_exponent": 1, "falling_exponent": 0.35},
            "the same holds for power laws",
            "1:21:00",
        ),
        Preset("A steep fall", {"rising_exponent": 1, "falling_exponent": 4}, "", ""),
    ],
    caption="Both costs are powers of what is traded. Where one is steeper, the sum is least "
    "where that one is the smaller.",
)

rule_of_twenty = Explorer(
    "rule-of-twenty",
    "How many tokens for each parameter?",
    x=Sweep("training_flops", 1e20, 1e27, at=5.76e23, title="FLOPs of pre-training"),
    y=Scale("Tokens for each parameter", min=3, max=2e4),
    curves=[*_by_both(chinchilla.optimal_tokens_per_parameter)],
    given=_LAWS["besiroglu"],
    marks=[_level(q.tokens_per_parameter, "rule", 20)],
    points=[_budgets(), _first_approaches()],
    readouts=[
        Readout(
            chinchilla.compute_optimal_parameters, "Best size, refit", given=_LAWS["besiroglu"]
        ),
        Readout(
            chinchilla.compute_optimal_parameters,
            "Best size, fit as published",
            given=_LAWS["hoffmann"],
        ),
    ],
    presets=[
        Preset(
            "Gopher's budget",
            {"training_flops": 5.76e23},
            "Chinchilla calls for 20 times as many tokens as parameters",
            "1:31:17",
        ),
        Preset("DeepSeek-V3's", {"training_flops": 3.29e24}),
        Preset(
            "The lecture's run",
            {"training_flops": 1.2e26},
            "100 billion active, 200 trillion tokens",
            "1:31:17",
        ),
    ],
    caption="Lines: what training alone calls for by approach 3, as published and refitted. "
    "Rings: the same paper's "
    "approaches 1 and 2, and real models by their active parameters.",
)

isoflop = Explorer(
    "isoflop",
    "One budget, every size",
    x=Sweep("active_parameters", 2e8, 1e13, at=70e9, title="Size"),
    y=Scale("Loss above the floor, nats per token", min=0.1, max=1),
    curves=[*_by_both(chinchilla.reducible_at_budget)],
    marks=[
        Mark(chinchilla.compute_optimal_parameters, "refit", given=_LAWS["besiroglu"]),
        Mark(chinchilla.compute_optimal_parameters, "published", given=_LAWS["hoffmann"]),
    ],
    given=_LAWS["besiroglu"],
    controls=[_log("training_flops", "FLOPs of pre-training", 5.76e23, 20, 27)],
    readouts=[
        Readout(chinchilla.tokens_at_budget, "Tokens that the budget leaves for this size"),
        Readout(chinchilla.loss_at_budget, "Loss with its floor, refit", given=_LAWS["besiroglu"]),
        Readout(
            chinchilla.loss_at_budget,
            "Loss with its floor, fit as published",
            given=_LAWS["hoffmann"],
        ),
    ],
    presets=[
        Preset("Gopher, 280 billion", {"training_flops": 5.76e23, "active_parameters": 280e9}),
        Preset(
            "Chinchilla, 70 billion",
            {"training_flops": 5.76e23, "active_parameters": 70e9},
            "Chinchilla calls for 20 times as many tokens as parameters",
            "1:31:17",
        ),
        Preset("A 7 billion model", {"training_flops": 5.76e23, "active_parameters": 7e9}),
    ],
    caption="More size leaves fewer tokens. The fits put the floor at different heights. The "
    "bottom is flat: within a factor of two either way of the best size, the loss "
    "moves by little, and that is what over-training uses.",
)


def _for_a_hundred(fit: str) -> float:
    """Return the split for which the lecture's model has the cheapest life.

    That model has 100 billion active parameters and 200 trillion tokens.
    """
    best = lifetime_cost.bill_ratio_at_optimum(
        _LAWS[fit], active_parameters=100e9, pretraining_tokens=200e12
    )
    return float(f"{best:.3g}")


split_of_bills = Explorer(
    "split-of-bills",
    "Over-training follows from the split of the bills",
    x=Sweep("decode_bill_ratio", 0.01, 10, at=2, title="Decoding's bill over pre-training's"),
    y=Scale("Tokens, over 20 for each parameter", min=0.5, max=1e4),
    curves=[*_by_both(lifetime_cost.best_overtraining)],
    given=_LAWS["besiroglu"] | {"tokens_per_parameter": 20},
    marks=[_level(q.overtraining_multiple, "the lecture", 100)],
    controls=[_log("active_parameters", "Active parameters", 1e11, 9, 13)],
    readouts=[
        Readout(lifetime_cost.best_size_share, "Size over the compute-optimal one, refit"),
        Readout(
            lifetime_cost.lifetime_share,
            "Cost of the life beside the compute-optimal model's, refit",
        ),
        Readout(
            lifetime_cost.lifetime_share, "The same, fit as published", given=_LAWS["hoffmann"]
        ),
    ],
    presets=[
        Preset(
            "Two equal bills",
            {"decode_bill_ratio": 1},
            "let training cost what inference does",
            "1:20:39",
        ),
        Preset("Three equal bills", {"decode_bill_ratio": 2}, "a third each", "1:24:04"),
        Preset("25, 25, 50", {"decode_bill_ratio": 3}, "25, 25 and 50 is as plausible", "1:24:04"),
        Preset(
            "100 times, by the refit",
            {"decode_bill_ratio": _for_a_hundred("besiroglu")},
            "100 times beyond Chinchilla",
            "1:31:17",
        ),
        Preset(
            "100 times, as published",
            {"decode_bill_ratio": _for_a_hundred("hoffmann")},
            "100 times beyond Chinchilla",
            "1:31:17",
        ),
    ],
    caption="How long a model of this size is trained where its life is the cheapest, by either "
    "fit. Everything that "
    "grows with the size alone counts as decoding: serving, and all of reinforcement learning.",
)

# The lecture's model, as the cheapest life for its traffic and as large a bill of reinforcement
# learning: what compute-optimal model would be as good?
_GUESS = lifetime_cost.best_run(100e9, 2 * 200e12, decode_efficiency=0.3)["decode_bill_ratio"]
_AS_GOOD = 100e9 / lifetime_cost.best_size_share(_LAWS["besiroglu"], decode_bill_ratio=_GUESS)

best_size = Explorer(
    "best-size",
    "To be served more, be smaller",
    x=Sweep("decode_bill_ratio", 0.01, 10, at=0.515, title="Decoding over training"),
    y=Scale("Best size"),
    across=(lifetime_cost.best_served, Scale("Tokens decoded over a life")),
    curves=[Curve(lifetime_cost.best_size, "same loss throughout", role="total")],
    marks=[_level(q.compute_optimal_parameters, "compute-optimal")],
    controls=[
        Control(
            Dropdown(
                options=[("as published", "hoffmann"), ("refitted", "besiroglu")], value="hoffmann"
            ),
            "fit",
            "Law",
            rows=_LAWS,
        ),
        _log("compute_optimal_parameters", "Compute-optimal size to match", 13e9, 9, 13),
        _efficiency(1),
    ],
    readouts=[
        Readout(lifetime_cost.matching_loss, "Loss, nats per token"),
        Readout(lifetime_cost.best_tokens, "Tokens of pre-training"),
        Readout(lifetime_cost.best_tokens_per_parameter, "Tokens for each parameter"),
        Readout(
            lifetime_cost.lifetime_share, "Cost of the life, beside the compute-optimal model's"
        ),
    ],
    presets=[
        Preset(
            "A published example",
            {
                "fit": "hoffmann",
                "compute_optimal_parameters": 13e9,
                "decode_efficiency": 1,
                "decode_bill_ratio": 0.515,
            },
        ),
        Preset(
            "Decoding at its price",
            {
                "fit": "hoffmann",
                "compute_optimal_parameters": 13e9,
                "decode_efficiency": 0.3,
                "decode_bill_ratio": 0.98,
            },
            "decoding uses a chip about 30 % as well",
            "1:25:28",
        ),
        Preset(
            "The lecture's size and traffic, with learning",
            {
                "fit": "besiroglu",
                "compute_optimal_parameters": float(f"{_AS_GOOD:.3g}"),
                "decode_efficiency": 0.3,
                "decode_bill_ratio": float(f"{_GUESS:.3g}"),
            },
            "about 200 trillion tokens in two months",
            "1:29:45",
        ),
    ],
    caption="Every point of the line reaches the same loss. To the right more tokens are decoded, "
    "so a smaller model, trained "
    "for longer, is cheaper. A bill of reinforcement learning counts as so many decoded tokens.",
)

lifetime_tokens = Explorer(
    "lifetime-tokens",
    "What a model serves before it is replaced",
    x=Sweep("service_life", _DAY, 1000 * _DAY, at=60 * _DAY, title="Life of the model"),
    y=Scale("Tokens served"),
    curves=[
        Curve(overtraining.served_tokens_growing, "Growing traffic", role="total"),
        Curve(overtraining.served_tokens, "Steady traffic"),
    ],
    marks=[
        _level(
            q.pretraining_tokens,
            f"{name}'s corpus",
            facts.get("models", name)["pretraining_tokens"],
        )
        for name in ("DeepSeek-V3", "Llama 4 Scout")
    ],
    controls=[
        _log("service_throughput", "Tokens a second on the first day", 50e6, 5, 9.5),
        _log("traffic_doubling", "Traffic doubles every", 133 * _DAY, 6.4, 8.2),
    ],
    presets=[
        Preset(
            "One model of many",
            {"service_throughput": 50e6, "service_life": 60 * _DAY},
            "50 million tokens a second for two months, about 200 trillion",
            "1:29:45",
        ),
        Preset(
            "All of a large service",
            {"service_throughput": 500e6, "service_life": 60 * _DAY},
            "500 million tokens a second",
            "1:29:45",
        ),
        Preset(
            "DeepSeek in February 2025",
            {
                "service_throughput": round(published_tokens.fleet_output()),
                "service_life": 180 * _DAY,
            },
        ),
    ],
    caption="Tokens served at a steady rate, and at one that keeps doubling. Level lines: the "
    "pre-training of two models.",
)

_COUNTS = published_tokens.published_traffic()


def _through(first: int, last: int) -> dict[str, float]:
    """Return the exponential growth that meets two of the published counts.

    It is given by its rate in January 2024 and its doubling time.
    """
    (_, start, low), (_, end, high) = _COUNTS[first], _COUNTS[last]
    doubling = (end - start) / math.log2(high / low)
    return {
        "service_throughput": float(f"{low / 2 ** (start / doubling):.3g}"),
        "traffic_doubling": float(f"{doubling:.3g}"),
    }


published_traffic = Explorer(
    "published-traffic",
    "How fast traffic grows",
    x=Sweep(
        "service_life",
        60 * _DAY,
        1000 * _DAY,
        at=850 * _DAY,
        log=False,
        title="Time since January 2024",
    ),
    y=Scale("Tokens a second", min=1e6, max=1e10),
    curves=[Curve(overtraining.growing_throughput, "Doubling again and again", role="total")],
    points=[Points("Google's counts", [(when, rate, label) for label, when, rate in _COUNTS])],
    controls=[
        _log(
            "service_throughput",
            "Tokens a second in January 2024",
            _through(0, -1)["service_throughput"],
            5,
            9,
        ),
        _log(
            "traffic_doubling",
            "Traffic doubles every",
            _through(0, -1)["traffic_doubling"],
            6.4,
            8.2,
        ),
    ],
    presets=[
        Preset("Through both ends", _through(0, -1)),
        Preset(
            "The last year's pace",
            _through(1, -1),
            "hundreds of millions of tokens a second worldwide",
            "27:11",
        ),
    ],
    caption="Rings: tokens that Google counted in a month, over all products, read as well as "
    "written. "
    "Growth was faster at first than one doubling time allows.",
)

hundredfold = Explorer(
    "hundredfold",
    "One hundred times, give or take",
    kind="distribution",
    numbers={
        "result": Readout(overtraining.overtraining_from_traffic, "Over-training"),
        "spoken": Readout(
            overtraining.overtraining,
            "as spoken",
            given={
                "pretraining_tokens": 200e12,
                "active_parameters": 100e9,
                "tokens_per_parameter": 20,
            },
        ),
    },
    data=uncertain(
        overtraining.overtraining_from_traffic,
        service_throughput="traffic of the one model",
        service_life="its life",
        active_parameters="its active size",
        pretraining_per_inference_token="tokens of training for each token served",
        tokens_per_parameter="tokens for each parameter by the rule",
    ),
    given={
        "service_throughput": 50e6,
        "service_life": 60 * _DAY,
        "active_parameters": 100e9,
        "tokens_per_parameter": 20,
        "pretraining_per_inference_token": 1,
    },
    controls=[
        factor(1, 2, "Traffic known to within ×"),
        factor(2, 2, "Life known to within ×"),
        factor(3, 2, "Active size known to within ×"),
        factor(4, 1, "Training for each token served, ×"),
        factor(5, 1, "The rule of 20 itself, ×"),
    ],
    presets=[
        Preset(
            "Three guesses, each within 2",
            {f"factor_{i}": f for i, f in enumerate((2, 2, 2, 1, 1), 1)},
            "100 times beyond Chinchilla",
            "1:31:17",
        ),
        Preset(
            "Traffic is the weak guess",
            {f"factor_{i}": f for i, f in enumerate((5, 2, 1.5, 1, 1), 1)},
            "divide by 5 to 10 for one model",
            "1:29:45",
        ),
        Preset(
            "The rules are guesses too",
            {f"factor_{i}": f for i, f in enumerate((2, 2, 2, 3, 1.7), 1)},
            "set all the costs equal",
            "1:24:04",
        ),
    ],
    caption="50 million tokens a second for 60 days, 100 billion active weights, 20 tokens for "
    "each, and as many tokens trained "
    "as served; each known to within the factor that you set.",
)

price_of_a_run = Explorer(
    "price-of-a-run",
    "What the lecture's model would cost to train",
    kind="distribution",
    numbers={"result": Readout(overtraining.training_cost_of_run, "Rent for the final run")},
    data=uncertain(
        overtraining.training_cost_of_run,
        pretraining_tokens="tokens of pre-training",
        active_parameters="active size",
        model_flops_utilisation="use of the chips",
        device_price="rent of a chip",
    ),
    given={
        "pretraining_tokens": 200e12,
        "active_parameters": 100e9,
        "model_flops_utilisation": 0.35,
        "peak_flops": 989e12,
        "device_price": 2 / 3600,
    },
    controls=[
        factor(1, 2, "Tokens known to within ×"),
        factor(2, 2, "Active size known to within ×"),
        factor(3, 1.4, "Use of the chips, ×", 2.5),
        factor(4, 1.5, "Rent of a chip, ×", 4),
    ],
    presets=[
        Preset(
            "Two guesses of the lecture",
            {f"factor_{i}": f for i, f in enumerate((2, 2, 1.4, 1.5), 1)},
            "about 200 trillion tokens, 100 billion active",
            "1:30:30",
        ),
        Preset(
            "Known model, unknown chips",
            {f"factor_{i}": f for i, f in enumerate((1, 1, 1.4, 1.5), 1)},
        ),
    ],
    caption="200 trillion tokens, 100 billion active weights, H100s at two dollars an hour, used "
    "at 35 % of their bf16 peak.",
)
