"""Explorers of the chapter on pipelining across racks."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider

from handful import experts, pipelining
from handful.facts import get

from .plotting.explorer import Control, Curve, Explorer, Guess, Mark, Preset, Readout, Scale, Sweep

_PORT = get("interconnects", "InfiniBand NDR")["one_direction_bytes_per_s"]

transfer_ratio = Explorer(
    "transfer-ratio",
    "How few layers may a rack have?",
    x=Sweep("layers_per_stage", 1, 64, at=1),
    y=Scale("Fabric time ÷ cable time"),
    curves=[
        Curve(
            pipelining.traffic_time_ratio_of_chip,
            "Your rack",
            role="total",
            id="yours",
        ),
        Curve(
            pipelining.traffic_time_ratio,
            "The lecture: 8 times",
            role="reference",
            given={"bandwidth_ratio": 8},
        ),
    ],
    marks=[
        Mark(pipelining.fewest_layers_of_chip, "fabric busier from", whole="up"),
    ],
    controls=[
        Control(
            IntSlider(value=8, min=1, max=32),
            "active_experts",
            "Experts of a token, k",
        ),
        Control(
            FloatLogSlider(value=_PORT, min=10, max=12, step=0.01),
            "scale_out_bandwidth",
            "Port of each chip",
        ),
    ],
    readouts=[
        Readout(
            pipelining.fewest_layers_of_chip, "Layers from which the fabric is busier", whole="up"
        ),
        Readout(experts.bandwidth_ratio, "Fabric over port"),
    ],
    presets=[
        Preset(
            "k = 32",
            {"active_experts": 32, "layers_per_stage": 1},
            "maybe 32 or 16 experts for DeepSeek",
            "51:40",
        ),
        Preset(
            "k = 8, one layer",
            {"active_experts": 8, "layers_per_stage": 1},
            "it could be 8 by itself",
            "52:53",
        ),
        Preset("Our two racks", {"active_experts": 8, "layers_per_stage": 30}),
    ],
    guess=Guess(
        "In each layer a token goes to eight experts and back, over a rack's fast fabric. Then it "
        "moves on, once, through a port that is eighteen times slower. With a single layer to a "
        "rack, how many times as long as the port is the fabric busy?",
        level="yours",
    ),
    caption="Above 1 the fabric is busy for longer than the cable, so handing tokens on holds "
    "nobody up. Bandwidth only, with k as it is set here and the same "
    "bytes for each number on either wire.",
)

_STAGES = Control(
    Dropdown(options=[("2", 2), ("4", 4), ("6", 6), ("8", 8)], value=4), "pipeline_stages", "Stages"
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
    "Of it, for the weights",
    unit="1",
)

schedules = Explorer(
    "schedules",
    "Five schedules, played",
    kind="gantt",
    given={"forward_time": 1, "model_chunks": 2},
    numbers={
        "gpipe": pipelining.bubble_time,
        "1f1b": pipelining.bubble_time,
        "interleaved": pipelining.bubble_time_interleaved,
        "zero_bubble": pipelining.bubble_time_zero_bubble,
        "dual_pipe": pipelining.bubble_time_dual_pipe_in_turn,
    },
    controls=[
        Control(
            Dropdown(
                options=[
                    ("GPipe", "gpipe"),
                    ("1F1B", "1f1b"),
                    ("Interleaved 1F1B, two pieces", "interleaved"),
                    ("ZB-H1 (zero bubble)", "zero_bubble"),
                    ("DualPipe", "dual_pipe"),
                ],
                value="gpipe",
            ),
            "schedule",
            "Schedule",
        ),
        _STAGES,
        Control(IntSlider(value=8, min=1, max=24), "micro_batches", "Micro-batches"),
        _BACKWARD,
        _WEIGHTS,
    ],
    presets=[
        Preset(
            "One micro-batch",
            {"schedule": "gpipe", "micro_batches": 1},
            "with four racks and one batch, three quarters idle",
            "57:34",
        ),
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
        Preset(
            "Zero bubble",
            {"schedule": "zero_bubble", "micro_batches": 8},
            "a remedy: zero bubble",
            "1:00:31",
        ),
        Preset("From both ends", {"schedule": "dual_pipe", "micro_batches": 8}),
    ],
    caption="Numbers are micro-batches, the bare floor of a row is waiting. Faint bars belong to a "
    "device's second piece of the model, "
    "or in DualPipe to the stream from the other end; two half-high bars are passes that overlap.",
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
