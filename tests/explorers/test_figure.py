"""Tests of the labels of all still pictures, read back from their SVG.

Each label says what the explorer says, at the place where it belongs.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import subprocess
import textwrap
from collections import Counter
from functools import cache
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from matplotlib.figure import Figure

from handful import latency, scenario
from handful.symbolic.quantities import find
from handful.units import MINUS, NBSP, UNITS, axis_title, format_ticks, format_value, whole_count
from handful_explorers.plotting import figure, scenes
from handful_explorers.plotting import labels as places
from handful_explorers.plotting.describe import plain, told
from handful_explorers.plotting.explorer import Curve, Explorer
from handful_site import bootstrap, social

EXPLORERS = social.explorers()
PLOTS = sorted(name for name, explorer in EXPLORERS.items() if not explorer.scene)
PICTURES = sorted(name for name, explorer in EXPLORERS.items() if explorer.scene)
# What the letters behind a number multiply it by; on an axis of bytes "M" begins "MB".
LETTERS = {
    "p": 1e-12,
    "n": 1e-9,
    "µ": 1e-6,
    "m": 1e-3,
    "": 1,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "quadrillion": 1e15,
}
TIMES = {"min": 60, "h": 3600, "day": 86_400, "days": 86_400}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


class Label(NamedTuple):
    text: str
    x: float  # in points from the left
    y: float  # in points from the top
    anchor: str
    size: float
    bold: bool

    def box(self) -> tuple[float, float, float, float]:
        """Return the left, top, right and bottom of a text in the font of the pages."""
        widths = advances("700" if self.bold else "400")
        wide = self.size * sum(widths.get(letter, 0.6) for letter in self.text)
        left = self.x - wide * {"start": 0, "middle": 0.5, "end": 1}[self.anchor]
        return left, self.y - 0.7 * self.size, left + wide, self.y + 0.15 * self.size


@cache
def advances(weight: str) -> dict[str, float]:
    """Widths of the letters of the pages' font, of its size, as the font itself tells them."""
    files = bootstrap.ROOT / "node_modules/@fontsource/source-sans-3/files"
    font = TTFont(files / f"source-sans-3-latin-{weight}-normal.woff")
    return {
        chr(code): font["hmtx"][name][0] / font["head"].unitsPerEm
        for code, name in font.getBestCmap().items()
    }


def labels(svg: str) -> list[Label]:
    """Texts of an SVG element in their order."""
    root = ElementTree.fromstring(svg)
    assert not [
        node for node in root.iter() if node.tag.endswith("tspan")
    ]  # no label was taken for a formula
    found = []
    for node in root.iter():
        if node.tag.endswith("text"):
            # The lines of a text of several are moved to their places.
            moved = re.fullmatch(r"translate\((\S+) (\S+)\)", node.get("transform", ""))
            x, y = (moved[1], moved[2]) if moved else (node.get("x"), node.get("y"))
            size, bold = node.get("font-size").removesuffix("px"), node.get("font-weight") == "700"
            found.append(
                Label(
                    node.text,
                    float(x),
                    float(y),
                    node.get("text-anchor", "start"),
                    float(size),
                    bold,
                )
            )
    return found


@cache
def still(name: str) -> Figure:
    return EXPLORERS[name].figure()


@cache
def drawn(name: str) -> list[Label]:
    """Labels of an explorer's still picture, from the markup that pages get."""
    return labels(figure.as_svg(lambda: still(name), name))


def said(text: str, unit: str) -> float:
    """Return the value of a tick's text in SI units, read without the package.

    "10 ms" gives 0.01, and "1 million" gives 1e6.
    """
    form = UNITS[unit]
    sign = -1 if text.startswith(MINUS) else 1
    number, _, letters = text.removeprefix(MINUS).removeprefix("$").partition(NBSP)
    if "10" in text and (power := re.search("10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)$", text)):
        mantissa = 1.0 if "×" not in text else float(number)
        return sign * mantissa * 10.0 ** int(power[1].translate(RAISED)) / form.factor
    value = sign * float(number.replace(",", ""))
    if unit == "s" and letters in TIMES:
        return value * TIMES[letters]
    carried = re.sub("/(token|parameter)$", "", form.one) if form.kind == "si" else ""
    assert number == "0" or letters.endswith(carried), text
    return value * LETTERS[letters.removesuffix(carried)] / form.factor


