"""An expert layer over eight chips: tokens go to their experts and come back.

Sixteen experts and two tokens a chip are drawn, few enough to follow.  A seeded router picks the
experts; with this seed as many copies leave their chip as do on average over all seeds.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from handful_evidence.random32 import mulberry32

from ..plotting.scenes.shapes import circle, line, path, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import arrow

CHIPS, EXPERTS, TOKENS, ACTIVE, SEED = 8, 16, 2, 2, 7
BOX, PITCH, TALL, TOP, GAP = 76, 88, 84, 24, 66  # of a chip's box, in pixels
BOTTOM = TOP + 2 * TALL + GAP
LETTERS = "ABCDEFGHIJKLMNOP"  # of the experts
FOLLOWED = 2  # the token whose experts are shown


@cache
def picks() -> tuple[tuple[int, ...], ...]:
    """Return the experts of each token, by token; the tokens of a chip come one after another.

    >>> len(picks()), all(len(set(experts)) == 2 for experts in picks())
    (16, True)
    """
    draw, out = mulberry32(SEED), []
    for _ in range(CHIPS * TOKENS):
        scores = [draw() for _ in range(EXPERTS)]
        out.append(tuple(sorted(range(EXPERTS), key=lambda e: (-scores[e], e))[:ACTIVE]))
    return tuple(out)


def copies() -> list[tuple[int, int]]:
    """Return the chip of the token and the chip of the expert, for each copy of a token."""
    per_chip = EXPERTS // CHIPS
    return [(t // TOKENS, e // per_chip) for t, experts in enumerate(picks()) for e in experts]


def counts() -> dict[str, int]:
    """Return what the sentences count.

    >>> found = counts()
    >>> found["leaving"] + found["staying"] == found["copies"] == 32
    True
    """
    every = copies()
    arriving = Counter(there for _, there in every)
    return {
        "copies": len(every),
        "leaving": sum(here != there for here, there in every),
        "staying": sum(here == there for here, there in every),
        "fullest": max(arriving.values()),
        "mean": len(every) // CHIPS,
        **{f"sent_{c}": sum(here == c != there for here, there in every) for c in range(CHIPS)},
        **{f"got_{c}": arriving[c] for c in range(CHIPS)},
    }


def _corner(chip: int) -> tuple[float, float]:
    return chip % 4 * PITCH, TOP + chip // 4 * (TALL + GAP)


def _seat(chip: int, place: int) -> tuple[float, float]:
    """Return where a copy stands that has come to a chip's experts."""
    x, y = _corner(chip)
    return x + 9 + place * 9.7, y + 60


