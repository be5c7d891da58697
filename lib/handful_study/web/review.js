// Cards on the page, wherever they stand, and the pages Review and Progress.
import { h } from "../../handful_explorers/web/dom.js";
import { plural } from "../../handful_explorers/web/units.js";
import { answerInPlace, backOf } from "./answer.js";
import { Progress } from "./progress.js";
import { dataPanel, settingsForm } from "./settings.js";
import { Sitting } from "./review_session.js";

const CARD = "[data-card]";

/** @typedef {import("./store.js").Store} Store */

/**
 * @param {ParentNode} root
 * @returns {HTMLElement[]}
 */
const cardsIn = (root) =>
  [...root.querySelectorAll(CARD)].filter((node) => node instanceof HTMLElement);

// Trouble with storage, and work that takes a while, in one line above the rest.
/**
 * @param {Store} store
 * @param {Element} root
 */
function notice(store, root) {
  const trouble = h("p", { class: "study-line study-trouble", role: "status", hidden: true }),
    work = h("p", { class: "study-line study-work", hidden: true });
  const draw = () => {
    const words = [
      store.trouble,
      store.damaged
        ? `${plural(store.damaged, "entry", "entries")} of your log cannot be read and ` +
          `${store.damaged === 1 ? "is" : "are"} left out; all others count, and a backup that ` +
          "you import brings back what it holds."
        : "",
    ]
      .filter(Boolean)
      .join(" ");
    trouble.hidden = !words;
    if (trouble.textContent !== words) trouble.textContent = words;
  };
  store.onprogress = (share, what) => {
    work.hidden = share >= 1;
    work.textContent = `${what}: ${Math.round(100 * share)} %`;
  };
  store.on(draw);
  draw();
  root.prepend(trouble, work);
}

// The book's chapters with their cards and problems: as the page says, or from the cards that it
// holds.
/**
 * @param {Element} root
 * @returns {Chapter[]}
 */
function chaptersOf(root) {
  const block = root.querySelector("script.study-book");
  if (block) return JSON.parse(block.textContent ?? "").chapters;
  /** @type {Map<string, Chapter>} */
  const found = new Map();
  for (const node of cardsIn(root)) {
    const name = node.dataset.chapter ?? "",
      title = node.closest("section")?.querySelector("h2, h3")?.firstChild?.textContent || name;
    const chapter = found.get(name) ?? { name, title, cards: [], problems: [] };
    chapter.cards.push(node.dataset.card ?? "");
    found.set(name, chapter);
  }
  return [...found.values()];
}

/**
 * @param {string} title
 * @param {string} className
 * @param {Node[]} content
 */
function fold(title, className, ...content) {
  return h(
    "details",
    { class: `study-fold ${className}` },
    h("summary", { text: title }),
    ...content,
  );
}

// On the page of all cards a card's inside waits as text (postprocess.py) until it is asked or the list
// is opened.
/** @param {(part: ParentNode) => void} [takeIn] */
function unfolder(takeIn = () => {}) {
  return (/** @type {Element} */ card) => {
    const held = card.querySelector(":scope > noscript");
    if (!held) return;
    const made = document.createElement("template");
    made.innerHTML = held.textContent ?? ""; // the book's own, as it was built
    held.replaceWith(made.content);
    takeIn(card);
  };
}

/**
 * @param {HTMLElement} root
 * @param {Store} store
 * @param {(card: Element) => void} unfold
 */
async function mountSitting(root, store, unfold) {
  notice(store, root);
  await store.ready();
  const nodes = new Map(cardsIn(root).map((node) => [node.dataset.card ?? "", node])),
    chapters = chaptersOf(root);
  const all = fold(`All ${nodes.size} cards of the book`, "study-all");
  all.append(
    ...[...root.childNodes].filter(
      (node) => !(node instanceof Element && node.classList.contains("study-line")),
    ),
  );
  const sitting = new Sitting(root, store, nodes, unfold);
  const unfoldAll = () => {
    for (const node of nodes.values()) unfold(node);
  };
  all.addEventListener("toggle", () => {
    if (all.open) unfoldAll();
  });
  root.append(
    sitting.node,
    fold("Settings", "", settingsForm(store, chapters)),
    fold("Your data", "study-data-fold", dataPanel(store)),
    all,
  );
  // A link to one card opens the list; the card that is being asked is at the top anyway.
  const target = () => {
    if (location.hash.length < 2) return;
    const find = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!find()) unfoldAll();
    const node = find();
    if (!node || !all.contains(node)) return;
    all.open = true;
    node.scrollIntoView();
  };
  addEventListener("hashchange", target);
  await sitting.start();
  root.classList.add("is-up");
  target();
}

/**
 * @param {Store} store
 * @param {(part: ParentNode) => void} takeIn
 */
export async function mountReview(store, takeIn) {
  /** @type {HTMLElement | null} */
  const review = document.querySelector("[data-study=review]");
  /** @type {HTMLElement | null} */
  const progress = document.querySelector("[data-study=progress]");
  document.addEventListener(
    "toggle",
    (event) => {
      const { target } = event;
      if (!(target instanceof HTMLDetailsElement) || !target.matches(".card-back")) return;
      /** @type {HTMLElement | null} */
      const card = target.closest(CARD);
      if (!card || target !== backOf(card) || card.classList.contains("is-asked")) return;
      const summary = target.querySelector("summary");
      if (summary) summary.textContent = target.open ? "Hide the answer" : "Show the answer";
      if (target.open) answerInPlace(store, card);
    },
    true,
  );
  if (review) await mountSitting(review, store, unfolder(takeIn));
  else if (progress) {
    notice(store, progress);
    await new Progress(progress, store, chaptersOf(progress)).start();
    progress.classList.add("is-up");
  } else {
    const first = document.querySelector(".cards, [data-card]");
    if (first) notice(store, first);
  }
}
