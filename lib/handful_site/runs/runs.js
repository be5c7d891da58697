// The page's place for result files: reads what is dropped, and shows it beside its floor.  Nothing
// leaves the browser.  The numbers are own_server.js's, the words those of `handful runs`.
import { h, s, saveAs, watchWidth } from "../../handful_explorers/web/dom.js";
import { scale } from "../../handful_explorers/web/path.js";
import { tickValues } from "../../handful_explorers/web/plot.js";
import { typed } from "../../handful_explorers/web/typing.js";
import { formatTicks, formatValue, grouped, plural } from "../../handful_explorers/web/units.js";
import {
  atContext,
  bestMeasured,
  chipOf,
  choose,
  fit,
  formulasOf,
  heldBack,
  missedNear,
  pointsOf,
  predictor,
  REACH,
  ServerError,
  usualCache,
  usualLoad,
  usualStep,
} from "./own_server.js";
import { MOST_BYTES, read } from "./result_files.js";

const MOST_ROWS = 60,
  MOST_FILES = 20_000,
  MOST_SOURCES = 3;

/**
 * @typedef {import("./result_files.js").Run} Run
 * @typedef {import("./own_server.js").Data & { example: { name: string, text: string } }} Data
 * @typedef {import("./own_server.js").Point} Point
 * @typedef {import("./own_server.js").Fit} Fit
 * @typedef {import("./own_server.js").Change} Change
 * @typedef {typeof import("../../handful_explorers/web/scenario.js")} Scenario
 * @typedef {Pick<Scenario, "store" | "rows" | "label" | "lacks" | "readRent" | "rentProblem">} Page
 */

/** @param {number} seconds */
const time = (seconds) => formatValue(seconds, "s", 3);
/** @param {number} value */
const percent = (value) => formatValue(value, "%", 2);
/** @param {number} value */
const number = (value) => formatValue(value, "1", 3);

/** @param {number} value */
const tenth = (value) => Math.round(value * 10) / 10;
/**
 * @param {Fit} found
 * @param {Point} one
 */
const fitted = ({ factors: [reading, computing, fixed] }, one) =>
  one.memoryTime * reading + one.computeTime * computing + fixed;

// Each sentence once, with the runs that it is about.
/** @param {[string, string][]} pairs sentence and run */
export function gathered(pairs) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const [says, source] of pairs)
    if (says) {
      const known = found.get(says);
      if (known) known.push(source);
      else found.set(says, [source]);
    }
  return [...found].map(([says, who]) => {
    const more = who.length - MOST_SOURCES;
    return `${says} (${who.slice(0, MOST_SOURCES).join(", ")}${more > 0 ? ` and ${grouped(more)} more` : ""})`;
  });
}

// The points as a table for a spreadsheet.
/**
 * @param {Point[]} usable
 * @param {Fit | null} found
 */
