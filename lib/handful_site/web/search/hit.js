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
/** @param {[string, boolean][]} found */
const plain = (found) => found.map(([piece]) => piece).join("");

// What a result is, as it is said.
/** @param {import('./find.js').Found} entry */
export function named(entry) {
  const title = plain(snippet(entry.title, new Set(), 100)).replace(/\.$/, "");
  return `${title}, ${entry.top ? "Page" : NAMES[entry.kind]}`;
}

// Kinds whose other names are what others call the same; those of a section are what it is about.
const CALLED = new Set(["term", "letter", "formula"]);

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
    // The other name under which it was found.
    name =
      (CALLED.has(entry.kind) &&
        !matches(entry.title, wanted).length &&
        entry.names.find((other) => matches(other, wanted).length)) ||
      "";
  return h(
    "a",
    {
      class: `find-hit find-${entry.kind}`,
      href: new URL(entry.address, home),
      "data-terms": JSON.stringify(terms),
      "aria-label": [
        named(entry),
        entry.note.replace(/^[^\p{L}\p{N}]+/u, ""),
        name && `Also called ${name}`,
        plain(text).replace(/\.$/, ""),
        also,
        trail && `In: ${trail}`,
      ]
        .filter(Boolean)
        .join(". "),
      ...(option ? { role: "option", tabindex: "-1" } : {}),
    },
    h(
      "span",
      { class: "find-head" },
      h("span", { class: "find-title" }, ...marked(snippet(entry.title, wanted, 170))),
      " ",
      h("span", { class: "find-kind", text: entry.top ? "Page" : NAMES[entry.kind] }),
      entry.note ? " " : null,
      entry.note ? h("span", { class: "find-note", text: entry.note }) : null,
    ),
    entry.kind === "formula" || entry.kind === "letter"
      ? h("span", { class: "find-maths", "data-maths": entry.id, "aria-hidden": "true" })
      : null,
    name
      ? h("span", { class: "find-text" }, "Also called ", ...marked(snippet(name, wanted)), ".")
      : null,
    entry.text ? h("span", { class: "find-text" }, " ", ...marked(text)) : null,
    also ? h("span", { class: "find-text" }, ` ${also}.`) : null,
    trail ? h("span", { class: "find-trail" }, " ", trail) : null,
  );
}
