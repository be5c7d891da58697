"""Every symbol of the book, once: name, letter, dimension, unit, meaning.

The API name (``total_parameters``) is the keyword that formulas take and the name of the SymPy
symbol; the letter is what the equation shows.  Their order in this file is the order in which they
print within a product.  The unit follows from the dimension, unless another is given.

Conventions: FLOP counts a multiply-add as two; peaks are dense (no structured sparsity); capacities
and bandwidths are decimal (GB = 1e9 bytes) and in one direction; ``batch`` counts sequences, each
of which gets ``new_tokens_per_sequence`` new tokens (one, unless tokens are speculated) in a
decode step.
"""

from __future__ import annotations

from .dimensions import NONE, Dimension
from .quantity import (
    Quantity,
    QuantityError,
    dimension_of_symbol,
    find,
    name_quantities,
    quantity,
    section,
    table,
)

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
_energy = Dimension(energy=1)

section("Constants and defaults")
flops_per_multiply_add = quantity(
    "c",
    _flop / (_parameter * _token),
    "FLOPs that one weight costs for one token: a multiply and an add",
    unit="1",
    default=2,
    constant=True,
)
one_token = quantity(
    "u", _token, "one token, to make a count of tokens a pure number", default=1, constant=True
)
new_tokens_per_sequence = quantity(
    "q", _token / _sequence, "new tokens that each sequence gets in one step", default=1
)

prompt_per_answer = quantity(
    "g", NONE, "prompt tokens worked through for each new token", zero=True
)

section("Hardware and load")
device_price = quantity("p", _dollar / (_device * _time), "price of one chip for a time")
devices = quantity("n", _device, "chips that work together on a step")
# What is asked of them
attention_flops_per_pair = quantity(
    "a",
    _flop * _sequence / _token**2,
    "FLOPs to attend from one new token to one token of context in decode, over all layers",
    unit="FLOP",
    zero=True,
)
prefill_attention_flops_per_pair = quantity(
    r"a_{\mathrm{prefill}}",
    _flop * _sequence / _token**2,
    "FLOPs to attend from one token of a prompt or of a training text to an earlier one, over all "
    "layers",
    unit="FLOP",
    zero=True,
)
batch = quantity("B", _sequence, "sequences served together in one step")
bytes_per_parameter = quantity("w", _byte / _parameter, "bytes that store one weight")
layers = quantity(r"\Lambda_{\mathrm{all}}", _layer, "layers of the model")
layer_latency = quantity(
    r"\tau_{\mathrm{layer}}",
    _time / _layer,
    "time of a layer that no batch shortens: starting its kernels, and the way of its messages",
    zero=True,
)
fixed_time = quantity(
    r"t_{\mathrm{latency}}",
    _time,
    "time of a step that no batch shortens: the latency of its layers",
)
sparsity = quantity("S", NONE, "total over active parameters; 1 for a dense model")
total_parameters = quantity(r"N_{\mathrm{total}}", _parameter, "weights that the model has")
active_parameters = quantity(r"N_{\mathrm{active}}", _parameter, "weights that one token uses")
routed_parameters = quantity(
    r"N_{\mathrm{routed}}", _parameter, "weights in routed experts; 0 for a dense model", zero=True
)
fetched_parameters = quantity(
    r"N_{\mathrm{fetched}}", _parameter, "weights that a step has to read"
)
context = quantity("L", _token / _sequence, "tokens already in a sequence", zero=True)
kv_bytes_per_token = quantity(
    "b", _byte / _token, "bytes of key-value cache that one token of context adds", zero=True
)
window_cache_memory = quantity(
    r"b_{0}",
    _byte / _sequence,
    "bytes of cache in sliding-window layers once their windows are full",
    default=0,
    zero=True,
)
expert_coverage = quantity(
    r"\gamma", NONE, "share of the experts that a batch wakes", unit="%", upper=1
)
active_experts = quantity("k", NONE, "routed experts that one token uses; 1 for a dense model")
experts = quantity("E", NONE, "routed experts in a layer; 1 for a dense model")
peak_flops = quantity("F", _flop / (_device * _time), "dense peak arithmetic rate of one chip")
memory_bandwidth = quantity(
    r"\,\mathrm{BW}\,", _byte / (_device * _time), "rate at which one chip reads its memory"
)
memory_capacity = quantity(r"C_{\mathrm{HBM}}", _byte / _device, "memory of one chip")

section("Times")
step_time = quantity("t", _time, "time of one decode step")
compute_time = quantity(r"t_{\mathrm{compute}}", _time, "time that the arithmetic takes")
weight_time = quantity(r"t_{\mathrm{weights}}", _time, "time to read the weights once")
kv_time = quantity(r"t_{\mathrm{KV}}", _time, "time to read every sequence's key-value cache")
memory_time = quantity(r"t_{\mathrm{memory}}", _time, "time to read weights and caches")
attention_time = quantity(
    r"t_{\mathrm{attention}}", _time, "time of the arithmetic of attention over the context"
)
latency_floor = quantity(
    r"t_{\mathrm{floor}}", _time, "shortest step that reads all weights, however small the batch"
)
drain_time = quantity(r"t_{\mathrm{drain}}", _time, "time to read the whole memory once")
speedup = quantity("s", NONE, "how many times faster the fast mode streams")

# Rates, money
section("Rates and money")
throughput = quantity("R", _token / _time, "new tokens a second, over all sequences")
service_throughput = quantity(
    r"R_{\mathrm{service}}", _token / _time, "tokens a second of a whole service"
)
share_of_service = quantity(r"\phi", NONE, "share of a service that one system carries", unit="%")
tokens_per_user = quantity(r"r", _token / (_sequence * _time), "tokens a second that one user sees")
cost_per_token = quantity(r"\$", _dollar / _token, "cost of one new token")
compute_cost = quantity(r"\$_{\mathrm{compute}}", _dollar / _token, "arithmetic per token")
weight_cost = quantity(
    r"\$_{\mathrm{weights}}", _dollar / _token, "a token's share of reading the weights"
)
latency_cost = quantity(
    r"c_{\mathrm{latency}}",
    _dollar / _token,
    "what a token pays as its share in the latency of the layers",
)
kv_cost = quantity(r"\$_{\mathrm{KV}}", _dollar / _token, "reading a token's own cache")
cost_floor = quantity(
    r"\$_{\mathrm{floor}}",
    _dollar / _token,
    "cost per token at the largest batch: the price of patience without end",
)
price_ratio = quantity(r"\rho", NONE, "how many times dearer one token becomes")

section("Balance")
arithmetic_intensity = quantity("I", _flop / _byte, "FLOPs done per byte read")
attainable_flops = quantity(
    r"F_{\mathrm{attainable}}",
    _flop / (_device * _time),
    "arithmetic rate that the roofline allows",
)
ridge_intensity = quantity(
    r"I^{*}", _flop / _byte, "intensity at which arithmetic and memory take equally long"
)
weight_uses_at_balance = quantity(
    "M", _token, "tokens per weight read at which arithmetic and memory take equally long"
)
cache_uses = quantity(
    r"U",
    _token,
    "multiply-adds for each number of a cache that is read, by all heads that share it",
)
balance_batch = quantity(r"B^{*}", _sequence, "batch at which arithmetic takes as long as memory")
balance_context = quantity(
    r"L^{*}", _token / _sequence, "context beyond which no batch is large enough to balance"
)
attention_context = quantity(
    r"L_{\mathrm{attention}}",
    _token / _sequence,
    "context at which attention costs as many FLOPs as the weights",
)
weight_memory = quantity(r"m_{\mathrm{weights}}", _byte, "memory that the weights take")
batch_that_fits = quantity(
    r"B_{\mathrm{fit}}", _sequence, "sequences whose caches fit beside the weights"
)
cache_memory = quantity(
    r"m_{\mathrm{cache}}", _byte / _sequence, "memory that one sequence's cache takes"
)
weights_in_caches = quantity(
    r"B_{w}", _sequence, "sequences whose caches weigh as much as the weights"
)
fast_batch = quantity(r"B_{\mathrm{fast}}", _sequence, "sequences that share a step in fast mode")
batch_from_price = quantity(
    r"B_{\mathrm{normal}}", _sequence, "sequences in normal mode, as a price list betrays them"
)
speedup_limit = quantity(
    r"s_{\max}", NONE, "how many times faster than now one reading of the weights is"
)

