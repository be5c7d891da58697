"""The ladder of memories: how long each takes to be read, and where a cache lies for how long.

By the rule of the chapter alone: a tier suits what stays for about as long as reading all of the
tier takes.
"""

from __future__ import annotations

import math
from typing import Any

from ..plotting.scenes.shapes import circle, line, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named

DEEPSEEK = 'model="DeepSeek-V3" precision=fp8'
# Rungs from the fastest down: name, capacity, bandwidth.
CHIP = "accelerators / GB200 NVL72"
GRACE = "memory_tiers / Grace with 480 GB, read at 307 GB/s, behind 2 GPUs over NVLink-C2C"
FLASH = "memory_tiers / Micron 9650 Pro 30.72 TB, 28 GB/s read"
DISK = "memory_tiers / Seagate Exos X24 24 TB, 285 MB/s sustained"
TIERS = {
    "chip": (
        "Memory of a chip",
        f"{CHIP} / hbm_capacity_bytes",
        f"{CHIP} / hbm_bandwidth_bytes_per_s",
    ),
    "host": (
        "Memory of its host",
        f"{GRACE} / capacity_bytes",
        f"{GRACE} / read_bandwidth_bytes_per_s",
    ),
    "flash": (
        "A flash drive",
        f"{FLASH} / capacity_bytes",
        f"{FLASH} / read_bandwidth_bytes_per_s",
    ),
    "disk": ("A disk", f"{DISK} / capacity_bytes", f"{DISK} / read_bandwidth_bytes_per_s"),
}
STAYS = {3: ("minutes", "hour"), 4: ("minutes", "hour", "day")}
TOP, RUNG, BOX = 26, 58, 142  # of the rungs, and how wide their boxes are
LEFT, FROM, TO = 158, 0.01, 172_800  # of the scale of times, in pixels and seconds


def _along(seconds: float) -> float:
    """Return the place of a time on the scale, which is logarithmic."""
    return LEFT + (WIDTH - LEFT) * math.log(seconds / FROM) / math.log(TO / FROM)


def nearest(schematic: Schematic, stay: str) -> str:
    """Return the tier whose drain time is nearest to a stay, in proportion."""
    wanted = math.log(schematic.value(stay))
    return min(TIERS, key=lambda tier: abs(math.log(schematic.value(f"{tier}_drain")) - wanted))


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, stays = schematic.told, STAYS.get(step, ())
    tier = nearest(schematic, stays[-1]) if stays else "chip"
    out = [text(0, 13, "Room and speed", "ink strong")]
    if step > 1:
        out += [
            text(LEFT, 13, "Read once through in", "ink strong"),
            line(LEFT, TOP + 4 * RUNG - 6, WIDTH, TOP + 4 * RUNG - 6, "soft"),
        ]
    for stay in stays:
        x = _along(schematic.value(stay))
        out += [
            named(stay, rect(x - 1, TOP, 2, 4 * RUNG - 6, "c3")),
            text(
                WIDTH if stay == "day" else x + 2,
                TOP + 4 * RUNG + 11,
                told[stay],
                "c3 strong",
                "end",
            ),
        ]
    for i, (key, (name, _, _)) in enumerate(TIERS.items()):
        y = TOP + RUNG * i
        out += [
            rect(0.5, y + 0.5, BOX - 1, 46, "soft outline round"),
            text(9, y + 19, name, "ink strong"),
            text(9, y + 37, f"{told[f'{key}_room']}, {told[f'{key}_rate']}", "soft small"),
        ]
        if step > 1:
            out += _drain(key, y + 23, schematic)
    y = TOP + RUNG * list(TIERS).index(tier)
    out.append(named("cache", rect(BOX - 18, y + 28, 12, 12, "c2")))
    bottom = TOP + 4 * RUNG + 36
    out += [
        rect(0, bottom - 9, 9, 9, "c2"),
        text(15, bottom, f"a cache of {told['tokens']} tokens: {told['cache']}", "ink"),
    ]
    verb = "fetched" if stays else "read"
    words = f"{verb} in {told[f'{tier}_fetch']}"
    return [*out, text(15, bottom + 20, words, "c2 strong")]


def _drain(key: str, y: float, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw how long a tier takes to be read once through."""
    x = _along(schematic.value(f"{key}_drain"))
    return [
        line(LEFT, y, WIDTH, y, "grid"),
        circle(x, y, 5, "c0"),
        # In a column of their own, out of the way of the lines of stays.
        text(LEFT, y - 7, schematic.told[f"{key}_drain"], "c0 strong"),
    ]


def _tier(key: str) -> dict[str, str | Number]:
    """Return the numbers of a tier."""
    _, room, rate = TIERS[key]
    numbers: dict[str, str | Number] = {
        f"{key}_room": Number(room, 3),
        f"{key}_rate": Number(rate, 3),
        f"{key}_drain": f"drained_hold_time tier_capacity={{{key}_room}}"
        f" tier_bandwidth={{{key}_rate}}",
    }
    if key != "host":  # where the cache never lies
        numbers[f"{key}_fetch"] = Number(
            f"retrieve_time batch=1 devices=1 context={{tokens}}"
            f" tier_bandwidth={{{key}_rate}} {DEEPSEEK}",
            3,
        )
    return numbers


memory_ladder = Schematic(
    "memory-ladder",
    "Down the ladder of memories",
    height=TOP + 4 * RUNG + 62,
    numbers={
        "tokens": Number("= 100000", 6),
        "cache": f"resident_caches device_batch=1 context={{tokens}} {DEEPSEEK}",
        **{name: number for key in TIERS for name, number in _tier(key).items()},
        "minutes": Number("= 300", unit="s"),
        "hour": Number("= 3600", unit="s"),
        "day": Number("= 86400", unit="s"),
    },
    steps=[
        Step(
            "Your cache lies in the memory of a chip. Below it is more and more room, and slower"
            " and slower reading.",
            "Four boxes, one under another: the memory of a chip, {chip_room} at {chip_rate};"
            " that of its host, {host_room} at {host_rate}; a flash drive, {flash_room} at"
            " {flash_rate}; a disk, {disk_room} at {disk_rate}. The cache lies in the first.",
        ),
        Step(
            "Capacity divided by bandwidth is the time in which each is read once through: from"
            " {chip_drain} to {disk_drain}.",
            "Beside each box a dot on a scale of times: {chip_drain}, {host_drain},"
            " {flash_drain}, {disk_drain}.",
        ),
        Step(
            "A tier suits what stays for about that long. Five minutes and an hour are both nearest"
            " to flash.",
            "Lines at {minutes} and {hour} pass on both sides of the dot of flash, where the cache"
            " lies now. It is fetched in {flash_fetch}.",
        ),
        Step(
            "By this rule only what stays for a day belongs on a disk, and from a single one you"
            " wait {disk_fetch} for it.",
            "A third line stands at {day}, next to the dot of the disk, where the cache lies now."
            " It is fetched in {disk_fetch}.",
        ),
    ],
    draw=_draw,
    caption="DeepSeek-V3 in fp8; memories of a GB200 and its host, one drive and one disk. Times on"
    " a logarithmic scale.",
)
