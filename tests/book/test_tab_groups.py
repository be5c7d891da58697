"""Tests of the groups that share one stop of the Tab key: few stops, and all within reach."""

from __future__ import annotations

import pytest

from handful_site.build import ROOT
from handful_site.contents import chapters

CHAPTER = "experts-on-racks.html"
LECTURE = [
    "latency-and-cost",
    "balance-batch",
    "experts-on-racks",
    "pipelining",
    "why-pipelining-is-not-wise",
    "over-training",
    "reading-api-prices",
    "memory-tiers",
    "ciphers-and-networks",
]
STOPS = """() => [...document.querySelectorAll(
    "a[href], button, summary, input, select, textarea, [tabindex]")].filter((one) =>
  one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ checkVisibilityCSS: true })
  && (one.type !== "radio" || one === document.getElementsByName(one.name)[0]))"""
# Everything that Tab reaches before the first Tab is pressed: one stop each, as without groups.
NOTE = f"() => {{ window.left = new Set(({STOPS})()); return window.left.size; }}"
VISIT = """() => {
  const now = document.activeElement;
  window.left.delete(now);
  return now !== document.body; }"""
LEFT = """() => [...window.left].map((one) =>
  `${one.tagName} ${one.className.baseVal ?? one.className} ${one.textContent.slice(0, 40)}`)"""
# Sliders, fields and steps of a picture have arrows of their own.
MOVES = """() => document.activeElement.matches("a[href], button, summary, [role=button]")
  && !document.activeElement.closest(".schematic")"""
# Where an arrow has led: an item, or a letter of an equation.
STEP = """() => {
  const now = document.activeElement, items = window.order ??= [...document.querySelectorAll("*")];
  return [items.indexOf(now), now.parentElement?.querySelector(".is-at")?.dataset.n]; }"""


def ready(tab, address):
    page = tab.open(address)
    page.locator(".live[role=button]").first.wait_for(state="attached")
    page.locator(".problem-check").first.wait_for(state="attached")
    page.evaluate(
        """() => new Promise((done) => {
          const look = () => [...document.querySelectorAll("[data-problem]")]
            .every((one) => one.querySelector(".problem-check")) ? done() : setTimeout(look, 20);
          look(); })"""
    )
    return page


@pytest.fixture
def page(site, shared):
    tab = shared()
    yield ready(tab, site + CHAPTER)
    assert tab.faults == []


def test_a_walk_by_tab_and_arrows_visits_all_that_had_a_stop(page):
    before = page.evaluate(NOTE)
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    stops = 0
    while True:
        page.keyboard.press("Tab")
        if not page.evaluate(VISIT):
            break
        stops += 1
        assert stops < before, "the walk comes to its end"
        if not page.evaluate(MOVES):
            continue
        for key in ("ArrowLeft", "ArrowRight"):  # to the group's first, then to its last
            last = None
            while (now := page.evaluate(STEP)) != last:
                page.evaluate(VISIT)
                page.keyboard.press(key)
                last = now
    assert page.evaluate(LEFT) == []
    assert before > 150 and stops < 150


def test_a_chapter_has_fewer_than_150_stops_on_average(site, shared):
    tab, before, after = shared(), [], []
    for name in LECTURE:
        page = ready(tab, f"{site}{name}.html")
        before.append(page.evaluate(f"({STOPS})().length"))
        page.keyboard.press("Tab")
        after.append(page.evaluate(f"({STOPS})().length"))
    assert sum(after) < 0.75 * sum(before), (before, after)
    assert sum(after) / len(after) < 150, dict(zip(LECTURE, after, strict=True))


def test_arrows_home_and_end_stay_in_a_paragraph_and_tab_leaves_it(page):
    paragraph = page.locator("article section > p:has(.live ~ .live ~ .live)").first
    items = paragraph.locator("a[href], [role=button]").element_handles()
    where = "(items) => items.indexOf(document.activeElement)"
    items[0].focus()
    for key, at in [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", len(items) - 1),
        ("ArrowRight", len(items) - 1),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("ArrowRight", 1),
        ("Tab", -1),
        ("Shift+Tab", 0),
    ]:
        page.keyboard.press(key)
        assert page.evaluate(where, items) == at, key


