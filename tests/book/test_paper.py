"""Tests of what a reader's printer gets of a page that is up."""

from __future__ import annotations

import io

import pikepdf
import pytest

from handful_site.build import SITE

pytestmark = pytest.mark.browser

PAGES = [
    path.stem for path in sorted(SITE.glob("*.html")) if "explorer-spec" in path.read_text("utf-8")
]
OVERLAPS = """() => {
  const faults = [], shown = (e) => e.checkVisibility() && e.getClientRects().length;
  for (const figure of document.querySelectorAll("figure.explorer")) {
    const svg = figure.querySelector(".ex-svg"), values = figure.querySelector(".ex-values");
    const words = svg && values && shown(values) ? svg.querySelectorAll("text") : [];
    for (const word of words)
      if (shown(word)
          && word.getBoundingClientRect().bottom > values.getBoundingClientRect().top + 2)
        faults.push(`${figure.id}: ${word.textContent} over the values`);
    const parts = [...figure.querySelectorAll(
      ".ex-head, .ex-notice, .ex-stage, .ex-row, .ex-control, .ex-caption, .ex-scene, .ex-words")];
    const boxes = parts.filter(shown).map((e) => [e.className, e.getBoundingClientRect()]);
    boxes.forEach(([a, p], i) => {
      for (const [b, q] of boxes.slice(i + 1))
        if (p.left < q.right - 2 && q.left < p.right - 2
            && p.top < q.bottom - 2 && q.top < p.bottom - 2)
          faults.push(`${figure.id}: ${a} over ${b}`);
    });
    const next = figure.nextElementSibling ?? figure.closest(".cell")?.nextElementSibling;
    if (next && shown(next)
        && next.getBoundingClientRect().top < figure.getBoundingClientRect().bottom - 2)
      faults.push(`${figure.id} over what follows`);
  }
  for (const e of document.querySelectorAll("button, input, select, textarea, [role=button]"))
    if (shown(e) && !e.matches(
        ".live, .fact, .ex-control output, .ex-choice select, .problem [type=radio]"))
      faults.push(`on paper stands ${e.outerHTML.slice(0, 120)}`);
  // What is chosen stands there as words: no frame, no arrow, nothing cut off.
  for (const e of document.querySelectorAll("figure.explorer :is(output, select)")) {
    const { appearance, backgroundImage, borderTopWidth } = getComputedStyle(e);
    if (shown(e) && (appearance === "auto" && e.matches("select") || backgroundImage !== "none"
        || borderTopWidth !== "0px" || e.scrollWidth > e.clientWidth + 1))
      faults.push(`on paper a control stands: ${e.outerHTML.slice(0, 120)}`);
  }
  return faults; }"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_was_read_to_its_end_is_printed_without_overlaps(site, watch, name):
    tab = watch(width=1280, reduced_motion="reduce")
    page = tab.open(f"{site}{name}.html")
    for figure in page.locator("figure.explorer").all():  # which draws it, and fixes its values
        figure.scroll_into_view_if_needed()
    page.locator("footer").last.scroll_into_view_if_needed()
    tab.rest()
    page.set_viewport_size({"width": 665, "height": 900})  # A4 between these margins
    page.emulate_media(media="print")
    tab.rest()
    assert page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("fetched", [True, False])
def test_a_question_that_nobody_answered_is_printed_with_its_answer(site, watch, fetched):
    """Also while the question is still on its way, and where a browser only turns its media."""
    tab = watch(width=1280, reduced_motion="reduce", guesses=True)
    page = tab.page
    if not fetched:
        page.route("**/guess.js*", lambda route: None)
    page.goto(f"{site}latency-and-cost.html", wait_until="load")
    figure = page.locator("figure.explorer[data-guess]").first
    figure.scroll_into_view_if_needed()
    figure.locator(".ex-ask, .ex-asking" if fetched else ".ex-asking").first.wait_for()
    if fetched:
        figure.locator(".ex-handle, .ex-given").first.wait_for()
    told = """(figure) => [figure.querySelector(".ex-asking") !== null,
        [...figure.querySelectorAll(".ex-curve")].filter((e) => e.checkVisibility()).length]"""
    before = figure.evaluate(told)
    assert before[0]
    page.emulate_media(media="print")
    page.wait_for_function(
        "(figure) => !figure.querySelector('.ex-asking')", arg=figure.element_handle()
    )
    assert figure.evaluate(told)[1] > 1
    assert not figure.locator(".ex-handles").is_visible()
    assert not figure.locator(".ex-question").is_visible()
    page.emulate_media(media="screen")
    page.wait_for_function(
        "(figure) => figure.querySelector('.ex-asking')", arg=figure.element_handle()
    )
    assert figure.evaluate(told) == before


def test_a_chapter_takes_no_more_paper_than_it_needs(site, watch):
    """Nothing on it tells of what can only be pressed, and no point stands on a line alone."""
    tab = watch(width=1280, reduced_motion="reduce")
    page = tab.open(f"{site}latency-and-cost.html")
    for figure in page.locator("figure.explorer").all():
        figure.scroll_into_view_if_needed()
    page.locator("footer").last.scroll_into_view_if_needed()
    tab.rest()
    with pikepdf.open(io.BytesIO(page.pdf(format="A4"))) as made:
        assert len(made.pages) <= 24
    page.emulate_media(media="print")
    shown = page.locator("article").inner_text()
    for words in ("Tick the box", "Move the cursor", "drawn anew", "Numbers 0"):
        assert words not in shown, words
    assert page.locator("a.claim").first.evaluate("(one) => getComputedStyle(one).display") == (
        "inline"
    )
