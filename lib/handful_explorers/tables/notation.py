"""The notation page: every quantity of the book, from the one table that formulas use too."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable

from handful.symbolic.quantities import Quantity, table

HEAD = (
    '<thead><tr><th scope="col">Letter</th><th scope="col">Name in Python</th>'
    '<th scope="col">Meaning</th><th scope="col">Dimension</th></tr></thead>'
)


class Listing:
    """Quantities that a notebook shows as HTML, a table a subject, with the letters as maths.

    A browser lays out a table in one go, and all quantities in one table took it a seventh of a
    second; it skips those that are far from the screen.
    """

    def __init__(self, quantities: Iterable[Quantity]) -> None:
        self.quantities = list(quantities)

    def __len__(self) -> int:
        return len(self.quantities)

    def _repr_html_(self) -> str:
        tables = "".join(
            f'<div class="notation"><table><caption>{html.escape(section)}</caption>{HEAD}'
            f"<tbody>{''.join(map(_row, members))}</tbody></table></div>"
            for section, members in itertools.groupby(self.quantities, lambda q: q.section)
        )
        return f'<div class="notation-list">{tables}</div>'


def _row(q: Quantity) -> str:
    name = q.name.replace("_", "_<wbr>")  # long names may break there
    dimension = re.sub("([/·])", r"\1<wbr>", html.escape(str(q.dimension)))
    letter = html.escape(q.latex, quote=True)
    default = f" ({q.default:g} unless said otherwise)" if q.default is not None else ""
    return (
        f'<tr id="symbol-row-{q.name}"><td><span class="math notranslate nohighlight" '
        f'data-tex="{letter}">\\({letter}\\)'
        f"</span></td><td><code>{name}</code></td><td>{html.escape(q.meaning + default)}</td>"
        f"<td>{dimension}</td></tr>"
    )


def notation() -> Listing:
    """Return the table of every quantity, in the order in which factors print.

    >>> len(notation()) == len(table)
    True
    """
    return Listing(table.values())
