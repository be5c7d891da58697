// An explorer on the page, mount(host, spec), and in a notebook, default.render({ model, el }) for
// anywidget.
import "./explorer.css";
import { Model, between, extent } from "./compute.js";
import { makeControl } from "./controls.js";
import { announce, h, put, calm } from "./dom.js";
import { plain } from "./describe.js";
import { Plot } from "./plot.js";
import { label, store } from "./scenario.js";
import { entries, readState, writeState } from "./state.js";
import { KINDS, Scene } from "./scenes/scene.js";
import { Train } from "./scenes/train.js";
import { symbols } from "./tree.js";
import { formatValue } from "./units.js";

const CHOICES = ["hardware", "model", "precision"];
const GLIDE = 420; // milliseconds from one preset to the next
export const LECTURE = "https://www.youtube.com/watch?v=xmkSf5IS-zw";

let serial = 0;

export function mount(host, spec, { search = "", linked = true, onChange, driven = [] } = {}) {
  return new Explorer(host, spec, { search, linked, onChange, driven });
}

function modelOf(spec) {
  if (spec.kind === "train") return new Train(spec);
  return spec.kind in KINDS ? new Scene(spec) : new Model(spec);
}

class Explorer {
  constructor(host, spec, { search, linked, onChange, driven }) {
    Object.assign(this, { host, spec, linked, onChange, driven });
    this.id = `ex${++serial}`;
    this.entries = entries(spec);
    this.groups = (spec.points || []).map((group, i) => ({
      ...group,
      index: spec.curves.length + i,
    }));
    this.chosen = new Set(this.entries.filter((e) => e.type === "choice").map((e) => e.name));
    this.usual = Object.fromEntries(this.entries.map((e) => [e.name, e.value]));
    const read = readState(spec, search);
    this.state = { ...this.usual, ...this.followed(), ...read.state };
    this.shown = { ...this.state };
    this.model = modelOf(spec);
    this.drawn = Boolean(this.model.attach); // a scene draws itself; curves are drawn by a plot
    this.build();
    this.complaints = read.problems;
    this.problem = "";
    this.tell();
    this.unfollow = linked
      ? store.on((now, before, was) => this.follow(now, before, was))
      : () => {};
    this.draw();
    this.say();
  }

  destroy() {
    this.unfollow();
    this.plot?.destroy?.();
    this.model.destroy?.();
    this.fixer?.disconnect();
    cancelAnimationFrame(this.ticket);
    clearTimeout(this.sayLater);
  }

  // Controls that the page's scenario also has start from it, once the reader has changed it.
  followed() {
    if (!this.linked || store.isDefault) return {};
    const values = { ...store.values(), ...store.choice },
      state = {};
    for (const entry of this.entries)
      if (entry.name in values && !(entry.name in (this.spec.given || {})))
        this.adopt(state, entry, values[entry.name]);
    return state;
  }

  adopt(state, entry, value) {
    if (entry.type === "choice") {
      if (entry.options.some((o) => o.value === value)) state[entry.name] = value;
    } else if (typeof value === "number")
      state[entry.name] = Math.min(Math.max(value, entry.min), entry.max);
  }

  follow(now, before, was) {
    const values = { ...store.values(), ...now },
      old = { ...was, ...before },
      state = { ...this.state };
    for (const name of CHOICES) if (now[name] !== before[name]) delete state[name];
    for (const entry of this.entries) {
      if (entry.name in values && values[entry.name] !== old[entry.name])
        this.adopt(state, entry, values[entry.name]);
      if (CHOICES.includes(entry.name) && state[entry.name] === undefined)
        state[entry.name] = now[entry.name] ?? entry.value;
    }
    this.model.turn?.();
    this.set(state, { glide: true, replace: true });
  }

  // Markup ----------------------------------------------------------------------------------------

