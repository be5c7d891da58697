"""The numbers of an explorer: its state, the values of symbols there, and what follows from them.

``web/compute.js`` is the twin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handful.symbolic.quantities import table
from handful.units import whole_count

from .declare import CHOICES, Mark, Readout
from .validation import check_entry

if TYPE_CHECKING:
    from .explorer import Explorer


def full_state(explorer: Explorer, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of controls and cursor, with `changes` checked and set."""
    from handful.scenario import DEFAULT, PAGE

    state = {control.name: control.value() for control in explorer.controls}
    if explorer.x is not None:
        state[explorer.x.name] = explorer.x.start
    if PAGE != DEFAULT:
        followers = {
            part.name for part in (*explorer.controls, explorer.x) if part and part.follows
        }
        state |= {name: one for name, one in PAGE.items() if name in followers}
        if others := followers - set(PAGE):
            known = scenario_values({})
            state |= {name: known[name] for name in others}
    return state | {name: check_entry(explorer, name, value) for name, value in changes.items()}


def scenario_values(choice: Mapping[str, Any]) -> dict[str, float | None]:
    """Return values of the symbols for a choice of hardware, model, precision and context.

    Without a choice they are those of the scenario from which the page starts.
    """
    from handful.scenario import PAGE, values

    return dict(values(**{**PAGE, **choice}))


def symbol_values(
    explorer: Explorer,
    state: Mapping[str, Any],
    given: Mapping[str, float] = {},
    scenario: Mapping[str, Any] = {},
) -> dict[str, Any]:
    """Return the values of symbols at a full state.

    Later ones override earlier ones: scenario, the explorer's given, the controls, a curve's given.
    """
    choice = {k: state[k] for k in CHOICES if k in state} | dict(scenario)
    found: dict[str, float | None] = {
        q.name: q.default for q in table.values() if q.default is not None
    }
    if explorer.symbols() - set(explorer.given) - set(found) - set(state) - set(given):
        found |= scenario_values(choice)
    found |= explorer.given
    for control in explorer.controls:
        if control.rows is not None:
            found |= control.rows[state[control.name]]
        elif control.name in table:
            found[control.name] = float(state[control.name])
    if "context" in scenario:
        found["context"] = scenario_values(scenario)["context"]
    return found | dict(given)


def values(explorer: Explorer, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that a plot of curves shows at a full state, as `Explorer.values` lists it."""
    import numpy as np

    x = explorer.sweep
    grid, cursor = {x.name: x.grid()}, {x.name: state[x.name]}
    xs = grid[x.name]

    def along(formula, known: Mapping[str, Any]):
        return np.broadcast_to(formula({**known, **grid}), xs.shape).astype(float)

    def at_cursor(part: Mark | Readout) -> float:
        known = symbol_values(explorer, state, part.given, part.scenario)
        return float(part.formula(known | cursor))

    out: dict[str, Any] = {"x": xs, "curves": {}, "across": {}, "at": {}, "bands": {}}
    for curve in explorer.curves:
        if state.get(curve.id) is False:
            continue
        known = symbol_values(explorer, state, curve.given, curve.scenario)
        out["curves"][curve.id] = along(curve.formula, known)
        out["at"][curve.id] = float(curve.formula(known | cursor))
        out["bands"][curve.id] = curve.band_at(known)
        if explorer.across:
            out["across"][curve.id] = along(explorer.across[0], known)
    out["marks"] = {mark.label: at_cursor(mark) for mark in explorer.marks}
    out["places"] = {
        m.label: _place(explorer, state, m, out["marks"][m.label]) for m in explorer.marks
    }
    out["lacking"] = {}
    for part, chips in explorer.needs():
        known = symbol_values(explorer, state, part.given, part.scenario)
        if (needed := float(chips(known))) > known["devices"]:
            out["lacking"][part.label] = (needed, known["devices"])
    out["readouts"] = {
        readout.label or readout.formula.gives.label: at_cursor(readout)
        for readout in explorer.readouts
    }
    out["points"] = [i for i, group in enumerate(explorer.points) if group.shown(state)]
    return out


def _place(
    explorer: Explorer, state: Mapping[str, Any], mark: Mark, value: float
) -> tuple[float, float]:
    """Return where a mark stands along its axis, and which end of it lies beyond: ±inf.

    Where another quantity than the sweep's runs along the axis, that is its value there; larger
    values of the sweep may lie to the left.
    """
    if mark.axis != "x" or not explorer.across or not math.isfinite(value):
        return value, math.inf
    x, known = explorer.sweep, symbol_values(explorer, state, mark.given, mark.scenario)
    at, low, high = (
        float(explorer.across[0](known | {x.name: swept}))
        for swept in (max(whole_count(value, mark.whole), x.low), x.low, x.high)
    )
    return at, math.copysign(math.inf, high - low)


def numbers(explorer: Explorer, state: Mapping[str, Any]) -> dict[str, float]:
    """Return the values of the formulas that a scene declares, by key."""
    return {
        key: float(n.formula(symbol_values(explorer, state, n.given, n.scenario)))
        for key, n in explorer.numbers.items()
    }
