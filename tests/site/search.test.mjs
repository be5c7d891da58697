// The search: its words, its packed index against MiniSearch's own, its ranking, its marks.  node
// --test tests/site/search.test.mjs
import assert from "node:assert/strict";
import test from "node:test";
import MiniSearch from "minisearch";
import { find, snippet, open, suggest } from "../../lib/handful_site/web/search/find.js";
import { pack, unpack } from "../../lib/handful_site/web/search/pack.js";
import { KINDS, OPTIONS, term, untex, words } from "../../lib/handful_site/web/search/text.js";

const PAGES = [
  ["balance.html", "The balance batch"],
  ["glossary.html", "Glossary"],
  ["notation.html", "Notation"],
];
const ENTRIES = [
  [
    "section",
    0,
    "",
    "The balance batch",
    "Find the batch at which a machine’s arithmetic takes as long as its memory.",
  ],
  [
    "term",
    1,
    "term-batch",
    "batch",
    "The number of sequences that each get one new token in the same step.",
  ],
  [
    "term",
    1,
    "term-balance",
    "balance batch",
    "The batch at which reading the weights takes as long as computing with them.",
  ],
  [
    "letter",
    2,
    "symbol-total",
    "Total parameters",
    "weights that the model has",
    "N_total",
    "N_total total_parameters",
  ],
  ["letter", 2, "symbol-batch", "Batch", "sequences served together", "B", "B batch"],
  [
    "letter",
    2,
    "symbol-cache",
    "KV bytes per token",
    "bytes of cache that one token adds",
    "b",
    "b kv_bytes_per_token",
  ],
  [
    "formula",
    0,
    "number-1",
    "Balance batch",
    "batch at which reading takes as long as arithmetic",
    "B*",
    "B* balance_batch B* = S M",
  ],
  [
    "claim",
    0,
    "claim-1",
    "The batch that balances is 2,400.",
    "Caches of many batches are read, one after the other, and the weights once.",
  ],
];
const index = new MiniSearch(OPTIONS);
index.addAll(
  ENTRIES.map(([, page, , title, text, , letters = ""], id) => ({
    id,
    title,
    text,
    letters,
    trail: PAGES[page][1],
  })),
);
const packed = JSON.parse(JSON.stringify(pack(index.toJSON())));
const book = open({
  pages: PAGES,
  maths: "",
  index: packed,
  entries: ENTRIES.map(([kind, page, anchor, title, text, letter = ""]) => [
    KINDS.indexOf(kind),
    page,
    anchor,
    title,
    [],
    text,
    "",
    letter,
  ]),
});
const first = (query) => find(book, query).results[0]?.entry.address;

test("the packed index answers as MiniSearch's own does", () => {
  // Terms come in another order, and so sums round differently in their last digit.
  const plain = (found) =>
    found.map(({ id, score, terms, match }) => ({
      id,
      score: score.toPrecision(12),
      terms: [...terms].sort(),
      match,
    }));
  const own = MiniSearch.loadJSON(JSON.stringify(index), OPTIONS),
    ours = unpack(packed, OPTIONS);
  for (const query of ["batch", "balance batch", "weights", "n_total", "nothing", "cach"])
    for (const options of [
      {},
      { prefix: true },
      { fuzzy: 2 },
      { combineWith: "AND", prefix: true, boost: { title: 5 } },
    ])
      assert.deepEqual(
        plain(ours.search(query, options)),
        plain(own.search(query, options)),
        query,
      );
});

test(
  "words are letters with their subscripts, numbers with their separators, and plurals are " +
    "their singulars",
  () => {
    assert.deepEqual(words("B* = S·M, N_total at 2,400 or 3.35 TB/s; 70B"), [
      "B*",
      "S",
      "M",
      "N_total",
      "at",
      "2,400",
      "or",
      "3.35",
      "TB",
      "s",
      "70B",
    ]);
    assert.deepEqual(
      ["Caches", "batches", "weights", "latencies", "series", "loss", "2,400", "γ", "Frédéric"].map(
        term,
      ),
      ["cache", "batch", "weight", "latency", "series", "loss", "2400", "gamma", "frederic"],
    );
    const one = "quantise quantised quantize quantized quantizing quantisation quantizations";
    assert.deepEqual([...new Set(one.split(" ").map(term))], ["quantise"]);
    for (const [british, american] of [
      ["behaviour", "behavior"],
      ["centre", "center"],
      ["modelling", "modeling"],
      ["analysed", "analyzed"],
      ["optimisers", "optimizer"],
    ])
      assert.equal(term(british), term(american));
    for (const word of ["size", "sized", "precision", "there", "hour", "store", "filling", "basis"])
      assert.equal(term(word), word);
    assert.ok(term("quantization").startsWith(term("quantiz"))); // as it is typed
    assert.deepEqual([String.raw`N_{\mathrm{total}}`, "$B^{*}$", String.raw`\gamma`].map(untex), [
      "N_total",
      "B*",
      "gamma",
    ]);
  },
);

