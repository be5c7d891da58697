"""Tests of guesses: what is asked before a plot, what is hidden meanwhile, and what is kept."""

from __future__ import annotations

import re
import shutil

import pytest
from playwright.sync_api import expect

from handful.symbolic.quantities import find
from handful.units import format_value
from handful_explorers.plotting.explorer import Explorer
from handful_site import build
from handful_site.extensions.teaching import explorers as shown_explorers
from handful_site.social import explorers
from soup import soup
from test_accessible import AXE, RUN, STANDARDS
from test_touch import Finger

pytestmark = pytest.mark.browser

ASKING = {name: one for name, one in explorers().items() if one.guess}
DRAWN = sorted(name for name, one in ASKING.items() if one.guess.kind == "draw")
CONTEXT, STEP, PRICE = "balance-against-context", "latency-against-batch", "price-to-cache"


def flat(text: str) -> str:
    return " ".join(text.split())


def truth(explorer: Explorer) -> str:
    """Return what a mark, a level or a point is, in two digits, as the page says it."""
    values, guess = explorer.values(), explorer.guess
    if guess.kind == "mark":
        return flat(format_value(values["marks"][guess.of], find(explorer.sweep.name).unit, 2))
    heights = {group.label: group.height(explorer.sweep.start) for group in explorer.points}
    value = heights[guess.of] if guess.of in heights else values["at"][guess.of]
    return flat(format_value(value, explorer.y_unit, 2))


@pytest.fixture(scope="module")
def address(module_server):
    """Return the folder of pages, a page for each explorer that asks."""
    build.bundle()
    folder, address = module_server
    for name in ("handful.js", "handful.css", "favicon.svg", "guess.js", "color_mode_init.js"):
        shutil.copy(build.SCRIPTS / name, folder / name)
    for name, explorer in ASKING.items():
        (folder / f"{name}.html").write_text(
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Guesses</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<script src="color_mode_init.js"></script><link rel="icon" href="favicon.svg">'
            '<link rel="stylesheet" href="handful.css"><script type="module" src="handful.js">'
            '</script></head><body class="has-scenario"><main><article class="article"><section>'
            f"<h1>Guesses</h1><p>Before.</p>{explorer.html()}"
            f'<p id="after">It is so<span data-guess="{name}"></span>.</p>'
            + "<p>And more.</p>" * 40
            + "</section></article></main></body></html>",
            "utf-8",
        )
    return address


# Twenty frames in which an element does not move.
STANDS_STILL = """(element) => new Promise((done) => {
    let at = NaN, frames = 0;
    const look = () => {
      const now = element.getBoundingClientRect().top;
      frames = now === at ? frames + 1 : 0;
      at = now;
      if (frames > 20) done();
      else requestAnimationFrame(look);
    };
    look();
})"""


class Asked:
    """A page with one explorer that asks."""

    def __init__(self, tab, address: str, name: str, query: str = "") -> None:
        self.tab, self.page, self.name = tab, tab.page, name
        self.page.goto(f"{address}{name}.html{query}", wait_until="load")
        self.figure = self.page.locator("figure.explorer")
        self.show = self.button("Show me")
        self.verdict = self.figure.locator(".ex-verdict")
        self.rings = self.figure.locator(".ex-handle")

    def button(self, name: str):
        return self.figure.get_by_role("button", name=name, exact=True)

    def asks(self) -> Asked:
        expect(self.show).to_be_visible()
        self.figure.locator(".ex-stage").scroll_into_view_if_needed()
        self.drawn()
        return self

    def drawn(self) -> None:
        self.page.evaluate(
            "() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"
        )

    def centre(self, ring) -> tuple[float, float]:
        box = ring.locator(".ex-handle-ring").bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def guess_by_mouse(self) -> None:
        surface = self.figure.locator(".ex-surface")
        surface.evaluate(STANDS_STILL)  # the bar and sections above may still move it
        mouse, box = self.page.mouse, surface.bounding_box()
        if not self.rings.count():
            mouse.click(box["x"] + box["width"] / 3, box["y"] + box["height"] / 2)
            return
        (x, _), (end, _) = self.centre(self.rings.first), self.centre(self.rings.last)
        mouse.move(x, box["y"] + box["height"] * 0.7)
        mouse.down()
        mouse.move(end, box["y"] + box["height"] * 0.3, steps=9)
        mouse.up()

    def guess_by_keys(self) -> None:
        slider = self.rings.last if self.rings.count() else self.figure.locator(".ex-cursor")
        slider.focus()
        self.page.keyboard.press("PageUp")
        self.page.keyboard.press("ArrowUp")

    def values(self) -> list[str]:
        return self.figure.locator("[role=slider]:visible").evaluate_all(
            "(all) => all.map((one) => one.getAttribute('aria-valuetext'))"
        )


