"""Scenarios: a chip, a model, a precision and a context, turned into values of symbols.

`values` gives what formulas take; `page_rows` gives the same rows to the browser, which does the
same arithmetic.

Conventions: the chips that serve are one scale-up domain (a node of 8, a rack of 72), and for TPUs
a slice of 16; `active_parameters` counts the input embedding, so that a dense model's active
parameters are its total; latent attention counts its absorbed form in decode and its plain form in
prefill and training; the price of a chip is its three-year rental, else the cost to its owner;
activations go to experts in one byte a number and come back in two, as DeepSeek sends them; a
layer's latency is that of published kernels with next to nothing to send, ten of them a layer in a
CUDA graph.

>>> v = values(hardware="H100 SXM", model="Llama 3.1 70B", precision="fp8", context=8192)
>>> v["total_parameters"], v["kv_bytes_per_token"], v["devices"]
(70553706496, 163840, 8)
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from numbers import Real
from typing import Any, TypedDict

from . import facts, shapes
from .nearest import nearest

__all__ = [
    "DEFAULT",
    "PAGE",
    "PRECISIONS",
    "ScenarioError",
    "choose",
    "model_row",
    "named_values",
    "noted",
    "notes",
    "page_rows",
    "room",
    "room_note",
    "start_from",
    "stored_precision",
    "usual_precision",
    "values",
]


class Choice(TypedDict):
    """The choices of a reader: rows of the scenario bar, and tokens already in a sequence."""

    hardware: str
    model: str
    precision: str
    context: float


DEFAULT: Choice = {
    "hardware": "GB200 NVL72",
    "model": "DeepSeek-V3",
    "precision": "fp8",
    "context": 8192,
}

# From which the page that is being made starts; the book's own unless its chapter has a machine.
PAGE: Choice = {**DEFAULT}


def start_from(text: str = "") -> None:
    """Let what is shown from here on start from a scenario, such as a chapter's own machine.

    Parameters
    ----------
    text : str
        Chip, model, precision and context, with commas; without it the book's own.

    Raises ScenarioError where there is no such scenario.

    >>> start_from("H100 SXM, Llama 3.1 70B, bf16, 4096")
    >>> PAGE["model"], PAGE["context"]
    ('Llama 3.1 70B', 4096)
    >>> start_from()
    >>> PAGE == DEFAULT
    True
    >>> start_from("H100 SXM, Llama 3.1 70B")
    Traceback (most recent call last):
    ...
    handful.scenario.ScenarioError: A page starts from chip, model, precision and context, with
    commas; got 'H100 SXM, Llama 3.1 70B'.
    """
    if not text:
        PAGE.update(DEFAULT)
        return
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != len(DEFAULT) or not parts[-1].isdigit():
        raise ScenarioError(
            f"A page starts from chip, model, precision and context, with commas; got {text!r}."
        )
    hardware, model, precision, context = parts
    values(hardware, model, precision, int(context))
    own: Choice = {
        "hardware": choose("hardware", hardware)["name"],
        "model": choose("model", model)["name"],
        "precision": precision,
        "context": int(context),
    }
    PAGE.update(own)


PRECISIONS: list[dict[str, Any]] = [
    {
        "name": "bf16",
        "label": "bf16",
        "arithmetic": "bf16",
        "bytes_per_parameter": 2,
        "kv_bytes_per_element": 2,
    },
    {
        "name": "fp8",
        "label": "fp8",
        "arithmetic": "fp8",
        "bytes_per_parameter": 1,
        "kv_bytes_per_element": 1,
    },
    {
        "name": "fp4",
        "label": "fp4 (cache in fp8)",
        "arithmetic": "fp4",
        "bytes_per_parameter": 0.5,
        "kv_bytes_per_element": 1,
    },
    {
        "name": "int8-weights",
        "label": "int8 weights, bf16 arithmetic",
        "arithmetic": "bf16",
        "bytes_per_parameter": 1,
        "kv_bytes_per_element": 2,
    },
]

# Words of a model's name that say how it was trained: the shape stays.
TRAINED = ("instruct", "chat", "it", "base", "hf", "thinking")
# Last words that say how it is stored, with the precision of its arithmetic and that of its weights
# (None where it is the same).  Numbers of 4 bits are multiplied in 16 unless a name says otherwise.
STORED: dict[str, tuple[str, str | None]] = {
    "bf16": ("bf16", None),
    "fp16": ("bf16", None),
    "fp8": ("fp8", None),
    "w8a8": ("fp8", "int8"),
    "int8": ("bf16", "int8"),
    "w8a16": ("bf16", "int8"),
    "8bit": ("bf16", "int8"),
    "fp4": ("fp4", None),
    "nvfp4": ("fp4", None),
    "mxfp4": ("fp4", None),
    "nvfp4a16": ("bf16", "fp4"),
    "int4": ("bf16", "int4"),
    "w4a16": ("bf16", "int4"),
    "4bit": ("bf16", "int4"),
    "awq": ("bf16", "int4"),
    "gptq": ("bf16", "int4"),
}
# Words at the end of a name that change no shape, behind a space each; the page reads it too.
TAIL = (
    rf"(?: (?:{'|'.join(TRAINED)}|[0-9]{{4}}|(?:quantized |bnb )?(?:{'|'.join(STORED)})"
    r"(?: (?:dynamic|block|kv|v2|g128|preview))*))+$"
)
# What a model is published in, where that is not bf16.
PUBLISHED: dict[str, tuple[str, str | None]] = {
    "deepseek v3": ("fp8", None),
    "kimi k2": ("fp8", None),
    "kimi k2 thinking": ("bf16", "int4"),
    "kimi k2.5": ("bf16", "int4"),
    "minimax m2.5": ("fp8", None),
    "gpt oss 20b": ("bf16", "fp4"),
    "gpt oss 120b": ("bf16", "fp4"),
}
# Later releases in the shape of an earlier one, as their config.json has it.
SAME_AS = {
    "deepseek r1": "deepseek v3",
    "deepseek v3.1": "deepseek v3",
    "deepseek v3.1 terminus": "deepseek v3",
    "deepseek r1 distill llama 8b": "llama 3.1 8b",
    "deepseek r1 distill llama 70b": "llama 3.1 70b",
    "kimi k2.5": "kimi k2",
    "llama 3 8b": "llama 3.1 8b",
    "llama 3 70b": "llama 3.1 70b",
    "llama 3.3 70b": "llama 3.1 70b",
    "mixtral 8x7b v0.1": "mixtral 8x7b",
    "mixtral 8x22b v0.1": "mixtral 8x22b",
}
# Bytes of one number, for weights or caches whose precision is not that of the arithmetic.
WIDTHS = {"bf16": 2, "fp8": 1, "int8": 1, "fp4": 0.5, "int4": 0.5}
WHOLE = ("int8", "int4")

CONSTANTS: dict[str, float] = {
    "flops_per_multiply_add": 2,
    "one_token": 1,
    "new_tokens_per_sequence": 1,
}

# A fast network of more chips than a node holds exchanges tokens as a rack does.
NODE = 8


@cache
def _latencies() -> dict[str, float]:
    """Return the latencies that no row of a chip or a model has.

    They are those of published kernels with next to nothing to send.

    >>> {name: f"{seconds * 1e6:.1f} µs" for name, seconds in _latencies().items()}
    {'launch_latency': '13.0 µs', 'exchange_latency_of_node': '28.5 µs',
     'exchange_latency_of_rack': '60.4 µs', 'all_reduce_latency': '4.7 µs'}
    """
    measured = {row.name: row for row in facts.load("measured_latencies")}
    return {
        "launch_latency": measured["kernels_a_layer"]["value"]
        * measured["kernel_graph"]["seconds"],
        "exchange_latency_of_node": measured["exchange_h200_ep8"]["seconds"],
        "exchange_latency_of_rack": measured["exchange_nvl72_ep64"]["seconds"],
        "all_reduce_latency": measured["all_reduce_h100"]["seconds"],
    }


# What a reader should know of a scenario: shown where `left` is above `right` (expression trees
# over the values and max_context), where the value `missing` is absent, or where the hardware is
# not `verified`; not where the rule named by `unless` is shown.  Left and right stand in `text`,
# written in `unit`.
RULES: list[dict[str, Any]] = [
    {
        "name": "fits",
        "left": ["*", "total_parameters", "bytes_per_parameter"],
        "right": ["*", "memory_capacity", "devices"],
        "unit": "B",
        "text": "{model} in {precision} takes {left}; {devices} × {hardware} hold {right}, so it "
        "does not fit: "
        "read the numbers as if memory were larger.",
    },
    {
        "name": "sequence",
        "unless": "fits",
        "unit": "B",
        "left": [
            "+",
            ["*", "total_parameters", "bytes_per_parameter"],
            ["*", "context", "kv_bytes_per_token"],
            ["*", "window_cache_memory", ["min", 1, ["*", "context", ["^", "window_tokens", -1]]]],
        ],
        "right": ["*", "memory_capacity", "devices"],
        "text": "Weights and one sequence take {left}; {devices} × {hardware} hold {right}, so "
        "not one fits.",
    },
    {
        "name": "domain",
        "left": "devices",
        "right": "domain_devices",
        "unit": "device",
        "text": "{devices} × {hardware} are more than one scale-up domain of {right}: what they "
        "send each other goes over a slower network, which is not counted here.",
    },
    {
        "name": "context",
        "left": "context",
        "right": "max_context",
        "unit": "token",
        "text": "A context of {left} is beyond the {right} that {model} was published for.",
    },
    {
        "name": "price",
        "missing": "device_price",
        "text": "No price per hour was found for {hardware}, so costs need a rent of yours.",
    },
    {
        "name": "verified",
        "verified": False,
        "text": "The figures for {hardware} were announced and are not verified.",
    },
]

# Why a formula cannot be computed for some chips and models, by what they lack.
LACKING: list[dict[str, Any]] = [
    {
        "symbols": ["device_price"],
        "text": "No price per hour was found for {hardware}.",
    },
    {
        "symbols": ["scale_out_bandwidth", "scale_up_bandwidth"],
        "text": "The bandwidth between chips of {hardware} is not fully published.",
    },
    {
        "symbols": ["expert_layers", "expert_parameters", "combine_bytes", "dispatch_bytes"],
        "text": "{model} is a dense model: it has no experts.",
    },
]

MAY_BE_ZERO = {
    "routed_parameters",
    "kv_bytes_per_token",
    "window_cache_memory",
    "attention_flops_per_pair",
    "prefill_attention_flops_per_pair",
    "context",
    "layer_latency",
}
ALSO_ALLOWED = ("batch",)  # not of a scenario, but callers pass it along


class ScenarioError(ValueError):
    """A choice or a value that a scenario cannot take."""

    exit_code = 2


@cache
def page_rows() -> dict[str, Any]:
    """Return the rows of the scenario bar, as they go to the browser.

    They are ready for JSON; see the module's conventions.

    >>> rows = page_rows()
    >>> sorted(rows)
    ['constants', 'default', 'hardware', 'lacking', 'model', 'precision', 'rules']
    >>> [row["name"] for row in rows["hardware"] if not row["verified"]]
    ['Vera Rubin NVL72']
    """
    return {
        "hardware": [_hardware(row) for row in facts.load("accelerators") if _serves(row)],
        "model": [
            model_row(shapes.of_row(row), row.source)
            | ({"counts": why} if (why := shapes.published_difference(row.name)) else {})
            for row in facts.load("shapes")
            if row.verified and not row["compressed_layers"]
        ],
        "precision": [dict(row) for row in PRECISIONS],
        "constants": {**CONSTANTS, **_latencies()},
        "rules": [dict(rule) for rule in RULES],
        "lacking": [dict(entry) for entry in LACKING],
        "default": dict(DEFAULT),
    }


def _serves(row: facts.Row) -> bool:
    """Return whether a chip can serve in a scenario.

    It must be on sale, or at least submitted to a benchmark, and known well enough.
    """
    sold = row["status"].startswith(("shipping", "preview"))
    return sold and bool(row["bf16_dense_flops"] and row["hbm_bandwidth_bytes_per_s"])


def _hardware(row: facts.Row) -> dict[str, Any]:
    peaks = {
        "bf16": row["bf16_dense_flops"],
        "fp8": row["fp8_dense_flops"],
        "fp4": row["fp4_dense_flops"],
        "int8": row["int8_dense_ops"],
    }
    dollars = (
        row["rental_usd_per_chip_hour_3yr"]
        or row["owner_cost_usd_per_chip_hour_neocloud"]
        or row["owner_cost_usd_per_chip_hour_hyperscaler"]
    )
    devices = row["scenario_chips"] or row["scaleup_domain_chips"]
    label = row.name if row.verified else f"{row.name} (announced)"
    return {
        "name": row.name,
        "label": label,
        "verified": row.verified,
        "values": {
            "memory_bandwidth": row["hbm_bandwidth_bytes_per_s"],
            "memory_capacity": row["hbm_capacity_bytes"],
            "devices": devices,
            "device_price": dollars / 3600 if dollars else None,
            "domain_devices": row["scaleup_domain_chips"],
            "scale_up_bandwidth": row["scaleup_bw_per_chip_one_direction_bytes_per_s"],
            "scale_out_bandwidth": row["scaleout_bw_per_chip_one_direction_bytes_per_s"],
            "chip_power": row["power_watts"],
        },
        "peak_flops": {name: peak for name, peak in peaks.items() if peak},
        "source": row.source,
    }


def model_row(s: shapes.Shape, source: str = "a shape of your own") -> dict[str, Any]:
    """Return a shape as a row of the scenario bar.

    ``shapes.js`` makes the same row of a reader's own shape.

    >>> row = model_row(shapes.shape("Llama 3.1 8B"))
    >>> row["values"]["total_parameters"], row["kv_elements_per_token"]
    (8030261248, 65536)
    """
    routed = shapes.routed_parameters(s)
    # Layers with experts count where there are any: their width is that of all a token uses.
    width = (s.active_experts + s.shared_experts) * s.expert_dim if routed else s.ffn_dim
    of_latent = {  # and other attention lacks these
        "value_width": s.v_head_dim,
        "query_latent_width": s.q_lora_rank,
        "kv_latent_width": s.kv_lora_rank,
        "rotary_width": s.rope_dim,
    }
    of_experts = {  # a dense model has none of these, and formulas that want them say so
        "expert_layers": s.expert_layers,
        "dispatch_bytes": 1,
        "combine_bytes": 2,
        "expert_parameters": routed // (s.expert_layers * s.routed_experts) if routed else None,
        "expert_width": s.expert_dim,
    }
    return {
        "name": s.name,
        "label": s.name,
        "values": {
            "total_parameters": shapes.total_parameters(s),
            "active_parameters": shapes.active_parameters(s),
            "routed_parameters": routed,
            "experts": s.routed_experts or 1,
            "active_experts": s.active_experts or 1,
            "attention_flops_per_pair": shapes.attention_flops_per_pair(s),
            "prefill_attention_flops_per_pair": shapes.attention_flops_per_pair(s, absorbed=False),
            "layers": s.layers,
            "d_model": s.d_model,
            "attention_heads": s.heads,
            "kv_heads": None if s.latent else s.kv_heads,
            "head_width": s.nope_dim + s.rope_dim if s.latent else s.head_dim,
            "d_ff": width,
            "feed_forward_matrices": 3 if s.gated else 2,
            **(of_latent if s.latent else dict.fromkeys(of_latent)),
            # Without windows a token would fill them: no bytes, and no division by zero.
            "window_tokens": s.window_tokens or 1,
            **(of_experts if routed else dict.fromkeys(of_experts)),
        },
        "kv_elements_per_token": shapes.kv_elements_per_token(s),
        "kv_window_elements": shapes.kv_window_elements(s),
        "max_context": s.max_context or None,
        "source": source,
        **({"notes": list(s.notes)} if s.notes else {}),
    }


def choose(kind: str, name: str | shapes.Shape) -> dict[str, Any]:
    """Return the row of `page_rows` that a name means.

    Parameters
    ----------
    kind : str
        "hardware", "model" or "precision".
    name : str or handful.shapes.Shape
        A row's name, whatever its capitals, hyphens and last words that change no shape
        ("Instruct", "FP8"), or its first words where no other begins with them; as a model also a
        shape, or the path of a config.json or of its folder; as hardware also the path of a chip's
        file, as `handful.chip_file` reads it.

    Raises ScenarioError where there is no such row, or several; ShapeError or ChipError where a
    file cannot be read.

    >>> choose("hardware", "h100")["name"], choose("model", "deepseek-ai/DeepSeek-V3")["name"]
    ('H100 SXM', 'DeepSeek-V3')
    >>> choose("model", "Llama 3.1")
    Traceback (most recent call last):
    ...
    handful.scenario.ScenarioError: 'Llama 3.1' is the beginning of several names: Llama 3.1 8B,
    Llama 3.1 70B and Llama 3.1 405B; write one of them in full.
    """
    if kind == "model" and isinstance(name, shapes.Shape):
        return model_row(name)
    rows: list[dict[str, Any]] = page_rows()[kind]
    text = str(name).strip()
    for row in rows:
        if _folded(row["name"]) == _folded(text):
            return row
    if kind == "model" and (text.endswith(".json") or os.path.exists(text)):
        from .model_config import read_config

        return model_row(read_config(text))
    if kind == "hardware" and (text.endswith(".json") or os.path.isfile(text)):
        from .chip_file import read_chip

        return read_chip(text)
    # int8 may be meant of weights or of arithmetic: a precision is named in full.
    begun = [row for row in rows if _folded(row["name"]).startswith(f"{_folded(text)} ")]
    if len(begun) == 1 and kind != "precision":
        return begun[0]
    names = [row["name"] for row in rows]
    if len(begun) > 1:
        raise ScenarioError(
            f"{name!r} is the beginning of several names: "
            f"{_listed(row['name'] for row in begun)}; write one of them in full."
        )
    stored = (
        f"; --weights {text} stores weights so" if kind == "precision" and text in WIDTHS else ""
    )
    first = _folded(text).partition(" ")[0]
    alike = [one for one in names if _folded(one).partition(" ")[0] == first] or names
    raise ScenarioError(
        f"There is no {kind} {name!r}; the nearest are: {nearest(_model_of(text), alike)}{stored}."
    )


def _model_of(text: str) -> str:
    """Return a name without its owner: "DeepSeek-V3" of "deepseek-ai/DeepSeek-V3"."""
    return text.rpartition("/")[2]


def _plain(text: str) -> str:
    """Return a name in small letters, without its owner, hyphens and Meta before a Llama.

    >>> _plain("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8")
    'llama 3.1 8b instruct quantized w8a8'
    """
    name = re.sub("[-_]", " ", _model_of(text).lower()).replace("quantized.", "quantized ")
    return name.removeprefix("meta ") if name.startswith("meta llama ") else name


def _folded(text: str) -> str:
    """Return a name as it is compared: without owner, hyphens and words that change no shape.

    >>> _folded("meta-llama/Llama-3.3-70B-Instruct-FP8"), _folded("Kimi-K2-Instruct-0905")
    ('llama 3.1 70b', 'kimi k2')
    """
    name = re.sub(TAIL, "", _plain(text))
    # "Mistral-7B-Instruct-v0.2": how it was trained may stand before its version.
    name = name.replace(" instruct v", " v")
    return SAME_AS.get(name, name)


def stored_precision(model: str, hardware: str | None = None) -> tuple[str, str | None, str]:
    """Return in which precisions a model of such a name is multiplied and stored, and who says so.

    Parameters
    ----------
    model : str
        A model's name, or that of a checkpoint, such as "gpt-oss-120b" or "Qwen3-32B-AWQ".
    hardware : str, optional
        A chip; where it lacks that arithmetic, weights are multiplied in bf16.

    Returns
    -------
    tuple
        A precision of `PRECISIONS`; one of `WIDTHS` for the weights, or None where they are in the
        same; and "name" where the name's last words say so, else "published".

    >>> stored_precision("Meta-Llama-3.1-70B-Instruct-FP8-dynamic")
    ('fp8', None, 'name')
    >>> stored_precision("openai/gpt-oss-120b"), stored_precision("Llama-3.3-70B-Instruct")
    (('bf16', 'fp4', 'published'), ('bf16', None, 'published'))
    >>> stored_precision("Qwen3-32B-FP8", "A100 80GB")
    ('bf16', 'fp8', 'name')
    """
    name = _plain(model)
    tail = re.search(TAIL, name)
    said = [word for word in tail[0].split() if word in STORED] if tail else []
    if said:
        form, weights = STORED[said[-1]]
    else:
        form, weights = PUBLISHED.get(name) or PUBLISHED.get(_folded(model)) or ("bf16", None)
    if hardware and form not in choose("hardware", hardware)["peak_flops"]:
        form, weights = "bf16", weights or form
    return form, weights, "name" if said else "published"


def values(
    hardware: str = DEFAULT["hardware"],
    model: str | shapes.Shape = DEFAULT["model"],
    precision: str = DEFAULT["precision"],
    context: float = DEFAULT["context"],
    *,
    weights: str | None = None,
    cache: str | None = None,
    **overrides: float,
) -> dict[str, float | None]:
    """Return values of symbols, by API name, in SI units.

    Parameters
    ----------
    hardware, model, precision : str
        Names of rows, or other models, as `choose` takes them.
    context : float
        Tokens already in a sequence, 0 or above.
    weights, cache : str, optional
        A name in `WIDTHS`, where weights or caches are stored in another precision: W4A16 is "bf16"
        with weights="int4".  Scales beside the numbers are left out.
    **overrides : float
        Values that replace those of the rows, by API name.

    Returns
    -------
    dict
        None where there is no such value: `device_price` (dollars per second), `chip_power`,
        `scale_up_bandwidth` and `scale_out_bandwidth` where they are not known; `expert_layers`,
        `expert_parameters`, `dispatch_bytes` and `combine_bytes` of a dense model.

    Raises
    ------
    ScenarioError
        An unknown name, an arithmetic that the chip lacks, or a value out of range; the sentence
        says what is allowed.

    Examples
    --------
    >>> v = values()
    >>> round(v["total_parameters"] / v["active_parameters"], 2)
    17.87
    >>> values(
    ...     model=shapes.Shape(
    ...         name="mine",
    ...         layers=32,
    ...         d_model=4096,
    ...         heads=32,
    ...         kv_heads=8,
    ...         head_dim=128,
    ...         vocab=32000,
    ...         ffn_dim=14336,
    ...     )
    ... )["total_parameters"]
    7241732096
    >>> mixed = values("H100 SXM", "Llama 3.1 70B", "fp8", cache="bf16")
    >>> mixed["bytes_per_parameter"], mixed["kv_bytes_per_token"]
    (1, 327680)
    >>> values(hardware="A100 80GB", precision="fp4")
    Traceback (most recent call last):
    ...
    handful.scenario.ScenarioError: A100 80GB has no fp4 arithmetic; it has bf16 and int8,
    so the precisions allowed are bf16 and int8-weights.
    >>> values(memory_bandwidth=0)
    Traceback (most recent call last):
    ...
    handful.scenario.ScenarioError: memory_bandwidth must be a number above 0; got 0.
    """
    chip, shape, form = _choices(hardware, model, precision)
    if form["arithmetic"] not in chip["peak_flops"]:
        allowed = [p["name"] for p in PRECISIONS if p["arithmetic"] in chip["peak_flops"]]
        raise ScenarioError(
            f"{chip['name']} has no {form['arithmetic']} arithmetic; it has "
            f"{_listed(chip['peak_flops'])}, so the precisions allowed are "
            f"{_listed(allowed)}."
        )
    element = _width("cache", cache, form["kv_bytes_per_element"])
    found = {
        **CONSTANTS,
        **chip["values"],
        **shape["values"],
        "peak_flops": chip["peak_flops"][form["arithmetic"]],
        "bytes_per_parameter": _width("weights", weights, form["bytes_per_parameter"]),
        "kv_bytes_per_token": shape["kv_elements_per_token"] * element,
        "window_cache_memory": shape["kv_window_elements"] * element,
        "layer_latency": _layer_latency(chip["values"], shape["values"]),
    }
    for name, value in {"context": context, **overrides}.items():
        if name not in found and name not in ("context", *ALSO_ALLOWED):
            known = dict.fromkeys([*found, *ALSO_ALLOWED])
            raise ScenarioError(
                f"A scenario has no value {name!r}; the nearest are: {nearest(name, known)}."
            )
        found[name] = _checked(name, value)
    for part, whole in (
        ("active_parameters", "total_parameters"),
        ("routed_parameters", "total_parameters"),
        ("active_experts", "experts"),
    ):
        if found[part] > found[whole]:
            raise ScenarioError(
                f"{part} must be at most {whole} ({found[whole]:g}); got {found[part]:g}."
            )
    return found


def _width(what: str, name: str | None, usual: float) -> float:
    if name is None:
        return usual
    if name not in WIDTHS:
        raise ScenarioError(f"{what} must be one of {_listed(WIDTHS)}; got {name!r}.")
    return WIDTHS[name]


def named_values(
    hardware: str | None = None,
    model: str | shapes.Shape | None = None,
    precision: str | None = None,
    weights: str | None = None,
    cache: str | None = None,
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return values of symbols as `values` does, and the name of the row that each comes from.

    Only of what is chosen: without a chip there are no values of one, and without a model none of
    that.  Nor is there a context, since no row has one.  Without a precision it is the usual one,
    or bf16 on a chip that lacks its arithmetic.

    >>> found, origin = named_values(hardware="A100 80GB", model="Llama 3.1 8B")
    >>> origin["memory_bandwidth"], origin["kv_bytes_per_token"], origin["layers"]
    ('A100 80GB', 'Llama 3.1 8B, bf16', 'Llama 3.1 8B')
    >>> "memory_bandwidth" in named_values(model="Llama 3.1 8B")[0]
    False
    """
    names = (hardware or DEFAULT["hardware"], model or DEFAULT["model"])
    precision = precision or usual_precision(names[0], weights)
    chip, shape, form = _choices(*names, precision)
    both = f"{shape['name']}, {cache or form['name']}"
    origin = dict.fromkeys(CONSTANTS, "default")
    origin["bytes_per_parameter"] = weights or form["name"]
    if hardware:
        origin |= dict.fromkeys(chip["values"], chip["name"])
        origin["peak_flops"] = f"{chip['name']}, {form['arithmetic']}"
    if model:
        origin |= dict.fromkeys(shape["values"], shape["name"])
        origin |= {"kv_bytes_per_token": both, "window_cache_memory": both}
    if hardware and model:
        origin["layer_latency"] = f"{chip['name']}, {shape['name']}"
    found = values(*names, precision, weights=weights, cache=cache)
    return {name: found[name] for name in origin}, origin


