"""The data table under an explorer; ``web/compute.js`` makes the same in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handful.symbolic.quantities import find
from handful.units import format_value, whole_count

from .describe import room, told
from .evaluation import symbol_values, values

if TYPE_CHECKING:
    from .explorer import Explorer


def data_table(explorer: Explorer, state: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a plot of curves at a full state, as text with units.

    The curves have a row at each stop of the sweep, which says where more is asked than fits, the
    measured points a row each.
    """
    groups = [group for group in explorer.points if group.shown(state)]
    shown = [curve for curve in explorer.curves if state.get(curve.id) is not False]
    head = [
        explorer.sweep.title,
        *([explorer.across[1].title] if explorer.across else []),
        *(curve.label for curve in shown),
    ]
    until = room(explorer, values(explorer, state))
    rows = [
        curve_row(explorer, state, shown, stop, until) + [""] * len(groups)
        for stop in explorer.sweep.stops()
    ]
    unit = find(explorer.sweep.name).unit
    for i, group in enumerate(groups):
        for x, y, *label in group.at:
            cells = [""] * (len(head) + len(groups))
            cells[0] = ", ".join([format_value(x, unit), *label])
            cells[len(head) + i] = format_value(y, explorer.y_unit)
            rows.append(cells)
    head += [group.label for group in groups]
    return head, rows


def curve_row(
    explorer: Explorer, state: Mapping[str, Any], shown, stop: float, until: float
) -> list[str]:
    """Return the values of the shown curves at one stop; beyond `until` nothing fits."""
    x = explorer.sweep
    row = [format_value(stop, find(x.name).unit) + (" (more than fits)" if stop > until else "")]
    known = [
        symbol_values(explorer, state, curve.given, curve.scenario) | {x.name: stop}
        for curve in shown
    ]
    if explorer.across:
        formula, scale = explorer.across
        value = formula(known[0] if known else {x.name: stop})
        row.append(format_value(value, scale.unit or formula.gives.unit))
    row += [
        format_value(whole_count(value, curve.whole), explorer.y_unit)
        if told(value := curve.formula(given), curve)
        else curve.none
        for curve, given in zip(shown, known, strict=True)
    ]
    return row
