"""The time of one decode step, and the cost of a token in it.

The lecture has them from 0:00 to 16:00, and at 1:52:15.

A decode step gives every sequence of the batch one more token.  It reads the weights once for all
of them, reads each sequence's own key-value cache, and does two FLOPs per active weight and token.

Two conventions about what overlaps are in use, and both are here by name: ``step_time`` lets all
reading overlap with all arithmetic, max(weights + KV, compute), as the lecture does;
``step_time_kv_apart`` reads the cache on its own and overlaps the rest, KV + max(weights, compute),
which is nearer to how attention kernels run.

>>> h100 = dict(peak_flops=989e12, memory_bandwidth=3.35e12, devices=8, device_price=2 / 3600)
>>> llama = dict(
...     total_parameters=70.55e9,
...     active_parameters=70.55e9,
...     routed_parameters=0,
...     experts=1,
...     active_experts=1,
...     bytes_per_parameter=2,
...     kv_bytes_per_token=327_680,
...     context=4096,
... )
>>> round(
...     step_time(h100 | llama, batch=1) * 1e3, 2
... )  # a third party's table of the same roofline says 5.32
5.32
>>> round(step_time(h100 | llama, batch=512) * 1e3, 1)  # and 30.9 here
30.9
"""

from __future__ import annotations

from sympy import Eq, Expr, Max, Min, oo

from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(p, n, B, N_total, N_active, N_routed, w, L, b, b0, a, k, E, F, BW, c, u, new) = (
    quantity.symbol
    for quantity in (
        q.device_price,
        q.devices,
        q.batch,
        q.total_parameters,
        q.active_parameters,
        q.routed_parameters,
        q.bytes_per_parameter,
        q.context,
        q.kv_bytes_per_token,
        q.window_cache_memory,
        q.attention_flops_per_pair,
        q.active_experts,
        q.experts,
        q.peak_flops,
        q.memory_bandwidth,
        q.flops_per_multiply_add,
        q.one_token,
        q.new_tokens_per_sequence,
    )
)

# What every step reads for each sequence ----------------------------------------------------------

cache_memory = Formula(
    q.cache_memory,
    Min(L * (b + b0 / q.window_tokens.symbol), L * b + b0),
    source="definition",
    meaning="bytes that the cache of one sequence takes",
    known_as=("KV cache size",),
    conventions=(
        "layers with a sliding window keep its latest tokens, and fewer before it is full",
    ),
)

_cache = cache_memory.expression

kv_bytes_of_heads = Formula(
    q.kv_bytes_per_token,
    2 * q.layers.symbol * q.kv_heads.symbol * q.head_width.symbol * q.cached_number_bytes.symbol,
    name="kv_bytes_of_heads",
    source="definition; Ainslie et al. 2023, GQA",
    meaning="bytes that a token leaves in the cache: a key and a value for each head in each layer",
    known_as=(
        "KV cache per token",
        "KV bytes per token of GQA or MQA",
        "KV heads",
        "quantized KV cache",
    ),
    conventions=(
        "grouped-query attention has fewer heads of keys than of queries, multi-query has one",
        "every layer attends to the whole context: of layers with a sliding window none is counted",
        "keys and values are equally wide; a cache of 8-bit numbers takes 1 byte for each, and its "
        "scales are left out",
    ),
)

kv_bytes_of_latent = Formula(
    q.kv_bytes_per_token,
    q.layers.symbol
    * (q.kv_latent_width.symbol + q.rotary_width.symbol)
    * q.cached_number_bytes.symbol,
    name="kv_bytes_of_latent",
    source="DeepSeek-AI 2024, arXiv 2405.04434, section 2.1",
    meaning="bytes that a token leaves in the cache under multi-head latent attention: one latent "
    "vector and the numbers that carry the position, in each layer",
    known_as=("KV bytes per token of MLA", "latent KV cache"),
    conventions=(
        "one vector serves all heads, as key and as value",
        "the cache of an indexer, where there is one, is left out",
    ),
)


def context_of_cache(room: Expr) -> Expr:
    """Return the context, in tokens, whose cache takes `room`, in bytes.

    What a cache takes is the lower of two lines, one for windows that fill and one for full ones,
    so that the context is the higher of theirs.

    >>> str(context_of_cache(b * 4096).subs(b0, 0))
    '4096'
    """
    return Max(room / (b + b0 / q.window_tokens.symbol), (room - b0) / b)


# Times --------------------------------------------------------------------------------------------

