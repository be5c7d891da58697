// An explorer on the page, mount(host, spec), and in a notebook, default.render({ model, el }) for
// anywidget.
import "./explorer.css";
import { covers } from "./bands.js";
import { agree, besideMarks, besideName, faint } from "./beside.js";
import { Model, between, extent, limitsNear, shownPoints } from "./compute.js";
import { makeControl } from "./controls.js";
import { dataTable } from "./data_table.js";
import * as dom from "./dom.js";
import { announce, h, put, calm } from "./dom.js";
import { capital, inFull, lower, named as writeNamed, plain, told, written } from "./describe.js";
import { guesses, guessOf, keep } from "./guesses.js";
import { Plot } from "./plot.js";
import { comesWith, defaults, label, store, valuesOf } from "./scenario.js";
import { entries, readState, writeState } from "./state.js";
import { Scene } from "./scenes/scene.js";
import { Steady } from "./steady.js";
import { Stops } from "./stops.js";
import { compile, symbols } from "./tree.js";
import { beginsNumber, openField } from "./typing.js";
import { digitsOf, formatValue, wholeCount } from "./units.js";

/** @type {Kind[]} */
const CHOICES = ["hardware", "model", "precision"];
const GLIDE = 420; // milliseconds from one preset to the next

/**
 * @typedef {object} Options
 * @property {string} search the address's query, which may set something
 * @property {boolean} linked whether it follows the page's scenario
 * @property {boolean} ask whether it may ask for a guess
 * @property {((patch: State, done: boolean) => void) | undefined} onChange
 * @property {string[]} driven names of controls that something else draws
 * @typedef {{ node: HTMLElement, number: Element, unit: Element, also: Element, extra: Element }} ValueRow
 * @typedef {object} Value
 * @property {string} key
 * @property {string} label
 * @property {string} text
 * @property {string} [note]
 * @property {string} [swatch]
 * @property {boolean} [ring]
 * @property {string} [also] what the pinned scenario has there
 * @typedef {{ domain: Pair, target: Pair, settled: boolean }} HeldAxis
 */

/** @typedef {{ spec: PlotSpec, model: Model, plot: Plot, stops: Stops }} Chart */

// What guess.js shares with the page's script.
const TOOLS = {
  Intent: dom.Intent,
  Model,
  announce,
  beginsNumber,
  defaults,
  formatValue,
  guesses,
  guessOf,
  h,
  keep,
  label,
  lower,
  openField,
  plain,
  put,
  s: dom.s,
  show: dom.show,
  store,
  valuesOf,
};
/** @typedef {typeof TOOLS} Tools */

const UNDRAWN = new Float64Array(0);
let serial = 0;

/**
 * @param {HTMLElement} host
 * @param {Spec} spec
 * @param {Partial<Options>} [options]
 */
export function mount(
  host,
  spec,
  { search = "", linked = true, ask = true, onChange, driven = [] } = {},
) {
  return new Explorer(host, spec, { search, linked, ask, onChange, driven });
}

/** @param {Spec} spec */
function modelOf(spec) {
  return spec.x ? new Model(spec) : new Scene(spec);
}

// Whether the reader is asked for a guess, and whether there is one.  The question is about the
// machine from which the page starts, so it is not asked beside another.
/**
 * @param {Spec} spec
 * @param {boolean} linked
 * @param {boolean} ask
 */
function recall({ guess, name }, linked, ask) {
  if (!guess || !linked) return { asking: false, kept: false };
  const { never, of } = guesses();
  return { asking: ask && !never && !of?.[name] && store.isDefault, kept: Boolean(of?.[name]?.at) };
}

// What something that follows the page's scenario was set beside.  Chip, model and precision go
// together: a preset that sets one machine is not mixed with another.
/**
 * @param {string} name
 * @param {Record<string, StateValue | undefined>} values
 */
const besides = (name, values) =>
  /** @type {string[]} */ (CHOICES).includes(name)
    ? CHOICES.map((kind) => values[kind]).join()
    : values[name];

