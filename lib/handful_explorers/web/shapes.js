// Parameter counts, cache and attention arithmetic from a model's shape: the twin of
// handful/shapes.py, field by field. Counts are whole numbers below 2^53, so both languages give
// the same digits (custom_scenario.js refuses larger shapes). Compressed attention, whose weights no shape
// lists, is Python's alone.

/**
 * @typedef {object} Shape
 * @property {number} layers
 * @property {number} d_model
 * @property {number} vocab
 * @property {number} heads
 * @property {number} kv_heads
 * @property {number} head_dim
 * @property {number} max_context
 * @property {boolean} tied_embeddings
 * @property {number} learned_positions
 * @property {number | null} full_attention_layers
 * @property {number} window_tokens
 * @property {number} layers_per_kv
 * @property {number} q_lora_rank
 * @property {number} kv_lora_rank
 * @property {number} rope_dim
 * @property {number} nope_dim
 * @property {number} v_head_dim
 * @property {number} indexer_dim
 * @property {number} indexer_heads
 * @property {number | null} indexer_layers
 * @property {"none" | "qkv" | "all"} attention_bias
 * @property {boolean} qk_norm
 * @property {boolean} qk_norm_whole
 * @property {boolean} attention_sinks
 * @property {boolean} gated
 * @property {number} ffn_dim
 * @property {boolean} ffn_bias
 * @property {number} routed_experts
 * @property {number} active_experts
 * @property {number} shared_experts
 * @property {boolean} shared_gate
 * @property {number} expert_dim
 * @property {number} dense_layers
 * @property {boolean} router_bias
 * @property {number} norms_per_layer
 * @property {boolean} norm_bias
 */

export const DEFAULTS = {
  max_context: 0,
  tied_embeddings: false,
  learned_positions: 0,
  full_attention_layers: null,
  window_tokens: 0,
  layers_per_kv: 1,
  q_lora_rank: 0,
  kv_lora_rank: 0,
  rope_dim: 0,
  nope_dim: 0,
  v_head_dim: 0,
  indexer_dim: 0,
  indexer_heads: 0,
  indexer_layers: null,
  attention_bias: "none",
  qk_norm: false,
  qk_norm_whole: false,
  attention_sinks: false,
  gated: true,
  ffn_dim: 0,
  ffn_bias: false,
  routed_experts: 0,
  active_experts: 0,
  shared_experts: 0,
  shared_gate: false,
  expert_dim: 0,
  dense_layers: 0,
  router_bias: false,
  norms_per_layer: 2,
  norm_bias: false,
};

/**
 * @param {Definition | Given} given what has been checked, so that it holds all fields of a shape
 * @returns {Shape}
 */
export const shape = (given) => /** @type {Shape} */ ({ ...DEFAULTS, ...given });

/** @param {Shape} s */
const fullLayers = (s) => s.full_attention_layers ?? s.layers;
/** @param {Shape} s */
const windowedLayers = (s) => s.layers - fullLayers(s);
/** @param {Shape} s */
const indexingLayers = (s) => (s.indexer_heads ? (s.indexer_layers ?? s.layers) : 0);
/** @param {Shape} s */
const expertLayers = (s) => (s.routed_experts ? s.layers - s.dense_layers : 0);
/**
 * @param {number} width
 * @param {boolean} wanted
 */
const bias = (width, wanted) => (wanted ? width : 0);

/** @param {Shape} s */
function attentionWeights(s) {
  const d = s.d_model;
  if (s.kv_lora_rank) {
    const head = s.nope_dim + s.rope_dim;
    const query = s.q_lora_rank
      ? d * s.q_lora_rank + s.q_lora_rank * s.heads * head
      : d * s.heads * head;
    const indexer =
      (s.q_lora_rank || d) * s.indexer_heads * s.indexer_dim +
      d * s.indexer_dim +
      d * s.indexer_heads;
    return (
      s.layers *
        (query +
          d * (s.kv_lora_rank + s.rope_dim) +
          s.kv_lora_rank * s.heads * (s.nope_dim + s.v_head_dim) +
          s.heads * s.v_head_dim * d) +
      indexingLayers(s) * indexer
    );
  }
  const q = s.heads * s.head_dim,
    kv = s.kv_heads * s.head_dim,
    biased = s.attention_bias !== "none";
  const every =
    d * q +
    bias(q, biased) +
    q * d +
    bias(d, s.attention_bias === "all") +
    bias(s.heads, s.attention_sinks);
  return s.layers * every + Math.ceil(s.layers / s.layers_per_kv) * 2 * (d * kv + bias(kv, biased));
}

/**
 * @param {Shape} s
 * @param {number} width
 */
function block(s, width) {
  const matrices = s.gated ? 3 : 2;
  return matrices * s.d_model * width + bias((matrices - 1) * width + s.d_model, s.ffn_bias);
}

