// Racks with chips in them, and the copies of one token on their way (racks.py is the twin).
import { formatValue, plural } from "../units.js";
import { mulberry32 } from "../random.js";
import { path, rect, text } from "./shapes.js";

/** @typedef {"inside" | "leaving" | "fabric" | "network" | "slowdown"} Measure */
const KEYS = /** @type {Measure[]} */ (["inside", "leaving", "fabric", "network", "slowdown"]),
  GAP = 18,
  HEAD = 20,
  PAD = 8,
  TRUNK = 34;
/** @type {[string, "fabric" | "network" | "joined", string][]} */
const METERS = [
  ["Each chip's link to its fabric", "fabric", "c0"],
  ["Each chip's port to the network", "network", "c1"],
  ["If one fabric joined all chips", "joined", "soft"],
];

// One token: its chip, in the first rack, and those of its experts (simulate/router.py).
/**
 * @param {number} experts
 * @param {number} active
 * @param {number} devices
 * @param {number} chips
 * @param {number} limit
 * @param {number} seed
 * @returns {[number, number[]]}
 */
function token(experts, active, devices, chips, limit, seed) {
  const draw = mulberry32(seed),
    home = Math.floor(draw() * chips);
  const all = Array.from({ length: experts }, (_, e) => e);
  let scores = all.map(() => draw());
  const chip = all.map((e) => Math.floor((e * devices) / experts)),
    racks = devices / chips,
    rackOf = (/** @type {number} */ e) => Math.floor(chip[e] / chips);
  if (limit < racks) {
    const best = Math.ceil(active / limit),
      /** @type {number[]} */
      sums = [];
    for (let r = 0; r < racks; r++)
      sums.push(
        all
          .filter((e) => rackOf(e) === r)
          .map((e) => scores[e])
          .sort((a, b) => b - a)
          .slice(0, best)
          .reduce((a, b) => a + b, 0),
      );
    const kept = new Set(
      sums
        .map((_, r) => r)
        .sort((a, b) => sums[b] - sums[a] || a - b)
        .slice(0, limit),
    );
    scores = scores.map((score, e) => (kept.has(rackOf(e)) ? score : -1));
  }
  const picks = [...all]
    .sort((a, b) => scores[b] - scores[a] || a - b)
    .slice(0, active)
    .sort((a, b) => a - b);
  return [home, picks.map((e) => chip[e])];
}

/**
 * @typedef {{ chips: number, columns: number, place: string }} Machine
 * @typedef {ReturnType<typeof run>} View
 */

/**
 * @param {SceneGiven<{ machine: string, scale_up_domains: number, way: string, which: number }, {
 *   machines: Record<string, Machine>, limit: number, experts: number, active: number }>} given
 */
function run({ input, numbers, spec }) {
  const { data } = spec,
    machine = data.machines[input.machine],
    racks = input.scale_up_domains;
  const { way } = input,
    limit = way === "limited" ? data.limit : racks;
  const [home, picks] = token(
    data.experts,
    data.active,
    racks * machine.chips,
    machine.chips,
    limit,
    input.which,
  );
  const measures = /** @type {Record<Measure, number>} */ (
    Object.fromEntries(KEYS.map((key) => [key, numbers[`${key}_${way}`]]))
  );
  return {
    ...measures,
    joined: numbers.joined,
    racks,
    home,
    picks,
    once: way !== "each",
    bound: way === "limited" && racks > data.limit ? "at most" : "mean",
    ...machine,
  };
}

/**
 * @param {View} v
 * @param {number} width
 */
