"""Problems: numbers drawn from a seed, computed answers, and known misconceptions.

A problem of ``exercises/problems/CHAPTER.md``::

    ## step-of-a-dense-model

    ```yaml
    level: apply
    section: latency-and-cost#the-step-line-by-line
    draw:
      hardware: [H100 SXM, B200 SXM]
      model: Llama 3.1 70B
      precision: fp8
      batch: 16..256 times 2
      context: 1000..8000 by 500
    answer: step_time
    wrong:
      - value: memory_time
        says: You left out what arithmetic takes; the step lasts as long as the slower of the two.
    ```

    {drawn}`batch` sequences of {drawn}`context` wait on {drawn}`devices` × {drawn}`hardware`.  How
    long is a step?

    ### Hint
    ### Hint
    ### Solution

Kinds, by what the head has:

- ``answer``: a number.  An expression over quantities, formulas (``step_time``,
  ``step_time(batch=1)``), and what is drawn.
  ``unit`` (of ``handful.units``) where the answer is no quantity's own; ``tolerance`` where it is
  not 2 %.
- ``answer`` and ``letters``: a formula in those quantities, checked for equality of value.
  Texts of choices and of misconceptions are Markdown too, and may show what is drawn.
- ``choices``: each with ``text`` and ``says``; exactly one has ``right: true``, or a ``when`` that
  is positive.
- ``schedule``: see `handful_study.pipeline_schedules`.

``draw`` takes a value, a list, ``low..high by step`` or ``low..high times factor``; ``hardware``,
``model`` and ``precision`` choose a scenario (the book's first where they are not drawn), all else
are quantities, or names with a unit in ``units``. ``cases`` is a list of mappings of which one is
drawn: ``name`` and values, where a text is asked for (`handful.query`). Each problem has two hints
and a solution; judgement has a ``rubric`` too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import sympy

from handful import query as ask
from handful.symbolic.dimensions import NONE, Dimension, DimensionError, dimension_of
from handful.symbolic.parse_quantity import read
from handful.symbolic.quantities import table
from handful.units import UNITS, format_value

from . import drawing, expressions
from .drawing import ROWS
from .expressions import ExpressionError, evaluate, to_sympy
from .pipeline_schedules import DEFAULTS, FIELDS, OPTIONAL, PATTERNS, Goal
from .source import Entry, Part, SourceError, check_fields, check_place, read_all
from .words import plain

LEVELS = ("apply", "derive", "judge")
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
        if request not in self._shown:
            self._shown[request] = self.parse_drawn(request)
        shown = self._shown[request]
        if row := shown["row"]:
            drawn = self.draw(seed)
            return drawn["case"]["name"] if row == "case" else str(drawn[row])
        return format_value(
            evaluate(shown["tree"], self.values(seed)), shown["unit"], shown["digits"]
        )

    def words(self, markdown: str, seed: int) -> str:
        """Return a text of this problem as plain Markdown, with the values drawn for a seed."""
        return plain(markdown, lambda request: self.drawn_text(request, seed))

    @cached_property
    def _shown(self) -> dict:
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
        tree = author_tree(text, self.entry, "the text", self.units, self.named)
        unit = (
            settings.get("unit")
            or unit_of(text, self.units)
            or unit_for(dimension(text, self.units, self.named))
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
    def named(self) -> set[str]:
        """Return the names that stand for themselves and not for a formula.

        These are the names to which the head gives values, and an answer's letters.
        """
        return {
            *self.letters,
            *self.choices_drawn,
            *(name for case in self.cases for name in case),
        } - {*ROWS, "case", "name"}


# What authors write


def author_tree(
    text: str,
    entry: Entry,
    where: str,
    units: Mapping[str, str] = {},
    named: Set[str] = frozenset(),
):
    """Parse an author's expression: drawn names, then formulas, then quantities.

    A formula's name stands for its tree in inputs alone; ``name(batch=1)`` puts a value in place of
    an input.
    """
    formulas = ask.registry()

    def resolve(name: str, settings: dict):
        if name in units or name in named or (name in table and name not in formulas):
            if settings:
                raise entry.error(f"{name} is no formula, so it takes no settings.", where)
            return name
        if name not in formulas:
            raise entry.error(
                f"there is no formula or quantity {name!r}; the nearest are "
                f"{ask.nearest(name, [*formulas, *table])}.",
                where,
            )
        tree = _tree_of(name)
        known = expressions.names(tree)
        for setting in settings:
            if setting not in known:
                raise entry.error(
                    f"{name} does not depend on {setting!r}; it takes {', '.join(sorted(known))}.",
                    where,
                )
        return expressions.replace(tree, settings)

    try:
        return expressions.parse(str(text), resolve)
    except ExpressionError as error:
        raise entry.error(str(error), where) from None


@cache
def _tree_of(formula: str):
    return ask.registry()[formula].tree()


def dimension(text: str, units: Mapping[str, str] = {}, named: Set[str] = frozenset()) -> Dimension:
    """Return the dimension of an author's expression; a formula has that of its result.

    >>> str(dimension("memory_bandwidth * step_time(batch=1) / devices"))
    'byte/device^2'
    >>> str(dimension("rounds / 2", {"rounds": "1"}))
    'a pure number'
    """
    formulas = ask.registry()

    def of(symbol) -> Dimension:
        name = symbol.name
        if name in units:
            return NONE if units[name] == "1" else read(f"1 {units[name]}")[1] or NONE
        return (
            formulas[name].gives.dimension
            if name in formulas and name not in named
            else table[name].dimension
        )

    outline = expressions.parse(str(text), lambda name, settings: name)
    return dimension_of(to_sympy(outline, lambda name: sympy.Symbol(name, positive=True)), of)


def unit_of(name: str, units: Mapping[str, str]) -> str | None:
    """Return the unit in which a quantity or formula of that name is shown.

    For an unknown name the result is None.
    """
    if name in units:
        return units[name]
    formulas = ask.registry()
    return (
        formulas[name].gives.unit
        if name in formulas
        else table[name].unit
        if name in table
        else None
    )


def unit_for(wanted: Dimension) -> str:
    """Return a unit of `handful.units` for a dimension.

    >>> unit_for(Dimension(byte=1, time=-1)), unit_for(NONE)
    ('B/s', '1')
    """
    if wanted == NONE:
        return "1"
    for q in table.values():
        if q.dimension == wanted:
            return q.unit
    return "1"


_REQUIRED = ("level", "section")
_OPTIONAL = (
    "lecture",
    "draw",
    "cases",
    "units",
    "answer",
    "unit",
    "tolerance",
    "wrong",
    "letters",
    "choices",
    "rubric",
    "schedule",
)


def make(entry: Entry) -> Problem:
    """Return the problem that an entry describes, or raise a SourceError that names the fault."""
    check_fields(entry, _REQUIRED, _OPTIONAL)
    head = entry.head
    level = entry.one_of("level", LEVELS)
    chapter, section, lecture = check_place(entry)
    titles = [part.title for part in entry.parts]
    if titles != ["", "Hint", "Hint", "Solution"]:
        raise entry.error(
            "a problem is its text, two times ### Hint, then ### Solution; got "
            f"{', '.join(title or 'the text' for title in titles)}."
        )
    for part in entry.parts:
        if not part.text:
            raise entry.error(f"{part.title or 'the text'} is empty.")
    text, *hints, solution = entry.parts
    kinds = [name for name in ("choices", "schedule", "answer") if name in head]
    if len(kinds) != 1:
        raise entry.error("a problem has either an answer, choices or a schedule.")
    kind = {
        "choices": "choice",
        "schedule": "schedule",
        "answer": "expression" if "letters" in head else "number",
    }[kinds[0]]
    draw = _mapping(entry, "draw")
    units = {name: str(unit) for name, unit in _mapping(entry, "units").items()}
    drawn = {name: drawing.drawn_values(name, given, entry) for name, given in draw.items()}
    cases = tuple(_case(case, entry) for case in head.get("cases") or ())
    for name in {*drawn, *(key for case in cases for key in case)} - {*ROWS, "name", "case"}:
        if name not in table and name not in units:
            raise entry.error(
                f"{name!r} is no quantity, so it needs a unit in units; the nearest quantities are "
                f"{ask.nearest(name, table)}.",
                "draw",
            )
    made = Problem(
        entry.id,
        kind,
        level,
        chapter,
        section,
        lecture,
        text,
        tuple(hints),
        solution,
        entry,
        drawn,
        cases,
        units,
        tolerance=_tolerance(entry),
        letters=_letters(entry) if kind == "expression" else (),
        rubric=tuple(map(str, head.get("rubric") or ())),
    )
    extra: dict = {}
    if kind in ("number", "expression"):
        extra["answer"] = author_tree(head["answer"], entry, "answer", units, made.named)
        extra["wrong"] = tuple(
            Wrong(
                author_tree(item["value"], entry, "wrong", units, made.named),
                str(item["says"]).strip(),
            )
            for item in _items(entry, "wrong", ("value", "says"))
        )
    if kind == "expression":
        unknown = (
            expressions.names(extra["answer"])
            - set(made.letters)
            - {q.name for q in table.values() if q.constant}
        )
        unknown -= {q.name for q in table.values() if q.default is not None}
        if unknown:
            raise entry.error(
                f"the answer holds {', '.join(sorted(unknown))}, which is not among its letters.",
                "letters",
            )
    if kind == "choice":
        extra["choices"] = tuple(
            _choice(item, entry, units, made.named)
            for item in _items(entry, "choices", ("text", "says"), ("right", "when"))
        )
        if len(extra["choices"]) < 2:
            raise entry.error("two choices at least are expected.", "choices")
    if kind == "schedule":
        extra["schedule"] = _read_goal(entry, units, made.named)
        extra["wrong"] = _read_schedule_wrong(entry, _items(entry, "wrong", ("value", "says")))
    made = replace(made, **extra)
    if kind == "number":
        try:
            found = dimension(head["answer"], units, made.named)
        except DimensionError as error:
            raise entry.error(f"{error}", "answer") from None
        unit = str(
            head.get("unit") or unit_of(str(head["answer"]).strip(), units) or unit_for(found)
        )
        if unit not in UNITS:
            raise entry.error(f"there is no unit {unit!r}; there are {', '.join(UNITS)}.", "unit")
        made = replace(made, unit=unit, dimension=found)
    return made


def _mapping(entry: Entry, name: str) -> dict:
    value = entry.head.get(name) or {}
    if not isinstance(value, dict):
        raise entry.error("lines of the form name: value are expected.", name)
    return value


def _items(
    entry: Entry, name: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> list[dict]:
    value = entry.head.get(name) or []
    if not isinstance(value, list):
        raise entry.error("a list is expected.", name)
    for item in value:
        if (
            not isinstance(item, dict)
            or any(key not in item for key in required)
            or set(item) - {*required, *optional}
        ):
            more = f", and may have {' or '.join(optional)}" if optional else ""
            raise entry.error(f"each needs {' and '.join(required)}{more}; got {item!r}.", name)
    return value


def _tolerance(entry: Entry) -> float:
    value = entry.head.get("tolerance", TOLERANCE)
    if isinstance(value, str) and (found := re.fullmatch(r"\s*([\d.]+)\s*%\s*", value)):
        value = float(found[1]) / 100
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 0.5:
        raise entry.error(
            f"a share up to one half is expected, such as 2 %; got {value!r}.", "tolerance"
        )
    return float(value)


def _letters(entry: Entry) -> tuple[str, ...]:
    letters = entry.head["letters"]
    if not isinstance(letters, list) or not letters or any(name not in table for name in letters):
        unknown = (
            [name for name in letters if name not in table]
            if isinstance(letters, list)
            else letters
        )
        raise entry.error(f"a list of quantities is expected; {unknown!r} are none.", "letters")
    return tuple(letters)


def _choice(item: dict, entry: Entry, units, named) -> Choice:
    if "when" in item:
        when = author_tree(item["when"], entry, "choices", units, named)
    else:
        when = 1 if item.get("right") is True else -1
    return Choice(str(item["text"]).strip(), when, str(item["says"]).strip())


def _case(case, entry: Entry) -> dict:
    if not isinstance(case, dict) or "name" not in case:
        raise entry.error(f"each case needs a name; got {case!r}.", "cases")
    return {
        key: value if key == "name" else drawing.number(value, key, entry, "cases")
        for key, value in case.items()
    }


@cache
def _entries() -> dict[str, Entry]:
    return read_all("problems", lambda entry: entry)


@cache
def _made(name: str) -> Problem:
    return make(_entries()[name])


@cache
def problems() -> dict[str, Problem]:
    """Return every problem of the book, by id."""
    return {name: _made(name) for name in _entries()}


def problem(name: str) -> Problem:
    """Return the problem of that id, or raise a SourceError that lists the nearest ids.

    No other problem is made.
    """
    if name not in _entries():
        raise SourceError(
            f"There is no problem {name!r}; the nearest are {ask.nearest(name, _entries())}."
        )
    return _made(name)


def _read_goal(entry: Entry, units: Mapping[str, str], named: set[str]) -> dict[str, object]:
    """Return the trees of a head's ``schedule``."""
    given = entry.head["schedule"]
    if (
        not isinstance(given, dict)
        or any(name not in given for name in FIELDS)
        or set(given) - {*FIELDS, *OPTIONAL}
    ):
        raise entry.error(
            f"{', '.join(FIELDS)} are needed, and {' and '.join(OPTIONAL)} may be given.",
            "schedule",
        )
    return {
        name: author_tree(str(text), entry, "schedule", units, named)
        for name, text in {**DEFAULTS, **given}.items()
    }


def _read_schedule_wrong(entry: Entry, items: list[dict]) -> tuple[Wrong, ...]:
    """Return the misconceptions of a schedule, by the names of `PATTERNS`."""
    for item in items:
        if item["value"] not in PATTERNS:
            raise entry.error(
                f"of a schedule's misconceptions, {' and '.join(PATTERNS)} are known; got "
                f"{item['value']!r}.",
                "wrong",
            )
    return tuple(Wrong(item["value"], str(item["says"]).strip()) for item in items)


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
