// When a card comes back: FSRS-6 by ts-fsrs, under the book's own rules of days, steps and queues.
//
// Pure functions.  tests/data/schedule.json pins what they give, and tests compare it with the
// package fsrs for Python: whoever changes what comes out of here changes RULES, and every reader's
// card states are computed anew from the log.
//
// The state of a card: { state: "new" | "learning" | "review" | "relearning", stability,
//   difficulty, reps, lapses, last (ms UTC), lastDay, first (day of the first grade),
//   due: { at: ms UTC } or { day }, buried (a day) }
import { createEmptyCard, fsrs, State } from "ts-fsrs";
import { plural } from "../../handful_explorers/web/units.js";

// Importing ts-fsrs puts four methods on every date of the page; nothing in it needs them.
for (const name of ["scheduler", "diff", "format", "dueFormat"])
  delete (/** @type {Record<string, unknown>} */ (/** @type {unknown} */ (Date.prototype))[name]);

export const RULES = 1;
export const AGAIN = 1,
  HARD = 2,
  GOOD = 3,
  EASY = 4;
/** @type {Readonly<Settings>} */
export const DEFAULTS = Object.freeze({
  retention: 0.9,
  new_per_day: 10,
  chapters: Object.freeze([]),
});
export const MATURE = 21; // days to the next review from which a card counts as mature
const DAY = 86_400_000,
  MINUTE = 60_000,
  ROLL_OVER = 4 * 3_600_000;
/** @type {Record<number, CardState["state"]>} */
const NAMES = {
  [State.New]: "new",
  [State.Learning]: "learning",
  [State.Review]: "review",
  [State.Relearning]: "relearning",
};
const NUMBERS = Object.fromEntries(
  Object.entries(NAMES).map(([number, name]) => [name, Number(number)]),
);

/** @typedef {{ id: string, place: number, key: number }} Place of a card in a queue */

// The learner's day: it begins at 04:00, so that an evening's work is one day.
/**
 * @param {number} at
 * @param {number} zone
 */
export const dayOf = (at, zone) => Math.floor((at + zone * MINUTE - ROLL_OVER) / DAY);
/** @param {number} at */
export const zoneAt = (at) => -new Date(at).getTimezoneOffset();
/** @param {CardState | undefined} state */
export const isLearning = (state) => state?.state === "learning" || state?.state === "relearning";
/** @param {number} lapses */
export const isLeech = (lapses) => lapses >= 8 && lapses % 4 === 0;
/**
 * @param {CardState | null | undefined} state
 * @returns {state is NewState | null | undefined}
 */
const isNew = (state) => !state || state.state === "new";

/** @type {Map<number, import("ts-fsrs").FSRS>} */
const schedulers = new Map();
/** @param {number} retention */
function schedulerFor(retention) {
  const known = schedulers.get(retention);
  if (known) return known;
  const made = fsrs({
    request_retention: retention,
    maximum_interval: 36500,
    enable_fuzz: false,
    learning_steps: ["10m"],
    relearning_steps: ["10m"],
  });
  schedulers.set(retention, made);
  return made;
}

// How many times as long as at 90 % a card stays away when this share is to be remembered.
/** @param {number} retention */
export const stretch = (retention) =>
  schedulerFor(retention).interval_modifier / schedulerFor(0.9).interval_modifier;

// The state after one grade.  ts-fsrs counts calendar days in UTC and refuses to go back in time,
// so what it gets for a moment is the start of the learner's day, never before the card's last one.
/**
 * @param {CardState | null | undefined} state
 * @param {{ at: number, zone: number, grade: number }} grade
 * @param {number} [retention]
 * @returns {MetState}
 */
export function next(state, { at, zone, grade }, retention = DEFAULTS.retention) {
  const before = isNew(state) ? null : state,
    day = dayOf(at, zone),
    today = before ? Math.max(day, before.lastDay) : day;
  const now = new Date(today * DAY),
    card = createEmptyCard(now);
  if (before) {
    Object.assign(card, {
      state: NUMBERS[before.state],
      stability: before.stability,
      difficulty: before.difficulty,
      reps: before.reps,
      lapses: before.lapses,
      last_review: new Date(before.lastDay * DAY),
    });
  }
  const after = schedulerFor(retention).next(card, now, grade).card;
  /** @type {MetState} */
  const made = {
    state: /** @type {MetState["state"]} */ (NAMES[after.state]),
    stability: after.stability,
    difficulty: after.difficulty,
    reps: after.reps,
    lapses: after.lapses,
    last: at,
    lastDay: today,
    first: before ? before.first : today,
    due:
      after.state === State.Review
        ? { day: today + after.scheduled_days }
        : { at: at + (after.due.getTime() - now.getTime()) },
  };
  if (state?.buried !== undefined) made.buried = state.buried;
  return made;
}

