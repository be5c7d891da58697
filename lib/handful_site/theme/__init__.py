"""The book's HTML theme: templates, and what they show of a page.

Jupyter Book and plain Sphinx take it as ``html_theme = "handful"`` with this module among the
extensions.  It stands on no other theme.  Scripts, sheets and icons are named in the templates and
come from ``bundle.mjs`` and ``postprocess.py``, so that Sphinx adds none of its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment.adapters.toctree import TocTree
from sphinx.transforms.post_transforms import SphinxPostTransform

from handful import scenario

from .. import edition, notebooks, wheel

# What a browser may do on every page: load from the site itself, and run no script in its text.
POLICY = "default-src 'self'; base-uri 'self'; form-action 'self'; object-src 'none'"
# Every page is set in these two, so they are asked for beside the sheet that names them: text that
# changes its font under a reader's eyes moves.
FONTS = (
    "files/source-serif-4-latin-400-normal.woff2",
    "files/source-sans-3-latin-wght-normal.woff2",
)
PAPER = {"light": "#fdfcf8", "dark": "#12181d"}
LONGEST_LEDE = 230


class FitPage(SphinxPostTransform):
    """Mark the first sentence under a page's title, and let tables scroll on a narrow screen."""

    default_priority = 600
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Change the page's document in place."""
        for title in self.document.findall(nodes.title):
            after = title.next_node(descend=False, siblings=True)
            # Longer ones read as text.
            if isinstance(after, nodes.paragraph) and len(after.astext()) <= LONGEST_LEDE:
                after["classes"].append("lede")
            break
        for table in list(self.document.findall(nodes.table)):
            table["classes"].append("table")
            box = nodes.container(classes=["scrollable-table"])
            # Not replace_self, which would give the box the table's classes and its id.
            table.parent.replace(table, box)
            box += table


def chapter_numbers(app: Sphinx) -> dict[str, int]:
    """Return the chapters of the book's first part and their numbers, from 1."""
    root = app.env.get_doctree(app.config.root_doc)
    for tree in root.findall(addnodes.toctree):
        if tree.get("caption"):
            return {name: number for number, name in enumerate(tree["includefiles"], 1)}
    return {}


def page_contents(app: Sphinx, page: str) -> str:
    """Return the list of a page's sections as HTML; "" where it has at most one."""
    whole = TocTree(app.env).get_toc_for(page, app.builder)
    lists = list(whole.findall(nodes.bullet_list))
    if len(lists) < 2 or len(lists[1]) < 2:
        return ""
    return app.builder.render_partial(lists[1])["fragment"]  # type: ignore[attr-defined]


def body_classes(page: str, body: str, meta: dict[str, Any]) -> list[str]:
    """Return what sets a page apart: the first one with its plot, and those with a scenario bar.

    >>> body_classes("pipelining", "", {"scenario": "yes"})
    ['has-scenario']
    """
    front = page == "index" and '<figure class="explorer' in body
    kept = meta.get("scenario")
    return (
        ["is-front"] * front
        + ["has-scenario"] * ("scenario" in meta)
        + ["text-follows"] * (kept == "follows")
    )


def own_scenario(meta: dict[str, Any]) -> str:
    """Return the scenario from which a page starts where it is not the book's own; else "".

    >>> own_scenario({"scenario": "H100 SXM, Llama 3.1 70B, bf16, 4096"})
    'H100 SXM, Llama 3.1 70B, bf16, 4096'
    >>> own_scenario({"scenario": "follows"}), own_scenario({})
    ('', '')
    """
    text = str(meta.get("scenario", ""))
    return "" if text == "follows" else text


def begin_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Let the numbers of a page start from its own scenario, as its plots do."""
    found = re.search(r"\A---\n.*?^scenario: (.+?)$.*?^---$", source[0], re.M | re.S)
    scenario.start_from(own_scenario({"scenario": found[1]} if found else {}))


def add_context(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give the templates what they show beside the text."""
    body = context.get("body", "")
    source = Path(app.env.doc2path(page)) if doctree is not None else None
    if not hasattr(app, "chapter_numbers"):
        app.chapter_numbers = chapter_numbers(app)  # type: ignore[attr-defined]
    context.update(
        author=app.config.author,
        chapter_number=app.chapter_numbers.get(page),  # type: ignore[attr-defined]
        edition=edition.current().title,
        fonts=FONTS,
        classes=" ".join(body_classes(page, body, context.get("meta") or {})),
        own_scenario=own_scenario(context.get("meta") or {}),
        has_exercises="data-study" in body,
        notebook=context["theme_notebooks"]
        and source is not None
        and notebooks.has_code(source.read_text("utf-8")),
        page_contents=page_contents(app, page) if doctree is not None else "",
        paper=PAPER,
        policy=POLICY,
        wheel=f"{wheel.FOLDER}/{wheel.name(edition.current().version)}",
    )


def set_defaults(app: Sphinx, config: Config) -> None:
    """Ask for the pages that the theme brings, and for none that it lacks."""
    config.html_additional_pages = {"404": "404.html", **config.html_additional_pages}
    config.html_permalinks_icon = "#"
    config.html_sourcelink_suffix = ""
    config.html_use_index = False


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the theme, and what it does to pages."""
    app.add_html_theme("handful", str(Path(__file__).parent))
    # Jupyter Book sets it for an extension that this book leaves out.
    app.add_config_value("comments_config", {}, "html")
    app.add_post_transform(FitPage)
    app.connect("config-inited", set_defaults)
    app.connect("source-read", begin_page)
    app.connect("html-page-context", add_context)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