  build() {
    const { spec, id } = this;
    this.stage = h("div", { class: "ex-stage" });
    this.values = h("div", { class: "ex-values" });
    this.notice = h("p", { class: "ex-notice", role: "status", hidden: true });
    this.scene = h("p", { class: "ex-scene" });
    this.words = h("p", { class: "ex-words", id: `${id}-words` });
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
    this.details.addEventListener("toggle", () => this.fillTable());
    this.controls = spec.controls
      .filter((c) => !this.driven.includes(c.name))
      .map((entry) =>
        makeControl(entry, `${id}-${entry.name}`, (value, done) =>
          this.set({ [entry.name]: value }, { done }),
        ),
      );
    this.presets = spec.presets.map((preset) => this.makePreset(preset));
    const copy = h("button", {
      type: "button",
      class: "ex-tool",
      text: "Copy link",
      onclick: () => this.copy(copy),
    });
    this.reset = h("button", {
      type: "button",
      class: "ex-tool",
      text: "Reset",
      onclick: () => this.restore(),
    });
    const root = h(
      "div",
      { class: `ex ex-${spec.kind}${spec.stack ? " ex-stacked" : ""}` },
      h(
        "div",
        { class: "ex-head" },
        h("p", { class: "ex-title", id: `${id}-title`, text: spec.title }),
        h("div", { class: "ex-tools" }, this.reset, this.linked ? copy : null),
      ),
      this.notice,
      this.stage,
      this.values,
      this.controls.length
        ? h("div", { class: "ex-controls" }, ...this.controls.map((c) => c.node))
        : null,
      this.presets.length
        ? h(
            "div",
            { class: "ex-presets", role: "group", "aria-label": "What the lecture says" },
            ...this.presets.map((p) => p.node),
          )
        : null,
      spec.caption ? h("p", { class: "ex-caption", text: spec.caption }) : null,
      this.scene,
      this.words,
      this.details,
    );
    root.setAttribute("role", "group");
    root.setAttribute("aria-labelledby", `${id}-title`);
    root.setAttribute("aria-describedby", `${id}-words`);
    this.root = root;
    // The words are spoken where the reader is at work, and not by every plot that follows the
    // page's scenario.
    root.addEventListener("focusin", () => put(this.words, "aria-live", "polite"));
    root.addEventListener("focusout", () => put(this.words, "aria-live", "off"));
    this.host.replaceChildren(root);
    this.rows = new Map();
    if (this.drawn) this.model.attach(this.stage, this.words.id);
    else {
      this.plot = new Plot(this.stage, {
        label: spec.title,
        words: this.words.id,
        cursorLabel: spec.x.title,
        onCursor: (value, done) => this.moveCursor(value, done),
      });
    }
  }

  makePreset(preset) {
    const button = h("button", {
      type: "button",
      class: "ex-preset-button",
      "aria-pressed": "false",
      text: preset.label,
      onclick: () => this.apply(preset),
    });
    const time = preset.time
      ? h("a", {
          class: "ex-time",
          href: `${LECTURE}&t=${preset.seconds}s`,
          rel: "noopener",
          title: `the lecture at ${preset.time}`,
          text: preset.time,
        })
      : null;
    const claim = preset.claim
      ? h("p", { class: "ex-claim", text: `The lecture: ${preset.claim}` })
      : null;
    return {
      preset,
      button,
      node: h(
        "div",
        { class: "ex-preset" },
        h("div", { class: "ex-preset-head" }, button, time),
        claim,
      ),
    };
  }

  // One notice: what was wrong with the address, until reset, and what cannot be computed, while it
  // cannot.
  tell() {
    const problems = [...this.complaints, this.problem].filter(Boolean);
    this.notice.hidden = !problems.length;
    this.notice.textContent = problems.join(" ");
  }

  // State -----------------------------------------------------------------------------------------

