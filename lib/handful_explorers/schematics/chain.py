"""What a chain of racks does to memory, and what it does to time.

The first drawing has the memory of one rack while racks are chained; the second has nine boxes of
eight chips side by side, chained, and as one rack.  Memory and times are to scale.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named

RACK = 'hardware="GB200 NVL72" model="DeepSeek-V3" precision=fp8'
ALL = f"{RACK} context=100000"

# The memory of a rack ----------------------------------------------------------------------------

CHAIN = 8  # racks in the longest chain that is drawn
# Racks, crowds of people, and the rack that works, in each step; none where all of them do.
_STAGES = {1: (1, 1, 0), 2: (2, 1, 1), 3: (2, 2, None), 4: (8, 8, None)}
_STAGES[5] = _STAGES[4]
BOX, PITCH, TALL = 34, 43.7, 46  # of a rack: width, from one to the next, height
TOP, BAR = 140, 46  # of the bar of memory


def _racks(racks: int, at_work: int | None) -> list[dict[str, Any]]:
    """Draw the racks with the layers that each of them holds, an eighth to a stripe."""
    out = []
    for rack in range(racks):
        x = PITCH * rack
        busy = at_work in (None, rack)
        out.append(rect(x + 0.5, 22.5, BOX - 1, TALL, "soft outline round"))
        for stripe in range(CHAIN):
            held = stripe * racks // CHAIN == rack
            colour = "c1" if held else "grid"
            out.append(rect(x + 5, 27 + 4.9 * stripe, BOX - 10, 3, colour))
        words = "works" if busy else "waits"
        out.append(text(x + BOX / 2, 86, words, "ink small" if busy else "soft small", "middle"))
    return out


def _draw_memory(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, value = schematic.told, schematic.value
    racks, crowds, at_work = _STAGES[step]
    scale = WIDTH / value("memory")  # pixels a byte
    weights = value("weights") / racks * scale
    crowd = value("people") * value("cache") / racks * scale
    people = f"room for {told['chained']}" if step == 5 else f"{told[f'all_{crowds}']} people"
    out = [
        text(0, TOP - 10, "Memory of the first rack", "ink strong"),
        text(0, 13, {1: "One rack", 2: "Two racks", 8: "Eight racks"}[racks], "ink strong"),
        text(WIDTH, 13, people, "c2 strong", "end"),
        *_racks(racks, at_work),
        text(WIDTH, TOP - 10, told["memory"], "ink", "end"),
        named("weights", rect(0, TOP, weights, BAR, "c1")),
    ]
    for one in range(CHAIN):
        # Crowds that are not there yet wait at the end of those that are.
        x = weights + crowd * min(one, crowds)
        wide = crowd if one < crowds else 0
        colour = "c2 pale" if one % 2 else "c2"
        out.append(named(f"crowd-{one}", rect(x, TOP, wide, BAR, colour)))
    if step == 5:
        # Room, and so left white: only its edge is drawn.
        full, room = weights + crowd * crowds, value("gained") * value("cache") / 8 * scale
        out.append(named("more", rect(full, TOP + 1.5, room, BAR - 3, "c2 outline")))
    rows = [
        ("Weights here", told[f"weights_{racks}"], "c1"),
        ("Of each cache", told[f"cache_{racks}"], "c2"),
        ("Of all caches", told[f"caches_{racks}_{crowds}"], "c2"),
    ]
    if step == 5:
        rows.append(("Room for an eighth of", f"{told['gained']} more", "c2"))
    for row, (words, shown, colour) in enumerate(rows):
        y = TOP + BAR + 24 + 22 * row
        out += [text(0, y, words, "ink"), text(WIDTH, y, shown, f"{colour} strong", "end")]
    out.append(rect(0.5, TOP + 0.5, WIDTH - 1, BAR - 1, "soft outline"))
    return out


def _crowds(racks: int, crowds: int) -> Number:
    """Return the request for what the caches of some crowds take on one rack of a chain."""
    return Number(f"= {{people}} * {{cache}} * {crowds} / {racks}", 3, "B")


chained_memory = Schematic(
    "chained-memory",
    "The memory of a rack, while racks are chained",
    height=TOP + BAR + 96,
    numbers={
        "memory": Number(f"domain_memory {RACK}", 3),
        "weights": Number(f"weight_memory {RACK}", 3),
        "cache": Number(f"cache_memory {ALL}", 3, "B"),
        "people": Number(f"= [batch_that_fits {ALL}] // 1", 4, "1"),
        "all_1": Number("= {people}", 4),
        "all_2": Number("= 2 * {people}", 4),
        "all_8": Number("= 8 * {people}", 4),
        "weights_1": Number("= {weights}", 3, "B"),
        "weights_2": Number("= {weights} / 2", 3, "B"),
        "weights_8": Number("= {weights} / 8", 2, "B"),
        "cache_1": Number("= {cache}", 3, "B"),
        "cache_2": Number("= {cache} / 2", 3, "B"),
        "cache_8": Number("= {cache} / 8", 2, "B"),
        "caches_1_1": _crowds(1, 1),
        "caches_2_1": _crowds(2, 1),
        "caches_2_2": _crowds(2, 2),
        "caches_8_8": _crowds(8, 8),
        "gained": Number(f"= 8 * ([batch_of_stages pipeline_stages=8 {ALL}] // 1 - {{people}})", 3),
        "chained": Number("= 8 * {people} + {gained}", 3),
    },
    steps=[
        Step(
            "One rack, and it is full. Beside the weights, {weights_1}, lie the caches of {people}"
            " people, {cache_1} each.",
            "A rack with all of its layers. Its memory, {memory}, as a bar: a narrow piece for the"
            " weights, and the caches of {all_1} people, {caches_1_1}, fill the rest.",
        ),
        Step(
            "Half of the layers move to a second rack. Half of the weights leave the first, and so"
            " does half of every cache: half of its memory is empty. But a token needs the layers"
            " in order, so while one rack works, the other waits.",
            "Two racks, each with half of the layers. On the first lie {weights_2} of weights and"
            " {cache_2} of each cache, {caches_2_1} in all: half of the bar is empty. The first"
            " rack waits while the second works.",
        ),
        Step(
            "So let in a second crowd, as large as the first, and let the racks swap crowds. Its"
            " caches need room as well, half of each on either rack. The bar is full again, but for"
            " the sliver that the weights vacated.",
            "Both racks work, for {all_2} people. The caches of two crowds lie on the first rack,"
            " {caches_2_2}; a narrow strip of the bar is empty.",
        ),
        Step(
            "Eight racks take eight crowds to keep all of them at work. Each rack holds an eighth"
            " of a cache, {cache_8}, for eight times as many people. The caches fill as much of it"
            " as when it stood alone.",
            "Eight racks, all at work, for {all_8} people. On the first lie {weights_8} of"
            " weights and pieces of the caches of eight crowds, {caches_8_8} in all, as with one"
            " rack.",
        ),
        Step(
            "Only weights have really moved out, seven eighths of them. The space they leave"
            " holds an eighth of each of {gained} more caches, and the other racks hold the rest.",
            "The narrow empty strip at the end of the bar is room for an eighth of {gained} more"
            " caches; the chain has room for {chained} people.",
        ),
    ],
    draw=_draw_memory,
    caption="GB200 NVL72 racks with DeepSeek-V3 in fp8; conversations of a hundred thousand tokens."
    " The bar is to scale, crowds dark and pale by turns; a stripe is an eighth of the layers.",
)

# Nine boxes, three ways ---------------------------------------------------------------------------

BOXES = 9
ROW, THICK = 17, 12  # of a box in the chart: from one to the next, and height
CHART = 98
# What stands there in each step, how many people are served, and which boxes are shown reading.
_WAYS = {
    1: ("side", "side"),
    2: ("first", "full"),
    3: ("chain", "full"),
    4: ("rack", "full"),
    5: ("chain", "few"),
    6: ("rack", "few"),
}
_NAMES = {
    "side": "Side by side",
    "first": "A chain",
    "chain": "A chain",
    "rack": "One rack",
}


def reading(schematic: Schematic, step: int) -> list[tuple[int, float, float, float]]:
    """Return when boxes read for one token: box, start, time for weights, time for caches."""
    way, load = _WAYS[step]
    value = schematic.value
    if way == "side":
        return [(0, 0, value("weights_box"), value("caches_side"))]
    caches = value(f"caches_{load}")
    if way == "rack":
        weights = value(f"rack_{load}") - caches
        return [(box, 0, weights, caches) for box in range(BOXES)]
    weights = value(f"chain_{load}") - caches
    parts = [
        (box, (weights + caches) / BOXES * box, weights / BOXES, caches / BOXES)
        for box in range(BOXES)
    ]
    return parts[:1] if way == "first" else parts


def _draw_ways(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, value = schematic.told, schematic.value
    way, load = _WAYS[step]
    people = told["side_all"] if way == "side" else told[f"people_{load}"]
    bytes_scale = WIDTH / value("box")
    weights = value("weights") / (1 if way == "side" else BOXES) * bytes_scale
    held = value("side_people") if way == "side" else value(f"people_{load}") / BOXES
    caches = held * value("cache") * bytes_scale
    scale = WIDTH / value("chain_full")
    total = {
        "side": "side_time",
        "first": "",
        "chain": f"chain_{load}",
        "rack": f"rack_{load}",
    }[way]
    out = [
        text(0, 13, _NAMES[way], "ink strong"),
        text(WIDTH, 13, f"{people} people", "c2 strong", "end"),
        text(0, 36, "Memory of eight chips:", "ink"),
        text(166, 36, "weights", "c1 strong"),
        text(236, 36, "caches", "c2 strong"),
        text(WIDTH, 36, told["box"], "ink", "end"),
        named("held", rect(0, 43, weights, 22, "c1")),
        named("caches", rect(weights, 43, caches, 22, "c2")),
        rect(0.5, 43.5, WIDTH - 1, 21, "soft outline"),
        text(0, CHART - 8, "Eight chips a row, while they read for you", "ink"),
    ]
    for box in range(BOXES):
        y = CHART + ROW * box
        out.append(rect(0, y, WIDTH, THICK, "grid"))
    for box in range(BOXES):
        y = CHART + ROW * box
        found = [part for part in reading(schematic, step) if part[0] == box]
        _, start, first, second = found[0] if found else (box, 0, 0, 0)
        out += [
            named(f"w{box}", rect(start * scale, y, first * scale, THICK, "c1")),
            named(f"k{box}", rect((start + first) * scale, y, second * scale, THICK, "c2")),
        ]
    end, bottom = CHART + ROW * BOXES, CHART + ROW * BOXES + 18
    if total:
        x = value(total) * scale
        out += [
            text(0, bottom, "One token takes", "ink"),
            line(x - 0.5, CHART - 3, x - 0.5, end, "ink dash"),
            text(WIDTH, bottom, told[total], "ink strong", "end"),
        ]
    weights_time = {"side": "weights_box", "chain": f"weights_{load}", "rack": "weights_rack"}
    if way in weights_time:
        out += [
            text(0, bottom + 20, "of which for the weights", "ink"),
            text(WIDTH, bottom + 20, told[weights_time[way]], "c1 strong", "end"),
        ]
    return out


nine_boxes = Schematic(
    "nine-boxes",
    "The same chips, three ways",
    height=CHART + ROW * BOXES + 44,
    numbers={
        "chips": Number("accelerators / GB200 NVL72 / scaleup_domain_chips", 3, "1"),
        "box": Number(f"devices_memory devices=8 {RACK}", 3),
        "weights": Number(f"weight_memory {RACK}", 3),
        "cache": Number(f"cache_memory {ALL}", 3),
        "side_people": Number(f"= [batch_that_fits devices=8 {ALL}] // 1", 3),
        "side_all": Number("= 9 * {side_people}", 4),
        "side_time": Number(f"step_time devices=8 batch={{side_people}} {ALL}", 3),
        "weights_box": Number(f"full_weight_time devices=8 {RACK}", 3),
        "caches_side": Number(f"kv_time devices=8 batch={{side_people}} {ALL}", 3),
        "people_full": Number(f"= [batch_that_fits {ALL}] // 1", 4),
        "people_few": Number("= 900", 3),
        "micro": "= {people_full} / 9",
        "chain_full": Number(
            f"token_latency_of_cut_rack pipeline_stages=9 hop_time=0 batch={{micro}} {ALL}", 3
        ),
        "chain_few": Number(
            f"token_latency_of_cut_rack pipeline_stages=9 hop_time=0 batch=100 {ALL}", 3
        ),
        "rack_full": Number(f"step_time batch={{people_full}} {ALL}", 3),
        "rack_few": Number(f"step_time batch={{people_few}} {ALL}", 2),
        "caches_full": Number(f"kv_time batch={{people_full}} {ALL}", 3),
        "caches_few": Number(f"kv_time batch={{people_few}} {ALL}", 2),
        "apart": Number("= {people_few} / 9", 3, "1"),
        "apart_time": Number(f"step_time devices=8 batch={{apart}} {ALL}", 3),
        "weights_full": Number("= {chain_full} - {caches_full}", 3, "s"),
        "weights_few": Number("= {chain_few} - {caches_few}", 3, "s"),
        "weights_rack": Number(f"full_weight_time {RACK}", 2),
    },
    steps=[
        Step(
            "Nine boxes side by side, each with a copy of the weights. The copy takes nearly half"
            " of a box, so only {side_people} people fit in each. For a token your box reads"
            " {weights} and their caches.",
            "Nearly half of a box\u2019s memory is weights, the rest is caches. In the chart the"
            " first of nine rows is filled for {side_time}: {weights_box} for the weights, then the"
            " caches.",
        ),
        Step(
            "Chain them. A ninth of the weights in each box leaves room for {people_full} people in"
            " all, nearly three quarters more than before.",
            "A narrow piece of a box\u2019s memory is weights, and caches fill the rest. In the"
            " chart the first box reads for a ninth of the way.",
        ),
        Step(
            "Your token visits the boxes in turn. Each reads its ninth of the weights with only"
            " eight chips, which takes as long as {chips} need for all of them, and then hands it"
            " on. With the caches that takes {chain_full}.",
            "A staircase: nine boxes read one after another, each for a ninth of {chain_full}. The"
            " weights take {weights_full} of it.",
        ),
        Step(
            "Now put the same {chips} chips on one fabric. Just as many people fit. But all"
            " chips read for you at once, and the weights are done in {weights_rack}.",
            "All nine rows are filled from the start, for {rack_full}; the weights take"
            " {weights_rack} of it.",
        ),
        Step(
            "For faster answers let in only {people_few}. In a chain the caches take a quarter of"
            " the time they took. The weights still take {weights_few}, since a crowd of"
            " {apart} leaves few experts unread. Separate boxes of {apart} would take as long,"
            " {apart_time}.",
            "The staircase again, shorter: {chain_few}, of which {weights_few} for the weights.",
        ),
        Step(
            "In the rack the weights take {weights_rack} of {rack_few}. The fewer people"
            " share a machine, the more of its time goes to the weights, and the more the fabric"
            " is worth.",
            "All nine rows are filled from the start, for {rack_few} only.",
        ),
    ],
    draw=_draw_ways,
    caption="GB200 chips, DeepSeek-V3 in fp8, a hundred thousand tokens each. Times are for"
    " reading, without hops and the latency of layers. Grey: the box reads for other people, or for"
    " your next token. Dashed line: your token is done.",
)
