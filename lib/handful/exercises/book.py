"""The book around cards and problems: the order of its chapters, titles of sections, and where they are published."""
from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from .source import anchors, folder

TITLE = "A Handful of Equations"
LICENCE = "CC BY 4.0"
LEVELS = {"apply": "Apply", "derive": "Derive", "judge": "Judge"}
KINDS = {"recall": "Recall", "derivation": "Derivation", "estimate": "Estimate", "misconception": "Misconception"}


def _beside(name: str) -> Path:
    """A file of the book: in a checkout at its top, in an installed package among the sources of exercises."""
    inside = folder() / name
    return inside if inside.exists() else folder().parent / name


@cache
def chapters() -> list[str]:
    """Names of the book's pages, in reading order."""
    import yaml

    path = _beside("_toc.yml")
    toc = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}
    return [entry["file"] for entry in toc.get("chapters", ()) if "file" in entry]


def in_order(items: dict) -> dict:
    """Cards or problems by id, in the order of the book's chapters and, within one, of its source file."""
    place = {name: number for number, name in enumerate(chapters())}
    return dict(sorted(items.items(), key=lambda item: place.get(item[1].chapter, len(place))))


@cache
def chapter_title(chapter: str) -> str:
    """
    >>> chapter_title("latency-and-cost")
    'Latency and cost'
    """
    for path in (folder().parent / "book" / f"{chapter}.md", folder() / "cards" / f"{chapter}.md", folder() / "problems" / f"{chapter}.md"):
        if path.exists() and (found := re.search(r"^# +(.*?)\s*$", path.read_text("utf-8"), re.M)):
            return found[1]
    return _spoken(chapter)


def section_title(chapter: str, section: str) -> str:
    """
    >>> section_title("latency-and-cost", "the-floor-under-latency")
    'The floor under latency'
    """
    title = (anchors(chapter) or {}).get(section)
    return re.sub(r"\{\w+\}`([^`]*)`", r"\1", title) if title else _spoken(section)


def _spoken(name: str) -> str:
    words = name.replace("-", " ")
    return words[:1].upper() + words[1:]


@cache
def address() -> str:
    """Where the book is published, as ``html: baseurl`` of _config.yml says; "" where it does not."""
    import yaml

    path = _beside("_config.yml")
    config = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}
    return str((config.get("html") or {}).get("baseurl") or "")


def section_link(site: str, chapter: str, section: str) -> str:
    """Markdown: the section's title, a link where the book's address is known.

    >>> section_link("https://example.org/book", "latency-and-cost", "the-floor-under-latency")
    '[The floor under latency](https://example.org/book/latency-and-cost.html#the-floor-under-latency)'
    """
    title = section_title(chapter, section)
    return f"[{title}]({site.rstrip('/')}/{chapter}.html#{section})" if site else title


def lecture_link(time: str) -> str:
    """Markdown: a link to the second of the lecture."""
    from ..ask import lecture_address

    return f"[{time}]({lecture_address(time)})"
