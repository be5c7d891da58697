"""Explorers of the chapter on why pipelining is not wise."""

from __future__ import annotations

from handful import multi_rack_pipelines

from .plotting.explorer import (
    Curve,
    Explorer,
    Guess,
    Scale,
    Sweep,
)

_MODEL = {"model": "DeepSeek-V3", "precision": "fp8"}

room_for_people = Explorer(
    "room-for-people",
    "Room for people",
    x=Sweep("pipeline_stages", 1, 11, log=False, points=11, at=8),
    y=Scale("Room, as a multiple of side by side", log=False, min=0),
    curves=[
        Curve(
            multi_rack_pipelines.room_gain,
            "Boxes of eight H200",
            role="total",
            scenario={"hardware": "H200 SXM", **_MODEL},
        ),
        Curve(
            multi_rack_pipelines.room_gain,
            "Racks of GB200",
            scenario={"hardware": "GB200 NVL72", **_MODEL},
        ),
    ],
    guess=Guess(
        "Weights fill three fifths of a box of eight H200. Chain such boxes, with a stage in each. "
        "How many times as many people do they have room for as side by side? Draw it.",
        draw="boxes-of-eight-h200",
    ),
    caption="DeepSeek-V3 in fp8, for conversations of any length. A chain has whole stages, so the "
    "lines only lead from one to the next.",
)
