// A model's config.json, as Hugging Face writes it, into the fields of custom_scenario.js: the twin
// of handful/model_config.py, function by function, with which it shares its tables.  What is
// inferred, left out or unknown is said in `notes`: a key that may add weights and is not counted
// is never passed over.

import TABLES from "../../handful/model_config.json";
import { faultOf } from "./json_fault.js";

/**
 * @typedef {Record<string, any>} Config a config.json, of which nothing is known; hence `any`
 * @typedef {Record<string, number | undefined>} Counts
 * @typedef {Omit<Partial<import("../../handful_explorers/web/shapes.js").Shape>, "layers" | "d_model" | "heads"> & {
 *   name?: string, layers: number, d_model: number, heads: number
 * }} Read fields of custom_scenario.js, so far as they were found
 * @typedef {{ keys: string[], least: number, most: number }} Limits
 */

/** @type {Record<string, Limits>} */
const NUMBERS = TABLES.numbers;
export const LONGEST = 4_000_000; // characters of a text
const FAMILY = new RegExp(`^(${TABLES.families.join("|")})`);
const HARMLESS = new RegExp(`^(${TABLES.harmless.join("|")})$`, "s");
const FIXED = new RegExp(TABLES.fixed_state);
const READ = new Set([...TABLES.read, ...Object.values(NUMBERS).flatMap(({ keys }) => keys)]);

// What cannot be read, in one sentence.
class Refused extends Error {}

// Whether a key says anything: no null, no 0, nothing empty.
/** @param {unknown} value */
const isSet = (value) =>
  typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
/**
 * @param {string} text
 * @param {number} most
 */
const inOneLine = (text, most) =>
  [...text.replace(/[\s\p{Cc}\ufeff]+/gu, " ").trim()].slice(0, most).join("");
