"""The place where a context waits for its next use: computed again, held, or fetched.

The lecture has it from 1:49:26.

Three prices compete for a token of context: computing its cache again, keeping it in some tier of
memory until it is wanted, and reading it back.  From them follow the hold times at which tiers take
over from each other.  The choice is Gray and Putzolu's of 1987, between memory and disk; their
numbers give their five minutes here too.

Conventions: one device of a tier feeds ``waiting_chips`` chips, idle for ``idle_share`` of the time
in which it is read (0 where reading is hidden behind other work).  A tier costs its medium, paid
off over ``storage_lifetime``: no server, network, power or second copy.  High-bandwidth memory
costs what its chip costs.  Rent and fare are added, as in the lecture, but not in ``written_cost``,
where a device is bought with room and door together and charges the larger of the two.

>>> llama = dict(active_parameters=70e9, kv_bytes_per_token=327_680, model_flops_utilisation=1)
>>> a800, h800 = (break_even_bandwidth(llama, peak_flops=peak) for peak in (312e12, 989e12))
>>> round(8 * a800 / 1e9), round(8 * h800 / 1e9)  # Mooncake's paper: 6 and 19 GB/s for eight chips
(6, 19)
>>> record = dict(
...     storage_price=5000 / 1e6, storage_lifetime=1, tier_capacity=1e6
... )  # $5,000 a megabyte
>>> memory = hold_rate(record, kv_bytes_per_token=1000, tier_price=tier_price(record))
>>> disc = retrieve_cost(kv_bytes_per_token=1000, tier_bandwidth=15 * 1000, waiting_price=15 * 2000)
>>> round(
...     break_even_time(hold_rate_saved=memory, retrieve_cost_added=disc)
... )  # seconds: "five minutes"
400
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from sympy import Eq, Expr, Max, Rational

from . import balance, facts, scenario
from .nearest import nearest
from .symbolic import quantities as q
from .symbolic.derivation import Derivation
from .symbolic.formula import Formula

(p, n, B, N_active, L, b, a, F, c, C, MFU) = (
    quantity.symbol
    for quantity in (
        q.device_price,
        q.devices,
        q.batch,
        q.active_parameters,
        q.context,
        q.kv_bytes_per_token,
        q.prefill_attention_flops_per_pair,
        q.peak_flops,
        q.flops_per_multiply_add,
        q.memory_capacity,
        q.model_flops_utilisation,
    )
)
(C_tier, BW_tier, p_tier, p_buy, T_wear, k_wait, idle, p_wait, T) = (
    quantity.symbol
    for quantity in (
        q.tier_capacity,
        q.tier_bandwidth,
        q.tier_price,
        q.storage_price,
        q.storage_lifetime,
        q.waiting_chips,
        q.idle_share,
        q.waiting_price,
        q.hold_time,
    )
)
(BW_in, new, n_tier) = (
    quantity.symbol for quantity in (q.tier_write_bandwidth, q.written_share, q.tier_devices)
)


class TierError(ValueError):
    """A tier, a price or a model that the comparison cannot use."""


# Three prices of a token --------------------------------------------------------------------------

rematerialise_cost = Formula(
    q.rematerialise_cost,
    p * c * N_active / (MFU * F),
    source="1:50:54",
    meaning="rent of a chip for as long as the token's prefill takes",
    conventions=("prefill is bound by arithmetic", "attention over the context left out"),
)

rematerialise_cost_with_attention = Formula(
    q.rematerialise_cost,
    p * (c * N_active + a * L * Rational(1, 2)) / (MFU * F),
    name="rematerialise_cost_with_attention",
    source="derived",
    meaning="rent of a chip for as long as the token's prefill takes, with attention: a token "
    "of a prompt attends, on average, to half of it",
    conventions=("the whole prompt of L tokens is computed again", "full-attention layers only"),
)

tier_price = Formula(
    q.tier_price,
    p_buy * C_tier / T_wear,
    source="definition",
    meaning="purchase, spread evenly over its life",
    conventions=("the medium alone: no server, network, power or second copy", "no interest"),
)

byte_hold_price = Formula(
    q.byte_hold_price,
    p_tier / C_tier,
    source="1:57:38",
    meaning="price of a device over its bytes",
    conventions=("the tier is full",),
)

hold_rate = Formula(
    q.hold_rate,
    b * p_tier / C_tier,
    source="1:57:38",
    meaning="a token's share of a tier's capacity, times the tier's price",
    conventions=("the tier is full",),
)

hold_rate_in_memory = Formula(
    q.hold_rate,
    b * p / C,
    name="hold_rate_in_memory",
    source="1:56:02",
    meaning="a token's share of a chip's own memory, times what the chip costs",
    conventions=("a full memory is what limits the chip, so that its whole price is the memory's",),
)

hold_cost = Formula(
    q.hold_cost,
    b * p_tier * T / C_tier,
    source="1:59:12",
    meaning="hold rate times hold time",
    conventions=("the tier is full", "one use at the end of the hold time"),
)

waiting_price = Formula(
    q.waiting_price,
    p_tier + idle * k_wait * p,
    source="1:57:53; derived",
    meaning="the device that is read, and the chips that have nothing else to do meanwhile",
    conventions=("idle share 0: reading is hidden behind other work; 1: the chips wait",),
)

retrieve_cost = Formula(
    q.retrieve_cost,
    b * p_wait / BW_tier,
    source="1:57:53",
    meaning="time to read a token back, times the price of what is busy or idle in that time",
    conventions=(
        "sequential reading at the full rate",
        "nothing for a chip's own memory: it is there already",
    ),
)

kept_cost = Formula(
    q.hold_cost,
    b * (p_buy * T / T_wear + (p_buy * C_tier / T_wear + idle * k_wait * p) / BW_tier),
    name="kept_cost",
    source="1:57:38; derived",
    meaning="a token kept in a tier for the hold time, then read back: a rent that grows, and a "
    "fare",
    conventions=(
        "the tier is full",
        "the medium alone: no server, network, power or second copy",
        "idle share 0: reading is hidden behind other work; 1: the chips wait",
    ),
    derivation=lambda: _derive_kept(),
)

written_cost = Formula(
    q.hold_cost,
    b
    * (
        p_buy / T_wear * Max(T, C_tier * (1 + new) / BW_tier, C_tier * new / BW_in)
        + idle * k_wait * p / (n_tier * BW_tier)
    ),
    name="written_cost",
    source="2:00:37; derived",
    meaning="a token written to a tier, kept there for the hold time and read back: its share of "
    "the room or of the door, whichever is larger, and the chips that wait",
    conventions=(
        "a device is bought with room and door together, so rent and fare are not added",
        "written through the door through which it is read, as fast; and on average no faster than "
        "its rated writes allow",
        *kept_cost.conventions[1:],
        "written shares of 0: it lies there already; 1: all of it is new",
        "chips do not wait while it is written",
        "devices that are read together share the wait; what a byte costs each of them stays",
    ),
)

kept_cost_in_memory = Formula(
    q.hold_cost,
    b * p * T / C,
    name="kept_cost_in_memory",
    source="1:56:02",
    meaning="a token kept in the chip's own memory: no fare, and the rent of the chip",
    conventions=("a full memory is what limits the chip, so that its whole price is the memory's",),
)

# The same for a whole context ---------------------------------------------------------------------

context_cost_in_memory = Formula(
    q.context_cost,
    L * q.hold_cost.symbol,
    using=(kept_cost_in_memory,),
    name="context_cost_in_memory",
    source="1:56:02",
    meaning="a context held in the chip's own memory: its share of the room, of the chip's rent",
    conventions=kept_cost_in_memory.conventions,
)

context_cost_kept = Formula(
    q.context_cost,
    L * q.hold_cost.symbol,
    using=(kept_cost,),
    name="context_cost_kept",
    source="1:57:38; derived",
    meaning="a context kept in a tier for the hold time, then read back: rent and fare, added",
    known_as=("cost to store a KV cache",),
    conventions=kept_cost.conventions,
)

context_cost_written = Formula(
    q.context_cost,
    L * q.hold_cost.symbol,
    using=(written_cost,),
    name="context_cost_written",
    source="1:57:38; derived",
    meaning="a context written to a tier, kept there and read back: rent or fare, whichever is "
    "larger, and the chips that wait",
    conventions=written_cost.conventions,
)

context_cost_again = Formula(
    q.context_cost,
    L * q.rematerialise_cost.symbol,
    using=(rematerialise_cost_with_attention,),
    name="context_cost_again",
    source="1:50:54; derived",
    meaning="a context computed again: a chip's rent for as long as its prefill takes",
    conventions=rematerialise_cost_with_attention.conventions,
)

# In cents for a thousand contexts, as the chapter counts.
(context_cents_in_memory, context_cents_written, context_cents_again) = (
    Formula(
        q.context_cents,
        100_000 * q.context_cost.symbol,
        using=(formula,),
        register=False,
        name=formula.name.replace("_cost_", "_cents_"),
        source=formula.source,
        meaning=f"{formula.meaning}; in cents for a thousand",
        conventions=formula.conventions,
    )
    for formula in (context_cost_in_memory, context_cost_written, context_cost_again)
)

prefill_again_flops = Formula(
    q.prefill_again_flops,
    L * (c * N_active + a * L * Rational(1, 2)),
    name="prefill_again_flops",
    source="1:50:54; derived",
    meaning="arithmetic of a prompt: each token goes through the weights and, on average, attends "
    "to half of it",
    conventions=("the whole prompt of L tokens is computed again", "full-attention layers only"),
)

prefill_again_time = Formula(
    q.prefill_again_time,
    B * q.prefill_again_flops.symbol / (n * MFU * F),
    using=(prefill_again_flops,),
    name="prefill_again_time",
    source="1:50:54; derived",
    meaning="time in which the chips compute these contexts again",
    conventions=("prefill is bound by arithmetic", "each context is a prompt of L tokens"),
)

break_even_bandwidth = Formula(
    q.tier_bandwidth,
    b * MFU * F / (c * N_active),
    name="break_even_bandwidth",
    source="derived; Qin et al., Mooncake (FAST 2025) has it for a group of chips",
    meaning="bandwidth for each chip beyond which loading a cache is quicker than computing it",
    known_as=(
        "KV cache offload",
        "load or recompute a KV cache",
    ),
    conventions=(
        "attention left out: with it computing takes longer, and a slower link will do",
        "utilisation 1 is the strictest test of a link",
    ),
)

# Who wins when ------------------------------------------------------------------------------------

break_even_time = Formula(
    q.break_even_time,
    q.retrieve_cost_added.symbol / q.hold_rate_saved.symbol,
    source="1:50:11; Gray and Putzolu 1987, the five-minute rule",
    meaning="hold time at which a near place, dear to keep, costs as much as a far one, dear to "
    "fetch from",
    conventions=(
        "one use at the end of the hold time",
        "computing again: a far place that is free to keep",
    ),
    derivation=lambda: _derive_break_even(),
)

again_break_even_time = Formula(
    q.break_even_time,
    C * q.prefill_again_flops.symbol / (L * b * MFU * F),
    using=(prefill_again_flops,),
    name="again_break_even_time",
    source="1:50:11; derived",
    meaning="hold time beyond which computing a context again costs less than holding it on the "
    "chip",
    known_as=("recompute or keep a cache", "evict or keep a KV cache"),
    conventions=("the same chip does both, so that its price cancels",),
)

matched_hold_time = Formula(
    q.hold_time,
    C_tier / BW_tier * p_wait / p_tier,
    name="matched_hold_time",
    source="2:00:37; derived",
    meaning="hold time at which keeping in a tier costs as much as reading back from it",
    derivation=lambda: _derive_drain(),
)

drained_hold_time = Formula(
    q.hold_time,
    C_tier / BW_tier,
    name="drained_hold_time",
    source="2:00:37",
    meaning="hold time at which keeping costs as much as reading back, where the device that is "
    "read is all that is busy: the tier's drain time",
    conventions=(
        "idle share 0: with chips waiting the time is longer by their price over the device's",
    ),
    derivation=lambda: _derive_drain(),
)

drained_capacity = Formula(
    q.tier_capacity,
    BW_tier * T,
    name="drained_capacity",
    source="2:01:02",
    meaning="capacity that a device of this bandwidth reads once through in the hold time",
)

filling_rate = Formula(
    q.tier_write_bandwidth,
    C_tier / T,
    name="filling_rate",
    source="derived",
    meaning="rate at which a device is written that is filled once in every hold time",
)

held_share = Formula(
    q.held_share,
    B * L * b / (n * C_tier),
    source="2:02:20",
    meaning="share of a tier's devices that these contexts fill",
    conventions=("devices counts those of the tier",),
)

retrieve_time = Formula(
    q.retrieve_time,
    B * L * b / (n * BW_tier),
    source="2:02:47",
    meaning="time to read these contexts back, over all devices of the tier",
    known_as=("time to load KV caches from CPU or SSD",),
    conventions=("devices counts those of the tier",),
)

retrieve_time_rule = Formula(
    q.retrieve_time,
    T * q.held_share.symbol,
    using=(held_share,),
    name="retrieve_time_rule",
    source="2:02:55",
    meaning="retrieve time is hold time × share of capacity, in a tier that is drained in the "
    "hold time",
    conventions=("the tier was chosen so that its drain time is the hold time",),
    derivation=lambda: _derive_retrieve_rule(),
)

eviction_time = Formula(
    q.break_even_time,
    k_wait * C / BW_tier,
    name="eviction_time",
    source="derived",
    meaning="hold time beyond which a cache should leave the chip's memory, if the chips wait for "
    "its return",
    conventions=(
        "idle share 1",
        "the next tier costs nothing beside the chips: no price is left in the result",
    ),
    derivation=lambda: _derive_eviction(),
)


# From facts ---------------------------------------------------------------------------------------

FIVE_YEARS = 5 * 365.25 * 86_400.0


def drains() -> list[dict[str, Any]]:
    """Return every tier on file with its drain time, shortest first.

    The drain time is capacity ÷ bandwidth of one device.

    It is capacity ÷ bandwidth of one device.

    >>> shortest, *_, longest = drains()
    >>> (
    ...     shortest["tier"][:3],
    ...     round(1e3 * shortest["drain_time_s"]),
    ...     longest["drain_time_s"] > 12 * 3600,
    ... )
    ('HBM', 13, True)
    """
    rows = [
        {
            "name": row.name,
            "tier": row["tier"],
            "verified": row.verified,
            "drain_time_s": balance.drain_time(
                memory_capacity=row["capacity_bytes"],
                memory_bandwidth=row["read_bandwidth_bytes_per_s"],
            ),
        }
        for row in facts.load("memory_tiers")
        if row["capacity_bytes"] and row["read_bandwidth_bytes_per_s"]
    ]
    return sorted(rows, key=lambda row: row["drain_time_s"])


def device(start: str, *, chips: int = 1) -> dict[str, float]:
    """Return the inputs of `context_cost_written` for a device on file, whose name begins so.

    Its price is its own, else that of its kind, in the middle of its range; `chips` wait for it.
    It is written as fast as it is read, unless it is rated for less over `FIVE_YEARS`.

    >>> round(device("Micron 9650 Pro 30.72")["storage_price"] * 1e9, 2)  # dollars a gigabyte
    0.19
    >>> round(device("Micron 9650 Pro 30.72")["tier_write_bandwidth"] / 1e6)  # one filling a day
    355
    >>> device("Micron 9651")
    Traceback (most recent call last):
    ...
    handful.tiers.TierError: No device on file begins with 'Micron 9651'.
    """
    row = next((row for row in facts.load("memory_tiers") if row.name.startswith(start)), None)
    if row is None:
        raise TierError(f"No device on file begins with {start!r}.")
    bought = _usd_per_gb(row, "mid")
    if bought is None:
        raise TierError(f"{row.name} has no price on file.")
    read, rated = row["read_bandwidth_bytes_per_s"], row["rated_writes_bytes"]
    return {
        "storage_price": bought / 1e9,
        "tier_capacity": row["capacity_bytes"],
        "tier_bandwidth": read,
        "tier_write_bandwidth": min(read, rated / FIVE_YEARS) if rated else read,
        "waiting_chips": chips,
    }


def offers(
    *,
    utilisation: float = 0.3,
    lifetime: float | str = FIVE_YEARS,
    idle_share: float = 1.0,
    price: str = "mid",
    usd_per_gb: Mapping[str, float] | None = None,
    **choice: Any,
) -> list[dict[str, Any]]:
    """Return what each way to a token of context costs.

    The ways are the chip's memory, every tier with a price, and computing again.

    Parameters
    ----------
    utilisation : float
        Share of the peak rate that prefill reaches, above 0 to 1; published servers of DeepSeek-V3
        come to about 0.3 of the fp8 peak (``measured_serving``).
    lifetime : float or str
        Time over which storage is paid off, in seconds or written with a unit; an assumption.
    idle_share : float
        Share of the reading time in which the chips wait, 0 to 1.
    price : str
        "low", "mid" (the geometric mean) or "high" of the prices on file.
    usd_per_gb : mapping, optional
        Prices that replace those on file, by the first word of the tier ("DDR5", "CXL") or a row's
        name.
    **choice
        Scenario: hardware, model, precision, context (the prompt to compute again), or values by
        API name.

    Returns
    -------
    list of dict
        name, tier, usd_per_gb, hold_usd_per_token_s, retrieve_usd_per_token.  A row without a price
        takes that of another row of its kind.  Left out are tiers of which no price is known, hosts
        of other chips, rows that are not verified (unless they are given a price), and clusters, of
        which the chips that wait cannot be told.

    Raises
    ------
    TierError, QuantityError, ScenarioError
        A chip or a price that is not on file, or a value out of range.

    >>> [offer["tier"] for offer in offers()][0], offers()[-1]["hold_usd_per_token_s"]
    ('chip memory', 0.0)
    """
    known = scenario.values(**choice)
    if known["device_price"] is None:
        raise TierError("This chip has no price on file; give device_price, in dollars a second.")
    if price not in ("low", "mid", "high"):
        raise TierError(f"price must be low, mid or high; got {price!r}.")
    assumed: dict[str, float | str | None] = {
        **known,
        "model_flops_utilisation": utilisation,
        "storage_lifetime": lifetime,
        "idle_share": idle_share,
    }
    chip = str(choice.get("hardware", scenario.DEFAULT["hardware"])).strip().lower()
    rows = [
        row
        for row in facts.load("memory_tiers")
        if row["capacity_bytes"]
        and not row["tier"].startswith("HBM")
        and "cluster" not in row["tier"]
        # A host is that of some chips: two GPUs hang on a Grace, eight on a server with PCIe.
        and chip in (row["chips"].lower().split("; ") if row["chips"] else [chip])
    ]
    given = dict(usd_per_gb or {})
    kinds = {name for row in rows for name in (row.name, _kind(row))}
    for name in given:
        if name not in kinds:
            near = nearest(name, sorted(kinds))
            raise TierError(f"There is no tier {name!r}; the nearest are: {near}.")
    found = [_offer("chip memory", "chip memory", hold_rate_in_memory(assumed), 0.0)]
    for row in rows:
        bought = given.get(row.name, given.get(_kind(row)))
        if bought is None and row.verified:
            bought = _usd_per_gb(row, price)
        if bought is not None:
            at = {
                **assumed,
                "storage_price": bought / 1e9,
                "tier_capacity": row["capacity_bytes"],
                "tier_bandwidth": row["read_bandwidth_bytes_per_s"],
                "waiting_chips": _chips(row),
            }
            at["tier_price"] = tier_price(at)
            at["waiting_price"] = waiting_price(at)
            found.append(_offer(row.name, row["tier"], hold_rate(at), retrieve_cost(at), bought))
    return [
        *found,
        _offer("compute again", "compute again", 0.0, rematerialise_cost_with_attention(assumed)),
    ]


def breakpoints(**choice: Any) -> list[dict[str, Any]]:
    """Return the cheapest way for every hold time: of `offers`, with from_s and to_s.

    Arguments are those of `offers`.

    >>> times = [(way["tier"], way["to_s"]) for way in breakpoints()]
    >>> times[0][0], times[-1]
    ('chip memory', ('compute again', inf))
    """
    ways, start, found = offers(**choice), 0.0, []
    now = min(ways, key=lambda way: (way["retrieve_usd_per_token"], way["hold_usd_per_token_s"]))
    while True:
        later = [
            (_crossing(now, way), way["hold_usd_per_token_s"], way["name"], way)
            for way in ways
            if way["hold_usd_per_token_s"] < now["hold_usd_per_token_s"]
        ]
        end, *_, following = min(later, default=(math.inf, None))
        found.append({**now, "from_s": start, "to_s": end})
        if following is None:
            return found
        start, now = end, following


def best_tier(hold_time: float | str, **choice: Any) -> dict[str, Any]:
    """Return the cheapest way to a token that is wanted again after `hold_time`.

    Its cost is in usd_per_token.

    >>> best_tier("1 second")["tier"], best_tier("10000 hours")["tier"]
    ('chip memory', 'compute again')
    >>> best_tier("1 GB")
    Traceback (most recent call last):
    ...
    handful.symbolic.quantity.QuantityError: hold_time must be a time; '1 GB' is a byte.
    """
    time = q.hold_time.check(hold_time)
    ways = [
        {**way, "usd_per_token": way["hold_usd_per_token_s"] * time + way["retrieve_usd_per_token"]}
        for way in offers(**choice)
    ]
    return min(ways, key=lambda way: way["usd_per_token"])


def _kind(row: facts.Row) -> str:
    kind: str = row["tier"].split()[0]
    return kind


def _chips(row: facts.Row) -> int:
    """Return the chips behind one such device: a number beside the word GPU, else one."""
    found = re.search(r"(\d+)[ -]GPU", f"{row['tier']}; {row.name}")
    return int(found[1]) if found else 1


def _usd_per_gb(row: facts.Row, price: str) -> float | None:
    """Return the row's own price, else that of the first row of its kind that has one."""
    for other in (row, *facts.load("memory_tiers")):
        low, high = other["usd_per_gb_low"], other["usd_per_gb_high"]
        if _kind(other) == _kind(row) and low and high:
            prices: dict[str, float] = {"low": low, "mid": math.sqrt(low * high), "high": high}
            return prices[price]
    return None


