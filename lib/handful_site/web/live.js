// Live numbers: <span class="live" data-live="KEY"> follows the scenario, and opens in place to show
// where it comes from (in_place.js).
//
// Beside them one block of JSON:
//   {"formulas": {NAME: {tree, unit, meaning, label?, inputs: [{name, label, unit}],
//                        conventions, source}},
//    "numbers": {KEY: {formula: NAME, set: {symbol: value, hardware: "…"}, digits,
//                      values: {build-time values}}}}
import { h, put } from "../../handful_explorers/web/dom.js";
import { lacks, store, whyMissing } from "../../handful_explorers/web/scenario.js";
import { compile } from "../../handful_explorers/web/tree.js";
import { formatValue, wholeCount } from "../../handful_explorers/web/units.js";
import { asButton, openInPlace } from "./in_place.js";

const BESIDE = ", and beside it "; // heard before the pinned scenario's number
const ROWS = ["hardware", "model", "precision", "context"];

/** @typedef {{ name: string, state: State, cursor: string }} Moved what an explorer tells */

/** @param {HTMLElement} span */
const keyOf = (span) => span.dataset.live ?? "";
/**
 * @param {ParentNode} root
 * @param {string} rule
 * @returns {HTMLElement[]}
 */
const spansOf = (root, rule) => [...root.querySelectorAll(rule)].filter(isHTML);
/**
 * @param {Element} node
 * @returns {node is HTMLElement}
 */
const isHTML = (node) => node instanceof HTMLElement;

/** @param {State} [set] */
function split(set = {}) {
  const entries = Object.entries(set),
    pinned = entries.filter(([name]) => ROWS.includes(name)),
    symbols = entries.filter(([name]) => !ROWS.includes(name));
  return {
    pinned: /** @type {Partial<Choice>} */ (Object.fromEntries(pinned)),
    symbols: /** @type {SymbolValues} */ (Object.fromEntries(symbols)),
  };
}

/**
 * @typedef {object} Formula
 * @property {Tree} tree
 * @property {string} unit
 * @property {string} meaning
 * @property {string} [label]
 * @property {{ name: string, label: string, unit: string }[]} inputs
 * @property {string[]} [conventions]
 * @property {string} [source]
 * @typedef {object} LiveNumber
 * @property {string} formula
 * @property {State} [set]
 * @property {number} [digits]
 * @property {string} [unit] where it is not shown in the formula's own
 * @property {import("../../handful_explorers/web/units.js").Whole} [whole] which whole number
 * @property {SymbolValues} [values]
 * @typedef {object} Computed
 * @property {string} text
 * @property {string} [reason] why there is no number
 * @property {number} [value]
 * @property {SymbolValues} [values]
 * @property {Partial<Choice>} [pinned] what the sentence asks for, whatever the scenario
 * @property {SymbolValues} [symbols]
 */

