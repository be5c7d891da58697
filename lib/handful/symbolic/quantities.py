"""Every symbol of the book, once: name, letter, dimension, unit, meaning.

The API name (``total_parameters``) is the keyword that formulas take and the name of the SymPy
symbol; the letter is what the equation shows.  Their order in this file is the order in which they
print within a product.

Conventions: FLOP counts a multiply-add as two; peaks are dense (no structured sparsity); capacities
and bandwidths are decimal (GB = 1e9 bytes) and in one direction; ``batch`` counts sequences, each
of which gets ``tokens_per_step`` new tokens (one, unless tokens are speculated) in a decode step.
"""

from __future__ import annotations

from .dimensions import NONE, Dimension
from .quantity import Quantity, QuantityError, dimension_of_symbol, find, quantity, section, table

__all__ = ["PARTS", "Quantity", "QuantityError", "dimension_of_symbol", "find", "table"]

_time = Dimension(time=1)
_byte = Dimension(byte=1)
_flop = Dimension(flop=1)
_token = Dimension(token=1)
_sequence = Dimension(sequence=1)
_parameter = Dimension(parameter=1)
_device = Dimension(device=1)
_layer = Dimension(layer=1)
_dollar = Dimension(dollar=1)

section("Constants and defaults")
flops_per_multiply_add = quantity(
    "flops_per_multiply_add",
    "c",
    _flop / (_parameter * _token),
    "1",
    "FLOPs that one weight costs for one token: a multiply and an add",
    default=2,
    constant=True,
)
one_token = quantity(
    "one_token",
    "u",
    _token,
    "token",
    "one token, to make a count of tokens a pure number",
    default=1,
    constant=True,
)
tokens_per_step = quantity(
    "tokens_per_step",
    "q",
    _token / _sequence,
    "token",
    "new tokens that each sequence gets in one step",
    default=1,
)

prompt_per_answer = quantity(
    "prompt_per_answer",
    "g",
    NONE,
    "1",
    "prompt tokens worked through for each new token",
    zero=True,
)

section("Hardware and load")
device_price = quantity(
    "device_price", "p", _dollar / (_device * _time), "$/device/s", "price of one chip for a time"
)
devices = quantity("devices", "n", _device, "device", "chips that work together on a step")
# What is asked of them
attention_flops_per_pair = quantity(
    "attention_flops_per_pair",
    "a",
    _flop * _sequence / _token**2,
    "FLOP",
    "FLOPs to attend from one new token to one token of context in decode, over all layers",
    zero=True,
)
prefill_attention_flops_per_pair = quantity(
    "prefill_attention_flops_per_pair",
    r"a_{\mathrm{prefill}}",
    _flop * _sequence / _token**2,
    "FLOP",
    "FLOPs to attend from one token of a prompt or of a training text to an earlier one, over all "
    "layers",
    zero=True,
)
batch = quantity("batch", "B", _sequence, "sequence", "sequences served together in one step")
bytes_per_parameter = quantity(
    "bytes_per_parameter", "w", _byte / _parameter, "B/parameter", "bytes that store one weight"
)
layers = quantity("layers", r"\Lambda_{\mathrm{all}}", _layer, "layer", "layers of the model")
layer_latency = quantity(
    "layer_latency",
    r"\tau_{\mathrm{layer}}",
    _time / _layer,
    "s",
    "time of a layer that no batch shortens: starting its kernels, and the way of its messages",
    zero=True,
)
fixed_time = quantity(
    "fixed_time",
    r"t_{\mathrm{latency}}",
    _time,
    "s",
    "time of a step that no batch shortens: the latency of its layers",
)
sparsity = quantity("sparsity", "S", NONE, "1", "total over active parameters; 1 for a dense model")
total_parameters = quantity(
    "total_parameters", r"N_{\mathrm{total}}", _parameter, "parameter", "weights that the model has"
)
active_parameters = quantity(
    "active_parameters",
    r"N_{\mathrm{active}}",
    _parameter,
    "parameter",
    "weights that one token uses",
)
routed_parameters = quantity(
    "routed_parameters",
    r"N_{\mathrm{routed}}",
    _parameter,
    "parameter",
    "weights in routed experts; 0 for a dense model",
    zero=True,
)
fetched_parameters = quantity(
    "fetched_parameters",
    r"N_{\mathrm{fetched}}",
    _parameter,
    "parameter",
    "weights that a step has to read",
)
context = quantity(
    "context", "L", _token / _sequence, "token", "tokens already in a sequence", zero=True
)
kv_bytes_per_token = quantity(
    "kv_bytes_per_token",
    "b",
    _byte / _token,
    "B/token",
    "bytes of key-value cache that one token of context adds",
    zero=True,
)
kv_window_bytes = quantity(
    "kv_window_bytes",
    r"b_{0}",
    _byte / _sequence,
    "B",
    "bytes of cache in sliding-window layers, which stop growing",
    default=0,
    zero=True,
)
expert_coverage = quantity(
    "expert_coverage", r"\gamma", NONE, "1", "share of the experts that a batch wakes", upper=1
)
active_experts = quantity(
    "active_experts", "k", NONE, "1", "routed experts that one token uses; 1 for a dense model"
)
experts = quantity("experts", "E", NONE, "1", "routed experts in a layer; 1 for a dense model")
peak_flops = quantity(
    "peak_flops", "F", _flop / (_device * _time), "FLOP/s", "dense peak arithmetic rate of one chip"
)
memory_bandwidth = quantity(
    "memory_bandwidth",
    r"\,\mathrm{BW}\,",
    _byte / (_device * _time),
    "B/s",
    "rate at which one chip reads its memory",
)
memory_capacity = quantity(
    "memory_capacity", r"C_{\mathrm{HBM}}", _byte / _device, "B", "memory of one chip"
)

section("Times")
step_time = quantity("step_time", "t", _time, "s", "time of one decode step")
compute_time = quantity(
    "compute_time", r"t_{\mathrm{compute}}", _time, "s", "time that the arithmetic takes"
)
weight_time = quantity(
    "weight_time", r"t_{\mathrm{weights}}", _time, "s", "time to read the weights once"
)
kv_time = quantity(
    "kv_time", r"t_{\mathrm{KV}}", _time, "s", "time to read every sequence's key-value cache"
)
memory_time = quantity(
    "memory_time", r"t_{\mathrm{memory}}", _time, "s", "time to read weights and caches"
)
attention_time = quantity(
    "attention_time",
    r"t_{\mathrm{attention}}",
    _time,
    "s",
    "time of the arithmetic of attention over the context",
)
latency_floor = quantity(
    "latency_floor",
    r"t_{\mathrm{floor}}",
    _time,
    "s",
    "shortest step that reads all weights, however small the batch",
)
drain_time = quantity(
    "drain_time", r"t_{\mathrm{drain}}", _time, "s", "time to read the whole memory once"
)
speedup = quantity("speedup", "s", NONE, "1", "how many times faster the fast mode streams")

