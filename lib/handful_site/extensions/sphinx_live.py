"""The book's roles in Sphinx: live, lecture, spoken, given, fact, guess, where, always.

What depends on the scenario says when it is true: ``{where}`` shows its text only then,
``{always}`` asserts it for every scenario, and the tests look for one where it is false.

A page that holds live numbers ends with one JSON block, ``<script type="application/json"
id="live-numbers">``, and another with what its boxes typeset, which the finish puts into a file of
its own.  A fact carries its label and source itself.  Without scripts both read as text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective, SphinxRole

from . import ledger, roles


class figure_in_text(nodes.Inline, nodes.TextElement):
    """A number that the page's script knows: `kind` is "live" or "fact".

    `data` holds its data-attributes.
    """


def visit_html(self, node: figure_in_text) -> None:
    """Write the start tag of a number."""
    data = {f"data-{name}": value for name, value in node["data"].items()}
    self.body.append(self.starttag(node, "span", "", CLASS=node["kind"], **data))


def depart_html(self, node: figure_in_text) -> None:
    """Write the end tag of a number."""
    self.body.append("</span>")


def as_text(self, node: figure_in_text) -> None:
    """Write nothing: other formats show the text only."""


class BookRole(SphinxRole):
    """A role whose errors are errors of the build, with page and line."""

    def run(self):
        """Return the role's node, or an error with the line."""
        try:
            return [self.resolve(" ".join(self.text.split()))], []
        except roles.RoleError as error:
            message = self.inliner.reporter.error(str(error), line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]

    def resolve(self, text: str) -> nodes.Node:
        """Return the node for the role's text."""
        raise NotImplementedError


class LiveRole(BookRole):
    """The role ``{live}``: a number that is computed for the reader's scenario."""

    def resolve(self, text: str) -> nodes.Node:
        """Return the number, and note it for the page's data."""
        entry = roles.live(text)
        shown = entry.pop("text")
        # Equal numbers on a page share a key.
        page = on_pages(self.env).setdefault(self.env.docname, {})
        key = next((key for key, known in page.items() if known == entry), None)
        if key is None:
            alike = sum(known["formula"] == entry["formula"] for known in page.values())
            key = f"{entry['formula']}-{alike + 1}"
            page[key] = entry
        return figure_in_text("", "", nodes.Text(shown), kind="live", data={"live": key})


class FactRole(BookRole):
    """The role ``{fact}``: a number from a source."""

    def resolve(self, text: str) -> nodes.Node:
        """Return the fact with its label and source."""
        found = roles.fact(text)
        data = {"label": found["label"], "source": found["source"]}
        return figure_in_text("", "", nodes.Text(found["text"]), kind="fact", data=data)


class LectureRole(BookRole):
    """The role ``{lecture}``: a time of the lecture, linked to it."""

    def resolve(self, text: str) -> nodes.Node:
        """Return the link to that time of the lecture."""
        address, title = roles.lecture_address(text), roles.lecture_title(text)
        return nodes.reference(
            "",
            "",
            nodes.Text(text),
            refuri=address,
            reftitle=title,
            internal=False,
            classes=["lecture-time"],
        )


class SpokenRole(BookRole):
    """The role ``{spoken}``: a number that the lecture says."""

    def resolve(self, text: str) -> nodes.Node:
        """Return the number as it was said."""
        return nodes.inline("", "", nodes.Text(text), classes=["spoken"])


class GivenRole(BookRole):
    """The role ``{given}``: a number that the book sets, as an input or a count, never a result."""

    def resolve(self, text: str) -> nodes.Node:
        """Return the number as it is given."""
        return nodes.inline("", "", nodes.Text(text), classes=["given"])


class GuessRole(BookRole):
    """The role ``{guess}``: what this reader guessed of an explorer, where anything was guessed.

    It stands right after a word, since it brings its own space and brackets.
    """

    def resolve(self, text: str) -> nodes.Node:
        """Return a place for the page's script to write in; other formats have none."""
        return nodes.raw("", f'<span data-guess="{roles.guess(text)}"></span>', format="html")


class where_text(nodes.Inline, nodes.TextElement):
    """A text within a paragraph that holds under a condition."""


class where_block(nodes.General, nodes.Element):
    """One or more paragraphs that hold under a condition."""


