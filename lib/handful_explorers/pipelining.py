"""Explorers of the chapter on pipelining across racks."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatSlider, IntSlider

from .plotting.explorer import Control, Explorer, Preset

_STAGES = Control(
    Dropdown(options=[("2", 2), ("4", 4), ("8", 8)], value=4), "pipeline_stages", "Stages"
)

laps = Explorer(
    "laps",
    "Decoding: a lap a token",
    kind="laps",
    controls=[
        _STAGES,
        Control(IntSlider(value=1, min=1, max=16), "micro_batches", "Micro-batches in flight"),
        Control(
            FloatSlider(value=0, min=0, max=1, step=0.05),
            "hop_time",
            "Length of a hop (unit: work of one stage)",
            unit="1",
        ),
    ],
    presets=[
        Preset("One crowd", {"pipeline_stages": 4, "micro_batches": 1, "hop_time": 0}),
        Preset("With hops", {"pipeline_stages": 4, "micro_batches": 4, "hop_time": 0.25}),
    ],
    caption="Each colour is a micro-batch, and a thin bar its hop to the next stage. Above the "
    "first row are the hops back from the last stage; then the next token begins.",
)
