"""Goodput: how many requests a second a chip takes while it keeps what was promised.

A service promises a time to the first token (TTFT) and a time per output token (TPOT), to nearly
all of its requests.  The first is spent in a queue and in prefill, the second in steps of decode.
Each of the two promises sets a limit on the requests a second: ``prefill_request_rate`` and
``decode_request_rate``.  Where prefill and decode have servers of their own (disaggregation), both
limits are met at once by the right numbers of servers, and ``goodput`` is what is left for each
chip.  ``goodput_of_split`` is the same for given numbers, and ``goodput_colocated`` for servers
that do both in turns.

Requests come at random (a Poisson process).  Means follow for any prefill times from their mean and
their spread, by the formula of Pollaczek and Khinchine.  Percentiles are those of the queue M/M/1,
in which most prompts are short and a few long: exponential prefill times, mean as spread.  How long
a cache travels between two servers is ``prefill_decode.cache_transfer_time``.

>>> prompts = dict(prefill_time=0.04, ttft_target=0.2)  # 40 ms on average, 200 ms promised
>>> round(prefill_request_rate(prompts, slo_attainment=0.5), 1)  # to every second request
21.5
>>> round(prefill_request_rate(prompts, slo_attainment=0.99), 2)  # to all but one in a hundred
1.97
>>> measured = dict(prefill_request_rate=5.6, decode_request_rate=10)  # of one GPU (DistServe)
>>> chips = dict(prefill_devices=1, devices=1)
>>> round(goodput_of_split(measured | chips, prefill_servers=2, decode_servers=1), 1)
3.3
"""

from __future__ import annotations

from sympy import Eq, Max, Min, log

from .latency import cache_memory, full_weight_time
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

__all__ = [
    "cache_transfer_bandwidth",
    "decode_request_rate",
    "goodput",
    "goodput_colocated",
    "goodput_of_split",
    "mean_ttft_request_rate",
    "prefill_per_decode_at_levels",
    "prefill_request_rate",
    "prefill_wait",
    "time_to_first_token",
    "tpot_batch",
    "ttft_quantile",
]

(n, N_active, F, BW, c, new, A, P, D, rate, one) = (
    quantity.symbol
    for quantity in (
        q.devices,
        q.active_parameters,
        q.peak_flops,
        q.memory_bandwidth,
        q.flops_per_multiply_add,
        q.new_tokens_per_sequence,
        q.answer_tokens,
        q.prompt_tokens,
        q.prefill_time,
        q.request_rate,
        q.one_sequence,
    )
)
(T_first, T_token, p, spread, n_prefill, x, y) = (
    quantity.symbol
    for quantity in (
        q.ttft_target,
        q.tpot_target,
        q.slo_attainment,
        q.prefill_variation,
        q.prefill_devices,
        q.prefill_servers,
        q.decode_servers,
    )
)
(wait, t_weights, cache, rate_prefill, rate_decode) = (
    quantity.symbol
    for quantity in (
        q.prefill_wait,
        q.weight_time,
        q.cache_memory,
        q.prefill_request_rate,
        q.decode_request_rate,
    )
)

_IN_TURN = "one prompt at a time, in order of arrival; requests come at random"
_UNEVEN = "prefill times spread as widely as their mean (exponential): the queue M/M/1"
_UNTIL_PREFILL = "until prefill ends: where a decode server sends the first token, the transfer of "
_UNTIL_PREFILL += "the cache comes on top"

# The first token ----------------------------------------------------------------------------------

prefill_wait = Formula(
    q.prefill_wait,
    rate * D**2 * (1 + spread**2) / (2 * Max(0, one - rate * D)),
    source="Pollaczek 1930, Khinchine 1932: the queue M/G/1",
    meaning="mean wait for prefill, which the load and the spread of prefill times make longer",
    known_as=("Pollaczek-Khinchine formula", "M/D/1 and M/G/1 wait", "mean queueing time"),
    conventions=(
        _IN_TURN,
        "equal prompts have a spread of 0 (M/D/1), exponential prefill times one of 1 (M/M/1)",
        "infinite where requests come faster than they are worked through",
    ),
)

