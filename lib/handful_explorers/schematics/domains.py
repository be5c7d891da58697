"""Scale-up domains, a dot for each chip, and how many of the chips DeepSeek-V3's weights fill."""

from __future__ import annotations

import math
from typing import Any

from ..plotting.scenes.shapes import text
from .schematic import WIDTH, Number, Schematic, Step
from .svg import dots

ROW, PITCH = 80, 4.25  # dots in a row, and pixels from one to the next
# What stands in the drawing, from the step of that number on: its key, name and chip.
DOMAINS = {
    1: ("node", "A node of H100", "H100 SXM"),
    2: ("rack", "A rack of GB200", "GB200 NVL72"),
    3: ("next", "Rubin Ultra, announced", "Rubin Ultra NVL144"),
    4: ("pod", "A pod of TPU v4", "TPU v4"),
}
HEAD, GAP = 20, 22  # pixels above the dots of a domain, and below


def rows(chips: int, full: int) -> list[tuple[int, int, int, str]]:
    """Return the runs of dots of a domain: row, first column, dots, colour.

    >>> rows(8, 9)
    [(0, 0, 8, 'c1')]
    >>> rows(90, 4)
    [(0, 0, 4, 'c1'), (0, 4, 76, 'soft'), (1, 0, 10, 'soft')]
    """
    full = min(full, chips)
    out = [(0, 0, full, "c1")]
    for row in range(math.ceil(chips / ROW)):
        first = full if row == 0 else 0
        count = min(ROW, chips - row * ROW) - first
        if count > 0:
            out.append((row, first, count, "soft"))
    return out


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    out, top = [], 0.0
    for number, (key, name, _) in DOMAINS.items():
        chips, full = (math.ceil(schematic.value(f"{key}_{what}")) for what in ("chips", "fill"))
        if number <= step:
            colour = "ink strong" if number == step else "ink"
            told = f"{schematic.told[f'{key}_chips']} chips, {schematic.told[f'{key}_memory']}"
            out += [text(0, top + 12, name, colour), text(WIDTH, top + 12, told, "ink", "end")]
            for row, first, count, paint in rows(chips, full):
                x, y = 2.1 + first * PITCH, top + HEAD + 2 + row * PITCH
                out.append(dots(x, y, count, PITCH, 3.2, paint))
        top += HEAD + math.ceil(chips / ROW) * PITCH + GAP
    return out


def _domain(key: str, chip: str) -> dict[str, str | Number]:
    of = f"accelerators / {chip}"
    return {
        f"{key}_chips": Number(f"{of} / scaleup_domain_chips", 4, "1"),
        f"{key}_memory": Number(
            f"= [{of} / scaleup_domain_chips] * [{of} / hbm_capacity_bytes]", 3, "B"
        ),
        f"{key}_fill": f"= {{weights}} / [{of} / hbm_capacity_bytes]",
    }


four_domains = Schematic(
    "four-domains",
    "Chips that one fast network joins",
    height=4 * (HEAD + GAP) + 56 * PITCH - GAP + 6,
    numbers={
        "weights": Number('weight_memory model="DeepSeek-V3" precision=fp8', 3),
        **{k: v for key, _, chip in DOMAINS.values() for k, v in _domain(key, chip).items()},
    },
    steps=[
        Step(
            "Eight H100s are joined by one fabric and hold {node_memory}. The weights of"
            " DeepSeek-V3, in one byte each, take {weights}: they fill all eight chips and do not"
            " fit.",
            "Eight dots, all of them coloured: the weights would fill {node_fill} such chips.",
        ),
        Step(
            "A rack of GB200 joins {rack_chips} chips. The same weights fill {rack_fill} of them,"
            " and the other chips have room for caches, or for a much larger model.",
            "A row of {rack_chips} dots, the first four of them coloured.",
        ),
        Step(
            "A rack that has been announced joins {next_chips}, twice as many, and each of"
            " them is to hold several times as much. These figures are unverified.",
            "Two rows of dots, {next_chips} in all. One is coloured, and the weights fill"
            " {next_fill} of it.",
        ),
        Step(
            "Google\u2019s pods joined {pod_chips} chips years before. A chip of theirs holds"
            " little, so the weights would fill {pod_fill} of them, which is still a small part of"
            " the pod.",
            "A block of {pod_chips} dots, many times larger than all the others together, a few"
            " of which are coloured.",
        ),
    ],
    draw=_draw,
    caption="Each dot is a chip. Coloured are as many as the weights of DeepSeek-V3 would fill in"
    " one byte each. A pod is wired as a torus, with links between neighbours, the others through"
    " switches.",
)
