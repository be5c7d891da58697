"""Servers as they were measured, and what has to be added to the floor before it says what they do.

The floor (``latency.step_time_mixed``) knows bandwidth and arithmetic.  A server also adds up partial results over
its fabric twice a layer, and each layer costs something whatever its size.  ``served_step_time`` has both as terms
that can be switched off, and an efficiency for each of the floor's own.  ``fits`` finds them for each model and chip
from some of the measured rows and says how well they predict the others.

>>> off = dict(memory_efficiency=1, compute_efficiency=1, network_efficiency=1, layer_overhead=0)
>>> case = cases()[0]
>>> alone = case.known | {"devices": 1}
>>> round(served_step_time(alone | off) / latency.step_time_mixed(alone), 9)      # switched off: the floor again
1.0
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import facts, latency, scenario
from . import quantities as q
from .formula import Formula
from .latency import compute_time, memory_time

n, one, g, new, B, d, w_r, layers, tau, up, e_m, e_c, e_n = (
    quantity.symbol for quantity in (
        q.devices, q.one_device, q.prompt_per_answer, q.tokens_per_step, q.batch, q.d_model, q.reduce_bytes, q.layers,
        q.layer_overhead, q.scale_up_bandwidth, q.memory_efficiency, q.compute_efficiency, q.network_efficiency))

all_reduce_time = Formula(
    q.all_reduce_time, 2 * layers * 2 * (n - one) * new * B * (1 + g) * d * w_r / (n * up * one), source="derived",
    meaning="two all-reduces a layer, each of which sends every activation out and back",
    conventions=("tensor parallel over all chips", "ring: each chip sends 2 (n − 1)/n of the activations",
                 "prompts at the rate at which answers leave"))

overhead_time = Formula(q.overhead_time, layers * tau, source="derived",
                        meaning="what layers cost that no chip makes faster", conventions=("0 switches it off",))

served_step_time = Formula(
    q.step_time, q.memory_time.symbol / e_m + q.compute_time.symbol * (1 + g) / e_c
    + q.all_reduce_time.symbol / e_n + q.overhead_time.symbol,
    using=(memory_time, compute_time, all_reduce_time, overhead_time), name="served_step_time", source="derived",
    meaning="a step of a server under steady load: nothing overlaps, and each term has its efficiency",
    conventions=("efficiencies of 1, one chip and no overhead give step_time_mixed",))

TERMS = ("memory_efficiency", "compute_efficiency", "network_efficiency", "layer_overhead")
_CHIPS = {"h100_sxm": "H100 SXM", "h200_sxm": "H200 SXM", "b200_sxm": "B200 SXM", "gb200": "GB200 NVL72"}
# R1 is V3 trained further: the same shape.
_MODELS = {"Llama-3.1-70B": "Llama 3.1 70B", "gpt-oss-120b": "gpt-oss-120b", "DeepSeek-R1": "DeepSeek-V3"}
# Four-bit weights carry a scale of 8 bits for each block of 32 (mxfp4); nvfp4's blocks of 16 are taken for the same.
_FOUR_BIT = (4 + 8 / 32) / 8  # bytes


@dataclass(frozen=True)
class Case:
    """One measured row: what was run, values of symbols for it, seconds per token; `why_not` tells why it is not fitted."""

    name: str
    model: str
    chip: str
    precision: str
    devices: int
    batch: int
    known: dict
    measured: float
    why_not: str = ""

    @property
    def over_floor(self) -> float:
        return self.measured / latency.step_time_mixed(self.known)


def _why_not(row) -> str:
    if row["attention_dp"] > 1:
        return "attention runs apart on each chip: its load is not known"
    if row["chips"] > 8:
        return "more chips than one scale-up node, or than tensor parallelism is made for"
    if row["moe_ep"] > 1:
        return "experts lie on different chips: traffic between them is not in these terms"
    return ""


@cache
def cases() -> tuple[Case, ...]:
    """Every measured row whose model's shape is known."""
    found = []
    for row in facts.load("measured_silicon"):
        model = _MODELS.get(row["model"].split("/")[1])
        if model is None:
            continue
        chip, shape = facts.get("accelerators", _CHIPS[row["system"]]), facts.get("shapes", model)
        four = row["precision"] == "fp4"
        precision = "bf16" if four and not chip["fp4_dense_flops"] else row["precision"]
        known = scenario.values(hardware=chip.name, model=model, precision=precision, devices=row["chips"],
                                context=row["isl_tokens"] + row["osl_tokens"] / 2,
                                **({"bytes_per_parameter": _FOUR_BIT} if four else {}))
        known |= {"batch": row["concurrency"], "prompt_per_answer": row["isl_tokens"] / row["osl_tokens"],
                  "layers": shape["layers"], "d_model": shape["d_model"],
                  "scale_up_bandwidth": chip["scaleup_bw_per_chip_one_direction_bytes_per_s"]}
        found.append(Case(row.name, model, chip.name, row["precision"], row["chips"], row["concurrency"], known,
                          row["tpot_ms"] / 1e3, _why_not(row)))
    return tuple(found)


