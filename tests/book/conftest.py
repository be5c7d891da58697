"""The built book on a loopback server, and a browser that notes everything a page does wrong."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from handful_site import bootstrap
from handful_site.build import ROOT, SCRIPTS, SITE
from handful_site.serve import open_server

# Nothing here may leave this machine, the browser's own housekeeping included: no name but this
# host is found.
FLAGS = [
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE "
    "*.localhost",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--no-default-browser-check",
]

BREACHES = """document.addEventListener("securitypolicyviolation", (event) =>
  window.noteBreach([
    event.effectiveDirective, "forbids", event.blockedURI || "inline", event.sample].join(" ")));"""
# What the page put off until it has time has been done after two rounds, unless it asks for more
# files.  A headless browser that draws nothing sometimes forgets that it is idle, hence the short
# patience; plots are waited for below.
IDLE = """() => new Promise((done, _,
    idle = window.requestIdleCallback || ((then) => setTimeout(then, 100))) =>
  idle(() => idle(() => requestAnimationFrame(() => setTimeout(() => done(
    [...document.querySelectorAll("figure.explorer")].every((figure) =>
      figure.dataset.mounted || !figure.querySelector("script.explorer-spec"))))),
    { timeout: 300 }), { timeout: 300 }))"""


# Where a test does not say guesses=True, the reader has asked not to be asked.
NO_GUESSES = """try {
  if (!localStorage.getItem("handful-guesses"))
    localStorage.setItem("handful-guesses", '{"never":true}');
} catch {}"""


class Watch:
    """A tab together with its faults.

    Faults are requests to other hosts, statuses from 400, errors, and breaches of the policy.
    """

    def __init__(self, context, hosts=("127.0.0.1",)) -> None:
        self.faults: list[str] = []
        self.transferred: dict[str, int] = {}
        context.expose_binding(
            "noteBreach", lambda source, text: self.faults.append(f"policy: {text}")
        )
        context.add_init_script(BREACHES)
        self.hosts = hosts
        self.asked, self.answered = 0, 0
        # Heard of, not held up: sent through Python, each request would cost more than the page.
        context.on("request", self._request)
        context.on("requestfinished", self._answered)
        context.on("requestfailed", self._answered)
        self.page = context.new_page()
        self.page.set_default_timeout(8000)
        self.page.on("websocket", lambda socket: self._elsewhere(socket.url))
        self.page.on("response", self._response)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        self.page.on("requestfailed", self._failed)

    def _elsewhere(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname not in self.hosts:
            self.faults.append(f"elsewhere: {url}")

    def _request(self, request) -> None:
        self.asked += 1
        self._elsewhere(request.url)

    def _answered(self, request) -> None:
        self.answered += 1

    def _response(self, response) -> None:
        if response.status >= 400:
            self.faults.append(f"status {response.status}: {response.url}")

    def _console(self, message) -> None:
        # A page of a test need not have the icon that the browser asks for unbidden.
        if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
            self.faults.append(f"console: {message.text}")

    def _failed(self, request) -> None:
        # A page that is left while a file loads drops the request; that is no fault.
        if "ERR_ABORTED" not in (request.failure or ""):
            self.faults.append(f"failed: {request.url} {request.failure}")

    def open(self, address: str):
        """Go there and wait until the page is at rest."""
        self.page.goto(address, wait_until="load")
        self.rest()
        return self.page

    def rest(self) -> None:
        """Wait until nothing is under way.

        Plots stand, what waits for an idle moment has run, and no file is awaited.
        """
        for _ in range(100):
            asked = self.asked
            mounted = self.page.evaluate(IDLE)
            if mounted and asked == self.asked <= self.answered:
                return
            self.page.wait_for_timeout(10)


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium for all tests."""
    from playwright.sync_api import sync_playwright

    path = bootstrap.find_browser()
    if path is None:  # elsewhere than in CI such tests are skipped before they come here
        pytest.fail(
            "No Chromium on this machine; run `make browser`, or set HANDFUL_BROWSER to one.",
            pytrace=False,
        )
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=FLAGS)
        new_context = chromium.new_context

        def quiet_context(guesses: bool = False, **options):
            context = new_context(**options)
            if not guesses:
                context.add_init_script(NO_GUESSES)
            return context

        chromium.new_context = quiet_context
        yield chromium
        chromium.close()


