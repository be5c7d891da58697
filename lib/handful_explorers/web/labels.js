// Where words stand: beside the curves' ends, by the curves, rules and dots; never on each other, and
// on lines only where no other place is left.
import { textWidth } from "./dom.js";

const LINE = 15,
  TALL = 16,
  CELL = 4, // pixels
  STOPS = 15;

/** @typedef {import("./compute.js").Dot & PlacedOn} PlacedDot */
/**
 * @typedef {object} PlacedOn where a dot stands, and its name, if it found a place
 * @property {number} px
 * @property {number} py
 * @property {boolean} placed
 * @property {number} tx
 * @property {number} ty
 * @property {string} leader the line from the dot to a name that stands apart
 */
/**
 * @typedef {import("./plot.js").Plot} Plot
 * @typedef {import("./plot.js").Series} Drawn
 * @typedef {{ x: number, y: number, w: number, h: number }} Box
 * @typedef {{ price: number, box: Box, lines: string[], crossed: number, place: Triple }} Chosen
 * @typedef {[number, number, number]} Triple
 * @typedef {object} Spot where a curve's name stands
 * @property {string} id
 * @property {number} index
 * @property {Role} role
 * @property {string[]} lines
 * @property {Anchor} anchor
 * @property {number} x
 * @property {number} y
 * @property {string} [leader]
 */

/**
 * @param {string} text
 * @param {number} width
 * @param {string} font
 */
export function wrap(text, width, font) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && textWidth(`${last} ${word}`, font) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/**
 * @param {Box} a
 * @param {Box} b
 */
const meet = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

// How much is drawn where: the cells that lines pass through, then their sums from the corner on,
// so that a box of any size is asked in four look-ups.
export class Ink {
  /** @param {import("./plot.js").Box} box */
  constructor({ left, right, top, bottom }) {
    this.left = left;
    this.top = top;
    this.bottom = bottom;
    this.columns = Math.ceil((right - left) / CELL) + 2;
    this.rows = Math.ceil((bottom - top) / CELL) + 2;
    this.cells = new Int32Array(this.columns * this.rows);
  }

  // A line within the plot; `weight` is what a crossing costs.
  /**
   * @param {Numbers} X
   * @param {Numbers} Y
   * @param {number} [weight]
   */
  line(X, Y, weight = 1) {
    const { cells, columns, rows } = this,
      low = this.top - CELL,
      high = this.bottom + CELL;
    let last = -1;
    for (let i = Math.min(1, X.length - 1); i < X.length; i++) {
      const from = Math.max(i - 1, 0),
        a = Math.max(low, Math.min(Y[from], high)),
        b = Math.max(low, Math.min(Y[i], high)),
        steps = Math.ceil(Math.max(Math.abs(X[i] - X[from]), Math.abs(b - a)) / CELL) || 1;
      if (!(steps < 1000) || (a === b && (a === low || a === high))) continue;
      for (let k = 0; k <= steps; k++) {
        const column = Math.floor((X[from] + ((X[i] - X[from]) * k) / steps - this.left) / CELL),
          row = Math.floor((a + ((b - a) * k) / steps - this.top) / CELL),
          cell = (row + 1) * columns + column + 1;
        if (column < 0 || row < 0 || column + 2 > columns || row + 2 > rows || cell === last)
          continue;
        cells[cell] += weight;
        last = cell;
      }
    }
  }

  sum() {
    const { cells, columns, rows } = this;
    for (let row = 1; row < rows; row++) {
      let sum = 0;
      for (let i = row * columns + 1; i < (row + 1) * columns; i++)
        cells[i] = cells[i - columns] + (sum += cells[i]);
    }
  }

  // What lies under a box, and a pixel around it.
  /** @param {Box} box */
  under({ x, y, w, h }) {
    const { cells, columns, rows } = this;
    /**
     * @param {number} place
     * @param {number} most
     */
    const clamp = (place, most) => Math.max(0, Math.min(most - 1, place));
    const west = clamp(Math.floor((x - 1 - this.left) / CELL), columns),
      east = clamp(Math.floor((x + w + 1 - this.left) / CELL) + 1, columns),
      north = clamp(Math.floor((y - this.top) / CELL), rows) * columns,
      south = clamp(Math.floor((y + h - this.top) / CELL) + 1, rows) * columns;
    return cells[south + east] - cells[south + west] - cells[north + east] + cells[north + west];
  }
}

