// The learner's store: the log, and what is derived from it, kept in step.  An answer is one
// transaction that appends its event and writes the card's new state, so that a page that is closed
// in the middle has both or neither.
//
// Every change reads what it needs within its own transaction: two open tabs never undo each
// other's work.
import { openDatabase } from "./database.js";
import { Damage, DERIVED, MemoryShelf, Shelf } from "./event_storage.js";
import { countAttempt, derive, ofCard } from "./derive.js";
import { inOrder, LogError, make, merge, read, write } from "./log.js";
import { DEFAULTS, RULES } from "./spaced_repetition.js";

const COUNTS = /** @type {const} */ (["answers", "missed", "fresh", "asked", "held"]);
const CACHE = "cache",
  BACKUP = "backup";
/**
 * @typedef {"here" | "elsewhere"} Where a change was made: in this tab, or in another
 * @typedef {import("./event_storage.js").Cache} Cache
 * @typedef {import("./event_storage.js").Backup} Backup
 * @typedef {Shelf | MemoryShelf} AnyShelf
 * @typedef {object} Added
 * @property {CardEvent} event
 * @property {DatedState | undefined} before
 * @property {any} state of the card now; a grade leaves one that has been met
 */

/** @type {(a: DayCount, b: DayCount) => number} */
const byDay = (a, b) => a.day - b.day;
/**
 * @param {AnyShelf} shelf
 * @returns {Promise<Cache | undefined>}
 */
const cacheOf = async (shelf) => /** @type {Cache | undefined} */ (await shelf.get("meta", CACHE));
/**
 * @param {AnyShelf} shelf
 * @returns {Promise<Backup | undefined>}
 */
const backupOf = async (shelf) =>
  /** @type {Backup | undefined} */ (await shelf.get("meta", BACKUP));
const nextTask = () => new Promise((done) => setTimeout(done));
/** @satisfies {Record<string, string>} */
export const TROUBLE = {
  denied:
    "This browser keeps nothing for this page (as in a private window), so your answers last " +
    "only until you leave it; export them before you go.",
  newer:
    "A newer edition of this book has taken over your log; reload this page, since what you " +
    "answer before that lasts only until you leave it.",
  full:
    "The browser's storage is full or broken, so your answers from here on last only until you " +
    "leave this page; export them before you go.",
};

export class Store {
  // Never fails: where nothing may be stored, it goes on in memory and `trouble` says so.  A page
  // that is about the learner's cards has `opening` at hand, and wants states and days read with
  // the rest: see overview.
  /** @param {Promise<IDBDatabase> | null} [opening] */
  static async open(opening = null) {
    const store = new Store();
    try {
      const db = await (opening || openDatabase());
      store.db = db;
      db.onversionchange = () => store.fall("newer");
    } catch (error) {
      const newer = error instanceof DOMException && error.name === "VersionError";
      store.goOn(newer ? "newer" : "denied");
    }
    try {
      store.channel = new BroadcastChannel("handful-study");
      store.channel.onmessage = () => store.changed("elsewhere");
    } catch {
      /* an old browser: other tabs see changes when they are next shown */
    }
    await store.refresh(Boolean(opening));
    return store;
  }

  constructor() {
    /** @type {IDBDatabase | null} */
    this.db = null;
    // What is used where there is no database.
    this.memory = new MemoryShelf();
    /** @type {string | null} */
    this.trouble = null;
    /** @type {Set<(where: Where) => void>} */
    this.listeners = new Set();
    /**
     * Ids of the answers that were given here, the last one last.
     *
     * @type {string[]}
     */
    this.made = [];
    /** @type {Settings} */
    this.settings = { ...DEFAULTS };
    /** @type {Map<string, ProblemCount>} */
    this.problems = new Map();
    /** @type {Backup | null} */
    this.backup = null;
    this.count = 0;
    this.damaged = 0;
    this.stale = false;
    this.asked = false;
    /**
     * States and days as they were read when the store was opened.
     *
     * @type {[Map<string, DatedState>, DayCount[]] | null}
     */
    this.ahead = null;
    /** @type {Promise<void> | null} */
    this.rebuilding = null;
    /** @type {BroadcastChannel | null} */
    this.channel = null;
    /** @type {(share: number, what?: string) => void} */
    this.onprogress = () => {};
  }

