"""A step in four layouts: on one rack, spread over two in two ways, and on two replicas.

Each step is a bar of five parts, all to one scale, with the fixed delay last.  Their lengths are
written below it.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named

OURS = 'hardware="GB200 NVL72" model="DeepSeek-V3" precision=fp8'
CROWD, HALF = f"batch=5760 {OURS}", f"batch=2880 {OURS}"
RACK, NETWORK = "kernel_overhead=30.2e-6", "kernel_overhead=50e-6"  # each way
NO_DELAY, MERGED = "kernel_overhead=0", "scale_up_domains=2 domain_limit=2"
TOP, PITCH, TALL = 70, 66, 20  # of the bars, in pixels

PARTS = (
    ("weights", "c6", "weights that everybody uses"),
    ("caches", "c2", "caches"),
    ("experts", "c4", "experts"),
    ("bytes", "c0", "bytes of journeys"),
    ("delay", "c3", "fixed delay"),
)
LEGEND = ((0, 0), (212, 0), (0, 20), (84, 20), (212, 20))
# Each layout: its name, and the numbers of its parts.
LAYOUTS = {
    "one": ("one rack", ("weights", "caches", "four", "one_bytes", "rack_delay")),
    "two": ("layers over two racks", ("weights", "half", "two_experts", "two_bytes", "net_delay")),
    "merged": (
        "with merged copies",
        ("weights", "half", "two_experts", "once", "net_delay"),
    ),
    "replica": ("a replica on each", ("weights", "half", "four", "half_bytes", "rack_delay")),
}
SUMMANDS = sorted({name for _, names in LAYOUTS.values() for name in names})


def parts(schematic: Schematic, layout: str) -> list[float]:
    """Return the parts of a layout's step in seconds."""
    return [schematic.value(name) for name in LAYOUTS[layout][1]]


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, scale = schematic.told, WIDTH / schematic.value("two")
    out: list[dict[str, Any]] = []
    for (x, y), (_, colour, label) in zip(LEGEND, PARTS, strict=True):
        out += [rect(x, y + 3, 10, 10, colour), text(x + 15, y + 12, label, "ink small")]
    for i, (layout, (label, names)) in enumerate(list(LAYOUTS.items())[:step]):
        y, colour = TOP + PITCH * i, "ink strong" if i == step - 1 else "ink"
        out += [text(0, y - 7, label, colour), text(WIDTH, y - 7, told[layout], colour, "end")]
        left = 0.0
        for (part, paint, _), seconds in zip(PARTS, parts(schematic, layout), strict=True):
            out.append(named(f"{layout} {part}", rect(left, y, seconds * scale, TALL, paint)))
            left += seconds * scale
        summands = " + ".join(told[f"{name}_ms"] for name in names)
        out.append(text(0, y + TALL + 14, f"{summands} ms", "soft small"))
    if step > 1:
        end = schematic.value("one") * scale
        out.append(line(end, TOP - 4, end, TOP + PITCH * (step - 1) + TALL + 4, "ink dash"))
    return out


four_layouts = Schematic(
    "four-layouts",
    "One step, in four layouts",
    height=TOP + 3 * PITCH + TALL + 20,
    numbers={
        "layers": "= [shapes / DeepSeek-V3 / layers] - [shapes / DeepSeek-V3 / dense_layers]",
        "people": Number("= 80"),
        "tokens": Number("= 4096", 4),
        "rate": "accelerators / GB200 NVL72 / hbm_bandwidth_bytes_per_s",
        "cache": Number(f"resident_caches device_batch=1 context=1 {OURS}", 2),
        "caches": f"kv_time context=4096 {CROWD}",
        "half": f"kv_time context=4096 {HALF}",
        "four": Number(f"= {{layers}} * [expert_weight_time devices=72 {CROWD}]", unit="s"),
        "two_experts": Number(f"= {{layers}} * [expert_weight_time devices=144 {CROWD}]", unit="s"),
        "one_bytes": Number(
            f"= {{layers}} * [all_to_all_time_of_racks scale_up_domains=1 {NO_DELAY} {CROWD}]",
            unit="s",
        ),
        "half_bytes": Number("= {one_bytes} / 2", unit="s"),
        "two_bytes": Number(
            f"= {{layers}} * [scale_out_time_of_racks scale_up_domains=2 {CROWD}]", unit="s"
        ),
        "once": Number(
            f"= {{layers}} * [scale_out_time_once_of_racks {MERGED} {CROWD}]",
            unit="s",
        ),
        "rack_delay": f'fixed_traffic_time {RACK} model="DeepSeek-V3"',
        "net_delay": f'fixed_traffic_time {NETWORK} model="DeepSeek-V3"',
        "one": f"step_time_of_racks scale_up_domains=1 context=4096 {RACK} {CROWD}",
        "two": f"step_time_of_racks scale_up_domains=2 context=4096 {NETWORK} {CROWD}",
        "merged": Number(f"step_time_once_of_racks {MERGED} context=4096 {NETWORK} {CROWD}", 3),
        "replica": f"step_time_of_model_copies scale_up_domains=2 context=4096 {RACK} {CROWD}",
        "weights": Number("= {one} - {caches} - {four} - {one_bytes} - {rack_delay}", unit="s"),
        "shared": Number("= {weights} * {rate}", unit="B"),
        # In one unit, so that a reader can add them up.
        **{f"{name}_ms": f"= 1000 * {{{name}}}" for name in SUMMANDS},
    },
    steps=[
        Step(
            "On one rack a step takes {one}. The largest part is the fixed delay in"
            " {layers} layers of experts, {rack_delay}. The bytes of the journeys take only"
            " {one_bytes}.",
            "A bar of five parts, {one} long: weights {weights}, caches {caches}, experts {four},"
            " bytes of journeys {one_bytes}, and fixed delay {rack_delay}.",
        ),
        Step(
            "Spread each layer over both racks. A chip reads half as many experts and caches, but"
            " the bytes take {two_bytes} and the network\u2019s delay {net_delay}: {two} in all.",
            "A second bar is {two} long: weights {weights}, caches {half}, experts {two_experts},"
            " bytes {two_bytes}, fixed delay {net_delay}. A dashed line marks the length of the"
            " first.",
        ),
        Step(
            "Now send one copy to each rack and hand it on inside. The bytes take hardly longer"
            " than on one rack, but the delay is at least what it was: {merged}.",
            "A third bar is {merged} long, of which the bytes take {once}. It ends a little beyond"
            " the dashed line.",
        ),
        Step(
            "Or put a replica on each rack, for half of the people. Caches and bytes are halved,"
            " and all else is as on one rack: {replica}.",
            "A fourth bar is {replica} long: weights {weights}, caches {half}, experts {four},"
            " bytes {half_bytes}, fixed delay {rack_delay}. It ends before the dashed line.",
        ),
    ],
    draw=_draw,
    caption="Below each bar stand its parts. Weights that everybody uses: {shared} \u00f7"
    " {rate}. Caches on one rack: {people} people \u00d7 {tokens} tokens \u00d7 {cache} \u00f7"
    " {rate}. Handing copies on is not counted.",
)
