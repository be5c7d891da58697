// What each benchmark of LLM servers calls its numbers: the twin of
// handful_evidence/result_tools.py, function by function, with which it shares its tables.
//
// A reader takes the fields of one result and returns the values of a run in SI units, by name;
// what else should be known it adds to the notes of the fields.

import TABLES from "../../handful_evidence/result_files.json";
import { grouped, plural } from "../../handful_explorers/web/units.js";
import { general, percent, strip } from "./python_text.js";

/**
 * @typedef {Record<string, unknown>} Named an object of a file, of which nothing is known
 * @typedef {Record<string, number | string | null>} Values of a run, by name
 * @typedef {{ tool: string, signs: string[][], read: (f: Fields) => Values, needs: string }} Kind
 */

const LONGEST = TABLES.most.shown; // characters of a name

// What is wrong with a file or a run, in one sentence.
export class Unreadable extends Error {}

// A file, or a part of one, that no reader knows.
export class UnknownKind extends Unreadable {}

// What a part holds -------------------------------------------------------------------------------

// A key may be called as something that every object has.
/**
 * @param {Named} values
 * @param {string} key
 */
export const at = (values, key) => (Object.hasOwn(values, key) ? values[key] : undefined);
/**
 * @param {unknown} value
 * @returns {value is Named}
 */
export const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// Fields of a result by name, with where they stand; notes are shared by a run's parts.
export class Fields {
  /**
   * @param {Named} values
   * @param {string} [where]
   * @param {string[]} [notes]
   */
  constructor(values, where = "", notes = []) {
    this.values = values;
    this.where = where;
    this.notes = notes;
  }

  // The object of that name, or an empty one.
  /** @param {string} key */
  part(key) {
    const value = at(this.values, key) ?? {};
    if (!isObject(value))
      throw new Unreadable(`${this.where}${key} must be an object in braces; got ${told(value)}.`);
    return new Fields(value, `${this.where}${key}.`, this.notes);
  }

  // A finite number, 0 or more, or null.
  /** @param {string} key */
  number(key) {
    const value = at(this.values, key) ?? null;
    if (value === null) return null;
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
      throw new Unreadable(
        `${this.where}${key} must be a finite number, 0 or more; got ${told(value)}.`,
      );
    return value + 0; // no "-0"
  }

  // A whole number from `least` to a billion, or null; text of digits counts.
  /**
   * @param {string} key
   * @param {number} [least]
   */
  count(key, least = 1) {
    const found = at(this.values, key) ?? null,
      isDigits = typeof found === "string" && /^[0-9]{1,9}$/.test(strip(found)),
      value = isDigits ? Number(strip(found)) : found;
    if (value === null) return null;
    if (typeof value !== "number" || !(value >= least && value <= 1e9) || !Number.isInteger(value))
      throw new Unreadable(
        `${this.where}${key} must be a whole number from ${least} to a billion; ` +
          `got ${told(value)}.`,
      );
    return value;
  }

  // A text as it can be shown, empty where there is none.
  /** @param {string} key */
  text(key) {
    const value = at(this.values, key) ?? null;
    if (value === null) return "";
    if (typeof value !== "string")
      throw new Unreadable(`${this.where}${key} must be a text; got ${told(value)}.`);
    return shown(value);
  }

  // The mean of a time, or the median with a note, in the unit of the file.
  /** @param {string} name */
  mean(name) {
    const mean = this.number(`mean_${name}`);
    if (mean !== null) return mean;
    const median = this.number(`median_${name}`);
    if (median !== null) this.notes.push(noteMedian(`${this.where}${name}`));
    return median;
  }
}

export const FOR_THE_MEAN = "the median stands for the mean, which is not given";

// The note that a value is the median of its kind.
/** @param {string} name */
const noteMedian = (name) => `${name}: ${FOR_THE_MEAN}`;

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/u;

