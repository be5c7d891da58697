// Writes schedule.json, which pins the rules of scheduling:
//   node tests/data/make_schedule.mjs            write it
//   node tests/data/make_schedule.mjs --check    fail if it differs from what the page's module
//   gives now
//
// cards:  50 lists of 20 reviews: [at, zone, grade, state, stability, difficulty, reps, lapses,
// lastDay, due], where due
//         is a day in state "review" and a moment (ms UTC) in the other two
// logs:   small logs, their events out of order, with what is left of them: states by card, and the
// queue at moments
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { mulberry32 } from "../../lib/handful_explorers/web/random.js";
import { effective, settingsOf } from "../../lib/handful_study/web/log.js";
import { bury, dayOf, next, queue, RULES } from "../../lib/handful_study/web/spaced_repetition.js";

const MINUTE = 60_000,
  HOUR = 60 * MINUTE,
  DAY = 24 * HOUR;
const random = mulberry32(20260309),
  pick = (list) => list[Math.floor(random() * list.length)];
const between = (low, high) => low + random() * (high - low);

// Zones of travellers, and of a clock change; 345 and -210 are no whole hours.
const ZONES = [0, 60, 120, 330, 345, 540, 840, -210, -480, -420, -660, -840];
// The moment, on the learner's clock, just before and after midnight and the roll-over at 04:00.
function near(at, zone, hour) {
  const local = at + zone * MINUTE,
    midnight = Math.floor(local / DAY) * DAY;
  return midnight + hour * HOUR + Math.round(between(-2, 2)) * MINUTE - zone * MINUTE;
}
const GAPS = [
  () => Math.round(between(1, 30) * 1000),
  () => Math.round(between(1, 30)) * MINUTE,
  () => 10 * MINUTE,
  () => Math.round(between(1, 14) * HOUR),
  () => DAY,
  () => Math.round(between(1, 4) * DAY),
  () => Math.round(between(4, 30) * DAY),
  () => Math.round(between(30, 400) * DAY),
];

function card(number) {
  let at = Date.UTC(2026, 2, 1) + Math.floor(between(0, 60 * DAY)),
    zone = pick(ZONES),
    state;
  const travels = number % 5 === 0,
    changes = number % 5 === 1,
    edges = number % 5 === 2,
    misses = number % 5 === 3;
  const rows = [];
  for (let i = 0; i < 20; i += 1) {
    const grade = misses ? pick([1, 1, 1, 2, 3]) : pick([1, 2, 3, 3, 3, 3, 4]);
    state = next(state, { at, zone, grade }, 0.9);
    rows.push([
      at,
      zone,
      grade,
      state.state,
      state.stability,
      state.difficulty,
      state.reps,
      state.lapses,
      state.lastDay,
      state.due.at ?? state.due.day,
    ]);
    let then = at + pick(GAPS)();
    if (travels && random() < 0.4) zone = pick(ZONES);
    if (changes)
      zone = [-480, -420][
        new Date(then).getUTCMonth() >= 3 && new Date(then).getUTCMonth() < 10 ? 1 : 0
      ];
    if (edges) then = Math.max(at + 1, near(then, zone, pick([0, 4])));
    // A log stands in the order of its moments: a clock that was set back puts a later answer
    // before an earlier one.
    at = then;
  }
  return rows;
}

const BOOK = [
  ["floor", "one"],
  ["cost", "one"],
  ["batch", "two"],
  ["racks", "two"],
  ["tiers", "three"],
  ["price", "three"],
].map(([id, chapter]) => ({ id, chapter }));
const START = Date.UTC(2026, 2, 9, 18),
  ZONE = 60;
const at = (days, hours = 0, minutes = 0) => START + days * DAY + hours * HOUR + minutes * MINUTE;
let count = 0;
const event = (moment, kind, fields, zone = ZONE) => ({
  id: `event-${String((count += 1)).padStart(4, "0")}`,
  at: moment,
  zone,
  kind,
  ...fields,
});
const grade = (moment, of, value, zone) => event(moment, "grade", { card: of, grade: value }, zone);

