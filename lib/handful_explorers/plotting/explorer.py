"""Explorers: plots that are declared once and shown in four ways.

A page's JSON (``spec``), drawn by explorer.js; a matplotlib ``figure`` for print and for readers
without scripts; words and a table (``alt_text``, ``table``); and, where a kernel answers,
ipywidgets beside an anywidget (``widget``). The numbers behind all four come from the same
formulas.

>>> from ipywidgets import FloatLogSlider
>>> from handful.balance import weight_uses_at_balance
>>> e = Explorer(
...     "doctest",
...     "Balance",
...     x=Sweep("memory_bandwidth", 1e12, 2e13),
...     y=Scale("Tokens per weight"),
...     curves=[Curve(weight_uses_at_balance, "machine balance")],
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

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from handful.symbolic.formula import Formula

from . import evaluation, figure, markup, scenes, spec, validation, widget
from .data_table import data_table
from .declare import (
    Control,
    Curve,
    ExplorerError,
    Guess,
    Mark,
    Points,
    Preset,
    Readout,
    Scale,
    Sweep,
)
from .describe import alt_text

__all__ = [
    "Control",
    "Curve",
    "Explorer",
    "ExplorerError",
    "Guess",
    "Mark",
    "Points",
    "Preset",
    "Readout",
    "Scale",
    "Sweep",
]


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
    curves, marks, controls, readouts, presets : sequences of the classes of that name
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
    guess : Guess, optional
        What a reader of the page is asked before the plot shows its curves.
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
        points: Sequence[Points] = (),
        controls: Sequence[Control] = (),
        readouts: Sequence[Readout | Formula] = (),
        presets: Sequence[Preset] = (),
        stack: bool = False,
        given: Mapping[str, float] | None = None,
        kind: str = "curves",
        caption: str = "",
        guess: Guess | None = None,
        numbers: Mapping[str, Readout | Formula] = {},
        data: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        self.name, self.title, self.caption = name, title, caption
        self.x, self.y, self.across, self.stack = x, y, across, stack
        self.curves, self.marks, self.points = tuple(curves), tuple(marks), tuple(points)
        self.controls, self.presets = tuple(controls), tuple(presets)
        self.guess = guess
        self.readouts = tuple(r if isinstance(r, Readout) else Readout(r) for r in readouts)
        self.numbers = {
            key: n if isinstance(n, Readout) else Readout(n) for key, n in numbers.items()
        }
        self._data = data or {}
        self.given = dict(given or {})
        self.kind = "parametric" if across else kind
        validation.check(self)

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

    @property
    def y_unit(self) -> str:
        """Return the unit of y: its own, or that of the curves."""
        return self.scale.unit or self.curves[0].formula.gives.unit

    @cached_property
    def data(self) -> dict[str, Any]:
        """Return the further settings of a scene."""
        return dict(self._data() if callable(self._data) else self._data)

    def takes_integers(self, name: str) -> bool:
        """Return whether a control takes whole numbers only."""
        return any(c.name == name and c.kind() == "int" for c in self.controls)

    def __repr__(self) -> str:
        return f"<Explorer {self.name}: {self.title}>"

    def formulas(self) -> list[Formula]:
        """Return every formula that the explorer draws or reads out."""
        found = (
            [c.formula for c in self.curves]
            + [m.formula for m in self.marks]
            + [needed for _, needed in self.needs()]
            + [r.formula for r in self.readouts]
        )
        found += [n.formula for n in self.numbers.values()]
        if self.across:
            found.append(self.across[0])
        return found

    def needs(self) -> list[tuple[Curve | Mark, Formula]]:
        """Return the curves and marks that a model has to fit for, with the chips it fills."""
        parts: list[Curve | Mark] = [*self.marks, *self.curves]
        return [(part, part.needs) for part in parts if part.needs is not None]

    def symbols(self) -> set[str]:
        """Return every symbol that a formula of the explorer uses."""
        return {q.name for f in self.formulas() for q in f.inputs}

    def state(self, **changes) -> dict[str, Any]:
        """Return the full state of controls and cursor, with `changes` checked and set."""
        return evaluation.full_state(self, changes)

    def symbol_values(
        self,
        state: Mapping[str, Any],
        given: Mapping[str, float] = {},
        scenario: Mapping[str, Any] = {},
    ) -> dict[str, Any]:
        """Return the values of symbols at a full state, as a part with these settings sees them."""
        return evaluation.symbol_values(self, state, given, scenario)

    def numbers_at(self, state: Mapping[str, Any]) -> dict[str, float]:
        """Return the values of the formulas that a scene declares, by key."""
        return evaluation.numbers(self, state)

    def values(self, **state) -> dict[str, Any]:
        """Return all that the plot shows, as arrays.

        Keys: "x" (the grid), "curves" (id → array), "across" (id → array, parametric only), "at"
        (id → value at the cursor), "bands" (id → Shade), "marks" (label →
        value), "places" (label → where it stands, and ±inf for the end that lies beyond),
        "lacking" (label → chips that the model alone takes, where there are fewer),
        "readouts" (label → value), "points" (places of the groups that are shown).
        """
        full = self.state(**state)
        if self.scene:
            return scenes.find(self.kind).run(self, full)
        return evaluation.values(self, full)

    def spec(self) -> dict[str, Any]:
        """Return the JSON that explorer.js draws, with the same bytes in every build."""
        return spec.spec(self)

    def alt_text(self, **state) -> str:
        """Describe the plot: the course of the leading curve, and the values at the cursor."""
        values = self.values(**state)
        if self.scene:
            return scenes.find(self.kind).words(values)
        return alt_text(self, self.state(**state), values)

    def table(self, **state) -> tuple[list[str], list[list[str]]]:
        """Return the head and the rows of the data table, as text with units."""
        if self.scene:
            return scenes.find(self.kind).rows(self.values(**state))
        return data_table(self, self.state(**state))

    def figure(self, width: float = 7.2, height: float = 4.2, /, **state):
        """Return a matplotlib Figure in the book's colours.

        Width and height are in inches and come by place, since a control may be named `width`;
        `state` sets the controls and the cursor, each within its range.  Raises ExplorerError for a
        value that no control allows.
        """
        return figure.draw(self, self.state(**state), width, height)

    def html(self) -> str:
        """Return the figure for a page: drawing, words, table, and the JSON for explorer.js."""
        return markup.figure_element(self)

    def widget(self):
        """Return the declared ipywidgets above the plot, tied to its traits; they are made once."""
        return widget.build(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return widget.mimebundle(self)
