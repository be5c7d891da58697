"""Draw a server's measured steps over its batch, with floor and fit, for ``handful runs``.

The look is that of the book's still plots (`plotting.style`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from handful.units import format_ticks

from .plotting.figure import quiet_axes
from .plotting.style import INK, PALETTE, SOFT, ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from handful_evidence.own_server import Fit, Point

SUFFIXES = (".svg", ".png")


class PlotError(ValueError):
    """A plot that cannot be drawn, in one sentence."""

    exit_code = 2


def figure(found: Sequence[Point], fitted: Fit | None = None) -> Figure:
    """Draw the points, each beside its floor, and the intervals of a fit; a cell shows it.

    Raises PlotError where no point can be drawn.

    >>> from handful_explorers.tables.own_server import fit, points
    >>> figure(points(), fit()).axes[0].get_xlabel()
    'Sequences that decode at a time'
    """
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    usable = sorted(
        (one for one in found if not one.why_not), key=lambda one: float(one.known["batch"])
    )
    if not usable:
        raise PlotError("There is no point to draw: none could be held against its floor.")
    batch = np.array([one.known["batch"] for one in usable])
    made = Figure(figsize=(7, 4.2), dpi=144)
    FigureCanvasAgg(made)
    axes = quiet_axes(made, (0.1, 0.13, 0.87, 0.74))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.plot(batch, [1e3 * one.measured for one in usable], "o", color=PALETTE[0], ms=4)
    axes.plot(batch, [1e3 * one.floor for one in usable], "_", color=SOFT, ms=7)
    names = [("measured", PALETTE[0], "o"), ("floor of the same load", SOFT, "_")]
    if fitted is not None:
        band = 1e3 * np.array([fitted.interval(one.known) for one in usable])
        axes.vlines(batch, band[:, 0], band[:, 1], color=PALETTE[1], lw=3, alpha=0.35, zorder=1)
        names.append(("fit, nine in ten within", PALETTE[1], "|"))
    axes.set_xlabel("Sequences that decode at a time", color=INK, fontsize=9)
    ends = [1e3 * seconds for one in usable for seconds in (one.measured, one.floor)]
    ends += [] if fitted is None else [*band.ravel()]
    for low, high, axis in (
        (float(batch.min()), float(batch.max()), axes.xaxis),
        (min(ends), max(ends), axes.yaxis),
    ):
        # At least a decade, so that a single load has an axis too.
        low, high = min(low, high / 10), max(high, low * 10)
        at = ticks(low, high, True)
        axis.set_ticks(at, format_ticks(at, "1", True))
        axis.set_minor_locator(NullLocator())
        (axes.set_xlim if axis is axes.xaxis else axes.set_ylim)(low / 1.3, high * 1.3)
    axes.set_title("Time per output token (ms)", loc="left", color=INK, fontsize=10)
    for k, (name, colour, mark) in enumerate(names):
        axes.plot([], [], mark, color=colour, label=name, ms=7 if k else 4)
    axes.legend(frameon=False, fontsize=8, loc="upper left", labelcolor=INK)
    return made


def check(path: Path) -> None:
    """Raise PlotError where a file's name ends in neither .svg nor .png.

    >>> check(Path("mine.pdf"))
    Traceback (most recent call last):
    ...
    handful_explorers.own_server_plot.PlotError: A plot's name ends in .svg or .png; got 'mine.pdf'.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise PlotError(f"A plot's name ends in .svg or .png; got {path.name!r}.")


def save(found: Sequence[Point], fitted: Fit | None, path: Path) -> None:
    """Draw the points into an SVG or a PNG.

    Raises
    ------
    PlotError
        Where the file's name ends in neither .svg nor .png, no point can be drawn, or the file
        cannot be written.
    """
    import matplotlib

    check(path)
    made = figure(found, fitted)
    with matplotlib.rc_context({"svg.hashsalt": "handful", "svg.fonttype": "none"}):
        try:
            metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
            made.savefig(path, metadata=metadata)
        except OSError as error:
            raise PlotError(f"{path} cannot be written: {error.strerror}.") from None
