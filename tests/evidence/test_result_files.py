"""Tests of reading the result files of benchmarks of LLM servers.

Every file here is made up; requests are played one by one, and a file says about them what its tool
would say, so that a run's numbers can be computed from the requests again.

Whatever is read here is read by the page's script as well, which has to say the same.
"""

import copy
import json
import math
import os
import random
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful_evidence import result_files
from handful_evidence.result_files import MOST_BYTES, MOST_DEPTH, MOST_RUNS, Run
from handful_site import bootstrap

IN_SI = ("input_tokens", "output_tokens", "time_per_output_token", "time_to_first_token")


@dataclass(frozen=True)
class Request:
    prompt: int
    answer: int
    first: float  # s to the first token
    step: float  # s a token after it

    @property
    def whole(self):
        return self.first + (self.answer - 1) * self.step


@dataclass(frozen=True)
class Played:
    """Seats that are never empty: each takes its next request when its last one ends."""

    requests: tuple[Request, ...]
    seats: int
    duration: float

    def mean(self, what):
        return statistics.fmean(map(what, self.requests))

    def median(self, what):
        return statistics.median(map(what, self.requests))

    def rate(self, what=lambda request: 1):
        return sum(map(what, self.requests)) / self.duration

    def expected(self):
        return {
            "input_tokens": self.mean(lambda r: r.prompt),
            "output_tokens": self.mean(lambda r: r.answer),
            "time_per_output_token": self.mean(lambda r: r.step),
            "time_to_first_token": self.mean(lambda r: r.first),
            "output_throughput": self.rate(lambda r: r.answer),
            "request_throughput": self.rate(),
        }


def play(seats=4, each=6, answer=100, seed=1):
    draw = random.Random(seed)
    rows = [
        [
            Request(
                draw.randint(900, 1100),
                answer,
                draw.uniform(0.2, 0.4),
                draw.uniform(0.018, 0.022),
            )
            for _ in range(each)
        ]
        for _ in range(seats)
    ]
    return Played(
        tuple(request for row in rows for request in row),
        seats,
        max(sum(request.whole for request in row) for row in rows),
    )


PLAYED = play()


def near(run, **expected):
    for name, value in expected.items():
        found = getattr(run, name)
        if isinstance(value, float):
            assert found == pytest.approx(value, rel=1e-12), name
        else:
            assert found == value, name


def write(folder, content, name="run.json"):
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def read_one(folder, content, name="run.json"):
    runs, problems = read([write(folder, content, name)])
    assert problems == []
    [run] = runs
    return run


def noted(run, words):
    return any(words in note for note in run.notes)


# Both languages -----------------------------------------------------------------------------------

