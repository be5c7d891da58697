"""Derivations: lists of equations, each with the move that made it and a check of that move.

Exact moves (substitute, equate, solve, take a limit) are checked symbolically when the step is
added.  An approximation (drop a term, keep one branch of a maximum) is checked by the relative
error that it costs over a stated range, which is kept with the step and shown beside it.  A step
that does not follow raises.

>>> from handful.symbolic import quantities as q
>>> from sympy import Eq
>>> d = Derivation("How long a full read of memory takes")
>>> capacity, rate, time = q.memory_capacity, q.memory_bandwidth, q.drain_time
>>> d.start(Eq(capacity.symbol, rate.symbol * time.symbol), "what is read is rate × time")
>>> d.solve("drain_time", "divide by the rate")
>>> print(d)
How long a full read of memory takes
1. memory_capacity = drain_time*memory_bandwidth   [what is read is rate × time; start]
2. drain_time = memory_capacity/memory_bandwidth   [divide by the rate; exact]
>>> d.claim(Eq(time.symbol, 2 * capacity.symbol / rate.symbol), "a slip")
Traceback (most recent call last):
...
handful.symbolic.derivation.DerivationError: 'a slip' does not follow:
drain_time = 2*memory_capacity/memory_bandwidth is not equivalent to
drain_time = memory_capacity/memory_bandwidth.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy
from sympy import Eq

from .dimensions import dimension_of
from .formula import Formula, latex_of
from .quantities import dimension_of_symbol, find


class DerivationError(ValueError):
    """A step that does not follow from the one before."""


@dataclass(frozen=True)
class Step:
    """One line of a derivation.

    `error` is the largest relative error that the move costs, 0 if it is exact.
    """

    equation: Eq
    move: str
    check: str
    error: float = 0.0

    @property
    def latex(self) -> str:
        """Return the equation in LaTeX."""
        return f"{latex_of(self.equation.lhs)} = {latex_of(self.equation.rhs)}"


class Derivation:
    """A checked chain of equations; add steps with the methods, read them in `steps`."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.steps: list[Step] = []

    # Moves

    def start(self, equation: Eq | Formula, why: str) -> None:
        """Begin with a definition or a model's equation.

        Only its dimensions can be checked.
        """
        if isinstance(equation, Formula):
            equation = Eq(equation.gives.symbol, equation.expression)
        self._add(equation, why, "start")

    def substitute(self, replacements: Mapping[str, sympy.Expr] | Formula, why: str) -> None:
        """Fill in symbols.

        `replacements` maps API names to expressions; a formula stands for what it gives.
        """
        if isinstance(replacements, Formula):
            replacements = {replacements.gives.name: replacements.expression}
        known = {find(name).symbol: sympy.sympify(expr) for name, expr in replacements.items()}
        for symbol, expr in known.items():
            if (
                dimension_of(expr, dimension_of_symbol) != dimension_of_symbol(symbol)
                and expr.free_symbols
            ):
                raise DerivationError(
                    f"{why!r} puts {expr} in the place of {symbol}, which differs in dimension."
                )
            if not self.last.has(symbol):
                raise DerivationError(
                    f"{why!r} replaces {symbol}, which {_spell(self.last)} does not contain."
                )
        self._add(self.last.xreplace(known), why, "exact")

    def solve(self, name: str, why: str) -> None:
        """Solve the last equation for a quantity; the solution is put back into it."""
        symbol = find(name).symbol
        solutions = [s for s in sympy.solve(self.last, symbol) if s.is_negative is not True]
        if len(solutions) != 1:
            raise DerivationError(
                f"{why!r}: {_spell(self.last)} has {len(solutions)} positive solutions for {name}."
            )
        residue = sympy.simplify(
            self.last.lhs.subs(symbol, solutions[0]) - self.last.rhs.subs(symbol, solutions[0])
        )
        if residue != 0:
            raise DerivationError(
                f"{why!r}: the solution for {name} leaves {residue} when it is put back."
            )
        self._add(Eq(symbol, sympy.factor_terms(solutions[0])), why, "exact")

    def claim(self, equation: Eq, why: str) -> None:
        """Rewrite the last equation.

        Accepted where the new one says the same as the last for all positive values.
        """
        if not _equivalent(self.last, equation):
            raise DerivationError(
                f"{why!r} does not follow: {_spell(equation)} is not equivalent to "
                f"{_spell(self.last)}."
            )
        self._add(equation, why, "exact")

    def equate(self, left: Formula, right: Formula, why: str) -> None:
        """Set two quantities equal: the condition in question, as a new start."""
        self._add(Eq(left.expression, right.expression), why, "condition")

    def limit(self, name: str, to: sympy.Expr, why: str) -> None:
        """Let a quantity grow without end, or vanish."""
        symbol = find(name).symbol
        value = sympy.limit(self.last.rhs, symbol, to)
        if not value.is_finite and value.is_infinite:
            raise DerivationError(f"{why!r}: the limit of {self.last.rhs} for {name} is infinite.")
        self._add(Eq(self.last.lhs, value), why, "exact", limit=True)

    def minimise(self, name: str, why: str) -> None:
        """Set the slope of the right-hand side to zero as `name` varies.

        What rises with it then equals what falls.

        The new equation is x·f′(x) = 0 with the falling terms on the right.  Refused unless each
        term is a power of `name`: then the sum is convex in its logarithm, and the one place where
        the slope is zero is the minimum.
        """
        symbol = find(name).symbol
        # Term by term, as term × d ln term / d ln x, which keeps powers of pure numbers together.
        rising: list[sympy.Expr] = []
        falling: list[sympy.Expr] = []
        for term in sympy.Add.make_args(self.last.rhs):
            power = sympy.simplify(symbol * sympy.diff(term, symbol) / term)
            if power == 0:
                continue
            if power.has(symbol) or not (
                term.is_positive and (power.is_positive or power.is_negative)
            ):
                raise DerivationError(
                    f"{why!r}: {term} is no power of {name}, so one minimum is not certain."
                )
            (rising if power.is_positive else falling).append(term * abs(power))
        if not sympy.Add(*rising).has(symbol) or not sympy.Add(*falling).has(symbol):
            raise DerivationError(
                f"{why!r}: {_spell(self.last)} has no minimum in {name}; it rises only, or falls "
                "only."
            )
        self._add(Eq(sympy.Add(*rising), sympy.Add(*falling)), why, "exact")

    def approximate(
        self,
        expression: sympy.Expr,
        why: str,
        *,
        over: Mapping[str, tuple[float, float]],
        error: float,
        at: Mapping[str, float] | None = None,
        case: str = "",
    ) -> None:
        """Replace the right-hand side by a simpler one.

        Refused if that costs more than `error` anywhere in `over`.

        `over` maps API names to (low, high), sampled on a logarithmic grid, ends included; `at`
        holds the other inputs fixed, and `case` says in words what they stand for.
        """
        worst = _relative_error(
            self.last.rhs, expression, {**{k: (v, v) for k, v in (at or {}).items()}, **over}
        )
        if worst > error:
            raise DerivationError(
                f"{why!r} costs {worst:.3g} of the value, more than the {error:.3g} allowed."
            )
        ranges = ", ".join(
            f"{find(n).label.lower()} {_plain(a)} to {_plain(b)}" for n, (a, b) in over.items()
        )
        ranges += f" ({case})" if case else ""
        self._add(
            Eq(self.last.lhs, expression), why, f"within {_percent(worst)} over {ranges}", worst
        )

    # Reading

    @property
    def last(self) -> Eq:
        """Return the last equation; raises DerivationError where there is none yet."""
        if not self.steps:
            raise DerivationError(f"'{self.title}' has no first equation yet; begin with start().")
        return self.steps[-1].equation

    @property
    def result(self) -> sympy.Expr:
        """Return the right-hand side that the derivation ends with."""
        return self.last.rhs

    def __str__(self) -> str:
        lines = [
            f"{i}. {_spell(s.equation)}   [{s.move}; {s.check}]"
            for i, s in enumerate(self.steps, 1)
        ]
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<li><p class="move">{html.escape(s.move)}</p>'
            '<div class="math notranslate nohighlight" '
            f'data-tex="{html.escape(s.latex, quote=True)}">'
            f"\\[{html.escape(s.latex)}\\]</div>"
            f'<p class="check check-{_kind(s)}">{html.escape(_badge(s))}</p></li>'
            for s in self.steps
        )
        return (
            '<div class="derivation"><p '
            f'class="derivation-title">{html.escape(self.title)}</p><ol>{rows}</ol></div>'
        )

    def _add(
        self, equation: Eq, why: str, check: str, error: float = 0.0, limit: bool = False
    ) -> None:
        if equation in (True, False, sympy.true, sympy.false):
            raise DerivationError(f"{why!r} leaves nothing to say: the equation became {equation}.")
        # The walker sees every line, so a step cannot lose a unit on the way.
        dimension_of(
            equation.lhs - equation.rhs if equation.rhs != 0 else equation.lhs, dimension_of_symbol
        )
        self.steps.append(Step(equation, why, check, error))


