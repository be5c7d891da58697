"""Explorers of the chapter on experts over racks."""

from __future__ import annotations

from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider

from handful import experts, latency, racks, shapes
from handful.facts import get
from handful_evidence import measured_racks

from .plotting.explorer import (
    Control,
    Curve,
    Dots,
    Explorer,
    Guess,
    Mark,
    Points,
    Preset,
    Readout,
    Scale,
    Sweep,
)

# Without a limit every rack may be reached; more racks than any plot shows.
_FREE = {"domain_limit": 4096}
_LIMITS = [("four at most", 4), ("any number", _FREE["domain_limit"])]
_DOMAINS = [("8, a node of Hopper", 8), ("72, a rack of Blackwell", 72), ("144, Rubin Ultra", 144)]
_PORTS = {
    "400": get("interconnects", "InfiniBand NDR")["one_direction_bytes_per_s"],
    "800": get("interconnects", "InfiniBand XDR")["one_direction_bytes_per_s"],
}
_H100 = {"hardware": "H100 SXM", "model": "DeepSeek-V3", "precision": "fp8"}
_GB200 = {"hardware": "GB200 NVL72", "model": "DeepSeek-V3", "precision": "fp8"}
_CROSSING = ("H100 SXM", "MI355X", "B200 SXM", "TPU v6e", "TPU v5p")


def _ratio(name: str, network: str | None = None) -> float:
    ratio = next(g.ratio for g in experts.generations(network) if g.name == name)
    assert ratio is not None, f"{name} has no known bandwidth outside its domain"
    return ratio


# A token's copies among racks ---------------------------------------------------------------------

_V3, _LIMIT = shapes.shape("DeepSeek-V3"), 4  # the limit in nodes: its report, section 2.1.2


_WIRES = ("domain_devices", "scale_up_bandwidth", "scale_out_bandwidth")
_CHIP = ("memory_bandwidth", "memory_capacity", "peak_flops")


def _v3(name: str, network: str | None = None, only=None) -> dict[str, float]:
    """Return values of DeepSeek-V3 in fp8 on a chip, all or `only` some.

    They are what a plot holds that does not follow the page's scenario.
    """
    known = experts.expert_values(name, "DeepSeek-V3", network, precision="fp8")
    return {key: value for key in only or known if (value := known[key]) is not None}


def _v3_cache(form: str) -> float:
    """Return the bytes of DeepSeek-V3's cache for a token."""
    known: dict = experts.expert_values("H100 SXM", "DeepSeek-V3", precision=form)
    return known["kv_bytes_per_token"]


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
_WAYS["limited"] = ("four racks at most", *_WAYS["once"][1:])

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
        Control(IntSlider(value=128, min=1, max=512), "device_batch", "Sequences on each chip"),
    ],
    presets=[
        Preset(
            "One rack",
            {"scale_up_domains": 1, "machine": "gb200-400", "way": "each"},
            "any chip talks to any other: a perfect fit",
            "35:46",
        ),
        Preset(
            "Two racks",
            {"scale_up_domains": 2, "machine": "gb200-400", "way": "each"},
            "half of the tokens want to leave the rack",
            "40:03",
        ),
        Preset(
            "Two racks, one copy a rack",
            {"scale_up_domains": 2, "machine": "gb200-400", "way": "once"},
            "",
            "",
        ),
        Preset(
            "DeepSeek's eight nodes",
            {"scale_up_domains": 8, "machine": "h100", "way": "limited"},
            "",
            "",
        ),
    ],
    caption="The square in the colour of the text is the token's chip, coloured squares hold its "
    "eight experts, and faint ones hand copies on. Copies for the token's own rack stay on its "
    "fabric; the others "
    "take the network between the racks, whose wires are as wide as the bytes that leave. Below, "
    "how long "
    "each wire is busy in one layer.",
)

