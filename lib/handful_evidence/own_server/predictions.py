"""Say what follows from a fit: steps at other loads, and what would help within a promise."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handful import latency, scenario
from handful.units import format_value

from .fit import DRAWS, LEVEL, NAMES, Fit
from .points import Point, times

if TYPE_CHECKING:
    pass

FAR = 1e7  # sequences, beyond all that anybody serves at a time
REACH = 4  # times the largest batch that was measured: beyond it nothing is predicted
GAP = 1.1  # between lengths that are not alike
NEAR = 1.5  # of a context, for points that are like it
HELD = 0.6  # of the requests in flight decode: the others wait
SOME, GRID = 40, 200  # draws and batches for the intervals of what a server could give


def usual_load(usable: Sequence[Point]) -> dict[str, Any]:
    """Return the values of the load that is asked about where nobody names one.

    Of the lengths of prompt and answer that most points have (those in the middle, where several
    have as many), the point in the middle by batch.

    >>> from handful_evidence.own_server import points
    >>> from handful_evidence.result_files import Run
    >>> loads = [(1, 1000), (8, 1010), (64, 990), (2, 8000), (32, 8000)]
    >>> runs = [Run("a", "CSV", n, prompt, 500, 0.1, 0.0) for n, prompt in loads]
    >>> found = usual_load(points(runs, "H100 SXM", "Llama 3.1 70B", "fp8", devices=8))
    >>> found["batch"], found["context"]
    (8.0, 1260.0)
    """
    alike: list[list[Point]] = [
        some
        for of_prompt in _alike(usable, lambda one: 1 + (one.run.input_tokens or 0))
        for some in _alike(of_prompt, lambda one: one.run.output_tokens or 1)
    ]
    most = [some for some in alike if len(some) == max(map(len, alike))]
    some = sorted(most[len(most) // 2], key=lambda one: float(one.known["batch"]))
    return dict(some[len(some) // 2].known)


def _alike(some: Iterable[Point], length: Callable[[Point], float]) -> Iterator[list[Point]]:
    """Yield the points in groups, the shortest first: lengths in one go on without a gap."""
    group: list[Point] = []
    for one in sorted(some, key=length):
        if group and length(one) > GAP * length(group[-1]):
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def parts(found: Fit, known: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds of a step that each part of it takes, by the fit.

    Reading `weights` and `caches`, arithmetic for `prompts` and for `answers`, and what is `fixed`.

    >>> import numpy as np
    >>> here = scenario.values("H100 SXM", "Llama 3.1 70B", "fp8", 4000, batch=8)
    >>> made = Fit(dict(zip(NAMES, (0.5, 0.5, 1e-3))), {}, 9, (), np.ones((1, 3)), np.zeros(1))
    >>> {
    ...     name: round(1e3 * one, 2)
    ...     for name, one in parts(made, {**here, "prompt_per_answer": 9}).items()
    ... }
    {'weights': 5.27, 'caches': 0.39, 'prompts': 1.28, 'answers': 0.14, 'fixed': 1.0}
    """
    reading, computing = (found.values[name] for name in NAMES[:2])
    weights, whole = (float(part(known)) for part in (latency.weight_time, latency.memory_time))
    answers = float(latency.compute_time(known)) / computing
    return {
        "weights": weights / reading,
        "caches": (whole - weights) / reading,
        "prompts": answers * known["prompt_per_answer"],
        "answers": answers,
        "fixed": float(found.values["fixed_time"]),
    }


def limit(of: Mapping[str, float]) -> str:
    """Return what most of a step goes to: reading, arithmetic, or fixed time.

    >>> limit({"weights": 3, "caches": 1, "prompts": 2, "answers": 3, "fixed": 4.5})
    'arithmetic'
    """
    sums = {
        "reading": of["weights"] + of["caches"],
        "arithmetic": of["prompts"] + of["answers"],
        "fixed time": of["fixed"],
    }
    return max(sums, key=lambda name: sums[name])


def uneven_heads(known: Mapping[str, Any]) -> str:
    """Return a sentence where the chips of a node cannot share a model's heads evenly, else "".

    >>> uneven_heads({"attention_heads": 64, "devices": 3})[:36], uneven_heads(scenario.values())
    ('64 heads do not divide among 3 chips', '')
    """
    heads, chips = known["attention_heads"], known["devices"]
    if chips > scenario.NODE or heads % chips == 0:
        return ""
    return (
        f"{heads:g} heads do not divide among {chips:g} chips, and engines that share every layer "
        "refuse that: are the chips counted right?"
    )


