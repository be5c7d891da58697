"""One token whose experts lie in two racks, or on eight nodes: how many copies of it cross.

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

# Eight nodes: in which of them the experts lie, and how many in each.
COLUMNS, NODES, NODE, NODE_PITCH = 4, 8, (76, 68), (88, 80)
ITS_NODE = 1
SPREAD = {0: 2, 1: 1, 3: 1, 4: 2, 6: 1, 7: 1}
LIMITED = {0: 2, 3: 2, 4: 2, 6: 2}

ROWS = (
    ("each", "two racks, a copy for each expert"),
    ("once", "two racks, a copy for the rack"),
    ("eight_each", "eight nodes, a copy for each expert"),
    ("eight_once", "eight nodes, a copy for each node"),
    ("four", "eight nodes, four for each token"),
)
SHOWN = {1: (0, 0), 2: (0, 1), 3: (0, 2), 4: (0, 2), 5: (2, 4), 6: (2, 5)}  # rows of each step


def _port(chip: int) -> float:
    """Return the height of a chip's port."""
    return TOP + 11 + chip * (TALL - 22) / (PORTS - 1)


def _chip(place: tuple[int, int]) -> tuple[float, float]:
    """Return the middle of a chip."""
    rack, chip = place
    x = rack * (WIDTH - BOX) + 24 + chip % 4 * PITCH
    return x, TOP + 24 + chip // 4 * (TALL - 48)


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    return (_nodes(step) if step > 4 else _racks(step, schematic)) + _bars(step, schematic)


def _racks(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw two racks, the ports between them, and the copies on their way."""
    told, middle = schematic.told, TOP + TALL / 2
    port = FABRIC / schematic.value("ratio")
    out = [
        text(0, 13, "this rack", "ink strong"),
        text(WIDTH, 13, "the other rack", "ink strong", "end"),
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
        out += [circle(WIDTH / 2, port, 5, "c1"), _link(INLET, away=True)]
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


def _nodes(step: int) -> list[dict[str, Any]]:
    """Draw eight nodes of eight chips, and those in which the token's experts lie."""
    out = [
        text(0, 13, "eight nodes", "ink strong"),
        text(WIDTH - 144, 13, "the token\u2019s own node", "ink"),
        circle(WIDTH - 156, 9, 6, "ink"),
    ]
    held = SPREAD if step == 5 else LIMITED
    wide, tall = NODE
    for node in range(NODES):
        x, y = node % COLUMNS * NODE_PITCH[0], TOP + node // COLUMNS * NODE_PITCH[1]
        crossed = node in held and node != ITS_NODE
        out.append(
            rect(
                x + 0.75, y + 0.75, wide - 1.5, tall - 1.5, f"{'c1' if crossed else 'soft'} outline"
            )
        )
        for chip in range(8):
            left, top = x + 4 + chip % 4 * 17.5, y + 6 + chip // 4 * 36
            with_expert = chip in (2, 5)[: held.get(node, 0)]
            out.append(rect(left, top, 15, 20, "c4 pale" if with_expert else "grid"))
            if with_expert:
                out.append(circle(left + 7.5, top + 10, 5, "c2"))
        if node == ITS_NODE:
            out.append(circle(x + 4 + 7.5, y + 16, 6, "ink"))
    return out


def _bars(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw how many copies of a token cross, for the ways that have been shown."""
    first, last = SHOWN[step]
    if first == last:
        return []
    out, top = [text(0, 206, "Copies that cross, of eight", "ink strong")], 216
    for i, (key, label) in enumerate(ROWS[first:last]):
        y, new = top + 38 * i, i == last - first - 1
        colour = "ink" if new else "soft"
        wide = WIDTH * schematic.value(key) / 8
        told = f"at most {schematic.told[key]}" if key == "four" else schematic.told[key]
        out += [
            text(0, y + 11, label, f"{colour} strong" if new else colour),
            text(WIDTH, y + 11, told, colour, "end"),
            named(f"bar {key}", rect(0, y + 16, wide, 10, "c1")),
        ]
    return out


two_ways_over = Schematic(
    "two-ways-over",
    "What crosses, and what need not",
    height=322,
    numbers={
        "chips": Number("accelerators / GB200 NVL72 / scaleup_domain_chips", 2, "1"),
        "ratio": 'bandwidth_ratio hardware="GB200 NVL72"',
        "inside": "accelerators / GB200 NVL72 / scaleup_bw_per_chip_one_direction_bytes_per_s",
        "outside": "interconnects / InfiniBand NDR / one_direction_bytes_per_s",
        "each": f"copies_leaving_of_racks scale_up_domains=2 {COPIES}",
        "once": f"copies_leaving_once_of_racks scale_up_domains=2 domain_limit=2 {COPIES}",
        "eight_each": f"copies_leaving_of_racks scale_up_domains=8 {COPIES}",
        "eight_once": f"copies_leaving_once_of_racks scale_up_domains=8 domain_limit=8 {COPIES}",
        "reached": f"domains_reached_of_racks scale_up_domains=8 {COPIES}",
        "four": f"copies_leaving_once_of_racks scale_up_domains=8 domain_limit=4 {COPIES}",
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
            "One copy is on its way. In the right rack an arrow leads from one chip to the"
            " fabric, and arrows lead from the fabric to the four chips with experts. A second bar"
            " below is a quarter as long as the first.",
        ),
        Step(
            "The answers are added up in any case, so the four of the other rack are added there,"
            " and their sum comes back as one. Now a port is busy for {once_time}.",
            "In either rack arrows lead from the four experts to the fabric, and from the fabric to"
            " one chip; in the left rack it is the token\u2019s. One sum is on its way back.",
        ),
        Step(
            "Now eight nodes of eight chips, as when DeepSeek-V3 was trained. A token\u2019s"
            " experts are in {reached} of them on average. So merging saves less: of {eight_each}"
            " copies, {eight_once} still cross.",
            "Eight boxes of eight chips. Two experts are in two of the boxes and one in four more,"
            " one of them the token\u2019s own. Two bars: {eight_each} copies cross if each expert"
            " gets one, and {eight_once} if each node does.",
        ),
        Step(
            "So let the router help. It first picks four nodes for the token, and then experts in"
            " these alone. Now at most four copies cross, and fewer if the token\u2019s own node is"
            " among them.",
            "The eight experts lie in four of the boxes, two in each. A third bar says at most"
            " {four} copies.",
        ),
    ],
    draw=_draw,
    caption="Eight chips stand for the {chips} of each rack. The thicker a line, the faster it is."
    " Times are those of the napkin, and copies are averages over a router"
    " without favourites; the last bar is an upper limit.",
)
