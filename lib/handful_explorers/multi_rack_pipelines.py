"""Explorers of the chapter on why pipelining is not wise."""

from __future__ import annotations

from handful import multi_rack_pipelines

from .plotting.explorer import (
    Curve,
    Explorer,
    Guess,
    Mark,
    Scale,
    Sweep,
)

_MODEL = {"model": "DeepSeek-V3", "precision": "fp8"}
_BOXES, _RACKS = ({"hardware": name, **_MODEL} for name in ("H200 SXM", "GB200 NVL72"))
ENDLESS = 1e9  # stages: of the weights nothing is left on any of them

room_for_people = Explorer(
    "room-for-people",
    "Room for people",
    x=Sweep("pipeline_stages", 1, 11, log=False, points=11, at=8),
    y=Scale("Room, as a multiple of side by side", log=False, min=0, max=3),
    curves=[
        Curve(
            multi_rack_pipelines.room_gain,
            "Boxes of eight H200",
            role="total",
            scenario=_BOXES,
        ),
        Curve(
            multi_rack_pipelines.room_gain,
            "Racks of GB200",
            scenario=_RACKS,
        ),
    ],
    marks=[
        Mark(
            multi_rack_pipelines.room_gain,
            "ceiling of the boxes",
            axis="y",
            given={"pipeline_stages": ENDLESS},
            scenario=_BOXES,
        )
    ],
    guess=Guess(
        "Weights fill three fifths of a box of eight H200. Chain such boxes. How much more room "
        "for people does the chain have than the same boxes side by side? Draw your curve; 1 means "
        "no gain.",
        draw="boxes-of-eight-h200",
    ),
    caption="DeepSeek-V3 in fp8, cut evenly, for conversations of any length. A chain has whole "
    "stages; the lines join them.",
)
