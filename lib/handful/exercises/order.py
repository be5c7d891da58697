"""The order in which a reader meets cards and problems: chapters as the book has them, then as
their files do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..claims import CHAPTERS


def by_chapter(things: Iterable[Any]) -> dict[str, list]:
    """Cards or problems by chapter, in the book's order; chapters that follow no part of the
    lecture come last.

    >>> from types import SimpleNamespace as Card
    >>> list(
    ...     by_chapter(
    ...         [
    ...             Card(chapter="calculators"),
    ...             Card(chapter="pipelining"),
    ...             Card(chapter="latency-and-cost"),
    ...         ]
    ...     )
    ... )
    ['latency-and-cost', 'pipelining', 'calculators']
    """
    found: dict[str, list] = {}
    for thing in things:
        found.setdefault(thing.chapter, []).append(thing)
    places = {chapter: place for place, chapter in enumerate(CHAPTERS)}
    return dict(sorted(found.items(), key=lambda item: (places.get(item[0], len(places)), item[0])))


def in_book_order(things: Iterable[Any]) -> list:
    """Cards or problems one after the other, in the book's order."""
    return [thing for group in by_chapter(things).values() for thing in group]


def title(chapter: str) -> str:
    """A chapter's name for a heading.

    >>> title("balance-batch"), title("theory-and-measurement")
    ('The balance batch', 'Theory and measurement')
    """
    return CHAPTERS.get(chapter) or chapter.replace("-", " ").capitalize()
