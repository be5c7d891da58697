r"""Bound the number of combining marks in a row.

No language puts many on one letter, and a text may hold thousands.

>>> (
...     limit_marks("o" + "\u0302" * 60_000) == "o" + "\u0302" * MOST,
...     limit_marks("Ti\u1ebfng Vi\u1ec7t"),
... )
(True, 'Tiếng Việt')
"""

from __future__ import annotations

import unicodedata

MOST = 8  # on one letter; pointed and accented Hebrew takes four


def limit_marks(text: str, most: int = MOST) -> str:
    """Return the text with at most `most` combining marks in a row.

    Joiners and other format characters do not end a row.
    """
    if text.isascii():
        return text
    kept, row = [], 0
    for letter in text:
        if not letter.isascii() and (kind := unicodedata.category(letter)) in ("Mn", "Me", "Cf"):
            row += kind != "Cf"
            if row > most and kind != "Cf":
                continue
        else:
            row = 0
        kept.append(letter)
    return "".join(kept)
