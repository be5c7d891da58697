"""Tests of the command: what it prints, what it refuses, and how it exits.

It is run in process and as a process.
"""

import importlib
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from handful import facts, scenario, terminal
from handful.cli import main
from handful.query import registry
from handful.search import SUBJECTS
from handful_evidence import claims, command, measure
from handful_evidence.estimate import BATCH, estimate

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
H100 = ["--hardware", "H100 SXM", "--model", "Llama 3.1 70B"]


@pytest.fixture
def run(capsys):
    """Run a command in process: exit code, stdout and stderr."""

    def call(*argv):
        code = main(argv)
        return (code, *capsys.readouterr())

    return call


def process(*argv, **more):
    return subprocess.run(
        [sys.executable, "-P", "-m", "handful", *argv],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        **more,
    )


# Estimates


def test_estimate_prints_every_result_with_its_unit(run):
    code, out, err = run("estimate", *H100, "--batch", "8")
    assert (code, err) == (0, "") and "\xa0" not in out
    found = estimate("H100 SXM", "Llama 3.1 70B", batch=8)
    lines = out.splitlines()
    assert lines[0] == "Llama 3.1 70B in fp8 on 8 × H100 SXM, batch 8, context 8,192 tokens"
    for line in found.results:
        wanted = f"{line.label} {line.text}".replace("\xa0", " ").split()
        assert any(shown.split()[: len(wanted)] == wanted for shown in lines), line
    assert found.conventions and all(f"  {said}" in lines for said in found.conventions)


def test_estimate_as_json_is_the_same_numbers(run):
    code, out, _ = run(
        "estimate", *H100, "--precision", "bf16", "--batch=1", "--context=4096", "--json"
    )
    found = json.loads(out)
    assert code == 0 and found["step_time_s"] * 1e3 == pytest.approx(
        5.32, rel=2e-3
    )  # a third party's table
    assert {key: found[key] for key in estimate().values()} == estimate(
        "H100 SXM", "Llama 3.1 70B", "bf16", batch=1, context=4096
    ).values()
    assert found["balance_batch_with_caches_sequences"] is None
    assert (found["notes"], found["given"]) == ([], {})