// In the right margin, at the height where each curve leaves the plot, moved apart where they would
// touch.
/**
 * @param {Plot} plot
 * @param {Drawn[]} series
 * @returns {Spot[]}
 */
export function marginLabels(plot, series) {
  const { top, bottom, right } = plot.box,
    /** @type {(Spot & { tall: number, from: Pair, middle: number, inside: boolean })[]} */
    spots = [];
  for (const curve of series) {
    let end = -1;
    for (let i = curve.X.length - 1; i >= 0 && end < 0; i--) {
      if (
        curve.X[i] <= right + 0.5 &&
        curve.Y[i] >= top - 0.5 &&
        curve.Y[i] <= bottom + 0.5 &&
        Number.isFinite(curve.ys[i])
      )
        end = i;
    }
    if (end < 0) continue;
    const lines = wrap(curve.label, plot.width - right - 22, plot.strong);
    spots.push({
      id: curve.id,
      index: curve.index,
      role: curve.role,
      lines,
      tall: lines.length * LINE + 3,
      from: [
        curve.X[end],
        curve.base ? (curve.Y[end] + Math.min(plot.sy(curve.base[end]), bottom)) / 2 : curve.Y[end],
      ],
      anchor: "start",
      x: right + 20,
      y: 0,
      middle: 0,
      inside: false,
    });
  }
  // Downwards so that none touches the one above, then up again from the bottom edge.
  spots.sort((a, b) => a.from[1] - b.from[1]);
  let floor = top - 20;
  for (const spot of spots) {
    spot.middle = Math.max(spot.from[1], floor + spot.tall / 2);
    floor = spot.middle + spot.tall / 2;
  }
  let ceiling = bottom + 24;
  for (const spot of [...spots].reverse()) {
    spot.middle = Math.min(spot.middle, ceiling - spot.tall / 2);
    ceiling = spot.middle - spot.tall / 2;
  }
  for (const spot of spots) {
    spot.y = spot.middle - ((spot.lines.length - 1) * LINE) / 2 + 4.5;
    const [x, y] = spot.from;
    // A curve that ends early, at the top edge say, needs no line across the plot to its name.
    if (x > right - 30) {
      const middle = spot.middle.toFixed(1),
        start = `${(x + 3).toFixed(1)},${y.toFixed(1)}`;
      spot.leader = `${start} ${right + 8},${middle} ${right + 16},${middle}`;
    } else {
      spot.leader = "";
      spot.inside = true;
    }
  }
  const early = spots
    .filter((spot) => spot.inside)
    .flatMap((spot) => series.find((curve) => curve.id === spot.id) ?? []);
  return early.length
    ? [...spots.filter((spot) => !spot.inside), ...insideLabels(plot, early)]
    : spots;
}

// On the plot: of places all along each curve, above, below and beside it, on one line or two, the one
// that covers least.
/**
 * @param {Plot} plot
 * @param {Drawn[]} series
 * @returns {Spot[]}
 */
