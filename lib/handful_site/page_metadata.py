"""The description of a page and its card for other sites, in its head."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from urllib.parse import urljoin

BOOK = "A Handful of Equations"


def text_of(tag) -> str:
    """Return the words of an element.

    Badges, times of the lecture and maths that is still to be set are left out.

    >>> from bs4 import BeautifulSoup
    >>> text_of(
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
            listed[link["href"]] = text_of(said)
    found = {}
    for page, soup in pages.items():
        own = [
            text_of(tag)
            for tag in soup.select("article.article section > p")
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
        title = text_of(heading) if heading else BOOK
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
