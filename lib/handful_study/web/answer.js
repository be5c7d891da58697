// One card, wherever it stands: what its opened answer gets, and how it is graded.
import { h } from "../../handful_explorers/web/dom.js";
import { isDue, isLeech, preview, span, zoneAt } from "./spaced_repetition.js";
import { whenDue } from "./wording.js";

/**
 * @typedef {import("./store.js").Store} Store
 */

export const GRADES = [
  ["Again", "I did not know it"],
  ["Hard", "I knew it with trouble"],
  ["Good", "I knew it"],
  ["Easy", "I knew it at once"],
];
const LONGEST = 600_000; // whoever takes longer was elsewhere

/**
 * @param {HTMLElement} card
 * @returns {HTMLDetailsElement}
 */
export const backOf = (card) => {
  const back = card.querySelector("details.card-back");
  if (back instanceof HTMLDetailsElement) return back;
  throw new Error(`The card ${card.id} has no back.`);
};

// The answer as something that can have the focus.
/**
 * @param {HTMLElement} card
 * @returns {HTMLElement}
 */
export function answerOf(card) {
  const back = backOf(card);
  /** @type {HTMLElement | null} */
  const found = back.querySelector(":scope > .card-answer");
  if (found) return found;
  const answer = h("div", {
    class: "card-answer",
    tabindex: "-1",
    role: "group",
    "aria-label": "Answer",
  });
  answer.append(...[...back.childNodes].filter((node) => node.nodeName !== "SUMMARY"));
  back.append(answer);
  return answer;
}

// The link to the card's section, for a card that keeps slipping.
/**
 * @param {HTMLElement} card
 * @param {number} lapses
 */
export function leechNote(card, lapses) {
  const link = card.querySelector(".card-foot a:not(.lecture-time)");
  return h(
    "p",
    { class: "study-leech" },
    `This card has slipped ${lapses} times. Reading its section again may do more than one ` +
      "more repetition: ",
    link ? h("a", { href: link.getAttribute("href"), text: link.textContent }) : "its section",
    ".",
  );
}

// Four buttons, each with the time until the card would come back; `choose` gets the grade.
/**
 * @param {CardState | undefined} state
 * @param {number} retention
 * @param {(grade: number) => unknown} choose
 * @param {boolean} [keys]
 */
export function gradeBar(state, retention, choose, keys) {
  const now = Date.now(),
    bar = h("div", {
      class: "study-grades",
      role: "group",
      "aria-label": "How well did you know it?",
    });
  for (const [place, outcome] of preview(state, now, zoneAt(now), retention).entries()) {
    const [name, meaning] = GRADES[place];
    bar.append(
      h(
        "button",
        {
          type: "button",
          class: `study-grade study-grade-${place + 1}`,
          title: meaning,
          "data-grade": place + 1,
          onclick: () => choose(place + 1),
        },
        h("span", { class: "study-grade-name", text: name }),
        " ",
        h("span", { class: "study-grade-when", text: span(outcome) }),
        keys ? h("kbd", { "aria-hidden": "true", text: place + 1 }) : null,
      ),
    );
  }
  return bar;
}

// `since`: when the question was shown, where that is known.
/**
 * @param {Store} store
 * @param {HTMLElement} card
 * @param {number} value
 * @param {number} [since]
 * @returns {Promise<import("./store.js").Added>}
 */
export const grade = (store, card, value, since) =>
  store.add("grade", {
    card: card.dataset.card ?? "",
    grade: value,
    ...(since === undefined
      ? {}
      : { took: Math.round(Math.min(LONGEST, Math.max(0, performance.now() - since))) }),
  });

// Within a chapter: an opened card offers the grades; afterwards it says when it comes back.
/**
 * @param {Store} store
 * @param {HTMLElement} card
 */
export async function answerInPlace(store, card) {
  const place = card.querySelector(":scope > .study-place") || h("div", { class: "study-place" });
  backOf(card).after(place);
  answerOf(card);
  const id = card.dataset.card ?? "",
    state = await store.state(id),
    now = Date.now(),
    zone = zoneAt(now);
  /**
   * @param {string} text
   * @param {Node[]} more
   */
  const said = (text, ...more) => h("p", { class: "study-said", role: "status" }, text, ...more);

  /** @param {number} value */
  const choose = async (value) => {
    for (const button of place.querySelectorAll("button")) button.disabled = true;
    const { event, state: after } = await grade(store, card, value);
    const undo = h("button", {
      type: "button",
      class: "study-link",
      text: "Undo",
      onclick: async () => {
        await store.undo(event.id);
        await answerInPlace(store, card);
        place.querySelector("button")?.focus();
      },
    });
    place.replaceChildren(
      said(
        `${GRADES[value - 1][0]}. This card comes back ${whenDue(after, Date.now(), zone)}. `,
        undo,
      ),
    );
    if (value === 1 && isLeech(after.lapses)) place.append(leechNote(card, after.lapses));
    undo.focus();
  };
  const offer = () =>
    place.replaceChildren(
      h("p", { class: "study-ask", text: "Did you know it?" }),
      gradeBar(state, store.settings.retention, choose),
    );

  if (!state || state.state === "new" || !state.reps || isDue(state, now, zone)) offer();
  else
    place.replaceChildren(
      said(
        `This card comes back ${whenDue(state, now, zone)}. `,
        h("button", {
          type: "button",
          class: "study-link",
          text: "Answer it now all the same",
          onclick: () => {
            offer();
            place.querySelector("button")?.focus();
          },
        }),
      ),
    );
}
