// The search itself, fetched when a reader reaches for it: the dialog of every page and the page of
// all results.
import { h } from "../../../handful_explorers/web/dom.js";
import { plural } from "../../../handful_explorers/web/units.js";
import { arrive } from "./highlight.js";
import { find, open, suggest } from "./find.js";
import { GROUPS, NAMES, groupOf, hit } from "./hit.js";

const ARRIVAL = "handful-search-arrival",
  LAST = "handful-search-query",
  STEP = { dialog: 30, page: 60 };
// At each letter as many hits are drawn as a screen shows; the others follow when the typing pauses
// or an arrow key asks.
const FIRST = 8,
  PAUSE = 150;
const EXAMPLES = ["weight time", "N_total", "KV cache", "pipeline bubble", "300"];
/**
 * @typedef {import("./find.js").Book} Book
 * @typedef {import("./find.js").Hit} Hit
 * @typedef {object} How a search is shown
 * @property {boolean} listed for a list that the field's arrow keys walk
 * @property {number} step how many hits are shown at once
 * @property {(query: string) => void} [changed]
 */

/** @type {Promise<Book> | null} */
let book = null;
/** @type {Promise<Record<string, string>> | null} */
let maths = null;

/** @param {URL} address */
async function json(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
}

// The index and then the maths of its formulas, each once; what failed is asked for again the next
// time.
/**
 * @param {URL} address
 * @returns {Promise<Book>}
 */
export function warm(address) {
  book ||= json(address)
    .then(open)
    .catch((error) => {
      book = null;
      throw error;
    });
  return book;
}
/** @param {URL} address */
const typeset = (address) =>
  (maths ||= warm(address)
    .then((found) => json(new URL(found.maths, address)))
    .catch(() => {
      maths = null;
      return {};
    }));

/**
 * @param {string} key
 * @param {string} value
 */
function remember(key, value) {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    /* a page may be denied it */
  }
}

// One search: a field, the kinds to choose from, and what was found; `listed` for a list that the
// field's arrow keys walk.
/**
 * @param {Element} host
 * @param {HTMLInputElement} input
 * @param {URL} address
 * @param {How} how
 */
