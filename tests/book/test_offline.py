"""Tests of the book with no network, in a real browser.

It is kept whole, updated cleanly, and never of two editions at once.
"""

from __future__ import annotations

import gzip
import json
import shutil
import threading

import pytest

from handful_site import build, offline
from handful_site.postprocess import POLICY
from handful_site.serve import open_server
from study_pages import CHAPTERS, card, walk_chapter

PAGES = ("index", "about", *CHAPTERS)
SOON = (
    "{ const usual = window.setTimeout; window.setTimeout = (f, t, ...rest) => usual(f, t === "
    "15000 ? 0 : t, ...rest); }"
)


def publish(folder, edition: str) -> None:
    """Write a small book in which every file says its edition."""
    own = folder / "_static" / "handful"
    own.mkdir(parents=True, exist_ok=True)
    for name in ("handful.js", "study.js", "handful.css"):
        (own / name).write_text(
            (build.SCRIPTS / name).read_text("utf-8") + f"\n/* {edition} */\n", "utf-8"
        )
    shutil.copy(build.SCRIPTS / "favicon.svg", own / "favicon.svg")
    (own / "aside.json").write_text(
        f'"{edition}"'
    )  # of what all pages share, the file that none of these asks for
    (folder / "paper.pdf").write_text(f"a large file of {edition}")
    for name in PAGES:
        cards = "".join(card(one, name) for one in CHAPTERS.get(name, ()))
        body = f'<h1>{name.capitalize()}</h1><p id="edition">{edition}</p>{cards}' + (
            '<div data-offline=""></div>' if name == "about" else ""
        )
        (folder / f"{name}.html").write_text(
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{name.capitalize()} — A Handful of Equations</title>"
            '<link rel="manifest" href="manifest.webmanifest"><link rel="icon" '
            'href="_static/handful/favicon.svg">'
            '<link rel="stylesheet" href="_static/handful/handful.css">'
            '<script type="module" src="_static/handful/handful.js"></script></head>'
            f'<body><main><article class="article"><section>{body}</section></article></main>'
            "</body></html>",
            "utf-8",
        )
    offline.write(folder, POLICY)


class Host:
    """A server of a folder that can go away and come back (`down`).

    It notes what it is asked for.
    """

    def __init__(self, folder) -> None:
        self.folder, self.asked, self.broken, self.down = folder, [], set(), False
        self.server = open_server(folder, 0, quiet=True)
        host = self

        class Noted(self.server.RequestHandlerClass):
            def parse_request(self):
                self.close_connection = True
                return (
                    not host.down and super().parse_request()
                )  # down: the line is cut without a word

            def find(self):
                name = self.path.lstrip("/").split("?")[0]
                host.asked.append(name)
                return None if name in host.broken else super().find()

        self.server.RequestHandlerClass = Noted
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def address(self, name: str = "127.0.0.1") -> str:
        return f"http://{name}:{self.server.server_port}/"


@pytest.fixture
def host(tmp_path):
    build.bundle()
    folder = tmp_path / "site"
    publish(folder / "book", "Edition A")
    made = Host(folder)
    yield made
    made.stop()


@pytest.fixture
def context(browser):
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    made.set_default_timeout(8000)
    yield made
    made.close()


def keep_all(context, address):
    page = context.new_page()
    page.goto(f"{address}about.html")
    page.get_by_role("button", name="Keep this book offline").click()
    page.get_by_text("The whole book is kept").wait_for()
    return page


def edition(page) -> set[str]:
    """Return the editions of a page and of what it has loaded or may yet load."""
    return {
        page.locator("#edition").inner_text(),
        *page.evaluate("""async () =>
      Promise.all(["handful.css", "handful.js?v=1", "study.js?late"].map(async (name) => {
        const answer = await fetch(`_static/handful/${name}`);
        return answer.ok ? (await answer.text()).slice(-13, -4) : answer.status; }))"""),
    }


def caches(page) -> list[str]:
    return sorted(name for name in page.evaluate("caches.keys()") if not name.endswith("pins"))


