"""Tests that equations as text mean what the formulas mean.

Python reads the text and gets the formula's number.
"""

import json
import math
import random

import pytest

from handful import equation
from handful.query import registry as every_formula
from handful.symbolic.formula import registry
from handful.symbolic.quantities import table

NAMES = {
    "pi": math.pi,
    "max": max,
    "min": min,
    "log": math.log,
    "exp": math.exp,
    "floor": math.floor,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "abs": abs,
}
every_formula()


def evaluated(text: str, known: dict) -> float:
    return eval(text.replace("^", "**"), {"__builtins__": {}}, {**NAMES, **known})  # our own text


@pytest.mark.parametrize("name", sorted(registry))
def test_the_text_of_an_equation_gives_the_formulas_number(name):
    formula = registry[name]
    draw, compared = random.Random(name), 0
    text = equation.api_text(formula.expression)
    # From the last formula that is leaned on to the first: each finds what it leans on there.
    parts = [
        (part.gives.name, equation.api_text(part.expression))
        for part in reversed(equation.used_formulas(formula))
    ]
    asked = [
        *(q for q in formula.inputs if q.default is None or q.printed),
        *equation.cancelled_quantities(formula),
    ]
    for _ in range(40):
        known = {q.name: draw.uniform(0.2, 0.9 if q.upper == 1 else 5) for q in asked}
        try:
            wanted = formula(known)
            for part, written in parts:
                known[part] = evaluated(written, known)
            found = evaluated(text, known)
        except (
            ValueError,
            ZeroDivisionError,
            OverflowError,
            TypeError,
        ):  # a part above its whole, say
            continue
        if math.isfinite(wanted):
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-300)
            compared += 1
    assert compared


@pytest.mark.parametrize("name", sorted(registry))
def test_every_formula_is_shown_whole(name):
    formula = registry[name]
    text = "\n".join(equation.as_text(formula))
    assert formula.meaning in text and "Source: " in text
    for q in formula.inputs:
        assert q.constant or f"  {q.name}" in text
    assert all(said in text for said in formula.conventions)
    shown = equation.as_object(formula)
    assert json.loads(json.dumps(shown, allow_nan=False)) == json.loads(json.dumps(shown))
    assert {q["name"] for q in shown["inputs"]} <= set(table) and shown["latex"] == formula.latex()


def test_steps_of_a_derivation_are_shown_with_their_checks():
    formula = registry["weight_time"]
    text = equation.as_text(formula)
    start = text.index("Which weights a batch wakes, and when “all of them” is good enough")
    steps = text[start + 1 :]
    assert len(steps) == 2 * len(formula.derivation.steps)
    assert steps[0].endswith("[the model]") and "within" in steps[-2]
    assert (
        steps[-1]
        == "     weight_time = bytes_per_parameter*total_parameters/(devices*memory_bandwidth)"
    )
    latex = equation.as_latex(formula)
    assert latex[0] == formula.latex() and latex[-1] == formula.derivation.steps[-1].latex
    assert all(line.startswith("%") or "=" in line for line in latex)
    shown = equation.as_object(formula)["derivation"]["steps"]
    assert shown[0]["relative_error"] == 0 < shown[-1]["relative_error"] < 0.02


def test_a_formula_without_a_derivation_has_none():
    assert equation.as_object(registry["drain_time"])["derivation"] is None
    *_, source, _, imported = equation.as_text(registry["drain_time"])
    assert source.startswith("Source: the lecture at 24:01, https://")
    assert imported == "Import: from handful.balance import drain_time"


def test_an_equation_names_what_it_leans_on_once_and_what_cancels():
    formula = registry["slow_mode_price"]
    parts = [part.name for part in equation.used_formulas(formula)]
    assert len(set(parts)) == len(parts) and {"cost_floor", "kv_time", "step_time"} <= set(parts)
    assert "Cancels: devices, batch" in equation.as_text(registry["compute_cost"])
    assert "Cancels" not in "\n".join(equation.as_text(registry["step_time"]))
