"""Check a whole explorer, and what its state may hold.

Each part of a declaration checks itself in ``declare``; here the parts are held against each other.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from handful.nearest import nearest
from handful.symbolic.quantities import find, table
from handful.units import UNITS

from . import scenes
from .declare import CHOICES, Control, ExplorerError

if TYPE_CHECKING:
    from .explorer import Explorer


def check(explorer: Explorer) -> None:
    """Check a declaration; raise ExplorerError for what cannot become an explorer."""
    name, kind = explorer.name, explorer.kind
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ExplorerError(
            f"An explorer's name takes lower-case letters, digits and hyphens; got {name!r}."
        )
    if kind not in ("curves", "parametric", *scenes.KINDS):
        raise ExplorerError(
            f"{name}: kind must be curves, parametric, {', '.join(scenes.KINDS)}; got {kind!r}."
        )
    for symbol, value in explorer.given.items():
        find(symbol).check(value)
    if not explorer.scene:
        check_curves(explorer)
    check_controls(explorer)
    check_followers(explorer)
    check_presets(explorer)
    check_points(explorer)
    check_guess(explorer)


def check_guess(explorer: Explorer) -> None:
    """Check that what a reader is to guess is there: a curve, a point or a mark of a plot."""
    guess = explorer.guess
    if guess is None:
        return
    if explorer.kind != "curves":
        raise ExplorerError(
            f"{explorer.name}: only a plot of curves over its sweep asks for a guess; this is "
            f"{explorer.kind}."
        )
    names = (
        [mark.label for mark in explorer.marks if mark.axis == "x"]
        if guess.mark
        else [curve.id for curve in explorer.curves]
    )
    if guess.level and any(group.label == guess.of for group in explorer.points):
        return  # that one of them stands at the cursor is tested: they may take long to work out
    if guess.of not in names:
        what = "upright mark" if guess.mark else "curve"
        raise ExplorerError(
            f"{explorer.name}: a guess asks for the {what} {guess.of!r}, which is none of "
            f"{', '.join(names) or 'its marks, of which it has none'}."
        )


def check_followers(explorer: Explorer) -> None:
    """Check that what follows the page's scenario starts from the book's own."""
    inputs = {c.name: c.value() for c in explorer.controls if c.follows}
    if (x := explorer.x) is not None and x.follows and (x.at is not None or x.name != "context"):
        inputs[x.name] = x.start
    if not inputs:
        return
    from handful.scenario import DEFAULT, values

    book: dict[str, Any] = {**values(**DEFAULT), **DEFAULT}
    for name, value in inputs.items():
        if book.get(name) is None:
            raise ExplorerError(
                f"{explorer.name}: {name} cannot follow the page's scenario, which does not have "
                f"it; the nearest are: {nearest(name, sorted(book))}."
            )
        if value != book[name]:
            raise ExplorerError(
                f"{explorer.name}: {name} follows the page's scenario, so it must start from the "
                f"book's own, {book[name]}; it starts from {value}."
            )


def check_points(explorer: Explorer) -> None:
    """Check that points are shown at values that controls can take."""
    names = {control.name: control for control in explorer.controls}
    for group in explorer.points:
        for name, value in group.when.items():
            if name not in names:
                raise ExplorerError(
                    f"{explorer.name} shows “{group.label}” at a value of {name}, for which it has "
                    "no control."
                )
            names[name].check(value)


def check_curves(explorer: Explorer) -> None:
    """Check that the curves have names of their own, one unit, and depend on what is swept."""
    name = explorer.name
    if explorer.x is None or explorer.y is None or not explorer.curves:
        raise ExplorerError(f"{name} needs a sweep x, a scale y and at least one curve.")
    for attribute in ("id", "label"):
        keys = [getattr(curve, attribute) for curve in explorer.curves]
        for key in keys:
            if keys.count(key) > 1:
                raise ExplorerError(
                    f"{name} has two curves of the {attribute} {key!r}; give each its own."
                )
    units = {curve.formula.gives.unit for curve in explorer.curves}
    if len(units) > 1:
        raise ExplorerError(
            f"{name} draws {' and '.join(sorted(units))} on one axis; its curves must share a unit."
        )
    if explorer.y_unit not in UNITS:
        raise ExplorerError(
            f"{name}: there is no unit {explorer.y_unit!r}; there are {', '.join(UNITS)}."
        )
    find(explorer.x.name).check(explorer.x.low)
    banded = [curve.label for curve in explorer.curves if curve.bands]
    if banded and (explorer.x.name != "batch" or explorer.across):
        raise ExplorerError(
            f"{name} has bands for classes at “{banded[0]}”, which are drawn over batches, so it "
            "must sweep the batch and draw it along x."
        )
    if explorer.x.name not in explorer.symbols():
        raise ExplorerError(
            f"{name} sweeps {explorer.x.name}, which none of its formulas uses; they use "
            f"{', '.join(sorted(explorer.symbols()))}."
        )


def check_controls(explorer: Explorer) -> None:
    """Check that each control drives what the explorer uses, and that none drives it twice."""
    symbols = explorer.symbols()
    inputs = set(scenes.find(explorer.kind).INPUTS) if explorer.scene else set()
    curves = {curve.id for curve in explorer.curves} | inputs
    seen = set()
    for control in explorer.controls:
        kind, name = control.kind(), control.name
        if name in seen:
            raise ExplorerError(f"{explorer.name} has two controls for {name}; one is enough.")
        seen.add(name)
        if control.rows is not None:
            if unused := set(next(iter(control.rows.values()))) - symbols:
                raise ExplorerError(
                    f"{explorer.name}: the rows of {name} set {', '.join(sorted(unused))}, which "
                    "none of its formulas uses."
                )
        elif kind == "check":
            if name not in curves:
                raise ExplorerError(
                    f"{explorer.name}: a Checkbox shows or hides a curve, and {name!r} is none of "
                    f"{', '.join(sorted(curves))}."
                )
        else:
            check_symbol_control(explorer, control, symbols | set(CHOICES) | inputs)


def check_symbol_control(explorer: Explorer, control: Control, allowed: Collection[str]) -> None:
    """Check a control of a symbol or of a choice of the scenario, one of `allowed`."""
    kind, name = control.kind(), control.name
    if explorer.x is not None and name == explorer.x.name:
        raise ExplorerError(
            f"{explorer.name} sweeps {name} along x, so it cannot be a control too."
        )
    if name not in allowed:
        raise ExplorerError(
            f"{explorer.name} has a control for {name}, which none of its formulas uses; the "
            f"nearest are: {nearest(name, sorted(allowed))}."
        )
    if name in CHOICES and kind != "choice":
        raise ExplorerError(
            f"{explorer.name}: {name} is chosen from names, so its control must be a Dropdown."
        )
    if kind != "choice":
        low, high = control.ends()
        if not low < high:
            raise ExplorerError(
                f"{explorer.name}: the range of {name} must rise; got {(low, high)}."
            )
        if name in table:
            table[name].check(low)


def check_presets(explorer: Explorer) -> None:
    """Check that every preset sets what the explorer has, within its range."""
    for preset in explorer.presets:
        for name, value in preset.set.items():
            try:
                check_entry(explorer, name, value)
            except ExplorerError as error:
                raise ExplorerError(f"{explorer.name}, preset “{preset.label}”: {error}") from None


def check_entry(explorer: Explorer, name: str, value: Any) -> Any:
    """Return a value of a state if it may stand there: a control, the cursor, or a choice.

    Raises ExplorerError for a name that the explorer lacks and for a value out of range.
    """
    for control in explorer.controls:
        if control.name == name:
            return control.check(value)
    x = explorer.x
    if x is not None and name == x.name:
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not x.low <= value <= x.high
        ):
            raise ExplorerError(f"{name} must be between {x.low:g} and {x.high:g}; got {value!r}.")
        return value
    if name in CHOICES:
        return value
    names = [c.name for c in explorer.controls] + ([x.name] if x else []) + list(CHOICES)
    raise ExplorerError(
        f"{explorer.name} has no control {name!r}; the nearest are: {nearest(name, names)}."
    )
