"""Tests that Python and the page compute the same, in a real browser.

They cover every formula, every number as text, and every curve in words.
"""

from __future__ import annotations

import math
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

import handful_explorers
from handful import latency, scenario
from handful.query import registry as every_formula
from handful.sparsity import coefficients
from handful.symbolic.formula import registry
from handful.symbolic.quantities import PARTS, table
from handful.units import (
    UNITS,
    axis_hint,
    axis_title,
    format_named,
    format_tick,
    format_ticks,
    format_value,
    round_times,
    whole_count,
)
from handful_evidence import measured
from handful_explorers.plotting.declare import Curve
from handful_explorers.plotting.describe import describe
from handful_explorers.plotting.spec import spec_bands

pytestmark = pytest.mark.browser
WEB = Path(handful_explorers.__file__).parent / "web"
DRAWS, STEPS = 8, 7
every_formula()  # imports every module, so that the registry is full


@pytest.fixture(scope="module")
def modules(module_server, shared):
    """Open a page under the strict policy that can import the modules as they are, unbundled."""
    folder, address = module_server
    for name in ("tree.js", "units.js", "describe.js", "bands.js"):
        shutil.copy(WEB / name, folder / name)
    (folder / "index.html").write_text("<!doctype html><title>modules</title>", "utf-8")
    tab = shared()
    yield tab.open(address)
    assert tab.faults == []


def drawn(rng: random.Random, formula) -> dict[str, float]:
    """Random inputs near those of a random scenario, so that sizes are the ones readers meet."""
    rows = scenario.page_rows()
    chip = rng.choice([row for row in rows["hardware"] if "bf16" in row["peak_flops"]])
    known = scenario.values(
        hardware=chip["name"],
        model=rng.choice(rows["model"])["name"],
        precision="bf16",
        context=10 ** rng.uniform(2.2, 5.9),
    )
    values = {}
    for q in (q for q in formula.inputs if not q.constant):  # the tree has the constants filled in
        base = known.get(q.name)
        if q.name == "batch":
            values[q.name] = 2 ** rng.uniform(0, 16)
        elif base is None or (base == 0 and not q.zero):
            values[q.name] = (
                rng.uniform(0.05, 0.95)
                if q.upper == 1 or q.name.endswith("_exponent")
                else rng.uniform(-0.2, 0.2)
                if q.signed
                else 10 ** rng.uniform(0, 3)
            )
        else:
            values[q.name] = (
                base if q.name in ("experts", "active_experts") else base * rng.uniform(0.5, 2)
            )
    if (
        "loss_interaction" in values
    ):  # exponents divided by each other: a fit's own, or rounding is all that is left
        values |= {
            name: v
            for name, v in coefficients(rng.choice(["S-BASE", "RL-R", "HASH"])).items()
            if name in values
        }
    for part, whole in PARTS:  # a part above its whole is refused
        if part.name in values and whole.name in values:
            values[part.name] = min(values[part.name], values[whole.name])
    return values


def same(a: float, b: float) -> bool:
    # The second bound is for a small difference of numbers near one: some of their last bits.
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= max(1e-12 * abs(b), 1e-15)


