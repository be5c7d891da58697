"""What training keeps of a text between the way up through the layers and the way back.

One drawing serves two pictures: notes that are kept, and notes that are made again.  Notes and the
memory that they take are drawn to scale; a box stands for ten layers.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import arrow

BOXES, TALL, PITCH, TOP = 8, 28, 32, 40  # of the layers, in pixels
BOTTOM = TOP + BOXES * PITCH - (PITCH - TALL)
X, WIDE, NOTES, GAUGE = 26, 84, 64, 62  # the layers, their notes, and the gauge of memory
RUN = 'model="Llama 3.1 70B" sequence_tokens=8192 micro_batch=1 bytes_per_score=0'
FULL = BOTTOM - TOP - 14  # height of all notes in the gauge


def _y(box: int) -> float:
    """Return the top of a box of layers, counted from the first layers, at the bottom."""
    return BOTTOM - TALL - box * PITCH


def _frame(way: str, held: str = "notes held") -> list[dict[str, Any]]:
    """Draw the layers, and which way the text goes through them."""
    out = [
        text(X, 13, "layers", "ink strong"),
        text(X + WIDE + 14, 13, "notes", "c2 strong"),
        text(WIDTH, 13, held, "ink strong", "end"),
        text(X, BOTTOM + 18, "text comes in", "ink"),
    ]
    for box in range(BOXES):
        out.append(rect(X, _y(box), WIDE, TALL, "c1"))
    ends = (BOTTOM, TOP) if way == "up" else (TOP, BOTTOM)
    out.append(arrow(12, ends[0], 12, ends[1], "c1", 3))
    out.append(text(X + WIDE / 2, _y(0) + 18, "first", "paper small", "middle"))
    out.append(text(X + WIDE / 2, _y(BOXES - 1) + 18, "last", "paper small", "middle"))
    return out


def _gauge(held: float, told: str, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw what lies in memory, and how much one chip and two of them have."""
    scale, left = FULL / schematic.value("kept"), WIDTH - GAUGE
    tall = held * scale
    out = [
        rect(left + 0.5, BOTTOM - FULL + 0.5, GAUGE - 1, FULL - 1, "soft outline"),
        named("memory", rect(left, BOTTOM - tall, GAUGE, tall, "c2")),
        text(left + GAUGE / 2, BOTTOM - tall - 6, told, "ink strong", "middle"),
    ]
    for count, words in ((1, "one H100"), (2, "two")):
        y = BOTTOM - count * schematic.value("chip") * scale
        out.append(line(left - 8, y, left, y, "ink"))
        out.append(text(left - 12, y + 4, words, "ink small", "end"))
    return out


