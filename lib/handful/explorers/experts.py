"""Explorers of the chapter on experts over racks."""
from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider

from .. import experts, latency, racks, shapes
from ..facts import get
from ..page.explorer import Control, Curve, Dots, Explorer, Mark, Points, Preset, Readout, Scale, Sweep

# Without a limit every rack may be reached; more racks than any plot shows.
_FREE = {"domain_limit": 4096}
_LIMITS = [("4, as DeepSeek-V3 was trained", 4), ("any number", _FREE["domain_limit"])]
_PORTS = {"400": get("interconnects", "InfiniBand NDR")["one_direction_bytes_per_s"],
          "800": get("interconnects", "InfiniBand XDR")["one_direction_bytes_per_s"]}
_H100 = {"hardware": "H100 SXM", "model": "DeepSeek-V3", "precision": "fp8"}
_GB200 = {"hardware": "GB200 NVL72", "model": "DeepSeek-V3", "precision": "fp8"}
_CROSSING = ("H100 SXM", "MI355X", "B200 SXM", "GB200 NVL72", "TPU v6e", "TPU v5p")


def _ratio(name: str, network: str | None = None) -> float:
    return next(g.ratio for g in experts.generations(network) if g.name == name)


# A token's copies among racks ---------------------------------------------------------------------------------

_V3, _LIMIT = shapes.shape("DeepSeek-V3"), 4   # the limit in nodes: its report, section 2.1.2


def _wires(name: str, network: str | None = None) -> dict[str, float]:
    known = experts.expert_values(name, "DeepSeek-V3", network)
    return {key: known[key] for key in ("domain_devices", "scale_up_bandwidth", "scale_out_bandwidth")}


_MACHINES = {"h100": ("H100, nodes of 8", _wires("H100 SXM"), 4, "node"),
             "gb200-800": ("GB200, racks of 72, 800 Gb/s", _wires("GB200 NVL72"), 9, "rack"),
             "gb200-400": ("GB200, racks of 72, 400 Gb/s", _wires("GB200 NVL72", "InfiniBand NDR"), 9, "rack")}
_WAYS = {"each": ("one copy an expert", racks.copies_inside_of_racks, racks.copies_leaving_of_racks, racks.fabric_time,
                  racks.network_time, racks.crossing_slowdown_of_chip),
         "once": ("one copy a rack", racks.copies_handed_on, racks.copies_leaving_once_of_racks, racks.fabric_time_once,
                  racks.network_time_once, racks.crossing_slowdown_once_of_chip)}
_WAYS["limited"] = ("one copy a rack, four at most", *_WAYS["once"][1:])
_PINNED = {"model": "DeepSeek-V3", "hardware": "H100 SXM", "precision": "fp8"}   # its wires come from the row

racks_scene = Explorer(
    "racks", "Where a token's copies go", kind="racks",
    numbers={
        **{f"{key}_{way}": Readout(formula, scenario=_PINNED, given={"domain_limit": _LIMIT if way == "limited" else _FREE["domain_limit"]}
                                   if "domain_limit" in {q.name for q in formula.inputs} else {})
           for way, (_, *formulas) in _WAYS.items()
           for key, formula in zip(("inside", "leaving", "fabric", "network", "slowdown"), formulas)},
        "joined": Readout(racks.fabric_time_joined, scenario=_PINNED)},
    data={"experts": _V3.routed_experts, "active": _V3.active_experts, "limit": _LIMIT,
          "machines": {key: {"chips": row["domain_devices"], "columns": columns, "place": place}
                       for key, (_, row, columns, place) in _MACHINES.items()}},
    controls=[
        Control(IntSlider(value=2, min=1, max=8), "scale_up_domains", "Racks or nodes"),
        Control(Dropdown(options=[(label, key) for key, (label, *_) in _MACHINES.items()], value="gb200-400"), "machine", "Machine",
                rows={key: row for key, (_, row, *_) in _MACHINES.items()}),
        Control(Dropdown(options=[(label, key) for key, (label, *_) in _WAYS.items()], value="each"), "way", "A token crosses in"),
        Control(IntSlider(value=1, min=1, max=40), "which", "Which token"),
        Control(IntSlider(value=128, min=1, max=512), "device_batch", "Tokens of each chip")],
    presets=[
        Preset("One rack", {"scale_up_domains": 1, "machine": "gb200-400", "way": "each"}, "any chip talks to any other: a perfect fit", "35:45"),
        Preset("Two racks", {"scale_up_domains": 2, "machine": "gb200-400", "way": "each"}, "half of the tokens want to leave the rack", "39:39"),
        Preset("Two racks, one copy a rack", {"scale_up_domains": 2, "machine": "gb200-400", "way": "once"}, "", ""),
        Preset("DeepSeek's eight nodes", {"scale_up_domains": 8, "machine": "h100", "way": "limited"}, "", ""),
    ],
    caption="The dark square is the token's chip, coloured squares hold its eight experts. Blue stays on a fabric, orange crosses "
            "the network, whose wires are as wide as the bytes that leave. Below, how long each wire is busy in one layer.")

