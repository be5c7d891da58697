"""Tests in which the browser is killed at each step of a review.

Nothing is lost but an answer that was not yet given.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest

from handful_site import bootstrap
from study_pages import assert_replays, write_book

pytestmark = pytest.mark.browser


@contextmanager
def own_browser(browser, profile):
    """Run a browser in its own process group on a profile that outlives it.

    It is killed hard at the end.
    """
    port_file = profile / "DevToolsActivePort"
    port_file.unlink(missing_ok=True)
    process = subprocess.Popen(
        [
            bootstrap.find_browser(),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            "about:blank",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        for _ in range(600):
            if port_file.exists() and port_file.read_text().count("\n"):
                break
            time.sleep(0.05)
        joined = browser.browser_type.connect_over_cdp(
            f"http://127.0.0.1:{port_file.read_text().split()[0]}"
        )
        context = joined.contexts[0]
        page = context.pages[0] if context.pages else context.new_page()
        page.set_default_timeout(20_000)
        yield page
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def open_review(page, address):
    page.goto(f"{address}review.html")
    page.wait_for_selector(".is-up .study-stage > *")


def reveal(page):
    page.keyboard.press("Space")
    page.wait_for_selector(".study-stage .study-grade")


def graded(page, grade):
    reveal(page)
    page.keyboard.press(grade)
    page.wait_for_function("() => !document.querySelector('.study-stage .study-grade')")


# What is done before the kill, and how many more events may stand there afterwards.
STEPS = {
    "question": (lambda page: None, {0}),
    "answer": (reveal, {0}),
    "grade pressed": (
        lambda page: (
            reveal(page),
            page.evaluate("document.querySelector('.study-grade-3').click()"),
        ),
        {0, 1},
    ),
    "grade pressed, a moment later": (
        lambda page: (
            reveal(page),
            page.evaluate("document.querySelector('.study-grade-3').click()"),
            time.sleep(0.004),
        ),
        {0, 1},
    ),
    "next question": (lambda page: graded(page, "3"), {1}),
    "undone": (
        lambda page: (
            graded(page, "1"),
            page.keyboard.press("u"),
            page.wait_for_selector(".study-stage .study-grade"),
        ),
        {2},
    ),
    "put off": (
        lambda page: (
            page.keyboard.press("b"),
            page.wait_for_function(
                "() => document.querySelector('.study-news').innerText.includes('tomorrow')"
            ),
        ),
        {1},
    ),
}


def test_nothing_is_lost_but_the_answer_not_yet_given(browser, folder_server, tmp_path_factory):
    folder, address = folder_server
    write_book(folder)
    profile = tmp_path_factory.mktemp("profile")
    known, before, more = [], "the first start", {0}
    # Each browser looks at what the one before it left, then goes a step further and is killed.
    for step, (act, may_add) in [*STEPS.items(), ("the last look", (lambda page: None, {0}))]:
        with own_browser(browser, profile) as page:
            open_review(page, address)
            found = assert_replays(page)["events"]
            assert found[: len(known)] == known and len(found) - len(known) in more, before
            act(page)
        known, before, more = found, step, may_add
