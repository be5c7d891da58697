"""Tests of the built reference of formulas: what entries print and link to, and their look."""

from __future__ import annotations

import gzip
from urllib.parse import unquote

import pytest

from handful.query import registry
from handful.search import SUBJECTS
from handful_site.build import SITE
from handful_site.extensions import formula_reference as reference
from soup import soup

PAGES = {f"{reference.slug_of(subject)}.html": subject for subject in SUBJECTS}
# The longest, and the two with the widest letters.
LOOKED_AT = ["formulas-racks.html", "formulas-sharding.html", "formulas-memory-in-training.html"]


def entries(page: str) -> dict:
    return {entry["id"]: entry for entry in soup(page).select("section.formula-entry")}


def test_every_formula_has_one_entry_on_the_page_of_its_subject():
    found = [(page, anchor) for page in PAGES for anchor in entries(page)]
    wanted = [(f"{reference.page_of(n)}.html", reference.anchor_of(n)) for n in registry()]
    assert sorted(found) == sorted(wanted)
    for page in PAGES:
        ids = [node["id"] for node in soup(page).select("[id]")]
        assert len(ids) == len(set(ids)), page


@pytest.mark.parametrize("page", PAGES)
def test_entries_have_what_a_reader_looks_for(page):
    for anchor, entry in entries(page).items():
        formula = registry()[anchor.removeprefix("formula-")]
        code = entry.select_one(".highlight pre").get_text().strip()
        assert code == reference.call_text(reference.worked(formula)), anchor
        assert entry.h2 and not entry.find(["h3", "h4"]), "one heading an entry"
        assert entry.select_one(".math-block .katex"), "its equation"
        said = [strong.get_text() for strong in entry.select("p > strong")]
        assert "Source:" in said and len(said) == len(set(said)), anchor
        for table in entry.select("table"):
            assert len(table.select('thead th[scope="col"]')) == 3, anchor
            assert all(row.select_one('th[scope="row"] code') for row in table.select("tbody tr"))
        fold = entry.find("details")
        assert (fold is not None) == (formula._derivation is not None), anchor
        if fold:
            assert not fold.has_attr("open"), anchor
            assert len(fold.select(".derivation li")) == len(formula.derivation.steps)
        assert not entry.select("[data-formula-chapter]")


def test_entries_say_where_the_book_shows_the_formula():
    def place(name: str) -> list[str]:
        entry = entries(f"{reference.page_of(name)}.html")[reference.anchor_of(name)]
        line = next((p for p in entry.find_all("p") if p.get_text().startswith("In the")), None)
        return [unquote(link["href"]) for link in line.find_all("a")] if line else []

    # The first is shown by a cell, the second is a live number, the last is in no chapter.
    assert place("step_time") == ["latency-and-cost.html#formula-step_time"]
    (address,) = place("kv_cost")
    assert address.startswith("memory-tiers.html#number-")
    assert place("switch_all_gather_time") == []
    leading = [name for name in registry() if place(name)]
    assert 100 < len(leading) < len(registry())


def test_pages_are_light():
    """A megabyte of markup, of which a reader fetches some forty kilobytes."""
    sizes = {page: (SITE / page).read_bytes() for page in PAGES}
    assert {page: len(text) for page, text in sizes.items() if len(text) > 1_200_000} == {}
    assert max(len(gzip.compress(text)) for text in sizes.values()) < 70_000


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_tables_of_inputs_fit_the_screen_and_letters_their_column(name, width, site, shared):
    page = shared(width=width, color_scheme="dark").open(site + name)
    wide = page.evaluate("""() => [
      document.documentElement.scrollWidth > innerWidth && "the page",
      ...[...document.querySelectorAll(".formula-inputs")].filter((box) => {
        box.scrollIntoView();
        return box.scrollWidth > box.clientWidth + 1
          || [...box.querySelectorAll("tbody tr")].some((row) =>
            row.querySelector(".katex-html").getBoundingClientRect().right
              > row.querySelector("th").getBoundingClientRect().left); })
      .map((box) => box.closest("section").id)].filter(Boolean)""")
    assert wide == []


def test_a_link_opens_at_its_entry_and_paper_shows_what_is_folded(site, watch):
    tab = watch()
    page = tab.open(f"{site}formulas-decode-step.html#formula-step_time")
    box = page.locator("#formula-step_time > h2").bounding_box()
    assert box and 0 <= box["y"] < 300
    fold = page.locator("#formula-cost_per_token details, #formula-step_time details").first
    page.emulate_media(media="print")
    assert fold.locator(".derivation-title").bounding_box()["height"] > 0
    assert tab.faults == []