/** @param {string[]} names */
const listed = (names) =>
  names
    .slice(0, 12)
    .map((name) => inOneLine(name, 60))
    .join(", ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
/** @param {number} number */
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** @param {unknown} value */
function shown(value) {
  if (typeof value === "string") return `the text "${inOneLine(value, 40)}"`;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return Array.isArray(value) ? "a list" : "an object";
  if (!Number.isFinite(value)) return "no finite number";
  if (!Number.isInteger(value)) return "a fraction";
  return Math.abs(value) < 2 ** 53 ? grouped(value) : "a number beyond 2^53";
}

// → { config } or { problem }.
/**
 * @param {string} given
 * @returns {{ config: Config, problem?: undefined } | { config?: undefined, problem: string }}
 */
function parsed(given) {
  const text = given.replace(/^\ufeff/, "");
  let config;
  if (text.length > LONGEST)
    return {
      problem:
        `A config.json has some thousand characters, and this has more than ` +
        `${grouped(LONGEST)}.`,
    };
  // Python also writes Infinity and NaN, which JSON does not know; no field takes either.
  try {
    config = JSON.parse(text.replace(/([:[,]\s*)-?(?:Infinity|NaN)(?=\s*[,\]}])/g, "$11e999"));
  } catch {
    return { problem: faultOf(text, "hidden_size") };
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
  const isObject = (/** @type {unknown} */ one) =>
    typeof one === "object" && !Array.isArray(one) && isSet(one);
  const inner = ["text_config", "llm_config", "language_config"].find((key) =>
    isObject(outer[key]),
  );
  if (!inner) return outer;
  const others = Object.keys(outer).filter(
    (key) =>
      key.endsWith("_config") &&
      key !== inner &&
      !/quantization|compression/.test(key) &&
      isObject(outer[key]),
  );
  const config = { ...outer[inner] };
  for (const key of ["tie_word_embeddings", "_name_or_path"])
    if (!(key in config) && key in outer) config[key] = outer[key];
  notes.push(
    `Only the language model in ${inner} is ` +
      `counted${others.length ? `; left out: ${listed(others)}` : ""}.`,
  );
  return config;
}

/**
 * @param {Config} config
 * @param {string} type
 */
function refuseWhatNoShapeDescribes(config, type) {
  if (isSet(config.is_encoder_decoder))
    throw new Refused(
      "This model has an encoder beside its decoder, and only decoders are counted.",
    );
  /** @type {Record<string, string>} */
  const reasons = TABLES.unlike;
  let unlike = Object.keys(reasons)
    .filter((key) => isSet(config[key]))
    .map((key) => `${key}: ${reasons[key]}`);
  if (Array.isArray(config.attn_type_list) && config.attn_type_list.some((one) => !isSet(one)))
    unlike.push("attn_type_list: linear attention beside full attention");
  if (!unlike.length)
    unlike = TABLES.unlike_types
      .filter((entry) => new RegExp(entry.type).test(type))
      .map((entry) => `model_type ${inOneLine(type, 40)}: ${entry.is}`);
  if (unlike.length)
    throw new Refused(
      `The layers of this model are of different kinds (${unlike[0]}), which no shape ` +
        "describes, so nothing was counted.",
    );
}

// A list that says the same number for every layer is that number.
/** @param {unknown} value */
const oneOf = (value) =>
  Array.isArray(value) &&
  value.length &&
  (typeof value[0] !== "object" || value[0] === null) &&
  value.every((one) => one === value[0])
    ? value[0]
    : value;

/**
 * @param {string} key
 * @param {unknown} value
 * @param {{ least: number, most: number }} limits
 * @returns {number}
 */
function whole(key, value, { least, most }) {
  const one = oneOf(value);
  if (typeof one === "number" && Number.isInteger(one) && one >= least && one <= most) return one;
  if (Array.isArray(one))
    throw new Refused(
      `${key} differs from layer to layer, which no shape describes, so nothing was counted.`,
    );
  throw new Refused(
    `${key} must be a whole number from ${grouped(least)} to ${grouped(most)}; got ${shown(one)}.`,
  );
}

// The numbers that the tables list, each under the first of its keys that is there.
/**
 * @param {Config} config
 * @param {string} type
 * @param {string[]} notes
 */
function numbersOf(config, type, notes) {
  /** @type {Counts} */
  const found = {};
  const usual = Object.assign(
    {},
    ...TABLES.defaults
      .filter((entry) => new RegExp(entry.type).test(type))
      .map((entry) => entry.numbers),
  );
  for (const [name, { keys, ...limits }] of Object.entries(NUMBERS)) {
    const there = keys.filter((key) => config[key] !== undefined && config[key] !== null);
    if (there.length) {
      found[name] = whole(there[0], config[there[0]], limits);
      const other = there.find((key) => oneOf(config[key]) !== found[name]);
      if (other) notes.push(`${there[0]} and ${other} differ; ${there[0]} is taken.`);
    } else if (usual[name] !== undefined) {
      found[name] = usual[name];
      notes.push(`${keys[0]} is not given; for this type it is ${grouped(usual[name])}.`);
    } else if (TABLES.required.includes(name))
      throw new Refused(`This configuration has no ${keys[0]}, so its shape cannot be read.`);
  }
  return found;
}

// What kind of model it is, as far as its type says.
/**
 * @param {string} type
 * @param {string[]} notes
 * @returns {Partial<Read>}
 */
function familyOf(type, notes) {
  const known = TABLES.types.filter((entry) => new RegExp(entry.type).test(type));
  if (!known.length && !FAMILY.test(type))
    notes.push(
      type
        ? `The model type “${inOneLine(type, 40)}” is not known here; it is read like Llama: ` +
            "gates, two norms a layer, no biases."
        : "No model_type is given; the model is read like Llama: gates, two norms a layer, no " +
            "biases.",
    );
  return Object.assign({}, ...known.map((entry) => entry.fields));
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
  if (/^(gpt2|gpt_bigcode)/.test(type) && given.max_context)
    given.learned_positions = given.max_context;
}

// What stands beside the model, how its weights are stored, and which keys nobody has read.
/**
 * @param {Config} config
 * @param {Config} outer
 * @param {number} beside
 * @param {string[]} notes
 */
function remarks(config, outer, beside, notes) {
  if (beside)
    notes.push(
      `Left out: ${beside === 1 ? "a module" : `${beside} modules`} that ` +
        `predict${beside === 1 ? "s" : ""} further tokens beside the model.`,
    );
  const packed = [config, outer]
    .flatMap((one) => [one.quantization_config, one.compression_config])
    .find(isSet);
  if (packed) {
    const form = [packed.fmt, packed.quant_method].find(
      (one) => typeof one === "string" && one !== "",
    );
    notes.push(
      `The weights are stored in ${inOneLine(form ?? "another precision", 30)}; memory is counted ` +
        "in the precision that you choose.",
    );
  }
  const odd = Object.keys(config).filter(
    (key) => !READ.has(key) && !HARMLESS.test(key) && isSet(config[key]),
  );
  if (odd.length) notes.push(`Not counted, because it is not known what they add: ${listed(odd)}.`);
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
  try {
    return understood(outer);
  } catch (error) {
    if (error instanceof Refused) return { problem: error.message };
    throw error;
  }
}

/** @param {Config} outer */
function understood(outer) {
  /** @type {string[]} */
  const notes = [],
    config = languageModel(outer, notes),
    type = typeof config.model_type === "string" ? config.model_type : "";
  refuseWhatNoShapeDescribes(config, type);
  const found = numbersOf(config, type, notes),
    given = /** @type {Read} */ (familyOf(type, notes));
  for (const name of ["layers", "d_model", "heads", "vocab", "max_context"])
    if (found[name] !== undefined) Object.assign(given, { [name]: found[name] });
  attention(config, type, found, given, notes);
  windows(config, type, found, given, notes);
  feedForward(config, type, found, given, notes);
  embeddings(config, type, given, notes);
  remarks(config, outer, found.prediction_modules ?? 0, notes);
  const path = [config._name_or_path, config.name_or_path].find(isSet),
    last = typeof path === "string" ? inOneLine(path.split("/").pop() ?? "", 100) : "";
  if (last) given.name = last;
  return { given, notes };
}

/**
 * @param {Config} config
 * @param {string} type
 * @param {Counts} found
 * @param {Read} given
 * @param {string[]} notes
 */
function attention(config, type, found, given, notes) {
  if (found.kv_lora_rank) latentHeads(config, found, given, notes);
  else plainHeads(config, found, given, notes);
  const biased = [config.attention_bias, config.qkv_bias, config.use_bias].find(
    (one) => typeof one === "boolean",
  );
  if (biased === true && !given.attention_bias)
    given.attention_bias =
      new RegExp(TABLES.qkv_bias_only).test(type) ||
      config.qkv_bias === true ||
      config.attention_out_bias === false
        ? "qkv"
        : "all";
  if (biased === false) given.attention_bias = "none";
  if (given.kv_lora_rank && given.attention_bias && given.attention_bias !== "none")
    notes.push("Not counted: biases of latent attention (attention_bias).");
  if (config.use_qk_norm === true || config.qk_norm === true) given.qk_norm = true;
  if (config.use_qk_norm === false || config.qk_norm === false) given.qk_norm = false;
  if (config.qk_norm_type === "per_layer") given.qk_norm_whole = true;
  if (config.qk_norm_type === "per_head") given.qk_norm_whole = false;
  if (isSet(config.use_cla) && (found.layers_per_kv ?? 0) > 1)
    given.layers_per_kv = found.layers_per_kv;
}

/**
 * @param {Config} config
 * @param {Counts} found
 * @param {Read} given
 * @param {string[]} notes
 */
function latentHeads(config, found, given, notes) {
  for (const name of /** @type {const} */ (["rope_dim", "nope_dim", "v_head_dim"]))
    if (found[name] === undefined)
      throw new Refused(
        `Latent attention is described without ${NUMBERS[name].keys[0]}, so it cannot be counted.`,
      );
    else given[name] = found[name];
  given.kv_lora_rank = found.kv_lora_rank;
  given.q_lora_rank = found.q_lora_rank ?? 0;
  given.kv_heads = given.heads;
  given.head_dim = (found.rope_dim ?? 0) + (found.nope_dim ?? 0);
  if (!found.indexer_heads || !found.indexer_dim) return;
  given.indexer_heads = found.indexer_heads;
  given.indexer_dim = found.indexer_dim;
  const kinds = config.indexer_types;
  if (Array.isArray(kinds))
    given.indexer_layers = kinds
      .slice(0, given.layers)
      .filter((/** @type {unknown} */ kind) => kind !== "shared").length;
  else if (isSet(config.index_topk_freq) || isSet(config.index_topk_pattern))
    notes.push("Which layers share an indexer (index_topk_freq) is not read; each has its own.");
  notes.push(
    `An indexer chooses ${found.indexer_tokens ? grouped(found.indexer_tokens) : "some"} tokens ` +
      "of the context; its weights and keys are counted, and attention's arithmetic and reading " +
      "are counted as if every token were chosen.",
  );
}

/**
 * @param {Config} config
 * @param {Counts} found
 * @param {Read} given
 * @param {string[]} notes
 */
function plainHeads(config, found, given, notes) {
  const alone = config.multi_query === true ? 1 : given.heads;
  given.kv_heads = found.kv_heads ?? alone;
  if (found.kv_heads === undefined && alone > 1 && config.model_type !== "gpt2")
    notes.push(
      `num_key_value_heads is not given; keys and values are taken to have ${grouped(alone)} ` +
        "heads, as queries have.",
    );
  if (found.head_dim !== undefined) given.head_dim = found.head_dim;
  else if (given.d_model % given.heads === 0) {
    given.head_dim = given.d_model / given.heads;
    notes.push(
      `head_dim is not given; it is taken as hidden_size over heads, ${grouped(given.head_dim)}.`,
    );
  }
  if (found.v_head_dim && found.v_head_dim !== given.head_dim)
    notes.push("Not counted: values of another size than keys (v_head_dim).");
  if (found.indexer_heads || found.indexer_dim)
    notes.push("Not counted: an indexer beside attention that is not latent (index_n_heads).");
}

/**
 * @param {Config} config
 * @param {string} type
 * @param {Counts} found
 * @param {Read} given
 * @param {string[]} notes
 */
function windows(config, type, found, given, notes) {
  const kinds = layerKinds(config, found, given.layers);
  if (kinds) kindsOfLayers(kinds, found, given, notes);
  else if (found.window) plainWindow(config, type, found.window, found, given, notes);
  if (given.full_attention_layers === given.layers) {
    delete given.window_tokens;
    delete given.full_attention_layers;
  }
}

// The kind of each layer's attention, where the configuration lists them.
/**
 * @param {Config} config
 * @param {Counts} found
 * @param {number} layers
 * @returns {string[] | null}
 */
function layerKinds(config, found, layers) {
  if (Array.isArray(config.layer_types)) {
    if (config.layer_types.length < layers)
      throw new Refused(
        `layer_types lists ${grouped(config.layer_types.length)} layers, and there are ` +
          `${grouped(layers)}.`,
      );
    return config.layer_types
      .slice(0, layers)
      .map((kind) => (typeof kind === "string" ? kind : "unnamed"));
  }
  const every = found.full_every ?? 0;
  if (every > 1)
    return Array.from({ length: layers }, (_, i) =>
      (i + 1) % every ? "linear_attention" : "full_attention",
    );
  return null;
}

/**
 * @param {string[]} kinds
 * @param {Counts} found
 * @param {Read} given
 * @param {string[]} notes
 */
function kindsOfLayers(kinds, found, given, notes) {
  const isFixed = (/** @type {string} */ kind) => FIXED.test(kind),
    isWindowed = (/** @type {string} */ kind) => /^(sliding|chunked)_attention$/.test(kind),
    fixed = kinds.filter(isFixed).length,
    windowed = kinds.filter(isWindowed).length,
    odd = new Set(
      kinds.filter(
        (kind) =>
          !isFixed(kind) && !isWindowed(kind) && !/^(full_|deepseek_sparse_)?attention$/.test(kind),
      ),
    );
  if (odd.size) notes.push(`Layers of kind ${listed([...odd])} are counted as full attention.`);
  if (fixed) {
    Object.assign(given, { window_tokens: 1, full_attention_layers: given.layers - fixed });
    notes.push(
      `${grouped(fixed)} layers keep a state of fixed size instead of a cache: they are entered ` +
        "as layers with a window of one token, so the growing cache is right and the weights are " +
        "only roughly so.",
    );
    if (windowed) notes.push(`${grouped(windowed)} windowed layers are counted as full attention.`);
  } else if (windowed && !found.window)
    notes.push(
      `${grouped(windowed)} layers are windowed and no sliding_window is given, so they are ` +
        "counted as full attention.",
    );
  else if (windowed)
    Object.assign(given, {
      window_tokens: found.window,
      full_attention_layers: given.layers - windowed,
    });
}

// Windows by a pattern: one layer of so many attends to everything, or the first few do.
/**
 * @param {Config} config
 * @param {string} type
 * @param {number} window
 * @param {Counts} found
 * @param {Read} given
 * @param {string[]} notes
 */
function plainWindow(config, type, window, found, given, notes) {
  const isQwen = type.startsWith("qwen");
  if (config.use_sliding_window === false || (isQwen && config.use_sliding_window !== true)) return;
  given.window_tokens = window;
  if (/^llama4/.test(type)) {
    const plan = Array.isArray(config.no_rope_layers) ? config.no_rope_layers : [];
    given.full_attention_layers = plan.length
      ? Math.min(plan.filter((/** @type {unknown} */ one) => !isSet(one)).length, given.layers)
      : Math.floor(given.layers / 4);
    notes.push(
      `Chunks of ${grouped(window)} tokens (attention_chunk_size) are counted as windows.`,
    );
    return;
  }
  const pattern = [config.sliding_window_pattern, config._sliding_window_pattern].find(isSet);
  const every =
    typeof pattern === "number"
      ? whole("sliding_window_pattern", pattern, { least: 1, most: 2000 })
      : TABLES.patterns.find((entry) => new RegExp(entry.type).test(type))?.every;
  if (typeof pattern === "string" && /^[LG]+$/.test(pattern))
    given.full_attention_layers = Array.from(
      { length: given.layers },
      (_, i) => pattern[i % pattern.length],
    ).filter((kind) => kind === "G").length;
  else if (every) given.full_attention_layers = Math.floor(given.layers / every);
  else if (isQwen && found.windows_from !== undefined)
    given.full_attention_layers = Math.min(found.windows_from, given.layers);
  else {
    given.full_attention_layers = 0;
    notes.push(
      `A window of ${grouped(window)} tokens is given and no pattern, so all layers are taken as ` +
        "windowed.",
    );
  }
}

// How many layers have no experts.
/**
 * @param {Config} config
 * @param {Counts} found
 * @param {number} layers
 * @returns {number}
 */
function denseLayers(config, found, layers) {
  if (Array.isArray(config.mlp_layer_types))
    return config.mlp_layer_types
      .slice(0, layers)
      .filter((/** @type {unknown} */ kind) => kind === "dense").length;
  const freq = config.moe_layer_freq;
  if (Array.isArray(freq))
    return freq.slice(0, layers).filter((/** @type {unknown} */ one) => !isSet(one)).length;
  const every =
    found.experts_every ??
    (freq === undefined || freq === null
      ? 1
      : whole("moe_layer_freq", freq, { least: 0, most: 2000 }));
  return Math.max(
    found.dense_first ?? 0,
    every > 1 ? layers - Math.floor(layers / every) : 0,
    Array.isArray(config.mlp_only_layers) ? config.mlp_only_layers.length : 0,
  );
}

/**
 * @param {Config} config
 * @param {string} type
 * @param {Counts} found
 * @param {Read} given
 * @param {string[]} notes
 */
function experts(config, type, found, given, notes) {
  given.routed_experts = found.routed_experts;
  given.active_experts = found.active_experts ?? 1;
  if (found.active_experts === undefined)
    notes.push("num_experts_per_tok is not given; one expert a token is counted.");
  // the one width is the experts' own
  given.expert_dim = found.expert_dim ?? found.width;
  if (found.shared_experts !== undefined) given.shared_experts = found.shared_experts;
  const size = found.shared_width,
    own = given.expert_dim;
  if (size && !given.shared_experts) {
    if (own && size % own === 0) given.shared_experts = size / own;
    else
      notes.push(
        `Not counted: a shared expert of width ${grouped(size)}, which is no multiple of the ` +
          "experts' own.",
      );
  }
  given.dense_layers = denseLayers(config, found, given.layers);
  if (given.dense_layers) given.ffn_dim = found.dense_width ?? found.width;
  const routing = config.topk_method,
    noaux = typeof routing === "string" && routing.startsWith("noaux");
  if (noaux || config.use_routing_bias === true) given.router_bias = true;
  else if (typeof routing === "string" && /^deepseek|^kimi/.test(type)) delete given.router_bias;
}

/**
 * @param {Counts} found
 * @param {Read} given
 * @param {string[]} notes
 */
function oneBlock(found, given, notes) {
  delete given.shared_experts;
  delete given.shared_gate;
  delete given.router_bias;
  const wide = found.dense_width ?? found.width;
  given.ffn_dim = wide ?? 4 * given.d_model;
  if (wide === undefined)
    notes.push(
      "The feed-forward width is not given; it is taken as four times the model's, " +
        `${grouped(given.ffn_dim)}.`,
    );
}

/**
 * @param {Config} config
 * @param {string} type
 * @param {Counts} found
 * @param {Read} given
 * @param {string[]} notes
 */
function feedForward(config, type, found, given, notes) {
  if ((found.routed_experts ?? 0) > 1) experts(config, type, found, given, notes);
  else oneBlock(found, given, notes);
  if (config.mlp_bias === true) given.ffn_bias = true;
  const activation = [config.hidden_act, config.activation_function].find(isSet);
  if (
    given.gated !== false &&
    typeof activation === "string" &&
    /^(gelu|gelu_new|gelu_pytorch_tanh|relu|relu2)$/.test(activation) &&
    !/^gemma/.test(type)
  )
    notes.push(`The activation “${activation}” often goes without a gate, and gates are counted.`);
}
