"""Tests of the dimension walker: what it must accept, and mutants that it must catch."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from handful.query import registry as every_formula
from handful.symbolic import quantities as q
from handful.symbolic.dimensions import BASE, NONE, Dimension, DimensionError, dimension_of
from handful.symbolic.expression_tree import to_tree
from handful.symbolic.formula import registry
from handful.symbolic.quantities import dimension_of_symbol
from handful.symbolic.quantity import QuantityError, name_quantities, quantity

every_formula()  # imports every module, so that the registry is full

powers = st.dictionaries(st.sampled_from(BASE), st.integers(-3, 3), max_size=4)


@given(powers, powers)
def test_dimensions_form_a_group(a, b):
    x, y = Dimension(**a), Dimension(**b)
    assert x * y == y * x and x / x == NONE and (x * y) / y == x and x**2 == x * x
    assert hash(x * y) == hash(y * x)


@pytest.mark.parametrize("name", sorted(registry))
def test_every_formula_has_the_dimension_that_it_claims(name):
    formula = registry[name]
    assert dimension_of(formula.expanded, dimension_of_symbol) == formula.gives.dimension


def _one_at_a_time(expression, old, new):
    """Return copies of the expression, each with one occurrence of `old` replaced."""
    if expression == old:
        yield new
    for i, arg in enumerate(expression.args):
        for changed in _one_at_a_time(arg, old, new):
            yield expression.func(
                *expression.args[:i], changed, *expression.args[i + 1 :], evaluate=False
            )


# What stands in an input's place: the first of these that is of another dimension.
WRONG = [q.context, q.batch, q.devices, q.memory_bandwidth, q.bytes_per_parameter]


@pytest.mark.parametrize("name", sorted(registry))
def test_an_input_of_another_dimension_is_caught(name):
    """One occurrence of one input at a time."""
    formula, passed = registry[name], []
    for each in formula.inputs:
        other = next(wrong for wrong in WRONG if wrong.dimension != each.dimension)
        for mutant in _one_at_a_time(formula.expanded, each.symbol, other.symbol):
            try:
                if dimension_of(mutant, dimension_of_symbol) == formula.gives.dimension:
                    passed.append((each.name, other.name, mutant))
            except DimensionError:
                pass
    assert passed == []


@pytest.mark.parametrize("name", sorted(registry))
def test_a_dropped_factor_is_caught(name):
    """One factor that has a dimension, of a formula that is a product."""
    formula = registry[name]
    factors = (
        [
            factor
            for factor in formula.expanded.args
            if not factor.is_number and dimension_of(factor, dimension_of_symbol) != NONE
        ]
        if isinstance(formula.expanded, sympy.Mul)
        else []
    )
    assert [
        factor
        for factor in factors
        if dimension_of(formula.expanded / factor, dimension_of_symbol) == formula.gives.dimension
    ] == []


B, L, t, n = (s.symbol for s in (q.batch, q.context, q.step_time, q.devices))


@pytest.mark.parametrize(
    "expression",
    [
        B + L,
        sympy.Max(B, L),
        sympy.Min(B, t),
        sympy.log(B),
        sympy.exp(t),
        2**B,
        B**B,
        1 + B,
        sympy.sin(t),
        sympy.Piecewise((B, B > 1), (L, True)),
        sympy.Piecewise((2 * B, t > n), (B, True)),
        sympy.Max(1, B),
    ],
)
def test_mixtures_are_refused(expression):
    with pytest.raises(DimensionError):
        dimension_of(expression, dimension_of_symbol)


@pytest.mark.parametrize(
    "expression, expected",
    [
        (sympy.Max(0, B), q.batch.dimension),
        (sympy.log(B / (2 * B)), NONE),
        (sympy.sqrt(B * B / t**2), q.batch.dimension / q.step_time.dimension),
        (sympy.Max(B, 2 * B), q.batch.dimension),
        (sympy.floor(B), q.batch.dimension),
        (3 * B - B, q.batch.dimension),
    ],
)
def test_sound_expressions_pass(expression, expected):
    assert dimension_of(expression, dimension_of_symbol) == expected


def test_a_formula_of_the_wrong_dimension_cannot_be_made():
    from handful.symbolic.formula import Formula

    with pytest.raises(DimensionError, match=r"drain_time .*byte/device"):
        Formula(q.drain_time, q.memory_capacity.symbol, meaning="m", source="s", register=False)


@pytest.mark.parametrize(
    "dimension, text",
    [
        (NONE, "a pure number"),
        (Dimension(time=-1), "1/time"),
        (Dimension(byte=1, time=-1, device=-1), "byte/(time·device)"),
        (Dimension(byte=2), "byte^2"),
    ],
)
def test_a_dimension_is_spelled_as_people_write_it(dimension, text):
    assert str(dimension) == text and eval(repr(dimension)) == dimension and dimension != "byte"


def test_a_step_is_a_pure_number_whatever_it_asks():
    assert dimension_of(sympy.Heaviside(B - 3 * B), dimension_of_symbol) == NONE
    with pytest.raises(DimensionError):
        dimension_of(sympy.Heaviside(B - L), dimension_of_symbol)


@pytest.mark.parametrize(
    "expression", [sympy.Integral(B, B), sympy.Derivative(sympy.Function("f")(B), B)]
)
def test_what_has_no_rule_is_refused_by_name(expression):
    with pytest.raises(
        DimensionError, match=f"is a {type(expression).__name__}, which has no rule for dimensions"
    ):
        dimension_of(expression, dimension_of_symbol)


@pytest.mark.parametrize("expression", [sympy.sin(B), sympy.Piecewise((B, B > 1), (2 * B, True))])
def test_what_a_page_cannot_compute_makes_no_tree(expression):
    with pytest.raises(
        ValueError,
        match=f"{expression.func.__name__} has no place in an expression tree; allowed: .*max, "
        "min and sqrt",
    ):
        to_tree(expression)


def test_a_number_that_is_no_fraction_is_a_leaf():
    assert to_tree(sympy.pi * B) == ["*", 3.141592653589793, B.name]


@pytest.mark.parametrize("value", [[1, "many"], object()])
def test_what_is_no_number_is_no_value(value):
    with pytest.raises(QuantityError, match=r"^batch .*sequence"):
        q.batch.check(value)


def test_values_may_come_in_arrays():
    assert q.batch.check([]) == []
    with pytest.raises(QuantityError, match="batch must be above 0"):
        q.batch.check([1.0, -1.0])
    with pytest.raises(QuantityError, match="at most 1"):
        q.decode_efficiency.check([0.5, 1.5])


def test_a_quantity_is_defined_once():
    with pytest.raises(QuantityError, match=r"^batch is defined already, as: "):
        name_quantities({"batch": quantity("B", q.batch.dimension, "another")})
    assert q.table["batch"] is q.batch


def test_no_quantity_is_lost():
    quantity("B", q.batch.dimension, "a batch that no variable holds")
    with pytest.raises(QuantityError, match=r"^No variable holds the quantity “a batch that no"):
        name_quantities({})


def test_a_dimension_without_a_unit_needs_one():
    with pytest.raises(QuantityError, match=r"^No unit shows a token\^3; give one of s, B, "):
        quantity("B", Dimension(token=3), "a cube")
    assert quantity("B", Dimension(token=3), "a cube", unit="1").unit == "1"
    with pytest.raises(QuantityError):
        name_quantities({})
