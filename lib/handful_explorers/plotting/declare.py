"""The classes in which an explorer is declared, each checked when it is made.

An error names what was wrong and what is allowed, in one sentence, so that a mistake in a
declaration is found where it stands and not in a reader's browser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from handful.symbolic.formula import Formula
from handful.symbolic.quantities import find
from handful.units import round_times

CHOICES = ("hardware", "model", "precision")


class ExplorerError(ValueError):
    """A declaration that cannot become an explorer, or a state that it cannot take."""


@dataclass(frozen=True)
class Sweep:
    """The symbol along x: its range, how densely it is sampled, and where the cursor starts.

    follows: whether the cursor moves to what the page's scenario has when a reader changes that; a
    context that follows starts from the page's own where no `at` is given.

    >>> Sweep("context", 100, 1e6, follows=True).start  # of the book's own scenario
    8192.0
    >>> Sweep("batch", 0, 4096)
    Traceback (most recent call last):
    ...
    handful_explorers.plotting.declare.ExplorerError: The range of batch must rise from above 0 on a
    log axis;
    got 0 to 4096.
    """

    name: str
    low: float
    high: float
    log: bool = True
    points: int = 241
    at: float | None = None
    title: str = ""  # the label of the symbol, if empty
    follows: bool = False

    def __post_init__(self) -> None:
        quantity = find(self.name)
        if not self.low < self.high or (self.low <= 0 if self.log else self.low < 0):
            bound = "above 0 on a log axis" if self.log else "0 or above"
            raise ExplorerError(
                f"The range of {self.name} must rise from {bound}; got {self.low} to {self.high}."
            )
        if not 3 <= self.points <= 2001:
            raise ExplorerError(
                f"A sweep of {self.name} takes 3 to 2001 points; got {self.points}."
            )
        if self.at is not None and not self.low <= self.at <= self.high:
            raise ExplorerError(
                f"The cursor of {self.name} must start within {self.low} to {self.high}; got "
                f"{self.at}."
            )
        if not self.title:
            object.__setattr__(self, "title", quantity.label)

    @property
    def start(self) -> float:
        """Return where the cursor starts: `at`, the page's context, or the middle of the range."""
        if self.at is None and self.follows and self.name == "context":
            from handful.scenario import PAGE

            return float(PAGE["context"])
        middle = (self.low * self.high) ** 0.5 if self.log else (self.low + self.high) / 2
        return float(middle if self.at is None else self.at)

    def grid(self):
        """Return the sampled values, the same to the last few bits as plot.js makes them."""
        import numpy as np

        t = np.arange(self.points) / (self.points - 1)
        return (
            self.low * (self.high / self.low) ** t
            if self.log
            else self.low + (self.high - self.low) * t
        )

    def stops(self) -> list[float]:
        """Return a few round values for the data table.

        They are all values where these are few, 1, 3, 10, 30, …, round times, or even steps.
        """
        if self.points <= 17:
            return [float(x) for x in self.grid()]
        if not self.log:
            return [self.low + (self.high - self.low) * i / 8 for i in range(9)]
        seconds = find(self.name).unit == "s"
        for steps in ((1, 3), (1,), (1, 2, 5)):
            found = (
                round_times(self.low, self.high)
                if seconds
                else [
                    x
                    for e in range(-30, 31)
                    for m in steps
                    if self.low <= (x := float(f"{m}e{e}")) <= self.high
                ]
            )
            if 4 <= len(found) <= 10:
                return found
        return [self.low * (self.high / self.low) ** (i / 5) for i in range(6)]


@dataclass(frozen=True)
class Scale:
    """An axis: title, unit, and fixed ends where the plot should not fit itself.

    The unit is taken from the formula where it is None.
    """

    title: str
    unit: str | None = None
    log: bool = True
    min: float | None = None
    max: float | None = None

    def __post_init__(self) -> None:
        for end in (self.min, self.max):
            if end is not None and self.log and not end > 0:
                raise ExplorerError(
                    f"The ends of the log axis “{self.title}” must be above 0; got {end}."
                )
        if self.min is not None and self.max is not None and not self.min < self.max:
            raise ExplorerError(f"The axis “{self.title}” must rise; got {self.min} to {self.max}.")


class Shade(NamedTuple):
    """A band (low, high) of factors, or None, with what it is of or why there is none.

    Where `over` is given it holds from one value of the sweep to another, and `beyond` is said of a
    cursor outside.
    """

    band: tuple[float, float] | None
    text: str = ""
    over: tuple[float, float] | None = None
    beyond: str = ""

    def at(self, x: float) -> tuple[tuple[float, float] | None, str]:
        """Return the band at a value of the sweep, or None, and the words."""
        if self.over and not self.over[0] <= x <= self.over[1]:
            return None, self.beyond
        return self.band, self.text


