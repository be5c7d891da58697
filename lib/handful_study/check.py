"""Checking of answers: right, a misconception that has a name, or unreadable.

``web/check.js`` applies the same rules.

>>> from handful_study.problems import problem
>>> check(problem("step-of-a-dense-model"), "3 GB", seed=1).says
'That is a number of bytes; asked for is a time.'
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from handful.symbolic.dimensions import Dimension
from handful.symbolic.parse_quantity import COUNTED, WrittenError, fits, read
from handful.symbolic.quantities import table
from handful.units import UNITS, format_value
from handful_evidence.random32 import mulberry32
from handful_evidence.simulate.pipeline import Deadlock

from . import expressions
from .expressions import ExpressionError, evaluate
from .pipeline_schedules import PATTERNS, OrdersError, explain_deadlock, percent, play, read_orders
from .problem_model import Problem, schedule_goal

POINTS = 24  # at which two formulas are compared
SAME = 1e-9
EMPTY = "Write an answer first."
ROUNDED = "That is rounded to a whole number: write what it was before."
_DOLLARS = r"^\s*(?:US\s*\$|USD)\s*"
_PRICE = (
    r"^\s*([-+−]?)\s*(?:US\s*\$|\$|USD)?\s*([-+−]?[0-9.,]+(?:e[-+−]?[0-9]+)?)\s*(?:\$|dollars?|USD)?"
    r"\s*(?:(?:/|per|a)\s*(?:(?:a|1|one)\s*)?(?:million|mn|m)[\s-]*(?:tok(?:en)?s?)?)?\s*$"
)

_CENTS = (
    r"^\s*([-+−]?[0-9]*\.?[0-9]+)\s*(?:¢|cents?|ct)\s*"
    r"(?:(?:/|per|a)\s*(?:(?:a|1|one)\s*)?(?:million|mn|m)[\s-]*(?:tok(?:en)?s?)?)?\s*$"
)


@dataclass(frozen=True)
class Verdict:
    """The result of checking an answer.

    `kind` is "right", "wrong" (an answer, which counts) or "unread" (nothing counts: the answer
    could not be read, or lacks its unit); `says` is the sentence for the learner, `turn` the number
    of the misconception, where it is a known one.
    """

    kind: str
    says: str
    turn: int | None = None


def check(problem: Problem, given: str | int, seed: int) -> Verdict:
    """Check an answer: a text, or, for a multiple-choice question, the number of the choice."""
    if problem.kind == "choice":
        return check_choice(problem, given, seed)
    if problem.kind == "expression":
        return check_expression(problem, right_side(str(given)))
    if problem.kind == "schedule":
        return check_schedule(problem, str(given), seed)
    return check_number(problem, right_side(str(given)), seed)


def right_side(text: str) -> str:
    """Return an answer without the letter that it is set equal to.

    >>> right_side("T = 2*N/F"), right_side("47 ms")
    ('2*N/F', '47 ms')
    """
    return re.sub(r"^\s*[A-Za-z_][A-Za-z_0-9]*\s*=\s*", "", text)


def near(value: float, wanted: float, tolerance: float) -> bool:
    """Check that a value lies within a relative tolerance of the wanted one.

    >>> near(1.01, 1, 0.02), near(1.03, 1, 0.02), near(0, 0, 0.02)
    (True, False, True)
    """
    return abs(value - wanted) <= tolerance * abs(wanted) * (1 + 1e-12)


def check_number(problem: Problem, text: str, seed: int) -> Verdict:
    """Check the answer to a problem that asks for a number, with its unit."""
    if not text.strip():
        return Verdict("unread", EMPTY)
    try:
        plain, divisor = as_plain(without_counted(text, problem.named_unit), problem.dimension)
        value, dimension = read(as_amount(plain, problem.unit, problem.named_unit))
        value /= divisor
    except WrittenError as error:
        return Verdict("unread", str(error))
    wanted, right = problem.dimension, problem.right(seed)
    value, dimension = as_asked(value, dimension, wanted, text)
    if dimension is None and problem.unit == "%" and near(value / 100, right, problem.tolerance):
        if not problem.named_unit:
            return Verdict(
                "unread",
                "Write the sign % too: without it a number is a share, and this one is a hundred "
                "times as large.",
            )
        value /= 100
    elif dimension is None and problem.named_unit and problem.unit not in ("1", "%"):
        value *= read(f"1 {problem.named_unit}")[0]  # the question says in which unit
        dimension = wanted
    if dimension is None and UNITS[problem.unit].kind == "count":
        dimension = wanted  # so many chips, tokens, sequences: the question says of what
    if dimension is None:
        return Verdict(
            "unread",
            f"Which unit?  This answer is {dimension_in_words(wanted)}, and its unit counts.",
        )
    if not fits(dimension, wanted):
        return Verdict(
            "wrong",
            f"That is {dimension_in_words(dimension)}; asked for is {dimension_in_words(wanted)}.",
        )
    if near(value, right, problem.tolerance):
        return Verdict("right", "Right.")
    for turn, wrong in enumerate(problem.wrong_values(seed)):
        if near(value, wrong, problem.tolerance):
            return Verdict("wrong", problem.words(problem.wrong[turn].says, seed), turn)
    counts = UNITS[problem.unit].kind == "count" and problem.unit != "%"
    counts = counts and bool(problem.unit != "1" or problem.named_unit)
    if counts and value and value in (math.floor(right), math.ceil(right)):
        return Verdict("unread", ROUNDED)
    if value and near(-value, right, problem.tolerance):
        return Verdict("wrong", "The size is right, the sign is not.")
    if re.search(r"^[^0-9]*[0-9]{1,3},[0-9]{3}(?![0-9,.])", text) and near(
        value / 1000, right, problem.tolerance
    ):
        return Verdict(
            "unread", "A comma before three digits was read as thousands: write a point instead."
        )
    if value and right and value / right > 0:
        for power in (-4, -3, -2, -1, 1, 2, 3, 4):
            if near(value, right * 1000.0**power, problem.tolerance):
                return Verdict(
                    "wrong",
                    f"The digits are right, but it is {1000 ** abs(power):,} times too "
                    f"{'large' if power > 0 else 'small'}: look at the prefix.",
                )
        if says := superfluous(problem, value / right, seed):
            return Verdict("wrong", says)
        return Verdict(
            "wrong", f"Not yet: that is too {'large' if abs(value) > abs(right) else 'small'}."
        )
    return Verdict("wrong", "Not yet.")


def without_counted(text: str, counted: str) -> str:
    """Return an answer without the name of what it counts, where that is no unit.

    >>> without_counted("14 micro-batches", "micro-batches"), without_counted("1 round", "rounds")
    ('14', '1')
    """
    if not counted or re.search(r"[^a-z-]", counted):
        return text
    one = counted.removesuffix("s").replace("-", "[ -]?")
    return re.sub(rf"(?<=[0-9.])\s*{one}(?:e?s)?\s*$", "", text, flags=re.I)


def as_plain(text: str, wanted: Dimension) -> tuple[str, float]:
    """Return an answer without what people add to a number, and what it is to be divided by.

    They add a sign for "about", a full stop, or people where these share a batch; and they write
    fractions.

    >>> as_plain("≈ 3.61 ms.", Dimension(time=1)), as_plain("478 people", Dimension(sequence=1))
    (('3.61 ms', 1.0), ('478', 1.0))
    >>> as_plain("1/277 s", Dimension(time=1))
    ('1 s', 277.0)
    """
    text = re.sub(r"^\s*(?:[A-Za-z_][A-Za-z_0-9]*\s*)?[=≈≃~]\s*", "", text)
    text = re.sub(r"(?<=[A-Za-z%])\.\s*$", "", text)
    if wanted == Dimension(sequence=1):
        text = re.sub(r"(?<=[0-9.])\s*(?:people|persons?|users?)\s*$", "", text, flags=re.I)
    part = r"[0-9]+(?:\.[0-9]+)?"
    found = re.match(rf"(\s*[-+−]?{part})\s*/\s*({part})(?![0-9.,]|[eE][-+−0-9])", text)
    if not found or not float(found[2]):
        return text, 1.0
    return found[1] + text[found.end() :], float(found[2])


def as_amount(text: str, unit: str, named: str) -> str:
    """Return an answer in dollars with one sign for them; without any where the question names it.

    >>> as_amount("US$0.36/M", "$/token", "$/Mtoken"), as_amount("USD 12", "$", "")
    ('0.36', '$12')
    >>> as_amount("36.4 cents", "$/token", "$/Mtoken")  # of what the question asks in
    '36.4e-2'
    """
    if not unit.startswith("$"):
        return text
    if unit == "$/token" and named:
        text = re.sub(_CENTS, r"\1e-2", text, flags=re.I)
        text = re.sub(_PRICE, r"\1\2", text, flags=re.I)
    return re.sub(_DOLLARS, "$", text, flags=re.I)


def as_asked(
    value: float, dimension: Dimension | None, wanted: Dimension, text: str
) -> tuple[float, Dimension | None]:
    """Return bits as bytes where bytes are asked for, and B as billions where parameters are.

    >>> as_asked(8e9, Dimension(bit=1, time=-1), Dimension(byte=1, time=-1), "8 Gb/s")[0]
    1000000000.0
    >>> as_asked(70.0, Dimension(byte=1), Dimension(parameter=1), "70B")[0]
    70000000000.0
    """
    if dimension is None:
        return value, dimension
    powers, asked = dict(dimension.powers), dict(wanted.powers)
    if "byte" in asked and "bit" in powers and "byte" not in powers:
        bits = powers.pop("bit")
        return value / 8 ** float(bits), Dimension(**powers, byte=bits)
    if wanted == Dimension(parameter=1) and re.search(r"[0-9.]\s*B\s*$", text):
        return value * 1e9, wanted
    return value, dimension


def factor_words(name: str) -> str:
    """Return what an input is called within a sentence.

    >>> factor_words("context"), factor_words("kv_bytes_per_token")
    ('context', 'KV bytes per token')
    >>> factor_words("feistel_rounds"), factor_words("pretraining_tokens")
    ('Feistel rounds', 'pre-training tokens')
    """
    label = table[name].label
    own = label[1:2].isupper() or label.startswith(("S-", "Feistel"))
    return label if own else label[:1].lower() + label[1:]


def superfluous(problem: Problem, ratio: float, seed: int) -> str | None:
    """Return a sentence that names the factor by which an answer is too large or too small.

    It is one of the problem's own inputs, or a two.
    """
    values = problem.values(seed)
    inputs = {factor_words(name): values[name] for name in problem.factors}
    for label, factor in [*inputs.items(), ("", 2.0)]:
        if factor is None or factor < 1.1:
            continue
        name = f", the {label}" if label else ""
        what = f"a factor of {format_value(factor, '1', 4)}{name}"
        if near(ratio, factor, problem.tolerance):
            return f"Not yet: that is too large by {what}, which does not belong there."
        if near(ratio, 1 / factor, problem.tolerance):
            return f"Not yet: that is too small by {what}, which you have left out."
    return None


WORDS = {
    "time": "a time",
    "byte": "a number of bytes",
    "flop": "an amount of arithmetic (FLOP)",
    "token": "a number of tokens",
    "sequence": "a number of sequences",
    "parameter": "a number of parameters",
    "layer": "a number of layers",
    "device": "a number of chips",
    "dollar": "an amount of dollars",
    "bit": "a number of bits",
    "energy": "an amount of energy",
}


def dimension_in_words(dimension: Dimension) -> str:
    """Return a dimension in words.

    >>> (
    ...     dimension_in_words(Dimension(byte=1)),
    ...     dimension_in_words(Dimension(byte=1, time=-1)),
    ...     dimension_in_words(Dimension()),
    ... )
    ('a number of bytes', 'in B/s', 'a number without a unit')
    >>> dimension_in_words(Dimension(byte=1, device=-1))
    'a number of bytes for each device'
    """
    if not dimension.powers:
        return "a number without a unit"
    if len(dimension.powers) == 1 and dimension.powers[0][1] == 1:
        return WORDS[dimension.powers[0][0]]
    unit = _units().get(dimension)
    counted = [base for base, power in dimension.powers if power == -1 and base in COUNTED]
    if unit is None and counted:
        whole = dimension / Dimension(**dict.fromkeys(counted, -1))
        if whole in _units():
            return f"{dimension_in_words(whole)} for each {' and '.join(counted)}"
    return f"in {unit or dimension}"


@cache
def _units() -> dict[Dimension, str]:
    """Return, for each dimension, the first unit of `handful.units` that has it."""
    found: dict[Dimension, str] = {}
    for unit in UNITS:
        try:
            dimension = read(f"1 {unit}")[1]
        except WrittenError:  # the pure number, and units that no answer has
            continue
        if dimension is not None:
            found.setdefault(dimension, unit)
    return found


# Formulas


def points(problem: Problem) -> list[dict[str, float]]:
    """Return the points at which two formulas are compared.

    Each letter gets a value between 1/50 and 50, drawn from a fixed seed, so that the points are
    the same for everybody.
    """
    step = mulberry32(1)
    rest = {q.name: q.default for q in table.values() if q.default is not None}
    return [
        rest | {name: math.exp((step() * 2 - 1) * math.log(50)) for name in problem.letters}
        for _ in range(POINTS)
    ]


def spellings(problem: Problem) -> dict[str, str]:
    """Return the spellings that a learner may use, each mapped to its quantity's name.

    Each quantity may be written as its letter or as its name.

    >>> from types import SimpleNamespace
    >>> known = spellings(SimpleNamespace(letters=("total_parameters", "memory_bandwidth")))
    >>> list(known)
    ['N_total', 'total_parameters', 'BW', 'memory_bandwidth']
    >>> known["BW"]
    'memory_bandwidth'
    """
    return {spelling: name for name in problem.letters for spelling in (letter(name), name)}


def letters_apart(tree, known: Mapping[str, str]):
    """Return a tree in which letters that were written side by side are multiplied.

    The book prints products without a sign, so a learner may write them as one word.  A power is
    that of the last letter, and what cannot be read in just one way stays as it is.

    >>> known = dict.fromkeys(["B", "L", "b", "w", "N_total", "BW"], "")
    >>> letters_apart(["/", "BLb", "wN_total"], known)
    ['/', ['*', ['*', 'B', 'L'], 'b'], ['*', 'w', 'N_total']]
    >>> letters_apart(["^", "Lb", 2], known), letters_apart("BW", known), letters_apart("BX", known)
    (['*', 'L', ['^', 'b', 2]], 'BW', 'BX')
    """
    if isinstance(tree, str):
        return _product(_split(tree, known))
    if not isinstance(tree, list):
        return tree
    head, *rest = tree
    if head == "^" and isinstance(rest[0], str):
        *before, base = _split(rest[0], known)
        power = ["^", base, letters_apart(rest[1], known)]
        return _product([*before, power])
    return [head, *(letters_apart(part, known) for part in rest)]


def _product(parts: Sequence[Any]) -> Any:
    return reduce(lambda left, right: ["*", left, right], parts)


def _split(name: str, known: Mapping[str, str]) -> list[str]:
    """Return the letters that a name consists of; the name where that is not clear."""
    if name in known:
        return [name]
    ways: list[list[list[str]]] = [[[]], *([] for _ in name)]
    for end in range(1, len(name) + 1):
        for one in known:
            if name[:end].endswith(one):
                ways[end] += [[*way, one] for way in ways[end - len(one)]][:2]
    return ways[-1][0] if len(ways[-1]) == 1 else [name]


def letter(name: str) -> str:
    """Return a quantity's letter as it is typed.

    >>> letter("total_parameters"), letter("batch"), letter("memory_bandwidth")
    ('N_total', 'B', 'BW')
    """
    text = re.sub(r"\\[,;!]", "", table[name].latex)
    text = re.sub(r"\\(?:mathrm|text|mathit|operatorname)\s*", "", text)
    text = re.sub(r"\^\{?\\?(?:ast|star|\*)\}?", "_star", text)
    text = re.sub(r"[{}\s]", "", text.replace("\\", "").replace(",", "_").replace("-", "_"))
    return text if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", text) else name


def check_expression(problem: Problem, text: str) -> Verdict:
    """Check the answer to a problem that asks for a formula."""
    known = spellings(problem)
    try:
        written = expressions.parse(text)
    except ExpressionError as error:
        return Verdict("unread", str(error))
    written = letters_apart(written, known)
    for name in expressions.written_names(text):
        if _split(name, known)[0] not in known:
            return Verdict(
                "unread",
                f"{name!r} is none of the letters of this answer, which are "
                f"{', '.join(map(letter, problem.letters))}.",
            )
    tree = expressions.replace(written, known)
    if same(problem, tree, problem.answer):
        return Verdict("right", "Right.")
    for turn, wrong in enumerate(problem.wrong):
        if same(problem, tree, wrong.tree):
            return Verdict("wrong", problem.words(wrong.says, 0), turn)
    ratios = [
        evaluate(tree, at) / evaluate(problem.answer, at)
        for at in points(problem)
        if evaluate(problem.answer, at)
    ]
    if ratios and all(
        math.isfinite(ratio) and ratio and abs(ratio - ratios[0]) <= SAME * abs(ratios[0])
        for ratio in ratios
    ):
        return Verdict(
            "wrong",
            f"Only a factor is off: yours is always {format_value(ratios[0], '1', 4)} times the "
            "answer.",
        )
    missing = [
        letter(name)
        for name in problem.letters
        if name in expressions.names(problem.answer) - expressions.names(tree)
    ]
    if missing:
        return Verdict("wrong", f"Not yet: the answer depends on {missing[0]} too.")
    return Verdict("wrong", "Not yet.")


def same(problem: Problem, left, right) -> bool:
    """Check that two trees agree at every sample point, all of whose letters are positive."""
    for at in points(problem):
        a, b = evaluate(left, at), evaluate(right, at)
        if not math.isfinite(a) or not abs(a - b) <= SAME * max(abs(a), abs(b)):
            return False
    return True


# Judgement


def right_choice(problem: Problem, seed: int) -> int:
    """Return the number of the one right choice."""
    values = problem.values(seed)
    found = [i for i, choice in enumerate(problem.choices) if evaluate(choice.when, values) > 0]
    if len(found) != 1:
        raise problem.entry.error(
            f"for the seed {seed}, {len(found)} choices are right; one is expected.", "choices"
        )
    return found[0]


def check_choice(problem: Problem, given: str | int, seed: int) -> Verdict:
    """Check the answer to a multiple-choice question, given as the number of a choice."""
    try:
        number = int(given)
        choice = problem.choices[number] if number >= 0 else None
    except (ValueError, IndexError):
        choice = None
    if choice is None:
        return Verdict("unread", f"Choose one of the {len(problem.choices)}.")
    kind = "right" if number == right_choice(problem, seed) else "wrong"
    return Verdict(kind, problem.words(choice.says, seed), number if kind == "wrong" else None)


def check_schedule(problem: Problem, text: str, seed: int) -> Verdict:
    """Check a schedule; it is right where bubble and pieces in flight are within the goal."""
    asked = schedule_goal(problem, seed)
    try:
        orders = read_orders(text, asked)
    except OrdersError as error:
        return Verdict("unread", str(error))
    try:
        played = play(orders, asked)
    except Deadlock as error:
        return Verdict("wrong", explain_deadlock(orders, error.stuck))
    share, held = played.bubble / played.makespan, max(played.held)
    faults = []
    if share > asked.bubble_at_most * (1 + 1e-9):
        faults.append(
            f"a stage waits for {percent(share)} of the time, and {percent(asked.bubble_at_most)} "
            "can be reached"
        )
    if held > asked.in_flight_at_most:
        faults.append(
            f"stage {played.held.index(held) + 1} holds {format_value(held, '1')} micro-batches "
            "at once, and "
            f"{format_value(asked.in_flight_at_most, '1')} are enough"
        )
    if not faults:
        return Verdict(
            "right",
            f"Right: a stage waits for {percent(share)} of the time at most, and holds "
            f"{format_value(held, '1')} micro-batches at most.",
        )
    for turn, wrong in enumerate(problem.wrong):
        if PATTERNS[str(wrong.tree)](orders, played):
            return Verdict("wrong", problem.words(wrong.says, seed), turn)
    return Verdict("wrong", f"Not yet: {'; '.join(faults)}.")
