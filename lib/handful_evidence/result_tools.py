"""Name the numbers as each benchmark of LLM servers calls them, for ``result_files``.

A reader takes the fields of one result and returns the values of a ``Run`` in SI units, by name;
what else should be known it adds to the notes of the fields.  Names and limits stand in
``result_files.json``; ``handful_site/runs/result_tools.js``, which reads the same results in the
page, shares them.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, NamedTuple

from handful.units import plural

# As in ``handful_site/runs``.
TABLES = json.loads(
    resources.files("handful_evidence").joinpath("result_files.json").read_text("utf-8")
)
LONGEST: int = TABLES["most"]["shown"]  # characters of a name


class Unreadable(ValueError):
    """Say what is wrong with a file or a run, in one sentence."""


class UnknownKind(Unreadable):
    """A file, or a part of one, that no reader knows."""


# What a part holds --------------------------------------------------------------------------------


@dataclass
class Fields:
    """Fields of a result by name, with where they stand; notes are shared by a run's parts."""

    values: dict[str, Any]
    at: str = ""
    notes: list[str] = field(default_factory=list)

    def part(self, key: str) -> Fields:
        """Return the object of that name, or an empty one."""
        value = self.values.get(key)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise Unreadable(f"{self.at}{key} must be an object in braces; got {told(value)}.")
        return Fields(value, f"{self.at}{key}.", self.notes)

    def number(self, key: str) -> float | None:
        """Return a finite number, 0 or more, or None."""
        value = self.values.get(key)
        if value is None:
            return None
        if not _is_number(value) or not math.isfinite(value) or value < 0:
            raise Unreadable(
                f"{self.at}{key} must be a finite number, 0 or more; got {told(value)}."
            )
        return float(value) + 0  # no "-0"

    def count(self, key: str, least: int = 1) -> int | None:
        """Return a whole number from `least` to a billion, or None; text of digits counts."""
        value = self.values.get(key)
        if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value.strip()):
            value = int(value)
        if value is None:
            return None
        if not _is_number(value) or not least <= value <= 1e9 or value != int(value):
            raise Unreadable(
                f"{self.at}{key} must be a whole number from {least} to a billion; "
                f"got {told(value)}."
            )
        return int(value)

    def text(self, key: str) -> str:
        """Return a text as it can be shown, empty where there is none."""
        value = self.values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise Unreadable(f"{self.at}{key} must be a text; got {told(value)}.")
        return shown(value)

    def mean(self, name: str) -> float | None:
        """Return the mean of a time, or the median with a note, in the unit of the file."""
        for kind in ("mean", "median"):
            value = self.number(f"{kind}_{name}")
            if value is not None:
                if kind == "median":
                    self.notes.append(note_median(f"{self.at}{name}"))
                return value
        return None


FOR_THE_MEAN = "the median stands for the mean, which is not given"


def note_median(name: str) -> str:
    """Return the note that a value is the median of its kind."""
    return f"{name}: {FOR_THE_MEAN}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(text: str, most: int = LONGEST) -> str:
    r"""Return an untrusted text as it can be shown, in one line.

    >>> shown("a\nb\u202e"), len(shown("x" * 500))
    ('a\\u000ab\\u202e', 120)
    """
    spelled = "".join(
        f"\\u{ord(letter):04x}"
        if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
        else letter
        for letter in text.strip()[: most + 1]
    )
    return spelled if len(spelled) <= most else f"{spelled[: most - 1]}…"


def told(value: Any) -> str:
    """Return what stood where something else is allowed, in a few words.

    >>> told("12 ms"), told(math.nan), told([1, 2]), told(None)
    ('the text “12 ms”', 'NaN', 'a list', 'null')
    """
    if isinstance(value, str):
        return f"the text “{shown(value, 40)}”"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, float) and math.isinf(value):
        return "infinity, or a number too large"
    if _is_number(value):
        return f"{value + 0:g}"  # no "-0"
    if value is None:
        return "null"
    return "a list" if isinstance(value, list) else "an object"


