"""Every explorer of the built book answers each of its controls."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from handful_site import build

pytestmark = pytest.mark.browser

# What a reader sees move: the drawing and the numbers.  Words follow later, and could be a move
# before's.
SEEN = """(figure) => figure.querySelector(".ex-svg").innerHTML
  + figure.querySelector(".ex-values")?.textContent"""
# Whether that becomes something else within some time; a busy machine may take its time.
CHANGES = f"""async (figure, [before, milliseconds]) => {{
  const seen = {SEEN}, end = performance.now() + milliseconds;
  while (seen(figure) === before && performance.now() < end)
    await new Promise((done) => setTimeout(done, 20));
  return seen(figure) !== before; }}"""


AT_END = """(node) => node.matches("input") ? Number(node.value) >= Number(node.max)
  : Number(node.getAttribute("aria-valuenow")) >= Number(node.getAttribute("aria-valuemax"))"""


def moved(page, figure, handle, milliseconds: int) -> bool:
    before = figure.evaluate(SEEN)
    handle.focus()
    # One key: a second could undo the first.
    page.keyboard.press("PageDown" if handle.evaluate(AT_END) else "PageUp")
    return figure.evaluate(CHANGES, [before, milliseconds])


def choices(figure):
    """Go through the figure's other controls, a choice at a time."""
    yield
    for box in figure.locator(".ex-controls input[type=checkbox]").all():
        box.click()
        yield
    for select in figure.locator(".ex-controls select").all():
        for place in range(select.locator("option").count()):
            select.select_option(index=place)
            yield


def test_every_explorer_of_the_book_moves(page_name, site, shared):
    if "explorer-spec" not in (build.SITE / page_name).read_text("utf-8"):
        return
    tab = shared(
        reduced_motion="reduce"
    )  # a move is over at once, and is not mistaken for the next one's
    page = tab.open(site + page_name)
    figures = page.locator("figure.explorer")
    for i in range(figures.count()):
        figure = figures.nth(i)
        figure.scroll_into_view_if_needed()
        figure.locator(".ex").wait_for()
        for handle in figure.locator("input[type=range], [role=slider]").all():
            if not moved(page, figure, handle, 250):
                # Some matter for one choice only: for one schedule, or a curve that is shown on
                # request.
                assert any(
                    moved(page, figure, handle, patience)
                    for patience in (250, 1500)
                    for _ in choices(figure)
                ), (figure.get_attribute("id"), handle.get_attribute("id"))
        for button in figure.locator(".ex-preset-button").all():
            button.click()
            expect(button).to_have_attribute("aria-pressed", "true")
        assert figure.locator(".ex-notice:visible").count() == 0
    assert tab.faults == []


def test_one_preset_is_pressed_and_takes_back_what_another_set(site, shared):
    """Press, of two presets, the one that picks a list as well, and leave none behind."""
    page = shared(reduced_motion="reduce").open(site + "reading-api-prices.html")
    figure = page.locator("#explorer-price-to-cache")
    figure.scroll_into_view_if_needed()
    figure.locator(".ex-preset-button").first.wait_for()
    pressed = figure.locator(".ex-preset-button[aria-pressed=true]")
    for label, picked in (
        ("The lecture's inference", "Google: Gemini 3.1 Pro"),
        ("A list at 512,000", "MiniMax: MiniMax M3"),
        ("The lecture's inference", "Google: Gemini 3.1 Pro"),
    ):
        figure.get_by_role("button", name=label, exact=True).click()
        expect(pressed).to_have_text([label])
        expect(figure.get_by_label("Price list", exact=True)).to_have_value(
            re.compile(f"^{picked}")
        )


def test_what_follows_no_scenario_names_none(site, shared):
    """Keep the bar out of a plot whose curves hold machines of their own."""
    for chapter, name, text in (
        ("reading-api-prices", "fit-the-list", ""),
        ("reading-api-prices", "price-to-cache", ""),
        ("theory-and-measurement", "what-a-server-adds", ""),
        ("memory-tiers", "hold-or-recompute", ""),
        ("index", "cost-against-batch", "Shown for "),
    ):
        page = shared(reduced_motion="reduce").open(f"{site}{chapter}.html")
        figure = page.locator(f"#explorer-{name}")
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_attribute("data-mounted", "yes")
        figure.locator(".ex-row").first.wait_for()
        scene = figure.locator(".ex-scene")
        expect(scene).to_have_text(re.compile(f"^{text}"))
        assert bool(scene.text_content()) == bool(text)  # inner_text is none while off screen


