"""The head of a page: its icons, its description, and its card for other sites."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from urllib.parse import urljoin

BOOK = "A Handful of Equations"

PAPER = {"light": "#fdfcf8", "dark": "#12181d"}


def icons(soup, up: str) -> None:
    """Add the icons (see icons.py), and the colour of a phone's bars above the page."""
    new, static = soup.new_tag, f"{up}_static/handful/"
    for old in soup.head.select('link[rel~="icon"]'):
        old.decompose()
    soup.head.extend(
        [
            new("link", rel="icon", type="image/svg+xml", href=static + "favicon.svg"),
            new("link", rel="apple-touch-icon", href=static + "apple-touch-icon.png"),
            *(
                new(
                    "meta",
                    attrs={
                        "name": "theme-color",
                        "content": colour,
                        "media": f"(prefers-color-scheme: {scheme})",
                    },
                )
                for scheme, colour in PAPER.items()
            ),
        ]
    )


def place(soup, page: str) -> None:
    """Mark the first page with a class, chapters with their number, and the lede of a page."""
    if page == "index.html" and soup.select_one("figure.explorer"):
        soup.body["class"] = [*soup.body.get("class", []), "is-front"]
    first = soup.select_one("article.bd-article h1 + p")
    if first and len(first.get_text()) <= 230:  # longer ones read as text
        first["class"] = [*first.get("class", []), "lede"]
    lists = soup.select(".bd-links .bd-toc-item > ul:not(.bd-sidenav__home-link)")
    chapters = lists[0].select("li.toctree-l1") if len(lists) > 1 else []
    title = soup.select_one("article.bd-article h1")
    for number, entry in enumerate(chapters, 1):
        if title and "current" in entry.get("class", []):
            line = soup.new_tag("p", attrs={"class": "eyebrow"})
            line.string = f"Chapter {number}"
            title.insert_before(line)


def plain(tag) -> str:
    """Return the words of an element.

    Badges, times of the lecture and maths that is still to be set are left out.

    >>> from bs4 import BeautifulSoup
    >>> plain(
    ...     BeautifulSoup(
    ...         '<p>Six times the price (<a class="lecture-time">1:05</a>) '
    ...         '<a class="claim">holds</a>.</p>',
    ...         "html.parser",
    ...     )
    ... )
    'Six times the price.'
    """
    tag = copy.copy(tag)
    for extra in tag.select(".claim, .lecture-time, .headerlink, .katex"):
        extra.decompose()
    text = re.sub(r"\ue000\d+\ue001|\(\s*\)", "", tag.get_text(" ", strip=False))
    return re.sub(r"\s+([.,;:)])", r"\1", " ".join(text.split()))


def shortened(text: str, most: int = 160) -> str:
    """Return whole sentences up to about `most` characters.

    There is at least one sentence, which is cut at a word where it is much longer.

    >>> shortened("One sentence. Another one.", 20)
    'One sentence.'
    """
    kept = ""
    for sentence in re.split(r"(?<=[.?!]) ", text):
        if kept and len(kept) + len(sentence) >= most:
            break
        kept = f"{kept} {sentence}".strip()
    return kept if len(kept) <= most * 1.6 else kept[:most].rsplit(" ", 1)[0] + " …"


def descriptions(pages: dict) -> dict[str, str]:
    """Return a line for each page: the first page's line on it, else its own first sentences."""
    front = pages.get("index.html")
    listed = {}
    for term in front.select("article dl > dt") if front else ():
        link, said = term.find("a", href=True), term.find_next_sibling("dd")
        if link and said:
            listed[link["href"]] = plain(said)
    found = {}
    for page, soup in pages.items():
        own = [
            plain(tag)
            for tag in soup.select("article.bd-article section > p")
            if "eyebrow" not in tag.get("class", [])
        ]
        title = soup.title.get_text(" ", strip=True) if soup.title else BOOK
        text = listed.get(page) or next(
            (words for words in own if len(words) > 40), f"{title}, a page of the book {BOOK}."
        )
        found[page] = shortened(text)
    return found


def describe(pages: dict, site: Path, root: Path) -> None:
    """Put description and card into every page's head.

    A card needs the address of the site: the page's canonical link, which Sphinx writes where
    ``html_baseurl`` is set.
    """
    from . import social

    for page, text in descriptions(pages).items():
        soup = pages[page]
        for old in soup.head.select(
            'meta[name="description"], meta[property^="og:"], meta[name^="twitter:"]'
        ):
            old.decompose()
        heading, above = soup.select_one("article h1"), soup.select_one(".eyebrow")
        title = plain(heading) if heading else BOOK
        canonical = soup.head.select_one('link[rel~="canonical"]')
        told = {
            "og:type": "website" if page == "index.html" else "article",
            "og:site_name": BOOK,
            "og:title": title,
            "og:description": text,
        }
        if canonical and canonical.get("href") and heading:
            figure = soup.select_one("figure.explorer")
            name = f"_static/social/{page.removesuffix('.html').replace('/', '-')}.png"
            social.write(
                site / name,
                root / "_build" / "social",
                root,
                title,
                text,
                above.get_text() if above else "",
                figure["id"].removeprefix("explorer-") if figure else "",
                str(figure.select_one(".explorer-static")) if figure else "",
            )
            told |= {
                "og:url": canonical["href"],
                "og:image:width": str(social.SIZE[0]),
                "og:image:height": str(social.SIZE[1]),
                "og:image": urljoin(canonical["href"], "../" * page.count("/") + name),
            }
        soup.head.append(soup.new_tag("meta", attrs={"name": "description", "content": text}))
        soup.head.append(
            soup.new_tag(
                "meta",
                attrs={
                    "name": "twitter:card",
                    "content": "summary_large_image" if "og:image" in told else "summary",
                },
            )
        )
        soup.head.extend(
            [
                soup.new_tag("meta", attrs={"property": key, "content": value})
                for key, value in told.items()
            ]
        )
