"""Convert SymPy expressions to JSON trees, the form in which the browser reads formulas.

A tree is a number, the API name of a quantity, or a list whose head is an operator: ``["+", a, b,
…]``, ``["*", …]``, ``["/", p, q]`` (rationals), ``["^", a, b]``, ``["max", …]``, ``["min", …]``,
``["log", a]``, ``["exp", a]``, ``["sqrt", a]``, ``["floor", a]``, ``["ceil", a]``, ``["abs", a]``.
"""

from __future__ import annotations

from typing import TypeAlias

import sympy

Tree: TypeAlias = "float | str | list[Tree]"

_HEADS = {
    sympy.Add: "+",
    sympy.Mul: "*",
    sympy.Pow: "^",
    sympy.Max: "max",
    sympy.Min: "min",
    sympy.log: "log",
    sympy.exp: "exp",
    sympy.floor: "floor",
    sympy.ceiling: "ceil",
    sympy.Abs: "abs",
}


def to_tree(expression: sympy.Expr) -> Tree:
    """Return the JSON tree of `expression`.

    Raises ValueError where a function in it has no operator.

    >>> x, y = sympy.symbols("x y", positive=True)
    >>> to_tree(sympy.Max(2 * x, y) / 3)
    ['*', ['/', 1, 3], ['max', 'y', ['*', 2, 'x']]]
    >>> to_tree(sympy.sqrt(x))
    ['sqrt', 'x']
    """
    expr = sympy.sympify(expression)
    if isinstance(expr, sympy.Symbol):
        return str(expr.name)
    if expr.is_Integer:
        return int(expr)
    if expr.is_Rational:
        return ["/", int(expr.p), int(expr.q)]
    if expr.is_number:
        return float(expr)
    if isinstance(expr, sympy.Pow) and expr.args[1] == sympy.S.Half:
        return ["sqrt", to_tree(expr.args[0])]
    head = _HEADS.get(expr.func)
    if head is None:
        raise ValueError(
            f"{expr.func.__name__} has no place in an expression tree; allowed: "
            f"{', '.join(sorted(_HEADS.values()))} and sqrt."
        )
    # Sorted so that the same formula gives the same bytes in every build.
    ordered = (
        expr.args
        if head == "^"
        else sorted(expr.args, key=lambda a: (not a.is_number, len(str(a)), str(a)))
    )
    return [head, *(to_tree(arg) for arg in ordered)]