@dataclass(frozen=True)
class Curve:
    """A formula drawn over the sweep.

    role: "total" (drawn strong), "part", "reference" (dashed grey).  band: factors (low, high) that
    shade what lies between low and high times the curve.  bands: in its place, a band for each
    class of scenarios, as ``measured.page_bands`` gives them; the first holds whose `when` fits the
    values of experts and devices, its `text` says of what, and where its band is None the text says
    that there is none.  It is drawn over its `batches` only, and `beyond` says so of a cursor
    elsewhere; so the plot sweeps the batch.  given: symbols held at a value; scenario: a hardware,
    model or precision of its own, so that one plot can hold a curve a chip.  whole: how its values
    are rounded where they are read out and are counts, as `whole_count` takes it; it is drawn as it
    is.  none: the words for a value that is 0 or endless ("no context fits").  needs: chips that
    hold the model alone; where there are fewer, words say that.
    """

    formula: Formula
    label: str
    role: str = "part"
    band: tuple[float, float] | None = None
    band_label: str = ""
    bands: Sequence[Mapping[str, Any]] = ()
    given: Mapping[str, float] = field(default_factory=dict)
    scenario: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""  # made of the label, if empty
    whole: str = ""
    none: str = ""
    needs: Formula | None = None

    def __post_init__(self) -> None:
        check_whole(self.label, self.whole)
        if self.role not in ("total", "part", "reference"):
            raise ExplorerError(
                f"The role of “{self.label}” must be total, part or reference; got {self.role!r}."
            )
        if self.band is not None and not 0 < self.band[0] < self.band[1]:
            raise ExplorerError(
                f"The band of “{self.label}” must be two rising factors above 0; got {self.band}."
            )
        if self.bands and self.band is not None:
            raise ExplorerError(
                f"“{self.label}” takes one band or a band for each class, not both."
            )
        missing = {"devices", "experts"} - {q.name for q in self.formula.inputs}
        if self.bands and missing:
            raise ExplorerError(
                f"“{self.label}” has a band for each class of scenarios, so its formula must use "
                f"devices and experts; it lacks {' and '.join(sorted(missing))}."
            )
        any_number = {row["when"]["experts"] for row in self.bands if row["when"]["most"] is None}
        if self.bands and any_number != {True, False}:
            raise ExplorerError(
                f"The bands of “{self.label}” must end, for dense models and for experts, with "
                "one for "
                "any number of chips (most: None)."
            )
        if not self.id:
            object.__setattr__(
                self, "id", re.sub(r"[^a-z0-9]+", "-", self.label.lower()).strip("-")
            )
        check_given(self.label, self.given, self.scenario)

    def band_at(self, known: Mapping[str, float]) -> Shade:
        """Return the band that holds for values of symbols; bands.js does the same."""
        for row in self.bands:
            most = row["when"]["most"]
            if row["when"]["experts"] == (known["experts"] > 1) and (
                most is None or known["devices"] <= most
            ):
                return Shade(row["band"], row["text"], row["batches"], row["beyond"])
        return Shade(self.band)


@dataclass(frozen=True)
class Mark:
    """A line across the plot where a formula of the symbols has its value.

    It is upright (axis "x") or level ("y").  band: factors (low, high); a shaded strip in place of
    a line.  limit: no more fits than this, so that all beyond is hatched, and words say so of a
    cursor there, or of a curve that is higher there.  needs: chips that hold the model alone; where
    there are fewer, words say that in place of the mark.  whole: as a curve's.  none: words that
    follow the label where the value is 0 or endless.
    """

    formula: Formula
    label: str
    axis: str = "x"
    band: tuple[float, float] | None = None
    given: Mapping[str, float] = field(default_factory=dict)
    scenario: Mapping[str, Any] = field(default_factory=dict)
    limit: bool = False
    needs: Formula | None = None
    whole: str = ""
    none: str = ""

    def __post_init__(self) -> None:
        check_whole(self.label, self.whole)
        if self.limit and self.band:
            raise ExplorerError(f"The limit “{self.label}” takes no band.")
        if self.axis not in ("x", "y"):
            raise ExplorerError(
                f"The mark “{self.label}” stands on axis 'x' or 'y'; got {self.axis!r}."
            )
        check_given(self.label, self.given, self.scenario)