# Rates, money
section("Rates and money")
throughput = quantity(
    "throughput", "R", _token / _time, "token/s", "new tokens a second, over all sequences"
)
service_throughput = quantity(
    "service_throughput",
    r"R_{\mathrm{service}}",
    _token / _time,
    "token/s",
    "tokens a second of a whole service",
)
share_of_service = quantity(
    "share_of_service", r"\phi", NONE, "1", "share of a service that one system carries"
)
tokens_per_user = quantity(
    "tokens_per_user",
    r"r",
    _token / (_sequence * _time),
    "token/s",
    "tokens a second that one user sees",
)
cost_per_token = quantity(
    "cost_per_token", r"\$", _dollar / _token, "$/token", "cost of one new token"
)
compute_cost = quantity(
    "compute_cost", r"\$_{\mathrm{compute}}", _dollar / _token, "$/token", "arithmetic per token"
)
weight_cost = quantity(
    "weight_cost",
    r"\$_{\mathrm{weights}}",
    _dollar / _token,
    "$/token",
    "a token's share of reading the weights",
)
latency_cost = quantity(
    "latency_cost",
    r"c_{\mathrm{latency}}",
    _dollar / _token,
    "$/token",
    "what a token pays as its share in the latency of the layers",
)
kv_cost = quantity(
    "kv_cost", r"\$_{\mathrm{KV}}", _dollar / _token, "$/token", "reading a token's own cache"
)
cost_floor = quantity(
    "cost_floor",
    r"\$_{\mathrm{floor}}",
    _dollar / _token,
    "$/token",
    "cost per token at the largest batch: the price of patience without end",
)
price_ratio = quantity("price_ratio", r"\rho", NONE, "1", "how many times dearer one token becomes")

section("Balance")
arithmetic_intensity = quantity(
    "arithmetic_intensity", "I", _flop / _byte, "FLOP/B", "FLOPs done per byte read"
)
attainable_flops = quantity(
    "attainable_flops",
    r"F_{\mathrm{attainable}}",
    _flop / (_device * _time),
    "FLOP/s",
    "arithmetic rate that the roofline allows",
)
ridge_intensity = quantity(
    "ridge_intensity",
    r"I^{*}",
    _flop / _byte,
    "FLOP/B",
    "intensity at which arithmetic and memory take equally long",
)
machine_balance = quantity(
    "machine_balance",
    "M",
    _token,
    "token",
    "tokens per weight read at which arithmetic and memory take equally long",
)
balance_batch = quantity(
    "balance_batch",
    r"B^{*}",
    _sequence,
    "sequence",
    "batch at which arithmetic takes as long as memory",
)
balance_context = quantity(
    "balance_context",
    r"L^{*}",
    _token / _sequence,
    "token",
    "context beyond which no batch is large enough to balance",
)
attention_context = quantity(
    "attention_context",
    r"L_{\mathrm{attention}}",
    _token / _sequence,
    "token",
    "context at which attention costs as many FLOPs as the weights",
)
weight_memory = quantity(
    "weight_memory", r"m_{\mathrm{weights}}", _byte, "B", "memory that the weights take"
)
batch_that_fits = quantity(
    "batch_that_fits",
    r"B_{\mathrm{fit}}",
    _sequence,
    "sequence",
    "sequences whose caches fit beside the weights",
)

weight_memory_share = quantity(
    "weight_memory_share", r"\mu", NONE, "1", "share of all memory that the weights take"
)

section("What sparsity buys")
dense_parameters = quantity(
    "dense_parameters",
    "N",
    _parameter,
    "parameter",
    "parameters of the dense model whose layers are given experts",
)
one_parameter = quantity(
    "one_parameter",
    "v",
    _parameter,
    "parameter",
    "one parameter, to make a count a pure number",
    default=1,
    constant=True,
)
routed_share = quantity(
    "routed_share",
    "f",
    NONE,
    "1",
    "share of a dense model's weights that routing multiplies",
    upper=1,
)
saturated_experts = quantity(
    "saturated_experts",
    r"\hat{E}",
    NONE,
    "1",
    "experts, after allowing for a start-up cost and for saturation",
)
loss_exponent_size = quantity(
    "loss_exponent_size", r"\alpha", NONE, "1", "exponent of size in the routed law", signed=True
)
loss_exponent_experts = quantity(
    "loss_exponent_experts",
    r"\beta",
    NONE,
    "1",
    "exponent of experts in the routed law",
    signed=True,
)
loss_interaction = quantity(
    "loss_interaction",
    r"\kappa",
    NONE,
    "1",
    "how fast the gain from experts shrinks as the model grows",
    signed=True,
)
loss_offset = quantity("loss_offset", r"\delta", NONE, "1", "offset of the routed law", signed=True)
experts_start = quantity(
    "experts_start", r"E_{\mathrm{start}}", NONE, "1", "experts that pay for the cost of routing"
)
experts_limit = quantity(
    "experts_limit", r"E_{\max}", NONE, "1", "experts beyond which more of them stop helping"
)
validation_loss = quantity("validation_loss", r"\ell", NONE, "1", "validation loss, nats per token")
effective_parameters = quantity(
    "effective_parameters",
    r"N_{\mathrm{effective}}",
    _parameter,
    "parameter",
    "size of the dense model with the same loss",
)

