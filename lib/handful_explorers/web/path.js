// Scales and points of lines for a frame: plain loops over typed arrays, because this is where a frame's
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

// pixels: what lies further out is pulled near, so that no line holds twenty digits
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
 * @param {number[]} places
 */
function points(X, Y, places) {
  let text = "";
  for (const i of places) text += `${text && " "}${tenth(X[i])},${tenth(Y[i])}`;
  return text;
}

// A polyline's points for each stretch without gaps: `points` is read faster than a path's `d`, and
// is no style.
/**
 * @param {Numbers} X
 * @param {Numbers} Y
 */
export const linePoints = (X, Y) =>
  stretches(X, Y).map(([from, to]) => points(X, Y, simplifyPolyline(X, Y, from, to)));

// A polygon's points between two edges over the same x.  Over a gap it goes and comes back the same
// way, which encloses nothing.
/**
 * @param {Numbers} X
 * @param {Numbers} low
 * @param {Numbers} high
 */
export function ribbonPoints(X, low, high) {
  const parts = stretches(X, high).map(([from, to]) => {
    const over = simplifyPolyline(X, high, from, to),
      under = simplifyPolyline(X, low, from, to).reverse();
    return `${points(X, high, over)} ${points(X, low, under)} ${points(X, high, [from])}`;
  });
  const back = parts.slice(0, -1).map((part) => part.slice(part.lastIndexOf(" ") + 1));
  return [...parts, ...back.reverse()].join(" ");
}
