"""Tests of the book for readers with other means than a mouse and a large screen.

They read without a mouse, by ear, magnified, with wider spacing, without motion, or in the system's
colours. What single parts do by keyboard is tested with them (test_explorers.py, test_live.py,
test_problems.py, test_study.py); here a reader walks through a whole chapter.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

CHAPTER = "latency-and-cost.html"

# Every announcement that a screen reader would make: texts that change within a live region, with
# their time.
HEARD = """() => {
  window.heard = [];
  new MutationObserver((changes) => {
    const regions = new Set();
    for (const { target } of changes) {
      const region = (target.nodeType === 1 ? target : target.parentElement)?.closest(
        "[aria-live], [role=status], [role=alert], output");
      if (region && region.getAttribute("aria-live") !== "off" && region.textContent.trim())
        regions.add(region);
    }
    for (const region of regions) window.heard.push(region.textContent.trim());
  }).observe(document.body, { childList: true, characterData: true, subtree: true });
}"""

# Where the focus is: its name for the ear, and whether a reader can see that it is there and where.
FOCUS = """() => {
  const node = document.activeElement, box = node.getBoundingClientRect(),
    style = getComputedStyle(node);
  const x = Math.min(Math.max(box.left + box.width / 2, 1), innerWidth - 1),
    points = [box.top + 2, box.top + box.height / 2, box.bottom - 2];
  const across = [x, box.left + 3, box.right - 3];
  const seen = points.some((y) => y > 0 && y < innerHeight && across.some((at) => {
    const top = document.elementFromPoint(at, y);
    return top && (node.contains(top) || top.contains(node));
  }));
  const drawn = node.querySelector(".ex-grip rect"); // a plot's cursor shows its ring on its handle
  const ring = drawn ? getComputedStyle(drawn).stroke !== "none"
    : style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1
      || style.boxShadow !== "none";
  const name = node.getAttribute("aria-label") || node.labels?.[0]?.textContent
    || node.getAttribute("title") || node.textContent || node.alt || "";
  return { tag: node.tagName.toLowerCase(), kind: node.className.baseVal ?? node.className,
    name: name.trim().replace(/\\s+/g, " ").slice(0, 60), seen, ring,
    width: box.width, height: box.height };
}"""


@pytest.fixture(scope="module")
def open_chapter(browser, site):
    """One tab for the walks that leave the page as it was."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(30000)
    page.goto(site + CHAPTER)
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("figure.explorer .ex-cursor", state="attached")
    yield page
    context.close()


def test_the_first_stop_leads_past_the_menu_to_the_text(open_chapter):
    page = open_chapter
    page.keyboard.press("Tab")
    stop = page.evaluate(FOCUS)
    assert stop["name"] == "Skip to the text" and stop["seen"] and stop["ring"]


def test_the_skip_link_leads_to_the_heading(page_name, site, shared):
    """Past the tools and the scenario bar: the heading is in view, and the next stop below it."""
    page = shared().open(site + page_name)
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    found = page.evaluate("""() => {
      const bar = document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0,
        { top, bottom } = document.querySelector("h1").getBoundingClientRect();
      return [getComputedStyle(document.querySelector("#article")).backgroundColor,
        document.querySelectorAll("#article").length, top >= bar && bottom < innerHeight]; }""")
    page.keyboard.press("Tab")
    below = page.evaluate("""() => {
      const heading = document.querySelector("h1"), stop = document.activeElement;
      return heading.contains(stop) || Boolean(heading.compareDocumentPosition(stop) & 4); }""")
    assert [*found, below] == ["rgba(0, 0, 0, 0)", 1, True, True]


def test_every_stop_is_named_seen_and_ringed_in_either_direction(open_chapter):
    """The walk leads through the furniture of the page and its first explorer, and back up.

    On the way back, what sticks at the top could hide a stop.
    """
    page = open_chapter
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.locator("#main-content button").first.focus()
    stops = []
    for _ in range(120):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUS))
        if "ex-preset-button" in stops[-1]["kind"] or stops[-1]["tag"] == "body":
            break
    kinds = " ".join(stop["kind"] for stop in stops)
    assert "ex-cursor" in kinds and "ex-preset-button" in kinds, (
        "the walk reaches the plot's cursor and its presets"
    )
    assert [stop for stop in stops if not (stop["name"] and stop["seen"] and stop["ring"])] == []
    back = []
    for _ in range(len(stops) - 1):
        page.keyboard.press("Shift+Tab")
        back.append(page.evaluate(FOCUS))
    assert [stop for stop in back if not (stop["seen"] and stop["ring"])] == []
    assert [stop["name"] for stop in reversed(back)] == [stop["name"] for stop in stops[:-1]], (
        "the order is one and the same both ways"
    )


