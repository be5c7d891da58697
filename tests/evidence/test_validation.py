"""Predictions against hundreds of measured servers, on rows that the fits have not seen."""

import itertools
import statistics
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import latency, serving, shapes
from handful.facts import load
from handful.symbolic.quantities import QuantityError
from handful_evidence import validation

OFF = dict(
    memory_efficiency=1, compute_efficiency=1, network_efficiency=1, layer_overhead=0, acceptance=0
)


def fitted(model, chip):
    return list(validation.rows_of(model, chip))


def mean_error(rows):
    return np.abs(np.log(validation.cross_validate(rows))).mean()


def test_every_row_is_fitted_or_has_a_reason():
    rows = sum(fit.rows for fit in validation.fits())
    assert rows + sum(validation.count_unfitted().values()) == len(load("measured_silicon"))
    assert rows > 600
    assert all(sum(n for n, *_ in fit.by_sharing.values()) == fit.rows for fit in validation.fits())


def test_rows_that_are_not_fitted_differ_as_their_reason_says():
    rows, seen = {row.name: row for row in load("measured_silicon")}, set()

    def run_of(row):
        return tuple(
            row[name]
            for name in (
                "model",
                "system",
                "precision",
                "isl_tokens",
                "osl_tokens",
                "concurrency",
                "ttft_ms",
                "tpot_ms",
            )
        )

    count = Counter(map(run_of, rows.values()))
    twice = {run for run in count if count[run] > 1}
    for case in validation.cases():
        row = rows[case.name]
        run = run_of(row)
        assert (
            case.why_not.startswith("on GB200") == (row["system"] == "gb200") == (case.devices > 8)
        )
        assert case.why_not.startswith("a run that is listed twice") == (run in seen)
        assert (
            row["chips"] == case.devices or run in seen or run not in twice
        )  # the right one of two is kept
        seen.add(run)
        assert (case.sharing == "attention apart") == (row["attention_dp"] != 1)
        assert (case.sharing == "experts whole") == (row["attention_dp"] == 1 != row["moe_ep"])
    # No layer is shared by all of them: 12, 28 or 36 chips do not divide the heads.
    heads = shapes.shape("DeepSeek-V3").heads
    apart = [case.devices for case in validation.cases() if case.why_not.startswith("on GB200")]
    assert sum(heads % devices > 0 for devices in apart) > 0.9 * len(apart)


def test_chips_are_those_of_the_twin():
    """Runs that are listed twice agree on their chips.

    This is so once the product of two names of the same chips is undone.
    """
    runs = {}
    for row in load("measured_silicon"):
        key = tuple(
            row[name]
            for name in (
                "model",
                "system",
                "isl_tokens",
                "osl_tokens",
                "concurrency",
                "tpot_ms",
                "ttft_ms",
            )
        )
        runs.setdefault(key, []).append(row)
    twins = [pair for pair in runs.values() if len(pair) > 1]
    assert len(twins) > 30 and {len(pair) for pair in twins} == {2}
    for pair in twins:
        small, large = sorted(row["chips"] for row in pair)
        assert small < large and {validation._chips(row) for row in pair} == {small}
    for case in validation.cases():
        assert f"_tp{case.devices}_" in case.name or case.model == "MiniMax-M2.5"


# Concurrencies of the published search spaces with guessed tokens (InferenceX, nvidia-master.yaml,
# entries dsr1-fp8-h200-trt-mtp and dsr1-fp8-b200-trt-mtp), by lengths: attention shared, attention
# apart.
SPACES = {
    ("H200 SXM", "2026-01-14"): {
        (1024, 1024): ((4, 64), (128, 256)),
        (1024, 8192): ((4, 128), (256, 256)),
        (8192, 1024): ((4, 32), (64, 256)),
    },
    ("B200 SXM", "2026-02-05"): {
        (1024, 1024): ((4, 128), (256, 256)),
        (1024, 8192): ((4, 64), (128, 256)),
        (8192, 1024): ((4, 256), ()),
    },
}


