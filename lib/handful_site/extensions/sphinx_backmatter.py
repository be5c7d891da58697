"""Back matter that the build generates: links to the glossary, and the index of numbers.

The first use of each glossary term on a page becomes a link to its definition, and ``{numbers}`` on
a page lists every live number and every fact of the whole book with its place.
"""

from __future__ import annotations

import re
from collections import defaultdict

from docutils import nodes
from docutils.parsers.rst import Directive

from . import known as known_rows
from .roles import registry
from .sphinx_exercises import exercise_part
from .sphinx_live import figure_in_text, on_pages, where_block, where_text

INDEX = "numbers"  # the page of the index
# Pages whose own business is terms, or that only repeat others, and so are left as they are.
UNLINKED = {
    "glossary",
    "notation",
    "references",
    INDEX,
    "claims",
    "index",
    "about",
    "review",
    "practice",
    "progress",
    "teaching",
    "assignments",
    "administrators",
}
# Terms that are everyday words too: a link only where the author emphasises them as terms.
EVERYDAY = {
    "combine",
    "drift",
    "floor",
    "head",
    "nudge",
    "peak",
    "ring",
    "round",
    "schedule",
}
# Where a link would be out of place; in a card or a problem it could give the answer away.
CLOSED = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.caption,
    nodes.term,
    nodes.rubric,
    figure_in_text,
    exercise_part,
)


class numbers_index(nodes.General, nodes.Element):
    """The placeholder for the index of numbers."""


class NumbersDirective(Directive):
    """The directive ``{numbers}``: the index of numbers."""

    def run(self):
        """Return the placeholder for the index of numbers."""
        return [numbers_index("")]


# The glossary


def is_unlinked(page: str) -> bool:
    """Return whether a page has no links to the glossary: those listed, and the formulas.

    >>> is_unlinked("formulas-racks"), is_unlinked("pipelining")
    (True, False)
    """
    return page in UNLINKED or page.partition("-")[0] == "formulas"


