"""Tables for pages: schedules of pipelines, computed, played and measured."""

from __future__ import annotations

from handful import pipelining
from handful.units import format_value
from handful_evidence import measured_pipelines
from handful_evidence.simulate import pipeline

from .table import Table

_SCHEDULES = {
    "gpipe": ("GPipe", pipelining.bubble_time),
    "1f1b": ("1F1B", pipelining.bubble_time),
    "interleaved": ("Interleaved 1F1B, two pieces", pipelining.bubble_time_interleaved),
    "zero_bubble": ("ZB-H1", pipelining.bubble_time_zero_bubble),
    "dual_pipe": ("DualPipe, weights held twice", pipelining.bubble_time_dual_pipe_in_turn),
}
_PARTS = {
    "v3_forward": "forward passes alone",
    "v3_backward_inputs": "backward passes alone, for inputs",
    "v3_backward_weights": "backward passes alone, for weights",
    "v3_overlapped": "a forward and a backward pass at once",
    "v3_bubble": "waiting",
    "v3_optimiser": "optimiser",
}


def schedules_table(stages: int, micro_batches: int, backward: float, weights: float) -> Table:
    """Compare the schedules, as head and rows of text.

    For each: the bubble in closed form and played through, and what a device holds at most.

    Times are in forward passes.  Where two passes overlap they take as long as one after the other.

    >>> rows = schedules_table(stages=4, micro_batches=8, backward=2, weights=1).rows
    >>> [(row[0], row[1], row[2]) for row in rows][:2]
    [('GPipe', '9', '9'), ('1F1B', '9', '9')]
    """
    known = {
        "pipeline_stages": stages,
        "forward_time": 1,
        "backward_time": backward,
        "weight_gradient_time": weights,
        "model_chunks": 2,
    }
    rows = []
    for key, (name, formula) in _SCHEDULES.items():
        run = pipeline.run(pipeline.SCHEDULES[key](stages, micro_batches), 1.0, backward, weights)
        closed = formula({quantity.name: known[quantity.name] for quantity in formula.inputs})
        rows.append(
            [
                name,
                format_value(round(closed, 9), "1"),
                format_value(round(run.bubble, 9), "1"),
                format_value(run.bubble / (run.makespan - run.bubble), "%"),
                format_value(run.bubble / run.makespan, "%"),
                format_value(max(run.held), "1"),
            ]
        )
    head = [
        "Schedule",
        "Bubble, closed form",
        "Bubble, played",
        "Of the work",
        "Of the whole time",
        "Micro-batches held",
    ]
    return Table(head, rows)


def step_table() -> Table:
    """Return the parts of the measured training step and their shares, as head and rows of text.

    >>> step_table().rows[-1][0]
    'the step'
    """
    whole = measured_pipelines.step_time()
    rows = [
        [_PARTS[name], format_value(value, "s", 4), format_value(value / whole, "%")]
        for name, value in measured_pipelines.parts().items()
    ]
    return Table(
        ["Part of the step", "Time", "Share"],
        [*rows, ["the step", format_value(whole, "s", 4), ""]],
    )


def bubbles_table() -> Table:
    """Return the measured step's bubble and three computed ones, as head and rows of text.

    >>> bubbles_table().rows[-1][0]
    'measured'
    """
    found, whole = measured_pipelines.reconstructed(), measured_pipelines.step_time()
    rows = [
        ("1F1B with the same passes", found["bubble_1f1b"]),
        ("DualPipe, closed form", found["bubble_formula"]),
        ("DualPipe, played through", found["bubble_played"]),
        ("measured", measured_pipelines.parts()["v3_bubble"]),
    ]
    return Table(
        ["Bubble", "Time", "Share of the measured step"],
        [
            [name, format_value(value, "s"), format_value(value / whole, "%")]
            for name, value in rows
        ],
    )
