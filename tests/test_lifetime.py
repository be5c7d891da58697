"""Best size under service: against minimisation by numbers, and against a published example."""
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import chinchilla, lifetime, overtraining
from handful.quantities import QuantityError

FITS = ["hoffmann", "besiroglu"]


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("ratio", [1e-6, 0.1, 1, 2, 4.6, 12])
@pytest.mark.parametrize("efficiency", [0.3, 1])
def test_the_split_of_the_bills_is_that_of_the_search(fit, ratio, efficiency):
    """`chinchilla.least_lifetime` knows nothing of exchange rates: it searches the sizes."""
    known = chinchilla.law(fit) | {"decode_bill_ratio": ratio, "compute_optimal_parameters": 50e9,
                                   "decode_efficiency": efficiency}
    loss = chinchilla.fitted_loss(known, active_parameters=50e9, pretraining_tokens=lifetime.matching_tokens(known))
    found = chinchilla.least_lifetime(loss, lifetime.best_served(known), fit=fit, decode_efficiency=efficiency)
    assert lifetime.matching_loss(known) == pytest.approx(loss, rel=1e-12)
    assert lifetime.best_size(known) == pytest.approx(found["active_parameters"], rel=1e-5)
    assert lifetime.best_tokens(known) == pytest.approx(found["pretraining_tokens"], rel=1e-5)
    assert lifetime.best_tokens_per_parameter(known) == pytest.approx(found["tokens_per_parameter"], rel=1e-5)
    plain = overtraining.lifetime_flops(known, active_parameters=50e9, pretraining_tokens=lifetime.matching_tokens(known),
                                        inference_tokens=lifetime.best_served(known), rl_tokens=1e-9, rl_passes=1)
    assert lifetime.lifetime_share(known) == pytest.approx(found["lifetime_flops"] / plain, rel=1e-8)


@pytest.mark.parametrize("fit", FITS)
def test_nothing_decoded_is_the_plain_optimum(fit):
    law = chinchilla.law(fit)
    for formula in (lifetime.best_size_share, lifetime.best_token_multiple, lifetime.best_overtraining, lifetime.lifetime_share):
        assert formula(law, decode_bill_ratio=0) == pytest.approx(1)
    size = chinchilla.compute_optimal_parameters(law, training_flops=1e24)
    tokens = lifetime.matching_tokens(law, compute_optimal_parameters=size)
    assert tokens == pytest.approx(chinchilla.compute_optimal_tokens(law, training_flops=1e24))
    assert lifetime.exchange_rate(law, active_parameters=size, pretraining_tokens=tokens) == pytest.approx(1)


@given(size=st.floats(1e8, 1e12), tokens=st.floats(1e10, 1e15))
def test_the_exchange_rate_is_a_slope_at_the_same_loss(size, tokens):
    law = chinchilla.law()
    loss = chinchilla.fitted_loss(law, active_parameters=size, pretraining_tokens=tokens)
    less, more = (chinchilla.tokens_to_reach(law, validation_loss=loss, active_parameters=size * math.exp(step))
                  for step in (-1e-4, 1e-4))
    rate = lifetime.exchange_rate(law, active_parameters=size, pretraining_tokens=tokens)
    assert math.log(less / more) / 2e-4 == pytest.approx(rate, rel=1e-3)


def test_a_published_example():
    """Sardana et al.: as good as 13B and 2 trillion tokens served is 7B, and 17 per cent is saved."""
    known = chinchilla.law("hoffmann") | {"compute_optimal_parameters": 13e9, "decode_bill_ratio": 0.515, "decode_efficiency": 1}
    assert lifetime.best_served(known) == pytest.approx(2e12, rel=0.01)
    assert lifetime.best_size(known) == pytest.approx(7e9, rel=0.03)
    assert 1 - lifetime.lifetime_share(known) == pytest.approx(0.17, abs=0.01)
    run = lifetime.best_run(lifetime.best_size(known), lifetime.best_served(known), fit="hoffmann")
    assert run["pretraining_tokens"] == pytest.approx(lifetime.best_tokens(known), rel=1e-9)
    assert run["decode_bill_ratio"] == pytest.approx(0.515, rel=1e-9)


@pytest.mark.parametrize("fit", FITS)
@given(size=st.floats(1e9, 1e12), served=st.floats(1e10, 1e16), efficiency=st.floats(0.05, 1))
def test_a_best_run_is_best(fit, size, served, efficiency):
    """Of all models with its loss, it has the cheapest life."""
    run = lifetime.best_run(size, served, fit=fit, decode_efficiency=efficiency)
    law = chinchilla.law(fit)
    loss = chinchilla.fitted_loss(law, active_parameters=size, pretraining_tokens=run["pretraining_tokens"])

    def bill(log_size: float) -> float:
        other = math.exp(log_size)
        tokens = chinchilla.tokens_to_reach(law, validation_loss=loss, active_parameters=other)
        return math.log(other) + math.log(3 * tokens + served / efficiency) if tokens < math.inf else math.inf

    here = math.log(size)
    assert bill(here) <= min(bill(here + step) for step in (-0.3, -0.03, 0.03, 0.3)) + 1e-9
    decoding = served / (3 * efficiency * run["pretraining_tokens"])
    assert run["decode_bill_ratio"] == pytest.approx(decoding, rel=1e-6)
    assert run["tokens_per_parameter"] == pytest.approx(run["pretraining_tokens"] / size)


def test_served_at_optimum_is_zero_where_the_model_is_too_large():
    law = chinchilla.law()
    known = law | {"active_parameters": 540e9, "pretraining_tokens": 0.78e12, "decode_efficiency": 0.3}     # PaLM
    assert lifetime.served_at_optimum(known) == 0
    assert lifetime.exchange_rate(known) < 1


def test_the_tables_are_of_the_library_s_numbers():
    head, rows = lifetime.runs_table()
    assert len(head) == 5 and [row[0].split()[0] for row in rows] == ["200", "100", "50"]
    assert rows[0][1:] == ["160\xa0trillion tokens", "× 78", "76\xa0trillion tokens", "× 38"]


def test_bad_input():
    with pytest.raises(ValueError, match="There is no fit 'kaplan'"):
        lifetime.best_run(1e9, 1e12, fit="kaplan")
    with pytest.raises(QuantityError, match="inference_tokens must be above 0"):
        lifetime.best_run(1e9, 0)