// An untrusted text as it can be shown, in one line.
/**
 * @param {string} text
 * @param {number} [most]
 */
export function shown(text, most = LONGEST) {
  const stripped = strip(text);
  if (stripped.length <= most && !HIDDEN.test(stripped)) return stripped;
  const letters = [...stripped.slice(0, 2 * (most + 1))].slice(0, most + 1);
  const spelled = letters.flatMap((letter) =>
    HIDDEN.test(letter)
      ? [...`\\u${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`]
      : [letter],
  );
  return (spelled.length <= most ? spelled : [...spelled.slice(0, most - 1), "…"]).join("");
}

// What stood where something else is allowed, in a few words.
/** @param {unknown} value */
export function told(value) {
  if (typeof value === "string") return `the text “${shown(value, 40)}”`;
  if (typeof value === "boolean" || value === null) return String(value);
  if (typeof value !== "number") return Array.isArray(value) ? "a list" : "an object";
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? general(value) : "infinity, or a number too large";
}

/** @type {Record<string, string[]>} */
const COLUMNS = TABLES.columns;
export const TEXTS = new Set(TABLES.texts);
export const COLUMN_NAMES = new Map(
  Object.entries(COLUMNS).flatMap(([name, columns]) => columns.map((column) => [column, name])),
);

// The tools ---------------------------------------------------------------------------------------

/** @param {number | null} value */
const ms = (value) => (value === null ? null : value / 1000);
/**
 * @param {number | null} one
 * @param {number | null} other
 */
const over = (one, other) => (one === null || !other ? null : one / other);

// Whether two numbers differ by at most a share of the larger; as math.isclose.
/**
 * @param {number} a
 * @param {number} b
 * @param {number} share
 */
function areClose(a, b, share) {
  if (a === b) return true;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(b - a) <= share * Math.max(Math.abs(a), Math.abs(b));
}

// What the JSON of vLLM's serving benchmark and of SGLang's have in common.
/**
 * @param {Fields} f
 * @returns {Values}
 */
function serving(f) {
  const completed = f.number("completed"),
    duration = f.number("duration");
  if (completed === 0)
    throw new Unreadable("completed is 0: no request was answered, so nothing was measured.");
  noteFailures(f, completed);
  const answers = f.number("total_output_tokens"),
    throughput = outputThroughput(f, over(answers, duration)),
    requests = f.number("request_throughput");
  const found = {
    input_tokens: over(f.number("total_input_tokens"), completed),
    output_tokens: over(answers, completed),
    time_per_output_token: ms(f.mean("tpot_ms")),
    time_to_first_token: ms(f.mean("ttft_ms")),
    output_throughput: throughput,
    request_throughput: requests ?? over(completed, duration),
    ...added(f),
  };
  const gaps = ms(f.number("mean_itl_ms")),
    tpot = found.time_per_output_token;
  if (gaps && tpot && gaps > 1.5 * tpot)
    f.notes.push(
      `mean_itl_ms is ${general(gaps / tpot, 2)} times the time per output token: a chunk of the ` +
        "stream holds several tokens, by speculation or by a stream interval",
    );
  return found;
}

/**
 * @param {Fields} f
 * @param {number | null} completed
 */
function noteFailures(f, completed) {
  const failed = f.number("failed"),
    sent = f.number("num_prompts");
  if (failed) f.notes.push(`${requestsOf(failed)} failed`);
  else if (sent && completed && completed < sent)
    f.notes.push(`only ${general(completed)} of ${general(sent)} requests were answered`);
}

/** @param {number} count */
const requestsOf = (count) => `${general(count)} ${count === 1 ? "request" : "requests"}`;

/**
 * @param {Fields} f
 * @param {number | null} byTotals
 */
