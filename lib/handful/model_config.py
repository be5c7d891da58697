"""A model's config.json, as Hugging Face writes it, read as a shape.

`read_config` takes a path, the text or a dictionary and gives a `handful.shapes.Shape`, whose
`notes` say what was inferred, what was left out, and which keys nobody knows: a key that may add
weights and is not counted is named, never passed over.  What a shape cannot describe is refused.

The rules stand in ``model_config.json``; ``handful_site/web/model_config.js``, which reads the
same table for the page *Your model*, is this module's twin, function by function.

>>> from handful import shapes
>>> mine = read_config('''{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,
...     "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192,
...     "vocab_size": 128256, "tie_word_embeddings": true}''')
>>> f"{shapes.total_parameters(mine):,}"  # Llama 3.2 1B, as published
'1,235,814,400'
>>> mine.notes
('head_dim is not given; it is taken as hidden_size over heads, 64.',)
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from .shapes import Shape, ShapeError

__all__ = ["LONGEST", "read_config"]

LONGEST = 4_000_000  # characters of a text

Config = Mapping[str, Any]


def read_config(source: str | PathLike[str] | Config, name: str | None = None) -> Shape:
    """Return the shape that a config.json describes.

    Parameters
    ----------
    source : str, path or mapping
        A file, a folder that holds a config.json, the text itself (which begins with a brace), or
        what was read from it.  At most four million characters.
    name : str, optional
        The model's name; without it what the configuration or its folder is called.

    Returns
    -------
    handful.shapes.Shape
        Its `notes` are sentences: what was inferred or left out, and the keys that are not known.
        `handful.scenario.values` takes it as a model.

    Raises
    ------
    ShapeError
        In one sentence: no such file, no JSON, a number that is missing or out of range, or layers
        that no shape describes.

    Examples
    --------
    >>> from handful import scenario
    >>> config = {
    ...     "model_type": "mistral",
    ...     "hidden_size": 5120,
    ...     "num_hidden_layers": 40,
    ...     "head_dim": 128,
    ...     "num_attention_heads": 32,
    ...     "num_key_value_heads": 8,
    ...     "intermediate_size": 32768,
    ...     "vocab_size": 131072,
    ...     "tie_word_embeddings": False,
    ... }
    >>> found = read_config(config, name="Mistral Small 24B")  # not in the tables
    >>> f"{scenario.values(model=found)['total_parameters']:,}"  # as published
    '23,572,403,200'
    >>> read_config(config | {"num_hidden_layers": 40.5})
    Traceback (most recent call last):
    ...
    handful.shapes.ShapeError: num_hidden_layers must be a whole number from 1 to 2,000; got a
    fraction.
    >>> read_config(config | {"block_configs": [{"attention": None}]})
    Traceback (most recent call last):
    ...
    handful.shapes.ShapeError: The layers of this model are of different kinds (block_configs:
    sizes of its own for each layer), which no shape describes, so nothing was counted.
    """
    where, called = "", "model"
    try:
        if isinstance(source, Mapping):
            outer: Config = source
        elif isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
            outer = _parsed(source)
        else:
            path = Path(source)
            path = path / "config.json" if os.path.isdir(path) else path
            where, called = f"{_in_one_line(str(path), 200)}: ", _name_of(path)
            outer = _parsed(_text_of(path))
        given, notes = _understood(outer)
        return _shape(given, notes, name, called)
    except ShapeError as error:
        raise ShapeError(f"{where}{error}") from None


# What is read ------------------------------------------------------------------------------------


class _Limits(NamedTuple):
    keys: list[str]
    least: int
    most: int


class _Tables(NamedTuple):
    """The tables of ``model_config.json``, with their patterns compiled."""

    raw: dict[str, Any]
    numbers: dict[str, _Limits]
    family: re.Pattern[str]
    harmless: re.Pattern[str]
    fixed: re.Pattern[str]
    known: frozenset[str]


def _pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern of both languages; Python's $ would also match before a last line feed."""
    return re.compile(text.replace("$", r"\Z"), re.DOTALL)


@cache
def _tables() -> _Tables:
    text = resources.files("handful").joinpath("model_config.json").read_text("utf-8")
    raw = json.loads(text)
    numbers = {name: _Limits(**limits) for name, limits in raw["numbers"].items()}
    return _Tables(
        raw,
        numbers,
        _pattern(f"^({'|'.join(raw['families'])})"),
        _pattern(f"^({'|'.join(raw['harmless'])})$"),
        _pattern(raw["fixed_state"]),
        frozenset([*raw["read"], *(key for limits in numbers.values() for key in limits.keys)]),
    )


