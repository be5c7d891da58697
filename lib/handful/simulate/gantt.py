"""A pipeline schedule as a Gantt chart: one row a device, one bar a piece of work."""

from __future__ import annotations

from .pipeline import Run, Schedule

# Of Okabe and Ito's palette, which the colour-blind can tell apart.
COLOURS = {"F": "#0072B2", "B": "#D55E00", "I": "#CC79A7", "W": "#009E73"}
WORDS = {"F": "forward", "B": "backward", "I": "backward, inputs", "W": "backward, weights"}


def gantt(schedule: Schedule, run: Run, *, title: str | None = None):
    """Draw a schedule that was run, as a matplotlib Figure.

    Numbers in the bars are micro-batches, from 1; a second stream, or a second chunk of the model, is paler.
    Overlapped pieces share a bar, forward above.

    >>> from .pipeline import one_forward_one_backward, run
    >>> plan = one_forward_one_backward(4, 8)
    >>> figure = gantt(plan, run(plan, 1, 2))
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['1', '2', '3', '4']
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    figure = Figure(figsize=(9, 0.42 * schedule.devices + 1.3), layout="constrained")
    axes = figure.subplots()
    many = schedule.micro_batches * schedule.chunks > 24        # numbers would not fit into the bars
    for bar in run.bars:
        height = 0.84 / len(bar.pieces)
        for row, piece in enumerate(bar.pieces):
            y = bar.device - 0.42 + row * height
            faded = 1 - 0.35 * (piece.stream == 1) - 0.25 * (piece.stage // schedule.devices % 2)
            axes.broken_barh([(bar.start, bar.end - bar.start)], (y, height), facecolor=COLOURS[piece.kind],
                             alpha=faded, edgecolor="white", linewidth=0.6)
            if not many:
                axes.text((bar.start + bar.end) / 2, y + height / 2, str(piece.micro_batch + 1), ha="center",
                          va="center", color="white", fontsize=8 if len(bar.pieces) == 1 else 6)
    kinds = list(dict.fromkeys(piece.kind for bar in run.bars for piece in bar.pieces))
    figure.legend(handles=[Patch(color=COLOURS[kind], label=WORDS[kind]) for kind in kinds], loc="outside lower center",
                  ncols=len(kinds), frameon=False, fontsize="small")
    axes.set(yticks=range(schedule.devices), yticklabels=[str(i + 1) for i in range(schedule.devices)],
             xlim=(0, run.makespan), xlabel="Time", ylabel="Stage",
             title=title or f"{schedule.name}: a stage waits for {run.bubble / run.makespan:.0%} of the time at most")
    axes.invert_yaxis()
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(left=False)
    return figure
