// Numbers as a reader wants them; the twin of units.py, same text to the character.
// Rounding works on decimal digits (toExponential rounds half up, as units.py does), never on a
// scaled float.

const NBSP = "\u00a0",
  MINUS = "\u2212";
/**
 * A unit as it is written.
 *
 * @typedef {object} Form
 * @property {"si" | "count" | "money"} kind
 * @property {string} one
 * @property {string} many
 * @property {number} factor from the base unit to the one that is shown
 * @property {number} low the least exponent of a prefix
 * @property {string} hint what an axis title says of it
 * @property {number} high the greatest exponent of a prefix
 */

/**
 * @param {Form['kind']} kind
 * @param {string} one
 * @param {string} many
 * @param {{ factor?: number, low?: number, hint?: string, high?: number }} [limits]
 * @returns {Form}
 */
const unit = (kind, one, many, { factor = 1, low = 0, hint = "", high = 24 } = {}) => ({
  kind,
  one,
  many,
  factor,
  low,
  hint,
  high,
});

/** @type {Record<string, Form>} */
export const UNITS = {
  s: unit("si", "s", "s", { low: -12 }),
  B: unit("si", "B", "B"),
  bit: unit("si", "bit", "bit"),
  "B/s": unit("si", "B/s", "B/s", { hint: "B/s" }),
  "B/token": unit("si", "B/token", "B/token", { hint: "B per token" }),
  "B/parameter": unit("si", "B/parameter", "B/parameter", { hint: "B per parameter" }),
  FLOP: unit("si", "FLOP", "FLOP", { hint: "FLOP", high: 15 }),
  "FLOP/s": unit("si", "FLOP/s", "FLOP/s", { hint: "FLOP/s" }),
  "FLOP/B": unit("count", "FLOP/B", "FLOP/B", { hint: "FLOP/B" }),
  W: unit("si", "W", "W", { low: -3 }),
  $: unit("money", "", "", { hint: "$" }),
  "$/token": unit("money", `per million${NBSP}tokens`, "", {
    factor: 1e6,
    hint: "$ per million tokens",
  }),
  "$/token/s": unit("money", `per million${NBSP}token-hours`, "", {
    factor: 3.6e9,
    hint: "$ per million token-hours",
  }),
  "$/B": unit("money", "per GB", "", { factor: 1e9, hint: "$ per GB" }),
  "$/B/s": unit("money", "per GB-hour", "", { factor: 3.6e12, hint: "$ per GB-hour" }),
  "$/device/s": unit("money", "per chip-hour", "", { factor: 3600, hint: "$ per chip-hour" }),
  token: unit("count", "token", "tokens", { hint: "tokens" }),
  "token/s": unit("count", "token/s", "tokens/s", { hint: "tokens/s" }),
  sequence: unit("count", "sequence", "sequences", { hint: "sequences" }),
  parameter: unit("count", "parameter", "parameters", { hint: "parameters" }),
  device: unit("count", "chip", "chips", { hint: "chips" }),
  "device·s": unit("count", "chip-hour", "chip-hours", { factor: 1 / 3600, hint: "chip-hours" }),
  layer: unit("count", "layer", "layers", { hint: "layers" }),
  1: unit("count", "", ""),
  "%": unit("count", "%", "%", { factor: 100, hint: "%" }),
};

/** @type {Record<number, string>} */
const PREFIX = {
  "-12": "p",
  "-9": "n",
  "-6": "µ",
  "-3": "m",
  0: "",
  3: "k",
  6: "M",
  9: "G",
  12: "T",
  15: "P",
  18: "E",
  21: "Z",
  24: "Y",
};
/** @type {Record<number, string>} */
const WORD = { 6: "million", 9: "billion", 12: "trillion", 15: "quadrillion" };
/** @type {Record<number, string>} */
const SHORT = { 3: "k", 6: "M", 9: "bn", 12: "tn", 15: "qn" };
/** @type {Record<string, string>} */
const RAISED = {
  "-": "⁻",
  0: "⁰",
  1: "¹",
  2: "²",
  3: "³",
  4: "⁴",
  5: "⁵",
  6: "⁶",
  7: "⁷",
  8: "⁸",
  9: "⁹",
};
/** @type {[number, number, string][]} */
export const LONG_TIMES = [
  [172800, 86400, "days"],
  [7200, 3600, "h"],
  [120, 60, "min"],
];

