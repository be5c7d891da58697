// The rows of a CSV as Python's csv.reader has them when it is strict, for result_files.js.

import { grouped } from "../../handful_explorers/web/units.js";
import { lengthOf } from "./python_text.js";
import { shown, Unreadable } from "./result_tools.js";

const LONGEST = 131072; // characters of a cell
const QUOTE = 34,
  LINE_FEED = 10,
  RETURN = 13;

// Yields each row with the number of the line in which it ends.
/**
 * @param {string} text
 * @param {string} separator
 * @returns {Generator<[number, string[]]>}
 */
export function* rowsOf(text, separator) {
  const between = separator.charCodeAt(0);
  let at = 0,
    line = 0;
  const fault = (/** @type {string} */ what) =>
    new Unreadable(`this is no CSV, in line ${grouped(line)}: ${shown(what)}.`);

  function plainCell() {
    const from = at;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === between || code === LINE_FEED || code === RETURN) break;
    }
    if (at - from > LONGEST && lengthOf(text, from, at) > LONGEST) throw tooLong();
    return text.slice(from, at);
  }
  const tooLong = () => fault(`field larger than field limit (${LONGEST})`);

  // Counts the lines that begin after one place and up to another, where something stands in them.
  /**
   * @param {number} from
   * @param {number} to
   */
  function passLines(from, to) {
    for (let i = from; i < to && i < text.length - 1; i++) {
      const code = text.charCodeAt(i);
      if (code === LINE_FEED || (code === RETURN && text.charCodeAt(i + 1) !== LINE_FEED)) line++;
    }
  }

  function quotedCell() {
    let cell = "",
      length = 0;
    for (;;) {
      const from = ++at,
        found = text.indexOf('"', from),
        end = found < 0 ? text.length : found,
        isDoubled = found >= 0 && text.charCodeAt(end + 1) === QUOTE;
      length += lengthOf(text, from, end) + (isDoubled ? 1 : 0);
      if (length > LONGEST) {
        let over = end + (isDoubled ? 1 : 0); // the first character too many is before it
        while (length-- > LONGEST) over -= lengthOf(text, over - 2, over) === 1 ? 2 : 1;
        passLines(from, over);
        throw tooLong();
      }
      passLines(from, end);
      if (found < 0) throw fault("unexpected end of data");
      cell += text.slice(from, isDoubled ? end + 1 : end);
      at = end + 1;
      if (!isDoubled) break;
    }
    const next = text.charCodeAt(at);
    if (at < text.length && next !== between && next !== LINE_FEED && next !== RETURN)
      throw fault(`'${separator}' expected after '"'`);
    return cell;
  }

  while (at < text.length) {
    line++;
    const cells = /** @type {string[]} */ ([]);
    const first = text.charCodeAt(at);
    if (first !== LINE_FEED && first !== RETURN)
      for (;;) {
        cells.push(text.charCodeAt(at) === QUOTE ? quotedCell() : plainCell());
        if (at >= text.length || text.charCodeAt(at) !== between) break;
        at++;
      }
    at += text.startsWith("\r\n", at) ? 2 : 1;
    yield [line, cells];
  }
}