weight_memory_share = quantity(r"\mu", NONE, "share of all memory that the weights take", unit="%")

section("What sparsity buys")
dense_parameters = quantity(
    "N", _parameter, "parameters of the dense model whose layers are given experts"
)
one_parameter = quantity(
    "v", _parameter, "one parameter, to make a count a pure number", default=1, constant=True
)
routed_share = quantity(
    "f", NONE, "share of a dense model's weights that routing multiplies", upper=1
)
saturated_experts = quantity(
    r"\hat{E}", NONE, "experts, after allowing for a start-up cost and for saturation"
)
loss_exponent_size = quantity(r"\alpha", NONE, "exponent of size in the routed law", signed=True)
loss_exponent_experts = quantity(
    r"\beta", NONE, "exponent of experts in the routed law", signed=True
)
loss_interaction = quantity(
    r"\kappa", NONE, "how fast the gain from experts shrinks as the model grows", signed=True
)
loss_offset = quantity(r"\delta", NONE, "offset of the routed law", signed=True)
experts_start = quantity(r"E_{\mathrm{start}}", NONE, "experts that pay for the cost of routing")
experts_limit = quantity(r"E_{\max}", NONE, "experts beyond which more of them stop helping")
validation_loss = quantity(r"\ell", NONE, "validation loss, nats per token")
effective_parameters = quantity(
    r"N_{\mathrm{effective}}", _parameter, "size of the dense model with the same loss"
)

# The train: batches that leave on a schedule
section("Batches that leave on a schedule")
batch_interval = quantity("T", _time, "time between two departures")
rented_time = quantity(r"T_{\mathrm{rent}}", _time, "time for which a machine is rented")
rent = quantity(r"\$_{\mathrm{rent}}", _dollar, "rent of all chips for a time")
tokens_made = quantity(r"D_{\mathrm{rent}}", _token, "tokens made in that time")
mean_delay = quantity(r"\bar{D}", _time, "mean time to a first token: wait plus ride")
worst_delay = quantity(
    r"D_{\max}", _time, "longest time to a first token when the next train has a free seat"
)
seats = quantity(r"n_{\mathrm{seats}}", NONE, "sequences that a train can carry", least=1)
load = quantity(
    r"\rho_{\mathrm{seats}}",
    NONE,
    "seats that are wanted on average, over those that there are",
    unit="%",
    upper=1,
)
answer_tokens = quantity(
    r"L_{\mathrm{answer}}",
    _token / _sequence,
    "tokens of an answer, on average: for so many departures it keeps its seat",
)
seat_margin = quantity(
    r"z_{\mathrm{seats}}",
    NONE,
    "seats beyond the mean that is wanted, in standard deviations of what is wanted",
    zero=True,
)
seat_wait = quantity(
    r"t_{\mathrm{seat}}", _time, "mean wait for a seat of those who find none free", zero=True
)

# A model's life: training, reinforcement learning, inference, and the laws that set them against
# each other
section("A model's life: training, learning, serving")
training_passes = quantity(
    "h",
    NONE,
    "forward passes' worth of FLOPs in training on a token: one forward, two backward",
    default=3,
    constant=True,
)
rl_passes = quantity(
    r"h_{\mathrm{RL}}",
    NONE,
    "forward passes' worth of FLOPs that reinforcement learning spends on each of its tokens",
)
learned_share = quantity(
    r"f_{\mathrm{learn}}",
    NONE,
    "share of generated tokens that are learned from",
    unit="%",
    zero=True,
    upper=1,
)
decode_efficiency = quantity(
    r"\eta", NONE, "FLOPs a second in decoding over those in training", unit="%", upper=1
)
model_flops_utilisation = quantity(
    r"\,\mathrm{MFU}\,", NONE, "share of the peak rate that useful FLOPs reach", unit="%", upper=1
)
pretraining_tokens = quantity(r"D_{\mathrm{pre}}", _token, "tokens of pre-training")
rl_tokens = quantity(r"D_{\mathrm{RL}}", _token, "tokens generated in reinforcement learning")
inference_tokens = quantity(
    r"D_{\mathrm{inf}}", _token, "tokens that the model generates for its users over its life"
)
service_life = quantity(r"T_{\mathrm{life}}", _time, "time for which a model serves")
training_flops = quantity(r"C_{\mathrm{train}}", _flop, "FLOPs of pre-training")
rl_flops = quantity(
    r"C_{\mathrm{RL}}", _flop, "FLOPs of reinforcement learning, at the price of training's"
)
inference_flops = quantity(
    r"C_{\mathrm{inf}}", _flop, "FLOPs of serving, at the price of training's"
)
lifetime_flops = quantity(
    r"C_{\mathrm{life}}", _flop, "FLOPs of a model's whole life, at the price of training's"
)
training_share = quantity(
    r"\phi_{\mathrm{train}}", NONE, "pre-training's share of a model's life", unit="%", upper=1
)
rl_share = quantity(
    r"\phi_{\mathrm{RL}}",
    NONE,
    "reinforcement learning's share of a model's life",
    unit="%",
    upper=1,
)
inference_share = quantity(
    r"\phi_{\mathrm{inf}}", NONE, "serving's share of a model's life", unit="%", upper=1
)
pretraining_per_rl_token = quantity(
    r"\tfrac{D_{\mathrm{pre}}}{D_{\mathrm{RL}}}",
    NONE,
    "pre-training tokens for each token of reinforcement learning",
)
pretraining_per_inference_token = quantity(
    r"\tfrac{D_{\mathrm{pre}}}{D_{\mathrm{inf}}}", NONE, "pre-training tokens for each token served"
)
tokens_per_parameter = quantity(
    r"\tau", _token / _parameter, "pre-training tokens for each parameter", unit="token"
)
traffic_doubling = quantity(r"T_{2}", _time, "time in which a service's traffic doubles")
overtraining_multiple = quantity(
    r"\Omega", NONE, "pre-training tokens over the rule of so many tokens for each parameter"
)
guesses = quantity(r"n_{\mathrm{guess}}", NONE, "independent guesses that multiply")
guess_factor = quantity(
    r"f_{\mathrm{guess}}", NONE, "factor within which, nine times in ten, a guess is right", least=1
)
combined_factor = quantity(r"f_{\mathrm{all}}", NONE, "factor within which their product is right")
knob = quantity("x", NONE, "what is traded: size, data, time")
rising_weight = quantity(r"a_{\uparrow}", _flop, "the cost that rises with the knob, at knob 1")
falling_weight = quantity(r"a_{\downarrow}", _flop, "the cost that falls with the knob, at knob 1")
rising_exponent = quantity(r"x_{\uparrow}", NONE, "exponent with which one cost rises")
falling_exponent = quantity(r"x_{\downarrow}", NONE, "exponent with which the other falls")
rising_cost = quantity(r"C_{+}", _flop, "the cost that rises with the knob")
falling_cost = quantity(r"C_{-}", _flop, "the cost that falls with the knob")
cost_ratio = quantity(r"\tfrac{C_{+}}{C_{-}}", NONE, "the rising cost over the falling one")
best_knob = quantity(r"x_{\min}", NONE, "knob at which two costs have the least sum")
equal_knob = quantity(r"x_{=}", NONE, "knob at which two costs are equal")
equal_split_excess = quantity(
    r"\epsilon_{=}", NONE, "what equal costs cost above the least sum", unit="%", zero=True
)
loss_floor = quantity(r"\ell_{\infty}", NONE, "loss that no size and no data get below", zero=True)
size_coefficient = quantity("A", NONE, "loss that a model of one parameter would add")
data_coefficient = quantity(r"A_{D}", NONE, "loss that training on one token would add")
size_exponent = quantity(r"\alpha_{N}", NONE, "exponent with which size lowers the loss")
data_exponent = quantity(r"\alpha_{D}", NONE, "exponent with which data lower the loss")
reducible_loss = quantity(
    r"\ell - \ell_{\infty}", NONE, "validation loss above the floor, nats per token"
)
compute_optimal_parameters = quantity(
    r"N^{*}", _parameter, "size that a budget of FLOPs trains best"
)
compute_optimal_tokens = quantity(r"D^{*}", _token, "tokens that a budget of FLOPs trains best on")
exchange_rate = quantity(
    r"s_{D}", NONE, "per cent by which tokens must rise where size falls by one, at the same loss"
)
decode_bill_ratio = quantity(
    r"r_{\mathrm{decode}}", NONE, "what all decoding costs over what pre-training costs", zero=True
)
size_share = quantity(
    r"\tfrac{N}{N^{*}}", NONE, "size over the compute-optimal size for the same loss"
)
token_multiple = quantity(
    r"\tfrac{D}{D^{*}}", NONE, "tokens over the compute-optimal tokens for the same loss"
)
lifetime_share = quantity(
    r"\phi_{\mathrm{life}}",
    NONE,
    "cost of a life over that of the compute-optimal model with the same loss and the same traffic",
    unit="%",
)
training_chip_time = quantity(
    r"H_{\mathrm{train}}",
    _device * _time,
    "chip-hours of a training run",
)
training_time = quantity(r"T_{\mathrm{train}}", _time, "time that a training run takes")
training_cost = quantity(r"\$_{\mathrm{train}}", _dollar, "rent of the chips for a training run")
decoding_cost = quantity(
    r"\$_{\mathrm{decode}}", _dollar, "rent of the chips for all that a model writes"
)
lifetime_cost = quantity(
    r"\$_{\mathrm{life}}",
    _dollar,
    "rent of the chips for training a model and for all that it writes",
)

