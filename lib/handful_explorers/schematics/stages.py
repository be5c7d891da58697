"""A model cut between two layers, two ways to use two racks, and training steps on four of them.

In the first drawing a stripe is a layer; the bars of the second are to scale, and the others have
those of schedules that are played, not drawn by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from handful_evidence.simulate import pipeline

from ..plotting.scenes.shapes import circle, line, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import arrow

# Two racks ---------------------------------------------------------------------------------------

CHIP, MODEL = 'hardware="GB200 NVL72"', 'model="DeepSeek-V3"'
CROWD = f"batch=5760 context=4096 {CHIP} {MODEL} precision=fp8"
PORT = "activation_bytes=2 scale_out_bandwidth=50e9"

LAYERS, HERE, DENSE = 61, 32, 3
BOX, TOP, TALL = 144, 24, 136  # of a rack
STRIPES, LONG = 8, 88  # where a rack's stripes begin, from its outer edge, and how long they are
PITCH_OF_LAYERS = (TALL - 8) / HERE  # four pixels: stripes of three, and gaps of one
FABRIC = 18  # its thickness; the cable's is less by the ratio of their rates


def _stripe(layer: int, cut: bool) -> dict[str, Any]:
    """Return a layer in the rack that holds it, in two columns while one rack holds them all."""
    later = layer >= HERE
    wide = LONG if cut else (LONG - 4) / 2
    x = STRIPES + later * ((WIDTH - 2 * STRIPES - LONG) if cut else wide + 4)
    y = TOP + 4 + (layer - HERE * later) * PITCH_OF_LAYERS
    return named(f"layer {layer}", rect(x, y, wide, PITCH_OF_LAYERS - 1, "c1"))


def _middle(rack: int) -> float:
    """Return the middle of a rack's fabric."""
    return BOX - 26 if rack == 0 else WIDTH - BOX + 26


def _racks(step: int, told: dict[str, str], ratio: float) -> list[dict[str, Any]]:
    out = [
        text(0, 13, "this rack", "ink strong"),
        text(WIDTH, 13, "other rack", "ink strong", "end"),
        *(text(_middle(rack), 13, "fabric", "c0 small", "middle") for rack in (0, 1)),
    ]
    height = TOP + TALL / 2
    if step > 1:
        start, wide = _middle(0), _middle(1) - _middle(0)
        cable = FABRIC / ratio
        out.append(rect(start, height - cable / 2, wide, cable, "c0"))
        out.append(text(WIDTH / 2, height + 16, "cable", "c0 small", "middle"))
    for rack in (0, 1):
        left = rack * (WIDTH - BOX)
        out += [
            rect(left + 0.5, TOP + 0.5, BOX - 1, TALL - 1, "soft outline round"),
            rect(_middle(rack) - FABRIC / 2, TOP + 8, FABRIC, TALL - 16, "c0"),
        ]
    out += [_stripe(layer, step > 1) for layer in range(LAYERS)]
    if step == 1:
        words = (f"{told['layers']} layers", f"{told['weights']} of weights")
        out += [
            text(BOX / 2, TOP + TALL + 17, words[0], "ink", "middle"),
            text(BOX / 2, TOP + TALL + 34, words[1], "c1", "middle"),
            text(WIDTH - BOX / 2, TOP + TALL + 17, "no layers yet", "soft", "middle"),
        ]
        return out
    for rack, key in ((0, "here"), (1, "there")):
        x = BOX / 2 if rack == 0 else WIDTH - BOX / 2
        second = ("half_weights", "of weights", "c1") if step == 2 else None
        if step > 2:
            later = step == 4 and rack == 1
            second = (f"inside_{key}", "to come" if later else "on the fabric", "c0")
        assert second
        out += [
            text(x, TOP + TALL + 17, f"{told[key]} layers", "ink", "middle"),
            text(x, TOP + TALL + 34, f"{told[second[0]]} {second[1]}", second[2], "middle"),
        ]
    return out