@pytest.fixture
def ask(address, watch, shared):
    """Open the page of an explorer; with own=True in a tab that no other test uses."""
    tabs = []

    def open_page(name: str, query: str = "", own: bool = False, **options) -> Asked:
        make = watch if own else shared
        tabs.append(make(**{"guesses": True, "reduced_motion": "reduce", **options}))
        return Asked(tabs[-1], address, name, query)

    yield open_page
    assert [fault for tab in tabs for fault in tab.faults] == []


# While it is asked --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ASKING))
def test_while_it_asks_nothing_answers(ask, name):
    asked, explorer = ask(name).asks(), ASKING[name]
    heard, seen = asked.figure.aria_snapshot(), asked.figure.inner_text()
    described = asked.figure.locator(".ex-words").text_content()
    assert flat(described) == flat(explorer.guess.question)
    for text in (flat(heard), flat(seen)):
        assert explorer.guess.question in text
        assert explorer.caption not in text and explorer.alt_text()[:60] not in text
    drawn = "[...f.querySelectorAll('{}')].filter((e) => e.checkVisibility()).length"
    for part in (".ex-curve", ".ex-dots circle", ".ex-label text", ".ex-values", ".ex-controls"):
        assert asked.figure.evaluate(f"(f) => {drawn.format(part)}") == 0, part
    assert asked.figure.evaluate(f"(f) => {drawn.format('.ex-grid text')}") > 3
    expect(asked.show).to_be_disabled()


def test_before_the_script_nothing_answers_either(ask):
    tab = ask(STEP, own=True).tab
    tab.page.route("**/handful.js", lambda route: None)  # which never comes
    tab.page.goto(tab.page.url, wait_until="commit")
    still = tab.page.locator(".explorer-static")
    still.wait_for(state="attached")
    expect(still).to_be_hidden()
    expect(tab.page.locator("h1")).to_be_visible()


def test_without_the_script_the_still_picture_stands(ask, watch, address):
    tab = ask(STEP, own=True).tab
    tab.page.route("**/handful.js", lambda route: route.abort())
    tab.page.goto(tab.page.url, wait_until="load")
    expect(tab.page.locator(".explorer-static")).to_be_visible()
    tab.faults.clear()
    page = watch(java_script_enabled=False).page
    page.goto(f"{address}{STEP}.html")
    expect(page.locator(".explorer-static")).to_be_visible()
    assert page.locator("#after").inner_text() == "It is so."


def test_where_the_question_cannot_be_fetched_the_plot_stands(ask):
    tab = ask(STEP, own=True).tab
    tab.page.route("**/guess.js*", lambda route: route.abort())
    tab.page.reload()
    expect(tab.page.locator(".ex-svg .ex-curve.ex-total")).to_be_visible()
    expect(tab.page.locator(".ex-values")).to_be_visible()
    tab.rest()
    tab.faults.clear()


def test_paper_shows_the_plot_and_the_question_is_back_afterwards(ask):
    asked = ask(STEP).asks()
    asked.guess_by_mouse()
    before = asked.values()
    asked.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(asked.figure.locator(".ex-svg .ex-curve.ex-total")).to_be_visible()
    expect(asked.show).to_be_hidden()
    asked.page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(asked.show).to_be_enabled()
    assert asked.values() == before