# What a column may be called; where its name ends in _ms or starts with median, so is its value.
COLUMNS: dict[str, tuple[str, ...]] = {
    name: tuple(columns) for name, columns in TABLES["columns"].items()
}
TEXTS: tuple[str, ...] = tuple(TABLES["texts"])
COLUMN_NAMES = {column: name for name, columns in COLUMNS.items() for column in columns}

# The tools ----------------------------------------------------------------------------------------


def _ms(value: float | None) -> float | None:
    return None if value is None else value / 1000


def _over(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other


def _serving(f: Fields) -> dict[str, Any]:
    """Return what the JSON of vLLM's serving benchmark and of SGLang's have in common."""
    completed, duration = f.number("completed"), f.number("duration")
    if completed == 0:
        raise Unreadable("completed is 0: no request was answered, so nothing was measured.")
    failed, sent = f.number("failed"), f.number("num_prompts")
    if failed:
        f.notes.append(f"{plural(failed, 'request')} failed")
    elif sent and completed and completed < sent:
        f.notes.append(f"only {completed:g} of {sent:g} requests were answered")
    answers = f.number("total_output_tokens")
    by_totals = _over(answers, duration)
    throughput = f.number("output_throughput")
    if throughput is None:
        throughput = by_totals
    elif by_totals and not math.isclose(throughput, by_totals, rel_tol=0.02):
        f.notes.append(
            f"output_throughput is {throughput:.4g}, but total_output_tokens over duration "
            f"{by_totals:.4g}"
        )
    requests = f.number("request_throughput")
    found: dict[str, Any] = {
        "input_tokens": _over(f.number("total_input_tokens"), completed),
        "output_tokens": _over(answers, completed),
        "time_per_output_token": _ms(f.mean("tpot_ms")),
        "time_to_first_token": _ms(f.mean("ttft_ms")),
        "output_throughput": throughput,
        "request_throughput": requests if requests is not None else _over(completed, duration),
        **_added(f),
    }
    gaps, tpot = _ms(f.number("mean_itl_ms")), found["time_per_output_token"]
    if gaps and tpot and gaps > 1.5 * tpot:
        f.notes.append(
            f"mean_itl_ms is {gaps / tpot:.2g} times the time per output token: a chunk of the "
            "stream holds several tokens, by speculation or by a stream interval"
        )
    return found


def _added(f: Fields) -> dict[str, Any]:
    """Return the hardware, precision and chips that whoever ran it added to a result."""
    found: dict[str, Any] = {}
    for name in ("hardware", "precision", "devices"):
        for key in COLUMNS[name]:
            value = f.values.get(key)
            if isinstance(value, str) or (name == "devices" and _is_number(value)):
                found[name] = f.count(key) if name == "devices" else f.text(key)
                break
    return found


def _rate(f: Fields) -> float | None:
    """Return the requests a second that were to be sent; infinity where all were sent at once."""
    value = f.values.get("request_rate")
    if value is None:
        return None
    if isinstance(value, str) and value.lower() in ("inf", "infinity"):
        return math.inf
    if not _is_number(value) or not value > 0:
        raise Unreadable(
            f"{f.at}request_rate must be a number above 0, or inf for all at once; "
            f"got {told(value)}."
        )
    return float(value)


def _cap(f: Fields) -> float | None:
    """Return the cap on requests in flight, with a note where there is none."""
    cap, sent, rate = f.number("max_concurrency"), f.number("num_prompts"), _rate(f)
    if cap is None:
        how = "all requests were sent at once, and the server chose its batch"
        if rate is not None and math.isfinite(rate):
            how = f"requests came at {rate:g} a second"
        f.notes.append(f"no cap on concurrency: {how}")
    elif sent and sent < cap:
        f.notes.append(f"max_concurrency is {cap:g}, but only {sent:g} requests were sent")
        return sent
    return cap


def _from_whole(f: Fields, found: dict[str, Any], name: str) -> None:
    """Put in the time per output token from the latency of whole requests, where it is missing."""
    if found["time_per_output_token"] is not None:
        return
    whole, first, length = _ms(f.mean(name)), found["time_to_first_token"], found["output_tokens"]
    if whole is None or first is None or length is None or length <= 1 or whole <= first:
        return
    found["time_per_output_token"] = (whole - first) / (length - 1)
    f.notes.append(
        f"the time per output token is computed: {name} less the time to the first token, over "
        "the mean length of an answer less one"
    )


def _vllm_serve(f: Fields) -> dict[str, Any]:
    found = _serving(f)
    found["concurrency"] = _cap(f)
    _from_whole(f, found, "e2el_ms")
    found["model"] = f.text("model_id")
    _speculation(f, "spec_decode_acceptance_length")
    return found


def _speculation(f: Fields, key: str, since: str = "") -> None:
    accepted = f.number(key)
    if accepted and accepted > 1:
        f.notes.append(
            f"speculative decoding: a step gives {accepted:.3g} tokens on average{since} ({key})"
        )


def _sglang(f: Fields) -> dict[str, Any]:
    found = _serving(f)
    measured = f.number("concurrency")
    found["concurrency"] = measured if measured is not None else _cap(f)
    if found["output_tokens"] is None and f.number("random_output_len"):
        spread = f.number("random_range_ratio") or 0
        f.notes.append(
            "lengths inferred: prompts and answers are taken as halfway between random_range_ratio "
            "and 1 times the lengths asked for"
        )
        for name, key in (("input", "random_input_len"), ("output", "random_output_len")):
            most = f.number(key)
            found[f"{name}_tokens"] = None if most is None else most * (1 + min(spread, 1)) / 2
    _from_whole(f, found, "e2e_latency_ms")
    found["model"] = f.text("model_id") or f.text("model")
    _speculation(f, "accept_length", " since the server started")
    again, answers = f.number("total_output_tokens_retokenized"), f.number("total_output_tokens")
    if again and answers and again < 0.9 * answers:
        f.notes.append(
            "answers ended early: their text has "
            f"{again / answers:.0%} of the tokens that total_output_tokens counts"
        )
    return found


def _vllm_throughput(f: Fields) -> dict[str, Any]:
    f.notes.append(
        "an offline batch: the batch and the lengths are not in the file, and tokens_per_second "
        "counts prompts and answers together"
    )
    return {
        "request_throughput": f.number("requests_per_second"),
        "total_throughput": f.number("tokens_per_second"),
        **_added(f),
    }


def _vllm_latency(f: Fields) -> dict[str, Any]:
    f.notes.append(
        "an offline batch: the batch and the lengths are not in the file, and the time is that of "
        "the whole batch with its prompts"
    )
    return {"batch_latency": f.number("avg_latency"), **_added(f)}


def _inferencex(f: Fields) -> dict[str, Any]:
    """Return the values of an aggregate, whose times are in seconds."""
    per_device, total = f.number("output_tput_per_gpu"), f.number("tput_per_gpu")
    several = _truth(f.values.get("is_multinode"))
    decoding: int | None
    if several:
        # Answers are counted over the chips that decode, prompts and answers over all.
        decoding = f.count("num_decode_gpu")
        prefill = f.count("num_prefill_gpu", least=0)
        devices = None if decoding is None or prefill is None else decoding + prefill
        if devices is None:
            f.notes.append(
                "several nodes without num_prefill_gpu and num_decode_gpu: the chips are not known"
            )
        elif prefill:
            f.notes.append(
                f"prompts on {plural(prefill, 'chip')} of their own, answers on {decoding:,}"
            )
    else:
        decoding = devices = f.count("tp")
        for key in ("pp", "pcp", "pcp_size"):
            if devices is not None:
                decoding = devices = devices * (f.count(key) or 1)
    guessing = f.values.get("spec_decoding", f.values.get("mtp"))
    if guessing is True:
        f.notes.append("speculative decoding")
    elif isinstance(guessing, str) and guessing.lower() not in ("", "none", "off", "false"):
        f.notes.append(f"speculative decoding: {shown(guessing, 40)}")
    longest = {name: f.number(key) for name, key in (("input", "isl"), ("output", "osl"))}
    if any(longest.values()):
        f.notes.append(
            "lengths inferred: isl and osl are the longest, and the recipes draw from 0.8 to 1 "
            "times them, so 0.9 times them is taken"
        )
    return {
        "concurrency": f.number("conc"),
        **{f"{name}_tokens": most and 0.9 * most for name, most in longest.items()},
        "time_per_output_token": f.mean("tpot"),
        "time_to_first_token": f.mean("ttft"),
        "output_throughput": per_device and decoding and per_device * decoding,
        "total_throughput": total and devices and total * devices,
        "request_throughput": f.number("request_throughput"),
        "hardware": f.text("hw"),
        "model": f.text("model"),
        "precision": f.text("precision"),
        "devices": devices,
    }


def _truth(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


_PER_SECOND: dict[str, int] = TABLES["per_second"]


def _average(f: Fields, tag: str, time: bool = False) -> float | None:
    """Return the mean of one metric of AIPerf or GenAI-Perf; a time in seconds."""
    inner = f.part(tag)
    value, unit = inner.number("avg"), inner.text("unit")
    if value is None:
        value = inner.number("p50")
        if value is not None:
            f.notes.append(note_median(tag))
    if value is None or not time:
        return value
    if unit and unit not in _PER_SECOND:
        raise Unreadable(f"{tag}.unit must be one of {', '.join(_PER_SECOND)}; got {told(unit)}.")
    return value / _PER_SECOND[unit or "ms"]


def _perf(f: Fields) -> dict[str, Any]:
    given = f.part("input_config")
    cap = given.part("loadgen").number("concurrency")
    if cap is None:
        cap = given.part("perf_analyzer").part("stimulus").number("concurrency")
    if cap is None:
        f.notes.append("no cap on concurrency is stated")
    failed = _average(f, "error_request_count")
    if failed:
        f.notes.append(f"{plural(failed, 'request')} failed")
    if f.values.get("was_cancelled") is True:
        f.notes.append("the run was stopped before its end")
    return {
        "concurrency": cap,
        "input_tokens": _average(f, "input_sequence_length"),
        "output_tokens": _average(f, "output_sequence_length"),
        "time_per_output_token": _average(f, "inter_token_latency", time=True),
        "time_to_first_token": _average(f, "time_to_first_token", time=True),
        "output_throughput": _average(f, "output_token_throughput"),
        "total_throughput": _average(f, "total_token_throughput"),
        "request_throughput": _average(f, "request_throughput"),
        "model": _first_model(given),
        **_added(f),
    }


def _first_model(given: Fields) -> str:
    """Return the model that the input of AIPerf or GenAI-Perf names first, or nothing."""
    places = [
        given.values.get("model_names"),
        given.part("endpoint").values.get("model_names"),
        given.values.get("models"),
    ]
    for place in places:
        names = place.get("items") if isinstance(place, dict) else place
        one = names[0] if isinstance(names, list) and names else names
        one = one.get("name") if isinstance(one, dict) else one
        if isinstance(one, str):
            return shown(one)
    return ""


def _guidellm(f: Fields) -> dict[str, Any]:
    metrics = f.part("metrics")

    def mean(name: str) -> float | None:
        inner = metrics.part(name).part("successful")
        value = inner.number("mean")
        if value is None:
            value = inner.number("median")
            if value is not None:
                f.notes.append(note_median(name))
        return value

    strategy = f.part("config").part("strategy")
    if not strategy.values:
        strategy = f.part("args").part("strategy")  # where it stood before version 0.4
    kind = strategy.text("type_")
    concurrency = mean("request_concurrency")
    if not concurrency:
        concurrency = strategy.number("max_concurrency") or strategy.number("streams")
    if kind in ("throughput", "constant", "poisson"):
        f.notes.append(f"no fixed concurrency: the strategy was {kind}")
    chunks = mean("iter_tokens_per_iteration") or mean("output_tokens_per_iteration")
    if chunks and chunks > 1.2:
        f.notes.append(f"a chunk of the stream holds {chunks:.2g} tokens on average")
    return {
        "concurrency": concurrency,
        "input_tokens": mean("prompt_token_count"),
        "output_tokens": mean("output_token_count"),
        "time_per_output_token": _ms(mean("inter_token_latency_ms")),
        "time_to_first_token": _ms(mean("time_to_first_token_ms")),
        "output_throughput": mean("output_tokens_per_second"),
        "total_throughput": mean("tokens_per_second"),
        "request_throughput": mean("requests_per_second"),
        "model": f.text("model"),
    }


def _mlperf(f: Fields) -> dict[str, Any]:
    scenario, mode, result = (f.text(key) for key in ("scenario", "mode", "result is"))
    if mode and mode != "PerformanceOnly":
        raise Unreadable(f"the mode must be PerformanceOnly; got {told(mode)}.")
    if result and result != "VALID":
        f.notes.append(f"MLPerf's own verdict on the run is {result}")

    def first(*keys: str) -> float | None:
        return next((value for key in keys if (value := f.number(key)) is not None), None)

    tokens = first("completed tokens per second", "tokens per second", "tps w/ loadgen overhead")
    if tokens is None:
        tokens = f.number("tokens per second (inferred)")
        if tokens is None:
            tokens = f.number("completed tokens per second (inferred)")
        if tokens is not None:
            f.notes.append("the tokens are inferred from the samples, not counted")
    samples = first("completed samples per second", "samples per second")
    length = _over(tokens, samples)
    if length:
        f.notes.append("the mean length of an answer is tokens per second over samples per second")
    if scenario != "SingleStream":
        f.notes.append(
            f"the scenario is {scenario or 'not named'}: requests in flight are not in the file"
        )
    if scenario == "Offline":
        f.notes.append("all samples were sent at once, and the server chose its batch")
    f.notes.append("the length of a prompt is not in the file")

    def mean(*keys: str) -> float | None:
        value = first(*keys)
        return None if value is None else value / 1e9

    return {
        "concurrency": 1.0 if scenario == "SingleStream" else None,
        "output_tokens": length,
        "time_per_output_token": mean(
            "mean time per output token (ns)", "mean time to output token (ns)"
        ),
        "time_to_first_token": mean("mean first token latency (ns)"),
        "output_throughput": tokens,
        "request_throughput": samples,
    }


def _row(f: Fields) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in f.values:
        name = COLUMN_NAMES[column]
        if name in TEXTS:
            found[name] = f.text(column)
        elif name == "devices":
            found[name] = f.count(column)
        else:
            value = f.number(column)
            if value is not None and not column.startswith("median"):
                found[name] = _ms(value) if column.endswith("_ms") else value
    for column in f.values:
        name, value = COLUMN_NAMES[column], f.values[column]
        if column.startswith("median") and value is not None and name not in found:
            found[name] = _ms(value) if column.endswith("_ms") else value
            f.notes.append(note_median(column))
    return found


class Kind(NamedTuple):
    """A kind of result: its tool, keys that tell it, how it is read, and what it has to hold.

    Any one of ``signs`` is enough, with all of its keys; a key with a dot is an object itself.
    """

    tool: str
    signs: tuple[str, ...]
    read: Callable[[Fields], dict[str, Any]]
    needs: str


_READERS = {
    "InferenceX": _inferencex,
    "vllm bench throughput": _vllm_throughput,
    "vllm bench latency": _vllm_latency,
    "SGLang bench_serving": _sglang,
    "vllm bench serve": _vllm_serve,
    "AIPerf or GenAI-Perf": _perf,
    "GuideLLM": _guidellm,
    "MLPerf Inference": _mlperf,
    "CSV": _row,
}
_BY_TOOL = {
    one["tool"]: Kind(one["tool"], tuple(one["signs"]), _READERS[one["tool"]], one["needs"])
    for one in TABLES["kinds"]
}
# The first that fits counts: SGLang before vLLM, whose keys it shares.
KINDS = tuple(kind for kind in _BY_TOOL.values() if kind.signs)
GUIDELLM, MLPERF, CSV = (_BY_TOOL[tool] for tool in ("GuideLLM", "MLPerf Inference", "CSV"))
