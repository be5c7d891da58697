"""Tests of the Python code that runs a page's cells in the browser; it is run here."""

from __future__ import annotations

import importlib.util
import json

import pytest

from handful_site.build import ROOT


@pytest.fixture
def session():
    """Return a function that runs code in a session of its own, as the worker makes it."""
    spec = importlib.util.spec_from_file_location(
        "session", ROOT / "lib/handful_site/python/session.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda code, *earlier: json.loads(module.run(code, json.dumps(earlier)))


def test_a_formula_is_typeset(session):
    (output,) = session("import sympy\nx = sympy.Symbol('x')\nsympy.integrate(x**2, x)")
    assert "<mfrac>" in output["html"] and output["text"] == "x**3/3"


def test_a_list_of_solutions_is_typeset(session):
    (output,) = session("import sympy\nx = sympy.Symbol('x')\nsympy.solve(x**2 - 2, x)")
    assert "<msqrt>" in output["html"]


def test_a_derivation_has_its_steps_as_mathml(session):
    (output,) = session("from handful import balance\nbalance.balance_batch.derivation")
    assert (
        output["html"].count("<math") >= 3
        and "data-tex" not in output["html"]
        and "\\[" not in output["html"]
    )


def test_words_and_values_come_in_order(session):
    outputs = session("print('one')\ndisplay(2)\nprint('three')\nNone")
    assert [output["text"].strip() for output in outputs] == ["one", "2", "three"]


def test_what_a_cell_lacks_comes_from_the_cells_above_and_from_the_book(session):
    above = ["law = {'a': 3}\nprint('not shown')", "double = lambda: 2 * law['a']"]
    assert session("print(double())", *above)[0]["text"] == "6\n"
    (output,) = session("latency.step_time_lecture")
    assert "<math" in output["html"]


def test_what_a_reader_defines_stays(session):
    session("law = 5")
    assert session("law", "law = 6")[0]["text"] == "5"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("a = 1\nb = a / 0", "Line 2: b = a / 0\nZeroDivisionError: division by zero"),
        ("a = 1\nb = = 2", "Line 2: b = = 2\nSyntaxError: invalid syntax"),
        ("nobody", "Line 1: nobody\nNameError: name 'nobody' is not defined"),
        ("raise SystemExit", "Line 1: raise SystemExit\nSystemExit"),
        ("import numpy.linalg.nothing", "NumPy, which is not part of the Python in this page"),
        (
            "from handful import balance\nbalance.balance_batch(batch=-1)",
            "Line 2: balance.balance_batch(batch=-1)",
        ),
    ],
)
def test_errors_name_line_and_reason(session, code, said):
    (output,) = session(code)
    assert output["kind"] == "error" and said in output["text"]


def test_the_display_of_markup_is_escaped(session):
    (output,) = session("'<img src=x>'")
    assert output["kind"] == "text"  # and is put into the page as text
