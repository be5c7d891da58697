// The boxes that open in place.  What they show of terms, badges and letters comes from the page
// that has it (Glossary, ledger, Notation), and typeset formulas from a file for all pages, which
// the block of live numbers names in data-boxes:
//   {"formulas": {NAME: html}, "letters": {NAME: html}, "trees": {NAME: tree},
//    "defaults": {NAME: number}}
// Each is fetched when the first box asks for it.
import { h } from "../../handful_explorers/web/dom.js";
import { formatValue, UNITS } from "../../handful_explorers/web/units.js";
import { cursorsOf, letterValues } from "./letter_values.js";

/** @type {Kind[]} */
const CHOICES = ["hardware", "model", "precision"];

/**
 * What the page tells of itself.
 *
 * @typedef {typeof import("../../handful_explorers/web/scenario.js")} Scenario
 * @typedef {import("./live.js").Formula} Formula
 * @typedef {object} Page
 * @property {(span: HTMLElement) => { name: string, formula: Formula,
 *   result: import("./live.js").Computed }} number
 * @property {Scenario["label"]} label
 * @property {Scenario["row"]} row
 * @property {Scenario["store"]} store
 * @property {typeof import("../../handful_explorers/web/tree.js").compile} compile
 * @property {typeof import("../../handful_explorers/web/tree.js").symbols} symbols
 */

// `at` is what the box stands at, `back` what gets the focus when it closes.
/** @type {{ at: HTMLElement, back: HTMLElement, box: HTMLElement } | null} */
let open = null;

/** @param {boolean} back */
function close(back) {
  if (!open) return;
  open.back.removeAttribute("aria-expanded");
  open.box.remove();
  if (back) open.back.focus();
  open = null;
}

/**
 * @param {HTMLElement} opener
 * @param {Page} page
 */
export function toggle(opener, page) {
  const equation = opener.closest(".lettered"),
    before = equation?.querySelector(".is-at");
  if (equation && opener.dataset.letter) {
    before?.classList.remove("is-at");
    opener.classList.add("is-at");
  }
  const at = /** @type {HTMLElement} */ (
      opener.matches(".letters") ? (before ?? equation ?? opener) : opener
    ),
    back = equation?.querySelector("button") ?? opener,
    again = open?.at === at;
  close(false);
  if (again) return back.focus();
  const box = make(at, page);
  document.body.append(box);
  place(box, at);
  back.setAttribute("aria-expanded", "true");
  open = { at, back, box };
  closer(box)?.focus({ preventScroll: true });
}

document.addEventListener("click", ({ target }) => {
  if (!open || !(target instanceof Node)) return;
  const { at, back, box } = open;
  if (![at, back, box].some((part) => part.contains(target))) close(false);
});
document.addEventListener("keydown", (event) => {
  if (!open) return;
  if (event.key === "Escape") {
    close(true);
    event.preventDefault();
  } else if (event.key === "Tab") trap(event, open.box);
});
addEventListener("resize", () => close(false));

/**
 * @param {HTMLElement} box
 * @returns {HTMLElement | null}
 */
const closer = (box) => box.querySelector(".pop-close");

// Tab goes round within the open box; Escape or its button leaves it.
/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement} box
 */
function trap(event, box) {
  /** @type {HTMLElement[]} */
  const stops = [...box.querySelectorAll("a[href], button")].filter(
      (one) => one instanceof HTMLElement,
    ),
    first = stops[0],
    last = stops[stops.length - 1];
  if (
    !box.contains(document.activeElement) ||
    (event.shiftKey ? document.activeElement === first : document.activeElement === last)
  ) {
    (event.shiftKey ? last : first).focus();
    event.preventDefault();
  }
}

// Under what it is about, kept within the window's sides.
/**
 * @param {HTMLElement} box
 * @param {HTMLElement} about
 */
