"""Tests of cards in a real browser.

They cover a sitting by keyboard, undo, chapters, two tabs, other days, Progress, and other widths.
"""

from __future__ import annotations

import pytest

from study_pages import (
    CARDS,
    CHAPTERS,
    answer,
    assert_replays,
    counts,
    dump,
    front,
    give,
    log_file,
    missed,
    reveal,
    said,
    show,
    undo,
    unfold,
    write_book,
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def book(module_server):
    folder, address = module_server
    write_book(folder)
    return address


@pytest.fixture
def tab(shared):
    made = shared()
    yield made
    assert made.faults == []


def test_a_sitting_by_keyboard(book, tab):
    page = show(tab, book, "review")
    assert counts(page) == [0, 10, 0] and front(page) == "What of floor?"
    assert not page.locator(
        ".study-stage .card-foot a"
    ).first.is_visible()  # where it comes from may give it away
    page.keyboard.press("3")  # no grade before the answer
    page.keyboard.press("Enter")
    page.wait_for_selector(".study-grade")
    assert page.locator(".study-stage .card-answer").inner_text() == "This of floor."
    assert page.evaluate("document.activeElement.className") == "card-answer"
    assert page.locator(".study-grade-when").all_inner_texts() == [
        "10 min",
        "15 min",
        "2 days",
        "8 days",
    ]
    page.keyboard.press("1")
    page.wait_for_function(
        "() => document.querySelector('.study-stage .card-front').innerText.includes('cost')"
    )
    assert said(page) == "Again: back at the end, or in 10 min." and counts(page) == [0, 9, 1]
    assert page.evaluate("document.activeElement.dataset.card") == "cost"
    for _ in range(8):
        answer(page, 3)
    page.keyboard.press("b")  # the last new card is put off, and another one comes in its place
    page.wait_for_function(
        "() => document.querySelector('.study-stage .card-front').innerText.includes('rent')"
    )
    answer(page, 3)
    page.wait_for_function(
        "() => document.querySelector('.study-stage .card-front').innerText.includes('floor')"
    )
    answer(page, 2)  # the missed card, before its ten minutes are over
    assert front(page) == "What of floor?"
    answer(page, 3)
    summary = page.locator(".study-summary").inner_text()
    assert (
        "You gave 12 answers today, and knew it 11 times: 92 %." in summary
        and "Put off until tomorrow: 1 card." in summary
    )
    assert (
        "Next: 1 card tomorrow" in summary and "2 cards of the book are still new to you" in summary
    )
    found = assert_replays(page)
    assert len(found["events"]) == 13 and found["cards"]["floor"]["reps"] == 3


def test_undo_without_limit_back_to_an_empty_log(book, tab):
    page = show(tab, book, "review")
    for grade in (3, 1, 4):
        answer(page, grade)
    page.keyboard.press("b")
    page.wait_for_function(
        "() => document.querySelector('.study-sitting .study-news').innerText.includes('tomorrow')"
    )
    undo(page)
    assert front(page) == "What of share?" and not page.locator(
        ".study-stage details"
    ).get_attribute("open")
    undo(page)
    # An undone answer's card comes back with its answer shown: the grade that was meant is one key
    # away.
    assert (
        front(page) == "What of batch?" and page.locator(".study-stage .study-grade").count() == 4
    )
    # Those of an earlier visit are undone as well.
    page = show(tab, book, "review")
    page.keyboard.press("Control+z")
    page.wait_for_function(
        "() => document.querySelector('.study-stage .card-front').innerText.includes('cost')"
    )
    undo(page)
    assert front(page) == "What of floor?"
    undo(page)
    assert said(page) == "There is nothing to undo."
    found = assert_replays(page)
    assert found["cards"] == {} and found["days"] == [] and len(found["events"]) == 8


def test_keys_are_left_to_fields_dialogs_and_buttons(book, tab):
    page = show(tab, book, "review")
    answer(page, 3)
    page.locator(".study-fold summary").first.click()
    page.locator("#study-per-day").fill("25")
    page.keyboard.press("Control+z")
    page.keyboard.press("u")
    page.keyboard.press("b")
    assert len(dump(page)["events"]) == 1
    page.locator("#study-per-day").evaluate("node => node.blur()")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("u")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.locator(".study-stage summary").focus()
    page.keyboard.press("Space")  # the button's own key, once
    page.wait_for_selector(".study-stage .study-grade")
    assert page.locator(".study-stage details").get_attribute("open") is not None
    assert all(e["kind"] != "undo" for e in dump(page)["events"])


def test_an_answer_within_its_chapter(book, tab):
    page = show(tab, book, "one")
    first = page.locator("#card-floor")
    first.locator("summary").click()
    first.locator(".study-grade-when").last.wait_for()
    assert first.locator(".study-grade-when").all_inner_texts() == [
        "10 min",
        "15 min",
        "2 days",
        "8 days",
    ]
    first.locator(".study-grade-4").click()
    first.get_by_text("comes back in 8 days").wait_for()
    page.locator("#card-cost summary").click()
    page.locator("#card-cost .study-grade-1").click()
    page.locator("#card-cost").get_by_text("comes back in 10 min").wait_for()
    first.get_by_role("button", name="Undo").click()  # this card's answer, not the latest
    first.locator(".study-grade").first.wait_for()
    assert list(assert_replays(page)["cards"]) == ["cost"]
    page.locator("#card-cost").get_by_role("button", name="Undo").click()
    page.locator("#card-cost .study-grade").first.wait_for()
    assert assert_replays(page)["cards"] == {}
    first.locator(".study-grade-3").click()
    first.get_by_text("comes back in 2 days").wait_for()
    # It counts on Review, and is not asked twice.
    page = show(tab, book, "review")
    assert counts(page) == [0, 9, 0] and front(page) == "What of cost?"
    page = show(tab, book, "one")
    page.locator("#card-floor summary").click()
    page.locator("#card-floor").get_by_text("comes back in 2 days").wait_for()
    assert page.locator("#card-floor .study-grade").count() == 0
    page.locator("#card-floor").get_by_role("button", name="all the same").click()
    page.locator("#card-floor .study-grade").last.wait_for()
    assert page.locator("#card-floor .study-grade").count() == 4


def test_two_tabs_lose_nothing(book, watch):
    one = watch()
    first, second = show(one, book, "review"), one.page.context.new_page()
    second.goto(f"{book}review.html")
    second.wait_for_selector(".is-up .study-stage > .card")
    second.keyboard.press("Space")
    second.wait_for_selector(".study-stage .study-grade")
    answer(first, 1)  # the card that the other tab shows with its answer
    second.wait_for_function(
        "() => document.querySelector('.study-sitting .study-news').innerText.includes('another "
        "tab')"
    )
    assert front(second) == "What of cost?"
    for given, (page, grade) in enumerate(((first, 3), (second, 3), (second, 4), (first, 2)), 1):
        page.wait_for_function(
            "(want) => document.querySelector('.study-bar').value === want", arg=given
        )  # it has heard of all
        answer(page, grade)
    # Both at the same moment; whichever comes second may find that its card has been answered.
    for page in (first, second):
        page.wait_for_timeout(200)
        reveal(page)
    for page in (first, second):
        page.evaluate(
            "() => setTimeout(() => document.querySelector('.study-stage "
            ".study-grade-3')?.click(), 300)"
        )
    for page in (first, second):
        page.wait_for_function(
            "() => document.querySelector('.study-stage .card') && "
            "!document.querySelector('.study-stage .study-grade')"
        )
        page.wait_for_timeout(500)
    given = len(assert_replays(first)["events"])
    assert given in (6, 7)
    for page in (first, second):  # and what each shows is what the store has
        page.wait_for_function(
            "(want) => document.querySelector('.study-bar').value === want", arg=given
        )
    assert one.faults == []


def test_settings_are_events_and_move_every_date(book, tab):
    page = show(tab, book, "review")
    answer(page, 4)
    before = dump(page)["cards"]["floor"]["due"]["day"]
    page.locator(".study-fold summary").first.click()
    page.locator("#study-retention").fill("97")
    page.wait_for_function(
        "() => document.querySelector('#study-retention-note').innerText.includes('after 30 days')"
    )
    page.locator("#study-per-day").fill("3")
    page.locator("#study-per-day").press("Tab")
    assert page.locator("#study-per-day").input_value() == "3"
    page.get_by_label("Three").check()
    page.wait_for_function("() => document.querySelector('.study-count-new b').innerText === '2'")
    found = assert_replays(page)
    assert found["settings"] == {"retention": 0.97, "new_per_day": 3, "chapters": ["three"]}
    assert found["cards"]["floor"]["due"]["day"] < before
    page = show(tab, book, "review")
    assert (
        front(page) == "What of tiers?" and page.locator("#study-retention").input_value() == "97"
    )


def test_a_card_that_keeps_slipping_is_sent_back_to_its_section(book, tab, tmp_path):
    page = show(tab, book, "review")
    path = tmp_path / "log.json"
    path.write_text(log_file(missed("racks", 7)), "utf-8")
    give(page, path)
    page.wait_for_function(
        "() => document.querySelector('.study-stage .card-front').innerText.includes('racks')"
    )
    page.evaluate("document.activeElement.blur()")
    answer(page, 1)
    note = page.locator(".study-leech")
    assert "has slipped 8 times" in note.inner_text()
    assert note.locator("a").get_attribute("href") == "two.html#about-racks"
    page = show(tab, book, "progress")
    assert page.locator(".study-panel").last.inner_text().startswith("Cards that keep slipping")
    assert_replays(page)


def test_a_day_ends_at_four_in_the_morning_where_the_learner_is(book, watch):
    tab = watch(timezone_id="America/New_York")
    tab.page.clock.install(time="2026-03-10T03:50:00-04:00")
    page = show(tab, book, "review")
    for _ in range(10):
        answer(page, 3)
    assert page.locator(".study-summary").count() == 1
    tab.page.clock.set_fixed_time("2026-03-10T04:10:00-04:00")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_selector(".study-stage > .card")
    assert counts(page) == [0, 2, 0]  # the two that are left
    assert {e["zone"] for e in dump(page)["events"]} == {-240}
    assert tab.faults == []


def test_progress_says_what_its_pictures_show(book, tab, tmp_path):
    page = show(tab, book, "progress")
    assert "This begins when a card comes back" in page.locator(".study-panel").first.inner_text()
    texts = page.locator(".study-panel").all_inner_texts()
    assert texts and all("study-plot" not in text for text in texts)
    page = show(tab, book, "review")
    now, day = page.evaluate("Date.now()"), 86_400_000
    events = [
        {
            "id": f"{card}-{n:04d}",
            "at": now - (60 - 9 * n) * day,
            "zone": 0,
            "kind": "grade",
            "card": card,
            "grade": 1 if (i + n) % 7 == 0 else 3,
        }
        for i, card in enumerate(CARDS[:9])
        for n in range(6)
    ]
    events.append(
        {
            "id": "attempt-1",
            "at": now - day,
            "zone": 0,
            "kind": "attempt",
            "problem": "problem-two",
            "seed": 1,
            "given": "<b>3</b>",
            "verdict": "right",
        }
    )
    path = tmp_path / "log.json"
    path.write_text(log_file(events), "utf-8")
    give(page, path)
    days = assert_replays(page)["days"]
    page = show(tab, book, "progress")
    asked, held = sum(d["asked"] for d in days), sum(d["held"] for d in days)
    remember, comes, mastery = page.locator(".study-panel").all()[:3]
    assert (
        f"Of {asked} reviews" in remember.inner_text()
        and f"you held {held}" in remember.inner_text()
    )
    page.wait_for_selector(".study-svg")
    assert (
        comes.locator("svg").first.get_attribute("aria-label")
        == comes.locator(".study-panel-text").inner_text()
    )
    assert comes.locator("svg").first.get_attribute("role") == "img"
    comes.locator(".study-table summary").click()
    assert comes.locator("tbody tr").count() == 30
    rows = mastery.locator("tbody tr").evaluate_all(
        "rows => rows.map((r) => [...r.cells].slice(1).map((c) => c.innerText))"
    )
    assert [sum(map(int, row[:4])) for row in rows] == [len(cards) for cards in CHAPTERS.values()]
    assert rows[2][3] == "3" and [row[4] for row in rows] == ["0 of 1", "1 of 1", "0 of 1"]


@pytest.mark.parametrize(
    ["width", "scheme"], [[320, "light"], [375, "dark"], [768, "dark"], [1280, "light"]]
)
def test_no_page_is_wider_than_the_screen_and_fingers_find_the_buttons(book, shared, width, scheme):
    tab = shared(width=width, has_touch=True)
    tab.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page = show(tab, book, "review")
    page.locator(".study-stage summary").tap()
    page.wait_for_selector(".study-grade")
    for rule, least in ((".study-grade", 44), (".study-tool", 44)):
        assert (
            min(
                box["height"]
                for box in (one.bounding_box() for one in page.locator(rule).all())
                if box
            )
            >= least
        )
    page.locator(".study-grade-3").tap()
    page.wait_for_function(
        "() => document.querySelector('.study-stage .card-front').innerText.includes('cost')"
    )
    for summary in page.locator(".study-fold > summary").all():
        summary.tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page = show(tab, book, "progress")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.faults == []


def test_without_scripts_cards_are_folded_questions(book, shared):
    page = shared(java_script_enabled=False).page
    page.goto(f"{book}review.html")
    assert (
        page.locator(".card").count() == len(CARDS) and page.locator(".study-sitting").count() == 0
    )
    first = page.locator("#card-floor")
    assert (
        first.locator(".card-front").is_visible()
        and not first.get_by_text("This of floor.").is_visible()
    )
    first.locator("summary").click()
    assert first.get_by_text("This of floor.").is_visible()


def test_the_book_asks_its_own_cards_maths_and_all(site, tab):
    page = tab.open(f"{site}review.html")
    page.wait_for_selector(".is-up .study-stage > .card")
    reveal(page)
    page.locator(".study-all > summary").click()
    cards = page.locator(".study-all .card:has(.card-front .katex)")
    for card in (cards.first, page.locator(".study-all .card:has(.card-back .katex)").first):
        card.scroll_into_view_if_needed()
        if not card.locator(".card-front .katex").count():
            card.locator("summary").click()
        box = card.locator(".katex-html").first.bounding_box()
        assert box["width"] > 3 and box["height"] > 8
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    # In its chapter a card can be answered too.
    page = tab.open(f"{site}latency-and-cost.html")
    unfold(page)
    card = page.locator(".card").first
    card.scroll_into_view_if_needed()
    card.locator("summary").click()
    card.locator(".study-grade-3").click()
    card.get_by_text("comes back in").wait_for()
