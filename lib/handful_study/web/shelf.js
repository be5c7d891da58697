// Where the log and what follows from it lie: in IndexedDB, or, where a page is not allowed that,
// in memory. Both shelves answer the same calls, so that store.js does not ask which one it has.
import { KEYS } from "./database.js";
import { fault, inOrder } from "./log.js";

export const DERIVED = ["cards", "days", "problems"];

// Reading thousands of records takes a database far longer than reading a few large ones: a record
// holds the states of all cards whose names fall into one bucket.
const BUCKETS = 64;
function bucketOf(card) {
  let sum = 0;
  for (let i = 0; i < card.length; i += 1) sum = (31 * sum + card.charCodeAt(i)) % 65_521;
  return sum % BUCKETS;
}

const ask = (request) =>
  new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });

// A row that no edition of ours has written: what is derived is then made anew from the log, and of
// the log itself what is damaged is left where it is and not counted.
export class Damage extends Error {}
const counts = (row, ...names) => names.every((name) => Number.isSafeInteger(row[name]));
const ofCard = (entry) =>
  Array.isArray(entry) &&
  typeof entry[0] === "string" &&
  Array.isArray(entry[1]?.latest) &&
  typeof (entry[1].due ?? {}) === "object";
const FITS = {
  events: (row) => !fault(row),
  cards: (row) => Array.isArray(row.states) && row.states.every(ofCard),
  days: (row) => counts(row, "day", "answers", "missed", "fresh", "asked", "held"),
  problems: (row) => counts(row, "right", "wrong"),
  meta: (row) =>
    row.name === "cache"
      ? counts(row, "revision", "count") && typeof row.settings === "object"
      : counts(row, "at", "count"),
};

function sound(store, row) {
  if (row !== undefined && !FITS[store](row)) throw new Damage(`a row of ${store}`);
  return row;
}

// One transaction over everything.  What is awaited within it has to be the shelf's own answers, or
// it ends.
export class Shelf {
  constructor(db, mode) {
    this.tx = db.transaction(["events", ...Object.keys(KEYS)], mode, {
      durability: mode === "readwrite" ? "strict" : "default",
    });
    this.events = this.tx.objectStore("events");
    this.ended = new Promise((done, fail) => {
      this.tx.oncomplete = done;
      this.tx.onabort = () =>
        fail(this.tx.error || new DOMException("The transaction was given up", "AbortError"));
    });
    this.ended.catch(() => {}); // whoever awaits it hears of it
  }

  giveUp() {
    try {
      this.tx.abort();
    } catch {
      /* it has ended already */
    }
  }
  async get(store, key) {
    return sound(store, await ask(this.tx.objectStore(store).get(key)));
  }
  // Of the log: what can be read; `damaged` counts the rest.
  async all(store) {
    const rows = await ask(this.tx.objectStore(store).getAll());
    if (store !== "events") return rows.map((row) => sound(store, row));
    const good = rows.filter(FITS.events);
    this.damaged = rows.length - good.length;
    return good;
  }
  put(store, value) {
    this.tx.objectStore(store).put(value);
  }
  remove(store, key) {
    this.tx.objectStore(store).delete(key);
  }
  clear(store) {
    this.tx.objectStore(store).clear();
  }
  event(id) {
    return ask(this.events.get(id));
  }
  add(event) {
    return ask(this.events.add(event));
  }
  addAll(events, progress) {
    // one that fails ends the transaction, of which the store hears
    let last;
    for (const [place, event] of events.entries()) {
      // of those that are here already only a damaged one comes again
      last = this.events.put(event);
      if (place % 1000 === 999) last.onsuccess = () => progress(place / events.length);
    }
    return last && ask(last);
  }
  async isUndone(id) {
    return (await ask(this.events.index("undoes").getKey(id))) !== undefined;
  }
  async ofCard(card) {
    return (await ask(this.events.index("card").getAll(card))).filter(FITS.events).sort(inOrder);
  }
  async states() {
    return new Map((await this.all("cards")).flatMap(({ states }) => states));
  }
  async state(card) {
    return (await this.get("cards", bucketOf(card)))?.states.find(([id]) => id === card)?.[1];
  }

  async putState(card, state) {
    const bucket = bucketOf(card),
      others = ((await this.get("cards", bucket))?.states || []).filter(([id]) => id !== card);
    this.put("cards", { bucket, states: state ? [...others, [card, state]] : others });
  }

  putStates(states) {
    const buckets = new Map();
    for (const entry of states) {
      const bucket = bucketOf(entry[0]);
      buckets.set(bucket, [...(buckets.get(bucket) || []), entry]);
    }
    for (const [bucket, list] of buckets) this.put("cards", { bucket, states: list });
  }
}

export class MemoryShelf {
  constructor(events = []) {
    this.ended = Promise.resolve();
    this.map = new Map(events.map((event) => [event.id, event]));
    this.undone = new Set(
      events.filter((event) => event.kind === "undo").map((event) => event.undoes),
    );
    this.stores = Object.fromEntries(
      [...Object.keys(KEYS), "events"].map((name) => [
        name,
        name === "events" ? this.map : new Map(),
      ]),
    );
  }

  giveUp() {}
  async get(store, key) {
    return this.stores[store].get(key);
  }
  async all(store) {
    return [...this.stores[store].values()];
  }
  put(store, value) {
    this.stores[store].set(value[KEYS[store]], value);
  }
  remove(store, key) {
    this.stores[store].delete(key);
  }
  clear(store) {
    this.stores[store].clear();
    if (store === "events") this.undone.clear();
  }
  async event(id) {
    return this.map.get(id);
  }
  async add(event) {
    this.map.set(event.id, event);
    if (event.kind === "undo") this.undone.add(event.undoes);
  }
  async addAll(events) {
    for (const event of events) await this.add(event);
  }
  async isUndone(id) {
    return this.undone.has(id);
  }
  async ofCard(card) {
    return [...this.map.values()].filter((event) => event.card === card).sort(inOrder);
  }
  async states() {
    return new Map(this.stores.cards);
  }
  async state(card) {
    return this.stores.cards.get(card);
  }
  async putState(card, state) {
    if (state) this.stores.cards.set(card, state);
    else this.stores.cards.delete(card);
  }
  putStates(states) {
    this.stores.cards = new Map(states);
  }
}