@pytest.mark.parametrize("chip, day", SPACES)
def test_runs_that_guess_are_those_of_the_published_configuration(chip, day):
    rows = {row.name: row for row in load("measured_silicon")}
    ran = {
        (
            row["isl_tokens"],
            row["osl_tokens"],
            case.sharing == "attention apart",
            case.batch,
        ): case.known["drafts"]
        for case in fitted("DeepSeek-V3", chip)
        if (row := rows[case.name])["measured_date"] == day and case.precision == "fp8"
    }
    wanted = {}
    for (prompt, answer), spans in SPACES[chip, day].items():
        for apart, span in enumerate(spans):
            wanted |= {
                (prompt, answer, bool(apart), 2**i): 1 if apart else 3
                for i in range(2, 9)
                if span and span[0] <= 2**i <= span[1]
            }
    assert ran == wanted


def test_a_case_is_its_row():
    (case,) = (
        case
        for case in fitted("Llama 3.1 70B", "B200 SXM")
        if "_fp4_agg_1024x8192_c16_tp2" in case.name
    )
    assert (case.devices, case.batch) == (2, 16)
    known = case.known
    # 1,024 tokens of prompt, 8,192 of answer: the mean over the answer, token by token.
    assert known["context"] == pytest.approx(statistics.fmean(range(1024, 1024 + 8192)), rel=1e-4)
    assert (
        known["prompt_per_answer"] == 1024 / 8192 and known["batch"] == 16 and known["drafts"] == 0
    )
    assert case.sharing == "sliced"
    assert case.measured == pytest.approx(10.035e-3)
    # "Published in MXFP4, 4.25 bits each"; a chip without arithmetic in four bits does it in
    # sixteen.
    assert 8 * known["bytes_per_parameter"] == 4.25 and known["peak_flops"] == 9e15
    older = next(
        case for case in validation.cases() if case.chip == "H200 SXM" and case.precision == "fp4"
    )
    assert 8 * older.known["bytes_per_parameter"] == 4.25 and older.known["peak_flops"] == 989e12


def test_each_row_is_predicted_by_a_fit_that_has_not_seen_it(monkeypatch):
    asked = []

    def told_apart(rows):
        asked.append({case.name for case in rows})
        return OFF | {"layer_overhead": 1e-6 * len(asked)}

    monkeypatch.setattr(validation, "_fit", told_apart)
    monkeypatch.setattr(validation, "terms", validation.terms.__wrapped__)
    for fit in validation.fits.__wrapped__():
        cases = fitted(fit.model, fit.chip)
        mine = [
            (names, number)
            for number, names in enumerate(asked, 1)
            if names <= {case.name for case in cases}
        ]
        *parts, (all_rows, last) = mine
        assert len(parts) == 5 and len(all_rows) == fit.rows == len(cases)
        assert fit.terms["layer_overhead"] == 1e-6 * last
        assert all(len(names) == pytest.approx(0.8 * len(cases), abs=1) for names, _ in parts)
        ratios = []
        for case in cases:
            (unseen,) = (number for names, number in parts if case.name not in names)
            ratios.append(case.measured / case.predicted(OFF | {"layer_overhead": 1e-6 * unseen}))
        assert [fit.low, fit.high] == pytest.approx(np.quantile(ratios, [0.05, 0.95]))
        over = sorted(case.over_floor for case in cases)
        outside = (
            sum(ratio < fit.floor_low for ratio in over),
            sum(ratio > fit.floor_high for ratio in over),
        )
        assert outside == pytest.approx([len(cases) / 20] * 2, abs=1)


def test_no_server_beats_the_floor():
    assert min(case.over_floor for case in validation.cases()) > 1


@pytest.mark.parametrize("devices", [1, 8])
def test_terms_can_be_switched_off(devices):
    known = validation.cases()[0].known | {"devices": devices} | OFF
    served, floor = serving.served_step_time(known), latency.step_time_mixed(known)
    assert served - floor == pytest.approx(serving.tensor_parallel_time(known), abs=1e-15)
    assert (serving.tensor_parallel_time(known) == 0) == (devices == 1)


def test_attention_apart_can_be_switched_off():
    case = next(
        case
        for case in validation.cases()
        if case.sharing == "attention apart" and not case.known["drafts"]
    )
    alone = case.known | OFF | {"devices": 1}
    floor = latency.step_time_mixed(alone)
    assert serving.served_step_time_apart(alone) == pytest.approx(floor, rel=1e-12)
    assert replace(case, known=alone).predicted(OFF) == pytest.approx(floor, rel=1e-12)


