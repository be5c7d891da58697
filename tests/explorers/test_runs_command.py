"""Tests of ``handful runs``: from files to a floor, a fit, advice and a plot."""

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest

from handful import cli, scenario
from handful_explorers.tables.own_server import public_run

SERVER = [
    "--hardware",
    "H100 SXM",
    "--model",
    "Llama 3.1 70B",
    "--precision",
    "fp8",
    "--cache",
    "fp8",
    "--devices",
    "8",
]
LOADS = [(batch, prompt) for batch in (1, 2, 4, 8, 16, 32, 64, 128) for prompt in (500, 4000)]


def step_of(batch, prompt, answer=500, reading=0.7, computing=0.4, fixed=0.004):
    """Return the seconds of a step of a server, written out by hand."""
    known = scenario.values("H100 SXM", "Llama 3.1 70B", "fp8")
    read = known["total_parameters"] + batch * (prompt + answer / 2) * known["kv_bytes_per_token"]
    work = 2 * known["active_parameters"] * batch * (1 + (prompt / answer if batch > 1 else 0))
    return (
        read / (8 * known["memory_bandwidth"] * reading)
        + work / (8 * known["peak_flops"] * computing)
        + fixed
    )


@pytest.fixture
def files(tmp_path):
    """Write the runs of a server as ``vllm bench serve`` does."""
    for batch, prompt in LOADS:
        step = step_of(batch, prompt)
        first = 0.0
        made = {
            "backend": "vllm",
            "num_prompts": 1000,
            "request_rate": "inf",
            "max_concurrency": batch,
            "duration": 1000 * 500 * step / batch,
            "completed": 1000,
            "total_input_tokens": 1000 * prompt,
            "total_output_tokens": 1000 * 500,
            "request_throughput": batch / (499 * step),
            "output_throughput": 500 * batch / (499 * step),
            "mean_ttft_ms": first,
            "mean_tpot_ms": 1e3 * step,
        }
        (tmp_path / f"{batch}-{prompt}.json").write_text(json.dumps(made))
    return [str(path) for path in sorted(tmp_path.glob("*.json"))]


@pytest.fixture
def run(capsys):
    def call(*argv):
        code = cli.main(["runs", *argv])
        found = capsys.readouterr()
        return code, found.out.replace("\xa0", " "), found.err.replace("\xa0", " ")

    return call


def test_a_server_is_read_held_against_its_floor_and_fitted(run, files):
    code, out, _ = run(*files, *SERVER, "--json", "--tpot", "30ms", "--price", "2$/hour")
    found = json.loads(out)
    assert code == 0 and not found["not_read"] and not found["not_compared"]
    assert len(found["points"]) == len(LOADS)
    for point in found["points"]:
        batch, prompt = map(int, point["run"].removesuffix(".json").split("-"))
        assert point["batch"] == pytest.approx(batch)
        assert point["measured"] == pytest.approx(step_of(batch, prompt))
        floor = max(
            step_of(batch, prompt, reading=1, computing=math.inf, fixed=0),
            step_of(batch, prompt, reading=math.inf, computing=1, fixed=0),
        )
        assert point["floor"] == pytest.approx(floor)
    values = found["fit"]["values"]
    assert values["memory_efficiency"] == pytest.approx(0.7, rel=0.01)
    assert values["compute_efficiency"] == pytest.approx(0.4, rel=0.01)
    assert values["fixed_time"] == pytest.approx(0.004, rel=0.02)
    now = found["within"]["now"]
    assert now["cost"] == pytest.approx(8 * 2 / 3600 / now["throughput"])
    assert len(found["within"]["changes"]) == 3
    assert all(change["gain"] > 1 and change["assumes"] for change in found["within"]["changes"])
    assert found["server"] == {
        "hardware": "H100 SXM",
        "model": "Llama 3.1 70B",
        "precision": "fp8",
        "weights": "fp8",
        "cache": "fp8",
        "devices": 8,
        "says": "given",
        "price_per_chip_hour": pytest.approx(2),
    }
    measured = found["within"]["measured"]
    assert measured["run"] in {path.rpartition("/")[2] for path in files}
    assert measured["measured"] <= 0.03
    assert measured["cost"] == pytest.approx(8 * 2 / 3600 / measured["throughput"])


