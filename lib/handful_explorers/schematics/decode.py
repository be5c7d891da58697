"""One decode step of Llama 3.1 70B on eight H100: what is read once, and what for each sequence.

Memory is drawn to scale.  All that is read in a step takes time in proportion to its bytes, so the
same scale shows the times: the whole box is what the chips read in 24 ms.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, path, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import arrow, dots

MACHINE = 'hardware="H100 SXM" model="Llama 3.1 70B" precision=bf16'
ALL = f"{MACHINE} context=4096"
CACHE = f"resident_caches device_batch=1 {ALL}"
ROW = 48  # tokens drawn in a row
ENLARGED = 50  # times, where a token's share is too short to see


def _people(step: int, schematic: Schematic) -> float:
    """Return how many sequences share the step."""
    shared = {4: "pair", 5: "equal", 6: "full"}
    return schematic.value(shared[step]) if step in shared else 1


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    scale = WIDTH / schematic.value("memory")  # pixels a byte
    weights, cache = schematic.value("weights") * scale, schematic.value("cache") * scale
    people = _people(step, schematic)
    out = [
        text(0, 13, "Memory of eight H100s", "ink strong"),
        text(WIDTH, 13, told["memory"], "ink", "end"),
        rect(0.5, 22.5, WIDTH - 1, 61, "soft outline"),
        rect(0, 22, weights, 62, "c1"),
        text(weights / 2, 50, "weights", "paper strong", "middle"),
        text(weights / 2, 67, told["weights"], "paper small", "middle"),
        named("caches", rect(weights, 22, cache * people, 62, "c2")),
    ]
    number, size = {
        4: ("two caches", told["cache_pair"]),
        5: (f"{told['equal']} caches", told["cache_equal"]),
        6: (f"{told['full']} caches", told["cache_full"]),
    }.get(step, ("your cache", told["cache"]))
    middle, inside = weights + cache * people / 2, people > 2
    place = (middle, "middle", "paper") if inside else (weights + 9, "start", "c2")
    out.append(text(place[0], 50, number, f"{place[2]} strong", place[1]))
    out.append(text(place[0], 67, size, f"{place[2]} small", place[1]))
    out += [
        rect(0.5, 122.5, WIDTH - 1, 29, "soft outline"),
        text(WIDTH / 2, 142, "multipliers", "ink strong", "middle"),
        text(0, 234, "Out comes", "ink strong"),
        text(0, 328, "A token\u2019s share of the step", "ink strong"),
        line(0, 358, WIDTH, 358, "grid"),
    ]
    if step > 1:
        out += _reading(step, schematic, weights, cache * people)
    return out + (_share(step, schematic, people) if step > 2 else [])


def _reading(
    step: int, schematic: Schematic, weights: float, caches: float
) -> list[dict[str, Any]]:
    """Draw what moves to the multipliers, and for how long."""
    told, alone = schematic.told, step == 2
    out = [arrow(weights * share, 88, weights * share, 118, "c1", 3) for share in (0.2, 0.5, 0.8)]
    if caches > 20:
        out += [
            arrow(weights + caches * share, 88, weights + caches * share, 118, "c2", 3)
            for share in ((0.25, 0.75) if step == 5 else (0.1, 0.25, 0.75, 0.9))
        ]
    elif not alone:
        out.append(arrow(weights + 4, 88, weights + 4, 118, "c2", 1.5))
    scale = WIDTH / schematic.value("drain")  # pixels a second
    duration = schematic.value("weights_time" if alone else f"step_{step}")
    busy = 0 if alone else schematic.value(f"compute_{step}")
    words = f"reading {told['weights_time']}" if alone else f"one step {told[f'step_{step}']}"
    out += [
        text(207, 108, told["bandwidth"], "soft", "middle"),
        named("time", rect(0, 160, duration * scale, 4, "ink")),
        named("start", rect(0, 156, 1.5, 12, "ink")),
        named("end", rect(duration * scale - 1.5, 156, 1.5, 12, "ink")),
        text(0, 183, words, "ink strong"),
    ]
    if not alone:
        out += [
            named("busy", rect(0, 192, busy * scale, 4, "c3")),
            named("busy_start", rect(0, 189, 1.5, 10, "c3")),
            text(0, 211, f"multiplying meanwhile {told[f'compute_{step}']}", "c3"),
        ]
    return out


def _share(step: int, schematic: Schematic, people: float) -> list[dict[str, Any]]:
    """Draw the tokens of a step, and what one of them costs."""
    told, count = schematic.told, round(people)
    noun = "token" if count == 1 else "tokens"
    out = [text(WIDTH, 234, f"{count} {noun}", "ink", "end")]
    for row in range(-(-count // ROW)):
        wide = min(ROW, count - row * ROW)
        out.append(dots(3, 247 + 8 * row, wide, 7.1, 5, "ink"))
    scale = WIDTH / schematic.value("step_3")
    shared = schematic.value("weights_time") / people * scale
    own = schematic.value("cache_time") * scale
    out += [
        text(WIDTH, 328, told[f"share_{step}"], "ink", "end"),
        named("shared", rect(0, 337, shared, 20, "c1")),
        named("own", rect(shared, 337, own, 20, "c2")),
        text(0, 419 if people > 2 else 379, told[f"cost_{step}"], "ink"),
    ]
    if people > 2:
        large, end = ENLARGED * shared, ENLARGED * (shared + own)
        out += [
            text(WIDTH, 419, f"the same, enlarged {ENLARGED} times", "soft", "end"),
            path([(0, 359), (0, 376)], "grid"),
            path([(shared + own, 359), (end, 376)], "grid"),
            named("shared_large", rect(0, 377, large, 20, "c1")),
            named("own_large", rect(large, 377, end - large, 20, "c2")),
        ]
    return out


def _at(step: int, people: str) -> dict[str, str | Number]:
    """Return the numbers of a step for as many sequences as the number of that name says."""
    batch = f"batch={{{people}}}"
    return {
        f"step_{step}": f"step_time {batch} {ALL}",
        f"compute_{step}": f"compute_time {batch} {MACHINE}",
        f"share_{step}": Number(f"= {{step_{step}}} / {{{people}}}", unit="s"),
        f"cost_{step}": f"cost_per_token {batch} {ALL}",
    }


decode_step = Schematic(
    "decode-step",
    "One decode step, alone and in company",
    height=426,
    numbers={
        "weights": Number(f"weight_memory {MACHINE}", 3),
        "cache": f"resident_caches device_batch=1 {ALL}",
        "memory": Number(f"domain_memory {MACHINE}", 3),
        "drain": f"drain_time {MACHINE}",
        "bandwidth": Number(f"domain_bandwidth {MACHINE}", 3),
        "context": Number("= 4096", 4),
        "weights_time": f"full_weight_time {MACHINE}",
        "cache_time": f"kv_time batch=1 {ALL}",
        "alone": "= 1",
        "pair": "= 2",
        "equal": Number("= {weights} / {cache}", 3),
        "full": Number(f"= [batch_that_fits {ALL}] // 1", 3, "1"),
        "cache_pair": f"resident_caches device_batch={{pair}} {ALL}",
        "cache_equal": Number(f"resident_caches device_batch={{equal}} {ALL}", 3),
        "cache_full": Number(f"resident_caches device_batch={{full}} {ALL}", 3),
        **_at(3, "alone"),
        **_at(4, "pair"),
        **_at(5, "equal"),
        **_at(6, "full"),
        "dollars": Number("= {cost_6} * 1e6", unit="$"),
        "own_dollars": Number(f"= [kv_cost {ALL}] * 1e6", unit="$"),
    },
    steps=[
        Step(
            "Eight chips hold the model\u2019s weights, {weights}, the same for everybody. Beside"
            " them lies your cache, {cache}: what the model keeps of your {context} tokens, of use"
            " to nobody else.",
            "The memory of eight H100s, {memory}, drawn to scale. The weights, {weights}, fill"
            " a good fifth of it; your cache, {cache}, is a thin line beside them. Below are the"
            " multipliers, idle.",
        ),
        Step(
            "To write one more token, every weight has to come to the multipliers once. Together"
            " the chips read {bandwidth}, so that takes {weights_time}.",
            "Arrows lead from the weights down to the multipliers. A bar below them is as long as"
            " the weights are wide: reading takes {weights_time}.",
        ),
        Step(
            "Your cache follows, a hundredth as much, and the multiplying goes on meanwhile. Out"
            " comes one token, and for its {step_3} you have rented all eight chips.",
            "A thin arrow leads from the cache to the multipliers, which are busy for"
            " {compute_3} of {step_3}. Out comes one token; its share of the step is all of it,"
            " {share_3}, or {cost_3}.",
        ),
        Step(
            "A second person joins you. Each weight that arrives is used twice, so only a second"
            " cache is added to the reading. The step is hardly longer, and each of you pays half.",
            "Two thin caches beside the weights. The step takes {step_4} and gives two tokens."
            " The share of each is half as long as before, {share_4}, or {cost_4}.",
        ),
        Step(
            "With {equal} people, the caches weigh as much as the weights. The step takes twice as"
            " long as yours alone did but gives {equal} tokens, so each costs about a fiftieth.",
            "The caches fill as much of the memory as the weights. The step takes {step_5}, the"
            " multipliers are busy for {compute_5} of it, and {equal} tokens come out. The share"
            " of each is {share_5}, or {cost_5}; below, it is drawn once more, enlarged.",
        ),
        Step(
            "Finally, {full} caches fill the memory. Now the step mostly reads caches, which cannot"
            " be shared: of the {dollars} that a million tokens cost, {own_dollars} goes on reading"
            " each person\u2019s own.",
            "The caches fill all the memory that the weights leave. The step takes {step_6}, the"
            " multipliers are busy for {compute_6} of it, and {full} tokens come out. The share of"
            " each is {share_6}, most of it for its own cache, or {cost_6}.",
        ),
    ],
    draw=_draw,
    caption="Llama 3.1 70B in bf16 on eight H100s; conversations of {context} tokens that have"
    " nothing in common. Memory and times are drawn to one scale, since what takes room takes time"
    " to read; a token\u2019s share has its own. Other waiting is left out.",
)
