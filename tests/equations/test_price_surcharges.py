"""Tests of what callers pay.

It is compared with counting calls, integrating, published rates and the price lists themselves.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from handful import facts, price_surcharges, prices


@given(context=st.floats(1, 1e7), threshold=st.floats(1e4, 1e6), surcharge=st.floats(1, 5))
def test_a_list_has_two_levels(context, threshold, surcharge):
    found = price_surcharges.listed_growth(
        context=context, price_threshold=threshold, surcharge=surcharge
    )
    assert found == pytest.approx(surcharge if context >= threshold else 1)


@given(context=st.floats(1, 1e7), answers=st.floats(1, 10), surcharge=st.floats(1, 5))
def test_answers_are_listed_in_two_levels(context, answers, surcharge):
    found = price_surcharges.listed_answer_price(
        context=context, price_threshold=2e5, surcharge=surcharge, output_over_input=answers
    )
    assert found == pytest.approx(answers * (surcharge if context >= 2e5 else 1))


@pytest.mark.parametrize("reach", [1.5, 2, 5.24288, 50])
def test_mean_growth_by_integrating_over_the_logarithm(reach):
    area, _ = quad(lambda x: math.exp(x), 0, math.log(reach))
    found = price_surcharges.mean_cost_growth(context=2e5 * reach, price_threshold=2e5)
    assert found == pytest.approx(area / math.log(reach))


def test_mean_growth_starts_at_one():
    for context in (1e3, 2e5):
        assert price_surcharges.mean_cost_growth(
            context=context, price_threshold=2e5
        ) == pytest.approx(1, abs=1e-6)


@given(read=st.floats(0.01, 0.9), write=st.floats(1, 3), uses=st.integers(0, 50))
def test_bills_by_counting_calls(read, write, uses):
    calls = [write] + [read] * uses
    assert price_surcharges.bill_cached(
        cache_read_ratio=read, cache_write_ratio=write, reuses=uses
    ) == pytest.approx(sum(calls))
    assert price_surcharges.bill_computed(reuses=uses) == len(calls)


@given(read=st.floats(0.01, 0.9), write=st.floats(1, 3))
def test_bills_are_equal_where_the_write_has_paid(read, write):
    known = {"cache_read_ratio": read, "cache_write_ratio": write}
    known["reuses"] = prices.break_even_reuses(known)
    assert price_surcharges.bill_cached(known) == pytest.approx(
        price_surcharges.bill_computed(known)
    )


@given(pause=st.integers(1, 40_000), keep=st.integers(1, 4000), read=st.floats(0.01, 0.5))
def test_keeping_alive_by_walking_through_the_pause(pause, keep, read):
    now, paid = 0, 0.0
    while now < pause:  # read at the last moment, or when it is wanted
        now = min(now + keep, pause)
        paid += read
    found = price_surcharges.bill_of_reading(
        hold_time=pause, cache_retention=keep, cache_read_ratio=read
    )
    assert found == pytest.approx(paid)
    dearer = price_surcharges.bill_of_reading(
        hold_time=pause, cache_retention=keep, cache_read_ratio=read, write_ratio_added=0.75
    )
    assert dearer == pytest.approx(paid + 0.75)


def test_reading_and_lapsing_cost_the_same_at_the_limit():
    known = {"cache_retention": 300, "cache_read_ratio": 0.1, "cache_write_ratio": 1.25}
    limit = prices.refresh_limit(known)
    before, after = (
        price_surcharges.bill_of_reading(known, hold_time=limit + step) for step in (-301, 1)
    )
    assert before <= price_surcharges.bill_of_lapsing(known) <= after


def test_measured_ratios_against_what_their_authors_published():
    found = {pair["name"]: pair for pair in price_surcharges.measured_ratios()}
    # DeepSeek's own account: 73.7k tokens a second and node in, 56.3 % of them hits, and 14.8k out.
    assert found["deepseek_prefill"]["ratio"] == pytest.approx(73.7 * (1 - 0.563) / 14.8, rel=0.001)
    assert found["sglang_h100_prefill_2k"]["ratio"] == pytest.approx(54_543 / 22_282, rel=0.001)
    assert all(1.9 < pair["ratio"] < 3.5 for pair in found.values())
    # The table of the chapter on price lists.
    assert {name: round(pair["ratio"], 1) for name, pair in found.items()} == {
        "deepseek_prefill": 2.2,
        "deepseek_profile_prefill": 3.4,
        "sglang_h100_prefill_2k": 2.4,
        "sglang_h100_prefill_4k": 2.9,
        "sglang_gb200_p2_prefill_fp8": 2.0,
        "sglang_gb200_p2_prefill_fp4": 2.0,
        "vllm_gb200_prefill": 2.6,
    }


def test_every_list_says_when_it_was_read():
    assert all(row["read_on"][:4] == "2026" for row in facts.load("prices"))
