"""Tests of formulas as people write them.

They are compared with Python's own arithmetic, and at the extremes against IEEE 754.
"""

from __future__ import annotations

import math

import pytest

from handful_study.expressions import (
    DEEPEST,
    LONGEST,
    ExpressionError,
    evaluate,
    parse,
    replace,
    written_names,
)

AT = {"a": 3.0, "b": 0.5, "N": 7.0}


@pytest.mark.parametrize(
    "text, python",
    [
        ("2*a + b", "2*a + b"),
        ("2 a b", "2*a*b"),
        ("2a/b", "2*a/b"),
        ("a - b - N", "a - b - N"),
        ("a/b/N", "a/b/N"),
        ("2^3^2", "2**3**2"),
        ("-a^2", "-a**2"),
        ("+a", "+a"),
        ("--a", "--a"),
        ("a * -b", "a * -b"),
        ("a ** -b", "a ** -b"),
        ("(a + b)(a - b)", "(a + b)*(a - b)"),
        ("2·a × b ÷ N − 1", "2*a*b/N - 1"),
        (".5a + 1e1", ".5*a + 1e1"),
        ("max(a, b, N) - min(a, b)", "max(a, b, N) - min(a, b)"),
        (
            "sqrt(a) + log(N) + log2(8) + exp(b) + abs(-a)",
            "math.sqrt(a) + math.log(N) + 3 + math.exp(b) + a",
        ),
        ("floor(a b) + ceil(a b)", "1 + 2"),
    ],
)
def test_it_means_what_python_means(text, python):
    assert evaluate(parse(text), AT) == pytest.approx(eval(python, {"math": math}, AT), rel=1e-15)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "Nothing is written here yet"),
        ("   ", "Nothing is written here yet"),
        (
            "a" * (LONGEST + 1),
            f"A formula of {LONGEST + 1} characters is too long; {LONGEST} are allowed.",
        ),
        ("a +", "The formula ends where a number or a name should stand"),
        ("a * / b", "'/' stands where a number or a name should."),
        ("(a + b", "A ')' is missing at the end."),
        ("max(a, b", "A ')' is missing at the end."),
        ("max a", "A '(' is missing before 'a'."),
        ("sqrt 2", "A '(' is missing before a number."),
        ("a)", "')' stands where the formula should end or go on with a sign."),
        ("max(a)", "max takes two values or more."),
        ("sqrt(a, b)", "sqrt takes one value."),
        (
            "(" * (DEEPEST + 2) + "a" + ")" * (DEEPEST + 2),
            f"Parentheses more than {DEEPEST} deep are too many.",
        ),
        ("-" * (DEEPEST + 3) + "a", f"more than {DEEPEST} deep"),
        ("a # b", "'#' has no place in a formula"),
        ("a = b", "'=' stands where"),
        ("__import__('os')", "has no place in a formula"),
    ],
)
def test_what_is_no_formula_is_told_in_one_sentence(text, sentence):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_a_learner_sets_nothing_within_a_name():
    assert parse("a(b)") == ["*", "a", "b"]  # side by side is a product
    with pytest.raises(ExpressionError):
        parse("a(b=1)")


@pytest.mark.parametrize("text", ["step(b)", "step(2=1)", "step(b=1", "step(b=1, )", "step(=1)"])
def test_settings_of_an_author_are_names_with_values(text):
    with pytest.raises(
        ExpressionError, match=r"A name's settings are written|is missing at the end"
    ):
        parse(text, lambda name, settings: name)


def test_settings_reach_whoever_knows_the_name():
    seen = {}

    def resolve(name, settings):
        seen[name] = settings
        return replace(["+", "x", "y"], settings)

    assert evaluate(parse("2 * step(x=3, y=2*4)", resolve), {}) == 22 and seen == {
        "step": {"x": 3, "y": ["*", 2, 4]}
    }


def test_names_are_told_in_order_and_functions_are_none():
    assert written_names("max(N, 2 F) / sqrt(N)") == ["N", "F", "N"]


INF = math.inf


@pytest.mark.parametrize(
    "text, value",
    [
        ("1/0", INF),
        ("-1/0", -INF),
        ("0/0", None),
        ("0^0", 1),
        ("0^-1", INF),
        ("(-8)^2", 64),
        ("(-8)^0.5", None),
        ("10^400", INF),
        ("(-10)^401", -INF),
        ("(-10)^400", INF),
        ("1^(1/0)", None),
        ("2^(1/0)", INF),
        ("0.5^(1/0)", 0),
        ("exp(1000)", INF),
        ("exp(-1000)", 0),
        ("log(0)", -INF),
        ("log(-1)", None),
        ("sqrt(-1)", None),
        ("floor(1/0)", INF),
        ("ceil(-1/0)", -INF),
        ("max(1, 1/0)", INF),
        ("1e308 * 10", INF),
        ("abs(-1/0)", INF),
        ("2^(0/0)", None),
    ],
)
def test_beyond_the_numbers(text, value):
    """Nothing raises: what has no value is none, as in the browser's arithmetic."""
    found = evaluate(parse(text), {})
    assert math.isnan(found) if value is None else found == value


def test_a_name_without_a_value_is_named():
    with pytest.raises(ExpressionError, match="There is no value for 'c'"):
        evaluate(parse("a + c"), AT)
