"""Counts from shapes: exact against published counts, and right in the limits."""

import re
from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import facts, latency, overtraining, prefill_decode, scenario, shapes, tiers
from handful.shapes import Shape, ShapeError, shape

PUBLISHED = [row for row in facts.load("shapes") if row["published_parameters"]]


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row.name)
def test_count_equals_the_published_one_to_the_last_digit(row):
    s = shapes.of_row(row)
    counted = shapes.total_parameters(s)
    if row["published_prediction_module"]:
        counted += shapes.prediction_parameters(s)
    assert counted == row["published_parameters"]
    assert row["published_parameters_source"]


def test_enough_published_counts_and_kinds():
    assert len(PUBLISHED) >= 20
    loaded = [shape(name) for name in shapes.names()]
    assert any(s.kv_heads == s.heads and not s.latent for s in loaded)
    assert any(1 < s.kv_heads < s.heads for s in loaded) and any(s.kv_heads == 1 for s in loaded)
    assert any(s.latent for s in loaded) and any(s.windowed_layers for s in loaded)
    assert any(s.layers_per_kv > 1 for s in loaded) and any(s.compressed_layers for s in loaded)


# The numbers again, typed here from what was published, so that a slip in the table cannot pass
# unseen.
@pytest.mark.parametrize(
    "name, count",
    [
        ("Llama 2 7B", 6_738_415_616),
        ("Llama 2 70B", 68_976_648_192),
        ("Llama 3.1 8B", 8_030_261_248),
        ("Llama 3.1 70B", 70_553_706_496),
        ("Llama 3.1 405B", 405_853_388_800),
        ("Mistral 7B v0.2", 7_241_732_096),
        ("Mixtral 8x7B", 46_702_792_704),
        ("Qwen3 8B", 8_190_735_360),
        ("Qwen3 32B", 32_762_123_264),
        ("Qwen3 235B-A22B", 235_093_634_560),
        ("DeepSeek-V3", 671_026_419_200),
        ("Kimi K2", 1_026_408_232_448),
        ("gpt-oss-20b", 20_914_757_184),
        ("gpt-oss-120b", 116_829_156_672),
        ("Gemma 2 27B", 27_227_128_320),
        ("Gemma 3 27B", 27_009_002_240),
        ("StarCoder 15B", 15_517_456_384),
    ],
)
def test_published_counts(name, count):
    assert shapes.total_parameters(shape(name)) == count


@pytest.mark.parametrize(
    "name, billions, places",
    [
        ("Hunyuan-Large", 389, 0),
        ("PaLM 540B", 540.35, 1),
        ("GLM-4.5-Air", 107, 0),
        ("GLM-4.5", 353, 0),
        ("MiniMax-M2.5", 229, 0),
    ],
)
def test_rounded_published_counts(name, billions, places):
    assert round(shapes.total_parameters(shape(name)) / 1e9, places) == round(billions, places)


def deepseek_v3_tensors():
    """Return every matrix and vector of the DeepSeek-V3 checkpoint, counted by hand.

    Each is (rows, columns, stored in fp8).
    """
    d, heads, q_rank, kv_rank, rope, nope, v = 7168, 128, 1536, 512, 64, 128, 128
    tensors = [(129280, d, False)] * 2 + [(1, d, False)]

    def attention():
        return [
            (q_rank, d, True),
            (heads * (nope + rope), q_rank, True),
            (kv_rank + rope, d, True),
            (heads * (nope + v), kv_rank, True),
            (d, heads * v, True),
            (1, q_rank, False),
            (1, kv_rank, False),
            (1, d, False),
            (1, d, False),
        ]

    def experts():
        block = [(2048, d, True), (2048, d, True), (d, 2048, True)]
        return block * 257 + [(256, d, False), (1, 256, False)]

    for layer in range(61):
        tensors += attention()
        tensors += (
            [(18432, d, True), (18432, d, True), (d, 18432, True)] if layer < 3 else experts()
        )
    module = (
        attention()
        + experts()
        + [(d, 2 * d, False)]
        + [(1, d, False)] * 3
        + [(129280, d, False)] * 2
    )
    return tensors, module


def test_deepseek_v3_against_its_list_of_tensors():
    """The metadata total of 684,531,386,000 is the sum of three parts.

    They are the model, its prediction module and one scale per 128 x 128 block.
    """
    model, module = deepseek_v3_tensors()
    s = shape("DeepSeek-V3")
    assert sum(rows * columns for rows, columns, _ in model) == shapes.total_parameters(s)
    assert sum(rows * columns for rows, columns, _ in module) == shapes.prediction_parameters(s)
    scales = sum(
        ceil(rows / 128) * ceil(columns / 128) for rows, columns, fp8 in model + module if fp8
    )
    assert shapes.total_parameters(s) + shapes.prediction_parameters(s) + scales == 684_531_386_000


