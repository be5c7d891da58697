"""Fit what has to be added to the floor until it predicts the servers that were measured.

The floor (``latency.step_time_mixed``) knows bandwidth and arithmetic.  A server's chips also talk
to each other in every layer, and each layer costs something whatever its size.
``served_step_time`` is a server that shares every layer; in ``served_step_time_apart`` each chip
attends for sequences of its own and only experts are shared.  Every term can be switched off, and
the floor's have an efficiency.  A server that guesses tokens ahead (speculative decoding) keeps a
share of what it works on, ``kept_share``.  ``fits`` finds the free numbers for each model and chip
from some of the measured rows and says how well they predict the others.

What helps, by the mean error on rows that a fit has not seen.  Guessed tokens matter most: left
out, DeepSeek is off by 19 % on B200 and 21 % on H200; with them by 12 % and 6 %.  The terms for
attention apart, the all-to-all and copied weights, take 15 % to 12 % on B200; on H200 and for
gpt-oss, with few such rows, they change nothing.  Experts that lie whole on different chips need no
term while attention is shared: every chip has every token already, and the all-reduce adds up what
the experts say.  Tried and left out, since no band narrowed: a latent cache that is copied on all
chips that share its heads, uneven loads of experts, wider weights outside the experts.

A fit holds where it was made: ``fitted_range`` gives the chips, sequences, contexts and prompts of
its rows, and ``predict`` refuses to go beyond them.

>>> off = dict(memory_efficiency=1, compute_efficiency=1, network_efficiency=1, layer_overhead=0)
>>> case = cases()[0]
>>> alone = case.known | {"devices": 1}
>>> round(
...     served_step_time(alone | off) / latency.step_time_mixed(alone), 9
... )  # switched off: the floor again
1.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from handful import facts, latency, scenario
from handful.experts import communication_time
from handful.latency import compute_time, memory_time
from handful.serving import (
    copied_weight_time,
    kept_share,
    served_step_time,
    served_step_time_apart,
    tensor_parallel_time,
)

TERMS = (
    "memory_efficiency",
    "compute_efficiency",
    "network_efficiency",
    "layer_overhead",
    "acceptance",
)
FEWEST = 30  # rows for a fit
_CHIPS = {
    "h100_sxm": "H100 SXM",
    "h200_sxm": "H200 SXM",
    "b200_sxm": "B200 SXM",
    "gb200": "GB200 NVL72",
}
_ALIKE = {"GB200 NVL72": "B200 SXM", "GB300 NVL72": "B200 SXM", "H100 SXM": "H200 SXM"}
# R1 is V3 trained further: the same shape.
_MODELS = {
    "Llama-3.1-70B": "Llama 3.1 70B",
    "gpt-oss-120b": "gpt-oss-120b",
    "DeepSeek-R1": "DeepSeek-V3",
    "MiniMax-M2.5": "MiniMax-M2.5",
}
# Four-bit weights carry a scale of 8 bits for each block of 32 (mxfp4); nvfp4's blocks of 16 are
# taken for the same.
_FOUR_BIT = (4 + 8 / 32) / 8  # bytes
# The table does not say which runs of DeepSeek-R1 guess ahead.  The published configurations do:
# their images and search spaces are those of these days' runs, with 3 guesses, or 1 where attention
# is apart (github SemiAnalysisAI/InferenceX .github/configs/nvidia-master.yaml, dsr1-*-trt-mtp, and
# pull requests 392 and 632).
_GUESSING = {"DeepSeek-V3": ("2026-01-14", "2026-02-05", "2026-02-06")}


@dataclass(frozen=True)
class Case:
    """One measured row: what was run, the values of symbols for it, and the seconds per token.

    `why_not` gives the reason if it is not fitted.

    `sharing` is "sliced" (each chip has a slice of every layer), "experts whole" (of everything but
    experts, which lie whole on one chip each) or "attention apart".
    """

    name: str
    model: str
    chip: str
    precision: str
    devices: int
    batch: int
    sharing: str
    known: dict
    measured: float
    why_not: str = ""

    @property
    def over_floor(self) -> float:
        """Return the measured time over the floor."""
        return self.measured / latency.step_time_mixed(self.known)

    def predicted(self, terms: dict[str, float]) -> float:
        """Return the seconds per token of a sequence, with the numbers of a fit."""
        return _seconds(self.known | terms, self.sharing)


def _seconds(known: dict, sharing: str) -> float:
    """Return the seconds per token of a sequence, from values that include a fit's terms."""
    known = _working(known)
    step = served_step_time_apart if sharing == "attention apart" else served_step_time
    return step(known) / (known["kept_share"] * known["new_tokens_per_sequence"])


