// A pipeline schedule as a chart (gantt.py is the twin).
import { formatValue, plural } from "../units.js";
import { SCHEDULES, allowed, play } from "./pipeline.js";
import { line, rect, text } from "./shapes.js";

/** @type {Record<string, string>} */
const NAMES = {
  gpipe: "GPipe",
  "1f1b": "1F1B",
  interleaved: "Interleaved 1F1B",
  zero_bubble: "ZB-H1",
};
/** @type {Record<string, string>} */
const HELD = { interleaved: "one in a thin stage counts half" };
const LEGEND = [
  ["F", "forward", "c0"],
  ["B", "backward", "c1"],
  ["I", "backward, for inputs", "c3"],
  ["W", "backward, for weights", "c2"],
];
const COLOUR = Object.fromEntries(LEGEND.map(([kind, , colour]) => [kind, colour]));
const PER_CHARACTER = 7.2;
export const LEFT = 22;

// Without the dust of many additions.
/** @param {number} x */
export const clean = (x) => Math.floor(x * 1e9 + 0.5) / 1e9;
/** @param {number} x */
export const plain = (x) => formatValue(x, "1", 3);
/** @param {number} x */
const percent = (x) => formatValue(x, "%");

/** @typedef {ReturnType<typeof run>} View */

/**
 * @param {SceneGiven<{ schedule: string, pipeline_stages: number | string, micro_batches: number |
 *   string, backward_time: number, weight_gradient_time: number }>} given
 */
function run({ input, numbers }) {
  const name = input.schedule,
    wanted = [Number(input.pipeline_stages), Number(input.micro_batches)],
    [stages, many] = allowed(name, wanted[0], wanted[1]);
  const played = play(
    SCHEDULES[name](stages, many),
    1,
    input.backward_time,
    input.weight_gradient_time,
  );
  const bubble = clean(Math.max(...played.idle)),
    makespan = clean(played.makespan);
  return {
    name,
    stages,
    many,
    changed: stages !== wanted[0] || many !== wanted[1],
    bars: played.bars,
    makespan,
    bubble,
    formula: clean(numbers[name]),
    ofTotal: bubble / makespan,
    ofIdeal: bubble / (makespan - bubble),
    held: Math.max(...played.held),
  };
}

/**
 * @param {Pick<View, "bars" | "stages" | "makespan">} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const out = [],
    used = new Set(v.bars.flatMap((bar) => bar[3].map((piece) => piece[0])));
  let x = 0,
    y = 12;
  for (const [kind, word, colour] of LEGEND) {
    const wide = 32 + PER_CHARACTER * word.length;
    if (!used.has(kind)) continue;
    if (x + wide > width) {
      x = 0;
      y += 20;
    }
    out.push(rect(x, y - 10, 12, 12, colour), text(x + 17, y, word, "ink"));
    x += wide;
  }
  const top = y + 14,
    row = v.stages <= 4 ? 30 : 24,
    right = width - 2,
    bottom = top + row * v.stages,
    scale = (right - LEFT) / v.makespan;
  for (let device = 0; device < v.stages; device++) {
    const place = top + row * device;
    out.push(
      text(0, place + row / 2 + 4, String(device + 1), "soft"),
      rect(LEFT, place + 2, right - LEFT, row - 4, "grid"),
    );
  }
  for (const [device, start, end, pieces] of v.bars) {
    const high = (row - 4) / pieces.length;
    pieces.forEach(([kind, stream, stage, number], i) => {
      const at = LEFT + start * scale,
        wide = Math.max((end - start) * scale - 1, 0.6),
        second = stream === 1 || stage >= v.stages;
      const place = top + row * device + 2 + high * i,
        label = String(number + 1);
      out.push(
        rect(
          at,
          place,
          wide,
          high - (i < pieces.length - 1 ? 1 : 0),
          COLOUR[kind] + (second ? " pale" : ""),
        ),
      );
      if (wide >= 5 + 6.5 * label.length && high >= 12)
        out.push(
          text(
            at + wide / 2,
            place + high / 2 + 4,
            label,
            `${second ? "ink" : "paper"} small`,
            "middle",
          ),
        );
    });
  }
  const step = [1, 2, 5, 10, 20, 50, 100, 200].find((m) => m * scale >= 34) ?? NaN;
  for (let i = 0; i <= Math.floor(v.makespan / step + 1e-9); i++) {
    const tick = LEFT + i * step * scale;
    out.push(
      line(tick, bottom + 1, tick, bottom + 5),
      text(tick, bottom + 18, String(i * step), "soft small", tick > right - 8 ? "end" : "middle"),
    );
  }
  out.push(
    text(right, bottom + 36, "Time, in forward passes; rows are racks", "soft small", "end"),
  );
  return [bottom + 42, out];
}

/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
function readouts(v) {
  const exact = Math.abs(v.bubble - v.formula) < 1e-6 ? "as played" : "played differs";
  const sizes = v.changed
    ? `played with ${v.stages} stages and ${v.many} micro-batches, the nearest that this ` +
      "schedule takes"
    : `${v.stages} stages, ${plural(v.many, "micro-batch", "micro-batches")}`;
  return [
    ["Bubble, in forward passes", plain(v.bubble), `closed form ${plain(v.formula)}: ${exact}`],
    ["Share of the whole time", percent(v.ofTotal), `of the work: ${percent(v.ofIdeal)}`],
    ["Micro-batches in flight", plain(v.held), HELD[v.name] || "on the device that holds most"],
    ["Whole step, in forward passes", plain(v.makespan), sizes],
  ];
}

/** @param {View} v */
const words = (v) =>
  `${NAMES[v.name]} with ${v.stages} stages and ` +
  `${plural(v.many, "micro-batch", "micro-batches")} takes ${plain(v.makespan)} ` +
  `forward passes; a stage waits for ${plain(v.bubble)} of them at most, ` +
  `${percent(v.ofTotal)} of the whole time, and holds ${plain(v.held)} micro-batches in flight ` +
  `at most.`;

/**
 * @param {View} v
 * @returns {Table}
 */
function table(v) {
  /** @type {string[][]} */
  const body = [];
  for (let device = 0; device < v.stages; device++) {
    const mine = v.bars.filter((bar) => bar[0] === device),
      busy = mine.reduce((sum, bar) => sum + (bar[2] - bar[1]), 0);
    body.push([
      String(device + 1),
      plain(clean(mine[0][1])),
      plain(clean(busy)),
      plain(clean(v.makespan - busy)),
    ]);
  }
  return { head: ["Device", "Starts at", "Works for", "Waits for"], body };
}

export default { run, picture, readouts, words, table };