def test_defaults_are_those_that_help_states(run, capsys):
    assert json.loads(run("estimate", "--json")[1])["step_time_s"] == estimate()["step_time_s"]
    with pytest.raises(SystemExit) as stop:
        main(["estimate", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert stop.value.code == 0
    for said in ({**scenario.DEFAULT, "batch": BATCH}).values():
        assert f"default {said if isinstance(said, str) else f'{said:,}'}" in text
    for form in scenario.PRECISIONS:
        assert form["name"] in text


@pytest.mark.parametrize(
    ("written", "key", "value"),
    [
        (["--context", "8k"], "context_tokens", 8000),
        (["--context", "1M"], "context_tokens", 1_000_000),
        (["--context", "8,192 tokens"], "context_tokens", 8192),
        (["--context", "1.5K tokens"], "context_tokens", 1500),
        (["--batch", "64 sequences"], "batch_sequences", 64),
        (["--batch", "2e3"], "batch_sequences", 2000),
        (["--devices", "16 chips"], "devices", 16),
        (["--set", "devices=4"], "devices", 4),
        (["--set", "memory_capacity=96 GB", "--devices", "1"], "memory_bytes", 96e9),
        (["--set", "memory_bandwidth = 2T"], "drain_time_s", 80e9 / 2e12),
    ],
)
def test_values_may_carry_units(run, written, key, value):
    code, out, err = run("estimate", *H100, "--json", *written)
    assert (code, err) == (0, "") and json.loads(out)[key] == pytest.approx(value, rel=1e-12)


def test_a_price_by_the_hour(run):
    _, out, _ = run(
        "estimate",
        "--hardware",
        "TPU v5e",
        "--model",
        "Llama 3.1 8B",
        "--set",
        "device_price=1.2 $/hour",
    )
    assert "device_price = $1.20 per chip-hour" in out and "no price known" not in out


def test_notes_are_printed(run):
    _, out, _ = run("estimate", "--hardware", "H100 SXM", "--precision", "bf16")
    assert (
        "\nNote\n  DeepSeek-V3 in bf16 takes 1.34 TB; 8 × H100 SXM hold 640 GB, so it does not fit"
        in out
    )


# Comparisons


def test_compare_puts_the_same_lines_in_columns(run):
    chips, models = ["H100 SXM", "A100 80GB"], ["Llama 3.1 8B", "gpt-oss-120b"]
    code, out, _ = run("compare", "--hardware", *chips, "--model", *models)
    assert code == 0
    cells = [re.split(r"\s{2,}", line) for line in out.split("\n\n")[0].splitlines()]
    rows = {label: rest for label, *rest in cells}
    assert rows["Hardware"] == [chips[0]] * 2 + [chips[1]] * 2 and rows["Model"] == models * 2
    assert rows["Precision"] == ["fp8", "fp8", "bf16", "bf16"]
    assert rows["One decode step"] == [
        line.text.replace("\xa0", " ")
        for chip in chips
        for model in models
        for line in estimate(chip, model).results
        if line.key == "step_time_s"
    ]


def test_compare_as_json_is_one_estimate_each(run):
    _, out, _ = run(
        "compare", "--hardware", "H100 SXM", "--precision", "bf16", "fp8", "--json", "--batch=4"
    )
    found = json.loads(out)
    assert [one["precision"] for one in found] == ["bf16", "fp8"]
    alone = json.loads(run("estimate", "--hardware", "H100 SXM", "--batch=4", "--json")[1])
    assert alone.pop("notes") == [*found[1].pop("notes"), "No precision was chosen: fp8 is taken."]
    assert alone == found[1]


def test_a_note_says_whose_it_is(run):
    asked = ["--model", "Llama 3.1 8B", "--precision", "bf16"]
    _, out, _ = run("compare", "--hardware", "H100 SXM", "TPU v5e", *asked)
    assert re.search(r"^  Llama 3\.1 8B in bf16 on 16 × TPU v5e, .*: No price per hour", out, re.M)
    assert "H100 SXM, batch 64, context 8,192 tokens:" not in out


def test_columns_wrap_as_blocks_in_a_narrow_terminal(run, monkeypatch):
    for module in (terminal, command):
        monkeypatch.setattr(module, "terminal_width", lambda: 90)
    _, out, _ = run(
        "compare", "--hardware", "H100 SXM", "H200 SXM", "B200 SXM", "--model", "Llama 3.1 8B"
    )
    assert max(map(len, out.splitlines())) <= 90
    heads = [
        re.split(r"\s{2,}", line)[1:] for line in out.splitlines() if line.startswith("Hardware")
    ]
    assert heads == [["H100 SXM", "H200 SXM"], ["B200 SXM"]]
    assert out.count("One decode step") == 2


# Formulas


def test_formulas_are_listed_by_subject_with_their_meanings(run):
    code, out, _ = run("formula")
    lines = dict(line.split(maxsplit=1) for line in out.splitlines() if line.startswith("  "))
    assert code == 0 and lines == {name: formula.meaning for name, formula in registry().items()}
    heads = [line for line in out.splitlines() if line and not line.startswith(" ")]
    assert heads == list(SUBJECTS)
    listed = json.loads(run("formula", "--json")[1])
    assert sorted(row["name"] for row in listed) == sorted(registry())
    assert {row["subject"] for row in listed} == set(SUBJECTS)
    assert registry()["step_time"].latex() in run("formula", "--latex")[1]


@pytest.mark.parametrize("asked", [["TPOT"], ["time", "per", "output", "token"]])
def test_a_formula_is_found_by_what_people_call_it(run, asked):
    code, out, _ = run("formula", *asked)
    assert code == 0 and out.split()[0] == "step_time"
    found = json.loads(run("formula", *asked, "--json")[1])
    assert found[0]["name"] == "step_time" and "TPOT" in found[0]["known_as"]


SERVER = ("--hardware", "H100 SXM", "--model", "Llama 3.1 70B")


def test_a_formula_is_evaluated_in_a_scenario(run):
    argv = ("formula", "step_time", *SERVER, "--precision", "bf16", "batch=64", "context=8k")
    code, out, _ = run(*argv)
    shown = json.loads(run(*argv, "--json")[1])
    known = scenario.values("H100 SXM", "Llama 3.1 70B", "bf16", 8000)
    assert shown["value"] == registry()["step_time"](known, batch=64)
    assert code == 0 and out.startswith("step_time = ")
    assert shown["inputs"]["batch"] == {"value": 64, "unit": "sequence", "from": "given"}
    assert shown["inputs"]["memory_bandwidth"]["from"] == "H100 SXM"
    assert "experts" not in shown["inputs"]  # a dense model has none
    assert "from handful.latency import step_time" in out


def test_a_formula_is_evaluated_by_hand(run):
    # 70 billion parameters of two bytes at 3.35 TB/s: 140 GB / 3.35 TB/s
    argv = ("total_parameters=70B", "bytes_per_parameter=2", "memory_bandwidth=3350 GB/s")
    shown = json.loads(run("formula", "weight_time", "devices=1", "batch=1", *argv, "--json")[1])
    assert shown["value"] == pytest.approx(140e9 / 3.35e12)


def test_a_formula_is_solved_for_an_input(run):
    argv = ("formula", "step_time", *SERVER, "context=8k", "--solve", "batch")
    shown = json.loads(run(*argv, "step_time=10ms", "--json")[1])
    known = scenario.values("H100 SXM", "Llama 3.1 70B", "fp8", 8000)
    assert shown["solved_for"] == "batch" and len(shown["values"]) == 1
    assert registry()["step_time"](known, batch=shown["values"][0]) == pytest.approx(0.01)
    code, out, _ = run(*argv, "step_time=10ms")
    assert code == 0 and out.startswith("batch = ") and "step_time = 10 ms" in out


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["step_time", "batch=64"], "memory_bandwidth"),
        (["step_time", *SERVER, "batch=64"], "context"),
        (["step_time", *SERVER, "batch=64", "colour=3"], "colour"),
        (["step_time", *SERVER, "batch=64 bytes", "context=8k"], "batch"),
        (["step_time", *SERVER, "step_time=10ms"], "--solve"),
        (["step_time", *SERVER, "--solve", "batch"], "step_time=VALUE"),
        (["step_time", *SERVER, "--solve", "batch", "step_time=1", "batch=3"], "batch"),
        (["step_time", *SERVER, "--solve", "batch", "step_time=1 ms", "context=8k"], "step_time"),
        (["step_time", "--hardware", "H100 SXM", "batch=64", "context=8k"], "total_parameters"),
        (["cost_per_token", *SERVER, "batch=64", "context=8k", "device_price=2"], "unit"),
        (["weight_time", *SERVER, "batch=64", "memory_bandwidth=3350"], "unit"),
        (["step_tim", "batch=3"], "step_time"),
        (["batch=3"], "name of a formula"),
        (["hair", "dryer"], "hair dryer"),
        (["expert_layer_time", *SERVER, "batch=3"], "expert_parameters"),
    ],
)
def test_what_cannot_be_computed_is_named(run, argv, named):
    code, out, err = run("formula", *argv)
    assert (code, out) == (2, "") and named in err and err.count("\n") == 1


