"""Tests of the pages that a teacher and a student open after grading, in a real browser.

Nothing runs, nothing is fetched, and nothing breaks the policy or overflows the screen.
"""

import pytest

from class_samples import assignment, class_of, hostile_class
from handful_classroom.grading import grades
from handful_classroom.reports import feedback, report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("class")
    some = [*class_of(40, 5), *hostile_class()]
    found, notes = grades.write(made, assignment(), some)
    feedback.write(
        made, assignment(), grades.with_results(found, some), "https://example.org/book/"
    )
    report.write(made, assignment(), found, notes)
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_keep_their_policy_and_their_width(browser, folder, scheme):
    pages = [
        folder / "report.html",
        folder / "written" / "why-1.html",
        *sorted((folder / "feedback").glob("*.html"))[-12:],
    ]
    context = browser.new_context(color_scheme=scheme)
    faults, page = [], context.new_page()
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
    page.on(
        "request",
        lambda request: faults.append(request.url) if not request.url.startswith("file:") else None,
    )
    papers = set()
    for path in pages:
        page.goto(path.as_uri())
        for width in (375, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert not faults
    assert papers == {"rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 30)"}
    context.close()


def test_pictures_follow_the_dark(browser, folder):
    inks = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto((folder / "report.html").as_uri())
        assert page.locator("figure svg").count() == 4
        inks[scheme] = page.evaluate(
            """[...new Set([...document.querySelectorAll("figure svg text")].map((text) =>
              getComputedStyle(text).fill))].sort()"""
        )
        context.close()
    assert inks == {
        "light": ["rgb(31, 35, 40)", "rgb(87, 96, 106)"],
        "dark": ["rgb(163, 172, 184)", "rgb(230, 233, 238)"],
    }
