"""What training keeps of a text between the way up through the layers and the way back.

Notes that are kept, notes that are made again layer by layer, and the piles of four ways.  The
memory that they take is drawn to scale.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import circle, line, path, rect, text
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


FIRST, SECOND = 22, 190  # the two streams' middles
PARTS = {"attention": BOTTOM - 62, "feed-forward": BOTTOM - 162}  # heights of the two rounds
KEPT_X, PART = 58, 96  # the parts' left edge and width


def _stream(x: float, changes: float, step: int, before: bool, after: bool) -> list[dict[str, Any]]:
    """Draw a stream below and above the place where it is changed; what is not held is dashed."""
    found = []
    for low, high, held in ((BOTTOM, changes + 11, before), (changes - 11, TOP, after)):
        if not held:
            found.append(line(x, low, x, high, "soft dash"))
        elif step < 3:
            found.append(arrow(x, low, x, high, "c0", 3))
        else:
            found.append(arrow(x, high, x, low, "c0", 3))
    return found


def _part(name: str, step: int, run: bool) -> list[dict[str, Any]]:
    """Draw one part of the layer: what it reads, and what its result is added to."""
    y, back = PARTS[name], step > 2
    reads, adds = (SECOND, FIRST) if name == "attention" else (FIRST, SECOND)
    right = reads < adds  # it goes through the part from left to right
    near, far = (KEPT_X, KEPT_X + PART) if right else (KEPT_X + PART, KEPT_X)
    sign = 1 if right else -1
    out = [
        rect(KEPT_X, y - 16, PART, 32, "c1 round" if run else "soft outline round"),
        text(KEPT_X + PART / 2, y + 5, name, "paper small" if run else "soft small", "middle"),
    ]
    if run:
        out += [
            circle(reads, y, 4, "c0"),
            path([(reads, y), (near - 8 * sign, y)], "c0", 2),
            arrow(near - 12 * sign, y, near - 2 * sign, y, "c0", 2),
            arrow(far + 2 * sign, y, adds - 12 * sign, y, "c4", 2),
            circle(adds, y, 10, "c4 outline"),
            text(adds, y + 5, "\u2212" if back else "+", "ink strong", "middle"),
        ]
    if back and run:
        out.append(named(f"notes {name}", rect(KEPT_X, y + 20, PART, 5, "c2")))
        out.append(text(KEPT_X + PART / 2, y + 40, "its notes", "ink small", "middle"))
    return out


def _rebuilt(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw one layer opened up: two streams that cross, there and back."""
    out = [
        text(0, 13, "one layer, " + ("up" if step < 3 else "back down"), "ink strong"),
        text(WIDTH, 13, "held", "ink strong", "end"),
        text(0, BOTTOM + 18, "first stream", "ink"),
        text(SECOND + 18, BOTTOM + 18, "second stream", "ink", "end"),
    ]
    low, high = PARTS["attention"], PARTS["feed-forward"]
    # Which parts of the two streams are held, and which parts of the layer have run.
    held = {1: (1, 1, 1, 0), 2: (1, 1, 1, 1), 3: (0, 1, 1, 1), 4: (1, 1, 1, 1)}[step]
    out += _stream(FIRST, low, step, bool(held[0]), bool(held[1]))
    out += _stream(SECOND, high, step, bool(held[2]), bool(held[3]))
    out += _part("attention", step, step != 3)
    out += _part("feed-forward", step, step != 1)
    name = {1: "pair", 2: "pair", 3: "part", 4: "held"}[step]
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
            "The text enters at the bottom. Each layer writes down what it computed, its notes for"
            " the way back.",
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
            " weights had to do with the error, and are then thrown away.",
            "The arrow leads downwards. The uppermost two boxes have no notes any more, and"
            " {kept_3} are left in memory.",
        ),
        Step(
            "The first layers come last. Their notes were written first, and have been lying in"
            " memory ever since.",
            "Only the lowest box still has its notes, {kept_4}.",
        ),
    ],
    draw=_kept,
    caption=_CAPTION,
)

rebuilt_notes = Schematic(
    "rebuilt-notes",
    "A layer that is undone",
    height=BOTTOM + 24,
    numbers={
        **_NUMBERS,
        "layer": Number(f"= [activation_memory_stored_of_shape {RUN}] / {{layers}}", unit="B"),
        "held": Number(f"activation_memory_reversible_of_shape {RUN} activation_bytes=2"),
        "pair": Number("= {held} - {layer}", unit="B"),
        # Of the 34 bytes, 19 are the feed-forward part's and 2 its normalisation's.
        "part": Number("= {pair} + {layer} * 21 / 34", unit="B"),
    },
    steps=[
        Step(
            "On the way up attention reads the second stream, and its result is added to the"
            " first. The second stream is left as it was.",
            "Two upright lines, the first and the second stream, with attention and the"
            " feed-forward part between them. An arrow leads from the second stream through"
            " attention to a plus on the first. Memory holds {pair}, a thin line.",
        ),
        Step(
            "Then the feed-forward part reads the new first stream, and its result is added to the"
            " second. No notes are kept, only the two streams, {pair} together.",
            "A second arrow leads the other way, from the first stream through the feed-forward"
            " part to a plus on the second. Memory still holds {pair}.",
        ),
        Step(
            "Now back. The first stream is still what the feed-forward part read, so run that part"
            " again, forwards, and subtract its result from the second. The run writes the"
            " part\u2019s notes afresh.",
            "The streams are followed downwards. The plus on the second stream has become a minus,"
            " and a strip of notes lies at the feed-forward part. Streams and"
            " notes take {part}.",
        ),
        Step(
            "Do the same with attention, and the layer is undone. Its notes, {layer}, are thrown"
            " away after use, and the layer below follows. No more than {held} is held at a time,"
            " instead of {kept}.",
            "The plus on the first stream has become a minus too, and both streams are what they"
            " were below the layer. Memory holds {held}, far below the mark of one H100, {chip}.",
        ),
    ],
    draw=_rebuilt,
    caption="One of the {layers} layers of Llama 3.1 70B, if it were built in this way; one text of"
    " {tokens} tokens. The memory is drawn to scale.",
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
    long = step > 2
    shown = list(PILES.items())[: 1 if step == 1 else None]
    scale = WIDTH / schematic.value("kept")
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
            "A checkpoint at each layer brings that down to {each}, at every second layer to"
            " {second}, and the trick, with its two streams, to {held}.",
            "Below it three far shorter bars, {each}, {second} and {held}. All of them end well"
            " before the line of one H100.",
        ),
        Step(
            "A text of {long} tokens makes each pile {longer} times as large. On the new scale the"
            " bars have not changed at all. What has changed is the line.",
            "The bars are as long as they were, and stand for {kept_long}, {each_long},"
            " {second_long} and {held_long}. The line of one H100 has moved far to the left: only"
            " the bar of the trick ends before it.",
        ),
    ],
    draw=_piles,
    caption="Llama 3.1 70B in training, one text. Bars are drawn to scale. Each of the three ways"
    " of saving runs every layer once more.",
)
