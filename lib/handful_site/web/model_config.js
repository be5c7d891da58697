// A model's config.json, as Hugging Face writes it, into the fields of custom_scenario.js.  What is inferred,
// left out or unknown is said in `notes`: a key that may add weights and is not counted is never
// passed over.

import { faultOf } from "./json_fault.js";

/**
 * @typedef {Record<string, any>} Config a config.json, of which nothing is known; hence `any`
 * @typedef {Record<string, number | undefined>} Counts
 * @typedef {Omit<Partial<import("../../handful_explorers/web/shapes.js").Shape>, "layers" | "d_model" | "heads"> & {
 *   name?: string, layers: number, d_model: number, heads: number
 * }} Read fields of custom_scenario.js, so far as they were found
 */

// Families whose shape is Llama's unless an entry below says otherwise.
const FAMILIES =
  `llama mistral mixtral olmo starcoder2 gemma qwen phi3 deepseek kimi glm gpt_oss mimo$ minimax
hunyuan granite internlm yi smollm exaone cohere gpt2 gpt_bigcode longcat dots1 ernie seed_oss
ministral`.split(/\s+/);

// [family of model types, what it means for the shape].  Later entries win.
/** @type {[RegExp, Partial<Read>][]} */
const TYPES = [
  [new RegExp(`^(${FAMILIES.join("|")})`), {}],
  [/^qwen2/, { attention_bias: "qkv" }],
  [/^qwen3|^gemma3|^olmo2/, { qk_norm: true }],
  [/^gemma([23]|_|$)|^cohere|^gpt2|^gpt_bigcode/, { tied_embeddings: true }],
  [/^gemma[23]/, { norms_per_layer: 4 }],
  [/^gpt_oss/, { attention_bias: "all", attention_sinks: true, ffn_bias: true, router_bias: true }],
  [/^glm.*moe/, { router_bias: true }],
  [/^llama4/, { shared_experts: 1 }],
  [/^(gpt2|gpt_bigcode)/, { attention_bias: "all", ffn_bias: true, norm_bias: true, gated: false }],
  [
    /^starcoder2/,
    { attention_bias: "all", ffn_bias: true, norm_bias: true, gated: false, tied_embeddings: true },
  ],
];

// Keys that hold a field under another name, in order of preference.
/** @type {Record<string, string[]>} */
const NAMES = {
  layers: ["num_hidden_layers", "n_layer", "n_layers", "num_layers"],
  d_model: ["hidden_size", "n_embd", "d_model", "dim"],
  heads: ["num_attention_heads", "n_head", "n_heads"],
  kv_heads: ["num_key_value_heads", "n_kv_heads", "num_kv_heads"],
  head_dim: ["head_dim", "attention_head_dim"],
  vocab: ["vocab_size"],
  max_context: ["max_position_embeddings", "n_positions", "max_seq_len"],
  width: ["intermediate_size", "n_inner", "ffn_dim"],
  dense_width: ["dense_intermediate_size", "intermediate_size_mlp"],
  routed_experts: ["n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"],
  active_experts: [
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "moe_topk",
    "moe_top_k",
    "top_k_experts",
  ],
  shared_experts: [
    "n_shared_experts",
    "num_shared_experts",
    "num_shared_expert",
    "moe_num_shared_experts",
  ],
  expert_dim: ["moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size"],
  kv_lora_rank: ["kv_lora_rank"],
  q_lora_rank: ["q_lora_rank"],
  rope_dim: ["qk_rope_head_dim"],
  nope_dim: ["qk_nope_head_dim"],
  v_head_dim: ["v_head_dim"],
};