def spots(axes, name: str) -> tuple[list[Label], list[Label]]:
    """Labels of the two axes, by where they stand: below and beside the plot."""
    wide, high = axes.figure.get_size_inches() * 72
    left, bottom = axes.get_position().x0 * wide, (1 - axes.get_position().y0) * high
    across = [
        label
        for label in drawn(name)
        if bottom + 5 < label.y < bottom + 20 and label.anchor == "middle"
    ]
    return across, [
        label for label in drawn(name) if label.anchor == "end" and left - 10 < label.x < left
    ]


@pytest.mark.parametrize("name", PLOTS)
def test_ticks_say_the_values_at_which_they_stand(name):
    explorer = EXPLORERS[name]
    axes = still(name).axes[0]
    _, high = axes.figure.get_size_inches() * 72
    x = (
        explorer.across[1].unit or explorer.across[0].gives.unit
        if explorer.across
        else find(explorer.x.name).unit
    )
    units = x, explorer.y_unit
    for axis, found, unit, vertical in zip(
        (axes.xaxis, axes.yaxis), spots(axes, name), units, (0, 1), strict=True
    ):
        low, high_end = sorted(axis.get_view_interval())
        at = [
            value for value in axis.get_majorticklocs() if low * 0.999 <= value <= high_end * 1.001
        ]
        log = axis.get_scale() == "log"
        assert [label.text for label in found] == format_ticks(at, unit, log)
        assert len({label.text for label in found}) == len(found) >= 2  # no two alike
        assert any(said(label.text, unit) for label in found)  # not all of them zeros
        for label in found:
            value = said(label.text, unit)
            point = (axes.get_xlim()[0], value) if vertical else (value, axes.get_ylim()[0])
            place = axes.transData.transform(point) * 72 / axes.figure.dpi
            stands = (
                high - label.y + 3.4 if vertical else label.x
            )  # letters stand on a line below their middle
            assert stands == pytest.approx(float(place[vertical]), abs=0.4), (label, value)


def names(explorer: Explorer, axes) -> Counter:
    """Return what a plot says beside its ticks."""
    v = explorer.values()
    if explorer.across:
        scale = explorer.across[1]
        across = axis_title(scale.title, scale.unit or explorer.across[0].gives.unit)
    else:
        across = axis_title(explorer.x.title, find(explorer.x.name).unit)
    must = Counter([across, axis_title(explorer.y.title, explorer.y_unit)])
    for curve in explorer.curves:
        if curve.id in v["curves"]:
            must.update(textwrap.wrap(curve.label, 22))
    for i in v["points"]:
        group = explorer.points[i]
        must.update(textwrap.wrap(f"○ {group.label}", 22))
        must.update(point[2] for point in group.at if len(point) > 2)
    for mark in explorer.marks:
        low, high = axes.get_xlim() if mark.axis == "x" else axes.get_ylim()
        if low <= v["places"][mark.label][0] <= high and told(v["marks"][mark.label], mark):
            value = whole_count(v["marks"][mark.label], mark.whole)
            must[f"{mark.label} {plain(value, mark.formula.gives.unit, 3)}"] += 1
    return must


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_says_its_titles_names_and_rules(name):
    axes = still(name).axes[0]
    ticks = Counter(label.text for found in spots(axes, name) for label in found)
    assert Counter(label.text for label in drawn(name)) - ticks == names(EXPLORERS[name], axes)


@pytest.mark.parametrize("name", PLOTS)
def test_no_preset_makes_ticks_alike(name):
    explorer = EXPLORERS[name]
    for preset in explorer.presets:
        axes = explorer.figure(**preset.set).axes[0]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            told = [
                text.get_text()
                for value, text in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
                if low * 0.999 <= value <= high * 1.001
            ]
            assert len(set(told)) == len(told) >= 2, (preset.label, told)
            assert any(re.search("[1-9]", text) for text in told), (preset.label, told)


