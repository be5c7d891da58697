"""One token whose experts lie in two racks: how many copies of it cross.

The fabric of a rack and the ports of its chips are as thick as they are fast.  Eight chips stand
for a rack's; the bars are to scale.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import circle, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import arrow

RACK = 'scale_up_domains=2 hardware="GB200 NVL72" model="DeepSeek-V3"'
CROWD = f"batch=5760 {RACK} precision=fp8"  # eighty people on each chip of one rack
COPIES = "active_experts=8"

# Two racks: where boxes and chips stand, in pixels.
BOX, TALL, TOP, SIZE, PITCH = 150, 128, 24, 26, 34
FABRIC = 18  # its thickness; a port's is less by the ratio of their rates
PORTS = 8  # one for each chip drawn
HOME, INLET = (0, 1), (1, 0)  # rack and chip
OURS = 2  # which port, from the top, is that of the token's chip
EXPERTS = ((0, 0), (0, 3), (0, 5), (0, 6), (1, 1), (1, 3), (1, 4), (1, 7))
HERE, THERE = EXPERTS[:4], EXPERTS[4:]

WAYS = {2: "copies out", 3: "one copy out", 4: "answers back"}  # what moves, by step
ROWS = (("each", "a copy for each expert"), ("once", "a copy for the rack"))


def _port(chip: int) -> float:
    """Return the height of a chip's port."""
    return TOP + 11 + chip * (TALL - 22) / (PORTS - 1)


def _chip(place: tuple[int, int]) -> tuple[float, float]:
    """Return the middle of a chip."""
    rack, chip = place
    x = rack * (WIDTH - BOX) + 24 + chip % 4 * PITCH
    return x, TOP + 24 + chip // 4 * (TALL - 48)


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    return _racks(step, schematic) + _bars(step, schematic)


