// The line chart: axes, curves, bands, areas, marks, dots, and a cursor that mouse, touch and keys
// move. Elements are made once; a frame only writes what changed.
import { ticks } from "d3-array";
import { covers } from "./bands.js";
import { linePoints, ribbonPoints, scale } from "./path.js";
import { h, Intent, Pool, put, s, show, textWidth, watchWidth } from "./dom.js";
import { besideRule, Ink, insideLabels, marginLabels, placeDots } from "./labels.js";
import { beginsNumber, openField } from "./typing.js";
import { axisTitle, formatTicks, roundTimes, tickStep } from "./units.js";

/**
 * @typedef {object} Series a curve to draw
 * @property {string} id
 * @property {string} label
 * @property {number} index
 * @property {Role} role
 * @property {Float64Array} xs
 * @property {Float64Array} ys
 * @property {Float64Array} [base] the lower edge of its area, where curves are stacked
 * @property {import("./bands.js").Shade["shade"]} [shade] the band that is drawn round it
 * @property {boolean} [beside] of the scenario that is pinned beside the page's
 * @property {Pair} cursor
 * @property {Float64Array} X its pixels, once it is drawn
 * @property {Float64Array} Y
 * @typedef {{ title: string, unit: string, log: boolean, domain: Pair }} FrameAxis
 * @typedef {object} FrameMark
 * @property {string} key
 * @property {"x" | "y"} axis
 * @property {number} value
 * @property {Pair} [band]
 * @property {boolean} [limit] all beyond it is hatched
 * @property {boolean} [down] what lies beyond is to the left
 * @property {boolean} [beside]
 * @property {boolean} [guess] the reader's own
 * @property {string} text
 * @typedef {object} FrameCursor
 * @property {number} x
 * @property {string} text
 * @property {{ id: string, index: number, role: Role, beside?: boolean, x: number, y: number }[]} points
 * @property {number} min
 * @property {number} max
 * @property {string} unit
 * @property {string} label
 * @property {number} now
 * @property {(count: number) => number} step the value so many steps away
 * @property {(value: number) => number} tidy a dragged value, as a person would write it
 * @property {string} valueText
 * @property {Float64Array | null} trace where the points of a parametric plot lie
 * @property {Float64Array} grid the swept values of those points
 * @typedef {object} Frame
 * @property {string} key
 * @property {FrameAxis} x
 * @property {FrameAxis} y
 * @property {Series[]} series
 * @property {import("./compute.js").Dot[]} dots
 * @property {"inside" | "margin"} labels
 * @property {FrameMark[]} marks
 * @property {FrameCursor} [cursor]
 * @property {(plot: Plot) => void} [after] draws what else lies on it
 * @typedef {{ left: number, right: number, top: number, bottom: number }} Box
 * @typedef {{ node: SVGGElement, rule: SVGLineElement, text: SVGTextElement }} Tick
 * @typedef {object} Label
 * @property {SVGGElement} node
 * @property {SVGPolylineElement} leader
 * @property {SVGTextElement} text
 * @property {string} lines what is written there
 * @typedef {Tick & { strip: SVGRectElement }} MarkNode
 * @typedef {ReturnType<typeof scale>} Scale
 */

export const FONT_SIZE = 14;
let serial = 0;

/**
 * @param {number} low
 * @param {number} high
 * @param {boolean} log
 * @param {number} most
 * @returns {number[]}
 */
export function tickValues(low, high, log, most) {
  if (!log) return ticks(low, high, Math.max(2, most * 0.65)).filter((t) => t >= low && t <= high);
  const first = Math.ceil(Math.log10(low) - 1e-9),
    last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first >= 2) {
    const skip = Math.ceil((last - first + 1) / Math.max(2, most)),
      found = [];
    for (let e = first; e <= last; e += skip) found.push(Number(`1e${e}`));
    return found;
  }
  /** @param {number[]} figures */
  const within = (figures) => {
    const found = [];
    for (let e = first - 1; e <= last; e++)
      for (const m of figures) found.push(Number(`${m}e${e}`));
    return found.filter((t) => t >= low * 0.999 && t <= high * 1.001);
  };
  const found = within([1, 2, 5]);
  if (found.length <= most) return found;
  const decades = within([1]);
  return decades.length > 1 ? decades : found.filter((_, i) => i % 2 === 0);
}

