"""The book as one document, for paper and for e-readers: ``make pdf``, ``make epub``.

`gather` takes the pages as Sphinx wrote them, in the order of ``_toc.yml``, and keeps what belongs
in a book: elements that only serve the site are removed, questions and problems point to an
appendix with their answers, and every link leads to a place in the book itself or out of it.  `pdf`
and `epub` write what it returns.
"""

from __future__ import annotations

import copy
import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from bs4 import BeautifulSoup, NavigableString, PageElement, Tag

from handful import scenario
from handful_study.check import right_choice
from handful_study.problems import problem

from .. import edition as editions
from .. import formula_cells, postprocess
from ..bootstrap import ROOT
from ..elements import one, set_classes, value

# Pages that are nothing without scripts, those for teachers, which are about commands and files,
# and the reference of formulas, whose hundreds of calls are there to be copied.
LEFT_OUT = {
    *("review", "practice", "progress", "teaching", "assignments", "administrators", "formulas")
}
BACK = "To look up"  # the part of _toc.yml that follows the answers
# What a reader of the site uses and a reader of a book cannot.
FURNITURE = (
    "script",
    "template",
    "noscript",
    "form",
    "button",
    "input",
    "select",
    ".headerlink",
    ".explorer-data",
    ".ledger-tools",
    ".problems-about",
    ".problem-turns",
    ".card-foot",
    ".toctree-wrapper",
    ".yours",
    ".entry-id",
    ".only-on-site",
    ".bound-files",
    "wbr",
)
PLAIN = (
    "span.live",
    "span.fact",
    "span.given",
    "span.drawn",
    "span.std",
    "span.doc",
    "span.pre",
    "span.bibtex-citation",
)
KEPT = {
    "id",
    "class",
    "href",
    "src",
    "alt",
    "title",
    "lang",
    "role",
    "scope",
    "colspan",
    "rowspan",
    "start",
    "type",
    "data-tex",
    "data-display",
    "aria-label",
    "aria-labelledby",
    "aria-hidden",
}


class BookError(RuntimeError):
    """Something that would be missing from an edition; the message names the page."""


@dataclass
class Page:
    """A chapter, or another part of the book that begins on a page of its own.

    `body` is its <section>, whose id is `name`; ids within it begin with the name of the page that
    they came from.  `number` is that of a chapter, and 0 elsewhere; `kind` is "preface", "chapter",
    "answers" or "back".
    """

    name: str
    title: str
    number: int
    kind: str
    body: Tag


def edition() -> dict:
    """Return the metadata of this edition, from CITATION.cff.

    `date` is in ISO format, `name` is what readers call the edition.

    >>> sorted(edition())
    ['author', 'date', 'name', 'summary', 'title', 'version']
    """
    told, now = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8")), editions.current()
    return {
        "title": told["title"],
        "author": told["authors"][0]["name"],
        "date": now.date.isoformat(),
        "name": now.title,
        "version": now.version,
        "summary": " ".join(told["abstract"].split()),
    }


def colophon(told: dict) -> list[str]:
    """Return the paragraphs that tell a reader what this file is."""
    first = scenario.DEFAULT
    return [
        f"{told['name']}, version {told['version']}. Text under CC BY 4.0, code under the MIT "
        "licence.",
        "This is the still form of an interactive book. Where the text says drag or choose, the "
        "book as a site moves; here each plot "
        "stands at its first setting, and each computed number is for one scenario: "
        f"{first['hardware']}, {first['model']}, {first['precision']}, a context of "
        f"{first['context']:,} tokens.",
        "Problems show one draw of their numbers. Hints, solutions and the answers to each "
        "chapter's questions are in the appendix. "
        "Times such as 16:30 link to that moment of the lecture, and a verdict such as "
        "\u201c\u2713 holds\u201d leads to the claim in the ledger.",
    ]