compute_time = Formula(
    q.compute_time,
    c * new * B * N_active / (n * F),
    source="3:28",
    meaning="two FLOPs for each active weight and token, at the peak rate of all chips",
    conventions=(
        "dense peak at the precision of the arithmetic",
        "attention over the context left out",
    ),
)

attention_time = Formula(
    q.attention_time,
    a * new * B * L / (n * F),
    source="derived; contested at 1:52:15",
    meaning="scores and weighted sums over the context: the arithmetic that compute time leaves "
    "out",
    known_as=("FLOPs of attention",),
    conventions=("4 FLOPs per head dimension and pair of tokens", "full-attention layers only"),
)

expert_coverage = Formula(
    q.expert_coverage,
    1 - (1 - k / E) ** (B * new / u),
    source="derived (uniform, independent routing)",
    meaning="chance that an expert is wanted by at least one token of the batch",
    known_as=(
        "share of experts activated",
        "experts touched by a batch",
        "unique experts hit",
        "experts read in a step",
    ),
    conventions=("every token picks k of E experts at random, whatever the others pick",),
)

fetched_parameters = Formula(
    q.fetched_parameters,
    N_total - N_routed * (1 - q.expert_coverage.symbol),
    using=(expert_coverage,),
    source="derived",
    meaning="everything but the routed experts that no token of the batch wakes",
)

weight_time = Formula(
    q.weight_time,
    w * q.fetched_parameters.symbol / (n * BW),
    using=(fetched_parameters,),
    source="derived",
    meaning="time to read the weights that the batch needs, once",
    known_as=(
        "quantized weights in decode",
        "weight streaming",
    ),
    derivation=lambda: _derive_weight_time(),
)

full_weight_time = Formula(
    q.weight_time,
    w * N_total / (n * BW),
    name="full_weight_time",
    source="5:09",
    meaning="time to read all weights once: exact for a dense model, the large-batch limit for "
    "experts",
    conventions=("all weights are read, whatever the batch",),
)

kv_time = Formula(
    q.kv_time,
    B * _cache / (n * BW),
    source="5:09",
    meaning="time to read the key-value cache of every sequence",
    known_as=("KV cache read time",),
    conventions=("every sequence has the same context",),
)

memory_time = Formula(
    q.memory_time,
    q.weight_time.symbol + q.kv_time.symbol,
    using=(weight_time, kv_time),
    source="5:09",
    meaning="time to read weights and caches, one after the other over the same wires",
)

_lecture_memory_time = Formula(
    q.memory_time,
    q.weight_time.symbol + q.kv_time.symbol,
    using=(full_weight_time, kv_time),
    register=False,
    name="memory_time_lecture",
    source="5:09",
    meaning="time to read all weights and the caches",
)

step_time = Formula(
    q.step_time,
    Max(q.memory_time.symbol, q.compute_time.symbol),
    using=(memory_time, compute_time),
    source="2:50",
    meaning="the slower of reading and computing",
    known_as=("TPOT", "time per output token", "inter-token latency", "ITL", "decode latency"),
    conventions=(
        "reading and arithmetic overlap perfectly: max(weights + KV, compute)",
        "peak rates, no communication, no launch overhead: a floor that measured steps lie above",
    ),
)

step_time_lecture = Formula(
    q.step_time,
    Max(q.memory_time.symbol, q.compute_time.symbol),
    using=(_lecture_memory_time, compute_time),
    name="step_time_lecture",
    source="9:40",
    meaning="the slower of reading and computing, with all weights read at every step",
    conventions=("all weights are read, whatever the batch", "max(weights + KV, compute)"),
)

step_time_kv_apart = Formula(
    q.step_time,
    q.kv_time.symbol + Max(q.weight_time.symbol, q.compute_time.symbol),
    using=(kv_time, weight_time, compute_time),
    name="step_time_kv_apart",
    source="Austin et al., How to Scale Your Model (the serving convention of that book)",
    meaning="the cache read on its own, then the slower of reading weights and computing",
    conventions=(
        "attention does not overlap with the matrix products: KV + max(weights, compute)",
    ),
)

step_time_with_attention = Formula(
    q.step_time,
    Max(q.memory_time.symbol, q.compute_time.symbol + q.attention_time.symbol),
    using=(memory_time, compute_time, attention_time),
    name="step_time_with_attention",
    source="derived",
    meaning="the slower of reading and computing, attention's arithmetic included",
    conventions=("max(weights + KV, compute + attention)",),
)