@pytest.mark.parametrize("name", PICTURES)
def test_a_scene_says_what_its_shapes_say_where_they_stand(name):
    explorer = EXPLORERS[name]
    _, shapes = scenes.find(explorer.kind).picture(explorer.values(), 720)
    words = [shape for shape in shapes if shape["t"] == "text" and shape["s"].strip()]
    found = drawn(name)
    assert [label.text for label in found] == [shape["s"] for shape in words]
    scale = still(name).get_figwidth() * 72 / 720
    for label, shape in zip(found, words, strict=True):
        assert (label.x, label.y) == pytest.approx(
            (shape["x"] * scale, shape["y"] * scale), abs=0.06
        )
        assert label.anchor == shape["a"]
    # Numbers that stand in a row or a column under or beside the drawing are an axis.
    small = [shape for shape in words if {"soft", "small"} <= set(shape["c"].split())]
    number = re.compile(rf"[{MINUS}$]*[\d.,]+({NBSP}?[a-zµ]+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?", re.I)
    for along in ("x", "y"):
        for line in {shape[along] for shape in small}:
            ticks = [
                shape["s"]
                for shape in small
                if shape[along] == line and number.fullmatch(shape["s"])
            ]
            assert len(set(ticks)) == len(ticks), ticks
            assert len(ticks) < 2 or any(re.search("[1-9]", text) for text in ticks)


def test_words_and_table_beside_a_figure_are_the_explorers_own():
    explorer = EXPLORERS["cost-against-batch"]
    page = BeautifulSoup(explorer.html(), "html.parser")
    head, rows = explorer.table()
    assert page.select_one(".explorer-static")["aria-label"] == explorer.alt_text()
    assert page.select_one(".explorer-words").text == explorer.alt_text()
    assert [[cell.text for cell in row.find_all(["th", "td"])] for row in page.select("tr")] == [
        head,
        *rows,
    ]
    assert "$0.033" in " ".join(text.text for text in page.select("svg text"))


def test_the_table_says_what_does_not_fit():
    explorer = EXPLORERS["latency-against-batch"]
    state = {"hardware": "H100 SXM", "model": "Llama 3.1 70B", "precision": "bf16", "context": 4096}
    _, rows = explorer.table(**state)  # room for 371
    odd = [row[0] for row in rows if "more than fits" in row[0]]
    assert [name.split()[0] for name in odd] == ["1,000", "3,000"]
    assert odd == [row[0] for row in rows[-2:]] and odd[0].endswith(" (more than fits)")


@pytest.mark.parametrize("name", sorted(EXPLORERS))
def test_no_label_shows_how_a_computer_writes_numbers(name):
    for label in drawn(name):
        assert not re.search(
            r"\d[eE][-+]?\d|(?<![\w-])-\d|\^|\bnan\b|\binf\b|\bNone\b|\\", label.text
        ), label


@pytest.mark.parametrize("name", sorted(EXPLORERS))
def test_no_label_stands_on_another_or_leaves_the_picture(name):
    boxes = [(label, label.box()) for label in drawn(name)]
    wide, high = still(name).get_size_inches() * 72
    for label, (left, top, right, bottom) in boxes:
        if label.text != "Requests, in order of arrival":  # is turned
            assert left >= -1 and top >= -1 and right <= wide + 1 and bottom <= high + 1, label
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]), (one, other)


@pytest.mark.parametrize("name", PLOTS)
def test_no_curve_runs_through_the_words_of_a_rule_or_dot(name):
    explorer, axes = EXPLORERS[name], still(name).axes[0]
    high = axes.figure.get_figheight() * 72
    rings = [point[2] for group in explorer.points for point in group.at if len(point) > 2]
    named = (*(mark.label for mark in explorer.marks), *rings)
    curves = [
        axes.transData.transform(line.get_xydata()) * 72 / axes.figure.dpi
        for line in axes.lines
        if len(line.get_xydata()) == explorer.x.points
    ]
    assert len(curves) == len(explorer.values()["curves"])
    for label in drawn(name):
        if label.text.startswith(named):
            left, top, right, bottom = label.box()
            for x, y in (curve.T for curve in curves):
                assert not (
                    (x > left) & (x < right) & (high - y > top) & (high - y < bottom)
                ).any(), label