/** @param {Shape} s */
function normWeights(s) {
  const norm = s.d_model * (s.norm_bias ? 2 : 1);
  const normedHeads = s.qk_norm_whole ? s.heads + s.kv_heads : 2;
  const inside =
    (s.qk_norm ? normedHeads * s.head_dim : 0) +
    (s.kv_lora_rank ? s.kv_lora_rank + s.q_lora_rank : 0);
  const ofIndexers = indexingLayers(s) * 2 * s.indexer_dim;
  return s.layers * (s.norms_per_layer * norm + inside) + ofIndexers + norm;
}

// Parameters by part; the parts add up to the total.
/** @param {Shape} s */
export function breakdown(s) {
  const experts = expertLayers(s),
    routers = experts * s.routed_experts;
  return {
    "input embedding": s.vocab * s.d_model + s.learned_positions * s.d_model,
    "output head": s.tied_embeddings ? 0 : s.vocab * s.d_model,
    attention: attentionWeights(s),
    "dense feed-forward": (s.layers - experts) * block(s, s.ffn_dim),
    "routed experts": routers * block(s, s.expert_dim),
    "shared experts":
      experts * (s.shared_experts * block(s, s.expert_dim) + bias(s.d_model, s.shared_gate)),
    router: routers * s.d_model + bias(routers, s.router_bias),
    norms: normWeights(s),
  };
}

/** @param {Shape} s */
export const totalParameters = (s) =>
  Object.values(breakdown(s)).reduce((sum, part) => sum + part, 0);

// Weights that one token uses: all but the idle experts.
/** @param {Shape} s */
export function activeParameters(s) {
  const parts = breakdown(s);
  const idle = s.routed_experts
    ? (parts["routed experts"] / s.routed_experts) * (s.routed_experts - s.active_experts)
    : 0;
  return totalParameters(s) - idle;
}

/**
 * @param {Shape} s
 * @param {number} layers
 */
const kvElements = (s, layers) => 2 * Math.ceil(layers / s.layers_per_kv) * s.kv_heads * s.head_dim;
/** @param {Shape} s */
export const kvElementsPerToken = (s) =>
  s.kv_lora_rank
    ? fullLayers(s) * (s.kv_lora_rank + s.rope_dim) + indexingLayers(s) * s.indexer_dim
    : kvElements(s, fullLayers(s));
/** @param {Shape} s */
export const kvWindowElements = (s) => kvElements(s, windowedLayers(s)) * s.window_tokens;

// Latent attention has two forms: absorbed, in which decoding runs, and plain, in which prefill and
// training run.  An indexer's scores are added to either.
/**
 * @param {Shape} s
 * @param {number} width
 */
const latentFlops = (s, width) =>
  2 * (fullLayers(s) * s.heads * width + indexingLayers(s) * s.indexer_heads * s.indexer_dim);
/** @param {Shape} s */
export const attentionFlopsPerPair = (s) =>
  s.kv_lora_rank
    ? latentFlops(s, 2 * s.kv_lora_rank + s.rope_dim)
    : 4 * s.heads * s.head_dim * fullLayers(s);
/** @param {Shape} s */
export const prefillAttentionFlopsPerPair = (s) =>
  s.kv_lora_rank
    ? latentFlops(s, s.nope_dim + s.rope_dim + s.v_head_dim)
    : attentionFlopsPerPair(s);

// A shape as a row of the scenario bar: scenario.py's model_row.
/** @param {Shape} s */
export function modelRow(s) {
  const parts = breakdown(s),
    routed = parts["routed experts"],
    layers = expertLayers(s),
    latent = s.kv_lora_rank > 0;
  return {
    values: {
      total_parameters: totalParameters(s),
      active_parameters: activeParameters(s),
      routed_parameters: routed,
      experts: s.routed_experts || 1,
      active_experts: s.active_experts || 1,
      attention_flops_per_pair: attentionFlopsPerPair(s),
      prefill_attention_flops_per_pair: prefillAttentionFlopsPerPair(s),
      layers: s.layers,
      d_model: s.d_model,
      attention_heads: s.heads,
      kv_heads: latent ? null : s.kv_heads,
      head_width: latent ? s.nope_dim + s.rope_dim : s.head_dim,
      d_ff: routed ? (s.active_experts + s.shared_experts) * s.expert_dim : s.ffn_dim,
      feed_forward_matrices: s.gated ? 3 : 2,
      value_width: latent ? s.v_head_dim : null,
      query_latent_width: latent ? s.q_lora_rank : null,
      kv_latent_width: latent ? s.kv_lora_rank : null,
      rotary_width: latent ? s.rope_dim : null,
      window_tokens: s.window_tokens || 1,
      expert_layers: routed ? layers : null,
      dispatch_bytes: routed ? 1 : null,
      combine_bytes: routed ? 2 : null,
      expert_parameters: routed ? routed / (layers * s.routed_experts) : null,
      expert_width: routed ? s.expert_dim : null,
    },
    kv_elements_per_token: kvElementsPerToken(s),
    kv_window_elements: kvWindowElements(s),
    max_context: s.max_context || null,
  };
}
