// Where the log and what follows from it lie: in IndexedDB, or, where a page is not allowed that,
// in memory. Both shelves answer the same calls, so that store.js does not ask which one it has.
import { KEYS } from "./database.js";
import { validationError, inOrder } from "./log.js";

export const DERIVED = /** @type {const} */ (["cards", "days", "problems"]);

// Reading thousands of records takes a database far longer than reading a few large ones: a record
// holds the states of all cards whose names fall into one bucket.
const BUCKETS = 64;
/** @param {string} card */
function bucketOf(card) {
  let sum = 0;
  for (let i = 0; i < card.length; i += 1) sum = (31 * sum + card.charCodeAt(i)) % 65_521;
  return sum % BUCKETS;
}

/**
 * What lies on a shelf: the log, and by their names the copies that follow from it.
 *
 * @typedef {{ bucket: number, states: [string, DatedState][] }} Bucket
 * @typedef {object} Cache what the derived copies were made with
 * @property {string} name
 * @property {number} rules
 * @property {Settings} settings
 * @property {number} revision
 * @property {number} count
 * @typedef {{ name: string, at: number, count: number }} Backup
 * @typedef {"events" | "cards" | "days" | "problems" | "meta"} StoreName
 * @typedef {{
 *   events: LogEvent, cards: Bucket, days: DayCount, problems: ProblemCount, meta: Cache | Backup
 * }} StoreRow
 */

/**
 * @param {IDBRequest} request
 * @returns {Promise<any>} what the database holds, of which nothing is known
 */
const ask = (request) =>
  new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });

// A row that no edition of ours has written: what is derived is then made anew from the log, and of
// the log itself what is damaged is left where it is and not counted.
export class Damage extends Error {}
/** @type {(row: any, ...names: string[]) => boolean} */
const haveIntegers = (row, ...names) => names.every((name) => Number.isSafeInteger(row[name]));
/** @type {(entry: any) => boolean} */
const ofCard = (entry) =>
  Array.isArray(entry) &&
  typeof entry[0] === "string" &&
  Array.isArray(entry[1]?.latest) &&
  typeof (entry[1].due ?? {}) === "object";
/** @type {Record<StoreName, (row: any) => boolean>} of rows of which nothing is known yet */
const FITS = {
  events: (row) => !validationError(row),
  cards: (row) => Array.isArray(row.states) && row.states.every(ofCard),
  days: (row) => haveIntegers(row, "day", "answers", "missed", "fresh", "asked", "held"),
  problems: (row) => haveIntegers(row, "right", "wrong"),
  meta: (row) =>
    row.name === "cache"
      ? haveIntegers(row, "revision", "count") && typeof row.settings === "object"
      : haveIntegers(row, "at", "count"),
};

/**
 * @param {StoreName} store
 * @param {any} row
 * @returns {any}
 */
function validRow(store, row) {
  if (row !== undefined && !FITS[store](row)) throw new Damage(`a row of ${store}`);
  return row;
}

