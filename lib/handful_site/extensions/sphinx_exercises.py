"""Cards and problems in Sphinx: in their chapters, and on the pages that ``{study}`` makes.

Cards go to the end of the section that they name, problems to the end of "Check yourself".  Their
Markdown is parsed by the page's own parser, as a document of its own that begins at its line in its
file, so that an error is reported with that file and line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from docutils import nodes
from myst_parser.mdit_to_docutils.sphinx_ import SphinxRenderer
from myst_parser.parsers.mdit import create_md_parser
from sphinx.errors import ExtensionError, NoUri
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import LoggingReporter, SphinxDirective, new_document

from handful.query import QueryError
from handful.symbolic.quantities import table
from handful.symbolic.quantity import title_of
from handful_study import problem_spec
from handful_study.cards import Card, cards
from handful_study.check import letter
from handful_study.order import by_chapter, in_book_order, title
from handful_study.problem_model import Problem
from handful_study.problems import problems
from handful_study.source import Part, SourceError, anchors

from ..bootstrap import ROOT
from . import roles
from .sphinx_live import BookRole, as_text, figure_in_text

CHECK_YOURSELF, LAST = "check-yourself", "references"
STUDY = ("review", "practice", "progress")
logger = logging.getLogger(__name__)


class exercise_part(nodes.General, nodes.Element):
    """An HTML element of a card or problem: its `tag` and `data`.

    Other formats show its children, one after the other.
    """


class recall_here(nodes.General, nodes.Element):
    """The place of a stack of cards, until they are put into it."""


class exercise_line(nodes.General, nodes.TextElement):
    """An HTML element with a line of words: its `tag` and `data`; elsewhere a paragraph."""


def visit_html(self, node) -> None:
    """Write the start tag of an element."""
    self.body.append(
        self.starttag(
            node,
            node["tag"],
            "" if isinstance(node, exercise_line) else "\n",
            **node.get("data", {}),
        )
    )


def depart_html(self, node) -> None:
    """Write the end tag of an element."""
    self.body.append(f"</{node['tag']}>\n")


def visit_plain(self, node) -> None:
    """Skip, in other formats, what waits for a script."""
    if "hidden" in node.get("data", {}):
        raise nodes.SkipNode


def visit_line(self, node) -> None:
    """Begin a paragraph, in other formats."""
    self.visit_paragraph(node)


def depart_line(self, node) -> None:
    """End a paragraph, in other formats."""
    self.depart_paragraph(node)


def made(
    tag: str,
    classes: str = "",
    *children: nodes.Node,
    data: dict | None = None,
    ids: Iterable[str] = (),
) -> exercise_part:
    """Return an element; `classes` are separated by spaces."""
    return exercise_part(
        "", *children, tag=tag, classes=classes.split(), data=data or {}, ids=list(ids)
    )


def said(tag: str, classes: str = "", *children: nodes.Node, text: str = "") -> exercise_line:
    """Return an element with a line of words; `classes` are separated by spaces."""
    return exercise_line(
        "", "", *(children or [nodes.Text(text)]), tag=tag, classes=classes.split()
    )


# Text


class Texts:
    """The parser of exercises' texts, for one page."""

    def __init__(self, document: nodes.document) -> None:
        self.env = document.settings.env
        self.own = new_document("", document.settings)
        self.own.reporter = LoggingReporter.from_reporter(document.reporter)
        parser = create_md_parser(self.env.myst_config, SphinxRenderer)
        parser.options["document"] = self.own
        self.renderer = cast(SphinxRenderer, parser.renderer)
        options: Any = parser.options  # a mapping, but not a dict as annotated there
        self.renderer.setup_render(options, {})  # once: it is what takes time

    def blocks(self, text: str, file: str, first: int) -> list[nodes.Node]:
        """Parse Markdown that begins at line `first` of `file`, and return its blocks."""
        self.own["source"] = self.own.reporter.source = str(ROOT / file)
        found = nodes.Element()
        with self.renderer.current_node_context(found):
            self.renderer.nested_render_text(text, first - 1)
        return found.children

    def part(self, source: Part, file: str) -> list[nodes.Node]:
        """Parse a part of an entry, and return its blocks."""
        return self.blocks(source.text, file, source.line)

    def words(self, text: str, file: str, first: int) -> list[nodes.Node]:
        """Parse Markdown of one line, and return the nodes within it."""
        found = self.blocks(text, file, first)
        return (
            found[0].children
            if len(found) == 1 and isinstance(found[0], nodes.paragraph)
            else found
        )


