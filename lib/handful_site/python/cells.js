// Code cells that can be changed and run in the page.  Python works in a worker: the page stays
// awake, and a cell that does not end is ended together with its worker.
const LIMIT = 120; // seconds that a cell may take
const SILENCE = 180; // seconds without a byte or a word after which loading has failed
const READY =
  "Python is ready: change a cell and press Ctrl+Enter. NumPy and plots are not part of it; a " +
  "cell that needs them says so.";

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @param {Node[]} inside
 * @returns {HTMLElementTagNameMap[Tag]}
 */
const make = (tag, properties = {}, ...inside) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...inside);
  return node;
};

/**
 * @typedef {{ kind: string, html?: string, text?: string }} Output of a cell
 * @typedef {{ box: HTMLTextAreaElement }} Cell
 * @typedef {{ got?: number, unpacked?: boolean }} Told of its loading
 */

// A worker that is asked for one run at a time.
class Python {
  /**
   * @param {URL} base
   * @param {(told: Told) => void} progress
   */
  constructor(base, progress) {
    this.base = base;
    this.watch = 0;
    /** @type {((outputs: Output[] | null) => void) | null} */
    this.done = null;
    /**
     * The end of the run that was asked for last.
     *
     * @type {Promise<void> | null}
     */
    this.last = null;
    this.worker = this.newWorker();
    this.ready = this.loaded(progress);
  }

  newWorker() {
    return new Worker(new URL("worker.js", this.base), { type: "module" });
  }

  /** @param {(told: Told) => void} [progress] */
  loaded(progress = () => {}) {
    const { worker } = this;
    return new Promise((/** @type {(value?: unknown) => void} */ resolve, reject) => {
      const fail = (/** @type {Error} */ error) => {
        clearTimeout(this.watch);
        worker.terminate();
        reject(error);
      };
      const wait = () => {
        clearTimeout(this.watch);
        this.watch = window.setTimeout(() => fail(new Error("no answer")), SILENCE * 1000);
      };
      wait();
      worker.onerror = (event) => fail(new Error(event.message || "its script did not load"));
      worker.onmessage = ({ data }) => {
        if (data.ready) {
          clearTimeout(this.watch);
          resolve();
        } else if (data.failed) fail(new Error(data.failed));
        else if (data.outputs) this.done?.(data.outputs);
        else {
          wait();
          progress(data);
        }
      };
    });
  }

  // The outputs of a cell, or null where it was stopped.
  /**
   * @param {string} code
   * @param {string[]} earlier
   */
  async run(code, earlier) {
    await this.ready;
    return new Promise((/** @type {(outputs: Output[] | null) => void} */ resolve) => {
      this.done = resolve;
      this.worker.postMessage({ run: true, code, earlier });
    }).finally(() => {
      this.done = null;
    });
  }

  stop() {
    const done = this.done;
    this.worker.terminate();
    this.worker = this.newWorker();
    this.ready = this.loaded();
    this.ready.catch(() => {}); // whoever runs next hears of it
    done?.(null);
  }
}

/** @param {Output} output */
function drawn(output) {
  if (output.kind === "html") {
    const node = make("div", { className: "output text_html" });
    node.innerHTML = output.html ?? "";
    return node;
  }
  return make(
    "div",
    { className: `output stream${output.kind === "error" ? " python-error" : ""}` },
    make("pre", { textContent: (output.text ?? "").replace(/\n$/, "") }),
  );
}

// The field in which a cell is changed.  Tab indents; after Escape it leaves the field.
/**
 * @param {string} code
 * @param {number} number
 * @param {() => void} run
 */
function field(code, number, run) {
  const box = make("textarea", {
    value: code,
    spellcheck: false,
    autocapitalize: "off",
    className: "python-code",
  });
  box.setAttribute("autocomplete", "off");
  box.setAttribute(
    "aria-label",
    `Code of cell ${number}. Control and Enter run it. Tab indents; Escape and then Tab leave ` +
      "the field.",
  );
  const grow = () => {
    box.rows = box.value.split("\n").length;
  };
  let leaving = false;
  box.addEventListener("input", grow);
  box.addEventListener("blur", () => {
    leaving = false;
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      run();
    } else if (
      event.key === "Tab" &&
      !event.shiftKey &&
      !leaving &&
      !event.ctrlKey &&
      !event.altKey
    ) {
      event.preventDefault();
      box.setRangeText("    ", box.selectionStart, box.selectionEnd, "end");
      grow();
    } else leaving = event.key === "Escape" || (leaving && event.key === "Shift");
  });
  grow();
  return box;
}

/**
 * @param {Element} root
 * @param {Element} input
 * @param {number} number
 * @param {Cell[]} cells
 * @param {Python} python
 * @returns {Cell}
 */
