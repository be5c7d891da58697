// A formula's result when inputs are known to within factors (distribution.py is the twin).
import { formatTick, formatTicks, formatValue } from "../units.js";
import { line, rect, text } from "./shapes.js";

const DRAWS = 4093,
  STEP = 3147,
  BINS = 48,
  Z90 = 1.6448536269514722,
  HEIGHT = 150,
  ROW = 40,
  GLYPH = 6.9;

// Quantile of the standard normal distribution: Acklam's rational approximation.
/**
 * @param {number} p
 * @returns {number}
 */
function normal(p) {
  if (p > 0.5) return -normal(1 - p);
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p));
    return (
      (((((-7.784894002430293e-3 * q - 3.223964580411365e-1) * q - 2.400758277161838) * q -
        2.549732539343734) *
        q +
        4.374664141464968) *
        q +
        2.938163982698783) /
      ((((7.784695709041462e-3 * q + 3.224671290700398e-1) * q + 2.445134137142996) * q +
        3.754408661907416) *
        q +
        1)
    );
  }
  const q = p - 0.5,
    r = q * q;
  return (
    ((((((-3.969683028665376e1 * r + 2.209460984245205e2) * r - 2.759285104469687e2) * r +
      1.38357751867269e2) *
      r -
      3.066479806614716e1) *
      r +
      2.506628277459239) *
      q) /
    (((((-5.447609879822406e1 * r + 1.615858368580409e2) * r - 1.556989798598866e2) * r +
      6.680131188771972e1) *
      r -
      1.328068155288572e1) *
      r +
      1)
  );
}

/** @type {Map<number, Float64Array[]>} */
const made = new Map(); // draws by dimensions

/**
 * @param {number} dimensions
 * @returns {Float64Array[]}
 */
function draws(dimensions) {
  const before = made.get(dimensions);
  if (before) return before;
  /** @type {Float64Array[]} */
  const rows = [];
  for (let j = 0, g = 1; j < dimensions; j++, g = (g * STEP) % DRAWS) {
    rows.push(
      Float64Array.from({ length: DRAWS }, (_, i) => normal((((i * g) % DRAWS) + 0.5) / DRAWS)),
    );
  }
  made.set(dimensions, rows);
  return rows;
}

/**
 * @param {Float64Array} ordered
 * @param {number} share
 */
function at(ordered, share) {
  const place = share * (DRAWS - 1),
    below = Math.floor(place);
  return (
    ordered[below] + (ordered[Math.min(below + 1, DRAWS - 1)] - ordered[below]) * (place - below)
  );
}

/**
 * @typedef {{ name: string, label: string, unit: string, upper: number }} Uncertain
 * @typedef {ReturnType<typeof run>} View
 */

/**
 * @param {import("./scene.js").Scene} scene
 * @param {string} key
 */
function numberOf(scene, key) {
  const found = scene.numbers.find((n) => n.key === key);
  if (!found) throw new Error(`The scene has no number '${key}'.`);
  return found;
}

/**
 * @param {SceneGiven<Record<string, number>, { uncertain: Uncertain[] }> & { scene:
 *   import('./scene.js').Scene }} given
 */