// Returns a function that takes in what is added to the page later.
/** @param {Document} [root] */
export function mountLive(root = document) {
  const block = root.querySelector("#live-numbers");
  /** @type {{ formulas: Record<string, Formula>, numbers: Record<string, LiveNumber> }} */
  const { formulas, numbers } = block?.textContent
    ? JSON.parse(block.textContent)
    : { formulas: {}, numbers: {} };
  /** @type {Map<string, (values: SymbolValues) => number>} */
  const made = new Map();
  /**
   * @param {string} key
   * @param {import("../../handful_explorers/web/scenario.js").Source} [from]
   * @returns {Computed}
   */
  const compute = (key, from = store) => {
    const number = numbers[key],
      formula = formulas[number.formula],
      { pinned, symbols } = split(number.set);
    const choice = { ...from.choice, ...pinned };
    if (pinned.context !== undefined) symbols.context = Number(pinned.context);
    // A precision that the chip does not compute in can still be that of what it stores.
    const missing = lacks(choice.hardware, choice.precision);
    if (missing && formula.inputs.some((input) => input.name === "peak_flops"))
      return { text: "–", reason: missing };
    const values = { ...(number.values || {}), ...from.values(pinned), ...symbols };
    const run = made.get(number.formula) ?? compile(formula.tree);
    made.set(number.formula, run);
    const lacking = formula.inputs.find(({ name }) => typeof values[name] !== "number");
    if (lacking) {
      const reason = whyMissing(lacking.name, choice);
      return { text: "–", values, pinned, symbols, reason };
    }
    const value = wholeCount(run(values), number.whole);
    return {
      value,
      values,
      pinned,
      symbols,
      text: formatValue(value, number.unit ?? formula.unit, number.digits || 3),
    };
  };
  // The number, and that of the pinned scenario where it is another.
  /** @param {string} key */
  const both = (key) => {
    const { beside } = store,
      { text } = compute(key),
      also = beside ? compute(key, beside).text : text;
    return { text, also: also === text ? "" : also };
  };
  /** @type {HTMLElement[]} */
  const spans = [];
  /** @param {boolean} quiet */
  const draw = (quiet) => {
    /** @type {Map<string, { text: string, also: string }>} */
    const results = new Map();
    for (const span of spans) {
      const key = keyOf(span),
        result = results.get(key) ?? both(key);
      results.set(key, result);
      if (!writeNumber(span, result)) continue;
      if (quiet) continue;
      span.classList.add("is-new");
      setTimeout(() => span.classList.remove("is-new"), 900);
    }
  };
  /** @param {ParentNode} part */
  const take = (part) => {
    for (const span of spansOf(part, ".fact[data-source]")) asButton(span);
    for (const span of spansOf(part, ".live[data-live]")) {
      if (!Object.hasOwn(numbers, keyOf(span))) continue;
      spans.push(span);
      asButton(span);
      span.title = formulas[numbers[keyOf(span)].formula].meaning;
    }
    draw(true);
  };
  take(root);
  followPlots(root, numbers, (span) => writeNumber(span, both(keyOf(span))));
  store.on(() => draw(false));
  openInPlace(root, {
    number: (span) => {
      const name = numbers[keyOf(span)].formula;
      return { name, formula: formulas[name], result: compute(keyOf(span)) };
    },
  });
  return take;
}

// Whether anything had to be written.
/**
 * @param {HTMLElement} span
 * @param {{ text: string, also: string }} result
 */
function writeNumber(span, { text, also }) {
  if (span.textContent === text + (also && `${BESIDE}${also}`)) return false;
  span.textContent = text;
  if (also)
    span.append(
      h("span", { class: "for-ears", text: BESIDE }),
      h("span", { class: "beside", text: also }),
    );
  return true;
}

// <span class="follows-NAME">: what stands in it follows the explorer of that name, cursor and
// controls.  A live number takes over the symbols that its author set, a given one shows the
// cursor.
/**
 * @param {Document} root
 * @param {Record<string, LiveNumber>} numbers
 * @param {(span: HTMLElement) => void} write
 */
function followPlots(root, numbers, write) {
  const groups = spansOf(root, '[class^="follows-"]').map((group) => ({
    name: group.className.slice(8),
    group,
    spans: spansOf(group, ".live[data-live]"),
  }));
  if (!groups.length) return;
  for (const { name, spans } of groups)
    for (const span of spans) {
      const key = `${keyOf(span)}@${name}`,
        number = numbers[keyOf(span)];
      numbers[key] = { ...number, set: { ...number.set } };
      span.dataset.live = key;
    }
  addEventListener("explorer-moved", (event) => {
    const { name, state, cursor } = /** @type {CustomEvent<Moved>} */ (event).detail;
    for (const { group, spans } of groups.filter((found) => found.name === name)) {
      for (const span of group.querySelectorAll(".given")) put(span, "text", cursor);
      for (const span of spans) {
        Object.assign(numbers[keyOf(span)].set ?? {}, state);
        write(span);
      }
    }
  });
}
