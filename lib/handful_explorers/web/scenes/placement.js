// Experts on chips, and what a router that throws dice sends to each (placement.py is the twin).
import { formatValue } from "../units.js";
import { mulberry32 } from "../random.js";
import { line, rect, text } from "./shapes.js";

const TOP = 30,
  DEEP = 250,
  MARGIN = 112,
  SPACE = 17,
  MOST = 8192;

// Cumulated shares: the r-th most popular expert is picked in proportion to r^-skew; ranks are
// shuffled, always alike.
/**
 * @param {number} experts
 * @param {number} skew
 */
function popularity(experts, skew) {
  const ranks = Array.from({ length: experts }, (_, i) => i),
    draw = mulberry32(0);
  for (let i = experts - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1));
    [ranks[i], ranks[j]] = [ranks[j], ranks[i]];
  }
  const shares = ranks.map((rank) => (rank + 1) ** -skew),
    total = shares.reduce((a, b) => a + b, 0);
  let below = 0;
  return Float64Array.from(shares, (share) => (below += share / total));
}

/**
 * @param {Float64Array} shares
 * @param {number} x
 */
function find(shares, x) {
  let low = 0,
    high = shares.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shares[middle] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The picks of the most tokens that are drawn, once for each router and seed: a smaller batch is
// their beginning.
/** @type {Map<string, Uint16Array>} */
const made = new Map();
/**
 * @param {number} experts
 * @param {number} active
 * @param {number} skew
 * @param {number} seed
 * @returns {Uint16Array}
 */
function picks(experts, active, skew, seed) {
  const key = `${experts} ${active} ${skew} ${seed}`;
  const before = made.get(key);
  if (before) return before;
  const draw = mulberry32(seed),
    shares = popularity(experts, skew),
    out = new Uint16Array(MOST * active);
  for (let t = 0; t < MOST; t++) {
    const from = t * active;
    for (let found = 0; found < active;) {
      const expert = find(shares, draw());
      let known = false;
      for (let i = 0; i < found; i++)
        if (out[from + i] === expert) {
          known = true;
          break;
        }
      if (!known) out[from + found++] = expert;
    }
  }
  if (made.size > 12) made.clear();
  made.set(key, out);
  return out;
}

/**
 * @param {number[]} counts
 * @param {number} devices
 * @param {number} spare
 * @returns {number[][]}
 */
function spread(counts, devices, spare) {
  /** @type {number[][]} */
  const chips = Array.from({ length: devices }, () => []),
    n = counts.length;
  if (!spare) {
    counts.forEach((count, i) => chips[Math.floor((i * devices) / n)].push(count));
    return chips;
  }
  const copies = new Array(n).fill(1);
  for (let s = 0; s < spare; s++) {
    let busiest = 0;
    for (let i = 1; i < n; i++)
      if (counts[i] / copies[i] > counts[busiest] / copies[busiest]) busiest = i;
    copies[busiest]++;
  }
  const pieces = counts.flatMap((count, i) => new Array(copies[i]).fill(count / copies[i]));
  const order = pieces.map((_, i) => i).sort((a, b) => pieces[b] - pieces[a] || a - b),
    room = Math.ceil(pieces.length / devices),
    sums = new Array(devices).fill(0);
  for (const i of order) {
    let chip = -1;
    for (let j = 0; j < devices; j++)
      if (chips[j].length < room && (chip < 0 || sums[j] < sums[chip])) chip = j;
    chips[chip].push(pieces[i]);
    sums[chip] += pieces[i];
  }
  return chips;
}

/** @typedef {ReturnType<typeof run>} View */

/**
 * @param {SceneGiven<{ batch: number, skew: number, seed: number, devices: number, spare: string },
 *   { experts: number, active: number, spare: number }>} given
 */
function run({ input, numbers, spec }) {
  const { experts, active, spare } = spec.data,
    tokens = Math.min(MOST, Math.max(1, Math.round(input.batch)));
  const drawn = picks(experts, active, input.skew, input.seed),
    counts = new Array(experts).fill(0);
  for (let i = 0; i < tokens * active; i++) counts[drawn[i]]++;
  const chips = spread(counts, input.devices, input.spare === "spare" ? spare : 0),
    sums = chips.map((chip) => chip.reduce((a, b) => a + b, 0));
  const busiest = Math.max(...sums);
  return {
    chips,
    sums,
    mean: (tokens * active) / chips.length,
    busiest,
    idlest: Math.min(...sums),
    tokens,
    which: sums.indexOf(busiest),
    closed: numbers.closed,
    skew: input.skew,
    spare: input.spare === "spare",
  };
}

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const right = width - MARGIN,
    n = v.chips.length,
    most = 1.08 * Math.max(v.busiest, v.closed * v.mean),
    bottom = TOP + DEEP,
    wide = right / n;
  /** @param {number} copies */
  const at = (copies) => bottom - (DEEP * copies) / most,
    /** @type {Shape[]} */
    out = [text(0, 14, "Copies on each chip, one strip an expert", "soft")];
  v.chips.forEach((chip, i) => {
    const colour = i === v.which ? "c1" : "c0";
    let below = 0;
    chip.forEach((copies, j) => {
      out.push(
        rect(
          wide * i + 0.1 * wide,
          at(below + copies),
          0.8 * wide,
          (DEEP * copies) / most,
          colour + (j % 2 ? " pale" : ""),
        ),
      );
      below += copies;
    });
  });
  out.push(line(0, bottom, right, bottom, "soft"));
  const labels = /** @type {[number, string, string][]} */ ([
    [at(v.mean), `mean ${formatValue(v.mean, "1")}`, "ink"],
    [at(v.closed * v.mean), `chance ${formatValue(v.closed * v.mean, "1")}`, "c2"],
    [at(v.busiest), `busiest ${formatValue(v.busiest, "1")}`, "c1"],
  ]).sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1));
  let place = -1e9;
  for (const [y, label, colour] of labels) {
    place = Math.max(y + 4, place + SPACE);
    out.push(
      line(0, y, right, y, colour + (colour !== "ink" ? " dash" : "")),
      text(right + 6, place, label, colour),
    );
  }
  out.push(text(0, bottom + 17, `${n} chips`, "soft small"));
  return [bottom + 22, out];
}