function run({ input, numbers, spec, scene }) {
  const number = numberOf(scene, "result"),
    names = spec.data.uncertain;
  // A chip that lacks the precision is refused before it comes to this.
  const known = /** @type {SymbolValues} */ (scene.values(input, number.given, number.scenario)),
    moved = { ...known };
  const factors = names.map((_, i) => input[`factor_${i + 1}`]),
    sigma = factors.map((f) => Math.log(f) / Z90),
    z = draws(names.length);
  /** @param {(j: number) => number} scale */
  const result = (scale) => {
    names.forEach((n, j) => {
      moved[n.name] = Math.min(known[n.name] * scale(j), n.upper);
    });
    return number.at(moved);
  };
  const results = new Float64Array(DRAWS),
    logs = new Float64Array(DRAWS);
  let mean = 0;
  for (let i = 0; i < DRAWS; i++) {
    results[i] = result((j) => Math.exp(z[j][i] * sigma[j]));
    mean += logs[i] = Math.log(results[i]);
  }
  mean /= DRAWS;
  const ordered = results.slice().sort();
  let [low, median, high] = [0.05, 0.5, 0.95].map((share) => at(ordered, share));
  const corners = Array.from({ length: 2 ** names.length }, (_, corner) =>
    result((j) => ((corner >> j) & 1 ? factors[j] : 1 / factors[j])),
  );
  let parts = sigma.map((s, j) => {
    let sum = 0;
    for (let i = 0; i < DRAWS; i++) sum += z[j][i] * (logs[i] - mean);
    return ((s * sum) / DRAWS) ** 2 / (s * s || 1);
  });
  // A product of powers is log-normal itself: then nothing is left to the draws.
  const middle = result(() => 1),
    steps = factors.map((f, j) => Math.log(result((k) => (k === j ? f : 1)) / middle) / Z90),
    log = (/** @type {number} */ i) =>
      steps.reduce((sum, step, j) => sum + step * z[j][i], Math.log(middle));
  if (results.every((value, i) => Math.abs(Math.log(value) - log(i)) < 1e-9)) {
    parts = steps.map((step) => step ** 2);
    const width = Math.exp(Z90 * Math.sqrt(parts.reduce((a, b) => a + b, 0)));
    [low, median, high] = [middle / width, middle, middle * width];
  }
  const all = parts.reduce((a, b) => a + b, 0) || 1;
  return {
    label: number.label,
    unit: number.unit,
    digits: number.digits ?? 3,
    median,
    low,
    high,
    worstLow: Math.min(...corners),
    worstHigh: Math.max(...corners),
    rest: [at(ordered, 0.002), at(ordered, 0.998)],
    ordered,
    shares: parts.map((part) => part / all),
    factors,
    names: names.map((n) => n.label),
    units: names.map((n) => n.unit),
    values: names.map((n) => known[n.name]),
    marks: scene.numbers
      .filter((n) => n.key !== "result")
      .map((n) => /** @type {[string, number]} */ ([n.label, numbers[n.key]])),
  };
}

/**
 * @param {View} v
 * @returns {Pair}
 */
function axis(v) {
  const kept = [v.worstLow, v.worstHigh, ...v.rest, ...v.marks.map((m) => m[1])];
  return [
    10 ** (Math.floor(3 * Math.log10(Math.min(...kept)) - 0.3) / 3),
    10 ** (Math.ceil(3 * Math.log10(Math.max(...kept)) + 0.3) / 3),
  ];
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} most
 * @returns {number[]}
 */
