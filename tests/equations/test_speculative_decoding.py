"""Tokens guessed ahead: against the tables of Leviathan et al., a played server, and rooflines."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from handful import balance, latency, serving
from handful import speculative_decoding as speculative
from handful.scenario import values
from handful_evidence.random32 import mulberry32

LLAMA = values(hardware="H100 SXM", model="Llama 3.1 70B", precision="bf16")


@pytest.mark.parametrize(
    "acceptance, drafts, operations, speed",
    [
        # Leviathan et al. 2023, table 1: for a draft model that costs nothing.
        (0.6, 2, 1.53, 1.96),
        (0.7, 3, 1.58, 2.53),
        (0.8, 2, 1.23, 2.44),
        (0.8, 5, 1.63, 3.69),
        (0.9, 2, 1.11, 2.71),
        (0.9, 10, 1.60, 6.86),
    ],
)
def test_operations_and_speed_are_those_of_table_1(acceptance, drafts, operations, speed):
    known = {"acceptance": acceptance, "drafts": drafts}
    assert speculative.speculative_operations(known, draft_operations_ratio=0) == pytest.approx(
        operations, abs=0.006
    )
    assert speculative.speculative_speedup(known, draft_time_ratio=0) == pytest.approx(
        speed, abs=0.006
    )
    # With nothing to pay for guesses, speed is the tokens that a step yields.
    assert speculative.expected_accepted_tokens(known) == pytest.approx(speed, abs=0.006)


@pytest.mark.parametrize(
    "acceptance, drafts, ratio, expected, measured",
    [
        # The same, table 4: T5-XXL with T5-small, -base and -large, translation and summaries.
        (0.75, 7, 0.02, 3.2, 3.4),
        (0.80, 7, 0.04, 3.3, 2.8),
        (0.82, 7, 0.11, 2.5, 1.7),
        (0.62, 7, 0.02, 2.3, 2.6),
        (0.68, 5, 0.04, 2.4, 2.4),
        (0.71, 3, 0.11, 2.0, 1.4),
        (0.65, 5, 0.02, 2.4, 3.1),
        (0.73, 5, 0.04, 2.6, 3.0),
        (0.74, 3, 0.11, 2.0, 2.2),
        (0.53, 5, 0.02, 1.9, 2.3),
        (0.55, 3, 0.04, 1.8, 2.2),
        (0.56, 3, 0.11, 1.6, 1.7),
    ],
)
def test_expected_speed_is_that_of_table_4(acceptance, drafts, ratio, expected, measured):
    found = speculative.speculative_speedup(
        acceptance=acceptance, drafts=drafts, draft_time_ratio=ratio
    )
    assert found == pytest.approx(expected, abs=0.08)
    assert 1 / 1.5 < measured / found < 1.5


@pytest.mark.parametrize("acceptance, drafts", [(0.3, 1), (0.8, 4), (0.95, 20)])
def test_tokens_of_a_step_by_playing_it(acceptance, drafts):
    draw, steps, tokens = mulberry32(7), 20_000, 0
    for _ in range(steps):
        kept = 0
        while kept < drafts and draw() < acceptance:
            kept += 1
        tokens += kept + 1
    known = {"acceptance": acceptance, "drafts": drafts}
    found = speculative.expected_accepted_tokens(known)
    assert found == pytest.approx(tokens / steps, rel=0.02)
    assert found == pytest.approx(serving.kept_share(known) * (drafts + 1))


@given(acceptance=st.floats(0.01, 0.99), ratio=st.floats(0.001, 0.99))
def test_some_length_pays_just_where_guesses_are_right_more_often_than_they_cost(acceptance, ratio):
    """Corollary 3.9: where α > c the speed-up is at least (1 + α) / (1 + c)."""
    assume(abs(acceptance - ratio) > 1e-6)
    best = speculative.best_draft_length(acceptance, ratio)
    assert (best > 0) == (acceptance > ratio)
    if best:
        at_best = speculative.speculative_speedup(
            acceptance=acceptance, draft_time_ratio=ratio, drafts=best
        )
        assert at_best >= (1 + acceptance) / (1 + ratio) * (1 - 1e-12)


@given(acceptance=st.floats(0, 0.97), ratio=st.floats(0.01, 0.9))
def test_no_other_length_is_faster(acceptance, ratio):
    def speed(drafts):
        return sum(acceptance**k for k in range(drafts + 1)) / (drafts * ratio + 1)

    best = speculative.best_draft_length(acceptance, ratio)
    assert speed(best) >= max(map(speed, range(120))) * (1 - 1e-12)


@pytest.mark.parametrize(
    "acceptance, ratio", [(1, 0.1), (-0.1, 0.1), (0.5, 0), (0.5, float("inf"))]
)
def test_no_best_length_of_the_impossible(acceptance, ratio):
    with pytest.raises(speculative.SpeculationError, match="must be"):
        speculative.best_draft_length(acceptance, ratio)


def test_a_step_for_guesses_lies_between_one_step_and_one_for_each():
    for batch in (1, 64, 4096):
        known = LLAMA | {"batch": batch, "drafts": 3, "draft_time_ratio": 0.1}
        plain = latency.step_time_lecture(known)
        found = speculative.speculative_step_time(known)
        assert 1.3 * plain <= found * (1 + 1e-12) and found <= 4.3 * plain * (1 + 1e-12)
        # Without guesses it is a step, and without their own cost a step for so many tokens.
        assert speculative.speculative_step_time(known, drafts=0) == pytest.approx(plain)
        assert speculative.speculative_step_time(known, draft_time_ratio=0) == pytest.approx(
            latency.step_time_lecture(known, new_tokens_per_sequence=4)
        )


def test_a_small_batch_is_as_fast_as_the_theorem_says():
    known = LLAMA | {"batch": 1, "acceptance": 0.7, "drafts": 4, "draft_time_ratio": 0.05}
    assert speculative.speculative_speedup_of_batch(known) == pytest.approx(
        speculative.speculative_speedup(known)
    )
    # A batch without end waits for arithmetic: it is as slow as its operations.
    free = known | {"draft_time_ratio": 0, "batch": 1e6, "context": 1, "draft_operations_ratio": 0}
    assert speculative.speculative_speedup_of_batch(free) == pytest.approx(
        1 / speculative.speculative_operations(free)
    )


@pytest.mark.parametrize("context", [0, 500, 1000])
@pytest.mark.parametrize(
    "acceptance, drafts, ratio", [(0.7, 3, 0.0), (0.8, 5, 0.05), (0.5, 1, 0.1)]
)
def test_at_the_limit_guessing_changes_nothing(context, acceptance, drafts, ratio):
    known = LLAMA | {
        "context": context,
        "acceptance": acceptance,
        "drafts": drafts,
        "draft_time_ratio": ratio,
    }
    limit = speculative.speculation_limit_batch(known)
    gain = speculative.speculative_speedup_of_batch
    assert gain(known, batch=limit) == pytest.approx(1)
    assert gain(known, batch=limit * 0.9) > 1 > gain(known, batch=limit * 1.1)
    assert limit < balance.balance_batch_with_kv(known)


def test_the_limit_is_the_kept_share_of_the_balance_batch():
    known = LLAMA | {"context": 0, "acceptance": 0.7, "drafts": 3, "draft_time_ratio": 0}
    assert speculative.speculation_limit_batch(known) == pytest.approx(
        serving.kept_share(known) * balance.balance_batch(known)
    )


def test_long_contexts_keep_guessing_worth_while_at_any_batch():
    """As MagicDec (arXiv 2408.11049) found: beyond some context caches are read all the time."""
    known = LLAMA | {"acceptance": 0.8, "drafts": 3, "draft_time_ratio": 0.05, "context": 32_000}
    assert speculative.speculation_limit_batch(known) == float("inf")
    assert speculative.speculative_speedup_of_batch(known, batch=1e6) > 1
