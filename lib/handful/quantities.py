"""Every symbol of the book, once: name, letter, dimension, unit, meaning.

The API name (``total_parameters``) is the keyword that formulas take and the name of the SymPy symbol; the
letter is what the equation shows.  Their order in this file is the order in which they print within a product.

Conventions: FLOP counts a multiply-add as two; peaks are dense (no structured sparsity); capacities and
bandwidths are decimal (GB = 1e9 bytes) and in one direction; ``batch`` counts sequences, each of which gets
``tokens_per_step`` new tokens (one, unless tokens are speculated) in a decode step.
"""
from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from functools import cached_property

import sympy

from .dimensions import NONE, Dimension


class QuantityError(ValueError):
    """A value that a quantity cannot take, or a name that no quantity has."""


@dataclass(frozen=True)
class Quantity:
    """One physical or economic quantity.

    ``unit`` is a key of ``handful.units``.  ``default`` is the value where the caller gives none; ``constant``
    marks those that a reader never changes.  Quantities with a default are left out of displayed formulas, so
    that the page shows B·N/(n·F) with a plain 2 while the dimensions still come out.
    """

    name: str
    latex: str
    dimension: Dimension
    unit: str
    meaning: str
    default: float | None = None
    constant: bool = False
    zero: bool = False
    signed: bool = False
    upper: float | None = None

    @cached_property
    def symbol(self) -> sympy.Symbol:
        if self.signed:
            return sympy.Symbol(self.name, real=True)
        return sympy.Symbol(self.name, nonnegative=True) if self.zero else sympy.Symbol(self.name, positive=True)

    @property
    def label(self) -> str:
        """The name as words: 'kv bytes per token' reads 'KV bytes per token'."""
        words = self.name.replace("_", " ").replace("kv ", "KV ").replace("flops", "FLOPs")
        return words[0].upper() + words[1:]

    def check(self, value):
        """Return `value` (a number, an array, or text with a unit) as numbers in SI units.

        Anything else raises one sentence that says what is allowed.

        >>> batch.check(64), memory_capacity.check("80 GB")
        (64, 80000000000.0)
        >>> context.check("8 kB")
        Traceback (most recent call last):
        ...
        handful.quantities.QuantityError: context must be a token/sequence; '8 kB' is a byte.
        >>> batch.check(-1)
        Traceback (most recent call last):
        ...
        handful.quantities.QuantityError: batch must be above 0 (in sequence); got -1.
        """
        if isinstance(value, str):
            value = self._read(value)
        if isinstance(value, (int, float)):  # the common case, without importing NumPy
            low, high = value, value
        else:
            import numpy as np

            try:
                array = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise QuantityError(f"{self.name} must be a number (in {self.dimension}); got {value!r}.") from None
            if array.size == 0:
                return value
            low, high = array.min(), array.max() if self.upper is not None else 0.0
        # `not (a > b)` rather than `a <= b`, so that NaN is refused too.
        if not (low > -math.inf if self.signed else low >= 0 if self.zero else low > 0) or math.isinf(low):
            bound = "finite" if self.signed else "0 or above" if self.zero else "above 0"
            raise QuantityError(f"{self.name} must be {bound} (in {self.dimension}); got {low}.")
        if self.upper is not None and high > self.upper:
            raise QuantityError(f"{self.name} must be at most {self.upper}; got {high}.")
        return value


    def _read(self, text: str) -> float:
        from .written import WrittenError, fits, read

        try:
            value, dimension = read(text)
        except WrittenError as error:
            raise QuantityError(f"{self.name} must be a number (in {self.dimension}): {error}") from None
        if dimension is not None and not fits(dimension, self.dimension):
            raise QuantityError(f"{self.name} must be a {self.dimension}; {text!r} is a {dimension}.")
        return value


table: dict[str, Quantity] = {}


