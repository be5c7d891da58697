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
AWAY = (4, 5)  # steps in which the cache has left; in the last it is fetched
TOP, TAKEN, AGO = 22, 204, 235  # of the chip's memory, of what the ways take; end of a column


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    scale = WIDTH / schematic.value("room")
    weights = schematic.value("weights") * scale
    yours = schematic.value("cache") * scale
    held = step < 3
    out = [
        text(0, 13, "Memory of one chip", "ink strong"),
        text(WIDTH, 13, told["room"], "ink", "end"),
        rect(0.5, TOP + 0.5, WIDTH - 1, 39, "soft outline"),
        rect(0, TOP, weights, 40, "c1"),
        rect(weights, TOP, WIDTH - weights - yours, 40, "c2 pale"),
        text(0, TOP + 56, "weights", "c1 small"),
        text(WIDTH / 2, TOP + 56, "other people\u2019s caches", "soft small", "middle"),
    ]
    if held:
        out.append(text(WIDTH, TOP + 56, "yours", "c2 strong", "end"))
        out.append(named("yours", rect(WIDTH - yours, TOP, yours, 40, "c2")))
    if step == 3:
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
    if step in AWAY:
        out += [
            named("yours", rect(WIDTH - yours, 129, yours, 40, "c2")),
            text(WIDTH - yours - 9, 153, f"yours, {told['cache']}", "c2 strong", "end"),
        ]
    if step == 5:
        out.append(arrow(WIDTH - yours / 2, 126, WIDTH - yours / 2, TOP + 42, "c2", 2.5))
        out.append(text(WIDTH - 12, 101, f"fetched in {told['fetch']}", "c2", "end"))
    return out + (_taken(step, schematic) if step > 1 else [])


def _taken(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Write what each way that has been told takes up: room while you are away, and time once."""
    told = schematic.told
    rows = [
        ("held", f"{told['share']} of a chip", "nothing"),
        ("computed again", "nothing", f"{told['again_time']} of a chip"),
        ("put away", f"{told['drive_share']} of a drive", ""),
    ][: step - 1]
    if step == 5:
        rows[2] = ("put away", rows[2][1], f"{told['fetch']} of a drive")
    out = [
        text(0, TAKEN, "What it takes", "ink strong"),
        text(AGO, TAKEN, "while you are away", "soft", "end"),
        text(WIDTH, TAKEN, "once", "soft", "end"),
    ]
    for i, (name, away, once) in enumerate(rows):
        y = TAKEN + 24 * (i + 1)
        out += [text(0, y, name, "ink"), text(AGO, y, away, "ink", "end")]
        if once:
            out.append(text(WIDTH, y, once, "ink", "end"))
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
            "Your conversation has left {cache} in the memory of a chip. You go to lunch, and until"
            " you are back it is of no use to anybody.",
            "The memory of one chip as a bar, {room}: on the left a narrow piece for the weights,"
            " then a long one for other people\u2019s caches, at the end a thin one, yours.",
        ),
        Step(
            "Hold it there. It fills {share} of the memory for as long as you are away, and is"
            " ready when you are back.",
            "Below, a list of what each way takes. Held: {share} of a chip while you are away, and"
            " nothing once.",
        ),
        Step(
            "Or drop it and compute it again. That takes up nothing while you are away, but once it"
            " keeps the whole chip busy for {again_time}.",
            "Your piece is gone from the memory. The multipliers of the chip are busy for"
            " {again_time}. The list: computed again, nothing while you are away, and once"
            " {again_time} of a chip.",
        ),
        Step(
            "Or put it away. A flash drive has so much room that your cache fills only"
            " {drive_share} of it, for as long as you are away.",
            "Your piece lies on a flash drive of {drive}. The list: put away, {drive_share} of a"
            " drive while you are away.",
        ),
        Step(
            "Then it has to be fetched, which takes {fetch} of the drive, once.",
            "An arrow leads from the drive back to the chip. The list adds {fetch} of a drive,"
            " once.",
        ),
    ],
    draw=_draw,
    caption="One GB200 of a rack that runs DeepSeek-V3 in fp8, with its share of the"
    " weights; {tokens} tokens. Memory is to scale, the drive is not.",
)
