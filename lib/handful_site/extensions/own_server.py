"""Make the place for a server's result files in the page, and its data (runs.js)."""

from __future__ import annotations

import json
from typing import Any

from handful import latency, scenario
from handful_explorers.own_server_plot import figure
from handful_explorers.plotting.figure import as_svg
from handful_explorers.tables import Part
from handful_explorers.tables.own_server import fit, points, public_run


def page_data() -> dict[str, Any]:
    """Return what own_server.js needs of the packages: formulas as trees, and names.

    >>> sorted(page_data())
    ['example', 'published', 'same_as', 'stored', 'tail', 'trees', 'widths']
    """
    return {
        "trees": {
            "reading": latency.memory_time.tree(),
            "arithmetic": latency.compute_time.tree(),
            "weights": latency.weight_memory.tree(),
            "fits": latency.batch_that_fits.tree(),
        },
        "widths": scenario.WIDTHS,
        "tail": scenario.TAIL,
        "same_as": scenario.SAME_AS,
        "stored": scenario.STORED,
        "published": scenario.PUBLISHED,
        "example": {"name": "public-run.csv", "text": public_run()},
    }


def place() -> Part:
    """Return the place: scripts put the form and the results there; a word for readers without.

    >>> "handful runs" in place().text
    True
    """
    still = as_svg(lambda: figure(points(), fit()), "runs")
    text = json.dumps(page_data(), separators=(",", ":")).replace("<", "\\u003c")
    return Part(
        '<div class="runs" id="runs">'
        f'<div class="runs-still">{still}<p>On the site, with scripts, result files that are '
        "dropped here are read by the page and held against their floor. The command "
        "<code>handful runs</code> does the same.</p></div>"
        f'<script type="application/json" id="runs-data">{text}</script></div>'
    )