def quantity(name: str, latex: str, dimension: Dimension, unit: str, meaning: str, **more) -> Quantity:
    """Define a quantity and enter it in `table`; a name can be defined once only."""
    if name in table:
        raise QuantityError(f"{name} is defined already, as: {table[name].meaning}.")
    table[name] = Quantity(name, latex, dimension, unit, meaning, **more)
    return table[name]


def find(name: str) -> Quantity:
    """The quantity of that API name.

    >>> find("bach")
    Traceback (most recent call last):
    ...
    handful.quantities.QuantityError: There is no quantity 'bach'; the nearest are: batch.
    """
    if name not in table:
        near = difflib.get_close_matches(name, table, n=3) or sorted(table)
        raise QuantityError(f"There is no quantity {name!r}; the nearest are: {', '.join(near)}.")
    return table[name]


def dimension_of_symbol(symbol: sympy.Symbol) -> Dimension:
    return find(symbol.name).dimension


_time = Dimension(time=1)
_byte = Dimension(byte=1)
_flop = Dimension(flop=1)
_token = Dimension(token=1)
_sequence = Dimension(sequence=1)
_parameter = Dimension(parameter=1)
_device = Dimension(device=1)
_dollar = Dimension(dollar=1)

# Constants and defaults
flops_per_multiply_add = quantity(
    "flops_per_multiply_add", "c", _flop / (_parameter * _token), "1",
    "FLOPs that one weight costs for one token: a multiply and an add", default=2, constant=True)
one_token = quantity("one_token", "u", _token, "token", "one token, to make a count of tokens a pure number",
                     default=1, constant=True)
tokens_per_step = quantity("tokens_per_step", "q", _token / _sequence, "token",
                           "new tokens that each sequence gets in one step", default=1)

prompt_per_answer = quantity("prompt_per_answer", "g", NONE, "1",
                             "prompt tokens worked through for each new token", zero=True)

# Hardware
device_price = quantity("device_price", "p", _dollar / (_device * _time), "$/device/s", "price of one chip for a time")
devices = quantity("devices", "n", _device, "device", "chips that work together on a step")
# What is asked of them
attention_flops_per_pair = quantity(
    "attention_flops_per_pair", "a", _flop * _sequence / _token**2, "FLOP",
    "FLOPs to attend from one new token to one token of context, over all layers", zero=True)
batch = quantity("batch", "B", _sequence, "sequence", "sequences served together in one step")
bytes_per_parameter = quantity("bytes_per_parameter", "w", _byte / _parameter, "B/parameter",
                               "bytes that store one weight")
sparsity = quantity("sparsity", "S", NONE, "1", "total over active parameters; 1 for a dense model")
total_parameters = quantity("total_parameters", r"N_{\mathrm{total}}", _parameter, "parameter",
                            "weights that the model has")
active_parameters = quantity("active_parameters", r"N_{\mathrm{active}}", _parameter, "parameter",
                             "weights that one token uses")
routed_parameters = quantity("routed_parameters", r"N_{\mathrm{routed}}", _parameter, "parameter",
                             "weights in routed experts; 0 for a dense model", zero=True)
fetched_parameters = quantity("fetched_parameters", r"N_{\mathrm{fetched}}", _parameter, "parameter",
                              "weights that a step has to read")
context = quantity("context", "L", _token / _sequence, "token", "tokens already in a sequence", zero=True)
kv_bytes_per_token = quantity("kv_bytes_per_token", "b", _byte / _token, "B/token",
                              "bytes of key-value cache that one token of context adds", zero=True)
kv_window_bytes = quantity("kv_window_bytes", r"b_{0}", _byte / _sequence, "B",
                           "bytes of cache in sliding-window layers, which stop growing", default=0, zero=True)
