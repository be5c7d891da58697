"""Schematics of the chapters: pictures that build up in steps.

Each is declared in the module of its subject; `schematic` says how.
"""

from .chain import chained_memory, nine_boxes
from .crossing import two_ways_over
from .decode import decode_step
from .experts import expert_layer
from .fast import fast_mode
from .feistel import feistel_round
from .growth import both_ways
from .heads import shared_heads
from .kink import price_kink
from .layouts import four_layouts
from .lives import one_quality, three_bills
from .passes import one_pass
from .person import one_person
from .ratios import answers_over_prompts
from .reuse import one_weight, what_cancels
from .sharing import shared_cache
from .shelf import room_and_door
from .stages import between_layers, pipeline_or_copies, training_orders, training_turns
from .training import four_piles, rebuilt_notes, training_notes
from .waiting import three_ways

__all__ = [
    "answers_over_prompts",
    "between_layers",
    "both_ways",
    "chained_memory",
    "decode_step",
    "expert_layer",
    "fast_mode",
    "feistel_round",
    "four_layouts",
    "four_piles",
    "nine_boxes",
    "one_pass",
    "one_person",
    "one_quality",
    "one_weight",
    "pipeline_or_copies",
    "price_kink",
    "rebuilt_notes",
    "room_and_door",
    "shared_cache",
    "shared_heads",
    "three_bills",
    "three_ways",
    "training_notes",
    "training_orders",
    "training_turns",
    "two_ways_over",
    "what_cancels",
]