def _fitting(table: str, kind: str) -> list[dict[str, Any]]:
    """Return the entries of a table whose pattern fits a model type."""
    return [entry for entry in _tables().raw[table] if _pattern(entry["type"]).search(kind)]


def _name_of(path: Path) -> str:
    if path.name == "config.json":
        return path.resolve().parent.name or "model"
    return re.sub(r"[._-]?config$", "", path.stem) or path.stem


def _text_of(path: Path) -> str:
    most = 4 * LONGEST  # bytes: a character takes at most four
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        raise ShapeError("there is no such file.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be opened"
        raise ShapeError(f"this cannot be read: {reason}.") from None
    if len(data) > most:
        raise _too_long()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ShapeError(f"this is no text in UTF-8; byte {error.start:,} is none of it.") from None


def _too_long() -> ShapeError:
    return ShapeError(
        f"A config.json has some thousand characters, and this has more than {LONGEST:,}."
    )


def _parsed(text: str) -> Config:
    text = text.removeprefix("\ufeff")
    if len(text) > LONGEST:
        raise _too_long()
    try:
        config = json.loads(
            text,
            parse_constant=lambda _: math.inf,  # no field takes NaN or an infinity
            parse_int=lambda digits: int(digits) if len(digits) < 20 else float(digits),
        )
    except json.JSONDecodeError as error:
        reason = f"{error.msg[0].lower()}{error.msg[1:]}".rstrip(".:")
        raise ShapeError(
            f"This is no JSON: {reason}, in line {error.lineno:,}, column {error.colno:,}."
        ) from None
    except RecursionError:
        raise ShapeError("A config.json is one object, and this is nested too deeply.") from None
    if not isinstance(config, dict):
        raise ShapeError("A config.json is one object in braces; this is something else.")
    return config


# What it says ------------------------------------------------------------------------------------


def _in_one_line(text: str, most: int) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f\ufeff]+", " ", text).strip()[:most]


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return ", ".join(_in_one_line(str(name), 60) for name in names[:12]) + more


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'the text "{_in_one_line(value, 40)}"'
    if isinstance(value, bool):
        return str(value).lower()
    if not _is_number(value):
        return "a list" if isinstance(value, (list, tuple)) else "an object"
    if isinstance(value, float) and not math.isfinite(value):
        return "no finite number"
    if value != int(value):
        return "a fraction"
    return f"{int(value):,}" if abs(value) < 2**53 else "a number beyond 2^53"