placement_scene = Explorer(
    "placement", "256 experts on chips, and a router that throws dice", kind="placement",
    numbers={"closed": experts.load_imbalance},
    given={"active_experts": _V3.active_experts},
    data={"experts": _V3.routed_experts, "active": _V3.active_experts, "spare": 32},
    controls=[
        Control(FloatLogSlider(value=1024, base=2, min=6, max=13, step=0.1), "batch", "Tokens of a step, over all chips"),
        Control(Dropdown(options=[("8, 32 experts each", 8), ("16", 16), ("32, 8 experts each", 32), ("64, 4 experts each", 64),
                                  ("128", 128), ("256, one expert each", 256)], value=64), "devices", "Chips"),
        Control(FloatSlider(value=0, min=0, max=1, step=0.05), "skew", "How much the router has favourites"),
        Control(Dropdown(options=[("none", "none"), ("32 second copies, placed by load", "spare")], value="none"), "spare", "Spare experts"),
        Control(IntSlider(value=1, min=1, max=40), "seed", "Another draw")],
    presets=[
        Preset("Four experts a chip", {"batch": 1024, "devices": 64, "skew": 0, "spare": "none"}, "64 of the 72 chips, four experts on each", "33:37"),
        Preset("A larger batch", {"batch": 8192, "devices": 64, "skew": 0, "spare": "none"}, "", ""),
        Preset("A router with favourites", {"batch": 8192, "devices": 64, "skew": 0.4, "spare": "none"}, "", ""),
        Preset("And spare experts", {"batch": 8192, "devices": 64, "skew": 0.4, "spare": "spare"}, "", ""),
    ],
    caption="Every token picks eight of the experts. The busiest chip, in orange, holds up the others. Favourites: the r-th most "
            "popular expert is picked in proportion to 1 over r to this power.")

# Curves -------------------------------------------------------------------------------------------------------

copies_that_cross = Explorer(
    "copies-that-cross", "How many of a token's copies leave their rack",
    x=Sweep("devices", 8, 1152, at=144, title="Chips that share a layer's experts"),
    y=Scale("Copies that leave", log=False, min=0),
    curves=[
        Curve(experts.copies_leaving, "One copy an expert", role="total", id="each"),
        Curve(experts.copies_leaving_once, "One copy a rack", given=_FREE, id="once"),
        Curve(experts.copies_leaving_once, "One copy a rack, four racks at most", given={"domain_limit": 4}, id="limited"),
    ],
    controls=[
        Control(Dropdown(options=[("8, a node of Hopper", 8), ("72, a rack of Blackwell", 72), ("144, Rubin Ultra", 144)],
                         value=72), "domain_devices", "Chips in one scale-up domain"),
        Control(IntSlider(value=8, min=1, max=32), "active_experts", "Experts of a token")],
    readouts=[Readout(experts.fraction_leaving, "Share that leaves, one copy an expert"),
              Readout(experts.scale_up_domains, "Racks or nodes filled"),
              Readout(experts.domains_reached, "Of these a token reaches")],
    presets=[
        Preset("Two racks", {"devices": 144, "domain_devices": 72, "active_experts": 8},
               "half of the tokens want to leave the rack", "39:39"),
        Preset("One rack", {"devices": 72, "domain_devices": 72, "active_experts": 8},
               "the all-to-all fits the fabric of one rack", "34:36"),
        Preset("DeepSeek's 320 chips", {"devices": 320, "domain_devices": 8, "active_experts": 8},
               "one rack bounds an expert layer", "35:30"),
    ],
    caption="Every expert is as likely as any other. A domain is a node of eight or a rack. One copy an expert is the "
            "lecture's picture; one copy a rack is handed on inside it.")