# Experts over chips: where they lie, what travels, and over which wires
section("Experts on racks")
one_device = quantity(
    "o", _device, "one chip, to make a count of chips a pure number", default=1, constant=True
)
domain_devices = quantity(
    r"n_{\uparrow}", _device, "chips of one scale-up domain: a node of 8, a rack of 72", least=1
)
scale_up_domains = quantity(
    r"R_{\uparrow}", NONE, "scale-up domains (nodes, racks) that share a layer", least=1
)
experts_per_device = quantity(
    r"E_{n}", NONE / _device, "routed experts of a layer on the chip that holds most"
)
devices_in_use = quantity(r"n_{E}", _device, "chips that hold experts of a layer")
d_model = quantity("d", NONE, "width of the model: numbers in one token's activation")
dispatch_bytes = quantity(
    r"w_{\mathrm{out}}",
    _byte / (_token * _layer),
    "bytes of one number of an activation on its way to an expert, once a layer",
    unit="B",
)
combine_bytes = quantity(
    r"w_{\mathrm{back}}",
    _byte / (_token * _layer),
    "bytes of one number of an activation on its way back, once a layer",
    unit="B",
)
all_to_all_bytes = quantity(
    r"b_{\mathrm{a2a}}",
    _byte / (_token * _layer),
    "bytes that one token sends out and gets back in one layer",
)
fraction_leaving = quantity(
    r"\varphi",
    NONE,
    "share of the copies that leave their scale-up domain",
    unit="%",
    upper=1,
    zero=True,
)
domains_reached = quantity(r"R_{k}", NONE, "domains that hold an expert of one token")
domain_limit = quantity(r"R_{\max}", NONE, "most domains that the router lets one token use")
copies_inside = quantity(
    r"k_{\uparrow}", NONE, "copies of one token that cross the scale-up fabric"
)
copies_leaving = quantity(
    r"k_{\rightarrow}", NONE, "copies of one token that cross the scale-out network"
)
scale_up_bandwidth = quantity(
    r"\,\mathrm{BW}_{\uparrow}\,",
    _byte / (_device * _time),
    "rate at which one chip sends within its scale-up domain",
)
scale_out_bandwidth = quantity(
    r"\,\mathrm{BW}_{\rightarrow}\,",
    _byte / (_device * _time),
    "rate at which one chip sends out of its scale-up domain",
)
bandwidth_ratio = quantity(r"\lambda", NONE, "scale-up over scale-out bandwidth of one chip")
scale_up_time = quantity(r"t_{\uparrow}", _time / _layer, "time on the scale-up fabric, one layer")
scale_out_time = quantity(
    r"t_{\rightarrow}", _time / _layer, "time on the scale-out network, one layer"
)
all_to_all_time = quantity(
    r"t_{\mathrm{a2a}}",
    _time / _layer,
    "time to send every token to its experts and back, one layer",
)
crossing_slowdown = quantity(
    r"s_{\rightarrow}",
    NONE,
    "how many times longer the all-to-all takes than in one domain that holds all",
)
communication_time = quantity(
    r"T_{\mathrm{a2a}}", _time, "time of the all-to-all over all layers of a step"
)
expert_layers = quantity(r"\Lambda_{E}", _layer, "layers that hold routed experts")
expert_parameters = quantity(
    r"N_{1}", _parameter / _layer, "weights of one routed expert in one layer"
)
expert_weight_time = quantity(
    r"t_{\mathrm{read}}", _time / _layer, "time to read the routed experts of one layer"
)
expert_compute_time = quantity(
    r"t_{\mathrm{multiply}}", _time / _layer, "time of the routed experts' arithmetic in one layer"
)
expert_layer_time = quantity(
    r"t_{\mathrm{experts}}", _time / _layer, "time of the routed experts in one layer"
)
layer_time = quantity(
    r"t_{\mathrm{layer}}",
    _time / _layer,
    "time of a layer of experts, the journeys of its tokens included",
)
hiding_batch = quantity(
    r"B_{\mathrm{hide}}",
    _sequence,
    "batch up to which reading the experts covers the traffic between domains",
)
hiding_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{hide}}\,",
    _byte / (_device * _time),
    "bandwidth from which the experts' arithmetic covers the traffic",
)
tokens_per_expert = quantity(r"m_{E}", _token, "tokens that one expert gets in a step")
copies_per_device = quantity(
    r"m_{n}", _token / _device, "copies of tokens that one chip gets in a layer"
)
load_imbalance = quantity(
    r"\eta_{\mathrm{load}}", NONE, "load of the busiest chip over the mean load"
)
device_batch = quantity(
    r"B_{n}", _sequence / _device, "sequences on each chip, of those that a step serves"
)
token_traffic = quantity(
    r"b_{\mathrm{traffic}}",
    _byte / _token,
    "bytes that a token sends to experts and gets back, over all layers",
)
kernel_overhead = quantity(
    r"t_{\mathrm{fixed}}",
    _time / _layer,
    "time that sending takes whatever its bytes: launches, the way there, waiting",
    zero=True,
)
dispatch_time = quantity(
    r"t_{\mathrm{out}}", _time / _layer, "time to send every token to its experts, one layer"
)
combine_time = quantity(
    r"t_{\mathrm{back}}", _time / _layer, "time to bring the experts' answers back, one layer"
)
domain_memory = quantity(r"C_{\uparrow}", _byte, "memory of all chips of one scale-up domain")
resident_weights = quantity(
    r"m_{n}^{\mathrm{experts}}", _byte / _device, "bytes of routed experts on one chip"
)
copied_weights = quantity(
    r"m_{n}^{\mathrm{rest}}",
    _byte / _device,
    "bytes on one chip of the weights that every chip holds: attention, embeddings, shared experts",
)
resident_caches = quantity(r"m_{n}^{\mathrm{KV}}", _byte / _device, "bytes of caches on one chip")
fewest_devices = quantity(r"n_{\min}", _device, "fewest chips that hold the model and its caches")

