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
  bit: unit("count", "bit", "bits", { hint: "bits" }),
  "B/s": unit("si", "B/s", "B/s"),
  "B/token": unit("si", "B/token", "B/token", { hint: "per token" }),
  "B/parameter": unit("si", "B/parameter", "B/parameter", { hint: "per parameter" }),
  FLOP: unit("si", "FLOP", "FLOP", { hint: "FLOP", high: 15 }),
  "FLOP/s": unit("si", "FLOP/s", "FLOP/s"),
  "FLOP/B": unit("count", "FLOP/B", "FLOP/B", { hint: "FLOP/B" }),
  "FLOP/J": unit("si", "FLOP/J", "FLOP/J"),
  "FLOP/$": unit("si", "FLOP/$", "FLOP/$"),
  "B/$": unit("si", "B/$", "B/$"),
  W: unit("si", "W", "W", { low: -3 }),
  Wh: unit("si", "Wh", "Wh", { factor: 1 / 3600 }),
  "J/token": unit("si", "J/token", "J/token", { low: -3, hint: "per token" }),
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
  "$/J": unit("money", "per kWh", "", { factor: 3.6e6, hint: "$ per kWh" }),
  "$/device/s": unit("money", "per chip-hour", "", { factor: 3600, hint: "$ per chip-hour" }),
  token: unit("count", "token", "tokens", { hint: "tokens" }),
  "token/s": unit("count", "token/s", "tokens/s", { hint: "tokens/s" }),
  sequence: unit("count", "sequence", "sequences", { hint: "sequences" }),
  "sequence/s": unit("count", "request/s", "requests/s", { hint: "requests/s" }),
  parameter: unit("count", "parameter", "parameters", { hint: "parameters" }),
  device: unit("count", "chip", "chips", { hint: "chips" }),
  "device·s": unit("count", "chip-hour", "chip-hours", { factor: 1 / 3600, hint: "chip-hours" }),
  layer: unit("count", "layer", "layers", { hint: "layers" }),
  cent: unit("count", "cent", "cents", { hint: "cents" }),
  times: unit("count", "time", "times", { hint: "times" }),
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
function power(figures, exponent) {
  const raised = `10${[...String(exponent)].map((c) => RAISED[c]).join("")}`,
    factor = place(figures, 0);
  return factor === "1" ? raised : `${factor}${NBSP}×${NBSP}${raised}`;
}
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

// As many digits as a value is written with, where a whole count is named to its last one.
/**
 * @param {number} value
 * @param {string} name
 * @param {number} [others] digits of what is no whole count
 */
export const digitsOf = (value, name, others = 4) =>
  find(name).kind === "count" && value < 1e7 && Number.isInteger(value) ? 7 : others;

// A number and its unit, with the prefix that `like` would have, where that is given.
/**
 * @param {number} size
 * @param {Form} form
 * @param {number} digits
 * @param {number} [like]
 * @returns {[string, string]}
 */
function si(size, form, digits, like = 0) {
  const leading = like || size;
  if (form.one === "s") {
    for (const [start, length, word] of LONG_TIMES)
      if (leading >= start || leading === length) {
        const text = place(...round(size / length, digits));
        return [text, text === "1" ? word.replace(/s$/, "") : word];
      }
  }
  const [figures, exponent] = round(size, digits);
  let step = Math.min(Math.max(thirds(round(leading, digits)[1]), form.low), 24);
  if (form.one === "s") step = Math.min(step, 0);
  if (exponent - step < -3 || exponent > form.high + 2) return [power(figures, exponent), form.one];
  return [place(figures, exponent - step), PREFIX[step] + form.one];
}

/**
 * @param {number} size
 * @param {number} digits
 * @param {number} [like]
 * @returns {[string, string]}
 */
function count(size, digits, like = 0) {
  const [figures, exponent] = round(size, digits);
  if (exponent >= 18 || exponent < -4) return [power(figures, exponent), ""];
  // Nobody says 1.04858 million.
  if (size >= 1e6 && size < 1e7 && digits > 4 && size % 1 === 0 && size % 1000)
    return [place(String(size), 6), ""];
  const step = Math.min(thirds(round(like || size, digits)[1]), 15);
  return step >= 6 ? [place(figures, exponent - step), WORD[step]] : [place(figures, exponent), ""];
}

// A price is written out to a tenth of a millionth of a dollar.
const LEAST_MONEY = -7;

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
  if (exponent < LEAST_MONEY) return power(figures, exponent);
  return place(figures, exponent, exponent >= -1 && exponent <= 1 ? 2 : 0).replace(/\.00$/, "");
}

// With the prefix or word that `like` would have, where that is given.
/**
 * @param {number} value
 * @param {string} name
 * @param {number} [like]
 * @returns {string}
 */