expert_coverage = quantity("expert_coverage", r"\gamma", NONE, "1", "share of the experts that a batch wakes", upper=1)
active_experts = quantity("active_experts", "k", NONE, "1", "routed experts that one token uses; 1 for a dense model")
experts = quantity("experts", "E", NONE, "1", "routed experts in a layer; 1 for a dense model")
peak_flops = quantity("peak_flops", "F", _flop / (_device * _time), "FLOP/s", "dense peak arithmetic rate of one chip")
memory_bandwidth = quantity("memory_bandwidth", r"\,\mathrm{BW}\,", _byte / (_device * _time), "B/s",
                            "rate at which one chip reads its memory")
memory_capacity = quantity("memory_capacity", r"C_{\mathrm{HBM}}", _byte / _device, "B", "memory of one chip")

# Times
step_time = quantity("step_time", "t", _time, "s", "time of one decode step")
compute_time = quantity("compute_time", r"t_{\mathrm{compute}}", _time, "s", "time that the arithmetic takes")
weight_time = quantity("weight_time", r"t_{\mathrm{weights}}", _time, "s", "time to read the weights once")
kv_time = quantity("kv_time", r"t_{\mathrm{KV}}", _time, "s", "time to read every sequence's key-value cache")
memory_time = quantity("memory_time", r"t_{\mathrm{memory}}", _time, "s", "time to read weights and caches")
attention_time = quantity("attention_time", r"t_{\mathrm{attention}}", _time, "s",
                          "time of the arithmetic of attention over the context")
latency_floor = quantity("latency_floor", r"t_{\mathrm{floor}}", _time, "s",
                         "shortest step, however small the batch")
drain_time = quantity("drain_time", r"t_{\mathrm{drain}}", _time, "s", "time to read the whole memory once")
speedup = quantity("speedup", "s", NONE, "1", "how many times faster the fast mode streams")

# Rates, money
throughput = quantity("throughput", "R", _token / _time, "token/s", "new tokens a second, over all sequences")
service_throughput = quantity("service_throughput", r"R_{\mathrm{service}}", _token / _time, "token/s",
                              "tokens a second of a whole service")
share_of_service = quantity("share_of_service", r"\phi", NONE, "1", "share of a service that one system carries")
tokens_per_user = quantity("tokens_per_user", r"r", _token / (_sequence * _time), "token/s",
                           "tokens a second that one user sees")
cost_per_token = quantity("cost_per_token", r"\$", _dollar / _token, "$/token", "cost of one new token")
compute_cost = quantity("compute_cost", r"\$_{\mathrm{compute}}", _dollar / _token, "$/token", "arithmetic per token")
weight_cost = quantity("weight_cost", r"\$_{\mathrm{weights}}", _dollar / _token, "$/token",
                       "a token's share of reading the weights")
kv_cost = quantity("kv_cost", r"\$_{\mathrm{KV}}", _dollar / _token, "$/token", "reading a token's own cache")
cost_floor = quantity("cost_floor", r"\$_{\mathrm{floor}}", _dollar / _token, "$/token",
                      "cost per token at the largest batch: the price of patience without end")
price_ratio = quantity("price_ratio", r"\rho", NONE, "1", "how many times dearer one token becomes")

# Balance
arithmetic_intensity = quantity("arithmetic_intensity", "I", _flop / _byte, "FLOP/B", "FLOPs done per byte read")
attainable_flops = quantity("attainable_flops", r"F_{\mathrm{attainable}}", _flop / (_device * _time), "FLOP/s",
                            "arithmetic rate that the roofline allows")
ridge_intensity = quantity("ridge_intensity", r"I^{*}", _flop / _byte, "FLOP/B",
                           "intensity at which arithmetic and memory take equally long")
machine_balance = quantity("machine_balance", "M", _token, "token",
                           "tokens per weight read at which arithmetic and memory take equally long")
balance_batch = quantity("balance_batch", r"B^{*}", _sequence, "sequence",
                         "batch at which arithmetic takes as long as memory")
balance_context = quantity("balance_context", r"L^{*}", _token / _sequence, "token",
                           "context beyond which no batch is large enough to balance")
