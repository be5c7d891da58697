"""Tests of claims about pipelining, and about why it is not wise: segments 3 and 4."""

# The docstring of a test is a phrase that readers see in the ledger, after "Tested:".
# ruff: noqa: D205, D400, D401, D403

from __future__ import annotations

import sympy

from handful import balance, facts, latency, multi_rack_pipelines, pipelining, racks
from handful.scenario import values

from .algebra import Findings, free_of, same, slope, symbol
from .published import services

_STEP = 0.02  # a decoding step as the lecture has it, in seconds
_GUESS = 2e-3  # a hop as it has it: two milliseconds of "a few"
_HOPS = {
    "hops of 2 ms, of the few that were guessed": _GUESS,
    "hops as measured over InfiniBand": facts.get("measured_pipelines", "ib_cross_leaf")["value"],
}


def _stages(name: str) -> float:
    return facts.get("measured_pipelines", f"{name}_stages")["value"]


# Pipelining ---------------------------------------------------------------------------------------


def stage_rule() -> Findings:
    """the formula for time on the scale-up fabric over time between stages, and the copies as a
    router sends them
    """
    from ...simulate.fabric import distinct_destinations

    said = 2 * symbol("active_experts") * symbol("layers_per_stage") / symbol("bandwidth_ratio")
    reached = distinct_destinations(experts=256, active_experts=8, destinations=64)
    return {
        "(1/ratio) × k × layers × 2": same(pipelining.traffic_time_ratio, said),
        "one copy to each GPU that a token reaches: the same within a twentieth": abs(
            reached / 8 - 1
        )
        < 0.05,
    }


def copies_go_to_activated_gpus() -> Findings:
    """simulated: GPUs that a token reaches, of the 64 over which 256 experts lie"""
    from ...simulate.fabric import simulate

    seen = simulate(64, experts=256, active_experts=8, devices=64, domain_devices=64)
    return {
        "no more than the 8 experts that it activates": seen.devices_reached <= 8,
        "far fewer than all 64": seen.devices_reached < 64 / 4,
    }


def a_rack_a_layer() -> Findings:
    """that ratio for eight active experts and one layer a stage, at least 1"""

    def ratio(chip: str, port: str) -> float:
        return (
            facts.get("accelerators", chip)["scaleup_bw_per_chip_one_direction_bytes_per_s"]
            / facts.get("interconnects", port)["one_direction_bytes_per_s"]
        )

    cases = {
        "bandwidth ratio 8, as spoken": 8,
        "H100 with 400 Gb/s ports": ratio("H100 SXM", "InfiniBand NDR"),
        "GB300 with 800 Gb/s ports": ratio("GB300 NVL72", "InfiniBand XDR"),
        "GB200 with 400 Gb/s ports": ratio("GB200 NVL72", "InfiniBand NDR"),
    }
    return {
        words: pipelining.traffic_time_ratio(
            active_experts=8, layers_per_stage=1, bandwidth_ratio=value
        )
        >= 1
        for words, value in cases.items()
    }


def several_racks_without_all_to_all() -> Findings:
    """what leaves a rack: a token's copies for each layer, and gradients behind the arithmetic that
    hides them
    """
    tokens, chips = (
        facts.get("measured_pipelines", f"llama3_{name}")["value"] for name in ("batch", "chips")
    )
    training = {
        **values("H100 SXM", "Llama 3.1 405B", "bf16"),
        "gradient_bytes": 2,
        "batch": tokens,
        "sequence_tokens": 1,
        "devices": chips,
        "pipeline_stages": 128,
    }
    of_experts = racks.copies_leaving_of_racks(values(), scale_up_domains=2)
    return {
        "stages of one layer: fewer copies than experts over two racks send": of_experts > 1,
        "Llama 3.1 405B, 128 chips to a copy: hidden": multi_rack_pipelines.gradient_ratio(training)
        < 1,
    }


def cuts_follow_the_model() -> Findings:
    """published layouts: whether they cut along experts and layers only"""
    notes = {
        name: facts.get("measured_pipelines", f"{name}_stages")["notes"]
        for name in ("v3", "llama3")
    }
    return {
        "DeepSeek-V3, serving": all("EP" in row["parallelism"] for _, row, _ in services()),
        "DeepSeek-V3, training": "expert" in notes["v3"] and "tensor" not in notes["v3"],
        "Llama 3.1 405B, training": "tensor" not in notes["llama3"],
    }


