"""Claims about serving on one rack and on several: segments 1 to 4."""
from __future__ import annotations

import sympy

from ... import balance, experts, facts, latency, measured, memory_wall, pipelining
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


# Experts on racks -------------------------------------------------------------------------------------------

def _deployments() -> Findings:
    """Published decoding deployments of DeepSeek-V3: whether the chips of one instance fit a scale-up domain."""
    domain = {"H800": 8, "H100": 8, "H200": 8, "GB200 NVL72": 72}
    names = {"deepseek_decode": "DeepSeek on H800", "sglang_h100_decode_2k": "SGLang on H100",
             "vllm_h200": "vLLM on H200", "sglang_gb200_p2_fp8": "SGLang on GB200 NVL72"}
    found = {}
    for name, words in names.items():
        row = facts.get("measured_serving", name)
        limit = next(size for key, size in domain.items() if row["system"].startswith(key))
        found[f"{words}, {row['chips']} chips"] = row["chips"] <= limit
    return found


def one_domain_holds_an_expert_layer() -> Findings:
    """whether published deployments keep an expert layer within one scale-up domain"""
    return _deployments()


def inference_stays_in_one_domain() -> Findings:
    """whether published deployments stay within one scale-up domain"""
    return _deployments()


def experts_grew_and_shrank() -> Findings:
    """routed experts of open models in the order of their publication"""
    names = ("Mixtral 8x7B", "DeepSeek-V3", "Kimi K2")
    counts = [facts.get("models", name)["routed_experts"] for name in names]
    widths = [facts.get("shapes", name)["expert_dim"] / facts.get("models", name)["d_model"] for name in names[:2]]
    return {"more: Mixtral, DeepSeek-V3, Kimi K2": counts == sorted(set(counts)),
            "finer: DeepSeek-V3 against Mixtral": widths[1] < widths[0]}


def google_had_large_domains() -> Findings:
    """scale-up domains by year of announcement"""
    tpu, gpu = (facts.get("accelerators", name) for name in ("TPU v4", "GB200 NVL72"))
    return {"TPU v4 before GB200 NVL72": tpu["year_announced"] < gpu["year_announced"],
            "and larger": tpu["scaleup_domain_chips"] > gpu["scaleup_domain_chips"]}


def active_by_compute_total_by_domain() -> Findings:
    """what the time of arithmetic and the largest model of a domain depend on, and a deployment beyond a domain"""
    need = facts.get("models", "DeepSeek-V3")["total_params_reported"]
    hopper = facts.get("accelerators", "H100 SXM")
    return {"arithmetic asks for active parameters only": free_of(latency.compute_time, "total_parameters"),
            "memory of a domain asks for total parameters only": free_of(experts.largest_model, "active_parameters"),
            "DeepSeek-V3 in fp8 is served where one domain of Hopper holds it":
                need <= hopper["hbm_capacity_bytes"] * hopper["scaleup_domain_chips"]}


# Pipelining -------------------------------------------------------------------------------------------------

def stage_rule() -> Findings:
    """the formula for time on the scale-up fabric over time between stages against 2 k layers / ratio"""
    said = 2 * symbol("active_experts") * symbol("layers_per_stage") / symbol("bandwidth_ratio")
    return {"(1/ratio) × k × layers × 2": same(pipelining.traffic_time_ratio, said)}


def a_rack_a_layer() -> Findings:
    """that ratio for eight active experts and one layer a stage, at least 1"""
    def ratio(chip: str, port: str) -> float:
        return (facts.get("accelerators", chip)["scaleup_bw_per_chip_one_direction_bytes_per_s"]
                / facts.get("interconnects", port)["one_direction_bytes_per_s"])

    cases = {"bandwidth ratio 8, as spoken": 8, "H100 with 400 Gb/s ports": ratio("H100 SXM", "InfiniBand NDR"),
             "GB200 with 800 Gb/s ports": ratio("GB200 NVL72", "InfiniBand XDR"),
             "GB200 with 400 Gb/s ports": ratio("GB200 NVL72", "InfiniBand NDR")}
    return {words: pipelining.traffic_time_ratio(active_experts=8, layers_per_stage=1, bandwidth_ratio=value) >= 1
            for words, value in cases.items()}


def stages_save_memory_only() -> Findings:
    """a token's latency without hops, and memory on a chip, by the number of stages"""
    latency_free = pipelining.token_latency.expanded.subs(symbol("hop_time"), 0)
    memory = pipelining.device_memory_of_batch.expanded
    return {"the time stays": not latency_free.has(symbol("pipeline_stages")),
            "the memory on a chip falls as 1/stages":
                not sympy.simplify(memory * symbol("pipeline_stages")).has(symbol("pipeline_stages"))}


