// What the letters of an equation are now: from the scenario, or by the formulas that give them.

// The plot of the page that has a letter as its axis, and where its cursor stands.
/**
 * @typedef {{ value: number, figure: Element }} Cursor
 * @typedef {Map<string, Cursor>} Cursors by the letter of the axis
 * @param {string} name
 * @returns {Cursor[]}
 */
export const cursorsOf = (name) =>
  [...document.querySelectorAll("figure.explorer")].flatMap((figure) => {
    const text = figure.querySelector("script.explorer-spec")?.textContent,
      axis = text && JSON.parse(text).x;
    if (axis?.name !== name) return [];
    const now = figure.querySelector("[role=slider]")?.getAttribute("aria-valuenow");
    return [{ value: Number(now ?? axis.at), figure }];
  });

// How to find a letter's value: the scenario has it, or a formula gives it of such.  What the
// scenario does not fix stands where the cursor of a plot has it, which is told as `at`.
/**
 * @param {import("./boxes.js").Page} page
 * @param {Promise<{ trees?: Record<string, Tree>, defaults?: SymbolValues }>} asked
 * @returns {Promise<(name: string) => { value?: number, at: Cursors }>}
 */
export async function letterValues({ store, compile, symbols }, asked) {
  if (!document.body.classList.contains("has-scenario")) return () => ({ at: new Map() });
  /** @type {Awaited<typeof asked>} */
  const nothing = {};
  const { trees = {}, defaults = {} } = await asked.catch(() => nothing);
  const values = store.values();
  return (wanted) => {
    /** @type {Cursors} */
    const at = new Map();
    /** @type {(name: string, above: string[]) => number | undefined} */
    const find = (name, above) => {
      if (typeof values[name] === "number") return values[name];
      if (above.includes(name)) return undefined;
      if (Object.hasOwn(trees, name)) {
        /** @type {SymbolValues} */
        const known = {};
        for (const input of symbols(trees[name])) {
          const value = find(input, [...above, name]);
          if (value === undefined) return undefined;
          known[input] = value;
        }
        const value = compile(trees[name])(known);
        return Number.isFinite(value) ? value : undefined;
      }
      const cursor = above.length ? cursorsOf(name)[0] : undefined;
      if (cursor) at.set(name, cursor);
      return cursor?.value ?? defaults[name];
    };
    const value = find(wanted, []);
    return { value, at: value === undefined ? new Map() : at };
  };
}
