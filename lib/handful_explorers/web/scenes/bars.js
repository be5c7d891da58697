// Level bars, one a formula (bars.py is the twin).
import { formatTicks, formatValue } from "../units.js";
import { line, rect, text } from "./shapes.js";

const ROW = 44,
  TOP = 6;

/** @typedef {ReturnType<typeof run>} View */

/** @param {SceneGiven<object, { log?: boolean }>} given */
function run({ spec, numbers }) {
  return {
    labels: spec.numbers.map((n) => n.label),
    values: Object.values(numbers),
    unit: spec.numbers[0].unit,
    log: Boolean(spec.data.log),
  };
}

/**
 * @param {View} v
 * @returns {Pair}
 */
function ends(v) {
  const kept = v.values.filter((x) => Number.isFinite(x) && x > 0);
  if (!kept.length) kept.push(1);
  if (!v.log) return [0, Math.max(...kept)];
  const low = Math.floor(Math.log10(Math.min(...kept)) - 1e-9),
    high = Math.ceil(Math.log10(Math.max(...kept)) + 1e-9);
  return [Number(`1e${low}`), Number(`1e${Math.max(high, low + 1)}`)];
}

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const [low, high] = ends(v),
    /** @type {Shape[]} */
    out = [],
    right = width - 100,
    bottom = TOP + ROW * v.values.length;
  /** @param {number} x */
  const at = (x) =>
    v.log ? (right * Math.log(x / low)) / Math.log(high / low) : (right * x) / high;
  if (v.log) {
    const first = Math.round(Math.log10(low)),
      last = Math.round(Math.log10(high)),
      skip = Math.max(1, Math.ceil(((last - first) * 56) / right));
    const values = [];
    for (let e = first; e <= last; e += skip) values.push(Number(`1e${e}`));
    const said = formatTicks(values, v.unit, true);
    values.forEach((value, i) => {
      const x = at(value);
      out.push(
        line(x, TOP, x, bottom, "grid"),
        text(x, bottom + 16, said[i], "soft small", i ? "middle" : "start"),
      );
    });
  }
  v.values.forEach((value, i) => {
    const y = TOP + ROW * i,
      good = Number.isFinite(value) && value > 0,
      wide = good ? Math.max(at(value), 1) : 0;
    out.push(text(0, y + 14, v.labels[i], "ink"));
    if (good) out.push(rect(0, y + 20, wide, 14, `c${i % 8}`));
    out.push(text(wide + 6, y + 32, formatValue(value, v.unit), "ink strong"));
  });
  return [bottom + (v.log ? 26 : 4), out];
}

/**
 * @param {View} v
 * @returns {[string, string][]}
 */
const named = (v) => v.labels.map((label, i) => [label, formatValue(v.values[i], v.unit)]);
/** @param {View} v */
const words = (v) =>
  `${named(v)
    .map((pair) => pair.join(" "))
    .join("; ")}.`;
/**
 * @param {View} v
 * @returns {Table}
 */
const table = (v) => ({ head: ["What", "Value"], body: named(v) });

export default { run, picture, readouts: () => [], words, table };
