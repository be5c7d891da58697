"""Estimate times, rates, cost, balance and memory for one scenario and one batch, with units.

Where reading and arithmetic overlap, the slower of the two is what a step takes and costs; the
other is hidden behind it.  So the three parts of a cost do not add up to it: weights and caches do,
or the arithmetic.

>>> one = estimate("H100 SXM", "Llama 3.1 70B", "bf16", batch=1, context=4096)
>>> (
...     round(one["step_time_s"] * 1e3, 2),
...     one["bound_by"],
... )  # a third party's table of the same roofline: 5.32
(5.32, 'memory')
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from handful import balance, facts, latency, scenario
from handful.symbolic.quantities import find
from handful.units import format_value

from . import measured

__all__ = ["BATCH", "Estimate", "Line", "estimate"]

BATCH = 64  # the batch that a roofline's slider starts at
_ENDS = ("measured_low_s", "  steps, from"), ("measured_high_s", "    to")


@dataclass(frozen=True)
class Line:
    """One result: a key, which names the SI unit, a label, a value and its unit.

    `shown` is the text to display where it is not the rounded value.
    """

    key: str
    label: str
    value: float | int | str | bool | None
    unit: str = ""
    remark: str = ""
    shown: str = ""

    @property
    def text(self) -> str:
        """Return the value as people read it."""
        if self.shown:
            return self.shown
        if not self.unit:
            return str(self.value)
        assert isinstance(self.value, (int, float)), f"{self.key} has a unit but no number"
        return format_value(self.value, self.unit)


@dataclass(frozen=True)
class Estimate:
    """The estimate of one scenario.

    It holds what was asked (`scenario`, `given`), the results in order, notes for the reader, and
    the conventions.
    """

    scenario: tuple[Line, ...]
    given: dict[str, float]
    results: tuple[Line, ...]
    notes: tuple[str, ...]
    conventions: tuple[str, ...]

    def __getitem__(self, key: str):
        return self.values()[key]

    @property
    def title(self) -> str:
        """Return the scenario in one line: model, precision, chips, batch and context."""
        shown = {line.key: line.text for line in self.scenario}
        stored = [
            f"{kind} in {shown[f'{kind}_precision']}"
            for kind in ("weights", "cache")
            if f"{kind}_precision" in shown
        ]
        apart = f", {', '.join(stored)}," if stored else ""
        return (
            f"{shown['model']} in {shown['precision']}{apart} on {shown['devices']} × "
            f"{shown['hardware']}, "
            f"batch {shown['batch_sequences']}, context {shown['context_tokens']}"
        )

    @property
    def settings(self) -> list[str]:
        """Return what was set in addition to the scenario, with units."""
        return [
            f"{name} = {format_value(value, find(name).unit)}" for name, value in self.given.items()
        ]

    def values(self) -> dict:
        """Return a dict from the key of every line to its value, or None where it has none."""
        return {line.key: line.value for line in (*self.scenario, *self.results)}


def estimate(
    hardware: str = scenario.DEFAULT["hardware"],
    model: str = scenario.DEFAULT["model"],
    precision: str | None = None,
    *,
    batch: float = BATCH,
    context: float = scenario.DEFAULT["context"],
    weights: str | None = None,
    cache: str | None = None,
    **overrides: float,
) -> Estimate:
    """Estimate times, rates, cost, balance and memory for one scenario.

    Parameters
    ----------
    hardware, model : str
        Names of the scenario's rows, or files of a chip or a model, as `scenario.choose` takes
        them.
    precision : str, optional
        Where it is left out: that of the book's default scenario, or bf16 on a chip that lacks it.
    batch, context : float
        Sequences, above 0, and tokens in each, 0 or above.
    weights, cache : str, optional
        Another precision of weights or caches, as `scenario.values` takes it.
    **overrides : float
        Other values of the scenario, by API name, in SI units (``devices=8``).

    Raises
    ------
    ScenarioError
        What `scenario.values` refuses.
    """
    chose = precision is not None
    precision = precision or scenario.usual_precision(hardware, weights)
    known = scenario.values(
        hardware, model, precision, context, weights=weights, cache=cache, batch=batch, **overrides
    )
    asked = (
        *(
            Line(kind, kind.capitalize(), scenario.choose(kind, name)["name"])
            for kind, name in (("hardware", hardware), ("model", model), ("precision", precision))
        ),
        *(
            Line(f"{kind}_precision", f"  {kind}", name)
            for kind, name in (("weights", weights), ("cache", cache))
            if name
        ),
        Line("devices", "Chips", known["devices"], "device", shown=f"{known['devices']:,}"),
        Line("batch_sequences", "Batch", batch, "sequence", shown=f"{batch:,}"),
        Line("context_tokens", "Context", context, "token", shown=f"{context:,} tokens"),
    )
    times = {
        f.name: f(known)
        for f in (
            latency.compute_time,
            latency.weight_time,
            latency.kv_time,
            latency.memory_time,
            latency.step_time,
        )
    }
    fits = scenario.room(known)
    notes = scenario.noted(known, hardware, model, precision)
    notes += filter(None, [scenario.room_note(known), scenario.stored_note(weights)])
    notes += scenario.odd_for_a_chip(hardware, overrides)
    notes += scenario.copied_caches(known)
    if not chose:
        notes.append(f"No precision was chosen: {precision} is taken.")
    if why := scenario.choose("model", model).get("counts"):
        notes.append(why)
    price_is = "as set" if "device_price" in overrides else _price_is(hardware)
    results = (
        *_step(times, known),
        *_cost(times, known, price_is),
        *_balance(known),
        *_memory(known, fits),
    )
    given = {name: value for name, value in overrides.items() if name != "devices"}
    return Estimate(asked, given, results, tuple(notes), _conventions())


def _step(times: dict, known: dict) -> tuple[Line, ...]:
    step, memory, compute = times["step_time"], times["memory_time"], times["compute_time"]
    floor = latency.latency_floor(known)
    asleep = "; this batch wakes too few experts to want them all" if floor > step else ""
    return (
        Line("step_time_s", "One decode step", step, "s", "the slower of reading and computing"),
        Line("memory_time_s", "  reading", memory, "s"),
        Line("weight_time_s", "    weights", times["weight_time"], "s"),
        Line("kv_time_s", "    caches", times["kv_time"], "s"),
        Line("compute_time_s", "  computing", compute, "s"),
        Line("bound_by", "Bound by", "memory" if memory >= compute else "arithmetic"),
        Line("bound_factor", "  by a factor of", max(memory, compute) / min(memory, compute), "1"),
        Line("latency_floor_s", "Latency floor", floor, "s", f"all weights read once{asleep}"),
        Line(
            "drain_time_s",
            "Drain time",
            balance.drain_time(known),
            "s",
            "the whole memory read once",
        ),
        *_measured(step, known),
        Line(
            "user_tokens_per_s", "Tokens for each user", latency.tokens_per_user(known), "token/s"
        ),
        Line("all_tokens_per_s", "Tokens in all", latency.throughput(known), "token/s"),
    )


def _measured(step: float, known: dict) -> tuple[Line, ...]:
    """Return lines on where measured steps of the scenario's class lie, if that is known."""
    kind = measured.class_of(known["devices"], known["experts"])
    band = measured.band(known["devices"], experts=known["experts"])
    if band is None:
        rows = len(measured.ratios(kind))
        return (
            Line(
                "measured_class", "Measured class", kind.name, remark=measured.describe_band(kind)
            ),
            Line("measured_runs", "  runs", rows, shown=f"{rows:,}"),
            *(Line(key, label, None, "s", shown="no band") for key, label in _ENDS),
        )
    fewest, most = (format_value(max(end, 1), "1") for end in band.batches)
    return (
        Line(
            "measured_class",
            "Measured class",
            kind.name,
            remark=f"{', '.join(band.models)} on {', '.join(band.chips)}",
        ),
        Line(
            "measured_runs",
            "  runs",
            band.count,
            shown=f"{band.count:,}",
            remark=f"with {fewest} to {most} sequences at once",
        ),
        *(
            Line(key, label, step * end, "s", f"{end:g} times the step above")
            for (key, label), end in zip(_ENDS, (band.low, band.high), strict=True)
        ),
    )


