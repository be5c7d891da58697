"""Explorers: plots that are declared once and shown in four ways.

A page's JSON (``spec``), drawn by explorer.js; a matplotlib ``figure`` for print and for readers
without scripts; words and a table (``alt_text``, ``table``); and, where a kernel answers,
ipywidgets beside an anywidget (``widget``). The numbers behind all four come from the same
formulas.

>>> from ipywidgets import FloatLogSlider
>>> from handful.balance import machine_balance
>>> e = Explorer(
...     "doctest",
...     "Balance",
...     x=Sweep("memory_bandwidth", 1e12, 2e13),
...     y=Scale("Tokens per weight"),
...     curves=[Curve(machine_balance, "machine balance")],
...     given={"bytes_per_parameter": 2},
...     controls=[Control(FloatLogSlider(value=1e15, min=14, max=16), "peak_flops")],
... )
>>> round(
...     float(e.values(peak_flops=989e12, memory_bandwidth=3.35e12)["at"]["machine-balance"])
... )  # an H100
295
>>> e.values(peak_flops=-1)
Traceback (most recent call last):
...
handful_explorers.plotting.declare.ExplorerError: peak_flops must be between 1e+14 and 1e+16; got
-1.
"""

from __future__ import annotations

import difflib
import html
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from handful.symbolic.formula import Formula
from handful.symbolic.quantities import find, table
from handful.units import UNITS, format_value

from . import scenes
from .declare import (
    CHOICES,
    Control,
    Curve,
    Dots,
    ExplorerError,
    Mark,
    Points,
    Preset,
    Readout,
    Scale,
    Sweep,
)
from .describe import describe, plain

__all__ = [
    "Control",
    "Curve",
    "Dots",
    "Explorer",
    "ExplorerError",
    "Mark",
    "Points",
    "Preset",
    "Readout",
    "Scale",
    "Sweep",
]

VERSION = 1


def scenario_values(choice: Mapping[str, Any]) -> dict[str, float | None]:
    """Return values of the symbols for a choice of hardware, model, precision and context.

    Without a choice they are those of the book's default scenario.
    """
    from handful.scenario import values

    return dict(values(**choice))


