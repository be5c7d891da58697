// The scenario bar: which chip, model, precision and context every number on the page is for.
import { nameValue, typeOver } from "../../handful_explorers/web/controls.js";
import { announce, h, listenToSlider, put } from "../../handful_explorers/web/dom.js";
import {
  CONTEXT,
  label,
  lacks,
  nameOf,
  publishedRent,
  readRent,
  rentProblem,
  rows,
  store,
} from "../../handful_explorers/web/scenario.js";
import { Stops } from "../../handful_explorers/web/stops.js";
import { formatValue } from "../../handful_explorers/web/units.js";

const STEPS = 300; // of the context, about
const CONTEXTS = [1024, 4096, 8192, 32768, 131072, 1e6];
/** @type {Kind[]} */
const KINDS = ["hardware", "model", "precision"];
const NAMES = { hardware: "Chip", model: "Model", precision: "Precision" };
/** @param {number} rent */
const dollars = (rent) => rent.toFixed(2);

// A chip that nobody has published a price for says so, unless the reader knows one.
/** @param {Kind} kind */
const wordsOf = (kind) =>
  rows[kind].map(({ name, label: words }) =>
    kind === "hardware" && !publishedRent(name) && !store.rents[name]
      ? `${words} (no price)`
      : words,
  );
/** @param {Kind} kind */
const optionsOf = (kind) => {
  const words = wordsOf(kind);
  return rows[kind].map((row, i) => h("option", { value: row.name, text: words[i] }));
};
// "72 chips, $3.30 an hour each, 13.4 TB together"
function machineOf() {
  const { devices, device_price: price, memory_capacity: memory } = store.values();
  return [
    devices === 1 ? "1 chip" : `${formatValue(devices, "1", 4)} chips`,
    price ? `$${dollars(price * 3600)} an hour each` : "no price known",
    memory ? `${formatValue(memory * devices, "B")} of memory together` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/**
 * @param {Element} before
 * @param {string[]} [problems]
 */
export function mountBar(before, problems = []) {
  /** @type {[Kind, HTMLSelectElement][]} */
  const selects = [];
  const menus = KINDS.map((kind) => {
    const select = h("select", { id: `bar-${kind}`, name: kind }, ...optionsOf(kind));
    selects.push([kind, select]);
    select.addEventListener("change", () => store.set({ [kind]: select.value }));
    return h(
      "div",
      { class: `bar-item bar-${kind}` },
      h("label", { for: `bar-${kind}`, text: NAMES[kind] }),
      select,
    );
  });
  const stops = new Stops({ ...CONTEXT, unit: "token", log: true }, STEPS, CONTEXTS);
  const slider = h("input", { type: "range", id: "bar-context", min: 0, list: "bar-contexts" });
  const output = h("output", { for: "bar-context", "aria-live": "off" });
  listenToSlider(slider, (position) => {
    if (stops.all[position] !== store.choice.context) store.set({ context: stops.all[position] });
  });
  const options = CONTEXTS.map(() => h("option")),
    ticks = h("datalist", { id: "bar-contexts" }, ...options);
  typeOver(output, slider, { label: "Context", unit: "token", ...CONTEXT }, (context) =>
    store.set({ context: Math.round(context) }),
  );
  const rent = h("input", {
    type: "text",
    id: "bar-rent",
    inputmode: "decimal",
    autocomplete: "off",
    size: 5,
    placeholder: "?",
    "aria-describedby": "bar-rent-dollar bar-rent-unit",
  });
  rent.addEventListener("change", () => {
    const typed = rent.value.trim(),
      value = readRent(typed);
    rent.toggleAttribute("aria-invalid", Boolean(typed) && !value);
    if (typed && !value) {
      complaints = [rentProblem(typed)];
      draw();
      return;
    }
    const published = publishedRent(store.choice.hardware);
    store.setRent(published && dollars(published) === typed ? undefined : value);
  });
  const reset = h("button", {
    type: "button",
    class: "bar-tool bar-reset",
    text: "Reset to the book’s",
    onclick: () => store.reset(),
  });
  /** @type {HTMLButtonElement} */
  const share = h("button", {
    type: "button",
    class: "bar-tool",
    text: "Copy link",
    onclick: async () => {
      const query = store.query().toString(),
        link = `${location.origin}${location.pathname}${query ? "?" + query : ""}`;
      try {
        await navigator.clipboard.writeText(link);
        share.textContent = "Copied";
      } catch {
        history.replaceState(null, "", link);
        share.textContent = "In the address bar";
      }
      announce(`The link: ${share.textContent.toLowerCase()}.`);
      setTimeout(() => {
        share.textContent = "Copy link";
      }, 1800);
    },
  });
  const yours = h("a", {
    class: "bar-tool",
    href: "your-model.html#yours",
    text: "Describe your own",
    title: "Your own model and chip, in the chapter Your model",
  });
  const compare = h("button", {
    type: "button",
    class: "bar-tool",
    text: "Compare",
    title: "Keep this scenario beside the one that you choose next",
    onclick: () => {
      store.pin(store.choice);
      announce("Kept.  Choose another scenario: plots and numbers show both.");
      swap.focus();
    },
  });
  const swap = h("button", {
    type: "button",
    class: "bar-tool",
    text: "Swap",
    onclick: () => store.swap(),
  });
  const stop = h("button", {
    type: "button",
    class: "bar-tool",
    text: "Stop comparing",
    onclick: () => {
      store.pin(null);
      compare.focus();
    },
  });
  const pinned = h("span", { class: "beside" }),
    how = h("span"),
    beside = h("div", { class: "bar-beside" }, how, pinned, swap, stop);
  const summary = h("button", {
    type: "button",
    class: "bar-summary",
    "aria-expanded": "false",
    "aria-controls": "bar-fields",
  });
  const fields = h(
    "div",
    { class: "bar-fields", id: "bar-fields" },
    ...menus,
    h(
      "div",
      { class: "bar-item bar-context" },
      h("label", { for: "bar-context", text: "Context" }),
      slider,
      ticks,
      output,
    ),
    h(
      "div",
      { class: "bar-item bar-rent" },
      h("label", { for: "bar-rent", text: "Rent" }),
      h(
        "span",
        null,
        h("span", { id: "bar-rent-dollar", text: "$" }),
        rent,
        h("span", { id: "bar-rent-unit", text: "per chip and hour" }),
      ),
    ),
  );
  const machine = h("span", { class: "bar-machine" });
  const below = h(
    "div",
    { class: "bar-below" },
    machine,
    h(
      "div",
      { class: "bar-tools", role: "toolbar", "aria-label": "Scenario" },
      compare,
      yours,
      reset,
      share,
    ),
  );
  const notes = h("p", { class: "bar-notes", role: "status" });
  const bar = h(
    "section",
    {
      class: "bar",
      "aria-label":
        "Scenario: the chip, model, precision and context that this page's numbers are for",
    },
    summary,
    h("div", { class: "bar-panel" }, fields, below),
    beside,
    notes,
  );
  /** @param {boolean} open */
  const unfold = (open) => {
    bar.classList.toggle("is-open", open);
    summary.setAttribute("aria-expanded", String(open));
  };
  const isOpen = () => bar.classList.contains("is-open");
  summary.addEventListener("click", () => unfold(!isOpen()));
  // Unfolded it covers half of a phone, so it folds when the reader goes on.
  for (const kind of ["pointerdown", "focusin"])
    addEventListener(kind, ({ target }) => {
      if (isOpen() && target instanceof Node && !bar.contains(target)) unfold(false);
    });
  bar.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !isOpen()) return;
    unfold(false);
    summary.focus();
  });

  let complaints = [...store.problems, ...problems];
  const draw = () => {
    const choice = store.choice;
    for (const [kind, select] of selects) {
      // The reader's own model and chip come, change and go.
      if (
        kind !== "precision" &&
        wordsOf(kind).join() !== [...select.options].map((o) => o.textContent).join()
      )
        select.replaceChildren(...optionsOf(kind));
      if (select.value !== choice[kind]) select.value = choice[kind];
    }
    const [, precisions] = selects[KINDS.indexOf("precision")];
    for (const option of precisions.options) {
      const reason = lacks(choice.hardware, option.value);
      option.disabled = Boolean(reason);
      option.title = reason;
      const text = label("precision", option.value) + (reason ? " (not on this chip)" : "");
      if (option.textContent !== text) option.textContent = text;
    }
    stops.keep(choice.context);
    const position = stops.at(choice.context),
      last = stops.all.length - 1,
      context = formatValue(choice.context, "token", 6);
    for (const [i, value] of CONTEXTS.entries()) put(options[i], "value", stops.at(value));
    put(slider, "max", last);
    if (Number(slider.value) !== position) slider.value = String(position);
    slider.style.setProperty("--fill", `${((100 * position) / last).toFixed(1)}%`);
    put(output, "text", context);
    nameValue(output, context, "Context");
    put(slider, "aria-valuetext", context);
    const paid = store.choice.rent ?? publishedRent(choice.hardware),
      money = paid ? dollars(paid) : "";
    if (!rent.hasAttribute("aria-invalid") && rent.value !== money) rent.value = money;
    const apart = !store.isDefault && !document.body.classList.contains("text-follows");
    put(machine, "text", machineOf() + (apart ? ". Plots follow; the text keeps its example" : ""));
    put(
      summary,
      "text",
      `${label("hardware", choice.hardware)} · ${label("model", choice.model)} · ` +
        `${label("precision", choice.precision)} · ${context}`,
    );
    compare.hidden = Boolean(store.pinned);
    beside.hidden = !store.pinned;
    put(pinned, "text", store.pinned ? nameOf(store.pinned) : "");
    put(how, "text", store.beside ? "Compared with" : "Now choose another scenario to see beside");
    const lines = [...complaints, ...store.notes];
    notes.hidden = !lines.length;
    put(notes, "text", lines.join(" "));
    // A rent that cannot be read can be taken back too.
    reset.disabled =
      store.isDefault && !Object.keys(store.rents).length && !rent.hasAttribute("aria-invalid");
  };
  store.on(() => {
    complaints = store.problems;
    rent.removeAttribute("aria-invalid");
    draw();
  });
  draw();
  before.before(bar);
  return bar;
}
