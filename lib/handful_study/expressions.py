"""Expressions of authors and learners, read into trees: "2 * N / F", "step_time(batch=1) / 2".

The tree is that of ``handful.symbolic.expression_tree``, so that the page computes it too;
``web/expressions.js`` reads the same text. Nothing that is written is ever run as code.

>>> parse("2 N^2 / max(F, 1)")
['/', ['*', 2, ['^', 'N', 2]], ['max', 'F', 1]]
>>> parse("2√(N F)") == parse("2 sqrt(N F)")
True
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
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import sympy

FUNCTIONS = ("max", "min", "sqrt", "log", "log2", "exp", "floor", "ceil", "abs")
LONGEST, DEEPEST = 300, 40
_TOKEN = re.compile(
    r"\s*(?:([0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?)|([A-Za-z_][A-Za-z_0-9]*)|(\*\*|[-+−*/×·÷^(),=√]))"
)
_SAME = {"−": "-", "×": "*", "·": "*", "÷": "/", "**": "^"}


Token: TypeAlias = str | float | int


class ExpressionError(ValueError):
    """Text that is not an expression; the message is one sentence."""


def tokens(text: str) -> list[Token]:
    """Split a text into numbers, names and signs; a sign follows a null byte.

    >>> tokens("2 N")
    [2, 'N']
    """
    if len(text) > LONGEST:
        raise ExpressionError(
            f"A formula of {len(text)} characters is too long; {LONGEST} are allowed."
        )
    found: list[Token] = []
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
    return _Parser(tokens(text), resolve).parse()


def _token_text(token: Token) -> str:
    return repr(token.removeprefix("\0")) if isinstance(token, str) else "a number"


class _Parser:
    """A recursive descent: a sum of products of powers of atoms.

    `depth` counts the parentheses, signs and exponents that a part stands in.
    """

    def __init__(
        self, found: Sequence[Token], resolve: Callable[[str, dict], object] | None
    ) -> None:
        self.left = list(reversed(found))
        self.resolve = resolve

    def parse(self):
        """Parse all of it."""
        if not self.left:
            raise ExpressionError("Nothing is written here yet; write a formula, such as 2*N/F.")
        tree = self.sum(0)
        if self.left:
            extra = _token_text(self.left[-1])
            raise ExpressionError(
                f"{extra} stands where the formula should end or go on with a sign."
            )
        return tree

    def accept(self, *signs: str) -> str | None:
        """Take the next token if it is one of these signs."""
        if self.left and self.left[-1] in ["\0" + sign for sign in signs]:
            return str(self.left.pop())[1:]
        return None

    def expect(self, sign: str) -> None:
        """Take a sign that has to come next."""
        if not self.accept(sign):
            where = f"before {_token_text(self.left[-1])}" if self.left else "at the end"
            raise ExpressionError(f"A {sign!r} is missing {where}.")

    def sum(self, depth: int):
        """Parse terms with + and - between them."""
        if depth > DEEPEST:
            raise ExpressionError(f"Parentheses more than {DEEPEST} deep are too many.")
        parts = [self.product(depth)]
        while sign := self.accept("+", "-"):
            part = self.product(depth)
            parts.append(part if sign == "+" else ["*", -1, part])
        return parts[0] if len(parts) == 1 else ["+", *parts]

    def product(self, depth: int):
        """Parse factors with * and / between them, or nothing."""
        found = self.power(depth)
        while self.left:
            if sign := self.accept("*", "/"):
                found = [sign, found, self.power(depth)]
            elif self.left[-1] in ("\0(", "\0√") or not str(self.left[-1]).startswith("\0"):
                found = ["*", found, self.power(depth)]
            else:
                break
        return found

    def power(self, depth: int):
        """Parse an atom with its sign before it and its exponent behind it."""
        if self.accept("-"):
            return ["*", -1, self.power(depth + 1)] if depth < DEEPEST else self.sum(depth + 1)
        if self.accept("+"):
            return self.power(depth + 1) if depth < DEEPEST else self.sum(depth + 1)
        base = self.atom(depth)
        return ["^", base, self.power(depth + 1)] if depth < DEEPEST and self.accept("^") else base

    def atom(self, depth: int):
        """Parse a number, a name, a call of a function, or what stands in parentheses."""
        if not self.left:
            raise ExpressionError("The formula ends where a number or a name should stand.")
        if self.accept("("):
            inside = self.sum(depth + 1)
            self.expect(")")
            return inside
        if self.accept("√"):
            return ["sqrt", self.atom(depth + 1)] if depth < DEEPEST else self.sum(depth + 1)
        token = self.left.pop()
        if not isinstance(token, str):
            return token
        if token.startswith("\0"):
            raise ExpressionError(f"{token[1:]!r} stands where a number or a name should.")
        if token in FUNCTIONS:
            self.expect("(")
            return self.call(token, depth)
        if self.resolve is None:
            return token
        return self.resolve(token, self.settings(depth) if self.accept("(") else {})

    def call(self, name: str, depth: int):
        """Parse the arguments of a function, after its parenthesis."""
        arguments = [self.sum(depth + 1)]
        while self.accept(","):
            arguments.append(self.sum(depth + 1))
        self.expect(")")
        if (len(arguments) == 1) == (name in ("max", "min")):
            raise ExpressionError(
                f"{name} takes {'two values or more' if name in ('max', 'min') else 'one value'}."
            )
        return ["/", ["log", *arguments], ["log", 2]] if name == "log2" else [name, *arguments]

    def settings(self, depth: int) -> dict:
        """Parse name(batch=1, …), after its parenthesis."""
        found = {}
        while True:
            name = self.left.pop() if self.left else ""
            if not isinstance(name, str) or name.startswith("\0") or not self.accept("="):
                raise ExpressionError(
                    "A name's settings are written name(batch=1, context=2*context)."
                )
            found[name] = self.sum(depth + 1)
            if not self.accept(","):
                self.expect(")")
                return found


def _nan_if_any(pick: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else pick(a, b)


def _divide(a: float, b: float) -> float:
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
    "/": _divide,
    "^": _power,
    "max": _nan_if_any(max),
    "min": _nan_if_any(min),
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