def _offer(
    name: str, tier: str, hold: float, retrieve: float, usd_per_gb: float | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        "tier": tier,
        "usd_per_gb": usd_per_gb,
        "hold_usd_per_token_s": hold,
        "retrieve_usd_per_token": retrieve,
    }


def _crossing(near: Mapping[str, Any], far: Mapping[str, Any]) -> float:
    time: float = break_even_time(
        hold_rate_saved=near["hold_usd_per_token_s"] - far["hold_usd_per_token_s"],
        retrieve_cost_added=far["retrieve_usd_per_token"] - near["retrieve_usd_per_token"],
    )
    return time


# Derivations --------------------------------------------------------------------------------------


def _place(name: str, expression: Expr) -> Formula:
    return Formula(
        q.hold_cost,
        expression,
        register=False,
        name=name,
        source="1:57:38",
        meaning="keeping, then fetching",
    )


def _derive_kept() -> Derivation:
    d = Derivation("A rent that grows with time, and a fare that does not")
    d.start(
        Eq(q.hold_cost.symbol, b * p_tier * T / C_tier + b * p_wait / BW_tier),
        "a share of the device for the hold time, and all that waits while the token is read",
    )
    d.substitute({"waiting_price": p_tier + idle * k_wait * p}, "the device itself, and idle chips")
    d.substitute({"tier_price": p_buy * C_tier / T_wear}, "the device is paid off over its life")
    return d