export class Explorer {
  /**
   * @param {HTMLElement} host
   * @param {Spec} spec
   * @param {Options} options
   */
  constructor(host, spec, { search, linked, ask, onChange, driven }) {
    this.host = host;
    this.spec = spec;
    this.linked = linked;
    this.onChange = onChange;
    this.driven = driven;
    this.id = `ex${++serial}`;
    this.entries = entries(spec);
    this.groups = (spec.points || []).map((group, i) => ({
      ...group,
      index: (spec.curves || []).length + i,
    }));
    this.chosen = new Set(this.entries.filter((e) => e.type === "choice").map((e) => e.name));
    /** @type {State} */
    this.usual = Object.fromEntries(this.entries.map((e) => [e.name, e.value]));
    this.followers = new Set(this.entries.filter((e) => e.follows).map((e) => e.name));
    for (const name of CHOICES) if (!(name in this.usual)) this.followers.add(name);
    const read = readState(spec, search);
    /**
     * What the reader has set, and what the page's scenario had of it then.
     *
     * @type {Map<string, { value: StateValue, beside: StateValue | undefined }>}
     */
    this.own = new Map();
    /**
     * The preset that was applied last.
     *
     * @type {Preset | null}
     */
    this.applied = null;
    this.keep(read.state);
    this.state = this.current();
    /** @type {State} */
    this.shown = { ...this.state };
    this.model = modelOf(spec);
    // a scene draws itself; curves are drawn by a plot
    this.drawing = this.model instanceof Model ? null : this.model;
    /** @type {Chart | null} */
    this.chart = null;
    this.stage = h("div", { class: "ex-stage" });
    /**
     * The pinned scenario's numbers, while there is one.
     *
     * @type {Model | null}
     */
    this.second = null;
    this.compared = false; // whether the pinned scenario differs here
    const { asking, kept } = recall(spec, linked, ask && !search);
    this.asking = asking; // for a guess, so that nothing which answers is shown
    this.paused = false; // while it is printed
    /** @type {import("./guess.js").Guess | null} */
    this.guess = null;
    this.offer = h("button", {
      type: "button",
      class: "ex-tool",
      text: "Guess",
      hidden: kept || !store.isDefault,
      onclick: () => this.fetchGuess(true),
    });
    this.root = h("div", { class: `ex ex-${spec.kind}${spec.stack ? " ex-stacked" : ""}` });
    this.values = h("div", { class: "ex-values", role: "list", "aria-label": "Values" });
    this.notice = h("p", { class: "ex-notice", role: "status", hidden: true });
    this.scene = h("p", { class: "ex-scene" });
    // Its line is kept, so that nothing moves under the hand that drags a cursor across.
    const says = [...(spec.marks || []), ...(spec.curves || [])].some(
      (part) => part.needs || ("limit" in part && part.limit),
    );
    this.over = h("p", { class: "ex-over", hidden: !says });
    this.words = h("p", { class: "ex-words", id: `${this.id}-words` });
    this.tableHost = h("div", {
      class: "ex-table",
      role: "group",
      "aria-label": `${spec.title}: data`,
    });
    this.details = h(
      "details",
      { class: "ex-data" },
      h("summary", { text: "Data as a table" }),
      this.tableHost,
    );
    this.controls = spec.controls
      .filter((c) => !this.driven.includes(c.name))
      .map((entry) =>
        makeControl(entry, `${this.id}-${entry.name}`, (value, done) =>
          this.set({ [entry.name]: value }, { done }),
        ),
      );
    this.presets = spec.presets.map((preset) => this.makePreset(preset));
    // What of each preset follows the scenario.
    this.follows = new Map(
      spec.presets.map((preset) => [
        preset,
        Object.entries(preset.follow ?? {}).map(([name, r]) => ({
          ...r,
          name,
          at: compile(r.tree),
        })),
      ]),
    );
    /**
     * The preset that was held when the plot was last drawn; at first the one that it starts with.
     *
     * @type {Preset | null}
     */
    this.kept = null;
    this.begin();
    /** @type {Map<string, ValueRow>} */
    this.rows = new Map();
    /**
     * Where a glide began, and when.
     *
     * @type {{ state: State, time: number } | null}
     */
    this.start = null;
    this.ticket = 0;
    this.sayLater = 0;
    /** @type {Partial<Record<"x" | "y", HeldAxis>>} */
    this.ends = {};
    /**
     * Symbols that the formulas hold.
     *
     * @type {Set<string> | null}
     */
    this.heeded = null;
    this.rowsShown = ""; // which values stand in their block
    this.steadyValues = new Steady(this.values);
    /** @type {Steady[]} */
    this.steady = [this.steadyValues];
    this.complaints = read.problems;
    this.problem = "";
    this.reset = h("button", {
      type: "button",
      class: "ex-tool",
      text: "Reset",
      onclick: () => this.restore(),
    });
    this.build();
    if (asking || kept) this.fetchGuess(asking);
    if (linked && spec.guess) this.watchPaper();
    this.tell();
    /** @type {() => unknown} */
    this.unfollow = linked ? store.on(() => this.follow()) : () => {};
    this.compare();
    this.draw();
    this.say();
  }

  destroy() {
    this.unfollow();
    this.chart?.plot.destroy();
    this.drawing?.destroy();
    for (const block of this.steady) block.destroy();
    cancelAnimationFrame(this.ticket);
    clearTimeout(this.sayLater);
  }

  // What each input shows until the reader sets it: what its author wrote or, where it follows
  // the page's scenario, what that has.
  /**
   * @param {Record<string, StateValue | undefined>} [values]
   * @returns {State}
   */
  unset(values = this.scenario()) {
    const state = { ...this.usual };
    for (const entry of this.entries) {
      const value = values[entry.name];
      if (!entry.follows || value === undefined) continue;
      if (entry.type === "choice") {
        if (entry.options.some((o) => o.value === value)) state[entry.name] = value;
      } else if (entry.type !== "check" && typeof value === "number")
        state[entry.name] = Math.min(Math.max(value, entry.min), entry.max);
    }
    return state;
  }

  /** @returns {Record<string, StateValue | undefined>} */
  scenario() {
    return this.linked ? { ...store.values(), ...store.choice } : {};
  }

  // What is shown depends on the page's scenario and on what the reader has set here, and not on
  // the way there: what was set beside one context gives way to another, and is back with the
  // first.
  /** @returns {State} */
  current() {
    return { ...this.unset(), ...this.held() };
  }

