"""A problem: its texts, what is drawn, and its answer and misconceptions as trees.

`handful_study.problems` makes problems from the files of the book.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from handful.symbolic.dimensions import NONE, Dimension
from handful.symbolic.quantities import table
from handful.units import UNITS, format_value

from . import drawing
from .author_expressions import author_tree, dimension, unit_for, unit_of
from .drawing import ROWS
from .expressions import evaluate, names
from .pipeline_schedules import Goal
from .source import Entry, Part
from .words import without_roles

TOLERANCE = 0.02


@dataclass(frozen=True)
class Wrong:
    """A misconception: what it leads to, and the feedback on it.

    `tree` is the tree of its result; for a schedule it is the name of its pattern.
    """

    tree: object
    says: str


@dataclass(frozen=True)
class Choice:
    """A choice of a multiple-choice question; it is right where `when`, a tree, is positive."""

    text: str
    when: object
    says: str


@dataclass(frozen=True)
class Problem:
    """A problem; `kind` is number, expression, choice or schedule."""

    id: str
    kind: str
    level: str
    chapter: str
    section: str
    lecture: str | None
    text: Part
    hints: tuple[Part, ...]
    solution: Part
    entry: Entry
    choices_drawn: Mapping[str, tuple] = field(default_factory=dict)
    cases: tuple[Mapping[str, object], ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    answer: object = None
    unit: str = "1"
    dimension: Dimension = NONE
    tolerance: float = TOLERANCE
    named_unit: str = ""  # in which the question asks, or what it counts
    wrong: tuple[Wrong, ...] = ()
    letters: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    rubric: tuple[str, ...] = ()
    schedule: Mapping[str, object] = field(default_factory=dict)

    def draw(self, seed: int) -> dict:
        """Draw the values of a seed, by name: rows of the scenario, numbers, and ``case``.

        Each name takes one number of `handful_evidence.random32`, in the order of the head; the
        cases come last.
        """
        return drawing.draw(self.choices_drawn, self.cases, seed)

    def values(self, seed: int) -> dict[str, float]:
        """Return the values of all symbols for a seed: the scenario's, then the drawn ones."""
        if seed not in self._values:
            self._values.clear()  # of one seed much is asked, then of another
            self._values[seed] = drawing.values(self.draw(seed))
        return self._values[seed]

    def right(self, seed: int) -> float:
        """Return the answer to a problem that asks for a number."""
        return self._numbers_of(seed)[0]

    def wrong_values(self, seed: int) -> list[float]:
        """Return the result of each misconception."""
        return self._numbers_of(seed)[1:]

    def _numbers_of(self, seed: int) -> list[float]:
        if seed not in self._numbers:
            self._numbers.clear()
            values = self.values(seed)
            self._numbers[seed] = [
                evaluate(tree, values)
                for tree in (self.answer, *(wrong.tree for wrong in self.wrong))
            ]
        return self._numbers[seed]

    def drawn_text(self, request: str, seed: int) -> str:
        """Return the text of a ``{drawn}`` role: a row's name, or a value with its unit."""
        if request not in self._drawn_requests:
            self._drawn_requests[request] = self.parse_drawn(request)
        shown = self._drawn_requests[request]
        if row := shown["row"]:
            drawn = self.draw(seed)
            return drawn["case"]["name"] if row == "case" else str(drawn[row])
        return format_value(
            evaluate(shown["tree"], self.values(seed)), shown["unit"], shown["digits"]
        )

    def words(self, markdown: str, seed: int) -> str:
        """Return a text of this problem as plain Markdown, with the values drawn for a seed."""
        return without_roles(markdown, lambda request: self.drawn_text(request, seed))

    @cached_property
    def factors(self) -> tuple[str, ...]:
        """Return the inputs of the answer that count something: chips, layers, experts, tokens."""
        return tuple(
            name
            for name in sorted(names(self.answer))
            if name in table and UNITS[table[name].unit].kind == "count"
        )

    @cached_property
    def _drawn_requests(self) -> dict:
        return {}

    @cached_property
    def _numbers(self) -> dict[int, list[float]]:
        return {}

    @cached_property
    def _values(self) -> dict[int, dict[str, float]]:
        return {}

    def parse_drawn(self, request: str) -> dict:
        """Parse a ``{drawn}`` request into {"row": name} or {"tree", "unit", "digits"}.

        ``batch``, ``2 * step_time digits=2``, ``weight_bytes unit=B``.
        """
        settings = dict(re.findall(r"\b(digits|unit)=(\S+)", request))
        text = re.sub(r"\s*\b(?:digits|unit)=\S+", "", request).strip()
        if text in ROWS or text == "case":
            if text not in self.choices_drawn and not (text == "case" and self.cases):
                raise self.entry.error(f"the text shows {text!r}, which is not drawn.")
            return {"row": text}
        tree = author_tree(text, self.entry, "the text", self.units, self.bound_names)
        unit = (
            settings.get("unit")
            or unit_of(text, self.units)
            or unit_for(dimension(text, self.units, self.bound_names))
        )
        if unit not in UNITS or not settings.get("digits", "3").isdecimal():
            raise self.entry.error(
                f"{request!r} asks for what is no unit, or no number of digits; units are "
                f"{', '.join(UNITS)}.",
                "the text",
            )
        digits = int(
            settings.get(
                "digits",
                6 if text in self.choices_drawn or any(text in case for case in self.cases) else 3,
            )
        )
        return {"row": None, "tree": tree, "unit": unit, "digits": digits}

    @property
    def bound_names(self) -> set[str]:
        """Return the names that stand for themselves and not for a formula.

        These are the names to which the head gives values, and an answer's letters.
        """
        return {
            *self.letters,
            *self.choices_drawn,
            *(name for case in self.cases for name in case),
        } - {*ROWS, "case", "name"}


def schedule_goal(problem: Problem, seed: int) -> Goal:
    """Return what a schedule has to reach, for one seed."""
    found = {name: evaluate(tree, problem.values(seed)) for name, tree in problem.schedule.items()}
    return Goal(
        int(found["stages"]),
        int(found["micro_batches"]),
        found["backward"],
        found.get("weights", 0.0),
        found["bubble_at_most"],
        found["in_flight_at_most"],
    )
