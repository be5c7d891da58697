// A reader's own model and chip: which fields describe them, what these may hold, and how they
// travel in an address.
//
//   yours.model=name-My+model*layers-80*d_model-8192*…       every field that differs from
//                                                            a plain shape's
//   yours.hardware=bf16-989000000000000*memory_bandwidth-…   SI units
//
// A definition is an object of checked values; rowOf makes a row of the scenario bar of it.
import { formatValue } from "./units.js";
import { DEFAULTS, modelRow, shape, totalParameters } from "./shapes.js";

export const OWN = "yours";
const LARGEST = 1e15; // parameters: far below 2^53, so that counts are exact

// [name, words, group, limits]: a whole number unless `type` says otherwise; `scale` is the unit
// of a number that is typed without one, `blank` what an empty field stands for.
/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {string} group
 * @property {"int" | "real" | "bool" | "choice"} type
 * @property {number} min
 * @property {number} max
 * @property {string} [unit] that may be typed too
 * @property {number} [scale]
 * @property {string} [blank]
 * @property {string} [nought] why 0 is not to be typed, where blank stands for it
 * @property {FieldValue} [default]
 * @property {[string, string][]} [options]
 * @typedef {(field: string, text: string) => unknown} Say
 */

/**
 * @param {string} name
 * @param {string} label
 * @param {string} group
 * @param {Partial<Field>} rest
 * @returns {Field}
 */
const field = (name, label, group, rest = {}) => ({
  name,
  label,
  group,
  type: "int",
  min: 1,
  max: 1e6,
  ...rest,
});
const zero = { min: 0, default: 0 };

