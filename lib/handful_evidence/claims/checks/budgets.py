"""Tests of claims about what training, tokens and memory cost: segments 5 and 6."""

# The docstring of a test is a phrase that readers see in the ledger, after "Tested:".
# ruff: noqa: D205, D400, D401, D403

from __future__ import annotations

import sympy

from handful import (
    balance,
    chinchilla,
    facts,
    latency,
    lifetime_cost,
    memory_wall,
    overtraining,
    prefill_decode,
    prices,
    tiers,
)
from handful.scenario import page_rows, values
from handful.symbolic.formula import fill_constants

from .algebra import Findings, free_of, same, symbol

# Over-training ------------------------------------------------------------------------------------


def least_sum_has_equal_terms() -> Findings:
    """two costs at their least sum, and a model's bills for training and decoding, by two fits of
    the Chinchilla law
    """
    x = sympy.Symbol("x", real=True)
    least = sympy.solve(sympy.diff(sympy.exp(x) + sympy.exp(-x), x), x)
    found = {
        "x + 1/x: equal": overtraining.cost_ratio(rising_exponent=1, falling_exponent=1) == 1,
        "e^x + e^-x: equal": least == [0],
    }
    # The lecture's model, taken to be the cheapest for its life: 100 billion active, 200 trillion
    # tokens.
    for fit, year in (("hoffmann", "the fit of 2022"), ("besiroglu", "the refit of 2024")):
        best = lifetime_cost.bill_ratio_at_optimum(
            chinchilla.law(fit), active_parameters=100e9, pretraining_tokens=200e12
        )
        found[f"{year}: the cheapest life has equal bills, within a tenth"] = abs(best - 1) < 0.1
        found[f"{year}: equal bills cost at most a tenth more"] = (
            lifetime_cost.split_excess(1, best, fit=fit) < 0.1
        )
    return found


def three_bills() -> Findings:
    """the three formulas against 6 N D, (2 to 6) N D / efficiency and 2 N D / efficiency"""
    n, eff = symbol("active_parameters"), symbol("decode_efficiency")
    apart = fill_constants(overtraining.rl_flops_apart.expanded).subs(symbol("learned_share"), 1)
    rl = sympy.simplify(
        fill_constants(overtraining.rl_flops.expanded) / (n * symbol("rl_tokens")) * eff
    )
    return {
        "pre-training": same(overtraining.training_flops, 6 * n * symbol("pretraining_tokens")),
        "reinforcement learning, all of it as inefficient as decoding": [
            rl.subs(symbol("rl_passes"), passes) for passes in (1, 3)
        ]
        == [2, 6],
        "its upper end, if learning runs as efficiently as pre-training": sympy.simplify(
            apart / (n * symbol("rl_tokens")) * eff - 6
        )
        == 0,
        "inference": same(overtraining.inference_flops, 2 * n * symbol("inference_tokens") / eff),
    }


def fewer_tokens_of_learning() -> Findings:
    """pre-training tokens for each of reinforcement learning at equal bills, above one"""
    return {
        f"{2 * passes:g} FLOP a weight and token, decoding at {efficiency:.0%} of training's "
        "efficiency".replace("%", " percent"): overtraining.pretraining_per_rl_token(
            rl_passes=passes, decode_efficiency=efficiency
        )
        > 1
        for passes in (1, 3)
        for efficiency in (0.3, 0.5)
    }


# Prices and tiers ---------------------------------------------------------------------------------


def arithmetic_is_flat_in_the_context() -> Findings:
    """what both depend on, and attention at 200,000 tokens: very mild, a tenth of the weights'
    arithmetic at most
    """

    def mild(model: str) -> bool:
        at = values(model=model, context=200_000)
        return latency.attention_time(at, batch=1) / latency.compute_time(at, batch=1) < 0.1

    reading = sympy.diff(latency.kv_time.expanded, symbol("context"), 2)
    return {
        "reading is a constant and a line": reading == 0,
        "arithmetic without attention is flat": free_of(latency.compute_time, "context"),
        **{
            f"attention is very mild: {model}": mild(model)
            for model in ("Gemma 3 27B", "Llama 3.1 70B", "DeepSeek-V3")
        },
    }