class DrawnRole(BookRole):
    """The role ``{drawn}``: a number, or a row's name, that a problem draws.

    It shows what the seed 0 draws, until a script draws again.
    """

    def resolve(self, text: str) -> nodes.Node:
        """Return the node for what the problem draws."""
        problem, requests = self.env.temp_data.get("handful_drawn", (None, []))
        if problem is None:
            raise QueryError("{drawn} shows what a problem draws, and so stands in problems only.")
        try:
            shown = problem.drawn_text(text, 0)
        except SourceError as error:
            raise QueryError(str(error)) from None
        if text not in requests:
            requests.append(text)
        return figure_in_text(
            "", "", nodes.Text(shown), kind="drawn", data={"drawn": requests.index(text)}
        )


def foot(texts: Texts, thing: Card | Problem, name: str, kind: str, before: str) -> exercise_line:
    """Return the line with the kind of a card or problem, its section and its lecture time."""
    link = nodes.reference(
        "",
        "",
        *texts.words((anchors(thing.chapter) or {})[thing.section], f"book/{thing.chapter}.md", 1),
        internal=True,
        exercise=(thing.chapter, thing.section),
    )
    pieces = [
        nodes.inline("", "", nodes.Text(kind.capitalize()), classes=[before]),
        nodes.Text(" · "),
        link,
    ]
    if thing.lecture:
        pieces += [
            nodes.Text(" · "),
            nodes.reference(
                "",
                "",
                nodes.Text(thing.lecture),
                refuri=roles.lecture_address(thing.lecture),
                reftitle=roles.lecture_title(thing.lecture),
                internal=False,
                classes=["lecture-time"],
            ),
        ]
    return said("p", name, *pieces)


# Cards


def card_node(texts: Texts, card: Card) -> exercise_part:
    """Return the element of a card."""
    data = {
        "data-card": card.id,
        "data-kind": card.kind,
        "data-chapter": card.chapter,
        "data-section": card.section,
    }
    node = made(
        "div",
        "card",
        made("div", "card-front", *texts.part(card.front, card.file)),
        made(
            "details",
            "card-back",
            said("summary", text="Show the answer"),
            *texts.part(card.back, card.file),
        ),
        foot(texts, card, "card-foot", card.kind, "card-kind"),
        data=data,
        ids=[f"card-{card.id}"],
    )
    node["chapter"] = card.chapter
    return node


def cards_node(texts: Texts, group: list[Card]) -> exercise_part:
    """Return the element of several cards."""
    # A group, not an <aside>: a chapter has dozens, too many for the list of landmarks that a
    # screen reader offers.
    return made(
        "div",
        "cards",
        *(card_node(texts, card) for card in group),
        data={"role": "group", "aria-label": "Cards"},
    )


def stack_node(texts: Texts, group: list[Card]) -> exercise_part:
    """Return cards that wait behind one line; a script asks them one at a time."""
    count = len(group)
    words = "One question on this part" if count == 1 else f"{count} questions on this part"
    return made("details", "fold recall", said("summary", text=words), cards_node(texts, group))


# Problems