def test_the_whole_book_on_request(context, host):
    """Below a folder of its host: kept, read with no network, cards and all; then removed."""
    address = host.address() + "book/"
    page = keep_all(context, address)
    assert f"{len(PAGES)} pages" in page.locator("[data-offline]").inner_text()
    assert "book/paper.pdf" not in host.asked
    host.down = True
    for name, url in [("Index", ""), ("One", "one.html"), ("Two", "two?hardware=B200")]:
        page.goto(address + url)
        assert page.locator("h1").inner_text() == name and edition(page) == {"Edition A"}
    page.locator("#card-racks summary").click()
    page.locator("#card-racks .study-grade-4").wait_for()  # the script of the cards is here, too
    page.goto(f"{address}four.html")
    assert "no such page here" in page.locator("h1").inner_text()
    assert page.get_by_role("link").all_inner_texts()[:-1] == [
        "Index",
        "About",
        "One",
        "Three",
        "Two",
    ]
    page.get_by_role("link", name="Three").click()
    page.get_by_role("heading", name="Three").wait_for()
    page.goto(f"{address}about.html")
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("Nothing is kept").wait_for()
    host.down = False
    assert (
        edition(page) == {"Edition A"} and page.evaluate("caches.keys()") == []
    )  # though the tab goes on
    page.goto(address)
    assert page.evaluate("navigator.serviceWorker.controller") is None


def test_what_was_opened_is_kept_without_asking(context, host):
    """On a published book, the page that was open first is kept, and so are the next ones.

    Each is kept as it was opened.
    """
    context.add_init_script(SOON)
    address = host.address("book.localhost") + "book/"
    page = context.new_page()
    page.goto(f"{address}about.html")
    page.get_by_text("1 of 5 pages are kept").wait_for()
    page.goto(f"{address}one.html")
    page.goto(f"{address}about.html")
    page.get_by_text("2 of 5 pages are kept").wait_for()
    host.down = True
    page.goto(f"{address}one.html")
    assert edition(page) == {"Edition A"}
    page.goto(f"{address}two.html")
    assert page.locator("h1").inner_text() == "“Two” is not kept on this device"
    assert page.get_by_role("link").all_inner_texts()[:-1] == ["About", "One"]


@pytest.mark.parametrize("given", ["saveData", "own machine"])
def test_nothing_is_fetched_unasked(context, host, given):
    context.add_init_script(SOON)
    if given == "saveData":
        context.add_init_script(
            "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"
        )
    page = context.new_page()
    page.goto(
        host.address("book.localhost" if given == "saveData" else "localhost") + "book/about.html"
    )
    page.get_by_text("Nothing is kept").wait_for()
    page.wait_for_timeout(400)
    assert "book/sw.js" not in host.asked and page.evaluate("caches.keys()") == []


def test_two_editions_never_mix(context, host):
    """A tab keeps its edition while another tab takes a newer one into use.

    The newer edition is published and offered meanwhile.
    """
    address = host.address() + "book/"
    first = keep_all(context, address)
    first.goto(f"{address}one.html")
    second = context.new_page()
    second.goto(f"{address}two.html")
    assert edition(first) == edition(second) == {"Edition A"}
    before = caches(first)
    publish(host.folder / "book", "Edition B")
    # Everything still comes from A, the worker of B is fetched in the background, and both tabs
    # offer it.
    second.evaluate("async () => { (await navigator.serviceWorker.getRegistration()).update(); }")
    for page in (first, second):
        page.get_by_text("A new edition is here.").wait_for()
        assert edition(page) == {"Edition A"}
    assert len(caches(first)) == 2
    second.get_by_role("button", name="Reload").click()
    second.wait_for_function(
        "() => document.querySelector('#edition')?.textContent === 'Edition B'"
    )
    assert edition(second) == {"Edition B"}
    # The other tab is of A to its end, though B is active; even what it asks for late.
    assert edition(first) == {"Edition A"} and len(caches(first)) == 2
    assert first.get_by_text("A new edition is here.").is_visible()
    assert "Edition A" in first.evaluate(
        "async () => (await fetch(new URL('_static/handful/study.js?v=other', "
        "document.baseURI))).text()"
    )
    first.get_by_role("button", name="Reload").click()
    first.wait_for_function("document.querySelector('#edition')?.textContent === 'Edition B'")
    assert edition(first) == {"Edition B"} and first.locator(".edition-line").count() == 0
    # No tab uses A any more; the whole of B is here, as the whole of A was.
    first.goto(f"{address}three.html")
    first.wait_for_function(
        "async () => (await caches.keys()).filter((name) => !name.endsWith('pins')).length === 1"
    )
    assert caches(first) != before
    host.down = True
    for name in PAGES:
        first.goto(f"{address}{name}.html")
        assert edition(first) == {"Edition B"}