def listed(toc: dict) -> list[tuple[str, str]]:
    """Return the pages of a table of contents with their kind, except those left out.

    >>> listed(
    ...     {
    ...         "root": "index",
    ...         "parts": [
    ...             {
    ...                 "caption": "The lecture",
    ...                 "chapters": [{"file": "pipelining"}, {"file": "review"}],
    ...             },
    ...             {"caption": "To look up", "chapters": [{"file": "claims"}]},
    ...         ],
    ...     }
    ... )
    [('index', 'preface'), ('pipelining', 'chapter'), ('claims', 'back')]
    """
    found = [(toc["root"], "preface")]
    for part in toc.get("parts", ()):
        found += [
            (entry["file"], "back" if part.get("caption") == BACK else "chapter")
            for entry in part["chapters"]
        ]
    return [(name, kind) for name, kind in found if name not in LEFT_OUT]


def collect_pages(raw: Path, pages: Sequence[tuple[str, str]], whole: bool = True) -> list[Page]:
    """Return the pages of an edition, in order.

    Parameters
    ----------
    raw : Path
        What Sphinx wrote.
    pages : sequence of (name, kind)
        See `listed`.
    whole : bool
        Whether these are all pages; in a part of the book, links to other pages become text.

    Raises
    ------
    BookError
        Where a page is missing, or a link leads nowhere.
    """
    found: list[Page] = []
    tops: dict[str, str] = {}
    answers, number = new("section", id="answers"), 0
    answers.append(heading("h1", "Answers"))
    for name, kind in pages:
        if not (raw / f"{name}.html").exists():
            raise BookError(f"{name}: the page has not been built; run `make build`.")
        number += kind == "chapter"
        soup = BeautifulSoup((raw / f"{name}.html").read_text("utf-8"), "html.parser")
        body = soup.select_one("article.article section")
        if body is None:
            raise BookError(
                f"{name}: the page holds no text; the theme has changed, see bound/book.py."
            )
        top = tops[name] = value(body, "id")
        strip(body)
        first = one(body, "h1")
        title = first.get_text().strip()
        chapter = number if kind == "chapter" else 0
        if kind == "preface":
            title = first.string = "Before you read"
        place = {"questions": 0, "problems": 0}
        found_answers = [*questions(body, chapter, place), *problems(body, chapter, place)]
        cards(body)
        prefix_ids(body, name, top)
        if found_answers:
            section = new("section", id=f"answers--{name}")
            section.append(heading("h2", f"{chapter} {title}" if chapter else title))
            section.extend(found_answers)
            prefix_ids(section, name, top)
            answers.append(section)
        found.append(Page(name, title, chapter, kind, body))
    if len(answers) > 1:
        at = next((i for i, page in enumerate(found) if page.kind == "back"), len(found))
        found.insert(at, Page("answers", "Answers", 0, "answers", answers))
    terms = index_of_terms(found)
    if terms is not None:
        found.append(Page("terms", "Index of terms", 0, "back", terms))
    close_links(found, tops, whole)
    return found


def new(tag: str, *children: PageElement | str, **attributes: str) -> Tag:
    """Return a new element; ``class_`` is its class."""
    made = BeautifulSoup("", "html.parser").new_tag(
        tag, attrs={key.rstrip("_"): value for key, value in attributes.items()}
    )
    made.extend(children)
    return made


def heading(tag: str, text: str) -> Tag:
    """Return a heading with a text."""
    return new(tag, NavigableString(text))


