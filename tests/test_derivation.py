"""Derivations: sound steps pass, unsound ones are refused, and every derivation ends in its formula."""
import pytest
import sympy
from sympy import Eq

from handful import balance, latency
from handful import quantities as q
from handful.derivation import Derivation, DerivationError
from handful.dimensions import DimensionError
from handful.formula import registry
from handful.page.roles import registry as every_formula

every_formula()
DERIVED = sorted(name for name, f in registry.items() if f._derivation)


@pytest.mark.parametrize("name", DERIVED)
def test_every_derivation_has_steps_and_shows_them(name):
    d = registry[name].derivation
    assert len(d.steps) >= 2
    page = d._repr_html_()
    assert page.count("<li>") == len(d.steps) and "style=" not in page
    assert str(d).count("\n") == len(d.steps)


@pytest.mark.parametrize("formula, shortcut", [
    (latency.latency_floor, None), (latency.attention_context, None), (balance.balance_batch, balance.balance_batch_rule),
])
def test_derivations_end_in_their_formula(formula, shortcut):
    end = (shortcut or formula).expression
    if shortcut is None:
        end = formula.expanded
    assert sympy.simplify(formula.derivation.result - end) == 0


def test_cost_floor_ends_in_the_cache_part():
    assert sympy.simplify(latency.cost_floor.derivation.result - latency.kv_cost.expanded) == 0


def test_balance_with_caches_tends_to_balance_without():
    with_kv = balance.balance_batch_with_kv.derivation.result
    without = with_kv.subs({q.context.symbol: 0, q.kv_window_bytes.symbol: 0})
    assert sympy.simplify(without - balance.balance_batch.expanded) == 0


def test_balance_context_is_where_the_balance_runs_away():
    denominator = 1 / balance.balance_batch_with_kv.derivation.result
    assert sympy.simplify(denominator.subs(q.context.symbol, balance.balance_context.derivation.result)) == 0


def _balance() -> Derivation:
    d = Derivation("test")
    d.equate(latency.full_weight_time, latency.compute_time, "balance")
    return d


@pytest.mark.parametrize("move, error, sentence", [
    (lambda d: d.claim(Eq(q.batch.symbol, 3 * d.last.lhs), "x"), (DerivationError, DimensionError), "batch"),
    (lambda d: d.substitute({"total_parameters": q.batch.symbol}, "x"), DerivationError, "differs in dimension"),
    (lambda d: d.substitute({"context": q.context.symbol}, "x"), DerivationError, "does not contain"),
    (lambda d: d.solve("context", "x"), DerivationError, "0 positive solutions"),
    (lambda d: Derivation("empty").last, DerivationError, "has no first equation"),
])
def test_steps_that_do_not_follow_are_refused(move, error, sentence):
    with pytest.raises(error, match=sentence):
        move(_balance())


def test_a_lost_factor_is_refused():
    d = _balance()
    d.solve("batch", "solve")
    with pytest.raises(DerivationError, match="does not follow"):
        d.claim(Eq(q.batch.symbol, d.result / 2), "lose the two")


def test_an_approximation_states_what_it_costs_and_is_refused_beyond():
    d = Derivation("coverage")
    d.start(latency.expert_coverage, "coverage")
    at = {"active_experts": 8, "experts": 256}
    with pytest.raises(DerivationError, match="costs .* more than the 0.001 allowed"):
        d.approximate(sympy.Integer(1), "all awake", over={"batch": (32, 1024)}, at=at, error=0.001)
    d.approximate(sympy.Integer(1), "all awake", over={"batch": (512, 8192)}, at=at, error=0.001)
    miss = (1 - 8 / 256) ** 512
    assert d.steps[-1].error == pytest.approx(miss / (1 - miss), rel=1e-6)