function places(v, width) {
  const across = Math.min(v.racks, width >= 560 ? 4 : 2),
    box = (width - GAP * (across - 1)) / across;
  const pitch = Math.min(26, (box - 2 * PAD) / v.columns, 200 / v.columns),
    tall = HEAD + Math.ceil(v.chips / v.columns) * pitch + PAD;
  const rows = Math.ceil(v.racks / across),
    pair = 2 * tall + 2 * TRUNK + GAP;
  /**
   * @param {number} r
   * @returns {Pair}
   */
  const corner = (r) => {
    const row = Math.floor(r / across);
    return [
      (r % across) * (box + GAP),
      Math.floor(row / 2) * pair + (row % 2) * (tall + 2 * TRUNK),
    ];
  };
  /**
   * @param {number} i
   * @returns {Pair}
   */
  const chip = (i) => {
    const [x, y] = corner(Math.floor(i / v.chips)),
      k = i % v.chips,
      left = x + (box - pitch * v.columns) / 2;
    return [
      left + ((k % v.columns) + 0.5) * pitch,
      y + HEAD + (Math.floor(k / v.columns) + 0.5) * pitch,
    ];
  };
  /** @param {number} r */
  const bar = (r) => Math.floor(Math.floor(r / across) / 2) * pair + tall + TRUNK;
  let last = rows % 2 ? tall + TRUNK + 12 : 2 * tall + 2 * TRUNK;
  if (v.racks === 1) last = tall;
  return {
    box,
    tall,
    pitch,
    corner,
    chip,
    bar,
    across,
    bottom: (Math.ceil(rows / 2) - 1) * pair + last,
  };
}

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const at = places(v, width),
    { chips, racks, home } = v,
    /** @type {Shape[]} */
    out = [],
    trunk = racks > 1 ? 1.5 + 1.5 * v.leaving : 0;
  for (let r = 0; r < racks; r++) {
    const [x, y] = at.corner(r),
      up = at.bar(r) > y + at.tall,
      mid = x + at.box / 2;
    if (racks > 1)
      out.push(
        path(
          [
            [mid, up ? y + at.tall : y],
            [mid, at.bar(r)],
          ],
          "c1 pale",
          trunk,
        ),
      );
    if (racks > 1 && up && r % at.across === 0) {
      const end = at.corner(Math.min(r + at.across, racks) - 1)[0] + at.box / 2;
      out.push(
        path(
          [
            [mid, at.bar(r)],
            [Math.max(end, mid + 1), at.bar(r)],
          ],
          "c1 pale",
          trunk,
        ),
      );
    }
  }
  if (racks > 2 * at.across)
    out.push(
      path(
        [
          [at.box / 2, at.bar(0)],
          [at.box / 2, at.bar(racks - 1)],
        ],
        "c1 pale",
        trunk,
      ),
    );
  for (let r = 0; r < racks; r++) {
    const [x, y] = at.corner(r);
    out.push(
      rect(x + 0.5, y + 0.5, at.box - 1, at.tall - 1, "paper"),
      rect(x + 0.5, y + 0.5, at.box - 1, at.tall - 1, "soft outline"),
      text(x + PAD, y + 14, `${v.place} ${r + 1}`, "soft small"),
    );
  }
  const picked = new Set(v.picks),
    size = at.pitch * 0.72;
  // Where a rack's one copy arrives, unless that chip holds an expert too.
  const landing = new Set(
    v.once
      ? v.picks.filter((i) => i >= chips).map((i) => Math.floor(i / chips) * chips + home)
      : [],
  );
  for (let i = 0; i < racks * chips; i++) {
    const [x, y] = at.chip(i);
    let c = landing.has(i) ? "c1 pale" : "c0 faint";
    if (picked.has(i)) c = i < chips ? "c0" : "c1";
    if (i === home) c = "ink";
    out.push(rect(x - size / 2, y - size / 2, size, size, c));
  }
  out.push(...routes(v, at));
  if (racks > 1)
    out.push(text(width / 2, at.bar(0) - 8 - trunk / 2, "network", "c1 small", "middle"));
  return meters(v, at.bottom + 26, width, out);
}

/**
 * @param {View} v
 * @param {ReturnType<typeof places>} at
 */