# The train: batches that leave on a schedule
section("Batches that leave on a schedule")
batch_interval = quantity("batch_interval", "T", _time, "s", "time between two departures")
mean_delay = quantity(
    "mean_delay", r"\bar{D}", _time, "s", "mean time to a first token: wait plus ride"
)
worst_delay = quantity(
    "worst_delay",
    r"D_{\max}",
    _time,
    "s",
    "longest time to a first token when the next train has a free seat",
)
seats = quantity(
    "seats", r"n_{\mathrm{seats}}", NONE, "1", "sequences that a train can carry", least=1
)
load = quantity(
    "load",
    r"\rho_{\mathrm{seats}}",
    NONE,
    "%",
    "seats that are wanted on average, over those that there are",
    upper=1,
)
answer_tokens = quantity(
    "answer_tokens",
    r"L_{\mathrm{answer}}",
    _token / _sequence,
    "token",
    "tokens of an answer, on average: for so many departures it keeps its seat",
)
seat_margin = quantity(
    "seat_margin",
    r"z_{\mathrm{seats}}",
    NONE,
    "1",
    "seats beyond the mean that is wanted, in standard deviations of what is wanted",
    zero=True,
)
seat_wait = quantity(
    "seat_wait",
    r"t_{\mathrm{seat}}",
    _time,
    "s",
    "mean wait for a seat of those who find none free",
    zero=True,
)

# A model's life: training, reinforcement learning, inference, and the laws that set them against
# each other
section("A model's life: training, learning, serving")
training_passes = quantity(
    "training_passes",
    "h",
    NONE,
    "1",
    "forward passes' worth of FLOPs in training on a token: one forward, two backward",
    default=3,
    constant=True,
)
rl_passes = quantity(
    "rl_passes",
    r"h_{\mathrm{RL}}",
    NONE,
    "1",
    "forward passes' worth of FLOPs that reinforcement learning spends on each of its tokens",
)
learned_share = quantity(
    "learned_share",
    r"f_{\mathrm{learn}}",
    NONE,
    "1",
    "share of generated tokens that are learned from",
    zero=True,
    upper=1,
)
decode_efficiency = quantity(
    "decode_efficiency",
    r"\eta",
    NONE,
    "%",
    "FLOPs a second in decoding over those in training",
    upper=1,
)
model_flops_utilisation = quantity(
    "model_flops_utilisation",
    r"\mathrm{MFU}",
    NONE,
    "1",
    "share of the peak rate that useful FLOPs reach",
    upper=1,
)
pretraining_tokens = quantity(
    "pretraining_tokens", r"D_{\mathrm{pre}}", _token, "token", "tokens of pre-training"
)
rl_tokens = quantity(
    "rl_tokens", r"D_{\mathrm{RL}}", _token, "token", "tokens generated in reinforcement learning"
)
inference_tokens = quantity(
    "inference_tokens",
    r"D_{\mathrm{inf}}",
    _token,
    "token",
    "tokens that the model generates for its users over its life",
)
service_life = quantity(
    "service_life", r"T_{\mathrm{life}}", _time, "s", "time for which a model serves"
)
training_flops = quantity(
    "training_flops", r"C_{\mathrm{train}}", _flop, "FLOP", "FLOPs of pre-training"
)
rl_flops = quantity(
    "rl_flops",
    r"C_{\mathrm{RL}}",
    _flop,
    "FLOP",
    "FLOPs of reinforcement learning, at the price of training's",
)
inference_flops = quantity(
    "inference_flops",
    r"C_{\mathrm{inf}}",
    _flop,
    "FLOP",
    "FLOPs of serving, at the price of training's",
)
lifetime_flops = quantity(
    "lifetime_flops",
    r"C_{\mathrm{life}}",
    _flop,
    "FLOP",
    "FLOPs of a model's whole life, at the price of training's",
)
training_share = quantity(
    "training_share",
    r"\phi_{\mathrm{train}}",
    NONE,
    "%",
    "pre-training's share of a model's life",
    upper=1,
)
rl_share = quantity(
    "rl_share",
    r"\phi_{\mathrm{RL}}",
    NONE,
    "%",
    "reinforcement learning's share of a model's life",
    upper=1,
)
inference_share = quantity(
    "inference_share",
    r"\phi_{\mathrm{inf}}",
    NONE,
    "%",
    "serving's share of a model's life",
    upper=1,
)
pretraining_per_rl_token = quantity(
    "pretraining_per_rl_token",
    r"\tfrac{D_{\mathrm{pre}}}{D_{\mathrm{RL}}}",
    NONE,
    "1",
    "pre-training tokens for each token of reinforcement learning",
)
pretraining_per_inference_token = quantity(
    "pretraining_per_inference_token",
    r"\tfrac{D_{\mathrm{pre}}}{D_{\mathrm{inf}}}",
    NONE,
    "1",
    "pre-training tokens for each token served",
)
tokens_per_parameter = quantity(
    "tokens_per_parameter",
    r"\tau",
    _token / _parameter,
    "token",
    "pre-training tokens for each parameter",
)
traffic_doubling = quantity(
    "traffic_doubling", r"T_{2}", _time, "s", "time in which a service's traffic doubles"
)
overtraining_multiple = quantity(
    "overtraining_multiple",
    r"\Omega",
    NONE,
    "1",
    "pre-training tokens over the rule of so many tokens for each parameter",
)
guesses = quantity("guesses", r"n_{\mathrm{guess}}", NONE, "1", "independent guesses that multiply")
guess_factor = quantity(
    "guess_factor",
    r"f_{\mathrm{guess}}",
    NONE,
    "1",
    "factor within which, nine times in ten, a guess is right",
    least=1,
)
combined_factor = quantity(
    "combined_factor", r"f_{\mathrm{all}}", NONE, "1", "factor within which their product is right"
)
knob = quantity("knob", "x", NONE, "1", "what is traded: size, data, time")
rising_weight = quantity(
    "rising_weight", r"a_{\uparrow}", _flop, "FLOP", "the cost that rises with the knob, at knob 1"
)
falling_weight = quantity(
    "falling_weight",
    r"a_{\downarrow}",
    _flop,
    "FLOP",
    "the cost that falls with the knob, at knob 1",
)
rising_exponent = quantity(
    "rising_exponent", r"x_{\uparrow}", NONE, "1", "exponent with which one cost rises"
)
falling_exponent = quantity(
    "falling_exponent", r"x_{\downarrow}", NONE, "1", "exponent with which the other falls"
)
rising_cost = quantity("rising_cost", r"C_{+}", _flop, "FLOP", "the cost that rises with the knob")
falling_cost = quantity(
    "falling_cost", r"C_{-}", _flop, "FLOP", "the cost that falls with the knob"
)
cost_ratio = quantity(
    "cost_ratio", r"\tfrac{C_{+}}{C_{-}}", NONE, "1", "the rising cost over the falling one"
)
best_knob = quantity(
    "best_knob", r"x_{\min}", NONE, "1", "knob at which two costs have the least sum"
)
equal_knob = quantity("equal_knob", r"x_{=}", NONE, "1", "knob at which two costs are equal")
equal_split_excess = quantity(
    "equal_split_excess",
    r"\epsilon_{=}",
    NONE,
    "%",
    "what equal costs cost above the least sum",
    zero=True,
)
loss_floor = quantity(
    "loss_floor", r"\ell_{\infty}", NONE, "1", "loss that no size and no data get below", zero=True
)
size_coefficient = quantity(
    "size_coefficient", "A", NONE, "1", "loss that a model of one parameter would add"
)
data_coefficient = quantity(
    "data_coefficient", r"A_{D}", NONE, "1", "loss that training on one token would add"
)
size_exponent = quantity(
    "size_exponent", r"\alpha_{N}", NONE, "1", "exponent with which size lowers the loss"
)
data_exponent = quantity(
    "data_exponent", r"\alpha_{D}", NONE, "1", "exponent with which data lower the loss"
)
reducible_loss = quantity(
    "reducible_loss",
    r"\ell - \ell_{\infty}",
    NONE,
    "1",
    "validation loss above the floor, nats per token",
)
compute_optimal_parameters = quantity(
    "compute_optimal_parameters",
    r"N^{*}",
    _parameter,
    "parameter",
    "size that a budget of FLOPs trains best",
)
compute_optimal_tokens = quantity(
    "compute_optimal_tokens",
    r"D^{*}",
    _token,
    "token",
    "tokens that a budget of FLOPs trains best on",
)
exchange_rate = quantity(
    "exchange_rate",
    r"s_{D}",
    NONE,
    "1",
    "per cent of tokens that a per cent of size saves, at the same loss",
)
decode_bill_ratio = quantity(
    "decode_bill_ratio",
    r"r_{\mathrm{decode}}",
    NONE,
    "1",
    "what all decoding costs over what pre-training costs",
    zero=True,
)
size_share = quantity(
    "size_share",
    r"\tfrac{N}{N^{*}}",
    NONE,
    "1",
    "size over the compute-optimal size for the same loss",
)
token_multiple = quantity(
    "token_multiple",
    r"\tfrac{D}{D^{*}}",
    NONE,
    "1",
    "tokens over the compute-optimal tokens for the same loss",
)
lifetime_share = quantity(
    "lifetime_share",
    r"\phi_{\mathrm{life}}",
    NONE,
    "%",
    "cost of a life over that of the compute-optimal model with the same loss and the same traffic",
)
training_chip_time = quantity(
    "training_chip_time",
    r"H_{\mathrm{train}}",
    _device * _time,
    "device·s",
    "chip-hours of a training run",
)
training_time = quantity(
    "training_time", r"T_{\mathrm{train}}", _time, "s", "time that a training run takes"
)
training_cost = quantity(
    "training_cost", r"\$_{\mathrm{train}}", _dollar, "$", "rent of the chips for a training run"
)

