// Values as people write them, with their units: the twin of symbolic/parse_quantity.py, same values and
// same sentences.
//
// A dimension is a plain object from base to power, {byte: 1, time: -1}; powers of nothing are left
// out.
/** @typedef {[size: number, dimension: Dimension, prefixed: boolean]} Unit */

/**
 * @template T
 * @param {Record<string, T>} entries
 * @returns {Record<string, T | undefined>}
 */
const table = (entries) => Object.assign(Object.create(null), entries);

export const BASES = [
  "time",
  "byte",
  "flop",
  "token",
  "sequence",
  "parameter",
  "layer",
  "device",
  "dollar",
  "bit",
  "energy",
];
/** @type {Record<string, number | undefined>} */
const PREFIXES = table({
  "": 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Z: 1e21,
  Y: 1e24,
  m: 1e-3,
  µ: 1e-6,
  μ: 1e-6,
  u: 1e-6,
  n: 1e-9,
  p: 1e-12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
});
/** @type {Record<string, number | undefined>} */
const WORDS = table({
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
  quadrillion: 1e15,
  bn: 1e9,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
});
/**
 * @param {string} base
 * @param {number} [size]
 * @param {boolean} [prefixed]
 * @returns {Unit}
 */
const one = (base, size = 1, prefixed = false) => [size, { [base]: 1 }, prefixed];
// Unit: size in SI, dimension, whether a prefix may stand before it.
/** @type {Record<string, Unit | undefined>} */
const UNITS = table({
  B: one("byte", 1, true),
  byte: one("byte", 1, true),
  s: one("time", 1, true),
  sec: one("time", 1, true),
  second: one("time"),
  min: one("time", 60),
  minute: one("time", 60),
  h: one("time", 3600),
  hour: one("time", 3600),
  d: one("time", 86400),
  day: one("time", 86400),
  week: one("time", 604800),
  year: one("time", 31557600),
  FLOP: one("flop", 1, true),
  FLOPS: [1, { flop: 1, time: -1 }, true],
  OP: one("flop", 1, true),
  OPS: [1, { flop: 1, time: -1 }, true],
  token: one("token", 1, true),
  tok: one("token", 1, true),
  sequence: one("sequence"),
  request: one("sequence"),
  req: one("sequence"),
  parameter: one("parameter"),
  param: one("parameter"),
  weight: one("parameter"),
  chip: one("device"),
  device: one("device"),
  GPU: one("device"),
  layer: one("layer"),
  $: one("dollar"),
  dollar: one("dollar"),
  USD: one("dollar"),
  cent: one("dollar", 0.01),
  bit: one("bit", 1, true),
  b: one("bit", 1, true),
  bps: [1, { bit: 1, time: -1 }, true],
  J: one("energy", 1, true),
  joule: one("energy"),
  Wh: one("energy", 3600, true),
  W: [1, { energy: 1, time: -1 }, true],
  watt: [1, { energy: 1, time: -1 }, false],
  "%": [0.01, {}, false],
  times: [1, {}, false],
  fold: [1, {}, false],
  x: [1, {}, false],
  "×": [1, {}, false],
});
/** @type {[string, number][]} */
const SPELLED = [
  ["kilo", 1e3],
  ["mega", 1e6],
  ["giga", 1e9],
  ["tera", 1e12],
  ["peta", 1e15],
  ["milli", 1e-3],
  ["micro", 1e-6],
  ["nano", 1e-9],
];
const SHOWN =
  "$, B, FLOP, FLOP/s, J, W, Wh, bit, chip, day, hour, layer, minute, parameter, s, sequence, " +
  "token, %, with a prefix such as k, M, G, T, P, m or µ where usual";
const LONGEST = 80; // characters

// What Python's \s and strip() take for space.
export const SPACE =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const S = `[${SPACE}]`;
/**
 * @param {string} text
 * @returns {string}
 */
export const strip = (text) => text.replace(new RegExp(`^${S}+|${S}+$`, "g"), "");

const NUMBER = new RegExp(
  `^([-+−]?)${S}*(\\$?)${S}*([-+−]?)` +
    "((?:[0-9][0-9.,]*|\\.[0-9]+)(?:[eE][-+−]?[0-9]+)?)" +
    `(?:${S}*[×x*·]${S}*10${S}*(?:\\^|\\*\\*)${S}*([-+−]?[0-9]+))?${S}*([^]*)$`,
);
const PER = new RegExp(
  `${S}+per${S}+|${S}+a${S}+(?=chip|token|second|hour|day|layer|sequence)`,
  "g",
);
const PERCENT = new RegExp(`\\bper${S}?cent\\b`, "g");
const BILLIONS = new RegExp(`^B${S}*(?=param|weight)`);
const GAPS = new RegExp(`[${SPACE}·*-]+`);
// Groups of three apart, by a space or a narrow one.
const GAP = "[ \\u00a0\\u2009\\u202f]";
const APART = new RegExp(`^([-+−$${SPACE}]*[0-9]{1,3}(?:${GAP}[0-9]{3})+)(?![0-9])(?!${GAP}[0-9])`);
const WITHIN = new RegExp(`([0-9])${GAP}(?=[0-9])`, "g");
const TIME = `([0-9][0-9.,]*)${S}*([A-Za-z]+)`;
const TIMES = new RegExp(`^${TIME}(?:,?${S}*(?:and${S}+)?${TIME})+$`);
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻";

