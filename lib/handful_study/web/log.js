// The log of what a learner did: append-only events, of which every state is a replay.  One file
// format for the page and for backups (version 1):
//
//   { "format": "handful-study-log", "version": 1, "exported": ms, "events": [event, …] }
//   event: { id, at (ms UTC), zone (minutes east of UTC), kind, … }, by kind:
//     grade    card, grade 1 Again … 4 Easy, took (ms, may be missing)
//     undo     undoes: the id of an event of another kind, which then counts as if it had never
//              been
//     bury     card: not shown until the learner's next day
//     setting  name, value: of each name the latest counts
//     attempt  problem, seed, given (text), verdict "right" | "wrong", turn and hints (numbers, may
//              be missing)
//
// Nothing that a file says is trusted: every field is checked, and text is only ever shown as text.
import { DEFAULTS, zoneAt } from "./spaced_repetition.js";

export const FORMAT = "handful-study-log",
  VERSION = 1;
export const MOST_BYTES = 50e6,
  MOST_EVENTS = 1e6;
const LATEST = 7258118400000; // the year 2200
const ID = /^[A-Za-z0-9_-]{8,64}$/,
  NAME = /^[a-z0-9-]{1,100}$/;

export class LogError extends Error {}

/** @typedef {[fits: (value: any) => boolean, words: string]} Check of a field, of any value */

/** @type {(least: number, most: number) => Check} */
const whole = (least, most) => [
  (v) => Number.isSafeInteger(v) && v >= least && v <= most,
  `a whole number from ${least} to ${most}`,
];
/** @type {Check} */
const name = [
  (v) => typeof v === "string" && NAME.test(v),
  "1 to 100 lower-case letters, figures and hyphens",
];
/** @type {Check} */
const id = [(v) => typeof v === "string" && ID.test(v), "8 to 64 letters, figures, _ and -"];
/** @type {(...values: string[]) => Check} */
const oneOf = (...values) => [(v) => values.includes(v), values.map((v) => `“${v}”`).join(" or ")];
/** @type {(check: Check) => Check} */
const optional = ([fits, words]) => [(v) => v === undefined || fits(v), words];

/** @type {Record<keyof Settings, Check>} */
const SETTINGS = {
  retention: [(v) => typeof v === "number" && v >= 0.7 && v <= 0.99, "a number from 0.7 to 0.99"],
  new_per_day: whole(0, 1000),
  chapters: [
    (v) => Array.isArray(v) && v.length <= 200 && v.every(name[0]),
    "a list of at most 200 chapter names",
  ],
};
/** @type {Record<string, Check>} */
const COMMON = { id, at: whole(0, LATEST), zone: whole(-840, 840) };
/** @type {Record<string, Record<string, Check>>} */
const KINDS = {
  grade: { card: name, grade: whole(1, 4), took: optional(whole(0, 86_400_000)) },
  undo: { undoes: id },
  bury: { card: name },
  setting: { name: oneOf(...Object.keys(SETTINGS)), value: [() => true, ""] },
  attempt: {
    problem: name,
    seed: whole(0, 2 ** 32 - 1),
    given: [(v) => typeof v === "string" && v.length <= 300, "text of at most 300 characters"],
    verdict: oneOf("right", "wrong"),
    turn: optional(whole(0, 99)),
    hints: optional(whole(0, 99)),
  },
};