function routes(v, at) {
  const { chips, home } = v,
    /** @type {Shape[]} */
    out = [],
    start = at.chip(home),
    landed = new Set();
  for (const i of v.picks) {
    if (i === home) continue;
    const r = Math.floor(i / chips),
      end = at.chip(i);
    if (r === 0) {
      out.push(path([start, end], "c0", 1.4));
      continue;
    }
    const landing = v.once ? at.chip(r * chips + home) : end;
    if (!(v.once && landed.has(r))) {
      const a = at.corner(0)[0] + at.box / 2,
        b = at.corner(r)[0] + at.box / 2,
        first = at.bar(0),
        last = at.bar(r);
      /** @type {Pair[]} */
      const turn =
        first === last
          ? []
          : [
              [at.box / 2, first],
              [at.box / 2, last],
            ];
      out.push(path([start, [a, first], ...turn, [b, last], landing], "c1", 1.4));
      landed.add(r);
    }
    if (v.once && i !== r * chips + home) out.push(path([landing, end], "c0", 1.4));
  }
  return out;
}

/**
 * @param {View} v
 * @param {number} top
 * @param {number} width
 * @param {Shape[]} out
 * @returns {Picture}
 */
function meters(v, top, width, out) {
  const most = Math.max(v.fabric, v.network, v.joined);
  METERS.forEach(([label, key, c], i) => {
    const y = top + 40 * i,
      wide = most > 0 ? ((width - 96) * v[key]) / most : 0;
    out.push(
      text(0, y, label, "ink"),
      rect(0, y + 6, Math.max(wide, 1), 13, c),
      text(wide + 6, y + 17, formatValue(v[key], "s"), "ink strong"),
    );
  });
  return [top + 40 * 2 + 24, out];
}

/** @param {View} v */
function counts(v) {
  const away = v.picks.map((i) => Math.floor(i / v.chips)).filter(Boolean),
    own = v.picks.filter((i) => i === v.home).length;
  return {
    own,
    inside: v.picks.length - away.length - own,
    outside: away.length,
    reached: new Set(away).size,
  };
}

/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
function readouts(v) {
  const n = counts(v),
    crossing = v.once ? n.reached : n.outside,
    inside = n.inside + (v.once ? n.outside : 0);
  return [
    [
      "Copies on the fabric, mean",
      formatValue(v.inside, "1"),
      `${v.once ? "about " : ""}${inside} for this token`,
    ],
    [`Copies that leave, ${v.bound}`, formatValue(v.leaving, "1"), `${crossing} for this token`],
    [
      "All-to-all, times one fabric",
      formatValue(v.slowdown, "1"),
      "the slower of fabric and network",
    ],
  ];
}

/**
 * @param {View} v
 * @returns {string}
 */
function words(v) {
  const n = counts(v),
    { place } = v;
  const where = !n.outside
    ? `all in its own ${place}`
    : `${n.own + n.inside} in its own ${place} and ${n.outside} outside, in ` +
      plural(n.reached, "other");
  const slower = v.network > v.fabric ? "network" : "fabric";
  return (
    `${v.racks} × ${v.chips} chips. The token shown has its experts ${where}. On average ` +
    `${formatValue(v.inside, "1")} copies cross the fabric and ` +
    `${v.bound === "at most" ? "at most " : ""}${formatValue(v.leaving, "1")} leave; the ${slower} sets the pace, ${formatValue(Math.max(v.fabric, v.network), "s")} in ` +
    `one layer against ${formatValue(v.joined, "s")} on one fabric.`
  );
}

/**
 * @param {View} v
 * @returns {Table}
 */
const table = (v) => ({
  head: ["Over", `Copies of a token, ${v.bound}`, "Time in one layer"],
  body: [
    ["fabric", formatValue(v.inside, "1"), formatValue(v.fabric, "s")],
    ["network", formatValue(v.leaving, "1"), formatValue(v.network, "s")],
    ["one fabric for all", "–", formatValue(v.joined, "s")],
  ],
});

export default { run, picture, readouts, words, table };