def strip(body: Tag) -> None:
    """Remove elements that only serve the site, and attributes that only serve its scripts."""
    for choice in body.select(".choice-says"):
        del choice["hidden"]
    formula_cells.hide(body)
    for tag in body.select(", ".join(FURNITURE)):
        around = tag.parent
        tag.decompose()
        if around is not None and around.name == "p" and not around.get_text(strip=True):
            around.decompose()
    for tag in body.select("[hidden]"):
        tag.decompose()
    for tag in body.select("details.fold"):  # paper has it open, under the words that open it
        tag.name, one(tag, "summary").name = "div", "p"
    for tag in body.select(", ".join(PLAIN)):
        if not tag.get("id"):
            tag.unwrap()
    for tag in body.select("svg style, .schematic [visibility=hidden]"):  # of earlier steps
        tag.decompose()
    for tag in body.select("[data-steps]"):
        del tag["data-steps"]
    for tag in body.find_all(role="doc-biblioentry"):
        del tag["role"]  # deprecated since DPUB-ARIA 1.1
    for tag in body.find_all(True):
        if tag.name != "svg" and tag.find_parent("svg") is None:
            for key in [key for key in tag.attrs if key not in KEPT]:
                del tag[key]


def questions(body: Tag, chapter: int, place: dict) -> list[Tag]:
    """Give numbers to the questions whose answer is folded, and return their answers."""
    found = []
    for box in body.select("div.admonition.dropdown"):
        if not asks(box):  # an aside, which paper has open
            set_classes(box, ["admonition"])
            continue
        place["questions"] += 1
        n = place["questions"]
        name = f"Question {chapter}.{n}" if chapter else f"Question {n}"
        title = one(box, ".admonition-title").extract()
        answer = new(
            "div",
            head(name, f"question-{n}"),
            *list(box.children),
            class_="answer",
            id=f"answer-{n}",
        )
        title.name = "p"
        set_classes(title, ["question-text"])
        title.insert(0, new("strong", f"{name} "))
        box.clear()
        box.attrs = {}
        set_classes(box, ["question"])
        box["id"] = f"question-{n}"
        box.extend([title, see("Answer", f"answer-{n}")])
        found.append(answer)
    return found


def asks(box: Tag) -> bool:
    """Return whether a folded box is a question, which are those of "Check yourself"."""
    section = box.find_parent("section")
    return section is not None and one(section, "h2, h3").get_text().startswith("Check yourself")


def head(name: str, back: str, more: str = "") -> Tag:
    """Return the first line of an answer: its name, linked back to its question."""
    return new(
        "p",
        new("a", new("strong", name), href=f"#{back}", class_="see"),
        f" {more}" if more else "",
        class_="answer-head",
    )


def see(text: str, target: str) -> Tag:
    """Return a paragraph with a link to an answer."""
    return new("p", new("a", text, href=f"#{target}", class_="see"), class_="to-answer")


def problems(body: Tag, chapter: int, place: dict) -> list[Tag]:
    """Give numbers to the problems, and return their hints and solutions.

    The numbers within a problem are those that the first seed draws.
    """
    found = []
    for box in body.select("section.problem"):
        place["problems"] += 1
        number = f"{chapter}.{place['problems']}" if chapter else str(place["problems"])
        found.append(_answer_of(box, f"Problem {number}"))
    return found


def _answer_of(box: Tag, name: str) -> Tag:
    """Leave the question of a problem in its place, and return its hints and solution."""
    id_ = value(box, "id").removeprefix("problem-")
    title = one(box, ".problem-name").get_text().strip()
    answer = new("div", head(name, f"problem-{id_}", title), class_="answer", id=f"solution-{id_}")
    for i, hint in enumerate(box.select("details.hint"), 1):
        answer.append(_unfolded(hint, f"Hint {i}", "hint"))
    for rubric in box.select("ul.rubric"):
        rubric.insert_before(new("p", new("strong", "A full answer"), class_="hint-head"))
    if says := box.select(".choice-says"):
        letter = "ABCDEFGH"[right_choice(problem(id_), 0)]
        answer.append(new("p", new("strong", f"{letter} is right."), class_="right"))
        rows = (new("li", *list(one.extract().children)) for one in says)
        answer.append(new("ol", *rows, class_="choices"))
    answer.append(_unfolded(one(box, "details.solution"), "Solution", "solution"))
    level = one(box, ".problem-level").get_text().strip().lower()
    heading = (
        new("strong", f"{name} "),
        new("strong", title, class_="problem-name"),
        f" · {level}",
    )
    one(box, ".problem-head").replace_with(new("p", *heading, class_="problem-head"))
    box.name, box.attrs = "div", {}
    set_classes(box, ["problem"])
    box["id"] = f"problem-{id_}"
    box.append(see("Hints and solution", f"solution-{id_}"))
    return answer


