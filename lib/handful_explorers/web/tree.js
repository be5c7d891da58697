// Expression trees (handful/tree.py) made into functions, without eval: a Content-Security-Policy
// can forbid it.

// Without a prototype: a tree that names "constructor" must not find one.
/**
 * @template T
 * @param {Record<string, T>} entries
 * @returns {Record<string, T | undefined>}
 */
const table = (entries) => Object.assign(Object.create(null), entries);
/**
 * @typedef {(a: number) => number} One
 * @typedef {(a: number, b: number) => number} Two
 */
/** @type {Record<string, Two | undefined>} */
const pair = table({ "/": (a, b) => a / b, "^": Math.pow });
/** @type {Record<string, Two | undefined>} */
const fold = table({ "+": (a, b) => a + b, "*": (a, b) => a * b, max: Math.max, min: Math.min });
const single = table({
  log: Math.log,
  exp: Math.exp,
  floor: Math.floor,
  ceil: Math.ceil,
  sqrt: Math.sqrt,
  abs: Math.abs,
});

/**
 * @param {[string, ...Tree[]]} tree
 * @returns {{ args: Tree[], one: One, two?: undefined } | { args: Tree[], one?: undefined, two: Two
 *   }}
 */
function parts(tree) {
  const [head, ...args] = tree;
  const f = single[head],
    g = pair[head],
    h = fold[head];
  if (f && args.length === 1) return { args, one: f };
  if (g && args.length === 2) return { args, two: g };
  if (h && args.length >= 1) return { args, two: h };
  throw new Error(
    `A formula on this page uses '${String(head)}' with ${args.length} arguments; allowed are ` +
      "+ * / ^ max min log exp floor ceil sqrt abs.",
  );
}

/**
 * @param {Tree} tree
 * @param {Set<string>} [found]
 * @returns {Set<string>}
 */
export function symbols(tree, found = new Set()) {
  if (typeof tree === "string") found.add(tree);
  else if (Array.isArray(tree)) for (const arg of parts(tree).args) symbols(arg, found);
  return found;
}

// A formula needs a symbol for which the chip or the model has no value.
export class MissingValue extends Error {
  /** @param {string} symbol */
  constructor(symbol) {
    super(`There is no value of '${symbol}'.`);
    this.symbol = symbol;
  }
}

/**
 * @param {SymbolValues} values
 * @param {string} name
 * @returns {number}
 */
function lookup(values, name) {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (typeof value !== "number") throw new MissingValue(name);
  return value;
}

// compile(tree)(values) → number.
/**
 * @param {Tree} tree
 * @returns {(values: SymbolValues) => number}
 */
export function compile(tree) {
  if (typeof tree === "number") return () => tree;
  if (typeof tree === "string") return (values) => lookup(values, tree);
  const { args, one, two } = parts(tree);
  const [first, ...rest] = args.map(compile);
  if (one) return (values) => one(first(values));
  if (rest.length === 0) return first;
  if (rest.length === 1) {
    const second = rest[0];
    return (values) => two(first(values), second(values));
  }
  return (values) => rest.reduce((sum, next) => two(sum, next(values)), first(values));
}

// compileSweep(tree, name, n)(values, xs) → Float64Array of n results, the same array at every
// call. What does not hold the swept symbol is computed once a call; what does owns its buffer, so
// a frame allocates nothing.
/**
 * @param {Tree} tree
 * @param {string} name
 * @param {number} n
 * @returns {(values: SymbolValues, xs: Float64Array) => Float64Array}
 */
export function compileSweep(tree, name, n) {
  const run = sweepNode(tree, name, n),
    out = new Float64Array(n);
  return (values, xs) => {
    const result = run(values, xs);
    return typeof result === "number" ? out.fill(result) : result;
  };
}

/**
 * @param {Tree} tree
 * @param {string} name
 * @param {number} n
 * @returns {(values: SymbolValues, xs: Float64Array) => number | Float64Array}
 */
function sweepNode(tree, name, n) {
  if (tree === name) return (values, xs) => xs;
  if (!Array.isArray(tree) || !symbols(tree).has(name)) return compile(tree);
  const { args, one, two } = parts(tree);
  const runs = args.map((arg) => sweepNode(arg, name, n)),
    buffer = new Float64Array(n);
  if (one)
    return (values, xs) => {
      // what holds the swept symbol is an array
      const a = /** @type {Float64Array} */ (runs[0](values, xs));
      for (let i = 0; i < n; i++) buffer[i] = one(a[i]);
      return buffer;
    };
  return (values, xs) => {
    let a = runs[0](values, xs);
    for (let k = 1; k < runs.length; k++) {
      const left = a,
        right = runs[k](values, xs),
        oneLeft = typeof left === "number",
        oneRight = typeof right === "number";
      if (oneLeft && oneRight) {
        a = two(left, right);
        continue;
      }
      for (let i = 0; i < n; i++)
        buffer[i] = two(oneLeft ? left : left[i], oneRight ? right : right[i]);
      a = buffer;
    }
    return a;
  };
}
