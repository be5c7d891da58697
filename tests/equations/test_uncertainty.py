"""Uncertainty: known distributions come back, and shares add up."""

import math

import pytest

from handful import latency
from handful.scenario import values
from handful.symbolic.quantities import QuantityError
from handful.symbolic.uncertainty import propagate

KNOWN = {**values(), "batch": 1000.0}


def test_a_product_of_factors_is_log_normal():
    found = propagate(latency.compute_cost, KNOWN, {"device_price": 2.0, "peak_flops": 1.5})
    expected = math.exp(math.hypot(math.log(2), math.log(1.5)))
    assert found.factor == pytest.approx(expected, rel=0.01)
    assert found.median == pytest.approx(latency.compute_cost(KNOWN), rel=0.005)
    shares = math.log(2) ** 2 / (math.log(2) ** 2 + math.log(1.5) ** 2)
    assert found.shares["device_price"] == pytest.approx(shares, rel=0.02)
    assert sum(found.shares.values()) == pytest.approx(1)
    assert (found.worst_low, found.worst_high) == pytest.approx(
        (found.median / 3, found.median * 3), rel=0.01
    )


def test_it_is_repeatable():
    spread = {"memory_bandwidth": 1.3}
    assert (
        propagate(latency.step_time, KNOWN, spread).high
        == propagate(latency.step_time, KNOWN, spread).high
    )


def test_nothing_uncertain_is_exact():
    found = propagate(latency.step_time, KNOWN, {"memory_bandwidth": 1.0})
    assert found.low == found.median == found.high == latency.step_time(KNOWN)


@pytest.mark.parametrize(
    "spread, options, sentence",
    [
        ({"memory_bandwidth": 0.5}, {}, "must be a factor of 1 or more; got 0.5"),
        ({"memory_capacity": 2}, {}, "does not depend on memory_capacity"),
        ({"memory_bandwidth": 2}, {"samples": 1000}, "power of two; got 1000"),
    ],
)
def test_bad_spreads_get_a_sentence(spread, options, sentence):
    with pytest.raises(QuantityError, match=sentence):
        propagate(latency.step_time, KNOWN, spread, **options)
