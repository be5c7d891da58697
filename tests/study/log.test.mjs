// Files of a learner's log: which are read, and which are refused (test_study_rules.py runs it).
import assert from "node:assert/strict";
import test from "node:test";
import { LogError, read, write } from "../../lib/handful_study/web/log.js";

const GRADE = {
  id: "aaaaaaaa",
  at: 1_773_000_000_000,
  zone: 60,
  kind: "grade",
  card: "a-card",
  grade: 3,
};
const UNDO = {
  id: "bbbbbbbb",
  at: 1_773_000_000_001,
  zone: -840,
  kind: "undo",
  undoes: "aaaaaaaa",
};
const BURY = { id: "cccccccc", at: 0, zone: 840, kind: "bury", card: "a-card" };
const SETTING = {
  id: "dddddddd",
  at: 5,
  zone: 0,
  kind: "setting",
  name: "retention",
  value: 0.9,
};
const ATTEMPT = {
  id: "eeeeeeee",
  at: 6,
  zone: 0,
  kind: "attempt",
  problem: "p-1",
  seed: 0,
  given: "",
  verdict: "right",
};
const EVENTS = [GRADE, UNDO, BURY, SETTING, ATTEMPT];

const fileOf = (events, more = {}) =>
  JSON.stringify({ format: "handful-study-log", version: 1, exported: 1, events, ...more });
// A field of any name, `__proto__` included, stands in the file as it would if somebody wrote it.
const withField = (event, name, value) => {
  const fields = Object.entries(event).filter(([key]) => key !== name);
  return `{${[...fields, [name, value]]
    .map(([key, v]) => `${JSON.stringify(key)}:${JSON.stringify(v)}`)
    .join(",")}}`;
};
const fileOfText = (event) => fileOf([]).replace("[]", `[${event}]`);
const without = (event, name) =>
  Object.fromEntries(Object.entries(event).filter(([key]) => key !== name));
const inText = (from, to) => fileOf([GRADE]).replace(from, to);

const settings = [
  ["retention", 0.7],
  ["retention", 0.99],
  ["new_per_day", 0],
  ["new_per_day", 1000],
  ["chapters", []],
  ["chapters", ["a", "b-c"]],
].map(([name, value], i) => ({ ...SETTING, id: `dddddddd${i}`, name, value }));
const took = { ...GRADE, took: 86_400_000, card: "9".repeat(100) },
  long = { ...ATTEMPT, given: "😀".repeat(150), turn: 0, hints: 2 },
  half = { ...ATTEMPT, given: "\ud800" },
  markup = { ...ATTEMPT, given: "<img src=x onerror=alert(1)>" };
// name: [file, events]
const GOOD = {
  "every kind": [fileOf(EVENTS), [BURY, SETTING, ATTEMPT, GRADE, UNDO]],
  nothing: [fileOf([]), []],
  "whole numbers": [inText('"grade":3', '"grade":3.0,"took":1e3'), [{ ...GRADE, took: 1000 }]],
  twice: [fileOf([GRADE, UNDO, GRADE]), [GRADE, UNDO]],
  "an edge": [fileOf([took]), [took]],
  "a long answer": [fileOf([long]), [long]],
  "half of a sign": [fileOf([half]), [half]],
  markup: [fileOf([markup]), [markup]],
  settings: [fileOf(settings), settings],
  "a field more": [fileOf([GRADE], { written_by: "somebody" }), [GRADE]],
  "a field twice": [inText('"grade":3', '"grade":9,"grade":3'), [GRADE]],
  space: [`\n ${fileOf([GRADE])}\n`, [GRADE]],
};

