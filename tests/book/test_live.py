"""Tests of live numbers and facts in a real browser.

They follow the scenario, and say where they come from.
"""

from __future__ import annotations

import json
import re
import shutil

import pytest

from handful import balance, experts, latency, scenario, shapes
from handful.query import lecture_seconds
from handful.units import format_value
from handful_site import build

pytestmark = pytest.mark.browser


def entry(formula) -> dict:
    return {
        "tree": formula.tree(),
        "label": formula.gives.label,
        "meaning": formula.meaning,
        "unit": formula.gives.unit,
        "inputs": [
            {"name": q.name, "label": q.label, "unit": q.unit}
            for q in formula.inputs
            if not q.constant
        ],
        "conventions": list(formula.conventions),
        "source": formula.source,
    }


@pytest.fixture(scope="module")
def address(module_server):
    build.bundle()
    folder, address = module_server
    for name in ("handful.js", "handful.css", "boxes.js"):
        shutil.copy(build.SCRIPTS / name, folder / name)
    formulas = {
        f.name: entry(f)
        for f in (latency.step_time, balance.weight_uses_at_balance, experts.communication_time)
    }
    numbers = {
        "crossing": {
            "formula": "communication_time",
            "set": {"batch": 4096, "devices": 144},
            "digits": 3,
        },
        "step": {
            "formula": "step_time",
            "set": {"batch": 256},
            "digits": 3,
            "values": {"one_token": 1},
        },
        "pinned": {
            "formula": "weight_uses_at_balance",
            "set": {"hardware": "H100 SXM", "precision": "bf16"},
            "digits": 3,
        },
    }
    block = json.dumps({"formulas": formulas, "numbers": numbers}).replace("<", "\\u003c")
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>live</title>'
        '<link rel="stylesheet" href="handful.css">'
        '<script type="module" src="handful.js"></script></head>'
        '<body class="has-scenario"><main><article>'
        '<p>A step takes <span class="live" data-live="step">?</span>; an H100 balances at '
        '<span class="live" data-live="pinned">?</span> and reads <span class="fact" '
        'data-label="Bandwidth" '
        'data-source="a data sheet">3.35 TB/s</span>; experts talk for <span class="live" '
        'data-live="crossing">?</span>.</p></article></main>'
        '<script type="application/json" id="live-numbers" '
        f'data-boxes="boxes.json">{block}</script>'
        "</body></html>",
        "utf-8",
    )
    (folder / "boxes.json").write_text(
        '{"formulas":{"step_time":"<b>T =</b>"},"letters":{"batch":"<b>B</b>"}}', "utf-8"
    )
    return address


@pytest.fixture
def page(address, shared):
    tab = shared()
    yield tab.open(address)
    assert tab.faults == []


def number(page, key: str) -> str:
    return page.locator(f"[data-live={key}]").inner_text()


def test_they_follow_the_scenario_unless_pinned(page):
    for chip in ("GB200 NVL72", "H200 SXM"):
        page.locator("#bar-hardware").select_option(chip)
        value = latency.step_time(scenario.values(hardware=chip), batch=256)
        assert number(page, "step") == format_value(value, "s")
        assert number(page, "pinned").startswith("295")


def test_shapes_and_wires_follow_the_scenario_too(page):
    for chip, model in (("GB200 NVL72", "DeepSeek-V3"), ("H200 SXM", "Kimi K2")):
        page.locator("#bar-hardware").select_option(chip)
        page.locator("#bar-model").select_option(model)
        value = experts.communication_time(scenario.values(chip, model), batch=4096, devices=144)
        assert number(page, "crossing") == format_value(value, "s")


@pytest.mark.parametrize(
    "kind, name, lacking",
    [
        ("model", "Llama 3.1 70B", "it has no experts"),
        ("hardware", "Vera Rubin NVL72", "bandwidth"),
    ],
)
def test_what_the_scenario_lacks_is_named(page, kind, name, lacking):
    page.locator(f"#bar-{kind}").select_option(name)
    assert number(page, "crossing") == "–"
    page.locator("[data-live=crossing]").click()
    said = page.locator(".pop-reason").inner_text()
    assert name in said and lacking in said


@pytest.mark.parametrize(
    "choice",
    [
        {"hardware": "H100 SXM", "precision": "bf16"},
        {"hardware": "A100 80GB", "precision": "int8-weights", "context": 1e6},
        {"hardware": "Vera Rubin NVL72", "model": "Kimi K2"},
        {"model": "Llama 3.1 70B", "context": 131072.0},
        {},
    ],
)
def test_the_bar_notes_what_python_notes(page, choice):
    query = "&".join(f"{name}={value}" for name, value in choice.items()).replace(" ", "+")
    page.goto(page.url.partition("?")[0] + "?" + query)
    page.locator(".bar").wait_for()
    said = page.locator(".bar-notes").text_content()
    assert said == " ".join(scenario.notes(**choice))


def test_a_box_explains_a_published_count_that_is_another(page):
    for model, count in (("gpt-oss-120b", 1), ("Llama 3.1 70B", 0)):
        page.locator("#bar-model").select_option(model)
        page.locator("[data-live=step]").click()
        said = page.locator(".pop .pop-counts")
        assert said.all_text_contents() == [shapes.published_difference(model)] * count
        page.keyboard.press("Escape")
    page.locator("#bar-model").select_option("gpt-oss-120b")
    page.locator("[data-live=crossing]").click()  # which has no count of parameters in it
    assert page.locator(".pop").count() == 1 and page.locator(".pop .pop-counts").count() == 0
    page.keyboard.press("Escape")


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_opens_by_keyboard_and_gives_the_focus_back(page, key):
    page.locator("[data-live=step]").focus()
    page.keyboard.press(key)
    box = page.get_by_role("dialog")
    text = re.sub(r"\s+", " ", box.inner_text())
    assert (
        "The slower of reading and computing." in text
        and "256 sequences" in text
        and "GB200 NVL72" in text
    )
    assert (
        box.locator("a")
        .get_attribute("href")
        .endswith(f"&t={lecture_seconds(latency.step_time.source)}s")
    )
    assert box.locator(".pop-formula > b").inner_text() == "T =" and box.locator(
        ".pop-letter > b"
    ).all_inner_texts() == ["B"]
    assert box.evaluate("(b) => b.contains(document.activeElement)")
    page.keyboard.press("Escape")
    assert box.count() == 0
    assert page.evaluate("document.activeElement.dataset.live") == "step"


def test_click_opens_and_click_elsewhere_closes(page):
    page.locator("[data-live=pinned]").click()
    assert "H100 SXM" in page.get_by_role("dialog").inner_text()
    page.locator("main").click(position={"x": 2, "y": 2})
    assert page.get_by_role("dialog").count() == 0


def test_a_fact_names_its_source(page):
    page.locator(".fact").click()
    assert "Source: a data sheet." in page.get_by_role("dialog").inner_text()


def test_a_box_stays_within_a_phone(page):
    page.set_viewport_size({"width": 320, "height": 700})
    page.locator("[data-live=step]").click()
    box = page.get_by_role("dialog").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 320
