"""Cards as files: an Anki package, CSV for spreadsheets, Markdown, JSON.

Each card keeps its id in all of them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

from ..spreadsheet import harmless
from . import book, words
from .cards import Card, cards
from .order import title

FORMATS = {"anki": ".apkg", "csv": ".csv", "markdown": ".md", "json": ".json"}


class ExportError(ValueError):
    """Something that cannot be exported, in one sentence."""


def chosen(chapter: str | None = None) -> list[Card]:
    """The cards of a chapter, or all, in book order."""
    return book.of_chapter(cards(), "cards", chapter)


def as_object(card: Card, site: str = "") -> dict:
    """A card as plain values; front and back are Markdown with ``$…$`` for maths, numbers those of
    the book's first scenario.
    """
    from ..ask import lecture_address

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
    made = {
        "title": book.TITLE,
        "licence": book.LICENCE,
        "cards": [as_object(card, site) for card in some],
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def as_csv(some: Iterable[Card]) -> str:
    """A table for spreadsheets: with their mark for UTF-8, and no cell that they would run as a
    formula.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["id", "chapter", "kind", "front", "back"])
    for card in map(as_object, some):
        writer.writerow(
            map(
                harmless,
                (card["id"], card["chapter_title"], card["kind"], card["front"], card["back"]),
            )
        )
    return "\ufeff" + out.getvalue()


def as_markdown(some: Iterable[Card], site: str = "") -> str:
    """All cards to read: a heading a chapter, a heading a card, front and back parted by a line."""
    lines, chapter = [f"# {book.TITLE}: cards\n"], None
    for card in some:
        if card.chapter != chapter:
            chapter = card.chapter
            lines.append(f"## {title(chapter)}\n")
        lines.append(
            f"### {card.id}\n\n*{foot(card, site)}*\n\n{words.markdown(card.front.text)}\n\n---\n"
            f"\n{words.markdown(card.back.text)}\n"
        )
    return "\n".join(lines)


def foot(card: Card, site: str = "") -> str:
    """What stands under a card, in Markdown."""
    return f"{card.kind.capitalize()} · {book.place(card, site)}"


def export(kind: str, some: Iterable[Card], site: str = "") -> bytes:
    """The file of a format of `FORMATS`."""
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
    """Every format of all cards into a folder, for readers to take along."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for kind, suffix in FORMATS.items():
        path = folder / f"cards{suffix}"
        path.write_bytes(export(kind, chosen(), book.address()))
        made.append(path)
    return made
