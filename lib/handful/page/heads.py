"""What stands in a page's head for others than its reader: icons, and what it says of itself."""

from __future__ import annotations

PAPER = {"light": "#fdfcf8", "dark": "#12181d"}


def icons(soup, up: str) -> None:
    """The icons (see icons.py), and the colour that a phone gives its own bars above the page."""
    new, static = soup.new_tag, f"{up}_static/handful/"
    for old in soup.head.select('link[rel~="icon"]'):
        old.decompose()
    soup.head.extend([new("link", rel="icon", type="image/svg+xml", href=static + "favicon.svg"),
                      new("link", rel="apple-touch-icon", href=static + "apple-touch-icon.png"),
                      *(new("meta", attrs={"name": "theme-color", "content": colour, "media": f"(prefers-color-scheme: {scheme})"})
                        for scheme, colour in PAPER.items())])
