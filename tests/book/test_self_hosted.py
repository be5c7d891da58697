"""Tests of every page in a real browser.

Nothing comes from elsewhere, nothing is missing, and there is no error and no breach of the policy.
"""

from __future__ import annotations

import re

import pytest

from handful_site.build import SITE
from handful_site.postprocess import POLICY
from soup import soup

# Elements of MathML that stand for something only with so many parts.
PARTS = {
    "msub": 2,
    "msup": 2,
    "munder": 2,
    "mover": 2,
    "mfrac": 2,
    "mroot": 2,
    "msubsup": 3,
    "munderover": 3,
}


@pytest.fixture(scope="module")
def visit(page_name, site, shared):
    """Load the page in light colours on a phone, with the faults of the whole visit."""
    tab = shared(width=375, color_scheme="light")
    tab.open(site + page_name)
    return tab


def test_page_is_clean(visit):
    page = visit.page
    page.set_viewport_size({"width": 1280, "height": 900})
    # Scroll through, so that whatever waits to be seen is seen.
    page.evaluate("""async () => { for (let y = 0; y < document.body.scrollHeight; y += 900) {
        window.scrollTo(0, y);
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); } }""")
    visit.rest()
    assert visit.faults == []
    assert page.locator(".bar").count() == page.locator(".has-scenario").count()


def test_policy_is_strict(page_name):
    assert "unsafe" not in POLICY
    page = soup(page_name)
    assert [
        tag["content"] for tag in page.select('meta[http-equiv="Content-Security-Policy"]')
    ] == [POLICY]
    assert not page.find_all(style=True) and not page.find_all("style")
    assert not [
        tag for tag in page.find_all("script", src=False) if tag.get("type") != "application/json"
    ]
    assert not [
        tag for tag in page.find_all(True) if any(name.startswith("on") for name in tag.attrs)
    ]


def test_maths_is_set(page_name):
    """No TeX is left for a browser to set, and each formula carries MathML for screen readers."""
    page = soup(page_name)
    assert not page.find_all(attrs={"data-tex": True}) and "\ue000" not in (
        SITE / page_name
    ).read_text("utf-8")
    for formula in page.select(".math"):
        assert formula.find("math"), formula
        assert not formula.find(class_="katex-error")
    for part in page.find_all(list(PARTS)):
        assert len(part.find_all(True, recursive=False)) == PARTS[part.name], part
    told = [
        text
        for text in page.find_all(string=re.compile(r"\\(frac|text|mathrm|left|begin)\b"))
        if not any(
            up.name in ("annotation", "script", "code", "pre") or "katex" in up.get("class", ())
            for up in text.parents
        )
    ]
    assert told == []


WIDE = """() => [...document.querySelectorAll("main *")].filter((e) =>
    e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".katex, pre, table, .math"))
    .slice(0, 5).map((e) => e.outerHTML.slice(0, 120))"""


def test_no_sideways_scroll(visit):
    """No page scrolls sideways on a laptop or a wide screen; it is loaded once, then changed."""
    page = visit.page
    for width in (1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        visit.rest()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (
            width,
            page.evaluate(WIDE),
        )
    assert visit.faults == []


def test_page_is_no_wider_than_the_smallest_phone(visit):
    """The page is looked at in dark colours, so that each is seen in them; they change no width."""
    page = visit.page
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    page.set_viewport_size({"width": 320, "height": 900})
    visit.rest()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, page.evaluate(WIDE)
    # What is far away is not laid out until it comes near; here all of it is wanted at once.
    wide = page.evaluate("""() => {
      const sheet = document.styleSheets[0],
        rule = sheet.insertRule("* { content-visibility: visible !important }");
      const found = [...document.querySelectorAll("article *")].filter((node) => {
        const box = node.getBoundingClientRect();
        if (box.width === 0 || box.right <= 321) return false;
        for (let up = node.parentElement; up && up !== document.body; up = up.parentElement)
          if (getComputedStyle(up).overflowX !== "visible") return false;
        return true;
      }).slice(0, 5).map((node) =>
        `${node.tagName} ${node.className} ${node.textContent.trim().slice(0, 40)}`);
      sheet.deleteRule(rule);
      return found; }""")
    page.emulate_media(color_scheme="light")  # the tab is shared
    assert wide == []
    assert visit.faults == []


def test_page_is_within_its_weight(visit):
    """First visit, compressed: the whole page 600 kB, our own script and style 120 kB."""
    page = visit.page
    sizes = dict(
        page.evaluate("""() => performance.getEntriesByType("resource")
        .map((e) => [new URL(e.name).pathname, e.encodedBodySize])""")
    )
    total = sum(sizes.values()) + page.evaluate(
        "performance.getEntriesByType('navigation')[0].encodedBodySize"
    )
    ours = sum(
        size
        for name, size in sizes.items()
        if "/_static/handful/" in name and "/fonts/" not in name and "/search-index-" not in name
    )  # data of the page of results, as a chapter's text is
    assert 0 < ours <= 120_000, sizes
    assert 0 < total <= 600_000, sizes


def test_readable_without_scripts(page_name, site, shared):
    page = shared(java_script_enabled=False).page
    page.goto(site + page_name)
    words, empty = page.evaluate("""() => [
        document.querySelector("#main-content").innerText.trim().split(/\\s+/).length,
        [...document.querySelectorAll("article .katex-html")].filter((node) =>
          node.checkVisibility({ contentVisibilityAuto: true })
            && node.getBoundingClientRect().width === 0).map((node) => node.textContent)]""")
    assert words > 3
    assert empty == []


BAD = {
    "an image from elsewhere": ('<img src="http://example.org/x.png" alt="">', "policy: img-src"),
    "a script from elsewhere": (
        '<script src="http://example.org/x.js"></script>',
        "policy: script-src",
    ),
    "an inline script": ("<script>window.a = 1</script>", "policy: script-src"),
    "a handler in a tag": ('<img src="none.png" alt="" onerror="1">', "policy: script-src"),
    "a style in a tag": ('<p style="color: red">a</p>', "policy: style-src"),
    "a style element": ("<style>p { color: red }</style>", "policy: style-src"),
    "a picture within the page": (
        '<img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
        "policy: img-src",
    ),
    "eval": ('<script src="eval.js"></script>', "policy: script-src"),
    "a missing file": ('<img src="none.png" alt="">', "status 404"),
    "an error": ('<script src="throw.js"></script>', "script: deliberate"),
    "a complaint": ('<script src="complain.js"></script>', "console: deliberate"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_page_is_caught(fault, module_server, shared):
    folder, address = module_server
    markup, wanted = BAD[fault]
    (folder / "eval.js").write_text("try { eval('1') } catch {}")
    (folder / "throw.js").write_text("throw new Error('deliberate')")
    (folder / "complain.js").write_text("console.error('deliberate')")
    (folder / "favicon.ico").write_bytes(b"")
    (folder / "index.html").write_text(f"<!doctype html><title>a</title>{markup}")
    tab = shared()
    tab.open(address)
    assert any(found.startswith(wanted) for found in tab.faults), tab.faults


def test_a_request_elsewhere_is_caught_without_a_policy(lax_server, watch):
    folder, address = lax_server
    (folder / "index.html").write_text(
        '<!doctype html><title>a</title><img src="http://example.org/x.png" alt="">'
    )
    tab = watch()
    tab.open(address)
    assert "elsewhere: http://example.org/x.png" in tab.faults