def problem_node(texts: Texts, problem: Problem) -> exercise_part:
    """Return the element of a problem, with its specification for the page's script."""
    requests: list[str] = []
    entry = problem.entry
    texts.env.temp_data["handful_drawn"] = problem, requests
    head = foot(texts, problem, "problem-head", problem.level, "problem-level")
    head[:0] = [
        nodes.strong("", "", nodes.Text(title_of(problem.id)), classes=["problem-name"]),
        nodes.Text(" "),
    ]
    children = [
        head,
        made("div", "problem-text", *texts.part(problem.text, entry.file), *letters(problem)),
        *choices_and_turns(texts, problem),
        *hints_and_solution(texts, problem),
    ]
    del texts.env.temp_data["handful_drawn"]
    children.append(block("problem-spec", problem_spec.spec(problem, requests)))
    data = {
        "data-problem": problem.id,
        "data-kind": problem.kind,
        "data-level": problem.level,
        "data-chapter": problem.chapter,
        "data-section": problem.section,
    }
    node = made("section", "problem", *children, data=data, ids=[f"problem-{problem.id}"])
    node["chapter"] = problem.chapter
    return node


def _item(
    texts: Texts, problem: Problem, tag: str, classes: str, text: str, field: str, **data: str
) -> exercise_part:
    """Return an element with the text of one of a problem's fields."""
    entry = problem.entry
    line = entry.lines.get(field, entry.line)
    return made(tag, classes, *texts.blocks(text, entry.file, line), data=data)


def choices_and_turns(texts: Texts, problem: Problem) -> list[exercise_part]:
    """Return the choices of a problem, and what is said of its wrong answers."""
    found = []
    if problem.choices:
        rows = [
            made(
                "li",
                "",
                _item(texts, problem, "div", "choice-text", choice.text, "choices"),
                _item(texts, problem, "div", "choice-says", choice.says, "choices", hidden=""),
            )
            for choice in problem.choices
        ]
        found.append(made("ol", "problem-choices", *rows))
    if problem.wrong:
        said_of = [_item(texts, problem, "li", "", turn.says, "wrong") for turn in problem.wrong]
        found.append(made("ul", "problem-turns", *said_of, data={"hidden": ""}))
    return found


def hints_and_solution(texts: Texts, problem: Problem) -> list[exercise_part]:
    """Return the folded hints and the folded solution of a problem, with its rubric."""
    file = problem.entry.file
    found = [
        made("details", "hint", said("summary", text=name), *texts.part(hint, file))
        for hint, name in zip(problem.hints, ("A hint", "Another hint"), strict=True)
    ]
    rows = [_item(texts, problem, "li", "", text, "rubric") for text in problem.rubric]
    rubric = [made("ul", "rubric", *rows)] if rows else []
    solution = texts.part(problem.solution, file)
    summary = said("summary", text="The solution")
    return [*found, made("details", "solution", summary, *solution, *rubric)]


def letters(problem: Problem) -> list[nodes.Node]:
    """Return the letters of a formula that is asked for, as they are typed, with their meaning."""
    rows = []
    for name in problem.letters:
        typed = (
            [nodes.Text(", typed "), nodes.literal("", letter(name))]
            if letter(name) != table[name].latex
            else []
        )
        rows.append(
            made(
                "li",
                "",
                said(
                    "p",
                    "",
                    nodes.math("", table[name].latex),
                    *typed,
                    nodes.Text(f": {table[name].meaning}"),
                ),
            )
        )
    return [made("ul", "problem-letters", *rows)] if rows else []