def widths_are_not_cut() -> Findings:
    """feed-forward layers over eight H100: whether adding up the parts takes longer than computing
    them
    """
    chip = facts.get("accelerators", "H100 SXM")

    def pays(width: int) -> bool:
        # For a token and each number of the model's width: three matrices' arithmetic, two bytes in
        # and two bytes out.
        work = 3 * 2 * width / 8 / chip["bf16_dense_flops"]
        return work >= (2 + 2) / chip["scaleup_bw_per_chip_one_direction_bytes_per_s"]

    widths = {
        "DeepSeek-V3, an expert": ("DeepSeek-V3", "expert_dim"),
        "Mixtral 8x7B, an expert": ("Mixtral 8x7B", "expert_dim"),
        "Llama 3.1 405B, a layer": ("Llama 3.1 405B", "ffn_dim"),
    }
    return {
        f"{words}, {facts.get('shapes', name)[column]:,} wide": not pays(
            facts.get("shapes", name)[column]
        )
        for words, (name, column) in widths.items()
    }


def without_stages() -> Findings:
    """whether published layouts do without pipeline stages"""
    return {
        "DeepSeek-V3, serving": not any("PP" in row["parallelism"] for _, row, _ in services()),
        "DeepSeek-V3, training": _stages("v3") == 1,
        "Llama 3.1 405B, training": _stages("llama3") == 1,
    }


def training_uses_stages() -> Findings:
    """stages of published training runs, above 1"""
    return {"DeepSeek-V3": _stages("v3") > 1, "Llama 3.1 405B": _stages("llama3") > 1}


def _in_stages() -> Findings:
    """Return for each published decoding layout whether it has stages."""
    over_nodes = facts.get("measured_pipelines", "vllm_405b_slow_network")["what"]
    return {
        **{words: "PP" in row["parallelism"] for words, row, _ in services()},
        "vLLM, Llama 3.1 405B over two nodes of eight": "stages" in over_nodes,
    }


def serving_uses_stages() -> Findings:
    """published decoding layouts: whether they have pipeline stages"""
    return _in_stages()


def serving_does_without_stages() -> Findings:
    """published decoding layouts: whether they have no pipeline stages"""
    return {words: not found for words, found in _in_stages().items()}


def stages_save_memory_only() -> Findings:
    """a token's latency without hops, and memory on a chip, by the number of stages"""
    latency_free = pipelining.token_latency.expanded.subs(symbol("hop_time"), 0)
    memory = pipelining.device_memory_of_batch.expanded
    return {
        "the time stays": not latency_free.has(symbol("pipeline_stages")),
        "the memory on a chip falls as 1/stages": not sympy.simplify(
            memory * symbol("pipeline_stages")
        ).has(symbol("pipeline_stages")),
    }


def training_gains_more() -> Findings:
    """what 16 stages of eight H100 do for Llama 3.1 405B, in training and in serving it"""

    def freed(bytes_of) -> float:
        return 1 - bytes_of(16) / bytes_of(1)

    at = values("H100 SXM", "Llama 3.1 405B", "fp8")
    serving = {**at, "micro_batch": balance.balance_batch(at)}
    row = facts.get("shapes", "Llama 3.1 405B")
    training = {
        **at,
        "training_bytes": 16,
        "stage_devices": 8,
        "micro_batch": 1,
        "micro_batches": 32,
        "sequence_tokens": 8192,
        "layer_activation_bytes": 34 * row["d_model"],
    }
    return {
        "a larger share of the memory is freed in training": freed(
            lambda stage: (
                multi_rack_pipelines.training_state(training, pipeline_stages=stage)
                + multi_rack_pipelines.activations_on_device(training, pipeline_stages=stage)
            )
        )
        > freed(
            lambda stage: multi_rack_pipelines.device_memory_of_stage(
                serving, pipeline_stages=stage
            )
        ),
        "and fewer gradients are exchanged, which serving has none of": slope(
            multi_rack_pipelines.critical_tokens_of_stages, "pipeline_stages"
        ).is_negative
        is True,
    }


def micro_batches_lose_sharing() -> Findings:
    """DeepSeek-V3, time for each sequence: four micro-batches against all sequences at once"""
    at = values()

    def each(sequences: float) -> float:
        return (
            max(latency.full_weight_time(at), latency.compute_time(at, batch=sequences)) / sequences
        )

    full = balance.balance_batch(at)
    return {
        "2,000 sequences, cut into four": each(500) > 1.01 * each(2000),
        "four times the balance batch, cut into four": each(full) > 1.01 * each(4 * full),
    }