@pytest.mark.parametrize(
    "query", ["?e.balance-against-context.context=300", "?model=Llama%203.1%2070B"]
)
def test_a_link_that_carries_a_state_asks_nothing(ask, query):
    asked = ask(CONTEXT, query)
    expect(asked.figure.locator(".ex-svg .ex-curve.ex-total")).to_be_visible()
    expect(asked.show).to_have_count(0)


# By every hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ASKING))
@pytest.mark.parametrize("hand", ["mouse", "keys"])
def test_a_guess_is_compared_with_the_truth(ask, name, hand):
    asked, explorer = ask(name).asks(), ASKING[name]
    (asked.guess_by_mouse if hand == "mouse" else asked.guess_by_keys)()
    expect(asked.show).to_be_enabled()
    if hand == "mouse":
        asked.show.click()
    else:
        asked.show.press("Enter")
        expect(asked.button("Guess again")).to_be_focused()
    said = flat(asked.verdict.inner_text())
    if explorer.guess.kind == "draw":
        label = next(c.label for c in explorer.curves if c.id == explorer.guess.of)
        values, of = explorer.values(), explorer.guess.of
        at = [round(i * (explorer.sweep.points - 1) / 5) for i in range(6)]
        possible = [values["curves"][of][i] for i in at]
        if explorer.guess.at:
            places = [{explorer.sweep.name: place} for place in explorer.guess.at]
            possible = [explorer.values(**place)["at"][of] for place in places]
        assert f"“{label}” is at " in said
        assert any(flat(format_value(v, explorer.y_unit, 2)) in said for v in possible), said
    else:
        assert f"is {truth(explorer)}" in said or f"is at {truth(explorer)}" in said, said
    expect(asked.figure.locator(".ex-values")).to_be_visible()
    own = asked.figure.locator(".ex-curve.ex-own, .ex-marks .ex-own").first
    assert own.evaluate("(e) => e.checkVisibility()")
    assert "your guess" in asked.figure.locator(".ex-svg").text_content()
    assert asked.page.locator(".for-ears[role=status]").text_content() == (
        asked.verdict.text_content()
    )


def test_a_stroke_sets_the_rings_that_it_passes(ask):
    asked = ask(STEP).asks()
    before = [asked.centre(ring) for ring in asked.rings.all()]
    (x, _), (end, _) = before[1], before[3]
    asked.page.mouse.move(x, before[1][1] - 80)
    asked.page.mouse.down()
    asked.page.mouse.move(end, before[1][1] - 20, steps=1)  # a fast hand
    asked.page.mouse.up()
    asked.drawn()
    after = [asked.centre(ring) for ring in asked.rings.all()]
    heights = [y for _, y in after]
    assert heights[1:4] == pytest.approx(
        [before[1][1] - 80, before[1][1] - 50, before[1][1] - 20], abs=4
    )
    assert "not set yet" in asked.values()[0] and "not set yet" in asked.values()[4]


def test_a_ring_follows_up_and_down_and_leaves_the_others(ask):
    asked = ask(STEP).asks()
    x, y = asked.centre(asked.rings.nth(2))
    asked.page.mouse.move(x, y)
    asked.page.mouse.down()
    asked.page.mouse.move(x + 5, y + 60, steps=4)
    asked.page.mouse.up()
    asked.drawn()
    assert asked.centre(asked.rings.nth(2)) == pytest.approx((x, y + 60), abs=4)
    assert [value == "not set yet" for value in asked.values()] == [True, True, False, True, True]


def test_a_value_is_typed_with_its_unit(ask):
    asked = ask(STEP).asks()
    asked.rings.nth(3).focus()
    asked.page.keyboard.type("40 ms")
    asked.page.keyboard.press("Enter")
    expect(asked.rings.nth(3)).to_be_focused()
    expect(asked.rings.nth(3)).to_have_attribute("aria-valuetext", "40\u00a0ms")
    asked = ask(CONTEXT).asks()
    asked.figure.locator(".ex-cursor").focus()
    asked.page.keyboard.type("200")
    asked.page.keyboard.press("Enter")
    asked.show.press("Enter")
    expect(asked.verdict).to_contain_text("You guessed 200")