@pytest.mark.parametrize(
    "name, without, published",
    [
        ("DeepSeek-V3", True, 36.6),
        ("gpt-oss-120b", True, 5.1),
        ("gpt-oss-20b", True, 3.6),
        ("Mixtral 8x7B", False, 12.9),
        ("Qwen3 235B-A22B", False, 22.2),
        ("Qwen3 30B-A3B", False, 3.4),
        ("Kimi K2", False, 32.9),
    ],
)
def test_active_parameters_against_published_figures(name, without, published):
    """Each published figure holds in its own convention.

    Publishers differ in whether they count the input embedding.
    """
    counted = shapes.active_parameters(shape(name), input_embedding=not without)
    assert counted / 1e9 == pytest.approx(published, abs=0.06)


@pytest.mark.parametrize("row", facts.load("models"), ids=lambda row: row.name)
def test_a_published_count_far_from_the_shapes_is_explained(row):
    """By a way of counting that comes within two per cent of it, or as a round number."""
    said = shapes.published_difference(row.name).replace("\N{NO-BREAK SPACE}", " ")
    if row.name not in shapes.names(countable=True):
        assert not said
        return
    s = shape(row.name)
    total, active = shapes.total_parameters(s), shapes.active_parameters(s)
    stated, used = row["total_params_reported"], row["active_params_reported"]
    rounded = bool(stated) and abs(total / stated - 1) > 0.02
    assert ("a round number" in said) == rounded
    if rounded:
        assert float(f"{total:.1g}") == stated
    if used and abs(active / used - 1) > 0.02:
        amount, scale = re.search(r"the count is ([\d.]+) (billion|million)\.$", said).groups()
        nearest = float(amount) * {"billion": 1e9, "million": 1e6}[scale]
        assert nearest == pytest.approx(used, rel=0.02)
        embedding = s.vocab * s.d_model
        parts = 2 if "output head" in said else 1
        assert nearest == pytest.approx(active - parts * embedding, rel=0.005)
        assert f"{s.vocab:,} × {s.d_model:,} weights" in said
    else:
        assert "active" not in said


def test_five_models_are_explained():
    assert {name for name in shapes.names() if shapes.published_difference(name)} == {
        "gpt-oss-20b",
        "gpt-oss-120b",
        "GLM-4.5",
        "GLM-4.5-Air",
        "Kimi K2",
    }


def test_a_dense_models_active_parameters_are_its_total():
    for name in shapes.names(countable=True):
        s = shape(name)
        total, active = shapes.total_parameters(s), shapes.active_parameters(s)
        assert (active == total) == (not s.routed_experts)
        assert shapes.active_parameters(s, input_embedding=False) <= active
        assert sum(shapes.breakdown(s).values()) == total and shapes.routed_parameters(s) < total


def test_deepseek_sparsity():
    s = shape("DeepSeek-V3")
    assert shapes.total_parameters(s) / 37e9 == pytest.approx(18.1, abs=0.05)
    assert s.routed_experts / s.active_experts == 32


# KV cache


@pytest.mark.parametrize(
    "name, bytes_bf16",
    [
        ("DeepSeek-V3", 70_272),
        ("Kimi K2", 70_272),
        ("Llama 3.1 405B", 516_096),
        ("Llama 2 7B", 524_288),
        ("StarCoder 15B", 20_480),
        ("gpt-oss-120b", 36_864),
        ("Hunyuan-Large", 81_920),
    ],
)
def test_kv_bytes_per_token(name, bytes_bf16):
    assert 2 * shapes.kv_elements_per_token(shape(name)) == bytes_bf16


def test_windowed_layers_stop_growing():
    """Gemma 2 27B grows by half of what it would with 46 full layers (376,832 bytes a token)."""
    gemma = shape("Gemma 2 27B")
    full = replace(gemma, full_attention_layers=None)
    assert 2 * shapes.kv_elements_per_token(full) == 376_832
    assert 2 * shapes.kv_elements_per_token(gemma) == 376_832 // 2
    assert (
        shapes.kv_window_elements(gemma)
        == shapes.kv_elements_per_token(gemma) * gemma.window_tokens
    )
    assert shapes.kv_window_elements(full) == 0


def test_published_cache_sizes():
    v3 = shape("DeepSeek-V3")
    with_module = replace(
        v3, layers=v3.layers + 1
    )  # FlashMLA's 8.72 GiB counts the prediction layer
    assert 2 * 131072 * shapes.kv_elements_per_token(with_module) / 2**30 == pytest.approx(
        8.72, abs=0.005
    )
    v4 = shape("DeepSeek-V4-Pro")  # vLLM's figure for a million tokens
    assert 2 * 1_048_576 * shapes.kv_elements_per_token(v4) / 2**30 == pytest.approx(
        9.62, abs=0.005
    )
    assert shapes.kv_elements_per_token(shape("DeepSeek-V4-Flash")) == 3440


