// Sliders, menus and boxes under a plot.
import { h, listenToSlider, put } from "./dom.js";
import { lacks, store } from "./scenario.js";
import { Stops } from "./stops.js";
import { beginsNumber, openField } from "./typing.js";
import { formatTick, formatValue, grouped, UNITS } from "./units.js";

const STEPS = 400; // of a log slider, about

/**
 * @typedef {(value: StateValue, done: boolean) => void} Take hears of a value, and whether it stays
 * @typedef {object} Made a control with its element and how to show a value
 * @property {HTMLElement} node
 * @property {Control} entry
 * @property {(value: StateValue, state: State) => void} show
 */

// Counts below a million in full: a slider never stops at more digits than a person would write.
/**
 * @param {NumberControl} entry
 * @param {number} value
 */
const digitsOf = (entry, value) => (UNITS[entry.unit].kind === "count" && value < 1e6 ? 6 : 3);
/**
 * @param {number} value
 * @param {NumberControl} entry
 */
function end(value, { unit }) {
  if (unit === "%") return formatValue(value, unit);
  const { kind, factor } = UNITS[unit];
  if (kind === "count" && factor === 1 && value < 1e6 && Number.isInteger(value))
    return grouped(value);
  return formatTick(value, unit);
}

/**
 * @param {Control} entry
 * @param {string} id
 * @param {Take} onInput
 * @returns {Made}
 */
export function makeControl(entry, id, onInput) {
  if (entry.type === "check") return makeCheck(entry, id, onInput);
  if (entry.type === "choice") return makeChoice(entry, id, onInput);
  return makeSlider(entry, id, onInput);
}

/**
 * @param {NumberControl} entry
 * @param {string} id
 * @param {Take} onInput
 * @returns {Made}
 */
function makeSlider(entry, id, onInput) {
  const stops = new Stops({ ...entry, log: entry.type === "log" }, STEPS, [entry.value]);
  const input = h("input", { type: "range", id, min: 0 });
  const output = h("output", { for: id, "aria-live": "off" });
  const node = h(
    "div",
    { class: "ex-control" },
    h("label", { for: id, text: entry.label }),
    output,
    input,
    h(
      "div",
      { class: "ex-ends", "aria-hidden": "true" },
      h("span", { text: end(stops.all[0], entry) }),
      h("span", { text: end(stops.all[stops.all.length - 1], entry) }),
    ),
  );
  listenToSlider(input, (position, done) => onInput(stops.all[position], done));
  typeOver(output, input, entry, (value) =>
    onInput(entry.type === "int" ? Math.round(value) : value, true),
  );
  let filled = "";
  return {
    node,
    entry,
    show(shown, state) {
      const value = Number(shown),
        text = formatValue(value, entry.unit, digitsOf(entry, value));
      stops.keep(Number(state[entry.name]));
      const position = stops.at(value),
        last = stops.all.length - 1;
      put(input, "max", last);
      if (Number(input.value) !== position) input.value = String(position);
      put(output, "text", text);
      nameValue(output, text, entry.label);
      put(input, "aria-valuetext", text);
      const fill = `${((100 * position) / last).toFixed(1)}%`;
      if (filled !== fill) input.style.setProperty("--fill", fill);
      filled = fill;
    },
  };
}

// The slider says its value itself; the value says that it opens a field.
/**
 * @param {HTMLElement} output
 * @param {string} text
 * @param {string} label
 */
export const nameValue = (output, text, label) =>
  put(output, "aria-label", `${text}: type another value of ${label}`);

// A click on a slider's value, or a digit on the slider, lets it be typed.  The value is a button
// for those who swipe from one thing to the next; the Tab key has the slider.
/**
 * @param {HTMLElement} output
 * @param {HTMLInputElement} input
 * @param {import("./typing.js").Range} range
 * @param {(value: number) => void} take
 */
export function typeOver(output, input, range, take) {
  const open = (/** @type {string} */ text) => openField(output, text, range, take, input);
  output.title = "Click to type a value; or type it on the slider";
  output.setAttribute("role", "button");
  output.tabIndex = -1;
  input.setAttribute("aria-description", "A value can be typed too");
  output.addEventListener("click", () => open(output.textContent ?? ""));
  output.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open(output.textContent ?? "");
  });
  input.addEventListener("keydown", (event) => {
    if (!beginsNumber(event)) return;
    event.preventDefault();
    open(event.key);
  });
}

/**
 * @param {CheckControl} entry
 * @param {string} id
 * @param {Take} onInput
 * @returns {Made}
 */
function makeCheck(entry, id, onInput) {
  const input = h("input", { type: "checkbox", id });
  input.addEventListener("change", () => onInput(input.checked, true));
  return {
    entry,
    node: h(
      "div",
      { class: "ex-control ex-check" },
      input,
      h("label", { for: id, text: entry.label }),
    ),
    show(value) {
      if (input.checked !== value) input.checked = Boolean(value);
    },
  };
}

/**
 * @param {ChoiceControl} entry
 * @param {string} id
 * @param {Take} onInput
 * @returns {Made}
 */
function makeChoice(entry, id, onInput) {
  const options = entry.options.map((o) => h("option", { text: o.label }));
  const select = h("select", { id }, ...options);
  select.addEventListener("change", () => onInput(entry.options[select.selectedIndex].value, true));
  return {
    entry,
    node: h(
      "div",
      { class: "ex-control ex-choice" },
      h("label", { for: id, text: entry.label }),
      select,
    ),
    show(value, state) {
      const index = entry.options.findIndex((o) => o.value === value);
      if (select.selectedIndex !== index) select.selectedIndex = index;
      if (entry.name !== "precision") return;
      // A precision that the chip lacks cannot be picked, and says why.
      const hardware = state.hardware ?? store.choice.hardware;
      options.forEach((option, i) => {
        const reason = lacks(String(hardware), String(entry.options[i].value));
        option.disabled = Boolean(reason);
        option.title = reason;
      });
    },
  };
}
