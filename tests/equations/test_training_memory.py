"""Memory in training: against published tables, calculators, and layers that are played.

Tables are those of Rajbhandari et al. 2020 (ZeRO), Korthikanti et al. 2022, and Zhang and Su 2025;
calculators are Megatron's and the scaling book's.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import reversible, scenario, shapes
from handful import training_memory as m
from handful_evidence.simulate import kept_activations as sim
from handful_evidence.simulate import pipeline

STAGES = (
    m.zero_stage_0_memory,
    m.zero_stage_1_memory,
    m.zero_stage_2_memory,
    m.zero_stage_3_memory,
)

# Weights, gradients, optimiser --------------------------------------------------------------------

# Rajbhandari et al. 2020, table 1: gigabytes on each chip in stages 1, 2 and 3
ZERO = {
    7.5e9: {
        4: (52.5, 41.3, 30),
        16: (35.6, 21.6, 7.5),
        64: (31.4, 16.6, 1.88),
        256: (30.4, 15.4, 0.47),
        1024: (30.1, 15.1, 0.12),
    },
    128e9: {
        4: (896, 704, 512),
        16: (608, 368, 128),
        64: (536, 284, 32),
        256: (518, 263, 8),
        1024: (513, 257, 2),
    },
    1e12: {
        4: (7000, 5500, 4000),
        16: (4750, 2875, 1000),
        64: (4187, 2218, 250),
        256: (4046, 2054, 62.5),
        1024: (4011, 2013, 15.6),
    },
}


@pytest.mark.parametrize(
    "parameters, chips, published",
    [(size, chips, row) for size, table in ZERO.items() for chips, row in table.items()],
)
def test_the_table_of_the_zero_paper(parameters, chips, published):
    known = dict(total_parameters=parameters, devices=chips)
    for stage, gigabytes in zip(STAGES[1:], published, strict=True):
        # Some entries are rounded, others cut off: 4187.5 stands as 4187, 1.875 as 1.88.
        digit = 10.0 ** -(len(str(gigabytes).partition(".")[2]) if gigabytes % 1 else 0)
        found = stage(known) / 1e9
        assert -0.51 * digit < found - gigabytes < digit
        assert found == pytest.approx(gigabytes, rel=0.03)


def test_the_figure_of_the_zero_paper():
    """Figure 1: 7.5 billion parameters on 64 chips take 120, 31.4, 16.6 and 1.9 GB on each."""
    known = dict(total_parameters=7.5e9, devices=64)
    assert [round(stage(known) / 1e9, 1) for stage in STAGES] == [120, 31.4, 16.6, 1.9]
    for stage in STAGES[1:]:  # on one chip there is nothing to split
        assert stage(known, devices=1) == m.zero_stage_0_memory(known)
    assert 64 * m.zero_stage_3_memory(known) == pytest.approx(m.training_state_memory(known))


@pytest.mark.parametrize("data_parallel", [1, 8, 64])
def test_megatron_s_calculator(data_parallel):
    """It has 18 bytes a weight, or 6 + 12 / data_parallel with a distributed optimiser.

    Its gradients are in 32 bits (megatron/training/theoretical_memory_usage.py).
    """
    known = dict(total_parameters=1e9, devices=data_parallel, trained_gradient_bytes=4)
    assert m.zero_stage_0_memory(known) == pytest.approx(18e9)
    assert m.zero_stage_1_memory(known) == pytest.approx((6 + 12 / data_parallel) * 1e9)


def test_deepseek_v3_on_1024_chips():
    """Zhang and Su 2025, table 8: 81.54, 40.46, 19.92 and 9.66 GiB.

    Experts' parameters are on 8 chips of each share, all others on 32; gradients are in 32 bits,
    and momentum and variance in 16.
    """
    stored = dict(trained_gradient_bytes=4, optimiser_bytes=8)
    parts = [(429_719_552, 32), (5_820_645_376, 8)]
    for stage, published in zip(STAGES, (81.54, 40.46, 19.92, 9.66), strict=True):
        found = sum(stage(stored, total_parameters=size, devices=chips) for size, chips in parts)
        assert found / 2**30 == pytest.approx(published, rel=2e-3)


def test_what_the_scaling_book_can_train():
    """Austin et al. keep no gradients and no copy of the weights: 10 bytes a weight.

    A model of 13 billion takes 130 GB; a TPU v5p's 96 GB hold some 9 billion; Llama 3 70B with
    4 million tokens a batch, of which each layer keeps three activations, needs 171 chips.
    """
    book = dict(trained_gradient_bytes=0, optimiser_bytes=8)
    assert m.training_state_memory(book, total_parameters=13e9) == pytest.approx(130e9)
    largest = m.zero_stage_0_memory.solve("total_parameters")(book, device_memory=96e9)
    assert largest == pytest.approx(9e9, rel=0.07)
    activations = reversible.activation_memory_stored(
        micro_batch=4e6 / 8192,
        sequence_tokens=8192,
        layers=80,
        layer_activation_bytes=3 * 2 * 8192,
    )
    assert activations == pytest.approx(15.8e12, rel=0.01)
    chips = m.devices_to_train(
        book, total_parameters=70e9, activation_memory=activations, memory_capacity=96e9
    )
    assert math.floor(chips) == 171
    # The same from a layer that keeps only its input: a third of the activations.
    one = m.layer_activation_bytes_recomputed(d_model=8192, activation_bytes=2)
    assert 3 * one == 3 * 2 * 8192


# Chips that share a layer -------------------------------------------------------------------------

# Korthikanti et al. 2022, table 3: 2,048 tokens, 8 chips share each layer
MODELS = {
    "22B": dict(d_model=6144, attention_heads=64),
    "175B": dict(d_model=12288, attention_heads=96),
    "530B": dict(d_model=20480, attention_heads=128),
    "1T": dict(d_model=25600, attention_heads=160),
}


@pytest.mark.parametrize("model", MODELS)
def test_korthikanti_s_table_2(model):
    """Its six rows, in bytes over tokens × width: the scores are 5 as / h."""
    known, t = dict(MODELS[model], sequence_tokens=2048), 8
    h, scores = known["d_model"], 5 * known["attention_heads"] * 2048 / known["d_model"]
    shared, selective = dict(known, tensor_devices=t), dict(bytes_per_score=0)
    rows = {
        34 + scores: reversible.layer_activation_bytes(known),
        10 + 24 / t + scores / t: m.layer_activation_bytes_tensor_parallel(shared),
        34 / t + scores / t: m.layer_activation_bytes_sequence_parallel(shared),
        10 + 24 / t: m.layer_activation_bytes_tensor_parallel(shared, **selective),
        34 / t: m.layer_activation_bytes_sequence_parallel(shared, **selective),
        2: m.layer_activation_bytes_recomputed(d_model=h, activation_bytes=2),
    }
    for published, found in rows.items():
        assert found / h == pytest.approx(published, rel=1e-12)
    # On one chip all are equation 1.
    for formula in (
        m.layer_activation_bytes_tensor_parallel,
        m.layer_activation_bytes_sequence_parallel,
    ):
        assert formula(known, tensor_devices=1) == pytest.approx(rows[34 + scores] * 1)


@pytest.mark.parametrize("model", MODELS)
def test_korthikanti_s_figure_7(model):
    """Against equation 2 each technique alone nearly halves, both leave a fifth, full 10 %."""
    known = dict(MODELS[model], sequence_tokens=2048, tensor_devices=8)
    base = m.layer_activation_bytes_tensor_parallel(known)
    sequence = m.layer_activation_bytes_sequence_parallel(known) / base
    selective = m.layer_activation_bytes_tensor_parallel(known, bytes_per_score=0) / base
    both = m.layer_activation_bytes_sequence_parallel(known, bytes_per_score=0) / base
    full = m.layer_activation_bytes_recomputed(known, activation_bytes=2) / base
    assert 0.45 < sequence < 0.7 and 0.45 < selective < 0.65
    assert 0.15 < both < 0.21 and 0.07 < full < 0.1


@pytest.mark.parametrize("inner", [4 * 6144, 16384])
def test_megatron_s_calculator_of_activations(inner):
    """Per token and layer 18 + 4 ffn / h over t with sequence parallelism, else 10 + 24 / t."""
    known = dict(d_model=6144, attention_heads=64, sequence_tokens=2048, tensor_devices=8)
    known |= dict(bytes_per_score=0)
    both = m.layer_activation_bytes_sequence_parallel(known, bytes_per_width=18 + 4 * inner / 6144)
    assert both == pytest.approx(6144 * (18 + 4 * inner / 6144) / 8)
    alone = m.layer_activation_bytes_tensor_parallel(known)
    assert alone == pytest.approx(6144 * (10 + 24 / 8))


@pytest.mark.parametrize("stages, chunks", [(2, 2), (4, 2), (4, 3), (8, 4)])
def test_interleaved_memory_as_the_schedule_plays_it(stages, chunks):
    """Korthikanti et al. print 1 + (p − 1) / (p m) for m chunks."""
    known = dict(micro_batch=1, sequence_tokens=2048, layers=48, layer_activation_bytes=34 * 6144)
    found = m.activation_memory_interleaved(known, pipeline_stages=stages, model_chunks=chunks)
    one_stage = reversible.activation_memory_stored(known) / stages
    played = pipeline.run(pipeline.interleaved(stages, 4 * stages, chunks), 1.0, 2.0)
    assert found / one_stage == pytest.approx(max(played.held))


# Layers that are played ---------------------------------------------------------------------------

GROUPED = sim.Layer(width=24, heads=6, kv_heads=2, head=8, value=8, inner=40)
LATENT = sim.Layer(
    width=24,
    heads=4,
    kv_heads=4,
    head=6,
    value=5,
    inner=36,
    query_latent=12,
    kv_latent=8,
    rotary=2,
)


def widths(layer: sim.Layer) -> dict[str, float]:
    """Return a played layer's widths by the names of formulas, a byte for each number."""
    found = dict(
        activation_bytes=1,
        d_model=layer.width,
        attention_heads=layer.heads,
        head_width=layer.head,
        d_ff=layer.inner,
    )
    if not layer.kv_latent:
        return found | dict(kv_heads=layer.kv_heads)
    return found | dict(
        value_width=layer.value,
        query_latent_width=layer.query_latent,
        kv_latent_width=layer.kv_latent,
        rotary_width=layer.rotary,
    )


