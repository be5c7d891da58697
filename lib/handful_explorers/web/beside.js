// A pinned scenario in an explorer: what is drawn and written of it beside the page's own.
import { nameOf } from "./scenario.js";

/**
 * @typedef {import("./compute.js").Result} Result
 * @typedef {import("./plot.js").Series} Series
 */

/**
 * @param {Numbers} a
 * @param {Numbers} b
 */
const alike = (a, b) =>
  a === b || (a.length === b.length && a.every((value, i) => Object.is(value, b[i])));

// Whether a plot shows the same under both scenarios, so that nothing need be drawn twice.
/**
 * @param {Result} mine
 * @param {Result} theirs
 */
export function agree(mine, theirs) {
  const numbers = (/** @type {Result} */ { curves, marks, readouts, dots }) => [
    ...curves.map((c) => c.y),
    ...marks.map((m) => m.value),
    ...readouts.map((r) => r.value),
    ...dots.flatMap((dot) => [dot.x, dot.y]),
  ];
  return (
    mine.curves.length === theirs.curves.length &&
    alike(numbers(mine), numbers(theirs)) &&
    mine.curves.every(
      (c, i) => alike(c.ys, theirs.curves[i].ys) && alike(c.xs, theirs.curves[i].xs),
    )
  );
}

// Its curves: fainter, unnamed (they have the other's colours and dashes), without area or band.
/** @param {Series[]} series */
export const faint = (series) =>
  series.map((curve) => ({
    ...curve,
    id: `beside ${curve.id}`,
    label: "",
    base: undefined,
    shade: undefined,
    beside: true,
  }));

// Its marks, where they stand elsewhere.
/**
 * @param {import("./plot.js").FrameMark[]} mine
 * @param {import("./plot.js").FrameMark[]} theirs
 */
export const besideMarks = (mine, theirs) =>
  theirs
    .filter(({ key, value }) => !mine.some((mark) => mark.key === key && mark.value === value))
    .map((mark) => ({ ...mark, key: `beside ${mark.key}`, limit: false, beside: true }));

/**
 * @param {Choice} choice
 * @param {State} state what an explorer has chosen itself
 */
export const besideName = (choice, state) => {
  const { hardware, model, precision } = { ...choice, ...state };
  return nameOf({
    ...choice,
    hardware: String(hardware),
    model: String(model),
    precision: String(precision),
  });
};
