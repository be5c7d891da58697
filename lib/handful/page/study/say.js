// Days, times and counts in words.
import { dayOf, span } from "./schedule.js";

const DAY = 86_400_000;
const inUTC = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const dated = inUTC({ weekday: "long", day: "numeric", month: "long" }), short = inUTC({ day: "numeric", month: "short" }),
  far = inUTC({ day: "numeric", month: "long", year: "numeric" }), monthly = inUTC({ month: "long", year: "numeric" });

const local = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });

export const dateOf = (at) => local.format(at); // of a moment, as a calendar on the wall has it
export const plural = (n, word, more = `${word}s`) => `${n.toLocaleString("en")} ${n === 1 ? word : more}`;
export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;
export const shortDate = (day) => short.format(day * DAY);
export const longDate = (day) => dated.format(day * DAY);
export const fullDate = (day) => far.format(day * DAY);
export const monthOf = (day) => monthly.format(day * DAY);
export const weekday = (day) => (new Date(day * DAY).getUTCDay() + 6) % 7; // 0 is Monday

// “today”, “tomorrow, Friday 13 March”, “in 3 months, on 12 June 2026”.
export function whenDay(day, today) {
  const days = day - today;
  if (days <= 0) return "today";
  if (days === 1) return `tomorrow, ${longDate(day)}`;
  return `in ${span({ days })}, on ${days < 60 ? longDate(day) : fullDate(day)}`;
}

export function whenDue(state, now, zone) {
  if (state.due.at === undefined) return whenDay(state.due.day, dayOf(now, zone));
  const minutes = Math.ceil((state.due.at - now) / 60_000);
  return minutes > 0 ? `in ${span({ minutes })}` : "now";
}
