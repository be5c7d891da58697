// Holds a server's runs against the floor and fits what lies between: the twin of own_server.py,
// which says what each part means.  The formulas come with the page, as trees.
import { mulberry32 } from "../../handful_explorers/web/random.js";
import { compile } from "../../handful_explorers/web/tree.js";
import { formatValue, plural } from "../../handful_explorers/web/units.js";

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

const FEWEST = 4,
  DRAWS = 400,
  MOST_DRAWN = 1000,
  LEVEL = 0.9,
  ALLOWED = 0.98,
  FAR_OFF = 0.2,
  FAR = 1e7,
  SPREAD = 1.5,
  ALIKE = 1e-12,
  NEAR = 1.5,
  GAP = 1.1,
  NODE = 8,
  LIMIT = 0.995,
  HELD = 0.6,
  SOME = 40,
  GRID = 200,
  LEAST = [1, 1, 0];
export const REACH = 4; // times the largest batch that was measured
export const NAMES = ["memory_efficiency", "compute_efficiency", "fixed_time"];
const BELOW =
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

// --- the fit ---

// Products of the four columns with each other, in the order 00 01 02 03 11 12 13 22 23 33.
const PLACE = [
    [0, 1, 2, 3],
    [1, 4, 5, 6],
    [2, 5, 7, 8],
    [3, 6, 8, 9],
  ],
  CHOSEN = [[0, 1, 2], [0, 1], [0, 2], [1, 2], [0], [1], [2]];

/**
 * @param {ArrayLike<number>} total
 * @param {number[]} chosen
 * @returns {number[] | null}
 */
function solved(total, chosen) {
  const size = chosen.map((i) => Math.sqrt(total[PLACE[i][i]]));
  if (!size.every(Boolean)) return null;
  /** @type {number[][]} */
  const lower = [],
    /** @type {number[]} */
    right = [];
  for (const [row, i] of chosen.entries()) {
    /** @type {number[]} */
    const found = [];
    for (let column = 0; column <= row; column++) {
      let rest = 0;
      for (let k = 0; k < column; k++)
        rest += found[k] * (column < row ? lower[column][k] : found[k]);
      rest = total[PLACE[i][chosen[column]]] / (size[row] * size[column]) - rest;
      if (column < row) found.push(rest / lower[column][column]);
      else if (rest > ALIKE) found.push(Math.sqrt(rest));
      else return null;
    }
    lower.push(found);
    let taken = 0;
    for (let k = 0; k < row; k++) taken += found[k] * right[k];
    right.push((total[PLACE[i][3]] / size[row] - taken) / found[row]);
  }
  const out = [...right];
  for (let row = chosen.length - 1; row >= 0; row--) {
    let later = 0;
    for (let k = row + 1; k < chosen.length; k++) later += lower[k][row] * out[k];
    out[row] = (out[row] - later) / lower[row][row];
  }
  return out.map((value, row) => value / size[row]);
}

// The sums of rows of ten products, each so many times.  Written out: the bootstrap spends its time
// here, and locals are several times as fast as an array.
/**
 * @param {Float64Array} rows
 * @param {Float64Array} counts
 * @param {Float64Array} total
 */
function weighed(rows, counts, total) {
  let [a, b, c, d, e, f, g, h, i, j] = total.fill(0);
  for (let k = 0, at = 0; k < counts.length; k++, at += 10) {
    const times = counts[k];
    a += times * rows[at];
    b += times * rows[at + 1];
    c += times * rows[at + 2];
    d += times * rows[at + 3];
    e += times * rows[at + 4];
    f += times * rows[at + 5];
    g += times * rows[at + 6];
    h += times * rows[at + 7];
    i += times * rows[at + 8];
    j += times * rows[at + 9];
  }
  total.set([a, b, c, d, e, f, g, h, i, j]);
  return total;
}

/** @param {ArrayLike<number>} total */
function factorsOf(total) {
  let best = total[9],
    more = [0, 0, 0];
  for (const chosen of CHOSEN) {
    const found = solved(total, chosen);
    if (!found || Math.min(...found) < 0) continue;
    const error = total[9] - found.reduce((sum, v, k) => sum + v * total[PLACE[chosen[k]][3]], 0);
    if (error < best - ALIKE * total[9]) {
      best = error;
      more = [0, 0, 0];
      chosen.forEach((i, k) => (more[i] = found[k]));
    }
  }
  return more.map((value, i) => value + LEAST[i]);
}

