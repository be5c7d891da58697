// The chart under a schedule that a learner wrote: a row for each stage, and a bar for each pass.
import { h, s } from "../../handful_explorers/web/dom.js";
import { make, round, write } from "../../handful_explorers/web/scenes/draw.js";
import { line, rect, text } from "../../handful_explorers/web/scenes/shapes.js";
import { formatValue } from "../../handful_explorers/web/units.js";

const LEGEND = [
  ["F", "forward", "c0"],
  ["B", "backward", "c1"],
  ["I", "backward, for inputs", "c3"],
  ["W", "backward, for weights", "c2"],
];
const COLOUR = Object.fromEntries(LEGEND.map(([kind, , colour]) => [kind, colour]));
const PER_CHARACTER = 7.2;
const LEFT = 22;

/**
 * @param {PlayedSchedule} v
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
    pieces.forEach(([kind, , , number], i) => {
      const at = LEFT + start * scale,
        wide = Math.max((end - start) * scale - 1, 0.6);
      const place = top + row * device + 2 + high * i,
        label = String(number + 1);
      out.push(rect(at, place, wide, high - (i < pieces.length - 1 ? 1 : 0), COLOUR[kind]));
      if (wide >= 5 + 6.5 * label.length && high >= 12)
        out.push(text(at + wide / 2, place + high / 2 + 4, label, "paper small", "middle"));
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
 * @param {PlayedSchedule} played
 * @param {number} width
 */
export function chart(played, width) {
  const wide = Math.max(width, 280),
    [height, shapes] = picture(played, wide);
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