def _understood(outer: Config) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of a shape that a configuration gives, and the notes."""
    notes: list[str] = []
    config = _language_model(outer, notes)
    kind = config["model_type"] if isinstance(config.get("model_type"), str) else ""
    _refuse_what_no_shape_describes(config, kind)
    found = _numbers_of(config, kind, notes)
    given = _family_of(kind, notes)
    for name in ("layers", "d_model", "heads", "vocab", "max_context"):
        if name in found:
            given[name] = found[name]
    _attention(config, kind, found, given, notes)
    _windows(config, kind, found, given, notes)
    _feed_forward(config, kind, found, given, notes)
    _embeddings(config, kind, given, notes)
    _remarks(config, outer, found.get("prediction_modules", 0), notes)
    path = config.get("_name_or_path") or config.get("name_or_path")
    last = _in_one_line(path.split("/")[-1], 100) if isinstance(path, str) else ""
    if last:
        given["name"] = last
    return given, notes


def _language_model(outer: Config, notes: list[str]) -> Config:
    """Return the configuration of the language model, of a model that also sees or hears."""
    inner = next(
        (
            key
            for key in ("text_config", "llm_config", "language_config")
            if isinstance(outer.get(key), Mapping) and outer[key]
        ),
        None,
    )
    if inner is None:
        return outer
    others = [
        key
        for key in outer
        if str(key).endswith("_config")
        and key != inner
        and not re.search("quantization|compression", key)
        and isinstance(outer[key], Mapping)
        and outer[key]
    ]
    config = dict(outer[inner])
    for key in ("tie_word_embeddings", "_name_or_path"):
        if key not in config and key in outer:
            config[key] = outer[key]
    left_out = f"; left out: {_listed(others)}" if others else ""
    notes.append(f"Only the language model in {inner} is counted{left_out}.")
    return config


def _refuse_what_no_shape_describes(config: Config, kind: str) -> None:
    if config.get("is_encoder_decoder"):
        raise ShapeError(
            "This model has an encoder beside its decoder, and only decoders are counted."
        )
    reasons = _tables().raw["unlike"]
    unlike = [f"{key}: {reason}" for key, reason in reasons.items() if config.get(key)]
    kinds = config.get("attn_type_list")
    if isinstance(kinds, (list, tuple)) and not all(kinds):
        unlike.append("attn_type_list: linear attention beside full attention")
    if not unlike:
        unlike = [
            f"model_type {_in_one_line(kind, 40)}: {entry['is']}"
            for entry in _fitting("unlike_types", kind)
        ]
    if unlike:
        raise ShapeError(
            f"The layers of this model are of different kinds ({unlike[0]}), which no shape "
            "describes, so nothing was counted."
        )


def _same(one: object, other: object) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _one_of(value: Any) -> Any:
    """Return what a list says of every layer where it always says the same."""
    if not isinstance(value, (list, tuple)) or not value:
        return value
    first = value[0]
    alike = not isinstance(first, (list, tuple, Mapping)) and all(
        _same(one, first) for one in value
    )
    return first if alike else value


def _whole(key: str, value: Any, least: int, most: int) -> int:
    one = _one_of(value)
    if _is_number(one) and least <= one <= most and one == int(one):
        return int(one)
    if isinstance(one, (list, tuple)):
        raise ShapeError(
            f"{key} differs from layer to layer, which no shape describes, so nothing was counted."
        )
    raise ShapeError(f"{key} must be a whole number from {least:,} to {most:,}; got {_shown(one)}.")


def _numbers_of(config: Config, kind: str, notes: list[str]) -> dict[str, int]:
    """Return the numbers that the tables list, each under the first of its keys that is there."""
    found: dict[str, int] = {}
    usual: dict[str, int] = {}
    for entry in _fitting("defaults", kind):
        usual |= entry["numbers"]
    for name, (keys, least, most) in _tables().numbers.items():
        there = [key for key in keys if config.get(key) is not None]
        if there:
            found[name] = _whole(there[0], config[there[0]], least, most)
            values = {key: _one_of(config[key]) for key in there}
            other = next((key for key in there if not _same(values[key], found[name])), None)
            if other:
                notes.append(f"{there[0]} and {other} differ; {there[0]} is taken.")
        elif name in usual:
            found[name] = usual[name]
            notes.append(f"{keys[0]} is not given; for this type it is {usual[name]:,}.")
        elif name in _tables().raw["required"]:
            raise ShapeError(f"This configuration has no {keys[0]}, so its shape cannot be read.")
    return found


def _family_of(kind: str, notes: list[str]) -> dict[str, Any]:
    """Return what kind of model it is, as far as its type says."""
    known = _fitting("types", kind)
    if not known and not _tables().family.search(kind):
        notes.append(
            f"The model type “{_in_one_line(kind, 40)}” is not known here; it is read like Llama: "
            "gates, two norms a layer, no biases."
            if kind
            else "No model_type is given; the model is read like Llama: gates, two norms a layer, "
            "no biases."
        )
    fields: dict[str, Any] = {}
    for entry in known:
        fields |= entry["fields"]
    return fields


def _embeddings(config: Config, kind: str, given: dict[str, Any], notes: list[str]) -> None:
    tied = config.get("tie_word_embeddings")
    if isinstance(tied, bool):
        given["tied_embeddings"] = tied
    else:
        notes.append(
            "tie_word_embeddings is not given; for this type the embeddings are taken as "
            f"{'tied' if given.get('tied_embeddings') else 'not tied'}."
        )
    if re.match("gpt2|gpt_bigcode", kind) and given.get("max_context"):
        given["learned_positions"] = given["max_context"]


def _remarks(config: Config, outer: Config, beside: int, notes: list[str]) -> None:
    """Note what stands beside the model, how its weights are stored, and unknown keys."""
    if beside:
        notes.append(
            "Left out: a module that predicts further tokens beside the model."
            if beside == 1
            else f"Left out: {beside} modules that predict further tokens beside the model."
        )
    packed = next(
        (
            one[key]
            for one in (config, outer)
            for key in ("quantization_config", "compression_config")
            if one.get(key)
        ),
        None,
    )
    if packed is not None:
        forms = (
            [packed.get("fmt"), packed.get("quant_method")] if isinstance(packed, Mapping) else []
        )
        form = next((one for one in forms if isinstance(one, str) and one), "another precision")
        notes.append(
            f"The weights are stored in {_in_one_line(form, 30)}; memory is counted in the "
            "precision that you choose."
        )
    odd = [
        key
        for key, value in config.items()
        if value and key not in _tables().known and not _tables().harmless.search(str(key))
    ]
    if odd:
        notes.append(f"Not counted, because it is not known what they add: {_listed(odd)}.")


# Attention ---------------------------------------------------------------------------------------


def _attention(
    config: Config, kind: str, found: dict[str, int], given: dict[str, Any], notes: list[str]
) -> None:
    if found.get("kv_lora_rank"):
        _latent_heads(config, found, given, notes)
    else:
        _plain_heads(config, found, given, notes)
    biased = next(
        (
            config[key]
            for key in ("attention_bias", "qkv_bias", "use_bias")
            if isinstance(config.get(key), bool)
        ),
        None,
    )
    if biased is True and not given.get("attention_bias"):
        without_output = (
            _pattern(_tables().raw["qkv_bias_only"]).search(kind)
            or config.get("qkv_bias") is True
            or config.get("attention_out_bias") is False
        )
        given["attention_bias"] = "qkv" if without_output else "all"
    if biased is False:
        given["attention_bias"] = "none"
    if given.get("kv_lora_rank") and given.get("attention_bias", "none") != "none":
        notes.append("Not counted: biases of latent attention (attention_bias).")
    normed = [config.get("use_qk_norm"), config.get("qk_norm")]
    for said in (True, False):
        if any(one is said for one in normed):
            given["qk_norm"] = said
    if config.get("qk_norm_type") in ("per_layer", "per_head"):
        given["qk_norm_whole"] = config["qk_norm_type"] == "per_layer"
    if config.get("use_cla") and found.get("layers_per_kv", 0) > 1:
        given["layers_per_kv"] = found["layers_per_kv"]


def _latent_heads(
    config: Config, found: dict[str, int], given: dict[str, Any], notes: list[str]
) -> None:
    for name in ("rope_dim", "nope_dim", "v_head_dim"):
        if name not in found:
            raise ShapeError(
                f"Latent attention is described without {_tables().numbers[name].keys[0]}, so it "
                "cannot be counted."
            )
        given[name] = found[name]
    given["kv_lora_rank"] = found["kv_lora_rank"]
    given["q_lora_rank"] = found.get("q_lora_rank", 0)
    given["kv_heads"] = given["heads"]
    given["head_dim"] = found["rope_dim"] + found["nope_dim"]
    if not found.get("indexer_heads") or not found.get("indexer_dim"):
        return
    given["indexer_heads"] = found["indexer_heads"]
    given["indexer_dim"] = found["indexer_dim"]
    kinds = config.get("indexer_types")
    if isinstance(kinds, (list, tuple)):
        own = [one for one in kinds[: given["layers"]] if one != "shared"]
        given["indexer_layers"] = len(own)
    elif config.get("index_topk_freq") or config.get("index_topk_pattern"):
        notes.append(
            "Which layers share an indexer (index_topk_freq) is not read; each has its own."
        )
    chosen = f"{found['indexer_tokens']:,}" if found.get("indexer_tokens") else "some"
    notes.append(
        f"An indexer chooses {chosen} tokens of the context; its weights and keys are counted, and "
        "attention's arithmetic and reading are counted as if every token were chosen."
    )


def _plain_heads(
    config: Config, found: dict[str, int], given: dict[str, Any], notes: list[str]
) -> None:
    alone = 1 if config.get("multi_query") is True else given["heads"]
    given["kv_heads"] = found.get("kv_heads", alone)
    if "kv_heads" not in found and alone > 1 and config.get("model_type") != "gpt2":
        notes.append(
            f"num_key_value_heads is not given; keys and values are taken to have {alone:,} heads, "
            "as queries have."
        )
    if "head_dim" in found:
        given["head_dim"] = found["head_dim"]
    elif given["d_model"] % given["heads"] == 0:
        given["head_dim"] = given["d_model"] // given["heads"]
        notes.append(
            f"head_dim is not given; it is taken as hidden_size over heads, {given['head_dim']:,}."
        )
    if found.get("v_head_dim") and found["v_head_dim"] != given.get("head_dim"):
        notes.append("Not counted: values of another size than keys (v_head_dim).")
    if found.get("indexer_heads") or found.get("indexer_dim"):
        notes.append("Not counted: an indexer beside attention that is not latent (index_n_heads).")


def _windows(
    config: Config, kind: str, found: dict[str, int], given: dict[str, Any], notes: list[str]
) -> None:
    kinds = _layer_kinds(config, found, given["layers"])
    if kinds is not None:
        _kinds_of_layers(kinds, found, given, notes)
    elif found.get("window"):
        _plain_window(config, kind, found["window"], found, given, notes)
    if given.get("full_attention_layers") == given["layers"]:
        given.pop("window_tokens", None)
        given.pop("full_attention_layers")


def _layer_kinds(config: Config, found: dict[str, int], layers: int) -> list[str] | None:
    """Return the kind of each layer's attention, where the configuration lists them."""
    listed = config.get("layer_types")
    if isinstance(listed, (list, tuple)):
        if len(listed) < layers:
            raise ShapeError(f"layer_types lists {len(listed):,} layers, and there are {layers:,}.")
        return [kind if isinstance(kind, str) else "unnamed" for kind in listed[:layers]]
    every = found.get("full_every", 0)
    if every > 1:
        return ["linear_attention" if (i + 1) % every else "full_attention" for i in range(layers)]
    return None