/**
 * As NumPy's: straight between the two nearest.
 *
 * @param {number[] | Float64Array} values
 * @param {number} share
 */
function quantile(values, share) {
  const sorted = Float64Array.from(values).sort(),
    place = (sorted.length - 1) * share,
    low = Math.floor(place),
    high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
}
const ENDS = [(1 - LEVEL) / 2, (1 + LEVEL) / 2];

/** @param {number[]} values */
const median = (values) => quantile(values, 0.5);

/**
 * What the server adds to its floor.
 *
 * @param {Point[]} points
 * @returns {Fit}
 */
export function fit(points) {
  const used = points.filter((one) => !one.whyNot),
    n = used.length;
  if (n < FEWEST)
    throw new ServerError(
      `A fit needs ${FEWEST} points that can be used; there ${n === 1 ? "is" : "are"} ${n}.`,
    );
  const scale = [1, 1, median(used.map(({ measured }) => measured))],
    // three columns and what the least factors leave of 1, row after row
    shares = new Float64Array(4 * n);
  used.forEach(({ memoryTime, computeTime, measured }, k) => {
    const row = [memoryTime / measured, computeTime / measured, scale[2] / measured];
    shares.set(row, 4 * k);
    shares[4 * k + 3] = 1 - (row[0] + row[1]);
  });
  const weight = new Float64Array(n).fill(1),
    products = new Float64Array(10 * n),
    total = new Float64Array(10),
    once = new Float64Array(n).fill(1);
  const multiply = () => {
    for (let k = 0; k < n; k++) {
      const w = weight[k] ** 2;
      for (let i = 0, at = 10 * k; i < 4; i++)
        for (let j = i; j < 4; j++) products[at++] = w * shares[4 * k + i] * shares[4 * k + j];
    }
  };
  let factors = LEAST;
  for (let turn = 0; turn < 12; turn++) {
    multiply();
    factors = factorsOf(weighed(products, once, total));
    for (let k = 0; k < n; k++) {
      const at = 4 * k,
        fitted =
          shares[at] * factors[0] + shares[at + 1] * factors[1] + shares[at + 2] * factors[2];
      weight[k] = Math.max(Math.abs(Math.log(fitted)), 0.03) ** -0.5;
    }
  }
  multiply();
  // Many points are drawn in groups, every so many of them one group.
  const groups = Math.min(n, MOST_DRAWN),
    drawn = new Float64Array(10 * groups),
    counts = new Float64Array(groups);
  products.forEach((value, i) => (drawn[i % (10 * groups)] += value));
  /** @type {number[][]} */
  const draws = [];
  for (let d = 0; d < DRAWS; d++) {
    const draw = mulberry32(d);
    counts.fill(0);
    for (let k = 0; k < groups; k++) counts[Math.floor(draw() * groups)] += 1;
    draws.push(factorsOf(weighed(drawn, counts, total)).map((value, i) => value * scale[i]));
  }
  // The mean of the draws, and not the least squares, which lie at an edge where the points do not
  // tell the parts apart.
  factors = NAMES.map((_, i) => {
    const ends = ENDS.map((share) =>
        quantile(
          draws.map((one) => one[i]),
          share,
        ),
      ),
      mean = draws.reduce((sum, one) => sum + one[i], 0) / DRAWS;
    return Math.min(Math.max(mean, ends[0]), ends[1]);
  });
  const residuals = used.map(({ memoryTime, computeTime, measured }) =>
    Math.log(measured / (memoryTime * factors[0] + computeTime * factors[1] + factors[2])),
  );
  /** @type {Record<string, Pair>} */
  const intervals = {};
  /** @type {Record<string, number>} */
  const values = {};
  NAMES.forEach((name, i) => {
    const ends = ENDS.map((share) =>
      quantile(
        draws.map((one) => one[i]),
        share,
      ),
    );
    values[name] = i < 2 ? 1 / factors[i] : factors[i];
    intervals[name] = /** @type {Pair} */ (i < 2 ? ends.map((end) => 1 / end).reverse() : ends);
  });
  const warnings = [...undetermined(used, intervals), ...missed(used, residuals)];
  return { factors, values, intervals, count: n, warnings, draws, residuals };
}

/** @param {number} value */
const share = (value) => formatValue(value, "%", 2);

/**
 * @param {Point[]} used
 * @param {number[]} residuals
 */
