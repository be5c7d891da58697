"""Back matter that writes itself: the glossary's links and the index of numbers."""

from __future__ import annotations

import yaml
from bs4 import Tag

from handful_site.build import ROOT, chapters
from handful_site.extensions.sphinx_backmatter import EVERYDAY, is_unlinked
from soup import soup

PAGES = chapters(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))


def page(name: str) -> Tag:
    return soup(f"{name}.html").select_one("article")


def test_the_index_lists_every_number_of_the_book_once():
    links = [a["href"] for a in page("numbers").select(".numbers-index a")]
    # Pages to study from repeat what stands in the chapters.
    spans = [
        f"{name}.html#{span['id']}"
        for name in PAGES
        for span in page(name).select(".live, .fact")
        if not span.find_parent(attrs={"data-study": True}) and not span.find_parent(hidden=True)
    ]
    assert sorted(links) == sorted(spans)
    assert len(links) == len(set(links)) > 50


def test_every_link_to_the_glossary_arrives_and_stands_at_the_first_use():
    anchors = {dt["id"] for dt in page("glossary").select("dt[id]")}
    for name in PAGES:
        links = [a["href"] for a in page(name).select("a.term")]
        assert len(links) == len(set(links)), name
        assert {link.removeprefix("glossary.html#") for link in links} <= anchors, name
        assert bool(links) != is_unlinked(name), name


# Terms of the field that no page needs, and that readers of other texts come to look up.
LOOKED_UP = {
    "node-limited-routing",
    "quantisation",
}


def test_an_everyday_word_is_linked_where_it_is_emphasised_as_a_term():
    """So that no reader who turns a question round is sent to ciphers."""
    found = set()
    for name in PAGES:
        for link in page(name).select("a.term"):
            term = link["href"].partition("#term-")[2]
            if term in EVERYDAY:
                assert link.find_parent("em"), (name, link.get_text())
                found.add(term)
    assert {"round", "head"} <= found


def test_every_term_is_used_by_a_page_or_looked_up():
    terms = {
        dt["id"].removeprefix("term-"): dt.get_text(" ", strip=True).rstrip("# ").lower()
        for dt in page("glossary").select("dt[id]")
    }
    text = " ".join(page(name).get_text(" ").lower() for name in PAGES if name != "glossary")
    assert {name for name, words in terms.items() if words not in text} == LOOKED_UP
