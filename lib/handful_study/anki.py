"""Export of cards as a package for Anki, written with genanki.

A later package updates the cards that a learner has and duplicates none: a note's GUID comes from
the card's own id, so that an edited card keeps its history, and the ids of the note type and of the
decks are constants.  Anki takes over an edit where the package is newer than what it has, so the
package bears the time of its sources, and the same sources give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from handful_evidence.claims import CHAPTERS

from . import book, markup, words
from .book import card_footer
from .cards import Card
from .order import title
from .pictures import picture
from .source import folder

MODEL = 1_607_392_319  # never to change, as Anki knows the note type by it
FIELDS = ("Front", "Back", "Place", "Id")
FRONT = '<div class="front">{{Front}}</div>'
BACK = '{{FrontSide}}<hr id="answer"><div class="back">{{Back}}</div><footer>{{Place}}</footer>'
# Anki marks its page .nightMode in the dark.
STYLE = """
.card { max-width: 38em; margin: 0 auto; padding: 1em; text-align: left;
  font: 18px/1.5 system-ui, sans-serif; color: #1d2329; background: #fdfcfa; }
.front { font-weight: 600; }
hr { border: 0; border-top: 1px solid #8a939c; margin: 1em 0; }
footer { margin-top: 1.5em; font-size: 14px; color: #4d5761; }
a { color: #0b5a99; }
img { max-width: 100%; height: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.2em 0.6em; border-bottom: 1px solid #8a939c; }
pre { overflow-x: auto; }
.nightMode.card, .nightMode .card { color: #e6e3de; background: #1b1f23; }
.nightMode footer { color: #b3bac1; }
.nightMode a { color: #7ab8ee; }
""".strip()


def deck_id(chapter: str) -> int:
    """Return the id of a chapter's deck, which never changes.

    >>> deck_id("latency-and-cost") == deck_id("latency-and-cost") != deck_id("pipelining")
    True
    """
    return (
        2**30
        + int.from_bytes(hashlib.sha256(f"handful deck {chapter}".encode()).digest()[:4], "big")
        % 2**30
    )


def package(some: Iterable[Card], site: str = "", when: int | None = None) -> bytes:
    """Return the bytes of an .apkg package.

    Parameters
    ----------
    some : iterable of Card
        The cards, each chapter's into a deck of its own.
    site : str, optional
        Where the book is published; without it sections are named and not linked.
    when : int, optional
        Seconds since 1970 that the notes are of; `sources_time` by default.
    """
    import genanki

    note_type = genanki.Model(
        MODEL,
        book.TITLE,
        fields=[{"name": name} for name in FIELDS],
        css=STYLE,
        templates=[{"name": "Card", "qfmt": FRONT, "afmt": BACK}],
        sort_field_index=FIELDS.index("Id"),
    )
    decks: dict[str, genanki.Deck] = {}
    pictures: dict[str, Path] = {}
    for number, card in enumerate(some):
        if card.chapter not in decks:
            # Anki sorts decks by name; the number keeps them in the order of the book.
            place = [*CHAPTERS, card.chapter].index(card.chapter) + 1
            name = f"{book.TITLE}::{place:02} {title(card.chapter)}"
            decks[card.chapter] = genanki.Deck(
                deck_id(card.chapter), name, f"{book.TITLE}, {book.LICENCE}"
            )
        image = partial(_add_picture, pictures, f"{card.file}: {card.id}")
        front, back = (
            markup.html(words.markdown(part.text), image=image) for part in (card.front, card.back)
        )
        decks[card.chapter].add_note(
            genanki.Note(
                note_type,
                [front, back, markup.html(card_footer(card, site)), card.id],
                guid=genanki.guid_for("handful", card.id),
                tags=[card.kind, card.chapter],
                due=number,
            )
        )
    return _archive_bytes(
        genanki.Package(list(decks.values())), pictures, sources_time() if when is None else when
    )


def _add_picture(pictures: dict[str, Path], where: str, source: str) -> str:
    """Add a picture to those of the package, and return its name there."""
    path = picture(source, where)
    name = f"handful-{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}{path.suffix.lower()}"
    pictures[name] = path
    return name


def _archive_bytes(made, pictures: dict[str, Path], when: int) -> bytes:
    """Return genanki's archive compressed and with fixed dates: same cards, same bytes."""
    import json

    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "deck.apkg"
        made.write_to_file(path, timestamp=when)
        with zipfile.ZipFile(path) as archive:
            database = archive.read("collection.anki2")
    files = {
        "collection.anki2": database,
        "media": json.dumps({str(i): name for i, name in enumerate(pictures)}).encode(),
    }
    files |= {str(i): path.read_bytes() for i, path in enumerate(pictures.values())}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(
                zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED
            )
    return out.getvalue()


def sources_time() -> int:
    """Return the time of the cards' sources, in seconds since 1970.

    This is SOURCE_DATE_EPOCH where it is set, as in all reproducible builds; else the time of the
    last commit where nothing has changed since; else the time of the sources_time file.
    """
    if os.environ.get("SOURCE_DATE_EPOCH", "").isdecimal():
        return int(os.environ["SOURCE_DATE_EPOCH"])
    places = [folder(), Path(__file__).resolve().parents[1]]

    def git(*command: str) -> str:
        return subprocess.run(
            ["git", *command, "--", *map(str, places)],
            cwd=folder(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    try:
        if not git("status", "--porcelain"):
            return int(git("log", "-1", "--format=%ct"))
    except (OSError, subprocess.CalledProcessError, ValueError):
        pass  # no git here, or no repository: a package that was installed
    files = (
        path
        for place in places
        for path in place.rglob("*")
        if path.suffix in (".md", ".py", ".csv", ".toml")
    )
    return int(max(path.stat().st_mtime for path in files))
