"""Tests of the page's own_server.js: the same points, fits and changes as own_server.py's."""

import json
import math
import subprocess
from collections import defaultdict
from dataclasses import asdict

import pytest

from handful import facts, scenario
from handful_evidence import own_server
from handful_evidence.own_server.points import chip_of
from handful_evidence.result_files import Run
from handful_explorers.tables import own_server as own_server_table
from handful_site import bootstrap
from handful_site.extensions.own_server import page_data

ASK = """
import { readFileSync } from "node:fs";
import * as page from %s;
const { data, cases } = JSON.parse(readFileSync(0, "utf-8"),
  (_, v) => (v === "inf" ? Infinity : v));
const formulas = page.formulasOf(data);
const answer = ({ runs, bases, apart, step }) => {
  const points = page.pointsOf(runs, (run) => bases[run.source], formulas, apart);
  const out = { points: points.map(({ run, base, ...rest }) => rest) };
  try {
    const found = page.fit(points), usual = page.usualLoad(points.filter((p) => !p.whyNot));
    const usable = points.filter((p) => !p.whyNot);
    const { predicted, interval, parts, firstToken, knee, changes } =
      page.predictor(found, formulas);
    const { nearest, ...wait } = firstToken(usable, usual);
    const { now, best } = changes(usual, step);
    Object.assign(out, {
      values: found.values, intervals: found.intervals, warnings: found.warnings,
      predicted: predicted(usual), interval: interval(usual), knee: knee(usual),
      changes: [now, ...best], parts: parts(usual), wait: { ...wait, nearest: nearest?.run.source },
      load: [usual.batch, usual.context, usual.prompt_per_answer],
      uneven: page.unevenHeads({ ...usual, devices: 5 }) + page.unevenHeads(usual),
      heldBack: page.heldBack(points),
      missed: page.missedNear(points.filter((p) => !p.whyNot), found, usual.context),
      share: page.atContext(usual, 4 * usual.context).prompt_per_answer,
      usualStep: page.usualStep(points.filter((p) => !p.whyNot)),
    });
  } catch (error) {
    if (!(error instanceof page.ServerError)) throw error;
    out.error = error.message;
  }
  return out;
};
const names = data.names.map(([rows, text]) => [page.choose(data.rows[rows], text, data),
  page.chipOf(data.rows[rows], text, data),
  Object.values(page.storedPrecision(text, data, (one) => one.startsWith("fp"))),
  page.storedAs(["", "Llama 3.1 70B", text], data, () => false).says]);
console.log(JSON.stringify([names, cases.map(answer)],
  (_, v) => (v === Infinity ? "inf" : Number.isNaN(v) ? null : v)));
"""
NAMES = [
    ("model", "meta-llama/Llama-3.3-70B-Instruct-FP8"),
    ("model", "Qwen/Qwen3-235B-A22B-Thinking-2507"),
    ("model", "DeepSeek-V3-Lite"),
    ("model", "RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8-dynamic"),
    ("model", "neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w8a8"),
    ("model", "nvidia/DeepSeek-R1-0528-NVFP4-v2"),
    ("model", "Qwen/Qwen2.5-72B-Instruct-GPTQ-Int8"),
    ("model", "mistralai/Mistral-7B-Instruct-v0.2"),
    ("model", "moonshotai/Kimi-K2-Thinking"),
    ("model", "Llama 3.1"),
    ("model", "gpt_oss_120b"),
    ("model", "__proto__"),
    ("hardware", "b200-dgxc_3"),
    ("hardware", "H100"),
    ("hardware", "h200-trt"),
    ("hardware", "my rack"),
    ("hardware", "constructor"),
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Ask the page's script, bundled, about some cases."""
    node, root = bootstrap.node_command(), bootstrap.ROOT
    script = tmp_path_factory.mktemp("page") / "own_server.mjs"
    subprocess.run(
        [
            *(*node, str(root / "node_modules/esbuild/bin/esbuild")),
            *("--bundle", "--format=esm", "--log-level=error", f"--outfile={script}"),
        ],
        input="".join(
            f'export * from "./{name}.js";' for name in ("own_server", "fit", "predictions")
        ),
        text=True,
        cwd=root / "lib/handful_site/runs",
        check=True,
    )

    def ask(cases):
        rows = {
            kind: [{"name": row["name"]} for row in scenario.page_rows()[kind]]
            for kind in ("hardware", "model")
        }
        data = {**page_data(), "rows": rows, "names": NAMES}
        text = json.dumps({"data": data, "cases": cases}).replace("Infinity", '"inf"')
        done = subprocess.run(
            [*node, "--input-type=module", "--eval", ASK % json.dumps(script.as_uri())],
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return json.loads(done.stdout.replace('"inf"', "Infinity"))

    return ask


def servers():
    """Return the public runs, a list for each server, and each as far as its first points."""
    groups = defaultdict(list)
    for row in facts.load("measured_runs"):
        key = [row[name] for name in ("chip", "shape", "precision", "chips", "engine")]
        apart, copies = row["prompts_apart"], row["copies"]
        groups[(*key, apart, copies)].append(
            Run(
                row.name, "a table", row["concurrency"] / copies, row["isl_tokens"],
                row["osl_tokens"], row["tpot_ms"] / 1e3,
                row["ttft_ms"] and row["ttft_ms"] / 1e3,
                hardware=row["chip"], model=row["shape"], precision=row["precision"],
                devices=row["chips"],
            )
        )  # fmt: skip
    for key, runs in groups.items():
        yield runs, key[5]
        if len(runs) > 12:
            yield runs[:5], key[5]
            yield runs[:3], key[5]


def numbers(known):
    return {name: value for name, value in known.items() if isinstance(value, int | float)}


def case(runs, apart, step, **more):
    """Return the runs and the values of their chip and model, as the page has them."""
    found = own_server.points(runs, prompts_apart=apart, **more)
    bases = {one.run.source: numbers(one.known) for one in found}
    given = [{**asdict(run), "notes": list(run.notes)} for run in runs]
    return found, {"runs": given, "bases": bases, "apart": apart, "step": step}


def alike(one, other, tolerance=1e-9):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[k], other[k], tolerance) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(
            alike(a, b, tolerance) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, float | int) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-15)
    return one == other