@dataclass(frozen=True)
class Points:
    """Fixed points, (x, y) or (x, y, name) each, that a plot is held against.

    They are measured, published or simulated.  What takes time to work out comes as a function that
    gives them, asked once they are wanted.  when: controls with the values at which they are shown,
    for points that another setting has nothing to do with.

    Values are in the base units of the axes (seconds, bytes, tokens).

    >>> Points("measured", [(1, -2)])
    Traceback (most recent call last):
    ...
    handful_explorers.plotting.declare.ExplorerError: A point of “measured” is (x, y) or (x, y,
    name) with numbers
    from 0 up; got (1, -2).
    """

    label: str
    found: Sequence[tuple] | Callable[[], Sequence[tuple]]
    when: Mapping[str, Any] = field(default_factory=dict)

    def shown(self, state: Mapping[str, Any]) -> bool:
        """Return whether they are shown at a full state."""
        return all(state.get(name) == value for name, value in self.when.items())

    def __post_init__(self) -> None:
        if not callable(self.found):
            _ = self.at  # which checks the points, so that a wrong one is told at once

    def height(self, x: float) -> float | None:
        """Return the value of the point at x, or None."""
        return next((y for at, y, *_ in self.at if at == x), None)

    @cached_property
    def at(self) -> tuple[tuple, ...]:
        """Return the points as floats."""
        points = tuple(self.found() if callable(self.found) else self.found)
        for point in points:
            if len(point) not in (2, 3) or not all(
                isinstance(v, (int, float)) and 0 <= v < float("inf") for v in point[:2]
            ):
                raise ExplorerError(
                    f"A point of “{self.label}” is (x, y) or (x, y, name) with numbers from 0 up; "
                    f"got {point}."
                )
        return tuple((float(x), float(y), *name) for x, y, *name in points)


@dataclass(frozen=True)
class Control:
    """An ipywidgets control, tied to a symbol, to a choice of the scenario, or to a curve's id.

    FloatLogSlider, FloatSlider and IntSlider drive a symbol; Dropdown a symbol or "hardware",
    "model", "precision"; Checkbox shows and hides the curve whose id is `name`.  A Dropdown with
    `rows` picks a row of data: option → {symbol: value}, all of which are set at once; its name is
    free.  follows: whether it takes the value of the page's scenario when a reader changes that; it
    must start from the book's own scenario then.
    """

    widget: Any
    name: str
    label: str | None = None
    unit: str | None = None
    rows: Mapping[Any, Mapping[str, float]] | None = None
    follows: bool = False

    def __post_init__(self) -> None:
        if self.rows is None:
            return
        if self.kind() != "choice":
            raise ExplorerError(
                f"{self.name} picks a row of data, so its control must be a Dropdown."
            )
        for _, value in self.options():
            if value not in self.rows:
                raise ExplorerError(
                    f"{self.name} offers {value!r}, for which it has no row; it has "
                    f"{', '.join(map(str, self.rows))}."
                )
        for option, row in self.rows.items():
            for name, value in row.items():
                find(name).check(value)
            if set(row) != set(next(iter(self.rows.values()))):
                raise ExplorerError(
                    f"The rows of {self.name} must set the same symbols; {option!r} sets "
                    f"{', '.join(row) or 'none'}."
                )

    def kind(self) -> str:
        """Return the kind of control: log, linear, int, choice or check.

        It is known by class name, since ipywidgets is not imported for it.
        """
        names = {cls.__name__ for cls in type(self.widget).__mro__}
        for name, kind in (
            ("FloatLogSlider", "log"),
            ("FloatSlider", "linear"),
            ("IntSlider", "int"),
            ("Dropdown", "choice"),
            ("Checkbox", "check"),
        ):
            if name in names:
                return kind
        raise ExplorerError(
            f"The control of {self.name} must be a FloatLogSlider, FloatSlider, IntSlider, "
            "Dropdown or "
            f"Checkbox of ipywidgets; got {type(self.widget).__name__}."
        )

    def ends(self) -> tuple[float, float]:
        """Return the lowest and the highest value of a slider; FloatLogSlider holds exponents."""
        w = self.widget
        return (
            (float(w.base**w.min), float(w.base**w.max)) if self.kind() == "log" else (w.min, w.max)
        )

    def options(self) -> list[tuple[str, Any]]:
        # Dropdown keeps (label, value) pairs here whichever way its options were given.
        """Return the options of a Dropdown as (label, value)."""
        return [(str(label), value) for label, value in self.widget._options_full]

    def value(self):
        """Return the value that the control holds."""
        return self.widget.value

    def title(self) -> str:
        """Return what the control is called on the page."""
        return self.label or find(self.name).label

    def check(self, value):
        """Return `value` if the control can take it, or say what it can take."""
        kind = self.kind()
        if kind == "check":
            if not isinstance(value, bool):
                raise ExplorerError(f"{self.name} is on or off: True or False; got {value!r}.")
        elif kind == "choice":
            allowed = [option for _, option in self.options()]
            if value not in allowed:
                raise ExplorerError(
                    f"{self.name} must be one of {', '.join(map(str, allowed))}; got {value!r}."
                )
        else:
            low, high = self.ends()
            slack = 1e-9 * abs(high)
            if (
                isinstance(value, bool)
                or not isinstance(value, (int, float))
                or not low - slack <= value <= high + slack
            ):
                raise ExplorerError(
                    f"{self.name} must be between {low:g} and {high:g}; got {value!r}."
                )
        return value


