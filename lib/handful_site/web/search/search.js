// The search itself, fetched when a reader reaches for it: the dialog of every page and the page of
// all results.
import { h } from "../../../handful_explorers/web/dom.js";
import { plural } from "../../../handful_explorers/web/units.js";
import { showTarget } from "./highlight.js";
import { find, open, suggest } from "./find.js";
import { GROUPS, groupOf, hit, named } from "./hit.js";
import { words } from "./text.js";

const ARRIVAL = "handful-search-arrival",
  LAST = "handful-search-query",
  STEP = { dialog: 30, page: 60 };
// At each letter as many hits are drawn as a screen shows; the others follow when the typing pauses
// or an arrow key asks.
const FIRST = 8,
  PAUSE = 150;
const EXAMPLES = ["weight time", "N_total", "TTFT", "what does a token cost", "300"];
/**
 * @typedef {import("./find.js").Book} Book
 * @typedef {import("./find.js").Hit} Hit
 * @typedef {object} How a search is shown
 * @property {boolean} listed for a list that the field's arrow keys walk
 * @property {number} step how many hits are shown at once
 * @property {(query: string) => void} [changed]
 */

/** @type {Promise<Book> | null} */
let bookPromise = null;
/** @type {Promise<Record<string, string>> | null} */
let mathsPromise = null;

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
export function loadIndex(address) {
  bookPromise ||= json(address)
    .then(open)
    .catch((error) => {
      bookPromise = null;
      throw error;
    });
  return bookPromise;
}
/** @param {URL} address */
const loadMaths = (address) =>
  (mathsPromise ||= loadIndex(address)
    .then((found) => json(new URL(found.maths, address)))
    .catch(() => {
      mathsPromise = null;
      return {};
    }));

/**
 * @param {string} key
 * @param {string} value
 */
function store(key, value) {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    /* a page may be denied it */
  }
}

// Radio buttons for the groups of results; `select` is called with the name of the one chosen.
/** @param {(group: string) => void} select */
function groupChoice(select) {
  const choices = Object.entries(GROUPS).map(([name, { label }]) => {
    const tally = h("span", { class: "find-tally" }),
      radio = h("input", {
        type: "radio",
        name: "find-kind",
        value: name,
        onchange: () => select(name),
      });
    return {
      name,
      radio,
      tally,
      node: h("label", { class: "find-chip" }, radio, h("span", null, label, " ", tally)),
    };
  });
  const fieldset = h(
    "fieldset",
    { class: "find-chips", hidden: true },
    h("legend", { text: "Kinds of results" }),
    ...choices.map(({ node }) => node),
  );
  /**
   * @param {Record<string, number>} tallies
   * @param {string} group
   */
  const update = (tallies, group) => {
    for (const { name, radio, tally, node } of choices) {
      radio.checked = name === group;
      tally.textContent = String(tallies[name] || "");
      node.hidden = !tallies[name];
    }
    // Results of one kind leave nothing to choose.
    fieldset.hidden = choices.filter(({ node }) => !node.hidden).length < 3;
  };
  return { fieldset, update };
}

// What stands above the results: examples before the first letter, advice where nothing was found.
/**
 * @param {{ query: string | null, approximate: boolean, found: boolean, book: Book | null }} state
 * @param {URL} home
 * @param {(text: string) => Node} suggestion a button that searches for a text
 * @returns {(string | Node)[]}
 */
function advice({ query, approximate, found, book }, home, suggestion) {
  if (!query)
    return [
      "Find a formula by its name or its letters, a term, a claim of the lecture, a card, a " +
        "problem, or what answers a question. For example: ",
      ...EXAMPLES.flatMap((text) => [suggestion(text), " "]),
    ];
  if (found) return approximate ? ["Nothing fits exactly; these come closest."] : [];
  if (!words(query).length)
    return [`“${query}” has neither a letter nor a digit, and the search knows words and numbers.`];
  const better = book ? suggest(book, query) : "";
  return [
    `Nothing in the book matches “${query}”. `,
    ...(better ? ["Did you mean ", suggestion(better), "? "] : []),
    "Fewer or other words may find it; the ",
    h("a", { href: new URL("glossary.html", home), text: "glossary" }),
    " and the ",
    h("a", { href: new URL("notation.html", home), text: "notation" }),
    " list the words and letters that the book uses.",
  ];
}

