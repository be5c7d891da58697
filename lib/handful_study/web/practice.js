// The page Practice: one problem at a time unfolded, of the chapters, levels and states that are
// wanted.
//
//   ?chapter=pipelining,balance-batch&level=judge&state=new
import { h } from "../../handful_explorers/web/dom.js";
import { plural } from "../../handful_explorers/web/units.js";
import { attempt } from "./problems.js";

/** @type {[string, string][]} */
const LEVELS = [
  ["apply", "Apply"],
  ["derive", "Derive"],
  ["judge", "Judge"],
];
/** @type {[string, string][]} */
const STATES = [
  ["new", "Not tried"],
  ["tried", "Tried"],
  ["solved", "Solved"],
];
/** @type {Record<string, string>} */
const NOTES = { solved: "✓ solved", tried: "tried", new: "" };
/**
 * @typedef {"chapter" | "level" | "state"} Group
 * @typedef {object} Entry
 * @property {HTMLElement} node
 * @property {HTMLElement} section
 * @property {HTMLElement} body
 * @property {HTMLElement} button
 * @property {HTMLElement} mark
 * @property {string} id
 * @property {string} chapter
 * @property {string} level
 * @property {string} state
 * @property {import("./problem.js").Problem | null} problem
 */

// Of each group one, unless none is chosen.
/**
 * @template T
 * @param {Partial<Record<Group, T>>} groups
 * @returns {[Group, T][]}
 */
const groupsIn = (groups) => /** @type {[Group, T][]} */ (Object.entries(groups));

/**
 * @param {Record<Group, string>} entry
 * @param {Partial<Record<Group, Set<string>>>} chosen
 */
export const fits = (entry, chosen) =>
  groupsIn(chosen).every(([key, set]) => !set.size || set.has(entry[key]));

/**
 * @param {Element} section
 * @returns {HTMLElement[]}
 */
const problemsIn = (section) =>
  [...section.querySelectorAll("[data-problem]")].filter((node) => node instanceof HTMLElement);

/**
 * @param {HTMLElement} root
 * @param {import('./problems.js').Around} page
 * @param {(node: HTMLElement) => import('./problem.js').Problem} start
 */
