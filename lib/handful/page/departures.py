"""The train in Python: the same arrivals and the same figures as ``page/train.js`` draws.

Batches leave at T, 2T, 3T, …; each takes as many as it has seats, first come first served, and rides for T.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..simulate import train
from ..units import format_value

if TYPE_CHECKING:
    from .explorer import Explorer

DEPARTURES = 600  # how many trains are watched
MOST = 20_000  # and at most how many passengers


def run(explorer: Explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Arrivals, departures and delays (seconds), with worst, 95th percentile and mean."""
    settings = {"batch_interval": 0.02, "seats": 32, "load": 0.7, "seed": 1} | state
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
