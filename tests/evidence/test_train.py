"""The train: simulation, recurrence, exact queue and Erlang's formula against each other."""

import inspect
import math
import statistics
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import balance, facts, queueing
from handful_evidence.simulate import train

T = 0.02


def missed(arrivals, leaves):
    """Share of requests that do not catch the first train after they came."""
    late = [
        leave - arrival > T * (1 + 1e-9) for arrival, leave in zip(arrivals, leaves, strict=True)
    ]
    return sum(late) / len(late)


def played(load, seats, tokens, requests, seed, spread=None):
    """Return the arrivals and departures of a run.

    It starts with as many seats taken as are wanted on average.
    """
    lengths = train.answer_lengths(tokens, requests, seed + 1, spread)
    aboard = train.answer_lengths(tokens, int(load * seats), seed + 2)
    arrivals = train.poisson_arrivals(load * seats / T / statistics.fmean(lengths), requests, seed)
    return arrivals, train.depart(arrivals, T, seats, lengths, aboard)


# Simulation and recurrence ------------------------------------------------------------------------


@given(
    rate=st.floats(10, 5000),
    seats=st.integers(1, 60),
    tokens=st.floats(1, 80),
    taken=st.floats(0, 1),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=25, deadline=None)
def test_recurrence_equals_simulation(rate, seats, tokens, taken, seed):
    arrivals, lengths = (
        train.poisson_arrivals(rate, 300, seed),
        train.answer_lengths(tokens, 300, seed + 1),
    )
    aboard = train.answer_lengths(tokens, int(taken * seats), seed + 2)
    for places, sitting in ((seats, aboard), (seats, ()), (None, ())):
        a = train.simulate(arrivals, T, places, lengths, sitting)
        b = train.depart(arrivals, T, places, lengths, sitting)
        assert max(abs(x - y) for x, y in zip(a, b, strict=True)) < 1e-9


@given(seats=st.integers(1, 60), tokens=st.floats(1, 80), seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_a_seat_is_held_for_a_token_an_interval_and_nobody_overtakes(seats, tokens, seed):
    arrivals, lengths = (
        train.poisson_arrivals(3000 / tokens, 400, seed),
        train.answer_lengths(tokens, 400, seed + 1),
    )
    leaves = [round(leave / T) for leave in train.depart(arrivals, T, seats, lengths)]
    assert leaves == sorted(leaves)
    riding = [0] * (max(leave + length for leave, length in zip(leaves, lengths, strict=True)) + 1)
    for leave, length in zip(leaves, lengths, strict=True):
        riding[leave] += 1
        riding[leave + length] -= 1
    riding = list(accumulate(riding))
    assert max(riding) <= seats
    # No seat stays empty while somebody waits: whoever was left behind saw a full train leave.
    for arrival, leave in zip(arrivals, leaves, strict=True):
        assert all(riding[k] == seats for k in range(math.ceil(arrival / T), leave))


def test_answers_of_one_token_free_their_seats_at_once():
    """A request leaves at least one train after the one `seats` places ahead of it.

    This is the older recurrence.
    """
    arrivals = train.poisson_arrivals(2100, 5000, 5)
    leaves = []
    for i, arrival in enumerate(arrivals):
        soonest = math.ceil(arrival / T)
        leaves.append(max(soonest, leaves[i - 40] + 1) if i >= 40 else soonest)
    assert [round(leave / T) for leave in train.depart(arrivals, T, 40)] == leaves


def test_with_free_seats_the_worst_is_twice_the_interval_and_the_mean_one_and_a_half():
    seen = train.delays(train.poisson_arrivals(2000, 100_000), T)
    assert max(seen) <= balance.worst_delay(batch_interval=T) < 1.01 * max(seen)
    # A uniform wait has standard deviation T/sqrt(12); four standard errors.
    assert abs(statistics.fmean(seen) - balance.mean_delay(batch_interval=T)) < 4 * T / math.sqrt(
        12 * len(seen)
    )


@pytest.mark.parametrize("spread", [None, 0.8, 2.15])
def test_lengths_have_the_mean_and_spread_that_are_asked_for(spread):
    found = train.answer_lengths(211, 200_000, 3, spread)
    assert min(found) >= 1 and all(isinstance(length, int) for length in found[:100])
    assert statistics.fmean(found) == pytest.approx(211, rel=0.01)
    # A geometric one has the standard deviation sqrt(m (m - 1)).
    assert statistics.pstdev(found) / 211 == pytest.approx(
        spread or math.sqrt(210 / 211), rel=0.1 if spread == 2.15 else 0.01
    )


@pytest.mark.parametrize("spread", [None, 0.8, 2.15])
def test_with_a_seat_for_everyone_the_seats_taken_are_poisson_whatever_the_lengths(spread):
    """Mean and variance of the seats taken are both the seats wanted.

    The queue M/G/∞ is insensitive.
    """
    tokens, wanted, seen = 20, 60, []
    for seed in range(4):
        lengths = train.answer_lengths(tokens, 50_000, 10 * seed, spread)
        arrivals = train.poisson_arrivals(wanted / T / tokens, 50_000, 10 * seed + 1)
        trains = np.ceil(np.array(arrivals) / T).astype(int)
        size = trains[-1]
        taken = np.cumsum(
            np.bincount(trains, minlength=size + 1)[:size]
            - np.bincount(trains + lengths, minlength=size + 1)[:size]
        )
        seen.append(taken[2000::10])
    seen = np.concatenate(seen)
    assert seen.mean() == pytest.approx(wanted, rel=0.02)
    assert seen.var() == pytest.approx(wanted, rel=0.08)


# The exact queue ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "load, seats, tokens", [(0.95, 40, 1), (0.9, 40, 6), (0.8, 12, 30), (0.95, 200, 8)]
)
def test_the_exact_queue_is_what_is_simulated(load, seats, tokens):
    runs = [
        [part[5_000:] for part in played(load, seats, tokens, 35_000, 10 * seed)]
        for seed in range(10)
    ]  # once it has settled
    seen = {
        "mean": [
            statistics.fmean(leave - arrival + T for arrival, leave in zip(*run, strict=True))
            for run in runs
        ],
        1: [missed(*run) for run in runs],
        3: [
            sum(leave - arrival > 3 * T for arrival, leave in zip(*run, strict=True)) / 30_000
            for run in runs
        ],
    }
    for what, found in seen.items():
        exact = (
            train.mean_delay(T, load, seats, tokens)
            if what == "mean"
            else train.left_behind(load, seats, what, tokens)
        )
        error = statistics.stdev(found) / math.sqrt(len(found))
        assert abs(statistics.fmean(found) - exact) < max(4 * error, 1e-4)
        assert error < max(0.3 * exact, 1e-4)


