"""The train in Python: the same arrivals and the same figures as ``train.js`` draws.

Batches leave at T, 2T, 3T, …; each takes as many as it has seats, first come first served, and rides for T.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...simulate import train
from ...units import format_tick, format_value
from . import inputs

if TYPE_CHECKING:
    from ..explorer import Explorer

INPUTS = {"batch_interval": ("Time between departures", "s", 0.02), "seats": ("Seats in each train", "1", 32),
          "load": ("Load: arrivals ÷ seats", "%", 0.7), "seed": ("Seed", "1", 1)}
DEPARTURES = 600  # how many trains are watched
MOST = 20_000  # and at most how many passengers


def run(explorer: Explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Arrivals, departures and delays (seconds), with worst, 95th percentile and mean."""
    settings = inputs(explorer, state)
    interval, seats, load = float(settings["batch_interval"]), int(settings["seats"]), float(settings["load"])
    arrivals = train.poisson_arrivals(load * seats / interval, min(MOST, DEPARTURES * seats), int(settings["seed"]))
    departures = train.depart(arrivals, interval, seats)
    delays = train.delays(arrivals, interval, seats)
    ordered = sorted(delays)
    return {"arrivals": arrivals, "departures": departures, "delays": delays,
            "interval": interval, "seats": seats, "load": load, "worst": ordered[-1],
            "p95": ordered[math.ceil(0.95 * len(ordered)) - 1], "mean": sum(delays) / len(delays)}


def words(v: dict[str, Any]) -> str:
    more = "as if seats never ran out" if v["worst"] <= 2 * v["interval"] * (1 + 1e-9) else "because seats run out"
    return (f"At {format_value(v['load'], '%')} load with {v['seats']} seats, the worst wait plus ride of "
            f"{format_value(len(v['delays']), '1', 6)} requests is {format_value(v['worst'], 's')} against a bound of "
            f"{format_value(2 * v['interval'], 's')} with a seat for everyone, {more}; 95 of 100 take at most "
            f"{format_value(v['p95'], 's')}, and the mean is {format_value(v['mean'], 's')}.")


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    t = v["interval"]
    return ["Wait plus ride", "Watched", "With a seat for everyone"], [
        ["mean", format_value(v["mean"], "s"), format_value(1.5 * t, "s")],
        ["95th percentile", format_value(v["p95"], "s"), format_value(1.95 * t, "s")],
        ["worst", format_value(v["worst"], "s"), format_value(2 * t, "s")]]


def draw(axes, v: dict[str, Any]) -> None:
    """The first requests as lines from arrival over departure to the end of the ride."""
    from ..figure import INK, PALETTE, SOFT, ticks

    t, late = v["interval"], 9 * v["interval"]
    seen = [(a, d) for a, d in zip(v["arrivals"], v["departures"]) if a < late]
    seen = seen[:: max(1, len(seen) // 90)]
    # One line with gaps for all: a tenth of the markup of a line each.
    rows = [y for i in range(len(seen)) for y in (i, i, math.nan)]
    axes.plot([x for a, d in seen for x in (a, d, d)], rows, color=PALETTE[1], linewidth=1.6, solid_capstyle="butt")
    axes.plot([x for _, d in seen for x in (d, d + t, d)], rows, color=PALETTE[0], linewidth=1.6, solid_capstyle="butt")
    for k in range(1, 12):
        axes.axvline(k * t, color=SOFT, linewidth=0.8, dashes=(3, 3))
    axes.set(xlim=(0, late + 2 * t), ylim=(len(seen), -1))
    at = ticks(0, late + 2 * t, False, "s")
    axes.set_xticks(at, [format_tick(x, "s") for x in at])
    axes.set_yticks([])
    axes.grid(False)
    axes.set_xlabel("Time", color=INK, fontsize=9.5)
    axes.set_ylabel("Requests, in order of arrival", color=INK, fontsize=9.5)
    axes.text(1.015, 0.9, "waiting", transform=axes.transAxes, color=PALETTE[1], fontsize=9)
    axes.text(1.015, 0.83, "riding", transform=axes.transAxes, color=PALETTE[0], fontsize=9)
