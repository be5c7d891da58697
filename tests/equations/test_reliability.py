"""Failures and checkpoints: against Meta's accounts, Daly's figures, and runs that are played."""

import itertools
import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from handful import reliability
from handful_evidence.simulate import failures as play

MINUTE, HOUR, DAY = 60, 3600, 86_400


def test_llama_3_fails_every_three_hours():
    """Dubey et al. 2024, table 5: 419 unexpected interruptions in 54 days of 16,384 chips.

    The report says that more than 90 per cent of the time was effective.
    """
    chip = 54 * DAY * 16_384 / 419
    often = reliability.job_mean_time_to_failure(device_mean_time_to_failure=chip, devices=16_384)
    assert often / HOUR == pytest.approx(3.1, abs=0.05)
    run = dict(job_mean_time_to_failure=often)
    assert reliability.expected_failures(run, training_time=54 * DAY) == pytest.approx(419)
    # So that less than 19 minutes were lost for each.
    for lost, kept in ((18 * MINUTE, True), (20 * MINUTE, False)):
        share = reliability.lost_share(
            run, restart_time=lost, checkpoint_time=1e-9, checkpoint_interval=1e-3
        )
        assert (1 - share > 0.9) == kept
    # Its storage takes 2 TB/s for long, and a chip writes between 1 MB and 4 GB.
    state = dict(total_parameters=405e9, checkpoint_bandwidth=2e12)
    time = reliability.checkpoint_time(state)
    assert time == pytest.approx(405 * 14 / 2000)
    assert 1e6 < time * 2e12 / 16_384 < 4e9


def test_failures_of_node_days():
    """Kokolis et al. 2024: 6.50 failures in 1,000 node-days; figures quoted from memory.

    They expect one in 1.8 hours on 16,384 chips, eight a node, and in 0.23 on 131,072.
    """
    known = dict(device_mean_time_to_failure=8 * 1000 * DAY / 6.5)
    for chips, hours in ((16_384, 1.80), (131_072, 0.23)):
        found = reliability.job_mean_time_to_failure(known, devices=chips)
        assert found / HOUR == pytest.approx(hours, abs=0.005)
    # Nodes that fail in a day are 13.3; in repair for three days, they are forty: 320 chips.
    away = reliability.devices_in_repair(
        known, devices=16_384, domain_devices=8, repair_time=3 * DAY
    )
    assert away == pytest.approx(2048 * 6.5e-3 * 3 * 8)


@pytest.mark.parametrize("hours, minutes", [(24, 117), (6, 57), (0.25, 9.1)])
def test_dalys_intervals(hours, minutes):
    """Captions of figures 3 to 5 of Daly 2006: checkpoints of 5 minutes, restarts of 10."""
    known = dict(job_mean_time_to_failure=hours * HOUR, checkpoint_time=5 * MINUTE)
    found = reliability.checkpoint_interval_daly(known) / MINUTE
    assert found == pytest.approx(minutes, rel=0.006)
    # The exact optimum, by the complete cost function.
    best = minimize_scalar(
        lambda interval: (
            -reliability.effective_training_share(
                known, checkpoint_interval=interval, restart_time=10 * MINUTE
            )
        ),
        bounds=(1, hours * HOUR),
        method="bounded",
        options={"xatol": 1e-3},
    )
    assert found * MINUTE == pytest.approx(best.x, rel=0.004)
    young = reliability.checkpoint_interval(known)
    assert young == pytest.approx(math.sqrt(2 * 5 * MINUTE * hours * HOUR))
    assert best.x < found * MINUTE * 1.004 < young


@given(ratio=st.floats(1e-6, 1.9), mean=st.floats(60, 1e6))
def test_the_square_is_dalys_series(ratio, mean):
    dump = ratio * mean
    root = math.sqrt(dump / (2 * mean))
    series = math.sqrt(2 * dump * mean) * (1 + root / 3 + root**2 / 9) - dump
    found = reliability.checkpoint_interval_daly(
        job_mean_time_to_failure=mean, checkpoint_time=dump
    )
    assert found == pytest.approx(series)


