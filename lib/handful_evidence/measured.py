"""Compare measured decode steps with the first-principles floor, class by class.

Every row is one published measurement over the floor for the same model, chips, precision and load:

- decode steps put together from measured kernels (``measured_steps``), over ``step_time``;
- whole servers under load (``measured_silicon``, ``measured_runs``), whose time per token holds
  work on prompts too, over ``step_time_mixed``, in which nothing overlaps; where no prompt shares
  the step, over ``step_time``;
- decoding deployments in published reports (``measured_serving``) that state their batch, over
  ``step_time``.

What a step adds to its floor depends most on whether the model has experts and on how far the work
is shared.  So a band is made for each class of both, from no less than ``FEWEST`` rows; a class
with fewer has none.

Conventions: a band is the central 90 % (5th to 95th percentile, straight lines between neighbours),
rounded outward to one decimal.  A plot shows it over the central 80 % of its rows' batches, rounded
inward to whole sequences: beyond them rows are few and come from machines at the edge of the
class.  Caches have the bytes that the row states, else one byte an element
at fp8 and fp4.  Fp4 weights count half a byte, as in every scenario.  Servers that guess tokens
ahead are left out, since their steps give several.

>>> dense, experts = band(8), band(72, experts=256)
>>> dense.name, experts.name
('dense, 2–8 chips', 'experts, over 8 chips')
>>> 1 < dense.low < 2 < experts.low < dense.high < experts.high  # never faster than the floor
True
>>> band(72, model="Llama 3.1 70B") is None  # nobody has published enough of these
True
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from handful import facts, latency, scenario, shapes

from . import validation

__all__ = [
    "CLASSES",
    "FEWEST",
    "MODEL",
    "NODE",
    "Band",
    "Class",
    "Ratio",
    "band",
    "band_of",
    "central",
    "class_of",
    "count_left_out",
    "describe_band",
    "describe_unusual",
    "leave_source_out",
    "page_bands",
    "ratios",
]

MODEL = "Llama 3.1 70B"  # whose runs the book shows one by one
NODE = 8  # chips of a node; a step on more leaves the node, or takes a rack
FEWEST = 30  # rows of a band, as of a fit (``validation.FEWEST``)
# The H800 is an H100 with slower links, which no floor here counts.
_CHIPS = {"H800": "H100 SXM", "H100": "H100 SXM", "H200": "H200 SXM", "GB200 NVL72": "GB200 NVL72"}
_SHAPES = {"DeepSeek-V3/R1": "DeepSeek-V3"}
_SERVICES = (
    "offline",
    "server",
    "interactive",
    "mixed",
    "both",
)  # phases of MLPerf's rows and their like


@dataclass(frozen=True)
class Class:
    """A kind of model on up to `most` chips, more than any class before it allows."""

    experts: bool
    most: float
    name: str
    text: str


CLASSES = (
    Class(False, 1, "dense, 1 chip", "a dense model on one chip"),
    Class(False, NODE, f"dense, 2–{NODE} chips", f"a dense model on 2 to {NODE} chips"),
    Class(False, math.inf, f"dense, over {NODE} chips", f"a dense model on more than {NODE} chips"),
    Class(True, 1, "experts, 1 chip", "a mixture of experts on one chip"),
    Class(True, NODE, f"experts, 2–{NODE} chips", f"a mixture of experts on 2 to {NODE} chips"),
    Class(
        True,
        math.inf,
        f"experts, over {NODE} chips",
        f"a mixture of experts on more than {NODE} chips",
    ),
)


@dataclass(frozen=True)
class Ratio:
    """One measurement beside its prediction, in seconds; `ratio` is measured over predicted.

    `devices` are the chips that share one copy of the model, `batch` the sequences that they decode
    at once.
    """

    name: str
    publisher: str
    model: str
    chip: str
    precision: str
    devices: int
    experts: int
    batch: float
    measured: float
    predicted: float

    @property
    def ratio(self) -> float:
        """Return the measured time over the predicted one."""
        return self.measured / self.predicted

    @property
    def source(self) -> str:
        """Name what was measured together: one publisher's runs of one model on one chip."""
        return f"{self.publisher}: {self.model} on {self.chip}"

    @property
    def kind(self) -> Class:
        """Return the class of the model and its chips."""
        return class_of(self.devices, self.experts)


@dataclass(frozen=True)
class Band:
    """A band of factors above the floor that holds the central 90 % of a class's rows.

    `count` rows made it and `inside` of them, nine tenths, lie in it; `models` and `chips` are what
    they were measured on; `batches` are the fewest and the most sequences at once among them, and
    `usual` those between which eight tenths of the rows lie.
    """

    kind: Class
    count: int
    inside: int
    low: float
    high: float
    models: tuple[str, ...]
    chips: tuple[str, ...]
    batches: tuple[float, float]
    usual: tuple[int, int]

    @property
    def name(self) -> str:
        """Return the name of the class."""
        return self.kind.name


