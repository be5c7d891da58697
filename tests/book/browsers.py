"""A walk through the built book in Chromium, Firefox and WebKit: ``make browsers``.

`test_firefox.py` takes a few steps of it into ``make test``, where there is a Firefox.
"""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import contextmanager

import pytest

from conftest import SITE, built_pages
from handful.units import format_value
from handful_explorers import schematics
from handful_site.bootstrap import find_firefox, find_webkit
from handful_site.serve import open_server
from handful_study.problems import problem
from soup import soup
from webdriver import PATIENCE, Played, firefox, webkit

# The first script of each page: what the page does wrong, in any browser.
HOOK = """window.faults = [];
const note = (...words) => window.faults.push(words.join(" "));
addEventListener("error", ({ message = "", target, filename, lineno }) =>
  message.startsWith("ResizeObserver loop") || // the rest comes with the next frame
  target.rel === "next" || // Firefox fetches the next page ahead, and may leave off
  note("error:", message, target.src ?? target.href ?? filename, lineno), true);
addEventListener("unhandledrejection", ({ reason }) => note("rejection:", reason));
document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
  note("policy:", effectiveDirective, blockedURI));
console.error = (...words) => note("console:", ...words);
"""
# Until a condition holds; the page's own clock, since what is waited for happens there.
WAIT = """const end = performance.now() + %d;
for (;;) { const found = %s; if (found) return found;
  if (performance.now() > end) throw new Error(%s);
  await new Promise((done) => setTimeout(done, 20)); }"""
# To the middle of the screen, where no bar lies above it, and until it stands still there.
CENTRE = """const node = document.querySelector(%s);
for (let top, before; top === undefined || top !== before; ) {
  before = top;
  node.scrollIntoView({ block: "center", behavior: "instant" });
  await new Promise((done) => setTimeout(done, 50));
  ({ top } = node.getBoundingClientRect());
}"""
MOUNTED = """document.readyState === "complete" && [...document.querySelectorAll("figure.explorer")]
  .every((one) => one.dataset.mounted || !one.querySelector("script.explorer-spec"))"""
# The page in a frame of some width, where no browser's least width of a window is in the way.
NARROW = """const frame = document.createElement("iframe");
frame.width = %d; frame.height = 700; frame.frameBorder = 0; frame.src = location.href;
document.body.prepend(frame);
await new Promise((done) => { frame.onload = done; });
const root = frame.contentDocument.documentElement, { clientWidth, scrollWidth } = root;
window.faults.push(...frame.contentWindow.faults);
frame.remove();
return scrollWidth - clientWidth;"""


class Tab:
    """A window of one browser, at the book; it collects what goes wrong."""

    def __init__(self, window, address: str, faults: list[str]) -> None:
        self.window, self.address, self.faults = window, address, faults
        self.run, self.press = window.run, window.press

    def open(self, name: str) -> None:
        self.collect()
        self.window.open("about:blank")  # an address that differs in its end only loads nothing
        self.window.open(self.address + name)
        self.wait(MOUNTED)

    def collect(self) -> list[str]:
        self.faults += self.run("return (window.faults || []).splice(0)")
        return self.faults

    def wait(self, condition: str, patience: float = PATIENCE):
        """Wait for a condition, also across the way to another page."""
        script = WAIT % (1000 * patience, condition, json.dumps(f"never: {condition}"))
        end = time.monotonic() + patience
        while True:
            try:
                return self.run(script)
            except Exception:
                if time.monotonic() > end:
                    raise

    def click(self, rule: str) -> None:
        self.run(CENTRE % json.dumps(rule))
        self.window.click(rule)

    def focus(self, rule: str) -> None:
        self.run(f"document.querySelector({json.dumps(rule)}).focus()")

    def text(self, rule: str) -> str:
        return self.run(f"return document.querySelector({json.dumps(rule)}).textContent")

    def type(self, rule: str, text: str) -> None:
        self.focus(rule)
        for letter in text:
            self.press(letter)


