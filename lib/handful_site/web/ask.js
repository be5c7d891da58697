// The question that a chapter opens with: what the reader answers is kept in this browser and told
// again where the chapter answers (sphinx_ask.py).
import { guesses, guessOf, keep } from "../../handful_explorers/web/guesses.js";

// As the book writes numbers: 230,000.
/** @param {string} value */
const apart = (value) => (/^\d{5,}$/.test(value) ? value.replace(/\B(?=(\d{3})+$)/g, ",") : value);

/** @param {HTMLFormElement} form */
function mountQuestion(form) {
  const name = form.dataset.ask ?? "",
    /** @type {HTMLInputElement[]} */
    inputs = [...form.querySelectorAll("input")],
    said = form.querySelector(".ask-said");
  const answer = () =>
    inputs
      .filter((input) => (input.type === "radio" ? input.checked : input.value.trim()))
      .map((input) =>
        input.type === "radio"
          ? input.value
          : `${apart(input.value.trim())} ${input.dataset.words}`,
      )
      .join(", ");
  /** @param {string} text */
  const tell = (text) => {
    if (said) said.textContent = text;
  };
  const kept = guessOf(name)?.text;
  if (kept) tell(`You guessed: ${kept}.`);
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = answer(),
      odd = inputs.find(
        ({ type, value }) => type !== "radio" && value.trim() && !/^[^-−\d]*\d/.test(value),
      );
    if (odd) {
      tell(`A guess is a number, not negative, and “${odd.value.trim().slice(0, 20)}” is not.`);
      odd.focus();
      return;
    }
    if (!text) {
      tell("Make a guess first, however rough, or simply read on.");
      inputs[0]?.focus();
      return;
    }
    keep({ of: { [name]: { text } } });
    tell(`Kept: ${text}. The chapter shows it again beside the answer.`);
  });
}

export function mountQuestions() {
  if (guesses().never) return;
  for (const form of document.querySelectorAll("form[data-ask]"))
    if (form instanceof HTMLFormElement) mountQuestion(form);
}