// In minutes, hours and days where the axis counts them, though its values are seconds.
/**
 * @param {Pick<FrameAxis, 'domain' | 'log' | 'unit'>} axis
 * @param {number} most
 * @returns {number[]}
 */
export function unitTicks({ domain: [low, high], log, unit }, most) {
  if (log && unit === "s" && high >= 60) return roundTimes(low, high, Math.max(2, most));
  const step = tickStep(unit, high);
  return tickValues(low / step, high / step, log, most).map((value) => value * step);
}

// A tick has a value and its words, `middle` pixels from the left, or from the top.
/** @typedef {{ value: number, text: string, middle: number }} Ticked */

// As many ticks as stand beside each other with room between, within the ends of the drawing.
/**
 * @param {FrameAxis} axis
 * @param {number} most
 * @param {Scale} onto
 * @param {Pair} ends
 * @param {string} font
 * @returns {Ticked[]}
 */
function ticksThatFit(axis, most, onto, [from, to], font) {
  const values = unitTicks(axis, most),
    words = formatTicks(values, axis.unit, axis.log),
    halves = words.map((text) => textWidth(text, font) / 2);
  const found = values.map((value, i) => ({
    value,
    text: words[i],
    middle: Math.max(Math.min(onto(value), to - halves[i]), from + halves[i]),
  }));
  const close = found.some(
    ({ middle }, i) => i && middle - found[i - 1].middle < halves[i] + halves[i - 1] + 10,
  );
  return close && most > 2 ? ticksThatFit(axis, most - 1, onto, [from, to], font) : found;
}

// ARIA's numbers have no exponent.
/**
 * @param {number} value
 * @returns {number | string}
 */
function decimal(value) {
  if (!/e/.test(String(value))) return value;
  return Math.abs(value) < 1 ? value.toFixed(20) : BigInt(value).toString();
}

// From where to where a mark is a strip: its range, or all beyond a limit.
/**
 * @param {FrameMark} mark
 * @param {(value: number) => number} edge
 * @param {number} end where the axis ends
 * @returns {number[] | null}
 */
function stripOf({ limit, band, value }, edge, end) {
  const ends = limit ? [edge(value), end] : band?.map((factor) => edge(value * factor));
  return ends ? ends.sort((a, b) => a - b) : null;
}

