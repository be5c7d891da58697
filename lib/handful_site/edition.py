"""The edition of the book, by the date that CITATION.cff says, and the addresses of its pages."""

from __future__ import annotations

import re
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import yaml

from .bootstrap import ROOT


class Edition(NamedTuple):
    """A release of the book: its version, and its date, by which readers call it."""

    version: str
    date: date

    @property
    def title(self) -> str:
        """Return the name of the edition, as a title.

        >>> Edition("0.1.0", date(2026, 11, 5)).title
        'Edition of 5 November 2026'
        """
        return f"Edition of {self.date.day} {self.date:%B %Y}"

    @property
    def name(self) -> str:
        """Return the name of the edition, for use within a sentence."""
        return self.title.replace("E", "e", 1)


@cache
def current(citation: Path = ROOT / "CITATION.cff") -> Edition:
    """Return the edition of the sources, from CITATION.cff."""
    said = yaml.safe_load(citation.read_text("utf-8"))
    return Edition(str(said["version"]), date.fromisoformat(str(said["date-released"])))


def address(base: str, page: str) -> str:
    """Return the address of a page of a published site.

    >>> (
    ...     address("https://example.org/book/", "index.html"),
    ...     address("https://example.org/book/", "about.html"),
    ... )
    ('https://example.org/book/', 'https://example.org/book/about.html')
    """
    return urljoin(base, re.sub(r"(^|/)index\.html$", r"\1", page))
