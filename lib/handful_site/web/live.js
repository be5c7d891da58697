// Live numbers: <span class="live" data-live="KEY"> follows the scenario, and opens to show where
// it comes from.
//
// Beside them one block of JSON:
//   {"formulas": {NAME: {tree, unit, meaning, label?, inputs: [{name, label, unit}],
//                        conventions, source}},
//    "numbers": {KEY: {formula: NAME, set: {symbol: value, hardware: "…"}, digits,
//                      values: {build-time values}}}}
// What is typeset comes from a file for all pages, named in the block's data-boxes and fetched when
// the first box opens:
// {"formulas": {NAME: html}, "letters": {NAME: html}}.
import { h, put } from "../../handful_explorers/web/dom.js";
import { label, lacks, row, store, whyMissing } from "../../handful_explorers/web/scenario.js";
import { compile } from "../../handful_explorers/web/tree.js";
import { formatValue } from "../../handful_explorers/web/units.js";

/** @type {Kind[]} */
const CHOICES = ["hardware", "model", "precision"];
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
/**
 * @param {HTMLElement} box
 * @returns {HTMLElement | null}
 */
const closer = (box) => box.querySelector(".pop-close");

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
    const value = run(values);
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
  listen(root, (span) => card(numbers[keyOf(span)], formulas, compute(keyOf(span))));
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

/** @param {HTMLElement} span */
function asButton(span) {
  for (const [name, value] of [
    ["role", "button"],
    ["tabindex", "0"],
    ["aria-haspopup", "dialog"],
  ])
    span.setAttribute(name, value);
}

/**
 * @param {Document} root
 * @param {(span: HTMLElement) => HTMLElement} make
 */
function listen(root, make) {
  /** @type {{ span: HTMLElement, box: HTMLElement } | null} */
  let open = null;
  /** @param {boolean} back */
  const close = (back) => {
    if (!open) return;
    open.span.removeAttribute("aria-expanded");
    open.box.remove();
    if (back) open.span.focus();
    open = null;
  };
  /** @param {HTMLElement} span */
  const toggle = (span) => {
    const again = open?.span === span;
    close(false);
    if (again) return;
    const box = span.dataset.live ? make(span) : factCard(span);
    const button = closer(box);
    button?.addEventListener("click", () => close(true));
    document.body.append(box);
    place(box, span);
    forms?.then(
      () => {
        if (open?.box === box) place(box, span);
      },
      () => {},
    ); // with its formulas it is taller
    span.setAttribute("aria-expanded", "true");
    open = { span, box };
    button?.focus({ preventScroll: true });
  };
  const find = (/** @type {Event} */ { target }) =>
    target instanceof Element
      ? /** @type {HTMLElement | null} */ (target.closest(".live[role=button], .fact[data-source]"))
      : null;
  root.addEventListener("click", (event) => {
    const span = find(event);
    if (span) toggle(span);
    else if (open && event.target instanceof Node && !open.box.contains(event.target)) close(false);
  });
  root.addEventListener("keydown", (event) => {
    const span = find(event);
    if (event.key === "Escape" && open) {
      close(true);
      event.preventDefault();
    } else if ((event.key === "Enter" || event.key === " ") && span) {
      event.preventDefault();
      toggle(span);
    } else if (event.key === "Tab" && open) trap(event, open.box);
  });
  addEventListener("resize", () => close(false));
}

// Tab goes round within the open box; Escape or its button leaves it.
/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement} box
 */
function trap(event, box) {
  const stops = spansOf(box, "a[href], button"),
    first = stops[0],
    last = stops[stops.length - 1];
  if (
    !box.contains(document.activeElement) ||
    (event.shiftKey ? document.activeElement === first : document.activeElement === last)
  ) {
    (event.shiftKey ? last : first).focus();
    event.preventDefault();
  }
}

/** @param {string} title */
function shell(title) {
  const close = h("button", {
    type: "button",
    class: "pop-close",
    "aria-label": "Close",
    text: "×",
  });
  return h(
    "div",
    { class: "pop", role: "dialog", "aria-modal": "true", "aria-label": title },
    h("div", { class: "pop-head" }, h("strong", { text: title }), close),
  );
}

