"""Tests of every explorer of the book as Python shows it.

Each is drawn for print, told in words, and listed in a table.
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
import pkgutil
import re

import pytest
from ipywidgets import FloatLogSlider

import handful_explorers
from handful import chinchilla, latency, multi_rack_pipelines, racks, scenario
from handful.balance import weight_uses_at_balance
from handful.scenario import page_rows
from handful.symbolic.solving import FormulaError
from handful.units import format_value
from handful_explorers.latency import latency_against_batch
from handful_explorers.plotting import scenes
from handful_explorers.plotting.describe import course, room, stretches
from handful_explorers.plotting.describe import told as is_told
from handful_explorers.plotting.explorer import Control, Curve, Explorer, Mark, Scale, Sweep


def declared() -> dict[str, Explorer]:
    found = {}
    for module in pkgutil.iter_modules(handful_explorers.__path__):
        for thing in vars(importlib.import_module(f"handful_explorers.{module.name}")).values():
            if isinstance(thing, Explorer):
                found[thing.name] = thing
    return found


EXPLORERS = declared()


def points(shape: dict) -> list[tuple[float, float]]:
    """Return the corners of what a shape covers; of a text, where it begins."""
    match shape["t"]:
        case "rect":
            return [
                (shape["x"], shape["y"]),
                (shape["x"] + max(shape["w"], 0), shape["y"] + max(shape["h"], 0)),
            ]
        case "line":
            return [(shape["x1"], shape["y1"]), (shape["x2"], shape["y2"])]
        case "path":
            return [tuple(point) for point in shape["p"]]
    return [(shape["x"], shape["y"])]


@pytest.mark.parametrize("name", sorted(EXPLORERS))
def test_it_is_drawn_told_and_listed(name):
    explorer = EXPLORERS[name]
    for preset in [{}, *(preset.set for preset in explorer.presets)]:
        words = explorer.alt_text(**preset)
        assert words and not {"nan", "inf", "None"} & set(
            words.replace(",", " ").replace(".", " ").split()
        ), words
        head, rows = explorer.table(**preset)
        assert rows and all(len(row) == len(head) for row in rows)
    figure = explorer.figure()
    drawn = sum(
        len(axes.lines) + len(axes.patches) + len(axes.collections) + len(axes.texts)
        for axes in figure.axes
    )
    assert drawn > 3
    json.dumps(explorer.spec(), allow_nan=False)


@pytest.mark.parametrize(
    "name",
    sorted(n for n, e in EXPLORERS.items() if e.scene and hasattr(scenes.find(e.kind), "picture")),
)
@pytest.mark.parametrize("width", [300, 720])
def test_a_picture_stays_within_its_frame(name, width):
    explorer = EXPLORERS[name]
    scene = scenes.find(explorer.kind)
    for preset in [{}, *(preset.set for preset in explorer.presets)]:
        values = explorer.values(**preset)
        height, shapes = scene.picture(values, width)
        assert 40 < height < 4000 and shapes
        for shape in shapes:
            for x, y in points(shape):
                assert math.isfinite(x) and math.isfinite(y), shape
                assert -2 <= x <= width + 2 and -2 <= y <= height + 2, (shape, width, height)
        assert any(shape["t"] == "text" and shape["s"].strip() for shape in shapes)
        for label, text, *_ in scene.readouts(values):
            assert label and str(text).strip() not in ("", "nan")


NO_LIMIT = {
    "balance-against-context": "draws the batch that fits as a curve",
    "your-balance": "draws the batch that fits as a curve",
    "wall": "draws the context that fits as a curve",
    "your-wall": "draws the context that fits as a curve",
    "hold-or-recompute": "keeps one conversation, which any of the places has room for",
    "hiding-against-batch": "spans as many racks as the reader says, and asks for time only",
    "your-crossing": "spans as many racks as the reader says, and asks for time only",
    "fit-the-list": "is about a seller's machines, which nobody knows",
    "what-a-server-adds": "stays within what was measured",
    "one-layer-on-this-computer": "is one layer, without a cache",
    "layouts-by-context": "has one rack and two, which fill at different contexts",
}
LOADS = {"batch", "micro_batch", "device_batch", "context"}


def sets_a_load(explorer: Explorer) -> bool:
    """Return whether a reader sets a batch or a context, by the cursor or by a control."""
    names = {explorer.sweep.name, *(control.name for control in explorer.controls)}
    return bool(names & LOADS) or explorer.y_unit == "sequence"


@pytest.mark.parametrize(
    "name", sorted(n for n, e in EXPLORERS.items() if not e.scene and sets_a_load(e))
)
def test_a_batch_and_a_context_end_where_memory_does(name):
    """Beyond, the plot is hatched, and its words say so; or there is a reason why not."""
    explorer = EXPLORERS[name]
    limits = [mark for mark in explorer.marks if mark.limit]
    assert bool(limits) != (name in NO_LIMIT)
    for mark in limits:
        if mark.axis == "y" or explorer.sweep.name not in LOADS:
            continue
        reach = explorer.values()["marks"][mark.label]
        assert explorer.sweep.low < reach
        for at, told in ((reach * 0.9, False), (reach * 1.1, True)):
            if explorer.sweep.low <= at <= explorer.sweep.high:
                words = explorer.alt_text(**{explorer.sweep.name: at})
                assert ("is more than fits: " in words) is told


COUNTED = ("sequence", "device", "layer")
COUNTS = {
    "equal_stages",
    "fewest_layers_of_chip",
    "micro_batches_of_batch",
    "balance_pass",
    "break_even_reuses",
    "balance_context",
    "balance_context_with_attention",
    "attention_context",
    "context_that_fits",
    "block_tokens",
}


@pytest.mark.parametrize("name", sorted(n for n, e in EXPLORERS.items() if not e.scene))
def test_a_count_is_read_out_as_a_whole_number(name):
    """Nobody has 0.56 layers; a mark may stand where two curves meet."""
    explorer = EXPLORERS[name]
    parts = [*explorer.curves, *explorer.readouts, *explorer.marks]
    for part in parts:
        formula = part.formula
        if formula.gives.unit in COUNTED or formula.name in COUNTS:
            assert part.whole, part.label


@pytest.mark.parametrize("chip", [row["name"] for row in page_rows()["hardware"]])
def test_a_model_that_does_not_fit_is_said_not_to(chip):
    """In every plot with room for caches, for every model: with the chips that its weights fill."""
    rows = page_rows()
    arithmetic = {row["name"]: row["arithmetic"] for row in rows["precision"]}
    offered = next(row["peak_flops"] for row in rows["hardware"] if row["name"] == chip)
    for model in (row["name"] for row in rows["model"]):
        for precision, needed in arithmetic.items():
            if needed not in offered:
                continue
            known = scenario.values(hardware=chip, model=model, precision=precision)
            weights = known["total_parameters"] * known["bytes_per_parameter"]
            chips = math.ceil(weights / known["memory_capacity"])
            words = latency_against_batch.alt_text(hardware=chip, model=model, precision=precision)
            told = f"does not fit: its weights fill {chips:,} such chips, and the machine has"
            assert (told in words) is (chips > known["devices"]), words
            assert "room for 0" not in words  # a context that is short enough has room


SMALL = {"hardware": "A100 80GB", "model": "DeepSeek-V3", "precision": "bf16"}


@pytest.mark.parametrize("name", sorted(n for n, e in EXPLORERS.items() if not e.scene))
def test_every_plot_of_a_machine_says_that_a_model_does_not_fit(name):
    """Where a part knows how many chips the model takes; and no count of nought stands for it."""
    explorer = EXPLORERS[name]
    if not explorer.needs():
        return
    small = {**SMALL, "hardware": "H100 SXM", "model": "Kimi K2"}  # a chip with a price
    for scenario_of in (SMALL, small) if name not in PRICED else (small,):
        words = explorer.alt_text(**scenario_of)
        assert words.count("The model itself does not fit: its weights fill ") == 1
        assert not re.search(r"\b0 (tokens|sequences)\b", words.replace("\xa0", " ")), words
    assert "does not fit" not in explorer.alt_text()


PRICED = {"cost-against-batch", "your-cost", "fast-and-slow"}


@pytest.mark.parametrize("name", sorted(EXPLORERS))
def test_what_follows_the_bar_takes_all_that_the_bar_has(name):
    explorer, ends = EXPLORERS[name], {}
    ends |= {c.name: c.ends() for c in explorer.controls if c.follows and c.kind() != "choice"}
    if explorer.x is not None and explorer.x.follows:
        ends[explorer.x.name] = (explorer.x.low, explorer.x.high)
    low, high = ends.get("context", (0, math.inf))
    assert low <= 128 and high >= 1e6


SCENARIOS = [
    {"hardware": chip["name"], "model": model, "precision": precision}
    for chip in page_rows()["hardware"]
    for model in ("DeepSeek-V3", "Llama 3.1 70B", "Gemma 3 27B")
    for precision in ("fp8" if "fp8" in chip["peak_flops"] else "bf16",)
]


@pytest.mark.parametrize("name", sorted(n for n, e in EXPLORERS.items() if not e.scene))
def test_what_words_say_of_a_curve_is_so(name):
    """Every stretch stays, rises or falls as it is told to, and its numbers are the curve's."""
    explorer = EXPLORERS[name]
    chosen = {control.name for control in explorer.controls}
    follows = explorer.symbols() & set(scenario.values()) and not chosen & {"hardware", "model"}
    for state in [p.set for p in explorer.presets] + (SCENARIOS if follows else [{}]):
        try:
            values = explorer.values(**state)
        except FormulaError:  # a price that nobody has published
            continue
        lead = next((c for c in explorer.curves if c.role == "total"), explorer.curves[0])
        check_course(explorer, lead, values)