@pytest.mark.parametrize(
    "layer, recompute, formula",
    [
        (GROUPED, False, m.layer_activation_bytes_gated),
        (LATENT, False, m.layer_activation_bytes_latent),
        (LATENT, True, m.layer_activation_bytes_latent_recomputed),
    ],
)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_what_a_played_layer_keeps_suffices_for_its_gradients(layer, recompute, formula, seed):
    """The count is the formula's, and gradients from it alone agree with differences."""
    weights, x = sim.start(layer, tokens=5, seed=seed)
    y, kept = sim.forward(layer, weights, x, recompute)
    given_widths = widths(layer)
    taken = {i.name: given_widths[i.name] for i in formula.inputs if i.name in given_widths}
    assert sim.numbers_per_token(kept) == pytest.approx(formula(taken))

    rng = np.random.default_rng(seed)
    d_y = rng.standard_normal(y.shape)
    d_x, d_weights = sim.backward(layer, weights, kept, d_y)
    assert d_weights.keys() == weights.keys()

    def slope(change) -> float:
        """Return how fast the output moves along a direction, by differences."""
        ahead, behind = (sim.forward(layer, *change(sign * 1e-5))[0] for sign in (1, -1))
        return float(((ahead - behind) * d_y).sum() / 2e-5)

    way = rng.standard_normal(x.shape)
    assert (d_x * way).sum() == pytest.approx(
        slope(lambda size: (weights, x + size * way)), rel=1e-4, abs=1e-4
    )
    for name, matrix in weights.items():
        way = rng.standard_normal(matrix.shape)
        assert (d_weights[name] * way).sum() == pytest.approx(
            slope(lambda size, k=name, v=way: (weights | {k: weights[k] + size * v}, x)),
            rel=1e-4,
            abs=1e-4,
        )


