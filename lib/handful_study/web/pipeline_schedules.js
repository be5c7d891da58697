// A pipeline schedule that a learner writes: the twin of pipeline_schedules.py, same
// verdicts and same sentences.
import { play } from "../../handful_explorers/web/scenes/pipeline.js";
import { compile } from "../../handful_explorers/web/tree.js";
import { formatValue } from "../../handful_explorers/web/units.js";
import { quoted, SPACE, strip } from "../../handful_explorers/web/parse_quantity.js";

const LONGEST = 4000;
const LABEL = new RegExp(`^[${SPACE}]*(?:stage[${SPACE}]*)?[0-9]+[${SPACE}]*:`, "i");
/** @param {number} share */
const percent = (share) => formatValue(share, "%");

class OrdersError extends Error {}

// What is asked, for the values that were drawn; `weights` is 0 where backward passes stay whole.
/**
 * @param {Record<string, Tree>} schedule
 * @param {SymbolValues} values
 * @returns {ScheduleGoal}
 */
export function goalOf(schedule, values) {
  const wanted = Object.entries(schedule).map(([name, tree]) => [name, compile(tree)(values)]);
  return { weights: 0, ...Object.fromEntries(wanted) };
}

// The order of each stage, from a line each; a piece is [kind, 0, stage, micro-batch] as in
// scenes/pipeline.js.
/**
 * @param {string} text
 * @param {ScheduleGoal} goal
 * @returns {Piece[][]}
 */
export function readOrders(text, goal) {
  const characters = [...text].length;
  if (characters > LONGEST)
    throw new OrdersError(
      `A schedule of ${characters} characters is too long; ${LONGEST} are allowed.`,
    );
  const lines = text
    .split(/[\n;]/)
    .map((line) => strip(line.replace(LABEL, "")))
    .filter(Boolean);
  if (lines.length !== goal.stages)
    throw new OrdersError(
      `A line for each of the ${goal.stages} stages is expected; there ` +
        `${lines.length === 1 ? "is" : "are"} ${lines.length}.`,
    );
  return lines.map((line, stage) => {
    const order = line
      .split(new RegExp(`[${SPACE},]+`))
      .filter(Boolean)
      .map((word) => readPiece(word, stage, goal));
    /** @type {Set<string>[]} */
    const kinds = Array.from({ length: goal.micro_batches }, () => new Set());
    for (const piece of order) {
      const [kind, , , number] = piece;
      if (kinds[number].has(kind))
        throw new OrdersError(`Stage ${stage + 1} has ${pieceName(piece)} twice.`);
      kinds[number].add(kind);
    }
    kinds.forEach((seen, number) => checkPieces(stage + 1, number + 1, seen));
    return order;
  });
}

/**
 * @param {string} word
 * @param {number} stage
 * @param {ScheduleGoal} goal
 * @returns {Piece}
 */
function readPiece(word, stage, goal) {
  const found = /^([FBIW])([0-9]{1,3})$/i.exec(word),
    kind = found?.[1].toUpperCase() ?? "",
    number = Number(found?.[2]);
  if (!found || !(goal.weights ? "FBIW" : "FB").includes(kind)) {
    throw new OrdersError(
      `${quoted(word)} on stage ${stage + 1} is no piece of work; write F1 for the forward ` +
        "pass of micro-batch 1 and B1 for " +
        `its backward pass${goal.weights ? ", or I1 and W1 for its halves" : ""}.`,
    );
  }
  if (number < 1 || number > goal.micro_batches)
    throw new OrdersError(
      `There is no micro-batch ${number}; they are 1 to ${goal.micro_batches}.`,
    );
  return [kind, 0, stage, number - 1];
}

/**
 * @param {number} stage
 * @param {number} number
 * @param {Set<string>} kinds
 */
function checkPieces(stage, number, kinds) {
  const half = kinds.has("I") || kinds.has("W");
  if (!kinds.has("F")) throw new OrdersError(`Stage ${stage} has no F${number}.`);
  if (kinds.has("B") && half)
    throw new OrdersError(
      `Stage ${stage} has B${number} and a half of it too; write the whole or both halves.`,
    );
  for (const [one, other] of ["IW", "WI"])
    if (kinds.has(one) && !kinds.has(other))
      throw new OrdersError(`Stage ${stage} has ${one}${number} without ${other}${number}.`);
  if (!kinds.has("B") && !half) throw new OrdersError(`Stage ${stage} has no B${number}.`);
}