def test_keys_go_to_both_ends(ask):
    asked = ask("room-for-people").asks()
    ring = asked.rings.first
    assert ring.get_attribute("aria-valuetext") == "not set yet"
    assert "Your guess at 17" in ring.get_attribute("aria-label")
    ring.focus()
    for key, end in (("Home", "0"), ("End", "100")):
        asked.page.keyboard.press(key)
        expect(ring).to_have_attribute("aria-valuenow", end)


@pytest.mark.parametrize("name", [STEP, PRICE, CONTEXT])
def test_by_finger_a_swipe_scrolls_and_a_tap_or_a_sideways_stroke_sets(ask, name):
    asked = ask(name, width=390, height=844, has_touch=True, is_mobile=True).asks()
    stage = asked.figure.locator(".ex-surface")
    stage.evaluate("(e) => e.scrollIntoView({ block: 'center' })")
    box, finger = stage.bounding_box(), Finger(asked.page)
    x, y = box["x"] + box["width"] * 0.42, box["y"] + box["height"] * 0.9
    scrolled = asked.page.evaluate("scrollY")
    finger.swipe(x, y, 3, -160)
    asked.page.wait_for_function("(was) => Math.abs(scrollY - was) > 50", arg=scrolled)
    expect(asked.show).to_be_disabled()
    stage.evaluate("(e) => e.scrollIntoView({ block: 'center' })")
    box = stage.bounding_box()
    x, y = box["x"] + box["width"] * 0.42, box["y"] + box["height"] * 0.3
    finger.send("touchStart", (x, y))
    finger.send("touchEnd")
    expect(asked.show).to_be_enabled()
    before = asked.values()
    finger.swipe(box["x"] + box["width"] * 0.2, y, box["width"] * 0.7, 50)
    asked.drawn()
    assert asked.values() != before
    asked.show.click()
    expect(asked.verdict).to_be_visible()


def test_a_finger_moves_a_ring_up_and_down_and_the_page_stays(ask):
    asked = ask(PRICE, width=390, height=844, has_touch=True, is_mobile=True).asks()
    asked.rings.first.evaluate("(e) => e.scrollIntoView({ block: 'center' })")
    scrolled, (x, y) = asked.page.evaluate("scrollY"), asked.centre(asked.rings.first)
    Finger(asked.page).swipe(x, y, 0, -60)
    asked.drawn()
    assert asked.centre(asked.rings.first)[1] == pytest.approx(y - 60, abs=4)
    assert asked.page.evaluate("scrollY") == scrolled


# Afterwards ---------------------------------------------------------------------------------------


def test_a_guess_is_kept_and_told_in_the_text(ask):
    asked = ask(CONTEXT).asks()
    assert asked.page.locator("#after").inner_text() == "It is so."
    asked.figure.locator(".ex-cursor").focus()
    asked.page.keyboard.type("200")
    asked.page.keyboard.press("Enter")
    asked.show.click()
    told = "It is so (your guess: 200 tokens)."
    assert flat(asked.page.locator("#after").inner_text()) == told
    said = asked.verdict.inner_text()
    asked.page.reload()
    expect(asked.verdict).to_have_text(said)
    assert flat(asked.page.locator("#after").inner_text()) == told
    expect(asked.show).to_be_hidden()
    asked.button("Guess again").click()
    expect(asked.show).to_be_disabled()
    expect(asked.figure.locator(".ex-cursor")).to_be_focused()
    asked.page.keyboard.press("End")
    asked.show.click()
    assert "1 million tokens" in flat(asked.page.locator("#after").inner_text())


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_guess_is_kept_as_it_was_drawn(ask, name):
    asked = ask(name).asks()
    asked.guess_by_mouse()
    asked.show.click()
    line = asked.figure.locator(".ex-curve.ex-own")
    said = asked.verdict.inner_text()
    # Heights: the plot's left edge moves when the page's font comes.
    heights = [point.split(",")[1] for point in line.get_attribute("points").split()]
    kept = r"[^,]+,".join(["", *map(re.escape, heights)])
    asked.page.reload()
    expect(line).to_have_attribute("points", re.compile(kept))
    expect(asked.verdict).to_have_text(said)
    assert "(your guess: " in asked.page.locator("#after").inner_text()


