"""The book around cards and problems: its title, its sections and its published address."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from .order import in_book_order
from .source import SourceError, anchors, folder

if TYPE_CHECKING:
    from .cards import Card

TITLE = "A Handful of Equations"
LICENCE = "CC BY 4.0"


def of_chapter(things: dict, what: str, chapter: str | None = None) -> list:
    """Return the cards or problems of a chapter, or all, in the order of the book.

    `what` names them in the error message: "cards" or "problems".
    """
    found = in_book_order(things.values())
    if chapter is None:
        return found
    known = list(dict.fromkeys(thing.chapter for thing in found))
    if chapter not in known:
        raise SourceError(
            f"There are no {what} of a chapter {chapter!r}; there are some of {', '.join(known)}."
        )
    return [thing for thing in found if thing.chapter == chapter]


def section_title(chapter: str, section: str) -> str:
    """Return the heading of a section.

    >>> section_title("latency-and-cost", "what-a-token-costs")
    'What a token costs'
    """
    title = (anchors(chapter) or {}).get(section)
    return (
        re.sub(r"\{\w+\}`([^`]*)`", r"\1", title)
        if title
        else section.replace("-", " ").capitalize()
    )


@cache
def address() -> str:
    """Return the address at which the book is published; "" where none is set.

    It is ``html: baseurl`` of _config.yml.
    """
    import yaml

    path = folder().parent / "_config.yml"
    config = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}
    return str((config.get("html") or {}).get("baseurl") or "")


def section_address(site: str, chapter: str, section: str) -> str | None:
    """Return the address of a section on the published site; None where the site is "".

    >>> section_address("https://example.org/book/", "latency-and-cost", "what-a-token-costs")
    'https://example.org/book/latency-and-cost.html#what-a-token-costs'
    """
    return f"{site.rstrip('/')}/{chapter}.html#{section}" if site else None


def section_and_lecture(thing, site: str = "") -> str:
    """Return, as Markdown, the section of a card or problem and its time in the lecture.

    The section is linked where the book's address is known.
    """
    from handful.query import lecture_address

    title, link = (
        section_title(thing.chapter, thing.section),
        section_address(site, thing.chapter, thing.section),
    )
    parts = [f"[{title}]({link})" if link else title]
    if thing.lecture:
        parts.append(f"lecture [{thing.lecture}]({lecture_address(thing.lecture)})")
    return " · ".join(parts)


def card_footer(card: Card, site: str = "") -> str:
    """Return the line below a card, as Markdown: its kind and where it belongs."""
    return f"{card.kind.capitalize()} · {section_and_lecture(card, site)}"