class Explorer:
    """A plot that the reader drives.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and hyphens; the id on the page and the key in shared addresses.
    title : str
    x : Sweep
        The swept symbol; its cursor is the plot's own slider.  None for a scene.
    y : Scale
    across : (Formula, Scale), optional
        Draw y against this formula of the swept symbol instead of against the symbol: a parametric
        plot.
    curves, marks, dots, controls, readouts, presets : sequences of the classes of that name
    stack : bool
        Lay the curves of role "part" on each other as areas.
    given : mapping
        Symbols held at a value for the whole explorer, whatever the scenario says.
    points : sequence of Points
        What is measured, published or simulated, laid over the curves.
    kind : "curves", "parametric" (set by `across`), or a scene (``scenes.KINDS``)
    numbers : mapping of key to Formula or Readout
        What a scene draws: formulas, evaluated for the state.
    data : mapping, or a function that gives it
        Further settings of a scene, as JSON.  What takes time to work out comes as a function,
        asked once it is wanted.
    caption : str
    """

    def __init__(
        self,
        name: str,
        title: str,
        x: Sweep | None = None,
        y: Scale | None = None,
        *,
        curves: Sequence[Curve] = (),
        across: tuple[Formula, Scale] | None = None,
        marks: Sequence[Mark] = (),
        dots: Dots | None = None,
        points: Sequence[Points] = (),
        controls: Sequence[Control] = (),
        readouts: Sequence[Readout | Formula] = (),
        presets: Sequence[Preset] = (),
        stack: bool = False,
        given: Mapping[str, float] | None = None,
        kind: str = "curves",
        caption: str = "",
        numbers: Mapping[str, Readout | Formula] = {},
        data: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        self.name, self.title, self.caption = name, title, caption
        self.x, self.y, self.across, self.stack = x, y, across, stack
        self.curves, self.marks, self.dots, self.points = (
            tuple(curves),
            tuple(marks),
            dots,
            tuple(points),
        )
        self.controls, self.presets = tuple(controls), tuple(presets)
        self.readouts = tuple(r if isinstance(r, Readout) else Readout(r) for r in readouts)
        self.numbers = {
            key: n if isinstance(n, Readout) else Readout(n) for key, n in numbers.items()
        }
        self._data = data or {}
        self.given = dict(given or {})
        self.kind = "parametric" if across else kind
        self._widget = None
        self._check()

    @property
    def scene(self) -> bool:
        """Return whether it draws shapes rather than curves."""
        return self.kind in scenes.KINDS

    @property
    def sweep(self) -> Sweep:
        """Return `x`, which all explorers have but scenes."""
        assert self.x is not None, f"{self.name} is a scene and sweeps nothing"
        return self.x

    @property
    def scale(self) -> Scale:
        """Return `y`, which all explorers have but scenes."""
        assert self.y is not None, f"{self.name} is a scene and has no axis"
        return self.y

    @cached_property
    def data(self) -> dict[str, Any]:
        """Return the further settings of a scene."""
        return dict(self._data() if callable(self._data) else self._data)

    def whole(self, name: str) -> bool:
        """Return whether a control takes whole numbers only."""
        return any(c.name == name and c.kind() == "int" for c in self.controls)

    def __repr__(self) -> str:
        return f"<Explorer {self.name}: {self.title}>"

    # Declaration

    def _check(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.name):
            raise ExplorerError(
                "An explorer's name takes lower-case letters, digits and hyphens; got "
                f"{self.name!r}."
            )
        if self.kind not in ("curves", "parametric", *scenes.KINDS):
            raise ExplorerError(
                f"{self.name}: kind must be curves, parametric, {', '.join(scenes.KINDS)}; got "
                f"{self.kind!r}."
            )
        for name, value in self.given.items():
            find(name).check(value)
        if not self.scene:
            if self.x is None or self.y is None or not self.curves:
                raise ExplorerError(
                    f"{self.name} needs a sweep x, a scale y and at least one curve."
                )
            self._check_curves()
        self._check_controls()
        for preset in self.presets:
            for name, value in preset.set.items():
                try:
                    self._check_state(name, value)
                except ExplorerError as error:
                    raise ExplorerError(f"{self.name}, preset “{preset.label}”: {error}") from None

    def _check_curves(self) -> None:
        for what, keys in (
            ("id", [c.id for c in self.curves]),
            ("label", [c.label for c in self.curves]),
        ):
            for key in keys:
                if keys.count(key) > 1:
                    raise ExplorerError(
                        f"{self.name} has two curves of the {what} {key!r}; give each its own."
                    )
        units = {c.formula.gives.unit for c in self.curves}
        if len(units) > 1:
            raise ExplorerError(
                f"{self.name} draws {' and '.join(sorted(units))} on one axis; its curves must "
                "share a unit."
            )
        self.y_unit = self.scale.unit or units.pop()
        if self.y_unit not in UNITS:
            raise ExplorerError(
                f"{self.name}: there is no unit {self.y_unit!r}; there are {', '.join(UNITS)}."
            )
        find(self.sweep.name).check(self.sweep.low)
        if self.sweep.name not in self.symbols():
            raise ExplorerError(
                f"{self.name} sweeps {self.sweep.name}, which none of its formulas uses; they use "
                f"{', '.join(sorted(self.symbols()))}."
            )

    def _check_controls(self) -> None:
        extra = set(scenes.find(self.kind).INPUTS) if self.scene else set()
        allowed = self.symbols() | set(CHOICES) | extra
        ids = {c.id for c in self.curves} | extra
        seen = set()
        for control in self.controls:
            kind, name = control.kind(), control.name
            if name in seen:
                raise ExplorerError(f"{self.name} has two controls for {name}; one is enough.")
            seen.add(name)
            if control.rows is not None:
                if unused := set(next(iter(control.rows.values()))) - self.symbols():
                    raise ExplorerError(
                        f"{self.name}: the rows of {name} set {', '.join(sorted(unused))}, which "
                        "none of "
                        f"its formulas uses."
                    )
                continue
            if kind == "check":
                if name not in ids:
                    raise ExplorerError(
                        f"{self.name}: a Checkbox shows or hides a curve, and {name!r} is none of "
                        f"{', '.join(sorted(ids))}."
                    )
                continue
            if self.x is not None and name == self.x.name:
                raise ExplorerError(
                    f"{self.name} sweeps {name} along x, so it cannot be a control too."
                )
            if name not in allowed:
                near = difflib.get_close_matches(name, allowed, n=2) or sorted(allowed)
                raise ExplorerError(
                    f"{self.name} has a control for {name}, which none of its formulas uses; did "
                    "you "
                    f"mean {' or '.join(near)}?"
                )
            if name in CHOICES and kind != "choice":
                raise ExplorerError(
                    f"{self.name}: {name} is chosen from names, so its control must be a Dropdown."
                )
            if kind in ("log", "linear", "int"):
                if not control.ends()[0] < control.ends()[1]:
                    raise ExplorerError(
                        f"{self.name}: the range of {name} must rise; got {control.ends()}."
                    )
                if name in table:
                    table[name].check(control.ends()[0])

    def _check_state(self, name: str, value):
        """Check one entry of a state: a control, the cursor, or a choice of the scenario."""
        for control in self.controls:
            if control.name == name:
                return control.check(value)
        if self.x is not None and name == self.x.name:
            if (
                isinstance(value, bool)
                or not isinstance(value, (int, float))
                or not self.x.low <= value <= self.x.high
            ):
                raise ExplorerError(
                    f"{name} must be between {self.x.low:g} and {self.x.high:g}; got {value!r}."
                )
            return value
        if name in CHOICES:
            return value
        known = [c.name for c in self.controls] + ([self.x.name] if self.x else []) + list(CHOICES)
        near = difflib.get_close_matches(name, known, n=2) or known
        raise ExplorerError(
            f"{self.name} has no control {name!r}; did you mean {' or '.join(near)}?"
        )

    def formulas(self) -> list[Formula]:
        """Return every formula that the explorer draws or reads out."""
        found = (
            [c.formula for c in self.curves]
            + [m.formula for m in self.marks]
            + [r.formula for r in self.readouts]
        )
        found += [n.formula for n in self.numbers.values()]
        if self.across:
            found.append(self.across[0])
        if self.dots:
            found += [self.dots.x, self.dots.y]
        return found

    def symbols(self) -> set[str]:
        """Return every symbol that a formula of the explorer uses."""
        return {q.name for f in self.formulas() for q in f.inputs}

    # Numbers

    def state(self, **changes) -> dict[str, Any]:
        """Return the full state of controls and cursor, with `changes` checked and set."""
        state = {c.name: c.value() for c in self.controls}
        if self.x is not None:
            state[self.x.name] = self.x.start
        for name, value in changes.items():
            state[name] = self._check_state(name, value)
        return state

    def known(
        self,
        state: Mapping[str, Any],
        given: Mapping[str, float] = {},
        scenario: Mapping[str, Any] = {},
    ) -> dict:
        """Return the values of symbols.

        Later ones override earlier ones: scenario, the explorer's given, the controls, a curve's
        given.
        """
        choice = {k: state[k] for k in CHOICES if k in state} | dict(scenario)
        known: dict[str, float | None] = {
            q.name: q.default for q in table.values() if q.default is not None
        }
        if self.symbols() - set(self.given) - set(known) - set(state) - set(given):
            known |= scenario_values(choice)
        known |= self.given
        pinned = scenario_values(scenario) if "context" in scenario else {}
        for control in self.controls:
            if control.rows is not None:
                known |= control.rows[state[control.name]]
            elif control.name in table:
                known[control.name] = float(state[control.name])
        known |= {k: v for k, v in pinned.items() if k == "context"}
        return known | dict(given)

    def values(self, **state) -> dict[str, Any]:
        """Return all that the plot shows, as arrays.

        Keys: "x" (the grid), "curves" (id → array), "across" (id → array, parametric only), "at"
        (id → value at the cursor), "bands" (id → factors or None, and words), "marks" (label →
        value), "readouts" (label → value), "dots" (label → (x, y)).
        """
        if self.scene:
            return scenes.find(self.kind).run(self, self.state(**state))
        import numpy as np

        full = self.state(**state)
        xs, cursor = self.sweep.grid(), full[self.sweep.name]
        out: dict[str, Any] = {"x": xs} | {
            key: {} for key in ("curves", "across", "at", "bands", "marks", "readouts", "dots")
        }
        for curve in self.curves:
            if full.get(curve.id) is False:
                continue
            known = self.known(full, curve.given, curve.scenario)
            out["curves"][curve.id] = np.broadcast_to(
                curve.formula(known | {self.sweep.name: xs}), xs.shape
            ).astype(float)
            out["at"][curve.id] = float(curve.formula(known | {self.sweep.name: cursor}))
            out["bands"][curve.id] = curve.band_at(known)
            if self.across:
                out["across"][curve.id] = np.broadcast_to(
                    self.across[0](known | {self.sweep.name: xs}), xs.shape
                ).astype(float)
        for mark in self.marks:
            known = self.known(full, mark.given, mark.scenario) | {self.sweep.name: cursor}
            out["marks"][mark.label] = float(mark.formula(known))
        for readout in self.readouts:
            known = self.known(full, readout.given, readout.scenario) | {self.sweep.name: cursor}
            out["readouts"][readout.label or readout.formula.gives.label] = float(
                readout.formula(known)
            )
        if self.dots:
            for label, choice in self._dot_rows(full):
                known = self.known({**full, **choice}, self.dots.given) | {self.sweep.name: cursor}
                out["dots"][label] = (float(self.dots.x(known)), float(self.dots.y(known)))
        return out

    def numbers_at(self, state: Mapping[str, Any]) -> dict[str, float]:
        """Return the values of the formulas that a scene declares, by key."""
        return {
            key: float(n.formula(self.known(state, n.given, n.scenario)))
            for key, n in self.numbers.items()
        }

    def _dot_rows(self, state: Mapping) -> list[tuple[str, dict]]:
        """Return (label, choice) of each dot that the precision allows."""
        if not self.dots:
            return []
        from handful.scenario import page_rows

        rows, found = page_rows(), []
        arithmetic = {p["name"]: p["arithmetic"] for p in rows["precision"]}
        precision = state.get("precision", rows["default"]["precision"])
        for row in rows[self.dots.over]:
            if self.dots.rows is not None and row["name"] not in self.dots.rows:
                continue
            if self.dots.over == "hardware" and arithmetic[precision] not in row["peak_flops"]:
                continue
            found.append((row["name"], {self.dots.over: row["name"]}))
        return found

    # Faces

    def spec(self) -> dict[str, Any]:
        """Return the JSON that explorer.js draws, with the same bytes in every build."""
        from .spec import spec

        return spec(self)

    def alt_text(self, **state) -> str:
        """Describe the plot: the course of the leading curve, and the values at the cursor."""
        if self.scene:
            return scenes.find(self.kind).words(self.values(**state))
        v = self.values(**state)
        full = self.state(**state)
        shown = [c for c in self.curves if c.id in v["curves"]]
        if not shown:
            return "No curve is shown."
        lead = next((c for c in shown if c.role == "total"), shown[0])
        x = self.sweep
        name = lower(x.title)
        unit = find(x.name).unit
        if self.across:
            formula, scale = self.across
            first = describe(
                v["x"],
                v["across"][lead.id],
                name,
                unit,
                scale.unit or formula.gives.unit,
                x.log,
            )
            then = describe(v["x"], v["curves"][lead.id], name, unit, self.y_unit, x.log)
            text = f"{scale.title} {first}. {self.scale.title} {then}."
        else:
            text = (
                f"{capital(lead.label)} "
                f"{describe(v['x'], v['curves'][lead.id], name, unit, self.y_unit, x.log)}."
            )
        values = "; ".join(f"{c.label} {format_value(v['at'][c.id], self.y_unit)}" for c in shown)
        text = f"{text} At {name} {plain(full[x.name], unit, 4)}: {values}."
        for curve in shown:
            (band, of), value = v["bands"][curve.id], v["at"][curve.id]
            if of:
                ends = " to ".join(format_value(value * end, self.y_unit, 2) for end in band or ())
                text += f" {capital(f'{curve.band_label} {ends}: {of}' if band else of)}."
        for group in self.points:
            low, high = (
                format_value(end(p[1] for p in group.at), self.y_unit) for end in (min, max)
            )
            text += f" {capital(group.label)}: {len(group.at)} points from {low} to {high}."
        return text

    def table(self, **state) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of the data table, as text with units."""
        if self.scene:
            return scenes.find(self.kind).rows(self.values(**state))
        full = self.state(**state)
        shown = [c for c in self.curves if full.get(c.id) is not False]
        unit = find(self.sweep.name).unit
        head, rows = [self.sweep.title], []
        if self.across:
            head.append(self.across[1].title)
        head += [c.label for c in shown]
        for stop in self.sweep.stops():
            row = [format_value(stop, unit)]
            if self.across:
                formula, scale = self.across
                known = self.known(full, shown[0].given, shown[0].scenario) if shown else {}
                row.append(
                    format_value(
                        formula(known | {self.sweep.name: stop}), scale.unit or formula.gives.unit
                    )
                )
            for curve in shown:
                known = self.known(full, curve.given, curve.scenario) | {self.sweep.name: stop}
                row.append(format_value(curve.formula(known), self.y_unit))
            rows.append(row + [""] * len(self.points))
        for i, group in enumerate(self.points):
            for x, y, *label in group.at:
                cells = [format_value(x, unit) + "".join(f", {text}" for text in label)] + [""] * (
                    len(head) - 1
                )
                rows.append(
                    cells
                    + [""] * i
                    + [format_value(y, self.y_unit)]
                    + [""] * (len(self.points) - 1 - i)
                )
        return head + [group.label for group in self.points], rows

    def figure(self, width: float = 7.2, height: float = 4.2, /, **state):
        """Return a matplotlib Figure in the book's colours.

        Width and height are in inches and come by place, since a control may be named `width`;
        `state` sets the controls and the cursor, each within its range.  Raises ExplorerError for a
        value that no control allows.
        """
        from .figure import draw

        return draw(self, self.state(**state), width, height)

    def html(self) -> str:
        """Return the figure for a page: drawing, words, table, and the JSON for explorer.js."""
        from .figure import inline_svg

        e = html.escape
        head, rows = self.table()
        cells = "".join(
            '<tr><th scope="row">'
            + "</td><td>".join([f"{e(r[0])}</th><td>{e(r[1])}"] + [e(c) for c in r[2:]])
            + "</td></tr>"
            for r in rows
        )
        data = json.dumps(
            self.spec(), ensure_ascii=False, separators=(",", ":"), allow_nan=False
        ).replace("<", "\\u003c")
        caption = f'<p class="explorer-caption">{e(self.caption)}</p>' if self.caption else ""
        return (
            f'<figure class="explorer" id="explorer-{self.name}">'
            f'<p class="explorer-title">{e(self.title)}</p>'
            '<div class="explorer-static" role="img" '
            f'aria-label="{e(self.alt_text())}">{inline_svg(self)}</div>'
            f'<figcaption>{caption}<p class="explorer-words">{e(self.alt_text())}</p></figcaption>'
            f'<details class="explorer-data"><summary>Data as a table</summary><table><thead><tr>'
            + "".join(f'<th scope="col">{e(h)}</th>' for h in head)
            + f"</tr></thead><tbody>{cells}</tbody></table></details>"
            f'<script type="application/json" class="explorer-spec">{data}</script></figure>'
        )

    def widget(self):
        """Return the declared ipywidgets above the plot, tied to its traits; they are made once."""
        if self._widget is None:
            from .widget import build

            self._widget = build(self)
        return self._widget

    def _repr_mimebundle_(self, **_: Any):
        """Return HTML for a page, and a widget view unless HANDFUL_STATIC is set.

        HANDFUL_STATIC says that no kernel will answer the widget.
        """
        bundle = {"text/html": self.html(), "text/plain": f"{self.title}. {self.alt_text()}"}
        if os.environ.get("HANDFUL_STATIC"):
            return bundle
        view = self.widget()._repr_mimebundle_()
        data = view[0] if isinstance(view, tuple) else view
        return {**bundle, **{k: v for k, v in (data or {}).items() if "widget-view" in k}}


def lower(text: str) -> str:
    """Write the first letter small, unless the word is an abbreviation ("KV cache")."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