def test_the_page_fits_what_python_fits(asked):
    """Every public server, whole and by its first five and three points."""
    pairs = [case(runs, apart, 0.02) for runs, apart in servers()]
    made = next(runs for runs, _ in servers() if runs[0].hardware == "H100 SXM")
    here = {"hardware": "H100 SXM", "devices": 8}
    odd = [
        Run("guessed", "x", 8, 100, 100, 0.01, 0.1, notes=("speculative decoding: 2 a step",)),
        Run("no step", "x", 8, 100, 100),
        Run("no answer", "x", 8, 100, None, 0.01),
        Run("no rate", "x", None, 100, 100, 0.01),
        Run("mixed", "x", 2, 100, 100, 0.01, 0.1, 9000.0),
        Run("below", "x", 64, 9000, 100, 1e-4, 0.1, **here),
        *made[:6],
    ]
    pairs.append(case(odd, False, 0.02, model="Llama 3.1 70B", precision="fp8"))
    _, answers = asked([one for _, one in pairs])
    warned = set()
    for (found, asking), theirs in zip(pairs, answers, strict=True):
        for ours, point in zip(found, theirs["points"], strict=True):
            assert point["whyNot"] == ours.why_not, ours.run.source
            if not math.isnan(ours.measured):
                assert alike(
                    [point["batch"], point["memoryTime"], point["computeTime"]],
                    [ours.known["batch"], ours.memory_time, ours.compute_time],
                )
        try:
            fitted = own_server.fit(found)
        except own_server.ServerError as error:
            assert theirs["error"] == str(error)
            continue
        usual = own_server.usual_load([one for one in found if not one.why_not])
        name = found[0].run.source
        assert alike(theirs["values"], dict(fitted.values), 1e-6), name
        assert alike(theirs["intervals"], dict(fitted.intervals), 1e-6), name
        assert theirs["warnings"] == list(fitted.warnings), name
        assert alike(theirs["predicted"], fitted.predicted(usual), 1e-6), name
        assert alike(theirs["interval"], list(fitted.interval(usual)), 1e-6), name
        assert alike(theirs["knee"], own_server.knee(fitted, usual), 1e-5), name
        names = ("batch", "context", "prompt_per_answer")
        assert alike(theirs["load"], [usual[key] for key in names]), name
        parts = own_server.parts(fitted, usual)
        assert alike(theirs["parts"]["step"], parts, 1e-5), name
        assert theirs["parts"]["binds"] == own_server.limit(parts), name
        wait = own_server.first_token(found, fitted, usual)
        nearest = {"nearest": wait.nearest.run.source} if wait.nearest else {}
        ours = {k: v for k, v in vars(wait).items() if v == v and k != "nearest"} | nearest
        assert alike({k: v for k, v in theirs["wait"].items() if v is not None}, ours, 1e-5), name
        odd = own_server.uneven_heads({**usual, "devices": 5}) + own_server.uneven_heads(usual)
        assert theirs["uneven"] == odd, name
        now = own_server.best_at(fitted, usual, asking["step"])
        changes = [now, *own_server.changes(fitted, usual, asking["step"])]
        renamed = {"cost_interval": "costInterval", "gain_interval": "gainInterval"}
        ours = [{renamed.get(k, k): v for k, v in asdict(one).items()} for one in changes]
        assert alike(theirs["changes"], ours, 1e-5), name
        assert theirs["heldBack"] == own_server.held_back(found), name
        assert alike(
            theirs["missed"], own_server.missed_near(found, fitted, usual["context"]), 1e-6
        )
        there = own_server.at_context(usual, 4 * usual["context"])["prompt_per_answer"]
        assert alike(theirs["share"], there), name
        warned |= {warning.split()[0] for warning in fitted.warnings}
    assert len(warned) >= 3  # all kinds of warnings were compared


