"""Every formula is solved for each of its inputs, or says why it cannot be."""

import math

import pytest
import sympy

import admissible
from handful.query import registry
from handful.symbolic.formula import FormulaError
from handful.symbolic.quantities import QuantityError
from handful.symbolic.solving import function_of

# A pair of formula and input that neither algebra nor roots solves, and why it is so.
COMPUTE = "a share of FLOP, all of which are in proportion to the active parameters: they cancel"
PRICE = "a ratio of two prices on the same chips, whose price per hour cancels"
DEVICES = "the time of a step is in inverse proportion to the chips that multiply it, which cancel"
ARGUED: dict[tuple[str, str], str] = {
    ("cost_per_token", "devices"): DEVICES,
    ("fast_batch", "devices"): DEVICES,
    ("fast_mode_price", "devices"): DEVICES,
    ("inference_share", "active_parameters"): COMPUTE,
    ("port_use", "devices"): DEVICES,
    ("rl_share", "active_parameters"): COMPUTE,
    ("slow_mode_price", "device_price"): PRICE,
    ("slow_mode_price", "devices"): DEVICES,
    ("speculative_speedup_of_batch", "devices"): DEVICES,
    ("training_share", "active_parameters"): COMPUTE,
    ("unbatched_penalty", "device_price"): PRICE,
}
FEWEST, MOST = 2, 60  # points drawn for a pair, until one is solved


def _drawn(formula, name):
    """Yield points, what the formula gives there, and what roots is told of them."""
    between, choose = admissible.by_chance(f"{formula.name} {name}")
    target = formula.name if formula.gives in formula.inputs else formula.gives.name
    for _ in range(MOST):
        point = admissible.point(formula, between, choose)
        value = formula(point)
        if math.isfinite(value):
            yield point, value, {**{n: v for n, v in point.items() if n != name}, target: value}


def _closed(formula, name):
    """Return the inverse in closed form, or None and whether the input cancels."""
    try:
        return formula.solve(name), False
    except FormulaError as error:
        sentence = str(error)
        assert sentence.endswith(".") and "\n" not in sentence and formula.name in sentence
        cancels = sentence.startswith(f"{name} cancels in ")
        assert cancels or f'{formula.name}.roots("{name}", ' in sentence
        return None, cancels


def _gives(formula, point, value):
    """Return whether a formula gives a value, to what steep functions leave of double precision."""
    return math.isclose(formula(point), value, rel_tol=1e-6, abs_tol=1e-12)


def _among(formula, name, point, value, values):
    """Return whether the value that was drawn is found, or stands on a flat part beside one."""
    drawn = point[name]
    root = min(values, key=lambda x: abs(x - drawn))
    if math.isclose(root, drawn, rel_tol=1e-6):
        return True
    return math.isclose(formula({**point, name: (root + drawn) / 2}), value, rel_tol=1e-9)


def _complete(formula, point):
    """Return whether all rounded counts stay where roots promises to find every value."""
    at = {q.symbol: point[q.name] for q in formula.inputs}
    rounded = formula.expanded.atoms(sympy.ceiling, sympy.floor)
    return all(function_of(node.args[0])(at) <= 1000 for node in rounded)


def _agrees(formula, closed, told, root):
    """Return whether a closed form finds the only root, or another value that gives the same.

    Where what is told or found is refused by its quantity, or lies on a flat part, there is nothing
    to compare.
    """
    name = closed.gives.name
    value = formula({**told, name: root})
    try:
        x = closed(told)
        again = formula({**told, name: x})
        if math.isclose(x, root, rel_tol=1e-6) or math.isclose(again, value, rel_tol=1e-6):
            return True
        near = formula({**told, name: root * (1 - 1e-9)})
    except QuantityError:
        return True
    return math.isclose(near, value, rel_tol=1e-13)


def _solved(formula, name, closed, cancels):
    """Return at how many points roots found values, and the last reason why it did not."""
    found, reason = 0, "no finite value was drawn"
    for drawn, (point, value, told) in enumerate(_drawn(formula, name), start=1):
        if drawn > FEWEST and (found or closed or cancels):
            break
        try:
            values = formula.roots(name, told)
        except FormulaError as error:
            reason = str(error)
            assert reason.endswith(".") and "\n" not in reason
            continue
        assert values == tuple(sorted(set(values)))
        for x in values:
            assert _gives(formula, {**point, name: x}, value), (point, value, x)
        if _complete(formula, point):
            assert _among(formula, name, point, value, values), (point, value, values)
        if closed is not None and len(values) == 1:
            assert _agrees(formula, closed, told, values[0]), (point, closed.expression, values)
        found += 1
    return found, reason


@pytest.mark.parametrize("name", sorted(registry()))
def test_each_input_of_a_formula_is_solved_for(name):
    formula = registry()[name]
    unsolved = {}
    for quantity in formula.inputs:
        if not quantity.constant:
            closed, cancels = _closed(formula, quantity.name)
            found, reason = _solved(formula, quantity.name, closed, cancels)
            if cancels or (closed is None and not found):
                unsolved[name, quantity.name] = reason
    assert set(unsolved) == {pair for pair in ARGUED if pair[0] == name}, unsolved


def test_each_argued_exception_is_a_formula_and_an_input():
    pairs = {(formula.name, q.name) for formula in registry().values() for q in formula.inputs}
    assert set(ARGUED) <= pairs
