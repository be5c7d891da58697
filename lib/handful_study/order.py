"""The order of cards and problems in the book: by chapter, then as in their files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from handful_evidence.claims import CHAPTERS


def by_chapter(things: Iterable[Any]) -> dict[str, list]:
    """Group cards or problems by chapter, in the book's order.

    Chapters that belong to no part of the lecture come last.

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
    """Return cards or problems in the book's order."""
    return [thing for group in by_chapter(things).values() for thing in group]


def title(chapter: str) -> str:
    """Return a chapter's name for a heading.

    >>> title("balance-batch"), title("theory-and-measurement")
    ('The balance batch', 'Theory and measurement')
    """
    return CHAPTERS.get(chapter) or chapter.replace("-", " ").capitalize()
