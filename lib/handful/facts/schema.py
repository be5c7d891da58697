"""The schema of each table: its columns, their kinds, and the checks that span columns.

A column is declared as ``name: kind``; a trailing ``!`` means that no row may leave it empty.
Kinds: `text`; `positive` and `nonnegative` numbers; `number` of any sign; `count`, an integer above
0; `whole`, an integer from 0; `flag`, yes or no.  Every table also has `source`, never empty; a
table with `verified` marks there the rows that hold something not found in what was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

NO_SOURCE = {"", "unverified", "not verified", "same", "same as above", "none", "unknown", "?"}


def _columns(text: str) -> dict[str, str]:
    r"""Return the kind of each column, in order, from lines of ``kind: name name! ...``.

    >>> _columns("count: layers!  year\n text: note")
    {'layers': 'count!', 'year': 'count', 'note': 'text'}
    """
    found = {}
    for line in text.strip().splitlines():
        kind, _, names = line.partition(":")
        for name in names.split():
            found[name.rstrip("!")] = kind.strip() + ("!" if name.endswith("!") else "")
    return found


TABLES: dict[str, dict[str, str]] = {
    "accelerators": _columns("""
        text: name! vendor!
        count: year_announced!
        text: status!
        positive: bf16_dense_flops fp8_dense_flops fp4_dense_flops int8_dense_ops
        text: peak_note
        positive: hbm_capacity_bytes!
        text: hbm_type
        positive: hbm_bandwidth_bytes_per_s
        count: scaleup_domain_chips! scenario_chips
        positive: scaleup_bw_per_chip_one_direction_bytes_per_s
        text: scaleup_kind
        positive: scaleout_bw_per_chip_one_direction_bytes_per_s power_watts
        text: power_term
        positive: rental_usd_per_chip_hour_3yr owner_cost_usd_per_chip_hour_hyperscaler
        positive: owner_cost_usd_per_chip_hour_neocloud
        text: price_note disagreements
        flag: verified!
        text: source!"""),
    "measured_steps": _columns("""
        text: name! model! chip! precision!
        count: devices!
        text: parallelism!
        count: batch! context!
        positive: measured_step_s!
        text: source!"""),
    "models": _columns("""
        text: name! org!
        count: year!
        text: attention_kind!
        count: n_layers d_model n_heads n_kv_heads head_dim
        positive: total_params_reported active_params_reported
        text: params_source!
        count: routed_experts active_routed_experts
        whole: shared_experts
        positive: kv_elements_per_token_growing
        text: kv_formula
        positive: kv_window_elements_per_sequence
        text: kv_window_note kv_native_dtype
        positive: kv_bytes_per_token_native
        count: context_length_tokens!
        positive: pretraining_tokens
        text: tokens_source notes
        flag: verified!
        text: source!"""),
    "shapes": _columns("""
        text: name! org!
        count: year!
        text: attention!
        count: layers! d_model! heads! kv_heads! head_dim! vocab! max_context!
        flag: tied_embeddings
        count: learned_positions full_attention_layers window_tokens layers_per_kv
        count: q_lora_rank kv_lora_rank rope_dim nope_dim v_head_dim
        text: compressed_layers
        count: indexer_dim
        text: attention_bias
        flag: qk_norm attention_sinks gated
        count: ffn_dim
        flag: ffn_bias
        count: routed_experts active_experts shared_experts expert_dim dense_layers
        flag: router_bias
        count: norms_per_layer
        flag: norm_bias
        count: published_parameters
        flag: published_prediction_module
        text: published_parameters_source published_note note
        flag: verified!
        text: source!"""),
    "prices": _columns("""
        text: name! provider! model!
        nonnegative: input_usd_per_mtok! output_usd_per_mtok! cached_input_read_usd_per_mtok
        nonnegative: cache_write_5m_or_default_usd_per_mtok cache_write_1h_usd_per_mtok
        nonnegative: cache_write_12h_usd_per_mtok
        count: long_context_threshold_tokens
        nonnegative: long_context_input_usd_per_mtok long_context_output_usd_per_mtok
        nonnegative: long_context_cached_read_usd_per_mtok
        nonnegative: batch_input_usd_per_mtok batch_output_usd_per_mtok
        nonnegative: flex_output_usd_per_mtok fast_or_priority_input_usd_per_mtok
        nonnegative: fast_or_priority_output_usd_per_mtok
        nonnegative: ultrafast_input_usd_per_mtok ultrafast_output_usd_per_mtok
        nonnegative: peak_output_usd_per_mtok peak_input_usd_per_mtok
        count: context_window_tokens
        text: read_on! price_history notes source!"""),
    "memory_tiers": _columns("""
        text: name! tier! chips
        positive: capacity_bytes read_bandwidth_bytes_per_s rated_writes_bytes
        positive: usd_per_gb_low usd_per_gb_high
        text: usd_per_gb_note
        flag: verified!
        text: verified_note source!"""),
    "interconnects": _columns("""
        text: name! scope!
        positive: one_direction_bytes_per_s bidirectional_bytes_per_s
        text: per! notes source!"""),
    "measured_all_to_all": _columns("""
        text: name! model! chip!
        count: chips! tokens_per_chip!
        positive: dispatch_s! dispatch_bytes_per_s! combine_s! combine_bytes_per_s!
        text: notes source!"""),
    "measured_latencies": _columns("""
        text: name! date! what! system!
        count: chips! batch!
        positive: seconds value
        text: notes! source!"""),
    "measured_serving": _columns("""
        text: name! date! model! system!
        count: chips
        text: weights_dtype kv_or_attention_dtype phase! parallelism batch
        text: input_tokens output_or_context_tokens metric!
        nonnegative: value value_low value_high
        text: unit!
        positive: tokens_per_s_per_chip
        text: notes source!"""),
    "measured_pipelines": _columns("""
        text: name! date! system! what!
        nonnegative: value!
        text: unit! notes
        flag: verified!
        text: source!"""),
    "measured_silicon": _columns("""
        text: name! model! system! backend! backend_version precision!
        count: isl_tokens! osl_tokens! concurrency! tp! pp! attention_dp! moe_tp! moe_ep! chips!
        positive: ttft_ms! tpot_ms!
        text: measured_date! source!"""),
    "measured_runs": _columns("""
        text: name! publisher! model! shape! chip! engine! precision!
        count: chips! copies!
        flag: prompts_apart! attention_apart!
        count: isl_tokens! osl_tokens!
        positive: concurrency! ttft_ms tpot_ms!
        text: measured_date source!"""),
    "scaling_laws": _columns("""
        text: name! topic! fact
        number: value value_low value_high
        text: expression unit
        flag: verified!
        text: verified_note source!"""),
    "calculators": _columns("""
        text: name! question! tool! version!
        positive: value!
        text: remade cause! source!"""),
    "measured_machines": _columns("""
        text: name! machine! precision!
        positive: dense_flops! bandwidth_bytes_per_s!
        count: weight_bytes! matrix_width! batch!
        positive: measured_s!
        text: source!"""),
    "lecture_vs_sources": _columns("""
        text: name! lecture_claim! what_sources_say! size_of_difference!
        text: lecture_source! source!"""),
}

# Peaks that vendors print for weights with two of every four entries zero.  A row that holds one of
# them where the dense peak belongs would make everything look twice as fast.
SPARSE_PEAKS = {
    "A100": {"bf16_dense_flops": 6.24e14, "int8_dense_ops": 1.248e15},
    "H100": {"bf16_dense_flops": 1.979e15, "fp8_dense_flops": 3.958e15, "int8_dense_ops": 3.958e15},
    "H200": {"bf16_dense_flops": 1.979e15, "fp8_dense_flops": 3.958e15, "int8_dense_ops": 3.958e15},
    "B200": {"bf16_dense_flops": 4.5e15, "fp8_dense_flops": 9e15, "fp4_dense_flops": 1.8e16},
    "GB200": {"bf16_dense_flops": 5e15, "fp8_dense_flops": 1e16, "fp4_dense_flops": 2e16},
    "MI300X": {"bf16_dense_flops": 2.615e15, "fp8_dense_flops": 5.23e15},
    "MI355X": {
        "bf16_dense_flops": 5.03e15,
        "fp8_dense_flops": 1.007e16,
        "fp4_dense_flops": 2.01e16,
    },
}
RATIO_LIMIT = (
    2.2  # halving the bits of an operand doubles the dense rate; more than that wants a reason
)


def check_accelerator(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Check that peaks in a row of `accelerators` are dense ones.

    Returns the column that is wrong and what is allowed, or None; so do the other checks.
    """
    for chip, peaks in SPARSE_PEAKS.items():
        for column, sparse in peaks.items():
            value = row[column]
            if row["name"].split()[0] == chip and value and abs(value / sparse - 1) < 0.03:
                return column, (
                    f"got {value:g}, the peak with 2:4 structured sparsity; the dense peak "
                    f"({sparse / 2:g}) is allowed"
                )
    pairs = (
        ("fp8_dense_flops", "bf16_dense_flops"),
        ("int8_dense_ops", "bf16_dense_flops"),
        ("fp4_dense_flops", "fp8_dense_flops"),
    )
    for fast, slow in pairs:
        if row[fast] and row[slow] and row[fast] > RATIO_LIMIT * row[slow] and not row["peak_note"]:
            return fast, (
                f"got {row[fast] / row[slow]:.2g} times {slow}, which looks like a sparse peak; at "
                f"most {RATIO_LIMIT} times is allowed unless peak_note says why"
            )
    return None


def check_interconnect(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Check that both directions are twice one direction."""
    one, both = row["one_direction_bytes_per_s"], row["bidirectional_bytes_per_s"]
    if one and both and not math.isclose(both, 2 * one, rel_tol=1e-3):
        return "bidirectional_bytes_per_s", (
            f"got {both:g}; twice one_direction_bytes_per_s ({2 * one:g}) is allowed"
        )
    return None


def check_model(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Check that no more parameters or experts are active than there are in total."""
    for part, whole in (
        ("active_params_reported", "total_params_reported"),
        ("active_routed_experts", "routed_experts"),
    ):
        if row[part] and row[whole] and row[part] > row[whole]:
            return part, f"got {row[part]:g}; at most {whole} ({row[whole]:g}) is allowed"
    return None


CHECKS: dict[str, Callable[[Mapping[str, Any]], tuple[str, str] | None]] = {
    "accelerators": check_accelerator,
    "interconnects": check_interconnect,
    "models": check_model,
}
