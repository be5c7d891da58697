"""Tables for pages: how small changes grow."""

from __future__ import annotations

from handful.perturbation_growth import KINDS
from handful.units import format_value
from handful_evidence.simulate.reversible_networks import direction_gains

from .table import Table


def worst_direction_table(depth: int = 24, gain: float = 2.0, seeds: int = 8) -> Table:
    """Return how a random and the worst small change grow, as head and rows for a page.

    The numbers are medians over random networks.
    """
    import numpy as np

    rows = []
    for label, residual, normalised in KINDS:
        found = np.array(
            [
                direction_gains(
                    depth, residual=residual, normalised=normalised, gain=gain, seed=seed
                )
                for seed in range(seeds)
            ]
        )
        average, worst = np.median(found, axis=0)
        rows.append(
            [
                label,
                *(
                    format_value(x, "1", digits)
                    for x, digits in (
                        (average, 2),
                        (worst, 2),
                        (np.median(found[:, 1] / found[:, 0]), 2),
                    )
                ),
            ]
        )
    return Table(
        ["Network", "A random change grows", "The worst change grows", "Worst over random"], rows
    )
