"""Show a table of text, or a piece of HTML, as the result of a cell."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple


class Part:
    """A piece of HTML that a cell shows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        return self.text


class Table(NamedTuple):
    r"""Rows of text under a head; the first column names the row.

    >>> '<th scope="col">Chip</th>' in Table(["Chip"], [["H100"]])._repr_html_()
    True
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def _repr_html_(self) -> str:
        for row in self.rows:
            if len(row) != len(self.head):
                raise ValueError(
                    f"A row of this table has {len(self.head)} cells; got {len(row)}: {row}."
                )

        def cells(tag: str, texts: Sequence[str], scope: str = "") -> str:
            return "".join(f"<{tag}{scope}>{html.escape(text)}</{tag}>" for text in texts)

        head = cells("th", self.head, ' scope="col"')
        body = "".join(
            "<tr>" + cells("th", row[:1], ' scope="row"') + cells("td", row[1:]) + "</tr>"
            for row in self.rows
        )
        return (
            f'<div class="plain-table"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )
