"""Tests of explorers as declared: what they refuse, what they compute, and what they say."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from ipywidgets import Checkbox, Dropdown, FloatLogSlider, FloatSlider, IntSlider, Text

from handful import balance, latency
from handful.symbolic.quantities import QuantityError
from handful_evidence import measured
from handful_explorers.plotting import widget
from handful_explorers.plotting.describe import describe
from handful_explorers.plotting.explorer import (
    Control,
    Curve,
    Explorer,
    ExplorerError,
    Guess,
    Mark,
    Points,
    Preset,
    Readout,
    Scale,
    Sweep,
)
from handful_explorers.plotting.figure import extent
from handful_explorers.plotting.scenes import bars

BATCH = Sweep("batch", 1, 65536, at=256)


def context(value=8192):
    return Control(FloatLogSlider(value=value, min=3, max=6), "context")


def make(**changes):
    settings = dict(
        name="latency",
        title="Latency",
        x=BATCH,
        y=Scale("Time per step"),
        curves=[
            Curve(latency.step_time, "step", "total", band=(1.3, 2.2)),
            Curve(latency.compute_time, "compute"),
        ],
        marks=[Mark(balance.balance_batch, "balance")],
        controls=[context()],
        readouts=[latency.throughput],
        presets=[Preset("Long", {"context": 1e5, "batch": 2000})],
    )
    settings.update(changes)
    return Explorer(
        settings.pop("name"),
        settings.pop("title"),
        settings.pop("x"),
        settings.pop("y"),
        **settings,
    )


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (dict(name="Bad name"), "lower-case letters, digits and hyphens; got 'Bad name'"),
        (dict(kind="pie"), "kind must be curves, parametric, bars, "),
        (dict(controls=[context(), context()]), "two controls for context"),
        (
            dict(controls=[Control(FloatSlider(min=0, max=1), "device_price")]),
            "a control for device_price, which none of its formulas uses",
        ),
        (dict(controls=[Control(IntSlider(min=1, max=9), "batch")]), "sweeps batch along x"),
        (
            dict(controls=[Control(Text(), "context")]),
            "FloatLogSlider, FloatSlider, IntSlider, Dropdown or Checkbox",
        ),
        (
            dict(controls=[Control(Checkbox(), "nothing")]),
            "shows or hides a curve, and 'nothing' is none of compute, step",
        ),
        (
            dict(controls=[Control(FloatSlider(min=0, max=1), "hardware")]),
            "its control must be a Dropdown",
        ),
        (
            dict(presets=[Preset("p", {"context": 5})]),
            "preset “p”: context must be between 1000 and 1e+06; got 5",
        ),
        (
            dict(presets=[Preset("p", {"contxt": 5000})]),
            "no control 'contxt'; the nearest are: context",
        ),
        (dict(presets=[Preset("p", {"batch": 1e9})]), "batch must be between 1 and 65536"),
        (
            dict(curves=[Curve(latency.step_time, "a"), Curve(latency.cost_per_token, "b")]),
            "must share a unit",
        ),
        (
            dict(curves=[Curve(latency.step_time, "a"), Curve(latency.compute_time, "a")]),
            "two curves of the id 'a'",
        ),
        (dict(curves=[]), "needs a sweep x, a scale y and at least one curve"),
        (
            dict(curves=[Curve(latency.latency_floor, "floor")], marks=[], readouts=[]),
            "sweeps batch, which none of its formulas uses",
        ),
        (dict(y=Scale("t", "parsec")), "there is no unit 'parsec'"),
        (
            dict(
                controls=[Control(Dropdown(options=["a"]), "row", rows={"a": {"device_price": 1}})]
            ),
            "the rows of row set device_price, which none",
        ),
        (
            dict(guess=Guess("How long?", draw="steps")),
            "latency: a guess asks for the curve 'steps', which is none of step, compute.",
        ),
        (
            dict(guess=Guess("How many?", mark="ridge")),
            "latency: a guess asks for the upright mark 'ridge', which is none of balance.",
        ),
        (
            dict(guess=Guess("How many?", mark="balance"), marks=[]),
            "the upright mark 'balance', which is none of its marks, of which it has none.",
        ),
        (
            dict(
                guess=Guess("How long?", level="step"),
                across=(latency.tokens_per_user, Scale("Tokens per second")),
            ),
            "latency: only a plot of curves over its sweep asks for a guess; this is parametric.",
        ),
    ],
)
def test_refused(changes, sentence):
    with pytest.raises(ExplorerError, match=re.escape(sentence)):
        make(**changes)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Sweep("batch", -1, 10), "must rise from above 0 on a log axis; got -1 to 10"),
        (lambda: Sweep("batch", 10, 1), "must rise"),
        (lambda: Sweep("batch", 1, 10, at=11), "must start within 1 to 10; got 11"),
        (lambda: Sweep("batch", 1, 10, points=2), "3 to 2001 points; got 2"),
        (lambda: Scale("t", log=True, min=0), "must be above 0; got 0"),
        (lambda: Scale("t", min=2, max=1), "must rise; got 2 to 1"),
        (lambda: Curve(latency.step_time, "a", "main"), "total, part or reference; got 'main'"),
        (lambda: Curve(latency.step_time, "a", band=(2, 1)), "two rising factors above 0"),
        (
            lambda: Curve(latency.step_time, "a", band=(1, 2), bands=measured.page_bands()),
            "one band or a band for each class, not both",
        ),
        (
            lambda: Explorer(
                "a",
                "a",
                Sweep("context", 100, 1000),
                Scale("a"),
                curves=[Curve(latency.step_time, "a", bands=measured.page_bands())],
            ),
            "must sweep the batch and draw it along x",
        ),
        (
            lambda: Curve(latency.kv_time, "a", bands=measured.page_bands()),
            "use devices and experts; it lacks experts",
        ),
        (
            lambda: Curve(latency.step_time, "a", bands=measured.page_bands()[:5]),
            "must end, for dense models and for experts, with one for any",
        ),
        (
            lambda: Curve(latency.step_time, "a", scenario={"chip": "H100 SXM"}),
            "may pin hardware, model, precision or context; got 'chip'",
        ),
        (lambda: Preset("p", {}), "sets nothing"),
        (lambda: Mark(balance.balance_batch, "m", axis="z"), "'x' or 'y'; got 'z'"),
        (lambda: Guess("How long?"), "takes one of draw, level and mark; got 0 of them"),
        (lambda: Guess("How long?", draw="a", mark="b"), "and mark; got 2 of them"),
        (lambda: Guess("Draw it.", draw="a"), "asks a question of at most 50 words; got 2"),
        (lambda: Guess("so " * 50 + "long?", draw="a"), "at most 50 words; got 51"),
    ],
)
def test_refused_words(call, sentence):
    with pytest.raises(ExplorerError, match=re.escape(sentence)):
        call()


def test_unknown_symbol_and_negative_value():
    with pytest.raises(QuantityError, match="nearest are: batch"):
        Sweep("bach", 1, 2)
    with pytest.raises(QuantityError, match="must be above 0"):
        Curve(latency.step_time, "a", given={"batch": -1})


@pytest.mark.parametrize(
    "state",
    [{"context": -1}, {"context": "many"}, {"context": True}, {"batch": 0}, {"colour": "red"}],
)
def test_bad_state(state):
    with pytest.raises(ExplorerError, match=r"must be between|no control"):
        make().values(**state)


# What is computed ---------------------------------------------------------------------------------


def test_values_are_the_formulas():
    explorer = make()
    v = explorer.values(context=1e5, batch=2000)
    known = explorer.symbol_values(explorer.state(context=1e5))
    assert known["context"] == 1e5
    np.testing.assert_allclose(
        v["curves"]["step"], latency.step_time(known, batch=v["x"]), rtol=1e-14
    )
    assert v["at"]["step"] == latency.step_time(known, batch=2000)
    assert v["readouts"]["Throughput"] == latency.throughput(known, batch=2000)
    assert v["x"][0] == 1 and v["x"][-1] == pytest.approx(65536)


def test_pinned_curves_and_given():
    explorer = make(
        curves=[
            Curve(latency.step_time, "here"),
            Curve(latency.step_time, "H100", scenario={"hardware": "H100 SXM"}),
            Curve(latency.step_time, "half", given={"bytes_per_parameter": 0.5}),
        ]
    )
    at = explorer.values()["at"]
    assert at["half"] < at["here"] < at["h100"]


def test_spec_is_the_same_every_time():
    one, two = (json.dumps(make().spec(), allow_nan=False) for _ in range(2))
    assert one == two
    spec = json.loads(one)
    assert spec["controls"][0] == {
        "name": "context",
        "type": "log",
        "label": "Context",
        "value": 8192,
        "unit": "token",
        "min": 1000,
        "max": 1000000,
    }
    assert spec["x"]["name"] not in spec["values"]


def test_controls_of_every_class():
    explorer = make(
        controls=[
            context(),
            Control(FloatSlider(value=2, min=1, max=4), "bytes_per_parameter"),
            Control(IntSlider(value=8, min=1, max=72), "devices"),
            Control(Checkbox(value=True), "compute"),
            Control(Dropdown(options=[("BF16", "bf16"), ("FP8", "fp8")], value="fp8"), "precision"),
        ]
    )
    assert [c["type"] for c in explorer.spec()["controls"]] == [
        "log",
        "linear",
        "int",
        "check",
        "choice",
    ]
    assert "compute" not in explorer.values(compute=False)["curves"]
    assert explorer.values(precision="bf16")["at"]["compute"] == pytest.approx(
        2 * explorer.values()["at"]["compute"]
    )


# What is said and drawn ---------------------------------------------------------------------------

XS = np.geomspace(1, 4096, 241)


@pytest.mark.parametrize(
    ("ys", "text"),
    [
        (1e-3 / XS, "falls 4,100-fold from batch 1 to 4,100"),
        (0 * XS + 2e-3, "stays near 2\u00a0ms"),
        (1e-3 * XS**0.15, "rises 3.5-fold from batch 1 to 4,100"),
        (
            np.where(XS > 100, np.inf, 1e-3 * XS),
            "rises 97-fold from batch 1 to 97; above batch 97 it is out of reach",
        ),
        (
            np.where(XS < 100, 1e-3 / np.maximum(1e-9, 1 - XS / 100), np.inf),
            "stays near 1.1\u00a0ms, then rises without end from batch 11 on; above batch 97 it is"
            " out of reach",
        ),
        (0 * XS + np.nan, "has no value here"),
    ],
)
def test_courses(ys, text):
    assert describe(XS, ys, "batch", "sequence", "s", True) == text


def test_flat_then_rising():
    text = describe(XS, np.maximum(1e-3, 1e-5 * XS), "batch", "sequence", "s", True)
    assert re.fullmatch(
        r"stays near 1 ms, then rises 3\d-fold from batch 1[01]0 on".replace(" ms", "\u00a0ms"),
        text,
    )


def test_alt_text_and_table():
    explorer = make()
    assert re.match(
        r"Step rises .*from batch 1 .* At batch 256: step .*ms; compute .*s\.$", explorer.alt_text()
    )
    head, rows = explorer.table()
    assert head == ["Batch", "step", "compute"]
    assert len(rows) == 10 and all(len(row) == 3 for row in rows)


def test_html_holds_no_style_and_no_script_but_data():
    text = make().html()
    assert " style=" not in text and "<style" not in text and "javascript" not in text
    assert re.findall(r"<script[^>]*>", text) == [
        '<script type="application/json" class="explorer-spec">'
    ]
    block = re.search(r'class="explorer-spec">(.*?)</script>', text, re.S)[1]
    assert json.loads(block) == json.loads(json.dumps(make().spec()))
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids)) and set(re.findall(r'href="#([^"]+)"', text)) <= set(ids)


def test_figure_shows_curves_and_labels():
    axes = make().figure().axes[0]
    assert {"step", "compute"} <= {t.get_text() for t in axes.texts}
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_stack_and_parametric():
    stacked = make(
        name="cost",
        curves=[Curve(latency.weight_cost, "weights"), Curve(latency.kv_cost, "KV")],
        stack=True,
        marks=[],
        readouts=[],
        y=Scale("Cost", log=False, min=0),
    )
    assert stacked.figure().axes[0].get_ylim()[0] == 0
    frontier = make(
        name="frontier",
        y=Scale("Cost"),
        curves=[Curve(latency.cost_per_token, "here")],
        marks=[],
        readouts=[],
        across=(latency.tokens_per_user, Scale("Tokens a second")),
    )
    assert frontier.kind == "parametric"
    assert frontier.spec()["across"]["unit"] == "token/s"
    assert frontier.alt_text().startswith("Tokens a second falls")


def test_rows_set_several_symbols_at_once():
    rows = {
        "small": {"total_parameters": 8e9, "bytes_per_parameter": 2},
        "large": {"total_parameters": 70e9, "bytes_per_parameter": 1},
    }
    explorer = Explorer(
        "rows",
        "Rows",
        Sweep("memory_bandwidth", 1e12, 1e13, at=2e12),
        Scale("Time"),
        given={"devices": 1},
        curves=[Curve(latency.full_weight_time, "read")],
        controls=[
            Control(Dropdown(options=list(rows), value="small"), "model_row", "Model", rows=rows)
        ],
        presets=[Preset("The large one", {"model_row": "large"})],
    )
    assert explorer.values()["at"]["read"] == pytest.approx(8e9 * 2 / 2e12)
    assert explorer.values(model_row="large")["at"]["read"] == pytest.approx(70e9 / 2e12)
    assert explorer.spec()["controls"][0]["rows"][1] == {
        "total_parameters": 70_000_000_000,
        "bytes_per_parameter": 1,
    }
    with pytest.raises(ExplorerError, match="'c'"):
        Control(Dropdown(options=["c"]), "row", rows=rows)
    with pytest.raises(ExplorerError, match="must set the same symbols"):
        Control(Dropdown(options=["small"]), "row", rows=rows | {"odd": {"batch": 1}})


def test_points_are_told_drawn_and_listed():
    explorer = make(points=[Points("measured", [(64, 0.01, "one"), (512, 0.02)])])
    assert explorer.alt_text().endswith("Measured: 2 points from 10\xa0ms to 20\xa0ms.")
    head, rows = explorer.table()
    assert (
        head[-1] == "measured" and rows[-2][0].endswith(", one") and rows[-1][-1].startswith("20")
    )
    assert all(len(row) == len(head) for row in rows)
    assert "one" in {text.get_text() for text in explorer.figure().axes[0].texts}


def test_bars_show_what_the_formulas_give():
    bars = Explorer(
        "bars",
        "Bars",
        kind="bars",
        controls=[Control(FloatLogSlider(value=256, min=0, max=4), "batch")],
        numbers={"read": Readout(latency.kv_time, "Read caches"), "compute": latency.compute_time},
        data={"log": True},
    )
    v = bars.values(batch=512)
    assert v["values"] == [
        latency.kv_time(bars.symbol_values(bars.state(batch=512))),
        latency.compute_time(bars.symbol_values(bars.state(batch=512))),
    ]
    assert bars.alt_text().startswith("Read caches ") and len(bars.figure().axes[0].patches) == 2
    with pytest.raises(ExplorerError, match="the nearest are: batch"):
        Explorer(
            "bars",
            "Bars",
            kind="bars",
            numbers={"read": latency.kv_time},
            controls=[Control(FloatSlider(), "bach")],
        )


@pytest.mark.parametrize(
    ("numbers", "log", "ends"),
    [
        ([3e-3, 5e-2], True, (1e-3, 0.1)),
        ([2.0], True, (1.0, 10.0)),
        ([1e3], True, (1e2, 1e4)),
        ([0.0, np.inf], True, (0.1, 10.0)),
        ([3.0, 7.0], False, (0.0, 7.0)),
        ([0.0], False, (0.0, 1.0)),
    ],
)
def test_an_axis_of_bars_holds_them_all(numbers, log, ends):
    v = {"labels": ["a"] * len(numbers), "values": numbers, "unit": "s", "log": log}
    found = bars.ends(v)
    assert found == pytest.approx(ends)
    tall, shapes = bars.picture(v, 720)
    drawn = [shape for shape in shapes if shape["t"] == "rect"]
    assert len(drawn) == sum(
        0 < x < np.inf for x in numbers
    )  # what is nothing, or has no end, has no bar
    assert all(0 < shape["w"] <= 620 for shape in drawn) and tall >= 44 * len(numbers)


def test_bars_on_a_plain_axis_are_as_long_as_their_numbers():
    v = {"labels": ["a", "b"], "values": [2.0, 8.0], "unit": "s", "log": False}
    short, long = (shape["w"] for shape in bars.picture(v, 720)[1] if shape["t"] == "rect")
    assert long == 4 * short == 620


def test_a_curve_of_nothing_but_infinity_has_an_axis_still():
    assert extent(np.array([np.inf, np.nan]), True, None, None) == (1.0, 10.0)
    assert extent(np.array([]), False, 2.0, 3.0) == (2.0, 3.0)


# Where a kernel answers ---------------------------------------------------------------------------


def test_widgets_drive_the_traits_and_back():
    explorer = make()
    box = explorer.widget()
    slider = box.children[0]
    assert slider is explorer.controls[0].widget
    slider.value = 50_000
    assert box.plot.context == pytest.approx(50_000)
    box.plot.context = 20_000
    assert slider.value == pytest.approx(20_000)
    assert box.plot.spec["name"] == "latency" and box.plot.batch == 256
    box.close()


def test_without_its_script_the_widget_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(widget, "HERE", tmp_path / "a" / "b" / "c")
    with pytest.raises(
        FileNotFoundError, match=r"\(explorer.js\) has not been built; run `make bundle` once"
    ):
        widget.bundle("js")
    box = make().widget()
    assert "run `make bundle` once" in box.plot._esm
    box.children[0].value = 50_000  # its numbers answer all the same
    assert box.plot.context == pytest.approx(50_000)
    box.close()


def test_a_wheel_brings_its_own_script(monkeypatch, tmp_path):
    monkeypatch.setattr(widget, "HERE", tmp_path / "a" / "b" / "c")
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/c/explorer.bundle.js").write_text("")
    assert widget.bundle("js").name == "explorer.bundle.js"


def test_mimebundle(monkeypatch):
    explorer = make()
    bundle = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle and bundle["text/html"].startswith(
        "<figure"
    )
    monkeypatch.setenv("HANDFUL_STATIC", "1")
    assert set(explorer._repr_mimebundle_()) == {"text/html", "text/plain"}


@pytest.mark.parametrize(
    "chip, model, name",
    [
        ("H100 SXM", "Llama 3.1 70B", "dense, 2–8 chips"),
        ("H200 SXM", "DeepSeek-V3", "experts, 2–8 chips"),
        ("GB200 NVL72", "DeepSeek-V3", "experts, over 8 chips"),
        ("GB200 NVL72", "Llama 3.1 70B", "dense, over 8 chips"),
    ],
)
def test_a_curve_shows_the_band_of_the_scenarios_class_or_says_that_there_is_none(
    chip, model, name
):
    explorer = Explorer(
        "banded",
        "Banded",
        Sweep("batch", 1, 1024, at=64),
        Scale("Time"),
        curves=[
            Curve(
                latency.step_time,
                "step",
                "total",
                bands=measured.page_bands(),
                band_label="measured steps lie",
            )
        ],
    )
    kind = next(kind for kind in measured.CLASSES if kind.name == name)
    shade, made = (
        explorer.values(hardware=chip, model=model)["bands"]["step"],
        measured.band_of(kind),
    )
    assert shade.band == (made and (made.low, made.high))
    assert shade.text == measured.describe_band(kind)
    said = explorer.alt_text(hardware=chip, model=model)
    assert (
        kind.text in said
        and ("Measured steps lie" if made else "No measured band for a dense model") in said
    )
    drawn = explorer.figure(hardware=chip, model=model).axes[0].collections
    assert len(drawn) == (1 if made else 0)
    if made:
        low, high = made.usual
        across = drawn[0].get_paths()[0].vertices[:, 0]
        assert low <= across.min() < low * 1.1 and across.max() <= high
        beside = explorer.alt_text(hardware=chip, model=model, batch=1)
        assert "Measured steps lie" not in beside and measured.describe_unusual(kind)[1:] in beside
