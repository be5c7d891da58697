// Parameter counts, cache and attention arithmetic from a model's shape: the twin of
// handful/shapes.py, field by field. Counts are whole numbers below 2^53, so both languages give
// the same digits (own.js refuses larger shapes). Compressed attention, whose weights no shape
// lists, is Python's alone.

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
  attention_bias: "none",
  qk_norm: false,
  attention_sinks: false,
  gated: true,
  ffn_dim: 0,
  ffn_bias: false,
  routed_experts: 0,
  active_experts: 0,
  shared_experts: 0,
  expert_dim: 0,
  dense_layers: 0,
  router_bias: false,
  norms_per_layer: 2,
  norm_bias: false,
};

export const shape = (given) => ({ ...DEFAULTS, ...given });

const fullLayers = (s) => s.full_attention_layers ?? s.layers;
const windowedLayers = (s) => s.layers - fullLayers(s);
const expertLayers = (s) => (s.routed_experts ? s.layers - s.dense_layers : 0);
const bias = (width, wanted) => (wanted ? width : 0);

function attentionWeights(s) {
  const d = s.d_model;
  if (s.kv_lora_rank) {
    const head = s.nope_dim + s.rope_dim;
    const query = s.q_lora_rank
      ? d * s.q_lora_rank + s.q_lora_rank * s.heads * head
      : d * s.heads * head;
    return (
      s.layers *
      (query +
        d * (s.kv_lora_rank + s.rope_dim) +
        s.kv_lora_rank * s.heads * (s.nope_dim + s.v_head_dim) +
        s.heads * s.v_head_dim * d)
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

function block(s, width) {
  const matrices = s.gated ? 3 : 2;
  return matrices * s.d_model * width + bias((matrices - 1) * width + s.d_model, s.ffn_bias);
}

function normWeights(s) {
  const norm = s.d_model * (s.norm_bias ? 2 : 1);
  const inside =
    (s.qk_norm ? 2 * s.head_dim : 0) + (s.kv_lora_rank ? s.kv_lora_rank + s.q_lora_rank : 0);
  return s.layers * (s.norms_per_layer * norm + inside) + norm;
}

// Parameters by part; the parts add up to the total.
export function breakdown(s) {
  const experts = expertLayers(s),
    routers = experts * s.routed_experts;
  return {
    "input embedding": s.vocab * s.d_model + s.learned_positions * s.d_model,
    "output head": s.tied_embeddings ? 0 : s.vocab * s.d_model,
    attention: attentionWeights(s),
    "dense feed-forward": (s.layers - experts) * block(s, s.ffn_dim),
    "routed experts": routers * block(s, s.expert_dim),
    "shared experts": experts * s.shared_experts * block(s, s.expert_dim),
    router: routers * s.d_model + bias(routers, s.router_bias),
    norms: normWeights(s),
  };
}

export const totalParameters = (s) =>
  Object.values(breakdown(s)).reduce((sum, part) => sum + part, 0);

// Weights that one token uses: all but the idle experts.
export function activeParameters(s) {
  const parts = breakdown(s);
  const idle = s.routed_experts
    ? (parts["routed experts"] / s.routed_experts) * (s.routed_experts - s.active_experts)
    : 0;
  return totalParameters(s) - idle;
}

const kvElements = (s, layers) => 2 * Math.ceil(layers / s.layers_per_kv) * s.kv_heads * s.head_dim;
export const kvElementsPerToken = (s) =>
  s.kv_lora_rank ? fullLayers(s) * (s.kv_lora_rank + s.rope_dim) : kvElements(s, fullLayers(s));
export const kvWindowElements = (s) => kvElements(s, windowedLayers(s)) * s.window_tokens;

// Latent attention has two forms: absorbed, in which decoding runs, and plain, in which prefill and
// training run.
export const attentionFlopsPerPair = (s) =>
  s.kv_lora_rank
    ? 2 * s.heads * (2 * s.kv_lora_rank + s.rope_dim) * fullLayers(s)
    : 4 * s.heads * s.head_dim * fullLayers(s);
export const prefillAttentionFlopsPerPair = (s) =>
  s.kv_lora_rank
    ? 2 * s.heads * (s.nope_dim + s.rope_dim + s.v_head_dim) * fullLayers(s)
    : attentionFlopsPerPair(s);

// A shape as a row of the scenario bar: scenario.py's model_row.
export function modelRow(s) {
  const parts = breakdown(s),
    routed = parts["routed experts"],
    layers = expertLayers(s);
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
      expert_layers: routed ? layers : null,
      dispatch_bytes: routed ? 1 : null,
      combine_bytes: routed ? 2 : null,
      expert_parameters: routed ? routed / (layers * s.routed_experts) : null,
    },
    kv_elements_per_token: kvElementsPerToken(s),
    kv_window_elements: kvWindowElements(s),
    max_context: s.max_context || null,
  };
}
