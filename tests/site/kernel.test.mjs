// What the loop of the measurement computes, against the same sum by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import wabt from "wabt";
import { fused, plain, TURN } from "../../lib/handful_site/measure/kernel.mjs";

const assembler = await wabt();

test("each weight is used as often as the batch says", async () => {
  const { buffer } = assembler.parseWat("plain", plain, { simd: true }).toBinary({});
  const { instance } = await WebAssembly.instantiate(buffer);
  const { memory, use } = instance.exports,
    count = (3 * TURN) / 4,
    weights = new Float32Array(memory.buffer, 0, count).map((_, i) => (i % 7) - 3);
  new Float32Array(memory.buffer).fill(1e9); // what lies behind the end is not read
  new Float32Array(memory.buffer).set(weights);
  for (const batch of [0, 1, 2, 5]) {
    let sum = 0;
    for (let v of weights) {
      for (let i = 0; i < batch; i++) v = 2 * v + 3;
      sum += v;
    }
    assert.equal(use(0, 4 * count, batch, 2, 3), sum);
  }
});

test("the two kernels differ in their steps only", () => {
  const step =
    /\(f32x4\.relaxed_madd (\(local\.get \$v\d+\)) (\(local\.get \$xs\)) (\(local\.get \$ys\))\)/g;
  assert.equal(fused.replace(step, "(f32x4.add (f32x4.mul $1 $2) $3)"), plain);
});