// Read below by name; and what changes no count, as the alternatives of a regular expression.
const READ = `model_type architectures tie_word_embeddings sliding_window use_sliding_window
sliding_window_pattern _sliding_window_pattern layer_types max_window_layers
first_k_dense_replace moe_layer_freq mlp_only_layers decoder_sparse_step
interleave_moe_layer_step attention_bias qkv_bias use_bias mlp_bias use_qk_norm
qk_norm multi_query topk_method use_routing_bias shared_expert_intermediate_size
shared_intermediate_size use_cla cla_share_factor num_nextn_predict_layers
num_mtp_modules quantization_config compression_config is_encoder_decoder name_or_path
_name_or_path text_config llm_config language_config mlp_layer_types head_dim_v
query_pre_attn_scalar qk_head_dim use_mla`;
const HARMLESS_KEYS = `
_.*|.*token_id|.*_token|.*token_index|torch_dtype|dtype|transformers_version
|transformers\\.js_config|use_cache|hidden_act|hidden_activation|activation_function|
|scoring_func|scoring_type|norm_topk_prob|routed_scaling_factor|n_group|topk_group|ep_size
|aux_loss_alpha|seq_aux|router_.*|output_router_logits|moe_router_.*|.*aux_loss.*|.*loss_coef
|rope_.*|.*_rope_base.*|.*rope_theta|rotary_.*|rotary_dim|partial_rotary_factor|.*norm_eps.*
|.*layernorm_epsilon|layer_norm_epsilon|layer_norm_eps|rms_norm_eps|norm_epsilon
|initializer_.*|attention_dropout|.*_dropout|.*_pdrop|dropout|resid_.*|embd_.*|pretraining_tp
|attn_implementation|auto_map|.*softcapping|attn_logit.*|final_logit.*|attention_multiplier
|embedding_multiplier|logits_scaling|logit_scale|residual_multiplier|swiglu_limit
|initial_context_length|original_max_position_embeddings|model_max_length|seq_length
|window_size|cache_implementation|bos.*|eos.*|pad.*|scale_attn.*|attention_softmax_in_fp32
|summary_.*|task_specific_params|n_ctx|return_dict|output_.*|id2label|label2id
|gradient_checkpointing|unsloth.*|use_return_dict|problem_type|finetuning_task
|expert_capacity.*|moe_layer_num_skipped.*|length_penalty|max_length|min_length|num_beam.*
|num_return_sequences|.*_penalty|temperature|top_k|top_p|typical_p|pruned_heads|prefix
|no_repeat.*|do_sample|early_stopping|use_mtp|swiglu_alpha|indexer_rope_interleave
|num_logits_to_keep|rescale_prenorm_residual|mamba_ssm_dtype|attn_temperature.*|floor_scale
|max_window_size|head_dtype|torchscript|chunk_size_feed_forward|is_decoder
|add_cross_attention|mtp_transformer_layers|inference_runner|runner_type
|validate_runner_input|attention_type|attn_type_list|layernorm_.*_(alpha|beta)|use_rope|rope
|postnorm|shared_moe_mode|max_model_len|num_hidden_layers_.*|tokenizer_class|transformers
|group_size|use_bidirectional_attention|moe_k|kv_channels|mlp_hidden_act
|position_embedding_type|inner_dim|norm_type|use_mixed_mlp_moe|moe_drop_tokens
|moe_random_routing_dropped_token|capacity_factor|anyres.*|num_media_embeds
|use_parallel_residual|parallel_attn|mlp_type|residual_dropout|embedding_dropout
|attention_head_type|temperature_tuning_scale`;
const HARMLESS = new RegExp(`^(${HARMLESS_KEYS.replaceAll("\n", "")})$`);

// Layers that differ from each other in more than a window: no shape describes them.
const UNLIKE = [
  "block_configs",
  "hybrid_override_pattern",
  "hybrid_layer_pattern",
  "layers_block_type",
  "linear_attn_config",
  "compress_ratios",
  "attn_layer_period",
];

/** @param {unknown} value */
const count = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
/** @param {string[]} names */
const listed = (names) =>
  names.slice(0, 12).join(", ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");

// → { config } or { problem }.
/**
 * @param {string} text
 * @returns {{ config: Config, problem?: undefined } | { config?: undefined, problem: string }}
 */
function parsed(text) {
  let config;
  // Python also writes Infinity and NaN, which JSON does not know.
  try {
    config = JSON.parse(text.replace(/([:[,]\s*)-?(?:Infinity|NaN)(?=\s*[,\]}])/g, "$1null"));
  } catch {
    return { problem: faultOf(text) };
  }
  if (typeof config !== "object" || config === null || Array.isArray(config))
    return { problem: "A config.json is one object in braces; this is something else." };
  return { config };
}

// Of a model that also sees or hears, the configuration of its language model.
/**
 * @param {Config} outer
 * @param {string[]} notes
 * @returns {Config}
 */