def class_of(devices: float, experts: float = 1) -> Class:
    """Return the class of a model on `devices` chips.

    `devices` and `experts` are above 0; `experts` counts the routed experts, 1 if the model is
    dense.

    >>> class_of(1).name, class_of(8, experts=128).name, class_of(9, experts=128).name
    ('dense, 1 chip', 'experts, 2–8 chips', 'experts, over 8 chips')
    """
    return next(kind for kind in CLASSES if kind.experts == (experts > 1) and devices <= kind.most)


def _kernels() -> list[Ratio]:
    """Return the decode steps computed from measured kernels, tensor parallel over a node."""
    found = []
    for row in facts.load("measured_steps"):
        known: dict = scenario.values(
            hardware=row["chip"],
            model=row["model"],
            precision=row["precision"],
            context=row["context"],
            devices=row["devices"],
            batch=row["batch"],
        )
        found.append(
            Ratio(
                row.name,
                "kernels",
                row["model"],
                row["chip"],
                row["precision"],
                row["devices"],
                known["experts"],
                row["batch"],
                row["measured_step_s"],
                latency.step_time(known),
            )
        )
    return found


def _silicon(left: dict[str, int]) -> list[Ratio]:
    """Return the servers of the table whose runs ``validation`` fits.

    The context of a request is its prompt and half its answer.  Rows that are left out are counted
    in `left` by the reason.
    """
    found = []
    for case in validation.cases():
        why_not = case.why_not or (
            "tokens are guessed ahead, so a step gives several" if case.known["drafts"] else ""
        )
        if why_not:
            _count(left, why_not)
            continue
        known = dict(case.known)
        if case.precision == "fp4":
            known["bytes_per_parameter"] = 0.5
        found.append(
            Ratio(
                case.name,
                "InferenceX",
                case.model,
                case.chip,
                case.precision,
                case.devices,
                known["experts"],
                case.batch,
                case.measured,
                latency.step_time_mixed(known),
            )
        )
    return found


def _runs() -> list[Ratio]:
    found = []
    for row in facts.load("measured_runs"):
        known = validation.run_values(row)
        floor = latency.step_time_mixed if known["prompt_per_answer"] else latency.step_time
        found.append(
            Ratio(
                row.name,
                row["publisher"],
                row["shape"],
                row["chip"],
                row["precision"],
                row["chips"],
                known["experts"],
                known["batch"],
                row["tpot_ms"] / 1e3,
                floor(known),
            )
        )
    return found


def _reports(left: dict[str, int]) -> list[Ratio]:
    """Return the deployments that decode, with their tokens per second and chip.

    Only those count that say how many sequences share a chip; the others are counted in `left` by
    the reason.
    """
    found = []
    for row in facts.load("measured_serving"):
        each, unit = [*(row["batch"] or "").split(" ", 1), ""][:2]
        why_not = (
            "no decode step alone"
            if row["phase"] not in ("decode", *_SERVICES)
            else "no batch is stated"
            if unit != "per GPU"
            else "tokens are guessed ahead, so a step gives several"
            if "MTP" in row["parallelism"]
            else ""
        )
        if why_not:
            _count(left, why_not)
            continue
        chip, model = (
            _CHIPS[row["system"].split(" node")[0]],
            _SHAPES.get(row["model"], row["model"]),
        )
        precision = "fp4" if "fp4" in row["weights_dtype"] else row["weights_dtype"]
        prompt, answer = (
            float(row["input_tokens"] or 0),
            float(row["output_or_context_tokens"] or 0),
        )
        known: dict = scenario.values(
            hardware=chip,
            model=model,
            precision=precision,
            devices=row["chips"],
            batch=float(each) * row["chips"],
            context=prompt + answer / 2 if prompt else answer,
        )
        if (row["kv_or_attention_dtype"] or "").startswith("bf16"):
            known["kv_bytes_per_token"] *= 2
        found.append(
            Ratio(
                row.name,
                row.source,
                model,
                chip,
                precision,
                row["chips"],
                known["experts"],
                known["batch"],
                float(each) / row["tokens_per_s_per_chip"],
                latency.step_time(known),
            )
        )
    return found


def _count(counts: dict[str, int], key: str) -> None:
    counts[key] = counts.get(key, 0) + 1


@cache
def _read() -> tuple[tuple[Ratio, ...], dict[str, int]]:
    left: dict[str, int] = {}
    return (*_kernels(), *_silicon(left), *_runs(), *_reports(left)), left


def ratios(kind: Class | None = None) -> tuple[Ratio, ...]:
    """Return every usable measurement, or those of one class.

    >>> all(row.ratio > 1 for row in ratios())
    True
    """
    rows = _read()[0]
    return rows if kind is None else tuple(row for row in rows if row.kind == kind)


