"""Shapes of a scene, in pixels from the top left, and matplotlib's drawing of them.

``scenes/shapes.js`` is the twin.

A shape is a dict, the same in both languages.  Its class ``c`` is a list of words: a colour (``c0``
… ``c7``, ``ink``, ``soft``, ``grid``, ``paper``, ``accent``) and manners (``pale``, ``faint``,
``outline``, ``dash``, ``thick``, ``strong``, ``small``).

>>> rect(0, 0, 10, 5, "c0 pale")
{'t': 'rect', 'x': 0, 'y': 0, 'w': 10, 'h': 5, 'c': 'c0 pale'}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..style import GRID, INK, PALETTE, SOFT

COLOURS = ("c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "ink", "soft", "grid", "paper", "accent")
MANNERS = ("pale", "faint", "outline", "dash", "thick", "strong", "small")
_COLOUR = dict(zip(COLOURS, PALETTE, strict=False)) | {
    "ink": INK,
    "soft": SOFT,
    "grid": GRID,
    "paper": "#ffffff",
    "accent": PALETTE[0],
}
SIZE = 13  # of text, in pixels; small is 11


def rect(x: float, y: float, w: float, h: float, c: str) -> dict:
    """Return a box."""
    return {"t": "rect", "x": x, "y": y, "w": w, "h": h, "c": c}


def line(x1: float, y1: float, x2: float, y2: float, c: str = "soft") -> dict:
    """Return a line of one pixel, or of three (`thick`)."""
    return {"t": "line", "x1": x1, "y1": y1, "x2": x2, "y2": y2, "c": c}


def path(points: Sequence[tuple[float, float]], c: str, w: float = 1.5) -> dict:
    """Return a line through points, `w` pixels wide."""
    return {"t": "path", "p": [list(point) for point in points], "w": w, "c": c}


def circle(x: float, y: float, r: float, c: str) -> dict:
    """Return a disc, or a ring (`outline`)."""
    return {"t": "circle", "x": x, "y": y, "r": r, "c": c}


def text(x: float, y: float, s: str, c: str = "soft", a: str = "start") -> dict:
    """Return words on a base line; `a` is start, middle or end."""
    return {"t": "text", "x": x, "y": y, "s": s, "c": c, "a": a}


def draw(axes, height: float, shapes: Sequence[dict], width: float) -> None:
    """Draw the shapes on matplotlib axes so that they fill them."""
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    per_pixel = axes.figure.get_figwidth() * 72 / width  # points
    for order, shape in enumerate(shapes):  # later ones lie on earlier ones
        _draw_shape(axes, shape, per_pixel, order)


def _draw_shape(axes, shape: dict, per_pixel: float, order: int) -> None:
    from matplotlib.patches import Circle, Rectangle

    manners = shape["c"].split()
    paint: dict[str, Any] = {
        "color": next((_COLOUR[word] for word in manners if word in _COLOUR), SOFT),
        "alpha": 0.45 if "pale" in manners else 0.18 if "faint" in manners else 1,
        "zorder": order,
    }
    dashes = {"linestyle": (0, (4, 3)) if "dash" in manners else "solid"}
    match shape["t"]:
        case "rect":
            box = Rectangle((shape["x"], shape["y"]), shape["w"], shape["h"])
            axes.add_patch(_filled(box, paint, dashes, "outline" in manners, per_pixel))
        case "circle":
            disc = Circle((shape["x"], shape["y"]), shape["r"])
            axes.add_patch(_filled(disc, paint, dashes, "outline" in manners, per_pixel))
        case "line":
            ends = [shape["x1"], shape["x2"]], [shape["y1"], shape["y2"]]
            thick = (3 if "thick" in manners else 1) * per_pixel
            axes.plot(*ends, linewidth=thick, **paint, **dashes)
        case "path":
            xs, ys = zip(*shape["p"], strict=True) if shape["p"] else ((), ())
            axes.plot(xs, ys, linewidth=shape["w"] * per_pixel, **paint, **dashes)
        case _:
            axes.text(
                shape["x"],
                shape["y"],
                shape["s"],
                ha={"start": "left", "middle": "center", "end": "right"}[shape["a"]],
                va="baseline",
                fontsize=(11 if "small" in manners else SIZE) * per_pixel,
                fontweight="bold" if "strong" in manners else "normal",
                **paint,
            )


def _filled(patch, paint: dict[str, Any], dashes: dict, outline: bool, per_pixel: float):
    """Return a matplotlib patch in its colour: filled, or as an outline."""
    patch.set(
        facecolor="none" if outline else paint["color"],
        edgecolor=paint["color"] if outline else "none",
        linewidth=1.2 * per_pixel if outline else 0,
        alpha=paint["alpha"],
        zorder=paint["zorder"],
        **dashes,
    )
    return patch
