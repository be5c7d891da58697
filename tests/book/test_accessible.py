"""Tests of the built pages with axe-core, in light and dark colours, with everything unfolded.

They also cover the states that a reader brings about. `make test` looks at a page of each kind;
`make accessible` and `make publish` look at every page.
"""

from __future__ import annotations

import os

import pytest

from conftest import ROOT, SITE, built_pages
from study_pages import unfold

AXE = (
    (ROOT / "node_modules/axe-core/axe.min.js").read_text("utf-8")
    if (ROOT / "node_modules/axe-core").exists()
    else ""
)
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]
KINDS = [
    *("index.html", "latency-and-cost.html", "claims.html", "references.html", "your-model.html"),
    "formulas-speculative-decoding.html",
]
PAGES = (
    built_pages()
    if os.environ.get("EVERY_PAGE")
    else [name for name in KINDS if (SITE / name).exists()] or ["index.html"]
)

# All is laid out and unfolded.  What KaTeX draws goes, as axe passes over it in any case (it is
# aria-hidden; the formula that is read out stands beside it as MathML) and there are forty thousand
# pieces of it in a chapter.  A menu lies over what it covers, and is looked at open by itself.
UNFOLD = """() => {
  document.querySelectorAll("details:not(.downloads)")
    .forEach((one) => { one.open = true; });
  document.querySelectorAll(".katex-html").forEach((one) => one.replaceChildren());
  for (const button of document.querySelectorAll(".problem-open[aria-expanded=false]"))
    button.click();
  return new Promise((done) => setTimeout(done, 300));
}"""
STILL = (
    "*, ::before, ::after { content-visibility: visible !important; transition: none "
    "!important; animation: none !important }"
)
RUN = """([scheme, run, within]) => {
  document.documentElement.dataset.theme = document.documentElement.dataset.mode = scheme;
  return axe.run(
    within ? { include: within } : document, { runOnly: run, resultTypes: ["violations"] },
  ).then(({ violations }) => violations.flatMap((rule) => rule.nodes.map((node) =>
    `${scheme}, ${rule.id}: ${node.target.join(" ")}: `
      + node.failureSummary.replace(/\\s+/g, " "))));
}"""


@pytest.fixture
def tab(watch):
    # axe is put in from outside, past the policy; test_self_hosted.py holds the pages to it.
    return watch(bypass_csp=True, reduced_motion="reduce")


def ready(page):
    page.add_style_tag(content=STILL)
    page.evaluate(AXE)
    return page


def faults(page, dark=True, within=None) -> list[str]:
    """Return what breaks a rule, in all of the page or within some selectors.

    All rules are tried in light colours, those about colour in dark ones too.
    """
    assert not within or all(page.locator(one).count() for one in within)
    found = page.evaluate(RUN, ["light", {"type": "tag", "values": STANDARDS}, within])
    return found + (
        page.evaluate(RUN, ["dark", {"type": "rule", "values": COLOURS}, within]) if dark else []
    )


@pytest.mark.parametrize("name", PAGES)
def test_no_rule_is_broken(name, site, tab):
    page = ready(tab.open(site + name))
    page.evaluate(UNFOLD)
    assert faults(page) == []
    twice = page.evaluate("""() => {
      const seen = new Map();
      for (const { id } of document.querySelectorAll("[id]")) seen.set(id, (seen.get(id) || 0) + 1);
      return [...seen].filter(([, count]) => count > 1).map(([id]) => id); }""")
    assert twice == [], "names within a page are given once"


def test_boxes_cards_and_problems_in_use(site, tab):
    page = ready(tab.open(site + "latency-and-cost.html"))
    page.evaluate(
        "document.querySelectorAll('.katex-html').forEach((one) => one.replaceChildren())"
    )
    unfold(page)
    card = page.locator(".card[data-card]").first
    card.locator("summary").click()
    card.locator(".study-grade").first.wait_for()
    problem = page.locator("[data-problem]:has(input[type=text])").first
    if problem.locator(".problem-open[aria-expanded=false]").count():
        problem.locator(".problem-open").click()
    problem.locator("input[type=text]").first.fill("1")
    problem.get_by_role("button", name="Check").click()
    problem.locator(".problem-verdict :not(:empty)").first.wait_for()
    page.locator(".live[role=button]").first.click()
    page.locator(".pop").wait_for()
    # The page as it comes is looked at above.
    assert (
        faults(
            page,
            within=[
                ".pop",
                ".bar",
                f"#{card.get_attribute('id')}",
                f"#{problem.get_attribute('id')}",
            ],
        )
        == []
    )


def test_the_menu_of_downloads(site, tab):
    page = ready(tab.open(site + "latency-and-cost.html"))
    page.locator(".downloads > summary").click()
    page.locator(".downloads li").first.wait_for()
    assert faults(page, within=[".downloads"]) == []


def test_dialogs(site, tab):
    page = ready(tab.open(site + "review.html"))
    page.locator(".study-stage > .card summary").click()
    page.locator(".study-grade").first.wait_for()
    page.get_by_role("button", name="Help").click()
    assert faults(page) == []
    page = ready(tab.open(site))
    page.keyboard.press("Control+k")
    page.locator("dialog.find[open] input[type=text]").fill("balance batch")
    page.locator("dialog.find [role=option]").first.wait_for()
    assert faults(page) == []


@pytest.mark.parametrize(("width", "height"), [(412, 823), (1350, 940)])
def test_targets_do_not_overlap_as_the_page_comes(site, watch, width, height):
    """Below the screen, only what asks for it has been laid out at that time.

    Lighthouse looks at a page in this way, at these sizes.
    """
    page = watch(bypass_csp=True, width=width, height=height).open(site + "latency-and-cost.html")
    page.wait_for_function("() => document.querySelectorAll('.problem-choices input').length > 8")
    page.evaluate(AXE)
    assert page.evaluate(RUN, ["light", {"type": "rule", "values": ["target-size"]}]) == []


@pytest.mark.parametrize("width", [320, 412, 640, 641, 1350])
def test_no_entry_is_higher_than_its_guess(site, watch, width):
    """A higher one ends, for a program that measures the page, over the next entry."""
    page = watch(bypass_csp=True, width=width).open(site + "claims.html")
    higher = page.evaluate(
        """() => {
          const entries = [...document.querySelectorAll(".entry")], last = entries.at(-1),
            guess = parseFloat(getComputedStyle(last).containIntrinsicBlockSize.split(" ").at(-1));
          for (const entry of entries) entry.style.contentVisibility = "visible";
          return entries.map((entry) => entry.getBoundingClientRect().height)
            .filter((height) => !(height <= guess)); }"""
    )
    assert higher == []


@pytest.mark.parametrize(
    "fault",
    [
        "<button></button>",
        "<img src='favicon.svg'>",
        "<p style='color: #aaa'>pale</p>",
        "<div style='overflow: auto; width: 9px; white-space: nowrap'>wide words</div>",
    ],
)
def test_a_fault_is_found(fault, lax_server, browser):
    folder, address = lax_server
    (folder / "index.html").write_text(
        f"<!doctype html><html lang=en><title>t</title><main><h1>t</h1>{fault}</main></html>",
        "utf-8",
    )
    page = browser.new_page()
    page.goto(address)
    page.evaluate(AXE)
    assert len(faults(page, dark=False)) == 1
    page.close()
