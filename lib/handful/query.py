"""Requests by name: a formula for a scenario, a sourced fact, arithmetic, a time in the lecture.

Pages, the ledger of claims and exercises hold no numbers of their own; this is the one grammar in
which they ask.

>>> answer(
...     'step_time batch=256 hardware="H100 SXM" model="Llama 3.1 70B" precision=fp8 context=8192'
... ).unit
's'
>>> answer("accelerators / H100 SXM / hbm_bandwidth_bytes_per_s").value
3350000000000.0
>>> answer("= [models / Llama 3.1 70B / total_params_reported] / 1e9").value
70.6
"""

from __future__ import annotations

import ast
import importlib
import math
import operator
import pkgutil
import re
import shlex
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .nearest import nearest
from .symbolic.quantity import current_name
from .units import UNITS, whole_count

if TYPE_CHECKING:
    from .facts import Row
    from .symbolic.formula import Formula

LECTURE = "https://www.youtube.com/watch?v=xmkSf5IS-zw"
TIME = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2})")
CHOICES = ("hardware", "model", "precision")


class QueryError(ValueError):
    """A request that cannot be answered; the message says what is allowed."""

    exit_code = 2


AskError = QueryError  # its name in the last edition, until the next one
# Formulas' names in the last edition, and those that they have now, until the next one.
ALIASES = {
    "all_reduce_time": "tensor_parallel_time",
    "domain_capacity": "devices_memory",
    "machine_balance": "weight_uses_at_balance",
}


# The lecture


def lecture_seconds(text: str) -> int:
    """Return the seconds of a time as people write it.

    Raises QueryError for other text.

    >>> lecture_seconds("9:40"), lecture_seconds("1:02:05")
    (580, 3725)
    >>> lecture_seconds("nine")
    Traceback (most recent call last):
    ...
    handful.query.QueryError: 'nine' is no time in the lecture; write minutes:seconds, such as 9:40.
    """
    found = TIME.fullmatch(text.strip())
    if not found or int(found[3]) > 59:
        raise QueryError(
            f"{text!r} is no time in the lecture; write minutes:seconds, such as 9:40."
        )
    return int(found[1] or 0) * 3600 + int(found[2]) * 60 + int(found[3])


def lecture_address(text: str) -> str:
    """Return the address of the lecture at that time.

    >>> lecture_address("9:40")
    'https://www.youtube.com/watch?v=xmkSf5IS-zw&t=580s'
    """
    return f"{LECTURE}&t={lecture_seconds(text)}s"


def lecture_title(text: str) -> str:
    """Return a title for the lecture at that time.

    >>> lecture_title("9:40"), lecture_title("1:02:05")
    ('lecture, 9 min 40 s', 'lecture, 1 h 2 min 5 s')
    """
    hours, rest = divmod(lecture_seconds(text), 3600)
    return "lecture, " + (f"{hours} h " if hours else "") + f"{rest // 60} min {rest % 60} s"


# Formulas


@cache
def registry() -> dict[str, Formula]:
    """Return every formula, by name.

    Formulas are registered where the package's modules are imported, which is done here.
    """
    import handful

    for module in pkgutil.iter_modules(handful.__path__):
        if not module.ispkg and module.name not in ("cli", "__main__"):
            importlib.import_module(f"handful.{module.name}")
    formulas: dict[str, Formula] = importlib.import_module("handful.symbolic.formula").registry
    return formulas


def find_formula(name: str) -> Formula:
    """Return the formula of that name, or of its name in the last edition.

    Raises QueryError, which names the nearest ones, where there is none.

    >>> find_formula("all_reduce_time").name
    'tensor_parallel_time'
    """
    formulas = registry()
    name = ALIASES.get(name, name)
    if name not in formulas:
        raise QueryError(
            f"There is no formula {name!r}; the nearest are: {nearest(name, formulas)}."
        )
    return formulas[name]


@cache
def scenario_values(**choice: Any) -> dict[str, float | None]:
    """Return values of all symbols for a scenario.

    It is the page's default scenario with some choices made otherwise.
    """
    from . import scenario

    return dict(scenario.values(**{**scenario.PAGE, **choice}))


