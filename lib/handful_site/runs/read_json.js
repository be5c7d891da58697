// A text of JSON as Python's json.loads has it, for result_files.js: Infinity and NaN are numbers,
// a key that stands twice is refused, and what is wrong is told in Python's words.

import TABLES from "../../handful_evidence/result_files.json";
import { grouped } from "../../handful_explorers/web/units.js";
import { ends, isBlank, lengthOf } from "./python_text.js";
import { isObject, shown, Unreadable } from "./result_tools.js";

const DEEPEST = TABLES.most.depth;
const STACK = 900; // where Python gives up as well, more or less
const ENDLESS = "1e999"; // what JSON.parse takes for infinity
/** @type {WeakMap<object, string[]>} */
const ORDER = new WeakMap();

// The keys of an object of a file in their order there; an object puts whole numbers first.
/** @param {object} value */
export const keysOf = (value) => ORDER.get(value) ?? Object.keys(value);

/** @param {string} text */
export function parsed(text) {
  const quick = quickly(text);
  if (quick !== undefined) return quick;
  const value = slowly(text);
  if (Number.isNaN(keysIn(value))) throw tooDeep();
  return value;
}

const tooDeep = () =>
  new Unreadable(`this has more than ${DEEPEST} objects and lists inside one another.`);

// Whether the first line is a value of its own and more follows, so that the text is none.
/** @param {string} text */
export function isByLine(text) {
  const end = text.indexOf("\n");
  return end > 0 && quickly(text.slice(0, end)) !== undefined && !isBlank(text.slice(end));
}

// The browser's own parser --------------------------------------------------------------------------

// Nothing where it may have read otherwise than Python, or does not read at all.  JSON.parse keeps
// the last of two keys of one name; then fewer are left than have a colon behind them.
/** @param {string} text */
function quickly(text) {
  let plain = text,
    mark = "";
  if (text.includes("Infinity")) {
    if (text.includes(ENDLESS)) return undefined;
    mark = ENDLESS;
    plain = text.replace(/([:[,][ \t\n\r]*-?)Infinity(?=[ \t\n\r]*[,\]}])/g, `$1${mark}`);
  }
  let value;
  try {
    value = JSON.parse(plain);
  } catch {
    return undefined;
  }
  const isSame = keysIn(value, mark) === namesIn(text) && !isReordered(value);
  return isSame ? value : undefined;
}

// How many keys a value has, inside and out; NaN where it is too deep, or where a text holds the
// mark, which then did not take the place of a number.
/**
 * @param {unknown} value
 * @param {string} [mark]
 * @param {number} [depth]
 * @returns {number}
 */
function keysIn(value, mark = "", depth = 1) {
  if (typeof value === "string") return mark && value.includes(mark) ? NaN : 0;
  if (typeof value !== "object" || value === null) return 0;
  if (depth > DEEPEST) return NaN;
  let count = 0;
  if (Array.isArray(value)) for (const one of value) count += keysIn(one, mark, depth + 1);
  else
    for (const key in value) {
      count += 1 + keysIn(/** @type {Record<string, unknown>} */ (value)[key], mark, depth + 1);
      if (mark && key.includes(mark)) return NaN;
    }
  return count;
}

// How many quotation marks of a text have a colon behind them, inside of texts as well.
/** @param {string} text */
function namesIn(text) {
  let count = 0;
  for (let i = text.indexOf(":"); i >= 0; i = text.indexOf(":", i + 1)) {
    let before = i - 1;
    while (isSpace(text.charCodeAt(before))) before--;
    if (text.charCodeAt(before) === QUOTE) count++;
  }
  return count;
}

// Whether keys that may be told of do not stand as in the text.
/** @param {unknown} value */
function isReordered(value) {
  for (const one of Array.isArray(value) ? value : [value])
    if (isObject(one))
      for (const first in one) {
        if (isWhole(first)) return true;
        break;
      }
  return false;
}

/** @param {string} key */
const isWhole = (key) => /^[0-9]+$/.test(key);

// Step by step --------------------------------------------------------------------------------------

const QUOTE = 34,
  BACKSLASH = 92,
  COMMA = 44,
  COLON = 58;
const OPEN = { list: 91, object: 123 },
  CLOSE = { list: 93, object: 125 };
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
/** @type {[string, null | boolean | number][]} */
const WORDS = [
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
];
/** @type {Record<string, string>} */
const ESCAPES = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** @param {number} code */
const isSpace = (code) => code === 32 || code === 10 || code === 13 || code === 9;