def test_the_page_knows_names_as_python_does(asked):
    [names, _] = asked([])
    for (kind, text), (row, chip, stored, says) in zip(NAMES, names, strict=True):
        ours = scenario.stored_precision(text, "A100 80GB")
        assert [*ours[:1], ours[1] or "", ours[2]] == stored, text
        assert says == ("name" if scenario.stored_precision(text)[2] == "name" else "published")
        try:
            assert row == scenario.choose(kind, text)["name"]
        except scenario.ScenarioError:
            assert row == ""
        if kind == "hardware":
            theirs = chip_of(text)
            assert chip == "" if theirs == text and not row else chip


def test_the_words_of_the_page_of_the_public_run_are_true():
    """What it says without roles, from the points and the fit."""
    points, fit = own_server_table.points(), own_server_table.fit()

    def point(prompt, users):
        [found] = [
            one for one in points if (one.run.input_tokens, one.run.concurrency) == (prompt, users)
        ]
        return found

    alone, many = point(551, 1), point(551, 64)
    assert len(points) == 38 and round(alone.over_floor) == 18  # "eighteen times"
    assert 2 < many.measured / alone.measured < 2.4  # "little more than twice the time"
    assert round(many.known["batch"], -1) == 60  # "for sixty times the tokens"
    assert 2.1 < many.over_floor < 2.4  # "a little over twice that"
    assert round(many.known["prompt_per_answer"]) == 2  # "two tokens of prompt"
    assert 0.04 < alone.memory_time / fit.predicted(alone.known) < 0.06  # "one twentieth"
    layers = scenario.values("H100 SXM", "MiniMax-M2.5", "fp8")["layers"]
    assert 1e-4 < fit.values["fixed_time"] / layers < 2e-4  # "more than a tenth of a millisecond"
    assert round(fit.values["compute_efficiency"], 2) == 0.08  # "eight per cent"
    assert fit.values["memory_efficiency"] > 0.995  # "at its limit"
    shape = facts.get("shapes", "MiniMax-M2.5")
    read = alone.memory_time * 8 * alone.known["memory_bandwidth"]
    assert 0.05 < shape["vocab"] * shape["d_model"] / read < 0.065  # "some six per cent"
    long = [one for one in points if one.known["context"] > 50_000]
    missed = [one.measured / fit.predicted(one.known) for one in long]
    assert len(long) == 4 and 1.08 < min(missed) < 1.12 and 1.28 < max(missed) < 1.36
    longest, short = point(194599, 1), point(167, 1)
    more, allowed = longest.measured - short.measured, longest.floor - short.floor
    assert 3.8e-3 < more < 4e-3 and 1.7e-3 < allowed < 2e-3  # "four ... fewer than two"
    assert 2 < more / allowed < 2.2  # "half as well"
    fast, slow = (own_server_table.what_would_help(step).rows for step in (0.012, 0.020))
    assert fast[1][0] == "half the fixed time of a step"
    assert fast[1][3] > "2.1" and slow[3][0] == fast[1][0]  # "first ... doubled", "third"
    known = max(
        (one for one in points if one.run.input_tokens == 1063), key=lambda one: one.known["batch"]
    ).known
    parts = own_server.parts(fit, {**known, "batch": int(slow[0][1])})
    rest = sum(parts.values()) - parts["fixed"]
    assert 0.32 < parts["fixed"] / sum(parts.values()) < 0.37  # "about a third"
    assert (parts["weights"] + parts["prompts"]) / rest > 0.8  # "most of the rest"
    [apart] = [
        one
        for one in own_server.changes(fit, known, 0.020, most=9)
        if one.name.startswith("prompts on chips")
    ]
    assert 1.48 < apart.gain < 1.58 and apart.name not in [row[0] for row in slow]
    assert 75 < int(slow[0][1]) < 85  # "room for eighty users"