def test_json_tells_a_load_its_parts_and_what_binds(run, files):
    code, out, _ = run(*files, *SERVER, "--json", "--context", "4000+500")
    load = json.loads(out)["load"]
    assert code == 0 and (load["context"], load["prompt_per_answer"]) == (4250, 8)
    step = load["predicted"]["this load"]["step_time"]
    assert sum(load["step"].values()) == pytest.approx(step)
    batch = load["batch"]
    assert step == pytest.approx(step_of(batch, 4000), rel=0.01)
    prompts = step_of(batch, 4000) - step_of(batch, 4000, computing=math.inf)
    assert load["step"]["prompts"] == pytest.approx(prompts * 8 / 9, rel=0.02)
    twice = load["predicted"]["twice the batch"]
    assert twice["tokens_per_second"] == pytest.approx(2 * batch / twice["step_time"])
    assert load["binds"] in ("reading", "arithmetic", "fixed time")
    full = json.loads(run(*files, *SERVER, "--json", "--context", "600k")[1])["load"]["predicted"]
    assert "step_time" not in full["twice the context"]
    assert full["twice the context"]["memory_holds"] < full["twice the context"]["batch"]


def test_the_wait_for_the_first_token_is_told(run, files):
    for path in map(Path, files):
        made = json.loads(path.read_text())
        made["mean_ttft_ms"] = 10.0 * made["max_concurrency"]
        path.write_text(json.dumps(made))
    code, out, _ = run(*files, *SERVER, "--json")
    told = json.loads(out)["load"]["time_to_first_token"]
    assert code == 0 and told["measured_points"] == 8
    assert told["measured_low"] == pytest.approx(0.01)
    assert told["measured_high"] == pytest.approx(1.28)
    alone = step_of(0, 0) + step_of(told["prompt"], 0, reading=math.inf, fixed=0)
    assert told["prompt_alone"] == pytest.approx(alone, rel=0.01)
    code, out, _ = run(*files, *SERVER)
    assert code == 0 and "Time to first token: measured " in out
    assert "tokens by itself takes" in out


def test_a_person_reads_the_same(run, files):
    code, out, _ = run(*files, *SERVER, "--tpot", "30ms")
    assert code == 0 and "What the server adds, with intervals of 90 %" in out
    head = "Llama 3.1 70B: weights in fp8, arithmetic in fp8, caches in fp8, on 8 × H100 SXM; "
    head += "$1.30 per chip"
    assert out.startswith(head) and "where --price says no other" in out
    assert "70% of the peak" in out and "Within 30 ms a token (as promised)" in out
    assert sum(line.endswith(".json") for line in out.splitlines()) == len(LOADS)
    assert "twice the context" in out and "Half of what any batch could give" in out
    assert "Of this load's step: reading weights" in out and "that is what binds." in out
    code, out, _ = run(*files, *SERVER, "--tpot", "12ms")
    assert code == 0 and "were measured: beyond them" not in out
    code, out, _ = run(*files, *SERVER, "--tpot", "200ms")
    assert code == 0 and "No more than 128 sequences at a time were measured: beyond them" in out
    code, out, _ = run(*files, *SERVER)
    assert code == 0 and "half as much again as the median; --tpot sets it" in out