/**
 * @param {string} name
 * @returns {Form}
 */
function find(name) {
  if (!Object.hasOwn(UNITS, name))
    throw new Error(`There is no unit '${name}'; there are ${Object.keys(UNITS).join(", ")}.`);
  return UNITS[name];
}

// The significant digits of a positive value and its decimal exponent: 0.0231 → ["231", -2].
/**
 * @param {number} value
 * @param {number} digits
 * @returns {[string, number]}
 */
function round(value, digits) {
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return [mantissa.replace(".", ""), Number(exponent)];
}

/**
 * @param {string} figures
 * @param {number} exponent
 * @param {number} [decimals]
 * @returns {string}
 */
function place(figures, exponent, decimals = 0) {
  let whole = "0",
    part;
  if (exponent >= 0) {
    figures = figures.padEnd(exponent + 1, "0");
    whole = figures.slice(0, exponent + 1).replace(/^0+(?=\d)/, "");
    part = figures.slice(exponent + 1);
  } else {
    part = "0".repeat(-exponent - 1) + figures;
  }
  part = part.replace(/0+$/, "").padEnd(decimals, "0");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? "." + part : "");
}

/**
 * @param {string} figures
 * @param {number} exponent
 * @returns {string}
 */
const power = (figures, exponent) =>
  `${place(figures, 0)}${NBSP}×${NBSP}10${[...String(exponent)].map((c) => RAISED[c]).join("")}`;
/**
 * @param {string} figures
 * @param {number} exponent
 * @returns {string}
 */
const decade = (figures, exponent) => power(figures, exponent).replace(/^1\u00a0×\u00a0/, "");
/** @param {number} exponent */
const thirds = (exponent) => Math.floor(exponent / 3) * 3;

/**
 * @param {number} value
 * @param {string} name
 * @param {number} [digits]
 * @returns {string}
 */
export function formatValue(value, name, digits = 3) {
  const form = find(name);
  if (Number.isNaN(value)) return "–";
  const sign = value < 0 ? MINUS : "",
    size = Math.abs(value) * form.factor;
  if (size === Infinity) return sign + "∞";
  if (form.kind === "money") {
    const text = sign + "$" + money(size, digits);
    return form.one ? `${text} ${form.one}` : text;
  }
  let text, word;
  if (size === 0) [text, word] = ["0", form.many];
  else if (form.kind === "si") [text, word] = si(size, form, digits);
  else {
    [text, word] = count(size, digits);
    if (word) word = `${word} ${form.many}`.trim();
    else word = text === "1" ? form.one : form.many;
  }
  return sign + text + (word ? NBSP + word : "");
}

/**
 * @param {number} size
 * @param {Form} form
 * @param {number} digits
 * @returns {[string, string]}
 */
function si(size, form, digits) {
  if (form.one === "s") {
    for (const [start, length, word] of LONG_TIMES)
      if (size >= start) return [place(...round(size / length, digits)), word];
  }
  const [figures, exponent] = round(size, digits);
  let step = Math.min(Math.max(thirds(exponent), form.low), 24);
  if (form.one === "s") step = Math.min(step, 0);
  if (exponent - step < -3 || exponent > form.high + 2) return [power(figures, exponent), form.one];
  return [place(figures, exponent - step), PREFIX[step] + form.one];
}

/**
 * @param {number} size
 * @param {number} digits
 * @returns {[string, string]}
 */
