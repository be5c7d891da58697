"""Editions: the date that this one bears, and earlier ones published beside it.

CITATION.cff says when the edition was released; each page says it at its foot.  An earlier edition
is the folder that was published then; under ``editions/DATE/`` of the newest it keeps its pages,
each with a note that leads to the newest.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import yaml
from bs4 import BeautifulSoup

from .bootstrap import ROOT
from .elements import classes, having, one, set_classes, value

FOLDER = "editions"
# What a page has to itself.
OWN = (
    'link[rel="canonical"]',
    'link[rel="prev"]',
    'link[rel="next"]',
    'meta[name="description"]',
    'meta[property^="og:"]',
    'meta[name^="twitter:"]',
    ".prev-next-footer",
    ".bd-sidebar-secondary",
    "#jb-print-docs-body",
    ".dropdown-download-buttons",
    "button.secondary-toggle",
)


class EditionError(RuntimeError):
    """A fault of an edition, described in one sentence."""


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


def sign(soup: BeautifulSoup, page: str, base: str = "", earlier: Sequence[str] = ()) -> None:
    """Write the edition into a page: its date, its address, and the earlier editions.

    The date goes to the page's foot, the canonical link to its head, and the list of earlier
    editions to the errata.
    """
    foot = soup.select_one(".bd-footer-content .extra_footer")
    if foot:
        up = "../" * page.count("/")
        foot.append(
            BeautifulSoup(
                f'<p class="edition">{current().title} · <a href="{up}errata.html">Errata and '
                "editions</a></p>",
                "html.parser",
            )
        )
    if base and page not in ("search.html", "genindex.html"):
        for tag in soup.select('link[rel="canonical"]'):
            tag.decompose()
        one(soup, "head").append(soup.new_tag("link", rel="canonical", href=address(base, page)))
    if earlier and page == "errata.html":
        rows = "".join(
            "<li><a "
            f'href="{FOLDER}/{name}/index.html">{Edition("", date.fromisoformat(name)).title}</a>'
            "</li>"
            for name in earlier
        )
        one(soup, "article h1").insert_after(
            BeautifulSoup(
                f"<p>Earlier ones, as they were published:</p><ul>{rows}</ul>", "html.parser"
            )
        )


def earlier_in(archive: Path) -> list[str]:
    """Return the names of the earlier editions in a folder, newest first.

    The folder holds a folder for each, as it was published, named by its date.
    """
    names = sorted((path.name for path in archive.iterdir() if path.is_dir()), reverse=True)
    for name in names:
        try:
            released = date.fromisoformat(name)
        except ValueError:
            raise EditionError(
                f"{archive.name}/{name} is no earlier edition: such a folder is named by a date, "
                "like 2026-11-21."
            ) from None
        if released >= current().date:
            raise EditionError(
                f"{archive.name}/{name} is not earlier than this edition, of {current().date}; "
                "set date-released in CITATION.cff."
            )
        if not (archive / name / "index.html").exists():
            raise EditionError(
                f"{archive.name}/{name} holds no index.html, so it is no published edition."
            )
    return names


# An earlier edition reads from the host: its pages have changed by a note, so its worker would
# refuse them.
RETIRED = (
    'addEventListener("install", () => skipWaiting());\naddEventListener("activate", (event) '
    "=> event.waitUntil(registration.unregister()));\n"
)


def add(site: Path, old: Path, base: str = "") -> None:
    """Copy an earlier edition into the site, with a note on each of its pages.

    The note leads to the same page of the newest edition.
    """
    edition = Edition("", date.fromisoformat(old.name))
    place = site / FOLDER / str(edition.date)
    # Its own earlier editions stand beside it now; what spoke for the whole host is the newest's to
    # say.
    shutil.copytree(
        old,
        place,
        ignore=lambda folder, names: (
            {
                FOLDER,
                "robots.txt",
                "sitemap.xml",
                "_headers",
                "_redirects",
                ".htaccess",
                "nginx.conf",
                "404.html",
            }
            & set(names)
            if Path(folder) == old
            else set()
        ),
    )
    if (place / "sw.js").exists():
        (place / "sw.js").write_text(RETIRED, "utf-8")
    for path in place.rglob("*.html"):
        page = path.relative_to(place).as_posix()
        up = "../" * (page.count("/") + 2)
        newest = page if (site / page).exists() else "index.html"
        soup = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        for tag in soup.select('link[rel="canonical"]'):
            tag.decompose()
        if base:
            canonical = soup.new_tag("link", rel="canonical", href=address(base, newest))
            one(soup, "head").append(canonical)
        for article in soup.select("article.bd-article"):
            what = (
                "this page as it is now"
                if newest == page
                else "the newest edition, which has no such page"
            )
            article.insert(
                0,
                BeautifulSoup(
                    '<div class="admonition note earlier-edition" role="note">'
                    '<p class="admonition-title">An earlier edition</p>'
                    f"<p>This page is of the {edition.name}. Read <a "
                    f'href="{up}{newest}">{what}</a>, or '
                    f'<a href="{up}errata.html">what has been corrected since</a>.</p></div>',
                    "html.parser",
                ),
            )
        path.write_text(str(soup), "utf-8")


def like(about: str, title: str, body: str, place: str) -> BeautifulSoup:
    """Return a page with the book's design and other text.

    It is made from the page "about"; its relative addresses then start from `place`.
    """
    soup = BeautifulSoup(about, "html.parser")
    for rule in OWN:
        for tag in soup.select(rule):
            tag.decompose()
    for tag in soup.select(".current, [aria-current]"):
        set_classes(tag, [name for name in classes(tag) if name not in ("current", "active")])
        del tag["aria-current"]
    for name in ("href", "src", "action", "data-boxes"):
        for tag in having(soup, name):
            if not re.match(r"#|/|[a-z]+:", value(tag, name)):
                tag[name] = place + value(tag, name)
    one(soup, "html")["data-content_root"] = place
    one(soup, "title").string = f"{title} — A Handful of Equations"
    article = one(soup, "article.bd-article")
    article.clear()
    article.append(BeautifulSoup(f"<section><h1>{title}</h1>{body}</section>", "html.parser"))
    return soup
