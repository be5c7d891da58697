"""Pictures in cards and problems: files of the book, copied into every export."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from .source import ExportError, folder

KINDS = (".png", ".jpg", ".jpeg", ".svg", ".webp", ".gif")


def picture(source: str, where: str) -> Path:
    """Return the file of a picture, beside the exercises' sources or among the book's pages.

    `where` names the card or problem that shows it, for the error message.
    """
    name, top = unquote(source), folder().parent
    if not re.match(r"[a-z]+:|/", name) and name.lower().endswith(KINDS):
        for place in (folder() / "cards", folder() / "problems", top / "book"):
            path = (place / name).resolve()
            if path.is_file() and path.is_relative_to(top.resolve()):
                return path
    raise ExportError(
        f"{where} shows the picture {source!r}, which is no picture beside the exercises or in "
        "the book."
    )
