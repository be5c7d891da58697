"""Tests of prices read as costs.

They are compared with published figures, the cost model itself, counting calls, and limits.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import balance, facts, latency, prefill_decode, prices, tiers
from handful.facts import get
from handful.scenario import ScenarioError, values
from handful.symbolic import quantities as q
from handful.symbolic.formula import Formula
from handful.symbolic.quantities import QuantityError
from handful_evidence import price_lists

ROWS = {row["name"]: row for row in price_lists.interpret_all()}
LISTS = list(facts.load("prices"))
B200 = values(hardware="B200 SXM", precision="fp8", active_parameters=1e11)
GB200 = {**values(hardware="GB200 NVL72", precision="fp8"), "active_parameters": 1e11}
WINDOWED = {**B200, "window_cache_memory": 3e8}


# Long contexts


@pytest.mark.parametrize("precision, published", [("fp4", 889), ("fp8", 1778), ("bf16", 3556)])
def test_the_implied_cache_at_each_precision(precision, published):
    known = values(
        hardware="B200 SXM", precision=precision, active_parameters=1e11, context=200_000
    )
    found = prices.implied_kv_bytes(known)
    assert found == pytest.approx(published, abs=0.5)
    rule = prices.implied_kv_bytes_rule(
        known, weight_uses_at_balance=balance.weight_uses_at_balance(known)
    )
    assert rule == pytest.approx(found)


@given(context=st.floats(1e3, 1e7))
def test_the_implied_cache_puts_the_balance_where_the_price_turns(context):
    known = {**B200, "window_cache_memory": 0, "context": context}
    at = {**known, "kv_bytes_per_token": prices.implied_kv_bytes(known)}
    assert balance.balance_context(at) == pytest.approx(context)
    both = {
        **known,
        "kv_bytes_per_token": prices.implied_kv_bytes_with_attention(known),
        "batch": 7.0,
    }
    assert latency.kv_time(both) == pytest.approx(
        latency.compute_time(both) + latency.attention_time(both)
    )


def test_limits_of_the_implied_cache():
    bare = prices.implied_kv_bytes(B200, context=200_000)
    at = {**B200, "context": latency.attention_context(B200)}
    # Where attention costs as much as the weights, there is twice the arithmetic to hide the
    # reading behind.
    assert prices.implied_kv_bytes_with_attention(at) == pytest.approx(
        2 * prices.implied_kv_bytes(at)
    )
    with_weights = prices.implied_kv_bytes_with_weights
    assert with_weights(B200, batch=1e12, context=200_000) == pytest.approx(bare)
    assert with_weights(B200, batch=balance.balance_batch(B200) * 0.99, context=200_000) == 0


@given(context=st.floats(1, 1e7))
def test_the_growth_of_cost_is_that_of_the_cost_model(context):
    known = {**B200, "window_cache_memory": 0, "device_price": 1e-3}
    known["kv_bytes_per_token"] = prices.implied_kv_bytes(known, context=200_000)
    cost = latency.cost_floor(known, context=context) / latency.cost_floor(known, context=200_000)
    assert prices.cost_growth(context=context, price_threshold=200_000) == pytest.approx(cost)


def test_five_times_the_cost_for_one_and_a_half_times_the_price():
    steps = dict(price_threshold=200_000, surcharge=1.5)
    assert prices.cost_growth(context=1e6, price_threshold=200_000) == 5
    assert prices.cost_over_price(context=1e6, **steps) == pytest.approx(5 / 1.5)
    assert prices.cost_over_price(
        context=prices.surcharge_context(steps), **steps
    ) == pytest.approx(1)


def test_published_caches_are_far_larger_than_the_implied_one():
    caches = {row["name"]: row for row in price_lists.published_caches(2048)}
    # bf16, in kB, from the table of the lecture's claims.
    for name, kilobytes in (
        ("DeepSeek-V4-Flash", 6.9),
        ("DeepSeek-V4-Pro", 9.8),
        ("gpt-oss-120b", 37),
        ("Kimi K3", 28),
        ("DeepSeek-V3", 70),
        ("Qwen3 235B-A22B", 193),
        ("Llama 3.1 405B", 516),
    ):
        assert caches[name]["kv_bytes_per_token_bf16"] / 1e3 == pytest.approx(kilobytes, rel=0.015)
    assert 20 < caches["DeepSeek-V3"]["over_implied"] < 40
    assert min(row["kv_bytes_per_token"] for row in caches.values()) > 3000


# Answers and prompts


@given(ratio=st.floats(1.01, 20), context=st.floats(0, 1e4))
def test_the_implied_batch_gives_the_ratio_back(ratio, context):
    known = {**WINDOWED, "context": context, "output_over_input": ratio}
    batch = prices.implied_batch(known)
    if math.isfinite(batch):
        assert prices.output_over_input({**known, "batch": batch}) == pytest.approx(ratio)
    one = {**known, "output_over_input": 1.0}
    assert prices.implied_batch(one) == pytest.approx(balance.balance_batch_with_kv(one))


def test_a_ratio_of_five_is_a_fifth_of_the_balance_batch_where_weights_are_all():
    known = {**B200, "context": 0, "window_cache_memory": 0}
    best = balance.balance_batch(known)
    assert prices.implied_batch(known, output_over_input=5) == pytest.approx(best / 5)
    assert prices.implied_batch_of_weights(
        balance_batch=best, output_over_input=5
    ) == pytest.approx(best / 5)
    assert ROWS["claude-opus-4-6"]["implied_batch_over_balance_batch"] == pytest.approx(1 / 5)
    long = {**known, "context": balance.balance_context(known) * 5.01}
    assert (
        prices.implied_batch(long, output_over_input=5) == math.inf
    )  # the cache alone explains it


@given(batch=st.floats(1, 1e4), context=st.floats(0, 1e6), length=st.floats(1, 1e5))
def test_a_pass_is_a_step_of_many_tokens(batch, context, length):
    known = {**WINDOWED, "batch": batch, "context": context}
    step = latency.step_time_lecture(known, new_tokens_per_sequence=length) / (batch * length)
    assert prefill_decode.pass_token_time(known, pass_length=length) == pytest.approx(step)


def test_passes_from_decode_to_prefill():
    known = {**B200, "batch": 1, "context": 0, "window_cache_memory": 0}
    turn = prefill_decode.balance_pass(known)
    # Tokens of one sequence, or sequences of one token each.
    assert turn == pytest.approx(balance.balance_batch(known))
    times = [
        prefill_decode.pass_token_time(known, pass_length=turn * x)
        for x in (1 / 100, 1 / 10, 1, 10)
    ]
    assert [t / times[2] for t in times] == pytest.approx([100, 10, 1, 1])
    decode = prefill_decode.pass_token_time(known, pass_length=1)
    assert prices.output_over_input(known) == pytest.approx(decode / times[3])


@given(batch=st.floats(1, 1e3), context=st.floats(0, 1e6))
def test_a_balanced_pass_reads_as_long_as_it_computes(batch, context):
    known = {**WINDOWED, "batch": batch, "context": context}
    reading = latency.full_weight_time(known) + latency.kv_time(known)
    turn = prefill_decode.balance_pass(known)
    assert latency.compute_time(known, new_tokens_per_sequence=turn) == pytest.approx(reading)


# Caches


@given(read=st.floats(0.01, 0.95), write=st.floats(1, 3))
def test_reuses_by_counting_calls(read, write):
    def cheaper(uses):  # one call that writes and `uses` that read, against computing each
        return write + sum(read for _ in range(uses)) <= 1 + uses + 1e-9

    first = next(m for m in range(10_000) if cheaper(m))
    assert first == math.ceil(
        prices.break_even_reuses(cache_read_ratio=read, cache_write_ratio=write) - 1e-9
    )


def test_the_62_and_a_half_minutes_of_claudes_cache():
    # A published count (skids.dev, May 2026): twelve and a half reads of 0.1 cost as much as a
    # write of 1.25.
    limit = prices.refresh_limit(cache_retention=300, cache_read_ratio=0.1, cache_write_ratio=1.25)
    assert limit / 60 == pytest.approx(62.5)
    assert ROWS["claude-opus-4-6"]["refresh_limit_s"] == pytest.approx(limit)


def test_prices_of_keeping():
    opus, flash = ROWS["claude-opus-4-5"], ROWS["gemini-3.8-flash"]
    assert opus["hold_usd_per_mtok_hour"] == pytest.approx((10 - 6.25) / (55 / 60))
    assert opus["refreshed_hold_usd_per_mtok_hour"] == pytest.approx(0.5 * 12)
    assert flash["hold_usd_per_mtok_hour"] == pytest.approx(
        get("scaling_laws", "gemini_storage")["value"]
    )
    byte = prices.implied_byte_hold_price(hold_rate=0.5 / 3.6e9, kv_bytes_per_token=2000)
    assert byte * 3600 == pytest.approx(0.5 / (2000 * 1e6))
    # As much as a chip's rent for the same bytes is a markup of 1.
    rent = tiers.hold_rate_in_memory(B200)
    assert prices.hold_markup(B200, hold_rate=rent) == pytest.approx(1)
    assert opus["hold_over_chip_memory"] == pytest.approx(
        prices.hold_markup(B200, hold_rate=3.75e-6 / 3300)
    )


def test_markups_of_prompts_by_hand():
    # 2e11 FLOPs at 4.5e15 a second, on a chip that is rented by the hour.
    token = 2e11 / 4.5e15 * B200["device_price"]
    assert ROWS["claude-opus-4-6"]["input_markup"] == pytest.approx(5e-6 / token)
    assert ROWS["gpt-6-luna"]["input_markup"] == pytest.approx(0.1e-6 / token)


def test_inversions_give_the_price_back():
    known = {
        **B200,
        "input_price": 5e-6,
        "cache_read_ratio": 0.1,
        "model_flops_utilisation": 0.3,
        "waiting_price": 1e-3,
    }
    slowest = prices.implied_hit_bandwidth(known)
    assert tiers.retrieve_cost(known, tier_bandwidth=slowest) == pytest.approx(0.5e-6)
    paid = prices.implied_active_parameters(known)
    assert tiers.rematerialise_cost({**known, "active_parameters": paid}) == pytest.approx(5e-6)
    assert prices.input_markup(known) == pytest.approx(paid / known["active_parameters"])


# Every list on file


def test_every_list_has_its_row_and_every_number_is_one():
    assert len(ROWS) == len(LISTS) == len(price_lists.interpret_all(hardware="H100 SXM"))
    assert len({tuple(row) for row in ROWS.values()}) == 1
    for row in ROWS.values():
        numbers = [v for v in row.values() if isinstance(v, (int, float))]
        assert numbers and all(math.isfinite(v) and v >= 0 for v in numbers)
        assert row["source"] and isinstance(row["doubts"], list)


@pytest.mark.parametrize("row", LISTS, ids=lambda row: row.name)
def test_blanks_where_the_list_says_nothing(row):
    found = ROWS[row.name]
    for column, keys in (
        (
            "cached_input_read_usd_per_mtok",
            ("cached_over_input", "cache_hit_discount", "break_even_reuses"),
        ),
        (
            "cache_write_5m_or_default_usd_per_mtok",
            ("cache_write_over_input", "cache_retention_s", "refresh_limit_s"),
        ),
        (
            "long_context_threshold_tokens",
            ("implied_kv_bytes_per_token", "cost_over_price_at_window"),
        ),
        ("batch_output_usd_per_mtok", ("batch_output_over_output",)),
        ("peak_output_usd_per_mtok", ("peak_output_over_output",)),
        ("fast_or_priority_output_usd_per_mtok", ("fast_output_over_output",)),
    ):
        if row[column] is None:
            assert [found[key] for key in keys] == [None] * len(keys)
        else:
            assert found[keys[0]] is not None
    if row["long_context_threshold_tokens"]:
        crossing = found["implied_kv_bytes_per_token"] * row["long_context_threshold_tokens"]
        assert crossing == pytest.approx(1778 * 200_000, rel=1e-3)


def test_what_the_lists_were_said_to_hold():
    """The claims of ``lecture_vs_sources``, counted over the whole table."""
    output = [row["output_over_input"] for row in ROWS.values()]
    assert min(output) == pytest.approx(2, rel=0.02) and 8 <= max(output) < 8.5
    discounts = [row["cache_hit_discount"] for row in ROWS.values() if row["cache_hit_discount"]]
    assert min(discounts) == 2 and max(discounts) == pytest.approx(50)
    for provider, short, minutes, long, kept in (
        ("anthropic", 1.25, 5, 2, 3600),
        ("openai", 1.25, 30, 2.5, 43_200),
        ("moonshotai", 1, 5, 2, 3600),
    ):
        mine = [
            r for r in ROWS.values() if r["provider"] == provider and r["cache_write_over_input"]
        ]
        assert {r["cache_retention_s"] for r in mine} == {60 * minutes}
        assert {r["long_cache_retention_s"] for r in mine} == {kept}
        assert [r["cache_write_over_input"] for r in mine] == pytest.approx(
            [short] * len(mine), rel=0.05
        )
        assert [r["long_cache_write_over_input"] for r in mine] == pytest.approx([long] * len(mine))
    halves = [
        row["batch_output_over_output"] for row in ROWS.values() if row["batch_output_over_output"]
    ]
    assert halves and halves == pytest.approx([0.5] * len(halves))


def test_what_three_tenths_of_the_peak_make_of_both_readings():
    rack = values("GB200 NVL72", "DeepSeek-V3", "fp8", 200_000) | {"active_parameters": 1e11}
    slower = {**rack, "peak_flops": 0.3 * rack["peak_flops"]}
    assert prices.implied_kv_bytes(slower) == pytest.approx(5300, rel=0.02)
    people = [
        prices.implied_batch(known, output_over_input=6, context=0)
        for known in (values("GB200 NVL72", "DeepSeek-V3", "fp8", 200_000), slower)
    ]
    assert people[0] == pytest.approx(930, rel=0.01)
    # The sparsity is the same, so the weights of the guessed model go along.
    assert people[1] * 1e11 / values(model="DeepSeek-V3")["active_parameters"] == pytest.approx(
        280, rel=0.01
    )


def test_a_step_where_memory_is_full_goes_well_with_a_six():
    """Twelve GB200 chips, 1.78 TB of weights and 930 conversations at 2.4 kB a token."""
    chip = facts.get("accelerators", "GB200 NVL72")
    room, reads = 12 * chip["hbm_capacity_bytes"], 12 * chip["hbm_bandwidth_bytes_per_s"]
    work = 2 * 1e11 / (12 * chip["fp8_dense_flops"])
    weights, token = 1e11 * 671.03 / 37.55, 2400
    assert (room - weights) / (930 * token) == pytest.approx(200e3, rel=0.03)

    def cost(context: float) -> float:
        people = min(930, (room - weights) / (token * context)) if context else 930
        return (weights + people * token * context) / reads / (people * work)

    assert [round(cost(at)) for at in (0, 300e3)] == [6, 11]
    # Past the step the cost doubles where a conversation is twice as long.
    full = (room - weights) / (930 * token)
    assert cost(2 * full) == pytest.approx(2 * cost(full))
    tera = [round(size / 1e12, 1) for size in (weights, 930 * 200e3 * token, room)]
    assert tera == [1.8, 0.4, 2.2]


def test_no_published_model_is_on_the_line():
    """No model is near it either: the chapter says so of what is kept.

    The figure shows all models of the facts, at one byte a number.
    """
    above = {}
    for model in facts.load("models"):
        if model["kv_elements_per_token_growing"] and model["active_params_reported"]:
            line = prices.implied_kv_bytes(
                {**GB200, "active_parameters": model["active_params_reported"], "context": 200_000}
            )
            above[model.name] = model["kv_elements_per_token_growing"] / line
    assert (
        len(above) >= 25
        and min(above, key=above.get) == "DeepSeek-V4-Pro"
        and min(above.values()) > 5
    )
    assert sum(ratio > 20 for ratio in above.values()) > 0.8 * len(above)
    assert above["DeepSeek-V4-Pro"] == pytest.approx(6, rel=0.1)  # six times too heavy
    assert above["DeepSeek-V3"] == pytest.approx(60, rel=0.05)  # sixty times as much
    assert 100 < above["Llama 3.1 70B"] < 200  # more than a hundred times


def test_googles_own_chip_would_give_the_same_answer():
    tpu = {**values(hardware="TPU7x", precision="fp8"), "active_parameters": 1e11}
    ours, theirs = (prices.implied_kv_bytes({**chip, "context": 2e5}) for chip in (GB200, tpu))
    assert theirs == pytest.approx(ours, rel=0.001)


def test_steps_of_lists_lie_far_beyond_the_crossings_of_public_models():
    steps = [row["long_context_threshold_tokens"] for row in facts.load("prices")]
    chip = {"hardware": "GB200 NVL72", "precision": "fp8"}
    deepseek = values(model="DeepSeek-V3", **chip)
    last = balance.balance_context_with_attention(deepseek)
    first = facts.get("scaling_laws", "alibaba_first_step")["value"]
    assert 14e3 < last < 16e3 and first / last == pytest.approx(2, rel=0.1)
    assert min(step for step in steps if step) > 3 * first


def test_lists_of_different_models_step_at_the_same_place():
    """Three sellers at 200,000 tokens, and one seller's five models of very different prices."""
    steps = {row.name: row["long_context_threshold_tokens"] for row in LISTS}
    for name in ("gemini-3.1-pro-preview", "claude-sonnet-4-5", "grok-4.7"):
        assert abs(steps[name] - 200_000) <= 1
    openai = [row for row in LISTS if row["provider"] == "openai" and steps[row.name]]
    assert {steps[row.name] for row in openai} == {272_000} and len(openai) == 5
    asked = [row["input_usd_per_mtok"] for row in openai]
    assert max(asked) / min(asked) == pytest.approx(100)
    for name in ("claude-opus-4-6", "claude-sonnet-4-6"):
        dropped = price_lists.interpret(get("prices", name))
        assert dropped["changed"] == ["2026-03-13"] and steps[name] is None


