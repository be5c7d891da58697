"""Where reading overtakes computing as a conversation grows, and a price list laid over it.

Both axes are to scale: to the right the context, upwards the time that one token of an answer takes
a chip.  The price is drawn so that it meets the cost of a short conversation.
"""

from __future__ import annotations

from typing import Any

from ..plotting.scenes.shapes import circle, line, path, text
from .schematic import WIDTH, Number, Schematic, Step

LIST = "prices / gemini-3.1-pro-preview"
CHIP = 'hardware="GB200 NVL72" precision=fp8'
GUESSED = f"{CHIP} active_parameters={{active}}"
FLOOR, LEVEL = 206, 50  # the base line, and how high the computing stands above it
FARTHEST = 3  # times the threshold, as far as the lines go
MARK_UP = 1.2  # of the price as it is drawn, over the cost of a short conversation
RISE = 1.5  # of the price at its step
CROSSINGS = {"heavy": 1 / 3, "middle": 1, "light": 2}  # in thresholds
LETTERS = {"heavy": "heavy", "middle": "lighter", "light": "lighter still"}


def _x(thresholds: float) -> float:
    return WIDTH * thresholds / (FARTHEST + 0.25)


def _y(times: float) -> float:
    """Return the height of so many times the computing."""
    return FLOOR - LEVEL * times


def _reading(cache: str, colour: str) -> dict[str, Any]:
    """Draw the time to read a cache, as far as the picture goes."""
    end = min(FARTHEST, 3.6 * CROSSINGS[cache])
    return path([(0, FLOOR), (_x(end), _y(end / CROSSINGS[cache]))], colour, 2)


def _price(told: str) -> str:
    """Return a price as it fits beside its line."""
    return f"price {told.split()[0]} a million"


def _draw(step: int, schematic: Schematic) -> list[dict[str, Any]]:
    told = schematic.told
    out = [
        text(0, 13, "Time for one token of an answer", "ink strong"),
        line(0, FLOOR, WIDTH, FLOOR, "soft"),
        *(
            text(_x(n), FLOOR + 17, told[name], "soft small", anchor)
            for n, name, anchor in (
                (1, "threshold", "middle"),
                (2, "twice", "middle"),
                (3, "thrice", "middle"),
            )
        ),
        text(0, FLOOR + 35, "tokens of context", "soft small"),
        path([(0, _y(1)), (_x(3), _y(1))], "c3", 2),
    ]
    if step == 1:
        out.append(text(_x(3), _y(1) - 8, f"computing, {told['compute']}", "c3", "end"))
    if step == 2:
        out += [_reading(cache, "c2") for cache in CROSSINGS]
        out.append(text(_x(1.55), _y(3.35), "reading the cache", "c2"))
        out += [
            text(_x(end), _y(y), LETTERS[cache], "c2 small", "end")
            for cache, end, y in zip(CROSSINGS, (0.78, 1.85, 2.95), (2.6, 2.15, 1.6), strict=True)
        ]
        out += [circle(_x(cross), _y(1), 5, "c4") for cross in CROSSINGS.values()]
    if step > 2:
        out += [
            _reading("middle", "c2"),
            path([(0, _y(1)), (_x(1), _y(1)), (_x(3), _y(3))], "c4", 4),
            text(_x(2.02), _y(2.5), "cost", "c4 strong", "end"),
            text(_x(0.45), _y(0.12), "reading", "c2 small"),
            text(_x(3), _y(1) + 16, f"computing, {told['compute']}", "c3 small", "end"),
            text(_x(3), _y(3) - 8, told["thrice_compute"], "c4 small", "end"),
        ]
    if step > 3:
        low, high = _y(MARK_UP), _y(MARK_UP * RISE)
        out += [
            path([(0, low), (_x(1), low)], "ink", 2),
            path([(_x(1), high), (_x(3), high)], "ink", 2),
            line(_x(1), low, _x(1), high, "ink dash"),
            text(0, low - 8, _price(told["answers"]), "ink small"),
            text(_x(3), high + 14, _price(told["long_answers"]), "ink small", "end"),
        ]
    if step == 5:
        out += [
            circle(_x(MARK_UP * RISE), high, 5, "ink"),
            line(_x(3), high, _x(3), _y(3), "ink dash"),
            text(_x(3) - 6, (high + _y(3)) / 2 + 18, "gap", "ink small", "end"),
        ]
    return out


price_kink = Schematic(
    "price-kink",
    "A price that turns where two times cross",
    height=FLOOR + 42,
    numbers={
        "active": Number("= 1e11", 1),
        "threshold": Number(f"{LIST} / long_context_threshold_tokens", 6, "1"),
        "twice": Number("= 2 * {threshold}", 6),
        "thrice": Number("= 3 * {threshold}", 6),
        "answers": f"{LIST} / output_usd_per_mtok",
        "long_answers": f"{LIST} / long_context_output_usd_per_mtok",
        "thrice_cost": "cost_growth context={thrice} price_threshold={threshold}",
        "compute": f"compute_time batch=1 devices=1 {GUESSED}",
        "thrice_compute": Number("= {thrice_cost} * {compute}", unit="s"),
    },
    steps=[
        Step(
            "A chip computes one more token of an answer in {compute}, however long the"
            " conversation before it.",
            "A level line over a scale of context that goes up to {thrice} tokens: computing takes"
            " {compute} everywhere.",
        ),
        Step(
            "Meanwhile it reads the cache of the conversation, which takes twice as long for twice"
            " the context. The bytes of a token, which are secret, set the slope: a heavy cache"
            " crosses the level line early, a light one late.",
            "Three lines rise from the origin, for a heavy cache, a lighter one and a lighter one"
            " still. Dots mark where they cross the level line; the heaviest crosses first.",
        ),
        Step(
            "Take one cache. The slower of the two sets the pace, so a token costs the same up to"
            " the crossing. From there on its cost rises, and at {thrice} tokens it takes"
            " {thrice_compute}.",
            "The cost is drawn strong: it is level, at {compute}, up to the crossing at {threshold}"
            " tokens, and then follows the line of the cache upwards to {thrice_compute}.",
        ),
        Step(
            "Now lay the price list over it. If its step came much later, conversations just past"
            " the crossing would earn less than the others. An earlier step would earn more, but"
            " only until a rival sets a later one.",
            "A thin line, the price of answers, runs along the level part of the cost, at"
            " {answers}, and steps up at the crossing to {long_answers}.",
        ),
        Step(
            "Just beyond the step the price is above the cost. From the dot on it falls behind: at"
            " {thrice} tokens the cost is {thrice_cost} times what it was, the price half as much"
            " again.",
            "A dot marks where the rising cost comes up to the higher price. At the right end of"
            " the picture the cost, {thrice_compute}, is {thrice_cost} times what it was, the price"
            " has risen once, to {long_answers}, and a dashed line marks the gap between them.",
        ),
    ],
    draw=_draw,
    caption="One GB200 chip with arithmetic in fp8, a guess of {active} weights for each token, and"
    " a crowd so large that everybody\u2019s share of the weights can be left out, like"
    " attention\u2019s own arithmetic. The price is drawn a fifth above the cost of a short"
    " conversation, to compare their shapes; real ones are many times higher.",
)
