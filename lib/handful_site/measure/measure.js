// Measures the reader's computer and draws what came out; a click asks for this file, and worker.js
// does the work.
import { h } from "../../handful_explorers/web/dom.js";
import { compile } from "../../handful_explorers/web/tree.js";
import { formatValue, plural } from "../../handful_explorers/web/units.js";

const MISSING =
  "This browser has neither WebGPU nor WebAssembly with SIMD. A script alone handles one number " +
  "at a time, which would measure the script; the command below measures this computer.";

/**
 * @typedef {{ best: number, worst: number, runs: number }} Rate
 * @typedef {object} Found what worker.js posts
 * @property {boolean} [missing] whether the browser has nothing to measure with
 * @property {"gpu" | "processor"} kind
 * @property {string} name
 * @property {boolean} fused
 * @property {number} cores
 * @property {Rate} memory_bandwidth
 * @property {Rate} peak_flops
 * @property {[number, number][]} points batch and seconds
 * @typedef {typeof import("../../handful_explorers/web/custom_scenario.js")} Custom
 * @typedef {typeof import("../../handful_explorers/web/explorer.js").mount} Mount
 * @typedef {object} Page what this file shares with the page's own script
 * @property {typeof import("../../handful_explorers/web/scenario.js").store} store
 * @property {Custom["check"]} check
 * @property {Map<string, ReturnType<Mount>>} plots by the names of their figures
 * @property {Mount} mount
 */

// The batch where a flat and a proportional line, fitted to the times, meet; the twin of
// fitted_knee in measure.py.
/** @param {[number, number][]} points */
export function fittedKnee(points) {
  const batches = points.map(([batch]) => batch),
    low = Math.min(...batches),
    high = Math.max(...batches),
    steps = Math.ceil(300 * Math.log(high / low));
  let [least, found] = [Infinity, high];
  for (let i = steps; i >= 0; i--) {
    const knee = i === steps ? high : low * (high / low) ** (i / steps),
      logs = points.map(([batch, time]) => Math.log(time / Math.max(1, batch / knee))),
      middle = logs.reduce((a, b) => a + b) / logs.length,
      error = logs.reduce((total, log) => total + (log - middle) ** 2, 0);
    if (error < least) [least, found] = [error, knee];
  }
  return found;
}

// Two batches a doubling, to eight times the knee, within the plot: 1, 2, 3, 4, 6, 8, 12, …
/** @param {number} knee */
export function batchesAround(knee) {
  const end = Math.min(1024, Math.max(16, 8 * knee)),
    found = [1];
  for (let power = 2; power <= end; power *= 2) found.push(power, 1.5 * power);
  return found.filter((batch) => batch <= end);
}

// What was measured, and by how much the machine may be faster.
/** @param {Found} found */
function described({ kind, name, fused, cores }) {
  if (kind === "gpu")
    return (
      `This is your graphics processor${name ? ` (${name})` : ""}, through WebGPU, in 32-bit ` +
      "numbers. A page cannot reach the matrix units of those that have some, which do several " +
      "times as much in 16 bits and fewer; and on a large one, starting each piece of work costs " +
      "some per cent."
    );
  const most = 4 * cores * (fused ? 1 : 2);
  return (
    "This is one thread of your processor, through WebAssembly, which takes four 32-bit numbers " +
    `at a time${fused ? "" : ", and a multiply and an add one after the other"}. A program ` +
    `outside the browser may use ${cores > 1 ? `all ${cores} of them` : "no more"} and up to ` +
    `sixteen numbers at a time: at most ${most} times the arithmetic. ` +
    (cores > 1 ? "The threads share one memory, so that its figure is nearer the machine's." : "")
  );
}

/**
 * @param {string} name
 * @param {string} number
 * @param {string} [words]
 */
const line = (name, number, words = "") =>
  h(
    "div",
    { "data-found": name },
    h("dt", { text: name }),
    h("dd", null, h("strong", { text: number }), h("span", { text: words })),
  );

/** @param {Rate} rate */
const spread = ({ best, worst, runs }) =>
  `the best of ${plural(runs, "run")}; the worst came to ${formatValue(worst / best, "%", 2)} of it`;

/** @typedef {{ memory_bandwidth: number, peak_flops: number }} Rates */

// Whether a preset has the rates with which the plot came.
/**
 * @param {Preset} preset
 * @param {import("../../handful_explorers/web/explorer.js").Explorer["spec"]} spec
 */
const isRecorded = ({ set }, { controls }) =>
  controls.every(
    ({ name, value }) => !(name in set) || Number(Number(value).toPrecision(3)) === set[name],
  );