@contextmanager
def serving(faults: list[str], hook=None):
    """Serve the book; note what it lacks, and put a script first into each page."""
    server = open_server(SITE, 0, quiet=True)

    class Noting(server.RequestHandlerClass):
        def find(self):
            return hook if self.path == "/hook.js" else super().find()

        def answer(self, with_body):
            del self.headers["Accept-Encoding"]
            super().answer(with_body)

        def send(self, status, body, kind, *more):
            if status >= 400 and not self.path.endswith("favicon.ico"):
                faults.append(f"status {status}: {self.path}")
            if hook and kind.startswith("text/html"):
                body = body.replace(b"<head>", b'<head><script src="/hook.js"></script>', 1)
            super().send(status, body, kind, *more)

    server.RequestHandlerClass = Noting
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@contextmanager
def chromium(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    yield Played(context)
    context.close()


STARTED = {"firefox": (find_firefox, firefox), "webkit": (find_webkit, webkit)}


@contextmanager
def opened(name: str, request):
    """Start a browser; skip where this machine has none."""
    if name == "chromium":
        with chromium(request.getfixturevalue("browser")) as window:
            yield window
        return
    find, start = STARTED[name]
    if not find():
        pytest.skip(f"no {name} on this machine; `make browsers` says how to get one")
    with start() as window:
        yield window


NAMES = [pytest.param(n, marks=pytest.mark.xdist_group(n)) for n in ("chromium", *STARTED)]


@pytest.fixture(scope="module", params=NAMES)
def window(request):
    with opened(request.param, request) as found:
        yield found


@pytest.fixture(scope="module")
def walk(window, tmp_path_factory):
    hook = tmp_path_factory.mktemp("hook") / "hook.js"
    hook.write_text(HOOK)
    faults: list[str] = []
    with serving(faults, hook) as server:
        yield Tab(window, f"http://127.0.0.1:{server.server_port}/", faults)


@pytest.fixture
def tab(walk):
    """Return the browser's window, with nothing stored and nothing wrong."""
    walk.open("errata.html")
    walk.run("""localStorage.clear(); sessionStorage.clear();
      localStorage.setItem("handful-guesses", '{"never":true}');
      for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name);""")
    walk.faults.clear()
    yield walk
    assert walk.collect() == []


def test_what_goes_wrong_is_noted(tab):
    tab.open("errata.html")
    tab.run("""console.error("deliberate");
      document.body.append(Object.assign(new Image(), { src: "none.png" }));""")
    tab.wait("window.faults.length > 1")
    found = sorted(fault.split(":")[0] for fault in tab.collect())
    tab.faults.clear()
    assert found == ["console", "error", "status 404"]


@pytest.mark.parametrize("page", built_pages())
def test_every_page_opens_without_fault_at_two_widths(tab, page):
    tab.open(page)
    assert soup(page).title.string == tab.run("return document.title")
    assert tab.run("return document.querySelector('h1').checkVisibility()")
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.run(wide) <= 0 and tab.run(NARROW % 375) <= 0


# A figure's name and what it draws; read as text, since this is asked when tests are collected.
FIGURE = re.compile(
    r'id="(explorer-[^"]+)"[^>]*>(?:(?!</figure>).)*?explorer-spec[^>]*>([^<]+)', re.S
)


def kinds() -> dict[str, tuple[str, str]]:
    """Return, for each kind of explorer, a page and the name of the first one there."""
    found: dict[str, tuple[str, str]] = {}
    for page in built_pages():
        for name, spec in FIGURE.findall((SITE / page).read_text("utf-8")):
            spec = json.loads(spec)
            kind = "stacked" if spec.get("stack") else spec["kind"]
            if spec["controls"] and spec["presets"]:
                found.setdefault(kind, (page, name))
    return found


KINDS = kinds()


@pytest.mark.parametrize("kind", KINDS)
def test_explorer(tab, kind):
    page, name = KINDS[kind]
    tab.open(page)
    figure = f"#{name}"
    tab.run(f"document.querySelector('{figure}').scrollIntoView()")
    tab.wait(f"document.querySelector('{figure} .ex-svg > *')")
    values = f"document.querySelector('{figure} .ex-values').innerText"
    start = tab.run(f"return {values}")
    seen = f"{values} + document.querySelector('{figure} .ex-svg').innerHTML"
    for handle in ("input[type=range]", ".ex-cursor[role=slider]"):
        if not tab.run(f"return Boolean(document.querySelector('{figure} {handle}'))"):
            continue
        before = tab.run(f"return {seen}")
        tab.focus(f"{figure} {handle}")
        at_end = tab.run("""const one = document.activeElement;
          return Number(one.value ?? one.ariaValueNow) >= Number(one.max ?? one.ariaValueMax)""")
        tab.press("PageDown" if at_end else "PageUp")
        tab.wait(f"{seen} !== {json.dumps(before)}")
    tab.click(f"{figure} .ex-presets > :last-child")
    tab.wait(f"document.querySelector('{figure} .ex-presets > :last-child[aria-pressed=true]')")
    tab.click(f"{figure} .ex-head .ex-tools > :nth-last-child(2)")  # Reset
    tab.wait(f"{values} === {json.dumps(start)}")


@pytest.mark.parametrize("name", [one.replace("_", "-") for one in schematics.__all__])
def test_schematic(tab, name):
    mark = f'id="schematic-{name}"'
    page = next(page for page in built_pages() if mark in (SITE / page).read_text("utf-8"))
    tab.open(page)
    figure = f"#schematic-{name}"
    tab.wait(f"document.querySelector('{figure}.is-stepped')")
    before = tab.run(f"return document.querySelector('{figure} [role=img]').ariaLabel")
    tab.focus(f"{figure} .schematic-controls button")
    tab.press("End")
    tab.wait(f"document.querySelector('{figure} li:last-child[aria-current=step]')")
    assert before != tab.run(f"return document.querySelector('{figure} [role=img]').ariaLabel")


def test_a_card_is_graded_and_remembered(tab):
    front = "document.querySelector('.study-stage .card-front')?.textContent"
    tab.open("review.html")
    card = tab.wait(front)
    tab.press("Enter")
    tab.wait("document.querySelector('.study-stage .study-grade')")
    tab.press("4")
    tab.wait(f"{front} && {front} !== {json.dumps(card)}")
    left = tab.text(".study-count")
    tab.open("review.html")
    tab.wait(f"{front} && {front} !== {json.dumps(card)}")
    assert tab.text(".study-count") == left


def test_a_problem_says_what_is_wrong_and_what_is_right(tab):
    one = problem("step-of-a-dense-model")
    node = f"#problem-{one.id}"
    tab.open(f"{one.chapter}.html{node}")
    tab.wait(f"document.querySelector('{node} .problem-check')")
    for value, says in ((one.wrong_values(0)[0], "weights alone"), (one.right(0), "✓ Right.")):
        tab.run(f"document.querySelector('{node} input[type=text]').value = ''")
        tab.type(f"{node} input[type=text]", format_value(value, one.unit, 4).replace("\xa0", " "))
        tab.press("Enter")
        tab.wait(f"document.querySelector('{node} [role=status]').textContent.includes('{says}')")


def test_search_finds_and_opens(tab):
    tab.open("index.html")
    tab.press("Control", "k")
    tab.wait("document.querySelector('dialog.find[open] input')")
    tab.type("dialog.find input", "balance batch")
    hit = "document.querySelector('dialog.find [role=option]')"
    assert "alance batch" in tab.wait(f"{hit}?.textContent")
    tab.press("Enter")
    tab.wait("location.pathname !== '/index.html' && document.readyState === 'complete'")
    tab.wait("document.querySelector('.find-here')")


def test_the_scenario_changes_numbers_and_is_remembered(tab):
    numbers = "[...document.querySelectorAll('.live')].map((one) => one.textContent).join()"
    tab.open("your-model.html")
    before = tab.run(f"return {numbers}")
    tab.focus("#bar-context")
    tab.press("PageUp")
    after = tab.wait(f"{numbers} !== {json.dumps(before)} && {numbers}")
    tab.open("your-model.html")
    tab.wait(f"{numbers} === {json.dumps(after)}")


def test_a_number_opens_its_box_and_takes_the_focus_back(tab):
    tab.open("latency-and-cost.html")
    tab.wait("document.querySelector('.live[role=button]')")
    tab.focus(".live[role=button]")
    tab.press("Enter")
    tab.wait("document.querySelector('.pop .katex')")
    tab.press("Escape")
    tab.wait("!document.querySelector('.pop') && document.activeElement.matches('.live')")


def test_colours_are_switched_and_remembered(tab):
    tab.open("index.html")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = tab.run(f"return {colour}")
    tab.click(".color-mode-button")
    dark = tab.wait(f"{colour} !== {json.dumps(light)} && {colour}")
    tab.open("about.html")
    assert tab.run(f"return {colour}") == dark


def test_python_runs_in_the_page(tab):
    tab.open("balance-batch.html")
    tab.click(".python-bar button")
    tab.wait("document.querySelector('.python-code')", patience=240)
    tab.click(".cell:has(.python-code) button[aria-label='Run cell 1']")
    tab.wait("document.querySelector('.cell:has(.python-code)').textContent.includes('Done in')")


def test_a_page_opens_without_its_server(window):
    with serving([]) as server:
        tab = Tab(window, f"http://127.0.0.1:{server.server_port}/", [])
        tab.open("about.html")
        tab.wait("document.querySelector('.kept .is-main')")
        tab.click(".kept .is-main")
        tab.wait("document.querySelector('.kept').textContent.includes('The whole book is kept')")
    tab.open("latency-and-cost.html")
    assert tab.run("return document.querySelector('h1').textContent").startswith("Latency")
