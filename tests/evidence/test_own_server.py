"""Tests of a server's own measurements against the floor: what is fitted, and what follows.

Public runs are left out one at a time and predicted from the others; made-up servers give back
the numbers that they were made with.
"""

import math
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import facts, latency, scenario
from handful_evidence import own_server, validation
from handful_evidence.result_files import Run

HERE = {
    "hardware": "H100 SXM",
    "model": "Llama 3.1 70B",
    "precision": "fp8",
    "devices": 8,
}


def run(name="run", concurrency=8.0, prompt=1000, answer=500, step=0.02, first=0.1, **more):
    rates = {"output_throughput": None, "request_throughput": None} | more
    return Run(name, "CSV", concurrency, prompt, answer, step, first, **rates)


def served(known, reading, computing, fixed):
    """Return the step of a server that reads and computes at such shares of its peaks, by hand."""
    chips = known["devices"]
    read = known["total_parameters"] * known["bytes_per_parameter"]
    read += known["batch"] * known["context"] * known["kv_bytes_per_token"]
    work = 2 * known["active_parameters"] * known["batch"] * (1 + known["prompt_per_answer"])
    return (
        read / (chips * known["memory_bandwidth"] * reading)
        + work / (chips * known["peak_flops"] * computing)
        + fixed
    )


def measured(reading, computing, fixed, noise=0.0, seed=0, batches=(1, 2, 4, 8, 16, 32, 64, 128)):
    draw = np.random.default_rng(seed)
    runs = [run(f"{b}x{p}", b, p, 500, 0.02, 0.0) for b in batches for p in (500, 2000)]
    return [
        replace(
            one,
            measured=served(one.known, reading, computing, fixed)
            * math.exp(noise * draw.standard_normal()),
        )
        for one in own_server.points(runs, **HERE)
    ]


# Points


def test_a_point_is_the_load_that_littles_law_gives():
    """Requests at 2 a second, each decoding for 499 steps of 20 ms: 19.96 at a time."""
    one, other = own_server.points(
        [
            run(concurrency=30, request_throughput=2.0),
            run(concurrency=30, output_throughput=1000.0),
        ],
        **HERE,
    )
    assert one.known["batch"] == other.known["batch"] == pytest.approx(2.0 * 499 * 0.02)
    assert one.known["context"] == 1000 + 250 and one.known["prompt_per_answer"] == 2
    [third] = own_server.points([run(concurrency=8, first=2.0)], **HERE)
    decoding = 499 * 0.02
    assert third.known["batch"] == pytest.approx(8 * decoding / (decoding + 2.0))


def test_the_floor_is_the_slower_of_reading_and_arithmetic():
    for one in own_server.points([run(concurrency=b) for b in (1, 8, 64, 512)], **HERE):
        reading = served(one.known, 1, math.inf, 0)
        computing = served(one.known, math.inf, 1, 0)
        assert one.floor == pytest.approx(max(reading, computing))
        assert one.binds == ("reading" if reading > computing else "arithmetic")
        assert one.bandwidth_utilisation == pytest.approx(reading / 0.02)
        assert one.flops_utilisation == pytest.approx(computing / 0.02)
    assert one.binds == "arithmetic"


def test_a_request_alone_and_a_server_without_prompts_compute_no_prompt():
    [alone] = own_server.points([run(concurrency=1)], **HERE)
    [apart] = own_server.points([run()], prompts_apart=True, **HERE)
    assert alone.known["prompt_per_answer"] == apart.known["prompt_per_answer"] == 0


@pytest.mark.parametrize(
    "one, why",
    [
        (run(step=None), "no time per output token"),
        (run(answer=None), "no length of answers"),
        (run(concurrency=None), "no throughput and no requests in flight"),
        (run(step=0.001), "below its floor"),
        (run(concurrency=8, request_throughput=9.0), "more than the 8 in flight"),
    ],
)
def test_a_point_that_cannot_be_says_why(one, why):
    [found] = own_server.points([one], **HERE)
    assert why in found.why_not