def two_prices_cover_the_cost() -> Findings:
    """cost of an answer's token, flat to the step of Gemini 3.1 Pro and then linear, over its price
    in two tiers
    """
    row = facts.get("prices", "gemini-3.1-pro-preview")
    step = row["long_context_threshold_tokens"]
    rise = row["long_context_output_usd_per_mtok"] / row["output_usd_per_mtok"]

    def covered(context: float, margin: float = 1) -> bool:
        return (
            prices.cost_over_price(context=context, price_threshold=step, surcharge=rise)
            <= margin * 1.0001
        )

    return {
        "short prompts sold at cost: 300,000 tokens": covered(300_000),
        "short prompts sold at cost: 1,000,000 tokens": covered(1e6),
        "short prompts sold at four times their cost: 1,000,000 tokens": covered(1e6, 4),
    }


def steps_stay_with_the_model() -> Findings:
    """price lists that rose at 200,000 tokens in 2026: whether the step stayed for as long as the
    model did
    """
    lists = {
        "Gemini 3.1 Pro": "gemini-3.1-pro-preview",
        "Claude Opus 4.6": "claude-opus-4-6",
        "Claude Sonnet 4.6": "claude-sonnet-4-6",
    }
    rows = {words: facts.get("prices", name) for words, name in lists.items()}
    return {
        words: row["long_context_threshold_tokens"] == 200_000
        and "tier" not in (row["price_history"] or "")
        for words, row in rows.items()
    }


def selection_divides_the_reading() -> Findings:
    """reading at 128,000 tokens over that of dense attention, against the share of tokens that are
    chosen
    """
    terms = {**memory_wall.kv_read_terms("DeepSeek-V3.2"), "context": 128_000}
    whole = terms["selected_bytes_per_token"] * terms["context"]
    share = terms["selected_tokens"] / terms["context"]
    chosen = memory_wall.kv_read_compressed({**terms, "indexer_bytes_per_token": 0}) / whole
    indexed = memory_wall.kv_read_compressed(terms) / whole
    return {
        "the chosen tokens alone": abs(chosen / share - 1) < 0.01,
        "with the keys that they are chosen by": abs(indexed / share - 1) < 0.1,
    }


def prices_lie_near_costs() -> Findings:
    """a seller's income over its cost, and one open model's prices at two hosts: a factor of two at
    most
    """
    hosts = [facts.get("prices", f"{host} gpt-oss-120b") for host in ("baseten", "cerebras")]

    def near(column: str) -> bool:
        low, high = sorted(host[column] for host in hosts)
        return high / low <= 2

    return {
        "DeepSeek-R1, income at list prices over cost": facts.get(
            "scaling_laws", "deepseek_income"
        )["value"]
        <= 2,
        "gpt-oss-120b, prompts at two hosts": near("input_usd_per_mtok"),
        "gpt-oss-120b, answers at two hosts": near("output_usd_per_mtok"),
    }


def a_pass_shares_the_reading() -> Findings:
    """time a token of a pass of p tokens: the part of the weights and caches, and the part of the
    arithmetic
    """
    at = values("H100 SXM", "Llama 3.1 70B", "fp8", 8192)
    one, ten, many, more = (
        prefill_decode.pass_token_time(at, batch=1, pass_length=p) for p in (1, 10, 1e5, 1e6)
    )
    return {
        "short passes: the time falls as 1/p": abs(one / ten - 10) < 1e-6,
        "long passes: it is flat": abs(many / more - 1) < 1e-6,
    }