fixed_time = Formula(
    q.fixed_time,
    q.layers.symbol * q.layer_latency.symbol,
    source="derived; latencies in facts/measured_latencies.csv",
    meaning="layers come one after another, and each takes its latency, however few sequences "
    "there are",
    known_as=(
        "kernel launch overhead",
        "overhead per layer",
    ),
    conventions=(
        "a kernel is waited for before the next begins: one kernel for a whole pass takes less",
        "messages are so small that only their way counts",
    ),
)

step_time_with_latency = Formula(
    q.step_time,
    Max(q.memory_time.symbol, q.compute_time.symbol) + q.fixed_time.symbol,
    using=(memory_time, compute_time, fixed_time),
    name="step_time_with_latency",
    source="derived",
    meaning="the slower of reading and computing, then the latency of every layer",
    conventions=(
        "no latency is hidden: max(weights + KV, compute) + layers × latency",
        "what a message's bytes take is left out: see communication_time",
    ),
)

step_time_mixed = Formula(
    q.step_time,
    q.memory_time.symbol + q.compute_time.symbol * (1 + q.prompt_per_answer.symbol),
    using=(memory_time, compute_time),
    name="step_time_mixed",
    source="derived",
    meaning="a step that works through prompts too, nothing overlapping: what a server under "
    "steady load pays",
    known_as=(
        "chunked prefill",
        "continuous batching",
    ),
    conventions=(
        "prompts arrive at the rate at which answers leave",
        "nothing overlaps: memory + compute",
    ),
)

latency_floor = Formula(
    q.latency_floor,
    w * N_total / (n * BW),
    source="10:13",
    meaning="no step that needs all weights is shorter than one reading of them",
    known_as=("speed of light of a decode step", "batch size 1 latency"),
    conventions=(
        "all weights are read: a small batch leaves experts asleep and can be faster",
        "more chips lower it, until communication takes over",
    ),
    derivation=lambda: _derive_latency_floor(),
)

# Rates and money ----------------------------------------------------------------------------------

throughput = Formula(
    q.throughput,
    new * B / q.step_time.symbol,
    using=(step_time,),
    source="26:40",
    meaning="new tokens a second over the whole batch",
    known_as=("tokens per second",),
)

throughput_with_latency = Formula(
    q.throughput,
    new * B / q.step_time.symbol,
    using=(step_time_with_latency,),
    name="throughput_with_latency",
    source="26:40; derived",
    meaning="new tokens a second over the whole batch, the latency of layers counted",
)

tokens_per_user_with_latency = Formula(
    q.tokens_per_user,
    new / q.step_time.symbol,
    using=(step_time_with_latency,),
    name="tokens_per_user_with_latency",
    source="derived",
    meaning="how fast one user's answer streams, the latency of layers counted",
)

tokens_per_user = Formula(
    q.tokens_per_user,
    new / q.step_time.symbol,
    using=(step_time,),
    source="derived",
    meaning="how fast one user's answer streams",
    known_as=("tokens per second per user", "streaming speed", "interactivity"),
)

_cost = n * p / (new * B)

fastest_stream = Formula(
    q.tokens_per_user,
    new / q.latency_floor.symbol,
    using=(latency_floor,),
    name="fastest_stream",
    source="10:13",
    meaning="how fast an answer streams when a step is nothing but one reading of the weights",
    known_as=("fastest tokens per second", "batch size 1 speed"),
    conventions=("no tokens speculated", "all weights are read"),
)

cost_per_token = Formula(
    q.cost_per_token,
    _cost * q.step_time.symbol,
    using=(step_time,),
    source="13:12",
    meaning="rent of all chips for one step, shared by the tokens that the step makes",
    known_as=("cost per million tokens",),
    conventions=("every slot of the batch is filled", "rent only: no margin, no idle time"),
    derivation=lambda: _derive_cost(),
)

cost_per_token_with_latency = Formula(
    q.cost_per_token,
    _cost * q.step_time.symbol,
    using=(step_time_with_latency,),
    name="cost_per_token_with_latency",
    source="13:12; derived",
    meaning="rent of all chips for one step, the latency of every layer in it, shared by the "
    "tokens that the step makes",
    conventions=("every slot of the batch is filled", "rent only: no margin, no idle time"),
)

compute_cost = Formula(
    q.compute_cost,
    _cost * q.compute_time.symbol,
    using=(compute_time,),
    source="13:44",
    meaning="a token's own arithmetic: the batch cancels",
)

