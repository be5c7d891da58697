"""What a token of a prompt pays for, and what a token of an answer: one pass or many.

The times are to scale: those of DeepSeek-V3 on a rack of GB200, with caches left out.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import rect, text
from .schematic import WIDTH, Number, Schematic, Step, named
from .svg import arrow

MACHINE = 'hardware="GB200 NVL72" model="DeepSeek-V3" precision=fp8'
LIST = "prices / gemini-3.1-pro-preview"
PROMPT = ("Why", "do", "answers", "cost", "more?")
EDGES = (0, 47, 84, 155, 204, 262)  # of the boxes of the prompt, in pixels


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, value = schematic.told, schematic.value
    scale = WIDTH / value("prompt_time")  # pixels a second
    out = [
        text(0, 13, "Into this pass go", "ink strong"),
        *_tokens(step, schematic),
        text(0, 92, "Fetching the weights", "ink strong"),
        text(0, 148, "Multiplying with them", "ink strong"),
        rect(0.5, 100.5, WIDTH - 1, 19, "grid outline"),
        rect(0.5, 156.5, WIDTH - 1, 19, "grid outline"),
        text(0, 210, "The rack\u2019s time for one token, enlarged", "ink strong"),
    ]
    if step > 1:
        time = {4: "crowd_time", 5: "crowd_time", 6: "read"}.get(step, "prompt_time")
        out += [
            text(WIDTH, 92, told["read"], "c1", "end"),
            named("fetching", rect(0, 100, value("read") * scale, 20, "c1")),
            text(WIDTH, 148, told[time], "c3", "end"),
            named("multiplying", rect(0, 156, max(1, value(time) * scale), 20, "c3")),
        ]
    if step > 2:
        share = 0.94 * WIDTH / value("answer_share")
        out += [
            text(0, 232, "of the prompt", "ink"),
            text(WIDTH, 232, told["prompt_share"], "ink", "end"),
            rect(0, 239, value("prompt_share") * share, 14, "c3"),
        ]
        if step > 4:
            answer = "answer_share" if step == 5 else "prompt_share"
            out += [
                text(0, 276, "of an answer", "ink"),
                text(WIDTH, 276, told[answer], "ink", "end"),
                rect(0, 283, value(answer) * share, 14, "c1" if step == 5 else "c3"),
            ]
    return out


def _tokens(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw the tokens that go through the model together."""
    told = schematic.told
    if step < 4:
        out = [text(WIDTH, 13, f"{told['prompt']} tokens", "ink", "end")]
        for word, left, right in zip(PROMPT, EDGES, EDGES[1:], strict=False):
            out += [
                rect(left, 22, right - left - 5, 24, "ink faint"),
                text((left + right - 5) / 2, 39, word, "ink", "middle"),
                arrow((left + right - 5) / 2, 49, (left + right - 5) / 2, 68, "soft"),
            ]
        return [*out, text(EDGES[-1] + 3, 39, "…", "ink")]
    out = [
        text(WIDTH, 13, f"{told['crowd' if step < 6 else 'balance']} tokens", "ink", "end"),
        rect(0, 22, 74, 24, "c0"),
        text(37, 39, "Because", "paper", "middle"),
        arrow(37, 49, 37, 68, "soft"),
    ]
    for i in range(9):
        out += [
            rect(84 + 26 * i, 22, 20, 24, "ink faint"),
            arrow(94 + 26 * i, 49, 94 + 26 * i, 68, "soft"),
        ]
    return [*out, text(84 + 26 * 9 + 3, 39, "…", "ink")]


one_pass = Schematic(
    "one-pass",
    "One pass for a prompt, a pass for each token of an answer",
    height=300,
    numbers={
        "ratio": f"= [{LIST} / output_usd_per_mtok] / [{LIST} / input_usd_per_mtok]",
        "balance": Number(f"balance_batch {MACHINE}", unit="1"),
        "prompt": "= 2 * {balance}",
        "crowd": "= {balance} / {ratio}",
        "read": f"full_weight_time {MACHINE}",
        "prompt_time": f"compute_time batch={{prompt}} {MACHINE}",
        "crowd_time": f"compute_time batch={{crowd}} {MACHINE}",
        "prompt_share": Number("= {prompt_time} / {prompt}", unit="s"),
        "answer_share": Number("= {read} / {crowd}", unit="s"),
    },
    steps=[
        Step(
            "Your prompt is known in full, so all of its tokens, say {prompt}, can go through the"
            " model together, in a single pass.",
            "Boxes with the words of a prompt stand side by side, each with an arrow down into the"
            " same pass. There are {prompt} tokens.",
        ),
        Step(
            "Each weight is fetched once and used for all of them. Fetching takes {read},"
            " multiplying {prompt_time}. The multipliers are slower, and set the pace.",
            "A bar of fetching, {read}, and below it a bar of multiplying, twice as long,"
            " {prompt_time}.",
        ),
        Step(
            "So a token of the prompt takes {prompt_share} of the rack\u2019s time, just its own"
            " arithmetic. The fetching is done meanwhile and comes free.",
            "A short bar at the bottom: a token of the prompt takes {prompt_share}.",
        ),
        Step(
            "Each token of the answer depends on the one before, so each takes a pass of its own,"
            " and each pass fetches the weights again. Other people\u2019s answers come along, say"
            " {crowd} in all. Multipliers are busy for a sixth of the time.",
            "The first word of your answer stands in a row with words of others, {crowd} in all."
            " Fetching takes {read} as before, and the bar of multiplying, {crowd_time}, is a sixth"
            " as long.",
        ),
        Step(
            "Shared among {crowd}, the fetching comes to {answer_share} of the rack\u2019s time for"
            " a token, {ratio} times what a token of the prompt takes. A token of an answer pays"
            " for fetching.",
            "A token of an answer takes {answer_share}, a bar {ratio} times as long as that of the"
            " prompt\u2019s token.",
        ),
        Step(
            "With {balance} people in the pass the multipliers would be busy all the time, and a"
            " token of an answer would cost just what a token of the prompt costs.",
            "The bars of multiplying and of fetching are equally long, {read}. So are the two bars"
            " below: a token takes {prompt_share} either way.",
        ),
    ],
    draw=_draw,
    caption="DeepSeek-V3 in fp8 on our rack, at the speeds of the data sheet. Caches are left out,"
    " and so is attention\u2019s arithmetic. So many tokens wake every expert, so that all the"
    " weights are fetched.",
)
