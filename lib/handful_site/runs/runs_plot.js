// The plot of measured steps over the batch: a dot and its floor for each point, and for the lengths
// that most points have the curve of the fit.
import { h, s } from "../../handful_explorers/web/dom.js";
import { scale } from "../../handful_explorers/web/path.js";
import { tickValues } from "../../handful_explorers/web/plot.js";
import { formatTicks, formatValue, grouped, plural } from "../../handful_explorers/web/units.js";
import { fitted, number, time } from "./report.js";

const ALIKE = 1.25, // prompts, and answers, whose ratio is less are of one length
  MOST_LENGTHS = 4,
  STEPS = 40,
  BETWEEN = 14; // px between the names of curves

/** @typedef {import("./own_server.js").Point} Point */
/** @typedef {import("./own_server.js").Fit} Fit */
/** @typedef {{ points: Point[], middle: Point }} Length points of about the same context */

/** @param {number} value */
const tenth = (value) => Math.round(value * 10) / 10;

// The lengths of prompts and answers that most points have, the shortest first.
/** @param {Point[]} usable */
export function lengthsOf(usable) {
  const alike = (/** @type {number} */ a, /** @type {number} */ b) =>
    Math.max(a, b) <= ALIKE * Math.min(a, b);
  /** @type {Point[][]} */
  const found = [];
  for (const one of [...usable].sort((a, b) => a.context - b.context)) {
    const same = found.find(
      ([first]) =>
        alike(first.context, one.context) &&
        alike(first.run.output_tokens ?? 1, one.run.output_tokens ?? 1),
    );
    if (same) same.push(one);
    else found.push([one]);
  }
  return found
    .filter((points) => points.length > 1)
    .sort((a, b) => b.length - a.length)
    .slice(0, MOST_LENGTHS)
    .sort((a, b) => a[0].context - b[0].context)
    .map((points) => {
      points.sort((a, b) => a.batch - b.batch);
      return { points, middle: points[Math.floor(points.length / 2)] };
    });
}

// As the form wants it: prompt + answer, or the context where the two are not known.
/** @param {Point} one */
function lengthOf({ run, context }) {
  const { input_tokens: prompt, output_tokens: answer } = run,
    short = (/** @type {number} */ count) =>
      formatValue(Math.round(count), "1", count < 1000 ? 3 : 2);
  return prompt && answer ? `${short(prompt)}+${short(answer)}` : short(context);
}

/** @param {number[]} values @returns {Pair} */
function span(values) {
  let [low, high] = [Infinity, 0];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  // At least a decade, so that a single load has an axis too.
  return [Math.min(low, high / 10) / 1.25, Math.max(high, low * 10) * 1.25];
}

// Places as near to those wanted as leaves room between them.
/** @param {number[]} wanted in rising order */
function apart(wanted) {
  const found = [...wanted];
  for (let k = found.length - 2; k >= 0; k--) found[k] = Math.min(found[k], found[k + 1] - BETWEEN);
  return found;
}

/**
 * The drawing, and what says its colours.
 *
 * @param {Point[]} usable
 * @param {Fit | null} found
 * @param {((known: SymbolValues) => number) | null} predicted seconds of a step by the fit
 * @param {number} promise seconds for a token, or 0
 * @param {number} width
 * @param {HTMLElement} readout where the point under the pointer is told
 */
