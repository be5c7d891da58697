// Where names stand: beside the curves' ends, on the curves, or by the dots; never on each other.
import { textWidth } from "./dom.js";

const LINE = 15;

/** @typedef {import("./compute.js").Dot & PlacedOn} PlacedDot */
/**
 * @typedef {object} PlacedOn where a dot stands, and its name, if it found a place
 * @property {number} px
 * @property {number} py
 * @property {boolean} placed
 * @property {number} tx
 * @property {number} ty
 */
/**
 * @typedef {import("./plot.js").Plot} Plot
 * @typedef {import("./plot.js").Series} Drawn
 * @typedef {{ x: number, y: number, w: number, h: number }} Box
 * @typedef {{ price: number, box: Box, share: number, side: number }} Chosen
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
      const start = `M${(x + 3).toFixed(1)},${y.toFixed(1)}`;
      spot.leader = `${start}L${right + 8},${spot.middle.toFixed(1)}H${right + 16}`;
    } else {
      spot.leader = "";
      spot.inside = true;
    }
  }
  const early = spots
    .filter((spot) => spot.inside)
    .flatMap((spot) => series.find((curve) => curve.id === spot.id) ?? []);
  return early.length
    ? [...spots.filter((spot) => !spot.inside), ...insideLabels(plot, early, series)]
    : spots;
}

// On the plot: try places along each curve, above and below it, and take the one that covers least.
/**
 * @param {Plot} plot
 * @param {Drawn[]} series
 * @param {Drawn[]} [all]
 * @returns {Spot[]}
 */
export function insideLabels(plot, series, all = series) {
  const { top, bottom, left, right } = plot.box,
    taken = [...plot.taken],
    /** @type {Spot[]} */
    spots = [];
  /**
   * @param {Box} box
   * @param {string} own
   */
  const cost = (box, own) => {
    let sum = 0;
    for (const b of taken)
      if (
        box.x < b.x + b.w + 4 &&
        b.x < box.x + box.w + 4 &&
        box.y < b.y + b.h &&
        b.y < box.y + box.h
      )
        sum += 400;
    // The cursor's rings are drawn over everything.
    for (const [x, y] of plot.rings)
      if (x > box.x - 7 && x < box.x + box.w + 7 && y > box.y - 6 && y < box.y + box.h + 6)
        sum += 8;
    for (const curve of all) {
      for (let i = 0; i < curve.X.length; i += 3) {
        const x = curve.X[i],
          y = curve.Y[i];
        if (x > box.x - 1 && x < box.x + box.w + 1 && y > box.y && y < box.y + box.h)
          sum += curve.id === own ? 2 : 1;
      }
    }
    return sum;
  };
  for (const curve of series) {
    const width = textWidth(curve.label, plot.strong),
      n = curve.X.length;
    /** @type {number[]} */
    const visible = [];
    for (let i = 0; i < n; i++) {
      if (
        curve.X[i] >= left &&
        curve.X[i] <= right &&
        curve.Y[i] >= top &&
        curve.Y[i] <= bottom &&
        Number.isFinite(curve.ys[i])
      )
        visible.push(i);
    }
    if (!visible.length) continue;
    /** @type {Chosen | null} */
    let best = null;
    /**
     * @param {number} share
     * @param {number} side
     * @param {number} bonus
     */
    const tryAt = (share, side, bonus) => {
      const i = visible[Math.round(share * (visible.length - 1))];
      let x = curve.X[i] - width / 2;
      x = Math.min(Math.max(x, left + 4), right - 4 - width);
      const y = side < 0 ? curve.Y[i] - 22 : curve.Y[i] + 7,
        box = { x, y, w: width, h: 16 };
      if (y < top - 14 || y + 16 > bottom) return;
      const price = cost(box, curve.id) - bonus;
      if (!best || price < best.price) best = { price, box, share, side };
    };
    // Where the label stood in the last frame has the first claim, so that it does not jump about.
    const before = plot.chosen.get(curve.id);
    if (before) tryAt(before.share, before.side, 3);
    for (const share of [0.85, 0.7, 0.55, 0.4, 0.95, 0.25, 0.1, 0.02])
      for (const side of [-1, 1]) tryAt(share, side, 0);
    const found = /** @type {Chosen | null} */ (best);
    if (!found) continue;
    plot.chosen.set(curve.id, found);
    taken.push(found.box);
    spots.push({
      id: curve.id,
      index: curve.index,
      role: curve.role,
      lines: [curve.label],
      anchor: "start",
      x: found.box.x,
      y: found.box.y + 12.5,
    });
  }
  plot.taken = taken;
  return spots;
}

// Names of dots, right, left, above or below; one that finds no free place stays unnamed (the table
// has it).
/**
 * @param {Plot} plot
 * @param {import('./compute.js').Dot[]} dots
 * @returns {PlacedDot[]}
 */
export function placeDots(plot, dots) {
  const { left, right, top, bottom } = plot.box,
    boxes = plot.taken,
    /** @type {PlacedDot[]} */
    found = [];
  for (const dot of dots) {
    const px = plot.sx(dot.x),
      py = plot.sy(dot.y);
    if (!(px >= left && px <= right && py >= top - 1 && py <= bottom)) continue;
    found.push({ ...dot, px, py, placed: false, tx: 0, ty: 0 });
    boxes.push({ x: px - 5, y: py - 5, w: 10, h: 10 });
  }
  for (const dot of found.filter((one) => one.label)) {
    const w = textWidth(dot.label, plot.font) * 0.93;
    const places = [
      [8, 4],
      [-8 - w, 4],
      [-w / 2, -9],
      [-w / 2, 18],
      [6, 17],
      [6, -8],
      [-6 - w, 17],
      [-6 - w, -8],
      [12, 30],
      [-12 - w, 30],
      [12, 44],
    ];
    for (const [dx, dy] of places) {
      const box = { x: dot.px + dx, y: dot.py + dy - 11, w, h: 14 };
      if (box.x < left || box.x + w > right + 4 || box.y < 16 || box.y + 14 > bottom) continue;
      if (
        boxes.some(
          (b) =>
            box.x < b.x + b.w && b.x < box.x + box.w && box.y < b.y + b.h && b.y < box.y + box.h,
        )
      )
        continue;
      boxes.push(box);
      Object.assign(dot, { placed: true, tx: box.x, ty: dot.py + dy });
      break;
    }
  }
  return found;
}
