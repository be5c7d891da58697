"""Room and door: how much of each of three devices is used by what stays for a time.

All that lies on a device has come in once and goes out once in the time for which things stay: on a
host or a disk through the same door, on flash in through one that its rated writes keep narrow.
What the doors cannot serve in that time has to stay empty, and what is used pays for all of it.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import rect, text
from .schematic import WIDTH, Number, Schematic, Step, named

GRACE = "memory_tiers / Grace with 480 GB, read at 307 GB/s, behind 2 GPUs over NVLink-C2C"
FLASH = "memory_tiers / Micron 9650 Pro 30.72 TB, 28 GB/s read"
DISK = "memory_tiers / Seagate Exos X24 24 TB, 285 MB/s sustained"
PRICED = "memory_tiers / Seagate Exos M 30 TB, SATA III interface ceiling 600 MB/s (6 Gb/s, 8b/10b)"
# A device, its name, its data sheet, and that with its price.
DEVICES = {
    "flash": ("A flash drive", FLASH, FLASH),
    "host": ("Memory of a host", GRACE, GRACE),
    "disk": ("A spinning disk", DISK, PRICED),
}
# The time for which things stay, in each step.
STAYS = {"day": "a day", "hour": "an hour", "five": "five minutes"}
TOP, ROW, BAR, LONG = 28, 88, 42, 240  # of the rows; where bars begin, and how long they are
SECOND = 19  # height of the second door, which flash alone has


def used(schematic: Schematic, device: str, stay: str) -> tuple[float, float, float]:
    """Return the shares that are used of a device's room, of its door out and of that in.

    Where both are one door, the shares are of that one.
    """
    time = schematic.value(stay)
    out = schematic.value(f"{device}_drain") / time  # for all of the room
    way_in = schematic.value("day") / time if device == "flash" else out
    busiest = max(out, way_in) if device == "flash" else out + way_in
    room = min(1, 1 / busiest)
    return room, room * out, room * way_in


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    stay = list(STAYS)[step - 1]
    out = [
        text(0, 13, f"Everything stays {STAYS[stay]}", "ink strong"),
        text(WIDTH, 13, f"{schematic.told['thousand']} stays cost", "soft", "end"),
    ]
    for row, device in enumerate(DEVICES):
        out += _device(device, stay, TOP + ROW * row + (SECOND if row else 0), schematic)
    return out


def _device(device: str, stay: str, y: float, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw one device: its name, its room and its door, and how much of them is used."""
    told, name, flash = schematic.told, DEVICES[device][0], device == "flash"
    size, rate = told[f"{device}_room"], told[f"{device}_rate"]
    out = [
        text(0, y + 12, name, "ink strong"),
        text(WIDTH, y + 12, f"{told[f'{device}_{stay}']} cents", "ink strong", "end"),
        text(
            0,
            y + 29,
            f"{size}, out {rate}, in {told['flash_in']}"
            if flash
            else f"{size}, in and out {rate} together",
            "soft small",
        ),
    ]
    room, door, way_in = used(schematic, device, stay)
    parts = [("room", "room", room, "c2"), ("door", "out" if flash else "door", door, "c0")]
    if flash:
        parts.append(("in", "in", way_in, "c3"))
    for i, (part, called, share, colour) in enumerate(parts):
        top = y + 37 + 19 * i
        out += [
            text(0, top + 10, called, "ink small"),
            rect(BAR + 0.5, top + 0.5, LONG - 1, 11, "soft outline"),
            named(f"{device}-{part}", rect(BAR, top, LONG * share, 12, colour)),
        ]
        if part == "door" and not flash:
            both = rect(BAR + LONG * door, top, LONG * way_in, 12, "c3")
            out.append(named(f"{device}-in", both))
            for words, start, wide in (("out", 0.0, door), ("in", door, way_in)):
                if LONG * wide > 24:  # room for the word
                    middle = BAR + LONG * (start + wide / 2)
                    out.append(text(middle, top + 10, words, "paper small", "middle"))
            share = door + way_in
        key = "all" if share > 1 - 1e-9 else f"{device}_{stay}_{part}"
        out.append(text(WIDTH, top + 10, told[key], "ink small", "end"))
    return out