@pytest.fixture
def watch(browser):
    """Make watched tabs, for instance ``watch(width=375, color_scheme="dark")``.

    They are closed at the end of the test.
    """
    contexts = []

    def make(width: int = 1280, height: int = 900, **options) -> Watch:
        context = browser.new_context(
            viewport={"width": width, "height": height}, **{"service_workers": "block", **options}
        )
        contexts.append(context)
        return Watch(context)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def shared(browser):
    """Tabs that tests share, made when first asked for with these options.

    For instance ``shared(width=375, color_scheme="dark")``. A new tab costs seconds, so a test that
    only looks at pages takes one of these. It comes with its stores emptied, no faults, no page,
    and no worker; what else a test sets (scripts to run at the start, media) would stay, so such a
    test takes `watch`.
    """
    tabs: dict[tuple, Watch] = {}

    def make(width: int = 1280, height: int = 900, **options) -> Watch:
        key = tuple(sorted(options.items()))
        if key not in tabs:
            tabs[key] = Watch(browser.new_context(**{"service_workers": "block", **options}))
            tabs[key].devtools = tabs[key].page.context.new_cdp_session(tabs[key].page)
        tab = tabs[key]
        address = urlsplit(tab.page.url)
        if address.scheme == "http":
            tab.page.evaluate("sessionStorage.clear()")
            tab.page.goto(
                "about:blank"
            )  # a page that is up would keep its hands on what is emptied
            tab.devtools.send(
                "Storage.clearDataForOrigin",
                {"origin": f"http://{address.netloc}", "storageTypes": "all"},
            )
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.faults.clear()
        tab.asked = tab.answered = 0
        return tab

    return make


def serving(server):
    """Yield the address of a server that runs until the test is over."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def site():
    """Address of the built book, served as `make serve` serves it."""
    if not (SITE / "index.html").exists():
        pytest.fail("The book is not built; run `make build`.", pytrace=False)
    yield from serving(open_server(SITE, 0, quiet=True))


def lay_fonts(folder: Path) -> None:
    """Lay out the files that the page's sheet asks for."""
    for font in SCRIPTS.glob("*.woff2"):
        shutil.copy(font, folder)


@pytest.fixture
def folder_server(tmp_path):
    """Serve a folder with the policy; yield the folder and its address."""
    lay_fonts(tmp_path)
    for address in serving(open_server(tmp_path, 0, quiet=True)):
        yield tmp_path, address


@pytest.fixture(scope="module")
def module_server(tmp_path_factory):
    """Serve a folder that all tests of a module share and write once, as `folder_server` does."""
    folder = tmp_path_factory.mktemp("module")
    lay_fonts(folder)
    for address in serving(open_server(folder, 0, quiet=True)):
        yield folder, address


@pytest.fixture
def lax_server(tmp_path):
    """Serve a folder with no policy at all; yield the folder and its address."""

    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *values):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Silent, directory=str(tmp_path))
    )
    for address in serving(server):
        yield tmp_path, address


def built_pages() -> list[str]:
    """Return every page of the built book; a placeholder where nothing is built.

    With the placeholder, collection goes on. What `make publish` adds to the pages (earlier
    editions, pages that have moved, 404.html) is not of this book.
    """
    found = sorted(
        p
        for p in SITE.rglob("*.html")
        if "editions" not in p.relative_to(SITE).parts
        and p.name != "404.html"
        and not (p.stat().st_size < 4000 and 'http-equiv="refresh"' in p.read_text("utf-8"))
    )
    return [p.relative_to(SITE).as_posix() for p in found] or ["index.html"]


def pytest_generate_tests(metafunc):
    if "page_name" in metafunc.fixturenames:
        # Of this scope, tests of a module come page by page, so that they can share one visit.
        metafunc.parametrize("page_name", built_pages(), scope="module")


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.site)


__all__ = ["ROOT", "SITE", "Watch", "built_pages"]