def test_cross_layer_sharing_in_the_manner_of_character_ai():
    """The three measures cut the cache more than 20-fold, as Character.AI says.

    They are multi-query attention, windows on five layers of six, and shared KV.
    """
    plain = Shape(
        name="example", layers=48, d_model=4096, heads=32, kv_heads=8, head_dim=128, vocab=32000
    )
    lean = replace(plain, kv_heads=1, full_attention_layers=8, window_tokens=1024, layers_per_kv=3)

    def cache(s, tokens):
        return tokens * shapes.kv_elements_per_token(s) + min(
            tokens / 1024, 1
        ) * shapes.kv_window_elements(s)

    assert cache(plain, 8192) / cache(lean, 8192) > 20
    assert shapes.kv_elements_per_token(plain) / shapes.kv_elements_per_token(
        lean
    ) == 8 * 48 / ceil(8 / 3)


def test_shared_layers_have_no_key_and_value_weights():
    """Every other layer of Hunyuan-Large goes without its two 6400 x 640 matrices."""
    s = shape("Hunyuan-Large")
    saved = shapes.total_parameters(replace(s, layers_per_kv=1)) - shapes.total_parameters(s)
    assert saved == 32 * 2 * 6400 * 640


def test_tables_agree_on_the_cache():
    """The table `models` holds figures worked out by hand from the configurations."""
    checked = 0
    for row in facts.load("models"):
        if row.name in shapes.names():
            s = shape(row.name)
            assert shapes.kv_elements_per_token(s) == row["kv_elements_per_token_growing"], row.name
            assert shapes.kv_window_elements(s) == (row["kv_window_elements_per_sequence"] or 0), (
                row.name
            )
            assert (
                s.layers == row["n_layers"]
                and s.d_model == row["d_model"]
                and s.heads == row["n_heads"]
            )
            if not s.compressed_layers:
                reported = row["total_params_reported"]  # rounded, as by 2.6 % for Kimi K2's "1T"
                assert shapes.total_parameters(s) == pytest.approx(reported, rel=0.03), row.name
            checked += 1
    assert checked >= 18


# Attention


def test_context_at_which_attention_matches_the_weights():
    """As often quoted: 53k tokens for Llama 3 70B; 4k (absorbed) to 15k (plain) for DeepSeek-V3."""

    def crossover(s, absorbed):
        per_token = 2 * shapes.active_parameters(s, input_embedding=False)
        return per_token / shapes.attention_flops_per_pair(s, absorbed)

    assert crossover(shape("Llama 3.1 70B"), True) == pytest.approx(53_000, rel=0.01)
    assert crossover(shape("DeepSeek-V3"), True) == pytest.approx(4_300, rel=0.01)
    assert crossover(shape("DeepSeek-V3"), False) == pytest.approx(14_700, rel=0.01)


LATENT = [name for name in shapes.names(countable=True) if shape(name).latent]


@pytest.mark.parametrize("name", LATENT)
def test_each_formula_takes_its_own_form_of_latent_attention(name):
    """Decode multiplies by the latent vector as it is cached.

    Prefill and training unpack keys and values first.
    """
    s, known = (
        shape(name),
        {**scenario.values(context=131_072), **scenario.model_row(shape(name))["values"]},
    )
    absorbed = s.layers * s.heads * 2 * ((s.kv_lora_rank + s.rope_dim) + s.kv_lora_rank)
    plain = s.layers * s.heads * 2 * ((s.nope_dim + s.rope_dim) + s.v_head_dim)
    assert absorbed > 2 * plain and (
        known["attention_flops_per_pair"],
        known["prefill_attention_flops_per_pair"],
    ) == (absorbed, plain)
    weights = 2 * known["active_parameters"]
    decode = latency.attention_time(known, batch=1) / latency.compute_time(known, batch=1)
    assert decode == pytest.approx(absorbed * 131_072 / weights)
    for growth in (
        prefill_decode.prompt_growth(known),
        overtraining.training_flops_with_attention(known, pretraining_tokens=1e12)
        / overtraining.training_flops(known, pretraining_tokens=1e12),
        tiers.rematerialise_cost_with_attention(known, model_flops_utilisation=0.4)
        / tiers.rematerialise_cost(known, model_flops_utilisation=0.4),
    ):
        assert growth == pytest.approx(1 + plain * 131_072 / 2 / weights)


