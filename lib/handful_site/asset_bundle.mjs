// One style sheet for the whole site: node asset_bundle.mjs, with the job as JSON on standard input.
//   root       the site's folder
//   sheets     its style sheets, in the order in which pages load them
//   foreign    those of them that are the theme's: rules that match nothing on any page are left
//              out
// Writes _static/site.css, with what it refers to in _static/files.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { PurgeCSS } from "purgecss";

/** @type {{ root: string, sheets: string[], foreign: string[] }} */
const { root, sheets, foreign } = JSON.parse(readFileSync(0, "utf8"));
const target = ["es2021", "chrome100", "firefox100", "safari15.4"];
const files = readdirSync(root, { recursive: true }).map(String);
const loads = (/** @type {string} */ suffix) =>
  files
    .filter((name) => name.endsWith(suffix))
    .map((name) => ({ raw: readFileSync(join(root, name), "utf8"), extension: "html" }));

// Every word of every page and script counts as a name in use, so that what a script adds is kept
// as well.
const purged = await new PurgeCSS().purge({
  content: [...loads(".html"), ...loads(".js")],
  css: foreign.map((name) => ({ raw: readFileSync(join(root, name), "utf8") })),
  defaultExtractor: (text) => text.match(/[\w-]+/g) || [],
  safelist: { greedy: [/data-theme/, /data-mode/] },
});
purged.forEach(({ css }, i) => writeFileSync(join(root, foreign[i]), css));

await build({
  stdin: {
    contents: sheets.map((name) => `@import "./${name}";`).join("\n"),
    resolveDir: root,
    loader: "css",
  },
  outfile: join(root, "_static/site.css"),
  bundle: true,
  minify: true,
  target,
  legalComments: "none",
  logLevel: "warning",
  assetNames: "files/[name]-[hash]",
  loader: { ".svg": "file", ".png": "file", ".woff": "file", ".woff2": "file" },
});
