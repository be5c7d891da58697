"""Tests of claims about serving on one rack: segment 1."""

# The docstring of a test is a phrase that readers see in the ledger, after "Tested:".
# ruff: noqa: D205, D400, D401, D403

from __future__ import annotations

import itertools
import re

import sympy

from handful import balance, facts, latency, memory_wall, shapes, sparsity
from handful.scenario import values
from handful.symbolic.formula import fill_constants

from ... import measured
from .algebra import Findings, free_of, same, slope, symbol

# Latency and cost ---------------------------------------------------------------------------------


def a_hundred_times_the_price_buys_speed() -> Findings:
    """speed for a hundred times the price, against twice the speed for six times; latency of layers
    counted
    """

    def speed(price: float, at: dict, batch: int, devices: int) -> float:
        # The larger of two batches costs less a token, so the smallest that can be afforded is
        # found by halving.
        usual = {**at, "batch": batch}
        alone, shared = 1, batch
        while alone < shared:
            some = (alone + shared) // 2
            dear = latency.cost_per_token_with_latency(
                at, batch=some, devices=devices
            ) > price * latency.cost_per_token_with_latency(usual)
            alone, shared = (some + 1, shared) if dear else (alone, some)
        fast = latency.step_time_with_latency(at, batch=shared, devices=devices)
        return latency.step_time_with_latency(usual) / fast

    node = values("H100 SXM", "Llama 3.1 70B", "bf16", 4096)
    cases: dict[str, tuple[dict, int, int]] = {
        "eight H100, Llama 3.1 70B, from 189 sequences": (node, 189, 8),
        "a rack of GB200, DeepSeek-V3, from 16,384": (values(), 16384, 72),
        "Llama 3.1 70B on a whole rack of GB200, from 189 on eight of its chips": (
            values("GB200 NVL72", "Llama 3.1 70B", "bf16", 4096, devices=8),
            189,
            72,
        ),
    }
    return {
        words: speed(100, at, batch, devices) >= 2 * speed(6, at, batch, int(at["devices"]))
        for words, (at, batch, devices) in cases.items()
    }


def no_step_beats_the_larger_time() -> Findings:
    """the other convention of overlap, and every measured step, against the larger of the two
    times
    """
    sure = all(
        latency.step_time_kv_apart(at, batch=batch)
        >= latency.step_time(at, batch=batch) * (1 - 1e-12)
        for at in (
            values(model=model, context=context)
            for model in ("DeepSeek-V3", "Llama 3.1 70B")
            for context in (512, 8192, 100_000)
        )
        for batch in (1, 64, 4096)
    )
    return {
        "reading caches apart is never faster": sure,
        "no measured step is faster": all(row.ratio >= 1 for row in measured.ratios()),
    }


def simple_model_predicts_steps() -> Findings:
    """measured steps against the floor: most within a factor of two, and the longer of two runs"""

    def within_two(low: int, high: int) -> bool:
        near = [row.ratio <= 2 for row in measured.ratios() if low <= row.devices <= high]
        return sum(near) > len(near) / 2

    rows = measured.ratios()
    right = [
        (a.measured > b.measured) == (a.predicted > b.predicted)
        for i, a in enumerate(rows)
        for b in rows[:i]
    ]
    return {
        "the longer of two runs, right in four pairs of five": sum(right) > 0.8 * len(right),
        "seconds, one or two chips": within_two(1, 2),
        "seconds, four or eight chips": within_two(4, 8),
    }


def compute_time_is_batch_times_active() -> Findings:
    """the formula against B N/F, with F in multiplies a second"""
    said = (
        symbol("batch")
        * symbol("new_tokens_per_sequence")
        * symbol("active_parameters")
        / (symbol("devices") * symbol("peak_flops"))
    )
    flops_a_weight = sympy.simplify(fill_constants(latency.compute_time.expanded / said))
    return {"B N/F, a multiply for each weight and token": flops_a_weight == 2}


def memory_time_is_weights_and_caches() -> Findings:
    """time to read all weights and all caches against (N + B L b) / BW"""
    ours = latency.full_weight_time.expanded + latency.kv_time.expanded.subs(
        symbol("window_cache_memory"), 0
    )
    read = symbol("total_parameters") * symbol("bytes_per_parameter") + symbol("batch") * symbol(
        "context"
    ) * symbol("kv_bytes_per_token")
    bandwidth = symbol("devices") * symbol("memory_bandwidth")
    return {"N counted in bytes": sympy.simplify(fill_constants(ours - read / bandwidth)) == 0}


def _share_read(model: str, batch: float) -> float:
    at = values(model=model)
    return latency.weight_time(at, batch=batch) / latency.full_weight_time(at)