// What stands below the list of the dialog: its keys, and the page of all results.
/**
 * @param {string} query
 * @param {number} total how many results there are
 * @param {number} limit how many of them the list has at most
 * @param {URL} home
 * @returns {Node[]}
 */
function dialogFooter(query, total, limit, home) {
  const page = new URL("search.html", home);
  page.searchParams.set("q", query);
  const key = (/** @type {string} */ text) => h("kbd", { text });
  return [
    h(
      "span",
      { class: "find-keys", "aria-hidden": "true" },
      ...[key("↑"), " ", key("↓"), " choose, ", key("Enter"), " opens"],
    ),
    h("a", { href: page, text: total > limit ? `All ${total} results` : "On a page of its own" }),
  ];
}

// A followed result: its words are marked where it leads, which may be on this page.
/**
 * @param {MouseEvent} event
 * @param {string} query
 */
function follow(event, query) {
  /** @type {HTMLAnchorElement | null} */
  const link = event.target instanceof Element ? event.target.closest("a[data-terms]") : null;
  const modified = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || event.defaultPrevented || event.button || modified) return;
  store(LAST, query);
  const terms = JSON.parse(link.dataset.terms ?? "[]");
  if (link.href.split("#")[0] !== location.href.split("#")[0]) {
    store(ARRIVAL, JSON.stringify({ to: link.href, terms }));
    return;
  }
  /** @type {NodeListOf<HTMLDialogElement>} */
  const dialogs = document.querySelectorAll("dialog[open]");
  for (const dialog of dialogs) dialog.close();
  setTimeout(() => showTarget(terms), 0);
}

// The list of hits, of which one may be selected; `listed` for a list that the field's arrow keys
// walk.
/**
 * @param {HTMLInputElement} input
 * @param {URL} home
 * @param {boolean} listed
 */
function hitList(input, home, listed) {
  /** @type {HTMLElement} */
  const node = h(listed ? "div" : "ol", {
    class: "find-list",
    id: "find-list",
    ...(listed ? { role: "listbox", "aria-label": "Results" } : {}),
  });
  /** @type {HTMLElement[]} */
  let shown = [];
  let active = -1,
    scrolled = false;
  node.addEventListener("scroll", () => (scrolled = node.scrollTop > 0), { passive: true });
  return {
    node,
    // A hit that the last letter left as it was stays as it is: to lay out and to paint it again is
    // what typing waits for.
    /**
     * @param {Hit[]} hits
     * @param {boolean} folded whether hits name the variants that are folded into them
     */
    render(hits, folded) {
      const old = new Map(shown.map((item) => [item.dataset.key, item]));
      shown = hits.map(({ entry, terms, others = [] }, i) => {
        const titles = folded ? others : [],
          key = `${entry.id} ${terms} ${titles}`;
        const link = old.get(key) || hit({ entry, terms, others: titles }, home, listed);
        if (listed) link.id = `find-hit-${i}`;
        link.dataset.key = key;
        const item = listed ? link : link.parentNode || h("li", null, link);
        if (node.children[i] !== item) node.insertBefore(item, node.children[i] || null);
        return link;
      });
      while (node.children.length > shown.length) node.lastChild?.remove();
      node.hidden = !shown.length;
      if (listed) input.setAttribute("aria-expanded", String(Boolean(shown.length)));
    },
    /** @param {number} to */
    select(to) {
      shown[active]?.removeAttribute("aria-selected");
      active = to;
      const link = shown[active];
      if (link) {
        link.setAttribute("aria-selected", "true");
        link.scrollIntoView({ block: "nearest" });
        input.setAttribute("aria-activedescendant", link.id);
      } else input.removeAttribute("aria-activedescendant");
    },
    // Where an arrow key leads in a list of so many; -1 is the field.
    /**
     * @param {string} key
     * @param {number} length
     */
    target(key, length) {
      if (key === "ArrowDown") return active < length - 1 ? active + 1 : -1;
      if (key === "ArrowUp") return active < 0 ? length - 1 : active - 1;
      return undefined;
    },
    follow: () => shown[Math.max(active, 0)].click(),
    scrollToTop() {
      if (scrolled) node.scrollTop = 0; // to set it has the whole list laid out at once
    },
  };
}

// One search: a field, the kinds to choose from, and what was found.
/**
 * @param {Element} host
 * @param {HTMLInputElement} input
 * @param {URL} address
 * @param {How} how
 */
