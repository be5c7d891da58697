"""The cover of the EPUB, drawn from the book's own first curve."""

from __future__ import annotations

import io
from functools import cache

DARK, LIGHT, WARM, SOFT = "#10243a", "#f3f6fa", "#ff9a5c", "#8fb4d6"


@cache
def cover(title: str, author: str, day: str) -> bytes:
    """A PNG, 1600 × 2560 pixels: what one token costs against the batch, for the book's first scenario."""
    import numpy as np
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from .. import latency, scenario

    values = scenario.values()
    batch = np.geomspace(1, 2e5, 400)
    cost = np.array(latency.cost_per_token({**values}, batch=batch))
    with rc_context({"font.family": "serif", "font.serif": ["STIXGeneral"]}):
        figure = Figure(figsize=(8, 12.8), dpi=200, facecolor=DARK)
        axes = figure.add_axes((0, 0.16, 1, 0.46), facecolor=DARK)
        axes.set_axis_off()
        axes.set(xscale="log", yscale="log", xlim=(1, 2e5))
        for share, line in ((1, 4.5), (2, 1.6), (4, 1.3), (8, 1.1), (16, 0.9), (32, 0.8)):
            axes.plot(batch, cost * share, color=WARM if share == 1 else SOFT, linewidth=line, alpha=1 if share == 1 else 0.75)
        first, _, last = title.rpartition(" ")
        figure.text(0.1, 0.86, first, color=LIGHT, fontsize=44)
        figure.text(0.1, 0.785, last, color=LIGHT, fontsize=64)
        figure.text(0.1, 0.725, "The mathematics of how large language\nmodels are trained and served", color=SOFT, fontsize=21, va="top", linespacing=1.4)
        figure.text(0.1, 0.09, author, color=LIGHT, fontsize=15)
        figure.text(0.1, 0.06, f"Edition of {day}", color=SOFT, fontsize=15)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", metadata={"Software": None})
    return picture.getvalue()