function languageModel(outer, notes) {
  const inner = ["text_config", "llm_config", "language_config"].find(
    (key) => outer[key] && typeof outer[key] === "object",
  );
  if (!inner) return outer;
  const others = Object.keys(outer).filter(
    (key) =>
      /_config$/.test(key) &&
      key !== inner &&
      !/quantization|compression/.test(key) &&
      typeof outer[key] === "object",
  );
  const config = { tie_word_embeddings: outer.tie_word_embeddings, ...outer[inner] };
  if (config.tie_word_embeddings === undefined) delete config.tie_word_embeddings;
  notes.push(
    `Only the language model in ${inner} is ` +
      `counted${others.length ? `; left out: ${listed(others)}` : ""}.`,
  );
  return config;
}

// Why no shape of the page describes a model; empty where one may.
/** @param {Config} config */
function outOfReach(config) {
  if (config.is_encoder_decoder)
    return "This model has an encoder beside its decoder, and the page counts decoders only.";
  const unlike = UNLIKE.filter((key) => config[key]);
  if (!unlike.length) return "";
  return (
    `The layers of this model are of different kinds (${listed(unlike)}), which no shape ` +
    "of this page describes, so nothing was filled in."
  );
}

// The numbers that NAMES lists, and all keys under which they were looked for.
/** @param {Config} config */
function numbersOf(config) {
  /** @type {Counts} */
  const found = {},
    /** @type {string[]} */
    keys = [];
  for (const [name, names] of Object.entries(NAMES)) {
    const value = names.map((key) => count(config[key])).find((one) => one !== undefined);
    if (value !== undefined) found[name] = value;
    keys.push(...names);
  }
  return { found, keys };
}

// What kind of model it is, as far as its type says.
/**
 * @param {string} type
 * @param {string[]} notes
 * @returns {Partial<Read>}
 */
function familyOf(type, notes) {
  const known = TYPES.filter(([family]) => family.test(type));
  if (!known.length)
    notes.push(
      type
        ? `The model type “${type.slice(0, 40)}” is not one that this page knows; it is read ` +
            "like Llama: gates, two norms a layer, no biases."
        : "No model_type is given; the model is read like Llama: gates, two norms a layer, no " +
            "biases.",
    );
  return Object.assign({}, ...known.map(([, means]) => means));
}

/**
 * @param {Config} config
 * @param {string} type
 * @param {Read} given
 * @param {string[]} notes
 */
function embeddings(config, type, given, notes) {
  if (typeof config.tie_word_embeddings === "boolean")
    given.tied_embeddings = config.tie_word_embeddings;
  else
    notes.push(
      "tie_word_embeddings is not given; for this type the embeddings are taken as " +
        `${given.tied_embeddings ? "tied" : "not tied"}.`,
    );
  if (/^(gpt2|gpt_bigcode)/.test(type)) given.learned_positions = given.max_context;
}

// What stands beside the model, how its weights are stored, and which keys nobody has read.
/**
 * @param {Config} config
 * @param {Config} outer
 * @param {Set<string>} used
 * @param {string[]} notes
 */
function remarks(config, outer, used, notes) {
  const beside = count(config.num_nextn_predict_layers) || count(config.num_mtp_modules);
  if (beside)
    notes.push(
      `Left out: ${beside === 1 ? "a module" : `${beside} modules`} that ` +
        `predict${beside === 1 ? "s" : ""} further tokens beside the model.`,
    );
  const packed =
    config.quantization_config || config.compression_config || outer.quantization_config;
  if (packed)
    notes.push(
      "The weights are stored in " +
        `${String(packed.fmt || packed.quant_method || "another precision").slice(0, 30)}; the ` +
        "precision is chosen in the bar.",
    );
  const odd = Object.keys(config).filter(
    (key) => !used.has(key) && !HARMLESS.test(key) && ![null, false, 0].includes(config[key]),
  );
  if (odd.length)
    notes.push(`Not counted, because this page does not know what they add: ${listed(odd)}.`);
}

// → { given, notes } or { problem }.
/**
 * @param {string} text
 * @returns {{ given: Read, notes: string[], problem?: undefined } | { given?: undefined, notes?:
 *   undefined, problem: string }}
 */
