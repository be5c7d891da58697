// What a problem draws for a seed, and what a learner's answer comes to: the twin of
// check.py, same verdicts and same sentences.  A problem is the JSON of
// problem_spec.py.
import { mulberry32 } from "../../handful_explorers/web/random.js";
import { compile, symbols } from "../../handful_explorers/web/tree.js";
import { UNITS, formatValue } from "../../handful_explorers/web/units.js";
import { ExpressionError, parse, replace, writtenNames } from "./expressions.js";
import { checkSchedule } from "./pipeline_schedules.js";
import {
  BASES,
  COUNTED,
  SPACE,
  WrittenError,
  fits,
  key,
  quoted,
  read,
  spell,
} from "../../handful_explorers/web/parse_quantity.js";

const POINTS = 24,
  SAME = 1e-9;

// Drawing

/**
 * @typedef {ProblemSpec["cases"][number]} Case
 * @typedef {Record<string, string | number | Case>} Drawn by name, and the case under "case"
 */

/**
 * @param {Drawn} drawn
 * @returns {Case | undefined}
 */
const caseOf = (drawn) => (typeof drawn.case === "object" ? drawn.case : undefined);

// What is drawn, by name: rows of the scenario, numbers, and the case.
/**
 * @param {ProblemSpec} spec
 * @param {number} seed
 * @returns {Drawn}
 */
export function draw(spec, seed) {
  const step = mulberry32(seed),
    /** @type {<T>(values: T[]) => T} */
    pick = (values) => values[Math.floor(step() * values.length)];
  /** @type {Drawn} */
  const found = Object.fromEntries(spec.draw.map(([name, values]) => [name, pick(values)]));
  if (spec.cases.length) found.case = pick(spec.cases);
  return found;
}

// Values of the symbols for what is drawn; the reader's own scenario has no part in them.
/**
 * @param {ProblemSpec} spec
 * @param {Drawn} drawn
 * @returns {SymbolValues}
 */
export function valuesOf(spec, drawn) {
  const found = { ...spec.values },
    options = Object.fromEntries(spec.draw);
  for (const [name, [rows, values]] of Object.entries(spec.by))
    found[name] =
      values[
        rows.reduce(
          (place, row) =>
            place * options[row].length +
            options[row].indexOf(/** @type {string | number} */ (drawn[row])),
          0,
        )
      ];
  for (const from of [drawn, caseOf(drawn) || {}])
    for (const [name, value] of Object.entries(from))
      if (typeof value === "number") found[name] = value;
  return found;
}

// What each place in the text shows.
/**
 * @param {ProblemSpec} spec
 * @param {number} seed
 */
export function shownTexts(spec, seed) {
  const drawn = draw(spec, seed),
    values = valuesOf(spec, drawn);
  return spec.drawn.map(({ row, tree, unit, digits }) => {
    if (!row) return formatValue(compile(tree)(values), unit, digits);
    return row === "case" ? String(caseOf(drawn)?.name) : String(drawn[row]);
  });
}

// Checking

/**
 * @param {Verdict['kind']} kind
 * @param {string} [says]
 * @param {number} [turn]
 * @returns {Verdict}
 */
const verdict = (kind, says, turn) => ({ kind, says, turn });

// {kind: "right" | "wrong" | "unread", says, turn}; of a known misconception the page itself says
// what it is.
/**
 * @param {ProblemSpec} spec
 * @param {string} given
 * @param {number} seed
 * @returns {Verdict}
 */
export function check(spec, given, seed) {
  if (spec.kind === "choice") return checkChoice(spec, given, seed);
  if (spec.kind === "expression") return checkExpression(spec, rightSide(given));
  if (spec.kind === "schedule") return checkSchedule(spec, given, valuesOf(spec, draw(spec, seed)));
  return checkNumber(spec, rightSide(given), seed);
}

// An answer without the letter that it is set equal to.
const SIDE = new RegExp(`^[${SPACE}]*[A-Za-z_][A-Za-z_0-9]*[${SPACE}]*=[${SPACE}]*`);
/** @param {string} text */
const rightSide = (text) => text.replace(SIDE, "");