def usual_precision(hardware: str, weights: str | None = None) -> str:
    """Return the precision of the default scenario, or bf16 on a chip that lacks its arithmetic.

    It is bf16 too where weights are stored in whole numbers, which are multiplied in bf16.

    >>> usual_precision("H100 SXM"), usual_precision("A100 80GB"), usual_precision("H100", "int4")
    ('fp8', 'bf16', 'bf16')
    """
    if weights in WHOLE:
        return "bf16"
    usual = DEFAULT["precision"]
    arithmetic = choose("precision", usual)["arithmetic"]
    return usual if arithmetic in choose("hardware", hardware)["peak_flops"] else "bf16"


def stored_note(weights: str | None) -> str:
    """Return what the bytes of weights stored in whole numbers leave out, "" of others.

    >>> stored_note("bf16"), stored_note("int4").partition(":")[0]
    ('', 'int4 counts 4 bits a weight')
    """
    if weights not in WHOLE:
        return ""
    bits = 8 * WIDTHS[weights]
    return (
        f"{weights} counts {bits:g} bits a weight: scales come on top (16 bits for each 128 "
        f"weights make it {bits + 0.125:g} bits), and so do tables that stay in 16 bits."
    )


OF_A_CHIP = (
    "memory_bandwidth",
    "memory_capacity",
    "peak_flops",
    "scale_up_bandwidth",
    "scale_out_bandwidth",
    "chip_power",
    "device_price",
)