def test_a_hump_that_is_asked_for_is_compared_first(ask):
    asked = ask("over-racks").asks()
    asked.guess_by_keys()  # the last ring, so that the course runs straight
    asked.show.click()
    said = flat(asked.verdict.inner_text())
    assert said.startswith("You drew no hump; ") and "has one at 73 chips. You are" in said


def test_who_skips_is_not_asked_again_and_may_guess_later(ask):
    asked = ask(STEP).asks()
    asked.button("Skip").click()
    expect(asked.figure.locator(".ex-values")).to_be_visible()
    expect(asked.button("Guess")).to_be_focused()
    asked.page.reload()
    expect(asked.figure.locator(".ex-svg .ex-curve.ex-total")).to_be_visible()
    expect(asked.show).to_have_count(0)
    assert asked.page.locator("#after").inner_text() == "It is so."
    asked.button("Guess").click()
    expect(asked.show).to_be_disabled()
    expect(asked.rings.first).to_be_focused()


def test_who_never_wants_to_be_asked_is_asked_nowhere_and_can_take_it_back(ask, address):
    asked = ask(STEP).asks()
    asked.button("Never ask me").click()
    expect(asked.figure.locator(".ex-values")).to_be_visible()
    asked.page.goto(f"{address}{CONTEXT}.html")
    expect(asked.figure.locator(".ex-svg .ex-curve.ex-total")).to_be_visible()
    expect(asked.show).to_have_count(0)
    asked.button("Guess").click()
    asked.button("Ask me at every plot").click()
    expect(asked.button("Never ask me")).to_be_visible()
    asked.page.goto(f"{address}{STEP}.html")
    asked.asks()


def test_a_question_is_about_the_books_machine_and_asked_beside_no_other(ask):
    asked = ask(CONTEXT).asks()
    chip = asked.page.locator("#bar-hardware")
    chip.select_option("GB300 NVL72")
    expect(asked.show).to_be_hidden()
    expect(asked.figure.locator(".ex-scene")).to_contain_text("Shown for GB300")
    expect(asked.button("Guess")).to_be_hidden()
    asked.page.get_by_role("button", name="Reset to the book").click()
    asked.button("Guess").click()
    expect(asked.figure.locator(".ex-how")).to_contain_text("For GB200 NVL72, DeepSeek-V3, ")
    asked.guess_by_mouse()
    asked.show.click()
    said = flat(asked.verdict.inner_text())
    assert f"here it is {truth(ASKING[CONTEXT])}" in said and "That was asked" not in said
    expect(asked.figure.locator(".ex-scene")).to_contain_text("Shown for GB200 NVL72")
    # Afterwards the plot follows the bar like any other, and the comparison says of what it is.
    chip.select_option("GB300 NVL72")
    expect(asked.figure.locator(".ex-scene")).to_contain_text("Shown for GB300")
    expect(asked.verdict).to_contain_text("That was asked for GB200 NVL72, DeepSeek-V3, ")
    expect(asked.button("Guess again")).to_be_hidden()


def test_a_moved_control_is_told_beside_the_comparison(ask):
    asked = ask("bills-by-size").asks()
    asked.guess_by_mouse()
    asked.show.click()
    expect(asked.verdict).not_to_contain_text("That was asked")
    asked.figure.locator(".ex-cursor").press("ArrowRight")  # which changes nothing that was asked
    asked.drawn()
    expect(asked.verdict).not_to_contain_text("That was asked")
    asked.figure.locator(".ex-control input").first.press("ArrowRight")
    expect(asked.verdict).to_contain_text("That was asked of the plot as it first stood.")


@pytest.mark.parametrize(
    "kept",
    [
        "{",
        "7",
        '{"of":{"balance-against-context":{"at":"x"}}}',
        '{"of":{"balance-against-context":{"at":[-1]}}}',
        '{"of":{"balance-against-context":{"at":[1,2,3]}}}',
    ],
)
def test_damaged_guesses_are_none(ask, kept):
    asked = ask(CONTEXT).asks()
    asked.page.evaluate("(text) => localStorage.setItem('handful-guesses', text)", kept)
    asked.page.reload()
    expect(asked.figure.locator(".ex-cursor")).to_be_visible()
    expect(asked.verdict).to_be_hidden()


