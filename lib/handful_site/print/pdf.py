"""The book on paper: one document, printed by Chromium, with bookmarks, links and page numbers.

``make pdf`` writes it.

Chromium numbers pages but does not support cross-references to page numbers (CSS's target-counter).
So the book is printed twice: the page of each place is read from the first print and written into
the second.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

from .. import bootstrap
from ..bootstrap import ROOT
from ..elements import one, value
from . import book, cover
from .book import BookError, Page

PAPERS = {"a4": "210mm 297mm", "letter": "215.9mm 279.4mm"}
FONTS = (
    "source-serif-4/400",
    "source-serif-4/400-italic",
    "source-serif-4/600",
    "source-serif-4/600-italic",
    "source-sans-3/400",
    "source-sans-3/600",
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
]
MOST_PRINTS = 4


def page_rules(pages: Sequence[Page], title: str, paper: str) -> str:
    """Return the CSS of the running heads.

    The book's title is on the left page, the chapter's on the right, and the page number outside.
    """
    font = (
        'font: 8.6pt "Source Sans 3", sans-serif; color: #4d555e; padding-bottom: 5mm; '
        "vertical-align: bottom;"
    )
    rules = [f"@page {{ size: {PAPERS[paper]}; margin: 25mm 24mm 22mm; }}", "@page bare { }"]
    for page in pages:
        head = f"{page.number}  {page.title}" if page.number else page.title
        rules += [
            f"#{page.name} {{ page: {ident(page.name)}; }}",
            f'@page {ident(page.name)}:right {{ @top-left {{ content: "{css(head)}"; {font} '
            f"white-space: nowrap; }} "
            f"@top-right {{ content: counter(page); {font} }} }}",
            f"@page {ident(page.name)}:left {{ @top-left {{ content: counter(page); {font} }} "
            f'@top-right {{ content: "{css(title)}"; {font} white-space: nowrap; }} }}',
        ]
    return "\n".join(rules)


def ident(name: str) -> str:
    """Return the name of a page's @page rule."""
    return "p-" + name


