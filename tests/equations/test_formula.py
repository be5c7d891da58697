"""Formula: calling, solving, printing, differentiating, and what it says to bad input."""

import importlib
import math
import os
import pkgutil
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import admissible
import handful
from handful import balance, experts, latency, pipelining
from handful.query import registry as every_formula
from handful.scenario import values
from handful.symbolic import quantities as q
from handful.symbolic.formula import Formula, FormulaError, registry
from handful.symbolic.quantities import QuantityError, table

ROOT = Path(__file__).resolve().parents[2]
every_formula()


@cache
def _independent(name: str):
    formula = registry[name]
    return sympy.lambdify([i.symbol for i in formula.inputs], formula.expanded, "mpmath")


@pytest.mark.parametrize("name", sorted(registry))
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_scalars_arrays_and_sympy_agree(name, data):
    formula = registry[name]
    point = admissible.point(formula, *admissible.by_hypothesis(data.draw))
    scalar = formula(point)
    array = formula({k: np.array([v, v]) for k, v in point.items()})
    try:
        exact = float(_independent(name)(*(mpmath.mpf(point[i.name]) for i in formula.inputs)))
    except (ZeroDivisionError, OverflowError):
        exact = math.inf
    assert isinstance(scalar, float)
    if math.isnan(scalar):  # 0/0: there is no truth to hold it against
        assert exact == math.inf and np.isnan(array).all()
        return
    for found in (scalar, *array):
        if found != pytest.approx(exact, rel=1e-9):
            # Where nearly equal numbers are subtracted, the last bits of the inputs may decide: by
            # how much, the truth itself says.
            assert found == pytest.approx(exact, abs=_slack(formula, name, point, exact))


def _slack(formula, name, point, exact) -> float:
    """Return by how much the exact value moves when each input moves a little.

    The inputs move by some thousand of their last bits, one at a time.
    """
    moved = 0.0
    for shaken in formula.inputs:
        at = (
            mpmath.mpf(point[i.name]) * (1 + (mpmath.mpf(10) ** -12 if i is shaken else 0))
            for i in formula.inputs
        )
        try:
            moved += abs(float(_independent(name)(*at)) - exact)
        except ZeroDivisionError:  # a pole is that near: no value is wrong there
            return math.inf
    return moved


@pytest.mark.parametrize(
    "formula, name",
    [
        (latency.compute_time, "batch"),
        (latency.step_time_lecture, "batch"),
        (latency.full_weight_time, "memory_bandwidth"),
        (balance.weight_uses_at_balance, "peak_flops"),
        (balance.balance_batch, "memory_bandwidth"),
        (balance.drain_time, "memory_capacity"),
        (latency.kv_time, "context"),
        (latency.cost_per_token, "device_price"),
        (balance.arithmetic_intensity, "batch"),
    ],
)
def test_solving_gives_the_input_back(formula, name):
    known = {**values(), "batch": 5000.0, "memory_capacity": 1.9e11}
    back = formula.solve(name)
    assert back({**known, formula.gives.name: formula(known)}) == pytest.approx(
        known[name], rel=1e-9
    )


def test_products_have_constant_elasticities():
    assert latency.full_weight_time.elasticity("memory_bandwidth").expression == -1
    assert latency.compute_time.elasticity("active_parameters").expression == 1
    known = {**values(), "batch": 1000.0}
    rise = balance.arithmetic_intensity
    exact = rise.elasticity("batch")(known)
    step = 1e-6
    numeric = math.log(rise(known, batch=1000 * (1 + step)) / rise(known, batch=1000)) / math.log1p(
        step
    )
    assert exact == pytest.approx(numeric, rel=1e-4)


def test_plain_latex_shows_the_two_and_hides_the_constants():
    assert latency.compute_time.latex() == (
        r"t_{\mathrm{compute}} = \frac{2 B N_{\mathrm{active}}}{n F}"
    )
    assert "c" in latency.compute_time.latex(plain=False).replace(r"\frac", "").replace(
        "compute", ""
    ).replace("active", "")


def test_written_values_are_read_with_their_units():
    plain = dict(memory_capacity=80e9, memory_bandwidth=3.35e12)
    assert balance.drain_time(
        memory_capacity="80 GB", memory_bandwidth="3.35 TB/s"
    ) == balance.drain_time(plain)