function place(box, about) {
  const at = about.getClientRects()[0] ?? about.getBoundingClientRect(),
    width = Math.min(400, document.documentElement.clientWidth - 24);
  box.style.width = `${width}px`;
  const left = Math.min(
    Math.max(at.left + at.width / 2 - width / 2, 12),
    document.documentElement.clientWidth - width - 12,
  );
  const below = innerHeight - at.bottom,
    tall = box.offsetHeight,
    over = below < tall + 20 && at.top > tall + 20;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${scrollY + (over ? at.top - tall - 8 : at.bottom + 8)}px`;
}

/**
 * @param {HTMLElement} at
 * @param {Page} page
 */
function make(at, page) {
  if (at.dataset.live) return numberBox(at, page);
  if (at.dataset.letter) return letterBox(at.dataset.letter, page);
  if (at.matches(".lettered")) return lettersBox(at, page);
  if (at instanceof HTMLAnchorElement) return at.matches(".claim") ? badgeBox(at) : termBox(at);
  const box = shell(at.dataset.label || at.textContent || "");
  box.append(source(at.dataset.source ?? ""));
  return box;
}

/** @param {string} title */
function shell(title) {
  return h(
    "div",
    { class: "pop", role: "dialog", "aria-modal": "true", "aria-label": title },
    h(
      "div",
      { class: "pop-head" },
      h("strong", { text: title }),
      h("button", {
        type: "button",
        class: "pop-close",
        "aria-label": "Close",
        text: "×",
        onclick: () => close(true),
      }),
    ),
  );
}

// What is fetched ------------------------------------------------------------------------------

/** @type {Map<string, Promise<any>>} */
const known = new Map();
/**
 * What is read from an address, asked for once; after a failure, once more.
 *
 * @template T
 * @param {URL} address
 * @param {(answer: Response) => Promise<T>} read
 * @returns {Promise<T>}
 */
function fetched(address, read) {
  const { href } = address,
    asked =
      known.get(href) ??
      fetch(href).then((answer) =>
        answer.ok ? read(answer) : Promise.reject(new Error(String(answer.status))),
      );
  known.set(href, asked);
  asked.catch(() => known.delete(href));
  return asked;
}

// The element of the book that an address leads to.
/** @param {URL} address */
async function fetchTarget(address) {
  const page = new URL(address);
  page.hash = "";
  const parsed = await fetched(page, async (answer) =>
    new DOMParser().parseFromString(await answer.text(), "text/html"),
  );
  const found = parsed.getElementById(decodeURIComponent(address.hash.slice(1)));
  if (!found) throw new Error(`${address} leads nowhere.`);
  return found;
}

// Copies of nodes of another page: their links lead where they led there, and their names stay
// there.
/**
 * @param {Iterable<Node>} nodes
 * @param {URL} address
 */
function copies(nodes, address) {
  const part = document.createDocumentFragment();
  for (const node of nodes) part.append(document.importNode(node, true));
  for (const one of part.querySelectorAll("*"))
    for (const name of ["id", "aria-labelledby"]) one.removeAttribute(name);
  for (const link of part.querySelectorAll("a"))
    link.href = new URL(link.getAttribute("href") ?? "", address).href;
  return part;
}

// Adds what comes later, before `foot`; the box may then need another place.
/**
 * @param {HTMLElement} box
 * @param {HTMLElement} foot
 * @param {Promise<(string | Node)[]>} coming
 */
function fill(box, foot, coming) {
  box.append(foot);
  box.setAttribute("aria-busy", "true");
  coming
    .catch(() => [h("p", { text: "What stands here could not be fetched; try again later." })])
    .then((parts) => {
      foot.before(...parts);
      box.removeAttribute("aria-busy");
      settle(box);
    });
  return box;
}

/** @param {HTMLElement} box */
function settle(box) {
  if (open?.box === box) place(box, open.at);
}

/**
 * @param {string | URL} address
 * @param {string} text
 */
const footer = (address, text) =>
  h("p", { class: "pop-source" }, h("a", { href: String(address), text }));

// Terms, badges and letters ----------------------------------------------------------------------

/** @param {HTMLAnchorElement} link */
function termBox(link) {
  const address = new URL(link.href),
    defined = fetchTarget(address).then((term) => {
      /** @type {Element | null} */
      let said = term;
      while (said && said.tagName !== "DD") said = said.nextElementSibling; // terms may share one
      return [copies(said?.childNodes ?? [], address)];
    });
  return fill(shell(link.textContent ?? ""), footer(link.href, "In the glossary"), defined);
}

// Who said it and when, what was said, what comes out, why, and what the verdict means.
/** @param {HTMLAnchorElement} link */
function badgeBox(link) {
  const verdict = link.textContent ?? "",
    address = new URL(link.href);
  const told = fetchTarget(address).then((entry) => {
    const parts = entry.querySelectorAll(
        ".entry-head > .lecture-time, .entry-who, .entry-said, .entry-how, .entry-found, .entry-why",
      ),
      meaning = [...entry.ownerDocument.querySelectorAll(".ledger-overview tbody tr")]
        .find((row) => row.querySelector(".verdict")?.textContent === verdict)
        ?.querySelector("td:last-child")?.textContent;
    const [time, who, ...rest] = copies(parts, address).children;
    return [
      h("p", { class: "pop-scene" }, who, " at ", time),
      ...rest,
      ...(meaning ? [h("p", { class: "pop-scene", text: `${verdict.slice(2)}: ${meaning}` })] : []),
    ];
  });
  return fill(shell(verdict), footer(link.href, "In the ledger"), told);
}

/** @param {string} name */
const notation = (name) =>
  new URL(
    `${document.documentElement.dataset.content_root ?? ""}notation.html#symbol-row-${name}`,
    document.baseURI,
  );