crossing_against_ratio = Explorer(
    "crossing-against-ratio", "What a crossing costs, chip by chip",
    x=Sweep("bandwidth_ratio", 1, 128, at=9, title="Bandwidth inside over bandwidth outside"),
    y=Scale("All-to-all, times that of one fabric"),
    curves=[
        Curve(racks.crossing_slowdown_of_racks, "One copy an expert", role="total", id="each"),
        Curve(racks.crossing_slowdown_once, "One copy a rack", id="once"),
    ],
    dots=Dots(experts.bandwidth_ratio, racks.crossing_slowdown_of_chip, rows=_CROSSING),
    controls=[
        Control(IntSlider(value=2, min=2, max=40), "scale_up_domains", "Racks or nodes"),
        Control(Dropdown(options=_LIMITS, value=_FREE["domain_limit"]), "domain_limit", "Racks that a token may use"),
        Control(IntSlider(value=8, min=1, max=32), "active_experts", "Experts of a token")],
    readouts=[Readout(racks.fraction_leaving_of_racks, "Share of the copies that leave")],
    presets=[
        Preset("The lecture's 8", {"bandwidth_ratio": 8, "scale_up_domains": 2}, "scale-out is about eight times slower", "38:33"),
        Preset("Two H100 nodes", {"bandwidth_ratio": _ratio("H100 SXM"), "scale_up_domains": 2}, "", ""),
        Preset("Two GB200 racks, 400 Gb/s", {"bandwidth_ratio": _ratio("GB200 NVL72", "InfiniBand NDR"), "scale_up_domains": 2},
               "a substantial bottleneck", "35:30"),
        Preset("40 nodes, four for a token", {"bandwidth_ratio": _ratio("H100 SXM"), "scale_up_domains": 40, "domain_limit": 4}, "", ""),
    ],
    caption="Fabric and network work at once; the slower one sets the pace. Dots are chips with the ports that they are "
            "sold with, one copy an expert.")

hiding_against_batch = Explorer(
    "hiding-against-batch", "Does the work hide the crossing?",
    x=Sweep("batch", 64, 262144, at=1024), y=Scale("Time in one layer", "s"),
    curves=[
        Curve(racks.expert_layer_time_of_racks, "The experts' work", role="total", id="work"),
        Curve(racks.scale_out_time_of_racks, "Crossing, one copy an expert", id="each"),
        Curve(racks.scale_out_time_once_of_racks, "Crossing, one copy a rack", id="once"),
        Curve(racks.one_fabric_time, "If one fabric joined all", role="reference", id="fabric"),
    ],
    marks=[Mark(racks.hiding_batch_of_racks, "hidden up to")],
    controls=[
        Control(IntSlider(value=2, min=2, max=40), "scale_up_domains", "Racks or nodes"),
        Control(FloatLogSlider(value=_PORTS["800"], min=10, max=12, step=0.01), "scale_out_bandwidth", "Port of each chip"),
        Control(Dropdown(options=_LIMITS, value=_FREE["domain_limit"]), "domain_limit", "Racks that a token may use")],
    readouts=[racks.expert_weight_time_of_racks, racks.expert_compute_time_of_racks,
              Readout(racks.hiding_batch_once_of_racks, "Hidden up to, one copy a rack")],
    presets=[
        Preset("Two GB200 racks, 800 Gb/s", {**_GB200, "scale_up_domains": 2, "scale_out_bandwidth": _PORTS["800"], "batch": 1024},
               "the slow network becomes the bottleneck of the all-to-all", "39:39"),
        Preset("Two GB200 racks, 400 Gb/s", {**_GB200, "scale_up_domains": 2, "scale_out_bandwidth": _PORTS["400"], "batch": 1024}, "", ""),
        Preset("Two H100 nodes", {**_H100, "scale_up_domains": 2, "scale_out_bandwidth": _PORTS["400"], "batch": 1024}, "", ""),
        Preset("40 H100 nodes", {**_H100, "scale_up_domains": 40, "scale_out_bandwidth": _PORTS["400"], "batch": 8192}, "", ""),
    ],
    caption="The work is the slower of reading the routed experts and multiplying with them, without attention. "
            "Left of the mark it takes longer than the crossing.")

wide_against_chips = Explorer(
    "wide-against-chips", "Why go wide: time",
    x=Sweep("devices", 8, 640, at=144, title="Chips that share a layer's experts"), y=Scale("Time in one layer", "s"),
    curves=[
        Curve(racks.expert_weight_time_at_load, "Read the chip's experts", id="read"),
        Curve(racks.expert_compute_time_at_load, "Their arithmetic", id="multiply"),
        Curve(racks.all_to_all_time_at_load, "All-to-all", role="total", id="traffic"),
        Curve(racks.scale_up_time_at_load, "All-to-all on one fabric", role="reference", given={"domain_devices": 1024}, id="fabric"),
    ],
    controls=[
        Control(IntSlider(value=128, min=1, max=512), "device_batch", "Sequences on each chip"),
        Control(Dropdown(options=[("8, a node of Hopper", 8), ("72, a rack of Blackwell", 72), ("144, Rubin Ultra", 144)],
                         value=72), "domain_devices", "Chips in one scale-up domain")],
    readouts=[Readout(experts.fraction_leaving, "Share of the copies that leave")],
    presets=[
        Preset("A rack of GB200", {**_GB200, "devices": 72, "domain_devices": 72, "device_batch": 128},
               "64 of the 72 chips, four experts on each", "33:37"),
        Preset("144 H800s, as served", {**_H100, "devices": 144, "domain_devices": 8, "device_batch": 88}, "", ""),
        Preset("320 chips, as reported", {**_H100, "devices": 320, "domain_devices": 8, "device_batch": 128}, "", ""),
    ],
    caption="Chips that join bring their own sequences. Each keeps fewer experts, so it reads less; its arithmetic stays; "
            "its traffic jumps once the chips no longer fit one domain.")