def micro_batch_is_a_name() -> Findings:
    """what changes when four micro-batches of 2,000 go round instead of one"""
    at = {**values(), "stage_devices": 72, "pipeline_stages": 4}
    held = [pipelining.device_memory_of_batch(at, batch=count * 2000) for count in (1, 4)]
    return {
        "the time of a token does not": free_of(pipelining.token_latency, "micro_batches"),
        "the caches held at once do not": held[1] < 1.01 * held[0],
    }


def decoding_has_no_bubble() -> Findings:
    """simulated: micro-batches going round four stages, share of the time in which a stage works"""
    from ...simulate.pipeline import decode

    def full(micro_batches: int, hop: float) -> bool:
        return decode(4, micro_batches, stage_time=1.0, hop=hop)["utilisation"] > 0.999

    return {
        "four micro-batches, hops that take no time": full(4, 0.0),
        "five, hops of a fifth of a stage": full(5, 0.2),
    }


def _bubble(name: str) -> float:
    """Return the waiting in a step of four stages and eight micro-batches.

    A backward pass takes twice as long as a forward pass.
    """
    from ...simulate import pipeline

    return pipeline.run(pipeline.SCHEDULES[name](4, 8), 1.0, 2.0, 1.0).bubble


def training_has_a_bubble() -> Findings:
    """simulated: all forward passes before all backward ones, against 1F1B, which alternates them;
    four stages and eight micro-batches
    """
    return {
        "stages wait": _bubble("gpipe") > 0,
        "less so without the stop": _bubble("1f1b") < _bubble("gpipe"),
    }


def schedules_shorten_the_bubble() -> Findings:
    """simulated schedules of four stages and eight micro-batches: waiting, against all forward
    passes first
    """
    return {
        words: _bubble(name) < _bubble("gpipe")
        for words, name in (
            ("one forward, one backward", "1f1b"),
            ("zero bubble (ZB-H1)", "zero_bubble"),
        )
    }


def weight_gradients_fill_the_bubble() -> Findings:
    """simulated: waiting where the gradients of weights may be put off, against 1F1B"""
    return {"shorter by more than half": _bubble("zero_bubble") < _bubble("1f1b") / 2}


def smaller_batches_learn_more() -> Findings:
    """tokens needed by the law of McCandlish et al., (1 + B/B_crit) times the fewest, and the
    bubble, by the batch
    """
    size, critical = sympy.symbols("B B_crit", positive=True)
    return {
        "fewer tokens are needed": sympy.diff(1 + size / critical, size).is_positive is True,
        "the machine waits more": slope(pipelining.bubble_of_ideal, "micro_batches")
        .subs(symbol("pipeline_stages"), 4)
        .is_negative
        is True,
    }


def stages_are_neutral() -> Findings:
    """four stages against one: a step of 20 ms within a tenth, and the sequences that are in flight
    at once
    """
    from ...simulate.pipeline import decode

    def near(hop: float) -> bool:
        return (
            pipelining.token_latency(step_time=_STEP, pipeline_stages=4, hop_time=hop) < _STEP * 1.1
        )

    alone = decode(4, 1, stage_time=1.0)["utilisation"]
    return {
        **{f"latency, {words}": near(hop) for words, hop in _HOPS.items()},
        "batch: one micro-batch in flight, as on one rack, keeps the stages busy": alone > 0.999,
    }


def less_memory_with_stages() -> Findings:
    """memory on a chip with eight stages against one, less by a tenth or more"""
    at = {**values(), "stage_devices": 72, "micro_batch": 2000}

    def less(given: dict) -> bool:
        one, eight = (pipelining.device_memory(given, pipeline_stages=count) for count in (1, 8))
        return eight < 0.9 * one

    return {
        "weights": less({**at, "context": 0}),
        "weights and caches, 8,192 tokens": less(at),
        "weights and caches, 100,000 tokens": less({**at, "context": 100_000}),
    }


# Why pipelining is not wise -----------------------------------------------------------------------


def memory_on_a_chip() -> Findings:
    """the formula against (N + B L b) / (E P), N in bytes, and against weights that are not all
    shared out
    """
    said = (
        symbol("total_parameters") * symbol("bytes_per_parameter")
        + symbol("batch") * symbol("context") * symbol("kv_bytes_per_token")
    ) / (symbol("stage_devices") * symbol("pipeline_stages"))
    at = {**values(), "devices": 64, "one_device": 1}
    whole = racks.resident_weights(at) + racks.copied_weights(at)
    return {
        "all shared out: (N + B L b) / (E P)": same(pipelining.device_memory_of_batch, said),
        "attention copied to each of 64 chips, as DeepSeek serves": whole
        < 1.1 * multi_rack_pipelines.weights_on_device(at, pipeline_stages=1),
    }


