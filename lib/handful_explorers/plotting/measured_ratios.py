"""Draw published measurements of decode steps against their floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handful_evidence.measured import MODEL, band, ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of Okabe and Ito's palette, which the colour-blind can tell apart.
COLOURS = {"H100 SXM": "#0072B2", "H200 SXM": "#009E73", "B200 SXM": "#D55E00"}
MARKERS = {"bf16": "s", "fp8": "o", "fp4": "^"}
TICKS = (1, 1.5, 2, 3, 5, 10)


def measured_ratios() -> Figure:
    """Draw measured over predicted times of one dense model against the batch.

    One panel shows one chip, the other a node of eight.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _panel(left, 1, "One chip")
    _panel(right, 8, "Eight chips, tensor parallel")
    shown = {
        label: handle
        for axes in (left, right)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        shown.values(),
        shown.keys(),
        loc="outside lower center",
        ncols=3,
        fontsize="small",
        frameon=False,
    )
    left.set_ylabel("Measured ÷ predicted")
    left.set_yticks(TICKS, [str(t) for t in TICKS])
    left.minorticks_off()
    return figure


def _panel(axes, devices: int, title: str) -> None:
    for chip, colour in COLOURS.items():
        for precision, marker in MARKERS.items():
            wanted = MODEL, chip, precision, devices
            rows = [r for r in ratios() if (r.model, r.chip, r.precision, r.devices) == wanted]
            if rows:
                kernels = ", kernels" if rows[0].publisher == "kernels" else ""
                axes.plot(
                    [r.batch for r in rows],
                    [r.ratio for r in rows],
                    marker,
                    color=colour,
                    alpha=0.75,
                    markersize=5,
                    label=f"{chip}, {precision}{kernels}",
                )
    found = band(devices)
    assert found is not None, "both classes of this figure have a band"
    axes.axhspan(found.low, found.high, color="#888888", alpha=0.15, linewidth=0)
    axes.axhline(1, color="#888888", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="Sequences at once", title=title)
    axes.grid(alpha=0.2)