def test_a_formula_is_shown_with_its_derivation(run):
    _, out, _ = run("formula", "cost_floor")
    for said in (
        "  cost_floor = max(compute_cost, kv_cost)",
        "the lecture at 15:11",
        "t=911s",
        "[exact]",
    ):
        assert said in out
    assert re.search(
        r"^  memory_bandwidth +B/s +rate at which one chip reads its memory$", out, re.M
    )
    steps = registry()["cost_floor"].derivation.steps
    assert steps and all(f"  {i}. {step.move}" in out for i, step in enumerate(steps, 1))


def test_a_formula_for_programs_and_for_papers(run):
    formula = registry()["cost_per_token"]
    shown = json.loads(run("formula", "cost_per_token", "--json")[1])
    assert (shown["unit"], shown["source"]) == ("$/token", formula.source)
    assert len(shown["derivation"]["steps"]) == len(formula.derivation.steps)
    assert shown["tree"] == json.loads(json.dumps(formula.tree()))
    assert run("formula", "cost_per_token", "--latex")[1].splitlines()[0] == formula.latex()


# Facts


def test_facts_lists_tables_rows_and_a_row(run):
    assert [line.split()[0] for line in run("facts")[1].splitlines()] == facts.tables()
    names = run("facts", "accelerators")[1].splitlines()
    assert [re.split(r"\s{2,}", line)[0] for line in names] == facts.load("accelerators").names
    assert [line.split("  ")[0] for line in names if line.endswith("not verified")] == [
        row.name for row in facts.load("accelerators") if not row.verified
    ]
    for argv in (["H100", "SXM"], ["h100 sxm"]):
        code, out, _ = run("facts", "accelerators", *argv)
        assert code == 0
        assert re.search(r"^hbm_bandwidth_bytes_per_s +3350000000000 \(3\.35 TB/s\)$", out, re.M)
        assert re.search(r"^year_announced +2022$", out, re.M)
        assert out.endswith(
            f"Verified: yes\nSource: {facts.get('accelerators', 'H100 SXM').source}\n"
        )
        assert "fp4_dense_flops" not in out  # a cell that is empty


@pytest.mark.parametrize("table", facts.tables())
def test_every_row_of_facts_can_be_shown(run, table):
    assert json.loads(run("facts", table, "--json")[1]) == list(map(dict, facts.load(table)))
    for row in facts.load(table)[:40]:
        code, out, _ = run("facts", table, row.name)
        assert code == 0 and out.endswith(f"Source: {row.source}\n")


def test_facts_for_programs(run):
    assert json.loads(run("facts", "--json")[1]) == [
        {"name": name, "rows": len(facts.load(name))} for name in facts.tables()
    ]
    row = facts.get("accelerators", "H100 SXM")
    assert json.loads(run("facts", "accelerators", "H100 SXM", "--json")[1]) == row


# Claims


# Shapes

GEMMA = {  # Gemma 2 9B; 9,241,705,984 parameters are published
    "model_type": "gemma2",
    "num_hidden_layers": 42,
    "hidden_size": 3584,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "intermediate_size": 14336,
    "vocab_size": 256000,
    "sliding_window": 4096,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
}


def test_a_shape_is_counted_from_a_configuration(run, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(GEMMA | {"engrams": 7}))
    code, out, err = run("shape", str(tmp_path))
    assert (code, err) == (0, "") and "\xa0" not in out
    lines = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
    assert lines[0] == [tmp_path.name]
    rows = dict(line for line in lines if len(line) == 2)
    assert rows["parameters"] == rows["used by one token"] == "9,241,705,984 (9.24 billion)"
    assert rows["input embedding"] == "917,504,000 (918 million)" and "output head" not in rows
    assert rows["cache of one more token in bf16"].startswith(f"{2 * 21 * 8 * 256 * 2:,} (")
    assert rows["cache of one more token in fp8"].startswith(f"{2 * 21 * 8 * 256:,} (")
    assert rows["window"] == "4,096 tokens in 21 layers"
    assert rows["cache of full windows in bf16"].startswith(f"{2 * 21 * 8 * 256 * 2 * 4096:,} (")
    assert rows["longest context"] == "8,192 tokens"
    assert out.endswith("Notes\n  Not counted, because it is not known what they add: engrams.\n")


def test_a_shape_for_programs_and_from_standard_input(run, tmp_path):
    path = tmp_path / "gemma_config.json"
    path.write_text(json.dumps(GEMMA))
    found = json.loads(run("shape", str(path), "--json")[1])
    assert (found["name"], found["notes"]) == ("gemma", [])
    assert found["total_parameters"] == sum(found["parts_parameters"].values()) == 9_241_705_984
    assert found["kv_bytes_per_token_bf16"] == 2 * found["kv_bytes_per_token_fp8"] == 172_032
    assert found["kv_window_bytes_bf16"] == 172_032 * 4096
    assert found["shape"]["norms_per_layer"] == 4
    done = process("shape", "-", "--json", input=json.dumps(GEMMA))
    assert json.loads(done.stdout) == found | {"name": "model"}


