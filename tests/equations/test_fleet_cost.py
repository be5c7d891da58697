"""Money and energy of a fleet: against published accounts, and against ledgers kept by the hour."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import balance, fleet_cost, overtraining
from handful.symbolic.dimensions import Dimension
from handful.symbolic.parse_quantity import read

HOUR, DAY, MEGATOKEN, KWH = 3600, 86_400, 1e-6, 3.6e6

# DeepSeek's account of its service on 27 and 28 February 2025 (open-infra-index, day 6): nodes of
# eight chips on average, tokens, list prices of R1, and what it makes of them.
DEEPSEEK = dict(devices=226.75 * 8, device_price=2 / HOUR, rented_time=DAY)
SOLD = dict(prompt_tokens=608e9, hit_share=342 / 608, answer_tokens=168e9, requests_served=1)
R1 = dict(input_price=0.55 * MEGATOKEN, output_over_input=2.19 / 0.55, cache_read_ratio=0.14 / 0.55)


def test_the_account_of_a_service():
    rent, revenue = balance.rent(DEEPSEEK), fleet_cost.revenue(SOLD | R1)
    assert rent == pytest.approx(87_072, abs=1)
    # Its tokens are rounded to whole billions.
    assert revenue == pytest.approx(562_027, rel=2e-4)
    margin = fleet_cost.gross_margin(rent=rent, revenue=revenue)
    # It calls profit over cost the margin: 545 per cent.
    assert margin / (1 - margin) == pytest.approx(5.45, abs=0.01)
    assert margin == pytest.approx(1 - 87_072 / 562_027, rel=1e-4)


def test_a_request_is_billed_by_the_token():
    # 1,000 tokens of a prompt, 400 of them cached, and an answer of 50.
    bill = 600 * 3e-6 + 400 * 0.3e-6 + 50 * 15e-6
    assert fleet_cost.request_price(
        prompt_tokens=1000,
        hit_share=0.4,
        answer_tokens=50,
        input_price=3e-6,
        output_over_input=5,
        cache_read_ratio=0.1,
    ) == pytest.approx(bill)


def test_the_cost_of_a_measured_throughput():
    """LMSYS 2025: DeepSeek-V3 on 96 H100s makes 22,300 tokens a second a node, $0.20 a million.

    Its price of a chip is not given; $2 an hour is what DeepSeek's own account takes.
    """
    known = dict(devices=8, device_price=2 / HOUR, throughput=22_300)
    busy = fleet_cost.cost_per_token_at_utilisation(known, fleet_utilisation=1)
    assert busy / MEGATOKEN == pytest.approx(0.20, abs=0.005)
    half = fleet_cost.cost_per_token_at_utilisation(known, fleet_utilisation=0.5)
    assert half == pytest.approx(2 * busy)


@given(st.lists(st.floats(0, 1), min_size=24, max_size=24).filter(lambda day: sum(day) > 0.01))
def test_idle_hours_are_paid_by_busy_ones(asked):
    """A ledger of a day: each hour is paid in full and makes its share of what it could."""
    price, chips, rate = 3.0, 16, 5e4
    paid = sum(price * chips for _ in asked)
    made = sum(rate * HOUR * share for share in asked)
    assert fleet_cost.cost_per_token_at_utilisation(
        devices=chips,
        device_price=price / HOUR,
        throughput=rate,
        fleet_utilisation=min(1, math.fsum(asked) / 24),
    ) == pytest.approx(paid / made)


# Epoch AI's table behind "How much energy does ChatGPT use?" (You, February 2025): active
# parameters in billions, tokens of the answer, utilisation, PUE, seconds of a GPU, watts, Wh.
EPOCH = {
    "GPT-4o": (100, 500, 0.10, 1.2, 1.01, 1071, 0.301),
    "long output": (100, 1500, 0.10, 1.2, 3.03, 1071, 0.902),
    "smaller model": (20, 500, 0.10, 1.2, 0.20, 1071, 0.060),
    "pessimistic": (200, 500, 0.05, 1.3, 4.04, 1160.25, 1.304),
    "pessimistic and long": (200, 1500, 0.05, 1.3, 12.13, 1160.25, 3.911),
}


@pytest.mark.parametrize("case", EPOCH)
def test_the_energy_of_a_query(case):
    billions, tokens, used, pue, seconds, watts, watt_hours = EPOCH[case]
    # A server of eight H100s is rated at 10.2 kW, a chip at 700 W; 70 per cent on average.
    power = fleet_cost.facility_power(
        chip_power=700,
        server_overhead=10_200 / 8 / 700,
        power_share=0.7,
        power_usage_effectiveness=pue,
    )
    assert power == pytest.approx(watts)
    known = dict(
        facility_power=power,
        active_parameters=billions * 1e9,
        answer_tokens=tokens,
        model_flops_utilisation=used,
        peak_flops=989e12,
    )
    energy = fleet_cost.answer_energy(known)
    assert energy / HOUR == pytest.approx(watt_hours, abs=6e-4)
    assert energy / power == pytest.approx(seconds, abs=6e-3)
    # The same by tokens a second: one chip makes an answer in that time.
    by_rate = fleet_cost.energy_per_token(
        devices=1, facility_power=power, throughput=tokens / (energy / power)
    )
    assert by_rate * tokens == pytest.approx(energy)


@pytest.mark.parametrize(
    "hours, watts, megawatt_hours",
    [
        # Luccioni, Viguier and Ligozat 2022, BLOOM: 1,082,990 hours of an A100 of 400 W.
        (1_082_990, 400, 433.2),
        # Touvron et al. 2023, LLaMA, table 15: A100s of 400 W at a PUE of 1.1.
        (82_432, 440, 36),
        (135_168, 440, 59),
        (530_432, 440, 233),
        (1_022_362, 440, 449),
    ],
)
def test_the_energy_of_a_training_run(hours, watts, megawatt_hours):
    energy = fleet_cost.training_energy(training_chip_time=hours * HOUR, facility_power=watts)
    assert energy / HOUR / 1e6 == pytest.approx(megawatt_hours, abs=1)


def test_electricity_is_a_small_part_of_the_rent():
    known = dict(devices=8, facility_power=1071, throughput=22_300, energy_price=0.08 / KWH)
    cost = fleet_cost.electricity_cost_per_token(known)
    # 8.568 kWh in an hour, in which 80.28 million tokens are made
    assert cost / MEGATOKEN == pytest.approx(8.568 * 0.08 / 80.28)
    rent = fleet_cost.cost_per_token_at_utilisation(
        known, device_price=2 / HOUR, fleet_utilisation=1
    )
    assert 0.03 < cost / rent < 0.06


def test_what_a_dollar_and_a_joule_buy():
    # An H100 at $2 an hour: 989.5 TFLOP/s and 3.35 TB/s for 1,800 seconds a dollar.
    hour = dict(device_price=2 / HOUR, model_flops_utilisation=1, bandwidth_utilisation=1)
    assert fleet_cost.flops_per_dollar(hour, peak_flops=989.5e12) == pytest.approx(1.7811e18)
    assert fleet_cost.bytes_per_dollar(hour, memory_bandwidth=3.35e12) == pytest.approx(6.03e15)
    # A training run costs its FLOPs over what a dollar buys.
    run = dict(
        peak_flops=989.5e12,
        model_flops_utilisation=0.4,
        device_price=2 / HOUR,
        training_flops=6 * 70e9 * 15e12,
    )
    assert overtraining.training_cost(run) == pytest.approx(
        run["training_flops"] / fleet_cost.flops_per_dollar(run)
    )
    # And energy by the same: FLOPs over what a joule pays for.
    run["facility_power"] = 1071
    energy = fleet_cost.training_energy(
        run, training_chip_time=overtraining.training_chip_time(run)
    )
    assert energy == pytest.approx(run["training_flops"] / fleet_cost.flops_per_joule(run))


CHIP = dict(
    chip_capital=40_000,
    write_off_time=4 * 365.25 * DAY,
    facility_power=1071,
    energy_price=0.08 / KWH,
)


def test_an_owned_chip_by_its_bills():
    """All bills of four years over all hours of four years."""
    hours = 4 * 365.25 * 24
    bills = 40_000 + hours * 1.071 * 0.08
    assert fleet_cost.ownership_price(CHIP) * HOUR == pytest.approx(bills / hours)


@given(share=st.floats(0.05, 1), price=st.floats(0.5, 8))
def test_owning_is_cheaper_from_the_break_even_on(share, price):
    rented = dict(device_price=price / HOUR)
    owned = fleet_cost.ownership_price(CHIP) * DAY
    even = fleet_cost.break_even_utilisation(CHIP | rented)
    if share > even * (1 + 1e-9):
        assert owned < price / HOUR * DAY * share
    if share < even * (1 - 1e-9):
        assert owned > price / HOUR * DAY * share


def test_energy_is_written_as_people_write_it():
    for text, joules in {
        "0.3 Wh": 1080,
        "433 MWh": 433e6 * HOUR,
        "20 kilowatt-hours": 20 * KWH,
        "1.5 kJ": 1500,
        "12 joules": 12,
    }.items():
        assert read(text) == (pytest.approx(joules), Dimension(energy=1))
    assert read("1.275 kW") == (1275, Dimension(energy=1, time=-1))
    assert read("$0.08 per kWh") == (pytest.approx(0.08 / KWH), Dimension(dollar=1, energy=-1))
