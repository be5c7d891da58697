"""Tests of the links within the book and of the reading order of its pages.

Every link arrives at its very place.
"""

from __future__ import annotations

import itertools
import re
from functools import cache
from urllib.parse import unquote, urljoin, urlsplit

import yaml
from bs4 import NavigableString

import external_links
from handful_site.build import ROOT, SITE, chapters
from soup import soup

ORDER = chapters(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))


@cache
def anchors(name: str) -> set[str]:
    return {node["id"] for node in soup(name).select("[id]")} | {
        node["name"] for node in soup(name).select("a[name]")
    }


def test_every_link_arrives(page_name):
    lost = []
    for node in soup(page_name).select("a[href]"):
        parts = urlsplit(urljoin(page_name, node["href"]))
        if parts.scheme or parts.netloc or node["href"] in ("", "#"):
            continue
        target = unquote(parts.path) or page_name
        if not (SITE / target).is_file():
            lost.append(f"{node['href']} ({node.get_text(strip=True)[:40]}): no such file")
        elif (
            parts.fragment
            and target.endswith(".html")
            and unquote(parts.fragment) not in anchors(target)
        ):
            lost.append(f"{node['href']} ({node.get_text(strip=True)[:40]}): no such place")
    assert lost == []


def test_every_file_that_a_page_names_is_there(page_name):
    """Scripts, sheets, pictures, icons and the manifest are there, and so are forms' targets.

    So is every file that is fetched later.
    """
    named = [
        node[key]
        for key in ("src", "poster", "data-boxes", "action")
        for node in soup(page_name).select(f"[{key}]")
    ]
    named += [
        node["href"]
        for node in soup(page_name).select("link[href]")
        if "canonical" not in node["rel"]
    ]
    named += [
        part.split()[0]
        for node in soup(page_name).select("[srcset]")
        for part in node["srcset"].split(",")
    ]
    paths = [
        unquote(urlsplit(urljoin(page_name, name)).path) for name in named if name not in ("", "#")
    ]
    assert paths and [path for path in paths if not (SITE / path).is_file()] == []


def test_every_file_that_a_sheet_names_is_there():
    lost, found = [], 0
    for sheet in SITE.rglob("*.css"):
        for name in re.findall(r"url\(['\"]?([^'\")]+)", sheet.read_text("utf-8")):
            found += 1
            if not (sheet.parent / unquote(urlsplit(name).path)).resolve().is_file():
                lost.append(f"{sheet.relative_to(SITE)}: {name}")
    assert found > 10 and lost == []


def test_addresses_outside_are_those_of_the_list():
    """The list names every external address; no network is used here.

    `make links` tries the addresses, and `make links ARGS=update` brings the list up to date.
    """
    listed, used = set(external_links.listed()), external_links.used(SITE)
    assert len(used) > 50
    assert used - listed == set(), (
        "named by a page and not in tests/data/external_links.txt; run `make links ARGS=update`"
    )
    assert listed - used == set(), (
        "in tests/data/external_links.txt and named by no page; run `make links ARGS=update`"
    )
    assert all(
        re.fullmatch(r"never|20\d\d-\d\d-\d\d", day) for day in external_links.listed().values()
    )


def coded(node) -> bool:
    """Return whether a node holds code, not text."""
    return (
        node.name in ("script", "style", "template", "annotation")
        or "highlight" in node.get("class", ())
        or (node.name == "code" and "literal" in node.get("class", ()))
    )


def test_no_markup_is_left_in_the_text(page_name):
    """A fence or a role that was not understood stands in the page as it was written."""
    text = "".join(
        text
        for text in soup(page_name).body.find_all(string=True)
        if type(text) is NavigableString and not any(coded(up) for up in text.parents)
    )
    assert re.findall(r"`{3,}|:{3,}|\{[a-z-]+\}`.{0,40}|^:[a-z]+: .{0,40}", text, flags=re.M) == []


def test_answers_are_folded_without_a_script(page_name):
    boxes = soup(page_name).select(".admonition.dropdown")
    assert all(
        box.name == "details" and not box.has_attr("open") and box.find("summary") for box in boxes
    )
    if page_name == "balance-batch.html":
        assert len(boxes) == 3  # what it checks at its end, and a side topic


def test_pages_follow_each_other_in_reading_order():
    for before, after in itertools.pairwise(ORDER):
        assert (
            soup(f"{before}.html").select_one(".prev-next a.next")["href"].split("#")[0]
            == f"{after}.html"
        )
        assert soup(f"{after}.html").select_one(".prev-next a.prev")["href"].split("#")[0] in (
            f"{before}.html",
            "#",
        )


def test_every_chapter_stands_in_the_menu_and_on_the_first_page():
    menu = {a["href"] for a in soup("index.html").select(".book-chapters a[href]")}
    front = {a["href"].split("#")[0] for a in soup("index.html").select("article a[href]")}
    listed = {a["href"] for a in soup("formulas.html").select("article li a[href]")}
    pages = {f"{name}.html" for name in ORDER if name != "index"}
    subjects = {page for page in pages if page.startswith("formulas-")}
    assert subjects == listed, "the menu has the page that lists them"
    pages -= subjects
    assert pages <= menu
    assert pages - front == set(), "pages that the first page does not name"
