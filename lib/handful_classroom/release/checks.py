"""Read and validate the heads of an assignment and of its questions.

The message for an invalid field says what is allowed.
"""

from __future__ import annotations

import json
import keyword
import math
import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from handful.nearest import nearest
from handful.symbolic.quantities import table
from handful_study import expressions
from handful_study.author_expressions import author_tree
from handful_study.drawing import ROWS, draw, drawn_values, in_range, number, values
from handful_study.source import ID, Entry, SourceError, fields

from .cells import Piece, bound, parse
from .model import KINDS, Criterion, Misconception, Question

TOLERANCES = {"value": 0.02, "function": 1e-6, "expression": 1e-9}
MOST_CALLS = 200
# The fields of a question, by its kind; all have kind, points and asks.
ALLOWED = {
    "value": ("tolerance", "truth", "wrong"),
    "function": ("calls", "hidden", "tolerance", "truth", "wrong"),
    "expression": ("letters", "truth", "wrong"),
    "judged": ("judge", "calls", "hidden", "wrong"),
    "written": ("rubric",),
}
NEEDED = {
    "value": (),
    "function": (),
    "expression": ("letters", "truth"),
    "judged": ("judge",),
    "written": ("rubric",),
}


def read_inputs(entry: Entry) -> tuple[dict, tuple, tuple]:
    """Return the drawn values, the cases and the shown names of the head's `given`."""
    head = entry.head.get("given")
    if head is None:
        return {}, (), ()
    if not isinstance(head, dict) or not isinstance(head.get("shows"), list):
        raise entry.error(
            "lines of the form name: value are expected, and shows, a list of the names that "
            "students see.",
            "given",
        )
    drawn = {
        name: _drawn(name, value, entry)
        for name, value in head.items()
        if name not in ("shows", "cases")
    }
    cases = head.get("cases", [])
    if not isinstance(cases, list) or any(
        not isinstance(case, dict) or "name" not in case for case in cases
    ):
        raise entry.error("a list of mappings is expected, each with a name.", "given.cases")
    read = tuple(
        {
            key: value if key == "name" else number(value, key, entry, "given.cases")
            for key, value in case.items()
        }
        for case in cases
    )
    known = {
        *values(draw(drawn, read, 0)),
        *(name for name in ROWS if name in drawn),
        *(["case"] if read else []),
    }
    for name in head["shows"]:
        if name not in known:
            raise entry.error(
                f"there is nothing called {name!r} to show; the nearest are "
                f"{nearest(str(name), known)}.",
                "given.shows",
            )
    return drawn, read, tuple(head["shows"])


def _drawn(name: str, value, entry: Entry) -> tuple:
    """Return the values that a name is drawn from; a name that is no quantity may have texts."""
    where = f"given.{name}"
    if not name.isidentifier() or name == "case":
        raise entry.error(
            f"{name!r} is no name; letters, figures and underscores are allowed.", where
        )
    if name not in ROWS and name not in table:
        many = value if isinstance(value, list) else [value]
        if many and all(
            isinstance(one, str)
            and not in_range(one, name, entry, where, alone=not isinstance(value, list))
            for one in many
        ):
            return tuple(many)
    if value == [] or value is None:
        raise entry.error("a value, a list, or low..high by step is expected.", where)
    return drawn_values(name, value, entry, where)


def read_question(piece: Piece, head: Entry, pieces: Sequence[Piece]) -> Question:
    """Read the question of a block."""
    file, name = head.file, piece.name
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise SourceError(
            f"{file}, line {piece.line - 1}: a question is called as its answer, a Python name; "
            f"got {name!r}."
        )
    found, places = fields(piece.text, piece.line, file, f"the question {name}")
    entry = Entry(name, file, piece.line - 1, found, places, ())
    kind = entry.one_of("kind", KINDS)
    _check_fields(entry, kind)
    points = _number(entry, "points", found["points"], 0, 100, "a number of points up to 100")
    visible, hidden, count = _calls(entry, kind)
    letters = _letters(entry) if kind == "expression" else {}
    truth = _code(entry, "truth", found.get("truth", ""), name, expression=kind == "expression")
    return Question(
        name,
        kind,
        points,
        found["asks"],
        head.id,
        entry,
        visible,
        hidden,
        count,
        _number(entry, "tolerance", found["tolerance"], None, 0.5, "a share from 0 to one half")
        if "tolerance" in found
        else TOLERANCES.get(kind, 0.0),
        truth,
        _tree(entry, "truth", truth, letters) if letters else None,
        _wrong(entry, kind, name, points, letters),
        letters,
        _judge(entry) if kind == "judged" else "",
        _rubric(entry, points) if kind == "written" else (),
        _model(entry, pieces) if kind == "written" else "",
    )


