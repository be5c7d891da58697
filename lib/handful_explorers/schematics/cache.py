"""A key-value cache that grows token by token: that of Llama 3.1 70B in bf16.

Columns are tokens and rows are layers.  The bars below stand under the tokens that they count.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import circle, line, rect, text
from .schematic import WIDTH, Number, Schematic, Step
from .svg import arrow

MODEL = 'model="Llama 3.1 70B" precision=bf16'
MACHINE = f'hardware="H100 SXM" {MODEL}'
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight")
LEFT, PITCH, HALF, TALL = 54, 35.5, 16, 26  # of the columns, and of a K or a V in them
ROWS = (44, 86, 146)  # the first layer, the second, the last
# In each step: tokens in the cache, and the one that reads them now.
SHOWN = {1: (5, 0), 2: (5, 0), 3: (5, 6), 4: (6, 0), 5: (7, 8), 6: (8, 0)}


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    kept, reader = SHOWN[step]
    out = [
        text(0, ROWS[0] + 18, f"layer {told['one']}", "soft small"),
        text(0, ROWS[1] + 18, f"layer {told['two']}", "soft small"),
        text(20, ROWS[1] + 47, "⋮", "soft"),
        text(0, ROWS[2] + 18, f"layer {told['layers']}", "soft small"),
        text(LEFT, 13, "prompt", "soft small"),
        line(LEFT, 18, LEFT + 5 * PITCH - 4, 18, "soft"),
    ]
    for column in range(kept):
        out += _column(column)
    for column, word in enumerate(WORDS[: max(kept, reader)]):
        colour = "ink" if column < 5 else "c2"
        out.append(text(_x(column) + 15.5, 33, word, f"{colour} strong small", "middle"))
    if max(kept, reader) > 5:
        out += [
            text(_x(5), 13, "answer", "c2 small"),
            line(_x(5), 18, _x(max(kept, reader)) - 4, 18, "c2"),
        ]
    if reader:
        out += _query(reader - 1)
    if step == 2:
        out.append(rect(_x(4) - 3, 38, 2 * HALF + 5, ROWS[2] + TALL - 32, "ink outline round"))
    return out + (_long(schematic) if step == 6 else _count(step, schematic))


def _x(column: int) -> float:
    return LEFT + column * PITCH


def _column(column: int) -> list[dict[str, Any]]:
    """Draw the keys and values of a token; the first token's have their letters."""
    out = []
    for y in ROWS:
        for part, (letter, colour) in enumerate((("K", "c0"), ("V", "c1"))):
            x = _x(column) + part * HALF
            out.append(rect(x, y, HALF - 1, TALL, colour))
            if column == 0:
                out.append(text(x + 7.5, y + 17, letter, "paper small strong", "middle"))
    return out


def _query(column: int) -> list[dict[str, Any]]:
    """Draw the query of a token in each layer, and that it reads all that is there."""
    out = []
    for y in ROWS:
        middle = _x(column) + HALF - 0.5
        out += [
            arrow(LEFT, y + TALL + 6, middle - 3, y + TALL + 6, "c2", 1.8),
            circle(middle, y + 13, 11, "c2"),
            text(middle, y + 17, "Q", "paper small strong", "middle"),
        ]
    return out