export class WrittenError extends Error {}

// Text in quotation marks, as Python's repr writes it.
/** @param {string} text */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = [...text].map((c) => {
    const code = c.codePointAt(0) ?? 0,
      /** @type {(letter: string, digits: number) => string} */
      hex = (letter, digits) => `\\${letter}${code.toString(16).padStart(digits, "0")}`;
    if (c === mark || c === "\\") return `\\${c}`;
    if (c === "\n") return "\\n";
    if (c === "\r") return "\\r";
    if (c === "\t") return "\\t";
    if (c === " " || !/[\p{C}\p{Z}]/u.test(c)) return c;
    if (code < 0x100) return hex("x", 2);
    return code < 0x10000 ? hex("u", 4) : hex("U", 8);
  });
  return mark + inside.join("") + mark;
}

/**
 * @param {Dimension} a
 * @param {Dimension} b
 * @param {number} power
 */
const times = (a, b, power) => {
  const found = { ...a };
  for (const [base, n] of Object.entries(b)) {
    found[base] = (found[base] || 0) + n * power;
    if (!found[base]) delete found[base];
  }
  return found;
};

/**
 * @param {number} value
 * @param {string} text
 */
const finite = (value, text) => {
  if (!Number.isFinite(value))
    throw new WrittenError(`${quoted(text)} is too large to compute with.`);
  return value;
};

// [value in SI units, dimension]; the dimension is null for a bare number, which fits any.
/**
 * @param {string} given
 * @returns {[number, Dimension | null]}
 */
export function read(given) {
  const text = strip(given),
    characters = [...text];
  const seconds = characters.length <= LONGEST ? sumOfTimes(text) : null;
  if (seconds !== null) return [finite(seconds, text), { time: 1 }];
  const plain = text
    .replace(
      /10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)/g,
      (_, raised) => `10^${[...raised].map((c) => "0123456789-"[RAISED.indexOf(c)]).join("")}`,
    )
    .replace(/^([-+−$ ]*)10 *(?=\^|\*\*)/, (_, before) => `${before}1×10`)
    .replace(APART, (apart) => apart.replace(WITHIN, "$1"));
  const found = characters.length <= LONGEST ? NUMBER.exec(plain) : null,
    pointed = found && withPoint(found[4]);
  if (!found || !pointed)
    throw new WrittenError(
      `${quoted(characters.slice(0, LONGEST).join(""))} is no number; write one such as 12, ` +
        "2.5e6 or 8 GB.",
    );
  const [, sign, dollars, inner, , power, rest] = found,
    minus = (/** @type {string} */ c) => c === "-" || c === "−";
  let value =
    Number(pointed.replace("−", "-")) * (power ? Number(`1e${power.replace("−", "-")}`) : 1);
  if (minus(sign) !== minus(inner)) value = -value;
  const worded = ((dollars ? "$ " : "") + rest.replace(PERCENT, "%")).replace(BILLIONS, "billion ");
  const unit = strip(` ${strip(worded)} `.replace(PER, "/"));
  if (!unit) return [finite(value, text), null];
  /** @type {Dimension} */
  let dimension = {},
    seen = false;
  const parts = unit.split("/");
  if (!parts.slice(1).every(strip))
    throw new WrittenError(
      `${quoted(text)} ends where a unit should stand; write one such as TB/s.`,
    );
  parts.forEach((part, i) => {
    const under = i ? -1 : 1;
    for (const name of part.split(GAPS).filter(Boolean)) {
      let factor = WORDS[name];
      if (factor === undefined) {
        const [size, its] = unitOf(name);
        factor = size;
        dimension = times(dimension, its, under);
        seen = true;
      }
      value = under > 0 ? value * factor : value / factor;
    }
  });
  return [finite(value, text), seen ? dimension : null];
}

const MANY = new RegExp(`^([-+−]?[0-9][0-9.,]*)${S}*B$`);

// The same where it is known what is wanted: for bytes, bits are an eighth of one; for parameters
// and tokens, "70B" is 70 billion.
/**
 * @param {string} given
 * @param {Dimension} wanted
 * @returns {[number, Dimension | null]}
 */
export function readAs(given, wanted) {
  const counted = wanted.parameter === 1 || wanted.token === 1;
  const [value, written] = read(counted ? strip(given).replace(MANY, "$1 billion") : given);
  const bits = written?.bit ?? 0;
  if (!written || !bits || bits !== wanted.byte) return [value, written];
  return [value / 8 ** bits, times(times(written, { bit: 1 }, -bits), { byte: 1 }, bits)];
}

