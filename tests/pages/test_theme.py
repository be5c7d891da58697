"""The theme's own controls still work after the finish: menu, colours, folded boxes, downloads."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


def test_menu_on_a_phone(site, watch):
    tab = watch(width=375)
    page = tab.open(site)
    link = page.locator("#pst-primary-sidebar, #pst-primary-sidebar-modal").get_by_role("link", name="Notation").first
    assert not link.is_visible()
    page.locator(".primary-toggle:visible").click()
    link.wait_for(state="visible")
    link.click()
    page.wait_for_url("**/notation.html")
    assert tab.faults == []


def test_menu_on_a_laptop(site, watch):
    tab = watch(width=1280)
    page = tab.open(site)
    sidebar = page.locator("#pst-primary-sidebar")
    # Not page.wait_for_function, which evaluates a string and so breaks the policy itself.
    expect(sidebar).to_be_visible()
    page.locator(".primary-toggle:visible").click()
    expect(sidebar).to_be_hidden()
    page.locator(".primary-toggle:visible").click()
    expect(sidebar).to_be_visible()
    assert tab.faults == []


def test_colours_are_switched_and_kept(site, watch):
    tab = watch(color_scheme="light")
    page = tab.open(site)
    page.locator(".theme-switch-button:visible").first.click()
    seen = page.evaluate("document.documentElement.dataset.theme")
    assert seen == "dark"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload(wait_until="networkidle")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
    assert tab.faults == []


def test_icons_are_drawn(site, watch):
    """The cut font holds every icon that a page shows."""
    page = watch(width=1280).open(site + "latency-and-cost.html")
    missing = page.evaluate("""async () => {
        await document.fonts.ready;
        const icons = [...document.querySelectorAll("[class*=fa-]")].filter((e) => e.offsetParent);
        return icons.filter((e) => {
            const style = getComputedStyle(e, "::before");
            const letter = style.content.replaceAll('"', "");
            return letter === "none" || e.getBoundingClientRect().width === 0
                || !document.fonts.check(`${style.fontWeight} 16px ${style.fontFamily}`, letter);
        }).map((e) => e.className);
    }""")
    assert missing == []
    assert page.locator("[class*=fa-]").count() > 3


def test_notebook_can_be_downloaded(site, watch):
    page = watch().open(site + "latency-and-cost.html")
    page.locator(".dropdown-download-buttons button").first.click()
    with page.expect_download() as download:
        page.locator(".dropdown-menu a[href$=\".ipynb\"]").click()
    assert download.value.suggested_filename == "latency-and-cost.ipynb"
