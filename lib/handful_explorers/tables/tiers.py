"""Tables for pages: tiers of memory."""

from __future__ import annotations

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


def hour_table(
    hardware: str = "GB200 NVL72",
    model: str = "DeepSeek-V3",
    precision: str = "fp8",
    context: int = 100_000,
) -> Table:
    r"""Return what an hour costs in each place, in cents, written and read back once.

    >>> hour_table()[1][0]
    ['Host memory', '0.0149', '0.0139']
    """
    at = {
        **scenario.values(hardware=hardware, model=model, precision=precision, context=context),
        "hold_time": 3600,
        "storage_lifetime": tiers.FIVE_YEARS,
        "written_share": 1,
        "tier_devices": 1,
    }
    rows = [
        [
            name,
            *(
                format_value(
                    tiers.context_cents_written({**at, **tiers.device(start)}, idle_share=share),
                    "1",
                    3,
                )
                for share in (1, 0)
            ),
        ]
        for name, start in DEVICES.items()
    ]
    return Table(["An hour, in cents", "The chip waits", "Reading is hidden"], rows)


def _time(seconds: float) -> str:
    return format_value(seconds, "s")
