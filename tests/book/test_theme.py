"""The controls of the theme work: menu, colours, folded boxes, downloads."""

from __future__ import annotations

from playwright.sync_api import expect


def test_menu_on_a_phone(site, watch):
    tab = watch(width=375)
    page = tab.open(site)
    link = (
        page.locator("#book-contents, #book-contents-dialog")
        .get_by_role("link", name="Notation")
        .first
    )
    assert not link.is_visible()
    page.locator(".book-contents-button:visible").click()
    link.wait_for(state="visible")
    link.click()
    page.wait_for_url("**/notation.html")
    assert tab.faults == []


def test_notation_shows_all_its_columns_on_a_phone(site, watch):
    page = watch(width=375).open(f"{site}notation.html")
    wide = page.locator(".notation").evaluate_all("""(boxes) => boxes.filter((box) => {
      box.scrollIntoView();
      const cells = [...box.querySelectorAll("code, th, td:last-child")];
      return box.scrollWidth > box.clientWidth
        || cells.some((cell) => cell.scrollWidth > cell.clientWidth + 1 && cell.clientWidth); })
      .map((box) => box.querySelector("caption").textContent)""")
    assert wide == []


def test_menu_on_a_laptop(site, watch):
    tab = watch(width=1280)
    page = tab.open(site)
    sidebar = page.locator("#book-contents")
    # Not page.wait_for_function, which evaluates a string and so breaks the policy itself.
    expect(sidebar).to_be_visible()
    page.locator(".book-contents-button:visible").click()
    expect(sidebar).to_be_hidden()
    page.locator(".book-contents-button:visible").click()
    expect(sidebar).to_be_visible()
    assert tab.faults == []


def test_colours_are_switched_and_kept(site, watch):
    tab = watch(color_scheme="light")
    page = tab.open(site)
    page.locator(".color-mode-button:visible").first.click()
    seen = page.evaluate("document.documentElement.dataset.theme")
    assert seen == "dark"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload(wait_until="networkidle")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
    assert tab.faults == []


def test_icons_are_drawn(site, watch):
    page = watch(width=1280).open(site + "latency-and-cost.html")
    boxes = page.evaluate("""() => [...document.querySelectorAll("svg.icon")]
        .filter((icon) => icon.checkVisibility())
        .map((icon) => icon.querySelector("path").getBBox().width)""")
    assert len(boxes) > 3 and min(boxes) > 4


def test_notebook_can_be_downloaded(site, watch):
    page = watch().open(site + "latency-and-cost.html")
    page.locator(".downloads summary").click()
    with page.expect_download() as download:
        page.locator('.downloads a[href$=".ipynb"]').click()
    assert download.value.suggested_filename == "latency-and-cost.ipynb"
    page.locator(".downloads summary").click()
    page.keyboard.press("Escape")
    expect(page.locator(".downloads ul")).to_be_hidden()


def test_contents_of_the_page_follow_and_lead(site, watch):
    """The contents follow the reader, and lead to their sections.

    On a phone, text that was never on the screen has no height yet, and plots grow when they come
    near.
    """
    tab = watch(width=390)
    page = tab.open(site + "latency-and-cost.html")
    page.locator(".page-contents-button").click()
    page.locator('dialog[open] a[href="#what-a-token-costs"]').click()
    heading = page.locator("#what-a-token-costs h2")
    page.wait_for_function(
        """(heading) => {  // at its place for half a second: plots above take theirs meanwhile
          const { top } = heading.getBoundingClientRect();
          if (!(top >= 0 && top < 200)) window.since = undefined;
          else window.since ??= performance.now();
          return performance.now() - window.since > 500; }""",
        arg=heading.element_handle(),
    )
    assert page.locator("dialog[open]").count() == 0
    assert (
        page.locator('#page-contents [aria-current="true"]').text_content().strip()
        == "What a token costs"
    )
    page.mouse.wheel(0, -400)
    page.locator(".back-to-top").click()
    expect(page.locator("article section h1")).to_be_in_viewport()
    far = page.locator('#page-contents [aria-current="true"]', has_text="What a token costs")
    expect(far).to_have_count(0)
    assert tab.faults == []


def test_code_is_copied(site, watch):
    tab = watch(width=1280)
    page = tab.open(site + "your-model.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = page.locator(".cell_input .highlight").first
    code.locator(".copy-code").click()
    expect(code.locator(".copy-code")).to_have_text("Copied")
    assert (
        page.evaluate("navigator.clipboard.readText()") == code.locator("pre").inner_text().strip()
    )
    assert tab.faults == []
