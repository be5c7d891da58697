"""Simulate and draw the train, with the same arrivals and figures as ``train.js``.

Batches leave at T, 2T, 3T, …; whoever finds a free seat boards, first come first served, and keeps
it for as many intervals as the answer has tokens.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from handful.units import format_ticks, format_value
from handful_evidence.simulate import train

from . import inputs

if TYPE_CHECKING:
    from ..explorer import Explorer

INPUTS = {
    "batch_interval": ("Time between departures", "s", 0.02),
    "seats": ("Seats in each train", "1", 2000),
    "answer_tokens": ("Tokens in an answer, on average", "token", 211),
    "load": ("Load: seats wanted ÷ seats", "%", 0.7),
    "seed": ("Seed", "1", 1),
}
REQUESTS = 30_000  # how many are watched


def run(explorer: Explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return arrivals, departures, delays to the first token (seconds) and answers' lengths.

    With them comes what is read off them.  The clock starts with as many seats taken as are wanted
    on average.
    """
    settings = inputs(explorer, state)
    interval, seats, load = (
        float(settings["batch_interval"]),
        int(settings["seats"]),
        float(settings["load"]),
    )
    tokens, seed = int(settings["answer_tokens"]), int(settings["seed"])
    arrivals = train.poisson_arrivals(load * seats / (tokens * interval), REQUESTS, seed)
    lengths = train.answer_lengths(tokens, REQUESTS, seed + 1)
    aboard = train.answer_lengths(tokens, math.floor(load * seats + 0.5), seed + 2)
    departures = train.depart(arrivals, interval, seats, lengths, aboard)
    delays = [
        leave - arrival + interval for arrival, leave in zip(arrivals, departures, strict=True)
    ]
    ordered = sorted(delays)
    return {
        "arrivals": arrivals,
        "departures": departures,
        "delays": delays,
        "lengths": lengths,
        "aboard": aboard,
        "interval": interval,
        "seats": seats,
        "load": load,
        "tokens": tokens,
        "worst": ordered[-1],
        "p95": ordered[math.ceil(0.95 * len(ordered)) - 1],
        "mean": sum(delays) / len(delays),
        "missed": sum(
            d - a > interval * (1 + 1e-9) for a, d in zip(arrivals, departures, strict=True)
        )
        / len(delays),
    }


def words(v: dict[str, Any]) -> str:
    """Describe the delays of the requests that were watched."""
    seats, tokens = (
        f"{format_value(n, '1', 6)} {word}" + "s" * (n != 1)
        for n, word in ((v["seats"], "seat"), (v["tokens"], "token"))
    )
    left = (
        "none of them is left behind"
        if v["missed"] == 0
        else f"{format_value(v['missed'], '%', 2)} of them are left behind"
    )
    return (
        f"At {format_value(v['load'], '%')} load with {seats} and {tokens} in an answer on "
        "average, "
        f"{format_value(len(v['delays']), '1', 6)} requests are watched, "
        f"{format_value(v['arrivals'][-1], 's')} of service: "
        f"{left} by the first train after they come, and "
        f"the worst wait plus ride is {format_value(v['worst'], 's')} against a bound of "
        f"{format_value(2 * v['interval'], 's')} with a seat for everyone; 95 of 100 take at most "
        f"{format_value(v['p95'], 's')}, and the mean is {format_value(v['mean'], 's')}."
    )


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: delays as watched, and without a shortage."""
    t = v["interval"]
    return ["Wait plus first ride", "Watched", "With a seat for everyone"], [
        ["mean", format_value(v["mean"], "s"), format_value(1.5 * t, "s")],
        ["95th percentile", format_value(v["p95"], "s"), format_value(1.95 * t, "s")],
        ["worst", format_value(v["worst"], "s"), format_value(2 * t, "s")],
        ["left behind by a train", format_value(v["missed"], "%", 2), format_value(0, "%", 2)],
    ]


def draw(axes, v: dict[str, Any]) -> None:
    """Draw the first requests as lines from arrival over departure to the end of the answer.

    A line ends at the edge of the picture where the answer goes on.
    """
    from ..style import INK, PALETTE, SOFT, ticks

    t, late = v["interval"], 9 * v["interval"]
    seen = [
        (a, d, d + g * t)
        for a, d, g in zip(v["arrivals"], v["departures"], v["lengths"], strict=True)
        if a < late
    ]
    seen = seen[:: max(1, len(seen) // 90)]
    # One line with gaps for all: a tenth of the markup of a line each.
    rows = [y for i in range(len(seen)) for y in (i, i, math.nan)]
    axes.plot(
        [x for a, d, _ in seen for x in (a, d, d)],
        rows,
        color=PALETTE[1],
        linewidth=1.6,
        solid_capstyle="butt",
    )
    axes.plot(
        [x for _, d, end in seen for x in (d, end, d)],
        rows,
        color=PALETTE[0],
        linewidth=1.6,
        solid_capstyle="butt",
    )
    for k in range(1, 12):
        axes.axvline(k * t, color=SOFT, linewidth=0.8, dashes=(3, 3))
    axes.set(xlim=(0, late + 2 * t), ylim=(len(seen), -1))
    at = ticks(0, late + 2 * t, False, "s")
    axes.set_xticks(at, format_ticks(at, "s", False))
    axes.set_yticks([])
    axes.grid(False)
    axes.set_xlabel("Time", color=INK, fontsize=9.5)
    axes.set_ylabel("Requests, in order of arrival", color=INK, fontsize=9.5)
    axes.text(1.015, 0.9, "waiting", transform=axes.transAxes, color=PALETTE[1], fontsize=9)
    axes.text(1.015, 0.83, "riding", transform=axes.transAxes, color=PALETTE[0], fontsize=9)