def test_every_command_takes_a_configuration_as_a_model(run, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(GEMMA | {"engrams": 7}))
    for argv in (
        ["formula", "weight_memory", "--model", str(tmp_path)],
        ["estimate", "--hardware", "H100", "--model", str(tmp_path / "config.json")],
        ["compare", "--hardware", "H100", "B200", "--model", str(tmp_path)],
    ):
        code, out, err = run(*argv)
        assert (code, err) == (0, "") and tmp_path.name in out
        assert "Not counted, because it is not known what they add: engrams." in out


def test_what_nobody_chose_is_said(run):
    asked = ["formula", "weight_time", "--hardware", "h100", "--model", "meta-llama/Llama-3.1-70B"]
    out = run(*asked, "batch=1")[1]
    assert "H100 SXM" in out and "No precision was chosen: fp8 is taken, for weights, caches" in out
    assert "No precision" not in run(*asked, "batch=1", "--precision", "bf16")[1]
    solved = json.loads(
        run(*asked, "batch=1", "--solve", "devices", "weight_time=1 ms", "--json")[1]
    )
    assert len(solved["notes"]) == 1
    assert "No precision" not in run("formula", "drain_time", "--hardware", "H100")[1]


def test_weights_and_caches_may_have_precisions_of_their_own(run):
    served = ["--hardware", "H100", "--model", "Llama 3.1 70B", "--precision", "fp8"]
    both = ["--weights", "int4", "--cache", "bf16"]
    found = json.loads(
        run("formula", "step_time", *served, *both, "batch=1", "context=8k", "--json")[1]
    )
    inputs = found["inputs"]
    assert inputs["bytes_per_parameter"] == {"value": 0.5, "unit": "B/parameter", "from": "int4"}
    assert inputs["kv_bytes_per_token"]["value"] == 2 * 80 * 8 * 128 * 2
    assert inputs["kv_bytes_per_token"]["from"] == "Llama 3.1 70B, bf16"
    out = run("estimate", *served, *both)[1]
    assert out.startswith("Llama 3.1 70B in fp8, weights in int4, cache in bf16, on 8 × H100 SXM")
    assert "three-year rental" in out
    set_ = run("estimate", *served, "--set", "device_price=2 $/hour")[1]
    assert re.search(r"Price of a chip +\$2(\.00)? per chip-hour +as set", set_)
    code, _, err = run("estimate", "--cache", "fp6")
    assert (code, err) == (
        2,
        "handful: cache must be one of bf16, fp8, int8, fp4 and int4; got 'fp6'.\n",
    )


@pytest.mark.parametrize(
    ("argv", "note"),
    [
        (
            "tensor_parallel_time batch=64 prompt_per_answer=0 devices=16",
            "16 × H100 SXM are more than one scale-up domain of 8 chips",
        ),
        (
            "step_time context=4096 --solve batch step_time=30ms",
            "A batch of 494 does not fit: beside the weights there is room for the caches of 371 ",
        ),
        ("step_time batch=1 context=4096 devices=1", "hold 80 GB, so it does not fit"),
        (
            "speculation_limit_batch context=4096 acceptance=0.72 drafts=4 draft_time_ratio=0.06",
            "The equation divides by 0 with these inputs; the conventions say when.",
        ),
    ],
)
def test_a_number_says_what_it_leaves_out(run, argv, note):
    """Found by an engineer who planned on the numbers."""
    _, out, err = run("formula", *argv.split(), *SERVER, "--precision", "bf16")
    assert note in out and err == ""
    assert note not in run("formula", "step_time", "batch=64", "context=4096", *SERVER)[1]


def test_an_input_takes_several_values_in_turn(run):
    asked = ["formula", "speculative_speedup", "acceptance=0.72", "draft_time_ratio=6%"]
    out = run(*asked, "--sweep", "drafts", "1", "4", "8")[1]
    assert [line.split() for line in out.splitlines()[:4]] == [
        ["drafts", "speculative_speedup"],
        ["1", "1.62"],
        ["4", "2.32"],
        ["8", "2.29"],
    ]
    found = json.loads(run(*asked, "--json", "--sweep", "drafts", "1", "4")[1])
    assert found["over"] == "drafts" and "drafts" not in found["inputs"]
    assert [x for x, _ in found["values"]] == [1, 4]
    step = ["formula", "step_time", "context=8k", *SERVER, "--sweep", "batch", "1", "1000", "2k"]
    out = run(*step)[1]
    assert out.count("does not fit") == 2 and out.count("No precision was chosen") == 1
    for argv, said in (
        (["--sweep", "drafts"], "--sweep takes an input and then its values, such as --sweep dr"),
        (["--sweep", "drafts=1,2"], "--sweep takes an input and then its values, such as --sweep"),
        (["drafts=2", "--sweep", "drafts", "1"], "drafts is to take several values and has one;"),
        (["--sweep", "dafts", "1"], "There is no quantity 'dafts'; the nearest are: drafts"),
        (["--sweep", "drafts", "some"], "drafts must be"),
        (["--sweep", "batch", "1"], "speculative_speedup takes no batch"),
        (["--sweep", "drafts", "1", "--solve", "drafts"], "--sweep and --solve exclude each other"),
    ):
        code, out, err = run(*asked, *argv)
        assert (code, out) == (2, "") and err.startswith(f"handful: {said}")
    assert run("formula", "--sweep", "drafts", "1")[0] == 2
    last = ["formula", "speculative_speedup", "--sweep", "drafts", "1", "4", *asked[2:]]
    assert run(*last) == run(*asked, "--sweep", "drafts", "1", "4")


