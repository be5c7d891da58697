"""Hold a server's own measurements against the floor, and fit what lies between.

A measured point is a load (requests in flight, mean lengths) and the mean time from one token of an
answer to the next.  With a chip, a model and a precision that makes a decode step whose floor the
formulas give: reading weights and caches, and arithmetic for the answers and for the prompts that
share the steps.  What a server adds is fitted as three numbers, each with an interval:

    time = reading / memory efficiency + arithmetic / compute efficiency + fixed time

The floor lets reading and arithmetic overlap (``latency.step_time``, with prompts); the fit adds
them, as served steps do.  A point below its floor cannot be what it says, and is said to be so.

On 51 servers of public runs, each of 943 points was predicted from the others of its server: 89 %
lie in the interval of 90 %, and half of the predictions are off by 3.1 % or less.  Attention's own
arithmetic is left out, so that MiniMax-M2.5 on 8 H100, with prompts of 70,000 tokens, takes up to
47 % longer than predicted, or 30 % if its caches are of two bytes.  Tried: counting it brings that
to 30 %, and makes Qwen3 32B on 8 chips worse by as much.

>>> from handful_evidence.result_files import Run
>>> alone = Run("mine.json", "a plain table", 1, 1000, 500, 0.025, 0.2, 39.5, None)
>>> here = {"hardware": "H100 SXM", "model": "Llama 3.1 70B", "precision": "fp8", "devices": 8}
>>> [point] = points([alone], **here)
>>> round(point.floor * 1e3, 2), point.binds, round(point.bandwidth_utilisation, 3)
(2.65, 'reading', 0.106)
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
GAP = 1.1  # between lengths that are not alike
NEAR = 1.5  # of a context, for points that are like it
HELD = 0.6  # of the requests in flight decode: the others wait
SOME, GRID = 40, 200  # draws and batches for the intervals of what a server could give
NAMES = ("memory_efficiency", "compute_efficiency", "fixed_time")
LEAST = (1.0, 1.0, 0.0)  # of the factors: no efficiency above 1, no fixed time below 0
PAIRS = tuple((i, j) for i in range(4) for j in range(i, 4))
CHOSEN = ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,))
ALIKE = 1e-12  # of a column's square, all that others leave of it: they are one and the same
PARTS = ("reading", "arithmetic")  # whose efficiencies are fitted
LIMIT = 0.995  # an efficiency from here on is at its limit of 1
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


@dataclass(frozen=True)
class Server:
    """Hold what ran: names of rows, and in which precisions it multiplies and stores.

    `says` is who says how weights are stored: "given" for an option or the file's own field, "name"
    for the model's name, "published" where it is as the model came out, or "nobody".
    """

    hardware: str
    model: str
    precision: str
    weights: str
    cache: str
    devices: float
    says: str


def server_of(
    run: Run,
    hardware: str | None = None,
    model: str | None = None,
    precision: str | None = None,
    *,
    weights: str | None = None,
    cache: str | None = None,
    devices: float | None = None,
) -> Server:
    """Return what a run's server is, from what is given, its file, and its model's name.

    Raises ServerError where chip, model or the number of chips is said by none of them.

    >>> from handful_evidence.result_files import Run
    >>> mine = Run("a.json", "vllm bench serve", model="RedHatAI/Qwen3-32B-FP8-dynamic", devices=2)
    >>> server_of(mine, "h100")
    Server(hardware='H100 SXM', model='Qwen3 32B', precision='fp8', weights='fp8', cache='bf16',
    devices=2, says='name')
    >>> server_of(Run("a.csv", "CSV"), "h100")
    Traceback (most recent call last):
    ...
    handful_evidence.own_server.ServerError: a.csv does not say its model and how many chips it ran
    on; give --model and --devices.
    """
    chip, named, chips = hardware or _chip_of(run.hardware), model or run.model, devices
    chips = chips or run.devices
    missing = [(what, option) for value, what, option in (
        (chip, "its hardware", "--hardware"),
        (named, "its model", "--model"),
        (chips, "how many chips it ran on", "--devices"),
    ) if not value]  # fmt: skip
    if not chip or not named or not chips:
        whats, options = (_and(part) for part in zip(*missing, strict=True))
        raise ServerError(f"{run.source} does not say {whats}; give {options}.")
    form, stored, says = precision or run.precision, weights, "given"
    if not form and weights:
        form = "bf16" if weights in scenario.WHOLE else weights
        if form not in scenario.choose("hardware", chip)["peak_flops"]:
            form = "bf16"
    elif not form:
        form, stored, says = _stored(named, run.model, chip)
    kind = scenario.choose("precision", form)
    of_form = {1: "int8" if kind["name"].startswith("int8") else "fp8", 2: "bf16", 0.5: "fp4"}
    return Server(
        _row("hardware", chip),
        _row("model", named),
        kind["name"],
        stored or of_form[kind["bytes_per_parameter"]],
        cache or usual_cache(run) or ("fp8" if kind["kv_bytes_per_element"] == 1 else "bf16"),
        chips,
        says,
    )


def _row(kind: str, text: str) -> str:
    """Return a row's name, or the text where it is the path of a file of one's own."""
    found = scenario.choose(kind, text)
    return str(found["name"]) if any(found is one for one in scenario.page_rows()[kind]) else text


def _and(words: Iterable[str]) -> str:
    *rest, last = words
    return f"{', '.join(rest)} and {last}" if rest else last


def _stored(named: str, in_file: str, chip: str) -> tuple[str, str | None, str]:
    """Return what the names of a model say of its precision: one that says it goes first.

    >>> _stored("Llama 3.1 70B", "nvidia/Llama-3.1-70B-Instruct-FP8", "H100 SXM")
    ('fp8', None, 'name')
    """
    found = [scenario.stored_precision(name, chip) for name in (named, in_file) if name]
    form, weights, says = next((one for one in found if one[2] == "name"), found[0])
    if says == "published" and scenario.choose("model", named) not in scenario.page_rows()["model"]:
        says = "nobody"
    return form, weights, says


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
        Names of rows; a run's own, where it has one, comes second to these.  A precision that
        neither says is that of the model's name, or the one that it was published in.
    weights, cache : str, optional
        Other precisions of weights and caches, as `scenario.values` takes them.  Engines keep
        caches in bf16 unless they are told otherwise, and so they are taken, but for InferenceX
        and MLPerf.
    prompts_apart : bool
        Whether other chips work through prompts (disaggregation).
    **overrides : float
        Values of symbols, such as `devices`.

    Raises
    ------
    ServerError
        Where no run says its chip, its model or how many chips share it; where some do, the others
        are left out.
    ScenarioError
        Where a name or a value is not allowed, for all runs alike.
    """
    found: list[Point | None] = []
    alike: dict[tuple[Any, ...], list[tuple[int, Run, float, float]]] = {}
    for i, run in enumerate(runs):
        load = _load(run)
        if isinstance(load, str):
            found.append(_left_out(run, load))
        else:
            found.append(None)
            key = (run.hardware, run.model, run.precision, usual_cache(run), run.devices)
            alike.setdefault(key, []).append((i, run, *load))
    problems: list[ValueError] = []
    for some in alike.values():
        try:
            server = server_of(
                some[0][1], hardware, model, precision, weights=weights, cache=cache,
                devices=overrides.get("devices"),
            )  # fmt: skip
            base = scenario.values(
                server.hardware, server.model, server.precision, 1,
                weights=server.weights, cache=server.cache, batch=1,
                **{**overrides, "devices": server.devices},
            )  # fmt: skip
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


