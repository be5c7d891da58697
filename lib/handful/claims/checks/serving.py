"""Claims about serving on one rack: segment 1."""
from __future__ import annotations

import sympy

from ... import balance, facts, latency, measured, memory_wall
from ...formula import fill_constants
from ...scenario import values
from .algebra import Findings, free_of, same, slope, symbol

# Latency and cost -------------------------------------------------------------------------------------------

def fast_mode_is_the_batch() -> Findings:
    """price of 2.5 times the speed from the batch alone, beside what several tokens a step save, both as measured"""
    speed = facts.get("measured_serving", "ix_price_of_speed")["value"]
    # Prices of a million tokens without and with several tokens a step, as the row's note gives the second.
    row = facts.get("measured_serving", "ix_mtp")
    with_it = float(row["notes"].split()[0])
    return {"DeepSeek-R1 on B200: the batch moves the price more": speed > row["value"] / with_it}


def no_step_beats_the_larger_time() -> Findings:
    """the other convention of overlap, and every measured step, against the larger of the two times"""
    sure = all(latency.step_time_kv_apart(at, batch=batch) >= latency.step_time(at, batch=batch) * (1 - 1e-12)
               for at in (values(model=model, context=context) for model in ("DeepSeek-V3", "Llama 3.1 70B")
                          for context in (512, 8192, 100_000)) for batch in (1, 64, 4096))
    return {"reading caches apart is never faster": sure,
            "no measured step is faster": all(row.ratio >= 1 for row in measured.ratios())}


def compute_time_is_batch_times_active() -> Findings:
    """the formula against B N/F, with F counted in either way"""
    bare = symbol("batch") * symbol("active_parameters") / (symbol("devices") * symbol("peak_flops"))
    ours = latency.compute_time.expanded.subs(symbol("tokens_per_step"), 1)
    flops_a_weight = sympy.simplify(fill_constants(ours / bare))
    return {"F in multiplies a second": flops_a_weight == 2,
            "F in FLOP a second, as data sheets have it": flops_a_weight == 1}


def memory_time_is_weights_and_caches() -> Findings:
    """time to read all weights and all caches against (N + B L b) / BW"""
    ours = latency.full_weight_time.expanded + latency.kv_time.expanded.subs(symbol("kv_window_bytes"), 0)
    read = (symbol("total_parameters") * symbol("bytes_per_parameter")
            + symbol("batch") * symbol("context") * symbol("kv_bytes_per_token"))
    bandwidth = symbol("devices") * symbol("memory_bandwidth")
    return {"N counted in bytes": sympy.simplify(fill_constants(ours - read / bandwidth)) == 0}


def _share_read(model: str, batch: float) -> float:
    at = values(model=model)
    return latency.weight_time(at, batch=batch) / latency.full_weight_time(at)


def all_weights_are_read() -> Findings:
    """share of the weights that a step reads, within a twentieth of all of them"""
    return {"a dense model, batch 1": _share_read("Llama 3.1 70B", 1) > 0.95,
            "DeepSeek-V3, batch 1": _share_read("DeepSeek-V3", 1) > 0.95,
            "DeepSeek-V3, batch 128": _share_read("DeepSeek-V3", 128) > 0.95}


def the_floor_is_one_reading() -> Findings:
    """the step as the batch shrinks to nothing, and a batch of one, against one reading of all weights"""
    lecture = latency.step_time_lecture.expanded.subs(symbol("batch"), 0)
    dense, sparse = (latency.step_time(at, batch=1) >= latency.latency_floor(at) * (1 - 1e-12)
                     for at in (values(model="Llama 3.1 70B", context=512), values(model="DeepSeek-V3", context=512)))
    return {"the lecture's step, as the batch shrinks":
                sympy.simplify(lecture - latency.latency_floor.expanded) == 0,
            "a dense model, batch 1": dense, "DeepSeek-V3, batch 1": sparse}