function mount(host, input, address, { listed, step, changed = () => {} }) {
  const home = new URL("../../", address),
    said = h("p", { class: "find-heard", role: "status" }),
    says = h("p", { class: "find-says" });
  /** @type {HTMLElement} */
  const list = h(listed ? "div" : "ol", {
    class: "find-list",
    id: "find-list",
    ...(listed ? { role: "listbox", "aria-label": "Results" } : {}),
  });
  const more = h("p", { class: "find-more" });
  /** @type {Hit[]} */
  let some = [],
    /** @type {Hit[]} */
    results = [],
    /** @type {HTMLElement[]} */
    shown = [],
    /** @type {string | null} */
    query = null;
  let group = "all",
    active = -1,
    limit = step,
    timer = 0,
    later = 0,
    like = false,
    scrolled = false;

  const radios = Object.entries(GROUPS).map(([name, { label }]) => {
    const tally = h("span", { class: "find-tally" }),
      radio = h("input", {
        type: "radio",
        name: "find-kind",
        value: name,
        onchange: () => {
          group = name;
          limit = step;
          draw();
        },
      });
    radio.checked = name === group;
    return {
      name,
      radio,
      tally,
      node: h("label", { class: "find-chip" }, radio, h("span", null, label, " ", tally)),
    };
  });
  const chips = h(
    "fieldset",
    { class: "find-chips", hidden: true },
    h("legend", { text: "Kinds of results" }),
    ...radios.map(({ node }) => node),
  );
  host.replaceChildren(chips, says, list, more, said);

  /** @param {number} to */
  function point(to) {
    shown[active]?.removeAttribute("aria-selected");
    active = to;
    const node = shown[active];
    if (node) {
      node.setAttribute("aria-selected", "true");
      node.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", node.id);
    } else input.removeAttribute("aria-activedescendant");
  }

  // Spoken when the typing pauses, so that a reader hears one sentence and not one for each letter.
  /** @param {string} text */
  function speak(text) {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      said.textContent = text;
    }, 900);
  }

  // A hit that the last letter left as it was stays as it is: to lay out and to paint it again is
  // what typing waits for.
  /** @param {number} [upTo] */
  function fill(upTo = some.length) {
    const old = new Map(shown.map((node) => [node.dataset.key, node]));
    shown = some.slice(0, upTo).map((result, i) => {
      const { entry, terms, others = [] } = result,
        told = group === "all" ? others : [],
        key = `${entry.id} ${terms} ${told}`;
      const node = old.get(key) || hit({ entry, terms, others: told }, home, listed);
      if (listed) node.id = `find-hit-${i}`;
      node.dataset.key = key;
      const item = listed ? node : node.parentNode || h("li", null, node);
      if (list.children[i] !== item) list.insertBefore(item, list.children[i] || null);
      return node;
    });
    while (list.children.length > shown.length) list.lastChild?.remove();
  }

  // What waits for a pause: the other hits, and the formulas, which are most of what there is to
  // lay out.
  async function finish() {
    fill();
    /** @type {NodeListOf<HTMLElement>} */
    const empty = list.querySelectorAll("[data-maths]:empty");
    if (!empty.length) return;
    const found = await typeset(address);
    for (const node of empty) node.innerHTML = found[node.dataset.maths ?? ""] || "";
  }

  function draw(first = FIRST) {
    const all = results.filter(({ folded }) => !folded);
    /** @type {Record<string, number>} */
    const tallies = { all: all.length };
    for (const { entry } of results) tallies[groupOf(entry)] = (tallies[groupOf(entry)] || 0) + 1;
    if (!tallies[group]) {
      group = "all";
      radios[0].radio.checked = true;
    }
    for (const { name, tally, node } of radios) {
      tally.textContent = String(tallies[name] || "");
      node.hidden = !tallies[name];
    }
    chips.hidden = !results.length;
    const fitting = group === "all" ? all : results.filter(({ entry }) => groupOf(entry) === group);
    some = fitting.slice(0, limit);
    point(-1);
    fill(first);
    clearTimeout(later);
    later = window.setTimeout(finish, PAUSE);
    list.hidden = !some.length;
    if (listed) input.setAttribute("aria-expanded", String(Boolean(some.length)));
    if (scrolled) list.scrollTop = 0; // to set it has the whole list laid out at once
    says.replaceChildren(...sentence());
    more.replaceChildren(...rest(fitting.length));
    if (query)
      speak(
        some.length
          ? `${like ? "Nothing fits exactly. " : ""}${plural(fitting.length, "result")}. First: ` +
              `${some[0].entry.title.slice(0, 90)}, ${NAMES[some[0].entry.kind]}.`
          : (says.textContent ?? ""),
      );
  }

  const tried = (/** @type {string} */ text) =>
    h("button", {
      type: "button",
      class: "find-try",
      text,
      onclick: () => {
        input.value = text;
        input.focus();
        run();
      },
    });
  /** @returns {(string | Node)[]} */
  function sentence() {
    if (!query)
      return [
        "Find a formula by its name or its letters, a term, a claim of the lecture, a card or " +
          "a problem. For example: ",
        ...EXAMPLES.flatMap((text) => [tried(text), " "]),
      ];
    if (like) {
      if (results.length) return ["Nothing fits exactly; these come closest."];
      const better = lastBook ? suggest(lastBook, query) : "";
      return [
        `Nothing in the book matches “${query}”. `,
        ...(better ? ["Did you mean ", tried(better), "? "] : []),
        "Fewer or other words may find it; the ",
        h("a", { href: new URL("glossary.html", home), text: "glossary" }),
        " and the ",
        h("a", { href: new URL("notation.html", home), text: "notation" }),
        " list the words and letters that the book uses.",
      ];
    }
    return [];
  }
  /**
   * @param {number} total
   * @returns {Node[]}
   */
  function rest(total) {
    if (listed) {
      if (!total) return [];
      const all = new URL("search.html", home);
      all.searchParams.set("q", query ?? "");
      return [
        h(
          "span",
          { class: "find-keys", "aria-hidden": "true" },
          h("kbd", { text: "↑" }),
          " ",
          h("kbd", { text: "↓" }),
          " choose, ",
          h("kbd", { text: "Enter" }),
          " opens",
        ),
        h("a", {
          href: all,
          text: total > limit ? `All ${total} results` : "On a page of its own",
        }),
      ];
    }
    return total > limit
      ? [
          h("button", {
            type: "button",
            class: "find-try",
            text: `Show more of ${total}`,
            onclick: () => {
              limit += step;
              draw(limit);
            },
          }),
        ]
      : [];
  }

  /** @type {Book | null} */
  let lastBook = null;
  async function run() {
    const text = input.value.trim();
    const slow = setTimeout(() => {
      if (!lastBook) says.textContent = "Fetching the index…";
    }, 250);
    try {
      lastBook ||= await warm(address);
    } catch {
      says.textContent =
        "The index of the search could not be fetched. Typing on tries again; the glossary, " +
        "the notation and the index of numbers list what there is.";
      return;
    } finally {
      clearTimeout(slow);
    }
    if (input.value.trim() !== text || text === query) return; // typed on meanwhile
    query = text;
    limit = step;
    ({ results, like } = text ? find(lastBook, text) : { results: [], like: false });
    draw();
    changed(text);
  }

  input.addEventListener("input", run);
  list.addEventListener(
    "scroll",
    () => {
      scrolled = list.scrollTop > 0;
    },
    { passive: true },
  );
  list.addEventListener("click", (event) => {
    const node =
      event.target instanceof Element
        ? /** @type {HTMLAnchorElement | null} */ (event.target.closest("a[data-terms]"))
        : null;
    if (
      !node ||
      event.defaultPrevented ||
      event.button ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    remember(LAST, query ?? "");
    const terms = JSON.parse(node.dataset.terms ?? "[]"),
      here = node.href.split("#")[0] === location.href.split("#")[0];
    if (!here) {
      remember(ARRIVAL, JSON.stringify({ to: node.href, terms }));
      return;
    }
    /** @type {NodeListOf<HTMLDialogElement>} */
    const dialogs = document.querySelectorAll("dialog[open]");
    for (const dialog of dialogs) dialog.close();
    setTimeout(() => arrive(terms), 0);
  });
  if (listed)
    input.addEventListener("keydown", (event) => {
      const last = some.length - 1,
        to = {
          ArrowDown: active < last ? active + 1 : -1,
          ArrowUp: active < 0 ? last : active - 1,
        }[event.key];
      if (to !== undefined && some.length) {
        event.preventDefault();
        fill();
        point(to);
      } else if (
        event.key === "Enter" &&
        !event.isComposing &&
        shown.length &&
        input.value.trim() === query
      ) {
        event.preventDefault();
        shown[Math.max(active, 0)].click();
      }
    });
  draw();
  run();
  return run;
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {URL} address
 */
export function attach(dialog, address) {
  const input = dialog.querySelector("input"),
    body = dialog.querySelector(".find-body");
  if (!input || !body) return;
  input.setAttribute("aria-controls", "find-list");
  let last = "";
  try {
    last = sessionStorage.getItem(LAST) || "";
  } catch {
    /* a page may be denied it */
  }
  if (!input.value && last) {
    input.value = last;
    input.select();
  }
  mount(body, input, address, { listed: true, step: STEP.dialog });
}

// search.html?q=…, which is also where a form without this module leads.
/**
 * @param {Element} root
 * @param {URL} address
 */
export function mountPage(root, address) {
  const asked = new URLSearchParams(location.search).get("q") || "",
    body = h("div", { class: "find-body" });
  const input = h("input", {
    type: "text",
    name: "q",
    class: "find-input",
    "aria-label": "Search this book",
    value: asked,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "search",
    placeholder: "Words, or letters as written: KV cache, N_total",
  });
  const form = h(
    "form",
    {
      class: "find-form",
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        input.blur();
      },
    },
    input,
  );
  root.replaceChildren(form, body);
  mount(body, input, address, {
    listed: false,
    step: STEP.page,
    changed: (query) => {
      const url = new URL(location.href);
      if (query) url.searchParams.set("q", query);
      else url.searchParams.delete("q");
      history.replaceState(history.state, "", url);
    },
  });
  if (!asked) input.focus();
}

export { arrive };
