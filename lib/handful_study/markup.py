r"""Markdown of cards and problems: as HTML for Anki, Moodle and paper, as text for a terminal.

The dialect is the page's own: CommonMark with tables, typographic quotation marks, ``$…$`` and
``$$…$$``.

>>> html("Weights *once*: $N w$.")
'<p>Weights <em>once</em>: \\(N w\\).</p>'
>>> print(text("A step takes\n\n$$t \\ge \\frac{N w}{\\mathrm{BW}}$$\n\n- at least\n- so long"))
A step takes
<BLANKLINE>
    t ≥ (N w)/BW
<BLANKLINE>
- at least
- so long
"""

from __future__ import annotations

import html as entities
import textwrap
from collections.abc import Callable
from functools import cache

from . import maths


@cache
def parser():
    """Return the Markdown parser.

    HTML in a text is shown as text, so that no text can become a script.
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.amsmath import amsmath_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    made = MarkdownIt("commonmark", {"html": False, "typographer": True}).enable(
        ["table", "smartquotes"]
    )
    return made.use(dollarmath_plugin).use(amsmath_plugin)


def anki(tex: str, display: bool) -> str:
    r"""Return maths as Anki and Moodle read it: ``\(…\)`` inline, ``\[…\]`` on its own line.

    A browser decodes the entities.
    """
    inside = entities.escape(" ".join(tex.split()), quote=False)
    return rf"\[{inside}\]" if display else rf"\({inside}\)"


def html(
    markdown: str, maths: Callable[[str, bool], str] = anki, image: Callable[[str], str] = str
) -> str:
    """Convert Markdown to HTML; `maths` sets a formula, `image` maps a picture's source."""
    reader = parser()
    tokens = reader.parse(markdown)
    for token in tokens:
        for inner in token.children or ():
            if inner.type == "image":
                inner.attrs["src"] = image(str(inner.attrs["src"]))
    rules = {
        "math_inline": False,
        "math_inline_double": True,
        "math_block": True,
        "math_block_label": True,
        "amsmath": True,
    }

    def rendered(tokens) -> str:
        made = []
        for i, token in enumerate(tokens):
            if token.type in rules:
                formula = maths(token.content.strip(), rules[token.type])
                made.append(f"<p>{formula}</p>\n" if rules[token.type] and token.block else formula)
            elif token.type == "inline":
                made.append(rendered(token.children))
            elif rule := reader.renderer.rules.get(token.type):
                made.append(rule(tokens, i, reader.options, {}))
            else:
                made.append(reader.renderer.renderToken(tokens, i, reader.options, {}))
        return "".join(made)

    return rendered(tokens).strip()


def text(markdown: str, width: int = 80) -> str:
    """Convert Markdown to text for a terminal, in lines of at most `width` where possible."""
    from markdown_it.tree import SyntaxTreeNode

    return "\n".join(
        _blocks(SyntaxTreeNode(parser().parse(markdown)).children, max(width, 20))
    ).strip("\n")


def _blocks(nodes, width: int) -> list[str]:
    lines: list[str] = []
    for node in nodes:
        if lines and node.type != "list_item":
            lines.append("")
        lines += _block(node, width)
    return lines


def _block(node, width: int) -> list[str]:
    match node.type:
        case "paragraph" | "heading":
            return [
                line
                for part in _words(node).split("\n")
                for line in textwrap.wrap(
                    part, width, break_long_words=False, break_on_hyphens=False
                )
                or [""]
            ]
        case "math_block" | "math_block_label" | "amsmath":
            return [f"    {line}" for line in maths.text(node.content.strip()).split("\n")]
        case "fence" | "code_block":
            return [f"    {line}" for line in node.content.rstrip("\n").split("\n")]
        case "bullet_list" | "ordered_list":
            first = int(node.attrs.get("start", 1))
            return [
                line
                for number, item in enumerate(node.children, first)
                for line in _with_mark(
                    "- " if node.type == "bullet_list" else f"{number}. ",
                    _blocks(item.children, width - 4),
                )
            ]
        case "blockquote":
            return [f"| {line}" for line in _blocks(node.children, width - 2)]
        case "table":
            rows = [
                [_words(cell) for cell in row.children]
                for part in node.children
                for row in part.children
            ]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            return [
                "  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip()
                for row in rows
            ]
        case "hr":
            return ["-" * 20]
        case _:
            return _blocks(node.children, width)


def _with_mark(mark: str, lines: list[str]) -> list[str]:
    return [
        (mark if i == 0 else " " * len(mark)) + line if line else "" for i, line in enumerate(lines)
    ]


def _words(node) -> str:
    """Return the words within a paragraph or a cell."""
    match node.type:
        case "text" | "code_inline":
            return node.content
        case "math_inline" | "math_inline_double":
            return maths.text(node.content)
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case "image":
            return f"[picture: {node.content}]"
        case _:
            return "".join(map(_words, node.children))