def css(text: str) -> str:
    """Return a text escaped for a CSS string."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def number(target: str) -> str:
    """Return the placeholder for the page number of a place."""
    return f'<span class="pn" data-pn="{target}">000</span>'


def contents(pages: Sequence[Page]) -> str:
    """Return the table of contents, with placeholders for page numbers."""

    def entry(page: Page) -> str:
        sections = "".join(
            f'<li><a href="#{value(section, "id")}">{escape(section.h2.get_text().strip())}'
            f"{number(value(section, 'id'))}</a></li>"
            for section in page.body.find_all("section", recursive=False)
            if section.h2 and page.kind in ("chapter", "preface")
        )
        count = f'<span class="count">{page.number}</span>' if page.number else ""
        inner = f"<ol>{sections}</ol>" if sections else ""
        return (
            f'<li><a href="#{page.name}"><span>{count}{escape(page.title)}</span>'
            f"{number(page.name)}</a>{inner}</li>"
        )

    return (
        '<section class="contents" id="contents"><h1>Contents</h1>'
        f"<ol>{''.join(map(entry, pages))}</ol></section>"
    )


def document(raw: Path, pages: Sequence[Page], formulas: Sequence[str], paper: str) -> str:
    """Return the whole book as one HTML document, with placeholders for page numbers."""
    told, here, packages, pages = (
        book.edition(),
        Path(__file__).parent,
        ROOT / "node_modules",
        book.copies(pages),
    )
    for page in pages:
        for link in page.body.select("a.see"):
            link.append(", page ")
            link.append(book.new("span", "000", class_="pn", data_pn=value(link, "href")[1:]))
        for link in page.body.select("a.use"):
            link.string = ""
            link.append(book.new("span", "000", class_="pn", data_pn=value(link, "href")[1:]))
        for picture in page.body.select("img[src]"):
            picture["src"] = (raw / "_images" / Path(value(picture, "src")).name).as_uri()
        if page.number:
            one(page.body, "h1").insert(
                0, book.new("span", f"Chapter {page.number}", class_="number")
            )
    texts = [
        book.printed(page.body, formulas, book.visible).replace("data_pn", "data-pn")
        for page in pages
    ]
    sheets = [
        packages / "katex/dist/katex.min.css",
        *(packages / "@fontsource" / f"{font}.css" for font in FONTS),
        here / "edition.css",
        here / "paper.css",
    ]
    links = "".join(f'<link rel="stylesheet" href="{sheet.as_uri()}">' for sheet in sheets)
    front = (
        f'<section class="title-page"><h1>{escape(told["title"])}</h1>'
        '<p class="subtitle">The mathematics of how large language models '
        f"are trained and served</p>{cover.drawing()}<p "
        f'class="foot">{escape(told["author"])}<br>{told["name"]}</p></section>'
        '<section class="colophon" id="colophon"><h2>About this '
        f"edition</h2>{''.join(f'<p>{text}</p>' for text in book.colophon(told))}</section>"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(told['title'])}</title>"
        f'<meta name="author" content="{escape(told["author"])}">{links}'
        f"<style>{page_rules(pages, told['title'], paper)}</style></head>"
        f"<body>{front}{contents(pages)}{''.join(texts)}</body></html>"
    )


def fill(text: str, where: dict[str, int]) -> str:
    """Write page numbers into a document; in the index of terms a page is named once.

    >>> fill('<p>See page <span class="pn" data-pn="a">000</span>.</p>', {"a": 7})
    '<p>See page <span class="pn" data-pn="a">7</span>.</p>'
    """
    text = re.sub(
        r'(<span class="pn" data-pn="([^"]*)">)[^<]*',
        lambda m: m[1] + str(where.get(m[2], "")),
        text,
    )
    return re.sub(r'<li class="term">.*?</li>', _pages_once, text, flags=re.S)


def _pages_once(line: re.Match) -> str:
    head, *_ = line[0].removesuffix("</li>").split('<a class="use"')
    first = {
        use.rpartition("</span>")[0].rpartition(">")[2]: use
        for use in reversed(re.findall(r'<a class="use".*?</a>', line[0], re.S))
    }
    return (
        head
        + ", ".join(first[page] for page in sorted(first, key=lambda page: int(page or 0)))
        + "</li>"
    )


def places(path: Path) -> dict[str, int]:
    """Return the page number of each link target in the document."""
    import pikepdf

    with pikepdf.open(path) as found:
        numbers: dict[Any, int] = {page.objgen: i for i, page in enumerate(found.pages, 1)}
        return {
            str(name).lstrip("/"): numbers[where[0].objgen]
            for name, where in found.Root.Dests.items()
        }


def write(
    target: Path,
    raw: Path,
    pages: Sequence[Page],
    formulas: Sequence[str],
    paper: str = "a4",
    say=print,
) -> int:
    """Write the PDF and return its number of pages."""
    return print_book(document(raw, pages, formulas, paper), target, say)


def print_book(text: str, target: Path, say=print) -> int:
    """Print a document until its page numbers are correct, and return how many pages it has."""
    from playwright.sync_api import sync_playwright

    browser = bootstrap.find_browser()
    if browser is None:
        raise BookError(
            "No Chromium on this machine prints the PDF; run `make browser`, or set "
            "HANDFUL_BROWSER to one."
        )
    where: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        source, first = Path(folder) / "book.html", Path(folder) / "book.pdf"
        chromium = driver.chromium.launch(executable_path=browser, args=FLAGS)
        page = chromium.new_page()
        page.set_default_timeout(0)
        lost: list[str] = []
        page.on("requestfailed", lambda request: lost.append(request.url))
        for turn in range(1, MOST_PRINTS + 1):
            source.write_text(fill(text, where) if where else text, "utf-8")
            page.goto(source.as_uri(), wait_until="load")
            page.evaluate(
                "Promise.all([...document.fonts].map((face) => face.load())).then(() => null)"
            )
            if lost:
                raise BookError(f"The PDF asks for a file that is not there: {lost[0]}")
            page.pdf(
                path=first,
                prefer_css_page_size=True,
                print_background=True,
                outline=True,
                tagged=True,
            )
            found = places(first)
            say(
                f"    print {turn}: the last place that a link leads to is on page "
                f"{max(found.values(), default=0)}"
            )
            # A place that the index named twice on a page is no longer led to.
            if where and all(found.get(name, at) == at for name, at in where.items()):
                break
            where |= found
        else:
            raise BookError(f"The page numbers of the PDF did not settle in {MOST_PRINTS} prints.")
        chromium.close()
        missing = sorted(set(re.findall(r'data-pn="([^"]*)"', text)) - set(where))
        if missing:
            raise BookError(
                "The PDF has no place for "
                f"{', '.join(missing[:5])}{' and others' if missing[5:] else ''}."
            )
        return finish(first, target)


def finish(source: Path, target: Path) -> int:
    """Write the metadata into the PDF, compress it, and return its number of pages.

    The edition's date stands for the time of creation; compression leaves a third of the size.
    """
    import pikepdf

    told = book.edition()
    day = date.fromisoformat(told["date"]).strftime("D:%Y%m%d000000Z")
    target.parent.mkdir(parents=True, exist_ok=True)
    with pikepdf.open(source) as made:
        for key, value in {
            "Title": told["title"],
            "Author": told["author"],
            "Subject": told["summary"],
            "Keywords": "CC BY 4.0",
            "CreationDate": day,
            "ModDate": day,
            "Creator": "handful",
        }.items():
            made.docinfo[f"/{key}"] = pikepdf.String(value)
        made.save(
            target, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True
        )
        return len(made.pages)
