"""Every formula and every line of its derivation is printed as a textbook prints it."""

import re
from functools import cache

import pytest
import sympy

from handful.query import registry
from handful.symbolic.formula import FormulaError, latex_of

UNWANTED = {
    # C_{-} is a name; a minus that opens a side, a bracket or a fraction is followed by a letter.
    "leads with a minus": r"(?:^|[{(&=]|(?<!\\),)\s*-\s*(?![\s}])",
    "leads with a minus in a bracket": r"\\left\(\s*-",
    "subtracts from behind": r"-\s*\d+\s*\+",
    "stacks roots": r"\\sqrt\{[^{}]*\}\s*\\sqrt|\\frac\{[^{}]*\\sqrt\{[^{}]*\}\}\{[^{}]*\\sqrt",
    "divides by a fraction": r"\\frac\{[^{}]*\}\{\\frac\{[^{}]*\}\{[^{}]*\}\}",
}


@cache
def lines():
    found = {}
    for name, formula in registry().items():
        found[name] = [formula.latex()]
        try:
            found[name] += [step.latex for step in formula.derivation.steps]
        except FormulaError:  # cited, not derived
            continue
    return found


def faults(tex):
    return [why for why, shape in UNWANTED.items() if any(re.findall(shape, tex))]


@pytest.mark.parametrize("name", registry())
def test_formulas_are_printed_as_a_textbook_does(name):
    assert {tex: faults(tex) for tex in lines()[name] if faults(tex)} == {}


def test_what_a_textbook_does_not_print_is_found():
    x, y = sympy.symbols("x y", positive=True)
    assert not faults(latex_of(-x / (y - 1))) and not faults(latex_of(y - 1 - x))
    assert faults(sympy.latex(-x / (y - 1))) and faults(sympy.latex(sympy.sqrt(x) * sympy.sqrt(y)))
    assert faults(r"a = -1 + P") and faults(r"\frac{a}{\frac{b}{c}}")
    assert faults(r"\frac{\sqrt{a}}{\sqrt{b}}") and faults(r"\left(- x + y\right)")
