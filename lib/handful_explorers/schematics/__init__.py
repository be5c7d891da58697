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
from .lives import one_quality, three_bills
from .reuse import one_weight, what_cancels
from .shelf import room_and_door
from .training import rebuilt_notes, training_notes
from .waiting import three_ways

__all__ = [
    "decode_step",
    "expert_layer",
    "fast_mode",
    "feistel_round",
    "growing_cache",
    "memory_ladder",
    "one_quality",
    "one_weight",
    "rebuilt_notes",
    "room_and_door",
    "shared_heads",
    "three_bills",
    "three_ways",
    "training_notes",
    "what_cancels",
]