def _unfolded(fold: Tag, name: str, kind: str) -> Tag:
    """Take a folded part out of a problem, and return it open under its name."""
    one(fold, "summary").decompose()
    part = new(
        "div", new("p", new("strong", name), class_="hint-head"), *list(fold.children), class_=kind
    )
    fold.decompose()
    return part


def cards(body: Tag) -> None:
    """Turn cards into questions, each with its answer below it."""
    for group in body.select(".cards"):
        entries = []
        for card in group.select(".card"):
            one(card, ".card-back summary").decompose()
            entries.append(
                new(
                    "div",
                    new("dt", *list(one(card, ".card-front").children)),
                    new("dd", *list(one(card, ".card-back").children)),
                    id=value(card, "id"),
                )
            )
        group.clear()
        group.attrs = {}
        set_classes(group, ["cards"])
        group["aria-label"] = "Cards"
        group.extend([new("p", "To remember", class_="cards-title"), new("dl", *entries)])


def prefix_ids(body: Tag, page: str, top: str) -> None:
    """Prefix ids with the name of their page, and adapt the links.

    A link becomes ``#page--id``, wherever in the book it leads.
    """
    for tag in [*body.find_all(True, id=True), body]:
        if not str(tag["id"]).startswith("answers--") and "--" not in tag["id"]:
            tag["id"] = page if tag["id"] == top else f"{page}--{tag['id']}"
    for tag in body.find_all(True):
        for key in (
            "aria-labelledby",
            "xlink:href",
            "clip-path",
            "mask",
            "fill",
            "marker-end",
            "marker-start",
        ):
            if key in tag.attrs:
                leads = (
                    re.sub(r"^#|(?<=url\()#", f"#{page}--", value(tag, key))
                    if key != "aria-labelledby"
                    else f"{page}--{tag[key]}"
                )
                if not (key == "fill" and not leads.startswith("url(")):
                    tag[key] = leads
    for link in body.find_all("a", href=True):
        address = urlsplit(value(link, "href"))
        if address.scheme or ("--" in address.fragment and not address.path):
            continue
        target = address.path.removesuffix(".html") or page
        where = address.fragment
        link["href"] = (
            f"#{target}"
            if not where or (target == page and where == top)
            else f"#{target}--{where}"
        )


def ids(pages: Sequence[Page]) -> dict[str, str]:
    """Return each id of the book with the page that holds it."""
    found: dict[str, str] = {}
    for page in pages:
        for tag in [page.body, *page.body.find_all(True, id=True)]:
            name = value(tag, "id")
            if name in found:
                raise BookError(f"{page.name}: the id {name!r} stands twice.")
            found[name] = page.name
    return found


def close_links(pages: Sequence[Page], tops: dict[str, str], whole: bool) -> None:
    """Turn links to pages and files that the edition leaves out into text.

    Any other link that leads nowhere is an error.
    """
    known, outside = ids(pages), LEFT_OUT | {"genindex", "search"}
    for page in pages:
        for link in page.body.find_all("a", href=re.compile("^#")):
            target = value(link, "href")[1:]
            to, _, where = target.partition("--")
            if target in known:
                continue
            if to in known and where == tops.get(to):
                link["href"] = f"#{to}"
            elif (
                to in outside
                or to.startswith("formulas-")
                or Path(to).suffix
                or (not whole and to not in tops)
            ):
                link.unwrap()
            else:
                raise BookError(f"{page.name}: the link to #{target} leads nowhere in the edition.")