  set(patch, { glide = false, done = true, replace = false } = {}) {
    this.state = replace ? { ...patch } : { ...this.state, ...patch };
    if (glide && !calm()) {
      this.start = { state: { ...this.shown }, time: performance.now() };
      this.model.mix = 0;
    } else if (!this.start) {
      this.model.mix = 1;
    }
    this.request();
    this.say(true);
    this.onChange?.(patch, done);
  }

  apply(preset) {
    const state = { ...this.state };
    // A choice that an earlier preset made is not part of this one.
    for (const name of CHOICES) if (!this.entries.some((e) => e.name === name)) delete state[name];
    this.model.turn?.();
    this.set({ ...state, ...preset.set }, { glide: true, replace: true });
  }

  restore() {
    this.complaints = [];
    this.tell();
    this.model.turn?.();
    this.set({ ...this.usual, ...this.followed() }, { glide: true, replace: true });
    this.onChange?.(this.state, true);
  }

  moveCursor(value, done) {
    const { x } = this.spec;
    this.set({ [x.name]: this.tidy(value) }, { done });
  }

  tidy(value) {
    const { x } = this.spec,
      rounded = Number(value.toPrecision(3));
    if (value >= x.max || value <= x.min) return value >= x.max ? x.max : x.min;
    return Math.min(Math.max(x.whole ? Math.round(rounded) : rounded, x.min), x.max);
  }

  // `count` steps of a hundredth of the axis; whole numbers move by one at least.
  stepped(count) {
    const { x } = this.spec,
      now = this.state[x.name];
    const next = this.tidy(
      x.log ? now * (x.max / x.min) ** (count / 100) : now + ((x.max - x.min) * count) / 100,
    );
    return next !== now
      ? next
      : Math.min(Math.max(now + Math.sign(count) * (x.whole ? 1 : 0.001 * now), x.min), x.max);
  }

  link() {
    const query = writeState(this.spec, this.state, store.query());
    for (const name of CHOICES)
      if (this.state[name] !== undefined && !this.entries.some((e) => e.name === name))
        query.set(name, this.state[name]);
    const text = query.toString();
    const address = `${location.origin}${location.pathname}${text ? `?${text}` : ""}`;
    return `${address}#explorer-${this.spec.name}`;
  }

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

  // Frames ----------------------------------------------------------------------------------------