placement_scene = Explorer(
    "placement",
    "256 experts on chips, and a router that throws dice",
    kind="placement",
    numbers={"closed": experts.load_imbalance},
    given={
        "active_experts": _V3.active_experts,
        "devices": 64,
        "tokens_per_step": 1,
        "one_token": 1,
    },
    data={"experts": _V3.routed_experts, "active": _V3.active_experts, "spare": 32},
    controls=[
        Control(
            FloatLogSlider(value=1024, base=2, min=6, max=13, step=0.1),
            "batch",
            "Batch, over all chips",
        ),
        Control(
            Dropdown(
                options=[
                    ("8, 32 experts each", 8),
                    ("16", 16),
                    ("32, 8 experts each", 32),
                    ("64, 4 experts each", 64),
                    ("128", 128),
                    ("256, one expert each", 256),
                ],
                value=64,
            ),
            "devices",
            "Chips",
        ),
        Control(
            FloatSlider(value=0, min=0, max=1, step=0.05),
            "skew",
            "How much the router has favourites",
        ),
        Control(
            Dropdown(
                options=[("none", "none"), ("32 second copies, placed by load", "spare")],
                value="none",
            ),
            "spare",
            "Spare experts",
        ),
        Control(IntSlider(value=1, min=1, max=40), "seed", "Another draw"),
    ],
    presets=[
        Preset(
            "Four experts a chip",
            {"batch": 1024, "devices": 64, "skew": 0, "spare": "none"},
            "64 of the 72 chips, four experts on each",
            "34:18",
        ),
        Preset(
            "A larger batch", {"batch": 8192, "devices": 64, "skew": 0, "spare": "none"}, "", ""
        ),
        Preset(
            "A router with favourites",
            {"batch": 8192, "devices": 64, "skew": 0.4, "spare": "none"},
            "",
            "",
        ),
        Preset(
            "And spare experts",
            {"batch": 8192, "devices": 64, "skew": 0.4, "spare": "spare"},
            "",
            "",
        ),
    ],
    caption="Every token picks eight of the experts. The busiest chip, whose level is drawn, "
    "holds up the others. Favourites: the r-th most "
    "popular expert is picked in proportion to 1 over r to this power.",
)

# Curves -------------------------------------------------------------------------------------------

copies_that_cross = Explorer(
    "copies-that-cross",
    "How many of a token's copies leave their rack",
    x=Sweep("devices", 8, 1152, at=144, title="Chips of a layer"),
    y=Scale("Copies that leave", log=False, min=0),
    curves=[
        Curve(experts.copies_leaving, "One copy an expert", role="total", id="each"),
        Curve(experts.copies_leaving_once, "One copy a rack", given=_FREE, id="once"),
        Curve(
            experts.copies_leaving_once,
            "Four racks at most",
            given={"domain_limit": 4},
            id="limited",
        ),
    ],
    given={"devices": 144, "domain_devices": 72, "active_experts": _V3.active_experts},
    controls=[
        Control(Dropdown(options=_DOMAINS, value=72), "domain_devices", "Chips of a domain"),
        Control(IntSlider(value=8, min=1, max=32), "active_experts", "Experts of a token"),
    ],
    readouts=[
        Readout(experts.fraction_leaving, "Share that leaves, one copy an expert"),
        Readout(experts.scale_up_domains, "Racks or nodes filled"),
        Readout(experts.domains_reached, "Of these a token reaches"),
    ],
    presets=[
        Preset(
            "Two racks",
            {"devices": 144, "domain_devices": 72, "active_experts": 8},
            "half of the tokens want to leave the rack",
            "40:03",
        ),
        Preset(
            "One rack",
            {"devices": 72, "domain_devices": 72, "active_experts": 8},
            "the all-to-all fits the fabric of one rack",
            "35:46",
        ),
        Preset(
            "DeepSeek's 320 chips",
            {"devices": 320, "domain_devices": 8, "active_experts": 8},
            "one rack bounds an expert layer",
            "36:30",
        ),
    ],
    guess=Guess(
        "A token sends one copy to each rack that holds any of its eight experts. How many of "
        "these copies leave its own rack, as a layer spreads over more racks of 72 chips? Draw it.",
        draw="once",
    ),
    caption="Every expert is as likely as any other. A domain is a node of eight or a rack. One "
    "copy an expert is the "
    "lecture's picture; one copy a rack is handed on inside it.",
)