def index_of_terms(pages: Sequence[Page]) -> Tag | None:
    """Return the index: terms of the glossary, each with links to the sections that use it."""
    glossary = next((page for page in pages if page.name == "glossary"), None)
    if glossary is None:
        return None
    uses: dict[str, list[Tag]] = {}
    for page in pages:
        seen = set()
        for n, link in enumerate(page.body.select("a.term")):
            section = link.find_parent("section")
            key = (link["href"], section["id"] if section else "")
            if page.kind == "chapter" and key not in seen:
                seen.add(key)
                link["id"] = f"{page.name}--use-{n}"
                uses.setdefault(value(link, "href"), []).append(
                    new(
                        "a", str(page.number), class_="use", href=f"#{link['id']}", title=page.title
                    )
                )
    entries = []
    for term in sorted(glossary.body.select("dt[id]"), key=lambda dt: dt.get_text().lower()):
        places = uses.get(f"#{term['id']}", [])
        line = new("li", class_="term")
        line.append(new("a", term.get_text().strip(), href=f"#{term['id']}"))
        for i, place in enumerate(places):
            line.extend([", " if i else "\u2002", place])
        entries.append(line)
    return new(
        "section", heading("h1", "Index of terms"), new("ul", *entries, class_="terms"), id="terms"
    )


# Maths


class AsTypeset:
    """A stand-in for the site's styles in `finish.Maths`: KaTeX's output stays as it is."""

    @staticmethod
    def in_text(html: str) -> str:
        """Return the markup unchanged."""
        return html


def typeset(pages: Sequence[Page], node: list[str]) -> list[str]:
    """Typeset all formulas and return them; bodies keep placeholders that `printed` fills."""
    maths = postprocess.Maths()
    for page in pages:
        postprocess.mark_maths(page.body, page.name, maths)
    return maths.typeset(node, ROOT, AsTypeset)


def printed(body: Tag, formulas: Sequence[str], write: Callable[[str], str]) -> str:
    """Return the markup of a page; `write` converts KaTeX's markup for the format."""
    return re.sub(
        "\ue000(\\d+)\ue001", lambda m: write(formulas[int(m[1])]), body.decode(formatter="minimal")
    )


def copies(pages: Sequence[Page]) -> list[Page]:
    """Return copies of the pages, to be changed for one format."""
    return [replace(page, body=copy.copy(page.body)) for page in pages]


def mathml(katex: str) -> str:
    """Return the MathML in KaTeX's markup, with the TeX as its alternative text.

    >>> tex = '<annotation encoding="application/x-tex">B</annotation>'
    >>> mathml(
    ...     '<span class="katex"><span class="katex-mathml">'
    ...     '<math xmlns="http://www.w3.org/1998/Math/MathML">'
    ...     f"<semantics><mrow><mi>B</mi></mrow>{tex}</semantics></math></span></span>"
    ... )
    '<math xmlns="http://www.w3.org/1998/Math/MathML" alttext="B"><mrow><mi>B</mi></mrow></math>'
    """
    found = re.search(
        r"<math\b([^>]*)><semantics>(.*?)<annotation[^>]*>(.*?)</annotation></semantics></math>",
        katex,
        re.S,
    )
    if found is None:
        raise BookError(f"KaTeX's markup holds no MathML: {katex[:200]}")
    tex = re.sub(r"\s+", " ", html.escape(html.unescape(found[3])))
    return f'<math{found[1]} alttext="{tex}">{found[2]}</math>'


def visible(katex: str) -> str:
    """Return KaTeX's markup without the MathML for screen readers.

    >>> visible(
    ...     '<span class="katex"><span class="katex-mathml"><math></math></span>'
    ...     '<span class="katex-html">B</span></span>'
    ... )
    '<span class="katex"><span class="katex-html">B</span></span>'
    """
    return re.sub(r'<span class="katex-mathml">.*?</math></span>', "", katex, flags=re.S)
