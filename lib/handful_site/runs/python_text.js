// Texts and numbers as Python's str and format have them, for what has to read as its twin in
// Python does.

// What str.strip takes for space.
const SPACE = new Set(
  [
    ...[9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003],
    ...[0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f],
    0x3000,
  ].map((code) => String.fromCharCode(code)),
);
// What str.splitlines takes for the end of a line.
export const LINE_ENDS = new RegExp(
  ["\\r\\n", ..."\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"].join("|"),
);

// Where a text begins once the space before it is left out.
/** @param {string} text */
function begins(text) {
  let at = 0;
  while (at < text.length && SPACE.has(text[at])) at++;
  return at;
}

// Where a text ends once the space after it is left out.  A pattern for it would try each space
// within a text anew.
/** @param {string} text */
export function ends(text) {
  let at = text.length;
  while (at && SPACE.has(text[at - 1])) at--;
  return at;
}

/** @param {string} text */
export const isBlank = (text) => begins(text) === text.length;
/** @param {string} text */
export const stripStart = (text) => text.slice(begins(text));
/** @param {string} text */
export const strip = (text) => text.slice(0, ends(text)).slice(begins(text));

// A text with one space between its words.
/** @param {string} text */
export function spaced(text) {
  let words = "";
  for (const letter of strip(text))
    if (!SPACE.has(letter)) words += letter;
    else if (!words.endsWith(" ")) words += " ";
  return words;
}

// How many characters a text has, as Python counts them.
/**
 * @param {string} text
 * @param {number} [from]
 * @param {number} [to]
 */
export function lengthOf(text, from = 0, to = text.length) {
  let count = 0;
  for (let at = from; at < to; count++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

// As toExponential, but a tie goes to the even neighbour, as in Python.
/**
 * @param {number} value
 * @param {number} digits two to six
 */
function exponential(value, digits) {
  // A tie of at most six digits has at most ten binary ones behind the point.
  if (Number.isInteger(value * 1024)) {
    const [figures, exponent] = value.toExponential(digits).split("e"),
      [exact] = value.toExponential(60).split("e");
    if (/[02468]\.?5$/.test(figures) && exact === figures.padEnd(exact.length, "0"))
      return [figures.slice(0, -1), exponent];
  }
  return value.toExponential(digits - 1).split("e");
}

// A number with so many significant digits, as by Python's format "g".
/**
 * @param {number} value
 * @param {number} [digits] two to six
 * @returns {string}
 */
export function general(value, digits = 6) {
  if (Number.isNaN(value)) return "nan";
  if (value < 0) return `-${general(-value, digits)}`;
  if (value === Infinity) return "inf";
  if (value === 0) return "0";
  const [figures, power] = exponential(value, digits),
    exponent = Number(power);
  const isPlain = exponent >= -4 && exponent < digits,
    written = isPlain ? Number(`${figures}e${power}`).toFixed(digits - 1 - exponent) : figures,
    short = written.includes(".") ? written.replace(/\.?0+$/, "") : written;
  return isPlain ? short : `${short}e${power[0]}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

// A share as a whole percentage, a tie to the even one.
/** @param {number} share */
export function percent(share) {
  const value = 100 * share,
    down = Math.floor(value);
  return `${value - down === 0.5 ? down + (down % 2) : Math.round(value)}%`;
}
