"""Tests of the memory wall.

What is read is compared with counting it, published caches, a measured crossing and limits.
"""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import facts, latency, memory_wall, shapes
from handful.memory_wall import ReadingError, kv_read_compressed, kv_read_terms
from handful.scenario import values
from handful_explorers import tables


@pytest.mark.parametrize("model", ["DeepSeek-V3", "Llama 3.1 70B", "gpt-oss-120b"])
@pytest.mark.parametrize("batch", [1, 32, 500])
def test_at_the_wall_a_step_reads_as_much_cache_as_weights(model, batch):
    known = values(model=model)
    at = {**known, "batch": batch, "context": memory_wall.wall_context(known, batch=batch)}
    assert latency.kv_time(at) == pytest.approx(latency.weight_time(at), rel=1e-12)


@given(batch=st.floats(1, 1e4), model=st.sampled_from(["Llama 3.1 70B", "gpt-oss-120b"]))
def test_the_longest_context_leaves_room_for_just_that_batch(batch, model):
    known = values(model=model)
    at = {**known, "context": memory_wall.context_that_fits(known, batch=batch)}
    assert latency.batch_that_fits(at) == pytest.approx(batch, rel=1e-9)


def test_windows_move_the_wall_nearer_and_a_full_memory_leaves_no_context():
    known = values(model="gpt-oss-120b")
    bare = {**known, "window_cache_memory": 0}
    assert memory_wall.wall_context(known, batch=8) < memory_wall.wall_context(bare, batch=8)
    assert memory_wall.context_that_fits(values(hardware="H100 SXM", model="Kimi K2"), batch=1) == 0
    # So many sequences that their windows are more to read than the weights before they are full.
    short = memory_wall.wall_context(known, batch=1e6)
    assert 0 < short < known["window_tokens"]
    read = 1e6 * latency.cache_memory(known, context=short)
    assert read == pytest.approx(latency.weight_memory(known), rel=1e-3)


def count_reads(context, layers):
    """Return the bytes that a step reads, counted token by token.

    Layers are (kind, size of an entry, limit, size of a key).
    """
    total = 0
    for kind, size, limit, key in layers:
        tokens = list(range(context))
        if kind == "window":
            tokens = tokens[-limit:]
        elif kind == "choose":
            total += key * context
            tokens = random.Random(limit).sample(tokens, min(limit, context))
        total += size * len(tokens)
    return total


@given(context=st.integers(1, 3000), window=st.integers(1, 500), chosen=st.integers(1, 500))
def test_reads_against_counting_them_layer_by_layer(context, window, chosen):
    layers = (
        [("all", 30, 0, 0)] * 2 + [("window", 7, window, 0)] * 3 + [("choose", 20, chosen, 2)] * 4
    )
    whole, windowed, choosing = 60, 21, 80
    at = {
        "context": context,
        "window_tokens": window,
        "selected_tokens": chosen,
        "kv_bytes_per_token": whole,
        "windowed_bytes_per_token": windowed,
        "selected_bytes_per_token": choosing,
        "indexer_bytes_per_token": 8,
    }
    assert kv_read_compressed(at) == count_reads(context, layers)
    assert memory_wall.kv_read_windowed(at) == count_reads(context, layers[:5])
    assert memory_wall.kv_read_selected(at) == count_reads(context, layers[5:])
    assert memory_wall.kv_read_dense(at) == count_reads(context, layers[:2])


def test_a_million_tokens_of_compressed_attention_take_what_its_servers_say():
    # 9.62 GiB in bf16, keys to choose by included: what is stored, which grows with every token.
    # The same source has 83.9 GiB for the generation before.
    for model, gib in (
        ("DeepSeek-V4-Pro", facts.get("scaling_laws", "v4_1m")["value"]),
        ("DeepSeek-V3.2", 83.9),
    ):
        terms = kv_read_terms(model, indexer_bytes_per_element=2)
        stored = sum(
            terms[name]
            for name in (
                "kv_bytes_per_token",
                "selected_bytes_per_token",
                "indexer_bytes_per_token",
            )
        )
        assert 2**20 * stored == pytest.approx(gib * 2**30, rel=0.001)
        assert kv_read_compressed(terms, context=2**20) < 0.25 * gib * 2**30


def test_published_caches_are_read_whole_by_dense_attention():
    # 8.72 GiB for 128K tokens over 62 layers of latent attention.
    published = facts.get("scaling_laws", "mla_128k")["value"] * 2**30
    found = kv_read_compressed(kv_read_terms("DeepSeek-V3"), context=131_072) * 62 / 61
    assert found == pytest.approx(published, rel=0.001)


