"""Tests of two scenarios side by side: the pinned one's numbers stand beside the page's."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .test_scenarios import FOLLOWING, PAGES, SETTERS

pytestmark = pytest.mark.browser

# Of every number on the page, what the page has and what the pinned scenario has, which is the same
# where nothing stands beside it.
BOTH = """
window.both = () => {
  const found = {}, shown = (node) => node.checkVisibility();
  const own = (node) => [...node.childNodes].filter((n) => !n.classList?.contains("beside")
    && !n.classList?.contains("for-ears")).map((n) => n.textContent).join("");
  const add = (key, node) => {
    found[key] = [own(node), node.querySelector(".beside")?.textContent || own(node)];
  };
  document.querySelectorAll("article .live").forEach((node, i) => add(`live ${i}`, node));
  for (const figure of document.querySelectorAll("figure.explorer"))
    for (const row of figure.querySelectorAll(".ex-row:not([hidden])"))
      if (shown(row)) add(`${figure.id} ${row.querySelector(".ex-name").textContent}`,
        row.querySelector(".ex-value"));
  return found;
};
window.still = async () => {  // what it gives once two readings agree
  for (let last = "", now = JSON.stringify(both()); ; last = now, now = JSON.stringify(both())) {
    if (now === last) return both();
    await new Promise((done) => setTimeout(done, 100));
  }
};
"""


@pytest.fixture
def opened(site, watch):
    """Open an address of a page with explorers; all are drawn and at rest."""

    def make(address: str):
        tab = watch(reduced_motion="reduce")
        tab.page.add_init_script(SETTERS + BOTH)
        found = tab.open(site + address)
        found.wait_for_function(
            "(count) => document.querySelectorAll('figure.explorer[data-mounted]').length >= count",
            arg=len(PAGES[address.split(".html")[0]]),
        )
        return tab, found

    return make


def choose(page, **choice) -> None:
    page.evaluate(
        """async (choice) => {
          for (const [kind, value] of Object.entries(choice)) choose(kind, value);
          await frames2(); }""",
        choice,
    )


OTHER = {"hardware": "H200 SXM", "model": "Kimi K2"}


def hold(page):
    """Move the cursor of the plot whose own follows the scenario; then it stays where it is."""
    cursor = page.locator("#explorer-fast-and-slow .ex-cursor[role=slider]")
    if cursor.count():
        cursor.press("ArrowRight")
        page.evaluate("frames2()")


@pytest.mark.parametrize("name", FOLLOWING)
def test_each_number_has_the_pinned_scenarios_beside_it(opened, name):
    """What stands beside a number is what the page had before; taking the pin out restores it."""
    tab, page = opened(f"{name}.html")
    hold(page)
    before = page.evaluate("still()")
    choose(page, **OTHER)
    plain = page.evaluate("still()")
    page.get_by_role("button", name="Reset to the book’s").click()
    page.get_by_role("button", name="Compare").click()
    choose(page, **OTHER)
    both = page.evaluate("still()")
    # a plot of which one scenario has no number shows the other alone
    common = [key for key in both if key in before]
    faults = [
        (key, both[key], before[key][0])
        for key in common
        if both[key][1] != before[key][0] and both[key][0] != both[key][1]
    ]
    assert faults == []
    assert {key: value[0] for key, value in both.items()} == {
        key: value[0] for key, value in plain.items()
    }
    changed = [key for key in common if before[key][0] != plain[key][0]]
    missing = [key for key in changed if both[key][0] == both[key][1]]
    assert missing == []
    assert changed
    page.get_by_role("button", name="Stop comparing").click()
    page.evaluate("frames2()")
    assert page.evaluate("still()") == plain
    assert page.locator(".beside:not(:empty):visible, .is-beside:visible").count() == 0
    assert tab.faults == []


def test_curves_of_both_are_drawn(opened):
    tab, page = opened("latency-and-cost.html")
    figure = page.locator("figure.explorer").first
    curves = figure.locator(".ex-curve:visible")
    figure.scroll_into_view_if_needed()  # it is drawn when it comes near
    curves.first.wait_for()
    before, first = curves.count(), curves.first.get_attribute("points")
    page.get_by_role("button", name="Compare").click()
    assert figure.locator(".is-beside").count() == 0  # both are the same so far
    choose(page, hardware="H200 SXM")
    assert figure.locator(".ex-curve:visible").count() == 2 * before
    faint = figure.locator(".ex-curve.is-beside").first
    assert faint.get_attribute("points") and curves.first.get_attribute("points") != first
    assert "Beside it, fainter: " in figure.locator(".ex-scene").inner_text()
    figure.get_by_text("Data as a table").click()
    expect(figure.locator(".ex-table table")).to_have_count(2)  # filled once the fold has told
    assert figure.locator("caption").inner_text().startswith("The same for ")
    assert tab.faults == []


def test_a_comparison_is_swapped_ended_and_sent(opened):
    tab, page = opened("latency-and-cost.html")
    hold(page)
    before = page.evaluate("both()")
    page.get_by_role("button", name="Compare").click()
    assert "Now choose another scenario" in page.locator(".bar-beside").inner_text()
    choose(page, **OTHER)
    compared = page.evaluate("both()")
    page.locator("#bar-rent").fill("7")
    page.locator("#bar-rent").press("Enter")
    page.evaluate("frames2()")
    paid = page.evaluate("both()")
    page.get_by_role("button", name="Swap").click()
    page.evaluate("frames2()")
    assert {k: v[::-1] for k, v in page.evaluate("both()").items()} == paid != compared
    assert page.locator("#bar-hardware").input_value() != OTHER["hardware"]
    page.reload()
    page.wait_for_selector(".ex-row .beside:not(:empty)")
    hold(page)
    page.get_by_role("button", name="Copy link").first.click()
    page.wait_for_function("() => location.search.includes('beside.')")
    address = page.url.split("/")[-1]
    page.get_by_role("button", name="Stop comparing").click()
    page.evaluate("frames2()")
    assert page.evaluate("both()") == before
    tab, page = opened(address)
    hold(page)
    assert {k: v[::-1] for k, v in page.evaluate("both()").items()} == paid
    assert tab.faults == []


def test_what_the_pinned_scenario_lacks_is_told(opened):
    _, page = opened("latency-and-cost.html?beside.hardware=H100+SXM&beside.model=Kimi+K2")
    assert "Beside it: " in page.locator(".bar-notes").inner_text()


def test_a_plot_that_is_empty_has_nothing_beside_it(opened):
    """A dense model has no experts, and so no curve that a fainter one could stand beside."""
    _, page = opened("experts-on-racks.html")
    figure = page.locator("#explorer-over-racks")
    page.get_by_role("button", name="Compare").click()
    choose(page, model="Llama 3.1 70B")
    expect(figure.locator(".ex-notice")).to_contain_text("it has no experts")
    assert "fainter" not in figure.locator(".ex-scene").text_content()


def test_a_wrong_address_is_told(opened):
    _, page = opened("latency-and-cost.html?beside.hardware=H100+SXN")
    assert "There is no chip “H100 SXN” in this book" in page.locator(".bar-notes").inner_text()
    assert page.locator(".bar-beside").is_visible()


def test_both_numbers_stay_in_their_column_on_a_phone(site, watch):
    tab = watch(width=375, height=800, reduced_motion="reduce")
    page = tab.open(f"{site}latency-and-cost.html?beside.hardware=H200+SXM")
    figure = page.locator("figure.explorer").first
    figure.scroll_into_view_if_needed()
    figure.locator(".ex-row .beside:not(:empty)").first.wait_for()
    over = page.evaluate("""() => [...document.querySelectorAll("figure.explorer .ex-row")]
      .filter((row) => row.checkVisibility() && [...row.querySelectorAll("strong, span")].some(
        (part) => part.getBoundingClientRect().right > row.getBoundingClientRect().right + 1))
      .map((row) => row.textContent)""")
    assert over == []


# What of the bar lies beyond an edge of the screen, or is cut off in it.
CUT = """() => [...document.querySelectorAll(".bar, .bar *")].filter((node) => {
  if (!node.checkVisibility({ visibilityProperty: true })) return false;
  const { left, right, width } = node.getBoundingClientRect();
  return width && node.tagName !== "OPTION" && (left < -0.5 || right > innerWidth + 0.5);
}).map((node) => node.className || node.id || node.textContent)"""


@pytest.mark.parametrize("width", [320, 375, 700, 861, 1000])
def test_nothing_of_the_bar_leaves_the_screen(site, watch, width):
    """Also while comparing, with the longest names, one of a single word, and complaints."""
    own = f"?hardware=yours&yours.hardware=name-{'W' * 40}*bf16-1e15*memory_bandwidth-1e12"
    own += "*memory_capacity-80000000000*domain_devices-8&context=999999"
    for query in ("", "?model=Qwen3+Coder+480B&context=12&rent=free", own):
        tab = watch(width=width, reduced_motion="reduce")
        page = tab.open(f"{site}latency-and-cost.html{query}")
        if width <= 860:
            page.locator(".bar-summary").click()
        for _ in range(2):
            assert page.evaluate(CUT) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            if page.locator(".bar-beside").is_hidden():
                page.get_by_role("button", name="Compare").click()
                page.locator("#bar-model").select_option(index=3)
                if page.locator("#bar-hardware").input_value() != "yours":
                    page.locator("#bar-hardware").select_option(index=2)
        page.get_by_role("button", name="Copy link").first.click()
        assert page.evaluate(CUT) == []
