"""Other calculators' answers: mistakes that can be made again are made again."""

from __future__ import annotations

import pytest

from handful import facts
from handful import query as ask
from handful_evidence import calculators

MISTAKES = [row for row in facts.load("calculators") if row["remade"]]


@pytest.mark.parametrize("row", MISTAKES, ids=lambda row: row.name)
def test_a_mistake_made_again_gives_the_tools_figure(row):
    assert ask.answer(row["remade"]).value == pytest.approx(row["value"], rel=0.011)


def test_tools_that_read_the_same_data_sheet_agree_with_us():
    balance = next(q for q in calculators.questions() if q.key == "balance")
    same = [a for a in balance.answers if a.cause == "the data sheet's figures"]
    assert len(same) == 2 and all(a.ratio == pytest.approx(1, rel=0.002) for a in same)


def test_measured_kernels_lie_above_the_floor_and_no_decode_step_far_below_it():
    for question in calculators.questions():
        for answer in question.answers:
            if "measured" in answer.tool:
                assert answer.ratio > 1.5
            if question.key.startswith("decode"):
                assert answer.ratio > 0.95


def test_spread():
    spreads = {q.key: q.spread for q in calculators.questions()}
    assert spreads["cache-v3"] == pytest.approx(3997696 / 59392)
    assert spreads["bubble"] < 1.2
