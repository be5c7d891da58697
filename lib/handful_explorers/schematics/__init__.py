"""Schematics of the chapters: pictures that build up in steps.

Each is declared in the module of its subject; `schematic` says how.
"""

from .cache import growing_cache
from .decode import decode_step

__all__ = ["decode_step", "growing_cache"]