def _price_is(hardware: str) -> str:
    """Return what a chip's price in the facts is the price of."""
    chip = scenario.choose("hardware", hardware)["name"]
    if chip not in facts.load("accelerators").names:
        return "as its file says"
    row = facts.get("accelerators", chip)
    what = "rental" if row["rental_usd_per_chip_hour_3yr"] else "cost to its owner"
    return f"three-year {what}" if what == "rental" else what


def _cost(times: dict, known: dict, price_is: str) -> tuple[Line, ...]:
    parts = (
        ("cost_usd_per_token", "Cost", latency.cost_per_token),
        ("weight_cost_usd_per_token", "  weights", latency.weight_cost),
        ("kv_cost_usd_per_token", "  caches", latency.kv_cost),
        ("compute_cost_usd_per_token", "  arithmetic", latency.compute_cost),
    )
    price = known["device_price"]
    if price is None:
        none = [("price_usd_per_device_s", "Price of a chip", None), *parts]
        return tuple(
            Line(key, label, None, "$/token", shown="no price known") for key, label, _ in none
        )
    if times["memory_time"] >= times["compute_time"]:
        hidden = {latency.compute_cost: "hidden behind reading"}
    else:
        hidden = dict.fromkeys(
            (latency.weight_cost, latency.kv_cost), "hidden behind the arithmetic"
        )
    return (
        Line("price_usd_per_device_s", "Price of a chip", price, "$/device/s", price_is),
        *(
            Line(key, label, formula(known), "$/token", hidden.get(formula, ""))
            for key, label, formula in parts
        ),
    )