@dataclass(frozen=True)
class FirstToken:
    """Hold what is known of the time to the first token of a load, in seconds.

    `count` points of about its context have one, `low` to `high` with `median`; `nearest` is that
    of the point whose batch is nearest.  `alone` is a prompt of `prompt` tokens by itself, by the
    fit, without attention's own arithmetic; 0 where the load has no prompts.
    """

    count: int
    low: float
    median: float
    high: float
    nearest: Point | None
    prompt: float
    alone: float


def first_token(found: Sequence[Point], fitted: Fit, known: Mapping[str, Any]) -> FirstToken:
    """Return what files say of the time to the first token, and what a prompt takes by itself.

    How long a request waits for its turn no step tells, so nothing is predicted of a busy server.

    >>> from handful_evidence.own_server import fit, points
    >>> from handful_evidence.result_files import Run
    >>> runs = [Run("a", "CSV", n, 1000, 500, 0.01 * n, 0.1 * n) for n in (1, 2, 4, 8)]
    >>> made = points(runs, "H100 SXM", "Llama 3.1 70B", "fp8", devices=8)
    >>> told = first_token(made, fit(made), made[1].known)
    >>> told.count, told.low, told.high, told.prompt
    (4, 0.1, 0.8, 1000.0)
    """
    timed = [
        one
        for one in found
        if not one.why_not
        and one.run.time_to_first_token
        and 1 / NEAR < one.known["context"] / known["context"] < NEAR
    ]
    waits = [one.run.time_to_first_token or 0.0 for one in timed]
    nearest = min(
        timed, key=lambda one: abs(math.log(one.known["batch"] / known["batch"])), default=None
    )
    share = known["prompt_per_answer"]
    prompt = known["context"] * share / (share + 0.5)
    alone = {**known, "batch": prompt, "context": 0.0, "prompt_per_answer": 0.0}
    return FirstToken(
        len(timed),
        min(waits, default=math.nan),
        statistics.median(waits) if waits else math.nan,
        max(waits, default=math.nan),
        nearest,
        float(prompt),
        float(fitted.predicted(alone)) if prompt >= 1 else 0.0,
    )


def knee(found: Fit, known: Mapping[str, Any]) -> float:
    """Return the batch at which a server gives half of the tokens that any batch could give.

    A step is a part that is there anyway (weights, fixed time) and one that grows with the batch.
    inf where nothing grows.

    >>> import numpy as np
    >>> here = scenario.values("H100 SXM", "Llama 3.1 70B", "fp8", 4000, batch=1)
    >>> ideal = Fit(dict(zip(NAMES, (1, 1, 0))), {}, 9, (), np.ones((1, 3)), np.zeros(1))
    >>> at = knee(ideal, here | {"prompt_per_answer": 0})
    >>> step = ideal.predicted(here | {"prompt_per_answer": 0, "batch": at})
    >>> round(step / latency.weight_time(here), 4)  # a dense model: as much again
    2.0
    """
    most = FAR / found.predicted({**known, "batch": FAR})
    if most > 0.5 * FAR / found.predicted({**known, "batch": 1.0}):
        return math.inf
    return _bisected(
        lambda batch: batch / found.predicted({**known, "batch": batch}) >= most / 2, 1.0, FAR
    )


def best_measured(found: Sequence[Point], step: float) -> Point | None:
    """Return the measured point with most tokens a second and chip within `step`, or None.

    >>> from handful_evidence.own_server import points
    >>> from handful_evidence.result_files import Run
    >>> runs = [Run(f"{n}", "CSV", n, 1000, 500, 0.01 + 0.0001 * n) for n in (1, 50, 200)]
    >>> made = points(runs, "H100 SXM", "Llama 3.1 70B", "fp8", devices=8)
    >>> best_measured(made, 0.02).run.source
    '50'
    """
    within = [one for one in found if not one.why_not and one.measured <= step]
    return max(
        within,
        key=lambda one: float(one.known["batch"] / one.measured / one.known["devices"]),
        default=None,
    )


def at_context(known: Mapping[str, Any], context: float) -> dict[str, Any]:
    """Return a load at another context: answers as long as they are, and prompts that fill it.

    >>> at_context({"context": 1250, "prompt_per_answer": 2, "batch": 8}, 5250)
    {'context': 5250, 'prompt_per_answer': 10.0, 'batch': 8}
    """
    share = known["prompt_per_answer"]
    if share:
        answer = known["context"] / (share + 0.5)
        share = max(context / answer - 0.5, 0.0)
    return {**known, "context": context, "prompt_per_answer": share}


def missed_near(found: Sequence[Point], fitted: Fit, context: float) -> float | None:
    """Return measured over fitted of the middle one of the points at about a context, or None."""
    near = [
        one.measured / fitted.predicted(one.known)
        for one in found
        if not one.why_not and 1 / NEAR < one.known["context"] / context < NEAR
    ]
    return statistics.median(near) if near else None


