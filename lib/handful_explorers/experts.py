"""Explorers of the chapter on experts over racks."""

from __future__ import annotations

import math
from typing import Any

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider

from handful import experts, memory_wall, racks, scenario
from handful.facts import get
from handful.symbolic import quantities as q
from handful.symbolic.formula import Formula

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
_GB200: dict[str, Any] = {"hardware": "GB200 NVL72", "model": "DeepSeek-V3", "precision": "fp8"}

# As many chips as a layer has experts: one more would hold none.
_CHIPS_WITH_EXPERTS = Formula(
    q.devices,
    q.experts.symbol * q.one_device.symbol,
    register=False,
    source="derived",
    meaning="chips over which whole experts can be spread",
)

# Curves -------------------------------------------------------------------------------------------

over_racks = Explorer(
    "over-racks",
    "A layer over more and more chips",
    x=Sweep("devices", 8, 256, log=False, points=249, at=144, title="Chip count"),
    y=Scale("Time in one layer", "s"),
    curves=[
        Curve(experts.all_to_all_time, "Travel", role="total", id="each"),
        Curve(experts.expert_weight_time, "Reading the experts", id="reading"),
        Curve(
            experts.all_to_all_time,
            "Travel, if one fabric joined all",
            role="reference",
            given={"domain_devices": 256},
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
            follows=True,
        ),
    ],
    marks=[
        Mark(racks.devices_of_racks, "one domain", given={"scale_up_domains": 1}, whole="down"),
        Mark(racks.devices_of_racks, "two", given={"scale_up_domains": 2}, whole="down"),
        Mark(_CHIPS_WITH_EXPERTS, "an expert on each of", limit=True, whole="down"),
    ],
    presets=[
        Preset("Ports of 50 GB/s", {"scale_out_bandwidth": _PORTS["400"]}),
        Preset("Ports of 900 GB/s", {"scale_out_bandwidth": 900e9}),
    ],
    guess=Guess(
        "A layer for 5,760 people spreads over more and more chips, and 72 make a rack. How long do"
        " the tokens travel, if each expert is sent a copy of its own? Draw it.",
        draw="each",
        at=(48, 73, 108, 144, 216, 256),
        hump=True,
    ),
    caption="The people stay the same, and so the more chips there are, the fewer each has. A layer"
    " is spread evenly over as few domains as hold its chips, and the load is even. Experts stay"
    " whole, so reading falls only where the fullest chip holds one expert fewer. Fabric and"
    " network work at once, and the slower of the two counts. Bytes alone count. The axis is"
    " logarithmic: from line to line, time grows by the same factor. For TPUs, whose"
    " chips pass on what others send, travel takes longer than is drawn.",
)


def _on_a_rack() -> float:
    """Count the weights on one GB200 rack in the chapter's layout.

    Each chip has a copy of those that everybody uses, and as many experts as the fullest chip.
    """
    rack: dict[str, Any] = scenario.values(**_GB200)
    shared = rack["total_parameters"] - rack["routed_parameters"]
    each = math.ceil(rack["experts"] / rack["devices"])
    held = rack["routed_parameters"] * each / rack["experts"]
    return float(rack["devices"] * (shared + held))


# On a rack and over a network, each way, as the chapter has them from its sources.
_ON_RACK, _ON_NETWORK = 30.2e-6, 50e-6

layouts_by_context = Explorer(
    "layouts-by-context",
    "Which layout answers soonest?",
    x=Sweep("context", 1000, 131_072, at=32_768),
    y=Scale("Time of a step", "s"),
    curves=[
        Curve(
            racks.step_time_of_racks,
            "One rack",
            role="total",
            given={"scale_up_domains": 1, "kernel_overhead": _ON_RACK},
            scenario=_GB200,
            id="one",
        ),
        Curve(
            racks.step_time_of_racks,
            "Layers over two racks",
            given={"scale_up_domains": 2},
            scenario=_GB200,
            id="two",
        ),
        Curve(
            racks.step_time_once_of_racks,
            "With merged copies",
            given={"scale_up_domains": 2, "domain_limit": 2},
            scenario=_GB200,
            id="once",
        ),
        Curve(
            racks.step_time_of_model_copies,
            "Two replicas",
            given={"scale_up_domains": 2, "kernel_overhead": _ON_RACK},
            scenario=_GB200,
            id="replicas",
        ),
    ],
    marks=[
        Mark(
            memory_wall.context_that_fits,
            "one rack is full",
            given={"total_parameters": _on_a_rack()},
            scenario=_GB200,
            whole="down",
        )
    ],
    controls=[
        Control(
            FloatLogSlider(value=5760, base=2, min=6, max=16, step=0.01), "batch", "People, in all"
        ),
        Control(
            FloatSlider(value=_ON_NETWORK, min=10e-6, max=100e-6, step=1e-6),
            "kernel_overhead",
            "Fixed delay of the network, each way",
        ),
    ],
    presets=[
        Preset("As on the napkin", {"context": 4096, "batch": 5760, "kernel_overhead": 50e-6}),
        Preset(
            "A network as quick as the rack",
            {"context": 4096, "batch": 5760, "kernel_overhead": 30e-6},
        ),
        Preset("Long conversations", {"context": 32768, "batch": 5760, "kernel_overhead": 50e-6}),
    ],
    guess=Guess(
        "From 4,096 tokens to 32,768, a step on one rack grows from 9.2 ms to 19.3 ms. Over two"
        " racks with merged copies it takes 10.3 ms at 4,096 tokens. How long does it take at"
        " 32,768?",
        level="once",
    ),
    caption="GB200 racks with DeepSeek-V3 in fp8, whatever the bar of the page says."
    " Bytes and fixed delays are those of the figure above, and the slider moves the network\u2019s"
    " alone. Beyond the mark the people do not fit on one rack, and its"
    " curve shows what a larger memory would take. Two racks fill at about twice that context.",
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
            FloatLogSlider(value=_PORTS["400"], min=10, max=12, step=0.01),
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
        ),
        Preset(
            "Two GB200 racks, 400 Gb/s",
            {**_GB200, "scale_up_domains": 2, "scale_out_bandwidth": _PORTS["400"], "batch": 1024},
        ),
        Preset(
            "Two H100 nodes",
            {**_H100, "scale_up_domains": 2, "scale_out_bandwidth": _PORTS["400"], "batch": 1024},
        ),
        Preset(
            "40 H100 nodes",
            {**_H100, "scale_up_domains": 40, "scale_out_bandwidth": _PORTS["400"], "batch": 8192},
        ),
    ],
    caption="The work is the slower of reading the routed experts and multiplying with them, "
    "without attention. "
    "Left of the mark it takes longer than the crossing.",
)
