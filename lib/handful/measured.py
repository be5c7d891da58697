"""How far measured steps lie above the first-principles floor.

Two sets of measurements: steps put together from measured kernels (``measured_steps``), compared with ``step_time``;
and whole servers under load (``measured_silicon``), whose time per token holds prompt work too, compared with
``step_time_mixed``.  Only rows with enough configuration to predict are compared: one dense model, its precision, its
chips, its load.  Convention: the cache in one byte per element at fp8 and fp4.

>>> low, high = band()
>>> 1 < low < 1.5 < 2 < high < 2.6      # always slower than the floor, never by much more than two
True
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import facts, latency, scenario
from .units import format_value

MODEL = "Llama 3.1 70B"
_CHIPS = {"h100_sxm": "H100 SXM", "h200_sxm": "H200 SXM", "b200_sxm": "B200 SXM"}


@dataclass(frozen=True)
class Ratio:
    """One measurement beside its prediction; `ratio` is measured over predicted."""

    chip: str
    precision: str
    devices: int
    batch: int
    measured: float
    predicted: float
    kind: str

    @property
    def ratio(self) -> float:
        return self.measured / self.predicted


@cache
def kernels() -> tuple[Ratio, ...]:
    """Decode steps from measured kernels against the roofline, tensor parallel over a node.

    >>> all(1.8 < r.ratio < 2.2 for r in kernels())
    True
    """
    found = []
    for row in facts.load("measured_steps"):
        known = scenario.values(hardware=row["chip"], model=row["model"], precision=row["precision"],
                                context=row["context"], devices=row["devices"])
        predicted = latency.step_time(known, batch=row["batch"])
        found.append(Ratio(row["chip"], row["precision"], row["devices"], row["batch"], row["measured_step_s"],
                           predicted, "kernels"))
    return tuple(found)


@cache
def servers() -> tuple[Ratio, ...]:
    """Servers of the dense 70B model under steady load against ``step_time_mixed``, every number of chips.

    A request's context grows from its prompt to prompt plus answer, so the mean of both stands for it; with every
    answer of `osl` tokens comes a prompt of `isl`.
    """
    found = []
    for row in facts.load("measured_silicon"):
        if not row["model"].endswith("Llama-3.1-70B") or row["chips"] != row["tp"]:
            continue
        known = scenario.values(hardware=_CHIPS[row["system"]], model=MODEL, precision=row["precision"],
                                context=row["isl_tokens"] + row["osl_tokens"] / 2, devices=row["chips"])
        predicted = latency.step_time_mixed(known, batch=row["concurrency"],
                                            prompt_per_answer=row["isl_tokens"] / row["osl_tokens"])
        found.append(Ratio(_CHIPS[row["system"]], row["precision"], row["chips"], row["concurrency"],
                           row["tpot_ms"] / 1e3, predicted, "servers"))
    return tuple(found)


def within(rows, share: float = 0.9) -> tuple[float, float]:
    """The central `share` of the ratios, as (low, high)."""
    ordered = sorted(r.ratio for r in rows)

    def at(quantile: float) -> float:  # as NumPy's default does it, without waiting for NumPy
        place = quantile * (len(ordered) - 1)
        below = min(int(place), len(ordered) - 2) if len(ordered) > 1 else 0
        return ordered[below] + (place - below) * (ordered[min(below + 1, len(ordered) - 1)] - ordered[below])

    return at((1 - share) / 2), at((1 + share) / 2)


@cache
def band() -> tuple[float, float]:
    """The band that explorers shade: the central 90 % over single chips under load and nodes by their kernels.

    To one decimal, outward.  Servers on several chips are left out: collectives and launches, which the floor does
    not hold, dominate there (see ``table``).
    """
    import math

    low, high = within([*kernels(), *(r for r in servers() if r.devices == 1)])
    return math.floor(low * 10) / 10, math.ceil(high * 10) / 10


def table() -> tuple[list[str], list[list[str]]]:
    """Head and rows: chip, precision, chips, measurements, and the central 90 % of measured ÷ predicted."""
    groups: dict[tuple, list[Ratio]] = {}
    for r in (*kernels(), *servers()):
        groups.setdefault((r.kind, r.chip, r.precision, r.devices), []).append(r)
    head = ["What", "Chip", "Precision", "Chips", "Measurements", "Measured ÷ predicted"]
    rows = []
    for (kind, chip, precision, devices), members in sorted(groups.items()):
        low, high = within(members)
        rows.append([{"kernels": "decode step from kernels", "servers": "server under load"}[kind], chip, precision,
                     str(devices), str(len(members)),
                     f"{format_value(low, '1', 2)} to {format_value(high, '1', 2)}"])
    return head, rows


def figure():
    """Measured ÷ predicted against batch: a panel each for one chip and for a node, as a matplotlib Figure."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(7.2, 4.2), layout="constrained")
    left, right = drawn.subplots(1, 2, sharey=True)
    colours = {"H100 SXM": "#0072B2", "H200 SXM": "#009E73", "B200 SXM": "#D55E00"}
    marks = {"bf16": "s", "fp8": "o", "fp4": "^"}
    for axes, devices, title in ((left, 1, "One chip"), (right, 8, "Eight chips, tensor parallel")):
        for chip, colour in colours.items():
            for precision, mark in marks.items():
                rows = [r for r in (*kernels(), *servers())
                        if (r.chip, r.precision, r.devices) == (chip, precision, devices)]
                if rows:
                    kind = ", kernels" if rows[0].kind == "kernels" else ""
                    axes.plot([r.batch for r in rows], [r.ratio for r in rows], mark, color=colour, alpha=0.75,
                              markersize=5, label=f"{chip}, {precision}{kind}")
        axes.axhspan(*band(), color="#888888", alpha=0.15, linewidth=0)
        axes.axhline(1, color="#888888", linewidth=1)
        axes.set(xscale="log", yscale="log", xlabel="Sequences at once", title=title)
        axes.grid(alpha=0.2)
    shown = {label: handle for axes in (left, right) for handle, label in zip(*axes.get_legend_handles_labels())}
    drawn.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    left.set_ylabel("Measured ÷ predicted")
    ticks = [1, 1.5, 2, 3, 5, 10]
    left.set_yticks(ticks, [str(t) for t in ticks])
    left.minorticks_off()
    return drawn
