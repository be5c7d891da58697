"""Room and door: how much of each of three devices is used by what stays for a time.

All that lies on a full device is fetched once in the time for which things stay.  What the door
cannot serve in that time has to stay empty.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import rect, text
from .ladder import DISK, FLASH, GRACE
from .schematic import WIDTH, Number, Schematic, Step, named

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
    6: ("five", ("flash", "host", "disk")),
}
TOP, ROW, BAR, LONG = 28, 88, 42, 240  # of the rows; where bars begin, and how long they are


def used(schematic: Schematic, device: str, stay: str) -> tuple[float, float]:
    """Return the shares of a device's room and of its door that are used."""
    times = schematic.value(stay) / schematic.value(f"{device}_drain")
    return min(1, times), min(1, 1 / times)


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    stay, devices = SHOWN[step]
    words = {"": "Room and a door", "hour": "All stays an hour", "five": "All stays five minutes"}
    out = [text(0, 13, words[stay], "ink strong")]
    if stay:
        out.append(text(WIDTH, 13, "a gigabyte in use costs", "soft", "end"))
    for row, device in enumerate(DEVICES):
        used_for = stay if device in devices else ""
        out += _device(device, used_for, TOP + ROW * row, schematic)
    return out


def _device(device: str, stay: str, y: float, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw one device: its name, its room and its door, and how much of them is used."""
    told, (name, _) = schematic.told, DEVICES[device]
    out = [
        text(0, y + 12, name, "ink strong"),
        text(
            0,
            y + 29,
            # How long a disk takes is to be guessed at the ladder.
            f"{told[f'{device}_room']}, read at {told[f'{device}_rate']}"
            + ("" if device == "disk" else f": emptied in {told[f'{device}_drain']}"),
            "soft small",
        ),
        text(0, y + 47, "room", "ink small"),
        text(0, y + 66, "door", "ink small"),
        rect(BAR + 0.5, y + 37.5, LONG - 1, 11, "soft outline"),
        rect(BAR + 0.5, y + 56.5, LONG - 1, 11, "soft outline"),
    ]
    if not stay:
        return out
    room, door = used(schematic, device, stay)
    out += [
        text(WIDTH, y + 12, told[f"{device}_{stay}"], "ink strong", "end"),
        named(f"{device}-room", rect(BAR, y + 37, LONG * room, 12, "c2")),
        named(f"{device}-door", rect(BAR, y + 56, LONG * door, 12, "c0")),
    ]
    for share, below in ((room, 47), (door, 66)):
        key = f"{device}_{stay}_{'room' if below == 47 else 'door'}"
        out.append(text(WIDTH, y + below, told["all" if share == 1 else key], "ink small", "end"))
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
    return Number(f"= ([{row} / usd_per_gb_low] * [{row} / usd_per_gb_high]) ** 0.5", 2, "$")


PRICED = "memory_tiers / Seagate Exos M 30 TB, SATA III interface ceiling 600 MB/s (6 Gb/s, 8b/10b)"
room_and_door = Schematic(
    "room-and-door",
    "What a device is used for",
    height=TOP + 3 * ROW - 8,
    numbers={
        "all": Number("= 1", unit="%"),
        "hour": Number("= 3600", unit="s"),
        "five": Number("= 300", unit="s"),
        **_numbers("flash"),
        **_numbers("host"),
        **_numbers("disk"),
        # Where its room is full, a gigabyte costs what it was bought for.
        "flash_hour": _price(FLASH),
        "host_hour": _price(GRACE),
        "host_five": Number("= {host_hour}", 2, "$"),
        "disk_price": _price(PRICED),
        "flash_hour_door": Number("= {flash_drain} / {hour}", 2, "%"),
        "host_hour_door": Number("= {host_drain} / {hour}", 1, "%"),
        "host_five_door": Number("= {host_drain} / {five}", 1, "%"),
        "flash_five_room": Number("= {five} / {flash_drain}", 2, "%"),
        "disk_hour_room": Number("= {hour} / {disk_drain}", 2, "%"),
        "disk_five_room": Number("= {five} / {disk_drain}", 1, "%"),
        "flash_five": Number("= {flash_hour} / {flash_five_room}", 2, "$"),
        "disk_hour": Number("= {disk_price} / {disk_hour_room}", 2, "$"),
        "disk_five": Number("= {disk_price} / {disk_five_room}", 2, "$"),
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
            "The bar of the room is full, that of the door is filled to {flash_hour_door}.",
        ),
        Step(
            "Let them stay five minutes instead, and the door is too narrow: only"
            " {flash_five_room} of the room can be emptied in that time. The rest must lie idle.",
            "The bar of the door is full, that of the room is filled to {flash_five_room}. A"
            " gigabyte in use costs {flash_five} instead of {flash_hour}.",
        ),
        Step(
            "Back to an hour, now in the memory of a host. Its door stands idle nearly all the"
            " time, and a gigabyte costs {host_hour}, most of it for a speed that is not used.",
            "Below the flash drive stands the memory of a host: its room is full, and its door is"
            " used for {host_hour_door} of the time.",
        ),
        Step(
            "And on a disk. A gigabyte costs only {disk_price}, but for an hour only"
            " {disk_hour_room} of it can be used, so each gigabyte in use costs {disk_hour}.",
            "Below stands a spinning disk: its door is full, and its room is filled to"
            " {disk_hour_room}.",
        ),
        Step(
            "For five minutes the disk is far worse, and flash still the cheapest. A device is"
            " used fully where things stay for its drain time.",
            "Five minutes for all three: a gigabyte in use costs {flash_five} on flash,"
            " {host_five} in the memory of a host and {disk_five} on the disk.",
        ),
    ],
    draw=_draw,
    caption="One device each, at the middle of its listed prices. Everything is fetched once, at"
    " the end of its stay; writing is not counted.",
)