/** @type {Record<OwnKind, Field[]>} */
export const FIELDS = {
  model: [
    field("layers", "Layers", "size", { unit: "layer", max: 2000 }),
    field("d_model", "Width", "size", { max: 2e5 }),
    field("vocab", "Vocabulary", "size", { max: 1e7 }),
    field("max_context", "Longest context (tokens)", "size", {
      unit: "token",
      blank: "any",
      nought: "0 is no length; leave the field blank where any will do",
      ...zero,
      max: 1e9,
    }),
    field("tied_embeddings", "Embedding and output head are one", "size", { type: "bool" }),
    field("heads", "Heads", "attention", { max: 4096 }),
    field("kv_heads", "Heads of keys and values", "grouped", { max: 4096 }),
    field("head_dim", "Size of a head", "grouped", { max: 8192 }),
    field("kv_lora_rank", "Rank of the latent", "latent", { ...zero, max: 65536 }),
    field("rope_dim", "Part of a head that carries positions", "latent", { ...zero, max: 8192 }),
    field("nope_dim", "The rest of a head's key", "latent", { ...zero, max: 8192 }),
    field("v_head_dim", "Size of a head's value", "latent", { ...zero, max: 8192 }),
    field("q_lora_rank", "Rank of the queries", "latent", { blank: "full", ...zero, max: 65536 }),
    field("indexer_heads", "Heads of an indexer that chooses tokens", "latent", {
      blank: "none",
      ...zero,
      max: 4096,
    }),
    field("indexer_dim", "Size of such a head", "latent", { blank: "none", ...zero, max: 8192 }),
    field("indexer_layers", "Layers with an indexer of their own", "latent", {
      unit: "layer",
      blank: "all",
      min: 0,
      max: 2000,
      default: null,
    }),
    field("window_tokens", "Window of the windowed layers (tokens)", "attention", {
      unit: "token",
      blank: "none",
      nought: "0 is no window; leave the field blank where no layer has one",
      ...zero,
      max: 1e7,
    }),
    field("full_attention_layers", "Layers that attend to everything", "attention", {
      unit: "layer",
      blank: "all",
      min: 0,
      max: 2000,
      default: null,
    }),
    field("ffn_dim", "Width of a dense feed-forward block", "feed", { ...zero, max: 1e7 }),
    field("routed_experts", "Experts in a layer", "experts", { ...zero, max: 1e5 }),
    field("active_experts", "Experts that a token uses", "experts", { ...zero, max: 1e5 }),
    field("shared_experts", "Shared experts beside them", "experts", {
      blank: "none",
      ...zero,
      max: 1e4,
    }),
    field("expert_dim", "Width of an expert", "experts", { ...zero, max: 1e6 }),
    field("dense_layers", "Layers with no experts", "experts", {
      unit: "layer",
      blank: "none",
      ...zero,
      max: 2000,
    }),
    field("gated", "Feed-forward blocks have a gate (three matrices)", "fine", {
      type: "bool",
      default: true,
    }),
    field("attention_bias", "Biases in attention", "fine", {
      type: "choice",
      default: "none",
      options: [
        ["none", "none"],
        ["qkv", "queries, keys and values"],
        ["all", "output too"],
      ],
    }),
    field("qk_norm", "Queries and keys are normalised", "fine", { type: "bool" }),
    field("qk_norm_whole", "These norms span all heads", "fine", { type: "bool" }),
    field("attention_sinks", "A sink for each head", "fine", { type: "bool" }),
    field("shared_gate", "A gate weighs the shared experts", "fine", { type: "bool" }),
    field("ffn_bias", "Biases in feed-forward blocks", "fine", { type: "bool" }),
    field("router_bias", "A bias for each expert in the router", "fine", { type: "bool" }),
    field("norms_per_layer", "Norms in a layer", "fine", { min: 0, max: 8, default: 2 }),
    field("norm_bias", "Norms have biases", "fine", { type: "bool" }),
    field("learned_positions", "Learned positions", "fine", {
      unit: "token",
      blank: "none",
      ...zero,
      max: 1e7,
    }),
    field("layers_per_kv", "Layers that share a cache", "fine", { max: 64, default: 1 }),
  ],
  hardware: [
    field("bf16", "Peak in bf16, dense (TFLOP/s)", "peak", {
      unit: "FLOP/s",
      type: "real",
      scale: 1e12,
      min: 1e9,
      max: 1e19,
      default: null,
    }),
    field("fp8", "Peak in fp8, dense (TFLOP/s)", "peak", {
      unit: "FLOP/s",
      blank: "none",
      type: "real",
      scale: 1e12,
      min: 1e9,
      max: 1e19,
      default: null,
    }),
    field("fp4", "Peak in fp4, dense (TFLOP/s)", "peak", {
      unit: "FLOP/s",
      blank: "none",
      type: "real",
      scale: 1e12,
      min: 1e9,
      max: 1e19,
      default: null,
    }),
    field("memory_bandwidth", "Memory bandwidth (TB/s)", "memory", {
      unit: "B/s",
      type: "real",
      scale: 1e12,
      min: 1e8,
      max: 1e17,
    }),
    field("memory_capacity", "Memory (GB)", "memory", {
      unit: "B",
      type: "real",
      scale: 1e9,
      min: 1e8,
      max: 1e16,
    }),
    field("domain_devices", "Chips in the fast network", "network", { unit: "chip", max: 1e5 }),
    field("devices", "Of these, chips that serve a copy", "network", {
      unit: "chip",
      blank: "all",
      max: 1e5,
      default: null,
    }),
    field("scale_up_bandwidth", "Fast network, each way (GB/s a chip)", "network", {
      unit: "B/s",
      blank: "unknown",
      type: "real",
      scale: 1e9,
      min: 1e6,
      max: 1e17,
      default: null,
    }),
    field("scale_out_bandwidth", "Out of it, each way (GB/s a chip)", "network", {
      unit: "B/s",
      blank: "unknown",
      type: "real",
      scale: 1e9,
      min: 1e6,
      max: 1e17,
      default: null,
    }),
    field("device_price", "Price of a chip (dollars an hour)", "price", {
      unit: "$/chip/s",
      blank: "unknown",
      type: "real",
      scale: 1 / 3600,
      min: 1e-9,
      max: 1,
      default: null,
    }),
  ],
};

