"""Explorers of the chapter on memory tiers: where a cache waits, and how far it can grow."""

from __future__ import annotations

from ipywidgets import FloatSlider, IntSlider

from handful import latency, memory_wall, tiers

from .plotting.explorer import Control, Curve, Explorer, Guess, Preset, Scale, Sweep

# The machine and the conversation of the chapter: the host and the drives are fixed as well.
_CHAPTER = {"hardware": "GB200 NVL72", "model": "DeepSeek-V3", "precision": "fp8"}

hold_or_recompute = Explorer(
    "hold-or-recompute",
    "Hold, fetch, or compute again",
    x=Sweep("hold_time", 10, 1e7, at=3600, title="Time until it is wanted again"),
    y=Scale("Cents to get a thousand conversations back", "cent", min=0.1, max=1e5),
    curves=[
        Curve(tiers.context_cents_in_memory, "Memory of the chip", id="memory", scenario=_CHAPTER),
        Curve(
            tiers.context_cents_written,
            "Memory of its host",
            given={**tiers.device("Grace"), "tier_devices": 1},
            scenario=_CHAPTER,
            id="host",
        ),
        Curve(
            tiers.context_cents_written,
            "Spinning disk",
            given=tiers.device("Seagate Exos X24"),
            scenario=_CHAPTER,
            id="disk",
        ),
        # Not third, whose line is dotted as a guess is.
        Curve(
            tiers.context_cents_written,
            "Flash",
            given={**tiers.device("Micron 9650 Pro 30.72"), "tier_devices": 1},
            scenario=_CHAPTER,
            id="flash",
        ),
        Curve(
            tiers.context_cents_again,
            "Compute again",
            role="reference",
            id="again",
            scenario=_CHAPTER,
        ),
    ],
    given={
        "context": 100_000,
        "model_flops_utilisation": 0.3,
        "storage_lifetime": tiers.FIVE_YEARS,
    },
    controls=[
        Control(
            FloatSlider(value=0, min=0, max=1, step=0.01),
            "idle_share",
            "The chip waits for this share of the reading",
        ),
        Control(
            IntSlider(value=16, min=1, max=64),
            "tier_devices",
            "Disks that are read side by side",
        ),
        Control(
            FloatSlider(value=1, min=0, max=1, step=0.01),
            "written_share",
            "New, and has to be written: this share",
        ),
    ],
    presets=[
        Preset(
            "Reading is hidden",
            {"hold_time": 3600, "idle_share": 0.0, "written_share": 1.0, "tier_devices": 16},
        ),
        Preset(
            "A chip waits",
            {"hold_time": 3600, "idle_share": 1.0, "written_share": 1.0, "tier_devices": 16},
        ),
        Preset(
            "Nothing is new",
            {"hold_time": 3600, "idle_share": 0.0, "written_share": 0.0, "tier_devices": 16},
        ),
    ],
    guess=Guess(
        "However short the stay, flash charges a day\u2019s rent. What does it charge for five "
        "minutes, a day, a month? Draw it.",
        draw="flash",
    ),
    caption="The lowest line is the cheapest place. Devices cost their medium alone, paid off over "
    "five years. We assume that no chip waits for writing, and leave out the chip memory that a "
    "cache fills while it arrives.",
)

wall = Explorer(
    "wall",
    "The memory wall of one machine",
    x=Sweep("batch", 1, 65536, at=64),
    y=Scale("Context of every conversation", "token", min=100, max=1e9),
    curves=[
        Curve(
            memory_wall.context_that_fits,
            "Caches fill the memory",
            role="total",
            whole="down",
            none="at no context",
            needs=latency.fewest_devices_for_weights,
        ),
        Curve(memory_wall.wall_context, "Caches are half of what is read", whole="near"),
    ],
    presets=[
        Preset("A full machine", {"batch": 2000}),
        Preset("Sixty-four at a time", {"batch": 64}),
        Preset(
            "A dense 70B on eight H100",
            {"batch": 64, "model": "Llama 3.1 70B", "hardware": "H100 SXM", "precision": "fp8"},
        ),
    ],
    caption="Above the line of full memory the conversations do not fit; above the other a step "
    "spends most of its reading on caches. If the weights do not fit, the first line is missing.",
)