def test_attention_apart_by_hand():
    """The figures are for DeepSeek-V3 on 8 H200.

    Every chip reads all but the experts, and sends 7 of 8 copies to another chip.
    """
    case = next(
        case
        for case in fitted("DeepSeek-V3", "H200 SXM")
        if case.sharing == "attention apart" and not case.known["drafts"]
    )
    n, known, s = 8, case.known, shapes.shape("DeepSeek-V3")
    parts = shapes.breakdown(s)
    outside = sum(parts.values()) - parts["routed experts"]
    assert serving.copied_weight_time(known) == pytest.approx((outside - outside / n) / 4.8e12)
    tokens = case.batch / n * (1 + known["prompt_per_answer"])
    traffic = 58 * tokens * 8 * 7 / 8 * 7168 * (1 + 2) / 450e9
    floor = latency.step_time_mixed(known)
    assert case.predicted(OFF) == pytest.approx(floor + (outside - outside / n) / 4.8e12 + traffic)
    shared = replace(case, sharing="sliced").predicted(OFF) - floor
    # All activations out and back twice a layer, against 8 copies of an eighth of them: the
    # all-to-all carries less.
    assert traffic / shared == pytest.approx((58 * 3) / (61 * 2 * 2 * 2))


@given(st.floats(0, 0.99), st.integers(0, 7))
def test_kept_share_is_the_mean_over_all_outcomes(chance, guesses):
    tokens = 0.0
    for kept in itertools.product((True, False), repeat=guesses):
        likely = np.prod([chance if one else 1 - chance for one in kept])
        tokens += likely * (
            1 + sum(itertools.takewhile(bool, kept))
        )  # and one more, of the model itself
    assert serving.kept_share(acceptance=chance, drafts=guesses) * (guesses + 1) == pytest.approx(
        tokens
    )


def test_kept_tokens_are_the_published_ones():
    """Keeping second tokens in 85 to 90 % of cases gives 1.8 times as many tokens a second.

    The source is DeepSeek-V3's report, 5.4.3.
    """
    low, high = (2 * serving.kept_share(acceptance=chance, drafts=1) for chance in (0.85, 0.9))
    assert 1.8 < low < high <= 1.9


def test_a_guessing_server_works_on_guesses_and_answers_with_what_is_kept():
    case = next(case for case in fitted("DeepSeek-V3", "H200 SXM") if case.known["drafts"] == 3)
    known = case.known | {"new_tokens_per_sequence": 4}
    terms = OFF | {"network_efficiency": 0.5, "acceptance": 0.5}
    kept = 1 + 1 / 2 + 1 / 4 + 1 / 8
    answers = known | {"prompt_per_answer": 0}
    prompts = case.known["prompt_per_answer"] * kept  # of each sequence in each step
    step = (
        latency.memory_time(known)
        + latency.compute_time(case.known) * (4 + prompts)
        + 2 * serving.tensor_parallel_time(answers) * (4 + prompts) / 4
    )
    assert case.predicted(terms) == pytest.approx(step / kept)
    assert replace(case, known=case.known | {"drafts": 0}).predicted(terms) == pytest.approx(
        serving.served_step_time(case.known | terms)
    )


def test_the_numbers_explain_servers_that_they_have_not_seen():
    """Cross-validated: the floor alone is off by up to fifteen times, a fit by a third at most."""
    for fit in validation.fits():
        assert 0.8 < fit.low < 1 < fit.high < 1.31
        assert fit.high / fit.low < fit.floor_high / fit.floor_low
        assert (fit.terms["acceptance"] > 0) == (fit.model == "DeepSeek-V3")
        for _, low, high in fit.by_sharing.values():
            assert 0.75 < low < 1.01 and 1 < high < 1.36
        if fit.model == "Llama 3.1 70B":
            assert 0.85 < fit.low < 1 < fit.high < 1.25
            assert fit.terms["memory_efficiency"] > 0.95  # reads reach nearly the whole bandwidth
            assert 30e-6 < fit.terms["layer_overhead"] < 100e-6  # some tens of microseconds a layer


def test_two_chips_agree_on_what_the_model_guesses():
    """The chance that a guess is kept belongs to the model and its prompts.

    Fits to B200 and to H200 know nothing of it.
    """
    b200, h200 = (
        fit.terms["acceptance"] for fit in validation.fits() if fit.model == "DeepSeek-V3"
    )
    assert b200 == pytest.approx(h200, abs=0.1) and 0.5 < b200 < 0.9


