// MiniSearch's index as short strings, two thirds of its JSON after compression:
//   terms      all terms, sorted, parted by spaces
//   postings   a line a term; within it fields parted by "|", each its number and then the
//              documents as steps from the one before, in base 36, with ".n" where the term stands
//              n times in the document
//   lengths    a line a field: the number of words of each document in it, in base 36
// MiniSearch itself would make fifty thousand entries of maps when it is loaded; here a term's
// postings are read when it is first asked for.  That takes the place of its private map of terms,
// which a test holds against its own loader.
import MiniSearch from "minisearch";

/**
 * @param {import('minisearch').AsPlainObject} index
 * @returns {Packed}
 */
export function pack({ index, documentCount, fieldLength, averageFieldLength }) {
  const sorted = [...index].sort(([a], [b]) => (a < b ? -1 : 1));
  /** @param {Fields} fields */
  const line = (fields) =>
    Object.entries(fields)
      .map(([field, documents]) => {
        let last = -1;
        return `${field}:${Object.entries(documents)
          .map(([id, times]) => {
            const step = (Number(id) - last).toString(36);
            last = Number(id);
            return times > 1 ? `${step}.${times}` : step;
          })
          .join(" ")}`;
      })
      .join("|");
  const documents = Array.from({ length: documentCount }, (_, id) => fieldLength[id]);
  return {
    count: documentCount,
    terms: sorted.map(([term]) => term).join(" "),
    postings: sorted.map(([, fields]) => line(fields)).join("\n"),
    lengths: averageFieldLength
      .map((_, field) => documents.map((lengths) => (lengths[field] || 0).toString(36)).join(" "))
      .join("\n"),
    averages: averageFieldLength,
  };
}

/**
 * @typedef {object} Packed
 * @property {number} count
 * @property {string} terms
 * @property {string} postings
 * @property {string} lengths
 * @property {number[]} averages
 * @typedef {Record<string, Record<string, number>>} Fields of a term: documents and times by field
 */

// What MiniSearch asks of a term's postings: field → documents → times.
class Postings {
  /** @param {string} line */
  constructor(line) {
    this.line = line;
    /** @type {Map<number, Map<number, number>> | null} */
    this.fields = null;
  }

  /** @param {number} field */
  get(field) {
    this.fields ??= this.read();
    return this.fields.get(field);
  }

  read() {
    /** @type {Map<number, Map<number, number>>} */
    const fields = new Map();
    for (const part of this.line.split("|")) {
      const documents = new Map();
      let last = -1;
      for (const entry of part.slice(2).split(" ")) {
        const [step, times] = entry.split(".");
        last += parseInt(step, 36);
        documents.set(last, times ? Number(times) : 1);
      }
      fields.set(Number(part[0]), documents);
    }
    return fields;
  }
}

/**
 * @param {Packed} packed
 * @param {import('minisearch').Options & { fields: string[] }} options
 */
export function unpack({ count, terms, postings, lengths, averages }, options) {
  /** @type {<T>(make: (id: number) => T) => Record<string, T>} */
  const numbered = (make) =>
    Object.fromEntries(Array.from({ length: count }, (_, id) => [id, make(id)]));
  const columns = lengths
    .split("\n")
    .map((line) => line.split(" ").map((text) => parseInt(text, 36)));
  const mini = MiniSearch.loadJS(
    {
      documentCount: count,
      nextId: count,
      documentIds: numbered((id) => id),
      fieldIds: Object.fromEntries(options.fields.map((name, i) => [name, i])),
      fieldLength: numbered((id) => columns.map((column) => column[id])),
      averageFieldLength: averages,
      storedFields: {},
      dirtCount: 0,
      index: [],
      serializationVersion: 2,
    },
    options,
  );
  const lines = postings.split("\n");
  const { _index: map } = /** @type {{ _index: Map<string, Postings> }} */ (
    /** @type {unknown} */ (mini)
  );
  terms.split(" ").forEach((term, i) => map.set(term, new Postings(lines[i])));
  return mini;
}
