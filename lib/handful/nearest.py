"""Suggest names for one that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST = 100  # names that are all listed where none is alike; of more, the first few


def nearest(name: str, names: Iterable[str], limit: int = 3) -> str:
    """Return the names most like `name`, comma-separated; those that contain it come first.

    Where none is alike, all are listed.

    >>> nearest("H100", ["H100 SXM", "TPU v5e"]), nearest("batches", ["batch", "context"])
    ('H100 SXM', 'batch')
    >>> nearest("xyz", ["batch", "context"])
    'batch, context'
    """
    listed = list(names)
    found = alike(name, listed, limit)
    return ", ".join(found or (listed if len(listed) <= MOST else sorted(listed)[:5]))


def alike(name: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """Return the names most like `name`, if any; those that contain it come first.

    >>> alike("bengio", ["ybengio", "ada"]), alike("xyz", ["batch", "context"])
    (['ybengio'], [])
    """
    folded = {known.lower(): known for known in names}
    wanted = str(name).lower()
    found = [known for low, known in folded.items() if wanted and wanted in low][:limit]
    close = (folded[low] for low in difflib.get_close_matches(wanted, folded, n=limit))
    return [*found, *(known for known in close if known not in found)][:limit]