def _kept(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw the boxes of layers whose notes are there."""
    boxes = {1: range(2), 2: range(BOXES), 3: range(BOXES - 2), 4: range(1)}[step]
    out = _frame("up" if step < 3 else "down")
    for box in boxes:
        out.append(named(f"notes {box}", rect(X + WIDE + 14, _y(box), NOTES, TALL, "c2")))
    name = "kept" if step == 2 else f"kept_{step}"
    return out + _gauge(schematic.value(name), schematic.told[name], schematic)


def _rebuilt(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw two streams, and the notes of the one layer at work."""
    out = _frame("up" if step == 1 else "down", "held")
    at = {1: BOXES, 2: BOXES - 1, 3: BOXES - 2, 4: 0}[step]
    y = _y(at) if at < BOXES else TOP - 8
    for stream in range(2):
        x = X + 22 + 40 * stream
        out.append(named(f"stream {stream}", rect(x - 8, y - 3, 16, 7, "c0")))
    out.append(rect(X + WIDE + 14, BOTTOM + 10, 16, 7, "c0"))
    out.append(text(X + WIDE + 36, BOTTOM + 18, "a stream", "ink"))
    if step > 1:  # one layer of the ten of a box
        out.append(named("notes", rect(X + WIDE + 14, y + TALL - 3, NOTES, TALL / 10, "c2")))
    name = "pair" if step == 1 else "held"
    return out + _gauge(schematic.value(name), schematic.told[name], schematic)


_NUMBERS: dict[str, str | Number] = {
    "tokens": Number("= 8192", 4),
    "layers": "models / Llama 3.1 70B / n_layers",
    "kept": Number(f"activation_memory_stored_of_shape {RUN}", 3),
    "chip": "accelerators / H100 SXM / hbm_capacity_bytes",
}
_CAPTION = (
    "Llama 3.1 70B in training, one text of {tokens} tokens; each box stands for ten of its"
    " {layers} layers. Notes and memory are drawn to scale."
)

training_notes = Schematic(
    "training-notes",
    "Notes for the way back",
    height=BOTTOM + 24,
    numbers={
        **_NUMBERS,
        "kept_1": Number("= {kept} / 4", unit="B"),
        "kept_3": Number("= {kept} * 3 / 4", 3, unit="B"),
        "kept_4": Number("= {kept} / 8", unit="B"),
    },
    steps=[
        Step(
            "The text enters at the bottom and passes layer after layer. Each layer writes down"
            " what it computed. These are its notes for the way back.",
            "A stack of eight boxes of layers, with an arrow upwards. The lowest two have notes"
            " beside them; they fill {kept_1} of memory.",
        ),
        Step(
            "At the top, the model\u2019s guess at each next token is compared with the text. By"
            " now all {layers} layers have written their notes, {kept} in all. An H100 has"
            " {chip}.",
            "All boxes have notes beside them. Their {kept} reach above two marks, which"
            " are the memories of one H100 and of two.",
        ),
        Step(
            "The way back begins at the last layers. Their notes tell how much each of their"
            " weights had to do with the error. Once they are used, they can be thrown away.",
            "The arrow leads downwards. The uppermost two boxes have no notes any more, and"
            " {kept_3} are left in memory.",
        ),
        Step(
            "The first layers come last. Their notes were the first to be written, and they have"
            " been lying in memory ever since.",
            "Only the lowest box still has its notes, {kept_4}.",
        ),
    ],
    draw=_kept,
    caption=_CAPTION,
)

rebuilt_notes = Schematic(
    "rebuilt-notes",
    "The way back without notes",
    height=BOTTOM + 24,
    numbers={
        **_NUMBERS,
        "layer": Number(f"= [activation_memory_stored_of_shape {RUN}] / {{layers}}", unit="B"),
        "held": Number(f"activation_memory_reversible_of_shape {RUN} activation_bytes=2"),
        "pair": Number("= {held} - {layer}", unit="B"),
    },
    steps=[
        Step(
            "On the way up nothing is written down. At the top there are two streams of numbers,"
            " the halves of the cipher, {pair} together.",
            "The same stack of layers, without notes. Two small boxes, the streams, have arrived"
            " at the top; they take {pair} of memory, a thin line.",
        ),
        Step(
            "Now back, from the last layer. Run its feed-forward part again, on the stream that it"
            " read, and subtract the result from the other. Then do the same with attention. These"
            " runs write the layer\u2019s notes once more, {layer}.",
            "The streams stand at the uppermost box. A thin strip of notes stands beside it;"
            " streams and notes together take {held}.",
        ),
        Step(
            "Now the layer is undone: the streams are what they were below it. Its notes have done"
            " their work and are thrown away, and those of the next layer down take their place.",
            "The streams have moved down, and so has the thin strip of notes. Memory still holds"
            " {held}.",
        ),
        Step(
            "So it goes, down to the first layer. Streams and notes together never took more than"
            " {held}, instead of {kept}, and every layer has run forwards twice.",
            "The streams are back at the lowest box, where the text came in. They and the notes"
            " take {held}, far below the mark of one H100, {chip}.",
        ),
    ],
    draw=_rebuilt,
    caption=_CAPTION,
)

LONG = RUN.replace("8192", "131072")
_CHECKPOINTS = "activation_memory_checkpointed_of_shape activation_bytes=2"
PILES = {
    "kept": "all notes",
    "each": "a checkpoint at each layer",
    "second": "a checkpoint at every second layer",
    "held": "the trick, with two streams",
}
ROW, ROWS_TOP = 54, 30  # of the bars, in pixels


def _piles(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw the piles below one another, and how much one chip holds on their scale."""
    long = step > len(PILES)
    scale = WIDTH / schematic.value("kept")
    shown = list(PILES.items())[:step]
    bottom = ROWS_TOP + ROW * len(shown)
    chip = schematic.value("chip") * scale / (schematic.value("longer") if long else 1)
    out = [
        text(0, 13, schematic.told["long" if long else "tokens"] + " tokens", "ink strong"),
        named("one", text(chip, bottom + 4, "one H100", "ink small")),
    ]
    for row, (name, label) in enumerate(shown):
        y = ROWS_TOP + ROW * row
        told = schematic.told[f"{name}_long" if long else name]
        wide = schematic.value(name) * scale
        colour = "c0" if name == "held" else "c2"
        out += [
            text(0, y + 12, label, "ink"),
            text(WIDTH, y + 12, told, "ink strong", "end"),
            named(name, rect(0, y + 20, wide, 18, colour)),
            named(f"chip {row}", rect(chip, y + 16, 2, 26, "ink")),
        ]
    return out


four_piles = Schematic(
    "four-piles",
    "Four piles of notes",
    height=ROWS_TOP + ROW * len(PILES) + 14,
    numbers={
        **_NUMBERS,
        "each": f"{_CHECKPOINTS} {RUN}",
        "second": Number("= (2 * {layers} / 2 + 34 * 2) * {tokens} * 8192", unit="B"),
        "held": f"activation_memory_reversible_of_shape {RUN} activation_bytes=2",
        "long": Number("= 131072", 6),
        "longer": "= {long} / {tokens}",
        "kept_long": f"activation_memory_stored_of_shape {LONG}",
        "each_long": Number(
            f"activation_memory_checkpointed_of_shape {LONG} activation_bytes=2", 3
        ),
        "second_long": Number("= {second} * {longer}", 3, unit="B"),
        "held_long": f"activation_memory_reversible_of_shape {LONG} activation_bytes=2",
    },
    steps=[
        Step(
            "All notes are kept until the way back has used them: {kept}. The upright line is the"
            " memory of one H100, {chip}.",
            "A bar for all notes, {kept}, over the whole width. An upright line across it, one"
            " H100, stands a little left of the middle.",
        ),
        Step(
            "With a checkpoint at each layer, {layers} inputs are kept, and one layer\u2019s notes"
            " are there in full: {each}.",
            "Below it a much shorter bar, a checkpoint at each layer, {each}.",
        ),
        Step(
            "With a checkpoint at every second layer it is half as many inputs, and the notes of"
            " two layers: {second}.",
            "Below it a bar for a checkpoint at every second layer, a little shorter: {second}.",
        ),
        Step(
            "With the trick, two streams are kept, and one layer\u2019s notes: {held}.",
            "Below it a very short bar, the trick with two streams, {held}.",
        ),
        Step(
            "A text of {long} tokens makes each pile {longer} times as large. On the new scale the"
            " bars have not changed at all. What has changed is the line: a chip is no larger than"
            " before.",
            "The bars are as long as they were, and stand for {kept_long}, {each_long},"
            " {second_long} and {held_long}. The line of one H100 has moved far to the left: only"
            " the bar of the trick ends before it.",
        ),
    ],
    draw=_piles,
    caption="Llama 3.1 70B in training, one text. Bars are drawn to scale. Each of the three ways"
    " of saving runs every layer once more.",
)
