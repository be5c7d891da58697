"""A fault on a reader's side leaves a readable book and one plain sentence.

Elsewhere: no scripts (test_self_hosted, test_explorers, test_study, test_problems), no IndexedDB
and a full one (test_study_store), addresses that say nonsense (test_explorers, test_problems,
test_yours), no worker and a full cache (test_offline).
"""

from __future__ import annotations

import json
import re
import time

import pytest

from handful_site import build
from study_pages import (
    DUMP,
    answer,
    counts,
    dump,
    front,
    show,
    unfold,
    walk_chapter,
    write_book,
)

pytestmark = pytest.mark.browser
CHAPTER = "latency-and-cost.html"
# What browsers of the book's first year (2022) and those with strict settings do not have.
OLD = """for (const [owner, name] of [
  [window, "structuredClone"], [window, "BroadcastChannel"], [window, "requestIdleCallback"],
  [Navigator.prototype, "storage"], [Navigator.prototype, "serviceWorker"],
  [Navigator.prototype, "connection"], [Navigator.prototype, "clipboard"],
  [Element.prototype, "checkVisibility"], [HTMLElement.prototype, "showPopover"],
  [Array.prototype, "findLast"], [Array.prototype, "toSorted"], [Array.prototype, "toReversed"],
  [Array.prototype, "with"], [Object, "groupBy"], [Map, "groupBy"], [Promise, "withResolvers"],
  [Promise, "try"], [Array, "fromAsync"], [Set.prototype, "union"], [Set.prototype, "difference"],
  [Set.prototype, "intersection"], [AbortSignal, "timeout"], [AbortSignal, "any"],
  [URL, "canParse"], [URL, "parse"], [document, "startViewTransition"],
  [CSSStyleSheet.prototype, "replaceSync"], [String.prototype, "isWellFormed"],
  [Iterator.prototype, "map"], [Iterator.prototype, "toArray"]]) delete owner[name];
for (const name of ["DurationFormat", "Segmenter"]) delete Intl[name];
const usual = Intl.NumberFormat;
Intl.NumberFormat = function (where, options) {
  if (options?.style === "unit") throw new RangeError("style");
  return new usual(where, options); };
for (const name of ["supports"]) {
  const has = CSS[name].bind(CSS);
  CSS[name] = (...words) => !String(words).includes(":has") && has(...words); }"""


def text_stands(page) -> bool:
    """Check that the text is there and that what is on the screen can be seen.

    The rest waits for the reader under content-visibility.
    """
    text = page.locator("article.article")
    return (
        len(text.text_content().split()) > 1000
        and text.locator("p:not([class])").first.is_visible()
    )


def test_a_browser_of_2022(site, watch):
    """Without what came later, a chapter, its plots, cards and problems, and Review are up."""
    tab = watch()
    tab.page.add_init_script(OLD)
    page = tab.open(site + CHAPTER)
    walk_chapter(page)
    page = tab.open(site + "review.html")
    page.locator(".is-up .study-stage > *").first.wait_for()
    answer(page, 3)
    assert page.locator(".page-trouble").count() == 0 and tab.faults == []


def test_scripts_are_written_for_those_browsers():
    """The scripts use nothing bare that is newer than what those browsers have.

    The bundler lowers syntax; what it cannot lower, a browser has to have.
    """
    later = re.compile(
        r"(structuredClone\(|\.findLast\w*\(|\.to(Sorted|Reversed|Spliced)\(|Object\.groupBy|withResolvers|Array\.fromAsync|AbortSignal\.(any|timeout)|URL\.canParse)"
    )
    for name in ("handful.js", "study.js"):
        assert later.findall((build.SCRIPTS / name).read_text("utf-8")) == [], name


BROKEN = {
    "missing": {"status": 404, "body": "gone"},
    "newer than the browser": {
        "status": 200,
        "content_type": "text/javascript",
        "body": "let x = 1 @ 2;",
    },
}


@pytest.mark.parametrize("how", [*BROKEN])
def test_without_the_pages_script_the_text_stands(site, watch, how):
    tab = watch()
    tab.page.route("**/handful/handful*.js*", lambda route: route.fulfill(**BROKEN[how]))
    page = tab.page
    page.goto(site + CHAPTER)  # its plots will not start, so there is no rest to wait for
    assert (
        page.locator(".page-trouble")
        .inner_text()
        .startswith("The interactive parts of this page did not start")
    )
    assert text_stands(page) and page.locator(".explorer-static").first.is_visible()
    page = tab.open(site + "review.html")
    assert page.locator(".page-trouble").is_visible()
    page.locator(".card .card-front").first.wait_for()


