"""The directive ``{formulas}``: the reference of a subject's formulas, or the list of subjects.

Each formula is a section whose id is ``formula-`` and its name, so that it can be linked to.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from handful.search import by_subject
from handful.units import plural

from . import formula_reference as reference
from .worked_calls import WorkedCallError


class FormulasDirective(SphinxDirective):
    """The directive ``{formulas}``; its argument is a subject of `handful.search.SUBJECTS`."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the sections of the subject, or the list of all; errors are those of the build."""
        if not self.arguments:
            return self._subjects()
        subject, known = self.arguments[0], by_subject()
        if subject not in known:
            return [self._error(f"There is no subject {subject!r}; there are: {list(known)}.")]
        if self.env.docname != reference.slug_of(subject):
            return [self._error(f"{subject!r} belongs on the page {reference.slug_of(subject)}.")]
        try:
            return [self._entry(formula) for formula in known[subject]]
        except WorkedCallError as error:
            return [self._error(str(error))]

    def _error(self, text: str) -> nodes.system_message:
        return self.state.document.reporter.error(text, line=self.lineno)

    def _entry(self, formula) -> nodes.section:
        anchor = reference.anchor_of(formula.name)
        call = reference.worked(formula)
        code = reference.call_text(call)
        section = nodes.section(ids=[anchor], names=[anchor], classes=["formula-entry"])
        section += nodes.title("", "", nodes.Text(reference.title_of(formula.name)))
        section += nodes.raw("", reference.described(formula, call), format="html")
        section += nodes.literal_block(code, code, language="python")
        section += nodes.raw("", reference.explained(formula), format="html")
        self.state.document.note_explicit_target(section)
        return section

    def _subjects(self) -> list[nodes.Node]:
        listed = nodes.bullet_list()
        for subject, count in reference.counts().items():
            page = reference.slug_of(subject)
            if not Path(self.env.doc2path(page)).exists():
                return [
                    self._error(
                        f"{subject!r} has no page: write {page}.md, and its line in _toc.yml."
                    )
                ]
            link = nodes.reference(
                "", "", nodes.Text(subject), refuri=f"{page}.html", internal=True
            )
            words = nodes.paragraph("", "", link, nodes.Text(f" ({plural(count, 'formula')})"))
            listed += nodes.list_item("", words)
        return [listed]


def setup(app):
    """Register the directive."""
    app.add_directive("formulas", FormulasDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
