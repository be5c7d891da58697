"""Export of cards: an Anki package, CSV for spreadsheets, Markdown, JSON.

Each card keeps its id in all of them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

from . import book, words
from .cards import Card, cards
from .order import title
from .spreadsheet import escape_cell

FORMATS = {"anki": ".apkg", "csv": ".csv", "markdown": ".md", "json": ".json"}


def cards_of_chapter(chapter: str | None = None) -> list[Card]:
    """Return the cards of a chapter, or all, in book order."""
    return book.of_chapter(cards(), "cards", chapter)


def as_object(card: Card, site: str = "") -> dict:
    """Return a card as plain values.

    Front and back are Markdown with ``$…$`` for maths; numbers are those of the book's first
    scenario.
    """
    from handful.query import lecture_address

    return {
        "id": card.id,
        "kind": card.kind,
        "chapter": card.chapter,
        "chapter_title": title(card.chapter),
        "section": card.section,
        "section_title": book.section_title(card.chapter, card.section),
        "section_address": book.section_address(site, card.chapter, card.section),
        "lecture": card.lecture,
        "lecture_address": lecture_address(card.lecture) if card.lecture else None,
        "front": words.markdown(card.front.text),
        "back": words.markdown(card.back.text),
    }


def as_json(some: Iterable[Card], site: str = "") -> str:
    """Return the cards as a JSON document."""
    made = {
        "title": book.TITLE,
        "licence": book.LICENCE,
        "cards": [as_object(card, site) for card in some],
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def as_csv(some: Iterable[Card]) -> str:
    """Return the cards as a CSV table for spreadsheets.

    It begins with the byte order mark by which spreadsheets recognise UTF-8, and no cell can be run
    as a formula.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["id", "chapter", "kind", "front", "back"])
    for card in map(as_object, some):
        writer.writerow(
            map(
                escape_cell,
                (card["id"], card["chapter_title"], card["kind"], card["front"], card["back"]),
            )
        )
    return "\ufeff" + out.getvalue()


def as_markdown(some: Iterable[Card], site: str = "") -> str:
    """Return the cards as one Markdown document, with a heading for each chapter and card.

    A horizontal line separates front and back.
    """
    lines, chapter = [f"# {book.TITLE}: cards\n"], None
    for card in some:
        if card.chapter != chapter:
            chapter = card.chapter
            lines.append(f"## {title(chapter)}\n")
        lines.append(
            f"### {card.id}\n\n*{book.card_footer(card, site)}*\n\n"
            f"{words.markdown(card.front.text)}\n\n---\n\n{words.markdown(card.back.text)}\n"
        )
    return "\n".join(lines)


def export(kind: str, some: Iterable[Card], site: str = "") -> bytes:
    """Return the bytes of a file in one of the formats of `FORMATS`."""
    if kind == "anki":
        from .anki import package

        return package(some, site)
    made = {
        "csv": as_csv,
        "markdown": lambda some: as_markdown(some, site),
        "json": lambda some: as_json(some, site),
    }[kind]
    return made(some).encode("utf-8")


def site_files(folder: Path) -> list[Path]:
    """Write all cards into a folder, in every format, for readers to download."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for kind, suffix in FORMATS.items():
        path = folder / f"cards{suffix}"
        path.write_bytes(export(kind, cards_of_chapter(), book.address()))
        made.append(path)
    return made
