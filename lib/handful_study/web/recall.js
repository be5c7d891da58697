// Stacks of cards within a chapter: a stack that is opened asks one question at a time.  Without
// scripts, and on paper, its questions stand one below another.
import { h } from "../../handful_explorers/web/dom.js";

/** @param {HTMLDetailsElement} stack */
function mountStack(stack) {
  /** @type {HTMLElement[]} */
  const cards = [...stack.querySelectorAll("[data-card]")].filter(
    (node) => node instanceof HTMLElement,
  );
  if (cards.length < 2) return;
  let at = 0;
  const place = h("span", { class: "recall-place", role: "status" });
  /** @type {(text: string, by: number) => HTMLButtonElement} */
  const turn = (text, by) =>
    h("button", { type: "button", class: "study-link", text, onclick: () => show(at + by) });
  const back = turn("Back", -1),
    next = turn("Next question", 1);
  /** @param {number} to */
  function show(to) {
    at = to;
    cards.forEach((card, i) => {
      card.hidden = i !== at;
    });
    place.textContent = `Question ${at + 1} of ${cards.length}`;
    const pressed = document.activeElement;
    back.hidden = at === 0;
    next.hidden = at === cards.length - 1;
    if (pressed === back && back.hidden) next.focus();
    if (pressed === next && next.hidden) back.focus();
  }
  stack.append(h("p", { class: "recall-turn" }, place, " ", back, " ", next));
  show(0);
  stack.addEventListener("fold-reach", ({ target }) => {
    const wanted = cards.findIndex((card) => card === target);
    if (wanted >= 0) show(wanted);
  });
}

// Review, Practice and the search lead to a single card or problem.
function reach() {
  const wanted = location.hash && document.getElementById(location.hash.slice(1)),
    fold = wanted ? wanted.closest("details.fold") : null;
  if (!wanted || !(fold instanceof HTMLDetailsElement)) return;
  fold.open = true;
  wanted.dispatchEvent(new CustomEvent("fold-reach", { bubbles: true }));
  wanted.scrollIntoView({ block: "center" });
}

/** @param {ParentNode} root */
export function mountStacks(root) {
  for (const stack of root.querySelectorAll("details.recall"))
    if (stack instanceof HTMLDetailsElement) mountStack(stack);
  addEventListener("hashchange", reach);
  reach();
}