@dataclass(frozen=True)
class Fit:
    """Four numbers for one model on one chip, and what they are worth on rows that they were not fitted to.

    `low` and `high` are the central 90 % of measured over predicted, each row predicted by a fit to the other four
    fifths; `floor_low` and `floor_high` the same over the floor alone.
    """

    model: str
    chip: str
    rows: int
    terms: dict[str, float]
    low: float
    high: float
    floor_low: float
    floor_high: float


def _fit(rows: list[Case]) -> dict[str, float]:
    """The four numbers that make the relative errors least, outliers counting less."""
    import numpy as np
    from scipy.optimize import lsq_linear

    off = {"memory_efficiency": 1, "compute_efficiency": 1, "network_efficiency": 1, "layer_overhead": 0}
    parts = []
    for case in rows:
        known = case.known | off
        parts.append([memory_time(known), compute_time(known) * (1 + known["prompt_per_answer"]),
                      all_reduce_time(known), known["layers"]])
    shares = np.array(parts) / np.array([[case.measured] for case in rows])
    # No efficiency is above 1, so no factor below it.
    bounds, weight = ([1, 1, 1, 0], [np.inf] * 4), np.ones(len(rows))
    for _ in range(40):
        factors = lsq_linear(shares * weight[:, None], weight, bounds=bounds).x
        weight = 1 / np.sqrt(np.maximum(np.abs(np.log(shares @ factors)), 0.05))
    return {name: float(factor if name == "layer_overhead" else 1 / factor) for name, factor in zip(TERMS, factors)}


@cache
def fits() -> tuple[Fit, ...]:
    """A fit for each model and chip with forty measured rows or more.

    >>> all(0.8 < fit.low < 1 < fit.high < 1.5 for fit in fits() if fit.model == "Llama 3.1 70B")
    True
    """
    import numpy as np

    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases():
        if not case.why_not:
            groups.setdefault((case.model, case.chip), []).append(case)
    found = []
    for (model, chip), rows in sorted(groups.items()):
        if len(rows) < 40:
            continue
        ratios = []
        for fold in range(5):
            terms = _fit([case for i, case in enumerate(rows) if i % 5 != fold])
            ratios += [case.measured / served_step_time(case.known | terms)
                       for i, case in enumerate(rows) if i % 5 == fold]
        low, high = np.quantile(ratios, [0.05, 0.95])
        floor = np.quantile([case.over_floor for case in rows], [0.05, 0.95])
        found.append(Fit(model, chip, len(rows), _fit(rows), float(low), float(high), *map(float, floor)))
    return tuple(found)


def unexplained() -> dict[str, int]:
    """Measured rows that are not fitted, counted by the reason."""
    reasons: dict[str, int] = {}
    for row in facts.load("measured_silicon"):
        if row["model"].split("/")[1] not in _MODELS:
            reason = f"the shape of {row['model'].split('/')[1]} is not among the facts"
            reasons[reason] = reasons.get(reason, 0) + 1
    fitted = {(fit.model, fit.chip) for fit in fits()}
    for case in cases():
        reason = case.why_not or ("" if (case.model, case.chip) in fitted else "too few rows of this model on this chip")
        if reason:
            reasons[reason] = reasons.get(reason, 0) + 1
    return reasons