function outputThroughput(f, byTotals) {
  const throughput = f.number("output_throughput");
  if (throughput === null) return byTotals;
  if (byTotals && !areClose(throughput, byTotals, 0.02))
    f.notes.push(
      `output_throughput is ${general(throughput, 4)}, but total_output_tokens over duration ` +
        general(byTotals, 4),
    );
  return throughput;
}

// The hardware, precision and chips that whoever ran it added to a result.
/** @param {Fields} f */
function added(f) {
  /** @type {Values} */
  const found = {};
  for (const name of ["hardware", "precision", "devices"]) {
    const isCount = name === "devices";
    for (const key of COLUMNS[name]) {
      const value = at(f.values, key);
      if (typeof value !== "string" && !(isCount && typeof value === "number")) continue;
      found[name] = isCount ? f.count(key) : f.text(key);
      break;
    }
  }
  return found;
}

// The requests a second that were to be sent; infinity where all were sent at once.
/** @param {Fields} f */
function rateOf(f) {
  const value = at(f.values, "request_rate") ?? null;
  if (value === null) return null;
  if (typeof value === "string" && ["inf", "infinity"].includes(value.toLowerCase()))
    return Infinity;
  if (typeof value !== "number" || !(value > 0))
    throw new Unreadable(
      `${f.where}request_rate must be a number above 0, or inf for all at once; ` +
        `got ${told(value)}.`,
    );
  return value;
}

// The cap on requests in flight, with a note where there is none.
/** @param {Fields} f */
function capOf(f) {
  const cap = f.number("max_concurrency"),
    sent = f.number("num_prompts"),
    rate = rateOf(f);
  if (cap === null) {
    const how =
      rate !== null && Number.isFinite(rate)
        ? `requests came at ${general(rate)} a second`
        : "all requests were sent at once, and the server chose its batch";
    f.notes.push(`no cap on concurrency: ${how}`);
  } else if (sent && sent < cap) {
    f.notes.push(
      `max_concurrency is ${general(cap)}, but only ${general(sent)} requests were sent`,
    );
    return sent;
  }
  return cap;
}

// Puts in the time per output token from the latency of whole requests, where it is missing.
/**
 * @param {Fields} f
 * @param {Values} found
 * @param {string} name
 */
function fromWhole(f, found, name) {
  if (found.time_per_output_token !== null) return;
  const whole = ms(f.mean(name)),
    first = /** @type {number | null} */ (found.time_to_first_token),
    length = /** @type {number | null} */ (found.output_tokens);
  if (whole === null || first === null || length === null || length <= 1 || whole <= first) return;
  found.time_per_output_token = (whole - first) / (length - 1);
  f.notes.push(
    `the time per output token is computed: ${name} less the time to the first token, over ` +
      "the mean length of an answer less one",
  );
}

/** @param {Fields} f */
function vllmServe(f) {
  const found = serving(f);
  found.concurrency = capOf(f);
  fromWhole(f, found, "e2el_ms");
  found.model = f.text("model_id");
  speculation(f, "spec_decode_acceptance_length");
  return found;
}

/**
 * @param {Fields} f
 * @param {string} key
 * @param {string} [since]
 */
function speculation(f, key, since = "") {
  const accepted = f.number(key);
  if (accepted && accepted > 1)
    f.notes.push(
      `speculative decoding: a step gives ${general(accepted, 3)} tokens on average${since} ` +
        `(${key})`,
    );
}

/** @param {Fields} f */
function sglang(f) {
  const found = serving(f);
  found.concurrency = f.number("concurrency") ?? capOf(f);
  if (found.output_tokens === null && f.number("random_output_len")) {
    const spread = f.number("random_range_ratio") ?? 0;
    f.notes.push(
      "lengths inferred: prompts and answers are taken as halfway between random_range_ratio " +
        "and 1 times the lengths asked for",
    );
    for (const name of ["input", "output"]) {
      const most = f.number(`random_${name}_len`);
      found[`${name}_tokens`] = most === null ? null : (most * (1 + Math.min(spread, 1))) / 2;
    }
  }
  fromWhole(f, found, "e2e_latency_ms");
  found.model = f.text("model_id") || f.text("model");
  speculation(f, "accept_length", " since the server started");
  const again = f.number("total_output_tokens_retokenized"),
    answers = f.number("total_output_tokens");
  if (again && answers && again < 0.9 * answers)
    f.notes.push(
      `answers ended early: their text has ${percent(again / answers)} of the tokens that ` +
        "total_output_tokens counts",
    );
  return found;
}