# Experts over chips: where they lie, what travels, and over which wires
section("Experts on racks")
one_device = quantity(
    "one_device",
    "o",
    _device,
    "device",
    "one chip, to make a count of chips a pure number",
    default=1,
    constant=True,
)
domain_devices = quantity(
    "domain_devices",
    r"n_{\uparrow}",
    _device,
    "device",
    "chips of one scale-up domain: a node of 8, a rack of 72",
    least=1,
)
scale_up_domains = quantity(
    "scale_up_domains",
    r"R_{\uparrow}",
    NONE,
    "1",
    "scale-up domains that share a layer's experts",
    least=1,
)
experts_per_device = quantity(
    "experts_per_device",
    r"E_{n}",
    NONE / _device,
    "1",
    "routed experts of a layer on the chip that holds most",
)
devices_in_use = quantity(
    "devices_in_use", r"n_{E}", _device, "device", "chips that hold experts of a layer"
)
d_model = quantity(
    "d_model", "d", NONE, "1", "width of the model: numbers in one token's activation"
)
dispatch_bytes = quantity(
    "dispatch_bytes",
    r"w_{\mathrm{out}}",
    _byte / (_token * _layer),
    "B",
    "bytes of one number of an activation on its way to an expert, once a layer",
)
combine_bytes = quantity(
    "combine_bytes",
    r"w_{\mathrm{back}}",
    _byte / (_token * _layer),
    "B",
    "bytes of one number of an activation on its way back, once a layer",
)
all_to_all_bytes = quantity(
    "all_to_all_bytes",
    r"b_{\mathrm{a2a}}",
    _byte / (_token * _layer),
    "B/token",
    "bytes that one token sends out and gets back in one layer",
)
fraction_leaving = quantity(
    "fraction_leaving",
    r"\varphi",
    NONE,
    "1",
    "share of the copies that leave their scale-up domain",
    upper=1,
    zero=True,
)
domains_reached = quantity(
    "domains_reached", r"R_{k}", NONE, "1", "domains that hold an expert of one token"
)
domain_limit = quantity(
    "domain_limit", r"R_{\max}", NONE, "1", "most domains that the router lets one token use"
)
copies_inside = quantity(
    "copies_inside",
    r"k_{\uparrow}",
    NONE,
    "1",
    "copies of one token that cross the scale-up fabric",
)
copies_leaving = quantity(
    "copies_leaving",
    r"k_{\rightarrow}",
    NONE,
    "1",
    "copies of one token that cross the scale-out network",
)
scale_up_bandwidth = quantity(
    "scale_up_bandwidth",
    r"\,\mathrm{BW}_{\uparrow}\,",
    _byte / (_device * _time),
    "B/s",
    "rate at which one chip sends within its scale-up domain",
)
scale_out_bandwidth = quantity(
    "scale_out_bandwidth",
    r"\,\mathrm{BW}_{\rightarrow}\,",
    _byte / (_device * _time),
    "B/s",
    "rate at which one chip sends out of its scale-up domain",
)
bandwidth_ratio = quantity(
    "bandwidth_ratio", r"\lambda", NONE, "1", "scale-up over scale-out bandwidth of one chip"
)
scale_up_time = quantity(
    "scale_up_time", r"t_{\uparrow}", _time / _layer, "s", "time on the scale-up fabric, one layer"
)
scale_out_time = quantity(
    "scale_out_time",
    r"t_{\rightarrow}",
    _time / _layer,
    "s",
    "time on the scale-out network, one layer",
)
all_to_all_time = quantity(
    "all_to_all_time",
    r"t_{\mathrm{a2a}}",
    _time / _layer,
    "s",
    "time to send every token to its experts and back, one layer",
)
crossing_slowdown = quantity(
    "crossing_slowdown",
    r"s_{\rightarrow}",
    NONE,
    "1",
    "how many times longer the all-to-all takes than in one domain that holds all",
)
communication_time = quantity(
    "communication_time",
    r"T_{\mathrm{a2a}}",
    _time,
    "s",
    "time of the all-to-all over all layers of a step",
)
expert_layers = quantity(
    "expert_layers", r"\Lambda_{E}", _layer, "layer", "layers that hold routed experts"
)
expert_parameters = quantity(
    "expert_parameters",
    r"N_{1}",
    _parameter / _layer,
    "parameter",
    "weights of one routed expert in one layer",
)
expert_weight_time = quantity(
    "expert_weight_time",
    r"t_{\mathrm{read}}",
    _time / _layer,
    "s",
    "time to read the routed experts of one layer",
)
expert_compute_time = quantity(
    "expert_compute_time",
    r"t_{\mathrm{multiply}}",
    _time / _layer,
    "s",
    "time of the routed experts' arithmetic in one layer",
)
expert_layer_time = quantity(
    "expert_layer_time",
    r"t_{\mathrm{experts}}",
    _time / _layer,
    "s",
    "time of the routed experts in one layer",
)
hiding_batch = quantity(
    "hiding_batch",
    r"B_{\mathrm{hide}}",
    _sequence,
    "sequence",
    "batch up to which reading the experts covers the traffic between domains",
)
hiding_bandwidth = quantity(
    "hiding_bandwidth",
    r"\,\mathrm{BW}_{\mathrm{hide}}\,",
    _byte / (_device * _time),
    "B/s",
    "bandwidth from which the experts' arithmetic covers the traffic",
)
tokens_per_expert = quantity(
    "tokens_per_expert", r"m_{E}", _token, "token", "tokens that one expert gets in a step"
)
copies_per_device = quantity(
    "copies_per_device",
    r"m_{n}",
    _token / _device,
    "token",
    "copies of tokens that one chip gets in a layer",
)
load_imbalance = quantity(
    "load_imbalance",
    r"\eta_{\mathrm{load}}",
    NONE,
    "1",
    "load of the busiest chip over the mean load",
)
device_batch = quantity(
    "device_batch",
    r"B_{n}",
    _sequence / _device,
    "sequence",
    "sequences on each chip, of those that a step serves",
)
token_traffic = quantity(
    "token_traffic",
    r"b_{\mathrm{traffic}}",
    _byte / _token,
    "B/token",
    "bytes that a token sends to experts and gets back, over all layers",
)
kernel_overhead = quantity(
    "kernel_overhead",
    r"t_{\mathrm{fixed}}",
    _time / _layer,
    "s",
    "time that sending takes whatever its bytes: launches, the way there, waiting",
    zero=True,
)
dispatch_time = quantity(
    "dispatch_time",
    r"t_{\mathrm{out}}",
    _time / _layer,
    "s",
    "time to send every token to its experts, one layer",
)
combine_time = quantity(
    "combine_time",
    r"t_{\mathrm{back}}",
    _time / _layer,
    "s",
    "time to bring the experts' answers back, one layer",
)
domain_memory = quantity(
    "domain_memory", r"C_{\uparrow}", _byte, "B", "memory of all chips of one scale-up domain"
)
resident_weights = quantity(
    "resident_weights",
    r"m_{n}^{\mathrm{experts}}",
    _byte / _device,
    "B",
    "bytes of routed experts on one chip",
)
copied_weights = quantity(
    "copied_weights",
    r"m_{n}^{\mathrm{rest}}",
    _byte / _device,
    "B",
    "bytes on one chip of the weights that every chip holds: attention, embeddings, shared experts",
)
resident_caches = quantity(
    "resident_caches", r"m_{n}^{\mathrm{KV}}", _byte / _device, "B", "bytes of caches on one chip"
)
fewest_devices = quantity(
    "fewest_devices",
    r"n_{\min}",
    _device,
    "device",
    "fewest chips that hold the model and its caches",
)