time_to_first_token = Formula(
    q.time_to_first_token,
    D + wait,
    using=(prefill_wait,),
    source="Zhong et al. 2024, DistServe, equation 1",
    meaning="mean wait for prefill, and prefill itself",
    known_as=("mean TTFT", "TTFT with queueing", "TTFT under load"),
    conventions=(_IN_TURN, _UNTIL_PREFILL),
)

ttft_quantile = Formula(
    q.time_to_first_token,
    D * log(1 / (1 - p)) / Max(0, 1 - rate * D / one),
    name="ttft_quantile",
    source="Kleinrock 1975, Queueing Systems 1: time in the queue M/M/1",
    meaning="time within which so large a share of the requests have their first token",
    known_as=("p99 TTFT", "p95 latency", "TTFT percentile", "tail latency"),
    conventions=(_IN_TURN, _UNEVEN, _UNTIL_PREFILL),
    derivation=lambda: _derive_quantile(),
)

mean_ttft_request_rate = Formula(
    q.prefill_request_rate,
    one * Max(0, T_first - D) / D / (Max(0, T_first - D) + D * (1 + spread**2) / 2),
    name="mean_ttft_request_rate",
    source="derived; Zhong et al. 2024, DistServe, equation 1",
    meaning="requests a second at which the mean time to a first token is what is promised",
    known_as=("max request rate for a mean TTFT",),
    conventions=(
        _IN_TURN,
        "a promise about the mean: many requests wait longer",
        "0 where prefill alone takes longer",
    ),
    derivation=lambda: _derive_mean_rate(),
)

prefill_request_rate = Formula(
    q.prefill_request_rate,
    one * Max(0, 1 / D - log(1 / (1 - p)) / T_first),
    source="derived; Kleinrock 1975, Queueing Systems 1: time in the queue M/M/1",
    meaning="requests a second at which so large a share have their first token in time",
    known_as=("max request rate for a TTFT SLO", "prefill capacity under a TTFT SLO"),
    conventions=(
        _IN_TURN,
        _UNEVEN,
        "0 where long prompts alone take longer: 4.6 times the mean prefill time for 99 %",
    ),
    derivation=lambda: _derive_prefill_rate(),
)

# The tokens after it ------------------------------------------------------------------------------

tpot_batch = Formula(
    q.tpot_batch,
    Min(
        n * BW * Max(0, T_token - t_weights) / cache,
        T_token * n * F / (c * new * N_active),
    ),
    using=(full_weight_time, cache_memory),
    source="derived: the step of the lecture (3:20), solved for its batch",
    meaning="sequences whose caches are read beside the weights, and whose arithmetic is done, in "
    "the time that a step may take",
    known_as=(
        "max batch size for a TPOT SLO",
        "batch size under a latency SLO",
        "batch for a latency target",
        "batch within a time per token",
    ),
    conventions=(
        "a step gives each sequence its token, so that TPOT is the time of a step",
        "reading overlaps with arithmetic; all weights are read; attention's arithmetic left out",
        "the context is the mean of the batch: see mean_context",
        "whether so many caches fit is another question: see batch_that_fits",
    ),
)

decode_request_rate = Formula(
    q.decode_request_rate,
    new * q.tpot_batch.symbol / (A * T_token),
    using=(tpot_batch,),
    source="Little 1961: sequences in the batch over the time that an answer takes",
    meaning="requests a second of a decode server whose step takes as long as is promised",
    known_as=("decode capacity under a TPOT SLO", "max request rate for a TPOT SLO"),
    conventions=(
        "the batch is full all the time; where it varies, some seats are kept spare: see "
        "seat_margin",
        "0 where reading the weights alone takes longer",
        "whether the caches of that batch fit is another question: see batch_that_fits",
    ),
    derivation=lambda: _derive_decode_rate(),
)

