// A value typed in place of a slider or a cursor: a field that stands over what it changes, until
// the value is taken or given up.
import { h } from "./dom.js";
import { fits, read, readAs, WrittenError } from "./parse_quantity.js";
import { digitsOf, formatValue, UNITS } from "./units.js";

/**
 * @typedef {object} Range what may be typed
 * @property {string} label
 * @property {string} unit
 * @property {number} min
 * @property {number} max
 * @property {number} [example] how one is written; the largest where none is given
 */

/** @param {Pick<Range, "unit" | "min" | "max">} range */
const fromTo = ({ unit, min, max }) =>
  [min, max].map((end) => formatValue(end, unit, digitsOf(end, unit))).join(" to ");

// The value of a text within a range; a sentence where there is none.
/**
 * @param {string} text
 * @param {Range} range
 * @returns {number | string}
 */
export function typed(text, { unit, min, max, example = max }) {
  const allowed = fromTo({ unit, min, max });
  let value, dimension;
  const wanted = unit === "1" || unit === "%" ? {} : (read(`1 ${unit}`)[1] ?? {}),
    counted = UNITS[unit].kind === "count" || unit === "1";
  try {
    [value, dimension] = readAs(text, wanted);
  } catch (error) {
    if (error instanceof WrittenError) return error.message;
    throw error;
  }
  if (!dimension && unit === "%") value /= 100;
  else if (!dimension && !counted)
    return `Write the unit too, as in ${formatValue(example, unit, 3)}; allowed is ${allowed}.`;
  if (dimension && !fits(dimension, wanted))
    return `Another unit is wanted; allowed is ${allowed}.`;
  if (value < min * (1 - 1e-9) || value > max * (1 + 1e-9)) return `Allowed is ${allowed}.`;
  return Math.min(Math.max(value, min), max);
}

// Opens a field over `place`, which it hides meanwhile.
/**
 * @param {HTMLElement} place
 * @param {string} text what stands in it at first
 * @param {Range} range
 * @param {(value: number) => void} take
 * @param {HTMLElement | SVGElement} back what has the focus afterwards
 */
export function openField(place, text, range, take, back) {
  const field = h("input", {
      type: "text",
      class: "ex-typed",
      autocomplete: "off",
      "aria-label": `${range.label}, from ${fromTo(range)}`,
    }),
    says = h("span", { class: "ex-typed-says", role: "alert" });
  field.value = text;
  const box = h("span", { class: "ex-typed-box" }, field, says);
  let open = true;
  /** @param {boolean} returning */
  const close = (returning) => {
    if (!open) return;
    open = false;
    place.hidden = false;
    box.remove();
    if (returning) back.focus({ preventScroll: true });
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") close(true);
    if (event.key !== "Enter") return;
    const found = typed(field.value, range);
    if (typeof found === "string") {
      says.textContent = found;
      field.setAttribute("aria-invalid", "true");
      return;
    }
    close(true);
    take(found);
  });
  field.addEventListener("blur", () => {
    const found = typed(field.value, range);
    const changed = field.value.trim() !== text.trim();
    close(false);
    if (changed && typeof found === "number") take(found);
  });
  place.hidden = true;
  place.after(box);
  field.focus({ preventScroll: true });
  if (text.length > 1) field.select();
}

// A digit on a slider or a cursor begins a number.
/** @param {KeyboardEvent} event */
export const beginsNumber = (event) =>
  /^[0-9.$]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey;