function missed(used, residuals) {
  const far = residuals
    .map((r, k) => ({ r, one: used[k] }))
    .filter(({ r }) => Math.abs(r) > FAR_OFF)
    .sort((a, b) => Math.abs(b.r) - Math.abs(a.r));
  if (!far.length) return [];
  const told = far
    .slice(0, 3)
    .map(
      ({ r, one }) =>
        `${one.run.source}: ${share(Math.abs(Math.expm1(r)))} ${r > 0 ? "slower" : "faster"} ` +
        `(${formatValue(one.batch, "1", 3)} × ${formatValue(one.context, "token", 3)})`,
    );
  return [
    `${plural(far.length, "point")} of ${used.length} ${far.length === 1 ? "lies" : "lie"} far ` +
      `from the fit: ${told.join("; ")}${far.length > 3 ? " …" : ""}.  Do not carry the fit to ` +
      "such loads.",
  ];
}

/**
 * @param {Point[]} used
 * @param {Record<string, Pair>} intervals
 */
function undetermined(used, intervals) {
  const found = [];
  /** @param {"batch" | "context"} name */
  const ratio = (name) => {
    let [low, high] = [Infinity, 0];
    for (const one of used) {
      low = Math.min(low, one[name]);
      high = Math.max(high, one[name]);
    }
    return high / low;
  };
  if (ratio("batch") < 2)
    found.push(
      "All points are of much the same batch, so that fixed time and reading of weights cannot " +
        "be told apart: measure at 1 and at many requests in flight.",
    );
  if (ratio("context") < 1.5)
    found.push(
      "All points are of much the same context, where a step grows with the batch in one way " +
        "only: reading, arithmetic and fixed time cannot be told apart, and predictions hold at " +
        "this context.  Measure with short and with long prompts.",
    );
  const pairs = ["reading", "arithmetic"].map((what, k) => ({ what, ends: intervals[NAMES[k]] }));
  if (pairs.every(({ ends: [low] }) => low > LIMIT))
    found.push(
      "Both efficiencies come out at their limit, which no chip reaches: probably more chips " +
        `shared the model than the ${formatValue(used[0].base.devices, "1", 6)} stated, or its ` +
        "numbers are narrower.",
    );
  else
    for (const {
      ends: [low, high],
      what,
    } of pairs)
      if (high > SPREAD * low)
        found.push(
          `The efficiency of ${what} lies anywhere between ${share(low)} and ${share(high)}: the ` +
            "points do not determine it.",
        );
      else if (high > LIMIT)
        found.push(
          `The efficiency of ${what} comes out at its limit, which no chip reaches: the points do ` +
            "not determine it.  Take it as high, and no more.",
        );
  const [least, most] = intervals[NAMES[2]];
  if (!least)
    found.push(
      "The fixed time lies anywhere between 0, which no server reaches, and " +
        `${formatValue(most, "s", 3)}: the points do not determine it.  Measure one user and ` +
        "many, with short and with long prompts.",
    );
  if (used.length < 3 * FEWEST)
    found.push(`The fit is from ${plural(used.length, "point")}; more would narrow it.`);
  return found;
}

// --- what follows ---

// The measured point with most tokens a second and chip within a step.
/**
 * @param {Point[]} usable
 * @param {number} step
 * @returns {Point | null}
 */
export function bestMeasured(usable, step) {
  const each = (/** @type {Point} */ one) => one.batch / one.measured / one.base.devices;
  return usable
    .filter(({ measured }) => measured <= step)
    .reduce(
      (/** @type {Point | null} */ best, one) => (best && each(best) >= each(one) ? best : one),
      null,
    );
}

// A load at another context: answers as long as they are, and prompts that fill it.
/**
 * @param {SymbolValues} known
 * @param {number} context
 * @returns {SymbolValues}
 */
export function atContext(known, context) {
  let prompts = known.prompt_per_answer;
  if (prompts) prompts = Math.max(context / (known.context / (prompts + 0.5)) - 0.5, 0);
  return { ...known, context, prompt_per_answer: prompts };
}

// Measured over fitted of the middle one of the points at about a context.
/**
 * @param {Point[]} usable
 * @param {Fit} found
 * @param {number} context
 */
export function missedNear(usable, { factors: [reading, computing, fixed] }, context) {
  const near = usable
    .filter((one) => 1 / NEAR < one.context / context && one.context / context < NEAR)
    .map((one) => one.measured / (one.memoryTime * reading + one.computeTime * computing + fixed));
  return near.length ? median(near) : 1;
}

