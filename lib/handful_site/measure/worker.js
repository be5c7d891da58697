// Measures the machine that it runs on, apart from the page: asked {batches}, it posts progress
// {done, of} and then what it found, {found}, or why it could not, {failed}.
//
// A square layer of 4096 × 4096 weights in 32 bits is read, and each weight is used `batch` times,
// as kernel.mjs and SHADER say: 4 bytes and 2 · batch FLOP a weight.  Four such layers take turns,
// so that none is still in a cache when its turn comes again.
//
//   no batches   both rates: batch 0 only reads, which gives bytes/s; batch 1023 only computes, on
//                weights that stay in the nearest cache, which gives FLOP/s
//   batches      the time of the layer at each of them
//
// It is the GPU by WebGPU where there is one, else one thread of the processor by WebAssembly.
//
// Every result is checked, so that nothing can be left out.  One weight in four is 1, the others
// are 0, and each use is v = v · x + y with x = −1 and y = 1, numbers that the loop is only told
// when it runs: a use turns 0 into 1 and 1 into 0.  The sum is then exact, and an odd batch must
// give three times as much as an even one.
const WEIGHTS = 4096 ** 2,
  BYTES = 4 * WEIGHTS,
  LAYERS = 4,
  COMPUTING = 1023, // uses of a weight that make its reading negligible
  PATTERN = new Float32Array(1 << 18).map((_, i) => Number(i % 4 === 0));

/**
 * What does the work; each call ends when `count` times of it are done and have been checked.
 *
 * @typedef {object} Device
 * @property {"gpu" | "processor"} kind
 * @property {string} name
 * @property {boolean} fused whether a multiply and an add are one instruction
 * @property {number} weights of one layer
 * @property {number} near weights that `compute` uses, each COMPUTING times
 * @property {(batch: number, count: number) => Promise<void> | void} layer
 * @property {(count: number) => Promise<void> | void} compute
 */

/**
 * @param {number} sum
 * @param {number} weights
 * @param {number} batch
 */
function checkSum(sum, weights, batch) {
  const expected = (weights / 4) * (batch % 2 ? 3 : 1);
  if (sum !== expected) throw new Error(`a sum of ${expected} came out as ${sum}`);
}

// The processor ----------------------------------------------------------------------------------

/** @param {string} text base64 */
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** @returns {Promise<Device | null>} */
async function processor() {
  if (!self.WebAssembly) return null;
  const modules = [bytesOf(FUSED_KERNEL), bytesOf(PLAIN_KERNEL)];
  const module = modules.find((bytes) => WebAssembly.validate(bytes));
  if (!module) return null;
  const { instance } = await WebAssembly.instantiate(module);
  const { memory, use } = /** @type {{ memory: WebAssembly.Memory, use: Function }} */ (
    /** @type {unknown} */ (instance.exports)
  );
  memory.grow((LAYERS * BYTES) / 65536);
  const all = new Float32Array(memory.buffer);
  for (let at = 0; at < all.length; at += PATTERN.length)
    all.set(PATTERN.subarray(0, all.length - at), at);
  // Whole turns of the loop: 16 weights fewer than the layer has.
  const weights = WEIGHTS - ((WEIGHTS * 4) % KERNEL_TURN) / 4,
    near = (64 * KERNEL_TURN) / 4; // 12 kB
  let next = 0;
  return {
    kind: "processor",
    name: "",
    fused: module === modules[0],
    weights,
    near,
    layer(batch, count) {
      for (let i = 0; i < count; i++) {
        const from = BYTES * (next++ % LAYERS);
        checkSum(use(from, from + 4 * weights, batch, -1, 1), weights, batch);
      }
    },
    compute(count) {
      for (let i = 0; i < count; i++) checkSum(use(0, 4 * near, COMPUTING, -1, 1), near, COMPUTING);
    },
  };
}

// The GPU ----------------------------------------------------------------------------------------

const THREADS = 256 * 1024,
  TURNS = WEIGHTS / (THREADS * 32); // a thread takes 32 weights at a time, as 8 vectors of four
const each = (/** @type {(i: number) => string} */ line) =>
  Array.from({ length: 8 }, (_, i) => line(i)).join("\n    ");
const SHADER = `
struct Job { batch: u32, x: f32, y: f32 }
@group(0) @binding(0) var<storage, read> weights: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
@group(0) @binding(2) var<uniform> job: Job;
@compute @workgroup_size(256) fn layer(@builtin(global_invocation_id) id: vec3u) {
  let x = vec4f(job.x);
  let y = vec4f(job.y);
  var total = vec4f();
  for (var turn = 0u; turn < ${TURNS}; turn++) {
    let at = turn * ${8 * THREADS} + id.x;
    ${each((i) => `var v${i} = weights[at + ${i * THREADS}];`)}
    for (var used = 0u; used < job.batch; used++) {
    ${each((i) => `v${i} = fma(v${i}, x, y);`)}
    }
    ${each((i) => `total += v${i};`)}
  }
  sums[id.x] = total.x + total.y + total.z + total.w;
}`;

/**
 * @param {boolean} software whether a GPU that is played by the processor will do
 * @returns {Promise<Device | null>}
 */