export function formatTick(value, name, like = 0) {
  const form = find(name),
    isMoney = form.kind === "money",
    powers = form.high < 24;
  const sign = value < 0 ? MINUS : "",
    size = Math.abs(value) * form.factor,
    leading = Math.abs(like) * form.factor;
  if (size === 0) return isMoney ? "$0" : "0";
  const [figures, exponent] = round(size, 3);
  if (powers && exponent > 4) return sign + power(figures, exponent);
  let number,
    word = "";
  if (form.kind === "si") {
    [number, word] = si(size, form, 3, leading);
    word = powers ? "" : word.replace(/\/(token|parameter)$/, "");
  } else if (isMoney && exponent < 6 && leading < 1e6) {
    number = (exponent < LEAST_MONEY ? power : place)(figures, exponent);
    if (/^\d+\.\d$/.test(number)) number += "0";
  } else [number, word] = count(size, 3, leading);
  return sign + (isMoney ? "$" : "") + number + (word ? NBSP + word : "");
}

// The labels of an axis, in one style: on a linear axis all have the prefix or word of the last
// one; on a log axis whose shares are powers of ten, all below one are.
/**
 * @param {number[]} values
 * @param {string} name
 * @param {boolean} log
 */
export function formatTicks(values, name, log) {
  const { kind, factor } = find(name);
  if (!log) {
    const last = Math.max(0, ...values.map(Math.abs));
    return values.map((value) => formatTick(value, name, last));
  }
  const small = kind === "count" && values.some((value) => round(value * factor, 3)[1] < -4);
  return values.map((value) =>
    small && value * factor < 1 ? power(...round(value * factor, 3)) : formatTick(value, name),
  );
}

// What round values of an axis are multiples of: a minute, an hour or a day where it counts them,
// else 1.
/**
 * @param {string} name
 * @param {number} high
 */
export const tickStep = (name, high) =>
  (name === "s" && LONG_TIMES.find(([start]) => high >= start)?.[1]) || 1;

/**
 * @param {number} mantissa
 * @param {number} from
 * @param {number} to
 * @param {number} [by]
 */
const powers = (mantissa, from, to, by = 1) =>
  Array.from({ length: (to - from) / by }, (_, i) => Number(`${mantissa}e${from + i * by}`));
const TIMES = [...powers(1, -12, 2), 60, 600, 3600, 36000, ...powers(864, 2, 8)],
  TRIPLED = [...powers(3, -12, 2), 180, 1800, 10800, ...powers(2592, 2, 8)],
  SINGLE = [...powers(1, -12, 3, 3), 60, 3600, 86400, 8640000];

// The round times from low to high, in seconds: at most so many, if they can be few.
/**
 * @param {number} low
 * @param {number} high
 * @param {number} [most]
 */
export function roundTimes(low, high, most = 10) {
  /** @param {number[]} times */
  const within = (times) =>
    times.filter((time) => low <= time && time <= high).sort((a, b) => a - b);
  let found = within(TIMES);
  if (found.length < 3) found = within([...TIMES, ...TRIPLED]);
  if (found.length > most) found = within(SINGLE);
  const skip = Math.ceil(found.length / most);
  return found.filter((_, i) => i % skip === 0);
}

// A number with what it counts: “1 card”, “1,200 cards”, “2 entries”.
/**
 * @param {number} n
 * @param {string} noun
 * @param {string} [nouns]
 */
export const plural = (n, noun, nouns = `${noun}s`) => `${grouped(n)} ${n === 1 ? noun : nouns}`;

// As toLocaleString("en") has it, whose first call costs a page some 30 ms.
/** @param {number} n */
export const grouped = (n) =>
  Number.isInteger(n) && Math.abs(n) < 1e15
    ? String(n).replace(/\B(?=(\d{3})+$)/g, ",")
    : n.toLocaleString("en");

/** @param {string} name */
export function axisHint(name) {
  const { hint } = find(name);
  return hint ? ` (${hint})` : "";
}

// Whether a word of a title says the unit.
/**
 * @param {string} title
 * @param {string} name
 */
function namesUnit(title, name) {
  /** @param {string} word */
  const stem = (word) => word.toLowerCase().replace(/s+$/, "");
  return title
    .replace(/ (a|per) second/gi, "/s")
    .split(/\s+/)
    .some((word) => word && stem(word) === stem(find(name).hint));
}

// A title with its unit, unless the tick labels or a word of the title say it.
/**
 * @param {string} title
 * @param {string} name
 */
export const axisTitle = (title, name) => (namesUnit(title, name) ? title : title + axisHint(name));

/** @typedef {"up" | "down" | "near"} Whole which whole number stands for a count */

// A count as a whole number; as units.whole_count.
/**
 * @param {number} value
 * @param {Whole} [way]
 */
export function wholeCount(value, way) {
  if (!way || !Number.isFinite(value)) return value;
  const slack = 1e-9 * Math.max(1, Math.abs(value));
  if (way === "down") return Math.floor(value + slack);
  return Math.max(1, way === "up" ? Math.ceil(value - slack) : Math.floor(value + 0.5));
}

// A value that stands beside its name, which may say what is counted.
/**
 * @param {string} title
 * @param {number} value
 * @param {string} name
 * @param {number} [digits]
 */
export function formatNamed(title, value, name, digits) {
  const { kind, factor } = find(name);
  const counted = kind === "count" && factor === 1 && namesUnit(title, name);
  return formatValue(value, counted ? "1" : name, digits);
}