def visit_where(self, node: nodes.Element) -> None:
    """Write the start tag, hidden where the condition is false for the book's scenario."""
    name = "span" if isinstance(node, where_text) else "div"
    hidden = {} if node["holds"] else {"hidden": "hidden"}
    self.body.append(
        self.starttag(
            node,
            name,
            "",
            CLASS="where" + (" with-next" if node.get("next") else ""),
            **{"data-where": node["data"]},
            **hidden,
        )
    )


def depart_where(self, node: nodes.Element) -> None:
    """Write the end tag."""
    self.body.append("</span>" if isinstance(node, where_text) else "</div>\n")


def skip_unless_it_holds(self, node: nodes.Element) -> None:
    """Show, in other formats, only what holds for the book's own scenario."""
    if not node["holds"]:
        raise nodes.SkipNode


class WhereRole(BookRole):
    """The roles {where} and {always}: text that holds under a condition.

    They are written {where}``CONDITION | text``; the text may hold other roles.
    """

    def resolve(self, text: str) -> nodes.Node:
        """Return the text with its condition."""
        condition, words = roles.condition_and_text(text)
        inside, _ = self.inliner.parse(words, self.lineno, None, nodes.Element())
        if self.name == "always":
            return nodes.inline("", "", *inside)
        return where_text("", "", *inside, **roles.where(condition))


class WhereDirective(SphinxDirective):
    """The directives {where} and {always}: paragraphs that hold under a condition.

    The condition is the argument; the option `with-next` hides what follows too.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"with-next": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return the paragraphs with their condition."""
        try:
            condition = roles.condition(self.arguments[0])
        except roles.RoleError as error:
            return [self.state.document.reporter.error(str(error), line=self.lineno)]
        box = (
            nodes.container()
            if self.name == "always"
            else where_block(**roles.where(condition), next="with-next" in self.options)
        )
        self.state.nested_parse(self.content, self.content_offset, box)
        return box.children if self.name == "always" else [box]


def publish_claims(app, exception) -> None:
    """Write the ledger's data beside its page."""
    if exception is None and app.builder.format == "html" and "claims" in app.env.found_docs:
        ledger.publish(Path(app.outdir))


def on_pages(env) -> dict:
    """Return the live numbers of each page, by key."""
    if not hasattr(env, "handful_on_pages"):
        env.handful_on_pages = {}
    return env.handful_on_pages


def purge(app, env, docname: str) -> None:
    """Forget the live numbers of a page."""
    on_pages(env).pop(docname, None)


def merge(app, env, docnames, other) -> None:
    """Take over the live numbers of another process's pages."""
    on_pages(env).update({name: page for name, page in on_pages(other).items() if name in docnames})


def block(page: dict) -> str:
    """Return the JSON blocks of one page.

    One holds what is computed, the other what is read when a box opens for the first time.
    """
    names = sorted({entry["formula"] for entry in page.values()})
    data = {"formulas": {name: roles.formula_entry(name) for name in names}, "numbers": page}
    return _json("live-numbers", data) + _json("live-maths", roles.maths(names))


def _json(name: str, data: dict) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace(
        "<", "\\u003c"
    )
    return f'<script type="application/json" id="{name}">{text}</script>'


def add_block(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Add the JSON blocks to a page's body."""
    page = on_pages(app.env).get(pagename)
    if page and "body" in context:
        context["body"] += block(page)


def setup(app):
    """Register roles, nodes and page data."""
    text_only = (as_text, as_text)
    app.add_node(
        figure_in_text,
        html=(visit_html, depart_html),
        latex=text_only,
        text=text_only,
        epub=text_only,
        man=text_only,
        texinfo=text_only,
    )
    for name, role in {
        "live": LiveRole,
        "lecture": LectureRole,
        "spoken": SpokenRole,
        "fact": FactRole,
        "given": GivenRole,
        "guess": GuessRole,
    }.items():
        app.add_role(name, role())
    skipped = (skip_unless_it_holds, as_text)
    for node in (where_text, where_block):
        app.add_node(
            node,
            html=(visit_where, depart_where),
            latex=skipped,
            text=skipped,
            epub=skipped,
            man=skipped,
            texinfo=skipped,
        )
    for name in ("where", "always"):
        app.add_role(name, WhereRole())
        app.add_directive(name, WhereDirective)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("html-page-context", add_block)
    app.connect("build-finished", publish_claims)
    return {
        "version": "1",
        "env_version": 1,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