def test_a_model_brings_the_widths_of_its_layers(run):
    gated = ["formula", "layer_activation_bytes_gated", "activation_bytes=2", "--json"]
    code, out, _ = run(*gated, "--model", "Llama 3.1 70B")
    # Norms and their results, queries and heads' results, keys and values, three of the gate.
    assert code == 0 and json.loads(out)["value"] == 2 * (
        4 * 8192 + 2 * 8192 + 2 * 1024 + 3 * 28672
    )
    latent = ["formula", "layer_activation_bytes_latent", "activation_bytes=2", "--json"]
    code, out, _ = run(*latent, "--model", "DeepSeek-V3")
    own = 4 * 7168 + 2 * (1536 + 512) + 2 * 128 * (192 + 128) + 3 * 9 * 2048
    assert code == 0 and json.loads(out)["value"] == 2 * own
    code, out, err = run(*gated, "--model", "DeepSeek-V3")
    assert (code, out) == (2, "") and "DeepSeek-V3 has none" in err
    code, out, err = run(*latent, "--model", "Llama 3.1 70B")
    assert (code, out) == (2, "") and err.count("Llama 3.1 70B has none") == 3


@pytest.mark.parametrize(
    "model, better",
    [("Llama 3.1 70B", "_gated"), ("DeepSeek-V3", "_latent"), ("StarCoder 15B", "")],
)
def test_bytes_of_a_layer_without_a_gate_are_not_taken_in_silence(run, model, better):
    asked = ["formula", "layer_activation_bytes", "sequence_tokens=8k", "--model", model]
    code, out, _ = run(*asked)
    assert code == 0
    assert ("has a gate" in out) == bool(better)
    assert not better or f"layer_activation_bytes{better} counts it" in out
    code, out, _ = run(*asked, "bytes_per_width=33")
    assert code == 0 and "has a gate" not in out


def test_what_a_formula_gives_is_computed_from_what_was_given(run):
    run_ = ["formula", "training_time", "--hardware", "H100", "--model", "Llama 3.1 70B", "--json"]
    code, out, _ = run(*run_, "tokens=15T", "devices=2048", "mfu=40%")
    found = json.loads(out)
    by_hand = 6 * 70_553_706_496 * 15e12 / (2048 * 0.4 * 989e12)  # bf16, as training is
    assert code == 0 and found["value"] == pytest.approx(by_hand, rel=1e-3)
    assert found["inputs"]["training_flops"]["from"] == "computed"
    assert found["inputs"]["pretraining_tokens"]["from"] == "given"
    assert any("bf16 is taken" in note for note in found["notes"])
    code, out, _ = run(*run_, "training_flops=1e24", "devices=2048", "mfu=40%")
    assert code == 0 and json.loads(out)["inputs"]["training_flops"]["from"] == "given"
    for more, says in (
        (["training_flops=1e24", "tokens=15T", "mfu=40%"], "needs no pretraining_tokens here"),
        (["mfu=40%"], "In place of training_flops, give pretraining_tokens."),
        (["tokens=15T", "batch=3"], "training_time takes no batch"),
    ):
        code, out, err = run(*run_, "devices=2048", *more)
        assert (code, out) == (2, "") and says in err, more


def test_two_steps_of_formulas_are_computed_one_after_the_other(run):
    asked = ["formula", "prefill_per_decode", *SERVER, "--precision", "bf16", "--json"]
    given = ["prompt=4k", "answer_tokens=500", "batch=64", "context=4250", "mfu=50%"]
    code, out, _ = run(*asked, *given)
    one = json.loads(
        run(
            "formula",
            "throughput",
            *SERVER,
            "--precision",
            "bf16",
            "--json",
            "batch=64",
            "context=4250",
        )[1]
    )["value"]
    other = json.loads(
        run(
            "formula",
            "prefill_throughput",
            *SERVER,
            "--precision",
            "bf16",
            "--json",
            "prompt_tokens=4k",
            "mfu=50%",
        )[1]
    )["value"]
    # A prefill server serves so many requests a second, a decode server so many.
    assert code == 0 and json.loads(out)["value"] == pytest.approx((one / 500) / (other / 4000))
    code, out, err = run("formula", "goodput_colocated", *SERVER)
    assert (code, out) == (2, "") and "In place of prefill_time, give" in err
    swept = run(*asked[:-1], "--sweep", "batch", "64", "128", *given[:2], *given[3:])
    assert swept[0] == 0 and "throughput " not in swept[1].partition("answer_tokens")[0]


