// A curve in words; the twin of describe.py, same text to the letter.
import { UNITS, digitsOf, formatNamed, formatValue, wholeCount } from "./units.js";

const FLAT = 0.1, // values so close together, as a share of the largest, are called flat
  LONG = 0.1, // of the axis: a flat beginning or end that is told
  CALM = 0.75, // and no steeper than this share of the whole way, as it is drawn
  SAME = 1e-6, // what rounding may change
  FINE = new Set(["device"]); // units of x in which one more or less makes a step

/** @typedef {[number, number, number]} Stretch way (1 up, 0 flat, -1 down), first and last place */

/**
 * @param {number} value
 * @param {string} unit
 * @param {number} [digits]
 */
export function plain(value, unit, digits = 2) {
  const { kind, factor } = UNITS[unit];
  if (kind === "money") return formatValue(value * factor, "$", digits);
  return formatValue(value, kind === "count" && unit !== "%" ? "1" : unit, digits);
}

// A value that can be set: a count to its last digit, as its preset has it.
/**
 * @param {number} value
 * @param {string} unit
 */
export const inFull = (value, unit) => plain(value, unit, digitsOf(value, unit));

/**
 * @param {number} low
 * @param {number} high
 */
const flat = (low, high) => high - low <= FLAT * Math.max(Math.abs(low), Math.abs(high));

// The ways up and down of a curve, from turn to turn.
/**
 * @param {number[]} ys
 * @returns {Stretch[]}
 */
function legs(ys) {
  /** @type {Stretch[]} */
  const found = [];
  let way = 0,
    low = 0,
    high = 0,
    start = 0;
  ys.forEach((y, i) => {
    if (way >= 0 && y >= ys[high]) high = i;
    if (way <= 0 && y <= ys[low]) low = i;
    if (way >= 0 && !flat(y, ys[high])) {
      if (way) {
        found.push([1, start, high]);
        start = high;
      }
      way = -1;
      low = i;
    } else if (way <= 0 && !flat(ys[low], y)) {
      if (way) {
        found.push([-1, start, low]);
        start = low;
      }
      way = 1;
      high = i;
    }
  });
  return [...found, [way, start, ys.length - 1]];
}

// How far the values stay flat from a place on towards another.
/**
 * @param {number[]} ys
 * @param {number} start
 * @param {number} end
 * @param {number} step
 */
function flatFrom(ys, start, end, step) {
  let low = ys[start],
    high = ys[start];
  for (let i = start; i !== end + step; i += step) {
    low = Math.min(low, ys[i]);
    high = Math.max(high, ys[i]);
    if (!flat(low, high)) return i - step;
  }
  return end;
}

// What is told of a curve: stretches that rise, stay or fall.
/**
 * @param {number[]} ys
 * @param {boolean} log
 * @returns {Stretch[]}
 */
function stretches(ys, log) {
  const least = Math.max(LONG * (ys.length - 1), 2),
    /** @type {Stretch[]} */
    found = [];
  /** @param {number} i */
  const drawn = (i) => (log ? Math.log(ys[i]) : ys[i]);
  /**
   * @param {number} i
   * @param {number} j
   * @param {number} steep
   */
  const calm = (i, j, steep) =>
    j - i >= least && Math.abs(drawn(j) - drawn(i)) < CALM * steep * (j - i);
  for (const [way, a, b] of legs(ys)) {
    if (!way) return [[0, a, b]];
    // From the first extreme to the other; what is as high as one belongs to it.
    const part = ys.slice(a, b + 1).map((y) => way * y),
      bottom = Math.min(...part),
      top = Math.max(...part),
      low = bottom + SAME * Math.abs(bottom),
      high = top - SAME * Math.abs(top);
    let s = a + part.findIndex((y) => y <= low);
    const e = a + part.reduce((at, y, i) => (y >= high ? i : at), 0),
      steep = Math.abs(drawn(e) - drawn(s)) / (b - a),
      head = flatFrom(ys, a, b, 1),
      tail = flatFrom(ys, b, a, -1);
    if (head < tail && calm(a, head, steep)) {
      // What was flat before the turn is flat after it.
      if (!found.length || found[found.length - 1][0]) found.push([0, a, head]);
      s = head;
    }
    const rest = head < tail && calm(tail, b, steep);
    found.push([way, s, rest ? tail : e]);
    if (rest) found.push([0, tail, b]);
  }
  return found;
}

/** @param {number} ratio */
const foldOf = (ratio) => Math.max(ratio, 1 / ratio);

// How far a run goes; `ratio` is that of its ends, or 0 where they have none.
/**
 * @param {number} ratio
 * @param {number} end
 * @param {string} yUnit
 */
function amountOf(ratio, end, yUnit) {
  if (!ratio) return ` to ${formatValue(end, yUnit, 2)}`;
  const fold = foldOf(ratio);
  return fold >= 1.95
    ? ` ${formatValue(fold, "1", 2)}-fold`
    : ` by ${formatValue(Math.abs(ratio - 1), "%", 2)}`;
}

// The stretches in words; `whole` where the last of them ends with the curve.
/**
 * @param {number[]} x
 * @param {number[]} y
 * @param {string} xName
 * @param {string} xUnit
 * @param {string} yUnit
 * @param {boolean} log
 * @param {boolean} whole
 * @param {boolean} endless whether the curve rises to infinity
 */