section("Holding a context")
tier_capacity = quantity(
    r"C_{\mathrm{tier}}", _byte / _device, "bytes that one device of a tier holds"
)
tier_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{tier}}\,",
    _byte / (_device * _time),
    "rate at which one device of a tier is read",
)
tier_write_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{in}}\,",
    _byte / (_device * _time),
    "rate at which one device of a tier may be written, on average over its life",
)
tier_price = quantity(
    r"p_{\mathrm{tier}}", _dollar / (_device * _time), "price of one device of a tier for a time"
)
storage_price = quantity(
    r"p_{\mathrm{buy}}", _dollar / _byte, "purchase price of a tier's capacity"
)
storage_lifetime = quantity(r"T_{\mathrm{wear}}", _time, "time over which a purchase is paid off")
waiting_chips = quantity(
    r"n_{\mathrm{wait}}", NONE, "chips that are fed by one device of a tier", zero=True
)
idle_share = quantity(
    r"\iota",
    NONE,
    "share of the reading time in which those chips have nothing to do",
    unit="%",
    zero=True,
    upper=1,
)
written_share = quantity(
    r"\nu",
    NONE,
    "share of a context that is not in the tier yet and has to be written",
    unit="%",
    zero=True,
    upper=1,
)
tier_devices = quantity(
    r"n_{\mathrm{tier}}", NONE, "devices of a tier that a context is spread over and read from"
)
waiting_price = quantity(
    r"p_{\mathrm{wait}}",
    _dollar / (_device * _time),
    "price of all that is kept busy, or idle, while one device of a tier is read",
)
hold_time = quantity(
    r"T_{\mathrm{hold}}", _time, "time for which a context is kept before it is used"
)
hold_rate = quantity(
    r"\dot{\$}", _dollar / (_token * _time), "price of keeping a token of context for a time"
)
byte_hold_price = quantity(
    r"h_{\mathrm{byte}}", _dollar / (_byte * _time), "price of keeping a byte for a time"
)
hold_cost = quantity(
    r"\$_{\mathrm{hold}}", _dollar / _token, "keeping a token of context until it is used"
)
retrieve_cost = quantity(
    r"\$_{\mathrm{retrieve}}", _dollar / _token, "reading a token of context back from a tier"
)
rematerialise_cost = quantity(
    r"\$_{\mathrm{remat}}", _dollar / _token, "computing a token's cache again"
)
context_cost = quantity(
    r"\$_{\mathrm{context}}",
    _dollar / _sequence,
    "having the cache of a whole context again, kept or computed",
    unit="$",
)
context_cents = quantity(
    r"\$_{\mathrm{cents}}",
    _dollar / _sequence,
    "having the caches of a thousand contexts again, in cents",
    unit="1",
)
prefill_again_flops = quantity(
    r"X_{\mathrm{again}}",
    _flop / _sequence,
    "FLOPs to compute the cache of a whole context again",
    unit="FLOP",
)
prefill_again_time = quantity(
    r"t_{\mathrm{again}}", _time, "time to compute the caches of whole contexts again"
)
break_even_time = quantity(r"T^{*}", _time, "hold time at which two choices cost the same")
hold_rate_saved = quantity(
    r"\Delta h",
    _dollar / (_token * _time),
    "how much less it costs to keep a token in the farther place",
)
retrieve_cost_added = quantity(
    r"\Delta\$_{\mathrm{retrieve}}",
    _dollar / _token,
    "how much more it costs to get a token from there, or to compute it again",
)
held_share = quantity(
    r"\sigma", NONE, "share of a tier's capacity that contexts take", unit="%", upper=1
)
retrieve_time = quantity(r"t_{\mathrm{retrieve}}", _time, "time to read contexts back from a tier")
wall_context = quantity(
    r"L_{\mathrm{wall}}",
    _token / _sequence,
    "context beyond which a step reads more cache than weights",
)
context_that_fits = quantity(
    r"L_{\mathrm{fit}}", _token / _sequence, "longest context whose caches fit beside the weights"
)
kv_bytes_read = quantity(
    r"r_{\mathrm{KV}}", _byte / _sequence, "bytes of cache that a step reads for one sequence"
)
kv_bytes_stored = quantity(
    r"s_{\mathrm{KV}}", _byte / _sequence, "bytes of cache that are kept for one sequence"
)
read_budget = quantity(r"t_{\mathrm{budget}}", _time, "time that a step may spend on reading")
selected_bytes_per_token = quantity(
    r"b_{\mathrm{top}}",
    _byte / _token,
    "cache of a token in layers that read only chosen tokens",
    zero=True,
)
selected_tokens = quantity(r"K", _token / _sequence, "tokens that such a layer chooses")
indexer_bytes_per_token = quantity(
    r"b_{\mathrm{index}}",
    _byte / _token,
    "bytes that are read of every token to choose among them",
    zero=True,
)
windowed_bytes_per_token = quantity(
    r"b_{\mathrm{window}}", _byte / _token, "cache of a token in sliding-window layers", zero=True
)
window_tokens = quantity(
    r"W",
    _token / _sequence,
    "latest tokens that a sliding-window layer reads",
    default=1,
    printed=True,
)
block_tokens = quantity(r"L_{\mathrm{block}}", _token, "tokens in one block of context")
selected_blocks = quantity(r"k_{\beta}", _sequence**-1, "blocks that a step reads in full")
summary_bytes = quantity(r"g_{\beta}", _byte, "bytes that stand for a block when blocks are chosen")