def test_a_bare_number_of_a_time_is_asked_about(run):
    for asked, says in (
        (["prefill_wait", "prefill_time=120", "request_rate=6/s"], "as in 120 ms or 120 hours"),
        (["job_mean_time_to_failure", "device_mean_time_to_failure=5e4"], "5e4 chip-hours"),
    ):
        code, out, err = run("formula", *asked)
        assert (code, out) == (2, "") and "needs its unit" in err and says in err
    link = ["bytes=16GB", "devices=64", "link_bandwidth=50 GB/s", "hop_latency=0"]
    code, out, _ = run("formula", "switch_all_reduce_time", *link)
    assert code == 0 and "630 ms" in out
    failures = ["device_mean_time_to_failure=50000h", "devices=2048"]
    code, out, _ = run("formula", "job_mean_time_to_failure", *failures)
    assert code == 0 and "24.4 h" in out


def test_chips_that_nobody_counted_are_said(run):
    asked = ["formula", "batch_that_fits", "--hardware", "H100", "--model", "Llama 3.1 8B"]
    asked += ["--precision", "bf16", "context=16k"]
    note = "8 chips are taken, the node or rack that H100 SXM comes in; devices=N changes it."
    assert note in run(*asked)[1].replace("\xa0", " ")
    code, out, _ = run(*asked, "gpus=1")
    assert code == 0 and "are taken" not in out and "30.5" in out


def test_a_value_of_all_chips_is_noticed(run):
    asked = ["--hardware", "H100 SXM", "--model", "Llama 3.1 70B", "--precision", "bf16"]
    fits = ["formula", "batch_that_fits", *asked, "context=32Ki"]
    code, out, _ = run(*fits, "memory_capacity=576GB")
    out = out.replace("\xa0", " ")
    assert code == 0 and re.search(r"memory_capacity +576 GB per chip +given", out)
    assert "576 GB is 7.2 times what H100 SXM has, 80 GB." in out
    code, out, _ = run(*fits, "memory_capacity=72GB")
    assert code == 0 and "is of one chip" not in out
    code, out, _ = run("estimate", *asked, "--set", "memory_capacity=576GB")
    assert code == 0 and "memory_capacity is of one chip" in out


def test_more_chips_than_heads_are_noticed(run):
    asked = ["--hardware", "H100 SXM", "--precision", "bf16"]
    llama = [*asked, "--model", "Llama 3.1 70B"]
    step = ["formula", "step_time", "batch=32", "context=4k"]
    for many, said in (("16", True), ("8", False)):
        assert ("each is held 2 times" in run(*step, *llama, f"devices={many}")[1]) is said
        assert ("each is held 2 times" in run("estimate", *llama, "--devices", many)[1]) is said
    code, out, _ = run(*step, *asked, "--model", "DeepSeek-V3", "devices=64")
    assert code == 0 and "heads of keys and values for" not in out  # one latent vector


def test_state_that_one_chip_cannot_hold_is_noticed(run):
    asked = ["formula", "zero_stage_3_memory", "--hardware", "H100 SXM", "--model", "Llama 3.1 70B"]
    code, out, _ = run(*asked, "devices=8")
    out = out.replace("\xa0", " ")
    assert code == 0 and "141 GB does not fit: one H100 SXM has 80 GB." in out
    code, out, _ = run(*asked, "devices=64")
    assert code == 0 and "does not fit" not in out


def test_numbers_that_only_a_measurement_gives_are_sent_there(run):
    code, out, err = run("formula", "served_step_time", *SERVER, "batch=1", "context=1k")
    assert (code, out) == (2, "") and "'handful runs' fits efficiencies and fixed time" in err
    assert "'handful runs'" not in run("formula", "step_time")[2]


def test_a_ring_of_gpus_is_answered_with_the_switch(run):
    given = ["devices=64", "bytes=16GB", "link_bandwidth=50GB/s", "hop_latency=10us"]
    code, out, _ = run("formula", "ring_all_reduce_time", "--hardware", "H100", *given)
    assert code == 0 and "switch_all_reduce_time counts it" in out
    code, out, _ = run("formula", "ring_all_reduce_time", "--hardware", "TPU v5p", *given)
    assert code == 0 and "switch_all_reduce_time counts it" not in out
    registered = registry()
    for name in registered:
        if name.startswith("ring_"):
            assert name.replace("ring", "switch") in registered


def test_a_rate_of_a_network_is_asked_for_with_those_of_the_chip(run):
    code, out, err = run("formula", "switch_all_reduce_time", "--hardware", "H100", "bytes=16GB")
    assert (code, out) == (2, "")
    assert "H100 SXM has 450 GB/s within its domain and 50 GB/s beyond" in err.replace("\xa0", " ")


def test_what_a_second_engineer_stumbled_on(run):
    served = ["devices=8", "context=6200", "answer_tokens=400", "tpot_target=30ms", *SERVER]
    out = run("formula", "decode_request_rate", *served)[1]
    assert re.search(r"A batch of 7\d\d does not fit: beside the weights there is room", out)
    disks = ["devices=1", "batch=1", "context=8k", "tier_bandwidth=12 GB/s"]
    code, out, _ = run("formula", "retrieve_time", *disks, *SERVER)
    assert code == 0 and "does not fit" not in out
    price = ["formula", "cost_per_token", "batch=1", "context=1", *SERVER, "device_price=2.4"]
    assert "needs its unit, as in 2.4 $ per chip-hour; got '2.4'." in run(*price)[2]
    assert (
        "model_flops_utilisation  40 %" in run("formula", "flops_per_dollar", "mfu=40%", *SERVER)[1]
    )
    kept = ["formula", "tensor_parallel_time", "batch=1", "prompt_per_answer=0", *SERVER]
    assert "At usual values: reduce_bytes = 2 B/token" in run(*kept)[1]