/** @param {Piece} piece */
const pieceName = ([kind, , , number]) => `${kind}${number + 1}`;

// Why a schedule comes to a stop: the first piece that waits for ever, and for what.
/**
 * @param {Piece[][]} orders
 * @param {Piece[][]} stuck
 */
function explainDeadlock(orders, stuck) {
  const stage = stuck.findIndex(Boolean),
    [piece] = stuck[stage],
    [kind, , , number] = piece,
    order = orders[stage];
  /** @param {string} what */
  const waits = (what) =>
    `It comes to a stop: on stage ${stage + 1}, ${pieceName(piece)} waits for ever for ${what}.`;
  if (kind === "W") return waits(`I${number + 1}, which stands after it`);
  const own = order.findIndex((one) => one[0] === "F" && one[3] === number);
  if (kind !== "F" && own > order.indexOf(piece))
    return waits(`F${number + 1}, which stands after it`);
  const other = kind === "F" ? stage - 1 : stage + 1,
    wanted = kind === "F" ? "F" : "BI";
  // The piece it waits for is there, since each order has been found complete.
  const need = /** @type {Piece} */ (
      orders[other].find((one) => wanted.includes(one[0]) && one[3] === number)
    ),
    [there] = stuck[other];
  return waits(
    `${pieceName(need)} of stage ${other + 1}, ` +
      (there === need
        ? "which waits too"
        : `which stands behind ${pieceName(there)}, and that waits too`),
  );
}

/** @type {Record<string, (orders: Piece[][], run: Played) => boolean>} */
const PATTERNS = {
  gpipe: (orders) =>
    orders.every((order) => {
      const first = order.findIndex(([kind]) => kind !== "F");
      return first < 0 || order.slice(first).every(([kind]) => kind !== "F");
    }),
  one_at_a_time: (orders, { bars }) => {
    /** @type {Map<number, Pair>} */
    const spans = new Map();
    for (const [, start, end, [[, , , number]]] of bars) {
      const [from, to] = spans.get(number) || [start, end];
      spans.set(number, [Math.min(from, start), Math.max(to, end)]);
    }
    const found = [...spans.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return found.length > 1 && found.every((span, i) => !i || found[i - 1][1] <= span[0]);
  },
};

// {kind, says, turn} as in check.js, and, where it can be played, `played`: what the chart draws.
/**
 * @param {ScheduleProblem} spec
 * @param {string} text
 * @param {SymbolValues} values
 * @returns {Verdict}
 */
export function checkSchedule({ schedule, wrong }, text, values) {
  const goal = goalOf(schedule, values);
  let orders;
  /** @type {Played} */
  let run;
  try {
    orders = readOrders(text, goal);
  } catch (error) {
    if (error instanceof OrdersError) return { kind: "unread", says: error.message };
    throw error;
  }
  /** @type {Plan} */
  const plan = {
    devices: goal.stages,
    stages: goal.stages,
    orders: orders.map((order) => order.map((piece) => [piece])),
    chunks: 1,
  };
  try {
    run = play(plan, 1, goal.backward, goal.weights || goal.backward / 2);
  } catch (error) {
    const { stuck } = /** @type {{ stuck?: Piece[][] }} */ (error);
    if (stuck) return { kind: "wrong", says: explainDeadlock(orders, stuck) };
    throw error;
  }
  const share = Math.max(...run.idle) / run.makespan,
    held = Math.max(...run.held),
    number = (/** @type {number} */ x) => formatValue(x, "1"),
    /** @type {string[]} */
    faults = [];
  const played = { ...run, stages: goal.stages, share, most: held, goal };
  if (share > goal.bubble_at_most * (1 + 1e-9))
    faults.push(
      `a stage waits for ${percent(share)} of the time, and ${percent(goal.bubble_at_most)} ` +
        "can be reached",
    );
  if (held > goal.in_flight_at_most)
    faults.push(
      `stage ${run.held.indexOf(held) + 1} holds ${number(held)} micro-batches at once, and ` +
        `${number(goal.in_flight_at_most)} are enough`,
    );
  if (!faults.length)
    return {
      kind: "right",
      says:
        `Right: a stage waits for ${percent(share)} of the time at most, and holds ` +
        `${number(held)} micro-batches at most.`,
      played,
    };
  const turn = wrong.findIndex((pattern) => PATTERNS[pattern](orders, run));
  return turn >= 0
    ? { kind: "wrong", turn, played }
    : { kind: "wrong", says: `Not yet: ${faults.join("; ")}.`, played };
}