attention_context = quantity("attention_context", r"L_{\mathrm{attention}}", _token / _sequence, "token",
                             "context at which attention costs as many FLOPs as the weights")
weight_memory = quantity("weight_memory", r"m_{\mathrm{weights}}", _byte, "B", "memory that the weights take")
batch_that_fits = quantity("batch_that_fits", r"B_{\mathrm{fit}}", _sequence, "sequence",
                           "sequences whose caches fit beside the weights")

weight_memory_share = quantity("weight_memory_share", r"\mu", NONE, "1", "share of all memory that the weights take")

# What sparsity buys: the scaling law of routed networks (dense size, experts, loss)
dense_parameters = quantity("dense_parameters", "N", _parameter, "parameter",
                            "parameters of the dense model whose layers are given experts")
one_parameter = quantity("one_parameter", "v", _parameter, "parameter", "one parameter, to make a count a pure number",
                         default=1, constant=True)
routed_share = quantity("routed_share", "f", NONE, "1", "share of a dense model's weights that routing multiplies",
                        upper=1)
saturated_experts = quantity("saturated_experts", r"\hat{E}", NONE, "1",
                             "experts, after allowing for a start-up cost and for saturation")
loss_exponent_size = quantity("loss_exponent_size", r"\alpha", NONE, "1", "exponent of size in the routed law",
                              signed=True)
loss_exponent_experts = quantity("loss_exponent_experts", r"\beta", NONE, "1", "exponent of experts in the routed law",
                                 signed=True)
loss_interaction = quantity("loss_interaction", r"\kappa", NONE, "1",
                            "how fast the gain from experts shrinks as the model grows", signed=True)
loss_offset = quantity("loss_offset", r"\delta", NONE, "1", "offset of the routed law", signed=True)
experts_start = quantity("experts_start", r"E_{\mathrm{start}}", NONE, "1", "experts that pay for the cost of routing")
experts_limit = quantity("experts_limit", r"E_{\max}", NONE, "1", "experts beyond which more of them stop helping")
validation_loss = quantity("validation_loss", r"\ell", NONE, "1", "validation loss, nats per token")
effective_parameters = quantity("effective_parameters", r"N_{\mathrm{effective}}", _parameter, "parameter",
                                "size of the dense model with the same loss")

# The train: batches that leave on a schedule
batch_interval = quantity("batch_interval", "T", _time, "s", "time between two departures")
mean_delay = quantity("mean_delay", r"\bar{D}", _time, "s", "mean wait plus ride")
worst_delay = quantity("worst_delay", r"D_{\max}", _time, "s", "longest wait plus ride when every train has a free seat")

# A model's life: training, reinforcement learning, inference, and the laws that set them against each other
training_passes = quantity("training_passes", "h", NONE, "1",
                           "forward passes' worth of FLOPs in training on a token: one forward, two backward",
                           default=3, constant=True)
rl_passes = quantity("rl_passes", r"h_{\mathrm{RL}}", NONE, "1",
                     "forward passes' worth of FLOPs that reinforcement learning spends on each of its tokens")
learned_share = quantity("learned_share", r"\lambda", NONE, "1",
                         "share of generated tokens that are learned from", zero=True, upper=1)
decode_efficiency = quantity("decode_efficiency", r"\eta", NONE, "1",
                             "FLOPs a second in decoding over those in training", upper=1)
model_flops_utilisation = quantity("model_flops_utilisation", r"\mathrm{MFU}", NONE, "1",
                                   "share of the peak rate that useful FLOPs reach", upper=1)
pretraining_tokens = quantity("pretraining_tokens", r"D_{\mathrm{pre}}", _token, "token", "tokens of pre-training")
rl_tokens = quantity("rl_tokens", r"D_{\mathrm{RL}}", _token, "token", "tokens generated in reinforcement learning")
inference_tokens = quantity("inference_tokens", r"D_{\mathrm{inf}}", _token, "token",
                            "tokens that the model generates for its users over its life")