section("Holding a context")
tier_capacity = quantity(
    "tier_capacity",
    r"C_{\mathrm{tier}}",
    _byte / _device,
    "B",
    "bytes that one device of a tier holds",
)
tier_bandwidth = quantity(
    "tier_bandwidth",
    r"\,\mathrm{BW}_{\mathrm{tier}}\,",
    _byte / (_device * _time),
    "B/s",
    "rate at which one device of a tier is read",
)
tier_price = quantity(
    "tier_price",
    r"p_{\mathrm{tier}}",
    _dollar / (_device * _time),
    "$/device/s",
    "price of one device of a tier for a time",
)
storage_price = quantity(
    "storage_price",
    r"p_{\mathrm{buy}}",
    _dollar / _byte,
    "$/B",
    "purchase price of a tier's capacity",
)
storage_lifetime = quantity(
    "storage_lifetime", r"T_{\mathrm{wear}}", _time, "s", "time over which a purchase is paid off"
)
waiting_chips = quantity(
    "waiting_chips",
    r"n_{\mathrm{wait}}",
    NONE,
    "1",
    "chips that are fed by one device of a tier",
    zero=True,
)
idle_share = quantity(
    "idle_share",
    r"\iota",
    NONE,
    "1",
    "share of the reading time in which those chips have nothing to do",
    zero=True,
    upper=1,
)
waiting_price = quantity(
    "waiting_price",
    r"p_{\mathrm{wait}}",
    _dollar / (_device * _time),
    "$/device/s",
    "price of all that is kept busy, or idle, while one device of a tier is read",
)
hold_time = quantity(
    "hold_time",
    r"T_{\mathrm{hold}}",
    _time,
    "s",
    "time for which a context is kept before it is used",
)
hold_rate = quantity(
    "hold_rate",
    r"\dot{\$}",
    _dollar / (_token * _time),
    "$/token/s",
    "price of keeping a token of context for a time",
)
byte_hold_price = quantity(
    "byte_hold_price",
    r"h_{\mathrm{byte}}",
    _dollar / (_byte * _time),
    "$/B/s",
    "price of keeping a byte for a time",
)
hold_cost = quantity(
    "hold_cost",
    r"\$_{\mathrm{hold}}",
    _dollar / _token,
    "$/token",
    "keeping a token of context until it is used",
)
retrieve_cost = quantity(
    "retrieve_cost",
    r"\$_{\mathrm{retrieve}}",
    _dollar / _token,
    "$/token",
    "reading a token of context back from a tier",
)
rematerialise_cost = quantity(
    "rematerialise_cost",
    r"\$_{\mathrm{remat}}",
    _dollar / _token,
    "$/token",
    "computing a token's cache again",
)
break_even_time = quantity(
    "break_even_time", r"T^{*}", _time, "s", "hold time at which two choices cost the same"
)
hold_rate_saved = quantity(
    "hold_rate_saved",
    r"\Delta h",
    _dollar / (_token * _time),
    "$/token/s",
    "how much less it costs to keep a token in the farther place",
)
retrieve_cost_added = quantity(
    "retrieve_cost_added",
    r"\Delta\$_{\mathrm{retrieve}}",
    _dollar / _token,
    "$/token",
    "how much more it costs to get a token from there, or to compute it again",
)
held_share = quantity(
    "held_share", r"\sigma", NONE, "1", "share of a tier's capacity that contexts take", upper=1
)
retrieve_time = quantity(
    "retrieve_time", r"t_{\mathrm{retrieve}}", _time, "s", "time to read contexts back from a tier"
)
wall_context = quantity(
    "wall_context",
    r"L_{\mathrm{wall}}",
    _token / _sequence,
    "token",
    "context beyond which a step reads more cache than weights",
)
context_that_fits = quantity(
    "context_that_fits",
    r"L_{\mathrm{fit}}",
    _token / _sequence,
    "token",
    "longest context whose caches fit beside the weights",
)
kv_bytes_read = quantity(
    "kv_bytes_read",
    r"r_{\mathrm{KV}}",
    _byte / _sequence,
    "B",
    "bytes of cache that a step reads for one sequence",
)
kv_bytes_stored = quantity(
    "kv_bytes_stored",
    r"s_{\mathrm{KV}}",
    _byte / _sequence,
    "B",
    "bytes of cache that are kept for one sequence",
)
read_budget = quantity(
    "read_budget", r"t_{\mathrm{budget}}", _time, "s", "time that a step may spend on reading"
)
selected_bytes_per_token = quantity(
    "selected_bytes_per_token",
    r"b_{\mathrm{top}}",
    _byte / _token,
    "B/token",
    "cache of a token in layers that read only chosen tokens",
    zero=True,
)
selected_tokens = quantity(
    "selected_tokens", r"K", _token / _sequence, "token", "tokens that such a layer chooses"
)
indexer_bytes_per_token = quantity(
    "indexer_bytes_per_token",
    r"b_{\mathrm{index}}",
    _byte / _token,
    "B/token",
    "bytes that are read of every token to choose among them",
    zero=True,
)
windowed_bytes_per_token = quantity(
    "windowed_bytes_per_token",
    r"b_{\mathrm{window}}",
    _byte / _token,
    "B/token",
    "cache of a token in sliding-window layers",
    zero=True,
)
window_tokens = quantity(
    "window_tokens",
    r"W",
    _token / _sequence,
    "token",
    "latest tokens that a sliding-window layer reads",
)
block_tokens = quantity(
    "block_tokens", r"L_{\mathrm{block}}", _token, "token", "tokens in one block of context"
)
selected_blocks = quantity(
    "selected_blocks", r"k_{\beta}", _sequence**-1, "1", "blocks that a step reads in full"
)
summary_bytes = quantity(
    "summary_bytes", r"g_{\beta}", _byte, "B", "bytes that stand for a block when blocks are chosen"
)

