// Problems on the page: draws numbers from a seed, checks answers, names wrong turns.
//
//   ?problem-ID=4711    the numbers of one problem; the link beside it holds them
//
// page.attempt(…), where it is given, gets every answer that was counted, and page.results() says
// what was solved.
import { h } from "../../handful_explorers/web/dom.js";
import { mountPractice } from "./practice.js";
import { MOST_SEED, Problem } from "./problem.js";

const quote = (text) => `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;

// {seed} that the address asks for, and a sentence where it asks for none that there is.
function asked(id) {
  const text = new URLSearchParams(location.search).get(`problem-${id}`);
  if (text === null) return { seed: 0 };
  if (/^\d{1,10}$/.test(text) && Number(text) <= MOST_SEED) return { seed: Number(text) };
  return {
    seed: 0,
    note:
      `The address asks for the numbers ${quote(text)}; allowed is a whole number from 0 to ` +
      "4,294,967,295, so the first ones are shown.",
  };
}

// The address keeps in step, so that a page that is loaded again shows the same numbers.
function address({ id, seed }) {
  const url = new URL(location.href);
  if (seed) url.searchParams.set(`problem-${id}`, seed);
  else url.searchParams.delete(`problem-${id}`);
  history.replaceState(history.state, "", url);
}

export function mountProblems(page) {
  const around = { ...page, address };
  const start = (node) => {
    const { seed, note } = asked(node.dataset.problem),
      problem = new Problem(node, around, seed);
    if (note) problem.say(h("p", { class: "problem-note", text: note }));
    return problem;
  };
  const practice = document.querySelector('[data-study="practice"]');
  if (practice) mountPractice(practice, around, start);
  else {
    // One after the other when nothing else is to do; first the one that the address names.
    const wanted = (node) => `#${node.id}` === location.hash,
      nodes = [...document.querySelectorAll("[data-problem]")].sort(
        (a, b) => wanted(b) - wanted(a),
      );
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
export function attempt(node, start) {
  try {
    return start(node);
  } catch (error) {
    console.warn(`The problem ${node.dataset.problem} could not start: ${error.message}`);
    return null;
  }
}
