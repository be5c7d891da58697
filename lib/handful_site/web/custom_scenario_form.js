// The form for a reader's own model and chip.  What is typed is checked as it is typed; whatever
// adds up becomes the page's scenario, and with it the book's.
import { LONGEST as LONGEST_CHIP, readChip } from "./chip_file.js";
import { LONGEST as LONGEST_CONFIG, readConfig } from "./model_config.js";
import { h } from "../../handful_explorers/web/dom.js";
import {
  check,
  FIELDS,
  fieldsOf,
  OWN,
  rowOf,
  titleOf,
} from "../../handful_explorers/web/custom_scenario.js";
import {
  fits,
  key,
  read as readQuantity,
  WrittenError,
} from "../../handful_explorers/web/parse_quantity.js";
import { breakdown, shape } from "../../handful_explorers/web/shapes.js";
import { compile } from "../../handful_explorers/web/tree.js";
import { formatValue, grouped as plain } from "../../handful_explorers/web/units.js";

// What this page has of the scenario, so that there is one: this module comes later, by itself.
/** @typedef {typeof import("../../handful_explorers/web/scenario.js")} Scenario */
/** @type {Scenario["label"]} */
let label;
/** @type {Scenario["rows"]} */
let rows;
/** @type {Scenario["store"]} */
let store;

const GROUPS = {
  model: [
    ["size", "Size"],
    ["attention", "Attention"],
    ["feed", "Feed-forward"],
    ["fine", "Finer parts"],
  ],
  hardware: [
    ["peak", "Arithmetic"],
    ["memory", "Memory"],
    ["network", "Network"],
    ["price", "Price"],
  ],
};
/** @type {Record<OwnKind, string>} */
const NOUN = { model: "model", hardware: "chip" };
// What may be pasted instead of filling in the form.
/**
 * @type {Record<OwnKind, { read: (text: string) => {
 *   given?: Given & { name?: string }, notes?: string[], problem?: string
 * }, longest: number, id: string, called: string, what: string, like: string }>}
 */
const FILES = {
  model: {
    read: readConfig,
    longest: LONGEST_CONFIG,
    id: "yours-config",
    called: "config.json",
    what: "The model's configuration, in the form that Hugging Face uses",
    like: '{ "hidden_size": 8192, "num_hidden_layers": 80, … }',
  },
  hardware: {
    read: readChip,
    longest: LONGEST_CHIP,
    id: "yours-chip",
    called: "chip's file",
    what: "What “handful measure --output” wrote: the fields below, in SI units",
    like: '{ "bf16": 7e14, "memory_bandwidth": 3e12, "memory_capacity": 8e10, … }',
  },
};
/** @param {number} share */
const percent = (share) => formatValue(share, "%", 2);

