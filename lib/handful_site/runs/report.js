// What the page says of points and their fit, in words and tables.
import { h, saveAs } from "../../handful_explorers/web/dom.js";
import { formatValue, grouped, plural } from "../../handful_explorers/web/units.js";
import {
  atContext,
  bestMeasured,
  missedNear,
  predictor,
  REACH,
  usualLoad,
  usualStep,
} from "./predictions.js";

export const MOST_ROWS = 60;
const MOST_SOURCES = 3;

/**
 * @typedef {import("./own_server.js").Point} Point
 * @typedef {import("./own_server.js").Fit} Fit
 * @typedef {import("./own_server.js").Change} Change
 * @typedef {object} Given what the reader asks for
 * @property {number} promise seconds for a token, or 0
 * @property {number} context tokens, or 0
 * @property {number} prompts tokens of prompt for each of the answer, or below 0
 */

/** @param {number} seconds */
export const time = (seconds) => formatValue(seconds, "s", 3);
/** @param {number} value */
const percent = (value) => formatValue(value, "%", 2);
/** @param {number} value */
export const number = (value) => formatValue(value, "1", 3);

/**
 * @param {Fit} found
 * @param {Point} one
 */
export const fitted = ({ factors: [reading, computing, fixed] }, one) =>
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

// A table; `narrow` says what becomes of its rows where there is no room: each a block of its own,
// or what lies beyond is reached by moving the table.
/**
 * @param {string[]} head
 * @param {(string | Node)[][]} rows
 * @param {string} label
 * @param {"blocks" | "moved"} narrow
 */
const table = (head, rows, label, narrow = "blocks") =>
  h(
    "div",
    { class: `runs-wide is-${narrow}`, tabindex: 0, role: "region", "aria-label": label },
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
            ...others.map((cell, k) => h("td", { "data-of": head[k + 1] }, cell)),
          ),
        ),
      ),
    ),
  );

/**
 * @param {string} title
 * @param {string[]} items
 */
export const list = (title, items) =>
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
// Where the time of a step goes, the largest part first.
/** @param {ReturnType<ReturnType<typeof predictor>["parts"]>} found */
function whereItGoes({ step, binds }) {
  /** @type {Record<string, string>} */
  const names = {
      weights: "reading weights",
      caches: "reading caches",
      prompts: "arithmetic for prompts",
      answers: "arithmetic for answers",
      fixed: "the fixed time",
    },
    parts = Object.entries(step)
      .filter(([, seconds]) => seconds > 0)
      .sort(([, a], [, b]) => b - a),
    whole = parts.reduce((sum, [, seconds]) => sum + seconds, 0),
    told = parts.map(
      ([name, seconds]) => `${names[name]} takes ${time(seconds)} (${percent(seconds / whole)})`,
    );
  return `Of such a step ${told.join(", ")}. Most of it goes to ${binds}: that is what binds.`;
}

// What is known of the time to the first token.
/** @param {ReturnType<ReturnType<typeof predictor>["firstToken"]>} found */
function firstWords({ count, low, median, high, nearest, prompt, alone }) {
  const wait = nearest?.run.time_to_first_token,
    many = nearest?.run.concurrency;
  return [
    ...(wait && nearest
      ? [
          `Measured ${time(wait)} with ${number(nearest.batch)} sequences that decode` +
            (many ? ` and ${number(many)} requests in flight` : "") +
            (count > 1
              ? `; ${time(low)} to ${time(high)} at ${count} points of such contexts, ` +
                `${time(median)} in the middle.`
              : "."),
        ]
      : []),
    ...(alone
      ? [
          `A prompt of ${formatValue(prompt, "token", 3)} by itself takes ${time(alone)} by the ` +
            "fit; waiting comes on top.",
        ]
      : []),
  ];
}

/**
 * @param {Fit | null} found
 * @param {string} why
 * @param {Point[]} usable
 * @param {import("./own_server.js").Formulas} formulas
 * @param {Given} given
 */