def test_arrays_broadcast():
    grid = latency.kv_time(values(), batch=np.arange(1, 4)[:, None], context=np.array([10.0, 20.0]))
    assert (
        grid.shape == (3, 2)
        and np.all(np.diff(grid, axis=0) > 0)
        and np.all(np.diff(grid, axis=1) > 0)
    )


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: latency.step_time(values(), batch=-3), "batch must be above 0 .*got -3"),
        (
            lambda: latency.step_time(values(), batch=float("nan")),
            "batch must be above 0 .*got nan",
        ),
        (lambda: latency.step_time(values(), batch=np.array([1.0, 0.0])), "batch must be above 0"),
        (
            lambda: latency.step_time(values(), batch="many"),
            "batch must be a number .*'many' is no number",
        ),
        (
            lambda: latency.kv_time(values(), batch=1, context="8 kB"),
            "context must be a token/sequence; '8 kB' is a byte",
        ),
        (
            lambda: latency.step_time(values(), batch="3 parsecs"),
            "'parsecs' is no unit of this book",
        ),
        (
            lambda: latency.step_time({**values(), "memory_bandwidth": 0}, batch=1),
            "memory_bandwidth must be above 0",
        ),
        (
            lambda: latency.expert_coverage(batch=1, experts=8, active_experts=math.inf),
            "active_experts must be above 0",
        ),
        (lambda: latency.compute_time(batch=1), "compute_time needs devices"),
        (
            lambda: balance.sparsity(active_parameters=9e9, total_parameters=8e9),
            "active_parameters must be at most total_parameters",
        ),
        (
            lambda: latency.expert_coverage(
                batch=np.ones(3), experts=np.array([8, 8, 4]), active_experts=6
            ),
            "active_experts must be at most",
        ),
        (
            lambda: latency.compute_time(values(), bach=1),
            "has no input 'bach'; the nearest are: batch",
        ),
        (lambda: latency.compute_time(context=4), "does not depend on context; it takes"),
        (
            lambda: latency.compute_time.solve("context"),
            "does not depend on context; it can be solved for",
        ),
        (
            lambda: latency.compute_time.solve("bach"),
            "There is no quantity 'bach'; the nearest are: batch",
        ),
        (lambda: latency.compute_time.elasticity("context"), "does not depend on context"),
        (lambda: latency.compute_time.derivation, "has no derivation of its own"),
        (
            lambda: Formula(q.batch, q.batch.symbol, meaning="", source="s", register=False),
            "needs a meaning and a source",
        ),
        (
            lambda: Formula(q.step_time, q.step_time.symbol, meaning="m", source="s"),
            "named step_time exists already",
        ),
        (
            lambda: q.name_quantities({"batch": q.quantity("B", q.batch.dimension, "again")}),
            "batch is defined already",
        ),
    ],
)
def test_bad_input_gets_one_clear_sentence(call, sentence):
    with pytest.raises((FormulaError, QuantityError), match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


# What can be solved, and what cannot --------------------------------------------------------------


def test_a_maximum_of_falling_branches_is_inverted():
    known = {**values(), "batch": 64.0}
    solved = latency.step_time_lecture.solve("memory_bandwidth")
    slow = {**known, "step_time": latency.step_time_lecture(known)}
    assert solved(slow) == pytest.approx(known["memory_bandwidth"], rel=1e-9)


def test_a_shell_round_a_maximum_is_peeled_off():
    known = {**values(), "batch": 64.0}
    formula = latency.fastest_stream
    assert formula.solve("memory_bandwidth")(
        {**known, "tokens_per_user": formula(known)}
    ) == pytest.approx(known["memory_bandwidth"], rel=1e-9)
    rate = Formula(
        q.tokens_per_user,
        q.new_tokens_per_sequence.symbol / q.step_time.symbol,
        using=(latency.step_time_lecture,),
        name="shell",
        meaning="m",
        source="s",
        register=False,
    )
    assert rate.solve("memory_bandwidth")(
        {**known, "tokens_per_user": rate(known)}
    ) == pytest.approx(known["memory_bandwidth"], rel=1e-9)


@pytest.mark.parametrize(
    "expression, message",
    [
        (sympy.Max(q.knob.symbol, 1 / q.knob.symbol), "neither rises nor falls with knob"),
        (q.knob.symbol + 1 / q.knob.symbol, "several values of knob may give the same"),
    ],
)
def test_what_has_no_single_inverse_is_refused(expression, message):
    formula = Formula(
        q.cost_ratio, expression, name="no_inverse", meaning="m", source="s", register=False
    )
    with pytest.raises(FormulaError, match=message):
        formula.solve("knob")


def test_formulas_have_names_of_their_own():
    with pytest.raises(FormulaError, match=r"step_time .*exists"):
        Formula(q.step_time, q.drain_time.symbol, meaning="m", source="s")
    assert repr(latency.step_time).startswith("<Formula step_time: step_time = Max(")
    with pytest.raises(FormulaError, match="meaning and a source"):
        Formula(q.step_time, q.drain_time.symbol, meaning="", source="s")


def test_a_derivation_is_asked_for_where_there_is_none():
    with pytest.raises(FormulaError, match=r"throughput .*26:40"):
        _ = latency.throughput.derivation
    assert latency.step_time._repr_latex_().startswith("$\\displaystyle t = \\max")


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: latency.compute_time.elasticity("context"),
            "does not depend on context, so its elasticity there is zero",
        ),
        (
            lambda: latency.compute_time.solve("context"),
            "does not depend on context; it can be solved for",
        ),
    ],
)
def test_what_a_formula_does_not_hold_is_named(call, message):
    with pytest.raises(FormulaError, match=message):
        call()


def test_each_letter_stands_for_one_quantity():
    letters = [quantity.latex.replace(r"\,", "") for quantity in table.values()]
    twice = sorted({letter for letter in letters if letters.count(letter) > 1})
    assert not twice, f"two quantities have the letter {twice[0]}; give one a letter of its own"