test("a letter is found as it is written, and B is not b", () => {
  for (const query of ["N_total", String.raw`N_{\mathrm{total}}`, "total_parameters", "Ntotal"])
    assert.equal(first(query), "notation.html#symbol-total", query);
  assert.equal(first("B"), "notation.html#symbol-batch");
  assert.equal(first("b"), "notation.html#symbol-cache");
  for (const query of ["B*", "B^*", "$B^{*}$"])
    assert.equal(first(query), "balance.html#number-1", query);
});

test("a whole title comes first; unfinished words and slips of the pen are understood", () => {
  assert.deepEqual(
    find(book, "batches")
      .results.slice(0, 2)
      .map(({ entry }) => entry.title.toLowerCase()),
    ["batch", "batch"],
  );
  assert.equal(first("2400"), "balance.html#claim-1");
  assert.equal(first("2,400"), "balance.html#claim-1");
  assert.equal(
    find(book, "balance batches")
      .results.slice(0, 3)
      .every(({ entry }) => /balance batch/i.test(entry.title)),
    true,
  );
  assert.equal(find(book, "seq").results.length, 2);
  assert.deepEqual(
    [find(book, "wieghts").approximate, find(book, "weights").approximate],
    [true, false],
  );
  assert.ok(find(book, "wieghts").results.length);
});

test("variants of one formula stand with the best of them", () => {
  const named = [
    ["formula", 0, "a", "Balance batch"],
    ["formula", 0, "b", "Balance batch by experts"],
    ["formula", 2, "c", "Balance batch of a chip"],
    ["formula", 0, "d", "Balance batch by parameters"],
  ];
  const mini = new MiniSearch(OPTIONS);
  mini.addAll(
    named.map(([, page, , title], id) => ({
      id,
      title,
      text: "",
      letters: "",
      trail: PAGES[page][1],
    })),
  );
  const few = open({
    pages: PAGES,
    maths: "",
    index: JSON.parse(JSON.stringify(pack(mini.toJSON()))),
    entries: named.map(([kind, page, anchor, title]) => [
      KINDS.indexOf(kind),
      page,
      anchor,
      title,
      [],
      "",
      "",
      "",
      page === 0 ? 1 : 0,
    ]),
  });
  const seen = (query) =>
    find(few, query).results.map(({ entry, others, folded }) => [
      entry.title,
      others?.length ?? null,
      Boolean(folded),
    ]);
  assert.deepEqual(seen("balance batch")[0], ["Balance batch", 2, false]);
  assert.deepEqual(
    seen("balance batch")
      .slice(1)
      .map(([title, , folded]) => [title, folded])
      .sort(),
    [
      ["Balance batch by experts", true],
      ["Balance batch by parameters", true],
      ["Balance batch of a chip", false],
    ],
  );
  assert.deepEqual(seen("balance batch by experts")[0], ["Balance batch by experts", 2, false]);
});

test("a question is found by what it asks about, and a place by its other names", () => {
  for (const query of [
    "what is a batch?",
    "the batch",
    "how much batch do we need",
    "What does batch mean?",
  ])
    assert.equal(find(book, query).results[0].entry.title.toLowerCase(), "batch", query);
  // One word of three may be the reader's own; of two, none.
  assert.equal(first("reading weights xyzzy"), "glossary.html#term-balance");
  assert.equal(first("machine’s arithmetic as long as its memory"), "balance.html");
  // A letter that the book has not: its subscript.
  assert.equal(first("x_total"), "notation.html#symbol-total");
  const names = ["TTFT", "why does an answer begin so late?"],
    mini = new MiniSearch(OPTIONS);
  mini.addAll([
    { id: 0, title: "An answer", text: "It begins late.", letters: "", trail: "" },
    { id: 1, title: "The wait", text: "Of a train.", letters: names.join(" "), trail: "" },
  ]);
  const few = open({
    pages: PAGES,
    maths: "",
    index: JSON.parse(JSON.stringify(pack(mini.toJSON()))),
    entries: [
      [0, 0, "a", "An answer", [], "It begins late.", "", "", 0],
      [0, 0, "b", "The wait", [], "Of a train.", "", "", 0, names],
    ],
  });
  for (const query of ["ttft", "TTFT", "why does the answer begin late"])
    assert.equal(find(few, query).results[0].entry.title, "The wait", query);
});

test("what is in no entry is not found, and a near word is proposed", () => {
  assert.deepEqual(find(book, "zzzzzzzz"), { results: [], approximate: true });
  assert.deepEqual(find(book, " , "), { results: [], approximate: false });
  assert.equal(suggest(book, "xxmachine"), "machine");
  assert.equal(suggest(book, "zzzzzzzz"), "");
});

test("what matched is marked, and a snippet holds it", () => {
  assert.deepEqual(snippet("One batch, two batches.", new Set(["batch"])), [
    ["One ", false],
    ["batch", true],
    [", two ", false],
    ["batches", true],
    [".", false],
  ]);
  const long =
      `${"Nothing to see here. ".repeat(30)}The weights come once. ` +
      `${"And on it goes. ".repeat(30)}`,
    piece = snippet(long, new Set(["weight"]), 100);
  assert.ok(piece.some(([text, hit]) => hit && text === "weights"));
  assert.ok(piece.map(([text]) => text).join("").length < 130);
  assert.equal(snippet(long, new Set(), 100)[0][0].startsWith("Nothing"), true);
});