def _working(known: dict) -> dict:
    """Return the values for a step that also works on guessed tokens, and the share kept."""
    return known | {
        "new_tokens_per_sequence": known["new_tokens_per_sequence"] + known["drafts"],
        "kept_share": kept_share(known),
    }


def _chips(row) -> int:
    """Return the chips of a run; whole experts lie on all of them.

    Some rows count "tp8_ep8" as 8 × 8; their twins say 8.
    """
    return row["moe_ep"] if row["moe_ep"] > 1 else row["chips"]


# What tells one measured run from another.
_RUN = (
    "model",
    "system",
    "precision",
    "isl_tokens",
    "osl_tokens",
    "concurrency",
    "ttft_ms",
    "tpot_ms",
)


@cache
def cases() -> tuple[Case, ...]:
    """Return every measured row whose model's shape is known."""
    found, runs = [], set()
    # Of a run that is listed twice, the row that counts its chips right comes first.
    for row in sorted(facts.load("measured_silicon"), key=lambda row: row["chips"] != _chips(row)):
        model = _MODELS.get(row["model"].split("/")[1])
        if model is None:
            continue
        run = tuple(row[column] for column in _RUN)
        why_not = ""
        if run in runs:
            why_not = "a run that is listed twice"
        elif row["system"] == "gb200":
            why_not = "on GB200 some chips only read prompts, and how many is not recorded"
        runs.add(run)
        found.append(_case(row, model, why_not))
    return tuple(found)


def _case(row: facts.Row, model: str, why_not: str) -> Case:
    """Return a measured row with the values of its symbols."""
    chip, chips, sharing = facts.get("accelerators", _CHIPS[row["system"]]), _chips(row), "sliced"
    if row["attention_dp"] > 1:
        sharing = "attention apart"
    elif row["moe_ep"] > 1:
        sharing = "experts whole"
    guesses = row["measured_date"] in _GUESSING.get(model, ())
    emulated = row["precision"] == "fp4" and not chip["fp4_dense_flops"]
    known = scenario.values(
        hardware=chip.name,
        model=model,
        precision="bf16" if emulated else row["precision"],
        devices=chips,
        context=row["isl_tokens"] + row["osl_tokens"] / 2,
        batch=row["concurrency"],
        **_weights(row["precision"]),
    )
    known |= {
        "prompt_per_answer": row["isl_tokens"] / row["osl_tokens"],
        "drafts": (1 if sharing == "attention apart" else 3) if guesses else 0,
    }
    return Case(
        row.name,
        model,
        chip.name,
        row["precision"],
        chips,
        row["concurrency"],
        sharing,
        known,
        row["tpot_ms"] / 1e3,
        why_not,
    )


def _weights(precision: str) -> dict[str, Any]:
    """Return the bytes of a weight where they are not those of the scenario's precision."""
    return {"bytes_per_parameter": _FOUR_BIT} if precision == "fp4" else {}


@dataclass(frozen=True)
class Fit:
    """The numbers fitted to one model on one chip, and how well they predict unseen rows.

    Together they predict; one by one they are loose, since one can make up for another (an
    efficiency of 1 says so).  `low` and `high` are the central 90 % of measured over predicted,
    each row predicted by a fit to the other four fifths; `by_sharing` the same, with the number of
    rows, for each way to share the work; `floor_low` and `floor_high` the same over the floor
    alone.
    """

    model: str
    chip: str
    rows: int
    terms: dict[str, float]
    low: float
    high: float
    floor_low: float
    floor_high: float
    by_sharing: dict[str, tuple[int, float, float]]


