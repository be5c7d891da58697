"""Explorers of the chapter on why pipelining is not wise."""

from __future__ import annotations

from ipywidgets import FloatLogSlider

from handful import latency, multi_rack_pipelines, racks

from .plotting.explorer import (
    Control,
    Curve,
    Explorer,
    Guess,
    Mark,
    Preset,
    Readout,
    Scale,
    Sweep,
)

_MICRO_BATCH = Control(
    FloatLogSlider(value=3600, min=0, max=4, step=0.02), "micro_batch", "Micro-batch"
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
    x=Sweep("pipeline_stages", 1, 16, log=False, at=8),
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
            "One full rack",
            {"pipeline_stages": 1, "micro_batch": 3600, "context": 100e3},
            "weights and caches over the chips",
            "1:06:26",
        ),
        Preset(
            "Eight chained",
            {"pipeline_stages": 8, "micro_batch": 3600, "context": 100e3},
            "the footprint of the caches stays constant",
            "1:11:29",
        ),
        Preset(
            "Short contexts, one stage",
            {"pipeline_stages": 1, "micro_batch": 2000, "context": 5000},
        ),
        Preset(
            "Short contexts, two stages",
            {"pipeline_stages": 2, "micro_batch": 2000, "context": 5000},
            "even two stages are often enough for caches to dominate",
            "1:11:40",
        ),
    ],
    guess=Guess(
        "Cut a model into more stages, each on a rack of its own, and keep all of them busy. What "
        "becomes of the caches that one chip has to hold? Draw it.",
        draw="caches",
    ),
    caption="Each stage has a rack or box to itself, and as many micro-batches are in flight as "
    "there are stages. "
    "More stages thin out the weights and leave the caches as they were.",
)

room_for_people = Explorer(
    "room-for-people",
    "Room for people",
    x=Sweep("pipeline_stages", 1, 16, log=False, at=8),
    y=Scale("People for each rack or box", log=False, min=0),
    curves=[
        Curve(
            multi_rack_pipelines.batch_of_stages,
            "With P stages",
            role="total",
            whole="down",
            none="nobody fits",
        ),
        Curve(
            multi_rack_pipelines.batch_of_many_stages,
            "Limit for many stages",
            role="reference",
            whole="down",
        ),
    ],
    controls=[_CONTEXT],
    readouts=[
        Readout(latency.weight_memory, "The weights"),
        Readout(multi_rack_pipelines.domain_capacity, "Memory of a rack or box"),
    ],
    presets=[
        Preset(
            "Eight racks",
            {"pipeline_stages": 8, "context": 100e3, "hardware": "GB200 NVL72"},
            "eight racks, and less memory would do",
            "1:02:22",
        ),
        Preset(
            "Eight boxes of H200",
            {"pipeline_stages": 8, "context": 100e3, "hardware": "H200 SXM"},
        ),
        Preset(
            "Boxes that are too small",
            {"pipeline_stages": 2, "context": 100e3, "hardware": "H100 SXM"},
        ),
    ],
    caption="Each stage has a rack or a box of eight to itself. Beyond the first few stages there "
    "is little left to free. Where a model is too large for one box, nobody fits until a stage's "
    "share of it does.",
)