export function readConfig(text) {
  const { config: outer, problem } = parsed(text);
  if (!outer) return { problem };
  /** @type {string[]} */
  const notes = [],
    config = languageModel(outer, notes),
    unlike = outOfReach(config);
  if (unlike) return { problem: unlike };
  const { found, keys } = numbersOf(config);
  for (const name of ["layers", "d_model", "heads", "vocab"])
    if (found[name] === undefined) {
      const key = NAMES[name].find((one) => config[one] !== undefined && config[one] !== null);
      return {
        problem: key
          ? `${key} must be a whole number above 0 and without quotation marks, and ` +
            `${JSON.stringify(config[key]).slice(0, 40)} is not.`
          : `This configuration has no ${NAMES[name][0]}, so its shape cannot be read.`,
      };
    }

  const type = String(config.model_type || ""),
    { width, dense_width: wide = width, ...numbers } = found,
    given = /** @type {Read} */ ({ ...numbers, ...familyOf(type, notes) });
  attention(config, type, given, notes);
  feedForward(config, given, width, wide, notes);
  embeddings(config, type, given, notes);
  remarks(config, outer, new Set([...READ.split(/\s+/), ...keys]), notes);
  const path = config._name_or_path || config.name_or_path;
  if (typeof path === "string" && path) given.name = path.split("/").pop();
  return { given, notes };
}

/**
 * @param {Config} config
 * @param {string} type
 * @param {Read} given
 * @param {string[]} notes
 */
function attention(config, type, given, notes) {
  if (given.kv_heads === undefined) given.kv_heads = config.multi_query ? 1 : given.heads;
  if (given.kv_lora_rank) latentHeads(given, notes);
  else plainHeads(given, notes);
  const biased = config.attention_bias ?? config.qkv_bias ?? config.use_bias;
  if (biased === true && !given.attention_bias)
    given.attention_bias = /^glm|^internlm/.test(type) || config.qkv_bias ? "qkv" : "all";
  if (biased === false) given.attention_bias = "none";
  if (config.use_qk_norm === true || config.qk_norm === true) given.qk_norm = true;
  if (config.use_cla && config.cla_share_factor > 1) given.layers_per_kv = config.cla_share_factor;
  windows(config, type, given, notes);
}

/**
 * @param {Read} given
 * @param {string[]} notes
 */
function latentHeads(given, notes) {
  for (const [name, key] of /** @type {const} */ ([
    ["rope_dim", "qk_rope_head_dim"],
    ["nope_dim", "qk_nope_head_dim"],
    ["v_head_dim", "v_head_dim"],
  ]))
    if (given[name] === undefined) notes.push(`Latent attention is described without ${key}.`);
}

/**
 * @param {Read} given
 * @param {string[]} notes
 */
function plainHeads(given, notes) {
  if (given.head_dim === undefined && given.d_model % given.heads === 0) {
    given.head_dim = given.d_model / given.heads;
    notes.push(`head_dim is not given; it is taken as hidden_size over heads, ${given.head_dim}.`);
  }
  if (given.v_head_dim && given.v_head_dim !== given.head_dim)
    notes.push("Not counted: values of another size than keys (v_head_dim).");
  for (const name of /** @type {const} */ (["rope_dim", "nope_dim", "v_head_dim", "q_lora_rank"]))
    delete given[name];
}

// One layer of so many attends to everything, where a type is known for it.
/** @type {[RegExp, number][]} */
const PATTERNS = [
  [/^gemma2/, 2],
  [/^gemma3/, 6],
];

/**
 * @param {Config} config
 * @param {string} type
 * @param {Read} given
 * @param {string[]} notes
 */