def test_a_browser_that_keeps_nothing_asks_all_the_same(ask):
    asked = ask(CONTEXT, own=True)
    asked.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } })"
    )
    asked.page.reload()
    asked.asks()
    asked.guess_by_mouse()
    asked.show.click()
    expect(asked.verdict).to_be_visible()
    assert "(your guess: " in asked.page.locator("#after").inner_text()


# Looks --------------------------------------------------------------------------------------------


@pytest.mark.skipif(not AXE, reason="axe-core is not installed")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [STEP, PRICE, CONTEXT])
def test_axe_finds_nothing_in_any_state(ask, name, scheme):
    asked = ask(name, bypass_csp=True).asks()
    asked.page.evaluate(AXE)
    rules, within = STANDARDS, ["figure.explorer"]
    assert asked.page.evaluate(RUN, [scheme, rules, within]) == []
    asked.guess_by_mouse()
    assert asked.page.evaluate(RUN, [scheme, rules, within]) == []
    asked.show.click()
    assert asked.page.evaluate(RUN, [scheme, rules, within]) == []


@pytest.mark.parametrize("name", sorted(ASKING))
def test_nothing_is_cut_off(ask, name):
    asked = ask(name, width=320).asks()
    asked.guess_by_mouse()
    asked.drawn()
    assert asked.page.evaluate("document.documentElement.scrollWidth") <= 320
    asked.show.click()
    assert asked.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_in_forced_colours_rings_and_guess_are_drawn(ask):
    asked = ask(STEP, forced_colors="active").asks()
    asked.guess_by_mouse()
    ring = asked.rings.first.locator(".ex-handle-ring")
    stroke = "(e) => getComputedStyle(e).stroke !== getComputedStyle(e).fill"
    assert ring.evaluate(stroke)
    asked.show.click()
    assert asked.figure.locator(".ex-curve.ex-own").evaluate(stroke)


# The built book -----------------------------------------------------------------------------------


def test_the_first_plot_of_each_chapter_asks_and_its_text_tells():
    """Scenes pass: theirs is the first plot of curves."""
    parts = re.findall(r"file: ([\w-]+)", (build.ROOT / "_toc.yml").read_text("utf-8"))[:9]
    for page in parts:
        found = [one.anchor for one in shown_explorers().values() if one.page == page]
        built = soup(f"{page}.html")
        asking = [figure["id"] for figure in built.select("figure.explorer[data-guess]")]
        curved = {f"explorer-{name}" for name, one in explorers().items() if one.curves}
        assert bool(asking) == bool(curved & set(found)) and set(asking) <= set(found), page
        for name in (anchor.removeprefix("explorer-") for anchor in asking):
            assert built.select(f'span[data-guess="{name}"]'), name


# A chapter's question -----------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["many", "-5", "−5"])
def test_a_chapters_question_takes_numbers_alone(site, watch, typed):
    tab = watch(reduced_motion="reduce", guesses=True)
    page = tab.open(f"{site}reading-api-prices.html")
    form = page.locator("form[data-ask=bytes-from-a-price]")
    field, said = form.locator("input"), form.locator(".ask-said")
    form.locator(".ask-keep").click()
    expect(said).to_have_text("Make a guess first, however rough, or simply read on.")
    field.fill(typed)
    form.locator(".ask-keep").click()
    expect(said).to_have_text(f"A guess is a number, not negative, and “{typed}” is not.")
    expect(field).to_be_focused()
    page.reload()
    assert page.locator("form[data-ask=bytes-from-a-price] .ask-said").inner_text() == ""
    field.fill("163840")
    field.press("Enter")
    expect(said).to_contain_text("Kept: 163,840 bytes a token.")
    page.reload()
    expect(said).to_have_text("You guessed: 163,840 bytes a token.")
    expect(page.locator("[data-guess=bytes-from-a-price]").first).to_contain_text("163,840")
    assert tab.faults == []
