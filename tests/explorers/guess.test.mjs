// A guess that a reader comes back to is judged as it was when it was made.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Guess } from "../../lib/handful_explorers/web/guess.js";

const AT = [930e6, 950e6, 950e6, 950e6, 950e6, 950e6], // at six places
  TRUTH = [930e6, 130e6, 47e6, 35e6, 32e6, 34e6],
  FRAME = {
    key: "",
    x: { domain: [8e10, 6e11] },
    y: { domain: [0, 1.2e9] },
    series: [],
    marks: [],
  };
const none = () => {},
  node = { append: none, before: none, after: none, addEventListener: none };
const tools = {
  h: () => ({ ...node }),
  s: () => ({ ...node }),
  defaults: () => ({}),
  valuesOf: () => ({}),
  label: String,
  store: { choice: {} },
  lower: (text) => text.toLowerCase(),
  plain: String,
  formatValue: String,
  guessOf: () => ({ at: AT }),
  put: (of, key, value) => (of[key] = value),
  Model: class {
    room = () => Infinity;
    grid = TRUTH.map((_, i) => (80 + 104 * i) * 1e9);
    evaluate = ({ size }) => ({
      curves: [
        {
          curve: { id: "training", label: "Training" },
          ys: TRUTH,
          y: TRUTH[this.grid.indexOf(size)],
        },
      ],
      marks: [],
    });
  },
};
const spec = {
  name: "bills",
  guess: { kind: "draw", of: "training", question: "What does training cost?" },
  x: { name: "size", title: "Size", unit: "token", min: 8e10, max: 6e11 },
  y: { unit: "$", log: false },
};

// The page's part of a figure, in as far as a guess asks for it.
const figure = (asking) => ({
  asking,
  spec,
  id: "bills",
  state: {},
  root: node,
  stage: node,
  chart: { plot: { svg: node } },
  unset: () => ({}),
  sceneText: () => "",
  symbols: () => new Set(),
});

test("a kept guess that was far off is called so after a reload", () => {
  const made = new Guess(figure(true), tools),
    later = new Guess(figure(false), tools);
  made.values = AT;
  for (const one of [made, later]) one.onto(FRAME);
  const said = made.compare(AT);
  assert.match(said, /^You are furthest off .* off by a factor of /);
  assert.equal(later.verdict.text, said);
});
