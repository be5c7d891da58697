"""Draw the copies that a random router sends to each chip, one bar per chip.

Each bar is cut into the chip's experts.

``data`` holds `experts`, `active` and `spare`, the number of second copies.  ``numbers`` holds
`closed`, the closed form of the busiest chip over the mean.
"""

from __future__ import annotations

from typing import Any

from handful.units import format_value
from handful_evidence.simulate.router import loads, spread

from . import inputs, shapes

INPUTS = {
    "devices": ("Chips", "device", 64),
    "batch": ("Tokens of a step", "token", 1024),
    "skew": ("Favourites", "1", 0.0),
    "spare": ("Second copies", "1", "none"),
    "seed": ("Draw", "1", 1),
}
TOP, DEEP, MARGIN, SPACE = 30, 250, 112, 17
MOST = 8192  # tokens that are drawn


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return the copies on each chip, expert by expert, with the busiest and the mean."""
    settings, data = inputs(explorer, state), explorer.data
    tokens = min(MOST, max(1, round(settings["batch"])))
    counts = loads(
        tokens, data["experts"], data["active"], float(settings["skew"]), settings["seed"]
    )
    chips = spread(
        counts, int(settings["devices"]), data["spare"] if settings["spare"] == "spare" else 0
    )
    sums = [sum(chip) for chip in chips]
    mean = tokens * data["active"] / len(chips)
    return {
        "chips": chips,
        "sums": sums,
        "mean": mean,
        "busiest": max(sums),
        "idlest": min(sums),
        "tokens": tokens,
        "which": sums.index(max(sums)),
        "closed": explorer.numbers_at(state)["closed"],
        "skew": float(settings["skew"]),
        "spare": settings["spare"] == "spare",
    }


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw a bar for each chip, with the mean and the closed form."""
    right, n = width - MARGIN, len(v["chips"])
    most = 1.08 * max(v["busiest"], v["closed"] * v["mean"])
    bottom = TOP + DEEP
    wide = right / n

    def at(copies: float) -> float:
        return bottom - DEEP * copies / most

    out = [shapes.text(0, 14, "Copies on each chip, one strip an expert", "soft")]
    for i, chip in enumerate(v["chips"]):
        below, colour = 0.0, "c1" if i == v["which"] else "c0"
        for j, copies in enumerate(chip):
            out.append(
                shapes.rect(
                    wide * i + 0.1 * wide,
                    at(below + copies),
                    0.8 * wide,
                    DEEP * copies / most,
                    colour + (" pale" if j % 2 else ""),
                )
            )
            below += copies
    out.append(shapes.line(0, bottom, right, bottom, "soft"))
    labels = sorted(
        [
            (at(v["mean"]), "mean " + format_value(v["mean"], "1"), "ink"),
            (
                at(v["closed"] * v["mean"]),
                "chance " + format_value(v["closed"] * v["mean"], "1"),
                "c2",
            ),
            (at(v["busiest"]), "busiest " + format_value(v["busiest"], "1"), "c1"),
        ]
    )
    place = -1e9
    for y, label, colour in labels:
        out.append(shapes.line(0, y, right, y, colour + (" dash" if colour != "ink" else "")))
        place = max(y + 4, place + SPACE)
        out.append(shapes.text(right + 6, place, label, colour))
    out.append(shapes.text(0, bottom + 17, f"{n} chips", "soft small"))
    return bottom + 22, out


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the load of the busiest and the idlest chip, and what is lost by waiting."""
    return [
        ("Busiest chip over the mean", format_value(v["busiest"] / v["mean"], "1"), "in this draw"),
        (
            "What chance alone does",
            format_value(v["closed"], "1"),
            "closed form, without favourites",
        ),
        (
            "Time lost waiting for it",
            format_value(1 - v["mean"] / v["busiest"], "%"),
            "of the other chips, on average",
        ),
        ("Idlest chip over the mean", format_value(v["idlest"] / v["mean"], "1"), ""),
    ]


def words(v: dict[str, Any]) -> str:
    """Describe the load of the busiest chip beside the mean."""
    how = (
        "some experts have second copies and all are placed by load"
        if v["spare"]
        else "experts lie in order"
    )
    who = "a router without favourites" if v["skew"] == 0 else "a router with favourites"
    return (
        f"{format_value(v['tokens'], '1', 6)} tokens, {who}, {len(v['chips'])} chips; {how}. The "
        "busiest chip gets "
        f"{format_value(v['busiest'], '1')} copies, {format_value(v['busiest'] / v['mean'], '1')} "
        "times the mean of "
        f"{format_value(v['mean'], '1')}; the closed form for chance alone says "
        f"{format_value(v['closed'], '1')} times."
    )


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: the loads over the mean."""
    return ["Chip", "Copies", "Over the mean"], [
        [name, format_value(copies, "1"), format_value(copies / v["mean"], "1")]
        for name, copies in (
            ("busiest", v["busiest"]),
            ("mean", v["mean"]),
            ("idlest", v["idlest"]),
            ("busiest, closed form", v["closed"] * v["mean"]),
        )
    ]
