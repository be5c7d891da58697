"""Explorers of the chapter on why pipelining is not wise."""

from __future__ import annotations

from handful import latency, multi_rack_pipelines
from handful.scenario import values

from .plotting.explorer import (
    Curve,
    Explorer,
    Guess,
    Points,
    Scale,
    Sweep,
)

ENDLESS = 1e9  # stages: of the weights nothing is left on any of them
CHAIN = 8  # boxes or racks in the chain that is guessed


def share(hardware: str) -> float:
    """Return the share of one box or rack that the weights of DeepSeek-V3 in fp8 fill.

    >>> [round(share(name), 2) for name in ("GB200 NVL72", "H200 SXM")]
    [0.05, 0.59]
    """
    known = values(hardware, "DeepSeek-V3", "fp8")
    return latency.weight_memory(known) / multi_rack_pipelines.devices_memory(known)


def chains() -> list[tuple[float, float, str]]:
    """Return what eight boxes or racks of some chips gain: share, gain, what they are."""
    return [
        (
            share(name),
            multi_rack_pipelines.room_gain(
                values(name, "DeepSeek-V3", "fp8"), pipeline_stages=CHAIN
            ),
            words,
        )
        for name, words in (("GB200 NVL72", "GB200"), ("H200 SXM", "H200"))
    ]


room_for_people = Explorer(
    "room-for-people",
    "Room for people",
    x=Sweep(
        "weight_memory_share",
        0.01,
        0.8,
        log=False,
        at=0.2,
        title="Share of a box that weights fill",
    ),
    y=Scale("Room, as a multiple of side by side", log=False, min=0, max=8),
    curves=[
        Curve(
            multi_rack_pipelines.room_gain_of_share,
            "A chain of eight",
            role="total",
            given={"pipeline_stages": CHAIN},
        ),
        Curve(
            multi_rack_pipelines.room_gain_of_share,
            "A chain of two",
            given={"pipeline_stages": 2},
        ),
        Curve(
            multi_rack_pipelines.room_gain_of_share,
            "Ceiling",
            role="reference",
            given={"pipeline_stages": ENDLESS},
        ),
    ],
    points=[Points("DeepSeek-V3, eight chained", chains)],
    guess=Guess(
        "Chain eight boxes. How much more room for people does the chain have than the same boxes "
        "side by side, if weights fill little of each box, half of it, or most of it? Draw your "
        "curve; 1 means no gain.",
        draw="a-chain-of-eight",
    ),
    caption="The model is cut evenly. The ceiling is a chain without end.",
)