def decoding_has_no_bubble() -> Findings:
    """simulated: micro-batches going round four stages, share of the time in which a stage works"""
    from ...simulate.pipeline import decode

    def full(micro_batches: int, hop: float) -> bool:
        return decode(4, micro_batches, stage_time=1.0, hop=hop)["utilisation"] > 0.999

    return {"four micro-batches, hops that take no time": full(4, 0.0),
            "five, hops of a fifth of a stage": full(5, 0.2)}


def training_has_a_bubble() -> Findings:
    """simulated schedules of four stages and eight micro-batches, with a hard stop between steps"""
    from ...simulate.pipeline import one_forward_one_backward, run, zero_bubble

    plain, split = (run(schedule(4, 8), 1.0, 2.0, 1.0).bubble for schedule in (one_forward_one_backward, zero_bubble))
    return {"1F1B waits": plain > 0, "splitting the backward pass shortens the wait": split < plain}


def hops_are_all_that_stages_add() -> Findings:
    """latency of four stages over that of one, at most a hundredth more, for a step of 20 ms"""
    def near(hop: float) -> bool:
        return pipelining.token_latency(step_time=0.02, pipeline_stages=4, hop_time=hop) < 0.02 * 1.01

    return {"hops of 10 µs": near(1e-5)}


def less_memory_with_stages() -> Findings:
    """memory on a chip with eight stages against one: an eighth, within a hundredth"""
    at = {**values(), "stage_devices": 72, "micro_batch": 2000, "batch": 2000}
    weights = {**at, "context": 0}
    fall = [pipelining.device_memory(known, pipeline_stages=8) / pipelining.device_memory(known, pipeline_stages=1)
            for known in (weights, at)]
    return {"weights": abs(8 * fall[0] - 1) < 0.01, "weights and the caches of full stages": abs(8 * fall[1] - 1) < 0.01}


# Why pipelining is not wise ---------------------------------------------------------------------------------

def memory_on_a_chip() -> Findings:
    """the formula against (N + B L b) / (E P), N in bytes"""
    said = ((symbol("total_parameters") * symbol("bytes_per_parameter")
             + symbol("batch") * symbol("context") * symbol("kv_bytes_per_token"))
            / (symbol("stage_devices") * symbol("pipeline_stages")))
    return {"(N + B L b) / (E P)": same(pipelining.device_memory_of_batch, said)}


def as_many_micro_batches_as_stages() -> Findings:
    """memory of a batch of P micro-batches, and the fewest micro-batches that keep P stages busy"""
    batch = symbol("pipeline_stages") * symbol("micro_batch")
    whole = pipelining.device_memory_of_batch.expanded.subs(symbol("batch"), batch)
    busy = [pipelining.stage_utilisation(pipeline_stages=4, micro_batches=m, stage_time=0.005, hop_time=0) for m in (3, 4)]
    return {"B = P × micro-batch": sympy.simplify(whole - pipelining.device_memory.expanded) == 0,
            "four stages want four": busy[0] < 1 and busy[1] == 1}


def stages_cancel_in_caches() -> Findings:
    """the caches' part of memory on a chip, differentiated by the number of stages"""
    caches = pipelining.device_memory.expanded.subs(symbol("total_parameters"), 0)
    return {"caches do not depend on the stages": not sympy.simplify(caches).has(symbol("pipeline_stages"))}


def two_stages_and_caches_lead() -> Findings:
    """caches over weights on a chip: two stages, 2,000 sequences each, DeepSeek-V3 in fp8, racks of 64"""
    found = {}
    for context in (2048, 8192, 100_000):
        at = {**values(context=context), "stage_devices": 64, "pipeline_stages": 2, "micro_batch": 2000}
        weights = pipelining.device_memory(at, context=0)
        found[f"{context:,} tokens of context"] = pipelining.device_memory(at) > 2 * weights
    return found


def reading_time_falls_with_the_domain() -> Findings:
    """time to read all weights, by the number of chips that share them and the bandwidth of each"""
    free = sympy.simplify(latency.full_weight_time.expanded * symbol("devices") * symbol("memory_bandwidth"))
    return {"inverse to chips × bandwidth": not free.has(symbol("devices"), symbol("memory_bandwidth"))}


def domain_gives_bandwidth() -> Findings:
    """what twice the chips, and what twice the stages, do to the time and to the memory"""
    at = {**values(), "stage_devices": 72, "pipeline_stages": 1, "batch": 2000}
    wider = latency.latency_floor(at, devices=144) / latency.latency_floor(at, devices=72)
    deeper = pipelining.device_memory_of_batch(at, pipeline_stages=2) / pipelining.device_memory_of_batch(at)
    return {"twice the domain halves the time of a reading": abs(wider - 0.5) < 1e-9,
            "twice the stages give as much memory without it": abs(deeper - 0.5) < 1e-9}
