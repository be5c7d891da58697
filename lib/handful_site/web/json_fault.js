// What is wrong with a text that is no JSON, in one sentence: where, what stands there, and what may.

/** @type {Record<string, string>} */
const WANTED = {
  value:
    "a number, a text in double quotation marks, true, false, null, a list in brackets or an " +
    "object in braces",
  name: "a name in double quotation marks",
  colon: "a colon",
  start: "an opening brace",
  end: "nothing more",
};
// A text, a number or a word, a mark, or whatever else stands together.
const TOKEN =
  /\s*(?:("(?:[^"\\\n]|\\.)*")|((?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|NaN|-?Infinity)(?![\w.]))|([{}[\],:])|([^\s{}[\],:]*))/y;

/**
 * @param {string} text
 * @param {string} such a name that it might hold
 */
export function faultOf(text, such) {
  const open = /** @type {string[]} */ ([]); // the marks that close what is open
  let wants = "start",
    before = "";
  TOKEN.lastIndex = 0;
  for (;;) {
    const found = /** @type {RegExpExecArray} */ (TOKEN.exec(text)),
      [, string, plain, mark, other] = found,
      token = string ?? plain ?? mark ?? other,
      closing = open.at(-1),
      /** @type {string} */
      wanted =
        (wants === "name" ? `${WANTED.name}, such as "${such}",` : WANTED[wants]) ??
        `a comma or a closing ${closing === "}" ? "brace" : "bracket"}`;
    const closes = token === closing && (wants === "next" || before === "{" || before === "[");
    if (closes) open.pop();
    else if ((wants === "value" || wants === "start") && (mark === "{" || mark === "["))
      open.push(mark === "{" ? "}" : "]");
    else if (!fitsIn(wants, token, { string, plain }))
      return sentence({ token, line: lineOf(text), wanted, before, closing });
    if (token === "")
      return "This is no JSON: a text in it holds a character that it may not hold.";
    wants = next(wants, token, open);
    before = token;
  }
}

// The line in which the last token ends.
/** @param {string} text */
const lineOf = (text) => text.slice(0, TOKEN.lastIndex).split("\n").length;

/**
 * @param {string} wants
 * @param {string} token
 * @param {{ string?: string, plain?: string }} kinds
 */
function fitsIn(wants, token, { string, plain }) {
  if (wants === "value") return (string ?? plain) !== undefined;
  if (wants === "name") return string !== undefined;
  return { colon: ":", next: ",", end: "" }[wants] === token;
}

/**
 * @param {string} wants
 * @param {string} token
 * @param {string[]} open
 */
function next(wants, token, open) {
  if (token === "{") return "name";
  if (token === "[" || token === ":") return "value";
  if (token === ",") return open.at(-1) === "}" ? "name" : "value";
  if (wants === "name" && token !== "}") return "colon";
  return open.length ? "next" : "end";
}

/** @param {{ token: string, line: number, wanted: string, before: string, closing?: string }} where */
function sentence({ token, line, wanted, before, closing }) {
  if (!token)
    return (
      `This is no JSON: it ends in line ${line}, where ${wanted} should stand` +
      `${closing ? `; “${closing}” is missing at the end` : ""}.`
    );
  if (before === "," && token === closing)
    return `This is no JSON: in line ${line} the comma before “${token}” is one too many.`;
  if (token.startsWith('"') && !/^"(?:[^"\\]|\\.)*"$/.test(token))
    return `This is no JSON: a text that begins in line ${line} has no quotation mark at its end.`;
  const stands = `“${token.slice(0, 30)}${token.length > 30 ? "…" : ""}”`;
  return `This is no JSON: in line ${line}, ${stands} stands where ${wanted} should.`;
}