section("Pipelines")
pipeline_stages = quantity("P", NONE, "stages that the layers are cut into", least=1)
stages_behind = quantity(r"P_{1}", NONE, "stages behind the first one")
micro_batches = quantity("m", NONE, "micro-batches that a batch is cut into", least=1)
model_chunks = quantity(
    "V", NONE, "pieces of the model that one device holds, in an interleaved schedule", least=1
)
room_gain = quantity(
    r"\tfrac{B_{\rightarrow}}{B_{\parallel}}",
    NONE,
    "room of domains in a chain over their room side by side",
)
layers_per_stage = quantity(r"\Lambda", NONE, "layers on one stage")
activation_bytes = quantity(r"w_{a}", _byte / _token, "bytes of one number of an activation")
traffic_time_ratio = quantity(
    r"t_{\uparrow}/t_{\rightarrow}",
    NONE,
    "time on the scale-up fabric over time on the network between stages",
)
fewest_layers_per_stage = quantity(
    r"\Lambda_{\min}",
    NONE,
    "layers on a stage from which the network between stages is not the slower one",
)
stage_time = quantity(r"t_{s}", _time, "time of one stage's work on a micro-batch, in decoding")
stage_utilisation = quantity(
    r"\upsilon", NONE, "share of the time in which a stage works", unit="%", upper=1
)
handed_on = quantity(
    r"b_{\mathrm{hop}}", _byte / _token, "bytes that a token hands on to the next stage"
)
port_use = quantity(
    r"\upsilon_{\rightarrow}",
    NONE,
    "share of the time in which a chip's port hands on activations",
    unit="%",
)
hop_time = quantity(
    r"t_{\mathrm{hop}}", _time, "time on the way from one stage to the next", zero=True
)
token_latency = quantity(
    r"t_{\mathrm{token}}", _time, "time from one token of a sequence to the next"
)
forward_time = quantity(r"t_{F}", _time, "forward pass of one micro-batch through one stage")
backward_time = quantity(
    r"t_{B}", _time, "whole backward pass of one micro-batch through one stage"
)
weight_gradient_time = quantity(
    r"t_{W}", _time, "the part of the backward pass that belongs to the weights' gradients"
)
overlapped_time = quantity(r"t_{FB}", _time, "a forward and a backward pass that overlap")
micro_batch_overhead = quantity(
    r"t_{0}", _time, "time that each micro-batch costs whatever its size"
)
stage_work_time = quantity(
    r"t_{\mathrm{work}}", _time, "time of one stage's work for the whole batch, undivided"
)
pipeline_time = quantity(
    r"t_{\mathrm{pipeline}}", _time, "time of a training step through the pipeline"
)
bubble_time = quantity(
    r"t_{\mathrm{bubble}}", _time, "time that a stage waits in one training step"
)
bubble_of_ideal = quantity(
    r"\beta_{\mathrm{ideal}}", NONE, "bubble over the time without it", unit="%"
)
bubble_of_total = quantity(
    r"\beta_{\mathrm{total}}", NONE, "bubble over the whole time", unit="%", upper=1
)
best_micro_batches = quantity(r"m^{*}", NONE, "micro-batches that finish a batch soonest")
stage_devices = quantity(r"n_{s}", _device, "chips that share one stage")
micro_batch = quantity(r"B_{\mu}", _sequence, "sequences in one micro-batch")
device_memory = quantity(r"C_{\mathrm{used}}", _byte / _device, "memory that one chip needs")
sequence_tokens = quantity(
    r"L_{\mathrm{train}}", _token / _sequence, "tokens of a training sequence"
)
wire_latency = quantity(
    r"t_{\mathrm{wire}}", _time, "time of an empty message from one stage to the next", zero=True
)
equal_stages = quantity(
    r"P_{=}", NONE, "stages from which the caches on a chip take more than the weights"
)
memory_used = quantity(
    r"\sigma_{\mathrm{HBM}}",
    NONE,
    "share of a chip's memory that weights and caches take",
    unit="%",
)
devices_memory = quantity(r"C_{\Sigma}", _byte, "memory of the chips that work together on a step")
domain_bandwidth = quantity(
    r"\,\mathrm{BW}_{\Sigma}\,",
    _byte / _time,
    "rate at which all chips of a scale-up domain together read their memories",
)
gradient_ratio = quantity(
    r"\rho_{g}",
    NONE,
    "time to exchange gradients over the time of the backward pass that hides it",
    unit="%",
)
tokens_per_chip = quantity(r"D_{n}", _token / _device, "tokens of a training step for each chip")
training_bytes = quantity(
    r"w_{\mathrm{train}}",
    _byte / _parameter,
    "bytes that training keeps for each weight: weight, gradient, optimiser",
)
gradient_bytes = quantity(
    r"w_{g}", _byte / _parameter, "bytes of one weight's gradient on the wire"
)
critical_tokens = quantity(
    r"D_{\mathrm{critical}}",
    _token / _device,
    "tokens per chip and step from which arithmetic covers the exchange of gradients",
)

# Activations kept for the backward pass, or computed again; the weight of a difference in a cipher
section("Activations, and ciphers")
layer_activation_bytes = quantity(
    r"w_{\mathrm{layer}}",
    _byte / (_token * _layer),
    "bytes that one layer keeps of a token until its backward pass",
)
activation_memory = quantity(
    r"m_{\mathrm{activations}}", _byte, "memory of the activations that wait for the backward pass"
)
memory_saving = quantity(
    r"\tfrac{m_{\mathrm{kept}}}{m}",
    NONE,
    "activation memory when all is kept over what a way of computing again needs",
)
one_layer = quantity(
    "y", _layer, "one layer, to make a count of layers a pure number", default=1, constant=True
)
attention_heads = quantity(r"n_{\mathrm{heads}}", NONE, "attention heads of one layer")
bytes_per_width = quantity(
    r"w_{\mathrm{width}}",
    _byte / (_token * _layer),
    "bytes that one layer keeps for each unit of its width and each token",
    default=34,
)
bytes_per_score = quantity(
    r"w_{\mathrm{score}}",
    _byte * _sequence / (_token**2 * _layer),
    "bytes that one layer keeps for each attention score",
    unit="B",
    default=5,
    zero=True,
)
recompute_intensity = quantity(
    r"I_{\mathrm{again}}", _flop / _byte, "FLOPs that are saved by each byte that is moved instead"
)
keeping_advantage = quantity(r"\psi", NONE, "time to compute again over the time to keep and read")
active_sboxes = quantity(r"n_{S}", NONE, "S-boxes that a difference passes through")
sbox_weight = quantity(
    r"w_{S}",
    Dimension(bit=1),
    "minus the binary logarithm of the probability of an S-box's likeliest difference",
)
characteristic_weight = quantity(
    r"w_{\Delta}",
    Dimension(bit=1),
    "minus the binary logarithm of the probability of a chain of differences",
)

section("Small changes, and rounding")
nudge = quantity(r"\varepsilon", NONE, "size of a small change of the input, relative to the input")
nudge_size = quantity(
    r"\varepsilon_{\Lambda}", NONE, "size of what becomes of it, relative to the activations"
)
branch_power = quantity(
    r"v_{f}", NONE, "mean square that a layer's branch puts out for an input of mean square one"
)
branch_slope = quantity(
    r"\chi_{f}",
    NONE,
    "by how much the branch enlarges the mean square of a small change of that input",
)
fixed_point_slope = quantity(
    r"\chi^{*}", NONE, "the same where activations have settled at a size of their own"
)
input_numbers = quantity(r"d_{\mathrm{in}}", NONE, "numbers that an input consists of", least=1)
nudge_response = quantity(
    r"\Delta y", NONE, "change of a linear response, relative to one weight on one whole input"
)
adversarial_advantage = quantity(
    r"\tfrac{\Delta y_{\max}}{\Delta y}",
    NONE,
    "response to the worst signs of a small change over that to random ones",
)
feistel_rounds = quantity(r"n_{F}", NONE, "Feistel rounds there and back")
unit_roundoff = quantity(
    r"u_{\mathrm{fp}}",
    NONE,
    "largest relative error of one rounding: half the distance from 1 to the next number",
)
rebuild_drift = quantity(
    r"\varepsilon_{\mathrm{fp}}",
    NONE,
    "distance of rebuilt activations from the true ones, relative to them",
)

