"""Solve a relation for one of its inputs by taking it apart, and put the solution back.

>>> from handful.symbolic.quantities import batch, devices, step_time
>>> inverses(2 * batch.symbol + devices.symbol, step_time.symbol, batch.symbol)
[-devices/2 + step_time/2]
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import sympy

from .quantities import PARTS, find
from .quantity import Quantity

if TYPE_CHECKING:
    from .formula import Formula

_Point: TypeAlias = "Mapping[sympy.Symbol, float]"
_UNFIT = (ArithmeticError, ValueError, TypeError)  # of a number that is infinite, or complex


class FormulaError(ValueError):
    """A formula called, built or solved in a way that it does not allow."""

    exit_code = 2


class NoInverse(Exception):
    """No closed form; the message is the reason, with {name} for the symbol that is wanted."""


class Cancels(Exception):
    """The symbol that is wanted cancels."""


# Algebra


def inverses(expr: sympy.Expr, y: sympy.Expr, x: sympy.Symbol) -> list[sympy.Expr]:
    """Return the candidates for x in expr = y: one, or both roots of each square.

    Sums, products, powers, exponentials and logarithms are peeled off one after the other.  A
    maximum of rising branches is the minimum of their inverses (and so on), which is how a roofline
    is inverted.  What is left may be a quotient of polynomials of degree 2 at most.

    Raises NoInverse where that does not lead to x, and Cancels where expr does not depend on x.
    """
    if expr == x:
        return [y]
    if (monomial := _monomial(expr, x)) is not None:
        factor, power = monomial
        if power == 0:
            raise Cancels
        return [(y / factor) ** (1 / power)]
    if isinstance(expr, (sympy.Add, sympy.Mul)):
        rest, part = expr.as_independent(x, as_Add=expr.is_Add)
        if part != expr:
            return inverses(part, y - rest if expr.is_Add else y / rest, x)
    elif isinstance(expr, sympy.exp):
        return inverses(expr.args[0], sympy.log(y), x)
    elif isinstance(expr, sympy.log):
        return inverses(expr.args[0], sympy.exp(y), x)
    elif isinstance(expr, sympy.Pow):
        base, exponent = expr.args
        if not exponent.has(x):
            return inverses(base, y ** (1 / exponent), x)
        if not base.has(x):
            return inverses(exponent, sympy.log(y) / sympy.log(base), x)
    elif isinstance(expr, (sympy.ceiling, sympy.floor)):
        raise NoInverse("it moves in steps with {name}")
    elif isinstance(expr, (sympy.Max, sympy.Min)):
        return _of_extremum(type(expr), expr.args, y, x)
    if (kernel := _kernel(expr, x)) is not None:
        z = sympy.Dummy(positive=True) if kernel.is_positive else sympy.Dummy(real=True)
        shells = inverses(_replaced(expr, kernel, z), y, z)
        return [found for shell in shells for found in inverses(kernel, shell, x)]
    if expr.has(sympy.ceiling, sympy.floor) and any(
        node.has(x) for node in expr.atoms(sympy.ceiling, sympy.floor)
    ):
        raise NoInverse("it moves in steps with {name}")
    for node in sympy.preorder_traversal(expr):
        if isinstance(node, (sympy.Max, sympy.Min)) and node.has(x):
            branches = [_replaced(expr, node, branch) for branch in node.args]
            return _of_extremum(_extremum_of(expr, branches), branches, y, x)
    return _of_quotient(expr, y, x)


def _monomial(expr: sympy.Expr, x: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Return factor and power where expr is factor · x^power, for positive x."""
    if not expr.has(x):
        return expr, sympy.S.Zero
    if expr == x:
        return sympy.S.One, sympy.S.One
    if isinstance(expr, sympy.Pow):
        # A factor that has a dimension cannot carry a letter as its exponent.
        bare = expr.exp.is_number or expr.base == x
        base = None if expr.exp.has(x) or not bare else _monomial(expr.base, x)
        return None if base is None else (base[0] ** expr.exp, base[1] * expr.exp)
    equal = (sympy.Add, sympy.Max, sympy.Min) if x.is_nonnegative else sympy.Add
    if not isinstance(expr, (sympy.Mul, equal)):
        return None
    parts = []
    for arg in expr.args:
        part = _monomial(arg, x)
        if part is None:
            return None
        parts.append(part)
        if not expr.is_Mul and _tidy(part[1]) != _tidy(parts[0][1]):
            return None
    factors, powers = zip(*parts, strict=True)
    return _made(expr.func, factors), _tidy(sympy.Add(*powers)) if expr.is_Mul else powers[0]


