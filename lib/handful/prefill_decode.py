"""From prefill to decode: what a pass costs each of its tokens (the lecture, 1:42:05).

What long prompts add is here too, and the time to a first token.

A pass takes `pass_length` tokens of each sequence through the model at once.  Reading is shared by
them, arithmetic is not: a short pass waits for memory, a long one for its multipliers.  A pass of
one token is decode.  Past some length of prompt attention's own arithmetic is no longer small, and
a prompt's token grows dearer with the prompt.

Servers that do only one of the two ("disaggregated" ones) need numbers in proportion:
``prefill_per_decode`` from the lengths of prompts and answers and what each kind takes a second,
``cache_transfer_time`` for what has to travel between them.

>>> llama = dict(prefill_attention_flops_per_pair=4 * 80 * 64 * 128, active_parameters=70e9)
>>> round(
...     prompt_growth(llama, context=200_000), 1
... )  # a dense model of 70 billion, at 200,000 tokens
2.9
>>> day = dict(prompt_tokens=608e9, answer_tokens=168e9)  # DeepSeek's service on a day of 2025
>>> round(prefill_per_decode(day, throughput=14_800, prefill_throughput=73_700), 2)
0.73
"""

from __future__ import annotations

from sympy import Eq, Max, Rational

from .latency import cache_memory
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(n, B, N_total, N_active, w, L, b, b0, a, F, BW, c, length, P, B_p, h, A, MFU) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.batch,
        q.total_parameters,
        q.active_parameters,
        q.bytes_per_parameter,
        q.context,
        q.kv_bytes_per_token,
        q.window_cache_memory,
        q.prefill_attention_flops_per_pair,
        q.peak_flops,
        q.memory_bandwidth,
        q.flops_per_multiply_add,
        q.pass_length,
        q.prompt_tokens,
        q.prompts_together,
        q.hit_share,
        q.answer_tokens,
        q.model_flops_utilisation,
    )
)

_cache = cache_memory.expression

pass_memory_time = Formula(
    q.token_time,
    (w * N_total + B * _cache) / (n * BW * B * length),
    name="pass_memory_time",
    source="1:46:12",
    meaning="reading, shared by the tokens of the pass",
    conventions=("a pass of one token is decode, a long one is prefill", "all weights read"),
)

pass_compute_time = Formula(
    q.token_time,
    c * N_active / (n * F),
    name="pass_compute_time",
    source="1:46:55",
    meaning="arithmetic, the same for every token",
    conventions=("attention's arithmetic left out",),
)

pass_token_time = Formula(
    q.token_time,
    Max(pass_memory_time.expression, pass_compute_time.expression),
    name="pass_token_time",
    source="1:46:12",
    meaning="time of a pass for each of its tokens: reading is shared by them, arithmetic is not",
    conventions=(
        "a pass of one token is decode, a long one is prefill",
        "all weights read; attention's arithmetic left out",
    ),
    derivation=lambda: _derive_pass(),
)

balance_pass = Formula(
    q.pass_length,
    F * (w * N_total + B * _cache) / (c * B * N_active * BW),
    name="balance_pass",
    source="derived",
    meaning="pass from which arithmetic takes longer: for one short sequence, the balance batch "
    "in tokens",
    conventions=("all weights read", "attention's arithmetic left out"),
    derivation=lambda: _derive_balance_pass(),
)

prompt_growth = Formula(
    q.price_ratio,
    1 + a * L * Rational(1, 2) / (c * N_active),
    name="prompt_growth",
    source="derived; contested at 1:52:15",
    meaning="arithmetic of a prompt's token over that of a short prompt's: attention grows with "
    "the prompt",
    known_as=("quadratic attention in prefill",),
    conventions=(
        "a token of a prompt attends, on average, to half of it",
        "full-attention layers only",
        "prefill is bound by arithmetic",
    ),
)

# Time to the first token --------------------------------------------------------------------------

prefill_time = Formula(
    q.prefill_time,
    B_p * P * (c * N_active + a * P * Rational(1, 2)) / (n * MFU * F),
    source="derived; MFU as in Pope et al. 2022, Efficiently Scaling Transformer Inference",
    meaning="arithmetic of a prompt at the rate that the chips reach: the time to its first token "
    "when nobody waits",
    known_as=("TTFT", "time to first token", "prefill"),
    conventions=(
        "FLOP counts a multiply-add as two; the peak is dense, of the arithmetic's precision",
        "the utilisation counts attention's arithmetic too, half of the prompt for each token",
        "full-attention layers only; prefill is bound by arithmetic",
        "waiting and the way of messages left out",
    ),
    derivation=lambda: _derive_prefill(),
)

prefill_time_with_hits = Formula(
    q.prefill_time,
    B_p * P * (1 - h) * (c * N_active + a * P * (1 + h) * Rational(1, 2)) / (n * MFU * F),
    name="prefill_time_with_hits",
    source="derived",
    meaning="time to a first token where the cache of the prompt's beginning is found: the rest "
    "is computed, and attends to all",
    known_as=("prefix cache hit rate", "prompt caching"),
    conventions=(
        "what is found is a prefix",
        "fetching the found cache left out: see retrieve_time",
        "full-attention layers only; prefill is bound by arithmetic",
    ),
    derivation=lambda: _derive_prefill_with_hits(),
)

