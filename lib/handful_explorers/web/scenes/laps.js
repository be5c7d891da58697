// Decoding through a pipeline, a lap a token (laps.py is the twin).
import { formatValue } from "../units.js";
import { circle, decode } from "./pipeline.js";
import { line, rect, text } from "./shapes.js";

const LAPS = 3,
  ROUNDS = 60,
  LEFT = 22,
  GAP = 6;

// Without the dust of many additions.
/** @param {number} x */
const clean = (x) => Math.floor(x * 1e9 + 0.5) / 1e9;
/** @param {number} x */
const plain = (x) => formatValue(x, "1", 3);

/** @typedef {ReturnType<typeof run>} View */

/**
 * @param {SceneGiven<{ pipeline_stages: number | string, micro_batches: number | string, hop_time:
 *   number }>} given
 */
function run({ input }) {
  const stages = Number(input.pipeline_stages),
    many = Number(input.micro_batches),
    hop = input.hop_time;
  const span = LAPS * Math.max(stages * (1 + hop), many);
  const bars = circle(stages, many, 1, hop, LAPS + 1)
    .filter((bar) => bar[3] < span - 1e-9)
    .map(([turn, j, stage, start]) => [stage, start, j, turn]);
  const played = decode(stages, many, 1, hop, ROUNDS);
  return {
    stages,
    many,
    hop,
    span,
    bars,
    utilisation: clean(played.utilisation),
    latency: clean(played.latency),
  };
}

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const top = 4,
    row = v.stages <= 4 ? 32 : 26,
    right = width - 2,
    bottom = top + row * v.stages,
    scale = (right - LEFT) / v.span,
    /** @type {Shape[]} */
    out = [];
  for (let stage = 0; stage < v.stages; stage++) {
    out.push(
      text(0, top + row * stage + (row + GAP) / 2 + 4, String(stage + 1), "soft"),
      rect(LEFT, top + row * stage + GAP, right - LEFT, row - GAP, "grid"),
    );
  }
  for (const [stage, start, j] of v.bars) {
    const at = LEFT + start * scale,
      wide = Math.max(Math.min(scale, right - at) - 1, 0.6),
      label = String(j + 1);
    out.push(rect(at, top + row * stage + GAP, wide, row - GAP, `c${j % 8}`));
    if (wide >= 5 + 6.5 * label.length)
      out.push(
        text(
          at + wide / 2,
          top + row * stage + (row + GAP) / 2 + 4,
          label,
          "paper small",
          "middle",
        ),
      );
    const leaves = at + scale,
      y = top + row * ((stage + 1) % v.stages),
      across = Math.min(v.hop * scale, right - leaves);
    if (across > 0.5) out.push(rect(leaves, y + 1, across, GAP - 2, `c${j % 8}`));
  }
  const step = [1, 2, 5, 10, 20, 50].find((m) => m * scale >= 30) ?? NaN;
  for (let i = 0; i * step <= v.span + 1e-9; i++) {
    const x = LEFT + i * step * scale;
    out.push(
      line(x, bottom + 1, x, bottom + 5),
      text(x, bottom + 18, String(i * step), "soft small", x > right - 8 ? "end" : "middle"),
    );
  }
  out.push(
    text(right, bottom + 36, "Time, in work of one stage; rows are stages", "soft small", "end"),
  );
  return [bottom + 42, out];
}

/** @param {number} x */
const percent = (x) => formatValue(x, "%");
/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
const readouts = (v) => [
  ["Stages busy, once all have begun", percent(v.utilisation), ""],
  ["Time per token (unit: work of one stage)", plain(v.latency), ""],
];

/** @param {View} v */
const words = (v) =>
  `${v.many === 1 ? "1 micro-batch goes" : `${v.many} micro-batches go`} round ${v.stages} ` +
  `stages: a stage works for ${percent(v.utilisation)} of the time, and a sequence waits ` +
  `${plain(v.latency)} times the work of one stage from token to token.`;

/**
 * @param {View} v
 * @returns {Table}
 */
function table(v) {
  /** @type {string[][]} */
  const body = [];
  for (let j = 0; j < v.many; j++) {
    const starts = v.bars
      .filter((bar) => bar[0] === 0 && bar[2] === j)
      .slice(0, LAPS)
      .map((bar) => plain(clean(bar[1])));
    body.push([String(j + 1), ...starts, ...Array(LAPS - starts.length).fill("")]);
  }
  return {
    head: ["Micro-batch", ...Array.from({ length: LAPS }, (_, k) => `token ${k + 1} starts at`)],
    body,
  };
}

export default { run, picture, readouts, words, table };