/** @param {Field} field */
function usual({ type, default: value }) {
  return value === undefined && type === "bool" ? false : value;
}
/** @param {unknown} value */
const short = (value) => `“${String(value).slice(0, 40)}”`;
/** @param {number} value */
const tell = (value) => formatValue(value, "1", 6);

// One value, in base units; a sentence where it will not do.
/**
 * @param {Field} f
 * @param {unknown} value
 * @returns {{ value: FieldValue, problem?: undefined } | { value?: undefined, problem: string }}
 */
function checked(f, value) {
  if (value === undefined || value === null || value === "") {
    const found = usual(f);
    return found === undefined ? { problem: `${f.label}: a number is missing.` } : { value: found };
  }
  if (f.type === "bool")
    return typeof value === "boolean"
      ? { value }
      : { problem: `${f.label}: true or false is allowed, and ${short(value)} is neither.` };
  if (f.type === "choice") {
    const options = f.options ?? [];
    return options.some(([name]) => name === value)
      ? { value: /** @type {string} */ (value) }
      : {
          problem:
            `${f.label}: allowed are ${options.map(([name]) => name).join(", ")}, and ` +
            `${short(value)} is none of them.`,
        };
  }
  const scale = f.scale || 1;
  if (
    typeof value === "number" &&
    value >= f.min &&
    value <= f.max &&
    (f.type === "real" || Number.isInteger(value))
  )
    return { value };
  const least = Number((f.min / scale).toPrecision(3)),
    most = Number((f.max / scale).toPrecision(3));

  const given =
    typeof value === "number" && Number.isFinite(value)
      ? tell(Number((value / scale).toPrecision(6)))
      : short(value);
  return {
    problem:
      `${f.label}: a ${f.type === "int" ? "whole " : ""}number from ${tell(least)} to ` +
      `${tell(most)} is allowed${Number.isNaN(value) ? "" : `, and ${given} is not one`}.`,
  };
}

/**
 * @param {import('./shapes.js').Shape} s
 * @param {Say} say
 */
function expertContradictions(s, say) {
  if (!s.active_experts) say("active_experts", "A token must use at least one expert.");
  if (s.active_experts > s.routed_experts)
    say(
      "active_experts",
      `A token cannot use more experts than a layer has; ${s.active_experts} of ` +
        `${s.routed_experts} were asked for.`,
    );
  if (!s.expert_dim) say("expert_dim", "Experts need a width.");
  if (s.dense_layers >= s.layers)
    say(
      "dense_layers",
      `At least one of the ${s.layers} layers must have experts; ${s.dense_layers} were to ` +
        "have none.",
    );
  if (s.dense_layers && !s.ffn_dim)
    say("ffn_dim", "Layers with no experts need the width of a dense feed-forward block.");
}

/**
 * @param {import('./shapes.js').Shape} s
 * @param {Say} say
 */
function indexerContradictions(s, say) {
  if (s.indexer_heads && !s.indexer_dim) say("indexer_dim", "An indexer's heads need a size.");
  if ((s.indexer_layers ?? 0) > s.layers)
    say(
      "indexer_layers",
      `Layers with an indexer are at most all ${s.layers}; ${s.indexer_layers} were given.`,
    );
}

// What the fields of a model contradict in each other: [field, sentence].
/**
 * @param {import('./shapes.js').Shape} s
 * @returns {Fault[]}
 */
