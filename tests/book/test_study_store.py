"""Tests of what the study pages keep.

Bad files change nothing, backups come back whole, and denied storage is said and survived.
"""

from __future__ import annotations

import json

import pytest

from study_pages import (
    answer,
    assert_replays,
    counts,
    dump,
    front,
    give,
    log_file,
    show,
    undo,
    write_book,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def book(folder_server):
    folder, address = folder_server
    write_book(folder)
    return address


@pytest.fixture
def tab(watch):
    made = watch()
    yield made
    assert made.faults == []


GOOD = {
    "id": "imported-1",
    "at": 1_770_000_000_000,
    "zone": 60,
    "kind": "grade",
    "card": "floor",
    "grade": 3,
}
BAD_FILES = {
    "cut off": (log_file([GOOD])[:-20], "not complete JSON"),
    "foreign": ('{"notes": []}', "no study log"),
    "newer": (log_file([GOOD]).replace('"version": 1', '"version": 2'), "newer edition"),
    "hostile": (log_file([{**GOOD, "card": "<img src=x onerror=alert(1)>"}]), "Event 1 of 1"),
    "deep": ("[" * 100_000, "not complete JSON"),
    "half good": (log_file([GOOD, {**GOOD, "id": "imported-2", "grade": 7}]), "Event 2 of 2"),
    "empty": ("", "empty"),
    "picture": ("\x89PNG\r\n\x1a\n\x00\x00", "not complete JSON"),
}


def test_files_that_cannot_be_read_change_nothing(book, tab, tmp_path):
    page = show(tab, book, "review")
    answer(page, 3)
    before = dump(page)
    path = tmp_path / "given.json"
    for name, (text, words) in BAD_FILES.items():
        path.write_text(text, "utf-8")
        told = give(page, path)
        assert told.startswith("Not imported, and nothing was changed.") and words in told, name
        assert page.locator("img").count() == 0
    with path.open("wb") as file:
        file.truncate(51_000_000)
    assert "larger than 50 MB" in give(page, path)
    # An event that is here already with other content was changed by hand.
    path.write_text(log_file([{**before["events"][0], "grade": 1}, GOOD]), "utf-8")
    assert "different content" in give(page, path)
    assert dump(page) == before


def test_a_backup_comes_back_whole(book, tab, tmp_path):
    page = show(tab, book, "review")
    for grade in (3, 1, 2, 4):
        answer(page, grade)
    undo(page)
    page.locator(".study-data-fold > summary").click()
    assert "There is no backup yet." in page.locator(".study-data > .study-note").first.inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export", exact=True).click()
    path = tmp_path / "log.json"
    waiting.value.save_as(path)
    page.get_by_text("Last backup:").wait_for()
    assert [e["kind"] for e in json.loads(path.read_text("utf-8"))["events"]] == ["grade"] * 4 + [
        "undo"
    ]
    whole = assert_replays(page)
    # Erasing wants to be meant.
    page.get_by_role("button", name="Erase …").click()
    sure = page.get_by_role("button", name="Erase everything")
    assert sure.is_disabled() and "5 entries" in page.locator("#study-erase-text").inner_text()
    page.locator("#study-erase-word").fill("erase")
    sure.click()
    page.get_by_text("Everything is erased").wait_for()
    empty = dump(page)
    assert empty["events"] == [] and empty["cards"] == {} and counts(page) == [0, 10, 0]
    assert give(page, path) == "Imported: 5 new entries."
    assert dump(page) == whole and counts(page)[2] == 2
    assert give(page, path) == "Imported: 0 new entries; 5 stood here already."
    assert dump(page) == whole


DENIED = {
    "no database": "Object.defineProperty(window, 'indexedDB', { value: undefined })",
    "refused": "IDBFactory.prototype.open = () => { throw new DOMException('denied', "
    "'SecurityError'); }",
    "never answers": "IDBFactory.prototype.open = () => ({})",
    "full": "IDBObjectStore.prototype.add = () => { throw new DOMException('full', "
    "'QuotaExceededError'); }",
}


@pytest.mark.parametrize("how", [*DENIED])
def test_without_storage_the_sitting_goes_on_and_says_so(book, watch, how):
    tab = watch()
    tab.page.add_init_script(DENIED[how])
    page = show(tab, book, "review")
    for grade in (3, 1):
        answer(page, grade)
    assert "last only until you leave" in page.locator(".study-trouble").inner_text()
    assert counts(page) == [0, 8, 1]
    undo(page)
    assert front(page) == "What of cost?"
    page.locator(".study-data-fold > summary").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export", exact=True).click()
    assert len(json.loads(waiting.value.path().read_text("utf-8"))["events"]) == 3
    assert [fault for fault in tab.faults if "could not be written" not in fault] == []


def test_a_cache_of_other_rules_is_made_anew_from_the_log(book, tab):
    page = show(tab, book, "review")
    for grade in (3, 1, 2):
        answer(page, grade)
    before = assert_replays(page)
    page.evaluate("""async () => {
      const db = await new Promise((done) => {
        const r = indexedDB.open("handful-study");
        r.onsuccess = () => done(r.result); });
      const tx = db.transaction(["cards", "days", "meta"], "readwrite");
      tx.objectStore("cards").clear(); tx.objectStore("days").put({ day: 1, answers: 99 });
      tx.objectStore("meta").put({
        name: "cache", rules: 0, settings: { retention: 0.7, new_per_day: 1, chapters: [] },
        revision: 1, count: 0 });
      await new Promise((done) => { tx.oncomplete = done; }); db.close(); }""")
    page = show(tab, book, "review")
    assert dump(page) == before and counts(page) == [0, 7, 2]


def test_the_browser_is_asked_to_keep_the_log_at_the_first_answer(book, tab):
    tab.page.add_init_script(
        "window.asked = 0; StorageManager.prototype.persist = async () => { window.asked += 1; "
        "return true; }"
    )
    page = show(tab, book, "review")
    assert page.evaluate("window.asked") == 0
    answer(page, 3)
    answer(page, 3)
    assert page.evaluate("window.asked") == 1


def test_thousands_of_cards_are_up_without_reading_the_log(folder_server, watch):
    """5,000 cards; the time it takes with a slow processor is measured by `make bench`."""
    folder, address = folder_server
    write_book(folder, {f"part-{i}": [f"card-{i}-{j}" for j in range(20)] for i in range(10)})
    tab = watch()
    tab.page.set_default_timeout(60_000)
    page = show(tab, address, "review")
    page.evaluate("""async () => {
      const db = await new Promise((done) => {
        const r = indexedDB.open("handful-study");
        r.onsuccess = () => done(r.result); });
      const tx = db.transaction(["events", "meta"], "readwrite"), events = tx.objectStore("events");
      for (let i = 0; i < 10_000; i += 1) events.put({
        id: `event-${String(i).padStart(6, "0")}`, at: 1.7e12 + i * 3e6, zone: 0, kind: "grade",
        card: i % 5000 < 200 ? `card-${Math.floor((i % 5000) / 20)}-${i % 20}`
          : `other-${i % 5000}`, grade: 3 });
      tx.objectStore("meta").put({ name: "cache", rules: 0, settings: {}, revision: 1, count: 0 });
      await new Promise((done) => { tx.oncomplete = done; }); db.close(); }""")
    show(tab, address, "review")
    tab.page.add_init_script("""for (const kind of [IDBObjectStore, IDBIndex])
    for (const name of ["getAll", "openCursor", "count", "getAllKeys"]) {
      const usual = kind.prototype[name];
      kind.prototype[name] = function (...rest) {
        (window.reads ||= []).push((this.objectStore || this).name);
        return usual.apply(this, rest); }; }""")
    tab.page.context.new_cdp_session(tab.page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page = show(tab, address, "review")
    assert counts(page)[0] == 200 and set(page.evaluate("window.reads")) <= {
        "cards",
        "days",
        "problems",
    }
    answer(page, 3)
    assert tab.faults == []
