// Fits what a server adds to its floor: the twin of own_server/fit.py.
import { mulberry32 } from "../../handful_explorers/web/random.js";
import { formatValue, plural } from "../../handful_explorers/web/units.js";
import { ServerError } from "./own_server.js";

/**
 * @typedef {import("./own_server.js").Point} Point
 * @typedef {import("./own_server.js").Fit} Fit
 */

export const DRAWS = 400;
const FEWEST = 4,
  MOST_DRAWN = 1000,
  LEVEL = 0.9,
  FAR_OFF = 0.2,
  SPREAD = 1.5,
  ALIKE = 1e-12,
  LIMIT = 0.995,
  LEAST = [1, 1, 0],
  NAMES = ["memory_efficiency", "compute_efficiency", "fixed_time"];

// Products of the four columns with each other, in the order 00 01 02 03 11 12 13 22 23 33.
const PLACE = [
    [0, 1, 2, 3],
    [1, 4, 5, 6],
    [2, 5, 7, 8],
    [3, 6, 8, 9],
  ],
  CHOSEN = [[0, 1, 2], [0, 1], [0, 2], [1, 2], [0], [1], [2]];

/**
 * @param {ArrayLike<number>} total
 * @param {number[]} chosen
 * @returns {number[] | null}
 */
function solved(total, chosen) {
  const size = chosen.map((i) => Math.sqrt(total[PLACE[i][i]]));
  if (!size.every(Boolean)) return null;
  /** @type {number[][]} */
  const lower = [],
    /** @type {number[]} */
    right = [];
  for (const [row, i] of chosen.entries()) {
    /** @type {number[]} */
    const found = [];
    for (let column = 0; column <= row; column++) {
      let rest = 0;
      for (let k = 0; k < column; k++)
        rest += found[k] * (column < row ? lower[column][k] : found[k]);
      rest = total[PLACE[i][chosen[column]]] / (size[row] * size[column]) - rest;
      if (column < row) found.push(rest / lower[column][column]);
      else if (rest > ALIKE) found.push(Math.sqrt(rest));
      else return null;
    }
    lower.push(found);
    let taken = 0;
    for (let k = 0; k < row; k++) taken += found[k] * right[k];
    right.push((total[PLACE[i][3]] / size[row] - taken) / found[row]);
  }
  const out = [...right];
  for (let row = chosen.length - 1; row >= 0; row--) {
    let later = 0;
    for (let k = row + 1; k < chosen.length; k++) later += lower[k][row] * out[k];
    out[row] = (out[row] - later) / lower[row][row];
  }
  return out.map((value, row) => value / size[row]);
}

// The sums of rows of ten products, each so many times.  Written out: the bootstrap spends its time
// here, and locals are several times as fast as an array.
/**
 * @param {Float64Array} rows
 * @param {Float64Array} counts
 * @param {Float64Array} total
 */
function weighed(rows, counts, total) {
  let [a, b, c, d, e, f, g, h, i, j] = total.fill(0);
  for (let k = 0, at = 0; k < counts.length; k++, at += 10) {
    const times = counts[k];
    a += times * rows[at];
    b += times * rows[at + 1];
    c += times * rows[at + 2];
    d += times * rows[at + 3];
    e += times * rows[at + 4];
    f += times * rows[at + 5];
    g += times * rows[at + 6];
    h += times * rows[at + 7];
    i += times * rows[at + 8];
    j += times * rows[at + 9];
  }
  total.set([a, b, c, d, e, f, g, h, i, j]);
  return total;
}

/** @param {ArrayLike<number>} total */
function factorsOf(total) {
  let best = total[9],
    more = [0, 0, 0];
  for (const chosen of CHOSEN) {
    const found = solved(total, chosen);
    if (!found || Math.min(...found) < 0) continue;
    const error = total[9] - found.reduce((sum, v, k) => sum + v * total[PLACE[chosen[k]][3]], 0);
    if (error < best - ALIKE * total[9]) {
      best = error;
      more = [0, 0, 0];
      chosen.forEach((i, k) => (more[i] = found[k]));
    }
  }
  return more.map((value, i) => value + LEAST[i]);
}

/**
 * As NumPy's: straight between the two nearest.
 *
 * @param {number[] | Float64Array} values
 * @param {number} share
 */
export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort(),
    place = (sorted.length - 1) * share,
    low = Math.floor(place),
    high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
}
export const ENDS = [(1 - LEVEL) / 2, (1 + LEVEL) / 2];

/** @param {number[]} values */
export const median = (values) => quantile(values, 0.5);

/**
 * What the server adds to its floor.
 *
 * @param {Point[]} points
 * @returns {Fit}
 */