def test_the_ratio_falls_above_the_step_and_by_the_rule_it_would_rise():
    row = get("prices", "gemini-3.1-pro-preview")
    above = row["long_context_output_usd_per_mtok"] / row["long_context_input_usd_per_mtok"]
    assert (above, row["output_usd_per_mtok"] / row["input_usd_per_mtok"]) == (4.5, 6)
    known = {**GB200, "batch": 930, "kv_bytes_per_token": 1600, "window_cache_memory": 0}
    short, long = (prices.output_over_input({**known, "context": at}) for at in (1e3, 3e5))
    assert long > short > 1


def test_with_attention_only_a_light_cache_has_no_kink():
    """A dense model of 100 billion weights, of 80 layers of 64 heads of 128 as Llama 3.1 70B."""
    known = {**GB200, "attention_flops_per_pair": 4 * 80 * 64 * 128, "window_cache_memory": 0}
    at = {**known, "context": 2e5, "batch": 1.0, "devices": 1.0}
    weights, attention = latency.compute_time(at), latency.attention_time(at)
    assert 3.5 < (weights + attention) / weights < 3.7
    assert latency.kv_time({**at, "kv_bytes_per_token": 1600}) < attention  # at any context
    assert prices.implied_kv_bytes_with_attention(at) == pytest.approx(5794, rel=1e-3)
    # But such a model reads its cache in all of its layers: it has a kink, at two thousand tokens.
    shaped = {**at, "kv_bytes_per_token": 163_840}
    assert balance.balance_context_with_attention(shaped) == pytest.approx(2000, rel=0.05)
    # The napkin's table: attention's arithmetic over the reading of the cache.
    for model, share in (("Llama 3.1 70B", 0.03), ("DeepSeek-V3", 0.77)):
        shape = {**values(model=model, hardware="GB200 NVL72", precision="fp8"), "batch": 1.0}
        shape |= {"context": 2e5, "devices": 1.0}
        taken = latency.attention_time(shape) / latency.kv_time(shape)
        assert round(taken, 2) == share
    # In bf16 over the same one-byte cache attention takes longer than reading.
    bf16 = facts.get("accelerators", "GB200 NVL72")["bf16_dense_flops"]
    assert shape["attention_flops_per_pair"] / bf16 > (
        shape["kv_bytes_per_token"] / shape["memory_bandwidth"]
    )
    # The napkin's cache, with eight heads to a key: in decode, and in a prompt of 200,000 tokens.
    pair = 2 * 8 * 1600
    assert 2e11 / pair == pytest.approx(7.8e6, rel=0.01)
    assert pair * 2e5 / 2 / 2e11 == pytest.approx(0.01, abs=0.003)