def odd_for_a_chip(hardware: str, given: Mapping[str, float]) -> list[str]:
    """Return sentences about values that look like those of several chips.

    >>> [note] = odd_for_a_chip("H100 SXM", {"memory_capacity": 576e9, "batch": 32})
    >>> note.replace(chr(160), " ")
    'memory_capacity is of one chip: 576 GB is 7.2 times what H100 SXM has, 80 GB.'
    """
    from .symbolic.quantities import find
    from .units import digits_of, format_value

    chip = choose("hardware", hardware)
    rows = {**chip["values"], "peak_flops": max(chip["peak_flops"].values())}
    found = []
    for name in OF_A_CHIP:
        value, own = given.get(name), rows.get(name)
        if value and own and value > 3 * own:
            unit = find(name).unit
            mine, row = (format_value(one, unit, digits_of(one, unit, 3)) for one in (value, own))
            found.append(
                f"{name} is of one chip: {mine} is {value / own:.2g} times what {chip['name']} "
                f"has, {row}."
            )
    return found


def copied_caches(known: Mapping[str, Any]) -> list[str]:
    """Return a sentence where chips that share a copy are more than the heads of its caches.

    >>> len(copied_caches(values("H100 SXM", "Llama 3.1 70B", devices=16)))
    1
    >>> copied_caches(values("H100 SXM", "Llama 3.1 70B")), copied_caches(values())
    ([], [])
    """
    heads, chips = known.get("kv_heads"), known.get("devices") or 0
    if not heads or chips <= heads:
        return []
    return [
        f"This model has {heads} heads of keys and values for {chips:g} chips: with every layer "
        f"shared by all chips each is held {chips / heads:.3g} times, and caches take as many "
        "times the memory and the reading that stands here.  The numbers hold where sequences are "
        "shared among chips instead."
    ]


