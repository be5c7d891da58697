// Which chip, model, precision and context the page speaks of; the arithmetic of scenario.py.
// One store a page: the bar writes it, explorers and live numbers follow it.
import rows from "handful-rows";
import { check, decode, encode, OWN, rowOf } from "./custom_scenario.js";
import { compile } from "./tree.js";
import { digitsOf, formatValue } from "./units.js";

/** @type {Kind[]} */
const KINDS = ["hardware", "model", "precision"];
const NOUN = { hardware: "chip", model: "model", precision: "precision" };
const KEY = "handful-scenario",
  OWN_KEY = "handful-yours";
/** @type {OwnKind[]} */
const OWNABLE = ["hardware", "model"];
export const CONTEXT = { min: 128, max: 1e6 };
/** @type {(keyof Choice)[]} */
const PARTS = [...KINDS, "context", "rent"];
const DEAREST = 1000; // dollars an hour for one chip
export { rows };

/**
 * @template {Kind} K
 * @param {K} kind
 * @param {string} name
 */
const find = (kind, name) => rowsOf(kind).find((entry) => entry.name === name);
/**
 * @template {Kind} K
 * @param {K} kind
 * @returns {Rows[K][number][]}
 */
const rowsOf = (kind) => rows[kind];
/**
 * The row of that name, which a choice that readChoice has checked has.
 *
 * @template {Kind} K
 * @param {K} kind
 * @param {string} name
 */
export const row = (kind, name) => /** @type {Rows[K][number]} */ (find(kind, name));
// A row's name in a sentence: a reader's own goes by its label.
/** @param {Row} entry */
const called = (entry) => (entry.own ? entry.label : entry.name);
/**
 * @param {Kind} kind
 * @param {string} name
 */
export const label = (kind, name) => find(kind, name)?.label ?? name;
// The book's own scenario, or that of a chapter with a machine of its own, which its page names: on
// its root, since this may run before the page has a body.
/** @returns {Choice} */
export function defaults() {
  const own = typeof document === "object" ? document.documentElement.dataset.scenario : "";
  if (!own) return { ...rows.default };
  const [hardware, model, precision, context] = own.split(", ");
  return { hardware, model, precision, context: Number(context) };
}

// Why a formula that needs this symbol has no value for a chip and a model.
/**
 * @param {string} symbol
 * @param {Choice} choice
 */
export function whyMissing(symbol, choice) {
  const hardware = called(row("hardware", choice.hardware)),
    model = called(row("model", choice.model)),
    entry = rows.lacking.find(({ symbols }) => symbols.includes(symbol));
  if (!entry) return `Something that this needs is not known of ${model} on ${hardware}.`;
  return entry.text.replace("{hardware}", hardware).replace("{model}", model);
}

// Has this chip arithmetic of that precision?  If not, a sentence says what it has.
/**
 * @param {string} hardware
 * @param {string} precision
 */
export function lacks(hardware, precision) {
  const chip = row("hardware", hardware),
    form = row("precision", precision);
  if (chip.peak_flops[form.arithmetic]) return "";
  return `${chip.label} has no ${form.arithmetic} arithmetic; it has ${Object.keys(
    chip.peak_flops,
  ).join(", ")}.`;
}

/** @param {string} hardware */
export const offers = (hardware) => rows.precision.filter((p) => !lacks(hardware, p.name));

// A layer's latency as scenario.py has it: starting its kernels, and sending what it sends, to
// experts and back or in two sums.
const NODE = 8;
/** @param {SymbolValues} known */
function layerLatency(known) {
  const exchange =
    known.domain_devices > NODE ? known.exchange_latency_of_rack : known.exchange_latency_of_node;
  return (
    known.launch_latency +
    (known.expert_layers
      ? (exchange * known.expert_layers) / known.layers
      : 2 * known.all_reduce_latency)
  );
}

// Symbol name → value.  A price that nobody has published stays absent, and formulas that want it
// say so.
/**
 * @param {Choice} choice
 * @returns {SymbolValues}
 */