def test_a_third_of_the_sellers_halve_a_price_for_work_that_may_wait():
    sellers = {row["provider"] for row in LISTS}
    halved = {row["provider"] for row in LISTS if row["batch_output_usd_per_mtok"]}
    assert 3 * len(halved) == len(sellers)


@pytest.mark.parametrize(
    "name, inputs, outputs",
    [
        ("gemini-3.1-pro-preview", 2, 1.5),
        ("gpt-5.4", 2, 1.5),
        ("claude-sonnet-4-5", 2, 1.5),
        ("grok-4.5", 2, 2),
        ("minimax-m3", 2, 2),
        ("claude-haiku-5-5", 5, 5),
    ],
)
def test_surcharges(name, inputs, outputs):
    assert ROWS[name]["long_input_over_input"] == pytest.approx(inputs)
    assert ROWS[name]["long_output_over_output"] == pytest.approx(outputs)


@pytest.mark.parametrize(
    "name, words",
    [
        ("claude-opus-4-6", "surcharge on long contexts until 2026-03-13, without one since"),
        ("claude-opus-4-6", "answers cost 5 times prompts in all 17 lists of this seller"),
        ("gemini-3.1-pro-preview", "prompts cost 2 times as much above the threshold"),
        ("deepseek-v4-pro", "prices are off-peak; at other hours answers cost 2 times"),
        ("o3", "the price changes while the model does not"),
        ("gpt-6-astra", "6 times as much served sooner"),
        ("gpt-5", "0.5 times as much when they may wait"),
        ("baseten gpt-oss-120b", "sold at another price by cerebras"),
        ("gemini-3-pro-preview", "shut down"),
    ],
)
def test_reasons_to_doubt(name, words):
    assert any(words in doubt for doubt in ROWS[name]["doubts"])


