// One result as a reader sees it.
import { h } from "../../../handful_explorers/web/dom.js";
import { snippet } from "./find.js";
import { matches } from "./text.js";

/** @type {Record<string, string>} */
export const NAMES = {
  section: "Section",
  plot: "Plot",
  formula: "Formula",
  letter: "Letter",
  term: "Term",
  claim: "Claim",
  card: "Card",
  problem: "Problem",
  assignment: "Assignment",
  source: "Source",
  fact: "Facts",
};
/** @type {Record<string, { label: string, kinds?: string[] }>} */
export const GROUPS = {
  all: { label: "All" },
  formulas: { label: "Formulas", kinds: ["formula", "letter"] },
  text: { label: "Text and plots", kinds: ["section", "plot"] },
  terms: { label: "Terms", kinds: ["term"] },
  claims: { label: "Claims", kinds: ["claim"] },
  cards: { label: "Cards", kinds: ["card"] },
  problems: { label: "Problems", kinds: ["problem", "assignment"] },
  facts: { label: "Facts", kinds: ["fact"] },
  sources: { label: "Sources", kinds: ["source"] },
};
const groups = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([name, { kinds = [] }]) => kinds.map((kind) => [kind, name])),
);
/** @param {import('./find.js').Found} entry */
export const groupOf = (entry) => groups[entry.kind];

/** @param {[string, boolean][]} found */
const marked = (found) =>
  found.map(([piece, matched]) => (matched ? h("mark", { text: piece }) : piece));
// What parts a result's pieces where it is read aloud; to the eye lines and frames do.
/** @param {string} text */
const pause = (text) => h("span", { class: "find-pause", text });

// What a result is, as it is said.
/** @param {import('./find.js').Found} entry */
export function named(entry) {
  const title = snippet(entry.title, new Set(), 100)
    .map(([piece]) => piece)
    .join("")
    .replace(/\.$/, "");
  return `${title}, ${entry.top ? "Page" : NAMES[entry.kind]}`;
}

// Kinds whose other names are what others call the same; those of a section are what it is about.
const CALLED = new Set(["term", "letter", "formula"]);

// The other name under which it was found, or "".
/**
 * @param {import('./find.js').Found} entry
 * @param {Set<string>} wanted
 */
function otherName({ kind, title, names }, wanted) {
  if (!CALLED.has(kind) || matches(title, wanted).length) return "";
  return names.find((name) => matches(name, wanted).length) ?? "";
}

/** @param {string[]} names */
const listed = (names) =>
  names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");

/**
 * @param {Pick<import('./find.js').Hit, 'entry' | 'terms'> & { others: string[] }} hit
 * @param {URL} home
 * @param {boolean} option
 */
export function hit({ entry, terms, others }, home, option) {
  const wanted = new Set(terms),
    trail = [entry.top ? "" : entry.page, ...entry.trail.filter((name) => name !== entry.page)]
      .filter(Boolean)
      .join(" › "),
    text = snippet(entry.text, wanted, 150),
    also = others.length ? `Also: ${listed(others)}` : "",
    ended = Boolean(also) || /[.?!…]$/.test(text[text.length - 1]?.[0] ?? ""),
    name = otherName(entry, wanted);
  return h(
    "a",
    {
      class: `find-hit find-${entry.kind}`,
      href: new URL(entry.address, home),
      "data-terms": JSON.stringify(terms),
      ...(option ? { role: "option", tabindex: "-1" } : {}),
    },
    h(
      "span",
      { class: "find-head" },
      h("span", { class: "find-title" }, ...marked(snippet(entry.title, wanted, 170))),
      pause(", "),
      " ",
      h("span", { class: "find-kind", text: entry.top ? "Page" : NAMES[entry.kind] }),
      entry.note ? pause(", ") : null,
      entry.note ? " " : null,
      entry.note ? h("span", { class: "find-note", text: entry.note }) : null,
    ),
    entry.kind === "formula" || entry.kind === "letter"
      ? h("span", { class: "find-maths", "data-maths": entry.id, "aria-hidden": "true" })
      : null,
    name
      ? h(
          "span",
          { class: "find-text" },
          pause(". "),
          "Also called ",
          ...marked(snippet(name, wanted)),
          ".",
        )
      : null,
    entry.text
      ? h("span", { class: "find-text" }, pause(name ? " " : ". "), ...marked(text))
      : null,
    also ? h("span", { class: "find-text" }, pause(". "), `${also}.`) : null,
    trail ? h("span", { class: "find-trail" }, pause(ended ? " In: " : ". In: "), trail) : null,
  );
}
