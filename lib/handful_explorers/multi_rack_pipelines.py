"""Explorers of the chapter on why pipelining is not wise."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider

from handful import latency, multi_rack_pipelines

from .plotting.explorer import (
    Control,
    Curve,
    Explorer,
    Guess,
    Preset,
    Readout,
    Scale,
    Sweep,
)

_CONTEXT = Control(
    FloatLogSlider(value=100e3, min=2, max=6, step=0.05), "context", "Context of every sequence"
)
_MODEL = {"model": "DeepSeek-V3", "precision": "fp8"}
_DOMAINS = ("H100 SXM", "H200 SXM", "B200 SXM", "GB200 NVL72")

room_for_people = Explorer(
    "room-for-people",
    "Room for people",
    x=Sweep("pipeline_stages", 1, 16, log=False, points=16, at=8),
    y=Scale("People for each rack or box", log=False, min=0),
    curves=[
        Curve(
            multi_rack_pipelines.batch_of_stages,
            "Room in a chain",
            role="total",
            whole="down",
            none="nobody fits",
            scenario=_MODEL,
        ),
        Curve(
            multi_rack_pipelines.batch_of_many_stages,
            "If weights took none of it",
            role="reference",
            whole="down",
            scenario=_MODEL,
        ),
    ],
    controls=[
        Control(Dropdown(options=list(_DOMAINS), value="H200 SXM"), "hardware", "Chip"),
        _CONTEXT,
    ],
    readouts=[
        Readout(latency.weight_memory, "The weights", scenario=_MODEL),
        Readout(multi_rack_pipelines.domain_capacity, "Memory of a rack or box", scenario=_MODEL),
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
            "Boxes of eight H100, too small for one",
            {"pipeline_stages": 2, "context": 100e3, "hardware": "H100 SXM"},
        ),
    ],
    guess=Guess(
        "Weights fill three fifths of a box of eight H200. Chain more and more such boxes. How "
        "many people does each of them have room for? Draw it.",
        draw="room-in-a-chain",
    ),
    caption="Each stage has a rack or a box of eight to itself, with chips chosen here. Where a "
    "model is too large for one box, nobody fits until a stage's share of it does.",
)
