"""Draw published measurements of decode steps against their floor."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from handful import facts, latency, scenario
from handful_evidence.measured import MODEL, Ratio, ratios

from .figure import as_svg, quiet_axes
from .style import INK, PALETTE, SOFT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours of the palette, which pages repaint for light and dark.
COLOURS = {"H100 SXM": PALETTE[0], "H200 SXM": PALETTE[2], "B200 SXM": PALETTE[1]}
# Chips whose servers were measured at one batch stand side by side.
DODGE = {"H100 SXM": 0.9, "H200 SXM": 1, "B200 SXM": 1.11}
MARKERS = {"bf16": "s", "fp8": "o", "fp4": "^"}
TICKS = (1, 1.5, 2, 3, 5, 10)


class MeasuredRatios:
    """Measured over predicted times of one dense model against the batch.

    The upper panel shows one chip, the lower a node of eight.

    >>> 'role="img" aria-label="Two scatter plots' in MeasuredRatios()._repr_html_()
    True
    """

    def figure(self) -> Figure:
        """Draw both panels over the names of their points."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4.6, 7))  # as wide as a phone shows it
        upper = quiet_axes(figure, (0.11, 0.65, 0.86, 0.31))
        lower = quiet_axes(figure, (0.11, 0.2, 0.86, 0.31))
        _panel(upper, 1, "Measured steps against predictions: one chip")
        _panel(lower, 8, "Eight chips")
        shown = {
            label: handle
            for axes in (upper, lower)
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            shown.values(),
            shown.keys(),
            loc="lower center",
            ncols=2,
            fontsize=10,
            frameon=False,
            labelcolor=INK,
        )
        for axes in (upper, lower):
            axes.set_ylabel("Measured ÷ predicted", color=INK, fontsize=10)
            axes.set_ylim(0.93, 11.5)
            axes.set_yticks(TICKS, [str(t) for t in TICKS])
            axes.minorticks_off()
            axes.set_xlim(0.8, 700)
            axes.set_xticks([1, 10, 100], ["1", "10", "100"])
        return figure

    def words(self) -> str:
        """Return what the picture shows in words."""
        rows = _rows(1), _rows(8)
        one, node = ([min(r.ratio for r in some), max(r.ratio for r in some)] for some in rows)
        least, most = (
            f"{row.chip.split()[0]} in {row.precision}"
            for pick in (min, max)
            for row in [pick(rows[0], key=lambda r: r.ratio)]
        )
        return (
            "Two scatter plots of measured over predicted time against sequences at once. With one "
            f"chip the ratios lie between {one[0]:.1f} and {one[1]:.1f}, lowest for {least} and "
            f"highest for {most}. With eight chips they lie between {node[0]:.1f} and "
            f"{node[1]:.1f}."
        )

    def _repr_html_(self) -> str:
        drawing = as_svg(self.figure, "measured-ratios")
        return (
            '<div class="explorer-static measured-ratios" role="img" '
            f'aria-label="{escape(self.words())}">{drawing}</div>'
        )


def _rows(devices: int) -> list[Ratio]:
    """Return the measurements of a panel."""
    return [
        row
        for row in ratios()
        if row.model == MODEL and row.devices == devices and row.chip in COLOURS and fits(row)
    ]


def fits(row: Ratio) -> bool:
    """Return whether a step that is added up from kernels could run, its caches in memory."""
    if row.publisher != "kernels":
        return True
    known = scenario.values(
        hardware=row.chip,
        model=row.model,
        precision=row.precision,
        devices=row.devices,
        context=facts.get("measured_steps", row.name)["context"],
    )
    return row.batch <= latency.batch_that_fits(known)


def _panel(axes, devices: int, title: str) -> None:
    for chip, colour in COLOURS.items():
        for precision, marker in MARKERS.items():
            rows = [r for r in _rows(devices) if (r.chip, r.precision) == (chip, precision)]
            if rows:
                kernels = ", sum of parts" if rows[0].publisher == "kernels" else ""
                axes.plot(
                    [(1 if kernels else DODGE[chip]) * r.batch for r in rows],
                    [r.ratio for r in rows],
                    marker,
                    color=colour,
                    alpha=0.75,
                    markersize=5,
                    label=f"{chip}, {precision}{kernels}",
                )
    axes.axhline(1, color=SOFT, linewidth=1)
    axes.text(690, 1.03, "as predicted", color=SOFT, fontsize=10, ha="right", va="bottom")
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("Sequences at once (the batch)", color=INK, fontsize=10)
    axes.set_title(title, color=INK, fontsize=11)
