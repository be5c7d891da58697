// The page's place for result files: reads what is dropped, and shows it beside its floor.  Nothing
// leaves the browser.  The numbers are own_server.js's, the words those of `handful runs`.
import { h, saveAs, watchWidth } from "../../handful_explorers/web/dom.js";
import { typed } from "../../handful_explorers/web/typing.js";
import { formatValue, grouped, plural } from "../../handful_explorers/web/units.js";
import { fit } from "./fit.js";
import { chipOf, choose, formulasOf, pointsOf, ServerError, storedAs } from "./own_server.js";
import { heldBack, predictor, unevenHeads, usualCache } from "./predictions.js";
import { asMarkdown, fitParts, gathered, list, MOST_ROWS, number, pointsPart } from "./report.js";
import { MOST_BYTES, read } from "./result_files.js";
import { draw, svgFile } from "./runs_plot.js";

const MOST_FILES = 20_000;

/**
 * @typedef {import("./result_files.js").Run} Run
 * @typedef {import("./own_server.js").Data & { example: { name: string, text: string } }} Data
 * @typedef {import("./own_server.js").Point} Point
 * @typedef {import("./own_server.js").Fit} Fit
 * @typedef {typeof import("../../handful_explorers/web/scenario.js")} Scenario
 * @typedef {Pick<Scenario, "store" | "rows" | "label" | "lacks" | "readRent" | "rentProblem">} Page
 */

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
    this.models = ""; // that the files name
    this.own = false; // the reader's files, and not the example
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
    const { runs, problems } = read(files),
      own = whose !== "";
    const models = [...new Set(runs.map(({ model }) => model).filter(Boolean))].sort().join("\n");
    this.found = { runs, problems: [...failed, ...problems] };
    // What was said of one's own server holds for the next of its files, and not for another's.
    const another = this.own && models && this.models && models !== this.models;
    if (!own || another) {
      for (const input of [this.hardware, this.model, this.precision, this.weights, this.cache])
        if (input) input.value = "";
      if (this.devices) this.devices.value = "";
      if (this.apart) this.apart.checked = false;
    }
    // The example's caches are of two bytes: no more of them fitted than do at that size.
    if (this.cache && !(own && this.own)) this.cache.value = own ? "" : "bf16";
    this.models = models;
    this.own = own;
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
      const value = typed(step, {
        label: "Time per token",
        unit: "s",
        min: 1e-6,
        max: 100,
        example: 0.03,
      });
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

  // What has to be known of a run, asked for at once.
  /**
   * @param {Run} run
   * @param {string} hardware
   * @param {string} model
   */
  ask(run, hardware, model) {
    const unknown = /** @type {[string, string, string][]} */ ([
        [hardware, "chip", run.hardware],
        [model, "model", run.model],
      ]).flatMap(([found, what, said]) =>
        found || !said ? [] : [`“${said}”, which is no ${what} of this book`],
      ),
      unsaid = [
        ...(hardware || run.hardware ? [] : ["its chip"]),
        ...(run.devices || this.devices?.value ? [] : ["how many chips served one copy"]),
        ...(model || run.model ? [] : ["its model"]),
      ];
    if (unknown.length)
      throw new ServerError(
        `The file says ${unknown.join(", and ")}: choose above, or describe yours on the page ` +
          "“Your model, your hardware”.",
      );
    if (unsaid.length)
      throw new ServerError(
        `The file does not say ${unsaid.join(", or ")}: fill in above what it was.`,
      );
  }

  // The precision of a run's arithmetic, that of its weights where it is another, and who says so.
  /**
   * @param {Run} run
   * @param {string} hardware
   */
  formOf(run, hardware) {
    const { rows, lacks } = this.page,
      { data } = this,
      chosen = this.weights?.value ?? "",
      without = (/** @type {string} */ form) => Boolean(lacks(hardware, form)),
      said =
        this.precision?.value || (run.precision && choose(rows.precision, run.precision, data)),
      stored = storedAs([this.model?.value ?? "", run.model], data, without),
      asChosen = chosen.startsWith("int") || (chosen && without(chosen)) ? "bf16" : chosen,
      precision = said || asChosen || stored.precision,
      missing = lacks(hardware, precision);
    if (missing) throw new ServerError(missing);
    if (said || chosen) return { precision, weights: chosen, says: "" };
    return {
      precision,
      weights: stored.weights,
      says: stored.says === "name" ? ", as its name says," : ", as published,",
    };
  }

  // The chip, model and precision of a run: what is chosen comes before what its file says.
  /** @param {Run} run */
  rowsOf(run) {
    const { rows, label } = this.page,
      { data } = this,
      hardware =
        this.hardware?.value || (run.hardware && chipOf(rows.hardware, run.hardware, data)),
      model = this.model?.value || (run.model && choose(rows.model, run.model, data));
    this.ask(run, hardware, model);
    const { precision, weights, says } = this.formOf(run, hardware);
    return {
      hardware,
      model,
      precision,
      weights,
      says,
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
   * @param {import("./report.js").Given} given
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
        { names, precision, weights, says } = this.rowsOf(first.run),
        cache = this.cache?.value || usualCache(first.run) || precision,
        over = usable.map((one) => one.measured / one.floor).sort((a, b) => a - b);
      this.said.textContent =
        `${this.own ? "" : "The public run: "}${plural(usable.length, "point")} of ` +
        `${names[1]} on ${formatValue(first.base.devices, "1", 6)} × ${names[0]}, weights in ` +
        `${weights || precision}${says || ","} caches in ${cache}` +
        `${this.cache?.value ? "" : ", as nobody says otherwise"}. The point in the middle takes ` +
        `${number(over[Math.floor(over.length / 2)])} times its floor.`;
      parts.push(this.canvas, this.readout);
      parts.push(...fitParts(found, why, usable, this.formulas, given));
      parts.push(this.savers(), pointsPart(usable, found));
    } else
      this.said.textContent = `${plural(points.length, "run")} read; none can be held against its floor.`;
    parts.push(
      ...list("To look at", [
        ...[held, usable.length ? unevenHeads(usable[0].base) : ""].filter(Boolean),
        ...gathered(points.map(this.otherModel, this)),
      ]),
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
    if (!usable.length) return;
    const predicted = found && predictor(found, this.formulas).predicted;
    this.stopWatching = watchWidth(this.canvas, (width) =>
      this.canvas.replaceChildren(
        ...draw(usable, found, predicted, given.promise, width, this.readout),
      ),
    );
  }

  // A sentence where a file names another model than was chosen.
  /**
   * @param {Point} one
   * @returns {[string, string]}
   */
  otherModel({ run }) {
    const chosen = this.model?.value;
    if (!chosen || !run.model || choose(this.page.rows.model, run.model, this.data) === chosen)
      return ["", run.source];
    return [
      `“${run.model}” is what files say, and ${this.page.label("model", chosen)} what was chosen.`,
      run.source,
    ];
  }

  savers() {
    const save = (/** @type {string} */ text, /** @type {() => void} */ onclick) =>
      h("button", { type: "button", text, onclick });
    return h(
      "p",
      { class: "runs-savers" },
      save("Save these words and tables", () =>
        saveAs(
          `${this.said.textContent}\n\n${asMarkdown(this.results)}`,
          "server.md",
          "text/markdown",
        ),
      ),
      save("Save the plot (SVG)", () => {
        const drawing = this.canvas.querySelector("svg");
        if (drawing) saveAs(svgFile(drawing), "server.svg", "image/svg+xml");
      }),
    );
  }
}

/**
 * @param {HTMLElement} place
 * @param {Page} page
 */
export const start = (place, page) => new Runs(place, page);