function tell(x, y, xName, xUnit, yUnit, log, whole, endless) {
  /** @type {string[]} */
  const words = [],
    usual = FINE.has(xUnit) ? 3 : 2;
  for (const [way, a, b] of stretches(y, log)) {
    if (!way) {
      const part = y.slice(a, b + 1),
        middle = (Math.min(...part) + Math.max(...part)) / 2;
      words.push(`stays near ${formatValue(middle, yUnit, 2)}`);
      continue;
    }
    const ratio = y[a] > 0 && y[b] > 0 ? y[b] / y[a] : 0,
      calm = words[words.length - 1]?.startsWith("stays"),
      end = b === y.length - 1,
      far = endless && way > 0 && end ? " without end" : amountOf(ratio, y[b], yUnit),
      to = calm && whole && end ? "on" : `to ${plain(x[b], xUnit, end && !whole ? 3 : usual)}`;
    words.push(
      `${way > 0 ? "rises" : "falls"}${far} from ${xName} ${plain(x[a], xUnit, usual)} ${to}`,
    );
  }
  return words.join(", then ");
}

/**
 * @param {Numbers} xs
 * @param {Numbers} ys
 * @param {string} xName
 * @param {string} xUnit
 * @param {string} yUnit
 * @param {boolean} [log] whether the y axis is logarithmic, so that it shows no 0
 * @param {number} [until] the x beyond which nothing fits
 */
export function describe(xs, ys, xName, xUnit, yUnit, log = false, until = Infinity) {
  const seen = Array.from(ys, (y) => Number.isFinite(y) && (y > 0 || !log));
  let last = ys.length,
    first = 0;
  while (last && !seen[last - 1]) last--;
  while (first < last && !seen[first]) first++;
  if (last - first < 3 || !seen.slice(first, last).every(Boolean)) return "has no value here";
  const fits = Array.from(xs).filter((x) => x <= until).length,
    stop = Math.min(last, fits);
  if (stop - first < 3) return "is drawn beyond what fits";
  const x = Array.from(xs).slice(first, stop),
    y = Array.from(ys).slice(first, stop);
  // Towards a pole the last step of a grid about doubles a curve, or more; how far it comes up to
  // there is a matter of the grid.
  const endless = ys[last] === Infinity && y[y.length - 1] >= 1.9 * y[y.length - 2],
    text = tell(x, y, xName, xUnit, yUnit, log, fits >= last, endless);
  return text + ends(xs, ys, first, fits < last ? fits : last, { xName, xUnit, until });
}

// What lies before the first value and after the last.
/**
 * @param {Numbers} xs
 * @param {Numbers} ys
 * @param {number} first
 * @param {number} last
 * @param {{ xName: string, xUnit: string, until: number }} axis
 */
function ends(xs, ys, first, last, { xName, xUnit, until }) {
  let text = "";
  /** @param {number} i */
  const at = (i) => `${xName} ${plain(xs[i], xUnit)}`;
  if (first > 0 && ys[first - 1] === 0) text += `; up to ${at(first - 1)} it is 0`;
  else if (first > 0) text += `; below ${at(first)} it is out of reach`;
  if (xs[last] > until) text += `; beyond ${xName} ${plain(until, xUnit, 3)} nothing fits`;
  else if (ys[last] === 0) text += `; from ${at(last)} on it is 0`;
  else if (last < ys.length) text += `; above ${at(last - 1)} it is out of reach`;
  return text;
}

/** @param {string} text */
export const lower = (text) =>
  /[A-Z]/.test(text[1] || "") ? text : text.charAt(0).toLowerCase() + text.slice(1);
/** @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// That a cursor lies beyond what fits.
/**
 * @param {string} at
 * @param {string} name
 * @param {string} value
 */
export const beyond = (at, name, value) => `${capital(at)} is more than fits: ${name} ${value}`;

// That the weights alone are more than the machine's memory.
/**
 * @param {number} needed
 * @param {number} devices
 */
export const doesNotFit = (needed, devices) =>
  `The model itself does not fit: its weights fill ${formatValue(wholeCount(needed, "up"), "1", 6)} ` +
  `such chips, and the machine has ${plain(devices, "device", 4)}`;

// The value of a mark.
/**
 * @param {Mark} mark
 * @param {number} value
 */
export const written = ({ whole, unit }, value) => plain(wholeCount(value, whole), unit, 3);

/** @typedef {{ whole?: import("./units.js").Whole, none?: string }} Told */

// Whether a value is told as a number: not where there are words for having none.
/**
 * @param {Told} part
 * @param {number} value
 */
export function told({ whole, none }, value) {
  const count = wholeCount(value, whole);
  return !none || (value > 0 && count > 0 && count < Infinity);
}

// The value of a curve or a readout, beside its label.
/**
 * @param {Told} part
 * @param {string} name
 * @param {number} value
 * @param {string} unit
 * @param {number} [digits]
 */
export const named = (part, name, value, unit, digits = 3) =>
  told(part, value)
    ? formatNamed(name, wholeCount(value, part.whole), unit, digits)
    : String(part.none);