memory_against_chips = Explorer(
    "memory-against-chips", "Why go wide: memory",
    x=Sweep("devices", 8, 640, at=144, title="Chips that share a layer's experts"), y=Scale("Memory of one chip", "B", log=False, min=0),
    curves=[
        Curve(racks.copied_weights, "The rest of the model", id="rest"),
        Curve(racks.resident_caches, "Caches", id="caches"),
        Curve(racks.resident_weights, "Its experts", id="experts"),
        Curve(racks.memory_of_chip, "What it has", role="reference", id="has"),
    ],
    stack=True,
    marks=[Mark(racks.fewest_devices, "fewest chips")],
    controls=[
        Control(IntSlider(value=88, min=1, max=512), "device_batch", "Sequences on each chip"),
        Control(FloatLogSlider(value=4989, min=2, max=6, step=0.01), "context", "Context of every sequence"),
        Control(Dropdown(options=[("bf16", 70272), ("fp8", 35136)], value=70272), "kv_bytes_per_token", "DeepSeek-V3's cache in")],
    readouts=[racks.fewest_devices, Readout(racks.device_memory_at_load, "All three together")],
    presets=[
        Preset("DeepSeek's service", {**_H100, "devices": 144, "device_batch": 88, "context": 4989}, "", ""),
        Preset("Two nodes", {**_H100, "devices": 16, "device_batch": 88, "context": 4989}, "", ""),
        Preset("A rack of GB200", {**_GB200, "devices": 72, "device_batch": 256, "context": 4989},
               "a rack holds a large model and the caches of its users", "45:28"),
    ],
    caption="Attention and the shared expert stand whole on every chip, as in the service that DeepSeek describes. "
            "Only experts thin out as chips join, and what they free holds caches.")

kernels_against_chips = Explorer(
    "kernels-against-chips", "Measured all-to-all kernels",
    x=Sweep("devices", 8, 512, at=64, title="Chips that share a layer's experts"), y=Scale("Time in one layer", "s", log=False, min=0),
    curves=[
        Curve(racks.combine_time, "Answers back, bf16", role="total", id="back"),
        Curve(racks.dispatch_time, "Activations out, fp8", id="out"),
    ],
    given={"domain_devices": 8, "scale_out_bandwidth": _PORTS["400"], "d_model": 7168, "active_experts": 8,
           "dispatch_bytes": 1, "combine_bytes": 2},
    controls=[
        Control(FloatSlider(value=50e-6, min=0, max=150e-6, step=5e-6), "kernel_overhead", "What sending takes besides"),
        Control(IntSlider(value=128, min=1, max=256), "device_batch", "Tokens of each chip")],
    readouts=[Readout(experts.fraction_leaving, "Share of the copies that leave")],
    presets=[
        Preset("Bytes alone", {"kernel_overhead": 0, "device_batch": 128}, "", ""),
        Preset("Bytes and 50 µs", {"kernel_overhead": 50e-6, "device_batch": 128}, "", ""),
    ],
    caption="Points are DeepSeek's published low-latency kernels on H800, 128 tokens a chip. The curve is the share that "
            "leaves over the rate of a 400 Gb/s port, plus a constant.")

memory_of_domains = Explorer(
    "memory-of-domains", "Which models a scale-up domain holds",
    x=Sweep("domain_devices", 1, 10000, at=72), y=Scale("Total parameters", "parameter"),
    curves=[Curve(experts.largest_model, "Your chip", role="total", id="yours")],
    marks=[],
    controls=[Control(FloatSlider(value=0.5, min=0.05, max=1, step=0.05), "weight_memory_share", "Share of memory for weights")],
    readouts=[racks.domain_memory],
    presets=[
        Preset("A node of H100, full", {**_H100, "domain_devices": 8, "weight_memory_share": 1}, "eight Hoppers have 640 GB", "45:28"),
        Preset("A rack of GB200, half", {**_GB200, "domain_devices": 72, "weight_memory_share": 0.5},
               "10 to 20 TB, enough for 5 trillion parameters and caches", "45:28"),
    ],
    caption="Weights take a share of the memory, caches the rest. The precision in the bar above says how many bytes a weight takes.")
