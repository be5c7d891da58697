"""Hold a server's own measurements against the floor, and fit what lies between.

A measured point is a load (requests in flight, mean lengths) and the mean time from one token of an
answer to the next.  With a chip, a model and a precision that makes a decode step whose floor the
formulas give: reading weights and caches, and arithmetic for the answers and for the prompts that
share the steps.  What a server adds is fitted as three numbers, each with an interval:

    time = reading / memory efficiency + arithmetic / compute efficiency + fixed time

The floor lets reading and arithmetic overlap (``latency.step_time``, with prompts); the fit adds
them, as served steps do.  A point below its floor cannot be what it says, and is said to be so.

On 51 servers of public runs, each of 943 points was predicted from the others of its server: 89 %
lie in the interval of 90 %, and half of the predictions are off by 3 % or less.  Attention's own
arithmetic is left out, so that MiniMax-M2.5 on 8 H100, with prompts of 70,000 tokens, takes up to
47 % longer than predicted, or 30 % if its caches are of two bytes.  Tried: counting it brings that
to 30 %, and makes Qwen3 32B on 8 chips worse by as much.

>>> from handful_evidence.result_files import Run
>>> alone = Run("mine.json", "a plain table", 1, 1000, 500, 0.025, 0.2, 39.5, None)
>>> [point] = points([alone], hardware="H100 SXM", model="Llama 3.1 70B", precision="fp8")
>>> round(point.floor * 1e3, 2), point.binds, round(point.bandwidth_utilisation, 3)
(2.64, 'reading', 0.106)
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from handful import latency, scenario
from handful.units import format_value, plural

from .random32 import uniforms

if TYPE_CHECKING:
    import numpy as np

    from .result_files import Run

FEWEST = 4  # points of a fit, which has three numbers
DRAWS = 400  # of the bootstrap
MOST_DRAWN = 1000  # points; of more, groups are drawn, which is as good and takes a tenth
LEVEL = 0.9  # of every interval
ALLOWED = 0.98  # of its floor, for a clock and a mean that are not exact
BELOW = (
    "below its floor: fewer chips, other weights or a shorter context than stated, or several "
    "tokens a step"
)
FAR_OFF = 0.2  # of the logarithm of measured over fitted
FAR = 1e7  # sequences, beyond all that anybody serves at a time
GUESSED = "tokens are guessed ahead, so a step gives several"
REACH = 4  # times the largest batch that was measured: beyond it nothing is predicted
NEAR = 1.5  # of a context, for points that are like it
HELD = 0.6  # of the requests in flight decode: the others wait
SOME, GRID = 40, 200  # draws and batches for the intervals of what a server could give
NAMES = ("memory_efficiency", "compute_efficiency", "fixed_time")
LEAST = (1.0, 1.0, 0.0)  # of the factors: no efficiency above 1, no fixed time below 0
PAIRS = tuple((i, j) for i in range(4) for j in range(i, 4))
CHOSEN = ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,))
ALIKE = 1e-12  # of a column's square, all that others leave of it: they are one and the same
SPREAD = 1.5  # an efficiency whose interval's ends are further apart than this is not determined


class ServerError(ValueError):
    """A reason why measurements cannot be held against a floor, in one sentence."""

    exit_code = 2


@dataclass(frozen=True)
class Point:
    """Hold one measured point beside its floor.

    `known` has the values of symbols for it (`batch` is the sequences that decode at a time, on
    average); `memory_time` and `compute_time` are seconds of a step at peak rates, the latter with
    the prompts' share.  `why_not` says what keeps it out of a fit, "" where nothing does.
    """

    run: Run
    known: Mapping[str, Any]
    measured: float
    memory_time: float
    compute_time: float
    why_not: str = ""

    @property
    def floor(self) -> float:
        """Return the shortest step in seconds: reading and arithmetic overlap."""
        return max(self.memory_time, self.compute_time)

    @property
    def binds(self) -> str:
        """Return what the floor waits for: reading, or arithmetic."""
        return "reading" if self.memory_time >= self.compute_time else "arithmetic"

    @property
    def over_floor(self) -> float:
        """Return the measured time over the floor."""
        return self.measured / self.floor

    @property
    def bandwidth_utilisation(self) -> float:
        """Return bytes of weights and caches that a step has to read, over what could be read."""
        return self.memory_time / self.measured

    @property
    def flops_utilisation(self) -> float:
        """Return FLOPs for answers and prompts, over what the chips could do in a step."""
        return self.compute_time / self.measured


def points(
    runs: Iterable[Run],
    hardware: str | None = None,
    model: str | None = None,
    precision: str | None = None,
    *,
    weights: str | None = None,
    cache: str | None = None,
    prompts_apart: bool = False,
    **overrides: float,
) -> list[Point]:
    """Return each run beside its floor.

    Parameters
    ----------
    runs : iterable of Run
        As `handful_evidence.result_files.read` gives them.
    hardware, model, precision : str, optional
        Names of rows; a run's own, where it has one, comes second to these.
    weights, cache : str, optional
        Other precisions of weights and caches, as `scenario.values` takes them.  vLLM and SGLang
        keep caches in bf16 unless they are told otherwise, and so they are taken in their files.
    prompts_apart : bool
        Whether other chips work through prompts (disaggregation).
    **overrides : float
        Values of symbols, such as `devices`.

    Raises
    ------
    ServerError
        Where no run says its chip or its model; where some do, the others are left out.
    ScenarioError
        Where a name or a value is not allowed, for all runs alike.
    """
    found: list[Point | None] = []
    alike: dict[tuple[Any, ...], list[tuple[int, Run, float, float]]] = {}
    for i, run in enumerate(runs):
        chip, shape = hardware or _chip_of(run.hardware), model or run.model
        load = _load(run)
        if isinstance(load, str):
            found.append(_left_out(run, load))
        else:
            found.append(None)
            key = (chip, shape, precision or run.precision, cache or usual_cache(run), run.devices)
            alike.setdefault(key, []).append((i, run, *load))
    problems: list[ValueError] = []
    for (chip, shape, form, kept, devices), some in alike.items():
        more = {"devices": devices, **overrides} if devices else dict(overrides)
        try:
            for what, name in (("hardware", chip), ("model", shape)):
                if not name:
                    raise ServerError(
                        f"{some[0][1].source} does not say its {what}; give --{what}."
                    )
            form = form or scenario.usual_precision(chip, weights)
            base = scenario.values(
                chip, shape, form, 1, weights=weights, cache=kept, batch=1, **more
            )
        except (ServerError, scenario.ScenarioError) as error:
            problems.append(error)
            for i, run, *_ in some:
                found[i] = _left_out(run, str(error))
            continue
        for i, point in zip(
            (i for i, *_ in some), _of_one_server(some, base, prompts_apart), strict=True
        ):
            found[i] = point
    if problems and len(problems) == len(alike):
        raise problems[0]
    return [point for point in found if point is not None]


def usual_cache(run: Run) -> str | None:
    """Return the precision of caches that a run's server has unless told, None if not known.

    >>> from handful_evidence.result_files import Run
    >>> usual_cache(Run("a.json", "vllm bench serve")), usual_cache(Run("a.csv", "CSV"))
    ('bf16', None)
    """
    return "bf16" if run.tool.startswith(("vllm", "SGLang")) else None


def _left_out(run: Run, why: str) -> Point:
    return Point(run, {}, math.nan, math.nan, math.nan, why)


def _chip_of(label: str) -> str:
    """Return a chip's name out of a file's label: a runner may be called b200-dgxc_3.

    >>> _chip_of("b200-dgxc_3"), _chip_of("H100 SXM"), _chip_of("my rack")
    ('b200', 'H100 SXM', 'my rack')
    """
    first = re.split(r"[-_]", label)[0]
    try:
        scenario.choose("hardware", label)
    except scenario.ScenarioError:
        with suppress(scenario.ScenarioError):
            scenario.choose("hardware", first)
            return first
    return label


def _of_one_server(
    some: Sequence[tuple[int, Run, float, float]], base: Mapping[str, Any], prompts_apart: bool
) -> Iterator[Point]:
    """Yield the points of runs that share chips, model and precision; times for all at once."""
    import numpy as np

    prompts = np.array([run.input_tokens or 0.0 for _, run, *_ in some])
    answers = np.array([run.output_tokens or 1.0 for _, run, *_ in some])
    # A request alone shares its steps with no prompt.
    alone = np.array([prompts_apart or (run.concurrency or 2) <= 1 for _, run, *_ in some])
    loads = {
        "context": prompts + answers / 2,
        "batch": np.array([batch for *_, batch, _ in some]),
        "prompt_per_answer": np.where(alone, 0.0, prompts / answers),
    }
    reading, computing = _times({**base, **loads})
    for k, (_, run, _, measured) in enumerate(some):
        known = {**base, **{name: float(values[k]) for name, values in loads.items()}}
        below = measured < ALLOWED * max(reading[k], computing[k])
        yield Point(
            run, known, measured, float(reading[k]), float(computing[k]), BELOW if below else ""
        )


def _load(run: Run) -> tuple[float, float] | str:
    """Return the sequences that decode at a time and seconds a step, or what is missing for that.

    By Little's law a request decodes for its answer's time, at the rate of requests.  Where no rate
    is stated, it is that of the requests in flight.
    """
    step, answer = run.time_per_output_token, run.output_tokens
    if any(note.startswith("speculative decoding") for note in run.notes):
        return GUESSED
    if step is None:
        return "no time per output token"
    if answer is None:
        return "no length of answers (output_tokens)"
    decoding = max(answer - 1, 1) * step
    rate = run.request_throughput or (
        run.output_throughput / answer if run.output_throughput else None
    )
    if rate is None:
        if run.concurrency is None:
            return "no throughput and no requests in flight"
        rate = run.concurrency / (decoding + (run.time_to_first_token or 0.0))
    batch = rate * decoding
    if run.concurrency is not None and batch > 1.05 * run.concurrency:
        return (
            f"{format_value(batch, '1', 3)} sequences would decode at a time by its throughput, "
            f"more than the {format_value(run.concurrency, '1', 3)} in flight: fields are mixed, "
            "or tokens come several at a time"
        )
    return max(batch, min(1.0, run.concurrency or 1.0)), step


# The fit ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """Hold what a server adds to its floor: three numbers, with intervals of 90 %.

    `intervals` are by the bootstrap over the points; `warnings` say what the points do not
    determine.  `draws` and `residuals` (logarithms of measured over predicted) make intervals of
    predictions.
    """

    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    count: int
    warnings: tuple[str, ...]
    draws: np.ndarray = field(repr=False, compare=False)
    residuals: np.ndarray = field(repr=False, compare=False)

    def predicted(self, known: Mapping[str, Any]) -> float:
        """Return the seconds of a step for values of symbols."""
        reading, computing = _times(known)
        return (
            reading / self.values["memory_efficiency"]
            + computing / self.values["compute_efficiency"]
            + self.values["fixed_time"]
        )

    def interval(self, known: Mapping[str, Any]) -> tuple[float, float]:
        """Return the ends of the interval of 90 % of a step that would be measured."""
        import numpy as np

        steps = self.draws @ np.array([*_times(known), 1.0])
        # What a fit leaves is less than what it misses on a new point, by its three numbers.
        inflated = self.residuals * math.sqrt(self.count / max(self.count - 3, 1))
        spread = np.exp(inflated)[np.arange(len(steps)) % len(inflated)]
        low, high = np.quantile(steps * spread, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


def _times(known: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the seconds of reading and of arithmetic, prompts included, at peak rates."""
    return (
        latency.memory_time(known),
        latency.compute_time(known) * (1 + known["prompt_per_answer"]),
    )


