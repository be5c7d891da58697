"""What a model's life costs: the bills of its tokens, and lives of one quality as rectangles.

The bars of the first drawing are as long as a token keeps a chip busy, and its boxes as large as
the bills.  In the second a rectangle is as wide as a model has weights and as high as the tokens
that pass it, so that its area is its bill.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import line, rect, text
from .schematic import WIDTH, Number, Schematic, Step, named

READ, WRITTEN, LEARNED = "c3", "c2", "c5"

# Three bills --------------------------------------------------------------------------------------

PASS = 49.0  # pixels for which one forward pass keeps a chip busy
BEAM, ARM, HANG, PAN = 212, 112, 118, 44  # of the balance
HEAVY = 44.0  # height of the box of the users' bill


def _bars(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, value = schematic.told, schematic.value
    train, decode, learn = (value(name) * PASS for name in ("train", "decode", "learn"))
    out = [
        text(0, 13, "A token read in training", "ink strong"),
        text(WIDTH, 13, f"{told['train']} passes", READ, "end"),
        rect(0, 20, PASS - 1, 20, READ),
        rect(PASS, 20, train - PASS, 20, READ),
        text(PASS / 2, 34, "forward", "paper small", "middle"),
        text((PASS + train) / 2, 34, "backward", "paper small", "middle"),
    ]
    if step >= 2:
        out += _written(50, "A token written for a user", told["decode"], decode, WRITTEN)
    if step >= 4:
        out += _written(100, "A token written to learn from", told["learn"], decode, LEARNED)
        out += [
            rect(decode + 1, 120, learn - decode - 1, 20, LEARNED),
            text((decode + learn) / 2, 134, "learn", "paper small", "middle"),
        ]
    return out


def _written(y: float, title: str, passes: str, decode: float, colour: str) -> list[dict[str, Any]]:
    """Draw a token that is written: its forward pass, and the wait for memory."""
    return [
        text(0, y + 13, title, "ink strong"),
        text(WIDTH, y + 13, f"{passes} passes", colour, "end"),
        rect(0, y + 20, PASS - 1, 20, colour),
        text(PASS / 2, y + 34, "forward", "paper small", "middle"),
        rect(PASS, y + 20, decode - PASS, 20, f"{colour} faint"),
        text((PASS + decode) / 2, y + 34, "wait", "ink small", "middle"),
    ]


def _balance(right: float, left: float) -> tuple[list[dict[str, Any]], float]:
    """Draw a balance under two weights, and return by how much its right end has sunk."""
    sunk = 62 * (right - left) / (right + left)
    middle = WIDTH / 2
    out = [
        line(middle, BEAM, middle, BEAM + HANG + 30, "soft thick"),
        line(middle - 34, BEAM + HANG + 30, middle + 34, BEAM + HANG + 30, "soft thick"),
        line(middle - ARM, BEAM - sunk, middle + ARM, BEAM + sunk, "ink thick"),
    ]
    for side, low in ((-1, -sunk), (1, sunk)):
        x, y = middle + side * ARM, BEAM + low
        out += [
            line(x, y, x - PAN, y + HANG, "soft"),
            line(x, y, x + PAN, y + HANG, "soft"),
            line(x - PAN - 4, y + HANG, x + PAN + 4, y + HANG, "ink thick"),
        ]
    return out, sunk


def _draw_bills(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    out = _bars(step, schematic)
    if step < 3:
        return out
    told, value = schematic.told, schematic.value
    users = value("decode")
    bills = users if step < 4 else 2 * users  # the third is taken to be as large
    drawn, sunk = _balance(bills, value("train"))
    tall = HEAVY * value("train") / users
    left, right, wide = WIDTH / 2 - ARM, WIDTH / 2 + ARM, 74
    up, down = BEAM - sunk + HANG - 2, BEAM + sunk + HANG - 2
    out += [
        *drawn,
        text(0, 176, "The bills", "ink strong"),
        named("read", rect(left - wide / 2, up - tall, wide, tall, READ)),
        named("reading", text(left, up - tall / 2 + 4, "reading", "paper", "middle")),
        named("users", rect(right - wide / 2, down - HEAVY, wide, HEAVY, WRITTEN)),
        named("users'", text(right, down - HEAVY / 2 + 4, "users", "paper", "middle")),
    ]
    out.append(text(left, up + 20, told["tokens"], "ink small", "middle"))
    if step < 4:
        out.append(text(right, down + 20, told["tokens"], "ink small", "middle"))
    else:
        out.append(text(right, down + 20, f"{told['tokens']} + RL", "ink small", "middle"))
        top = down - 2 * HEAVY - 2
        out += [
            rect(right - wide / 2, top, wide, HEAVY, LEARNED),
            text(right, top + HEAVY / 2 + 4, "RL", "paper", "middle"),
        ]
    return out


three_bills = Schematic(
    "three-bills",
    "Three bills of one life",
    height=378,
    numbers={
        "eta": Number("= 0.3", unit="%"),
        "train": Number("= 3", 1),
        "decode": "= 1 / {eta}",
        "learn": "= {decode} + {train}",
        "tokens": Number("= 200e12", 2, "token"),
    },
    steps=[
        Step(
            "A token of the training text goes through the model forward, and then the error comes"
            " back, which takes twice as much arithmetic. Together that is the work of three"
            " forward passes.",
            "A bar of three equal parts: one for the forward pass, two for the way back.",
        ),
        Step(
            "A token that the model writes needs one forward pass. But a conversation gets"
            " one token at a time, and most of the step is waiting, mostly for memory. At {eta} of"
            " training's efficiency, one pass takes as long as {decode} passes of training.",
            "A second bar: one part is the forward pass, and the rest is waiting for memory. It"
            " ends a little beyond the first bar, at {decode} parts.",
        ),
        Step(
            "So a token written costs about as much as a token read. Let a model read {tokens} in"
            " training and write as many for its users, and the two bills nearly balance.",
            "A balance. On its left pan lies the bill for reading {tokens}, on its right pan that"
            " for writing as many for users. The right one is a little lower.",
        ),
        Step(
            "In reinforcement learning (RL) the model writes as well. A token that is thrown away"
            " costs {decode} passes, one that it learns from {learn}. If RL costs as much as each"
            " of the others, as the lecturer guesses, the right pan grows twice as heavy.",
            "A third bar is about as long as the first two together: a forward pass, waiting, and"
            " three parts of training; {learn} in all. The box of RL lies on the box of the users,"
            " and the balance tips to the right.",
        ),
    ],
    draw=_draw_bills,
    caption="Passes and bills to scale, with decoding at {eta} of the efficiency of training. The"
    " wait differs from service to service; this is the lecturer's guess. At short"
    " contexts all bills grow in proportion to the weights, so at the same efficiency the picture"
    " is the same for every size.",
)

# Lives of one quality -----------------------------------------------------------------------------

SIZES = ("twin", "large", "best", "lecture", "small")  # from the largest
BASE, ACROSS, UP, GAP = 286.0, 0.3, 0.4, 12.0  # pixels a billion weights, and a trillion tokens
SHOWN = {
    1: (("twin",), False),
    2: (("twin", "lecture"), False),
    3: (("twin", "lecture"), True),
    4: (("twin", "large", "best", "lecture"), True),
    5: (SIZES, True),
}


def _draw_lives(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told, value = schematic.told, schematic.value
    shown, served = SHOWN[step]
    out = [
        line(0, BASE + 0.5, WIDTH, BASE + 0.5, "soft"),
        text(0, 13, "width: weights", "ink"),
        text(0, 30, "height: tokens", "ink"),
        rect(0, 42, 11, 11, READ),
        text(17, 52, "read in training", "ink"),
        text(WIDTH / 2, BASE + 34, "billion weights", "ink small", "middle"),
        text(WIDTH / 2, BASE + 72, "trillion tokens read", f"{READ} small", "middle"),
    ]
    if served:
        out += [rect(0, 61, 11, 11, WRITTEN), text(17, 71, "written for users", "ink")]
    x = 0.0
    for name in SIZES:
        wide = value(f"n_{name}") * ACROSS
        if name in shown:
            tall = value(f"d_{name}") * UP
            top = BASE - tall
            out.append(rect(x, top, wide, tall, READ))
            if served:
                more = value("written") * UP
                top -= more
                out.append(rect(x, top, wide, more, WRITTEN))
                if name == "twin":
                    middle, at = x + wide / 2, top + more / 2
                    out += [
                        text(middle, at - 4, "counts like reading", "paper small", "middle"),
                        text(
                            middle, at + 12, f"{told['written']} trillion", "paper small", "middle"
                        ),
                    ]
            cost = told[f"life_{name}" if served else f"read_{name}"]
            out.append(
                named(f"{name} {cost}", text(x + wide / 2, top - 6, f"${cost}M", "ink", "middle"))
            )
            out.append(text(x + wide / 2, BASE + 18, told[f"n_{name}"], "ink", "middle"))
            out.append(text(x + wide / 2, BASE + 56, told[f"d_{name}"], READ, "middle"))
        x += wide + GAP
    return out


_FIT = "fit=besiroglu"


def _read(name: str) -> dict[str, str | Number]:
    """Return what it costs to train a model, in millions of dollars."""
    return {f"read_{name}": Number(f"= {{n_{name}}} * {{d_{name}}} * {{price}} / 1e6", 2)}


def _life(name: str, size: str) -> dict[str, str | Number]:
    """Return a life in billions of weights, trillions of tokens and millions of dollars."""
    reach = f"[tokens_to_reach validation_loss={{loss}} active_parameters={size} {_FIT}]"
    return {
        f"n_{name}": Number(f"= {size} / 1e9", 3),
        f"d_{name}": Number(f"= {reach} / 1e12", 2),
        f"life_{name}": Number(
            f"= {{n_{name}}} * ({{d_{name}}} + {{written}}) * {{price}} / 1e6", 3
        ),
    }


_RUN = "active_parameters=100e9 pretraining_tokens=200e12"
one_quality = Schematic(
    "one-quality",
    "Five lives of the same quality",
    height=362,
    numbers={
        "price": Number("= 10000", 2, "$"),
        "loss": f"fitted_loss {_RUN} {_FIT}",
        "tokens": Number("= 200e12", 2, "token"),
        "written": Number(
            "= 200 * [pretraining_per_inference_token decode_efficiency=0.3]", 3, "1"
        ),
        "twin_size": Number(f"matching_size {_RUN} {_FIT}", 3, "1"),
        **_life("twin", "{twin_size}"),
        **_read("twin"),
        **_life("large", "200e9"),
        **_life("best", "122e9"),
        **_life("lecture", "100e9"),
        **_read("lecture"),
        **_life("small", "90e9"),
    },
    steps=[
        Step(
            "This is the model that is cheapest to train to the quality we want:"
            " {n_twin} billion weights, and {d_twin} trillion tokens to read. The area is"
            " the bill, ${read_twin} million.",
            "A wide, very flat rectangle of {n_twin} billion weights, labelled ${read_twin}M.",
        ),
        Step(
            "The lecturer's model is as good with {n_lecture} billion weights. To make up for what"
            " is missing, it has to read {d_lecture} trillion tokens, and its training costs"
            " ${read_lecture} million. That looks like waste.",
            "Far to the right stands a narrow rectangle, {n_lecture} billion weights wide and many"
            " times as high, labelled ${read_lecture}M.",
        ),
        Step(
            "Now each of them writes {tokens}. Their bill is that of reading {written} trillion, so"
            " both rectangles grow by the same height. But the wide one grows by far more area, and"
            " its life costs more than twice as much.",
            "On both rectangles stands a block of the same height. The wide one is now labelled"
            " ${life_twin}M, the narrow one ${life_lecture}M.",
        ),
        Step(
            "The cheapest lies between them. With {n_best} billion weights it has to"
            " read {d_best} trillion tokens, and its life costs ${life_best} million; with"
            " {n_large} billion it still costs ${life_large} million.",
            "Two more rectangles between the first two: {n_large} billion weights, ${life_large}M,"
            " and {n_best} billion weights, ${life_best}M.",
        ),
        Step(
            "Only a little narrower, at {n_small} billion weights, the rectangle shoots up to"
            " {d_small} trillion tokens of training and ${life_small} million. On that side the"
            " bill soon gets out of hand.",
            "At the far right the narrowest and tallest rectangle: {n_small} billion weights,"
            " ${life_small}M.",
        ),
    ],
    draw=_draw_lives,
    caption="Areas to scale, at {price} for a billion weights times a trillion tokens read. How"
    " much a model has to read for the same quality is taken from the refit of a law that was"
    " fitted to smaller models; by the law as published the first rectangle is narrower, and three"
    " times as expensive to train. All five are taken to decode at the same efficiency.",
)