async function gpu(software) {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter || (adapter.info.isFallbackAdapter && !software)) return null;
  const device = await adapter.requestDevice();
  const { STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const buffer = (/** @type {number} */ size, /** @type {number} */ usage) =>
    device.createBuffer({ size, usage });
  device.pushErrorScope("out-of-memory");
  const layers = Array.from({ length: LAYERS }, () => buffer(BYTES, STORAGE | COPY_DST)),
    sums = buffer(4 * THREADS, STORAGE | COPY_SRC),
    job = buffer(16, UNIFORM | COPY_DST),
    back = buffer(4 * THREADS, MAP_READ | COPY_DST),
    pattern = buffer(PATTERN.byteLength, COPY_SRC | COPY_DST);
  if (await device.popErrorScope()) throw new Error("too little memory");
  device.queue.writeBuffer(pattern, 0, PATTERN);
  const pipeline = await device.createComputePipelineAsync({
    layout: "auto",
    compute: { module: device.createShaderModule({ code: SHADER }) },
  });
  const encoder = device.createCommandEncoder();
  for (const weights of layers)
    for (let at = 0; at < BYTES; at += pattern.size)
      encoder.copyBufferToBuffer(pattern, 0, weights, at, pattern.size);
  device.queue.submit([encoder.finish()]);
  const groups = layers.map((weights) =>
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [weights, sums, job].map((one, binding) => ({ binding, resource: { buffer: one } })),
    }),
  );
  let next = 0;
  /** @type {Device["layer"]} */
  async function layer(batch, count) {
    const told = new DataView(new ArrayBuffer(16));
    told.setUint32(0, batch, true);
    told.setFloat32(4, -1, true);
    told.setFloat32(8, 1, true);
    device.queue.writeBuffer(job, 0, told);
    const commands = device.createCommandEncoder(),
      pass = commands.beginComputePass();
    pass.setPipeline(pipeline);
    for (let i = 0; i < count; i++) {
      pass.setBindGroup(0, groups[next++ % LAYERS]);
      pass.dispatchWorkgroups(THREADS / 256);
    }
    pass.end();
    commands.copyBufferToBuffer(sums, 0, back, 0, back.size);
    device.queue.submit([commands.finish()]);
    await back.mapAsync(GPUMapMode.READ);
    const sum = new Float32Array(back.getMappedRange()).reduce((a, b) => a + b, 0);
    back.unmap();
    checkSum(sum, WEIGHTS, batch);
  }
  const { description, vendor, architecture } = adapter.info;
  return {
    kind: "gpu",
    name: description || [vendor, architecture].filter(Boolean).join(" "),
    fused: true,
    weights: WEIGHTS,
    near: WEIGHTS, // each is read once for its many uses, which takes no time beside them
    layer,
    compute: (count) => layer(COMPUTING, count),
  };
}

// Timing -----------------------------------------------------------------------------------------

/** @type {(work: (count: number) => Promise<void> | void, count: number) => Promise<number>} */
async function time(work, count) {
  const begun = performance.now();
  await work(count);
  return performance.now() - begun;
}

// Milliseconds that the clock goes on at a time: browsers round it, to one or less, some to a
// hundred.
function clockStep() {
  const begun = performance.now();
  let now = begun;
  while (now === begun) now = performance.now();
  return now - begun;
}

/**
 * Milliseconds of one call, least first.  Each timing lasts `least` milliseconds or more, and all
 * of them a second or so: on a slow machine there are fewer.
 *
 * @param {(count: number) => Promise<void> | void} work
 * @param {number} least
 * @param {number} repeats
 */
async function times(work, least, repeats) {
  await time(work, 1); // the first call is slow
  let count = 1,
    took = 0;
  while ((took = await time(work, count)) < least)
    count = Math.ceil(count * Math.min(10, (1.2 * least) / Math.max(took, 0.1)));
  const all = [took];
  for (let spent = took; all.length < repeats && spent < 1200; spent += took)
    all.push((took = await time(work, count)));
  return all.map((one) => one / count).sort((a, b) => a - b);
}

/**
 * @param {number} amount of bytes or FLOP
 * @param {number[]} milliseconds
 */
const rate = (amount, milliseconds) => ({
  best: (1000 * amount) / milliseconds[0],
  worst: (1000 * amount) / milliseconds[milliseconds.length - 1],
  runs: milliseconds.length,
});

/**
 * @param {{ batches?: number[], least?: number, software?: boolean }} request
 */
async function measure({ batches, least: wanted = 60, software = false }) {
  const least = Math.max(batches ? wanted / 2 : wanted, 20 * clockStep());
  const device = (await gpu(software).catch(() => null)) ?? (await processor());
  if (!device) return { missing: true };
  const { kind, name, fused, weights, near } = device,
    about = { kind, name, fused, cores: navigator.hardwareConcurrency },
    of = batches?.length ?? 2;
  let done = 0;
  const step = () => postMessage({ done: done++, of });
  if (!batches) {
    step();
    const reading = await times((count) => device.layer(0, count), least, 9);
    step();
    const computing = await times((count) => device.compute(count), least, 9);
    return {
      ...about,
      memory_bandwidth: rate(4 * weights, reading),
      peak_flops: rate(2 * COMPUTING * near, computing),
    };
  }
  /** @type {[number, number][]} */
  const points = [];
  for (const batch of batches) {
    step();
    const [best] = await times((count) => device.layer(batch, count), least, 3);
    points.push([batch, ((best / 1000) * WEIGHTS) / weights]);
  }
  return { ...about, points };
}

self.onmessage = ({ data }) =>
  measure(data).then(
    (found) => postMessage({ found }),
    (error) => postMessage({ failed: String(error?.message || error) }),
  );