export function insideLabels(plot, series) {
  const { top, bottom, left, right } = plot.box,
    { taken, ink, chosen } = plot,
    /** @type {Spot[]} */
    spots = [];
  for (const curve of series) {
    const { X, Y, id } = curve,
      /** @type {number[]} */
      visible = [];
    for (let i = 0; i < X.length; i++)
      if (X[i] >= left && X[i] <= right && Y[i] >= top && Y[i] <= bottom) visible.push(i);
    if (!visible.length) continue;
    const ways = waysToWrap(curve.label, plot.strong);
    /** @type {Chosen | null} */
    let best = null;
    // By the k-th of STOPS places of the curve: in its middle, or beginning or ending there.
    /** @param {Triple} place */
    const tryAt = (place) => {
      const [way, k, n] = place,
        lines = ways[way],
        w = Math.max(...lines.map((line) => textWidth(line, plot.strong))),
        h = TALL + LINE * (lines.length - 1),
        i = visible[Math.round((k / STOPS) * (visible.length - 1))],
        x = Math.min(Math.max(X[i] + [-w / 2, 5, -w - 5][n], left + 3), right - w);
      let high = Infinity,
        low = -Infinity;
      for (const j of visible)
        if (X[j] > x - 2 && X[j] < x + w + 2) {
          high = Math.min(high, Y[j]);
          low = Math.max(low, Y[j]);
        }
      for (const y of [high - h - CELL, low + CELL, Y[i] - h / 2]) {
        const box = { x, y, w, h };
        if (x < left + 3 || y < top - 14 || y + h > bottom) continue;
        // The ends are the better places, the right one before the left.
        const crossed = ink.under(box),
          far = Math.min(STOPS - k, k + 3) / 3 + way + Math.abs(y + h / 2 - Y[i]) / 12,
          price = 4 * crossed + far;
        if ((!best || price < best.price) && !taken.some((other) => meet(box, other)))
          best = { price, box, lines, crossed, place };
      }
      return best?.crossed === 0;
    };
    // A name stays where it stood in the last frame while that is free, and does not jump about.
    const before = chosen.get(id);
    if (!(before && before[0] < ways.length && tryAt(before)))
      for (let way = 0; way < ways.length; way++)
        for (let k = 0; k <= STOPS; k++) for (let n = 0; n < 3; n++) tryAt([way, k, n]);
    const found = /** @type {Chosen | null} */ (best);
    // Under the plot each curve is named beside a piece of it: a name that others would run through
    // is left out here.
    if (!found || found.crossed > 12) continue;
    chosen.set(id, found.place);
    taken.push(found.box);
    spots.push({
      id,
      index: curve.index,
      role: curve.role,
      lines: found.lines,
      anchor: "start",
      x: found.box.x,
      y: found.box.y + 12.5,
    });
  }
  return spots;
}

/**
 * @param {string} label
 * @param {string} font
 */
function waysToWrap(label, font) {
  const width = textWidth(label, font),
    halved = width > 90 ? wrap(label, 0.62 * width, font) : [];
  return halved.length === 2 ? [[label], halved] : [[label]];
}

// Where the words of a rule stand: on either side of it, or across it where the plot ends, all along,
// where no others are and lines cross them least.
/**
 * @param {Plot} plot
 * @param {number} at
 * @param {boolean} upright
 * @param {number} width
 * @returns {Pair}
 */
export function besideRule({ box, taken, ink }, at, upright, width) {
  const { left, right, top, bottom } = box,
    /** @type {Pair[]} */
    places = [];
  if (upright)
    for (let y = top + 14; y < bottom - 4; y += 17)
      for (const x of [at + 6, at - 6 - width])
        places.push([Math.max(left + 2, Math.min(x, right - width)), y]);
  else
    // A line farther off where curves hug the rule, as near its end on a phone.
    for (const y of [at - 6, at + 15, at - 20, at + 29])
      for (let k = 0; k <= 8; k++)
        places.push([right - 6 - ((right - left - 14 - width) * k) / 8 - width, y]);
  /** @type {Pair} */
  let best = places[0],
    least = Infinity;
  places.forEach(([x, y], i) => {
    const words = { x, y: y - 12, w: width, h: 15 };
    if (x < left + 2 || x + width > right + 2 || y < top - 2 || y + 3 > bottom) return;
    const price = 4 * ink.under(words) + 0.3 * i + (taken.some((b) => meet(words, b)) ? 1e4 : 0);
    if (price < least) {
      least = price;
      best = [x, y];
    }
  });
  taken.push({ x: best[0], y: best[1] - 12, w: width, h: 15 });
  return best;
}

// Where the name of a dot may stand: right, left, above or below it, then farther off, as offsets of
// the box's left end and of the line of words, each with its price.
/**
 * @param {number} w
 * @returns {Triple[]}
 */
