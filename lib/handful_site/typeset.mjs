// Typesets every formula of the site in one process: reads [{tex, display}] from standard input,
// writes [{html}] or [{error}] in the same order.  The reader's browser gets HTML and MathML, and
// no maths engine.
import { readFileSync } from "node:fs";
import katex from "katex";

/** @type {import("katex").KatexOptions} */
const options = {
  output: "htmlAndMathml",
  throwOnError: true,
  // Letters such as "€" or "°" in text are fine; whatever else KaTeX merely tolerates is a mistake
  // of ours.
  strict: (/** @type {string} */ code) =>
    ["unicodeTextInMathMode", "newLineInDisplayMode", "htmlExtension"].includes(code)
      ? "ignore"
      : "error",
  trust: ({ command }) => command === "\\htmlData", // letters.py marks letters with it
};

// KaTeX gives "R_{\max}" three parts, the last an invisible sign ("apply the function"); MathML
// allows two; "d_{\min}^{2}" gets four.
// And it gives "N_{\mathrm{active}}" letter by letter, which a screen reader would spell.
const sound = (/** @type {string} */ markup) =>
  markup
    .replace(
      /<mo>\u2061<\/mo>(?=(?:<(m[ino])>[^<]*<\/\1>)?<\/m(?:sub|sup|subsup|under|over|underover)>)/g,
      "",
    )
    .replace(/(?:<mi mathvariant="normal">[a-zA-Z]<\/mi>){2,}/g, (word) => {
      const letters = word.replace(/<[^>]*>/g, "");
      return `<mi>${letters}</mi>`; // which is upright, as it has more than one
    });

const seen = new Map();
const typeset = (/** @type {{ tex: string, display: boolean }} */ { tex, display }) => {
  const key = `${display ? "d" : "i"}${tex}`;
  if (!seen.has(key)) {
    try {
      seen.set(key, {
        html: sound(katex.renderToString(tex, { ...options, displayMode: Boolean(display) })),
      });
    } catch (error) {
      seen.set(key, { error: /** @type {Error} */ (error).message });
    }
  }
  return seen.get(key);
};

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(typeset)));