def test_a_window_that_ends_at_the_threshold_never_meets_the_surcharge():
    row = ROWS["claude-sonnet-4-5"]
    assert row["context_window_tokens"] == row["long_context_threshold_tokens"] == 200_000
    assert row["cost_growth_at_window"] is None and row["cost_over_price_at_window"] is None
    assert ROWS["grok-4.5"]["cost_growth_at_window"] == pytest.approx(2.5, rel=1e-4)


@pytest.mark.parametrize(
    "change, word",
    [
        # The same price noted twice is no change, and one that is not higher no surcharge.
        ({"price_history": "start: in 3 out 15; 2026-03-13: in 3 out 15"}, "the price changes"),
        (
            {"long_context_input_usd_per_mtok": get("prices", "grok-4-0709")["input_usd_per_mtok"]},
            "above the threshold",
        ),
    ],
)
def test_what_is_no_reason(change, word):
    row = get("prices", "grok-4-0709")
    assert not any(
        word in doubt for doubt in price_lists.objections(facts.Row({**row, **change}, "prices", 0))
    )


@pytest.mark.parametrize("lists, rule", [(2, False), (3, True)])
def test_a_ratio_in_three_lists_is_a_rule(lists, rule, monkeypatch):
    mine = [row for row in LISTS if row["provider"] == "anthropic"][:lists]
    monkeypatch.setattr(price_lists.facts, "load", lambda table: mine)
    assert any("a rule of pricing" in doubt for doubt in price_lists.objections(mine[0])) == rule