function placesByADot(w) {
  /** @type {Pair[]} */
  const near = [
    [8, 4],
    [-8 - w, 4],
    [-w / 2, -9],
    [-w / 2, 18],
    [6, 17],
    [6, -8],
    [-6 - w, 17],
    [-6 - w, -8],
  ];
  /** @type {Triple[]} */
  const far = [];
  for (let reach = 26; reach < 130; reach += 13)
    for (let k = 0; k < 16; k++) {
      const angle = (k * Math.PI) / 8,
        x = Math.cos(angle);
      far.push([x * (reach + w / 2) - w / 2, Math.sin(angle) * reach + 4, 6 + reach / 5]);
    }
  return [...near.map(([x, y], i) => /** @type {Triple} */ ([x, y, i])), ...far];
}

// The line from a dot to a name that stands apart from it; nothing where they are side by side.
/**
 * @param {{ px: number, py: number }} dot
 * @param {Box} box
 * @returns {{ X: Pair, Y: Pair } | null}
 */
function leaderTo({ px, py }, { x, y, w, h }) {
  const toX = Math.max(x - 1, Math.min(px, x + w + 1)),
    toY = Math.max(y + 1, Math.min(py, y + h - 1)),
    far = Math.hypot(toX - px, toY - py);
  if (far < 14) return null;
  return { X: [px + ((toX - px) * 5) / far, toX], Y: [py + ((toY - py) * 5) / far, toY] };
}

// Whether a leader runs through one of some boxes.
/**
 * @param {{ X: Pair, Y: Pair }} leader
 * @param {Box[]} boxes
 */
function runsThrough({ X, Y }, boxes) {
  for (let t = 0.05; t < 1; t += 0.05) {
    const x = X[0] + (X[1] - X[0]) * t,
      y = Y[0] + (Y[1] - Y[0]) * t;
    if (boxes.some((b) => x > b.x && x < b.x + b.w && y > b.y && y < b.y + b.h)) return true;
  }
  return false;
}

// Names of dots, beside them or at the end of a thin line; one that finds no free place stays
// unnamed (the table has it).
/**
 * @param {Plot} plot
 * @param {import('./compute.js').Dot[]} dots
 * @returns {PlacedDot[]}
 */
export function placeDots(plot, dots) {
  const { left, right, top, bottom } = plot.box,
    { taken: boxes, ink } = plot,
    /** @type {PlacedDot[]} */
    found = [];
  for (const dot of dots) {
    const px = plot.sx(dot.x),
      py = plot.sy(dot.y);
    if (!(px >= left && px <= right && py >= top - 1 && py <= bottom)) continue;
    found.push({ ...dot, px, py, placed: false, tx: 0, ty: 0, leader: "" });
  }
  const spots = found.map(({ px, py }) => ({ x: px - 5, y: py - 5, w: 10, h: 10 }));
  boxes.push(...spots);
  found.forEach((dot, own) => {
    if (!dot.label) return;
    const w = textWidth(dot.label, plot.font) * 0.93,
      others = boxes.filter((box) => box !== spots[own]);
    let least = Infinity,
      /** @type {Box | null} */
      best = null,
      /** @type {{ X: Pair, Y: Pair } | null} */
      line = null;
    for (const [dx, dy, far] of placesByADot(w)) {
      const box = { x: dot.px + dx, y: dot.py + dy - 11, w, h: 14 };
      if (box.x < left || box.x + w > right + 4 || box.y < 16 || box.y + 14 > bottom) continue;
      const price = 4 * ink.under(box) + far;
      if (price >= least || boxes.some((other) => meet(box, other))) continue;
      const leader = leaderTo(dot, box);
      if (leader && runsThrough(leader, others)) continue;
      least = price;
      best = box;
      line = leader;
    }
    const place = /** @type {Box | null} */ (best),
      leader = /** @type {{ X: Pair, Y: Pair } | null} */ (line);
    if (!place) return;
    boxes.push(place);
    Object.assign(dot, { placed: true, tx: place.x, ty: place.y + 11 });
    if (!leader) return;
    // No other name stands on its line.
    for (let t = 0.1; t < 1; t += 0.1)
      boxes.push({
        x: leader.X[0] + (leader.X[1] - leader.X[0]) * t - 1,
        y: leader.Y[0] + (leader.Y[1] - leader.Y[0]) * t - 1,
        w: 2,
        h: 2,
      });
    const ends = leader.X.map((x, k) => `${x.toFixed(1)},${leader.Y[k].toFixed(1)}`);
    dot.leader = ends.join(" ");
  });
  return found;
}