def _derive_break_even() -> Derivation:
    d = Derivation("How long to keep a context near before it should go far")
    d.equate(
        _place("near", q.hold_rate_saved.symbol * T),
        _place("far", q.retrieve_cost_added.symbol),
        "what staying near costs more, all the time, against what going far costs more, once",
    )
    d.solve("hold_time", "a rate under a price: a time")
    return d


def _derive_drain() -> Derivation:
    d = Derivation("Why a tier suits the hold time in which it could be read once through")
    d.equate(
        hold_cost,
        retrieve_cost,
        "a tier too fast is dear to keep in, one too slow dear to fetch from: balance them",
    )
    d.solve("hold_time", "the token's bytes cancel")
    d.substitute(
        {"waiting_price": p_tier},
        "if the device being read is all that is busy, its price cancels too",
    )
    return d


def _derive_retrieve_rule() -> Derivation:
    d = Derivation("Retrieve time is hold time × share of capacity")
    d.start(retrieve_time, "bytes of the contexts over the bandwidth of the tier")
    d.substitute({"tier_bandwidth": C_tier / T}, "the tier is one that is drained in the hold time")
    d.substitute(
        {"tier_capacity": B * L * b / (n * q.held_share.symbol)},
        "and these contexts fill a share of it",
    )
    return d


def _derive_eviction() -> Derivation:
    d = Derivation("When a cache should leave the chip's memory")
    d.equate(
        _place("memory", hold_rate_in_memory.expression * T),
        _place("next", b * k_wait * p / BW_tier),
        "keep it on the chip, or let the chips wait for its return",
    )
    d.solve("hold_time", "the price of the chip is on both sides, and cancels")
    return d
