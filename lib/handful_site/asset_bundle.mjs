// One style sheet for the whole site: node asset_bundle.mjs, with the job as JSON on standard input.
//   static     the site's folder _static
//   sheets     the sheets within handful/, in the order in which they count
// Writes site.css, with what it refers to in files/.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { PROMISED } from "./promised.mjs";

/** @type {{ static: string, sheets: string[] }} */
const job = JSON.parse(readFileSync(0, "utf8"));
await build({
  stdin: {
    contents: job.sheets.map((name) => `@import "./handful/${name}";`).join("\n"),
    resolveDir: job.static,
    loader: "css",
  },
  outfile: join(job.static, "site.css"),
  bundle: true,
  minify: true,
  target: PROMISED,
  legalComments: "none",
  logLevel: "warning",
  assetNames: "files/[name]-[hash]",
  loader: { ".svg": "file", ".png": "file", ".woff": "file", ".woff2": "file" },
});
