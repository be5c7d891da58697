"""Python in the page: on a click, by a worker, with a policy of its own."""

from __future__ import annotations

import re

import pytest

PAGE = "latency-and-cost.html"
READY = 240_000  # ms; it takes some 15 s where nothing else runs


def test_cells_run_in_the_page(watch, site):
    tab = watch()
    asked, policies = [], {}
    tab.page.on("request", lambda request: asked.append(request.url))
    tab.page.on(
        "response",
        lambda response: policies.update(
            {response.url: response.headers.get("content-security-policy", "")}
        ),
    )
    page = tab.open(site + PAGE)
    assert not [url for url in asked if "/pyodide/" in url or "python.js" in url]
    published = page.locator(".cell:has(.cell_input) .cell_output").first.inner_html()
    assert not page.locator(".names-formula").first.is_visible()

    button = page.get_by_role("button", name="Show and run the code")
    button.focus()
    button.press("Enter")
    first = page.get_by_role("textbox", name=re.compile("^Code of cell 1"))
    first.wait_for(timeout=READY)
    worker = [url for url in policies if url.endswith("/worker.js")]
    assert (
        len(worker) == 1
        and "'wasm-unsafe-eval'" in policies[worker[0]]
        and "unsafe" not in policies[site + PAGE]
    )
    assert first.evaluate(
        "(box) => document.activeElement === box"
    )  # where the button was pressed by key

    # The code of cells that only name a formula is there with Python, and on paper never.
    assert page.locator(".names-formula[hidden]").count() == 0
    assert page.locator(".names-formula").first.is_visible()
    page.emulate_media(media="print")
    assert not page.locator(".names-formula").first.is_visible()
    page.emulate_media(media="screen")

    # A cell in the middle of the page first: what it needs comes from the book.
    third = page.locator(".cell:has(.python-code)").nth(2)
    third.get_by_role("button", name="Run cell 3").click()
    third.get_by_text("Done in").wait_for(timeout=READY)
    assert (
        third.locator(".cell_output math").count()
        and not third.locator(".cell_output .katex").count()
    )

    cell = page.locator(".cell:has(.python-code)").first
    first.fill("import sympy\nx = sympy.Symbol('x')\nsympy.factor(x**2 - 5*x + 6)")
    first.press("Control+Enter")
    cell.get_by_text("Done in").wait_for(timeout=READY)
    assert "".join(cell.locator(".cell_output math").text_content().split()) in (
        "(x−3)(x−2)",
        "(x-3)(x-2)",
        "(\N{MATHEMATICAL ITALIC SMALL X}−3)(\N{MATHEMATICAL ITALIC SMALL X}−2)",
    )
    assert (
        page.evaluate("() => getComputedStyle(document.querySelector('.cell_output math')).display")
        != "none"
    )

    first.fill("x = 1\nx / 0")
    first.press("Control+Enter")
    cell.locator(".python-error").wait_for()
    assert cell.locator(".python-error").inner_text().split("\n") == [
        "Line 2: x / 0",
        "ZeroDivisionError: division by zero",
    ]
    assert "ZeroDivisionError" in cell.get_by_role("status").inner_text()

    first.fill("import numpy\nnumpy.ones(3)")
    first.press("Shift+Enter")
    cell.get_by_text(
        "This cell needs NumPy, which is not part of the Python in this page."
    ).first.wait_for()

    # Tab indents; after Escape it goes on.
    first.fill("")
    first.press("Tab")
    assert first.input_value() == "    "
    first.press("Escape")
    first.press("Tab")
    assert first.evaluate("(box) => document.activeElement !== box")

    cell.get_by_role("button", name="Cell 1 as it was").click()
    assert "batch_from_price" in first.input_value()
    assert cell.locator(".cell_output").inner_html() == published

    first.fill("while True: pass")
    first.press("Control+Enter")
    cell.get_by_role("button", name="Stop cell 1").click()
    cell.get_by_text("Stopped. Python begins anew").wait_for()
    assert tab.faults == []


@pytest.mark.parametrize("lost", ["**/runtime.bin", "**/worker.js"])
def test_what_cannot_be_loaded_is_said_and_leaves_the_page(watch, site, lost):
    tab = watch()
    page = tab.open(site + PAGE)
    page.context.route(lost, lambda route: route.abort())
    # Boxes that scroll are stops as long as they do.
    shown = """(cell) => cell.outerHTML.replace(/ tabindex="-?\\d"/g, "")"""
    before = page.locator(".cell").first.evaluate(shown)
    page.get_by_role("button", name="Show and run the code").click()
    page.get_by_text("Python could not be loaded").wait_for(timeout=READY)
    assert page.locator(".cell").first.evaluate(shown) == before
    assert page.get_by_role("button", name="Show and run the code").is_visible()


def test_a_page_without_code_offers_nothing(watch, site):
    page = watch().open(site + "glossary.html")
    assert page.locator(".python-bar").count() == 0