section("Pipelines")
pipeline_stages = quantity(
    "pipeline_stages", "P", NONE, "1", "stages that the layers are cut into", least=1
)
stages_behind = quantity("stages_behind", r"P_{1}", NONE, "1", "stages behind the first one")
micro_batches = quantity(
    "micro_batches", "m", NONE, "1", "micro-batches that a batch is cut into", least=1
)
model_chunks = quantity(
    "model_chunks",
    "V",
    NONE,
    "1",
    "pieces of the model that one device holds, in an interleaved schedule",
    least=1,
)
layers_per_stage = quantity("layers_per_stage", r"\Lambda", NONE, "1", "layers on one stage")
activation_bytes = quantity(
    "activation_bytes", r"w_{a}", _byte / _token, "B/token", "bytes of one number of an activation"
)
traffic_time_ratio = quantity(
    "traffic_time_ratio",
    r"\tfrac{t_{\uparrow}}{t_{\rightarrow}}",
    NONE,
    "1",
    "time on the scale-up fabric over time on the network between stages",
)
fewest_layers_per_stage = quantity(
    "fewest_layers_per_stage",
    r"\Lambda_{\min}",
    NONE,
    "1",
    "layers on a stage from which the network between stages is not the slower one",
)
stage_time = quantity(
    "stage_time", r"t_{s}", _time, "s", "time of one stage's work on a micro-batch, in decoding"
)
stage_utilisation = quantity(
    "stage_utilisation", r"\upsilon", NONE, "%", "share of the time in which a stage works", upper=1
)
hop_time = quantity(
    "hop_time",
    r"t_{\mathrm{hop}}",
    _time,
    "s",
    "time on the way from one stage to the next",
    zero=True,
)
token_latency = quantity(
    "token_latency",
    r"t_{\mathrm{token}}",
    _time,
    "s",
    "time from one token of a sequence to the next",
)
forward_time = quantity(
    "forward_time", r"t_{F}", _time, "s", "forward pass of one micro-batch through one stage"
)
backward_time = quantity(
    "backward_time",
    r"t_{B}",
    _time,
    "s",
    "whole backward pass of one micro-batch through one stage",
)
weight_gradient_time = quantity(
    "weight_gradient_time",
    r"t_{W}",
    _time,
    "s",
    "the part of the backward pass that belongs to the weights' gradients",
)
overlapped_time = quantity(
    "overlapped_time", r"t_{FB}", _time, "s", "a forward and a backward pass that overlap"
)
micro_batch_overhead = quantity(
    "micro_batch_overhead",
    r"t_{0}",
    _time,
    "s",
    "time that each micro-batch costs whatever its size",
)
stage_work_time = quantity(
    "stage_work_time",
    r"t_{\mathrm{work}}",
    _time,
    "s",
    "time of one stage's work for the whole batch, undivided",
)
pipeline_time = quantity(
    "pipeline_time",
    r"t_{\mathrm{pipeline}}",
    _time,
    "s",
    "time of a training step through the pipeline",
)
bubble_time = quantity(
    "bubble_time",
    r"t_{\mathrm{bubble}}",
    _time,
    "s",
    "time that a stage waits in one training step",
)
bubble_of_ideal = quantity(
    "bubble_of_ideal", r"\beta_{\mathrm{ideal}}", NONE, "%", "bubble over the time without it"
)
bubble_of_total = quantity(
    "bubble_of_total", r"\beta_{\mathrm{total}}", NONE, "%", "bubble over the whole time", upper=1
)
best_micro_batches = quantity(
    "best_micro_batches", r"m^{*}", NONE, "1", "micro-batches that finish a batch soonest"
)
stage_devices = quantity("stage_devices", r"n_{s}", _device, "device", "chips that share one stage")
micro_batch = quantity(
    "micro_batch", r"B_{\mu}", _sequence, "sequence", "sequences in one micro-batch"
)
device_memory = quantity(
    "device_memory", r"C_{\mathrm{used}}", _byte / _device, "B", "memory that one chip needs"
)
sequence_tokens = quantity(
    "sequence_tokens",
    r"L_{\mathrm{train}}",
    _token / _sequence,
    "token",
    "tokens of a training sequence",
)
wire_latency = quantity(
    "wire_latency",
    r"t_{\mathrm{wire}}",
    _time,
    "s",
    "time of an empty message from one stage to the next",
    zero=True,
)
equal_stages = quantity(
    "equal_stages",
    r"P_{=}",
    NONE,
    "1",
    "stages from which the caches on a chip take more than the weights",
)
memory_used = quantity(
    "memory_used",
    r"\sigma_{\mathrm{HBM}}",
    NONE,
    "%",
    "share of a chip's memory that weights and caches take",
)
domain_capacity = quantity(
    "domain_capacity", r"C_{\Sigma}", _byte, "B", "memory of one scale-up domain"
)
domain_bandwidth = quantity(
    "domain_bandwidth",
    r"\,\mathrm{BW}_{\Sigma}\,",
    _byte / _time,
    "B/s",
    "rate at which all chips of a scale-up domain together read their memories",
)
gradient_ratio = quantity(
    "gradient_ratio",
    r"\rho_{g}",
    NONE,
    "%",
    "time to exchange gradients over the time of the backward pass that hides it",
)
tokens_per_chip = quantity(
    "tokens_per_chip",
    r"D_{n}",
    _token / _device,
    "token",
    "tokens of a training step for each chip",
)
training_bytes = quantity(
    "training_bytes",
    r"w_{\mathrm{train}}",
    _byte / _parameter,
    "B/parameter",
    "bytes that training keeps for each weight: weight, gradient, optimiser",
)
gradient_bytes = quantity(
    "gradient_bytes",
    r"w_{g}",
    _byte / _parameter,
    "B/parameter",
    "bytes of one weight's gradient on the wire",
)
critical_tokens = quantity(
    "critical_tokens",
    r"D_{\mathrm{critical}}",
    _token / _device,
    "token",
    "tokens per chip and step from which arithmetic covers the exchange of gradients",
)