/**
 * @param {Fields} f
 * @returns {Values}
 */
function vllmThroughput(f) {
  f.notes.push(
    "an offline batch: the batch and the lengths are not in the file, and tokens_per_second " +
      "counts prompts and answers together",
  );
  return {
    request_throughput: f.number("requests_per_second"),
    total_throughput: f.number("tokens_per_second"),
    ...added(f),
  };
}

/**
 * @param {Fields} f
 * @returns {Values}
 */
function vllmLatency(f) {
  f.notes.push(
    "an offline batch: the batch and the lengths are not in the file, and the time is that of " +
      "the whole batch with its prompts",
  );
  return { batch_latency: f.number("avg_latency"), ...added(f) };
}

// The chips of an aggregate, all of them and those that decode.
/** @param {Fields} f */
function chipsOf(f) {
  const several = at(f.values, "is_multinode");
  if (several === true || (typeof several === "string" && several.toLowerCase() === "true")) {
    // Answers are counted over the chips that decode, prompts and answers over all.
    const decoding = f.count("num_decode_gpu"),
      prefill = f.count("num_prefill_gpu", 0);
    if (decoding === null || prefill === null)
      f.notes.push(
        "several nodes without num_prefill_gpu and num_decode_gpu: the chips are not known",
      );
    else if (prefill)
      f.notes.push(
        `prompts on ${plural(prefill, "chip")} of their own, answers on ${grouped(decoding)}`,
      );
    return { devices: decoding === null || prefill === null ? null : decoding + prefill, decoding };
  }
  let devices = f.count("tp");
  for (const key of ["pp", "pcp", "pcp_size"]) if (devices !== null) devices *= f.count(key) ?? 1;
  return { devices, decoding: devices };
}

// The values of an aggregate, whose times are in seconds.
/**
 * @param {Fields} f
 * @returns {Values}
 */
function inferencex(f) {
  const perDevice = f.number("output_tput_per_gpu"),
    total = f.number("tput_per_gpu"),
    { devices, decoding } = chipsOf(f);
  const guessing = at(f.values, Object.hasOwn(f.values, "spec_decoding") ? "spec_decoding" : "mtp");
  if (guessing === true) f.notes.push("speculative decoding");
  else if (
    typeof guessing === "string" &&
    !["", "none", "off", "false"].includes(guessing.toLowerCase())
  )
    f.notes.push(`speculative decoding: ${shown(guessing, 40)}`);
  const input = f.number("isl"),
    output = f.number("osl");
  if (input || output)
    f.notes.push(
      "lengths inferred: isl and osl are the longest, and the recipes draw from 0.8 to 1 " +
        "times them, so 0.9 times them is taken",
    );
  return {
    concurrency: f.number("conc"),
    input_tokens: input && 0.9 * input,
    output_tokens: output && 0.9 * output,
    time_per_output_token: f.mean("tpot"),
    time_to_first_token: f.mean("ttft"),
    output_throughput: perDevice && decoding && perDevice * decoding,
    total_throughput: total && devices && total * devices,
    request_throughput: f.number("request_throughput"),
    hardware: f.text("hw"),
    model: f.text("model"),
    precision: f.text("precision"),
    devices,
  };
}

const PER_SECOND = new Map(Object.entries(TABLES.per_second));

// The mean of one metric of AIPerf or GenAI-Perf; a time in seconds.
/**
 * @param {Fields} f
 * @param {string} tag
 * @param {boolean} [isTime]
 */