@dataclass(frozen=True)
class Preset:
    """A named state: values of controls, and of the cursor, that show something.

    follow: whole numbers that a page works out for its scenario, each a readout by the name of what
    it sets; `set` has what they are for the machine and the model that the plot starts with.

    >>> Preset("Full", {"batch": 371}, {"context": 1})
    Traceback (most recent call last):
    ...
    handful_explorers.plotting.declare.ExplorerError: The preset “Full” sets no context, which
    follows the scenario; give its value at the start.
    """

    label: str
    set: Mapping[str, Any]
    follow: Mapping[str, Readout] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.follow:
            if name not in self.set:
                raise ExplorerError(
                    f"The preset “{self.label}” sets no {name}, which follows the scenario; give "
                    "its value at the start."
                )
        if not self.set:
            raise ExplorerError(
                f"The preset “{self.label}” sets nothing; give it a value for one control at least."
            )


@dataclass(frozen=True)
class Guess:
    """A question whose answer a reader guesses before the plot shows it.

    Exactly one of three says what is guessed, for the book's machine and model and for controls as
    they are declared.  draw: the id of a curve, drawn from its first point on.  level: the id of a
    curve or the label of a group of points, of which the value where the cursor starts is asked.
    mark: the label of an upright mark, whose place is asked.

    at: where a course is asked for, if not at even steps of the axis.  hump: whether the place of a
    hump is the answer, which is compared first.

    >>> Guess("How long does a step take?", draw="step", mark="floor")
    Traceback (most recent call last):
    ...
    handful_explorers.plotting.declare.ExplorerError: The guess “How long does a step take?” takes
    one of draw, level and mark; got 2 of them.
    """

    question: str
    draw: str = ""
    level: str = ""
    mark: str = ""
    at: tuple[float, ...] = ()
    hump: bool = False

    def __post_init__(self) -> None:
        count = sum(map(bool, (self.draw, self.level, self.mark)))
        if count != 1:
            raise ExplorerError(
                f"The guess “{self.question}” takes one of draw, level and mark; got {count} of "
                "them."
            )
        words = len(self.question.split())
        if "?" not in self.question or words > 50:
            raise ExplorerError(
                f"A guess asks a question of at most 50 words; got {words}, “{self.question}”."
            )

    @property
    def kind(self) -> str:
        """Return what is guessed: "draw", "level" or "mark"."""
        return "draw" if self.draw else "level" if self.level else "mark"

    @property
    def of(self) -> str:
        """Return the id of the curve, or the label of the mark or of the points."""
        return self.draw or self.level or self.mark


@dataclass(frozen=True)
class Readout:
    """A formula shown as a number at the cursor, or handed to a scene.

    A ratio that is meant as a share takes the unit "%"; a count is rounded as `whole` says, as a
    curve's, and `none` are the words for a value that is 0 or endless.
    """

    formula: Formula
    label: str | None = None
    digits: int = 3
    unit: str | None = None
    given: Mapping[str, float] = field(default_factory=dict)
    scenario: Mapping[str, Any] = field(default_factory=dict)
    whole: str = ""
    none: str = ""

    def __post_init__(self) -> None:
        check_whole(self.label or self.formula.name, self.whole)
        check_given(self.label or self.formula.name, self.given, self.scenario)


def check_given(label: str, given: Mapping, scenario: Mapping) -> None:
    """Check values that a part sets itself, and the parts of the scenario that it pins.

    Raises ExplorerError for a part of the scenario that cannot be pinned, and what `find` and
    `check` raise for symbols.
    """
    for name, value in given.items():
        find(name).check(value)
    for name in scenario:
        if name not in (*CHOICES, "context"):
            raise ExplorerError(
                f"“{label}” may pin hardware, model, precision or context; got {name!r}."
            )


def check_whole(label: str, whole: str) -> None:
    """Check how a count is rounded."""
    if whole not in ("", "up", "down", "near"):
        raise ExplorerError(
            f"“{label}” is rounded up, down or near, or not at all (''); got {whole!r}."
        )
