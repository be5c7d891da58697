// What pages with cards or problems start, after they have been shown: site.js asks for this file then.
//
// start({ store, lacks, label }) gets the page's own scenario store, so that its rows are not shipped twice; other
// modules of the page that are small and hold no state (dom.js, tree.js, units.js, random.js) are imported as usual.
import { mountProblems } from "./problems.js";
import { mountReview } from "./review.js";

export function start(page) {
  mountProblems(page);
  mountReview(page);
}