def block(name: str, data: dict) -> nodes.raw:
    """Return a JSON block for the page's script."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace(
        "<", "\\u003c"
    )
    return nodes.raw(
        "", f'<script type="application/json" class="{name}">{text}</script>\n', format="html"
    )


# Where they go


class PlaceExercises(SphinxTransform):
    """The transform that puts a chapter's cards and problems into it."""

    default_priority = 200  # before what looks after typography and references

    def apply(self, **kwargs) -> None:
        """Put the cards and problems of this page into their sections."""
        page = self.env.docname
        mine = (
            [card for card in cards().values() if card.chapter == page],
            [p for p in problems().values() if p.chapter == page],
        )
        if not any(mine):
            return
        reading(self.env)[page] = ("chapter", digest("chapter", page))
        texts, places = (
            Texts(self.document),
            {name: node for node in self.document.findall(nodes.section) for name in node["ids"]},
        )
        groups: dict[str, list[Card]] = {}
        for card in mine[0]:
            groups.setdefault(card.section, []).append(card)
        for anchor, group in groups.items():
            if anchor not in places:
                logger.error(
                    "%s: the page %s has no section with the anchor %s.",
                    group[0].id,
                    page,
                    anchor,
                    location=(str(ROOT / group[0].file), group[0].front.line),
                )
        stacks = list(self.document.findall(recall_here))
        if stacks:
            self._stacks(texts, stacks, groups)
        else:
            for anchor, group in groups.items():
                if anchor in places:
                    put(places[anchor], cards_node(texts, group))
        if mine[1]:
            self._problems(texts, places, mine[1], folded=bool(stacks))

    def _stacks(
        self, texts: Texts, stacks: list[recall_here], groups: dict[str, list[Card]]
    ) -> None:
        """Put each card into the first stack after the title of its section, or into the last."""
        held: list[list[Card]] = [[] for _ in stacks]
        at = 0
        for node in list(self.document.findall()):
            if node is stacks[min(at, len(stacks) - 1)]:
                at += 1
            elif isinstance(node, nodes.section):
                mine = [card for name in node["ids"] for card in groups.get(name, [])]
                held[min(at, len(stacks) - 1)] += mine
        for stack, group in zip(stacks, held, strict=True):
            if group:
                stack.replace_self(stack_node(texts, group))
            else:
                logger.error("No card asks about what stands before this stack.", location=stack)

    def _problems(
        self,
        texts: Texts,
        places: dict[str, nodes.section],
        group: list[Problem],
        *,
        folded: bool,
    ) -> None:
        link = nodes.reference(
            "", "", nodes.Text("Practice"), internal=True, exercise=("practice", "")
        )
        listed = made(
            "div",
            "problems",
            said("p", "problems-title", text="Problems"),
            said(
                "p",
                "problems-about",
                nodes.Text("With numbers that can be drawn anew; all of the book's are under "),
                link,
                nodes.Text("."),
            ),
            *(problem_node(texts, problem) for problem in group),
        )
        if folded:
            count = said("summary", text=f"{len(group)} problems")
            listed = made("details", "fold", count, listed)
        if CHECK_YOURSELF in places:
            put(places[CHECK_YOURSELF], listed)
            return
        top = next(self.document.findall(nodes.section))
        last = next(
            (
                node
                for node in top.children
                if isinstance(node, nodes.section) and nodes.make_id(node[0].astext()) == LAST
            ),
            None,
        )
        top.insert(top.index(last) if last is not None else len(top), listed)


def put(section: nodes.section, node: nodes.Node) -> None:
    """Insert a node at the end of a section's own text, before the sections within it."""
    at = next(
        (i for i, child in enumerate(section.children) if isinstance(child, nodes.section)),
        len(section.children),
    )
    section.insert(at, node)


class RecallDirective(SphinxDirective):
    """The directive ``{recall}``: the cards of the sections since the stack before, in one line."""

    def run(self) -> list[nodes.Node]:
        """Return the place of the stack."""
        node = recall_here()
        self.set_source_info(node)
        return [node]