service_life = quantity("service_life", r"T_{\mathrm{life}}", _time, "s", "time for which a model serves")
training_flops = quantity("training_flops", r"C_{\mathrm{train}}", _flop, "FLOP", "FLOPs of pre-training")
rl_flops = quantity("rl_flops", r"C_{\mathrm{RL}}", _flop, "FLOP", "FLOPs of reinforcement learning, at the price of training's")
inference_flops = quantity("inference_flops", r"C_{\mathrm{inf}}", _flop, "FLOP", "FLOPs of serving, at the price of training's")
lifetime_flops = quantity("lifetime_flops", r"C_{\mathrm{life}}", _flop, "FLOP", "FLOPs of a model's whole life, at the price of training's")
pretraining_per_rl_token = quantity("pretraining_per_rl_token", r"D_{\mathrm{pre}}/D_{\mathrm{RL}}", NONE, "1",
                                    "pre-training tokens for each token of reinforcement learning")
pretraining_per_inference_token = quantity("pretraining_per_inference_token", r"D_{\mathrm{pre}}/D_{\mathrm{inf}}", NONE, "1",
                                           "pre-training tokens for each token served")
tokens_per_parameter = quantity("tokens_per_parameter", r"\tau", _token / _parameter, "token",
                                "pre-training tokens for each parameter")
overtraining_multiple = quantity("overtraining_multiple", r"\Omega", NONE, "1",
                                 "pre-training tokens over those that training alone would call for")
knob = quantity("knob", "x", NONE, "1", "what is traded: size, data, time")
rising_weight = quantity("rising_weight", "a", _flop, "FLOP", "the cost that rises with the knob, at knob 1")
falling_weight = quantity("falling_weight", "d", _flop, "FLOP", "the cost that falls with the knob, at knob 1")
rising_exponent = quantity("rising_exponent", "y", NONE, "1", "exponent with which one cost rises")
falling_exponent = quantity("falling_exponent", "z", NONE, "1", "exponent with which the other falls")
rising_cost = quantity("rising_cost", r"C_{\uparrow}", _flop, "FLOP", "the cost that rises with the knob")
falling_cost = quantity("falling_cost", r"C_{\downarrow}", _flop, "FLOP", "the cost that falls with the knob")
cost_ratio = quantity("cost_ratio", r"C_{\uparrow}/C_{\downarrow}", NONE, "1", "the rising cost over the falling one")
loss_floor = quantity("loss_floor", r"\ell_{\infty}", NONE, "1", "loss that no size and no data get below", zero=True)
size_coefficient = quantity("size_coefficient", "A", NONE, "1", "loss that a model of one parameter would add")
data_coefficient = quantity("data_coefficient", r"A_{D}", NONE, "1", "loss that training on one token would add")
size_exponent = quantity("size_exponent", r"\alpha_{N}", NONE, "1", "exponent with which size lowers the loss")
data_exponent = quantity("data_exponent", r"\alpha_{D}", NONE, "1", "exponent with which data lower the loss")
compute_optimal_parameters = quantity("compute_optimal_parameters", r"N^{*}", _parameter, "parameter",
                                      "size that a budget of FLOPs trains best")
compute_optimal_tokens = quantity("compute_optimal_tokens", r"D^{*}", _token, "token",
                                  "tokens that a budget of FLOPs trains best on")
training_chip_time = quantity("training_chip_time", r"nT", _device * _time, "device·s", "chip-hours of a training run")
training_time = quantity("training_time", r"T_{\mathrm{train}}", _time, "s", "time that a training run takes")
training_cost = quantity("training_cost", r"\$_{\mathrm{train}}", _dollar, "$", "rent of the chips for a training run")

# A part cannot exceed its whole: checked wherever a formula takes both.
PARTS = ((active_parameters, total_parameters), (routed_parameters, total_parameters), (active_experts, experts))
