"""Make points of a server's runs: a load, the server that it ran on, and its floor."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handful import latency, scenario
from handful.units import format_value

if TYPE_CHECKING:
    from ..result_files import Run

ALLOWED = 0.98  # of its floor, for a clock and a mean that are not exact
BELOW = (
    "below its floor: fewer chips, other weights or a shorter context than stated, or several "
    "tokens a step"
)
GUESSED = "tokens are guessed ahead, so a step gives several"


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
    handful_evidence.own_server.points.ServerError: a.csv does not say its model and how many chips
    it ran on; give --model and --devices.
    """
    chip, named, chips = hardware or chip_of(run.hardware), model or run.model, devices
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


def chip_of(label: str) -> str:
    """Return a chip's name out of a file's label: a runner may be called b200-dgxc_3.

    >>> chip_of("b200-dgxc_3"), chip_of("H100 SXM"), chip_of("my rack")
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
    reading, computing = times({**base, **loads})
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


def times(known: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the seconds of reading and of arithmetic, prompts included, at peak rates."""
    return (
        latency.memory_time(known),
        latency.compute_time(known) * (1 + known["prompt_per_answer"]),
    )