def _racks(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw two racks, the ports between them, and the copies on their way."""
    told, middle = schematic.told, TOP + TALL / 2
    port = FABRIC / schematic.value("ratio")
    out = [
        text(0, 13, "this rack", "ink strong"),
        text(WIDTH, 13, "the other rack", "ink strong", "end"),
        text(WIDTH / 2, 13, WAYS.get(step, ""), "c1", "middle"),
    ]
    for i in range(PORTS):
        ours = "c1" if i == OURS or step == 1 else "c1 pale"
        out.append(rect(BOX, _port(i) - port / 2, WIDTH - 2 * BOX, port, ours))
    for rack in (0, 1):
        left = rack * (WIDTH - BOX)
        out += [
            rect(left + 0.5, TOP + 0.5, BOX - 1, TALL - 1, "soft outline round"),
            rect(left + 3, middle - FABRIC / 2, BOX - 6, FABRIC, "c0"),
            text(
                left + BOX / 2,
                middle + 4,
                f"fabric {told['inside']}",
                "paper small strong",
                "middle",
            ),
        ]
        for chip in range(8):
            x, y = _chip((rack, chip))
            colour = "c4 pale" if (rack, chip) in EXPERTS else "grid"
            out.append(rect(x - SIZE / 2, y - SIZE / 2, SIZE, SIZE, colour))
    out.append(
        text(WIDTH / 2, TOP + TALL + 16, f"a port for each chip, {told['outside']}", "c1", "middle")
    )
    return out + _copies(step)


def _copies(step: int) -> list[dict[str, Any]]:
    """Draw the token, its copies, and the ways that they take."""
    x, y = _chip(HOME)
    port = _port(OURS)
    out = [named("token", circle(x, y, 6, "ink"))]
    if step == 1:
        return out
    if step in (2, 3):
        for place in HERE:
            out.append(circle(*_chip(place), 5, "c2"))
    if step == 2:
        out += [circle(BOX + 2 + 12 * i, port, 5, "c1") for i in range(4)]
    elif step == 3:
        out += [circle(WIDTH / 2, port, 5, "c1"), circle(*_chip(INLET), 5, "c1")]
        out.append(_link(INLET, away=True))
        for place in THERE:
            out += [_link(place), circle(*_chip(place), 5, "c2")]
    else:
        out += [_link(place, away=True) for place in HERE + THERE]
        out += [_link(HOME), _link(INLET), circle(WIDTH / 2, port, 5, "c1")]
    return out


def _link(place: tuple[int, int], away: bool = False) -> dict[str, Any]:
    """Return the arrow from the fabric to a chip, or away from the chip."""
    x, y = _chip(place)
    fabric = TOP + TALL / 2
    side = 1 if y > fabric else -1
    ends = (fabric + side * (FABRIC / 2 + 1), y - side * (SIZE / 2 + 1))
    start, end = reversed(ends) if away else ends
    return arrow(x, start, x, end, "c2", 2)


def _bars(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw how many copies of a token cross, for the ways that have been shown."""
    shown = ROWS[: min(step - 1, len(ROWS))]
    out = [text(0, 206, "Copies that cross, of eight", "ink strong")] if shown else []
    for i, (key, label) in enumerate(shown):
        y, new = 216 + 38 * i, i == len(shown) - 1
        colour = "ink" if new else "soft"
        out += [
            text(0, y + 11, label, f"{colour} strong" if new else colour),
            text(WIDTH, y + 11, schematic.told[key], colour, "end"),
            named(f"bar {key}", rect(0, y + 16, WIDTH * schematic.value(key) / 8, 10, "c1")),
        ]
    return out


two_ways_over = Schematic(
    "two-ways-over",
    "What crosses, and what need not",
    height=284,
    numbers={
        "chips": Number("accelerators / GB200 NVL72 / scaleup_domain_chips", 2, "1"),
        "ratio": 'bandwidth_ratio hardware="GB200 NVL72"',
        "inside": "accelerators / GB200 NVL72 / scaleup_bw_per_chip_one_direction_bytes_per_s",
        "outside": "interconnects / InfiniBand NDR / one_direction_bytes_per_s",
        "each": f"copies_leaving_of_racks scale_up_domains=2 {COPIES}",
        "once": f"copies_leaving_once_of_racks scale_up_domains=2 domain_limit=2 {COPIES}",
        "each_time": f"scale_out_time_of_racks {CROWD}",
        "once_time": f"scale_out_time_once_of_racks domain_limit=2 {CROWD}",
    },
    steps=[
        Step(
            "A token is on a chip of this rack, and four of its eight experts are in each rack."
            " Inside a rack a chip sends {inside}. Through its own port to the other rack it sends"
            " {outside}, {ratio} times less.",
            "Two racks of chips with a thick bar in each, the fabric, and eight thin lines between"
            " them, a port for each chip. The token is on one chip of the left rack; four chips in"
            " each rack hold an expert of it.",
        ),
        Step(
            "With one copy for each expert, four stay on the fabric, and four wait their turn at"
            " the port, though all four are the same. In our layer a port is busy for {each_time}.",
            "Four copies are with their experts in the left rack, and four stand in a row at one"
            " port. A bar below says that {each} of eight copies cross.",
        ),
        Step(
            "Let one copy cross instead, to a chip that hands it on to the four, over the fast"
            " fabric of its own rack.",
            "One copy is on its way, and again on a chip of the right rack. There an arrow leads"
            " from one chip to the fabric, and arrows lead from the fabric to the four"
            " chips with experts. A second bar below is a quarter as long as the first.",
        ),
        Step(
            "The answers are added up in any case, so the four of the other rack are added there,"
            " and their sum comes back as one. Now a port is busy for {once_time}.",
            "In either rack arrows lead from the four experts to the fabric, and from the fabric to"
            " one chip; in the left rack it is the token\u2019s. One sum is on its way back.",
        ),
    ],
    draw=_draw,
    caption="Eight chips stand for the {chips} of each rack. The thicker a line, the faster it is."
    " Times are those of the napkin, and copies are averages over a router"
    " without favourites.",
)