def _made(kind: type[sympy.Expr], args: Iterable[sympy.Expr]) -> sympy.Expr:
    """Return kind(*args), with maxima and minima as they are: SymPy takes seconds to compare."""
    return kind(*args, evaluate=False) if kind in (sympy.Max, sympy.Min) else kind(*args)


def _replaced(expr: sympy.Expr, old: sympy.Expr, new: sympy.Expr) -> sympy.Expr:
    if expr == old:
        return new
    if not expr.has(old):
        return expr
    return _made(expr.func, [_replaced(arg, old, new) for arg in expr.args])


def _tidy(power: sympy.Expr) -> sympy.Expr:
    return power if power.is_number else sympy.cancel(sympy.together(power))


def _kernel(expr: sympy.Expr, x: sympy.Symbol) -> sympy.Expr | None:
    """Return the largest part of expr that holds every x in it, if there is one."""

    def covers(node: sympy.Basic, kernel: sympy.Basic) -> bool:
        return node == kernel or (node != x and all(covers(arg, kernel) for arg in node.args))

    nodes = itertools.islice(sympy.preorder_traversal(expr), 1, None)
    return next((n for n in nodes if n != x and n.has(x) and covers(expr, n)), None)


def _of_extremum(
    kind: type[sympy.Expr], branches: Iterable[sympy.Expr], y: sympy.Expr, x: sympy.Symbol
) -> list[sympy.Expr]:
    """Invert a maximum or minimum of branches that all rise, or all fall, with x."""
    kept, solved = [], []
    for branch in branches:
        if branch.has(x):
            try:
                solved.append(inverses(branch, y, x))
            except Cancels:
                continue
            kept.append(branch)
    if not kept:
        raise Cancels
    slopes = {sign for branch in kept for sign in _slopes(branch, x)}
    if slopes == {1}:
        kind = sympy.Min if kind is sympy.Max else sympy.Max
    elif slopes != {-1}:
        raise NoInverse("it neither rises nor falls with {name} throughout")
    if math.prod(map(len, solved)) > 16:
        raise NoInverse("there are too many squares to choose roots of")
    return [_made(kind, choice) for choice in itertools.product(*solved)]


def _slopes(expr: sympy.Expr, x: sympy.Symbol) -> set[int]:
    """Return the signs that the slope of expr in x has at drawn points."""
    at = function_of(expr)
    signs = set()
    for point in _points(expr.free_symbols):
        try:
            change = at({**point, x: point[x] * 1.01}) - at(point)
            size = abs(at(point))
        except _UNFIT:
            continue
        if abs(change) > 1e-12 * size:
            signs.add(1 if change * point[x] > 0 else -1)
    return signs


def _extremum_of(expr: sympy.Expr, branches: Sequence[sympy.Expr]) -> type[sympy.Expr]:
    """Return whether expr is the maximum or the minimum of what it is for each branch."""
    whole, *parts = map(function_of, [expr, *branches])
    kinds: set[type[sympy.Expr]] = {sympy.Max, sympy.Min}
    for point in _points(expr.free_symbols):
        try:
            value, values = whole(point), [part(point) for part in parts]
            slack = 1e-9 * max(map(abs, values))
            if abs(value - max(values)) > slack:
                kinds.discard(sympy.Max)
            if abs(value - min(values)) > slack:
                kinds.discard(sympy.Min)
        except _UNFIT:
            continue
    if not kinds:
        raise NoInverse("its branches change places with the other inputs")
    return kinds.pop()


