// Asking the index: words in, ranked entries and marked snippets out.  Nothing here touches a page.
import { unpack } from "./pack.js";
import { KINDS, OPTIONS, isStop, matches, term, untex, words } from "./text.js";

/**
 * @typedef {object} Found an entry of the book's index
 * @property {number} id
 * @property {string} kind
 * @property {string} address
 * @property {string} page the title of its page
 * @property {boolean} top whether it is the page itself
 * @property {string} title
 * @property {string[]} trail
 * @property {string} text
 * @property {string} note
 * @property {string} letter
 * @property {number} variant
 * @property {string[]} names by which readers look for it besides its title
 * @property {string[]} [normalNames]
 * @property {string[]} [gists]
 * @property {string} [lowerText]
 * @typedef {[
 *   kind: number, page: number, anchor: string, title: string, trail: string[], text: string,
 *   note: string, letter: string, variant: number, names?: string[]
 * ]} PackedEntry
 * @typedef {object} IndexFile what index.mjs writes
 * @property {[string, string][]} pages
 * @property {PackedEntry[]} entries
 * @property {string} maths
 * @property {import("./pack.js").Packed} index
 * @typedef {ReturnType<typeof open>} Book
 * @typedef {object} Hit
 * @property {Found} entry
 * @property {string[]} terms
 * @property {number} score
 * @property {string[]} [others]
 * @property {boolean} [folded]
 */

// What a reader more likely wants of two that match alike: the word itself before a place that uses
// it, and what has a name before what is a sentence.
/** @type {Record<string, number>} */
const WEIGHT = {
  term: 1.4,
  formula: 1.25,
  letter: 1.15,
  section: 1.1,
  plot: 1,
  claim: 0.6,
  problem: 0.85,
  card: 0.7,
  assignment: 0.7,
  source: 0.4,
  fact: 1,
};
// Pages for those who teach, and pages that list what others say, come after students' pages.
const LATER = /^(?:teaching|assignments|administrators|errata|index)\.html/;
// The formula that a letter is named for comes before its variants, and all of them where a chapter
// shows them before their entries in the reference.
const REFERENCE = /^formulas-/;
/** @param {Found} entry */
const weight = ({ kind, letter, address }) =>
  WEIGHT[kind] *
  (kind === "formula" && !letter ? 0.8 : 1) *
  (kind === "formula" && REFERENCE.test(address) ? 0.7 : 1) *
  (kind === "section" && LATER.test(address) ? 0.6 : 1);
const BOOST = { title: 5, letters: 2, text: 1, trail: 0.7 };
const FEW = 4;

// The book from the index file: entries, and the search over them.
/** @param {IndexFile} file */
export function open({ pages, entries, maths, index }) {
  /** @type {Found[]} */
  const list = entries.map(
    ([kind, page, anchor, title, trail, text, note, letter, variant, names = []], id) => ({
      id,
      kind: KINDS[kind],
      address: pages[page][0] + (anchor ? `#${anchor}` : ""),
      page: pages[page][1],
      top: !anchor,
      title,
      trail,
      text,
      note,
      letter,
      variant,
      names,
    }),
  );
  return { entries: list, maths, mini: unpack(index, OPTIONS) };
}

// The words of a text that say what it is about: all of them where it has no others.
/** @param {string} text */
function content(text) {
  const all = words(text),
    some = all.filter((word) => !isStop(term(word)));
  return some.length ? some : all;
}
/** @param {string} text */
const normalize = (text) => words(text).map(term).join(" ");
// What a question and a title have in common: “how much does a token cost”, “What a token costs”.
/** @param {string} text */
const gist = (text) => content(text).map(term).join(" ");
/** @param {string} word */
function typoDistance(word) {
  if (/\p{N}/u.test(word) || word.length < 4) return false;
  return word.length < 5 ? 1 : 2;
}

// A whole title or other name, its beginning or a run of its words as they were asked weigh more
// than the same words strewn.  With these rules an entry is among the first three results for 84 %
// of pairs of words from inside its title and 92 % of four words from its text; without them for
// 79 % and 88 %.
/**
 * @param {Found} entry
 * @param {ReturnType<typeof parse>} query
 * @returns {number}
 */
function closeness(entry, { phrase, asked, several, count, raw }) {
  const names = (entry.normalNames ??= [entry.title, ...entry.names].map(normalize)),
    gists = (entry.gists ??= [entry.title, ...entry.names].map(gist));
  if (entry.letter && entry.letter === raw) return entry.kind === "letter" ? 10 : 5;
  if (names.includes(phrase) || gists.includes(asked)) {
    if (entry.kind === "term") return 7;
    // A formula by its own name, not by another's.
    return entry.top || (entry.kind === "formula" && names[0] === phrase) ? 5 : 4;
  }
  if (names.some((name) => name.startsWith(phrase))) return 2;
  if (several && ` ${names[0]} `.includes(` ${phrase}`)) return 1.8;
  if (count > 1 && asked.split(" ").every((word) => ` ${gists[0]} `.includes(` ${word} `)))
    return 1.6;
  if (several && (entry.lowerText ??= entry.text.toLowerCase()).includes(raw.toLowerCase()))
    return 1.5;
  return 1;
}

