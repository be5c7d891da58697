"""An explorer as markup of a page, which stands alone without scripts."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from . import figure

if TYPE_CHECKING:
    from .explorer import Explorer


def figure_element(explorer: Explorer) -> str:
    """Return the figure for a page: drawing, words, table, and the JSON for explorer.js."""
    words, drawing = escape(explorer.alt_text()), figure.inline_svg(explorer)
    caption = (
        f'<p class="explorer-caption">{escape(explorer.caption)}</p>' if explorer.caption else ""
    )
    # While it asks, the page's script shows nothing that would answer (guess.js).
    asks = " data-guess" if explorer.guess else ""
    return (
        f'<figure class="explorer" id="explorer-{explorer.name}"{asks}>'
        f'<p class="explorer-title">{escape(explorer.title)}</p>'
        f'<div class="explorer-static" role="img" aria-label="{words}">{drawing}</div>'
        f'<figcaption>{caption}<p class="explorer-words">{words}</p></figcaption>'
        f'<details class="explorer-data"><summary>Data as a table</summary>'
        f"{table_element(*explorer.table())}</details>"
        f'<script type="application/json" class="explorer-spec">{spec_text(explorer)}</script>'
        "</figure>"
    )


def table_element(head: list[str], rows: list[list[str]]) -> str:
    """Return a table whose first column names its rows.

    >>> table_element(["Batch", "Time"], [["<1", "20 ms"]]).partition("<tbody>")[2]
    '<tr><th scope="row">&lt;1</th><td>20 ms</td></tr></tbody></table>'
    """
    columns = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"


def spec_text(explorer: Explorer) -> str:
    """Return the spec as JSON that can stand in a script element."""
    text = json.dumps(explorer.spec(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")