  request() {
    this.ticket ||= requestAnimationFrame((time) => {
      this.ticket = 0;
      this.draw(time);
    });
  }

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
    for (const { preset, button } of this.presets)
      put(
        button,
        "aria-pressed",
        Object.entries(preset.set).every(([k, v]) => this.state[k] === v),
      );
    put(this.scene, "text", this.sceneText());
    const moving = this.drawn ? this.drawScene() : this.drawPlot();
    if (this.start || moving) this.request();
    if (this.linked && this.plot)
      dispatchEvent(
        new CustomEvent("explorer-moved", {
          detail: {
            name: this.spec.name,
            state: this.shown,
            cursor: plain(this.shown[this.spec.x.name], this.spec.x.unit, 4),
          },
        }),
      );
  }

  sceneText() {
    // What the explorer holds or drives itself is not the scenario's, and so no reason to name it.
    const { curves, marks = [], readouts = [], across } = this.spec;
    this.told ??= curves
      ? new Set(
          [...curves, ...marks, ...readouts, ...(across ? [across] : [])].flatMap(({ tree }) => [
            ...symbols(tree),
          ]),
        )
      : this.model.symbols;
    const own = new Set([
      "context",
      this.spec.x?.name,
      ...Object.keys(this.model.fixed),
      ...this.entries.map((e) => e.name),
      ...(this.model.pickers || []).flatMap((c) => Object.keys(c.rows[0])),
    ]);
    if (!Object.keys(store.values()).some((name) => this.told.has(name) && !own.has(name)))
      return "";
    const now = { ...store.choice, ...this.state };
    return (
      `Shown for ${label("hardware", now.hardware)}, ${label("model", now.model)}, ` +
      `${label("precision", now.precision)}.`
    );
  }

  drawScene() {
    this.model.draw(this.shown);
    const live = new Set(this.model.entries().map((entry) => this.writeValue(entry)));
    for (const [key, row] of this.rows) {
      const hide = !live.has(key);
      if (row.node.hidden !== hide) row.node.hidden = hide;
    }
    return false;
  }

  drawPlot() {
    const { spec, model, plot } = this,
      result = model.evaluate(this.shown),
      cursor = this.shown[spec.x.name];
    if (result.problem !== this.problem) {
      this.problem = result.problem;
      this.tell();
    }
    const series = this.series(result);
    const leading = result.curves.filter((c) => c.curve.role !== "part").map((c) => c.ys);
    const tops = series.filter((s) => s.band).map((s) => s.ys.map((y) => y * s.band[1]));
    const y = this.axis(
      "y",
      extent(
        [...series.map((s) => s.ys), ...tops, result.dots.map((d) => d.y)],
        leading,
        spec.y.log,
        spec.y.min,
        spec.y.max,
      ),
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
      : { domain: [spec.x.min, spec.x.max], settled: true };
    const lead = result.curves.find((c) => c.curve.role === "total") || result.curves[0];
    const spoken = result.curves.map((c) => `${c.curve.label} ${formatValue(c.y, spec.y.unit)}`);
    plot.draw({
      key: result.key,
      x: { ...(across || spec.x), domain: x.domain },
      y: { ...spec.y, domain: y.domain },
      series,
      dots: result.dots,
      labels: across ? "inside" : "margin",
      marks: result.marks
        .filter((m) => Number.isFinite(m.value))
        .map(({ mark, value }) => ({
          key: mark.label,
          axis: mark.axis,
          band: mark.band,
          value,
          text:
            `${mark.label} ` +
            `${mark.axis === "x" ? plain(value, mark.unit, 3) : formatValue(value, mark.unit)}`,
        })),
      cursor: {
        x: across && lead ? lead.x : cursor,
        text: across
          ? `${spec.x.title.toLowerCase()} ${plain(cursor, spec.x.unit, 4)}`
          : plain(cursor, spec.x.unit, 4),
        points: series
          .filter((s) => s.cursor)
          .map((s) => ({ id: s.id, index: s.index, role: s.role, x: s.cursor[0], y: s.cursor[1] })),
        min: spec.x.min,
        max: spec.x.max,
        now: Number(cursor.toPrecision(6)),
        step: (count) => this.stepped(count),
        valueText: `${formatValue(cursor, spec.x.unit)}: ${spoken.join(", ")}`,
        trace: across && lead ? lead.xs : null,
        grid: model.grid,
      },
    });
    this.writeValues(result);
    return !(x.settled && y.settled);
  }

  series(result) {
    const stacked = this.spec.stack ? result.curves.filter((c) => c.curve.role === "part") : [];
    let base = null,
      foot = 0;
    return result.curves.map((c) => {
      const entry = {
        id: c.curve.id,
        label: c.curve.label,
        index: c.curve.index,
        role: c.curve.role,
        xs: c.xs,
        ys: c.ys,
        band: c.band,
        cursor: [c.x, c.y],
      };
      if (!stacked.includes(c)) return entry;
      entry.base = base || new Float64Array(c.ys.length);
      entry.ys = base = c.ys.map((y, i) => y + entry.base[i]);
      entry.cursor = [c.x, (foot += c.y)];
      return entry;
    });
  }

  // An axis keeps its ends while the data fill it well, and glides to new ones when they do not.
  axis(name, wanted, { log, min, max }) {
    const held = (this.ends ||= {})[name],
      f = log ? Math.log : (v) => v,
      g = log ? Math.exp : (v) => v;
    const grid = log ? Math.log(10) / 4 : 0;
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

  writeValues(result) {
    const { y } = this.spec;
    const live = new Set();
    for (const { curve, y: value, band, of } of result.curves) {
      const note = band
        ? `${curve.band_label || "measured"} ${formatValue(value * band[0], y.unit, 2)} to ` +
          `${formatValue(value * band[1], y.unit, 2)}`
        : of.split(":")[0];
      live.add(
        this.writeValue({
          key: curve.id,
          label: curve.label,
          text: formatValue(value, y.unit),
          note,
          swatch: `ex-c${curve.index} ex-${curve.role}`,
        }),
      );
    }
    for (const group of this.groups)
      live.add(
        this.writeValue({
          key: `g-${group.label}`,
          label: group.label,
          text: `${group.at.length} points`,
          swatch: `ex-c${group.index % 8}`,
          ring: true,
        }),
      );
    for (const { readout, value } of result.readouts)
      live.add(
        this.writeValue({
          key: `r-${readout.label}`,
          label: readout.label,
          text: formatValue(value, readout.unit, readout.digits),
        }),
      );
    for (const [key, row] of this.rows) {
      const hide = !live.has(key);
      if (row.node.hidden !== hide) row.node.hidden = hide;
    }
    const rows = [...live].join();
    if (rows !== this.fixedFor) this.fix(rows);
  }

  // The block of values keeps its height while they change, so that a frame lays out the block and
  // not the page.
  fix(rows) {
    const { values } = this;
    this.fixedFor = rows;
    values.style.height = "";
    values.classList.remove("is-fixed");
    // Asked after a layout that comes anyway, not in the middle of a frame.
    this.fixer ||= new ResizeObserver(() => {
      const width = values.clientWidth;
      if (!width || (values.style.height && width === this.fixedAt)) return;
      if (values.style.height) {
        requestAnimationFrame(() => this.fix(this.fixedFor));
        return;
      }
      this.fixedAt = width;
      values.style.height = `${values.offsetHeight}px`;
      values.classList.add("is-fixed");
    });
    this.fixer.unobserve(values);
    this.fixer.observe(values);
  }

  writeValue({ key, label: name, text, note, swatch, ring }) {
    let row = this.rows.get(key);
    if (!row) {
      const number = h("strong"),
        unit = h("span"),
        value = h("span", { class: "ex-value" }, number, unit),
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
        extra,
        node: h(
          "div",
          { class: "ex-row" },
          h("span", { class: "ex-name" }, swatch ? line : null, name),
          value,
          extra,
        ),
      };
      this.rows.set(key, row);
      this.values.append(row.node);
    }
    const cut = text.search(/[\s\u00a0]/);
    put(row.number, "text", cut < 0 ? text : text.slice(0, cut));
    put(row.unit, "text", cut < 0 ? "" : text.slice(cut));
    put(row.extra, "text", note || "");
    return key;
  }

  // Words and table come when the hand rests: they are not for every frame.
  say(later) {
    clearTimeout(this.sayLater);
    const speak = () => {
      put(this.words, "text", this.model.words(this.state));
      this.fillTable();
      const { values } = this;
      if (values.style.height && values.scrollHeight > values.clientHeight + 2)
        this.fix(this.fixedFor);
    };
    if (later) this.sayLater = setTimeout(speak, 600);
    else speak();
  }

  fillTable() {
    if (!this.details.open) return;
    const { head, body } = this.model.table(this.state);
    this.tableHost.replaceChildren(
      h(
        "table",
        null,
        h("thead", null, h("tr", null, ...head.map((text) => h("th", { scope: "col", text })))),
        h(
          "tbody",
          null,
          ...body.map((row) =>
            h(
              "tr",
              null,
              ...row.map((text, i) => h(i ? "td" : "th", { scope: i ? null : "row", text })),
            ),
          ),
        ),
      ),
    );
  }
}

// anywidget: the spec and each entry of the state are traits; ipywidgets drive those named in
// `driven`.
function render({ model, el }) {
  const spec = model.get("spec"),
    trait = (name) => name.replaceAll("-", "_"),
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