// Undo, bury, settings, a retired card, events of one millisecond, and a clock set back between two
// answers.
function logs() {
  const missed = grade(at(0, 0, 5), "cost", 1),
    buried = event(at(0, 0, 7), "bury", { card: "batch" }),
    wrong = grade(at(0, 0, 9), "racks", 4);
  const usual = [
    grade(at(0), "floor", 3),
    missed,
    buried,
    wrong,
    event(at(0, 0, 10), "undo", { undoes: wrong.id }),
    grade(at(0, 0, 11), "racks", 2),
    grade(at(0, 0, 12), "gone", 3),
    event(at(0, 0, 20), "attempt", {
      problem: "two-steps",
      seed: 7,
      given: "12 ms",
      verdict: "wrong",
      turn: 1,
      hints: 2,
    }),
  ];
  const back = [
    grade(at(1), "floor", 3),
    grade(at(1, 0, -30), "floor", 1),
    grade(at(1, 0, -20), "cost", 3),
    grade(at(3), "floor", 3, -480),
  ];
  const twins = [
    { ...grade(at(2), "tiers", 1), id: "twin-b-000" },
    { ...grade(at(2), "tiers", 4), id: "twin-a-000" },
  ];
  const undone = event(at(4), "setting", { name: "retention", value: 0.97 });
  const settings = [
    event(at(0, 1), "setting", { name: "new_per_day", value: 2 }),
    event(at(3), "setting", { name: "retention", value: 0.8 }),
    undone,
    event(at(4, 1), "undo", { undoes: undone.id }),
    event(at(5), "setting", { name: "chapters", value: ["three"] }),
    event(at(6), "undo", { undoes: "not-there-at-all" }),
  ];
  const moments = [
    [at(0, 0, 15), ZONE],
    [at(0, 9, 0), ZONE],
    [at(0, 10, 0), ZONE],
    [at(1), ZONE],
    [at(5), ZONE],
    [at(5), -480],
    [at(40), ZONE],
  ];
  return [
    ["usual", usual],
    ["clock-set-back", [...usual, ...back]],
    ["all", [...settings, ...back, ...twins, ...usual]],
  ].map(([name, events]) => {
    const left = effective(events),
      chosen = settingsOf(left),
      states = new Map();
    for (const e of left) {
      if (e.kind === "grade") states.set(e.card, next(states.get(e.card), e, chosen.retention));
      else if (e.kind === "bury") states.set(e.card, bury(states.get(e.card), e));
    }
    return {
      name,
      events,
      settings: chosen,
      states: Object.fromEntries([...states].sort()),
      queues: moments.map(([now, zone]) => {
        const { due, fresh, again } = queue(now, zone, BOOK, states, chosen);
        return { now, zone, today: dayOf(now, zone), due, fresh, again };
      }),
    };
  });
}

const fixture = {
  rules: RULES,
  retention: 0.9,
  cards: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`card-${i + 1}`, card(i)])),
  book: BOOK,
  logs: logs(),
};
const list = (rows, indent) =>
  `[\n${rows.map((row) => indent + JSON.stringify(row)).join(",\n")}\n]`;
const text =
  `{"rules": ${fixture.rules}, "retention": ${fixture.retention},\n"cards": {\n${Object.entries(
    fixture.cards,
  )
    .map(([id, rows]) => `"${id}": ${list(rows, " ")}`)
    .join(",\n")}\n},\n` +
  `"book": ${JSON.stringify(fixture.book)},\n"logs": ${list(fixture.logs, "")}\n}\n`;

const file = fileURLToPath(new URL("schedule.json", import.meta.url));
if (process.argv.includes("--check")) {
  if (readFileSync(file, "utf8") !== text) {
    console.error(
      "tests/data/schedule.json is not what spaced_repetition.js gives; if the rules were meant to " +
        "change, raise RULES and write it again.",
    );
    process.exit(1);
  }
} else writeFileSync(file, text);
