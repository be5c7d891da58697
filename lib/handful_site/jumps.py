"""Ways into long lists: a row of links to their letters or subjects, one stop of the Tab key.

The glossary and the index of numbers go by the first letter, Notation by its subjects.  What a link
leads to takes the focus, so that the Tab key goes on from there, and begins a group of its own
(web/tab_groups.js).
"""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag

from .elements import value

FEW = 30  # rows of a table that needs no way in
SAYS = "Arrow keys, Home and End go through these links; Enter goes to the place"


def initial(text: str) -> str:
    """Return the capital that a text is found under; digits are one.

    >>> initial("all-reduce"), initial(" 1F1B"), initial("→ out")
    ('A', '0–9', '→')
    """
    first = text.strip()[:1].upper()
    return "0–9" if first.isdigit() else first


def add(soup: BeautifulSoup) -> None:
    """Put a row of links before each long list of a page.

    >>> page = BeautifulSoup('<dl class="glossary"><dt id="a">ale</dt><dd/></dl>', "html.parser")
    >>> add(page)
    >>> page.nav.a["href"], page.dt["tabindex"]
    ('#a', '-1')
    """
    for terms in soup.select("dl.glossary"):
        _lead(soup, terms, "Terms by their first letter", by_letter(terms.select("dt[id]")))
    for tables in soup.select(".notation-list"):
        subjects = tables.select("caption")
        for head in subjects:
            head["id"] = f"subject-{_slug(head.get_text())}"
        _lead(soup, tables, "Letters by their subject", {h.get_text(): h for h in subjects})
    for i, table in enumerate(soup.select("table.numbers-index"), 1):
        rows = table.select("tbody > tr")
        if len(rows) > FEW and not rows[0].get("id"):
            groups = by_letter(rows)
            for letter, row in groups.items():
                row["id"] = f"numbers-{i}-{_slug(letter)}"
            _lead(soup, table, "Rows by their first letter", groups)


def by_letter(items: list[Tag]) -> dict[str, Tag]:
    """Return the first of the items under each letter, in their order."""
    groups: dict[str, Tag] = {}
    last = ""
    for item in items:
        if (letter := initial(item.get_text())) != last and letter not in groups:
            groups[letter] = item
        last = letter
    return groups


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _lead(soup: BeautifulSoup, long: Tag, name: str, groups: dict[str, Tag]) -> None:
    """Write the links to the groups before the list, and mark where each group begins."""
    links = soup.new_tag("ul")
    for label, start in groups.items():
        start["data-jump"], start["tabindex"] = label, "-1"
        link = soup.new_tag("a", href=f"#{value(start, 'id')}", string=label)
        link["aria-description"] = SAYS
        entry = soup.new_tag("li")
        entry.append(link)
        links.append(entry)
    row = soup.new_tag("nav", attrs={"class": "jump", "aria-label": name})
    row.append(links)
    box = long.find_parent(class_="scrollable-table")
    (box or long).insert_before(row)
