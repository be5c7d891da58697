"""Tests of the look that the book promises.

They cover a first page that moves, lines of a readable length, and paper without buttons.
"""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from handful_site.build import SITE
from handful_site.icons import ICONS
from soup import soup

PAGES = sorted(path.name for path in SITE.glob("*.html")) or ["index.html"]


def test_the_first_page_moves_above_the_fold(site, watch):
    """In the window of a small laptop, unscrolled, dragging moves the plot and the number.

    Another chip moves them too.
    """
    tab = watch(width=1280, height=800)
    page = tab.open(site)
    number, grip = page.locator("[class^=follows-] .live"), page.locator("article .ex-cursor").first
    shape = page.locator("article .ex-curve.ex-total").first
    box = grip.locator(".ex-grip").bounding_box()
    assert box["y"] + box["height"] < 800 and number.bounding_box()["y"] < 800
    first, drawn = number.inner_text(), shape.get_attribute("points")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 140, box["y"] + 8, steps=4)
    page.mouse.up()
    expect(number).not_to_have_text(first)
    dragged = number.inner_text()
    assert page.locator("[class^=follows-] .given").inner_text() != "256"
    page.locator(".bar-hardware select").select_option("H100 SXM")
    page.wait_for_function(
        "([number, dragged, shape, drawn]) => number.innerText !== dragged "
        "&& shape.getAttribute('points') !== drawn",
        arg=[number.element_handle(), dragged, shape.element_handle(), drawn],
    )
    assert page.evaluate("scrollY") == 0
    assert tab.faults == []


def test_a_chapter_is_set_as_promised(site, watch):
    """A chapter has its own fonts in their weights, and lines of 55 to 80 letters.

    Formulas do not push lines apart, and paper shows no tools.
    """
    tab = watch(width=1280)
    page = tab.open(site + "latency-and-cost.html")
    fonts = page.evaluate("""async () => {
      await document.fonts.ready;
      return performance.getEntriesByType("resource")
        .filter((entry) => /source-\\w+-\\d/.test(entry.name))
        .map((entry) => [entry.name, entry.decodedBodySize, entry.initiatorType]);
    }""")
    assert 2 <= len(fonts) <= 3 and sum(size for _, size, _ in fonts) < 80_000
    # The two of every page come before the sheet asks, once each, so that no text changes its font
    # once it is read.
    assert sorted(kind for _, _, kind in fonts)[-2:] == ["link", "link"] and len(
        {name for name, _, _ in fonts}
    ) == len(fonts)
    # What is far away is not laid out until it comes near; here all of it is measured.
    page.evaluate(
        "document.styleSheets[0].insertRule('* { content-visibility: visible !important }')"
    )
    letters = page.evaluate("""() =>
      [...document.querySelectorAll("article section > p")].flatMap((p) => {
      const count = p.getBoundingClientRect().height / parseFloat(getComputedStyle(p).lineHeight);
      return p.textContent.length > 260 && !p.querySelector(".math, .katex")
        ? [p.textContent.length / count] : [];
    }).sort((a, b) => a - b)""")
    assert len(letters) > 3 and 55 <= letters[len(letters) // 2] <= 80
    stretched = page.evaluate("""() =>
      [...document.querySelectorAll("article section > p:has(.katex)")].filter((p) => {
      const lines = p.getBoundingClientRect().height / parseFloat(getComputedStyle(p).lineHeight);
      return Math.abs(lines - Math.round(lines)) > 0.1;
    }).map((p) => p.textContent)""")
    assert stretched == []
    page.emulate_media(media="print")
    for tool in (
        ".bar",
        ".page-tools",
        "#book-contents",
        ".ex-tools",
        ".prev-next",
    ):
        assert not page.locator(tool).first.is_visible(), tool
    assert (
        page.locator("article h1").is_visible()
        and page.locator("article .ex-svg").first.is_visible()
    )
    assert page.locator(".card .card-back > :not(summary)").first.bounding_box()["height"] > 0
    assert tab.faults == []


def test_every_page_says_what_it_is():
    """Every head has a description, icons and colours.

    No two pages of the book describe themselves alike.
    """
    said = {}
    for name in PAGES:
        head = BeautifulSoup(
            (SITE / name).read_text("utf-8").partition("</head>")[0], "html.parser"
        )
        line = head.select_one('meta[name="description"]')["content"]
        assert (
            20 <= len(line) <= 260
            and "\ue000" not in line
            and line == head.select_one('meta[property="og:description"]')["content"]
        ), name
        assert head.select_one('link[rel="icon"][type="image/svg+xml"]') and head.select_one(
            'link[rel="apple-touch-icon"]'
        ), name
        said[name] = line
    assert len(set(said.values())) == len(said)


@pytest.mark.parametrize("name", list(ICONS))
def test_icons_have_their_sizes(name):
    from PIL import Image

    with Image.open(SITE / "_static" / "handful" / name) as icon:
        assert icon.size == (ICONS[name][0],) * 2
        # A maskable icon may be cut to a circle and so has no see-through corner; the others of the
        # kind do.
        assert (icon.convert("RGBA").getpixel((0, 0))[3] == 255) == (not ICONS[name][2])


def test_every_picture_takes_the_colours_of_the_page(site, shared):
    """There is no bitmap, white at night; the figure of measurements is repainted."""
    for path in sorted(SITE.glob("*.html")):
        assert not soup(path.name).select("article img"), path.name
    page = shared(color_scheme="dark").open(f"{site}latency-and-cost.html")
    light = page.locator(".cell_output > .output > .explorer-static").first.evaluate(
        """(box) => [...box.querySelectorAll("text")].map((one) => {
          const [r, g, b] = getComputedStyle(one).fill.match(/\\d+/g).map(Number);
          return (r + g + b) / 3; })"""
    )
    assert len(light) > 10 and min(light) > 120


def test_tools_and_foot_are_landmarks_of_their_own(site, shared):
    page = shared().open(f"{site}latency-and-cost.html")
    assert page.locator("main :is(.page-tools, .site-footer)").count() == 0
    assert page.get_by_role("banner").count() == page.get_by_role("contentinfo").count() == 1
    assert page.get_by_role("banner").get_by_role("button", name="Colours").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#article"
    assert page.locator("main #article").count() == 1


def test_a_pinned_scenario_leaves_the_first_plot_free(site, watch):
    for width in (1280, 375):
        tab = watch(width=width)
        page = tab.open(f"{site}index.html")
        page.locator(".bar").wait_for()
        page.evaluate(
            """() => [...document.querySelectorAll(".bar button")].find(
              (one) => one.textContent === "Compare").click()"""
        )
        page.evaluate(
            """() => { const chips = document.querySelector("#bar-hardware");
              chips.value = [...chips.options].find((one) => one.text === "B200 SXM").value;
              chips.dispatchEvent(new Event("change", { bubbles: true })); }"""
        )
        number = page.locator("[class*=follows-] .live").first
        number.locator(".beside").wait_for()
        clear = number.evaluate(
            """(one) => {
              const boxes = [one, one.querySelector(".beside")].map(
                (e) => e.getBoundingClientRect()),
                plot = document.querySelector(".explorer").getBoundingClientRect();
              return boxes.every((box) => box.right <= innerWidth && (box.right <= plot.left
                || box.bottom <= plot.top || box.top >= plot.bottom)); }"""
        )
        assert clear, width
