// Holds a server's runs against the floor: the twin of own_server/points.py, which says what each part
// means.  The formulas come with the page, as trees.
import { compile } from "../../handful_explorers/web/tree.js";
import { formatValue } from "../../handful_explorers/web/units.js";

/**
 * @typedef {import("./result_files.js").Run} Run
 * @typedef {object} Data what the page has from own_server.py
 * @property {{ reading: Tree, arithmetic: Tree, weights: Tree, fits: Tree }} trees
 * @property {Record<string, number>} widths bytes of a number, by precision
 * @property {string} tail a pattern of last words of a model's name that change no shape
 * @property {Record<string, string>} same_as
 * @property {Record<string, [string, string | null]>} stored arithmetic and weights, by such a word
 * @property {Record<string, [string, string | null]>} published those of models, where not bf16
 * @typedef {object} Choices what the reader says of the server; empty where files say it
 * @property {string} hardware
 * @property {string} model
 * @property {string} precision
 * @property {string} weights
 * @property {string} cache
 * @property {boolean} apart other chips work through prompts
 * @property {SymbolValues} overrides
 * @typedef {object} Point as Point of own_server.py
 * @property {Run} run
 * @property {number} batch
 * @property {number} context
 * @property {number} promptPerAnswer
 * @property {SymbolValues} base values of symbols that are not of this point alone
 * @property {number} measured
 * @property {number} memoryTime
 * @property {number} computeTime
 * @property {number} floor
 * @property {string} whyNot
 * @typedef {object} Fit
 * @property {number[]} factors of reading and arithmetic, and the fixed time
 * @property {Record<string, number>} values
 * @property {Record<string, Pair>} intervals
 * @property {number} count
 * @property {string[]} warnings
 * @property {number[][]} draws
 * @property {number[]} residuals
 * @typedef {object} Change
 * @property {string} name
 * @property {string} assumes
 * @property {number} batch
 * @property {number} devices chips, with those that prompts need on chips of their own
 * @property {number} throughput
 * @property {number} each
 * @property {number | null} cost
 * @property {number} gain
 * @property {Pair | null} costInterval
 * @property {Pair} gainInterval
 */

const ALLOWED = 0.98,
  BELOW =
    "below its floor: fewer chips, other weights or a shorter context than stated, or several " +
    "tokens a step",
  GUESSED = "tokens are guessed ahead, so a step gives several";

export class ServerError extends Error {}

/**
 * The formulas of a page, compiled.
 *
 * @param {Data} data
 */
export function formulasOf({ trees }) {
  const [reading, arithmetic, weights, fits] = [
    trees.reading,
    trees.arithmetic,
    trees.weights,
    trees.fits,
  ].map(compile);
  /** @param {SymbolValues} known */
  const holds = (known) => weights(known) <= known.devices * known.memory_capacity;
  return {
    /**
     * Seconds of reading and of arithmetic, prompts included, at peak rates.
     *
     * @type {(known: SymbolValues) => Pair}
     */
    times: (known) => [reading(known), arithmetic(known) * (1 + known.prompt_per_answer)],
    holds,
    /** @param {SymbolValues} known */
    room: (known) => (holds(known) ? Math.floor(fits(known)) : 0),
  };
}

/** @typedef {ReturnType<typeof formulasOf>} Formulas */

// A name in small letters, without its owner, hyphens and Meta before a Llama.
/** @param {string} text */
function plain(text) {
  const name = text
    .slice(text.lastIndexOf("/") + 1)
    .toLowerCase()
    .replaceAll(/[-_]/g, " ")
    .replaceAll("quantized.", "quantized ");
  return name.startsWith("meta llama ") ? name.slice("meta ".length) : name;
}

/** @typedef {Pick<Data, "tail" | "same_as">} Names */
/**
 * @param {string} text
 * @param {Names} data
 */
function folded(text, { tail, same_as }) {
  const name = plain(text).replace(new RegExp(tail), "").replaceAll(" instruct v", " v");
  return Object.hasOwn(same_as, name) ? same_as[name] : name;
}

/**
 * The precision of a model's arithmetic, that of its weights where it is another, and whether its
 * "name" says so or it is as "published".  As `stored_precision` of scenario.py.
 *
 * @param {string} model
 * @param {Pick<Data, "tail" | "same_as" | "stored" | "published">} data
 * @param {(precision: string) => unknown} lacks whether the chip lacks the arithmetic
 * @returns {{ precision: string, weights: string, says: "name" | "published" }}
 */
export function storedPrecision(model, data, lacks) {
  const name = plain(model.trim()),
    said = new RegExp(data.tail).exec(name)?.[0].split(" ") ?? [],
    word = said.reverse().find((one) => Object.hasOwn(data.stored, one)),
    known = [name, folded(model.trim(), data)].find((one) => Object.hasOwn(data.published, one)),
    /** @type {[string, string | null]} */
    usual = known ? data.published[known] : ["bf16", null],
    [form, other] = word ? data.stored[word] : usual,
    says = word ? "name" : "published";
  return lacks(form)
    ? { precision: "bf16", weights: other ?? form, says }
    : { precision: form, weights: other ?? "", says };
}