def _token(step: int) -> list[dict[str, Any]]:
    """Draw where the token is, and the ways that it takes."""
    pitch = PITCH_OF_LAYERS
    out = []
    if step == 3:
        for row in (6, 14, 22):
            y = TOP + 4 + row * pitch + 1
            edge = _middle(0) - FABRIC / 2
            out += [
                arrow(STRIPES + LONG - 14, y - 4, edge + 4, y - 4, "ink", 1.5),
                arrow(edge + 4, y + 5, STRIPES + LONG - 14, y + 5, "ink", 1.5),
            ]
    at = {1: TOP + 6, 2: TOP + 6, 3: TOP + 4 + 22 * pitch, 4: TOP + TALL / 2}.get(step)
    if at is not None:
        x = WIDTH / 2 if step == 4 else STRIPES + 22
        out.append(named("token", circle(x, at, 5.5, "ink")))
    return out


def _draw_cut(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    out = _racks(step, told, schematic.value("ratio")) + _token(step)
    if step == 4:
        out.append(text(WIDTH / 2, TOP + TALL / 2 - 12, told["copy"], "ink small", "middle"))
    return out


between_layers = Schematic(
    "between-layers",
    "A model cut between two layers",
    height=TOP + TALL + 42,
    numbers={
        "ratio": f"bandwidth_ratio scale_out_bandwidth=50e9 {CHIP}",
        "layers": "= [shapes / DeepSeek-V3 / layers]",
        "here": f"= {HERE}",
        "there": "= {layers} - {here}",
        "weights": Number(f"weight_memory {MODEL} precision=fp8", 3),
        "half_weights": Number("= {weights} / 2", 3, "B"),
        "each": Number(f"all_to_all_bytes {MODEL}", 3, "B"),
        "inside_here": Number(f"token_traffic expert_layers={HERE - DENSE} {MODEL}", 2, "B"),
        "inside_there": Number(f"token_traffic expert_layers={LAYERS - HERE} {MODEL}", 2, "B"),
        "copy": Number(f"handed_on activation_bytes=2 {MODEL}", 3, "B"),
    },
    steps=[
        Step(
            "One rack holds all {layers} layers, and a token passes them one after another.",
            "A rack with {layers} stripes in two columns, a layer each, and the thick bar of its"
            " fabric. Beside it stands an empty rack. The weights are {weights}.",
        ),
        Step(
            "Cut between two layers and move the last {there} to the other rack. Each rack now"
            " holds half of the weights, {half_weights}.",
            "{here} stripes in the left rack and {there} in the right one. A thin line, the cable,"
            " joins the two fabrics.",
        ),
        Step(
            "Inside a rack nothing has changed. In each layer of experts (the arrows show three)"
            " the token\u2019s copies go out over the fabric and come back, {each} a layer.",
            "Arrows lead from the layers of the left rack to its fabric and back. Over all layers"
            " of a rack a token moves {inside_here} on the left and {inside_there} on the right.",
        ),
        Step(
            "The copies moved {inside_here} on this fabric. After its last layer here the token"
            " crosses, as a single copy of {copy}. Then the other rack takes over, and this one"
            " has no more to do for it.",
            "The token is on the cable between the racks, as one copy of {copy}.",
        ),
    ],
    draw=_draw_cut,
    caption="Two GB200 NVL72 racks with DeepSeek-V3 in fp8. A stripe is a layer; fabric"
    " and cable are as thick as they are fast.",
)

# A pipeline, or two copies -----------------------------------------------------------------------

HELD, FROM, ROWS_FROM = 46, 110, 30  # left edges of what a rack holds and of its times; first row
PITCH_OF_ROWS, THICK, GROUP = 28, 22, 122  # of the rows, in pixels, and from a pair to the next
HALVES = 4  # of a step, as many as are drawn
# Whom each rack works for, and which of a pair's racks holds how much of the weights.
_PIPELINE = {1: ("A.A.", ".A.A"), 2: ("ABAB", "BABA")}
_COPIES = ("AA", "BB")
_CROWDS = {"A": ("first", "c2"), "B": ("second", "c4")}


def _pair(
    top: float, title: str, rows: Sequence[str], share: str, told: dict[str, str]
) -> list[dict[str, Any]]:
    """Draw two racks: how much of the weights each of them holds, and whom it works for when."""
    wide = (WIDTH - FROM) / HALVES
    ends = (FROM, FROM + 2 * wide - 1.5)
    out = [
        text(0, top + 13, title, "ink strong"),
        text(sum(ends) / 2, top + 13, f"a token {told['step']}", "ink", "middle"),
        line(*(ends[0], top + 21, ends[1], top + 21), "ink"),
        *(line(x, top + 18, x, top + 24, "ink") for x in ends),
    ]
    for rack, row in enumerate(rows):
        y = top + ROWS_FROM + PITCH_OF_ROWS * rack
        box = FROM - 12 - HELD
        out += [
            text(0, y + 15, f"rack {told[f'n{rack + 1}']}", "ink small"),
            rect(HELD, y, box * (0.5 if share == "half" else 1), THICK, "c1"),
            rect(HELD + 0.5, y + 0.5, box - 1, THICK - 1, "c1 outline"),
            text(HELD + 4, y + 15, share, "paper small strong"),
            line(FROM, y + THICK + 1.5, WIDTH, y + THICK + 1.5, "grid"),
        ]
        long = wide * HALVES / len(row)
        for place, crowd in enumerate(row):
            if crowd in _CROWDS:
                x, (name, colour) = FROM + place * long, _CROWDS[crowd]
                out += [
                    rect(x, y, long - 1.5, THICK, colour),
                    text(x + long / 2, y + 15, name, "paper small", "middle"),
                ]
    return out


def _draw_choice(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    out = _pair(0, "A pipeline", _PIPELINE[min(step, 2)], "half", told)
    if step > 2:
        out += _pair(GROUP, "Two copies", _COPIES, "all", told)
    if step > 3:
        under = ROWS_FROM + 2 * PITCH_OF_ROWS + 14
        out += [
            text(0, under, f"weights once, {told['weights']}", "c1 strong"),
            text(0, GROUP + under, f"weights twice, {told['twice']}", "c1 strong"),
        ]
    return out


pipeline_or_copies = Schematic(
    "pipeline-or-copies",
    "Two racks: a pipeline, or two copies",
    height=GROUP + ROWS_FROM + 2 * PITCH_OF_ROWS + 20,
    numbers={
        "n1": "= 1",
        "n2": "= 2",
        "people": Number("= 5760", 4),
        "crowds": Number("= 2 * {people}", 5),
        "weights": Number(f"weight_memory {MODEL} precision=fp8", 3),
        "twice": Number("= 2 * {weights}", 3, "B"),
        "step": f"step_time {CROWD}",
        "half": f"stage_time_of_step pipeline_stages=2 {CROWD}",
    },
    steps=[
        Step(
            "A pipeline with one crowd of {people}. Each rack works on a token for {half}, and then"
            " it waits while the other one does.",
            "Two rows, a rack each; both hold half of the weights. Bars show them at work in turn,"
            " each with gaps as long as its work. A token takes {step}.",
        ),
        Step(
            "Let in a second crowd, half a step behind the first. Now both racks work all the time,"
            " for {crowds} people. A token still takes {step}.",
            "Bars of a second colour, the second crowd, fill the gaps of both racks.",
        ),
        Step(
            "Now give each rack a copy of the whole model instead, and a crowd of its own. It reads"
            " all of the weights, but for one crowd only.",
            "Two more rows, racks that hold all of the weights. The first works for the first crowd"
            " without a break, the second for the second. A token takes {step} here as well.",
        ),
        Step(
            "Compare the two. The same people get their tokens at the same pace for the same rent;"
            " what differs is that the copies need room for the weights twice.",
            "The same pairs of racks: the pipeline holds {weights} of weights, and the copies hold"
            " {twice}.",
        ),
    ],
    draw=_draw_choice,
    caption="Two GB200 NVL72 racks with DeepSeek-V3 in fp8. Times are to scale, with"
    " equal halves, of the reading alone and without hops; each bar names the crowd.",
)

# Training drains the pipeline --------------------------------------------------------------------

STAGES, FORWARD, BACKWARD, WEIGHTS = 4, 1, 2, 1
LEFT, GRID, PITCH, TALL_ROW = 16, 46, 27, 23
# What is played in each step of the two drawings, with how many micro-batches.
_TURNS = {1: ("gpipe", 1), 2: ("gpipe", 2), 3: ("gpipe", 4), 4: ("gpipe", 4)}
_ORDERS = {1: ("gpipe", 8), 2: ("1f1b", 8), 3: ("1f1b", 8), 4: ("zero_bubble", 8)}
PENCIL, HALVED = 3, 3  # the step that leaves passes out, and the one that cuts backward passes
_KINDS = {
    "F": ("forward", "c0"),
    "B": ("backward", "c1"),
    "I": ("backward, inputs", "c3"),
    "W": ("backward, weights", "c2"),
}
_COUNTS = {1: "One micro-batch", 2: "Two micro-batches", 4: "Four micro-batches"}
_NAMES = {
    1: "All forward passes first (GPipe)",
    2: "One forward, one backward (1F1B)",
    3: "Backward passes in two",
    4: "Weights when there is time (zero bubble)",
}


@cache
def played(name: str, many: int) -> pipeline.Run:
    """Return a schedule, played through.

    >>> [played(name, 8).bubble for name in ("gpipe", "1f1b", "zero_bubble")]
    [9.0, 9.0, 3.0]
    """
    plan = pipeline.SCHEDULES[name](STAGES, many)
    return pipeline.run(plan, float(FORWARD), float(BACKWARD), float(WEIGHTS))


class _Pass(NamedTuple):
    """A pass as it is drawn: what kind, of which micro-batch, on which rack, from when to when."""

    kind: str
    number: int
    device: int
    start: float
    end: float


def _passes(run: pipeline.Run, halved: bool = False) -> list[_Pass]:
    """Return all passes of a schedule, backward ones in two halves if asked for."""
    out = []
    for bar in run.bars:
        for piece in bar.pieces:
            one = _Pass(piece.kind, piece.micro_batch + 1, bar.device, bar.start, bar.end)
            if halved and one.kind == "B":
                middle = one.end - WEIGHTS
                out += [one._replace(kind="I", end=middle), one._replace(kind="W", start=middle)]
            else:
                out.append(one)
    return out


def _rows(run: pipeline.Run, passes: list[_Pass], unit: float, told: dict[str, str]) -> list[Any]:
    """Draw the passes in a row for each rack, with what their colours mean."""
    out: list[dict[str, Any]] = []
    x, used = float(LEFT), {one.kind for one in passes}
    for kind, (words, colour) in _KINDS.items():
        if kind in used:
            out += [rect(x, 24, 11, 11, colour), text(x + 15, 34, words, "ink small")]
            x += 21 + 6.3 * len(words)
    for stage in range(STAGES):
        y = GRID + PITCH * stage
        out += [
            text(0, y + 16, told[f"n{stage + 1}"], "soft"),
            named(f"row {stage}", rect(LEFT, y, run.makespan * unit, TALL_ROW, "grid")),
        ]
    for one in passes:
        x, y = LEFT + one.start * unit, GRID + PITCH * one.device
        wide = (one.end - one.start) * unit - 0.8
        key = f"{one.kind}{one.number} {one.device}"
        label = text(x + wide / 2, y + 16, told[f"n{one.number}"], "paper small strong", "middle")
        out += [
            named(key, rect(x, y, wide, TALL_ROW, _KINDS[one.kind][1])),
            named(f"{key} text", label),
        ]
    return out


def _shares(run: pipeline.Run, unit: float, works: str, waits: str) -> list[dict[str, Any]]:
    """Draw for how long one rack works, and for how long it waits."""
    y, work = GRID + PITCH * STAGES + 24, run.makespan - run.bubble
    return [
        text(0, y, f"A rack works for {works} and waits for {waits}.", "ink strong"),
        named("work", rect(LEFT, y + 9, work * unit, 12, "ink")),
        named("wait", rect(LEFT + work * unit, y + 9.5, run.bubble * unit, 11, "ink outline")),
    ]


def _draw_turn(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, many, unit = schematic.told, _TURNS[step][1], 15.4
    run = played(*_TURNS[step])
    passes = [one for one in _passes(run) if step != PENCIL or one.number == 1]
    out = [text(0, 13, _COUNTS[many], "ink strong"), *_rows(run, passes, unit, told)]
    if step == PENCIL:
        y = GRID + PITCH * STAGES + 24
        return [*out, text(0, y, "Pencil in the other three.", "ink")]
    return out + _shares(run, unit, told[f"work_{many}"], told["wait"])


def _draw_order(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, unit = schematic.told, 9.6
    run = played(*_ORDERS[step])
    out = [
        text(0, 13, _NAMES[step], "ink strong"),
        *_rows(run, _passes(run, step == HALVED), unit, told),
        *_shares(run, unit, told["work"], told["rest" if step == 4 else "wait"]),
    ]
    held = told["all" if step == 1 else "held"]
    words = f"A rack keeps at most {held} micro-batches."
    return [*out, text(0, GRID + PITCH * STAGES + 64, words, "ink")]


_PLAIN = f"bubble_time pipeline_stages={STAGES} forward_time=1 backward_time=2"
_SPLIT = (
    f"bubble_time_zero_bubble pipeline_stages={STAGES} forward_time=1 backward_time=2"
    " weight_gradient_time=1"
)

training_turns = Schematic(
    "training-turns",
    "A training step on four racks",
    height=GRID + PITCH * STAGES + 50,
    numbers={
        **{f"n{i}": f"= {i}" for i in range(1, 5)},
        **{f"work_{many}": f"= {many * (FORWARD + BACKWARD)}" for many in (1, 2, 4)},
        "wait": Number(_PLAIN, 2, "1"),
    },
    steps=[
        Step(
            "One micro-batch goes forward through four racks, and its gradients come back, which"
            " takes twice as long on each. At any moment one rack works and three wait.",
            "A row for each of four racks. The micro-batch steps down the rows, forward, and then"
            " up again, backward. Each rack works for {work_1} units of time and waits for"
            " {wait}.",
        ),
        Step(
            "A second one follows right behind the first. All forward passes come first, each rack"
            " does one thing at a time, and a backward pass starts when the rack in the row below"
            " has finished its own.",
            "The same rows with two micro-batches. Each rack works for {work_2} units and waits for"
            " {wait}, as before.",
        ),
        Step(
            "Now four of them, and only the first is drawn. Take a pencil, put in the other three,"
            " and see how much of each row is left over.",
            "The rows are longer, with the passes of the first micro-batch and gaps where three"
            " more have room. The backward passes begin at the bottom row.",
        ),
        Step(
            "The first rack waits in the middle and the last one at both ends, but all of them wait"
            " equally long. Count how many passes that is, and which racks are doing them.",
            "Each rack works for {work_4} units of time. The passes of four micro-batches fill the"
            " rows but for a gap of {wait} units in each, which lies in the middle of the first row"
            " and at both ends of the last.",
        ),
    ],
    draw=_draw_turn,
    caption="A row is a rack, a number is a micro-batch, and one unit is a forward pass of one"
    " micro-batch on one rack. Hops take no time.",
)

training_orders = Schematic(
    "training-orders",
    "The same passes in another order",
    height=GRID + PITCH * STAGES + 70,
    numbers={
        **{f"n{i}": f"= {i}" for i in range(1, 9)},
        "work": f"= 8 * {FORWARD + BACKWARD}",
        "wait": Number(_PLAIN, 2, "1"),
        "rest": Number(_SPLIT, 2, "1"),
        "held": f"= {STAGES}",
        "all": "= 8",
    },
    steps=[
        Step(
            "Eight micro-batches, all forward passes first. The gap is no longer than with four,"
            " and there is twice as much work around it. But each rack has to keep what it computed"
            " for all {all} until they come back.",
            "Eight micro-batches, {work} units of work in each row and a gap of {wait}.",
        ),
        Step(
            "Let each rack turn round as soon as it can. The gap only moves. But what has gone"
            " forward comes back sooner, so a rack keeps at most {held} micro-batches.",
            "Forward and backward passes alternate. Each rack still waits for {wait} units beside"
            " {work} of work.",
        ),
        Step(
            "Now cut each backward pass in two. The rack above waits for the gradients of the"
            " inputs; nobody waits for those of the weights.",
            "The same order, with each backward pass in two halves of different colours.",
        ),
        Step(
            "So the halves for the weights can go where the gaps were. Of {wait} units of waiting"
            " {rest} are left.",
            "The halves for the weights fill most of the gaps: beside {work} units of work a rack"
            " waits for {rest}.",
        ),
    ],
    draw=_draw_order,
    caption="Rows, numbers and units are those of the drawing before.",
)