function contradictions(s) {
  /** @type {Fault[]} */
  const found = [],
    /** @type {Say} */
    say = (name, text) => found.push({ field: name, text }),
    latent = s.kv_lora_rank > 0;
  if (!latent && s.heads % s.kv_heads)
    say(
      "kv_heads",
      `Heads must be a multiple of the heads of keys and values; ${s.heads} is no multiple of ` +
        `${s.kv_heads}.`,
    );
  if (latent && !(s.nope_dim + s.rope_dim))
    say(
      "nope_dim",
      "A head of latent attention needs a size: the part that carries positions, the rest, or " +
        "both.",
    );
  if (latent && !s.v_head_dim)
    say("v_head_dim", "Latent attention needs the size of a head's value.");
  indexerContradictions(s, say);
  const full = s.full_attention_layers ?? s.layers;
  if (full > s.layers)
    say(
      "full_attention_layers",
      `Layers that attend to everything are at most all ${s.layers}; ${full} were given.`,
    );
  if (full < s.layers && !s.window_tokens)
    say(
      "window_tokens",
      `${s.layers - full} layers do not attend to everything, so they need a window above 0.`,
    );
  if (latent && full < s.layers)
    say(
      "full_attention_layers",
      "Windows with latent attention are not counted here; leave these fields blank.",
    );
  if (s.routed_experts > 0) expertContradictions(s, say);
  else if (!s.ffn_dim) say("ffn_dim", "Without experts, the feed-forward block needs a width.");
  if (!found.length && !(totalParameters(s) <= LARGEST))
    say(
      "layers",
      `This shape has more than ${tell(LARGEST)} parameters, which is more than the page ` +
        "counts exactly.",
    );
  return found;
}

// What one part of a definition makes meaningless falls back, so that equal models have equal
// definitions.
/**
 * @param {OwnKind} kind
 * @param {Definition} values
 */
function settled(kind, values) {
  if (kind !== "model") return values;
  if (values.kv_lora_rank)
    Object.assign(values, {
      kv_heads: values.heads,
      head_dim: Number(values.nope_dim) + Number(values.rope_dim) || values.head_dim,
    });
  else {
    for (const name of ["rope_dim", "nope_dim", "v_head_dim", "q_lora_rank"]) values[name] = 0;
    values.indexer_heads = 0;
  }
  if (!values.indexer_heads) Object.assign(values, { indexer_dim: 0, indexer_layers: null });
  if (!values.qk_norm) values.qk_norm_whole = false;
  if (!values.routed_experts)
    Object.assign(values, {
      active_experts: 0,
      shared_experts: 0,
      shared_gate: false,
      expert_dim: 0,
      dense_layers: 0,
    });
  if (!values.window_tokens && values.full_attention_layers === values.layers)
    values.full_attention_layers = null;
  return values;
}

/** @param {unknown} value */
const isAbove0 = (value) => Number(value) > 0;

// → { definition, problems: [{ field, text }] }; a definition only where nothing is wrong.
/**
 * @param {OwnKind} kind
 * @param {Given} given
 * @returns {{ definition?: Definition, problems: Fault[] }}
 */
