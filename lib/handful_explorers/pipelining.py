"""Explorers of the chapter on pipelining across racks."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatSlider, IntSlider

from handful import pipelining

from .plotting.explorer import Control, Explorer, Preset

_STAGES = Control(
    Dropdown(options=[("2", 2), ("4", 4), ("8", 8)], value=4), "pipeline_stages", "Stages"
)
_BACKWARD = Control(
    FloatSlider(value=2, min=1.2, max=3, step=0.1),
    "backward_time",
    "Backward pass, in forward passes",
    unit="1",
)
_WEIGHTS = Control(
    FloatSlider(value=1, min=0.2, max=1.1, step=0.1),
    "weight_gradient_time",
    "Of that, gradients of weights",
    unit="1",
)

schedules = Explorer(
    "schedules",
    "Four schedules, played",
    kind="gantt",
    given={"forward_time": 1, "model_chunks": 2},
    numbers={
        "gpipe": pipelining.bubble_time,
        "1f1b": pipelining.bubble_time,
        "interleaved": pipelining.bubble_time_interleaved,
        "zero_bubble": pipelining.bubble_time_zero_bubble,
    },
    controls=[
        Control(
            Dropdown(
                options=[
                    ("GPipe", "gpipe"),
                    ("1F1B", "1f1b"),
                    ("Interleaved 1F1B, two pieces", "interleaved"),
                    ("ZB-H1 (zero bubble)", "zero_bubble"),
                ],
                value="gpipe",
            ),
            "schedule",
            "Schedule",
        ),
        _STAGES,
        # Interleaving wants a multiple of the stages.
        Control(IntSlider(value=8, min=8, max=24, step=8), "micro_batches", "Micro-batches"),
        _BACKWARD,
        _WEIGHTS,
    ],
    presets=[
        Preset(
            "Forward, then backward",
            {"schedule": "gpipe", "micro_batches": 8},
            "forward, a hard stop, backward: a bubble",
            "59:24",
        ),
        Preset(
            "1F1B",
            {"schedule": "1f1b", "micro_batches": 8},
            "a remedy: one forward, one backward",
            "1:00:31",
        ),
        Preset("Interleaved", {"schedule": "interleaved", "micro_batches": 8}),
        Preset(
            "Zero bubble",
            {"schedule": "zero_bubble", "micro_batches": 8},
            "a remedy: zero bubble",
            "1:00:31",
        ),
    ],
    caption="Each bar is a pass; where there is room, it has the number of its micro-batch. The "
    "empty floor of a row is waiting. Faint bars belong to a rack's second piece of the model.",
)

laps = Explorer(
    "laps",
    "Decoding: a lap a token",
    kind="laps",
    given={"stage_time": 1},
    numbers={"utilisation": pipelining.stage_utilisation, "latency": pipelining.circling_latency},
    controls=[
        _STAGES,
        Control(IntSlider(value=1, min=1, max=12), "micro_batches", "Micro-batches in flight"),
        Control(
            FloatSlider(value=0, min=0, max=1, step=0.05),
            "hop_time",
            "Hop, in work of one stage",
            unit="1",
        ),
    ],
    presets=[
        Preset(
            "One inference",
            {"pipeline_stages": 4, "micro_batches": 1, "hop_time": 0},
            "four racks, one inference: three quarters idle",
            "57:34",
        ),
        Preset(
            "As many as stages",
            {"pipeline_stages": 4, "micro_batches": 4, "hop_time": 0},
            "fill the gap at once: no bubble in inference",
            "57:40",
        ),
        Preset("A hop that shows", {"pipeline_stages": 4, "micro_batches": 4, "hop_time": 0.25}),
        Preset("One more hides it", {"pipeline_stages": 4, "micro_batches": 5, "hop_time": 0.25}),
    ],
    caption="Each colour is a micro-batch. When it leaves the last stage, its next token enters "
    "the first one; nothing has to turn round.",
)