def parse_live(text: str) -> tuple[str, dict[str, float | str], int]:
    """Return formula name, what is set, and digits, from a request for a formula.

    >>> parse_live('step_time batch=256 hardware="H100 SXM" digits=2')
    ('step_time', {'batch': 256.0, 'hardware': 'H100 SXM'}, 2)
    """
    try:
        name, *settings = shlex.split(text)
    except ValueError:
        raise QueryError(
            f"{text!r} is no live number; write a formula's name, then name=value pairs."
        ) from None
    given: dict[str, float | str] = {}
    digits = 3
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise QueryError(f"{setting!r} in {text!r} is no setting; write name=value.")
        if key in (*CHOICES, "fit", "unit", "whole"):
            given[key] = value
            continue
        try:
            number = float(value)
        except ValueError:
            raise QueryError(f"{key}={value} in {text!r} is no number.") from None
        if key == "digits":
            digits = int(number)
        else:
            given[key] = number
    return name, given, digits


class Result(NamedTuple):
    """A formula's answer, to be shown in `unit`.

    `chosen` is what of `given` chose a scenario; `whole` says which whole number `value` is, as
    `units.whole_count` has it.
    """

    formula: Formula
    value: float
    given: dict[str, float | str]
    chosen: dict[str, float | str]
    digits: int
    unit: str
    whole: str = ""


def shown_unit(formula: Formula, wanted: float | str) -> str:
    """Return the unit in which a formula's value is shown where another is wanted than its own.

    Only ``unit=1``, for a count whose sentence names what is counted, and ``unit=%``, for a share.
    Raises QueryError for any other.

    >>> shown_unit(registry()["batch_that_fits"], "1")
    '1'
    """
    kind = UNITS[formula.gives.unit]
    allowed = ["1"] * (kind.kind == "count" and kind.factor == 1)
    allowed += ["%"] * (formula.gives.unit in ("1", "%"))
    if wanted not in allowed:
        can = " or ".join(f"unit={unit}" for unit in allowed) or "no other unit"
        raise QueryError(
            f"unit={wanted} cannot show {formula.name}, which is in {formula.gives.unit}: "
            f"{can} is possible."
        )
    return str(wanted)


def evaluate(text: str) -> Result:
    """Compute a formula's value for the default scenario with what the request sets.

    >>> evaluate("expert_coverage batch=1 digits=1 unit=%").unit
    '%'
    >>> evaluate("batch_that_fits context=1e6 whole=down").value
    362.0
    """
    name, given, digits = parse_live(text)
    wanted, whole = given.pop("unit", None), str(given.pop("whole", ""))
    if whole not in ("", "up", "down", "near"):
        raise QueryError(f"whole={whole} in {text!r} is none of up, down and near.")
    formula = find_formula(name)
    known = {q.name for q in formula.inputs}
    if (
        "fit" in given
    ):  # of the Chinchilla law: fit=hoffmann or fit=besiroglu stands for its five fitted numbers
        from .chinchilla import law

        try:
            fitted = law(str(given.pop("fit")))
        except ValueError as error:
            raise QueryError(f"{text!r} cannot be computed: {error}") from None
        given = {**{key: value for key, value in fitted.items() if key in known}, **given}
    given = {current_name(key): value for key, value in given.items()}
    for key in given:
        if key not in (*CHOICES, "context") and key not in known:
            raise QueryError(
                f"{name} does not depend on {key!r}; it takes {', '.join(sorted(known))}."
            )
    chosen = {k: v for k, v in given.items() if k in (*CHOICES, "context")}
    try:
        value = formula(
            {**scenario_values(**chosen), **{k: v for k, v in given.items() if k not in CHOICES}}
        )
    except ValueError as error:
        raise QueryError(f"{text!r} cannot be computed: {error}") from error
    unit = shown_unit(formula, wanted) if wanted is not None else formula.gives.unit
    value = float(whole_count(float(value), whole))
    return Result(formula, value, given, chosen, digits, unit, whole)


# Facts