def test_a_chip_or_a_model_that_nobody_named_is_asked_for():
    with pytest.raises(own_server.ServerError) as error:
        own_server.points([run()])
    assert str(error.value) == (
        "run does not say its hardware, its model and how many chips it ran on; give --hardware, "
        "--model and --devices."
    )
    with pytest.raises(own_server.ServerError, match="does not say how many chips it ran on; give"):
        own_server.points([run()], "H100 SXM", "Llama 3.1 70B")
    [found] = own_server.points([replace(run(), hardware="h100", model="Llama 3.1 70B", devices=4)])
    assert found.known["devices"] == 4


# The fit


@settings(max_examples=25, deadline=None)
@given(reading=st.floats(0.3, 1), computing=st.floats(0.15, 1), fixed=st.floats(0, 0.02))
def test_a_server_gives_back_what_it_was_made_with(reading, computing, fixed):
    found = own_server.fit(measured(reading, computing, fixed))
    assert found.values["memory_efficiency"] == pytest.approx(reading, rel=0.02)
    assert found.values["compute_efficiency"] == pytest.approx(computing, rel=0.02)
    assert found.values["fixed_time"] == pytest.approx(fixed, abs=2e-4)


def test_intervals_hold_the_truth_nine_times_in_ten():
    truth = {"memory_efficiency": 0.7, "compute_efficiency": 0.4, "fixed_time": 0.004}
    held, predicted = dict.fromkeys(truth, 0), 0
    for seed in range(60):
        some = measured(*truth.values(), noise=0.05, seed=seed)
        found = own_server.fit(some[::2] + some[1:4])
        for name, value in truth.items():
            low, high = found.intervals[name]
            held[name] += low <= value <= high
        new = measured(*truth.values(), noise=0.05, seed=1000 + seed)[9]
        low, high = found.interval(new.known)
        predicted += low <= new.measured <= high
    assert all(count >= 40 for count in held.values()), held  # of 60; few points, so some are short
    assert predicted >= 48


def test_the_same_points_give_the_same_fit():
    some = measured(0.7, 0.4, 0.004, noise=0.05)
    assert own_server.fit(some).intervals == own_server.fit(some).intervals


def test_points_that_do_not_tell_are_said_not_to():
    few = measured(0.7, 0.4, 0.004, batches=(64, 80))
    said = " ".join(own_server.fit(few).warnings)
    assert "much the same batch" in said and "more would narrow it" in said
    one_context = [one for one in measured(0.7, 0.4, 0.004) if one.known["context"] < 1000]
    assert "much the same context" in " ".join(own_server.fit(one_context).warnings)
    many = measured(0.7, 0.4, 0.004, noise=0.001)
    assert not own_server.fit(many).warnings
    with pytest.raises(
        own_server.ServerError, match="needs 4 points that can be used; there are 3"
    ):
        own_server.fit(many[:3])


BELOW = {}  # public runs below their floor, by name, with the cause: none so far


