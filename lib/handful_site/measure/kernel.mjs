// The loop that the page times, in WebAssembly's text format; bundle.mjs assembles it.
//
//   use(from, end, batch, x, y)   reads the weights (32-bit numbers) that lie between two addresses,
//                                 uses each of them `batch` times, v = v · x + y, and returns the
//                                 sum of what comes out
//
// Bytes: 4 a weight, each read once.  FLOP: 2 · batch a weight, a multiply and an add each time.  So
// the work is that of a layer with a batch of vectors; the sum's one add a weight is not counted.
//
// A step waits for the one before it, so twelve are under way at a time, each on four weights: a
// processor begins two a cycle, and one takes four to eight.  Sixteen would not fit its registers.
const CHAINS = 12;
export const TURN = CHAINS * 16; // bytes that the loop takes at a time

/** @param {(v: string, i: number) => string} line */
const each = (line) => Array.from({ length: CHAINS }, (_, i) => line(`$v${i}`, i)).join("\n");

/**
 * The sum of n vectors from the i-th on, in pairs, since a row of adds would be waited for.
 *
 * @param {number} i
 * @param {number} n
 * @returns {string}
 */
function sum(i, n) {
  if (n === 1) return `(local.get $v${i})`;
  const half = n >> 1;
  return `(f32x4.add ${sum(i, half)} ${sum(i + half, n - half)})`;
}

/** @param {(v: string) => string} step what v · x + y is written as */
const kernel = (step) => `(module
  (memory (export "memory") 1)
  (func (export "use")
    (param $from i32) (param $end i32) (param $batch i32) (param $x f32) (param $y f32)
    (result f32)
    (local $xs v128) (local $ys v128) (local $total v128) (local $left i32)
    ${each((v) => `(local ${v} v128)`)}
    (local.set $xs (f32x4.splat (local.get $x)))
    (local.set $ys (f32x4.splat (local.get $y)))
    (loop $weights
      ${each((v, i) => `(local.set ${v} (v128.load offset=${16 * i} (local.get $from)))`)}
      (local.set $left (local.get $batch))
      (if (local.get $left) (then
        (loop $vectors
          ${each((v) => `(local.set ${v} ${step(`(local.get ${v})`)})`)}
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (br_if $vectors (local.get $left)))))
      (local.set $total (f32x4.add (local.get $total) ${sum(0, CHAINS)}))
      (local.set $from (i32.add (local.get $from) (i32.const ${TURN})))
      (br_if $weights (i32.lt_u (local.get $from) (local.get $end))))
    (f32.add
      (f32.add
        (f32x4.extract_lane 0 (local.get $total)) (f32x4.extract_lane 1 (local.get $total)))
      (f32.add
        (f32x4.extract_lane 2 (local.get $total)) (f32x4.extract_lane 3 (local.get $total))))))`;

// A multiply and an add in one instruction, where a processor has it and the browser knows of it.
export const fused = kernel((v) => `(f32x4.relaxed_madd ${v} (local.get $xs) (local.get $ys))`);
export const plain = kernel((v) => `(f32x4.add (f32x4.mul ${v} (local.get $xs)) (local.get $ys))`);
