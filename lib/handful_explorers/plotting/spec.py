"""Write a declaration as the JSON that explorer.js draws.

Every value, label and range of the plot is in it, and every number that the reader sees is computed
from its trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handful.symbolic.quantities import find, table

from . import scenes
from .declare import Control, Curve

if TYPE_CHECKING:
    from .explorer import Explorer


def spec(explorer: Explorer) -> dict[str, Any]:
    """Return version 1 of the spec, without the keys that would be empty."""
    e = explorer
    out: dict[str, Any] = {
        "version": 1,
        "kind": e.kind,
        "name": e.name,
        "title": e.title,
        "caption": e.caption,
    }
    if e.scene:
        out["inputs"] = {name: value for name, (_, _, value) in scenes.find(e.kind).INPUTS.items()}
        out["numbers"] = [
            trimmed(
                {
                    "key": key,
                    "label": n.label or n.formula.gives.label,
                    "unit": n.formula.gives.unit,
                    "digits": n.digits,
                    "tree": n.formula.tree(),
                    "given": dict(n.given),
                    "scenario": dict(n.scenario),
                }
            )
            for key, n in e.numbers.items()
        ]
        out["data"] = e.data
        out["values"] = base_values(e)
    else:
        x, y, unit = e.sweep, e.scale, find(e.sweep.name).unit
        out["x"] = {
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
        }
        out["y"] = {
            "title": y.title,
            "unit": e.y_unit,
            "log": y.log,
            "min": y.min,
            "max": y.max,
        }
        if e.across:
            formula, scale = e.across
            out["across"] = {
                "title": scale.title,
                "unit": scale.unit or formula.gives.unit,
                "log": scale.log,
                "min": scale.min,
                "max": scale.max,
                "tree": formula.tree(),
            }
        out["curves"] = [
            trimmed(
                {
                    "id": c.id,
                    "label": c.label,
                    "role": c.role,
                    "tree": c.formula.tree(),
                    "band": c.band,
                    "band_label": c.band_label,
                    "bands": spec_bands(c),
                    "given": dict(c.given),
                    "scenario": dict(c.scenario),
                }
            )
            for c in e.curves
        ]
        out["marks"] = [
            trimmed(
                {
                    "axis": m.axis,
                    "label": m.label,
                    "tree": m.formula.tree(),
                    "unit": m.formula.gives.unit,
                    "band": m.band,
                    "given": dict(m.given),
                    "scenario": dict(m.scenario),
                }
            )
            for m in e.marks
        ]
        out["points"] = [{"label": g.label, "at": [list(p) for p in g.at]} for g in e.points]
        out["values"] = base_values(e)
    if e.dots:
        out["dots"] = trimmed(
            {
                "x": e.dots.x.tree(),
                "y": e.dots.y.tree(),
                "over": e.dots.over,
                "rows": list(e.dots.rows) if e.dots.rows is not None else None,
                "given": dict(e.dots.given),
            }
        )
    out["given"] = dict(sorted(e.given.items()))
    out["controls"] = [control(c, e) for c in e.controls]
    out["readouts"] = [
        trimmed(
            {
                "label": r.label or r.formula.gives.label,
                "unit": r.formula.gives.unit,
                "digits": r.digits,
                "tree": r.formula.tree(),
                "given": dict(r.given),
                "scenario": dict(r.scenario),
            }
        )
        for r in e.readouts
    ]
    out["presets"] = [
        trimmed(
            {
                "label": p.label,
                "set": {k: number(v) for k, v in p.set.items()},
                "claim": p.claim,
                "time": p.time,
                "seconds": p.seconds,
            }
        )
        for p in e.presets
    ]
    out["stack"] = e.stack
    return out


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
