// What follows from the log and is kept beside it only to be quick: card states, counts by day,
// problems solved.
import { replayCard, dayOf, bury, next } from "./spaced_repetition.js";
import { effective, settingsOf } from "./log.js";

/**
 * @typedef {object} Derived
 * @property {Map<string, DatedState>} cards
 * @property {Map<number, DayCount>} days
 * @property {Map<string, ProblemCount>} problems
 * @property {Settings} settings
 */

// Counts of a learner's day: answers, of them missed; new cards; and of reviews proper asked and
// held.
/**
 * @param {Map<number, DayCount>} days
 * @param {GradeEvent} event
 * @param {CardState | undefined} before
 */
export function countDay(days, event, before) {
  const day = dayOf(event.at, event.zone);
  const found = days.get(day) || { day, answers: 0, missed: 0, fresh: 0, asked: 0, held: 0 };
  const review = before?.state === "review",
    held = event.grade >= 2;
  days.set(day, {
    day,
    answers: found.answers + 1,
    missed: found.missed + Number(!held),
    fresh: found.fresh + Number(!before?.reps),
    asked: found.asked + Number(review),
    held: found.held + Number(review && held),
  });
}

/**
 * @param {Map<string, ProblemCount>} problems
 * @param {AttemptEvent} event
 */
export function countAttempt(problems, { problem, verdict }) {
  const found = problems.get(problem) || { problem, right: 0, wrong: 0 };
  problems.set(problem, { ...found, [verdict]: found[verdict] + 1 });
}

// With its latest event, by which an undo finds what was done last.
/**
 * @param {CardState} state
 * @param {LogEvent} event
 * @returns {DatedState}
 */
const withLatest = (state, { at, id }) => ({ ...state, latest: [at, id] });

// One card: its state and its part of the days' counts.
/**
 * @param {CardEvent[]} events
 * @param {number} retention
 * @returns {{ state: DatedState | undefined, days: Map<number, DayCount> }}
 */
export function ofCard(events, retention) {
  /** @type {Map<number, DayCount>} */
  const days = new Map(),
    state = replayCard(events, retention, (event, before) => countDay(days, event, before));
  return { state: state && withLatest(state, events[events.length - 1]), days };
}

// Everything, in steps: yields the share that is done, so that a page can show it and stay alive.
/**
 * @param {LogEvent[]} events
 * @returns {Generator<number, Derived>}
 */
export function* derive(events) {
  const counted = effective(events),
    settings = settingsOf(counted),
    /** @type {Map<string, DatedState>} */
    cards = new Map(),
    /** @type {Map<number, DayCount>} */
    days = new Map(),
    /** @type {Map<string, ProblemCount>} */
    problems = new Map();
  for (const [place, event] of counted.entries()) {
    if (event.kind === "grade") {
      const before = cards.get(event.card);
      cards.set(event.card, withLatest(next(before, event, settings.retention), event));
      countDay(days, event, before);
    } else if (event.kind === "bury")
      cards.set(event.card, withLatest(bury(cards.get(event.card), event), event));
    else if (event.kind === "attempt") countAttempt(problems, event);
    if (place % 4000 === 3999) yield place / counted.length;
  }
  return { cards, days, problems, settings };
}
