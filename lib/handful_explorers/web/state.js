// The state of explorers in the page's address.
//
//   ?hardware=H100+SXM&model=…&precision=fp8&context=32768    the page's scenario (scenario.js)
//   &e.latency.context=100000&e.latency.batch=2000            explorer "latency": a control, and
//   its cursor #explorer-latency                                         and where to scroll to
//
// Whatever does not fit is named in one sentence; the declared value is shown instead.
import { digitsOf, formatValue } from "./units.js";

/**
 * Everything of an explorer that can be set: a control, or the cursor.
 *
 * @typedef {Control} Settable
 * @typedef {{ value: StateValue, allowed?: undefined } | { value?: undefined, allowed: string }}
 *   Parsed
 */

/** @param {string} text */
const quote = (text) => `“${text.length > 40 ? text.slice(0, 40) + "…" : text}”`;

/**
 * @param {string} text
 * @param {NumberControl} entry
 * @returns {Parsed}
 */
function number(text, entry) {
  const value = Number(text);
  if (
    text.trim() !== "" &&
    Number.isFinite(value) &&
    value >= entry.min * (1 - 1e-9) &&
    value <= entry.max * (1 + 1e-9)
  ) {
    return { value: entry.type === "int" ? Math.round(value) : value };
  }
  const [least, most] = [entry.min, entry.max].map((end) =>
    formatValue(end, entry.unit, digitsOf(end, entry.unit)),
  );
  return { allowed: `a number from ${least} to ${most}` };
}

/**
 * @param {string} text
 * @param {Settable} entry
 * @returns {Parsed}
 */
function parse(text, entry) {
  if (entry.type === "check") {
    return text === "1" || text === "0"
      ? { value: text === "1" }
      : { allowed: "1 (shown) or 0 (hidden)" };
  }
  if (entry.type === "choice") {
    const option = entry.options.find((o) => String(o.value) === text);
    return option
      ? { value: option.value }
      : { allowed: entry.options.map((o) => o.label).join(", ") };
  }
  return number(text, entry);
}

// Everything of an explorer that can be set: its controls, and the cursor under the swept symbol's
// name.
/**
 * @param {Spec} spec
 * @returns {Settable[]}
 */
export function entries(spec) {
  if (!spec.x) return spec.controls;
  const { name, title, unit, min, max, at, follows } = spec.x;
  return [
    ...spec.controls,
    { name, label: title, type: "log", value: at, unit, min, max, follows },
  ];
}

/**
 * @param {Spec} spec
 * @param {string} search
 */
export function readState(spec, search) {
  /** @type {State} */
  const state = {},
    /** @type {string[]} */
    problems = [],
    prefix = `e.${spec.name}.`,
    known = new Map(entries(spec).map((e) => [e.name, e]));
  for (const [key, text] of new URLSearchParams(search)) {
    if (!key.startsWith(prefix)) continue;
    const name = key.slice(prefix.length),
      entry = known.get(name);
    if (!entry) {
      problems.push(
        `The address sets ${quote(name)}, which this plot does not have; it has ` +
          `${[...known.keys()].join(", ")}.`,
      );
      continue;
    }
    const { value, allowed } = parse(text, entry);
    if (value === undefined)
      problems.push(
        `The address asks for ${entry.label} = ${quote(text)}; allowed is ${allowed}, so the ` +
          "usual value is shown.",
      );
    else state[name] = value;
  }
  return { state, problems };
}

// The parameters that differ from what is shown unless they are set.
/**
 * @param {Spec} spec
 * @param {State} state
 * @param {State} unset
 * @param {URLSearchParams} [query]
 */
export function writeState(spec, state, unset, query = new URLSearchParams()) {
  for (const entry of entries(spec)) {
    const value = state[entry.name];
    if (value !== unset[entry.name])
      query.set(
        `e.${spec.name}.${entry.name}`,
        typeof value === "boolean" ? String(Number(value)) : String(value),
      );
  }
  return query;
}

// Parameters that speak of explorers which this page does not have.
/**
 * @param {string} search
 * @param {string[]} names
 */
export function strangers(search, names) {
  const odd = new Set();
  for (const key of new URLSearchParams(search).keys()) {
    const found = /^e\.([^.]*)\./.exec(key);
    if (found && !names.includes(found[1])) odd.add(found[1]);
  }
  return [...odd].map(
    (name) => `The address speaks of a plot ${quote(name)}, which this page does not have.`,
  );
}