def test_no_reason_is_given_where_the_list_gives_none():
    assert price_lists.objections(get("prices", "grok-4-0709")) == []
    assert ROWS["claude-opus-4-6"]["changed"] == ["2026-03-13"] and ROWS["gpt-4"]["changed"] == []


def _derived(formula):
    """Return the end of a formula's derivation, as a formula that can be called."""
    end = formula.derivation.last
    return Formula(
        q.find(end.lhs.name), end.rhs, register=False, name="derived", meaning="m", source="s"
    )


def test_derivations_end_in_their_formulas():
    for formula in (
        prices.implied_kv_bytes,
        prices.implied_kv_bytes_rule,
        prices.implied_kv_bytes_with_attention,
    ):
        assert (formula.derivation.result - formula.expression).simplify() == 0
    # Where the formula has a bound that the derivation leaves out: at a point within it.
    lists = {"cache_write_ratio": 2, "cache_read_ratio": 0.1}
    assert _derived(prices.break_even_reuses)(lists) == pytest.approx(
        prices.break_even_reuses(lists)
    )
    known = {**B200, "context": 1000, "output_over_input": 3}
    assert _derived(prices.implied_batch)(known) == pytest.approx(prices.implied_batch(known))
    for context in (2e5, 1e6):
        linear = _derived(prices.cost_growth)(context=context, price_threshold=2e5, compute_cost=1)
        assert linear == pytest.approx(prices.cost_growth(context=context, price_threshold=2e5))