function open(root, input, number, cells, python) {
  const shown = [...input.children],
    code = (input.querySelector("pre")?.textContent ?? "").replace(/\n$/, "");
  const output =
    root.querySelector(".cell_output") ||
    root.appendChild(make("div", { className: "cell_output docutils container" }));
  const published = [...output.childNodes];
  const run = make("button", { type: "button", textContent: "Run" }),
    stop = make("button", { type: "button", textContent: "Stop", hidden: true });
  const back = make("button", { type: "button", textContent: "As it was", hidden: true }),
    said = make("span", { className: "python-said" });
  run.setAttribute("aria-label", `Run cell ${number}`);
  stop.setAttribute("aria-label", `Stop cell ${number}`);
  back.setAttribute("aria-label", `Cell ${number} as it was`);
  said.setAttribute("role", "status");

  async function execute() {
    if (run.hidden) return; // it runs, or waits, already
    const before = python.last;
    let timer = 0,
      hurried = false,
      free = () => {};
    python.last = new Promise((/** @type {(value: void) => void} */ resolve) => {
      free = resolve;
    });
    run.hidden = true;
    said.classList.remove("python-unseen");
    said.textContent = "Waiting for another cell…";
    await before;
    const begun = performance.now();
    stop.hidden = false;
    said.textContent = "Running…";
    try {
      await python.ready;
      timer = window.setTimeout(() => {
        hurried = true;
        python.stop();
      }, LIMIT * 1000);
      const outputs = await python.run(
        box.value,
        cells.slice(0, number - 1).map((cell) => cell.box.value),
      );
      if (outputs) {
        output.replaceChildren(...outputs.map(drawn));
        const wrong = outputs.find((one) => one.kind === "error");
        said.textContent = wrong
          ? (wrong.text ?? "")
          : `Done in ${((performance.now() - begun) / 1000).toFixed(1)} s.`;
        said.classList.toggle("python-unseen", Boolean(wrong)); // the output shows it already
      } else
        said.textContent =
          `${hurried ? `Stopped after ${LIMIT} s.` : "Stopped."} Python begins anew, without ` +
          "what cells had defined.";
    } catch (error) {
      said.textContent = "Python could not be started again; load the page anew.";
      console.warn(`Python in the page: ${/** @type {Error} */ (error).message}`);
    }
    clearTimeout(timer);
    free();
    run.hidden = false;
    stop.hidden = true;
    back.hidden = false;
  }
  const box = field(code, number, execute);
  run.addEventListener("click", execute);
  stop.addEventListener("click", () => python.stop());
  back.addEventListener("click", () => {
    box.value = code;
    box.dispatchEvent(new Event("input"));
    output.replaceChildren(...published);
    said.textContent = "As published.";
    said.classList.remove("python-unseen");
    back.hidden = true;
    box.focus();
  });
  box.addEventListener("input", () => {
    back.hidden = false;
  });
  input.removeAttribute("hidden"); // a cell that only names a formula: see formula_cells.py
  for (const node of shown) if (node instanceof HTMLElement) node.hidden = true;
  input.append(box, make("div", { className: "python-row" }, run, stop, back, said));
  return { box };
}

/**
 * @param {Element} bar
 * @param {URL} base
 */
export async function start(bar, base) {
  const button = bar.querySelector("button"),
    said = bar.querySelector("[role=status]") ?? make("span"),
    total = Number(document.documentElement.dataset.pythonSize);
  for (const [name, known] of [
    ["WebAssembly", "WebAssembly" in window],
    ["module workers", "Worker" in window],
    ["DecompressionStream", "DecompressionStream" in window],
  ])
    if (!known) throw new Error(`this browser has no ${name}`);
  const meter = make("progress", { max: total, value: 0 }),
    count = make("span", { className: "python-count" });
  meter.setAttribute("aria-label", "Python, loaded");
  said.textContent = "Loading Python.";
  bar.append(meter, count);
  const python = new Python(base, ({ got, unpacked }) => {
    if (unpacked) said.textContent = "Starting Python.";
    if (got) {
      meter.value = got / 1e6;
      count.textContent = `${(got / 1e6).toFixed(1)} of ${total} MB`;
    }
  });
  try {
    await python.ready;
  } finally {
    meter.remove();
    count.remove();
  }
  /** @type {Cell[]} */
  const cells = [];
  for (const root of document.querySelectorAll(".cell")) {
    const input = root.querySelector(".cell_input");
    if (input?.querySelector("pre")) cells.push(open(root, input, cells.length + 1, cells, python));
  }
  said.textContent = READY;
  if (document.activeElement === button) cells[0].box.focus();
  cells[0].box.scrollIntoView({ block: "center" }); // far above the button
  button?.remove();
}
