// Days, times and counts in words.
import { dayOf, span } from "./spaced_repetition.js";

const DAY = 86_400_000;
// Made when first asked for: a browser takes 20 ms to read what five of them need, before it shows
// a page.
/** @param {Intl.DateTimeFormatOptions} options */
function dateFormat(options) {
  /** @type {Intl.DateTimeFormat | null} */
  let format = null;
  return (/** @type {number} */ at) =>
    (format ||= new Intl.DateTimeFormat("en-GB", options)).format(at);
}
/** @param {Intl.DateTimeFormatOptions} options */
const inUTC = (options) => {
  const format = dateFormat({ timeZone: "UTC", ...options });
  return (/** @type {number} */ day) => format(day * DAY);
};

export const shortDate = inUTC({ day: "numeric", month: "short" });
export const longDate = inUTC({ weekday: "long", day: "numeric", month: "long" });
const fullDate = inUTC({ day: "numeric", month: "long", year: "numeric" });
// of a moment, as a calendar on the wall has it
export const dateOf = dateFormat({ day: "numeric", month: "long", year: "numeric" });
/**
 * @param {number} share
 * @param {number} [digits]
 */
export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;

// “today”, “tomorrow, Friday 13 March”, “in 3 months, on 12 June 2026”.
/**
 * @param {number} day
 * @param {number} today
 */
export function whenDay(day, today) {
  const days = day - today;
  if (days <= 0) return "today";
  if (days === 1) return `tomorrow, ${longDate(day)}`;
  return `in ${span({ days })}, on ${days < 60 ? longDate(day) : fullDate(day)}`;
}

/**
 * @param {MetState} state
 * @param {number} now
 * @param {number} zone
 */
export function whenDue(state, now, zone) {
  if (state.due.at === undefined) return whenDay(state.due.day, dayOf(now, zone));
  const minutes = Math.ceil((state.due.at - now) / 60_000);
  return minutes > 0 ? `in ${span({ minutes })}` : "now";
}