def test_what_training_deepseek_v3_takes_and_how_its_prompts_grow():
    """The figures are as readers recomputed them from the report.

    Training takes 14.8 trillion tokens at a context of 4,096; a prompt has 131 thousand tokens.
    """
    known = scenario.values(model="DeepSeek-V3", context=4096)
    assert overtraining.training_flops_with_attention(
        known, pretraining_tokens=14.8e12
    ) == pytest.approx(3.79e24, rel=2e-3)
    assert prefill_decode.prompt_growth(known, context=131_072) == pytest.approx(5.4, abs=0.05)


def test_only_full_layers_pay_per_pair():
    gemma = shape("Gemma 3 27B")
    assert shapes.attention_flops_per_pair(gemma) == 4 * 32 * 128 * 10


# Any shape


@st.composite
def any_shape(draw):
    kv_heads = draw(st.integers(1, 8))
    layers = draw(st.integers(1, 12))
    experts = draw(st.integers(0, 16))
    return Shape(
        name="any",
        layers=layers,
        d_model=draw(st.integers(1, 64)),
        kv_heads=kv_heads,
        heads=kv_heads * draw(st.integers(1, 8)),
        head_dim=draw(st.integers(1, 32)),
        vocab=draw(st.integers(1, 100)),
        tied_embeddings=draw(st.booleans()),
        full_attention_layers=draw(st.integers(0, layers)),
        window_tokens=16,
        layers_per_kv=draw(st.integers(1, 3)),
        qk_norm=draw(st.booleans()),
        gated=draw(st.booleans()),
        attention_bias=draw(st.sampled_from(["none", "qkv", "all"])),
        ffn_bias=draw(st.booleans()),
        ffn_dim=draw(st.integers(1, 64)),
        routed_experts=experts,
        active_experts=draw(st.integers(0, experts)),
        expert_dim=draw(st.integers(1, 32)),
        dense_layers=draw(st.integers(0, layers)),
    )


@given(any_shape())
def test_counts_are_ordered(s):
    total = shapes.total_parameters(s)
    assert 0 <= shapes.routed_parameters(s) < total
    assert (
        0
        < shapes.active_parameters(s, input_embedding=False)
        <= shapes.active_parameters(s)
        <= total
    )
    everyone = replace(s, active_experts=s.routed_experts)
    assert shapes.active_parameters(everyone) == total


@given(any_shape())
def test_grouping_divides_the_cache(s):
    own = replace(s, kv_heads=s.heads)
    assert (
        shapes.kv_elements_per_token(own) * s.kv_heads == shapes.kv_elements_per_token(s) * s.heads
    )
    alone = replace(s, layers_per_kv=1)
    assert shapes.kv_elements_per_token(s) <= shapes.kv_elements_per_token(alone)
    assert shapes.kv_elements_per_token(alone) == 2 * s.full_layers * s.kv_heads * s.head_dim


@given(any_shape(), st.integers(1, 5))
def test_a_layer_more_costs_the_same_each_time(s, more):
    """Counts are affine in the number of layers where layers are alike."""
    alike = replace(s, dense_layers=0, layers_per_kv=1, full_attention_layers=None)
    counts = [shapes.total_parameters(replace(alike, layers=n)) for n in (1, 2, 2 + more)]
    assert counts[2] - counts[1] == more * (counts[1] - counts[0])


# Bad input


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"heads": 7}, "heads must be a multiple of kv_heads; got 7 and 2"),
        ({"layers": 0}, "layers must be 1 or more; got 0"),
        ({"full_attention_layers": 9}, "full_attention_layers must be between 0 and 4; got 9"),
        ({"full_attention_layers": 2}, "2 layers are windowed, so window_tokens must be above 0"),
        (
            {"routed_experts": 4, "active_experts": 5},
            "active_experts must be at most routed_experts; got 5 of 4",
        ),
        ({"attention_bias": "some"}, "attention_bias must be none, qkv or all; got 'some'"),
    ],
)
def test_contradictory_shapes_are_refused(change, sentence):
    toy = dict(
        name="toy", layers=4, d_model=8, heads=4, kv_heads=2, head_dim=2, vocab=10, ffn_dim=16
    )
    with pytest.raises(ShapeError, match="^toy: " + sentence):
        Shape(**(toy | change))


def test_what_compressed_attention_leaves_open():
    v4 = shape("DeepSeek-V4-Pro")
    with pytest.raises(ShapeError, match="only its KV cache can be computed"):
        shapes.total_parameters(v4)
    with pytest.raises(ShapeError, match="no fixed cost"):
        shapes.attention_flops_per_pair(v4)
    assert v4.name not in shapes.names(countable=True)


def test_unknown_shape():
    with pytest.raises(facts.FactsError, match=r"'Llama 3 70B'.*Llama 3\.1 70B"):
        shape("Llama 3 70B")