export class Plot {
  // onCursor(value, done) hears of every move of the cursor.
  /**
   * @param {HTMLElement} host
   * @param {{ cursorLabel: string, onCursor: (value: number, done:
   *   boolean) => void }} about
   */
  constructor(host, { cursorLabel, onCursor }) {
    this.host = host;
    this.onCursor = onCursor;
    // Until the host has a width, and until there is a frame.
    this.width = 0;
    this.height = 0;
    this.narrow = false;
    this.beside = false;
    this.font = "";
    this.strong = "";
    /** @type {Box} */
    this.box = { left: 0, right: 0, top: 0, bottom: 0 };
    this.sx = scale([0, 1], [0, 1], false);
    this.sy = this.sx;
    /** @type {Ticked[]} */
    this.xTicks = [];
    /** @type {{ value: number, text: string }[]} */
    this.yTicks = [];
    /** @type {Frame | null} */
    this.last = null;
    this.still = "";
    this.gridKey = "";
    /** @type {Float64Array | null} */
    this.gridOf = null;
    this.gridPixels = new Float64Array(0);
    /**
     * Where words stand already.
     *
     * @type {import("./labels.js").Box[]}
     */
    this.taken = [];
    this.ink = new Ink(this.box); // where lines run
    /**
     * Where each curve's name stood in the last frame.
     *
     * @type {Map<string, import("./labels.js").Triple>}
     */
    this.chosen = new Map();
    const clip = `ex-clip-${++serial}`;
    this.hatch = `ex-hatch-${serial}`;
    this.clipBox = s("rect");
    this.grid = s("g", { class: "ex-grid" });
    this.bands = s("g", { "clip-path": `url(#${clip})` });
    this.markLayer = s("g", { class: "ex-marks" });
    this.paths = s("g", { "clip-path": `url(#${clip})` });
    this.dotLayer = s("g", { class: "ex-dots" });
    this.labels = s("g", { class: "ex-labels" });
    this.frameLine = s("path", { class: "ex-frame" });
    this.yTitle = s("text", { class: "ex-axis-title" });
    this.xTitle = s("text", { class: "ex-axis-title", "text-anchor": "end" });
    this.cursor = this.makeCursor(cursorLabel);
    this.surface = s("rect", { class: "ex-surface", "data-part": "surface" });
    // What is drawn is said by the words under it and by the table; of the drawing itself only the
    // cursor speaks.
    for (const drawn of [
      this.grid,
      this.markLayer,
      this.dotLayer,
      this.labels,
      this.yTitle,
      this.xTitle,
    ])
      drawn.setAttribute("aria-hidden", "true");
    this.svg = s(
      "svg",
      { class: "ex-svg", role: "group", "aria-label": "Plot" }, // the explorer has title and words
      s(
        "defs",
        null,
        s("clipPath", { id: clip }, this.clipBox),
        s(
          "pattern",
          { id: this.hatch, width: 7, height: 7, patternUnits: "userSpaceOnUse" },
          s("path", { class: "ex-hatch", d: "M-1,8L8,-1M-1,1L1,-1M6,8L8,6" }),
        ),
      ),
      this.grid,
      this.bands,
      this.frameLine,
      this.paths,
      this.cursor.rule, // runs behind words, so that it cuts none
      this.markLayer,
      this.dotLayer,
      this.yTitle,
      this.xTitle,
      this.surface,
      this.labels,
      this.cursor.node,
    );
    // where a typed value stands
    this.typing = h("span", { hidden: true });
    host.append(this.svg, this.typing);
    this.pools = {
      x: new Pool(this.grid, () => this.makeTick("middle")),
      y: new Pool(this.grid, () => this.makeTick("end")),
      band: new Pool(this.bands, () => s("polygon")),
      area: new Pool(this.bands, () => s("polygon")),
      line: new Pool(this.paths, () => s("polyline")),
      ring: new Pool(this.cursor.rings, () => s("circle", { r: 4.5 })),
      label: new Pool(this.labels, () => this.makeLabel()),
      mark: new Pool(this.markLayer, () => this.makeMark()),
      dot: new Pool(this.dotLayer, () => this.makeDot()),
    };
    this.listen();
    this.destroy = watchWidth(host, (width) => {
      this.measure(width);
      if (this.last) this.draw(this.last);
    });
  }

  /** @param {Anchor} anchor */
  makeTick(anchor) {
    const node = s("g"),
      rule = s("line"),
      text = s("text", { "text-anchor": anchor });
    node.append(rule, text);
    return { node, rule, text };
  }

  makeLabel() {
    const node = s("g"),
      leader = s("polyline", { class: "ex-leader" }),
      text = s("text");
    node.append(leader, text);
    return { node, leader, text, lines: "" };
  }

  makeMark() {
    const node = s("g"),
      strip = s("rect", { class: "ex-mark-strip" }),
      rule = s("line"),
      text = s("text");
    node.append(strip, rule, text);
    return { node, strip, rule, text };
  }

  makeDot() {
    const node = s("g"),
      leader = s("polyline", { class: "ex-leader" }),
      spot = s("circle", { r: 4 }),
      text = s("text");
    node.append(leader, spot, text);
    return { node, leader, spot, text };
  }

  /** @param {string} label */
  makeCursor(label) {
    const rule = s("line", { class: "ex-cursor-line" }),
      rings = s("g"),
      plate = s("rect", { rx: 11, height: 22 });
    const arrows = s("path", { class: "ex-cursor-arrows" }),
      text = s("text", { "text-anchor": "middle", y: 15.5 });
    const reach = s("rect", { class: "ex-cursor-reach", x: -22, width: 44 });
    const sled = s("g", null, reach),
      grip = s("g", { class: "ex-grip" }, plate, arrows, text);
    const node = s(
      "g",
      { class: "ex-cursor", role: "slider", tabindex: "0", "aria-label": label },
      sled,
      rings,
      grip,
    );
    return { node, sled, rule, reach, rings, grip, plate, arrows, text };
  }

  /** @param {number} width */
  measure(width) {
    const style = getComputedStyle(this.host);
    this.width = width;
    this.narrow = width < 560;
    this.height = Math.round(Math.min(430, Math.max(this.narrow ? 290 : 300, width * 0.56)));
    this.font = `${FONT_SIZE}px ${style.fontFamily}`;
    this.strong = `600 ${FONT_SIZE}px ${style.fontFamily}`;
    put(this.svg, "viewBox", `0 0 ${width} ${this.height}`);
    put(this.svg, "height", this.height);
    this.host.style.height = `${this.height}px`;
  }

