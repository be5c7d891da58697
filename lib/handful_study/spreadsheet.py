"""Mark cells of a table so that every spreadsheet shows them and none runs them.

A spreadsheet takes a cell for a formula where it begins with one of ``= + - @`` (or their
full-width forms).  Where a cell begins depends on the list separator of whoever opens the file: a
German Excel splits ``x;=1+1`` into two cells, and a reader that splits at tabs or lines does so
there.  So a formula is made text, by an apostrophe before it, at the beginning of a cell and after
every separator within it.
"""

from __future__ import annotations

import re

MOST = 32_767  # characters of a cell that a spreadsheet takes
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LINES = "\t\r\n\x85\u2028\u2029"  # what ends a line or a cell whatever the separator is
# Apostrophes of ours, then blanks and quotation marks, which a reader may drop, then what begins a
# formula.
_BEFORE = rf"'*(?:[^\S{_LINES}]|\")*"
_FORMULA = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
_START = re.compile(f"{_BEFORE}(?:{_FORMULA}|[\t\r\n])")
# Within a cell, by whether the file's own separator is a comma: then a cell with a comma is quoted,
# and no reader splits it there.
_INSIDE = {
    comma: re.compile(f"([{_LINES};{'' if comma else ','}])(?={_BEFORE}{_FORMULA})")
    for comma in (True, False)
}
_MARKED = {
    comma: re.compile(f"([{_LINES};{'' if comma else ','}])'(?={_BEFORE}{_FORMULA})")
    for comma in (True, False)
}


def escape_cell(text: object, delimiter: str = ",") -> str:
    """Return a cell that every spreadsheet shows and none runs.

    It is for a file with that delimiter; unescape_cell undoes it.

    What no table can hold (control characters, halves of surrogate pairs) becomes U+FFFD; at most
    32,767 characters stay.

    >>> escape_cell("=HYPERLINK(1)"), escape_cell("'=1"), escape_cell("-ada")
    ("'=HYPERLINK(1)", "''=1", "'-ada")
    >>> (
    ...     escape_cell("notes;=1+1"),
    ...     escape_cell("f(1, -2) gave -3; right is 4"),
    ...     escape_cell("1, =2", delimiter=";"),
    ... )
    ("notes;'=1+1", 'f(1, -2) gave -3; right is 4', "1,' =2")
    """
    text = _UNFIT.sub("\ufffd", str(text)[:MOST])
    made = _INSIDE[delimiter == ","].sub(r"\1'", text)
    return (f"'{made}" if _START.match(made) else made)[:MOST]


def unescape_cell(cell: str, delimiter: str = ",") -> str:
    """Return the text that `escape_cell` made this cell of, with the same delimiter.

    >>> unescape_cell("'=HYPERLINK(1)"), unescape_cell("'quoted'"), unescape_cell("notes;'=1+1")
    ('=HYPERLINK(1)', "'quoted'", 'notes;=1+1')
    """
    if cell.startswith("'") and _START.match(cell):
        cell = cell[1:]
    return _MARKED[delimiter == ","].sub(r"\1", cell)