def test_each_term_is_worth_what_is_said():
    """The mean errors on unseen rows are those that the text gives.

    They are of guesses on both chips, and of attention apart on B200 and not on H200.
    """
    rows = {chip: fitted("DeepSeek-V3", chip) for chip in ("B200 SXM", "H200 SXM")}
    whole = {chip: mean_error(cases) for chip, cases in rows.items()}
    unguessed = {
        chip: mean_error([replace(case, known=case.known | {"drafts": 0}) for case in cases])
        for chip, cases in rows.items()
    }
    shared = {
        chip: mean_error([replace(case, sharing="sliced") for case in cases])
        for chip, cases in rows.items()
    }
    assert [whole["B200 SXM"], unguessed["B200 SXM"], shared["B200 SXM"]] == pytest.approx(
        [0.12, 0.19, 0.15], abs=0.01
    )
    assert [whole["H200 SXM"], unguessed["H200 SXM"]] == pytest.approx([0.06, 0.21], abs=0.01)
    assert shared["H200 SXM"] == pytest.approx(whole["H200 SXM"], abs=0.01)


@pytest.mark.parametrize(
    "model, chip, truth",
    [
        ("Llama 3.1 70B", "B200 SXM", {"acceptance": 0.0}),
        ("DeepSeek-V3", "B200 SXM", {"acceptance": 0.7}),
        (
            "Llama 3.1 70B",
            "H200 SXM",
            {"acceptance": 0.0, "compute_efficiency": 0.99, "network_efficiency": 0.99},
        ),
    ],
)
def test_the_fit_finds_what_it_was_given(model, chip, truth):
    """Rows made up from known numbers give those numbers back."""
    truth = (
        dict(
            memory_efficiency=0.9,
            compute_efficiency=0.5,
            network_efficiency=0.4,
            layer_overhead=40e-6,
        )
        | truth
    )
    made = [replace(case, measured=case.predicted(truth)) for case in fitted(model, chip)]
    close = (
        1e-6 if truth["acceptance"] == 0 else 0.02
    )  # the search for the acceptance ends a little before
    assert {
        name: pytest.approx(value, rel=close) for name, value in truth.items()
    } == validation._fit(made)


def test_few_rows_are_no_fit(monkeypatch):
    few = min(validation.fits(), key=lambda fit: fit.rows)
    monkeypatch.setattr(validation, "FEWEST", few.rows + 1)
    left = validation.fits.__wrapped__()
    assert len(left) == len(validation.fits()) - 1 and few not in left
    assert validation.count_unfitted()["too few rows of this model on this chip"] == few.rows


def test_a_model_without_a_shape_is_named(monkeypatch):
    monkeypatch.setattr(validation, "_MODELS", {"Llama-3.1-70B": "Llama 3.1 70B"})
    monkeypatch.setattr(validation, "cases", validation.cases.__wrapped__)
    monkeypatch.setattr(validation, "fitted_pairs", lambda: ())
    assert validation.count_unfitted()["the shape of MiniMax-M2.5 is not among the facts"] == 33


def test_ring_all_reduce_moves_what_the_algorithm_moves():
    """Counted step by step: n − 1 passes to add up, n − 1 to hand out, each of 1/n of the data."""
    n, data = (
        8,
        (1000 + 3 * 1000) * 8192 * 2,
    )  # of each sequence one token of an answer and three of a prompt
    sent = sum(data / n for _ in range(2 * (n - 1)))
    known = dict(
        devices=n, prompt_per_answer=3, batch=1000, d_model=8192, layers=1, scale_up_bandwidth=450e9
    )
    assert serving.tensor_parallel_time(known) == pytest.approx(2 * sent / 450e9)


def test_bad_input():
    with pytest.raises(QuantityError, match=r"network_efficiency .*1"):
        serving.served_step_time(validation.cases()[0].known | OFF | {"network_efficiency": 1.5})


# Where a fit ends ---------------------------------------------------------------------------------


def test_a_fit_reaches_as_far_as_its_rows():
    for model, chip in validation.fitted_pairs():
        ends, rows = validation.fitted_range(model, chip), fitted(model, chip)
        for name in ("devices", "batch", "context", "prompt_per_answer"):
            assert ends[name] == (
                min(case.known[name] for case in rows),
                max(case.known[name] for case in rows),
            )
        for case in rows:
            assert (
                validation.describe_extrapolation(
                    model, chip, **{name: case.known[name] for name in ends}
                )
                == ""
            )