/** @param {string} name */
const spelled = (name) => capital(name.replaceAll("_", " "));
/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// A letter's row in Notation: itself, its name in Python, its meaning, its dimension.
/** @param {string} name */
async function fetchRow(name) {
  const address = notation(name),
    found = await fetchTarget(address),
    [letter, , meaning] = found.children;
  return {
    letter: () => copies(letter.childNodes, address),
    meaning: meaning.textContent ?? "",
    label: found.dataset.label ?? spelled(name),
    unit: found.dataset.unit ?? "1",
  };
}

/**
 * @param {string} name
 * @param {Page} page
 */
function letterBox(name, page) {
  const told = fetchRow(name).then(async ({ letter, meaning, unit }) => {
    const { hint, many } = UNITS[unit] ?? {};
    return [
      h("p", null, letter(), ` ${capital(meaning)}.`),
      h("p", { text: unit === "1" ? "A plain number." : `Unit: ${hint || many || unit}.` }),
      h("p", null, ...(await now(name, unit, page))),
    ];
  });
  return fill(shell(spelled(name)), footer(notation(name), "In Notation"), told);
}

// All letters of an equation, each once.
/**
 * @param {HTMLElement} equation
 * @param {Page} page
 */
function lettersBox(equation, page) {
  const names = [...new Set(lettersOf(equation).map((one) => one.dataset.letter ?? ""))],
    told = letterValues(page, bookFile()).then(async (valueOf) => {
      /** @type {import("./letter_values.js").Cursors} */
      const cursors = new Map();
      const rows = names.map(async (name) => {
        const { letter, label, unit } = await fetchRow(name),
          { value, at } = valueOf(name);
        for (const [axis, cursor] of at) cursors.set(axis, cursor);
        return h(
          "tr",
          null,
          h("td", { class: "pop-letter" }, letter()),
          h("th", { scope: "row" }, h("a", { href: String(notation(name)), text: label })),
          h("td", {
            class: "pop-number",
            text: value === undefined ? "" : written(name, value, unit, page.store.values()),
          }),
        );
      });
      const table = h("table", null, h("tbody", null, ...(await Promise.all(rows)))),
        where = await places(cursors);
      return where.length
        ? [table, h("p", { class: "pop-scene" }, "With ", ...where, ".")]
        : [table];
    });
  return fill(shell("Letters of this equation"), scene(page), told);
}