export function valuesOf(choice) {
  const chip = row("hardware", choice.hardware),
    model = row("model", choice.model),
    form = row("precision", choice.precision);
  // What a decode step takes for granted (one new token a sequence) stands in the rows too, if they
  // have it.
  /** @type {Record<string, number | null>} */
  const values = {
    new_tokens_per_sequence: 1,
    ...rows.constants,
    ...chip.values,
    peak_flops: chip.peak_flops[form.arithmetic],
    ...model.values,
  };
  values.layer_latency = layerLatency(/** @type {SymbolValues} */ (values));
  values.bytes_per_parameter = form.bytes_per_parameter;
  values.kv_bytes_per_token = model.kv_elements_per_token * form.kv_bytes_per_element;
  values.window_cache_memory = (model.kv_window_elements || 0) * form.kv_bytes_per_element;
  values.context = choice.context;
  if (choice.rent) values.device_price = choice.rent / 3600;
  for (const name of Object.keys(values)) if (typeof values[name] !== "number") delete values[name];
  return /** @type {SymbolValues} */ (values);
}

// Whether the chip, the model or the precision that these overrides name settles a symbol alone.
/**
 * @param {string} name
 * @param {Partial<Choice>} overrides
 */
export function comesWith(name, { hardware, model, precision }) {
  if (hardware && model && precision) return true;
  if (hardware && name in row("hardware", hardware).values) return true;
  if (model && name in row("model", model).values) return true;
  if (name === "peak_flops") return Boolean(hardware && precision);
  if (name === "bytes_per_parameter") return Boolean(precision);
  return name.startsWith("kv_") && Boolean(model && precision);
}

// The same with parts of a choice replaced.  What the reader pays is for the chip of the choice,
// and not for one that a sentence names.
/**
 * @param {Choice} choice
 * @param {Partial<Choice>} [overrides]
 */
function valuesWith(choice, overrides) {
  if (!overrides) return valuesOf(choice);
  const rent = overrides.hardware ? undefined : choice.rent;
  return valuesOf({ ...choice, rent, ...overrides });
}

// A rent as somebody writes it, in dollars an hour for one chip: 3.3, "$3.30", "3,30".  Nothing
// stands for what is not allowed.
/** @param {unknown} text */
export function readRent(text) {
  const value = Number(String(text).replace(/[$\s]/g, "").replace(",", ".") || NaN);
  return value > 0 && value <= DEAREST ? value : undefined;
}
/** @param {unknown} text */
export const rentProblem = (text) =>
  `A rent is a number of dollars above 0 and up to ${DEAREST}, for one chip and hour; ` +
  `“${String(text).slice(0, 40)}” is not.`;
// What a chip's row has for it, in dollars an hour; nothing where nobody has published a price.
/** @param {string} hardware */
export function publishedRent(hardware) {
  const price = row("hardware", hardware).values.device_price;
  return price ? price * 3600 : undefined;
}

// Symbols that chips and models stand for, known or not.
export const supplied = [rows.hardware, rows.model].flatMap(([first]) =>
  Object.keys(first?.values ?? {}),
);

// The names nearest to a mistyped one, by shared pairs of letters.
/**
 * @param {Kind} kind
 * @param {string} name
 */
export function nearest(kind, name) {
  /** @param {string} s */
  const pairs = (s) => {
    const t = s.toLowerCase();
    return new Set([...t].map((_, i) => t.slice(i, i + 2)));
  };
  const want = pairs(name);
  /** @param {string} s */
  const score = (s) => {
    const own = pairs(s);
    let n = 0;
    for (const p of own) n += Number(want.has(p));
    return (2 * n) / (own.size + want.size);
  };
  return rowsOf(kind)
    .filter((r) => !r.own)
    .map((r) => r.name)
    .sort((a, b) => score(b) - score(a))
    .slice(0, 3);
}

// A choice out of untrusted strings: what is wrong is named, and the fallback's value stands.  What
// was wanted is told apart from it, because a chip may lack the precision that the next one has.
/**
 * @param {Given} given
 * @param {Choice} [fallback]
 * @returns {{ choice: Choice, wanted: Choice, problems: string[] }}
 */
