// The result files of benchmarks of LLM servers, as runs in SI units: the twin of
// handful_evidence/result_files.py, function by function, which says what is read.  Python's own
// readers of JSON and CSV have theirs in read_json.js and read_csv.js.
//
// Two things may differ: a sentence spells out a letter that is younger than the browser, and
// lists some hundreds inside one another may be too deep in one language and no JSON in the other.

import TABLES from "../../handful_evidence/result_files.json";
import { grouped, plural } from "../../handful_explorers/web/units.js";
import {
  ends,
  general,
  isBlank,
  lengthOf,
  LINE_ENDS,
  spaced,
  strip,
  stripStart,
} from "./python_text.js";
import { rowsOf } from "./read_csv.js";
import { isByLine, keysOf, parsed } from "./read_json.js";
import {
  at,
  COLUMN_NAMES,
  CSV,
  Fields,
  FOR_THE_MEAN,
  GUIDELLM,
  isObject,
  KINDS,
  MLPERF,
  shown,
  TEXTS,
  told,
  UnknownKind,
  Unreadable,
} from "./result_tools.js";

/**
 * @typedef {{ name: string, text: string } | { name: string, bytes: Uint8Array }} Given a file
 * @typedef {import("./result_tools.js").Kind} Kind
 * @typedef {[which: string, part: [Kind, Fields] | Unreadable]} Part
 */
// One measured point of a server, in SI units; null where the file does not say.
/**
 * @typedef {object} Run
 * @property {string} source the file's name and, where it holds several runs, which
 * @property {string} tool
 * @property {number | null} concurrency requests in flight, on average or at most
 * @property {number | null} input_tokens tokens of a prompt, on average
 * @property {number | null} output_tokens tokens of an answer, on average
 * @property {number | null} time_per_output_token seconds, the first token left out
 * @property {number | null} time_to_first_token seconds
 * @property {number | null} output_throughput tokens/s of answers, of the whole server
 * @property {number | null} request_throughput requests/s, of the whole server
 * @property {string} hardware
 * @property {string} model
 * @property {string} precision
 * @property {number | null} devices chips
 * @property {string[]} notes
 * @property {number | null} total_throughput tokens/s of prompts and answers, of the whole server
 * @property {number | null} batch_latency seconds that a whole offline batch takes
 */

const MOST = TABLES.most;
export const MOST_BYTES = MOST.bytes; // of a file

// The requests in flight on average, by Little's law, or null.
/** @param {Run} run */
export function inFlight(run) {
  const { output_throughput: rate, output_tokens: length } = run,
    { time_to_first_token: first, time_per_output_token: step } = run;
  if (rate === null || first === null || step === null || !length || length < 1) return null;
  return (rate / length) * (first + (length - 1) * step);
}

// The runs of result files, and a sentence for each file or run that cannot be read.
/**
 * @param {Given[]} files
 * @returns {{ runs: Run[], problems: string[] }}
 */
export function read(files) {
  const runs = /** @type {Run[]} */ ([]),
    problems = /** @type {string[]} */ ([]),
    short = files.map(({ name }) => name.slice(name.lastIndexOf("/") + 1)),
    times = /** @type {Map<string, number>} */ (new Map());
  for (const name of short) times.set(name, (times.get(name) ?? 0) + 1);
  files.forEach((file, i) => {
    const isOne = short[i] && times.get(short[i]) === 1,
      name = isOne ? short[i] : [...file.name].slice(-MOST.shown).join("");
    for (const found of runsOf(file, shown(name)))
      if (typeof found === "string") problems.push(found);
      else runs.push(found);
  });
  return { runs, problems };
}

// A file and its parts ----------------------------------------------------------------------------

// The runs of a file and the sentences about it, in its order.
/**
 * @param {Given} file
 * @param {string} name
 * @returns {(Run | string)[]}
 */
function runsOf(file, name) {
  const found = /** @type {(Run | string)[]} */ ([]),
    strangers = /** @type {UnknownKind[]} */ ([]);
  try {
    for (const [which, part] of parts(textOf(file))) {
      const source = name + which;
      try {
        if (part instanceof Unreadable) throw part;
        const [kind, fields] = part;
        found.push(runOf(source, kind, kind.read(fields), fields.notes));
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        if (error instanceof UnknownKind) strangers.push(error);
        found.push(`${source}: ${error.message}`);
      }
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return [`${name}: ${error.message}`];
  }
  // A file of another kind: once is enough.
  if (strangers.length && strangers.length === found.length)
    return [`${name}: ${strangers[0].message}`];
  return found;
}

/** @param {Given} file */
function textOf(file) {
  let bytes = "bytes" in file ? file.bytes : new TextEncoder().encode(file.text);
  if (bytes.length > MOST.bytes)
    throw new Unreadable(
      `this has more than ${grouped(MOST.bytes)} bytes, the most that is read; save the results ` +
        "without the details of each request.",
    );
  const [first, second, third] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new Unreadable("this is text in UTF-16; save it in UTF-8.");
  const zero = bytes.indexOf(0);
  if (zero >= 0) throw new Unreadable(`this is no text: byte ${grouped(zero)} is zero.`);
  if (first === 0xef && second === 0xbb && third === 0xbf) bytes = bytes.subarray(3);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Unreadable(
      `this is no text in UTF-8; byte ${grouped(firstOdd(bytes))} is none of it.`,
    );
  }
  if (isBlank(text)) throw new Unreadable("this is empty.");
  return text;
}