def _kind(step: Step) -> str:
    return (
        "approximate"
        if step.error
        else step.check
        if step.check in ("start", "condition")
        else "exact"
    )


def _badge(step: Step) -> str:
    return {"start": "the model", "condition": "the condition", "exact": "exact"}.get(
        step.check, step.check
    )


def _spell(equation: Eq) -> str:
    return f"{equation.lhs} = {equation.rhs}"


def _equivalent(old: Eq, new: Eq) -> bool:
    """Return whether two equations have the same positive solutions.

    Both are solved for one symbol that they share.
    """
    shared = sorted((old.free_symbols & new.free_symbols), key=lambda s: (new.lhs != s, s.name))
    for symbol in shared:
        try:
            a, b = sympy.solve(old, symbol), sympy.solve(new, symbol)
        except NotImplementedError:
            continue
        if len(a) == len(b) == 1:
            return bool(sympy.simplify(a[0] - b[0]) == 0)
    if new.lhs.is_Symbol and not new.rhs.has(new.lhs) and old.has(new.lhs):
        # Powers with letters in their exponents, which solve() leaves alone: put the answer in and
        # compare logarithms.
        left, right = (sympy.log(side).subs(new.lhs, new.rhs) for side in (old.lhs, old.rhs))
        if sympy.simplify(sympy.expand_log(left - right, force=True)) == 0:
            return True
    return bool(sympy.simplify((old.lhs - old.rhs) - (new.lhs - new.rhs)) == 0)


def _relative_error(
    exact: sympy.Expr, simple: sympy.Expr, over: Mapping[str, tuple[float, float]]
) -> float:
    symbols = {find(name).symbol: bounds for name, bounds in over.items()}
    missing = (exact.free_symbols | simple.free_symbols) - set(symbols)
    defaults = {s: find(s.name).default for s in missing if find(s.name).default is not None}
    if missing - set(defaults):
        names = ", ".join(sorted(s.name for s in missing - set(defaults)))
        raise DerivationError(f"An approximation needs a range for {names}.")
    order = list(symbols)
    error = sympy.Abs((simple - exact) / exact).subs(defaults)
    relative: Callable[..., float] = sympy.lambdify(order, error, "math")

    def grid(low: float, high: float) -> list[float]:
        steps = 9
        return (
            [low]
            if low == high
            else [low * (high / low) ** (i / (steps - 1)) for i in range(steps)]
        )

    return max(relative(*point) for point in itertools.product(*(grid(*symbols[s]) for s in order)))


def _plain(value: float) -> str:
    return f"{value:,.0f}" if 1 <= value < 1e6 else f"{value:.3g}"


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %" if value else "0 %"