def _kinds_of_layers(
    kinds: list[str], found: dict[str, int], given: dict[str, Any], notes: list[str]
) -> None:
    fixed = [kind for kind in kinds if _tables().fixed.search(kind)]
    windowed = [kind for kind in kinds if kind in ("sliding_attention", "chunked_attention")]
    plain = ("attention", "full_attention", "deepseek_sparse_attention")
    odd = dict.fromkeys(kind for kind in kinds if kind not in (*fixed, *windowed, *plain))
    if odd:
        notes.append(f"Layers of kind {_listed(odd)} are counted as full attention.")
    if fixed:
        given["window_tokens"] = 1
        given["full_attention_layers"] = given["layers"] - len(fixed)
        notes.append(
            f"{len(fixed):,} layers keep a state of fixed size instead of a cache: they are "
            "entered as layers with a window of one token, so the growing cache is right and the "
            "weights are only roughly so."
        )
        if windowed:
            notes.append(f"{len(windowed):,} windowed layers are counted as full attention.")
    elif windowed and not found.get("window"):
        notes.append(
            f"{len(windowed):,} layers are windowed and no sliding_window is given, so they are "
            "counted as full attention."
        )
    elif windowed:
        given["window_tokens"] = found["window"]
        given["full_attention_layers"] = given["layers"] - len(windowed)


