"""What a chain of racks does to memory, and what it does to time.

The first drawing has the memory of one rack while racks are chained; the second has nine boxes of
eight chips side by side, chained, and as one rack.  Memory and times are to scale.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import strokes

RACK = 'hardware="GB200 NVL72" model="DeepSeek-V3" precision=fp8'
ALL = f"{RACK} context=100000"

# The memory of a rack ----------------------------------------------------------------------------

CHAIN = 8  # racks in the longest chain that is drawn
# Racks, crowds of people, and the rack that works, in each step; none where all of them do.
_STAGES = {1: (1, 1, 0), 2: (2, 1, 0), 3: (2, 2, None), 4: (8, 8, None)}
_WHERE = {1: "in this rack", 2: "half in each rack", 8: "an eighth in each rack"}
BOX, PITCH, TALL = 34, 43.7, 46  # of a rack: width, from one to the next, height
TOP, BAR = 154, 46  # of the bar of memory


def _racks(racks: int, at_work: int | None) -> list[dict[str, Any]]:
    """Draw racks with the layers that each of them holds, an eighth to a stripe, and one cache."""
    out = []
    for rack in range(racks):
        x = PITCH * rack
        busy = at_work in (None, rack)
        out.append(rect(x + 0.5, 22.5, BOX - 1, TALL, "soft outline round"))
        words = "works" if busy else "waits"
        out.append(text(x + BOX / 2, 86, words, "ink small" if busy else "soft small", "middle"))
    for stripe in range(CHAIN):
        x, y = PITCH * (stripe * racks // CHAIN), 27 + 4.9 * stripe
        out += [
            named(f"layers-{stripe}", rect(x + 5, y, 14, 3, "c1")),
            named(f"cache-{stripe}", rect(x + 21, y, 8, 3, "c2")),
        ]
    return out


def _draw_memory(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, value = schematic.told, schematic.value
    racks, crowds, at_work = _STAGES[step]
    last = racks == CHAIN
    scale = WIDTH / value("memory")  # pixels a byte
    weights = value("weights") / racks * scale
    crowd = value("people") * value("cache") / racks * scale
    people = f"{told[f'all_{crowds}']} people"
    if last:
        people += f", and room for {told['gained']}"
    out = [
        text(0, TOP - 10, "Memory of the first rack", "ink strong"),
        text(0, 13, {1: "One rack", 2: "Two racks", 8: "Eight racks"}[racks], "ink strong"),
        text(WIDTH, 13, people, "c2 strong", "end"),
        *_racks(racks, at_work),
        rect(0, 97, 9, 9, "c1"),
        text(14, 106, "layers", "c1"),
        rect(62, 97, 9, 9, "c2"),
        text(76, 106, f"one person’s cache ({_WHERE[racks]})", "c2"),
        text(WIDTH, TOP - 10, told["memory"], "ink", "end"),
        named("weights", rect(0, TOP, weights, BAR, "c1")),
    ]
    for one in range(CHAIN):
        # Crowds that are not there yet wait at the end of those that are.
        x = weights + crowd * min(one, crowds)
        wide = crowd if one < crowds else 0
        colour = "c2 pale" if one % 2 else "c2"
        out.append(named(f"crowd-{one}", rect(x, TOP, wide, BAR, colour)))
    if last:
        # Room, and so left white: only its edge is drawn.
        full, room = weights + crowd * crowds, value("gained") * value("cache") / 8 * scale
        out.append(named("more", rect(full, TOP + 1.5, room, BAR - 3, "c2 outline")))
    rows = [
        ("Weights here", told[f"weights_{racks}"], "c1"),
        ("Part of one cache here", told[f"cache_{racks}"], "c2"),
        ("All caches here", told[f"caches_{racks}_{crowds}"], "c2"),
    ]
    if last:
        rows.append((f"Room left (an eighth of {told['gained']} caches)", told["left"], "c2"))
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
        "left": Number("= {gained} * {cache} / 8", 3, "B"),
    },
    steps=[
        Step(
            "One rack, and it is full. Beside the weights, {weights_1}, lie the caches of {people}"
            " people, {cache_1} each.",
            "A rack with all of its layers. Its memory, {memory}, as a bar: a narrow piece for the"
            " weights, and the caches of {all_1} people, {caches_1_1}, fill the rest.",
        ),
        Step(
            "Half of the layers move to a second rack, with half of the weights and half of every"
            " cache. Now half of this memory is empty. But a token needs the layers in order, so"
            " while one rack works, the other waits.",
            "Two racks, each with half of the layers and half of one person’s cache. On the"
            " first lie {weights_2} of weights and {cache_2} of each cache, {caches_2_1} in all:"
            " half of the bar is empty. The second rack waits while the first works.",
        ),
        Step(
            "So let in a second crowd, as large as the first, and let the racks swap crowds. Its"
            " caches need room as well, half of each on either rack. The bar is full again, but for"
            " the sliver that the weights vacated.",
            "Both racks work, for {all_2} people. The caches of two crowds lie on the first rack,"
            " {caches_2_2}; a narrow strip of the bar is empty.",
        ),
        Step(
            "Eight racks take eight crowds. A rack holds only an eighth of a cache, {cache_8}, but"
            " for eight times as many people, and caches fill as much of it as when it stood alone."
            " Only weights have moved out, and they left a sliver.",
            "Eight racks, all at work, each with an eighth of the layers and an eighth of one"
            " person’s cache. On the first lie {weights_8} of weights and pieces of the caches"
            " of {all_8} people, {caches_8_8} in all, as with one rack. The narrow empty strip is"
            " room for an eighth of {gained} more caches.",
        ),
    ],
    draw=_draw_memory,
    caption="GB200 NVL72 racks with DeepSeek-V3 in fp8; conversations of a hundred thousand tokens."
    " The bar is to scale, crowds dark and pale by turns. A stripe is an eighth of the layers, or"
    " of a cache; the cut is even.",
)

# Nine boxes, three ways ---------------------------------------------------------------------------

BOXES = 9
ROW, THICK = 17, 12  # of a box in the chart: from one to the next, and height
CHART, SPAN = 98, 36e-3  # where the chart begins, and the seconds that its width stands for
_WAYS = {1: "side", 2: "chain", 3: "rack", 4: "few"}  # what stands there in each step
_NAMES = {
    "side": "Nine copies",
    "chain": "A chain of nine",
    "rack": "The rack",
    "few": "The rack, not filled",
}
_PALE = {"w": "c1 pale", "k": "c2 pale"}


def reading(schematic: Schematic, step: int) -> list[tuple[int, float, float, float]]:
    """Return when boxes read for one token: box, start, time for weights, time for caches."""
    way, value = _WAYS[step], schematic.value
    caches = value(f"caches_{way}")
    weights = value(way) - caches
    if way == "side":
        return [(0, 0, weights, caches)]
    if way in ("rack", "few"):
        return [(box, 0, weights, caches) for box in range(BOXES)]
    turn = (weights + caches) / BOXES
    return [(box, turn * box, weights / BOXES, caches / BOXES) for box in range(BOXES)]


def _others(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw what boxes read for other people meanwhile."""
    way = _WAYS[step]
    _, _, weights, caches = reading(schematic, step)[0]
    scale = WIDTH / SPAN
    out = []
    for box in range(BOXES):
        y = CHART + ROW * box
        turns = {"side": 1 if box else 0, "chain": BOXES}.get(way, 0)
        if turns:
            pitch = (weights + caches) * scale
            for start, long, what in ((0, weights, "w"), (weights, caches, "k")):
                size = (long * scale, THICK)
                out.append(strokes(start * scale, y, turns, pitch, size, _PALE[what]))
    return out