function windows(config, type, given, notes) {
  const window = count(config.sliding_window);
  /** @type {unknown[] | null} */
  const kinds = Array.isArray(config.layer_types) ? config.layer_types : null;
  if (kinds) {
    const fixed = kinds.filter((kind) => /linear|mamba|recurrent/.test(String(kind))).length,
      odd = [
        ...new Set(
          kinds.filter(
            (kind) => !/^(full|sliding)_attention$|linear|mamba|recurrent/.test(String(kind)),
          ),
        ),
      ];
    if (odd.length)
      notes.push(`Layers of kind ${listed(odd.map(String))} are counted as full attention.`);
    if (fixed) {
      Object.assign(given, { window_tokens: 1, full_attention_layers: given.layers - fixed });
      notes.push(
        `${fixed} layers keep a state of fixed size instead of a cache: they are entered as ` +
          "layers with a window of one token, so the growing cache is right and the weights are " +
          "only roughly so.",
      );
      return;
    }
    const sliding = kinds.filter((kind) => kind === "sliding_attention").length;
    if (sliding && window)
      Object.assign(given, {
        window_tokens: window,
        full_attention_layers: given.layers - sliding,
      });
    return;
  }
  if (!window || config.use_sliding_window === false) return;
  given.window_tokens = window;
  const every =
    count(config.sliding_window_pattern) ??
    count(config._sliding_window_pattern) ??
    PATTERNS.find(([family]) => family.test(type))?.[1];
  const first = count(config.max_window_layers);
  if (every && every > 1) given.full_attention_layers = Math.floor(given.layers / every);
  else if (/^qwen2/.test(type) && first !== undefined)
    given.full_attention_layers = Math.min(first, given.layers);
  else {
    given.full_attention_layers = 0;
    notes.push(
      `A window of ${window} tokens is given and no pattern, so all layers are taken as windowed.`,
    );
  }
  if (given.full_attention_layers === given.layers) {
    delete given.window_tokens;
    delete given.full_attention_layers;
  }
}

// How many layers have no experts.
/**
 * @param {Config} config
 * @param {number} layers
 * @returns {number}
 */
function denseLayers(config, layers) {
  if (Array.isArray(config.mlp_layer_types))
    return config.mlp_layer_types.filter((/** @type {unknown} */ kind) => kind === "dense").length;
  const freq = config.moe_layer_freq;
  if (Array.isArray(freq)) return freq.filter((/** @type {unknown} */ one) => !one).length;
  const every =
    count(config.decoder_sparse_step) ??
    count(config.interleave_moe_layer_step) ??
    (typeof freq === "number" ? freq : 1);
  return Math.max(
    count(config.first_k_dense_replace) ?? 0,
    every > 1 ? layers - Math.floor(layers / every) : 0,
    Array.isArray(config.mlp_only_layers) ? config.mlp_only_layers.length : 0,
  );
}

/**
 * @param {Config} config
 * @param {Read} given
 * @param {number | undefined} width
 * @param {number | undefined} wide
 * @param {string[]} notes
 */
function experts(config, given, width, wide, notes) {
  // the one width is the experts' own
  if (given.expert_dim === undefined) given.expert_dim = width;
  given.active_experts ??= 1;
  const size =
    count(config.shared_expert_intermediate_size) ?? count(config.shared_intermediate_size);
  if (size && !given.shared_experts) {
    const own = given.expert_dim ?? NaN;
    if (size % own === 0) given.shared_experts = size / own;
    else
      notes.push(
        `Not counted: a shared expert of width ${size}, which is no multiple of the experts' ` +
          `${given.expert_dim}.`,
      );
  }
  given.dense_layers = denseLayers(config, given.layers);
  if (given.dense_layers) given.ffn_dim = wide;
  if (/^noaux/.test(config.topk_method || "") || config.use_routing_bias) given.router_bias = true;
}

/**
 * @param {Read} given
 * @param {number | undefined} wide
 * @param {string[]} notes
 */
function oneBlock(given, wide, notes) {
  for (const name of /** @type {const} */ ([
    "routed_experts",
    "active_experts",
    "shared_experts",
    "expert_dim",
    "router_bias",
  ]))
    delete given[name];
  given.ffn_dim = wide ?? 4 * given.d_model;
  if (wide === undefined)
    notes.push(
      "The feed-forward width is not given; it is taken as four times the model's, " +
        `${given.ffn_dim}.`,
    );
}

/**
 * @param {Config} config
 * @param {Read} given
 * @param {number | undefined} width
 * @param {number | undefined} wide
 * @param {string[]} notes
 */
function feedForward(config, given, width, wide, notes) {
  if (Number(given.routed_experts) > 1) experts(config, given, width, wide, notes);
  else oneBlock(given, wide, notes);
  if (config.mlp_bias === true) given.ffn_bias = true;
  if (
    !(given.gated === false) &&
    /^(gelu|gelu_new|gelu_pytorch_tanh|relu|relu2)$/.test(
      config.hidden_act || config.activation_function || "",
    ) &&
    !/^gemma/.test(config.model_type || "")
  ) {
    notes.push(
      `The activation “${config.hidden_act || config.activation_function}” often goes without ` +
        "a gate; see the finer parts.",
    );
  }
}