@pytest.mark.parametrize("name", sorted(n for n, e in EXPLORERS.items() if not e.scene))
def test_what_has_no_end_is_told_in_words(name):
    """No curve and no readout says just “∞”."""
    explorer = EXPLORERS[name]
    chosen = {control.name for control in explorer.controls}
    follows = explorer.symbols() & set(scenario.values()) and not chosen & {"hardware", "model"}
    x = explorer.sweep
    for state in SCENARIOS if follows else [{}]:
        for at in (x.low, x.start, x.high):
            try:
                values = explorer.values(**state, **{x.name: at})
            except FormulaError:
                continue
            for part in explorer.curves:
                assert part.none or math.isfinite(values["at"].get(part.id, 0)), part.label
            for part in explorer.readouts:
                label = part.label or part.formula.gives.label
                assert part.none or math.isfinite(values["readouts"][label]), label


@pytest.mark.parametrize("name", sorted(n for n, e in EXPLORERS.items() if not e.scene))
def test_an_axis_that_counts_something_has_its_unit(name):
    """A readout stands without the axis, so that its number needs a unit of its own."""
    explorer = EXPLORERS[name]
    counts = re.match(r"(cents|dollars|times|tokens|chips)\b", explorer.scale.title, re.I)
    assert not counts or explorer.y_unit != "1"