export function csvOf(usable, found) {
  // A formula in a file's name must not run in a spreadsheet.
  const quoted = (/** @type {string} */ text) =>
    `"${(/^[=+@\t\r-]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  return [
    "run,batch,context,measured_s,floor_s,fit_s,memory_bandwidth_utilisation,flops_utilisation",
    ...usable.map((one) =>
      [
        quoted(one.run.source),
        one.batch,
        one.context,
        one.measured,
        one.floor,
        found ? fitted(found, one) : "",
        one.memoryTime / one.measured,
        one.computeTime / one.measured,
      ].join(","),
    ),
    "",
  ].join("\n");
}

/**
 * @param {string[]} head
 * @param {(string | Node)[][]} rows
 * @param {string} label
 */
const table = (head, rows, label) =>
  h(
    "div",
    { class: "runs-wide", tabindex: 0, role: "region", "aria-label": label },
    h(
      "table",
      null,
      h("thead", null, h("tr", null, ...head.map((text) => h("th", { scope: "col", text })))),
      h(
        "tbody",
        null,
        ...rows.map(([first, ...others]) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, first),
            ...others.map((cell) => h("td", null, cell)),
          ),
        ),
      ),
    ),
  );

/**
 * @param {string} title
 * @param {string[]} items
 */
const list = (title, items) =>
  items.length
    ? [h("h4", { text: title }), h("ul", null, ...items.map((text) => h("li", { text })))]
    : [];

/**
 * @param {string} word
 * @param {string} value
 * @param {string} more
 */
const line = (word, value, more) =>
  h(
    "div",
    null,
    h("dt", { text: word }),
    h("dd", null, h("strong", { text: value }), h("span", { text: more })),
  );

class Runs {
  /**
   * @param {HTMLElement} place
   * @param {Page} page
   */
  constructor(place, page) {
    this.page = page;
    this.data = /** @type {Data} */ (
      JSON.parse(place.querySelector("#runs-data")?.textContent ?? "")
    );
    this.formulas = formulasOf(this.data);
    /** @type {{ runs: Run[], problems: string[] }} */
    this.found = { runs: [], problems: [] };
    this.said = h("p", { class: "runs-said", role: "status" });
    this.results = h("div", { class: "runs-results" });
    this.readout = h("p", { class: "runs-readout", "aria-hidden": "true" });
    this.canvas = h("div", { class: "runs-plot" });
    this.stopWatching = () => {};
    this.picker = h("input", {
      type: "file",
      id: "runs-files",
      multiple: true,
      accept: ".json,.jsonl,.csv,.txt,.log,.tsv",
    });
    this.picker.addEventListener("change", () => this.take([...(this.picker.files ?? [])]));
    const zone = h(
      "div",
      { class: "runs-drop" },
      h("span", { text: "Drop result files here, or" }),
      this.picker,
      h("label", { for: "runs-files", text: "choose them" }),
      h("p", {
        text: "This page reads them in your browser: nothing is sent, and nothing is kept.",
      }),
      h("button", {
        type: "button",
        text: "Take the public run of this page",
        onclick: () => this.showExample(),
      }),
    );
    for (const name of ["dragenter", "dragover"])
      place.addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.add("is-over");
      });
    for (const name of ["dragleave", "drop"])
      place.addEventListener(name, () => zone.classList.remove("is-over"));
    place.addEventListener("drop", (event) => {
      event.preventDefault();
      this.take([...(event.dataTransfer?.files ?? [])]);
    });
    this.form = this.makeForm();
    place.append(zone, this.form, this.said, this.results);
    this.showExample();
  }

  makeForm() {
    const { rows } = this.page,
      changed = () => this.compute();
    /**
     * @param {string} name
     * @param {string} text
     * @param {HTMLElement} input
     */
    const field = (name, text, input) => {
      input.id = `runs-${name}`;
      input.addEventListener("change", changed);
      return h("div", null, h("label", { for: input.id, text }), input);
    };
    /** @param {{ name: string, label?: string }[]} options */
    const select = (options, /** @type {string} */ first) =>
      h(
        "select",
        null,
        h("option", { value: "", text: first }),
        ...options.map(({ name, label }) => h("option", { value: name, text: label ?? name })),
      );
    const widths = Object.keys(this.data.widths).map((name) => ({ name })),
      text = (/** @type {string} */ placeholder) =>
        h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder });
    this.hardware = select(rows.hardware, "as the files say");
    this.model = select(rows.model, "as the files say");
    this.precision = select(rows.precision, "as the files say");
    this.weights = select(widths, "in that precision");
    this.cache = select(widths, "in that precision");
    this.devices = text("as the files say");
    this.promise = text("such as 40 ms");
    this.rent = text("as published");
    this.context = text("such as 32k, or 1000+500");
    this.apart = h("input", { type: "checkbox", id: "runs-apart", onchange: changed });
    this.fault = h("p", { class: "runs-fault", role: "alert", hidden: true });
    return h(
      "form",
      { class: "runs-form", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
      field("hardware", "Chip", this.hardware),
      field("devices", "Chips for one copy", this.devices),
      field("model", "Model", this.model),
      field("precision", "Precision", this.precision),
      field("promise", "Time per token you promise", this.promise),
      field("context", "Context to predict at", this.context),
      field("rent", "Rent, $ per chip and hour", this.rent),
      h(
        "details",
        null,
        h("summary", { text: "Stored otherwise, or prompts on other chips" }),
        h(
          "div",
          null,
          field("weights", "Weights", this.weights),
          field("cache", "Caches", this.cache),
          h(
            "div",
            { class: "runs-check" },
            this.apart,
            h("label", { for: "runs-apart", text: "Other chips worked through the prompts" }),
          ),
        ),
      ),
      this.fault,
    );
  }

  // The public run, whose caches are of two bytes: no more of them fitted than do at that size.
  showExample() {
    this.show([this.data.example], "");
  }

  /** @param {File[]} files */
  async take(files) {
    this.picker.value = "";
    if (!files.length) return;
    if (files.length > MOST_FILES) {
      this.said.textContent = `At most ${grouped(MOST_FILES)} files at a time; these are ${grouped(files.length)}.`;
      return;
    }
    this.said.textContent = `Reading ${plural(files.length, "file")} …`;
    /** @type {{ name: string, bytes: Uint8Array }[]} */
    const taken = [];
    /** @type {string[]} */
    const failed = [];
    for (const file of files)
      try {
        // What is larger is cut just behind the limit, and the reader says that it is too large.
        const part = file.size > MOST_BYTES ? file.slice(0, MOST_BYTES + 1) : file;
        taken.push({ name: file.name, bytes: new Uint8Array(await part.arrayBuffer()) });
      } catch {
        failed.push(`${file.name} cannot be read: is it a folder?`);
      }
    this.show(taken, "own", failed);
  }

  /**
   * @param {({ name: string, text: string } | { name: string, bytes: Uint8Array })[]} files
   * @param {string} whose
   * @param {string[]} [failed]
   */
  show(files, whose, failed = []) {
    const { runs, problems } = read(files);
    this.found = { runs, problems: [...failed, ...problems] };
    // What was said of one's own server holds for the next of its files, and not for another's.
    const own = whose !== "";
    if (!own) {
      for (const input of [this.hardware, this.model, this.precision, this.weights, this.cache])
        if (input) input.value = "";
      if (this.devices) this.devices.value = "";
      if (this.apart) this.apart.checked = false;
      if (this.cache) this.cache.value = "bf16";
    } else if (!this.own && this.cache) this.cache.value = ""; // the example's
    this.own = own;
    this.files = files.length;
    this.compute();
  }

  // The values that were typed; a sentence where one will not do.
  typedValues() {
    /** @type {SymbolValues} */
    const overrides = {};
    let promise = 0,
      context = 0,
      prompts = -1; // tokens of prompt for each of the answer, where they are told
    const devices = this.devices?.value.trim(),
      rent = this.rent?.value.trim(),
      step = this.promise?.value.trim(),
      long = this.context?.value.trim();
    if (devices) {
      const value = Number(devices);
      if (!Number.isInteger(value) || value < 1 || value > 1e6)
        throw new ServerError("Chips are a whole number, 1 or more.");
      overrides.devices = value;
    }
    if (rent) {
      const value = this.page.readRent(rent.replace(/\s*(\/|per|an?)\s*(h|hr|hour)$/i, ""));
      if (!value) throw new ServerError(this.page.rentProblem(rent));
      overrides.device_price = value / 3600;
    }
    if (step) {
      const value = typed(step, { label: "Time per token", unit: "s", min: 1e-6, max: 100 });
      if (typeof value === "string") throw new ServerError(`Time per token: ${value}`);
      promise = value;
    }
    const [prompt, answer] = (long ?? "").split("+").map((part) => Number(part.trim() || NaN));
    if (answer) {
      if (!(prompt >= 0 && answer >= 1 && prompt + answer <= 1e8))
        throw new ServerError(
          "Context: a prompt and an answer are written as 1000+500, in tokens.",
        );
      context = prompt + answer / 2;
      prompts = prompt / answer;
    } else if (long) {
      const value = typed(long, { label: "Context", unit: "token", min: 1, max: 1e8 });
      if (typeof value === "string") throw new ServerError(`Context: ${value}`);
      context = value;
    }
    return { overrides, promise, context, prompts };
  }

  // The chip, model and precision of a run: what is chosen comes before what its file says.
  /** @param {Run} run */
  rowsOf(run) {
    const { rows, lacks, label } = this.page,
      data = this.data,
      hardware =
        this.hardware?.value || (run.hardware && chipOf(rows.hardware, run.hardware, data)),
      model = this.model?.value || (run.model && choose(rows.model, run.model, data));
    /** @type {[string, string, string][]} */
    const wanted = [
      [hardware, "chip", run.hardware],
      [model, "model", run.model],
    ];
    for (const [found, what, said] of wanted)
      if (!found)
        throw new ServerError(
          said
            ? `The file says “${said}”, which is no ${what} of this book: choose one above, or ` +
                "describe yours on the page “Your model, your hardware”."
            : `The file does not say its ${what}: choose it above.`,
        );
    const weights = this.weights?.value ?? "",
      whole = weights.startsWith("int"),
      usual =
        whole || lacks(hardware, this.page.rows.default.precision)
          ? "bf16"
          : this.page.rows.default.precision,
      said = run.precision && choose(rows.precision, run.precision, data),
      precision = this.precision?.value || said || usual,
      missing = lacks(hardware, precision);
    if (missing) throw new ServerError(missing);
    return {
      hardware,
      model,
      precision,
      weights,
      names: [label("hardware", hardware), label("model", model)],
    };
  }

  /** @param {SymbolValues} overrides */
  baseOf(overrides) {
    /** @type {Map<string, SymbolValues>} */
    const known = new Map(),
      { rows, store } = this.page,
      { widths } = this.data,
      cache = this.cache?.value ?? "";
    return (/** @type {Run} */ run) => {
      const key = JSON.stringify([
        run.hardware,
        run.model,
        run.precision,
        run.devices,
        usualCache(run),
      ]);
      let base = known.get(key);
      if (!base) {
        const { hardware, model, precision, weights } = this.rowsOf(run);
        base = store.values({ hardware, model, precision, context: 1 });
        if (weights) base.bytes_per_parameter = widths[weights];
        const kept = cache || usualCache(run);
        if (kept) {
          const shape = rows.model.find(({ name }) => name === model);
          base.kv_bytes_per_token = (shape?.kv_elements_per_token ?? 0) * widths[kept];
          base.window_cache_memory = (shape?.kv_window_elements ?? 0) * widths[kept];
        }
        if (run.devices) base.devices = run.devices;
        Object.assign(base, overrides);
        known.set(key, base);
      }
      return base;
    };
  }

  compute() {
    const { runs, problems } = this.found;
    if (this.fault) this.fault.hidden = true;
    let points, given;
    try {
      given = this.typedValues();
      if (runs.length)
        points = pointsOf(
          runs,
          this.baseOf(given.overrides),
          this.formulas,
          Boolean(this.apart?.checked),
        );
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      if (this.fault) {
        this.fault.textContent = error.message;
        this.fault.hidden = false;
      }
      if (given || !this.results.childNodes.length) {
        this.said.textContent = `${plural(runs.length, "run")} read; not compared yet.`;
        this.stopWatching();
        this.results.replaceChildren(...list("Not read", problems.slice(0, MOST_ROWS)));
      }
      return;
    }
    this.stopWatching();
    if (points) this.write(points, problems, given);
    else {
      this.said.textContent = problems.length ? "No run could be read." : "The files hold no run.";
      this.results.replaceChildren(...list("Not read", problems.slice(0, MOST_ROWS)));
    }
  }

  /**
   * @param {Point[]} points
   * @param {string[]} problems
   * @param {{ promise: number, context: number, prompts: number }} given
   */
  write(points, problems, given) {
    const usable = points.filter(({ whyNot }) => !whyNot),
      held = heldBack(points);
    /** @type {Fit | null} */
    let found = null;
    let why = "";
    try {
      found = fit(points);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      why = error.message;
    }
    /** @type {(Node | string)[]} */
    const parts = [];
    if (usable.length) {
      const first = usable[0],
        { names, precision, weights } = this.rowsOf(first.run),
        cache = this.cache?.value || usualCache(first.run) || precision,
        said = this.devices?.value || first.run.devices ? "," : " (nobody said how many),",
        over = usable.map((one) => one.measured / one.floor).sort((a, b) => a - b);
      this.said.textContent =
        `${this.own ? "" : "The public run: "}${plural(usable.length, "point")} of ` +
        `${names[1]} on ${formatValue(first.base.devices, "1", 6)} × ${names[0]}${said} weights in ` +
        `${weights || precision}, caches in ${cache}. The point in the middle takes ` +
        `${number(over[Math.floor(over.length / 2)])} times its floor.`;
      parts.push(this.canvas, this.readout);
      parts.push(...this.fitParts(found, why, usable, given));
      parts.push(this.pointsPart(usable, found));
    } else
      this.said.textContent = `${plural(points.length, "run")} read; none can be held against its floor.`;
    parts.push(
      ...list("To look at", held ? [held] : []),
      ...list("Not compared", gathered(points.map(({ whyNot, run }) => [whyNot, run.source]))),
      ...list("Not read", problems.slice(0, MOST_ROWS)),
      ...list(
        "Of the files",
        gathered(
          points.flatMap(({ run }) =>
            run.notes.map((note) => /** @type {[string, string]} */ ([note, run.source])),
          ),
        ),
      ),
    );
    this.results.replaceChildren(...parts);
    if (usable.length)
      this.stopWatching = watchWidth(this.canvas, (width) => this.draw(usable, found, width));
  }

  /**
   * @param {Fit | null} found
   * @param {string} why
   * @param {Point[]} usable
   * @param {{ promise: number, context: number, prompts: number }} given
   */
  fitParts(found, why, usable, { promise, context, prompts }) {
    if (!found) return [h("p", { text: why })];
    const { values, intervals } = found,
      { predicted, interval, knee, changes, room } = predictor(found, this.formulas),
      ends = (/** @type {string} */ name, /** @type {(value: number) => string} */ form) =>
        `${form(intervals[name][0])} to ${form(intervals[name][1])}`,
      middle = usualLoad(usable),
      there = context ? atContext(middle, context) : middle,
      usual = prompts < 0 ? there : { ...there, context, prompt_per_answer: prompts },
      loads = /** @type {[string, SymbolValues][]} */ ([
        ["now", usual],
        ["twice the batch", { ...usual, batch: 2 * usual.batch }],
        ["twice the context", atContext(usual, 2 * usual.context)],
      ]),
      longest = usable.reduce((high, one) => Math.max(high, one.context), 0),
      half = knee(usual),
      step = promise || usualStep(usable),
      most = usable.reduce((high, { batch }) => Math.max(high, batch), 0),
      missed = missedNear(usable, found, usual.context) - 1,
      { now, best } = changes(usual, step, REACH * most),
      priced = now.cost !== null;
    const parts = [
      h("h3", { text: "What the server adds" }),
      h(
        "dl",
        null,
        line(
          "Reading at",
          percent(values.memory_efficiency),
          `of the peak; ${ends("memory_efficiency", percent)}`,
        ),
        line(
          "Arithmetic, and all that grows with tokens, at",
          percent(values.compute_efficiency),
          `of the peak; ${ends("compute_efficiency", percent)}`,
        ),
        line("Fixed time of a step", time(values.fixed_time), ends("fixed_time", time)),
      ),
      h("p", { class: "runs-small", text: "The intervals hold nine times in ten." }),
      ...list("What the points do not settle", found.warnings),
      h("h3", { text: context ? "At that context" : "The load in the middle" }),
      h("p", {
        text:
          `${plural(Number(usual.batch.toPrecision(3)), "sequence")} of ` +
          `${formatValue(usual.context, "token", 3)}, ${number(usual.prompt_per_answer)} of prompt for ` +
          `each of the answer. The knee, where a batch gives half of ` +
          `what any could, is at ${number(Math.max(half, 1))} sequences at a time.`,
      }),
      table(
        ["", "A step", "Nine times in ten", "Tokens a second"],
        loads.map(([name, known]) =>
          room(known) < known.batch
            ? [name, `memory holds ${grouped(room(known))}`, "", ""]
            : [
                name,
                time(predicted(known)),
                interval(known).map(time).join(" to "),
                number(known.batch / predicted(known)),
              ],
        ),
        "Predictions for the load in the middle",
      ),
      Math.abs(missed) > 0.15
        ? h("p", {
            class: "runs-small",
            text:
              `Points measured at such contexts are ${percent(Math.abs(missed))} ` +
              `${missed > 0 ? "slower" : "faster"} than the fit: correct these by as much.`,
          })
        : null,
      usual.context > 1.2 * longest
        ? h("p", {
            class: "runs-small",
            text:
              `No context above ${formatValue(longest, "token", 3)} was measured: beyond it ` +
              "attention’s own arithmetic, which the floor leaves out, makes steps longer than " +
              "these.",
          })
        : null,
      h("h3", { text: `Within ${time(step)} a token` }),
      h("p", {
        class: "runs-small",
        text: promise
          ? `As you promise, at ${formatValue(usual.context, "token", 3)} of context.`
          : "Half as much again as the step in the middle; the field above sets what you promise.",
      }),
    ];
    if (!now.batch)
      return [
        ...parts.filter((part) => part !== null),
        h("p", { text: "Not one sequence keeps within that time, or memory does not hold it." }),
      ];
    const bound = Math.floor(REACH * most),
      tried = [now, ...best],
      row = (/** @type {Change} */ one) => [
        one.name,
        `${grouped(one.batch)}${one.batch >= bound ? "+" : ""}`,
        number(one.throughput),
        number(one.each),
        ...(priced ? [one.cost === null ? "–" : `$${number(one.cost * 1e6)}`] : []),
        one.assumes ? `${number(one.gain)}\u00a0× (${one.gainInterval.map(number).join("–")})` : "",
      ];
    const done = bestMeasured(usable, step),
      rate = done ? done.batch / done.measured : 0,
      known = done
        ? [
            [
              `measured (${formatValue(done.context, "token", 3)})`,
              number(done.batch),
              number(rate),
              number(rate / done.base.devices),
              ...(priced
                ? [`$${number((1e6 * done.base.devices * done.base.device_price) / rate)}`]
                : []),
              "",
            ],
          ]
        : [];
    return [
      ...parts,
      table(
        [
          "",
          "Batch",
          "Tokens a second",
          "A chip",
          ...(priced ? ["A million"] : []),
          "Gain, 9 in 10",
        ],
        [...known, ...tried.map(row)],
        "What the server could give, as it is and changed",
      ),
      Math.max(...[now, ...best].map(({ batch }) => batch)) > 1.2 * most
        ? h("p", {
            class: "runs-small",
            text:
              `No more than ${number(most)} sequences at a time were measured: beyond them these ` +
              "numbers carry the fit on, and a server may refuse, or wait for memory.",
          })
        : null,
      tried.some(({ batch }) => batch >= bound)
        ? h("p", {
            class: "runs-small",
            text:
              `+ stands where the promise would allow more than ${grouped(bound)} sequences, ` +
              `${REACH} times what was measured: gains between such lines say little.`,
          })
        : null,
      ...list(
        "Assumed",
        best.map(({ name, assumes }) => `${name}: ${assumes}`),
      ),
    ].filter((part) => part !== null);
  }

  /**
   * @param {Point[]} usable
   * @param {Fit | null} found
   */
  pointsPart(usable, found) {
    const sorted = [...usable].sort((a, b) => a.batch - b.batch),
      skip = Math.ceil(sorted.length / MOST_ROWS),
      shown = sorted.filter((_, k) => k % skip === 0);
    return h(
      "details",
      { class: "runs-points" },
      h("summary", { text: `The points, one by one (${grouped(sorted.length)})` }),
      h("p", {
        class: "runs-small",
        text:
          "Measured is the time per output token; the floor is the slower of reading weights and " +
          "caches and of arithmetic, prompts included, at peak rates. The percentages are what of " +
          "either the server reaches: its model bandwidth and model FLOPs utilisation." +
          (skip > 1
            ? ` ${shown.length} of ${grouped(sorted.length)} are shown; the file has all.`
            : ""),
      }),
      table(
        ["Run", "Batch", "Context", "Measured", "Floor", "Over", "Fit", "Reading", "Arithmetic"],
        shown.map((one) => [
          one.run.source,
          number(one.batch),
          formatValue(one.context, "1", 4),
          time(one.measured),
          time(one.floor),
          number(one.measured / one.floor),
          found ? time(fitted(found, one)) : "–",
          percent(one.memoryTime / one.measured),
          percent(one.computeTime / one.measured),
        ]),
        "The points",
      ),
      h("button", {
        type: "button",
        text: "Save all as a table (CSV)",
        onclick: () => saveAs(csvOf(sorted, found), "points.csv", "text/csv"),
      }),
    );
  }

  /**
   * @param {Point[]} usable
   * @param {Fit | null} found
   * @param {number} width
   */
  draw(usable, found, width) {
    const height = Math.min(420, Math.max(280, width * 0.6)),
      box = { left: 58, right: width - 8, top: 34, bottom: height - 44 },
      xs = usable.map(({ batch }) => batch),
      lows = usable.map(({ floor }) => floor),
      highs = usable.map(({ measured }) => measured);
    /** @param {number[]} values @returns {Pair} */
    const span = (values) => {
      let [low, high] = [Infinity, 0];
      for (const value of values) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      // At least a decade, so that a single load has an axis too.
      return [Math.min(low, high / 10) / 1.25, Math.max(high, low * 10) * 1.25];
    };
    const [x0, x1] = span(xs),
      [y0, y1] = span([...lows, ...highs]),
      x = scale([x0, x1], [box.left, box.right], true),
      y = scale([y0, y1], [box.bottom, box.top], true);
    let floors = "",
      dots = "",
      fits = "";
    const places = usable.map((one) => {
      const [px, py] = [tenth(x(one.batch)), tenth(y(one.measured))];
      floors += `M${tenth(px - 4)} ${tenth(y(one.floor))}h8`;
      dots += `M${px} ${py}h0`;
      if (found) fits += `M${tenth(px - 4)} ${tenth(y(fitted(found, one)))}l4 -4 4 4`;
      return [px, py];
    });
    const ticksOf = (/** @type {Pair} */ ends, /** @type {number} */ most) =>
      tickValues(ends[0], ends[1], true, most).filter((v) => v >= ends[0] && v <= ends[1]);
    const xTicks = ticksOf([x0, x1], width / 70),
      yTicks = ticksOf([y0, y1], height / 45),
      xTexts = formatTicks(xTicks, "1", true),
      yTexts = formatTicks(yTicks, "s", true),
      marker = s("circle", { r: 7, class: "runs-marker", cx: -20, cy: -20 });
    const drawing = s(
      "svg",
      {
        width,
        height,
        role: "img",
        "aria-label":
          "Time per output token over sequences that decode at a time: " +
          `${plural(usable.length, "point")}, each beside its floor${found ? " and the fit" : ""}.`,
      },
      ...xTicks.map((value, k) =>
        s(
          "g",
          null,
          s("line", {
            x1: x(value),
            x2: x(value),
            y1: box.top,
            y2: box.bottom,
            class: "runs-grid",
          }),
          s("text", { x: x(value), y: box.bottom + 17, "text-anchor": "middle", text: xTexts[k] }),
        ),
      ),
      ...yTicks.map((value, k) =>
        s(
          "g",
          null,
          s("line", {
            x1: box.left,
            x2: box.right,
            y1: y(value),
            y2: y(value),
            class: "runs-grid",
          }),
          s("text", { x: box.left - 7, y: y(value) + 4, "text-anchor": "end", text: yTexts[k] }),
        ),
      ),
      s("text", {
        x: (box.left + box.right) / 2,
        y: height - 8,
        "text-anchor": "middle",
        text: "Sequences that decode at a time",
      }),
      s("path", { d: floors, class: "runs-floor" }),
      s("path", { d: fits, class: "runs-fit" }),
      s("path", { d: dots, class: "runs-dot" }),
      marker,
    );
    const key = h(
      "p",
      { class: "runs-key" },
      h("strong", { text: "Time per output token" }),
      h("span", { class: "is-dot", text: "measured" }),
      h("span", { class: "is-floor", text: "its floor" }),
      found ? h("span", { class: "is-fit", text: "the fit" }) : null,
    );
    this.readout.textContent = "Point at a dot to read it.";
    drawing.addEventListener("pointermove", (event) => {
      const area = drawing.getBoundingClientRect(),
        [mx, my] = [event.clientX - area.left, event.clientY - area.top];
      let best = 0,
        least = Infinity;
      places.forEach(([px, py], k) => {
        const away = (px - mx) ** 2 + (py - my) ** 2;
        if (away < least) [best, least] = [k, away];
      });
      const { run, batch, context, measured, floor } = usable[best];
      marker.setAttribute("cx", String(places[best][0]));
      marker.setAttribute("cy", String(places[best][1]));
      this.readout.textContent =
        `${run.source}: ${number(batch)} × ${formatValue(context, "token", 3)} of context; ` +
        `measured ${time(measured)}, floor ${time(floor)}` +
        (found ? `, fit ${time(fitted(found, usable[best]))}.` : ".");
    });
    this.canvas.replaceChildren(key, drawing);
  }
}

/**
 * @param {HTMLElement} place
 * @param {Page} page
 */
export const start = (place, page) => new Runs(place, page);