@given(
    mean=st.floats(1e3, 1e6),
    dump=st.floats(1, 100),
    restart=st.floats(0, 1000),
    off=st.floats(0.05, 20),
)
def test_youngs_interval_loses_least(mean, dump, restart, off):
    known = dict(job_mean_time_to_failure=mean, checkpoint_time=dump, restart_time=restart)
    young = reliability.checkpoint_interval(known)
    least = reliability.least_lost_share(known)
    assert reliability.lost_share(known, checkpoint_interval=young) == pytest.approx(least)
    assert reliability.lost_share(known, checkpoint_interval=off * young) >= least * (1 - 1e-12)
    # Writing and work done again cost the same, and all else is restarts.
    assert least - restart / mean == pytest.approx(2 * dump / young)


def test_to_first_order_what_is_not_lost_is_effective():
    for scale in (1e-3, 1e-5):
        known = dict(
            job_mean_time_to_failure=1.0,
            checkpoint_time=0.02 * scale,
            restart_time=0.3 * scale,
            checkpoint_interval=scale,
        )
        lost = reliability.lost_share(known, checkpoint_time=1e-9 * scale)
        effective = reliability.effective_training_share(known, checkpoint_time=1e-9 * scale)
        assert 1 - effective == pytest.approx(lost, rel=2 * scale)


SETTINGS = [
    # Mean time to failure, interval, checkpoint, restart: usual ones, and hardly getting on.
    (3.0, 0.13, 0.003, 0.08),
    (3.0, 1.0, 0.2, 0.5),
    (1.0, 1.5, 0.3, 0.7),
]


@pytest.mark.parametrize("mean, interval, dump, restart", SETTINGS)
def test_a_run_that_is_played(mean, interval, dump, restart):
    shares, counts = [], []
    for seed in range(10):
        work = 400 * interval
        played = play.run(
            work,
            interval=interval,
            checkpoint_time=dump,
            restart_time=restart,
            failures_at=play.random_failures(16, 16 * mean, 100 + seed),
        )
        shares.append(work / played.time)
        counts.append(played.failures * mean / played.time)
    known = dict(
        job_mean_time_to_failure=reliability.job_mean_time_to_failure(
            device_mean_time_to_failure=16 * mean, devices=16
        ),
        checkpoint_interval=interval,
        checkpoint_time=dump,
        restart_time=restart,
    )
    assert known["job_mean_time_to_failure"] == mean
    exact = reliability.effective_training_share(known)
    error = statistics.stdev(shares) / math.sqrt(len(shares))
    assert abs(statistics.fmean(shares) - exact) < 4 * error < 0.1 * exact
    # As many failures as mean times to failure in the time of the run.
    assert statistics.fmean(counts) == pytest.approx(1, abs=0.1)


def test_the_chance_of_no_failure():
    known = dict(job_mean_time_to_failure=2.0, training_time=3.0)
    free = statistics.fmean(
        next(play.random_failures(5, 10.0, seed)) > 3.0 for seed in range(10_000)
    )
    found = reliability.failure_free_chance(known)
    assert found == pytest.approx(free, abs=4 * math.sqrt(found * (1 - found) / 10_000))
    assert found == pytest.approx(0.2231, abs=1e-4)


def test_a_checkpoint_has_weights_and_optimiser():
    known = dict(total_parameters=1e9, checkpoint_bandwidth=1e9)
    assert reliability.checkpoint_time(known) == 14
    assert reliability.checkpoint_time(
        known, trained_weight_bytes=4, optimiser_bytes=8
    ) == pytest.approx(12)


# What is played -----------------------------------------------------------------------------------


def test_a_failure_costs_the_work_since_the_checkpoint_and_a_restart():
    known = dict(interval=2.0, checkpoint_time=0.5, restart_time=1.0)
    for failures_at, time in (
        ([], 10.0),
        ([2.4], 13.4),  # just before the first checkpoint is written: 2.4 and the restart
        ([2.6], 11.1),  # just behind it
        ([2.6, 3.1], 11.6),  # and during the restart, which begins again
    ):
        played = play.run(8.0, failures_at=failures_at, **known)
        assert played.time == pytest.approx(time) and played.failures == len(failures_at)
    # The last interval may be shorter.
    assert play.run(3.0, failures_at=[], **known).time == 4.0


def test_a_run_that_never_ends_gets_a_sentence():
    for change in (dict(interval=0.0), dict(work=math.inf)):
        known = dict(work=1.0, interval=1.0) | change
        with pytest.raises(play.RunError, match=r"wants intervals above 0 and finite work"):
            play.run(
                known["work"],
                interval=known["interval"],
                checkpoint_time=0.0,
                restart_time=0.0,
                failures_at=itertools.repeat(1.0),
            )
