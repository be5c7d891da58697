"""Predictions against hundreds of measured servers, on rows that the fits have not seen."""
import pytest

from handful import latency, validation
from handful.facts import load
from handful.quantities import QuantityError

OFF = dict(memory_efficiency=1, compute_efficiency=1, network_efficiency=1, layer_overhead=0)


def test_every_row_is_fitted_or_has_a_reason():
    fitted = sum(fit.rows for fit in validation.fits())
    assert fitted + sum(validation.unexplained().values()) == len(load("measured_silicon"))
    assert fitted > 400


def test_no_server_beats_the_floor():
    assert min(case.over_floor for case in validation.cases()) > 1


@pytest.mark.parametrize("devices", [1, 8])
def test_terms_can_be_switched_off(devices):
    known = validation.cases()[0].known | {"devices": devices} | OFF
    served, floor = validation.served_step_time(known), latency.step_time_mixed(known)
    assert served - floor == pytest.approx(validation.all_reduce_time(known), abs=1e-15)
    assert (validation.all_reduce_time(known) == 0) == (devices == 1)


def test_four_numbers_explain_the_dense_model():
    """Cross-validated: the floor alone is off by up to nine times, the fit by a quarter."""
    for fit in validation.fits():
        assert fit.high / fit.low < fit.floor_high / fit.floor_low
        if fit.model == "Llama 3.1 70B":
            assert 0.85 < fit.low < 1 < fit.high < 1.25
            assert fit.terms["memory_efficiency"] > 0.95           # reads reach nearly the whole bandwidth
            assert 30e-6 < fit.terms["layer_overhead"] < 100e-6    # some tens of microseconds a layer


def test_the_fit_finds_what_it_was_given():
    """Rows made up from known numbers give those numbers back."""
    truth = dict(memory_efficiency=0.9, compute_efficiency=0.5, network_efficiency=0.4, layer_overhead=40e-6)
    rows = [case for case in validation.cases() if not case.why_not and case.chip == "B200 SXM"
            and case.model == "Llama 3.1 70B"]
    made = [validation.Case(case.name, case.model, case.chip, case.precision, case.devices, case.batch, case.known,
                            validation.served_step_time(case.known | truth)) for case in rows]
    found = validation._fit(made)
    assert {name: pytest.approx(value, rel=1e-6) for name, value in truth.items()} == found


def test_ring_all_reduce_moves_what_the_algorithm_moves():
    """Counted step by step: n − 1 passes to add up, n − 1 to hand out, each of 1/n of the data."""
    n, data = 8, 1000 * 8192 * 2
    sent = sum(data / n for _ in range(2 * (n - 1)))
    known = dict(devices=n, prompt_per_answer=0, batch=1000, d_model=8192, layers=1, scale_up_bandwidth=450e9)
    assert validation.all_reduce_time(known) == pytest.approx(2 * sent / 450e9)


def test_bad_input():
    with pytest.raises(QuantityError, match="network_efficiency must be at most 1"):
        validation.served_step_time(validation.cases()[0].known | OFF | {"network_efficiency": 1.5})
