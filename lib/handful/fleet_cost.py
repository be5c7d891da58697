"""Money and energy of a fleet: rent, margin, what a dollar buys, what a token draws.

The cost model asks what a token costs while every chip is busy.  A fleet is rented by the hour and
sold by the token, so that hours without work are paid by those with some
(``cost_per_token_at_utilisation``), and what is left over is the margin.  ``flops_per_dollar`` and
``bytes_per_dollar`` compare chips; ``ownership_price`` and ``break_even_utilisation`` compare
buying with renting.

Power is counted at the building's meter (``facility_power``): a chip's own, its share of the
server, and the cooling.  Energy follows from it by time, whoever counts the tokens.

>>> day = dict(devices=8 * 226.75, device_price=2 / 3600, rented_time=86_400)
>>> rent = balance.rent(day)  # DeepSeek's service on a day of 2025
>>> list_prices = dict(input_price=0.55e-6, output_over_input=2.19 / 0.55)
>>> tokens = dict(prompt_tokens=608e9, hit_share=342 / 608, answer_tokens=168e9)
>>> earned = revenue(tokens | list_prices, cache_read_ratio=0.14 / 0.55, requests_served=1)
>>> round(rent), round(earned), f"{gross_margin(rent=rent, revenue=earned):.1%}"
(87072, 562100, '84.5%')
"""

from __future__ import annotations

from sympy import Eq

from . import balance
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

__all__ = [
    "answer_energy",
    "break_even_utilisation",
    "bytes_per_dollar",
    "cost_per_token_at_utilisation",
    "electricity_cost_per_token",
    "energy_per_token",
    "facility_power",
    "flops_per_dollar",
    "flops_per_joule",
    "gross_margin",
    "ownership_price",
    "request_price",
    "revenue",
    "training_energy",
]

(p, n, R, F, BW, MFU, MBU, c, N_active, A, P, h) = (
    quantity.symbol
    for quantity in (
        q.device_price,
        q.devices,
        q.throughput,
        q.peak_flops,
        q.memory_bandwidth,
        q.model_flops_utilisation,
        q.bandwidth_utilisation,
        q.flops_per_multiply_add,
        q.active_parameters,
        q.answer_tokens,
        q.prompt_tokens,
        q.hit_share,
    )
)
(price_in, rho_out, rho_read) = (
    quantity.symbol for quantity in (q.input_price, q.output_over_input, q.cache_read_ratio)
)
(u, W, W_chip, e) = (
    quantity.symbol
    for quantity in (q.fleet_utilisation, q.facility_power, q.chip_power, q.energy_price)
)

# Sold by the token, rented by the hour ------------------------------------------------------------

request_price = Formula(
    q.request_price,
    price_in * (P * (1 - h + h * rho_read) + rho_out * A),
    source="definition",
    meaning="list price of one request: new and cached tokens of its prompt, and its answer",
    known_as=("price of an API call",),
    conventions=(
        "cached tokens are billed at their own price, if the list has one: 1 for the ratio if not",
        "prices of writing a cache, of long contexts and of tools left out",
    ),
)

revenue = Formula(
    q.revenue,
    q.requests_served.symbol * q.request_price.symbol,
    using=(request_price,),
    source="definition",
    meaning="what all requests bring in at list prices",
    known_as=("API revenue", "turnover"),
    conventions=("lengths are means over all requests", "no free use and no discounts"),
)

gross_margin = Formula(
    q.gross_margin,
    1 - q.rent.symbol / q.revenue.symbol,
    source="definition",
    meaning="what is left of the revenue when the chips are paid, as a share of the revenue",
    known_as=("margin on tokens sold", "profit margin of inference"),
    conventions=(
        "of revenue: the share of the cost, which some quote, is larger and has no limit",
        "the chips' rent is the only cost: no staff, no training",
    ),
)

cost_per_token_at_utilisation = Formula(
    q.cost_per_token,
    n * p / (R * u),
    name="cost_per_token_at_utilisation",
    source="derived",
    meaning="rent of a fleet over the tokens that it makes, when it could make more",
    known_as=(
        "cost per million tokens from measured throughput",
        "cost from throughput and utilisation",
        "dollars per million tokens of a server",
    ),
    conventions=(
        "throughput is what these chips make while busy, measured or computed",
        "idle chips cost as much as busy ones",
    ),
    derivation=lambda: _derive_cost(),
)

flops_per_dollar = Formula(
    q.flops_per_dollar,
    MFU * F / p,
    source="definition",
    meaning="arithmetic that a dollar of rent buys",
    known_as=("FLOP per dollar", "price performance of a chip"),
    conventions=("the utilisation is 1 where the peak is meant", "dense peak of one precision"),
)

