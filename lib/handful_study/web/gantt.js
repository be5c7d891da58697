// The chart under a schedule that a learner wrote: the scene of the book's own schedules, drawn
// once.
import { h, s } from "../../handful_explorers/web/dom.js";
import { make, round, write } from "../../handful_explorers/web/scenes/draw.js";
import gantt from "../../handful_explorers/web/scenes/gantt.js";
import { formatValue } from "../../handful_explorers/web/units.js";

/**
 * @param {PlayedSchedule} played
 * @param {number} width
 */
export function chart(played, width) {
  const wide = Math.max(width, 280),
    [height, shapes] = gantt.picture(played, wide);
  const words =
    `As played: ${formatValue(played.makespan, "1")} forward passes in all; the longest wait ` +
    `is ${formatValue(played.share, "%")} of them, and ${formatValue(played.most, "1")} ` +
    "micro-batches are held at most.";
  const svg = s("svg", {
    class: "ex-svg sc",
    role: "img",
    "aria-label": words,
    viewBox: `0 0 ${wide} ${round(height)}`,
    height: round(height),
  });
  for (const shape of shapes) {
    const node = make(shape.t);
    write(node, shape);
    svg.append(node);
  }
  return h("figure", { class: "problem-chart" }, svg, h("figcaption", { text: words }));
}
