"""What a token leaves in a layer's cache, and how often it is used: heads that share, and a latent.

The row of notes above is a diagram; the bars below are to scale.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, rect, text
from .reuse import SLOTS
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import dots, strokes

LLAMA, DEEPSEEK = "models / Llama 3.1 70B", "models / DeepSeek-V3"
RACK = 'hardware="GB200 NVL72" precision=fp8'
# Pairs of K and V in each of the first steps, and what the bar of that step is called.
PAIRS = {
    1: (64, "a pair for each head"),
    2: (1, "a pair for all heads"),
    3: (8, "a pair for every eight heads"),
}
# What the bars of the last step are called, and how often a number is used.
USES = {
    "once": "a pair for each head",
    "shared": "a pair for every eight heads (Llama)",
    "heads": "a pair for all 64 heads",
    "uses": "a latent for all 128 heads (DeepSeek)",
    "wanted": "what our chip can do meanwhile",
}


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    if step == 5:
        return _uses(schematic)
    told = schematic.told
    return (
        _heads(step, told)
        + (_latent(told) if step == 4 else _shared(*PAIRS[step][:1]))
        + _bars(step, schematic)
    )


def _heads(step: int, told: dict[str, str]) -> list[dict[str, Any]]:
    """Draw the query heads, as many as there are."""
    count = "latent_heads" if step == 4 else "heads"
    out = [
        text(0, 13, "Query heads", "ink strong"),
        text(WIDTH, 13, told[count], "ink", "end"),
        dots(2.6, 28, 64, 5.313, 4, "c2"),
    ]
    return [*out, dots(2.6, 36, 64, 5.313, 4, "c2")] if step == 4 else out


def _shared(pairs: int) -> list[dict[str, Any]]:
    """Draw pairs of keys and values, each below the heads that read it."""
    pitch = WIDTH / pairs
    if pairs == 64:
        return [
            strokes(2, 34, pairs, pitch, (1.2, 28), "c2"),
            strokes(0.7, 64, pairs, pitch, (3.8, 22), "c0"),
            strokes(0.7, 87, pairs, pitch, (3.8, 22), "c1"),
        ]
    out = []
    for i in range(pairs):
        middle = (i + 0.5) * pitch
        out += [
            line(i * pitch + 2.6, 40, (i + 1) * pitch - 2.6, 40, "c2"),
            line(middle, 40, middle, 62, "c2"),
            rect(middle - 13, 64, 26, 22, "c0"),
            rect(middle - 13, 87, 26, 22, "c1"),
            text(middle, 80, "K", "paper small strong", "middle"),
            text(middle, 103, "V", "paper small strong", "middle"),
        ]
    return out


def _latent(told: dict[str, str]) -> list[dict[str, Any]]:
    """Draw the latent and the key that carries the position, which all heads read."""
    return [
        line(2.6, 44, WIDTH - 2.6, 44, "c2"),
        line(105, 44, 105, 62, "c2"),
        line(250, 44, 250, 62, "c2"),
        rect(20, 64, 170, 45, "c4 round"),
        text(105, 83, "latent", "paper strong", "middle"),
        text(105, 100, f"{told['rank']} numbers", "paper small", "middle"),
        rect(205, 64, 90, 45, "c0 round"),
        text(250, 83, "position", "paper strong", "middle"),
        text(250, 100, f"{told['rope']} numbers", "paper small", "middle"),
    ]


def _bars(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw how many numbers a token leaves in a layer, for all kinds that have been shown."""
    told = schematic.told
    out = [text(0, 140, "Kept of a token in one layer", "ink strong")]
    rows = [*(((kind, label)) for kind, (_, label) in PAIRS.items()), (4, "a latent")]
    for kind, label in rows[:step]:
        y, colour = 150 + 38 * (kind - 1), "ink" if kind == step else "soft"
        wide = WIDTH * schematic.value(f"numbers_{kind}") / schematic.value("numbers_1")
        out += [
            text(0, y + 10, label, f"{colour} strong" if kind == step else colour),
            text(WIDTH, y + 10, told[f"numbers_{kind}"] + " numbers", colour, "end"),
            named(f"bar {kind}", rect(0, y + 15, wide, 10, "c4" if kind == 4 else "c0")),
        ]
    return out