def prefill_computes_and_decode_reads() -> Findings:
    """the slower of reading and arithmetic: DeepSeek-V3 in fp8 on GB200, 1,000 tokens of context"""
    at = values(context=1000)

    def reads(batch: float, pass_length: float) -> bool:
        known = {**at, "batch": batch, "pass_length": pass_length}
        return prefill_decode.pass_memory_time(known) > prefill_decode.pass_compute_time(known)

    return {
        "decode, batch 256, waits for reading": reads(256, 1),
        "decode, batch 16,384, waits for reading": reads(16_384, 1),
        "prefill, a prompt of 8,192 tokens, waits for arithmetic": not reads(1, 8192),
        "prefill, a prompt of 1,000 tokens, waits for arithmetic": not reads(1, 1000),
    }


def attention_rises_slower_than_reading() -> Findings:
    """slope of attention's arithmetic over that of reading the cache, in time: a tenth at most;
    fp8
    """

    def small(chip: str, model: str) -> bool:
        at = values(chip, model, "fp8", 100_000)
        reading = latency.kv_time(at, batch=1, window_cache_memory=0)
        return latency.attention_time(at, batch=1) / reading <= 0.1

    names = [row["name"] for row in page_rows()["model"]]
    count = sum(small("B200 SXM", name) for name in names)
    return {
        f"almost always: {count} of {len(names)} published shapes on B200": count
        >= 0.8 * len(names),
        **{
            f"DeepSeek-V3 on {chip.split()[0]}": small(chip, "DeepSeek-V3")
            for chip in ("B200 SXM", "H200 SXM")
        },
    }


# Memory tiers -------------------------------------------------------------------------------------

# Lists of the months before the lecture: the largest sellers.
_LISTS = {
    "Claude Opus 4.6": "claude-opus-4-6",
    "GPT-5.4": "gpt-5.4",
    "Gemini 3.1 Pro": "gemini-3.1-pro-preview",
    "Grok 4": "grok-4-0709",
}


def writing_costs_more() -> Findings:
    """whether all lists of spring 2026 that sell hits for less ask more for writing to the cache"""
    rows = [facts.get("prices", name) for name in _LISTS.values()]
    charging = [
        row
        for row in rows
        if (row["cache_write_5m_or_default_usd_per_mtok"] or 0) > row["input_usd_per_mtok"]
    ]
    return {f"all of them: {len(charging)} of {len(rows)} do": len(charging) == len(rows)}


def memory_limits_long_contexts() -> Findings:
    """a million tokens in fp8: reading the cache takes longer than all arithmetic, attention's
    included
    """

    def waits(chip: str, model: str) -> bool:
        at = values(chip, model, "fp8", 1e6)
        return latency.kv_time(at, batch=1) > latency.compute_time(
            at, batch=1
        ) + latency.attention_time(at, batch=1)

    chips = {"GB200": "GB200 NVL72", "H200": "H200 SXM"}
    return {
        f"{model} on {chip}": waits(name, model)
        for chip, name in chips.items()
        for model in ("Llama 3.1 70B", "DeepSeek-V3")
    }


def a_month_wants_other_memory() -> Findings:
    """100 million tokens in fp8 on a rack of GB200: the room for one cache, and the price of
    reading it
    """
    dearest = facts.get("prices", "claude-opus-4-6")["output_usd_per_mtok"] / 1e6
    found = {}
    for model in ("Llama 3.1 70B", "DeepSeek-V3"):
        at = values(model=model, context=1e8)
        found[f"{model}: more than fits beside the weights"] = (
            memory_wall.context_that_fits(at, batch=1) < 1e8
        )
        costly = latency.kv_cost(at) > dearest
        found[f"{model}: costs more to read than an answer of Claude Opus 4.6 sells for"] = costly
    return found


def windows_shot_up() -> Findings:
    """windows on the price lists of GPT-4 and of the models after it"""
    names = ("gpt-4", "gpt-4-turbo", "claude-3-opus-latest")
    window = {name: facts.get("prices", name)["context_window_tokens"] for name in names}
    return {
        "GPT-4: about 8,000": abs(window["gpt-4"] / 8000 - 1) < 0.05,
        "GPT-4, the first: 100,000 to 200,000": 100_000 <= window["gpt-4"] <= 200_000,
        **{
            f"{words}: 100,000 to 200,000": 100_000 <= window[name] <= 200_000
            for words, name in (
                ("GPT-4 Turbo", "gpt-4-turbo"),
                ("Claude 3 Opus", "claude-3-opus-latest"),
            )
        },
    }


