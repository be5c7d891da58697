"""What an answer's token took of a chip's time, over a prompt's, where both were measured.

The scale is one of ratios, from nothing to six.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import circle, line, path, text
from .schematic import Number, Schematic, Step

LEFT, RIGHT = 6, 331  # where 0 and 6 stand
TOP, ROW = 26, 38  # where the first row begins, and how tall a row is
MEASURED = "measured_serving / {} / tokens_per_s_per_chip"
# The rows, with the measurements of prefill and decode that each has.
ROWS = {
    "DeepSeek, its service": {"service": ("deepseek_prefill", "deepseek_decode")},
    "DeepSeek, a profile": {"profile": ("deepseek_profile_prefill", "deepseek_profile_decode")},
    "SGLang, on H100": {
        "h100_2k": ("sglang_h100_prefill_2k", "sglang_h100_decode_2k"),
        "h100_4k": ("sglang_h100_prefill_4k", "sglang_h100_decode_4k"),
    },
    "SGLang, on GB200": {
        "gb200_fp4": ("sglang_gb200_p2_prefill_fp4", "sglang_gb200_p2_fp4"),
        "gb200_fp8": ("sglang_gb200_p2_prefill_fp8", "sglang_gb200_p2_fp8"),
    },
    "vLLM, on GB200": {"vllm": ("vllm_gb200_prefill", "vllm_gb200_decode")},
}
LISTS = {"deepseek_list": "DeepSeek\u2019s list", "gemini_list": "Gemini\u2019s list"}


def _x(ratio: float) -> float:
    return LEFT + (RIGHT - LEFT) * ratio / 6


def _ratio(name: str, prefill: str, decode: str) -> Number:
    """Return the request for prompts over answers, in tokens a second."""
    # What a service counts as prompts was in part read from a cache, and not computed.
    computed = " * (1 - [scaling_laws / deepseek_disk_hits / value])" if name == "service" else ""
    return Number(f"= [{MEASURED.format(prefill)}]{computed} / [{MEASURED.format(decode)}]")


def _told(names: list[str], schematic: Schematic) -> str:
    low, high = schematic.told[names[0]], schematic.told[names[-1]]
    if low == high:
        return f"both {low}" if len(names) > 1 else low
    return f"{low}\u2013{high}"


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    value = schematic.value
    bottom = TOP + ROW * len(ROWS) + 6
    out = [
        line(_x(0), bottom, _x(6), bottom, "soft"),
        text(0, bottom + 34, "times the chip time of a prompt\u2019s token", "soft small"),
    ]
    out += [
        text(_x(n), bottom + 16, schematic.told[f"tick_{n}"], "soft small", "middle")
        for n in range(7)
    ]
    for i, (label, pairs) in enumerate(ROWS.items()):
        y, names = TOP + ROW * i + 27, list(pairs)
        out += [
            text(0, y - 9, label, "ink"),
            line(_x(0), y, _x(6), y, "grid"),
            *(circle(_x(value(name)), y, 5, "c0") for name in names),
            text(_x(value(names[-1])) + 10, y + 4, _told(names, schematic), "c0 strong small"),
        ]
    if step == 2:
        for name, label in LISTS.items():
            x = _x(value(name))
            out += [
                text(x + 6, 13, f"{label}, {schematic.told[name]}", "c1 strong small", "end"),
                path([(x, 19), (x, bottom)], "c1", 2),
            ]
    return out


answers_over_prompts = Schematic(
    "answers-over-prompts",
    "An answer\u2019s token, in tokens of a prompt",
    height=TOP + ROW * len(ROWS) + 46,
    numbers={
        **{f"tick_{n}": Number(f"= {n}") for n in range(7)},
        **{name: _ratio(name, *pair) for pairs in ROWS.values() for name, pair in pairs.items()},
        "deepseek_list": "= [prices / deepseek-reasoner / peak_output_usd_per_mtok]"
        " / [prices / deepseek-reasoner / peak_input_usd_per_mtok]",
        "gemini_list": "= [prices / gemini-3.1-pro-preview / output_usd_per_mtok]"
        " / [prices / gemini-3.1-pro-preview / input_usd_per_mtok]",
    },
    steps=[
        Step(
            "In DeepSeek\u2019s own service a token of an answer took {service} times as much of a"
            " chip\u2019s time as a token of a prompt. A profile that DeepSeek published later, and"
            " other teams on H100 and GB200, came to {gb200_fp4} to {profile}.",
            "Five rows on a scale from nothing to {gemini_list}: DeepSeek\u2019s service at"
            " {service}, its profile at {profile}, SGLang on H100 at {h100_2k} and {h100_4k},"
            " SGLang on GB200 at {gb200_fp4} and {gb200_fp8}, vLLM on GB200 at {vllm}.",
        ),
        Step(
            "DeepSeek\u2019s own list of that time asked {deepseek_list} times as much, and"
            " Gemini\u2019s list asks {gemini_list} times as much.",
            "Two upright lines are added, DeepSeek\u2019s list at {deepseek_list} and Gemini\u2019s"
            " at {gemini_list}. All the dots are left of both.",
        ),
    ],
    draw=_draw,
    caption="All ran DeepSeek-V3 or its sibling R1. The mean context was 5,000 tokens in"
    " DeepSeek\u2019s service; elsewhere prompts had 2,000 to 4,100. Prompt tokens that the service"
    " had in its cache are left out.",
)
