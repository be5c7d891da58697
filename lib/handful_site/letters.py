r"""The letters of equations on the site, each marked as the quantity that it stands for.

A formula that a code cell shows comes from the package, so each of its letters is one of
``quantities.py``, and no two share one.  Only what KaTeX sets for the site is
marked: notebooks, PDF and EPUB keep plain LaTeX.

>>> print(mark(r"T = 2 B_{\mathrm{fit}}"))
\htmlData{letter=batch_interval,n=0}{T }= 2 \htmlData{letter=batch_that_fits,n=1}{B_{\mathrm{fit}}}
"""

from __future__ import annotations

import itertools
import re
from functools import cache

from bs4 import BeautifulSoup

from handful.symbolic.quantities import find, table

from .elements import classes, set_classes, value

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[^\s\\]")
SHOWN = ".derivation .math[data-tex], .cell_output .text_latex .math[data-tex]"
# What follows these is no letter: a subscript belongs to what it stands at, and words are words.
APART = {"_", r"\mathrm", r"\text", r"\operatorname", r"\begin", r"\end", r"\left", r"\right"}


@cache
def _letters() -> dict[tuple[str, ...], str]:
    """Return the name of each quantity by its letter's tokens, without the space around it.

    A difference that has a name is not one letter but two.
    """
    return {
        tuple(TOKEN.findall(q.latex.removeprefix(r"\,").removesuffix(r"\,"))): q.name
        for q in table.values()
        if " - " not in q.latex
    }


def mark(tex: str) -> str:
    r"""Return LaTeX in which each letter names its quantity, and its place in reading order.

    The longest letter counts, so that N* and N_total are one each.  An exponent stays with its
    letter, for KaTeX would set it beside the subscript otherwise.

    >>> print(mark(r"L^{B} x_{B} \mathrm{B}"))
    \htmlData{letter=context,n=0}{L^{\htmlData{letter=batch,n=1}{B}} }x_{B} \mathrm{B}
    """
    found = [*TOKEN.finditer(tex)]
    words = [one[0] for one in found]
    starts = [*(one.start() for one in found), len(tex)]
    longest = max(map(len, _letters()))
    number = itertools.count()

    def after(i: int) -> int:
        """Return where the argument ends that begins at token i."""
        depth = 0
        for at in range(i, len(words)):
            depth += (words[at] == "{") - (words[at] == "}")
            if depth == 0:
                return at + 1
        return len(words)

    def letter(i: int) -> tuple[str, int]:
        for end in range(min(i + longest, len(words)), i, -1):
            name = _letters().get(tuple(words[i:end]))
            if name and words[end : end + 1] != ["_"]:
                return name, end
        return "", i

    def run(i: int, stop: int) -> str:
        parts = []
        while i < stop:
            name, end = letter(i)
            if name:
                place, text = next(number), tex[starts[i] : starts[end]]
                if words[end : end + 1] == ["^"]:
                    i, end = end, after(end + 1)
                    text += run(i, end)
                parts.append(rf"\htmlData{{letter={name},n={place}}}{{{text}}}")
            else:
                end = after(i + 1) if words[i] in APART else i + 1
                parts.append(tex[starts[i] : starts[end]])
            i = end
        return "".join(parts)

    return tex[: starts[0]] + run(0, len(words))


def mark_page(soup: BeautifulSoup) -> None:
    """Mark the letters of the equations that cells show; give rows of Notation label and unit."""
    for tag in soup.select(SHOWN):
        tex = value(tag, "data-tex")
        tag["data-tex"] = mark(tex)
        if tag["data-tex"] != tex:
            set_classes(tag, [*classes(tag), "lettered"])
    for row in soup.select('tr[id^="symbol-row-"]'):
        quantity = find(value(row, "id").removeprefix("symbol-row-"))
        row["data-label"], row["data-unit"] = quantity.label, quantity.unit
