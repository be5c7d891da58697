// The values at which a slider or a cursor stops.  All of them stand in one list, so that as many
// steps back as forth end where they began, whatever value that was.
import { LONG_TIMES, UNITS } from "./units.js";

/**
 * @typedef {object} Range
 * @property {string} unit
 * @property {number} min
 * @property {number} max
 * @property {boolean} log
 * @property {number} [step] for even steps, as given
 */

const LEAST = 0.01; // by which a value grows, so that three digits tell it from the next

/** @type {(value: number) => number} */
const clean = (value) => Number(value.toPrecision(12));

// What a value is a number of, as it is shown: bytes, dollars an hour, days.
/**
 * @param {number} value
 * @param {string} unit
 */
const shownIn = (value, unit) =>
  (unit === "s" && LONG_TIMES.find(([start]) => value >= start)?.[1]) || 1 / UNITS[unit].factor;

// 1, 2, 5, 10, …: the nearest by ratio.
/** @param {number} size */
function round(size) {
  const power = 10 ** Math.floor(Math.log10(size)),
    digit = size / power;
  return power * ([1, 2, 5].find((nice) => digit < nice * 1.5) ?? 10);
}

// Multiples of 1, 2 or 5, with a power of ten, about as far apart as `count` steps would be.
/**
 * @param {Range} range
 * @param {number} count
 */
function roundValues({ unit, min, max, log, step }, count) {
  const whole = min >= 1 && ["sequence", "device", "token"].includes(unit),
    low = whole ? Math.ceil(min) : min,
    high = whole ? Math.floor(max) : max,
    growth = log ? Math.max((max / min) ** (1 / count) - 1, LEAST) : 0,
    found = [];
  for (let value = low; value < high;) {
    found.push(value);
    if (step) {
      value = clean(value + step);
      continue;
    }
    const one = shownIn(value, unit),
      apart = round((log ? value * growth : (max - min) / count) / one),
      size = one * (whole ? Math.max(apart, 1) : apart);
    value = clean((Math.floor(value / size + 1e-6) + 1) * size);
  }
  return [...found, high];
}

export class Stops {
  /**
   * @param {Range} range
   * @param {number} count of steps, about, where their size is not given
   * @param {number[]} given values that are stops, round or not
   */
  constructor(range, count, given) {
    this.always = [...roundValues(range, count), ...given];
    this.all = this.always;
    this.keep(given[0]);
  }

  // A value that came from elsewhere is a stop, until another one comes.
  /** @param {number} value */
  keep(value) {
    if (this.all[this.at(value)] === value && this.all !== this.always) return;
    this.all = [...new Set([...this.always, value])].sort((a, b) => a - b);
  }

  // The place of the stop that is nearest to a value.
  /** @param {number} value */
  at(value) {
    const { all } = this;
    let low = 0,
      high = all.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (all[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low && value - all[low - 1] < all[low] - value ? low - 1 : low;
  }

  // The stop that lies `count` steps from a value.
  /**
   * @param {number} value
   * @param {number} count
   */
  from(value, count) {
    this.keep(value);
    return this.all[Math.min(Math.max(this.at(value) + count, 0), this.all.length - 1)];
  }
}