  /**
   * @param {(where: Where) => unknown} listener
   * @returns {() => boolean}
   */
  on(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  // From another tab, or here: what is remembered of the store is read again, then whoever listens
  // hears of it.
  /** @param {Where} where */
  async changed(where) {
    this.ahead = null;
    if (where === "here") this.channel?.postMessage("changed");
    else await this.refresh();
    for (const listener of this.listeners) listener(where);
  }

  /**
   * @param {keyof typeof TROUBLE} reason
   * @param {LogEvent[]} [events]
   */
  goOn(reason, events = []) {
    this.db?.close();
    this.db = null;
    this.memory = new MemoryShelf(events);
    this.trouble = TROUBLE[reason];
  }

  // Storage has stopped working: take along what can still be read.
  /** @param {keyof typeof TROUBLE} [reason] */
  async fall(reason = "full") {
    /** @type {LogEvent[]} */
    let events = [];
    try {
      if (this.db) events = await new Shelf(this.db, "readonly").all("events");
    } catch {
      /* nothing can be read */
    }
    this.goOn(reason, events);
    await this.rebuild();
    for (const listener of this.listeners) listener("here");
  }

  // What is damaged of that which can be made anew is made anew, once.
  /**
   * @template T
   * @param {(shelf: AnyShelf) => Promise<T>} task
   * @param {boolean} [once]
   * @returns {Promise<T>}
   */
  async look(task, once = true) {
    if (this.db) {
      try {
        return await task(new Shelf(this.db, "readonly"));
      } catch (error) {
        if (error instanceof Damage && once) {
          await this.rebuild();
          return this.look(task, false);
        }
        await this.fall();
      }
    }
    return task(this.memory);
  }

  /**
   * @template T
   * @param {(shelf: AnyShelf) => Promise<T>} task
   * @param {boolean} [once]
   * @returns {Promise<T>}
   */
  async change(task, once = true) {
    if (this.db) {
      /** @type {Shelf | undefined} */
      let shelf;
      try {
        shelf = new Shelf(this.db, "readwrite");
        const result = await task(shelf);
        await shelf.ended;
        return result;
      } catch (error) {
        shelf?.giveUp();
        if (error instanceof LogError) throw error;
        if (error instanceof Damage && once) {
          await this.rebuild();
          return this.change(task, false);
        }
        console.warn(`The study log could not be written: ${/** @type {Error} */ (error).message}`);
        await this.fall();
      }
    }
    return task(this.memory);
  }

  // Settings, problems and the last backup are small and kept at hand.
  /** @param {boolean} [ahead] */
  async refresh(ahead = false) {
    const [cache, backup, problems, more] = await this.look((shelf) =>
      Promise.all([
        cacheOf(shelf),
        backupOf(shelf).catch(() => null),
        shelf.all("problems"),
        ahead ? Promise.all([shelf.states(), shelf.all("days")]).catch(() => null) : null,
      ]),
    ); // whoever asks for them hears of it
    this.backup = backup || null;
    this.stale = cache !== undefined && cache.rules !== RULES;
    this.settings = { ...DEFAULTS, ...cache?.settings };
    this.count = cache?.count || 0;
    this.problems = new Map(problems.map((one) => [one.problem, one]));
    if (!this.stale) this.ahead = more;
  }

  // What was derived under other rules is derived anew before anybody reads it.
  ready() {
    if (!this.stale) return null;
    this.rebuilding ||= this.rebuild().finally(() => {
      this.rebuilding = null;
    });
    return this.rebuilding;
  }

  async states() {
    await this.ready();
    return this.look((shelf) => shelf.states());
  }

  /** @param {string} card */
  async state(card) {
    await this.ready();
    return this.look((shelf) => shelf.state(card));
  }

  async days() {
    await this.ready();
    return (await this.look((shelf) => shelf.all("days"))).sort(byDay);
  }

  // States and days together, once as they were read when the store was opened.
  /** @returns {Promise<[Map<string, DatedState>, DayCount[]]>} */
  async overview() {
    /** @type {[Map<string, DatedState>, DayCount[]]} */
    const [states, days] = this.ahead || (await Promise.all([this.states(), this.days()]));
    this.ahead = null;
    return [states, days.sort(byDay)];
  }

  async events() {
    return (await this.look((shelf) => shelf.all("events"))).sort(inOrder);
  }

  // Append an event; resolves to { event, before, state } once it is safely written.
  /**
   * @template {LogEvent} E
   * @param {E['kind']} kind
   * @param {Omit<E, 'id' | 'at' | 'zone' | 'kind'>} fields
   * @returns {Promise<Added>}
   */
  async add(kind, fields) {
    const event = make(kind, fields);
    const result = await this.change(async (shelf) => {
      const cache = await this.begin(shelf);
      await shelf.add(event);
      if (event.kind === "grade" || event.kind === "bury")
        return { event, ...(await this.recount(shelf, cache, event)) };
      if (event.kind === "attempt") {
        const found = await shelf.get("problems", event.problem),
          counts = new Map(found ? [[event.problem, found]] : []);
        countAttempt(counts, event);
        const counted = /** @type {ProblemCount} */ (counts.get(event.problem));
        shelf.put("problems", counted);
        this.problems.set(event.problem, counted);
      } else if (event.kind === "setting") {
        const settings = { ...cache.settings, [event.name]: event.value };
        // Every card's date follows from the retention that is wanted: all are made anew.
        shelf.put("meta", {
          ...cache,
          settings,
          rules: event.name === "retention" ? 0 : cache.rules,
        });
        this.settings = settings;
      }
      return { event };
    });
    if (event.kind === "grade" || event.kind === "bury") this.made.push(event.id);
    if (event.kind === "setting" && event.name === "retention") await this.rebuild();
    if (event.kind === "grade") this.keep();
    await this.changed("here");
    return /** @type {Added} */ (result);
  }

  // Undo one event, or the latest answer that counts, first of those made here; resolves to
  // { target, before, state }, or to null where there is nothing.
  /** @param {string} [only] */
  async undo(only) {
    const result = await this.change(async (shelf) => {
      /** @type {LogEvent | undefined} */
      let target;
      if (only !== undefined) {
        if (await shelf.isUndone(only)) return null;
        target = await shelf.event(only);
      }
      while (!target && this.made.length) {
        const id = this.made.pop() ?? "";
        if (!(await shelf.isUndone(id))) target = await shelf.event(id);
      }
      if (!target) {
        const latest = [...(await shelf.states()).values()]
          .map(({ latest: [at, id] }) => ({ at, id }))
          .sort(inOrder)
          .pop();
        if (!latest) return null;
        target = await shelf.event(latest.id);
      }
      const undone = /** @type {CardEvent} */ (target),
        cache = await this.begin(shelf),
        event = make(/** @type {const} */ ("undo"), { undoes: undone.id });
      await shelf.add(event);
      return { target: undone, ...(await this.recount(shelf, cache, undone, true)) };
    });
    if (result) await this.changed("here");
    return result;
  }

  // Before `n` events are added.  The revision tells a cache that was computed meanwhile that it is
  // old.
  /**
   * @param {AnyShelf} shelf
   * @param {number} [n]
   * @returns {Promise<Cache>}
   */
  async begin(shelf, n = 1) {
    /** @type {Omit<Cache, "revision" | "count"> & Partial<Cache>} */
    const known = (await cacheOf(shelf)) || {
      name: CACHE,
      rules: RULES,
      settings: { ...DEFAULTS },
    };
    const { revision = 0, count = 0, ...cache } = known;
    /** @type {Cache} */
    const begun = { ...cache, revision: revision + 1, count: count + n };
    shelf.put("meta", begun);
    this.count = begun.count;
    return begun;
  }

  // The state of one card and its part of the days' counts, from the card's own events with and
  // without `event`.
  /**
   * @param {AnyShelf} shelf
   * @param {Cache} cache
   * @param {CardEvent} event
   * @param {boolean} [undone]
   */
  async recount(shelf, { settings: { retention } }, event, undone = false) {
    const all = await shelf.ofCard(event.card),
      gone = await Promise.all(all.map(({ id }) => shelf.isUndone(id)));
    const counted = all.filter((_, place) => !gone[place]);
    const other = undone
      ? [...counted, event].sort(inOrder)
      : counted.filter(({ id }) => id !== event.id);
    const before = ofCard(other, retention),
      after = ofCard(counted, retention);
    await shelf.putState(event.card, after.state);
    for (const day of new Set([...before.days.keys(), ...after.days.keys()])) {
      /** @type {Partial<DayCount>} */
      const sum = { ...(await shelf.get("days", day)), day };
      const less = before.days.get(day),
        more = after.days.get(day);
      for (const name of COUNTS)
        if (less || more) sum[name] = (sum[name] || 0) - (less?.[name] ?? 0) + (more?.[name] ?? 0);
      if (sum.answers) shelf.put("days", /** @type {DayCount} */ (sum));
      else shelf.remove("days", day);
    }
    return { before: before.state, state: after.state };
  }

  // Everything derived, anew from the log.
  async rebuild() {
    for (;;) {
      const [cache, events, damaged] = await this.look(
        async (shelf) =>
          /** @type {const} */ ([
            await cacheOf(shelf).catch(() => null),
            await shelf.all("events"),
            shelf.damaged,
          ]),
      );
      const steps = derive(events);
      let step;
      while (!(step = steps.next()).done) {
        this.onprogress(step.value, "Working out every card anew from your log");
        await nextTask();
      }
      const made = step.value,
        revision = cache?.revision || 0;
      const done = await this.change(async (shelf) => {
        const now = await cacheOf(shelf).catch(() => null);
        if ((now?.revision || 0) !== revision) return false; // another tab has written meanwhile
        for (const name of DERIVED) shelf.clear(name);
        shelf.putStates(made.cards);
        for (const day of made.days.values()) shelf.put("days", day);
        for (const problem of made.problems.values()) shelf.put("problems", problem);
        shelf.put("meta", {
          name: CACHE,
          rules: RULES,
          settings: made.settings,
          revision,
          count: events.length,
        });
        return true;
      });
      if (!done) continue;
      this.settings = made.settings;
      this.problems = made.problems;
      this.count = events.length;
      this.damaged = damaged;
      this.stale = false;
      this.onprogress(1);
      return;
    }
  }

  async export() {
    return write(await this.events());
  }

  // Noted when the file has been handed over.
  async backedUp() {
    const backup = { name: BACKUP, at: Date.now(), count: this.count };
    this.backup = backup;
    await this.change(async (shelf) => shelf.put("meta", backup));
    await this.changed("here");
  }

  // All of a file or nothing of it: { added, known }, or a LogError that says why.
  /** @param {string} text */
  async import(text) {
    const given = read(text);
    const result = await this.change(async (shelf) => {
      const here = await shelf.all("events"),
        known = new Set(here.map(({ id }) => id));
      merge(here, given); // refuses what contradicts the log
      const fresh = given.filter(({ id }) => !known.has(id)),
        cache = await this.begin(shelf, fresh.length);
      await shelf.addAll(fresh, (share) =>
        this.onprogress(share, "Writing the entries of the file"),
      );
      shelf.put("meta", { ...cache, rules: 0 });
      return { added: fresh.length, known: given.length - fresh.length };
    });
    this.made = [];
    await this.rebuild();
    await this.changed("here");
    return result;
  }

  async erase() {
    await this.change(async (shelf) => {
      // goes on, so that no other tab takes an old computation for a new one
      const { revision } = await this.begin(shelf, 0);
      for (const name of /** @type {const} */ (["events", ...DERIVED, "meta"])) shelf.clear(name);
      shelf.put("meta", {
        name: CACHE,
        rules: RULES,
        settings: { ...DEFAULTS },
        revision,
        count: 0,
      });
    });
    this.made = [];
    await this.refresh();
    await this.changed("here");
  }

  // Ask once, at the first answer, that the browser does not clear this store by itself.
  keep() {
    if (!this.db || this.asked) return;
    this.asked = true;
    navigator.storage?.persist?.().catch(() => {});
  }

  async about() {
    const persisted = this.db ? await navigator.storage?.persisted?.().catch(() => false) : false;
    return {
      events: this.count,
      since: this.count - (this.backup?.count || 0),
      persisted: Boolean(persisted),
      backup: this.backup?.at ?? null,
    };
  }
}