export function readChoice(given, fallback = defaults()) {
  const choice = { ...fallback },
    /** @type {string[]} */
    problems = [];
  for (const kind of KINDS) {
    const wanted = given[kind];
    if (wanted === undefined || wanted === null) continue;
    const name = String(wanted);
    if (typeof wanted === "string" && find(kind, wanted)) choice[kind] = wanted;
    else if (wanted === OWN && kind !== "precision")
      problems.push(
        `The address asks for your own ${NOUN[kind]}, and none is described here yet; ` +
          `${label(kind, choice[kind])} is used.`,
      );
    else
      problems.push(
        `There is no ${NOUN[kind]} “${name.slice(0, 60)}” in this book; the nearest ` +
          `are ${nearest(kind, name).join(", ")}. ${label(kind, choice[kind])} is used.`,
      );
  }
  if (given.context !== undefined && given.context !== null) {
    const value = Number(given.context);
    if (String(given.context).trim() !== "" && value >= CONTEXT.min && value <= CONTEXT.max)
      choice.context = value;
    else
      problems.push(
        `The context must be a number from ${CONTEXT.min} to ` +
          `${formatValue(CONTEXT.max, "token")}, and “${String(given.context).slice(0, 60)}” is ` +
          `not; ${formatValue(choice.context, "token", 6)} is used.`,
      );
  }
  const wanted = { ...choice },
    missing = lacks(choice.hardware, choice.precision);
  if (missing) {
    choice.precision = offers(choice.hardware)[0].name;
    problems.push(`${missing} ${label("precision", choice.precision)} is used.`);
  }
  return { choice, wanted, problems };
}

// What an address says of a scenario, under keys that begin so.
/**
 * @param {URLSearchParams} query
 * @param {string} prefix
 */
function valuesIn(query, prefix) {
  /** @type {Given} */
  const given = {};
  for (const key of PARTS) if (query.has(prefix + key)) given[key] = query.get(prefix + key);
  return given;
}

/**
 * @param {Choice} a
 * @param {Choice} b
 */
const same = (a, b) => PARTS.every((key) => a[key] === b[key]);

// What a reader of this scenario should see; the rules and their words are scenario.py's.
/** @param {Choice} choice */
function notesOn(choice) {
  const chip = row("hardware", choice.hardware),
    model = row("model", choice.model),
    /** @type {Map<string, string>} */
    found = new Map();
  /** @type {SymbolValues} */
  const known = { ...valuesOf(choice), max_context: model.max_context ?? Infinity };
  /** @type {Record<string, string | number>} */
  const words = {
    hardware: called(chip),
    model: called(model),
    precision: label("precision", choice.precision),
    devices: known.devices,
  };
  for (const rule of rows.rules) {
    let shown;
    if ("missing" in rule) shown = known[rule.missing] === undefined;
    else if ("verified" in rule) shown = chip.verified === rule.verified;
    else {
      const [left, right] = [rule.left, rule.right].map((side) => compile(side)(known));
      shown = left > right && !(rule.unless && found.has(rule.unless));
      Object.assign(words, {
        left: formatValue(left, rule.unit, digitsOf(left, rule.unit, 3)),
        right: formatValue(right, rule.unit, digitsOf(right, rule.unit, 3)),
      });
    }
    if (shown)
      found.set(
        rule.name,
        rule.text.replace(/\{(\w+)\}/g, (_, name) => String(words[name])),
      );
  }
  return [...found.values()];
}

/**
 * @typedef {() => void} Listener
 * @typedef {object} Source a scenario, as plots and sentences ask for it
 * @property {Choice} choice
 * @property {number} version grows with every change
 * @property {(overrides?: Partial<Choice>) => SymbolValues} values
 */

// A choice in few words: "H200, Llama 3.1 70B, FP8, 4,096 tokens".
/** @param {Choice} choice */
export const nameOf = (choice) =>
  [
    ...KINDS.map((kind) => label(kind, choice[kind])),
    formatValue(choice.context, "token", 6),
    ...(choice.rent ? [`$${choice.rent.toFixed(2)} an hour`] : []),
  ].join(", ");