function average(f, tag, isTime = false) {
  const inner = f.part(tag);
  let value = inner.number("avg");
  const unit = inner.text("unit");
  if (value === null) {
    value = inner.number("p50");
    if (value !== null) f.notes.push(noteMedian(tag));
  }
  if (value === null || !isTime) return value;
  const factor = PER_SECOND.get(unit || "ms");
  if (factor === undefined)
    throw new Unreadable(
      `${tag}.unit must be one of ${[...PER_SECOND.keys()].join(", ")}; got ${told(unit)}.`,
    );
  return value / factor;
}

/**
 * @param {Fields} f
 * @returns {Values}
 */
function perf(f) {
  const given = f.part("input_config"),
    cap =
      given.part("loadgen").number("concurrency") ??
      given.part("perf_analyzer").part("stimulus").number("concurrency");
  if (cap === null) f.notes.push("no cap on concurrency is stated");
  const failed = average(f, "error_request_count");
  if (failed) f.notes.push(`${requestsOf(failed)} failed`);
  if (at(f.values, "was_cancelled") === true) f.notes.push("the run was stopped before its end");
  return {
    concurrency: cap,
    input_tokens: average(f, "input_sequence_length"),
    output_tokens: average(f, "output_sequence_length"),
    time_per_output_token: average(f, "inter_token_latency", true),
    time_to_first_token: average(f, "time_to_first_token", true),
    output_throughput: average(f, "output_token_throughput"),
    total_throughput: average(f, "total_token_throughput"),
    request_throughput: average(f, "request_throughput"),
    model: firstModel(given),
    ...added(f),
  };
}

// The model that the input of AIPerf or GenAI-Perf names first, or nothing.
/** @param {Fields} given */
function firstModel(given) {
  const places = [
    at(given.values, "model_names"),
    at(given.part("endpoint").values, "model_names"),
    at(given.values, "models"),
  ];
  for (const place of places) {
    const names = isObject(place) ? at(place, "items") : place,
      first = Array.isArray(names) && names.length ? names[0] : names,
      one = isObject(first) ? at(first, "name") : first;
    if (typeof one === "string") return shown(one);
  }
  return "";
}

/**
 * @param {Fields} f
 * @returns {Values}
 */
function guidellm(f) {
  const metrics = f.part("metrics");
  const mean = (/** @type {string} */ name) => {
    const inner = metrics.part(name).part("successful"),
      value = inner.number("mean");
    if (value !== null) return value;
    const median = inner.number("median");
    if (median !== null) f.notes.push(noteMedian(name));
    return median;
  };
  let strategy = f.part("config").part("strategy");
  // where it stood before version 0.4
  if (!Object.keys(strategy.values).length) strategy = f.part("args").part("strategy");
  const kind = strategy.text("type_"),
    concurrency =
      mean("request_concurrency") ||
      strategy.number("max_concurrency") ||
      strategy.number("streams");
  if (["throughput", "constant", "poisson"].includes(kind))
    f.notes.push(`no fixed concurrency: the strategy was ${kind}`);
  const chunks = mean("iter_tokens_per_iteration") || mean("output_tokens_per_iteration");
  if (chunks && chunks > 1.2)
    f.notes.push(`a chunk of the stream holds ${general(chunks, 2)} tokens on average`);
  return {
    concurrency,
    input_tokens: mean("prompt_token_count"),
    output_tokens: mean("output_token_count"),
    time_per_output_token: ms(mean("inter_token_latency_ms")),
    time_to_first_token: ms(mean("time_to_first_token_ms")),
    output_throughput: mean("output_tokens_per_second"),
    total_throughput: mean("tokens_per_second"),
    request_throughput: mean("requests_per_second"),
    model: f.text("model"),
  };
}

/**
 * @param {Fields} f
 * @returns {Values}
 */
