"""The train: simulation, recurrence and closed form against each other."""
import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import balance
from handful.explorers.balance import train as page_train
from handful.simulate import train
from handful.written import read

T = 0.02


@given(rate=st.floats(100, 5000), seats=st.integers(1, 60), seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_recurrence_equals_simulation(rate, seats, seed):
    arrivals = train.poisson_arrivals(rate, 400, seed)
    for places in (seats, None):
        a, b = train.simulate(arrivals, T, places), train.depart(arrivals, T, places)
        assert max(abs(x - y) for x, y in zip(a, b)) < 1e-9


@given(seats=st.integers(1, 60), seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_no_train_carries_more_than_its_seats_and_nobody_overtakes(seats, seed):
    leaves = train.depart(train.poisson_arrivals(3000, 500, seed), T, seats)
    assert leaves == sorted(leaves)
    assert max(leaves.count(leave) for leave in set(leaves)) <= seats


def test_with_free_seats_the_worst_is_twice_the_interval_and_the_mean_one_and_a_half():
    seen = train.delays(train.poisson_arrivals(2000, 100_000), T)
    assert max(seen) <= balance.worst_delay(batch_interval=T) < 1.01 * max(seen)
    # A uniform wait has standard deviation T/sqrt(12); four standard errors.
    assert abs(statistics.fmean(seen) - balance.mean_delay(batch_interval=T)) < 4 * T / math.sqrt(12 * len(seen))


@pytest.mark.parametrize("load", [0.9, 0.95, 0.99])
def test_with_limited_seats_the_worst_exceeds_the_bound_and_the_mean_is_the_exact_one(load):
    exact = train.mean_delay(T, load, 40)
    runs = []
    for seed in range(12):
        seen = train.delays(train.poisson_arrivals(load * 40 / T, 60_000, seed), T, 40)
        # The queue starts empty; the first third is left out so that it has filled.
        runs.append(statistics.fmean(seen[20_000:]))
        assert max(seen) > balance.worst_delay(batch_interval=T)
    error = statistics.stdev(runs) / math.sqrt(len(runs))
    assert abs(statistics.fmean(runs) - exact) < 4 * error
    assert error < 0.12 * exact


def test_mean_queue_of_a_one_seat_train_is_the_textbook_one():
    # One seat is a slotted M/D/1 queue: the mean number left behind is a²/(2 (1 − a)).
    for load in (0.3, 0.6, 0.9):
        queue = train.queue_left_behind(load, 1)
        mean = sum(n * p for n, p in enumerate(queue))
        assert mean == pytest.approx(load**2 / (2 * (1 - load)), rel=1e-9)


def test_share_left_behind_equals_the_simulated_share():
    load, seats = 0.9, 10  # few seats and a moderate load, so that 400,000 requests decide
    arrivals = train.poisson_arrivals(load * seats / T, 400_000, 3)
    first = [math.ceil(a / T) * T for a in arrivals]
    missed = sum(leave > soonest + 1e-9 for leave, soonest in zip(train.depart(arrivals, T, seats), first))
    assert missed / len(arrivals) == pytest.approx(train.left_behind(load, seats), rel=0.05)


def test_the_page_runs_the_same_trains():
    shown = page_train.values(batch_interval=T, seats=40, load=0.95)
    arrivals = train.poisson_arrivals(0.95 * 40 / T, len(shown["arrivals"]), 1)
    assert shown["arrivals"] == pytest.approx(arrivals, rel=1e-12)
    assert shown["delays"] == pytest.approx(train.delays(arrivals, T, 40), rel=1e-9)


@pytest.mark.parametrize("call, sentence", [
    (lambda: train.depart([0.1], -1, 4), "above 0 seconds; got -1"),
    (lambda: train.depart([0.1], T, 0), "1 or more; got 0"),
    (lambda: train.mean_delay(T, 1.0, 40), "the queue grows for ever"),
    (lambda: train.poisson_arrivals(0, 10), "rate above 0"),
])
def test_bad_timetables_get_a_sentence(call, sentence):
    with pytest.raises(train.TrainError, match=sentence):
        call()


def test_the_table_of_loads_holds_simulation_beside_theory():
    head, rows = train.compare((0.5, 0.9), interval=T, seats=10, requests=20_000)
    assert head[4] == "Worst of 20,000" and [row[0].replace("\xa0", " ") for row in rows] == ["50 %", "90 %"]
    for row in rows:
        simulated, exact, most, worst = (read(cell.replace("\xa0", " "))[0] for cell in row[1:5])
        assert simulated == pytest.approx(exact, rel=0.03) and simulated < most <= worst
    assert read(rows[0][2].replace("\xa0", " "))[0] == pytest.approx(1.5 * T, rel=0.02)     # half a beat's wait and the ride, where nobody queues
