"""Tables for pages: gradients of reversible networks."""

from __future__ import annotations

import numpy as np

from handful.units import format_value
from handful_evidence.simulate.reversible_networks import gradients, network

from .table import Table


def gradient_table(width: int = 32, tokens: int = 24) -> Table:
    """Return kept against rebuilt activations, as head and rows of text for a page.

    They differ in bytes and in the gradients that they give.

    How gradients differ: the largest difference of any, relative to the largest entry of its array.
    """
    rows = []
    for depth, dtype, label in (
        (4, np.float64, "double"),
        (16, np.float64, "double"),
        (64, np.float64, "double"),
        (16, np.float32, "single"),
    ):
        net = network("transformer", depth, width, dtype=dtype)
        x = np.random.default_rng(11).standard_normal((2, tokens, width)).astype(dtype)
        kept, rebuilt = gradients(net, *x, rebuild=False), gradients(net, *x)
        pairs = [(kept.x1, rebuilt.x1), (kept.x2, rebuilt.x2)]
        pairs += [
            pair
            for one, other in zip(kept.weights, rebuilt.weights, strict=True)
            for pair in zip(one, other, strict=True)
        ]
        gap = max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)
        rows.append(
            [
                str(depth),
                label,
                f"{kept.held_bytes / 1e3:,.0f} kB",
                f"{rebuilt.held_bytes / 1e3:,.0f} kB",
                format_value(gap, "1", 1),
            ]
        )
    return Table(["Blocks", "Precision", "Kept", "Rebuilt", "Gradients differ by"], rows)