def all_weights_are_read() -> Findings:
    """share of the weights that a step reads, within a twentieth of all of them"""
    return {
        "a dense model, batch 1": _share_read("Llama 3.1 70B", 1) > 0.95,
        "DeepSeek-V3, batch 1": _share_read("DeepSeek-V3", 1) > 0.95,
        "DeepSeek-V3, batch 128": _share_read("DeepSeek-V3", 128) > 0.95,
    }


def the_floor_is_one_reading() -> Findings:
    """the step as the batch shrinks to nothing, and a batch of one, against one reading of all
    weights
    """
    lecture = latency.step_time_lecture.expanded.subs(symbol("batch"), 0)
    dense, sparse = (
        latency.step_time(at, batch=1) >= latency.latency_floor(at) * (1 - 1e-12)
        for at in (
            values(model="Llama 3.1 70B", context=512),
            values(model="DeepSeek-V3", context=512),
        )
    )
    return {
        "the lecture's step, as the batch shrinks": sympy.simplify(
            lecture - latency.latency_floor.expanded
        )
        == 0,
        "a dense model, batch 1": dense,
        "DeepSeek-V3, batch 1": sparse,
    }


def cost_is_two_constants_and_a_hyperbola() -> Findings:
    """the parts of a token's cost by the batch"""
    dense = values(model="Llama 3.1 70B")
    shares = [latency.weight_cost(dense, batch=batch) * batch for batch in (1, 30, 1000)]
    return {
        "arithmetic does not depend on the batch": free_of(latency.compute_cost, "batch"),
        "caches do not": free_of(latency.kv_cost, "batch"),
        "weights fall as 1/batch": max(shares) < min(shares) * (1 + 1e-9),
    }


def cost_ends_at_the_arithmetic() -> Findings:
    """the step of a batch without end against its arithmetic, attention's included, within a
    hundredth
    """

    def arithmetic(hardware: str, model: str, precision: str, context: int) -> bool:
        at = {**values(hardware, model, precision, context), "batch": 1e12}
        return (
            abs(
                latency.step_time_with_attention(at)
                / (latency.compute_time(at) + latency.attention_time(at))
                - 1
            )
            < 0.01
        )

    pairs = (("GB200 NVL72", "DeepSeek-V3", "fp8"), ("H100 SXM", "Llama 3.1 70B", "bf16"))
    return {
        f"{model}, {context:,} tokens": arithmetic(hardware, model, precision, context)
        for hardware, model, precision in pairs
        for context in (1024, 8192, 32_768)
    }


def patience_saves_little() -> Findings:
    """what endless patience leaves of the cost, above four fifths of it"""
    dense, sparse = values("H100 SXM", "Llama 3.1 70B", "fp8", 8192), values()
    left = {
        f"{name}, batch {batch:,}": latency.slow_mode_price(at, batch=batch)
        for name, at, batch in (
            ("Llama 3.1 70B on H100", dense, 256),
            ("DeepSeek-V3 on GB200", sparse, 2000),
            ("DeepSeek-V3 on GB200", sparse, 16000),
        )
    }
    return {f"{words}: {share:.2f} is left": share > 0.8 for words, share in left.items()}


# The balance batch --------------------------------------------------------------------------------


def _matched(context: float) -> dict:
    """Return a dense model whose caches take as long to read as its arithmetic takes.

    That holds at this context, whatever the batch.
    """
    at: dict = values(model="Llama 3.1 70B")
    bytes_a_token = (
        latency.compute_time(at, batch=1) * at["devices"] * at["memory_bandwidth"] / context
    )
    return {**at, "context": context, "kv_bytes_per_token": bytes_a_token, "window_cache_memory": 0}


_BATCHES = {
    "at the balance batch of the weights": 1,
    "at five times it": 5,
    "at twenty times it": 20,
}


def slopes_that_match_balance() -> Findings:
    """memory time over compute time where caches and arithmetic grow alike with the batch, within a
    tenth of 1
    """
    at = _matched(100_000)
    over = {
        words: latency.memory_time(at, batch=times * balance.balance_batch(at))
        / latency.compute_time(at, batch=times * balance.balance_batch(at))
        for words, times in _BATCHES.items()
    }
    return {f"{words}: {ratio:.2f}": abs(ratio - 1) <= 0.1 for words, ratio in over.items()}