def costs_balance_at_200k() -> Findings:
    """where reading takes as long as all arithmetic (fp8 on GB200), and lists that ask more beyond
    200,000 tokens
    """

    def balanced(model: str) -> bool:
        return 100_000 <= balance.balance_context_with_attention(values(model=model)) <= 200_000

    asks = {
        words: bool(facts.get("prices", name)["long_context_threshold_tokens"])
        for words, name in _LISTS.items()
    }
    return {
        **{
            f"balance between 100,000 and 200,000: {model}": balanced(model)
            for model in ("Llama 3.1 405B", "DeepSeek-V3")
        },
        **{
            f"costs more beyond: {words}": asks[words]
            for words in ("Gemini 3.1 Pro", "GPT-5.4", "Claude Opus 4.6")
        },
    }


def sparser_attention_errs_more() -> Findings:
    """simulated: how far attention's output moves if only the strongest of 4,096 random tokens are
    kept
    """
    import numpy as np

    rng = np.random.default_rng(0)
    keys, held = rng.standard_normal((2, 4096, 64))
    scores = 3 * rng.standard_normal((64, 64)) @ keys.T / 8

    def output(scores):
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True) @ held

    whole = output(scores)
    errors = []
    for kept in (2048, 512, 128, 32, 8, 1):
        least = -np.sort(-scores, axis=1)[:, kept - 1 : kept]
        moved = output(np.where(scores >= least, scores, -np.inf)) - whole
        errors.append(float(np.sqrt((moved**2).sum() / (whole**2).sum())))
    return {
        "the fewer are kept, the further": errors == sorted(errors),
        "half of them: less than a hundredth": errors[0] < 0.01,
        "one of them: further than the output is long": errors[-1] > 1,
    }


def three_ways_to_have_a_cache() -> Findings:
    """the three formulas: which of them depend on the time held, and on what else"""
    return {
        "recomputing: arithmetic × rent, whatever the time": free_of(
            tiers.rematerialise_cost, "hold_time"
        ),
        "keeping: bytes/capacity × price × time": same(
            tiers.hold_cost,
            symbol("kv_bytes_per_token")
            / symbol("tier_capacity")
            * symbol("tier_price")
            * symbol("hold_time"),
        ),
        "fetching: bytes/bandwidth × price": same(
            tiers.retrieve_cost,
            symbol("kv_bytes_per_token") / symbol("tier_bandwidth") * symbol("waiting_price"),
        ),
    }


def keeping_falls_as_fetching_rises() -> Findings:
    """DeepSeek-V3 in fp8 on GB200: memory, host memory, fast flash, disk and computing again, by
    the fare
    """
    found = {}
    for words, idle in (("chips wait", 1), ("reading is hidden", 0)):
        ways = tiers.offers(idle_share=idle)
        chosen = [
            next(way for way in ways if way["tier"].startswith(tier))
            for tier in ("chip memory", "LPDDR5X host", "NVMe", "Nearline", "compute again")
        ]
        by_fetching = sorted(chosen, key=lambda way: way["retrieve_usd_per_token"])
        keeping = [way["hold_usd_per_token_s"] for way in by_fetching]
        found[f"{words}: keeping falls as fetching rises"] = keeping == sorted(
            keeping, reverse=True
        )
    flash, disk = (
        _waits(tiers.device(start)) for start in ("Micron 9650 Pro 30.72", "Seagate Exos X24")
    )
    for words, written in (("writing left out", 0), ("writing counted", 1)):
        rents = [tiers.tier_price(at) / at["tier_capacity"] for at in (flash, disk)]
        fares = [
            tiers.written_cost({**at, "hold_time": 1e-3, "idle_share": 0, "written_share": written})
            for at in (flash, disk)
        ]
        found[f"flash and disk, {words}: the lower rent has the higher fare"] = (
            rents[0] > rents[1]
        ) == (fares[0] < fares[1])
    return found


