// A curve's line leaves points out; whichever they are, the lines pass by them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { linePoints, ribbonPoints } from "../../lib/handful_explorers/web/path.js";

const points = (line) => line.split(" ").map((pair) => pair.split(",").map(Number));

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
    const path = points(linePoints(X, Y)[0]);
    for (let i = 0; i < X.length; i += 1)
      assert.ok(miss(path, X[i], Y[i]) <= 0.1 + 0.05 + 0.05, `${round}: ${X[i]}, ${Y[i]}`);
  }
});

test("a straight line is its two ends, a gap parts a curve, and steps are kept", () => {
  const X = Array.from({ length: 100 }, (_, i) => i * 3);
  assert.deepEqual(
    linePoints(
      X,
      X.map((x) => 20 + 0.5 * x),
    ),
    ["0,20 297,168.5"],
  );
  assert.deepEqual(linePoints([0, 1, 2, 3, 4], [5, 5, NaN, 6, 6]), ["0,5 1,5", "3,6 4,6"]);
  assert.deepEqual(linePoints([0, 4, 4, 8], [1, 1, 9, 9]), ["0,1 4,1 4,9 8,9"]);
  assert.deepEqual(linePoints([], []), []);
});

// Twice the area that a polygon encloses, its parts counted by the way round.
const doubled = (corners) =>
  corners.reduce(
    (sum, [x, y], i) =>
      sum + x * corners[(i + 1) % corners.length][1] - corners[(i + 1) % corners.length][0] * y,
    0,
  );

test("a ribbon encloses what lies between its edges, and nothing over a gap", () => {
  assert.equal(ribbonPoints([0, 2, 4], [9, 9, 9], [1, 1, 1]), "0,1 4,1 4,9 0,9 0,1");
  const parted = ribbonPoints([0, 1, 2, 5, 6, 7, 8, 9], Array(8).fill(9), [
    1,
    1,
    NaN,
    3,
    3,
    NaN,
    5,
    5,
  ]);
  assert.equal(Math.abs(doubled(points(parted))), 2 * (8 + 6 + 4));
  assert.equal(ribbonPoints([], [], []), "");
});