// A sentence where many more requests were in flight than decoded.
/** @param {Point[]} points */
export function heldBack(points) {
  /** @type {Point | null} */
  let most = null;
  for (const one of points)
    if (
      !one.whyNot &&
      one.batch < HELD * (one.run.concurrency ?? 0) &&
      (one.run.concurrency ?? 0) > (most?.run.concurrency ?? 0)
    )
      most = one;
  return most
    ? `Of ${formatValue(most.run.concurrency ?? 0, "1", 3)} requests in flight ` +
        `${formatValue(most.batch, "1", 2)} decoded at a time (${most.run.source}); the others ` +
        "waited for their prompts, or for a place: for memory, or for the server's limit of " +
        "sequences."
    : "";
}

// The ends of the interval of 90 %: one of the values each, as some may be infinite.
/**
 * @param {number[]} values
 * @returns {Pair}
 */
function endsOf(values) {
  const sorted = Float64Array.from(values).sort();
  return /** @type {Pair} */ (ENDS.map((end) => sorted[halfToEven((sorted.length - 1) * end)]));
}
/** @param {number} value */
function halfToEven(value) {
  const low = Math.floor(value);
  if (value - low !== 0.5) return Math.round(value);
  return low % 2 ? low + 1 : low;
}

/**
 * Predictions of a fit, and what a server could give.
 *
 * @param {Fit} found
 * @param {Formulas} formulas
 */