def _plain_window(
    config: Config,
    kind: str,
    window: int,
    found: dict[str, int],
    given: dict[str, Any],
    notes: list[str],
) -> None:
    """Fill in windows by a pattern: one layer of so many attends to everything, or the first."""
    use, layers, is_qwen = config.get("use_sliding_window"), given["layers"], kind[:4] == "qwen"
    if use is False or (is_qwen and use is not True):
        return
    given["window_tokens"] = window
    if kind.startswith("llama4"):
        plan = config.get("no_rope_layers")
        full = (
            sum(not one for one in plan)
            if isinstance(plan, (list, tuple)) and plan
            else layers // 4
        )
        given["full_attention_layers"] = min(full, layers)
        notes.append(f"Chunks of {window:,} tokens (attention_chunk_size) are counted as windows.")
        return
    patterns = (config.get("sliding_window_pattern"), config.get("_sliding_window_pattern"))
    pattern = next((one for one in patterns if one), None)
    known = _fitting("patterns", kind)
    every = known[0]["every"] if known else None
    if _is_number(pattern):
        every = _whole("sliding_window_pattern", pattern, 1, 2000)
    if isinstance(pattern, str) and re.fullmatch("[LG]+", pattern):
        full = sum(pattern[i % len(pattern)] == "G" for i in range(layers))
    elif every:
        full = layers // every
    elif is_qwen and "windows_from" in found:
        full = min(found["windows_from"], layers)
    else:
        full = 0
        notes.append(
            f"A window of {window:,} tokens is given and no pattern, so all layers are taken as "
            "windowed."
        )
    given["full_attention_layers"] = full


# Feed-forward ------------------------------------------------------------------------------------


