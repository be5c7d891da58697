"""Tests of Erlang's formulas.

They are compared with published tables, sums in long arithmetic, and a queue that is played.
"""

import math
import statistics
from fractions import Fraction

import mpmath
import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import queueing
from handful_evidence.random32 import mulberry32


@pytest.mark.parametrize(
    "seats, wanted, lost",
    [
        # From the tables of Erlang B that telephone companies print: traffic that so many lines
        # carry at that loss.
        (1, 0.0101, 0.01),
        (5, 1.36, 0.01),
        (10, 4.46, 0.01),
        (20, 12.03, 0.01),
        (50, 37.90, 0.01),
        (100, 84.06, 0.01),
        (10, 5.08, 0.02),
        (20, 13.18, 0.02),
        (100, 87.97, 0.02),
    ],
)
def test_losses_are_those_of_the_printed_tables(seats, wanted, lost):
    assert queueing.erlang_b(seats, wanted) == pytest.approx(lost, rel=0.01)


@given(seats=st.integers(1, 30), wanted=st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_losses_are_the_ratio_of_sums(seats, wanted):
    terms = [Fraction(wanted**k, math.factorial(k)) for k in range(seats + 1)]
    assert queueing.erlang_b(seats, wanted) == pytest.approx(
        float(terms[-1] / sum(terms)), rel=1e-12
    )


@pytest.mark.parametrize(
    "seats, wanted, waits",
    [
        (3, 2, Fraction(4, 9)),
        (2, 1, Fraction(1, 3)),
        (1, 0.5, Fraction(1, 2)),
        (2, 1.5, Fraction(9, 14)),
    ],
)
def test_shares_that_wait_are_those_of_the_textbooks(seats, wanted, waits):
    """M/M/1: the load; M/M/2: 2ρ²/(1 + ρ); M/M/3 at two thirds: four ninths."""
    assert queueing.erlang_c(seats, wanted) == pytest.approx(float(waits), rel=1e-12)


@pytest.mark.parametrize("load", [0.5, 0.9, 0.95, 0.99, 0.9999])
def test_two_thousand_seats_lose_no_digits(load):
    """The sum that defines the formula, in a hundred digits; its terms pass 10^800."""
    seats, wanted = 2000, 2000 * load
    with mpmath.workdps(100):
        a = mpmath.mpf(wanted)
        term = total = mpmath.mpf(1)
        for k in range(1, seats):
            term = term * a / k
            total += term
        queued = term * a / seats / (1 - a / seats)
        exact = float(queued / (total + queued))
    assert queueing.erlang_c(seats, wanted) == pytest.approx(exact, rel=1e-11)


def test_the_margin_is_spare_seats_over_a_poisson_deviation():
    from scipy.stats import norm, poisson

    assert queueing.seat_margin(seats=2000, load=0.95) == pytest.approx(100 / poisson(1900).std())
    # Halfin and Whitt 1981: with many seats the share that waits depends on the margin alone.
    for load in (0.95, 0.97, 0.99):
        z = queueing.seat_margin(seats=2000, load=load)
        assert queueing.erlang_c(2000, 2000 * load) == pytest.approx(
            1 / (1 + z * norm.cdf(z) / norm.pdf(z)), rel=0.08
        )


def test_waits_are_those_of_a_queue_that_is_played():
    """M/M/5 at 80 % in simpy, in units of the mean holding time: who waits, and for how long."""
    shares, means = [], []
    for seed in range(8):
        draw, world = mulberry32(seed), simpy.Environment()
        seats, waits = simpy.Resource(world, 5), []

        def request(world=world, seats=seats, waits=waits, draw=draw):
            came = world.now
            with seats.request() as seat:
                yield seat
                waits.append(world.now - came)
                yield world.timeout(-math.log(1 - draw()))

        def come(world=world, draw=draw, request=request):
            for _ in range(10_000):
                yield world.timeout(-math.log(1 - draw()) / 4)
                world.process(request())

        world.process(come())
        world.run()
        late = [wait for wait in waits if wait > 0]
        shares.append(len(late) / len(waits))
        means.append(statistics.fmean(late))
    # An answer of 40 tokens, at intervals of 1/40 each.
    for found, exact in (
        (shares, queueing.erlang_c(5, 4)),
        (means, queueing.seat_wait(seats=5, load=0.8, answer_tokens=40, batch_interval=1 / 40)),
    ):
        error = statistics.stdev(found) / math.sqrt(len(found))
        assert abs(statistics.fmean(found) - exact) < 4 * error < 0.3 * exact


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: queueing.erlang_b(0, 1), "1 or more; got 0"),
        (lambda: queueing.erlang_b(2.5, 1), "must be whole"),
        (lambda: queueing.erlang_b(3, 0), "above 0 and finite; got 0"),
        (lambda: queueing.erlang_b(3, math.inf), "above 0 and finite"),
        (lambda: queueing.erlang_c(3, 3), "fewer than the 3"),
    ],
)
def test_bad_queues_get_a_sentence(call, sentence):
    with pytest.raises(queueing.QueueError, match=sentence):
        call()