def _uses(schematic: Schematic) -> list[dict[str, Any]]:
    """Draw how often each number of a cache is used."""
    told = schematic.told
    out = [text(0, 13, "Multiply-adds with each number fetched", "ink strong")]
    for i, (key, label) in enumerate(USES.items()):
        y = 30 + 54 * i
        colour = {"uses": "c4", "wanted": "c3"}.get(key, "c0")
        out += [
            text(0, y + 10, label, "ink"),
            text(WIDTH, y + 10, told[key], "ink strong", "end"),
            rect(0, y + 16, WIDTH * schematic.value(key) / schematic.value("wanted"), 14, colour),
        ]
    return out


shared_heads = Schematic(
    "shared-heads",
    "Heads that share a cache",
    height=304,
    numbers={
        "heads": f"{LLAMA} / n_heads",
        "pairs": f"{LLAMA} / n_kv_heads",
        "width": Number(f"{LLAMA} / head_dim", 3),
        "latent_heads": Number(f"{DEEPSEEK} / n_heads", 3),
        "rank": Number("shapes / DeepSeek-V3 / kv_lora_rank", 3),
        "rope": Number("shapes / DeepSeek-V3 / rope_dim", 3),
        "numbers_1": Number("= 2 * {heads} * {width}", 5),
        "numbers_2": Number("= 2 * {width}", 5),
        "numbers_3": Number("= 2 * {pairs} * {width}", 5),
        "numbers_4": Number("= {rank} + {rope}", 5),
        "pairs_4": Number("= 2 * {latent_heads} * {width}", 5),
        "once": "= 1",
        "shared": "= {heads} / {pairs}",
        "uses": Number(f'cache_uses model="DeepSeek-V3" {RACK}', 3, "1"),
        "wanted": Number(SLOTS, 3),
    },
    steps=[
        Step(
            "If each of {heads} heads kept a key and a value of its own of every token, each number"
            " would be fetched for a single head.",
            "A row of {heads} dots, the query heads. Below each stand a key and a value. A bar"
            " below is as long as the {numbers_1} numbers that they take.",
        ),
        Step(
            "In multi-query attention all heads look at the same key and the same value, and each"
            " number that is fetched is used {heads} times.",
            "All {heads} query heads lead to a single K and a single V. Their bar,"
            " {numbers_2} numbers, is a thin line under the first.",
        ),
        Step(
            "Grouped-query attention stands between. In Llama 3.1 70B eight heads share a key and"
            " a value, so each number is used {shared} times.",
            "The query heads in {pairs} groups, each above a K and a V of its own. A third bar"
            " shows {numbers_3} numbers, an eighth of the first.",
        ),
        Step(
            "Pairs for the {latent_heads} heads of DeepSeek-V3 would take {pairs_4} numbers. It"
            " keeps one latent of {rank} instead, and {rope} that tell the position. Each head uses"
            " the latent as key and as value, and the position once.",
            "Two rows of dots, {latent_heads} query heads. All lead to two boxes, a latent of"
            " {rank} numbers and a position of {rope}. A fourth bar shows {numbers_4} numbers,"
            " between those of one pair and of eight.",
        ),
        Step(
            "So a number of its cache is used {uses} times on average, not far from the {wanted}"
            " multiply-adds that our chip can do while it fetches one.",
            "Bars of how often a number is used: {once} with heads apart, {shared} with one pair"
            " for eight heads, {heads} with one for all, {uses} with a latent. The chip can do"
            " {wanted}.",
        ),
    ],
    draw=_draw,
    caption="The shape of Llama 3.1 70B, and with the latent that of DeepSeek-V3. Bars are to"
    " scale.",
)