def test_every_module_of_formulas_has_mutation_tests():
    tests = (ROOT / "tests" / "mutants.py").read_text("utf-8")
    listed = set(re.findall(r'"(\w+)",\n', tests.split("MODULES = (")[1].split(")")[0]))
    modules = {
        path.stem
        for path in (ROOT / "lib" / "handful").glob("*.py")
        if re.search(r"^\w+ = Formula\(", path.read_text("utf-8"), re.M)
    }
    assert len(modules) > 15 and not modules - listed, (
        f"add to MODULES of tests/mutants.py: {', '.join(sorted(modules - listed))}"
    )


def test_a_formula_is_called_as_the_variable_that_holds_it():
    """By its name it is asked for in chapters and on the command line."""
    for module in pkgutil.iter_modules(handful.__path__):
        if module.ispkg or module.name.startswith("_"):
            continue
        for variable, thing in vars(importlib.import_module(f"handful.{module.name}")).items():
            if isinstance(thing, Formula) and not variable.startswith("_"):
                assert variable == thing.name, (
                    f"handful.{module.name}.{variable} is called {thing.name}, as what it gives; "
                    f'pass name="{variable}"'
                )


# Roots --------------------------------------------------------------------------------------------


def test_an_inverse_of_a_maximum_says_what_it_holds_for():
    said = latency.step_time.solve("peak_flops").conventions
    assert said[-1] == "holds for values of step_time that the formula can give"
    assert latency.compute_time.solve("batch").conventions == latency.compute_time.conventions


def test_a_function_that_no_formula_has_is_computed_too():
    knob = q.knob.symbol
    formula = Formula(
        q.cost_ratio,
        sympy.Max(sympy.Abs(q.rising_exponent.symbol - 3) * knob, knob / 5),
        name="of_abs",
        meaning="m",
        source="s",
        register=False,
    )
    assert formula.solve("knob")(rising_exponent=1, cost_ratio=8) == pytest.approx(4)


def test_steps_and_flat_parts_have_their_ends():
    assert experts.scale_up_domains.roots("devices", domain_devices=72, scale_up_domains=3) == (
        145.0,
        pytest.approx(217, abs=1e-9),
    )
    with pytest.raises(FormulaError, match=r"jumps from 3 to 4 where devices is 217 chips"):
        experts.scale_up_domains.roots("devices", domain_devices=72, scale_up_domains=3.5)


def test_both_sides_of_a_minimum_are_found():
    known = {"pipeline_stages": 4, "stage_work_time": 1.0, "micro_batch_overhead": 0.01}
    few, many = pipelining.pipeline_time.roots("micro_batches", known, pipeline_time=1.6)
    assert few < pipelining.best_micro_batches(known) < many
    for count in (few, many):
        assert pipelining.pipeline_time(known, micro_batches=count) == pytest.approx(1.6)


WITHOUT = """
import sys
sys.modules["numpy"] = sys.modules["scipy"] = None
from handful import latency, scenario
known = scenario.values(hardware="H100 SXM", model="Llama 3.1 70B", precision="fp8", context=8192)
back = latency.step_time.solve("devices")({**known, "batch": 64, "step_time": "5 ms"})
print(back, *latency.step_time.roots("devices", known, batch=64, step_time="5 ms"))
"""


def test_inverses_need_neither_numpy_nor_scipy():
    """Python in the page has neither."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "lib")},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    closed, root = map(float, done.stdout.split())
    assert closed == pytest.approx(root, rel=1e-12)


def test_names_of_the_last_edition_are_understood_and_say_so():
    from handful import multi_rack_pipelines, prices
    from handful.query import evaluate, find_formula
    from handful.symbolic.quantity import RENAMED

    assert not set(RENAMED) & set(table) and set(RENAMED.values()) <= set(table)
    known = {"bytes_per_parameter": 1, "active_parameters": 1e11, "context": 2e5}
    new = prices.implied_kv_bytes_rule(known, weight_uses_at_balance=300)
    for mapping, keywords in (({"machine_balance": 300}, {}), ({}, {"machine_balance": 300})):
        with pytest.warns(DeprecationWarning, match="now weight_uses_at_balance"):
            assert prices.implied_kv_bytes_rule(known | mapping, **keywords) == new
    with pytest.warns(DeprecationWarning, match="now balance.weight_uses_at_balance"):
        assert balance.machine_balance is balance.weight_uses_at_balance
    with pytest.warns(DeprecationWarning, match="devices_memory"):
        assert multi_rack_pipelines.domain_capacity.name == "devices_memory"
    with pytest.raises(AttributeError, match="no_such_formula"):
        balance.no_such_formula  # noqa: B018
    assert find_formula("machine_balance") is balance.weight_uses_at_balance
    with pytest.warns(DeprecationWarning, match="now new_tokens_per_sequence"):
        two = evaluate("throughput batch=8 tokens_per_step=2").value
    assert two == evaluate("throughput batch=8 new_tokens_per_sequence=2").value
    assert latency.throughput is find_formula("throughput")