class Measurement {
  /**
   * @param {HTMLElement} place
   * @param {Page} page
   */
  constructor(place, page) {
    this.page = page;
    this.data = JSON.parse(place.querySelector("#measure-data")?.textContent ?? "");
    this.said = /** @type {HTMLElement} */ (place.querySelector("[role=status]"));
    this.meter = h("progress", { max: 1, value: 0, "aria-label": "Measuring", hidden: true });
    this.said.before(this.meter);
    this.results = h("div", { class: "measure-found", hidden: true });
    place.append(this.results);
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {(found: Found | null) => void} */
    this.ended = () => {};
    this.lines = h("dl");
    this.figure = `explorer-${this.data.explorer}`;
    /** @type {Rates} */
    this.rates = { memory_bandwidth: 0, peak_flops: 0 };
    this.knee = 0;
    /**
     * The dots that the plot came with.
     *
     * @type {PlotSpec["points"]}
     */
    this.recorded = undefined;
    const first = /** @type {HTMLButtonElement} */ (place.querySelector("button"));
    this.again = first;
    this.check = h("button", { type: "button", text: "Check the prediction" });
    this.runs(this.again, () => this.takeRates());
    this.runs(this.check, () => this.takeTimes());
    this.use = h("button", { type: "button", onclick: () => this.adopt() });
  }

  // A button that begins a measurement, and stops it while it runs.
  /**
   * @param {HTMLButtonElement} button
   * @param {() => Promise<void>} begin
   */
  runs(button, begin) {
    const others = [this.again, this.check].filter((one) => one !== button);
    button.addEventListener("click", async () => {
      if (this.worker) {
        this.stop("Stopped.");
        return;
      }
      const text = button.textContent;
      button.textContent = "Stop";
      for (const other of others) other.disabled = true;
      await begin();
      button.textContent = button === this.again && this.knee ? "Measure again" : text;
      for (const other of others) other.disabled = false;
    });
  }

  /** @param {string} text what is said then */
  stop(text) {
    this.worker?.terminate();
    this.worker = null;
    this.meter.hidden = true;
    this.said.textContent = text;
    this.ended(null);
  }

  // What the worker finds; nothing where it was stopped or could not, and then that is said.
  /**
   * @param {{ batches?: number[] }} request
   * @param {(step: number) => string} saying
   * @returns {Promise<Found | null>}
   */
  ask(request, saying) {
    const address = new URL(`./measure/worker.js?v=${MEASURE_WORKER_MARK}`, import.meta.url),
      worker = new Worker(address);
    this.worker = worker;
    this.meter.value = 0;
    this.meter.hidden = false;
    return new Promise((resolve) => {
      this.ended = resolve;
      worker.onerror = ({ message }) =>
        this.stop(`Measuring failed: ${message || "its script did not load"}.`);
      worker.onmessage = ({ data: { done, of, found, failed } }) => {
        if (failed) this.stop(`Measuring failed: ${failed}.`);
        else if (found?.missing) this.stop(MISSING);
        else if (found) {
          resolve(found);
          this.stop("");
        } else {
          this.meter.value = done / of;
          this.said.textContent = saying(done);
        }
      };
      worker.postMessage(request);
    });
  }

  async takeRates() {
    const found = await this.ask({}, (step) =>
      step ? "Arithmetic: multiplying and adding …" : "Memory: reading four layers in turn …",
    );
    if (!found) return;
    this.rates = {
      memory_bandwidth: found.memory_bandwidth.best,
      peak_flops: found.peak_flops.best,
    };
    const known = { ...this.rates, bytes_per_parameter: 4, flops_per_multiply_add: 2 },
      [ratio, knee] = ["ridge_intensity", "weight_uses_at_balance"].map((name) =>
        compile(this.data.trees[name])(known),
      );
    this.knee = knee;
    this.lines.replaceChildren(
      line("Memory", formatValue(known.memory_bandwidth, "B/s"), spread(found.memory_bandwidth)),
      line("Arithmetic", formatValue(known.peak_flops, "FLOP/s"), spread(found.peak_flops)),
      line("Arithmetic for each byte", formatValue(ratio, "FLOP/B")),
      line("Predicted knee", `batch ${formatValue(knee, "1")}`, "for weights of 32 bits"),
    );
    this.results.hidden = false;
    this.use.textContent = this.page.store.own.hardware
      ? "Make it the book’s chip, in place of yours"
      : "Make it the book’s chip";
    this.results.replaceChildren(
      this.lines,
      h("div", { class: "measure-bar" }, this.check, this.use),
      h("p", { text: described(found) }),
    );
    this.draw([]);
    this.said.textContent =
      "Measured, and drawn in the plot below. Where will the time of a layer begin to rise? " +
      "Look at the plot, then check.";
  }

