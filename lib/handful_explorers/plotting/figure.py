"""Draw the static picture of an explorer with matplotlib.

It has the colours and labels of the interactive one.

`inline_svg` makes markup that a strict Content-Security-Policy allows (no style attributes, no
style element) and that follows the page's light or dark theme: explorer.css repaints the colours
below by attribute.
"""

from __future__ import annotations

import html
import io
import math
import re
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from handful.symbolic.quantities import find
from handful.units import axis_title, format_ticks

from . import labels, scenes
from .describe import told, written
from .scenes import shapes
from .style import DASHES, GRID, INK, PALETTE, PLAIN, SOFT, ticks

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    import numpy as np
    from matplotlib.figure import Figure

    from .declare import Points, Scale, Shade
    from .explorer import Explorer


def extent(
    values, log: bool, low: float | None, high: float | None, leading=()
) -> tuple[float, float]:
    """Return the ends of an axis; a log axis leaves out what lies far below the leading curves."""
    import numpy as np

    kept = values[np.isfinite(values) & ((values > 0) if log else True)]
    if kept.size == 0:
        return (low or 1.0, high or 10.0)
    a, b = float(kept.min()), float(kept.max())
    if log:
        if len(leading):
            a = max(a, float(np.min(leading)) / 30)
        a, b = a / 1.25, b * 1.25
        if b / a < 10:
            a, b = math.sqrt(a * b / 10), math.sqrt(a * b * 10)
    else:
        b += (b - min(a, 0)) * 0.06 or 1.0
        a = min(a, 0.0)
    return (a if low is None else low, b if high is None else high)


