"""Claims about what training, tokens and memory cost, and about ciphers: segments 5 to 7."""
from __future__ import annotations

import sympy

from ... import (chinchilla, ciphers, facts, latency, lifetime, memory_wall, overtraining, passes, prices, reversible,
                 reversible_networks, tiers)
from ...formula import fill_constants
from ...scenario import values
from .algebra import Findings, free_of, same, symbol

# Over-training ----------------------------------------------------------------------------------------------

def least_sum_has_equal_terms() -> Findings:
    """two costs at their least sum, and a model's bills for training and decoding, by two fits of the Chinchilla law"""
    x = sympy.Symbol("x", real=True)
    least = sympy.solve(sympy.diff(sympy.exp(x) + sympy.exp(-x), x), x)
    found = {"x + 1/x: equal": overtraining.cost_ratio(rising_exponent=1, falling_exponent=1) == 1,
             "e^x + e^-x: equal": least == [0]}
    # The lecture's model, taken to be the cheapest for its life: 100 billion active, 200 trillion tokens.
    for fit, year in (("hoffmann", "the fit of 2022"), ("besiroglu", "the refit of 2024")):
        best = lifetime.bill_ratio_at_optimum(chinchilla.law(fit), active_parameters=100e9, pretraining_tokens=200e12)
        found[f"{year}: the cheapest life has equal bills, within a tenth"] = abs(best - 1) < 0.1
        found[f"{year}: equal bills cost at most a tenth more"] = lifetime.split_excess(1, best, fit=fit) < 0.1
    return found


def three_bills() -> Findings:
    """the three formulas against 6 N D, (2 to 6) N D / efficiency and 2 N D / efficiency"""
    n, eff = symbol("active_parameters"), symbol("decode_efficiency")
    rl = sympy.simplify(fill_constants(overtraining.rl_flops.expanded) / (n * symbol("rl_tokens")) * eff)
    return {"pre-training": same(overtraining.training_flops, 6 * n * symbol("pretraining_tokens")),
            "reinforcement learning": [rl.subs(symbol("rl_passes"), passes) for passes in (1, 3)] == [2, 6],
            "inference": same(overtraining.inference_flops, 2 * n * symbol("inference_tokens") / eff)}


def fewer_tokens_of_learning() -> Findings:
    """pre-training tokens for each of reinforcement learning at equal bills, decoding at 30 percent"""
    return {f"{2 * passes:g} FLOP a weight and token":
            overtraining.pretraining_per_rl_token(rl_passes=passes, decode_efficiency=0.3) > 1 for passes in (1, 2, 3)}


# Prices and tiers -------------------------------------------------------------------------------------------

def arithmetic_is_flat_in_the_context() -> Findings:
    """arithmetic a token at 200,000 tokens over that of the weights, and what reading depends on"""
    def flat(model: str) -> bool:
        at = values(model=model, context=200_000)
        return latency.attention_time(at, batch=1) / latency.compute_time(at, batch=1) < 0.1

    reading = sympy.diff(latency.kv_time.expanded, symbol("context"), 2)
    return {"reading is a constant and a line": reading == 0,
            "arithmetic without attention is flat": free_of(latency.compute_time, "context"),
            "with attention: Llama 3.1 70B": flat("Llama 3.1 70B"), "with attention: DeepSeek-V3": flat("DeepSeek-V3")}


def two_prices_cover_the_cost() -> Findings:
    """cost over price where the cost is flat to 200,000 tokens, then linear, and the price rises once by half"""
    return {f"{context:,} tokens": prices.cost_over_price(context=context, price_threshold=200_000, surcharge=1.5) <= 1.0001
            for context in (250_000, 300_000, 500_000, 1_000_000)}


