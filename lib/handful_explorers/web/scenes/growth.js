// Two nearly equal inputs drift apart: a cipher beside random networks (growth.py is the twin).
import { formatValue, plural } from "../units.js";
import { circle, line, path, text } from "./shapes.js";

const LEFT = 46,
  FLOOR = -6.7,
  /** @type {[number, string][]} */
  TICKS = [
    [0, "1"],
    [-2, "0.01"],
    [-4, "10⁻⁴"],
    [-6, "10⁻⁶"],
  ],
  COLOURS = ["c1", "c4", "c2", "c0"];
/** @param {number} thousandths */
const value = (thousandths) => 10 ** (thousandths / 1000);
/** @param {number} x */
const told = (x) => formatValue(x, "1", 2);

/** @typedef {ReturnType<typeof run>} View */

/**
 * @param {SceneGiven<{ gain: string, depth: number }, { cipher: number[], kinds: Record<string,
 *   string>, gains: Record<string, Record<string, number[]>> }>} given
 */
function run({ input, spec }) {
  const { cipher, kinds, gains } = spec.data;
  const names = Object.keys(kinds),
    nets = gains[input.gain],
    rounds = Math.min(input.depth, cipher.length - 1);
  return {
    ...input,
    cipher,
    names,
    kinds,
    nets,
    rounds,
    found: names.map((kind) => value(nets[kind][input.depth])),
    share: value(cipher[rounds]),
  };
}

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const last = v.nets[v.names[0]].length - 1,
    wide = width >= 560,
    /** @type {Shape[]} */
    out = [];
  const entries = [
    ["toy cipher, bits", "ink"],
    ...v.names.map((kind, i) => [v.kinds[kind], COLOURS[i]]),
  ];
  entries.forEach(([label, colour], i) => {
    const x = wide ? ((i % 2) * width) / 2 : 0,
      y = 12 + (wide ? Math.floor(i / 2) : i) * 20;
    if (i) for (let n = 0; n < 3; n++) out.push(circle(x + 3 + 8 * n, y - 4, 2.4, colour));
    else
      out.push(
        path(
          [
            [x, y - 4],
            [x + 22, y - 4],
          ],
          colour,
          2.5,
        ),
      );
    out.push(text(x + 30, y, label, "ink"));
  });
  const top = 12 + (wide ? Math.floor((entries.length + 1) / 2) : entries.length) * 20 + 26,
    bottom = top + 270,
    right = width - 8;
  /** @param {number} layer */
  const across = (layer) => LEFT + ((right - LEFT) * layer) / last,
    /** @param {number} thousandths */
    up = (/** @type {number} */ thousandths) =>
      top + ((bottom - top) * (thousandths / 1000)) / FLOOR;
  for (const [decade, label] of TICKS) {
    const y = up(1000 * decade);
    out.push(line(LEFT, y, right, y, "grid"), text(LEFT - 6, y + 4, label, "soft small", "end"));
  }
  for (let layer = 0; layer <= last; layer += wide ? 8 : 16)
    out.push(text(across(layer), bottom + 18, String(layer), "soft small", "middle"));
  out.push(
    text(right, bottom + 36, "Layers, or rounds", "soft", "end"),
    text(LEFT + 6, top - 16, "Difference (1: as of two unrelated inputs)", "soft small"),
  );
  const here = across(v.depth);
  out.push(line(here, top, here, bottom, "ink dash"));
  v.names.forEach((kind, k) => {
    for (let i = 0; i <= v.depth; i += 2)
      out.push(circle(across(i), up(v.nets[kind][i]), 2.4, COLOURS[k]));
  });
  out.push(
    path(
      v.cipher.slice(0, v.rounds + 1).map((y, i) => [across(i), up(y)]),
      "ink",
      2.5,
    ),
    circle(across(v.rounds), up(v.cipher[v.rounds]), 5, "ink"),
  );
  v.names.forEach((kind, k) => out.push(circle(here, up(v.nets[kind][v.depth]), 5, COLOURS[k])));
  return [bottom + 44, out];
}

/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
function readouts(v) {
  return [
    ["toy cipher", told(v.share), `after ${plural(v.rounds, "round")}`],
    ...v.names.map((kind, i) => /** @type {ReadoutText} */ ([v.kinds[kind], told(v.found[i]), ""])),
  ];
}

/**
 * @param {View} v
 * @returns {string}
 */
function words(v) {
  const nets = v.names.map((kind, i) => `${v.kinds[kind]} ${told(v.found[i])}`).join("; ");
  return (
    "Distance of two nearly equal inputs, as a share of that of two unrelated ones. Toy " +
    `cipher, one bit flipped, round ${v.rounds}: ${told(v.share)}. Random networks with ` +
    `weights of gain ${v.gain}, a nudge of a millionth, layer ${v.depth}: ${nets}.`
  );
}

/**
 * @param {View} v
 * @returns {Table}
 */
function table(v) {
  /**
   * @param {number[]} values
   * @param {number} i
   */
  const at = (values, i) => (i < values.length ? told(value(values[i])) : "–");
  return {
    head: ["Layers, or rounds", "cipher", ...v.names.map((kind) => v.kinds[kind])],
    body: [0, 1, 2, 4, 6, 8, 16, 32, 64].map((i) => [
      String(i),
      at(v.cipher, i),
      ...v.names.map((kind) => at(v.nets[kind], i)),
    ]),
  };
}

export default { run, picture, readouts, words, table };