def _home(token: int) -> tuple[float, float]:
    x, y = _corner(token // TOKENS)
    return x + 24 + token % TOKENS * 28, y + 15


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    out = _frames(told)
    for chip in range(CHIPS):
        x, y = _corner(chip)
        out.append(rect(x + 0.5, y + 0.5, BOX - 1, TALL - 1, "soft outline round"))
        for place in range(2):
            left, letter = x + 4 + 35 * place, LETTERS[2 * chip + place]
            out += [
                rect(left, y + 28, 33, 20, "c4" if step == 4 else "c4 pale"),
                text(
                    left + 16.5,
                    y + 42,
                    letter,
                    "paper small strong" if step == 4 else "ink small",
                    "middle",
                ),
            ]
    out += _tokens(away=step in (3, 4))
    if step == 2:
        out += _followed()
    if step >= 3:
        out += _counted(step, told)
    return out


def _frames(told: dict[str, str]) -> list[dict[str, Any]]:
    """Draw the fabric that joins all chips."""
    bar = TOP + TALL + GAP / 2
    out = [
        text(0, 13, f"{told['chips']} chips, {told['experts']} experts", "ink strong"),
        circle(WIDTH - 60, 9, 4.4, "ink"),
        circle(WIDTH - 56, 9, 4.4, "ink"),
        text(WIDTH, 13, "a token", "ink", "end"),
    ]
    for chip in range(CHIPS):
        x, y = _corner(chip)
        edge = y + TALL if chip < 4 else y
        out.append(line(x + BOX / 2, edge, x + BOX / 2, bar, "c0"))
    return [
        *out,
        rect(0, bar - 9, WIDTH, 18, "c0"),
        text(WIDTH / 2, bar + 4, "one fast fabric", "paper small strong", "middle"),
    ]


def _tokens(away: bool) -> list[dict[str, Any]]:
    """Draw the copies of the tokens: on their own chips, or with their experts."""
    out, taken = [], Counter[int]()
    for i, (_, there) in enumerate(copies()):
        token = i // ACTIVE
        if away:
            x, y = _seat(there, taken[there])
            taken[there] += 1
        else:
            x, y = _home(token)
            x += 4 * (i % ACTIVE) - 2
        colour = "c1" if token == FOLLOWED else "ink"
        out.append(named(f"copy {i}", circle(x, y, 4.4, colour)))
    return out


def _followed() -> list[dict[str, Any]]:
    """Draw the ways of one token to its experts, through the fabric."""
    x, y = _home(FOLLOWED)
    side = _corner(FOLLOWED // TOKENS)[0] - (PITCH - BOX) / 2  # past the experts of its own chip
    bar = TOP + TALL + GAP / 2
    out = []
    for expert in picks()[FOLLOWED]:
        cx, cy = _corner(expert // 2)
        below = cy > bar
        lane = bar + (7 if below else -7)
        middle, turn, end = cx + BOX / 2, cy + (20 if below else TALL), cy + (27 if below else 49)
        way = [(x - 4, y), (side, y), (side, lane), (middle, lane), (middle, turn)]
        out += [
            path(way, "c1", 2),
            arrow(middle, turn, cx + 20 + 35 * (expert % 2), end, "c1", 2),
        ]
    return out


def _counted(step: int, told: dict[str, str]) -> list[dict[str, Any]]:
    """Draw what each chip has sent or has got."""
    out = []
    for chip in range(CHIPS):
        x, y = _corner(chip)
        sent, got = told[f"sent_{chip}"], told[f"got_{chip}"]
        words = {3: f"{sent} sent, {got} here", 4: f"works on {got}", 5: f"gets {sent} back"}.get(
            step
        )
        if words:
            out.append(text(x + BOX / 2, y + TALL - 7, words, "soft small", "middle"))
    return out


_COUNTS = counts()

expert_layer = Schematic(
    "expert-layer",
    "One layer of experts",
    height=BOTTOM + 1,
    numbers={
        "chips": f"= {CHIPS}",
        "experts": f"= {EXPERTS}",
        **{name: f"= {count}" for name, count in _COUNTS.items()},
        "rack": Number("accelerators / GB200 NVL72 / scaleup_domain_chips", 2, "1"),
        "layer": Number("models / DeepSeek-V3 / routed_experts", 3),
        "bytes": Number('all_to_all_bytes model="DeepSeek-V3"', 3, "B"),
    },
    steps=[
        Step(
            "Each of {chips} chips holds two of the layer\u2019s experts, A to P, and works"
            " on tokens of its own, two here. A token is drawn as two dots, since two copies of it"
            " will travel.",
            "Two rows of four chips, joined by one fabric. In each stand two experts, and above"
            " them two tokens.",
        ),
        Step(
            "A router looks at a token and picks the two experts that suit it best. Follow one:"
            " it goes to B on the chip beside it, and to P on the far side of the fabric.",
            "Arrows lead from one token on the second chip into the fabric, and out of it to its"
            " two experts on other chips.",
        ),
        Step(
            "All tokens travel at once, each in a copy to each of its experts. Any chip may have"
            " to send to any other, an all-to-all: {leaving} of the {copies} copies leave their"
            " chip, and {staying} are at home already.",
            "All {copies} copies stand with their experts. Under each chip is written how many it"
            " has sent, and how many stand there.",
        ),
        Step(
            "Now the experts work on what has come. Chance spreads it unevenly: the fullest chip"
            " got {fullest} copies, the mean is {mean}, and all wait for the fullest.",
            "The experts are lit. Under each chip is written how many copies it works on,"
            " {fullest} at most.",
        ),
        Step(
            "The answers return the same way, and a token adds up its two. In DeepSeek-V3 it has"
            " eight experts, and the journey out and back moves {bytes} in every such layer.",
            "The copies are back on their own chips. Under each chip is written how many came"
            " back to it.",
        ),
    ],
    draw=_draw,
    caption="{chips} chips with {experts} experts, two for each token, stand for the {rack} of our"
    " rack and the {layer} experts of its layers.",
)