def test_a_fast_mode_that_cannot_be_had_has_no_people(site, shared):
    page = shared(reduced_motion="reduce").open(f"{site}latency-and-cost.html")
    figure = page.locator("#explorer-fast-and-slow")
    figure.scroll_into_view_if_needed()
    figure.locator("input[type=range]").last.press("End")
    values = figure.locator(".ex-values")
    expect(values).to_contain_text("cannot be had")
    people = figure.locator(".ex-row", has_text="People in fast mode").locator(".ex-value")
    expect(people).to_have_text("fewer than one")
    assert figure.locator(".ex-marks text:visible", has_text="fast mode").count() == 0


def test_a_preset_works_out_a_crowd_for_the_scenario(site, shared):
    scene = "?hardware=GB200+NVL72&model=DeepSeek-V3&precision=fp8&context=4096"
    page = shared(reduced_motion="reduce").open(f"{site}latency-and-cost.html{scene}")
    figure = page.locator("#explorer-fast-and-slow")
    figure.scroll_into_view_if_needed()
    implied, full = figure.locator(".ex-preset-button").all()
    expect(implied).to_have_attribute("aria-pressed", "true")
    expect(figure.locator(".ex-cursor[role=slider]")).to_have_attribute("aria-valuenow", "8393")
    people = figure.locator(".ex-row", has_text="People in fast mode").locator(".ex-value")
    expect(people).to_have_text("560")
    expect(full).to_be_disabled()  # some 88,000 fit, which is beyond the plot


def test_whole_counts_are_written_in_full(site, shared):
    """As the ends of a slider, in what the bar warns of, and as a plot's cursor is heard."""
    page = shared(reduced_motion="reduce").open(f"{site}theory-and-measurement.html")
    figure = page.locator("#explorer-what-a-server-adds")
    figure.scroll_into_view_if_needed()
    ends = figure.locator(".ex-ends span")
    expect(ends.first).to_be_attached()
    assert ends.all_text_contents() == ["1,536", "8,704"]
    expect(figure.locator(".ex-caption")).to_contain_text("8,704")
    page = shared().open(f"{site}latency-and-cost.html?model=Llama+2+7B&context=8192")
    notes = page.locator(".bar-notes").inner_text().replace("\u00a0", " ")
    assert "of 8,192 tokens is beyond the 4,096 tokens" in notes


def test_the_cursor_covers_no_name_on_a_phone(site, shared):
    """Names stand on the curves there, and the first page's plot has little room for them."""
    page = shared(width=390).open(site + "index.html")
    covered = page.locator("figure.explorer .ex-svg").first.evaluate("""(svg) =>
      [...svg.querySelectorAll(".ex-label text")].filter((name) =>
        [...svg.querySelectorAll(".ex-ring")].some((ring) => {
          const n = name.getBoundingClientRect(), r = ring.getBoundingClientRect(),
            x = r.left + r.width / 2, y = r.top + r.height / 2;
          return r.width && n.width && x > n.left && x < n.right && y > n.top && y < n.bottom;
        })).map((name) => name.textContent)""")
    assert page.locator("figure.explorer .ex-ring").count() and covered == []


def test_a_plot_of_two_results_is_hatched_to_the_left(site, shared):
    """Batches beyond those that fit stream more slowly: from the edge to the last that fits."""
    scene = "?hardware=H100+SXM&model=Llama+3.1+70B&precision=fp8&context=8192"
    page = shared(reduced_motion="reduce").open(site + f"latency-and-cost.html{scene}")
    figure = page.locator("#explorer-fast-and-slow")
    figure.scroll_into_view_if_needed()
    expect(figure).to_have_attribute("data-mounted", "yes")
    strip = figure.locator("rect.ex-mark-limit")
    expect(strip).to_have_count(1)
    expect(figure.get_by_text(re.compile(r"^room for \d+$"))).to_have_count(1)
    box, curve = strip.bounding_box(), figure.locator(".ex-curve").first.bounding_box()
    assert box["x"] <= curve["x"] + 1
    assert curve["x"] < box["x"] + box["width"] < curve["x"] + curve["width"]
