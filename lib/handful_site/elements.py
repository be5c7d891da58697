"""Typed access to the elements of a parsed page.

Beautiful Soup returns None where a search finds nothing, and a list of strings for an attribute
with several values.  These functions are for elements that have to be there, and for attributes
that are plain text.
"""

from __future__ import annotations

from collections.abc import Iterable

from bs4 import Tag


class MissingElementError(LookupError):
    """An element that a page should have and does not; the message names its selector."""


def one(within: Tag, selector: str) -> Tag:
    """Return the first element that a selector finds, or raise a MissingElementError.

    >>> from bs4 import BeautifulSoup
    >>> page = BeautifulSoup("<h1>A</h1>", "html.parser")
    >>> one(page, "h1").string
    'A'
    >>> one(page, "h2")
    Traceback (most recent call last):
    ...
    handful_site.elements.MissingElementError: There is no 'h2' in <[document]>.
    """
    found = within.select_one(selector)
    if found is None:
        raise MissingElementError(f"There is no {selector!r} in <{within.name}>.")
    return found


def having(within: Tag, name: str) -> list[Tag]:
    """Return all elements with an attribute, including those within a <template>.

    A selector would leave the latter out.
    """
    return within.find_all(lambda tag: tag.has_attr(name))


def value(tag: Tag, name: str) -> str:
    """Return an attribute as text; raise a KeyError where the element does not have it.

    >>> from bs4 import BeautifulSoup
    >>> value(one(BeautifulSoup('<a class="b c"></a>', "html.parser"), "a"), "class")
    'b c'
    """
    found = tag[name]
    return found if isinstance(found, str) else " ".join(found)


def classes(tag: Tag) -> list[str]:
    """Return the classes of an element; an empty list where it has none."""
    found: str | list[str] = tag.get("class") or []
    return found.split() if isinstance(found, str) else list(found)


def set_classes(tag: Tag, names: Iterable[str]) -> None:
    """Give an element these classes and no others."""
    # Beautiful Soup takes any list; the class in its annotation exists from 4.13 on only.
    tag["class"] = list(names)  # type: ignore[assignment]
