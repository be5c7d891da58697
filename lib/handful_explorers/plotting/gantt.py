"""Draw a pipeline schedule as a Gantt chart, one row per device and one bar per piece of work."""

from __future__ import annotations

from handful_evidence.simulate import pipeline
from handful_evidence.simulate.pipeline import Run, Schedule

# Of Okabe and Ito's palette, which the colour-blind can tell apart.
COLOURS = {"F": "#0072B2", "B": "#D55E00", "I": "#CC79A7", "W": "#009E73"}
WORDS = {"F": "forward", "B": "backward", "I": "backward, inputs", "W": "backward, weights"}


def gantt(schedule: Schedule, run: Run, *, title: str | None = None):
    """Draw a schedule that was run, as a matplotlib Figure.

    Numbers in the bars are micro-batches, from 1; a second stream, or a second chunk of the model,
    is paler.  Overlapped pieces share a bar, forward above.

    >>> from handful_evidence.simulate.pipeline import one_forward_one_backward, run
    >>> plan = one_forward_one_backward(4, 8)
    >>> figure = gantt(plan, run(plan, 1, 2))
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['1', '2', '3', '4']
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    figure = Figure(figsize=(9, 0.42 * schedule.devices + 1.3), layout="constrained")
    axes = figure.subplots()
    many = schedule.micro_batches * schedule.chunks > 24  # numbers would not fit into the bars
    for bar in run.bars:
        height = 0.84 / len(bar.pieces)
        for row, piece in enumerate(bar.pieces):
            y = bar.device - 0.42 + row * height
            faded = 1 - 0.35 * (piece.stream == 1) - 0.25 * (piece.stage // schedule.devices % 2)
            axes.broken_barh(
                [(bar.start, bar.end - bar.start)],
                (y, height),
                facecolor=COLOURS[piece.kind],
                alpha=faded,
                edgecolor="white",
                linewidth=0.6,
            )
            if not many:
                axes.text(
                    (bar.start + bar.end) / 2,
                    y + height / 2,
                    str(piece.micro_batch + 1),
                    ha="center",
                    va="center",
                    color="white",
                    fontsize=8 if len(bar.pieces) == 1 else 6,
                )
    kinds = list(dict.fromkeys(piece.kind for bar in run.bars for piece in bar.pieces))
    figure.legend(
        handles=[Patch(color=COLOURS[kind], label=WORDS[kind]) for kind in kinds],
        loc="outside lower center",
        ncols=len(kinds),
        frameon=False,
        fontsize="small",
    )
    axes.set(
        yticks=range(schedule.devices),
        yticklabels=[str(i + 1) for i in range(schedule.devices)],
        xlim=(0, run.makespan),
        xlabel="Time",
        ylabel="Stage",
        title=title
        or f"{schedule.name}: a stage waits for {run.bubble / run.makespan:.0%} of the time "
        "at most",
    )
    axes.invert_yaxis()
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(left=False)
    return figure


def compare(
    stages: int, micro_batches: int, backward: float, weights: float
) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table that compares the schedules.

    For each: the bubble in closed form and played through, and what a device holds at most.

    Times are in forward passes.  Where two passes overlap they take as long as one after the other.

    >>> head, rows = compare(stages=4, micro_batches=8, backward=2, weights=1)
    >>> [(row[0], row[1], row[2]) for row in rows][:2]
    [('GPipe', '9', '9'), ('1F1B', '9', '9')]
    """
    from handful import pipelining
    from handful.units import format_value

    formulas = {
        "gpipe": pipelining.bubble_time,
        "1f1b": pipelining.bubble_time,
        "interleaved": pipelining.bubble_time_interleaved,
        "zero_bubble": pipelining.bubble_time_zero_bubble,
        "dual_pipe": pipelining.bubble_time_dual_pipe_in_turn,
    }
    names = {
        "gpipe": "GPipe",
        "1f1b": "1F1B",
        "interleaved": "Interleaved 1F1B, two pieces",
        "zero_bubble": "ZB-H1",
        "dual_pipe": "DualPipe, weights held twice",
    }
    known = {
        "pipeline_stages": stages,
        "forward_time": 1,
        "backward_time": backward,
        "weight_gradient_time": weights,
        "model_chunks": 2,
    }
    rows = []
    for key, formula in formulas.items():
        run = pipeline.run(pipeline.SCHEDULES[key](stages, micro_batches), 1.0, backward, weights)
        closed = formula({quantity.name: known[quantity.name] for quantity in formula.inputs})
        rows.append(
            [
                names[key],
                format_value(round(closed, 9), "1"),
                format_value(round(run.bubble, 9), "1"),
                format_value(run.bubble / (run.makespan - run.bubble), "%"),
                format_value(run.bubble / run.makespan, "%"),
                format_value(max(run.held), "1"),
            ]
        )
    return [
        "Schedule",
        "Bubble, closed form",
        "Bubble, played",
        "Of the work",
        "Of the whole time",
        "Micro-batches held",
    ], rows