def _of_quotient(expr: sympy.Expr, y: sympy.Expr, x: sympy.Symbol) -> list[sympy.Expr]:
    """Solve a quotient of polynomials in x, of degree 2 at most, for x.

    All that is free of x stands as one symbol meanwhile, so that nothing is multiplied out.
    """
    names: dict[sympy.Expr, sympy.Dummy] = {}

    def short(node: sympy.Expr) -> sympy.Expr:
        if node == x or node.is_Number:
            return node
        if not node.has(x):
            return names.setdefault(node, sympy.Dummy(real=True))
        if isinstance(node, (sympy.Add, sympy.Mul)):
            rest, part = node.as_independent(x, as_Add=node.is_Add)
            args = part.args if part.func == node.func else (part,)
            return node.func(short(rest), *map(short, args))
        return node.func(*map(short, node.args))

    wanted = sympy.Dummy(real=True)
    numerator, _ = sympy.together(short(expr) - wanted).as_numer_denom()
    if not numerator.is_polynomial(x):
        raise NoInverse("{name} stands in several places, and algebra does not bring them together")
    coefficients = sympy.Poly(numerator, x).all_coeffs()
    if len(coefficients) == 2:
        a, b = coefficients
        found = [-b / a]
    elif len(coefficients) == 3:
        # Divided by the other root, which stays right where the square has no weight.
        a, b, c = coefficients
        root = sympy.sqrt(b**2 - 4 * a * c)
        found = [2 * c / (-b - root), 2 * c / (-b + root)]
    else:
        raise NoInverse("{name} stands in a polynomial of degree " + str(len(coefficients) - 1))
    back = {dummy: whole for whole, dummy in names.items()} | {wanted: y}
    return [sympy.factor_terms(one).xreplace(back) for one in found]


# Numbers


def limits(quantity: Quantity, known: Mapping[str, float]) -> tuple[float, float]:
    """Return the least and the largest value of a quantity beside the values of others.

    Zero stands for "above 0" where the quantity cannot be zero.
    """
    low = -math.inf if quantity.signed else 0.0 if quantity.least is None else quantity.least
    high = math.inf if quantity.upper is None else quantity.upper
    for part, whole in PARTS:
        if part is quantity and whole.name in known:
            high = min(high, known[whole.name])
        if whole is quantity and part.name in known:
            low = max(low, known[part.name])
    return low, high


_OPERATIONS: dict[type[sympy.Expr], Callable[[list[float]], float]] = {
    sympy.Add: sum,
    sympy.Mul: math.prod,
    sympy.Pow: lambda args: math.pow(*args) if args[0] else args[0] ** args[1],
    sympy.Max: max,
    sympy.Min: min,
    sympy.exp: lambda args: math.exp(*args),
    sympy.log: lambda args: math.log(*args),
    sympy.ceiling: lambda args: math.ceil(*args),
    sympy.floor: lambda args: math.floor(*args),
}


def function_of(expr: sympy.Expr) -> Callable[[_Point], float]:
    """Return a function of plain numbers, without the seconds that lambdify takes for maxima."""
    if expr.is_Symbol:
        return lambda point: point[expr]
    if expr.is_number:
        number = float(expr) if expr.is_extended_real else math.nan
        return lambda point: number
    operation = _OPERATIONS.get(expr.func)
    if operation is None:  # of no formula that is registered
        symbols = list(expr.free_symbols)
        function: Callable[..., float] = sympy.lambdify(symbols, expr, "math")
        return lambda point: function(*(point[s] for s in symbols))
    parts = [function_of(arg) for arg in expr.args]
    return lambda point: operation([part(point) for part in parts])