/**
 * @param {number} value
 * @param {number} wanted
 * @param {number} tolerance
 */
export const near = (value, wanted, tolerance) =>
  Math.abs(value - wanted) <= tolerance * Math.abs(wanted) * (1 + 1e-12);

/**
 * @param {NumberProblem} spec
 * @param {number} seed
 */
export function rightValue(spec, seed) {
  return compile(spec.answer)(valuesOf(spec, draw(spec, seed)));
}

/**
 * @param {NumberProblem} spec
 * @param {string} text
 * @param {number} seed
 */
function checkNumber(spec, text, seed) {
  if (!text.trim()) return verdict("unread", "Write an answer first.");
  let value, dimension;
  try {
    const [plain, divisor] = asPlain(withoutCounted(text, spec.counted), spec.dimension);
    [value, dimension] = read(asAmount(plain, spec));
    value /= divisor;
  } catch (error) {
    if (error instanceof WrittenError) return verdict("unread", error.message);
    throw error;
  }
  const values = valuesOf(spec, draw(spec, seed)),
    right = compile(spec.answer)(values),
    close = (/** @type {number} */ a, /** @type {number} */ b) => near(a, b, spec.tolerance);
  [value, dimension] = asAsked(value, dimension, spec.dimension, text);
  if (!dimension && spec.unit === "%" && close(value / 100, right)) {
    if (!spec.bare)
      return verdict(
        "unread",
        "Write the sign % too: without it a number is a share, and this one is a hundred times " +
          "as large.",
      );
    value /= 100;
  } else if (!dimension && spec.bare && spec.unit !== "%") {
    value *= spec.bare; // the question says in which unit
    dimension = spec.dimension;
  }
  // so many chips, tokens, sequences
  if (!dimension && UNITS[spec.unit].kind === "count") dimension = spec.dimension;
  if (!dimension)
    return verdict("unread", `Which unit?  This answer is ${spec.called}, and its unit counts.`);
  if (!fits(dimension, spec.dimension))
    return verdict("wrong", `That is ${dimensionInWords(dimension)}; asked for is ${spec.called}.`);
  if (close(value, right)) return verdict("right", "Right.");
  const turn = spec.wrong.findIndex((tree) => close(value, compile(tree)(values)));
  if (turn >= 0) return verdict("wrong", undefined, turn);

  const odd = oddlyWritten(spec, text, value, right);
  if (odd) return verdict("unread", odd);
  return verdict("wrong", howFar(value, right, close, spec.factors, values));
}

// What to change in an answer that may well be right as its author meant it.
/**
 * @param {NumberProblem} spec
 * @param {string} text
 * @param {number} value
 * @param {number} right
 */
function oddlyWritten({ unit, counted, tolerance }, text, value, right) {
  const counts = UNITS[unit].kind === "count" && unit !== "%" && (unit !== "1" || counted),
    close = (/** @type {number} */ a) => near(a, right, tolerance);
  if (counts && value && (value === Math.floor(right) || value === Math.ceil(right)))
    return "That is rounded to a whole number: write what it was before.";
  const thousands = /^[^0-9]*[0-9]{1,3},[0-9]{3}(?![0-9,.])/.test(text);
  if (thousands && close(value / 1000) && !(value && close(-value)))
    return "A comma before three digits was read as thousands: write a point instead.";
  return "";
}

// An answer without the name of what it counts, where that is no unit.
/**
 * @param {string} text
 * @param {string | undefined} counted
 */
function withoutCounted(text, counted) {
  if (!counted || /[^a-z-]/.test(counted)) return text;
  const one = counted.replace(/s$/, "").replaceAll("-", "[ -]?");
  return text.replace(new RegExp(`([0-9.])[${SPACE}]*${one}(?:e?s)?[${SPACE}]*$`, "i"), "$1");
}