def selection_divides_the_reading() -> Findings:
    """reading at 128,000 tokens over that of dense attention, against the share of tokens that are chosen"""
    terms = {**memory_wall.kv_read_terms("DeepSeek-V3.2"), "context": 128_000}
    whole = terms["selected_bytes_per_token"] * terms["context"]
    share = terms["selected_tokens"] / terms["context"]
    chosen = memory_wall.kv_read_compressed({**terms, "indexer_bytes_per_token": 0}) / whole
    indexed = memory_wall.kv_read_compressed(terms) / whole
    return {"the chosen tokens alone": abs(chosen / share - 1) < 0.01,
            "with the keys that they are chosen by": abs(indexed / share - 1) < 0.1}


def a_pass_shares_the_reading() -> Findings:
    """time a token of a pass of p tokens: the part of the weights and caches, and the part of the arithmetic"""
    at = values("H100 SXM", "Llama 3.1 70B", "fp8", 8192)
    one, ten, many, more = (passes.pass_token_time(at, batch=1, pass_length=p) for p in (1, 10, 1e5, 1e6))
    return {"short passes: the time falls as 1/p": abs(one / ten - 10) < 1e-6,
            "long passes: it is flat": abs(many / more - 1) < 1e-6}


def three_ways_to_have_a_cache() -> Findings:
    """the three formulas: which of them depend on the time held, and on what else"""
    return {"recomputing: arithmetic × rent, whatever the time": free_of(tiers.rematerialise_cost, "hold_time"),
            "keeping: bytes/capacity × price × time":
                same(tiers.hold_cost, symbol("kv_bytes_per_token") / symbol("tier_capacity") * symbol("tier_price") * symbol("hold_time")),
            "fetching: bytes/bandwidth × price":
                same(tiers.retrieve_cost, symbol("kv_bytes_per_token") / symbol("tier_bandwidth") * symbol("waiting_price"))}


def times_suggest_devices() -> Findings:
    """how long a cache is kept against the drain time of devices, within a factor of two"""
    def near(seconds: float, tier: str) -> bool:
        row = facts.get("memory_tiers", tier)
        drain = tiers.drained_hold_time(tier_capacity=row["capacity_bytes"],
                                        tier_bandwidth=row["read_bandwidth_bytes_per_s"])
        return 0.5 <= drain / seconds <= 2

    disk = next(row.name for row in facts.load("memory_tiers") if row["tier"] == "Nearline HDD" and row.verified)
    cluster = next(row.name for row in facts.load("memory_tiers") if row["tier"] == "NVMe flash cluster")
    small = next(row.name for row in facts.load("memory_tiers") if row.name.startswith("Micron 9650 Pro 7.68"))
    return {"five minutes: a small fast flash drive": near(300, small), "one hour: a disk": near(3600, disk),
            "one hour: a measured flash cluster": near(3600, cluster)}


def fetching_is_a_share_of_holding() -> Findings:
    """the time to fetch, in a tier that is drained in the time held, against that time × the share of capacity"""
    drain = tiers.drained_hold_time.expanded
    ruled = tiers.retrieve_time_rule.expanded.subs(symbol("hold_time"), drain)
    return {"fetch time = hold time × share": sympy.simplify(ruled - tiers.retrieve_time.expanded) == 0}


# Ciphers and networks ---------------------------------------------------------------------------------------

def every_input_reaches_every_output() -> Findings:
    """simulated: which outputs a change of one input reaches in the end"""
    import numpy as np

    flips = ciphers.avalanche(rounds=12, samples=300)
    net = reversible_networks.network("transformer", depth=2, width=8, seed=1)
    x1, x2 = np.random.default_rng(0).standard_normal((2, 4, 8))
    nudged = x1.copy()
    nudged[0, 0] += 1e-3
    moved = [np.abs(a - b) for a, b in zip(reversible_networks.forward(net, x1, x2),
                                           reversible_networks.forward(net, nudged, x2))]
    return {"a cipher: every bit": bool((flips[-1] > 0.3).all()),
            "a transformer: every later token, every channel": all(bool((m > 0).all()) for m in moved)}


def differences_are_derivatives() -> Findings:
    """the difference of a linear and of a curved map over GF(2), at every point"""
    def swap(x: int) -> int:
        return (x >> 2 | x << 2) & 15

    def count(f) -> int:
        return len({ciphers.derivative(f, x, 1) for x in range(16)})

    return {"constant for a linear map": count(swap) == 1,
            "not for an S-box": count(ciphers.PRESENT_SBOX.__getitem__) > 1}