@pytest.mark.parametrize(
    "call, error, sentence",
    [
        (
            lambda: price_lists.interpret_all(hardware="B2000"),
            ScenarioError,
            "There is no hardware 'B2000'; the nearest are",
        ),
        (
            lambda: price_lists.interpret_all(active_parameters=-1),
            ScenarioError,
            "active_parameters must be a number above 0",
        ),
        (
            lambda: price_lists.published_caches(0),
            QuantityError,
            "must be above 0 to be compared with; got 0",
        ),
        (
            lambda: price_lists.published_caches("2 GFLOP"),
            QuantityError,
            "must be a byte/token; '2 GFLOP' is a flop",
        ),
        (
            lambda: prices.break_even_reuses(cache_read_ratio=1.5, cache_write_ratio=1),
            QuantityError,
            "cache_read_ratio must be at most 1",
        ),
        (
            lambda: price_lists.interpret(get("prices", "gpt-7")),
            facts.FactsError,
            "has no row 'gpt-7'; the nearest",
        ),
    ],
)
def test_bad_input_gets_one_clear_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_ramp_from_six_to_nine_and_a_cache_that_pays_for_both():
    """What the chapter says of 930 people with the napkin's cache, and of 200 uses of a byte."""
    known = values("GB200 NVL72", "DeepSeek-V3", "fp8", 200_000)
    uses = known["peak_flops"] / known["memory_bandwidth"] / 2
    ramp = [6 + 1600 * context * uses / 1e11 for context in (0, 200e3, 600e3)]
    assert ramp == pytest.approx([6, 7, 9], rel=0.01)
    # Prompts double: half of 200,000 tokens back takes as much as a hundred billion weights.
    pair = 1e11 / 100e3
    # Reading overtakes the weights' arithmetic and attention's at 200,000 tokens.
    cache = (1e11 / 200e3 + pair) / uses
    assert cache == pytest.approx(5000, rel=0.05)
    assert pair / cache == pytest.approx(200, rel=0.05)