def as_many_micro_batches_as_stages() -> Findings:
    """memory of a batch of P micro-batches, and the fewest micro-batches that keep P stages busy"""
    batch = symbol("pipeline_stages") * symbol("micro_batch")
    whole = pipelining.device_memory_of_batch.expanded.subs(symbol("batch"), batch)
    busy = [
        pipelining.stage_utilisation(
            pipeline_stages=4, micro_batches=count, stage_time=0.005, hop_time=hop
        )
        for count, hop in ((3, 0), (4, 0), (4, 8e-6))
    ]
    return {
        "B = P × micro-batch": sympy.simplify(whole - pipelining.device_memory.expanded) == 0,
        "four stages want four": busy[0] < 1 and busy[1] == 1,
        "four are enough with hops of 8 μs": busy[2] == 1,
    }


def micro_batch_is_the_balance() -> Findings:
    """a micro-batch of the machine's balance times the sparsity: reading the weights against the
    arithmetic, and its room on a rack of GB200 with DeepSeek-V3 in fp8
    """
    at = values()
    size = balance.weight_uses_at_balance(at) * balance.sparsity(at)
    found = {
        "they take as long": abs(
            latency.full_weight_time(at) / latency.compute_time(at, batch=size) - 1
        )
        < 1e-9
    }
    for context in (5_000, 100_000):
        room = latency.batch_that_fits(values(context=context))
        found[f"it fits with {context:,} tokens each"] = size <= room
    return found


def stages_cancel_in_caches() -> Findings:
    """the caches' part of memory on a chip, by the number of stages"""
    caches = pipelining.device_memory.expanded.subs(symbol("total_parameters"), 0)
    return {
        "caches do not depend on the stages": not sympy.simplify(caches).has(
            symbol("pipeline_stages")
        )
    }


def caches_are_not_shared() -> Findings:
    """time to read a sequence's cache, and the caches on a chip; and sequences that begin alike,
    that part kept once
    """
    each = sympy.simplify(latency.kv_time.expanded / symbol("batch"))
    caches = pipelining.device_memory.expanded.subs(symbol("total_parameters"), 0)
    batch, common = symbol("batch"), sympy.Symbol("common")
    begun_alike = (common + batch * symbol("context")) / batch  # tokens kept for each sequence
    return {
        "a larger batch does not share it": not each.has(symbol("batch")),
        "more stages do not thin them out": not sympy.simplify(caches).has(
            symbol("pipeline_stages")
        ),
        "nor what sequences have in common, kept once": not begun_alike.has(batch),
    }


def two_stages_and_caches_lead() -> Findings:
    """caches over weights on a chip: two stages, 2,000 sequences each, DeepSeek-V3 in fp8, racks of
    64
    """
    found = {}
    for context in (2048, 8192, 100_000):
        at = {
            **values(context=context),
            "stage_devices": 64,
            "pipeline_stages": 2,
            "micro_batch": 2000,
        }
        weights = pipelining.device_memory(at, context=0)
        found[f"{context:,} tokens of context"] = pipelining.device_memory(at) > 2 * weights
    return found


def report_spreads_experts_widely() -> Findings:
    """units of DeepSeek-V3's report: experts over more chips than a node has, and no pipeline in
    serving
    """
    node = facts.get("accelerators", "H100 SXM")["scaleup_domain_chips"]
    units = {
        words: facts.get("measured_pipelines", f"v3_{name}_chips")
        for words, name in (("decoding", "decode"), ("prompts", "prefill"))
    }
    return {
        f"{words}: {row['value']:g} GPUs": row["value"] > node
        and "experts over all" in row["notes"]
        for words, row in units.items()
    }


def stages_help_size_not_context() -> Findings:
    """memory on a chip by the number of stages, each of them busy; and for DeepSeek-V3 in fp8 the
    room for caches of a hundred thousand tokens
    """
    count = symbol("pipeline_stages")
    weights = pipelining.device_memory.expanded.subs(symbol("context"), 0)
    caches = pipelining.device_memory.expanded.subs(symbol("total_parameters"), 0)
    return {
        "weights fall as 1/stages": not sympy.simplify(weights * count).has(count),
        "caches, and with them the context, do not change": not sympy.simplify(caches).has(count),
        **{
            f"eight domains of {chip}: room for caches grows by less than a tenth": (
                multi_rack_pipelines.batch_of_stages(at, pipeline_stages=8)
                < 1.1 * multi_rack_pipelines.batch_of_stages(at, pipeline_stages=1)
            )
            for chip in ("GB200 NVL72", "H200 SXM")
            for at in [values(chip, context=100_000)]
        },
    }


