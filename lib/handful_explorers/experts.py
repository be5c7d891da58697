"""Explorers of the chapter on experts over racks."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider, IntSlider

from handful import experts, racks, shapes
from handful.facts import get

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

# Without a limit every rack may be reached; more racks than any plot shows.
_FREE = {"domain_limit": 4096}
_LIMITS = [("four at most", 4), ("any number", _FREE["domain_limit"])]
_PORTS = {
    "400": get("interconnects", "InfiniBand NDR")["one_direction_bytes_per_s"],
    "800": get("interconnects", "InfiniBand XDR")["one_direction_bytes_per_s"],
}
_H100 = {"hardware": "H100 SXM", "model": "DeepSeek-V3", "precision": "fp8"}
_GB200 = {"hardware": "GB200 NVL72", "model": "DeepSeek-V3", "precision": "fp8"}


# A token's copies among racks ---------------------------------------------------------------------

_V3, _LIMIT = shapes.shape("DeepSeek-V3"), 4  # the limit in nodes: its report, section 2.1.2


_WIRES = ("domain_devices", "scale_up_bandwidth", "scale_out_bandwidth")


def _v3(name: str, network: str | None = None, only=None) -> dict[str, float]:
    """Return values of DeepSeek-V3 in fp8 on a chip, all or `only` some.

    They are what a plot holds that does not follow the page's scenario.
    """
    known = experts.expert_values(name, "DeepSeek-V3", network, precision="fp8")
    return {key: value for key in only or known if (value := known[key]) is not None}


_MACHINES = {
    "h100": ("H100 nodes", _v3("H100 SXM", only=_WIRES), 4, "node"),
    "gb200-800": ("GB200 racks, 800 Gb/s", _v3("GB200 NVL72", only=_WIRES), 9, "rack"),
    "gb200-400": (
        "GB200 racks, 400 Gb/s",
        _v3("GB200 NVL72", "InfiniBand NDR", only=_WIRES),
        9,
        "rack",
    ),
}
_WAYS = {
    "each": (
        "one copy an expert",
        racks.copies_inside_of_racks,
        racks.copies_leaving_of_racks,
        racks.fabric_time,
        racks.network_time,
        racks.crossing_slowdown_of_chip,
    ),
    "once": (
        "one copy a rack",
        racks.copies_handed_on,
        racks.copies_leaving_once_of_racks,
        racks.fabric_time_once,
        racks.network_time_once,
        racks.crossing_slowdown_once_of_chip,
    ),
}
_WAYS["limited"] = ("four nodes at most", *_WAYS["once"][1:])

racks_scene = Explorer(
    "racks",
    "Where a token's copies go",
    kind="racks",
    numbers={
        **{
            f"{key}_{way}": Readout(
                formula, given={"domain_limit": _LIMIT} if way == "limited" else _FREE
            )
            for way, (_, *formulas) in _WAYS.items()
            for key, formula in zip(
                ("inside", "leaving", "fabric", "network", "slowdown"), formulas, strict=True
            )
        },
        "joined": racks.fabric_time_joined,
    },
    given=_v3("GB200 NVL72"),
    data={
        "experts": _V3.routed_experts,
        "active": _V3.active_experts,
        "limit": _LIMIT,
        "machines": {
            key: {"chips": row["domain_devices"], "columns": columns, "place": place}
            for key, (_, row, columns, place) in _MACHINES.items()
        },
    },
    controls=[
        Control(IntSlider(value=2, min=1, max=8), "scale_up_domains", "Racks or nodes"),
        Control(
            Dropdown(
                options=[(label, key) for key, (label, *_) in _MACHINES.items()], value="gb200-400"
            ),
            "machine",
            "Machine",
            rows={key: row for key, (_, row, *_) in _MACHINES.items()},
        ),
        Control(
            Dropdown(options=[(label, key) for key, (label, *_) in _WAYS.items()], value="each"),
            "way",
            "Crossing",
        ),
        Control(IntSlider(value=5, min=1, max=40), "which", "Which token"),
        Control(IntSlider(value=40, min=1, max=512), "device_batch", "Sequences on each chip"),
    ],
    presets=[
        Preset(
            "One rack",
            {"scale_up_domains": 1, "machine": "gb200-400", "way": "each", "device_batch": 80},
            "any chip talks to any other: a perfect fit",
            "35:46",
        ),
        Preset(
            "Two racks",
            {"scale_up_domains": 2, "machine": "gb200-400", "way": "each", "device_batch": 40},
            "half of the tokens want to leave the rack",
            "40:03",
        ),
        Preset(
            "Two racks, one copy a rack",
            {"scale_up_domains": 2, "machine": "gb200-400", "way": "once", "device_batch": 40},
            "",
            "",
        ),
        Preset(
            "DeepSeek's eight nodes",
            {"scale_up_domains": 8, "machine": "h100", "way": "limited", "device_batch": 90},
            "",
            "",
        ),
    ],
    caption="The square in the colour of the text is the token's chip, coloured squares hold its "
    "eight experts, and faint ones hand copies on. Copies for the token's own rack stay on its "
    "fabric; the others "
    "take the network between the racks, whose wires are as wide as the bytes that leave. Below, "
    "how long "
    "each wire is busy in one layer. The buttons keep the crowd of the napkin.",
)

# Curves -------------------------------------------------------------------------------------------

over_racks = Explorer(
    "over-racks",
    "A layer over more and more chips",
    x=Sweep("devices", 4, 1440, at=144, title="Chips of a layer"),
    y=Scale("Time in one layer", "s"),
    curves=[
        Curve(experts.all_to_all_time, "Travel, a copy for each expert", role="total", id="each"),
        Curve(experts.all_to_all_time_once, "Travel, a copy for each rack", given=_FREE, id="once"),
        Curve(experts.expert_weight_time, "Reading the experts", id="reading"),
        Curve(
            experts.all_to_all_time,
            "Travel, if one fabric joined all",
            role="reference",
            given={"domain_devices": 1440},
            id="joined",
        ),
    ],
    controls=[
        Control(
            FloatLogSlider(value=5760, base=2, min=6, max=16, step=0.01), "batch", "People, in all"
        ),
        Control(
            FloatLogSlider(value=_PORTS["400"], min=10, max=12, step=0.01),
            "scale_out_bandwidth",
            "Port of each chip",
        ),
        Control(
            IntSlider(value=8, min=1, max=32), "active_experts", "Experts of a token", follows=True
        ),
    ],
    readouts=[
        Readout(experts.scale_up_domains, "Racks or nodes that they fill"),
        Readout(experts.fraction_leaving, "Share of the copies that leave", unit="%"),
    ],
    guess=Guess(
        "A layer for 5,760 people spreads over more and more chips, and 72 make a rack. How long do"
        " the tokens travel, if each expert is sent a copy of its own? Draw it.",
        draw="each",
        at=(36, 72, 144, 216, 432, 1440),
        hump=True,
    ),
    caption="The crowd stays the same, so that each chip has fewer people the more chips there are."
    " Fabric and network work at once, and the slower of them counts. Experts are"
    " whole, so that reading them falls in steps. Bytes alone count, and a torus is drawn as"
    " if it had a switch. On this page the bar at the top moves this plot alone.",
)

# For “Your model, your hardware” ------------------------------------------------------------------

hiding_against_batch = Explorer(
    "hiding-against-batch",
    "Does the work hide the crossing?",
    x=Sweep("batch", 64, 262144, at=1024),
    y=Scale("Time in one layer", "s"),
    curves=[
        Curve(racks.expert_layer_time_of_racks, "The experts' work", role="total", id="work"),
        Curve(racks.scale_out_time_of_racks, "Crossing, one copy an expert", id="each"),
        Curve(racks.scale_out_time_once_of_racks, "Crossing, one copy a rack", id="once"),
        Curve(racks.one_fabric_time, "If one fabric joined all", role="reference", id="fabric"),
    ],
    marks=[Mark(racks.hiding_batch_of_racks, "hidden up to", whole="down")],
    controls=[
        Control(IntSlider(value=2, min=2, max=40), "scale_up_domains", "Racks or nodes"),
        Control(
            FloatLogSlider(value=_PORTS["800"], min=10, max=12, step=0.01),
            "scale_out_bandwidth",
            "Port of each chip",
            follows=True,
        ),
        Control(
            Dropdown(options=_LIMITS, value=_FREE["domain_limit"]),
            "domain_limit",
            "Racks for a token",
        ),
    ],
    readouts=[
        Readout(racks.expert_weight_time_of_racks, "Reading the experts"),
        Readout(racks.expert_compute_time_of_racks, "Their arithmetic"),
        Readout(racks.hiding_batch_once_of_racks, "Hidden up to, one copy a rack", whole="down"),
    ],
    presets=[
        Preset(
            "Two GB200 racks, 800 Gb/s",
            {**_GB200, "scale_up_domains": 2, "scale_out_bandwidth": _PORTS["800"], "batch": 1024},
            "the slow network becomes the bottleneck of the all-to-all",
            "40:07",
        ),
        Preset(
            "Two GB200 racks, 400 Gb/s",
            {**_GB200, "scale_up_domains": 2, "scale_out_bandwidth": _PORTS["400"], "batch": 1024},
            "",
            "",
        ),
        Preset(
            "Two H100 nodes",
            {**_H100, "scale_up_domains": 2, "scale_out_bandwidth": _PORTS["400"], "batch": 1024},
            "",
            "",
        ),
        Preset(
            "40 H100 nodes",
            {**_H100, "scale_up_domains": 40, "scale_out_bandwidth": _PORTS["400"], "batch": 8192},
            "",
            "",
        ),
    ],
    caption="The work is the slower of reading the routed experts and multiplying with them, "
    "without attention. "
    "Left of the mark it takes longer than the crossing.",
)