def test_without_the_script_of_cards_they_can_be_read(site, watch):
    tab = watch()
    tab.page.route("**/handful/study*.js*", lambda route: route.fulfill(status=500, body="no"))
    for name in ("review.html", CHAPTER):
        page = tab.open(site + name)
        page.locator(".page-trouble").wait_for(state="attached")
        unfold(page)
        assert page.locator(".page-trouble").all_text_contents() == [
            "What checks and remembers your answers could not be loaded; questions and answers "
            "can be read and unfolded. Reload the page to try again."
        ]
    card = page.locator(".card details").first
    card.locator("summary").click()
    assert card.locator("p").first.is_visible() and page.locator(".explorer .ex").count()


def test_without_typeset_formulas_a_box_says_so_and_asks_again(site, watch):
    tab, answers = (
        watch(),
        [{"status": 404, "body": "gone"}, {"status": 200, "body": '{"formulas":'}],
    )
    tab.page.route(
        "**/boxes*.json*",
        lambda route: route.fulfill(**answers.pop(0)) if answers else route.continue_(),
    )
    page = tab.open(site + CHAPTER)
    number = page.locator(".live[role=button]").first
    for _ in (1, 2):
        number.click()
        page.get_by_text("The typeset formula could not be fetched").wait_for()
        assert page.locator(".pop table tr").count()
        page.keyboard.press("Escape")
    number.click()
    page.locator(".pop-formula .katex").wait_for()


SCRIPTS = re.compile(r"/handful/(?!color_mode_init|database)\w[\w.-]*\.js")
SHIFTS = """window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value; })
  .observe({ type: "layout-shift", buffered: true });"""


@pytest.mark.parametrize("width", [390, 1280])
def test_while_scripts_are_on_their_way_the_page_reads(site, watch, width):
    """Text and still plots stand before the scripts, and little jumps when those arrive.

    The scripts come long after everything else.
    """
    tab = watch(width=width)
    held = []
    tab.page.route(SCRIPTS, lambda route: route.continue_() if released else held.append(route))
    released = []
    tab.page.add_init_script(SHIFTS)
    page = tab.page
    page.goto(site + CHAPTER, wait_until="commit")
    page.locator(".explorer-static svg").first.wait_for()
    assert text_stands(page) and page.locator(".page-trouble").count() == 0
    early = page.evaluate("window.shift")
    page.wait_for_timeout(400)
    released.append(True)
    for route in held:
        route.continue_()
    page.locator(".bar").wait_for()
    page.locator("figure.explorer .ex").first.wait_for()
    tab.rest()
    shift = page.evaluate("window.shift")
    assert shift - early < 0.1  # the bar pushes the text of a phone down: 0.08; 0.02 on a laptop
    assert [fault for fault in tab.faults if "ERR_ABORTED" not in fault] == []


def test_nothing_moves_when_the_first_plot_comes_alive(site, watch):
    tab = watch(width=1280)
    tab.page.add_init_script(SHIFTS)
    page = tab.open(site + "index.html")
    page.locator("figure.explorer .ex").first.wait_for()
    tab.rest()
    assert (
        page.evaluate("window.shift") < 0.02
    )  # 0.05 where the plot pushes the chapters off the screen
    assert tab.faults == []


# --- the learner's store --------------------------------------------------------------------------

NONSENSE = """async () => {
  const db = await new Promise((done) => {
    const r = indexedDB.open("handful-study");
    r.onsuccess = () => done(r.result); });
  const tx = db.transaction(["events", "cards", "days", "problems", "meta"], "readwrite"),
    put = (store, row) => tx.objectStore(store).put(row);
  put("events", { id: "nonsense-1", card: "floor", kind: "grade", grade: "x", at: "soon" });
  put("events", { id: "nonsense-2" });
  for (let bucket = 0; bucket < 64; bucket += 1) put("cards", { bucket, states: "nonsense" });
  put("days", { day: 3, answers: "many" });
  put("problems", { problem: "floor" });
  put("meta", { name: "cache", rules: 1, settings: 7, revision: "x", count: null });
  put("meta", { name: "backup", at: "yesterday" });
  await new Promise((done) => { tx.oncomplete = done; });
  db.close();
  for (const key of ["handful-scenario", "handful-yours", "handful-offline", "mode", "theme"])
    localStorage.setItem(key, "{nonsense");
}"""


