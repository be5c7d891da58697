"""Tests of fingers: a swipe that scrolls the page moves no plot and no slider."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

KINDS = [".ex-svg", ".ex-control input[type=range]"]


class Finger:
    """One finger on a page, by the browser's own protocol."""

    def __init__(self, page) -> None:
        self.page, self.devtools = page, page.context.new_cdp_session(page)

    def send(self, kind: str, *points: tuple[float, float]) -> None:
        self.devtools.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]},
        )

    def swipe(self, x: float, y: float, dx: float, dy: float) -> None:
        self.send("touchStart", (x, y))
        for share in range(1, 11):
            self.send("touchMove", (x + dx * share / 10, y + dy * share / 10))
        self.send("touchEnd")


@pytest.fixture(scope="module")
def chapter(browser, site):
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
        service_workers="block",
    )
    page = context.new_page()
    page.goto(f"{site}latency-and-cost.html")
    page.locator("figure.explorer .ex-cursor").first.wait_for(state="attached")
    yield page
    context.close()


VALUES = (
    "(f) => [...f.querySelectorAll('input')].map((e) => e.value).concat("
    "f.querySelector('[role=slider]').getAttribute('aria-valuenow'))"
)


def values(figure) -> list[str]:
    return figure.evaluate(VALUES)


# Sections above are laid out once they are near, and the page moves with them: 20 frames in which
# it does not.
STILL = """() => new Promise((done) => {
    let at = scrollY, frames = 0;
    const look = () => {
      frames = scrollY === at ? frames + 1 : 0;
      at = scrollY;
      if (frames > 20) done();
      else requestAnimationFrame(look);
    };
    look();
})"""


def place(page, kind: str):
    figure = page.locator("figure.explorer:has(.ex-cursor):has(input[type=range])").first
    part = figure.locator(kind).first
    part.scroll_into_view_if_needed()
    page.evaluate("(e) => e.scrollIntoView({ block: 'center' })", part.element_handle())
    page.evaluate(STILL)
    box = part.bounding_box()
    return figure, box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dy", [-160, 160])
def test_a_swipe_that_scrolls_moves_nothing(chapter, kind, dy):
    figure, x, y = place(chapter, kind)
    before, scrolled = values(figure), chapter.evaluate("scrollY")
    finger = Finger(chapter)
    finger.send("touchStart", (x, y))
    finger.send("touchMove", (x + 1, y + dy / 20))
    assert values(figure) == before  # nor for the moment until it scrolls
    for share in range(1, 11):
        finger.send("touchMove", (x + 6, y + dy * share / 10))
    finger.send("touchEnd")
    chapter.wait_for_function("(was) => Math.abs(scrollY - was) > 50", arg=scrolled)
    assert values(figure) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_finger_that_goes_sideways_moves_it(chapter, kind):
    figure, x, y = place(chapter, kind)
    before, scrolled = values(figure), chapter.evaluate("scrollY")
    Finger(chapter).swipe(x, y, 160, 4)
    expect(figure).to_be_visible()
    chapter.wait_for_function("(was) => scrollY === was", arg=scrolled)
    assert values(figure) != before


@pytest.mark.parametrize("kind", KINDS)
def test_a_tap_moves_it_there(chapter, kind):
    figure, x, y = place(chapter, kind)
    before = values(figure)
    finger = Finger(chapter)
    finger.send("touchStart", (x + 150, y))
    finger.send("touchEnd")
    chapter.wait_for_function(
        f"([figure, before]) => String(({VALUES})(figure)) !== before",
        arg=[figure.element_handle(), ",".join(before)],
    )


def test_back_to_top_lies_on_no_control(chapter):
    """A reader may turn back and come to rest anywhere."""
    covered = chapter.evaluate(
        """async () => {
          const button = document.querySelector(".back-to-top"), faults = [];
          const frame = () => new Promise((done) => requestAnimationFrame(
            () => requestAnimationFrame(done)));
          let shown = 0;
          for (let i = 0; i < 8; i++) {  // what comes into sight takes its height
            scrollTo({ top: 1e6, behavior: "instant" });
            await frame();
          }
          const end = scrollY, places = [];
          for (let up = 0; up < 800; up += 40) places.push(end - up);
          for (let y = 9000; y > 900; y -= 67) places.push(y);
          for (const y of places) {
            scrollTo({ top: y, behavior: "instant" });
            await frame();
            if (!button.classList.contains("is-shown")) continue;
            shown += 1;
            const b = button.getBoundingClientRect();
            for (const e of document.querySelectorAll(
                "article :is(input, select, .ex-cursor), .prev-next a"
            )) {
              const q = e.getBoundingClientRect();
              if (q.width && e.checkVisibility() && q.left < b.right && b.left < q.right
                  && q.top < b.bottom && b.top < q.bottom) faults.push(e.outerHTML.slice(0, 90));
            } }
          return { faults, shown }; }"""
    )
    assert covered["faults"] == [] and covered["shown"] > 10


def test_the_open_bar_folds_when_the_reader_goes_on(chapter):
    summary, panel = chapter.locator(".bar-summary"), chapter.locator(".bar-panel")
    chapter.evaluate("scrollTo({ top: 4000, behavior: 'instant' })")
    summary.tap()
    expect(panel).to_be_visible()
    expect(chapter.locator("#bar-hardware")).to_be_visible()
    held = "document.elementFromPoint(180, 700).getBoundingClientRect().top"
    before = chapter.evaluate(held)
    Finger(chapter).swipe(180, 700, 2, -3)
    expect(summary).to_have_attribute("aria-expanded", "false")
    expect(panel).to_be_hidden()
    assert chapter.evaluate(held) == before  # the text below has not moved
    summary.tap()
    chapter.locator("#bar-hardware").focus()
    chapter.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert chapter.evaluate("document.activeElement.className") == "bar-summary"
