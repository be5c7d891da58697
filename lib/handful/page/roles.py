"""What the book's own roles mean, apart from Sphinx: text in, values and words out.

``live`` and ``fact`` are computed when the book is built; nothing here holds a number of its own.
"""

from __future__ import annotations

import difflib
import html
import importlib
import pkgutil
import re
import shlex
from functools import cache

LECTURE = "https://www.youtube.com/watch?v=xmkSf5IS-zw"
TIME = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2})")
CHOICES = ("hardware", "model", "precision")


class RoleError(ValueError):
    """A role whose text cannot be resolved; one sentence that says what is allowed."""


# The lecture

def lecture_seconds(text: str) -> int:
    """Seconds from a time as people write it.

    >>> lecture_seconds("9:40"), lecture_seconds("1:02:05")
    (580, 3725)
    >>> lecture_seconds("nine")
    Traceback (most recent call last):
    ...
    handful.page.roles.RoleError: 'nine' is no time in the lecture; write minutes:seconds, such as 9:40.
    """
    found = TIME.fullmatch(text.strip())
    if not found or int(found[3]) > 59:
        raise RoleError(f"{text!r} is no time in the lecture; write minutes:seconds, such as 9:40.")
    return int(found[1] or 0) * 3600 + int(found[2]) * 60 + int(found[3])


def lecture_address(text: str) -> str:
    """The lecture at that second.

    >>> lecture_address("9:40")
    'https://www.youtube.com/watch?v=xmkSf5IS-zw&t=580s'
    """
    return f"{LECTURE}&t={lecture_seconds(text)}s"


def lecture_title(text: str) -> str:
    """
    >>> lecture_title("9:40"), lecture_title("1:02:05")
    ('lecture, 9 min 40 s', 'lecture, 1 h 2 min 5 s')
    """
    hours, rest = divmod(lecture_seconds(text), 3600)
    return "lecture, " + (f"{hours} h " if hours else "") + f"{rest // 60} min {rest % 60} s"


# Live numbers

@cache
def registry() -> dict:
    """Every formula, by name; importing the package's modules is what registers them."""
    import handful

    for module in pkgutil.iter_modules(handful.__path__):
        if not module.ispkg and module.name not in ("cli", "__main__"):
            importlib.import_module(f"handful.{module.name}")
    return importlib.import_module("handful.formula").registry


@cache
def scenario_values(**choice) -> dict:
    """Values of all symbols for the page's default scenario with some choices made otherwise."""
    from handful import scenario

    return dict(scenario.values(**{**scenario.page_rows()["default"], **choice}))


def nearest(name: str, known) -> str:
    """The names most like `name`, as a phrase."""
    return " or ".join(difflib.get_close_matches(name, known, n=3, cutoff=0.4) or sorted(known)[:5])


def parse_live(text: str) -> tuple[str, dict, int]:
    """Formula name, what is set, and digits, from the text of a live role.

    >>> parse_live('step_time batch=256 hardware="H100 SXM" digits=2')
    ('step_time', {'batch': 256.0, 'hardware': 'H100 SXM'}, 2)
    """
    try:
        name, *settings = shlex.split(text)
    except ValueError:
        raise RoleError(f"{text!r} is no live number; write a formula's name, then name=value pairs.") from None
    given: dict = {}
    digits = 3
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise RoleError(f"{setting!r} in {text!r} is no setting; write name=value.")
        if key in CHOICES:
            given[key] = value
            continue
        try:
            number = float(value)
        except ValueError:
            raise RoleError(f"{key}={value} in {text!r} is no number.") from None
        if key == "digits":
            digits = int(number)
        else:
            given[key] = number
    return name, given, digits


def live(text: str) -> dict:
    """A live number: its formula, what is set, its digits, and its text for the default scenario."""
    from handful.units import format_value

    name, given, digits = parse_live(text)
    formulas = registry()
    if name not in formulas:
        raise RoleError(f"There is no formula {name!r}; the nearest names are {nearest(name, formulas)}.")
    formula = formulas[name]
    known = {q.name for q in formula.inputs}
    for key in given:
        if key not in (*CHOICES, "context") and key not in known:
            raise RoleError(f"{name} does not depend on {key!r}; it takes {', '.join(sorted(known))}.")
    try:
        chosen = {k: v for k, v in given.items() if k in CHOICES}
        if "context" in given:
            chosen["context"] = given["context"]
        value = formula({**scenario_values(**chosen), **{k: v for k, v in given.items() if k not in CHOICES}})
    except ValueError as error:
        raise RoleError(f"{text!r} cannot be computed: {error}") from error
    # What neither the scenario nor the author sets has a default, which the page needs too.
    rest = {q.name: q.default for q in formula.inputs
            if q.default is not None and q.name not in given and q.name not in scenario_values(**chosen)}
    return {"formula": name, "set": given, "digits": digits, **({"values": rest} if rest else {}),
            "text": format_value(value, formula.gives.unit, digits)}