def _numbers(device: str) -> dict[str, str | Number]:
    """Return what is known of a device, and what a thousand stays cost in a second."""
    _, row, priced = DEVICES[device]
    price = f"([{priced} / usd_per_gb_low] * [{priced} / usd_per_gb_high]) ** 0.5"
    return {
        f"{device}_room": Number(f"{row} / capacity_bytes", 3),
        f"{device}_rate": Number(f"{row} / read_bandwidth_bytes_per_s", 3),
        f"{device}_drain": f"= {{{device}_room}} / {{{device}_rate}}",
        f"{device}_rent": f"= 100 * {{thousand}} * {{cache}} * {price} / {{life}}",
    }


def _used_and_paid() -> dict[str, Number]:
    """Return, for each stay, the shares that are not all, and the bill in cents.

    A device charges its rent for the stay, or for the time that its doors take if that is longer.
    """
    found = {}
    for stay in STAYS:
        time = f"{{{stay}}}"
        if stay != "day":
            found[f"flash_{stay}_room"] = Number(f"= {time} / {{day}}", _few(stay), "%")
        found[f"flash_{stay}_door"] = Number("= {flash_drain} / {day}", 2, "%")
        found[f"host_{stay}_door"] = Number(f"= 2 * {{host_drain}} / {time}", 1, "%")
        found[f"disk_{stay}_room"] = Number(f"= {time} / {{disk_drain}} / 2", _few(stay), "%")
        found[f"flash_{stay}"] = Number("= {flash_rent} * {day}")
        found[f"host_{stay}"] = Number(f"= {{host_rent}} * {time}")
        found[f"disk_{stay}"] = Number("= {disk_rent} * 2 * {disk_drain}")
    return found


def _few(stay: str) -> int:
    return 2 if stay in ("day", "hour") else 1


room_and_door = Schematic(
    "room-and-door",
    "What a device is used for",
    height=TOP + 3 * ROW + SECOND - 8,
    numbers={
        "all": Number("= 1", unit="%"),
        "thousand": Number("= 1000", 4),
        "day": Number("= 86400", unit="s"),
        "hour": Number("= 3600", unit="s"),
        "five": Number("= 300", unit="s"),
        "life": "= 5 * 365.25 * 86400",
        "cache": 'resident_caches device_batch=1 hardware="GB200 NVL72" model="DeepSeek-V3"'
        " precision=fp8 context=100000",
        **_numbers("flash"),
        **_numbers("host"),
        **_numbers("disk"),
        # Its rating: one filling a day.
        "flash_in": Number("= {flash_room} / {day}", 3, "B/s"),
        **_used_and_paid(),
    },
    steps=[
        Step(
            "For a day, flash is just right: its room fills up, and so does its way in, since it is"
            " rated for one filling a day. Whatever lies there pays a day\u2019s rent.",
            "On the flash drive the bars of the room and of the way in are full, and that of the"
            " way out is filled to {flash_day_door}; a thousand stays cost {flash_day} cents. The"
            " room of the host is full, for {host_day} cents. The door of the disk is full, half"
            " for the way out and half for the way in, and its room is filled to {disk_day_room},"
            " for {disk_day} cents.",
            "a day",
        ),
        Step(
            "For an hour, no more comes in. A twenty-fourth of the room is in use, and pays for all"
            " of it: a day\u2019s rent again. The disk also charges what it did, two days\u2019"
            " rent. The host charges for the hour.",
            "The way in of flash is still full, and its room is filled to {flash_hour_room}; the"
            " bill is {flash_hour} cents, as before. The room of the disk is filled to"
            " {disk_hour_room}, for {disk_hour} cents as before. The room of the host is full, and"
            " its bill falls to {host_hour} cents.",
            "an hour",
        ),
        Step(
            "For five minutes, flash and disk are nearly empty and their bills stand still. The"
            " host, whose door is wide, is full and has become the cheapest.",
            "The room of flash is filled to {flash_five_room} and that of the disk to"
            " {disk_five_room}, at {flash_five} and {disk_five} cents. The host\u2019s room is"
            " full, at {host_five} cents.",
            "five minutes",
        ),
    ],
    draw=_draw,
    caption="One device each, bought at the middle of its listed prices and paid off over five"
    " years. Everything comes in once and goes out once; a stay is that of a cache of"
    " {cache}.",
)
