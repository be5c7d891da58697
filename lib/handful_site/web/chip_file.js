// A chip's file, as `handful measure --output` writes it, into the fields of custom_scenario.js: one
// object of JSON, in SI units.  handful/chip_file.py reads the same.

import { check, FIELDS } from "../../handful_explorers/web/custom_scenario.js";
import { faultOf } from "./json_fault.js";

export const LONGEST = 100_000; // characters of a text
// What a file may hold beside the form's fields; no precision of the page computes in int8.
const BESIDE = ["name", "source", "notes", "int8"];

/** @param {unknown} value */
const isText = (value) => value === undefined || value === null || typeof value === "string";

/**
 * @param {string} pasted
 * @returns {{ given?: Given & { name?: string }, notes?: string[], problem?: string }}
 */
export function readChip(pasted) {
  const text = pasted.replace(/^\ufeff/, "");
  if (text.length > LONGEST)
    return { problem: "A chip's file has some hundred characters, and this has far more." };
  /** @type {any} */
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    return { problem: faultOf(text, "memory_bandwidth") };
  }
  if (typeof found !== "object" || found === null || Array.isArray(found))
    return { problem: "A chip's file is one object in braces; this is something else." };
  const known = FIELDS.hardware.map((f) => f.name),
    unknown = Object.keys(found).find((key) => !known.includes(key) && !BESIDE.includes(key));
  if (unknown !== undefined)
    return {
      problem:
        `A chip has no field “${unknown.slice(0, 40)}”; it has ` +
        `${[...known, ...BESIDE].join(", ")}.`,
    };
  const { source, notes = [], int8, ...given } = found;
  if (!isText(given.name) || !isText(source))
    return { problem: "The name and the source of a chip are texts in quotation marks." };
  if (!Array.isArray(notes) || !notes.every((note) => typeof note === "string"))
    return { problem: "The notes on a chip are a list of texts." };
  const { problems } = check("hardware", given);
  if (problems.length) return { problem: problems[0].text };
  return {
    given,
    notes: [
      ...(source ? [`${source[0].toUpperCase()}${source.slice(1)}.`] : []),
      ...notes,
      ...(int8 ? ["Its rate in int8 is not used: no precision of the book computes in it."] : []),
    ],
  };
}
