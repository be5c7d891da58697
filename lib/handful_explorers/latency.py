"""Explorers of the chapter on latency and cost."""

from __future__ import annotations

from ipywidgets import FloatLogSlider, FloatSlider
from sympy import Min, floor

from handful import latency
from handful.symbolic import quantities as q
from handful.symbolic.formula import Formula
from handful_evidence import measured

from .plotting.explorer import Control, Curve, Explorer, Guess, Mark, Preset, Readout, Scale, Sweep

_MODEL_ALONE = latency.fewest_devices_for_weights
_ROOM = Mark(latency.batch_that_fits, "room for", limit=True, needs=_MODEL_ALONE, whole="down")

_SHARED = latency.fast_batch.expression
_FEW = _SHARED * Min(1, floor(_SHARED / q.one_sequence.symbol))
_FAST_BATCH = Formula(
    q.fast_batch,
    _FEW,
    using=latency.fast_batch.using,
    register=False,
    source="derived",
    meaning="sequences that may share a step which has to be s times shorter; 0 for fewer than one",
)
_FAST_PRICE = Formula(
    q.price_ratio,
    q.batch.symbol / (q.speedup.symbol * _FEW),
    using=latency.fast_mode_price.using,
    register=False,
    source="derived",
    meaning="how much dearer a token becomes in fast mode; endless where it has no whole person",
)


def _context() -> Control:
    return Control(
        FloatLogSlider(value=8192, min=2, max=6, step=0.05),
        "context",
        "Context of every sequence",
        follows=True,
    )


latency_against_batch = Explorer(
    "latency-against-batch",
    "One decode step against the batch",
    x=Sweep("batch", 1, 8192, at=100),
    y=Scale("Time of one step", "s"),
    curves=[
        Curve(latency.step_time_with_latency, "Step", role="total"),
        Curve(latency.weight_time, "Read weights"),
        Curve(latency.kv_time, "Read caches"),
        Curve(latency.compute_time, "Compute"),
        Curve(
            latency.step_time,
            "Step by the roofline",
            role="reference",
            id="roofline",
            bands=measured.page_bands(),
            band_label="by published ratios",
        ),
    ],
    marks=[_ROOM],
    controls=[_context()],
    readouts=[latency.tokens_per_user_with_latency],
    presets=[Preset("One user alone", {"batch": 1})],
    guess=Guess(
        "The dot shows how long a lone user waits for a token. How long does a step take when "
        "10, 100 or 300 share the machine? Draw it.",
        draw="step",
    ),
    caption="A step lasts as long as reading (weights, then caches) or computing, whichever is "
    "slower, plus the latency of the layers, which does not depend on the batch. The shaded band "
    "is the roofline times the factors named below, by which published steps of this kind of model "
    "exceeded what is predicted for them.",
)

cost_against_batch = Explorer(
    "cost-against-batch",
    "What one token costs, part by part",
    x=Sweep("batch", 1, 65536, at=189),
    y=Scale("Cost of one token", "$/token"),
    curves=[
        Curve(latency.cost_per_token_with_latency, "Cost", role="total"),
        Curve(latency.weight_cost, "Weights, shared"),
        Curve(latency.kv_cost, "Own cache"),
        Curve(latency.compute_cost, "Own arithmetic"),
        Curve(latency.latency_cost, "Latency of the layers, shared"),
    ],
    marks=[Mark(latency.cost_floor, "slow-mode floor", axis="y"), _ROOM],
    controls=[_context()],
    readouts=[Readout(latency.unbatched_penalty, "Times the slow-mode floor")],
    presets=[
        Preset("Alone", {"batch": 1}),
        Preset("371 people", {"batch": 371}),
        Preset("Endless patience", {"batch": 65536}),
    ],
    caption="What is shared falls with the batch: reading the weights, and waiting for the "
    "layers. Reading and computing overlap, "
    "so you pay for the longer of the two, and then for the latency.",
)

fast_and_slow = Explorer(
    "fast-and-slow",
    "Normal mode and fast mode: one frontier",
    x=Sweep("batch", 1, 16384, at=189),
    y=Scale("Cost of one token", "$/token"),
    across=(latency.tokens_per_user, Scale("Tokens per second for one user", log=False)),
    curves=[Curve(latency.cost_per_token, "Cost of a token", role="total")],
    given={"routed_parameters": 0},
    marks=[
        _ROOM,
        Mark(_FAST_BATCH, "fast mode", whole="near", none="cannot be had"),
    ],
    controls=[
        _context(),
        Control(
            FloatSlider(value=2.5, min=1.1, max=4.5, step=0.1), "speedup", "Fast mode is faster by"
        ),
    ],
    readouts=[
        Readout(latency.step_time, "A step in normal mode"),
        Readout(_FAST_BATCH, "People in fast mode", unit="1", whole="near", none="fewer than one"),
        Readout(
            _FAST_PRICE,
            "Times the normal price",
            digits=2,
            none="cannot be had",
        ),
    ],
    presets=[
        Preset(
            "The crowd that the price list implies",
            {"speedup": 2.5, "batch": 189},
            {"batch": Readout(latency.batch_from_price, given={"price_ratio": 6}, whole="near")},
        ),
        Preset(
            "As many as fit",
            {"speedup": 2.5, "batch": 371},
            {"batch": Readout(latency.batch_that_fits, whole="down")},
        ),
    ],
    caption="As in the lecture, chips never wait, and every step reads all weights, even those of "
    "experts that nobody needs. Moving the speed leaves the crowd of normal mode as it is. People "
    "in fast mode are rounded, their price is not; where there is room for fewer than one, there "
    "is no price.",
)
