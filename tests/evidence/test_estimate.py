"""An estimate adds up, agrees with others' tables, and says what cannot be had."""

import itertools
import json
import math

import pytest

from handful import latency, scenario, shapes
from handful.scenario import ScenarioError
from handful.symbolic.quantities import QuantityError
from handful.units import UNITS, format_value
from handful_evidence import measured
from handful_evidence.estimate import BATCH, estimate

DENSE = ("H100 SXM", "Llama 3.1 70B", "bf16")


@pytest.mark.parametrize(("batch", "milliseconds"), [(1, 5.32), (512, 30.9)])
def test_step_times_of_a_third_party(batch, milliseconds):
    found = estimate(*DENSE, batch=batch, context=4096)["step_time_s"]
    assert found * 1e3 == pytest.approx(milliseconds, rel=2e-3)


def test_balance_batches_of_the_literature():
    for chip, batch in (
        ("H100 SXM", 295),
        ("TPU v5e", 240),
    ):  # the lecture's 300; the scaling book's 240
        found = estimate(chip, "Llama 3.1 70B", "bf16")["balance_batch_sequences"]
        assert found == pytest.approx(batch, rel=0.02)


CASES = [
    (chip, model, batch, context)
    for chip, model, batch, context in itertools.product(
        ["H100 SXM", "A100 80GB", "GB200 NVL72", "TPU v6e"],
        ["Llama 3.1 8B", "DeepSeek-V3", "gpt-oss-120b", "Gemma 2 27B"],
        [1, 64, 20000],
        [0, 2048],
    )
]


@pytest.mark.parametrize(("chip", "model", "batch", "context"), CASES)
def test_parts_add_up(chip, model, batch, context):
    one = estimate(chip, model, batch=batch, context=context)
    by_memory = one["bound_by"] == "memory"
    assert one["memory_time_s"] == pytest.approx(one["weight_time_s"] + one["kv_time_s"])
    longer, shorter = one["memory_time_s"], one["compute_time_s"]
    if not by_memory:
        longer, shorter = shorter, longer
    assert one["step_time_s"] == pytest.approx(longer)
    assert one["bound_factor"] == pytest.approx(longer / shorter) and longer >= shorter
    assert one["all_tokens_per_s"] * one["step_time_s"] == pytest.approx(batch)
    assert one["all_tokens_per_s"] == pytest.approx(batch * one["user_tokens_per_s"])
    if one["cost_usd_per_token"] is not None:
        reading = one["weight_cost_usd_per_token"] + one["kv_cost_usd_per_token"]
        computing = one["compute_cost_usd_per_token"]
        assert one["cost_usd_per_token"] == pytest.approx(reading if by_memory else computing)
        rent = one["devices"] * scenario.values(chip, model, one["precision"])["device_price"]
        assert one["cost_usd_per_token"] * one["all_tokens_per_s"] == pytest.approx(rent)
        remarks = {line.key: line.remark for line in one.results}
        assert bool(remarks["compute_cost_usd_per_token"]) is by_memory
        assert bool(remarks["kv_cost_usd_per_token"]) is not by_memory


