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


def _frame(way: str) -> list[dict[str, Any]]:
    """Draw the layers, and which way the text goes through them."""
    out = [
        text(X, 13, "layers", "ink strong"),
        text(X + WIDE + 14, 13, "notes", "c2 strong"),
        text(WIDTH, 13, "notes held", "ink strong", "end"),
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
    out = _frame("up" if step == 1 else "down")
    at = {1: BOXES, 2: BOXES - 1, 3: BOXES - 2, 4: 0}[step]
    y = _y(at) if at < BOXES else TOP - 8
    for stream in range(2):
        x = X + 22 + 40 * stream
        out.append(named(f"stream {stream}", rect(x - 8, y - 3, 16, 7, "c0")))
    out.append(text(X + WIDE + 14, y + 5, "streams", "c0 small"))
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
            "Now back, from the last layer. Its second round goes first: run its function again,"
            " on the stream that it did not change, and then that of the first. These runs write"
            " the layer\u2019s notes once more, {layer}.",
            "The streams stand at the uppermost box. A thin strip of notes stands beside it;"
            " streams and notes together take {held}.",
        ),
        Step(
            "Each result is subtracted from the other stream, which undoes the layer. Its notes"
            " have done their work and are thrown away; those of the next layer down take their"
            " place.",
            "The streams have moved down, and so has the thin strip of notes. Memory still holds"
            " {held}.",
        ),
        Step(
            "So it goes, down to the first layer. There were never more than {held} of notes,"
            " instead of {kept}, and every layer has run forwards twice.",
            "The streams are back at the lowest box, where the text came in. They and the notes"
            " take {held}, far below the mark of one H100, {chip}.",
        ),
    ],
    draw=_rebuilt,
    caption=_CAPTION,
)
