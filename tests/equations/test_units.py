"""Tests of numbers as text: what a reader sees, and what must never be shown."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.units import NBSP, UNITS, axis_hint, axis_title, format_tick, format_value, round_times


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.02314, "s", "23.1 ms"),
        (0.9996, "s", "1 s"),
        (4e-5, "s", "40 µs"),
        (300, "s", "5 min"),
        (7200, "s", "2 h"),
        (70272, "B/token", "70.3 kB/token"),
        (2.5e15, "FLOP/s", "2.5 PFLOP/s"),
        (8e12, "B/s", "8 TB/s"),
        (0.5, "B/parameter", "0.5 B/parameter"),
        (671e9, "parameter", "671 billion parameters"),
        (5441, "sequence", "5,440 sequences"),
        (1, "sequence", "1 sequence"),
        (128_000, "token/s", "128,000 tokens/s"),
        (18.135, "1", "18.1"),
        (0, "1", "0"),
        (1.2e-7, "1", "1.2 × 10⁻⁷"),
        (2.7e-7, "$/token", "$0.27 per million tokens"),
        (2.1 / 3600, "$/device/s", "$2.10 per chip-hour"),
        (1.2e-9, "$/token", "$0.0012 per million tokens"),
        (3.2e6, "$", "$3.2 million"),
        (-2.1, "$", "−$2.10"),
        (0.424, "%", "42.4 %"),
        (-3, "s", "−3 s"),
        (math.nan, "s", "–"),
        (math.inf, "s", "∞"),
        (-math.inf, "1", "−∞"),
    ],
)
def test_text(value, unit, text):
    assert format_value(value, unit).replace(NBSP, " ") == text


def test_digits():
    assert format_value(8192, "token", 4) == f"8,192{NBSP}tokens"
    assert format_value(8192, "token") == f"8,190{NBSP}tokens"


def test_unknown_unit_lists_what_there_is():
    with pytest.raises(ValueError, match=r"'furlong'.* s, B,"):
        format_value(1, "furlong")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1e-3, "s", "1 ms"),
        (1000, "sequence", "1 k"),
        (1e6, "token", "1 M"),
        (1e9, "parameter", "1 bn"),
        (1e15, "FLOP/s", "1 P"),
        (2e-7, "$/token", "$0.20"),
        (1e-5, "$/token", "$10"),
        (0, "s", "0"),
        (1e-9, "1", "10⁻⁹"),
        (3e-9, "1", "3 × 10⁻⁹"),
        (-1e-12, "$/token", "−$10⁻⁶"),
        (-0.25, "1", "−0.25"),
    ],
)
def test_ticks(value, unit, text):
    assert format_tick(value, unit).replace(NBSP, " ") == text


def test_what_ticks_leave_out_the_title_says():
    for unit, form in UNITS.items():
        assert bool(axis_hint(unit)) == bool(form.hint)
    assert axis_hint("sequence") == " (sequences)"
    assert axis_title("Parameters", "parameter") == "Parameters"
    assert axis_title("Tokens a second", "token/s") == "Tokens a second (tokens/s)"


def test_round_times_are_whole_in_their_unit_and_evenly_far_apart():
    for fine, least, most in ((False, 6, 12), (True, 2, 4)):
        times = round_times(1e-12, 1e10, fine)
        assert all(least <= later / time <= most for time, later in itertools.pairwise(times))
        numbers = {format_value(time, "s").split(NBSP)[0].replace(",", "") for time in times}
        assert {number.strip("0") for number in numbers} <= {"1", "2", "3", "5", "8", "24"}, numbers
    assert round_times(0.5, 200_000) == [1, 10, 100, 600, 7200, 86_400]


@given(st.floats(min_value=1e-11, max_value=1e25), st.sampled_from(sorted(set(UNITS) - {"s"})))
def test_the_number_can_be_read_back(value, unit):
    """The text says the value to within its digits.

    It is a thousandth off by rounding, and never a prefix wrong.
    """
    text = format_value(value, unit, 4)
    number = text.replace("$", "").replace(",", "").split(NBSP)
    mantissa = float(number[0].split(" ")[0])
    scale = 1.0
    for word, factor in {
        "million": 1e6,
        "billion": 1e9,
        "trillion": 1e12,
        "quadrillion": 1e15,
    }.items():
        if len(number) > 1 and number[1].startswith(word) and "per" not in text.split(word)[0]:
            scale = factor
    form = UNITS[unit]
    if "×" in text:
        raised = text.split("10")[-1].split(NBSP)[0].split(" ")[0]
        scale = 10.0 ** int(raised.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")))
    elif form.kind == "si":
        prefix = number[1][: len(number[1]) - len(form.one)]
        scale = {
            "": 1,
            "m": 1e-3,
            "k": 1e3,
            "M": 1e6,
            "G": 1e9,
            "T": 1e12,
            "P": 1e15,
            "E": 1e18,
            "Z": 1e21,
            "Y": 1e24,
        }[prefix]
    tolerance = 0.051 if form.kind == "money" else 0.0006
    assert mantissa * scale == pytest.approx(value * form.factor, rel=tolerance)