def count_left_out() -> dict[str, int]:
    """Return how many rows of the tables no band counts, by the reason.

    >>> tables = ("measured_steps", "measured_silicon", "measured_runs", "measured_serving")
    >>> len(ratios()) + sum(count_left_out().values()) == sum(
    ...     len(facts.load(table)) for table in tables
    ... )
    True
    """
    return dict(_read()[1])


def central(rows: Iterable[Ratio]) -> tuple[float, float]:
    """Return the ends (low, high) of the central 90 % of the ratios of one row or more."""
    ratios = [row.ratio for row in rows]
    if len(ratios) == 1:
        return ratios[0], ratios[0]
    cuts = statistics.quantiles(ratios, n=20, method="inclusive")
    return cuts[0], cuts[-1]


def _outward(rows: Iterable[Ratio]) -> tuple[float, float]:
    low, high = central(rows)
    return math.floor(low * 10) / 10, math.ceil(high * 10) / 10


@cache
def band_of(kind: Class) -> Band | None:
    """Return the band of a class, or None where fewer than `FEWEST` of its runs are published."""
    rows = ratios(kind)
    if len(rows) < FEWEST:
        return None
    low, high = _outward(rows)
    batches = [row.batch for row in rows]
    cuts = statistics.quantiles(batches, n=10, method="inclusive")
    return Band(
        kind,
        len(rows),
        sum(low <= row.ratio <= high for row in rows),
        low,
        high,
        tuple(sorted({row.model for row in rows})),
        tuple(sorted({row.chip for row in rows})),
        (min(batches), max(batches)),
        (math.ceil(cuts[0]), math.floor(cuts[-1])),
    )


def band(
    devices: float, *, experts: float | None = None, model: str | shapes.Shape | None = None
) -> Band | None:
    """Return the band of a scenario's class, or None if too few rows were published for it.

    Too few means fewer than ``FEWEST``.

    Parameters
    ----------
    devices : float
        Chips that share one copy of the model, above 0.
    experts : float, optional
        Routed experts of the model, 1 if it is dense; a dense model where neither this nor a model
        is given.
    model : str or Shape, optional
        In place of `experts`: a name of the scenario's models, or a shape of your own.

    Raises
    ------
    ScenarioError
        An unknown model.

    >>> band(1, model="gpt-oss-120b") == band(1, experts=128)
    True
    """
    if model is not None:
        experts = scenario.values(model=model)["experts"]
    return band_of(class_of(devices, 1 if experts is None else experts))


def describe_band(kind: Class) -> str:
    """Return in words which measurements the band of a class holds, or why it has none.

    >>> describe_band(class_of(72))
    'no measured band for a dense model on more than 8 chips: 0 runs are published,
    and a band takes 30'
    """
    found = band_of(kind)
    if found is None:
        return (
            f"no measured band for {kind.text}: {len(ratios(kind))} runs are published, and a "
            f"band takes {FEWEST}"
        )
    makers = sorted({facts.get("accelerators", chip)["vendor"] for chip in found.chips})
    return (
        f"the roofline times {found.low:g} to {found.high:g}, which covers nine tenths of "
        f"{found.count} published runs of {kind.text} (chips of {' and '.join(makers)}), each "
        f"against its own prediction; shown from batch {_usual(found)}, where most of them lie"
    )


def _usual(found: Band) -> str:
    low, high = found.usual
    return f"{low:,} to {high:,}"


def describe_unusual(kind: Class) -> str:
    """Return in words why a class that has a band shows none at a batch outside the usual ones.

    >>> describe_unusual(class_of(72, experts=256))
    'no measured band at this batch: of 58 published runs of a mixture of experts on more than
    8 chips, eight tenths had batches of 14 to 5,672'
    """
    found = band_of(kind)
    assert found is not None, f"{kind.name} has no band"
    return (
        f"no measured band at this batch: of {found.count} published runs of {kind.text}, eight "
        f"tenths had batches of {_usual(found)}"
    )


def page_bands() -> list[dict]:
    """Return the bands as an explorer's curve takes them (``Curve.bands``), class by class."""
    found = []
    for kind in CLASSES:
        made = band_of(kind)
        found.append(
            {
                "when": {
                    "experts": kind.experts,
                    "most": None if kind.most == math.inf else kind.most,
                },
                "band": (made.low, made.high) if made else None,
                "text": describe_band(kind),
                "batches": made.usual if made else None,
                "beyond": describe_unusual(kind) if made else "",
            }
        )
    return found


def leave_source_out(kind: Class) -> dict[str, tuple[int, int]]:
    """Return how many rows of each source lie in the band of all others, and how many it has.

    A source is one publisher's runs of one model on one chip (``Ratio.source``).  A class of one
    source gives nothing.
    """
    rows, found = ratios(kind), {}
    for source in sorted({row.source for row in rows}):
        others = [row for row in rows if row.source != source]
        if not others:
            return {}
        low, high = _outward(others)
        mine = [row for row in rows if row.source == source]
        found[source] = sum(low <= row.ratio <= high for row in mine), len(mine)
    return found