def test_only_latent_vectors_can_be_unpacked_again():
    weights, x = sim.start(GROUPED, tokens=3, seed=0)
    with pytest.raises(ValueError, match="from latent vectors only"):
        sim.forward(GROUPED, weights, x, recompute=True)


# Models -------------------------------------------------------------------------------------------


def test_latent_attention_as_zhang_and_su_count_it():
    """Section 5.1, one layer of DeepSeek-V3 on one chip, in bytes for each token.

    4h + 2 (d_cq + d_c) + 4 (d_h + d_hr) n_h + 2 d_h n_h + 2 d_h n_h, with the scores and a mask of
    dropout, which are left out here.  They keep each latent vector once; its norm makes it two.
    """
    v3 = shapes.shape("DeepSeek-V3")
    theirs = 4 * 7168 + 2 * (1536 + 512) + 4 * (128 + 64) * 128 + 4 * 128 * 128
    known = dict(
        activation_bytes=2,
        d_model=v3.d_model,
        attention_heads=v3.heads,
        head_width=v3.nope_dim + v3.rope_dim,
        value_width=v3.v_head_dim,
        query_latent_width=v3.q_lora_rank,
        kv_latent_width=v3.kv_lora_rank,
        d_ff=v3.ffn_dim,
    )
    ours = m.layer_activation_bytes_latent(known)
    feed_forward = 2 * (2 * 7168 + 3 * 18432)
    assert ours - feed_forward - 2 * (1536 + 512) == pytest.approx(theirs)
    # What DeepSeek-V3 computes again is more than half of what attention would keep.
    less = m.layer_activation_bytes_latent_recomputed(known, rotary_width=v3.rope_dim)
    assert 1 - (ours - less) / (ours - feed_forward) < 0.5


