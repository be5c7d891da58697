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


def hand_over_table(
    hardware: str = "GB200 NVL72",
    model: str = "DeepSeek-V3",
    precision: str = "fp8",
    context: int = 100_000,
) -> Table:
    r"""Return when host memory hands over: the difference of fares over that of rents, in cents.

    >>> [row[3] for row in hand_over_table()[1]]
    ['53.1\xa0min', '3.9\xa0h', '31.3\xa0min']
    """
    at = _conversation(hardware, model, precision, context)

    def bill(name: str, idle_share: float, written_share: float) -> tuple[float, float]:
        """Return fare and rent for an hour, in cents."""
        known = {**at, **tiers.device(DEVICES[name])}
        known |= {"idle_share": idle_share, "written_share": written_share}
        # Twice as long costs one more hour of rent.
        one, two = (tiers.context_cents_written(known, hold_time=3600 * i) for i in (1, 2))
        return 2 * one - two, two - one

    rows = []
    for words, name, idle, written in (
        ("to flash, nothing written", "Flash drive", 1, 0),
        ("to flash, all written", "Flash drive", 1, 1),
        ("to disk, all written, no chip waits", "Spinning disk", 0, 1),
    ):
        near, far = bill("Host memory", idle, written), bill(name, idle, written)
        more, less = far[0] - near[0], near[1] - far[1]
        rows.append(
            [
                words,
                format_value(more, "1", 3),
                format_value(less, "1", 3),
                format_value(3600 * more / less, "s", 3),
            ]
        )
    return Table(["From the host", "Fare, ¢ more", "Rent, ¢ an hour less", "After"], rows)


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
    at = _conversation(hardware, model, precision, context)
    rows = []
    for name, start in DEVICES.items():
        known = {**at, **tiers.device(start), "hold_time": 3600, "written_share": 1}
        bills = (tiers.context_cents_written(known, idle_share=share) for share in (1, 0))
        rows.append([name, *(format_value(bill, "1", 3) for bill in bills)])
    return Table(["An hour, ¢", "The chip waits", "Reading is hidden"], rows)


def _conversation(hardware: str, model: str, precision: str, context: int) -> dict[str, Any]:
    known = scenario.values(hardware=hardware, model=model, precision=precision, context=context)
    return {**known, "storage_lifetime": tiers.FIVE_YEARS, "tier_devices": 1}


def _time(seconds: float) -> str:
    return format_value(seconds, "s")
