"""Compare a published training step with the closed forms of DualPipe and its bubble.

The table (Zhao et al. 2025, table 4) gives totals over a step: passes that overlap with nothing,
passes that overlap, waiting.  Nothing says how many passes each total holds, so `reconstructed`
counts them in DualPipe's own schedule, under two assumptions: a micro-batch is one sequence, and
the totals are those of a device at an end of the pipeline.

>>> 0.10 < parts()["v3_bubble"] / step_time() < 0.11  # of the whole step
True
>>> r = reconstructed()
>>> round(
...     r["overlapped"] / (r["forward"] + r["backward"]), 2
... )  # two passes at once take 8 % less than in turn
0.92
"""

from __future__ import annotations

from functools import cache

from handful import pipelining
from handful.facts import get

from .simulate import pipeline

PARTS = (
    "v3_forward",
    "v3_backward_inputs",
    "v3_backward_weights",
    "v3_overlapped",
    "v3_bubble",
    "v3_optimiser",
)


def _value(name: str) -> float:
    return get("measured_pipelines", name)["value"]


def parts() -> dict[str, float]:
    """Return the seconds of each part of a step, by row of the table of facts."""
    return {name: _value(name) for name in PARTS}


def step_time() -> float:
    """Return the seconds of the whole measured step."""
    return _value("v3_step")


def micro_batches() -> int:
    """Return the number of micro-batches of one pipeline, each of one sequence.

    >>> micro_batches()
    120
    """
    return round(
        pipelining.micro_batches_of_batch(
            batch=_value("v3_batch"),
            pipeline_stages=_value("v3_stages"),
            devices=_value("v3_chips"),
            micro_batch=1,
        )
    )


@cache
def reconstructed() -> dict[str, float]:
    """Return the seconds of single passes, and of the bubble that DualPipe would have with them.

    Keys: forward, inputs, weights, backward (inputs and weights), overlapped; bubble_formula (the
    published closed form), bubble_played (the schedule, played through), bubble_1f1b (1F1B with the
    same passes).
    """
    stages, many, p = round(_value("v3_stages")), micro_batches(), parts()
    plan = pipeline.dual_pipe(stages, many)
    kinds = [step[0].kind if len(step) == 1 else "FB" for step in plan.orders[0]]
    count = {kind: kinds.count(kind) for kind in ("F", "I", "W", "B", "FB")}
    # A whole backward pass is both of its halves, one after the other.
    forward, overlapped = p["v3_forward"] / count["F"], p["v3_overlapped"] / count["FB"]
    inputs = p["v3_backward_inputs"] / (count["I"] + count["B"])
    weights = p["v3_backward_weights"] / (count["W"] + count["B"])
    backward = inputs + weights
    return {
        "forward": forward,
        "inputs": inputs,
        "weights": weights,
        "backward": backward,
        "overlapped": overlapped,
        "bubble_formula": pipelining.bubble_time_dual_pipe(
            pipeline_stages=stages,
            overlapped_time=overlapped,
            backward_time=backward,
            weight_gradient_time=weights,
        ),
        "bubble_played": pipeline.run(plan, forward, backward, weights, overlapped).idle[0],
        "bubble_1f1b": pipelining.bubble_time(
            pipeline_stages=stages, forward_time=forward, backward_time=backward
        ),
    }