section("What servers add to the floor")
reduce_bytes = quantity(
    r"w_{\mathrm{reduce}}",
    _byte / (_token * _layer),
    "bytes of one number of an activation in one layer's all-reduce",
    default=2,
)
tensor_parallel_time = quantity(
    r"t_{\mathrm{tensor}}",
    _time,
    "time to add up the partial results of chips that share each layer, over all layers",
)
layer_overhead = quantity(
    r"t_{1}",
    _time / _layer,
    "time that each layer costs whatever its size: launches, waiting for each other",
    zero=True,
)
overhead_time = quantity(r"t_{\mathrm{layers}}", _time, "the same over all layers", zero=True)
memory_efficiency = quantity(
    r"e_{m}", NONE, "share of the bandwidth that reads reach", unit="%", upper=1
)
compute_efficiency = quantity(
    r"e_{c}", NONE, "share of the peak rate that arithmetic reaches", unit="%", upper=1
)
network_efficiency = quantity(
    r"e_{n}", NONE, "share of the fabric's rate that traffic reaches", unit="%", upper=1
)
copied_weight_time = quantity(
    r"t_{\mathrm{copies}}", _time, "time to read whole weights on every chip where a share would do"
)
drafts = quantity(
    r"m_{\mathrm{draft}}", NONE, "tokens guessed ahead and checked in one step", zero=True
)
acceptance = quantity(
    r"\alpha_{\mathrm{draft}}", NONE, "chance that a guessed token is kept", zero=True, upper=1
)
kept_share = quantity(
    r"\kappa_{\mathrm{draft}}",
    NONE,
    "tokens that are kept, of all that a step works on",
    default=1,
    upper=1,
)

section("Price lists")
input_price = quantity(r"\$_{\mathrm{in}}", _dollar / _token, "list price of a token of a prompt")
output_over_input = quantity(
    r"\rho_{\mathrm{out}}",
    NONE,
    "what a token of an answer costs, over what a token of a prompt costs",
)
price_threshold = quantity(
    r"L_{\$}", _token / _sequence, "context above which a price list is dearer"
)
surcharge = quantity(r"\rho_{L}", NONE, "list price above the threshold over that below")
cost_growth = quantity(
    r"\tfrac{\$}{\$_{L_{\$}}}", NONE, "cost at a context over cost at the threshold"
)
cost_over_price = quantity(r"\chi", NONE, "growth of the cost over growth of the price")
pass_length = quantity(
    r"\ell_{\mathrm{pass}}",
    _token / _sequence,
    "tokens of a sequence that pass the model together: one in decode, many in prefill",
)
token_time = quantity(
    r"\tau_{\mathrm{token}}", _time / _token, "time of a pass for each of its tokens", unit="s"
)
cache_read_ratio = quantity(
    r"\rho_{\mathrm{read}}", NONE, "price of a cached token over that of a token computed", upper=1
)
cache_write_ratio = quantity(
    r"\rho_{\mathrm{write}}",
    NONE,
    "price of a token computed and kept over that of a token computed",
)
cache_retention = quantity(r"T_{\mathrm{keep}}", _time, "time for which a written cache is kept")
reuses = quantity(
    r"m_{\mathrm{reuse}}", NONE, "times that a cache is read after it was written", zero=True
)
write_price_added = quantity(
    r"\Delta\$_{\mathrm{write}}",
    _dollar / _token,
    "how much dearer the longer-lived of two caches is to write",
)
retention_added = quantity(r"\Delta T_{\mathrm{keep}}", _time, "how much longer it is kept")
bill = quantity(
    r"\$_{\mathrm{bill}}",
    NONE,
    "what the uses of one prompt cost together, in list prices of computing it once",
)
write_ratio_added = quantity(
    r"\Delta\rho_{\mathrm{write}}",
    NONE,
    "how much dearer a longer-lived cache is to write, in input prices",
    default=0,
    zero=True,
)
markup = quantity(r"\mu_{\$}", NONE, "list price over the rent of chips for the same")

section("Collectives")
collective_bytes = quantity(
    r"m_{\mathrm{array}}",
    _byte,
    "bytes of the whole array that a collective gathers, adds up or rearranges",
)
link_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{link}}\,",
    _byte / _time,
    "rate of one link in one direction: to a neighbour, or to the switch",
)
hop_latency = quantity(
    r"\tau_{\mathrm{hop}}",
    _time,
    "time of an empty message to a neighbour, or through a switch to another chip",
    zero=True,
)
torus_axes = quantity(r"n_{\mathrm{axes}}", NONE, "axes of a torus: 1 for a ring", least=1)
collective_time = quantity(r"t_{\mathrm{collective}}", _time, "time of one collective")
latency_bound_bytes = quantity(
    r"m_{\mathrm{latency}}",
    _byte,
    "bytes of an array below which latency takes longer than the bytes on their way",
)
bisection_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{bisection}}\,",
    _byte / _time,
    "rate in one direction from one half of the chips to the other",
)
oversubscription = quantity(
    r"\omega_{\mathrm{tree}}",
    NONE,
    "rate of the chips below the switches of a tree over the rate that goes on upwards",
    default=1,
    printed=True,
    least=1,
)
switch_ports = quantity(
    r"n_{\mathrm{ports}}", _device, "ports of one switch: what can be plugged into it", least=2
)
tree_levels = quantity(
    r"n_{\mathrm{levels}}", NONE, "levels of switches in a tree: 1 where one switch joins all"
)
tree_devices = quantity(r"n_{\mathrm{tree}}", _device, "chips that a tree of switches can join")
tree_switches = quantity(r"n_{\mathrm{switches}}", NONE, "switches of a network")
network_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{net}}\,",
    _byte / (_device * _time),
    "rate at which one chip sends over all links that a collective uses",
)

section("Sharding")
d_ff = quantity(
    r"d_{\mathrm{ff}}",
    NONE,
    "width of the feed-forward layer, over all experts that a token uses",
)
feed_forward_matrices = quantity(
    r"n_{\mathrm{ff}}",
    NONE,
    "matrices of weights in a feed-forward layer: 2, or 3 where one is a gate",
    default=2,
)
expert_width = quantity(r"d_{E}", NONE, "width of the feed-forward layer of one expert")
step_tokens = quantity(r"D_{\mathrm{step}}", _token, "tokens of a step, over all chips")
balance_tokens = quantity(
    r"D_{n}^{*}",
    _token / _device,
    "tokens of a step for each chip at which the network takes as long as arithmetic, or reading",
)
tensor_devices = quantity(
    r"n_{\mathrm{TP}}", _device, "chips that share each matrix: a tensor-parallel group", least=1
)
fsdp_devices = quantity(
    r"n_{\mathrm{FSDP}}",
    _device,
    "chips that a group of fully sharded data parallelism (FSDP) has",
    least=1,
)
data_parallel_devices = quantity(
    r"n_{\mathrm{DP}}", NONE, "copies of a model that train on parts of one batch", least=1
)
width_cuts = quantity(
    r"n_{d}", NONE, "parts that the model's width is cut into, beside that of the layer", least=1
)
tensor_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{TP}}\,",
    _byte / (_device * _time),
    "rate at which one chip sends over the links of its tensor-parallel group",
)
fsdp_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{FSDP}}\,",
    _byte / (_device * _time),
    "rate at which one chip sends over the links that FSDP or data parallelism uses",
)
network_ridge = quantity(
    r"I_{\mathrm{net}}",
    _flop / _byte,
    "FLOPs for each byte sent at which arithmetic and network take equally long",
)
layer_network_time = quantity(
    r"t_{\mathrm{net}}", _time / _layer, "time that one layer spends on the network"
)
layer_compute_time = quantity(
    r"t_{\mathrm{ff}}", _time / _layer, "time of the arithmetic of a feed-forward layer"
)