@pytest.mark.parametrize("suffix, begins", [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_plot_shows_every_point_its_floor_and_the_fit(run, files, tmp_path, suffix, begins):
    plot = tmp_path / f"mine.{suffix}"
    assert run(*files, *SERVER, "--plot", str(plot))[0] == 0
    assert plot.read_bytes().startswith(begins)
    if suffix == "svg":
        first = plot.read_bytes()
        text = " ".join(ElementTree.fromstring(first).itertext())
        assert "measured" in text and "floor of the same load" in text and "nine in ten" in text
        assert run(*files, *SERVER, "--plot", str(plot))[0] == 0 and plot.read_bytes() == first


def test_what_cannot_be_read_or_compared_is_named_and_the_rest_goes_on(run, files, tmp_path):
    (tmp_path / "broken.json").write_text('{"mean_tpot_ms": ')
    fast = json.loads((tmp_path / "1-500.json").read_text()) | {"mean_tpot_ms": 0.5}
    fast |= {"request_throughput": None, "output_throughput": None}
    (tmp_path / "fast.json").write_text(json.dumps(fast))
    more = [str(tmp_path / "broken.json"), str(tmp_path / "fast.json")]
    code, out, _ = run(*files, *more, *SERVER)
    assert code == 0 and "Not read" in out and "broken.json" in out
    assert "fast.json" in out.partition("Not compared")[2] and "below its floor" in out


def test_what_files_say_of_themselves_is_said_once(run, files):
    for path in map(Path, files[:5]):
        made = json.loads(path.read_text()) | {"spec_decode_acceptance_length": 2.6}
        path.write_text(json.dumps(made))
    code, out, _ = run(*files, *SERVER)
    out = " ".join(out.split())
    assert code == 0 and out.count("tokens are guessed ahead, so a step gives several (") == 1
    assert "and 2 more)" in out and "Of the files speculative decoding" in out


@pytest.mark.parametrize(
    "more, says",
    [
        (["--hardware", "H9000"], "There is no hardware 'H9000'"),
        (["--tpot", "soon"], "--tpot must be a value above 0, such as 30ms; got 'soon'."),
        (["--tpot", "30"], "--tpot needs its unit, as in 30 ms; got '30'."),
        (["--price", "2.50 GB"], "--price must be a value above 0, such as 2.50$/hour; got"),
        (["--devices", "none"], "--devices must be a value above 0, such as 8; got 'none'."),
        (["--context", "long"], "--context must be a value above 0, such as 32k; got 'long'."),
        (["--plot", "mine.pdf"], "A plot's name ends in .svg or .png; got 'mine.pdf'."),
    ],
)
def test_wrong_input_is_one_sentence(run, files, more, says):
    code, out, err = run(*files, *SERVER, *more)
    assert (code, out) == (2, "") and says in err and err.count("\n") == 1


def test_files_of_another_model_are_noticed(run, files, tmp_path):
    for path in map(Path, files):
        made = json.loads(path.read_text()) | {"model_id": "MiniMax-M2.5"}
        path.write_text(json.dumps(made))
    code, out, _ = run(*files, *SERVER)
    assert code == 0 and "MiniMax-M2.5 is what files say, and Llama 3.1 70B what was named" in out
    told = json.loads(run(*files, *SERVER, "--json")[1])["of_the_files"]
    assert told[0] == "MiniMax-M2.5 is what files say, and Llama 3.1 70B what was named"
    assert "the time to the first token is 0" in told[1]
    code, out, _ = run(*files, "--hardware", "H100 SXM", "--devices", "8")
    head = "MiniMax-M2.5: weights in fp8, as the model is published (--precision), arithmetic in "
    assert code == 0 and " ".join(out.split()).startswith(
        f"{head}fp8, caches in bf16, as nobody says (--cache), on 8 × H100 SXM;"
    )
    assert "what was named" not in out


def test_nothing_to_read_says_why(run, tmp_path, files):
    (tmp_path / "empty.json").write_text("")
    code, out, err = run(str(tmp_path / "empty.json"), *SERVER)
    assert (code, out) == (2, "") and "empty.json" in err
    code, out, err = run(*files, "--model", "Llama 3.1 70B")
    told = "does not say its hardware and how many chips it ran on; give --hardware and --devices."
    assert (code, out) == (2, "") and told in err
    code, out, _ = run(*files[:2], *SERVER)
    assert code == 0 and "A fit needs 4 points that can be used; there are 2." in out


def test_a_chip_of_ones_own_is_named_and_its_notes_are_told(run, files, tmp_path):
    known = scenario.choose("hardware", "H100 SXM")
    chip = {
        name: known["values"][name]
        for name in ("memory_bandwidth", "memory_capacity", "domain_devices")
    }
    path = tmp_path / "mine.json"
    path.write_text(
        json.dumps({"name": "My GPU", **chip, **known["peak_flops"], "notes": ["It was measured."]})
    )
    code, out, _ = run(*files, "--hardware", str(path), *SERVER[2:])
    assert code == 0 and "on 8 × My GPU; no price" in " ".join(out.split())
    assert "Of the chip\n  It was measured.\n" in out
    same = [
        run(*files, *one, *SERVER[2:], "--json")[1]
        for one in (["--hardware", str(path)], SERVER[:2])
    ]
    floors = [[point["floor"] for point in json.loads(one)["points"]] for one in same]
    assert floors[0] == pytest.approx(floors[1])


def test_a_context_beyond_all_measured_ones_is_said(run, tmp_path):
    path = tmp_path / "public.csv"
    path.write_text(public_run(), "utf-8")
    code, out, _ = run(str(path), "--context", "32k")
    assert code == 0 and "of 32,000 tokens" in out and "No context above" not in out
    code, out, _ = run(str(path), "--context", "1M")
    assert code == 0 and "No context above 195,111 tokens was measured" in out
