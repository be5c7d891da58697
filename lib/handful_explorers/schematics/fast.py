"""One machine in normal mode, in fast mode, and with a single user: who rides, and who pays.

A step's length is drawn to scale, and so is the share of its rent that one token pays.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, rect, text
from .decode import ALL, MACHINE, ROW
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import dots


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, value = schematic.told, schematic.value
    mode = "normal" if step < 4 else "fast" if step < 6 else "alone"
    people = value(mode)
    scale = WIDTH / value("step_normal")  # pixels a second
    weights, caches = value("weights_time") * scale, value(f"caches_{mode}") * scale
    target = value("step_fast") * scale
    out = [
        text(0, 13, "One step", "ink strong"),
        text(WIDTH, 13, told[f"step_{mode}"], "ink", "end"),
        rect(0.5, 22.5, WIDTH - 1, 43, "soft outline"),
        named("weights", rect(0, 22, weights, 44, "c1")),
        text(weights / 2, 41, "weights", "paper strong", "middle"),
        text(weights / 2, 57, told["weights_time"], "paper small", "middle"),
        named("caches", rect(weights, 22, caches, 44, "c2")),
        text(0, 112, "On the machine", "ink strong"),
    ]
    if mode == "normal":
        middle = weights + caches / 2
        out.append(text(middle, 41, f"{told['normal']} caches", "paper strong", "middle"))
        out.append(text(middle, 57, told["caches_normal"], "paper small", "middle"))
    if step > 2:
        # Light beneath, or dashes of ink would be lost on the dark bar.
        out.append(line(target, 18, target, 74, "paper thick"))
        out.append(line(target, 18, target, 74, "ink dash"))
        out.append(text(target + 5, 87, "a fast step must end here", "ink"))
    count = round(people)
    out.append(text(WIDTH, 112, f"{count} people" if count > 1 else "one person", "ink", "end"))
    for row in range(-(-count // ROW)):
        out.append(dots(3, 126 + 11 * row, min(ROW, count - row * ROW), 7.1, 5.5, "ink"))
    if step == 4:  # What it pays now is the next step's.
        out.append(text(0, 202, "What a token paid", "soft strong"))
        out.append(line(0, 242, WIDTH, 242, "grid"))
        before = WIDTH * value("price_normal") / value("price_alone")
        out.append(rect(0, 214, before, 22, "soft"))
        out.append(text(WIDTH, 202, "the normal price", "soft", "end"))
    if step in (2, 3, 5, 6):
        share = WIDTH * value(f"price_{mode}") / value("price_alone")
        price = "the normal price"
        if mode != "normal":
            price = f"{told[f'price_{mode}']} times the normal price"
        own = share * value(f"caches_{mode}") / value(f"step_{mode}")
        out.append(text(0, 202, "What a token pays", "ink strong"))
        out.append(named("floor", line(0, 242, WIDTH, 242, "grid")))
        out.append(named("share", rect(0, 214, share - own, 22, "c1")))
        out.append(rect(share - own, 214, own, 22, "c2"))
        out.append(text(WIDTH, 202, price, "ink", "end"))
    return out


def _mode(name: str) -> dict[str, str | Number]:
    """Return the numbers of a mode, for as many people as the number of its name says."""
    return {
        f"caches_{name}": f"kv_time batch={{{name}}} {ALL}",
        f"step_{name}": f"step_time batch={{{name}}} {ALL}",
        f"price_{name}": Number(
            f"= [cost_per_token batch={{{name}}} {ALL}] / [cost_per_token batch={{normal}} {ALL}]"
        ),
    }


fast_mode = Schematic(
    "fast-mode",
    "The same machine in three modes",
    height=250,
    numbers={
        "context": Number("= 4096", 4),
        "asked": Number("= 6", 1),
        "speedup": "= 2.5",
        "weights_time": f"full_weight_time {MACHINE}",
        "normal": Number(
            f"batch_from_price price_ratio={{asked}} speedup={{speedup}} {ALL}", 3, "1"
        ),
        "fast": Number(f"fast_batch batch={{normal}} speedup={{speedup}} {ALL}", unit="1"),
        "alone": "= 1",
        **_mode("normal"),
        **_mode("fast"),
        **_mode("alone"),
        "speed_alone": Number("= {step_normal} / {step_alone}", 3),
        "wall": f"speedup_limit batch={{normal}} {ALL}",
    },
    steps=[
        Step(
            "In normal mode {normal} people share the machine. Each step reads the weights once,"
            " for all of them, and then {normal} caches, one for each.",
            "A bar as long as a step, {step_normal}. Reading the weights takes {weights_time} of"
            " it, reading {normal} caches {caches_normal}. Below are {normal} dots, one a person.",
        ),
        Step(
            "The rent of the step is split {normal} ways. Each token pays a thin slice of it, the"
            " normal price.",
            "A thin slice below the dots: what one token pays in normal mode.",
        ),
        Step(
            "Fast mode promises tokens {speedup} times as often. So every step has to be over at"
            " the dashed line, after {step_fast}.",
            "A dashed line crosses the bar of the step at {step_fast}, shortly after the end of"
            " the weights.",
        ),
        Step(
            "Reading the weights takes most of that, whoever is there. What is left of it is enough"
            " for about {fast} caches, and so everybody else has to get off.",
            "The bar now ends at the dashed line. After the weights it has room for {fast} caches,"
            " {caches_fast}; {fast} dots are left. What a token paid before is grey now.",
        ),
        Step(
            "The rent of a step has fallen {speedup}-fold, but only about {fast} people split it."
            " So each token pays {price_fast} times the normal price.",
            "What one token pays is {price_fast} times as wide as before.",
        ),
        Step(
            "Let all but one get off. Steps come {speed_alone} times as fast as in normal mode,"
            " hardly better than fast mode, and a token costs {price_alone} times as much. Nobody"
            " is left to get off.",
            "One thin cache after the weights: the step takes {step_alone}, and no step can take"
            " less than {weights_time}, {wall} times as fast as normal mode. One dot is left, and"
            " what it pays fills the width of the picture.",
        ),
    ],
    draw=_draw,
    caption="Llama 3.1 70B in bf16 on eight H100s, conversations of {context} tokens. The number of"
    " people in normal mode is worked out from a fast mode that costs {asked} times as much.",
)
