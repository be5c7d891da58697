// Says what follows from a fit: the twin of own_server/predictions.py.
import { formatValue } from "../../handful_explorers/web/units.js";
import { DRAWS, ENDS, median, quantile } from "./fit.js";

/**
 * @typedef {import("./own_server.js").Run} Run
 * @typedef {import("./own_server.js").Point} Point
 * @typedef {import("./own_server.js").Fit} Fit
 * @typedef {import("./own_server.js").Change} Change
 * @typedef {import("./own_server.js").Formulas} Formulas
 */

export const REACH = 4; // times the largest batch that was measured
const FAR = 1e7,
  NEAR = 1.5,
  GAP = 1.1,
  NODE = 8,
  HELD = 0.6,
  SOME = 40,
  GRID = 200;

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
