"""Tests of schematics in a real browser, on a page that holds all of them."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import expect

from handful_explorers import schematics
from handful_explorers.schematics import svg
from handful_site import build
from test_accessible import faults, ready

pytestmark = pytest.mark.browser

ALL = {one.name: one for one in (getattr(schematics, name) for name in schematics.__all__)}
# What a step is chosen by: dots between two buttons, or buttons that name the steps.
CHOICES = ".schematic-dot, .schematic-choice"
LABELLED = {name for name, one in ALL.items() if all(step.label for step in one.steps)}
# What lies on what: words on words, words out of the picture, and words too small to read.
CLASHES = """(figure) => {
  const found = [], svg = figure.querySelector("svg"), frame = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll("text")].filter((one) => one.checkVisibility({
    visibilityProperty: true, opacityProperty: true }))
    .map((one) => [one.textContent, one.getBoundingClientRect(), one]);
  words.forEach(([a, p, node], i) => {
    if (p.left < frame.left - 1 || p.right > frame.right + 1
        || p.top < frame.top - 2 || p.bottom > frame.bottom + 2)
      found.push(`${a} leaves the picture`);
    const size = parseFloat(getComputedStyle(node).fontSize) * frame.width / 340;
    if (size < 11) found.push(`${a} is ${size} px`);
    for (const [b, q] of words.slice(i + 1))
      if (p.left < q.right - 0.5 && q.left < p.right - 0.5
          && p.top + 3 < q.bottom - 3 && q.top + 3 < p.bottom - 3)
        found.push(`${a} over ${b}`);
  });
  return words.length ? found : ["no words"]; }"""
# Elements of the drawing that are seen, with what the browser has for their places.
SEEN = """(figure) => [...figure.querySelectorAll("svg *")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .map((one) => { const { x, y, width, height } = one.getBBox();
    return [one.tagName, one.textContent, x, y, width, height].join(" "); })"""


def page_of(figures: str) -> str:
    return (
        '<!doctype html><html lang="en" data-theme="light" data-mode="light"><head>'
        '<meta charset="utf-8"><title>Schematics</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="favicon.svg"><link rel="stylesheet" href="handful.css">'
        '<script type="module" src="handful.js"></script></head><body><main>'
        f'<article class="article"><h1>Schematics</h1><section>{figures}</section></article>'
        "</main></body></html>"
    )


@pytest.fixture(scope="module")
def address(module_server):
    build.bundle()
    folder, address = module_server
    for name in ("handful.js", "handful.css", "favicon.svg", "schematic.js"):
        shutil.copy(build.SCRIPTS / name, folder / name)
    figures = (
        "".join(
            f'<div class="cell_output"><div class="output">{one.html()}</div></div>'
            "<p>What follows.</p>"
            for one in ALL.values()
        )
        + "<p>And more.</p>" * 40
    )
    (folder / "index.html").write_text(page_of(figures), "utf-8")
    return address


@pytest.fixture
def demo(address, watch):
    """Open the page in a new tab: demo(width=375)."""
    tabs = []

    def open_page(**options):
        tab = watch(**{"reduced_motion": "reduce", **options})
        tabs.append(tab)
        tab.page.goto(address, wait_until="load")
        if options.get("java_script_enabled", True):
            expect(tab.page.locator("figure.is-stepped")).to_have_count(len(ALL))
        return tab.page

    yield open_page
    assert [fault for tab in tabs for fault in tab.faults] == []


def figure_of(page, name: str):
    return page.locator(f"#schematic-{name}")


def at(figure) -> int:
    """Return the step, which dots and sentences agree on, and whose words the picture has."""
    current = figure.evaluate(
        """(figure, choices) => ["li", choices].map((rule) =>
      [...figure.querySelectorAll(rule)].flatMap((one, i) => one.ariaCurrent ? [i + 1] : []))""",
        CHOICES,
    )
    assert len(current[0]) == 1 and current[0] == current[1], current
    words = figure.locator("[role=img]").get_attribute("aria-label")
    assert words == figure.locator("li").nth(current[0][0] - 1).get_attribute("data-words")
    return current[0][0]


def test_buttons_that_name_the_steps(demo):
    assert LABELLED
    page = demo()
    for name in LABELLED:
        figure, one = figure_of(page, name), ALL[name]
        buttons = figure.get_by_role("button")
        assert buttons.all_text_contents() == [step.label for step in one.steps]
        for step in (2, 1, len(one.steps)):
            figure.get_by_role("button", name=one.steps[step - 1].label, exact=True).click()
            assert at(figure) == step
            assert one.sentences()[step - 1] in page.locator(".for-ears").text_content()
        buttons.last.press("Home")
        assert at(figure) == 1
        buttons.first.press("ArrowRight")
        assert at(figure) == 2


@pytest.mark.parametrize("name", sorted(set(ALL) - LABELLED))
def test_buttons_dots_and_keys(demo, name):
    page, last = demo(), len(ALL[name].steps)
    figure = figure_of(page, name)
    back, forth = figure.get_by_role("button", name="Back"), figure.locator("button").last
    assert at(figure) == 1 and back.get_attribute("aria-disabled") == "true"
    back.click(force=True)
    assert at(figure) == 1
    for step in range(2, last + 1):
        assert forth.text_content() == "Next"
        forth.click()
        assert at(figure) == step
        assert ALL[name].sentences()[step - 1] in page.locator(".for-ears").text_content()
    assert forth.text_content() == "Again"
    forth.click()
    assert at(figure) == 1
    for key, step in (("End", last), ("ArrowRight", last), ("ArrowLeft", last - 1), ("Home", 1)):
        forth.press(key)
        assert at(figure) == step, key
    figure.get_by_role("button", name=f"Step {last} of {last}").click()
    assert at(figure) == last
    figure.locator("li").nth(last - 2).click()
    assert at(figure) == last - 1


@pytest.mark.parametrize("name", ALL)
def test_the_browser_shows_what_python_drew(demo, name, address, watch):
    page, one = demo(), ALL[name]
    still = watch().page
    figure = figure_of(page, name)
    for step in range(len(one.steps)):
        figure.locator(CHOICES).nth(step).click()
        alone = svg.still(one.pictures[step], 340, one.height)
        still.set_content(f"<style>svg {{ font-family: x }}</style><figure>{alone}</figure>")
        assert len(figure.evaluate(SEEN)) == len(still.locator("figure").evaluate(SEEN))
        places = [
            sorted(
                node.evaluate("""(figure) => [...figure.querySelectorAll("rect, circle")]
                  .filter((one) => one.checkVisibility({ visibilityProperty: true }))
                  .map((one) => { const { x, y, width, height } = one.getBBox();
                    return [x, y, width, height].map((n) => n.toFixed(1)).join(" "); })""")
            )
            for node in (figure, still.locator("figure"))
        ]
        assert places[0] == places[1], step + 1


@pytest.mark.parametrize("width", (320, 360, 1280))
def test_words_never_lie_on_each_other(demo, width):
    page = demo(width=width, height=800)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name, one in ALL.items():
        figure = figure_of(page, name)
        for step in range(len(one.steps)):
            figure.locator(CHOICES).nth(step).click()
            assert width < 360 or figure.evaluate(CLASHES) == [], f"{name}, step {step + 1}"


def test_a_clash_is_found(demo):
    figure = figure_of(demo(width=1280), "decode-step")
    figure.evaluate("""(figure) => { const one = figure.querySelector("text");
      one.after(one.cloneNode(true)); }""")
    assert any("over" in fault for fault in figure.evaluate(CLASHES))


def test_a_step_keeps_its_room_on_a_phone(demo):
    page = demo(width=375, height=667)
    for name, one in ALL.items():
        figure = figure_of(page, name)
        heights = set()
        for step in range(len(one.steps)):
            figure.locator(CHOICES).nth(step).click()
            shown = figure.locator("li").evaluate_all(
                "(all) => all.map((one) => one.checkVisibility({ visibilityProperty: true }))"
            )
            assert [i for i, seen in enumerate(shown) if seen] == [step]
            heights.add(figure.evaluate("(one) => one.getBoundingClientRect().height"))
        assert len(heights) == 1 and heights.pop() < 800, name


SHOWN = """(one) => [...one.querySelectorAll("li")].filter(
  (item) => item.checkVisibility({ visibilityProperty: true })).length"""


def test_sentences_stand_beside_the_picture_on_a_laptop(demo):
    """Show those that were reached: the next would answer what the text asks to predict."""
    page = demo(width=1280, height=800)
    for name, one in ALL.items():
        figure = figure_of(page, name)
        assert figure.evaluate("(one) => one.getBoundingClientRect().height") < 800, name
        if one.steps[0].label:  # buttons reach any step at once
            continue
        assert figure.evaluate(SHOWN) == 1, name
        for reached in (2, 3)[: len(one.steps) - 1]:
            figure.locator("button").last.click()
            assert figure.evaluate(SHOWN) == min(reached, len(one.steps)), name
        figure.get_by_role("button", name="Back").click()
        assert figure.evaluate(SHOWN) == min(3, len(one.steps)), name
        picture, item = figure.locator("svg").bounding_box(), figure.locator("li").first
        assert item.bounding_box()["x"] > picture["x"] + picture["width"]


def test_scrolling_never_changes_a_step(demo):
    """What the text asks the reader to predict stays unseen until the reader asks for it."""
    page = demo(width=1280, height=800, reduced_motion="no-preference")
    for _ in range(40):
        page.mouse.wheel(0, 400)
    page.wait_for_function("() => scrollY > 2000")
    for name in ALL:
        assert at(figure_of(page, name)) == 1, name


def moving(page) -> list[str]:
    return page.evaluate("""() => [...document.querySelectorAll(".schematic *")].filter((one) =>
      getComputedStyle(one).transitionDuration.split(", ").some((time) => parseFloat(time) > 0))
      .map((one) => one.tagName.toLowerCase())""")


def test_nothing_moves_for_who_asked_for_that(demo):
    page = demo()
    assert moving(page) == []
    page.emulate_media(reduced_motion="no-preference")
    page.wait_for_selector(".is-moving")
    assert "rect" in moving(page) and "text" in moving(page)


def test_without_scripts_all_sentences_and_the_last_picture(demo):
    for width in (375, 1280):
        page = demo(width=width, java_script_enabled=False)
        for name, one in ALL.items():
            figure = figure_of(page, name)
            assert figure.locator("button").count() == 0
            for item in figure.locator("li").all():
                assert item.is_visible()
            words = [
                node.text_content() for node in figure.locator("text").all() if node.is_visible()
            ]
            last = [shape["s"] for shape in one.pictures[-1] if shape["t"] == "text"]
            assert sorted(words) == sorted(last)


def test_on_paper_all_sentences_and_the_last_picture(demo):
    page = demo(width=665, height=900)
    first = next(iter(ALL))
    figure = figure_of(page, first)
    before = figure.evaluate(SEEN)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for name, one in ALL.items():
        figure = figure_of(page, name)
        for item in figure.locator("li").all():
            assert item.is_visible()
        assert not figure.locator("button").first.is_visible()
        assert len(figure.evaluate(SEEN)) == len(one.pictures[-1])
        assert figure.evaluate(CLASHES) == []
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert figure_of(page, first).evaluate(SEEN) == before


def test_no_rule_is_broken_in_any_step(watch, address):
    tab = watch(width=1280, bypass_csp=True, reduced_motion="reduce")
    tab.page.goto(address, wait_until="load")
    expect(tab.page.locator("figure.is-stepped")).to_have_count(len(ALL))
    page = ready(tab.page)
    for step in (0, 3):
        for name in ALL:
            choices = figure_of(page, name).locator(CHOICES)
            choices.nth(min(step, choices.count() - 1)).click()
        assert faults(page, within=[".schematic"]) == []
