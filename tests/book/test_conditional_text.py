"""Tests of sentences that hold for some scenarios only.

The page shows what Python says is true, and nothing else.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from handful import scenario
from handful_site.extensions.conditions import Condition

pytestmark = [pytest.mark.site, pytest.mark.browser]

PAGE = "your-model"
TEXT = (Path(__file__).parents[2] / "book" / f"{PAGE}.md").read_text("utf-8")
# In the order of the page: directives round paragraphs, and roles within them.
STATED = [
    (found[1] or found[2]).strip()
    for found in re.finditer(r"^:{3,}\{where\} (.+)$|\{where\}``(.+?)\|", TEXT, flags=re.M)
]
CHOICES = [
    {"hardware": "GB200 NVL72", "model": "DeepSeek-V3", "precision": "fp8", "context": 8192},
    {"hardware": "H200 SXM", "model": "DeepSeek-V3", "precision": "fp8", "context": 200_000},
    {"hardware": "H100 SXM", "model": "Llama 3.1 8B", "precision": "bf16", "context": 500},
    {"hardware": "MI300X", "model": "Llama 3.1 405B", "precision": "bf16", "context": 131_072},
    {"hardware": "TPU v5e", "model": "Qwen3 32B", "precision": "int8-weights", "context": 32_768},
]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(map(str, choice.values())))
def test_a_page_shows_what_holds(choice, shared, site):
    tab = shared(color_scheme="light")
    page = tab.open(f"{site}{PAGE}.html?{urlencode(choice)}")
    shown = page.locator("article [data-where]").evaluate_all(
        "nodes => nodes.map((node) => !node.hidden)"
    )
    assert shown == [Condition(text).holds(**choice) for text in STATED] and len(set(shown)) == 2
    assert tab.faults == []


def test_a_change_in_the_bar_turns_them(shared, site):
    tab = shared(color_scheme="light")
    page = tab.open(f"{site}{PAGE}.html?{urlencode(CHOICES[0])}")
    kink, none = (
        page.get_by_text("caches and attention move the kink"),
        page.get_by_text("so there is no kink"),
    )
    assert kink.is_visible() and not none.is_visible()
    page.locator("#bar-model").select_option("Llama 3.1 70B")
    none.wait_for(state="visible")
    assert not kink.is_visible() and tab.faults == []


def test_a_fast_network_of_more_chips_than_serve_is_not_counted_as_one(shared, site):
    """Weights that do not fit and "fast networks: 1" contradicted each other."""
    tab = shared(color_scheme="light")
    for chip, more in (("TPU v5e", True), ("H100 SXM", False)):
        choice = {"hardware": chip, "model": "Llama 3.1 405B", "precision": "bf16"}
        page = tab.open(f"{site}{PAGE}.html?{urlencode(choice)}")
        assert page.get_by_text("One fast network would do here").is_visible() == more
        assert page.get_by_text("fast networks behind each other.").last.is_visible() != more


def test_without_scripts_the_books_own_scenario_is_told(site, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}{PAGE}.html")
    assert page.get_by_text("caches and attention move the kink").is_visible()
    assert not page.get_by_text("so there is no kink").is_visible()
    assert page.locator("article [data-where]:not([hidden])").count() == sum(
        Condition(text).holds(**scenario.DEFAULT) for text in STATED
    )
    context.close()