@pytest.mark.parametrize(
    "model, context, size, elements",
    [
        # Published configurations.  61 layers read a latent of 576 numbers, of every token, or of
        # 2,048 chosen by 128.
        ("DeepSeek-V3", 50_000, 2, 61 * 576 * 50_000),
        ("DeepSeek-V3.2", 50_000, 2, 61 * (576 * 2048 + 128 * 50_000)),
        # Every other of 36 layers reads 128 tokens, of 8 keys and values of 64 numbers each.
        ("gpt-oss-120b", 100, 2, 36 * 100 * 2 * 8 * 64),
        ("gpt-oss-120b", 50_000, 2, 18 * (50_000 + 128) * 2 * 8 * 64),
        ("gpt-oss-120b", 50_000, 1, 18 * (50_000 + 128) * 2 * 8 * 64),
        # 30 layers choose 1,024 entries of 4 tokens by keys of 128 numbers, 31 read an entry for
        # each 128 tokens, and all
        # 61 the latest 128 tokens; an entry has 512 numbers.
        (
            "DeepSeek-V4-Pro",
            2**20,
            2,
            512 * (30 * 1024 + 31 * 2**20 // 128 + 61 * 128) + 128 * 30 * 2**20 // 4,
        ),
        ("DeepSeek-V4-Pro", 2048, 1, 512 * (30 * 512 + 31 * 16 + 61 * 128) + 128 * 30 * 512),
    ],
)
def test_reads_of_published_configurations(model, context, size, elements):
    terms = kv_read_terms(model, bytes_per_element=size, indexer_bytes_per_element=size)
    assert kv_read_compressed(terms, context=context) == size * elements


def test_choosing_pays_between_its_own_limit_and_where_kernels_are_measured_to_cross():
    dense, chosen = kv_read_terms("DeepSeek-V3"), kv_read_terms("DeepSeek-V3.2")
    crossing = next(
        length
        for length in range(1, 100_000)
        if kv_read_compressed(chosen, context=length) < kv_read_compressed(dense, context=length)
    )
    assert 2048 < crossing < facts.get("scaling_laws", "dsa_kernel")["value"]


def test_sharing_saves_room_and_not_reading():
    s = shapes.shape("Hunyuan-Large")
    assert s.layers_per_kv == 2
    assert kv_read_terms(s.name)["kv_bytes_per_token"] == 2 * 2 * shapes.kv_elements_per_token(s)


def test_top_k_selection_is_linear_and_only_balanced_blocks_are_a_root():
    for model in ("DeepSeek-V3.2", "DeepSeek-V4-Pro"):
        growth = [kv_read_compressed(kv_read_terms(model), context=c) for c in (2**24, 2**26)]
        assert math.log(growth[1] / growth[0], 4) == pytest.approx(1, abs=0.03)
    assert float(memory_wall.balanced_block_read.elasticity("context").expression) == 0.5


@pytest.mark.parametrize(
    "context, blocks, summary, token",
    [(10_000, 4, 8, 8), (200_000, 16, 64, 16), (1_000_000, 1, 1, 1)],
)
def test_the_best_block_by_trying_every_one(context, blocks, summary, token):
    least, best = min(
        (math.ceil(context / size) * summary + blocks * size * token, size)
        for size in range(1, context // blocks)
    )
    at = {
        "context": context,
        "selected_blocks": blocks,
        "summary_bytes": summary,
        "kv_bytes_per_token": token,
    }
    assert memory_wall.balanced_block_read(at) == pytest.approx(least, rel=0.02)
    assert memory_wall.block_tokens(at) == pytest.approx(best, rel=0.1)
    at["block_tokens"] = memory_wall.block_tokens(at)
    assert memory_wall.block_read(at) == pytest.approx(memory_wall.balanced_block_read(at))


def test_the_derivation_ends_in_the_formula():
    found = memory_wall.block_tokens.derivation
    assert (found.result - memory_wall.balanced_block_read.expression).simplify() == 0


def test_bad_input_gets_one_clear_sentence():
    with pytest.raises(ReadingError, match=r"Kimi K3.*-V3\.2"):
        kv_read_terms("Kimi K3")
    with pytest.raises(facts.FactsError, match="no row 'GPT-9'"):
        kv_read_terms("GPT-9")


def test_what_is_stored_counts_every_token_that_may_be_chosen():
    terms = kv_read_terms("DeepSeek-V3.2", bytes_per_element=1)
    # 61 latents of 576 numbers, and 61 keys of 128 to choose by.
    assert memory_wall.kv_stored(terms, context=1) == 61 * (576 + 128)
    for model in ("Llama 3.1 70B", "gpt-oss-120b"):  # without windows, and with
        dense = kv_read_terms(model)
        assert memory_wall.kv_stored(dense, context=5e5) == kv_read_compressed(dense, context=5e5)


def test_rooms_for_a_batch_are_what_weights_leave():
    known = {
        **values(hardware="GB200 NVL72", model="DeepSeek-V3"),
        "batch": 10,
        "read_budget": 0.02,
    }
    assert memory_wall.readable(known) == pytest.approx(
        (72 * 8e12 * 0.02 - 671.026e9) / 10, rel=1e-3
    )
    room = memory_wall.cache_room(known)
    assert room / known["kv_bytes_per_token"] == pytest.approx(
        memory_wall.context_that_fits(known), rel=1e-9
    )
    assert memory_wall.readable(known, read_budget=1e-4) == 0


def test_the_longest_contexts_fill_their_rooms():
    known = values(hardware="GB200 NVL72", precision="fp8")
    for row in memory_wall.longest_contexts("GB200 NVL72", batch=16):
        terms = kv_read_terms(row["name"], bytes_per_element=1)
        weights = facts.get("models", row["name"])["total_params_reported"]
        budget = known["devices"] * known["memory_bandwidth"] * 0.02 - weights
        assert kv_read_compressed(terms, context=row["readable_context"]) == pytest.approx(
            budget / 16
        )
        room = known["devices"] * known["memory_capacity"] - weights
        assert memory_wall.kv_stored(terms, context=row["context_that_fits"]) == pytest.approx(
            room / 16
        )


def test_bytes_at_the_margin_are_those_of_published_configurations():
    # 80 layers of 8 keys and values; 61 latents of 576 and keys of 128 to choose by; 30 and 31
    # compressed layers.
    found = {
        row["name"]: (row["read_bytes_per_token"], row["stored_bytes_per_token"])
        for row in memory_wall.longest_contexts("GB200 NVL72")
    }
    assert found["Llama 3.1 70B"] == pytest.approx((80 * 2 * 8 * 128,) * 2)
    assert found["DeepSeek-V3"] == pytest.approx((61 * 576,) * 2)
    assert found["DeepSeek-V3.2"] == pytest.approx((61 * 128, 61 * (576 + 128)))
    keys, coarse = 30 / 4 * 128, 31 / 128 * 512
    assert found["DeepSeek-V4-Pro"] == pytest.approx((keys + coarse, keys + coarse + 30 / 4 * 512))


def test_one_sequence_gets_the_room_of_sixteen_and_none_what_is_full():
    alone, many = (
        memory_wall.longest_contexts("GB200 NVL72", **batch)[0] for batch in ({}, {"batch": 16})
    )
    for limit in ("readable_context", "context_that_fits"):
        assert alone[limit] == pytest.approx(16 * many[limit])
    # 1.6 trillion weights do not go into 8 chips of 80 GB.
    full = memory_wall.longest_contexts("H100 SXM")[-1]
    assert full["context_that_fits"] == 0 and full["name"] == "DeepSeek-V4-Pro"


def test_choosing_moves_the_limit_from_bandwidth_to_capacity():
    rows = memory_wall.longest_contexts("GB200 NVL72", batch=64)
    limits = {row["name"]: row["readable_context"] < row["context_that_fits"] for row in rows}
    assert limits == {
        "Llama 3.1 70B": True,
        "Gemma 3 27B": True,
        "DeepSeek-V3": True,
        "DeepSeek-V3.2": False,
        "DeepSeek-V4-Pro": False,
    }
    # 72 chips read 160 GB each in 20 ms, and hold 186; 671 GB of it are weights.
    assert [(72 * size - 671e9) / 35_136 / 1e6 for size in (160e9, 186e9)] == pytest.approx(
        [309, 362], abs=1
    )


def test_one_cache_for_eight_heads_of_all_layers_is_the_lectures_two_kilobytes():
    alone, *_, shared = memory_wall.shared_cache_sizes("Llama 3.1 70B")
    assert shared["stored_bytes_per_token"] == 1 * 2 * 128 * 8
    assert shared["read_bytes_per_token"] == alone["read_bytes_per_token"] == 80 * 2 * 128 * 8
    wide, *_ = memory_wall.shared_cache_sizes("Llama 3.1 70B", bytes_per_element=2)
    assert wide["stored_bytes_per_token"] == wide["read_bytes_per_token"] == 2 * 80 * 2 * 128 * 8
    saved = {
        row["layers_that_share"]: alone["stored_bytes_per_token"] / row["stored_bytes_per_token"]
        for row in memory_wall.shared_cache_sizes("Llama 3.1 70B")
    }
    assert saved == {1: 1, 2: 2, 4: 4, 80: 80}
    assert [row[1:] for row in tables.sharing_table()[1]] == [
        [f"{kept:.4g}\xa0kB/token", "163.8\xa0kB/token"] for kept in (163.84, 81.92, 40.96, 2.048)
    ]