# What a column's name says about its unit: (pattern, unit of handful.units, factor to that unit's
# base).
COLUMN_UNITS = (
    (r"bytes_per_token", "B/token", 1),
    (r"bytes_per_s$", "B/s", 1),
    (r"(^|_)bytes$", "B", 1),
    (r"_flops$", "FLOP/s", 1),
    (r"_watts$", "W", 1),
    (r"usd_per_mtok$", "$/token", 1e-6),
    (r"usd_per_chip_hour", "$/device/s", 1 / 3600),
    (r"usd_per_gb_(low|high)$", "$/B", 1e-9),
    (r"tokens_per_s", "token/s", 1),
    (r"_ms$", "s", 1e-3),
    (r"^seconds$", "s", 1),
    (r"tokens(_per_sequence)?$", "token", 1),
    (r"(params|parameters)(_reported)?$", "parameter", 1),
    (r"chips$", "device", 1),
)


# Columns whose names say more to a program than to a reader.
COLUMN_WORDS = {
    "active_params_reported": "active parameters",
    "bf16_dense_flops": "bf16 arithmetic, dense",
    "d_model": "model width",
    "expert_dim": "width of an expert",
    "fp8_dense_flops": "fp8 arithmetic, dense",
    "hbm_bandwidth_bytes_per_s": "memory bandwidth",
    "hbm_capacity_bytes": "memory",
    "n_layers": "layers",
    "one_direction_bytes_per_s": "bandwidth each way",
    "rental_usd_per_chip_hour_3yr": "price, rented for three years",
    "scaleup_bw_per_chip_one_direction_bytes_per_s": "scale-up bandwidth each way",
    "scaleup_domain_chips": "chips of a scale-up domain",
    "total_params_reported": "total parameters",
    "usd_per_gb_high": "highest price",
    "usd_per_gb_low": "lowest price",
}


def column_words(column: str) -> str:
    """Return what a column of the facts holds, in words.

    >>> column_words("d_model"), column_words("output_usd_per_mtok"), column_words("read_on")
    ('model width', 'output', 'read on')
    """
    return COLUMN_WORDS.get(column) or re.sub(
        r"_(bytes(_per_s)?|usd_per_mtok|tokens)$", "", column
    ).replace("_", " ")


def fact_unit(column: str) -> tuple[str, float]:
    """Return the unit of a column and the factor to that unit's base.

    >>> fact_unit("hbm_bandwidth_bytes_per_s"), fact_unit("n_layers")
    (('B/s', 1), ('1', 1))
    """
    return next(
        ((unit, factor) for pattern, unit, factor in COLUMN_UNITS if re.search(pattern, column)),
        ("1", 1),
    )


def find_fact(text: str) -> tuple[Row, str, bool | float | str]:
    """Return row, column and value of a request "table / row / column".

    >>> find_fact("accelerators / H100 SXM / colour")
    Traceback (most recent call last):
    ...
    handful.query.QueryError: 'accelerators / H100 SXM / colour' cannot be shown: The table ...
    """
    from . import facts

    table, _, rest = (part.strip() for part in text.partition("/"))
    name, _, column = (part.strip() for part in rest.rpartition("/"))
    if not (table and name and column):
        raise QueryError(f"{text!r} is no fact; write table / row / column.")
    try:
        row = facts.get(table, name)
        value = row[column]
    except ValueError as error:
        raise QueryError(f"{text!r} cannot be shown: {error}") from error
    if value is None:
        raise QueryError(
            f"{text!r} cannot be shown: that cell is empty; the row knows "
            f"{', '.join(key for key, known in row.items() if known is not None)}."
        )
    return row, column, value