def test_mean_queue_of_a_one_seat_train_is_the_textbook_one():
    # One seat and one token is a slotted M/D/1 queue: the mean number left behind is a²/(2 (1 −
    # a)).
    for load in (0.3, 0.6, 0.9):
        queue = train.queue_left_behind(load, 1)
        mean = sum(n * p for n, p in enumerate(queue))
        assert mean == pytest.approx(load**2 / (2 * (1 - load)), rel=1e-9)


@pytest.mark.parametrize("load, tokens", [(0.6, 30), (0.9, 30), (0.9, 2), (0.5, 1)])
def test_one_seat_has_the_mean_that_its_second_moment_asks_for(load, tokens):
    """In E[N²] = E[(N − D + A)²] the mean N after a departure is the unknown.

    The queue is Geo/Geo/1 with Poisson groups.
    """
    arrive, end = load / tokens, 1 / tokens
    present = (arrive - arrive**2 / 2) / (end - arrive)
    assert train.mean_delay(1.0, load, 1, tokens) == pytest.approx(
        1.5 + (present - load) / arrive, rel=1e-9
    )


@pytest.mark.parametrize("load", [0.9, 0.95, 0.99])
def test_two_thousand_seats_wait_as_erlang_says(load):
    """M/M/c, in continuous time and solved in 1917, against the chain of trains."""
    wanted = 2000 * load
    share, wait = (
        queueing.erlang_c(2000, wanted),
        queueing.seat_wait(seats=2000, load=load, answer_tokens=211, batch_interval=T),
    )
    assert train.mean_delay(T, load, 2000, 211) - 1.5 * T == pytest.approx(share * wait, rel=0.06)
    # Some who come to a full train still catch the next one, since seats fall free before it
    # leaves; with long answers few do.
    caught = [train.left_behind(load, 2000, 1, tokens) / share for tokens in (211, 1000, 20_000)]
    assert caught[0] < caught[1] < caught[2] < 1 and caught[2] > 0.994


def test_each_further_train_is_missed_by_fewer():
    shares = [train.left_behind(0.97, 2000, trains, 211) for trains in (1, 2, 3, 10, 100)]
    assert all(later < earlier for earlier, later in pairwise(shares))
    # Those who wait at all wait as in M/M/c: exponentially, with the mean that Erlang gives, in
    # trains.
    mean = queueing.seat_wait(seats=2000, load=0.97, answer_tokens=211, batch_interval=1)
    assert shares[3] / shares[2] == pytest.approx(math.exp(-7 / mean), rel=0.02)


