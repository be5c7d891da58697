"""The class `Quantity`: a name, a letter, a dimension, a unit and the values that it can take.

The quantities themselves stand in ``quantities.py``.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

import sympy

from ..nearest import nearest
from ..units import UNITS
from .dimensions import NONE, Dimension
from .parse_quantity import WrittenError, fits, read, read_as

if TYPE_CHECKING:
    import numpy.typing as npt

Values = TypeVar("Values", bound="npt.NDArray[Any] | Sequence[float]")


class QuantityError(ValueError):
    """A value that a quantity cannot take, or a name that no quantity has."""

    exit_code = 2


# Words of names and ids that are written otherwise in English.
_WRITTEN = {
    "1d": "1D",
    "2d": "2D",
    "70b": "70B",
    "8b": "8B",
    "api": "API",
    "chinchilla": "Chinchilla",
    "deepseek": "DeepSeek",
    "flop": "FLOP",
    "flops": "FLOPs",
    "gpu": "GPU",
    "gpus": "GPUs",
    "hbm": "HBM",
    "kv": "KV",
    "lora": "LoRA",
    "llama": "Llama",
    "moe": "MoE",
    "rl": "RL",
    "slo": "SLO",
    "tpot": "TPOT",
    "ttft": "TTFT",
    "v3": "V3",
    "d model": "width of the model",
    "daly": "Daly",
    "feistel": "Feistel",
    "fsdp": "FSDP",
    "gpipe": "GPipe",
    "layernorm": "LayerNorm",
    "sbox": "S-box",
    "sboxes": "S-boxes",
    "half passes": "half-passes",
    "speed up": "speed-up",
    "pre training": "pre-training",
    "pretraining": "pre-training",
    "overtraining": "over-training",
    "multiply add": "multiply-add",
    "micro batch": "micro-batch",
    "micro batches": "micro-batches",
    "dual pipe": "DualPipe",
    "layer norm": "LayerNorm",
    "zero stage": "ZeRO stage",
    "all gather": "all-gather",
    "reduce scatter": "reduce-scatter",
    "all to all": "all-to-all",
    "all reduce": "all-reduce",
    "scale up": "scale-up",
    "scale out": "scale-out",
    "break even": "break-even",
    "compute optimal": "compute-optimal",
}


def title_of(name: str) -> str:
    """Return a name or an id as a title.

    >>> title_of("kv_bytes_per_token"), title_of("two-feistel-rounds-by-hand")
    ('KV bytes per token', 'Two Feistel rounds by hand')
    """
    words = f" {name.replace('_', ' ').replace('-', ' ')} "
    for word, written in _WRITTEN.items():
        words = re.sub(rf"(?<= ){word}(?= )", written, words)
    return words[1].upper() + words[2:-1]


# Names that engineers give, and what they may mean here: the first of these that a formula takes.
EVERYDAY: dict[str, tuple[str, ...]] = {
    "mfu": ("model_flops_utilisation",),
    "mbu": ("bandwidth_utilisation",),
    "pue": ("power_usage_effectiveness",),
    "ctx": ("context",),
    "seq_len": ("context", "sequence_tokens", "prompt_tokens"),
    "gpus": ("devices",),
    "chips": ("devices",),
    "tp": ("tensor_devices", "devices"),
    "pp": ("pipeline_stages",),
    "prompt": ("prompt_tokens",),
    "input_tokens": ("prompt_tokens",),
    "output_tokens": ("answer_tokens",),
    "tokens": ("pretraining_tokens", "step_tokens"),
    "training_tokens": ("pretraining_tokens",),
    "params": ("total_parameters",),
    "bytes": ("collective_bytes",),
    "qps": ("request_rate",),
    "rps": ("request_rate",),
    "rank": ("adapter_rank",),
    "k": ("drafts", "active_experts"),
    "topk": ("active_experts",),
    "top_k": ("active_experts",),
    "draft_cost": ("draft_time_ratio",),
    "price": ("device_price",),
    "ttft": ("ttft_target",),
    "tpot": ("tpot_target",),
    "mtbf": ("job_mean_time_to_failure", "device_mean_time_to_failure"),
}


@dataclass(frozen=True)
class Quantity:
    """One physical or economic quantity.

    ``unit`` is a key of ``handful.units``.  ``default`` is the value where the caller gives none;
    ``constant`` marks those that a reader never changes.  Quantities with a default are left out of
    displayed formulas, so that the page shows B·N/(n·F) with a plain 2 while the dimensions still
    come out; ``printed`` marks those that stand there all the same.
    """

    name: str
    latex: str
    dimension: Dimension
    unit: str
    meaning: str
    default: float | None = None
    constant: bool = False
    printed: bool = False
    zero: bool = False
    signed: bool = False
    section: str = ""
    least: float | None = None
    upper: float | None = None

    @cached_property
    def symbol(self) -> sympy.Symbol:
        """Return the SymPy symbol, assumed positive, nonnegative or real as the values are."""
        if self.signed:
            return sympy.Symbol(self.name, real=True)
        return (
            sympy.Symbol(self.name, nonnegative=True)
            if self.zero
            else sympy.Symbol(self.name, positive=True)
        )

    @property
    def label(self) -> str:
        """Return the name as words: 'kv_bytes_per_token' reads 'KV bytes per token'."""
        return title_of(self.name)

    @overload
    def check(self, value: float | str) -> float: ...

    @overload
    def check(self, value: Values) -> Values: ...

    def check(self, value: Any) -> Any:
        """Return `value` (a number, an array, or text with a unit) as numbers in SI units.

        Anything else raises one sentence that says what is allowed.

        >>> from handful.symbolic.quantities import batch, context, memory_capacity
        >>> batch.check(64), memory_capacity.check("80 GB")
        (64, 80000000000.0)
        >>> context.check("8 kB")
        Traceback (most recent call last):
        ...
        handful.symbolic.quantity.QuantityError: context must be a token/sequence; '8 kB' is a byte.
        >>> batch.check(-1)
        Traceback (most recent call last):
        ...
        handful.symbolic.quantity.QuantityError: batch must be above 0 (in sequence); got -1.
        """
        if isinstance(value, str):
            value = self.read(value)
        if isinstance(value, (int, float)):  # the common case, without importing NumPy
            low, high = value, value
        else:
            import numpy as np

            try:
                array = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise QuantityError(
                    f"{self.name} must be a number (in {self.dimension}); got {value!r}."
                ) from None
            if array.size == 0:
                return value
            low, high = array.min(), array.max() if self.upper is not None else 0.0
        # `not (a > b)` rather than `a <= b`, so that NaN is refused too.
        if not (
            low > -math.inf if self.signed else low >= 0 if self.zero else low > 0
        ) or math.isinf(low):
            bound = "finite" if self.signed else "0 or above" if self.zero else "above 0"
            raise QuantityError(f"{self.name} must be {bound} (in {self.dimension}); got {low}.")
        if self.least is not None and low < self.least:
            raise QuantityError(f"{self.name} must be at least {self.least}; got {low}.")
        if self.upper is not None and high > self.upper:
            raise QuantityError(f"{self.name} must be at most {self.upper}; got {high}.")
        return value

    def read(self, text: str) -> float:
        """Return the number that a text with a unit stands for, in SI units.

        Raises QuantityError for text that is no number, or of another dimension.

        >>> from handful.symbolic.quantities import step_time
        >>> step_time.read("20 ms")
        0.02
        """
        try:
            value, dimension = read_as(text, self.dimension)
        except WrittenError as error:
            raise QuantityError(
                f"{self.name} must be a number (in {self.dimension}): {error}"
            ) from None
        if dimension is not None and not fits(dimension, self.dimension):
            usual = UNITS[self.unit].hint.replace("\u00a0", " ") if self.unit in UNITS else ""
            example = f", as in 2 {usual}" if usual.startswith("$ ") or usual.endswith("/s") else ""
            wanted, got = (
                str(one) if str(one).startswith("a ") else f"a {one}"
                for one in (self.dimension, dimension)
            )
            raise QuantityError(f"{self.name} must be {wanted}{example}; {text!r} is {got}.")
        return value


table: dict[str, Quantity] = {}
_section = [""]  # of the quantities that follow, on the notation page
_nameless: list[Quantity] = []


def quantity(
    latex: str, dimension: Dimension, meaning: str, unit: str | None = None, **more: Any
) -> Quantity:
    """Define a quantity, in the usual unit of its dimension unless another is given.

    `name_quantities` names it after its variable, so that no name is written twice.
    """
    made = Quantity(
        "", latex, dimension, unit or usual_unit(dimension), meaning, section=_section[-1], **more
    )
    _nameless.append(made)
    return made


def name_quantities(variables: Mapping[str, Any]) -> None:
    """Name each quantity after the variable that holds it, and enter it in `table`.

    Raises QuantityError for a name in the table already, and for a quantity that no variable holds,
    since another was assigned to the same name.
    """
    made = list(_nameless)
    _nameless.clear()
    for name, value in variables.items():
        if isinstance(value, Quantity) and not value.name:
            if name in table:
                raise QuantityError(f"{name} is defined already, as: {table[name].meaning}.")
            object.__setattr__(value, "name", name)
            table[name] = value
    for one in made:
        if not one.name:
            raise QuantityError(
                f"No variable holds the quantity “{one.meaning}”; give it a name of its own."
            )


@cache
def _units() -> dict[Dimension, str]:
    # A pure number is shown as one rather than in per cent, and an amount in dollars.
    others = ("1", "%", "times", "cent")
    found = {read(f"1 {unit}")[1] or NONE: unit for unit in UNITS if unit not in others}
    return found | {NONE: "1"}


def usual_unit(dimension: Dimension) -> str:
    """Return the unit in which values of a dimension are shown, a key of ``handful.units.UNITS``.

    Where no unit says "per sequence", "per chip" or "per layer", that is left out.  Raises
    QuantityError where no unit is left.

    >>> usual_unit(Dimension(byte=1, token=-1)), usual_unit(Dimension(byte=1, device=-1))
    ('B/token', 'B')
    """
    counted = ("sequence", "device", "layer")
    shown = {base: power for base, power in dimension.powers if power > 0 or base not in counted}
    unit = _units().get(dimension) or _units().get(Dimension(**shown))
    if unit is None:
        raise QuantityError(f"No unit shows a {dimension}; give one of {', '.join(UNITS)}.")
    return unit


def section(title: str) -> None:
    """Put the quantities that follow under this title on the notation page."""
    _section.append(title)


# Names of the last edition, which are understood for one edition more.
RENAMED = {
    "domain_capacity": "devices_memory",
    "kv_window_bytes": "window_cache_memory",
    "machine_balance": "weight_uses_at_balance",
    "tokens_per_step": "new_tokens_per_sequence",
}


def current_name(name: str, level: int = 3) -> str:
    """Return the name that a quantity has now, and warn if it was given that of the last edition.

    `level` says how many calls lie between the warning and whoever is warned.

    >>> current_name("batch")
    'batch'
    """
    new = RENAMED.get(name)
    if new is None or name in table:
        return name
    warnings.warn(
        f"{name} is now {new}; the old name goes with the next edition.",
        DeprecationWarning,
        stacklevel=level,
    )
    return new


def find(name: str) -> Quantity:
    """Return the quantity of that API name.

    Raises QuantityError, which names the nearest ones, where there is none.

    >>> find("bach")
    Traceback (most recent call last):
    ...
    handful.symbolic.quantity.QuantityError: There is no quantity 'bach'; the nearest are: batch.
    """
    name = current_name(name)
    if name not in table:
        raise QuantityError(
            f"There is no quantity {name!r}; the nearest are: {nearest(name, table)}."
        )
    return table[name]


def dimension_of_symbol(symbol: sympy.Symbol) -> Dimension:
    """Return the dimension of the quantity that a symbol stands for."""
    return find(symbol.name).dimension
