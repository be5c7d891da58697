// The ledger's fields: words to look for, and what to keep by verdict, speaker and segment.
//
//   ?claim=words&verdict=contested,wrong&who=Patel&segment=1,6
//
// The list is in the page; this module hides what does not fit and keeps the address in step.
import "./ledger.css";
import { h } from "../../handful_explorers/web/dom.js";
import { plural } from "../../handful_explorers/web/units.js";

/** @param {string} text */
const fold = (text) =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "");

/**
 * @typedef {"verdict" | "who" | "segment"} Group
 * @typedef {Record<Group, string> & { text: string }} Claim
 * @typedef {Record<Group, Set<string>>} Chosen
 */

// Every word has to occur; and of each group of choices one, unless none is chosen.
/**
 * @param {Claim} entry
 * @param {Chosen & { words: string[] }} state
 */
export function fits(entry, { words, verdict, who, segment }) {
  return (
    words.every((word) => entry.text.includes(word)) &&
    (!verdict.size || verdict.has(entry.verdict)) &&
    (!who.size || who.has(entry.who)) &&
    (!segment.size || segment.has(entry.segment))
  );
}

/**
 * @param {Element} list
 * @returns {HTMLElement[]}
 */
const itemsOf = (list) => [...list.children].filter((node) => node instanceof HTMLElement);

/** @param {Document} [root] */
export function mountLedger(root = document) {
  const tools = root.querySelector(".ledger-tools");
  /** @type {HTMLOListElement[]} */
  const lists = [...root.querySelectorAll("ol.ledger")].filter(
    (list) => list instanceof HTMLOListElement,
  );
  if (!tools || !lists.length) return;
  const entries = lists.flatMap((list) =>
    itemsOf(list).map((node) => ({
      node,
      list,
      text: fold(node.textContent ?? ""),
      verdict: node.dataset.verdict ?? "",
      who: node.dataset.who ?? "",
      segment: list.dataset.segment ?? "",
    })),
  );
  /** @type {Record<Group, { title: string, options: [string, string][] }>} */
  const groups = {
    verdict: {
      title: "Verdict",
      options: [...root.querySelectorAll(".ledger-overview .verdict")].map(({ textContent }) => {
        const text = textContent ?? "";
        return [text.slice(2), text];
      }),
    },
    who: {
      title: "Speaker",
      options: [...new Set(entries.map((entry) => entry.who))].map((who) => [who, who]),
    },
    segment: {
      title: "Segment",
      options: lists.map((list) => [
        list.dataset.segment ?? "",
        `${list.dataset.segment} ${list.dataset.title}`,
      ]),
    },
  };
  const query = new URLSearchParams(location.search);
  const asked = (/** @type {Group} */ key) =>
    new Set(
      (query.get(key) || "")
        .split(",")
        .filter((name) => groups[key].options.some(([value]) => value === name)),
    );
  /** @type {Chosen} */
  const chosen = { verdict: asked("verdict"), who: asked("who"), segment: asked("segment") };

  const field = h("input", {
    type: "search",
    id: "ledger-words",
    autocomplete: "off",
    placeholder: "batch, DeepSeek, 19:21 …",
  });
  field.value = query.get("claim") || "";
  const count = h("output", { for: "ledger-words", "aria-live": "polite" });
  const clear = h("button", { type: "button", class: "ledger-clear", text: "Show all" });
  /** @type {{ key: Group, value: string, button: HTMLElement, tally: HTMLElement }[]} */
  const buttons = [];
  /** @type {Group[]} */
  const keys = ["verdict", "who", "segment"];
  const sets = keys.map((key) =>
    h(
      "fieldset",
      { class: `ledger-${key}` },
      h("legend", { text: groups[key].title }),
      ...groups[key].options.map(([value, label]) => {
        const tally = h("span", { class: "ledger-tally" });
        const button = h(
          "button",
          {
            type: "button",
            class: key === "verdict" ? `verdict verdict-${value.replaceAll(" ", "-")}` : "",
            onclick: () => {
              if (!chosen[key].delete(value)) chosen[key].add(value);
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
  tools.append(
    h(
      "form",
      { role: "search", "aria-label": "Claims", onsubmit: (event) => event.preventDefault() },
      h(
        "div",
        { class: "ledger-find" },
        h("label", { for: "ledger-words", text: "Find" }),
        field,
        count,
        clear,
      ),
      ...sets,
    ),
  );

  function update(write = true) {
    const state = { words: fold(field.value).split(/\s+/).filter(Boolean), ...chosen };
    for (const entry of entries) entry.node.hidden = !fits(entry, state);
    for (const list of lists)
      (list.closest("section") || list).classList.toggle(
        "is-empty",
        itemsOf(list).every((node) => node.hidden),
      );
    const shown = entries.filter((entry) => !entry.node.hidden).length;
    count.textContent =
      shown === entries.length
        ? plural(shown, "claim")
        : `${shown} of ${plural(entries.length, "claim")}`;
    clear.hidden =
      shown === entries.length &&
      !state.words.length &&
      !Object.values(chosen).some((set) => set.size);
    for (const { key, value, button, tally } of buttons) {
      button.setAttribute("aria-pressed", String(chosen[key].has(value)));
      // What choosing it alone in its group would show.
      const alone = { ...state, [key]: new Set([value]) };
      tally.textContent = String(entries.filter((entry) => fits(entry, alone)).length);
    }
    if (!write) return;
    const address = new URL(location.href);
    for (const [key, text] of [
      ["claim", field.value.trim()],
      ...Object.entries(chosen).map(([k, set]) => [k, [...set].join(",")]),
    ])
      if (text) address.searchParams.set(key, text);
      else address.searchParams.delete(key);
    history.replaceState(history.state, "", address);
  }
  field.addEventListener("input", () => update());
  clear.addEventListener("click", () => {
    field.value = "";
    for (const set of Object.values(chosen)) set.clear();
    update();
    field.focus();
  });
  // A link to one claim has to show it, whatever the filter hides.
  const target = () => {
    const node = location.hash.startsWith("#claim-")
      ? document.getElementById(location.hash.slice(1))
      : null;
    if (!node?.hidden) return;
    clear.click();
    node.scrollIntoView();
  };
  addEventListener("hashchange", target);
  update(false);
  target();
}
