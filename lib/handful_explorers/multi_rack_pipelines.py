"""Explorers of the chapter on why pipelining is not wise."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider

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

_CONTEXT = Control(
    FloatLogSlider(value=8192, min=2, max=6, step=0.05),
    "context",
    "Context of every sequence",
    follows=True,
)
_DOMAINS = ("H100 SXM", "H200 SXM", "B200 SXM", "GB200 NVL72")
_ALL = 25e3  # more people than any domain has room for, in conversations of this chapter's length

memory_against_stages = Explorer(
    "memory-against-stages",
    "What one chip has to hold",
    x=Sweep("pipeline_stages", 1, 16, log=False, at=8),
    y=Scale("Memory of one chip", log=False, min=0),
    stack=True,
    curves=[
        Curve(multi_rack_pipelines.caches_of_crowd, "Cache memory", id="caches"),
        Curve(multi_rack_pipelines.weights_on_device, "Weight memory", id="weights"),
    ],
    marks=[Mark(racks.memory_of_chip, "one chip has", axis="y", limit=True)],
    controls=[
        Control(
            FloatLogSlider(value=_ALL, min=0, max=4.5, step=0.02),
            "micro_batch",
            "Micro-batch, as far as it fits",
        ),
        _CONTEXT,
    ],
    readouts=[
        Readout(
            multi_rack_pipelines.crowd,
            "People in a micro-batch",
            whole="down",
            none="nobody: one rack or box alone cannot hold the weights",
        ),
        Readout(multi_rack_pipelines.device_memory_of_crowd, "Both"),
    ],
    presets=[
        Preset("One full rack", {"pipeline_stages": 1, "micro_batch": _ALL, "context": 100e3}),
        Preset("Eight chained", {"pipeline_stages": 8, "micro_batch": _ALL, "context": 100e3}),
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
    caption="Each stage has a rack to itself, or a box of eight where chips come in boxes, and as "
    "many micro-batches are in flight as there are stages. A micro-batch has no more people than "
    "one rack or box alone has room for.",
)

room_for_people = Explorer(
    "room-for-people",
    "Room for people",
    x=Sweep("pipeline_stages", 1, 16, log=False, at=8),
    y=Scale("People for each rack or box", log=False, min=0),
    curves=[
        Curve(
            multi_rack_pipelines.batch_of_stages,
            "Room with P stages",
            role="total",
            whole="down",
            none="nobody fits",
        ),
        Curve(
            multi_rack_pipelines.batch_of_many_stages,
            "Limit",
            role="reference",
            whole="down",
        ),
    ],
    controls=[
        Control(Dropdown(options=list(_DOMAINS), value="H200 SXM"), "hardware", "Chip"),
        _CONTEXT,
    ],
    readouts=[
        Readout(latency.weight_memory, "The weights"),
        Readout(multi_rack_pipelines.domain_capacity, "Memory of a rack or box"),
    ],
    presets=[
        Preset(
            "Boxes of eight H200",
            {"pipeline_stages": 8, "context": 100e3, "hardware": "H200 SXM"},
        ),
        Preset(
            "Racks of GB200",
            {"pipeline_stages": 8, "context": 100e3, "hardware": "GB200 NVL72"},
        ),
        Preset(
            "Boxes that are too small",
            {"pipeline_stages": 2, "context": 100e3, "hardware": "H100 SXM"},
        ),
    ],
    guess=Guess(
        "Weights fill three fifths of a box of eight H200. Chain more and more such boxes. How "
        "many people does each of them have room for? Draw it.",
        draw="room-with-p-stages",
    ),
    caption="Each stage has a rack or a box of eight to itself, with chips chosen here. Where a "
    "model is too large for one box, nobody fits until a stage's share of it does.",
)
