// Sentences that are true for some scenarios only: <div class="where" data-where='{"not": …, "all":
// [[">", LEFT, RIGHT]]}'>. A side is a number or {tree, set, values}; conditions.py writes them.
// What does not hold is hidden; where a value is missing (a price, wires) a comparison does not
// hold.  With the class with-next, what follows goes along.
import { lacks, store } from "../../handful_explorers/web/scenario.js";
import { compile } from "../../handful_explorers/web/tree.js";

/**
 * @typedef {number | "inf" | { tree: Tree, set: State, values?: SymbolValues }} Side
 * @typedef {{ not: boolean, all: [string, Side, Side][] }} Condition
 */

/** @type {Record<string, (a: number, b: number) => boolean>} */
const COMPARE = {
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
};
const CHOICES = ["hardware", "model", "precision"];

/**
 * @param {Side} data
 * @returns {() => number}
 */
function side(data) {
  if (data === "inf") return () => Infinity;
  if (typeof data === "number") return () => data;
  const run = compile(data.tree),
    entries = Object.entries(data.set);
  const pinned = /** @type {Partial<Choice>} */ (
      Object.fromEntries(entries.filter(([name]) => CHOICES.includes(name)))
    ),
    set = /** @type {SymbolValues} */ (
      Object.fromEntries(entries.filter(([name]) => !CHOICES.includes(name)))
    );
  return () => run({ ...(data.values || {}), ...store.values(pinned), ...set });
}

/**
 * @param {Condition} data
 * @returns {() => boolean}
 */
function condition(data) {
  const all = data.all.map(([symbol, left, right]) => ({
    compare: COMPARE[symbol],
    left: side(left),
    right: side(right),
  }));
  return () => {
    let truth;
    try {
      truth = all.every(({ compare, left, right }) => compare(left(), right()));
    } catch {
      truth = false;
    }
    return truth !== data.not;
  };
}

export function mountWhere(root = document) {
  /** @type {NodeListOf<HTMLElement>} */
  const nodes = root.querySelectorAll("[data-where]");
  const parts = [...nodes].map((node) => ({
    node,
    test: condition(JSON.parse(node.dataset.where ?? "")),
  }));
  if (!parts.length) return;
  const draw = () => {
    if (lacks(store.choice.hardware, store.choice.precision)) return;
    for (const { node, test } of parts) {
      node.hidden = !test();
      const next = node.nextElementSibling;
      if (node.classList.contains("with-next") && next instanceof HTMLElement)
        next.hidden = node.hidden;
    }
  };
  store.on(draw);
  draw();
}