def twice_the_context_halves_the_use() -> Findings:
    """use of the arithmetic at twice the context over that where slopes match, against a half,
    within a tenth
    """
    at, found = _matched(100_000), {}
    for words, times in _BATCHES.items():
        batch = times * balance.balance_batch(at)
        left = latency.step_time(at, batch=batch) / latency.step_time(
            at, batch=batch, context=200_000
        )
        found[f"{words}: {left:.2f}"] = abs(left / 0.5 - 1) <= 0.1
    return found


def dense_attention_is_linear() -> Findings:
    """bytes of cache read by a step as the context doubles from 100,000 tokens, and those of sparse
    attention
    """

    def grown(model: str) -> float:
        terms = memory_wall.kv_read_terms(model)
        return memory_wall.kv_read_compressed(
            terms, context=200_000
        ) / memory_wall.kv_read_compressed(terms, context=100_000)

    dense = [
        name
        for name in shapes.names()
        if not shapes.shape(name).compressed_layers and not shapes.shape(name).window_tokens
    ]
    read = {
        name: memory_wall.kv_read_compressed(memory_wall.kv_read_terms(name), context=128_000)
        for name in ("DeepSeek-V3", "DeepSeek-V3.2", "DeepSeek-V4-Pro")
    }
    return {
        f"dense attention, {len(dense)} models: twice as much": all(
            abs(grown(name) - 2) < 1e-9 for name in dense
        ),
        "DeepSeek-V3.2 at 128,000 tokens: less than a fifth of DeepSeek-V3": read["DeepSeek-V3.2"]
        < read["DeepSeek-V3"] / 5,
        "DeepSeek-V4-Pro: less than a fifth": read["DeepSeek-V4-Pro"] < read["DeepSeek-V3"] / 5,
    }


def sparse_attention_reads_a_square_root() -> Findings:
    """exponent of the context in what a step reads, from ten thousand tokens to a million, within
    0.1 of a half
    """

    def read(model: str):
        terms = memory_wall.kv_read_terms(model)
        return lambda context: memory_wall.kv_read_compressed(terms, context=context)

    stride, whole = (
        facts.get("scaling_laws", name)["value"] for name in ("nsa_stride", "nsa_whole_tokens")
    )
    methods = {
        "NSA: a token for every 16, and 1,536 whole": lambda context: context / stride + whole,
        "DeepSeek-V3.2: top 2,048 and a key of every token": read("DeepSeek-V3.2"),
        "DeepSeek-V4-Pro: compressed, then chosen": read("DeepSeek-V4-Pro"),
        "DeepSeek-V4-Flash: the same": read("DeepSeek-V4-Flash"),
    }
    found = {}
    for words, method in methods.items():
        slopes = [
            sympy.log(method(10 * context) / method(context), 10).evalf() for context in (1e4, 1e5)
        ]
        found[words] = all(abs(slope - 0.5) < 0.1 for slope in slopes)
    return found


def balance_is_time_against_time() -> Findings:
    """reading all weights set equal to the arithmetic, solved for the batch"""
    equal = sympy.solve(
        latency.full_weight_time.expanded - latency.compute_time.expanded, symbol("batch")
    )
    gives = (
        symbol("batch")
        * symbol("new_tokens_per_sequence")
        * symbol("active_parameters")
        / symbol("total_parameters")
    )
    return {
        "F/BW = B × active/total, in multiplies and bytes of a weight": len(equal) == 1
        and same(balance.weight_uses_at_balance, gives.subs(symbol("batch"), equal[0]))
    }


def batch_exceeds_balance_times_sparsity() -> Findings:
    """the balance batch against balance times total over active parameters, which time is longer on
    either side, and the same with caches
    """
    at = values()
    sparse = symbol("total_parameters") / symbol("active_parameters")
    rule = balance.weight_uses_at_balance.expanded * sparse / symbol("new_tokens_per_sequence")
    batch, reading = balance.balance_batch(at), latency.full_weight_time(at)
    below, above = (latency.compute_time(at, batch=share * batch) for share in (0.9, 1.1))
    return {
        "the balance batch is balance × sparsity": same(balance.balance_batch, rule),
        "a tenth below it reading takes longer, a tenth above it computing": below
        < reading
        < above,
        "with caches of 4,096 tokens and attention counted, DeepSeek-V3 balances there too": abs(
            balance.balance_batch_with_attention(
                values(hardware="GB200 NVL72", model="DeepSeek-V3", context=4096)
            )
            / balance.balance_batch(values(hardware="GB200 NVL72", model="DeepSeek-V3"))
            - 1
        )
        < 0.1,
    }


