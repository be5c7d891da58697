"""Tests of numbers as text: what a reader sees, and what must never be shown."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.units import (
    NBSP,
    UNITS,
    axis_hint,
    axis_title,
    format_named,
    format_tick,
    format_ticks,
    format_value,
    round_times,
)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.02314, "s", "23.1 ms"),
        (0.9996, "s", "1 s"),
        (4e-5, "s", "40 µs"),
        (300, "s", "5 min"),
        (60, "s", "1 min"),
        (90, "s", "90 s"),
        (7200, "s", "2 h"),
        (86_400, "s", "1 day"),
        (1e24, "FLOP", "10²⁴ FLOP"),
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
        (2, "$", "$2"),
        (8.1e-13, "$/token", "$0.00000081 per million tokens"),
        (100, "bit", "100 bits"),
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
        (1000, "sequence", "1,000"),
        (1e6, "token", "1 million"),
        (1e9, "parameter", "1 billion"),
        (1e15, "FLOP/s", "1 PFLOP/s"),
        (2e25, "FLOP", "2 × 10²⁵"),
        (2000, "B/token", "2 kB"),
        (1e8, "$", "$100 million"),
        (2e-7, "$/token", "$0.20"),
        (1e-5, "$/token", "$10"),
        (0, "s", "0"),
        (1e-9, "1", "10⁻⁹"),
        (3e-9, "1", "3 × 10⁻⁹"),
        (-1e-12, "$/token", "−$0.000001"),
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
    assert axis_title("Tokens a second", "token/s") == "Tokens a second"
    assert axis_title("FLOPs of pre-training", "FLOP") == "FLOPs of pre-training"
    assert format_named("Fewest chips", 21, "device") == "21"
    assert format_named("Batch", 21, "sequence") == f"21{NBSP}sequences"


@pytest.mark.parametrize(
    ("values", "unit", "log", "texts"),
    [
        ([0, 0.5, 1, 1.5], "s", False, ["0", "0.5 s", "1 s", "1.5 s"]),
        ([0, 1800, 3600, 5400, 7200], "s", False, ["0", "0.5 h", "1 h", "1.5 h", "2 h"]),
        ([0, 5e5, 1e6], "token", False, ["0", "0.5 million", "1 million"]),
        ([0, 5e5, 1e6], "$", False, ["$0", "$0.5 million", "$1 million"]),
        ([1e-5, 1e-2, 1, 100], "1", True, ["10⁻⁵", "10⁻²", "1", "100"]),
        ([0.01, 0.1, 1], "1", True, ["0.01", "0.1", "1"]),
        ([1e-3, 1, 60], "s", True, ["1 ms", "1 s", "1 min"]),
    ],
)
def test_the_labels_of_an_axis_are_in_one_style(values, unit, log, texts):
    assert [text.replace(NBSP, " ") for text in format_ticks(values, unit, log)] == texts


def test_round_times_are_what_clocks_and_calendars_count():
    for low, high, most in itertools.product((1e-9, 0.5, 60), (1e4, 1e6, 1e9), (4, 6, 12)):
        times = round_times(low, high, most)
        assert len(times) <= most
        numbers = {format_value(time, "s").split(NBSP)[0].replace(",", "") for time in times}
        assert {number.strip("0") for number in numbers} <= {"1", "3"}, numbers
    assert round_times(0.5, 200_000) == [1, 10, 60, 600, 3600, 36_000, 86_400]
    assert round_times(0.5, 200_000, 6) == [1, 60, 3600, 86_400]


@given(st.floats(min_value=1e-11, max_value=1e25), st.sampled_from(sorted(set(UNITS) - {"s"})))
def test_the_number_can_be_read_back(value, unit):
    """The text says the value to within its digits.

    It is a thousandth off by rounding, and never a prefix wrong.
    """
    text = format_value(value, unit, 4)
    number = text.removeprefix("$").replace(",", "").split(NBSP)
    plain = number[0].split(" ")[0]
    mantissa = float(plain) if plain.isascii() else 1.0
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
    if "×" in text or not plain.isascii():
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
