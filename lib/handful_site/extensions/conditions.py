"""Conditions on a scenario under which a sentence holds.

They are comparisons of formulas, such as ``step_time batch=1 > 0.01``.

A chapter says beside a sentence when it is true; the page shows it then, and the tests ask for
every chip, model, precision and context of the facts.  Both sides are a formula as `handful.query`
reads it, a value of the scenario, or a number, times a factor where need be (``2 * step_time
batch=64``); several comparisons are joined by ``and``, and ``not`` in front turns the whole round.

>>> short = Condition("context > balance_context_with_attention")
>>> short.holds(hardware="GB200 NVL72", model="DeepSeek-V3", precision="fp8", context=8192)
False
>>> short.holds(hardware="GB200 NVL72", model="DeepSeek-V3", precision="fp8", context=32768)
True
>>> Condition("context > balance_contest")
Traceback (most recent call last):
...
handful.query.QueryError: 'balance_contest' is neither a formula nor a value of a scenario;
the nearest are balance_context...
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from handful.nearest import nearest
from handful.query import CHOICES, QueryError, parse_live, registry

if TYPE_CHECKING:
    from handful.symbolic.expression_tree import Tree
    from handful.symbolic.formula import Formula

OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_COMPARISON = re.compile(r"^(.+?)\s*(>=|<=|>|<)\s*(.+)$")


@cache
def _symbols() -> frozenset[str]:
    from handful import scenario

    return frozenset(scenario.values())


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a formula or a symbol with what is set for it, or a number."""

    text: str
    formula: Formula | None = field(init=False, default=None)
    given: dict[str, float | str] = field(init=False, default_factory=dict)
    chosen: dict[str, float | str] = field(init=False, default_factory=dict)
    number: float | None = field(init=False, default=None)
    factor: float = field(init=False, default=1.0)
    name: str = field(init=False, default="")

    def __post_init__(self) -> None:
        def put(**values: object) -> None:
            for name, value in values.items():
                object.__setattr__(self, name, value)

        try:
            put(number=float(self.text))
            return
        except ValueError:
            pass
        factor, times, rest = self.text.partition("*")
        if times:
            try:
                put(factor=float(factor))
            except ValueError:
                raise QueryError(
                    f"{factor.strip()!r} in {self.text!r} is no number; write 2 * step_time "
                    "batch=1."
                ) from None
        name, given, _ = parse_live(rest.strip() if times else self.text)
        put(name=name)
        put(
            chosen={key: value for key, value in given.items() if key in CHOICES},
            given={key: value for key, value in given.items() if key not in CHOICES},
        )
        if name in registry():
            formula = registry()[name]
            put(formula=formula)
            known = {q.name for q in formula.inputs}
            for key in self.given:
                if key not in known and key != "context":
                    raise QueryError(
                        f"{name} does not depend on {key!r}; it takes {', '.join(sorted(known))}."
                    )
        elif name not in _symbols() | {"batch"}:
            raise QueryError(
                f"{name!r} is neither a formula nor a value of a scenario; the nearest are "
                f"{nearest(name, [*registry(), *_symbols()])}."
            )

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the names of the values that it needs, apart from those with a default."""
        if self.number is not None:
            return ()
        if self.formula is None:
            return (self.name,)
        return tuple(
            q.name for q in self.formula.inputs if q.default is None and q.name not in self.given
        )

    def value(self, known: Mapping[str, Any]) -> Any:
        """Compute its number, or an array where `known` holds arrays.

        Returns None where a value that it needs is missing.
        """
        if self.number is not None:
            return self.number
        if any(known.get(name) is None for name in self.needs):
            return None
        return self.factor * (
            known[self.name] if self.formula is None else self.formula({**known, **self.given})
        )

    def page(self) -> float | dict[str, Any]:
        """Return the same for the page.

        It is a number, or a dict of the tree, what is set and what has a default.
        """
        if self.number is not None:
            return self.number
        tree: Tree = self.name
        rest: dict[str, Any] = {}
        if self.formula is not None:
            tree = self.formula.tree()
            rest = {
                "values": {
                    q.name: q.default
                    for q in self.formula.inputs
                    if q.default is not None and q.name not in self.given
                }
            }
        return {
            "tree": tree if self.factor == 1 else ["*", self.factor, tree],
            "set": {**self.chosen, **self.given},
            **rest,
        }


class Condition:
    """A condition, read from its text.

    Parameters
    ----------
    text : str
        ``[not] SIDE > SIDE [and SIDE < SIDE …]``, with >, <, >= or <=.

    Raises
    ------
    QueryError
        One sentence: what is no comparison, no formula or no value of a scenario.
    """

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self.negated = self.text.startswith("not ")
        self.parts: list[tuple[str, Side, Side]] = []
        for part in self.text.removeprefix("not ").split(" and "):
            found = _COMPARISON.match(part.strip())
            if not found:
                raise QueryError(
                    f"{part.strip()!r} is no comparison; write two sides with >, <, >= or <= "
                    "between them."
                )
            self.parts.append((found[2], Side(found[1].strip()), Side(found[3].strip())))

    def evaluate(self, known_for: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Any:
        """Compute the truth for the values that `known_for` gives for what a side has chosen.

        A side whose value is None counts as not true.

        >>> from handful import scenario
        >>> bool(Condition("device_price > 0").evaluate(lambda chosen: scenario.values(**chosen)))
        True
        """
        truth = True
        for symbol, left, right in self.parts:
            a, b = (side.value(known_for(side.chosen)) for side in (left, right))
            truth = truth & (False if a is None or b is None else OPERATORS[symbol](a, b))
        return self._turned(truth)

    def _turned(self, truth: Any) -> Any:
        if not self.negated:
            return truth
        return not truth if isinstance(truth, bool) else ~truth

    def holds(self, **choice: Any) -> bool:
        """Return whether it is true for a scenario.

        `choice` is `hardware`, `model`, `precision`, `context`, and `batch` where it stands free.
        """
        from handful import scenario

        batch = {"batch": choice.pop("batch")} if "batch" in choice else {}
        return bool(
            self.evaluate(lambda chosen: {**scenario.values(**{**choice, **chosen}), **batch})
        )

    def page(self) -> dict[str, Any]:
        """Return the same for web/conditions.js, which shows and hides by it."""

        def as_json(value: float | dict[str, Any]) -> float | str | dict[str, Any]:
            return value if not isinstance(value, float) or math.isfinite(value) else str(value)

        return {
            "not": self.negated,
            "all": [
                [symbol, as_json(left.page()), as_json(right.page())]
                for symbol, left, right in self.parts
            ],
        }

    def __repr__(self) -> str:
        return f"Condition({self.text!r})"