def test_a_unit_of_another_kind_is_answered_with_an_example(run):
    err = run("formula", "cost_per_token", "--solve", "batch", "cost_per_token=0.80 $/M")[2]
    assert "must be a dollar/token, as in 2 $ per million tokens; '0.80 $/M' is a dollar." in err
    err = run("formula", "requests_per_second", "--solve", "batch", "request_rate=9 tokens/s")[2]
    assert "must be a sequence/time, as in 2 requests/s; '9 tokens/s' is a token/time." in err


def test_a_missing_input_is_asked_for_as_it_can_be_given(run):
    err = run("formula", "expert_parallel_time", "--hardware", "H100", "--model", "DeepSeek-V3")[2]
    assert err.endswith("; give NAME=VALUE.\n")
    assert "choose a chip and a model" in run("formula", "step_time", "batch=1")[2]
    err = run("formula", "step_time", "bandwidth_utilisation=0.65")[2]
    assert "which is a formula of its own: 'handful formula bandwidth_utilisation'" in err


def test_a_formula_without_a_value_says_at_which_input(run):
    sure = ["formula", "expected_accepted_tokens", "acceptance=1", "drafts=4"]
    out = run(*sure)[1]
    assert out.startswith("expected_accepted_tokens = no value\n")
    assert (
        "The equation is not defined at acceptance = 1, as 0/0 is not; give a value just inside "
        "that limit." in out
    )
    found = json.loads(run(*sure, "--json")[1])
    assert found["value"] is None and len(found["notes"]) == 1
    out = run("formula", "seat_wait", "load=1", "seats=4", "batch_interval=20ms", "answer_tokens=9")
    assert "seat_wait = infinite\n" in out[1] and "divides by 0 at load = 100 %." in out[1]


def test_a_configuration_that_cannot_be_counted_is_one_sentence(run, tmp_path):
    path = tmp_path / "config.json"
    for text, said in (
        (json.dumps(GEMMA | {"num_hidden_layers": -1}), "num_hidden_layers must be a whole number"),
        (json.dumps(GEMMA | {"hybrid_override_pattern": "M*"}), "Mamba layers beside attention"),
        ("{", "This is no JSON"),
        ("[]", "one object in braces"),
    ):
        path.write_text(text)
        code, out, err = run("shape", str(path))
        assert (code, out) == (2, "") and err.startswith(f"handful: {path}: ")
        assert said in err and err.count("\n") == 1
    assert run("shape", str(tmp_path / "none"))[::2] == (
        2,
        f"handful: {tmp_path / 'none'}: there is no such file.\n",
    )
    for text, said in (("none", "holds no config.json"), ("{]", "This is no JSON")):
        done = process("shape", "-", input=text)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("handful: Standard input") and said in done.stderr
        assert done.stderr.count("\n") == 1


def test_claims_are_listed_with_time_and_verdict(run):
    code, out, _ = run("claims")
    assert code == 0 and len(out.splitlines()) == len(claims.load())
    [line] = [line for line in out.splitlines() if line.split()[1] == "batch-is-2400"]
    assert re.split(r"\s{2,}", line)[2] == "wrong"


@pytest.mark.parametrize("claim", claims.load(), ids=lambda claim: claim.id)
def test_a_claim_is_shown_with_what_it_was_judged_by(run, claim):
    code, out, err = run("claims", claim.id)
    assert (code, err) == (0, "") and out.startswith(f"{claim.time} {claim.who}: ")
    assert (
        f"\n{claim.verdict.capitalize()}, {claims.BASES[claim.basis]}\n" in out
        and claim.link in out
    )
    found = [*claim.values, *claim.findings]
    assert out.count("  agrees") + out.count("  differs") >= len(found)
    assert all(
        " ".join(one.label.split()) in " ".join(out.split())
        for one in (claim.values or claim.findings)
    )


def test_claims_for_programs(run):
    everything = json.loads(run("claims", "--json")[1])
    assert [one["id"] for one in everything] == [claim.id for claim in claims.load()]
    assert json.loads(run("claims", "batch-is-2400", "--json")[1]) == next(
        one for one in everything if one["id"] == "batch-is-2400"
    )


def test_an_unknown_claim_names_its_nearest(run):
    code, out, err = run("claims", "batch-is-2401")
    assert (code, out) == (2, "") and "batch-is-2400" in err and err.count("\n") == 1


# Measuring


@pytest.fixture
def machine(monkeypatch):
    """Backends whose work is nothing but the clock's ticks."""

    def backend(name):
        def made(*, quick):
            return measure.Backend(
                name,
                "float32",
                4,
                8,
                1,
                (4,),
                (1, 2, 4) if quick else (1, 2, 4, 8),
                lambda n: idle,
                {"sum": idle},
                lambda batch: idle,
                idle,
            )

        return made

    def idle():
        pass

    monkeypatch.setattr(measure, "processor", backend("a processor"))
    return lambda: monkeypatch.setattr(measure, "gpu", backend("a GPU"))


