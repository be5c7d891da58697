// What a reader has guessed, in this browser only: explorer → the places of the guess and its words,
// or nothing of either for one who skipped it; `never` for one who wants no question.
/**
 * @typedef {{ at?: number[], text?: string }} Kept
 * @typedef {{ never?: boolean, of?: Record<string, Kept | undefined> }} Guesses
 */
const KEY = "handful-guesses"; // color_mode_init.js reads it too
/** @type {Guesses} */
let now = {}; // for readers whose browser keeps nothing

/** @returns {Guesses} */
export function guesses() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) || "null");
    if (kept && typeof kept === "object") now = kept;
  } catch {
    /* damaged or forbidden */
  }
  return now;
}

/** @param {string} name */
export const guessOf = (name) => guesses().of?.[name];

/** @param {Guesses} patch */
export function keep(patch) {
  const before = guesses();
  now = { ...before, ...patch, of: { ...before.of, ...patch.of } };
  try {
    localStorage.setItem(KEY, JSON.stringify(now));
  } catch {
    /* then for this page only */
  }
  tellGuesses();
}

// Where the text speaks of a plot's result it repeats what the reader had guessed.
export function tellGuesses() {
  for (const span of document.querySelectorAll("span[data-guess]")) {
    const text = guessOf(span.getAttribute("data-guess") ?? "")?.text;
    span.textContent = text ? ` (your guess: ${String(text).slice(0, 80)})` : "";
  }
}
