"""From prefill to decode: what a pass costs each of its tokens (the lecture, 1:42:05).

What long prompts add is here too.

A pass takes `pass_length` tokens of each sequence through the model at once.  Reading is shared by
them, arithmetic is not: a short pass waits for memory, a long one for its multipliers.  A pass of
one token is decode.  Past some length of prompt attention's own arithmetic is no longer small, and
a prompt's token grows dearer with the prompt.

>>> llama = dict(prefill_attention_flops_per_pair=4 * 80 * 64 * 128, active_parameters=70e9)
>>> round(
...     prompt_growth(llama, context=200_000), 1
... )  # a dense model of 70 billion, at 200,000 tokens
2.9
"""

from __future__ import annotations

from sympy import Eq, Max, Rational

from .latency import cache_memory
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(n, B, N_total, N_active, w, L, b, b0, a, F, BW, c, length) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.batch,
        q.total_parameters,
        q.active_parameters,
        q.bytes_per_parameter,
        q.context,
        q.kv_bytes_per_token,
        q.kv_window_bytes,
        q.prefill_attention_flops_per_pair,
        q.peak_flops,
        q.memory_bandwidth,
        q.flops_per_multiply_add,
        q.pass_length,
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
