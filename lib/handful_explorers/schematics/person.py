"""One person's time in a step at the balance: what is multiplied for them, and what is read.

All bars are to scale: those of time by one scale, those of people by another.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named

RACK = 'hardware="GB200 NVL72" model="DeepSeek-V3" precision=fp8'
CONTEXT = "context=4096"
TALL = 24  # of a bar
MULTIPLIED, READ = 22, 88  # tops of the bars


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, value = schematic.told, schematic.value
    scale = WIDTH / value("both")  # pixels a second
    attention = value("attention") * scale if step > 2 else 0
    work, cache = value("work") * scale, value("cache") * scale if step > 1 else 0
    out = [
        text(0, 13, "Multiplied for you", "ink strong"),
        text(WIDTH, 13, told["both" if step > 2 else "work"], "c3", "end"),
        text(0, READ - 9, "Read for you", "ink strong"),
        named("work", rect(attention, MULTIPLIED, work, TALL, "c3")),
        named("work told", text(attention + 6, MULTIPLIED + 17, "weights", "paper strong")),
    ]
    if step > 2:
        out += [
            rect(0, MULTIPLIED, attention, TALL, "c4"),
            text(6, MULTIPLIED + 17, "your cache", "paper strong"),
            line(attention, MULTIPLIED - 3, attention, READ + TALL + 3, "ink dash"),
        ]
    else:
        out.append(line(work, MULTIPLIED - 3, work, READ + TALL + 3, "ink dash"))
    if cache:
        out += [
            rect(0, READ, cache, TALL, "c0"),
            text(6, READ + 17, "your cache", "paper strong"),
        ]
    if step in (2, 3):
        out.append(text(WIDTH, READ - 9, told["cache"], "c0", "end"))
    if step != 2 and step != 3:
        share = (value("work") * scale, 0) if step == 1 else (WIDTH - cache, cache)
        out += [
            named("share", rect(share[1], READ, share[0], TALL, "c1")),
            named("share told", text(share[1] + 6, READ + 17, "weights", "paper strong")),
            text(WIDTH, READ - 9, told["work" if step == 1 else "both"], "c1", "end"),
        ]
    if step > 3:
        below = READ + TALL + 17
        out += [
            text(attention / 2, below, f"covered, {told['attention']}", "ink", "middle"),
            text((attention + cache) / 2, below, told["rest"], "c0 strong", "middle"),
            text((cache + WIDTH) / 2, below, told["left"], "c1 strong", "middle"),
        ]
    if step == 3:
        out += [
            rect(cache, READ, WIDTH - cache, TALL, "soft pale"),
            text(cache + 6, READ + 17, f"{told['left']} free", "ink"),
        ]
    if step in (1, 5):
        people = [("few", "without caches", "crowd", "soft pale")]
        if step == 5:
            people.append(("many", "with caches", "more", "soft"))
        out.append(text(0, 164, "People needed to read all the weights once", "ink strong"))
        for i, (key, label, count, colour) in enumerate(people):
            y = 172 + 46 * i
            out += [
                text(0, y + 12, label, "ink"),
                text(WIDTH, y + 12, told[count], "ink strong", "end"),
                named(key, rect(0, y + 18, WIDTH * value(count) / value("more"), 14, colour)),
            ]
    return out


one_person = Schematic(
    "one-person",
    "One person's time in a step",
    height=252,
    numbers={
        "context": Number("= 4096", 4),
        "work": Number(f"compute_time batch=1 {RACK}", 3),
        "cache": Number(f"kv_time batch=1 {CONTEXT} {RACK}", 3),
        "attention": Number(f"attention_time batch=1 {CONTEXT} {RACK}", 3),
        "both": Number("= {work} + {attention}", 3, "s"),
        "covered": Number("= {attention} / {cache}", unit="%"),
        "rest": Number("= {cache} - {attention}", unit="s"),
        "rest_share": Number("= {rest} / {work}", unit="%"),
        "left": Number("= {work} - {rest}", 3, "s"),
        "left_share": Number("= {left} / {work}", unit="%"),
        "crowd": Number(f"balance_batch {RACK}", 2, "1"),
        "more": Number(f"balance_batch_with_attention {CONTEXT} {RACK}", 2, "1"),
    },
    steps=[
        Step(
            "Without caches the multipliers work for you for {work}. With {crowd} people your share"
            " of reading the weights takes just as long.",
            "Two bars of {work}: weights multiplied for you, and weights read for you. Below them a"
            " bar of {crowd} people.",
        ),
        Step(
            "Now add your cache of {context} tokens, without attention's arithmetic. Reading it"
            " takes {cache}, longer than the multipliers work for you. No time is left for the"
            " weights.",
            "The bar of reading is your cache alone, {cache}. It ends behind the bar of"
            " multiplying, {work}.",
        ),
        Step(
            "But attention multiplies by the cache while it is being read: {attention} more work,"
            " up to the dashed line, which covers {covered} of the reading. The memory may now take"
            " {both} for you without making the multipliers wait.",
            "The bar of multiplying now begins with your cache, {attention}, and ends with the"
            " weights, {both} in all. The bar of reading your cache ends before that.",
        ),
        Step(
            "The other {rest} of reading have to fit into the {work} of multiplying by weights, and"
            " take up {rest_share} of them. {left} are left for your share of the weights.",
            "Both bars are equally long. Below the weights that are multiplied, {rest} of the bar"
            " of reading are the rest of your cache and {left} are weights.",
        ),
        Step(
            "So your share of the weights has shrunk to {left_share} of what it was, and it takes"
            " more people to read them all: {crowd} × {work} ÷ {left} = {more}.",
            "The same bars, and below them two of people: {crowd} without caches, {more} with"
            " them.",
        ),
    ],
    draw=_draw,
    caption="Our rack at its balance. Attention multiplies in fp8, and the memory is always"
    " reading. The bars are to scale.",
)
