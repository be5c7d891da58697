// The learner's database: its name, its tables, how it is opened.  Apart from event_storage.js, so that a
// page whose business it is can have it opened while what reads it is still on its way.
const DATABASE = "handful-study",
  SCHEMA = 1;
// Beside the events, the truth, stand copies that can be made from them: cards, days, problems;
// meta has the rest.
/** @type {Record<'cards' | 'days' | 'problems' | 'meta', string>} */
export const KEYS = { cards: "bucket", days: "day", problems: "problem", meta: "name" };

/**
 * @param {number} [patience]
 * @returns {Promise<IDBDatabase>}
 */
export function openDatabase(patience = 4000) {
  return new Promise((done, fail) => {
    // Some browsers, when asked in a private window, neither open nor refuse.
    const timer = setTimeout(() => fail(new Error("no answer")), patience),
      request = indexedDB.open(DATABASE, SCHEMA);
    request.onupgradeneeded = () => {
      const db = request.result,
        events = db.createObjectStore("events", { keyPath: "id" });
      events.createIndex("card", "card");
      events.createIndex("undoes", "undoes");
      for (const [name, keyPath] of Object.entries(KEYS)) db.createObjectStore(name, { keyPath });
    };
    request.onerror = () => {
      clearTimeout(timer);
      fail(request.error);
    };
    request.onsuccess = () => {
      clearTimeout(timer);
      // A newer edition of the book wants to change the database.
      request.result.onversionchange = () => request.result.close();
      done(request.result);
    };
  });
}
