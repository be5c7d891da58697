"""Shapes as SVG that a strict Content-Security-Policy allows: presentation attributes only.

Colours are those of paper; ``explorer.css`` repaints them by attribute, as it does still plots.
Shapes are those of ``plotting/scenes/shapes.py``, with the manner ``round`` for boxes, and three
more that only these drawings have: `dots`, `strokes` and `arrow`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..plotting.scenes.shapes import COLOURS
from ..plotting.style import GRID, INK, PALETTE, SOFT

Shape = Mapping[str, Any]

PAINT = dict(zip(COLOURS, PALETTE, strict=False)) | {
    "ink": INK,
    "soft": SOFT,
    "grid": GRID,
    "paper": "#ffffff",
}
SIZE, SMALL = 13, 12  # of text, in pixels of the drawing
FILLED, STROKED = ("rect", "circle", "text"), ("line", "path", "dots", "strokes", "arrow")
# What of a shape may differ from step to step, and the property of CSS that it is.
PLACES = {
    "rect": {"x": "x", "y": "y", "w": "width", "h": "height"},
    "circle": {"x": "cx", "y": "cy", "r": "r"},
    "text": {"x": "", "y": ""},  # by a transform, since CSS has no place of a text
}


def dots(x: float, y: float, count: int, pitch: float, size: float, c: str) -> dict[str, Any]:
    """Return a row of discs, the first centred at (x, y), as one element."""
    return {"t": "dots", "x": x, "y": y, "n": count, "pitch": pitch, "size": size, "c": c}


def strokes(
    x: float, y: float, count: int, pitch: float, size: tuple[float, float], c: str
) -> dict[str, Any]:
    """Return a row of boxes of a width and a height, the first's corner at (x, y), as one."""
    wide, tall = size
    box = {"t": "strokes", "x": x, "y": y + tall / 2, "n": count, "pitch": pitch}
    return {**box, "wide": wide, "size": tall, "c": c}


def arrow(x1: float, y1: float, x2: float, y2: float, c: str = "soft", w: float = 1.5) -> dict:
    """Return an arrow from the first point to the second."""
    return {"t": "arrow", "x1": x1, "y1": y1, "x2": x2, "y2": y2, "c": c, "w": w}


def still(shapes: Sequence[Shape], width: float, height: float) -> str:
    """Return one picture.

    >>> still([{"t": "rect", "x": 0, "y": 0, "w": 10, "h": 5.25, "c": "c0 pale"}], 20, 10)
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10" aria-hidden="true"><rect x="0"
    y="0" width="10" height="5.2" fill="#0068a8" fill-opacity=".4"/></svg>'
    """
    return _svg(width, height, "".join(element(shape) for shape in shapes))


def stepped(pictures: Sequence[Sequence[Shape]], width: float, height: float) -> str:
    """Return the last picture, with the state of each element in each step.

    ``data-steps`` has a part for each step, parted by ``|``: what CSS declares of the element, and
    nothing where it is as in the last step that shows it.  A part begins with ``-`` where the
    element is away; it waits in the place where it is shown next.  Elements that the last picture
    lacks are hidden.

    >>> one = {"t": "circle", "x": 1, "y": 2, "r": 3, "c": "c0", "k": "ball"}
    >>> stepped([[one], [{**one, "x": 9}], []], 20, 10).partition("<circle ")[2][:-8]
    'cx="9" cy="2" r="3" fill="#0068a8" visibility="hidden" data-steps="cx:1px||-"'

    Raises ValueError where an element changes in more than its place.
    """
    order = _order(pictures)
    found = []
    for key in order:
        states = [next((s for s in shapes if identity(s) == key), None) for shapes in pictures]
        base = next(state for state in reversed(states) if state is not None)
        parts = [_part(states, step, base) for step in range(len(states))]
        more = ' visibility="hidden"' if states[-1] is None else ""
        if any(parts):
            more += f' data-steps="{"|".join(parts)}"'
        found.append(element(base, more))
    return _svg(width, height, "".join(found))


def _part(states: Sequence[Shape | None], step: int, base: Shape) -> str:
    """Return what an element is in a step, counted from 0."""
    if (state := states[step]) is not None:
        return _difference(state, base)
    shown = [s for s in (*states[step:], *reversed(states[:step])) if s is not None]
    return f"-{_difference(shown[0], base)}"


def identity(shape: Shape) -> str:
    """Return what tells an element of all steps from others: its key, or all that it is."""
    return shape.get("k") or json.dumps(shape, sort_keys=True)


def _order(pictures: Sequence[Sequence[Shape]]) -> list[str]:
    """Return the elements of all pictures; each comes after what it first lay on."""
    order: list[str] = []
    for shapes in pictures:
        at = 0
        keys = [identity(shape) for shape in shapes]
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"a picture has the element {twice} twice.")
        for key in keys:
            if key not in order:
                order.insert(at, key)
            at = order.index(key) + 1
    return order


