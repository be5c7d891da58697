// Makes the index that search/find.js asks: node index.mjs, with {pages, entries, maths} as JSON on
// standard input. Writes {pages, entries, maths, index}; an entry is [kind, page, anchor, title,
// trail, text, note, letter, variant, names], the index as pack.js has it.
import { readFileSync } from "node:fs";
import MiniSearch from "minisearch";
import { pack } from "./pack.js";
import { KINDS, OPTIONS } from "./text.js";

/**
 * @typedef {object} Entry
 * @property {string} kind
 * @property {string} page
 * @property {string} anchor
 * @property {string} title
 * @property {string} [letters]
 * @property {string} text
 * @property {string[]} trail
 * @property {string} [note]
 * @property {string} [named]
 * @property {string} [variant_of]
 * @property {string[]} [names] other names of it
 */

/** @type {{ pages: [string, string][], entries: Entry[], maths: string }} */
const { pages, entries, maths } = JSON.parse(readFileSync(0, "utf8"));
const number = new Map(pages.map(([address], i) => [address, i])),
  index = new MiniSearch(OPTIONS);
index.addAll(
  entries.map(({ page, title, letters = "", names = [], text, trail }, id) => ({
    id,
    title,
    letters: [letters, ...names].join(" "),
    text,
    trail: [pages[/** @type {number} */ (number.get(page))][1], ...trail].join(" "),
  })),
);
// Variants of one formula have one number, from 1 on; an only one has 0.
/** @type {Map<string, number>} */
const many = new Map();
for (const { variant_of: of } of entries) if (of) many.set(of, (many.get(of) || 0) + 1);
const shared = [...many].filter(([, count]) => count > 1).map(([of]) => of);
/** @type {(number | string | string[] | undefined)[][]} */
const rows = entries.map(
  ({ kind, page, anchor, title, trail, text, note = "", named = "", variant_of: of, names }) => [
    KINDS.indexOf(kind),
    number.get(page),
    anchor,
    title,
    trail,
    text,
    note,
    named,
    of ? shared.indexOf(of) + 1 : 0,
    ...(names ? [names] : []),
  ],
);
const wrong = rows.find((row) => Number(row[0]) < 0 || row[1] === undefined);
if (wrong)
  throw new Error(`An entry of no known kind or page: ${JSON.stringify(wrong).slice(0, 300)}`);
process.stdout.write(JSON.stringify({ pages, entries: rows, maths, index: pack(index.toJSON()) }));