// An answer without a sign for “about”, a full stop, or people where they are what shares a batch;
// and what it is to be divided by, where it begins with a fraction.
const ABOUT = new RegExp(`^[${SPACE}]*(?:[A-Za-z_][A-Za-z_0-9]*[${SPACE}]*)?[=≈≃~][${SPACE}]*`),
  STOP = new RegExp(`([A-Za-z%])\\.[${SPACE}]*$`),
  PEOPLE = new RegExp(`([0-9.])[${SPACE}]*(?:people|persons?|users?)[${SPACE}]*$`, "i"),
  PART = "[0-9]+(?:\\.[0-9]+)?",
  FRACTION = new RegExp(
    `^([${SPACE}]*[-+−]?${PART})[${SPACE}]*/[${SPACE}]*(${PART})(?![0-9.,]|[eE][-+−0-9])`,
  );
/**
 * @param {string} text
 * @param {Dimension} wanted
 * @returns {[string, number]}
 */
function asPlain(text, wanted) {
  let plain = text.replace(ABOUT, "").replace(STOP, "$1");
  if (key(wanted) === "sequence 1") plain = plain.replace(PEOPLE, "$1");
  const divisor = Number(FRACTION.exec(plain)?.[2] ?? 1);
  return divisor ? [plain.replace(FRACTION, "$1"), divisor] : [plain, 1];
}

// An answer in dollars with one sign for them; without any where the question names it.
const pattern = (/** @type {string} */ text) =>
    new RegExp(text.replaceAll("_", `[${SPACE}]*`), "i"),
  DOLLARS = pattern("^_(?:US_\\$|USD)_"),
  CENTS = pattern(
    "^_([-+−]?[0-9]*\\.?[0-9]+)_(?:¢|cents?|ct)_" +
      `(?:(?:/|per|a)_(?:(?:a|1|one)_)?(?:million|mn|m)[-${SPACE}]*(?:tok(?:en)?s?)?)?_$`,
  ),
  PRICE = pattern(
    "^_([-+−]?)_(?:US_\\$|\\$|USD)?_([-+−]?[0-9.,]+(?:e[-+−]?[0-9]+)?)_(?:\\$|dollars?|USD)?_" +
      `(?:(?:/|per|a)_(?:(?:a|1|one)_)?(?:million|mn|m)[-${SPACE}]*(?:tok(?:en)?s?)?)?_$`,
  );
/**
 * @param {string} text
 * @param {NumberProblem} spec
 */
function asAmount(text, { unit, bare }) {
  if (!unit.startsWith("$")) return text;
  const amount =
    unit === "$/token" && bare ? text.replace(CENTS, "$1e-2").replace(PRICE, "$1$2") : text;
  return amount.replace(DOLLARS, "$$");
}

// Bits as bytes where bytes are asked for, and B as billions where parameters are.
/**
 * @param {number} value
 * @param {Dimension | null} dimension
 * @param {Dimension} wanted
 * @param {string} text
 * @returns {[number, Dimension | null]}
 */
function asAsked(value, dimension, wanted, text) {
  if (!dimension) return [value, dimension];
  if (wanted.byte && dimension.bit && !dimension.byte) {
    const { bit, ...rest } = dimension;
    return [value / 8 ** bit, { ...rest, byte: bit }];
  }
  if (key(wanted) === "parameter 1" && new RegExp(`[0-9.][${SPACE}]*B[${SPACE}]*$`).test(text))
    return [value * 1e9, wanted];
  return [value, dimension];
}

// A sentence that names the factor by which an answer is too large or too small: one of the
// problem's own inputs, or a two.
/**
 * @param {number} ratio
 * @param {[string, string][]} factors
 * @param {SymbolValues} values
 * @param {(a: number, b: number) => boolean} close
 */
function superfluous(ratio, factors, values, close) {
  const inputs = factors.map(
    ([name, label]) => /** @type {[string, number | undefined]} */ ([label, values[name]]),
  );
  for (const [label, factor] of [...inputs, /** @type {const} */ (["", 2])]) {
    if (factor === undefined || factor < 1.1) continue;
    const what = `a factor of ${formatValue(factor, "1", 4)}${label ? `, the ${label}` : ""}`;
    if (close(ratio, factor))
      return `Not yet: that is too large by ${what}, which does not belong there.`;
    if (close(ratio, 1 / factor))
      return `Not yet: that is too small by ${what}, which you have left out.`;
  }
  return "";
}