/**
 * As storedPrecision, of the first of some names that says it, or else of the first.
 *
 * @param {string[]} models what is chosen, and what the file says; empty where nothing
 * @param {Pick<Data, "tail" | "same_as" | "stored" | "published">} data
 * @param {(precision: string) => unknown} lacks
 */
export function storedAs(models, data, lacks) {
  const found = models.filter(Boolean).map((one) => storedPrecision(one, data, lacks));
  return found.find(({ says }) => says === "name") ?? found[0];
}

/**
 * The name of the row that a name means, as scenario.choose finds it; nothing where there is none,
 * or several.
 *
 * @param {{ name: string }[]} rows
 * @param {string} text
 * @param {Names} data
 */
export function choose(rows, text, data) {
  const wanted = folded(text.trim(), data),
    names = rows.map(({ name }) => name),
    found = names.find((name) => folded(name, data) === wanted);
  if (found !== undefined) return found;
  const begun = names.filter((name) => folded(name, data).startsWith(`${wanted} `));
  return begun.length === 1 ? begun[0] : "";
}

/**
 * A chip out of a file's label: a runner may be called b200-dgxc_3.
 *
 * @param {{ name: string }[]} rows
 * @param {string} label
 * @param {Data} data
 */
export const chipOf = (rows, label, data) =>
  choose(rows, label, data) || choose(rows, label.split(/[-_]/)[0], data);

/**
 * The sequences that decode at a time and seconds a step, by Little's law; or what is missing.
 *
 * @param {Run} run
 * @returns {Pair | string}
 */
function loadOf(run) {
  const { concurrency, time_per_output_token: step, output_tokens: answer } = run;
  if (run.notes.some((note) => note.startsWith("speculative decoding"))) return GUESSED;
  if (step === null) return "no time per output token";
  if (answer === null) return "no length of answers (output_tokens)";
  const decoding = Math.max(answer - 1, 1) * step;
  let rate = run.request_throughput || (run.output_throughput && run.output_throughput / answer);
  if (!rate) {
    if (concurrency === null) return "no throughput and no requests in flight";
    rate = concurrency / (decoding + (run.time_to_first_token ?? 0));
  }
  const batch = rate * decoding;
  if (concurrency !== null && batch > 1.05 * concurrency)
    return (
      `${formatValue(batch, "1", 3)} sequences would decode at a time by its throughput, more ` +
      `than the ${formatValue(concurrency, "1", 3)} in flight: fields are mixed, or tokens come ` +
      "several at a time"
    );
  return [Math.max(batch, Math.min(1, concurrency || 1)), step];
}

/**
 * Each run beside its floor.  One whose chip or model is not known is left out, unless all are.
 *
 * @param {Run[]} runs
 * @param {(run: Run) => SymbolValues} baseOf values of symbols for the run's chip and model
 * @param {Formulas} formulas
 * @param {boolean} apart
 * @returns {Point[]}
 */
export function pointsOf(runs, baseOf, { times }, apart) {
  // One copy of a server's values for all of its points: a copy for each takes most of the time.
  /** @type {Map<SymbolValues, SymbolValues>} */
  const copies = new Map();
  /** @type {unknown[]} */
  const problems = [];
  let tried = 0;
  const points = runs.map((run) => {
    const load = loadOf(run),
      prompt = run.input_tokens ?? 0,
      answer = run.output_tokens || 1,
      point = {
        run,
        batch: NaN,
        context: prompt + answer / 2,
        // A request alone shares its steps with no prompt.
        promptPerAnswer: apart || (run.concurrency || 2) <= 1 ? 0 : prompt / answer,
        base: /** @type {SymbolValues} */ ({}),
        measured: NaN,
        memoryTime: NaN,
        computeTime: NaN,
        floor: NaN,
        whyNot: "",
      };
    if (typeof load === "string") {
      point.whyNot = load;
      return point;
    }
    tried += 1;
    try {
      point.base = baseOf(run);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      problems.push(error);
      point.whyNot = error.message;
      return point;
    }
    [point.batch, point.measured] = load;
    let known = copies.get(point.base);
    if (!known) copies.set(point.base, (known = { ...point.base }));
    known.context = point.context;
    known.batch = point.batch;
    known.prompt_per_answer = point.promptPerAnswer;
    [point.memoryTime, point.computeTime] = times(known);
    point.floor = Math.max(point.memoryTime, point.computeTime);
    if (point.measured < ALLOWED * point.floor) point.whyNot = BELOW;
    return point;
  });
  if (tried && problems.length === tried) throw problems[0];
  return points;
}
