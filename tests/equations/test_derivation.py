"""Tests of derivations.

Sound steps pass, unsound ones are refused, and every derivation ends in its formula.
"""

import random

import pytest
import sympy
from sympy import Eq

from handful import balance, latency
from handful.query import registry as every_formula
from handful.symbolic import quantities as q
from handful.symbolic.derivation import Derivation, DerivationError
from handful.symbolic.dimensions import DimensionError
from handful.symbolic.formula import registry

every_formula()
DERIVED = sorted(name for name, f in registry.items() if f._derivation)


@pytest.mark.parametrize("name", DERIVED)
def test_every_derivation_has_steps_and_shows_them(name):
    d = registry[name].derivation
    assert len(d.steps) >= 2
    page = d._repr_html_()
    assert page.count("<li>") == len(d.steps) and "style=" not in page
    assert str(d).count("\n") == len(d.steps)


# Derivations of one branch of a maximum, of a limit, or of what follows, which have tests of their
# own.
BRANCHES = {
    "balance_context",
    "balance_context_with_attention",
    "cost_per_token",
    "cost_floor",
    "weight_time",
    "block_tokens",
    "cost_growth",
    "fewest_devices",
    # hold below full load only, which those below never draw
    "goodput",
    "goodput_colocated",
    "prefill_request_rate",
    "ttft_quantile",
    "pipeline_bubble_with_sharding",  # holds for more chips than those below often draw
}


def _parts(formula) -> dict:
    """Everything that a formula is put together from: symbol to expression in inputs."""
    found = {}
    for part in formula.using:
        found |= _parts(part) | {part.gives.symbol: part.expanded}
    return found


@pytest.mark.parametrize("name", sorted(set(DERIVED) - BRANCHES))
def test_derivations_reach_their_formula(name):
    """Some step says what the formula says, with all parts filled in.

    They are compared at random points, to twelve digits.
    """
    formula, draw = registry[name], random.Random(name)
    steps = [step.equation.rhs.xreplace(_parts(formula)) for step in formula.derivation.steps]
    symbols = sorted(
        formula.expanded.free_symbols.union(*(step.free_symbols for step in steps)), key=str
    )
    # Either at most 1, or from 2 on: shares stay shares, and counts of stages leave something
    # behind the first.
    points = [
        [
            q.find(s.name).default
            or (draw.uniform(0.1, 1) if q.find(s.name).upper == 1 else draw.uniform(2, 9))
            for s in symbols
        ]
        for _ in range(200)
    ]

    def agrees(step) -> bool:
        left, right = (sympy.lambdify(symbols, side, "math") for side in (step, formula.expanded))
        compared = 0
        for point in points:
            try:
                value, wanted = left(*point), right(*point)
            except ZeroDivisionError:
                continue
            if isinstance(value, complex) or not 0 < value < float("inf"):
                continue  # beyond a pole, where the formula says infinity
            if wanted != pytest.approx(value, rel=1e-12):
                return False
            compared += 1
        return compared > 10

    assert any(agrees(step) for step in steps), (
        f"no step of {formula.derivation.title!r} says what {name} says: its last step is "
        f"{formula.derivation.steps[-1].equation.rhs}, the formula {formula.expression}"
    )


def test_the_latency_floor_is_derived():
    assert (
        sympy.simplify(latency.latency_floor.derivation.result - latency.latency_floor.expanded)
        == 0
    )


def test_cost_floor_ends_in_the_cache_part():
    assert sympy.simplify(latency.cost_floor.derivation.result - latency.kv_cost.expanded) == 0


def test_balance_with_caches_tends_to_balance_without():
    with_kv = balance.balance_batch_with_kv.derivation.result
    without = with_kv.subs({q.context.symbol: 0, q.window_cache_memory.symbol: 0})
    assert sympy.simplify(without - balance.balance_batch.expanded) == 0


@pytest.mark.parametrize(
    "batch, context",
    [
        (balance.balance_batch_with_kv, balance.balance_context),
        (balance.balance_batch_with_attention, balance.balance_context_with_attention),
    ],
)
def test_balance_context_is_where_the_balance_runs_away(batch, context):
    """The derivations are of models whose layers all read every token."""
    bare = {q.window_cache_memory.symbol: 0}
    denominator = 1 / batch.derivation.result.subs(bare)
    found = context.derivation.result
    assert sympy.simplify(denominator.subs(q.context.symbol, found)) == 0
    of_formula = context.expanded.subs(bare).replace(sympy.Max, lambda *args: args[-1])
    assert sympy.simplify(of_formula - found) == 0


def _balance() -> Derivation:
    d = Derivation("test")
    d.equate(latency.full_weight_time, latency.compute_time, "balance")
    return d


@pytest.mark.parametrize(
    "move, error, sentence",
    [
        (
            lambda d: d.claim(Eq(q.batch.symbol, 3 * d.last.lhs), "x"),
            (DerivationError, DimensionError),
            "batch",
        ),
        (
            lambda d: d.substitute({"total_parameters": q.batch.symbol}, "x"),
            DerivationError,
            "differs in dimension",
        ),
        (
            lambda d: d.substitute({"context": q.context.symbol}, "x"),
            DerivationError,
            "does not contain",
        ),
        (lambda d: d.solve("context", "x"), DerivationError, "0 positive solutions"),
        (lambda d: Derivation("empty").last, DerivationError, "has no first equation"),
        (
            lambda d: d.substitute(
                {"memory_bandwidth": d.last.lhs * q.memory_bandwidth.symbol / d.last.rhs}, "x"
            ),
            DerivationError,
            "leaves nothing to say",
        ),
        (
            lambda d: d.approximate(q.step_time.symbol, "x", over={"batch": (1, 10)}, error=1),
            DerivationError,
            "An approximation needs a range for .*step_time",
        ),
    ],
)
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
    with pytest.raises(DerivationError, match=r"0\.001"):
        d.approximate(sympy.Integer(1), "all awake", over={"batch": (32, 1024)}, at=at, error=0.001)
    d.approximate(sympy.Integer(1), "all awake", over={"batch": (512, 8192)}, at=at, error=0.001)
    miss = (1 - 8 / 256) ** 512
    assert d.steps[-1].error == pytest.approx(miss / (1 - miss), rel=1e-6)


def test_what_grows_without_end_has_no_limit():
    d = Derivation("test")
    d.start(latency.compute_time, "arithmetic")
    with pytest.raises(DerivationError, match=r"limit .*batch .*infinite"):
        d.limit("batch", sympy.oo, "ever more sequences")


def test_a_minimum_is_sought_among_powers_alone():
    d = Derivation("test")
    d.start(
        Eq(q.step_time.symbol, latency.step_time_lecture.expanded),
        "as the lecture has it, in inputs alone",
    )
    with pytest.raises(DerivationError, match=r"\bbatch\b"):
        d.minimise("batch", "a maximum of two is no power")


def test_what_does_not_vary_moves_no_minimum():
    """X + 1/x + 7 is least where x + 1/x is: at 1."""
    d = Derivation("test")
    d.start(Eq(q.cost_ratio.symbol, q.knob.symbol + 1 / q.knob.symbol + 7), "a sum")
    d.minimise("knob", "the slope is nothing")
    assert sympy.solve(d.last, q.knob.symbol) == [1]