section("One matrix product")
matmul_tokens = quantity(
    r"B_{\mathrm{rows}}",
    _token,
    "tokens whose activations are multiplied by one matrix of weights",
)
inner_width = quantity(
    r"d_{\mathrm{inner}}", NONE, "width that a product sums over: numbers in a token's input"
)
outer_width = quantity(r"d_{\mathrm{outer}}", NONE, "numbers in a token's result")
result_bytes = quantity(
    r"w_{\mathrm{result}}", _byte / _token, "bytes of one number of a product's result"
)
matmul_flops = quantity(r"X_{\mathrm{matmul}}", _flop, "FLOPs of one matrix product")
matmul_bytes = quantity(
    r"m_{\mathrm{matmul}}", _byte, "bytes that one matrix product reads and writes"
)
matmul_time = quantity(r"t_{\mathrm{matmul}}", _time, "time of one matrix product")
matmul_critical_batch = quantity(
    r"B_{\mathrm{rows}}^{*}",
    _token,
    "tokens at which a product's arithmetic takes as long as its bytes",
)
matmul_least_width = quantity(
    r"d_{\min}", NONE, "width of a square matrix below which no batch is large enough"
)
matmul_utilisation = quantity(
    r"\upsilon_{\mathrm{matmul}}",
    NONE,
    "share of the peak rate that a matrix product reaches at best",
    unit="%",
    upper=1,
)

section("Memory in training")
trained_weight_bytes = quantity(
    r"w_{\theta}",
    _byte / _parameter,
    "bytes in which training keeps a weight for its passes",
    default=2,
    printed=True,
)
trained_gradient_bytes = quantity(
    r"w_{\nabla}",
    _byte / _parameter,
    "bytes in which training keeps a weight's gradient",
    default=2,
    printed=True,
    zero=True,
)
optimiser_bytes = quantity(
    r"w_{\mathrm{opt}}",
    _byte / _parameter,
    "bytes that the optimiser keeps for each weight",
    default=12,
    printed=True,
    zero=True,
)
training_state_memory = quantity(
    r"m_{\mathrm{state}}", _byte, "memory of weights, gradients and optimiser state"
)
devices_to_train = quantity(
    r"n_{\mathrm{train}}", _device, "chips whose memory the state and the activations fill"
)
replicated_bytes_per_width = quantity(
    r"w_{\mathrm{copies}}",
    _byte / (_token * _layer),
    "bytes for each unit of width that every chip of a layer keeps",
    default=10,
    zero=True,
)
kv_heads = quantity(r"n_{\mathrm{KV}}", NONE, "heads of keys and values of one layer")
head_width = quantity(r"d_{\mathrm{head}}", NONE, "numbers in one head's query, and in its key")
value_width = quantity(r"d_{\mathrm{value}}", NONE, "numbers in one head's value")
query_latent_width = quantity(
    r"d_{\mathrm{Q}}",
    NONE,
    "numbers in the latent vector that queries are computed from; 0 where there is none",
    zero=True,
)
cached_number_bytes = quantity(
    r"w_{\mathrm{KV}}",
    _byte / (_token * _layer),
    "bytes of one number of a key or a value in the cache",
)
kv_latent_width = quantity(
    r"d_{\mathrm{KV}}", NONE, "numbers in the latent vector of keys and values"
)
rotary_width = quantity(
    r"d_{\mathrm{rope}}", NONE, "numbers of a key that carry its position, for all heads together"
)

adapter_rank = quantity(
    r"r_{\mathrm{LoRA}}", NONE, "rank of the two thin matrices that are trained beside each weight"
)
adapter_parameters = quantity(
    r"N_{\mathrm{LoRA}}", _parameter, "weights of all adapters: those that are trained"
)

section("Failures and checkpoints")
device_mean_time_to_failure = quantity(
    r"M_{\mathrm{chip}}",
    _device * _time,
    "chip-hours for each failure that stops a job, whatever it is that fails",
)
job_mean_time_to_failure = quantity(
    r"M_{\mathrm{job}}", _time, "mean time from one failure of a job to the next"
)
expected_failures = quantity(
    r"n_{\mathrm{fail}}", NONE, "failures of a training run, on average", zero=True
)
failure_free_chance = quantity(
    r"p_{\mathrm{none}}",
    NONE,
    "chance that a run meets no failure",
    unit="%",
    zero=True,
    upper=1,
)
checkpoint_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{save}}\,",
    _byte / _time,
    "rate at which all chips together write a checkpoint",
)
checkpoint_time = quantity(
    r"\delta_{\mathrm{save}}", _time, "time for which training stands still at a checkpoint"
)
checkpoint_interval = quantity(
    r"\tau_{\mathrm{save}}", _time, "time of training between two checkpoints"
)
restart_time = quantity(
    r"t_{\mathrm{restart}}",
    _time,
    "time from a failure until training goes on, from its last checkpoint",
    zero=True,
)
lost_share = quantity(
    r"\phi_{\mathrm{lost}}",
    NONE,
    "time lost to checkpoints, to restarts and to work done again, over the time of training",
    unit="%",
    zero=True,
)
effective_training_share = quantity(
    r"\phi_{\mathrm{eff}}",
    NONE,
    "share of the time in which training gets on",
    unit="%",
    zero=True,
    upper=1,
)
repair_time = quantity(
    r"t_{\mathrm{repair}}", _time, "time for which a node is away after a failure"
)
devices_in_repair = quantity(
    r"n_{\mathrm{repair}}", _device, "chips that are away for repair, on average"
)

section("A chip from its parts")
chip_cores = quantity(
    r"n_{\mathrm{cores}}",
    _device**-1,
    "cores of one chip: on a GPU, its streaming multiprocessors",
    unit="1",
)
multiply_adds_per_cycle = quantity(
    r"n_{\mathrm{FMA}}",
    _parameter * _token,
    "multiply-adds that one core finishes in one cycle",
    unit="1",
)
clock_rate = quantity(r"\nu_{\mathrm{clock}}", _time**-1, "cycles a second", unit="1")
array_width = quantity(r"d_{\mathrm{array}}", NONE, "cells on one side of a square systolic array")
chip_arrays = quantity(r"n_{\mathrm{arrays}}", _device**-1, "systolic arrays of one chip", unit="1")
bytes_per_cycle = quantity(
    r"w_{\mathrm{cycle}}", _byte, "bytes that one core reads from its own memory in one cycle"
)
on_chip_bandwidth = quantity(
    r"\,\mathrm{BW}_{\mathrm{chip}}\,",
    _byte / (_device * _time),
    "rate at which all cores of one chip read their own memories",
)
memory_stacks = quantity(
    r"n_{\mathrm{stacks}}", _device**-1, "stacks of memory beside one chip", unit="1"
)
pins_per_stack = quantity(r"n_{\mathrm{pins}}", NONE, "data pins of one stack of memory")
pin_rate = quantity(
    r"r_{\mathrm{pin}}", Dimension(bit=1, time=-1), "bits a second on one data pin", unit="1"
)
bits_per_byte = quantity(
    r"z_{8}", Dimension(bit=1, byte=-1), "bits in a byte", unit="1", default=8, constant=True
)

