"""Explorers of the chapter on why pipelining is not wise."""

from __future__ import annotations

from ipywidgets import Checkbox, Dropdown, FloatLogSlider, IntSlider

from handful import latency, multi_rack_pipelines, pipelining, racks, shapes

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

_MICRO_BATCH = Control(
    FloatLogSlider(value=2000, min=0, max=4, step=0.02), "micro_batch", "Micro-batch"
)
_CONTEXT = Control(
    FloatLogSlider(value=8192, min=2, max=6, step=0.05),
    "context",
    "Context of every sequence",
    follows=True,
)

memory_against_stages = Explorer(
    "memory-against-stages",
    "What one chip has to hold",
    x=Sweep("pipeline_stages", 1, 16, log=False, at=4),
    y=Scale("Memory of one chip", log=False, min=0),
    stack=True,
    curves=[
        Curve(multi_rack_pipelines.caches_on_device, "Caches"),
        Curve(multi_rack_pipelines.weights_on_device, "Weights"),
    ],
    marks=[Mark(racks.memory_of_chip, "one chip has", axis="y", limit=True)],
    controls=[_MICRO_BATCH, _CONTEXT],
    readouts=[
        Readout(multi_rack_pipelines.device_memory_of_stage, "Both"),
        Readout(multi_rack_pipelines.memory_used, "Share of the chip's memory"),
        Readout(
            multi_rack_pipelines.equal_stages,
            "Caches outweigh weights from this many stages on",
            whole="up",
        ),
    ],
    presets=[
        Preset(
            "Four stages",
            {"pipeline_stages": 4, "micro_batch": 2000},
            "as many micro-batches as pipeline stages: four",
            "1:09:51",
        ),
        Preset(
            "Two stages",
            {"pipeline_stages": 2, "micro_batch": 2000},
            "even two stages are often enough for caches to dominate",
            "1:11:40",
        ),
        Preset(
            "One stage",
            {"pipeline_stages": 1, "micro_batch": 2000},
            "weights and caches over the chips",
            "1:06:26",
        ),
        Preset("A long context", {"pipeline_stages": 8, "micro_batch": 500, "context": 100e3}),
    ],
    guess=Guess(
        "Cut a model into more stages, each on a rack of its own, and keep all of them busy. What "
        "becomes of the caches that one chip has to hold? Draw it.",
        draw="caches",
    ),
    caption="Each stage has a rack or node to itself, and as many micro-batches are in flight as "
    "there are stages. "
    "More stages thin out the weights and leave the caches as they were.",
)

room_for_context = Explorer(
    "room-for-context",
    "Room for context",
    x=Sweep("pipeline_stages", 1, 64, at=1),
    y=Scale("Longest context that fits", log=False, min=0),
    curves=[
        Curve(
            multi_rack_pipelines.context_of_stages,
            "With this many stages",
            role="total",
            whole="down",
            none="no context fits",
        ),
        Curve(
            multi_rack_pipelines.context_of_many_stages,
            "Stages without end",
            role="reference",
            whole="down",
            none="no context fits",
        ),
    ],
    controls=[_MICRO_BATCH],
    presets=[
        Preset("One rack", {"pipeline_stages": 1, "micro_batch": 2000}),
        Preset(
            "Eight racks",
            {"pipeline_stages": 8, "micro_batch": 2000},
            "eight racks, and less memory would do",
            "1:02:22",
        ),
        Preset(
            "A trillion weights on eight H100",
            {"pipeline_stages": 2, "micro_batch": 64, "hardware": "H100 SXM", "model": "Kimi K2"},
        ),
    ],
    caption="The first doubling frees half of what the weights took; after that there is little "
    "left to free.",
)

latency_against_stages = Explorer(
    "latency-against-stages",
    "Three ways to use more racks",
    x=Sweep("pipeline_stages", 1, 64, at=4),
    y=Scale("From token to token"),
    curves=[
        Curve(multi_rack_pipelines.token_latency_of_stages, "As a pipeline", role="total"),
        Curve(multi_rack_pipelines.token_latency_of_one_domain, "As one scale-up domain"),
        Curve(
            multi_rack_pipelines.token_latency_of_cut_rack,
            "One rack, cut into stages",
            role="reference",
        ),
    ],
    controls=[
        Control(FloatLogSlider(value=3.7e-6, min=-6, max=-1.9, step=0.02), "hop_time", "Hop"),
        Control(FloatLogSlider(value=2000, min=0, max=4, step=0.02), "batch", "Micro-batch"),
    ],
    readouts=[Readout(latency.step_time, "Step, without the latency of its layers")],
    presets=[
        Preset(
            "A few milliseconds",
            {"hop_time": 3e-3, "pipeline_stages": 4},
            "a hop takes a few milliseconds, perhaps ten times off",
            "1:15:20",
        ),
        Preset("As measured", {"hop_time": 3.7e-6, "pipeline_stages": 4}),
        Preset(
            "Neutral",
            {"hop_time": 1e-6, "pipeline_stages": 4},
            "pipelining is neutral for latency",
            "1:00:49",
        ),
    ],
    caption="A pipeline of racks reads no faster than one rack: at any moment one of them reads "
    "for you. "
    "A larger scale-up domain reads with all its chips at once, if communication allows. The "
    "latency of the layers, which a token pays in all three, is left out.",
)

_CHIPS = ("H100 SXM", "H200 SXM", "B200 SXM", "GB200 NVL72", "GB300 NVL72", "MI355X")

