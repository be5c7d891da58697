"""Tests of the published training step.

The table agrees with itself and with the model's report, and the passes with a schedule.
"""

import math

import pytest

from handful.facts import get
from handful_evidence import measured_pipelines as measured
from handful_evidence.simulate import pipeline as sim


def test_the_parts_make_the_step():
    assert math.fsum(measured.parts().values()) == pytest.approx(measured.step_time(), rel=2e-3)


def test_the_rate_is_that_of_the_reports_batch():
    """Tokens a day times the step is 15,360 sequences of 4,096 tokens: two papers, one number."""
    tokens = get("measured_pipelines", "v3_tokens_per_day")["value"] * measured.step_time() / 86_400
    batch = (
        get("measured_pipelines", "v3_batch")["value"]
        * get("measured_pipelines", "v3_sequence")["value"]
    )
    assert tokens == pytest.approx(batch, rel=1e-3)


def test_the_passes_give_the_measured_totals_back():
    r, parts = measured.reconstructed(), measured.parts()
    played = sim.run(
        sim.dual_pipe(16, measured.micro_batches()),
        r["forward"],
        r["backward"],
        r["weights"],
        r["overlapped"],
    )
    mine = [bar for bar in played.bars if bar.device == 0]
    busy = math.fsum(bar.end - bar.start for bar in mine)
    assert busy == pytest.approx(
        math.fsum(parts.values()) - parts["v3_bubble"] - parts["v3_optimiser"], rel=1e-9
    )
    assert played.idle[0] == pytest.approx(r["bubble_played"])
    # The closed form is near what the schedule shows, and the machine waits longer than either.
    assert r["bubble_played"] == pytest.approx(r["bubble_formula"], rel=0.12)
    assert 1.4 < parts["v3_bubble"] / r["bubble_formula"] < 1.8
    assert parts["v3_bubble"] < r["bubble_1f1b"]