class Store {
  constructor() {
    this.choice = defaults();
    // with the precision that the reader asked for last, whether or not the chip has it
    this.wanted = defaults();
    /**
     * What the reader pays for chips, by name, in dollars an hour.
     *
     * @type {Record<string, number>}
     */
    this.rents = {};
    /** @type {string[]} */
    this.problems = [];
    /** @type {Set<Listener>} */
    this.listeners = new Set();
    /**
     * The reader's model and chip, as custom_scenario.js defines them.
     *
     * @type {Partial<Record<OwnKind, Definition>>}
     */
    this.own = {};
    /**
     * What an address put aside.
     *
     * @type {Partial<Record<OwnKind, Definition>>}
     */
    this.earlier = {};
    /** @type {Storage | null} */
    this.storage = null;
    // grows at every change: the same choice may stand for another model of the reader's
    this.version = 0;
    /**
     * The choice that the page's is compared with.
     *
     * @type {Choice | null}
     */
    this.pinned = null;
  }

  // The scenario that stands beside the page's, while it differs from it.
  /** @returns {Source | null} */
  get beside() {
    const { pinned, version } = this;
    if (!pinned || same(pinned, this.choice)) return null;
    return { choice: pinned, version, values: (overrides) => valuesWith(pinned, overrides) };
  }

  // Compare what the bar will have with what it has now; nothing ends the comparison.
  /** @param {Choice | null} choice */
  pin(choice) {
    this.pinned = choice && { ...choice };
    this.set({});
  }

  // The pinned scenario becomes the page's, and the page's the pinned.
  swap() {
    const { pinned, choice } = this;
    if (!pinned) return;
    this.pinned = choice;
    if (pinned.rent) this.rents[pinned.hardware] = pinned.rent;
    else delete this.rents[pinned.hardware];
    this.set(pinned);
  }

  // From the address if it names a scenario, else from the reader's last visit.
  /**
   * @param {string} search
   * @param {Storage | null} storage
   */
  load(search, storage) {
    this.storage = storage;
    const strange = this.loadOwn(search);
    const query = new URLSearchParams(search),
      given = valuesIn(query, ""),
      beside = valuesIn(query, "beside."),
      named = Object.keys({ ...given, ...beside }).some((key) => key !== "rent");
    /** @type {Given & { rents?: Given, pinned?: Given }} */
    let saved = {};
    try {
      saved = JSON.parse(storage?.getItem(KEY) || "{}") || {};
    } catch {
      /* damaged or forbidden: start afresh */
    }
    this.take(readChoice(given, named ? defaults() : readChoice(saved).wanted));
    for (const [name, value] of Object.entries(saved.rents ?? {})) {
      const rent = readRent(value);
      if (rent && find("hardware", name)) this.rents[name] = rent;
    }
    const rent = readRent(given.rent);
    if (rent) this.rents[this.choice.hardware] = rent;
    else if (given.rent !== undefined) this.problems.push(rentProblem(given.rent));
    this.take(this);
    const pinned = named ? beside : (saved.pinned ?? {});
    if (Object.keys(pinned).length) {
      const { choice, problems } = readChoice(pinned, defaults());
      this.pinned = { ...choice, rent: readRent(pinned.rent) };
      this.problems.push(...problems);
    }
    this.problems.unshift(...strange);
  }

  // A choice that readChoice has checked, with what the reader pays for its chip.
  /** @param {{ choice: Choice, wanted: Choice, problems: string[] }} read */
  take({ choice, wanted, problems }) {
    this.choice = { ...choice, rent: this.rents[choice.hardware] };
    this.wanted = wanted;
    this.problems = problems;
  }

  // What the reader pays for the chip of the page's choice; nothing stands for what is published.
  /** @param {number | undefined} rent */
  setRent(rent) {
    if (rent) this.rents[this.choice.hardware] = rent;
    else delete this.rents[this.choice.hardware];
    this.set({});
  }

  // The book's own scenario.
  reset() {
    this.rents = {};
    this.set(defaults());
  }