export function fitParts(found, why, usable, formulas, { promise, context, prompts }) {
  if (!found) return [h("p", { text: why })];
  const { values, intervals } = found,
    {
      predicted,
      interval,
      parts: partsOf,
      firstToken,
      knee,
      changes,
      room,
    } = predictor(found, formulas),
    ends = (/** @type {string} */ name, /** @type {(value: number) => string} */ form) =>
      `${form(intervals[name][0])} to ${form(intervals[name][1])}`,
    middle = usualLoad(usable),
    there = context ? atContext(middle, context) : middle,
    usual = prompts < 0 ? there : { ...there, context, prompt_per_answer: prompts },
    loads = /** @type {[string, SymbolValues][]} */ ([
      ["this load", usual],
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
    h("h3", { text: context ? "At that context" : "A load like yours" }),
    h("p", {
      text:
        `${plural(Number(usual.batch.toPrecision(3)), "sequence")} of ` +
        `${formatValue(usual.context, "token", 3)}, ${number(usual.prompt_per_answer)} of prompt for ` +
        `each of the answer.` +
        (half < Infinity
          ? ` With ${number(Math.max(half, 1))} at a time the server gives half the tokens a ` +
            "second that it would with endlessly many."
          : ""),
    }),
    h("p", { text: whereItGoes(partsOf(usual)) }),
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
      "Predictions for such a load",
    ),
    ...list("The first token", firstWords(firstToken(usable, usual))),
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
      ["", "Batch", "Tokens a second", "Of each chip", ...(priced ? ["$ a million"] : []), "Gain"],
      [...known, ...tried.map(row)],
      "What the server could give, as it is and changed",
    ),
    h("p", {
      class: "runs-small",
      text:
        "The gain is in tokens a second of each chip, with the interval that holds it nine times " +
        "in ten." +
        (priced
          ? " The cost is that of a million tokens of answers, which pay the whole rent of " +
            `$${number(3600 * usual.device_price)} for a chip and hour.`
          : ""),
    }),
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
      best.map(
        ({ name, assumes, devices }) =>
          `${name}: ${assumes}` +
          (Number.isInteger(devices)
            ? ""
            : ` (here ${number(devices - usual.devices)} more chips)`),
      ),
    ),
  ].filter((part) => part !== null);
}
/**
 * @param {Point[]} usable
 * @param {Fit | null} found
 */
export function pointsPart(usable, found) {
  const sorted = [...usable].sort((a, b) => a.batch - b.batch),
    first = sorted.some(({ run }) => run.time_to_first_token),
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
      [
        "Run",
        "Batch",
        "Context",
        "Measured",
        "Floor",
        "Over",
        "Fit",
        "Reading",
        "Arithmetic",
        ...(first ? ["First token"] : []),
      ],
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
        ...(first ? [one.run.time_to_first_token ? time(one.run.time_to_first_token) : "–"] : []),
      ]),
      "The points",
      "moved",
    ),
    h("button", {
      type: "button",
      text: "Save all as a table (CSV)",
      onclick: () => saveAs(csvOf(sorted, found), "points.csv", "text/csv"),
    }),
  );
}

// What stands there, as Markdown.
/** @param {HTMLElement} results */
export function asMarkdown(results) {
  /** @type {string[]} */
  const found = [];
  const said = (/** @type {Element | null} */ node) =>
    (node?.textContent ?? "").replaceAll("|", "\\|").replace(/\s+/g, " ").trim();
  for (const node of results.querySelectorAll("h3, h4, p, li, dl > div, table")) {
    if (node.closest(".runs-plot, .runs-readout, .runs-points")) continue;
    if (node.tagName === "TABLE") {
      const rows = [...node.querySelectorAll("tr")].map(
        (row) => `| ${[...row.children].map(said).join(" | ")} |`,
      );
      rows.splice(1, 0, rows[0].replace(/[^|]+/g, " --- "));
      found.push(rows.join("\n"));
    } else if (node.tagName === "DIV")
      found.push(
        `- ${said(node.querySelector("dt"))} ${said(node.querySelector("strong"))} ` +
          `(${said(node.querySelector("span"))})`,
      );
    else
      found.push(
        { H3: "## ", H4: "### ", LI: "- ", P: "" }[
          /** @type {"H3" | "H4" | "LI" | "P"} */ (node.tagName)
        ] + said(node),
      );
  }
  return `${found.join("\n\n")}\n`;
}