  // Of what the reader has set: that which counts beside this scenario.
  /** @returns {State} */
  held() {
    const values = this.scenario(),
      /** @type {State} */
      state = {};
    for (const [name, { value, beside }] of this.own)
      if (!this.followers.has(name) || besides(name, values) === beside) state[name] = value;
    return state;
  }

  /** @param {State} patch */
  keep(patch) {
    const values = this.scenario();
    for (const [name, value] of Object.entries(patch))
      this.own.set(name, { value, beside: besides(name, values) });
  }

  // A pinned scenario comes, changes or goes.  Of plots only: no scene follows the page's scenario.
  compare() {
    const source = this.linked ? store.beside : null;
    if (!source || !(this.model instanceof Model)) this.second = null;
    else if (this.second) {
      this.second.source = source;
      this.second.turn();
    } else this.second = new Model(this.model.spec, source);
  }

  // What each input shows under the pinned scenario.
  /** @param {import("./scenario.js").Source} source */
  besideState(source) {
    return { ...this.unset({ ...source.values(), ...source.choice }), ...this.held() };
  }

  follow() {
    this.compare();
    if (this.asking && !store.isDefault) this.ask(false);
    else if (this.guess) this.guess.tell();
    else this.offer.hidden = !store.isDefault;
    this.model.turn();
    this.hold(this.kept);
    this.show({ glide: true });
    this.onChange?.(this.state, true);
  }

  // Markup ----------------------------------------------------------------------------------------

  build() {
    const { spec, id } = this;
    this.details.addEventListener("toggle", () => this.fillTable());
    /** @type {HTMLButtonElement} */
    const copy = h("button", {
      type: "button",
      class: "ex-tool",
      text: "Copy link",
      onclick: () => this.copy(copy),
    });
    const { root } = this;
    root.append(
      h(
        "div",
        { class: "ex-head" },
        h("p", { class: "ex-title", id: `${id}-title`, text: spec.title }),
        h(
          "div",
          { class: "ex-tools", role: "toolbar", "aria-label": "Plot" },
          this.linked && spec.guess ? this.offer : null,
          this.reset,
          this.linked ? copy : null,
        ),
      ),
      this.notice,
      this.stage,
      this.over,
      this.values,
      this.controls.length ? this.makeControls() : "",
      this.presets.length
        ? h(
            "div",
            {
              class: "ex-presets",
              role: "group",
              "aria-label": "Examples",
            },
            ...this.presets.map((p) => p.button),
          )
        : "",
      spec.caption ? h("p", { class: "ex-caption", text: spec.caption }) : "",
      this.scene,
      this.words,
      this.details,
    );
    root.classList.toggle("ex-asking", this.asking);
    root.setAttribute("role", "group");
    root.setAttribute("aria-labelledby", `${id}-title`);
    root.setAttribute("aria-describedby", `${id}-words`);
    // The words are spoken where the reader is at work, and not by every plot that follows the
    // page's scenario.
    root.addEventListener("focusin", () => put(this.words, "aria-live", "polite"));
    root.addEventListener("focusout", () => put(this.words, "aria-live", "off"));
    this.host.replaceChildren(root);
    this.drawing?.attach(this.stage);
    if (spec.x && this.model instanceof Model) {
      const { x } = spec;
      const plot = new Plot(this.stage, {
        cursorLabel: x.title,
        onCursor: (value, done) => this.moveCursor(x, value, done),
      });
      this.chart = { spec, model: this.model, plot, stops: new Stops(x, 100, [x.at]) };
    }
  }

  makeControls() {
    const block = h("div", { class: "ex-controls" }, ...this.controls.map((c) => c.node));
    this.steady.push(new Steady(block));
    return block;
  }

  /** @param {Preset} preset */
  makePreset(preset) {
    const button = h("button", {
      type: "button",
      class: "ex-preset-button",
      "aria-pressed": "false",
      text: preset.label,
      onclick: () => this.apply(preset),
    });
    return { preset, button };
  }

  // One notice: what was wrong with the address, until reset, and what cannot be computed, while it
  // cannot.
  tell() {
    const problems = [...this.complaints, this.problem].filter(Boolean),
      remedy = this.problem ? this.remedy() : undefined;
    this.notice.hidden = !problems.length;
    this.notice.replaceChildren(problems.join(" "), remedy ? this.remedyButton(remedy) : "");
  }

  // The least of the book's own scenario that gives all of it a value.
  remedy() {
    const { hardware, model, precision } = defaults(),
      /** @type {State[]} */
      patches = [{ precision }, { model }, { hardware, precision }, { hardware, model, precision }];
    return patches.find((patch) => !this.model.problem({ ...this.state, ...patch }));
  }

  /** @param {State} patch */
  remedyButton(patch) {
    const kinds = /** @type {Kind[]} */ (["model", "hardware", "precision"]),
      named = kinds.filter((kind) => kind in patch && !(kind === "precision" && patch.hardware)),
      names = named.map((kind) => label(kind, String(patch[kind])));
    return h("button", {
      type: "button",
      class: "ex-tool",
      text: `Show it for ${names.join(" on ")}`,
      onclick: () => {
        this.model.turn();
        this.set(patch, { glide: true });
        this.reset.focus(); // which undoes it; the button itself goes
      },
    });
  }