crossing_against_ratio = Explorer(
    "crossing-against-ratio",
    "What a crossing costs, chip by chip",
    x=Sweep("bandwidth_ratio", 1, 128, at=9, title="Bandwidth inside over bandwidth outside"),
    y=Scale("All-to-all, times that of one fabric"),
    curves=[
        Curve(racks.crossing_slowdown_of_racks, "One copy an expert", role="total", id="each"),
        Curve(racks.crossing_slowdown_once, "One copy a rack", id="once"),
    ],
    dots=Dots(experts.bandwidth_ratio, racks.crossing_slowdown_of_chip, rows=_CROSSING),
    given={"active_experts": _V3.active_experts},
    controls=[
        Control(IntSlider(value=2, min=2, max=40), "scale_up_domains", "Racks or nodes"),
        Control(
            Dropdown(options=_LIMITS, value=_FREE["domain_limit"]),
            "domain_limit",
            "Racks for a token",
        ),
        Control(IntSlider(value=8, min=1, max=32), "active_experts", "Experts of a token"),
    ],
    readouts=[Readout(racks.fraction_leaving_of_racks, "Share of the copies that leave")],
    presets=[
        Preset(
            "The lecture's 8",
            {"bandwidth_ratio": 8, "scale_up_domains": 2},
            "scale-out is about eight times slower",
            "38:47",
        ),
        Preset(
            "Two H100 nodes", {"bandwidth_ratio": _ratio("H100 SXM"), "scale_up_domains": 2}, "", ""
        ),
        Preset(
            "Two GB200 racks, 400 Gb/s",
            {"bandwidth_ratio": _ratio("GB200 NVL72", "InfiniBand NDR"), "scale_up_domains": 2},
            "a substantial bottleneck",
            "36:24",
        ),
        Preset(
            "40 nodes, four for a token",
            {"bandwidth_ratio": _ratio("H100 SXM"), "scale_up_domains": 40, "domain_limit": 4},
            "",
            "",
        ),
    ],
    caption="Fabric and network work at once; the slower one sets the pace. Dots are chips with "
    "the ports that they are "
    "sold with, one copy an expert.",
)

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

_SERVED = {
    "h100": ("H100 nodes", "H100 SXM", None),
    "h200": ("H200 nodes", "H200 SXM", None),
    "gb200": ("GB200 racks", "GB200 NVL72", None),
}


def _machine(only) -> Control:
    return Control(
        Dropdown(options=[(label, key) for key, (label, *_) in _SERVED.items()], value="h100"),
        "machine",
        "Machine",
        rows={key: _v3(name, network, only) for key, (_, name, network) in _SERVED.items()},
    )


wide_against_chips = Explorer(
    "wide-against-chips",
    "Why go wide: time",
    x=Sweep("devices", 8, 640, at=144, title="Chips of a layer"),
    y=Scale("Time in one layer", "s"),
    curves=[
        Curve(racks.expert_weight_time_at_load, "Read the chip's experts", id="read"),
        Curve(racks.expert_compute_time_at_load, "Their arithmetic", id="multiply"),
        Curve(racks.all_to_all_time_at_load, "All-to-all", role="total", id="traffic"),
        Curve(
            racks.scale_up_time_at_load,
            "All-to-all on one fabric",
            role="reference",
            given={"domain_devices": 1024},
            id="fabric",
        ),
    ],
    given=_v3("H100 SXM"),
    controls=[
        _machine(tuple(key for key in (*_WIRES, *_CHIP) if key != "memory_capacity")),
        Control(IntSlider(value=128, min=1, max=512), "device_batch", "Sequences on each chip"),
    ],
    readouts=[Readout(experts.fraction_leaving, "Share of the copies that leave")],
    presets=[
        Preset(
            "One rack of GB200",
            {"machine": "gb200", "devices": 72, "device_batch": 128},
            "64 of the 72 chips, four experts on each",
            "34:18",
        ),
        Preset(
            "18 nodes, as served", {"machine": "h100", "devices": 144, "device_batch": 88}, "", ""
        ),
        Preset(
            "40 nodes, as reported", {"machine": "h100", "devices": 320, "device_batch": 25}, "", ""
        ),
    ],
    caption="DeepSeek-V3 in fp8. Chips that join bring their own sequences. Each keeps fewer "
    "experts, so it reads less; its "
    "arithmetic stays; its traffic jumps once the chips no longer fit one domain.",
)