def _parts(rows: list[Case], acceptance: float):
    """Return what each of the first four numbers multiplies or divides, one row per case.

    The first three columns are seconds per token, the fourth layers per token.

    All rows that share the work alike are computed at once.
    """
    import numpy as np

    found = np.empty((len(rows), 4))
    for apart in (False, True):
        here = [i for i, case in enumerate(rows) if (case.sharing == "attention apart") is apart]
        if not here:
            continue
        columns = {
            name: np.array([rows[i].known[name] for i in here], dtype=float)
            for name in rows[here[0]].known
        }
        known = _working(columns | {"acceptance": acceptance})
        prompts = 1 + known["prompt_per_answer"] * known["kept_share"]
        if apart:
            memory, traffic = (
                memory_time(known) + copied_weight_time(known),
                communication_time(known) * prompts,
            )
        else:
            memory, traffic = memory_time(known), tensor_parallel_time(known)
        step = np.stack([memory, compute_time(known) * prompts, traffic, known["layers"]], axis=1)
        found[here] = step / (known["kept_share"] * known["new_tokens_per_sequence"])[:, None]
    return found


def _fit_at(rows: list[Case], acceptance: float) -> tuple[float, dict[str, float]]:
    """Return the mean error and the numbers of the fit for a given acceptance.

    The four other numbers minimise the relative errors, with less weight on outliers.
    """
    import numpy as np
    from scipy.optimize import nnls

    shares = _parts(rows, acceptance) / np.array([[case.measured] for case in rows])
    # No efficiency is above 1, so no factor below it.
    least, weight = np.array([1, 1, 1, 0]), np.ones(len(rows))
    for _ in range(40):
        factors = least + nnls(shares * weight[:, None], weight * (1 - shares @ least))[0]
        errors = np.abs(np.log(shares @ factors))
        weight = np.maximum(errors, 0.05) ** -0.5
    found = {
        name: float(factor if name == "layer_overhead" else 1 / factor)
        for name, factor in zip(TERMS[:4], factors, strict=True)
    }
    return float(errors.mean()), found | {"acceptance": acceptance}


def _fit(rows: list[Case]) -> dict[str, float]:
    """Return all the numbers of a fit; the acceptance is 0 where nothing is guessed."""
    from scipy.optimize import minimize_scalar

    if not any(case.known["drafts"] for case in rows):
        return _fit_at(rows, 0.0)[1]
    best = minimize_scalar(
        lambda acceptance: _fit_at(rows, acceptance)[0],
        bounds=(0, 0.99),
        method="bounded",
        options={"xatol": 1e-3},
    ).x
    return _fit_at(rows, float(best))[1]


class OutsideFit(ValueError):
    """An error for a model and chip without a fit, or for a load or machine outside its rows."""


_NOUNS = {
    "devices": "chips",
    "batch": "sequences",
    "context": "tokens of context",
    "prompt_per_answer": "prompt tokens for each answer token",
}