  // What cannot be computed is told, and nothing empty is drawn for it.
  check() {
    const problem = this.model.problem(this.state);
    if (problem === this.problem) return;
    this.problem = problem;
    this.tell();
  }

  // State -----------------------------------------------------------------------------------------

  /**
   * @param {State} patch
   * @param {{ glide?: boolean, done?: boolean }} [how]
   */
  set(patch, { glide = false, done = true } = {}) {
    const held = this.pressed();
    this.keep(patch);
    this.hold(held, patch);
    this.show({ glide });
    this.onChange?.(patch, done);
  }

  /** @param {{ glide: boolean }} how */
  show({ glide }) {
    this.state = this.current();
    if (glide && !calm()) {
      this.start = { state: { ...this.shown }, time: performance.now() };
      this.model.mix = 0;
    } else if (!this.start) {
      this.model.mix = 1;
    }
    this.request();
    this.say(true);
  }

  /** @param {Preset} preset */
  apply(preset) {
    // What an earlier preset set, and nobody has changed since, is not part of this one.
    for (const name of CHOICES) if (!(name in this.usual)) this.own.delete(name);
    for (const [name, value] of Object.entries(this.applied ? this.settled(this.applied) : {}))
      if (this.own.get(name)?.value === value) this.own.delete(name);
    this.applied = preset;
    const settled = this.settled(preset);
    this.model.turn();
    this.set(settled, { glide: true });
  }

  // What a preset sets, with what follows the scenario worked out for it; it may lie beyond the
  // plot.
  /**
   * @param {Preset} preset
   * @returns {State}
   */
  worked(preset) {
    const follows = this.follows.get(preset) ?? [];
    if (!follows.length) return preset.set;
    const out = { ...preset.set },
      state = { ...this.current(), ...preset.set },
      { mix } = this.model;
    this.model.mix = 1; // for the scenario itself, and not on the way to it
    for (const entry of follows) {
      const value = this.model.scalar(entry, entry.at, state);
      out[entry.name] = value < 1 ? value : wholeCount(value, entry.whole); // and not one for less
    }
    this.model.mix = mix;
    return out;
  }

  // The same within the plot, where the cursor can go.
  /** @param {Preset} preset */
  settled(preset) {
    const out = { ...this.worked(preset) },
      { x } = this.spec;
    if (x && x.name in out)
      out[x.name] = Math.min(Math.max(Number(out[x.name]) || x.min, x.min), x.max);
    return out;
  }

  /** @param {Preset} preset */
  within(preset) {
    const { x } = this.spec;
    return !x || this.worked(preset)[x.name] === this.settled(preset)[x.name];
  }

  // The preset that the plot starts with, if any, is held from the start.
  begin() {
    const start = this.unset(),
      held = this.spec.presets.find(({ set }) =>
        Object.entries(set).every(([name, value]) => start[name] === value && !this.own.has(name)),
      );
    this.hold((this.kept = held ?? null));
    this.state = this.current();
  }

  // After a change of anything else, a preset that was held holds again.
  /**
   * @param {Preset | null} held
   * @param {State} [patch]
   */
  hold(held, patch = {}) {
    if (!held?.follow || Object.keys(patch).some((name) => name in held.set)) return;
    const settled = this.settled(held),
      now = this.current();
    if (Object.entries(settled).some(([name, value]) => now[name] !== value)) this.keep(settled);
  }

  // The preset whose settings are all as it sets them; of several the one applied last, else the
  // one that sets the most.
  pressed() {
    const held = this.spec.presets.filter((preset) =>
      Object.entries(this.settled(preset)).every(([name, value]) => this.state[name] === value),
    );
    if (this.applied && held.includes(this.applied)) return this.applied;
    const size = (/** @type {Preset} */ { set }) => Object.keys(set).length;
    return held.reduce(
      (/** @type {Preset | null} */ most, one) => (most && size(most) >= size(one) ? most : one),
      null,
    );
  }

  restore() {
    this.complaints = [];
    this.tell();
    this.own.clear();
    this.applied = null;
    this.begin();
    this.model.turn();
    this.show({ glide: true });
    this.onChange?.(this.state, true);
  }

  /**
   * @param {SweptAxis} x
   * @param {number} value
   * @param {boolean} done
   */
  moveCursor(x, value, done) {
    const at = x.whole ? Math.round(value) : value;
    if (this.asking) this.guess?.set(0, at);
    else this.set({ [x.name]: at }, { done });
  }

  // A value under the hand that drags the cursor, as a person would write it.
  /**
   * @param {SweptAxis} x
   * @param {number} value
   */
  tidy(x, value) {
    const rounded = Number(value.toPrecision(3));
    if (value >= x.max || value <= x.min) return value >= x.max ? x.max : x.min;
    return Math.min(Math.max(x.whole ? Math.round(rounded) : rounded, x.min), x.max);
  }

  // The stop of the cursor that lies `count` steps from a value.
  /**
   * @param {number} value
   * @param {number} count
   */
  stepped(value, count) {
    return this.chart ? this.chart.stops.from(value, count) : value;
  }

  link() {
    const query = writeState(this.spec, this.state, this.unset(), store.query());
    for (const name of CHOICES)
      if (this.state[name] !== undefined && !this.entries.some((e) => e.name === name))
        query.set(name, String(this.state[name]));
    const text = query.toString();
    const address = `${location.origin}${location.pathname}${text ? `?${text}` : ""}`;
    return `${address}#explorer-${this.spec.name}`;
  }

