// A curve in words; the twin of describe.py, same text to the letter.
import { UNITS, formatValue, wholeCount } from "./units.js";

const FLAT = 0.1,
  SHORT = 0.05;

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

/**
 * @param {number[]} xs
 * @param {number[]} ys
 * @param {boolean} log
 * @returns {[number, number, number][]}
 */
function runs(xs, ys, log) {
  const n = ys.length,
    positive = log && ys.every((y) => y > 0);
  const span = Math.max(...ys) - Math.min(...ys),
    /** @type {[number, number, number][]} */
    found = [];
  for (let i = 0; i < n - 1; i++) {
    let slope = 0;
    if (positive) slope = Math.log(ys[i + 1] / ys[i]) / Math.log(xs[i + 1] / xs[i]);
    else if (span > 0) slope = ((ys[i + 1] - ys[i]) / span) * (n - 1);
    let kind = slope > 0 ? 1 : -1;
    if (Math.abs(slope) < FLAT) kind = 0;
    const last = found[found.length - 1];
    if (last && last[0] === kind) last[2] = i + 1;
    else found.push([kind, i, i + 1]);
  }
  const least = Math.max(2, SHORT * (n - 1)),
    /** @type {[number, number, number][]} */
    merged = [];
  for (const run of found) {
    const last = merged[merged.length - 1];
    if (last && (run[2] - run[1] < least || last[0] === run[0])) last[2] = run[2];
    else if (last && last[2] - last[1] < least && merged.length === 1)
      merged[0] = [run[0], last[1], run[2]];
    else merged.push([...run]);
  }
  return merged;
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

/**
 * @param {Numbers} xs
 * @param {Numbers} ys
 * @param {string} xName
 * @param {string} xUnit
 * @param {string} yUnit
 * @param {boolean} log
 */
export function describe(xs, ys, xName, xUnit, yUnit, log) {
  let last = ys.length,
    first = 0;
  while (last && !Number.isFinite(ys[last - 1])) last--;
  while (first < last && !Number.isFinite(ys[first])) first++;
  const x = Array.from(xs).slice(first, last),
    y = Array.from(ys).slice(first, last);
  if (last - first < 3 || !y.every(Number.isFinite)) return "has no value here";
  /** @type {string[]} */
  const words = [];
  for (const [kind, a, b] of runs(x, y, log)) {
    const start = y[a],
      end = y[b],
      ratio = start > 0 && end > 0 ? end / start : 0;
    if (kind === 0 || (ratio && foldOf(ratio) < 1.02)) {
      words.push(`stays near ${formatValue(end, yUnit, 2)}`);
      continue;
    }
    const calm = words.length && words[words.length - 1].startsWith("stays");
    const where =
      ` from ${xName} ${plain(x[a], xUnit)} ` + (calm ? "on" : `to ${plain(x[b], xUnit)}`);
    words.push((end > start ? "rises" : "falls") + amountOf(ratio, end, yUnit) + where);
  }
  let text = words.join(", then ");
  if (first > 0) text += `; below ${xName} ${plain(xs[first], xUnit)} it is out of reach`;
  if (last < ys.length) text += `; above ${xName} ${plain(xs[last - 1], xUnit)} it is out of reach`;
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