// Buried: not shown until the learner's next day.
/**
 * @param {CardState | null | undefined} state
 * @param {{ at: number, zone: number }} event
 * @returns {CardState}
 */
export function bury(state, { at, zone }) {
  return { ...(state || { state: "new", reps: 0, lapses: 0 }), buried: dayOf(at, zone) };
}

// A card's state after its own events, which stand in order and of which none is undone; `each`
// hears of every grade.
/**
 * @param {CardEvent[]} events
 * @param {number} retention
 * @param {(event: GradeEvent, before: CardState | undefined, after: MetState) => void} [each]
 * @returns {CardState | undefined}
 */
export function replayCard(events, retention, each) {
  /** @type {CardState | undefined} */
  let state;
  for (const event of events) {
    if (event.kind === "bury") state = bury(state, event);
    else {
      const before = state,
        after = next(before, event, retention);
      state = after;
      each?.(event, before, after);
    }
  }
  return state;
}

// What each of the four grades would do: [{ grade, state, days or minutes }].
/**
 * @param {CardState | null | undefined} state
 * @param {number} now
 * @param {number} zone
 * @param {number} retention
 */
export function preview(state, now, zone, retention) {
  const today = dayOf(now, zone);
  return [AGAIN, HARD, GOOD, EASY].map((grade) => {
    const after = next(state, { at: now, zone, grade }, retention);
    return {
      grade,
      state: after,
      ...(after.due.at === undefined
        ? { days: Math.max(1, after.due.day - today) }
        : { minutes: Math.round((after.due.at - now) / MINUTE) }),
    };
  });
}

// “10 min”, “3 days”, “2 months”, “1.5 years”.
/** @param {{ minutes?: number, days?: number }} time */
export function span({ minutes, days }) {
  if (minutes !== undefined)
    return minutes < 60 ? `${Math.max(1, minutes)} min` : plural(Math.round(minutes / 60), "hour");
  if (days === undefined) throw new Error("A span of neither minutes nor days.");
  if (days < 60) return plural(days, "day");
  if (days < 730) return plural(Math.round(days / 30.4375), "month");
  return plural(days < 3653 ? Math.round(days / 36.525) / 10 : Math.round(days / 365.25), "year");
}

/**
 * @param {CardState | undefined} state
 * @param {number} today
 */
export const isBuried = (state, today) => state?.buried !== undefined && today <= state.buried;

// Is the card to be asked for now?  New cards are the queue's affair.
/**
 * @param {CardState} state
 * @param {number} now
 * @param {number} zone
 */
export function isDue(state, now, zone) {
  if (isNew(state)) return false;
  const { due } = state;
  return due.at === undefined ? dayOf(now, zone) >= due.day : now >= due.at;
}

// What a sitting asks, in order: due reviews, then new cards, then cards that are being learnt,
// waiting or not, since a missed card comes again at the sitting's end.  `cards`: [{ id, chapter }]
// in the book's order.
/**
 * @param {number} now
 * @param {number} zone
 * @param {{ id: string, chapter?: string }[]} cards
 * @param {Map<string, CardState>} states
 * @param {Settings} [settings]
 */
export function queue(now, zone, cards, states, settings = DEFAULTS) {
  const today = dayOf(now, zone),
    chapters = new Set(settings.chapters),
    /** @type {Place[]} */
    due = [],
    /** @type {string[]} */
    fresh = [],
    /** @type {Place[]} */
    again = [];
  let room = settings.new_per_day;
  for (const state of states.values()) if (state.first === today) room -= 1;
  for (const [place, { id, chapter }] of cards.entries()) {
    const state = states.get(id);
    if (isBuried(state, today)) continue;
    if (isNew(state)) {
      if (fresh.length < room && (!chapters.size || chapters.has(chapter ?? ""))) fresh.push(id);
    } else if (isLearning(state))
      again.push({ id, place, key: /** @type {number} */ (state.due.at) });
    else {
      const day = /** @type {number} */ (state.due.day);
      if (today >= day) due.push({ id, place, key: day });
    }
  }
  const inOrder = (/** @type {Place[]} */ list) =>
    list.sort((a, b) => a.key - b.key || a.place - b.place).map(({ id }) => id);
  const asked = { due: inOrder(due), fresh, again: inOrder(again) };
  return { ...asked, today, order: [...asked.due, ...asked.fresh, ...asked.again] };
}
