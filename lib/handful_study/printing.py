"""Cards and problems on paper: one self-contained HTML file, and a PDF printed by Chromium."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Iterable, Sequence
from html import escape

from . import book, markup, words
from .book import card_footer
from .cards import Card
from .maths import mathml
from .order import by_chapter, title
from .pictures import picture
from .problem_export import Drawn, right_letter
from .problem_model import Problem

STYLE = """
@page { size: A4; margin: 14mm 13mm; }
* { box-sizing: border-box; }
body { max-width: 184mm; margin: 0 auto; padding: 1em; color: #111; background: #fff;
  font: 10.5pt/1.4 system-ui, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 16pt; margin: 0 0 .2em; }
h2 { font-size: 13pt; margin: 1.2em 0 .5em; break-after: avoid; }
h3 { font-size: 10.5pt; margin: 0 0 .3em; break-after: avoid; }
p, ul, ol { margin: 0 0 .5em; }
ul, ol { padding-left: 1.4em; }
a { color: inherit; text-decoration: none; }
table { border-collapse: collapse; margin: 0 0 .5em; }
th, td { padding: .15em .5em; border-bottom: 1px solid #999; }
pre { white-space: pre-wrap; }
code { font-size: 9pt; }
img { max-width: 100%; }
math { font-size: 1.05em; }
.note { color: #444; font-size: 9pt; }
.pair { display: grid; grid-template-columns: 1fr 1fr; break-inside: avoid; min-height: 48mm;
  border: .3mm dashed #888; border-bottom-width: 0; }
.pair:last-child { border-bottom-width: .3mm; }
.pair > div { display: flex; flex-direction: column; padding: 4mm 5mm; }
.pair > div + div { border-left: .3mm dotted #bbb; }
.pair .note { margin: auto 0 0; padding-top: 2mm; }
.sheet { break-before: page; } .sheet:first-of-type { break-before: auto; }
.head { display: flex; gap: 2em; align-items: baseline; justify-content: space-between;
  border-bottom: .3mm solid #111; padding-bottom: .4em; margin-bottom: 1em; }
.problem { break-inside: avoid; margin: 0 0 1.4em; }
.problem .room { height: 32mm; border-bottom: .2mm solid #bbb; }
.problem .room.line { height: 10mm; width: 70mm; }
.choices { list-style: upper-alpha; }
.solution { break-inside: avoid; margin: 0 0 1em; }
@media screen { body { padding: 2em 1em; } }
""".strip()


def page(name: str, body: str) -> str:
    """Return a whole HTML document, which loads nothing and runs nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(name)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def html(markdown: str, where: str = "") -> str:
    """Convert Markdown to HTML with MathML, and with pictures as ``data:`` addresses."""

    def data_address(source: str) -> str:
        path = picture(source, where)
        kind, content = mimetypes.guess_type(path.name)[0], base64.b64encode(path.read_bytes())
        return f"data:{kind};base64,{content.decode()}"

    return markup.html(markdown, mathml, data_address)


def card_sheets(some: Iterable[Card], site: str = "") -> str:
    """Return cards to cut out as an HTML document, one row for each card.

    The question is on the left and the answer on the right, to be folded in between.
    """
    parts = [
        f"<h1>{book.TITLE}: cards</h1>",
        '<p class="note">Cut along the broken lines and fold along the dotted one, question '
        "outwards.</p>",
    ]
    for chapter, group in by_chapter(some).items():
        parts.append(f"<h2>{escape(title(chapter))}</h2>\n<div>")
        for card in group:
            where = f"{card.file}: {card.id}"
            front, back = (
                html(words.markdown(part.text), where) for part in (card.front, card.back)
            )
            parts.append(
                f'<div class="pair"><div>{front}<p '
                f'class="note">{escape(card.kind.capitalize())}</p></div>'
                f'<div>{back}<div class="note">{html(card_footer(card, site))}</div></div></div>'
            )
        parts.append("</div>")
    return page(f"{book.TITLE}: cards", "\n".join(parts))


def problem_sheets(some: Sequence[Problem], seeds: Sequence[int], solutions: bool = False) -> str:
    """Return a problem sheet for each seed, with room for answers.

    With `solutions`, each sheet is followed by a page with its solutions.
    """
    parts = []
    for seed in seeds:
        drawn = {problem.id: Drawn(problem, seed) for problem in some}
        parts.append(
            f'<section class="sheet">\n<h1>{book.TITLE}: problems</h1>\n'
            f'<div class="head"><span>Name:</span><span>Date:</span><span>Sheet {seed}</span></div>'
        )
        number = 0
        for chapter, group in by_chapter(some).items():
            parts.append(f"<h2>{escape(title(chapter))}</h2>")
            for problem in group:
                number += 1
                parts.append(_problem(number, drawn[problem.id]))
        parts.append("</section>")
        if solutions:
            parts.append(f'<section class="sheet">\n<h1>Solutions of sheet {seed}</h1>')
            ordered = [
                drawn[problem.id] for group in by_chapter(some).values() for problem in group
            ]
            parts += [_solution(number, one) for number, one in enumerate(ordered, 1)]
            parts.append("</section>")
    return page(f"{book.TITLE}: problems", "\n".join(parts))


def _problem(number: int, drawn: Drawn) -> str:
    where = f"{drawn.problem.entry.file}: {drawn.id}"
    if drawn.choices:
        room = (
            '<ol class="choices">'
            + "".join(f"<li>{html(text, where)}</li>" for text, _, _ in drawn.choices)
            + "</ol>"
        )
    else:
        room = f'<div class="room{" line" if drawn.kind == "expression" else ""}"></div>'
    return (
        f'<article class="problem">\n<h3>{number}. <span '
        f'class="note">{drawn.problem.level.capitalize()}</span></h3>\n'
        f"{html(drawn.text, where)}\n{room}\n</article>"
    )


def _solution(number: int, drawn: Drawn) -> str:
    result = (
        f"{right_letter(drawn)}. " if drawn.choices else f"{drawn.shown}. " if drawn.shown else ""
    )
    where = f"{drawn.problem.entry.file}: {drawn.id}"
    return (
        f'<article class="solution">\n<h3>{number}. {escape(result)}</h3>\n'
        f"{html(drawn.solution, where)}\n<div "
        f'class="note">{html(book.section_and_lecture(drawn.problem))}</div>\n</article>'
    )


def pdf(html: str) -> bytes:
    """Print a document to PDF, with a Chromium of this machine."""
    from handful.cli import MissingError

    from .browser import find_browser

    browser = find_browser()
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError:
        browser = None
    if not browser:
        raise MissingError(
            "A PDF needs Chromium or Chrome and the package playwright (pip install playwright); "
            "without --pdf you get HTML, "
            "which any browser prints the same."
        )
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser, args=["--disable-gpu"])
            try:
                tab = chromium.new_page()
                tab.set_content(html, wait_until="load")
                return tab.pdf(prefer_css_page_size=True, print_background=True)
            finally:
                chromium.close()
    except Error as error:
        raise MissingError(f"Chromium could not print: {str(error).splitlines()[0]}") from None
