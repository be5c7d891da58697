// Panels of the page Progress, and their small still plots, drawn to the width that there is.
import { h, s } from "../../handful_explorers/web/dom.js";

/**
 * @typedef {{ head: string[], rows: (string | number)[][] }} Rows a table
 * @typedef {object} About a panel
 * @property {string} text
 * @property {(width: number) => SVGSVGElement} [draw]
 * @property {Rows} [table]
 */

// A panel: heading, what it says in a sentence, the picture, and the same as a table.
// `draw(width)` gives the SVG.
/**
 * @param {string} title
 * @param {About} about
 */
export function panel(title, { text, draw, table }) {
  const host = draw ? h("div", { class: "study-plot" }) : null,
    node = h(
      "section",
      { class: "study-panel" },
      h("h2", { text: title }),
      h("p", { class: "study-panel-text", text }),
      host,
      table ? tableOf(title, table) : null,
    );
  if (host && draw) {
    let width = 0;
    new ResizeObserver(([entry]) => {
      const now = Math.round(Math.max(240, Math.min(760, entry.contentRect.width)));
      if (now === width || !entry.contentRect.width) return;
      width = now;
      const svg = draw(width);
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", text);
      host.replaceChildren(svg);
    }).observe(host);
  }
  return node;
}

/**
 * @param {string} title
 * @param {Rows} table
 */
function tableOf(title, { head, rows }) {
  return h(
    "details",
    { class: "study-table" },
    h("summary", { text: "As a table" }),
    h(
      "div",
      { class: "study-scroll", tabindex: "0", role: "region", "aria-label": `${title}: table` },
      h(
        "table",
        null,
        h("thead", null, h("tr", null, ...head.map((text) => h("th", { scope: "col", text })))),
        h(
          "tbody",
          null,
          ...rows.map(([first, ...cells]) =>
            h(
              "tr",
              null,
              h("th", { scope: "row", text: first }),
              ...cells.map((text) => h("td", { text })),
            ),
          ),
        ),
      ),
    ),
  );
}

const LEFT = 42,
  RIGHT = 8,
  TOP = 10,
  BOTTOM = 22;

// Axes: `ticks` up the side, labels [[place, text]] below, places counted 0 … n - 1 in the middle
// of n slots.
/**
 * @param {number} width
 * @param {number} height
 * @param {{ n: number, low: number, high: number, ticks: number[], format: (value: number) =>
 *   string, labels: [number, string][] }} about
 */
export function axes(width, height, { n, low, high, ticks, format, labels }) {
  const slot = (width - LEFT - RIGHT) / n,
    /** @type {(place: number) => number} */
    x = (place) => LEFT + slot * (place + 0.5),
    /** @type {(value: number) => number} */
    y = (value) => TOP + (height - TOP - BOTTOM) * (1 - (value - low) / (high - low || 1));
  const svg = s("svg", { class: "study-svg", viewBox: `0 0 ${width} ${height}`, width, height });
  for (const tick of ticks) {
    svg.append(
      s("line", { class: "study-grid", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }),
      s("text", {
        class: "study-tick",
        x: LEFT - 6,
        y: y(tick) + 4,
        "text-anchor": "end",
        text: format(tick),
      }),
    );
  }
  for (const [place, text] of labels)
    svg.append(
      s("text", { class: "study-tick", x: x(place), y: height - 6, "text-anchor": "middle", text }),
    );
  return { svg, x, y, slot };
}

// Round steps up to `most`, a handful.
/** @param {number} most */
export function roundTicks(most) {
  const steps = [1, 2, 5]
      .flatMap((m) => [0, 1, 2, 3, 4, 5].map((p) => m * 10 ** p))
      .sort((a, b) => a - b),
    step = steps.find((one) => most / one <= 4) || most;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}