# Answers each line, which lists the paths of files, with a line of what is in them.
ANSWER = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { inFlight, read } from %s;
for await (const line of createInterface({ input: process.stdin })) {
  const files = JSON.parse(line).map((name) => ({ name, bytes: readFileSync(name) }));
  const found = read(files);
  console.log(JSON.stringify({ ...found, inFlight: found.runs.map(inFlight) }));
}
"""
PAGE = []  # the process that reads as the page does


@pytest.fixture(scope="module", autouse=True)
def page(tmp_path_factory):
    """Have the page's script answer what it reads, until the last test has run."""
    script = tmp_path_factory.mktemp("page") / "result_files.mjs"
    node, root = bootstrap.node_command(), bootstrap.ROOT
    esbuild = root / "node_modules" / "esbuild" / "bin" / "esbuild"
    library = root / "lib" / "handful_site" / "runs" / "result_files.js"
    kind = ("--bundle", "--format=esm", "--log-level=error", f"--outfile={script}")
    subprocess.run([*node, str(esbuild), str(library), *kind], check=True)
    source = ANSWER % json.dumps(script.as_uri())
    with subprocess.Popen(
        [*node, "--input-type=module", "--eval", source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        PAGE.append(process)
        yield
        PAGE.clear()
        process.stdin.close()
        assert process.wait(60) == 0


def read_in_page(paths):
    """Return what the page's script makes of files."""
    PAGE[0].stdin.write(json.dumps([str(path) for path in paths]) + "\n")
    PAGE[0].stdin.flush()
    found = json.loads(PAGE[0].stdout.readline())
    return found["runs"], found["problems"], found["inFlight"]


def read(paths):
    """Return what Python reads, once the page has read the same."""
    runs, problems = result_files.read(paths)
    their_runs, their_problems, in_flight = read_in_page(paths)
    newer = "illegal trailing comma"  # which Python tells since 3.13, and where it stands
    if sys.version_info < (3, 13) or not any(newer in problem for problem in problems):
        assert their_problems == problems
    for run, theirs, at_once in zip(runs, their_runs, in_flight, strict=True):
        ours = asdict(run) | {"notes": list(run.notes)}
        assert list(theirs) == list(ours)
        theirs["in_flight"], ours["in_flight"] = at_once, run.in_flight
        for name, value in ours.items():
            is_near = isinstance(value, float) and theirs[name] is not None
            assert theirs[name] == value or (
                is_near and math.isclose(theirs[name], value, rel_tol=1e-12)
            ), name
    return runs, problems


# Files of each tool -------------------------------------------------------------------------------


def vllm(played=PLAYED, **changes):
    return {
        "date": "20260102-030405",
        "backend": "vllm",
        "endpoint_type": "vllm",
        "model_id": "meta/made-up-8b",
        "num_prompts": len(played.requests),
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": played.seats,
        "duration": played.duration,
        "completed": len(played.requests),
        "total_input_tokens": sum(r.prompt for r in played.requests),
        "total_output_tokens": sum(r.answer for r in played.requests),
        "request_throughput": played.rate(),
        "request_goodput": None,
        "output_throughput": played.rate(lambda r: r.answer),
        "total_token_throughput": played.rate(lambda r: r.prompt + r.answer),
        **in_ms("ttft", played, lambda r: r.first),
        **in_ms("tpot", played, lambda r: r.step),
        **in_ms("itl", played, lambda r: r.step),
        **changes,
    }


def in_ms(name, played, what):
    return {
        f"mean_{name}_ms": 1000 * played.mean(what),
        f"median_{name}_ms": 1000 * played.median(what),
        f"p99_{name}_ms": 1000 * max(map(what, played.requests)),
    }


def newer_vllm(**changes):
    """Return what later versions write."""
    return vllm(failed=0, max_output_tokens_per_s=300.0, max_concurrent_requests=5, **changes)


def sglang(played=PLAYED, **changes):
    return {
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": math.inf,
        "max_concurrency": 8,
        "sharegpt_output_len": None,
        "random_input_len": 1100,
        "random_output_len": 100,
        "random_range_ratio": 0.0,
        "duration": played.duration,
        "completed": len(played.requests),
        "total_input_tokens": sum(r.prompt for r in played.requests),
        "total_output_tokens": sum(r.answer for r in played.requests),
        "total_output_tokens_retokenized": sum(r.answer for r in played.requests) - 1,
        "request_throughput": played.rate(),
        "output_throughput": played.rate(lambda r: r.answer),
        **in_ms("e2e_latency", played, lambda r: r.whole),
        **in_ms("ttft", played, lambda r: r.first),
        **in_ms("tpot", played, lambda r: r.step),
        **in_ms("itl", played, lambda r: r.step),
        "concurrency": sum(r.whole for r in played.requests) / played.duration,
        "accept_length": None,
        **changes,
    }


def older_sglang(played=PLAYED, **changes):
    kept = (
        *("backend", "dataset_name", "random_input_len", "random_output_len", "random_range_ratio"),
        *("duration", "completed", "total_input_tokens", "total_output_tokens"),
        *("total_output_tokens_retokenized", "output_throughput", "mean_e2e_latency_ms"),
        *("median_e2e_latency_ms", "median_ttft_ms", "median_itl_ms"),
    )
    whole = sglang(played)
    kept = {key: whole[key] for key in kept}
    return kept | {"request_rate": 2.0, "max_concurrency": None} | changes


def guidellm_benchmark(played=PLAYED, kind="concurrent", **metrics):
    def by_request(what, factor=1.0):
        values = {"mean": factor * played.mean(what), "median": factor * played.median(what)}
        return {
            "successful": values,
            "errored": {"mean": 0.0},
            "total": {"mean": 2 * values["mean"]},  # not to be read
        }

    def fixed(value):
        return {"successful": {"mean": value}, "total": {"mean": 2 * value}}

    return {
        "config": {"strategy": {"type_": kind, "max_concurrency": played.seats}},
        "metrics": {
            "requests_per_second": fixed(played.rate()),
            "request_concurrency": fixed(sum(r.whole for r in played.requests) / played.duration),
            "request_latency": by_request(lambda r: r.whole),
            "prompt_token_count": by_request(lambda r: r.prompt),
            "output_token_count": by_request(lambda r: r.answer),
            "time_to_first_token_ms": by_request(lambda r: r.first, 1000),
            "time_per_output_token_ms": by_request(lambda r: r.whole / r.answer, 1000),
            "inter_token_latency_ms": by_request(lambda r: r.step, 1000),
            "output_tokens_per_second": fixed(played.rate(lambda r: r.answer)),
            "tokens_per_second": fixed(played.rate(lambda r: r.answer + r.prompt)),
            **metrics,
        },
    }


def guidellm(*benchmarks):
    return {
        "metadata": {"version": 1, "guidellm_version": "0.5.0"},
        "args": {"target": "http://127.0.0.1:8000", "model": "made-up-8b"},
        "benchmarks": list(benchmarks),
    }


def aiperf(played=PLAYED, unit="ms", factor=1000, **changes):
    def metric(what, unit, factor=1.0):
        return {"unit": unit, "avg": factor * played.mean(what), "p50": 1e9, "std": 1.0}

    return {
        "schema_version": "1.0",
        "input_config": {
            "endpoint": {"model_names": ["made-up-8b"]},
            "loadgen": {"concurrency": played.seats},
        },
        "time_to_first_token": metric(lambda r: r.first, unit, factor),
        "inter_token_latency": metric(lambda r: r.step, unit, factor),
        "request_latency": metric(lambda r: r.whole, unit, factor),
        "input_sequence_length": metric(lambda r: r.prompt, "tokens"),
        "output_sequence_length": metric(lambda r: r.answer, "tokens"),
        "output_token_throughput": {
            "unit": "tokens/sec",
            "avg": played.rate(lambda r: r.answer),
        },
        "request_throughput": {"unit": "requests/sec", "avg": played.rate()},
        "output_token_throughput_per_user": {"unit": "tokens/sec/user", "avg": 50.0},
        "was_cancelled": False,
        **changes,
    }


def inferencex(played=PLAYED, devices=8, **changes):
    def in_s(name, what):
        return {f"mean_{name}": played.mean(what), f"median_{name}": played.median(what)}

    answers, prompts = played.rate(lambda r: r.answer), played.rate(lambda r: r.prompt)
    return {
        "hw": "h200",
        "conc": played.seats,
        "model": "made-up/R9",
        "framework": "vllm",
        "precision": "fp8",
        "spec_decoding": "none",
        "disagg": False,
        "isl": 1024,
        "osl": 1000,
        "is_multinode": False,
        "tp": devices,
        "ep": 8,
        "tput_per_gpu": (answers + prompts) / devices,
        "output_tput_per_gpu": answers / devices,
        "input_tput_per_gpu": prompts / devices,
        **in_s("ttft", lambda r: r.first),
        **in_s("tpot", lambda r: r.step),
        "mean_intvty": 50.0,
        **changes,
    }


MLPERF_SERVER = """\
================================================
MLPerf Results Summary
================================================
SUT name : MadeUp
Scenario : Server
Mode     : PerformanceOnly
Completed samples per second    : 40.00
Completed tokens per second: 10000.00
Result is : {result}
  Performance constraints satisfied : Yes

================================================
Additional Stats
================================================
Scheduled samples per second : 41.00
Mean latency (ns)               : 17499356575
Completed tokens per second                 : 10000.00
Mean First Token latency (ns)               : 250000000
99.00 percentile first token latency (ns)   : 674674289
{tpot}               : 60000000

================================================
Test Parameters Used
================================================
target_qps : 41
"""

MLPERF_OFFLINE = """\
MLPerf Results Summary
Scenario : Offline
Mode     : PerformanceOnly
Samples per second: 50.5
Tokens per second{inferred}: 15150
Result is : VALID
"""


# vLLM ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [vllm, newer_vllm])
def test_vllm_serve(tmp_path, made):
    run = read_one(tmp_path, made())
    near(run, **PLAYED.expected(), concurrency=4.0, tool="vllm bench serve", source="run.json")
    near(run, model="meta/made-up-8b", hardware="", precision="", devices=None)


def test_vllm_appends_runs_one_a_line(tmp_path):
    other = play(seats=8, seed=2)
    text = f"{json.dumps(vllm())}\n{json.dumps(vllm(other))}\n\n"
    runs, problems = read([write(tmp_path, text)])
    assert problems == []
    assert [run.source for run in runs] == ["run.json, line 1", "run.json, line 2"]
    near(runs[0], **PLAYED.expected(), concurrency=4.0)
    near(runs[1], **other.expected(), concurrency=8.0)


def test_what_was_added_to_a_result_of_vllm(tmp_path):
    run = read_one(tmp_path, vllm(gpu="H100 SXM", quantization="fp8", gpus="2"))
    near(run, hardware="H100 SXM", precision="fp8", devices=2)


def test_vllm_without_a_cap(tmp_path):
    run = read_one(tmp_path, vllm(max_concurrency=None))
    assert run.concurrency is None
    assert noted(run, "no cap on concurrency: all requests were sent at once")
    assert noted(run, f"{run.in_flight:.3g} requests were in flight on average")
    run = read_one(tmp_path, vllm(max_concurrency=None, request_rate=2.5))
    assert noted(run, "no cap on concurrency: requests came at 2.5 a second")


def test_a_cap_above_the_requests_that_were_sent(tmp_path):
    run = read_one(tmp_path, vllm(max_concurrency=512))
    assert run.concurrency == 24 and noted(run, "only 24 requests were sent")


def test_vllm_with_medians_only(tmp_path):
    made = vllm()
    del made["mean_tpot_ms"], made["mean_ttft_ms"]
    run = read_one(tmp_path, made)
    near(run, time_per_output_token=PLAYED.median(lambda r: r.step))
    near(run, time_to_first_token=PLAYED.median(lambda r: r.first))
    assert noted(run, "tpot_ms: the median stands for the mean")
    assert noted(run, "ttft_ms: the median stands for the mean")


def test_vllm_without_tpot_gets_it_from_the_whole_latency(tmp_path):
    made = vllm(mean_e2el_ms=1000 * PLAYED.mean(lambda r: r.whole))
    for kind in ("mean", "median"):
        del made[f"{kind}_tpot_ms"]
    run = read_one(tmp_path, made)
    assert run.time_per_output_token == pytest.approx(PLAYED.mean(lambda r: r.step))
    assert noted(run, "is computed: e2el_ms less the time to the first token")


def test_a_chunk_of_several_tokens_does_not_change_the_time_per_token(tmp_path):
    run = read_one(tmp_path, vllm(mean_itl_ms=10_000 * PLAYED.mean(lambda r: r.step)))
    near(run, time_per_output_token=PLAYED.mean(lambda r: r.step))
    assert noted(run, "mean_itl_ms is 10 times the time per output token")
    assert not noted(read_one(tmp_path, vllm()), "mean_itl_ms")


def test_speculation_is_noted(tmp_path):
    assert noted(
        read_one(tmp_path, vllm(spec_decode_acceptance_length=2.75)),
        "speculative decoding: a step gives 2.75 tokens on average",
    )
    assert noted(read_one(tmp_path, sglang(accept_length=3.1)), "3.1 tokens on average since")
    assert noted(read_one(tmp_path, inferencex(spec_decoding="mtp")), "speculative decoding: mtp")
    for plain in (vllm(spec_decode_acceptance_length=1.0), sglang(), inferencex()):
        assert not noted(read_one(tmp_path, plain), "speculative")


def test_failed_requests_are_noted(tmp_path):
    assert noted(read_one(tmp_path, vllm(failed=3)), "3 requests failed")
    assert noted(read_one(tmp_path, vllm(num_prompts=30)), "only 24 of 30 requests were answered")


def test_totals_that_contradict_a_throughput_are_noted(tmp_path):
    made = vllm(total_output_tokens=2 * vllm()["total_output_tokens"])
    assert noted(read_one(tmp_path, made), "but total_output_tokens over duration")
    assert not noted(read_one(tmp_path, vllm()), "over duration")


def test_throughputs_that_are_missing_come_from_totals(tmp_path):
    made = vllm()
    del made["output_throughput"], made["request_throughput"]
    near(read_one(tmp_path, made), **PLAYED.expected())


def test_vllm_throughput(tmp_path):
    made = {
        "elapsed_time": 20.0,
        "num_requests": 1000,
        "total_num_tokens": 640_000,
        "requests_per_second": 50.0,
        "tokens_per_second": 32_000.0,
    }
    run = read_one(tmp_path, made)
    near(run, tool="vllm bench throughput", request_throughput=50.0, total_throughput=32_000.0)
    near(run, output_throughput=None, concurrency=None, input_tokens=None, output_tokens=None)
    assert noted(run, "the batch and the lengths are not in the file")


@pytest.mark.parametrize("more", [{}, {"std_latency": 0.01}])
def test_vllm_latency(tmp_path, more):
    made = {"avg_latency": 1.5, "latencies": [1.4, 1.6], "percentiles": {"50": 1.5}, **more}
    run = read_one(tmp_path, made)
    near(run, tool="vllm bench latency", batch_latency=1.5)
    assert all(getattr(run, name) is None for name in (*IN_SI, "output_throughput", "concurrency"))
    assert noted(run, "the batch and the lengths are not in the file")


def test_the_table_for_pytorch_beside_a_result_of_vllm(tmp_path):
    made = [{"benchmark": {"name": "vLLM benchmark"}, "metric": {"name": "x"}}] * 5
    runs, [problem] = read([write(tmp_path, made)])
    assert runs == [] and "give the file without .pytorch in its name" in problem


# SGLang -------------------------------------------------------------------------------------------


def test_sglang(tmp_path):
    text = json.dumps(sglang())
    assert '"request_rate": Infinity' in text  # not strict JSON, and what the tool writes
    run = read_one(tmp_path, f"{text}\n", "run.jsonl")
    near(run, **PLAYED.expected(), tool="SGLang bench_serving")
    assert run.concurrency == pytest.approx(run.in_flight, rel=0.01)  # measured, not the cap of 8
    assert run.concurrency < 4


def test_answers_of_one_token_have_no_time_per_token(tmp_path):
    played = play(answer=1)
    made = older_sglang(played) | {"median_e2e_latency_ms": 500.0, "mean_e2e_latency_ms": 500.0}
    assert read_one(tmp_path, made).time_per_output_token is None


def test_answers_of_two_tokens_have_one(tmp_path):
    played = play(answer=2)
    expected = played.mean(lambda r: r.whole) - played.median(lambda r: r.first)
    run = read_one(tmp_path, older_sglang(played))
    assert run.time_per_output_token == pytest.approx(expected)


def test_sglang_that_measures_no_concurrency_has_its_cap(tmp_path):
    made = sglang()
    del made["concurrency"]
    assert read_one(tmp_path, made).concurrency == 8
    assert noted(read_one(tmp_path, made), "of the 8 that it states")


def test_older_sglang_gets_its_time_per_token_from_whole_latencies(tmp_path):
    played = play(answer=64, seed=3)
    run = read_one(tmp_path, older_sglang(played))
    first = played.median(lambda r: r.first)
    near(run, time_to_first_token=first, output_throughput=played.rate(lambda r: r.answer))
    assert run.time_per_output_token == pytest.approx(
        (played.mean(lambda r: r.whole) - first) / (64 - 1)
    )
    assert run.time_per_output_token == pytest.approx(played.mean(lambda r: r.step), rel=0.05)
    assert noted(run, "the time per output token is computed: e2e_latency_ms")
    assert noted(run, "ttft_ms: the median stands for the mean")
    assert noted(run, "no cap on concurrency: requests came at 2 a second")
    near(run, request_throughput=played.rate())  # completed over duration


def test_lengths_of_sglang_are_inferred_only_without_totals(tmp_path):
    made = sglang(random_range_ratio=0.5)
    assert not noted(read_one(tmp_path, made), "inferred")
    del made["total_output_tokens"], made["total_input_tokens"]
    run = read_one(tmp_path, made)
    near(run, input_tokens=0.75 * 1100, output_tokens=75.0)  # uniform from half to all
    assert noted(run, "lengths inferred")


def test_answers_of_sglang_that_ended_early(tmp_path):
    made = sglang(total_output_tokens_retokenized=600)
    assert noted(read_one(tmp_path, made), "answers ended early: their text has 25% of the tokens")
    assert not noted(read_one(tmp_path, sglang()), "ended early")


# GuideLLM, AIPerf, InferenceX ---------------------------------------------------------------------


def test_guidellm(tmp_path):
    other = play(seats=8, seed=4)
    made = guidellm(guidellm_benchmark(), guidellm_benchmark(other, "throughput"))
    runs, problems = read([write(tmp_path, made)])
    assert problems == []
    assert [run.source for run in runs] == ["run.json, benchmark 1", "run.json, benchmark 2"]
    for run, played in zip(runs, (PLAYED, other), strict=True):
        near(run, **played.expected(), tool="GuideLLM", model="made-up-8b")
        assert run.concurrency == pytest.approx(run.in_flight, rel=0.01)  # measured, not the cap
    assert not noted(runs[0], "strategy") and noted(runs[1], "the strategy was throughput")


def test_older_guidellm(tmp_path):
    made = guidellm_benchmark()
    made["args"] = {"strategy": made.pop("config")["strategy"] | {"streams": 4}}
    del made["metrics"]["request_concurrency"]
    run = read_one(tmp_path, {"benchmarks": [made]})
    near(run, **PLAYED.expected(), concurrency=4.0, model="", source="run.json")


def test_zeros_of_guidellm_count_as_not_measured(tmp_path):
    zero = {"successful": {"mean": 0.0, "median": 0.0}}
    made = guidellm(guidellm_benchmark(time_to_first_token_ms=zero))
    run = read_one(tmp_path, made)
    assert run.time_to_first_token is None and run.in_flight is None
    assert noted(run, "the time to the first token is 0, so it counts as not measured")


@pytest.mark.parametrize("unit, factor", [("ms", 1e3), ("ns", 1e9), ("us", 1e6), ("s", 1)])
def test_aiperf(tmp_path, unit, factor):
    run = read_one(tmp_path, aiperf(unit=unit, factor=factor))
    near(run, **PLAYED.expected(), concurrency=4.0, model="made-up-8b")
    assert run.tool == "AIPerf or GenAI-Perf"


def test_genai_perf(tmp_path):
    given = {"model_names": ["older-8b"], "perf_analyzer": {"stimulus": {"concurrency": 4}}}
    run = read_one(tmp_path, aiperf(input_config=given))
    near(run, **PLAYED.expected(), concurrency=4.0, model="older-8b")


def test_aiperf_at_a_rate_has_no_concurrency(tmp_path):
    run = read_one(tmp_path, aiperf(input_config={"models": {"items": [{"name": "m"}]}}))
    near(run, concurrency=None, model="m")
    assert noted(run, "no cap on concurrency is stated")
    assert noted(run, "requests were in flight on average")


def test_a_median_where_aiperf_and_guidellm_give_no_mean(tmp_path):
    run = read_one(tmp_path, aiperf(inter_token_latency={"unit": "ms", "p50": 21.0}))
    near(run, time_per_output_token=0.021)
    assert noted(run, "inter_token_latency: the median stands for the mean")
    metric = {"successful": {"median": 22.0}}
    run = read_one(tmp_path, guidellm(guidellm_benchmark(inter_token_latency_ms=metric)))
    near(run, time_per_output_token=0.022)
    assert noted(run, "inter_token_latency_ms: the median stands for the mean")


def test_what_aiperf_says_of_failures(tmp_path):
    run = read_one(tmp_path, aiperf(was_cancelled=True, error_request_count={"avg": 2.0}))
    assert noted(run, "the run was stopped before its end") and noted(run, "2 requests failed")
    run = read_one(tmp_path, aiperf(error_request_count={"avg": 0.0}))
    assert not noted(run, "stopped") and not noted(run, "failed")


def test_chunks_of_several_tokens_in_guidellm(tmp_path):
    for tokens, said in ((1.0, False), (2.5, True)):
        chunks = {"successful": {"mean": tokens}}
        made = guidellm(guidellm_benchmark(iter_tokens_per_iteration=chunks))
        assert noted(read_one(tmp_path, made), f"holds {tokens:.2g} tokens on average") == said


def test_inferencex_is_in_seconds_and_counts_by_chip(tmp_path):
    run = read_one(tmp_path, inferencex())
    expected = PLAYED.expected() | {
        "input_tokens": 0.9 * 1024,
        "output_tokens": 900.0,
        "request_throughput": None,
    }
    near(run, **expected, concurrency=4.0, devices=8, tool="InferenceX")
    near(run, hardware="h200", precision="fp8", model="made-up/R9")
    near(run, total_throughput=PLAYED.rate(lambda r: r.prompt + r.answer))
    assert noted(run, "lengths inferred")


def test_chips_of_inferencex_are_those_of_tensors_and_pipelines_not_of_experts(tmp_path):
    run = read_one(tmp_path, inferencex(tp=4, pp=2, ep=64))
    near(run, devices=8, output_throughput=PLAYED.rate(lambda r: r.answer))


def test_several_nodes_of_inferencex_count_answers_by_the_chips_that_decode(tmp_path):
    answers, prompts = PLAYED.rate(lambda r: r.answer), PLAYED.rate(lambda r: r.prompt)
    made = inferencex(
        is_multinode=True,
        disagg=True,
        num_prefill_gpu=8,
        num_decode_gpu=24,
        tput_per_gpu=(answers + prompts) / 32,
        output_tput_per_gpu=answers / 24,
    )
    run = read_one(tmp_path, made)
    near(run, devices=32, output_throughput=answers, total_throughput=answers + prompts)
    assert noted(run, "prompts on 8 chips of their own, answers on 24")
    del made["num_decode_gpu"]
    run = read_one(tmp_path, made)
    near(run, devices=None, output_throughput=None)
    assert noted(run, "the chips are not known")


def test_a_list_of_aggregates(tmp_path):
    other = play(seats=8, seed=5)
    runs, problems = read([write(tmp_path, [inferencex(), inferencex(other)])])
    assert problems == [] and [run.source for run in runs] == ["run.json, run 1", "run.json, run 2"]
    assert [run.concurrency for run in runs] == [4, 8]


def test_aggregates_with_medians_only(tmp_path):
    made = {"hw": "b200", "conc": 4, "median_ttft": 0.3, "median_tpot": 0.012, "median_e2e": 9.0}
    run = read_one(tmp_path, made)
    near(run, time_to_first_token=0.3, time_per_output_token=0.012, concurrency=4.0)
    assert noted(run, "tpot: the median stands for the mean")


# MLPerf and CSV -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", ["Mean Time per Output Token (ns)", "Mean Time to Output Token (ns) "]
)
def test_mlperf_server(tmp_path, words):
    text = MLPERF_SERVER.format(result="VALID", tpot=words)
    run = read_one(tmp_path, text, "mlperf_log_summary.txt")
    near(run, time_per_output_token=0.06, time_to_first_token=0.25, output_throughput=10_000.0)
    near(run, request_throughput=40.0, output_tokens=250.0, input_tokens=None, concurrency=None)
    assert run.tool == "MLPerf Inference" and noted(run, "the scenario is Server")
    assert run.in_flight == pytest.approx(40 * (0.25 + 249 * 0.06))  # Little's law
    invalid = MLPERF_SERVER.format(result="INVALID", tpot=words)
    assert noted(read_one(tmp_path, invalid), "verdict on the run is INVALID")
    assert not noted(run, "verdict")


@pytest.mark.parametrize("inferred", ["", " (inferred)"])
def test_mlperf_offline(tmp_path, inferred):
    run = read_one(tmp_path, MLPERF_OFFLINE.format(inferred=inferred), "any.name")
    near(run, output_throughput=15_150.0, request_throughput=50.5, output_tokens=300.0)
    near(run, time_per_output_token=None, time_to_first_token=None, concurrency=None)
    assert noted(run, "all samples were sent at once")
    assert noted(run, "the length of a prompt is not in the file")
    assert noted(run, "the mean length of an answer is tokens per second over samples per second")
    assert noted(run, "inferred from the samples") == bool(inferred)


def test_mlperf_with_one_sample_at_a_time(tmp_path):
    text = (
        "MLPerf Results Summary\nScenario : SingleStream\nMode : PerformanceOnly\n"
        "TPS w/ loadgen overhead         : 80.5\nMean Time per Output Token (ns) : 12000000\n"
    )
    run = read_one(tmp_path, text)
    near(run, concurrency=1.0, output_throughput=80.5, time_per_output_token=0.012)
    assert not noted(run, "requests in flight are not in the file")


TABLE = [
    ("concurrency", "16"),
    ("Input tokens", "1000"),
    ("output_tokens", "101"),
    ("TPOT (ms)", "20"),
    ("ttft_ms", "500"),
    ("Output tokens/s", "640"),
    ("requests_per_s", "6.3366"),
    ("hardware", "H100 SXM"),
    ("devices", "2"),
    ("model", "mine, 8B; tuned"),
    ("precision", "fp8"),
    ("remark", "=1+1"),
]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(3))
def test_csv(tmp_path, separator, end, seed):
    columns = random.Random(seed).sample(TABLE, len(TABLE))
    lines = [separator.join(f'"{cell}"' for cell in row) for row in zip(*columns, strict=True)]
    run = read_one(tmp_path, ("\ufeff" + end.join([*lines, "", ""])).encode(), "mine.txt")
    near(run, concurrency=16.0, input_tokens=1000.0, output_tokens=101.0, devices=2)
    near(run, time_per_output_token=0.02, time_to_first_token=0.5, output_throughput=640.0)
    near(run, request_throughput=6.3366, hardware="H100 SXM", precision="fp8")
    near(run, model="mine, 8B; tuned", source="mine.txt, row 2", tool="CSV")


