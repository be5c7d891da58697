"""A conversation that waits: held on the chip, computed again, or put away and fetched.

The memory of the chip is drawn to scale, and so are the bills; the drive is not.
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
AWAY, BACK = (4, 5, 6), (5, 6)  # steps in which the cache has left, and in which it is fetched
TOP, BILL = 22, 210  # of the chip's memory, and of the bills


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
    if step in BACK:
        out.append(arrow(WIDTH - yours / 2, 126, WIDTH - yours / 2, TOP + 42, "c2", 2.5))
        out.append(text(WIDTH - 12, 101, f"fetched in {told['fetch']}", "c2", "end"))
    return out + (_bills(step, schematic) if step > 1 else [])


def _bills(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw what has been paid when you are back, of the ways that have been told."""
    told = schematic.told
    after = "five" if step == 6 else "hour"
    words = "five minutes" if step == 6 else "an hour"
    ways = [("held", f"hold_{after}"), ("computed again", "again")][: step - 1]
    if step in BACK:
        ways.append(("put away and fetched", f"kept_{after}"))
    scale = WIDTH / schematic.value("hold_hour")
    out = [text(0, BILL, f"If you are back after {words}", "ink strong")]
    for i, (name, key) in enumerate(ways):
        y = BILL + 26 + 40 * i
        out += [
            text(0, y, name, "ink"),
            text(WIDTH, y, f"{told[key]} cents", "ink", "end"),
            named(name, rect(0, y + 6, wide := schematic.value(key) * scale, 12, "c4")),
        ]
        if wide < 3:
            out.append(text(9, y + 16, "too small to draw", "soft small"))
    return out


def _kept(seconds: str) -> str:
    """Return the request for the cost of keeping on the drive and fetching, in cents."""
    return (
        f"= 100 * [context_cost_kept idle_share=1 waiting_chips=1 hold_time={seconds}"
        " storage_price={price} storage_lifetime={life} tier_capacity={drive}"
        f" tier_bandwidth={{rate}} {ALL}]"
    )


three_ways = Schematic(
    "three-ways",
    "Your conversation while you are away",
    height=336,
    numbers={
        "tokens": Number("= 100000", 6),
        "cache": f"resident_caches device_batch=1 {ALL}",
        "room": Number("accelerators / GB200 NVL72 / hbm_capacity_bytes", 3),
        "chips": "accelerators / GB200 NVL72 / scaleup_domain_chips",
        "weights": Number(f"= [weight_memory {DEEPSEEK}] / {{chips}}", unit="B"),
        "share": Number(f"held_share batch=1 devices=1 tier_capacity={{room}} {ALL}", 2),
        "hold_hour": Number(f"= 100 * [context_cost_in_memory hold_time=3600 {ALL}]", 2),
        "hold_five": Number(f"= 100 * [context_cost_in_memory hold_time=300 {ALL}]", 2),
        "again_time": Number(
            f"prefill_again_time batch=1 devices=1 model_flops_utilisation=0.3 {ALL}", 2
        ),
        "again": Number(f"= 100 * [context_cost_again model_flops_utilisation=0.3 {ALL}]", 2),
        "price": f"= ([{FLASH} / usd_per_gb_low] * [{FLASH} / usd_per_gb_high]) ** 0.5",
        "life": "= 5 * 365.25 * 86400",
        "drive": Number(f"{FLASH} / capacity_bytes", 3),
        "rate": f"{FLASH} / read_bandwidth_bytes_per_s",
        "rent": Number("= 100 * {cache} * {price} * 3600 / {life}", 2),
        "fetch": Number(f"retrieve_time batch=1 devices=1 tier_bandwidth={{rate}} {ALL}", 3),
        "fare": Number(
            "= 100 * {fetch} * [accelerators / GB200 NVL72 / rental_usd_per_chip_hour_3yr]", 2
        ),
        "kept_hour": Number(_kept("3600"), 2),
        "kept_five": Number(_kept("300"), 2),
    },
    steps=[
        Step(
            "Your conversation has left {cache} in the memory of a chip. You go to lunch, and until"
            " you are back it is of no use to anybody.",
            "The memory of one chip as a bar, {room}: on the left a narrow piece for the weights,"
            " then a long one for other people\u2019s caches, at the end a thin one, yours.",
        ),
        Step(
            "Hold it there. It fills {share} of the memory and is charged {share} of the"
            " chip\u2019s rent: {hold_hour} cents for an hour.",
            "Below, a bar for what holding has cost after an hour: {hold_hour} cents.",
        ),
        Step(
            "Or drop it and compute it again. That keeps the chip busy for {again_time} and costs"
            " {again} cents, however long you were away.",
            "Your piece is gone from the memory. The multipliers of the chip are busy for"
            " {again_time}; a second bar says {again} cents.",
        ),
        Step(
            "Or put it away. On a flash drive it costs {rent} cents for an hour: the rent, which"
            " grows with the time.",
            "Your piece lies on a flash drive of {drive}.",
        ),
        Step(
            "Then it has to be fetched, in {fetch}. A chip that waits for it costs {fare} cents:"
            " the fare, which is paid once.",
            "An arrow leads from the drive back to the chip. A third bar, so short that it is"
            " hardly seen: {kept_hour} cents for putting away and fetching.",
        ),
        Step(
            "After only five minutes, holding costs a quarter of computing again, and the drive is"
            " still by far the cheapest.",
            "The three bars after five minutes: held {hold_five} cents, computed again {again}"
            " cents, put away and fetched {kept_five} cents.",
        ),
    ],
    draw=_draw,
    caption="One GB200 of a rack that runs DeepSeek-V3 in fp8, with its share of the"
    " weights; {tokens} tokens. Memory and bills are to scale, the drive is not. Writing is not"
    " counted.",
)
