// Answers to one question as dots on a log axis (strip.py is the twin).
import { formatValue } from "../units.js";
import { circle, line, text } from "./shapes.js";

const ROW = 46,
  TOP = 26,
  EDGE = 12;

/** @typedef {ReturnType<typeof run>} View */

/**
 * @param {SceneGiven<{ question: string }, { reference: string, questions: Record<string, { text:
 *   string, unit: string, ours: number, answers: [string, number, string][] }> }>} given
 */
function run({ input, spec }) {
  const { answers, ...question } = spec.data.questions[input.question],
    { ours } = question;
  return {
    ...question,
    reference: spec.data.reference,
    answers: answers.map(
      ([name, value, note]) =>
        /** @type {[string, number, number, string]} */ ([name, value, value / ours, note]),
    ),
  };
}

/**
 * @param {View} v
 * @returns {Pair}
 */
function ends(v) {
  const ratios = v.answers.map((answer) => answer[2]);
  return [Math.min(0.5, ...ratios.map((r) => r / 1.3)), Math.max(2, ...ratios.map((r) => r * 1.3))];
}

/** @param {number} ratio */
const fold = (ratio) =>
  Math.abs(ratio - 1) < 0.005
    ? "the same"
    : `${formatValue(ratio, "1", ratio >= 0.1 ? 2 : 1)} times`;

/**
 * @param {View} v
 * @param {number} width
 * @returns {Picture}
 */
function picture(v, width) {
  const [low, high] = ends(v),
    bottom = TOP + ROW * v.answers.length;
  /** @param {number} ratio */
  const at = (ratio) => EDGE + ((width - 2 * EDGE) * Math.log(ratio / low)) / Math.log(high / low),
    one = at(1);
  /** @type {Shape[]} */
  const out = [
    line(one, TOP - 6, one, bottom, "ink dash"),
    text(
      Math.min(Math.max(one, 80), width - 80),
      13,
      `${v.reference}: ${formatValue(v.ours, v.unit)}`,
      "ink strong",
      "middle",
    ),
  ];
  v.answers.forEach(([name, value, ratio], i) => {
    const y = TOP + ROW * i,
      x = at(ratio),
      far = ratio > 1.25 || ratio < 0.8 ? "c1" : "c0";
    out.push(
      text(0, y + 13, name, "ink"),
      text(width, y + 13, `${formatValue(value, v.unit)}, ${fold(ratio)}`, `${far} strong`, "end"),
      line(0, y + 28, width, y + 28, "grid"),
      line(one, y + 28, x, y + 28, `${far} thick pale`),
      circle(x, y + 28, 6, far),
    );
  });
  return [bottom, out];
}

/**
 * @param {View} v
 * @returns {ReadoutText[]}
 */
const readouts = (v) => v.answers.map(([name, , ratio, note]) => [name, fold(ratio), note]);

/**
 * @param {View} v
 * @returns {string}
 */
function words(v) {
  const said = v.answers.map(([name, value]) => `${name} ${formatValue(value, v.unit)}`).join("; ");
  return `${v.text}: ${v.reference} says ${formatValue(v.ours, v.unit)}; ${said}.`;
}

/**
 * @param {View} v
 * @returns {Table}
 */
const table = (v) => ({
  head: ["Who", "Answer", `Over ${v.reference}`, "Why"],
  body: v.answers.map(([name, value, ratio, note]) => [
    name,
    formatValue(value, v.unit),
    fold(ratio),
    note,
  ]),
});

export default { run, picture, readouts, words, table };
