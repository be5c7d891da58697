// The page's rules of study, without a page: node --test (test_study_rules.py runs it).
import assert from "node:assert/strict";
import test from "node:test";
import { mulberry32 } from "../../lib/handful_explorers/web/random.js";
import { derive } from "../../lib/handful_study/web/derive.js";
import {
  effective,
  validationError,
  LogError,
  make,
  merge,
  read,
  write,
} from "../../lib/handful_study/web/log.js";
import { daysInARow, forecast, stageOf } from "../../lib/handful_study/web/progress.js";
import {
  dayOf,
  isLeech,
  next,
  preview,
  queue,
  span,
  stretch,
} from "../../lib/handful_study/web/spaced_repetition.js";
import { Store } from "../../lib/handful_study/web/store.js";

const MINUTE = 60_000,
  HOUR = 60 * MINUTE,
  DAY = 24 * HOUR,
  NOON = Date.UTC(2026, 2, 9, 12);
const all = (events) => {
  const steps = derive(events);
  let step;
  while (!(step = steps.next()).done);
  return step.value;
};
const sorted = (map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

test("importing the scheduler leaves dates as they were", () =>
  assert.deepEqual(Object.keys(Date.prototype), []));

test("a day begins at four in the morning where the learner is", () => {
  const late = Date.UTC(2026, 2, 10, 2, 59),
    early = Date.UTC(2026, 2, 10, 3, 0); // 03:59 and 04:00 an hour east
  assert.equal(dayOf(early, 60) - dayOf(late, 60), 1);
  assert.equal(dayOf(late, 60), dayOf(NOON, 60));
  assert.equal(dayOf(Date.UTC(2026, 2, 10, 11, 59), -480), dayOf(NOON, -480));
  for (const [at, zone, day] of [
    [0, 240, 0],
    [-1, 240, -1],
    [DAY - 1, 240, 0],
    [0, -840, -1],
    [18 * HOUR, -840, 0],
    [0, 840, 0],
  ])
    assert.equal(dayOf(at, zone), day);
});

test("an evening over UTC midnight is one day for the schedule, as one without it is", () => {
  const graded = (start, zone) =>
    next(next(undefined, { at: start, zone, grade: 4 }), {
      at: start + 20 * MINUTE,
      zone,
      grade: 3,
    });
  assert.equal(graded(Date.UTC(2026, 2, 9, 23, 50), -480).stability, graded(NOON, 0).stability);
});

test("intervals in words", () => {
  const minutes = {
    0: "1 min",
    1: "1 min",
    10: "10 min",
    59: "59 min",
    60: "1 hour",
    89: "1 hour",
    90: "2 hours",
    600: "10 hours",
  };
  const days = {
    1: "1 day",
    2: "2 days",
    59: "59 days",
    60: "2 months",
    200: "7 months",
    729: "24 months",
    730: "2 years",
    900: "2.5 years",
    1500: "4.1 years",
    3652: "10 years",
    3653: "10 years",
    36500: "100 years",
  };
  for (const [n, words] of Object.entries(minutes))
    assert.equal(span({ minutes: Number(n) }), words);
  for (const [n, words] of Object.entries(days)) assert.equal(span({ days: Number(n) }), words);
});

test("grades of a card in review are ordered, and a higher retention brings cards sooner", () => {
  const state = next(undefined, { at: NOON, zone: 0, grade: 4 }),
    shown = preview(state, NOON + 8 * DAY, 0, 0.9);
  for (const { grade, state: promised } of shown)
    assert.deepEqual(promised, next(state, { at: NOON + 8 * DAY, zone: 0, grade }, 0.9));
  assert.equal(shown[0].minutes, 10);
  assert.ok(shown[1].days <= shown[2].days && shown[2].days < shown[3].days);
  assert.ok(stretch(0.95) < 0.5 && stretch(0.9) === 1 && stretch(0.8) > 2);
});

test("a leech at eight lapses, then at every fourth", () =>
  assert.deepEqual(Array.from({ length: 20 }, (_, i) => i + 1).filter(isLeech), [8, 12, 16, 20]));

test("no more new cards a day than wanted, in the book's order, from the chosen chapters", () => {
  const cards = Array.from({ length: 6 }, (_, i) => ({
      id: `c${i}`,
      chapter: i < 3 ? "one" : "two",
    })),
    states = new Map(),
    settings = { retention: 0.9, new_per_day: 2, chapters: [] };
  assert.deepEqual(queue(NOON, 0, cards, states, settings).fresh, ["c0", "c1"]);
  states.set("c0", next(undefined, { at: NOON, zone: 0, grade: 1 }));
  // the missed one at the end, before its ten minutes
  assert.deepEqual(queue(NOON, 0, cards, states, settings).order, ["c1", "c0"]);
  assert.deepEqual(queue(NOON, 0, cards, states, { ...settings, chapters: ["two"] }).fresh, ["c3"]);
  assert.deepEqual(queue(NOON + DAY, 0, cards, states, { ...settings, new_per_day: 0 }).order, [
    "c0",
  ]);
});

// The rules of a log's replay, of events [hours after noon, kind, fields].
const logOf = (...entries) =>
  entries.map(([hours, kind, fields], i) => ({
    id: `event-${String(i).padStart(3, "0")}`,
    at: NOON + hours * HOUR,
    zone: 0,
    kind,
    ...fields,
  }));
const graded = (hours, card, grade) => [hours, "grade", { card, grade }];
const BOOK = ["a", "b", "c", "d"].map((id, i) => ({ id, chapter: i < 2 ? "first" : "second" }));
const queueAt = (events, hours, zone = 0) => {
  const { cards, settings } = all(events),
    { due, fresh, again } = queue(NOON + hours * HOUR, zone, BOOK, cards, settings);
  return { due, fresh, again };
};

test("due reviews by their day, then new cards, then missed ones", () => {
  const events = logOf(graded(0, "a", 3), graded(0.1, "b", 1), graded(0.2, "c", 2));
  assert.deepEqual(queueAt(events, 0.25), { due: [], fresh: ["d"], again: ["b", "c"] });
  const hours = all(events).cards.get("a").due.day * 24 + 4 - NOON / HOUR;
  assert.deepEqual(queueAt(events, hours - 1e-3).due, []);
  assert.deepEqual(queueAt(events, hours).due, ["a"]);
  const ties = logOf(graded(0, "c", 3), graded(1, "b", 3), graded(-48, "d", 3));
  assert.deepEqual(queueAt(ties, 30 * 24).due, ["d", "b", "c"]);
});

test("new cards are counted by the learner's day", () => {
  const events = logOf([-30, "setting", { name: "new_per_day", value: 2 }], graded(15, "a", 3)); // 03:00
  assert.deepEqual(queueAt(events, 15.5).fresh, ["b"]);
  assert.deepEqual(queueAt(events, 16.5).fresh, ["b", "c"]);
  assert.deepEqual(queueAt(events, 15.5, 60).fresh, ["b", "c"]); // an hour further east it is 04:30
});

test("a buried card comes back the next day", () => {
  const events = logOf([0, "bury", { card: "a" }]);
  assert.deepEqual(queueAt(events, 15).fresh, ["b", "c", "d"]);
  assert.deepEqual(queueAt(events, 16).fresh, ["a", "b", "c", "d"]);
});

test("the latest setting counts for all of the log", () => {
  const days = (...retentions) => {
    const settings = retentions.map((value, i) => [i, "setting", { name: "retention", value }]),
      { due, lastDay } = all(logOf(graded(0, "a", 3), ...settings)).cards.get("a");
    return due.day - lastDay;
  };
  assert.equal(days(0.97, 0.8), days(0.8));
  assert.ok(days(0.8) > days() && days() > days(0.97));
});

test("each lapse of a card in review is counted", () => {
  const entries = [graded(0, "a", 4)];
  for (let i = 1; i <= 20; i += 1)
    entries.push(graded(24 * 40 * i, "a", 1), graded(24 * 40 * i + 1, "a", 4));
  assert.equal(all(logOf(...entries)).cards.get("a").lapses, 20);
});

test("what was undone is as if it had never been, and an unknown undo waits", () => {
  const events = logOf(
      graded(0, "a", 3),
      graded(1, "b", 1),
      [1.1, "bury", { card: "c" }],
      [1.2, "setting", { name: "new_per_day", value: 3 }],
      [1.3, "attempt", { problem: "p", seed: 1, given: "", verdict: "right" }],
    ),
    common = { zone: 0, kind: "undo", at: NOON - HOUR }; // even by a clock set back
  for (const event of events) {
    const undo = { ...common, id: "undo-0001", undoes: event.id };
    assert.deepEqual(all([...events, undo]), all(events.filter((other) => other !== event)));
  }
  const unknown = { ...common, id: "undo-0002", undoes: "elsewhere" };
  assert.deepEqual(all([...events, unknown]), all(events));
});

const good = { id: "abcdefgh", at: NOON, zone: 60, kind: "grade", card: "floor", grade: 3 };
const bad = [
  [null, "an object"],
  [[], "an object"],
  [{ ...good, kind: "learn" }, "kind"],
  [{ ...good, kind: "__proto__" }, "kind"],
  [{ ...good, id: "short" }, "id"],
  [{ ...good, id: "a".repeat(65) }, "id"],
  [{ ...good, id: "<script>" }, "id"],
  [{ ...good, at: -1 }, "at"],
  [{ ...good, at: 1.5 }, "at"],
  [{ ...good, at: 1e300 }, "at"],
  [{ ...good, at: "now" }, "at"],
  [{ ...good, zone: 841 }, "zone"],
  [{ ...good, grade: 0 }, "grade"],
  [{ ...good, grade: 5 }, "grade"],
  [{ ...good, grade: "3" }, "grade"],
  [{ ...good, card: "<img src=x onerror=alert(1)>" }, "card"],
  [{ ...good, card: "a".repeat(101) }, "card"],
  [{ ...good, took: -1 }, "took"],
  [{ ...good, extra: 1 }, "no field"],
  [JSON.parse('{"__proto__": 1, "kind": "bury"}'), "id"],
  [{ ...good, kind: "setting", card: undefined, name: "retention", value: 0.5 }, "retention"],
  [
    {
      id: "abcdefgh",
      at: 1,
      zone: 0,
      kind: "setting",
      name: "chapters",
      value: Array(201).fill("a"),
    },
    "chapters",
  ],
  [
    {
      id: "abcdefgh",
      at: 1,
      zone: 0,
      kind: "attempt",
      problem: "p",
      seed: 1,
      given: "x".repeat(301),
      verdict: "right",
    },
    "given",
  ],
  [
    {
      id: "abcdefgh",
      at: 1,
      zone: 0,
      kind: "attempt",
      problem: "p",
      seed: 1,
      given: "",
      verdict: "maybe",
    },
    "verdict",
  ],
];
test("an event is checked field by field", () => {
  assert.equal(validationError(good), null);
  for (const [event, word] of bad)
    assert.match(validationError(event) || "nothing", new RegExp(word), JSON.stringify(event));
});

test(
  "a file that is cut off, foreign, newer or changed is refused in one sentence that names the " +
    "place",
  () => {
    const text = write([good, { ...good, id: "abcdefgi", at: NOON + 1 }]);
    assert.equal(read(text).length, 2);
    for (let end = 0; end < text.trimEnd().length; end += 1)
      assert.throws(() => read(text.slice(0, end)), LogError);
    const file = { format: "handful-study-log", version: 1, exported: 1, events: [good] };
    const wrong = [
      ["[]", "no study log"],
      ["null", "no study log"],
      ['"text"', "no study log"],
      [{ ...file, format: "anki" }, "no study log"],
      [{ ...file, version: 2 }, "newer edition"],
      [{ ...file, version: 0 }, "version is 0"],
      [{ ...file, version: "1" }, 'version is "1"'],
      [{ ...file, events: {} }, "no list"],
      [{ ...file, events: [good, { ...good, id: "abcdefgi", grade: 9 }] }, "Event 2 of 2"],
      [{ ...file, events: [good, { ...good, grade: 1 }] }, "twice with different content"],
    ];
    for (const [given, words] of wrong) {
      assert.throws(
        () => read(typeof given === "string" ? given : JSON.stringify(given)),
        (error) =>
          error instanceof LogError && error.message.includes(words) && error.message.length < 300,
      );
    }
  },
);

function someLog(random, count) {
  const events = [];
  for (let i = 0; i < count; i += 1) {
    const common = {
        id: `e-${Math.floor(random() * 1e12)
          .toString(36)
          .padStart(9, "0")}`,
        at: NOON + Math.floor(random() * 40) * 6 * HOUR,
        zone: [0, 60, -480][Math.floor(random() * 3)],
      },
      card = `c${Math.floor(random() * 5)}`,
      kind = random();
    if (kind < 0.7)
      events.push({ ...common, kind: "grade", card, grade: 1 + Math.floor(random() * 4) });
    else if (kind < 0.8) events.push({ ...common, kind: "bury", card });
    else {
      const target = events[Math.floor(random() * events.length)];
      events.push({ ...common, kind: "undo", undoes: target?.id ?? "nothing-there" });
    }
  }
  return events;
}

test(
  "merging is idempotent, commutative and associative, and a replay of the result does not " +
    "depend on the way there",
  () => {
    const random = mulberry32(5);
    for (let i = 0; i < 60; i += 1) {
      const [a, b, c] = [someLog(random, 20), someLog(random, 20), someLog(random, 10)],
        shared = someLog(random, 10),
        [x, y] = [
          [...a, ...shared],
          [...shared, ...b],
        ];
      assert.deepEqual(merge(x, y), merge(y, x));
      assert.deepEqual(merge(merge(x, y), y), merge(x, y));
      assert.deepEqual(merge(merge(x, y), c), merge(x, merge(y, c)));
      assert.deepEqual(read(write(merge(x, y))), merge(x, y));
      assert.deepEqual(sorted(all([...x, ...b]).cards), sorted(all(merge(y, x)).cards));
    }
  },
);

test("an event is checked before it is noted, and two of one millisecond keep their order", () => {
  assert.throws(() => make("grade", { card: "floor", grade: 5 }), LogError);
  const made = Array.from({ length: 5 }, () => make("grade", { card: "floor", grade: 3 }, NOON));
  assert.ok(
    made.every((event, i) => validationError(event) === null && (!i || event.at > made[i - 1].at)),
  );
  assert.equal(new Set(made.map(({ id }) => id)).size, 5);
});

test("an undo takes back what it names, wherever it stands, and cannot be undone", () => {
  const first = make("grade", { card: "floor", grade: 1 }),
    undo = make("undo", { undoes: first.id }),
    again = make("undo", { undoes: undo.id });
  assert.deepEqual(effective([again, undo, first]), []);
});

// The store in memory: what it keeps up step by step is what a replay of its log gives.
async function opened() {
  const store = await Store.open();
  store.channel?.close();
  store.channel = null;
  return store;
}

test("without a database the store goes on in memory, and says so", async () => {
  const store = await opened();
  assert.match(store.trouble, /only until you leave/);
  await store.add("grade", { card: "floor", grade: 3 });
  assert.equal((await store.states()).get("floor").reps, 1);
});

test(
  "whatever is done, in whatever order of the clock, the store has what its log gives; and " +
    "undone to the beginning it is empty",
  async () => {
    const random = mulberry32(11),
      store = await opened(),
      real = Date.now;
    let clock = NOON,
      made = 0;
    Date.now = () => clock;
    try {
      for (let i = 0; i < 400; i += 1) {
        clock +=
          random() < 0.05
            ? -Math.floor(random() * 3 * DAY)
            : Math.floor(random() ** 6 * 10 * DAY) + 1;
        const card = `c${Math.floor(random() * 8)}`,
          kind = random();
        if (kind < 0.7) {
          await store.add("grade", { card, grade: 1 + Math.floor(random() * 4) });
          made += 1;
        } else if (kind < 0.78) {
          await store.add("bury", { card });
          made += 1;
        } else if (kind < 0.9) {
          if (await store.undo()) made -= 1;
        } else if (kind < 0.96)
          await store.add("attempt", {
            problem: "p1",
            seed: 3,
            given: "1 ms",
            verdict: random() < 0.5 ? "right" : "wrong",
          });
        else
          await store.add("setting", {
            name: "retention",
            value: [0.8, 0.9, 0.95][Math.floor(random() * 3)],
          });
        if (i % 20) continue;
        const { cards, days, problems } = all(await store.events());
        assert.deepEqual(sorted(await store.states()), sorted(cards));
        assert.deepEqual(
          await store.days(),
          [...days.values()].sort((a, b) => a.day - b.day),
        );
        assert.deepEqual(sorted(store.problems), sorted(problems));
      }
      while (await store.undo()) {
        made -= 1;
        clock += 1000;
      }
      assert.equal(made, 0);
      assert.deepEqual([...(await store.states())], []);
      assert.deepEqual(await store.days(), []);
    } finally {
      Date.now = real;
    }
  },
);

test("an import adds what is new, once; one that contradicts the log changes nothing", async () => {
  const store = await opened(),
    log = someLog(mulberry32(3), 50),
    text = write(log);
  assert.deepEqual(await store.import(text), { added: 50, known: 0 });
  assert.deepEqual(await store.import(text), { added: 0, known: 50 });
  assert.deepEqual(
    sorted(await store.states()).map(([id]) => id),
    sorted(all(log).cards).map(([id]) => id),
  );
  const before = await store.events(),
    grade = log.find(({ kind }) => kind === "grade");
  await assert.rejects(
    store.import(
      write([
        { ...grade, grade: (grade.grade % 4) + 1 },
        { ...good, id: "quite-new" },
      ]),
    ),
    LogError,
  );
  assert.deepEqual(await store.events(), before);
  await store.erase();
  assert.deepEqual(
    [await store.events(), (await store.states()).size, await store.days()],
    [[], 0, []],
  );
});

test("what Progress counts", () => {
  const today = dayOf(NOON, 0);
  const days = [9, 8, 7, 2, 1].map((n) => ({ day: today - n }));
  assert.equal(daysInARow(days, today), 2);
  assert.equal(daysInARow([...days, { day: today }], today), 3);
  assert.equal(daysInARow(days, today + 1), 0);
  assert.equal(daysInARow([], today), 0);
  const states = new Map([
    ["a", next(undefined, { at: NOON, zone: 0, grade: 3 })],
    ["b", next(undefined, { at: NOON - 90 * DAY, zone: 0, grade: 4 })],
    ["gone", next(undefined, { at: NOON, zone: 0, grade: 3 })],
    ["c", { state: "new", reps: 0 }],
  ]);
  const ahead = forecast(states, new Set(["a", "b", "c"]), today);
  assert.deepEqual([ahead[0], ahead[2], ahead.reduce((x, y) => x + y)], [1, 1, 2]);
  assert.deepEqual(
    [stageOf(undefined), stageOf(states.get("c")), stageOf(states.get("a"))],
    ["new", "new", "young"],
  );
});