# Prefill and decode on servers of their own -------------------------------------------------------

prefill_per_decode_at_levels = Formula(
    q.prefill_per_decode,
    rate_decode / rate_prefill,
    name="prefill_per_decode_at_levels",
    source="derived; Zhong et al. 2024, DistServe",
    meaning="prefill servers for each decode server when both take as much as their promises allow",
    known_as=("best xPyD ratio", "PD ratio under SLOs"),
    conventions=(
        "rates of one server each: measured, or from prefill_request_rate and decode_request_rate",
        "each prefill server has a queue of its own",
    ),
    derivation=lambda: _derive_ratio(),
)

goodput = Formula(
    q.goodput,
    rate_prefill * rate_decode / (n_prefill * rate_decode + n * rate_prefill),
    using=(prefill_request_rate, decode_request_rate),
    source="derived; Zhong et al. 2024, DistServe",
    meaning="requests a second and chip within both promises, with prefill and decode servers in "
    "the best numbers",
    known_as=(
        "goodput under SLOs",
        "requests per second within SLO",
        "goodput of PD disaggregation",
    ),
    conventions=(
        "servers in proportion: see prefill_per_decode_at_levels; whole numbers of them reach less "
        "(goodput_of_split)",
        _IN_TURN,
        _UNEVEN,
        "the transfer of caches is hidden: see cache_transfer_bandwidth",
        "0 where one of the promises cannot be kept, and without a value where neither can",
        "whether the caches of tpot_batch fit is another question: see batch_that_fits",
    ),
    derivation=lambda: _derive_goodput(),
)

goodput_of_split = Formula(
    q.goodput,
    Min(x * rate_prefill, y * rate_decode) / (x * n_prefill + y * n),
    name="goodput_of_split",
    source="definition; Zhong et al. 2024, DistServe",
    meaning="requests a second and chip of so many prefill and decode servers: the slower kind "
    "decides",
    known_as=("xPyD", "goodput of 2P1D"),
    conventions=(
        "rates of one server each: measured, or from prefill_request_rate and decode_request_rate",
        "devices are the chips of a decode server",
    ),
)

cache_transfer_bandwidth = Formula(
    q.scale_out_bandwidth,
    rate * q.cache_memory.symbol / n_prefill,
    using=(
        Formula(
            q.cache_memory,
            cache_memory.expression.subs(q.context.symbol, P),
            register=False,
            source="definition",
            meaning="bytes that the cache of a prompt takes",
        ),
    ),
    name="cache_transfer_bandwidth",
    source="derived; Zhong et al. 2024, DistServe, section 3.3",
    meaning="rate at which each chip of a prefill server sends the caches of its prompts",
    known_as=("bandwidth for disaggregated serving", "network bandwidth for KV transfer"),
    conventions=(
        "a mean over time: with as much, caches leave as fast as prefill makes them",
        "every chip of the server sends its part, in one direction",
    ),
)

# Both on one server -------------------------------------------------------------------------------

goodput_colocated = Formula(
    q.goodput,
    Min(
        rate_prefill,
        Max(0, T_token - t_weights) / (T_token * (D / one + A * cache / (new * n * BW))),
        1 / (D / one + A * c * N_active / (n * F)),
    )
    / n,
    using=(prefill_request_rate, full_weight_time, cache_memory),
    name="goodput_colocated",
    source="derived",
    meaning="requests a second and chip of servers that stop decoding whenever a prompt comes",
    known_as=("goodput without disaggregation", "colocated prefill and decode"),
    conventions=(
        "prompts go first, and wait as on a server of their own, but for a step that has begun",
        "the promised time per token holds for the mean of an answer: single tokens wait for a "
        "whole prefill",
        "a limit for many requests at a time: of a few dozen, bursts make it longer by a tenth",
        "prefill and decode take turns: prompts in chunks, mixed into steps of decode, do better",
        "one new token a step; all weights are read; attention's arithmetic left out",
    ),
    derivation=lambda: _derive_colocated(),
)


