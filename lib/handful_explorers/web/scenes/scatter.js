// Measured against predicted on two equal log axes (scatter.py is the twin).
import { formatTicks, formatValue } from "../units.js";
import { circle, line, path, text } from "./shapes.js";

const LEFT = 56,
  TOP = 24,
  FOOT = 44;

/**
 * @param {number[]} ordered
 * @param {number} share
 */
function quantile(ordered, share) {
  const place = share * (ordered.length - 1),
    below = Math.min(Math.trunc(place), ordered.length - 2);
  return ordered[below] + (place - below) * (ordered[below + 1] - ordered[below]);
}

/** @typedef {ReturnType<typeof run>} View */

/**
 * @param {SceneGiven<{ set: string, shown: string }, { sets: Record<string, { text: string, unit:
 *   string, shown: Record<string, { text: string, at: Pair[] }> }> }>} given
 */
function run({ input, spec }) {
  const group = spec.data.sets[input.set],
    shown = group.shown[input.shown];
  const ratios = shown.at.map(([x, y]) => y / x).sort((a, b) => a - b);
  return {
    text: group.text,
    how: shown.text,
    unit: group.unit,
    at: shown.at,
    every: Object.values(group.shown).flatMap((other) => other.at),
    low: quantile(ratios, 0.05),
    median: quantile(ratios, 0.5),
    high: quantile(ratios, 0.95),
  };
}

/**
 * @param {View} v
 * @returns {Pair}
 */
function ends(v) {
  let least = Infinity,
    most = 0;
  for (const point of v.every)
    for (const x of point) {
      least = Math.min(least, x);
      most = Math.max(most, x);
    }
  return [
    10 ** (Math.floor(Math.log10(least) * 4 - 0.2) / 4),
    10 ** (Math.ceil(Math.log10(most) * 4 + 0.2) / 4),
  ];
}

/**
 * @param {number} low
 * @param {number} high
 */
function ticks(low, high) {
  const found = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    for (const m of [1, 2, 5]) {
      const value = Number(`${m}e${e}`);
      if (low <= value && value <= high) found.push(value);
    }
  }
  return found;
}

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const [low, high] = ends(v),
    right = Math.min(width - 12, LEFT + 520),
    bottom = TOP + (right - LEFT) * 0.72;
  /**
   * @param {number} value
   * @param {number} start
   * @param {number} stop
   */
  const at = (value, start, stop) =>
    start + (stop - start) * Math.min(Math.max(Math.log(value / low) / Math.log(high / low), 0), 1);
  /** @param {number} value */
  const px = (value) => at(value, LEFT, right),
    /** @param {number} value */
    py = (/** @type {number} */ value) => at(value, bottom, TOP),
    /** @type {Shape[]} */
    out = [];
  const values = ticks(low, high);
  formatTicks(values, v.unit, true).forEach((said, i) => {
    const tick = values[i];
    out.push(
      line(px(tick), TOP, px(tick), bottom, "grid"),
      line(LEFT, py(tick), right, py(tick), "grid"),
      text(LEFT - 6, py(tick) + 4, said, "soft small", "end"),
    );
    if (Math.round(tick / 10 ** Math.floor(Math.log10(tick) + 1e-9)) !== 2 || right - LEFT > 420)
      out.push(
        text(
          Math.min(px(tick), width - 3.4 * said.length),
          bottom + 16,
          said,
          "soft small",
          "middle",
        ),
      );
  });
  for (const factor of [v.low, v.high]) {
    const a = Math.max(low, low / factor),
      b = Math.min(high, high / factor);
    out.push(
      path(
        [
          [px(a), py(a * factor)],
          [px(b), py(b * factor)],
        ],
        "c1 dash",
        1.5,
      ),
    );
  }
  out.push(
    path(
      [
        [LEFT, bottom],
        [right, TOP],
      ],
      "ink",
      1.2,
    ),
  );
  for (const [x, y] of v.at) out.push(circle(px(x), py(y), 3, "c0 pale"));
  out.push(
    text(0, 13, "Measured", "ink"),
    text(right, bottom + 36, "Predicted", "ink", "end"),
    text(LEFT + 8, TOP + 16, "slower than predicted", "soft small"),
    text(right - 8, bottom - 10, "faster than predicted", "soft small", "end"),
  );
  return [bottom + FOOT, out];
}

/** @param {number} x */
const times = (x) => formatValue(x, "1", 3);

/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
const readouts = (v) => [
  ["Measurements", formatValue(v.at.length, "1", 6), ""],
  ["Median of measured ÷ predicted", times(v.median), ""],
  ["Nine tenths lie between", `${times(v.low)} and ${times(v.high)}`, "dashed lines"],
];

/** @param {View} v */
const words = (v) =>
  `${v.text}, predicted by ${v.how}: of ${v.at.length} measurements, measured over predicted ` +
  `has a median of ${times(v.median)}, and nine tenths lie between ${times(v.low)} and ` +
  `${times(v.high)}.`;

/**
 * @param {View} v
 * @returns {Table}
 */
const table = (v) => ({
  head: ["Predicted", "Measured", "Ratio"],
  body: v.at.map(([x, y]) => [formatValue(x, v.unit), formatValue(y, v.unit), times(y / x)]),
});

export default { run, picture, readouts, words, table };