def _difference(state: Shape, base: Shape) -> str:
    """Return what CSS declares of an element where it is not as drawn."""
    places = PLACES.get(base["t"], {})
    changed = [key for key in {**state, **base} if state.get(key) != base.get(key)]
    if wrong := [key for key in changed if key not in places]:
        raise ValueError(f"{identity(base)} changes in {', '.join(wrong)}; only places may change.")
    if not changed:
        return ""
    if base["t"] == "text":
        dx, dy = state["x"] - base["x"], state["y"] - base["y"]
        return f"transform:translate({_n(dx)}px,{_n(dy)}px)"
    return ";".join(f"{places[key]}:{_n(state[key])}px" for key in places if key in changed)


def element(shape: Shape, more: str = "") -> str:
    """Return the element of a shape; `more` is written among its attributes."""
    kind, manners = shape["t"], shape["c"].split()
    colour = next((PAINT[word] for word in manners if word in PAINT), SOFT)
    strength = ".4" if "pale" in manners else ".16" if "faint" in manners else ""
    outline = kind in STROKED or "outline" in manners
    paint = f' fill="none" stroke="{colour}"' if outline else f' fill="{colour}"'
    if strength:
        paint += f' {"stroke" if outline else "fill"}-opacity="{strength}"'
    if outline:
        wide = shape.get("w") if kind in ("path", "arrow") else shape.get("size")
        paint += f' stroke-width="{_n(wide or (3 if "thick" in manners else 1.2))}"'
    if "dash" in manners:
        paint += ' stroke-dasharray="4 3"'
    if kind == "text":
        return _text(shape, manners, paint, more)
    tag, attributes = _geometry(shape)
    if kind == "rect" and "round" in manners:
        attributes += ' rx="4"'
    return f"<{tag} {attributes}{paint}{more}/>"


def _geometry(shape: Shape) -> tuple[str, str]:
    """Return the name of a shape's element, and the attributes that place it."""
    kind = shape["t"]
    if kind in PLACES:
        places = PLACES[kind].items()
        return kind, " ".join(f'{name}="{_n(shape[key])}"' for key, name in places)
    if kind == "line":
        return kind, " ".join(f'{key}="{_n(shape[key])}"' for key in ("x1", "y1", "x2", "y2"))
    if kind == "strokes":
        end = shape["x"] + (shape["n"] - 1) * shape["pitch"] + shape["wide"]
        gaps = f"{shape['wide']:.3f} {shape['pitch'] - shape['wide']:.3f}"
        return "path", (
            f'd="M{_n(shape["x"])} {_n(shape["y"])}H{end:.2f}" stroke-dasharray="{gaps}"'
        )
    if kind == "dots":
        end, y = shape["x"] + (shape["n"] - 1) * shape["pitch"] + 0.01, _n(shape["y"])
        return "path", (
            f'd="M{_n(shape["x"])} {y}H{end:.2f}" stroke-linecap="round" '
            f'stroke-dasharray="0 {_n(shape["pitch"])}"'
        )
    points = _arrow(shape) if kind == "arrow" else [shape["p"]]
    lines = "".join("M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in line) for line in points)
    return "path", f'd="{lines}"'


def _arrow(shape: Shape) -> list[list[tuple[float, float]]]:
    """Return the shaft and the head of an arrow, as lines through points."""
    x1, y1, x2, y2 = (shape[key] for key in ("x1", "y1", "x2", "y2"))
    turn, long = math.atan2(y2 - y1, x2 - x1), 3 + 1.6 * shape["w"]
    ends = [
        (x2 - long * math.cos(turn + side), y2 - long * math.sin(turn + side))
        for side in (0.5, -0.5)
    ]
    return [[(x1, y1), (x2, y2)], [ends[0], (x2, y2), ends[1]]]


def _text(shape: Shape, manners: Sequence[str], paint: str, more: str) -> str:
    if "small" in manners:
        paint += f' font-size="{SMALL}"'
    if "strong" in manners:
        paint += ' font-weight="600"'
    if shape["a"] != "start":
        paint += f' text-anchor="{shape["a"]}"'
    place = f'x="{_n(shape["x"])}" y="{_n(shape["y"])}"'
    return f"<text {place}{paint}{more}>{escape(shape['s'], quote=False)}</text>"


def _svg(width: float, height: float, inside: str) -> str:
    head = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}"'
    size = f' font-size="{SIZE}"' if "<text" in inside else ""
    return f'<svg {head} aria-hidden="true"{size}>{inside}</svg>'


def _n(value: float) -> str:
    """Return a length to a tenth, or to a hundredth where it is short.

    >>> _n(12.345), _n(3.0), _n(0.714)
    ('12.3', '3', '0.71')
    """
    return f"{value:.{2 if abs(value) < 2 else 1}f}".rstrip("0").rstrip(".") if value else "0"
