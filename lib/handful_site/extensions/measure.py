"""Make the place of the measurement in the page, and its data (measure.js)."""

from __future__ import annotations

import json

from handful.query import registry
from handful_explorers.machine import one_layer_on_this_computer
from handful_explorers.tables import Part

# What follows from two rates, for weights of four bytes; the last is the batch of the knee.
DERIVED = ("ridge_intensity", "weight_uses_at_balance")


def place() -> Part:
    """Return the place: a button, which measure.js answers, and a word for readers without it.

    >>> "Measure this computer" in place().text
    True
    """
    formulas = registry()
    data = {
        "explorer": one_layer_on_this_computer.name,
        "trees": {name: formulas[name].tree() for name in DERIVED},
    }
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return Part(
        '<div class="measure" id="measure">'
        '<p class="measure-still">On the site, with scripts, a button here measures the computer '
        "that shows the page. The command below needs neither.</p>"
        '<div class="measure-bar" hidden><button type="button">Measure this computer</button>'
        '<span role="status">Two seconds or so, and 0.3 GB of memory. Nothing is sent or kept.'
        "</span></div>"
        f'<script type="application/json" id="measure-data">{text}</script></div>'
    )