def stages_beyond_a_rack() -> Findings:
    """20 trillion weights in fp8 on racks of GB200, and what was done with a model larger than its
    domain
    """
    at: dict = {**values(), "total_parameters": 20e12}
    large = [
        multi_rack_pipelines.weights_on_device(at, pipeline_stages=count) / at["memory_capacity"]
        for count in (1, 2)
    ]
    hoppers = [row for words, row, _ in services() if "H800" in words or "H100" in words]
    return {
        "two racks hold as stages what one does not": large[1] < 1 < large[0],
        "DeepSeek-V3 on nodes of eight Hoppers is served in stages": any(
            "PP" in row["parallelism"] for row in hoppers
        ),
    }


def few_stages_cost_little() -> Findings:
    """what four hops add to a step of 20 ms: a tenth of it at most"""
    return {
        words: pipelining.token_latency(step_time=_STEP, pipeline_stages=4, hop_time=hop)
        <= 1.1 * _STEP
        for words, hop in _HOPS.items()
    }


def hops_add_up() -> Findings:
    """simulated: a token on its way round four stages, with hops of a fifth of a stage's work"""
    from ...simulate.pipeline import decode

    lap = decode(4, 1, stage_time=1.0, hop=0.2)["token_latency"]
    return {"four hops on top of the work": abs(lap - 4 * 1.2) < 1e-9}


def reading_time_falls_with_the_domain() -> Findings:
    """time to read all weights, by the number of chips that share them and the bandwidth of each"""
    free = sympy.simplify(
        latency.full_weight_time.expanded * symbol("devices") * symbol("memory_bandwidth")
    )
    return {
        "inverse to chips × bandwidth": not free.has(symbol("devices"), symbol("memory_bandwidth"))
    }


def stages_take_turns() -> Findings:
    """simulated: one token going round four stages, four micro-batches going round them, and the
    time in which a domain reads the weights
    """
    from ...simulate.pipeline import decode

    return {
        "one stage in four works for it at a time": abs(
            decode(4, 1, stage_time=1.0)["utilisation"] - 0.25
        )
        < 1e-9,
        "all chips of a domain do": slope(latency.full_weight_time, "devices").is_negative is True,
        "in a busy pipeline one stage reads at a time": abs(
            decode(4, 4, stage_time=1.0)["utilisation"] - 0.25
        )
        < 1e-9,
    }


def domain_gives_bandwidth() -> Findings:
    """what twice the chips of a domain, and what twice the stages, do to time and memory"""
    at = {**values(), "micro_batch": 2000, "pipeline_stages": 1}
    wider = latency.latency_floor(at, devices=144) / latency.latency_floor(at, devices=72)
    two_stages = multi_rack_pipelines.weights_on_device(at, pipeline_stages=2)
    wide_domain = multi_rack_pipelines.weights_on_device(at, devices=144)
    no_more = "two stages hold no more weights on a chip than twice the domain"
    return {
        "a wider domain reads the weights in half the time": abs(wider - 0.5) < 1e-9,
        no_more: two_stages < 1.01 * wide_domain,
        "and no more caches": multi_rack_pipelines.caches_on_device(at)
        < 1.01 * multi_rack_pipelines.caches_on_device(at, devices=144),
    }


def domain_reads_longer_contexts() -> Findings:
    """context of DeepSeek-V3 whose caches a domain of 72 reads in 20 ms, against one of eight"""

    def longest(chips: int, batch: int) -> float:
        return _STEP / latency.kv_time(values(), devices=chips, batch=batch, context=1)

    return {
        "with 64 sequences on either": longest(72, 64) > 8.999 * longest(8, 64),
        "with as many sequences for each chip": longest(72, 9 * 64) > 1.001 * longest(8, 64),
    }


def domain_lowers_latency() -> Findings:
    """time to read all weights in fp8 on eight H100 against a rack of GB200: ten times or more"""

    def seconds(hardware: str, model: str) -> float:
        return latency.full_weight_time(values(hardware, model))

    return {
        model: seconds("H100 SXM", model) > 10 * seconds("GB200 NVL72", model)
        for model in ("DeepSeek-V3", "Kimi K2")
    }
