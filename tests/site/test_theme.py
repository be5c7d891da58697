"""The theme in a small book that plain Sphinx builds: what a page says before a script runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup

from handful_site import edition
from handful_site.theme import FONTS, PAPER, POLICY

SOURCES = {
    "conf.py": """
project = html_title = "A Handful of Equations"
author = "Its authors"
extensions = ["myst_parser", "handful_site.theme"]
html_theme = "handful"
""",
    "index.md": """# A Handful of Equations

```{toctree}
:caption: The lecture
:hidden:
latency
balance
```

```{toctree}
:caption: To look up
:hidden:
about
```
""",
    "latency.md": """# Latency

One sentence under the title.

## First

| a | b |
|---|---|
| 1 | 2 |

### Deeper

## Second & last
""",
    "balance.md": f"# Balance\n\n{'A paragraph that is text and no lede. ' * 7}\n\n## Only one\n",
    "about.md": '# About\n\n<div data-study="review"></div>\n',
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Build the book with Sphinx; returns the soup of each page."""
    folder = tmp_path_factory.mktemp("book")
    for name, text in SOURCES.items():
        (folder / name).write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", folder, folder / "html"],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return {
        path.stem: BeautifulSoup(path.read_text("utf-8"), "html.parser")
        for path in (folder / "html").glob("*.html")
    }


def test_every_page_has_the_policy_before_what_it_governs(pages):
    assert set(pages) == {"index", "latency", "balance", "about", "search", "404"}
    for page in pages.values():
        policy = page.head.select_one('meta[http-equiv="Content-Security-Policy"]')
        assert policy["content"] == POLICY
        assert not policy.find_previous_siblings(["script", "link", "style"])


def test_a_page_asks_for_one_sheet_one_script_and_the_lines_that_set_its_colours(pages):
    head = pages["latency"].head
    assert [tag["href"] for tag in head.select('link[rel="stylesheet"]')] == ["_static/site.css"]
    assert [tag["src"] for tag in pages["latency"].select("script")] == [
        "_static/handful/handful.js",
        "_static/handful/color_mode_init.js",
    ]
    assert [tag["href"] for tag in head.select('link[as="font"]')] == [
        f"_static/{font}" for font in FONTS
    ]
    told = {tag["media"]: tag["content"] for tag in head.select('meta[name="theme-color"]')}
    assert told == {f"(prefers-color-scheme: {name})": color for name, color in PAPER.items()}


def test_the_store_opens_early_on_pages_about_it_only(pages):
    asked = {name for name, page in pages.items() if page.select('script[src*="database"]')}
    assert asked == {"about"}


def test_chapters_of_the_first_part_are_numbered(pages):
    said = {name: page.select_one(".eyebrow") for name, page in pages.items()}
    assert {name: tag.text for name, tag in said.items() if tag} == {
        "latency": "Chapter 1",
        "balance": "Chapter 2",
    }


def test_a_short_first_sentence_is_a_lede(pages):
    assert pages["latency"].select_one("p.lede").text == "One sentence under the title."
    assert pages["balance"].select_one("p.lede") is None


def test_the_menu_names_all_pages_and_the_one_that_is_open(pages):
    menu = pages["balance"].select_one("nav.book-chapters")
    assert [link.text for link in menu.select("a")] == ["Latency", "Balance", "About"]
    assert menu.select_one('[aria-current="page"]').text == "Balance"
    assert [part.text for part in menu.select('[role="heading"][aria-level="2"]')] == [
        "The lecture",
        "To look up",
    ]


def test_the_contents_of_a_page_are_its_sections(pages):
    listed = pages["latency"].select("#page-contents nav a")
    assert [(link["href"], link.text) for link in listed] == [
        ("#first", "First"),
        ("#deeper", "Deeper"),
        ("#second-last", "Second & last"),
    ]
    # One section needs no list, and a page without one no button for it.
    assert not pages["balance"].select("#page-contents, .page-contents-button")


def test_a_table_scrolls_within_its_box(pages):
    table = pages["latency"].select_one("table")
    assert "table" in table["class"] and "scrollable-table" in table.parent["class"]
    assert "table" not in table.parent["class"]


def test_a_page_leads_on_and_says_its_edition(pages):
    page = pages["latency"]
    assert page.select_one(".prev-next a.next")["href"] == "balance.html"
    assert page.select_one(".prev-next a.prev")["href"] == "index.html"
    assert edition.current().title in page.select_one(".site-footer .edition").text
    assert page.title.text == "Latency — A Handful of Equations"
    assert page.select_one('.downloads a[href="_sources/latency.md"]')
    assert not page.select('.downloads a[href$=".ipynb"]')  # it has no cells


def test_every_button_has_a_name(pages):
    for page in pages.values():
        for button in page.select("button, summary"):
            assert button.get_text(strip=True) or button.get("aria-label")
