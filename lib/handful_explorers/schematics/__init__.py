"""Schematics of the chapters: pictures that build up in steps.

Each is declared in the module of its subject; `schematic` says how.
"""

from .cache import growing_cache
from .decode import decode_step
from .experts import expert_layer
from .fast import fast_mode
from .feistel import feistel_round
from .heads import shared_heads
from .ladder import memory_ladder
from .training import rebuilt_notes, training_notes

__all__ = [
    "decode_step",
    "expert_layer",
    "fast_mode",
    "feistel_round",
    "growing_cache",
    "memory_ladder",
    "rebuilt_notes",
    "shared_heads",
    "training_notes",
]
