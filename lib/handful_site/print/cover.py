"""The cover, drawn from the first curve of the book: the cost of a token against the batch."""

from __future__ import annotations

import io
from functools import cache

DARK, LIGHT, WARM, SOFT = "#10243a", "#f3f6fa", "#ff9a5c", "#8fb4d6"
SHARES = (1, 2, 4, 8, 16, 32)  # the first curve, and above it those of dearer machines


@cache
def curve(points: int = 120) -> tuple[list[float], list[float]]:
    """Return batch sizes, and dollars per token in the book's first scenario."""
    import numpy as np

    from handful import latency, scenario

    batch = np.geomspace(1, 2e5, points)
    return batch.tolist(), np.asarray(
        latency.cost_per_token(scenario.values(), batch=batch)
    ).tolist()


@cache
def cover(title: str, author: str, name: str) -> bytes:
    """Return the cover as a PNG of 1600 × 2560 pixels."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    batch, cost = curve()
    with rc_context({"font.family": "serif", "font.serif": ["STIXGeneral"]}):
        figure = Figure(figsize=(8, 12.8), dpi=200, facecolor=DARK)
        axes = figure.add_axes((0, 0.16, 1, 0.46), facecolor=DARK)
        axes.set_axis_off()
        axes.set(xscale="log", yscale="log", xlim=(batch[0], batch[-1]))
        for share in SHARES:
            axes.plot(
                batch,
                [value * share for value in cost],
                color=WARM if share == 1 else SOFT,
                linewidth=4.5 if share == 1 else 1.2,
                alpha=1 if share == 1 else 0.7,
            )
        first, _, last = title.rpartition(" ")
        figure.text(0.1, 0.86, first, color=LIGHT, fontsize=44)
        figure.text(0.1, 0.785, last, color=LIGHT, fontsize=64)
        figure.text(
            0.1,
            0.725,
            "The mathematics of how large language\nmodels are trained and served",
            color=SOFT,
            fontsize=21,
            va="top",
            linespacing=1.4,
        )
        figure.text(0.1, 0.09, author, color=LIGHT, fontsize=15)
        figure.text(0.1, 0.06, name, color=SOFT, fontsize=15)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", metadata={"Software": None})
    return picture.getvalue()


def drawing(width: float = 162, height: float = 90) -> str:
    """Return the same curves as SVG, for the title page on paper; lengths in millimetres."""
    from math import log

    batch, cost = curve()
    low, high = log(min(cost)), log(max(cost) * SHARES[-1])

    def path(share: int) -> str:
        places = (
            f"{width * log(x / batch[0]) / log(batch[-1] / batch[0]):.2f} "
            f"{height * (1 - (log(y * share) - low) / (high - low)):.2f}"
            for x, y in zip(batch, cost, strict=True)
        )
        return (
            f'<path d="M {" L ".join(places)}" fill="none" '
            f'stroke="{"#b34700" if share == 1 else "#8fa3b8"}" '
            f'stroke-width="{0.9 if share == 1 else 0.3}"/>'
        )

    return (
        f'<svg viewBox="0 -1 {width} {height + 2}" '
        f'aria-hidden="true">{"".join(map(path, SHARES))}</svg>'
    )