def test_a_csv_in_seconds_with_other_names_and_empty_cells(tmp_path):
    text = "conc,isl,osl,time_per_output_token_s,output_throughput\n8,,100,0.025,\n"
    run = read_one(tmp_path, text)
    near(run, concurrency=8.0, input_tokens=None, output_tokens=100.0, output_throughput=None)
    near(run, time_per_output_token=0.025)


def test_a_median_beside_its_mean_in_a_csv(tmp_path):
    text = "median_tpot_ms,mean_tpot_ms\n30,20\n30,\n"
    runs, problems = read([write(tmp_path, text)])
    assert problems == [] and [run.time_per_output_token for run in runs] == [0.02, 0.03]
    assert [noted(run, "the median stands") for run in runs] == [False, True]


def test_a_column_without_a_unit_is_left_out(tmp_path):
    run = read_one(tmp_path, "tpot,output_tokens_per_s\n20,640\n")
    assert run.time_per_output_token is None
    assert noted(run, "the column tpot has no unit and is left out")


def test_a_bad_row_leaves_the_others(tmp_path):
    path = write(tmp_path, "tpot_ms,model\n20,a\nfast,b\n-1,c\n20\n,\n21,d\n", "mine.csv")
    runs, problems = read([path])
    assert [run.model for run in runs] == ["a", "d"]
    assert problems == [
        "mine.csv, row 3: tpot_ms must be a finite number, 0 or more; got the text “fast”.",
        "mine.csv, row 4: tpot_ms must be a finite number, 0 or more; got -1.",
        "mine.csv, row 5: a row must have 2 cells here; got 1.",
    ]


