"""The version of the library that grades."""

from __future__ import annotations

from functools import lru_cache
from importlib import metadata


@lru_cache(1)
def library() -> str:
    """Return the version of `handful` that grades."""
    try:
        return metadata.version("handful")
    except metadata.PackageNotFoundError:
        return "unknown"