  /** @param {HTMLButtonElement} button */
  async copy(button) {
    const link = this.link();
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = "Copied";
    } catch {
      history.replaceState(null, "", link);
      button.textContent = "In the address bar";
    }
    announce(`The link: ${button.textContent.toLowerCase()}.`);
    setTimeout(() => {
      button.textContent = "Copy link";
    }, 1800);
  }

  // Guesses ---------------------------------------------------------------------------------------

  // What asks and compares is fetched by readers who are asked or have answered (guess.js).
  /** @param {boolean} asking */
  async fetchGuess(asking) {
    try {
      /** @type {typeof import("./guess.js")} */
      const { Guess } = await import(new URL(`./guess.js?v=${GUESS_MARK}`, import.meta.url).href);
      this.guess ??= new Guess(this, TOOLS);
      if (asking && store.isDefault && !this.paused) this.guess.begin();
      else this.ask(false);
    } catch (error) {
      this.ask(false);
      console.warn(`The question could not be asked: ${/** @type {Error} */ (error).message}`);
    }
  }

  // While it asks, whatever would answer is neither drawn nor written.
  /** @param {boolean} asking */
  ask(asking) {
    this.asking = asking;
    this.root.classList.toggle("ex-asking", asking);
    this.guess?.tell();
    this.draw();
    this.say();
  }

  // On paper nothing asks: the plot stands with its curves, and asks again afterwards.  Not every
  // browser says beforeprint, and the question itself may not have been fetched by then.
  watchPaper() {
    const paper = matchMedia("print"),
      turn = (/** @type {boolean} */ printing) => {
        if (printing ? !this.asking : !this.paused) return;
        this.paused = printing;
        this.ask(!printing);
      };
    addEventListener("beforeprint", () => turn(true));
    addEventListener("afterprint", () => turn(false));
    paper.addEventListener("change", () => turn(paper.matches));
  }

  // Frames ----------------------------------------------------------------------------------------

  request() {
    this.ticket ||= requestAnimationFrame((time) => {
      this.ticket = 0;
      this.draw(time);
    });
  }

  /** @param {number} [time] */
  draw(time = performance.now()) {
    this.shown = { ...this.state };
    if (this.start) {
      const t = Math.min(1, (time - this.start.time) / GLIDE),
        eased = 1 - (1 - t) ** 3;
      // A choice has nothing in between, though its options may be numbers.
      for (const [name, value] of Object.entries(this.state))
        this.shown[name] = this.chosen.has(name)
          ? value
          : between(this.start.state[name], value, Math.max(0, eased));
      this.model.mix = Math.max(0, eased);
      if (t >= 1) {
        this.start = null;
        this.model.mix = 1;
      }
    }
    for (const control of this.controls) control.show(this.shown[control.entry.name], this.state);
    const pressed = (this.kept = this.pressed());
    for (const { preset, button } of this.presets) {
      if (preset.follow) {
        button.disabled = !this.within(preset);
        button.title = button.disabled ? "This lies beyond the plot." : "";
      }
      put(button, "aria-pressed", preset === pressed && !button.disabled);
    }
    this.check();
    if (this.drawing) this.drawScene(this.drawing);
    const ready = this.guess || !this.asking,
      moving = this.chart && ready ? this.drawPlot(this.chart) : false;
    if (this.start || moving) this.request();
    if (this.linked && this.spec.x) {
      const { name, unit } = this.spec.x;
      dispatchEvent(
        new CustomEvent("explorer-moved", {
          detail: {
            name: this.spec.name,
            state: this.shown,
            cursor: inFull(Number(this.shown[name]), unit),
          },
        }),
      );
    }
  }

  sceneText() {
    // What the explorer holds or drives itself is not the scenario's, and so no reason to name it.
    const heeded = (this.heeded ??= this.followed());
    if (!Object.keys(store.values()).some((name) => heeded.has(name))) return "";
    /** @type {State} */
    const now = { ...store.choice, ...this.state },
      [hardware, model, precision] = CHOICES.map((kind) => label(kind, String(now[kind])));
    return `Shown for ${hardware}, ${model}, ${precision}.`;
  }

  // The symbols that what is shown depends on.
  symbols() {
    const parts = this.parts();
    return parts
      ? new Set(parts.flatMap(({ tree }) => [...symbols(tree)]))
      : new Set(this.model.symbols);
  }

  // All that has a value in a plot; a scene has none of these.
  parts() {
    const { curves, marks = [], readouts = [], across } = this.spec;
    return curves && [...curves, ...marks, ...readouts, ...(across ? [across] : [])];
  }

  // The symbols that the page's scenario gives to what is shown.  What the explorer, or the part
  // that needs it, holds or drives itself is not the scenario's.
  followed() {
    const own = new Set([
      "context",
      this.spec.x?.name,
      ...Object.keys(this.model.fixed),
      ...this.entries.map((e) => e.name),
      ...this.model.pickers.flatMap((c) => Object.keys(c.rows[0])),
    ]);
    const open = (/** @type {Iterable<string>} */ names) => [...names].filter((n) => !own.has(n));
    const parts = this.parts();
    if (!parts) return new Set(open(this.model.symbols));
    return new Set(
      parts.flatMap((part) => {
        const { given = {}, scenario = {} } = /** @type {Entry} */ (part);
        return open(symbols(part.tree)).filter(
          (name) => !(name in given) && !comesWith(name, scenario),
        );
      }),
    );
  }

  /** @param {Scene} drawing */
  drawScene(drawing) {
    put(this.scene, "text", this.sceneText());
    this.stage.hidden = this.values.hidden = Boolean(this.problem);
    if (this.problem) return;
    drawing.draw(this.shown);
    const live = new Set(drawing.entries().map((entry) => this.writeValue(entry)));
    for (const [key, row] of this.rows) {
      const hide = !live.has(key);
      if (row.node.hidden !== hide) row.node.hidden = hide;
    }
  }

  // What a plot has for the pinned scenario; nothing where that is the same.
  /** @param {import("./compute.js").Result} mine */
  evaluateSecond(mine) {
    const { second } = this;
    if (!second) return null;
    const state = this.besideState(second.source),
      problem = second.problem(state);
    if (problem) return { problem, name: "", result: null };
    const result = second.evaluate(state);
    if (agree(mine, result)) return null;
    return { problem, name: besideName(second.source.choice, state), result };
  }

  /**
   * @param {import("./compute.js").Result} result
   * @returns {import("./plot.js").FrameMark[]}
   */
  marksOf(result) {
    return (
      result.marks
        // One that has none is words only.
        .filter(({ mark, value, place }) => Number.isFinite(place) && told(mark, value))
        .map(({ mark, value, place, down, lacking }) => ({
          key: mark.label,
          axis: mark.axis,
          band: mark.band,
          limit: mark.limit,
          down,
          value: place,
          text: lacking ? "the model does not fit" : `${mark.label} ${written(mark, value)}`,
        }))
    );
  }

  // Whether the axes are still on their way to their ends.
  /**
   * @param {Chart} chart
   * @returns {boolean}
   */
  drawPlot({ spec, model: own, plot }) {
    const [model, shown] = (this.asking && this.guess?.asked) || [own, this.shown],
      result = model.evaluate(shown),
      cursor = /** @type {number} */ (shown[spec.x.name]);
    this.stage.hidden = this.values.hidden = !result.curves.length;
    const second = this.evaluateSecond(result),
      other = second?.result;
    this.compared = Boolean(other);
    const series = [...this.series(result), ...(other ? faint(this.series(other)) : [])];
    const marks = this.marksOf(result),
      also = other ? besideMarks(marks, this.marksOf(other)) : [];
    const leading = result.curves.filter((c) => c.curve.role !== "part").map((c) => c.ys);
    const tops = series.flatMap(({ shade, xs, ys }) =>
      shade ? [ys.filter((_, i) => covers(shade, xs[i])).map((y) => y * shade.band[1])] : [],
    );
    const heights = [...series.map((s) => s.ys), ...tops, result.dots.map((d) => d.y)];
    const y = this.axis(
      "y",
      extent([...heights, limitsNear(marks, heights)], leading, spec.y.log, spec.y.min, spec.y.max),
      spec.y,
    );
    const across = spec.across;
    const x = across
      ? this.axis(
          "x",
          extent(
            [...series.map((s) => s.xs), result.dots.map((d) => d.x)],
            [],
            across.log,
            across.min,
            across.max,
          ),
          across,
        )
      : { domain: /** @type {Pair} */ ([spec.x.min, spec.x.max]), settled: true };
    /** @type {import("./plot.js").Frame} */
    const frame = {
      key: result.key + (other?.key ?? ""),
      x: { ...(across || spec.x), domain: x.domain },
      y: { ...spec.y, domain: y.domain },
      series,
      dots: result.dots,
      labels: across ? "inside" : "margin",
      marks: [...marks, ...also],
      cursor: this.cursorOf(spec, model, result, series, cursor),
    };
    plot.draw(this.guess?.onto(frame) ?? frame);
    const moving = !(x.settled && y.settled);
    if (this.asking) return moving;
    put(this.over, "text", model.beyond(this.shown, result));
    const bands = result.curves.flatMap(({ shade }) =>
      shade?.of ? [`${capital(shade.of)}.`] : [],
    );
    const beside = second && [second.problem || `Beside it, fainter: ${second.name}.`],
      pinned = this.stage.hidden ? [] : (beside ?? []);
    put(this.scene, "text", [this.sceneText(), ...pinned, ...bands].join(" ").trim());
    this.writeValues(spec.y, result, other);
    return moving;
  }

  /**
   * @param {PlotSpec} spec
   * @param {Model} model
   * @param {import("./compute.js").Result} result
   * @param {import("./plot.js").Series[]} series
   * @param {number} cursor
   * @returns {import("./plot.js").FrameCursor}
   */
  cursorOf({ across, x, y }, model, { curves }, series, cursor) {
    const lead = curves.find((c) => c.curve.role === "total") || curves[0],
      spoken = curves.map(
        ({ curve, y: value }) => `${curve.label} ${writeNamed(curve, curve.label, value, y.unit)}`,
      );
    return {
      x: across && lead ? lead.x : cursor,
      text: across ? `${x.title.toLowerCase()} ${inFull(cursor, x.unit)}` : inFull(cursor, x.unit),
      points: series.map(({ id, index, role, beside, cursor: [px, py] }) => ({
        id,
        index,
        role,
        beside,
        x: px,
        y: py,
      })),
      min: x.min,
      max: x.max,
      unit: x.unit,
      label: x.title,
      now: Number(cursor.toPrecision(6)),
      step: (count) => this.stepped(Number(this.state[x.name]), count),
      tidy: (value) => this.tidy(x, value),
      valueText: `${formatValue(cursor, x.unit, digitsOf(cursor, x.unit, 3))}: ${spoken.join(", ")}`,
      trace: across && lead ? lead.xs : null,
      grid: model.grid,
    };
  }

  /**
   * @param {import('./compute.js').Result} result
   * @returns {import('./plot.js').Series[]}
   */
  series(result) {
    const stacked = this.spec.stack ? result.curves.filter((c) => c.curve.role === "part") : [];
    /** @type {Float64Array | null} */
    let base = null,
      foot = 0;
    return result.curves.map((c) => {
      /** @type {import("./plot.js").Series} */
      const entry = {
        id: c.curve.id,
        label: c.curve.label,
        index: c.curve.index,
        role: c.curve.role,
        xs: c.xs,
        ys: c.ys,
        shade: c.shade,
        cursor: [c.x, c.y],
        X: UNDRAWN,
        Y: UNDRAWN,
      };
      if (!stacked.includes(c)) return entry;
      const below = base || new Float64Array(c.ys.length);
      entry.base = below;
      entry.ys = base = c.ys.map((y, i) => y + below[i]);
      entry.cursor = [c.x, (foot += c.y)];
      return entry;
    });
  }

  // An axis keeps its ends while the data fill it well, and glides to new ones when they do not.
  /**
   * @param {'x' | 'y'} name
   * @param {Pair} wanted
   * @param {Axis} axis
   * @returns {HeldAxis}
   */
  axis(name, wanted, { log, min, max }) {
    const held = this.ends[name],
      /** @type {(v: number) => number} */
      f = log ? Math.log : (v) => v,
      /** @type {(v: number) => number} */
      g = log ? Math.exp : (v) => v;
    const grid = log ? Math.log(10) / 4 : 0;
    /** @type {(ends: Pair) => Pair} */
    const snap = ([a, b]) =>
      log
        ? [min ?? g(Math.floor(f(a) / grid) * grid), max ?? g(Math.ceil(f(b) / grid) * grid)]
        : [a, b];
    if (!held)
      return (this.ends[name] = { domain: snap(wanted), target: snap(wanted), settled: true });
    const [a, b] = held.target.map(f),
      [wa, wb] = wanted.map(f),
      room = b - a;
    if (wa < a - 1e-9 || wb > b + 1e-9 || wb - wa < 0.62 * room)
      held.target = snap(log ? wanted : [wanted[0], wanted[1] * (wb > b ? 1.12 : 1)]);
    const [ta, tb] = held.target.map(f),
      now = held.domain.map(f),
      far = Math.max(Math.abs(ta - now[0]), Math.abs(tb - now[1]));
    held.settled = calm() || far < 0.002 * Math.max(room, 1e-300);
    const share = held.settled ? 1 : 0.22;
    held.domain = held.settled
      ? [...held.target]
      : [g(now[0] + (ta - now[0]) * share), g(now[1] + (tb - now[1]) * share)];
    return held;
  }

  /**
   * @param {Axis} y
   * @param {import('./compute.js').Result} result
   * @param {import('./compute.js').Result | null} [other]
   */
  writeValues(y, result, other) {
    /** @type {Set<string>} */
    const live = new Set();
    const theirs = new Map(other?.curves.map((c) => [c.curve.id, c.y]));
    const read = new Map(other?.readouts.map((r) => [r.readout.label, r.value]));
    /**
     * @param {Curve | import("./compute.js").Computed} part
     * @param {number | undefined} value
     */
    const also = (part, value, unit = y.unit, digits = 3) =>
      value === undefined ? undefined : writeNamed(part, part.label, value, unit, digits);
    for (const { curve, y: value, band, of } of result.curves) {
      const note = band
        ? `${curve.band_label || "measured"} ${formatValue(value * band[0], y.unit, 2)} to ` +
          `${formatValue(value * band[1], y.unit, 2)}`
        : of.split(":")[0];
      live.add(
        this.writeValue({
          key: curve.id,
          label: curve.label,
          text: writeNamed(curve, curve.label, value, y.unit),
          also: also(curve, theirs.get(curve.id)),
          note,
          swatch: `ex-c${curve.index} ex-${curve.role}`,
        }),
      );
    }
    const shown = shownPoints({ points: this.groups }, this.shown);
    const { x, across } = /** @type {PlotSpec} */ (this.spec);
    for (const group of this.groups)
      if (shown.includes(group)) {
        // Where the cursor stands on a point, its value; and where there is only one, always.
        const near = (/** @type {number} */ at) =>
            Math.abs(at - Number(this.shown[x.name])) < 0.01 * at,
          here = group.at.filter((p, _, { length }) => length === 1 || (!across && near(p[0]))),
          one = here.length === 1 ? formatValue(here[0][1], y.unit, 2) : "";
        live.add(
          this.writeValue({
            key: `g-${group.label}`,
            label: group.label,
            text: one || (here.length ? `${here.length} points` : ""),
            swatch: `ex-c${group.index % 8}`,
            ring: true,
          }),
        );
      }
    for (const { readout, value } of result.readouts) {
      const { label: name, unit, digits } = readout;
      live.add(
        this.writeValue({
          key: `r-${name}`,
          label: name,
          text: writeNamed(readout, name, value, unit, digits),
          also: also(readout, read.get(name), unit, digits),
        }),
      );
    }
    for (const [key, row] of this.rows) {
      const hide = !live.has(key);
      if (row.node.hidden !== hide) row.node.hidden = hide;
    }
    const rows = [...live, other ? "beside" : ""].join();
    if (rows !== this.rowsShown) this.steadyValues.free();
    this.rowsShown = rows;
  }

  /**
   * @param {Value} value
   * @returns {string}
   */
  writeValue({ key, label: name, text, note, swatch, ring, also = "" }) {
    let row = this.rows.get(key);
    if (!row) {
      const number = h("strong"),
        unit = h("span"),
        pinned = h("span", { class: "beside" }),
        value = h("span", { class: "ex-value" }, number, unit, pinned),
        extra = h("span", { class: "ex-note" });
      const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      if (swatch) {
        line.setAttribute("class", "ex-swatch");
        line.setAttribute("aria-hidden", "true");
        line.innerHTML = ring
          ? `<g class="ex-point ${swatch}"><circle cx="13" cy="5" r="4"/></g>`
          : `<line x1="0" x2="26" y1="5" y2="5" class="ex-curve ${swatch}"/>`;
      }
      row = {
        number,
        unit,
        also: pinned,
        extra,
        node: h(
          "div",
          { class: "ex-row", role: "listitem" },
          h("span", { class: "ex-name" }, swatch ? line : null, name),
          value,
          extra,
        ),
      };
      this.rows.set(key, row);
      this.values.append(row.node);
    }
    // Words in a number's place are in one style.
    const cut = /\s/.test(text) && !/[\d∞]/.test(text) ? 0 : text.search(/[\s\u00a0]/);
    put(row.number, "text", cut < 0 ? text : text.slice(0, cut));
    put(row.unit, "text", cut < 0 ? "" : text.slice(cut));
    put(row.extra, "text", note || "");
    put(row.also, "text", also === text ? "" : also);
    return key;
  }

  // Words and table come when the hand rests: they are not for every frame.
  /** @param {boolean} [later] */
  say(later) {
    clearTimeout(this.sayLater);
    const speak = () => {
      if (this.asking) {
        put(this.words, "text", this.spec.guess?.question);
        return;
      }
      put(this.words, "text", [this.model.words(this.state), ...this.secondWords()].join(" "));
      this.fillTable();
      for (const block of this.steady) block.check();
    };
    if (later) this.sayLater = window.setTimeout(speak, 600);
    else speak();
  }

  // What is said of the pinned scenario, where it is shown.
  secondWords() {
    const { second } = this;
    if (!second || !this.compared) return [];
    const state = this.besideState(second.source);
    return [`For ${besideName(second.source.choice, state)}: ${second.words(state)}`];
  }

  fillTable() {
    if (!this.details.open) return;
    const table = this.model.table(this.state),
      { second } = this;
    // With nothing drawn a row would be its place on the axis, and nothing else.
    const tables = [
      table.body.some((row) => row.slice(1).some(Boolean))
        ? dataTable(table)
        : h("p", { text: "Nothing can be drawn here, so there is nothing to list." }),
    ];
    if (second && this.compared) {
      const state = this.besideState(second.source),
        name = besideName(second.source.choice, state);
      tables.push(dataTable(second.table(state), `The same for ${name}`));
    }
    this.tableHost.replaceChildren(...tables);
  }
}

