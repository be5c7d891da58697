"""A conversation that waits: held on the chip, computed again, or put away and fetched.

The memory of the chip is drawn to scale, and the drive is not.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import arrow

DEEPSEEK = 'model="DeepSeek-V3" precision=fp8'
CHIP = 'hardware="GB200 NVL72"'
ALL = f"{CHIP} {DEEPSEEK} context={{tokens}}"
FLASH = "memory_tiers / Micron 9650 Pro 30.72 TB, 28 GB/s read"
HELD, AGAIN, AWAY = 1, 2, 3  # the steps, a way each
TOP, TAKEN, AGO = 22, 204, 235  # of the chip's memory, of what the ways take; end of a column


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    scale = WIDTH / schematic.value("room")
    weights = schematic.value("weights") * scale
    yours = schematic.value("cache") * scale
    out = [
        text(0, 13, "Memory of one chip", "ink strong"),
        text(WIDTH, 13, told["room"], "ink", "end"),
        rect(0.5, TOP + 0.5, WIDTH - 1, 39, "soft outline"),
        rect(0, TOP, weights, 40, "c1"),
        rect(weights, TOP, WIDTH - weights - yours, 40, "c2 pale"),
        text(0, TOP + 56, "weights", "c1 small"),
        text(WIDTH / 2, TOP + 56, "other people\u2019s caches", "soft small", "middle"),
    ]
    if step == HELD:
        out.append(text(WIDTH, TOP + 56, "yours", "c2 strong", "end"))
        out.append(named("yours", rect(WIDTH - yours, TOP, yours, 40, "c2")))
    if step == AGAIN:
        out += [
            text(0, 120, "Multipliers of the chip", "ink strong"),
            text(WIDTH, 120, f"busy for {told['again_time']}", "c3", "end"),
            rect(0, 129, WIDTH, 40, "c3"),
            text(
                WIDTH / 2, 153, f"all {told['tokens']} tokens once more", "paper strong", "middle"
            ),
        ]
    else:
        out += [
            text(0, 120, "A flash drive", "ink strong"),
            text(90, 120, f"of {told['drive']}", "ink"),
            rect(0.5, 129.5, WIDTH - 1, 39, "soft outline"),
        ]
    if step == AWAY:
        out += [
            named("yours", rect(WIDTH - yours, 129, yours, 40, "c2")),
            text(WIDTH - yours - 9, 153, f"yours, {told['cache']}", "c2 strong", "end"),
            arrow(WIDTH - yours / 2, 126, WIDTH - yours / 2, TOP + 42, "c2", 2.5),
            text(WIDTH - 12, 101, f"fetched in {told['fetch']}", "c2", "end"),
        ]
    return out + _taken(step, schematic)


def _taken(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Write the rent and the fare of each way, and those of this step strong."""
    told = schematic.told
    rows = [
        ("held", f"{told['share']} of a chip", "nothing"),
        ("computed again", "nothing", f"{told['again_time']} of a chip"),
        ("put away", f"{told['drive_share']} of a drive", f"{told['fetch']} of a drive"),
    ]
    out = [
        text(AGO, TAKEN, "rent, while you are away", "soft", "end"),
        text(WIDTH, TAKEN, "fare, once", "soft", "end"),
    ]
    for i, (name, away, once) in enumerate(rows):
        y, style = TAKEN + 24 * (i + 1), "ink strong" if i + 1 == step else "soft"
        out += [
            text(0, y, name, style),
            text(AGO, y, away, style, "end"),
            text(WIDTH, y, once, style, "end"),
        ]
    return out


three_ways = Schematic(
    "three-ways",
    "Your conversation while you are away",
    height=TAKEN + 24 * 3 + 8,
    numbers={
        "tokens": Number("= 100000", 6),
        "cache": f"resident_caches device_batch=1 {ALL}",
        "room": Number("accelerators / GB200 NVL72 / hbm_capacity_bytes", 3),
        "chips": "accelerators / GB200 NVL72 / scaleup_domain_chips",
        "weights": Number(f"= [weight_memory {DEEPSEEK}] / {{chips}}", unit="B"),
        "share": Number(f"held_share batch=1 devices=1 tier_capacity={{room}} {ALL}", 2),
        "again_time": Number(
            f"prefill_again_time batch=1 devices=1 model_flops_utilisation=0.3 {ALL}", 2
        ),
        "drive": Number(f"{FLASH} / capacity_bytes", 3),
        "drive_share": Number("= {cache} / {drive}", 1, "%"),
        "rate": f"{FLASH} / read_bandwidth_bytes_per_s",
        "fetch": Number(f"retrieve_time batch=1 devices=1 tier_bandwidth={{rate}} {ALL}", 3),
    },
    steps=[
        Step(
            "Hold your {cache} where they are. They fill {share} of the chip\u2019s memory as long"
            " as you are away, and are ready when you are back: all rent, no fare.",
            "The memory of one chip as a bar, {room}: on the left a narrow piece for the weights,"
            " then a long one for other people\u2019s caches, at the end a thin one, yours. The"
            " flash drive below is empty. A list of rents and fares. Held: {share} of a chip while"
            " you are away, and nothing once.",
            "hold",
        ),
        Step(
            "Drop them and compute them again. That takes up nothing while you are away, and then"
            " keeps the whole chip busy for {again_time}: all fare, no rent.",
            "Your piece is gone from the memory. The multipliers of the chip are busy for"
            " {again_time}. The list: computed again, nothing while you are away, and once"
            " {again_time} of a chip.",
            "compute again",
        ),
        Step(
            "Put them away. Your notes fill only {drive_share} of a flash drive while you are away,"
            " and keep it busy for {fetch} when they are fetched: a little of both.",
            "Your piece lies on a flash drive of {drive}, and an arrow leads from there back to the"
            " chip. The list: put away, {drive_share} of a drive while you are away, and once"
            " {fetch} of a drive.",
            "put away and fetch",
        ),
    ],
    draw=_draw,
    caption="One GB200 of a rack that runs DeepSeek-V3 in fp8, with its share of the"
    " weights; {tokens} tokens. Memory is to scale, the drive is not.",
)