function mount(host, input, address, { listed, step, changed = () => {} }) {
  const home = new URL("../../", address),
    spoken = h("p", { class: "find-heard", role: "status" }),
    message = h("p", { class: "find-says" });
  const more = h("p", { class: "find-more" }),
    list = hitList(input, home, listed);
  /** @type {Hit[]} */
  let visible = [],
    /** @type {Hit[]} */
    results = [],
    /** @type {string | null} */
    query = null,
    /** @type {Book | null} */
    book = null;
  let group = "all",
    limit = step,
    speechTimer = 0,
    renderTimer = 0,
    approximate = false;

  const groups = groupChoice((name) => {
    group = name;
    limit = step;
    render();
  });
  host.replaceChildren(groups.fieldset, message, list.node, more, spoken);

  // Spoken when the typing pauses, so that a reader hears one sentence and not one for each letter.
  /** @param {string} text */
  function speak(text) {
    clearTimeout(speechTimer);
    speechTimer = window.setTimeout(() => {
      spoken.textContent = text;
    }, 900);
  }

  // What waits for a pause: the other hits, and the formulas, which are most of what there is to
  // lay out.
  async function renderRest() {
    list.render(visible, group === "all");
    /** @type {NodeListOf<HTMLElement>} */
    const empty = list.node.querySelectorAll("[data-maths]:empty");
    if (!empty.length) return;
    const found = await loadMaths(address);
    for (const node of empty) node.innerHTML = found[node.dataset.maths ?? ""] || "";
  }

  function render(first = FIRST) {
    const all = results.filter(({ folded }) => !folded);
    /** @type {Record<string, number>} */
    const tallies = { all: results.length }; // with those that stand under another
    for (const { entry } of results) tallies[groupOf(entry)] = (tallies[groupOf(entry)] || 0) + 1;
    if (!tallies[group]) group = "all";
    groups.update(tallies, group);
    const fitting = group === "all" ? all : results.filter(({ entry }) => groupOf(entry) === group);
    visible = fitting.slice(0, limit);
    list.select(-1);
    list.render(visible.slice(0, first), group === "all");
    clearTimeout(renderTimer);
    renderTimer = window.setTimeout(renderRest, PAUSE);
    list.scrollToTop();
    message.replaceChildren(
      ...advice({ query, approximate, found: results.length > 0, book }, home, suggestion),
    );
    more.replaceChildren(...footer(fitting.length));
    if (query)
      speak(
        visible.length
          ? `${approximate ? "Nothing fits exactly. " : ""}${plural(fitting.length, "result")}. First: ` +
              `${named(visible[0].entry)}.`
          : (message.textContent ?? ""),
      );
  }

  const suggestion = (/** @type {string} */ text) =>
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
  /**
   * @param {number} total
   * @returns {Node[]}
   */
  function footer(total) {
    if (listed) return total ? dialogFooter(query ?? "", total, limit, home) : [];
    if (total <= limit) return [];
    return [
      h("button", {
        type: "button",
        class: "find-try",
        text: `Show more of ${total}`,
        onclick: () => {
          limit += step;
          render(limit);
        },
      }),
    ];
  }

  async function run() {
    const text = input.value.trim();
    const slow = setTimeout(() => {
      if (!book) message.textContent = "Fetching the index…";
    }, 250);
    try {
      book ||= await loadIndex(address);
    } catch {
      message.textContent =
        "The index of the search could not be fetched. Typing on tries again; the glossary, " +
        "the notation and the index of numbers list what there is.";
      return;
    } finally {
      clearTimeout(slow);
    }
    if (input.value.trim() !== text || text === query) return; // typed on meanwhile
    query = text;
    limit = step;
    ({ results, approximate } = text ? find(book, text) : { results: [], approximate: false });
    render();
    changed(text);
  }

  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    if (!visible.length) return;
    const to = list.target(event.key, visible.length);
    if (to !== undefined) {
      event.preventDefault();
      list.render(visible, group === "all");
      list.select(to);
    } else if (event.key === "Enter" && !event.isComposing && input.value.trim() === query) {
      event.preventDefault();
      list.follow();
    }
  }

  input.addEventListener("input", run);
  list.node.addEventListener("click", (event) => follow(event, query ?? ""));
  if (listed) input.addEventListener("keydown", handleKey);
  render();
  run();
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
    placeholder: "Words, letters or a question",
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

export { showTarget };
