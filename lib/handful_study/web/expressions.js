// Formulas as learners write them, as trees of ../tree.js: the twin of
// expressions.py, same trees and same sentences.  Nothing that is written is ever
// run as code.
import { quoted, SPACE } from "../../handful_explorers/web/parse_quantity.js";

const FUNCTIONS = ["max", "min", "sqrt", "log", "log2", "exp", "floor", "ceil", "abs"];
const LONGEST = 300,
  DEEPEST = 40;
const EXPONENT = "(?:[eE][-+]?[0-9]+)?";
const NUMBER = `[0-9]+(?:\\.[0-9]*)?${EXPONENT}|\\.[0-9]+${EXPONENT}`,
  WORD = "[A-Za-z_][A-Za-z_0-9]*",
  SIGN = "\\*\\*|[-+−*/×·÷^(),=√]";
const TOKEN = new RegExp(`[${SPACE}]*(?:(${NUMBER})|(${WORD})|(${SIGN}))`, "y");
/** @type {Record<string, string | undefined>} */
const SAME = { "−": "-", "×": "*", "·": "*", "÷": "/", "**": "^" };

export class ExpressionError extends Error {}

/** @typedef {number | string} Token */

// Numbers, names and signs; a sign stands after a null byte.
/**
 * @param {string} given
 * @returns {Token[]}
 */
export function tokens(given) {
  const characters = [...given];
  if (characters.length > LONGEST)
    throw new ExpressionError(
      `A formula of ${characters.length} characters is too long; ${LONGEST} are allowed.`,
    );
  /** @type {Token[]} */
  const found = [],
    text = given.replace(new RegExp(`[${SPACE}]+$`), "");
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const at = TOKEN.lastIndex,
      match = TOKEN.exec(text);
    if (!match) {
      const [sign] = text.slice(at).replace(new RegExp(`^[${SPACE}]+`), "");
      throw new ExpressionError(
        `${quoted(sign)} has no place in a formula; + - * / ^, parentheses, names and ` +
          `${FUNCTIONS.join(" ")} are allowed.`,
      );
    }
    const [, number, name, sign] = match;
    found.push(number ? Number(number) : name || `\0${SAME[sign] ?? sign}`);
  }
  return found;
}

/**
 * @param {Token} token
 * @returns {token is string}
 */
const isSign = (token) => typeof token === "string" && token.startsWith("\0");

// The names in a text, functions left out, in the order in which they stand.
/** @param {string} text */
export const writtenNames = (text) =>
  tokens(text).filter(
    (token) => typeof token === "string" && !isSign(token) && !FUNCTIONS.includes(token),
  );

// The tree of a text; what stands side by side is multiplied, and every name stands for itself.
/**
 * @param {string} text
 * @returns {Tree}
 */
export function parse(text) {
  const left = tokens(text).reverse(),
    next = () => left[left.length - 1];
  if (!left.length)
    throw new ExpressionError("Nothing is written here yet; write a formula, such as 2*N/F.");
  /**
   * @param {string[]} signs
   * @returns {string | null}
   */
  const accept = (...signs) =>
    left.length && signs.some((sign) => next() === `\0${sign}`)
      ? String(left.pop()).slice(1)
      : null;
  /** @param {Token} token */
  const shown = (token) =>
    typeof token === "string" ? quoted(token.replace("\0", "")) : "a number";
  /** @param {string} sign */
  const expect = (sign) => {
    if (!accept(sign))
      throw new ExpressionError(
        `A ${quoted(sign)} is missing ${left.length ? `before ${shown(next())}` : "at the end"}.`,
      );
  };

  /**
   * @param {number} depth
   * @returns {Tree}
   */
  function total(depth) {
    if (depth > DEEPEST)
      throw new ExpressionError(`Parentheses more than ${DEEPEST} deep are too many.`);
    /** @type {[Tree, ...Tree[]]} */
    const parts = [product(depth)];
    for (let sign; (sign = accept("+", "-"));) {
      const part = product(depth);
      parts.push(sign === "+" ? part : ["*", -1, part]);
    }
    return parts.length === 1 ? parts[0] : ["+", ...parts];
  }

  /**
   * @param {number} depth
   * @returns {Tree}
   */
  function product(depth) {
    let found = power(depth);
    while (left.length) {
      const sign = accept("*", "/");
      if (sign) found = [sign, found, power(depth)];
      else if (next() === "\0(" || next() === "\0√" || !isSign(next()))
        found = ["*", found, power(depth)];
      else break;
    }
    return found;
  }

  /**
   * @param {number} depth
   * @returns {Tree}
   */
  function power(depth) {
    if (accept("-")) return depth < DEEPEST ? ["*", -1, power(depth + 1)] : total(depth + 1);
    if (accept("+")) return depth < DEEPEST ? power(depth + 1) : total(depth + 1);
    const base = atom(depth);
    return depth < DEEPEST && accept("^") ? ["^", base, power(depth + 1)] : base;
  }

  /**
   * @param {number} depth
   * @returns {Tree}
   */
  function atom(depth) {
    if (!left.length)
      throw new ExpressionError("The formula ends where a number or a name should stand.");
    if (accept("(")) {
      const inside = total(depth + 1);
      expect(")");
      return inside;
    }
    if (accept("√")) return depth < DEEPEST ? ["sqrt", atom(depth + 1)] : total(depth + 1);
    const token = left.pop() ?? NaN;
    if (typeof token === "number") return token;
    if (isSign(token))
      throw new ExpressionError(
        `${quoted(token.slice(1))} stands where a number or a name should.`,
      );
    if (!FUNCTIONS.includes(token)) return token;
    expect("(");
    return call(token, depth);
  }

  /**
   * @param {string} name
   * @param {number} depth
   * @returns {Tree}
   */
  function call(name, depth) {
    /** @type {[Tree, ...Tree[]]} */
    const values = [total(depth + 1)],
      many = name === "max" || name === "min";
    while (accept(",")) values.push(total(depth + 1));
    expect(")");
    if ((values.length === 1) === many)
      throw new ExpressionError(`${name} takes ${many ? "two values or more" : "one value"}.`);
    return name === "log2" ? ["/", ["log", ...values], ["log", 2]] : [name, ...values];
  }

  const tree = total(0);
  if (left.length)
    throw new ExpressionError(
      `${shown(next())} stands where the formula should end or go on with a sign.`,
    );
  return tree;
}

// The tree with names replaced by trees.
/**
 * @param {Tree} tree
 * @param {Record<string, Tree>} known
 * @returns {Tree}
 */
export function replace(tree, known) {
  if (typeof tree === "string") return Object.hasOwn(known, tree) ? known[tree] : tree;
  if (!Array.isArray(tree)) return tree;
  return [tree[0], ...tree.slice(1).map((part) => replace(part, known))];
}