export function predictor({ factors, draws, residuals, count }, { times, holds, room }) {
  // What a fit leaves is less than what it misses on a new point, by its three numbers.
  const inflated = residuals.map((r) => Math.exp(r * Math.sqrt(count / Math.max(count - 3, 1))));
  /**
   * @param {SymbolValues} known
   * @param {number} [fixed] the share of the fixed time that is left
   */
  function predicted(known, fixed = 1) {
    const [reading, computing] = times(known);
    return reading * factors[0] + computing * factors[1] + factors[2] * fixed;
  }
  // The seconds of a step that each part of it takes, and what most of it goes to.
  /** @param {SymbolValues} known */
  function parts(known) {
    const bare = { ...known, prompt_per_answer: 0 },
      [reading, computing] = times(bare),
      [weights] = times({ ...bare, kv_bytes_per_token: 0, window_cache_memory: 0 }),
      answers = computing * factors[1],
      step = {
        weights: weights * factors[0],
        caches: (reading - weights) * factors[0],
        prompts: answers * known.prompt_per_answer,
        answers,
        fixed: factors[2],
      },
      sums = /** @type {[string, number][]} */ ([
        ["reading", step.weights + step.caches],
        ["arithmetic", step.prompts + answers],
        ["fixed time", step.fixed],
      ]),
      [binds] = sums.reduce((best, one) => (one[1] > best[1] ? one : best));
    return { step, binds };
  }
  // What files say of the time to the first token, and what a prompt takes by itself.
  /**
   * @param {Point[]} usable
   * @param {SymbolValues} known
   */
  function firstToken(usable, known) {
    const timed = usable.filter(
        ({ run, context }) =>
          run.time_to_first_token &&
          1 / NEAR < context / known.context &&
          context / known.context < NEAR,
      ),
      waits = timed.map(({ run }) => run.time_to_first_token ?? 0).sort((a, b) => a - b),
      away = (/** @type {Point} */ one) => Math.abs(Math.log(one.batch / known.batch)),
      prompts = known.prompt_per_answer,
      prompt = (known.context * prompts) / (prompts + 0.5);
    return {
      count: waits.length,
      low: waits.length ? waits[0] : NaN,
      median: waits.length ? median(waits) : NaN,
      high: waits.length ? waits[waits.length - 1] : NaN,
      nearest: timed.reduce(
        (/** @type {Point | null} */ best, one) => (best && away(best) <= away(one) ? best : one),
        null,
      ),
      prompt,
      alone:
        prompt >= 1 ? predicted({ ...known, batch: prompt, context: 0, prompt_per_answer: 0 }) : 0,
    };
  }
  /**
   * @param {SymbolValues} known
   * @returns {Pair}
   */
  function interval(known) {
    const [reading, computing] = times(known),
      steps = draws.map(
        (one, k) =>
          (one[0] * reading + one[1] * computing + one[2]) * inflated[k % inflated.length],
      );
    return /** @type {Pair} */ (ENDS.map((end) => quantile(steps, end)));
  }
  /** @param {SymbolValues} known */
  function knee(known) {
    const at = (/** @type {number} */ batch) => batch / predicted({ ...known, batch }),
      most = at(FAR);
    if (most > 0.5 * FAR * (1 / predicted({ ...known, batch: 1 }))) return Infinity;
    return bisected((batch) => at(batch) >= most / 2, 1, FAR);
  }
  /**
   * @param {SymbolValues} known
   * @param {number} step
   * @param {number} reach
   * @param {number} fixed
   */
  function largestBatch(known, step, reach, fixed) {
    const most = Math.min(room(known), reach),
      late = (/** @type {number} */ batch) => predicted({ ...known, batch }, fixed) > step;
    if (most < 1 || late(1)) return 0;
    return Math.floor(late(most) ? bisected(late, 1, most) : most);
  }
  // Tokens a second and chip within a step, for some draws of the bootstrap, relative to what the
  // fit itself gives in this way, for which `each` is exact.
  /**
   * @param {SymbolValues} known
   * @param {number} step
   * @param {number} reach
   * @param {number} fixed
   * @param {number} each
   * @param {number} elsewhere
   */
  function drawn(known, step, reach, fixed, each, elsewhere) {
    const most = Math.min(room(known), reach),
      some = draws.filter((_, k) => k % (DRAWS / SOME) === 0);
    if (most < 1 || !holds(known)) return some.map(() => 0);
    const batches = Array.from({ length: GRID }, (_, k) =>
        Math.exp((Math.log(most) * k) / (GRID - 1)),
      ),
      pairs = batches.map((batch) => times({ ...known, batch })),
      prompts = elsewhere * times({ ...known, batch: 1 })[1]; // of one sequence
    const [own, ...others] = [factors, ...some].map(([a, b, c]) => {
      const steps = pairs.map(([reading, computing]) => reading * a + computing * b + c * fixed);
      let late = 0;
      while (late < GRID && steps[late] <= step) late++;
      if (late === 0) return 0;
      let batch = batches[GRID - 1];
      if (late < GRID) {
        const part = Math.log(step / steps[late - 1]) / Math.log(steps[late] / steps[late - 1]);
        batch = batches[late - 1] * (batches[late] / batches[late - 1]) ** part;
      }
      return batch / (Math.min(step, steps[GRID - 1]) + batch * prompts * b);
    });
    return others.map((one) => (own ? (each * one) / own : 0));
  }
  /**
   * @param {string} name
   * @param {string} assumes
   * @param {SymbolValues} known
   * @param {number} step
   * @param {number} reach
   * @param {{ now: Change, drawn: number[] } | null} before
   * @param {number} [fixed]
   * @param {number} [elsewhere] tokens of prompt for each of an answer that chips of their own read
   */
  function change(name, assumes, known, step, reach, before, fixed = 1, elsewhere = 0) {
    const batch = holds(known) ? largestBatch(known, step, reach, fixed) : 0,
      taken = batch ? predicted({ ...known, batch }, fixed) : Infinity,
      throughput = batch / taken,
      prompts = elsewhere && batch ? elsewhere * times({ ...known, batch })[1] * factors[1] : 0,
      devices = known.devices * (1 + prompts / taken),
      price = known.device_price,
      cost = price && throughput ? (devices * price) / throughput : null,
      each = throughput / devices,
      found = drawn(known, step, reach, fixed, each, elsewhere);
    let gain = 1,
      gainInterval = /** @type {Pair} */ ([1, 1]);
    if (before) {
      const was = before.drawn;
      gain = before.now.each ? each / before.now.each : 0;
      gainInterval = endsOf(found.map((one, k) => (was[k] ? one / was[k] : 0)));
    }
    const costInterval =
      cost === null ? null : endsOf(found.map((one) => (one ? price / one : Infinity)));
    return {
      drawn: found,
      made: {
        ...{ name, assumes, batch, devices, throughput, each, cost, gain },
        ...{ costInterval, gainInterval },
      },
    };
  }
  /**
   * The server as it is, and the changes that help most within a time a token.
   *
   * @param {SymbolValues} known
   * @param {number} step
   * @param {number} [reach] the most sequences at a time of which anything is said
   */
  function changes(known, step, reach = FAR) {
    const { made: now, drawn: was } = change("as it is", "", known, step, reach, null),
      byte = known.bytes_per_parameter;
    /** @type {[string, string, SymbolValues, number?, number?][]} */
    const tried = [
      [
        `weights in ${formatValue(4 * byte, "1")} bits instead of ${formatValue(8 * byte, "1")}`,
        "the same efficiencies, arithmetic at the same rate, and answers as good",
        { ...known, bytes_per_parameter: byte / 2 },
      ],
      [
        "caches in half the bytes",
        "the same efficiencies, and answers as good",
        {
          ...known,
          kv_bytes_per_token: known.kv_bytes_per_token / 2,
          window_cache_memory: known.window_cache_memory / 2,
        },
      ],
      [
        "half the fixed time of a step",
        "what the server does between steps, and in each layer whatever its size, is halved",
        known,
        0.5,
      ],
      [
        "twice the chips for one copy of the model",
        "reading and arithmetic shared by twice as many, the same fixed time; more messages " +
          "between chips are not counted",
        { ...known, devices: 2 * known.devices },
      ],
    ];
    if (known.devices > 1)
      tried.push([
        "half the chips for one copy of the model",
        "reading and arithmetic shared by half as many, the same fixed time",
        { ...known, devices: known.devices / 2 },
      ]);
    if (known.prompt_per_answer)
      tried.push([
        "prompts on chips of their own",
        "as many more chips as their arithmetic fills at the same efficiency; what those read, " +
          "and the caches that they send, is not counted",
        { ...known, prompt_per_answer: 0 },
        1,
        known.prompt_per_answer,
      ]);
    const best = tried
      .map(
        ([name, why, values, fixed, elsewhere]) =>
          change(name, why, values, step, reach, { now, drawn: was }, fixed, elsewhere).made,
      )
      .filter(({ gain }) => gain > 1.01)
      .sort((a, b) => b.gain - a.gain)
      .slice(0, 3);
    return { now, best };
  }
  return { predicted, interval, parts, firstToken, knee, changes, room };
}

