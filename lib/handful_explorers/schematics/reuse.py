"""How often a weight is used before the next one comes, and what the answer does not depend on.

The first drawing has a circle for each multiply-add that a chip could do while it fetches a weight.
Its bars, and those of the second, are to scale.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import dots, strokes

CHIP, MODEL = 'hardware="GB200 NVL72"', 'model="DeepSeek-V3"'
BALANCE = f"weight_uses_at_balance {CHIP} precision=fp8"
COLUMNS = 26  # circles in a row
SLOTS = f"= 12 * {COLUMNS}"  # the whole multiply-adds of the chip's balance
FETCH = WIDTH / 2  # pixels for which a weight is fetched: twice as many products fit the drawing

# One weight ---------------------------------------------------------------------------------------

# How many tokens of the batch use the weight, and how many there are, in each step.
_USES = {
    1: ("", ""),
    2: ("one", "one"),
    3: ("some", "some"),
    4: ("slots", "slots"),
    5: ("twice", "twice"),
    6: ("woken", "slots"),
    7: ("slots", "crowd"),
}


def _filled(told: dict[str, str], use: str, uses: int, slots: int) -> str:
    """Say how many of the circles are filled."""
    if uses > slots:
        return f"{told['slots']} of {told['slots']}, twice"
    return f"{told[use]} of {told['slots']}" if uses else ""


def _draw_weight(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    use, crowd = _USES[step]
    uses, slots = (int(schematic.value(use)) if use else 0), int(schematic.value("slots"))
    people = schematic.value(crowd) if crowd else 0
    out = [
        text(0, 13, "Fetching one weight", "ink strong"),
        rect(0, 21, FETCH, 14, "c1"),
        text(0, 59, "Multiplying with it", "ink strong"),
        named("busy", rect(0, 67, FETCH * uses / slots, 14, "c3")),
        line(FETCH, 17, FETCH, 88, "ink dash"),
        text(FETCH + 5, 33, "the next one comes", "ink"),
        text(0, 114, "Multiply-adds in that time", "ink strong"),
        text(WIDTH, 114, _filled(told, use, uses, slots), "c3", "end"),
    ]
    for row in range(slots // COLUMNS):
        full = min(COLUMNS, max(0, uses - row * COLUMNS))
        y, pitch = 129 + 12 * row, 13.0
        if full:
            out.append(dots(7.5, y, full, pitch, 9, "c3"))
        if full < COLUMNS:
            out.append(dots(7.5 + full * pitch, y, COLUMNS - full, pitch, 9, "grid"))
    if use:
        wide = WIDTH * people / schematic.value("crowd")
        out += [
            text(0, 294, "People on the rack", "ink strong"),
            text(WIDTH, 294, told[crowd], "ink", "end"),
            named("people", rect(0, 302, wide, 12, "soft pale")),
            named("users", rect(0, 302, WIDTH * uses / schematic.value("crowd"), 12, "c3")),
        ]
    return [shape for shape in out if shape.get("s") != ""]


one_weight = Schematic(
    "one-weight",
    "One weight, and those who use it",
    height=316,
    numbers={
        "rate": Number("= [accelerators / GB200 NVL72 / hbm_bandwidth_bytes_per_s] / 1e12", 2),
        "one": "= 1",
        "some": Number("= 100", 3),
        "slots": Number(SLOTS, 3),
        "twice": Number("= 2 * {slots}", 3),
        "sparsity": f"sparsity {MODEL}",
        "woken": "= {slots} / {sparsity}",
        "crowd": Number(f"balance_batch {CHIP} {MODEL} precision=fp8", 2, "1"),
    },
    steps=[
        Step(
            "One chip of our rack fetches {rate} trillion weights a second. In the time that it"
            " takes to fetch a single one, it can do {slots} multiply-adds. Each circle stands for"
            " one of them.",
            "A bar shows how long it takes to fetch one weight. Below it are {slots} pale circles.",
        ),
        Step(
            "Somebody is alone on the rack. Each token visits all the chips, and needs one"
            " multiply-add with this weight. Then the multipliers wait for the next weight.",
            "One of {slots} circles is filled. The bar of multiplying is hardly to be seen beside"
            " that of fetching.",
        ),
        Step(
            "With {some} people the weight is used {some} times. Fetching it takes no longer than"
            " before, and nearly a third of the circles are filled.",
            "{some} of {slots} circles are filled. The bar of multiplying is nearly a third as long"
            " as that of fetching.",
        ),
        Step(
            "With {slots} people all the circles are filled. The last multiply-add is done just as"
            " the next weight arrives.",
            "All {slots} circles are filled, and the bar of multiplying ends where that of fetching"
            " does.",
        ),
        Step(
            "With {twice} people the multipliers need twice as long. Now the memory waits.",
            "All circles are filled, and the bar of multiplying is twice as long as that of"
            " fetching. {twice} people are on the rack.",
        ),
        Step(
            "So far every token used every weight. In a mixture of experts most tokens pass this"
            " weight by: in DeepSeek-V3 one in {sparsity} uses it. Of {slots} people that leaves"
            " about {woken}.",
            "Only {woken} of {slots} circles are filled, though {slots} people are on the rack.",
        ),
        Step(
            "To fill the circles again, {crowd} people must be waiting for a token at the same"
            " time: {slots} for each weight, times {sparsity}. The pale bar is everybody else.",
            "All circles are filled. The bar of people is as wide as the picture, {crowd}; a narrow"
            " part of it, {slots}, uses this weight.",
        ),
    ],
    draw=_draw_weight,
    caption="A GB200 chip with weights and arithmetic in fp8, at the speeds of its data sheet. The"
    " weight is an average one: some are used by all tokens, others by very few."
    " Bars are to scale.",
)

# Two bars -----------------------------------------------------------------------------------------

# What stands on the rack in each step: model, chips, precision, and how many people.
_SHOWN = {
    1: ("Llama 3.1 70B", "all", "fp8", "people"),
    2: ("Llama 3.1 70B", "half", "fp8", "people"),
    3: ("Llama 3.1 405B", "all", "fp8", "people"),
    4: ("Llama 3.1 405B", "all", "fp4", "people"),
    5: ("DeepSeek-V3", "all", "fp8", "people"),
    6: ("DeepSeek-V3", "all", "fp8", "crowd"),
}
ROW = 36  # chips in a row


def _draw_bars(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    model, chips, form, people = _SHOWN[step]
    scale = WIDTH / schematic.value("read_6")  # pixels a second
    out = [
        text(0, 13, f"{told[chips]} chips", "ink strong"),
        text(WIDTH, 13, f"{told[people]} people", "ink strong", "end"),
        strokes(1, 22, ROW, 9.4, (7, 10), "soft"),
        text(0, 70, f"{model}, {form}", "ink"),
        text(WIDTH, 70, told[f"bytes_{step}"], "c1", "end"),
        text(0, 106, "Reading the weights", "ink strong"),
        text(WIDTH, 106, told[f"read_us_{step}"] + " µs", "c1", "end"),
        named("reading", rect(0, 114, schematic.value(f"read_{step}") * scale, 20, "c1")),
        text(0, 162, "Computing", "ink strong"),
        text(WIDTH, 162, told[f"compute_us_{step}"] + " µs", "c3", "end"),
        named("computing", rect(0, 170, schematic.value(f"compute_{step}") * scale, 20, "c3")),
    ]
    if chips == "all":
        out.append(strokes(1, 37, ROW, 9.4, (7, 10), "soft"))
    return out


def _at(step: int) -> dict[str, str | Number]:
    """Return the numbers of a step."""
    model, chips, form, people = _SHOWN[step]
    machine = f'{CHIP} model="{model}" precision={form}'
    batch = "balance" if people == "people" else "crowd"
    return {
        f"bytes_{step}": Number(f"weight_memory {machine}", 3),
        f"read_{step}": f"full_weight_time {machine} devices={{{chips}}}",
        f"compute_{step}": f"compute_time {machine} devices={{{chips}}} batch={{{batch}}}",
        # In the drawing all have one unit, so that the bars can be compared by their numbers.
        f"read_us_{step}": Number(f"= {{read_{step}}} * 1e6", 2),
        f"compute_us_{step}": Number(f"= {{compute_{step}}} * 1e6", 2),
    }


what_cancels = Schematic(
    "what-cancels",
    "What moves the balance, and what does not",
    height=192,
    numbers={
        "all": Number("accelerators / GB200 NVL72 / scaleup_domain_chips", 3, "1"),
        "half": "= {all} / 2",
        "balance": BALANCE,
        "people": Number(SLOTS, 3),
        "crowd": Number(f"balance_batch {CHIP} {MODEL} precision=fp8", 2, "1"),
        "sparsity": f"sparsity {MODEL}",
        **_at(1),
        **_at(2),
        **_at(3),
        **_at(4),
        **_at(5),
        **_at(6),
    },
    steps=[
        Step(
            "Begin with a dense model on the rack, Llama 3.1 70B, and {people} people. Reading the"
            " weights and computing take equally long, {read_1}.",
            "Two rows of chips, {all} in all. Below them a bar of reading and one of computing are"
            " equally short, {read_1}.",
        ),
        Step(
            "Take away half of the chips. Reading takes twice as long, and so does computing. The"
            " bars still end together.",
            "One row of chips, {half}. Both bars are twice as long as before, {read_2}.",
        ),
        Step(
            "All chips again, with a model nearly six times as large. There is that much more to"
            " read, and that much more to compute.",
            "Two rows of chips and Llama 3.1 405B. Both bars are equally long, {read_3}.",
        ),
        Step(
            "Make the weights and the arithmetic half as wide. A chip then reads and multiplies"
            " twice as many weights a second.",
            "The same model, in fp4. Both bars are half as long as before, {read_4}.",
        ),
        Step(
            "Back in fp8, take a mixture of experts instead. All of its weights are read, but a"
            " token is multiplied by one in {sparsity} of them. The bar of computing nearly"
            " vanishes.",
            "DeepSeek-V3 on all chips, in fp8. Reading takes {read_5}, as wide as the picture;"
            " computing takes {compute_5}, a thin slice.",
        ),
        Step(
            "Only more people help: {sparsity} times as many, {crowd} in all. Of the four changes"
            " sparsity alone has moved the balance.",
            "{crowd} people. Both bars are as wide as the picture, {read_6}.",
        ),
    ],
    draw=_draw_bars,
    caption="GB200 chips, with the caches left out. The bars of all steps are drawn to one scale.",
)