// One transaction over everything.  What is awaited within it has to be the shelf's own answers, or
// it ends.
export class Shelf {
  /**
   * @param {IDBDatabase} db
   * @param {'readonly' | 'readwrite'} mode
   */
  constructor(db, mode) {
    this.tx = db.transaction(["events", ...Object.keys(KEYS)], mode, {
      durability: mode === "readwrite" ? "strict" : "default",
    });
    this.events = this.tx.objectStore("events");
    this.damaged = 0;
    this.ended = new Promise((/** @type {(value?: unknown) => void} */ done, fail) => {
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
  /**
   * @template {StoreName} S
   * @param {S} store
   * @param {IDBValidKey} key
   * @returns {Promise<StoreRow[S] | undefined>}
   */
  async get(store, key) {
    return validRow(store, await ask(this.tx.objectStore(store).get(key)));
  }
  // Of the log: what can be read; `damaged` counts the rest.
  /**
   * @template {StoreName} S
   * @param {S} store
   * @returns {Promise<StoreRow[S][]>}
   */
  async all(store) {
    const rows = await ask(this.tx.objectStore(store).getAll());
    if (store !== "events") return rows.map((/** @type {any} */ row) => validRow(store, row));
    const good = rows.filter(FITS.events);
    this.damaged = rows.length - good.length;
    return good;
  }
  /**
   * @template {Exclude<StoreName, 'events'>} S
   * @param {S} store
   * @param {StoreRow[S]} value
   */
  put(store, value) {
    this.tx.objectStore(store).put(value);
  }
  /**
   * @param {StoreName} store
   * @param {IDBValidKey} key
   */
  remove(store, key) {
    this.tx.objectStore(store).delete(key);
  }
  /** @param {StoreName} store */
  clear(store) {
    this.tx.objectStore(store).clear();
  }
  /**
   * @param {string} id
   * @returns {Promise<LogEvent | undefined>}
   */
  event(id) {
    return ask(this.events.get(id));
  }
  /**
   * @param {LogEvent} event
   * @returns {Promise<unknown>}
   */
  add(event) {
    return ask(this.events.add(event));
  }
  /**
   * @param {LogEvent[]} events
   * @param {(share: number) => void} [progress]
   * @returns {Promise<unknown> | undefined}
   */
  addAll(events, progress) {
    // one that fails ends the transaction, of which the store hears
    /** @type {IDBRequest | undefined} */
    let last;
    for (const [place, event] of events.entries()) {
      // of those that are here already only a damaged one comes again
      last = this.events.put(event);
      if (place % 1000 === 999) last.onsuccess = () => progress?.(place / events.length);
    }
    return last && ask(last);
  }
  /**
   * @param {string} id
   * @returns {Promise<boolean>}
   */
  async isUndone(id) {
    return (await ask(this.events.index("undoes").getKey(id))) !== undefined;
  }
  /**
   * @param {string} card
   * @returns {Promise<CardEvent[]>}
   */
  async ofCard(card) {
    const all = await ask(this.events.index("card").getAll(card));
    return all.filter(FITS.events).sort(inOrder);
  }
  /** @returns {Promise<Map<string, DatedState>>} */
  async states() {
    return new Map((await this.all("cards")).flatMap(({ states }) => states));
  }
  /**
   * @param {string} card
   * @returns {Promise<DatedState | undefined>}
   */
  async state(card) {
    return (await this.get("cards", bucketOf(card)))?.states.find(([id]) => id === card)?.[1];
  }

  /**
   * @param {string} card
   * @param {DatedState | undefined} state
   */
  async putState(card, state) {
    const bucket = bucketOf(card),
      others = ((await this.get("cards", bucket))?.states || []).filter(([id]) => id !== card);
    this.put("cards", { bucket, states: state ? [...others, [card, state]] : others });
  }

  /** @param {Iterable<[string, DatedState]>} states */
  putStates(states) {
    /** @type {Map<number, [string, DatedState][]>} */
    const buckets = new Map();
    for (const entry of states) {
      const bucket = bucketOf(entry[0]);
      buckets.set(bucket, [...(buckets.get(bucket) || []), entry]);
    }
    for (const [bucket, list] of buckets) this.put("cards", { bucket, states: list });
  }
}

export class MemoryShelf {
  /** @param {LogEvent[]} [events] */
  constructor(events = []) {
    this.ended = Promise.resolve();
    this.damaged = 0;
    /** @type {Map<string, LogEvent>} */
    this.map = new Map(events.map((event) => [event.id, event]));
    /** @type {Set<string>} */
    this.undone = new Set(events.flatMap((event) => (event.kind === "undo" ? event.undoes : [])));
    /** @type {Record<StoreName, Map<any, any>>} keys and rows of another type in each */
    this.stores = {
      cards: new Map(),
      days: new Map(),
      problems: new Map(),
      meta: new Map(),
      events: this.map,
    };
  }

  giveUp() {}
  /**
   * @template {StoreName} S
   * @param {S} store
   * @param {IDBValidKey} key
   * @returns {Promise<StoreRow[S] | undefined>}
   */
  async get(store, key) {
    return this.stores[store].get(key);
  }
  /**
   * @template {StoreName} S
   * @param {S} store
   * @returns {Promise<StoreRow[S][]>}
   */
  async all(store) {
    return [...this.stores[store].values()];
  }
  /**
   * @template {Exclude<StoreName, 'events'>} S
   * @param {S} store
   * @param {StoreRow[S]} value
   */
  put(store, value) {
    const row = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (value));
    this.stores[store].set(row[KEYS[store]], value);
  }
  /**
   * @param {StoreName} store
   * @param {IDBValidKey} key
   */
  remove(store, key) {
    this.stores[store].delete(key);
  }
  /** @param {StoreName} store */
  clear(store) {
    this.stores[store].clear();
    if (store === "events") this.undone.clear();
  }
  /**
   * @param {string} id
   * @returns {Promise<LogEvent | undefined>}
   */
  async event(id) {
    return this.map.get(id);
  }
  /**
   * @param {LogEvent} event
   */
  async add(event) {
    this.map.set(event.id, event);
    if (event.kind === "undo") this.undone.add(event.undoes);
  }
  /**
   * @param {LogEvent[]} events
   */
  async addAll(events) {
    for (const event of events) await this.add(event);
  }
  /**
   * @param {string} id
   * @returns {Promise<boolean>}
   */
  async isUndone(id) {
    return this.undone.has(id);
  }
  /**
   * @param {string} card
   * @returns {Promise<CardEvent[]>}
   */
  async ofCard(card) {
    return [...this.map.values()]
      .filter((event) => event.kind === "grade" || event.kind === "bury")
      .filter((event) => event.card === card)
      .sort(inOrder);
  }
  /** @returns {Promise<Map<string, DatedState>>} */
  async states() {
    return new Map(this.stores.cards);
  }
  /**
   * @param {string} card
   * @returns {Promise<DatedState | undefined>}
   */
  async state(card) {
    return this.stores.cards.get(card);
  }
  /**
   * @param {string} card
   * @param {DatedState | undefined} state
   */
  async putState(card, state) {
    if (state) this.stores.cards.set(card, state);
    else this.stores.cards.delete(card);
  }
  /** @param {Iterable<[string, DatedState]>} states */
  putStates(states) {
    this.stores.cards = new Map(states);
  }
}
