// Pipeline schedules, played step by step: the twin of simulate/pipeline.py, in the same order of
// arithmetic, so that both give the same times to the last bit.  A piece is [kind, stream, stage,
// micro-batch]; a step is one piece or two.
/** @param {number} n */
const range = (n) => Array.from({ length: n }, (_, i) => i);

// Times of every step: [device, start, end, pieces], in the order in which Python finds them.
/**
 * @param {Plan} plan
 * @param {number} forward
 * @param {number} backward
 * @param {number} weights
 * @returns {Played}
 */
export function play(plan, forward, backward, weights) {
  /** @type {Record<string, number>} */
  const length = {};
  for (const [kind, time] of Object.entries({
    F: forward,
    B: backward,
    I: backward - weights,
    W: weights,
  }))
    length[kind] = time / plan.chunks;
  const overlapped = forward + backward,
    /** @type {Map<string, number>} */
    done = new Map(),
    /** @type {(...piece: Piece) => string} */
    key = (kind, stream, stage, number) => `${kind} ${stream} ${stage} ${number}`;
  /**
   * @param {Piece} piece
   * @returns {string[]}
   */
  const needs = ([kind, stream, stage, number]) => {
    if (kind === "F") return stage > 0 ? [key("F", stream, stage - 1, number)] : [];
    if (kind === "W") return [key("B", stream, stage, number)];
    return [
      key("F", stream, stage, number),
      ...(stage < plan.stages - 1 ? [key("B", stream, stage + 1, number)] : []),
    ];
  };
  /** @type {Bar[]} */
  const bars = [],
    clock = new Array(plan.devices).fill(0),
    at = new Array(plan.devices).fill(0);
  for (let moved = true; moved;) {
    moved = false;
    plan.orders.forEach((order, device) => {
      for (; at[device] < order.length; at[device]++) {
        const step = order[at[device]],
          wanted = step.flatMap(needs);
        if (wanted.some((need) => !done.has(need))) break;
        const start = Math.max(clock[device], ...wanted.map((need) => done.get(need) ?? 0));
        const end = start + (step.length === 2 ? overlapped : length[step[0][0]]);
        clock[device] = end;
        for (const [kind, stream, stage, number] of step)
          if (kind !== "W") done.set(key(kind === "F" ? "F" : "B", stream, stage, number), end);
        bars.push([device, start, end, step]);
        moved = true;
      }
    });
  }
  if (at.some((n, device) => n < plan.orders[device].length)) {
    // The step at which each device stops; undefined for those that are through.
    throw Object.assign(new Error("The schedule waits for itself."), {
      stuck: plan.orders.map((order, device) => order[at[device]]),
    });
  }
  const makespan = Math.max(...clock),
    idle = range(plan.devices).map((d) =>
      bars.reduce((left, bar) => (bar[0] === d ? left - (bar[2] - bar[1]) : left), makespan),
    );
  return { bars, makespan, idle, held: range(plan.devices).map((d) => heldOn(plan, bars, d)) };
}

// The most forward passes on a device whose backward pass, or its first half, has not ended.
/**
 * @param {Plan} plan
 * @param {Bar[]} bars
 * @param {number} device
 */
function heldOn(plan, bars, device) {
  /** @type {Pair[]} */
  const changes = [];
  for (const [d, start, end, pieces] of bars) {
    if (d !== device) continue;
    for (const [kind] of pieces) {
      if (kind === "F") changes.push([start, 1]);
      else if (kind !== "W") changes.push([end, -1]);
    }
  }
  // an end comes before a start at the same moment
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let now = 0,
    most = 0;
  for (const [, change] of changes) most = Math.max(most, (now += change));
  return most / plan.chunks;
}

// Micro-batches that go round: [round, micro-batch, stage, start, ready] of each piece of work.
/**
 * @param {number} stages
 * @param {number} many
 * @param {number} stageTime
 * @param {number} hop
 * @param {number} rounds
 * @returns {[number, number, number, number, number][]}
 */
export function circle(stages, many, stageTime, hop, rounds) {
  const free = new Array(stages).fill(0),
    ready = new Array(many).fill(0),
    /** @type {[number, number, number, number, number][]} */
    found = [];
  for (let turn = 0; turn < rounds; turn++) {
    for (let j = 0; j < many; j++) {
      let now = ready[j];
      for (let i = 0; i < stages; i++) {
        const start = Math.max(now, free[i]);
        free[i] = start + stageTime;
        now = free[i] + hop;
        found.push([turn, j, i, start, now]);
      }
      ready[j] = now;
    }
  }
  return found;
}

/**
 * @param {number} stages
 * @param {number} many
 * @param {number} stageTime
 * @param {number} hop
 * @param {number} rounds
 */
export function decode(stages, many, stageTime, hop, rounds) {
  let halfway = 0,
    last = 0;
  for (const [turn, j, , , ready] of circle(stages, many, stageTime, hop, rounds)) {
    if (j !== 0) continue;
    last = ready;
    if (turn === Math.floor(rounds / 2) - 1) halfway = ready;
  }
  const latency = (last - halfway) / (rounds - Math.floor(rounds / 2));
  return { utilisation: (many * stageTime) / latency, latency };
}
