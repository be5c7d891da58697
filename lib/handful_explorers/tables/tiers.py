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


def cheapest_table(
    hardware: str = "GB200 NVL72",
    model: str = "DeepSeek-V3",
    precision: str = "fp8",
    context: int = 100_000,
) -> Table:
    r"""Return the cheapest place for five minutes and for an hour, and its bill in cents.

    >>> for row in cheapest_table()[1]:
    ...     print(*row, sep=" | ")
    The chip waits | host memory, 0.00222\xa0¢ | host memory, 0.0149\xa0¢
    Reading is hidden | host memory, 0.00117\xa0¢ | spinning disk, 0.00733\xa0¢
    """
    at = {**_conversation(hardware, model, precision, context), "model_flops_utilisation": 0.3}

    def cheapest(hold_time: int, idle_share: int) -> str:
        known = {**at, "hold_time": hold_time, "idle_share": idle_share, "written_share": 1}
        bills = {
            name.lower(): tiers.context_cents_written({**known, **tiers.device(start)})
            for name, start in DEVICES.items()
        }
        bills["chip memory"] = tiers.context_cents_in_memory(known)
        bills["computing again"] = tiers.context_cents_again(known)
        place = min(bills, key=lambda name: bills[name])
        return f"{place}, {format_value(bills[place], '1', 3)}\N{NO-BREAK SPACE}¢"

    rows = [
        [words, *(cheapest(hold_time, idle) for hold_time in (300, 3600))]
        for words, idle in (("The chip waits", 1), ("Reading is hidden", 0))
    ]
    return Table(["Cheapest for", "Five minutes", "An hour"], rows)


def _conversation(hardware: str, model: str, precision: str, context: int) -> dict[str, Any]:
    known = scenario.values(hardware=hardware, model=model, precision=precision, context=context)
    return {**known, "storage_lifetime": tiers.FIVE_YEARS, "tier_devices": 1}


def _time(seconds: float) -> str:
    return format_value(seconds, "s")