def cost_is_two_constants_and_a_hyperbola() -> Findings:
    """the parts of a token's cost by the batch, and their limit"""
    dense, at = values(model="Llama 3.1 70B"), {**values(context=8192), "batch": 1e12}
    shares = [latency.weight_cost(dense, batch=batch) * batch for batch in (1, 30, 1000)]
    return {"arithmetic does not depend on the batch": free_of(latency.compute_cost, "batch"),
            "caches do not": free_of(latency.kv_cost, "batch"), "weights fall as 1/batch": max(shares) < min(shares) * (1 + 1e-9),
            "the limit is the larger of the two constants":
                abs(latency.cost_per_token(at) / latency.cost_floor(at) - 1) < 1e-6}


def patience_saves_little() -> Findings:
    """what endless patience leaves of the price (little: above four fifths), and what price lists leave"""
    rows = [row for row in facts.load("prices") if row["batch_output_usd_per_mtok"] and row["output_usd_per_mtok"]]
    left = sorted(row["batch_output_usd_per_mtok"] / row["output_usd_per_mtok"] for row in rows)
    dense = values("H100 SXM", "Llama 3.1 70B", "fp8", 8192)
    return {"Llama 3.1 70B on H100, batch 256": latency.slow_mode_price(dense, batch=256) > 0.8,
            "DeepSeek-V3 on GB200, batch 2,000": latency.slow_mode_price(values(), batch=2000) > 0.8,
            "price lists, the median of batch processing": left[len(left) // 2] > 0.8}


# The balance batch ------------------------------------------------------------------------------------------

def sparse_attention_reads_a_square_root() -> Findings:
    """exponent of the context in what a step reads, from ten thousand tokens to a million, within 0.1 of a half"""
    terms = memory_wall.kv_read_terms("DeepSeek-V3.2")
    read = [memory_wall.kv_read_compressed(terms, context=context) for context in (1e4, 1e5, 1e6)]
    slopes = [sympy.log(b / a, 10).evalf() for a, b in zip(read, read[1:])]
    return {"DeepSeek-V3.2: top 2,048 and a key of every token": all(abs(slope - 0.5) < 0.1 for slope in slopes)}


def balance_is_time_against_time() -> Findings:
    """reading all weights set equal to the arithmetic, solved for the batch"""
    equal = sympy.solve(latency.full_weight_time.expanded - latency.compute_time.expanded, symbol("batch"))
    gives = symbol("batch") * symbol("tokens_per_step") * symbol("active_parameters") / symbol("total_parameters")
    return {"F/BW = B × active/total, in multiplies and bytes of a weight":
                len(equal) == 1 and same(balance.machine_balance, gives.subs(symbol("batch"), equal[0]))}


def caches_raise_the_balance() -> Findings:
    """balance batch with and without caches, up to the context where no batch balances"""
    found = {}
    for model in ("DeepSeek-V3", "Llama 3.1 70B"):
        at = values(model=model)
        end = balance.balance_context(at)
        found[model] = all(balance.balance_batch_with_kv(at, context=share * end) > balance.balance_batch(at)
                           for share in (0.01, 0.1, 0.5, 0.9))
    return found


def traffic_of_memory_is_reads() -> Findings:
    """bytes written a step (one token's cache for each sequence) over bytes read, below one in a hundred"""
    at = values(context=8192)
    read = latency.memory_time(at, batch=2400) * at["memory_bandwidth"] * at["devices"]
    return {"decode, DeepSeek-V3, 2,400 sequences": 2400 * at["kv_bytes_per_token"] / read < 0.01}


def optimum_needs_the_sparsity_only() -> Findings:
    """the balance batch, differentiated at a constant share of active parameters"""
    scale = sympy.Symbol("scale", positive=True)
    grown = balance.balance_batch.expanded.subs({symbol(name): scale * symbol(name) for name in
                                                 ("total_parameters", "active_parameters")}, simultaneous=True)
    return {"the scale of the model cancels": sympy.simplify(sympy.diff(grown, scale)) == 0,
            "the number of chips cancels": free_of(balance.balance_batch, "devices")}


def sparsity_costs_batch_not_money() -> Findings:
    """more total parameters at the same active ones: the floor of the cost, and the batch that reaches it"""
    return {"the cost of a large batch does not rise": free_of(latency.cost_floor, "total_parameters"),
            "the batch that balances rises": slope(balance.balance_batch, "total_parameters").is_positive is True}