weight_cost = Formula(
    q.weight_cost,
    _cost * q.weight_time.symbol,
    using=(weight_time,),
    source="14:10",
    meaning="a share in reading the weights: falls as the batch grows",
)

latency_cost = Formula(
    q.latency_cost,
    _cost * q.fixed_time.symbol,
    using=(fixed_time,),
    source="derived",
    meaning="a share in the latency of the layers: falls as the batch grows",
)

kv_cost = Formula(
    q.kv_cost,
    _cost * q.kv_time.symbol,
    using=(kv_time,),
    source="13:52",
    meaning="reading a token's own cache: the batch cancels",
)

cost_floor = Formula(
    q.cost_floor,
    Max(q.compute_cost.symbol, q.kv_cost.symbol),
    using=(compute_cost, kv_cost),
    source="15:11",
    meaning="what is left when the weights are shared by infinitely many: the floor of any slow "
    "mode",
    conventions=("the model's own cost; off-peak value of idle chips is outside it",),
    derivation=lambda: _derive_cost_floor(),
)

unbatched_penalty = Formula(
    q.price_ratio,
    q.cost_per_token.symbol / q.cost_floor.symbol,
    using=(cost_per_token_with_latency, cost_floor),
    name="unbatched_penalty",
    source="4:23; derived",
    meaning="cost of a token at this batch over the cost when the batch is as large as can be; "
    "give batch=1 for a lonely user",
    conventions=("the latency of layers counted", "the same chips for both"),
)

slow_mode_price = Formula(
    q.price_ratio,
    q.cost_floor.symbol / q.cost_per_token.symbol,
    using=(cost_floor, cost_per_token),
    name="slow_mode_price",
    source="15:31",
    meaning="the cheapest that patience can buy, as a fraction of the cost at this batch",
    known_as=("batch API discount",),
)

_s = q.speedup.symbol
_fast = q.step_time.symbol / _s
_batch_when_fast = Min(
    (_fast * n * BW - w * N_total) / _cache, _fast * n * F / (c * new * N_active)
)

fast_mode_price = Formula(
    q.price_ratio,
    B / (_s * Max(0, _batch_when_fast)),
    using=(step_time_lecture,),
    name="fast_mode_price",
    source="1:19; derived",
    meaning="how much dearer a token becomes when the same chips stream it s times faster with a "
    "smaller batch",
    known_as=(
        "fast mode",
        "priority tier",
    ),
    conventions=(
        "same chips, same model, no speculation: only the batch shrinks",
        "infinite where the step would be shorter than reading the weights",
        "all weights read at every step; the context is above zero",
    ),
)

attention_context = Formula(
    q.attention_context,
    c * N_active / a,
    source="derived; contested at 1:52:15",
    meaning="context at which attention over it costs as many FLOPs per token as the weights do",
    derivation=lambda: _derive_attention_context(),
)

# Memory -------------------------------------------------------------------------------------------

weight_memory = Formula(
    q.weight_memory,
    w * N_total,
    source="definition",
    meaning="bytes that all weights take",
    known_as=("weights in bytes", "model size in bytes"),
)

batch_that_fits = Formula(
    q.batch_that_fits,
    Max(0, n * q.memory_capacity.symbol - w * N_total) / _cache,
    source="1:06:26",
    meaning="sequences whose caches fit beside the weights",
    known_as=(
        "maximum concurrent sequences",
        "maximum batch size",
        "gpu_memory_utilization",
        "concurrency limit",
        "out of memory",
        "concurrent users",
        "KV cache capacity",
    ),
    conventions=(
        "no memory kept back for activations or fragmentation: a server that may fill nine tenths "
        "of it (gpu_memory_utilization) has room for fewer",
        "the context is above zero",
    ),
)


fewest_devices_for_weights = Formula(
    q.fewest_devices,
    w * N_total / q.memory_capacity.symbol,
    name="fewest_devices_for_weights",
    source="derived",
    meaning="chips whose memory the weights alone would fill",
    known_as=("chips that hold the weights", "GPUs for a model"),
    conventions=("no memory kept back for caches, activations or fragmentation",),
)


# Fast mode, counted in caches: reading is the limit, so that a step is as long as reading the
# weights, which weigh B_w caches, and the caches of its batch.

_B_w = q.weights_in_caches.symbol

weights_in_caches = Formula(
    q.weights_in_caches,
    q.weight_memory.symbol / q.cache_memory.symbol,
    using=(weight_memory, cache_memory),
    source="derived",
    meaning="sequences whose caches weigh as much as the weights",
    conventions=("the context is above zero",),
)