# Activations kept for the backward pass, or computed again; the weight of a difference in a cipher
section("Activations, and ciphers")
layer_activation_bytes = quantity(
    "layer_activation_bytes",
    r"w_{\mathrm{layer}}",
    _byte / (_token * _layer),
    "B/token",
    "bytes that one layer keeps of a token until its backward pass",
)
activation_memory = quantity(
    "activation_memory",
    r"m_{\mathrm{activations}}",
    _byte,
    "B",
    "memory of the activations that wait for the backward pass",
)
memory_saving = quantity(
    "memory_saving",
    r"\tfrac{m_{\mathrm{kept}}}{m}",
    NONE,
    "1",
    "activation memory when all is kept over what a way of computing again needs",
)
one_layer = quantity(
    "one_layer",
    "y",
    _layer,
    "layer",
    "one layer, to make a count of layers a pure number",
    default=1,
    constant=True,
)
attention_heads = quantity(
    "attention_heads", r"n_{\mathrm{heads}}", NONE, "1", "attention heads of one layer"
)
bytes_per_width = quantity(
    "bytes_per_width",
    r"w_{\mathrm{width}}",
    _byte / (_token * _layer),
    "B/token",
    "bytes that one layer keeps for each unit of its width and each token",
    default=34,
)
bytes_per_score = quantity(
    "bytes_per_score",
    r"w_{\mathrm{score}}",
    _byte * _sequence / (_token**2 * _layer),
    "B",
    "bytes that one layer keeps for each attention score",
    default=5,
    zero=True,
)
recompute_intensity = quantity(
    "recompute_intensity",
    r"I_{\mathrm{again}}",
    _flop / _byte,
    "FLOP/B",
    "FLOPs that are saved by each byte that is moved instead",
)
keeping_advantage = quantity(
    "keeping_advantage", r"\psi", NONE, "1", "time to compute again over the time to keep and read"
)
active_sboxes = quantity(
    "active_sboxes", r"n_{S}", NONE, "1", "S-boxes that a difference passes through"
)
sbox_weight = quantity(
    "sbox_weight",
    r"w_{S}",
    Dimension(bit=1),
    "bit",
    "minus the binary logarithm of the probability of an S-box's likeliest difference",
)
characteristic_weight = quantity(
    "characteristic_weight",
    r"w_{\Delta}",
    Dimension(bit=1),
    "bit",
    "minus the binary logarithm of the probability of a chain of differences",
)