def _derive_quantile() -> Derivation:
    d = Derivation("The percentile of the time to a first token")
    d.start(
        Eq(log(1 / (1 - p)), (1 / D - rate / one) * q.time_to_first_token.symbol),
        "in the queue M/M/1 the time from arrival to end is exponential: its rate is by how much "
        "work is done faster than it comes",
    )
    d.solve("time_to_first_token", "solve for the time")
    d.claim(
        Eq(q.time_to_first_token.symbol, D * log(1 / (1 - p)) / (1 - rate * D / one)),
        "prefill time of a long prompt, over the share of the time that is free",
    )
    return d


def _derive_mean_rate() -> Derivation:
    d = Derivation("Requests a second for a mean time to a first token")
    d.start(Eq(T_first, D + wait), "all of the promised time is used up")
    d.substitute(
        {"prefill_wait": rate * D**2 * (1 + spread**2) / (2 * (one - rate * D))},
        "the mean wait of Pollaczek and Khinchine",
    )
    d.solve("request_rate", "solve for the rate")
    found = one * (T_first - D) / D / (T_first - D + D * (1 + spread**2) / 2)
    d.claim(Eq(rate, found), "time left to wait, over that and the wait at half a load")
    return d


def _derive_prefill_rate() -> Derivation:
    d = Derivation("Requests a second for a percentile of the time to a first token")
    d.start(
        Eq(log(1 / (1 - p)), (1 / D - rate / one) * T_first),
        "in the queue M/M/1 the time from arrival to end is exponential: its rate is by how much "
        "work is done faster than it comes",
    )
    d.solve("request_rate", "solve for the rate")
    d.claim(
        Eq(rate, one * (1 / D - log(1 / (1 - p)) / T_first)),
        "what prefill could take, less what the promise costs, whatever the prompts",
    )
    return d


def _derive_decode_rate() -> Derivation:
    d = Derivation("Requests a second of decode, by Little's law")
    d.start(
        Eq(q.tpot_batch.symbol, rate_decode * A * T_token / new),
        "sequences in the batch are those that come in a second, times the seconds that each stays",
    )
    d.solve("decode_request_rate", "solve for the rate")
    return d


def _derive_ratio() -> Derivation:
    d = Derivation("Prefill servers for each decode server")
    d.start(
        Eq(q.prefill_per_decode.symbol * rate_prefill, rate_decode),
        "prefill servers pass on as many requests as one decode server takes",
    )
    d.solve("prefill_per_decode", "divide by what one prefill server takes")
    return d


def _derive_goodput() -> Derivation:
    d = Derivation("Requests a second and chip, with servers of two kinds")
    d.start(
        Eq(
            q.goodput.symbol,
            rate / (n_prefill * rate / rate_prefill + n * rate / rate_decode),
        ),
        "all requests, over the chips of as many servers of each kind as they need",
    )
    d.claim(
        Eq(
            q.goodput.symbol,
            rate_prefill * rate_decode / (n_prefill * rate_decode + n * rate_prefill),
        ),
        "the rate cancels: a larger service has more servers of both kinds",
    )
    return d


def _derive_colocated() -> Derivation:
    d = Derivation("Where prefill and decode share a server, and caches bound the step")
    d.start(
        Eq(
            T_token * (1 - rate * D / one),
            t_weights + q.batch.symbol * cache / (n * BW),
        ),
        "of the time between two tokens prefill takes a share, and the step has the rest",
    )
    d.substitute({"batch": rate * A * T_token / new}, "sequences in the batch, by Little's law")
    d.solve("request_rate", "solve for the rate")
    d.claim(
        Eq(
            rate,
            (T_token - t_weights) / (T_token * (D / one + A * cache / (new * n * BW))),
        ),
        "the share of the time that reading the weights leaves, over what a request takes of it",
    )
    d.start(
        Eq(q.goodput.symbol, rate / n),
        "and each chip has its share; the promise of the first token and arithmetic may set lower "
        "limits",
    )
    return d