/**
 * @param {View} v
 * @param {number} copies
 */
const over = (v, copies) => formatValue(copies / v.mean, "1");

/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
function readouts(v) {
  return [
    ["Busiest chip over the mean", over(v, v.busiest), "in this draw"],
    ["What chance alone does", formatValue(v.closed, "1"), "closed form, without favourites"],
    [
      "Time lost waiting for it",
      formatValue(1 - v.mean / v.busiest, "%"),
      "of the other chips, on average",
    ],
    ["Idlest chip over the mean", over(v, v.idlest), ""],
  ];
}

/**
 * @param {View} v
 * @returns {string}
 */
function words(v) {
  const how = v.spare
    ? "some experts have second copies and all are placed by load"
    : "experts lie in order";
  const who = v.skew === 0 ? "a router without favourites" : "a router with favourites";
  return (
    `${formatValue(v.tokens, "1", 6)} tokens, ${who}, ${v.chips.length} chips; ${how}. The ` +
    `busiest chip gets ${formatValue(v.busiest, "1")} copies, ${over(v, v.busiest)} times the ` +
    `mean of ${formatValue(v.mean, "1")}; the closed form for chance alone says ` +
    `${formatValue(v.closed, "1")} times.`
  );
}

/**
 * @param {View} v
 * @returns {Table}
 */
const table = (v) => ({
  head: ["Chip", "Copies", "Over the mean"],
  body: /** @type {[string, number][]} */ ([
    ["busiest", v.busiest],
    ["mean", v.mean],
    ["idlest", v.idlest],
    ["busiest, closed form", v.closed * v.mean],
  ]).map(([name, copies]) => [name, formatValue(copies, "1"), over(v, copies)]),
});

export default { run, picture, readouts, words, table };
