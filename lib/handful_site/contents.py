"""The table of contents."""

from __future__ import annotations


def chapters(toc: dict) -> list[str]:
    """Return the page names in a table of contents, in reading order."""
    found = [toc["root"]] if "root" in toc else []
    for key in ("chapters", "sections", "parts"):
        for entry in toc.get(key, ()):
            found += [entry["file"]] if "file" in entry else []
            found += chapters({k: v for k, v in entry.items() if k != "root"})
    return found
