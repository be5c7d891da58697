"""Layers that each keep a cache, or all share one: what is kept, and what is read.

The shape is that of Llama 3.1 70B at one byte a number.  The two bars are to scale.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import arrow

MODEL = 'model="Llama 3.1 70B" precision=fp8'
ROWS = (24, 56, 88, 146)  # the first three layers and the last
TALL, LEFT, RIGHT = 24, 96, 150  # of a row; where its layer ends and where its cache begins
MIDDLE = 88  # of the one shared cache
# In each step: layers that have read, of those drawn, and whether they share.
SHOWN = {1: (0, False), 2: (4, False), 3: (0, True), 4: (3, True), 5: (4, True)}


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    readers, shared = SHOWN[step]
    out = [
        text(0, 13, "Layers", "ink strong"),
        text(WIDTH, 13, "Cache of the conversation", "ink strong", "end"),
        text(LEFT / 2, 134, "⋮", "soft", "middle"),
    ]
    names = (*(f"layer {told[n]}" for n in ("one", "two", "three")), f"layer {told['layers']}")
    for i, (y, name) in enumerate(zip(ROWS, names, strict=True)):
        ready = i < readers
        out.append(rect(0, y, LEFT, TALL, "c1" if ready else "c1 pale"))
        out.append(text(LEFT / 2, y + 17, name, "paper strong" if ready else "ink", "middle"))
        if not shared:
            out.append(rect(RIGHT, y, WIDTH - RIGHT, TALL, "c2"))
        if ready:
            start = MIDDLE if shared else y
            out.append(arrow(RIGHT - 3, start + TALL / 2, LEFT + 4, y + TALL / 2, "c2", 2.5))
    if not shared:
        out.append(text((RIGHT + WIDTH) / 2, 134, "⋮", "soft", "middle"))
    else:
        out.append(rect(RIGHT, MIDDLE, WIDTH - RIGHT, TALL, "c2"))
        words = "one for all layers"
        out.append(text((RIGHT + WIDTH) / 2, MIDDLE + 17, words, "paper strong", "middle"))
    return out + _bars(step, schematic)


def _bars(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw what a token of context takes in the memory, and how much of it is read for one more."""
    told, value = schematic.told, schematic.value
    scale = WIDTH / value("all")
    kept = "one_layer" if SHOWN[step][1] else "all"
    read = {2: "all", 4: "three_layers", 5: "all"}.get(step)
    out = [
        text(0, 204, "Kept for a token", "ink strong"),
        text(WIDTH, 204, told[kept], "ink", "end"),
        named("kept", rect(0, 212, value(kept) * scale, 16, "c2")),
        text(0, 258, "Read to write one more token", "ink strong"),
        rect(0.5, 266.5, WIDTH - 1, 15, "grid outline"),
    ]
    if read:
        out += [
            text(WIDTH, 258, told[read], "ink", "end"),
            named("read", rect(0, 266, value(read) * scale, 16, "c2")),
        ]
    return out


shared_cache = Schematic(
    "shared-cache",
    "A cache for each layer, and one for all",
    height=286,
    numbers={
        "layers": "models / Llama 3.1 70B / n_layers",
        "one": "= 1",
        "two": "= 2",
        "three": "= 3",
        "all": Number(f"resident_caches device_batch=1 context=1 {MODEL}", 3),
        "one_layer": Number("= {all} / {layers}", 3, "B"),
        "three_layers": Number("= 3 * {one_layer}", 3, "B"),
    },
    steps=[
        Step(
            "Usually every layer keeps a cache of its own. In Llama 3.1 70B each of the {layers}"
            " layers keeps {one_layer} for a token, so that all of them keep {all}.",
            "Layers stand in a column, and beside each its own cache. A long bar below: {all} are"
            " kept for a token.",
        ),
        Step(
            "To write one more token, each layer in turn reads its own cache. For each token of"
            " context as many bytes are read as are kept, {all}.",
            "An arrow leads from each cache to its layer. A second bar is as long as the first:"
            " {all} are read.",
        ),
        Step(
            "Now let all the layers share one cache. It holds {one_layer} for a token, and there is"
            " room for {layers} times as many people.",
            "A single cache stands beside the column of layers. The bar of what is kept has become"
            " very short, {one_layer}.",
        ),
        Step(
            "The first layer reads all of it, uses it and drops it, since there is no room for it"
            " next to the multipliers. The second has a query of its own, and has to fetch the same"
            " numbers once more. So does the third.",
            "Arrows lead from the shared cache to three layers. {three_layers} have been read.",
        ),
        Step(
            "After {layers} layers the one cache has been read {layers} times, and {all} have come"
            " from memory for each token of context, as before.",
            "Arrows lead from the shared cache to every layer. The bar of what is read is as long"
            " as in the beginning, {all}, while that of what is kept is very short.",
        ),
    ],
    draw=_draw,
    caption="The shape of Llama 3.1 70B with one byte for each number; the model itself does not"
    " share its caches.",
)