def fit(found: Sequence[Point], seed: int = 0) -> Fit:
    """Fit what the server adds to its floor.

    No efficiency is above 1 and no fixed time below 0.  Relative errors count, those of outliers
    less.

    Raises ServerError where fewer than four points can be used.

    >>> from handful_evidence.result_files import Run
    >>> def run(batch, prompt):
    ...     return Run("mine.json", "made up", batch, prompt, 500, 0.01, 0.0)
    >>> loads = [run(b, p) for b in (2, 32, 128) for p in (500, 4000)]
    >>> made = points(loads, "H100 SXM", "Llama 3.1 70B", "fp8")
    >>> true = [one.memory_time / 0.5 + one.compute_time / 0.25 + 0.003 for one in made]
    >>> from dataclasses import replace
    >>> found = fit([replace(one, measured=t) for one, t in zip(made, true, strict=True)])
    >>> {name: round(value, 4) for name, value in found.values.items()}
    {'memory_efficiency': 0.5, 'compute_efficiency': 0.25, 'fixed_time': 0.003}
    """
    import numpy as np

    used = [one for one in found if not one.why_not]
    if len(used) < FEWEST:
        raise ServerError(
            f"A fit needs {FEWEST} points that can be used; there "
            f"{'is' if len(used) == 1 else 'are'} {len(used)}."
        )
    parts = np.array([[one.memory_time, one.compute_time, 1.0] for one in used])
    measured = np.array([one.measured for one in used])
    scale = np.array([1.0, 1.0, float(np.median(measured))])  # so that columns are of one size
    shares, weight = parts / measured[:, None] * scale, np.ones(len(used))
    factors = np.ones(3)
    for _ in range(12):
        factors = _factors(_products(shares, weight).sum(axis=0))
        weight = np.maximum(np.abs(np.log(shares @ factors)), 0.03) ** -0.5
    products = _grouped(_products(shares, weight))
    made = np.array([_factors(counts @ products) for counts in _resampled(len(products), seed)])
    factors, made = factors * scale, made * scale
    values = _named(factors)
    low, high = np.quantile(made, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    intervals = {
        name: (min(pair), max(pair))
        for name, *pair in zip(NAMES, _named(low).values(), _named(high).values(), strict=True)
    }
    residuals = np.log(measured / (parts @ factors))
    warnings = (*_undetermined(used, values, intervals), *_missed(used, residuals))
    return Fit(values, intervals, len(used), warnings, made, residuals)


def _products(shares: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return what each point adds to the products of the columns with each other.

    The columns are the three parts of a step and, last, what the least factors leave of 1.
    """
    import numpy as np

    columns = np.column_stack([shares, 1 - shares @ LEAST]) * weight[:, None]
    return np.stack([columns[:, i] * columns[:, j] for i, j in PAIRS], axis=1)


def _factors(products: np.ndarray) -> np.ndarray:
    """Return what each part is multiplied with: 1 or more, and a fixed time of 0 or more.

    Least squares of relative errors: of the sets of parts whose factors come out above their least,
    the one with the smallest error.
    """
    import numpy as np

    total = dict(zip(PAIRS, map(float, products), strict=True))
    best, more = total[3, 3], [0.0, 0.0, 0.0]
    for chosen in CHOSEN:
        solved = _solved(total, chosen)
        if solved is None or min(solved) < 0:
            continue
        error = total[3, 3] - sum(
            value * total[i, 3] for i, value in zip(chosen, solved, strict=True)
        )
        if error < best - ALIKE * total[3, 3]:  # where several fit as well, the first
            best, more = error, [0.0, 0.0, 0.0]
            for i, value in zip(chosen, solved, strict=True):
                more[i] = value
    return np.array(more) + LEAST


def _solved(total: Mapping[tuple[int, int], float], chosen: Sequence[int]) -> list[float] | None:
    """Return the least squares of some columns, by Cholesky; None where they are one and the same.

    The columns are brought to the same length first.
    """
    size = [math.sqrt(total[i, i]) for i in chosen]
    if not all(size):
        return None
    lower: list[list[float]] = []
    right: list[float] = []
    for row, i in enumerate(chosen):
        found: list[float] = []
        for column, j in enumerate(chosen[: row + 1]):
            rest = total[min(i, j), max(i, j)] / (size[row] * size[column]) - sum(
                found[k] * (lower[column][k] if column < row else found[k]) for k in range(column)
            )
            if column < row:
                found.append(rest / lower[column][column])
            elif rest > ALIKE:
                found.append(math.sqrt(rest))
            else:
                return None
        lower.append(found)
        rest = total[i, 3] / size[row] - sum(found[k] * right[k] for k in range(row))
        right.append(rest / found[row])
    solved = right[:]
    for row in reversed(range(len(chosen))):
        later = sum(lower[k][row] * solved[k] for k in range(row + 1, len(chosen)))
        solved[row] = (solved[row] - later) / lower[row][row]
    return [value / size[row] for row, value in enumerate(solved)]


def _grouped(products: np.ndarray) -> np.ndarray:
    """Return the products of no more than `MOST_DRAWN` groups, every so many points one group."""
    import numpy as np

    groups = min(len(products), MOST_DRAWN)
    found = np.zeros((groups, products.shape[1]))
    np.add.at(found, np.arange(len(products)) % groups, products)
    return found


def _resampled(count: int, seed: int) -> Iterator[np.ndarray]:
    """Yield how often each point is drawn, for each set of the bootstrap."""
    import numpy as np

    for k in range(DRAWS):
        drawn = (uniforms(seed * DRAWS + k, count) * count).astype(int)
        yield np.bincount(drawn, minlength=count).astype(float)


def _named(factors: Sequence[float]) -> dict[str, float]:
    reading, computing, fixed = map(float, factors)
    return dict(zip(NAMES, (1 / reading, 1 / computing, fixed), strict=True))


def _share(value: float) -> str:
    return format_value(value, "%", 2)


def _missed(used: Sequence[Point], residuals: np.ndarray) -> list[str]:
    """Return a sentence about points that the fit misses by a fifth or more."""
    far = sorted(
        ((float(r), one) for r, one in zip(residuals, used, strict=True) if abs(r) > FAR_OFF),
        key=lambda pair: -abs(pair[0]),
    )
    if not far:
        return []
    told = [
        f"{one.run.source}: {_share(abs(math.expm1(r)))} {'slower' if r > 0 else 'faster'} "
        f"({format_value(one.known['batch'], '1', 3)} × "
        f"{format_value(one.known['context'], 'token', 3)})"
        for r, one in far[:3]
    ]
    return [
        f"{plural(len(far), 'point')} of {len(used)} "
        f"{'lies' if len(far) == 1 else 'lie'} far from the fit: {'; '.join(told)}"
        f"{' …' if len(far) > 3 else ''}.  Do not carry the fit to such loads."
    ]


def _undetermined(
    used: Sequence[Point],
    values: Mapping[str, float],
    intervals: Mapping[str, tuple[float, float]],
) -> list[str]:
    """Return sentences about what the points do not tell apart."""
    found = []
    batches = [one.known["batch"] for one in used]
    if max(batches) < 2 * min(batches):
        found.append(
            "All points are of much the same batch, so that fixed time and reading of weights "
            "cannot be told apart: measure at 1 and at many requests in flight."
        )
    contexts = [one.known["context"] for one in used]
    if max(contexts) < 1.5 * min(contexts):
        found.append(
            "All points are of much the same context, where a step grows with the batch in one way "
            "only: reading, arithmetic and fixed time cannot be told apart, and predictions hold "
            "at this context.  Measure with short and with long prompts."
        )
    for name in NAMES[:2]:
        low, high = intervals[name]
        if high > SPREAD * low:
            what = "reading" if name == "memory_efficiency" else "arithmetic"
            found.append(
                f"The efficiency of {what} lies anywhere between {_share(low)} and {_share(high)}: "
                "the points do not determine it."
            )
    for name in NAMES[:2]:
        if values[name] > 0.995:
            what = "reading" if name == "memory_efficiency" else "arithmetic"
            found.append(
                f"The efficiency of {what} comes out at its limit, which no chip reaches: the fit "
                "gives some of its time to another term.  Take it as high, and no more."
            )
    if len(used) < 3 * FEWEST:
        found.append(f"The fit is from {plural(len(used), 'point')}; more would narrow it.")
    return found


# What follows ------------------------------------------------------------------------------------


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

    >>> from handful_evidence.result_files import Run
    >>> runs = [Run(f"{n}", "CSV", n, 1000, 500, 0.01 + 0.0001 * n) for n in (1, 50, 200)]
    >>> best_measured(points(runs, "H100 SXM", "Llama 3.1 70B", "fp8"), 0.02).run.source
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

    >>> from handful_evidence.result_files import Run
    >>> run = Run("a.csv", "CSV", 128, 1000, 500, 0.02, 9.0)
    >>> held_back(points([run], "H100 SXM", "Llama 3.1 70B", "fp8"))[:46]
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

    `throughput` is in tokens a second, `each` of them a chip, and `cost` in dollars a token (None
    without a price), at the service level; `gain` is `each` over that of the server as it is.
    `cost_interval` and `gain_interval` are those of 90 %, by the bootstrap.
    """

    name: str
    assumes: str
    batch: float
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
    tried: list[tuple[str, str, Fit, dict[str, Any]]] = [
        (
            f"weights in {4 * byte:g} bits instead of {8 * byte:g}",
            "the same efficiencies, arithmetic at the same rate, and answers as good",
            found,
            {**known, "bytes_per_parameter": byte / 2},
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
        ),
        (
            "half the fixed time of a step",
            "what the server does between steps, and in each layer whatever its size, is halved",
            halved,
            {**known},
        ),
        (
            "twice the chips for one copy of the model",
            "reading and arithmetic shared by twice as many, the same fixed time; more messages "
            "between chips are not counted",
            found,
            {**known, "devices": 2 * known["devices"]},
        ),
    ]
    if known["devices"] > 1:
        tried.append(
            (
                "half the chips for one copy of the model",
                "reading and arithmetic shared by half as many, the same fixed time",
                found,
                {**known, "devices": known["devices"] / 2},
            )
        )
    if known["prompt_per_answer"]:
        tried.append(
            (
                "prompts on chips of their own",
                "those chips are not counted; decoding steps carry no prompts",
                found,
                {**known, "prompt_per_answer": 0.0},
            )
        )
    made = [
        _change(name, why, fitted, values, step, reach, (found, known, now))
        for name, why, fitted, values in tried
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
) -> Change:
    batch = largest_batch(found, known, step, reach) if _holds(known) else 0.0
    throughput = batch / found.predicted({**known, "batch": batch}) if batch else 0.0
    price = known.get("device_price")
    cost = known["devices"] * price / throughput if price and throughput else None
    each = throughput / known["devices"]
    drawn = _drawn(found, known, step, reach, each)
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
    found: Fit, known: Mapping[str, Any], step: float, reach: float, each: float
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
    parts = [np.broadcast_to(part, GRID) for part in _times({**known, "batch": batches})]
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
        tokens.append(float(batch / min(step, steps[-1])))
    return [each * one / tokens[0] if tokens[0] else 0.0 for one in tokens[1:]]


def _holds(known: Mapping[str, Any]) -> bool:
    return bool(latency.weight_memory(known) <= known["devices"] * known["memory_capacity"])