export function draw(usable, found, predicted, promise, width, readout) {
  const lengths = lengthsOf(usable),
    named = lengths.length > 1,
    height = Math.min(420, Math.max(280, width * 0.6)),
    box = { left: 58, right: width - (named ? 92 : 8), top: 14, bottom: height - 44 },
    [x0, x1] = span(usable.map(({ batch }) => batch)),
    [y0, y1] = span([
      ...usable.flatMap(({ floor, measured }) => [floor, measured]),
      ...(promise ? [promise] : []),
    ]),
    x = scale([x0, x1], [box.left, box.right], true),
    y = scale([y0, y1], [box.bottom, box.top], true),
    ticksOf = (/** @type {Pair} */ ends, /** @type {number} */ most) =>
      tickValues(ends[0], ends[1], true, most).filter((v) => v >= ends[0] && v <= ends[1]),
    xTicks = ticksOf([x0, x1], width / 70),
    yTicks = ticksOf([y0, y1], height / 45),
    xTexts = formatTicks(xTicks, "1", true),
    yTexts = formatTicks(yTicks, "s", true),
    marker = s("circle", { r: 7, class: "runs-marker", cx: -20, cy: -20 });
  const colours = new Map(lengths.flatMap(({ points }, k) => points.map((one) => [one, k])));
  const places = usable.map((one) => [tenth(x(one.batch)), tenth(y(one.measured))]);
  /** @type {Element[]} */
  const drawn = [];
  for (const k of [...lengths.keys(), -1]) {
    const colour = k < 0 ? "runs-other" : `runs-of-${k}`;
    let floors = "",
      dots = "",
      fits = "";
    usable.forEach((one, at) => {
      if ((colours.get(one) ?? -1) !== k) return;
      const [px, py] = places[at];
      floors += `M${tenth(px - 4)} ${tenth(y(one.floor))}h8`;
      dots += `M${px} ${py}h0`;
      if (found && k < 0) fits += `M${tenth(px - 6)} ${tenth(y(fitted(found, one)))}h12`;
    });
    if (!dots) continue;
    if (predicted && k >= 0) {
      const { points, middle } = lengths[k],
        batches = points.map(({ batch }) => batch),
        low = Math.min(...batches) / 1.1,
        high = Math.max(...batches) * 1.1,
        known = {
          ...middle.base,
          context: middle.context,
          prompt_per_answer: middle.promptPerAnswer,
        };
      for (let step = 0; step <= STEPS; step++) {
        const batch = low * (high / low) ** (step / STEPS);
        fits += `${step ? "L" : "M"}${tenth(x(batch))} ${tenth(y(predicted({ ...known, batch })))}`;
      }
    }
    drawn.push(
      s("path", { d: floors, class: `runs-floor ${colour}` }),
      ...(fits ? [s("path", { d: fits, class: `runs-fit ${colour}` })] : []),
      s("path", { d: dots, class: `runs-dot ${colour}` }),
    );
  }
  const highest = lengths.map(({ points }) =>
      points.reduce((most, one) => (one.batch > most.batch ? one : most)),
    ),
    order = named
      ? [...lengths.keys()].sort((a, b) => highest[b].measured - highest[a].measured)
      : [],
    at = apart(order.map((k) => y(highest[k].measured)));
  const drawing = s(
    "svg",
    {
      width,
      height,
      role: "img",
      "aria-label":
        "Time per output token over sequences that decode at a time: " +
        `${plural(usable.length, "point")}, each beside its floor${found ? ", and the fit" : ""}.`,
    },
    ...xTicks.flatMap((value, k) => [
      s("line", { x1: x(value), x2: x(value), y1: box.top, y2: box.bottom, class: "runs-grid" }),
      s("text", { x: x(value), y: box.bottom + 17, "text-anchor": "middle", text: xTexts[k] }),
    ]),
    ...yTicks.flatMap((value, k) => [
      s("line", { x1: box.left, x2: box.right, y1: y(value), y2: y(value), class: "runs-grid" }),
      s("text", { x: box.left - 7, y: y(value) + 4, "text-anchor": "end", text: yTexts[k] }),
    ]),
    s("text", {
      x: (box.left + box.right) / 2,
      y: height - 8,
      "text-anchor": "middle",
      text: "Sequences that decode at a time",
    }),
    ...(promise
      ? [
          s("line", {
            x1: box.left,
            x2: box.right,
            y1: y(promise),
            y2: y(promise),
            class: "runs-promise",
          }),
          s("text", {
            x: box.left + 6,
            y: y(promise) - 5,
            class: "runs-promised",
            text: `promised: ${time(promise)}`,
          }),
        ]
      : []),
    ...drawn,
    ...order.map((k, place) =>
      s("text", {
        x: box.right + 6,
        y: at[place] + 4,
        class: `runs-name runs-of-${k}`,
        text: lengthOf(lengths[k].middle),
      }),
    ),
    marker,
  );
  const key = h(
    "p",
    { class: "runs-key" },
    h("strong", { text: "Time per output token" }),
    h("span", { class: "is-dot", text: "measured" }),
    h("span", { class: "is-floor", text: "its floor" }),
    found ? h("span", { class: "is-fit", text: "the fit" }) : null,
    named
      ? h("span", {
          text: `At the right: prompt + answer${colours.size < usable.length ? "; grey: other lengths" : ""}`,
        })
      : null,
  );
  readout.textContent = "Point at a dot to read it.";
  drawing.addEventListener("pointermove", (event) => {
    const area = drawing.getBoundingClientRect(),
      [mx, my] = [event.clientX - area.left, event.clientY - area.top];
    let best = 0,
      least = Infinity;
    places.forEach(([px, py], k) => {
      const away = (px - mx) ** 2 + (py - my) ** 2;
      if (away < least) [best, least] = [k, away];
    });
    const { run, batch, context, measured, floor } = usable[best];
    marker.setAttribute("cx", String(places[best][0]));
    marker.setAttribute("cy", String(places[best][1]));
    readout.textContent =
      `${run.source}: ${number(batch)} × ${grouped(Math.round(context))} tokens of context; ` +
      `measured ${time(measured)}, floor ${time(floor)}` +
      (found ? `, fit ${time(fitted(found, usable[best]))}.` : ".");
  });
  return [key, drawing];
}

// The drawing as a file of its own, which brings the colours that it has on the page.
/** @param {SVGElement} drawing */
export function svgFile(drawing) {
  const copy = /** @type {SVGElement} */ (drawing.cloneNode(true)),
    own = [drawing, ...drawing.querySelectorAll("*")],
    made = [copy, ...copy.querySelectorAll("*")];
  own.forEach((node, k) => {
    const style = getComputedStyle(node);
    for (const name of [
      "fill",
      "stroke",
      "stroke-width",
      "stroke-linecap",
      "stroke-dasharray",
      "font-size",
      "font-family",
      "font-weight",
    ])
      made[k].setAttribute(name, style.getPropertyValue(name));
    made[k].removeAttribute("class");
  });
  copy.prepend(
    s("rect", {
      width: "100%",
      height: "100%",
      fill: getComputedStyle(document.body).backgroundColor,
    }),
  );
  return new XMLSerializer().serializeToString(copy);
}