def _layer_latency(chip: Mapping[str, Any], model: Mapping[str, Any]) -> float:
    """Return the latency of a layer: starting its kernels, and sending what it sends.

    A layer sends tokens to experts and back, or takes two sums over all chips if it is dense.
    """
    known = _latencies()
    exchange = known[
        "exchange_latency_of_rack" if chip["domain_devices"] > NODE else "exchange_latency_of_node"
    ]
    sent = (
        exchange * model["expert_layers"] / model["layers"]
        if model["expert_layers"]
        else 2 * known["all_reduce_latency"]
    )
    return known["launch_latency"] + sent


def _choices(
    hardware: str, model: str | shapes.Shape, precision: str
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    return choose("hardware", hardware), choose("model", model), choose("precision", precision)


def _checked(name: str, value: float) -> float:
    zero = name in MAY_BE_ZERO
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise ScenarioError(
            f"{name} must be a number {'from 0 up' if zero else 'above 0'}; got {value!r}."
        )
    return value


def _listed(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


def _tree(tree: Any, known: Mapping[str, Any]) -> float:
    """Compute the value of a rule's expression tree: what `RULES` uses of operators only."""
    if isinstance(tree, str):
        value: float = known[tree]
        return value
    if isinstance(tree, int):
        return tree
    head, *parts = tree
    values = [_tree(part, known) for part in parts]
    folds: dict[str, Callable[[list[float]], float]] = {
        "+": sum,
        "*": math.prod,
        "min": min,
        "^": lambda both: both[0] ** both[1],
    }
    return folds[head](values)


def notes(
    hardware: str = DEFAULT["hardware"],
    model: str | shapes.Shape = DEFAULT["model"],
    precision: str = DEFAULT["precision"],
    context: float = DEFAULT["context"],
    *,
    weights: str | None = None,
    cache: str | None = None,
    **overrides: float,
) -> list[str]:
    """Return sentences that a reader of this scenario should see; none where all is well.

    >>> notes()
    []
    >>> [note.replace(chr(160), " ") for note in notes(hardware="H100 SXM", precision="bf16")]
    ['DeepSeek-V3 in bf16 takes 1.34 TB; 8 × H100 SXM hold 640 GB, so it does not fit:
    read the numbers as if memory were larger.']
    >>> notes(model="Llama 2 7B", context=8192)[0].replace(chr(160), " ")  # counts in full
    'A context of 8,192 tokens is beyond the 4,096 tokens that Llama 2 7B was published for.'
    """
    known = values(hardware, model, precision, context, weights=weights, cache=cache, **overrides)
    return noted(known, hardware, model, precision)


def noted(
    known: Mapping[str, Any],
    hardware: str = DEFAULT["hardware"],
    model: str | shapes.Shape = DEFAULT["model"],
    precision: str = DEFAULT["precision"],
    rules: Iterable[str] | None = None,
) -> list[str]:
    """Return what `notes` says of values at hand: of all of them, or by some of the `rules` only.

    >>> [note] = noted(values(devices=144), rules=["domain"])
    >>> note.split(":")[0].replace(chr(160), " ")
    '144 × GB200 NVL72 are more than one scale-up domain of 72 chips'
    """
    from .units import digits_of, format_value  # a leaf; loaded here so that values stay cheap

    chip, shape, form = _choices(hardware, model, precision)
    width = known.get("bytes_per_parameter", form["bytes_per_parameter"])
    known = {**known, "max_context": shape["max_context"] or math.inf}
    words = {
        "hardware": chip["name"],
        "model": shape["name"],
        "precision": form["label"]
        if width == form["bytes_per_parameter"]
        else f"{width:g}-byte weights",
        "devices": f"{known.get('devices', 0):g}",
    }
    found: dict[str, str] = {}
    for rule in RULES:
        if rules is not None and rule["name"] not in rules:
            continue
        if "missing" in rule:
            shown = known[rule["missing"]] is None
        elif "verified" in rule:
            shown = chip["verified"] is rule["verified"]
        else:
            left, right = (_tree(rule[side], known) for side in ("left", "right"))
            shown = left > right and rule.get("unless") not in found
            unit = rule["unit"]
            words |= {
                "left": format_value(left, unit, digits_of(left, unit, 3)),
                "right": format_value(right, unit, digits_of(right, unit, 3)),
            }
        if shown:
            found[rule["name"]] = rule["text"].format(**words)
    return [*found.values(), *chip.get("notes", ()), *shape.get("notes", ())]


def room(known: Mapping[str, Any]) -> int | None:
    """Return the sequences that fit beside the weights; None if a sequence takes no memory.

    >>> room(values("H100 SXM", "Llama 3.1 70B", "bf16", 4096))
    371
    """
    from . import latency

    if latency.weight_memory(known) > known["devices"] * known["memory_capacity"]:
        return 0
    found = latency.batch_that_fits(known)
    return None if math.isinf(found) else math.floor(found)


def room_note(known: Mapping[str, Any]) -> str:
    """Return a sentence where the batch has no room for its caches, and "" where it fits.

    >>> room_note(values("H100 SXM", "Llama 3.1 70B", "bf16", 4096, batch=494)).replace(
    ...     chr(160), " "
    ... )
    'A batch of 494 does not fit: beside the weights there is room for the caches of 371 sequences.'
    """
    from .units import format_value

    fits, batch = room(known), known["batch"]
    if fits is None or not 1 <= fits < batch:
        return ""
    return (
        f"A batch of {batch:,.0f} does not fit: beside the weights there is room for the caches of "
        f"{format_value(fits, 'sequence')}."
    )
