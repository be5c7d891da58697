"""From a declaration to the JSON that explorer.js draws.

Every value, label and range of the plot is in it, and every number that the reader sees is computed from its trees.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..quantities import find, table
from .declare import TRAIN, Control

if TYPE_CHECKING:
    from .explorer import Explorer


def spec(explorer: Explorer) -> dict[str, Any]:
    """Version 1.  Keys that would be empty are left out."""
    e = explorer
    out: dict[str, Any] = {"version": 1, "kind": e.kind, "name": e.name, "title": e.title, "caption": e.caption}
    if e.kind == "train":
        out["train"] = {"batch_interval": 0.02, "seats": 32, "load": 0.7, "seed": 1}
        out["train"].update({c.name: number(c.value()) for c in e.controls})
    else:
        x, unit = e.x, find(e.x.name).unit
        out["x"] = {"name": x.name, "title": x.title, "unit": unit, "log": x.log, "min": number(x.low),
                    "max": number(x.high), "points": x.points, "at": number(x.start), "stops": [number(s) for s in x.stops()],
                    "whole": unit in ("sequence", "device", "token") and x.low >= 1}
        out["y"] = {"title": e.y.title, "unit": e.y_unit, "log": e.y.log, "min": e.y.min, "max": e.y.max}
        if e.across:
            formula, scale = e.across
            out["across"] = {"title": scale.title, "unit": scale.unit or formula.gives.unit, "log": scale.log,
                             "min": scale.min, "max": scale.max, "tree": formula.tree()}
        out["curves"] = [
            trimmed({"id": c.id, "label": c.label, "role": c.role, "tree": c.formula.tree(), "band": c.band,
                     "band_label": c.band_label, "given": dict(c.given), "scenario": dict(c.scenario)}) for c in e.curves]
        out["marks"] = [
            trimmed({"axis": m.axis, "label": m.label, "tree": m.formula.tree(), "unit": m.formula.gives.unit,
                     "band": m.band, "given": dict(m.given), "scenario": dict(m.scenario)}) for m in e.marks]
        out["values"] = base_values(e)
    if e.dots:
        out["dots"] = trimmed({"x": e.dots.x.tree(), "y": e.dots.y.tree(), "over": e.dots.over,
                               "rows": list(e.dots.rows) if e.dots.rows is not None else None, "given": dict(e.dots.given)})
    out["given"] = dict(sorted(e.given.items()))
    out["controls"] = [control(c) for c in e.controls]
    out["readouts"] = [
        trimmed({"label": r.label or r.formula.gives.label, "unit": r.formula.gives.unit, "digits": r.digits,
                 "tree": r.formula.tree(), "given": dict(r.given)}) for r in e.readouts]
    out["presets"] = [trimmed({"label": p.label, "set": {k: number(v) for k, v in p.set.items()}, "claim": p.claim,
                               "time": p.time, "seconds": p.seconds}) for p in e.presets]
    out["stack"] = e.stack
    return out


def control(c: Control) -> dict[str, Any]:
    kind = c.kind()
    label, unit = TRAIN.get(c.name) or (None, None)
    if c.name in table:
        label, unit = label or table[c.name].label, table[c.name].unit
    out = {"name": c.name, "type": kind, "label": c.label or c.widget.description or label or c.name.capitalize(),
           "value": number(c.value())}
    if kind in ("log", "linear", "int"):
        low, high = c.ends()
        out |= {"unit": c.unit or unit or "1", "min": number(low), "max": number(high)}
        if kind != "log":
            out["step"] = number(c.widget.step)
    elif kind == "choice":
        out["options"] = [{"label": text, "value": number(value)} for text, value in c.options()]
    return out


def base_values(e: Explorer) -> dict[str, float]:
    """Build-time values of the symbols that the trees use, for a page without scenario rows."""
    known = e.known(e.state())
    wanted = e.symbols() | {c.name for c in e.controls if c.name in table}
    return {name: number(known[name]) for name in sorted(wanted)
            if name in known and known[name] is not None and name != e.x.name}


def number(value):
    """Whole floats as integers: shorter, and the same text whichever way the number was made."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def trimmed(entry: dict) -> dict:
    return {k: v for k, v in entry.items() if v not in ("", None, {}, [])}