# The numbers of a run together --------------------------------------------------------------------


def test_requests_in_flight_follow_from_throughput_and_times(tmp_path):
    """Little's law: seats that are never empty hold their number, less at the end of the run."""
    for made in (vllm(), sglang(), guidellm(guidellm_benchmark()), aiperf()):
        run = read_one(tmp_path, made)
        held = sum(r.whole for r in PLAYED.requests) / PLAYED.duration
        assert run.in_flight == pytest.approx(held, rel=1e-3)
        assert 0.9 * PLAYED.seats < run.in_flight <= PLAYED.seats
        assert not noted(run, "in flight")


def test_numbers_that_do_not_belong_together_are_noted(tmp_path):
    over = read_one(tmp_path, vllm(mean_tpot_ms=2000 * PLAYED.mean(lambda r: r.step)))
    assert noted(over, "more than the 4 that it states: the numbers do not belong together")
    under = read_one(tmp_path, vllm(max_concurrency=20))
    assert noted(under, "of the 20 that it states")


def test_a_run_without_its_lengths_has_no_requests_in_flight():
    assert Run("a", "CSV", output_throughput=640.0, time_to_first_token=0.5).in_flight is None


# Damaged and hostile files ------------------------------------------------------------------------


def changed(**changes):
    return json.dumps(vllm(**changes))