// Lecture times become links; all else is text.
/** @param {string} text */
function source(text) {
  const found = /\b(?:(\d+):)?(\d{1,2}):(\d\d)\b/.exec(text);
  if (!found) return h("p", { class: "pop-source", text: `Source: ${text}.` });
  const seconds = Number(found[1] || 0) * 3600 + Number(found[2]) * 60 + Number(found[3]);
  return h(
    "p",
    { class: "pop-source" },
    "Source: ",
    text.slice(0, found.index),
    h("a", {
      href: `https://www.youtube.com/watch?v=xmkSf5IS-zw&t=${seconds}s`,
      rel: "noopener",
      text: `the lecture at ${found[0]}`,
    }),
    `${text.slice(found.index + found[0].length)}.`,
  );
}

// Fills a node once the typeset forms are here; without them (no network) the box does without.
/** @type {Promise<Record<string, Record<string, string> | undefined>> | null} */
let forms = null;
/**
 * @param {HTMLElement} node
 * @param {'formulas' | 'letters'} kind
 * @param {string} name
 */
function typeset(node, kind, name) {
  const address = document.getElementById("live-numbers")?.dataset.boxes ?? "";
  forms ??= fetch(new URL(address, document.baseURI)).then((answer) =>
    answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status))),
  );
  forms
    .then((found) => {
      node.innerHTML = found[kind]?.[name] || "";
    }) // the book's own, typeset when it was built
    .catch(() => {
      forms = null;
      if (kind === "formulas")
        node.textContent =
          "The typeset formula could not be fetched; close this box and open it again to try " +
          "once more.";
    });
  return node;
}

/**
 * @param {LiveNumber} number
 * @param {Record<string, Formula>} formulas
 * @param {Computed} result
 */
function card(number, formulas, result) {
  const formula = formulas[number.formula],
    box = shell(`${formula.label || number.formula.replaceAll("_", " ")}: ${result.text}`);
  box.append(
    h("p", { text: `${formula.meaning.charAt(0).toUpperCase()}${formula.meaning.slice(1)}.` }),
  );
  box.append(typeset(h("div", { class: "pop-formula" }), "formulas", number.formula));
  if (result.reason) box.append(h("p", { class: "pop-reason", text: result.reason }));
  if (result.values) {
    const { values, pinned = {}, symbols = {} } = result,
      now = { ...store.choice, ...pinned },
      names = CHOICES.map((kind) => label(kind, now[kind])).join(", ");
    box.append(
      inputs(formula, values, symbols),
      h("p", {
        class: "pop-scene",
        text: `For ${names}${Object.keys(pinned).length ? ", as this sentence asks" : ""}.`,
      }),
    );
    const { counts } = row("model", now.model);
    if (counts && formula.inputs.some(({ name }) => /^(total|active)_parameters$/.test(name)))
      box.append(h("p", { class: "pop-counts", text: counts }));
  }
  const conventions = formula.conventions || [];
  if (conventions.length)
    box.append(h("ul", null, ...conventions.map((text) => h("li", { text }))));
  if (formula.source) box.append(source(formula.source));
  return box;
}

// Letter, name and value of each input; those that stand at one or nothing, as in a plain case, are
// left out.
/**
 * @param {Formula} formula
 * @param {SymbolValues} values
 * @param {SymbolValues} symbols
 */
function inputs(formula, values, symbols) {
  const rows = formula.inputs.filter(
    ({ name }) =>
      typeof values[name] === "number" &&
      (name in symbols || !(values[name] === 0 || name === "tokens_per_step")),
  );
  return h(
    "table",
    null,
    h(
      "tbody",
      null,
      ...rows.map(({ name, label: words, unit }) => {
        return h(
          "tr",
          null,
          typeset(h("td", { class: "pop-letter" }), "letters", name),
          h("th", { scope: "row", text: words + (name in symbols ? " (set here)" : "") }),
          h("td", { class: "pop-number", text: formatValue(values[name], unit, 4) }),
        );
      }),
    ),
  );
}

// A fact carries its source in its own attributes: data-label, data-source.
/** @param {HTMLElement} span */
function factCard(span) {
  const box = shell(span.dataset.label || span.textContent || "");
  box.append(source(span.dataset.source ?? ""));
  return box;
}

// Under the number, kept within the window's sides.
/**
 * @param {HTMLElement} box
 * @param {HTMLElement} span
 */
function place(box, span) {
  const at = span.getClientRects()[0],
    width = Math.min(400, document.documentElement.clientWidth - 24);
  box.style.width = `${width}px`;
  const left = Math.min(
    Math.max(at.left + at.width / 2 - width / 2, 12),
    document.documentElement.clientWidth - width - 12,
  );
  const below = innerHeight - at.bottom,
    tall = box.offsetHeight,
    over = below < tall + 20 && at.top > tall + 20;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${scrollY + (over ? at.top - tall - 8 : at.bottom + 8)}px`;
}
