"""Tests of values that are typed in place of a slider, of a cursor, and of the bar's context."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def page(browser, site):
    context = browser.new_context(reduced_motion="reduce", service_workers="block")
    page = context.new_page()
    page.goto(f"{site}latency-and-cost.html")
    page.locator("#explorer-latency-against-batch .ex-cursor").wait_for(state="attached")
    yield page
    context.close()


@pytest.fixture
def figure(page):
    figure = page.locator("#explorer-latency-against-batch")
    figure.get_by_role("button", name="Reset").click()
    figure.locator(".ex-stage").scroll_into_view_if_needed()
    return figure


def test_a_sliders_value_is_typed_over_its_number(figure):
    figure.locator(".ex-control output").click()
    field = figure.locator(".ex-typed")
    assert flat(field.get_attribute("aria-label")) == (
        "Context of every sequence, from 100 tokens to 1 million tokens"
    )
    field.fill("32k")
    field.press("Enter")
    expect(figure.locator(".ex-control output")).to_have_text("32,000\u00a0tokens")
    expect(figure.locator(".ex-control input[type=range]")).to_be_focused()
    expect(figure.locator(".ex-typed")).to_have_count(0)


@pytest.mark.parametrize(
    "text, says",
    [
        ("5 ms", "Another unit is wanted; allowed is 100"),
        ("12", "Allowed is 100"),
        ("plenty", "'plenty' is no number"),
        ("10 parsecs", "'parsecs' is no unit of this book"),
    ],
)
def test_what_cannot_be_taken_is_said_and_not_lost(figure, text, says):
    before = figure.locator(".ex-control output").inner_text()
    figure.locator(".ex-control output").click()
    field = figure.locator(".ex-typed")
    field.fill(text)
    field.press("Enter")
    expect(figure.locator(".ex-typed-says")).to_contain_text(says)
    assert field.input_value() == text
    field.press("Escape")
    expect(figure.locator(".ex-control output")).to_have_text(before)


def test_a_digit_on_the_slider_begins_a_number(figure, page):
    figure.locator(".ex-control input[type=range]").focus()
    page.keyboard.type("2000")
    page.keyboard.press("Enter")
    expect(figure.locator(".ex-control output")).to_have_text("2,000\u00a0tokens")


def test_the_cursors_value_is_typed(figure, page):
    cursor = figure.locator("[role=slider]")
    cursor.focus()
    page.keyboard.type("300")
    assert "Batch, from 1" in figure.locator(".ex-typed").get_attribute("aria-label")
    page.keyboard.press("Enter")
    expect(cursor).to_have_attribute("aria-valuenow", "300")
    expect(cursor).to_be_focused()
    plate = figure.locator(".ex-grip rect").bounding_box()
    page.mouse.dblclick(plate["x"] + plate["width"] / 2, plate["y"] + plate["height"] / 2)
    figure.locator(".ex-typed").fill("1.5k")
    page.keyboard.press("Enter")
    expect(cursor).to_have_attribute("aria-valuenow", "1500")


def test_the_bars_context_is_typed(page):
    own = page.locator(".bar-context output").inner_text()
    page.locator(".bar-context output").click()
    page.locator(".bar .ex-typed").fill("100k tokens")
    page.keyboard.press("Enter")
    expect(page.locator(".bar-context output")).to_have_text("100,000\u00a0tokens")
    page.locator(".bar-reset").click()
    expect(page.locator(".bar-context output")).to_have_text(own)


def test_values_that_can_be_typed_look_like_fields(page):
    """In the bar as under plots, and the slider says so to those who do not see it."""
    said = page.locator(".bar-context output, .ex-control output").evaluate_all(
        """(all) => all.map((output) => {
          const style = getComputedStyle(output),
            slider = output.parentElement.querySelector("input[type=range]");
          return [style.borderTopStyle, style.cursor, output.title,
            slider.getAttribute("aria-description")]; })"""
    )
    title = "Click to type a value; or type it on the slider"
    assert len(said) >= 3
    assert all(one == ["solid", "text", title, "A value can be typed too"] for one in said)


def test_a_value_is_a_button_for_those_who_swipe(figure, page):
    """The Tab key has the slider, on which digits begin a value; a screen reader has both."""
    for output in (figure.locator(".ex-control output"), page.locator(".bar-context output")):
        shown = output.inner_text()
        assert output.get_attribute("role") == "button" and output.evaluate("(o) => o.tabIndex") < 0
        assert output.get_attribute("aria-hidden") is None
        assert flat(output.get_attribute("aria-label")).startswith(f"{flat(shown)}: type another")
        output.focus()
        page.keyboard.press("Enter")
        field = page.locator(".ex-typed")
        expect(field).to_be_focused()
        field.press("Escape")
        expect(field).to_have_count(0)