@cache
def by_server(table):
    """Return every server of a table of public runs, with its points; a copy is a server."""
    found = defaultdict(list)
    if table == "measured_runs":
        for row in facts.load(table):
            same = ("chip", "shape", "precision", "chips", "engine", "prompts_apart")
            one = run(
                row.name,
                row["concurrency"] / row["copies"],
                row["isl_tokens"],
                row["osl_tokens"],
                row["tpot_ms"] / 1e3,
                row["ttft_ms"] and row["ttft_ms"] / 1e3,
                devices=row["chips"],
            )
            here = (row["chip"], row["shape"], row["precision"])
            one = replace(one, tool="InferenceX")  # caches as narrow as the precision's
            [point] = own_server.points([one], *here, prompts_apart=row["prompts_apart"])
            found[tuple(row[name] for name in (*same, "attention_apart"))].append(point)
        return found
    rows = {row.name: row for row in facts.load(table)}
    for case in validation.cases():
        if case.why_not:
            continue
        row = rows[case.name]
        guesses = case.known["drafts"]
        one = run(
            row.name,
            row["concurrency"],
            row["isl_tokens"],
            row["osl_tokens"],
            case.measured,
            row["ttft_ms"] / 1e3,
            devices=case.devices,
            notes=("speculative decoding",) if guesses else (),
        )
        one = replace(one, tool="InferenceX")
        weights = {"bytes_per_parameter": case.known["bytes_per_parameter"]}
        wide = case.precision == "fp4" and "H200" in case.chip  # which computes in 16 bits
        form = "bf16" if wide else case.precision
        [point] = own_server.points([one], case.chip, case.model, form, **weights)
        same = (case.model, case.chip, case.precision, case.devices, case.sharing)
        found[*same, row["backend"], row["measured_date"], guesses].append(point)
    return found


TABLES = ("measured_runs", "measured_silicon")


def test_every_public_run_lies_above_its_floor_or_is_explained_by_name():
    seen = [one for table in TABLES for some in by_server(table).values() for one in some]
    below = {one.run.source for one in seen if one.why_not == own_server.BELOW}
    assert below == set(BELOW)
    others = Counter(one.why_not for one in seen if one.why_not and one.run.source not in below)
    assert set(others) == {own_server.GUESSED}
    assert len(seen) > 1200 and others.total() < 100


@pytest.mark.parametrize("table, servers, points", [(TABLES[0], 21, 491), (TABLES[1], 30, 452)])
def test_public_runs_lie_within_what_the_others_of_their_server_predict(table, servers, points):
    """Of servers that were measured under eight loads or more; every other run, for time."""
    inside, errors = 0, []
    found = [[one for one in some if not one.why_not] for some in by_server(table).values()]
    enough = [made for made in found if len(made) >= 8]
    for made in enough:
        for i, one in list(enumerate(made))[::2]:
            others = own_server.fit(made[:i] + made[i + 1 :])
            low, high = others.interval(one.known)
            inside += low <= one.measured <= high
            errors.append(abs(math.log(one.measured / others.predicted(one.known))))
    assert (len(enough), sum(map(len, enough))) == (servers, points)
    assert 0.85 <= inside / len(errors) <= 0.95  # intervals of 90 %
    assert np.median(errors) < 0.04


# What follows


def test_at_the_knee_a_server_gives_half_of_what_it_ever_could():
    made = measured(0.7, 0.4, 0.004)
    found, known = own_server.fit(made), made[4].known
    at = own_server.knee(found, known)
    rate = at / found.predicted({**known, "batch": at})
    most = 1e9 / found.predicted({**known, "batch": 1e9})
    assert rate == pytest.approx(most / 2, rel=1e-3)


def test_the_largest_batch_keeps_the_promise_and_one_more_breaks_it():
    made = measured(0.7, 0.4, 0.004)
    found, known = own_server.fit(made), made[4].known
    batch = own_server.largest_batch(found, known, 0.02)
    assert found.predicted({**known, "batch": batch}) <= 0.02
    assert found.predicted({**known, "batch": batch + 1}) > 0.02
    assert own_server.largest_batch(found, known, 0.001) == 0
    assert own_server.largest_batch(found, known, 100) == scenario.room(known)


def test_experts_are_no_straight_line():
    """A mixture reads more experts with every sequence, until it has read them all."""
    here = {**HERE, "model": "MiniMax-M2.5"}
    runs = [run(f"{b}x{p}", b, p, 500, 0.5, 0.0) for b in (1, 4, 16, 64) for p in (500, 2000)]
    made = own_server.points(runs, **here)
    made = [
        replace(one, measured=one.memory_time / 0.7 + one.compute_time / 0.4 + 0.004)
        for one in made
    ]
    found, known = own_server.fit(made), made[0].known
    for step in (0.012, 0.02, 0.03):
        batch = own_server.largest_batch(found, known, step)
        assert found.predicted({**known, "batch": batch}) <= step
        assert found.predicted({**known, "batch": batch + 1}) > step
        now = own_server.best_at(found, known, step)
        assert now.batch / now.throughput == pytest.approx(step, rel=0.03)
    at = own_server.knee(found, known)
    most = 1e9 / found.predicted({**known, "batch": 1e9})
    assert at / found.predicted({**known, "batch": at}) == pytest.approx(most / 2, rel=1e-2)


