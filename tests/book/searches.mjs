// Answers searches as the page does: node searches.mjs INDEX, with a list of queries as JSON on
// standard input; writes the addresses of each query's first three results.
import { readFileSync } from "node:fs";
import { find, open } from "../../lib/handful_site/web/search/find.js";

const book = open(JSON.parse(readFileSync(process.argv[2], "utf8")));
process.stdout.write(
  JSON.stringify(
    JSON.parse(readFileSync(0, "utf8")).map((query) =>
      find(book, query)
        .results.filter(({ folded }) => !folded)
        .slice(0, 3)
        .map(({ entry }) => entry.address),
    ),
  ),
);