def ciphers_make_differences_large() -> Findings:
    """simulated: share of the bits that one flipped bit flips"""
    mean = ciphers.avalanche(rounds=12, samples=300).mean(axis=(1, 2))
    return {"half of all bits after twelve rounds": abs(float(mean[-1]) - 0.5) < 0.01,
            "from one bit": float(mean[0]) < 0.05}


def residuals_keep_changes_small() -> Findings:
    """simulated: a relative change of a millionth after 64 random layers"""
    def grown(kept: bool) -> float:
        return float(reversible_networks.nudge_growth(64, residual=kept, normalised=kept, samples=8)[-1])

    return {"with residuals and LayerNorm it stays below a thousandth": grown(True) < 1e-3,
            "without either it becomes as large as the activations": grown(False) > 1}


def feistel_runs_backwards() -> Findings:
    """encrypting and decrypting with random functions that have no inverse of their own"""
    import numpy as np

    rng = np.random.default_rng(3)
    x, y = (rng.integers(0, 1 << 16, 1000, dtype=np.uint16) for _ in range(2))
    functions = ciphers.random_functions(8)
    again = reversible.decrypt(*reversible.encrypt(x, y, functions), functions)
    net = reversible_networks.network("transformer", depth=4, width=16, seed=1)
    a, b = rng.standard_normal((2, 8, 16))
    return {"words of 16 bits, exactly": bool((again[0] == x).all() and (again[1] == y).all()),
            "floating point, up to rounding": reversible_networks.rebuild_error(net, a, b) < 1e-10}


def residual_from_two_back() -> Findings:
    """a Feistel round written out: the new half in terms of the two before it"""
    x, y = sympy.symbols("x y")
    f, g = sympy.Function("f"), sympy.Function("g")
    one_back, two_back = reversible.encrypt(x, y, [f], reversible.REALS)
    new, _ = reversible.encrypt(one_back, two_back, [g], reversible.REALS)
    return {"new = two back + g(one back)": sympy.expand(new - two_back - g(one_back)) == 0}


def stored_activations_grow() -> Findings:
    """activations kept for the backward pass, by depth and beside the weights of Llama 3.1 70B in bf16"""
    stored = reversible.activation_memory_stored.expanded
    shape = facts.get("models", "Llama 3.1 70B")
    layer = reversible.layer_activation_bytes(d_model=shape["d_model"], sequence_tokens=8192,
                                              attention_heads=shape["n_heads"], bytes_per_score=0)
    kept = reversible.activation_memory_stored(layers=shape["n_layers"], sequence_tokens=8192, micro_batch=16,
                                               layer_activation_bytes=layer)
    return {"linear in the layers": not sympy.simplify(stored / symbol("layers")).has(symbol("layers")),
            "more than the weights: 16 sequences of 8,192 tokens": kept > 2 * shape["total_params_reported"]}


def reversibility_frees_activations() -> Findings:
    """activations kept where each layer is rebuilt on the way back, and the arithmetic that this costs"""
    extra = fill_constants(reversible.training_flops_reversible.expanded / overtraining.training_flops.expanded)
    return {"the depth is gone": free_of(reversible.activation_memory_reversible, "layers"),
            "for a third more arithmetic": sympy.simplify(extra) == sympy.Rational(4, 3)}


def caches_pay_more_than_activations() -> Findings:
    """time to compute again over time to read back: a token's cache, beside its activations in training"""
    at = values("H100 SXM", "Llama 3.1 70B", "bf16", 8192)
    layer = reversible.layer_activation_bytes(d_model=8192, sequence_tokens=8192, attention_heads=64, bytes_per_score=0)
    cache = reversible.cache_advantage(at)
    activations = reversible.activation_advantage(at, layer_activation_bytes=layer, layers=80)
    return {"keeping a cache pays": cache > 1, "more than keeping activations": cache > activations}