// A letter's value.  A model without windows is computed with one of a token, which holds nothing.
/**
 * @param {string} name
 * @param {number} value
 * @param {string} unit
 * @param {SymbolValues} values
 */
const written = (name, value, unit, values) =>
  name === "window_tokens" && values.window_cache_memory === 0
    ? "none"
    : formatValue(value, unit, 4);

/**
 * @param {ParentNode} equation
 * @returns {HTMLElement[]}
 */
const lettersOf = (equation) =>
  [...equation.querySelectorAll("[data-letter]")]
    .filter((one) => one instanceof HTMLElement)
    .sort((a, b) => Number(a.dataset.n) - Number(b.dataset.n));

// “batch 256 sequences, at the cursor of (a plot)”
/**
 * @param {import("./letter_values.js").Cursors} cursors
 * @returns {Promise<(string | Node)[]>}
 */
async function places(cursors) {
  const all = [...cursors].map(async ([name, { value, figure }], i) => {
    const { label, unit } = await fetchRow(name);
    return [
      `${i ? ", " : ""}${label.toLowerCase()} ${formatValue(value, unit, 4)}, at the cursor of `,
      linkTo(figure),
    ];
  });
  return (await Promise.all(all)).flat();
}

/** @param {Element} figure */
const linkTo = (figure) =>
  h("a", {
    href: `#${figure.id}`,
    text: figure.querySelector(".ex-title, .explorer-title")?.textContent ?? "a plot",
    onclick: () => close(false),
  });

// Its value for the page's scenario, and the plots of the page of which it is the axis.
/**
 * @param {string} name
 * @param {string} unit
 * @param {Page} page
 * @returns {Promise<(string | Node)[]>}
 */
async function now(name, unit, page) {
  const { value, at } = (await letterValues(page, bookFile()))(name),
    text = value === undefined ? "" : written(name, value, unit, page.store.values());
  if (value !== undefined && at.size)
    return ["Now ", h("strong", { text }), `, ${forWhom(page)}, with `, ...(await places(at)), "."];
  if (value !== undefined) return ["Now ", h("strong", { text }), `, ${forWhom(page)}.`];
  const plots = cursorsOf(name);
  if (!plots.length) return ["The scenario does not fix it."];
  return plots.flatMap(({ figure }, i) => [
    i ? ", " : "The scenario does not fix it; it is the axis of ",
    linkTo(figure),
    i === plots.length - 1 ? "." : "",
  ]);
}

// What a choice sets that its row does not hold under the same name.
/** @type {Record<Kind, string[]>} */
const SETS = {
  hardware: ["peak_flops"],
  model: ["kv_bytes_per_token", "window_cache_memory"],
  precision: ["peak_flops", "kv_bytes_per_token", "window_cache_memory"],
};

// Whose numbers these are: of the chip, model and precision, or of those that a formula asks.
/**
 * @param {Page} page
 * @param {Partial<Choice>} [pinned]
 * @param {string[]} [needed]
 */
function forWhom({ store, label, row }, pinned = {}, needed) {
  const choice = { ...store.choice, ...pinned };
  /** @param {Kind} kind */
  const asked = (kind) => {
    const found = /** @type {{ values?: object }} */ (row(kind, choice[kind])),
      named = { ...found, ...found.values };
    return needed?.some((one) => one in named || SETS[kind].includes(one)) ?? true;
  };
  const kinds = CHOICES.filter(asked);
  return kinds.length ? `for ${kinds.map((kind) => label(kind, choice[kind])).join(", ")}` : "";
}

/** @param {Page} page */
const scene = (page) =>
  h("p", {
    class: "pop-scene",
    text: document.body.classList.contains("has-scenario") ? `${capital(forWhom(page))}.` : "",
  });

// Numbers and facts ------------------------------------------------------------------------------