function ticks(low, high, most) {
  const first = Math.floor(Math.log10(low)),
    last = Math.ceil(Math.log10(high));
  /** @type {number[]} */
  let found = [];
  for (const figures of [[1, 2, 5], [1]]) {
    found = [];
    for (let e = first; e <= last; e++) for (const m of figures) found.push(Number(`${m}e${e}`));
    found = found.filter((x) => low <= x && x <= high);
    if (found.length <= most) return found;
  }
  const skip = Math.ceil(found.length / most);
  return found.filter((_, i) => i % skip === 0);
}

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const [low, high] = axis(v),
    left = 4,
    right = width - 8,
    span = Math.log(high / low);
  const top = 24 + 17 * v.marks.length,
    bottom = top + HEIGHT,
    /** @type {Shape[]} */
    out = [];
  /** @param {number} x */
  const px = (x) =>
    left + ((right - left) * Math.log(Math.min(Math.max(x, low), high) / low)) / span;
  /** @param {number} x */
  const shown = (x) => formatValue(x, v.unit, v.digits);
  /**
   * @param {number} x
   * @param {number} y
   * @param {string} saying
   * @param {string} c
   */
  const label = (x, y, saying, c) =>
    x + 5 + GLYPH * saying.length < right
      ? text(x + 5, y, saying, c)
      : text(x - 5, y, saying, c, "end");
  /**
   * @param {number} x
   * @param {number} y
   * @param {string} saying
   * @param {string} c
   */
  const centred = (x, y, saying, c) => {
    const half = (GLYPH * saying.length) / 2;
    return text(
      Math.min(Math.max(x, left + half), Math.max(right - half, left + half)),
      y,
      saying,
      c,
      "middle",
    );
  };
  let longest = 0;
  for (let e = Math.ceil(Math.log10(low)); e <= Math.floor(Math.log10(high)); e++)
    longest = Math.max(longest, formatTick(10 ** e, v.unit).length);
  const room = Math.floor((right - left) / Math.max(62, GLYPH * (longest + 2))),
    values = ticks(low, high, room);
  formatTicks(values, v.unit, true).forEach((said, i) => {
    const x = px(values[i]);
    out.push(line(x, top, x, bottom, "grid"), centred(x, bottom + 17, said, "soft small"));
  });
  const counts = new Array(BINS).fill(0);
  for (const x of v.ordered)
    if (low <= x && x < high) counts[Math.floor((BINS * Math.log(x / low)) / span)] += 1;
  const wide = (right - left) / BINS,
    most = Math.max(...counts);
  counts.forEach((count, k) => {
    const middle = low * Math.exp((span * (k + 0.5)) / BINS),
      tall = ((HEIGHT - 6) * count) / most;
    out.push(
      rect(
        left + k * wide + 0.5,
        bottom - tall,
        wide - 1,
        tall,
        v.low <= middle && middle <= v.high ? "c0" : "c0 pale",
      ),
    );
  });
  out.push(line(left, bottom, right, bottom, "soft"));
  v.marks.forEach(([saying, value], k) => {
    const y = 12 + 17 * k;
    out.push(
      line(px(value), y - 9, px(value), bottom, "c1 dash"),
      label(px(value), y, `${saying} ${shown(value)}`, "c1"),
    );
  });
  let y = 12 + 17 * v.marks.length;
  out.push(
    line(px(v.median), y - 9, px(v.median), bottom, "ink"),
    label(px(v.median), y, `median ${shown(v.median)}`, "ink strong"),
  );
  y = bottom + 38;
  for (const [saying, [a, b], c] of /** @type {[string, Pair, string][]} */ ([
    ["9 in 10", [v.low, v.high], "c0 thick"],
    ["worst case", [v.worstLow, v.worstHigh], "soft"],
  ])) {
    out.push(line(px(a), y, px(b), y, c));
    for (const end of [a, b]) out.push(line(px(end), y - 5, px(end), y + 5, "soft"));
    out.push(centred((px(a) + px(b)) / 2, y + 18, `${saying}: ${shown(a)} to ${shown(b)}`, "ink"));
    y += 42;
  }
  y += 4;
  out.push(text(0, y, "Where the spread comes from", "soft"));
  v.names.forEach((name, k) => {
    const row = y + 10 + ROW * k,
      share = v.shares[k],
      long = Math.max((right - 60) * share, 1);
    out.push(
      text(0, row + 12, name, "ink"),
      rect(0, row + 18, long, 12, "c2"),
      text(long + 6, row + 29, formatValue(share, "%", 2), "ink strong"),
    );
  });
  return [y + 14 + ROW * v.names.length, out];
}

/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
function readouts(v) {
  /** @type {(a: number, b: number) => string} */
  const shown = (a, b) =>
    `${formatValue(a, v.unit, v.digits)} to ${formatValue(b, v.unit, v.digits)}`;
  const either = formatValue(Math.sqrt(v.high / v.low), "1");
  return [
    ["median", formatValue(v.median, v.unit, v.digits), ""],
    ["9 in 10 lie in", shown(v.low, v.high), `a factor of ${either} either way`],
    ["worst case", shown(v.worstLow, v.worstHigh), "every guess at its end at once"],
  ];
}

/**
 * @param {View} v
 * @returns {string}
 */
function words(v) {
  const [[, median], [, interval], [, worst]] = readouts(v),
    loose = v.factors.map((f, k) => k).filter((k) => v.factors[k] > 1);
  const guesses =
    loose
      .map(
        (k) =>
          `${v.names[k]} known to within a factor of ${formatValue(v.factors[k], "1")}, ` +
          `${formatValue(v.shares[k], "%", 2)} of the spread`,
      )
      .join("; ") || "every input exact";
  return `${v.label}: median ${median}, nine in ten ${interval}, worst case ${worst}; ${guesses}.`;
}

/**
 * @param {View} v
 * @returns {Table}
 */
function table(v) {
  const body = v.names.map((name, i) => [
    name,
    formatValue(v.values[i], v.units[i]),
    formatValue(v.factors[i], "1"),
    formatValue(v.shares[i], "%", 2),
  ]);
  body.push([
    v.label,
    formatValue(v.median, v.unit, v.digits),
    formatValue(Math.sqrt(v.high / v.low), "1"),
    "100\u00a0%",
  ]);
  return {
    head: ["Quantity", "Median", "Known to within a factor of", "Share of the spread"],
    body,
  };
}

export default { run, picture, readouts, words, table };