def _draw_ways(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, value = schematic.told, schematic.value
    way = _WAYS[step]
    everybody = {"side": "side_all", "few": "people_few"}.get(way, "people")
    bytes_scale = WIDTH / value("box")
    weights = value("weights") / (1 if way == "side" else BOXES) * bytes_scale
    caches = value(everybody) / BOXES * value("cache") * bytes_scale
    scale = WIDTH / SPAN
    out = [
        text(0, 13, _NAMES[way], "ink strong"),
        text(WIDTH, 13, f"{told[everybody]} people", "c2 strong", "end"),
        text(0, 36, "Memory of eight chips:", "ink"),
        text(166, 36, "weights", "c1 strong"),
        text(236, 36, "caches", "c2 strong"),
        text(WIDTH, 36, told["box"], "ink", "end"),
        named("held", rect(0, 43, weights, 22, "c1")),
        named("caches", rect(weights, 43, caches, 22, "c2")),
        rect(0.5, 43.5, WIDTH - 1, 21, "soft outline"),
        text(
            0,
            CHART - 8,
            "One row: eight chips" + ("" if way in ("rack", "few") else ". Pale: for other crowds"),
            "ink",
        ),
        *_others(step, schematic),
    ]
    found = {part[0]: part[1:] for part in reading(schematic, step)}
    for box in range(BOXES):
        y = CHART + ROW * box
        start, first, second = found.get(box, (0, 0, 0))
        out += [
            named(f"w{box}", rect(start * scale, y, first * scale, THICK, "c1")),
            named(f"k{box}", rect((start + first) * scale, y, second * scale, THICK, "c2")),
        ]
    end = CHART + ROW * BOXES
    out.append(line(0, end, WIDTH, end, "soft"))
    for tick in range(0, 40, 10):
        x = tick * 1e-3 * scale
        words = told[f"t{tick}"] + (" ms" if tick == 30 else "")
        out += [
            line(x, end, x, end + 4, "soft"),
            text(x, end + 17, words, "soft small", "middle" if tick else "start"),
        ]
    if way == "few":
        # For comparison: when copies or a chain are done with as many people.
        x = value("apart") * scale
        out += [
            rect(x, CHART - 3, 1.5, end - CHART + 3, "soft"),
            text(x + 7, CHART + 2 * ROW, "copies or a chain,", "soft"),
            text(
                x + 7, CHART + 2 * ROW + 18, f"{told['each']} people each: {told['apart']}", "soft"
            ),
        ]
    x, bottom = value(way) * scale, end + 40
    out += [
        named("done", rect(x, CHART - 3, 1.5, end - CHART + 3, "ink")),
        text(0, bottom, "One token takes", "ink"),
        text(WIDTH, bottom, told[way], "ink strong", "end"),
        text(0, bottom + 20, "of which for the weights", "ink"),
        text(WIDTH, bottom + 20, told[f"weights_{way}"], "c1 strong", "end"),
    ]
    return out


nine_boxes = Schematic(
    "nine-boxes",
    "The same chips, three ways",
    height=CHART + ROW * BOXES + 66,
    numbers={
        "t0": "= 0",
        "t10": "= 10",
        "t20": "= 20",
        "t30": "= 30",
        "chips": Number("accelerators / GB200 NVL72 / scaleup_domain_chips", 3, "1"),
        "box": Number(f"devices_memory devices=8 {RACK}", 3),
        "weights": Number(f"weight_memory {RACK}", 3),
        "cache": Number(f"cache_memory {ALL}", 3),
        "side_people": Number(f"= [batch_that_fits devices=8 {ALL}] // 1", 3),
        "side_all": Number("= 9 * {side_people}", 4),
        "people": Number(f"= [batch_that_fits {ALL}] // 1", 4),
        "people_few": Number("= 900", 3),
        "micro": "= {people} / 9",
        "side": Number(f"step_time devices=8 batch={{side_people}} {ALL}", 3),
        "chain": Number(
            f"token_latency_of_cut_rack pipeline_stages=9 hop_time=0 batch={{micro}} {ALL}", 3
        ),
        "rack": Number(f"step_time batch={{people}} {ALL}", 3),
        "few": Number(f"step_time batch={{people_few}} {ALL}", 2),
        "each": Number("= {people_few} / 9", 3),
        "apart": Number(f"step_time devices=8 batch={{each}} {ALL}", 3),
        "caches_side": Number(f"kv_time devices=8 batch={{side_people}} {ALL}", 3),
        "caches_rack": Number(f"kv_time batch={{people}} {ALL}", 3),
        "caches_chain": "= {caches_rack}",
        "caches_few": Number(f"kv_time batch={{people_few}} {ALL}", 2),
        "weights_side": Number("= {side} - {caches_side}", 3, "s"),
        "weights_chain": Number("= {chain} - {caches_chain}", 3, "s"),
        "weights_rack": Number("= {rack} - {caches_rack}", 3, "s"),
        "weights_few": Number("= {few} - {caches_few}", 3, "s"),
    },
    steps=[
        Step(
            "A copy of the weights takes nearly half of each box, and {side_people} people fit"
            " beside it. All boxes work side by side, each for its own people.",
            "Nearly half of a box’s memory is weights, the rest is caches. In the chart all"
            " nine rows are filled for {side}, one for you and eight for others:"
            " {weights_side} for the weights, then the caches.",
            "Copies",
        ),
        Step(
            "Chain the boxes, and {people} people fit, nearly three quarters more. Your token"
            " visits one box after another, and each reads its ninth of the weights again for"
            " every crowd.",
            "A narrow piece of a box’s memory is weights, and caches fill the rest. In the"
            " chart a staircase: nine boxes read for you one after another, each for a ninth of"
            " {chain}, and for eight other crowds before and after. The weights take"
            " {weights_chain} of it.",
            "A chain",
        ),
        Step(
            "Put the {chips} chips on one fabric. Just as many people fit as in the chain, and now"
            " all chips read for them at once, the weights only once for everybody.",
            "All nine rows are filled from the start, for {rack}; the weights take"
            " {weights_rack} of it.",
            "The rack",
        ),
        Step(
            "Let only {people_few} people onto the rack. It has far fewer caches to read, and the"
            " weights take little more than a millisecond as before.",
            "Three quarters of the memory are empty. All nine rows are filled from the start, for"
            " {few} only, of which {weights_few} for the weights. A second line, at {apart}, marks"
            " when copies, or a chain, are done with a hundred people in each box or crowd.",
            "900 on it",
        ),
    ],
    draw=_draw_ways,
    caption="GB200 chips, DeepSeek-V3 in fp8 cut evenly, a hundred thousand tokens each. Times are"
    " for reading alone, without hops and the latency of layers. The upright line"
    " marks when your token is done.",
)