section("Small changes, and rounding")
nudge = quantity(
    "nudge", r"\varepsilon", NONE, "1", "size of a small change of the input, relative to the input"
)
nudge_size = quantity(
    "nudge_size",
    r"\varepsilon_{\Lambda}",
    NONE,
    "1",
    "size of what becomes of it, relative to the activations",
)
branch_power = quantity(
    "branch_power",
    r"v_{f}",
    NONE,
    "1",
    "mean square that a layer's branch puts out for an input of mean square one",
)
branch_slope = quantity(
    "branch_slope",
    r"\chi_{f}",
    NONE,
    "1",
    "by how much the branch enlarges the mean square of a small change of that input",
)
fixed_point_slope = quantity(
    "fixed_point_slope",
    r"\chi^{*}",
    NONE,
    "1",
    "the same where activations have settled at a size of their own",
)
input_numbers = quantity(
    "input_numbers", r"d_{\mathrm{in}}", NONE, "1", "numbers that an input consists of", least=1
)
nudge_response = quantity(
    "nudge_response",
    r"\Delta y",
    NONE,
    "1",
    "change of a linear response, relative to one weight on one whole input",
)
adversarial_advantage = quantity(
    "adversarial_advantage",
    r"\tfrac{\Delta y_{\max}}{\Delta y}",
    NONE,
    "1",
    "response to the worst signs of a small change over that to random ones",
)
feistel_rounds = quantity("feistel_rounds", r"n_{F}", NONE, "1", "Feistel rounds there and back")
unit_roundoff = quantity(
    "unit_roundoff",
    r"u_{\mathrm{fp}}",
    NONE,
    "1",
    "largest relative error of one rounding: half the distance from 1 to the next number",
)
rebuild_drift = quantity(
    "rebuild_drift",
    r"\varepsilon_{\mathrm{fp}}",
    NONE,
    "1",
    "distance of rebuilt activations from the true ones, relative to them",
)

section("What servers add to the floor")
reduce_bytes = quantity(
    "reduce_bytes",
    r"w_{\mathrm{reduce}}",
    _byte / (_token * _layer),
    "B/token",
    "bytes of one number of an activation in one layer's all-reduce",
    default=2,
)
all_reduce_time = quantity(
    "all_reduce_time",
    r"t_{\mathrm{reduce}}",
    _time,
    "s",
    "time to add up the partial results of chips that share each layer",
)
layer_overhead = quantity(
    "layer_overhead",
    r"t_{1}",
    _time / _layer,
    "s",
    "time that each layer costs whatever its size: launches, waiting for each other",
    zero=True,
)
overhead_time = quantity(
    "overhead_time", r"t_{\mathrm{layers}}", _time, "s", "the same over all layers", zero=True
)
memory_efficiency = quantity(
    "memory_efficiency", r"e_{m}", NONE, "1", "share of the bandwidth that reads reach", upper=1
)
compute_efficiency = quantity(
    "compute_efficiency",
    r"e_{c}",
    NONE,
    "1",
    "share of the peak rate that arithmetic reaches",
    upper=1,
)
network_efficiency = quantity(
    "network_efficiency",
    r"e_{n}",
    NONE,
    "1",
    "share of the fabric's rate that traffic reaches",
    upper=1,
)
copied_weight_time = quantity(
    "copied_weight_time",
    r"t_{\mathrm{copies}}",
    _time,
    "s",
    "time to read whole weights on every chip where a share would do",
)
drafts = quantity(
    "drafts",
    r"m_{\mathrm{draft}}",
    NONE,
    "1",
    "tokens guessed ahead and checked in one step",
    zero=True,
)
acceptance = quantity(
    "acceptance",
    r"\alpha_{\mathrm{draft}}",
    NONE,
    "1",
    "chance that a guessed token is kept",
    zero=True,
    upper=1,
)
kept_share = quantity(
    "kept_share",
    r"\kappa_{\mathrm{draft}}",
    NONE,
    "1",
    "tokens that are kept, of all that a step works on",
    default=1,
    upper=1,
)

section("Price lists")
input_price = quantity(
    "input_price",
    r"\$_{\mathrm{in}}",
    _dollar / _token,
    "$/token",
    "list price of a token of a prompt",
)
output_over_input = quantity(
    "output_over_input",
    r"\rho_{\mathrm{out}}",
    NONE,
    "1",
    "what a token of an answer costs, over what a token of a prompt costs",
)
price_threshold = quantity(
    "price_threshold",
    r"L_{\$}",
    _token / _sequence,
    "token",
    "context above which a price list is dearer",
)
surcharge = quantity(
    "surcharge", r"\rho_{L}", NONE, "1", "list price above the threshold over that below"
)
cost_growth = quantity(
    "cost_growth",
    r"\tfrac{\$}{\$_{L_{\$}}}",
    NONE,
    "1",
    "cost at a context over cost at the threshold",
)
cost_over_price = quantity(
    "cost_over_price", r"\chi", NONE, "1", "growth of the cost over growth of the price"
)
pass_length = quantity(
    "pass_length",
    r"\ell_{\mathrm{pass}}",
    _token / _sequence,
    "token",
    "tokens of a sequence that pass the model together: one in decode, many in prefill",
)
token_time = quantity(
    "token_time",
    r"\tau_{\mathrm{token}}",
    _time / _token,
    "s",
    "time of a pass for each of its tokens",
)
cache_read_ratio = quantity(
    "cache_read_ratio",
    r"\rho_{\mathrm{read}}",
    NONE,
    "1",
    "price of a cached token over that of a token computed",
    upper=1,
)
cache_write_ratio = quantity(
    "cache_write_ratio",
    r"\rho_{\mathrm{write}}",
    NONE,
    "1",
    "price of a token computed and kept over that of a token computed",
)
cache_retention = quantity(
    "cache_retention", r"T_{\mathrm{keep}}", _time, "s", "time for which a written cache is kept"
)
reuses = quantity(
    "reuses",
    r"m_{\mathrm{reuse}}",
    NONE,
    "1",
    "times that a cache is read after it was written",
    zero=True,
)
write_price_added = quantity(
    "write_price_added",
    r"\Delta\$_{\mathrm{write}}",
    _dollar / _token,
    "$/token",
    "how much dearer the longer-lived of two caches is to write",
)
retention_added = quantity(
    "retention_added", r"\Delta T_{\mathrm{keep}}", _time, "s", "how much longer it is kept"
)
bill = quantity(
    "bill",
    r"\$_{\mathrm{bill}}",
    NONE,
    "1",
    "what the uses of one prompt cost together, in list prices of computing it once",
)
write_ratio_added = quantity(
    "write_ratio_added",
    r"\Delta\rho_{\mathrm{write}}",
    NONE,
    "1",
    "how much dearer a longer-lived cache is to write, in input prices",
    default=0,
    zero=True,
)
markup = quantity(
    "markup", r"\mu_{\$}", NONE, "1", "list price over the rent of chips for the same"
)

# A part cannot exceed its whole: checked wherever a formula takes both.
PARTS = (
    (active_parameters, total_parameters),
    (routed_parameters, total_parameters),
    (active_experts, experts),
    (one_device, devices),
)
