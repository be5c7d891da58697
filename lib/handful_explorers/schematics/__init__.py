"""Schematics of the chapters: pictures that build up in steps.

Each is declared in the module of its subject; `schematic` says how.
"""

from .decode import decode_step
from .experts import expert_layer
from .fast import fast_mode
from .heads import shared_heads
from .kink import price_kink
from .ladder import memory_ladder
from .passes import one_pass
from .sharing import shared_cache

__all__ = [
    "decode_step",
    "expert_layer",
    "fast_mode",
    "memory_ladder",
    "one_pass",
    "price_kink",
    "shared_cache",
    "shared_heads",
]