@pytest.mark.parametrize(("chip", "model", "batch", "context"), CASES)
def test_memory_is_what_filling_it_one_by_one_gives(chip, model, batch, context):
    one = estimate(chip, model, batch=batch, context=context)
    each = one["cache_memory_bytes"] / batch
    free = one["memory_bytes"] - one["weight_memory_bytes"]
    fits = one["batch_that_fits_sequences"]
    if each == 0 and free >= 0:
        assert fits is None and one["fits"]
        return
    assert fits == max(0, free // each) if each else fits == 0
    assert one["fits"] is (free >= 0 and batch <= fits)
    said = [note for note in one.notes if "does not fit" in note or "not one fits" in note]
    assert bool(said) is not one["fits"]


def test_at_the_balance_batch_reading_all_weights_takes_as_long_as_computing():
    one = estimate(*DENSE, context=0)
    at = estimate(*DENSE, batch=one["balance_batch_sequences"], context=0)
    assert at["compute_time_s"] == pytest.approx(at["weight_time_s"])
    assert at["bound_factor"] == pytest.approx(1)


def test_at_the_balance_batch_with_caches_the_two_take_equally_long():
    one = estimate(*DENSE, context=300)
    at = estimate(*DENSE, batch=one["balance_batch_with_caches_sequences"], context=300)
    assert at["bound_factor"] == pytest.approx(1)
    assert at["batch_sequences"] > one["balance_batch_sequences"]


def test_where_no_batch_balances_it_says_beyond_which_context():
    known = scenario.values(*DENSE)
    per_flop = known["memory_bandwidth"] / known["peak_flops"]
    pair = known["attention_flops_per_pair"] * per_flop
    for key, saved in (
        ("balance_batch_with_caches_sequences", 0),
        ("balance_batch_with_attention_sequences", pair),
    ):
        [line] = [line for line in estimate(*DENSE, context=8192).results if line.key == key]
        assert (line.value, line.text) == (None, "none")
        limit = 2 * known["active_parameters"] * per_flop / (known["kv_bytes_per_token"] - saved)
        assert line.remark.startswith(
            f"beyond a context of {format_value(limit, 'token')} caches take longer"
        )
        for context, there in ((limit * 0.99, True), (limit * 1.01, False)):
            assert (estimate(*DENSE, context=context)[key] is not None) is there


def test_arithmetic_of_latent_attention_keeps_pace_for_longer():
    found = estimate("GB200 NVL72", "DeepSeek-V3", "fp8", context=8192)
    assert found["balance_batch_with_caches_sequences"] is None
    assert found["balance_batch_with_attention_sequences"] == pytest.approx(12_194, rel=1e-3)
    assert (
        estimate("H200 SXM", "DeepSeek-V3", "fp8", context=128_000)[
            "balance_batch_with_attention_sequences"
        ]
        is not None
    )


@pytest.mark.parametrize(
    "chip, model, devices, name",
    [
        ("H200 SXM", "Llama 3.1 70B", 1, "dense, 1 chip"),
        ("H100 SXM", "Llama 3.1 8B", 8, "dense, 2–8 chips"),
        ("B200 SXM", "gpt-oss-120b", 1, "experts, 1 chip"),
        ("H200 SXM", "DeepSeek-V3", 8, "experts, 2–8 chips"),
        ("GB200 NVL72", "DeepSeek-V3", 72, "experts, over 8 chips"),
    ],
)
def test_the_band_is_that_of_the_scenarios_class(chip, model, devices, name):
    one, band = estimate(chip, model, devices=devices), measured.band(devices, model=model)
    found = one["measured_low_s"], one["measured_high_s"]
    assert [time / one["step_time_s"] for time in found] == pytest.approx([band.low, band.high])
    assert (one["measured_class"], one["measured_runs"]) == (name, band.count)


def test_a_scenario_without_a_band_says_so_in_words():
    one = estimate("GB200 NVL72", "Llama 3.1 70B")
    assert [one[key] for key in ("measured_low_s", "measured_high_s", "measured_runs")] == [
        None,
        None,
        0,
    ]
    lines = {line.key: line for line in one.results}
    assert lines["measured_class"].remark == (
        "no measured band for a dense model on more than 8 chips: 0 runs are published, and a "
        "band takes 30"
    )
    assert lines["measured_low_s"].text == lines["measured_high_s"].text == "no band"


def test_a_step_below_the_floor_says_why():
    """A small batch activates few experts, so it reads less than all weights.

    The floor counts all weights.
    """
    for batch, short in ((1, True), (20000, False)):
        one = estimate("H100 SXM", "gpt-oss-120b", batch=batch)
        [line] = [line for line in one.results if line.key == "latency_floor_s"]
        assert (one["step_time_s"] < line.value) is short is ("too few experts" in line.remark)


def test_the_usual_precision_follows_the_chip():
    assert estimate("H100 SXM", "Llama 3.1 8B")["precision"] == "fp8"
    title = estimate("a100 80gb", "llama 3.1 8b").title
    assert title.startswith("Llama 3.1 8B in bf16 on 8 × A100 80GB, batch 64")
    with pytest.raises(ScenarioError, match="A100 80GB has no fp8 arithmetic"):
        estimate("A100 80GB", precision="fp8")


def test_without_a_price_costs_are_said_to_be_unknown():
    one = estimate("TPU v5e", "Llama 3.1 8B")
    assert one["cost_usd_per_token"] is None
    assert [line.text for line in one.results if "cost" in line.key] == ["no price known"] * 4
    assert "No price per hour was found for TPU v5e" in " ".join(one.notes)
    assert estimate("TPU v5e", "Llama 3.1 8B", device_price=1 / 3600)["cost_usd_per_token"] > 0


def test_what_is_set_moves_the_result_and_is_shown():
    usual, twice = estimate(*DENSE), estimate(*DENSE, memory_bandwidth=6.7e12, devices=16)
    assert twice["memory_time_s"] == pytest.approx(usual["memory_time_s"] / 4)
    assert twice.settings == ["memory_bandwidth = 6.7\xa0TB/s"] and usual.settings == []
    assert "16 × H100 SXM" in twice.title


def test_keys_name_units_and_values_are_json():
    values = estimate().values()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    said = {
        "s": "_s",
        "B": "_bytes",
        "token/s": "_tokens_per_s",
        "$/token": "_usd_per_token",
        "token": "_tokens",
        "sequence": "_sequences",
    }
    for line in (*estimate().scenario, *estimate().results):
        assert line.key.endswith(said.get(line.unit, "")) and line.text
        assert line.unit in ("", *UNITS)


def test_the_usual_batch_needs_no_saying():
    assert estimate().values() == estimate(batch=BATCH).values()
    assert estimate().values()["step_time_s"] == latency.step_time(scenario.values(), batch=BATCH)


def test_a_published_count_that_is_another_is_explained():
    assert shapes.published_difference("gpt-oss-120b") in estimate(model="gpt-oss-120b").notes
    assert not any("published" in note for note in estimate(model="Llama 3.1 70B").notes)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"hardware": "A100"}, "'A100' is the beginning of several names: A100 40GB and A100 80GB"),
        ({"model": "gpt-5"}, "There is no model 'gpt-5'"),
        ({"batch": 0}, "batch must be a number above 0; got 0"),
        ({"context": -1}, "context must be a number from 0 up; got -1"),
        ({"devices": math.nan}, "devices must be a number above 0; got nan"),
        ({"step_time": 1}, "A scenario has no value 'step_time'"),
    ],
)
def test_bad_input_is_one_sentence(options, sentence):
    with pytest.raises((ScenarioError, QuantityError), match=sentence):
        estimate(**options)
