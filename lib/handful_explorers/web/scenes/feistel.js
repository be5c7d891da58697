// Feistel rounds on a block of bits, forwards and back (feistel.py is the twin).
import { line, rect, text } from "./shapes.js";

const HALF = 16,
  MASK = 0xffff,
  GAP = 14,
  WIRE = 11,
  HEAD = 30,
  NARROW = 520;
/** @type {Record<string, string>} */
const NAMES = {
  sboxes: "S-boxes, then a shuffle of bits",
  square: "a square, cut to 16 bits",
  constant: "the key alone, whatever x is",
};

/** @param {Pair[]} blocks */
const last = (blocks) => blocks[blocks.length - 1];

/** @typedef {{ keys: number[], f: string, sbox: number[] }} Network */

// Bit i goes to bit 4 i mod 15; the last one stays.
/** @param {number} x */
function spread(x) {
  let out = 0;
  for (let i = 0; i < HALF; i++) out |= ((x >> i) & 1) << (i < HALF - 1 ? (4 * i) % (HALF - 1) : i);
  return out;
}

/**
 * @param {string} name
 * @param {number} x
 * @param {number} key
 * @param {number[]} sbox
 * @returns {number}
 */
function roundFunction(name, x, key, sbox) {
  if (name === "constant") return key;
  // Up to 34 bits: JavaScript's numbers hold them, its bit operations do not.
  if (name === "square") return (x + key) ** 2 % (MASK + 1);
  x ^= key;
  let through = 0;
  for (let shift = 0; shift < HALF; shift += 4) through |= sbox[(x >> shift) & 15] << shift;
  return spread(through);
}

/**
 * @param {Pair} block
 * @param {Network} v
 * @returns {Pair[]}
 */
function forwards(block, v) {
  /** @type {Pair[]} */
  const found = [block];
  for (const key of v.keys) {
    const [x, y] = last(found);
    found.push([y ^ roundFunction(v.f, x, key, v.sbox), x]);
  }
  return found;
}

/**
 * @param {Pair} block
 * @param {Network} v
 * @returns {Pair[]}
 */
function backwards(block, v) {
  /** @type {Pair[]} */
  const found = [block];
  for (const key of [...v.keys].reverse()) {
    const [x, y] = last(found);
    found.push([y, x ^ roundFunction(v.f, y, key, v.sbox)]);
  }
  return found;
}

/** @param {number} x */
function ones(x) {
  let count = 0;
  for (; x; x &= x - 1) count++;
  return count;
}

/**
 * @param {Pair} a
 * @param {Pair} b
 */
const differing = (a, b) => ones(a[0] ^ b[0]) + ones(a[1] ^ b[1]);
/**
 * @param {Pair} a
 * @param {Pair} b
 */
const same = (a, b) => a[0] === b[0] && a[1] === b[1];

/** @typedef {ReturnType<typeof run>} View */

/**
 * @param {SceneGiven<{ rounds: number, flip: number, f: string, back: boolean }, {
 *   sbox: number[], keys: number[], block: Pair }>} given
 */
function run({ input, spec }) {
  const { sbox, keys, block: start } = spec.data,
    v = { ...input, sbox, keys: keys.slice(0, input.rounds) };
  const { flip } = v;
  /** @type {Pair} */
  const other = [
    start[0] ^ (flip && flip <= HALF ? 1 << (HALF - flip) : 0),
    start[1] ^ (flip > HALF ? 1 << (2 * HALF - flip) : 0),
  ];
  const one = forwards(start, v),
    two = forwards(other, v),
    oneBack = v.back ? backwards(last(one), v) : [],
    twoBack = v.back ? backwards(last(two), v) : [],
    recovered = v.back && same(last(oneBack), start) && same(last(twoBack), other);
  return { ...v, one, two, oneBack, twoBack, recovered };
}

/** @param {Pair} block */
const written = (block) => block.map((half) => half.toString(16).padStart(4, "0")).join(" ");

/**
 * @param {number} bit
 * @param {number} turned
 */