def test_measure_reports_and_says_why_there_is_no_gpu(run, machine, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    code, out, err = run("measure")
    assert code == 0 and out.startswith("a processor, float32\n") and "Measured knee" in out
    assert out.endswith("\nNo GPU was measured: PyTorch cannot be imported.\n")
    assert err.startswith("measuring with a processor …\narithmetic: ")
    code, out, err = run("measure", "--gpu")
    assert (code, out, err) == (
        1,
        "",
        "handful: No GPU was measured: PyTorch cannot be imported.\n",
    )


def test_measure_measures_a_gpu_too(run, machine):
    machine()
    found = json.loads(run("measure", "--quick", "--json")[1])
    assert [one["name"] for one in found] == ["a processor, float32", "a GPU, float32"]
    assert [point["batch_sequences"] for point in found[0]["points"]] == [1, 2, 4]
    assert found[0]["bandwidth_bytes_per_s"] > 0
    assert found[0]["source"].startswith("measured with a processor")
    assert [one["name"] for one in json.loads(run("measure", "--gpu", "--json")[1])] == [
        "a GPU, float32"
    ]


def test_an_interrupted_measurement_leaves_no_trace(run, machine, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "measure", stopped)
    assert run("measure", "--quick")[:2] == (130, "")


# Wrong input


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["estimat"], "There is no command 'estimat'; the nearest are: estimate."),
        (
            ["estimate", "--hardware", "H10"],
            "There is no hardware 'H10'; the nearest are: H100 SXM.",
        ),
        (
            ["estimate", "--model", "gpt"],
            "'gpt' is the beginning of several names: gpt-oss-20b and gpt-oss-120b; write one of "
            "them in full.",
        ),
        (
            ["estimate", "--hardware", "MI300X", "--precision", "fp4"],
            "MI300X has no fp4 arithmetic; it has bf16, fp8 and int8, so the precisions allowed "
            "are bf16, fp8 and "
            "int8-weights.",
        ),
        (
            ["compare", "--hardware", "H100 SXM", "A100 80GB", "--precision", "fp8"],
            "A100 80GB has no fp8 arithmetic; it has bf16 and int8, so the precisions allowed are "
            "bf16 and "
            "int8-weights.",
        ),
        (["estimate", "--batch", "0"], "batch must be above 0 (in sequence); got 0.0."),
        (["estimate", "--batch", "-4"], "batch must be above 0 (in sequence); got -4.0."),
        (["estimate", "--batch", "2.5"], "batch must be a whole number; got '2.5'."),
        (
            ["estimate", "--batch", "1e400"],
            "batch must be a number (in sequence): '1e400' is too large to compute with.",
        ),
        (["estimate", "--context", "8 kB"], "context must be a token/sequence; '8 kB' is a byte."),
        (
            ["estimate", "--batch"],
            "Argument --batch: expected one argument; see 'handful estimate --help'.",
        ),
        (
            ["estimate", "--chips", "8"],
            "There is no option --chips; the nearest are: --devices; see",
        ),
        (
            ["estimate", "--set", "devices"],
            "'devices' is no setting; write NAME=VALUE, such as devices=16.",
        ),
        (["estimate", "--set", "bach=3"], "There is no quantity 'bach'; the nearest are: batch."),
        (["formula", "step_tim"], "There is no formula 'step_tim'; the nearest are: step_time"),
        (["facts", "chips"], "There is no table 'chips'; there are: accelerators, "),
        (
            ["facts", "accelerators", "H100"],
            "The table accelerators has no row 'H100'; the nearest are: H100 SXM",
        ),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(run, argv, sentence):
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert err.startswith(f"handful: {sentence}") and err.count("\n") == 1


def test_a_fault_of_ours_is_not_passed_off_as_wrong_input(run, monkeypatch):
    def broken(*_):
        raise ValueError("a bug")

    monkeypatch.setattr(facts, "load", broken)
    with pytest.raises(ValueError, match="a bug"):
        run("facts")


# As a process


def test_the_command_is_installed_under_its_name():
    [(name, target)] = tomllib.loads(PROJECT.read_text())["project"]["scripts"].items()
    module, _, function = target.partition(":")
    assert name == "handful" and getattr(importlib.import_module(module), function) is main


def test_python_m_handful():
    done = process("estimate", *H100)
    assert (done.returncode, done.stderr) == (0, "") and "One decode step" in done.stdout
    assert "\x1b" not in done.stdout
    done = process("estimate", "--hardware", "H10")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert "usage: handful" in process().stdout


def test_the_package_runs_as_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["handful", "facts", "accelerators", "H1000"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("handful", run_name="__main__")
    assert stop.value.code == 2 and "H100" in capsys.readouterr().err
    runpy.run_module("handful", run_name="imported")  # which runs nothing
    assert capsys.readouterr() == ("", "")


def test_an_estimate_loads_nothing_that_draws_or_optimises():
    code = (
        "import sys; from handful.cli import main; early = 'sympy' in sys.modules; "
        "main(['estimate', '--json']); late = {'matplotlib', 'scipy', 'torch'} & {*sys.modules}; "
        "sys.exit(f'{early} {late}' if early or late else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_who_leaves_is_no_error():
    """More than a pipe holds is written, and nobody reads it.

    So it is in `handful facts measured_silicon | head -1`.
    """
    command = subprocess.Popen(
        [sys.executable, "-P", "-m", "handful", "facts", "measured_silicon", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    command.stdout.readline()
    command.stdout.close()
    assert command.stderr.read() == b"" and command.wait(timeout=60) == 0
    command.stderr.close()


def test_a_terminal_without_our_letters_gets_question_marks():
    done = process(
        "facts", "accelerators", "H100 SXM", env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0
    done = process("estimate", *H100, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and "8 ? H100 SXM" in done.stdout