bytes_per_dollar = Formula(
    q.bytes_per_dollar,
    MBU * BW / p,
    source="definition",
    meaning="bytes that a dollar of rent reads from memory",
    known_as=("bandwidth per dollar",),
    conventions=("the utilisation is 1 where the peak is meant",),
)

# Power and energy ---------------------------------------------------------------------------------

facility_power = Formula(
    q.facility_power,
    W_chip * q.server_overhead.symbol * q.power_share.symbol * q.power_usage_effectiveness.symbol,
    source="definition",
    meaning="mean power at the building's meter for each chip: its own, its share of the server, "
    "cooling",
    known_as=("watts per GPU", "data centre power per chip", "PUE"),
    conventions=(
        "the chip's power is its rating (TDP); the overhead is the server's rating over that of "
        "its chips",
    ),
)

energy_per_token = Formula(
    q.energy_per_token,
    n * W / R,
    source="definition",
    meaning="energy of the chips over the tokens that they make",
    known_as=("joules per token", "watt-hours per token", "power per token"),
    conventions=("throughput is what these chips make together at this power",),
)

electricity_cost_per_token = Formula(
    q.cost_per_token,
    q.energy_per_token.symbol * e,
    using=(energy_per_token,),
    name="electricity_cost_per_token",
    source="definition",
    meaning="price of the energy that a token draws",
    known_as=("electricity bill per token", "power cost per million tokens"),
    conventions=("contained in a chip's rent, if it is rented",),
)

flops_per_joule = Formula(
    q.flops_per_joule,
    MFU * F / W,
    source="definition",
    meaning="arithmetic that a joule at the meter pays for",
    known_as=("energy efficiency", "FLOPs per watt"),
    conventions=("the utilisation is 1 where the peak is meant", "dense peak of one precision"),
)

answer_energy = Formula(
    q.answer_energy,
    c * N_active * A / q.flops_per_joule.symbol,
    using=(flops_per_joule,),
    source="You 2025, How much energy does ChatGPT use? (Epoch AI)",
    meaning="energy of the arithmetic of one answer at the utilisation that a server reaches",
    known_as=("energy per query", "watt-hours per request"),
    conventions=(
        "the prompt's arithmetic left out",
        "FLOP counts a multiply-add as two; attention over the context left out",
        "a utilisation of the peak in decode is small: about a tenth",
    ),
    derivation=lambda: _derive_answer_energy(),
)

training_energy = Formula(
    q.training_energy,
    q.training_chip_time.symbol * W,
    source="definition",
    meaning="energy of the chip-hours of a training run",
    known_as=("energy of a training run", "MWh to train"),
    conventions=("power of the meter for the whole building, that of the chip for its part",),
)

# To buy or to rent --------------------------------------------------------------------------------

ownership_price = Formula(
    q.device_price,
    q.chip_capital.symbol / q.write_off_time.symbol + W * e,
    name="ownership_price",
    source="definition: straight-line depreciation",
    meaning="what an owned chip costs for a time: its price written off, and its electricity",
    known_as=("total cost of ownership", "TCO per GPU-hour", "depreciation"),
    conventions=(
        "the price has the chip's share of server, network and building",
        "no interest, no repairs, no staff, and no value at the end",
    ),
)

break_even_utilisation = Formula(
    q.fleet_utilisation,
    (q.chip_capital.symbol / q.write_off_time.symbol + W * e) / p,
    name="break_even_utilisation",
    source="derived",
    meaning="share of the time in use from which owning a chip is cheaper than renting one by the "
    "hour",
    known_as=("buy or rent GPUs", "own versus rent"),
    conventions=(
        "rented chips are given back while there is no work, owned ones cost the same throughout",
        "above 1 renting is cheaper however busy the chip is",
    ),
    derivation=lambda: _derive_break_even(),
)


def _derive_cost() -> Derivation:
    d = Derivation("A token's share of a fleet's rent")
    d.start(
        Eq(q.cost_per_token.symbol, q.rent.symbol / q.tokens_made.symbol),
        "all that is paid over all that is made",
    )
    d.substitute(balance.rent, "every chip is paid for the whole time")
    d.substitute(
        {"tokens_made": u * R * q.rented_time.symbol},
        "the fleet makes a share of what it could, so the time cancels",
    )
    return d


def _derive_answer_energy() -> Derivation:
    d = Derivation("The energy of an answer, from its arithmetic")
    d.start(answer_energy, "a multiply and an add for each active weight and token")
    d.substitute(flops_per_joule, "arithmetic that is done a second, over the power")
    return d


def _derive_break_even() -> Derivation:
    d = Derivation("Busy enough to own")
    d.start(
        Eq(p * u, ownership_price.expression),
        "rent is paid for the hours in use, ownership for every hour",
    )
    d.solve("fleet_utilisation", "equal in an hour")
    return d
