// Problems on the page: draws numbers from a seed, checks answers, names misconceptions.
//
//   ?problem-ID=4711    the numbers of one problem; the link beside it holds them
//
// page.attempt(…), where it is given, gets every answer that was counted, and page.results() says
// what was solved.
import { h } from "../../handful_explorers/web/dom.js";
import { mountPractice } from "./practice.js";
import { MOST_SEED, Problem } from "./problem.js";

/**
 * What the page around a problem remembers.
 *
 * @typedef {object} Around
 * @property {(attempt: Omit<AttemptEvent, keyof EventBase | "kind">) => unknown} [attempt]
 * @property {() => Record<string, { right: number, wrong: number }>} [results]
 * @property {(problem: { id: string, seed: number }) => void} [address]
 */

/** @param {string} text */
const shortQuote = (text) => `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;

// {seed} that the address asks for, and a sentence where it asks for none that there is.
/**
 * @param {string} id
 * @returns {{ seed: number, note?: string }}
 */
function seedOfAddress(id) {
  const text = new URLSearchParams(location.search).get(`problem-${id}`);
  if (text === null) return { seed: 0 };
  if (/^\d{1,10}$/.test(text) && Number(text) <= MOST_SEED) return { seed: Number(text) };
  return {
    seed: 0,
    note:
      `The address asks for the numbers ${shortQuote(text)}; allowed is a whole number from 0 to ` +
      "4,294,967,295, so the first ones are shown.",
  };
}

// The address keeps in step, so that a page that is loaded again shows the same numbers.
/** @param {{ id: string, seed: number }} problem */
function setAddress({ id, seed }) {
  const url = new URL(location.href);
  if (seed) url.searchParams.set(`problem-${id}`, String(seed));
  else url.searchParams.delete(`problem-${id}`);
  history.replaceState(history.state, "", url);
}

/** @param {Around} page */
export function mountProblems(page) {
  const around = { ...page, address: setAddress };
  const start = (/** @type {HTMLElement} */ node) => {
    const { seed, note } = seedOfAddress(node.dataset.problem ?? ""),
      problem = new Problem(node, around, seed);
    if (note) problem.say(h("p", { class: "problem-note", text: note }));
    return problem;
  };
  /** @type {HTMLElement | null} */
  const practice = document.querySelector('[data-study="practice"]');
  if (practice) mountPractice(practice, around, start);
  else {
    // One after the other when nothing else is to do; first the one that the address names.
    /** @type {NodeListOf<HTMLElement>} */
    const found = document.querySelectorAll("[data-problem]");
    const wanted = (/** @type {HTMLElement} */ node) => Number(`#${node.id}` === location.hash),
      nodes = [...found].sort((a, b) => wanted(b) - wanted(a));
    /** @type {(task: () => void, options?: IdleRequestOptions) => unknown} */
    const idle = window.requestIdleCallback || ((f) => setTimeout(f, 50));
    const next = () => {
      const node = nodes.shift();
      if (!node) return;
      attempt(node, start);
      idle(next, { timeout: 300 });
    };
    next();
  }
}

// A problem that cannot start stays as it reads without a script; the others go on.
/**
 * @param {HTMLElement} node
 * @param {(node: HTMLElement) => Problem} start
 */
export function attempt(node, start) {
  try {
    return start(node);
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    console.warn(`The problem ${node.dataset.problem} could not start: ${message}`);
    return null;
  }
}
