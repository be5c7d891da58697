"""The directive ``{ask}``: a question that a chapter opens with, and the reader's own answer.

Its text is a question and a list of what is guessed, a number each; with ``:choose:`` the list has
the answers to choose from.  The page's script keeps the answer in the browser, and the role
``{guess}`` repeats it where the chapter gives its own.  Without scripts the question stands alone.
"""

from __future__ import annotations

from html import escape
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class AskDirective(SphinxDirective):
    """The directive ``{ask} NAME``."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"choose": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return the question, and a form that waits for the script."""
        name, box = self.arguments[0], nodes.container(classes=["ask"])
        self.state.nested_parse(self.content, self.content_offset, box)
        items = next((n for n in box.children if isinstance(n, nodes.bullet_list)), None)
        if items is None or not isinstance(box.children[0], nodes.paragraph):
            raise self.error("{ask} has a question and then a list of what is guessed.")
        box.remove(items)
        fields = "".join(
            self._field(name, item.astext(), "choose" in self.options) for item in items.children
        )
        form = (
            f'<form class="ask-form" data-ask="{escape(name)}" aria-label="Your guess" hidden>'
            f"{fields}"
            '<button class="ask-keep">Keep my guess</button>'
            '<p class="ask-said" role="status"></p></form>'
        )
        box.append(nodes.raw("", form, format="html"))
        return [box]

    @staticmethod
    def _field(name: str, words: str, choose: bool) -> str:
        words = escape(words)
        if choose:
            kind = f'type="radio" name="{escape(name)}" value="{words}"'
            return f"<label><input {kind}> {words}</label>"
        return f'<label><input inputmode="decimal" size="6" data-words="{words}"> {words}</label>'


def setup(app):
    """Register the directive."""
    app.add_directive("ask", AskDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