def _balance(known: dict) -> tuple[Line, ...]:
    found = [
        Line(
            "balance_batch_sequences",
            "Balance batch, weights only",
            balance.balance_batch(known),
            "sequence",
        )
    ]
    for key, label, batch, limit, work in (
        (
            "balance_batch_with_caches_sequences",
            "  with caches",
            balance.balance_batch_with_kv,
            balance.balance_context,
            "the weights' arithmetic",
        ),
        (
            "balance_batch_with_attention_sequences",
            "  with caches and attention",
            balance.balance_batch_with_attention,
            balance.balance_context_with_attention,
            "all arithmetic",
        ),
    ):
        if math.isfinite(value := batch(known)):
            found.append(Line(key, label, value, "sequence"))
        else:
            end = limit(known)
            where = (
                f"beyond a context of {format_value(end, 'token')}" if end > 0 else "at any context"
            )
            found.append(
                Line(
                    key,
                    label,
                    None,
                    "sequence",
                    f"{where} caches take longer to read than {work} takes",
                    shown="none",
                )
            )
    return tuple(found)


def _memory(known: dict, fits: int | None) -> tuple[Line, ...]:
    weights, memory = latency.weight_memory(known), known["devices"] * known["memory_capacity"]
    caches = known["batch"] * latency.cache_memory(known)
    inside = weights + caches <= memory
    return (
        Line("memory_bytes", "Memory of all chips", memory, "B"),
        Line("weight_memory_bytes", "  weights", weights, "B"),
        Line("cache_memory_bytes", "  caches of the batch", caches, "B"),
        Line("fits", "  fits", inside, shown="yes" if inside else "no"),
        Line(
            "batch_that_fits_sequences",
            "Sequences that fit",
            fits,
            "sequence",
            shown="no limit" if fits is None else "",
        ),
    )


def _conventions() -> tuple[str, ...]:
    said = [
        f"{f.gives.label}: {'; '.join(f.conventions)}."
        for f in (
            latency.step_time,
            latency.cost_per_token,
            balance.balance_batch,
            latency.batch_that_fits,
        )
    ]
    cache = ", ".join(
        f"{form['kv_bytes_per_element']} in {form['name']}" for form in scenario.PRECISIONS
    )
    return (
        *said,
        f"Caches: bytes an element, {cache}.",
        "Measured steps: the central 90 % of published runs of the same class (dense or experts, "
        "and how many "
        "chips share the model) over what this computes for each; none is shown for fewer than "
        f"{measured.FEWEST} runs.",
    )
