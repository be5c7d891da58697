"""Write a declaration as the JSON that explorer.js draws.

Every value, label and range of the plot is in it, and every number that the reader sees is computed
from its trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handful.symbolic.quantities import find, table

from . import scenes
from .declare import Control, Curve, Guess, Mark, Preset, Readout, Scale, Sweep

if TYPE_CHECKING:
    from handful.symbolic.formula import Formula

    from .explorer import Explorer


def spec(explorer: Explorer) -> dict[str, Any]:
    """Return version 1 of the spec, without the keys that would be empty."""
    e = explorer
    return {
        "version": 1,
        "kind": e.kind,
        "name": e.name,
        "title": e.title,
        "caption": e.caption,
        **(scene(e) if e.scene else plot(e)),
        "given": dict(sorted(e.given.items())),
        "controls": [control(c, e) for c in e.controls],
        "readouts": [readout(r) for r in e.readouts],
        "presets": [preset(p) for p in e.presets],
        "stack": e.stack,
        **({"guess": guess(e.guess)} if e.guess else {}),
    }


def guess(g: Guess) -> dict[str, Any]:
    """Return the entry of what a reader is asked."""
    return {
        "question": g.question,
        "kind": g.kind,
        "of": g.of,
        **({"at": list(g.at)} if g.at else {}),
        **({"hump": True} if g.hump else {}),
    }


def scene(e: Explorer) -> dict[str, Any]:
    """Return what a scene draws: its inputs, formulas and data."""
    return {
        "inputs": {name: value for name, (_, _, value) in scenes.find(e.kind).INPUTS.items()},
        "numbers": [{"key": key, **readout(n)} for key, n in e.numbers.items()],
        "data": e.data,
        "values": base_values(e),
    }


def plot(e: Explorer) -> dict[str, Any]:
    """Return what a plot draws: its axes, curves, marks and points."""
    return {
        "x": sweep(e.sweep),
        "y": axis(e.scale, e.y_unit),
        **({"across": across(*e.across)} if e.across else {}),
        "curves": [curve(c) for c in e.curves],
        "marks": [mark(m) for m in e.marks],
        "points": [
            trimmed({"label": g.label, "at": [list(p) for p in g.at], "when": dict(g.when)})
            for g in e.points
        ],
        "values": base_values(e),
    }


def sweep(x: Sweep) -> dict[str, Any]:
    """Return the entry of the swept symbol."""
    unit = find(x.name).unit
    return {
        "name": x.name,
        "title": x.title,
        "unit": unit,
        "log": x.log,
        "min": number(x.low),
        "max": number(x.high),
        "points": x.points,
        "at": number(x.start),
        "stops": [number(s) for s in x.stops()],
        "whole": unit in ("sequence", "device", "token") and x.low >= 1,
        **({"follows": True} if x.follows else {}),
    }


def axis(scale: Scale, unit: str) -> dict[str, Any]:
    """Return the entry of an axis in a unit."""
    return {
        "title": scale.title,
        "unit": unit,
        "log": scale.log,
        "min": scale.min,
        "max": scale.max,
    }


def across(formula: Formula, scale: Scale) -> dict[str, Any]:
    """Return the entry of a parametric plot's x axis."""
    return {**axis(scale, scale.unit or formula.gives.unit), "tree": formula.tree()}


def curve(c: Curve) -> dict[str, Any]:
    """Return the entry of a curve."""
    return trimmed(
        {
            "id": c.id,
            "label": c.label,
            "role": c.role,
            "tree": c.formula.tree(),
            "band": c.band,
            "band_label": c.band_label,
            "bands": spec_bands(c),
            "whole": c.whole,
            "none": c.none,
            "needs": c.needs.tree() if c.needs else None,
            **settings(c),
        }
    )


def mark(m: Mark) -> dict[str, Any]:
    """Return the entry of a mark."""
    return trimmed(
        {
            "axis": m.axis,
            "label": m.label,
            "tree": m.formula.tree(),
            "unit": m.formula.gives.unit,
            "band": m.band,
            "limit": m.limit or None,
            "needs": m.needs.tree() if m.needs else None,
            "whole": m.whole,
            "none": m.none,
            **settings(m),
        }
    )


def readout(r: Readout) -> dict[str, Any]:
    """Return the entry of a readout, or of a formula that a scene draws."""
    return trimmed(
        {
            "label": r.label or r.formula.gives.label,
            "unit": r.unit or r.formula.gives.unit,
            "digits": r.digits,
            "tree": r.formula.tree(),
            "whole": r.whole,
            "none": r.none,
            **settings(r),
        }
    )


def preset(p: Preset) -> dict[str, Any]:
    """Return the entry of a preset."""
    return trimmed(
        {
            "label": p.label,
            "set": {k: number(v) for k, v in p.set.items()},
            "follow": {name: readout(r) for name, r in p.follow.items()},
        }
    )


def settings(part: Curve | Mark | Readout) -> dict[str, Any]:
    """Return the symbols and the parts of the scenario that a part sets itself."""
    return {"given": dict(part.given), "scenario": dict(part.scenario)}


def spec_bands(c: Curve) -> list[dict[str, Any]]:
    """Return the bands of a curve's classes; what is None is left out."""
    return [trimmed({**row, "when": trimmed(row["when"])}) for row in c.bands]


def control(c: Control, e: Explorer) -> dict[str, Any]:
    """Return the entry of a control."""
    kind = c.kind()
    label, unit, _ = scenes.find(e.kind).INPUTS.get(c.name, (None,) * 3) if e.scene else (None,) * 3
    if c.name in table:
        label, unit = label or table[c.name].label, table[c.name].unit
    out = {
        "name": c.name,
        "type": kind,
        "label": c.label or c.widget.description or label or c.name.capitalize(),
        "value": number(c.value()),
        **({"follows": True} if c.follows else {}),
    }
    if kind in ("log", "linear", "int"):
        low, high = c.ends()
        out |= {"unit": c.unit or unit or "1", "min": number(low), "max": number(high)}
        if kind != "log":
            out["step"] = number(c.widget.step)
    elif kind == "choice":
        out["options"] = [{"label": text, "value": number(value)} for text, value in c.options()]
    if c.rows is not None:
        out["rows"] = [
            {name: number(x) for name, x in c.rows[value].items()} for _, value in c.options()
        ]
    return out


def base_values(e: Explorer) -> dict[str, float]:
    """Return build-time values of the symbols in the trees, for a page without scenario rows."""
    known = e.symbol_values(e.state())
    wanted = e.symbols() | {c.name for c in e.controls if c.name in table}
    return {
        name: number(known[name])
        for name in sorted(wanted)
        if name in known
        and known[name] is not None
        and (e.x is None or name != e.x.name)
        and not (name in table and table[name].constant)
    }  # those stand in the trees as numbers


def number(value):
    """Return a whole float as an integer, and anything else as it is.

    That is shorter, and the same text whichever way the number was made.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def trimmed(entry: dict) -> dict:
    """Return the entry without its empty values."""
    return {k: v for k, v in entry.items() if v not in ("", None, {}, [])}