const FIELDS = {
  id: ["", "short", "x".repeat(65), "with space", "tab\there", 7, null, "äöüäöüäö", "aaaaaaa\n"],
  at: [-1, 1.5, "1", true, null, 8e12, 1e300, [1]],
  zone: [-841, 841, 0.5, null, "UTC"],
  kind: ["", "grades", null, 3, ["grade"], "toString", "__proto__"],
  card: ["", "With-Capitals", "x".repeat(101), null, 3, "<script>", "a\n"],
  grade: [0, 5, 2.5, "3", true, null],
  took: [-1, 1.5, 86_400_001, null],
  undoes: ["", null, "x"],
  name: ["retentions", null, 1, ["retention"]],
  verdict: ["Right", null, true],
  seed: [-1, 2 ** 32, 0.1, null],
  given: [3, null, "x".repeat(301), "😀".repeat(151)],
  turn: [-1, 100, "0", null],
  hints: [-1, 100],
  problem: ["", "A"],
  extra: [1],
};
const OPTIONAL = { grade: ["took", "undoes"], attempt: ["turn", "hints"] };
const BAD = {
  empty: "",
  spaces: " \n",
  "cut off": fileOf(EVENTS).slice(0, -30),
  "a list": "[]",
  "a word": '"log"',
  "nothing at all": "null",
  HTML: "<!doctype html>",
  "another format": '{"format": "anki", "version": 1, "events": []}',
  NaN: inText("60", "NaN"),
  Infinity: inText("60", "Infinity"),
  "a newer version": fileOf([GRADE], { version: 2 }),
  "version 0": fileOf([], { version: 0 }),
  "version as text": fileOf([], { version: "1" }),
  "no version": fileOf([], { version: null }),
  "version true": fileOf([], { version: true }),
  "no events": fileOf(null),
  "events by name": fileOf({}),
  "an event that is none": fileOf([[GRADE]]),
  "a null": fileOf([null]),
  "a number": fileOf([GRADE, 3]),
  "one id, two events": fileOf([GRADE, { ...GRADE, grade: 1 }]),
  brackets: "[".repeat(100_000),
  "a huge number": inText("60", "9".repeat(5000)),
  "brackets in an event": inText('"a-card"', "[".repeat(50_000) + "]".repeat(50_000)),
};
for (const event of EVENTS) {
  for (const name of Object.keys(event))
    BAD[`${event.kind} without ${name}`] = fileOf([without(event, name)]);
  for (const [name, values] of [...Object.entries(FIELDS), ["__proto__", [1]]]) {
    const known = Object.hasOwn(event, name) || OPTIONAL[event.kind]?.includes(name);
    if (!known && name !== "extra" && name !== "__proto__") continue;
    for (const value of values)
      BAD[`${event.kind} with ${name}: ${JSON.stringify(value).slice(0, 20)}`] = fileOfText(
        withField(event, name, value),
      );
  }
}
const VALUES = {
  retention: [0.69, 0.991, "0.9", true, null, [0.9]],
  new_per_day: [-1, 1001, 1.5, true, "10"],
  chapters: [null, "a", ["A"], [1], [[]], { a: 1 }, Array(201).fill("a")],
};
for (const [name, values] of Object.entries(VALUES))
  for (const value of values)
    BAD[`${name}: ${JSON.stringify(value).slice(0, 20)}`] = fileOf([{ ...SETTING, name, value }]);

test("good files are read, and written again are the same", () => {
  for (const [name, [file, events]] of Object.entries(GOOD)) {
    assert.deepEqual(read(file), events, name);
    assert.deepEqual(read(write(events)), events, name);
  }
});

const refused = (file) => {
  try {
    read(file);
  } catch (error) {
    if (error instanceof LogError) return error.message;
    throw error;
  }
  return null;
};

test("bad files are refused in one sentence", () => {
  assert.ok(Object.keys(BAD).length > 120);
  for (const [name, file] of Object.entries(BAD)) {
    const said = refused(file);
    assert.ok(said?.endsWith(".") && !said.includes("\n") && said.length < 400, `${name}: ${said}`);
  }
});

test("a mistake is named with its place", () => {
  assert.equal(
    refused(fileOf([GRADE, { ...UNDO, zone: 900 }])),
    "Event 2 of 2 is not as it should be: zone is a whole number from -840 to 840; got 900.",
  );
  assert.equal(
    refused(fileOf([{ ...GRADE, grades: 1 }])),
    'Event 1 of 1 is not as it should be: a grade has no field "grades"; it has id, at, zone, ' +
      "card, grade, took.",
  );
  assert.equal(
    refused(fileOf([GRADE]).slice(0, 60)),
    "The file is not complete JSON: it was cut off while it was saved, or it is no study log.",
  );
  assert.equal(
    refused(fileOf([], { version: 3 })),
    "The file is of version 3, made by a newer edition of the book; this one reads up to " +
      "version 1.",
  );
});

test("too much is refused before it is looked at", () => {
  assert.match(refused(" ".repeat(50e6 + 1)), /larger than 50 MB/);
  assert.match(refused(fileOf(Array(1e6 + 1).fill(0))), /has 1000001 events; at most 1000000/);
});