prefill_throughput = Formula(
    q.prefill_throughput,
    B_p * P / q.prefill_time.symbol,
    using=(prefill_time,),
    source="derived",
    meaning="tokens of prompts over the time of their prefill",
    known_as=("prefill tokens per second",),
    conventions=("prompts follow one another without a gap",),
)

prefill_throughput_with_hits = Formula(
    q.prefill_throughput,
    B_p * P / q.prefill_time.symbol,
    using=(prefill_time_with_hits,),
    name="prefill_throughput_with_hits",
    source="derived",
    meaning="tokens of prompts over the time of their prefill, where the cache of their "
    "beginning is found: those tokens count as taken",
    conventions=(
        "fetching the found cache left out",
        "infinite where all of the prompt is found",
    ),
)

# Servers that do only one of the two --------------------------------------------------------------

prefill_per_decode = Formula(
    q.prefill_per_decode,
    P * q.throughput.symbol / (A * q.prefill_throughput.symbol),
    source="derived; Zhong et al. 2024, DistServe",
    meaning="prefill servers that keep one decode server supplied",
    known_as=("ratio of prefill to decode servers", "disaggregation"),
    conventions=(
        "every request has one prompt and one answer, of the mean lengths",
        "the prefill rate counts found tokens where the prompt's length does",
        "both kinds of server are busy all the time",
    ),
    derivation=lambda: _derive_prefill_per_decode(),
)

cache_transfer_time = Formula(
    q.cache_transfer_time,
    B_p * _cache.subs(L, P) / (n * q.scale_out_bandwidth.symbol),
    source="derived; Zhong et al. 2024, DistServe, section 3.3",
    meaning="a prompt's cache over the network between two servers",
    known_as=("time to move a KV cache", "KV transfer"),
    conventions=(
        "every chip of the server sends its part at once, in one direction",
        "the receiving server is no slower",
        "nothing overlaps: sent layer by layer during prefill, most of it is hidden",
    ),
)


def _derive_prefill() -> Derivation:
    d = Derivation("The time of a prompt, from its pairs of tokens")
    flops = q.prefill_again_flops.symbol
    d.start(
        Eq(q.prefill_time.symbol, B_p * flops / (n * MFU * F)),
        "arithmetic over the rate that the chips reach",
    )
    d.substitute(
        {"prefill_again_flops": c * N_active * P + a * P**2 * Rational(1, 2)},
        "each token goes through the weights, and each pair of tokens is attended to once",
    )
    d.claim(
        Eq(
            q.prefill_time.symbol,
            B_p * P * (c * N_active + a * P * Rational(1, 2)) / (n * MFU * F),
        ),
        "a token attends to half of the prompt, on average",
    )
    return d


def _derive_prefill_with_hits() -> Derivation:
    d = Derivation("The time of a prompt whose beginning is found")
    pairs = a * (P**2 - (h * P) ** 2) * Rational(1, 2)
    d.start(
        Eq(
            q.prefill_time.symbol,
            B_p * (c * N_active * (1 - h) * P + pairs) / (n * MFU * F),
        ),
        "the tokens that are left go through the weights; of all pairs, those among found tokens "
        "are spared",
    )
    d.claim(
        Eq(q.prefill_time.symbol, prefill_time_with_hits.expression),
        "a difference of squares: those tokens attend to half of the prompt and half of the hit",
    )
    return d


def _derive_prefill_per_decode() -> Derivation:
    d = Derivation("Prefill servers for each decode server")
    rate = q.request_rate.symbol
    d.start(
        Eq(q.prefill_per_decode.symbol, rate * P / q.prefill_throughput.symbol),
        "prompts come in as fast as answers leave: their tokens, over what one server takes",
    )
    d.substitute(
        {"request_rate": q.throughput.symbol / A},
        "a decode server finishes an answer whenever it has made that many tokens",
    )
    return d


def _derive_pass() -> Derivation:
    d = Derivation("What a pass costs each of its tokens")
    tokens = B * length
    d.start(
        Eq(q.token_time.symbol, Max(q.memory_time.symbol / tokens, q.compute_time.symbol / tokens)),
        "the slower of reading and computing, each over all tokens of the pass",
    )
    d.substitute(
        {"memory_time": (w * N_total + B * _cache) / (n * BW)},
        "weights and caches are read once, however many tokens pass",
    )
    d.substitute(
        {"compute_time": tokens * c * N_active / (n * F)},
        "arithmetic is done for each of them, so the length of the pass cancels",
    )
    return d


def _derive_balance_pass() -> Derivation:
    d = Derivation("The pass that is neither decode nor prefill")
    d.equate(
        pass_memory_time,
        pass_compute_time,
        "ask where a token waits as long for reading as for arithmetic",
    )
    d.solve("pass_length", "the chips cancel")
    return d