// Lecture times become links; all else is text.
/** @param {string} text */
function source(text) {
  const found = /\b(?:(\d+):)?(\d{1,2}):(\d\d)\b/.exec(text);
  if (!found) return h("p", { class: "pop-source", text: `Source: ${text}.` });
  const seconds = Number(found[1] || 0) * 3600 + Number(found[2]) * 60 + Number(found[3]);
  return h(
    "p",
    { class: "pop-source" },
    "Source: ",
    text.slice(0, found.index),
    h("a", {
      href: `https://www.youtube.com/watch?v=xmkSf5IS-zw&t=${seconds}s`,
      rel: "noopener",
      text: `the lecture at ${found[0]}`,
    }),
    `${text.slice(found.index + found[0].length)}.`,
  );
}

// The file for all pages.
const bookFile = () =>
  fetched(
    new URL(document.getElementById("live-numbers")?.dataset.boxes ?? "", document.baseURI),
    (answer) => answer.json(),
  );

// Fills a node once the typeset forms are here; without them (no network) the box does without.
/**
 * @param {HTMLElement} box
 * @param {HTMLElement} node
 * @param {'formulas' | 'letters'} kind
 * @param {string} name
 */
function typeset(box, node, kind, name) {
  bookFile()
    .then((found) => {
      node.innerHTML = found[kind]?.[name] || ""; // the book's own, typeset when it was built
      settle(box); // which is taller now
    })
    .catch(() => {
      if (kind === "formulas")
        node.textContent =
          "The typeset formula could not be fetched; close this box and open it again to try " +
          "once more.";
    });
  return node;
}

/**
 * @param {HTMLElement} span
 * @param {Page} page
 */
function numberBox(span, page) {
  const { name, formula, result } = page.number(span),
    box = shell(`${formula.label || name.replaceAll("_", " ")}: ${result.text}`);
  box.append(h("p", { text: `${capital(formula.meaning)}.` }));
  box.append(typeset(box, h("div", { class: "pop-formula" }), "formulas", name));
  if (result.reason) box.append(h("p", { class: "pop-reason", text: result.reason }));
  if (result.values) {
    const { values, pinned = {}, symbols = {} } = result,
      asked = Object.keys(pinned).length ? ", as this sentence asks" : "",
      whom = forWhom(
        page,
        pinned,
        formula.inputs.map((one) => one.name).filter((one) => !(one in symbols)),
      );
    box.append(inputs(box, formula, values, symbols));
    if (whom) box.append(h("p", { class: "pop-scene", text: `${capital(whom)}${asked}.` }));
    const { counts } = page.row("model", { ...page.store.choice, ...pinned }.model);
    if (counts && formula.inputs.some((input) => /^(total|active)_parameters$/.test(input.name)))
      box.append(h("p", { class: "pop-counts", text: counts }));
  }
  const conventions = formula.conventions || [];
  if (conventions.length)
    box.append(h("ul", null, ...conventions.map((text) => h("li", { text }))));
  if (formula.source) box.append(source(formula.source));
  return box;
}

// Letter, name and value of each input; those that stand at one or nothing, as in a plain case, are
// left out.
/**
 * @param {HTMLElement} box
 * @param {Formula} formula
 * @param {SymbolValues} values
 * @param {SymbolValues} symbols
 */
function inputs(box, formula, values, symbols) {
  const rows = formula.inputs.filter(
    ({ name }) =>
      typeof values[name] === "number" &&
      (name in symbols || !(values[name] === 0 || name === "new_tokens_per_sequence")),
  );
  return h(
    "table",
    null,
    h(
      "tbody",
      null,
      ...rows.map(({ name, label: words, unit }) => {
        return h(
          "tr",
          null,
          typeset(box, h("td", { class: "pop-letter" }), "letters", name),
          h("th", { scope: "row", text: words + (name in symbols ? " (set here)" : "") }),
          h("td", { class: "pop-number", text: written(name, values[name], unit, values) }),
        );
      }),
    ),
  );
}