def test_how_far_attention_moves_a_kink():
    """The chapter's table: a share of 312 multiply-adds, and a kink over one minus the share."""
    known = values("GB200 NVL72", "Llama 3.1 70B", "fp8", 200_000)
    uses = known["peak_flops"] / known["memory_bandwidth"] / 2
    for heads, share, later in ((8, 0.03, 1.03), (64, 0.20, 1.26), (242, 0.77, 4.4)):
        assert heads / uses == pytest.approx(share, abs=0.006)
        assert 1 / (1 - heads / uses) == pytest.approx(later, rel=0.01)
    napkin = prices.implied_kv_bytes({**known, "active_parameters": 1e11})
    assert napkin / (1 - 64 / uses) == pytest.approx(2000, rel=0.01)


def test_dear_prompts_and_a_crowd_without_room():
    """Two figures of the chapter that it gives as numbers of its own."""
    row = facts.get("prices", "gemini-3.1-pro-preview")
    assert row["long_context_input_usd_per_mtok"] == 4
    assert row["long_context_output_usd_per_mtok"] == 18
    steps = {
        facts.get("prices", name)["long_context_threshold_tokens"]
        for name in ("gemini-1.5-pro", "claude-haiku-5-5")
    }
    assert steps == {128_000, 100_000}
    rack = facts.get("accelerators", "GB200 NVL72")
    room = rack["hbm_capacity_bytes"] * rack["scaleup_domain_chips"]
    assert 2 < 100_000 * 320e6 / room < 3