// How a wrong number differs from the right one.
/**
 * @param {number} value
 * @param {number} right
 * @param {(a: number, b: number) => boolean} close
 * @param {[string, string][]} factors
 * @param {SymbolValues} values
 */
function howFar(value, right, close, factors, values) {
  if (value && close(-value, right)) return "The size is right, the sign is not.";
  if (!(value && right && value / right > 0)) return "Not yet.";
  for (const power of [-4, -3, -2, -1, 1, 2, 3, 4])
    if (close(value, right * Number(`1e${3 * power}`)))
      return (
        "The digits are right, but it is " +
        `${(1000 ** Math.abs(power)).toLocaleString("en-US")} times too ` +
        `${power > 0 ? "large" : "small"}: look at the prefix.`
      );
  const named = superfluous(value / right, factors, values, close);
  if (named) return named;
  return `Not yet: that is too ${Math.abs(value) > Math.abs(right) ? "large" : "small"}.`;
}

/** @type {Record<string, string>} */
const WORDS = {
  time: "a time",
  byte: "a number of bytes",
  flop: "an amount of arithmetic (FLOP)",
  token: "a number of tokens",
  sequence: "a number of sequences",
  parameter: "a number of parameters",
  layer: "a number of layers",
  device: "a number of chips",
  dollar: "an amount of dollars",
  bit: "a number of bits",
  energy: "an amount of energy",
};

// A dimension in words.
/**
 * @param {Dimension} dimension
 * @returns {string}
 */
export function dimensionInWords(dimension) {
  const powers = Object.entries(dimension);
  if (!powers.length) return "a number without a unit";
  if (powers.length === 1 && powers[0][1] === 1) return WORDS[powers[0][0]];
  const unit = unitNames().get(key(dimension)),
    counted = BASES.filter((base) => dimension[base] === -1 && COUNTED.includes(base));
  if (!unit && counted.length) {
    const whole = Object.fromEntries(
      Object.entries(dimension).filter(([base]) => !counted.includes(base)),
    );
    if (unitNames().has(key(whole)))
      return `${dimensionInWords(whole)} for each ${counted.join(" and ")}`;
  }
  return `in ${unit ?? spell(dimension)}`;
}

/** @type {Map<string, string> | undefined} */
let named;
function unitNames() {
  if (named) return named;
  named = new Map();
  for (const unit of Object.keys(UNITS)) {
    let dimension;
    try {
      [, dimension] = read(`1 ${unit}`);
    } catch {
      continue;
    } // the pure number, and units that no answer has
    if (dimension && !named.has(key(dimension))) named.set(key(dimension), unit);
  }
  return named;
}

// Formulas

// Where two formulas are compared: each letter between 1/50 and 50 of its neighbours, the same for
// everybody.
/**
 * @param {ExpressionProblem} spec
 * @returns {SymbolValues[]}
 */
function points(spec) {
  const step = mulberry32(1);
  return Array.from({ length: POINTS }, () => ({
    ...spec.values,
    ...Object.fromEntries(
      spec.letters.map(([, name]) => [name, Math.exp((step() * 2 - 1) * Math.log(50))]),
    ),
  }));
}

// Whether two trees have the same value wherever the letters are positive, as far as sampling
// tells.
/**
 * @param {SymbolValues[]} at
 * @param {Tree} left
 * @param {Tree} right
 */
function sameValues(at, left, right) {
  const f = compile(left),
    g = compile(right);
  return at.every((values) => {
    const a = f(values),
      b = g(values);
    return Number.isFinite(a) && Math.abs(a - b) <= SAME * Math.max(Math.abs(a), Math.abs(b));
  });
}

// The letters that a name consists of; the name where that is not clear.
/**
 * @param {string} name
 * @param {Record<string, string>} known
 * @returns {string[]}
 */
