"""The book's roles as plain Markdown, for outputs that have no roles.

These are the terminal, Anki, notebooks and paper.

>>> without_roles("At {lecture}`9:40`: {spoken}`300`")
'At [9:40](https://www.youtube.com/watch?v=xmkSf5IS-zw&t=580s): 300'
>>> without_roles('computed {live}`balance_batch hardware="H100 SXM" digits=2`')
'computed ...'
"""

from __future__ import annotations

import re
from collections.abc import Callable

from handful import query as ask

ROLE = re.compile(r"\{([\w-]+)\}(`+)(.+?)\2", re.S)


def without_roles(text: str, drawn: Callable[[str], str] | None = None) -> str:
    """Replace each role in `text` by what a reader of the page's first scenario sees.

    Parameters
    ----------
    text : str
        Markdown with the book's roles.
    drawn : callable, optional
        Gives the text of ``{drawn}``; a problem gives its own for a seed.

    Raises
    ------
    handful.query.QueryError
        For a request that cannot be answered, or a role that only pages know.
    """

    def shown(match: re.Match) -> str:
        role, inside = match[1], " ".join(match[3].split())
        if role == "drawn" and drawn:
            return drawn(inside)
        if role not in _SHOWN:
            raise ask.QueryError(
                f"{match[0]!r} cannot be shown outside of a page; allowed are "
                f"{', '.join((*_SHOWN, *(['drawn'] if drawn else [])))}."
            )
        return _SHOWN[role](inside)

    return ROLE.sub(shown, text)


def markdown(text: str, drawn: Callable[[str], str] | None = None) -> str:
    r"""Replace the roles for a reader of Markdown with maths between dollar signs.

    The dollar sign of a price is escaped, so that it does not begin a formula.

    >>> markdown("$x$ for {given}`$2.10`")
    '$x$ for \\$2.10'
    """
    return ROLE.sub(
        lambda found: (
            without_roles(found[0], drawn).replace("$", r"\$")
            if found[1] != "math"
            else without_roles(found[0])
        ),
        text,
    )


def _live(text: str) -> str:
    from handful.units import format_value

    found = ask.evaluate(text)
    return format_value(found.value, found.unit, found.digits)


_SHOWN: dict[str, Callable[[str], str]] = {
    "live": _live,
    "fact": lambda text: ask.shown_fact(text)["text"],
    "lecture": lambda text: f"[{text}]({ask.lecture_address(text)})",
    "spoken": str,
    "given": str,
    "term": lambda text: re.sub(r"\s*<.*>$", "", text),
    "math": lambda text: f"${text}$",
}