def test_the_bound_holds_for_the_share_and_no_smaller_one_does():
    for load, seats, tokens in ((0.97, 2000, 211), (0.9, 40, 6)):
        trains = round(train.delay_bound(T, load, seats, tokens) / T) - 1
        assert (
            train.left_behind(load, seats, trains, tokens)
            <= 0.01
            < train.left_behind(load, seats, trains - 1, tokens)
        )
    arrivals, leaves = played(0.9, 40, 6, 200_000, 3)
    seen = sorted(leave - arrival + T for arrival, leave in zip(arrivals, leaves, strict=True))
    bound = train.delay_bound(T, 0.9, 40, 6)
    assert seen[int(0.99 * len(seen))] <= bound <= seen[int(0.997 * len(seen))] + T


# What the chapter says ----------------------------------------------------------------------------


def test_the_chapters_sentences_about_large_and_small_trains():
    share = {seats: train.left_behind(0.9, seats, 1, 211) for seats in (2000, 100)}
    assert share[2000] < 2e-6  # practically none: one in some eight hundred thousand
    assert 0.19 < share[100] < 0.22  # every fifth
    assert 4.5 < queueing.seat_margin(seats=2000, load=0.9) < 5
    assert math.sqrt(1800) == pytest.approx(42, abs=0.5) and 9 < math.sqrt(90) < 10
    # One in a hundred is left behind at 95 % of the large train, and more than a fifth spare.
    assert train.left_behind(0.95, 2000, 1, 211) == pytest.approx(0.01, rel=0.1)
    assert train.left_behind(0.78, 100, 1, 211) == pytest.approx(0.01, rel=0.1)
    # Four seconds, by the tokens of the trace.
    assert facts.get("scaling_laws", "azure_chat_tokens")["value"] * T == pytest.approx(4, abs=0.3)
    # The trace is one hour, whose minutes swing four times as much as chance alone explains.
    minutes = facts.get("scaling_laws", "azure_chat_minutes")
    swing = facts.get("scaling_laws", "azure_chat_swing")["value"]
    assert swing * math.sqrt(minutes["value"]) == pytest.approx(4, rel=0.05)


def test_uneven_lengths_hardly_change_who_misses_but_how_long_they_wait():
    shares, extra = [], []
    for spread in (None, 2.15):
        runs = [
            [part[5_000:] for part in played(0.9, 100, 20, 45_000, 10 * seed, spread)]
            for seed in range(6)
        ]
        shares.append(statistics.fmean(missed(*run) for run in runs))
        extra.append(
            statistics.fmean(
                statistics.fmean(leave - arrival for arrival, leave in zip(*run, strict=True))
                for run in runs
            )
            - T / 2
        )
    assert shares[1] == pytest.approx(shares[0], rel=0.25)
    assert 1.3 * extra[0] < extra[1] < 2.2 * extra[0]


def test_the_table_takes_the_traces_lengths():
    usual = {name: p.default for name, p in inspect.signature(train.compare).parameters.items()}
    assert usual["tokens"] == facts.get("scaling_laws", "azure_chat_tokens")["value"]
    assert usual["spread"] == facts.get("scaling_laws", "azure_code_spread")["value"]
    assert usual["seats"] == 2000 and usual["interval"] == T


def test_simulation_stands_beside_theory_for_each_load():
    half, most = train.compare((0.5, 0.9), interval=T, seats=40, tokens=30, requests=60_000)
    assert (half.load, most.load) == (0.5, 0.9)
    assert most.missed_simulated == pytest.approx(most.missed, rel=0.3)
    assert most.missed_uneven == pytest.approx(most.missed, rel=0.4)
    assert 1.5 * T < most.mean_delay < most.delay_bound
    # Half a beat's wait and the ride, where nobody queues.
    assert half.mean_delay == pytest.approx(1.5 * T, rel=0.02)
    assert half.delay_bound == pytest.approx(2 * T)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: train.depart([0.1], -1, 4), "above 0 seconds; got -1"),
        (lambda: train.depart([0.1], T, 0), "1 or more; got 0"),
        (lambda: train.depart([0.1], T, 4, 0), "a whole number of 1 or more"),
        (lambda: train.simulate([0.1, 0.2], T, 4, [3]), "Every request needs the tokens"),
        (
            lambda: train.depart([0.1], T, 2, 1, [5, 5, 5]),
            "No more than 2 can sit in 2 seats; got 3",
        ),
        (lambda: train.mean_delay(T, 1.0, 40), "the queue grows for ever"),
        (lambda: train.left_behind(0.9, 40, 1, 0.5), "1 token or more on average; got 0.5"),
        (lambda: train.left_behind(0.95, 2000), "too close to full"),
        (lambda: train.delay_bound(T, 0.9, 40, share=1), "between 0 and 1; got 1"),
        (lambda: train.answer_lengths(0.5, 3), "1 token or more"),
        (lambda: train.answer_lengths(50, 3, spread=0), "must be above 0; got 0"),
        (lambda: train.poisson_arrivals(0, 10), "rate above 0"),
    ],
)
def test_bad_timetables_get_a_sentence(call, sentence):
    with pytest.raises(train.TrainError, match=sentence):
        call()