function split(name, known) {
  if (name in known) return [name];
  /** @type {string[][][]} */
  const ways = [[[]]];
  for (let end = 1; end <= name.length; end++)
    ways[end] = Object.keys(known)
      .filter((one) => name.slice(0, end).endsWith(one))
      .flatMap((one) => ways[end - one.length].map((way) => [...way, one]).slice(0, 2));
  const [found, ...others] = ways[name.length];
  return found && !others.length ? found : [name];
}

// Letters that were written side by side, as the book prints products, are multiplied; a power is
// that of the last one.
/**
 * @param {Tree} tree
 * @param {Record<string, string>} known
 * @returns {Tree}
 */
function lettersApart(tree, known) {
  const product = (/** @type {Tree[]} */ parts) =>
    parts.reduce((left, right) => ["*", left, right]);
  if (typeof tree === "string") return product(split(tree, known));
  if (!Array.isArray(tree)) return tree;
  const [head, first, ...rest] = tree;
  if (head === "^" && typeof first === "string") {
    const letters = split(first, known),
      last = letters.pop() ?? first;
    return product([...letters, ["^", last, lettersApart(rest[0], known)]]);
  }
  return [head, ...tree.slice(1).map((part) => lettersApart(part, known))];
}

/**
 * @param {ExpressionProblem} spec
 * @param {string} text
 */
function checkExpression(spec, text) {
  const known = Object.assign(
    Object.create(null),
    Object.fromEntries(
      spec.letters.flatMap(([letter, name]) => [
        [letter, name],
        [name, name],
      ]),
    ),
  );
  let written;
  try {
    written = parse(text);
  } catch (error) {
    if (error instanceof ExpressionError) return verdict("unread", error.message);
    throw error;
  }
  written = lettersApart(written, known);
  const letters = spec.letters.map(([letter]) => letter),
    stranger = writtenNames(text).find((name) => !(split(String(name), known)[0] in known));
  if (stranger)
    return verdict(
      "unread",
      `${quoted(stranger)} is none of the letters of this answer, which are ${letters.join(", ")}.`,
    );
  const tree = replace(written, known),
    at = points(spec);
  if (sameValues(at, tree, spec.answer)) return verdict("right", "Right.");
  const turn = spec.wrong.findIndex((wrong) => sameValues(at, tree, wrong));
  if (turn >= 0) return verdict("wrong", undefined, turn);
  const answer = compile(spec.answer),
    own = compile(tree);
  const ratios = at
    .filter((values) => answer(values))
    .map((values) => own(values) / answer(values));
  if (
    ratios.length &&
    ratios.every(
      (ratio) =>
        Number.isFinite(ratio) &&
        ratio &&
        Math.abs(ratio - ratios[0]) <= SAME * Math.abs(ratios[0]),
    )
  )
    return verdict(
      "wrong",
      `Only a factor is off: yours is always ${formatValue(ratios[0], "1", 4)} times the answer.`,
    );
  const held = symbols(tree),
    wanted = symbols(spec.answer),
    missing = spec.letters.find(([, name]) => wanted.has(name) && !held.has(name));
  return verdict(
    "wrong",
    missing ? `Not yet: the answer depends on ${missing[0]} too.` : "Not yet.",
  );
}

// Judgement

/**
 * @param {ChoiceProblem} spec
 * @param {number} seed
 */
export function rightChoice(spec, seed) {
  const values = valuesOf(spec, draw(spec, seed));
  return spec.when.findIndex((tree) => compile(tree)(values) > 0);
}

/**
 * @param {ChoiceProblem} spec
 * @param {string} given
 * @param {number} seed
 */
function checkChoice(spec, given, seed) {
  const number = /^\d+$/.test(String(given)) ? Number(given) : -1;
  if (!(number in spec.when)) return verdict("unread", `Choose one of the ${spec.when.length}.`);
  const right = number === rightChoice(spec, seed);
  return verdict(right ? "right" : "wrong", undefined, right ? undefined : number);
}