def quiet_axes(figure, place: tuple[float, float, float, float], size: float = 9):
    """Add axes with the book's look at a place of the figure, and return them.

    The place is (left, bottom, width, height) in shares; `size` is that of the labels in points.
    """
    axes = figure.add_axes(place)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(SOFT)
    axes.tick_params(colors=SOFT, labelsize=size, length=3)
    axes.grid(True, color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    return axes


def draw(explorer: Explorer, state: dict[str, Any], width: float, height: float) -> Figure:
    """Return the explorer's Figure at a full state.

    Width and height are in inches; a scene has its own height.
    """
    import matplotlib

    with matplotlib.rc_context(PLAIN):
        return _draw(explorer, state, width, height)


def _draw(explorer: Explorer, state: dict[str, Any], width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    if explorer.kind in scenes.KINDS:
        tall, drawn = scenes.find(explorer.kind).picture(explorer.values(**state), 720)
        figure = Figure(figsize=(width, width * tall / 720), layout=None)
        shapes.draw(figure.add_axes((0, 0, 1, 1)), tall, drawn, 720)
        return figure
    figure = Figure(figsize=(width, height), layout=None)
    axes = quiet_axes(figure, (0.085, 0.13, 0.69, 0.78))
    _curves(axes, explorer, state)
    return figure


def _curves(axes, explorer: Explorer, state: dict[str, Any]) -> None:
    """Draw a plot of curves: axes, curves, marks, points, and names at the right."""
    values = explorer.values(**state)
    ends = _set_axes(axes, explorer, values)
    lines, names = _draw_curves(axes, explorer, values, ends)
    frame = tuple(axes.get_window_extent().extents * 72 / axes.figure.dpi)
    taken = [
        (x - 3, y - 3, x + 3, y + 3)
        for place in _measured(explorer, values)
        for x, y in [_point(axes, *place)]
    ]
    _rules(axes, explorer, values, frame, taken, lines)
    _rings(axes, explorer, values, frame, taken, lines)
    for i, group in _groups(explorer, values):
        names.append((frame[1], f"○ {group.label}", PALETTE[i % len(PALETTE)]))
    _write_names(axes, names, frame)


def _groups(explorer: Explorer, values: dict[str, Any]) -> list[tuple[int, Points]]:
    """Return the groups of points that are shown, each with the place of its colour."""
    first = len(explorer.curves)
    return [(first + i, explorer.points[i]) for i in values["points"]]


def _measured(explorer: Explorer, values: dict[str, Any]) -> list[tuple[float, float]]:
    """Return (x, y) of every measured point."""
    return [point[:2] for _, group in _groups(explorer, values) for point in group.at]


def _set_axes(axes, explorer: Explorer, values: dict[str, Any]) -> tuple[float, float]:
    """Set the ends, ticks and titles of both axes; return the ends of x."""
    x, y, y_unit = explorer.sweep, explorer.scale, explorer.y_unit
    x_title, x_unit, x_log, ends = x.title, find(x.name).unit, x.log, (x.low, x.high)
    if explorer.across:
        formula, scale = explorer.across
        x_title, x_unit, x_log = scale.title, scale.unit or formula.gives.unit, scale.log
        ends = _across_ends(scale, values)
    low, high = _heights(explorer, values)
    axes.set(
        xscale="log" if x_log else "linear",
        yscale="log" if y.log else "linear",
        xlim=ends,
        ylim=(low, high),
    )
    at = ticks(low, high, y.log, y_unit, 9)
    said = format_ticks(at, y_unit, y.log)
    axes.yaxis.set_ticks(at, said)
    _widen_margin(axes, max(labels.width(text, 9) for text in said))
    axes.xaxis.set_ticks(*_ticks_that_fit(axes, ends, x_log, x_unit))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([], minor=True)
    # As in the browser: what the height means stands above it, to be read without turning the head.
    axes.set_xlabel(axis_title(x_title, x_unit), color=INK, fontsize=9.5, loc="right")
    axes.annotate(
        axis_title(y.title, y_unit),
        (0, 1),
        xycoords=("figure fraction", "axes fraction"),
        xytext=(0, 9),
        textcoords="offset points",
        color=INK,
        fontsize=9.5,
    )
    return ends


def _widen_margin(axes, widest: float) -> None:
    """Move the left edge of the plot so that numbers of a width in points stand beside it."""
    place, wide = axes.get_position(), axes.figure.get_figwidth() * 72
    left = max(place.x0, (1.1 * widest + 10) / wide)
    axes.set_position((left, place.y0, place.x1 - left, place.height))


def _ticks_that_fit(
    axes, ends: tuple[float, float], log: bool, unit: str
) -> tuple[list[float], list[str]]:
    """Return as many ticks of x as stand beside each other with room between, and their labels."""
    for most in (6, 5, 4, 3, 2):
        at = ticks(*ends, log, unit, most)
        said = format_ticks(at, unit, log)
        places = [_point(axes, value, axes.get_ylim()[0])[0] for value in at]
        halves = [0.6 * labels.width(text, 9) for text in said]
        if all(
            places[i] - places[i - 1] > halves[i] + halves[i - 1] + 4 for i in range(1, len(at))
        ):
            break
    return at, said


def _across_ends(scale: Scale, values: dict[str, Any]) -> tuple[float, float]:
    """Return the ends of a parametric plot's x axis."""
    import numpy as np

    everything = np.concatenate([*values["across"].values()])
    return extent(everything, scale.log, scale.min, scale.max)


def _stacked(explorer: Explorer, values: dict[str, Any]) -> list[str]:
    """Return the ids of the curves that lie on each other as areas, lowest first."""
    if not explorer.stack:
        return []
    return [c.id for c in explorer.curves if c.role == "part" and c.id in values["curves"]]


def _heights(explorer: Explorer, values: dict[str, Any]) -> tuple[float, float]:
    """Return the ends of the y axis, between which lie curves, bands, areas and points."""
    import numpy as np

    curves, scale = values["curves"], explorer.scale
    total = sum(
        (curves[key] for key in _stacked(explorer, values)), np.zeros(explorer.sweep.points)
    )
    bands = [
        ys * shade.band[1]
        for key, shade in values["bands"].items()
        if shade.band
        for _, ys in [_shaded(values["x"], curves[key], shade)]
    ]
    spots = [y for _, y in _measured(explorer, values)]
    everything = np.concatenate([*curves.values(), *bands, total[total > 0], spots])
    everything = np.append(everything, limits_near(explorer, values, everything))
    strong = [curves[c.id] for c in explorer.curves if c.id in curves and c.role != "part"]
    lead = np.concatenate([*strong, []])
    return extent(everything, scale.log, scale.min, scale.max, lead[np.isfinite(lead) & (lead > 0)])


def limits_near(explorer: Explorer, values: dict[str, Any], heights) -> list[float]:
    """Return the level limits that an axis shows beside what reaches these heights.

    Those are within three times the highest; one far above would press the curves flat.
    """
    import numpy as np

    reached = heights[np.isfinite(heights)]
    found = [
        values["marks"][mark.label] for mark in explorer.marks if mark.limit and mark.axis == "y"
    ]
    return [limit for limit in found if reached.size and limit <= 3 * float(reached.max())]


def _shaded(xs, ys, shade: Shade) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of a curve along which its band is drawn."""
    low, high = shade.over or (-math.inf, math.inf)
    kept = (xs >= low) & (xs <= high)
    return xs[kept], ys[kept]


def _draw_curves(
    axes, explorer: Explorer, values: dict[str, Any], ends: tuple[float, float]
) -> tuple[list, list[tuple[float, str, str]]]:
    """Draw the curves with their bands and areas.

    Return the lines, and (height, words, colour) of the name of each that ends within the frame;
    lines and heights in points of the figure.
    """
    import numpy as np

    low, high = axes.get_ylim()
    stacked, base = _stacked(explorer, values), np.zeros(explorer.sweep.points)
    lines, names = [], []
    for i, curve in enumerate(explorer.curves):
        if curve.id not in values["curves"]:
            continue
        colour = SOFT if curve.role == "reference" else PALETTE[i % len(PALETTE)]
        xs, ys = values["across"].get(curve.id, values["x"]), values["curves"][curve.id]
        if curve.id in stacked:
            axes.fill_between(xs, base, base + ys, color=colour, alpha=0.22, linewidth=0)
            ys = base = base + ys
        shade = values["bands"][curve.id]
        if shade.band:
            across, along = _shaded(xs, ys, shade)
            low_edge, high_edge = (along * factor for factor in shade.band)
            axes.fill_between(across, low_edge, high_edge, color=colour, alpha=0.14, linewidth=0)
        axes.plot(
            xs,
            ys,
            color=colour,
            linewidth=2.6 if curve.role == "total" else 1.5,
            dashes=DASHES[i % len(DASHES)] or (None, None),
        )
        lines.append(_points(axes, xs, ys))
        inside = np.flatnonzero(
            np.isfinite(ys) & (ys >= low) & (ys <= high) & (xs >= ends[0]) & (xs <= ends[1])
        )
        if inside.size:
            last = inside[-1]
            names.append((_point(axes, xs[last], ys[last])[1], curve.label, colour))
    return lines, names


def _write_names(axes, names: list[tuple[float, str, str]], frame: labels.Box) -> None:
    """Write names to the right of the frame, each near its height and none on another."""
    wrapped = [textwrap.wrap(label, 22) for _, label, _ in names]
    heights = [10.2 * len(rows) + 3.5 for rows in wrapped]
    # None of them beside the labels of the axis below.
    middles = [
        max(y, frame[1] + tall / 2 - 2) for (y, _, _), tall in zip(names, heights, strict=True)
    ]
    middles = labels.spread(middles, heights, frame[3] + 7)
    for y, rows, (_, _, colour) in zip(middles, wrapped, names, strict=True):
        axes.annotate(
            "\n".join(rows),
            (frame[2] + 5.4, y),
            xycoords="figure points",
            color=colour,
            fontsize=9,
            va="center",
            linespacing=0.95,
            fontweight="bold",
        )


def _point(axes, x: float, y: float) -> tuple[float, float]:
    """Return a place of the plot in points of the figure."""
    import numpy as np

    (left,), (bottom,) = _points(axes, np.array([x]), np.array([y]))
    return left, bottom


def _points(axes, xs, ys):
    """Return the finite part of a line of the plot, in points of the figure."""
    import numpy as np

    kept = np.isfinite(xs) & np.isfinite(ys)
    return tuple(
        axes.transData.transform(np.column_stack([xs[kept], ys[kept]])).T * 72 / axes.figure.dpi
    )


def _write(axes, place: labels.Place, text: str, size: float, colour: str) -> None:
    axes.annotate(
        text,
        (place.x, place.y),
        xycoords="figure points",
        ha=place.align,
        color=colour,
        fontsize=size,
    )


def _rules(
    axes, explorer: Explorer, values: dict[str, Any], frame: labels.Box, taken: list, lines: list
) -> None:
    """Draw the rules with their words; add the words to `taken` and the rules to `lines`."""
    import numpy as np

    found = []
    for mark in explorer.marks:
        (value, end), upright = values["places"][mark.label], mark.axis == "x"
        if not math.isfinite(value) or not told(values["marks"][mark.label], mark):
            continue
        line, span = (axes.axvline, axes.axvspan) if upright else (axes.axhline, axes.axhspan)
        line(value, color=SOFT, linewidth=1, dashes=(3, 3))
        if mark.band:
            span(value * mark.band[0], value * mark.band[1], color=SOFT, alpha=0.12, linewidth=0)
        low, high = axes.get_xlim() if upright else axes.get_ylim()
        strip = (low, min(value, high)) if end < 0 else (max(value, low), high)
        if mark.limit and strip[0] < strip[1]:
            span(*strip, facecolor="none", edgecolor=SOFT, alpha=0.35, hatch="//")
        if low <= value <= high:
            at = np.full(100, value)
            along = np.linspace(*(frame[1::2] if upright else frame[::2]), 100)
            other = np.full(100, (axes.get_ylim() if upright else axes.get_xlim())[0])
            place = _points(axes, at, other)[0] if upright else _points(axes, other, at)[1]
            lines.append((place, along) if upright else (along, place))
            words = f"{mark.label} {written(mark, values['marks'][mark.label])}"
            found.append((words, place[0], upright))
    for text, at, upright in found:
        places = labels.along_a_rule(at, upright, 8.5, frame)
        place = labels.choose(places, text, 8.5, frame, taken, lines) or places[0]
        taken.append(place.box(text, 8.5))
        _write(axes, place, text, 8.5, SOFT)


def _rings(
    axes, explorer: Explorer, values: dict[str, Any], frame: labels.Box, taken: list, lines: list
) -> None:
    """Draw rings with their names.

    Where they crowd, some keep their names and the others are in the table.
    """
    named: list[tuple[float, float, str, str]] = []
    for i, group in _groups(explorer, values):
        colour = PALETTE[i % len(PALETTE)]
        axes.plot(
            [p[0] for p in group.at],
            [p[1] for p in group.at],
            "o",
            color=colour,
            markersize=4,
            fillstyle="none",
        )
        named += [(px, py, name[0], colour) for px, py, *name in group.at if name]
    for px, py, label, colour in named:
        x, y = _point(axes, px, py)
        place = labels.choose(labels.by_a_dot(x, y, 7.5), label, 7.5, frame, taken, lines)
        if place is not None:
            taken.append(place.box(label, 7.5))
            _write(axes, place, label, 7.5, colour)


_FONT = re.compile(r"(?:^|;)\s*font:\s*(?:[a-z0-9]+ )*?([\d.]+)px[^;]*")
# Attributes that hold places and lengths; every other attribute and all text stay as they were
# written.
_LENGTHS = frozenset(
    ("d", "x", "y", "width", "height", "viewBox", "transform", "stroke-width", "stroke-dasharray")
)


def inline_svg(explorer: Explorer) -> str:
    """Return the explorer's figure as an SVG element."""
    return as_svg(explorer.figure, explorer.name)


def as_svg(figure: Callable[[], Figure], name: str) -> str:
    """Return the figure that `figure()` draws as an SVG element.

    It has presentation attributes only, and ids of its own.

    Places and lengths, in points of 1/72 inch, are rounded to one decimal; text is what the figure
    says, to the letter.

    Parameters
    ----------
    figure : function
        Takes nothing and returns a matplotlib Figure.
    name : str
        Begins each id of the element, since several figures share a page; letters, digits and
        hyphens.

    >>> from matplotlib.figure import Figure
    >>> def note():
    ...     made = Figure(figsize=(1, 1))
    ...     _ = made.text(1 / 3, 0.5, "0.125 < $0.25 or $0.5")
    ...     return made
    >>> svg = as_svg(note, "note")
    >>> svg[svg.index(' x="') : svg.index("</text>")]
    ' x="24" y="36" transform="rotate(-0 24 36)">0.125 &lt; $0.25 or $0.5'
    """
    from xml.etree import ElementTree

    import matplotlib

    with (
        matplotlib.rc_context(PLAIN),
        matplotlib.rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": name, "path.simplify": True}
        ),
    ):
        out = io.BytesIO()
        figure().savefig(out, format="svg", transparent=True)
    root = ElementTree.fromstring(out.getvalue())
    for node in root.iter():
        node.attrib = {
            key: value for pair in node.attrib.items() for key, value in _attributes(*pair)
        }
    # Only ids that are referred to.
    linked = (
        re.fullmatch(r"(?:url\()?#([\w-]+)\)?", value)
        for node in root.iter()
        for value in node.attrib.values()
    )
    return _markup(root, name, {link[1] for link in linked if link})


def _attributes(key: str, value: str) -> list[tuple[str, str]]:
    """Return an attribute as pages write it.

    A style attribute becomes presentation attributes, which no policy forbids.
    """
    if key == "style":
        size = _FONT.search(
            value
        )  # `font` is shorthand, which no attribute takes; the page's own family will do
        pairs = [part.split(":", 1) for part in _FONT.sub("", value).split(";") if ":" in part]
        found = [
            (name.strip(), words.strip()) for name, words in pairs if name.strip() != "font-family"
        ]
        return [
            pair
            for one in found + ([("font-size", f"{size[1]}px")] if size else [])
            for pair in _attributes(*one)
        ]
    key = key.replace("{http://www.w3.org/1999/xlink}", "xlink:")
    if key in _LENGTHS:
        value = re.sub(
            r"-?\d+\.\d{2,}",
            lambda m: f"{float(m[0]):.1f}".removesuffix(".0"),
            " ".join(value.split()),
        )
    return [(key, value)]


def _markup(node: Element, name: str, used: set[str]) -> str:
    """Return a node and what it holds as markup of a page."""
    tag = node.tag.rpartition("}")[2]
    if tag in ("metadata", "style") or (
        tag == "defs" and all(child.tag.endswith("}style") for child in node)
    ):
        return ""
    if tag == "svg":
        head = (
            f'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{node.get("viewBox")}" '
            'aria-hidden="true"'
        )
        return f"<svg {head}>{''.join(_markup(child, name, used) for child in node)}</svg>"
    written = ""
    for key, value in node.attrib.items():
        if key == "id":
            if value not in used:
                continue
            value = f"{name}-{value}"
        elif key == "xlink:href" or value.startswith("url(#"):
            value = value.replace("#", f"#{name}-", 1)
        written += f' {key}="{html.escape(value)}"'
    # Between other tags there is nothing but indentation.
    inside = html.escape(node.text or "", quote=False) if tag in ("text", "tspan") else ""
    inside += "".join(_markup(child, name, used) for child in node)
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"