class StudyDirective(SphinxDirective):
    """The directives ``{study} review``, ``{study} practice`` and ``{study} progress``.

    They make the pages of the whole book.
    """

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the cards or problems of the whole book, by chapter."""
        name = self.arguments[0]
        if name not in STUDY:
            raise self.error(
                f"There is no page {name!r} to study from; there are {', '.join(STUDY)}."
            )
        reading(self.env)[self.env.docname] = (name, digest(name))
        texts = Texts(self.state.document)
        exercises: dict[str, Mapping[str, Any]] = {"review": cards(), "practice": problems()}
        every = exercises.get(name, {})
        children: list[nodes.Node] = []
        for chapter, group in by_chapter(every.values()).items():
            inside = (
                [cards_node(texts, group)]
                if name == "review"
                else [problem_node(texts, problem) for problem in group]
            )
            children.append(
                nodes.section(
                    "",
                    nodes.title("", "", nodes.Text(title(chapter))),
                    *inside,
                    ids=[f"{name}-{chapter}"],
                    names=[],
                )
            )
        if name != "practice":
            children.append(block("study-book", contents()))
        return [made("div", f"study study-{name}", *children, data={"data-study": name})]


def contents() -> dict:
    """Return the chapters with their cards and problems, in the book's order."""
    found = by_chapter([*cards().values(), *problems().values()])
    return {
        "chapters": [
            {
                "name": chapter,
                "title": title(chapter),
                "cards": [one.id for one in group if isinstance(one, Card)],
                "problems": [one.id for one in group if isinstance(one, Problem)],
            }
            for chapter, group in found.items()
        ]
    }


def link_sections(app, doctree, docname: str) -> None:
    """Resolve the links to sections of other pages."""
    for node in [node for node in doctree.findall(nodes.reference) if "exercise" in node]:
        page, anchor = node["exercise"]
        try:
            address = app.builder.get_relative_uri(docname, page) if page != docname else ""
        except NoUri:  # a format, or a part of the book, without that page
            node.replace_self(node.children)
            continue
        node["refuri"] = f"{address}#{anchor}" if anchor else address
        del node["exercise"]


# When a page is out of date: Sphinx compares the page's own file only.


def reading(env) -> dict[str, tuple[str, str]]:
    """Return, for each page, what it shows and the digest of that.

    What it shows is "chapter", or the name of a page to study from.
    """
    if not hasattr(env, "handful_exercises"):
        env.handful_exercises = {}
    return env.handful_exercises


def digest(shows: str, page: str = "") -> str:
    """Return the hash of the exercises that a page shows."""
    every = [*in_book_order(cards().values()), *in_book_order(problems().values())]
    wanted = {
        "chapter": lambda one: one.chapter == page,
        "review": lambda one: True,
        "practice": lambda one: isinstance(one, Problem),
        "progress": lambda one: True,
    }[shows]
    return hashlib.sha256("\n".join(repr(one) for one in every if wanted(one)).encode()).hexdigest()


def outdated(app, env, added, changed, removed) -> list[str]:
    """Return the pages whose exercises have changed."""
    known, nothing = reading(env), ("chapter", digest("chapter"))
    found = {page: known.get(page, nothing) for page in env.found_docs}
    return [page for page, (shows, was) in found.items() if digest(shows, page) != was]


def purge(app, env, docname: str) -> None:
    """Forget what a page showed."""
    reading(env).pop(docname, None)


def merge(app, env, docnames, other) -> None:
    """Take over what the pages of another process showed."""
    reading(env).update({name: entry for name, entry in reading(other).items() if name in docnames})


def check(app) -> None:
    """Stop the build with one sentence where a source file cannot be read."""
    try:
        cards(), problems()
    except SourceError as error:
        raise ExtensionError(str(error)) from None


def setup(app):
    """Register nodes, the role, the directive, the transform and the handlers."""
    text_only = (visit_plain, as_text)
    paragraph = (visit_line, depart_line)
    app.add_node(
        exercise_part,
        html=(visit_html, depart_html),
        latex=text_only,
        text=text_only,
        epub=text_only,
        man=text_only,
        texinfo=text_only,
    )
    app.add_node(
        exercise_line,
        html=(visit_html, depart_html),
        latex=paragraph,
        text=paragraph,
        epub=paragraph,
        man=paragraph,
        texinfo=paragraph,
    )
    app.add_role("drawn", DrawnRole())
    app.add_directive("recall", RecallDirective)
    app.add_directive("study", StudyDirective)
    app.add_transform(PlaceExercises)
    app.connect("builder-inited", check)
    app.connect("doctree-resolved", link_sections)
    app.connect("env-get-outdated", outdated)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    return {
        "version": "1",
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