fast_batch = Formula(
    q.fast_batch,
    Max(0, _batch_when_fast),
    using=(step_time_lecture,),
    source="1:19; derived",
    meaning="sequences that may share a step which has to be s times shorter",
    conventions=(
        "0 where the step would be shorter than reading the weights",
        "all weights read at every step; the context is above zero",
    ),
)

batch_from_price = Formula(
    q.batch_from_price,
    (_s - 1) * _B_w * q.price_ratio.symbol / (q.price_ratio.symbol - 1),
    using=(weights_in_caches,),
    source="1:05; derived",
    meaning="sequences in normal mode, where its price is cost and fast mode is s times faster and "
    "ρ times as expensive",
    conventions=("reading is the limit in both", "the price ratio is above one"),
    derivation=lambda: _derive_batch_from_price(),
)

speedup_limit = Formula(
    q.speedup_limit,
    1 + B / _B_w,
    using=(weights_in_caches,),
    source="1:19; 10:13; derived",
    meaning="how many times faster than now one reading of the weights is: no price buys more",
    conventions=("reading is the limit",),
)


# Derivations --------------------------------------------------------------------------------------


def _derive_weight_time() -> Derivation:
    d = Derivation("Which weights a batch wakes, and when “all of them” is good enough")
    d.start(weight_time, "weights needed, over the bandwidth of all chips")
    d.substitute(fetched_parameters, "all but the routed experts that stay asleep")
    d.substitute(expert_coverage, "an expert sleeps when no token of the batch picks it")
    d.approximate(
        full_weight_time.expression,
        "for a large batch every expert is awake: the lecture's constant",
        over={"batch": (128, 8192)},
        case="8 of 256 experts, 97 % of the weights in them",
        at={
            "total_parameters": 1,
            "routed_parameters": 0.97,
            "active_experts": 8,
            "experts": 256,
            "bytes_per_parameter": 1,
            "devices": 1,
            "memory_bandwidth": 1,
        },
        error=0.02,
    )
    return d


def _derive_latency_floor() -> Derivation:
    d = Derivation("Why a small batch does not make a fast answer")
    d.start(_lecture_memory_time, "a step reads the weights and every sequence's cache")
    d.substitute(full_weight_time, "all weights, once, over all chips")
    d.substitute(kv_time, "each sequence's own cache")
    d.limit("batch", 0, "shrink the batch as far as it goes")
    return d


def _derive_cost() -> Derivation:
    d = Derivation("From a step to the cost of a token, where memory is the limit")
    d.start(
        Formula(
            q.cost_per_token,
            _cost * q.memory_time.symbol,
            register=False,
            meaning="rent over tokens",
            source="13:12",
            using=(_lecture_memory_time,),
        ),
        "rent of the chips for one step ÷ tokens made",
    )
    d.substitute(_lecture_memory_time, "the step reads weights and caches")
    d.substitute(full_weight_time, "weights: the same for any batch")
    d.substitute(kv_time, "caches: proportional to the batch")
    d.claim(
        Eq(d.last.lhs, p * w * N_total / (new * B * BW) + p * _cache / (new * BW)),
        "the batch divides the weights' share and cancels in the cache's; the number of chips "
        "cancels in both",
    )
    return d


def _derive_cost_floor() -> Derivation:
    d = _derive_cost()
    d.title = "What is left when the batch grows without end"
    d.limit("batch", oo, "the weights' share goes to zero; the cache's does not")
    return d


def _derive_attention_context() -> Derivation:
    d = Derivation("The context at which attention's arithmetic catches up with the weights'")
    d.equate(attention_time, compute_time, "ask where the two take equally long")
    d.solve("context", "batch, chips and their speed all cancel: it is a property of the model")
    return d


def _derive_batch_from_price() -> Derivation:
    ratio, fast = q.price_ratio.symbol, q.fast_batch.symbol
    d = Derivation("What the price of a fast mode says about the normal one")
    d.start(
        Eq(fast + _B_w, (B + _B_w) / _s),
        "a step that is s times shorter reads s times less: the weights and fewer caches",
    )
    d.solve("fast_batch", "solve for the people on the fast step")
    small = d.last.rhs
    d.start(Eq(ratio, B / (_s * fast)), "rent falls with the step, and is split among fewer people")
    d.substitute({"fast_batch": small}, "put those people in")
    d.claim(Eq(ratio, B / (B - (_s - 1) * _B_w)), "multiply out, and collect s")
    d.solve("batch", "solve for the people on the normal step")
    return d