// Of the variants of a formula the best has the titles of the others as `others`; they are
// `folded`.
/** @param {Hit[]} results */
function fold(results) {
  /** @type {Map<number, string[]>} */
  const first = new Map();
  for (const result of results) {
    const { variant, title } = result.entry;
    if (!variant) continue;
    const before = first.get(variant);
    if (before) {
      before.push(title);
      result.folded = true;
    } else {
      result.others = [];
      first.set(variant, result.others);
    }
  }
  return results;
}

// What a query asks for: `text` is searched, `raw` and `phrase` (its terms) are compared with titles.
/** @param {string} query */
function parse(query) {
  const raw = untex(query)
      .trim()
      .replace(/^what does (.+) (?:mean|stand for)\W*$/i, "$1"),
    unfinished = /[\p{L}\p{N}_*]$/u.test(raw); // the last word may still be being typed
  let sought = content(raw);
  // After other words, a first letter would be looked up as the beginning of nearly everything.
  if (unfinished && sought.length > 1 && sought[sought.length - 1].length === 1)
    sought = sought.slice(0, -1);
  const text = sought.join(" "),
    last = term(words(text).at(-1) ?? "");
  /** @type {(word: string, i: number, list: string[]) => boolean} */
  const prefix = (word, i, list) => unfinished && i === list.length - 1 && word === last;
  // One letter is a symbol, or the beginning of a name; as the beginning of words in the text it
  // would be nearly all.
  const fields = text.length === 1 ? ["title", "letters"] : OPTIONS.fields;
  return {
    raw,
    phrase: normalize(raw),
    asked: gist(raw),
    several: words(raw).length > 1,
    count: new Set(sought.map(term)).size,
    text,
    options: { prefix, fields },
  };
}

// Ranked results: [{entry, terms, score}], and whether only likenesses were found.
/**
 * @param {Book} book
 * @param {string} query
 * @returns {{ results: Hit[], approximate: boolean }}
 */
export function find(book, query) {
  const parsed = parse(query),
    { raw, several, count, text, options } = parsed;
  if (!text) return { results: [], approximate: false };
  const search = (/** @type {import("minisearch").SearchOptions} */ more) =>
    book.mini.search(text, {
      boost: BOOST,
      boostDocument: (id) => weight(book.entries[id]),
      ...options,
      ...more,
    });
  const found = search({ combineWith: "AND" });
  // A letter that the book has not, such as t_comm: what its subscript begins.
  if (!found.length && raw.includes("_"))
    return {
      ...find(book, raw.replace(/(^|\P{L})\p{L}_|_/gu, "$1 ")),
      approximate: true,
    };
  const approximate = !found.length && text.length > 1;
  /** @type {(more: import("minisearch").SearchResult[], share: number) => void} */
  const add = (more, share) => {
    const ids = new Set(found.map(({ id }) => id));
    for (const result of more)
      if (!ids.has(result.id)) found.push({ ...result, score: result.score * share });
  };
  // Of three words or more, one may be the reader's own.
  if (count > 2)
    add(
      search({ combineWith: "OR" }).filter(({ queryTerms }) => queryTerms.length >= count - 1),
      0.4,
    );
  const few = () => found.length < FEW && text.length > 1;
  if (few()) add(search({ combineWith: "AND", fuzzy: typoDistance }), 0.5);
  if (few() && several) add(search({ combineWith: "OR", fuzzy: typoDistance }), 0.1);
  const results = found
    .map(({ id, score, terms }) => ({
      entry: book.entries[id],
      terms,
      score: score * closeness(book.entries[id], parsed),
    }))
    .sort((a, b) => b.score - a.score);
  return { results: fold(results), approximate };
}

// Another spelling, where nothing was found.
/**
 * @param {Book} book
 * @param {string} query
 */
export const suggest = (book, query) => {
  const known = words(untex(query)).map(
    (word) =>
      book.mini
        .autoSuggest(word, { fuzzy: 0.5, prefix: false })
        .find(({ terms }) => terms.length === 1)?.suggestion,
  );
  return known.length && known.every(Boolean) ? known.join(" ") : "";
};

// Text as [piece, whether it matched] pieces; with `length`, the stretch of about so many letters
// that matches most.
/**
 * @param {string} text
 * @param {Set<string>} terms
 * @param {number} [length]
 */
export function snippet(text, terms, length = Infinity) {
  const hits = matches(text, terms);
  let from = 0,
    to = text.length;
  if (text.length > length) {
    const best = hits
      .map(([start], i) => {
        const within = hits.slice(i).filter(([, end]) => end < start + length * 0.75);
        return [new Set(within.map((hit) => hit[2])).size * 10 + within.length, start];
      })
      .reduce((a, b) => (b[0] > a[0] ? b : a), [0, 0])[1];
    from = Math.max(0, best - length * 0.25);
    if (from) from = text.indexOf(" ", from) + 1;
    to = Math.min(text.length, from + length);
    if (to < text.length) to = Math.max(text.lastIndexOf(" ", to), from + 1);
  }
  /** @type {[string, boolean][]} */
  const pieces = [],
    /** @type {(start: number, end: number, hit: boolean) => void} */
    add = (start, end, hit) => {
      if (end > start) pieces.push([text.slice(start, end), hit]);
    };
  let at = from;
  for (const [start, end] of hits) {
    if (start < at || end > to) continue;
    add(at, start, false);
    add(start, end, true);
    at = end;
  }
  add(at, to, false);
  if (from) pieces.unshift(["… ", false]);
  if (to < text.length) pieces.push([" …", false]);
  return pieces;
}