function classOf(bit, turned) {
  if (turned) return bit ? "c1" : "c1 outline";
  return bit ? "soft" : "soft pale outline";
}

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  // On a phone: short labels, so that a bit stays large enough to see.
  const narrow = width < NARROW,
    [left, room] = narrow ? [26, 22] : [62, 62];
  const size = Math.min(18, (width - left - room - GAP) / (2 * HALF)),
    right = left + 2 * HALF * size + GAP;
  const middle = [left + 8 * size, left + 24 * size + GAP],
    rounds = v.keys.length;
  /** @type {Shape[]} */
  const out = [
    text(middle[0], 14, "x", "ink strong", "middle"),
    text(middle[1], 14, "y", "ink strong", "middle"),
    text(narrow ? width : right + 8, 14, "changed", "soft small", narrow ? "end" : "start"),
  ];
  let y = HEAD;
  /**
   * @param {string} label
   * @param {Pair} one
   * @param {Pair} two
   */
  const row = (label, one, two) => {
    out.push(text(0, y + size / 2 + 4, label, "soft small"));
    for (const half of /** @type {const} */ ([0, 1])) {
      for (let i = 0; i < HALF; i++) {
        const bit = (one[half] >> (HALF - 1 - i)) & 1,
          turned = ((one[half] ^ two[half]) >> (HALF - 1 - i)) & 1;
        const x = left + (half * HALF + i) * size + half * GAP;
        out.push(rect(x + 0.5, y + 0.5, size - 1.5, size - 1.5, classOf(bit, turned)));
      }
    }
    if (v.flip)
      out.push(
        text(
          right + 8,
          y + size / 2 + 4,
          `${differing(one, two)}${narrow ? "" : " of 32"}`,
          "ink small",
        ),
      );
  };
  v.one.forEach((one, i) => {
    const [first, round] = narrow ? ["in", `${i}`] : ["input", `round ${i}`];
    row(i ? round : first, one, v.two[i]);
    if (i < rounds) out.push(line(middle[0], y + size, middle[1], y + size + WIRE, "soft"));
    y += size + WIRE;
  });
  if (v.back) {
    y += 22;
    out.push(text(0, y - 10, "and back: the same f, last round first", "ink strong"));
    for (let i = 1; i <= rounds; i++) {
      row(narrow ? `−${rounds - i + 1}` : `undo ${rounds - i + 1}`, v.oneBack[i], v.twoBack[i]);
      if (i < rounds) out.push(line(middle[1], y + size, middle[0], y + size + WIRE, "soft"));
      y += size + WIRE;
    }
    if (!rounds) {
      out.push(text(0, y + 6, "nothing to undo", "soft"));
      y += 16;
    }
  }
  return [y, out];
}

/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
function readouts(v) {
  /** @type {ReadoutText[]} */
  const found = [
    ["Block in", written(v.one[0]), ""],
    ["Block out", written(last(v.one)), ""],
  ];
  if (v.flip)
    found.push([
      "Bits changed",
      `${differing(last(v.one), last(v.two))} of 32`,
      "by pure chance: 16",
    ]);
  if (v.back) found.push(["Input recovered", v.recovered ? "yes, both blocks" : "no", ""]);
  return found;
}

/**
 * @param {View} v
 * @returns {string}
 */
function words(v) {
  const rounds = v.keys.length,
    [times, turn] = rounds === 1 ? ["1 round", "turns"] : [`${rounds} rounds`, "turn"];
  let told =
    `${times} with ${NAMES[v.f]} ${turn} the block ${written(v.one[0])} into ` +
    `${written(last(v.one))}.`;
  const changed = differing(last(v.one), last(v.two));
  if (v.flip)
    told +=
      ` With bit ${v.flip} of the input flipped, ${changed} of the 32 bits ` +
      `${changed === 1 ? "comes" : "come"} out changed.`;
  if (v.back)
    told +=
      " Run backwards, the rounds give " +
      `${v.recovered ? "the input back, bit for bit." : "something else."}`;
  return told;
}

/**
 * @param {View} v
 * @returns {Table}
 */
function table(v) {
  /**
   * @param {string} label
   * @param {Pair} one
   * @param {Pair} two
   */
  const row = (label, one, two) => [label, written(one), written(two), String(differing(one, two))];
  const body = v.one.map((one, i) => row(i ? `round ${i}` : "input", one, v.two[i]));
  for (let i = 1; i < v.oneBack.length; i++)
    body.push(row(`undo ${v.keys.length - i + 1}`, v.oneBack[i], v.twoBack[i]));
  return { head: ["After", "Block", "With the bit flipped", "Bits changed"], body };
}

export default { run, picture, readouts, words, table };