def test_a_point_that_the_fit_misses_is_named():
    some = measured(0.7, 0.4, 0.004)
    some[5] = replace(some[5], measured=1.5 * some[5].measured)
    [said] = [one for one in own_server.fit(some).warnings if "far from the fit" in one]
    assert "1 point of 16 lies far from the fit" in said and some[5].run.source in said
    assert "slower" in said and "Do not carry" in said


def test_guessed_tokens_are_no_steps():
    guessed = replace(run(), notes=("speculative decoding: a step gives 2.6 tokens on average",))
    [found] = own_server.points([guessed], **HERE)
    assert found.why_not == own_server.GUESSED


def test_changes_are_what_the_equations_say_of_the_changed_server():
    made = measured(0.7, 0.4, 0.004)
    found = own_server.fit(made)
    known = {**made[4].known, "device_price": 2.5 / 3600}
    now, more = (
        own_server.best_at(found, known, 0.02),
        own_server.changes(found, known, 0.02, most=9),
    )
    assert [one.gain for one in more] == sorted((one.gain for one in more), reverse=True)
    assert now.cost == pytest.approx(8 * 2.5 / 3600 / now.throughput)
    apart = next(one for one in more if one.name.startswith("prompts on chips"))
    step = served({**known, "batch": apart.batch, "prompt_per_answer": 0}, 0.7, 0.4, 0.004)
    assert step <= 0.0201 and apart.throughput == pytest.approx(apart.batch / step, rel=0.01)
    # The prompts' chips: those that their arithmetic fills, at the same 40 %.
    work = 2 * known["active_parameters"] * known["prompt_per_answer"] * apart.throughput
    chips = 8 + work / (0.4 * known["peak_flops"])
    assert apart.devices == pytest.approx(chips, rel=0.01)
    assert apart.each == pytest.approx(apart.throughput / apart.devices)
    assert apart.cost == pytest.approx(2.5 / 3600 / apart.each)
    assert apart.gain == pytest.approx(apart.each / now.each)
    fixed = next(one for one in more if one.name.startswith("half the fixed"))
    assert served({**known, "batch": fixed.batch}, 0.7, 0.4, 0.002) <= 0.0201
    assert fixed.each == pytest.approx(fixed.throughput / 8)
    assert all(one.assumes for one in more)
    assert all(one.gain_interval[0] <= 1.02 * one.gain for one in more)
    assert all(0.98 * one.gain <= one.gain_interval[1] for one in more)
    reached = own_server.changes(found, known, 0.02, reach=12)
    assert all(one.batch <= 12 for one in reached)
    heavy = {**known, "total_parameters": 1e13}
    assert own_server.best_at(found, heavy, 0.02).throughput == 0


def test_ten_thousand_points_are_as_ten():
    """The same numbers, whether points are made one by one or all at once."""
    runs = [run(f"{i}", 1 + i % 200, 200 + i % 3000, 300, 0.1) for i in range(10_000)]
    made = own_server.points(runs, **HERE)
    assert len(made) == 10_000
    for i in (0, 77, 9_999):
        [alone] = own_server.points([runs[i]], **HERE)
        assert alone.floor == pytest.approx(made[i].floor) and alone.known == made[i].known
        assert alone.memory_time == pytest.approx(latency.memory_time(alone.known))
    assert own_server.fit(made).count == 10_000