def test_a_page_of_an_edition_not_yet_here_is_whole(context, host):
    """A page that A has not kept is wholly of B, which is published while only A is kept."""
    context.add_init_script(SOON)
    address = host.address("book.localhost") + "book/"
    page = context.new_page()
    page.goto(f"{address}about.html")
    page.get_by_text("1 of 5 pages are kept").wait_for()
    publish(host.folder / "book", "Edition B")
    host.broken = {"book/sw.js"}  # of B there is no worker to be had
    page.goto(f"{address}one.html")
    assert edition(page) == {"Edition B"}
    # A worker that has been ended and started again still knows.
    cdp = context.new_cdp_session(page)
    cdp.send("ServiceWorker.enable")
    cdp.send("ServiceWorker.stopAllWorkers")
    assert edition(page) == {"Edition B"}
    page.goto(f"{address}about.html")
    assert edition(page) == {"Edition A"}


def test_a_download_that_breaks_off_goes_on_later(context, host):
    context.add_init_script(SOON)
    address = host.address("book.localhost") + "book/"
    host.broken = {"book/_static/handful/study.js"}
    page = context.new_page()
    page.goto(f"{address}about.html")
    for _ in range(4000):  # a busy machine takes its time
        if host.asked.count("book/_static/handful/study.js") == 2:  # and past every cache
            break
        page.wait_for_timeout(10)
    assert host.asked.count("book/_static/handful/study.js") == 2
    page.wait_for_function("async () => !(await navigator.serviceWorker.getRegistration())")
    assert page.get_by_text("Nothing is kept").is_visible()  # and the book reads on
    assert "book/_static/handful/aside.json" in host.asked
    host.broken, host.asked = set(), []
    page.goto(f"{address}about.html")
    page.get_by_text("1 of 5 pages are kept").wait_for()
    assert (
        "book/_static/handful/study.js" in host.asked
        and "book/_static/handful/aside.json" not in host.asked
    )


def test_with_storage_full_the_book_reads_on(context, host):
    address = host.address() + "book/"
    page = context.new_page()
    context.new_cdp_session(page).send(
        "Storage.overrideQuotaForOrigin",
        {"origin": host.address().rstrip("/"), "quotaSize": 20_000},
    )
    page.goto(f"{address}about.html")
    page.get_by_role("button", name="Keep this book offline").click()
    page.get_by_text("This browser refuses to keep the book").wait_for()
    page.goto(f"{address}one.html")
    assert edition(page) == {"Edition A"}


def test_a_refused_worker_is_said_where_it_is_asked_for(context, host):
    context.add_init_script(
        "navigator.serviceWorker.register = async () => { throw new DOMException('no', "
        "'SecurityError'); }"
    )
    page = context.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(host.address() + "book/about.html")
    page.get_by_role("button", name="Keep this book offline").click()
    page.get_by_text("This browser refuses to keep the book").wait_for()
    # Where there are no workers at all, one sentence stands in place of the button.
    page.add_init_script("delete Navigator.prototype.serviceWorker")
    page.goto(host.address() + "book/about.html")
    page.locator("[data-offline]", has_text="takes https").wait_for()
    assert page.locator("[data-offline] button").count() == 0
    assert faults == []


def test_the_manifest_installs_the_book(context, host):
    page = context.new_page()
    page.goto(host.address() + "book/index.html")
    found = context.new_cdp_session(page).send("Page.getAppManifest")
    assert found["errors"] == [] and found["url"].endswith("/book/manifest.webmanifest")
    given = json.loads(found["data"])
    assert given["display"] == "standalone" and given["icons"] and given["start_url"] == "./"


def test_the_built_book_itself(context):
    """All of it kept, then everything that moves and answers, with the line cut."""
    if not (build.SITE / "sw.js").exists():
        pytest.fail("The book is not built; run `make build`.", pytrace=False)
    core = offline.edition(build.SITE, POLICY)["core"]
    assert sum(len(gzip.compress((build.SITE / name).read_bytes())) for name in core) < 1_000_000
    host, faults = Host(build.SITE), []
    try:
        context.set_default_timeout(60_000)
        page = keep_all(context, host.address())
        assert (
            0.5 < float(page.locator("[data-offline]").get_attribute("data-offline").split()[0]) < 4
        )
        host.down = True
        page.on("requestfailed", lambda request: faults.append(request.url))
        page.on(
            "console",
            lambda message: faults.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{host.address()}latency-and-cost.html")
        walk_chapter(page)
        page.goto(f"{host.address()}review.html")
        page.locator(".is-up .study-stage > *").first.wait_for()
        page.goto(f"{host.address()}search.html?q=roofline")
        page.locator("#search-results a[href*='.html'], .find-list .find-hit").first.wait_for()
        assert faults == []
    finally:
        host.stop()