@cache
def fitted_range(model: str, chip: str) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest values that a fit has seen.

    Keys: `devices`, `batch`, `context` and `prompt_per_answer`.  Raises `OutsideFit` where there is
    no fit.

    >>> fitted_range("DeepSeek-V3", "B200 SXM")["devices"]
    (4, 8)
    >>> fitted_range("Qwen3 32B", "B200 SXM")
    Traceback (most recent call last):
    ...
    handful_evidence.validation.OutsideFit: There is no fit of Qwen3 32B on B200 SXM;
    there are fits of DeepSeek-V3 on ...
    """
    if (model, chip) not in fitted_pairs():
        raise OutsideFit(
            f"There is no fit of {model} on {chip}; there are fits of "
            f"{', '.join(f'{a} on {b}' for a, b in fitted_pairs())}."
        )
    rows = rows_of(model, chip)
    return {
        name: (min(case.known[name] for case in rows), max(case.known[name] for case in rows))
        for name in _NOUNS
    }


def describe_extrapolation(model: str, chip: str, **asked: float) -> str:
    """Return a sentence if a fit was made from no such machines or loads, else "".

    `asked` holds values of `devices`, `batch`, `context` or `prompt_per_answer`.  Raises
    `OutsideFit` where there is no fit.

    >>> describe_extrapolation("DeepSeek-V3", "B200 SXM", devices=32, batch=64)
    'The fit of DeepSeek-V3 on B200 SXM holds for 4 to 8 chips; got 32.'
    >>> describe_extrapolation("DeepSeek-V3", "B200 SXM", devices=8)
    ''
    """
    ends = fitted_range(model, chip)
    beyond = [
        (name, value)
        for name, value in asked.items()
        if not ends[name][0] <= value <= ends[name][1]
    ]
    if not beyond:
        return ""
    holds = " and ".join(
        f"{ends[name][0]:,g} to {ends[name][1]:,g} {_NOUNS[name]}" for name, _ in beyond
    )
    return (
        f"The fit of {model} on {chip} holds for {holds}; got "
        f"{' and '.join(f'{value:,g}' for _, value in beyond)}."
    )


def predict(
    model: str,
    chip: str,
    precision: str,
    *,
    devices: int,
    batch: float,
    context: float,
    prompt_per_answer: float,
    sharing: str = "sliced",
) -> float:
    """Return the seconds per token of each sequence on a server of a fitted kind.

    The server guesses no tokens ahead.

    Parameters
    ----------
    model, chip, precision : str
        Names of the scenario's rows.
    devices, batch, context, prompt_per_answer : float
        Chips, sequences at once, mean tokens of context, and tokens of prompt for each token of an
        answer.
    sharing : str
        How the chips share the work: "sliced", "experts whole" or "attention apart", as in
        ``Case``.

    Raises
    ------
    OutsideFit
        No such fit, a value beyond ``fitted_range``, or a way to share the work that the fit has
        not seen.

    >>> at = dict(batch=64, context=1536, prompt_per_answer=1)
    >>> round(predict("Llama 3.1 70B", "H100 SXM", "fp8", devices=8, **at) * 1e3)
    15
    >>> predict("Llama 3.1 70B", "H100 SXM", "fp8", devices=16, **at)
    Traceback (most recent call last):
    ...
    handful_evidence.validation.OutsideFit: The fit of Llama 3.1 70B on H100 SXM holds for 2 to 8
    chips;
    got 16.
    """
    load: dict[str, Any] = {"devices": devices, "batch": batch, "context": context}
    refusal = describe_extrapolation(model, chip, **load, prompt_per_answer=prompt_per_answer)
    ways = sorted({case.sharing for case in rows_of(model, chip)})
    if not refusal and sharing not in ways:
        refusal = (
            f"The fit of {model} on {chip} holds for servers that share the work like this: "
            f"{', '.join(ways)}; got {sharing}."
        )
    if refusal:
        raise OutsideFit(refusal)
    known = scenario.values(
        hardware=chip, model=model, precision=precision, **load, **_weights(precision)
    )
    return _seconds(
        known | {"prompt_per_answer": prompt_per_answer, "drafts": 0} | terms(model, chip), sharing
    )


def run_values(row: facts.Row) -> dict:
    """Return values of symbols for a row of ``measured_runs``: those of one copy of the model.

    `concurrency` is the requests in flight, as they were capped or as they were measured.  Of a
    request's time, `ttft_ms` is waiting and reading the prompt; for the rest it decodes.  So at any
    time the same share of the requests decode together.  Where `ttft_ms` is empty, `tpot_ms` is the
    time of a whole batch over the tokens of one answer, its prompts included, and all requests
    share every step.  A request alone shares its steps with no prompt.

    >>> row = facts.load("measured_runs").get(
    ...     "kimik2_5_gb200_trtllm_fp4_disagg_1024x1024_c4_cfg759"
    ... )
    >>> known = run_values(row)
    >>> (
    ...     known["devices"],
    ...     round(known["batch"], 2),
    ...     known["prompt_per_answer"],
    ... )  # four requests at four copies
    (8, 0.97, 0)
    """
    answering = row["osl_tokens"] * row["tpot_ms"]
    no_prompts = row["prompts_apart"] or row["concurrency"] == 1
    return scenario.values(
        hardware=row["chip"],
        model=row["shape"],
        precision=row["precision"],
        devices=row["chips"],
        context=row["isl_tokens"] + row["osl_tokens"] / 2,
        batch=row["concurrency"] / row["copies"] * answering / (answering + (row["ttft_ms"] or 0)),
    ) | {"prompt_per_answer": 0 if no_prompts else row["isl_tokens"] / row["osl_tokens"]}


def larger_machine_ratios() -> list[tuple[int, float]]:
    """Return what a fit would predict for larger machines than those it was made from.

    Each item is the number of chips, and the measured over the predicted time.

    The rows are those of ``measured_runs`` whose model was fitted, on more chips than the fit has
    seen.  Where the chip has no fit, that of the chip with the same arithmetic stands in: a B200's
    for racks, an H200's for the H100.

    >>> found = larger_machine_ratios()
    >>> len(found) > 40 and min(devices for devices, _ in found) > 8
    True
    """
    found = []
    for row in facts.load("measured_runs"):
        pair = row["shape"], _ALIKE.get(row["chip"], row["chip"])
        if pair not in fitted_pairs() or row["chips"] <= fitted_range(*pair)["devices"][1]:
            continue
        predicted = _seconds(
            run_values(row) | _weights(row["precision"]) | {"drafts": 0} | terms(*pair),
            "attention apart" if row["attention_apart"] else "experts whole",
        )
        found.append((row["chips"], row["tpot_ms"] / 1e3 / predicted))
    return found


@cache
def rows_of(model: str, chip: str) -> tuple[Case, ...]:
    """Return the measured rows of a model on a chip that a fit may use."""
    return tuple(
        case for case in cases() if (case.model, case.chip) == (model, chip) and not case.why_not
    )


def fitted_pairs() -> tuple[tuple[str, str], ...]:
    """Return each model and chip with enough measured rows for a fit."""
    found = sorted({(case.model, case.chip) for case in cases()})
    return tuple(pair for pair in found if len(rows_of(*pair)) >= FEWEST)


@cache
def terms(model: str, chip: str) -> dict[str, float]:
    """Return the numbers that fit all rows of a model on a chip, by the names of their terms."""
    return _fit(list(rows_of(model, chip)))


def cross_validate(rows: Sequence[Case]):
    """Return an array of measured over predicted times, each predicted without using its own row.

    Each row is predicted by a fit to the other four fifths of the rows.
    """
    import numpy as np

    ratios = np.empty(len(rows))
    for fold in range(5):
        found = _fit([case for i, case in enumerate(rows) if i % 5 != fold])
        ratios[fold::5] = [case.measured / case.predicted(found) for case in rows[fold::5]]
    return ratios


def _band(values) -> tuple[float, float]:
    import numpy as np

    low, high = np.quantile(values, [0.05, 0.95])
    return float(low), float(high)


@cache
def fits() -> tuple[Fit, ...]:
    """Return a fit for each model and chip with enough measured rows.

    >>> all(0.8 < fit.low < 1 < fit.high < 1.35 for fit in fits())
    True
    """
    found = []
    for model, chip in fitted_pairs():
        rows = rows_of(model, chip)
        ways: dict[str, list[float]] = {}
        ratios = cross_validate(rows)
        for case, ratio in zip(rows, ratios, strict=True):
            ways.setdefault(case.sharing, []).append(ratio)
        found.append(
            Fit(
                model,
                chip,
                len(rows),
                terms(model, chip),
                *_band(ratios),
                *_band([case.over_floor for case in rows]),
                {sharing: (len(here), *_band(here)) for sharing, here in ways.items()},
            )
        )
    return tuple(found)


def count_unfitted() -> dict[str, int]:
    """Count the measured rows that are not fitted, by the reason."""
    reasons: dict[str, int] = {}
    for row in facts.load("measured_silicon"):
        if row["model"].split("/")[1] not in _MODELS:
            reason = f"the shape of {row['model'].split('/')[1]} is not among the facts"
            reasons[reason] = reasons.get(reason, 0) + 1
    enough = fitted_pairs()
    for case in cases():
        few = "" if (case.model, case.chip) in enough else "too few rows of this model on this chip"
        reason = case.why_not or few
        if reason:
            reasons[reason] = reasons.get(reason, 0) + 1
    return reasons