def number(value) -> float:
    """Read a number that the page sent; infinity comes as text, since JSON has none."""
    return {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}.get(value, value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_formula_gives_the_same_number(modules):
    rng = random.Random(20240917)
    jobs, wanted = [], []
    for name, formula in sorted(registry.items()):
        tree = formula.tree()
        for _ in range(DRAWS):
            values = drawn(rng, formula)
            swept = rng.choice(sorted(values))
            low, high = (
                (values[swept] * 0.9, values[swept])
                if table[swept].upper == 1 or swept in {part.name for part, _ in PARTS}
                else (values[swept], values[swept] * 3 + 0.1)
            )
            grid = [low + (high - low) * i / (STEPS - 1) for i in range(STEPS)]
            try:
                one = float(formula(values))
            except (ValueError, ZeroDivisionError, OverflowError):
                continue
            many = np.broadcast_to(formula({**values, swept: np.array(grid)}), (STEPS,)).tolist()
            jobs.append({"tree": tree, "values": values, "swept": swept, "grid": grid})
            wanted.append((name, one, many))
    assert {name for name, _, _ in wanted} == set(registry)
    found = modules.evaluate(
        """async (jobs) => {
        const { compile, compileSweep } = await import("/tree.js"),
          safe = (v) => (Number.isFinite(v) ? v : String(v));
        return jobs.map(({ tree, values, swept, grid }) => [safe(compile(tree)(values)),
            Array.from(
              compileSweep(tree, swept, grid.length)(values, Float64Array.from(grid)), safe),
        ]); }""",
        jobs,
    )
    wrong = [
        (name, one, number(a), many, list(map(number, b)))
        for (name, one, many), (a, b) in zip(wanted, found, strict=True)
        if not (
            same(number(a), one) and all(same(number(x), y) for x, y in zip(b, many, strict=True))
        )
    ]
    assert wrong == []
    assert len(found) >= DRAWS * len(registry) * 0.9


def test_a_missing_symbol_is_named(modules):
    text = modules.evaluate("""async () => { const { compile } = await import("/tree.js");
        try { compile(["*", 2, "batch"])({}); } catch (error) { return error.symbol; } }""")
    assert text == "batch"


def test_a_foreign_operator_is_refused(modules):
    text = modules.evaluate("""async () => { const { compile } = await import("/tree.js");
        try { compile(["constructor", 1]); } catch (error) { return error.message; } }""")
    assert "uses 'constructor' with 1 arguments; allowed are + * / ^" in text


def test_numbers_read_the_same(modules):
    rng = random.Random(7)
    awkward = [
        0.0,
        1.0,
        2.0,
        999.5,
        0.9995,
        999.95,
        0.125,
        2.5,
        1e3,
        1e6,
        119.9,
        120.0,
        7200.0,
        0.1,
        0.05,
        0.00995,
        99.995,
        1e-5,
        8192.0,
        5e-5,
        1e18,
        1e21,
        1e27,
    ]
    cases = [
        (
            rng.choice((1, -1))
            * (
                10 ** rng.uniform(-14, 26)
                if i % 3
                else rng.choice(awkward) / (UNITS[unit].factor if i % 2 else 1)
            ),
            unit,
            rng.choice((2, 3, 4, 6)),
        )
        for unit in UNITS
        for i in range(200)
    ]
    cases += [(value, unit, 6) for value in (2**20, 10**6, 10**7 + 1) for unit in UNITS]
    found = modules.evaluate(
        """async (cases) => {
        const { formatValue, formatTick, axisHint } = await import("/units.js");
        return cases.map(([value, unit, digits]) => [formatValue(value, unit, digits),
          formatTick(value, unit), formatTick(value, unit, 3 * value), axisHint(unit)]); }""",
        cases,
    )
    wrong = [
        (case, ours, theirs)
        for case, theirs in zip(cases, found, strict=True)
        if (
            ours := [
                format_value(*case),
                format_tick(*case[:2]),
                format_tick(*case[:2], 3 * case[0]),
                axis_hint(case[1]),
            ]
        )
        != theirs
    ]
    assert wrong == []


def test_axes_are_titled_and_labelled_and_round_their_times_the_same(modules):
    titles = [
        (title, unit)
        for title in (
            "Time",
            "Parameters",
            "Tokens  served",
            "Tokens a second",
            "Fewest chips",
            "FLOPs",
        )
        for unit in UNITS
    ]
    spans = [
        (10.0**low, 10.0**high, most)
        for low in range(-12, 9, 2)
        for high in range(low + 1, 10, 3)
        for most in (4, 10)
    ]
    axes = [
        ([factor * 10.0**e for e in exponents], unit, log)
        for exponents in ((-9, -6, -2, 0), (-3, -2, -1), (2, 4, 6, 9), (15, 18, 20))
        for unit in UNITS
        for factor, log in ((1, True), (2.5, False))
    ]
    found = modules.evaluate(
        """async ([titles, spans, axes]) => {
        const { axisTitle, formatNamed, formatTicks, roundTimes } = await import("/units.js");
        return [titles.map((one) => axisTitle(...one)), spans.map((one) => roundTimes(...one)),
          axes.map((one) => formatTicks(...one)),
          titles.map(([title, unit]) => formatNamed(title, 12345, unit, 4))]; }""",
        [titles, spans, axes],
    )
    assert found == [
        [axis_title(*one) for one in titles],
        [round_times(*one) for one in spans],
        [format_ticks(*one) for one in axes],
        [format_named(title, 12345, unit, 4) for title, unit in titles],
    ]


def test_counts_become_whole_as_in_python(modules):
    values = [0, 0.1, 0.5, 1, 1 + 1e-12, 1.5, 2.5, 20.4, 66.7, 3 * 1.1 / 1.1, 1e9 + 0.5, 1e18]
    cases = [(value, way) for value in values for way in ("up", "down", "near", "")]
    found = modules.evaluate(
        """async (cases) => { const { wholeCount } = await import("/units.js");
        return cases.map((one) => wholeCount(...one)); }""",
        cases,
    )
    assert found == [whole_count(*one) for one in cases]


def curves(a, b, c, rng):
    """Return functions of x that fall, rise, bend, stay level and go up and down."""
    return [
        lambda x: a + b / (x + 1e-3),
        lambda x: np.maximum(a, b * x),
        lambda x: a * (x + 1) ** rng.uniform(-1, 1),
        lambda x: np.minimum(a, b * x) + c,
        lambda x: a + 0 * x,
        lambda x: b * np.sin(x) + a,
    ]


def test_curves_are_described_the_same(modules):
    rng = random.Random(11)
    cases = []
    for i in range(60):
        log, n = i % 3 > 0, 241
        xs = (
            np.geomspace(1, 10 ** rng.uniform(1, 6), n)
            if log
            else np.linspace(0, 10 ** rng.uniform(0, 3), n)
        )
        a, b, c = (10 ** rng.uniform(-3, 3) for _ in range(3))
        ys = curves(a, b, c, rng)[i % 6](xs)
        if i % 7 == 0:  # a pole
            ys = [None if x >= xs[150] else a / (xs[150] - x) for x in xs]
        elif i % 5 == 0:
            ys = [None if j > 180 or j < i else float(y) for j, y in enumerate(ys)]
        cases.append(
            (
                xs.tolist(),
                [None if y is None else float(y) for y in ys],
                "batch",
                "sequence",
                rng.choice(("s", "$/token", "1")),
                log,
            )
        )
    found = modules.evaluate(
        """async (cases) => { const { describe } = await import("/describe.js");
        return cases.map(([xs, ys, ...rest]) =>
          describe(xs, ys.map((y) => (y === null ? Infinity : y)), ...rest)); }""",
        cases,
    )
    wrong = [
        (ours, theirs)
        for (xs, ys, *rest), theirs in zip(cases, found, strict=True)
        if (ours := describe(xs, [math.inf if y is None else y for y in ys], *rest)) != theirs
    ]
    assert wrong == []


def test_bands_are_those_of_python(modules):
    """Every chip and model of the book, and one chip more or fewer than each class ends with."""
    curve = Curve(latency.step_time, "step", bands=measured.page_bands())
    rows = scenario.page_rows()
    cases = [
        {"devices": devices, "experts": model["values"]["experts"], "batch": batch}
        for batch in (1, 64)
        for model in rows["model"]
        for devices in sorted(
            {1, 2, 7.5, 8, 9} | {chip["values"]["devices"] for chip in rows["hardware"]}
        )
    ]
    found = modules.evaluate(
        """async ([bands, cases]) => { const { bandAt } = await import("/bands.js");
        return cases.map((values) => {
          const { band, of } = bandAt({ bands }, values);
          return [band ?? null, of]; }); }""",
        [spec_bands(curve), cases],
    )
    at = [curve.band_at(case).at(case["batch"]) for case in cases]
    ours = [[band and list(band), of] for band, of in at]
    assert found == ours
    assert {of for _, of in ours} >= {row["text"] for row in curve.bands}
    for case, (band, _) in zip(cases, ours, strict=True):
        made = measured.band(case["devices"], experts=case["experts"])
        held = made and made.usual[0] <= case["batch"] <= made.usual[1]
        assert band == ([made.low, made.high] if held else None)
