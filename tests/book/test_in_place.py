"""Tests of what opens in place: letters of equations, terms and badges.

Numbers and facts, which open by the same means, are tested in test_live.py.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from handful import latency, scenario
from handful.units import format_value
from handful_evidence.claims import VERDICTS, find
from soup import starts_from

CHAPTER = "latency-and-cost.html"
OWN = starts_from(CHAPTER)
LETTER = ".lettered [data-letter={}]"


@pytest.fixture
def tab(site, shared):
    tab = shared()
    tab.open(site + CHAPTER)
    yield tab
    assert tab.faults == []


@pytest.fixture
def page(tab):
    return tab.page


def opened(page):
    """Return the open box, once it holds what it fetches."""
    page.locator(".pop:not([aria-busy])").wait_for()
    return page.get_by_role("dialog")


def text(box) -> str:
    return re.sub(r"\s+", " ", box.inner_text())


def test_a_letter_says_its_name_unit_and_value_now(page):
    letter = page.locator(LETTER.format("total_parameters")).first
    letter.click()
    box = opened(page)
    assert box.get_attribute("aria-label") == "Total parameters"
    value = format_value(scenario.values(**OWN)["total_parameters"], "parameter", 4)
    assert box.locator("strong").nth(1).inner_text() == value
    assert "Weights that the model has." in text(box) and "Unit: parameters." in text(box)
    assert box.locator("math").count() == 1
    link = box.get_by_role("link", name="In Notation")
    assert link.get_attribute("href").endswith("notation.html#symbol-row-total_parameters")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('.letters')")
    page.locator("#bar-model").select_option("Llama 3.1 8B")
    letter.click()
    value = scenario.values(model="Llama 3.1 8B")["total_parameters"]
    expect(box.locator("strong").nth(1)).to_have_text(format_value(value, "parameter", 4))


def test_each_letter_is_reached_by_the_pointer(page):
    """Also below a bar, where boxes of the layout lie over it."""
    letters = page.locator(".lettered [data-letter]")
    for letter in letters.all():
        assert letter.evaluate("""(node) => {
          node.scrollIntoView({ block: "center", behavior: "instant" });
          const { left, top, width, height } = node.getBoundingClientRect();
          return node.contains(document.elementFromPoint(left + width / 2, top + height / 2)); }""")
    assert letters.count() > 20


def test_a_letter_that_is_free_names_the_plots_whose_axis_it_is(page):
    page.locator(LETTER.format("batch")).first.click()
    box = opened(page)
    assert "The scenario does not fix it; it is the axis of" in text(box)
    link = box.locator("a[href^='#explorer-']").first
    assert page.locator(link.get_attribute("href")).count() == 1
    link.click()
    assert page.get_by_role("dialog").count() == 0


def test_an_equation_is_one_stop_and_arrows_go_through_its_letters(page):
    stop = page.locator(".lettered > .letters").first
    names = page.locator(".lettered").first.evaluate(
        """(one) => [...one.querySelectorAll("[data-letter]")]
          .sort((a, b) => a.dataset.n - b.dataset.n).map((letter) => letter.dataset.letter)"""
    )
    assert len(names) > 2
    stop.focus()
    for name in names:
        page.keyboard.press("ArrowRight")
        assert page.locator(".is-at").get_attribute("data-letter") == name
        assert page.locator(".for-ears[role=status]").inner_text() == name.replace("_", " ")
    assert stop.evaluate("(one) => one === document.activeElement")
    page.keyboard.press("Enter")
    assert opened(page).get_attribute("aria-label").lower() == names[-1].replace("_", " ")
    page.get_by_role("button", name="Close").click()
    assert stop.evaluate("(one) => one === document.activeElement")
    for _ in names:
        page.keyboard.press("ArrowLeft")
    assert page.locator(".is-at").count() == 0
    page.keyboard.press("Enter")
    rows = opened(page).locator("th a")
    assert len(rows.all()) == len(set(names)), "as a whole it shows all of its letters, each once"


def test_formulas_stay_readable_by_ear(page):
    """What is drawn is for the eye only, and nothing in it can be focused."""
    page.goto(page.url.replace(CHAPTER, "formulas-decode-step.html"))
    page.locator(".letters").first.wait_for(state="attached")
    found = page.evaluate("""() => [...document.querySelectorAll(".lettered")].map((one) => [
      one.querySelectorAll("math").length,
      one.querySelectorAll("[data-letter]").length,
      one.querySelectorAll("math [data-letter]").length,
      one.querySelectorAll("[aria-hidden=true] :is([tabindex], button, a)").length,
      one.querySelector(".letters").getAttribute("aria-label")])""")
    assert len(found) >= 30
    for formulas, letters, heard, focusable, name in found:
        assert (formulas, heard, focusable) == (1, 0, 0) and letters
        assert name == "Letters of this equation"


def test_a_term_opens_its_definition(page):
    term = page.locator("section p a.term").first
    address = term.get_attribute("href")
    term.click()
    box = opened(page)
    assert page.url.endswith(CHAPTER), "the reader stays"
    assert box.get_by_role("link", name="In the glossary").get_attribute("href").endswith(address)
    said = text(box.locator("p").first)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('a.term')")
    page.goto(page.url.replace(CHAPTER, address))
    defined = page.locator(f"[id='{address.partition('#')[2]}'] ~ dd").first
    assert re.sub(r"\s+", " ", defined.locator("p").first.inner_text()) == said


def test_a_badge_opens_what_was_said_when_and_why(page):
    name = "fast-mode-six-times"
    claim = find(name)
    page.locator("details:has(a.claim) summary").first.click()
    badge = page.locator(f"a.claim[href$='#claim-{name}']").first
    badge.focus()
    page.keyboard.press("Enter")
    box = opened(page)
    said = text(box)
    assert claim.statement in said and f"{claim.who} at {claim.time}" in said
    assert VERDICTS[claim.verdict] in said
    assert text(box.locator(".entry-why")).startswith(claim.reason[:60])
    results = box.locator(".entry-found tr")
    assert len(results.all()) == len(claim.values or claim.findings)
    assert (
        box.get_by_role("link", name="In the ledger")
        .get_attribute("href")
        .endswith(f"claims.html#claim-{name}")
    )
    assert box.locator("[id]").count() == 0, "names stay on their page"


def test_a_modified_click_follows_the_link(page):
    with page.context.expect_page() as other:
        page.locator("section p a.term").first.click(modifiers=["ControlOrMeta"])
    other.value.wait_for_url("**/glossary.html#term-*")
    other.value.close()
    page.locator("details:has(a.claim) summary").first.click()
    with page.context.expect_page() as other:
        page.locator("a.claim:visible").first.click(button="middle")
    other.value.wait_for_url("**/claims.html#claim-*")
    other.value.close()
    assert page.get_by_role("dialog").count() == 0


def test_without_scripts_terms_and_badges_are_links_and_equations_plain(site, watch):
    page = watch(java_script_enabled=False).page
    page.goto(site + CHAPTER)
    assert page.locator(".letters").count() == 0
    page.locator("section p a.term").first.click()
    page.wait_for_url("**/glossary.html#term-*")


def test_tab_stays_in_a_box(page):
    page.locator(LETTER.format("batch")).first.click()
    stops = opened(page).locator("a, button")
    for _ in range(len(stops.all()) + 2):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.pop') !== null")


@pytest.mark.parametrize(
    "what",
    [
        LETTER.format("kv_bytes_per_token"),
        "section p a.term",
        "td a.claim",
    ],
)
def test_boxes_fit_a_phone_and_are_not_printed(page, what):
    page.set_viewport_size({"width": 320, "height": 640})
    if "claim" in what:
        page.locator("details:has(a.claim) summary").first.click()
    page.locator(what).first.click()
    box = opened(page)
    at = box.bounding_box()
    assert at["x"] >= 0 and at["x"] + at["width"] <= 320
    assert box.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    page.emulate_media(media="print")
    assert not box.is_visible() and not page.locator(".letters").first.is_visible()
    page.emulate_media(media="screen")


def test_what_cannot_be_fetched_is_said_and_asked_for_again(tab, page):
    answers = [404]
    page.route(
        "**/glossary.html",
        lambda route: route.fulfill(status=answers.pop()) if answers else route.continue_(),
    )
    term = page.locator("section p a.term").first
    term.click()
    assert "could not be fetched" in text(opened(page))
    assert page.get_by_role("link", name="In the glossary").is_visible()
    page.keyboard.press("Escape")
    term.click()
    assert "could not be fetched" not in text(opened(page))
    page.unroute("**/glossary.html")
    assert all("404" in fault for fault in tab.faults)
    tab.faults.clear()


def test_a_letter_that_a_formula_gives_has_its_value_now(page):
    """What the scenario does not fix is where a plot's cursor has it, and the box says so."""
    page.locator("#explorer-fast-and-slow").scroll_into_view_if_needed()
    cursor = page.locator("#explorer-fast-and-slow .ex-cursor[role=slider]")
    cursor.wait_for(state="attached")
    batch = float(cursor.get_attribute("aria-valuenow"))
    page.locator(LETTER.format("kv_time")).first.click()
    known = scenario.values(**OWN)
    asked = {one.name for one in latency.kv_time.inputs} & set(known)
    value = latency.kv_time(**{name: known[name] for name in asked}, batch=batch)
    assert f"Now {format_value(value, 's', 4)}".replace("\u00a0", " ") in text(opened(page))
    assert f"with batch {batch:.0f} sequences, at the cursor of" in text(opened(page))
    page.keyboard.press("Escape")
    page.locator(".lettered:has([data-letter=compute_time]) > .letters").first.focus()
    page.keyboard.press("Enter")
    rows = opened(page).locator("tr:has(.pop-number)")
    numbers = {
        row.locator("th").inner_text(): row.locator(".pop-number").inner_text()
        for row in rows.all()
    }
    assert len(numbers) > 2 and [name for name, number in numbers.items() if not number] == [
        "Batch"
    ]


def test_a_model_without_windows_is_said_to_have_none(site, watch):
    tab = watch(reduced_motion="reduce")
    for model, window in (("Llama+3.1+70B", "none"), ("Gemma+3+27B", "1,024 tokens")):
        found = tab.open(f"{site}your-model.html?hardware=H100+SXM&model={model}&precision=fp8")
        found.locator("[data-live^=batch_that_fits]:visible").first.click()
        row = opened(found).locator("tr", has_text="Window tokens")
        assert row.locator(".pop-number").inner_text().replace("\u00a0", " ") == window


@pytest.mark.parametrize(
    "number, whom",
    [
        ("activation_memory_stored_of_shape", "For Llama 3.1 70B, as this sentence asks."),
        ("rounding_walk", ""),
    ],
)
def test_a_number_is_said_to_be_of_what_it_depends_on(site, watch, number, whom):
    """A formula without a chip in it names none."""
    tab = watch(reduced_motion="reduce")
    found = tab.open(f"{site}ciphers-and-networks.html")
    found.locator(f"[data-live^={number}]").last.click()
    scene = opened(found).locator(".pop-scene")
    assert (scene.inner_text() if scene.count() else "") == whom
    assert tab.faults == []