def held_back(found: Sequence[Point]) -> str:
    """Return a sentence where many more requests were in flight than decoded, else "".

    >>> from handful_evidence.own_server import points
    >>> from handful_evidence.result_files import Run
    >>> run = Run("a.csv", "CSV", 128, 1000, 500, 0.02, 9.0)
    >>> held_back(points([run], "H100 SXM", "Llama 3.1 70B", "fp8", devices=8))[:46]
    'Of 128 requests in flight 67 decoded at a time'
    """
    waiting = [
        one
        for one in found
        if not one.why_not
        and one.run.concurrency
        and one.known["batch"] < HELD * one.run.concurrency
    ]
    if not waiting:
        return ""
    most = max(waiting, key=lambda one: float(one.run.concurrency or 0))
    return (
        f"Of {format_value(most.run.concurrency or 0, '1', 3)} requests in flight "
        f"{format_value(most.known['batch'], '1', 2)} decoded at a time ({most.run.source}); the "
        "others waited for their prompts, or for a place: for memory, or for the server's limit of "
        "sequences."
    )


def largest_batch(found: Fit, known: Mapping[str, Any], step: float, reach: float = FAR) -> float:
    """Return the sequences that decode at a time within `step` seconds and within memory.

    Whole sequences, no more than `reach`, 0 where one alone takes longer.  A step is no straight
    line in the batch: with experts it rises fast until all of them are read.
    """
    fits = scenario.room(known)
    most = reach if fits is None else float(min(fits, reach))
    if most < 1 or found.predicted({**known, "batch": 1.0}) > step:
        return 0.0
    if found.predicted({**known, "batch": most}) <= step:
        return float(math.floor(most))
    late = _bisected(lambda batch: found.predicted({**known, "batch": batch}) > step, 1.0, most)
    return float(math.floor(late))