// “70,553,706,496”, “671e9”, “70.6B”, “24 GB”, “$3 an hour” → a number; anything else stays text,
// and check says why it will not do.
/** @type {Record<string, number>} */
const SUFFIX = { k: 1e3, m: 1e6, b: 1e9, bn: 1e9, t: 1e12 };
/** @param {string} text */
const asWritten = (text) => {
  // One comma that cannot part thousands is a decimal one: “3,30”.
  const decimal = /^[-−]?\d+,(?!\d{3}$)\d+$/.test(text) ? text.replace(",", ".") : text;
  return decimal.replace("−", "-").replace(/[,_\s']/g, "");
};

/**
 * @param {string} text
 * @param {{ unit?: string, scale?: number }} [field]
 */
export function readNumber(text, { unit, scale = 1 } = {}) {
  const typed = text.trim(),
    found = /^([-−]?[\d.,_\s']*\d\.?(?:e[+-]?\d+)?)\s*(k|m|bn?|t)?$/i.exec(typed);
  let value;
  if (found && !(found[2] && scale !== 1))
    value = Number(asWritten(found[1])) * (SUFFIX[found[2]?.toLowerCase() ?? ""] || 1) * scale;
  else value = unit && withUnit(typed, unit, scale);
  return Number.isFinite(value) ? Number(Number(value).toPrecision(15)) : typed;
}

// A value with its unit, in SI; a network's bits are bytes, FLOPs of a chip are so many a second,
// and dollars are dollars an hour.
/**
 * @param {string} typed
 * @param {string} unit
 * @param {number} scale
 */
function withUnit(typed, unit, scale) {
  const wanted = readQuantity(`1 ${unit}`)[1] ?? {};
  try {
    const [value, dimension] = readQuantity(typed.replace(/\ban?\b/, "per").replace(/ and /, "-"));
    if (!dimension || fits(dimension, wanted)) return value;
    const { bit = 0, ...rest } = dimension,
      bytes = { ...rest, byte: bit };
    if (bit && fits(bytes, wanted)) return value / 8 ** bit;
    if (key(dimension) === "flop 1" && wanted.flop) return value;
    return key(dimension) === "dollar 1" && wanted.dollar ? value * scale : undefined;
  } catch (error) {
    if (error instanceof WrittenError) return undefined;
    throw error;
  }
}

/**
 * @typedef {import("../../handful_explorers/web/custom_scenario.js").Field} Field
 * @typedef {object} ModelParts what the form has for a model only
 * @property {HTMLSelectElement} attention
 * @property {HTMLSelectElement} feed
 * @property {HTMLElement} grouped
 * @property {HTMLElement} latent
 * @property {HTMLElement} experts
 * @property {HTMLInputElement} stated
 * @typedef {{ label: string, unit: string, tree: Tree }} Rate what follows from a chip alone
 */

// A field with its label and the place for what is wrong with it.
/**
 * @param {OwnKind} kind
 * @param {Field} f
 * @param {() => void} changed
 */
function makeField(kind, f, changed) {
  const id = `yours-${kind}-${f.name}`,
    fault = h("span", { class: "yours-fault", id: `${id}-fault`, hidden: true });
  const box = f.type === "bool",
    keyboard = f.type === "int" ? "numeric" : "decimal";
  const input =
    f.type === "choice"
      ? h(
          "select",
          { id, name: f.name },
          ...(f.options ?? []).map(([value, text]) => h("option", { value, text })),
        )
      : h("input", {
          id,
          name: f.name,
          type: box ? "checkbox" : "text",
          inputmode: box ? null : keyboard,
          autocomplete: "off",
          spellcheck: box ? null : "false",
          placeholder: f.blank,
        });
  input.addEventListener(box || f.type === "choice" ? "change" : "input", changed);
  const words = h("label", { for: id, text: f.label });
  return {
    f,
    input,
    node: h(
      "div",
      { class: `yours-field${box ? " yours-check" : ""}` },
      ...(box ? [input, words] : [words, input]),
      fault,
    ),
    read() {
      if (input instanceof HTMLInputElement && box) return input.checked;
      if (f.type === "choice") return input.value;
      return input.value.trim() === "" ? null : readNumber(input.value, f);
    },
    /** @param {unknown} value */
    write(value) {
      if (input instanceof HTMLInputElement && box) input.checked = Boolean(value);
      else if (f.type === "choice") input.value = String(value ?? f.default);
      else
        input.value =
          value === null || value === undefined || (value === 0 && f.default === 0)
            ? ""
            : String(Number((Number(value) / (f.scale || 1)).toPrecision(12)));
    },
    /** @param {string | undefined} text */
    blame(text) {
      fault.hidden = !text;
      fault.textContent = text || "";
      if (text) {
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-describedby", fault.id);
      } else {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-describedby");
      }
    },
  };
}

/**
 * @param {string} name
 * @param {string} number
 * @param {string} words
 * @param {boolean} [marked]
 */
const line = (name, number, words, marked) =>
  h(
    "div",
    { class: `yours-count${marked ? " yours-wrong" : ""}`, "data-count": name },
    h("dt", { text: name }),
    h("dd", null, h("strong", { text: number }), words ? ` ${words}` : ""),
  );

class Part {
  /**
   * @param {OwnKind} kind
   * @param {Record<string, Given>} starts
   * @param {Rate[]} shown
   */
  constructor(kind, starts, shown) {
    this.kind = kind;
    this.starts = starts;
    this.shown = shown.map((one) => ({ ...one, at: compile(one.tree) }));
    this.touched = false;
    this.later = 0;
    /** @type {Definition | undefined} */
    this.definition = undefined;
    /** @type {Fault[]} */
    this.problems = [];
    /** @type {ModelParts | null} */
    this.parts = null;
    const changed = () => this.changed();
    this.fields = FIELDS[kind].map((f) => makeField(kind, f, changed));
    const of = (/** @type {string} */ group) =>
      this.fields.filter((field) => field.f.group === group).map((field) => field.node);
    this.name = h("input", {
      id: `yours-${kind}-name`,
      type: "text",
      maxlength: 40,
      autocomplete: "off",
      placeholder: "blank will do",
    });
    this.name.addEventListener("input", changed);
    this.start = h(
      "select",
      { id: `yours-${kind}-start` },
      h("option", { value: "", text: "choose…" }),
      ...Object.keys(starts).map((name) => h("option", { value: name, text: name })),
    );
    this.start.addEventListener("change", () => {
      if (this.start.value) {
        this.name.value = "";
        this.fill(starts[this.start.value]);
        this.changed(true);
        this.start.value = "";
      }
    });
    this.status = h("p", { class: "yours-status", role: "status" });
    this.forget = h("button", {
      type: "button",
      class: "yours-button",
      text: `Forget my ${NOUN[kind]}`,
      onclick: () => this.drop(),
    });
    this.use = h("button", {
      type: "button",
      class: "yours-button",
      text: `Use my ${NOUN[kind]}`,
      onclick: () => store.set({ [kind]: OWN }),
    });
    this.back = h("button", {
      type: "button",
      class: "yours-button",
      onclick: () => this.restore(),
    });
    this.counts = h("div", { class: "yours-counts" });
    const set = (/** @type {string} */ title, /** @type {Node[]} */ ...nodes) =>
      h(
        "fieldset",
        null,
        h("legend", { text: title }),
        h("div", { class: "yours-grid" }, ...nodes),
      );
    /** @type {(id: string, text: string, node: Node) => Node} */
    const pair = (id, text, node) =>
      h("div", { class: "yours-field" }, h("label", { for: id, text }), node);
    /** @type {Node[]} */
    const sets = [];
    if (kind === "model") {
      const attention = this.switch("attention", "Kind", [
        ["grouped", "grouped-query, or multi-head"],
        ["latent", "latent, as in DeepSeek-V3"],
      ]);
      const feed = this.switch("feed", "Kind", [
        ["dense", "one block a layer"],
        ["experts", "a mixture of experts"],
      ]);
      const grouped = h("div", { class: "yours-grid" }, ...of("grouped"));
      const latent = h("div", { class: "yours-grid" }, ...of("latent"));
      const experts = h("div", { class: "yours-grid" }, ...of("experts"));
      const stated = h("input", {
        id: "yours-stated",
        type: "text",
        inputmode: "decimal",
        autocomplete: "off",
        placeholder: "70.6B, say",
      });
      stated.addEventListener("input", () => this.draw());
      const [layers, ...windows] = of("attention");
      sets.push(
        set("Size", ...of("size"), pair("yours-stated", "Stated total, to compare", stated)),
      );
      const attentionSet = set("Attention", attention.node, layers);
      attentionSet.append(grouped, latent, h("div", { class: "yours-grid" }, ...windows));
      const feedSet = set("Feed-forward", feed.node, ...of("feed"));
      feedSet.append(experts);
      sets.push(
        attentionSet,
        feedSet,
        h(
          "details",
          { class: "yours-fine" },
          h("summary", { text: "Finer parts: biases, norms, positions" }),
          h("div", { class: "yours-grid" }, ...of("fine")),
        ),
      );
      this.parts = {
        attention: attention.select,
        feed: feed.select,
        grouped,
        latent,
        experts,
        stated,
      };
    } else for (const [group, title] of GROUPS.hardware) sets.push(set(title, ...of(group)));
    const id = `yours-${kind}-title`;
    this.node = h(
      "section",
      { class: `yours-part yours-${kind}`, "aria-labelledby": id },
      h("p", { class: "yours-title", id, text: `Your ${NOUN[kind]}` }),
      h(
        "div",
        { class: "yours-grid yours-top" },
        pair(this.start.id, `Start from one of the book's ${NOUN[kind]}s`, this.start),
        pair(this.name.id, "Its name", this.name),
      ),
      this.paste(FILES[kind]),
      ...sets,
      this.status,
      this.counts,
      h("div", { class: "yours-buttons" }, this.use, this.forget, this.back),
    );
    const own = store.own[kind];
    this.fill(own || starts[store.choice[kind]] || Object.values(starts)[0]);
    this.name.value = own?.name || "";
    this.reset();
    store.on(() => this.draw());
  }

  /**
   * @param {string} name
   * @param {string} text
   * @param {[string, string][]} options
   */
  switch(name, text, options) {
    const id = `yours-kind-${name}`,
      select = h(
        "select",
        { id },
        ...options.map(([value, words]) => h("option", { value, text: words })),
      );
    select.addEventListener("change", () => this.changed());
    return {
      select,
      node: h("div", { class: "yours-field yours-wide" }, h("label", { for: id, text }), select),
    };
  }

  // A file, pasted, dropped or chosen.
  /** @param {(typeof FILES)[OwnKind]} file */
  paste({ read: understand, longest, id, called, what, like }) {
    const area = h("textarea", {
      id,
      rows: 5,
      spellcheck: "false",
      placeholder: like,
    });
    const said = h("div", { class: "yours-said", role: "status" });
    const say = (/** @type {string} */ problem) =>
      said.replaceChildren(h("p", { class: "yours-wrong", text: problem }));
    let latest = 0; // what comes later counts, although a file takes a while
    const read = (from = "") => {
      latest += 1;
      if (!area.value.trim()) {
        if (from) say(`${from} is empty.`);
        else said.replaceChildren();
        return;
      }
      const { given, notes = [], problem } = understand(area.value);
      if (problem) say(from ? `${from}: ${problem}` : problem);
      else said.replaceChildren(h("ul", null, ...notes.map((text) => h("li", { text }))));
      if (!given) return;
      this.name.value = given.name || "";
      this.fill(given);
      this.changed(true);
    };
    /** @param {File | undefined} file */
    const open = async (file) => {
      if (!file) return;
      const turn = (latest += 1);
      try {
        // a character takes four bytes at most; who reads it counts what is left
        const text = file.size > 4 * longest ? null : await file.text();
        if (turn !== latest) return;
        if (text === null) say(`${file.name} is too large for a ${called}.`);
        else {
          area.value = text;
          read(file.name);
        }
      } catch {
        if (turn === latest) say(`${file.name} cannot be read as a file.`);
      }
    };
    area.addEventListener("input", () => read());
    const chosen = h("input", {
      id: `${id}-file`,
      type: "file",
      accept: ".json,application/json",
    });
    chosen.addEventListener("change", () => open(chosen.files?.[0]));
    // so that the same file, once mended, can be chosen again
    chosen.addEventListener("click", () => (chosen.value = ""));
    const node = h(
      "details",
      { class: "yours-paste" },
      h("summary", { text: `Paste or drop a ${called} instead` }),
      h("label", {
        for: area.id,
        text: what,
      }),
      area,
      h("label", { for: chosen.id, text: "or a file, which may also be dropped here" }),
      chosen,
      said,
    );
    const over = (/** @type {boolean} */ yes) => node.classList.toggle("yours-over", yes);
    const carriesFile = (/** @type {DragEvent} */ event) =>
      event.dataTransfer?.types.includes("Files") ?? false;
    node.addEventListener("dragover", (event) => {
      if (!carriesFile(event)) return;
      event.preventDefault();
      over(true);
    });
    node.addEventListener("dragleave", (event) => {
      if (!(event.relatedTarget instanceof Node && node.contains(event.relatedTarget))) over(false);
    });
    node.addEventListener("drop", (event) => {
      over(false);
      if (!carriesFile(event)) return;
      event.preventDefault();
      node.open = true;
      chosen.value = "";
      open(event.dataTransfer?.files[0]);
    });
    return node;
  }

  /** @param {Given} values */
  fill(values) {
    for (const field of this.fields)
      field.write(field.f.name in values ? values[field.f.name] : field.f.default);
    if (this.parts) {
      this.parts.attention.value = values.kv_lora_rank ? "latent" : "grouped";
      this.parts.feed.value = values.routed_experts ? "experts" : "dense";
    }
  }

  raw() {
    /** @type {Given} */
    const given = Object.fromEntries(this.fields.map((field) => [field.f.name, field.read()]));
    given.name = this.name.value;
    if (this.parts) {
      const attention = this.parts.attention.value,
        feed = this.parts.feed.value;
      if (attention === "grouped") given.kv_lora_rank = null;
      else given.kv_lora_rank ??= "";
      if (feed === "dense") given.routed_experts = null;
      if (attention === "latent" && !given.kv_lora_rank) given.kv_lora_rank = NaN;
      if (feed === "experts" && !given.routed_experts) given.routed_experts = NaN;
    }
    return given;
  }

  reset() {
    clearTimeout(this.later);
    this.touched = false;
    this.look();
  }

  // Check what stands in the fields, and say what is wrong beside each.
  look() {
    const noughts = this.fields
      .filter(({ f, read }) => f.nought && read() === 0)
      .map(({ f }) => ({ field: f.name, text: `${f.label}: ${f.nought}.` }));
    const found = check(this.kind, this.raw()),
      problems = [...noughts, ...found.problems],
      definition = problems.length ? undefined : found.definition,
      faults = new Map(problems.map(({ field, text }) => [field, text]));
    Object.assign(this, { definition, problems });
    for (const field of this.fields) field.blame(faults.get(field.f.name));
    if (this.parts) {
      const latent = this.parts.attention.value === "latent";
      this.parts.grouped.hidden = latent;
      this.parts.latent.hidden = !latent;
      this.parts.experts.hidden = this.parts.feed.value !== "experts";
    }
    this.draw();
  }

  /** @param {boolean} [now] */
  changed(now) {
    this.touched = true;
    this.look();
    clearTimeout(this.later);
    if (this.definition)
      this.later = window.setTimeout(
        () => store.define(this.kind, this.definition),
        now === true ? 0 : 250,
      );
  }

  drop() {
    clearTimeout(this.later);
    store.define(this.kind, null);
    this.name.value = "";
    this.fill(this.starts[store.choice[this.kind]]);
    this.reset();
  }

  restore() {
    const earlier = store.earlier[this.kind];
    if (!earlier) return;
    this.fill(earlier);
    this.name.value = earlier.name || "";
    this.changed(true);
  }

  draw() {
    const { kind, definition, problems } = this,
      own = store.own[kind],
      noun = NOUN[kind],
      chosen = store.choice[kind] === OWN,
      earlier = store.earlier[kind];
    this.forget.hidden = !own;
    this.use.hidden = !own || chosen;
    this.back.hidden = !earlier;
    if (earlier)
      this.back.textContent =
        `Bring back ${earlier.name || `the ${noun}`} that the address put ` + "aside";
    this.status.textContent = this.says();
    this.status.classList.toggle("yours-wrong", problems.length > 0);
    this.counts.hidden = !definition;
    if (definition)
      this.counts.replaceChildren(
        ...(kind === "model" ? this.countRows(definition) : [this.rates(definition)]),
      );
  }

  // Where the reader's own row stands: what is wrong with it, or who goes by it.
  says() {
    const { kind, problems } = this,
      own = store.own[kind],
      noun = NOUN[kind],
      here = label(kind, store.choice[kind]);
    if (problems.length) {
      const many = problems.length === 1 ? "One field does" : `${problems.length} fields do`,
        until = own ? ` Until then the book keeps the ${noun} as it was.` : "";
      return `${many} not add up yet. ${problems[0].text}${until}`;
    }
    if (!own) return `The fields show ${here}. Change one, and the book follows.`;
    if (store.choice[kind] !== OWN) return `The bar has ${here}; your ${noun} waits in its menu.`;
    return (
      `The whole book now follows your ${noun}; it stands in the bar at the top as ` +
      `“${titleOf(kind, own)}”.`
    );
  }

  // What follows from the chip alone, in the bar's precision or the first that it has.
  /** @param {Definition} definition */
  rates(definition) {
    const row = rowOf("hardware", definition),
      forms = rows.precision.filter((p) => row.peak_flops[p.arithmetic]);
    const form = forms.find((p) => p.name === store.choice.precision) || forms[0];
    const known = {
      ...rows.constants,
      ...row.values,
      peak_flops: row.peak_flops[form.arithmetic],
      bytes_per_parameter: form.bytes_per_parameter,
    };
    return h(
      "dl",
      null,
      ...this.shown.map(({ label: words, unit, at }) => {
        let text = "–";
        try {
          text = formatValue(at(/** @type {SymbolValues} */ (known)), unit);
        } catch {
          /* a value is missing: nothing to show */
        }
        return line(`${words}${unit === "token" ? ` in ${form.label}` : ""}`, text, "");
      }),
    );
  }

  /** @param {Definition} definition */
  countRows(definition) {
    const s = shape(definition),
      parts = breakdown(s),
      form = rows.precision.find((p) => p.name === store.choice.precision) ?? rows.precision[0];
    const {
      values,
      kv_elements_per_token: perToken,
      kv_window_elements: window,
    } = rowOf("model", definition);
    const { total_parameters: total, active_parameters: active } = /** @type {SymbolValues} */ (
        values
      ),
      bytes = (/** @type {number} */ n) => formatValue(n * form.kv_bytes_per_element, "B");
    const list = [
      line("Parameters, in total", plain(total), `(${formatValue(total, "1")})`),
      line(
        "Parameters that a token uses",
        plain(active),
        active < total ? `(${percent(active / total)} of them)` : "(all: the model is dense)",
      ),
      line(`Weights in ${form.label}`, formatValue(total * form.bytes_per_parameter, "B"), ""),
      line(
        "Cache that a token adds",
        bytes(perToken),
        `(${plain(perToken)} numbers over all ` +
          `layers${perToken ? "" : ": every layer is windowed"})`,
      ),
    ];
    if (window)
      list.push(
        line("Cache of the windows, at most", bytes(window), "for a sequence, whatever its length"),
      );
    const text = this.parts?.stated.value.trim() ?? "",
      stated = text ? readNumber(text, { unit: "parameter" }) : null;
    if (text) list.push(this.compare(text, stated, total));
    const share = h(
      "table",
      { class: "yours-parts" },
      h("caption", { text: "Where the parameters are" }),
      h(
        "tbody",
        null,
        ...Object.entries(parts)
          .filter(([, n]) => n)
          .map(([name, n]) => {
            const bar = h("span", { class: "yours-bar" });
            bar.style.setProperty("--share", `${((100 * n) / total).toFixed(2)}%`);
            return h(
              "tr",
              null,
              h("th", { scope: "row", text: name }),
              h("td", { text: plain(n) }),
              h("td", { text: percent(n / total) }),
              h("td", { "aria-hidden": "true" }, bar),
            );
          }),
      ),
    );
    // A model of the book's, where its makers count otherwise.
    const { counts } =
      rows.model.find(({ own, values: its }) => {
        return !own && its.total_parameters === total && its.active_parameters === active;
      }) ?? {};
    return [
      h("dl", null, ...list),
      counts ? h("p", { class: "yours-note", text: counts }) : "",
      h("details", null, h("summary", { text: "Part by part" }), share),
    ];
  }

  // A stated total, held against the shape's.
  /**
   * @param {string} text as it was written
   * @param {number | string | null} stated
   * @param {number} total
   */
  compare(text, stated, total) {
    const name = "Against the stated total";
    if (typeof stated !== "number" || !(stated > 0))
      return line(
        name,
        "–",
        `“${text.slice(0, 30)}” is no number of parameters; 70.6B or ` + "70553706496 would be.",
        true,
      );
    if (stated === total) return line(name, "equal", "to the last digit");
    const off = (total - stated) / stated,
      near = Math.abs(off) < 0.01;
    return line(
      name,
      `${off > 0 ? "+" : "−"}${percent(Math.abs(off))}`,
      near
        ? "apart: rounding, or a part that the shape does not list"
        : `apart: the shape gives ${formatValue(total, "1")}, stated are ` +
            `${formatValue(stated, "1")}. A field differs from the model, or the model has parts ` +
            "that a shape does not list.",
      !near,
    );
  }
}

/**
 * @param {Pick<Scenario, "label" | "rows" | "store">} scenario
 * @param {Document} [root]
 */
export function mountYours(scenario, root = document) {
  ({ label, rows, store } = scenario);
  /** @type {HTMLElement | null} */
  const place = root.querySelector("#yours"),
    block = root.querySelector("#yours-data");
  if (!place || !block || place.dataset.mounted) return;
  place.dataset.mounted = "yes";
  const data = JSON.parse(block.textContent ?? ""),
    chips = Object.fromEntries(
      rows.hardware.filter((row) => !row.own).map((row) => [row.name, fieldsOf(row)]),
    );
  const parts = [new Part("model", data.shapes, []), new Part("hardware", chips, data.chip)];
  const form = h(
    "form",
    { "aria-label": "Your own model and chip", onsubmit: (event) => event.preventDefault() },
    ...parts.map((part) => part.node),
  );
  place.querySelector(".yours-still")?.remove();
  place.append(form);
  return parts;
}
