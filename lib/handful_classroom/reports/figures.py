"""Draw the pictures of a class report, each as SVG within HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from handful_explorers.plotting.style import INK, PALETTE, SOFT

from ..html_report import shown
from .stats import LOW, OUTCOMES, Item

WIDE = 5.2  # inches: text stays readable on a phone
BLUE, RED, GREEN, PURPLE = PALETTE[:4]
COLOURS = dict(zip(OUTCOMES, (GREEN, BLUE, RED, SOFT, PURPLE), strict=True))


def figure(draw: Callable, name: str, height: float, says: str, caption: str = "") -> str:
    """Return a picture with its text alternative.

    Parameters
    ----------
    draw : callable
        Called with matplotlib's axes.
    name : str
        What the names within the SVG begin with, so that two pictures share none.
    height : float
        In inches.
    says, caption : str
        The text alternative, and what stands below; by default the same.
    """
    from matplotlib.figure import Figure

    from handful_explorers.plotting.figure import as_svg, quiet_axes

    def made():
        figure = Figure(figsize=(WIDE, height), layout=None)
        draw(quiet_axes(figure, (0, 0, 1, 1), 10))
        return figure

    svg = as_svg(made, name).replace(
        'aria-hidden="true"', f'role="img" aria-label="{shown(says, 2000)}"', 1
    )
    return f"<figure>{svg}<figcaption>{caption or says}</figcaption></figure>"


def scores(
    bins: Sequence[int], width: float, median: float, possible: float, says: str, caption: str
) -> str:
    """Return how many students have how many points; a bar is `width` points wide."""
    draw = partial(_draw_scores, bins=bins, width=width, median=median, possible=possible)
    return figure(draw, "scores", 2.4, says, caption)


def _draw_scores(axes, bins: Sequence[int], width: float, median: float, possible: float) -> None:
    _margins(axes, 0.55, 0.5, top=0.3)
    axes.bar(
        [width * (i + 0.5) for i in range(len(bins))],
        bins,
        width=width * 0.9,
        color=BLUE,
        linewidth=0,
    )
    axes.set_xlim(0, width * len(bins))
    axes.set_ylim(0, max(bins) * 1.1)
    axes.grid(False, axis="x")
    ticks = [width * i for i in range(0, len(bins) + 1, 2 if len(bins) > 8 else 1)]
    axes.set_xticks(ticks, [f"{tick:.1f}".removesuffix(".0") for tick in ticks])
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=5)
    axes.set_xlabel("points", color=INK, fontsize=10.5)
    axes.set_ylabel("students", color=INK, fontsize=10.5)
    axes.axvline(median, color=SOFT, linewidth=1.2, dashes=(3, 3))
    axes.annotate(
        "median",
        (median, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        color=SOFT,
        fontsize=10,
        ha="right" if median > 0.8 * possible else "left" if median < 0.2 * possible else "center",
    )


def questions(items: Sequence[tuple[Item, float]], says: str, caption: str) -> str:
    """Return the shares of the students with each outcome of each question.

    `items` are the questions with the mean share of their points.
    """
    draw = partial(_draw_questions, items=items)
    return figure(draw, "questions", 0.75 + 0.42 * len(items), says, caption)


def _draw_questions(axes, items: Sequence[tuple[Item, float]]) -> None:
    _margins(axes, 1.7, 0.5, top=0.25, right=0.5)
    for row, (item, mean) in enumerate(items):
        left = 0.0
        for outcome, colour in COLOURS.items():
            share = item.outcomes[outcome] / item.n
            axes.barh(row, share, left=left, height=0.62, color=colour, linewidth=0)
            left += share
        _label(axes, f"{100 * mean:.0f} %", (1, row), (5, 0), INK)
    _label(axes, "mean", (1, -0.5), (5, 3), SOFT, va="baseline")
    _rows(axes, [shortened(item.name, 20) for item, _ in items])
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("share of the students", color=INK, fontsize=10.5)
    axes.grid(False, axis="y")


def misconceptions(found: Sequence[tuple[str, str, int]], says: str, caption: str) -> str:
    """Return how many students show each misconception: question, misconception and number."""
    draw = partial(_draw_misconceptions, found=found)
    return figure(draw, "misconceptions", 0.75 + 0.5 * len(found), says, caption)


def _draw_misconceptions(axes, found: Sequence[tuple[str, str, int]]) -> None:
    _margins(axes, 2.1, 0.5, right=0.4)
    counts = [count for _, _, count in found]
    axes.barh(range(len(found)), counts, height=0.62, color=RED, linewidth=0)
    for row, count in enumerate(counts):
        _label(axes, f"{count}", (count, row), (4, 0), INK)
    _rows(
        axes,
        [
            f"{shortened(misconception, 26)}\n{shortened(name, 26)}"
            for name, misconception, _ in found
        ],
    )
    axes.set_xlim(0, max(counts) * 1.08)
    axes.xaxis.get_major_locator().set_params(integer=True, nbins=5)
    axes.set_xlabel("students", color=INK, fontsize=10.5)
    axes.grid(False, axis="y")


def discrimination(items: Sequence[Item], says: str, caption: str) -> str:
    """Return each question's correlation with the rest and its interval."""
    draw = partial(_draw_discrimination, items=items)
    return figure(draw, "apart", 0.75 + 0.38 * len(items), says, caption)


def _draw_discrimination(axes, items: Sequence[Item]) -> None:
    _margins(axes, 1.7, 0.5, right=0.25)
    axes.axvline(0, color=SOFT, linewidth=1)
    axes.axvspan(-LOW, LOW, color=SOFT, alpha=0.12, linewidth=0)
    for row, item in enumerate(items):
        colour, marker = (RED, "D") if item.near_zero else (BLUE, "o")
        axes.plot(item.interval, (row, row), color=colour, linewidth=1.6)
        axes.plot([item.discrimination], [row], marker, color=colour, markersize=5.5)
    _rows(axes, [shortened(item.name, 20) for item in items])
    lowest = min((item.interval[0] for item in items if item.interval), default=0)
    axes.set_xlim(-1 if lowest < -0.5 else -0.5, 1)
    axes.set_xlabel("correlation with the other questions", color=INK, fontsize=10.5)
    axes.grid(False, axis="y")


def _margins(axes, left: float, bottom: float, top: float = 0.1, right: float = 0.12) -> None:
    """Set the margins around the axes, in inches."""
    height = axes.figure.get_figheight()
    axes.set_position(
        (left / WIDE, bottom / height, 1 - (left + right) / WIDE, 1 - (bottom + top) / height)
    )


def _label(axes, text: str, at: tuple[float, float], offset: tuple, colour: str, **how) -> None:
    """Write beside a point; `offset` is in points of the printer."""
    axes.annotate(
        text,
        at,
        xytext=offset,
        textcoords="offset points",
        fontsize=10,
        color=colour,
        annotation_clip=False,
        **{"va": "center", **how},
    )


def _rows(axes, names: Sequence[str]) -> None:
    """Name the rows, of which the first is on top."""
    axes.set_yticks(range(len(names)), names, fontsize=10, color=INK, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.5, -0.5)


def shortened(name: str, most: int) -> str:
    """Return a name of at most so many characters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
