"""The approximate height of a section, which a browser reserves before it lays out the text.

Theme.css leaves out what is far from the screen (content-visibility), and a section with a wrong
estimate moves the scroll bar under the reader's hand when its turn comes.  The weights below were
fitted to the heights of the book's own sections on a phone, 390 px wide; a wide screen takes four
fifths of that, for which the sheet corrects.
"""

from __future__ import annotations

from bs4 import BeautifulSoup

ASIDE = ["details", "figure", "table"]
# Selector → pixels for each.
THINGS = {
    "h2, h3, h4": 52,
    "figure.explorer": 980,
    ".math-block, div.math": 53,
    ".derivation": 225,
    ".entry": 235,
    ".problem": 85,
}
PARAGRAPH, LETTER = 26, 0.57
LINE_OF_CODE = 23
ROW, LETTER_OF_A_ROW = 31, 0.8
FOLD, LETTER_OF_A_FOLD = 45, 0.43
LETTER_OF_A_PROBLEM = 0.41


def _letters(tag) -> int:
    return len(" ".join(tag.get_text().split()))


def _outside(tags, *names: str):
    return [tag for tag in tags if tag.find_parent(list(names)) is None]


def height(section) -> float:
    r"""Return the height in pixels, at a width of 390.

    The example has 52 for the heading, 26 and 0.57 a letter for the paragraph, and 23 a line of
    code.

    >>> soup = BeautifulSoup(
    ...     "<section><h2>A</h2><p>" + "word " * 100 + "</p><pre>a\nb</pre></section>",
    ...     "html.parser",
    ... )
    >>> round(height(soup.section))
    408
    """
    total: float = sum(each * len(section.select(selector)) for selector, each in THINGS.items())
    for tag in _outside(section.find_all(["p", "li", "dd", "dt"]), *ASIDE):
        if (
            tag.find(["p", "li", "dd"]) is None
            and tag.find_parent(class_=["problem", "entry"]) is None
        ):
            total += PARAGRAPH + LETTER * _letters(tag)
    total += sum(
        LINE_OF_CODE * (tag.get_text().count("\n") + 1)
        for tag in _outside(section.find_all("pre"), "details")
    )
    total += sum(
        ROW + LETTER_OF_A_ROW * _letters(tag)
        for tag in _outside(section.find_all("tr"), "figure", "details")
    )
    for tag in _outside(section.find_all("details"), "details", "figure"):
        total += FOLD + LETTER_OF_A_FOLD * (_letters(tag.summary) if tag.summary else 0)
    return total + LETTER_OF_A_PROBLEM * sum(
        _letters(p) for p in _outside(section.select(".problem p"), "details")
    )


def keep(soup: BeautifulSoup) -> None:
    """Write each section's height into its style.

    It is in steps of a tenth, so that the site needs few classes for it.
    """
    for section in soup.select(".bd-article > section > section"):
        rem = float(f"{height(section) / 16:.2g}")
        section["style"] = f"--room: {rem:g}rem"
