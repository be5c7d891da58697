"""Tables for pages: tiers of memory."""

from __future__ import annotations

from typing import Any

from handful import scenario, tiers
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
    r"""Return what each way to have a conversation back costs, as head and rows of text.

    Rent is for an hour, fare for one chip that waits, or computes; both are in cents.

    >>> [row[0] for row in waiting_table()[1]][0], waiting_table()[1][-1][2]
    ('Chip memory', '21.7\xa0s')
    """
    at = {
        **scenario.values(hardware=hardware, model=model, precision=precision, context=context),
        "hold_time": 3600,
        "storage_lifetime": tiers.FIVE_YEARS,
        "model_flops_utilisation": 0.3,
        "batch": 1,
        "devices": 1,
    }

    def cents(dollars: float) -> str:
        return format_value(100 * dollars, "1", 3)

    rows = [["Chip memory", cents(tiers.context_cost_in_memory(at)), "0", "0"]]
    for name, start in DEVICES.items():
        device = tiers.device(start)
        known = {**at, **device}
        rent = context * tiers.hold_cost(known, tier_price=tiers.tier_price(known))
        fetch = tiers.retrieve_time(known)
        fare = tiers.context_cost_kept(known, idle_share=1) - rent
        rows.append(
            [
                name,
                cents(rent),
                _time(fetch),
                cents(fare),
            ]
        )
    again = tiers.context_cost_again(at)
    rows.append(["Computed again", "0", _time(tiers.prefill_again_time(at)), cents(again)])
    return Table(["Where it waits", "Rent, ¢ an hour", "Back in", "Fare, ¢"], rows)


def bills_table(
    hardware: str = "GB200 NVL72",
    model: str = "DeepSeek-V3",
    precision: str = "fp8",
    context: int = 100_000,
) -> Table:
    r"""Return what new notes cost in each place, in cents, for five minutes and for an hour.

    >>> for row in bills_table()[1]:
    ...     print(*row, sep=" | ")
    Five minutes, reading hidden | 0.00506 | 0.0377 | 0.00719
    An hour, reading hidden | 0.0601 | 0.0392 | 0.00733
    Five minutes, a chip waits | 0.00611 | 0.0493 | 1.14
    An hour, a chip waits | 0.0612 | 0.0507 | 1.14
    """
    at = _conversation(hardware, model, precision, context)

    def bills(hold_time: int, idle_share: int) -> list[str]:
        known = {**at, "hold_time": hold_time, "idle_share": idle_share, "written_share": 1}
        return [
            format_value(tiers.context_cents_written({**known, **tiers.device(start)}), "1", 3)
            for start in DEVICES.values()
        ]

    rows = [
        [f"{time}, {waits}", *bills(hold_time, idle)]
        for waits, idle in (("reading hidden", 0), ("a chip waits", 1))
        for time, hold_time in (("Five minutes", 300), ("An hour", 3600))
    ]
    return Table(["", *DEVICES], rows)


def _conversation(hardware: str, model: str, precision: str, context: int) -> dict[str, Any]:
    known = scenario.values(hardware=hardware, model=model, precision=precision, context=context)
    return {**known, "storage_lifetime": tiers.FIVE_YEARS, "tier_devices": 1}


def _time(seconds: float) -> str:
    return format_value(seconds, "s")