def test_up_and_down_go_by_the_rows_of_a_table(page):
    table = page.locator("table:has(tr .live)").first
    numbers = table.locator(".live")
    numbers.first.focus()
    row = "document.activeElement.closest('tr').rowIndex"
    first = page.evaluate(row)
    page.keyboard.press("ArrowDown")
    assert page.evaluate(row) == first + 1
    page.keyboard.press("ArrowUp")
    assert page.evaluate(row) == first
    assert page.evaluate("document.activeElement.closest('table') !== null")


def test_a_box_that_closes_leaves_the_reader_where_it_was_opened(page):
    paragraph = page.locator("article section > p:has(.live ~ .live ~ .live)").first
    paragraph.locator(".live").first.focus()
    page.keyboard.press("ArrowRight")
    at = page.evaluate_handle("document.activeElement")
    page.keyboard.press("Enter")
    page.locator(".pop").wait_for()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert page.evaluate("(at) => at === document.activeElement", at)


def test_what_can_be_reached_by_arrows_says_so_until_they_are_used(page):
    page.locator("article section > p:has(.live ~ .live)").first.evaluate(
        "(one) => one.previousElementSibling?.querySelector('a')?.focus()"
    )
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.locator(".has-arrows").count():
            break
    assert page.locator(".has-arrows").count() == 1
    words = page.locator(".has-arrows").evaluate(
        "(one) => getComputedStyle(one, '::after').content"
    )
    assert words == '"← →" / ""', "for the eye only"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    assert page.locator(".has-arrows").count() == 0


def test_without_the_tab_key_nothing_is_touched(page):
    """Programs that read or drive the page otherwise find every link and button as it is."""
    grouped = "article a[tabindex]:not(.headerlink), article summary[tabindex]"
    passed = f"document.querySelectorAll({grouped!r}).length"
    assert page.evaluate(passed) == 0
    page.keyboard.press("Tab")
    assert page.evaluate(passed) > 9
    assert page.locator("article a.term[tabindex='-1']").first.get_attribute("href")


def test_a_menu_that_opens_over_the_page_has_a_stop_for_each(page):
    page.keyboard.press("Tab")
    assert page.locator("#book-contents a[tabindex='-1']").count() > 9
    page.set_viewport_size({"width": 700, "height": 800})
    page.locator(".book-contents-button:visible").press("Enter")
    page.locator("dialog[open] #book-contents").wait_for()
    page.keyboard.press("Tab")
    assert page.locator("#book-contents a[tabindex='-1']").count() == 0


def test_the_list_of_chapters_is_that_of_the_book():
    import yaml

    toc = chapters(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
    assert set(LECTURE) <= set(toc)


@pytest.mark.parametrize(
    "name, label, last, focused",
    [
        ("glossary", "Terms by their first letter", "Z", "DT"),
        (
            "notation",
            "Letters by their subject",
            "Money and energy of a fleet",
            "CAPTION",
        ),
        ("numbers", "Rows by their first letter", "W", "TR"),
    ],
)
def test_a_long_list_is_reached_by_its_letters_or_subjects(
    site, shared, name, label, last, focused
):
    """They are one stop, which says how; what a link leads to has the focus, and Tab goes on."""
    page = shared().open(f"{site}{name}.html")
    ways = page.get_by_role("navigation", name=label).first
    links = ways.get_by_role("link")
    links.first.focus()
    assert "Home and End" in links.first.get_attribute("aria-description")
    page.keyboard.press("ArrowRight")
    assert links.nth(1).evaluate("(one) => one === document.activeElement")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == last
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == focused
    page.keyboard.press("Tab")
    assert page.evaluate("!document.activeElement.closest('.jump')")


def test_a_letter_of_the_index_of_numbers_is_a_stop_and_says_so(site, shared):
    page = shared().open(f"{site}numbers.html")
    page.keyboard.press("Tab")
    stops = page.evaluate(
        """() => [...document.querySelectorAll(".numbers-index a")].filter(
          (one) => one.tabIndex >= 0).map((one) => one.getAttribute("aria-description"))"""
    )
    assert 20 < len(stops) < 60
    said = [one for one in stops if one]
    assert said and all("arrow keys, Home and End go through" in one for one in said)
