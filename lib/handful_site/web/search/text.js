// How text becomes the terms of the index: the same when the index is built and when it is asked.

// From α to ω, with the final sigma.
const GREEK = (
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma " +
  "sigma tau upsilon phi chi psi omega"
).split(" ");

// A letter with its subscript and star (N_total, B*), a number with its separators and its unit
// (2,400; 3.35; 70B), or a word.
const WORD = /\p{L}[\p{L}\p{N}\p{M}]*(?:_[\p{L}\p{N}]+)*\*?|\p{N}[\p{N}\p{L}]*(?:[.,]\p{N}+)*/gu;
const STOP = new Set(
  (
    "a an and are as at be by for from has have how if in is it its of on or so than that the " +
    "their them then there they this to " +
    "was were what when where which with"
  ).split(" "),
);

/**
 * @param {string} text
 * @returns {string[]}
 */
export const words = (text) => text.match(WORD) || [];

// What a reader types as LaTeX, as text: N_{\mathrm{total}} is N_total, \alpha is alpha, B^{*} is
// B*.
/** @param {string} text */
export const untex = (text) =>
  text
    .replace(/\\(?:mathrm|text|mathit|operatorname)\b/g, "")
    .replace(/\\(?:star|ast)\b/g, "*")
    .replace(/[${}^\\]/g, "");

/** @param {string} word */
function singular(word) {
  if (word.length < 4 || word === "series" || !/^[a-z]+$/.test(word)) return word;
  if (/[^ae]ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:[rt]ch|sh|ss|x)es$/.test(word)) return word.slice(0, -2);
  return /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

// British and American spellings are one: quantise, quantized and quantization, also while they are
// typed; behavior, analyze, center, modeling.
/** @param {string} word */
const spelling = (word) =>
  word
    .replace(
      /([a-z]{3})(?:i[sz](?:e[dr]?|ing?|at?i?o?n?)|iz)$/,
      (all, stem) => stem + (all.endsWith("iz") ? "is" : "ise"),
    )
    .replace(/([a-z]{3})yz(e[dr]?|ing)$/, "$1ys$2")
    .replace(/([a-z]{3})our$/, "$1or")
    .replace(/([a-z]{2}[bt])re$/, "$1er")
    .replace(/([a-z]{3}e)ll(ed|ing)$/, "$1l$2");

/** @param {string} word */
export const term = (word) =>
  spelling(
    singular(
      word
        .toLowerCase()
        .normalize("NFKD") // also makes ϵ, ϕ and µ, which have code points of their own, ε, φ and μ
        .replace(/[α-ω]/g, (letter) => GREEK[letter.charCodeAt(0) - 0x3b1])
        .replace(/(\p{N}),(?=\p{N})/gu, "$1")
        .replace(/\p{M}/gu, ""),
    ),
  );

// Words that a question has besides, and a title may be made of: they are in the index.
const ASKED = new Set(
  "about can could did do does i me much my need should vs we why will would you".split(" "),
);
/** @param {string} word */
export const isStop = (word) => STOP.has(word) || ASKED.has(word);

// Where words of a text are among the terms that a search found: [start, end, term].  N_total is
// also found as "ntotal".
/**
 * @param {string} text
 * @param {Set<string>} terms
 * @returns {[number, number, string][]}
 */
export const matches = (text, terms) =>
  [...text.matchAll(WORD)].flatMap(({ 0: word, index }) => {
    const whole = term(word),
      found = terms.has(whole) || (word.includes("_") && terms.has(whole.replaceAll("_", "")));
    return found ? [[index, index + word.length, whole]] : [];
  });

// Terms of one word as the index keeps them: N_total also as "ntotal" and "total", B* also as "b".
/**
 * @param {string} word
 * @param {string} [field]
 */
function indexTerms(word, field) {
  const whole = term(word);
  if (field === "text" && (STOP.has(whole) || whole.length === 1)) return null;
  const all = [whole];
  if (whole.endsWith("*")) all.push(whole.slice(0, -1));
  if (whole.includes("_"))
    all.push(
      whole.replace(/[_*]/g, ""),
      ...whole
        .replace("*", "")
        .split("_")
        .filter((part) => part.length > 2)
        .map(singular),
    );
  return [...new Set(all)];
}

// Numbers stand for fields, kinds and pages in the index, so the order of these lists is part of
// its format.
export const KINDS = [
  "section",
  "plot",
  "formula",
  "letter",
  "term",
  "claim",
  "card",
  "problem",
  "assignment",
  "source",
  "fact",
];
export const OPTIONS = {
  fields: ["title", "letters", "text", "trail"],
  tokenize: words,
  processTerm: indexTerms,
  searchOptions: { processTerm: term },
};