// The seconds of "2 h 5 min" or "1 day, 3 hours and 20 minutes"; null for other text.  Each unit has
// to be smaller than the one before.
/** @param {string} text */
function sumOfTimes(text) {
  if (!TIMES.test(text)) return null;
  let total = 0,
    before = Infinity;
  for (const [, written, name] of text.matchAll(new RegExp(TIME, "g"))) {
    const digits = withPoint(written),
      unit = findUnit(name);
    if (!digits || !unit || key(unit[1]) !== "time 1" || !(unit[0] < before)) return null;
    total += Number(digits) * unit[0];
    before = unit[0];
  }
  return total;
}

// A number's digits with a point for decimals and no other mark; nothing for no number.  Of a point
// and a comma the last is for decimals.  A comma alone before three digits is not, unless nothing
// but a nought stands before it; nor is a mark that comes twice.
/** @param {string} digits */
function withPoint(digits) {
  const [, number, exponent] = /** @type {RegExpExecArray} */ (/^([0-9.,]*)([^]*)$/.exec(digits)),
    at = Math.max(number.lastIndexOf("."), number.lastIndexOf(","));
  if (at < 0) return digits;
  const mark = number[at],
    alone = number.indexOf(mark) === at;
  const before = mark === "," && /[^0]/.test(number.slice(0, at)) && !number.includes(".");
  let whole = number.slice(0, at),
    rest = number.slice(at + 1);
  if (rest.length === 3 && (before || !alone)) {
    whole = number;
    rest = "";
  } else if (!alone) return null;
  const parts = whole.split(/[.,]/);
  if (parts.length > 1 && !(parts[0] && parts.slice(1).every((part) => part.length === 3)))
    return null;
  if (whole.includes(".") && whole.includes(",")) return null;
  return parts.join("") + (rest ? `.${rest}` : "") + exponent;
}

/**
 * @param {string} text
 * @returns {[number, Dimension] | null}
 */
function findUnit(text) {
  for (const name of [
    text,
    [...text].length > 2 && text.endsWith("s") ? text.slice(0, -1) : text,
  ]) {
    const whole = UNITS[name];
    if (whole) return [whole[0], whole[1]];
    for (const length of [1, 2]) {
      const unit = UNITS[name.slice(length)],
        prefix = PREFIXES[name.slice(0, length)];
      if (unit?.[2] && prefix !== undefined) return [unit[0] * prefix, unit[1]];
    }
    for (const [prefix, factor] of SPELLED) {
      const small = name.toLowerCase(),
        rest = small.startsWith(prefix) ? small.slice(prefix.length) : "",
        spelled = UNITS[rest];
      if (spelled && ["byte", "second", "bit", "token", "joule", "watt"].includes(rest))
        return [factor, spelled[1]];
    }
  }
  return null;
}

/**
 * @param {string} text
 * @returns {[number, Dimension]}
 */
function unitOf(text) {
  const unit = findUnit(text);
  if (unit) return unit;
  throw new WrittenError(`${quoted(text)} is no unit of this book; allowed: ${SHOWN}.`);
}

/** @param {Dimension} dimension */
export const key = (dimension) =>
  BASES.filter((base) => dimension[base])
    .map((base) => `${base} ${dimension[base]}`)
    .join(" ");

// Whether a written unit will do: people leave out "per token" and "per chip", and mean it.
// prices are of tokens by the million: there only the first two
export const COUNTED = ["sequence", "device", "token", "parameter", "layer"];
// Six a second are requests, and hours of a chip chip-hours.
/** @type {Dimension[][]} */
const UNSAID = [
  [{ sequence: 1, time: -1 }, { time: -1 }],
  [{ device: 1, time: 1 }, { time: 1 }],
];

/**
 * @param {Dimension} written
 * @param {Dimension} wanted
 */
export function fits(written, wanted) {
  const counted = wanted.dollar ? COUNTED.slice(0, 2) : COUNTED;
  const short = Object.fromEntries(
    Object.entries(wanted).filter(([base, power]) => !(power < 0 && counted.includes(base))),
  );
  const unsaid = UNSAID.find(([whole]) => key(whole) === key(wanted));
  return [wanted, short, unsaid?.[1]].some((as) => as && key(written) === key(as));
}

// A dimension of whole powers, spelled.
/** @param {Dimension} dimension */
export function spell(dimension) {
  /** @param {number} sign */
  const names = (sign) =>
    BASES.filter((base) => sign * (dimension[base] || 0) > 0)
      .map((base) => (dimension[base] === sign ? base : `${base}^${sign * dimension[base]}`))
      .join("·");
  const above = names(1),
    below = names(-1);
  return below
    ? `${above || "1"}/${below.includes("·") ? `(${below})` : below}`
    : above || "a pure number";
}