export function check(kind, given) {
  /** @type {Definition} */
  const values = {},
    /** @type {Fault[]} */
    problems = [];
  const latent = kind === "model" && isAbove0(given.kv_lora_rank);
  for (const f of FIELDS[kind]) {
    const spare = latent && f.group === "grouped"; // a latent stands for all heads
    const { value, problem } = checked(f, spare ? 1 : given[f.name]);
    if (problem) problems.push({ field: f.name, text: problem });
    else values[f.name] = value;
  }
  settled(kind, values);
  if (!problems.length && kind === "model") problems.push(...contradictions(shape(values)));
  if (!problems.length && kind === "hardware") {
    if (values.bf16 === null && values.fp8 === null && values.fp4 === null)
      problems.push({ field: "bf16", text: "A chip needs a peak in at least one precision." });
    if (Number(values.devices) > Number(values.domain_devices))
      problems.push({
        field: "devices",
        text:
          `The chips that serve one copy are at most the ${values.domain_devices} in the fast ` +
          `network; ${values.devices} were given.`,
      });
  }
  const name = String(given.name ?? "")
    .replace(/[*\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, 40);
  return problems.length
    ? { problems }
    : { definition: name ? { name, ...values } : values, problems };
}

// Only what differs from a plain shape or chip travels.
/**
 * @param {OwnKind} kind
 * @param {Definition} definition
 */
export function encode(kind, definition) {
  const parts = definition.name ? [`name-${definition.name}`] : [];
  const latent = isAbove0(definition.kv_lora_rank);
  for (const f of FIELDS[kind]) {
    const value = definition[f.name];
    if (value === usual(f) || (latent && f.group === "grouped")) continue;
    parts.push(`${f.name}-${typeof value === "boolean" ? Number(value) : value}`);
  }
  return parts.join("*");
}

// A value out of an address; one that does not fit its field stays text, and check says so.
/**
 * @param {Field} field
 * @param {string} text
 */
function readField({ type }, text) {
  if (type === "bool" && /^[01]$/.test(text)) return text === "1";
  const isNumber = text.trim() !== "" && Number.isFinite(Number(text));
  return isNumber && (type === "int" || type === "real") ? Number(text) : text;
}

/**
 * @param {OwnKind} kind
 * @param {string} text
 * @returns {{ definition?: Definition, problems: Fault[] }}
 */
export function decode(kind, text) {
  /** @type {Given} */
  const given = {},
    /** @type {Fault[]} */
    problems = [],
    known = new Map(FIELDS[kind].map((f) => [f.name, f]));
  for (const part of text.slice(0, 2000).split("*")) {
    const cut = part.indexOf("-"),
      name = part.slice(0, cut),
      value = part.slice(cut + 1),
      f = known.get(name);
    if (name === "name") given.name = value;
    else if (cut < 0 || !f)
      problems.push({
        field: name,
        text: `${short(part)} is no field of a ${kind === "model" ? "model" : "chip"}.`,
      });
    else given[name] = readField(f, value);
  }
  if (problems.length) return { problems };
  return check(kind, given);
}

/** @type {Record<OwnKind, string>} */
const NOUN = { model: "model", hardware: "chip" };
/**
 * @param {OwnKind} kind
 * @param {Definition} definition
 */
export const titleOf = (kind, { name }) =>
  name ? `${name} (your ${NOUN[kind]})` : `Your ${NOUN[kind]}`;

/**
 * @typedef {Record<
 *   "memory_bandwidth" | "memory_capacity" | "domain_devices", number
 * > & Record<
 *   "bf16" | "fp8" | "fp4" | "devices" | "scale_up_bandwidth" | "scale_out_bandwidth" |
 *     "device_price",
 *   number | null
 * >} OwnChip
 */

// A row as those of the book.
/**
 * @template {OwnKind} K
 * @param {K} kind
 * @param {Definition} definition
 * @returns {Rows[K][number]}
 */
export function rowOf(kind, definition) {
  const row = {
    name: OWN,
    own: true,
    label: titleOf(kind, definition),
    verified: true,
    source: "what you gave",
  };
  // What a kind's row holds follows from the kind, which the type of a template cannot say.
  return /** @type {Rows[K][number]} */ (
    kind === "model"
      ? { ...row, ...modelRow(shape(definition)) }
      : { ...row, ...chipRow(/** @type {OwnChip} */ (definition)) }
  );
}

/** @param {OwnChip} chip */
function chipRow({
  bf16,
  fp8,
  fp4,
  memory_bandwidth,
  memory_capacity,
  domain_devices,
  devices,
  scale_up_bandwidth,
  scale_out_bandwidth,
  device_price,
}) {
  const peak_flops = Object.fromEntries(
    Object.entries({ bf16, fp8, fp4 }).filter(([, peak]) => peak),
  );
  return {
    peak_flops,
    values: {
      memory_bandwidth,
      memory_capacity,
      devices: devices ?? domain_devices,
      device_price,
      domain_devices,
      scale_up_bandwidth,
      scale_out_bandwidth,
    },
  };
}

// A chip of the book as the fields that would describe it.
/**
 * @param {Chip} row
 * @returns {Given}
 */
export function fieldsOf(row) {
  const { devices, domain_devices } = row.values,
    { bf16, fp8, fp4 } = row.peak_flops;
  return {
    ...row.values,
    bf16: bf16 ?? null,
    fp8: fp8 ?? null,
    fp4: fp4 ?? null,
    devices: devices === domain_devices ? null : devices,
  };
}

export { DEFAULTS };