def test_a_fast_mode_has_people_where_it_has_a_price():
    explorer = EXPLORERS["fast-and-slow"]
    for state in SCENARIOS:
        for speedup in (1.1, 2.5, 4.5):
            try:
                read = explorer.values(**state, speedup=speedup)["readouts"]
            except FormulaError:
                continue
            people, price = (
                is_told(read[part.label], part) for part in explorer.readouts if part.none
            )
            assert people or not price or read["People in fast mode"] == 0
            assert price or not people, (state, speedup)


@pytest.mark.parametrize("context", [105_000, 1_000_000])
def test_a_fast_mode_of_less_than_one_person_has_no_price(context):
    """Where a fifteenth of the crowd is less than one, the nearest whole number was one."""
    explorer = EXPLORERS["fast-and-slow"]
    state = {"hardware": "H100 SXM", "model": "Llama 3.1 70B", "precision": "bf16"}
    crowd = latency.batch_from_price(
        scenario.values(**state, context=context), price_ratio=6, speedup=2.5
    )
    read = explorer.values(**state, context=context, batch=max(1, round(crowd)))["readouts"]
    assert read["People in fast mode"] == 0
    assert read["Times the normal price"] == math.inf
    read = explorer.values(**state, context=4096, batch=189)["readouts"]
    assert read["People in fast mode"] == pytest.approx(12.6, rel=0.01)
    assert read["Times the normal price"] == pytest.approx(6, rel=0.01)