def without(made, *keys):
    return json.dumps({key: value for key, value in made.items() if key not in keys})


MEASURES = [key for key in vllm() if key.startswith(("mean", "median"))] + [
    *("output_throughput", "request_throughput", "duration", "completed"),
]
GOOD = json.dumps(vllm())
HOSTILE = {  # content, and words of the sentence
    "empty": ("", "empty"),
    "spaces": (" \n\t\n", "empty"),
    "bytes": (bytes(range(1, 256)) * 9, "no text in UTF-8; byte"),
    "zeros": (b"\0" * 1000, "byte 0 is zero"),
    "utf-16": (GOOD.encode("utf-16"), "UTF-16"),
    "utf-16 without its mark": (GOOD.encode("utf-16-le"), "no text"),
    "latin-1": (GOOD.replace("made-up", "m\xe9").encode("latin-1"), "no text in UTF-8"),
    "compressed": (b"\x1f\x8b\x08\x00" + os.urandom(50), "no text"),
    "truncated": (GOOD[:400], "the text ends early"),
    "truncated in a string": (GOOD[: GOOD.index("made-up") + 3], "the text ends early"),
    "a letter too many": (GOOD + "x", "no JSON: extra data"),
    "nan": (changed(mean_tpot_ms=math.nan), "mean_tpot_ms must be a finite number, 0 or more; got"),
    "infinity": (changed(mean_ttft_ms=math.inf), "mean_ttft_ms must be a finite number"),
    "1e400": (GOOD.replace(str(vllm()["duration"]), "1e400"), "duration must be a finite number"),
    "long whole number": (
        GOOD.replace(str(vllm()["duration"]), "9" * 10_000),
        "duration must be a finite number",
    ),
    "negative": (changed(output_throughput=-3.5), "output_throughput must be a finite number"),
    "text": (changed(mean_tpot_ms="20.1"), "mean_tpot_ms must be a finite number, 0 or more; got"),
    "true": (changed(completed=True), "completed must be a finite number, 0 or more; got true"),
    "a list for a number": (changed(max_concurrency=[4]), "max_concurrency must be"),
    "an object for a text": (changed(model_id={"a": 1}), "model_id must be a text; got an object"),
    "a rate of no number": (changed(request_rate="often"), "request_rate must be a number above 0"),
    "a negative rate": (changed(request_rate=-1), "request_rate must be a number above 0"),
    "a rate of zero": (changed(request_rate=0), "request_rate must be a number above 0"),
    "a rate that is nan": (changed(request_rate=math.nan), "request_rate must be"),
    "nothing answered": (changed(completed=0), "completed is 0"),
    "all zero": (
        changed(**dict.fromkeys(MEASURES, 0) | {"completed": 5}),
        "no measurement; one of mean_tpot_ms",
    ),
    "missing keys": (without(vllm(), *MEASURES), "no measurement; one of mean_tpot_ms"),
    "a key twice": (GOOD[:-1] + ', "duration": 3}', "duration stands twice"),
    "overflow": (
        changed(total_output_tokens=1e308, completed=1e-300),
        "the mean length of an answer is not finite",
    ),
    "overflow in flight": (changed(output_throughput=1e308, mean_ttft_ms=1e308), "not finite"),
    "deep lists": ("[" * 100_000, "inside one another"),
    "deep objects": ('{"a":' * 50_000 + "1" + "}" * 50_000, "inside one another"),
    "deep in a good file": (
        GOOD[:-1] + ', "x": ' + "[" * MOST_DEPTH + "]" * MOST_DEPTH + "}",
        f"more than {MOST_DEPTH} objects and lists inside",
    ),
    "a list of lists": ("[[1, 2], [3]]", "an object in braces or a list of them"),
    "an empty list": ("[]", "an empty list"),
    "a number": ("12", "neither JSON nor a CSV"),
    "a text": ('"run"', "neither JSON nor a CSV"),
    "an empty object": ("{}", "none at all"),
    "another tool": ('{"iops": 3, "latency_us": 4}', "its keys (iops, latency_us)"),
    "another tool's lines": ('{"iops": 3}\n{"iops": 4}\n{"iops": 5}\n', "its keys (iops)"),
    "other benchmarks": ('{"benchmarks": [{"name": "a"}, {"name": "b"}]}', "has no metrics"),
    "benchmarks that are none": ('{"benchmarks": {"a": 1}}', "benchmarks must be a list"),
    "no benchmarks": ('{"benchmarks": []}', "benchmarks must be a list of one or more"),
    "benchmarks that are null": ('{"benchmarks": null}', "one or more; got null"),
    "a million runs": ("[" + "{}," * 999_999 + "{}]", f"more than {MOST_RUNS:,} runs"),
    "a million lines": ("{}\n" * 1_000_000, f"more than {MOST_RUNS:,} runs"),
    "a million rows": ("tpot_ms\n" + "20\n" * 1_000_000, f"more than {MOST_RUNS:,} runs"),
    "a million benchmarks": (
        '{"benchmarks": [' + "0," * 999_999 + "0]}",
        f"more than {MOST_RUNS:,} runs",
    ),
    "millions of lists": ("[" + "[]," * 2_000_001 + "0]", "objects and lists"),
    "a million columns": ("tpot_ms," * 1_000_000 + "\n1\n", "first line has more than 10,000"),
    "an endless cell": ('tpot_ms\n"' + "9" * 1_000_000, "no CSV"),
    "a page": ("<!doctype html><title>404</title>\n", "neither JSON nor a CSV"),
    "an unknown csv": ("speed,colour\n1,red\n", "neither JSON nor a CSV"),
    "a csv without rows": ("tpot_ms,ttft_ms\n", "no rows"),
    "columns that say the same": ("tpot_ms,mean_tpot_ms\n1,2\n", "tpot_ms and mean_tpot_ms say"),
    "a comma for a point": ("tpot_ms;model\n20,5;a\n", "tpot_ms must be a finite number"),
    "digits of another script": ("tpot_ms\n\uff11\uff12\n", "tpot_ms must be a finite number"),
    "digits and a letter": ("tpot_ms\n" + "9" * 100_000 + "x\n", "tpot_ms must be a finite number"),
    "a million digits and a letter": (
        MLPERF_OFFLINE.replace("50.5", "9" * 900_000 + "x"),
        "samples per second must be a finite number",
    ),
    "half a chip": ("tpot_ms,devices\n20,0.5\n", "devices must be a whole number"),
    "too many chips": ("tpot_ms,devices\n20,1e300\n", "devices must be a whole number"),
    "a quotation that ends early": (
        'tpot_ms\tmodel\n20\t"a"b\n',
        "line 2: '\\u0009' expected after",
    ),
    "an open quotation": ('tpot_ms,model\n20,"a\n', "no CSV"),
    "what was printed": (
        "============ Serving Benchmark Result ============\nMean TPOT (ms): 20.1\n",
        "--save-result",
    ),
    "mlperf with words": (MLPERF_OFFLINE.replace("50.5", "many"), "samples per second must be"),
    "mlperf of accuracy": (
        MLPERF_OFFLINE.replace("PerformanceOnly", "AccuracyOnly"),
        "the mode must be PerformanceOnly",
    ),
    "mlperf without end": (MLPERF_OFFLINE + "a : 1\n" * 200_000, "more than the 1,000,000 that"),
    "mlperf without numbers": ("MLPerf Results Summary\nScenario : Offline\n", "no measurement"),
    "a unit that is none": (
        json.dumps(aiperf(unit="fortnights")),
        "inter_token_latency.unit must be one of s, sec, ms, us, µs, ns; got the text “fortnights”",
    ),
    "a metric that is a number": (
        json.dumps(aiperf(inter_token_latency=20.0)),
        "inter_token_latency must be an object in braces; got 20",
    ),
    "a benchmark's metric that is nan": (
        json.dumps(guidellm(guidellm_benchmark(output_token_count={"successful": {"mean": -1}}))),
        "benchmarks[0].metrics.output_token_count.successful.mean must be a finite number",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_damaged_file_gives_one_sentence_and_leaves_the_others(tmp_path, kind):
    content, words = HOSTILE[kind]
    bad = write(tmp_path, content, "bad.json")
    good, other = write(tmp_path, GOOD, "good.json"), write(tmp_path, aiperf(), "other.json")
    runs, problems = read([good, bad, other])
    assert [run.source for run in runs] == ["good.json", "other.json"]
    [problem] = problems
    assert problem.startswith("bad.json") and words in problem, problem
    assert problem.endswith(".") and problem.isprintable() and len(problem) < 500


def test_lists_inside_one_another_are_read_up_to_the_limit(tmp_path):
    most = "[" * (MOST_DEPTH - 1) + "]" * (MOST_DEPTH - 1)
    assert read_one(tmp_path, f'{GOOD[:-1]}, "x": {most}}}')


def test_as_many_runs_as_allowed_are_read(tmp_path):
    runs, problems = read([write(tmp_path, "tpot_ms\n" + "20\n" * MOST_RUNS)])
    assert len(runs) == MOST_RUNS and problems == []


def test_a_file_that_is_too_large(tmp_path):
    most = GOOD + " " * (MOST_BYTES - len(GOOD))
    assert read_one(tmp_path, most)
    runs, [problem] = read([write(tmp_path, most + " ")])
    assert runs == [] and f"more than {MOST_BYTES:,} bytes" in problem


def test_a_large_file_is_not_read_whole(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # no disk holds it, and no memory
    runs, [problem] = result_files.read([path])  # the page cuts a file before it reads it
    assert runs == [] and problem.startswith("huge.json: this has more than 64,000,000 bytes")


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    folder = tmp_path / "results"
    folder.mkdir()
    given = [folder, tmp_path / "none.json", tmp_path / "pipe", loop, tmp_path / "a\0b"]
    runs, problems = result_files.read([*given, write(tmp_path, GOOD)])
    assert [run.source for run in runs] == ["run.json"]
    assert len(problems) == len(given)
    for problem, words in zip(
        problems,
        (
            *("results: this is a folder", "none.json: there is no such file"),
            *("pipe: this is no ordinary file", "loop: this cannot be opened", "a\\u0000b: this"),
        ),
        strict=True,
    ):
        assert problem.startswith(words), problem


def test_names_are_shown_without_what_moves_a_line(tmp_path):
    name = "a\u202eb\x1b[31m<b>\n.json"
    good = write(tmp_path, vllm(model_id="m\u202e\x1b[2J\ud800<script>" + "x" * 500), name)
    runs, problems = read([good, write(tmp_path, "{", "c\u2066\r.json")])
    [run], [problem] = runs, problems
    assert run.source == "a\\u202eb\\u001b[31m<b>\\u000a.json"
    assert run.model.startswith("m\\u202e\\u001b[2J\\ud800<script>xx") and len(run.model) == 120
    assert problem.startswith("c\\u2066\\u000d.json: ")
    key = write(tmp_path, {"\u202e\x07evil": 1}, "d.json")
    assert "(\\u202e\\u0007evil)" in read([key])[1][0]


def test_files_of_one_name_are_told_apart(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    runs, _ = read([write(tmp_path / name, GOOD) for name in ("one", "two")])
    for run, name in zip(runs, ("one", "two"), strict=True):
        assert run.source.endswith(f"{name}/run.json")


def test_a_bad_line_leaves_the_others(tmp_path):
    lines = [GOOD, GOOD[:300], json.dumps(sglang()), "[1]", changed(duration=-1), "{}", GOOD]
    runs, problems = read([write(tmp_path, "\n".join(lines), "all.jsonl")])
    assert [run.source for run in runs] == [f"all.jsonl, line {i}" for i in (1, 3, 7)]
    assert [problem.split(":")[0] for problem in problems] == [
        f"all.jsonl, line {i}" for i in (2, 4, 5, 6)
    ]


@pytest.mark.parametrize(
    "model",
    [
        "Infinity",
        "[Infinity, 1e999]",
        ': Infinity, "',
        'a": 1',
        "\\",
        "\\u0041",
        "\u2028\t\x1f\x7f",
        "\ud83d",
        "\U0001f600" * 130,
        "\ue000" * 30,
        "\xa0m\x1c",
        "x" * 121,
        "__proto__",
    ],
)
def test_texts_that_look_like_something_else(tmp_path, model):
    """What the page's script does with infinity, and with keys, is not done to a text."""
    made = json.dumps(sglang(model_id=model))
    for content in (made, made.replace("Infinity", "1e400"), f"{made}\n{made}"):
        assert read([write(tmp_path, content)])[0]
    named = {"hw": "a", model: math.inf, "conc": 4, "mean_tpot": 5, "request_rate": math.inf}
    assert read([write(tmp_path, named)])[0]


ODD_JSON = [
    '{"9": 1, "a": 2, "1": 3}',
    '[{"b": 1, "2": 1}, {"1": 2}, {"__proto__": {"metrics": 1}}]',
    '{"constructor": 1, "toString": []}',
    '{"__proto__": {"tput_per_gpu": 1}, "hw": "a"}',
    '{"a": {"b": 1, "b": 2}, "c": }',
    '{"": 1, "x": {"": 2}}',
    '{"x": 1, "y": 1, "y": 2, "x": 3}',
    '{"a": 1]',
    '{"a": [1 2]}',
    '{"a" 1}',
    "{1: 2}",
    '{"a": -}',
    '{"a": 01}',
    '{"a": 1.}',
    "[nul]",
    "[[[]",
    '{"a": "\\x"}',
    '{"a": "\\u12"}',
    '{"a": "\\u12g4"}',
    '{"a": "\\ud83d\\u12"}',
    '{"a": "\\',
    '{"a": "\t"}',
    '{"\U0001f600\U0001f600": 1 2}',
    '{"a": 1}\xa0',
    '\xa0{"conc": 1}',
    '\n\n {"a":\n\n  "\xe9" 1}',
    '{}\n{"conc": 1, "hw": 2}\n\nnull\n"a"\r\n',
    '{"conc":-0.0,"hw":""}',
]


def test_both_languages_say_the_same_of_odd_json(tmp_path):
    for text in ODD_JSON:
        assert not read([write(tmp_path, text)])[0]


ODD_TABLES = [
    'tpot_ms,model\r\n20,"a\r\nb"\r\n,x\n',
    'tpot_ms,model\r20,"a\nb\n\n""\n"',
    'tpot_ms\n"20"1\n',
    'tpot_ms\n"\n\n',
    "tpot_ms\n" + 9 * ("9" * 131_072 + "\n"),
    "tpot_ms\n1\n" + "9" * 131_073,
    'tpot_ms\n"' + "\n\r\n\U0001f600" * 40_000 + '"',
    'tpot_ms\n"' + '""' * 131_073,
    'tpot_ms\n"' + '""' * 131_072 + '"',
    "tpot_ms\n" + "\U0001f600" * 131_072 + "\n",
    "__proto__;tpot_ms;constructor\n1;2;3\n",
    "5,TPOT (ms),1\n1,2,3\n",
    "\n\ntpot_ms\n\x85\n\x1f\n7",
    "median_ttft_ms,median_ttft_ms,tpot_ms\n1,2,\n",
    "osl,tpot,isl\n1,2,3",
    "tpot_ms\n1e400\n+.5\n1.",
]


def test_both_languages_say_the_same_of_odd_tables(tmp_path):
    for text in ODD_TABLES:
        assert any(read([write(tmp_path, text)]))


@pytest.mark.parametrize(
    "rate", [0.5, 2.5, 12.25, 1e-5, 0.0001234565, 123456.5, 999999.5, 1e6, 2e300]
)
def test_both_languages_round_alike(tmp_path, rate):
    """Half goes to the even neighbour."""
    made = vllm(max_concurrency=None, request_rate=rate, spec_decode_acceptance_length=1 + rate)
    assert noted(read_one(tmp_path, made), f"{rate:g} a second")
    for share in (0.125, 0.135, 0.145, 0.5, 0.005):
        answers = {"total_output_tokens": 1000, "total_output_tokens_retokenized": 1000 * share}
        assert noted(read_one(tmp_path, sglang(**answers)), f"{share:.0%} of the tokens")


def test_a_bad_benchmark_leaves_the_others(tmp_path):
    bad = guidellm_benchmark(output_tokens_per_second={"successful": {"mean": "fast"}})
    made = guidellm(guidellm_benchmark(), bad, 5, guidellm_benchmark())
    runs, problems = read([write(tmp_path, made)])
    assert len(runs) == 2 and [problem.split(":")[0] for problem in problems] == [
        "run.json, benchmark 2",
        "run.json, benchmark 3",
    ]


def test_nothing_in_a_file_is_run(tmp_path):
    made = vllm(model_id="__import__('os').mkdir('ran')", label="$(touch ran)")
    assert read_one(tmp_path, made).model == "__import__('os').mkdir('ran')"
    assert not (tmp_path / "ran").exists() and not os.path.exists("ran")


# Anything at all ----------------------------------------------------------------------------------

GOOD_FILES = [
    *(json.dumps(made) for made in (vllm(), sglang(), older_sglang(), aiperf(), inferencex())),
    json.dumps(guidellm(guidellm_benchmark(), guidellm_benchmark())),
    json.dumps([inferencex(), inferencex(is_multinode=True, num_prefill_gpu=2, num_decode_gpu=4)]),
    "\n".join([GOOD, json.dumps(sglang())]),
    MLPERF_SERVER.format(result="VALID", tpot="Mean Time per Output Token (ns)"),
    "\n".join(",".join(row) for row in zip(*TABLE, strict=True)),
]
ODD = [
    *(None, True, -1, 0, 1e-320, 1e308, 10**18, math.nan, math.inf),
    *("", "12", "\xe9\x00", [], {}, [[]]),
]


def check(path, content):
    runs, problems = read([write(path, content)])
    assert all(problem.startswith("run.json") and problem.endswith(".") for problem in problems)
    for run in runs:
        for name in (*IN_SI, "concurrency", "output_throughput", "request_throughput", "in_flight"):
            value = getattr(run, name)
            assert value is None or (math.isfinite(value) and value > 0)
        assert all(note.isprintable() for note in (run.source, run.model, *run.notes))
    assert runs or problems


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mutants")


@settings(max_examples=300)
@given(data=st.data())
def test_no_damage_to_the_bytes_of_a_good_file_raises(folder, data):
    content = bytearray(data.draw(st.sampled_from(GOOD_FILES)).encode())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 20))
        content[at : at + length] = data.draw(
            st.binary(max_size=5)
            | st.sampled_from([b"-", b"e999", b'"', b"{", b"]", b",", b"null", b"NaN", b"\n", b":"])
            | st.sampled_from([b"Infinity", b"\\u", b'"5":1,', b"\r", b"\xc2\x85", b"0.5"])
        )
    check(folder, bytes(content))


def places(value, path=()):
    """Yield the path of each value inside an object."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield (*path, key)
        if isinstance(part, (dict, list)):
            yield from places(part, (*path, key))


@given(data=st.data())
def test_no_odd_value_in_a_good_file_raises(folder, data):
    made = json.loads(data.draw(st.sampled_from(GOOD_FILES[:7])))
    for _ in range(data.draw(st.integers(1, 4))):
        inner = list(places(made))
        if not inner:
            break
        *way, last = data.draw(st.sampled_from(inner))
        inside = made
        for key in way:
            inside = inside[key]
        inside[last] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
    check(folder, json.dumps(made))