def _count(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    """Draw how much lies in the cache, and how much the new token reads."""
    told, (kept, reader) = schematic.told, SHOWN[step]
    out = [
        text(0, 208, "In the cache", "ink strong"),
        text(WIDTH, 208, f"{told[f'tokens_{kept}']}, {told[f'cache_{kept}']}", "ink", "end"),
        *(rect(_x(column), 216, 2 * HALF - 1, 12, "ink pale") for column in range(kept)),
    ]
    if step == 2:
        out += [
            text(0, 258, "One token in one layer", "ink strong"),
            text(
                0,
                278,
                f"{told['two']} × {told['heads']} heads × {told['width']} numbers"
                f" × {told['number']} = {told['layer_bytes']}",
                "ink",
            ),
            text(0, 302, f"and in all {told['layers']}", "ink strong"),
            text(WIDTH, 302, told["token_bytes"], "ink", "end"),
        ]
    if reader:
        out += [
            text(0, 258, f"Read by \u201c{WORDS[reader - 1]}\u201d", "c2 strong"),
            text(WIDTH, 258, "all of it", "c2", "end"),
            *(rect(_x(column), 266, 2 * HALF - 1, 12, "c2") for column in range(kept)),
        ]
    return out


def _long(schematic: Schematic) -> list[dict[str, Any]]:
    """Draw caches of long conversations beside the weights."""
    told = schematic.told
    out = [text(0, 208, "Read for one more token", "ink strong")]
    rows = (
        (f"cache of {told['short']} tokens", "short", "c2"),
        (f"of {told['long']} tokens", "long", "c2"),
        ("weights, shared by all", "weights", "soft"),
    )
    for i, (label, key, colour) in enumerate(rows):
        y = 228 + 34 * i
        wide = WIDTH * schematic.value(f"{key}_bytes") / schematic.value("weights_bytes")
        out += [
            text(0, y, label, "ink"),
            text(WIDTH, y, f"{told[f'{key}_bytes']}, {told[f'{key}_time']}", "ink", "end"),
            rect(0, y + 5, wide, 10, colour),
        ]
    return out


growing_cache = Schematic(
    "growing-cache",
    "A cache that grows token by token",
    height=312,
    numbers={
        "layers": "models / Llama 3.1 70B / n_layers",
        "heads": "models / Llama 3.1 70B / n_kv_heads",
        "width": Number("models / Llama 3.1 70B / head_dim", 3),
        "one": "= 1",
        "two": "= 2",
        "number": Number("= 2", unit="B"),
        "token_bytes": Number(f"resident_caches device_batch=1 context=1 {MODEL}", 3),
        "layer_bytes": Number("= {token_bytes} / {layers}", 2, "B"),
        **{f"tokens_{n}": Number(f"= {n}", unit="token") for n in (5, 6, 7)},
        **{
            f"cache_{n}": Number(
                f"resident_caches device_batch=1 context={{tokens_{n}}} {MODEL}", 3
            )
            for n in (5, 6, 7)
        },
        "short": Number("= 4096", 4),
        "short_bytes": f"resident_caches device_batch=1 context={{short}} {MODEL}",
        "short_time": f"kv_time batch=1 context={{short}} {MACHINE}",
        "long": Number("models / Llama 3.1 70B / context_length_tokens", 6, "1"),
        "long_bytes": f"resident_caches device_batch=1 context={{long}} {MODEL}",
        "long_time": f"kv_time batch=1 context={{long}} {MACHINE}",
        "weights_bytes": Number(f"weight_memory {MODEL}", 3),
        "weights_time": f"full_weight_time {MACHINE}",
        "again": f"compute_time batch={{short}} {MACHINE}",
    },
    steps=[
        Step(
            "The prompt goes through the model in one pass, all of its tokens together. In each of"
            " the {layers} layers every token leaves two vectors behind: a key, K, and a value, V.",
            "A grid of five columns, the tokens of the prompt: one, two, three, four, five. Its"
            " rows are layers, from the first to number {layers}. In every cell stand a K and a V."
            " The cache holds {cache_5}.",
        ),
        Step(
            "Each is eight heads of {width} numbers. That makes {layer_bytes} for a token in one"
            " layer, and {token_bytes} over all of them: this text of five short words takes"
            " {cache_5}.",
            "The column of the last token is framed. Below stands: {two} times {heads} heads"
            " times {width} numbers times {number} make {layer_bytes} in one layer, {token_bytes}"
            " in all.",
        ),
        Step(
            "Out comes \u201csix\u201d, which goes through the model alone. In each layer its"
            " query, Q, is compared with every key, and the values of those that match are mixed:"
            " the whole cache is read.",
            "A sixth column, the answer\u2019s first token: six. It has a Q in each layer, to which"
            " an arrow leads past all five K and V. A bar shows that all {cache_5} are read.",
        ),
        Step(
            "Then it leaves its own K and V. Nothing that lay there before has changed, which is"
            " why a cache can be kept at all, and shared with whoever begins in the same way.",
            "The sixth column holds K and V as well. The cache holds {cache_6}.",
        ),
        Step(
            "\u201cseven\u201d and \u201ceight\u201d do the same. For each there is a pass, and in"
            " each pass one column more to read. The prompt needed one pass for all of it.",
            "Seven columns of K and V, and an eighth token with its Q, to which arrows lead past"
            " all seven. All {cache_7} are read.",
        ),
        Step(
            "At {short} tokens each further one reads {short_bytes}, in {short_time}; at {long} it"
            " reads {long_bytes}, nearly a third of the weights. To compute the {short} again would"
            " take {again}.",
            "Bars compare what is read for one more token: the cache of {short} tokens,"
            " {short_bytes} in {short_time}; that of {long} tokens, {long_bytes} in {long_time};"
            " and the weights, {weights_bytes} in {weights_time}, which a batch shares.",
        ),
    ],
    draw=_draw,
    caption="Llama 3.1 70B in bf16; times on eight H100s. A word stands for a token.",
)
