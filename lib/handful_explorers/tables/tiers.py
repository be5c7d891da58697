"""Tables for pages: tiers of memory."""

from __future__ import annotations

from typing import Any

from handful import facts, scenario, tiers
from handful.units import format_value

from .table import Table

# The places where a conversation may wait, as the chapter calls them.
DEVICES = {
    "Host memory": "Grace",
    "Flash drive": "Micron 9650 Pro 30.72",
    "Spinning disk": "Seagate Exos X24",
}


def waiting_table(
    hardware: str = "GB200 NVL72",
    model: str = "DeepSeek-V3",
    precision: str = "fp8",
    context: int = 100_000,
) -> Table:
    r"""Return rent and fare of a thousand conversations in each place, in cents.

    The rent is for an hour; the fare for fetching all of them, with no chip that waits, or for
    computing them again. Last is how soon one is back.

    >>> for row in waiting_table()[1]:
    ...     print(*(cell.replace("\xa0", " ") for cell in row), sep=" | ")
    Chip memory | 6,230 | 0 | at once
    Host memory | 60 | 0.026 | 11.4 ms
    Flash drive | 1.5 | 0.47 | 125 ms
    Spinning disk | 0.15 | 3.6 | 12.3 s
    Computed again | 0 | 1,990 | 21.7 s
    """
    at = {**_conversation(hardware, model, precision, context), "hold_time": 3600}
    at = {**at, "batch": 1, "devices": 1, "model_flops_utilisation": 0.3}
    rows = [["Chip memory", _cents(tiers.context_cost_in_memory(at), 3), "0", "at once"]]
    for name, start in DEVICES.items():
        known = {**at, **tiers.device(start)}
        price = tiers.tier_price(known)
        rent = context * tiers.hold_cost(known, tier_price=price)
        fare = context * tiers.retrieve_cost(known, waiting_price=price)
        back = format_value(tiers.retrieve_time(known), "s")
        rows.append([name, _cents(rent, 2), _cents(fare, 2), back])
    again = _cents(tiers.context_cost_again(at), 3)
    back = format_value(tiers.prefill_again_time(at), "s")
    rows.append(["Computed again", "0", again, back])
    return Table(["For a thousand", "Rent, \u00a2 an hour", "Fare, \u00a2", "One is back in"], rows)


def bills_table(
    hardware: str = "GB200 NVL72",
    model: str = "DeepSeek-V3",
    precision: str = "fp8",
    context: int = 100_000,
) -> Table:
    r"""Return what a thousand new conversations cost in each place, with the reading hidden.

    A bill is the larger of rent and fare. Memory of the host stands there at the ends of its range
    of prices as well, and flash for other ratings.

    >>> for row in bills_table()[1]:
    ...     print(*row, sep=" | ")
    Host memory at $3.98 a GB | 2.7 | 32
    Host memory at $7.49 a GB | 5 | 60
    Host memory at $14.10 a GB | 9.4 | 110
    Flash, rated for one filling a day | 37 | 37
    Flash, rated for two | 19 | 19
    Flash, rated for three | 12 | 12
    Spinning disk | 7.2 | 7.2
    """
    at = {
        **_conversation(hardware, model, precision, context),
        "idle_share": 0,
        "written_share": 1,
        "tier_devices": 1,
    }
    host, flash, disk = (tiers.device(start) for start in DEVICES.values())
    file = next(row for row in facts.load("memory_tiers") if row.name.startswith("Grace"))
    prices = (file["usd_per_gb_low"], 1e9 * host["storage_price"], file["usd_per_gb_high"])
    ways = [
        *(
            (f"Host memory at ${price:.2f} a GB", {**host, "storage_price": price / 1e9})
            for price in prices
        ),
        *(
            (name, {**flash, "tier_write_bandwidth": times * flash["tier_write_bandwidth"]})
            for times, name in (
                (1, "Flash, rated for one filling a day"),
                (2, "Flash, rated for two"),
                (3, "Flash, rated for three"),
            )
        ),
        ("Spinning disk", disk),
    ]
    rows = [
        [
            name,
            *(
                _cents(tiers.context_cost_written({**at, **known, "hold_time": stay}), 2)
                for stay in (300, 3600)
            ),
        ]
        for name, known in ways
    ]
    return Table(["1,000 new conversations, ¢", "Five minutes", "An hour"], rows)


def _cents(dollars: float, digits: int) -> str:
    """Return the price of a thousand in cents, of which one costs so much."""
    return format_value(100_000 * dollars, "1", digits)


def _conversation(hardware: str, model: str, precision: str, context: int) -> dict[str, Any]:
    known = scenario.values(hardware=hardware, model=model, precision=precision, context=context)
    return {**known, "storage_lifetime": tiers.FIVE_YEARS}