def test_a_run_of_a_model_that_nobody_knows_leaves_the_others():
    runs = [replace(run("known"), model="Llama 3.1 70B"), replace(run("other"), model="Nobody 3B")]
    here = {"hardware": "H100 SXM", "precision": "fp8", "devices": 8}
    known, other = own_server.points(runs, **here)
    assert known.why_not == "" and "There is no model 'Nobody 3B'" in other.why_not
    with pytest.raises(scenario.ScenarioError, match="There is no model 'Nobody 3B'"):
        own_server.points(runs[1:], **here)


def test_at_another_context_prompts_fill_it():
    """500 tokens of answer: at 5,250 of context the prompt has 5,000."""
    known = {"context": 1250.0, "prompt_per_answer": 2.0, "batch": 8}
    assert own_server.at_context(known, 5250)["prompt_per_answer"] == pytest.approx(10)
    assert own_server.at_context({**known, "prompt_per_answer": 0}, 5250)["prompt_per_answer"] == 0


def test_a_server_whose_requests_wait_is_told():
    few, many = (run(f"{c}", c, 1000, 500, 0.02, first) for c, first in ((8, 0.1), (128, 12.0)))
    assert own_server.held_back(own_server.points([few], **HERE)) == ""
    told = own_server.held_back(own_server.points([few, many], **HERE))
    assert told.startswith("Of 128 requests in flight 58 decoded at a time (128);")


def test_points_at_such_contexts_tell_how_far_the_fit_is_off():
    made = measured(0.7, 0.4, 0.004)
    fitted = own_server.fit(made)
    assert own_server.missed_near(made, fitted, 700) == pytest.approx(1, abs=0.01)
    slow = [replace(one, measured=1.5 * one.measured) for one in made]
    assert own_server.missed_near(slow, fitted, 700) == pytest.approx(1.5, abs=0.02)
    assert own_server.missed_near(made, fitted, 1e6) is None


@pytest.mark.parametrize(
    "tool, cache", [("vllm bench serve", "bf16"), ("GuideLLM", "bf16"), ("InferenceX", "fp8")]
)
def test_engines_keep_caches_in_bf16_unless_a_recipe_says_otherwise(tool, cache):
    [ours] = own_server.points([replace(run(), tool=tool)], **HERE)
    [told] = own_server.points([replace(run(), tool=tool)], **HERE, cache=cache)
    assert ours.known == told.known and own_server.server_of(ours.run, **HERE).cache == cache


@pytest.mark.parametrize(
    "named, in_file, precision, weights, says",
    [
        (None, "RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8-dynamic", "fp8", "fp8", "name"),
        ("Llama 3.1 70B", "nvidia/Llama-3.3-70B-Instruct-FP8", "fp8", "fp8", "name"),
        ("Llama 3.1 70B", "a name of ours", "bf16", "bf16", "published"),
        ("gpt-oss-120b", "", "bf16", "fp4", "published"),
        (None, "Qwen/Qwen2.5-72B-Instruct-AWQ", "bf16", "int4", "name"),
    ],
)
def test_a_models_name_says_its_precision(named, in_file, precision, weights, says):
    one = replace(run(), model=in_file)
    here = {"hardware": "H100 SXM", "model": named, "devices": 8}
    found = own_server.server_of(one, **here)
    assert (found.precision, found.weights, found.says) == (precision, weights, says)
    [point] = own_server.points([one], **here)
    assert point.known["bytes_per_parameter"] == scenario.WIDTHS[weights]
    chip = scenario.choose("hardware", "H100 SXM")
    assert point.known["peak_flops"] == chip["peak_flops"][precision]
    told = own_server.server_of(one, **here, precision="fp8")
    assert (told.precision, told.weights, told.says) == ("fp8", "fp8", "given")