def _waits(device: dict[str, float], disks: int = 1) -> dict[str, float]:
    """Return the inputs of `tiers.written_cost` for a cache of the chapter on a device."""
    known = values("GB200 NVL72", "DeepSeek-V3", "fp8")
    return {**known, "storage_lifetime": tiers.FIVE_YEARS, "tier_devices": disks, **device}


def cheapest_ways_are_host_and_flash() -> Findings:
    """the cheapest place for a cache, DeepSeek-V3 in fp8 on GB200: its host, a flash drive or a
    disk, of which sixteen are read side by side, at the middle of their prices
    """
    memory = facts.get(
        "memory_tiers",
        "Grace with 480 GB, read at 307 GB/s, behind 2 GPUs over NVLink-C2C",
    )
    high = {"storage_price": memory["usd_per_gb_high"] / 1e9}
    places = {
        "host memory": _waits(tiers.device("Grace")),
        "flash": _waits(tiers.device("Micron 9650 Pro 30.72")),
        "disk": _waits(tiers.device("Seagate Exos X24"), disks=16),
    }

    def cheapest(seconds: float, idle: float, written: float, **host: float) -> str:
        at = {"hold_time": seconds, "idle_share": idle, "written_share": written}
        known = {**places, "host memory": {**places["host memory"], **host}}
        return min(known, key=lambda place: tiers.written_cost({**known[place], **at}))

    found = {
        f"{time}, {waits}, {writing}: {place}": cheapest(seconds, idle, written) == place
        for writing, written in (("writing counted", 1), ("writing left out", 0))
        for waits, idle in (("chips wait", 1), ("reading is hidden", 0))
        for time, seconds, place in (
            ("five minutes", 300, "host memory"),
            ("an hour", 3600, "flash"),
        )
    }
    found["five minutes, reading is hidden, writing counted, latest price: host memory"] = (
        cheapest(300, 0, 1, **high) == "host memory"
    )
    return found


def cheapest_tier_drains_in_the_hold_time() -> Findings:
    """drain time of the cheapest way to have a cache, against the time it is kept for, within a
    factor of two
    """
    drain = {row["name"]: row["drain_time_s"] for row in tiers.drains()}
    found = {}
    for words, idle in (("chips wait", 1), ("reading is hidden", 0)):
        for time, seconds in (("five minutes", 300), ("an hour", 3600)):
            name = tiers.best_tier(seconds, idle_share=idle)["name"]
            found[f"{time}, {words}"] = 0.5 <= drain[name] / seconds <= 2
    return found


def times_suggest_devices() -> Findings:
    """how long a cache is kept against the drain time of a device, within a factor of two"""

    def near(seconds: float, tier: str) -> bool:
        row = facts.get("memory_tiers", tier)
        drain = tiers.drained_hold_time(
            tier_capacity=row["capacity_bytes"], tier_bandwidth=row["read_bandwidth_bytes_per_s"]
        )
        return 0.5 <= drain / seconds <= 2

    disk = next(
        row.name
        for row in facts.load("memory_tiers")
        if row["tier"] == "Nearline HDD" and row.verified
    )
    cluster = next(
        row.name for row in facts.load("memory_tiers") if row["tier"] == "NVMe flash cluster"
    )
    small = next(
        row.name
        for row in facts.load("memory_tiers")
        if row.name.startswith("Micron 9650 Pro 7.68")
    )
    return {
        "five minutes: a small fast flash drive": near(300, small),
        "an hour: a disk": near(3600, disk),
        "an hour: no flash comes as near as a disk": not near(3600, cluster),
    }


def fetching_is_a_share_of_holding() -> Findings:
    """the time to fetch, in a tier that is drained in the time held, against that time × the share
    of capacity
    """
    drain = tiers.drained_hold_time.expanded
    ruled = tiers.retrieve_time_rule.expanded.subs(symbol("hold_time"), drain)
    return {
        "fetch time = hold time × share": sympy.simplify(ruled - tiers.retrieve_time.expanded) == 0
    }
