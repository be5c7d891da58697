// What opens in place: numbers, facts, terms, badges and the letters of equations show in a small
// box what stands behind them.  boxes.js makes the boxes, and is fetched when the first one opens.
//
// A letter is drawn for the eye only; for the Tab key and for the ear, each equation has a button,
// which opens all of its letters, or the one that arrows have gone to (tab_groups.js).
import { announce, h } from "../../handful_explorers/web/dom.js";
import { label, row, store } from "../../handful_explorers/web/scenario.js";
import { compile, symbols } from "../../handful_explorers/web/tree.js";

const OPENERS =
  ".live[role=button], .fact[role=button], a.term, a.claim, .letters, .lettered [data-letter]";

/** @type {Promise<typeof import("./boxes.js")> | null} */
let fetched = null;

/** @param {EventTarget | null} target */
const find = (target) =>
  target instanceof Element && !target.closest(".pop")
    ? /** @type {HTMLElement | null} */ (target.closest(OPENERS))
    : null;

/** @param {Element} span */
export function asButton(span) {
  for (const [name, value] of [
    ["role", "button"],
    ["tabindex", "0"],
    ["aria-haspopup", "dialog"],
  ])
    span.setAttribute(name, value);
}

/**
 * @param {Document} root
 * @param {Pick<import("./boxes.js").Page, "number">} tell
 */
export function openInPlace(root, tell) {
  for (const link of root.querySelectorAll("a.term, a.claim"))
    link.setAttribute("aria-haspopup", "dialog");
  for (const equation of root.querySelectorAll(".lettered"))
    equation.append(
      h("button", {
        type: "button",
        class: "letters",
        "aria-haspopup": "dialog",
        "aria-label": "Letters of this equation",
      }),
    );
  /** @param {HTMLElement} opener */
  const open = (opener) => {
    fetched ??= import(new URL(`./boxes.js?v=${BOXES_MARK}`, import.meta.url).href);
    fetched.then(
      ({ toggle }) => toggle(opener, { ...tell, label, row, store, compile, symbols }),
      () => {
        fetched = null;
        if (opener instanceof HTMLAnchorElement) location.assign(opener.href);
        else announce("What stands behind this could not be loaded; try again.");
      },
    );
  };
  root.addEventListener("click", (event) => {
    const opener = find(event.target);
    if (!opener) return;
    if (opener instanceof HTMLAnchorElement) {
      const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
      if (elsewhere || opener.pathname === location.pathname) return;
      event.preventDefault();
    }
    open(opener);
  });
  root.addEventListener("keydown", (event) => {
    const opener = find(event.target);
    if (opener?.tagName !== "SPAN" || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    open(opener);
  });
}