def a_batch_counts_sequences() -> Findings:
    """one pass of a batch of 2,000: tokens made, and caches read"""
    at = values()
    return {
        "it makes 2,000 tokens, one for each sequence": abs(
            latency.throughput(at, batch=2000) * latency.step_time(at, batch=2000) - 2000
        )
        < 1e-6,
        "and reads 2,000 caches": abs(
            latency.kv_time(at, batch=2000) / latency.kv_time(at, batch=1) - 2000
        )
        < 1e-6,
    }


def two_intervals_at_worst() -> Findings:
    """simulated: the longest of twenty thousand waits and rides, against two intervals"""
    from ...simulate.train import delays, poisson_arrivals

    arrivals = poisson_arrivals(rate=0.95 * 40 / 0.02, count=20_000)
    return {
        words: max(delays(arrivals, 0.02, seats)) <= 0.04 * (1 + 1e-9)
        for words, seats in (("a seat for everyone", None), ("forty seats, 95 % of them taken", 40))
    }


def caches_raise_the_balance() -> Findings:
    """balance batch with and without caches, at contexts short enough for a batch to balance"""
    found = {}
    for model in ("DeepSeek-V3", "Llama 3.1 70B"):
        at = values(model=model)
        end = balance.balance_context(at)
        found[f"{model}, attention's arithmetic left out"] = all(
            balance.balance_batch_with_kv(at, context=share * end) > balance.balance_batch(at)
            for share in (0.01, 0.1, 0.5, 0.9)
        )
    for chip in ("GB200 NVL72", "H200 SXM"):
        at = values(hardware=chip, model="DeepSeek-V3")
        found[f"DeepSeek-V3 on {chip}, attention's arithmetic counted"] = all(
            balance.balance_batch_with_attention(at, context=context) > balance.balance_batch(at)
            for context in (500, 4096, 10_000)
        )
    return found


def traffic_of_memory_is_reads() -> Findings:
    """bytes written a step (one token's cache for each sequence) over bytes read, below one in a
    hundred
    """

    def written(model: str, context: float, batch: int) -> float:
        at: dict = values(model=model, context=context)
        read = latency.memory_time(at, batch=batch) * at["memory_bandwidth"] * at["devices"]
        return batch * at["kv_bytes_per_token"] / read

    return {
        f"decode, {model}, 1 to 10,000 sequences of 512 to 100,000 tokens": all(
            written(model, context, batch) < 0.01
            for context in (512, 8192, 1e5)
            for batch in (1, 100, 10_000)
        )
        for model in ("DeepSeek-V3", "Llama 3.1 70B")
    }


def optimum_needs_the_sparsity_only() -> Findings:
    """the balance batch, differentiated at a constant share of active parameters, and what else it
    depends on
    """
    scale = sympy.Symbol("scale", positive=True)
    grown = balance.balance_batch.expanded.subs(
        {symbol(name): scale * symbol(name) for name in ("total_parameters", "active_parameters")},
        simultaneous=True,
    )
    return {
        "the scale of the model cancels": sympy.simplify(sympy.diff(grown, scale)) == 0,
        "the number of chips cancels": free_of(balance.balance_batch, "devices"),
        "the kind of chip cancels": free_of(
            balance.balance_batch, "peak_flops", "memory_bandwidth"
        ),
        "with caches, the context cancels": free_of(balance.balance_batch_with_kv, "context"),
    }


def quality_rises_with_experts() -> Findings:
    """validation loss by the number of experts at 370 million active parameters, up to the study's
    512
    """

    def falls(losses) -> bool:
        return all(later < earlier for earlier, later in itertools.pairwise(losses))

    def loss(router: str) -> list[float]:
        law = sparsity.coefficients(router)
        return [
            sparsity.routed_loss(law, dense_parameters=370e6, experts=2.0**n) for n in range(10)
        ]

    # The losses of no experts and of 512 stand in the words of their rows.
    few, most = (
        float(re.findall(pattern, facts.get("scaling_laws", name)["fact"])[0])
        for name, pattern in (
            ("clark_1p3_loss", r"dense 370M: ([\d.]+)"),
            ("clark_512", r"loss ([\d.]+)"),
        )
    )
    published = [few, facts.get("scaling_laws", "clark_370_64_loss")["value"], most]
    return {
        "S-BASE, as published: none, 64 and 512 experts": falls(published),
        **{f"{router}, refitted": falls(loss(router)) for router in ("S-BASE", "RL-R", "HASH")},
    }


def sparsity_costs_batch_not_money() -> Findings:
    """more total parameters at the same active ones: the floor of the cost, and the batch that
    reaches it
    """
    return {
        "the cost of a large batch does not rise": free_of(latency.cost_floor, "total_parameters"),
        "the batch that balances rises": slope(
            balance.balance_batch, "total_parameters"
        ).is_positive
        is True,
    }