def check_course(explorer: Explorer, lead, values: dict) -> None:
    """Hold the words of a curve's course against its points."""
    limit, words = room(explorer, values), course(explorer, lead, values)
    ys = values["curves"][lead.id]
    kept = [
        i
        for i, x in enumerate(values["x"])
        if x <= limit and math.isfinite(ys[i]) and (ys[i] > 0 or not explorer.scale.log)
    ]
    if len(kept) < 3 or lead.none in words.split(": "):
        assert any(t in words for t in ("beyond what fits", "has no value", str(lead.none)))
        return
    part = [float(ys[i]) for i in kept]
    told = stretches(part, explorer.scale.log)
    # Nothing is left out but what is flat.
    for end, at in ((0, told[0][1]), (len(part) - 1, told[-1][2])):
        assert math.isclose(part[end], part[at], rel_tol=0.1 + 1e-9)
    for (_, _, one), (_, other, _) in itertools.pairwise(told):
        assert math.isclose(part[one], part[other], rel_tol=0.1 + 1e-9)
    for way, a, b in told:
        run = part[a : b + 1]
        least, most = min(run), max(run)
        if way == 0:
            middle = format_value((least + most) / 2, explorer.y_unit, 2)
            assert f"stays near {middle}" in words
            assert most - least <= 0.1 * abs(most) + 1e-12
            continue
        assert (run[-1] - run[0]) * way > 0
        back = run if way > 0 else run[::-1]
        highest = list(itertools.accumulate(back, max))
        assert all(y >= 0.9 * so_far for y, so_far in zip(back, highest, strict=True))
        verb = "rises" if way > 0 else "falls"
        if "rises without end" in words and way > 0 and b == len(part) - 1:
            assert ys[kept[-1] + 1] == math.inf and part[-1] > 1.8 * part[-2]
        elif run[0] > 0 and run[-1] > 0:
            fold = max(run[0] / run[-1], run[-1] / run[0])
            number = f"{format_value(fold, '1', 2)}-fold"
            by = format_value(abs(run[-1] / run[0] - 1), "%", 2)
            assert f"{verb} {number}" in words or f"{verb} by {by}" in words, words
    if limit < values["x"][-1] and "nothing fits" not in words:
        assert not math.isfinite(ys[kept[-1] + 1])


def test_a_limit_on_the_height_is_hatched_above_and_said():
    explorer = Explorer(
        "held-by-a-chip",
        "What one chip has to hold",
        x=Sweep("pipeline_stages", 1, 16, log=False, at=8),
        y=Scale("Memory of one chip", log=False, min=0),
        stack=True,
        curves=[
            Curve(multi_rack_pipelines.caches_of_crowd, "Cache memory", id="caches"),
            Curve(multi_rack_pipelines.weights_on_device, "Weight memory", id="weights"),
        ],
        marks=[Mark(racks.memory_of_chip, "one chip has", axis="y", limit=True)],
        controls=[Control(FloatLogSlider(value=25e3, min=0, max=4.5), "micro_batch", "People")],
    )
    full = explorer.alt_text(hardware="H100 SXM", pipeline_stages=1)  # the weights alone
    assert (
        "Memory of one chip 83.9\xa0GB at pipeline stages 1 is more than fits: one chip has 80"
        in full
    )
    assert "more than fits" not in explorer.alt_text()
    axes = explorer.figure(hardware="H100 SXM").axes[0]
    (hatched,) = [patch for patch in axes.patches if patch.get_hatch()]
    assert hatched.get_y() == 80e9 and hatched.get_y() + hatched.get_height() == axes.get_ylim()[1]
    few = explorer.figure(micro_batch=3600).axes[0]
    assert not [patch for patch in few.patches if patch.get_hatch()]


@pytest.mark.parametrize("name", sorted(n for n, e in EXPLORERS.items() if e.guess))
def test_what_is_to_be_guessed_can_be(name):
    """There is an answer, on the axis and neither at its ends nor where the marker begins."""
    explorer = EXPLORERS[name]
    values, guess, x = explorer.values(), explorer.guess, explorer.sweep
    if guess.kind == "mark":
        answers, low, high, log = [values["marks"][guess.of]], x.low, x.high, x.log
        middle = (low * high) ** 0.5 if log else (low + high) / 2
        assert not 1 / 1.5 < answers[0] / middle < 1.5
    elif groups := [group for group in explorer.points if group.label == guess.of]:
        answers, low, high = [groups[0].height(x.start)], explorer.scale.min, explorer.scale.max
        assert guess.kind == "level" and answers[0] is not None
    else:
        answers = list(values["curves"][guess.of])
        low, high = min(answers), math.inf
    assert all(low <= answer < high and answer >= 0 for answer in answers)
    if guess.kind == "mark":
        assert low < answers[0]


def test_what_questions_say_is_so():
    over = EXPLORERS["over-racks"]
    known = over.symbol_values(over.state())
    assert known["batch"] == 5760 and "5,760 people" in over.guess.question
    assert known["domain_devices"] == 72 and "72 make a rack" in over.guess.question
    assert over.guess.hump and {73, 144, 216} < set(over.guess.at)
    travel = {at: over.values(devices=at)["at"]["each"] for at in over.guess.at}
    rack = over.values(devices=72)["at"]["each"]
    assert rack < travel[144] < travel[73] and travel[144] > travel[216] > travel[256]
    layouts = EXPLORERS["layouts-by-context"]
    short, long = (layouts.values(context=c)["at"] for c in (4096, 32_768))
    for told in (short["one"], long["one"], short["once"]):
        assert f"{1e3 * told:.1f} ms" in layouts.guess.question
    assert layouts.sweep.start == 32_768
    assert EXPLORERS["bills-by-size"].state()["inference_tokens"] == 200e12
    price = EXPLORERS["price-to-cache"]
    assert price.symbol_values(price.state())["context"] == 200_000
    assert price.state()["active_parameters"] == 37e9
    assert "a GB200 in fp8" in price.guess.question
    allowed = price.curves[0].scenario
    assert (allowed["hardware"], allowed["precision"]) == ("GB200 NVL72", "fp8")
    picked = price.controls[0].options()
    assert any("Grok 4.7, above 200,000\xa0tokens" in label for label, _ in picked)