function count(size, digits) {
  const [figures, exponent] = round(size, digits);
  if (exponent >= 18 || exponent < -4) return [power(figures, exponent), ""];
  const step = thirds(exponent);
  return step >= 6 ? [place(figures, exponent - step), WORD[step]] : [place(figures, exponent), ""];
}

/**
 * @param {number} size
 * @param {number} digits
 * @returns {string}
 */
function money(size, digits) {
  if (size === 0) return "0";
  const [, decimal] = round(size, 17);
  const wanted = decimal > 1 ? digits : Math.max(2, decimal + 3) + Math.max(0, digits - 3);
  const [figures, exponent] = round(size, wanted);
  if (exponent >= 6) {
    const [text, word] = count(size, digits);
    return word ? `${text}${NBSP}${word}` : text;
  }
  if (exponent < -4) return power(figures, exponent);
  return place(figures, exponent, exponent >= -1 && exponent <= 1 ? 2 : 0);
}

/**
 * @param {number} value
 * @param {string} name
 * @returns {string}
 */
export function formatTick(value, name) {
  const form = find(name),
    isMoney = form.kind === "money";
  const sign = value < 0 ? MINUS : "",
    size = Math.abs(value) * form.factor;
  if (size === 0) return isMoney ? "$0" : "0";
  if (form.kind === "si" && !form.hint) return sign + si(size, form, 3).join(NBSP);
  const [figures, exponent] = round(size, 3);
  const lowest = form.kind === "si" ? form.low : 0;
  const step = exponent < 18 ? Math.max(thirds(exponent), lowest) : 15;
  let text,
    word = "";
  if (form.kind === "si" && exponent > form.high + 2) {
    return sign + decade(figures, exponent);
  }
  if (exponent < -4) text = decade(figures, exponent);
  else {
    text = place(figures, exponent - step);
    if (isMoney && (text.split(".")[1] || "").length === 1) text += "0";
    word = (form.kind === "si" ? PREFIX : SHORT)[step] || "";
  }
  return sign + (isMoney ? "$" : "") + text + (word ? NBSP + word : "");
}

// What round values of an axis are multiples of: a day where it counts days, else 1.
/**
 * @param {string} name
 * @param {number} high
 */
export const tickStep = (name, high) => (name === "s" && high >= 864000 ? 86400 : 1);

/**
 * @param {number} mantissa
 * @param {number} from
 * @param {number} to
 */
const powers = (mantissa, from, to) =>
  Array.from({ length: to - from }, (_, i) => Number(`${mantissa}e${from + i}`));
const TIMES = [...powers(1, -12, 3), 600, 7200, ...powers(864, 2, 8)];
const FINE_TIMES = [...TIMES, ...powers(3, -12, 2), 300, 1800, 28800, ...powers(2592, 2, 8)].sort(
  (a, b) => a - b,
);

// The round times from low to high, in seconds: decades of seconds, 10 min, 2 h, then decades of
// days.
/**
 * @param {number} low
 * @param {number} high
 * @param {boolean} [fine]
 */
export const roundTimes = (low, high, fine = false) =>
  (fine ? FINE_TIMES : TIMES).filter((time) => low <= time && time <= high);

// A number with what it counts: “1 card”, “1,200 cards”, “2 entries”.
/**
 * @param {number} n
 * @param {string} noun
 * @param {string} [nouns]
 */
export const plural = (n, noun, nouns = `${noun}s`) =>
  `${n.toLocaleString("en")} ${n === 1 ? noun : nouns}`;

/** @param {string} name */
export function axisHint(name) {
  const { hint } = find(name);
  return hint ? ` (${hint})` : "";
}

// A title with its unit, unless the tick labels or a word of the title say it.
/**
 * @param {string} title
 * @param {string} name
 */
export const axisTitle = (title, name) =>
  title.toLowerCase().split(/\s+/).includes(find(name).hint) ? title : title + axisHint(name);