// Where the first letter begins that is none of UTF-8.
/** @param {Uint8Array} bytes */
function firstOdd(bytes) {
  const isNext = (/** @type {number} */ i, low = 0x80, high = 0xbf) =>
    bytes[i] >= low && bytes[i] <= high;
  let i = 0;
  for (;;) {
    const byte = bytes[i];
    if (byte < 0x80) i += 1;
    else if (byte >= 0xc2 && byte <= 0xdf && isNext(i + 1)) i += 2;
    else if (
      byte >= 0xe0 &&
      byte <= 0xef &&
      isNext(i + 1, byte === 0xe0 ? 0xa0 : 0x80, byte === 0xed ? 0x9f : 0xbf) &&
      isNext(i + 2)
    )
      i += 3;
    else if (
      byte >= 0xf0 &&
      byte <= 0xf4 &&
      isNext(i + 1, byte === 0xf0 ? 0x90 : 0x80, byte === 0xf4 ? 0x8f : 0xbf) &&
      isNext(i + 2) &&
      isNext(i + 3)
    )
      i += 4;
    else return i;
  }
}

// Yields which run of a text it is, and its kind with its fields, or what is wrong with it.
/**
 * @param {string} text
 * @returns {Generator<Part>}
 */
function* parts(text) {
  if (/^[{[]/.test(stripStart(text)))
    for (const [which, value] of documents(text)) yield* known(which, value);
  else if (text.includes("MLPerf Results Summary")) yield ["", [MLPERF, new Fields(lines(text))]];
  else yield* rows(text);
}

// The JSON objects of a text, each with where it stands, or what is wrong with it.
/**
 * @param {string} text
 * @returns {Iterable<[which: string, value: unknown]>}
 */
function documents(text) {
  if (timesIn(text, "{") + timesIn(text, "[") > MOST.parts)
    throw new Unreadable(
      `this has more than ${grouped(MOST.parts)} objects and lists, the most that are read.`,
    );
  const value = isByLine(text) ? undefined : unlessWrong(() => parsed(text));
  if (value === undefined || value instanceof Unreadable) {
    const given = text.split("\n"),
      filled = given.flatMap((line, i) => (isBlank(line) ? [] : [i]));
    const isObjects = given.some(
      (line) => line.startsWith("{") && line.slice(0, ends(line)).endsWith("}"),
    );
    if (filled.length < 2 || !isObjects) throw value ?? unlessWrong(() => parsed(text));
    bound(filled.length);
    return byLine(given, filled);
  }
  if (!Array.isArray(value)) return [["", value]];
  bound(value.length);
  if (!value.some(isObject))
    throw new Unreadable(
      "this must be an object in braces or a list of them; got " +
        `${value.length ? "a list of other things" : "an empty list"}.`,
    );
  if (value.every((one) => isObject(one) && isObject(at(one, "metric"))))
    throw new Unreadable(
      "this is the table for PyTorch that vLLM writes beside its results; " +
        "give the file without .pytorch in its name.",
    );
  return value.map((one, i) => [`, run ${i + 1}`, one]);
}

// Yields one after the other, so that no more than one takes memory.
/**
 * @param {string[]} given
 * @param {number[]} filled
 * @returns {Generator<[which: string, value: unknown]>}
 */
function* byLine(given, filled) {
  for (const i of filled) yield [`, line ${i + 1}`, unlessWrong(() => parsed(given[i]))];
}

// What is read, or what is wrong with it.
/**
 * @template T
 * @param {() => T} reading
 * @returns {T | Unreadable}
 */
function unlessWrong(reading) {
  try {
    return reading();
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
}

/**
 * @param {string} text
 * @param {string} mark
 */
function timesIn(text, mark) {
  let count = 0;
  for (let i = text.indexOf(mark); i >= 0; i = text.indexOf(mark, i + 1)) count++;
  return count;
}

/** @param {number} count */
function bound(count) {
  if (count > MOST.runs)
    throw new Unreadable(
      `this holds more than ${grouped(MOST.runs)} runs, the most that are read.`,
    );
}

// The names of a run's values in notes and sentences.
const LABELS = Object.entries(TABLES.labels);
const MEASURED = LABELS.slice(3).map(([name]) => name);

// The run, with notes on what its values say together.
/**
 * @param {string} source
 * @param {Kind} kind
 * @param {import("./result_tools.js").Values} values
 * @param {string[]} notes
 */
function runOf(source, kind, values, notes) {
  for (const [name, label] of LABELS) {
    const value = values[name] ?? null;
    if (value !== null && !Number.isFinite(value))
      throw new Unreadable(`its numbers are so large or small that ${label} is not finite.`);
    if (value === 0) {
      values[name] = null;
      notes.push(`${label} is 0, so it counts as not measured`);
    }
  }
  if (MEASURED.every((name) => (values[name] ?? null) === null))
    throw new Unreadable(`this holds no measurement; one of ${kind.needs} is needed, and above 0.`);
  const number = (/** @type {string} */ name) =>
      /** @type {number | null} */ (values[name] ?? null),
    text = (/** @type {string} */ name) => /** @type {string} */ (values[name] ?? "");
  /** @type {Run} */
  const run = {
    source,
    tool: kind.tool,
    concurrency: number("concurrency"),
    input_tokens: number("input_tokens"),
    output_tokens: number("output_tokens"),
    time_per_output_token: number("time_per_output_token"),
    time_to_first_token: number("time_to_first_token"),
    output_throughput: number("output_throughput"),
    request_throughput: number("request_throughput"),
    hardware: text("hardware"),
    model: text("model"),
    precision: text("precision"),
    devices: number("devices"),
    notes: [],
    total_throughput: number("total_throughput"),
    batch_latency: number("batch_latency"),
  };
  compareInFlight(run, notes);
  run.notes = [...new Set(notes)];
  return run;
}

/**
 * @param {Run} run
 * @param {string[]} notes
 */
function compareInFlight(run, notes) {
  const atOnce = inFlight(run),
    stated = run.concurrency;
  if (atOnce === null) return;
  if (!Number.isFinite(atOnce))
    throw new Unreadable("its numbers are so large that the requests in flight are not finite.");
  if (notes.some((note) => note.includes(FOR_THE_MEAN))) return;
  if (stated === null)
    notes.push(
      `by its throughput and times, ${general(atOnce, 3)} requests were in flight on average`,
    );
  else if (atOnce > 1.1 * stated)
    notes.push(
      `its throughput and times put ${general(atOnce, 3)} requests in flight on average, more ` +
        `than the ${general(stated, 3)} that it states: the numbers do not belong together`,
    );
  else if (atOnce < 0.8 * stated)
    notes.push(
      `its throughput and times put only ${general(atOnce, 3)} requests in flight on average, ` +
        `of the ${general(stated, 3)} that it states`,
    );
}

// Yields the runs of one JSON object, each with its kind.
/**
 * @param {string} which
 * @param {unknown} value
 * @returns {Generator<Part>}
 */
function* known(which, value) {
  if (value instanceof Unreadable) yield [which, value];
  else if (!isObject(value))
    yield [which, new Unreadable(`a run must be an object in braces; got ${told(value)}.`)];
  else if (Object.hasOwn(value, "benchmarks")) yield* benchmarks(which, value);
  else {
    const has = (/** @type {string} */ key) =>
      key.endsWith(".") ? isObject(at(value, key.slice(0, -1))) : Object.hasOwn(value, key);
    const kind = KINDS.find(({ signs }) => signs.some((sign) => sign.every(has)));
    if (kind) yield [which, [kind, new Fields(value)]];
    else {
      const names = keysOf(value)
        .slice(0, 5)
        .map((key) => shown(key, 40))
        .join(", ");
      const reason =
        `its keys (${names || "none at all"}) are those of no result known here: ` +
        `${TABLES.known}.`;
      yield [which, new UnknownKind(reason)];
    }
  }
}

// Yields the benchmarks of a file of GuideLLM.
/**
 * @param {string} which
 * @param {import("./result_tools.js").Named} value
 * @returns {Generator<Part>}
 */
function* benchmarks(which, value) {
  const listed = value.benchmarks;
  if (!Array.isArray(listed) || !listed.length) {
    const got = Array.isArray(listed) ? "an empty list" : told(listed);
    yield [which, new Unreadable(`benchmarks must be a list of one or more; got ${got}.`)];
    return;
  }
  bound(listed.length);
  const args = at(value, "args"),
    named = isObject(args) ? at(args, "model") : null,
    model = typeof named === "string" ? named : null;
  for (const [i, one] of listed.entries()) {
    const where = listed.length > 1 ? `${which}, benchmark ${i + 1}` : which;
    if (!isObject(one))
      yield [where, new Unreadable(`benchmarks[${i}] must be an object; got ${told(one)}.`)];
    else if (!Object.hasOwn(one, "metrics"))
      yield [where, new UnknownKind(`benchmarks[${i}] has no metrics, as GuideLLM's have.`)];
    else yield [where, [GUIDELLM, new Fields({ ...one, model }, `benchmarks[${i}].`)]];
  }
}

// Text --------------------------------------------------------------------------------------------

const NUMBER = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/;

// The number that a text is, the text where it is none, or null where it is empty.
/** @param {string} text */
function typed(text) {
  const stripped = strip(text);
  return NUMBER.test(stripped) ? Number(stripped) : stripped || null;
}

// The lines "name : value" of a summary by name; the first of a name counts.
/** @param {string} text */
function lines(text) {
  if (text.length > MOST.summary && lengthOf(text) > MOST.summary)
    throw new Unreadable(
      `a summary of MLPerf has some thousand characters, and this has ${grouped(lengthOf(text))}, ` +
        `more than the ${grouped(MOST.summary)} that are read.`,
    );
  /** @type {import("./result_tools.js").Named} */
  const values = Object.create(null);
  for (const line of text.split(LINE_ENDS)) {
    const colon = line.indexOf(":");
    if (colon < 0 || lengthOf(line, 0, colon) >= MOST.shown) continue;
    const key = spaced(line.slice(0, colon)).toLowerCase();
    if (!(key in values)) values[key] = typed(line.slice(colon + 1));
  }
  return values;
}

// Yields the rows of a CSV.
/**
 * @param {string} given
 * @returns {Generator<Part>}
 */
function* rows(given) {
  if (given.includes("Serving Benchmark Result"))
    throw new Unreadable(
      "this is what the benchmark printed; have it write its results to a file, as with " +
        "--save-result, and give that.",
    );
  const text = given.replace(/^[\r\n]+/, ""),
    first = text.split(/[\r\n]/, 1)[0];
  if (first.length > MOST.head && lengthOf(first) > MOST.head)
    throw new Unreadable(
      `this is no JSON, and its first line has more than ${grouped(MOST.head)} characters, too ` +
        "many for the columns of a CSV.",
    );
  const knownBy = (/** @type {string} */ mark) =>
    first.split(mark).filter((cell) => COLUMN_NAMES.has(columnOf(cell))).length;
  const separator = [",", ";", "\t"].reduce((best, mark) =>
    knownBy(mark) > knownBy(best) ? mark : best,
  );
  let head = /** @type {string[] | null} */ (null);
  const filled = /** @type {[number, string[]][]} */ ([]);
  for (const row of rowsOf(text, separator))
    if (!head) {
      head = row[1].map(columnOf);
      checkColumns(head);
    } else if (!row[1].every(isBlank)) {
      filled.push(row);
      bound(filled.length);
    }
  if (!head || !filled.length) throw new Unreadable("this CSV has a first line and no rows.");
  const notes = head
    .filter((name) => TABLES.no_unit.includes(name))
    .map((name) => `the column ${name} has no unit and is left out`);
  for (const [i, row] of filled) {
    if (row.length !== head.length) {
      const cells = plural(head.length, "cell"),
        got = grouped(row.length);
      yield [`, row ${i}`, new Unreadable(`a row must have ${cells} here; got ${got}.`)];
      continue;
    }
    /** @type {import("./result_tools.js").Named} */
    const values = {}; // whose names are all known
    head.forEach((column, j) => {
      const name = COLUMN_NAMES.get(column);
      if (name) values[column] = TEXTS.has(name) ? strip(row[j]) || null : typed(row[j]);
    });
    yield [`, row ${i}`, [CSV, new Fields(values, "", [...notes])]];
  }
}

/** @param {string} cell */
const columnOf = (cell) =>
  cell
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");

/** @param {string[]} head */
function checkColumns(head) {
  const found = /** @type {Map<string, string>} */ (new Map());
  for (const column of head) {
    const name = COLUMN_NAMES.get(column);
    if (!name || column.startsWith("median")) continue; // a median may stand beside its mean
    const other = found.get(name);
    if (other) throw new Unreadable(`the columns ${other} and ${column} say the same; keep one.`);
    found.set(name, column);
  }
  if (!head.some((column) => MEASURED.includes(COLUMN_NAMES.get(column) ?? "")))
    throw new Unreadable(
      "this is neither JSON nor a CSV whose first line names tpot_ms, ttft_ms, " +
        `output_tokens_per_s or requests_per_s; known are ${TABLES.known}.`,
    );
}
