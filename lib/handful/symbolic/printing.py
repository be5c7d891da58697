r"""Printers of equations as the field writes them, in LaTeX and in plain text.

SymPy prints what its algebra left.  Here positive terms come first, one root stands for several, a
symbolic power stays below the bar, and a minus is not put in front of a quotient that can do
without.

>>> from sympy import Symbol, sqrt
>>> stages, work, overhead = (Symbol(name, positive=True) for name in ("P", "w", "t"))
>>> Plain({"order": "none"}).doprint(sqrt(work) * sqrt(stages - 1) / sqrt(overhead))
'sqrt(w*(P - 1)/t)'
>>> Latex({"order": "none"}).doprint(-work / (overhead - stages))
'\\frac{w}{P - t}'
>>> Plain({"order": "none"}).doprint(sqrt(work / (6 * overhead)))  # SymPy has sqrt(6)/6 in front
'sqrt(w/(6*t))'
"""

from __future__ import annotations

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.printer import Printer
from sympy.printing.str import StrPrinter

__all__ = ["Latex", "Plain"]


def negative(term: sympy.Expr) -> bool:
    """Return whether a term is printed with a minus in front."""
    return bool(
        (term.is_Number and term < 0)
        or (term.is_Mul and term.args[0].is_Number and term.args[0] < 0)
    )


def turned(product: sympy.Mul) -> sympy.Expr | None:
    """Return a product with its minus taken into a difference: -x/(a - b) as x/(b - a).

    Returns None where there is no difference to take it.
    """
    if negative(product):
        for factor in product.args:
            base, exponent = factor.as_base_exp()
            if base.is_Add and abs(exponent) == 1 and any(map(negative, base.args)):
                return -sympy.Mul(
                    *((-base) ** exponent if arg is factor else arg for arg in product.args)
                )
    return None


def under_one_root(product: sympy.Mul) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Split a product of several roots.

    Returns (what stands before the root, what stands under it), or None where there are not
    several.
    """
    roots = [arg for arg in product.args if arg.is_Pow and abs(arg.exp) == sympy.Rational(1, 2)]
    if len(roots) < 2:
        return None
    before = sympy.Mul(*(arg for arg in product.args if arg not in roots))
    under = sympy.Mul(*(arg.base ** (2 * arg.exp) for arg in roots))
    # SymPy has sqrt(6)/6 for one over the root of 6.
    factor, number = before.as_coeff_Mul()[0], under.as_coeff_Mul()[0]
    if factor.is_Rational and number.is_Integer and number > 1 and factor.q % number == 0:
        before, under = before * number, under / number**2
    return before, under


def in_tens(product: sympy.Mul) -> tuple[sympy.Expr, list[sympy.Expr]] | None:
    """Split a product of natural logarithms that are each divided by ln 10.

    Returns (other factors, arguments of the logarithms), or None where the product is no such one.
    """
    logs = [arg for arg in product.args if isinstance(arg, sympy.log)]
    tens = sympy.log(10) ** -len(logs)
    if not logs or tens not in product.args:
        return None
    return sympy.Mul(*(arg for arg in product.args if arg not in logs and arg != tens)), [
        log.args[0] for log in logs
    ]


def below_the_bar(product: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Split a product in which a power with a symbolic negative exponent belongs below the bar.

    Returns (numerator, denominator), or None where there is no such power.
    """
    over, under = sympy.fraction(product)
    return (over, under) if under != sympy.fraction(product, exact=True)[1] else None


class _Arranged(Printer):
    """A printer whose sums begin with the positive terms."""

    def _print_Add(self, expr: sympy.Add, order: str | None = None) -> str:
        shown = ""
        for term in sorted(
            self._as_ordered_terms(expr, order=order), key=negative
        ):  # stable: positive terms keep their order
            tex = self._print(-term if shown and negative(term) else term)
            shown += (" - " if negative(term) else " + ") * bool(shown) + tex
        return shown


class Latex(_Arranged, LatexPrinter):
    """SymPy's LaTeX printer with the arrangements above, and logarithms to base ten as such."""

    def _print_Mul(self, expr: sympy.Mul) -> str:
        if (other := turned(expr)) is not None:
            return self._print(other)
        if found := in_tens(expr):
            logs = " ".join(
                rf"\log_{{10}} {self.parenthesize(arg, PRECEDENCE['Pow'])}" for arg in found[1]
            )
            return logs if found[0] == 1 else f"{self._print(found[0])} {logs}"
        if found := under_one_root(expr):
            root = rf"\sqrt{{{self._print(found[1])}}}"
            over, under = sympy.fraction(found[0])
            top = (
                root
                if over == 1
                else f"{self.parenthesize(over, PRECEDENCE['Mul'], strict=True)} {root}"
            )
            return top if under == 1 else rf"\frac{{{top}}}{{{self._print(under)}}}"
        if found := below_the_bar(expr):
            return rf"\frac{{{self._print(found[0])}}}{{{self._print(found[1])}}}"
        return super()._print_Mul(expr)

    def _print_Pow(self, expr: sympy.Pow) -> str:
        if not expr.exp.is_number and expr.exp.is_negative:
            return rf"\frac{{1}}{{{self._print(expr.base**-expr.exp)}}}"
        return super()._print_Pow(expr)

    def _print_exp(self, expr: sympy.exp, exp: str | None = None) -> str:
        if expr.args[0].is_Mul and sympy.log(10) in expr.args[0].args:
            return f"10^{{{self._print(expr.args[0] / sympy.log(10))}}}"
        return str(super()._print_ExpBase(expr, exp))

    def _print_Rational(self, expr: sympy.Rational) -> str:
        """Print a guard against 0/0, a millionth beside a whole number, as that number.

        The whole number is the limit.
        """
        near = round(expr)
        return (
            str(near)
            if expr.q > 10_000 and abs(expr - near) * 100_000 < 1
            else super()._print_Rational(expr)
        )


class Plain(_Arranged, StrPrinter):
    """SymPy's printer of plain text with the arrangements above."""

    def _print_Mul(self, expr: sympy.Mul) -> str:
        if (other := turned(expr)) is not None:
            return self._print(other)
        if found := under_one_root(expr):
            root = f"sqrt({self._print(found[1])})"
            over, under = sympy.fraction(found[0])
            top = (
                root
                if over == 1
                else f"{self.parenthesize(over, PRECEDENCE['Mul'], strict=True)}*{root}"
            )
            return (
                top
                if under == 1
                else f"{top}/{self.parenthesize(under, PRECEDENCE['Pow'], strict=True)}"
            )
        if found := below_the_bar(expr):
            top = self.parenthesize(found[0], PRECEDENCE["Mul"], strict=True)
            bottom = self.parenthesize(found[1], PRECEDENCE["Pow"], strict=True)
            return f"{top}/{bottom}"
        return super()._print_Mul(expr)