def test_prompts_on_chips_of_their_own_gain_no_more_than_the_rest_of_a_step():
    """What the prompts took is paid elsewhere: only weights and fixed time are saved."""
    made = measured(0.7, 0.4, 0.0)
    found, known = own_server.fit(made), made[8].known
    long = {**known, "prompt_per_answer": 40.0, "total_parameters": 1.0, "routed_parameters": 0}
    more = own_server.changes(found, long, 0.05, most=9)
    assert own_server.best_at(found, long, 0.05).batch > 1
    assert not any(one.name.startswith("prompts on chips") for one in more)


def test_a_fit_at_its_edge_is_said_to_settle_nothing():
    """No fixed time, or full efficiency: no server has them, and points do not determine them."""
    edge = own_server.fit(measured(0.7, 0.4, 0.0, noise=0.03))
    assert edge.intervals["fixed_time"][0] == 0
    assert "The fixed time lies anywhere between 0, which no server" in " ".join(edge.warnings)
    full = own_server.fit(measured(1.3, 0.4, 0.004))
    assert "reading comes out at its limit" in " ".join(full.warnings)
    both = own_server.fit(measured(2.0, 2.0, 0.004))
    [said] = [one for one in both.warnings if "more chips" in one]
    assert "than the 8 stated" in said


def test_a_fit_lies_within_its_intervals():
    """Even where few points tell little, and the least squares lie at an edge."""
    for seed in range(10):
        found = own_server.fit(measured(0.75, 0.6, 0.008, 0.05, seed, batches=(1, 8, 64))[1:])
        for name, (low, high) in found.intervals.items():
            assert low <= found.values[name] <= high


def test_the_parts_of_a_step_are_the_step():
    made = measured(0.7, 0.4, 0.004)
    found, known = own_server.fit(made), made[9].known
    parts = own_server.parts(found, known)
    assert sum(parts.values()) == pytest.approx(found.predicted(known))
    assert parts["prompts"] == pytest.approx(parts["answers"] * known["prompt_per_answer"])
    assert parts["caches"] == pytest.approx(
        served({**known, "total_parameters": 0}, 0.7, math.inf, 0), rel=0.02
    )
    assert own_server.limit(parts) == "reading"
    assert own_server.limit(own_server.parts(found, {**known, "batch": 999})) == "arithmetic"
    slow = own_server.fit(measured(0.7, 0.4, 0.1))
    assert own_server.limit(own_server.parts(slow, known)) == "fixed time"


def test_the_usual_load_has_the_lengths_that_most_points_have():
    loads = [(1, 1000), (8, 1020), (32, 990), (30, 8000), (31, 8000)]
    made = own_server.points([run(f"{b}", b, p, first=0.0, step=0.1) for b, p in loads], **HERE)
    assert own_server.usual_load(made) == made[1].known


def test_the_time_to_the_first_token_is_that_of_the_files():
    loads = [(1, 0.05), (8, 0.2), (64, 1.5)]
    made = [run(f"{b}", b, 1000, first=wait) for b, wait in loads]
    made += [run("long", 8, 30_000, step=0.1, first=9.0), run("none", 8, 1000, first=None)]
    found = own_server.points(made, **HERE)
    fitted = own_server.fit(found)
    told = own_server.first_token(found, fitted, found[1].known)
    assert (told.count, told.low, told.median, told.high) == (3, 0.05, 0.2, 1.5)
    assert told.nearest is not None and told.nearest.run.source == "8"
    known = {**found[1].known, "batch": 1000, "context": 0, "prompt_per_answer": 0}
    assert told.prompt == pytest.approx(1000)
    assert told.alone == pytest.approx(fitted.predicted(known))
    apart = own_server.first_token(found, fitted, {**known, "context": 1000, "batch": 9})
    assert apart.alone == 0


def test_heads_that_chips_cannot_share_are_told():
    [odd] = own_server.points([run()], **{**HERE, "devices": 3})
    [even] = own_server.points([run()], **{**HERE, "devices": 4})
    assert own_server.uneven_heads(odd.known).startswith("64 heads do not divide among 3 chips")
    assert own_server.uneven_heads(even.known) == ""