  listen() {
    /**
     * @param {PointerEvent} event
     * @param {boolean} done
     */
    const move = (event, done) => {
      const box = this.svg.getBoundingClientRect();
      const value = this.valueAt(((event.clientX - box.left) * this.width) / box.width);
      this.onCursor(this.last?.cursor?.tidy(value) ?? value, done);
    };
    // A mouse moves the cursor where it is pressed.  A finger may be about to scroll the page: it
    // moves the cursor once it has gone sideways, or where it is lifted again.
    /** @type {{ intent: Intent, before: number } | null} */
    let press = null;
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.last?.cursor || press) return;
      press = { intent: new Intent(event), before: this.last.cursor.step(0) };
      if (press.intent.sideways) {
        this.svg.setPointerCapture(event.pointerId);
        this.svg.classList.add("is-dragging");
        this.cursor.node.focus({ preventScroll: true, focusVisible: false });
        move(event, false);
        event.preventDefault();
      }
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!press?.intent.follow(event)) return;
      this.svg.classList.add("is-dragging");
      move(event, false);
    });
    for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) {
      this.svg.addEventListener(kind, (event) => {
        if (!press) return;
        const { intent, before } = press;
        press = null;
        this.svg.classList.remove("is-dragging");
        if (kind === "pointerup") move(event, true);
        else if (intent.sideways) this.onCursor(before, true);
      });
    }
    this.svg.addEventListener("dblclick", ({ clientX, clientY }) => {
      const { left, right, top, bottom } = this.cursor.plate.getBoundingClientRect();
      if (clientX >= left && clientX <= right && clientY >= top && clientY <= bottom)
        this.type(this.last?.cursor?.text ?? "");
    });
    this.cursor.node.addEventListener("keydown", (event) => {
      const step = {
        ArrowRight: 1,
        ArrowUp: 1,
        ArrowLeft: -1,
        ArrowDown: -1,
        PageUp: 10,
        PageDown: -10,
        Home: -Infinity,
        End: Infinity,
      }[event.key];
      const c = this.last?.cursor;
      if (!c) return;
      if (beginsNumber(event)) {
        event.preventDefault();
        this.type(event.key);
        return;
      }
      if (step === undefined) return;
      event.preventDefault();
      this.onCursor(c.step(step), true);
    });
  }

  // A field under the plot for the cursor's value.
  /** @param {string} text */
  type(text) {
    const cursor = this.last?.cursor;
    if (!cursor) return;
    const { min, max, unit, label } = cursor;
    openField(
      this.typing,
      text,
      { label, unit, min, max },
      (value) => this.onCursor(value, true),
      this.cursor.node,
    );
  }

  // Pixel to cursor value: along x, or, where the plot is parametric, the swept value whose point
  // is nearest.
  /** @param {number} px */
  valueAt(px) {
    const cursor = this.last?.cursor;
    if (!cursor?.trace)
      return this.sx.invert(Math.min(Math.max(px, this.box.left), this.box.right));
    let best = 0,
      least = Infinity;
    for (let i = 0; i < cursor.trace.length; i++) {
      const gap = Math.abs(this.sx(cursor.trace[i]) - px);
      if (gap < least) {
        least = gap;
        best = i;
      }
    }
    return cursor.grid[best];
  }

  // frame: { key, x: {domain, log, unit, title}, y: {…},
  //          series: [{id, label, index, role, xs, ys, base, shade, cursor}],
  //          marks: [{axis, value, text, band}], dots: [{label, x, y}],
  //          cursor: {x, points: [{index, x, y}], text, min, max, now, valueText, step, trace,
  //                   grid} }
  /** @param {Frame} frame */
  draw(frame) {
    this.last = frame;
    show(this.cursor.node, Boolean(frame.cursor)); // also where there is no width to draw in yet
    if (frame.cursor) {
      const { now, min, max, valueText } = frame.cursor;
      put(this.cursor.node, "aria-valuemin", decimal(min));
      put(this.cursor.node, "aria-valuemax", decimal(max));
      put(this.cursor.node, "aria-valuenow", decimal(now));
      put(this.cursor.node, "aria-valuetext", valueText);
    }
    if (!this.width) return;
    // What does not follow the cursor is drawn when it changes.
    const { x, y, marks, dots, key } = frame;
    const still = JSON.stringify([key, x.domain, y.domain, marks, dots, this.width, this.font]);
    if (still !== this.still) {
      this.still = still;
      this.layOut(frame);
      this.drawAxes(frame);
      this.drawCurves(frame);
      this.drawMarks(frame);
      this.drawLabels(frame);
    }
    this.drawCursor(frame);
    frame.after?.(this);
  }

  /** @param {Frame} frame */
  layOut(frame) {
    const { x, y } = frame,
      rows = Math.floor(this.height / 52);
    const values = unitTicks(y, rows),
      said = formatTicks(values, y.unit, y.log);
    this.yTicks = values.map((value, i) => ({ value, text: said[i] }));
    const widest = Math.max(...this.yTicks.map((t) => textWidth(t.text, this.font)), 20);
    const left = Math.ceil((widest + 10) / 8) * 8;
    // Labels stand beside the curves' ends where there is room for them, and on the curves where
    // there is not.
    this.beside = !this.narrow && frame.labels !== "inside";
    const right = this.beside ? 148 : 20;
    this.box = { left, right: this.width - right, top: 34, bottom: this.height - 50 };
    const { top, bottom } = this.box;
    this.sx = scale(x.domain, [left, this.box.right], x.log);
    this.sy = scale(y.domain, [bottom, top], y.log);
    const most = Math.max(2, Math.floor((this.box.right - left) / 52));
    this.xTicks = ticksThatFit(x, most, this.sx, [0, this.box.right + 18], this.font);
  }

  /** @param {Frame} frame */
  drawAxes({ x, y }) {
    const { left, right, top, bottom } = this.box;
    for (const { value, text, middle } of this.xTicks) {
      const tick = this.pools.x.get(text),
        at = this.sx(value).toFixed(1);
      // Moved as a whole: text that keeps its own place within its group is not laid out again.
      put(tick.node, "transform", `translate(${at},0)`);
      put(tick.rule, "y1", top);
      put(tick.rule, "y2", bottom);
      put(tick.text, "x", (middle - Number(at)).toFixed(1));
      put(tick.text, "y", bottom + 19);
      put(tick.text, "text", text);
    }
    this.pools.x.done();
    for (const { value, text } of this.yTicks) {
      const tick = this.pools.y.get(text),
        at = this.sy(value);
      put(tick.node, "transform", `translate(0,${at.toFixed(1)})`);
      put(tick.rule, "x1", left);
      put(tick.rule, "x2", right);
      put(tick.text, "x", left - 8);
      put(tick.text, "y", 4.5);
      put(tick.text, "text", text);
    }
    this.pools.y.done();
    put(this.frameLine, "d", `M${left},${top}V${bottom}H${right}`);
    put(this.yTitle, "x", 0);
    put(this.yTitle, "y", 14);
    put(this.yTitle, "text", axisTitle(y.title, y.unit));
    put(this.xTitle, "x", right);
    put(this.xTitle, "y", this.height - 8);
    put(this.xTitle, "text", axisTitle(x.title, x.unit));
    for (const [node, grow] of /** @type {[SVGRectElement, number][]} */ ([
      [this.clipBox, 2],
      [this.surface, 0],
    ])) {
      put(node, "x", left);
      put(node, "y", top - grow);
      put(node, "width", right - left + grow);
      put(node, "height", bottom - top + 2 * grow);
    }
  }

  /** @param {Frame} frame */
  drawCurves({ series, y }) {
    const { sx, sy } = this,
      { log } = y;
    for (const curve of series) {
      // Curves over the same grid share its pixels; a new frame computes heights only.
      curve.X = this.pixels(curve.xs, sx);
      curve.Y = sy.all(curve.ys);
      const faint = curve.beside ? " is-beside" : "";
      linePoints(curve.X, curve.Y).forEach((points, i) => {
        const line = this.pools.line.get(i ? `${curve.id} ${i}` : curve.id);
        put(line, "class", `ex-curve ex-${curve.role} ex-c${curve.index}${faint}`);
        put(line, "points", points);
      });
      if (curve.base) {
        const piece = this.pools.area.get(curve.id);
        put(piece, "class", `ex-area ex-c${curve.index}`);
        put(piece, "points", ribbonPoints(curve.X, sy.all(curve.base), curve.Y));
      }
      const { shade } = curve;
      if (shade) {
        const band = this.pools.band.get(curve.id),
          [lo, hi] = shade.band;
        /** @param {Float64Array} values */
        const along = (values) => values.filter((_, i) => covers(shade, curve.xs[i]));
        put(band, "class", `ex-band ex-c${curve.index}`);
        // On a log axis a factor is a shift.
        /** @param {number} factor */
        const edge = (factor) =>
          log
            ? along(curve.Y).map((Y) => Y + sy.slope * Math.log(factor))
            : sy.all(along(curve.ys).map((value) => value * factor));
        put(band, "points", ribbonPoints(along(curve.X), edge(lo), edge(hi)));
      }
    }
    for (const pool of [this.pools.line, this.pools.area, this.pools.band]) pool.done();
  }

  /**
   * @param {Float64Array} xs
   * @param {Scale} sx
   */
  pixels(xs, sx) {
    const key = `${sx.offset} ${sx.slope}`;
    if (this.last?.cursor?.trace) return sx.all(xs);
    if (this.gridKey !== key || this.gridOf !== xs)
      Object.assign(this, { gridKey: key, gridOf: xs, gridPixels: sx.all(xs) });
    return this.gridPixels;
  }

  /** @param {Frame} frame */
  drawMarks({ marks, series, dots, cursor }) {
    const { left, right, top, bottom } = this.box,
      /** @type {(() => void)[]} */
      writing = [];
    this.taken = [];
    this.ink = new Ink(this.box);
    for (const { X, Y } of series) this.ink.line(X, Y);
    for (const { x, y } of [...dots, ...(cursor?.points ?? [])])
      this.ink.line([this.sx(x) - 4, this.sx(x) + 4], [this.sy(y), this.sy(y)], 2);
    for (const mark of marks) {
      const onto = mark.axis === "x" ? this.sx : this.sy,
        at = onto(mark.value);
      const [from, to] = mark.axis === "x" ? [left, right] : [top, bottom];
      /** @param {number} v */
      const edge = (v) => Math.min(Math.max(onto(v), from), to);
      const aside = mark.down ? left : right,
        strip = stripOf(mark, edge, mark.axis === "x" ? aside : top);
      if (!(at >= from - 0.5 && at <= to + 0.5) && !(strip && strip[1] - strip[0] > 1)) continue;
      const item = this.pools.mark.get(mark.key),
        upright = mark.axis === "x",
        { text, width } = this.wordsOf(mark);
      const place = Math.min(Math.max(at, from), to).toFixed(1),
        rule = Number(place);
      put(item.node, "class", (mark.guess ? "ex-own" : "") + (mark.beside ? "is-beside" : ""));
      this.drawRule(item, upright, place, strip);
      show(item.rule, !mark.band);
      put(item.strip, "class", mark.limit ? "ex-mark-limit" : "ex-mark-strip");
      put(item.strip, "fill", mark.limit ? `url(#${this.hatch})` : "");
      if (upright) this.ink.line([rule, rule], [top, bottom]);
      else this.ink.line([left, right], [rule, rule]);
      writing.push(() => {
        const [x, y] = besideRule(this, rule, upright, width);
        put(item.text, "transform", `translate(${x.toFixed(1)},${y.toFixed(1)})`);
        put(item.text, "text", text);
      });
    }
    this.ink.sum();
    for (const write of writing) write();
    this.emptyMarks();
    this.pools.mark.done();
  }

  // A mark that goes takes its number along.
  emptyMarks() {
    const { items, used } = this.pools.mark;
    for (const [key, { text }] of items) if (!used.has(key)) put(text, "text", "");
  }

  // A mark as a rule across the plot, or as a strip where its value is known as a range.
  /**
   * @param {MarkNode} nodes
   * @param {boolean} upright
   * @param {string} place
   * @param {number[] | null} range
   */
  drawRule({ rule, strip }, upright, place, range) {
    const { left, right, top, bottom } = this.box;
    put(rule, "x1", upright ? place : left);
    put(rule, "x2", upright ? place : right);
    put(rule, "y1", upright ? top : place);
    put(rule, "y2", upright ? bottom : place);
    show(strip, Boolean(range));
    if (!range) return;
    const [from, to] = range;
    put(strip, "x", upright ? from : left);
    put(strip, "width", upright ? to - from : right - left);
    put(strip, "y", upright ? top : from);
    put(strip, "height", upright ? bottom - top : to - from);
  }

  // On a phone the name alone may have to do.
  /** @param {FrameMark} mark */
  wordsOf({ text, key }) {
    const width = textWidth(text, this.font);
    return width < this.box.right - this.box.left - 20
      ? { text, width }
      : { text: key, width: textWidth(key, this.font) };
  }

  /** @param {Frame} frame */
  drawLabels({ series, dots }) {
    for (const dot of placeDots(this, dots)) {
      const item = this.pools.dot.get(dot.key);
      put(item.node, "class", dot.index === undefined ? "" : `ex-point ex-c${dot.index % 8}`);
      put(item.spot, "cx", dot.px.toFixed(1));
      put(item.spot, "cy", dot.py.toFixed(1));
      show(item.text, dot.placed);
      put(item.leader, "points", dot.leader);
      if (dot.placed) {
        put(item.text, "transform", `translate(${dot.tx.toFixed(1)},${dot.ty.toFixed(1)})`);
        put(item.text, "text", dot.label);
      }
    }
    this.pools.dot.done();
    const named = series.filter((curve) => curve.label);
    for (const spot of this.beside ? marginLabels(this, named) : insideLabels(this, named)) {
      const item = this.pools.label.get(spot.id);
      put(
        item.node,
        "class",
        `ex-label ex-c${spot.index} ${spot.role === "reference" ? "ex-reference" : ""}`,
      );
      put(item.leader, "points", spot.leader ?? "");
      put(item.text, "text-anchor", spot.anchor);
      put(item.text, "transform", `translate(${spot.x.toFixed(1)},${spot.y.toFixed(1)})`);
      this.writeLines(item, spot.lines);
    }
    this.pools.label.done();
  }

  /**
   * @param {Label} item
   * @param {string[]} lines
   */
  writeLines(item, lines) {
    if (item.lines === lines.join("\n")) return;
    item.lines = lines.join("\n");
    item.text.replaceChildren(
      ...lines.map((text, i) => s("tspan", { x: 0, dy: i ? "1.1em" : 0, text })),
    );
  }

  /** @param {Frame} frame */
  drawCursor({ cursor }) {
    show(this.cursor.rule, Boolean(cursor));
    if (!cursor) return;
    const { left, right, top, bottom } = this.box,
      { sled, rule, reach, grip, plate, arrows, text } = this.cursor;
    const at = Math.min(Math.max(this.sx(cursor.x), left), right),
      width = textWidth(cursor.text, this.strong) + 34;
    // It ends where the axis does, and so covers no number of the other one and no name.
    const middle = Math.max(Math.min(at, right + 16 - width / 2), left - 4 + width / 2),
      y = bottom + 4;
    // Groups are moved as a whole: what stands within them is neither styled nor laid out again.
    for (const node of [sled, rule]) put(node, "transform", `translate(${at.toFixed(1)},0)`);
    put(rule, "y1", top);
    put(rule, "y2", bottom + 4);
    put(reach, "y", top);
    put(reach, "height", bottom - top + 34);
    put(grip, "transform", `translate(${middle.toFixed(1)},${y})`);
    put(text, "text", cursor.text);
    const half = Math.round(width / 2);
    put(plate, "x", -half);
    put(plate, "width", 2 * half);
    put(arrows, "d", `M${11 - half},7l-4,4l4,4M${half - 11},7l4,4l-4,4`);
    // A number of the axis gives way to the cursor's own.
    for (const { text: words, middle: stands } of this.xTicks) {
      const apart = Math.abs(stands - middle) - textWidth(words, this.font) / 2;
      const tick = this.pools.x.items.get(words);
      if (tick) put(tick.text, "visibility", apart < half + 3 ? "hidden" : "visible");
    }
    for (const point of cursor.points) {
      const x = this.sx(point.x),
        py = this.sy(point.y);
      if (!(py >= top - 2 && py <= bottom + 2 && x >= left - 2 && x <= right + 2)) continue;
      const ring = this.pools.ring.get(point.id);
      put(
        ring,
        "class",
        `ex-ring ex-c${point.index}${point.role === "reference" ? " ex-reference" : ""}` +
          (point.beside ? " is-beside" : ""),
      );
      put(ring, "transform", `translate(${x.toFixed(1)},${py.toFixed(1)})`);
    }
    this.pools.ring.done();
  }
}
