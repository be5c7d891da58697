"""Explorers that draw shapes instead of curves, one module per kind.

Each has a twin in JavaScript, which lies beside it and has the same name.  A module here holds

- ``INPUTS``: name → (label, unit, usual value) of what controls may set besides symbols and the
  scenario;
- ``run(explorer, state)``: a dict of plain values; ``explorer.numbers_at(state)`` gives the
  declared formulas' values;
- ``picture(values, width)``: the height and the list of shapes (``shapes.py``) that show them at a
  width in pixels;
- ``readouts(values)``: (label, text, note) of each number under the drawing;
- ``words(values)``: a description of the drawing in words, for those who do not see it;
- ``rows(values)``: head and rows of the data table.

The twin exports the same functions; tests hold numbers, words, table and shapes of both against
each other in a browser.

>>> sorted(set(KINDS) & {"bars", "strip"})
['bars', 'strip']
>>> find("bars").INPUTS
{}
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

KINDS = tuple(
    sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name != "shapes")
)


def find(kind: str) -> ModuleType:
    """Return the module of a kind."""
    return importlib.import_module(f"{__name__}.{kind}")


def inputs(explorer, state) -> dict:
    """Return what the controls set, over the usual values of the scene's inputs.

    A value is a whole number where its control is.
    """
    usual = {name: value for name, (_, _, value) in find(explorer.kind).INPUTS.items()}
    return usual | {
        name: round(value) if explorer.takes_integers(name) else value
        for name, value in state.items()
    }