export function fit(points) {
  const used = points.filter((one) => !one.whyNot),
    n = used.length;
  if (n < FEWEST)
    throw new ServerError(
      `A fit needs ${FEWEST} points that can be used; there ${n === 1 ? "is" : "are"} ${n}.`,
    );
  const scale = [1, 1, median(used.map(({ measured }) => measured))],
    // three columns and what the least factors leave of 1, row after row
    shares = new Float64Array(4 * n);
  used.forEach(({ memoryTime, computeTime, measured }, k) => {
    const row = [memoryTime / measured, computeTime / measured, scale[2] / measured];
    shares.set(row, 4 * k);
    shares[4 * k + 3] = 1 - (row[0] + row[1]);
  });
  const weight = new Float64Array(n).fill(1),
    products = new Float64Array(10 * n),
    total = new Float64Array(10),
    once = new Float64Array(n).fill(1);
  const multiply = () => {
    for (let k = 0; k < n; k++) {
      const w = weight[k] ** 2;
      for (let i = 0, at = 10 * k; i < 4; i++)
        for (let j = i; j < 4; j++) products[at++] = w * shares[4 * k + i] * shares[4 * k + j];
    }
  };
  let factors = LEAST;
  for (let turn = 0; turn < 12; turn++) {
    multiply();
    factors = factorsOf(weighed(products, once, total));
    for (let k = 0; k < n; k++) {
      const at = 4 * k,
        fitted =
          shares[at] * factors[0] + shares[at + 1] * factors[1] + shares[at + 2] * factors[2];
      weight[k] = Math.max(Math.abs(Math.log(fitted)), 0.03) ** -0.5;
    }
  }
  multiply();
  // Many points are drawn in groups, every so many of them one group.
  const groups = Math.min(n, MOST_DRAWN),
    drawn = new Float64Array(10 * groups),
    counts = new Float64Array(groups);
  products.forEach((value, i) => (drawn[i % (10 * groups)] += value));
  /** @type {number[][]} */
  const draws = [];
  for (let d = 0; d < DRAWS; d++) {
    const draw = mulberry32(d);
    counts.fill(0);
    for (let k = 0; k < groups; k++) counts[Math.floor(draw() * groups)] += 1;
    draws.push(factorsOf(weighed(drawn, counts, total)).map((value, i) => value * scale[i]));
  }
  // The mean of the draws, and not the least squares, which lie at an edge where the points do not
  // tell the parts apart.
  factors = NAMES.map((_, i) => {
    const ends = ENDS.map((share) =>
        quantile(
          draws.map((one) => one[i]),
          share,
        ),
      ),
      mean = draws.reduce((sum, one) => sum + one[i], 0) / DRAWS;
    return Math.min(Math.max(mean, ends[0]), ends[1]);
  });
  const residuals = used.map(({ memoryTime, computeTime, measured }) =>
    Math.log(measured / (memoryTime * factors[0] + computeTime * factors[1] + factors[2])),
  );
  /** @type {Record<string, Pair>} */
  const intervals = {};
  /** @type {Record<string, number>} */
  const values = {};
  NAMES.forEach((name, i) => {
    const ends = ENDS.map((share) =>
      quantile(
        draws.map((one) => one[i]),
        share,
      ),
    );
    values[name] = i < 2 ? 1 / factors[i] : factors[i];
    intervals[name] = /** @type {Pair} */ (i < 2 ? ends.map((end) => 1 / end).reverse() : ends);
  });
  const warnings = [...undetermined(used, intervals), ...missed(used, residuals)];
  return { factors, values, intervals, count: n, warnings, draws, residuals };
}

/** @param {number} value */
const share = (value) => formatValue(value, "%", 2);

/**
 * @param {Point[]} used
 * @param {number[]} residuals
 */
function missed(used, residuals) {
  const far = residuals
    .map((r, k) => ({ r, one: used[k] }))
    .filter(({ r }) => Math.abs(r) > FAR_OFF)
    .sort((a, b) => Math.abs(b.r) - Math.abs(a.r));
  if (!far.length) return [];
  const told = far
    .slice(0, 3)
    .map(
      ({ r, one }) =>
        `${one.run.source}: ${share(Math.abs(Math.expm1(r)))} ${r > 0 ? "slower" : "faster"} ` +
        `(${formatValue(one.batch, "1", 3)} × ${formatValue(one.context, "token", 3)})`,
    );
  return [
    `${plural(far.length, "point")} of ${used.length} ${far.length === 1 ? "lies" : "lie"} far ` +
      `from the fit: ${told.join("; ")}${far.length > 3 ? " …" : ""}.  Do not carry the fit to ` +
      "such loads.",
  ];
}

/**
 * @param {Point[]} used
 * @param {Record<string, Pair>} intervals
 */
function undetermined(used, intervals) {
  const found = [];
  /** @param {"batch" | "context"} name */
  const ratio = (name) => {
    let [low, high] = [Infinity, 0];
    for (const one of used) {
      low = Math.min(low, one[name]);
      high = Math.max(high, one[name]);
    }
    return high / low;
  };
  if (ratio("batch") < 2)
    found.push(
      "All points are of much the same batch, so that fixed time and reading of weights cannot " +
        "be told apart: measure at 1 and at many requests in flight.",
    );
  if (ratio("context") < 1.5)
    found.push(
      "All points are of much the same context, where a step grows with the batch in one way " +
        "only: reading, arithmetic and fixed time cannot be told apart, and predictions hold at " +
        "this context.  Measure with short and with long prompts.",
    );
  const pairs = ["reading", "arithmetic"].map((what, k) => ({ what, ends: intervals[NAMES[k]] }));
  if (pairs.every(({ ends: [low] }) => low > LIMIT))
    found.push(
      "Both efficiencies come out at their limit, which no chip reaches: probably more chips " +
        `shared the model than the ${formatValue(used[0].base.devices, "1", 6)} stated, or its ` +
        "numbers are narrower.",
    );
  else
    for (const {
      ends: [low, high],
      what,
    } of pairs)
      if (high > SPREAD * low)
        found.push(
          `The efficiency of ${what} lies anywhere between ${share(low)} and ${share(high)}: the ` +
            "points do not determine it.",
        );
      else if (high > LIMIT)
        found.push(
          `The efficiency of ${what} comes out at its limit, which no chip reaches: the points do ` +
            "not determine it.  Take it as high, and no more.",
        );
  const [least, most] = intervals[NAMES[2]];
  if (!least)
    found.push(
      "The fixed time lies anywhere between 0, which no server reaches, and " +
        `${formatValue(most, "s", 3)}: the points do not determine it.  Measure one user and ` +
        "many, with short and with long prompts.",
    );
  if (used.length < 3 * FEWEST)
    found.push(`The fit is from ${plural(used.length, "point")}; more would narrow it.`);
  return found;
}
