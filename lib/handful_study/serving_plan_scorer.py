"""Judges of conditions for a ratio of prices, and of a plan of racks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

Verdict = tuple[float, str, str | None]
MOST_STAGES = 8
LARGEST = 1e9  # sequences, tokens, domains: beyond any service


def _is_number(value, least: float) -> bool:
    """Return whether an answer (any JSON value) is a number from `least` to `LARGEST`.

    Formulas can take such a number.
    """
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and least <= value <= LARGEST
    )


def _is_whole(value, least: float) -> bool:
    return _is_number(value, least) and value == int(value)


def ratio_conditions(
    question, given: Mapping[str, Any], calls: Sequence[Mapping], answers: Sequence
) -> Verdict:
    """Judge two pairs of batch and context that should give a ratio of read time to compute time.

    At each pair, decode reads `output_over_input` times as long as it computes.

    Half of the points for each pair that gives the ratio within one per cent (and a little for
    rounding), and no more than half where the two batches are within a factor of three of each
    other.

    >>> chip = {
    ...     "peak_flops": 2.25e15,
    ...     "memory_bandwidth": 8e12,
    ...     "bytes_per_parameter": 2,
    ...     "active_parameters": 6e10,
    ...     "total_parameters": 6e11,
    ...     "kv_bytes_per_token": 7e4,
    ...     "output_over_input": 5,
    ... }
    >>> ratio_conditions(
    ...     None,
    ...     chip,
    ...     [],
    ...     [[{"batch": 583.65, "context": 1100}, {"batch": 2770, "context": 24286}]],
    ... )[::2]
    (1.0, None)
    >>> ratio_conditions(
    ...     None, chip, [], [[{"batch": 583.65, "context": 1100}, {"batch": 900, "context": 1000}]]
    ... )[0]
    0.5
    >>> ratio_conditions(None, chip, [], ["five"])
    (0.0, 'A list of two dicts is expected, each with the keys batch and context.', None)
    """
    from handful.prices import output_over_input

    found = answers[0] if answers else None
    if (
        not isinstance(found, list)
        or len(found) != 2
        or not all(isinstance(one, dict) and {"batch", "context"} <= set(one) for one in found)
    ):
        return 0.0, "A list of two dicts is expected, each with the keys batch and context.", None
    wanted, known = given["output_over_input"], {"window_cache_memory": 0, **given}
    right, weights, said = 0, 0, []
    for place, one in zip(("first", "second"), found, strict=True):
        if not _is_number(one["batch"], 1e-6) or not _is_number(one["context"], 100):
            said.append(
                f"The {place} pair needs a batch above 0 and a context of 100 tokens or more, as "
                "numbers."
            )
            continue
        reached = float(
            output_over_input({**known, "batch": one["batch"], "context": one["context"]})
        )
        if abs(reached / wanted - 1) <= 0.011:
            right += 1
            continue
        alone = float(output_over_input({**known, "batch": one["batch"], "context": 0}))
        weights += abs(alone / wanted - 1) <= 0.011
        said.append(
            f"The {place} pair makes reading {reached:.3g} times as long as arithmetic; the list "
            f"says {wanted:g}."
        )
    if right == 2:
        low, high = sorted(one["batch"] for one in found)
        if high < 2.999 * low:
            return (
                0.5,
                "Both pairs give the ratio, but their batches are within a factor of three; take "
                "a longer context for the second.",
                None,
            )
        return (
            1.0,
            "Both pairs give the ratio, with batches far apart: the list cannot tell them from "
            "each other.",
            None,
        )
    if weights and right + weights == 2:
        return (
            max(0.25, right / 2),
            "Your batches leave out the caches, which are read as well. " + " ".join(said),
            "weights-alone",
        )
    return right / 2, " ".join(said), None


# A plan of racks ----------------------------------------------------------------------------------


class Service(NamedTuple):
    """Hold a request for a service; `roofline_share` is the part of the roofline reached."""

    model: str
    precision: str
    context: float
    tokens_per_user: float
    service_throughput: float
    roofline_share: float


class Plan(NamedTuple):
    """An answer: so many domains of a machine, in pipelines of so many stages."""

    hardware: str
    stages: int
    batch: int
    domains: int


@lru_cache(1024)
def _values(hardware: str, service: Service) -> Mapping[str, Any]:
    from handful.scenario import values

    return values(
        hardware=hardware, model=service.model, precision=service.precision, context=service.context
    )


def _room(hardware: str, stages: int, service: Service) -> int:
    """Return how many sequences of one batch fit into `stages` domains.

    As many batches as there are stages are under way.
    """
    from handful.latency import batch_that_fits

    at = _values(hardware, service)
    return math.floor(batch_that_fits(at, total_parameters=at["total_parameters"] / stages))


def _step(hardware: str, batch: int, service: Service) -> float:
    """Return the seconds from one token of a sequence to the next."""
    from handful.latency import step_time_with_attention

    return (
        float(step_time_with_attention(_values(hardware, service), batch=batch))
        / service.roofline_share
    )


def _rent(hardware: str, domains: int, service: Service) -> float:
    """Return the rent in dollars an hour."""
    at = _values(hardware, service)
    return domains * at["devices"] * at["device_price"] * 3600


@lru_cache(1024)
def _cheapest(candidates: tuple[str, ...], service: Service) -> float:
    """Return the dollars an hour of the cheapest plan.

    For each machine and number of stages, it takes the largest batch that fits and is fast enough.
    """
    rents = []
    for hardware in candidates:
        for stages in range(1, MOST_STAGES + 1):
            low, high = 0, _room(hardware, stages, service)
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (
                    (middle, high)
                    if _step(hardware, middle, service) * service.tokens_per_user <= 1
                    else (low, middle - 1)
                )
            if low:
                pipelines = math.ceil(
                    service.service_throughput * _step(hardware, low, service) / (stages * low)
                    - 1e-9
                )
                rents.append(_rent(hardware, pipelines * stages, service))
    return min(rents)


def serving_plan(
    question, given: Mapping[str, Any], calls: Sequence[Mapping], answers: Sequence
) -> Verdict:
    """Judge a plan {"hardware", "stages", "batch", "domains"} for serving a model.

    It has to fit, keep the speed and carry the busiest hour.

    A plan that does is worth all where it costs at most 2 % more than the cheapest, then 0.8 up to
    10 %, 0.6 up to one half, 0.4 above.

    >>> given = {
    ...     "candidates": "H200 SXM, B200 SXM",
    ...     "model": "GLM-4.5",
    ...     "precision": "fp8",
    ...     "context": 8000,
    ...     "tokens_per_user": 30,
    ...     "service_throughput": 200e3,
    ...     "roofline_share": 0.6,
    ...     "busy_share": 0.5,
    ... }
    >>> serving_plan(
    ...     None, given, [], [{"hardware": "B200 SXM", "stages": 1, "batch": 400, "domains": 40}]
    ... )[0]
    0.4
    >>> serving_plan(
    ...     None, given, [], [{"hardware": "B200 SXM", "stages": 1, "batch": 5000, "domains": 40}]
    ... )[1].split(";")[0]
    'It does not fit: beside the weights there is room for 721 sequences of one batch'
    >>> serving_plan(None, given, [], [{"hardware": "TPU", "stages": 1, "batch": 1, "domains": 1}])[
    ...     1
    ... ]
    'hardware is one of H200 SXM, B200 SXM.'
    """
    service = Service(*(given[name] for name in Service._fields))
    candidates = tuple(str(given["candidates"]).split(", "))
    plan = _read_plan(answers[0] if answers else None, candidates)
    if isinstance(plan, str):
        return 0.0, plan, None
    return _shortfall(plan, service, float(given.get("busy_share", 1))) or _by_rent(
        plan, candidates, service
    )


def _read_plan(answer, candidates: Sequence[str]) -> Plan | str:
    """Return a plan, or the sentence that says what is wrong with its form."""
    names = Plan._fields
    if not isinstance(answer, dict) or not set(names) <= set(answer):
        return f"A dict is expected with the keys {', '.join(names)}."
    hardware, stages, batch, domains = (answer[name] for name in names)
    if hardware not in candidates:
        return f"hardware is one of {', '.join(candidates)}."
    whole = _is_whole(stages, 1) and _is_whole(batch, 1) and _is_whole(domains, 1)
    if not (whole and stages <= MOST_STAGES) or domains % stages:
        return (
            f"stages (1 to {MOST_STAGES}), batch and domains are whole numbers from 1 up, and "
            "domains is a multiple of stages."
        )
    return Plan(hardware, int(stages), int(batch), int(domains))


def _shortfall(plan: Plan, service: Service, busy_share: float) -> Verdict | None:
    """Return the verdict on a plan that does not serve: too large, too slow or too small."""
    room = _room(plan.hardware, plan.stages, service)
    step = _step(plan.hardware, plan.batch, service)
    if plan.batch > room:
        return (
            0.0,
            f"It does not fit: beside the weights there is room for {room} sequences of one "
            "batch; every domain holds its layers' caches of all batches under way.",
            None,
        )
    if step * service.tokens_per_user > 1 + 1e-9:
        return (
            0.0,
            f"It is too slow: at this batch a user gets {1 / step:.3g} tokens a second, and "
            f"{service.tokens_per_user:g} are promised.",
            None,
        )
    made, wanted = plan.domains * plan.batch / step, service.service_throughput * (1 - 1e-9)
    if made >= wanted:
        return None
    if made >= wanted * busy_share:
        return (
            0.4,
            "Your domains carry the mean traffic and not that of the busiest hour.",
            "sized-for-the-mean",
        )
    return (
        0.0,
        f"It does not carry the busiest hour: {plan.domains} domains make {made:.3g} tokens a "
        f"second, and {service.service_throughput:g} are asked for.",
        None,
    )


def _by_rent(plan: Plan, candidates: tuple[str, ...], service: Service) -> Verdict:
    """Return the verdict on a plan that serves, by its rent above the cheapest."""
    excess = _rent(plan.hardware, plan.domains, service) / _cheapest(candidates, service) - 1
    if excess <= 0.02:
        return (
            1.0,
            "The plan fits, keeps the speed, carries the busiest hour, and none is cheaper by "
            "more than 2 %.",
            None,
        )
    return (
        0.8 if excess <= 0.1 else 0.6 if excess <= 0.5 else 0.4,
        f"The plan works, and costs {100 * excess:.0f} % more than the cheapest; look at other "
        "machines, stages and batches.",
        None,
    )