@pytest.mark.parametrize("model, published", [("Llama 3.1 70B", 33.5)])
def test_a_gated_layer_is_about_as_large_as_gpt_3_s(model, published):
    """Keep 34 bytes a unit of width there (Korthikanti et al., equation 1), without scores."""
    s = shapes.shape(model)
    known = dict(
        activation_bytes=2,
        d_model=s.d_model,
        attention_heads=s.heads,
        kv_heads=s.kv_heads,
        head_width=s.head_dim,
        d_ff=s.ffn_dim,
    )
    whole = m.layer_activation_bytes_gated(known)
    assert whole / s.d_model == published
    shared = m.layer_activation_bytes_gated_sequence_parallel(known, tensor_devices=8)
    assert shared == pytest.approx(whole / 8)
    # A plain layer of GPT-3's shape, counted by the gated formula: 2 × 4 numbers instead of 3 × ffn
    plain = known | dict(kv_heads=s.heads, d_ff=8 * s.d_model / 3)
    masks = 2 * s.d_model
    assert m.layer_activation_bytes_gated(plain) + masks == pytest.approx(34 * s.d_model)


@pytest.mark.parametrize(
    "model, rank, trained",
    [  # as Hugging Face's PEFT counts adapters on all seven matrices of a layer
        ("Llama 3.1 8B", 16, 41_943_040),
        ("Llama 2 7B", 16, 39_976_960),
    ],
)
def test_adapters_have_the_parameters_that_are_printed_where_they_are_trained(model, rank, trained):
    known = scenario.values(model=model)
    assert m.lora_parameters(known, adapter_rank=rank) == trained
    # 4-bit weights that are frozen, and sixteen bytes for each that is trained.
    memory = m.lora_memory(known, adapter_rank=rank, bytes_per_parameter=0.5)
    assert memory == pytest.approx(0.5 * known["total_parameters"] + 16 * trained)


def test_adapters_are_counted_matrix_by_matrix():
    d, heads, kv, width, ffn, layers, rank = 48, 6, 2, 8, 112, 3, 4
    matrices = [(d, heads * width), (d, kv * width), (d, kv * width), (heads * width, d)]
    matrices += [(d, ffn), (d, ffn), (ffn, d)]
    trained = layers * sum(rank * into + out * rank for into, out in matrices)
    assert trained == m.lora_parameters(
        adapter_rank=rank,
        layers=layers,
        d_model=d,
        attention_heads=heads,
        head_width=width,
        kv_heads=kv,
        d_ff=ffn,
        feed_forward_matrices=3,
    )