def formula_entry(name: str) -> dict:
    """What the popover of a live number needs to know about its formula; the maths is in templates."""
    formula = registry()[name]
    return {
        "tree": formula.tree(), "label": getattr(formula.gives, "label", name), "meaning": formula.meaning, "unit": formula.gives.unit, "gives": formula.gives.name,
        "inputs": [{"name": q.name, "label": getattr(q, "label", q.name), "meaning": q.meaning, "unit": q.unit}
                   for q in formula.inputs if not getattr(q, "constant", False)],
        "conventions": list(formula.conventions), "source": formula.source,
    }


def templates(names) -> str:
    """Hidden elements that hold the maths of popovers: ``formula-NAME`` and ``symbol-NAME``, set at build time."""
    found: dict[str, str] = {}
    for name in names:
        formula = registry()[name]
        found[f"formula-{name}"] = formula.latex()
        found.setdefault(f"symbol-{formula.gives.name}", formula.gives.latex)
        for q in formula.inputs:
            if not getattr(q, "constant", False):
                found.setdefault(f"symbol-{q.name}", q.latex)
    return "".join(f'<template id="{key}"><span class="math" data-tex="{html.escape(tex)}">{html.escape(tex)}</span>'
                   "</template>" for key, tex in sorted(found.items()))


# Facts

# What a column's name says about its unit: (pattern, unit of handful.units, factor to that unit's base).
COLUMN_UNITS = (
    (r"bytes_per_token", "B/token", 1), (r"bytes_per_s$", "B/s", 1), (r"(^|_)bytes$", "B", 1),
    (r"_flops$", "FLOP/s", 1), (r"_watts$", "W", 1), (r"usd_per_mtok$", "$/token", 1e-6),
    (r"usd_per_chip_hour", "$/device/s", 1 / 3600), (r"tokens_per_s", "token/s", 1), (r"_ms$", "s", 1e-3),
    (r"tokens(_per_sequence)?$", "token", 1), (r"(params|parameters)(_reported)?$", "parameter", 1),
    (r"chips$", "device", 1),
)


def fact_unit(column: str) -> tuple[str, float]:
    """Unit and factor of a column.

    >>> fact_unit("hbm_bandwidth_bytes_per_s"), fact_unit("n_layers")
    (('B/s', 1), ('1', 1))
    """
    return next(((unit, factor) for pattern, unit, factor in COLUMN_UNITS if re.search(pattern, column)), ("1", 1))


def fact(text: str) -> dict:
    """A figure from a table of facts, "table / row / column": its text, label, source and whether it was verified.

    >>> fact("accelerators / H100 SXM / hbm_bandwidth_bytes_per_s")["text"].replace("\xa0", " ")
    '3.35 TB/s'
    >>> fact("accelerators / H100 SXM / colour")
    Traceback (most recent call last):
    ...
    handful.page.roles.RoleError: 'accelerators / H100 SXM / colour' cannot be shown: The table accelerators has no ...
    """
    from handful import facts
    from handful.units import UNITS, format_value

    table, _, rest = (part.strip() for part in text.partition("/"))
    name, _, column = (part.strip() for part in rest.rpartition("/"))
    if not (table and name and column):
        raise RoleError(f"{text!r} is no fact; write table / row / column.")
    try:
        row = facts.get(table, name)
        value = row[column]
    except ValueError as error:
        raise RoleError(f"{text!r} cannot be shown: {error}") from error
    if value is None:
        raise RoleError(f"{text!r} cannot be shown: that cell is empty; the row knows "
                        f"{', '.join(key for key, known in row.items() if known is not None)}.")
    unit, factor = fact_unit(column)
    stated = row.get("unit") if column.startswith("value") else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        shown = str(value)
    elif stated:
        shown = format_value(value, stated) if stated in UNITS else f"{format_value(value, '1')}\xa0{stated}"
    else:
        shown = format_value(value * factor, unit)
    return {"text": shown if row.verified else f"{shown} (unverified)", "label": f"{name}: {column.replace('_', ' ')}",
            "source": row.source, "verified": row.verified}
