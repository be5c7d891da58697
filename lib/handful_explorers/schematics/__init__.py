"""Schematics of the chapters: pictures that build up in steps.

Each is declared in the module of its subject; `schematic` says how.
"""

from .cache import growing_cache
from .crossing import two_ways_over
from .decode import decode_step
from .domains import four_domains
from .experts import expert_layer
from .fast import fast_mode
from .heads import shared_heads
from .ladder import memory_ladder

__all__ = [
    "decode_step",
    "expert_layer",
    "fast_mode",
    "four_domains",
    "growing_cache",
    "memory_ladder",
    "shared_heads",
    "two_ways_over",
]
