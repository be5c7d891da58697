// Scales and path data for a frame: plain loops over typed arrays, because this is where a frame's
// time goes.

// A function from value to pixel, with `invert`, and `all` for a whole array.
/**
 * @param {Pair} domain
 * @param {Pair} range
 * @param {boolean} log
 */
export function scale([d0, d1], [r0, r1], log) {
  const f = log ? Math.log : (/** @type {number} */ v) => v,
    slope = (r1 - r0) / (f(d1) - f(d0)),
    offset = r0 - slope * f(d0);
  /** @type {(v: number) => number} */
  const onto = log ? (v) => offset + slope * Math.log(v) : (v) => offset + slope * v;
  return Object.assign(onto, {
    slope,
    offset,
    invert: (/** @type {number} */ p) =>
      log ? Math.exp((p - offset) / slope) : (p - offset) / slope,
    /** @param {Numbers} values */
    all(values) {
      const out = new Float64Array(values.length);
      for (let i = 0; i < out.length; i++) out[i] = onto(values[i]);
      return out;
    },
  });
}

// pixels: what lies further out is pulled near, so that no path holds twenty digits
const FAR = 3000;
/** @param {number} v */
const tenth = (v) => {
  let near = v > FAR ? FAR : v;
  if (near < -FAR) near = -FAR;
  return Math.round(near * 10) / 10;
};

// Points of a run between which straight lines pass within a tenth of a pixel of all others: from
// the last one kept, the slopes that still meet all since then narrow to nothing.  Where x does not
// grow, every point is kept.
const NEAR = 0.1;
/**
 * @param {Numbers} X
 * @param {Numbers} Y
 * @param {number} from
 * @param {number} to
 */
function simplifyPolyline(X, Y, from, to) {
  const out = [from];
  let last = from,
    least = -Infinity,
    most = Infinity;
  for (let i = from + 1; i <= to; i++) {
    let across = X[i] - X[last],
      slope = (Y[i] - Y[last]) / across;
    if (!(across > 0 && slope >= least && slope <= most)) {
      if (i - 1 > last) out.push(i - 1);
      last = i - 1;
      least = -Infinity;
      most = Infinity;
      across = X[i] - X[last];
      slope = (Y[i] - Y[last]) / across;
    }
    if (!(across > 0)) {
      out.push(i);
      last = i;
      least = -Infinity;
      most = Infinity;
      continue;
    }
    least = Math.max(least, slope - NEAR / across);
    most = Math.min(most, slope + NEAR / across);
  }
  if (to > last) out.push(to);
  return out;
}

// Stretches without gaps, as [first, last].
/**
 * @param {Numbers} X
 * @param {Numbers} Y
 * @returns {Pair[]}
 */
function stretches(X, Y) {
  /** @type {Pair[]} */
  const out = [];
  let start = -1;
  for (let i = 0; i <= X.length; i++) {
    const ok = i < X.length && Number.isFinite(X[i]) && Number.isFinite(Y[i]);
    if (ok && start < 0) start = i;
    if (!ok && start >= 0) {
      out.push([start, i - 1]);
      start = -1;
    }
  }
  return out;
}

/**
 * @param {Numbers} X
 * @param {Numbers} Y
 */
export function linePath(X, Y) {
  let d = "";
  for (const [from, to] of stretches(X, Y)) {
    let head = "M";
    for (const i of simplifyPolyline(X, Y, from, to)) {
      d += `${head}${tenth(X[i])},${tenth(Y[i])}`;
      head = "L";
    }
  }
  return d || "M0,0";
}

// Between two edges over the same x.
/**
 * @param {Numbers} X
 * @param {Numbers} low
 * @param {Numbers} high
 */
export function ribbonPath(X, low, high) {
  let d = "";
  for (const [from, to] of stretches(X, high)) {
    let head = "M";
    for (const i of simplifyPolyline(X, high, from, to)) {
      d += `${head}${tenth(X[i])},${tenth(high[i])}`;
      head = "L";
    }
    for (const i of simplifyPolyline(X, low, from, to).reverse())
      d += `L${tenth(X[i])},${tenth(low[i])}`;
    d += "z";
  }
  return d || "M0,0";
}
