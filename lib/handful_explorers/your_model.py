"""Explorers of “Your model, your hardware”: those of the chapters, for the reader's scenario.

They come without the lecture's own settings, and without a question.

>>> step.presets, step.name, step.guess
((), 'your-step', None)
"""

from __future__ import annotations

from copy import copy

from . import balance, experts, latency, tiers
from .plotting.explorer import Explorer

__all__ = ["contexts", "cost", "crossing", "step", "wall"]


def _bare(explorer: Explorer, name: str, title: str) -> Explorer:
    """Return the same plot under another name, which only the reader's scenario sets."""
    own = copy(explorer)
    own.name, own.title, own.presets, own.guess = name, title, (), None
    return own


step = _bare(latency.latency_against_batch, "your-step", "One decode step of your model")
cost = _bare(latency.cost_against_batch, "your-cost", "What one of your tokens costs")
contexts = _bare(
    balance.balance_against_context, "your-balance", "The batch you need, and the batch that fits"
)
wall = _bare(tiers.wall, "your-wall", "How far your contexts can go")
crossing = _bare(
    experts.hiding_against_batch, "your-crossing", "Your experts over several fast networks"
)
