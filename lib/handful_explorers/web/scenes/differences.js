// How often each difference in becomes each difference out (differences.py is the twin).
import { plural } from "../units.js";
import { rect, text } from "./shapes.js";

const LEFT = 40,
  TOP = 44;
/** @param {number} i */
const hex = (i) => i.toString(16);

/**
 * @param {number} count
 * @param {number} size
 */
function shade(count, size) {
  if (count <= size / 8) return "c0 faint";
  return count <= size / 4 ? "c0 pale" : "c0";
}

/** @typedef {ReturnType<typeof run>} View */

/**
 * @param {SceneGiven<{ box: string, difference: number }, { tables: Record<string, number[][]>,
 *   names: Record<string, string> }>} given
 */
function run({ input, spec }) {
  const table = spec.data.tables[input.box],
    row = table[input.difference];
  return {
    ...input,
    table,
    row,
    name: spec.data.names[input.box],
    most: Math.max(...row),
    worst: Math.max(...table.slice(1).flat()),
    kinds: row.filter((count) => count > 0).length,
  };
}

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const size = v.table.length,
    cell = Math.min(28, (width - LEFT - 4) / size),
    y = TOP + v.difference * cell;
  /** @type {Shape[]} */
  const out = [text(LEFT, 14, "Difference out, in hexadecimal"), text(0, TOP - 8, "in")];
  for (let i = 0; i < size; i++) {
    out.push(text(LEFT + (i + 0.5) * cell, TOP - 8, hex(i), "soft small", "middle"));
    out.push(
      text(
        LEFT - 8,
        TOP + (i + 0.5) * cell + 4,
        hex(i),
        i === v.difference ? "ink strong" : "soft small",
        "end",
      ),
    );
  }
  v.table.forEach((row, i) =>
    row.forEach((count, j) => {
      if (count)
        out.push(
          rect(LEFT + j * cell + 1, TOP + i * cell + 1, cell - 2, cell - 2, shade(count, size)),
        );
    }),
  );
  out.push(rect(LEFT, y, size * cell, cell, "ink outline"));
  v.row.forEach((count, j) => {
    if (count)
      out.push(
        text(
          LEFT + (j + 0.5) * cell,
          y + cell / 2 + 4,
          String(count),
          count > size / 4 ? "paper small strong" : "ink small strong",
          "middle",
        ),
      );
  });
  return [TOP + size * cell + 6, out];
}

/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
function readouts(v) {
  const size = v.table.length;
  return [
    ["Differences out", String(v.kinds), `for difference ${hex(v.difference)} in`],
    ["Likeliest of them", `${v.most} of ${size} inputs`, ""],
    ["Likeliest of the whole table", `${v.worst} of ${size} inputs`, ""],
  ];
}

/**
 * @param {View} v
 * @returns {string}
 */
function words(v) {
  const size = v.table.length;
  return (
    `${v.name}: difference ${hex(v.difference)} in becomes ` +
    `${plural(v.kinds, "difference")} out, the likeliest for ` +
    `${v.most} of ${size} inputs; over all differences the likeliest is ${v.worst} of ${size}.`
  );
}

/**
 * @param {View} v
 * @returns {Table}
 */
const table = (v) => ({
  head: ["In", ...v.table.map((_, j) => hex(j))],
  body: v.table.map((row, i) => [hex(i), ...row.map(String)]),
});

export default { run, picture, readouts, words, table };
