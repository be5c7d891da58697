"""Accessibility repairs of the theme's markup: names, landmarks, roles, headers.

What has to follow the page's state is repaired in the browser, by reach.js.
"""

from __future__ import annotations

from bs4 import BeautifulSoup

from .elements import one, set_classes

# What the theme leaves without a name, and the name.
NAMES = {
    "#pst-search-dialog": "Search",
    "#pst-primary-sidebar-modal": "Contents of the book",
    "#pst-secondary-sidebar-modal": "Contents of this page",
    ".primary-toggle": "Contents of the book",
    ".secondary-toggle": "Contents of this page",
    ".btn-fullscreen-button": "Full screen",
}
# The theme says only how a file's name ends.
WORDS = {".md": "Its source (.md)", ".pdf": "Print this page"}


def mend(soup: BeautifulSoup) -> None:
    """Make a page of the theme accessible to screen readers.

    >>> soup = BeautifulSoup(
    ...     "<table><thead><tr><th> </th><th>Cost</th></tr></thead></table>"
    ...     '<i class="fa-solid"></i>',
    ...     "html.parser",
    ... )
    >>> mend(soup)
    >>> print(soup.table)
    <table><thead><tr><td> </td><th scope="col">Cost</th></tr></thead></table>
    >>> print(soup.i)
    <i aria-hidden="true" class="fa-solid"></i>
    """
    for icon in soup.select("i[class*=fa-], span[class*=fa-], i.fas"):
        icon["aria-hidden"] = (
            "true"  # a letter of a font's private range, which a voice would try to say
        )
    for selector, name in NAMES.items():
        for tag in soup.select(selector):
            tag["aria-label"] = name
            if tag.name == "button":
                tag["title"] = name
    # Bootstrap, which reads these, is not there.
    for tag in soup.select("[data-bs-toggle]"):
        for name in [name for name in tag.attrs if name.startswith("data-bs-")]:
            del tag[name]
    # A menu that opens with scripts and without.
    for menu in soup.select(".dropdown-download-buttons"):
        button = one(menu, ":scope > button")
        menu.name, button.name = "details", "summary"
        set_classes(button, ["btn"])
        button["title"] = str(button.get("aria-label", ""))
        del button["type"], button["aria-expanded"]
        for text in menu.select(".btn__text-container"):
            text.string = WORDS.get(text.get_text(strip=True), text.get_text(strip=True))
    # The button shows "Search Ctrl + K", and so is called that: who speaks to the browser says what
    # they see.
    for button in soup.select(".search-button-field[aria-label]"):
        del button["aria-label"]
    for form in soup.select("form.bd-search"):
        form["role"] = "search"
    # The book's name and its search stood outside of every landmark.
    top = soup.select(".sidebar-primary-items__start > .sidebar-primary-item")
    for item, landmark in zip(top, ("header", "search"), strict=False):
        if not item.find("nav"):
            item.name = landmark
    for area in soup.select("footer.prev-next-footer > .prev-next-area"):
        area.name, area["aria-label"] = "nav", "Previous and next page"
        for link in area.select("a[title]"):
            del link["title"]  # it says what the link's text says
    for corner in soup.select("th"):
        if not corner.get_text(strip=True) and not corner.find(["img", "svg"]):
            corner.name = "td"  # an empty corner heads nothing
        elif corner.find_parent("thead") and not corner.get("scope"):
            corner["scope"] = "col"
    for entry in soup.select('[role="doc-biblioentry"]'):
        entry["role"] = "listitem"  # the older role is withdrawn, and was never one of a list's
    # A way out of the menu that needs no Escape key: a phone has none.  It shows only while the
    # menu lies over the page.
    for column in soup.select("#pst-primary-sidebar, #pst-secondary-sidebar"):
        leave = BeautifulSoup(
            '<form class="menu-close" method="dialog"><button type="submit">Close</button></form>',
            "html.parser",
        )
        column.insert(0, leave)