OWN_CACHE = ("InferenceX", "MLPerf Inference")  # whose recipes set the precision of caches


def usual_cache(run: Run) -> str | None:
    """Return the precision of caches that a run's server has unless told, None if not known.

    >>> from handful_evidence.result_files import Run
    >>> usual_cache(Run("a.json", "GuideLLM")), usual_cache(Run("a.json", "InferenceX"))
    ('bf16', None)
    """
    return None if run.tool in OWN_CACHE else "bf16"


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

    `values` are the mean of the bootstrap's draws (of a time per work, for efficiencies), which
    predicts as well as least squares do and lies inside where those lie at a limit.  `intervals`
    are by the bootstrap over the points; `warnings` say what the points do not determine.  `draws`
    and `residuals` (logarithms of measured over predicted) make intervals of predictions.
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
    >>> loads = [run(b, p) for b in (2, 8, 32, 64, 128) for p in (500, 1000, 4000)]
    >>> made = points(loads, "H100 SXM", "Llama 3.1 70B", "fp8", devices=8)
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
    made *= scale
    # Their mean, and not the least squares themselves: where the points do not tell the parts
    # apart, those come out at an edge (an efficiency of 1, no fixed time), and the mean between.
    low, high = np.quantile(made, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    factors = np.clip(made.mean(axis=0), low, high)
    values = _named(factors)
    intervals = {
        name: (min(pair), max(pair))
        for name, *pair in zip(NAMES, _named(low).values(), _named(high).values(), strict=True)
    }
    residuals = np.log(measured / (parts @ factors))
    warnings = (*_undetermined(used, intervals), *_missed(used, residuals))
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


def _undetermined(used: Sequence[Point], intervals: Mapping[str, tuple[float, float]]) -> list[str]:
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
    pairs = [(what, *intervals[name]) for what, name in zip(PARTS, NAMES[:2], strict=True)]
    if all(low > LIMIT for _, low, _ in pairs):
        chips = f"{used[0].known['devices']:g}"
        found.append(
            f"Both efficiencies come out at their limit, which no chip reaches: probably more "
            f"chips shared the model than the {chips} stated, or its numbers are narrower."
        )
        pairs = []
    for what, low, high in pairs:
        if high > SPREAD * low:
            found.append(
                f"The efficiency of {what} lies anywhere between {_share(low)} and {_share(high)}: "
                "the points do not determine it."
            )
        elif high > LIMIT:
            found.append(
                f"The efficiency of {what} comes out at its limit, which no chip reaches: the "
                "points do not determine it.  Take it as high, and no more."
            )
    if not intervals["fixed_time"][0]:
        found.append(
            f"The fixed time lies anywhere between 0, which no server reaches, and "
            f"{format_value(intervals['fixed_time'][1], 's', 3)}: the points do not determine it.  "
            "Measure one user and many, with short and with long prompts."
        )
    if len(used) < 3 * FEWEST:
        found.append(f"The fit is from {plural(len(used), 'point')}; more would narrow it.")
    return found


# What follows ------------------------------------------------------------------------------------


def usual_load(usable: Sequence[Point]) -> dict[str, Any]:
    """Return the values of the load that is asked about where nobody names one.

    Of the lengths of prompt and answer that most points have (those in the middle, where several
    have as many), the point in the middle by batch.

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
    parts = [np.broadcast_to(part, GRID) for part in _times({**known, "batch": batches})]
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