@pytest.fixture
def book(folder_server):
    folder, address = folder_server
    write_book(folder)
    return address


def test_a_damaged_store_is_mended_from_what_is_sound(book, watch):
    tab = watch()
    page = show(tab, book, "review")
    for grade in (3, 1, 2):
        answer(page, grade)
    sound = dump(page)
    page.evaluate(NONSENSE)
    page = show(tab, book, "review")
    assert (
        "2 entries of your log cannot be read and are left out"
        in page.locator(".study-trouble").inner_text()
    )
    assert counts(page) == [0, 7, 2]
    answer(page, 3)
    stored = page.evaluate(DUMP)["events"]
    assert len(stored) == 6 and {"nonsense-1", "nonsense-2"} <= {
        event["id"] for event in stored
    }  # nothing is thrown away
    page.locator(".study-data-fold > summary").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export", exact=True).click()
    events = json.loads(waiting.value.path().read_text("utf-8"))["events"]
    assert len(events) == 4 and events[:3] == sound["events"]
    show(tab, book, "progress")
    assert tab.faults == []


def test_a_newer_edition_takes_the_database_and_the_older_says_so(book, watch):
    tab = watch()
    page = show(tab, book, "review")
    answer(page, 3)
    newer = page.context.new_page()
    newer.goto(book + "one.html")
    newer.evaluate("""async () => {
      const db = await new Promise((done) => {
        const r = indexedDB.open("handful-study", 2);
        r.onsuccess = () => done(r.result); });
      const tx = db.transaction("events");
      window.kept = (await new Promise((done) => {
        const r = tx.objectStore("events").getAll();
        r.onsuccess = () => done(r.result); })).length;
      db.close(); }""")
    assert newer.evaluate("window.kept") == 1
    page.get_by_text("A newer edition of this book has taken over your log").wait_for()
    assert counts(page) == [0, 9, 0]  # it goes on with what it has read
    answer(page, 3)
    page = show(tab, book, "review")
    assert "A newer edition" in page.locator(".study-trouble").inner_text() and front(page)
    assert tab.faults == []


def test_two_editions_with_other_rules_share_one_log(book, watch):
    """Each derives its own dates from the log and leaves the log alone."""
    old, script = watch(), (build.SCRIPTS / "study.js").read_text("utf-8")
    name = re.search(r"\.rules!==(\w+)", script)[1]
    newer, n = re.subn(rf"([,\s]){re.escape(name)}=1([,;])", rf"\g<1>{name}=2\g<2>", script)
    assert n == 1
    first = show(old, book, "review")
    answer(first, 3)
    second = old.page.context.new_page()
    second.route(
        "**/study.js*", lambda route: route.fulfill(body=newer, content_type="text/javascript")
    )
    second.goto(book + "review.html")
    second.locator(".is-up .study-stage > *").wait_for()
    for page in (second, first, second, first):
        page.bring_to_front()
        answer(page, 3)
        time.sleep(0.05)
    first.wait_for_function("() => document.querySelector('.study-count b') !== null")
    assert (
        len(dump(first)["events"]) == 5
        and len({event["card"] for event in dump(first)["events"]}) == 5
    )
    assert (
        first.locator(".study-trouble").is_hidden() and second.locator(".study-trouble").is_hidden()
    )
    assert old.faults == []


def test_a_plot_that_cannot_start_keeps_its_still_picture(site, watch):
    """One declaration is cut off; every other plot of the page goes on."""
    tab = watch()
    html = (build.SITE / CHAPTER).read_text("utf-8")
    broken = re.sub(r'(class="explorer-spec"[^>]*>)\{', r"\1{{", html, count=1)
    assert broken != html
    tab.page.route(
        f"**/{CHAPTER}", lambda route: route.fulfill(body=broken, content_type="text/html")
    )
    page = tab.open(site + CHAPTER)
    first, second = page.locator("figure.explorer").nth(0), page.locator("figure.explorer").nth(1)
    first.scroll_into_view_if_needed()
    first.get_by_text("This plot could not start").wait_for()
    assert first.locator(".explorer-static svg").is_visible()
    second.scroll_into_view_if_needed()
    second.locator(".ex").wait_for()
    assert tab.faults == []
