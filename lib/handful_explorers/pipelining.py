"""Explorers of the chapter on pipelining across racks."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider

from handful import experts, pipelining

from .plotting.explorer import Control, Curve, Explorer, Guess, Mark, Preset, Readout, Scale, Sweep


def _ratio(chip: str, network: str | None = None) -> dict[str, float]:
    """Return a chip's ratio of bandwidths, with a network of another speed where one is named."""
    ratio = next(g.ratio for g in experts.generations(network) if g.name == chip)
    assert ratio is not None, f"{chip} has no known bandwidth outside its domain"
    return {"bandwidth_ratio": ratio}


transfer_ratio = Explorer(
    "transfer-ratio",
    "Does the network between racks keep up?",
    x=Sweep("layers_per_stage", 1, 64, at=1),
    y=Scale("Fabric time ÷ network time"),
    curves=[
        Curve(
            pipelining.traffic_time_ratio_of_chip,
            "Your chip, with its port",
            role="total",
            id="yours",
        ),
        Curve(
            pipelining.traffic_time_ratio,
            "The lecture: 8 times",
            role="reference",
            given={"bandwidth_ratio": 8},
        ),
        Curve(
            pipelining.traffic_time_ratio,
            "GB200, 400 Gb/s a chip",
            given=_ratio("GB200 NVL72", "InfiniBand NDR"),
            id="narrow",
        ),
        Curve(pipelining.traffic_time_ratio, "MI355X, 400 Gb/s a chip", given=_ratio("MI355X")),
        Curve(pipelining.traffic_time_ratio, "TPU v5p between pods", given=_ratio("TPU v5p")),
    ],
    marks=[Mark(pipelining.fewest_layers_of_chip, "your chip needs", whole="up")],
    controls=[
        Control(
            IntSlider(value=8, min=1, max=32),
            "active_experts",
            "Experts of a token, k",
            follows=True,
        )
    ],
    readouts=[
        Readout(pipelining.fewest_layers_of_chip, "Layers on a stage that suffice", whole="up"),
        Readout(experts.bandwidth_ratio, "Scale-up over scale-out"),
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
        Preset("A dense model", {"active_experts": 1, "layers_per_stage": 8}),
    ],
    guess=Guess(
        "In each layer a token goes to eight experts and back, over a rack's fast fabric. With one "
        "layer to a rack it then moves on, once, over a network nine times slower. How many times "
        "as long as the network is the fabric busy?",
        level="yours",
    ),
    caption="Above 1, the copies that go to experts keep the fabric busy for longer than the "
    "hand-over keeps the network busy, "
    "so cutting between layers costs no time. Bandwidth only: hops come later.",
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
        Preset(
            "DualPipe off its formula",
            {
                "schedule": "dual_pipe",
                "micro_batches": 12,
                "pipeline_stages": 6,
                "backward_time": 2.6,
            },
        ),
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
    "the first one; nothing has to stop and turn round.",
)

_SHARE = Scale("Bubble, of the whole time", unit="%", log=False, min=0)

bubble_share = Explorer(
    "bubble-share",
    "The bubble against micro-batches",
    x=Sweep("micro_batches", 8, 512, at=32, title="Micro-batches"),
    y=_SHARE,
    curves=[
        Curve(pipelining.bubble_of_total, "GPipe and 1F1B", role="total", id="plain"),
        Curve(pipelining.bubble_of_total_interleaved, "Interleaved", given={"model_chunks": 2}),
        Curve(pipelining.bubble_of_total_zero_bubble, "ZB-H1"),
        Curve(pipelining.bubble_of_total_dual_pipe, "DualPipe"),
    ],
    given={"forward_time": 1},
    controls=[
        Control(IntSlider(value=8, min=2, max=32), "pipeline_stages", "Stages"),
        _BACKWARD,
        _WEIGHTS,
    ],
    readouts=[Readout(pipelining.bubble_of_ideal, "GPipe and 1F1B, of the work")],
    presets=[
        Preset(
            "As many as stages",
            {"pipeline_stages": 8, "micro_batches": 8},
            "smaller batches always converge better, and run worse",
            "59:45",
        ),
        Preset("DeepSeek-V3's 16 stages", {"pipeline_stages": 16, "micro_batches": 120}),
        Preset(
            "Three equal passes",
            {
                "pipeline_stages": 8,
                "micro_batches": 32,
                "backward_time": 2,
                "weight_gradient_time": 1,
            },
        ),
    ],
    caption="ZB-H1 and DualPipe live off the gradients of weights, which nobody waits for. "
    "DualPipe takes two micro-batches a stage at least, an interleaved schedule a multiple of the "
    "stages.",
)

best_micro_batches = Explorer(
    "best-micro-batches",
    "How finely to cut a batch",
    x=Sweep("micro_batches", 1, 1000, at=30, title="Micro-batches"),
    y=Scale("Time of a training step", log=False, min=0),
    curves=[Curve(pipelining.pipeline_time, "Step", role="total")],
    marks=[Mark(pipelining.best_micro_batches, "soonest", whole="near")],
    controls=[
        Control(IntSlider(value=8, min=2, max=32), "pipeline_stages", "Stages"),
        Control(
            FloatLogSlider(value=1, min=-1, max=1.5, step=0.05),
            "stage_work_time",
            "Work of one stage",
        ),
        Control(
            FloatLogSlider(value=5e-3, min=-5, max=-1, step=0.05),
            "micro_batch_overhead",
            "Cost of each micro-batch",
        ),
    ],
    readouts=[
        Readout(pipelining.best_micro_batches, "Soonest with so many", whole="near"),
        Readout(pipelining.bubble_of_ideal, "Bubble over the work"),
    ],
    presets=[
        Preset("Coarse", {"micro_batches": 4}),
        Preset(
            "Fine",
            {"micro_batches": 400},
            "smaller batches always converge better, and run worse",
            "59:45",
        ),
        Preset("Four times the work", {"stage_work_time": 4, "micro_batches": 75}),
    ],
    caption="Left of the mark stages wait, right of it each micro-batch costs more than it saves.",
)
