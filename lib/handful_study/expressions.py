"""Expressions of authors and learners, read into trees: "2 * N / F", "step_time(batch=1) / 2".

The tree is that of ``handful.symbolic.expression_tree``, so that the page computes it too;
``web/expressions.js`` reads the same text. Nothing that is written is ever run as code.

>>> parse("2 N^2 / max(F, 1)")
['/', ['*', 2, ['^', 'N', 2]], ['max', 'F', 1]]
>>> parse("3! + 1")
Traceback (most recent call last):
...
handful_study.expressions.ExpressionError: '!' has no place in a formula; + - * / ^,
parentheses, names and max min sqrt log log2 exp floor ceil abs are allowed.
>>> evaluate(parse("-2^2 + 3"), {})
-1.0
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

import sympy

FUNCTIONS = ("max", "min", "sqrt", "log", "log2", "exp", "floor", "ceil", "abs")
LONGEST, DEEPEST = 300, 40
_TOKEN = re.compile(
    r"\s*(?:([0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?)|([A-Za-z_][A-Za-z_0-9]*)|(\*\*|[-+−*/×·÷^(),=]))"
)
_SAME = {"−": "-", "×": "*", "·": "*", "÷": "/", "**": "^"}


class ExpressionError(ValueError):
    """Text that is not an expression; the message is one sentence."""


def tokens(text: str) -> list[str | float | int]:
    """Split a text into numbers, names and signs; a sign follows a null byte.

    >>> tokens("2 N")
    [2, 'N']
    """
    if len(text) > LONGEST:
        raise ExpressionError(
            f"A formula of {len(text)} characters is too long; {LONGEST} are allowed."
        )
    found: list[str | float | int] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            sign = text[at:].lstrip()[0]
            raise ExpressionError(
                f"{sign!r} has no place in a formula; + - * / ^, parentheses, names and "
                f"{' '.join(FUNCTIONS)} are allowed."
            )
        number, name, sign = match.groups()
        if number:
            value = float(number)
            found.append(int(value) if value.is_integer() and value < 2**53 else value)
        else:
            found.append(name or "\0" + _SAME.get(sign, sign))
        at = match.end()
    return found


def written_names(text: str) -> list[str]:
    """Return the names in a text, without functions, in the order in which they appear.

    >>> written_names("max(N, 2 F)")
    ['N', 'F']
    """
    return [
        token
        for token in tokens(text)
        if isinstance(token, str) and not token.startswith("\0") and token not in FUNCTIONS
    ]


def parse(text: str, resolve: Callable[[str, dict], object] | None = None):
    """Parse `text` into a tree.

    Parameters
    ----------
    text : str
        Arithmetic; ``^`` or ``**`` is a power, and what stands side by side is multiplied.
    resolve : callable, optional
        ``resolve(name, settings)`` gives the tree that a name stands for; settings are those of
        ``name(batch=1)``, which only authors may write.  Without it every name stands for itself.

    Raises
    ------
    ExpressionError
        In one sentence, for text that is not an expression.
    """
    left = tokens(text)[::-1]
    if not left:
        raise ExpressionError("Nothing is written here yet; write a formula, such as 2*N/F.")

    def accept(*signs: str) -> str | None:
        if left and left[-1] in ["\0" + sign for sign in signs]:
            return str(left.pop())[1:]
        return None

    def expect(sign: str) -> None:
        if not accept(sign):
            raise ExpressionError(
                f"A {sign!r} is missing {'before ' + shown(left[-1]) if left else 'at the end'}."
            )

    def shown(token) -> str:
        return repr(token.removeprefix("\0")) if isinstance(token, str) else "a number"

    def total(depth: int):
        if depth > DEEPEST:
            raise ExpressionError(f"Parentheses more than {DEEPEST} deep are too many.")
        parts = [product(depth)]
        while sign := accept("+", "-"):
            part = product(depth)
            parts.append(part if sign == "+" else ["*", -1, part])
        return parts[0] if len(parts) == 1 else ["+", *parts]

    def product(depth: int):
        found = power(depth)
        while left:
            if sign := accept("*", "/"):
                found = [sign, found, power(depth)]
            elif left[-1] == "\0(" or not str(left[-1]).startswith("\0"):
                found = ["*", found, power(depth)]
            else:
                break
        return found

    def power(depth: int):
        if accept("-"):
            return ["*", -1, power(depth + 1)] if depth < DEEPEST else total(depth + 1)
        if accept("+"):
            return power(depth + 1) if depth < DEEPEST else total(depth + 1)
        base = atom(depth)
        return ["^", base, power(depth + 1)] if depth < DEEPEST and accept("^") else base

    def atom(depth: int):
        if not left:
            raise ExpressionError("The formula ends where a number or a name should stand.")
        if accept("("):
            inside = total(depth + 1)
            expect(")")
            return inside
        token = left.pop()
        if not isinstance(token, str):
            return token
        if token.startswith("\0"):
            raise ExpressionError(f"{token[1:]!r} stands where a number or a name should.")
        if token in FUNCTIONS:
            expect("(")
            return call(token, depth)
        if resolve is None:
            return token
        return resolve(token, settings(depth) if accept("(") else {})

    def call(name: str, depth: int):
        arguments = [total(depth + 1)]
        while accept(","):
            arguments.append(total(depth + 1))
        expect(")")
        if (len(arguments) == 1) == (name in ("max", "min")):
            raise ExpressionError(
                f"{name} takes {'two values or more' if name in ('max', 'min') else 'one value'}."
            )
        return ["/", ["log", *arguments], ["log", 2]] if name == "log2" else [name, *arguments]

    def settings(depth: int) -> dict:
        found = {}
        while True:
            name = left.pop() if left else ""
            if not isinstance(name, str) or name.startswith("\0") or not accept("="):
                raise ExpressionError(
                    "A name's settings are written name(batch=1, context=2*context)."
                )
            found[name] = total(depth + 1)
            if not accept(","):
                expect(")")
                return found

    tree = total(0)
    if left:
        raise ExpressionError(
            f"{shown(left[-1])} stands where the formula should end or go on with a sign."
        )
    return tree


def _folded(pick: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else pick(a, b)


def _divided(a: float, b: float) -> float:
    if b:
        return a / b
    return math.copysign(math.inf, a) * math.copysign(1, b) if a and not math.isnan(a) else math.nan


def _power(a: float, b: float) -> float:
    if (abs(a) == 1 and not math.isfinite(b)) or math.isnan(b):
        return math.nan  # where C has 1
    odd = b % 2 == 1 if math.isfinite(b) else False
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and odd else math.inf
    except ValueError:
        return math.copysign(math.inf, a if odd else 1) if a == 0 else math.nan


_TWO: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "/": _divided,
    "^": _power,
    "max": _folded(max),
    "min": _folded(min),
}
_ONE: dict[str, Callable[[float], float]] = {
    "log": math.log,
    "exp": math.exp,
    "floor": math.floor,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "abs": abs,
}


def evaluate(tree, values: Mapping[str, float]) -> float:
    """Evaluate a tree; the result is NaN or infinite where a browser's would be.

    >>> (
    ...     evaluate(["/", "a", ["+", "b", 1]], {"a": 6, "b": 2}),
    ...     evaluate(["/", 1, 0], {}),
    ...     evaluate(["max", 1, ["sqrt", -1]], {}),
    ... )
    (2.0, inf, nan)
    """
    if isinstance(tree, str):
        value = values.get(tree)
        if value is None:
            raise ExpressionError(f"There is no value for {tree!r}.")
        return float(value)
    if not isinstance(tree, list):
        return float(tree)
    head, *rest = tree
    first, *others = (evaluate(part, values) for part in rest)
    if head in _ONE:
        try:
            return float(_ONE[head](first))
        except OverflowError:  # exp of much, or an infinity that is rounded
            return math.inf if head == "exp" else first
        except ValueError:
            return -math.inf if head == "log" and first == 0 else math.nan
    for other in others:
        first = _TWO[head](first, other)
    return float(first)


def replace(tree, known: Mapping[str, object]):
    """Return the tree with names replaced by trees.

    >>> replace(["*", 2, "a"], {"a": ["+", "b", 1]})
    ['*', 2, ['+', 'b', 1]]
    """
    if isinstance(tree, str):
        return known.get(tree, tree)
    return (
        [tree[0], *(replace(part, known) for part in tree[1:])] if isinstance(tree, list) else tree
    )


def names(tree) -> set[str]:
    """Return the names in a tree.

    >>> sorted(names(["*", 2, ["max", "b", "a"]]))
    ['a', 'b']
    """
    if isinstance(tree, str):
        return {tree}
    return set().union(*map(names, tree[1:])) if isinstance(tree, list) else set()


_SYMPY = {
    "max": sympy.Max,
    "min": sympy.Min,
    "log": sympy.log,
    "exp": sympy.exp,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "sqrt": sympy.sqrt,
    "abs": sympy.Abs,
    "+": sympy.Add,
    "*": sympy.Mul,
    "^": sympy.Pow,
    "/": lambda a, b: a / b,
}


def to_sympy(tree, symbol: Callable[[str], sympy.Expr]) -> sympy.Expr:
    """Convert a tree to a SymPy expression, for its dimension and for print."""
    if isinstance(tree, str):
        return symbol(tree)
    if not isinstance(tree, list):
        return sympy.sympify(tree)
    return _SYMPY[tree[0]](*(to_sympy(part, symbol) for part in tree[1:]))