  // The reader's own rows: kept ones, then those of the address, which put a different kept one
  // aside.
  /** @param {string} search */
  loadOwn(search) {
    const query = new URLSearchParams(search),
      /** @type {string[]} */
      problems = [];
    /** @type {Partial<Record<OwnKind, Given>> & { earlier?: Partial<Record<OwnKind, Given>> }} */
    let kept = {};
    try {
      kept = JSON.parse(this.storage?.getItem(OWN_KEY) || "{}") || {};
    } catch {
      /* damaged or forbidden */
    }
    /**
     * @param {OwnKind} kind
     * @param {Given | undefined} given
     * @returns {Definition | undefined}
     */
    const good = (kind, given) =>
      given && typeof given === "object" ? check(kind, given).definition : undefined;
    for (const kind of OWNABLE) {
      const mine = good(kind, kept[kind]),
        before = good(kind, kept.earlier?.[kind]),
        text = query.get(`yours.${kind}`);
      if (before) this.earlier[kind] = before;
      if (mine) this.own[kind] = mine;
      if (text === null) continue;
      const { definition, problems: wrong } = decode(kind, text);
      if (!definition) {
        problems.push(
          `The address describes a ${NOUN[kind]} that cannot be used. ${wrong[0].text}`,
        );
        continue;
      }
      if (mine && encode(kind, mine) !== encode(kind, definition)) this.earlier[kind] = mine;
      this.own[kind] = definition;
    }
    this.offerOwn();
    if (OWNABLE.some((kind) => query.has(`yours.${kind}`) && this.own[kind])) this.keepOwn();
    return problems;
  }

  // Own rows stand last in the menus.
  offerOwn() {
    for (const kind of OWNABLE) {
      const list = rowsOf(kind),
        at = list.findIndex((entry) => entry.own),
        own = this.own[kind];
      if (at >= 0) list.splice(at, 1);
      if (own) list.push(rowOf(kind, own));
    }
  }

  /**
   * @param {string} key
   * @param {unknown} value
   */
  keep(key, value) {
    try {
      this.storage?.setItem(key, JSON.stringify(value));
    } catch {
      /* private mode: not remembered */
    }
  }
  keepOwn() {
    this.keep(OWN_KEY, { ...this.own, earlier: this.earlier });
  }

  // The reader's own model or chip, from a checked definition, becomes the page's choice; none
  // forgets it.
  /**
   * @param {OwnKind} kind
   * @param {Definition | null | undefined} definition
   */
  define(kind, definition) {
    if (definition) this.own[kind] = definition;
    else delete this.own[kind];
    delete this.earlier[kind];
    /** @type {Partial<Choice>} */
    const patch = {};
    if (definition) patch[kind] = OWN;
    else {
      if (this.choice[kind] === OWN) patch[kind] = rows.default[kind];
      if (this.pinned?.[kind] === OWN) this.pinned = null;
    }
    this.offerOwn();
    this.keepOwn();
    this.set(patch);
  }

  get isDefault() {
    const own = defaults();
    return Object.entries(this.choice).every(
      ([key, value]) => own[/** @type {keyof Choice} */ (key)] === value,
    );
  }
  get notes() {
    const theirs = this.beside ? notesOn(this.beside.choice) : [];
    return [...notesOn(this.choice), ...theirs.map((text) => `Beside it: ${text}`)];
  }
  /** @param {Partial<Choice>} [overrides] */
  values(overrides) {
    return valuesWith(this.choice, overrides);
  }

  /** @param {Partial<Choice>} patch */
  set(patch) {
    this.take(readChoice(patch, this.wanted));
    this.version += 1;
    // The book's own scenario is each page's, so it is not carried to the others.
    const chosen = same({ ...this.wanted, rent: undefined }, defaults()) ? {} : this.wanted;
    this.keep(KEY, { ...chosen, rents: this.rents, pinned: this.pinned ?? undefined });
    for (const listener of this.listeners) listener();
  }

  /**
   * @param {Listener} listener
   * @returns {() => boolean}
   */
  on(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  // Query parameters that give this scenario again.
  query() {
    const query = new URLSearchParams();
    if (!this.isDefault)
      for (const key of /** @type {const} */ ([...KINDS, "context"]))
        query.set(key, String(this.choice[key]));
    if (this.choice.rent) query.set("rent", String(this.choice.rent));
    for (const key of PARTS)
      if (this.pinned?.[key]) query.set(`beside.${key}`, String(this.pinned[key]));
    for (const kind of OWNABLE) {
      const own = this.own[kind];
      const used = this.choice[kind] === OWN || this.pinned?.[kind] === OWN;
      if (used && own) query.set(`yours.${kind}`, encode(kind, own));
    }
    return query;
  }
}

export const store = new Store();