capacity_and_bandwidth = Explorer(
    "capacity-and-bandwidth",
    "A scale-up domain, as memory and as bandwidth",
    x=Sweep("domain_capacity", 1e11, 1e14, at=3e12),
    y=Scale("All chips together read"),
    curves=[
        Curve(
            multi_rack_pipelines.bandwidth_at_drain,
            "all of it in 20 ms",
            role="reference",
            given={"drain_time": 0.02},
            id="beat",
        )
    ],
    dots=Dots(
        multi_rack_pipelines.domain_capacity, multi_rack_pipelines.domain_bandwidth, rows=_CHIPS
    ),
    marks=[
        Mark(latency.weight_memory, "your model's weights"),
        Mark(multi_rack_pipelines.bandwidth_needed, "to read them in that time", axis="y"),
    ],
    controls=[
        Control(
            FloatLogSlider(value=2e-3, min=-4, max=-1.5, step=0.02),
            "latency_floor",
            "Read the weights in",
        )
    ],
    readouts=[
        Readout(multi_rack_pipelines.domain_capacity, "Your domain holds"),
        Readout(multi_rack_pipelines.domain_bandwidth, "Your domain reads"),
        Readout(latency.full_weight_time, "It reads your model's weights in"),
    ],
    presets=[
        Preset(
            "2 ms a token",
            {"latency_floor": 2e-3},
            "scale-up matters for bandwidth, not for capacity",
            "1:18:16",
        ),
        Preset(
            "20 ms a token", {"latency_floor": 2e-2}, "a train that leaves every 20 ms", "1:09:22"
        ),
        Preset("A dense 405B", {"latency_floor": 2e-3, "model": "Llama 3.1 405B"}),
    ],
    caption="Each dot is a node of eight or a rack of 72. Right of the upright line the model "
    "fits; above the level line it is read in "
    "the time that you set. Between the two lie the machines that hold a model and read it too "
    "slowly.",
)

stages_in_training = Explorer(
    "stages-in-training",
    "Stages in training: what they cost and what they save",
    x=Sweep("pipeline_stages", 1, 64, at=16),
    y=Scale("Share of the time"),
    curves=[
        Curve(pipelining.bubble_of_batch, "Bubble of 1F1B", role="total", id="bubble"),
        Curve(multi_rack_pipelines.gradient_ratio, "Exchange of gradients", id="gradients"),
    ],
    given={"sequence_tokens": 4096, "micro_batch": 1, "gradient_bytes": 2},
    controls=[
        Control(
            FloatLogSlider(value=15360, min=2.5, max=5, step=0.02), "batch", "Sequences of a step"
        ),
        Control(FloatLogSlider(value=2048, min=1.8, max=4.6, step=0.02), "devices", "Chips"),
    ],
    readouts=[
        Readout(pipelining.micro_batches_of_batch, "Micro-batches of a pipeline", whole="up"),
        multi_rack_pipelines.tokens_per_chip,
    ],
    presets=[
        Preset(
            "16 stages, 2,048 chips",
            {
                "pipeline_stages": 16,
                "batch": 15360,
                "devices": 2048,
                "hardware": "H100 SXM",
                "precision": "bf16",
            },
        ),
        Preset(
            "No pipeline",
            {
                "pipeline_stages": 1,
                "batch": 15360,
                "devices": 2048,
                "hardware": "H100 SXM",
                "precision": "bf16",
            },
        ),
        Preset(
            "Four times the chips",
            {
                "pipeline_stages": 16,
                "batch": 15360,
                "devices": 8192,
                "hardware": "H100 SXM",
                "precision": "bf16",
            },
        ),
    ],
    caption="The bubble over the work, and the exchange of gradients over the backward pass that "
    "has to hide it. "
    "Batch and chips stay, only the cut changes; sequences of 4,096 tokens, one a micro-batch. "
    "The bubble soon stops growing; the exchange of gradients goes on shrinking.",
)


def _training_rows() -> dict[str, dict[str, float]]:
    """Return what training keeps of each model.

    That is weights to count, layers, and bytes of activations (34 for each unit of width).
    """
    found: dict[str, dict[str, float]] = {}
    for name in ("Llama 3.1 8B", "Llama 3.1 70B", "Llama 3.1 405B"):
        s = shapes.shape(name)
        found[name] = {
            "total_parameters": shapes.total_parameters(s),
            "layers": s.layers,
            "layer_activation_bytes": 34 * s.d_model,
        }
    return found


activations_in_flight = Explorer(
    "activations-in-flight",
    "Training memory against stages",
    x=Sweep("pipeline_stages", 1, 32, log=False, at=16),
    y=Scale("Memory of one chip", log=False, min=0),
    stack=True,
    curves=[
        Curve(multi_rack_pipelines.activations_on_device, "Activations, 1F1B"),
        Curve(multi_rack_pipelines.training_state, "Weights, gradients, optimiser"),
        Curve(
            multi_rack_pipelines.activations_on_device_gpipe,
            "Activations, GPipe",
            role="reference",
            id="gpipe",
        ),
    ],
    given={"stage_devices": 8, "micro_batch": 1, "sequence_tokens": 8192, "training_bytes": 16},
    controls=[
        Control(
            Dropdown(options=[(name, name) for name in _training_rows()], value="Llama 3.1 70B"),
            "shape",
            "Model",
            rows=_training_rows(),
        ),
        Control(IntSlider(value=32, min=1, max=128), "micro_batches", "Micro-batches"),
        Control(Checkbox(value=False), "gpipe", "Show GPipe's activations"),
    ],
    presets=[
        Preset("16 stages", {"pipeline_stages": 16, "shape": "Llama 3.1 405B", "gpipe": False}),
        Preset("Few micro-batches", {"micro_batches": 8, "gpipe": False}),
        Preset("GPipe keeps them all", {"micro_batches": 128, "gpipe": True}),
    ],
    caption="Eight chips a stage, sequences of 8,192 tokens, no recomputation, optimiser not "
    "shared out. "
    "1F1B holds as many micro-batches as there are stages, so the stages cancel once more.",
)