/**
 * What anywidget gives a view of its model.
 *
 * @typedef {object} WidgetModel
 * @property {(name: string) => any} get a trait, of whatever type it is declared with in Python
 * @property {(name: string, value: StateValue) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, hear: () => void) => void} on
 */

// anywidget: the spec and each entry of the state are traits; ipywidgets drive those named in
// `driven`.
/** @param {{ model: WidgetModel, el: HTMLElement }} context */
function render({ model, el }) {
  /** @type {Spec} */
  const spec = model.get("spec"),
    /** @param {string} name */
    trait = (/** @type {string} */ name) => name.replaceAll("-", "_"),
    names = entries(spec).map((e) => e.name);
  let hearing = false;
  const explorer = mount(el, spec, {
    linked: false,
    driven: model.get("driven"),
    onChange(patch, done) {
      if (hearing) return;
      for (const [name, value] of Object.entries(patch))
        if (names.includes(name)) model.set(trait(name), value);
      if (done) model.save_changes();
    },
  });
  explorer.set(Object.fromEntries(names.map((name) => [name, model.get(trait(name))])));
  for (const name of names) {
    model.on(`change:${trait(name)}`, () => {
      hearing = true;
      explorer.set({ [name]: model.get(trait(name)) });
      hearing = false;
    });
  }
  return () => explorer.destroy();
}

export default { render };