/** @param {unknown} value */
function shown(value) {
  let text = "nothing";
  try {
    if (value !== undefined) text = JSON.stringify(value);
  } catch {
    text = "too many brackets"; // deeper than the stack: read with ease, written with none
  }
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

// What is wrong with an event, in one sentence; null if nothing is.
/**
 * @param {any} event what a file or a database holds
 * @returns {string | null}
 */
export function validationError(event) {
  if (typeof event !== "object" || event === null || Array.isArray(event))
    return `an event is an object; got ${shown(event)}.`;
  if (typeof event.kind !== "string" || !Object.hasOwn(KINDS, event.kind))
    return `its kind is one of ${Object.keys(KINDS).join(", ")}; got ${shown(event.kind)}.`;
  const fields = { ...COMMON, ...KINDS[event.kind] };
  for (const [field, [fits, words]] of Object.entries(fields)) {
    if (!fits(event[field])) return `${field} is ${words}; got ${shown(event[field])}.`;
  }
  if (event.kind === "setting") {
    const [fits, words] = SETTINGS[/** @type {keyof Settings} */ (event.name)];
    if (!fits(event.value))
      return `the value of ${event.name} is ${words}; got ${shown(event.value)}.`;
  }
  for (const field of Object.keys(event)) {
    if (field !== "kind" && !Object.hasOwn(fields, field))
      return (
        `a ${event.kind} has no field ${shown(field)}; it has ` +
        `${Object.keys(fields).join(", ")}.`
      );
  }
  return null;
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
}

// A new event.  Two of one millisecond keep the order in which they were made.
let latest = 0;
/**
 * @template {LogEvent} E
 * @param {E['kind']} kind
 * @param {Omit<E, 'id' | 'at' | 'zone' | 'kind'>} fields
 * @param {number} [now]
 * @returns {E}
 */
export function make(kind, fields, now = Date.now()) {
  const at = now <= latest && latest - now < 1000 ? latest + 1 : now;
  latest = at;
  const event = { id: newId(), at, zone: zoneAt(at), kind, ...fields },
    wrong = validationError(event);
  if (wrong) throw new LogError(`This cannot be noted: ${wrong}`);
  return /** @type {E} */ (/** @type {unknown} */ (event));
}

/**
 * @param {string} a
 * @param {string} b
 */
const alphabetically = (a, b) => Number(a > b) - Number(a < b);
/**
 * @param {{ at: number, id: string }} a
 * @param {{ at: number, id: string }} b
 */
export const inOrder = (a, b) => a.at - b.at || alphabetically(a.id, b.id);

// Field by field, so that the order in which a file writes them does not matter.
/**
 * @param {LogEvent} a
 * @param {LogEvent} b
 */
export const sameEvent = (a, b) => {
  const fields = Object.entries(a),
    others = new Map(Object.entries(b));
  return (
    fields.length === others.size &&
    fields.every(([key, value]) => JSON.stringify(value) === JSON.stringify(others.get(key)))
  );
};

// Union by id: the same whatever is merged first, and however often.
/** @param {LogEvent[][]} logs */
export function merge(...logs) {
  /** @type {Map<string, LogEvent>} */
  const found = new Map();
  for (const event of logs.flat()) {
    const known = found.get(event.id);
    if (known && !sameEvent(known, event))
      throw new LogError(
        `The event ${event.id} stands there twice with different content, so one of the two ` +
          "was changed by hand; nothing was taken over.",
      );
    if (!known) found.set(event.id, event);
  }
  return [...found.values()].sort(inOrder);
}

// What counts: in order, without undos and what they undo.  An undo itself cannot be undone.
/**
 * @param {LogEvent[]} events
 * @returns {Exclude<LogEvent, UndoEvent>[]}
 */
export function effective(events) {
  /** @type {Set<string>} */
  const undone = new Set();
  for (const event of events) if (event.kind === "undo") undone.add(event.undoes);
  const done = events.filter((event) => event.kind !== "undo");
  return done.filter((event) => !undone.has(event.id)).sort(inOrder);
}

/**
 * @param {LogEvent[]} events
 * @returns {Settings}
 */
export function settingsOf(events) {
  const settings = events.filter((event) => event.kind === "setting"),
    chosen = settings.map((event) => [event.name, event.value]);
  return { ...DEFAULTS, ...Object.fromEntries(chosen) };
}

/**
 * @param {LogEvent[]} events
 * @param {number} [now]
 */
export const write = (events, now = Date.now()) =>
  `${JSON.stringify({ format: FORMAT, version: VERSION, exported: now }).slice(
    0,
    -1,
  )},"events":[\n${events.map((event) => JSON.stringify(event)).join(",\n")}\n]}\n`;

// From version n to n + 1, at place n; a file of the first version needs none yet.
/** @type {Record<number, (file: any) => any>} */
const MIGRATIONS = {};

// The events of an exported file, or a LogError that says in one sentence what is wrong with it and
// where.
/**
 * @param {string} text
 * @returns {LogEvent[]}
 */
export function read(text) {
  if (text.length > MOST_BYTES)
    throw new LogError(`The file is larger than ${MOST_BYTES / 1e6} MB, which no study log is.`);
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    throw new LogError(
      text.trim()
        ? "The file is not complete JSON: it was cut off while it was saved, or it is no study log."
        : "The file is empty.",
    );
  }
  if (typeof file !== "object" || file === null || file.format !== FORMAT)
    throw new LogError(
      `The file is no study log: its format is ${shown(file?.format)} instead of “${FORMAT}”.`,
    );
  if (!Number.isSafeInteger(file.version) || file.version < 1)
    throw new LogError(
      `The file's version is ${shown(file.version)}; versions from 1 to ${VERSION} can be read.`,
    );
  if (file.version > VERSION)
    throw new LogError(
      `The file is of version ${file.version}, made by a newer edition of the book; this one ` +
        `reads up to version ${VERSION}.`,
    );
  for (let version = file.version; version < VERSION; version += 1)
    file = MIGRATIONS[version](file);
  const { events } = file;
  if (!Array.isArray(events)) throw new LogError("The file has no list of events.");
  if (events.length > MOST_EVENTS)
    throw new LogError(`The file has ${events.length} events; at most ${MOST_EVENTS} can be read.`);
  for (const [place, event] of events.entries()) {
    const wrong = validationError(event);
    if (wrong)
      throw new LogError(`Event ${place + 1} of ${events.length} is not as it should be: ${wrong}`);
  }
  return merge(events);
}
