"""Tests of equations as they are printed.

Every one is read back and computed, and none begins with a minus, but for an exponent of e, or
splits a root.
"""

from __future__ import annotations

import itertools
import math
import random
import re

import pytest
import sympy

from handful.equation import api_text
from handful.query import registry
from handful.symbolic.formula import _standing, fill_defaults
from handful.symbolic.quantities import table

FORMULAS = registry()
FUNCTIONS = {
    "frac": lambda a, b: a / b,
    "sqrt": math.sqrt,
    "log": math.log,
    "log10": math.log10,
    "max": max,
    "min": min,
    "ceil": math.ceil,
    "floor": math.floor,
}
CONSTANTS = {"pi": math.pi, "e": math.e}
COMMANDS = {
    r"\left": "",
    r"\right": "",
    r"\lceil": "ceil",
    r"\rceil": "",
    r"\lfloor": "floor",
    r"\rfloor": "",
    r"\log_{10}": "log10",
    r"\ln": "log",
    r"\pi": " pi ",
    r"\frac": "frac",
    r"\sqrt": "sqrt",
    r"\max": "max",
    r"\min": "min",
    "^": "**",
}
TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|q\d+_|log10|[a-z]+|\*\*|[-+*/(),])")


def braced(text: str, start: int) -> int:
    """Return the place after the brace that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    raise ValueError(text)


def read_back(tex: str, names: dict[str, str]) -> str:
    """Return Python for what SymPy's LaTeX, with our letters, says.

    This is a small reader that shares nothing with the printer.
    """
    longest = sorted(names, key=len, reverse=True)
    word = re.compile(
        "|".join(
            [re.escape(n) for n in longest if len(n) > 1]
            + [r"\\log_\{10\}|\\[A-Za-z]+|\^"]
            + [n for n in longest if len(n) == 1]
        )
    )
    tex = word.sub(
        lambda match: f" {names[match[0]]} " if match[0] in names else COMMANDS[match[0]], tex
    )
    tex = re.sub(r"log10\s+(\w+)", r"log10(\1)", tex)
    while "{" in tex:
        start = tex.index("{")
        end = braced(tex, start)
        inner, after = tex[start + 1 : end - 1], tex[end:]
        if tex[:start].endswith("frac"):
            close = braced(after, 0)
            inner, after = f"({inner}),({after[1 : close - 1]})", after[close:]
        tex = f"{tex[:start]}({inner}){after}"
    tokens = TOKEN.findall(tex)
    assert "".join(tokens) == re.sub(r"\s", "", tex), tex
    python = ""
    for before, token in itertools.pairwise(["", *tokens]):
        ends = before == ")" or (bool(re.match(r"\w", before)) and before not in FUNCTIONS)
        python += " * " * (ends and bool(re.match(r"[\w(]", token))) + token
    return python


@pytest.mark.parametrize("name", list(FORMULAS))
def test_a_printed_equation_says_what_is_computed(name):
    formula = FORMULAS[name]
    names = {
        q.latex: f"q{number}_" for number, q in enumerate(table.values()) if " - " not in q.latex
    }  # ℓ − ℓ∞ is two letters
    python = read_back(formula.latex().removeprefix(f"{formula.gives.latex} = "), names)
    rng, compared = random.Random(name), 0
    for _ in range(40):
        values = {
            q.symbol: rng.uniform(0.2, 5) if q.default is None else q.default
            for q in _standing(formula.expression).values()
        }
        by_letter = {
            f"q{number}_": values.get(q.symbol, math.nan) for number, q in enumerate(table.values())
        }
        expected = fill_defaults(formula.expression).subs(values)
        try:
            shown = eval(
                python, {"__builtins__": {}, **FUNCTIONS, **CONSTANTS, **by_letter}
            )  # our own LaTeX, read by the lines above
        except (ZeroDivisionError, ValueError, OverflowError):
            continue  # outside the domain: a root of less than nothing, a division by it
        if isinstance(shown, complex):
            continue
        assert shown == pytest.approx(float(expected), rel=1e-5), (
            f"{formula.latex()} was read as {python}"
        )
        compared += 1
        if compared == 3:
            return
    assert compared, f"{formula.latex()} was never computed"


def printed() -> list[tuple[str, str]]:
    found = [(name, formula.latex()) for name, formula in FORMULAS.items()]
    for name, formula in FORMULAS.items():
        if formula._derivation is not None:
            found += [
                (f"{name}, step {number}", step.latex)
                for number, step in enumerate(formula.derivation.steps)
            ]
    return found


def test_no_equation_is_left_as_the_algebra_made_it():
    awkward = re.compile(
        r"(?:= |\\left\(|(?<!\be\^)\{|(?<!\\), )-(?!\})|-1 \+"
        r"|\\sqrt\{[^{}]*\} \\sqrt\{|1000001|\\log\{"
    )
    left = [(name, tex) for name, tex in printed() if awkward.search(tex)]
    assert len(printed()) > 400
    assert not left, left[:5]


@pytest.mark.parametrize("name", list(FORMULAS))
def test_plain_text_says_what_is_computed(name):
    formula = FORMULAS[name]
    text = api_text(formula.expression)
    assert not re.search(r"(?:^|(?<!exp)\()-|-1 \+", text), text
    letters = {q.name: sympy.Symbol(q.name, positive=True) for q in table.values()}
    back = sympy.sympify(
        text.replace("^", "**")
        .replace("max(", "Max(")
        .replace("min(", "Min(")
        .replace("ceil(", "ceiling("),
        locals=letters,
    )
    rng = random.Random(name)
    values = {
        q.symbol: rng.uniform(0.2, 5) if q.upper is None else q.upper * rng.uniform(0.1, 0.9)
        for q in _standing(formula.expression).values()
        if q.default is None or q.printed
    }
    expected = fill_defaults(formula.expression).subs(values)
    if expected.is_real and expected.is_finite:
        assert float(
            back.subs(
                {letters[q.name]: values[q.symbol] for q in table.values() if q.symbol in values}
            )
        ) == pytest.approx(float(expected))