/**
 * Where a condition that holds from some point on begins to hold, from below.
 *
 * @param {(value: number) => boolean} isBeyond
 * @param {number} low
 * @param {number} high
 */
function bisected(isBeyond, low, high) {
  if (isBeyond(low)) return low;
  for (let turn = 0; turn < 60; turn++) {
    const middle = Math.sqrt(low * high);
    if (isBeyond(middle)) high = middle;
    else low = middle;
  }
  return low;
}

/**
 * The points in groups, the shortest first: lengths in one go on without a gap.
 *
 * @param {Point[]} some
 * @param {(run: Run) => number} length
 */
function alike(some, length) {
  /** @type {Point[][]} */
  const groups = [];
  let last = 0;
  for (const one of [...some].sort((a, b) => length(a.run) - length(b.run))) {
    if (!groups.length || length(one.run) > GAP * last) groups.push([]);
    groups[groups.length - 1].push(one);
    last = length(one.run);
  }
  return groups;
}

/**
 * The values of the point in the middle by batch, of the lengths that most points have.
 *
 * @param {Point[]} usable
 * @returns {SymbolValues}
 */
export function usualLoad(usable) {
  const groups = alike(usable, (run) => 1 + (run.input_tokens ?? 0)).flatMap((some) =>
      alike(some, (run) => run.output_tokens || 1),
    ),
    size = groups.reduce((high, some) => Math.max(high, some.length), 0),
    most = groups.filter((some) => some.length === size),
    sorted = most[Math.floor(most.length / 2)].sort((a, b) => a.batch - b.batch),
    { base, batch, context, promptPerAnswer } = sorted[Math.floor(sorted.length / 2)];
  return { ...base, batch, context, prompt_per_answer: promptPerAnswer };
}

// A sentence where the chips of a node cannot share a model's heads evenly.
/** @param {SymbolValues} known */
export const unevenHeads = ({ attention_heads: heads, devices: chips }) =>
  chips > NODE || heads % chips === 0
    ? ""
    : `${formatValue(heads, "1", 6)} heads do not divide among ${formatValue(chips, "1", 6)} ` +
      "chips, and engines that share every layer refuse that: are the chips counted right?";

// The precision of caches that a run's server has unless told.
/** @param {Run} run */
export const usualCache = ({ tool }) =>
  tool === "InferenceX" || tool === "MLPerf Inference" ? "" : "bf16";

/** @param {Point[]} usable */
export const usualStep = (usable) => 1.5 * median(usable.map(({ measured }) => measured));
