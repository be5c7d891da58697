"""Judges of answers that may come out in many ways: conditions for a ratio of prices, and a plan of racks."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Verdict = tuple[float, str, str | None]


def _number(value, least: float = 0.0) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= least


def ratio_conditions(question, given: Mapping[str, object], calls: Sequence[Mapping], answers: Sequence) -> Verdict:
    """Two pairs of batch and context at which decode reads `output_over_input` times as long as it computes.

    Half of the points for each pair that gives the ratio within one per cent (and a little for rounding), and no more than half
    where the two batches are within a factor of three of each other.

    >>> chip = {"peak_flops": 2.25e15, "memory_bandwidth": 8e12, "bytes_per_parameter": 2, "active_parameters": 6e10,
    ...         "total_parameters": 6e11, "kv_bytes_per_token": 7e4, "output_over_input": 5}
    >>> ratio_conditions(None, chip, [], [[{"batch": 583.65, "context": 1100}, {"batch": 2770, "context": 24286}]])[::2]
    (1.0, None)
    >>> ratio_conditions(None, chip, [], [[{"batch": 583.65, "context": 1100}, {"batch": 900, "context": 1000}]])[0]
    0.5
    >>> ratio_conditions(None, chip, [], ["five"])
    (0.0, 'A list of two dicts is expected, each with the keys batch and context.', None)
    """
    from ..prices import output_over_input

    found = answers[0] if answers else None
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(one, dict) and {"batch", "context"} <= set(one) for one in found):
        return 0.0, "A list of two dicts is expected, each with the keys batch and context.", None
    wanted, known = given["output_over_input"], {"kv_window_bytes": 0, **given}
    right, weights, said = 0, 0, []
    for place, one in zip(("first", "second"), found):
        if not _number(one["batch"], 1e-9) or not _number(one["context"], 100):
            said.append(f"The {place} pair needs a batch above 0 and a context of 100 tokens or more, as numbers.")
            continue
        reached = float(output_over_input({**known, "batch": one["batch"], "context": one["context"]}))
        if abs(reached / wanted - 1) <= 0.011:
            right += 1
            continue
        alone = float(output_over_input({**known, "batch": one["batch"], "context": 0}))
        weights += abs(alone / wanted - 1) <= 0.011
        said.append(f"The {place} pair makes reading {reached:.3g} times as long as arithmetic; the list says {wanted:g}.")
    if right == 2:
        low, high = sorted(one["batch"] for one in found)
        if high < 2.999 * low:
            return 0.5, "Both pairs give the ratio, but their batches are within a factor of three; take a longer context for the second.", None
        return 1.0, "Both pairs give the ratio, with batches far apart: the list cannot tell them from each other.", None
    if weights and right + weights == 2:
        return max(0.25, right / 2), "Your batches leave out the caches, which are read as well. " + " ".join(said), "weights-alone"
    return right / 2, " ".join(said), None