def _check_fields(entry: Entry, kind: str) -> None:
    """Check that a question has the fields of its kind and no others."""
    common = ("kind", "points", "asks")
    for field in (*common, *NEEDED[kind]):
        if entry.head.get(field) in (None, "", []):
            raise entry.error(
                f"the field {field} is missing; a question of the kind {kind} needs "
                f"{', '.join((*common, *NEEDED[kind]))}."
            )
    for field in entry.head:
        if field not in common and field not in ALLOWED[kind]:
            raise entry.error(
                f"a question of the kind {kind} has no such field; allowed are "
                f"{', '.join((*common, *ALLOWED[kind]))}.",
                field,
            )
    if not isinstance(entry.head["asks"], str):
        raise entry.error(
            f"words are expected, such as: the time of a decode step; got {entry.head['asks']!r}.",
            "asks",
        )


def _model(entry: Entry, pieces: Sequence[Piece]) -> str:
    """Return the model answer to a written question."""
    found = (one.text for one in pieces if one.kind == "model" and one.name == entry.id)
    model = next(found, "")
    if not model:
        raise entry.error(
            f"a written question needs its model answer, above it, between <!-- answer: {entry.id} "
            "--> and <!-- end -->."
        )
    return model


def _number(entry: Entry, field: str, value, low: float | None, high: float, allowed: str) -> float:
    """Return a number above `low` (at least 0 where that is None) and at most `high`."""
    if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?e-?\d+", value):
        value = float(value)  # YAML takes 1e-6 for text
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not math.isfinite(value)
        or value > high
        or value < 0
        or (low is not None and value <= low)
    ):
        raise entry.error(f"{allowed} is expected; got {value!r}.", field)
    return value


def _calls(entry: Entry, kind: str) -> tuple[tuple, dict, int]:
    visible, hidden = entry.head.get("calls", []), entry.head.get("hidden", {})
    if not isinstance(visible, list) or any(not isinstance(call, dict) for call in visible):
        raise entry.error(
            "a list of mappings is expected, an argument each: - {batch: 1}.", "calls"
        )
    if not isinstance(hidden, dict):
        raise entry.error("count, and a line for each argument, are expected.", "hidden")
    count = hidden.get("count", 0)
    if hidden and (
        isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_CALLS
    ):
        raise entry.error(
            f"a whole number of calls from 1 to {MOST_CALLS} is expected as count; got {count!r}.",
            "hidden",
        )
    if kind == "function" and not visible:
        raise entry.error(
            "a function needs a visible call at least, which shows how it is called.", "calls"
        )
    drawn = {}
    for name, value in hidden.items():
        if name != "count":
            ranged = (
                in_range(value, name, entry, f"hidden.{name}") if isinstance(value, str) else None
            )
            drawn[name] = ranged or tuple(value if isinstance(value, list) else [value])
            if not drawn[name]:
                raise entry.error(
                    "a value, a list, or low..high by step is expected.", f"hidden.{name}"
                )
    names = set(visible[0]) if visible else set(drawn)
    for where, call in [
        *(("calls", call) for call in visible),
        *([("hidden", drawn)] if hidden else []),
    ]:
        if set(call) != names:
            own = ", ".join(sorted(call)) or "none"
            raise entry.error(
                f"every call has the same arguments, {', '.join(sorted(names))}; this one has "
                f"{own}.",
                where,
            )
    try:
        json.dumps([visible, drawn])
    except (TypeError, ValueError):
        raise entry.error(
            "arguments are numbers, texts, true and false, lists and mappings of them.", "calls"
        ) from None
    return tuple(visible), drawn, count