def shown_fact(text: str) -> dict[str, Any]:
    r"""Return a figure from a table of facts, asked for as "table / row / column".

    It is a dict of text, label, source and verified.

    >>> shown_fact("accelerators / H100 SXM / hbm_bandwidth_bytes_per_s")["text"].replace(
    ...     "\xa0", " "
    ... )
    '3.35 TB/s'
    """
    from .units import UNITS, format_value

    row, column, value = find_fact(text)
    unit, factor = fact_unit(column)
    stated = row.get("unit") if column.startswith("value") else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        shown = str(value)
    else:
        # A count of things is told in full: 2,048, not 2,050.
        digits = (
            6
            if value == int(value)
            and 1000 <= value < 1e6
            and (stated or unit) in ("1", "device", "sequence", "token")
            else 3
        )
        if stated == "fraction":
            shown = f"{format_value(100 * value, '1', digits)}\xa0%"
        elif stated:
            shown = (
                format_value(value, stated, digits)
                if stated in UNITS
                else f"{format_value(value, '1', digits)}\xa0{stated}"
            )
        else:
            shown = format_value(value * factor, unit, digits)
    return {
        "text": shown if row.verified else f"{shown} (unverified)",
        "label": f"{row.name}: {column_words(column)}",
        "source": row.source,
        "verified": row.verified,
    }


# Any of them


class Answer(NamedTuple):
    """The answer to a request.

    It has a number in SI units (dollars, tokens, …), its unit where the request has one, and
    whether its facts were verified.
    """

    value: float
    unit: str | None
    verified: bool = True


def answer(text: str) -> Answer:
    """Return a number for a request of any kind.

    ``name symbol=value …`` is a formula, ``table / row / column`` a fact, and ``= …`` arithmetic (+
    - * / ** and log2), which has no unit.  A request in square brackets stands for its number, in
    arithmetic and as a formula's setting.

    >>> answer("= 1.3e9 / 0.37e9").value
    3.5135135135135136
    >>> answer(
    ...     "sparsity_of_experts experts=[models / DeepSeek-V3 / routed_experts] active_experts=8"
    ... ).value
    32.0
    >>> answer("= __import__('os')")
    Traceback (most recent call last):
    ...
    handful.query.QueryError: "= __import__('os')" is no arithmetic;
    + - * / // **, log2 and parentheses over numbers are allowed.
    """
    text = text.strip()
    if text.startswith("="):
        return _arithmetic(text)
    if re.match(r"\w+ */", text):
        row, column, value = find_fact(text)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise QueryError(f"{text!r} is no number: {value!r}.")
        unit, factor = fact_unit(column)
        return Answer(value * factor, None if column.startswith("value") else unit, row.verified)
    asked, parts = _bracketed(text, lambda number, _: repr(number.value))
    found = evaluate(asked)
    verified = _scenario_verified(found.chosen) and all(part.verified for part in parts)
    return Answer(found.value, found.unit, verified)


def _bracketed(text: str, write: Callable[[Answer, int], str]) -> tuple[str, list[Answer]]:
    """Replace each request in brackets by what `write` makes of its answer and number.

    Returns the text and the answers.
    """
    parts: list[Answer] = []

    def replace(found: re.Match[str]) -> str:
        parts.append(answer(found[1]))
        return write(parts[-1], len(parts) - 1)

    return re.sub(r"\[([^\[\]]+)\]", replace, text), parts


def _scenario_verified(chosen: Mapping[str, float | str]) -> bool:
    from . import facts

    return "hardware" not in chosen or facts.get("accelerators", str(chosen["hardware"])).verified


OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}


def _arithmetic(text: str) -> Answer:
    wrong = QueryError(
        f"{text!r} is no arithmetic; + - * / // **, log2 and parentheses over numbers are allowed."
    )
    replaced, parts = _bracketed(text[1:], lambda _, number: f"_{number}")

    def value(node: ast.AST) -> float:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return number
            case ast.Name(id=name) if re.fullmatch(r"_\d+", name) and int(name[1:]) < len(parts):
                return parts[int(name[1:])].value
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -value(inner)
            case ast.Call(func=ast.Name(id="log2"), args=[inner], keywords=[]):
                return math.log2(value(inner))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
        raise wrong

    try:
        result = value(ast.parse(replaced.strip(), mode="eval").body)
    except SyntaxError:
        raise wrong from None
    except QueryError:
        raise
    except (ArithmeticError, ValueError) as error:
        raise QueryError(f"{text!r} cannot be computed: {error}.") from None
    if isinstance(result, complex) or not math.isfinite(result):
        raise QueryError(f"{text!r} cannot be computed: the result is no finite number.")
    return Answer(float(result), None, all(part.verified for part in parts))