memory_against_chips = Explorer(
    "memory-against-chips",
    "Why go wide: memory",
    x=Sweep("devices", 8, 640, at=144, title="Chips of a layer"),
    y=Scale("Memory of one chip", "B", log=False, min=0),
    curves=[
        Curve(racks.copied_weights, "Rest of the model", id="rest"),
        Curve(racks.resident_caches, "Caches", id="caches"),
        Curve(racks.resident_weights, "Its experts", id="experts"),
        Curve(racks.memory_of_chip, "What it has", role="reference", id="has"),
    ],
    stack=True,
    given=_v3("H100 SXM"),
    marks=[Mark(racks.fewest_devices, "fewest chips", whole="up")],
    controls=[
        _machine(("memory_capacity",)),
        Control(IntSlider(value=88, min=1, max=512), "device_batch", "Sequences on each chip"),
        Control(
            FloatLogSlider(value=4989, min=2, max=6, step=0.01),
            "context",
            "Context of every sequence",
        ),
        Control(
            Dropdown(
                options=[(form, _v3_cache(form)) for form in ("bf16", "fp8")],
                value=_v3_cache("bf16"),
            ),
            "kv_bytes_per_token",
            "Cache in",
        ),
    ],
    readouts=[
        Readout(racks.fewest_devices, "Fewest chips", whole="up"),
        Readout(racks.device_memory_at_load, "All three together"),
    ],
    presets=[
        Preset(
            "18 nodes, as served",
            {"machine": "h100", "devices": 144, "device_batch": 88, "context": 4989},
            "",
            "",
        ),
        Preset(
            "Two nodes",
            {"machine": "h100", "devices": 16, "device_batch": 88, "context": 4989},
            "",
            "",
        ),
        Preset(
            "One rack of GB200",
            {"machine": "gb200", "devices": 72, "device_batch": 256, "context": 4989},
            "a rack holds a large model and the caches of its users",
            "45:44",
        ),
    ],
    caption="DeepSeek-V3 in fp8. Attention and the shared expert stand whole on every chip, as in "
    "the service that DeepSeek "
    "describes. Only the routed experts thin out as chips join, and what they free holds caches.",
)

kernels_against_chips = Explorer(
    "kernels-against-chips",
    "Measured all-to-all kernels",
    x=Sweep("devices", 8, 512, at=64, title="Chips of a layer"),
    y=Scale("Time in one layer", "s", log=False, min=0),
    curves=[
        Curve(racks.combine_time, "Answers back, bf16", role="total", id="back"),
        Curve(racks.dispatch_time, "Activations out, fp8", id="out"),
    ],
    given=_v3("H100 SXM"),
    controls=[
        Control(
            FloatSlider(value=50e-6, min=0, max=150e-6, step=5e-6),
            "kernel_overhead",
            "What sending takes besides",
        ),
        Control(IntSlider(value=128, min=1, max=256), "device_batch", "Sequences on each chip"),
    ],
    readouts=[Readout(experts.fraction_leaving, "Share of the copies that leave")],
    points=[
        Points(
            "measured, back",
            [(row["devices"], row["combine"]) for row in measured_racks.all_to_all_kernels()],
        ),
        Points(
            "measured, out",
            [(row["devices"], row["dispatch"]) for row in measured_racks.all_to_all_kernels()],
        ),
    ],
    presets=[
        Preset("Bytes alone", {"kernel_overhead": 0, "device_batch": 128}, "", ""),
        Preset("Bytes and 50 µs", {"kernel_overhead": 50e-6, "device_batch": 128}, "", ""),
    ],
    caption="Points are DeepSeek's published low-latency kernels on H800, 128 tokens a chip. The "
    "curve is the share that "
    "leaves over the rate of a 400 Gb/s port, plus a constant.",
)

_SHOWN = ("H100 SXM", "B200 SXM", "GB200 NVL72", "GB300 NVL72", "TPU v4", "TPU7x")

memory_of_domains = Explorer(
    "memory-of-domains",
    "What a scale-up domain holds",
    x=Sweep("domain_devices", 1, 10000, at=72, title="Chips in one scale-up domain", follows=True),
    y=Scale("Memory of the domain"),
    curves=[Curve(racks.domain_memory, "Domains of your chip", role="total", id="yours")],
    marks=[
        Mark(latency.weight_memory, "your model's weights", axis="y"),
        Mark(
            latency.weight_memory,
            "5 trillion, fp8",
            axis="y",
            given={"total_parameters": 5e12, "bytes_per_parameter": 1},
        ),
    ],
    points=[
        Points(
            "domains as built",
            [
                (g.devices, g.memory, g.name.replace(" NVL72", "").replace(" SXM", ""))
                for g in experts.generations()
                if g.name in _SHOWN
            ],
        )
    ],
    presets=[
        Preset(
            "Eight Hoppers", {**_H100, "domain_devices": 8}, "eight Hoppers have 640 GB", "45:30"
        ),
        Preset(
            "A rack of Blackwell",
            {**_GB200, "domain_devices": 72},
            "10 to 20 TB, enough for 5 trillion parameters and caches",
            "45:44",
        ),
        Preset(
            "Twice the rack",
            {**_GB200, "domain_devices": 144},
            "from 64 to 500 there is at least a genuine fourfold increase",
            "41:27",
        ),
    ],
    caption="A model lies in one domain if its line is below the domain's point, with room to "
    "spare for caches. "
    "The domains of TPUs are tori of thousands of chips, in which distant pairs share their links.",
)