function mlperf(f) {
  const scenario = f.text("scenario"),
    mode = f.text("mode"),
    result = f.text("result is");
  if (mode && mode !== "PerformanceOnly")
    throw new Unreadable(`the mode must be PerformanceOnly; got ${told(mode)}.`);
  if (result && result !== "VALID") f.notes.push(`MLPerf's own verdict on the run is ${result}`);
  const first = (/** @type {string[]} */ ...keys) => {
    for (const key of keys) {
      const value = f.number(key);
      if (value !== null) return value;
    }
    return null;
  };
  let tokens = first("completed tokens per second", "tokens per second", "tps w/ loadgen overhead");
  if (tokens === null) {
    tokens = first("tokens per second (inferred)", "completed tokens per second (inferred)");
    if (tokens !== null) f.notes.push("the tokens are inferred from the samples, not counted");
  }
  const samples = first("completed samples per second", "samples per second"),
    length = over(tokens, samples);
  if (length)
    f.notes.push("the mean length of an answer is tokens per second over samples per second");
  if (scenario !== "SingleStream")
    f.notes.push(
      `the scenario is ${scenario || "not named"}: requests in flight are not in the file`,
    );
  if (scenario === "Offline")
    f.notes.push("all samples were sent at once, and the server chose its batch");
  f.notes.push("the length of a prompt is not in the file");
  return {
    concurrency: scenario === "SingleStream" ? 1 : null,
    output_tokens: length,
    time_per_output_token: over(
      first("mean time per output token (ns)", "mean time to output token (ns)"),
      1e9,
    ),
    time_to_first_token: over(first("mean first token latency (ns)"), 1e9),
    output_throughput: tokens,
    request_throughput: samples,
  };
}

/** @param {Fields} f */
function row(f) {
  /** @type {Values} */
  const found = {};
  const columns = Object.keys(f.values);
  for (const column of columns) {
    const name = nameOf(column);
    if (TEXTS.has(name)) found[name] = f.text(column);
    else if (name === "devices") found[name] = f.count(column);
    else {
      const value = f.number(column);
      if (value !== null && !column.startsWith("median"))
        found[name] = column.endsWith("_ms") ? value / 1000 : value;
    }
  }
  for (const column of columns) {
    const name = nameOf(column);
    if (!column.startsWith("median") || name in found) continue;
    const value = f.number(column);
    if (value === null) continue;
    found[name] = column.endsWith("_ms") ? value / 1000 : value;
    f.notes.push(noteMedian(column));
  }
  return found;
}

/** @param {string} column */
const nameOf = (column) => /** @type {string} */ (COLUMN_NAMES.get(column));

/** @type {Record<string, (f: Fields) => Values>} */
const READERS = {
  InferenceX: inferencex,
  "vllm bench throughput": vllmThroughput,
  "vllm bench latency": vllmLatency,
  "SGLang bench_serving": sglang,
  "vllm bench serve": vllmServe,
  "AIPerf or GenAI-Perf": perf,
  GuideLLM: guidellm,
  "MLPerf Inference": mlperf,
  CSV: row,
};

// A kind of result: its tool, keys that tell it, how it is read, and what it has to hold.  Any one
// of its signs is enough, with all of its keys; a key with a dot is an object itself.
/** @type {Kind[]} */
const ALL = TABLES.kinds.map(({ tool, signs, needs }) => ({
  tool,
  signs: signs.map((/** @type {string} */ sign) => sign.split(" ")),
  read: READERS[tool],
  needs,
}));
// The first that fits counts: SGLang before vLLM, whose keys it shares.
export const KINDS = ALL.filter(({ signs }) => signs.length);
export const [GUIDELLM, MLPERF, CSV] = ["GuideLLM", "MLPerf Inference", "CSV"].map(
  (wanted) => /** @type {Kind} */ (ALL.find(({ tool }) => tool === wanted)),
);