section("Prompts, answers and guesses on a server")
prompt_tokens = quantity(r"L_{\mathrm{prompt}}", _token / _sequence, "tokens of a prompt")
prompts_together = quantity(
    r"B_{\mathrm{prefill}}", _sequence, "prompts that are worked through together", default=1
)
hit_share = quantity(
    r"\eta_{\mathrm{hit}}",
    NONE,
    "share of the prompt's tokens whose cache is found, so that they are not computed again",
    unit="%",
    zero=True,
    upper=1,
)
prefill_time = quantity(
    r"t_{\mathrm{prefill}}", _time, "time in which a server works through a prompt"
)
prefill_throughput = quantity(
    r"R_{\mathrm{prefill}}",
    _token / _time,
    "tokens of prompts that a prefill server takes a second",
)
prefill_per_decode = quantity(r"\rho_{\mathrm{PD}}", NONE, "prefill servers for each decode server")
cache_transfer_time = quantity(
    r"t_{\mathrm{move}}", _time, "time to send a prompt's cache from one server to another"
)
sequences_finished = quantity(
    r"B_{\mathrm{end}}", _sequence, "answers that end in one step, on average"
)
cache_freed = quantity(
    r"m_{\mathrm{end}}", _byte, "bytes of cache that those answers leave free in one step"
)
request_rate = quantity(r"\lambda_{\mathrm{req}}", _sequence / _time, "requests a second")
bandwidth_utilisation = quantity(
    r"\,\mathrm{MBU}\,",
    NONE,
    "bytes that a step has to read, over those that could have been read in its time",
    unit="%",
)
generated_tokens = quantity(
    r"n_{\mathrm{kept}}",
    NONE,
    "tokens that one step yields a sequence: the guesses that are kept, and one more",
)
draft_time_ratio = quantity(
    r"c_{\mathrm{draft}}",
    NONE,
    "time to guess one token, over that of a step of the large model",
    zero=True,
    upper=1,
)
draft_operations_ratio = quantity(
    r"\hat{c}_{\mathrm{draft}}",
    NONE,
    "arithmetic to guess one token, over that of the large model for one token",
    zero=True,
    upper=1,
)
speculative_speedup = quantity(
    r"s_{\mathrm{draft}}", NONE, "how many times faster an answer comes with tokens guessed ahead"
)
speculative_operations = quantity(
    r"\rho_{\mathrm{draft}}",
    NONE,
    "how many times more arithmetic an answer takes with tokens guessed ahead",
)
speculative_step_time = quantity(
    r"t_{\mathrm{verify}}", _time, "time to guess tokens ahead and to check them in one step"
)
speculation_limit_batch = quantity(
    r"B_{\mathrm{draft}}", _sequence, "batch up to which guessing tokens ahead is faster"
)

section("Service levels")
one_sequence = quantity(
    "j",
    _sequence,
    "one request, to make a count of requests a pure number",
    default=1,
    constant=True,
)
ttft_target = quantity(
    r"T_{\mathrm{TTFT}}", _time, "time to a first token that is promised (its service level)"
)
tpot_target = quantity(
    r"T_{\mathrm{TPOT}}", _time, "time per output token that is promised (its service level)"
)
slo_attainment = quantity(
    r"p_{\mathrm{SLO}}",
    NONE,
    "share of requests for which a promise is to be kept: 0.99 for the 99th percentile",
    unit="%",
    default=0.99,
    printed=True,
    upper=1,
)
prefill_variation = quantity(
    r"c_{\mathrm{prefill}}",
    NONE,
    "standard deviation of the prefill times over their mean: 0 for equal prompts",
    default=0,
    printed=True,
    zero=True,
)
prefill_wait = quantity(
    r"t_{\mathrm{wait}}", _time, "mean time for which a prompt waits for its prefill", zero=True
)
time_to_first_token = quantity(
    r"t_{\mathrm{TTFT}}", _time, "time from a request to its first token"
)
tpot_batch = quantity(
    r"B_{\mathrm{TPOT}}",
    _sequence,
    "largest batch whose step keeps to the time per output token that is promised",
    zero=True,
)
prefill_request_rate = quantity(
    r"\lambda_{\mathrm{prefill}}",
    _sequence / _time,
    "requests a second that one prefill server takes within its service level",
    zero=True,
)
decode_request_rate = quantity(
    r"\lambda_{\mathrm{decode}}",
    _sequence / _time,
    "requests a second that one decode server takes within its service level",
    zero=True,
)
prefill_devices = quantity(r"n_{\mathrm{prefill}}", _device, "chips of one prefill server")
prefill_servers = quantity(r"x_{\mathrm{P}}", NONE, "prefill servers of a deployment (x of xPyD)")
decode_servers = quantity(r"y_{\mathrm{D}}", NONE, "decode servers of a deployment (y of xPyD)")
goodput = quantity(
    "G",
    _sequence / (_time * _device),
    "requests a second and chip that are served within their service levels",
    zero=True,
)

section("Money and energy of a fleet")
fleet_utilisation = quantity(
    r"\upsilon_{\mathrm{fleet}}",
    NONE,
    "share of what a fleet could make that it makes",
    unit="%",
    upper=1,
)
requests_served = quantity(r"n_{\mathrm{req}}", _sequence, "requests that are answered in a time")
request_price = quantity(r"\$_{\mathrm{req}}", _dollar / _sequence, "list price of one request")
revenue = quantity(r"\$_{\mathrm{revenue}}", _dollar, "what is paid for all requests of a time")
gross_margin = quantity(
    r"\mu_{\mathrm{gross}}",
    NONE,
    "revenue less the rent of the chips, as a share of the revenue",
    unit="%",
    signed=True,
)
flops_per_dollar = quantity(r"X_{\$}", _flop / _dollar, "FLOPs for a dollar of rent")
bytes_per_dollar = quantity(r"m_{\$}", _byte / _dollar, "bytes read for a dollar of rent")
chip_power = quantity(
    r"W_{\mathrm{chip}}", _energy / (_time * _device), "power that one chip is rated for (TDP)"
)
server_overhead = quantity(
    r"\omega_{\mathrm{server}}", NONE, "power of a server over that of its chips", least=1
)
power_share = quantity(
    r"\upsilon_{W}", NONE, "mean power over the power that is rated", unit="%", upper=1
)
power_usage_effectiveness = quantity(
    r"\,\mathrm{PUE}\,",
    NONE,
    "power of a building over that of its servers (power usage effectiveness)",
    least=1,
)
facility_power = quantity(
    r"W_{\mathrm{meter}}",
    _energy / (_time * _device),
    "mean power at the building's meter, for each chip",
)
energy_price = quantity(r"\$_{E}", _dollar / _energy, "price of electricity")
energy_per_token = quantity(r"E_{\mathrm{token}}", _energy / _token, "energy of one new token")
answer_energy = quantity(
    r"E_{\mathrm{answer}}", _energy / _sequence, "energy of one answer", unit="Wh"
)
training_energy = quantity(r"E_{\mathrm{train}}", _energy, "energy of a training run")
flops_per_joule = quantity(r"X_{E}", _flop / _energy, "FLOPs for a joule")
chip_capital = quantity(
    r"\$_{\mathrm{chip}}",
    _dollar / _device,
    "price of one chip with its share of server, network and building",
)
write_off_time = quantity(
    r"T_{\mathrm{chip}}", _time, "time over which the price of a chip is written off"
)

name_quantities(globals())

# A part cannot exceed its whole: checked wherever a formula takes both.
PARTS = (
    (active_parameters, total_parameters),
    (routed_parameters, total_parameters),
    (active_experts, experts),
    (one_device, devices),
    (replicated_bytes_per_width, bytes_per_width),
)