def test_the_cheapest_life_is_that_of_a_search():
    bills = EXPLORERS["bills-by-size"]
    for fit in ("besiroglu", "hoffmann"):
        for written in (1e12, 1e13, 2e14, 1e15):
            state = {"fit": fit, "inference_tokens": written, "decode_efficiency": 0.4}
            known = bills.symbol_values(bills.state(**state))
            found = chinchilla.least_lifetime(
                known["validation_loss"], written, fit=fit, decode_efficiency=0.4
            )
            size, tokens, rent = (
                bills.values(**state)["readouts"][f"Cheapest life: {what}"]
                for what in ("size", "tokens read", "rent")
            )
            assert size == pytest.approx(found["active_parameters"], rel=1e-3)
            assert tokens == pytest.approx(found["pretraining_tokens"], rel=1e-3)
            at = bills.values(active_parameters=min(size, 6e11), **state)["at"]
            assert rent == pytest.approx(at["the-whole-life"], rel=1e-3)


def test_one_machine_explains_the_step_or_the_ratio_and_not_both():
    """Find no state of the plot with what the chapter asks for: flat at six, and a kink."""
    fit = EXPLORERS["fit-the-list"]
    step, ratio = ({"batch": people, "kv_bytes_per_token": 1600} for people in (100_000, 930))

    def cost(context, **state):
        return fit.values(context=context, **state)["at"]["cost"]

    assert fit.values(context=1e5)["at"]["price"] == 6 and fit.values()["at"]["price"] == 9
    assert cost(1e4, **step) == 1 and cost(19e4, **step) < 1.05 and cost(4e5, **step) > 2
    assert cost(1e3, **ratio) == pytest.approx(6, rel=0.01)
    heavy = {**ratio, "kv_bytes_per_token": 4800}  # three times the napkin's
    assert cost(2e5, **heavy) == pytest.approx(9, rel=0.01)
    for state in (ratio, heavy):  # no kink: each step of the context adds as much
        near, middle, far = (cost(at, **state) for at in (1e5, 2e5, 3e5))
        assert far - middle == pytest.approx(middle - near)


def test_points_of_a_machine_go_with_its_numbers():
    """A large GPU in 16 bits has its knee at 295, and the times of a server have no place there."""
    explorer = EXPLORERS["one-layer-on-this-computer"]
    large = next(p.set for p in explorer.presets if p.label == "A large GPU in 16 bits")
    knee = weight_uses_at_balance(scenario.values(hardware="H100 SXM", precision="bf16"))
    assert explorer.values(**large)["marks"]["predicted knee"] == pytest.approx(knee)
    assert [bool(explorer.values(**state)["points"]) for state in ({}, large)] == [True, False]
    for state, told in (({}, True), (large, False)):
        head, rows = explorer.table(**state)
        assert ("Measured on" in explorer.alt_text(**state)) is told
        assert any("measured on" in cell for cell in head) is told
        assert all(len(row) == len(head) for row in rows)
        rings = [
            line for line in explorer.figure(**state).axes[0].lines if line.get_marker() == "o"
        ]
        assert bool(rings) is told


def test_a_hop_is_drawn_between_rows_as_long_as_it_takes():
    from handful_explorers.pipelining import laps
    from handful_explorers.plotting.scenes import laps as scene

    def drawn(hop: float) -> list[dict]:
        seen = scene.run(laps, {"pipeline_stages": 4, "micro_batches": 1, "hop_time": hop})
        return [shape for shape in scene.picture(seen, 400)[1] if shape["c"] == "c0"]

    work, hop, after = drawn(0.5)[:3]
    assert len(drawn(0)) == 3 * 4  # laps of four stages, and no hops
    assert hop["w"] == pytest.approx((work["w"] + 1) / 2)  # bars are drawn a pixel short
    assert hop["x"] + hop["w"] == pytest.approx(after["x"])
    assert work["y"] + work["h"] <= hop["y"] and hop["y"] + hop["h"] <= after["y"]
