// A curve's path leaves points out; whichever they are, the lines pass by them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { linePath } from "../../lib/handful_explorers/web/path.js";

const points = (path) =>
  path
    .slice(1)
    .split("L")
    .map((pair) => pair.split(",").map(Number));

// How far above or below a point the path runs; points and path go from left to right.
function miss(path, x, y) {
  const i = Math.max(
    1,
    path.findIndex(([right]) => right >= x - 1e-9),
  );
  const [[x0, y0], [x1, y1]] = [path[i - 1], path[i]];
  return Math.abs(y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) - y);
}

test("lines pass within a tenth of a pixel, and the rounding of their ends, of every point", () => {
  let seed = 1;
  const chance = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let round = 0; round < 300; round += 1) {
    const X = [],
      Y = [];
    for (let i = 0, y = 200, slope = 0; i < 240; i += 1, y += slope) {
      slope += (chance() - 0.5) * (round % 3 ? 0.02 : 0.4);
      slope = Math.max(-1, Math.min(1, slope));
      X.push(i * 2.5);
      Y.push(y);
    }
    const path = points(linePath(X, Y));
    for (let i = 0; i < X.length; i += 1)
      assert.ok(miss(path, X[i], Y[i]) <= 0.1 + 0.05 + 0.05, `${round}: ${X[i]}, ${Y[i]}`);
  }
});

test("a straight line is its two ends, a gap parts a curve, and steps are kept", () => {
  const X = Array.from({ length: 100 }, (_, i) => i * 3);
  assert.equal(
    linePath(
      X,
      X.map((x) => 20 + 0.5 * x),
    ),
    "M0,20L297,168.5",
  );
  assert.equal(linePath([0, 1, 2, 3, 4], [5, 5, NaN, 6, 6]), "M0,5L1,5M3,6L4,6");
  assert.equal(linePath([0, 4, 4, 8], [1, 1, 9, 9]), "M0,1L4,1L4,9L8,9");
  assert.equal(linePath([], []), "M0,0");
});