def test_controls_say_values_with_units(open_chapter):
    page = open_chapter
    said = page.locator(
        "figure.explorer [role=slider], figure.explorer input[type=range], .bar input[type=range]"
    ).evaluate_all(
        """(all) => all.map((one) => {
          const value = one.getAttribute("aria-valuetext");
          return [one.getAttribute("aria-label") || one.labels[0].textContent, value,
            one.parentElement.querySelector("output")?.textContent ?? value]; })"""
    )
    assert len(said) >= 4
    for name, value, seen in said:
        assert name and value == seen and any(letter.isdigit() for letter in value), (
            "the ear gets what the eye gets"
        )
    # A plain factor ("faster by 2.5") has none; all else has.
    assert [name for name, value, _ in said if not any(letter.isalpha() for letter in value)] == [
        "Fast mode is faster by"
    ]


def test_plots_have_words_and_a_table_that_follow(open_chapter):
    page = open_chapter
    figure = page.locator("figure.explorer:has(.ex-cursor)").first
    words = page.locator("#" + figure.locator(".ex").get_attribute("aria-describedby"))
    figure.locator(".ex-data summary").click()
    before = words.inner_text(), figure.locator(".ex-table tbody").inner_text()
    slider = figure.locator("input[type=range]").first
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_function(
        "([node, text]) => node.innerText !== text", arg=[words.element_handle(), before[0]]
    )
    assert figure.locator(".ex-table tbody").inner_text() != before[1]
    figure.get_by_role("button", name="Reset").click()
    figure.locator(".ex-data summary").click()


def test_twenty_steps_of_a_slider_are_announced_once(open_chapter):
    page = open_chapter
    page.evaluate(HEARD)
    figure = page.locator("figure.explorer:has(.ex-cursor)").first
    slider = figure.locator("input[type=range]").first
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(1500)
    heard = page.evaluate("window.heard")
    assert len(heard) == 1 and heard[0] == figure.locator(".ex-words").inner_text()
    # The page's own slider moves every plot of the page; its value is what is said.
    page.evaluate("window.heard = []")
    page.locator("#bar-context").focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(1500)
    assert len(page.evaluate("window.heard")) <= 1
    page.get_by_role("button", name="Reset").first.click()


def test_targets_are_large_enough(open_chapter):
    """24 px each way, or as much room around; links within sentences are excepted (WCAG 2.5.8)."""
    small = open_chapter.evaluate("""() => {
      const all = [...document.querySelectorAll(
        "button, input, select, summary, [role=slider], .bar a, .ex a",
      )].filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("p"));
      const boxes = all.map((one) => {
        const label = one.matches("input[type=checkbox], input[type=radio]") && one.labels[0];
        return (label || one).getBoundingClientRect(); });
      return all.filter((one, i) => {
        const { width, height, left, top } = boxes[i];
        if (width >= 24 && height >= 24) return false;
        const [x, y] = [left + width / 2, top + height / 2];
        // What lies under the bar, which stays in place, is not beside it.
        const bar = (node) => !!node.closest(".bar");
        return boxes.some((other, j) => j !== i && bar(one) === bar(all[j])
          && !all[j].contains(one) && !one.contains(all[j])
          && Math.hypot(Math.max(other.left - x, 0, x - other.right),
            Math.max(other.top - y, 0, y - other.bottom)) < 12);
      }).map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 30)}`);
    }""")
    assert small == []


def test_nothing_moves_where_motion_is_unwanted(open_chapter):
    moving = open_chapter.evaluate("""() => {
      const long = (text) => text.split(",").some((part) =>
        parseFloat(part) * (part.includes("ms") ? 1 : 1000) > 1);
      return [...document.querySelectorAll("body, body *")].filter((one) => {
        const style = getComputedStyle(one);
        return (style.transitionProperty !== "none" && long(style.transitionDuration))
          || (style.animationName !== "none" && long(style.animationDuration))
          || style.scrollBehavior === "smooth";
      }).map((one) => `${one.tagName} ${one.className.baseVal ?? one.className}`).slice(0, 5);
    }""")
    assert moving == []