def test_axes_of_time_are_ticked_as_in_the_browser():
    spans = [(1e-2, 1e8), (1e-3, 1e4), (30, 28_800), (86_400, 86_400_000), (1e-5, 1), (200, 2000)]
    source = f"""import {{ unitTicks }} from "./lib/handful_explorers/web/plot.js";
        const made = {json.dumps(spans)}.map((domain) =>
          unitTicks({{ domain, log: true, unit: "s" }}, 6));
        console.log(JSON.stringify(made));"""
    done = subprocess.run(
        [*bootstrap.node_command(), "--input-type=module", "--eval", source],
        cwd=bootstrap.ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == [figure.ticks(low, high, True, "s") for low, high in spans]
    assert format_ticks(figure.ticks(1e-2, 1e8, True, "s"), "s", True) == [
        f"1{NBSP}s",
        f"1{NBSP}min",
        f"1{NBSP}h",
        f"1{NBSP}day",
        f"100{NBSP}days",
    ]


def test_widths_are_those_of_the_font():
    words = {
        label.text: label
        for name in PLOTS
        for label in drawn(name)
        if not label.bold and len(label.text) > 4
    }
    off = {
        text: places.width(text, label.size) / (label.box()[2] - label.box()[0])
        for text, label in words.items()
    }
    assert len(off) > 70 and min(off.values()) >= 0.85 and max(off.values()) <= 1.2, off


WORDS = [
    "0.125",
    "GPT-4.125 & 3.14159 < 2.71828",
    f"{MINUS}0.25",
    "1.5\u00a0×\u00a010⁻¹²",
    "10²⁴",
    "2024-05",
    "$0.01 to $1.25",
    r"\$2.125",
    "url(#p1.25) #m2.125",
    "a  b",
    "“1.005”",
    '"0.333"',
    "x_1^2.75",
]


def words_in_a_figure() -> Figure:
    made = Figure(figsize=(4, 3))
    axes = made.add_axes((0.1, 0.1, 0.8, 0.8))
    axes.plot([0, 1 / 3, 1], [0, 1 / 7, 1], alpha=0.14)
    axes.set_xticks([0, 0.125, 0.25], ["0", "0.125", "$0.25"])
    for i, word in enumerate(WORDS):
        made.text(0.1, 0.05 + 0.07 * i, word)
    made.text(0.5, 0.5, "first 0.125\nsecond 0.375")
    return made


def test_text_is_kept_to_the_letter_and_places_are_short():
    svg = figure.as_svg(words_in_a_figure, "words")
    found = [label.text for label in labels(svg)]
    assert not Counter([*WORDS, "0.125", "$0.25", "first 0.125", "second 0.375"]) - Counter(found)
    for place in re.findall(r' (?:d|x|y|width|height|viewBox|transform)="([^"]*)"', svg):
        assert not re.search(r"\.\d{2}", place), place
    assert ' stroke-opacity="0.14"' in svg  # is no place
    tags = re.sub(r">[^<]*<", "><", svg)
    used = set(re.findall(r'(?:xlink:href="|url\()#([\w-]+)(?=[")])', tags))
    made = set(re.findall(r' id="([^"]*)"', tags))
    assert used == made and all(one.startswith("words-") for one in made)
    assert "style" not in tags


def test_a_figure_that_is_shown_elsewhere_has_no_formulas_either():
    cost = EXPLORERS["cost-against-batch"]
    made = Explorer(
        "two-prices",
        "Two prices",
        cost.x,
        cost.y,
        curves=[Curve(latency.cost_per_token, "from $1 to $2")],
    )
    texts = [text for text in made.figure().axes[0].texts if "$1" in text.get_text()]
    assert texts and not any(text.get_parse_math() for text in texts)


@pytest.mark.parametrize(
    "hardware, model, context",
    [
        ("H100 SXM", "Llama 3.1 70B", 4096),
        ("GB200 NVL72", "DeepSeek-V3", 100_000),
        ("GB200 NVL72", "DeepSeek-V3", 4096),
    ],
)
def test_a_plot_of_two_results_is_hatched_where_the_batch_does_not_fit(hardware, model, context):
    """Larger batches stream more slowly, so that they lie to the left of the last that fits."""
    explorer = EXPLORERS["fast-and-slow"]
    state = {"hardware": hardware, "model": model, "precision": "fp8", "context": context}
    known = scenario.values(**state)
    fits = math.floor(latency.batch_that_fits(known))
    at = latency.tokens_per_user(known, batch=fits)
    axes = explorer.figure(**state).axes[0]
    low, high = axes.get_xlim()
    strips = [patch for patch in axes.patches if patch.get_hatch()]
    if at <= low:
        assert not strips
        return
    [strip] = strips
    assert strip.get_x() == pytest.approx(low)
    assert strip.get_x() + strip.get_width() == pytest.approx(at)
    assert low < at < high
    assert any(text.get_text() == f"room for {format_value(fits, '1')}" for text in axes.texts)