def test_a_prediction_is_that_of_the_fit():
    case = next(
        case
        for case in fitted("DeepSeek-V3", "B200 SXM")
        if not case.known["drafts"] and case.precision == "fp4" and case.sharing == "sliced"
    )
    asked = {
        name: case.known[name] for name in ("devices", "batch", "context", "prompt_per_answer")
    }
    found = validation.predict("DeepSeek-V3", "B200 SXM", "fp4", **asked)
    assert found == pytest.approx(case.predicted(validation.terms("DeepSeek-V3", "B200 SXM")))


AT = {"devices": 8, "batch": 64, "context": 1536, "prompt_per_answer": 1}


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"devices": 16}, "holds for 4 to 8 chips; got 16."),
        (
            {"devices": 64, "batch": 2048},
            "holds for 4 to 8 chips and 4 to 256 sequences; got 64 and 2,048.",
        ),
        ({"context": 32768}, "holds for 1,536 to 8,704 tokens of context; got 32,768."),
        (
            {"prompt_per_answer": 0},
            "holds for 0.125 to 8 prompt tokens for each answer token; got 0.",
        ),
        ({"batch": 1}, "holds for 4 to 256 sequences; got 1."),
        (
            {"sharing": "whole"},
            "share the work like this: attention apart, experts whole, sliced; got whole.",
        ),
    ],
)
def test_beyond_its_rows_a_fit_declines_in_one_sentence(change, sentence):
    assert validation.predict("DeepSeek-V3", "B200 SXM", "fp8", **AT) > 0
    with pytest.raises(validation.OutsideFit) as caught:
        validation.predict("DeepSeek-V3", "B200 SXM", "fp8", **AT | change)
    said = str(caught.value)
    assert said.startswith("The fit of DeepSeek-V3 on B200 SXM holds for") and said.endswith(
        sentence
    )


def test_without_a_fit_it_says_which_there_are():
    said = "There is no fit of DeepSeek-V3 on MI300X; there are fits of DeepSeek-V3 on B200 SXM, "
    with pytest.raises(validation.OutsideFit, match=said):
        validation.predict("DeepSeek-V3", "MI300X", "fp8", **AT)


def test_larger_groups_are_slower_than_a_fit_would_say():
    """Runs on 16 and 32 chips, which no fit has seen, take up to nearly twice as long.

    This is why the model declines to answer for such groups.
    """
    found = validation.larger_machine_ratios()
    ratios = [ratio for _, ratio in found]
    assert Counter(devices for devices, _ in found) == {16: 11, 32: 40}
    assert min(ratios) > 0.95 and 1.7 < max(ratios) < 1.9
    assert (
        sum(ratio > 1 for ratio in ratios) > 0.95 * len(ratios) and statistics.median(ratios) > 1.15
    )
    for row in load("measured_runs"):
        if row["shape"] == "DeepSeek-V3" and row["chips"] > 8:
            assert validation.describe_extrapolation(
                "DeepSeek-V3", "B200 SXM", devices=row["chips"]
            )


def test_requests_of_a_run_share_its_copies_and_its_time():
    """Worked by hand: an answer takes 250 × 10 ms after 500 ms for its prompt."""
    row = {"chip": "H100 SXM", "shape": "Llama 3.1 70B", "precision": "fp8", "chips": 8}
    row |= {"isl_tokens": 1000, "osl_tokens": 250, "tpot_ms": 10, "ttft_ms": 500}
    row |= {"copies": 2, "prompts_apart": False}
    known = validation.run_values(row | {"concurrency": 8})
    assert known["batch"] == pytest.approx(4 * 2500 / 3000)
    assert known["context"] == 1125 and known["prompt_per_answer"] == 4
    assert validation.run_values(row | {"concurrency": 2})["prompt_per_answer"] == 4
    assert validation.run_values(row | {"concurrency": 1})["prompt_per_answer"] == 0
    apart = row | {"concurrency": 8, "prompts_apart": True}
    assert validation.run_values(apart)["prompt_per_answer"] == 0
    whole = row | {"concurrency": 8, "ttft_ms": None}
    assert validation.run_values(whole)["batch"] == 4