def _code(entry: Entry, field: str, text, name: str, expression: bool) -> str:
    """Return Python code that defines `name`, or the text of an expression."""
    if text in (None, ""):
        return ""
    if not isinstance(text, str):
        raise entry.error(
            f"{'an expression' if expression else 'code'} is expected; got {text!r}.", field
        )
    if not expression:
        line = entry.lines.get(field, entry.line) + 1
        parse(text, line, entry.file)
        if name not in bound(text, line, entry.file):
            raise entry.error(f"the code does not define {name}.", field)
    return text.strip() if expression else text.rstrip()


def _letters(entry: Entry) -> dict[str, str]:
    letters = entry.head["letters"]
    if not isinstance(letters, dict) or not letters:
        raise entry.error(
            "a mapping of letters to quantities is expected, such as {B: batch}.", "letters"
        )
    for letter, quantity in letters.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", str(letter)) or letter in expressions.FUNCTIONS:
            raise entry.error(
                f"{letter!r} cannot be a letter; a name that is no function's is expected.",
                "letters",
            )
        if quantity not in table:
            raise entry.error(
                f"there is no quantity {quantity!r}; the nearest are "
                f"{nearest(str(quantity), table)}.",
                "letters",
            )
    return dict(letters)


def _tree(entry: Entry, field: str, text: str, letters: Mapping[str, str]):
    """Return an expression as a tree of quantities.

    Names are looked up as letters, then as formulas of `handful`, then as quantities.
    """
    tree = expressions.replace(
        author_tree(text, entry, field, named={*letters, *letters.values()}), letters
    )
    unknown = (
        expressions.names(tree)
        - set(letters.values())
        - {q.name for q in table.values() if q.default is not None}
    )
    if unknown:
        raise entry.error(
            f"the expression holds {', '.join(sorted(unknown))}, which is not among its letters.",
            field,
        )
    return tree


def _wrong(
    entry: Entry, kind: str, name: str, points: float, letters: Mapping[str, str]
) -> dict[str, Misconception]:
    items = entry.head.get("wrong", {})
    if not isinstance(items, dict):
        raise entry.error("misconceptions by their ids are expected.", "wrong")
    found = {}
    for key, item in items.items():
        where = f"wrong.{key}"
        if not isinstance(key, str) or not ID.fullmatch(key):
            raise entry.error(
                f"an id is lower-case words and figures joined by hyphens; got {key!r}.", where
            )
        if not isinstance(item, dict) or not {"says", "code"} <= set(item) <= {
            "says",
            "code",
            "score",
        }:
            raise entry.error("a misconception needs says and code, and may have score.", where)
        score = item.get("score", 0)
        if (
            isinstance(score, bool)
            or not isinstance(score, (int, float))
            or not 0 <= score < points
        ):
            raise entry.error(
                f"a score from 0 to less than the question's {points} points is expected; got "
                f"{score!r}.",
                f"{where}.score",
            )
        code = _code(entry, f"{where}.code", item["code"], name, kind == "expression")
        if not code or not isinstance(item["says"], str) or not item["says"].strip():
            raise entry.error(
                "says is a sentence for the student, and code makes the mistake; both are needed.",
                where,
            )
        found[key] = Misconception(
            key,
            item["says"].strip(),
            score,
            code,
            _tree(entry, f"{where}.code", code, letters) if letters else None,
        )
    return found


def _judge(entry: Entry) -> str:
    name = entry.head["judge"]
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise entry.error(
            f"the name of a function of handful_study.custom_scorers is expected; got {name!r}.",
            "judge",
        )
    return name


def _rubric(entry: Entry, points: float) -> tuple[Criterion, ...]:
    items = entry.head["rubric"]
    if not isinstance(items, list) or any(
        not isinstance(item, dict) or set(item) != {"points", "text"} for item in items
    ):
        raise entry.error("a list is expected, each with points and text.", "rubric")
    found = tuple(
        Criterion(
            _number(entry, "rubric", item["points"], 0, 100, "a number of points"),
            str(item["text"]).strip(),
        )
        for item in items
    )
    if abs(sum(item.points for item in found) - points) > 1e-9:
        raise entry.error(
            f"the rubric's points come to {sum(item.points for item in found)}; the question has "
            f"{points}.",
            "rubric",
        )
    return found


def as_problem(question: Question) -> Any:
    """Return the part of an expression's question that `same` and `points` read.

    Both are functions of `handful_study.check`; they are declared for a `Problem`, and read
    nothing of it but its letters.
    """
    return SimpleNamespace(letters=tuple(question.letters.values()))