def _dense_layers(config: Config, found: dict[str, int], layers: int) -> int:
    """Return how many layers have no experts."""
    kinds, freq = config.get("mlp_layer_types"), config.get("moe_layer_freq")
    if isinstance(kinds, (list, tuple)):
        return sum(kind == "dense" for kind in kinds[:layers])
    if isinstance(freq, (list, tuple)):
        return sum(not one for one in freq[:layers])
    every = found.get("experts_every")
    if every is None:
        every = 1 if freq is None else _whole("moe_layer_freq", freq, 0, 2000)
    only = config.get("mlp_only_layers")
    return max(
        found.get("dense_first", 0),
        layers - layers // every if every > 1 else 0,
        len(only) if isinstance(only, (list, tuple)) else 0,
    )


def _experts(
    config: Config, kind: str, found: dict[str, int], given: dict[str, Any], notes: list[str]
) -> None:
    given["routed_experts"] = found["routed_experts"]
    given["active_experts"] = found.get("active_experts", 1)
    if "active_experts" not in found:
        notes.append("num_experts_per_tok is not given; one expert a token is counted.")
    # The one width is the experts' own.
    own = found.get("expert_dim", found.get("width"))
    if own is not None:
        given["expert_dim"] = own
    if "shared_experts" in found:
        given["shared_experts"] = found["shared_experts"]
    size = found.get("shared_width")
    if size and not given.get("shared_experts"):
        if own and size % own == 0:
            given["shared_experts"] = size // own
        else:
            notes.append(
                f"Not counted: a shared expert of width {size:,}, which is no multiple of the "
                "experts' own."
            )
    given["dense_layers"] = _dense_layers(config, found, given["layers"])
    if given["dense_layers"]:
        wide = found.get("dense_width", found.get("width"))
        if wide is not None:
            given["ffn_dim"] = wide
    routing = config.get("topk_method")
    if (isinstance(routing, str) and routing.startswith("noaux")) or (
        config.get("use_routing_bias") is True
    ):
        given["router_bias"] = True
    elif isinstance(routing, str) and re.match("deepseek|kimi", kind):
        given.pop("router_bias", None)


def _one_block(found: dict[str, int], given: dict[str, Any], notes: list[str]) -> None:
    for name in ("shared_experts", "shared_gate", "router_bias"):
        given.pop(name, None)
    wide = found.get("dense_width", found.get("width"))
    given["ffn_dim"] = 4 * given["d_model"] if wide is None else wide
    if wide is None:
        notes.append(
            "The feed-forward width is not given; it is taken as four times the model's, "
            f"{given['ffn_dim']:,}."
        )


def _feed_forward(
    config: Config, kind: str, found: dict[str, int], given: dict[str, Any], notes: list[str]
) -> None:
    if found.get("routed_experts", 0) > 1:
        _experts(config, kind, found, given, notes)
    else:
        _one_block(found, given, notes)
    if config.get("mlp_bias") is True:
        given["ffn_bias"] = True
    activation = config.get("hidden_act") or config.get("activation_function")
    if (
        given.get("gated", True)
        and isinstance(activation, str)
        and re.fullmatch("gelu|gelu_new|gelu_pytorch_tanh|relu|relu2", activation)
        and not kind.startswith("gemma")
    ):
        notes.append(
            f"The activation “{activation}” often goes without a gate, and gates are counted."
        )


# The shape ---------------------------------------------------------------------------------------


def _shape(given: dict[str, Any], notes: list[str], name: str | None, called: str) -> Shape:
    """Return the shape of what was read; raise where the numbers contradict each other."""
    called = name or given.pop("name", None) or called
    given.pop("name", None)
    if "head_dim" not in given:
        raise ShapeError(
            f"This configuration has no head_dim, and hidden_size ({given['d_model']:,}) is no "
            f"multiple of num_attention_heads ({given['heads']:,})."
        )
    experts, dense = given.get("routed_experts", 0), given.get("dense_layers", 0)
    if experts and not given.get("expert_dim"):
        raise ShapeError("The experts have no width: moe_intermediate_size is missing.")
    if experts and dense >= given["layers"]:
        raise ShapeError(
            f"Of {given['layers']:,} layers, {dense:,} are said to have no experts, and there are "
            f"{experts:,} experts."
        )
    if (not experts or dense) and not given.get("ffn_dim"):
        raise ShapeError("The feed-forward blocks have no width: intermediate_size is missing.")
    if given.get("kv_lora_rank") and given.get("full_attention_layers") is not None:
        raise ShapeError("Windows beside latent attention are not counted.")
    return Shape(name=called, notes=tuple(notes), **given)