def test_wider_spacing_clips_nothing(site, watch):
    """The spacing of WCAG 1.4.12, at 640 px by two device pixels (1280 px magnified twofold)."""
    tab = watch(
        width=640, height=400, device_scale_factor=2, bypass_csp=True, reduced_motion="reduce"
    )
    tab.page.set_default_timeout(30000)
    page = tab.open(site + CHAPTER)
    page.add_style_tag(
        content=""":not(.katex, .katex *) { line-height: 1.5 !important;
        letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
      * { content-visibility: visible !important } p { margin-bottom: 2em !important }"""
    )
    page.wait_for_selector("figure.explorer .ex-cursor", state="attached")
    tab.rest()
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    clipped = page.evaluate("""() =>
      [...document.querySelectorAll("main :not(.katex, .katex *, svg, svg *)")].filter((one) => {
      const style = getComputedStyle(one);
      const hides = (axis) => ["hidden", "clip"].includes(style[axis]);
      // A formula's box scrolls; letters' boxes are taller than their ink, with wider spacing and
      // without.
      if (one.matches(".math") || !one.checkVisibility() || one.clientWidth < 3
          || !one.textContent.trim() || style.clipPath !== "none") return false;
      return (hides("overflowX") && one.scrollWidth > one.clientWidth + 2)
        || (hides("overflowY") && one.scrollHeight > one.clientHeight + 2);
    }).map((one) => `${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 40)}`)""")
    assert clipped == []


def test_the_systems_colours_leave_curves_rings_and_states(site, watch):
    tab = watch(forced_colors="active", color_scheme="dark", reduced_motion="reduce")
    tab.page.set_default_timeout(30000)
    page = tab.open(site + CHAPTER)
    page.locator("figure.explorer").first.scroll_into_view_if_needed()
    page.locator("figure.explorer .ex-stage .ex-curve:not(.ex-swatch *)").first.wait_for()
    found = page.evaluate("""() => {
      const probe = document.createElement("p");
      probe.style.forcedColorAdjust = "none";
      document.body.append(probe);
      const colour = (name) => { probe.style.color = name; return getComputedStyle(probe).color; };
      const [text, ground] = [colour("CanvasText"), colour("Canvas")];
      const curves = [...document.querySelectorAll(
        "figure.explorer:has(.ex-cursor) .ex-curve:not(.ex-swatch *)",
      )].map((one) => getComputedStyle(one));
      const pressed = document.querySelector(".ex-preset-button[aria-pressed=false]");
      const plain = getComputedStyle(pressed).backgroundColor;
      pressed.setAttribute("aria-pressed", "true");
      const chosen = getComputedStyle(pressed).backgroundColor;
      return { text, ground, strokes: [...new Set(curves.map((c) => c.stroke))],
        dashes: new Set(curves.map((c) => c.strokeDasharray + c.strokeWidth)).size, plain, chosen };
    }""")
    assert found["text"] != found["ground"]
    assert found["strokes"] == [found["text"]], "curves are drawn in the colour of text"
    assert found["dashes"] > 1, "and told apart by their dashes"
    assert found["plain"] != found["chosen"], (
        "a chosen preset is not chosen by colour that the system takes away"
    )


def test_the_menu_on_a_phone_is_left_by_a_button_that_gives_the_focus_back(site, watch):
    tab = watch(width=390, height=700, reduced_motion="reduce")
    page = tab.open(site + "about.html")
    toggle = page.locator(".book-contents-button:visible")
    toggle.and_(page.locator("[aria-expanded=false]")).wait_for()
    toggle.focus()
    page.keyboard.press("Enter")
    page.locator(".book-contents-button[aria-expanded=true]").wait_for(state="attached")
    assert page.evaluate("document.activeElement.textContent") == "Close"
    page.keyboard.press("Enter")
    page.locator(".book-contents-button[aria-expanded=false]").wait_for()
    assert page.evaluate("document.activeElement.matches('.book-contents-button')")


def test_the_switch_of_colours_says_its_state_and_keeps_the_focus(site, watch):
    page = watch(color_scheme="light").open(site + "about.html")
    switch = page.locator(".color-mode-button:visible").first
    page.locator(".color-mode-button[aria-label='Colours: as the system']").first.wait_for()
    switch.focus()
    said = []
    for _ in range(3):
        before = switch.get_attribute("aria-label")
        page.keyboard.press("Enter")
        expect(switch).not_to_have_attribute("aria-label", before)
        said.append(switch.get_attribute("aria-label"))
        assert page.evaluate("document.activeElement.matches('.color-mode-button')")
    assert sorted(said) == ["Colours: as the system", "Colours: dark", "Colours: light"]