def pattern(terms) -> re.Pattern | None:
    """Return a pattern for any of these terms as a word or its plain plural, longest first.

    >>> pattern(["batch", "balance batch"]).search("two Balance batches")[0]
    'Balance batches'
    >>> pattern(["KV cache"]).search("kv cache") is None  # letters after the first keep their case
    True
    """

    def either(term: str) -> str:
        return (
            f"[{term[0].upper()}{term[0].lower()}]{re.escape(term[1:])}"
            if term[0].isalpha()
            else re.escape(term)
        )

    words = "|".join(either(term) for term in sorted(terms, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?:{words})(?:s|es)?(?![\w-])") if words else None


def term_of(found: str, terms) -> str:
    """Return the glossary's spelling of a match."""
    for plural in ("", "s", "es"):
        word = found.removesuffix(plural) if plural else found
        for term in terms:
            if term[0].lower() == word[0].lower() and term[1:] == word[1:]:
                return term
    raise KeyError(found)


def glossary(env) -> dict[str, tuple[str, str]]:
    """Return the place of each term: term → (page, anchor)."""
    return {
        name: (page, anchor)
        for name, _, kind, page, anchor, _ in env.get_domain("std").get_objects()
        if kind == "term"
    }


def link_terms(app, doctree, docname: str) -> None:
    """Link the first use of every term on this page, and everyday words where they are terms."""
    if is_unlinked(docname):
        return
    left = glossary(app.env)
    for node in list(doctree.findall(nodes.Text)):
        up = node.parent
        while up is not None and not isinstance(up, CLOSED):
            up = up.parent
        if up is not None:
            continue
        fit = left.keys() if isinstance(node.parent, nodes.emphasis) else left.keys() - EVERYDAY
        text, pieces, search = node.astext(), [], pattern(fit)
        while search and (found := search.search(text)):
            term = term_of(found[0], left)
            page, anchor = left.pop(term)
            address = app.builder.get_relative_uri(docname, page) + "#" + anchor
            pieces += [
                nodes.Text(text[: found.start()]),
                nodes.reference(
                    "", "", nodes.Text(found[0]), refuri=address, internal=True, classes=["term"]
                ),
            ]
            text, search = text[found.end() :], pattern(fit & left.keys())
        if pieces:
            node.parent.replace(node, [*pieces, nodes.Text(text)])


# The index of numbers


def mark(app, doctree) -> None:
    """Add an anchor to each number of the page's own, in the order of the page."""
    page = app.env.docname
    numbers = (
        node
        for node in doctree.findall(figure_in_text)
        if node["kind"] != "drawn" and not repeated(node, page) and not unsaid(node)
    )
    for i, node in enumerate(numbers, 1):
        node["ids"] = [f"number-{i}"]


def repeated(node: nodes.Node, page: str) -> bool:
    """Check whether a node is in a card or problem that another page shows as its own."""
    while node is not None:
        if isinstance(node, exercise_part) and "chapter" in node:
            return node["chapter"] != page
        node = node.parent
    return False


def unsaid(node: nodes.Node) -> bool:
    """Check whether a node is in a text whose condition is false for the page's first scenario."""
    while node is not None:
        if isinstance(node, where_text | where_block) and not node["holds"]:
            return True
        node = node.parent
    return False


def setting(entry: dict) -> str:
    """Return, in words, what an author has set.

    >>> setting({"set": {"batch": 256.0, "hardware": "H100 SXM"}})
    'batch 256, H100 SXM'
    """
    return ", ".join(
        value if isinstance(value, str) else f"{name.replace('_', ' ')} {value:,.6g}"
        for name, value in entry["set"].items()
    )


def collect_places(env) -> tuple[dict, dict]:
    """Return the places of live numbers by formula, and those of facts by (label, source).

    A place is its text, setting, page and anchor.
    """
    live, facts = defaultdict(list), defaultdict(list)
    for page in sorted(env.found_docs, key=lambda name: (name not in env.titles, name)):
        for node in env.get_doctree(page).findall(figure_in_text):
            if not node["ids"]:
                continue
            place = (node.astext(), page, node["ids"][0])
            if node["kind"] == "live":
                entry = on_pages(env)[page][node["data"]["live"]]
                live[entry["formula"]].append((*place, setting(entry)))
            elif node["kind"] == "fact":
                facts[node["data"]["label"], node["data"]["source"]].append((*place, ""))
    return live, facts


def cell(*children) -> nodes.entry:
    """Return a table cell with one paragraph."""
    return nodes.entry("", nodes.paragraph("", "", *children))


def scrolling(head: list[str], body: list[nodes.row]) -> nodes.container:
    """Return a table in a box that scrolls."""
    table, group = nodes.table(classes=["table", "numbers-index"]), nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += nodes.thead("", nodes.row("", *(cell(nodes.Text(text)) for text in head)))
    group += nodes.tbody("", *body)
    table += group
    return nodes.container("", table, classes=["scrollable-table"])


def described(head: list[str], rows: list[known_rows.Known]) -> nodes.container:
    """Return a table of rows that can be linked to."""
    return scrolling(
        head,
        [
            nodes.row(
                "",
                *(cell(nodes.Text(t)) for t in (row.name, row.figures, row.source)),
                ids=[row.anchor],
            )
            for row in rows
        ],
    )


def listing(app, docname: str, head: list[str], groups) -> nodes.container:
    """Return a table whose rows are (name cells, places), in a box that scrolls."""
    body = []
    for names, places in groups:
        links: list[nodes.Node] = []
        for text, page, anchor, how in places:
            address = app.builder.get_relative_uri(docname, page) + "#" + anchor
            title = f"{app.env.titles[page].astext()}{': ' + how if how else ''}"
            links += [nodes.Text(" · ")] if links else []
            links += [
                nodes.reference(
                    "", "", nodes.Text(text), refuri=address, internal=True, reftitle=title
                )
            ]
        body.append(nodes.row("", *(cell(nodes.Text(name)) for name in names), cell(*links)))
    return scrolling(head, body)


def fill(app, doctree, docname: str) -> None:
    """Replace the placeholder by the index of numbers."""
    for node in list(doctree.findall(numbers_index)):
        live, facts = collect_places(app.env)
        known = registry()
        results = sorted(
            ((known[name].gives.label, known[name].meaning), places)
            for name, places in live.items()
        )
        node.replace_self(
            [
                nodes.rubric("", "", nodes.Text("Computed, for the page's first scenario")),
                listing(
                    app, docname, ["What", "Meaning", "Values, each a link to its place"], results
                ),
                nodes.rubric("", "", nodes.Text("Facts, with their sources")),
                listing(app, docname, ["What", "Source", "Values"], sorted(facts.items())),
                nodes.rubric("", "", nodes.Text("What is known of each chip")),
                described(["Chip", "Figures", "Source"], known_rows.rows("chip")),
                nodes.rubric("", "", nodes.Text("What is known of each model")),
                described(["Model", "Figures", "Source"], known_rows.rows("model")),
            ]
        )


def refresh(app, env, pages: list[str]) -> None:
    """Read the index again with any other page, since it lists their numbers.

    >>> from types import SimpleNamespace
    >>> book, pages = SimpleNamespace(found_docs={"numbers", "pipelining"}), ["pipelining"]
    >>> refresh(None, book, pages)
    >>> pages
    ['pipelining', 'numbers']
    """
    if pages and INDEX in env.found_docs and INDEX not in pages:
        pages.append(INDEX)


def setup(app):
    """Register the directive, its node and the handlers."""
    app.add_node(numbers_index)
    app.add_directive("numbers", NumbersDirective)
    app.connect("env-before-read-docs", refresh)
    app.connect("doctree-read", mark)
    app.connect("doctree-resolved", link_terms)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