export function mountPractice(root, page, start) {
  const sections = [...root.children].filter(
    (node) => node instanceof HTMLElement && node.querySelector("[data-problem]") !== null,
  );
  const entries = sections.flatMap((section) =>
    problemsIn(section).map((node) => row(node, /** @type {HTMLElement} */ (section))),
  );
  /** @type {Partial<Record<Group, { title: string, options: [string, string][] }>>} */
  const groups = {
    chapter: {
      title: "Chapter",
      options: sections.map((section) => [
        problemsIn(section)[0].dataset.chapter ?? "",
        (section.querySelector("h2")?.firstChild?.textContent ?? "").trim(),
      ]),
    },
    level: { title: "Level", options: LEVELS },
    ...(page.results ? { state: { title: "State", options: STATES } } : {}),
  };
  const query = new URLSearchParams(location.search);
  /** @type {Partial<Record<Group, Set<string>>>} */
  const chosen = Object.fromEntries(
    groupsIn(groups).map(([key, { options }]) => [
      key,
      new Set(
        (query.get(key) || "")
          .split(",")
          .filter((name) => options.some(([value]) => value === name)),
      ),
    ]),
  );

  /**
   * @param {HTMLElement} node
   * @param {HTMLElement} section
   * @returns {Entry}
   */
  function row(node, section) {
    const { problem: id = "", chapter = "", level = "" } = node.dataset,
      body = h(
        "div",
        { class: "problem-body", id: `body-${id}`, hidden: true },
        ...node.childNodes,
      );
    const mark = h("span", { class: "problem-row-mark" }),
      name =
        node.querySelector(".problem-name")?.textContent ||
        body.querySelector(".problem-name")?.textContent ||
        id;
    const button = h(
      "button",
      {
        type: "button",
        class: "problem-open",
        "aria-expanded": "false",
        "aria-controls": body.id,
        onclick: () => toggle(entry),
      },
      h("span", { class: "problem-row-name", text: name }),
      h("span", {
        class: "problem-row-level",
        text: LEVELS.find(([value]) => value === level)?.[1],
      }),
      mark,
    );
    /** @type {Entry} */
    const entry = {
      node,
      section,
      body,
      button,
      mark,
      id,
      chapter,
      level,
      state: "new",
      problem: null,
    };
    node.append(h("h3", { class: "problem-row" }, button), body);
    node.addEventListener("problem-mark", () => note());
    return entry;
  }

  /**
   * @param {Entry} entry
   * @param {boolean} [open]
   */
  function toggle(entry, open = Boolean(entry.body.hidden)) {
    for (const other of entries) {
      const here = other === entry && open;
      other.body.hidden = !here;
      other.button.setAttribute("aria-expanded", String(here));
      other.node.classList.toggle("is-open", here);
    }
    if (open) entry.problem ||= attempt(entry.node, start);
  }

  // What was solved, as the page remembers it.
  function note() {
    const results = page.results?.() || {};
    for (const entry of entries) {
      const { right, wrong } = results[entry.id] || {};
      const tried = wrong ? "tried" : "new";
      entry.state = right ? "solved" : tried;
      entry.mark.textContent = NOTES[entry.state];
      entry.mark.classList.toggle("is-right", entry.state === "solved");
    }
    tallies();
  }

  const count = h("output", { "aria-live": "polite" }),
    clear = h("button", { type: "button", class: "ledger-clear", text: "Show all" });
  const random = h("button", {
    type: "button",
    class: "problem-tool problem-random",
    text: "A random one",
  });
  /** @type {{ key: Group, value: string, button: HTMLElement, tally: HTMLElement }[]} */
  const buttons = [];
  const sets = groupsIn(groups).map(([key, { title, options }]) =>
    h(
      "fieldset",
      null,
      h("legend", { text: title }),
      ...options.map(([value, label]) => {
        const tally = h("span", { class: "ledger-tally" });
        const button = h(
          "button",
          {
            type: "button",
            onclick: () => {
              const set = chosen[key] ?? new Set();
              if (!set.delete(value)) set.add(value);
              update();
            },
          },
          label,
          " ",
          tally,
        );
        buttons.push({ key, value, button, tally });
        return button;
      }),
    ),
  );
  root.prepend(
    h(
      "div",
      { class: "ledger-tools practice-tools" },
      h(
        "form",
        { "aria-label": "Problems to show", onsubmit: (event) => event.preventDefault() },
        ...sets,
        h("div", { class: "ledger-find" }, random, count, clear),
      ),
    ),
  );

  // What choosing one alone in its group would show.
  function tallies() {
    for (const { key, value, tally } of buttons)
      tally.textContent = String(
        entries.filter((entry) => fits(entry, { ...chosen, [key]: new Set([value]) })).length,
      );
  }

  function update(write = true) {
    for (const entry of entries) entry.node.hidden = !fits(entry, chosen);
    for (const section of sections)
      section.classList.toggle(
        "is-empty",
        entries.every((entry) => entry.section !== section || entry.node.hidden),
      );
    const shown = entries.filter((entry) => !entry.node.hidden).length;
    count.textContent =
      shown === entries.length
        ? plural(shown, "problem")
        : `${shown} of ${plural(entries.length, "problem")}`;
    clear.hidden = !Object.values(chosen).some((set) => set.size);
    random.disabled = !shown;
    for (const { key, value, button } of buttons)
      button.setAttribute("aria-pressed", String(Boolean(chosen[key]?.has(value))));
    tallies();
    if (!write) return;
    const url = new URL(location.href);
    for (const [key, set] of Object.entries(chosen)) {
      if (set.size) url.searchParams.set(key, [...set].join(","));
      else url.searchParams.delete(key);
    }
    history.replaceState(history.state, "", url);
  }

  /** @param {Entry} entry */
  function go(entry) {
    if (entry.node.hidden) clear.click();
    toggle(entry, true);
    entry.node.scrollIntoView({ block: "start" });
    entry.button.focus({ preventScroll: true });
  }

  clear.addEventListener("click", () => {
    for (const set of Object.values(chosen)) set.clear();
    update();
  });
  // Those that are not solved yet come first, and never the one that is open.
  random.addEventListener("click", () => {
    const shown = entries.filter((entry) => !entry.node.hidden),
      others = shown.filter((entry) => entry.body.hidden),
      fresh = others.filter((entry) => entry.state !== "solved");
    const from = [fresh, others].find((list) => list.length) ?? shown,
      entry = from[Math.floor(Math.random() * from.length)];
    go(entry);
    if (entry.problem?.varies) entry.problem.draw(entry.problem.another());
  });
  // A link to one problem shows it, whatever is hidden.
  const target = () => {
    const entry = entries.find(({ node }) => `#${node.id}` === location.hash);
    if (entry) go(entry);
  };
  addEventListener("hashchange", target);
  note();
  update(false);
  root.classList.add("is-up");
  const linked = entries.find(({ id }) => query.has(`problem-${id}`));
  if (linked) toggle(linked, true);
  target();
}
