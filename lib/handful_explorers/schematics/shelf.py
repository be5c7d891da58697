"""Room and door: how much of each of three devices is used by what stays for a time.

All that lies on a full device is fetched once in the time for which things stay.  What the door
cannot serve in that time has to stay empty.  In the last steps it has been written as well: on a
host or a disk through the same door, on flash through one that its rated writes keep narrow.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import rect, text
from .schematic import WIDTH, Number, Schematic, Step, named

GRACE = "memory_tiers / Grace with 480 GB, read at 307 GB/s, behind 2 GPUs over NVLink-C2C"
FLASH = "memory_tiers / Micron 9650 Pro 30.72 TB, 28 GB/s read"
DISK = "memory_tiers / Seagate Exos X24 24 TB, 285 MB/s sustained"
DEVICES = {
    "flash": ("A flash drive", FLASH),
    "host": ("Memory of a host", GRACE),
    "disk": ("A spinning disk", DISK),
}
# In each step: the time for which things stay, and the devices in use.
SHOWN = {
    1: ("", ("flash",)),
    2: ("hour", ("flash",)),
    3: ("five", ("flash",)),
    4: ("hour", ("flash", "host")),
    5: ("hour", ("flash", "host", "disk")),
    6: ("hour", ("flash", "host", "disk")),
    7: ("five", ("flash", "host", "disk")),
}
WRITTEN = (6, 7)  # steps in which what lies there has been written as well
TOP, ROW, BAR, LONG = 28, 88, 42, 240  # of the rows; where bars begin, and how long they are
SECOND = 19  # height of the second door, which flash alone has


def used(
    schematic: Schematic, device: str, stay: str, written: bool = False
) -> tuple[float, float, float]:
    """Return the shares that are used of a device's room, of its door out and of that in.

    Where both are one door, the shares are of that one.
    """
    out = schematic.value(f"{device}_drain") / schematic.value(stay)  # for all of the room
    fill = "flash_fill" if device == "flash" else f"{device}_drain"
    way_in = schematic.value(fill) / schematic.value(stay) if written else 0
    busiest = max(out, way_in) if device == "flash" else out + way_in
    room = min(1, 1 / busiest)
    return room, room * out, room * way_in


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    stay, devices = SHOWN[step]
    written = step in WRITTEN
    words = {"": "Room and a door", "hour": "All stays an hour", "five": "All stays five minutes"}
    out = [text(0, 13, words[stay], "ink strong")]
    if stay:
        out.append(text(WIDTH, 13, "a gigabyte in use costs", "soft", "end"))
    for row, device in enumerate(DEVICES):
        used_for = stay if device in devices else ""
        y = TOP + ROW * row + (SECOND if row else 0)
        out += _device(device, used_for, y, schematic, written)
    return out


def _device(
    device: str, stay: str, y: float, schematic: Schematic, written: bool
) -> list[dict[str, Any]]:
    """Draw one device: its name, its room and its door, and how much of them is used."""
    told, (name, _) = schematic.told, DEVICES[device]
    out = [
        text(0, y + 12, name, "ink strong"),
        text(
            0,
            y + 29,
            f"{told[f'{device}_room']}, read at {told[f'{device}_rate']}:"
            f" emptied in {told[f'{device}_drain']}",
            "soft small",
        ),
        text(0, y + 47, "room", "ink small"),
        text(0, y + 66, "out" if written and device == "flash" else "door", "ink small"),
        rect(BAR + 0.5, y + 37.5, LONG - 1, 11, "soft outline"),
        rect(BAR + 0.5, y + 56.5, LONG - 1, 11, "soft outline"),
    ]
    second = written and device == "flash"
    if second:
        out += [
            text(0, y + 85, "in", "ink small"),
            rect(BAR + 0.5, y + 75.5, LONG - 1, 11, "soft outline"),
        ]
    if not stay:
        return out
    room, door, way_in = used(schematic, device, stay, written)
    price = f"{device}_{stay}{'_written' if written else ''}"
    out += [
        text(WIDTH, y + 12, told[price], "ink strong", "end"),
        named(f"{device}-room", rect(BAR, y + 37, LONG * room, 12, "c2")),
        named(f"{device}-door", rect(BAR, y + 56, LONG * door, 12, "c0")),
    ]
    if written:
        left, top = (BAR, y + 75) if second else (BAR + LONG * door, y + 56)
        out.append(named(f"{device}-in", rect(left, top, LONG * way_in, 12, "c3")))
    shares = {"room": (room, 47), "door": (door if second else door + way_in, 66)}
    if second:
        shares["in"] = (way_in, 85)
    for part, (share, below) in shares.items():
        key = "all" if share > 1 - 1e-9 else f"{price}_{part}"
        out.append(text(WIDTH, y + below, told[key], "ink small", "end"))
    return out


def _numbers(device: str) -> dict[str, str | Number]:
    """Return the numbers of a device; what is used is told where it is not all."""
    _, row = DEVICES[device]
    return {
        f"{device}_room": Number(f"{row} / capacity_bytes", 3),
        f"{device}_rate": Number(f"{row} / read_bandwidth_bytes_per_s", 3),
        f"{device}_drain": Number(
            f"drained_hold_time tier_capacity={{{device}_room}} tier_bandwidth={{{device}_rate}}",
            2,
        ),
    }


def _price(row: str) -> Number:
    """Return the request for a price of storage, in the middle of its range."""
    return Number(f"= 1e9 * ([{row} / usd_per_gb_low] * [{row} / usd_per_gb_high]) ** 0.5", 2, "$")


PRICED = "memory_tiers / Seagate Exos M 30 TB, SATA III interface ceiling 600 MB/s (6 Gb/s, 8b/10b)"
room_and_door = Schematic(
    "room-and-door",
    "What a device is used for",
    height=TOP + 3 * ROW + SECOND - 8,
    numbers={
        "all": Number("= 1", unit="%"),
        "hour": Number("= 3600", unit="s"),
        "five": Number("= 300", unit="s"),
        **_numbers("flash"),
        **_numbers("host"),
        **_numbers("disk"),
        # Its rating: one filling a day.
        "flash_fill": Number("= 86400", unit="s"),
        "flash_in": Number("= {flash_room} / {flash_fill}", 3, "B/s"),
        # Where its room is full, a gigabyte costs what it was bought for.
        "flash_hour": _price(FLASH),
        "host_hour": _price(GRACE),
        "disk_price": _price(PRICED),
        "flash_hour_door": Number("= {flash_drain} / {hour}", 2, "%"),
        "host_hour_door": Number("= {host_drain} / {hour}", 1, "%"),
        "flash_five_room": Number("= {five} / {flash_drain}", 2, "%"),
        "disk_hour_room": Number("= {hour} / {disk_drain}", 2, "%"),
        "flash_five": Number("= {flash_hour} / {flash_five_room}", 2, "$"),
        "disk_hour": Number("= {disk_price} / {disk_hour_room}", 2, "$"),
        # Written as well: half of a disk's door, and the narrow one of flash.
        "flash_hour_written_room": Number("= {hour} / {flash_fill}", 2, "%"),
        "disk_hour_written_room": Number("= {disk_hour_room} / 2", 2, "%"),
        "flash_five_written_room": Number("= {five} / {flash_fill}", 1, "%"),
        "disk_five_written_room": Number("= {five} / {disk_drain} / 2", 1, "%"),
        "flash_hour_written_door": Number("= {flash_drain} / {flash_fill}", 2, "%"),
        "flash_five_written_door": Number("= {flash_drain} / {flash_fill}", 2, "%"),
        "host_hour_written_door": Number("= 2 * {host_hour_door}", 1, "%"),
        "host_five_written_door": Number("= {host_hour_written_door} * {hour} / {five}", 1, "%"),
        "flash_hour_written": Number("= {flash_hour} / {flash_hour_written_room}", 2, "$"),
        "host_hour_written": Number("= {host_hour}", 2, "$"),
        "disk_hour_written": Number("= {disk_price} / {disk_hour_written_room}", 2, "$"),
        "flash_five_written": Number("= {flash_hour_written} * {hour} / {five}", 2, "$"),
        "host_five_written": Number("= {host_hour}", 2, "$"),
        "disk_five_written": Number("= {disk_hour_written} * {hour} / {five}", 2, "$"),
    },
    steps=[
        Step(
            "A drive has room, and a door. This one holds {flash_room} and lets {flash_rate} out,"
            " so emptying it takes {flash_drain}, its drain time.",
            "A flash drive with two empty bars, one for its room and one for its door.",
        ),
        Step(
            "Fill it with conversations that stay an hour and are then fetched. In every hour all"
            " of it goes out once, and the door is busy for {flash_hour_door} of the time.",
            "The bar of the room is full, that of the door is filled to {flash_hour_door}. What"
            " the drive cost to buy is told for each gigabyte in use: {flash_hour}.",
        ),
        Step(
            "Let them stay five minutes instead, and the door is too narrow: only"
            " {flash_five_room} of the room can be emptied in that time. The rest must lie idle.",
            "The bar of the door is full, that of the room is filled to {flash_five_room}. A"
            " gigabyte in use costs {flash_five} instead of {flash_hour}.",
        ),
        Step(
            "Now take the memory of a host, again for an hour. A gigabyte costs {host_hour}, and"
            " its door is idle nearly all the time.",
            "Below the flash drive stands the memory of a host: its room is full, and its door is"
            " used for {host_hour_door} of the time.",
        ),
        Step(
            "A disk is the opposite. A gigabyte costs only {disk_price}, but only {disk_hour_room}"
            " of it can be emptied in an hour, so each gigabyte in use costs {disk_hour}.",
            "Below stands a spinning disk: its door is full, and its room is filled to"
            " {disk_hour_room}.",
        ),
        Step(
            "Whatever goes out has come in. On a disk that is the same door, so the hour leaves"
            " {disk_hour_written_room} of it. Flash takes in only {flash_in} if it is to last.",
            "The bar of the disk\u2019s door is half for the way out and half for the way in, and"
            " its room is filled to {disk_hour_written_room}. Flash has a third bar, for the way"
            " in, which is full, and its room is filled to {flash_hour_written_room}. A gigabyte in"
            " use costs {flash_hour_written} on flash, {host_hour_written} in the memory of a host"
            " and {disk_hour_written} on the disk.",
        ),
        Step(
            "So for an hour the disk was the cheapest, by room and door. For five minutes it is the"
            " memory of the host.",
            "Five minutes for all three: a gigabyte in use costs {flash_five_written} on flash,"
            " {host_five_written} in the memory of a host and {disk_five_written} on the disk.",
        ),
    ],
    draw=_draw,
    caption="One device each, bought at the middle of its listed prices. Everything is fetched"
    " once, at the end of its stay; writing is counted in the last two steps.",
)