  async takeTimes() {
    const found = await this.ask(
      { batches: batchesAround(this.knee) },
      () => "Timing a layer, batch after batch …",
    );
    if (!found) return;
    const { points } = found,
      knee = fittedKnee(points),
      [first] = points[0],
      [last] = points[points.length - 1],
      reached = first * 1.01 < knee && knee < last / 1.01;
    this.draw(points);
    this.lines.querySelector("[data-found='Measured knee']")?.remove();
    this.lines.append(
      reached
        ? line(
            "Measured knee",
            `batch ${formatValue(knee, "1")}`,
            `${formatValue(knee / this.knee, "1", 2)} times the prediction`,
          )
        : line("Measured knee", "none", `between batch ${first} and ${last}`),
    );
    this.said.textContent =
      "Checked: the dots in the plot are your computer’s times." +
      (points.some(([batch, time]) => time < 0.9 * this.roofline(batch))
        ? " Some of them lie below its own roofline, where no time can: the measurement of its two " +
          "rates was disturbed. Measure again."
        : "");
  }

  // The least time of a layer: what the plot's own curve makes of the two rates.
  /** @param {number} batch */
  roofline(batch) {
    const spec = /** @type {PlotSpec | undefined} */ (this.page.plots.get(this.figure)?.spec),
      curve = spec?.curves.find(({ role }) => role === "total");
    if (!spec || !curve) return 0;
    return compile(curve.tree)({ ...spec.given, ...this.rates, bytes_per_parameter: 4, batch });
  }

  // The page's plot goes over to these rates, with these times as its dots.
  /** @param {[number, number][]} at */
  draw(at) {
    const { plots, mount } = this.page,
      plot = plots.get(this.figure);
    if (!plot) return;
    const { host, spec, state } = plot;
    plot.destroy();
    this.recorded ??= spec.points;
    const when = { bytes_per_parameter: 4 };
    spec.points = at.length ? [{ label: "measured here", at, when }] : [];
    const next = mount(host, spec);
    plots.set(this.figure, next);
    next.reset.addEventListener("click", () => this.restore());
    for (const { preset, button } of next.presets)
      if (isRecorded(preset, spec)) button.addEventListener("click", () => this.restore(preset));
    next.set({ ...state, ...when });
    for (const control of spec.controls)
      if (control.type === "log" && control.name in this.rates) {
        const rate = this.rates[/** @type {keyof Rates} */ (control.name)],
          value = Number(rate.toPrecision(3));
        next.set(
          { [control.name]: Math.min(Math.max(value, control.min), control.max) },
          { glide: true },
        );
      }
  }

  // The plot goes back to the recorded machine: its rates with its dots.
  /** @param {Preset} [preset] whose button asked for it */
  restore(preset) {
    const { plots, mount } = this.page,
      plot = plots.get(this.figure);
    if (!plot) return;
    const { host, spec } = plot;
    plot.destroy();
    spec.points = this.recorded;
    const next = mount(host, spec);
    plots.set(this.figure, next);
    if (preset) next.apply(preset);
    const pressed = next.presets.find((one) => one.preset === preset);
    (pressed?.button ?? next.reset).focus();
    this.said.textContent =
      "The plot shows the recorded machine again. Check the prediction, or measure again, and it " +
      "shows yours.";
  }

  // Of the chip's fields those that were measured; its memory is what a browser tells of it.
  adopt() {
    const { store, check } = this.page,
      { deviceMemory = 8 } = /** @type {{ deviceMemory?: number }} */ (navigator),
      { definition } = check("hardware", {
        name: "This computer",
        bf16: Math.round(this.rates.peak_flops),
        memory_bandwidth: Math.round(this.rates.memory_bandwidth),
        memory_capacity: deviceMemory * 1e9,
        domain_devices: 1,
      });
    if (!definition) return;
    store.define("hardware", definition);
    this.said.replaceChildren(
      `Kept: the book is now computed for this computer, with ${deviceMemory} GB of memory (a ` +
        "page is not told how much there is). Change or forget it on the page ",
      h("a", { href: "your-model.html", text: "Your model, your hardware" }),
      ".",
    );
  }
}

/**
 * @param {HTMLElement} place
 * @param {Page} page
 */
export function start(place, page) {
  const { again } = new Measurement(place, page);
  again.click();
}
