"""A model cut between two layers, and a training step that goes through four racks and back.

In the first drawing a stripe is a layer, and the chart below it is to scale.  The second has the
bars of schedules that are played, not drawn by hand.
"""

from __future__ import annotations

from functools import cache
from typing import Any

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
CHART, ROW, THICK, FROM = 244, 22, 14, 72  # of the times: top, pitch and height of rows, left edge


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
        text(WIDTH, 13, "the other rack", "ink strong", "end"),
    ]
    height = TOP + TALL / 2
    if step > 1:
        start, wide = _middle(0), _middle(1) - _middle(0)
        cable = FABRIC / ratio
        out.append(rect(start, height - cable / 2, wide, cable, "c0"))
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
            second = (f"inside_{key}", "on the fabric", "c0")
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


def _times(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw when each rack works, and for whom."""
    told = schematic.told
    half = (WIDTH - FROM) / 4
    rows = (CHART, CHART + 2 * ROW)
    out = [text(0, CHART - 16, "When each rack works", "ink strong")]
    for y, words in zip((*rows, CHART + ROW), ("this rack", "other rack", "cable"), strict=True):
        out.append(text(0, y + 11, words, "ink small" if words != "cable" else "c0 small"))
        out.append(line(FROM, y + THICK + 1.5, WIDTH, y + THICK + 1.5, "grid"))
    first = {1: [(0, 0, 2), (0, 2, 2)], 2: [(0, 0, 1)], 3: [(0, 0, 1)], 4: [(0, 0, 1)]}
    lap = [(0, 0, 1), (1, 1, 1), (0, 2, 1), (1, 3, 1)]
    for rack, start, long in first.get(step, lap):
        out.append(
            named(
                f"work {start}", rect(FROM + start * half, rows[rack], long * half - 1, THICK, "c2")
            )
        )
    busy = schematic.value("crossing") / schematic.value("step") * 2 * half
    if step >= 4:
        for start in (1, 3) if step > 4 else (1,):
            out.append(rect(FROM + start * half, CHART + ROW, max(busy, 1.2), THICK, "c0"))
    if step == 6:
        for rack, start in ((1, 0), (0, 1), (1, 2), (0, 3)):
            out.append(rect(FROM + start * half, rows[rack], half - 1, THICK, "c4"))
        out.append(rect(FROM + 2 * half, CHART + ROW, max(busy, 1.2), THICK, "c0"))
        for x, colour, words in (
            (WIDTH - 160, "c2", "first crowd"),
            (WIDTH - 58, "c4", "second"),
        ):
            out += [
                rect(x, CHART - 26, 11, 11, colour),
                text(x + 15, CHART - 16, words, "ink small"),
            ]
    y = CHART + 3 * ROW + 4
    if step == 4:
        out.append(text(FROM + half + 5, CHART + ROW + 11, told["crossing"], "c0 small"))
    if step in (1, 5, 6):
        out += [
            line(FROM, y, FROM + 2 * half - 1, y, "ink"),
            line(FROM + 0.5, y - 4, FROM + 0.5, y + 4, "ink"),
            line(FROM + 2 * half - 1.5, y - 4, FROM + 2 * half - 1.5, y + 4, "ink"),
            text(FROM + half, y + 17, f"a token {told['step']}", "ink strong", "middle"),
        ]
    else:
        out += [
            line(FROM, y, FROM + half - 1, y, "ink"),
            line(FROM + 0.5, y - 4, FROM + 0.5, y + 4, "ink"),
            line(FROM + half - 1.5, y - 4, FROM + half - 1.5, y + 4, "ink"),
            text(FROM + half / 2, y + 17, told["half"], "ink strong", "middle"),
        ]
    return out


def _draw_cut(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    out = _racks(step, told, schematic.value("ratio")) + _token(step) + _times(step, schematic)
    if step == 4:
        out.append(text(WIDTH / 2, TOP + TALL / 2 - 12, told["copy"], "ink small", "middle"))
    return out


between_layers = Schematic(
    "between-layers",
    "A model cut between two layers",
    height=CHART + 3 * ROW + 26,
    numbers={
        "ratio": f"bandwidth_ratio scale_out_bandwidth=50e9 {CHIP}",
        "people": Number("= 5760", 4),
        "crowds": Number("= 2 * {people}", 5),
        "layers": "= [shapes / DeepSeek-V3 / layers]",
        "here": f"= {HERE}",
        "there": "= {layers} - {here}",
        "weights": Number(f"weight_memory {MODEL} precision=fp8", 3),
        "half_weights": Number("= {weights} / 2", 3, "B"),
        "each": Number(f"all_to_all_bytes {MODEL}", 3, "B"),
        "inside_here": Number(f"token_traffic expert_layers={HERE - DENSE} {MODEL}", 2, "B"),
        "inside_there": Number(f"token_traffic expert_layers={LAYERS - HERE} {MODEL}", 2, "B"),
        "copy": Number(f"handed_on activation_bytes=2 {MODEL}", 3, "B"),
        "crossing": f"hop_time micro_batch=5760 wire_latency=0 stage_devices=72 {PORT} {CHIP}"
        f" {MODEL}",
        "step": f"step_time {CROWD}",
        "half": f"stage_time_of_step pipeline_stages=2 {CROWD}",
    },
    steps=[
        Step(
            "One rack holds all {layers} layers. A token passes them one after another, and a step"
            " for {people} people takes {step}.",
            "A rack with {layers} stripes in two columns, a layer each, and the thick bar of its"
            " fabric. Beside it stands an empty rack. A chart below shows the rack at work without"
            " a break, {step} for each token.",
        ),
        Step(
            "Cut between two layers and move the last {there} to the other rack. Each rack now"
            " holds half of the weights, {half_weights}, and its share of a step takes {half}.",
            "{here} stripes in the left rack and {there} in the right one. A thin line, the cable,"
            " joins the two fabrics. The chart shows half a step in the left rack.",
        ),
        Step(
            "Inside a rack nothing has changed. In each layer of experts (the arrows show three)"
            " the token\u2019s copies go out over the fabric and come back, {each} a layer.",
            "Arrows lead from the layers of the left rack to its fabric and back. Over all layers"
            " of a rack a token moves {inside_here} on the left and {inside_there} on the right.",
        ),
        Step(
            "After its last layer here the token crosses, as a single copy of {copy}. The"
            " stroke in the chart shows for how long the tokens of all {people} people keep the"
            " cable busy.",
            "The token is on the cable between the racks. In the chart a stroke hardly wider than"
            " a line shows that the cable is busy for {crossing}.",
        ),
        Step(
            "Look at the chart. While the other rack does its half this one waits, and then it is"
            " the other way round. The token takes as long as before, and each rack is idle for"
            " half of the time.",
            "The chart shows the racks at work in turn, each with gaps as long as its work. A token"
            " takes {step}, as on one rack.",
        ),
        Step(
            "So let in a second crowd, half a step behind the first. Now both racks work nearly all"
            " the time, for {crowds} people, and the cable still has next to nothing to do.",
            "Bars of a second colour, the second crowd, fill the gaps of both racks. The strokes"
            " on the cable stay thin and far apart.",
        ),
    ],
    draw=_draw_cut,
    caption="Two racks of the kind GB200 NVL72 with DeepSeek-V3 in fp8. A stripe is a layer; fabric"
    " and cable are as thick as they are fast. The chart is to scale, with equal halves and without"
    " the latency of the layers.",
)

# Training turns round ----------------------------------------------------------------------------

STAGES, FORWARD, BACKWARD, WEIGHTS = 4, 1, 2, 1
LEFT, GRID, PITCH, TALL_ROW = 16, 46, 27, 23
UNIT = 9.6  # pixels for a unit of time, in all steps, so that their gaps can be compared
# What is played in each step, with how many micro-batches, and whether only the first is shown.
_PLAYED = {
    1: ("gpipe", 1, False),
    2: ("gpipe", 4, True),
    3: ("gpipe", 4, False),
    4: ("gpipe", 8, False),
    5: ("1f1b", 8, False),
    6: ("zero_bubble", 8, False),
}
_KINDS = (
    ("F", "forward", "c0"),
    ("B", "backward", "c1"),
    ("I", "backward, inputs", "c3"),
    ("W", "backward, weights", "c2"),
)
_NAMES = {
    1: "One micro-batch",
    2: "Four micro-batches",
    3: "Four micro-batches",
    4: "Eight micro-batches",
    5: "One forward, one backward",
    6: "Weights when there is time",
}


@cache
def played(step: int) -> pipeline.Run:
    """Return the schedule of a step, played through.

    >>> [played(step).bubble for step in (3, 4, 5, 6)]
    [9.0, 9.0, 9.0, 3.0]
    """
    name, many, _ = _PLAYED[step]
    plan = pipeline.SCHEDULES[name](STAGES, many)
    return pipeline.run(plan, float(FORWARD), float(BACKWARD), float(WEIGHTS))


def _draw_turn(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    run, alone = played(step), _PLAYED[step][2]
    scale = UNIT
    out = [text(0, 13, _NAMES[step], "ink strong")]
    used = {piece.kind for bar in run.bars for piece in bar.pieces}
    x = float(LEFT)
    for kind, words, colour in _KINDS:
        if kind in used:
            out += [rect(x, 24, 11, 11, colour), text(x + 15, 34, words, "ink small")]
            x += 21 + 6.3 * len(words)
    for stage in range(STAGES):
        y = GRID + PITCH * stage
        out += [
            text(0, y + 16, told[f"n{stage + 1}"], "soft"),
            named(f"row {stage}", rect(LEFT, y, run.makespan * scale, TALL_ROW, "grid")),
        ]
    for bar in run.bars:
        for piece in bar.pieces:
            number = piece.micro_batch + 1
            if alone and number > 1:
                continue
            x, y = LEFT + bar.start * scale, GRID + PITCH * bar.device
            wide = (bar.end - bar.start) * scale - 0.8
            key = f"{piece.kind}{number} {bar.device}"
            colour = next(colour for kind, _, colour in _KINDS if kind == piece.kind)
            label = text(x + wide / 2, y + 16, told[f"n{number}"], "paper small strong", "middle")
            out += [
                named(key, rect(x, y, wide, TALL_ROW, colour)),
                named(f"{key} text", label),
            ]
    return out + _shares(step, schematic)


def _shares(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw for how long one rack works, and for how long it waits."""
    told, run = schematic.told, played(step)
    y = GRID + PITCH * STAGES + 24
    if step == 2:
        return [text(0, y, "Pencil in the other three.", "ink")]
    scale = UNIT
    work = run.makespan - run.bubble
    return [
        text(0, y, f"A rack works for {told[f'work_{step}']}", "ink"),
        text(WIDTH, y, f"and waits for {told[f'wait_{step}']}", "ink strong", "end"),
        named("work", rect(LEFT, y + 9, work * scale, 12, "ink")),
        named("wait", rect(LEFT + work * scale, y + 9.5, run.bubble * scale, 11, "ink outline")),
    ]


def _waits(step: int, request: str) -> dict[str, str | Number]:
    """Return a rack's work and its waiting in a step, in forward passes."""
    many = _PLAYED[step][1]
    return {
        f"work_{step}": Number(f"= {many * (FORWARD + BACKWARD)}"),
        f"wait_{step}": Number(request, 2, "1"),
    }


_PLAIN = f"bubble_time pipeline_stages={STAGES} forward_time=1 backward_time=2"
_SPLIT = (
    f"bubble_time_zero_bubble pipeline_stages={STAGES} forward_time=1 backward_time=2"
    " weight_gradient_time=1"
)

training_turns = Schematic(
    "training-turns",
    "A training step on four racks, to be filled in",
    height=GRID + PITCH * STAGES + 50,
    numbers={
        **{f"n{i}": f"= {i}" for i in range(1, 9)},
        **_waits(1, _PLAIN),
        **_waits(3, _PLAIN),
        **_waits(4, _PLAIN),
        **_waits(5, _PLAIN),
        **_waits(6, _SPLIT),
        "held": f"= {STAGES}",
        "all": "= 8",
    },
    steps=[
        Step(
            "One micro-batch goes forward through four racks, and its gradients come back, which"
            " takes twice as long on each. At any moment one rack works and three wait.",
            "A row for each of four racks. The micro-batch steps down the rows, forward, and then"
            " up again, backward. Each rack works for {work_1} units of time and waits for"
            " {wait_1}.",
        ),
        Step(
            "Now four of them follow one another, and only the first is drawn. Take a pencil: all"
            " forward passes come first, each rack does one thing at a time, and a backward pass"
            " starts when the rack below has finished its own.",
            "The same rows with the passes of the first micro-batch, and gaps where three more have"
            " room. The backward passes begin at the bottom row.",
        ),
        Step(
            "The first rack waits in the middle and the last one at both ends, but all of them wait"
            " equally long. Count how many passes that is, and which racks are doing them.",
            "Each rack works for {work_3} units of time. The passes of four micro-batches fill the"
            " rows but for a gap of {wait_3} units in"
            " each, which lies in the middle of the first row and at both ends of the last.",
        ),
        Step(
            "With eight micro-batches the gap is as long as before. There is twice as much work"
            " beside it, so it is half as large a share.",
            "Eight micro-batches, {work_4} units of work in each row and a gap of {wait_4}. Each"
            " rack keeps what it has computed for all eight until they come back.",
        ),
        Step(
            "Let each rack turn round as soon as it can. The gap only moves. But what has gone"
            " forward comes back sooner, so a rack keeps at most {held} micro-batches, not {all}.",
            "Forward and backward passes alternate. Each rack still waits for {wait_5} of the time"
            " beside {work_5} of work.",
        ),
        Step(
            "Cut each backward pass in two. The rack above waits for the gradients of the inputs;"
            " those of the weights are needed only when the step ends, so they go where the gaps"
            " were. A third of the waiting is left.",
            "Backward passes are in two halves. The halves for the weights fill most of the gaps:"
            " beside {work_6} units of work a rack waits for {wait_6}.",
        ),
    ],
    draw=_draw_turn,
    caption="A row is a rack, a number is a micro-batch, and one unit is a forward pass of one"
    " micro-batch on one rack. Hops take no time.",
)
