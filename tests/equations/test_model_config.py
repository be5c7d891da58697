"""A config.json read as a shape: counts against published totals, and its twin in the browser.

The configurations are written here, with the numbers that the makers published and nothing else.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from dataclasses import fields

import numpy as np
import pytest

from handful import model_config, scenario, shapes
from handful.model_config import read_config
from handful.shapes import ShapeError
from handful_site import bootstrap


def plain(layers, width, heads, kv_heads, ffn, vocab, kind="llama", tied=False, **more):
    """Return the configuration of a model of one kind of layer."""
    return {
        "model_type": kind,
        "num_hidden_layers": layers,
        "hidden_size": width,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": ffn,
        "vocab_size": vocab,
        "tie_word_embeddings": tied,
        **more,
    }


def latent(layers, width, heads, ffn, vocab, experts, active, shared, expert, dense, **more):
    """Return the configuration of a model with latent attention, as DeepSeek writes it."""
    return plain(
        layers,
        width,
        heads,
        heads,
        ffn,
        vocab,
        **{
            "kv_lora_rank": 512,
            "q_lora_rank": 1536,
            "qk_rope_head_dim": 64,
            "qk_nope_head_dim": 128,
            "v_head_dim": 128,
            "n_routed_experts": experts,
            "num_experts_per_tok": active,
            "n_shared_experts": shared,
            "moe_intermediate_size": expert,
            "first_k_dense_replace": dense,
            "moe_layer_freq": 1,
            **more,
        },
    )


def gemma3(width, layers, ffn, **more):
    """Return a configuration as Gemma 3 writes it: what the family has in common is left out."""
    text = {"model_type": "gemma3_text", "hidden_size": width, "num_hidden_layers": layers}
    return {
        "model_type": "gemma3",
        "text_config": text | {"intermediate_size": ffn, "sliding_window": 1024} | more,
        "vision_config": {"hidden_size": 1152, "num_hidden_layers": 27, "image_size": 896},
    }


INDEXER = {"index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048}
V3 = latent(
    61, 7168, 128, 18432, 129280, 256, 8, 1, 2048, 3, kind="deepseek_v3", topk_method="noaux_tc"
)
GLM5 = latent(
    78,
    6144,
    64,
    12288,
    154880,
    256,
    8,
    1,
    2048,
    3,
    kind="glm_moe_dsa",
    q_lora_rank=2048,
    qk_nope_head_dim=192,
    v_head_dim=256,
    topk_method="noaux_tc",
    **INDEXER | {"index_n_heads": 32},
)
PHI = {"kind": "phi3", "hidden_act": "silu"}
QWEN = {"use_sliding_window": False, "sliding_window": 131072, "max_window_layers": 28}
EXPERTS = {"num_experts": 128, "num_experts_per_tok": 8, "head_dim": 128, "decoder_sparse_step": 1}

# name: (configuration, published total of the weights that are counted).  A is github
# debaditc/kvfit scripts/build_registry.py (totals of the safetensors metadata), B the presets of
# github keras-team/keras-hub, C a public audit of mixtures of experts on the Hub (totals of the
# safetensors metadata), D facts/shapes.csv, which names its sources.
PUBLISHED = {
    # A gives 13,015,866,880, which counts 40 x 64 stored rotary frequencies as well.
    "Llama 2 13B": (plain(40, 5120, 40, 40, 13824, 32000), 13_015_866_880 - 40 * 64),
    "Llama 3.1 8B": (plain(32, 4096, 32, 8, 14336, 128256), 8_030_261_248),  # A
    "Llama 3.2 3B": (
        plain(28, 3072, 24, 8, 8192, 128256, tied=True, head_dim=128),
        3_212_749_824,  # A
    ),
    "Llama 3.1 405B": (plain(126, 16384, 128, 8, 53248, 128256), 405_853_388_800),  # D
    "Mistral 7B v0.1": (
        plain(32, 4096, 32, 8, 14336, 32000, "mistral", sliding_window=4096),
        7_241_732_096,  # A
    ),
    "Mistral Nemo": (
        plain(40, 5120, 32, 8, 14336, 131072, "mistral", head_dim=128),
        12_247_782_400,  # A
    ),
    "Magistral Small": (
        {
            "model_type": "mistral3",
            "text_config": plain(40, 5120, 32, 8, 32768, 131072, "mistral", head_dim=128),
            "vision_config": {"hidden_size": 1024},
        },
        23_572_403_200,  # B, without the vision tower
    ),
    "Mixtral 8x7B": (
        plain(32, 4096, 32, 8, 14336, 32000, "mixtral", num_local_experts=8, num_experts_per_tok=2),
        46_702_792_704,  # B
    ),
    "Mixtral 8x22B": (
        plain(56, 6144, 48, 8, 16384, 32000, "mixtral", num_local_experts=8, num_experts_per_tok=2),
        140_620_634_112,  # C
    ),
    "Qwen2.5 7B": (plain(28, 3584, 28, 4, 18944, 152064, "qwen2", **QWEN), 7_615_616_512),  # A
    "Qwen2.5 72B": (plain(80, 8192, 64, 8, 29568, 152064, "qwen2", **QWEN), 72_706_203_648),  # A
    "Qwen1.5-MoE A2.7B": (
        plain(
            24,
            2048,
            16,
            16,
            5632,
            151936,
            "qwen2_moe",
            num_experts=60,
            num_experts_per_tok=4,
            moe_intermediate_size=1408,
            shared_expert_intermediate_size=5632,
            decoder_sparse_step=1,
            **QWEN,
        ),
        14_315_784_192,  # B and C
    ),
    "Qwen3 8B": (plain(36, 4096, 32, 8, 12288, 151936, "qwen3", head_dim=128), 8_190_735_360),  # A
    "Qwen3 30B-A3B": (
        plain(48, 2048, 32, 4, 6144, 151936, "qwen3_moe", moe_intermediate_size=768, **EXPERTS),
        30_532_122_624,  # A
    ),
    "Qwen3 235B-A22B": (
        plain(94, 4096, 64, 4, 12288, 151936, "qwen3_moe", moe_intermediate_size=1536, **EXPERTS),
        235_093_634_560,  # A
    ),
    "DeepSeek MoE 16B": (
        plain(
            28,
            2048,
            16,
            16,
            10944,
            102400,
            "deepseek",
            n_routed_experts=64,
            num_experts_per_tok=6,
            n_shared_experts=2,
            moe_intermediate_size=1408,
            first_k_dense_replace=1,
            moe_layer_freq=1,
        ),
        16_375_728_128,  # C
    ),
    "DeepSeek-V2-Lite": (
        latent(
            27,
            2048,
            16,
            10944,
            102400,
            64,
            6,
            2,
            1408,
            1,
            kind="deepseek_v2",
            q_lora_rank=None,
            topk_method="greedy",
        ),
        15_706_484_224,  # C
    ),
    "DeepSeek-V2": (
        latent(
            60,
            5120,
            128,
            12288,
            102400,
            160,
            6,
            2,
            1536,
            1,
            kind="deepseek_v2",
            topk_method="group_limited_greedy",
        ),
        235_741_434_880,  # C
    ),
    "DeepSeek-V3": (V3, 671_026_419_200),  # D
    "Kimi K2": (
        latent(61, 7168, 64, 18432, 163840, 384, 8, 1, 2048, 1, kind="kimi_k2"),
        1_026_408_232_448,  # D
    ),
    "Gemma 2 9B": (
        plain(42, 3584, 16, 8, 14336, 256000, "gemma2", True, head_dim=256, sliding_window=4096),
        9_241_705_984,  # A
    ),
    "Gemma 2 27B": (
        plain(46, 4608, 32, 16, 36864, 256000, "gemma2", True, head_dim=128, sliding_window=4096),
        27_227_128_320,  # A
    ),
    "Gemma 3 1B": (
        plain(
            26,
            1152,
            4,
            1,
            6912,
            262144,
            "gemma3_text",
            True,
            head_dim=256,
            sliding_window=512,
            sliding_window_pattern=6,
        ),
        999_885_952,  # B
    ),
    "gpt-oss-20b": (
        plain(
            24,
            2880,
            64,
            8,
            2880,
            201088,
            "gpt_oss",
            head_dim=64,
            num_local_experts=32,
            num_experts_per_tok=4,
            sliding_window=128,
            layer_types=["sliding_attention", "full_attention"] * 12,
            attention_bias=True,
        ),
        20_914_757_184,  # A
    ),
    "MiniMax-M2": (
        plain(
            62,
            3072,
            48,
            8,
            1536,
            200064,
            "minimax_m2",
            head_dim=128,
            num_local_experts=256,
            num_experts_per_tok=8,
            use_qk_norm=True,
            use_routing_bias=True,
            attn_type_list=[1] * 62,
        ),
        228_689_764_864,  # C
    ),
    "Phi-3-mini": (plain(32, 3072, 32, 32, 8192, 32064, **PHI), 3_821_079_552),  # A
    "Phi-4": (plain(40, 5120, 40, 10, 17920, 100352, **PHI), 14_659_507_200),  # A
    "Phi-4-mini": (plain(32, 3072, 24, 8, 8192, 200064, tied=True, **PHI), 3_836_021_760),  # A
    "OLMoE 1B-7B": (
        plain(16, 2048, 16, 16, 1024, 50304, "olmoe", num_experts=64, num_experts_per_tok=8),
        6_919_161_856,  # sum of the tensor headers, in several public audits of the checkpoint
    ),
    "GLM-4-9B-0414": (
        plain(40, 4096, 32, 2, 13696, 151552, "glm4", head_dim=128, attention_bias=True),
        9_400_279_040,  # n_params of its GGUF file, in public logs of llama.cpp
    ),
    "Seed-OSS 36B": (
        plain(
            64,
            5120,
            80,
            8,
            27648,
            155136,
            "seed_oss",
            head_dim=128,
            attention_bias=True,
            attention_out_bias=False,
        ),
        36_151_104_512,  # a public table of configurations and safetensors totals
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_counts_are_the_published_ones_to_the_last_digit(name):
    config, published = PUBLISHED[name]
    found = read_config(config, name)
    assert shapes.total_parameters(found) == published
    assert found.name == name and not any("not known" in note for note in found.notes)


def siglip(width=1152, ffn=4304, layers=27, positions=4096, patch=14 * 14 * 3):
    """Count the vision tower of Gemma 3, which is the same for its three larger sizes."""
    norm = 2 * width
    layer = 4 * (width**2 + width) + 2 * width * ffn + ffn + width + 2 * norm
    return patch * width + width + positions * width + layers * layer + norm


@pytest.mark.parametrize(
    "config, published",  # totals of the safetensors metadata, with the vision tower: A
    [
        (gemma3(2560, 34, 10240), 4_300_079_472),
        (gemma3(3840, 48, 15360, num_attention_heads=16, num_key_value_heads=8), 12_187_325_040),
        (
            gemma3(5376, 62, 21504, num_attention_heads=32, num_key_value_heads=16, head_dim=128),
            27_432_406_640,
        ),
    ],
)
def test_gemma_3_with_its_vision_tower(config, published):
    width = config["text_config"]["hidden_size"]
    projector = 1152 * width + 1152  # a matrix and a norm
    found = read_config(config)
    assert shapes.total_parameters(found) + siglip() + projector == published
    notes = " ".join(found.notes)
    assert "left out: vision_config" in notes and "vocab_size is not given" in notes
    assert (found.full_layers, found.window_tokens) == (found.layers // 6, 1024)


@pytest.mark.parametrize(
    "config, published",  # totals of the safetensors metadata, with the prediction module: A
    [
        (
            plain(
                46,
                4096,
                96,
                8,
                10944,
                151552,
                "glm4_moe",
                head_dim=128,
                attention_bias=True,
                n_routed_experts=128,
                num_experts_per_tok=8,
                n_shared_experts=1,
                moe_intermediate_size=1408,
                first_k_dense_replace=1,
                use_qk_norm=False,
                num_nextn_predict_layers=1,
            ),
            110_468_824_832,
        ),
        (
            plain(
                92,
                5120,
                96,
                8,
                12288,
                151552,
                "glm4_moe",
                head_dim=128,
                attention_bias=True,
                n_routed_experts=160,
                num_experts_per_tok=8,
                n_shared_experts=1,
                moe_intermediate_size=1536,
                first_k_dense_replace=3,
                use_qk_norm=True,
                num_nextn_predict_layers=1,
            ),
            358_337_791_296,
        ),
    ],
)
def test_glm_4_5_with_its_prediction_module(config, published):
    found = read_config(config)
    assert shapes.total_parameters(found) + shapes.prediction_parameters(found) == published
    assert "Left out: a module that predicts further tokens beside the model." in found.notes


@pytest.mark.parametrize(
    "config, published",
    [
        (GLM5, 753_864_139_008),  # C, for GLM-5 and GLM-5.1
        # A and C, for GLM-5.2 and GLM-5.3: three layers of four use the choice of another.
        (
            GLM5
            | {
                "indexer_types": ["full"] * 3 + (["shared"] * 3 + ["full"]) * 18 + ["shared"] * 3,
                "layer_types": ["deepseek_sparse_attention"] * 78,
            },
            753_329_940_480,
        ),
    ],
)
def test_glm_5_with_its_indexers_and_its_prediction_module(config, published):
    """Its prediction module has an indexer of its own, and no copies of the embeddings."""
    found = read_config(config)
    module = shapes.prediction_parameters(found) - 2 * found.vocab * found.d_model
    assert shapes.total_parameters(found) + module == published
    assert shapes.kv_elements_per_token(found) == 78 * 576 + found.indexing_layers * 128


def test_deepseek_v3_2_is_v3_and_an_indexer_in_each_layer():
    """C gives 685,396,921,376 for V3.2-Exp and 684,531,386,000 for V3.

    Both count the prediction module and one scale for 128 x 128 weights in fp8, which an indexer's
    two large matrices have as well.
    """
    found = read_config(V3 | INDEXER | {"model_type": "deepseek_v32"})
    v3 = read_config(V3)
    scales = 62 * ((64 * 128 // 128) * (1536 // 128) + 7168 // 128)
    counted = [shapes.total_parameters(s) + shapes.prediction_parameters(s) for s in (v3, found)]
    assert counted[1] - counted[0] + scales == 685_396_921_376 - 684_531_386_000
    assert shapes.kv_elements_per_token(found) == 61 * (512 + 64 + 128)
    assert shapes.attention_flops_per_pair(found) - shapes.attention_flops_per_pair(v3) == (
        61 * 2 * 64 * 128
    )
    assert any("chooses 2,048 tokens" in note for note in found.notes)


@pytest.mark.parametrize(
    "name, elements, window",
    [
        ("Llama 3.1 8B", 2 * 32 * 8 * 128, 0),
        ("Mistral 7B v0.1", 0, 2 * 32 * 8 * 128 * 4096),  # every layer is windowed
        ("Qwen2.5 7B", 2 * 28 * 4 * 128, 0),  # the window is given and not used
        ("Gemma 2 9B", 2 * 21 * 8 * 256, 2 * 21 * 8 * 256 * 4096),
        ("Gemma 3 1B", 2 * 4 * 1 * 256, 2 * 22 * 1 * 256 * 512),
        ("gpt-oss-20b", 2 * 12 * 8 * 64, 2 * 12 * 8 * 64 * 128),
        ("DeepSeek-V2-Lite", 27 * 576, 0),
        ("DeepSeek-V3", 61 * 576, 0),  # 70,272 bytes in bf16, as its report has it
        ("GLM-4-9B-0414", 2 * 40 * 2 * 128, 0),
    ],
)
def test_caches(name, elements, window):
    found = read_config(PUBLISHED[name][0])
    assert shapes.kv_elements_per_token(found) == elements
    assert shapes.kv_window_elements(found) == window


LLAMA = PUBLISHED["Llama 3.1 8B"][0]
OSS = PUBLISHED["gpt-oss-20b"][0]


def test_windows_and_chunks_by_a_pattern():
    alternate = {k: v for k, v in OSS.items() if k != "layer_types"}
    assert read_config(alternate) == read_config(OSS)
    scout = LLAMA | {"model_type": "llama4_text", "attention_chunk_size": 8192}
    for plan in ([], [1, 1, 1, 0] * 8):
        found = read_config(scout | {"no_rope_layers": plan})
        assert (found.full_layers, found.window_tokens) == (8, 8192)
    exaone = LLAMA | {"model_type": "exaone4", "sliding_window": 4096}
    assert read_config(exaone | {"sliding_window_pattern": "LLLG"}).full_layers == 8
    qwen = LLAMA | {"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 28}
    assert read_config(qwen | {"sliding_window": 4096}).full_layers == 28
    mixed = LLAMA | {"layer_types": ["linear_attention"] * 24 + ["full_attention"] * 8}
    assert shapes.kv_elements_per_token(read_config(mixed)) == 2 * 8 * 8 * 128
    assert any("24 layers keep a state" in note for note in read_config(mixed).notes)
    every = LLAMA | {"full_attention_interval": 4}
    assert shapes.kv_elements_per_token(read_config(every)) == 2 * 8 * 8 * 128
    more = LLAMA | {"layer_types": ["full_attention"] * 32 + ["sliding_attention"]}
    assert read_config(more).windowed_layers == 0  # a module beside the model is none of its layers


def test_what_is_not_counted_is_named():
    found = read_config(
        LLAMA
        | {
            "mystery_layers": 3,
            "engram_table": {"rows": 5},
            "empty": [],
            "rope_scaling": {"factor": 8},
            "quantization_config": {"quant_method": "fp8"},
            "num_experts_per_tok": 2,
            "n_layer": 33,
        }
    )
    assert found.notes == (
        "num_hidden_layers and n_layer differ; num_hidden_layers is taken.",
        "head_dim is not given; it is taken as hidden_size over heads, 128.",
        "The weights are stored in fp8; memory is counted in the precision that you choose.",
        "Not counted, because it is not known what they add: mystery_layers, engram_table.",
    )


def test_heads_of_keys_and_values_that_are_missing_are_said_to_be_taken():
    config = {name: value for name, value in LLAMA.items() if name != "num_key_value_heads"}
    notes = read_config(config).notes
    assert any(note.startswith("num_key_value_heads is not given") for note in notes)
    assert not any("num_key_value_heads" in note for note in read_config(LLAMA).notes)
    # One head of keys and values is what multi_query says; GPT-2 knows no other than all.
    for said in ({"multi_query": True}, {"model_type": "gpt2"}):
        assert not any("num_key_value_heads" in note for note in read_config(config | said).notes)


@pytest.mark.parametrize(
    "change, named",
    [
        ({"model_type": "nemotron-nas", "block_configs": [{}]}, "sizes of its own for each layer"),
        ({"model_type": "nemotron_h", "hybrid_override_pattern": "M-M*"}, "Mamba layers"),
        ({"model_type": "nemotron_h", "layers_block_type": ["mamba"]}, "Mamba layers"),
        ({"model_type": "minimax_m1"}, "lightning attention"),
        ({"model_type": "minimax_text_01", "attn_type_list": [0] * 7 + [1]}, "linear attention"),
        ({"model_type": "kimi_linear", "linear_attn_config": {"a": 1}}, "linear attention"),
        ({"model_type": "deepseek_v4", "compress_ratios": [0, 4, 128]}, "compressed tokens"),
        ({"model_type": "mimo_v2_flash", "hybrid_layer_pattern": [0, 1]}, "heads of their own"),
        ({"is_encoder_decoder": True}, "an encoder beside its decoder"),
        ({"intermediate_size": [8, 9]}, "intermediate_size differs from layer to layer"),
    ],
)
def test_what_no_shape_describes_is_refused_by_name(change, named):
    with pytest.raises(ShapeError) as refusal:
        read_config(LLAMA | change)
    said = str(refusal.value)
    assert named in said and said.endswith(".") and said.count(". ") == 0


BAD = [
    ("[1, 2]", "one object in braces"),
    ("{}", "no num_hidden_layers"),
    ('{"num_hidden_layers": 80,}', "in line 1, column 26"),
    ('{"a": NaN', "This is no JSON"),
    ('{"num_hidden_layers": NaN}', "num_hidden_layers must be a whole number from 1 to 2,000"),
    ('{"num_hidden_layers": 1' + "0" * 6000 + "}", "got no finite number"),
    ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
    ('{"a": "' + "x" * 4_000_001 + '"}', "more than 4,000,000"),
    *(
        (json.dumps(LLAMA | {key: value}), f"{key} must be a whole number from {least} to")
        for key, least in (("num_hidden_layers", 1), ("num_key_value_heads", 1), ("vocab_size", 1))
        for value in (0, -1, 2.5, 10**9, 2**70, True, "8", {"a": 1}, float("nan"), 1e400)
    ),
    (json.dumps(LLAMA | {"intermediate_size": -1}), "from 0 to 10,000,000; got -1"),
    (json.dumps(LLAMA | {"hidden_size": "4096"}), 'got the text "4096"'),
    (json.dumps(LLAMA | {"num_attention_heads": 31}), "no head_dim, and hidden_size (4,096) is no"),
    (json.dumps(LLAMA | {"num_key_value_heads": 7}), "multiple of kv_heads; got 32 and 7"),
    (json.dumps(OSS | {"num_experts_per_tok": 33}), "at most routed_experts; got 33 of 32"),
    (json.dumps(OSS | {"layer_types": ["full_attention"]}), "lists 1 layers, and there are 24"),
    (json.dumps(V3 | {"v_head_dim": None}), "without v_head_dim"),
    (json.dumps(V3 | {"first_k_dense_replace": 61}), "Of 61 layers, 61 are said to have no"),
    (json.dumps(V3 | {"layer_types": ["sliding_attention"] * 61, "sliding_window": 8}), "Windows"),
    (json.dumps(V3 | {"moe_layer_freq": 0.5}), "moe_layer_freq must be a whole number"),
    (
        json.dumps({k: v for k, v in OSS.items() if k != "intermediate_size"}),
        "moe_intermediate_size is missing",
    ),
]


@pytest.mark.parametrize("text, said", BAD, ids=lambda one: one[:40])
def test_bad_input_gives_one_sentence(text, said):
    start = time.perf_counter()
    with pytest.raises(ShapeError) as refusal:
        read_config(text)
    assert said in str(refusal.value)
    assert str(refusal.value).endswith(".") and "\n" not in str(refusal.value)
    assert time.perf_counter() - start < 5


def test_files_and_folders(tmp_path):
    folder = tmp_path / "Some-Model-7B"
    folder.mkdir()
    (folder / "config.json").write_text("\ufeff" + json.dumps(LLAMA), "utf-8")
    for place in (folder, str(folder), folder / "config.json"):
        assert read_config(place).name == "Some-Model-7B"
    assert read_config(folder, "mine").name == "mine"
    named = tmp_path / "org--Model_config.json"
    named.write_text(json.dumps(LLAMA | {"_name_or_path": "org/Model-8B"}))
    assert read_config(named).name == "Model-8B"
    named.write_text(json.dumps(LLAMA))
    assert read_config(named).name == "org--Model"
    named.write_text(json.dumps(LLAMA | {"vocab_size": -3}))
    with pytest.raises(ShapeError, match=r"Model_config\.json: vocab_size must be"):
        read_config(named)
    named.write_bytes(b"{\x00\xff\xfe")
    with pytest.raises(ShapeError, match="no text in UTF-8; byte 2"):
        read_config(named)
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "none.json", tmp_path / "empty", "hidden_size: 4096"):
        with pytest.raises(ShapeError, match="there is no such file"):
            read_config(place)
    with pytest.raises(ShapeError, match="cannot be read"):
        read_config("x" * 5000)
    with open(named, "wb") as file:
        file.truncate(50_000_000)  # a file of zeros
    start = time.perf_counter()
    with pytest.raises(ShapeError, match="more than 4,000,000"):
        read_config(named)
    assert time.perf_counter() - start < 5  # where other tests run beside it


def test_what_is_read_is_a_model_of_a_scenario():
    found = read_config(PUBLISHED["DeepSeek-V2"][0], "DeepSeek-V2")
    known = scenario.values(hardware="H200 SXM", model=found, precision="bf16", context=4096)
    assert known["total_parameters"] == 235_741_434_880
    assert known["kv_bytes_per_token"] == 2 * 60 * 576
    whole_numbers = {k: np.int64(v) if type(v) is int else v for k, v in LLAMA.items()}
    assert read_config(whole_numbers) == read_config(LLAMA)  # notes and all


# The twin in the browser --------------------------------------------------------------------------

READ = """
import { readFileSync } from "node:fs";
import { readConfig } from %s;
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => readConfig(text))));
"""


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    """Return a function that has the page's module read many texts."""
    script = tmp_path_factory.mktemp("twin") / "model_config.mjs"
    library = bootstrap.ROOT / "lib" / "handful_site" / "web" / "model_config.js"
    esbuild = bootstrap.ROOT / "node_modules" / "esbuild" / "bin" / "esbuild"
    subprocess.run(
        [
            *bootstrap.node_command(),
            str(esbuild),
            str(library),
            "--bundle",
            "--format=esm",
            "--log-level=error",
            f"--outfile={script}",
        ],
        check=True,
    )

    def read(texts):
        done = subprocess.run(
            [
                *bootstrap.node_command(),
                "--input-type=module",
                "--eval",
                READ % json.dumps(script.as_uri()),
            ],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    return read


def understood(text):
    """Return what Python makes of a text, in the form of its twin."""
    try:
        given, notes = model_config._understood(model_config._parsed(text))
    except ShapeError as error:
        return {"problem": str(error)}
    return {"given": given, "notes": notes}


def damaged(config, rng):
    """Return a configuration with one to three of its entries changed, dropped or added."""
    keys = [*model_config._tables().known, "vision_config", "mamba_d_state", "a\nkey", "x" * 80]
    values = [
        *(0, 1, -1, 2, 3.0, 0.5, 1e400, 10**25, 64, None, True, False, "", "8", "noaux_tc", "LLG"),
        *([True, 1], [1, 1.0], [2.0, 2], [None], [{}], [0, 1], -0.0, 1.0, "\u2003x\U0001f600" * 30),
        *("per_layer", "relu", "gpt2", "minimax", "a/b\tc", [], [1, 1], [1, 2], [0] * 90, {}),
        *({"fmt": "e4m3"}, {"a": 1}, ["full_attention"] * 99, ["sliding_attention"] * 99),
        *(["mamba", "conv", "full_attention", "odd"] * 25, ["dense"] * 4 + ["sparse"] * 90),
    ]
    made = dict(config)
    for _ in range(rng.randint(1, 3)):
        made[rng.choice(keys if rng.random() < 0.6 else list(config))] = rng.choice(values)
    if rng.random() < 0.2:
        made = {"text_config": made, "vision_config": {"a": 1}, "tie_word_embeddings": True}
    return made


def test_both_languages_read_the_same(twin):
    rng = random.Random(5)
    configs = [
        *(config for config, _ in PUBLISHED.values()),
        *(GLM5, V3 | INDEXER, gemma3(2560, 34, 10240), {}, LLAMA | {"model_type": "unheard_of"}),
    ]
    configs += [damaged(rng.choice(configs[:-2]), rng) for _ in range(3000)]
    texts = [json.dumps(config) for config in configs]
    found = twin(texts)
    for text, theirs in zip(texts, found, strict=True):
        assert theirs == understood(text), text
    kinds = ["problem" if "problem" in one else "given" for one in found]
    assert 300 < kinds.count("problem") < 2500  # neither is rare


def test_both_languages_refuse_the_same_texts(twin):
    texts = [text for text, _ in BAD if "[[" not in text]  # V8 nests without end
    for text, theirs in zip(texts, twin(texts), strict=True):
        ours = understood(text)
        if "problem" in theirs and theirs["problem"].startswith("This is no JSON"):
            assert ours["problem"].startswith("This is no JSON")  # each has its own parser
        else:
            assert theirs == ours, text[:200]


def test_the_form_takes_what_is_read():
    """A number that the tables let through has a place in the form, within its limits there."""
    source = """import { FIELDS } from "./lib/handful_explorers/web/custom_scenario.js";
        console.log(JSON.stringify(FIELDS.model));"""
    done = subprocess.run(
        [*bootstrap.node_command(), "--input-type=module", "--eval", source],
        cwd=bootstrap.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    form = {field["name"]: field for field in json.loads(done.stdout)}
    names = {"width": "ffn_dim", "dense_width": "ffn_dim", "window": "window_tokens"}
    seen = set()
    for name, (_, least, most) in model_config._tables().numbers.items():
        field = form.get(names.get(name, name))
        if field:
            seen.add(field["name"])
            assert (max(least, field["min"]), most) == (field["min"], field["max"]), name
    assert len(seen) > 18
    assert set(form) == {f.name for f in fields(shapes.Shape)} - {
        "name",
        "notes",
        "compressed_layers",
    }


def test_a_shared_cache_is_read():
    """As Hunyuan-Large is configured; the table has its shape."""
    config = plain(64, 6400, 80, 8, 18304, 129024, "hunyuan", True)
    config |= {"num_experts": 16, "moe_topk": 1, "num_shared_expert": 1, "use_qk_norm": True}
    config |= {"use_cla": True, "cla_share_factor": 2, "attention_head_dim": 80}
    config |= {"max_position_embeddings": 131072}
    assert read_config(config, "Hunyuan-Large") == shapes.shape("Hunyuan-Large")


def test_the_tables_name_fields_of_a_shape():
    raw = model_config._tables().raw
    known = {f.name for f in fields(shapes.Shape)}
    assert all(set(entry["fields"]) <= known for entry in raw["types"])
    assert all(set(entry["numbers"]) <= set(raw["numbers"]) for entry in raw["defaults"])
    assert set(raw["required"]) <= known & set(raw["numbers"])