def _bisected(is_beyond: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition that holds from some point on begins to hold, from below."""
    if is_beyond(low):
        return low
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return low


@dataclass(frozen=True)
class Change:
    """Describe a change to a server: what is assumed, and what it would give.

    `devices` counts the chips, with those that prompts need where they are on chips of their own.
    `throughput` is in tokens a second, `each` of them a chip, and `cost` in dollars a token (None
    without a price), at the service level; `gain` is `each` over that of the server as it is.
    `cost_interval` and `gain_interval` are those of 90 %, by the bootstrap.
    """

    name: str
    assumes: str
    batch: float
    devices: float
    throughput: float
    each: float
    cost: float | None
    gain: float
    cost_interval: tuple[float, float] | None = None
    gain_interval: tuple[float, float] = (1.0, 1.0)


def best_at(found: Fit, known: Mapping[str, Any], step: float, reach: float = FAR) -> Change:
    """Return what the server as it is could give within `step` seconds a token.

    With no more than `reach` sequences at a time: a fit knows little of many times what was
    measured.
    """
    return _change("as it is", "", found, known, step, reach, None)


def changes(
    found: Fit, known: Mapping[str, Any], step: float, reach: float = FAR, most: int = 3
) -> list[Change]:
    """Return the changes that help most within `step` seconds a token, the largest gain first.

    Tokens a second and chip count, which is tokens per dollar where chips cost the same.
    """
    import dataclasses

    now = best_at(found, known, step, reach)
    halved = dataclasses.replace(
        found,
        values={**found.values, "fixed_time": found.values["fixed_time"] / 2},
        draws=found.draws * [1, 1, 0.5],
    )
    byte = float(known["bytes_per_parameter"])
    tried: list[tuple[str, str, Fit, dict[str, Any], float]] = [
        (
            f"weights in {4 * byte:g} bits instead of {8 * byte:g}",
            "the same efficiencies, arithmetic at the same rate, and answers as good",
            found,
            {**known, "bytes_per_parameter": byte / 2},
            0.0,
        ),
        (
            "caches in half the bytes",
            "the same efficiencies, and answers as good",
            found,
            {
                **known,
                "kv_bytes_per_token": known["kv_bytes_per_token"] / 2,
                "window_cache_memory": known["window_cache_memory"] / 2,
            },
            0.0,
        ),
        (
            "half the fixed time of a step",
            "what the server does between steps, and in each layer whatever its size, is halved",
            halved,
            {**known},
            0.0,
        ),
        (
            "twice the chips for one copy of the model",
            "reading and arithmetic shared by twice as many, the same fixed time; more messages "
            "between chips are not counted",
            found,
            {**known, "devices": 2 * known["devices"]},
            0.0,
        ),
    ]
    if known["devices"] > 1:
        tried.append(
            (
                "half the chips for one copy of the model",
                "reading and arithmetic shared by half as many, the same fixed time",
                found,
                {**known, "devices": known["devices"] / 2},
                0.0,
            )
        )
    if known["prompt_per_answer"]:
        tried.append(
            (
                "prompts on chips of their own",
                "as many more chips as their arithmetic fills at the same efficiency; what those "
                "read, and the caches that they send, is not counted",
                found,
                {**known, "prompt_per_answer": 0.0},
                known["prompt_per_answer"],
            )
        )
    made = [
        _change(name, why, fitted, values, step, reach, (found, known, now), elsewhere)
        for name, why, fitted, values, elsewhere in tried
    ]
    return sorted((one for one in made if one.gain > 1.01), key=lambda one: -one.gain)[:most]


def _change(
    name: str,
    assumes: str,
    found: Fit,
    known: Mapping[str, Any],
    step: float,
    reach: float,
    before: tuple[Fit, Mapping[str, Any], Change] | None,
    elsewhere: float = 0.0,
) -> Change:
    """Return what a server gives within a step.

    Chips of their own read `elsewhere` tokens of prompt for each of an answer, as many chips as
    their arithmetic fills.
    """
    batch = largest_batch(found, known, step, reach) if _holds(known) else 0.0
    taken = found.predicted({**known, "batch": batch}) if batch else math.inf
    throughput = batch / taken
    devices = known["devices"]
    if batch and elsewhere:
        prompts = elsewhere * latency.compute_time({**known, "batch": batch})
        devices *= 1 + prompts / found.values["compute_efficiency"] / taken
    price = known.get("device_price")
    cost = devices * price / throughput if price and throughput else None
    each = throughput / devices
    drawn = _drawn(found, known, step, reach, each, elsewhere)
    ends = cost_ends = (1.0, 1.0)
    gain = 1.0
    if before is not None:
        now = before[2]
        gain = each / now.each if now.each else 0.0
        ends = _ends(
            a / b if b else 0.0
            for a, b in zip(drawn, _drawn(*before[:2], step, reach, now.each), strict=True)
        )
    if cost is not None and price:
        cost_ends = _ends(price / one if one else math.inf for one in drawn)
    return Change(
        name,
        assumes,
        batch,
        float(devices),
        throughput,
        each,
        cost,
        gain,
        None if cost is None else cost_ends,
        ends,
    )


def _ends(values: Iterable[float]) -> tuple[float, float]:
    """Return the ends of the interval of 90 %: one of the values each, as some may be inf."""
    found = sorted(values)
    last = len(found) - 1
    return found[round(last * (1 - LEVEL) / 2)], found[round(last * (1 + LEVEL) / 2)]


def _drawn(
    found: Fit,
    known: Mapping[str, Any],
    step: float,
    reach: float,
    each: float,
    elsewhere: float = 0.0,
) -> list[float]:
    """Return tokens a second and chip within `step`, for some draws of the bootstrap.

    By the steps at `GRID` batches, with straight lines between their logarithms; relative to what
    the fit itself gives in this way, for which `each` is exact.
    """
    import numpy as np

    fits = scenario.room(known)
    most = reach if fits is None else float(min(fits, reach))
    reading, computing, fixed = (found.values[name] for name in NAMES)
    own = np.array([[1 / reading, 1 / computing, fixed]])
    draws = np.concatenate([own, found.draws[:: DRAWS // SOME]])
    if most < 1 or not _holds(known):
        return [0.0] * (len(draws) - 1)
    batches = np.exp(np.linspace(0.0, math.log(most), GRID))
    parts = [np.broadcast_to(part, GRID) for part in times({**known, "batch": batches})]
    prompts = elsewhere * latency.compute_time({**known, "batch": 1.0})  # of one sequence
    tokens = []
    for reading, computing, fixed in draws:
        steps = parts[0] * reading + parts[1] * computing + fixed
        late = int(np.searchsorted(steps, step, side="right"))  # steps rise with the batch
        if late == 0:
            tokens.append(0.0)
            continue
        batch = batches[-1]
        if late < GRID:
            share = math.log(step / steps[late - 1]) / math.log(steps[late] / steps[late - 1])
            batch = batches[late - 1] * (batches[late] / batches[late - 1]) ** share
        taken = min(step, steps[-1])
        tokens.append(float(batch / (taken + batch * prompts * computing)))
    return [each * one / tokens[0] if tokens[0] else 0.0 for one in tokens[1:]]


def _holds(known: Mapping[str, Any]) -> bool:
    return bool(latency.weight_memory(known) <= known["devices"] * known["memory_capacity"])
