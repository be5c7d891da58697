"""Drawing from a seed: rows of a scenario, numbers of a range, one of several cases.

Problems and assignments use it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from handful import query as ask
from handful.nearest import nearest
from handful.symbolic.parse_quantity import WrittenError, read
from handful.symbolic.quantities import table
from handful_evidence.random32 import mulberry32

from .source import Entry

ROWS = ("hardware", "model", "precision")
MOST = 200  # values of one range
_RANGE = re.compile(r"\s*([-+.\deE]+)\s*\.\.\s*([-+.\deE]+)\s+(by|times)\s+([-+.\deE]+)\s*")
_LIKE_RANGE = re.compile(
    r"\s*[-+]?\.?\d([^.…]{,20}|[\d.]*)(\.\.|…|\s*(to|[-–—])\s*\d[\d.,eE+]*\s+(by|times|step)\b)"
)


def draw(choices: Mapping[str, Sequence], cases: Sequence[Mapping], seed: int) -> dict:
    """Draw a value for each name, and a case, from a seed.

    Each name takes one number of `handful_evidence.random32`; the case comes last.

    >>> draw({"batch": (16, 32, 64), "context": (1000, 2000)}, (), seed=1)
    {'batch': 32, 'context': 1000}
    """
    step = mulberry32(seed)
    found = {name: values[int(step() * len(values))] for name, values in choices.items()}
    if cases:
        found["case"] = cases[int(step() * len(cases))]
    return found


def values(drawn: Mapping[str, Any]) -> dict:
    """Return the values of all symbols for what was drawn.

    The scenario's values come first, then the drawn ones, then those of the case.

    >>> values({"hardware": "H100 SXM", "batch": 64})["memory_bandwidth"]
    3350000000000.0
    """
    known = ask.scenario_values(**{name: drawn[name] for name in ROWS if name in drawn})
    found = {q.name: q.default for q in table.values() if q.default is not None}
    found |= {name: value for name, value in known.items() if value is not None}
    found |= {name: value for name, value in drawn.items() if name not in (*ROWS, "case")}
    return found | {name: value for name, value in drawn.get("case", {}).items() if name != "name"}


def in_range(text: str, name: str, entry: Entry, where: str, alone: bool = True) -> tuple | None:
    """Return the values of ``low..high by step`` or ``low..high times factor``.

    For any other text the result is None.  Where it stands `alone` and begins like a range, it is
    an error: as a text it would be drawn, and nobody would notice.
    """
    found = _RANGE.fullmatch(text)
    if not found and alone and _LIKE_RANGE.match(text):
        raise entry.error(
            f"{name}: {text!r} begins like a range and is none; write low..high by step, such as "
            f"16..256 times 2, or [{text!r}] where the text itself is meant.",
            where,
        )
    if not found:
        return None
    try:
        low, high, step = (float(found[i]) for i in (1, 2, 4))
    except ValueError:
        raise entry.error(
            f"{name}: {text!r} has no numbers; write low..high by step, such as 16..256 times 2.",
            where,
        ) from None
    if low > high or step <= (1 if found[3] == "times" else 0):
        raise entry.error(
            f"{name}: {text!r} goes nowhere; write low..high by step, or low..high times a factor "
            "above 1.",
            where,
        )
    made: list[float] = []
    value = low
    while value <= high * (1 + 1e-9) and len(made) <= MOST:
        made.append(value)
        value = low * step ** len(made) if found[3] == "times" else low + step * len(made)
    if len(made) > MOST:
        raise entry.error(f"{name}: {text!r} has more than {MOST} values.", where)
    return tuple(int(v) if float(v).is_integer() else float(f"{v:.12g}") for v in made)


def drawn_values(name: str, given, entry: Entry, where: str = "draw") -> tuple:
    """Return the values that a line of ``draw`` allows: a range, a list or one value."""
    if isinstance(given, str) and (found := in_range(given, name, entry, where)):
        return found
    many = tuple(given) if isinstance(given, list) else (given,)
    if name in ROWS:
        from handful import scenario

        known = [row["name"] for row in scenario.page_rows()[name]]
        for value in many:
            if value not in known:
                raise entry.error(
                    f"{name}: there is no {value!r}; the nearest are {nearest(str(value), known)}.",
                    where,
                )
        return many
    return tuple(number(value, name, entry, where) for value in many)


def number(value, name: str, entry: Entry, where: str) -> float:
    """Read a number, a value with its unit ("80 GB"), or a request in brackets."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise entry.error(f"{name}: a number is expected; got {value!r}.", where)
    if isinstance(value, str):
        try:
            value = (
                ask.answer(value.strip()[1:-1]).value
                if value.strip().startswith("[")
                else read(value)[0]
            )
        except (ask.QueryError, WrittenError) as error:
            raise entry.error(f"{name}: {error}", where) from None
    if not math.isfinite(value):
        raise entry.error(f"{name}: a finite number is expected; got {value}.", where)
    return value