/** @param {string} text */
function slowly(text) {
  let at = 0,
    depth = 0;
  const skip = () => {
    while (isSpace(text.charCodeAt(at))) at++;
  };
  // Passes over a mark that has to stand here.
  /**
   * @param {number} mark
   * @param {string} reason
   */
  const expect = (mark, reason) => {
    if (text.charCodeAt(at) !== mark) throw fault(text, reason, at);
    at++;
  };

  /** @returns {unknown} */
  function value() {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return string();
    if (code === OPEN.object || code === OPEN.list) {
      if (++depth > STACK) throw tooDeep();
      const found = code === OPEN.object ? object() : list();
      depth--;
      return found;
    }
    const from = at;
    NUMBER.lastIndex = at;
    if (NUMBER.test(text)) {
      at = NUMBER.lastIndex;
      return Number(text.slice(from, at));
    }
    const [word, meant] = WORDS.find(([one]) => text.startsWith(one, from)) ?? ["", null];
    if (!word) throw fault(text, "expecting value", at);
    at += word.length;
    return meant;
  }

  // Whether another part follows, after the first: a comma, or what closes the whole.
  /** @param {number} close */
  function goesOn(close) {
    skip();
    if (text.charCodeAt(at) === close) {
      at++;
      return false;
    }
    expect(COMMA, "expecting ',' delimiter");
    skip();
    return true;
  }

  function list() {
    /** @type {unknown[]} */
    const found = [];
    at++;
    skip();
    if (text.charCodeAt(at) === CLOSE.list) at++;
    else
      do found.push(value());
      while (goesOn(CLOSE.list));
    return found;
  }

  function object() {
    /** @type {Record<string, unknown>} */
    const found = Object.create(null);
    const keys = /** @type {string[]} */ ([]),
      twice = /** @type {Set<string>} */ (new Set());
    at++;
    skip();
    if (text.charCodeAt(at) === CLOSE.object) at++;
    else
      do {
        if (text.charCodeAt(at) !== QUOTE)
          throw fault(text, "expecting property name enclosed in double quotes", at);
        const key = string();
        if (key in found) twice.add(key);
        keys.push(key);
        skip();
        expect(COLON, "expecting ':' delimiter");
        skip();
        found[key] = value();
      } while (goesOn(CLOSE.object));
    const first = twice.size ? keys.find((key) => twice.has(key)) : undefined;
    if (first !== undefined)
      throw new Unreadable(`${shown(first)} stands twice in one object, and only one can count.`);
    if (keys.some(isWhole)) ORDER.set(found, keys);
    return found;
  }

  function string() {
    const begin = at++;
    let made = "";
    for (;;) {
      const from = at;
      let code = text.charCodeAt(at);
      while (code >= 32 && code !== QUOTE && code !== BACKSLASH) code = text.charCodeAt(++at);
      made += text.slice(from, at);
      if (code < 32) throw fault(text, "invalid control character at", at);
      if (at >= text.length || (code === BACKSLASH && at + 1 === text.length))
        throw fault(text, "unterminated string starting at", begin);
      at++;
      if (code === QUOTE) return made;
      made += escape();
    }
  }

  // What stands behind a backslash.
  function escape() {
    const letter = text[at++];
    if (letter !== "u") {
      if (!Object.hasOwn(ESCAPES, letter)) throw fault(text, "invalid \\escape", at - 2);
      return ESCAPES[letter];
    }
    const digits = text.slice(at, at + 4);
    // Python wants to see what follows the digits.
    if (at + 4 >= text.length || !/^[0-9a-fA-F]{4}$/.test(digits))
      throw fault(text, "invalid \\uXXXX escape", at - 1);
    at += 4;
    return String.fromCharCode(parseInt(digits, 16));
  }

  skip();
  const found = value();
  skip();
  if (at < text.length) throw fault(text, "extra data", at);
  return found;
}

/**
 * @param {string} text
 * @param {string} reason
 * @param {number} at
 */
function fault(text, reason, at) {
  const isCut = at >= ends(text) || reason.startsWith("unterminated");
  let line = 1,
    start = 0;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) {
    line++;
    start = i + 1;
  }
  return new Unreadable(
    `this is no JSON: ${isCut ? "the text ends early" : reason}, in line ${grouped(line)}, ` +
      `column ${grouped(lengthOf(text, start, at) + 1)}.`,
  );
}
