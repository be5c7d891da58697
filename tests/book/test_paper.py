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
        ".live, .fact, .ex-control output, .ex-choice select, .bar select, .bar-rent input, "
        + ".problem [type=radio]"))
      faults.push(`on paper stands ${e.outerHTML.slice(0, 120)}`);
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
