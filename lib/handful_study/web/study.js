// What pages with cards or problems start, after they have been shown: site.js asks for this file
// then.
//
// start({ store, lacks, label, takeIn }) gets the page's own scenario store, so that its rows are
// not shipped twice; other modules of the page that are small and hold no state (dom.js, tree.js,
// units.js, random.js) are imported as usual. takeIn(node) brings numbers to life that come into
// the page later.
import { mountProblems } from "./problems.js";
import { mountStacks } from "./recall.js";
import { mountReview } from "./review.js";
import { Store } from "./store.js";

// What is answered goes into one log (store.js).  Problems get it as page.attempt(…), which never
// fails, and page.results(), { problem: { right, wrong } } as of now.
// open(opening) may be called before the page has been read, to be quicker: with the promise of a
// database.
/**
 * @typedef {typeof import("../../handful_explorers/web/scenario.js")} Scenario
 * @typedef {import("./problems.js").Around & {
 *   store: Scenario["store"], lacks: Scenario["lacks"], label: Scenario["label"],
 *   takeIn: (part: ParentNode) => void
 * }} Page what site.js gives
 */

/** @type {Promise<Store> | null} */
let opened = null;
/** @param {Promise<IDBDatabase>} [opening] */
export function open(opening) {
  return (opened ||= Store.open(opening));
}

/** @param {Page} page */
export async function start(page) {
  mountStacks(document);
  const study = await open();
  page.attempt = ({ given, ...fields }) =>
    study
      .add(/** @type {const} */ ("attempt"), { given: String(given).slice(0, 300), ...fields })
      .catch((error) => console.warn(`An attempt was not noted: ${error.message}`));
  page.results = () =>
    Object.fromEntries([...study.problems].map(([id, { right, wrong }]) => [id, { right, wrong }]));
  mountProblems(page);
  await mountReview(study, page.takeIn);
}