def steps(expr: sympy.Expr, x: sympy.Symbol, others: _Point, count: int = 1000) -> list[float]:
    """Return where rounded counts in expr step from one whole number to the next, up to `count`.

    Each place comes with neighbours on both sides.
    """
    k = sympy.Dummy(positive=True)
    places = []
    for node in expr.atoms(sympy.ceiling, sympy.floor):
        if not node.has(x):
            continue
        try:
            found = inverses(node.args[0], k, x)
        except (NoInverse, Cancels):  # rounded twice: it steps where the inner count does
            continue
        for place in map(function_of, found):
            for whole in range(count + 1):
                try:
                    at = place({**others, k: float(whole)})
                except _UNFIT:
                    continue
                places += [at * (1 - 1e-15), at, at * (1 + 1e-15)]
    return [at for at in places if math.isfinite(at)]


def _points(symbols: Iterable[sympy.Symbol], seed: str = "", count: int = 24) -> Iterator[_Point]:
    """Draw values that the quantities of these symbols can have; others get positive ones."""
    draw = random.Random(f"{seed} {count}")
    ordered = sorted(symbols, key=lambda s: str(s.name))
    return (_point(ordered, draw, 0.3 if i % 3 else 2.0) for i in range(count))


def _point(symbols: Iterable[sympy.Symbol], draw: random.Random, spread: float) -> _Point:
    values: dict[sympy.Symbol, float] = {}
    for symbol in symbols:
        values[symbol] = 10 ** draw.uniform(-spread, spread)
        if isinstance(symbol, sympy.Dummy):
            continue
        quantity = find(symbol.name)
        if quantity.constant and quantity.default is not None:
            values[symbol] = quantity.default
        elif quantity.upper is not None:
            values[symbol] = quantity.upper * draw.uniform(0.01, 0.99)
        elif quantity.zero and draw.random() < 0.05:
            values[symbol] = 0.0
        elif quantity.signed:
            values[symbol] *= draw.choice((-1, 1))
        values[symbol] += quantity.least or 0.0
    for part, whole in PARTS:
        if part.symbol in values and whole.symbol in values:
            if part.constant:
                values[whole.symbol] += values[part.symbol]
            else:
                values[part.symbol] = values[whole.symbol] * draw.uniform(0.05, 0.95)
    return values


def verify(formula: Formula, quantity: Quantity, inverse: Formula) -> str:
    """Put an inverse back at drawn points: y = f(x), then x' = inverse(y), then f(x') = y.

    Returns why it is refused, and nothing where it holds.  Where f is flat, x' may be another value
    than x; everywhere else that would be a second solution.
    """
    x = quantity.symbol
    forward, backward = function_of(formula.expanded), function_of(inverse.expanded)
    checked = 0
    for point in _points([q.symbol for q in formula.inputs], formula.name + quantity.name, 500):
        if checked == 16:
            break

        def at(value: float, point: _Point = point) -> float:
            try:
                return forward({**point, x: value})
            except _UNFIT:
                return math.nan

        def gives(value: float, y: float, at: Callable[[float], float] = at) -> bool:
            slack = abs(at(value * (1 + 1e-10)) - at(value * (1 - 1e-10)))
            return abs(at(value) - y) <= 1e-9 * abs(y) + (slack if slack < math.inf else 0)

        y = at(point[x])
        if not math.isfinite(y):
            continue
        flat = abs(at(point[x] * (1 + 1e-6)) - y) <= 1e-12 * abs(y)
        try:
            found = backward({**point, formula.gives.symbol: y})
        except ZeroDivisionError:  # an input that is 0 drops out
            continue
        except _UNFIT:
            found = math.nan
        low, high = limits(quantity, {q.name: point[q.symbol] for q in formula.inputs})
        if not low * (1 - 1e-9) <= found <= high * (1 + 1e-9):
            if flat:
                continue  # y holds nothing of x
            return "a part of the solution is undefined for some values"
        if not gives(found, y):
            if flat:
                continue
            return "the solution does not hold for all values"
        if abs(found - point[x]) > 1e-6 * abs(point[x]) and not gives((found + point[x]) / 2, y):
            return "several values of {name} may give the same"
        checked += 1
    return "" if checked == 16 else f"the solution could be checked at {checked} points only"
